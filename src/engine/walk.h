/* walk.h: the one forward pass over the layers, on a view of rows: which rows are computed, where
 * their keys and values lie, what is kept. Three drivers make views. A trainer's has the rows of a
 * shard and keeps what the backward pass needs (pass.c). An evaluator's has a packed batch, of which
 * each thread takes a slice at a time, and sequences may share the keys of the first. A decoder's
 * has the new rows of some sequences, whose keys join those of a cache. */
#ifndef LG_ENGINE_WALK_H
#define LG_ENGINE_WALK_H

#include "attention.h"
#include "base/pool.h"
#include "layer.h"

/* Of a slice where nothing is kept: a multiple of the query block; few enough for the second-level
 * cache. */
enum { LG__SLICE_ROWS = 144 };

/* The view's rows row..end-1, next to each other in one sequence, the first at place `at`. */
struct lg__strand {
    int row, end, at;
};

/* Rows r0..r1-1, which one thread takes through a layer: whole strands, or a piece of a long one. */
struct lg__slice {
    int r0, r1;
    int strand;         /* the one that r0 is in */
    int query, queries; /* its first query in the last layer, and how many */
};

struct lg__view {
    const struct lg_model *m;
    const void *owner;
    int rows;
    const int32_t *tokens, *ids[LG_LEVELS]; /* [rows] */
    const int *at;                          /* [rows] place in the sequence */
    /* Rows that go through the whole last layer (all others give it keys alone), rising, and their
     * places; NULL: every row. */
    const int *query, *query_at;
    const struct lg__strand *strand;
    const struct lg__slice *slice;
    int strands, slices;
    const struct lg__rotary_table *turns;

    /* Where the keys of strand s lie in layer l. */
    void (*keys)(const struct lg__view *v, int l, int s, struct lg__keys *k);
    const int *block_at; /* span full: [strands + 1] first key block of each, packed by all threads
                            before the attention; NULL: a strand's are packed when it is reached */

    int kept;                /* for the backward pass; then there is one slice */
    struct lg__acts *acts;   /* kept: one per layer, else one per thread */
    float *x, *kv;           /* not kept: [rows, C] the stream; [rows, 2C] of one layer */
    float **scratch;         /* one per thread: lg__attention_scratch */
    struct lg__lists *lists; /* span window: one per thread, for its slice; kept, for all rows */

    int kinds;            /* of tokens, for the first layer (layer.h); 0: it is run row by row */
    const int32_t *kind;  /* [kinds] */
    const int *kind_of;   /* [rows] */
    struct lg__acts made; /* of the kinds: kept, all; else kv, q, out */

    /* What leaves, NULL where it is not wanted: the final rows (always there in the slice's first
     * rows of x if nothing is kept), logits, the pointers' queries [queries, ..]; keys [rows, C]. */
    float *final, *mean, *rstd;
    float *logits, *id_logits[LG_LEVELS];
    float *pointer_query[LG_LEVELS], *pointer_key[LG_LEVELS];

    int layer; /* that is running */
};

/* All layers and the heads. pool may be NULL for one thread. */
void lg__walk(struct lg__view *v, struct lg__pool *pool);

/* Whether layer l has queries of some rows alone. */
int lg__view_subset(const struct lg__view *v, int l);
/* Keys and queries of strand s in layer l, the queries counted from `from` among n of a slice, at
 * q + from C. Returns where the next strand's begin. */
int lg__view_meet(const struct lg__view *v, const struct lg__slice *c, int l, int s, int from,
                  int n, const float *q, struct lg__keys *keys, struct lg__queries *queries);

#endif
