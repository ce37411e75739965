/* kinds.h: small models of every kind, trainers of them and a copy of their parameters: for the
 * tests of what is refused and of what happens without memory. */
#ifndef TESTS_ENGINE_KINDS_H
#define TESTS_ENGINE_KINDS_H

#include "engine/helper.h"

enum { VOCAB = 6, CLASSES = 4 };

/* ---- Models ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    lg_arch arch;
    lg_span span;
    const char *encoding;
    lg_attention attention;
} kinds[] = {
    {"neox full softmax", LG_ARCH_NEOX, LG_SPAN_FULL, "rope", LG_ATTENTION_SOFTMAX},
    {"olmo window softmax", LG_ARCH_OLMO, LG_SPAN_WINDOW, "rope", LG_ATTENTION_SOFTMAX},
    {"neox full entmax15", LG_ARCH_NEOX, LG_SPAN_FULL, "relative", LG_ATTENTION_ENTMAX15},
    {"neox window entmax15", LG_ARCH_NEOX, LG_SPAN_WINDOW, "relative", LG_ATTENTION_ENTMAX15},
    {"olmo full ssmax", LG_ARCH_OLMO, LG_SPAN_FULL, "relative", LG_ATTENTION_SSMAX},
    {"neox window ssmax", LG_ARCH_NEOX, LG_SPAN_WINDOW, "relative", LG_ATTENTION_SSMAX},
    {"looped window softmax", LG_ARCH_LOOPED, LG_SPAN_WINDOW, "relative", LG_ATTENTION_SOFTMAX},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static inline lg_model_config kind_config(int i)
{
    lg_model_config c = lg_model_config_default(kinds[i].arch);
    c.vocab = VOCAB;
    c.width = 12;
    c.heads = 2;
    c.id_classes[0] = CLASSES;
    c.span = kinds[i].span;
    c.encoding = kinds[i].encoding;
    c.attention = kinds[i].attention;
    c.window_lo[0] = -2;
    c.window_hi[0] = 0; /* the whole table of `relative` is in use */
    if (i % 2) c.norm = LG_NORM_RMS;
    return c;
}

static inline lg_model *model_new(const lg_model_config *c)
{
    lg_error err;
    lg_model *m = lg_model_new(c, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static inline lg_model *kind_new(int i)
{
    lg_model_config c = kind_config(i);
    return model_new(&c);
}

static inline lg_train_options options(void)
{
    lg_train_options o = lg_train_options_default();
    o.threads = 2;
    o.warmup = 0;
    return o;
}

static inline lg_trainer *trainer_new(lg_model *m)
{
    lg_error err;
    lg_train_options o = options();
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    if (!t) fail_msg("%s", err.text);
    return t;
}

/* A copy of all parameters, and whether the model still has these bits. */
static inline float *params_copy(const lg_model *m)
{
    float *all = hold((size_t)lg_model_param_total(m) * sizeof *all);
    size_t at = 0;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        size_t n = (size_t)p.rows * (size_t)p.cols;
        memcpy(all + at, p.data, n * sizeof *all);
        at += n;
    }
    return all;
}

static inline int params_are(const lg_model *m, const float *all)
{
    int same = memcmp(params_copy(m), all, (size_t)lg_model_param_total(m) * sizeof *all) == 0;
    free(held[--held_count]); /* the copy */
    return same;
}

/* Long sequences: rotations, blocks of keys and indexes of some size. */
static inline void fill_long(lg_batch *b, int sequences, int n, uint64_t seed)
{
    lg_rng r;
    lg_rng_init(&r, seed, 3, 0);
    lg_batch_reset(b);
    int32_t tokens[300], targets[300];
    for (int s = 0; s < sequences; s++) {
        for (int t = 0; t < n; t++) {
            tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
            targets[t] = (int32_t)lg_rng_below(&r, VOCAB);
        }
        assert_int_equal(lg_batch_add(b, n, tokens, NULL, targets, NULL, NULL), 0);
    }
}

#endif
