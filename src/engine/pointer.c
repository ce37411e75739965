/* pointer.c: score(t, j) = 64 (q_t . k_j / sqrt(C) + u(ID_j - ID_t)), softmax over j <= t.
 *
 * u(D) is b0 at 0, -slope D/(1+D) above, b - slope |D|/(1+|D|) below: what "the next one after
 * me" needs. The distance is bent so that it never outweighs what the keys say: with a slope on D
 * itself, a right key farther away than those of training loses to a wrong one nearby. The slopes
 * are at least 0: the parameter is cut there, and its whole gradient too unless it would raise it. The
 * factor lets small weights make a sharp choice, so that it is learned in few steps. The choice is
 * hard when decoding, so no softmax is spread over a longer context. */
#include "pointer.h"

#include <math.h>
#include <string.h>

enum { AT_ZERO, SLOPE_ABOVE, BELOW, SLOPE_BELOW };
enum { SHARP = 64 };

int32_t lg__carried(const int32_t *ids, int at)
{
    while (at > 0 && ids[at] == LG_ABSENT) at--;
    return ids[at];
}

static float at_least_zero(float x) { return x > 0 ? x : 0; }

/* D / (1 + |D|) of the ID difference: -1 to 1. */
static float bent(int32_t id, int32_t carried)
{
    double d = (double)((int64_t)id - carried);
    return (float)(d / (1 + fabs(d)));
}

static float content_scale(const struct lg_model *m)
{
    return (float)(SHARP / sqrt((double)m->config.width));
}

void lg__pointer_scores(const struct lg_model *m, const struct lg__pointer *p, float *s,
                        const float *q, const struct lg__pointer_keys *k, int32_t carried)
{
    const float *u = lg__at(m, p->place);
    float above = at_least_zero(u[SLOPE_ABOVE]), below = at_least_zero(u[SLOPE_BELOW]);
    m->k->dot_rows(s, q, 0, k->key, (size_t)m->config.width, k->n, m->config.width);
    m->k->scale(s, content_scale(m), (size_t)k->n);
    for (int j = 0; j < k->n; j++) {
        if (k->ids[j] == LG_ABSENT) {
            s[j] = -INFINITY;
            continue;
        }
        if (carried == LG_ABSENT) continue;
        float d = bent(k->ids[j], carried);
        s[j] += SHARP * (d > 0 ? -above * d : d < 0 ? u[BELOW] + below * d : u[AT_ZERO]);
    }
}

int32_t lg__pointer_best(const float *s, const struct lg__pointer_keys *k)
{
    int best = -1;
    for (int j = 0; j < k->n; j++)
        if (k->ids[j] != LG_ABSENT && (best < 0 || s[j] >= s[best])) best = j;
    return best < 0 ? LG_ABSENT : k->ids[best];
}

double lg__pointer_loss(float *s, const struct lg__pointer_keys *k, int32_t wanted, float scale,
                        int gradient)
{
    float top = -INFINITY, top_right = -INFINITY;
    double sum = 0, right = 0;
    for (int j = 0; j < k->n; j++) {
        if (s[j] > top || s[j] != s[j]) top = s[j];
        if (k->ids[j] == wanted && s[j] > top_right) top_right = s[j];
    }
    for (int j = 0; j < k->n; j++) {
        sum += exp((double)(s[j] - top));
        if (k->ids[j] == wanted) right += exp((double)(s[j] - top_right));
    }
    double loss = (double)top + log(sum) - (double)top_right - log(right);
    if (!gradient) return loss;
    for (int j = 0; j < k->n; j++) {
        double d = exp((double)(s[j] - top)) / sum;
        if (k->ids[j] == wanted) d -= exp((double)(s[j] - top_right)) / right;
        s[j] = scale * (float)d;
    }
    return loss;
}

void lg__pointer_backward(const struct lg_model *m, const struct lg__pointer *p, float *dq,
                          float *dkey, float *grad, float *ds, const float *q,
                          const struct lg__pointer_keys *k, int32_t carried, const int *iota)
{
    size_t C = (size_t)m->config.width;
    const int first = 0;
    double du[4] = {0};
    for (int j = 0; j < k->n && carried != LG_ABSENT; j++) {
        if (k->ids[j] == LG_ABSENT) continue;
        double d = (double)bent(k->ids[j], carried), g = SHARP * (double)ds[j];
        if (d == 0) du[AT_ZERO] += g;
        if (d < 0) du[BELOW] += g;
        if (d > 0) du[SLOPE_ABOVE] -= d * g;
        if (d < 0) du[SLOPE_BELOW] += d * g;
    }
    for (int i = 0; i < 4; i++) grad[p->place + (size_t)i] += (float)du[i];
    m->k->scale(ds, content_scale(m), (size_t)k->n);
    m->k->window_mix(dq, ds, k->key, C, &first, &k->n, iota, 1, 1, (int)C);
    m->k->window_mix_backward(NULL, dkey, q, ds, k->key, C, &first, &k->n, iota, 1, k->n, 1,
                              (int)C);
}

void lg__pointer_cut(const struct lg_model *m, const struct lg__pointer *p, float *grad)
{
    static const int slopes[] = {SLOPE_ABOVE, SLOPE_BELOW};
    for (int i = 0; i < 2; i++) {
        size_t at = p->place + (size_t)slopes[i];
        if (m->params[at] <= 0 && grad[at] > 0) grad[at] = 0;
    }
}
