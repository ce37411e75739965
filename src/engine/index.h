/* index.h: the tokens of one sequence by their IDs, so that a window finds its keys without
 * looking at the others. Tokens are added in the order of the text. */
#ifndef LG_ENGINE_INDEX_H
#define LG_ENGINE_INDEX_H

#include "base/memory.h"
#include "lengthen.h"

/* Tokens by one number each. */
struct lg__index {
    int tokens;  /* added so far */
    int buckets; /* distinct IDs */
    int most;    /* tokens of the fullest bucket */
    int room_tokens;
    unsigned slots;
    struct lg__block entry;  /* struct entry [tokens]: token, and the next with the same ID */
    struct lg__block bucket; /* struct lg__bucket [buckets] */
    struct lg__block slot;   /* int [slots], a power of two: ID -> bucket + 1 */
};

/* Forgets all tokens and makes room for n, so that adding them cannot fail. */
int lg__index_reset(struct lg__index *x, int n, lg_error *err);
/* Makes room for n tokens in all, keeping those that are there. */
int lg__index_reserve(struct lg__index *x, int n, lg_error *err);
/* Tokens come in rising order. */
void lg__index_add(struct lg__index *x, int32_t id, int token);
void lg__index_free(struct lg__index *x);

/* Tokens by their IDs at every level. */
enum { LG__INDEXES = (1 << LG_LEVELS) - 1 };

struct lg__places {
    int levels, tokens;
    struct lg__index index[LG__INDEXES]; /* by level and the lower levels that a token has */
};

/* Makes (*all)[*room] hold n of them. */
int lg__places_room(struct lg__places **all, int *room, int n, lg_error *err);
int lg__places_reset(struct lg__places *x, int levels, int n, lg_error *err);
int lg__places_reserve(struct lg__places *x, int levels, int n, lg_error *err);
/* Adds the next token, whose ID at level l is ids[l][place]. */
void lg__places_add(struct lg__places *x, const int32_t *const ids[LG_LEVELS], int place);
void lg__places_free(struct lg__places *x);

/* The keys that the token at `place` sees: not later in the text, with an ID at some level where
 * it has one too, and within the window at every such level; a token without any ID sees itself.
 * ids[l] are those of the whole sequence. In the order (lowest shared level, lower levels that the
 * key has, difference there, place). turn is the row of the differences of all levels among
 * lg__rotary_rows: level after level, a level that is not shared counting as one past the window's
 * end. key and turn have room for lg__places_most(x, c, 0). Returns their number. */
int lg__places_find(const struct lg__places *x, int *key, int *turn, int place,
                    const int32_t *const ids[LG_LEVELS], const lg_model_config *c);
/* No query sees more keys than this, once `more` tokens are added. */
int lg__places_most(const struct lg__places *x, const lg_model_config *c, int more);
int64_t lg__rotary_rows(const lg_model_config *c);
/* The differences that this row is of, and the levels that have one. */
void lg__rotary_row(const lg_model_config *c, int64_t row, int64_t d[LG_LEVELS],
                    int shared[LG_LEVELS]);

#endif
