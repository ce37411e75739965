/* k_table.c: this instruction set's row of kernels. */
#include "k_table.h"

#define LG__STRING2(x) #x
#define LG__STRING(x) LG__STRING2(x)
#define ROW(name) .name = LG_K(name)

extern const struct lg__kernels LG_K(lg__kernels);

const struct lg__kernels LG_K(lg__kernels) = {
    .name = LG__STRING(LG_ISA),
    ROW(pack_size),
    ROW(pack),
    ROW(gemm),
    ROW(gemm_tn_scratch),
    ROW(gemm_tn),
    ROW(sum_rows),
    ROW(embed_forward),
    ROW(embed_backward),
    ROW(layernorm_forward),
    ROW(layernorm_backward),
    ROW(rmsnorm_forward),
    ROW(rmsnorm_backward),
    ROW(gelu_forward),
    ROW(gelu_backward),
    ROW(swiglu_forward),
    ROW(swiglu_backward),
    ROW(rotary),
    ROW(softmax_block),
    ROW(scale_rows),
    ROW(softmax_block_backward),
    ROW(dot_rows),
    ROW(softmax_rows),
    ROW(softmax_rows_backward),
    ROW(entmax15_rows),
    ROW(entmax15_rows_backward),
    ROW(window_scores),
    ROW(window_scores_backward),
    ROW(window_mix),
    ROW(window_mix_backward),
    ROW(cross_entropy),
    ROW(sum_tree),
    ROW(sum_squares),
    ROW(adamw),
    ROW(scale),
    ROW(add),
};
