/* unfold.h: the contexts of any texts of a window-span model, numbered. What layer k makes of a token is
 * a function of what layer k - 1 made of that token and of the keys that it sees, with their ID
 * differences and in the order in which attention sums them:
 *
 *     c_0(t) = the token,  c_k(t) = (c_{k-1}(t), [(differences, c_{k-1}(j)) for each key j of t])
 *
 * Equal ones get one number, so that c_N(t) of N layers is the context of the prediction after t: two
 * positions with the same number have the same logits, bit by bit (docs/CERTIFICATE.md). Time and memory
 * grow with the tokens of a text and the keys that one sees, not with the square of its length. */
#ifndef LG_CERTIFY_UNFOLD_H
#define LG_CERTIFY_UNFOLD_H

#include "base/memory.h"
#include "engine/index.h"
#include "runs/run.h"

/* Strings of numbers, each once. */
struct lg__strings {
    struct lg__block list, keys, slots; /* struct; int32_t; uint32_t, open */
    int count, slot_bits;
    size_t used; /* numbers in keys */
};

struct lg__unfold {
    lg_model_config model;
    int depth;                  /* layers that a text goes through */
    struct lg__strings *layer;  /* [depth] */
    struct lg__places places;   /* of the text that is unfolded */
    struct lg__block number;    /* int32_t [depth, n]: c_0 .. of each token */
    struct lg__block key, turn; /* int: what one token sees */
    struct lg__block string;    /* int32_t: a c_k that is looked for */
    struct lg__block mark, cut; /* int [n]: the cut that a token was last in; int: its tokens */
    int stamp;                  /* of the latest cut of this text */
    struct lg__block row;       /* int32_t: of a sequence that is cut out */
    lg_batch fresh;             /* contexts that were new, cut out, in the order of their numbers */
    int fresh_first;            /* the number of the first of them */
};

/* A text with its IDs, [n] each. */
struct lg__text {
    int n;
    const int32_t *tokens, *ids[LG_LEVELS];
};

/* Whether a query sees a window of keys, and of their places the differences of IDs alone; else the reason. */
int lg__window_check(const struct lg__run *r, lg_error *err);
/* Whether a run's predictions depend on a context alone: window span, an encoding of ID differences, IDs
 * that are given or predicted by delta heads; else the reason. */
int lg__unfold_check(const struct lg__run *r, lg_error *err);
int lg__unfold_open(struct lg__unfold *u, const lg_model_config *m, lg_error *err);
void lg__unfold_clear(struct lg__unfold *u);
/* Forgets all contexts and gives their memory back. */
void lg__unfold_forget(struct lg__unfold *u);
/* How many there are, and the memory that they take. */
int lg__unfold_count(const struct lg__unfold *u);
size_t lg__unfold_bytes(const struct lg__unfold *u);

/* Called when u->fresh has many rows: it empties the batch and sets fresh_first. */
typedef int lg__unfold_full(void *context, lg_error *err);
/* The contexts of rows from..to of a text into number[0..to - from], and new ones into u->fresh, each a
 * sequence whose last row predicts (target 0, and class 0 of each ID head). */
int lg__unfold_text(struct lg__unfold *u, const struct lg__text *x, int from, int to,
                    int32_t *number, lg__unfold_full *full, void *context, lg_error *err);
/* The places of all tokens that the prediction after `row` depends on, in their order; of the text that
 * was unfolded last. Good until the next call. */
int lg__unfold_places(struct lg__unfold *u, const struct lg__text *x, int row, const int **place,
                      lg_error *err);

#endif
