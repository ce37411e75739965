/* randomized.c: a sorted random sample of the IDs up to max_id. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "positions/ids.h"

/* Puts v into a table that keeps its numbers in order: v's home slot grows with v, and what is
 * larger moves on by one. Numbers are stored as v + 1; 0 is an empty slot. Returns 0 if v is
 * there. */
static int insert(uint32_t *table, int64_t home, uint32_t v)
{
    uint32_t *at = table + home, carry = v + 1;
    while (*at && *at < carry) at++;
    if (*at == carry) return 0;
    while (carry) {
        uint32_t larger = *at;
        *at++ = carry;
        carry = larger;
    }
    return 1;
}

/* out = n different integers of 0..m-1 in increasing order, every set equally likely: Floyd's
 * method, which inserts n numbers, into a table of 2n slots (and n for what is pushed over the
 * end) that is never more than half full at any place, on average: linear time, whatever m is. */
static int sample(int32_t *out, int n, int64_t m, lg_rng *r, lg_error *err)
{
    uint32_t few[3 * 256] = {0}, *table = few;
    if (n > 256) table = lg__alloc(3 * (size_t)n * sizeof *table);
    if (!table)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for %d random IDs; use shorter examples, or end other programs",
                        n);
    int64_t slots = 2 * (int64_t)n;
    for (int64_t j = m - n; j < m; j++) {
        uint32_t v = lg_rng_below(r, (uint32_t)(j + 1));
        if (!insert(table, v * slots / m, v)) insert(table, j * slots / m, (uint32_t)j);
    }
    for (int64_t i = 0, k = 0; k < n; i++)
        if (table[i]) out[k++] = (int32_t)(table[i] - 1);
    if (table != few) free(table);
    return 0;
}

static int64_t there_are(const lg_plan *p) { return (int64_t)p->scheme.max_id + 1; }

static int ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const out[LG_LEVELS],
               lg_error *err)
{
    if (x->n > there_are(p))
        return lg__ids_too_long(p, x->n, "max_id", p->scheme.max_id, x->n - 1, err);
    return sample(out[0], x->n, there_are(p), r, err);
}

static int over_fits(const lg_plan *p, int level, const struct lg__range *g, lg_error *err)
{
    int64_t labels = (int64_t)g->most - g->least + 1;
    if (labels <= there_are(p)) return 0;
    return lg__ids_no_room(p, level, "max_id", p->scheme.max_id, labels, labels - 1, err);
}

static int over_map(const lg_plan *p, const struct lg__range *g, int32_t *map, lg_rng *r,
                    lg_error *err)
{
    return sample(map, g->most - g->least + 1, there_are(p), r, err);
}

static const char text[] =
    "The IDs are n different integers of 0 .. max_id, every such set equally likely, in\n"
    "increasing order. Training: drawn for each example. Evaluation: drawn too, but by the\n"
    "prompt's own tokens, so that the same example has the same IDs every time.\n"
    "Differences of IDs tell the order, not how many tokens lie between: with span window the\n"
    "neighbours would be out of sight, so that is refused.\n"
    "One level. Needs: max_id, at least the number of tokens of the longest example that will\n"
    "ever be met, test lengths included.";
static const char over_text[] =
    "At each level the labels least .. largest, those that no token has included, are mapped in\n"
    "order to a sorted sample of different integers of 0 .. max_id, drawn for each level; tokens\n"
    "that shared an ID still do. Training: drawn for each example. Evaluation: drawn by the\n"
    "prompt's own tokens.\n"
    "Needs: a task with labels; max_id, at least the number of labels of the longest example\n"
    "that will ever be met. Refused with span window (a gap cuts the columns apart) and with\n"
    "predicted IDs (a random step cannot be foreseen).";

const struct lg__ids_row lg__ids_randomized = {
    .name = "randomized",
    .line = "increasing random integers: a sorted sample of 0 .. max_id",
    .text = text,
    .flags = LG__IDS_MAX_ID | LG__IDS_NEEDS_MAX_ID | LG__IDS_GAPS | LG__IDS_DRAWN,
    .over_name = "coupled+randomized",
    .over_line = "coupled, each level's labels spread over a sorted random sample",
    .over_text = over_text,
    .over_levels = LG_LEVELS,
    .ids = ids,
    .over_fits = over_fits,
    .over_map = over_map,
};
