/* attention.h: attention of some queries of one sequence over its keys. */
#ifndef LG_ENGINE_ATTENTION_H
#define LG_ENGINE_ATTENTION_H

#include "index.h"
#include "work.h"

enum {
    LG__QUERY_BLOCK = 24, /* queries of a block: a multiple of every kernel's tile */
    LG__KEY_BLOCK = 128   /* keys of a block */
};

/* The keys of one sequence: row t holds the key [C] and the value [C] of token t. The first
 * `shared` may be those of another sequence that begins alike (forward only). */
struct lg__keys {
    float *kv;
    const int32_t *ids[LG_LEVELS];
    int n;
    float *packed;                   /* span full: blocks of lg__keys_pack, */
    const float *before;             /* but the first shared / 128, which are here */
    const struct lg__places *places; /* span window */
    int shared, gap;                 /* tokens from `shared` on are at row t + gap */
};

/* The keys of some rows' windows, found once and used in every layer, forward and backward: those of
 * row r are rows key[first[r - base]..] of kv, count[r - base] of them (0: not listed), with their
 * rows of rotations in `turn`. Where there is no room for all, those of earlier rows are forgotten. */
struct lg__lists {
    int base, rows, used, room;
    int *first, *count; /* [rows] */
    int *key, *turn;    /* [room] */
};
enum { LG__MOST_LISTED = 1 << 20 }; /* room for more is not asked for */

void lg__lists_take(struct lg__lists *x, struct lg__arena *to, int rows, int room);
void lg__lists_forget(struct lg__lists *x);

/* Queries q[n, C] at places `at` of the sequence, in rising order. */
struct lg__queries {
    const float *q;
    const int *at;
    int n;
    struct lg__lists *lists; /* span window */
    int row;                 /* place p is row p + row there */
};

/* Floats of one packed block of keys, all heads. */
size_t lg__keys_block_size(const struct lg_model *m);
/* Packs one block of n <= 128 keys, kv[n, 2C]. */
void lg__keys_pack(const struct lg_model *m, float *packed, const float *kv, int n);

/* Floats of scratch for keys up to n and, with span window, up to `most` in a window; the room of
 * lists must be that, too. */
size_t lg__attention_scratch(const struct lg_model *m, int n, int most, int backward);

/* out[n, C]; lse[n, H] is kept for the backward pass (NULL: not wanted). */
void lg__attention_forward(const struct lg_model *m, const struct lg__layer *l, float *out,
                           float *lse, const struct lg__keys *keys, const struct lg__queries *q,
                           float *scratch);

/* dq[n, C] =, dkv[keys, 2C] +=, and the layer's own parameters in grad (laid out as params)
 * +=. out and lse as the forward pass left them. */
void lg__attention_backward(const struct lg_model *m, const struct lg__layer *l, float *dq,
                            float *dkv, float *grad, const float *dout, const float *out,
                            const float *lse, const struct lg__keys *keys,
                            const struct lg__queries *q, float *scratch);

#endif
