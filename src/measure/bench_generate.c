/* bench_generate.c: generation with the key-value cache, as `lengthen eval` does it: the sequences are shared out
 * over the threads, each of which decodes its own side by side. The prompts' reading is not in the time. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench.h"

enum { PROMPT = 64, ANSWER = 64, VOCAB = 4096, LAYERS = 6, WIDTH = 256, HEADS = 4, MOST = 64 };

static const struct {
    const char *name;
    int sequences;
} rows[] = {{"text-w256-l6-1", 1}, {"text-w256-l6-64", MOST}};

/* One thread's sequences. */
struct part {
    lg_batch prompts;
    lg_decoder *decoder;
    int32_t token[MOST], id[MOST];
    int e;
    lg_error err;
};

struct generation {
    struct lg__pool *pool;
    int parts, vocab;
    struct part *part;
};

static void start_part(void *context, int i, int thread)
{
    struct generation *g = context;
    struct part *p = &g->part[i];
    (void)thread;
    p->e = lg_decoder_start(p->decoder, &p->prompts, &p->err);
}

static void generate_part(void *context, int i, int thread)
{
    struct generation *g = context;
    struct part *p = &g->part[i];
    (void)thread;
    for (int t = 0; t < ANSWER && !p->e; t++) {
        for (int s = 0; s < p->prompts.sequences; s++) {
            p->token[s] = lg_argmax(lg_decoder_logits(p->decoder, s), g->vocab);
            p->id[s] = PROMPT + t;
        }
        p->e = lg_decoder_step(p->decoder, p->token, p->id, &p->err);
    }
}

static int run_all(struct generation *g, void (*work)(void *, int, int), lg_error *err)
{
    lg__pool_run(g->pool, g->parts, work, g);
    for (int i = 0; i < g->parts; i++)
        if (g->part[i].e) return *err = g->part[i].err, g->part[i].e;
    return 0;
}

static double best_answers(void *context, double seconds, lg_error *err)
{
    struct generation *g = context;
    double best = 1e30, end = lg__now() + seconds;
    for (int n = 0; n < 3 || lg__now() < end; n++) {
        if (run_all(g, start_part, err)) return -1;
        double at = lg__now();
        if (run_all(g, generate_part, err)) return -1;
        at = lg__now() - at;
        best = at < best ? at : best;
    }
    return best;
}

static int add_prompts(const lg_batch *from, struct generation *g, lg_error *err)
{
    for (int s = 0; s < from->sequences; s++) {
        struct part *p = &g->part[s * g->parts / from->sequences];
        int e = lg_batch_add(&p->prompts, PROMPT, from->tokens + from->offsets[s], NULL, NULL, NULL,
                             err);
        if (e) return e;
    }
    return 0;
}

static double useful(int sequences)
{
    double C = WIDTH, flops = 2 * (12 * C * C * LAYERS + C * VOCAB) * ANSWER;
    for (int t = 0; t < ANSWER; t++) flops += 4 * C * (PROMPT + t + 1) * LAYERS;
    return flops * sequences;
}

static int measure(const lg_bench_options *o, const struct lg__shape *shape, struct lg__peak *p,
                   struct generation *g, lg_bench_row *row, lg_error *err)
{
    int n = shape->batch.sequences;
    double before = lg__peak_all(p, o->seconds / 2), best = best_answers(g, 2 * o->seconds, err);
    if (best < 0) return err->code;
    double after = lg__peak_all(p, o->seconds / 2);
    row->peak = fmax(before, after);
    row->peak_drift = fabs(before - after) / row->peak;
    row->gflops = 1e-9 * useful(n) / best;
    row->peak_share = row->gflops / row->peak;
    row->tokens_per_s = n * ANSWER / best;
    row->step_ms = 1e3 * best / ANSWER;
    if (!o->torch_script) return 0;
    return lg__torch_compare(o, shape, ANSWER, row->threads, best_answers, g, n * ANSWER, row, err);
}

static int run_row(const lg_bench_options *o, const lg_model *m, int sequences, struct lg__peak *p,
                   lg_bench_row *row, lg_error *err)
{
    struct lg__shape shape = {.name = row->name, .config = *lg_model_get_config(m)};
    struct generation g = {.pool = p->pool, .vocab = VOCAB};
    int e = 0;
    lg_rng r;
    lg_rng_init(&r, 1, 0, 0);
    lg_batch_init(&shape.batch);
    for (int s = 0; s < sequences && !e; s++) {
        int32_t token[PROMPT];
        for (int t = 0; t < PROMPT; t++) token[t] = (int32_t)lg_rng_below(&r, VOCAB);
        e = lg_batch_add(&shape.batch, PROMPT, token, NULL, NULL, NULL, err);
    }
    g.parts = lg__pool_threads(p->pool) < sequences ? lg__pool_threads(p->pool) : sequences;
    g.part = e ? NULL : lg__alloc((size_t)g.parts * sizeof *g.part);
    if (!e && !g.part) e = lg__fail(err, LG_ERROR_MEMORY, "no memory to measure the generation");
    for (int i = 0; i < g.parts && g.part; i++) {
        lg_batch_init(&g.part[i].prompts);
        g.part[i].decoder = lg_decoder_new(m, MOST, err);
        if (!g.part[i].decoder) e = err->code;
    }
    if (!e) e = add_prompts(&shape.batch, &g, err);
    if (!e) e = measure(o, &shape, p, &g, row, err);
    for (int i = 0; i < g.parts && g.part; i++) {
        lg_decoder_free(g.part[i].decoder);
        lg_batch_clear(&g.part[i].prompts);
    }
    free(g.part);
    lg_batch_clear(&shape.batch);
    return e;
}

int lg_bench_generate(const lg_bench_options *o, lg_bench_report *report, void *context,
                      lg_error *err)
{
    struct lg__peak p;
    lg_error own;
    if (!err) err = &own;
    int e = lg__peak_init(&p, o->threads, err);
    if (e) return e;
    lg_model *m = lg__plain_model(VOCAB, LAYERS, WIDTH, HEADS, err);
    if (!m) e = err->code;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !e; i++) {
        lg_bench_row row = {.bench = "generate", .name = rows[i].name};
        row.threads = lg__pool_threads(p.pool);
        e = run_row(o, m, rows[i].sequences, &p, &row, err);
        if (!e) report(context, &row);
    }
    lg_model_free(m);
    lg__peak_clear(&p);
    return e;
}
