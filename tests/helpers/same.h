/* same.h: whether two schemes, models or options are the same, for the tests. */
#ifndef LG_TESTS_HELPERS_SAME_H
#define LG_TESTS_HELPERS_SAME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lengthen.h"

/* Field by field: the bytes between fields are anything. */
#define SAME(field) assert_memory_equal(&a->field, &b->field, sizeof a->field)

static inline void same_scheme(const lg_scheme *a, const lg_scheme *b)
{
    SAME(ids), SAME(levels), SAME(max_id), SAME(chunks), SAME(target), SAME(cut_anywhere),
        SAME(random_start), SAME(source), SAME(reach);
}

static inline void same_model(const lg_model_config *a, const lg_model_config *b)
{
    SAME(arch), SAME(vocab), SAME(layers), SAME(width), SAME(heads), SAME(ff), SAME(norm);
    SAME(norm_eps), SAME(act), SAME(biases), SAME(parallel), SAME(tied), SAME(levels);
    SAME(loops), SAME(inject);
    assert_string_equal(a->encoding, b->encoding);
    SAME(max_id), SAME(rope_share), SAME(rope_base), SAME(rope_scaling), SAME(rope_factor);
    SAME(rope_length), SAME(span), SAME(window_lo), SAME(window_hi), SAME(attention), SAME(sink);
    SAME(id_classes), SAME(pointer), SAME(seed);
}

static inline void same_train(const lg_train_options *a, const lg_train_options *b)
{
    SAME(steps), SAME(lr), SAME(min_lr_ratio), SAME(warmup), SAME(cooldown), SAME(schedule);
    SAME(weight_decay), SAME(beta1), SAME(beta2), SAME(eps), SAME(grad_clip), SAME(id_weight),
        SAME(precision);
    SAME(groups), SAME(threads);
}

#endif
