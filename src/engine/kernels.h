/* kernels.h: the engine's kernels, one table for each instruction set, chosen at run time.
 * The files k_*.c are compiled once for each (vec.h gives the vector words); naive.c holds
 * the plain twins that are their oracle and documentation. */
#ifndef LG_ENGINE_KERNELS_H
#define LG_ENGINE_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define real float
#define KERNEL(returns, kernel, ...) returns (*kernel)(__VA_ARGS__);
struct lg__kernels {
    const char *name, *half; /* half: the instructions of the half_ rows */
#include "kernels_def.h"
};
#undef real
#undef KERNEL

/* Raised whenever a change of a kernel, or of the order of sums, may change a bit of a result: a
 * checkpoint carries it, and a run that goes on with other kernels is marked. */
enum { LG__KERNELS_VERSION = 3 };

/* x as bf16: the upper half of its bits, to nearest, ties to even; 0 where it is subnormal, as AVX512_BF16 has it. */
static inline float lg__bf16(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    if (x != x)
        u |= 0x00400000u;
    else if (u & 0x7f800000u)
        u += 0x7fffu + (u >> 16 & 1u);
    else
        u &= 0x80000000u;
    u &= 0xffff0000u;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The best table that this CPU runs, or the one that LENGTHEN_ISA names. */
const struct lg__kernels *lg__kernels_get(void);

/* The table of this name; NULL: this build has none, or this CPU does not run it. */
const struct lg__kernels *lg__kernels_find(const char *name);

/* All tables that this build has and this CPU runs, best first, `naive` last; NULL ends. */
const struct lg__kernels *const *lg__kernels_all(void);

/* Puts the half_ rows of AVX512_BF16 into the table; and into `out` a table whose matmuls are its half_ rows. */
void lg__kernels_take_bf16(struct lg__kernels *k);
void lg__kernels_halve(struct lg__kernels *out, const struct lg__kernels *k);

#endif
