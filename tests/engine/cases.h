/* cases.h: the case table of the kernels: one row is an operation and a shape, and serves
 * the comparison with the double twin (test_kernels.c), the finite differences
 * (test_gradients.c, rows of up to GRADIENT_WORK) and the wrong kernels (test_mutants.c).
 * Sizes: 1, odd ones, one below, at and above a vector or a tile, and lengths over a block. */
#ifndef TESTS_ENGINE_CASES_H
#define TESTS_ENGINE_CASES_H

struct kernel_case {
    const char *op;
    int size[5]; /* in the order that the comment of the operation's first row gives */
};

static const struct kernel_case kernel_cases[] = {
    {"gemm", {1, 1, 1}}, /* M N K */
    {"gemm", {1, 2, 3}},
    {"gemm", {2, 1, 5}},
    {"gemm", {3, 5, 7}},
    {"gemm", {5, 3, 2}},
    {"gemm", {7, 15, 16}},
    {"gemm", {15, 16, 17}},
    {"gemm", {16, 17, 31}},
    {"gemm", {17, 31, 33}},
    {"gemm", {31, 33, 64}},
    {"gemm", {33, 64, 15}},
    {"gemm", {64, 64, 64}},
    {"gemm", {1, 100, 129}},
    {"gemm", {1, 257, 300}},
    {"gemm", {2, 129, 257}},
    {"gemm", {100, 1, 33}},
    {"gemm", {129, 7, 100}},
    {"gemm", {14, 32, 1}},
    {"gemm", {6, 16, 520}},
    {"gemm", {13, 47, 1025}},
    {"gemm", {130, 49, 65}},
    {"gemm", {129, 257, 100}},

    {"gemm_tn", {1, 1, 1}}, /* M N R */
    {"gemm_tn", {1, 2, 3}},
    {"gemm_tn", {2, 1, 5}},
    {"gemm_tn", {3, 5, 7}},
    {"gemm_tn", {5, 3, 2}},
    {"gemm_tn", {7, 15, 16}},
    {"gemm_tn", {15, 16, 17}},
    {"gemm_tn", {16, 17, 31}},
    {"gemm_tn", {17, 31, 33}},
    {"gemm_tn", {31, 33, 64}},
    {"gemm_tn", {33, 64, 15}},
    {"gemm_tn", {64, 64, 64}},
    {"gemm_tn", {1, 100, 129}},
    {"gemm_tn", {100, 1, 257}},
    {"gemm_tn", {129, 7, 100}},
    {"gemm_tn", {14, 32, 1}},
    {"gemm_tn", {6, 16, 520}},
    {"gemm_tn", {13, 47, 1025}},
    {"gemm_tn", {129, 257, 100}},

    {"half_gemm", {1, 1, 1}}, /* M N K */
    {"half_gemm", {1, 2, 3}},
    {"half_gemm", {3, 5, 7}},
    {"half_gemm", {7, 15, 16}},
    {"half_gemm", {12, 32, 32}},
    {"half_gemm", {15, 16, 17}},
    {"half_gemm", {17, 31, 33}},
    {"half_gemm", {24, 50, 32}},
    {"half_gemm", {13, 47, 1025}},
    {"half_gemm", {129, 257, 100}},
    {"half_gemm", {250, 33, 65}},
    {"half_gemm", {241, 31, 513}},

    {"half_gemm_tn", {1, 1, 1}}, /* M N R */
    {"half_gemm_tn", {1, 2, 3}},
    {"half_gemm_tn", {5, 3, 2}},
    {"half_gemm_tn", {12, 32, 24}},
    {"half_gemm_tn", {15, 16, 17}},
    {"half_gemm_tn", {31, 33, 64}},
    {"half_gemm_tn", {100, 1, 257}},
    {"half_gemm_tn", {13, 47, 1025}},
    {"half_gemm_tn", {129, 257, 100}},
    {"half_gemm_tn", {250, 33, 65}},

    {"sum_rows", {1, 1}}, /* T C */
    {"sum_rows", {3, 7}},
    {"sum_rows", {17, 16}},
    {"sum_rows", {100, 33}},
    {"sum_rows", {257, 129}},
    {"sum_rows", {1000, 15}},

    {"embed", {1, 1, 1}}, /* T C V */
    {"embed", {2, 3, 5}},
    {"embed", {17, 15, 7}},
    {"embed", {31, 16, 3}},
    {"embed", {100, 33, 64}},
    {"embed", {257, 129, 17}},

    {"layernorm", {1, 1, 1}}, /* T C weights */
    {"layernorm", {1, 2, 0}},
    {"layernorm", {2, 3, 1}},
    {"layernorm", {3, 5, 0}},
    {"layernorm", {5, 7, 1}},
    {"layernorm", {7, 15, 0}},
    {"layernorm", {15, 16, 1}},
    {"layernorm", {16, 17, 0}},
    {"layernorm", {17, 31, 1}},
    {"layernorm", {31, 33, 0}},
    {"layernorm", {33, 64, 1}},
    {"layernorm", {64, 100, 1}},
    {"layernorm", {9, 129, 0}},
    {"layernorm", {10, 257, 1}},
    {"layernorm", {3, 1000, 1}},

    {"rmsnorm", {1, 1, 1}}, /* T C weight */
    {"rmsnorm", {1, 2, 0}},
    {"rmsnorm", {2, 3, 1}},
    {"rmsnorm", {3, 5, 0}},
    {"rmsnorm", {5, 7, 1}},
    {"rmsnorm", {7, 15, 0}},
    {"rmsnorm", {15, 16, 1}},
    {"rmsnorm", {16, 17, 0}},
    {"rmsnorm", {17, 31, 1}},
    {"rmsnorm", {31, 33, 0}},
    {"rmsnorm", {33, 64, 1}},
    {"rmsnorm", {64, 100, 1}},
    {"rmsnorm", {9, 129, 0}},
    {"rmsnorm", {10, 257, 1}},
    {"rmsnorm", {3, 1000, 1}},

    {"gelu", {1, 0}}, /* n tanh_form */
    {"gelu", {7, 1}},
    {"gelu", {16, 0}},
    {"gelu", {33, 1}},
    {"gelu", {257, 0}},
    {"gelu", {257, 1}},
    {"gelu", {4099, 0}},
    {"gelu", {4099, 1}},

    {"swiglu", {1, 1}}, /* T F */
    {"swiglu", {2, 3}},
    {"swiglu", {5, 7}},
    {"swiglu", {3, 16}},
    {"swiglu", {7, 17}},
    {"swiglu", {17, 33}},
    {"swiglu", {16, 100}},
    {"swiglu", {31, 129}},

    {"rotary", {1, 1, 2, 2}}, /* T H D R */
    {"rotary", {2, 1, 3, 2}},
    {"rotary", {3, 2, 7, 4}},
    {"rotary", {5, 3, 16, 16}},
    {"rotary", {7, 2, 16, 4}},
    {"rotary", {15, 4, 32, 32}},
    {"rotary", {16, 1, 33, 32}},
    {"rotary", {17, 5, 64, 16}},
    {"rotary", {33, 2, 100, 50}},
    {"rotary", {3, 2, 8, 0}},

    {"softmax_block", {1, 1}}, /* nq nk */
    {"softmax_block", {1, 7}},
    {"softmax_block", {2, 3}},
    {"softmax_block", {3, 16}},
    {"softmax_block", {7, 17}},
    {"softmax_block", {16, 15}},
    {"softmax_block", {17, 33}},
    {"softmax_block", {64, 64}},
    {"softmax_block", {33, 129}},
    {"softmax_block", {100, 257}},

    {"attention", {1, 1, 1}}, /* T D block: causal attention made of the kernels */
    {"attention", {5, 3, 2}},
    {"attention", {17, 8, 4}},
    {"attention", {33, 16, 16}},
    {"attention", {65, 7, 32}},

    {"dot_rows", {1, 1}}, /* T C; also scale_rows */
    {"dot_rows", {2, 3}},
    {"dot_rows", {5, 7}},
    {"dot_rows", {7, 16}},
    {"dot_rows", {16, 17}},
    {"dot_rows", {33, 31}},
    {"dot_rows", {3, 100}},
    {"dot_rows", {17, 257}},

    {"softmax_columns", {1, 1}}, /* T n */
    {"softmax_columns", {1, 2}},
    {"softmax_columns", {3, 5}},
    {"softmax_columns", {5, 7}},
    {"softmax_columns", {7, 15}},
    {"softmax_columns", {8, 16}},
    {"softmax_columns", {17, 17}},
    {"softmax_columns", {33, 100}},
    {"softmax_columns", {5, 257}},
    {"softmax_columns", {2, 3000}},

    {"entmax15_rows", {1, 1}}, /* T n */
    {"entmax15_rows", {1, 2}},
    {"entmax15_rows", {3, 5}},
    {"entmax15_rows", {5, 7}},
    {"entmax15_rows", {7, 15}},
    {"entmax15_rows", {8, 16}},
    {"entmax15_rows", {17, 17}},
    {"entmax15_rows", {33, 100}},
    {"entmax15_rows", {5, 257}},
    {"entmax15_rows", {2, 3000}},

    {"window", {1, 1, 1, 0, 1}}, /* n H D R T */
    {"window", {1, 1, 2, 2, 1}},
    {"window", {2, 2, 3, 2, 3}},
    {"window", {3, 1, 7, 0, 17}},
    {"window", {5, 3, 16, 16, 1}},
    {"window", {5, 4, 16, 0, 41}},
    {"window", {7, 2, 16, 4, 8}},
    {"window", {15, 4, 32, 32, 5}},
    {"window", {16, 1, 33, 16, 2}},
    {"window", {33, 2, 64, 64, 4}},
    {"window", {65, 3, 20, 6, 3}},
    {"window", {129, 2, 17, 10, 2}},

    {"cross_entropy", {1, 1}}, /* T V */
    {"cross_entropy", {2, 2}},
    {"cross_entropy", {3, 5}},
    {"cross_entropy", {5, 8}},
    {"cross_entropy", {7, 15}},
    {"cross_entropy", {16, 16}},
    {"cross_entropy", {33, 17}},
    {"cross_entropy", {17, 100}},
    {"cross_entropy", {5, 1000}},

    {"sum_tree", {1, 1}}, /* blocks n */
    {"sum_tree", {2, 7}},
    {"sum_tree", {4, 33}},
    {"sum_tree", {8, 257}},
    {"sum_tree", {8, 4099}},
    {"sum_tree", {16, 64}},

    {"flat", {1}}, /* n: scale, add, sum_squares */
    {"flat", {7}},
    {"flat", {16}},
    {"flat", {33}},
    {"flat", {257}},
    {"flat", {10007}},

    {"adamw", {1}}, /* n */
    {"adamw", {7}},
    {"adamw", {16}},
    {"adamw", {33}},
    {"adamw", {257}},
    {"adamw", {4099}},
};

enum {
    KERNEL_CASES = (int)(sizeof kernel_cases / sizeof kernel_cases[0]),
    /* Finite differences run a forward pass twice for each number looked at: only rows
     * where the product of the sizes is at most this. */
    GRADIENT_WORK = 70000
};

#endif
