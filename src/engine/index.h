/* index.h: the tokens of one sequence by their ID, so that a window finds its keys without
 * looking at the others. Tokens are added in the order of the text. */
#ifndef LG_ENGINE_INDEX_H
#define LG_ENGINE_INDEX_H

#include "base/memory.h"
#include "lengthen.h"

struct lg__index {
    int tokens;  /* added so far */
    int buckets; /* distinct IDs */
    int most;    /* tokens of the fullest bucket */
    int room_tokens;
    unsigned slots;
    struct lg__block next;   /* int [tokens]: the next token with the same ID, or -1 */
    struct lg__block bucket; /* struct lg__bucket [buckets] */
    struct lg__block slot;   /* int [slots], a power of two: ID -> bucket + 1 */
};

/* Forgets all tokens and makes room for n, so that adding them cannot fail. */
int lg__index_reset(struct lg__index *x, int n, lg_error *err);
/* Makes room for n tokens in all, keeping those that are there. */
int lg__index_reserve(struct lg__index *x, int n, lg_error *err);
void lg__index_add(struct lg__index *x, int32_t id);
void lg__index_free(struct lg__index *x);

/* The keys that the token at `place` with ID `id` sees: not later in the text, ID difference
 * from lo to hi, in the order (difference, place). key and turn (difference - lo) have room
 * for lg__index_most(x, lo, hi). Returns their number. */
int lg__index_find(const struct lg__index *x, int *key, int *turn, int place, int32_t id, int lo,
                   int hi);
int lg__index_most(const struct lg__index *x, int lo, int hi);

#endif
