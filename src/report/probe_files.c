/* probe_files.c: what a probe leaves in its folder: the predictions as CSV and three figures; the page is
 * in probe_page.c. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "report/probe_files.h"

enum { PARTS = 12, GROUPS = LG__PROBE_GROUPS }; /* PARTS: of the positions, in the figure */

/* The predictions are written beside those of an earlier probe, and replace them when all are there. */
static const char csv_name[] = "predictions.csv", csv_part[] = "predictions.csv.tmp";

static int path_of(const lg_probe_files *o, const char *name, char path[4096], lg_error *err)
{
    int n = snprintf(path, 4096, "%s/%s", o->folder, name);
    if (n > 0 && n < 4096) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "--out is a name of %zu letters; take a shorter one",
                    strlen(o->folder));
}

/* One probe at a time writes there, as of a run one process trains it. */
static int lock_folder(lg_probe_files *o, lg_error *err)
{
    int reason = lg__folder_lock(o->folder, 0, &o->lock);
    if (!reason) return 0;
    if (reason == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "another probe writes to %s; wait for it, or take another folder (--out)",
                        o->folder);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s cannot be locked: %s; take another folder (--out)",
                    o->folder, strerror(reason));
}

static int open_csv(lg_probe_files *o, lg_error *err)
{
    char path[4096];
    int e = path_of(o, csv_part, path, err);
    if (!e && !(o->csv = fopen(path, "w"))) e = lg__fail_write(err, path, errno);
    if (e) return e;
    fputs("document,position,token,word,loss,loss_0,depends,k,sources,curve,against,against_short,"
          "excess\n",
          o->csv);
    return 0;
}

lg_probe_files *lg_probe_files_new(const char *folder, const char *title, const char *against,
                                   lg_error *err)
{
    lg_probe_files *o = calloc(1, sizeof *o);
    if (!o || !(o->folder = strdup(folder)) || !(o->title = strdup(title)) ||
        (against && !(o->against = strdup(against)))) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for the files of a probe; end other programs");
        if (o) o->lock = -1;
        lg_probe_files_free(o);
        return NULL;
    }
    o->lock = -1;
    int e = lg__folder_out(folder, err);
    if (!e) e = lock_folder(o, err);
    if (!e) e = path_of(o, "begun", o->begun, err);
    if (!e) e = open_csv(o, err);
    if (!e) return o;
    lg_probe_files_free(o);
    return NULL;
}

const char *lg_probe_files_begun(const lg_probe_files *o) { return o->begun; }

void lg_probe_files_passage(lg_probe_files *o, const lg_probe_passage *p)
{
    o->words = p->words;
    if (o->passages++) return;
    o->document = p->document;
    o->tokens = p->n;
    o->piece = lg__probe_pieces(p);
    o->lost |= !o->piece;
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

static void csv_row(const lg_probe_files *o, const lg_probe_row *r)
{
    FILE *f = o->csv;
    fprintf(f, "%lld,%d,%d,", (long long)r->document, r->position, (int)r->token);
    csv_word(f, o->words[r->token]);
    fprintf(f, ",%.6g,%.6g,%d,%d,", r->loss, r->loss_0, r->depends, r->k);
    for (int i = 0; i < r->sources && i < LG__PROBE_SOURCES; i++)
        fprintf(f, "%s%d:%.4g", i ? " " : "", r->source[i], (double)r->influence[i]);
    fputc(',', f);
    for (int i = 0; i <= r->sources; i++) fprintf(f, "%s%.4g", i ? " " : "", (double)r->curve[i]);
    if (o->against)
        fprintf(f, ",%.6g,%.6g,%.6g\n", r->against, r->against_short,
                r->against - r->against_short);
    else
        fputs(",,,\n", f);
}

void lg_probe_files_row(lg_probe_files *o, const lg_probe_row *r)
{
    csv_row(o, r);
    if (o->count == o->room) {
        int room = o->room ? 2 * o->room : 1024;
        struct lg__probed *more = realloc(o->rows, (size_t)room * sizeof *more);
        o->lost |= !more;
        if (!more) return;
        o->rows = more;
        o->room = room;
    }
    struct lg__probed *x = &o->rows[o->count++];
    *x = (struct lg__probed){.position = r->position,
                             .k = r->k,
                             .depends = r->depends,
                             .loss = r->loss,
                             .loss_0 = r->loss_0,
                             .shown = o->against ? r->against : r->loss,
                             .sources =
                                 r->sources < LG__PROBE_SOURCES ? r->sources : LG__PROBE_SOURCES};
    for (int i = 0; i < x->sources; i++) {
        x->source[i] = r->source[i];
        x->influence[i] = r->influence[i];
    }
    if (o->passages == 1) o->first = o->count;
}

/* ---- Figures -------------------------------------------------------------------------------- */

static int draw(const lg_probe_files *o, const lg_figure *f, const char *name, lg_error *err)
{
    char path[4096];
    int e = lg__file_path(path, sizeof path, o->folder, name, err);
    return e ? e : lg_figure_write(f, path, err);
}

static lg_figure of_one(const lg_curve *curve, const char *title, const char *caption,
                        const char *x_label, const char *y_label)
{
    return (lg_figure){.title = title,
                       .caption = caption,
                       .x_label = x_label,
                       .y_label = y_label,
                       .curves = curve,
                       .count = 1};
}

static int draw_kstar(const lg_probe_files *o, const lg_probe_summary *s, lg_error *err)
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
    lg_figure f = of_one(&curve, title, caption, "k", "predictions with k* up to k, %");
    return draw(o, &f, "kstar.svg", err);
}

