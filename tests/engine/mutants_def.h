/* mutants_def.h: the wrong kernels of mutants.h, written once for float and double. Include
 * it with real, LG__TABLE, NAIVE, MUTANT and MUTATE defined. Each calls or follows the naive
 * kernel; the comment says what is wrong where the name does not. */

static inline void MUTANT(pack, last_column_is_zero)(real *P, const real *b, size_t rs, size_t cs,
                                                     int K, int N)
{
    NAIVE->pack(P, b, rs, cs, K, N);
    for (int k = 0; k < K; k++) P[k * N + N - 1] = 0;
}

static inline void MUTANT(gemm, without_last_term)(real *c, size_t ldc, const real *a, size_t lda,
                                                   const real *P, const real *bias, int M, int N,
                                                   int K, int add)
{
    NAIVE->gemm(c, ldc, a, lda, P, bias, M, N, K - 1, add);
}

static inline void MUTANT(gemm, without_bias)(real *c, size_t ldc, const real *a, size_t lda,
                                              const real *P, const real *bias, int M, int N, int K,
                                              int add)
{
    (void)bias;
    NAIVE->gemm(c, ldc, a, lda, P, NULL, M, N, K, add);
}

static inline void MUTANT(gemm, without_add)(real *c, size_t ldc, const real *a, size_t lda,
                                             const real *P, const real *bias, int M, int N, int K,
                                             int add)
{
    (void)add;
    NAIVE->gemm(c, ldc, a, lda, P, bias, M, N, K, 0);
}

static inline void MUTANT(gemm_tn, without_last_term)(real *c, size_t ldc, const real *a,
                                                      size_t lda, const real *b, size_t ldb, int M,
                                                      int N, int R, int add, real *scratch)
{
    NAIVE->gemm_tn(c, ldc, a, lda, b, ldb, M, N, R - 1, add, scratch);
}

static inline void MUTANT(gemm_tn, without_add)(real *c, size_t ldc, const real *a, size_t lda,
                                                const real *b, size_t ldb, int M, int N, int R,
                                                int add, real *scratch)
{
    (void)add;
    NAIVE->gemm_tn(c, ldc, a, lda, b, ldb, M, N, R, 0, scratch);
}

static inline void MUTANT(half_pack, without_rounding)(real *P, const real *b, size_t rs, size_t cs,
                                                       int K, int N)
{
    NAIVE->pack(P, b, rs, cs, K, N);
}

static inline void MUTANT(half_gemm, without_rounding)(real *c, size_t ldc, const real *a,
                                                       size_t lda, const real *P, const real *bias,
                                                       int M, int N, int K, int add)
{
    NAIVE->gemm(c, ldc, a, lda, P, bias, M, N, K, add);
}

static inline void MUTANT(half_gemm, without_last_term)(real *c, size_t ldc, const real *a,
                                                        size_t lda, const real *P, const real *bias,
                                                        int M, int N, int K, int add)
{
    NAIVE->half_gemm(c, ldc, a, lda, P, bias, M, N, K - 1, add);
}

static inline void MUTANT(half_gemm_tn, without_rounding)(real *c, size_t ldc, const real *a,
                                                          size_t lda, const real *b, size_t ldb,
                                                          int M, int N, int R, int add,
                                                          real *scratch)
{
    NAIVE->gemm_tn(c, ldc, a, lda, b, ldb, M, N, R, add, scratch);
}

static inline void MUTANT(sum_rows, without_last_row)(real *out, const real *x, int T, int C)
{
    NAIVE->sum_rows(out, x, T - 1, C);
}

/* The last row is that of the token before. */
static inline void MUTANT(embed_forward, neighbour)(real *out, const real *table,
                                                    const int32_t *tokens, int T, int C)
{
    NAIVE->embed_forward(out, table, tokens, T, C);
    if (T > 1) NAIVE->embed_forward(out + (T - 1) * C, table, tokens + T - 2, 1, C);
}

static inline void MUTANT(embed_backward, overwrites)(real *dtable, const real *dout,
                                                      const int32_t *tokens, int T, int C)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c++) dtable[tokens[t] * C + c] = dout[t * C + c];
}

static inline void MUTANT(layernorm_forward, without_eps)(real *out, real *mean, real *rstd,
                                                          const real *x, const real *w,
                                                          const real *b, int T, int C, real eps)
{
    (void)eps;
    NAIVE->layernorm_forward(out, mean, rstd, x, w, b, T, C, 0);
}

