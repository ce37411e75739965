/* influence.c: how much each earlier token matters to each prediction of a text, and how many of
 * them a prediction needs.
 *
 * By leaving out: the text without token j begins as the text does, so only what follows j is
 * computed, once for all later predictions. By gradient: one backward pass a prediction. */
#include "measure/influence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ROWS = 1 << 14, SEQUENCES = 256 }; /* a batch is closed at this many */
enum { GRADIENT_ROWS = 1 << 12 };

/* An earlier token, and how much it matters. */
struct token {
    int at;
    float influence;
};

int lg__influence_open(struct lg__influence *f, lg_model *m, const lg_run_probe_options *o,
                       lg_error *err)
{
    f->m = m;
    f->o = *o;
    lg_batch_init(&f->batch);
    if (o->keep_last < 1 || o->most_k < 1 || o->most_k > 1 << 20)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the last %d tokens are kept and k* is looked for up to %d; take 1 or more "
                        "of each",
                        o->keep_last, o->most_k);
    if (!(o->epsilon > 0 && o->least > 0 && isfinite(o->epsilon) && isfinite(o->least)))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "epsilon is %g and the least effect %g nats; take numbers above 0",
                        o->epsilon, o->least);
    if (o->least <= o->epsilon)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the least effect (--min-rise) is %g nats and epsilon %g, so that a prediction "
            "could depend on its context and need none of it; take more than epsilon",
            o->least, o->epsilon);
    f->evaluator = lg_evaluator_new(m, o->threads, err);
    if (!f->evaluator) return LG_ERROR_MEMORY;
    if (o->method != LG_PROBE_GRADIENT) return 0;
    lg_train_options t = lg_train_options_default();
    t.threads = o->threads;
    f->trainer = lg_trainer_new(m, &t, err);
    return f->trainer ? 0 : LG_ERROR_MEMORY;
}

void lg__influence_close(struct lg__influence *f)
{
    struct lg__block *all[] = {&f->needs,  &f->scores, &f->asked,        &f->places,
                               &f->values, &f->to,     &f->shared,       &f->order,
                               &f->kept,   &f->some,   &f->some_targets, &f->inputs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lg__block_free(all[i]);
    for (int l = 0; l < LG_LEVELS; l++) lg__block_free(&f->some_ids[l]);
    lg_trainer_free(f->trainer);
    lg_evaluator_free(f->evaluator);
    lg_batch_clear(&f->batch);
    *f = (struct lg__influence){0};
}

static int levels_of(const struct lg__influence *f) { return lg_model_get_config(f->m)->levels; }

int lg__influence_list(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    size_t n = (size_t)p->n, count = 0, k = (size_t)f->o.most_k;
    for (int t = 1; t < p->n; t++) count += p->wanted[t] != 0;
    const struct {
        struct lg__block *block;
        size_t size;
    } row[] = {{&f->needs, count * sizeof(struct lg__need)},
               {&f->scores, count * n * sizeof(float)},
               {&f->asked, count * (k + 1) * sizeof(float)},
               {&f->places, count * k * sizeof(int)},
               {&f->values, count * k * sizeof(float)},
               {&f->order, n * sizeof(struct token)},
               {&f->kept, n},
               {&f->some, n * sizeof(int32_t)},
               {&f->some_targets, n * sizeof(int32_t)}};
    int e = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row && !e; i++)
        e = lg__block_grow(row[i].block, row[i].size, 0, "a probe", err);
    for (int l = 0; l < levels_of(f) && !e; l++)
        e = lg__block_grow(&f->some_ids[l], n * sizeof(int32_t), 0, "a probe", err);
    if (e) return e;
    f->need = f->needs.data;
    f->count = 0;
    for (int t = 1; t < p->n; t++) {
        if (!p->wanted[t]) continue;
        size_t at = (size_t)f->count * k;
        f->need[f->count] = (struct lg__need){.at = t,
                                              .source = (int *)f->places.data + at,
                                              .influence = (float *)f->values.data + at};
        f->need[f->count].curve = (float *)f->asked.data + at + f->count;
        f->count++;
    }
    memset(f->scores.data, 0, count * n * sizeof(float));
    return 0;
}

