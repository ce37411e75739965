/* ranks.h: a training step over the ranks of a job (base/comm.h). Rank r of R has the groups r G/R .. (r+1) G/R - 1: a
 * whole subtree of the sum over groups. The subtrees' sums are added by the upper levels of the same tree: in round k
 * with the rank whose number differs in bit k. A sum of two floats does not depend on their order, so both have the bits
 * of one process. In each round the two share the parameters between them (recursive halving); in the end each rank has
 * the sum of its own part, updates the weights of that part, and the parts go back by the same rounds.
 *
 * The parameters are cut into a few segments, so that those that the backward pass has done with can be on their way
 * while it goes on. */
#ifndef LG_ENGINE_RANKS_H
#define LG_ENGINE_RANKS_H

#include "base/comm.h"
#include "base/memory.h"
#include "pass.h"

enum { LG__CHUNK = 1 << 15, LG__SEGMENTS = 8 }; /* parameters that a thread takes at a time */

struct lg__segment {
    size_t from, to; /* chunks of it, .. */
    size_t lo, hi;   /* .. and of this rank's part of it */
};

/* Seconds of a step's parts in this rank. */
struct lg__parts {
    double groups, sum, update, pack;
};

/* Of a trainer. Alone (comm NULL) every call returns at once, and all is this rank's. */
struct lg__ranks {
    lg_comm *comm;
    int first, groups; /* of this rank, of all_groups */
    int all_groups;
    size_t size, chunks; /* parameters, and chunks of them */
    struct lg__segment segment[LG__SEGMENTS];
    int segments;
    float *in; /* room for what comes */
    struct lg__block records;
    size_t record;          /* bytes of a rank's */
    double seconds;         /* that this step has waited for others, and moved data */
    struct lg__parts parts; /* of the last step */
    int asks, asked;        /* this rank wants to stop; some rank does */
};

/* What the groups of a step gave, and of what batch: to be told to all. */
struct lg__ranks_word {
    struct lg__losses *losses; /* [all_groups] */
    unsigned char *used;       /* [all_groups] */
    double *squares;           /* [chunks] */
    uint64_t batch;            /* a checksum: that all ranks have the same */
};

int lg__ranks_open(struct lg__ranks *r, lg_comm *c, int groups, size_t size, lg_error *err);
void lg__ranks_close(struct lg__ranks *r);
/* Whether a chunk is of this rank's part. */
int lg__ranks_has(const struct lg__ranks *r, size_t chunk);
/* grad holds the sum of this rank's groups in this segment: afterwards, in its part, that of all. */
int lg__ranks_sum(struct lg__ranks *r, int segment, const struct lg__kernels *k, float *grad,
                  lg_error *err);
int lg__ranks_tell(struct lg__ranks *r, struct lg__ranks_word *w, lg_error *err);
/* Swaps n floats with another rank, as a step does; for measuring. */
int lg__ranks_swap(struct lg__ranks *r, int with, const float *out, float *in, size_t n,
                   const struct lg__kernels *add, lg_error *err);
/* Each rank's part of x to all. */
int lg__ranks_join(struct lg__ranks *r, float *x, lg_error *err);

/* A trainer whose groups are dealt to the ranks; c NULL: alone. All ranks call with the same model, options and
 * batches, and get the same results. */
lg_trainer *lg__trainer_new(lg_model *m, const lg_train_options *o, lg_comm *c, lg_error *err);
struct lg__ranks *lg__trainer_ranks(lg_trainer *t);
/* Both moments whole in every rank, for a checkpoint. */
int lg__trainer_join(lg_trainer *t, lg_error *err);
/* Weights, moments and steps of rank 0 to all. */
int lg__trainer_spread(lg_trainer *t, lg_error *err);

#endif
