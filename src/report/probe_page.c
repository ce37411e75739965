/* probe_page.c: a passage as a page that shows where each prediction comes from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "report/probe_files.h"

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
    lg_buffer b = {0};
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)piece[i];
        size_t whole = lg_utf8_letter(piece + i, n - i);
        if (c == '<' || c == '>' || c == '&' || c == '"')
            lg_buffer_print(&b, "&#%d;", c);
        else if (c == '\n')
            lg_buffer_put(&b, "&#8629;<br>");
        else if (!whole || (c < 0x20 && c != '\t') || c == 0x7f)
            lg_buffer_put(&b, "&#183;");
        else
            lg_buffer_add(&b, piece + i, whole);
        i += whole ? whole : 1;
    }
    return lg_buffer_take(&b, NULL);
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
    if (p->piece && p->piece[i] && p->size[i]) return text_piece(p->piece[i], p->size[i], b);
    char *word = NULL;
    if (asprintf(&word, "%s ", p->words[p->tokens[i]]) < 0) return NULL;
    char *text = as_html(word, strlen(word));
    free(word);
    return text;
}

char **lg__probe_pieces(const lg_probe_passage *p)
{
    struct begun b = {.n = 0};
    char **piece = calloc((size_t)p->n, sizeof *piece);
    for (int i = 0; i < p->n && piece; i++)
        if (!(piece[i] = piece_of(p, i, &b))) {
            while (i) free(piece[--i]);
            free(piece);
            return NULL;
        }
    return piece;
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
static void short_piece(lg_buffer *to, const char *html)
{
    const char *cut = strstr(html, "<br>");
    lg_buffer_print(to, "%.*s", cut ? (int)(cut - html) : (int)strlen(html), html);
}

static void write_token(lg_buffer *to, const lg_probe_files *o, int i, const struct lg__probed *r,
                        const lg_probe_summary *sum)
{
    static const char *const colour[LG__PROBE_GROUPS] = {"", "a", "b", "c"};
    int most_k = sum->most_k;
    if (!r || !r->depends) {
        lg_buffer_print(to, "<span id=\"t%d\"", i);
        if (r) lg_buffer_print(to, " title=\"loss %.2f; does not depend on its context\"", r->loss);
        lg_buffer_print(to, ">%s</span>", o->piece[i]);
        return;
    }
    lg_buffer_print(to, "<span id=\"t%d\" class=\"%s\" data-s=\"", i,
                    colour[lg__probe_group(r, sum)]);
    for (int s = 0; s < r->sources; s++) lg_buffer_print(to, "%s%d", s ? " " : "", r->source[s]);
    lg_buffer_print(to, "\" title=\"k* %s%d; loss %.2f, %.2f without context; from",
                    r->k > most_k ? "over " : "", r->k > most_k ? most_k : r->k, r->loss,
                    r->loss_0);
    for (int s = 0; s < r->sources; s++) {
        lg_buffer_put(to, s ? ", &#8220;" : " &#8220;");
        short_piece(to, o->piece[r->source[s]]);
        lg_buffer_print(to, "&#8221; %+.2g", (double)r->influence[s]);
    }
    lg_buffer_print(to, "\">%s</span>", o->piece[i]);
}

int lg__probe_page(const lg_probe_files *o, const lg_probe_summary *s, const char *path,
                   lg_error *err)
{
    lg_buffer b = {0};
    char *title = as_html(o->title, strlen(o->title));
    lg_buffer_put(&b, head);
    lg_buffer_print(
        &b,
        "<p class=\"note\">Document %lld, as the run %s reads it. A coloured token is a prediction "
        "that depends on its context: <span class=\"a\">green</span> on up to %d earlier tokens, "
        "<span class=\"b\">yellow</span> on up to %d, <span class=\"c\">red</span> on more (k*). "
        "Point at one to see the tokens that it comes from underlined, at most %d; click to "
        "hold it. The last tokens before it and the first are always there and are not "
        "marked.</p>\n<p>",
        (long long)o->document, title ? title : "", s->few, s->many, LG__PROBE_SOURCES);
    for (int i = 0, next = 0; i < o->tokens; i++) {
        int here = next < o->first && o->rows[next].position == i;
        write_token(&b, o, i, here ? &o->rows[next] : NULL, s);
        next += here;
    }
    lg_buffer_put(&b, "</p>\n");
    lg_buffer_put(&b, script);
    lg_buffer_put(&b, "</body></html>\n");
    free(title);
    return lg_buffer_save(&b, path, err);
}
