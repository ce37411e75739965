/* evaluator.c: logits of a packed batch, without gradients: a view (walk.h) in slices. Layer by
 * layer first the keys and values of all rows are made, then everything else, in place. So memory is
 * the stream and one layer's keys, linear in the length, and all cores work on one long sequence as
 * well as on many short ones. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "match.h"
#include "pointer.h"
#include "walk.h"

enum { HEAD_ROWS = 96 }; /* whose logits are made at a time where their losses alone are wanted */

/* What belongs to one level of IDs: [wanted]. */
struct level {
    int32_t *targets, *wanted, *found; /* of the head; the pointer's, and what it finds */
    double *cost;                      /* the pointer's loss */
    int32_t *keys;                     /* match heads: [rows] IDs of keys, else LG_ABSENT */
    int32_t *whole;                    /* all IDs of sequences that share rows */
};

struct lg_evaluator {
    const struct lg_model *m;
    struct lg__pool *pool;
    struct lg__rotary_table turns;
    struct lg__block plan, work; /* what follows from the batch alone; all else */
    struct lg__places *places;   /* [places_room] */
    struct lg__block slot;       /* int [vocab], all -1 */
    struct lg__block *own;       /* one per thread: acts[thread], lists, the attention's */
    struct lg__acts *acts;
    struct lg__lists *lists;
    float **scratch;
    int places_room;

    /* of the call that is running */
    const lg_batch *b;
    const int *shared; /* [sequences] rows of sequence 0 that come before its own; NULL: none */
    int losses;        /* they alone are wanted: logits are not kept, other heads not run */
    int wanted;
    struct lg__view view;
    /* in the plan */
    struct lg__slice *slices;
    struct lg__strand *strands;
    int *at;            /* [rows] place in its sequence */
    int *rows, *row_at; /* [wanted] row in the batch, its place */
    int32_t *targets;   /* [wanted] */
    int *block_at;      /* [sequences + 1] first key block of each sequence */
    size_t *ids_at;     /* [sequences] where its IDs are in `whole` */
    int32_t *kind;      /* [kinds] */
    int *kind_of;       /* [rows] */
    struct level level[LG_LEVELS];
    float *packed, *loss;
};

static int shared_rows(const struct lg_evaluator *e, int s) { return e->shared ? e->shared[s] : 0; }

/* Rows of sequence s with those that it shares. */
static int whole_rows(const struct lg_evaluator *e, int s)
{
    return shared_rows(e, s) + e->b->offsets[s + 1] - e->b->offsets[s];
}

/* The IDs of its rows at level l. */
static const int32_t *whole_ids(const struct lg_evaluator *e, int s, int l)
{
    if (!shared_rows(e, s)) return e->b->ids[l] + e->b->offsets[s];
    return e->level[l].whole + e->ids_at[s];
}

lg_evaluator *lg_evaluator_new(const lg_model *m, int threads, lg_error *err)
{
    struct lg_evaluator *e = lg__alloc(sizeof *e);
    if (!e) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluator; end other programs");
        return NULL;
    }
    e->m = m;
    e->pool = lg__pool_new(threads, err);
    if (!e->pool) {
        free(e);
        return NULL;
    }
    size_t n = (size_t)lg__pool_threads(e->pool);
    e->own = lg__alloc(n * sizeof *e->own);
    e->acts = lg__alloc(n * sizeof *e->acts);
    e->lists = lg__alloc(n * sizeof *e->lists);
    e->scratch = lg__alloc(n * sizeof *e->scratch);
    if (!e->own || !e->acts || !e->lists || !e->scratch) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluator; end other programs");
        lg_evaluator_free(e);
        return NULL;
    }
    return e;
}

