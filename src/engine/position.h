/* position.h: the interface that a way of encoding IDs fills in. One file and one row of
 * positions/table.c make an encoding; the engine knows no more of it than this. */
#ifndef LG_ENGINE_POSITION_H
#define LG_ENGINE_POSITION_H

#include "lengthen.h"

/* The IDs of one query and of n keys, at each of the config's levels; LG_ABSENT: none. */
struct lg__pairs {
    int32_t query[LG_LEVELS];
    const int32_t *key[LG_LEVELS];
    int n;
};

/* What an encoding does. */
enum {
    LG__ENCODING_ABSOLUTE = 1, /* the network can tell one ID from another, not only differences */
    LG__ENCODING_RELATIVE = 2, /* it sees differences of IDs and nothing else: may be certified */
    LG__ENCODING_ROWS = 4,     /* it has a row for each of the IDs 0..max_id, and none past them */
    LG__ENCODING_CLIPS = 8,    /* with span full, differences past the window look like its ends */
    LG__ENCODING_OWN = 16      /* a user's: asked of pairs that occur alone */
};

struct lg__encoding {
    const char *name;
    const char *line; /* one line in `lengthen positions` */
    const char *text; /* the formula, what it does with several levels, what it needs */
    unsigned flags;   /* LG__ENCODING_.. */
    /* What this encoding asks of a config; NULL: nothing. */
    int (*check)(const lg_model_config *c, lg_error *err);

    /* Rotary: queries and keys are turned, the pair of dimensions (i, i + R/2) of a head by the
     * angle theta[i] * (the token's ID at level[i]); cos and sin are multiplied by *amplitude. A
     * token without an ID there has 0 for both. length is that of lg_model_set_length. */
    void (*frequencies)(double *theta, int *level, double *amplitude, const lg_model_config *c,
                        int R, int length);

    /* Bias: parameters of each layer, a matrix [rows, cols]; init NULL: zeros at first. */
    void (*shape)(const lg_model_config *c, int *rows, int *cols);
    void (*init)(float *param, const lg_model_config *c, lg_rng *r);
    /* out[j] = what is added to the score of key j, for one head. A level that either token lacks
     * adds nothing. */
    void (*bias)(float *out, const float *param, const lg_model_config *c, int head,
                 const struct lg__pairs *p);
    /* dparam += the gradient through bias. NULL: nothing is learned. */
    void (*bias_backward)(float *dparam, const float *dout, const float *param,
                          const lg_model_config *c, int head, const struct lg__pairs *p);

    /* Input: parameters of the model, a matrix [rows, cols] with normal numbers of this deviation
     * at first; NULL: none. */
    void (*input_shape)(const lg_model_config *c, int *rows, int *cols, double *deviation);
    /* x[n, width] += what n tokens with these IDs get beside their embedding. */
    void (*input)(float *x, const float *param, const lg_model_config *c,
                  const int32_t *const ids[LG_LEVELS], int n);
    void (*input_backward)(float *dparam, const float *dx, const lg_model_config *c,
                           const int32_t *const ids[LG_LEVELS], int n);
};

/* The encodings that there are; NULL ends. The engine is given them: it does not know who has them. */
typedef const struct lg__encoding *const lg__encoding_table;

/* lg_model_config_check and lg_model_new with these encodings; the third leaves the parameters 0. */
int lg__model_config_check(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err);
lg_model *lg__model_new(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err);
lg_model *lg__model_new_zero(const lg_model_config *c, lg__encoding_table *encodings,
                             lg_error *err);

#endif
