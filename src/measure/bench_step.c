/* bench_step.c: the whole training step, as a share of the machine's peak and next to
 * PyTorch. Ours and the peer, as it comes and tuned, are measured in turn, so that
 * what the machine does meanwhile falls on all of them; the best time of each counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench.h"
#include "base/clock.h"

enum { VOCAB = 8, TRIES = 5, ROUNDS = 3 };

static const struct shape {
    const char *name;
    int width, layers, heads, batch, shortest, longest, last_only;
} shapes[] = {
    {"w256-l4-h8-64x50", 256, 4, 8, 64, 50, 50, 0},
    {"w128-l4-h4-64x50", 128, 4, 4, 64, 50, 50, 0},
    {"w512-l6-h8-32x50", 512, 6, 8, 32, 50, 50, 0},
    {"w256-l4-h8-32x256", 256, 4, 8, 32, 256, 256, 0},
    {"w128-l4-h4-64x20..50-last", 128, 4, 4, 64, 20, 50, 1},
};

/* ---- PyTorch --------------------------------------------------------------------------------- */

/* Ways to run it. More threads than one for its own operations make it slower here, unless
 * idle workers sleep, so no single way is the best for every shape: the fastest counts. */
static const struct way {
    const char *flag; /* or NULL */
    int threads;      /* tell it to use all cores */
} ways[] = {{NULL, 0}, {"--tuned", 1}, {"--tuned", 0}, {"--tuned-more", 1}};

/* Its tokens/s for one shape; negative: err. */
static double torch_measure(const lg_bench_options *o, const struct shape *s, int threads,
                            const struct way *way, lg_error *err)
{
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"--vocab", VOCAB},          {"--width", s->width},
                   {"--layers", s->layers},     {"--heads", s->heads},
                   {"--batch", s->batch},       {"--min-length", s->shortest},
                   {"--max-length", s->longest}};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    char text[NUMBERS][16], all[16], seconds[32], *words[LG__TORCH_WORDS + 1] = {0};
    int n = 0;
    for (int i = 0; i < NUMBERS; i++) {
        snprintf(text[i], sizeof text[i], "%d", numbers[i].value);
        words[n++] = (char *)numbers[i].name;
        words[n++] = text[i];
    }
    if (s->last_only) words[n++] = "--last-only";
    if (way->flag) words[n++] = (char *)way->flag;
    if (way->threads) {
        snprintf(all, sizeof all, "%d", threads);
        words[n++] = "--threads";
        words[n++] = all;
    }
    snprintf(seconds, sizeof seconds, "%g", 4 * o->seconds);
    words[n++] = "--seconds";
    words[n++] = seconds;
    return lg__torch_measure(o, words, err);
}

/* ---- Ours ---------------------------------------------------------------------------------------- */

/* Fills the batch and returns the step's useful FLOPs. Lengths as in bench/torch_step.py. */
static double fill(const struct shape *s, lg_batch *b, lg_error *err)
{
    double flops = 0, w = s->width, layer = 12 * w * w;
    lg_rng r;
    lg_rng_init(&r, 1, 0, 0);
    for (int i = 0; i < s->batch; i++) {
        int32_t token[256], target[256];
        int n = s->shortest + i * (s->longest - s->shortest) / (s->batch - 1);
        for (int t = 0; t < n; t++) {
            token[t] = (int32_t)lg_rng_below(&r, VOCAB);
            target[t] = (int32_t)lg_rng_below(&r, VOCAB);
            if (s->last_only && t < n - 1) target[t] = LG_NONE;
        }
        if (lg_batch_add(b, n, token, NULL, target, NULL, err)) return -1;
        /* In the first layer what comes behind the attention (w^2) runs on all rows, the rest on the
         * few kinds of tokens, which are not counted; in the last keys and values (2 w^2) do, the
         * rest where needed. */
        double need = s->last_only ? 1 : n, pairs = n * (n + 1.0) / 2;
        flops += 6 * (w * w * n + layer * n * (s->layers - 2));
        flops += 6 * (2 * w * w * n + (layer - 2 * w * w) * need);
        flops += 6 * VOCAB * w * need;
        flops += 12 * w * (pairs * (s->layers - 1) + (s->last_only ? n : pairs));
    }
    return flops;
}

