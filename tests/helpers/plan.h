/* plan.h: a scheme that is opened for one example alone. */
#ifndef LG_TESTS_PLAN_H
#define LG_TESTS_PLAN_H

#include "lengthen.h"

static inline int ids_once(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r,
                           int32_t *const ids[LG_LEVELS], lg_error *err)
{
    lg_plan p;
    int e = lg_plan_open(&p, s, t, err);
    return e ? e : lg_plan_ids(&p, x, r, ids, err);
}

static inline int add_once(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r,
                           lg_batch *b, lg_error *err)
{
    lg_plan p;
    int e = lg_plan_open(&p, s, t, err);
    return e ? e : lg_plan_add(&p, x, r, b, err);
}

#endif
