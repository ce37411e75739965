/* pairs.c: runs the inputs of a task's relation, judges every prediction of theirs, and gathers the
 * distinct vectors of queries and keys. */
#include "certify/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "engine/index.h"
#include "engine/match.h"
#include "certify/unfold.h"
#include "positions/ids.h"
#include "positions/positions.h"

enum { ROWS = 1 << 15, LEVEL = 0 }; /* of a batch; where the match head is */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the contexts; take a smaller vocabulary");
}

/* ---- What can be certified ------------------------------------------------------------------------ */

int lg__matching_wanted(const struct lg__run *r)
{
    for (int l = 0; l < r->model_config.levels; l++)
        if (r->plan.head[l] == LG__HEAD_MATCH) return 1;
    return 0;
}

static int check_positions(const struct lg__run *r, lg_error *err)
{
    const lg_model_config *m = &r->model_config;
    int e = lg__window_check(r, err);
    if (e) return e;
    if (m->window_lo[LEVEL] || m->window_hi[LEVEL])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the window of level 1 is [%d, %d], so that a key token may see other "
                        "entries; train with positions.window [[0, 0], ..]",
                        m->window_lo[LEVEL], m->window_hi[LEVEL]);
    for (int l = 0; l < m->levels; l++) {
        lg_id_head_info head = lg_id_head_info_at(r->plan.head[l]);
        if (!head.name || head.steps || (l == LEVEL && r->plan.head[l] == LG__HEAD_MATCH)) continue;
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the IDs of level %d are predicted by the head %s; train with "
                        "positions.source [match, delta]",
                        l + 1, head.name);
    }
    if (lg__plan_match(&r->plan) != r->plan.shape->match)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "positions.match is not what the task asks for; train with match task");
    return 0;
}

/* Whether a generated position of the text, in as many hops as there are layers, reaches one of the
 * words of a key, which stand before its key token. 1, 0, or an error. */
static int sees_a_key(struct lg__matching *p, lg_error *err)
{
    const lg_batch *b = &p->text;
    int n = b->rows, back = p->plan->shape->key_back, found = 0;
    struct lg__places places = {0};
    unsigned char *seen = lg__alloc(2 * (size_t)n);
    int *key = lg__alloc(2 * (size_t)n * sizeof *key);
    int e = seen && key ? lg__places_reset(&places, b->levels, n, err) : no_memory(err);
    for (int t = 0; t < n && !e; t++) lg__places_add(&places, lg__ids(b), t);
    for (int row = 0; row < n && !e; row++) {
        if (b->targets[row] < 0 || row < p->x.answer) continue;
        memset(seen, 0, (size_t)n);
        seen[row] = 1;
        for (int hop = 0; hop < p->model.layers * p->model.loops; hop++) {
            memcpy(seen + n, seen, (size_t)n);
            for (int t = 0; t < n; t++) {
                int keys = seen[n + t]
                               ? lg__places_find(&places, key, key + n, t, lg__ids(b), &p->model)
                               : 0;
                for (int i = 0; i < keys; i++) seen[key[i]] = 1;
            }
        }
        for (int t = 0; t < p->x.answer; t++)
            if (lg__match_is_key(&p->model, b->tokens[t], b->ids[LEVEL][t]))
                for (int i = 1; i <= back; i++) found |= seen[t - i];
    }
    free(seen);
    free(key);
    lg__places_free(&places);
    return e ? e : found;
}

int lg__matching_open(struct lg__matching *p, const struct lg__run *r, lg_error *err)
{
    *p = (struct lg__matching){.task = r->task, .plan = &r->plan, .model = r->model_config};
    lg_example_init(&p->x);
    lg_batch_init(&p->text);
    lg_batch_init(&p->batch);
    int e = check_positions(r, err), depth = p->model.layers * p->model.loops;
    if (e) return e;
    p->relation.back = p->model.levels > 1 ? -depth * p->model.window_lo[1] : 0;
    if ((e = lg__relation_open(&p->relation, p->task, err)) || p->relation.all) return e;
    e = lg__matching_write(p, &(struct lg__failing){p->relation.inputs - 1, -1, 0}, err);
    int sees = e < 0 ? e : sees_a_key(p, err);
    if (sees < 0) return sees;
    p->relation.apart = !sees;
    return lg__relation_open(&p->relation, p->task, err);
}

static void clear(struct lg__vectors *v)
{
    lg__block_free(&v->data);
    lg__block_free(&v->code);
    lg__block_free(&v->input);
    lg__block_free(&v->slots);
    *v = (struct lg__vectors){0};
}

void lg__matching_clear(struct lg__matching *p)
{
    clear(&p->query);
    clear(&p->key);
    lg__block_free(&p->of);
    lg_example_clear(&p->x);
    lg_batch_clear(&p->text);
    lg_batch_clear(&p->batch);
    *p = (struct lg__matching){0};
}

