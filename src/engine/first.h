/* first.h: what the first layer makes of a token by itself. Where the encoding adds nothing to what
 * enters, norms, queries, keys and values (before they are turned) and, in parallel with the
 * attention, the feed-forward are the same wherever a token stands. So they are made once for each
 * kind of token among some rows, and given to its rows: bit by bit what each row would have made.
 * Backwards, gradients of the rows of a kind are added up first. */
#ifndef LG_ENGINE_FIRST_H
#define LG_ENGINE_FIRST_H

#include "layer.h"

/* Whether the first layer of the model is such, and not the last. */
int lg__by_kind(const struct lg_model *m);

/* Lists the kinds of n tokens in the order in which they come, and of[i], which of them token i is.
 * Returns their number. slot [vocab] is -1 throughout, before and after. */
int lg__kinds_list(int *slot, const int32_t *tokens, int n, int32_t *kind, int *of);

/* Whether so few kinds among so many rows make up for the copying. */
static inline int lg__kinds_pay(int kinds, int rows) { return kinds <= rows / 4 * 3; }

/* From x, one row a kind: h1, kv and q, not turned; in parallel also h2, up, act and, into out, what
 * the feed-forward adds. */
void lg__kinds_make(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a);
/* From the gradients of what was made, added up by kind: b->d, of x past the attention and of what
 * the feed-forward adds, b->dq and b->dkv, to that of x, in b->d. */
void lg__kinds_backward(const struct lg_model *m, const struct lg__layer *l,
                        const struct lg__acts *a, const struct lg__backward *b);

/* to[i] = from[of[i]] over n rows of `wide` floats. */
void lg__kinds_give(float *to, const float *from, const int *of, int n, size_t wide);
/* to[k], k < count, is the sum over the rows i with of[i] = k, in their order. */
void lg__kinds_sum(const struct lg_model *m, float *to, int count, const float *from, const int *of,
                   int n, size_t wide);

#endif
