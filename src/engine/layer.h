/* layer.h: the parts of a layer, on any set of rows; walk.c puts them together.
 *
 *   keys:  h1 = norm1(x), kv = h1 Wkv, keys turned
 *   query: q = h1q Wq, queries turned         (rows of the queries alone: xq, h1q)
 *   ...    attention (attention.h)
 *   after: out = xq + att Wout + ff(norm2(xq or, sequential, x2 = xq + att Wout)) */
#ifndef LG_ENGINE_LAYER_H
#define LG_ENGINE_LAYER_H

#include "work.h"

/* What one layer makes of M rows, of which Mq are queries. */
struct lg__acts {
    int M, Mq;
    float *x;                  /* [M, C] enters */
    float *h1, *mean1, *rstd1; /* [M, C], [M] */
    float *kv;                 /* [M, 2C] */
    float *xq, *h1q;           /* [Mq, C]: rows of x, h1; the same pointers if all are queries */
    float *q;                  /* [Mq, C] */
    float *att, *lse;          /* [Mq, C], [Mq, H] */
    float *x2;                 /* [Mq, C] sequential only */
    float *h2, *mean2, *rstd2; /* [Mq, C], [Mq] */
    float *up, *act;           /* [Mq, U], [Mq, F] */
    float *out;                /* [Mq, C] leaves */
    float *cos, *sin;          /* [M, R/2]; NULL: nothing is turned here */
    float *cosq, *sinq;        /* [Mq, R/2] */
    const float *fed; /* parallel: what the feed-forward adds, row kind[i] to row i; NULL: */
    const int *kind;  /* it is run */
};

/* Takes the arrays for M rows, of which Mq are queries: all that the backward pass needs (then x
 * is the caller's), or, not kept, one place for what is not needed together (then also kv, and
 * xq = x2 = out holds queries that are not all rows). */
void lg__acts_take(const struct lg_model *m, struct lg__arena *to, struct lg__acts *a, int M,
                   int Mq, int kept);

void lg__norm_forward(const struct lg_model *m, struct lg__norm_at n, float *out, float *mean,
                      float *rstd, const float *x, int T);
void lg__linear_forward(const struct lg_model *m, const struct lg__linear *l, float *y,
                        const float *x, int T, int add);

void lg__layer_keys(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a);
void lg__layer_query(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a);
void lg__layer_after(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a);
/* Its last part alone: out = ff(h2), or += if add. */
void lg__layer_feed(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a,
                    int add);
/* Turns the heads of each of T rows of x (rows ld apart), sign -1: back; nothing without cos. */
void lg__layer_rotate(const struct lg_model *m, float *x, size_t ld, const float *cos,
                      const float *sin, int T, int sign);

/* Gradients. grad is laid out as params; `first` says that it holds nothing yet in the
 * matrices (they are overwritten; vectors are always added to). */
struct lg__backward {
    float *grad;
    int first;
    float *d;          /* [Mq, C] in: gradient of out; after: of xq */
    float *dh;         /* [M, C] */
    float *dup, *dact; /* [Mq, U], [Mq, F] */
    float *datt, *dq;  /* [Mq, C] */
    float *dkv;        /* [M, 2C] */
    float *tn;         /* scratch of gemm_tn */
    float **dpointer;  /* last layer: of the pointers' keys, [M, C] a level; else NULL */
};

void lg__norm_backward(const struct lg_model *m, struct lg__norm_at n, float *grad, float *dx,
                       const float *dout, const float *x, const float *mean, const float *rstd,
                       int T);
/* dx = dy W (+ dx if add; dx may be NULL), and the gradients of W and b. */
void lg__linear_backward(const struct lg_model *m, const struct lg__linear *l, float *dx,
                         const float *dy, const float *x, const struct lg__backward *b, int T,
                         int add);
/* From d, the gradient of ff(h2), to that of h2, in dh. */
void lg__layer_feed_backward(const struct lg_model *m, const struct lg__layer *l,
                             const struct lg__acts *a, const struct lg__backward *b);
/* From d to datt (b->d becomes the gradient of xq, but for what comes through h1q). */
void lg__layer_after_backward(const struct lg_model *m, const struct lg__layer *l,
                              const struct lg__acts *a, const struct lg__backward *b);
/* From dq and dkv to dx [M, C], which on entry holds what came past the attention;
 * rows[Mq] places the queries among the M rows (NULL: all). */
void lg__layer_keys_backward(const struct lg_model *m, const struct lg__layer *l,
                             const struct lg__acts *a, const struct lg__backward *b, float *dx,
                             const int *rows);
/* Floats that b->tn needs for shards of T rows. */
size_t lg__layer_tn_scratch(const struct lg_model *m, int T);

/* ---- The first layer by kinds of tokens. Where the encoding adds nothing to what enters, norms,
 * queries, keys and values (before they are turned) and, in parallel with the attention, the
 * feed-forward are the same wherever a token stands. So they are made once for each kind of token
 * among some rows, and given to its rows: bit by bit what each row would have made. Backwards,
 * gradients of the rows of a kind are added up first. */

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
