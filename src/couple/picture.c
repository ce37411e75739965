/* picture.c: two examples as SVG: the tokens in a row, their IDs below, and arcs from what a token of the answer
 * reads to that token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "couple/couple.h"

enum { STEP = 30, TOP = 130, ROW = 20, LEFT = 90, SHOWN = 2, WIDEST = 36 };

static void put_escaped(lg_buffer *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            lg_buffer_put(b, "&lt;");
        else if (*text == '&')
            lg_buffer_put(b, "&amp;");
        else
            lg_buffer_add(b, text, 1);
    }
}

static void put_text(lg_buffer *b, int x, int y, const char *fill, const char *anchor,
                     const char *text)
{
    lg_buffer_print(b, "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"%s\">", x, y, fill,
                    anchor);
    put_escaped(b, text);
    lg_buffer_put(b, "</text>\n");
}

static void put_arc(lg_buffer *b, int from, int to, int y, const char *colour)
{
    int x1 = LEFT + STEP * from, x2 = LEFT + STEP * to, height = 14 + 9 * abs(to - from) / 2;
    if (height > TOP - 30) height = TOP - 30;
    if (from == to) return;
    lg_buffer_print(b,
                    "<path d=\"M%d %d C%d %d %d %d %d %d\" fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"1.5\"/>\n",
                    x1, y, x1, y - height, x2, y - height, x2, y, colour);
}

/* Two tokens in the middle of the answer show what all do. */
static void put_arcs(lg_buffer *b, const struct lg__finding *f, const lg_example *x, int y)
{
    static const char *const colour[] = {"#c0392b", "#2471a3", "#1e8449"};
    struct lg__view v;
    int n = x->n - x->answer, shown = f->slots > 1 ? f->slots : SHOWN;
    if (!lg__view_make(&v, &f->structure, x)) return;
    for (int i = 0; i < shown && i < 3; i++) {
        int t = x->answer + (n > shown ? (n - shown) / 2 : 0) + i;
        if (f->structure.answer.cut == LG__CUT_WIDTH) t = x->answer + i;
        if (t >= x->n) continue;
        const struct lg__slot *s =
            &f->slot[f->structure.answer.cut == LG__CUT_WIDTH ? (t - x->answer) % f->slots : 0];
        for (int k = 0; k < s->count; k++) {
            int at = lg__address_place(&s->address[k], &f->structure, &v, t);
            if (at >= 0) put_arc(b, at, t, y - 16, colour[i]);
        }
    }
}

static void put_example(lg_buffer *b, const struct lg__couple *c, const struct lg__finding *f,
                        const struct lg__assignment *a, const lg_example *x, int top)
{
    int y = top + TOP;
    char text[16];
    put_arcs(b, f, x, y);
    put_text(b, LEFT - STEP, y, "#555", "end", "token");
    for (int t = 0; t < x->n; t++)
        put_text(b, LEFT + STEP * t, y, t < x->answer ? "#000" : "#7d3c98", "middle",
                 c->shape->words[x->tokens[t]]);
    for (int l = 0; l < a->rule.levels; l++) {
        y += ROW;
        put_text(b, LEFT - STEP, y, "#555", "end", a->rule.level[l].name);
        for (int t = 0; t < x->n; t++) {
            if (x->labels[l][t] == LG_ABSENT)
                snprintf(text, sizeof text, "-");
            else
                snprintf(text, sizeof text, "%d", (int)x->labels[l][t] + 1);
            put_text(b, LEFT + STEP * t, y, "#888", "middle", text);
        }
    }
}

/* Two lines that fit on a page, the longest such. */
static int choose(const struct lg__couple *c, const lg_example *out[2])
{
    int n = 0;
    for (int most = WIDEST; most > 4 && n < 2; most--)
        for (int i = 0; i < c->looked.count && n < 2; i++)
            if (c->looked.x[i].n == most && !c->wrong[c->looked_at[i]]) out[n++] = &c->looked.x[i];
    return n;
}

int lg__couple_picture(const struct lg__couple *c, const struct lg__finding *f,
                       const struct lg__assignment *a, const char *path, lg_error *err)
{
    const lg_example *x[2];
    lg_buffer b = {0};
    int n = choose(c, x), each = TOP + ROW * (a->rule.levels + 1) + 10, e = 0, widest = 0;
    for (int i = 0; i < n; i++)
        if (x[i]->n > widest) widest = x[i]->n;
    lg_buffer_print(&b,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "font-family=\"monospace\" font-size=\"13\">\n"
                    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                    LEFT + STEP * (widest + 1), n * each + 30);
    char line[160];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(a->rule.reads, "\n"), a->rule.reads);
    put_text(&b, 10, 20, "#000", "start", line);
    for (int i = 0; i < n && !e; i++) {
        e = lg__rule_label(&a->rule, (lg_example *)x[i], err);
        if (!e) put_example(&b, c, f, a, x[i], i * each + 20);
    }
    lg_buffer_put(&b, "</svg>\n");
    if (e) {
        lg_buffer_clear(&b);
        return e;
    }
    return lg_buffer_save(&b, path, err);
}
