/* arch.h: an architecture is a row: what its layers have unless the config says otherwise, how its
 * weights begin, how its layers are run, and what published formats call it. */
#ifndef LG_ENGINE_ARCH_H
#define LG_ENGINE_ARCH_H

#include "lengthen.h"

struct lg__arch {
    const char *name;
    lg_norm norm;
    lg_act act; /* gated: SwiGLU */
    int biases, parallel;
    int loops, inject; /* how often all layers are run, one after the other; with what enters */
    /* The deviation of a matrix's first weights; last: where a layer ends. */
    double (*deviation)(const lg_model_config *c, int last);
    /* Whether what entered the first layer is added to what enters layer l, too; NULL: never, and the
     * layers are run once. */
    int (*injects)(const lg_model_config *c, int l);
    /* Hugging Face's "architectures" and "model_type"; NULL ends. */
    struct {
        const char *kind, *type;
    } published[3];
    const char *unpublished; /* what such formats cannot say; NULL: they can */
};

/* The row of each lg_arch, and their number. */
extern const struct lg__arch *const lg__archs[];
extern const int lg__arch_count;

extern const struct lg__arch lg__arch_looped; /* looped.c */

#endif