int lg__matching_check(const struct lg__matching *p, double most, lg_error *err)
{
    if (most <= 0) most = 5e7;
    if ((double)p->relation.inputs <= most) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.3g inputs show all contexts, over the most of %.3g; take a smaller "
                    "vocabulary%s, or allow more (certify --max-contexts)",
                    (double)p->relation.inputs, most,
                    p->relation.apart ? "" : ", a task.gap that hides keys from what is generated");
}

/* ---- Vectors ---------------------------------------------------------------------------------------- */

static uint64_t hash(const float *x, int C, int32_t code)
{
    uint64_t h = lg__fnv(LG__FNV_START, x, (size_t)C * sizeof *x);
    h = lg__fnv(h, &code, sizeof code);
    return h ^ h >> 29;
}

static int32_t *find_slot(const struct lg__vectors *v, const float *x, int C, int32_t code)
{
    int32_t *slot = v->slots.data;
    uint64_t mask = ((uint64_t)1 << v->slot_bits) - 1;
    for (uint64_t h = hash(x, C, code) & mask;; h = (h + 1) & mask) {
        if (!slot[h]) return &slot[h];
        size_t i = (size_t)slot[h] - 1;
        if (((int32_t *)v->code.data)[i] == code &&
            memcmp((float *)v->data.data + i * (size_t)C, x, (size_t)C * sizeof *x) == 0)
            return &slot[h];
    }
}

static int room(struct lg__block *b, size_t size, lg_error *err)
{
    return size <= b->size ? 0 : lg__block_grow(b, 2 * size, b->data != NULL, "contexts", err);
}

static int grow_slots(struct lg__vectors *v, int C, lg_error *err)
{
    if (v->slots.data && 2 * (int64_t)v->count < (int64_t)1 << v->slot_bits) return 0;
    v->slot_bits = v->slots.data ? v->slot_bits + 1 : 12;
    size_t size = sizeof(int32_t) << v->slot_bits;
    int e = lg__block_grow(&v->slots, size, 0, "contexts", err);
    if (e) return e;
    memset(v->slots.data, 0, size);
    for (int i = 0; i < v->count; i++)
        *find_slot(v, (float *)v->data.data + (size_t)i * (size_t)C, C,
                   ((int32_t *)v->code.data)[i]) = i + 1;
    return 0;
}

/* A vector with the same bits and the same number is kept once. */
static int keep(struct lg__vectors *v, const float *x, int C, int32_t code, int64_t input,
                lg_error *err)
{
    size_t n = (size_t)v->count + 1;
    int e = grow_slots(v, C, err);
    if (e) return e;
    int32_t *slot = find_slot(v, x, C, code);
    if (*slot) return 0;
    if ((e = room(&v->data, n * (size_t)C * sizeof *x, err)) ||
        (e = room(&v->code, n * sizeof code, err)) || (e = room(&v->input, n * sizeof input, err)))
        return e;
    memcpy((float *)v->data.data + (n - 1) * (size_t)C, x, (size_t)C * sizeof *x);
    ((int32_t *)v->code.data)[n - 1] = code;
    ((int64_t *)v->input.data)[n - 1] = input;
    *slot = ++v->count;
    return 0;
}

/* ---- Judging ------------------------------------------------------------------------------------------ */

void lg__matching_list(struct lg__matching *p, int64_t input, int64_t extra)
{
    if (p->listed < LG__FAILING_MOST)
        p->list[p->listed++] = (struct lg__failing){input, extra, 0};
    else
        p->cut = 1;
}

int lg__matching_write(struct lg__matching *p, const struct lg__failing *f, lg_error *err)
{
    int e = p->relation.write(p->task, &p->relation, f->input, f->extra, f->shift, &p->x, err);
    if (e || !p->x.n) return e;
    lg_batch_reset(&p->text);
    e = lg_plan_add(p->plan, &p->x, NULL, &p->text, err);
    return e ? e : 1;
}

/* The lead of the right one over the best other; NaN if one of them is. */
static double lead(const float *logits, int n, int right)
{
    double best = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (isnan(logits[i])) return NAN;
        if (i != right && (double)logits[i] > best) best = (double)logits[i];
    }
    return (double)logits[right] - best;
}

