/* probe_out.c: what a probe leaves in its folder: the predictions as CSV, three figures, and the first
 * passage as a page that shows where each prediction comes from. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/show.h"

enum { SOURCES = 8, PARTS = 12 }; /* PARTS: of the positions, in the figure */

static int path_of(const struct lg_cli_probe_out *o, const char *name, char path[4096])
{
    int n = snprintf(path, 4096, "%s/%s", o->folder, name);
    if (n > 0 && n < 4096) return 0;
    return lg_cli_wrong("probe", "--out is a name of %zu letters; take a shorter one",
                        strlen(o->folder));
}

static FILE *open_file(const struct lg_cli_probe_out *o, const char *name)
{
    char path[4096];
    if (path_of(o, name, path)) return NULL;
    FILE *f = fopen(path, "w");
    if (!f) fprintf(stderr, "lengthen probe: %s cannot be written: %s\n", path, strerror(errno));
    return f;
}

/* The predictions are written beside those of an earlier probe, and replace them when all are there. */
static const char csv_name[] = "predictions.csv", csv_part[] = "predictions.csv.tmp";

/* Closes it; 1: something could not be written. */
static int close_file(FILE *f)
{
    int bad = ferror(f) != 0;
    return (fclose(f) != 0) | bad;
}

const char *lg_cli_probe_out_begun(struct lg_cli_probe_out *o)
{
    return o->folder && !path_of(o, "begun", o->begun) ? o->begun : NULL;
}

int lg_cli_probe_out_open(struct lg_cli_probe_out *o)
{
    if (!o->folder) return 0;
    int code = lg_cli_make_folder("probe", o->folder);
    if (code) return code;
    if (!(o->csv = open_file(o, csv_part))) return LG_EXIT_FAILED;
    fputs("document,position,token,word,loss,loss_0,depends,k,sources,curve,against,against_short,"
          "excess\n",
          o->csv);
    return 0;
}

/* ---- Tokens as HTML ------------------------------------------------------------------------- */

/* Bytes that the character has which begins with c, 0: none does. */
static size_t whole_character(unsigned char c)
{
    return c < 0x80                 ? 1
           : c >= 0xc2 && c <= 0xdf ? 2
           : (c & 0xf0) == 0xe0     ? 3
           : c >= 0xf0 && c <= 0xf4 ? 4
                                    : 0;
}

/* Bytes of the character that begins there, 0: none does. */
static size_t character(const unsigned char *s, size_t n)
{
    size_t whole = whole_character(s[0]);
    if (!whole || whole > n) return 0;
    for (size_t i = 1; i < whole; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return whole;
}

/* Bytes at the end that begin a character which is not all there. */
static size_t unfinished(const char *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)s[n - back];
        if ((c & 0xc0) != 0x80) return whole_character(c) > back ? back : 0;
    }
    return 0;
}

/* What can stand in a page: what is no character of its own becomes a dot. */
static char *as_html(const char *piece, size_t n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)piece[i];
        size_t whole = character((const unsigned char *)piece + i, n - i);
        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(f, "&#%d;", c);
        else if (c == '\n')
            fputs("&#8629;<br>", f);
        else if (!whole || (c < 0x20 && c != '\t') || c == 0x7f)
            fputs("&#183;", f);
        else
            fwrite(piece + i, 1, whole, f);
        i += whole ? whole : 1;
    }
    if (close_file(f)) {
        free(text);
        return NULL;
    }
    return text;
}

/* A character whose bytes are several tokens. */
struct begun {
    char bytes[4];
    size_t n;
};

/* A token of a text: what it ends is shown with it, what it only begins is a thin space. */
static char *text_piece(const char *piece, size_t n, struct begun *b)
{
    size_t before = b->n;
    char *bytes = malloc(before + n);
    if (!bytes) return NULL;
    memcpy(bytes, b->bytes, before);
    memcpy(bytes + before, piece, n);
    n += before;
    b->n = unfinished(bytes, n);
    memcpy(b->bytes, bytes + n - b->n, b->n);
    char *text = n > b->n ? as_html(bytes, n - b->n) : strdup("&#8201;");
    free(bytes);
    return text;
}

