/* bench_shapes.c: the models and batches of the step's and the generation's rows, what their work is in FLOPs, and the
 * same as JSON, for bench/torch_step.py. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/bench.h"

/* What a row has beside its sizes. */
typedef void choose(lg_model_config *c, lg_scheme *s);

struct row {
    const char *name;
    int width, layers, heads, vocab; /* vocab 0: the task's */
    int batch, shortest, longest, last_only;
    const char *task, *setting; /* NULL: random tokens, plain IDs */
    int sparsity;               /* 1..sparsity; 0: the task has none */
    choose *choose;             /* or NULL */
};

lg_model *lg__plain_model(int vocab, int layers, int width, int heads, lg_error *err)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = vocab;
    c.layers = layers;
    c.width = width;
    c.heads = heads;
    return lg_model_new(&c, err);
}

static void see_window(lg_model_config *c, int level, int lo, int hi)
{
    c->encoding = "relative";
    c->span = LG_SPAN_WINDOW;
    c->window_lo[level] = lo;
    c->window_hi[level] = hi;
}

/* Coupled IDs; those of the first level are predicted by this head. */
static void couple(lg_model_config *c, lg_scheme *s, const char *head)
{
    s->ids = "coupled";
    s->source[0] = head;
    c->sink = 1;
}

/* experiments/parity.yaml */
static void parity(lg_model_config *c, lg_scheme *s)
{
    couple(c, s, "delta");
    s->reach = 8;
    see_window(c, 0, 0, 1);
}

/* experiments/ppc-addition.yaml, "PPC, window" */
static void addition(lg_model_config *c, lg_scheme *s)
{
    couple(c, s, "delta");
    c->parallel = 0;
    see_window(c, 0, 0, 1);
}

/* experiments/ppc-assignment.yaml, "PPC, window" */
static void assignment(lg_model_config *c, lg_scheme *s)
{
    couple(c, s, "pointer");
    s->source[1] = "delta";
    see_window(c, 0, 0, 0);
    see_window(c, 1, -6, 6);
}

static void gpt2(lg_model_config *c, lg_scheme *s)
{
    (void)s;
    c->parallel = 0;
    c->tied = 1;
    c->act = LG_ACT_GELU_TANH;
    c->encoding = "learned";
    c->max_id = 1023;
}

