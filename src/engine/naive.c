/* naive.c: the naive twin of every kernel, as plain loops: oracle, fallback, documentation.
 * kernels_def.h holds the contracts; here each backward stands below its forward and quotes
 * the line it differentiates. Compiled twice: as it is, it makes lg__naive32 (real = float);
 * with -DLG_NAIVE64=1, lg__naive64 (real = double), the oracle of the tests.
 *
 * Every sum runs from the first term to the last, so that the bits of a row depend on that
 * row alone. Compile without fast-math and without contraction (-std=c11 does). */
#include <float.h>
#include <math.h>
#include <tgmath.h>

#include "naive.h"

#if LG_NAIVE64
#define real double
#define LG__TABLE lg__kernels64
#define LG__NAIVE lg__naive64
#else
#define real float
#define LG__TABLE lg__kernels
#define LG__NAIVE lg__naive32
#endif

/* Row t of a matrix whose rows are ld apart: sizes are ints, places are size_t. */
#define ROW(x, ld, t) ((x) + (size_t)(t) * (size_t)(ld))

/* ---- matmul ----------------------------------------------------------------------- */

/* P is B itself, [K,N] without gaps. */
static size_t pack_size(int K, int N) { return (size_t)K * (size_t)N; }

static void pack(real *P, const real *b, size_t rs, size_t cs, int K, int N)
{
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) ROW(P, K, n)[k] = b[(size_t)k * rs + (size_t)n * cs];
}

static void gemm(real *c, size_t ldc, const real *a, size_t lda, const real *P, const real *bias,
                 int M, int N, int K, int add)
{
    for (int m = 0; m < M; m++) {
        const real *am = ROW(a, lda, m);
        real *cm = ROW(c, ldc, m);
        for (int n = 0; n < N; n++) {
            real sum = 0;
            for (int k = 0; k < K; k++) sum += am[k] * ROW(P, K, n)[k];
            if (bias) sum += bias[n];
            cm[n] = add ? cm[n] + sum : sum;
        }
    }
}

/* The backward of c = a B is da = dc B^T (gemm with B packed transposed: rs and cs
 * exchanged) and dB = a^T dc (gemm_tn); that of bias is sum_rows. */
static size_t gemm_tn_scratch(int M, int N, int R)
{
    (void)M, (void)N, (void)R;
    return 0;
}

static void gemm_tn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                    int M, int N, int R, int add, real *scratch)
{
    (void)scratch;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            real *cmn = ROW(c, ldc, m) + n;
            real sum = 0;
            for (int r = 0; r < R; r++) sum += ROW(a, lda, r)[m] * ROW(b, ldb, r)[n];
            *cmn = add ? *cmn + sum : sum;
        }
}

/* bf16: the operands rounded one by one. */
#define HALF(x) ((real)lg__bf16((float)(x)))

static size_t half_pack_size(int K, int N) { return pack_size(K, N); }
static size_t half_gemm_tn_scratch(int M, int N, int R) { return gemm_tn_scratch(M, N, R); }

static void half_pack(real *P, const real *b, size_t rs, size_t cs, int K, int N)
{
    pack(P, b, rs, cs, K, N);
    for (size_t i = 0; i < pack_size(K, N); i++) P[i] = HALF(P[i]);
}

static void half_gemm(real *c, size_t ldc, const real *a, size_t lda, const real *P,
                      const real *bias, int M, int N, int K, int add)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            real *cmn = ROW(c, ldc, m) + n, sum = 0;
            for (int k = 0; k < K; k++) sum += HALF(ROW(a, lda, m)[k]) * ROW(P, K, n)[k];
            if (bias) sum += bias[n];
            *cmn = add ? *cmn + sum : sum;
        }
}

static void half_gemm_tn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                         int M, int N, int R, int add, real *scratch)
{
    (void)scratch;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            real *cmn = ROW(c, ldc, m) + n, sum = 0;
            for (int r = 0; r < R; r++) sum += HALF(ROW(a, lda, r)[m]) * HALF(ROW(b, ldb, r)[n]);
            *cmn = add ? *cmn + sum : sum;
        }
}

