/* k_table.h: what every kernel file includes: the vector words, and the kernels of this
 * instruction set under their own names, so that one may use another. */
#ifndef LG_ENGINE_K_TABLE_H
#define LG_ENGINE_K_TABLE_H

#include "vec.h"

/* k_gemm.c */
size_t LG_K(pack_size)(int K, int N);
void LG_K(pack)(float *P, const float *b, size_t rs, size_t cs, int K, int N);
void LG_K(gemm)(float *c, size_t ldc, const float *a, size_t lda, const float *P, const float *bias,
                int M, int N, int K, int add);
size_t LG_K(gemm_tn_scratch)(int M, int N, int R);
void LG_K(gemm_tn)(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb,
                   int M, int N, int R, int add, float *scratch);
void LG_K(sum_rows)(float *out, const float *x, int T, int C);

/* k_layer.c */
void LG_K(embed_forward)(float *out, const float *table, const int32_t *tokens, int T, int C);
void LG_K(embed_backward)(float *dtable, const float *dout, const int32_t *tokens, int T, int C);
void LG_K(layernorm_forward)(float *out, float *mean, float *rstd, const float *x, const float *w,
                             const float *b, int T, int C, float eps);
void LG_K(layernorm_backward)(float *dx, float *dw, float *db, const float *dout, const float *x,
                              const float *mean, const float *rstd, const float *w, int T, int C);
void LG_K(rmsnorm_forward)(float *out, float *rstd, const float *x, const float *w, int T, int C,
                           float eps);
void LG_K(rmsnorm_backward)(float *dx, float *dw, const float *dout, const float *x,
                            const float *rstd, const float *w, int T, int C);
void LG_K(gelu_forward)(float *out, const float *x, size_t n, int tanh_form);
void LG_K(gelu_backward)(float *dx, const float *dout, const float *x, size_t n, int tanh_form);
void LG_K(swiglu_forward)(float *out, const float *gu, int T, int F);
void LG_K(swiglu_backward)(float *dgu, const float *dout, const float *gu, int T, int F);
void LG_K(rotary)(float *x, size_t ld, const float *cos, const float *sin, int T, int H, int D,
                  int R, int sign);

/* k_attention.c */
void LG_K(softmax_block)(float *s, size_t lds, float *m, float *l, float *alpha, const int *seen,
                         int nq, int nk);
void LG_K(scale_rows)(float *x, size_t ld, const float *a, int T, int C);
void LG_K(softmax_block_backward)(float *ds, float *s, size_t lds, const float *lse,
                                  const float *delta, const int *seen, int nq, int nk);
void LG_K(dot_rows)(float *out, const float *a, size_t lda, const float *b, size_t ldb, int T,
                    int C);
void LG_K(softmax_rows)(float *s, int T, int n);
void LG_K(softmax_rows_backward)(float *ds, const float *p, int T, int n);
void LG_K(entmax15_rows)(float *s, int T, int n);
void LG_K(entmax15_rows_backward)(float *ds, const float *p, int T, int n);
void LG_K(window_scores)(float *s, const float *q, const float *k, size_t ld, const int *key,
                         const int *turn, const float *cos, const float *sin, int n, int H, int D,
                         int R, float scale, float *scratch);
void LG_K(window_scores_backward)(float *dq, float *dk, const float *ds, const float *q,
                                  const float *k, size_t ld, const int *key, const int *turn,
                                  const float *cos, const float *sin, int n, int H, int D, int R,
                                  float scale, float *scratch);
void LG_K(window_mix)(float *out, const float *p, const float *v, size_t ld, const int *key, int n,
                      int H, int D);
void LG_K(window_mix_backward)(float *dp, float *dv, const float *dout, const float *p,
                               const float *v, size_t ld, const int *key, int n, int H, int D);

/* k_train.c */
void LG_K(cross_entropy)(float *loss, float *dlogits, const float *logits, const int32_t *target,
                         float scale, int T, int V);
void LG_K(sum_tree)(float *out, const float *const *block, int blocks, size_t n);
double LG_K(sum_squares)(const float *x, size_t n);
void LG_K(adamw)(float *p, float *m, float *v, const float *g, size_t n, float lr, float decay,
                 float beta1, float beta2, float eps, float bias_correction1,
                 float bias_correction2);
void LG_K(scale)(float *x, float a, size_t n);
void LG_K(add)(float *out, const float *x, size_t n);

#endif
