/* scaled.h: numbers m * 2^e whose exponents have no bounds: products of a hundred weights e^200 and
 * sums of them stay exact to rounding. */
#ifndef LG_THEORY_SCALED_H
#define LG_THEORY_SCALED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^e; 0 below the normal numbers. e <= 1023. */
static inline double lg__pow2(int64_t e)
{
    if (e < -1022) return 0;
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(log) as m * 2^e with m in about [1, 2); m is 0 for -INFINITY. ln 2 in two parts, of which the
 * first has few digits, so that e times it is exact. */
static inline void lg__split(double log, double *m, int64_t *e)
{
    *m = 0;
    *e = 0;
    if (!(log > -INFINITY)) return;
    double whole = floor(log * 1.4426950408889634);
    *m = exp(log - whole * 0x1.62e42fefa38p-1 - whole * 0x1.ef35793c7673p-45);
    *e = (int64_t)whole;
}

/* Two sums with one exponent: that of the weights, which is never negative, and that of the weights
 * times a sign or a value in [-1, 1]. The first is 0 (nothing yet) or at least about 1. */
struct lg__pair {
    double den, num;
    int64_t e;
};

/* *to += (den, num) * 2^e. den is 0 or at least about 1, and at most 2^500. */
static inline void lg__pair_add(struct lg__pair *to, double den, double num, int64_t e)
{
    if (den == 0) return;
    if (to->den == 0) {
        *to = (struct lg__pair){den, num, e};
    } else {
        int64_t rise = e - to->e;
        if (rise > 64) {
            double down = lg__pow2(-rise);
            to->den *= down;
            to->num *= down;
            to->e = e;
            rise = 0;
        }
        double f = lg__pow2(rise);
        to->den += den * f;
        to->num += num * f;
    }
    if (to->den > 0x1p200) {
        int by = ilogb(to->den);
        to->den *= lg__pow2(-by);
        to->num *= lg__pow2(-by);
        to->e += by;
    }
}

static inline double lg__scaled_log(double m, int64_t e)
{
    return m > 0 ? log(m) + (double)e * 0.6931471805599453 : -INFINITY;
}

#endif