static void sum_rows(real *out, const real *x, int T, int C)
{
    for (int c = 0; c < C; c++) {
        real sum = 0;
        for (int t = 0; t < T; t++) sum += ROW(x, C, t)[c];
        out[c] += sum;
    }
}

/* ---- embedding -------------------------------------------------------------------- */

static void embed_forward(real *out, const real *table, const int32_t *tokens, int T, int C)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c++) ROW(out, C, t)[c] = ROW(table, C, tokens[t])[c];
}

static void embed_backward(real *dtable, const real *dout, const int32_t *tokens, int T, int C)
{
    for (int t = 0; t < T; t++) /* out[t,c] = table[tokens[t],c] */
        for (int c = 0; c < C; c++) ROW(dtable, C, tokens[t])[c] += ROW(dout, C, t)[c];
}

/* ---- norms ------------------------------------------------------------------------ */

static void layernorm_forward(real *out, real *mean, real *rstd, const real *x, const real *w,
                              const real *b, int T, int C, real eps)
{
    for (int t = 0; t < T; t++) {
        const real *xt = ROW(x, C, t);
        real *outt = ROW(out, C, t);
        real sum = 0, squares = 0;
        for (int c = 0; c < C; c++) sum += xt[c];
        mean[t] = sum / (real)C;
        for (int c = 0; c < C; c++) squares += (xt[c] - mean[t]) * (xt[c] - mean[t]);
        rstd[t] = 1 / sqrt(squares / (real)C + eps);
        for (int c = 0; c < C; c++) {
            real norm = (xt[c] - mean[t]) * rstd[t];
            outt[c] = w ? norm * w[c] + b[c] : norm;
        }
    }
}

static void layernorm_backward(real *dx, real *dw, real *db, const real *dout, const real *x,
                               const real *mean, const real *rstd, const real *w, int T, int C)
{
    for (int t = 0; t < T; t++) {
        const real *xt = ROW(x, C, t), *doutt = ROW(dout, C, t);
        real *dxt = ROW(dx, C, t);
        real dnorm_sum = 0, dnorm_norm_sum = 0;
        for (int c = 0; c < C; c++) {
            real norm = (xt[c] - mean[t]) * rstd[t];
            real dnorm = w ? doutt[c] * w[c] : doutt[c]; /* out = norm * w + b */
            dnorm_sum += dnorm;
            dnorm_norm_sum += dnorm * norm;
            if (w) {
                dw[c] += doutt[c] * norm;
                db[c] += doutt[c];
            }
        }
        for (int c = 0; c < C; c++) {
            real norm = (xt[c] - mean[t]) * rstd[t];
            real dnorm = w ? doutt[c] * w[c] : doutt[c];
            /* norm = (x - mean) * rstd: by x itself, by the mean, by rstd */
            dxt[c] += rstd[t] * (dnorm - dnorm_sum / (real)C - norm * dnorm_norm_sum / (real)C);
        }
    }
}

static void rmsnorm_forward(real *out, real *rstd, const real *x, const real *w, int T, int C,
                            real eps)
{
    for (int t = 0; t < T; t++) {
        const real *xt = ROW(x, C, t);
        real *outt = ROW(out, C, t);
        real squares = 0;
        for (int c = 0; c < C; c++) squares += xt[c] * xt[c];
        rstd[t] = 1 / sqrt(squares / (real)C + eps);
        for (int c = 0; c < C; c++) outt[c] = w ? xt[c] * rstd[t] * w[c] : xt[c] * rstd[t];
    }
}

