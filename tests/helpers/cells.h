/* cells.h: what a test asks of cells: counts in place of shares, and losses by their names. */
#ifndef LG_TESTS_HELPERS_CELLS_H
#define LG_TESTS_HELPERS_CELLS_H

#include <math.h>

#include "lengthen_runs.h"

/* The value of a kind; NaN: it was not measured. */
static inline double value_of(const lg_cell *c, const char *kind)
{
    const lg_value *v = lg_cell_get(c, kind);
    return v ? v->value : NAN;
}

/* Of how many samples; 0: it was not measured. */
static inline int samples_of(const lg_cell *c, const char *kind)
{
    const lg_value *v = lg_cell_get(c, kind);
    return v ? v->samples : 0;
}

/* How many answers are exact; -1: it was not measured. */
static inline int exact_of(const lg_cell *c)
{
    const lg_value *v = lg_cell_get(c, "exact");
    return v ? (int)lround(v->value * v->samples) : -1;
}

/* Whether two have the same values, bit by bit. */
static inline int same_values(const lg_cell *a, const lg_cell *b)
{
    int same = a->values == b->values;
    for (int i = 0; i < a->values && same; i++) {
        const lg_value *v = &a->value[i], *w = &b->value[i];
        same = v->kind == w->kind && v->samples == w->samples && v->value == w->value &&
               (v->low == w->low || (isnan(v->low) && isnan(w->low))) &&
               (v->high == w->high || (isnan(v->high) && isnan(w->high)));
    }
    return same;
}

/* A loss with its interval. */
static inline lg_text_mean mean_of(const lg_cell *c, const char *kind)
{
    const lg_value *v = lg_cell_get(c, kind);
    return v ? (lg_text_mean){v->value, v->low, v->high} : (lg_text_mean){NAN, NAN, NAN};
}

#endif
