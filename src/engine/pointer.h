/* pointer.h: the head that finds an earlier token of the sequence, whatever the span of the
 * layers: for an ID that is not a step away (docs/MATH.md). */
#ifndef LG_ENGINE_POINTER_H
#define LG_ENGINE_POINTER_H

#include "model.h"

/* The tokens of a sequence that a query may point at: 0..n-1, the query's own the last. */
struct lg__pointer_keys {
    const float *key;   /* [n, C] */
    const int32_t *ids; /* [n] at the pointer's level; a token without one is not a candidate */
    int n;
};

/* s[n] = scores of the query q[C]; -inf where there is no candidate. carried is the latest ID
 * that the query's sequence had, or LG_ABSENT. */
void lg__pointer_scores(const struct lg_model *m, const struct lg__pointer *p, float *s,
                        const float *q, const struct lg__pointer_keys *k, int32_t carried);
/* The best candidate's ID, on a tie the latest; LG_ABSENT without any. */
int32_t lg__pointer_best(const float *s, const struct lg__pointer_keys *k);
/* -log of the summed probability of the tokens with the wanted ID; with ds, s becomes scale times
 * the gradient of the scores. */
double lg__pointer_loss(float *s, const struct lg__pointer_keys *k, int32_t wanted, float scale,
                        int gradient);
/* From ds: dq[C] =, dkey[n, C] +=, and the pointer's place in grad. iota: 0, 1, 2, .. */
void lg__pointer_backward(const struct lg_model *m, const struct lg__pointer *p, float *dq,
                          float *dkey, float *grad, float *ds, const float *q,
                          const struct lg__pointer_keys *k, int32_t carried, const int *iota);
/* Once the gradients of a step are summed: a slope at 0 can only rise. */
void lg__pointer_cut(const struct lg_model *m, const struct lg__pointer *p, float *grad);
/* The latest ID among ids[0..at], or LG_ABSENT. */
int32_t lg__carried(const int32_t *ids, int at);

#endif
