/* training.h: a task, a scheme and a small model trained on short examples, for the tests. */
#ifndef LG_TESTS_HELPERS_TRAINING_H
#define LG_TESTS_HELPERS_TRAINING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lengthen_lab.h"

enum { TRAIN_STREAM = 1, IDS_STREAM = 2, TEST_STREAM = 3, BATCH = 64 };

struct trained {
    lg_task *t;
    lg_model *m;
    lg_scheme scheme;
    lg_plan plan; /* of train() */
};

/* What is trained. Lengths are 1..length (or least..length), sparsities 1..sparsity. */
struct training {
    const char *task, *setting; /* one setting, or NULL */
    lg_scheme scheme;
    lg_model_config model;
    int least, length, sparsity;
    int steps;
    double lr;
    uint64_t seed;
    int (*enough)(const struct training *x, const struct trained *r); /* asked every 25 steps */
};

static inline struct training training_default(const char *task)
{
    struct training x = {.task = task, .least = 1, .length = 10, .steps = 500, .lr = 4e-3};
    x.scheme = lg_scheme_default();
    x.model = lg_model_config_default(LG_ARCH_NEOX);
    x.model.width = 64;
    x.seed = 1;
    return x;
}

static inline void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

static inline lg_draw draw_of(const struct training *x, uint32_t stream, int length, int sparsity)
{
    lg_draw d = {.seed = x->seed, .stream = stream, .length_lo = length, .length_hi = length};
    if (sparsity) d.sparsity_lo = d.sparsity_hi = sparsity;
    return d;
}

/* One batch of fresh examples. */
static inline void fill_batch(const struct training *x, struct trained *r, lg_batch *b,
                              lg_example *e, int step)
{
    lg_error err;
    lg_draw d = draw_of(x, TRAIN_STREAM, x->length, 0);
    d.length_lo = x->least;
    if (x->sparsity) {
        d.sparsity_lo = 1;
        d.sparsity_hi = x->sparsity;
    }
    lg_batch_reset(b);
    for (int i = 0; i < BATCH; i++) {
        lg_rng ids;
        d.index = (uint64_t)step * BATCH + (uint64_t)i;
        lg_rng_init(&ids, x->seed, IDS_STREAM, d.index);
        must(lg_task_example(r->t, &d, e, &err), &err);
        must(lg_plan_add(&r->plan, e, &ids, b, &err), &err);
    }
}

static inline struct trained train(const struct training *x)
{
    struct trained r = {.scheme = x->scheme};
    lg_model_config c = x->model;
    lg_train_options o = lg_train_options_default();
    lg_error err;
    r.t = lg_task_new(x->task, &x->setting, x->setting ? 1 : 0, &err);
    if (!r.t) fail_msg("%s", err.text);
    c.vocab = lg_task_get_shape(r.t)->vocab;
    c.seed = x->seed;
    must(lg_scheme_config(&r.scheme, r.t, &c, &err), &err);
    must(lg_scheme_check(&r.scheme, r.t, &c, x->length, NULL, &err), &err);
    must(lg_plan_open(&r.plan, &r.scheme, r.t, &err), &err);
    r.m = lg_model_new(&c, &err);
    if (!r.m) fail_msg("%s", err.text);
    o.steps = x->steps;
    o.lr = x->lr;
    o.warmup = 50;
    o.weight_decay = 0.01;
    o.beta2 = 0.98;
    o.threads = 1; /* another test has the other core */
    lg_trainer *trainer = lg_trainer_new(r.m, &o, &err);
    if (!trainer) fail_msg("%s", err.text);
    lg_batch b;
    lg_example e;
    lg_batch_init(&b);
    lg_example_init(&e);
    for (int step = 0; step < x->steps; step++) {
        fill_batch(x, &r, &b, &e, step);
        must(lg_trainer_step(trainer, &b, NULL, &err), &err);
        if (x->enough && step % 25 == 24 && x->enough(x, &r)) break;
    }
    lg_trainer_free(trainer);
    lg_batch_clear(&b);
    lg_example_clear(&e);
    return r;
}

/* The share of examples that are exact, generated. */
static inline double exact(const struct trained *r, const lg_draw *d, int samples, int predicted)
{
    lg_score score;
    lg_error err;
    must(lg_answer(r->m, r->t, &r->scheme, d, samples, predicted, 1, &score, &err), &err);
    assert_int_equal(score.samples, samples);
    return (double)score.exact / samples;
}

static inline void trained_free(struct trained *r)
{
    lg_model_free(r->m);
    lg_task_free(r->t);
}

#endif
