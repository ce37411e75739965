/* bench_probe.c: how many predictions a second the probe takes apart: every earlier token left out
 * once for all predictions of a text. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "measure/bench.h"
#include "measure/influence.h"
#include "base/clock.h"

enum { LENGTH = 512, VOCAB = 4096, LAYERS = 6, WIDTH = 256, HEADS = 4 };

/* A forward pass over the tokens behind each one that is left out, and over the whole text: matrices,
 * the pairs of queries and keys, and the head of the predictions (those within the last tokens that
 * are kept have none for it). In the first layer rows have their own of what comes behind the attention
 * alone; the rest is made once for each kind of token, and not counted. */
static double useful(const lg_run_probe_options *o)
{
    double C = WIDTH, row = (24 * (LAYERS - 1) + 2) * C * C, pair = LAYERS * 4 * C, flops = 0;
    for (int j = o->keep_first ? 0 : -1; j < LENGTH - o->keep_last; j++) { /* at first: none is */
        int first = j < (o->keep_first ? 1 : 0) ? 0 : j + 1;
        for (int t = first; t < LENGTH; t++) {
            flops += row + pair * (first ? t : t + 1);
            if (!first || t + 1 - o->keep_last > j) flops += 2 * C * VOCAB;
        }
    }
    return flops;
}

static int measure(const lg_bench_options *o, lg_model *m, struct lg__peak *peak, lg_bench_row *row,
                   lg_error *err)
{
    struct lg__influence f = {0};
    lg_run_probe_options q = lg_run_probe_options_default();
    int32_t tokens[LENGTH + 1], ids[LENGTH + 1];
    unsigned char wanted[LENGTH + 1];
    struct lg__passage p = {.n = LENGTH + 1, .tokens = tokens, .ids = {ids}, .wanted = wanted};
    lg_rng r;
    lg_rng_init(&r, 1, 0, 0);
    for (int t = 0; t <= LENGTH; t++) {
        tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
        ids[t] = t;
        wanted[t] = t > 0;
    }
    q.threads = o->threads;
    int e = lg__influence_open(&f, m, &q, err);
    double best = INFINITY, end = lg__now() + o->seconds, before = 0, after = 0;
    for (int n = 0; !e && (n < 1 || lg__now() < end); n++) {
        before = fmax(before, lg__peak_all(peak, 0.5));
        double since = lg__now();
        e = lg__influence_scores(&f, &p, err);
        best = fmin(best, lg__now() - since);
        after = fmax(after, lg__peak_all(peak, 0.5));
    }
    lg__influence_close(&f);
    row->peak = fmax(before, after);
    row->peak_drift = fabs(before - after) / row->peak;
    row->gflops = 1e-9 * useful(&q) / best;
    row->peak_share = row->gflops / row->peak;
    row->predictions_per_s = LENGTH / best;
    return e;
}

int lg_bench_probe(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    struct lg__peak peak;
    lg_error own;
    lg_bench_row row = {.bench = "probe", .name = "w256-l6-h4-v4096-512"};
    if (!err) err = &own;
    int e = lg__peak_init(&peak, o->threads, err);
    if (e) return e;
    row.threads = lg__pool_threads(peak.pool);
    lg_model *m = lg__plain_model(VOCAB, LAYERS, WIDTH, HEADS, err);
    e = m ? measure(o, m, &peak, &row, err) : err->code;
    if (!e) report(context, &row);
    lg_model_free(m);
    lg__peak_clear(&peak);
    return e;
}
