/* ensemble.h: a planted ensemble: where k tokens stand, which they are, what lies between them, and
 * the label. The task `planted` makes its examples from it, and the theory room its samples. */
#ifndef LG_TASKS_ENSEMBLE_H
#define LG_TASKS_ENSEMBLE_H

#include "base/yaml.h"
#include "tasks/tasks.h"

enum { LG__MOST_K = 64, LG__MOST_TUPLES = 1000000 };
enum lg__where { LG__UNIFORM, LG__SPAN, LG__PATTERNS, LG__COLUMNS };

/* A weighted choice in constant time (Walker's alias method): column c is taken uniformly; it
 * stays with probability keep and goes to column `other` else. */
struct lg__choice {
    struct lg__choice_column {
        double keep;
        int32_t other;
    } * column;
    int n;
};

struct lg__ensemble {
    char file[256];
    int line_k, line_positions; /* in the file, for what is refused later */
    int k, least;               /* least: the length from which on all places fit */
    enum lg__where where;
    int span;
    struct lg__choice pattern;
    int32_t *offset;              /* [pattern][k] */
    struct lg__choice background; /* over tokens: they come first in the vocabulary */
    struct lg__choice draw;       /* of a planted word or, if joint, of a whole tuple */
    struct lg__choice first;      /* of the first planted word; n is 0: it is one of draw */
    int joint;
    int32_t *word;       /* [draw] or, if joint, [draw][k]: tokens */
    int32_t *first_word; /* [first]: tokens */
    int32_t *label; /* [tuple]: token; a tuple's number is that of the draw or, if not joint, has
                       its words' numbers as digits */
    int tuples;
};

/* What replaces the file's own, 0: nothing. */
struct lg__ensemble_change {
    int k, span;
};

/* Reads a table, by its name if it is a ready one, else from its file; its words go into the
 * vocabulary of t. What was made of it is freed by the caller also where it fails. */
int lg__ensemble_read(struct lg__ensemble *e, struct lg_task *t, const char *table,
                      struct lg__ensemble_change change, lg_error *err);
void lg__ensemble_clear(struct lg__ensemble *e);

/* The k places of the planted tokens in a text of this length, rising. */
void lg__ensemble_places(const struct lg__ensemble *e, lg_rng *r, int length, int *place);
/* The tokens of a text whose planted ones stand there; returns the number of their tuple. */
int lg__ensemble_fill(const struct lg__ensemble *e, lg_rng *r, int length, const int *place,
                      int32_t *tokens);
/* The label that couples the token at a place to others: its column, from 1, or 0. Of ensembles
 * without columns the label is the member's number, which only the places tell. */
static inline int32_t lg__ensemble_column(const struct lg__ensemble *e, int length, int at)
{
    int columns = length / e->k;
    return at < columns * e->k ? at % columns + 1 : 0;
}

#endif
