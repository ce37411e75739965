/* naive.h: the naive twins, in float and in double, with the same table as the kernels. */
#ifndef LG_ENGINE_NAIVE_H
#define LG_ENGINE_NAIVE_H

#include "kernels.h"

#define real double
#define KERNEL(returns, kernel, ...) returns (*kernel)(__VA_ARGS__);
struct lg__kernels64 {
    const char *name, *half;
#include "kernels_def.h"
};
#undef real
#undef KERNEL

extern const struct lg__kernels lg__naive32;
extern const struct lg__kernels64 lg__naive64;

#endif
