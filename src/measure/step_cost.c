/* step_cost.c: what a training step costs on this machine, by the length of its examples. */
#include "measure/step_cost.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum { VOCAB = 32 };

static int add_example(lg_batch *b, int n, lg_error *err)
{
    int32_t *tokens = lg__alloc((size_t)n * sizeof *tokens), *targets = lg__alloc((size_t)n * 4);
    int e = tokens && targets
                ? 0
                : lg__fail(err, LG_ERROR_MEMORY,
                           "no memory for an example of %d tokens; end other programs", n);
    for (int i = 0; i < n && !e; i++) {
        tokens[i] = i % VOCAB;
        targets[i] = 2 * i < n ? LG_NONE : (i + 1) % VOCAB;
    }
    if (!e) e = lg_batch_add(b, n, tokens, NULL, targets, NULL, err);
    free(tokens);
    free(targets);
    return e;
}

/* Seconds of a step with one example of n tokens per core. */
static int measure_step(lg_trainer *trainer, int n, double *seconds, lg_error *err)
{
    lg_batch b;
    int e = 0;
    lg_batch_init(&b);
    for (int i = 0; i < lg_cores() && !e; i++) e = add_example(&b, n, err);
    double since = lg__now();
    if (!e) e = lg_trainer_step(trainer, &b, NULL, err);
    *seconds = lg__now() - since;
    lg_batch_clear(&b);
    return e;
}

int lg__step_cost(int width, const int n[2], double seconds[2], lg_error *err)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    lg_train_options o = lg_train_options_default();
    c.vocab = VOCAB;
    c.width = width;
    lg_model *model = lg_model_new(&c, err);
    lg_trainer *trainer = model ? lg_trainer_new(model, &o, err) : NULL;
    int e = trainer ? measure_step(trainer, n[1], &seconds[1], err) : LG_ERROR_MEMORY;
    for (int i = 0; i < 2 && !e; i++) e = measure_step(trainer, n[i], &seconds[i], err);
    lg_trainer_free(trainer);
    lg_model_free(model);
    return e;
}
