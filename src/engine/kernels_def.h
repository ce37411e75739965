/* kernels_def.h: the kernels, one row each, written once for every number type and every list:
 * kernels.h and naive.h make the tables' types of it, k_table.h the declarations, k_table.c and
 * naive.c the tables. Include it with `real` and KERNEL(returns, name, arguments) defined.
 *
 * Kernels are plain functions: outputs first, inputs, then sizes; no allocation, no error.
 * Rows of matrices are contiguous; `ld` is the distance between rows. `dx` is the gradient
 * of x; a gradient marked += is added to what is there, = overwrites. Every output row
 * depends on its own inputs alone, in a fixed order, so its bits are the same whatever
 * the number of rows computed with it.
 *
 * T, M, R: rows. C, N, K, F, V: columns. H: heads. D: head width.
 */

/* -- matmul. P is an operand B[K,N] in the kernel's own order; pack_size is in reals. Its
 * columns lie in a row: a gemm may use the first of them alone (a smaller N, the same K). */
KERNEL(size_t, pack_size, int K, int N)
/* P <- B, where B[k,n] is b[k*rs + n*cs]. */
KERNEL(void, pack, real *P, const real *b, size_t rs, size_t cs, int K, int N)
/* c[M,N] = a[M,K] B[K,N] (+ bias[N]) (+ c if add). bias may be NULL. */
KERNEL(void, gemm, real *c, size_t ldc, const real *a, size_t lda, const real *P, const real *bias,
       int M, int N, int K, int add)
/* c[M,N] = sum_r a[r,m] b[r,n] (+ c if add): the gradient of a weight.
 * scratch has gemm_tn_scratch(M, N, R) reals. */
KERNEL(size_t, gemm_tn_scratch, int M, int N, int R)
KERNEL(void, gemm_tn, real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
       int M, int N, int R, int add, real *scratch)
/* The same five with both operands rounded to bf16 (lg__bf16), sums in fp32. */
KERNEL(size_t, half_pack_size, int K, int N)
KERNEL(void, half_pack, real *P, const real *b, size_t rs, size_t cs, int K, int N)
KERNEL(void, half_gemm, real *c, size_t ldc, const real *a, size_t lda, const real *P,
       const real *bias, int M, int N, int K, int add)
KERNEL(size_t, half_gemm_tn_scratch, int M, int N, int R)
KERNEL(void, half_gemm_tn, real *c, size_t ldc, const real *a, size_t lda, const real *b,
       size_t ldb, int M, int N, int R, int add, real *scratch)
/* out[C] += sum_t x[t,c]: the gradient of a bias. */
KERNEL(void, sum_rows, real *out, const real *x, int T, int C)

/* -- embedding: out[t,:] = table[tokens[t],:]; dtable[tokens[t],:] += dout[t,:]. */
KERNEL(void, embed_forward, real *out, const real *table, const int32_t *tokens, int T, int C)
KERNEL(void, embed_backward, real *dtable, const real *dout, const int32_t *tokens, int T, int C)

/* -- norms. out = (x - mean) * rstd * w + b, rstd = 1/sqrt(var + eps), var the mean of
 * (x - mean)^2. w and b are both given or both NULL (then 1 and 0). mean[T], rstd[T]
 * are kept for the backward pass: dx +=, dw +=, db += (dw, db NULL when w is). */
KERNEL(void, layernorm_forward, real *out, real *mean, real *rstd, const real *x, const real *w,
       const real *b, int T, int C, real eps)
KERNEL(void, layernorm_backward, real *dx, real *dw, real *db, const real *dout, const real *x,
       const real *mean, const real *rstd, const real *w, int T, int C)
/* out = x * rstd * w, rstd = 1/sqrt(mean of x^2 + eps); w may be NULL. dx +=, dw +=. */
KERNEL(void, rmsnorm_forward, real *out, real *rstd, const real *x, const real *w, int T, int C,
       real eps)
KERNEL(void, rmsnorm_backward, real *dx, real *dw, const real *dout, const real *x,
       const real *rstd, const real *w, int T, int C)

/* -- activations, n elements. exact: x Phi(x); tanh_form: x/2 (1 + tanh(s (x + c x^3))),
 * s = sqrt(2/pi), c = 0.044715. dx =; dx may be dout. */
KERNEL(void, gelu_forward, real *out, const real *x, size_t n, int tanh_form)
KERNEL(void, gelu_backward, real *dx, const real *dout, const real *x, size_t n, int tanh_form)
/* out[t,f] = silu(gu[t,f]) * gu[t,F+f], silu(g) = g / (1 + exp(-g)). gu is [T,2F]. dgu =. */
KERNEL(void, swiglu_forward, real *out, const real *gu, int T, int F)
KERNEL(void, swiglu_backward, real *dgu, const real *dout, const real *gu, int T, int F)

/* -- rotary, in place: for each of T rows and H heads (head h at x[t*ld + h*D]) and
 * i < R/2: (x_i, x_{i+R/2}) <- (x_i c - x_{i+R/2} s, x_{i+R/2} c + x_i s) with
 * c = cos[t*R/2 + i], s = sign * sin[t*R/2 + i]. sign -1 is the backward pass. */