/* dx += rstd (dnorm - norm mean(dnorm norm)), the middle term gone. */
static inline void MUTANT(layernorm_backward, without_mean)(real *dx, real *dw, real *db,
                                                            const real *dout, const real *x,
                                                            const real *mean, const real *rstd,
                                                            const real *w, int T, int C)
{
    NAIVE->layernorm_backward(dx, dw, db, dout, x, mean, rstd, w, T, C);
    for (int t = 0; t < T; t++) {
        real sum = 0;
        for (int c = 0; c < C; c++) sum += dout[t * C + c] * (w ? w[c] : 1);
        for (int c = 0; c < C; c++) dx[t * C + c] += rstd[t] * sum / (real)C;
    }
}

/* dx -= .. */
static inline void MUTANT(layernorm_backward, wrong_sign)(real *dx, real *dw, real *db,
                                                          const real *dout, const real *x,
                                                          const real *mean, const real *rstd,
                                                          const real *w, int T, int C)
{
    NAIVE->scale(dx, -1, (size_t)T * (size_t)C);
    NAIVE->layernorm_backward(dx, dw, db, dout, x, mean, rstd, w, T, C);
    NAIVE->scale(dx, -1, (size_t)T * (size_t)C);
}

static inline void MUTANT(rmsnorm_forward, without_eps)(real *out, real *rstd, const real *x,
                                                        const real *w, int T, int C, real eps)
{
    (void)eps;
    NAIVE->rmsnorm_forward(out, rstd, x, w, T, C, 0);
}

/* dx += rstd dnorm, as if rstd did not depend on x. */
static inline void MUTANT(rmsnorm_backward, without_rstd)(real *dx, real *dw, const real *dout,
                                                          const real *x, const real *rstd,
                                                          const real *w, int T, int C)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c++) {
            dx[t * C + c] += rstd[t] * dout[t * C + c] * (w ? w[c] : 1);
            if (w) dw[c] += dout[t * C + c] * x[t * C + c] * rstd[t];
        }
}

static inline void MUTANT(gelu_forward, other_form)(real *out, const real *x, size_t n,
                                                    int tanh_form)
{
    NAIVE->gelu_forward(out, x, n, !tanh_form);
}

/* Phi - x Phi' instead of Phi + x Phi', which is 2 Phi - slope; Phi = gelu(x) / x. */
static inline void MUTANT(gelu_backward, wrong_sign)(real *dx, const real *dout, const real *x,
                                                     size_t n, int tanh_form)
{
    for (size_t i = 0; i < n; i++) {
        real one = 1, d = dout[i], slope, value;
        NAIVE->gelu_forward(&value, x + i, 1, tanh_form);
        NAIVE->gelu_backward(&slope, &one, x + i, 1, tanh_form);
        dx[i] = x[i] != 0 ? d * (2 * value / x[i] - slope) : d * slope;
    }
}

static inline void MUTANT(swiglu_forward, without_sigmoid)(real *out, const real *gu, int T, int F)
{
    for (int t = 0; t < T; t++)
        for (int f = 0; f < F; f++) out[t * F + f] = gu[2 * t * F + f] * gu[2 * t * F + F + f];
}

/* dg = d u sigma: the term of sigma' is gone; sigma = silu(g) / g. */
static inline void MUTANT(swiglu_backward, without_slope)(real *dgu, const real *dout,
                                                          const real *gu, int T, int F)
{
    NAIVE->swiglu_backward(dgu, dout, gu, T, F);
    for (int t = 0; t < T; t++)
        for (int f = 0; f < F; f++) {
            const real *g = gu + 2 * t * F + f;
            if (g[0] != 0) dgu[2 * t * F + f] = dgu[2 * t * F + F + f] / g[0] * g[F];
        }
}

static inline void MUTANT(rotary, wrong_sign)(real *x, size_t ld, const real *cosine,
                                              const real *sine, int T, int H, int D, int R,
                                              int sign)
{
    NAIVE->rotary(x, ld, cosine, sine, T, H, D, R, -sign);
}

/* sign is not looked at. */
static inline void MUTANT(rotary, one_sign)(real *x, size_t ld, const real *cosine,
                                            const real *sine, int T, int H, int D, int R, int sign)
{
    (void)sign;
    NAIVE->rotary(x, ld, cosine, sine, T, H, D, R, 1);
}

/* Forward, the last number of the first head is halved. */
static inline void MUTANT(rotary, halves_one)(real *x, size_t ld, const real *cosine,
                                              const real *sine, int T, int H, int D, int R,
                                              int sign)
{
    NAIVE->rotary(x, ld, cosine, sine, T, H, D, R, sign);
    for (int t = 0; t < T && sign > 0; t++) x[(size_t)t * ld + (size_t)D - 1] /= 2;
}

/* l <- l + sum of s. */
static inline void MUTANT(softmax_block, without_alpha)(real *s, size_t lds, real *m, real *l,
                                                        real *alpha, const int *seen, int nq,
                                                        int nk)
{
    for (int i = 0; i < nq; i++) {
        real sum = 0;
        NAIVE->softmax_block(s + (size_t)i * lds, lds, m + i, &sum, alpha + i, seen + i, 1, nk);
        l[i] += sum;
    }
}

