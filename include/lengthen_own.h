/* lengthen_own.h: your own task and your own encoding, as callbacks. lengthen.h includes it.
 *
 *     lg_own_task mine = {.name = "last-bit", .words = words, .vocab = 4, .stop = LG_NONE, .make = make};
 *     lg_task_add(&mine, &err);
 *     lg_task *t = lg_task_new("last-bit", NULL, 0, &err);
 *
 * What was added is known by its name to everything in this process: lg_task_new, models, configs and runs. Add
 * before any other thread uses the library. The callbacks run on several threads at once, so they write to nothing but
 * what they are given; their context, and what the struct points at, must last as long as the process. */
#ifndef LENGTHEN_OWN_H
#define LENGTHEN_OWN_H

#include "lengthen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lg_own_task {
    const char *name;         /* letters, digits and dashes; of no other task */
    const char *line, *text;  /* for `lengthen tasks`; NULL: "" */
    const char *unit;         /* of length: "bits"; NULL: "tokens" */
    const char *const *words; /* [vocab] how each token is written, all different, without spaces */
    int vocab;
    int32_t stop;                  /* the token that ends an answer; LG_NONE: it has one token */
    int levels;                    /* of labels, 0 to LG_LEVELS */
    int needed;                    /* levels without which some token has no ID; 0: all */
    const char *level[LG_LEVELS];  /* names; NULL: "level 1", .. */
    int reach[LG_LEVELS];          /* as in lg_task_shape */
    int length_least, length_most; /* 0, 0: 1 to 2^20 */
    /* One example of this length, by lg_example_put; all randomness comes from r. 0, or a code and *err. */
    int (*make)(void *context, lg_rng *r, int length, lg_example *x, lg_error *err);
    /* For certificates, if a finite machine writes the answer column by column in the order of generation (next NULL:
     * none does). A column's input is 0..inputs-1. The texts of n columns are those that write gives for the n inputs
     * that next accepts one after the other, from the state `start` on, to a state where a text may end. */
    int states, start, inputs;
    int (*next)(void *context, int state,
                int input);                /* the state after it; -1: no text goes on like this */
    int (*ends)(void *context, int state); /* 1: a text may end here; NULL: anywhere */
    int (*write)(void *context, const int32_t *input, int n, lg_example *x, lg_error *err);
    void *context;
} lg_own_task;

int lg_task_add(const lg_own_task *o, lg_error *err);
/* Appends a token; answer 1: it is generated, and has a loss. label[l] is that of level l, -1 or more, or LG_ABSENT; NULL:
 * it has none. */
int lg_example_put(lg_example *x, int32_t token, int answer, const int32_t *label, lg_error *err);

/* A bias on the scores of attention, with numbers that are learned or without. */
typedef struct lg_own_encoding {
    const char *name;        /* for lg_model_config.encoding */
    const char *line, *text; /* NULL: "" */
    int relative;            /* 1: it goes by differences of IDs alone; certificates need that */
    int parameters;          /* learned numbers of each layer and head, 0 at first */
    /* out[j] = what is added to the score of key j, n of them, in one head whose numbers are param. The IDs of level l are
     * query[l] and key[l][j]; LG_ABSENT: none. */
    void (*bias)(void *context, float *out, const float *param, int head, int n, int levels,
                 const int32_t *query, const int32_t *const *key);
    /* dparam += the gradient through bias. NULL if parameters is 0. */
    void (*backward)(void *context, float *dparam, const float *dout, const float *param, int head,
                     int n, int levels, const int32_t *query, const int32_t *const *key);
    void *context;
} lg_own_encoding;

int lg_encoding_add(const lg_own_encoding *o, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
