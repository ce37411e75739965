/* bench_step.c: the whole training step, as a share of the machine's peak and next to
 * PyTorch. Ours and the peer, as it comes and tuned, are measured in turn, so that
 * what the machine does meanwhile falls on all of them; the best time of each counts. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench.h"

enum { TRIES = 5 };

struct step {
    lg_trainer *trainer;
    const lg_batch *batch;
};

static double best_step(void *context, double seconds, lg_error *err)
{
    const struct step *s = context;
    double best = 1e30, end = lg__now() + seconds;
    for (int n = 0; n < 3 || lg__now() < end; n++) {
        double at = lg__now();
        if (lg_trainer_step(s->trainer, s->batch, NULL, err)) return -1;
        at = lg__now() - at;
        best = at < best ? at : best;
    }
    return best;
}

static int measure(const lg_bench_options *o, const struct lg__shape *shape, struct lg__peak *p,
                   struct step *s, lg_bench_row *row, lg_error *err)
{
    double before = 0, after = 0, best = 1e30;
    lg_train_result r;
    int e = lg_trainer_gradients(s->trainer, s->batch, &r, err);
    if (e) return e;
    for (int i = 0; i < TRIES; i++) {
        before = lg__peak_all(p, o->seconds / 2);
        double now = best_step(s, 2 * o->seconds, err);
        if (now < 0) return err->code;
        after = lg__peak_all(p, o->seconds / 2);
        row->peak_drift = fabs(before - after) / (before > after ? before : after);
        if (row->peak_drift > 0.1 && i < TRIES - 1) continue;
        best = now;
        break;
    }
    /* Ours falls under the better peak: a share is never flattered. */
    row->peak = before > after ? before : after;
    row->gflops = lg__shape_flops(shape, r.first_rows) / best * 1e-9;
    row->peak_share = row->gflops / row->peak;
    row->tokens_per_s = s->batch->rows / best;
    row->step_ms = best * 1e3;
    if (!o->torch_script) return 0;
    return lg__torch_compare(o, shape, 0, row->threads, best_step, s, s->batch->rows, row, err);
}

static int run_shape(const lg_bench_options *o, int i, struct lg__peak *p, lg_bench_row *row,
                     lg_error *err)
{
    struct lg__shape shape;
    lg_train_options train = lg_train_options_default();
    train.threads = o->threads;
    train.precision = o->precision;
    int e = lg__shape_open(i, &shape, err);
    if (e) return e;
    lg_model *m = lg_model_new(&shape.config, err);
    struct step s = {.trainer = m ? lg_trainer_new(m, &train, err) : NULL, .batch = &shape.batch};
    e = s.trainer ? measure(o, &shape, p, &s, row, err) : err->code;
    lg_trainer_free(s.trainer);
    lg_model_free(m);
    lg__shape_clear(&shape);
    return e;
}

int lg_bench_step(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    struct lg__peak p;
    lg_error own;
    const char *name;
    if (!err) err = &own;
    int found = 0, code = lg__peak_init(&p, o->threads, err);
    if (code) return code;
    for (int i = 0; (name = lg__shape_name(i)) && !code; i++) {
        if (o->shape && !strstr(name, o->shape)) continue;
        lg_bench_row row = {.bench = "step", .name = name};
        row.threads = lg__pool_threads(p.pool);
        found = 1;
        code = run_shape(o, i, &p, &row, err);
        if (!code) report(context, &row);
    }
    lg__peak_clear(&p);
    if (!code && !found)
        return lg__fail(err, LG_ERROR_ARGUMENT, "no shape has '%s' in its name; the first is '%s'",
                        o->shape, lg__shape_name(0));
    return code;
}