static inline void MUTANT(softmax_block, sees_all)(real *s, size_t lds, real *m, real *l,
                                                   real *alpha, const int *seen, int nq, int nk)
{
    for (int i = 0; i < nq; i++) {
        int all = seen[i] ? nk : 0;
        NAIVE->softmax_block(s + (size_t)i * lds, lds, m + i, l + i, alpha + i, &all, 1, nk);
    }
}

static inline void MUTANT(scale_rows, without_last)(real *x, size_t ld, const real *a, int T, int C)
{
    NAIVE->scale_rows(x, ld, a, T, C - 1);
}

static inline void MUTANT(softmax_block_backward, without_delta)(real *ds, real *s, size_t lds,
                                                                 const real *lse, const real *delta,
                                                                 const int *seen, int nq, int nk)
{
    const real none = 0;
    (void)delta;
    for (int i = 0; i < nq; i++)
        NAIVE->softmax_block_backward(ds + (size_t)i * lds, s + (size_t)i * lds, lds, lse + i,
                                      &none, seen + i, 1, nk);
}

static inline void MUTANT(dot_rows, without_last_term)(real *out, const real *a, size_t lda,
                                                       const real *b, size_t ldb, int T, int C)
{
    NAIVE->dot_rows(out, a, lda, b, ldb, T, C - 1);
}

/* The sum stops before the last key. */
static inline void MUTANT(softmax_columns, without_last_key)(real *s, int n, int L)
{
    NAIVE->softmax_columns(s, n, L);
    for (int c = 0; c < L; c++) {
        real rest = 1 - s[(n - 1) * L + c];
        for (int j = 0; j < n && n > 1; j++) s[j * L + c] /= rest;
    }
}

static inline void MUTANT(softmax_columns_backward, without_dot)(real *ds, const real *p, int n,
                                                                 int L)
{
    for (int i = 0; i < n * L; i++) ds[i] *= p[i];
}

/* (p^2 + p) / 2: right where p is 0 or 1 alone. */
static inline void MUTANT(entmax15_rows, another_power)(real *s, int T, int n)
{
    NAIVE->entmax15_rows(s, T, n);
    for (int i = 0; i < T * n; i++) s[i] = (s[i] * s[i] + s[i]) / 2;
}

/* The mean of dp over all keys instead of the mean weighted by g. */
static inline void MUTANT(entmax15_rows_backward, divides_by_n)(real *ds, const real *p, int T,
                                                                int n)
{
    for (int t = 0; t < T; t++) {
        real mean = 0;
        for (int j = 0; j < n; j++) mean += ds[t * n + j] / (real)n;
        for (int j = 0; j < n; j++) ds[t * n + j] -= mean;
        for (int j = 0; j < n; j++) ds[t * n + j] *= p[t * n + j] > 0 ? 1 : 0;
    }
}

static inline void MUTANT(window_scores, without_rotation)(real *s, const real *q, const real *k,
                                                           size_t ld, const int *first,
                                                           const int *n, const int *key,
                                                           const int *turn, const real *cosine,
                                                           const real *sine, int T, int most, int H,
                                                           int D, int R, real scale, real *scratch)
{
    (void)R;
    NAIVE->window_scores(s, q, k, ld, first, n, key, turn, cosine, sine, T, most, H, D, 0, scale,
                         scratch);
}

static inline void MUTANT(window_scores, without_scale)(real *s, const real *q, const real *k,
                                                        size_t ld, const int *first, const int *n,
                                                        const int *key, const int *turn,
                                                        const real *cosine, const real *sine, int T,
                                                        int most, int H, int D, int R, real scale,
                                                        real *scratch)
{
    (void)scale;
    NAIVE->window_scores(s, q, k, ld, first, n, key, turn, cosine, sine, T, most, H, D, R, 1,
                         scratch);
}

/* A query with fewer keys than others sees one of its neighbour's. */
static inline void MUTANT(window_scores, sees_one_more)(real *s, const real *q, const real *k,
                                                        size_t ld, const int *first, const int *n,
                                                        const int *key, const int *turn,
                                                        const real *cosine, const real *sine, int T,
                                                        int most, int H, int D, int R, real scale,
                                                        real *scratch)
{
    NAIVE->window_scores(s, q, k, ld, first, n, key, turn, cosine, sine, T, most, H, D, R, scale,
                         scratch);
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H && n[t] < most; h++) s[(n[t] * T + t) * H + h] = 0;
}