/* ---- Batches -------------------------------------------------------------------------------- */

/* Losses that are asked for from now on go to `into`. */
static void ask(struct lg__influence *f, float *into)
{
    lg_batch_reset(&f->batch);
    f->into = into;
    f->to_count = 0;
}

/* The next loss of the batch goes there. */
static int send(struct lg__influence *f, size_t to, lg_error *err)
{
    size_t need = ((size_t)f->to_count + 1) * sizeof to;
    if (need > f->to.size) {
        int e = lg__block_grow(&f->to, 2 * need + 4096, 1, "a probe", err);
        if (e) return e;
    }
    ((size_t *)f->to.data)[f->to_count++] = to;
    return 0;
}

static int read_batch(struct lg__influence *f, const int *shared, lg_error *err)
{
    lg_eval_losses r = {0};
    int e = f->to_count ? lg_evaluator_losses(f->evaluator, &f->batch, shared, &r, err) : 0;
    for (int i = 0; i < r.rows && !e; i++) f->into[((size_t *)f->to.data)[i]] = r.loss[i];
    ask(f, f->into);
    return e;
}

/* The tokens up to `last` that are kept, and the prediction of the one that follows it. */
static int add_kept(struct lg__influence *f, const struct lg__passage *p, int last,
                    const unsigned char *kept, lg_error *err)
{
    int32_t *tokens = f->some.data, *targets = f->some_targets.data;
    int n = 0, levels = levels_of(f);
    for (int t = 0; t <= last; t++) {
        if (!kept[t]) continue;
        for (int l = 0; l < levels; l++) ((int32_t *)f->some_ids[l].data)[n] = p->ids[l][t];
        targets[n] = LG_NONE;
        tokens[n++] = p->tokens[t];
    }
    targets[n - 1] = p->tokens[last + 1];
    lg_sequence s = {.n = n, .levels = levels, .tokens = tokens, .targets = targets};
    for (int l = 0; l < levels; l++) s.ids[l] = f->some_ids[l].data;
    return lg_batch_add_levels(&f->batch, &s, err);
}

/* ---- Leaving out ---------------------------------------------------------------------------- */

/* Tokens that always stay where token `at` is predicted: the last keep_last, and the first. */
static int stays(const struct lg__influence *f, int t, int at)
{
    return t >= at - f->o.keep_last || (t == 0 && f->o.keep_first);
}

/* Tokens from..from+n-1 of the text. Which of them predict, and where their losses go, the targets
 * say: those of the predictions for which token `without` may be left out; -1: of all. */
static int add_part(struct lg__influence *f, const struct lg__passage *p, int from, int n,
                    int without, int count, lg_error *err)
{
    int32_t *targets = f->some_targets.data;
    int e = 0, levels = levels_of(f);
    for (int t = 0; t < n; t++) targets[t] = LG_NONE;
    for (int i = 0; i < count && !e; i++) {
        int at = f->need[i].at;
        if (at <= from || (without >= 0 && stays(f, without, at))) continue;
        targets[at - 1 - from] = p->tokens[at];
        e = send(f, without < 0 ? (size_t)i : (size_t)i * (size_t)p->n + (size_t)without, err);
    }
    lg_sequence s = {.n = n, .levels = levels, .tokens = p->tokens + from, .targets = targets};
    for (int l = 0; l < levels; l++) s.ids[l] = p->ids[l] + from;
    return e ? e : lg_batch_add_levels(&f->batch, &s, err);
}

/* The losses with all tokens. */
static int read_whole(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    float *loss = f->asked.data;
    ask(f, loss);
    int e = add_part(f, p, 0, f->need[f->count - 1].at, -1, f->count, err);
    if (!e) e = read_batch(f, NULL, err);
    for (int i = 0; i < f->count && !e; i++) f->need[i].loss = loss[i];
    return e;
}