static void rmsnorm_backward(real *dx, real *dw, const real *dout, const real *x, const real *rstd,
                             const real *w, int T, int C)
{
    for (int t = 0; t < T; t++) {
        const real *xt = ROW(x, C, t), *doutt = ROW(dout, C, t);
        real *dxt = ROW(dx, C, t);
        real dnorm_norm_sum = 0;
        for (int c = 0; c < C; c++) {
            real norm = xt[c] * rstd[t];
            real dnorm = w ? doutt[c] * w[c] : doutt[c]; /* out = norm * w */
            dnorm_norm_sum += dnorm * norm;
            if (w) dw[c] += doutt[c] * norm;
        }
        for (int c = 0; c < C; c++) {
            real norm = xt[c] * rstd[t];
            real dnorm = w ? doutt[c] * w[c] : doutt[c];
            /* norm = x * rstd: by x itself, by rstd */
            dxt[c] += rstd[t] * (dnorm - norm * dnorm_norm_sum / (real)C);
        }
    }
}

/* ---- activations ------------------------------------------------------------------ */

static const real half = (real)0.5;
static const real sqrt_half = (real)0.707106781186547524400844362104849;  /* sqrt(1/2) */
static const real sqrt_2_pi = (real)0.797884560802865355879892119868764;  /* sqrt(2/pi) */
static const real sqrt_1_2pi = (real)0.398942280401432677939946059934382; /* sqrt(1/(2 pi)) */
static const real gelu_cube = (real)0.044715;

static void gelu_forward(real *out, const real *x, size_t n, int tanh_form)
{
    for (size_t i = 0; i < n; i++)
        if (tanh_form) {
            real u = sqrt_2_pi * (x[i] + gelu_cube * x[i] * x[i] * x[i]);
            out[i] = half * x[i] * (1 + tanh(u));
        } else {
            /* Phi(x) = erfc(-x/sqrt 2) / 2, which keeps its digits where Phi is small */
            out[i] = x[i] * (half * erfc(-x[i] * sqrt_half));
        }
}

static void gelu_backward(real *dx, const real *dout, const real *x, size_t n, int tanh_form)
{
    for (size_t i = 0; i < n; i++) {
        real slope;
        if (tanh_form) { /* out = x/2 (1 + tanh u), u = s (x + c x^3) */
            real u = sqrt_2_pi * (x[i] + gelu_cube * x[i] * x[i] * x[i]);
            real du = sqrt_2_pi * (1 + 3 * gelu_cube * x[i] * x[i]);
            real th = tanh(u);
            slope = half * (1 + th) + half * x[i] * (1 - th * th) * du;
        } else { /* out = x Phi(x); Phi' = exp(-x^2/2) / sqrt(2 pi) */
            real phi = sqrt_1_2pi * exp(-half * x[i] * x[i]);
            slope = half * erfc(-x[i] * sqrt_half) + x[i] * phi;
        }
        dx[i] = dout[i] * slope;
    }
}

static void swiglu_forward(real *out, const real *gu, int T, int F)
{
    for (int t = 0; t < T; t++) {
        const real *g = ROW(gu, 2 * (size_t)F, t), *u = g + F;
        for (int f = 0; f < F; f++) ROW(out, F, t)[f] = g[f] / (1 + exp(-g[f])) * u[f];
    }
}

static void swiglu_backward(real *dgu, const real *dout, const real *gu, int T, int F)
{
    for (int t = 0; t < T; t++) {
        const real *g = ROW(gu, 2 * (size_t)F, t), *u = g + F;
        real *dg = ROW(dgu, 2 * (size_t)F, t), *du = dg + F;
        for (int f = 0; f < F; f++) { /* out = g sigma(g) u; sigma' = sigma (1 - sigma) */
            real sigma = 1 / (1 + exp(-g[f]));
            real d = ROW(dout, F, t)[f];
            dg[f] = d * u[f] * sigma * (1 + g[f] * (1 - sigma));
            du[f] = d * g[f] * sigma;
        }
    }
}

/* ---- rotary ----------------------------------------------------------------------- */

/* One head's first R dimensions, by the angles of one row of the tables. sign -1 turns
 * back: a rotation's transpose, so its own backward. */