static inline void MUTANT(window_scores_backward,
                          without_rotation)(real *dq, real *dk, const real *ds, const real *q,
                                            const real *k, size_t ld, const int *first,
                                            const int *n, const int *key, const int *turn,
                                            const real *cosine, const real *sine, int T, int H,
                                            int D, int R, real scale, real *scratch)
{
    (void)R;
    NAIVE->window_scores_backward(dq, dk, ds, q, k, ld, first, n, key, turn, cosine, sine, T, H, D,
                                  0, scale, scratch);
}

static inline void MUTANT(window_mix, without_last_key)(real *out, const real *p, const real *v,
                                                        size_t ld, const int *first, const int *n,
                                                        const int *key, int T, int H, int D)
{
    NAIVE->window_mix(out, p, v, ld, first, n, key, T, H, D);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < H * D; i++) {
            int last = n[t] - 1;
            out[t * H * D + i] -=
                p[(last * T + t) * H + i / D] * v[(size_t)key[first[t] + last] * ld + (size_t)i];
        }
}

static inline void MUTANT(window_mix_backward,
                          overwrites)(real *dp, real *dv, const real *dout, const real *p,
                                      const real *v, size_t ld, const int *first, const int *n,
                                      const int *key, int T, int most, int H, int D)
{
    NAIVE->window_mix_backward(dp, dv, dout, p, v, ld, first, n, key, T, most, H, D);
    for (int t = 0; t < T; t++)
        for (int j = 0; j < n[t]; j++)
            for (int i = 0; i < H * D; i++)
                dv[(size_t)key[first[t] + j] * ld + (size_t)i] =
                    p[(j * T + t) * H + i / D] * dout[t * H * D + i];
}

static inline void MUTANT(cross_entropy, without_onehot)(real *loss, real *dlogits,
                                                         const real *logits, const int32_t *target,
                                                         real scale, int T, int V)
{
    NAIVE->cross_entropy(loss, dlogits, logits, target, scale, T, V);
    for (int t = 0; t < T && dlogits; t++)
        if (target[t] >= 0) dlogits[t * V + target[t]] += scale;
}

/* A row without a target is taken for one with target 0. */
static inline void MUTANT(cross_entropy, without_mask)(real *loss, real *dlogits,
                                                       const real *logits, const int32_t *target,
                                                       real scale, int T, int V)
{
    for (int t = 0; t < T; t++) {
        int32_t some = target[t] < 0 ? 0 : target[t];
        NAIVE->cross_entropy(loss + t, dlogits ? dlogits + t * V : NULL, logits + t * V, &some,
                             scale, 1, V);
    }
}

static inline void MUTANT(sum_tree, without_last_block)(real *out, const real *const *block,
                                                        int blocks, size_t n)
{
    NAIVE->sum_tree(out, block, blocks, n);
    for (size_t i = 0; i < n && block[blocks - 1]; i++) out[i] -= block[blocks - 1][i];
}

static inline double MUTANT(sum_squares, without_last)(const real *x, size_t n)
{
    return NAIVE->sum_squares(x, n - 1);
}

static inline void MUTANT(adamw, without_decay)(real *p, real *m, real *v, const real *g, size_t n,
                                                real lr, real decay, real beta1, real beta2,
                                                real eps, real bias_correction1,
                                                real bias_correction2)
{
    (void)decay;
    NAIVE->adamw(p, m, v, g, n, lr, 0, beta1, beta2, eps, bias_correction1, bias_correction2);
}

static inline void MUTANT(adamw, without_correction)(real *p, real *m, real *v, const real *g,
                                                     size_t n, real lr, real decay, real beta1,
                                                     real beta2, real eps, real bias_correction1,
                                                     real bias_correction2)
{
    (void)bias_correction2;
    NAIVE->adamw(p, m, v, g, n, lr, decay, beta1, beta2, eps, bias_correction1, 1);
}

static inline void MUTANT(adamw, decay_wrong_sign)(real *p, real *m, real *v, const real *g,
                                                   size_t n, real lr, real decay, real beta1,
                                                   real beta2, real eps, real bias_correction1,
                                                   real bias_correction2)
{
    NAIVE->adamw(p, m, v, g, n, lr, -decay, beta1, beta2, eps, bias_correction1, bias_correction2);
}

static inline void MUTANT(scale, without_last)(real *x, real a, size_t n)
{
    NAIVE->scale(x, a, n - 1);
}

static inline void MUTANT(add, wrong_sign)(real *out, const real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] -= x[i];
}

/* The naive table with the wrong kernel number i in it. */
static inline void MUTATE(struct LG__TABLE *table, int i)
{
    int row = 0;
#define X(kernel, fault, op, in_gradient)                                                          \
    if (row++ == i) table->kernel = MUTANT(kernel, fault);
    MUTANTS(X)
#undef X
}