/* The text without each token of from..to-1, behind what they share: tokens before from, .., to-1. */
static int leave_out(struct lg__influence *f, const struct lg__passage *p, int from, int to,
                     lg_error *err)
{
    int end = f->need[f->count - 1].at, s = 1;
    int e = lg__block_grow(&f->shared, ((size_t)(to - from) + 1) * sizeof(int), 0, "a probe", err);
    int *shared = f->shared.data;
    if (e) return e;
    shared[0] = 0;
    ask(f, f->scores.data);
    if (to > 1) e = add_part(f, p, 0, to - 1, -1, 0, err);
    for (int j = from; j < to && !e; j++) {
        int whole = to <= 1; /* nothing comes before the first token */
        shared[whole ? 0 : s++] = j;
        e = add_part(f, p, j + 1, end - j - 1, j, f->count, err);
    }
    return e ? e : read_batch(f, shared, err);
}

static int score_by_loss(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    int end = f->need[f->count - 1].at, e = 0;
    double all = 0.5 * end * (double)end, done = 0;
    int most = end - f->o.keep_last;                /* tokens from here on always stay */
    int enough = end > ROWS / 16 ? 16 * end : ROWS; /* what is shared is read once a batch */
    float *score = f->scores.data;
    for (int from = f->o.keep_first ? 1 : 0, to; from < most && !e; from = to) {
        int rows = 0;
        for (to = from; to < most && (to == from || rows < enough); to++) rows += end - to - 1;
        if (from == 0) to = 1;
        e = leave_out(f, p, from, to, err);
        for (int j = from; j < to; j++) done += end - j - 1;
        if (f->progress) f->progress(f->context, fmin(1, done / all));
    }
    for (int i = 0; i < f->count && !e; i++)
        for (int t = 0; t < f->need[i].at; t++)
            if (!stays(f, t, f->need[i].at))
                score[(size_t)i * (size_t)p->n + (size_t)t] -= f->need[i].loss;
    return e;
}

/* ---- By gradient ---------------------------------------------------------------------------- */

/* The norms of the gradients at the embeddings of the batch's sequences first, first + 1, .. */
static int read_gradients(struct lg__influence *f, const struct lg__passage *p, int first,
                          lg_error *err)
{
    size_t C = (size_t)lg_model_get_config(f->m)->width;
    size_t size = (size_t)f->batch.rows * C * sizeof(float);
    int e = lg__block_grow(&f->inputs, size, 0, "gradients", err);
    if (!e) e = lg_trainer_inputs(f->trainer, &f->batch, f->inputs.data, err);
    for (int s = 0; s < f->batch.sequences && !e; s++) {
        const float *g = (const float *)f->inputs.data + (size_t)f->batch.offsets[s] * C;
        float *score = (float *)f->scores.data + (size_t)(first + s) * (size_t)p->n;
        int at = f->need[first + s].at;
        for (int t = 0; t < at; t++, g += C) {
            double sum = 0;
            for (size_t c = 0; c < C; c++) sum += (double)g[c] * (double)g[c];
            if (!stays(f, t, at)) score[t] = (float)(sqrt(sum) * f->batch.sequences);
        }
    }
    lg_batch_reset(&f->batch);
    return e;
}

static int score_by_gradient(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    unsigned char *kept = f->kept.data;
    int e = 0, first = 0;
    memset(kept, 1, (size_t)p->n);
    lg_batch_reset(&f->batch);
    for (int i = 0; i < f->count && !e; i++) {
        e = add_kept(f, p, f->need[i].at - 1, kept, err);
        if (e || (f->batch.rows < GRADIENT_ROWS && i < f->count - 1)) continue;
        e = read_gradients(f, p, first, err);
        first = i + 1;
        if (f->progress) f->progress(f->context, (double)first / f->count);
    }
    return e;
}

