/* abacus.c: the place of a digit inside its number. */
#include "base/error.h"
#include "positions/ids.h"

static int32_t next(const lg_plan *p, int32_t last, int32_t token)
{
    const unsigned char *digit = p->shape->digit;
    return digit && digit[token] ? last + 1 : 0;
}

static int ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const out[LG_LEVELS],
               lg_error *err)
{
    int most = p->scheme.max_id;
    int32_t run = 0, longest = 0, *id = out[0];
    for (int t = 0; t < x->n; t++) {
        id[t] = run = next(p, run, x->tokens[t]);
        if (run > longest) longest = run;
    }
    if (!r || !most) return 0;
    if (longest > most)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "max_id",
            "ids abacus: a number of %d digits does not fit, since {max_id} is %d; set "
            "{max_id} to %d or more, or use shorter numbers",
            (int)longest, most, (int)longest);
    int32_t k = (int32_t)lg_rng_below(r, (uint32_t)(most - longest) + 1);
    for (int t = 0; t < x->n; t++) id[t] += id[t] ? k : 0;
    return 0;
}

static const char text[] =
    "ID of a digit = 1 + its place in the run of digits it stands in; other tokens have 0. What\n"
    "a digit is the task says.\n"
    "Training with max_id: one k, uniform in 0 .. max_id - (longest run), is added to all IDs\n"
    "but 0. Without max_id, and in evaluation: k = 0.\n"
    "Digits of the same place share an ID only if all numbers are written from the same end,\n"
    "the lowest digit first.\n"
    "One level. Needs: a task with digits.";

const struct lg__ids_row lg__ids_abacus = {
    .name = "abacus",
    .line = "the place of a digit inside its number; 0 on everything else",
    .text = text,
    .flags = LG__IDS_DIGITS | LG__IDS_MAX_ID,
    .ids = ids,
    .next = next,
};
