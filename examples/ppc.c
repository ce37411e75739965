/* ppc.c: Predictive Position Coupling: the model says where to look next.
 *
 * Variable assignment: statements in shuffled order and a queried variable; the answer follows
 * the chain, `>` and the right side of each statement on it. Tokens of a statement share an ID,
 * and layers see their own statement alone; which statement comes next depends on the input, so
 * the model predicts the ID of each generated token (a pointer finds the statement). Trained on
 * at most 10 statements and chains of 4, tested on 100 and 20. Uses lengthen.h alone; exits with
 * 1 if under 95% of the answers are exact. */
#include <stdio.h>
#include <stdlib.h>

#include "lengthen.h"

enum { SEED = 1, BATCH = 64, STEPS = 400 };

static lg_error err;

static void check(int ok)
{
    if (ok) return;
    fprintf(stderr, "ppc: %s\n", err.text);
    exit(1);
}

static void train(lg_model *m, lg_task *task, const lg_plan *plan)
{
    lg_train_options o = lg_train_options_default();
    o.steps = STEPS, o.warmup = 50, o.lr = 4e-3;
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    check(t != NULL);
    lg_draw d = {.seed = SEED, .stream = 1};
    d.length_lo = 1, d.length_hi = 10, d.sparsity_lo = 1, d.sparsity_hi = 4;
    lg_batch b;
    lg_example x;
    lg_batch_init(&b);
    lg_example_init(&x);
    for (int step = 0; step < STEPS; step++) {
        lg_batch_reset(&b);
        for (int i = 0; i < BATCH; i++, d.index++) {
            lg_rng starts; /* of the IDs */
            lg_rng_init(&starts, SEED, 2, d.index);
            check(!lg_task_example(task, &d, &x, &err));
            check(!lg_plan_add(plan, &x, &starts, &b, &err));
        }
        check(!lg_trainer_step(t, &b, NULL, &err));
    }
    lg_example_clear(&x);
    lg_batch_clear(&b);
    lg_trainer_free(t);
}

int main(void)
{
    const char *settings[] = {"names=200"};
    lg_task *task = lg_task_new("variable-assignment", settings, 1, &err);
    check(task != NULL);
    lg_scheme scheme = lg_scheme_default();
    scheme.ids = "coupled"; /* level 1: the statement; level 2: the place in it */
    scheme.source[0] = "pointer", scheme.source[1] = "delta";

    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = lg_task_get_shape(task)->vocab, c.width = 64, c.seed = SEED;
    c.encoding = "relative", c.span = LG_SPAN_WINDOW, c.sink = 1;
    c.window_lo[0] = 0, c.window_hi[0] = 0, c.window_lo[1] = -6, c.window_hi[1] = 6;
    check(!lg_scheme_config(&scheme, task, &c, &err));
    check(!lg_scheme_check(&scheme, task, &c, 10, NULL, &err));
    lg_model *m = lg_model_new(&c, &err);
    check(m != NULL);
    lg_plan plan; /* the scheme, opened once for all examples */
    check(!lg_plan_open(&plan, &scheme, task, &err));
    train(m, task, &plan);

    lg_score s;
    lg_draw d = {.seed = SEED, .stream = 3, .length_lo = 100, .length_hi = 100};
    d.sparsity_lo = d.sparsity_hi = 20;
    check(!lg_answer(m, task, &scheme, &d, 200, 1, 0, &s, &err));
    printf("100 statements, chains of 20: %d of %d answers exact, %lld of %lld IDs right\n",
           s.exact, s.samples, (long long)s.ids_right, (long long)s.ids);
    lg_model_free(m);
    lg_task_free(task);
    return s.exact < 0.95 * s.samples;
}
