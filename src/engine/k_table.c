/* k_table.c: this instruction set's row of kernels. */
#include "k_table.h"

#define LG__STRING2(x) #x
#define LG__STRING(x) LG__STRING2(x)

extern const struct lg__kernels LG_K(kernels);

#define KERNEL(returns, kernel, ...) .kernel = LG_K(kernel),
const struct lg__kernels LG_K(kernels) = {
    .name = LG__STRING(LG_ISA),
    .half = LG__STRING(LG_ISA),
#include "kernels_def.h"
};
