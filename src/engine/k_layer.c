/* k_layer.c: embedding, norms, activations, rotary. Elements past the last whole vector go
 * through the same vector code, padded with zeros (but where a zero would count: the
 * variance of layernorm). */
#include "k_table.h"

void LG_K(embed_forward)(float *out, const float *table, const int32_t *tokens, int T, int C)
{
    for (int t = 0; t < T; t++)
        memcpy(out + (size_t)t * (size_t)C, table + (size_t)tokens[t] * (size_t)C,
               (size_t)C * sizeof *out);
}

void LG_K(embed_backward)(float *dtable, const float *dout, const int32_t *tokens, int T, int C)
{
    for (int t = 0; t < T; t++)
        LG_K(add)(dtable + (size_t)tokens[t] * (size_t)C, dout + (size_t)t * (size_t)C, (size_t)C);
}

void LG_K(layernorm_forward)(float *out, float *mean, float *rstd, const float *x, const float *w,
                             const float *b, int T, int C, float eps)
{
    for (int t = 0; t < T; t++, x += C, out += C) {
        vf sum = v_zero(), square = v_zero();
        for (int i = 0; i < C; i += LG_W) sum += take(x, i, C);
        float m = v_sum(sum) / (float)C;
        int i = 0;
        for (; i + LG_W <= C; i += LG_W) {
            vf d = v_load(x + i) - v_set(m);
            square += d * d;
        }
        float v = v_sum(square);
        for (; i < C; i++) v += (x[i] - m) * (x[i] - m);
        float r = 1.0f / sqrtf(v / (float)C + eps);
        for (i = 0; i < C; i += LG_W) {
            vf y = (take(x, i, C) - v_set(m)) * v_set(r);
            if (w) y = y * take(w, i, C) + take(b, i, C);
            give(out, y, i, C);
        }
        mean[t] = m;
        rstd[t] = r;
    }
}

/* out = xhat w + b, xhat = (x - mean) rstd. With g = dout w:
 * dx += rstd (g - mean(g) - xhat mean(g xhat)). */
void LG_K(layernorm_backward)(float *dx, float *dw, float *db, const float *dout, const float *x,
                              const float *mean, const float *rstd, const float *w, int T, int C)
{
    for (int t = 0; t < T; t++, x += C, dx += C, dout += C) {
        vf m = v_set(mean[t]), r = v_set(rstd[t]), sum = v_zero(), dot = v_zero();
        for (int i = 0; i < C; i += LG_W) {
            vf g = take(dout, i, C), xhat = (take(x, i, C) - m) * r;
            if (w) {
                give(dw, take(dw, i, C) + g * xhat, i, C);
                give(db, take(db, i, C) + g, i, C);
                g = g * take(w, i, C);
            }
            sum += g; /* past the end g is 0, whatever xhat is there */
            dot += g * xhat;
        }
        vf a = v_set(v_sum(sum) / (float)C), d = v_set(v_sum(dot) / (float)C);
        for (int i = 0; i < C; i += LG_W) {
            vf g = take(dout, i, C), xhat = (take(x, i, C) - m) * r;
            if (w) g = g * take(w, i, C);
            give(dx, take(dx, i, C) + r * (g - a - xhat * d), i, C);
        }
    }
}

void LG_K(rmsnorm_forward)(float *out, float *rstd, const float *x, const float *w, int T, int C,
                           float eps)
{
    for (int t = 0; t < T; t++, x += C, out += C) {
        vf square = v_zero();
        for (int i = 0; i < C; i += LG_W) {
            vf a = take(x, i, C);
            square += a * a;
        }
        float r = 1.0f / sqrtf(v_sum(square) / (float)C + eps);
        for (int i = 0; i < C; i += LG_W) {
            vf y = take(x, i, C) * v_set(r);
            if (w) y = y * take(w, i, C);
            give(out, y, i, C);
        }
        rstd[t] = r;
    }
}

/* out = x rstd w. With g = dout w and xhat = x rstd: dx += rstd (g - xhat mean(g xhat)). */
void LG_K(rmsnorm_backward)(float *dx, float *dw, const float *dout, const float *x,
                            const float *rstd, const float *w, int T, int C)
{
    for (int t = 0; t < T; t++, x += C, dx += C, dout += C) {
        vf r = v_set(rstd[t]), dot = v_zero();
        for (int i = 0; i < C; i += LG_W) {
            vf g = take(dout, i, C), xhat = take(x, i, C) * r;
            if (w) {
                give(dw, take(dw, i, C) + g * xhat, i, C);
                g = g * take(w, i, C);
            }
            dot += g * xhat;
        }
        vf d = v_set(v_sum(dot) / (float)C);
        for (int i = 0; i < C; i += LG_W) {
            vf g = take(dout, i, C), xhat = take(x, i, C) * r;
            if (w) g = g * take(w, i, C);
            give(dx, take(dx, i, C) + r * (g - xhat * d), i, C);
        }
    }
}

