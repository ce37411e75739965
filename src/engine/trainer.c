/* trainer.c: one step. The batch is cut into groups (a property of the run, not of the
 * machine); a thread takes a group and runs its shards into the group's own gradient
 * block; the blocks are summed by a fixed tree. No lock and no barrier inside the pass, and
 * the same bits whatever the number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/pool.h"
#include "ranks.h"

enum {
    SHARD_ROWS = 512, /* a shard is closed at this many rows */
    CHUNK = LG__CHUNK,
    MOST_GROUPS = 1024
};

struct group {
    int first_shard, shards;
};

struct lg_trainer {
    struct lg_model *m;
    struct lg_model
        at; /* the model as a step sees it: in bf16 with these kernels, and weights packed by them */
    struct lg__kernels half;
    float *packs;
    lg_train_options o;
    struct lg__pool *pool;
    int64_t step;
    float *moment1, *moment2, *grad;
    float *blocks;              /* [groups of this rank, m->size] */
    double *squares;            /* one a chunk */
    unsigned char *overwritten; /* [tensors] a matmul's gradient overwrites it */
    struct lg__rotary_table turns;
    struct lg__pass *passes; /* one per thread */
    struct lg__block shards;
    int shard_count;
    struct group groups[MOST_GROUPS];
    struct lg__losses losses[MOST_GROUPS];
    unsigned char used[MOST_GROUPS]; /* some shard had a loss: the block holds gradients */
    struct lg__ranks ranks;

    /* of the step that is running */
    const lg_batch *batch;
    struct lg__scales scales;
    float lr, bias_correction1, bias_correction2, clip;
};

lg_train_options lg_train_options_default(void)
{
    return (lg_train_options){
        .steps = 1000,
        .groups = 8,
        .id_weight = 1.0,
        .lr = 1e-3,
        .warmup = 100,
        .schedule = LG_SCHEDULE_LINEAR,
        .weight_decay = 0.1,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .grad_clip = 1.0,
    };
}

double lg_train_lr(const lg_train_options *o, int64_t step)
{
    double last = o->lr * o->min_lr_ratio;
    if (o->warmup > 0 && step <= o->warmup) return o->lr * (double)step / o->warmup;
    if (o->schedule == LG_SCHEDULE_CONSTANT) {
        int64_t into = step - (o->steps - o->cooldown);
        if (o->cooldown <= 0 || into <= 0) return o->lr;
        double done = into < o->cooldown ? (double)into / o->cooldown : 1.0;
        return o->lr + (last - o->lr) * done;
    }
    int64_t span = (int64_t)o->steps - o->warmup;
    double done = span <= 0 || step >= o->steps ? 1.0 : (double)(step - o->warmup) / (double)span;
    if (o->schedule == LG_SCHEDULE_COSINE) done = 0.5 * (1 - cos(3.14159265358979323846 * done));
    return o->lr + (last - o->lr) * done;
}

static int check_options(const lg_train_options *o, lg_error *err)
{
    struct {
        const char *name;
        double value, least, most;
    } row[] = {
        {"steps", o->steps, 1, 2147483647},
        {"lr", o->lr, 0, 1e6},
        {"min_lr_ratio", o->min_lr_ratio, 0, 1},
        {"warmup", o->warmup, 0, 2147483647},
        {"cooldown", o->cooldown, 0, o->steps},
        {"schedule", o->schedule, LG_SCHEDULE_LINEAR, LG_SCHEDULE_CONSTANT},
        {"weight_decay", o->weight_decay, 0, 1e6},
        {"beta1", o->beta1, 0, 0.999999},
        {"beta2", o->beta2, 0, 0.9999999},
        {"eps", o->eps, 1e-30, 1},
        {"grad_clip", o->grad_clip, 0, 1e30},
        {"id_weight", o->id_weight, 0, 1e6},
        {"groups", o->groups, 1, MOST_GROUPS},
        {"threads", o->threads, 0, 1024},
        {"precision", o->precision, LG_PRECISION_FP32, LG_PRECISION_BF16},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (!(row[i].value >= row[i].least && row[i].value <= row[i].most))
            return lg__fail_key(err, LG_ERROR_ARGUMENT, row[i].name,
                                "{%s} is %g; it must be from %g to %g", row[i].name, row[i].value,
                                row[i].least, row[i].most);
    if (o->groups & (o->groups - 1))
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "groups",
                            "{groups} is %d; it must be a power of two (8)", o->groups);
    return 0;
}