/* Best step within about `seconds`; negative: err. */
static double best_step(lg_trainer *t, const lg_batch *b, double seconds, lg_error *err)
{
    double best = 1e30, end = lg__now() + seconds;
    for (int n = 0; n < 3 || lg__now() < end; n++) {
        double at = lg__now();
        if (lg_trainer_step(t, b, NULL, err)) return -1;
        at = lg__now() - at;
        best = at < best ? at : best;
    }
    return best;
}

static int measure(const lg_bench_options *o, const struct shape *s, struct lg__peak *p,
                   lg_trainer *t, const lg_batch *b, double flops, lg_bench_row *row, lg_error *err)
{
    int threads = lg__pool_threads(p->pool);
    double before = 0, after = 0, best = 1e30;
    for (int i = 0; i < TRIES; i++) {
        before = lg__peak_all(p, o->seconds / 2);
        double now = best_step(t, b, 2 * o->seconds, err);
        if (now < 0) return err->code;
        after = lg__peak_all(p, o->seconds / 2);
        row->peak_drift = fabs(before - after) / (before > after ? before : after);
        if (row->peak_drift > 0.1 && i < TRIES - 1) continue;
        best = now;
        break;
    }
    /* Ours falls under the better peak: a share is never flattered. */
    row->peak = before > after ? before : after;
    row->gflops = flops / best * 1e-9;
    row->peak_share = row->gflops / row->peak;
    row->tokens_per_s = b->rows / best;
    row->step_ms = best * 1e3;
    if (!o->torch_script) return 0;
    double own = 1e30;
    for (int i = 0; i < ROUNDS; i++) {
        double now = best_step(t, b, o->seconds, err);
        if (now < 0) return err->code;
        own = now < own ? now : own;
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            double rate = torch_measure(o, s, threads, &ways[j], err);
            if (rate < 0) return LG_ERROR_SYSTEM;
            if (j == 0 && rate > row->torch) row->torch = rate;
            if (j == 1 && rate > row->torch_cpu) row->torch_cpu = rate;
            if (rate > row->torch_tuned) row->torch_tuned = rate;
        }
    }
    row->ratio_torch = b->rows / own / row->torch;
    row->ratio_torch_cpu = b->rows / own / row->torch_cpu;
    row->ratio_torch_tuned = b->rows / own / row->torch_tuned;
    return 0;
}

static int run_shape(const lg_bench_options *o, const struct shape *s, struct lg__peak *p,
                     lg_bench_row *row, lg_error *err)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = VOCAB;
    c.width = s->width;
    c.layers = s->layers;
    c.heads = s->heads;
    lg_train_options train = lg_train_options_default();
    train.threads = o->threads;
    lg_batch b;
    lg_batch_init(&b);
    lg_model *m = lg_model_new(&c, err);
    lg_trainer *t = m ? lg_trainer_new(m, &train, err) : NULL;
    int code = t ? 0 : err->code;
    double flops = t ? fill(s, &b, err) : -1;
    if (t && flops < 0) code = err->code;
    if (!code) code = measure(o, s, p, t, &b, flops, row, err);
    lg_trainer_free(t);
    lg_model_free(m);
    lg_batch_clear(&b);
    return code;
}

int lg_bench_step(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    struct lg__peak p;
    lg_error own;
    if (!err) err = &own;
    int found = 0, code = lg__peak_init(&p, o->threads, err);
    if (code) return code;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !code; i++) {
        if (o->shape && !strstr(shapes[i].name, o->shape)) continue;
        lg_bench_row row = {.bench = "step", .name = shapes[i].name};
        row.threads = lg__pool_threads(p.pool);
        found = 1;
        code = run_shape(o, &shapes[i], &p, &row, err);
        if (!code) report(context, &row);
    }
    lg__peak_clear(&p);
    if (!code && !found)
        return lg__fail(err, LG_ERROR_ARGUMENT, "no shape has '%s' in its name; the first is '%s'",
                        o->shape, shapes[0].name);
    return code;
}
