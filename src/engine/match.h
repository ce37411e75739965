/* match.h: the head that finds the key which it asks for, whatever the length (docs/MATH.md, 16):
 *
 *   z(t, j) = 64 (q_t . k_j / sqrt(C) + b)        j a key token of the prompt; it matches if z > 0
 *
 * There is no distance in it: which of the keys that match is taken follows from their IDs. Its
 * parameters are those of a pointer (model.h), of which `place` is b alone. */
#ifndef LG_ENGINE_MATCH_H
#define LG_ENGINE_MATCH_H

#include "model.h"

/* Keys [n, C] with their IDs and numbers (LG_NONE: not known). An ID of LG_ABSENT: it is none. */
struct lg__match_keys {
    const float *key;
    const int32_t *ids, *codes;
    int n;
};

/* Whether a token of the prompt with this ID is a key. */
int lg__match_is_key(const lg_model_config *c, int32_t token, int32_t id);
/* out[t] = ids[t] where token t of n is a key: one of the first `prompt`; else LG_ABSENT. */
void lg__match_list(const lg_model_config *c, int32_t *out, const int32_t *tokens,
                    const int32_t *ids, int prompt, int n);
/* How many of a sequence's rows are its prompt: those up to the first with a loss. */
int lg__match_prompt(const lg_batch *b, int start, int end);

/* z[n] of the query q[C]. */
void lg__match_scores(const struct lg_model *m, const struct lg__pointer *p, float *z,
                      const float *q, const float *key, int n);
/* The ID of the key that is taken; LG_ABSENT: none matches. */
int32_t lg__match_find(lg_match order, const float *z, const struct lg__match_keys *k,
                       int32_t carried);
/* The loss of one query; with gradient, z becomes scale times its gradient. By numbers: the mean of
 * log(1 + exp(-z)) over the keys with number `code` and the sum of log(1 + exp(z)) over the others. */
double lg__match_loss(float *z, const struct lg__match_keys *k, int32_t code, float scale,
                      int gradient);
/* By the ID alone: -log of the chance that `wanted` is taken, where each key matches with chance
 * sigma(z), independently: no nearer one, and one at least that has this ID. */
double lg__match_stick(float *z, const struct lg__match_keys *k, lg_match order, int32_t carried,
                       int32_t wanted, float scale, int gradient);
/* From dz: dq[C] =, dkey[n, C] +=, and b's place in grad. iota: 0, 1, 2, .. */
void lg__match_backward(const struct lg_model *m, const struct lg__pointer *p, float *dq,
                        float *dkey, float *grad, float *dz, const float *q, const float *key,
                        int n, const int *iota);

/* Of the evaluator's last run: the queries [rows of its result, C] and keys [rows of the batch, C]
 * of a level; NULL without a pointer or match head. */
const float *lg__evaluator_queries(const lg_evaluator *e, int level);
const float *lg__evaluator_keys(const lg_evaluator *e, int level);

#endif