static void rotate_head(real *x, const real *cos, const real *sin, int R, int sign)
{
    for (int i = 0; i < R / 2; i++) {
        real a = x[i], b = x[i + R / 2];
        real c = cos[i], s = (real)sign * sin[i];
        x[i] = a * c - b * s;
        x[i + R / 2] = b * c + a * s;
    }
}

static void rotary(real *x, size_t ld, const real *cos, const real *sin, int T, int H, int D, int R,
                   int sign)
{
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++)
            rotate_head(ROW(x, ld, t) + h * D, ROW(cos, R / 2, t), ROW(sin, R / 2, t), R, sign);
}

/* ---- full attention, a block at a time -------------------------------------------- */

static void softmax_block(real *s, size_t lds, real *m, real *l, real *alpha, const int *seen,
                          int nq, int nk)
{
    for (int i = 0; i < nq; i++) {
        real *si = ROW(s, lds, i);
        real before = m[i], sum = 0;
        for (int j = 0; j < seen[i]; j++)
            if (si[j] > m[i]) m[i] = si[j];
        /* while all is -inf there is no maximum to take off, and every weight is 0 */
        int none = m[i] == -(real)INFINITY;
        alpha[i] = none ? 1 : exp(before - m[i]);
        for (int j = 0; j < nk; j++) {
            si[j] = j < seen[i] && !none ? exp(si[j] - m[i]) : 0;
            sum += si[j];
        }
        l[i] = l[i] * alpha[i] + sum;
    }
}

static void scale_rows(real *x, size_t ld, const real *a, int T, int C)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < C; c++) ROW(x, ld, t)[c] *= a[t];
}

/* p = exp(s - lse), lse = log sum over all blocks exp s; delta = sum over all blocks p dp. */
static void softmax_block_backward(real *ds, real *s, size_t lds, const real *lse,
                                   const real *delta, const int *seen, int nq, int nk)
{
    for (int i = 0; i < nq; i++) {
        real *si = ROW(s, lds, i), *dsi = ROW(ds, lds, i);
        for (int j = 0; j < nk; j++) {
            si[j] = j < seen[i] ? exp(si[j] - lse[i]) : 0;
            dsi[j] = j < seen[i] ? si[j] * (dsi[j] - delta[i]) : 0;
        }
    }
}

static void dot_rows(real *out, const real *a, size_t lda, const real *b, size_t ldb, int T, int C)
{
    for (int t = 0; t < T; t++) {
        out[t] = 0;
        for (int c = 0; c < C; c++) out[t] += ROW(a, lda, t)[c] * ROW(b, ldb, t)[c];
    }
}

/* ---- rows of weights -------------------------------------------------------------- */

static real row_max(const real *s, int n)
{
    real max = s[0];
    for (int j = 1; j < n; j++)
        if (s[j] > max) max = s[j];
    return max;
}

static void softmax_columns(real *s, int n, int L)
{
    for (int c = 0; c < L; c++, s++) {
        real max = s[0], sum = 0;
        for (int j = 1; j < n; j++)
            if (s[j * L] > max) max = s[j * L];
        for (int j = 0; j < n; j++) sum += s[j * L] = exp(s[j * L] - max);
        for (int j = 0; j < n; j++) s[j * L] /= sum;
    }
}

static void softmax_columns_backward(real *ds, const real *p, int n, int L)
{
    for (int c = 0; c < L; c++, ds++, p++) { /* dp_i/ds_j = p_i (i==j) - p_i p_j */
        real dot = 0;
        for (int j = 0; j < n; j++) dot += p[j * L] * ds[j * L];
        for (int j = 0; j < n; j++) ds[j * L] = p[j * L] * (ds[j * L] - dot);
    }
}

/* With z = (s - max)/2, the tau that makes sum max(z - tau, 0)^2 = 1. The sum falls as tau
 * grows, is >= 1 at -1 (the largest z is 0) and 0 at 0: halve [-1, 0] until no number lies
 * between its ends. That gives the support, the k keys with z > tau, up to keys so near to
 * tau that their weight is rounding; on it the equation is quadratic, and with mean and
 * spread = sum (z - mean)^2 its lower root is mean - sqrt((1 - spread) / k). */