void lg_evaluator_free(lg_evaluator *e)
{
    if (!e) return;
    for (int i = 0; i < e->places_room; i++) lg__places_free(&e->places[i]);
    free(e->places);
    for (int i = 0; e->own && i < lg__pool_threads(e->pool); i++) lg__block_free(&e->own[i]);
    lg__block_free(&e->plan);
    lg__block_free(&e->work);
    lg__block_free(&e->slot);
    free(e->own);
    free(e->acts);
    free(e->lists);
    free(e->scratch);
    lg__rotary_table_free(&e->turns);
    lg__pool_free(e->pool);
    free(e);
}

/* ---- The plan ------------------------------------------------------------------------------ */

static size_t take_plan(struct lg_evaluator *e, float *base)
{
    struct lg__arena to = {base, 0};
    size_t S = (size_t)e->b->sequences, T = (size_t)e->b->rows, all = 0;
    for (int s = 0; s < e->b->sequences; s++)
        all += (size_t)(shared_rows(e, s) ? whole_rows(e, s) : 0);
    e->slices = lg__arena_take(&to, S + T / LG__SLICE_ROWS + 1, sizeof *e->slices);
    e->strands = lg__arena_take(&to, S, sizeof *e->strands);
    e->at = lg__arena_ints(&to, T);
    e->rows = lg__arena_ints(&to, T);
    e->row_at = lg__arena_ints(&to, T);
    e->targets = lg__arena_ints(&to, T);
    e->block_at = lg__arena_ints(&to, S + 1);
    e->ids_at = lg__arena_take(&to, S, sizeof *e->ids_at);
    e->kind = lg__arena_ints(&to, T);
    e->kind_of = lg__arena_ints(&to, T);
    for (int l = 0; l < e->b->levels; l++) {
        e->level[l].targets = lg__arena_ints(&to, T);
        e->level[l].wanted = lg__arena_ints(&to, T);
        e->level[l].whole = lg__arena_ints(&to, all);
    }
    return to.used;
}

static void cut(struct lg_evaluator *e)
{
    const lg_batch *b = e->b;
    struct lg__slice *c = e->slices;
    int n = 0;
    for (int s = 0; s < b->sequences; s++) {
        int start = b->offsets[s], end = b->offsets[s + 1], shared = shared_rows(e, s);
        e->strands[s] = (struct lg__strand){start, end, shared};
        for (int t = start; t < end; t++) e->at[t] = shared + t - start;
        if (n && end - c[n - 1].r0 <= LG__SLICE_ROWS) {
            c[n - 1].r1 = end;
            continue;
        }
        for (int r = start; r < end; r += LG__SLICE_ROWS)
            c[n++] = (struct lg__slice){
                .r0 = r, .r1 = end - r < LG__SLICE_ROWS ? end : r + LG__SLICE_ROWS, .strand = s};
    }
    e->view.slices = n;
    e->wanted = 0;
    for (int i = 0; i < n; i++) {
        c[i].query = e->wanted;
        for (int r = c[i].r0; r < c[i].r1; r++) {
            if (e->losses ? b->targets[r] < 0 : !lg__wanted(b, r)) continue;
            for (int l = 0; l < b->levels; l++) {
                e->level[l].targets[e->wanted] = b->id_targets[l][r];
                e->level[l].wanted[e->wanted] = b->point_targets[l][r];
            }
            e->rows[e->wanted] = r;
            e->row_at[e->wanted] = e->at[r];
            e->targets[e->wanted++] = b->targets[r];
        }
        c[i].queries = e->wanted - c[i].query;
    }
}

/* Puts the IDs of the rows that a sequence shares before its own. */
static void gather_ids(struct lg_evaluator *e)
{
    const lg_batch *b = e->b;
    size_t all = 0, i4 = sizeof(int32_t);
    for (int s = 0; s < b->sequences; s++) {
        size_t before = (size_t)shared_rows(e, s), n = (size_t)whole_rows(e, s);
        e->ids_at[s] = all;
        if (!before) continue;
        for (int l = 0; l < b->levels; l++) {
            memcpy(e->level[l].whole + all, b->ids[l], before * i4);
            memcpy(e->level[l].whole + all + before, b->ids[l] + b->offsets[s], (n - before) * i4);
        }
        all += n;
    }
}

