/* work.h: what trainer, evaluator and decoder share: checks of their input against the
 * model, the table of rotations, and arrays from one block. */
#ifndef LG_ENGINE_WORK_H
#define LG_ENGINE_WORK_H

#include "base/memory.h"
#include "model.h"

/* Arrays one after the other in a block, each on its own cache lines. Without a base it only
 * counts: the same calls tell first how large the block must be. */
struct lg__arena {
    float *base;
    size_t used; /* floats */
};

static inline void *lg__arena_take(struct lg__arena *a, size_t count, size_t size)
{
    float *at = a->base ? a->base + a->used : NULL;
    a->used += (count * size + 63) / 64 * 16;
    return at;
}

static inline float *lg__arena_floats(struct lg__arena *a, size_t count)
{
    return lg__arena_take(a, count, sizeof(float));
}

static inline int *lg__arena_ints(struct lg__arena *a, size_t count)
{
    return lg__arena_take(a, count, sizeof(int));
}

/* Every token, ID and target of the batch is one that the model has. */
int lg__check_batch(const struct lg_model *m, const lg_batch *b, lg_error *err);
/* id[l] is the token's ID at level l. */
int lg__check_token(const struct lg_model *m, int32_t token, const int32_t *id, lg_error *err);
/* Whether the row has a loss of any kind. */
int lg__wanted(const lg_batch *b, int row);

/* cos and sin by ID, for IDs below a bound; those above are computed each time. */
struct lg__rotary_table {
    struct lg__block cos, sin;
    int ids;           /* rows that are filled */
    unsigned rotation; /* the model's when they were */
};

/* Fills the table for IDs up to the largest of ids[l][n]. Nothing without absolute rotations
 * (encoding rope, span full). */
int lg__rotary_table_reserve(const struct lg_model *m, struct lg__rotary_table *t,
                             const int32_t *const ids[LG_LEVELS], int n, lg_error *err);
/* Rows of cos and sin [n, R/2] for ids[l][from..from+n-1]. */
void lg__rotary_table_rows(const struct lg_model *m, const struct lg__rotary_table *t, float *cos,
                           float *sin, const int32_t *const ids[LG_LEVELS], int from, int n);
void lg__rotary_table_free(struct lg__rotary_table *t);

/* x[n, C] = the embeddings of the batch's tokens from..from+n-1, and what the encoding adds. */
void lg__embed(const struct lg_model *m, float *x, const int32_t *tokens,
               const int32_t *const ids[LG_LEVELS], int from, int n);

/* Argmaxes that are the target, over n rows of logits [n, V]; targets below 0 do not count. */
int lg__count_right(const float *logits, const int32_t *target, int n, int V);

/* Asked before each part of a prompt: not 0: lg_decoder_start returns, with nothing read. */
typedef int lg__decoder_stop(void *context);
void lg__decoder_stop_at(lg_decoder *d, lg__decoder_stop *stop, void *context);

/* Whether queries and keys are turned by their own IDs before they meet. */
static inline int lg__rotated(const struct lg_model *m)
{
    return m->R > 0 && m->config.span == LG_SPAN_FULL;
}

#endif
