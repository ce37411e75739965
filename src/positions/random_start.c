/* random_start.c: the place in the text, counted from a random start in training. */
#include "positions/ids.h"

static int ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const out[LG_LEVELS],
               lg_error *err)
{
    int n = x->n, most = p->scheme.max_id;
    if (r && n > most) return lg__ids_too_long(p, n, "max_id", most, n, err);
    lg__ids_count_from(out[0], n, r ? 1 + (int32_t)lg_rng_below(r, (uint32_t)(most - n + 1)) : 1);
    return 0;
}

static const char text[] =
    "ID of token t = s + t.\n"
    "Training: s is uniform in 1 .. max_id - n + 1, drawn for each example, so that every ID up\n"
    "to max_id is met and none passes it. Evaluation: s = 1.\n"
    "One level. Needs: max_id, at least the number of tokens of the longest example.";

const struct lg__ids_row lg__ids_random_start = {
    .name = "random-start",
    .line = "the place in the text, counted from a random start in training",
    .text = text,
    .flags = LG__IDS_MAX_ID | LG__IDS_NEEDS_MAX_ID,
    .ids = ids,
};