static int reserve_places(struct lg_evaluator *e, lg_error *err)
{
    int code = lg__places_room(&e->places, &e->places_room, e->b->sequences, err);
    for (int s = 0; !code && s < e->b->sequences; s++)
        code = lg__places_reset(&e->places[s], e->b->levels, whole_rows(e, s), err);
    return code;
}

static void fill_places(void *context, int s, int thread)
{
    struct lg_evaluator *e = context;
    const int32_t *ids[LG_LEVELS] = {0};
    (void)thread;
    for (int l = 0; l < e->b->levels; l++) ids[l] = whole_ids(e, s, l);
    for (int t = 0; t < whole_rows(e, s); t++) lg__places_add(&e->places[s], ids, t);
}

/* Lists the kinds of tokens, if it pays to run the first layer by them. */
static int list_kinds(struct lg_evaluator *e, lg_error *err)
{
    size_t bytes = (size_t)e->m->config.vocab * sizeof(int);
    if (!lg__by_kind(e->m)) return 0;
    if (!e->slot.size) {
        int code = lg__block_grow(&e->slot, bytes, 0, "tokens", err);
        if (code) return code;
        memset(e->slot.data, -1, e->slot.size);
    }
    int n = lg__kinds_list(e->slot.data, e->b->tokens, e->b->rows, e->kind, e->kind_of);
    if (lg__kinds_pay(n, e->b->rows)) e->view.kinds = n;
    return 0;
}

/* Arrays of floats; with so many blocks of packed keys. */
static size_t take_work(struct lg_evaluator *e, float *base, int blocks)
{
    const lg_model_config *c = &e->m->config;
    struct lg__view *v = &e->view;
    struct lg__arena to = {base, 0};
    size_t C = (size_t)c->width, T = (size_t)e->b->rows, W = (size_t)e->wanted;
    size_t V = (size_t)c->vocab, kinds = T / 4 * 3; /* at most, of any batch with as many rows */
    if (kinds > V) kinds = V;
    if (!v->kinds) kinds = 0;
    v->x = lg__arena_floats(&to, T * C);
    v->kv = lg__arena_floats(&to, 2 * T * C);
    v->made.kv = lg__arena_floats(&to, 2 * kinds * C);
    v->made.q = lg__arena_floats(&to, kinds * C);
    v->made.out = lg__arena_floats(&to, c->parallel ? kinds * C : 0);
    e->packed = lg__arena_floats(&to, (size_t)blocks * lg__keys_block_size(e->m));
    e->loss = lg__arena_floats(&to, W);
    if (e->losses) return to.used;
    v->logits = lg__arena_floats(&to, W * V);
    for (int l = 0; l < c->levels; l++) {
        struct level *of = &e->level[l];
        if (c->id_classes[l]) v->id_logits[l] = lg__arena_floats(&to, W * (size_t)c->id_classes[l]);
        if (!lg__finds(c, l)) continue;
        v->pointer_key[l] = lg__arena_floats(&to, T * C);
        v->pointer_query[l] = lg__arena_floats(&to, W * C);
        of->found = lg__arena_ints(&to, W);
        of->cost = lg__arena_take(&to, W, sizeof *of->cost);
        of->keys = lg__arena_ints(&to, c->match[l] ? T : 0);
    }
    return to.used;
}

