/* closed_form.h: what the tests of encodings against their closed forms share: a small config, how
 * near a number is, and memory of just its size. */
#ifndef LG_TESTS_POSITIONS_CLOSED_FORM_H
#define LG_TESTS_POSITIONS_CLOSED_FORM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "positions/positions.h"

enum { FAR = INT32_MAX };

static inline lg_model_config config(int levels)
{
    lg_model_config c;
    memset(&c, 0, sizeof c);
    c.width = 24;
    c.heads = 3;
    c.levels = levels;
    c.rope_share = 1;
    c.rope_base = 10000;
    c.rope_factor = 1;
    c.max_id = 9;
    for (int l = 0; l < LG_LEVELS; l++) {
        c.window_lo[l] = -2 - l;
        c.window_hi[l] = 1 + l;
    }
    return c;
}

#define near(got, want, error) check_near(got, want, error, #got, __LINE__)
static inline void check_near(double got, double want, double error, const char *what, int line)
{
    if (!(fabs(got - want) <= error))
        fail_msg("line %d: %s is %.17g, not %.17g", line, what, got, want);
}

/* Exactly so much memory that ASan sees one number too far. */
static inline float *numbers(int n)
{
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < n; i++) x[i] = 0;
    return x;
}

#endif
