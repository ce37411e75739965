/* naive.h: the naive twins, in float and in double, with the same table as the kernels. */
#ifndef LG_ENGINE_NAIVE_H
#define LG_ENGINE_NAIVE_H

#include "kernels.h"

#define real double
#define LG__TABLE lg__kernels64
#include "kernels_def.h"
#undef real
#undef LG__TABLE

extern const struct lg__kernels lg__naive32;
extern const struct lg__kernels64 lg__naive64;

#endif