static char *piece_of(const lg_probe_passage *p, int i, struct begun *b)
{
    size_t n = 0;
    const char *piece = p->tokenizer ? lg_tokenizer_piece(p->tokenizer, p->tokens[i], &n) : NULL;
    if (piece && n) return text_piece(piece, n, b);
    char *word = NULL;
    if (asprintf(&word, "%s ", p->words[p->tokens[i]]) < 0) return NULL;
    char *text = as_html(word, strlen(word));
    free(word);
    return text;
}

void lg_cli_probe_out_passage(struct lg_cli_probe_out *o, const lg_probe_passage *p)
{
    struct begun b = {.n = 0};
    o->page.words = p->words;
    if (!o->folder || o->passages++) return;
    o->page = *p;
    o->page.tokens = NULL;
    o->piece = calloc((size_t)p->n, sizeof *o->piece);
    o->lost |= !o->piece;
    for (int i = 0; i < p->n && o->piece; i++) {
        o->piece[i] = piece_of(p, i, &b);
        o->lost |= !o->piece[i];
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void csv_word(FILE *f, const char *word)
{
    fputc('"', f);
    for (; *word; word++) {
        if (*word == '"') fputc('"', f);
        fputc(*word, f);
    }
    fputc('"', f);
}

static void csv_row(const struct lg_cli_probe_out *o, const lg_probe_row *r)
{
    FILE *f = o->csv;
    fprintf(f, "%lld,%d,%d,", (long long)r->document, r->position, (int)r->token);
    csv_word(f, o->page.words[r->token]);
    fprintf(f, ",%.6g,%.6g,%d,%d,", r->loss, r->loss_0, r->depends, r->k);
    for (int i = 0; i < r->sources && i < SOURCES; i++)
        fprintf(f, "%s%d:%.4g", i ? " " : "", r->source[i], (double)r->influence[i]);
    fputc(',', f);
    for (int i = 0; i <= r->sources; i++) fprintf(f, "%s%.4g", i ? " " : "", (double)r->curve[i]);
    if (o->against)
        fprintf(f, ",%.6g,%.6g,%.6g\n", r->against, r->against_short,
                r->against - r->against_short);
    else
        fputs(",,,\n", f);
}

void lg_cli_probe_out_row(struct lg_cli_probe_out *o, const lg_probe_row *r)
{
    if (!o->folder) return;
    csv_row(o, r);
    if (o->count == o->room) {
        int room = o->room ? 2 * o->room : 1024;
        struct lg_cli_probed *more = realloc(o->rows, (size_t)room * sizeof *more);
        o->lost |= !more;
        if (!more) return;
        o->rows = more;
        o->room = room;
    }
    struct lg_cli_probed *x = &o->rows[o->count++];
    *x = (struct lg_cli_probed){.position = r->position,
                                .k = r->k,
                                .depends = r->depends,
                                .loss = r->loss,
                                .loss_0 = r->loss_0,
                                .shown = o->against ? r->against : r->loss,
                                .sources = r->sources < SOURCES ? r->sources : SOURCES};
    for (int i = 0; i < x->sources; i++) {
        x->source[i] = r->source[i];
        x->influence[i] = r->influence[i];
    }
    if (o->passages == 1) o->first = o->count;
}

/* ---- Figures -------------------------------------------------------------------------------- */

static int draw(const struct lg_cli_probe_out *o, const lg_figure *f, const char *name)
{
    char path[4096];
    lg_error err;
    if (path_of(o, name, path)) return LG_EXIT_USE;
    if (!lg_figure_write(f, path, &err)) return 0;
    fprintf(stderr, "lengthen probe: %s\n", err.text);
    return LG_EXIT_FAILED;
}

static int draw_kstar(const struct lg_cli_probe_out *o, const lg_probe_summary *s)
{
    double x[33], y[33];
    char title[400], caption[200];
    int n = 0;
    for (int k = 1; k <= 32 && k <= s->most_k; k++, n++) {
        x[n] = k;
        y[n] = s->k_share[k];
    }
    lg_curve curve = {"share", n, x, y, NULL, NULL};
    snprintf(caption, sizeof caption,
             "%d of %d predictions depend on their context; of these, those that k tokens are "
             "enough for.",
             s->dependent, s->predictions);
    snprintf(title, sizeof title, "How many earlier tokens predictions need: %s", o->title);
    lg_figure f = {.title = title,
                   .x_label = "k",
                   .y_label = "predictions with k* up to k, %",
                   .curves = &curve,
                   .count = 1,
                   .caption = caption};
    return draw(o, &f, "kstar.svg");
}

/* A range of the y axis around what is shown, in steps of 0.1. */
static void widen(double *low, double *high, double value)
{
    if (isnan(value)) return;
    *low = fmin(*low, floor(10 * value) / 10);
    *high = fmax(*high, ceil(10 * value) / 10);
}

static int draw_excess(const struct lg_cli_probe_out *o, const lg_probe_summary *s)
{
    double x[LG_PROBE_BINS], y[LG_PROBE_BINS], low[LG_PROBE_BINS], high[LG_PROBE_BINS];
    double bottom = 0, top = 0.1;
    char title[400], caption[700], verdict[600];
    int n = 0;
    for (int i = 1; i < LG_PROBE_BINS; i++) {
        const lg_probe_bin *b = &s->bin[i];
        if (isnan(b->excess.low)) continue; /* none, or of one document */
        x[n] = b->high ? sqrt((double)b->low * b->high) : 1.5 * b->low;
        y[n] = b->excess.value;
        low[n] = b->excess.low;
        high[n] = b->excess.high;
        widen(&bottom, &top, low[n]);
        widen(&bottom, &top, high[n++]);
    }
    if (!n) return 0;
    lg_curve curve = {"excess loss", n, x, y, low, high};
    lg_cli_probe_verdict(s, verdict, sizeof verdict);
    snprintf(caption, sizeof caption,
             "%s The band is 95%%, documents being drawn; k* of one document alone are not shown.",
             verdict);
    snprintf(title, sizeof title, "Lost past its training length, by k*: %s", o->against);
    lg_figure f = {.title = title,
                   .x_label = "k*, measured on the run of long texts",
                   .y_label = "excess loss, nats a token",
                   .curves = &curve,
                   .count = 1,
                   .caption = caption,
                   .y_low = bottom,
                   .y_high = top};
    return draw(o, &f, "excess.svg");
}

enum { NONE, FEW, SOME, MANY, GROUPS }; /* of k*: 0, 1-2, 3-8, more */

/* A k* above most_k is only known to be above. */
static int group_of(const struct lg_cli_probed *r, const lg_probe_summary *s)
{
    return !r->depends ? NONE : r->k > s->many ? MANY : r->k > s->few ? SOME : FEW;
}

/* Loss by position, of groups of k*. The parts are of the positions that there are. */
static int draw_position(const struct lg_cli_probe_out *o, const lg_probe_summary *s)
{
    double x[GROUPS][PARTS] = {{0}}, y[GROUPS][PARTS] = {{0}}, bottom = 1e30, top = 0;
    int number[GROUPS][PARTS] = {{0}}, curves = 0, first = INT_MAX, last = 0;
    lg_curve curve[GROUPS];
    char title[400], name[GROUPS][32] = {"does not depend"};
    snprintf(name[FEW], sizeof *name, s->few > 1 ? "k* 1-%d" : "k* %d", s->few);
    snprintf(name[SOME], sizeof *name, s->many > 3 ? "k* 3-%d" : "k* %d", s->many);
    snprintf(name[MANY], sizeof *name, "k* over %d", s->many);
    for (int i = 0; i < o->count; i++) {
        if (o->rows[i].position < first) first = o->rows[i].position;
        if (o->rows[i].position > last) last = o->rows[i].position;
    }
    for (int i = 0; i < o->count; i++) {
        const struct lg_cli_probed *r = &o->rows[i];
        int part = (int)((int64_t)(r->position - first) * PARTS / (last - first + 1));
        int g = group_of(r, s);
        x[g][part] += r->position;
        y[g][part] += r->shown;
        number[g][part]++;
    }
    for (int g = 0; g < GROUPS; g++) {
        int n = 0;
        for (int p = 0; p < PARTS; p++) {
            if (!number[g][p]) continue;
            x[g][n] = x[g][p] / number[g][p];
            y[g][n] = y[g][p] / number[g][p];
            widen(&bottom, &top, y[g][n++]);
        }
        if (n) curve[curves++] = (lg_curve){name[g], n, x[g], y[g], NULL, NULL};
    }
    if (!curves) return 0;
    snprintf(title, sizeof title, "Loss by position and k*: %s",
             o->against ? o->against : o->title);
    lg_figure f = {.title = title,
                   .x_label = "position (tokens before the prediction)",
                   .y_label = "loss, nats a token",
                   .curves = curve,
                   .count = curves,
                   .y_low = bottom,
                   .y_high = top > bottom ? top : bottom + 0.1};
    return draw(o, &f, "position.svg");
}

/* ---- The page ------------------------------------------------------------------------------- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>Where predictions come from</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:17px/1.9 Georgia,serif;max-width:46em;margin:2em auto;padding:0 1em}\n"
    "p.note{font:14px/1.5 system-ui,sans-serif;opacity:.8}\n"
    "span{white-space:pre-wrap;border-radius:3px}\n"
    "[data-s]{cursor:pointer}\n"
    ".a{background:#2e9e5b44}.b{background:#d9a40044}.c{background:#e0602f55}\n"
    ".me{outline:2px solid #3b6fd4}\n"
    ".from{box-shadow:inset 0 -.55em #3b6fd488}\n"
    "</style></head><body>\n";

static const char script[] =
    "<script>\n"
    "const t=i=>document.getElementById('t'+i);let held=null;\n"
    "function mark(e){document.querySelectorAll('.me,.from').forEach(x=>x.classList.remove('me',"
    "'from'));\n"
    " if(!e)return;e.classList.add('me');\n"
    " e.dataset.s.split(' ').forEach(i=>i&&t(i).classList.add('from'));}\n"
    "document.querySelectorAll('[data-s]').forEach(e=>{\n"
    " e.onmouseenter=()=>held||mark(e);e.onmouseleave=()=>held||mark(null);\n"
    " e.onclick=()=>{held=held===e?null:e;mark(held||e);};});\n"
    "</script>\n";

/* The text of a source in a tooltip: its HTML without line breaks. */
static void short_piece(FILE *f, const char *html)
{
    const char *cut = strstr(html, "<br>");
    fprintf(f, "%.*s", cut ? (int)(cut - html) : (int)strlen(html), html);
}

static void write_token(FILE *f, const struct lg_cli_probe_out *o, int i,
                        const struct lg_cli_probed *r, const lg_probe_summary *sum)
{
    static const char *const colour[GROUPS] = {"", "a", "b", "c"};
    int most_k = sum->most_k;
    if (!r || !r->depends) {
        fprintf(f, "<span id=\"t%d\"", i);
        if (r) fprintf(f, " title=\"loss %.2f; does not depend on its context\"", r->loss);
        fprintf(f, ">%s</span>", o->piece[i]);
        return;
    }
    fprintf(f, "<span id=\"t%d\" class=\"%s\" data-s=\"", i, colour[group_of(r, sum)]);
    for (int s = 0; s < r->sources; s++) fprintf(f, "%s%d", s ? " " : "", r->source[s]);
    fprintf(f, "\" title=\"k* %s%d; loss %.2f, %.2f without context; from",
            r->k > most_k ? "over " : "", r->k > most_k ? most_k : r->k, r->loss, r->loss_0);
    for (int s = 0; s < r->sources; s++) {
        fputs(s ? ", &#8220;" : " &#8220;", f);
        short_piece(f, o->piece[r->source[s]]);
        fprintf(f, "&#8221; %+.2g", (double)r->influence[s]);
    }
    fprintf(f, "\">%s</span>", o->piece[i]);
}

static int write_page(const struct lg_cli_probe_out *o, const lg_probe_summary *s)
{
    FILE *f = open_file(o, "passage.html");
    char *title = as_html(o->title, strlen(o->title));
    if (!f || !title) {
        if (f) fclose(f);
        free(title);
        return LG_EXIT_FAILED;
    }
    fputs(head, f);
    fprintf(
        f,
        "<p class=\"note\">Document %lld, as the run %s reads it. A coloured token is a prediction "
        "that "
        "depends on its context: <span class=\"a\">green</span> on up to %d earlier tokens, "
        "<span class=\"b\">yellow</span> on up to %d, <span class=\"c\">red</span> on more (k*). "
        "Point at one to see the tokens that it comes from underlined, at most %d; click to "
        "hold it. The last tokens before it and the first are always there and are not "
        "marked.</p>\n<p>",
        (long long)o->page.document, title, s->few, s->many, SOURCES);
    for (int i = 0, next = 0; i < o->page.n; i++) {
        int here = next < o->first && o->rows[next].position == i;
        write_token(f, o, i, here ? &o->rows[next] : NULL, s);
        next += here;
    }
    fputs("</p>\n", f);
    fputs(script, f);
    fputs("</body></html>\n", f);
    free(title);
    if (!close_file(f)) return 0;
    fprintf(stderr, "lengthen probe: passage.html could not be written; is the disk full?\n");
    return LG_EXIT_FAILED;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* 1: the predictions could not be written. */
static int keep_csv(struct lg_cli_probe_out *o)
{
    char from[4096], to[4096];
    FILE *f = o->csv;
    o->csv = NULL;
    int bad = close_file(f) | o->lost;
    if (path_of(o, csv_part, from) || path_of(o, csv_name, to)) return 1;
    if (!bad && rename(from, to) == 0) return 0;
    remove(from);
    return 1;
}

int lg_cli_probe_out_finish(struct lg_cli_probe_out *o, const lg_probe_summary *s)
{
    static const char *const figures[] = {"kstar.svg", "excess.svg", "position.svg"};
    char path[4096];
    lg_error err;
    int code = 0;
    if (!o->folder) return 0;
    if (keep_csv(o)) {
        fprintf(stderr, "lengthen probe: no memory, or no room on the disk for %s\n", o->folder);
        return LG_EXIT_FAILED;
    }
    code = write_page(o, s);
    for (int i = 0; i < 3; i++) /* those of an earlier probe */
        if (!path_of(o, figures[i], path)) remove(path);
    if (!code) code = path_of(o, "kstar.svg", path);
    if (!code && lg_figure_check(path, &err)) {
        fprintf(stderr, "lengthen probe: there are no figures: %s\n", err.text);
    } else if (!code) {
        code = draw_kstar(o, s);
        if (!code && s->context) code = draw_excess(o, s);
        if (!code) code = draw_position(o, s);
    }
    if (code) return code;
    remove(o->begun);
    fprintf(stderr, "Predictions, figures and a passage are in %s\n", o->folder);
    return 0;
}

void lg_cli_probe_out_clear(struct lg_cli_probe_out *o)
{
    char path[4096];
    if (o->csv) {
        fclose(o->csv);
        if (!path_of(o, csv_part, path)) remove(path);
    }
    for (int i = 0; o->piece && i < o->page.n; i++) free(o->piece[i]);
    free(o->piece);
    free(o->rows);
    *o = (struct lg_cli_probe_out){0};
}