static real entmax15_tau(const real *s, real max, int n)
{
    real low = -1, high = 0;
    for (;;) {
        real tau = half * (low + high), sum = 0;
        if (tau <= low || tau >= high) break;
        for (int j = 0; j < n; j++) {
            real g = half * (s[j] - max) - tau;
            if (g > 0) sum += g * g;
        }
        if (sum >= 1)
            low = tau;
        else
            high = tau;
    }
    int k = 0;
    real mean = 0, spread = 0;
    for (int j = 0; j < n; j++)
        if (half * (s[j] - max) > low) {
            mean += half * (s[j] - max);
            k++;
        }
    mean /= (real)k;
    for (int j = 0; j < n; j++)
        if (half * (s[j] - max) > low) {
            real z = half * (s[j] - max);
            spread += (z - mean) * (z - mean);
        }
    return mean - sqrt((spread < 1 ? 1 - spread : 0) / (real)k);
}

static void entmax15_rows(real *s, int T, int n)
{
    for (int t = 0; t < T; t++) {
        real *st = ROW(s, n, t);
        real max = row_max(st, n);
        real tau = entmax15_tau(st, max, n);
        for (int j = 0; j < n; j++) {
            real g = half * (st[j] - max) - tau;
            st[j] = g > 0 ? g * g : 0;
        }
    }
}

static void entmax15_rows_backward(real *ds, const real *p, int T, int n)
{
    for (int t = 0; t < T; t++) {
        /* p = g^2, g = max(s/2 - tau, 0): dp_i = g_i (ds_i - 2 dtau); sum p = 1 gives
         * 2 dtau = sum g ds / sum g, and the matrix is symmetric */
        const real *pt = ROW(p, n, t);
        real *dst = ROW(ds, n, t), dot = 0, sum = 0;
        for (int j = 0; j < n; j++) {
            dot += sqrt(pt[j]) * dst[j];
            sum += sqrt(pt[j]);
        }
        for (int j = 0; j < n; j++) dst[j] = sqrt(pt[j]) * (dst[j] - dot / sum);
    }
}

/* ---- window attention ------------------------------------------------------------- */

/* Number j of query t and head h in an array [.., T, H]. */
#define OF(x, j) x[((j)*T + t) * H + h]

static void window_scores(real *s, const real *q, const real *k, size_t ld, const int *first,
                          const int *n, const int *key, const int *turn, const real *cos,
                          const real *sin, int T, int most, int H, int D, int R, real scale,
                          real *scratch)
{
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, q += D)
            for (int j = 0; j < most; j++) {
                int at = first[t] + j;
                real dot = 0;
                OF(s, j) = -INFINITY;
                if (j >= n[t]) continue;
                for (int d = 0; d < D; d++) scratch[d] = ROW(k, ld, key[at])[h * D + d];
                if (R)
                    rotate_head(scratch, ROW(cos, R / 2, turn[at]), ROW(sin, R / 2, turn[at]), R,
                                1);
                for (int d = 0; d < D; d++) dot += q[d] * scratch[d];
                OF(s, j) = scale * dot;
            }
}

static void window_scores_backward(real *dq, real *dk, const real *ds, const real *q, const real *k,
                                   size_t ld, const int *first, const int *n, const int *key,
                                   const int *turn, const real *cos, const real *sin, int T, int H,
                                   int D, int R, real scale, real *scratch)
{
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, q += D, dq += D)
            for (int j = 0; j < n[t]; j++) { /* s = scale * q . Rot k */
                int at = first[t] + j;
                real *dkh = ROW(dk, ld, key[at]) + h * D, d_dot = scale * OF(ds, j);
                /* dq += d_dot Rot k */
                for (int d = 0; d < D; d++) scratch[d] = ROW(k, ld, key[at])[h * D + d];
                if (R)
                    rotate_head(scratch, ROW(cos, R / 2, turn[at]), ROW(sin, R / 2, turn[at]), R,
                                1);
                for (int d = 0; d < D; d++) dq[d] += d_dot * scratch[d];
                /* dk += d_dot Rot^T q */
                for (int d = 0; d < D; d++) scratch[d] = q[d];
                if (R)
                    rotate_head(scratch, ROW(cos, R / 2, turn[at]), ROW(sin, R / 2, turn[at]), R,
                                -1);
                for (int d = 0; d < D; d++) dkh[d] += d_dot * scratch[d];
            }
}

