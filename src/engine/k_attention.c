/* k_attention.c: the parts of attention that are not matmul: blocks of an online softmax
 * for the full span, whole rows for entmax. Those of the window are in k_window.c. */
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