/* A range of the y axis around what is shown, in steps of 0.1. */
static void widen(double *low, double *high, double value)
{
    if (isnan(value)) return;
    *low = fmin(*low, floor(10 * value) / 10);
    *high = fmax(*high, ceil(10 * value) / 10);
}

static int draw_excess(const lg_probe_files *o, const lg_probe_summary *s, const char *verdict,
                       lg_error *err)
{
    double x[LG_PROBE_BINS], y[LG_PROBE_BINS], low[LG_PROBE_BINS], high[LG_PROBE_BINS];
    double bottom = 0, top = 0.1;
    char title[400], caption[700];
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
    snprintf(caption, sizeof caption,
             "%s The band is 95%%, documents being drawn; k* of one document alone are not shown.",
             verdict);
    snprintf(title, sizeof title, "Lost past its training length, by k*: %s", o->against);
    lg_figure f = of_one(&curve, title, caption, "k*, measured on the run of long texts",
                         "excess loss, nats a token");
    f.y_low = bottom;
    f.y_high = top;
    return draw(o, &f, "excess.svg", err);
}

/* Loss by position, of groups of k*. The parts are of the positions that there are. */
static int draw_position(const lg_probe_files *o, const lg_probe_summary *s, lg_error *err)
{
    double x[GROUPS][PARTS] = {{0}}, y[GROUPS][PARTS] = {{0}}, bottom = 1e30, top = 0;
    int number[GROUPS][PARTS] = {{0}}, curves = 0, first = INT_MAX, last = 0;
    lg_curve curve[GROUPS];
    char title[400], name[GROUPS][32] = {"does not depend"};
    snprintf(name[LG__PROBE_FEW], sizeof *name, s->few > 1 ? "k* 1-%d" : "k* %d", s->few);
    snprintf(name[LG__PROBE_SOME], sizeof *name, s->many > 3 ? "k* 3-%d" : "k* %d", s->many);
    snprintf(name[LG__PROBE_MANY], sizeof *name, "k* over %d", s->many);
    for (int i = 0; i < o->count; i++) {
        if (o->rows[i].position < first) first = o->rows[i].position;
        if (o->rows[i].position > last) last = o->rows[i].position;
    }
    for (int i = 0; i < o->count; i++) {
        const struct lg__probed *r = &o->rows[i];
        int part = (int)((int64_t)(r->position - first) * PARTS / (last - first + 1));
        int g = lg__probe_group(r, s);
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
    return draw(o, &f, "position.svg", err);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Closes it; 0, or the error with which something could not be written, as in errno, -1 if that is not
 * known any more. */
static int close_file(FILE *f)
{
    errno = 0;
    int bad = ferror(f) | (fflush(f) != 0), error = errno;
    if (fclose(f) == 0 && !bad) return 0;
    return error ? error : errno ? errno : -1;
}

static int keep_csv(lg_probe_files *o, lg_error *err)
{
    char from[4096], to[4096];
    int error = close_file(o->csv);
    o->csv = NULL;
    int e = path_of(o, csv_part, from, err);
    if (!e) e = path_of(o, csv_name, to, err);
    if (e) return e;
    if (!error && !o->lost) {
        if (rename(from, to) == 0) return 0;
        error = errno;
    }
    remove(from);
    if (error) return lg__fail_write(err, to, error);
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the predictions; end other programs");
}

static int draw_all(const lg_probe_files *o, const lg_probe_summary *s, const char *verdict,
                    lg_error *warning, lg_error *err)
{
    static const char *const figures[] = {"kstar.svg", "excess.svg", "position.svg"};
    char path[4096];
    lg_error why;
    int e = 0;
    for (int i = 2; i >= 0 && !e; i--) /* those of an earlier probe */
        if (!(e = path_of(o, figures[i], path, err))) remove(path);
    if (e) return e;
    if (lg_figure_check(path, &why)) {
        lg__fail(warning, LG_ERROR_SYSTEM, "there are no figures: %s", why.text);
        return 0;
    }
    e = draw_kstar(o, s, err);
    if (!e && s->context) e = draw_excess(o, s, verdict, err);
    return e ? e : draw_position(o, s, err);
}

int lg_probe_files_finish(lg_probe_files *o, const lg_probe_summary *s, const char *verdict,
                          lg_error *warning, lg_error *err)
{
    char path[4096];
    int e = keep_csv(o, err);
    if (!e) e = path_of(o, "passage.html", path, err);
    if (!e) e = lg__probe_page(o, s, path, err);
    if (!e) e = draw_all(o, s, verdict, warning, err);
    if (!e) remove(o->begun);
    return e;
}

void lg_probe_files_free(lg_probe_files *o)
{
    char path[4096];
    if (!o) return;
    if (o->csv) {
        fclose(o->csv);
        if (!path_of(o, csv_part, path, NULL)) remove(path);
    }
    for (int i = 0; o->piece && i < o->tokens; i++) free(o->piece[i]);
    free(o->piece);
    free(o->rows);
    if (o->lock >= 0) close(o->lock);
    free(o->folder);
    free(o->title);
    free(o->against);
    free(o);
}
