/* kernels.h: the engine's kernels, one table for each instruction set, chosen at run time.
 * The files k_*.c are compiled once for each (vec.h gives the vector words); naive.c holds
 * the plain twins that are their oracle and documentation. */
#ifndef LG_ENGINE_KERNELS_H
#define LG_ENGINE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define real float
#define KERNEL(returns, kernel, ...) returns (*kernel)(__VA_ARGS__);
struct lg__kernels {
    const char *name;
#include "kernels_def.h"
};
#undef real
#undef KERNEL

/* Raised whenever a change of a kernel, or of the order of sums, may change a bit of a result: a
 * checkpoint carries it, and a run that goes on with other kernels is marked. */
enum { LG__KERNELS_VERSION = 3 };

/* The best table that this CPU runs, or the one that LENGTHEN_ISA names. */
const struct lg__kernels *lg__kernels_get(void);

/* The table of this name; NULL: this build has none, or this CPU does not run it. */
const struct lg__kernels *lg__kernels_find(const char *name);

/* All tables that this build has and this CPU runs, best first, `naive` last; NULL ends. */
const struct lg__kernels *const *lg__kernels_all(void);

#endif