static const struct row rows[] = {
    {"w256-l4-h8-64x50", 256, 4, 8, 8, 64, 50, 50, 0, NULL, NULL, 0, NULL},
    {"w128-l4-h4-64x50", 128, 4, 4, 8, 64, 50, 50, 0, NULL, NULL, 0, NULL},
    {"w512-l6-h8-32x50", 512, 6, 8, 8, 32, 50, 50, 0, NULL, NULL, 0, NULL},
    {"w256-l4-h8-32x256", 256, 4, 8, 8, 32, 256, 256, 0, NULL, NULL, 0, NULL},
    {"w128-l4-h4-64x20..50-last", 128, 4, 4, 8, 64, 20, 50, 1, NULL, NULL, 0, NULL},
    {"parity-w64", 64, 2, 4, 0, 64, 1, 20, 0, "parity-scratchpad", NULL, 0, parity},
    {"addition-w128", 128, 2, 4, 0, 64, 1, 10, 0, "addition", NULL, 0, addition},
    {"assignment-w64", 64, 2, 4, 0, 64, 1, 10, 0, "variable-assignment", "names=600", 4,
     assignment},
    {"text-w256-l6-32x64", 256, 6, 4, 4096, 32, 64, 64, 0, NULL, NULL, 0, NULL},
    {"gpt2-small-4x64", 768, 12, 12, 50257, 4, 64, 64, 0, NULL, NULL, 0, gpt2},
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *lg__shape_name(int i) { return i < ROWS ? rows[i].name : NULL; }

/* ---- The batch --------------------------------------------------------------------------- */

/* Random tokens; the lengths from the shortest to the longest, evenly. */
static int fill_random(const struct row *w, lg_batch *b, lg_error *err)
{
    lg_rng r;
    lg_rng_init(&r, 1, 0, 0);
    for (int i = 0; i < w->batch; i++) {
        int32_t token[256], target[256];
        int n = w->shortest + i * (w->longest - w->shortest) / (w->batch - 1);
        for (int t = 0; t < n; t++) {
            token[t] = (int32_t)lg_rng_below(&r, (uint32_t)w->vocab);
            target[t] = (int32_t)lg_rng_below(&r, (uint32_t)w->vocab);
            if (w->last_only && t < n - 1) target[t] = LG_NONE;
        }
        int e = lg_batch_add(b, n, token, NULL, target, NULL, err);
        if (e) return e;
    }
    return 0;
}

static int fill_task(const struct row *w, lg_task *t, const lg_scheme *s, lg_batch *b,
                     lg_error *err)
{
    lg_example x;
    lg_plan p;
    lg_rng r;
    int e = lg_plan_open(&p, s, t, err);
    lg_rng_init(&r, 1, 0, 0);
    lg_example_init(&x);
    for (int i = 0; i < w->batch && !e; i++) {
        lg_draw d = {.seed = 1,
                     .index = (uint64_t)i,
                     .length_lo = w->shortest,
                     .length_hi = w->longest,
                     .sparsity_lo = w->sparsity ? 1 : 0,
                     .sparsity_hi = w->sparsity};
        e = lg_task_example(t, &d, &x, err);
        if (!e) e = lg_plan_add(&p, &x, &r, b, err);
    }
    lg_example_clear(&x);
    return e;
}

int lg__shape_open(int i, struct lg__shape *s, lg_error *err)
{
    const struct row *w = &rows[i];
    lg_scheme scheme = lg_scheme_default();
    lg_task *task = NULL;
    int e = 0;
    memset(s, 0, sizeof *s);
    s->name = w->name;
    lg_batch_init(&s->batch);
    s->config = lg_model_config_default(LG_ARCH_NEOX);
    s->config.vocab = w->vocab;
    s->config.width = w->width;
    s->config.layers = w->layers;
    s->config.heads = w->heads;
    if (w->choose) w->choose(&s->config, &scheme);
    if (w->task) {
        task = lg_task_new(w->task, w->setting ? &w->setting : NULL, w->setting ? 1 : 0, err);
        if (!task) return err->code;
        s->config.vocab = lg_task_get_shape(task)->vocab;
        e = lg_scheme_config(&scheme, task, &s->config, err);
    }
    if (!e) e = task ? fill_task(w, task, &scheme, &s->batch, err) : fill_random(w, &s->batch, err);
    lg_task_free(task);
    if (e) lg__shape_clear(s);
    return e;
}

void lg__shape_clear(struct lg__shape *s) { lg_batch_clear(&s->batch); }

/* ---- FLOPs -------------------------------------------------------------------------------- */

static int sees(const lg_model_config *c, const lg_batch *b, int query, int key)
{
    int any = 0;
    if (c->span == LG_SPAN_FULL) return 1;
    for (int l = 0; l < b->levels; l++) {
        int32_t q = b->ids[l][query], k = b->ids[l][key];
        if (q == LG_ABSENT || k == LG_ABSENT) continue;
        if (k - q < c->window_lo[l] || k - q > c->window_hi[l]) return 0;
        any = 1;
    }
    return any;
}

static int distinct(const lg_batch *b)
{
    int n = 0;
    for (int i = 0; i < b->rows; i++) {
        int j = 0;
        while (j < i && b->tokens[j] != b->tokens[i]) j++;
        n += j == i;
    }
    return n;
}

/* Where the first layer was run once for each distinct token (first_rows), that many count there, but for
 * what comes behind the attention; in the last layer, but for its keys and values, only rows with a loss. */
double lg__shape_flops(const struct lg__shape *s, int first_rows)
{
    const lg_model_config *c = &s->config;
    const lg_batch *b = &s->batch;
    double C = c->width, F = c->ff ? c->ff : 4 * C, all = b->rows, need = 0, flops = 0;
    double pairs = 0, need_pairs = 0, pointed = 0; /* all queries'; those with a loss; pointers' */
    double first = first_rows < b->rows ? distinct(b) : all;
    for (int i = 0; i < b->sequences; i++)
        for (int t = b->offsets[i]; t < b->offsets[i + 1]; t++) {
            int wanted = b->targets[t] >= 0, keys = 0;
            for (int l = 0; l < b->levels; l++) {
                wanted |= b->id_targets[l][t] >= 0 || b->point_targets[l][t] >= 0;
                if (b->point_targets[l][t] >= 0) pointed += t - b->offsets[i] + 1;
            }
            for (int j = b->offsets[i]; j <= t; j++) keys += sees(c, b, t, j);
            pairs += keys;
            need += wanted;
            if (wanted) need_pairs += keys;
        }
    for (int l = 0; l < c->layers; l++) {
        int last = l == c->layers - 1;
        double kv = l ? all : first, out = last ? need : all, q = last ? need : kv;
        double ff = last ? need : c->parallel ? kv : all;
        flops += 6 * C * (C * (2 * kv + q + out) + (c->act == LG_ACT_SWIGLU ? 3 : 2) * F * ff);
        flops += 12 * C * (last ? need_pairs : pairs);
    }
    flops += 6 * C * c->vocab * need;
    for (int l = 0; l < c->levels; l++) {
        flops += 6 * C * c->id_classes[l] * need;
        if (c->pointer[l]) flops += 6 * C * C * (all + need);
    }
    return flops + 6 * C * pointed;
}

/* ---- For PyTorch ---------------------------------------------------------------------------- */

static void put_numbers(lg_buffer *to, const char *name, const int32_t *x, int n)
{
    lg_buffer_print(to, "\"%s\":[", name);
    for (int i = 0; i < n; i++)
        lg_buffer_print(to, "%s%d", i ? "," : "", x[i] == LG_ABSENT ? -1 : (int)x[i]);
    lg_buffer_put(to, "]");
}

/* One array per level. */
static void put_levels(lg_buffer *to, const char *name, int32_t *const *x, int levels, int at,
                       int n)
{
    lg_buffer_print(to, ",\"%s\":[", name);
    for (int l = 0; l < levels; l++) {
        lg_buffer_put(to, l ? ",{" : "{");
        put_numbers(to, "of", x[l] + at, n);
        lg_buffer_put(to, "}");
    }
    lg_buffer_put(to, "]");
}

int lg__shape_save(const struct lg__shape *s, const char *path, lg_error *err)
{
    const lg_model_config *c = &s->config;
    const lg_batch *b = &s->batch;
    lg_buffer to = {0};
    lg_buffer_print(&to,
                    "{\"vocab\":%d,\"width\":%d,\"layers\":%d,\"heads\":%d,\"parallel\":%d,"
                    "\"tied\":%d,\"tanh\":%d,\"encoding\":\"%s\",\"max_id\":%d,\"sink\":%d,"
                    "\"window\":%d,\"levels\":[",
                    c->vocab, c->width, c->layers, c->heads, c->parallel, c->tied,
                    c->act == LG_ACT_GELU_TANH, c->encoding, c->max_id, c->sink,
                    c->span == LG_SPAN_WINDOW);
    for (int l = 0; l < c->levels; l++)
        lg_buffer_print(&to, "%s{\"lo\":%d,\"hi\":%d,\"classes\":%d,\"pointer\":%d}", l ? "," : "",
                        c->window_lo[l], c->window_hi[l], c->id_classes[l], c->pointer[l]);
    lg_buffer_put(&to, "],\n\"sequences\":[");
    for (int i = 0; i < b->sequences; i++) {
        int at = b->offsets[i], n = b->offsets[i + 1] - at;
        lg_buffer_put(&to, i ? ",\n{" : "\n{");
        put_numbers(&to, "tokens", b->tokens + at, n);
        lg_buffer_put(&to, ",");
        put_numbers(&to, "targets", b->targets + at, n);
        put_levels(&to, "ids", b->ids, b->levels, at, n);
        put_levels(&to, "id_targets", b->id_targets, b->levels, at, n);
        put_levels(&to, "point_targets", b->point_targets, b->levels, at, n);
        lg_buffer_put(&to, "}");
    }
    lg_buffer_put(&to, "]}\n");
    return lg_buffer_save(&to, path, err);
}