static size_t chunks(const struct lg_trainer *t) { return (t->m->size + CHUNK - 1) / CHUNK; }

lg_trainer *lg_trainer_new(lg_model *m, const lg_train_options *o, lg_error *err)
{
    return lg__trainer_new(m, o, NULL, err);
}

lg_trainer *lg__trainer_new(lg_model *m, const lg_train_options *o, lg_comm *c, lg_error *err)
{
    if (check_options(o, err)) return NULL;
    struct lg_trainer *t = lg__alloc(sizeof *t);
    if (!t) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a trainer; end other programs");
        return NULL;
    }
    t->m = m;
    t->o = *o;
    lg__kernels_halve(&t->half, m->k);
    t->pool = lg__pool_new(o->threads, err);
    if (!t->pool || lg__ranks_open(&t->ranks, c, o->groups, m->size, err)) {
        lg_trainer_free(t);
        return NULL;
    }
    size_t bytes = m->size * sizeof(float);
    t->moment1 = lg__alloc(bytes);
    t->moment2 = lg__alloc(bytes);
    t->grad = lg__alloc(bytes);
    if (o->precision == LG_PRECISION_BF16) t->packs = lg__alloc(m->pack_size * sizeof(float));
    t->blocks = lg__alloc(bytes * (size_t)t->ranks.groups);
    t->squares = lg__alloc(chunks(t) * sizeof *t->squares);
    t->overwritten = lg__alloc((size_t)m->tensor_count);
    t->passes = lg__alloc((size_t)lg__pool_threads(t->pool) * sizeof *t->passes);
    if (!t->moment1 || !t->moment2 || !t->grad || !t->blocks || !t->squares || !t->overwritten ||
        !t->passes || (o->precision == LG_PRECISION_BF16 && !t->packs)) {
        lg__fail(err, LG_ERROR_MEMORY,
                 "no memory for %d gradient blocks of %.0f MB; make the model or groups smaller",
                 t->ranks.groups, (double)bytes / 1e6);
        lg_trainer_free(t);
        return NULL;
    }
    for (int i = 0; i < m->tensor_count; i++)
        for (int j = 0; j < m->linear_count; j++)
            if (m->linears[j]->w == m->tensors[i].offset) t->overwritten[i] = 1;
    return t;
}

void lg_trainer_free(lg_trainer *t)
{
    if (!t) return;
    for (int i = 0; t->passes && i < lg__pool_threads(t->pool); i++) lg__pass_free(&t->passes[i]);
    lg__pool_free(t->pool);
    lg__ranks_close(&t->ranks);
    lg__rotary_table_free(&t->turns);
    lg__block_free(&t->shards);
    if (t->packs) lg_model_touch(t->m);
    free(t->packs);
    free(t->passes);
    free(t->moment1);
    free(t->moment2);
    free(t->grad);
    free(t->blocks);
    free(t->squares);
    free(t->overwritten);
    free(t);
}

/* ---- The plan: sequences to groups to shards ---------------------------------------- */

/* A sequence belongs to the group in whose share of the rows its middle falls. */
static int group_of(const lg_batch *b, int s, int groups)
{
    int64_t middle = (int64_t)b->offsets[s] + b->offsets[s + 1];
    return (int)(middle * groups / (2 * (int64_t)b->rows));
}

static int make_plan(struct lg_trainer *t, const lg_batch *b, lg_error *err)
{
    int e = lg__block_grow(&t->shards, (size_t)b->sequences * sizeof(struct lg__shard), 0, "shards",
                           err);
    if (e) return e;
    struct lg__shard *shard = t->shards.data;
    int n = 0, s = 0;
    for (int g = 0; g < t->o.groups; g++) {
        t->groups[g] = (struct group){.first_shard = n};
        t->losses[g] = (struct lg__losses){0};
        t->used[g] = 0;
        while (s < b->sequences && group_of(b, s, t->o.groups) == g) {
            int first = s, rows = 0;
            while (s < b->sequences && group_of(b, s, t->o.groups) == g &&
                   (s == first || rows + b->offsets[s + 1] - b->offsets[s] <= SHARD_ROWS)) {
                rows += b->offsets[s + 1] - b->offsets[s];
                s++;
            }
            shard[n++] = lg__shard_make(b, first, s - first);
        }
        t->groups[g].shards = n - t->groups[g].first_shard;
    }
    t->shard_count = n;
    const struct lg__ranks *r = &t->ranks;
    const struct group *last = &t->groups[r->first + r->groups - 1];
    for (int i = t->groups[r->first].first_shard; i < last->first_shard + last->shards && !e; i++)
        for (int p = 0; p < lg__pool_threads(t->pool) && !e; p++)
            e = lg__pass_reserve(&t->at, &t->passes[p], &shard[i], err);
    return e ? e : lg__rotary_table_reserve(t->m, &t->turns, lg__ids(b), b->rows, err);
}

