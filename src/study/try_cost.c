/* try_cost.c: how many examples a training step of lg_try has. Long examples are measured first: what
 * cannot be trained in the time is refused before any work. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/stats.h"
#include "measure/step_cost.h"
#include "study/try.h"
#include "study/try_time.h"

enum {
    MOST_BATCH = 64,
    LEAST_BATCH = 8, /* of examples that need not be measured */
    BATCH_TOKENS = 8192
};

static int refuse(const struct lg__try *t, const struct lg__try_cost *cost, double share,
                  lg_error *err)
{
    const lg_try_result *r = t->r;
    double step = lg__try_cost_step(cost, r->tokens, 1, 1);
    double minutes = t->o->minutes * LG_TRY_STEPS * step / share;
    double length = (double)r->most * lg__try_cost_tokens(cost, share) / r->tokens;
    char shorter[60] = "";
    if (length >= r->least && length >= 1)
        snprintf(shorter, sizeof shorter, ", or --length %.0f", floor(length));
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%.3g minutes are too short for training up to length %d (%d tokens): %d steps of each of "
        "%d runs, with one example per core, take about %.6g; take --minutes %.6g%s",
        t->o->minutes, r->most, r->tokens, LG_TRY_STEPS, lg__try_runs(t->r), lg__round_up(minutes),
        lg__round_up(1.1 * minutes), shorter);
}

int lg__try_choose_batch(struct lg__try *t, double seconds, lg_error *err)
{
    static const int n[] = {256, 1024};
    double took[2];
    int batch = BATCH_TOKENS / (t->r->tokens ? t->r->tokens : 1);
    t->batch = batch > MOST_BATCH ? MOST_BATCH : batch < LEAST_BATCH ? LEAST_BATCH : batch;
    if (batch >= LEAST_BATCH) return 0;
    double share = lg__try_training_share(seconds, lg__try_runs(t->r));
    int e = lg__step_cost(LG__TRY_WIDTH, n, took, err);
    if (e) return e == LG_ERROR_ARGUMENT ? LG_ERROR_SYSTEM : e;
    struct lg__try_cost cost = lg__try_cost_fit(n, took);
    t->batch = lg__try_cost_batch(&cost, t->r->tokens, LEAST_BATCH, lg_cores(), share);
    return t->batch ? 0 : refuse(t, &cost, share, err);
}
