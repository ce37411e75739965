/* k_table.h: what every kernel file includes: the vector words, and the kernels of this
 * instruction set under their own names, so that one may use another. */
#ifndef LG_ENGINE_K_TABLE_H
#define LG_ENGINE_K_TABLE_H

#include "vec.h"

#define real float
#define KERNEL(returns, kernel, ...) returns LG_K(kernel)(__VA_ARGS__);
#include "kernels_def.h"
#undef real
#undef KERNEL

#endif
