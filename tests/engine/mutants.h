/* mutants.h: deliberately wrong kernels, each the naive one with one term dropped or one
 * sign turned. One row each: the kernel, what is wrong with it, the operation in cases.h
 * that must notice, and whether finite differences must notice too (they cannot where
 * forward and backward agree on the wrong thing, or where there is no backward).
 * mutants_def.h holds the functions, in float and in double. */
#ifndef TESTS_ENGINE_MUTANTS_H
#define TESTS_ENGINE_MUTANTS_H

#include "engine/helper.h"

#define MUTANTS(X)                                                                                 \
    X(pack, last_column_is_zero, "gemm", 0)                                                        \
    X(gemm, without_last_term, "gemm", 1)                                                          \
    X(gemm, without_bias, "gemm", 1)                                                               \
    X(gemm, without_add, "gemm", 1)                                                                \
    X(gemm_tn, without_last_term, "gemm_tn", 1)                                                    \
    X(gemm_tn, without_add, "gemm_tn", 1)                                                          \
    X(half_pack, without_rounding, "half_gemm", 0)                                                 \
    X(half_gemm, without_rounding, "half_gemm", 0)                                                 \
    X(half_gemm, without_last_term, "half_gemm", 0)                                                \
    X(half_gemm_tn, without_rounding, "half_gemm_tn", 0)                                           \
    X(sum_rows, without_last_row, "sum_rows", 1)                                                   \
    X(embed_forward, neighbour, "embed", 1)                                                        \
    X(embed_backward, overwrites, "embed", 1)                                                      \
    X(layernorm_forward, without_eps, "layernorm", 0)                                              \
    X(layernorm_backward, without_mean, "layernorm", 1)                                            \
    X(layernorm_backward, wrong_sign, "layernorm", 1)                                              \
    X(rmsnorm_forward, without_eps, "rmsnorm", 0)                                                  \
    X(rmsnorm_backward, without_rstd, "rmsnorm", 1)                                                \
    X(gelu_forward, other_form, "gelu", 1)                                                         \
    X(gelu_backward, wrong_sign, "gelu", 1)                                                        \
    X(swiglu_forward, without_sigmoid, "swiglu", 1)                                                \
    X(swiglu_backward, without_slope, "swiglu", 1)                                                 \
    X(rotary, wrong_sign, "rotary", 0)                                                             \
    X(rotary, one_sign, "rotary", 1)                                                               \
    X(rotary, halves_one, "rotary", 1)                                                             \
    X(softmax_block, without_alpha, "softmax_block", 1)                                            \
    X(softmax_block, sees_all, "softmax_block", 1)                                                 \
    X(scale_rows, without_last, "dot_rows", 1)                                                     \
    X(softmax_block_backward, without_delta, "softmax_block", 1)                                   \
    X(dot_rows, without_last_term, "dot_rows", 1)                                                  \
    X(softmax_columns, without_last_key, "softmax_columns", 1)                                     \
    X(softmax_columns_backward, without_dot, "softmax_columns", 1)                                 \
    X(entmax15_rows, another_power, "entmax15_rows", 1)                                            \
    X(entmax15_rows_backward, divides_by_n, "entmax15_rows", 1)                                    \
    X(window_scores, without_rotation, "window", 1)                                                \
    X(window_scores, sees_one_more, "window", 0)                                                   \
    X(window_scores, without_scale, "window", 1)                                                   \
    X(window_scores_backward, without_rotation, "window", 1)                                       \
    X(window_mix, without_last_key, "window", 1)                                                   \
    X(window_mix_backward, overwrites, "window", 1)                                                \
    X(cross_entropy, without_onehot, "cross_entropy", 1)                                           \
    X(cross_entropy, without_mask, "cross_entropy", 0)                                             \
    X(sum_tree, without_last_block, "sum_tree", 0)                                                 \
    X(sum_squares, without_last, "flat", 0)                                                        \
    X(adamw, without_decay, "adamw", 0)                                                            \
    X(adamw, without_correction, "adamw", 0)                                                       \
    X(adamw, decay_wrong_sign, "adamw", 0)                                                         \
    X(scale, without_last, "flat", 0)                                                              \
    X(add, wrong_sign, "flat", 0)

#define real float
#define LG__TABLE lg__kernels
#define NAIVE (&lg__naive32)
#define MUTANT(kernel, fault) kernel##_##fault##_32
#define MUTATE mutate32
#include "engine/mutants_def.h"
#undef real
#undef LG__TABLE
#undef NAIVE
#undef MUTANT
#undef MUTATE

#define real double
#define LG__TABLE lg__kernels64
#define NAIVE (&lg__naive64)
#define MUTANT(kernel, fault) kernel##_##fault##_64
#define MUTATE mutate64
#include "engine/mutants_def.h"
#undef real
#undef LG__TABLE
#undef NAIVE
#undef MUTANT
#undef MUTATE

static const struct mutant {
    const char *kernel, *fault, *op;
    int in_gradient;
} mutants[] = {
#define X(kernel, fault, op, in_gradient) {#kernel, #fault, op, in_gradient},
    MUTANTS(X)
#undef X
};

enum { MUTANT_COUNT = (int)(sizeof mutants / sizeof mutants[0]) };

#endif