KERNEL(void, rotary, real *x, size_t ld, const real *cos, const real *sin, int T, int H, int D,
       int R, int sign)

/* -- full attention, a block of scores s[nq, nk] (rows lds apart), online softmax.
 * Row i sees the first seen[i] keys of the block (0..nk). In: running max m (-inf at
 * first) and sum l (0 at first). m' = max(m, s seen); alpha = exp(m - m') (1 if both are
 * -inf); s <- exp(s - m') where seen, else 0; l <- l alpha + sum of s. More keys that are
 * not seen change no bit of the others. */
KERNEL(void, softmax_block, real *s, size_t lds, real *m, real *l, real *alpha, const int *seen,
       int nq, int nk)
/* x[i,:] *= a[i]. */
KERNEL(void, scale_rows, real *x, size_t ld, const real *a, int T, int C)
/* Backward: s holds scores on entry, weights p = exp(s - lse_i) after (0 where not seen);
 * ds holds dp on entry, p (dp - delta_i) after. */
KERNEL(void, softmax_block_backward, real *ds, real *s, size_t lds, const real *lse,
       const real *delta, const int *seen, int nq, int nk)
/* out[i] = sum_c a[i,c] b[i,c]. */
KERNEL(void, dot_rows, real *out, const real *a, size_t lda, const real *b, size_t ldb, int T,
       int C)

/* -- weights in one pass, sums of the forward in the order of the keys, n >= 1. In place.
 * entmax15, T rows of n: p = max(s/2 - tau, 0)^2 with sum 1. Backward, ds is dp on entry: with
 * g = sqrt(p), g (dp - sum g dp / sum g).
 * softmax, L columns of n (s[n, L]): p = exp(s - max) / sum. Backward: p (dp - sum p dp). */
KERNEL(void, entmax15_rows, real *s, int T, int n)
KERNEL(void, entmax15_rows_backward, real *ds, const real *p, int T, int n)
KERNEL(void, softmax_columns, real *s, int n, int L)
KERNEL(void, softmax_columns_backward, real *ds, const real *p, int n, int L)

/* -- window attention of T queries q[T, H*D]. Query t sees n[t] keys: key[first[t] + j] is the
 * row of k and v (rows ld apart, head h at h*D) of its j-th, and turn[first[t] + j] the row of
 * the tables cos, sin [.., R/2] that turns it (unused when R = 0). Scores and weights are
 * [most, T, H], most the largest n:
 * s[j,t,h] = scale * q_th . Rot(turn) k_h, Rot as in `rotary`; -inf from n[t] on.
 * scratch: T*H*D reals. */
KERNEL(void, window_scores, real *s, const real *q, const real *k, size_t ld, const int *first,
       const int *n, const int *key, const int *turn, const real *cos, const real *sin, int T,
       int most, int H, int D, int R, real scale, real *scratch)
/* dq += , dk +=. scratch: 2*D reals. */
KERNEL(void, window_scores_backward, real *dq, real *dk, const real *ds, const real *q,
       const real *k, size_t ld, const int *first, const int *n, const int *key, const int *turn,
       const real *cos, const real *sin, int T, int H, int D, int R, real scale, real *scratch)
/* out[t,h,:] = sum_j p[j,t,h] v_h, in the order of the keys. Backward: dp = (0 from n[t] on;
 * NULL: not wanted), dv +=, query after query. */
KERNEL(void, window_mix, real *out, const real *p, const real *v, size_t ld, const int *first,
       const int *n, const int *key, int T, int H, int D)
KERNEL(void, window_mix_backward, real *dp, real *dv, const real *dout, const real *p,
       const real *v, size_t ld, const int *first, const int *n, const int *key, int T, int most,
       int H, int D)

/* -- loss. loss[t] = log sum exp logits[t,:] - logits[t,target], 0 where target < 0;
 * dlogits = scale * (softmax - onehot), 0 where target < 0; may be in place of logits;
 * NULL: loss only. */
KERNEL(void, cross_entropy, real *loss, real *dlogits, const real *logits, const int32_t *target,
       real scale, int T, int V)

/* -- optimizer, flat. out[i] = the blocks' sum by a fixed binary tree: block b and block
 * b + step, step = 1, 2, 4, ..; blocks is a power of two, NULL entries count as zero. */
KERNEL(void, sum_tree, real *out, const real *const *block, int blocks, size_t n)
KERNEL(double, sum_squares, const real *x, size_t n) /* in double */
/* m = beta1 m + (1-beta1) g; v = beta2 v + (1-beta2) g^2, both 0 where they are subnormal as floats;
 * p = p - lr (decay p + (m / bias_correction1) / (sqrt(v / bias_correction2) + eps)), fix = 1 - beta^step. */
KERNEL(void, adamw, real *p, real *m, real *v, const real *g, size_t n, real lr, real decay,
       real beta1, real beta2, real eps, real bias_correction1, real bias_correction2)
/* x *= a; out += x. */
KERNEL(void, scale, real *x, real a, size_t n)
KERNEL(void, add, real *out, const real *x, size_t n)
