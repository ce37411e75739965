/* match.c: z(t, j) = 64 (q_t . k_j / sqrt(C) + b), without any distance. The factor lets small weights
 * make a sharp choice, as the pointer's does. Each key says by itself whether it matches, so that
 * neither the number of keys nor how far away they lie changes what is found. */
#include "match.h"

#include <math.h>

enum { SHARP = 64 };

static float content_scale(const struct lg_model *m)
{
    return (float)(SHARP / sqrt((double)m->config.width));
}

int lg__match_is_key(const lg_model_config *c, int32_t token, int32_t id)
{
    if (id == LG_ABSENT) return 0;
    for (int i = 0; i < c->key_tokens; i++)
        if (c->key_token[i] == token) return 1;
    return !c->key_tokens;
}

void lg__match_list(const lg_model_config *c, int32_t *out, const int32_t *tokens,
                    const int32_t *ids, int prompt, int n)
{
    for (int t = 0; t < n; t++)
        out[t] = t < prompt && lg__match_is_key(c, tokens[t], ids[t]) ? ids[t] : LG_ABSENT;
}

int lg__match_prompt(const lg_batch *b, int start, int end)
{
    for (int t = start; t < end; t++) {
        if (b->targets[t] >= 0) return t - start + 1;
        for (int l = 0; l < b->levels; l++)
            if (b->id_targets[l][t] >= 0) return t - start + 1;
    }
    return end - start;
}

void lg__match_scores(const struct lg_model *m, const struct lg__pointer *p, float *z,
                      const float *q, const float *key, int n)
{
    float bias = SHARP * *lg__at(m, p->place);
    m->k->dot_rows(z, q, 0, key, (size_t)m->config.width, n, m->config.width);
    m->k->scale(z, content_scale(m), (size_t)n);
    for (int j = 0; j < n; j++) z[j] += bias;
}

/* Whether the key may be taken; and whether its ID comes before `best`. */
static int in_order(lg_match order, int32_t id, int32_t carried)
{
    if (id == LG_ABSENT) return 0;
    if (order == LG_MATCH_ANY || carried == LG_ABSENT) return 1;
    return order == LG_MATCH_NEXT ? id > carried : id < carried;
}

static int nearer(lg_match order, int32_t id, int32_t best)
{
    return best == LG_ABSENT || order == LG_MATCH_ANY ||
           (order == LG_MATCH_NEXT ? id < best : id > best);
}

int32_t lg__match_find(lg_match order, const float *z, const struct lg__match_keys *k,
                       int32_t carried)
{
    int32_t best = LG_ABSENT;
    for (int j = 0; j < k->n; j++)
        if (z[j] > 0 && in_order(order, k->ids[j], carried) && nearer(order, k->ids[j], best))
            best = k->ids[j];
    return best;
}

/* log(1 + exp x). */
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double sigma(double x) { return 1 / (1 + exp(-x)); }

double lg__match_loss(float *z, const struct lg__match_keys *k, int32_t code, float scale,
                      int gradient)
{
    double loss = 0, right = 0;
    for (int j = 0; j < k->n; j++) right += k->ids[j] != LG_ABSENT && k->codes[j] == code;
    for (int j = 0; j < k->n; j++) {
        double x = (double)z[j], d = 0;
        if (k->ids[j] != LG_ABSENT && k->codes[j] == code) {
            loss += softplus(-x) / right;
            d = -sigma(-x) / right;
        } else if (k->ids[j] != LG_ABSENT) {
            loss += softplus(x);
            d = sigma(x);
        }
        if (gradient) z[j] = scale * (float)d;
    }
    return loss;
}

/* Whether key j is asked before those with the wanted ID; in the order `any`, later ones are. */
static int asked_before(lg_match order, const struct lg__match_keys *k, int j, int32_t wanted,
                        int last)
{
    if (order == LG_MATCH_ANY) return j > last && k->ids[j] != wanted;
    return k->ids[j] != wanted && nearer(order, k->ids[j], wanted);
}

double lg__match_stick(float *z, const struct lg__match_keys *k, lg_match order, int32_t carried,
                       int32_t wanted, float scale, int gradient)
{
    int last = -1;
    double loss = 0, none = 0; /* -log of the chance that no key with the wanted ID matches */
    for (int j = 0; j < k->n; j++) {
        if (k->ids[j] != wanted || !in_order(order, k->ids[j], carried)) continue;
        last = j;
        none += softplus((double)z[j]);
    }
    double found = -expm1(-none); /* the chance that one does */
    if (found < 1e-300) found = 1e-300;
    loss = -log(found);
    for (int j = 0; j < k->n; j++) {
        double x = (double)z[j], d = 0;
        if (in_order(order, k->ids[j], carried)) {
            if (k->ids[j] == wanted)
                d = -sigma(x) * exp(-none) / found;
            else if (asked_before(order, k, j, wanted, last)) {
                loss += softplus(x);
                d = sigma(x);
            }
        }
        if (gradient) z[j] = scale * (float)d;
    }
    return loss;
}

void lg__match_backward(const struct lg_model *m, const struct lg__pointer *p, float *dq,
                        float *dkey, float *grad, float *dz, const float *q, const float *key,
                        int n, const int *iota)
{
    size_t C = (size_t)m->config.width;
    const int first = 0;
    double db = 0;
    if (!n) return;
    for (int j = 0; j < n; j++) db += (double)dz[j];
    grad[p->place] += (float)(SHARP * db);
    m->k->scale(dz, content_scale(m), (size_t)n);
    m->k->window_mix(dq, dz, key, C, &first, &n, iota, 1, 1, (int)C);
    m->k->window_mix_backward(NULL, dkey, q, dz, key, C, &first, &n, iota, 1, n, 1, (int)C);
}
