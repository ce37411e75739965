/* position.h: the interface that a way of encoding IDs fills in. One file and one row of
 * positions/table.c make an encoding; the engine knows no more of it than this. */
#ifndef LG_ENGINE_POSITION_H
#define LG_ENGINE_POSITION_H

#include "lengthen.h"

struct lg__encoding {
    const char *name;
    const char *doc;
    int rotary; /* the engine turns queries and keys: rope_share, rope_base */

    /* Parameters of each layer: a matrix [rows, cols], zeros at first; NULL: none. */
    void (*shape)(const lg_model_config *c, int *rows, int *cols);
    /* out[j] = what is added to the score of key j, for one head and query; NULL: nothing. */
    void (*bias)(float *out, const float *param, const lg_model_config *c, int head,
                 int32_t query_id, const int32_t *key_ids, int n);
    /* dparam += the gradient through bias. */
    void (*bias_backward)(float *dparam, const float *dout, const lg_model_config *c, int head,
                          int32_t query_id, const int32_t *key_ids, int n);
};

/* All encodings; NULL ends. Defined in positions/table.c. */
extern const struct lg__encoding *const lg__encodings[];

#endif
