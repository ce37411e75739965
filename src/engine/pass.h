/* pass.h: forward and backward of one shard (some whole sequences of a batch), on one
 * thread, into one gradient block. The forward pass is walk.h's. */
#ifndef LG_ENGINE_PASS_H
#define LG_ENGINE_PASS_H

#include "pointer.h"
#include "walk.h"

/* Sequences first..first+count-1 of the batch. */
struct lg__shard {
    int first, count;
    int rows;    /* of all its sequences */
    int wanted;  /* rows with a token or an ID loss */
    int longest; /* rows of its longest sequence */
    int pairs;   /* of query and key to make room for, span window */
};

/* Sums over rows; how many are right. */
struct lg__losses {
    double loss, id_loss[LG_LEVELS], point_loss[LG_LEVELS];
    int right, id_right[LG_LEVELS], point_right[LG_LEVELS];
    int first_rows; /* of the first layer */
};

/* Weight of one row's loss in the whole, of each kind. */
struct lg__scales {
    float token, id[LG_LEVELS], point[LG_LEVELS];
};

/* What a thread works in. */
struct lg__pass {
    struct lg__block arena;    /* floats, taken anew for each shard */
    struct lg__block acts;     /* struct lg__acts [layers] */
    struct lg__places *places; /* one per sequence of a shard, span window */
    int room;                  /* of them */
    struct lg__block slot;     /* int [vocab], all -1 */
    float *inputs;             /* [rows of the batch, C] where the gradient of what enters the first
                                  layer goes; NULL: nowhere */
};

struct lg__shard lg__shard_make(const lg_batch *b, int first, int count);

/* Room for the shard; called before the step's work starts. */
int lg__pass_reserve(const struct lg_model *m, struct lg__pass *p, const struct lg__shard *s,
                     lg_error *err);
void lg__pass_free(struct lg__pass *p);

/* Adds the shard's gradients to grad (overwrites its matrices if `first`) and its sums to
 * losses. */
void lg__pass_run(const struct lg_model *m, struct lg__pass *p,
                  const struct lg__rotary_table *turns, const lg_batch *b,
                  const struct lg__shard *s, float *grad, int first,
                  const struct lg__scales *scales, struct lg__losses *losses);

#endif