/* Row i of the result, whose input is the sequence's. The ID of the stop token is never read. */
static void judge(struct lg__matching *p, const lg_eval_result *r, int i, int64_t input)
{
    const lg_model_config *m = &p->model;
    const lg_batch *b = &p->batch;
    int row = r->row[i], last = b->targets[row] == p->plan->shape->stop;
    double least = lead(r->logits + (size_t)i * (size_t)m->vocab, m->vocab, b->targets[row]);
    for (int l = 0; l < m->levels && !last && !isnan(least); l++) {
        int class = b->id_targets[l][row], n = m->id_classes[l];
        if (class < 0 || !r->id_logits[l]) continue;
        double x = lead(r->id_logits[l] + (size_t)i * (size_t)n, n, class);
        if (isnan(x) || x < least) least = x;
    }
    p->contexts++;
    if (least > 0) {
        p->margin = fmin(p->margin, least);
        return;
    }
    p->wrong++;
    lg__matching_list(p, input, -1);
}

/* Queries and keys of the batch that was run. */
static int gather(struct lg__matching *p, const lg_evaluator *e, const lg_eval_result *r,
                  lg_error *err)
{
    const lg_batch *b = &p->batch;
    const float *query = lg__evaluator_queries(e, LEVEL), *key = lg__evaluator_keys(e, LEVEL);
    const int64_t *of = p->of.data;
    int C = p->model.width, code = 0;
    for (int i = 0, s = 0; i < r->rows && !code; i++) {
        int row = r->row[i];
        while (b->offsets[s + 1] <= row) s++;
        judge(p, r, i, of[s]);
        if (b->point_targets[LEVEL][row] >= 0)
            code = keep(&p->query, query + (size_t)i * (size_t)C, C, b->codes[row], of[s], err);
    }
    for (int s = 0; s < b->sequences && !code; s++) {
        int start = b->offsets[s], prompt = lg__match_prompt(b, start, b->offsets[s + 1]);
        for (int t = start; t < start + prompt && !code; t++)
            if (lg__match_is_key(&p->model, b->tokens[t], b->ids[LEVEL][t]))
                code = keep(&p->key, key + (size_t)t * (size_t)C, C, b->codes[t], of[s], err);
    }
    return code;
}

static int run(struct lg__matching *p, lg_evaluator *e, lg_error *err)
{
    lg_eval_result r;
    int code = p->batch.rows ? lg_evaluator_run(e, &p->batch, &r, err) : 0;
    if (!code && p->batch.rows) code = gather(p, e, &r, err);
    lg_batch_reset(&p->batch);
    return code;
}

/* Adds input i to the batch, which is run when it is full. */
static int add(struct lg__matching *p, int64_t i, lg_evaluator *e, lg_error *err)
{
    int code = p->relation.write(p->task, &p->relation, i, -1, 0, &p->x, err);
    if (code || !p->x.n) return code;
    if ((code = lg_plan_add(p->plan, &p->x, NULL, &p->batch, err)) ||
        (code = room(&p->of, (size_t)p->batch.sequences * sizeof i, err)))
        return code;
    ((int64_t *)p->of.data)[p->batch.sequences - 1] = i;
    return p->batch.rows < ROWS ? 0 : run(p, e, err);
}

/* An input, and those whose keys differ from its key in one word. */
static int add_neighbours(struct lg__matching *p, lg_rng *r, lg_evaluator *e, lg_error *err)
{
    const struct lg__relation *of = &p->relation;
    uint64_t drawn = (uint64_t)lg_rng_u32(r) << 32 | lg_rng_u32(r);
    int64_t input = (int64_t)(drawn % (uint64_t)of->inputs), power = 1;
    int code = add(p, input, e, err);
    for (int j = 0; j < of->words && !code; j++, power *= of->base) {
        int64_t digit = input / power % of->base;
        int64_t other = (digit + 1 + lg_rng_below(r, (uint32_t)of->base - 1)) % of->base;
        code = add(p, input + (other - digit) * power, e, err);
    }
    return code;
}

int lg__matching_judge(struct lg__matching *p, const lg_model *m, lg_evaluator *e, int threads,
                       int sample, uint64_t seed, uint64_t index, lg_error *err)
{
    int64_t inputs = p->relation.inputs;
    int code = 0;
    clear(&p->query);
    clear(&p->key);
    lg_batch_reset(&p->batch);
    p->contexts = p->wrong = p->pairs = p->missed = p->false_matches = 0;
    p->margin = INFINITY;
    p->listed = p->cut = 0;
    if (sample > 0 && sample < inputs) {
        lg_rng r;
        lg_rng_init(&r, seed, 0x9a17u, index);
        for (int i = 0; i < sample && !code; i++) code = add_neighbours(p, &r, e, err);
    } else {
        for (int64_t i = 0; i < inputs && !code; i++) {
            code = add(p, i, e, err);
            if (p->progress && i % 4096 == 0)
                p->progress(p->context, "checking contexts", i, inputs);
        }
    }
    if (!code) code = run(p, e, err);
    if (p->progress && !code) p->progress(p->context, "checking contexts", inputs, inputs);
    return code ? code : lg__matching_multiply(p, m, threads, err);
}