/* tanh form: x/2 (1 + tanh u) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3). */
#define TWO_U_1 1.5957691216f
#define TWO_U_3 0.0713548162726f

LG_INLINE vf gelu(vf x, int tanh_form)
{
    if (tanh_form) return x * v_sigmoid(x * (v_set(TWO_U_1) + v_set(TWO_U_3) * (x * x)));
    vf density;
    return x * v_phi(x, &density);
}

/* d/dx x Phi(x) = Phi(x) + x phi(x); d/dx x s = s + x s (1 - s) d(2u)/dx. */
LG_INLINE vf gelu_slope(vf x, int tanh_form)
{
    vf x2 = x * x;
    if (tanh_form) {
        vf s = v_sigmoid(x * (v_set(TWO_U_1) + v_set(TWO_U_3) * x2));
        return s + x * s * (v_set(1.0f) - s) * (v_set(TWO_U_1) + v_set(3 * TWO_U_3) * x2);
    }
    vf density, phi = v_phi(x, &density);
    return phi + x * density * v_set(0.3989422804f);
}

LG_INLINE void gelu_forward_as(float *out, const float *x, size_t n, int tanh_form)
{
    size_t i = 0;
    for (; i + LG_W <= n; i += LG_W) v_store(out + i, gelu(v_load(x + i), tanh_form));
    int rest = (int)(n - i);
    if (rest) v_store_n(out + i, gelu(v_load_n(x + i, rest), tanh_form), rest);
}

void LG_K(gelu_forward)(float *out, const float *x, size_t n, int tanh_form)
{
    if (tanh_form)
        gelu_forward_as(out, x, n, 1);
    else
        gelu_forward_as(out, x, n, 0);
}

LG_INLINE void gelu_backward_as(float *dx, const float *dout, const float *x, size_t n,
                                int tanh_form)
{
    size_t i = 0;
    for (; i + LG_W <= n; i += LG_W)
        v_store(dx + i, v_load(dout + i) * gelu_slope(v_load(x + i), tanh_form));
    int rest = (int)(n - i);
    if (rest)
        v_store_n(dx + i, v_load_n(dout + i, rest) * gelu_slope(v_load_n(x + i, rest), tanh_form),
                  rest);
}

void LG_K(gelu_backward)(float *dx, const float *dout, const float *x, size_t n, int tanh_form)
{
    if (tanh_form)
        gelu_backward_as(dx, dout, x, n, 1);
    else
        gelu_backward_as(dx, dout, x, n, 0);
}

void LG_K(swiglu_forward)(float *out, const float *gu, int T, int F)
{
    for (int t = 0; t < T; t++, out += F, gu += 2 * (size_t)F)
        for (int i = 0; i < F; i += LG_W) {
            vf g = take(gu, i, F);
            give(out, g * v_sigmoid(g) * take(gu + F, i, F), i, F);
        }
}

/* out = silu(g) u: du = dout silu(g); dg = dout u s (1 + g (1 - s)), s = sigmoid(g). */
void LG_K(swiglu_backward)(float *dgu, const float *dout, const float *gu, int T, int F)
{
    for (int t = 0; t < T; t++, dout += F, gu += 2 * (size_t)F, dgu += 2 * (size_t)F)
        for (int i = 0; i < F; i += LG_W) {
            vf g = take(gu, i, F), u = take(gu + F, i, F), d = take(dout, i, F);
            vf s = v_sigmoid(g);
            give(dgu, d * u * s * (v_set(1.0f) + g * (v_set(1.0f) - s)), i, F);
            give(dgu + F, d * g * s, i, F);
        }
}

void LG_K(rotary)(float *x, size_t ld, const float *cos, const float *sin, int T, int H, int D,
                  int R, int sign)
{
    int half = R / 2;
    for (int t = 0; t < T; t++, x += ld, cos += half, sin += half)
        for (int h = 0; h < H; h++) {
            float *a = x + h * D, *b = a + half;
            for (int i = 0; i < half; i += LG_W) {
                vf c = take(cos, i, half), s = take(sin, i, half) * v_set((float)sign);
                vf p = take(a, i, half), q = take(b, i, half);
                give(a, p * c - q * s, i, half);
                give(b, q * c + p * s, i, half);
            }
        }
}
