/* k_train.c: the loss, the sum of the gradient blocks, AdamW, and flat helpers. */
#include "k_table.h"

#include <float.h>

void LG_K(cross_entropy)(float *loss, float *dlogits, const float *logits, const int32_t *target,
                         float scale, int T, int V)
{
    for (int t = 0; t < T; t++) {
        const float *x = logits + (size_t)t * (size_t)V;
        float *d = dlogits ? dlogits + (size_t)t * (size_t)V : NULL;
        if (target[t] < 0) {
            loss[t] = 0.0f;
            if (d) memset(d, 0, (size_t)V * sizeof *d);
            continue;
        }
        float right = x[target[t]];
        vf high = v_set(-INFINITY), sum = v_zero();
        int i = 0;
        for (; i < V; i += LG_W)
            high = v_max(high, V - i >= LG_W ? v_load(x + i) : v_load_or(x + i, V - i, high));
        float top = v_top(high);
        for (i = 0; i + LG_W <= V; i += LG_W) {
            vf e = v_exp(v_load(x + i) - v_set(top));
            if (d) v_store(d + i, e);
            sum += e;
        }
        float total = v_sum(sum);
        if (i < V) {
            float e[LG_W];
            v_store(e, v_exp(v_load_n(x + i, V - i) - v_set(top)));
            for (int j = 0; j < V - i; j++) total += e[j];
            if (d) v_store_n(d + i, v_load(e), V - i);
        }
        /* A NaN anywhere must show in the loss: top may have passed over it, total has not. */
        loss[t] = logf(total) + (top - right);
        if (!d) continue;
        vf factor = v_set(scale / total);
        for (i = 0; i < V; i += LG_W) give(d, take(d, i, V) * factor, i, V);
        d[target[t]] -= scale;
    }
}

/* One vector of the sum, by the tree over blocks first..first+count-1. */
static vf tree(const float *const *block, int first, int count, size_t i, int n)
{
    if (count > 1)
        return tree(block, first, count / 2, i, n) +
               tree(block, first + count / 2, count / 2, i, n);
    return block[first] ? take(block[first] + i, 0, n) : v_zero();
}

void LG_K(sum_tree)(float *out, const float *const *block, int blocks, size_t n)
{
    size_t i = 0;
    int all = blocks == 8;
    for (int b = 0; b < blocks; b++) all &= block[b] != NULL;
    for (; all && i + LG_W <= n; i += LG_W) {
        vf s[8];
#pragma GCC unroll 8
        for (int b = 0; b < 8; b++) s[b] = v_load(block[b] + i);
        v_store(out + i, ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
    }
    for (; i < n; i += LG_W) {
        int rest = n - i < LG_W ? (int)(n - i) : LG_W;
        give(out + i, tree(block, 0, blocks, i, rest), 0, rest);
    }
}

double LG_K(sum_squares)(const float *x, size_t n)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++) sum[j] += (double)x[i + j] * (double)x[i + j];
    for (size_t j = 0; i < n; i++, j++) sum[j] += (double)x[i] * (double)x[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

void LG_K(adamw)(float *p, float *m, float *v, const float *g, size_t n, float lr, float decay,
                 float beta1, float beta2, float eps, float bias_correction1,
                 float bias_correction2)
{
    vf b1 = v_set(beta1), b2 = v_set(beta2), c1 = v_set(1.0f - beta1), c2 = v_set(1.0f - beta2);
    /* A moment that fades would end as a subnormal number, on which many CPUs are a hundred times slower. */
    vf tiny = v_set(FLT_MIN);
    vf keep = v_set(1.0f - lr * decay), rate = v_set(lr / bias_correction1),
       root = v_set(1.0f / bias_correction2);
    for (size_t i = 0; i < n; i += LG_W) {
        int rest = n - i < LG_W ? (int)(n - i) : LG_W;
        vf gi = take(g + i, 0, rest);
        vf mi = b1 * take(m + i, 0, rest) + c1 * gi;
        vf vi_ = b2 * take(v + i, 0, rest) + c2 * gi * gi;
        mi = (vf)((vi)mi & ~(vi)(v_max(mi, -mi) < tiny));
        vi_ = (vf)((vi)vi_ & ~(vi)(vi_ < tiny));
        vf step = rate * mi / (v_sqrt(vi_ * root) + v_set(eps));
        give(m + i, mi, 0, rest);
        give(v + i, vi_, 0, rest);
        give(p + i, take(p + i, 0, rest) * keep - step, 0, rest);
    }
}

void LG_K(scale)(float *x, float a, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] *= a;
}

void LG_K(add)(float *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] += x[i];
}
