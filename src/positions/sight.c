/* sight.c: what of the prompt the tokens of an answer see through a window (sight.h). With the model's
 * N layers, token t sees the prompt if some key in its window is a token of it, or itself sees it with
 * N - 1 layers. */
#include "positions/sight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const int64_t MOST_PAIRS = 20000000; /* of all examples; a longer one is not looked at */

struct looking {
    const lg_model_config *c;
    int32_t *ids[LG_LEVELS];
};

/* Whether query t sees key j, if level `open` had no window (-1: all have theirs). */
static int sees(const struct looking *w, int t, int j, int open)
{
    int shared = 0;
    if (t == j) return 1;
    for (int l = 0; l < w->c->levels; l++) {
        int32_t q = w->ids[l][t], k = w->ids[l][j];
        if (q == LG_ABSENT || k == LG_ABSENT) continue;
        shared = 1;
        if (l != open && (k - q < w->c->window_lo[l] || k - q > w->c->window_hi[l])) return 0;
    }
    return shared;
}

/* Marks in lit[n] the tokens that see one of the prompt other than themselves, through all layers. */
static void light(const struct looking *w, const lg_example *x, int open, unsigned char *lit,
                  unsigned char *before)
{
    memset(lit, 0, (size_t)x->n);
    for (int layer = 0; layer < w->c->layers; layer++) {
        memcpy(before, lit, (size_t)x->n);
        for (int t = 0; t < x->n; t++)
            for (int j = 0; j <= t && !lit[t]; j++)
                lit[t] = ((j < x->answer && j != t) || before[j]) && sees(w, t, j, open);
    }
}

/* How far from the query are the prompt's tokens that level l alone hides. */
static void measure(struct lg__sight *s, const struct looking *w, const lg_example *x, int t, int l)
{
    for (int j = 0; j < x->answer && j <= t; j++) {
        if (j == t || !sees(w, t, j, l) || w->ids[l][t] == LG_ABSENT || w->ids[l][j] == LG_ABSENT)
            continue;
        int32_t d = w->ids[l][j] - w->ids[l][t];
        if (d < s->low[l]) s->low[l] = d;
        if (d > s->high[l]) s->high[l] = d;
    }
}

static void count(struct lg__sight *s, const struct looking *w, const lg_example *x,
                  unsigned char *lit, unsigned char *before)
{
    unsigned char *dark = before + x->n;
    light(w, x, -1, lit, before);
    for (int t = 0; t < x->n; t++) {
        dark[t] = t + 2 < x->n && x->loss[t + 1] && !lit[t]; /* the last may be a stop token */
        s->tokens += t + 2 < x->n && x->loss[t + 1];
        s->dark += dark[t];
    }
    for (int l = 0; l < w->c->levels; l++) {
        light(w, x, l, lit, before);
        for (int t = 0; t < x->n; t++) {
            s->without[l] += dark[t] && !lit[t];
            if (dark[t]) measure(s, w, x, t, l);
        }
    }
}

int lg__sight_look(struct lg__sight *s, const lg_plan *p, const lg_example *x,
                   const lg_model_config *c, lg_error *err)
{
    int64_t n = x->n, pairs = n * n * c->layers * (c->levels + 1);
    if (c->span != LG_SPAN_WINDOW || x->answer < 2 || s->pairs + pairs > MOST_PAIRS) return 0;
    struct looking w = {.c = c};
    int32_t *ids = lg__alloc((size_t)n * (size_t)c->levels * sizeof *ids);
    unsigned char *lit = lg__alloc(3 * (size_t)n);
    for (int l = 0; l < c->levels; l++) w.ids[l] = ids + l * n;
    int e = ids && lit ? lg_plan_ids(p, x, NULL, w.ids, err)
                       : lg__fail(err, LG_ERROR_MEMORY, "no memory for examples");
    if (!e) count(s, &w, x, lit, lit + n);
    s->pairs += pairs;
    free(ids);
    free(lit);
    return e;
}

void lg__sight_remark(const struct lg__sight *s, const lg_task_shape *shape,
                      const lg_model_config *c, lg_error *remark)
{
    char remedy[160] = "take a wider window, or span full", which[60] = "";
    int l = 0;
    if (10 * s->dark < s->tokens || !s->dark) return;
    for (int i = 1; i < c->levels; i++)
        if (s->without[i] < s->without[l]) l = i;
    if (c->levels > 1)
        snprintf(which, sizeof which, " of level %d (%.30s)", l + 1,
                 shape->level[l] ? shape->level[l] : "unnamed");
    if (s->without[l] < s->dark)
        snprintf(remedy, sizeof remedy, "the window%s is [%d, %d]; take [%d, %d]", which,
                 c->window_lo[l], c->window_hi[l],
                 s->low[l] < c->window_lo[l] ? s->low[l] : c->window_lo[l],
                 s->high[l] > c->window_hi[l] ? s->high[l] : c->window_hi[l]);
    lg__fail_key(remark, LG_OK, "window_lo",
                 "%.0f%% of the answer's tokens see nothing of the prompt through this window, and "
                 "cannot be learned from it: %s",
                 100.0 * (double)s->dark / (double)s->tokens, remedy);
}