int lg__influence_scores(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    int e = lg__influence_list(f, p, err);
    if (e || !f->count) return e;
    if ((e = read_whole(f, p, err))) return e;
    return f->trainer ? score_by_gradient(f, p, err) : score_by_loss(f, p, err);
}

/* ---- How many ------------------------------------------------------------------------------- */

static int by_influence(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    if (x->influence != y->influence) return x->influence < y->influence ? 1 : -1;
    return x->at < y->at ? 1 : -1; /* the later one first */
}

/* The most influential tokens of prediction i. */
static void choose_sources(struct lg__influence *f, const struct lg__passage *p, int i)
{
    struct token *order = f->order.data;
    struct lg__need *need = &f->need[i];
    const float *score = (const float *)f->scores.data + (size_t)i * (size_t)p->n;
    int n = 0;
    for (int t = 0; t < need->at; t++)
        if (!stays(f, t, need->at)) order[n++] = (struct token){t, score[t]};
    qsort(order, (size_t)n, sizeof *order, by_influence);
    need->sources = n < f->o.most_k ? n : f->o.most_k;
    for (int k = 0; k < need->sources; k++) {
        need->source[k] = order[k].at;
        need->influence[k] = order[k].influence;
    }
}

/* Adds prediction i with its k most influential tokens; its loss goes to place k of its row. */
static int add_with(struct lg__influence *f, const struct lg__passage *p, int i, int k,
                    lg_error *err)
{
    const struct lg__need *need = &f->need[i];
    unsigned char *kept = f->kept.data;
    for (int t = 0; t < need->at; t++) kept[t] = (unsigned char)stays(f, t, need->at);
    for (int s = 0; s < k; s++) kept[need->source[s]] = 1;
    int e = send(f, (size_t)i * ((size_t)f->o.most_k + 1) + (size_t)k, err);
    if (!e) e = add_kept(f, p, need->at - 1, kept, err);
    if (e || (f->batch.rows < ROWS && f->batch.sequences < SEQUENCES)) return e;
    return read_batch(f, NULL, err);
}

/* Where k from..to-1 of the undecided predictions are known, those that are enough are taken. With all
 * tokens there the loss is that of the whole text. */
static void decide(struct lg__influence *f, int from, int to)
{
    for (int i = 0; i < f->count; i++) {
        struct lg__need *need = &f->need[i];
        if (need->k >= 0) continue;
        for (int k = from; k < to && k <= need->sources && need->k < 0; k++)
            if ((double)need->curve[k] <= (double)need->loss + f->o.epsilon) need->k = k;
        if (need->k < 0 && to > f->o.most_k) need->k = f->o.most_k + 1;
    }
}

static int find_k(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    int e = 0;
    ask(f, f->asked.data);
    for (int i = 0; i < f->count && !e; i++) e = add_with(f, p, i, 0, err);
    if (!e) e = read_batch(f, NULL, err);
    for (int i = 0; i < f->count && !e; i++) {
        struct lg__need *need = &f->need[i];
        need->loss_0 = need->curve[0];
        need->depends = (double)need->loss_0 - (double)need->loss >= f->o.least;
        need->k = need->depends ? -1 : 0;
    }
    for (int from = 1, to = 3; from <= f->o.most_k && !e; from = to, to = 2 * to - 1) {
        if (to > f->o.most_k + 1) to = f->o.most_k + 1;
        for (int i = 0; i < f->count && !e; i++)
            for (int k = from; k < to && k <= f->need[i].sources && f->need[i].k < 0 && !e; k++)
                e = add_with(f, p, i, k, err);
        if (!e) e = read_batch(f, NULL, err);
        if (!e) decide(f, from, to);
    }
    return e;
}

int lg__influence_run(struct lg__influence *f, const struct lg__passage *p, lg_error *err)
{
    int e = lg__influence_scores(f, p, err);
    if (e || !f->count) return e;
    for (int i = 0; i < f->count; i++) choose_sources(f, p, i);
    return find_k(f, p, err);
}