static int reserve(struct lg_evaluator *e, lg_error *err)
{
    const struct lg_model *m = e->m;
    const lg_batch *b = e->b;
    int code, longest = 0, most = 0, blocks = 0, window = m->config.span == LG_SPAN_WINDOW;
    for (int s = 0; s < b->sequences; s++) {
        int n = whole_rows(e, s), seen = window ? lg__places_most(&e->places[s], &m->config, 0) : 0;
        e->block_at[s] = blocks;
        blocks += (n + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK - shared_rows(e, s) / LG__KEY_BLOCK;
        longest = n > longest ? n : longest;
        most = seen > most ? seen : most;
    }
    e->block_at[b->sequences] = blocks;
    if (window) blocks = 0;
    struct lg__arena count = {0};
    int room = most < LG__MOST_LISTED / LG__SLICE_ROWS ? most * LG__SLICE_ROWS : most;
    lg__acts_take(m, &count, &e->acts[0], LG__SLICE_ROWS, LG__SLICE_ROWS, 0);
    if (window) lg__lists_take(&e->lists[0], &count, LG__SLICE_ROWS, room);
    size_t rest = lg__attention_scratch(m, longest, most, 0) + (size_t)longest, f = sizeof(float);
    size_t block = 2 * LG__KEY_BLOCK * (size_t)m->config.width;
    size_t head = e->losses ? HEAD_ROWS * (size_t)m->config.vocab : 0;
    if (block > rest) rest = block;
    if (head > rest) rest = head;
    if ((code = lg__block_grow(&e->work, take_work(e, NULL, blocks) * f, 0, "activations", err)) ||
        (code = lg__rotary_table_reserve(m, &e->turns, lg__ids(b), b->rows, err)))
        return code;
    take_work(e, e->work.data, blocks);
    for (int i = 0; i < lg__pool_threads(e->pool); i++) {
        if ((code = lg__block_grow(&e->own[i], (count.used + rest) * f, 0, "activations", err)))
            return code;
        struct lg__arena own = {e->own[i].data, 0};
        lg__acts_take(m, &own, &e->acts[i], LG__SLICE_ROWS, LG__SLICE_ROWS, 0);
        if (window) lg__lists_take(&e->lists[i], &own, LG__SLICE_ROWS, room);
        if (window) lg__lists_forget(&e->lists[i]);
        e->scratch[i] = lg__arena_floats(&own, rest);
    }
    return 0;
}

/* ---- The view ------------------------------------------------------------------------------------ */

static void batch_keys(const struct lg__view *v, int l, int s, struct lg__keys *k)
{
    const struct lg_evaluator *e = v->owner;
    const struct lg_model *m = e->m;
    int shared = shared_rows(e, s), start = e->b->offsets[s], base = shared ? 0 : start;
    (void)l;
    *k = (struct lg__keys){.kv = v->kv + 2 * (size_t)base * (size_t)m->config.width,
                           .n = whole_rows(e, s),
                           .before = shared ? e->packed : NULL,
                           .shared = shared,
                           .gap = shared ? start - shared : 0};
    for (int i = 0; i < e->b->levels; i++) k->ids[i] = whole_ids(e, s, i);
    if (m->config.span == LG_SPAN_WINDOW)
        k->places = &e->places[s];
    else
        k->packed = e->packed + (size_t)e->block_at[s] * lg__keys_block_size(m);
}

static void look(struct lg_evaluator *e)
{
    struct lg__view *v = &e->view;
    const lg_batch *b = e->b;
    int window = e->m->config.span == LG_SPAN_WINDOW;
    v->m = e->m;
    v->owner = e;
    v->rows = b->rows;
    v->tokens = b->tokens;
    for (int l = 0; l < b->levels; l++) v->ids[l] = b->ids[l];
    v->at = e->at;
    v->query = e->rows;
    v->query_at = e->row_at;
    v->strand = e->strands;
    v->strands = b->sequences;
    v->slice = e->slices;
    v->turns = &e->turns;
    v->keys = batch_keys;
    v->block_at = window ? NULL : e->block_at;
    v->acts = e->acts;
    v->scratch = e->scratch;
    v->lists = window ? e->lists : NULL;
    v->kind = e->kind;
    v->kind_of = e->kind_of;
}

/* ---- What becomes of the final rows ------------------------------------------------------------- */

/* What the pointer of level l finds from a slice's rows. */
static void point(const struct lg_evaluator *e, int l, const struct lg__slice *c, float *scores)
{
    const struct lg_model *m = e->m;
    const struct level *v = &e->level[l];
    size_t C = (size_t)m->config.width;
    for (int w = c->query; w < c->query + c->queries; w++) {
        int at = e->row_at[w], start = e->rows[w] - at;
        const int32_t *ids = e->b->ids[l] + start;
        v->found[w] = LG_ABSENT;
        if (v->wanted[w] < 0) continue;
        struct lg__pointer_keys k = {e->view.pointer_key[l] + (size_t)start * C, ids, at + 1};
        lg__pointer_scores(m, &m->pointer[l], scores, e->view.pointer_query[l] + (size_t)w * C, &k,
                           lg__carried(ids, at));
        v->found[w] = lg__pointer_best(scores, &k);
        v->cost[w] = lg__pointer_loss(scores, &k, v->wanted[w], 1, 0);
    }
}

/* The same of a match head. */
static void match(const struct lg_evaluator *e, int l, const struct lg__slice *c, float *z)
{
    const struct lg_model *m = e->m;
    const struct level *v = &e->level[l];
    lg_match order = m->config.match[l];
    for (int w = c->query; w < c->query + c->queries; w++) {
        int at = e->row_at[w], start = e->rows[w] - at;
        int32_t carried = lg__carried(e->b->ids[l] + start, at), code = e->b->codes[e->rows[w]];
        v->found[w] = LG_ABSENT;
        if (v->wanted[w] < 0) continue;
        struct lg__match_keys k = {e->view.pointer_key[l] + (size_t)start * (size_t)m->config.width,
                                   v->keys + start, e->b->codes + start, at + 1};
        lg__match_scores(m, &m->pointer[l], z,
                         e->view.pointer_query[l] + (size_t)w * (size_t)m->config.width, k.key,
                         k.n);
        v->found[w] = lg__match_find(order, z, &k, carried);
        v->cost[w] = code != LG_NONE ? lg__match_loss(z, &k, code, 1, 0)
                                     : lg__match_stick(z, &k, order, carried, v->wanted[w], 1, 0);
    }
}

static void list_keys(void *context, int s, int thread)
{
    const struct lg_evaluator *e = context;
    const lg_batch *b = e->b;
    int start = b->offsets[s], end = b->offsets[s + 1], prompt = lg__match_prompt(b, start, end);
    (void)thread;
    for (int l = 0; l < b->levels; l++)
        if (e->m->config.match[l])
            lg__match_list(&e->m->config, e->level[l].keys + start, b->tokens + start,
                           b->ids[l] + start, prompt, end - start);
}

static void run_pointers(void *context, int i, int thread)
{
    const struct lg_evaluator *e = context;
    for (int l = 0; l < e->m->config.levels; l++)
        if (e->m->config.pointer[l])
            point(e, l, &e->view.slice[i], e->scratch[thread]);
        else if (e->m->config.match[l])
            match(e, l, &e->view.slice[i], e->scratch[thread]);
}

/* The losses of a slice, a few rows at a time. */
static void run_losses(void *context, int i, int thread)
{
    const struct lg_evaluator *e = context;
    const struct lg_model *m = e->m;
    const struct lg__slice *c = &e->view.slice[i];
    size_t C = (size_t)m->config.width;
    const float *final = e->view.x + (size_t)c->r0 * C;
    for (int r = 0; r < c->queries; r += HEAD_ROWS) {
        int n = c->queries - r < HEAD_ROWS ? c->queries - r : HEAD_ROWS, at = c->query + r;
        lg__linear_forward(m, &m->head, e->scratch[thread], final + (size_t)r * C, n, 0);
        m->k->cross_entropy(e->loss + at, NULL, e->scratch[thread], e->targets + at, 1.0f, n,
                            m->config.vocab);
    }
}

/* ---- The call ------------------------------------------------------------------------------------ */

static double mean_loss(struct lg_evaluator *e, const float *logits, const int32_t *target, int V,
                        int *targets, int *right)
{
    double sum = 0;
    *targets = 0;
    e->m->k->cross_entropy(e->loss, NULL, logits, target, 1.0f, e->wanted, V);
    for (int i = 0; i < e->wanted; i++) {
        *targets += target[i] >= 0;
        sum += (double)e->loss[i];
    }
    *right = lg__count_right(logits, target, e->wanted, V);
    return *targets ? sum / *targets : 0;
}

static void level_losses(struct lg_evaluator *e, int l, lg_eval_result *r)
{
    const struct level *v = &e->level[l];
    int n = 0, right = 0;
    if (e->m->id_head[l].out) {
        r->id_logits[l] = e->view.id_logits[l];
        r->id_loss +=
            mean_loss(e, r->id_logits[l], v->targets, e->m->config.id_classes[l], &n, &right);
        r->id_targets += n;
        r->id_right += right;
    }
    if (!lg__finds(&e->m->config, l)) return;
    double sum = 0;
    n = 0;
    for (int i = 0; i < e->wanted; i++) {
        if (v->wanted[i] < 0) continue;
        n++;
        sum += v->cost[i];
        r->id_right += v->found[i] == v->wanted[i];
    }
    r->pointed_id[l] = v->found;
    r->id_targets += n;
    if (n) r->id_loss += sum / n;
}

/* All layers and the heads. */
static int run(struct lg_evaluator *e, const lg_batch *b, const int *shared, int losses,
               lg_error *err)
{
    const struct lg_model *m = e->m;
    int code, pointers = 0, matches = 0, window = m->config.span == LG_SPAN_WINDOW;
    if ((code = lg__check_batch(m, b, err))) return code;
    e->b = b;
    e->shared = shared;
    e->losses = losses;
    e->view = (struct lg__view){0};
    code = lg__block_grow(&e->plan, take_plan(e, NULL) * sizeof(float), 0, "rows", err);
    if (code) return code;
    take_plan(e, e->plan.data);
    gather_ids(e);
    cut(e);
    if (window) {
        if ((code = reserve_places(e, err))) return code;
        lg__pool_run(e->pool, b->sequences, fill_places, e);
    }
    if ((code = list_kinds(e, err)) || (code = reserve(e, err))) return code;
    look(e);
    lg__walk(&e->view, e->pool);
    for (int l = 0; l < b->levels; l++) {
        pointers |= lg__finds(&m->config, l);
        matches |= m->config.match[l] != LG_MATCH_NONE;
    }
    if (matches && !losses) lg__pool_run(e->pool, b->sequences, list_keys, e);
    if (losses)
        lg__pool_run(e->pool, e->view.slices, run_losses, e);
    else if (pointers)
        lg__pool_run(e->pool, e->view.slices, run_pointers, e);
    return 0;
}

int lg_evaluator_run(lg_evaluator *e, const lg_batch *b, lg_eval_result *r, lg_error *err)
{
    int code = run(e, b, NULL, 0, err);
    if (code) return code;
    *r = (lg_eval_result){
        .rows = e->wanted,
        .row = e->rows,
        .logits = e->view.logits,
    };
    r->loss = mean_loss(e, r->logits, e->targets, e->m->config.vocab, &r->targets, &r->right);
    for (int l = 0; l < b->levels; l++) level_losses(e, l, r);
    return 0;
}

int lg_evaluator_losses(lg_evaluator *e, const lg_batch *b, const int *shared, lg_eval_losses *r,
                        lg_error *err)
{
    for (int s = 0; shared && s < b->sequences; s++) {
        int most = s ? b->offsets[1] : 0;
        if (shared[s] < 0 || shared[s] > most)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "sequence %d is said to share %d tokens with sequence 0; it can share "
                            "0 to %d",
                            s, shared[s], most);
    }
    int code = run(e, b, shared, 1, err);
    if (!code) *r = (lg_eval_losses){e->wanted, e->rows, e->loss};
    return code;
}

const float *lg__evaluator_queries(const lg_evaluator *e, int level)
{
    return e->view.pointer_query[level];
}

const float *lg__evaluator_keys(const lg_evaluator *e, int level)
{
    return e->view.pointer_key[level];
}