/* ---- The parallel parts ---------------------------------------------------------------- */

static void run_group(void *context, int i_group, int thread)
{
    struct lg_trainer *t = context;
    int g = t->ranks.first + i_group;
    const struct group *group = &t->groups[g];
    float *grad = t->blocks + (size_t)i_group * t->m->size;
    const struct lg__shard *shard = (const struct lg__shard *)t->shards.data + group->first_shard;
    for (int i = 0; i < group->shards; i++) {
        if (!shard[i].wanted) continue;
        if (!t->used[g])
            for (int j = 0; j < t->m->tensor_count; j++) {
                const struct lg__tensor *w = &t->m->tensors[j];
                if (!t->overwritten[j])
                    memset(grad + w->offset, 0, (size_t)w->rows * (size_t)w->cols * sizeof *grad);
            }
        lg__pass_run(&t->at, &t->passes[thread], &t->turns, t->batch, &shard[i], grad, !t->used[g],
                     &t->scales, &t->losses[g]);
        t->used[g] = 1;
    }
}

static size_t chunk_size(const struct lg_trainer *t, int i)
{
    size_t from = (size_t)i * CHUNK;
    return t->m->size - from < CHUNK ? t->m->size - from : CHUNK;
}

/* Of this rank's groups. */
static void sum_chunk(struct lg_trainer *t, int i)
{
    size_t from = (size_t)i * CHUNK;
    const float *block[MOST_GROUPS];
    for (int g = 0; g < t->ranks.groups; g++)
        block[g] = t->used[t->ranks.first + g] ? t->blocks + (size_t)g * t->m->size + from : NULL;
    t->m->k->sum_tree(t->grad + from, block, t->ranks.groups, chunk_size(t, i));
}

/* Of the sum over all ranks. */
static void end_chunk(struct lg_trainer *t, int i)
{
    size_t from = (size_t)i * CHUNK, n = chunk_size(t, i);
    for (int l = 0; l < t->m->config.levels; l++) {
        const struct lg__pointer *p = &t->m->pointer[l];
        if (t->m->config.pointer[l] && p->place >= from && p->place < from + n)
            lg__pointer_cut(t->m, p, t->grad);
    }
    t->squares[i] = t->m->k->sum_squares(t->grad + from, n);
}

static void work_chunk_alone(void *context, int i, int thread)
{
    (void)thread;
    sum_chunk(context, i);
    end_chunk(context, i);
}

static void work_chunk_sum(void *context, int i, int thread)
{
    (void)thread;
    sum_chunk(context, i);
}

static void work_chunk_end(void *context, int i, int thread)
{
    struct lg_trainer *t = context;
    (void)thread;
    if (lg__ranks_has(&t->ranks, (size_t)i)) end_chunk(t, i);
}

/* The parts of the chunk that lie in one tensor each: decay differs between tensors. */
static void update_chunk(void *context, int i, int thread)
{
    struct lg_trainer *t = context;
    size_t from = (size_t)i * CHUNK, end = from + chunk_size(t, i);
    (void)thread;
    if (!lg__ranks_has(&t->ranks, (size_t)i)) return;
    if (t->clip != 1.0f) t->m->k->scale(t->grad + from, t->clip, end - from);
    for (int j = 0; j < t->m->tensor_count; j++) {
        const struct lg__tensor *w = &t->m->tensors[j];
        size_t a = w->offset, b = a + (size_t)w->rows * (size_t)w->cols;
        if (a < from) a = from;
        if (b > end) b = end;
        if (a >= b) continue;
        t->m->k->adamw(t->m->params + a, t->moment1 + a, t->moment2 + a, t->grad + a, b - a, t->lr,
                       w->decay ? (float)t->o.weight_decay : 0.0f, (float)t->o.beta1,
                       (float)t->o.beta2, (float)t->o.eps, t->bias_correction1,
                       t->bias_correction2);
    }
}

static void pack_linear(void *context, int i, int thread)
{
    struct lg_trainer *t = context;
    (void)thread;
    lg__model_pack(t->m, i, !t->packs);
}

