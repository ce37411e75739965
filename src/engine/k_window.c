/* k_window.c: attention inside a window, where the keys of a query are few and scattered. A block of
 * queries is taken at once: what is alike for all of them lies side by side, [keys, queries, heads],
 * so that a vector holds several queries and heads, never several keys of one. */
#include "k_table.h"

/* The sums of LG_W vectors, each in the order of v_sum. */
LG_INLINE vf v_sums(vf *r)
{
    v_transpose(r);
    for (int half = LG_W / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) r[i] += r[i + half];
    return r[0];
}

LG_INLINE vf products(const float *a, const float *b, int n)
{
    vf sum = v_zero();
    for (int i = 0; i < n; i += LG_W) sum += take(a, i, n) * take(b, i, n);
    return sum;
}

/* out[t, h] = scale a_th . (key j of query t)_h, or `none` where it has no such key. */
LG_INLINE void dots(float *out, const float *a, const float *b, size_t ld, const int *first,
                    const int *n, const int *key, int j, int T, int H, int D, float scale,
                    float none)
{
    vf r[LG_W];
    int at = 0, L = T * H;
    for (int t = 0; t < T; t++) {
        const float *row = j < n[t] ? b + (size_t)key[first[t] + j] * ld : NULL;
        for (int h = 0; h < H; h++, a += D) {
            r[at % LG_W] = row ? products(a, row + h * D, D) : v_set(none);
            if (++at % LG_W == 0) v_store(out + at - LG_W, v_set(scale) * v_sums(r));
        }
    }
    if (at % LG_W == 0) return;
    for (int i = at % LG_W; i < LG_W; i++) r[i] = v_zero();
    at -= at % LG_W;
    v_store_n(out + at, v_set(scale) * v_sums(r), L - at);
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
void LG_K(window_scores)(float *s, const float *q, const float *k, size_t ld, const int *first,
                         const int *n, const int *key, const int *turn, const float *cos,
                         const float *sin, int T, int most, int H, int D, int R, float scale,
                         float *scratch)
{
    for (int j = 0; j < most; j++, s += T * H) {
        for (int t = 0; R && t < T; t++) {
            const int *now = turn + first[t] + j;
            size_t row = (size_t)t * (size_t)(H * D);
            if (j >= n[t] || (j && now[0] == now[-1])) continue;
            for (int h = 0; h < H; h++, row += (size_t)D)
                rotate_by(scratch + row, q + row, cos, sin, now[0], D, R, 1.0f);
        }
        dots(s, R ? scratch : q, k, ld, first, n, key, j, T, H, D, scale, -INFINITY);
    }
}

/* s = scale t . k, t = Rot^T q: dk += scale ds t; dt = scale sum ds k; dq += Rot dt. */
void LG_K(window_scores_backward)(float *dq, float *dk, const float *ds, const float *q,
                                  const float *k, size_t ld, const int *first, const int *n,
                                  const int *key, const int *turn, const float *cos,
                                  const float *sin, int T, int H, int D, int R, float scale,
                                  float *scratch)
{
    float *turned = scratch, *dt = scratch + D;
    size_t L = (size_t)(T * H);
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, q += D, dq += D, ds++) {
            const int *keys = key + first[t];
            for (int j = 0; j < n[t];) {
                int from = j, to = n[t];
                const float *with = q;
                if (R) {
                    const int *now = turn + first[t];
                    for (to = j; to < n[t] && now[to] == now[from]; to++) continue;
                    rotate_by(turned, q, cos, sin, now[from], D, R, 1.0f);
                    with = turned;
                }
                for (int i = 0; i < D; i += LG_W) {
                    vf sum = v_zero(), x = take(with, i, D);
                    for (j = from; j < to; j++) {
                        size_t row = (size_t)keys[j] * ld + (size_t)(h * D);
                        vf g = v_set(scale * ds[(size_t)j * L]);
                        give(dk + row, take(dk + row, i, D) + g * x, i, D);
                        sum += g * take(k + row, i, D);
                    }
                    give(dt, sum, i, D);
                }
                if (R) {
                    rotate_by(turned, dt, cos, sin, turn[first[t] + from], D, R, -1.0f);
                    LG_K(add)(dq, turned, (size_t)D);
                } else {
                    LG_K(add)(dq, dt, (size_t)D);
                }
            }
        }
}

void LG_K(window_mix)(float *out, const float *p, const float *v, size_t ld, const int *first,
                      const int *n, const int *key, int T, int H, int D)
{
    size_t L = (size_t)(T * H);
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, out += D, p++)
            for (int i = 0; i < D; i += LG_W) {
                const int *keys = key + first[t];
                vf sum = v_zero();
                for (int j = 0; j < n[t]; j++)
                    sum += v_set(p[(size_t)j * L]) *
                           take(v + (size_t)keys[j] * ld + (size_t)(h * D), i, D);
                give(out, sum, i, D);
            }
}

/* out = sum p v: dp = dout . v, dv += p dout. */
void LG_K(window_mix_backward)(float *dp, float *dv, const float *dout, const float *p,
                               const float *v, size_t ld, const int *first, const int *n,
                               const int *key, int T, int most, int H, int D)
{
    size_t L = (size_t)(T * H);
    for (int j = 0; dp && j < most; j++)
        dots(dp + (size_t)j * L, dout, v, ld, first, n, key, j, T, H, D, 1.0f, 0.0f);
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++, dout += D, p++)
            for (int j = 0; j < n[t]; j++) {
                float *to = dv + (size_t)key[first[t] + j] * ld + (size_t)(h * D);
                vf w = v_set(p[(size_t)j * L]);
                for (int i = 0; i < D; i += LG_W)
                    give(to, take(to, i, D) + w * take(dout, i, D), i, D);
            }
}

void LG_K(softmax_columns)(float *s, int n, int L)
{
    for (int c = 0; c < L; c += LG_W) {
        vf top = take(s, c, L), sum = v_zero();
        for (int j = 1; j < n; j++) top = v_max(top, take(s + (size_t)j * (size_t)L, c, L));
        for (int j = 0; j < n; j++) {
            float *row = s + (size_t)j * (size_t)L;
            vf p = v_exp(take(row, c, L) - top);
            give(row, p, c, L);
            sum += p;
        }
        vf scale = v_set(1.0f) / sum;
        for (int j = 0; j < n; j++) {
            float *row = s + (size_t)j * (size_t)L;
            give(row, take(row, c, L) * scale, c, L);
        }
    }
}

/* The sum over the keys is that of a vector of them: by LG_W, then by halves. */
void LG_K(softmax_columns_backward)(float *ds, const float *p, int n, int L)
{
    for (int c = 0; c < L; c += LG_W) {
        vf slot[LG_W];
        int used = n < LG_W ? n : LG_W;
        for (int j = 0; j < n; j++) {
            size_t row = (size_t)j * (size_t)L;
            vf before = j < LG_W ? v_zero() : slot[j % LG_W];
            slot[j % LG_W] = before + take(p + row, c, L) * take(ds + row, c, L);
        }
        for (int half = LG_W / 2; half > 0; half /= 2)
            for (int i = 0; i + half < used; i++)
                if (i < half) slot[i] += slot[i + half];
        for (int j = 0; j < n; j++) {
            size_t row = (size_t)j * (size_t)L;
            give(ds + row, take(p + row, c, L) * (take(ds + row, c, L) - slot[0]), c, L);
        }
    }
}