static void window_mix(real *out, const real *p, const real *v, size_t ld, const int *first,
                       const int *n, const int *key, int T, int H, int D)
{
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++)
            for (int d = 0; d < D; d++) {
                real sum = 0;
                for (int j = 0; j < n[t]; j++)
                    sum += OF(p, j) * ROW(v, ld, key[first[t] + j])[h * D + d];
                *out++ = sum;
            }
}

static void window_mix_backward(real *dp, real *dv, const real *dout, const real *p, const real *v,
                                size_t ld, const int *first, const int *n, const int *key, int T,
                                int most, int H, int D)
{
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, dout += D)
            for (int j = 0; j < most; j++) {
                real dot = 0;
                for (int d = 0; j < n[t] && d < D; d++) {
                    size_t row = (size_t)key[first[t] + j] * ld + (size_t)(h * D + d);
                    dot += dout[d] * v[row];
                    dv[row] += OF(p, j) * dout[d];
                }
                if (dp) OF(dp, j) = dot;
            }
}
#undef OF

/* ---- loss ------------------------------------------------------------------------- */

static void cross_entropy(real *loss, real *dlogits, const real *logits, const int32_t *target,
                          real scale, int T, int V)
{
    for (int t = 0; t < T; t++) {
        const real *x = ROW(logits, V, t);
        if (target[t] < 0) {
            loss[t] = 0;
            for (int v = 0; dlogits && v < V; v++) ROW(dlogits, V, t)[v] = 0;
            continue;
        }
        real max = row_max(x, V), sum = 0;
        for (int v = 0; v < V; v++) sum += exp(x[v] - max);
        loss[t] = log(sum) - (x[target[t]] - max);
        /* d log sum exp x / dx_v = exp(x_v - max) / sum; read before written: in place works */
        for (int v = 0; dlogits && v < V; v++)
            ROW(dlogits, V, t)[v] = scale * (exp(x[v] - max) / sum - (real)(v == target[t]));
    }
}

/* ---- optimizer -------------------------------------------------------------------- */

/* The left half of the blocks plus the right half: the tree of steps 1, 2, 4, .. */
static real sum_of_blocks(const real *const *block, int blocks, size_t i)
{
    if (blocks == 1) return block[0] ? block[0][i] : 0;
    return sum_of_blocks(block, blocks / 2, i) + sum_of_blocks(block + blocks / 2, blocks / 2, i);
}

static void sum_tree(real *out, const real *const *block, int blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = sum_of_blocks(block, blocks, i);
}

static double sum_squares(const real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sum;
}

static void adamw(real *p, real *m, real *v, const real *g, size_t n, real lr, real decay,
                  real beta1, real beta2, real eps, real bias_correction1, real bias_correction2)
{
    for (size_t i = 0; i < n; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * g[i];
        v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
        if (fabs(m[i]) < (real)FLT_MIN) m[i] = 0;
        if (v[i] < (real)FLT_MIN) v[i] = 0;
        p[i] -=
            lr * (decay * p[i] + (m[i] / bias_correction1) / (sqrt(v[i] / bias_correction2) + eps));
    }
}

static void scale(real *x, real a, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] *= a;
}

static void add(real *out, const real *x, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] += x[i];
}

#define KERNEL(returns, kernel, ...) .kernel = kernel,
const struct LG__TABLE LG__NAIVE = {
    .name = "naive",
    .half = "naive",
#include "kernels_def.h"
};