static void pack_half(void *context, int i, int thread)
{
    (void)thread;
    lg__model_pack(&((struct lg_trainer *)context)->at, i, 1);
}

/* The model as the matmuls of a step see it. In bf16 they have packed weights of their own; those of the model, in fp32,
 * are for evaluation. */
static void see_model(struct lg_trainer *t)
{
    t->at = *t->m;
    if (!t->packs) return;
    t->at.k = &t->half;
    t->at.packs = t->packs;
    lg__pool_run(t->pool, t->m->linear_count, pack_half, t);
}

/* ---- The step ---------------------------------------------------------------------------- */

/* Rows with a target, of each kind. */
struct counts {
    int token, id[LG_LEVELS], point[LG_LEVELS];
};

static struct counts count_targets(const lg_batch *b)
{
    struct counts n = {0};
    for (int i = 0; i < b->rows; i++) {
        n.token += b->targets[i] >= 0;
        for (int l = 0; l < b->levels; l++) {
            n.id[l] += b->id_targets[l][i] >= 0;
            n.point[l] += b->point_targets[l][i] >= 0;
        }
    }
    return n;
}

/* The groups' sums to means; the ID loss is the sum of the means of its heads and pointers. */
static void gather_losses(const struct lg_trainer *t, const struct counts *n, lg_train_result *r)
{
    r->targets = n->token;
    for (int g = 0; g < t->o.groups; g++) {
        r->loss += t->losses[g].loss;
        r->right += t->losses[g].right;
        r->first_rows += t->losses[g].first_rows;
    }
    if (n->token) r->loss /= n->token;
    for (int l = 0; l < t->m->config.levels; l++) {
        double id = 0, point = 0;
        for (int g = 0; g < t->o.groups; g++) {
            const struct lg__losses *from = &t->losses[g];
            id += from->id_loss[l];
            point += from->point_loss[l];
            r->id_right += from->id_right[l] + from->point_right[l];
        }
        r->id_targets += n->id[l] + n->point[l];
        if (n->id[l]) r->id_loss += id / n->id[l];
        if (n->point[l]) r->id_loss += point / n->point[l];
    }
}

/* printf's own NaN has a sign that means nothing. */
static const char *name_number(double x, char text[32])
{
    snprintf(text, 32, isnan(x) ? "NaN" : "%g", x);
    return text;
}

static uint64_t batch_sum(const lg_batch *b)
{
    size_t bytes = (size_t)b->rows * sizeof *b->tokens;
    uint64_t sum = lg__fnv(LG__FNV_START, b->tokens, bytes);
    sum = lg__fnv(sum, b->targets, bytes);
    for (int l = 0; l < b->levels; l++) sum = lg__fnv(sum, b->ids[l], bytes);
    return lg__fnv(sum, b->offsets, ((size_t)b->sequences + 1) * sizeof *b->offsets);
}

/* The gradients of all groups, their squares chunk by chunk, and the losses; of the gradients, a rank has its part. */
static int sum_groups(struct lg_trainer *t, const lg_batch *b, lg_error *err)
{
    struct lg__ranks *r = &t->ranks;
    int n = (int)chunks(t), e = 0;
    r->seconds = 0;
    if (!r->comm) {
        lg__pool_run(t->pool, n, work_chunk_alone, t);
        return 0;
    }
    lg__pool_run(t->pool, n, work_chunk_sum, t);
    for (int i = 0; i < r->segments && !e; i++) e = lg__ranks_sum(r, i, t->m->k, t->grad, err);
    if (e) return e;
    lg__pool_run(t->pool, n, work_chunk_end, t);
    struct lg__ranks_word w = {t->losses, t->used, t->squares, batch_sum(b)};
    return lg__ranks_tell(r, &w, err);
}

