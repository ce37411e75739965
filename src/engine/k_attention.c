/* k_attention.c: the parts of attention that are not matmul: blocks of an online softmax
 * for the full span, whole rows for entmax and for the window, and the window's own
 * products, in which the keys are few and scattered. */
#include "k_table.h"

LG_INLINE float exp1(float x) { return v_exp(v_set(x))[0]; }

static float row_max(const float *s, int n, float m)
{
    vf low = v_set(m), top = low;
    for (int i = 0; i < n; i += LG_W)
        top = v_max(top, n - i >= LG_W ? v_load(s + i) : v_load_or(s + i, n - i, low));
    return v_top(top);
}

void LG_K(softmax_block)(float *s, size_t lds, float *m, float *l, float *alpha, const int *seen,
                         int nq, int nk)
{
    for (int i = 0; i < nq; i++, s += lds) {
        int n = seen[i];
        float top = row_max(s, n, m[i]);
        if (top == -INFINITY) n = 0; /* nothing seen that has a weight */
        alpha[i] = m[i] == top ? 1.0f : exp1(m[i] - top);
        vf sum = v_zero();
        int j = 0;
        for (; j + LG_W <= n; j += LG_W) {
            vf p = v_exp(v_load(s + j) - v_set(top));
            v_store(s + j, p);
            sum += p;
        }
        if (j < n) {
            vf p = v_exp(v_load_or(s + j, n - j, v_set(-INFINITY)) - v_set(top));
            v_store_n(s + j, p, n - j);
            sum += p;
        }
        for (j = n; j < nk; j++) s[j] = 0.0f;
        l[i] = l[i] * alpha[i] + v_sum(sum);
        m[i] = top;
    }
}

void LG_K(scale_rows)(float *x, size_t ld, const float *a, int T, int C)
{
    for (int t = 0; t < T; t++, x += ld)
        for (int i = 0; i < C; i += LG_W) give(x, take(x, i, C) * v_set(a[t]), i, C);
}

/* p = exp(s - lse), ds = p (dp - delta). */
void LG_K(softmax_block_backward)(float *ds, float *s, size_t lds, const float *lse,
                                  const float *delta, const int *seen, int nq, int nk)
{
    for (int i = 0; i < nq; i++, s += lds, ds += lds) {
        int n = seen[i];
        for (int j = 0; j < n; j += LG_W) {
            vf p = v_exp(take(s, j, n) - v_set(lse[i]));
            vf d = p * (take(ds, j, n) - v_set(delta[i]));
            give(s, p, j, n);
            give(ds, d, j, n);
        }
        for (int j = n; j < nk; j++) s[j] = ds[j] = 0.0f;
    }
}

LG_INLINE float dot(const float *a, const float *b, int n)
{
    vf sum = v_zero();
    for (int i = 0; i < n; i += LG_W) sum += take(a, i, n) * take(b, i, n);
    return v_sum(sum);
}

void LG_K(dot_rows)(float *out, const float *a, size_t lda, const float *b, size_t ldb, int T,
                    int C)
{
    for (int t = 0; t < T; t++, a += lda, b += ldb) out[t] = dot(a, b, C);
}

/* Rows of one vector at most, as a window has: a few are read before the first is written, since a masked store
 * holds up the loads that touch the same vector. The sum is in the order of the keys, as below. */
static void softmax_short(float *s, int T, int n)
{
    enum { FEW = 8 };
    for (int t = 0; t < T; t += FEW, s += FEW * n) {
        vf row[FEW], low = v_set(-INFINITY);
        int few = T - t < FEW ? T - t : FEW;
        for (int i = 0; i < few; i++) row[i] = v_load_or(s + i * n, n, low);
        for (int i = 0; i < few; i++) {
            float e[LG_W], sum = 0;
            row[i] = v_exp(row[i] - v_set(v_top(row[i])));
            v_store(e, row[i]);
            for (int j = 0; j < n; j++) sum += e[j];
            row[i] *= v_set(1.0f / sum);
        }
        for (int i = 0; i < few; i++) v_store_n(s + i * n, row[i], n);
    }
}

void LG_K(softmax_rows)(float *s, int T, int n)
{
    if (n <= LG_W) {
        softmax_short(s, T, n);
        return;
    }
    for (int t = 0; t < T; t++, s += n) {
        vf top = v_set(row_max(s, n, -INFINITY));
        for (int i = 0; i < n; i += LG_W) give(s, v_exp(take(s, i, n) - top), i, n);
        float sum = 0;
        for (int i = 0; i < n; i++) sum += s[i];
        vf scale = v_set(1.0f / sum);
        for (int i = 0; i < n; i += LG_W) give(s, take(s, i, n) * scale, i, n);
    }
}

void LG_K(softmax_rows_backward)(float *ds, const float *p, int T, int n)
{
    for (int t = 0; t < T; t++, ds += n, p += n) {
        vf mean = v_set(dot(p, ds, n));
        for (int i = 0; i < n; i += LG_W) give(ds, take(p, i, n) * (take(ds, i, n) - mean), i, n);
    }
}

/* tau solves f(tau) = sum max(z - tau, 0)^2 = 1, z = (s - max) / 2. f is convex and falls, and
 * f(-1) >= 1, so Newton's steps from -1 rise to tau and stop where they no longer rise. */
