/* small_run.h: a run of a config, opened and trained for some steps in this process. */
#ifndef LG_TESTS_CERTIFY_SMALL_RUN_H
#define LG_TESTS_CERTIFY_SMALL_RUN_H

#include "helpers/training.h"
#include "runs/run.h"

static inline void open_small(struct lg__run *r, const char *const *sets, int count)
{
    lg_error err = {0};
    *r = (struct lg__run){0};
    must(lg__run_open(r, NULL, sets, count, &err), &err);
}

/* On lengths 1..longest; stops when all targets of 20 batches in turn were right. */
static inline void train_small(struct lg__run *r, int steps, int longest)
{
    lg_error err;
    lg_train_options o = lg_train_options_default();
    lg_train_result result;
    lg_batch b;
    lg_example x;
    int right = 0;
    o.steps = steps;
    o.lr = 5e-3;
    o.warmup = 20;
    o.threads = 1;
    lg_trainer *trainer = lg_trainer_new(r->model, &o, &err);
    if (!trainer) fail_msg("%s", err.text);
    lg_batch_init(&b);
    lg_example_init(&x);
    for (int step = 0; step < steps && right < 20; step++) {
        lg_draw d = {.seed = 1, .stream = 1, .length_lo = 1, .length_hi = longest};
        lg_batch_reset(&b);
        for (int i = 0; i < 32; i++) {
            lg_rng ids;
            d.index = (uint64_t)(32 * step + i);
            lg_rng_init(&ids, 1, 2, d.index);
            must(lg_task_example(r->task, &d, &x, &err), &err);
            must(lg_plan_add(&r->plan, &x, &ids, &b, &err), &err);
        }
        must(lg_trainer_step(trainer, &b, &result, &err), &err);
        right =
            result.right == result.targets && result.id_right == result.id_targets ? right + 1 : 0;
    }
    lg_trainer_free(trainer);
    lg_batch_clear(&b);
    lg_example_clear(&x);
}

#endif