static int compute(struct lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err)
{
    int e, any;
    *r = (lg_train_result){.step = t->step};
    if ((e = lg__check_batch(t->m, b, err))) return e;
    struct counts n = count_targets(b);
    any = n.token;
    t->scales = (struct lg__scales){.token = n.token ? 1.0f / (float)n.token : 0.0f};
    for (int l = 0; l < b->levels; l++) {
        any |= n.id[l] | n.point[l];
        if (n.id[l]) t->scales.id[l] = (float)(t->o.id_weight / n.id[l]);
        if (n.point[l]) t->scales.point[l] = (float)(t->o.id_weight / n.point[l]);
    }
    if (!any)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the batch has no targets, so there is nothing to learn; give targets to "
                        "lg_batch_add");
    see_model(t);
    if ((e = make_plan(t, b, err))) return e;
    t->batch = b;
    double since = lg__now();
    lg__pool_run(t->pool, t->ranks.groups, run_group, t);
    t->ranks.parts.groups = lg__now() - since;
    if ((e = sum_groups(t, b, err))) return e;
    t->ranks.parts.sum = lg__now() - since - t->ranks.parts.groups - t->ranks.seconds;
    double squares = 0;
    for (size_t i = 0; i < chunks(t); i++) squares += t->squares[i];
    gather_losses(t, &n, r);
    r->grad_norm = sqrt(squares);
    if (!isfinite(r->loss) || !isfinite(r->id_loss) || !isfinite(r->grad_norm)) {
        char text[3][32];
        lg__comm_is_common(t->ranks.comm);
        return lg__fail(err, LG_ERROR_NUMERIC,
                        "step %lld: loss %s, ID loss %s, gradient norm %s; the model was left as "
                        "it was: make lr or grad_clip smaller",
                        (long long)t->step + 1, name_number(r->loss, text[0]),
                        name_number(r->id_loss, text[1]), name_number(r->grad_norm, text[2]));
    }
    return 0;
}

int lg_trainer_gradients(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err)
{
    lg_train_result own;
    return compute(t, b, r ? r : &own, err);
}

int lg_trainer_inputs(lg_trainer *t, const lg_batch *b, float *inputs, lg_error *err)
{
    lg_train_result r;
    memset(inputs, 0, (size_t)b->rows * (size_t)t->m->config.width * sizeof *inputs);
    for (int i = 0; i < lg__pool_threads(t->pool); i++) t->passes[i].inputs = inputs;
    int e = compute(t, b, &r, err);
    for (int i = 0; i < lg__pool_threads(t->pool); i++) t->passes[i].inputs = NULL;
    return e;
}

int lg_trainer_step(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err)
{
    lg_train_result own;
    if (!r) r = &own;
    int e = compute(t, b, r, err);
    if (e) return e;
    r->step = ++t->step;
    r->lr = lg_train_lr(&t->o, t->step);
    t->lr = (float)r->lr;
    t->bias_correction1 = (float)(1 - pow(t->o.beta1, (double)t->step));
    t->bias_correction2 = (float)(1 - pow(t->o.beta2, (double)t->step));
    t->clip = t->o.grad_clip > 0 && r->grad_norm > t->o.grad_clip
                  ? (float)(t->o.grad_clip / r->grad_norm)
                  : 1.0f;
    struct lg__parts *parts = &t->ranks.parts;
    double since = lg__now();
    lg__pool_run(t->pool, (int)chunks(t), update_chunk, t);
    parts->update = lg__now() - since;
    e = lg__ranks_join(&t->ranks, t->m->params, err);
    if (e) return e;
    r->ranks_s = t->ranks.seconds;
    since = lg__now();
    lg__pool_run(t->pool, t->m->linear_count, pack_linear, t);
    parts->pack = lg__now() - since;
    return 0;
}

const float *lg_trainer_gradient(const lg_trainer *t, int i)
{
    return t->grad + t->m->tensors[i].offset;
}

int64_t lg_trainer_steps(const lg_trainer *t) { return t->step; }

void lg_trainer_set_steps(lg_trainer *t, int64_t steps) { t->step = steps; }

float *lg_trainer_moment(lg_trainer *t, int i, int second)
{
    return (second ? t->moment2 : t->moment1) + t->m->tensors[i].offset;
}

struct lg__ranks *lg__trainer_ranks(lg_trainer *t) { return &t->ranks; }

int lg__trainer_join(lg_trainer *t, lg_error *err)
{
    int e = lg__ranks_join(&t->ranks, t->moment1, err);
    return e ? e : lg__ranks_join(&t->ranks, t->moment2, err);
}

int lg__trainer_spread(lg_trainer *t, lg_error *err)
{
    lg_comm *c = t->ranks.comm;
    size_t bytes = t->m->size * sizeof(float);
    int e = lg__comm_spread(c, t->m->params, bytes, 1, err);
    if (!e) e = lg__comm_spread(c, t->moment1, bytes, 0, err);
    if (!e) e = lg__comm_spread(c, t->moment2, bytes, 0, err);
    if (!e) e = lg__comm_spread(c, &t->step, sizeof t->step, 0, err);
    if (!e && c) lg_model_touch(t->m);
    return e;
}