void LG_K(entmax15_rows)(float *s, int T, int n)
{
    for (int t = 0; t < T; t++, s += n) {
        float top = row_max(s, n, -INFINITY), tau = -1.0f;
        for (int i = 0; i < n; i++) s[i] = 0.5f * (s[i] - top);
        for (int step = 0; step < 60; step++) {
            double f = -1, slope = 0;
            for (int i = 0; i < n; i++) {
                double d = (double)s[i] - (double)tau;
                if (d > 0) {
                    f += d * d;
                    slope += d;
                }
            }
            float next = (float)((double)tau + f / (2 * slope));
            if (!(next > tau)) break;
            tau = next;
        }
        for (int i = 0; i < n; i++) {
            float d = s[i] - tau;
            s[i] = d <= 0 ? 0.0f : d * d; /* a NaN stays one */
        }
    }
}

/* g = sqrt(p): ds = g (dp - sum(g dp) / sum(g)). */
void LG_K(entmax15_rows_backward)(float *ds, const float *p, int T, int n)
{
    for (int t = 0; t < T; t++, ds += n, p += n) {
        vf sum = v_zero(), product = v_zero();
        for (int i = 0; i < n; i += LG_W) {
            vf g = v_sqrt(take(p, i, n));
            sum += g;
            product += g * take(ds, i, n);
        }
        vf mean = v_set(v_sum(product) / v_sum(sum));
        for (int i = 0; i < n; i += LG_W)
            give(ds, v_sqrt(take(p, i, n)) * (take(ds, i, n) - mean), i, n);
    }
}

/* to = Rot(turn)^T from: (a, b) -> (a c + b s, b c - a s); sign -1 gives Rot. */
LG_INLINE void rotate_by(float *to, const float *from, const float *cos, const float *sin, int turn,
                         int D, int R, float sign)
{
    int half = R / 2;
    cos += (size_t)turn * (size_t)half;
    sin += (size_t)turn * (size_t)half;
    for (int i = 0; i < half; i += LG_W) {
        vf c = take(cos, i, half), s = take(sin, i, half) * v_set(sign);
        vf a = take(from, i, half), b = take(from + half, i, half);
        give(to, a * c + b * s, i, half);
        give(to + half, b * c - a * s, i, half);
    }
    memcpy(to + R, from + R, (size_t)(D - R) * sizeof *to);
}

/* q . Rot k = (Rot^T q) . k: the query turns once for all keys of one ID difference. */
void LG_K(window_scores)(float *s, const float *q, const float *k, size_t ld, const int *key,
                         const int *turn, const float *cos, const float *sin, int n, int H, int D,
                         int R, float scale, float *scratch)
{
    for (int h = 0; h < H; h++, q += D, k += D, s += n) {
        const float *turned = q;
        for (int j = 0; j < n; j++) {
            if (R && (j == 0 || turn[j] != turn[j - 1])) {
                rotate_by(scratch, q, cos, sin, turn[j], D, R, 1.0f);
                turned = scratch;
            }
            s[j] = scale * dot(turned, k + (size_t)key[j] * ld, D);
        }
    }
}

/* s = scale t . k, t = Rot^T q: dk += scale ds t; dt = scale sum ds k; dq += Rot dt. */
void LG_K(window_scores_backward)(float *dq, float *dk, const float *ds, const float *q,
                                  const float *k, size_t ld, const int *key, const int *turn,
                                  const float *cos, const float *sin, int n, int H, int D, int R,
                                  float scale, float *scratch)
{
    float *turned = scratch, *dt = scratch + D;
    for (int h = 0; h < H; h++, q += D, k += D, dq += D, dk += D, ds += n) {
        for (int j = 0; j < n;) {
            if (R)
                rotate_by(turned, q, cos, sin, turn[j], D, R, 1.0f);
            else
                memcpy(turned, q, (size_t)D * sizeof *q);
            memset(dt, 0, (size_t)D * sizeof *dt);
            int first = j;
            for (; j < n && (!R || turn[j] == turn[first]); j++) {
                vf g = v_set(scale * ds[j]);
                size_t row = (size_t)key[j] * ld;
                for (int i = 0; i < D; i += LG_W) {
                    give(dk + row, take(dk + row, i, D) + g * take(turned, i, D), i, D);
                    give(dt, take(dt, i, D) + g * take(k + row, i, D), i, D);
                }
            }
            if (R) {
                rotate_by(turned, dt, cos, sin, turn[first], D, R, -1.0f);
                LG_K(add)(dq, turned, (size_t)D);
            } else {
                LG_K(add)(dq, dt, (size_t)D);
            }
        }
    }
}

void LG_K(window_mix)(float *out, const float *p, const float *v, size_t ld, const int *key, int n,
                      int H, int D)
{
    for (int h = 0; h < H; h++, out += D, v += D, p += n)
        for (int i = 0; i < D; i += LG_W) {
            vf sum = v_zero();
            for (int j = 0; j < n; j++) sum += v_set(p[j]) * take(v + (size_t)key[j] * ld, i, D);
            give(out, sum, i, D);
        }
}

/* out = sum p v: dp = dout . v, dv += p dout. */
void LG_K(window_mix_backward)(float *dp, float *dv, const float *dout, const float *p,
                               const float *v, size_t ld, const int *key, int n, int H, int D)
{
    for (int h = 0; h < H; h++, dout += D, v += D, dv += D, p += n, dp += n)
        for (int j = 0; j < n; j++) {
            size_t row = (size_t)key[j] * ld;
            dp[j] = dot(dout, v + row, D);
            for (int i = 0; i < D; i += LG_W)
                give(dv + row, take(dv + row, i, D) + v_set(p[j]) * take(dout, i, D), i, D);
        }
}
