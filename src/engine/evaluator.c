/* evaluator.c: logits of a packed batch, without gradients: a view (walk.h) in slices. Layer by
 * layer first the keys and values of all rows are made, then everything else, in place. So memory is
 * the stream and one layer's keys, linear in the length, and all cores work on one long sequence as
 * well as on many short ones. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "first.h"
#include "pointer.h"
#include "walk.h"

enum { HEAD_ROWS = 96 }; /* whose logits are made at a time where their losses alone are wanted */

/* What belongs to one level of IDs: [wanted] but for the keys. */
struct level {
    struct lg__block targets, id_logits;
    struct lg__block key, query;          /* [rows, C], [wanted, C] of the pointer */
    struct lg__block wanted, found, cost; /* the pointer's target, what it finds, its loss */
};

struct lg_evaluator {
    const struct lg_model *m;
    struct lg__pool *pool;
    struct lg__rotary_table turns;
    struct lg__block slices, strands;       /* of the view */
    struct lg__block at;                    /* [rows] place in its sequence */
    struct lg__block rows, row_at, targets; /* [wanted] row in the batch, its place, its target */
    struct lg__block x, kv, packed, logits, loss;
    struct lg__block block_at; /* [sequences + 1] first key block of each sequence */
    struct lg__block places;   /* struct lg__places [places_room] */
    struct lg__block ids_at;   /* size_t [sequences]; of those that share rows, all IDs: */
    struct lg__block whole[LG_LEVELS];
    struct level level[LG_LEVELS];
    struct lg__block slot, kinds, kind_of; /* int [vocab], [kinds], [rows] */
    struct lg__block made[3];              /* first layer, one row a kind: kv, q, feed-forward */
    int places_room;
    struct lg__block *arena; /* one a thread: acts[thread], then the attention's */
    struct lg__acts *acts;
    struct lg__lists *lists;
    float **scratch;

    /* of the call that is running */
    const lg_batch *b;
    const int *shared; /* [sequences] rows of sequence 0 that come before its own; NULL: none */
    int losses;        /* they alone are wanted: logits are not kept, other heads not run */
    int slice_count, wanted;
    struct lg__view view;
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
    return (const int32_t *)e->whole[l].data + ((const size_t *)e->ids_at.data)[s];
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
    e->arena = lg__alloc(n * sizeof *e->arena);
    e->acts = lg__alloc(n * sizeof *e->acts);
    e->lists = lg__alloc(n * sizeof *e->lists);
    e->scratch = lg__alloc(n * sizeof *e->scratch);
    if (!e->arena || !e->acts || !e->lists || !e->scratch) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluator; end other programs");
        lg_evaluator_free(e);
        return NULL;
    }
    return e;
}

void lg_evaluator_free(lg_evaluator *e)
{
    if (!e) return;
    struct lg__block *all[] = {&e->slices,  &e->strands,  &e->rows,    &e->row_at, &e->targets,
                               &e->at,      &e->x,        &e->kv,      &e->packed, &e->logits,
                               &e->loss,    &e->block_at, &e->ids_at,  &e->slot,   &e->kinds,
                               &e->kind_of, &e->made[0],  &e->made[1], &e->made[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lg__block_free(all[i]);
    for (int l = 0; l < LG_LEVELS; l++) {
        lg__block_free(&e->whole[l]);
        struct level *v = &e->level[l];
        struct lg__block *own[] = {&v->targets, &v->id_logits, &v->key, &v->query,
                                   &v->wanted,  &v->found,     &v->cost};
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) lg__block_free(own[i]);
    }
    for (int i = 0; i < e->places_room; i++)
        lg__places_free((struct lg__places *)e->places.data + i);
    lg__block_free(&e->places);
    for (int i = 0; e->arena && i < lg__pool_threads(e->pool); i++) lg__block_free(&e->arena[i]);
    free(e->arena);
    free(e->acts);
    free(e->lists);
    free(e->scratch);
    lg__rotary_table_free(&e->turns);
    lg__pool_free(e->pool);
    free(e);
}

/* ---- The plan ------------------------------------------------------------------------------ */

static void cut(struct lg_evaluator *e)
{
    const lg_batch *b = e->b;
    struct lg__slice *c = e->slices.data;
    struct lg__strand *strand = e->strands.data;
    int *at = e->at.data;
    e->slice_count = 0;
    for (int s = 0; s < b->sequences; s++) {
        int start = b->offsets[s], end = b->offsets[s + 1], shared = shared_rows(e, s);
        struct lg__slice *open = e->slice_count ? &c[e->slice_count - 1] : NULL;
        strand[s] = (struct lg__strand){start, end, shared};
        for (int t = start; t < end; t++) at[t] = shared + t - start;
        if (open && end - open->r0 <= LG__SLICE_ROWS) {
            open->r1 = end;
            continue;
        }
        for (int r = start; r < end; r += LG__SLICE_ROWS)
            c[e->slice_count++] = (struct lg__slice){
                .r0 = r, .r1 = end - r < LG__SLICE_ROWS ? end : r + LG__SLICE_ROWS, .strand = s};
    }
    int *rows = e->rows.data, *row_at = e->row_at.data;
    int32_t *target = e->targets.data;
    e->wanted = 0;
    for (int i = 0; i < e->slice_count; i++) {
        c[i].query = e->wanted;
        for (int r = c[i].r0; r < c[i].r1; r++) {
            if (e->losses ? b->targets[r] < 0 : !lg__wanted(b, r)) continue;
            for (int l = 0; l < b->levels; l++) {
                ((int32_t *)e->level[l].targets.data)[e->wanted] = b->id_targets[l][r];
                ((int32_t *)e->level[l].wanted.data)[e->wanted] = b->point_targets[l][r];
            }
            rows[e->wanted] = r;
            row_at[e->wanted] = at[r];
            target[e->wanted++] = b->targets[r];
        }
        c[i].queries = e->wanted - c[i].query;
    }
}

/* Puts the IDs of the rows that a sequence shares before its own. */
static int gather_ids(struct lg_evaluator *e, lg_error *err)
{
    const lg_batch *b = e->b;
    size_t all = 0, i4 = sizeof(int32_t);
    int code = lg__block_grow(&e->ids_at, (size_t)b->sequences * sizeof all, 0, "IDs", err);
    if (code) return code;
    for (int s = 0; s < b->sequences; s++) {
        ((size_t *)e->ids_at.data)[s] = all;
        all += shared_rows(e, s) ? (size_t)whole_rows(e, s) : 0;
    }
    for (int l = 0; l < b->levels; l++) {
        if ((code = lg__block_grow(&e->whole[l], all * i4, 0, "IDs", err))) return code;
        for (int s = 0; s < b->sequences; s++) {
            int32_t *to = (int32_t *)e->whole[l].data + ((size_t *)e->ids_at.data)[s];
            size_t before = (size_t)shared_rows(e, s);
            if (!before) continue;
            memcpy(to, b->ids[l], before * i4);
            memcpy(to + before, b->ids[l] + b->offsets[s],
                   ((size_t)whole_rows(e, s) - before) * i4);
        }
    }
    return 0;
}

static int reserve_places(struct lg_evaluator *e, lg_error *err)
{
    const lg_batch *b = e->b;
    int code;
    if (b->sequences > e->places_room) {
        code = lg__block_grow(&e->places, (size_t)b->sequences * sizeof(struct lg__places), 1,
                              "indexes", err);
        if (code) return code;
        struct lg__places *x = e->places.data;
        memset(x + e->places_room, 0, (size_t)(b->sequences - e->places_room) * sizeof *x);
        e->places_room = b->sequences;
    }
    for (int s = 0; s < b->sequences; s++) {
        code = lg__places_reset((struct lg__places *)e->places.data + s, b->levels,
                                whole_rows(e, s), err);
        if (code) return code;
    }
    return 0;
}

static void fill_places(void *context, int s, int thread)
{
    struct lg_evaluator *e = context;
    struct lg__places *x = (struct lg__places *)e->places.data + s;
    const int32_t *ids[LG_LEVELS] = {0};
    (void)thread;
    for (int l = 0; l < e->b->levels; l++) ids[l] = whole_ids(e, s, l);
    for (int t = 0; t < whole_rows(e, s); t++) lg__places_add(x, ids, t);
}

/* Lists the kinds of tokens, if it pays to run the first layer by them. */
static int list_kinds(struct lg_evaluator *e, lg_error *err)
{
    size_t V = (size_t)e->m->config.vocab, T = (size_t)e->b->rows, C = (size_t)e->m->config.width;
    size_t most = V < T ? V : T; /* kinds, of any batch with as many rows */
    int code;
    if (!lg__by_kind(e->m)) return 0;
    if (!e->slot.size) {
        if ((code = lg__block_grow(&e->slot, V * sizeof(int), 0, "tokens", err))) return code;
        memset(e->slot.data, -1, e->slot.size);
    }
    if ((code = lg__block_grow(&e->kinds, most * sizeof(int32_t), 0, "tokens", err)) ||
        (code = lg__block_grow(&e->kind_of, T * sizeof(int), 0, "tokens", err)))
        return code;
    int n = lg__kinds_list(e->slot.data, e->b->tokens, e->b->rows, e->kinds.data, e->kind_of.data);
    if (!lg__kinds_pay(n, e->b->rows)) return 0;
    size_t paid = most < T / 4 * 3 ? most : T / 4 * 3;
    for (int i = 0; i < (e->m->config.parallel ? 3 : 2); i++) {
        size_t wide = C * (i ? 1 : 2) * sizeof(float);
        if ((code = lg__block_grow(&e->made[i], paid * wide, 0, "the first layer", err)))
            return code;
    }
    e->view.kinds = n;
    e->view.made.kv = e->made[0].data;
    e->view.made.q = e->made[1].data;
    e->view.made.out = e->made[2].data;
    return 0;
}

static int reserve(struct lg_evaluator *e, lg_error *err)
{
    const struct lg_model *m = e->m;
    const lg_batch *b = e->b;
    size_t C = (size_t)m->config.width, T = (size_t)b->rows, f = sizeof(float);
    int code, longest = 0, most = 0, window = m->config.span == LG_SPAN_WINDOW;
    int *first = e->block_at.data, blocks = 0;
    for (int s = 0; s < b->sequences; s++) {
        int n = whole_rows(e, s);
        first[s] = blocks;
        blocks += (n + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK - shared_rows(e, s) / LG__KEY_BLOCK;
        longest = n > longest ? n : longest;
        if (!window) continue;
        int seen = lg__places_most((struct lg__places *)e->places.data + s, &m->config, 0);
        most = seen > most ? seen : most;
    }
    first[b->sequences] = blocks;
    struct lg__arena count = {0};
    int room = most < LG__MOST_LISTED / LG__SLICE_ROWS ? most * LG__SLICE_ROWS : most;
    lg__acts_take(m, &count, &e->acts[0], LG__SLICE_ROWS, LG__SLICE_ROWS, 0);
    if (window) lg__lists_take(&e->lists[0], &count, LG__SLICE_ROWS, room);
    size_t rest = lg__attention_scratch(m, longest, most, 0) + (size_t)longest;
    size_t block = 2 * LG__KEY_BLOCK * C,
           head = e->losses ? HEAD_ROWS * (size_t)m->config.vocab : 0;
    size_t kept = e->losses ? 0 : (size_t)e->wanted * (size_t)m->config.vocab;
    if (block > rest) rest = block;
    if (head > rest) rest = head;
    if ((code = lg__block_grow(&e->x, T * C * f, 0, "the stream", err)) ||
        (code = lg__block_grow(&e->kv, 2 * T * C * f, 0, "keys and values", err)) ||
        (code = lg__block_grow(&e->packed, window ? 0 : (size_t)blocks * lg__keys_block_size(m) * f,
                               0, "packed keys", err)) ||
        (code = lg__block_grow(&e->logits, kept * f, 0, "logits", err)) ||
        (code = lg__block_grow(&e->loss, (size_t)e->wanted * f, 0, "losses", err)) ||
        (code = lg__rotary_table_reserve(m, &e->turns, lg__ids(b), b->rows, err)))
        return code;
    for (int l = 0; l < b->levels; l++) {
        struct level *v = &e->level[l];
        size_t W = (size_t)e->wanted, classes = (size_t)m->config.id_classes[l];
        size_t pointer = m->config.pointer[l] ? 1 : 0;
        if ((code = lg__block_grow(&v->id_logits, W * classes * f, 0, "ID logits", err)) ||
            (code = lg__block_grow(&v->key, pointer * T * C * f, 0, "pointer keys", err)) ||
            (code = lg__block_grow(&v->query, pointer * W * C * f, 0, "pointer queries", err)) ||
            (code = lg__block_grow(&v->found, pointer * W * sizeof(int32_t), 0, "IDs", err)) ||
            (code = lg__block_grow(&v->cost, pointer * W * sizeof(double), 0, "losses", err)))
            return code;
    }
    for (int i = 0; i < lg__pool_threads(e->pool); i++) {
        if ((code = lg__block_grow(&e->arena[i], (count.used + rest) * f, 0, "activations", err)))
            return code;
        struct lg__arena own = {e->arena[i].data, 0};
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
                           .before = shared ? e->packed.data : NULL,
                           .shared = shared,
                           .gap = shared ? start - shared : 0};
    for (int i = 0; i < e->b->levels; i++) k->ids[i] = whole_ids(e, s, i);
    if (m->config.span == LG_SPAN_WINDOW)
        k->places = (struct lg__places *)e->places.data + s;
    else
        k->packed = (float *)e->packed.data + (size_t)v->block_at[s] * lg__keys_block_size(m);
}

static void look(struct lg_evaluator *e)
{
    struct lg__view *v = &e->view;
    const lg_batch *b = e->b;
    v->m = e->m;
    v->owner = e;
    v->rows = b->rows;
    v->tokens = b->tokens;
    for (int l = 0; l < b->levels; l++) v->ids[l] = b->ids[l];
    v->at = e->at.data;
    v->query = e->rows.data;
    v->query_at = e->row_at.data;
    v->strand = e->strands.data;
    v->strands = b->sequences;
    v->slice = e->slices.data;
    v->slices = e->slice_count;
    v->turns = &e->turns;
    v->keys = batch_keys;
    v->block_at = e->m->config.span == LG_SPAN_WINDOW ? NULL : e->block_at.data;
    v->acts = e->acts;
    v->x = e->x.data;
    v->kv = e->kv.data;
    v->scratch = e->scratch;
    v->lists = e->m->config.span == LG_SPAN_WINDOW ? e->lists : NULL;
    v->kind = e->kinds.data;
    v->kind_of = e->kind_of.data;
    if (e->losses) return;
    v->logits = e->logits.data;
    for (int l = 0; l < b->levels; l++) {
        const struct level *of = &e->level[l];
        if (e->m->id_head[l].out) v->id_logits[l] = of->id_logits.data;
        if (!e->m->config.pointer[l]) continue;
        v->pointer_query[l] = of->query.data;
        v->pointer_key[l] = of->key.data;
    }
}

/* ---- What becomes of the final rows ------------------------------------------------------------- */

/* What the pointer of level l finds from a slice's rows. */
static void point(const struct lg_evaluator *e, int l, const struct lg__slice *c, float *scores)
{
    const struct lg_model *m = e->m;
    const struct level *v = &e->level[l];
    size_t C = (size_t)m->config.width;
    for (int w = c->query; w < c->query + c->queries; w++) {
        int row = ((int *)e->rows.data)[w], at = ((int *)e->at.data)[row];
        int32_t wanted = ((int32_t *)v->wanted.data)[w], *found = (int32_t *)v->found.data + w;
        const int32_t *ids = e->b->ids[l] + (row - at);
        *found = LG_ABSENT;
        if (wanted < 0) continue;
        struct lg__pointer_keys k = {(float *)v->key.data + (size_t)(row - at) * C, ids, at + 1};
        lg__pointer_scores(m, &m->pointer[l], scores, (float *)v->query.data + (size_t)w * C, &k,
                           lg__carried(ids, at));
        *found = lg__pointer_best(scores, &k);
        ((double *)v->cost.data)[w] = lg__pointer_loss(scores, &k, wanted, 1, 0);
    }
}

static void run_pointers(void *context, int i, int thread)
{
    const struct lg_evaluator *e = context;
    for (int l = 0; l < e->m->config.levels; l++)
        if (e->m->config.pointer[l]) point(e, l, &e->view.slice[i], e->scratch[thread]);
}

/* The losses of a slice, a few rows at a time. */
static void run_losses(void *context, int i, int thread)
{
    const struct lg_evaluator *e = context;
    const struct lg_model *m = e->m;
    const struct lg__slice *c = &e->view.slice[i];
    size_t C = (size_t)m->config.width;
    const float *final = (const float *)e->x.data + (size_t)c->r0 * C;
    for (int r = 0; r < c->queries; r += HEAD_ROWS) {
        int n = c->queries - r < HEAD_ROWS ? c->queries - r : HEAD_ROWS, at = c->query + r;
        lg__linear_forward(m, &m->head, e->scratch[thread], final + (size_t)r * C, n, 0);
        m->k->cross_entropy((float *)e->loss.data + at, NULL, e->scratch[thread],
                            (const int32_t *)e->targets.data + at, 1.0f, n, m->config.vocab);
    }
}

/* ---- The call ------------------------------------------------------------------------------------ */

static double mean_loss(struct lg_evaluator *e, const float *logits, const int32_t *target, int V,
                        int *targets, int *right)
{
    float *loss = e->loss.data;
    double sum = 0;
    *targets = 0;
    e->m->k->cross_entropy(loss, NULL, logits, target, 1.0f, e->wanted, V);
    for (int i = 0; i < e->wanted; i++) {
        *targets += target[i] >= 0;
        sum += (double)loss[i];
    }
    *right = lg__count_right(logits, target, e->wanted, V);
    return *targets ? sum / *targets : 0;
}

static void level_losses(struct lg_evaluator *e, int l, lg_eval_result *r)
{
    const struct level *v = &e->level[l];
    int n = 0, right = 0;
    if (e->m->id_head[l].out) {
        r->id_logits[l] = v->id_logits.data;
        r->id_loss +=
            mean_loss(e, r->id_logits[l], v->targets.data, e->m->config.id_classes[l], &n, &right);
        r->id_targets += n;
        r->id_right += right;
    }
    if (!e->m->config.pointer[l]) return;
    const int32_t *wanted = v->wanted.data, *found = v->found.data;
    double sum = 0;
    n = 0;
    for (int i = 0; i < e->wanted; i++) {
        if (wanted[i] < 0) continue;
        n++;
        sum += ((const double *)v->cost.data)[i];
        r->id_right += found[i] == wanted[i];
    }
    r->pointed_id[l] = found;
    r->id_targets += n;
    if (n) r->id_loss += sum / n;
}

/* All layers and the heads. */
static int run(struct lg_evaluator *e, const lg_batch *b, const int *shared, int losses,
               lg_error *err)
{
    const struct lg_model *m = e->m;
    size_t T = (size_t)b->rows, i4 = sizeof(int32_t);
    int code, window = m->config.span == LG_SPAN_WINDOW;
    if ((code = lg__check_batch(m, b, err))) return code;
    e->b = b;
    e->shared = shared;
    e->losses = losses;
    e->view = (struct lg__view){0};
    size_t S = (size_t)b->sequences, most = S + T / LG__SLICE_ROWS + 1;
    if ((code = lg__block_grow(&e->slices, most * sizeof(struct lg__slice), 0, "slices", err)) ||
        (code = lg__block_grow(&e->strands, S * sizeof(struct lg__strand), 0, "strands", err)) ||
        (code = lg__block_grow(&e->rows, T * i4, 0, "rows", err)) ||
        (code = lg__block_grow(&e->row_at, T * i4, 0, "places", err)) ||
        (code = lg__block_grow(&e->targets, T * i4, 0, "targets", err)) ||
        (code = lg__block_grow(&e->at, T * i4, 0, "places", err)) ||
        (code = lg__block_grow(&e->block_at, (S + 1) * i4, 0, "blocks", err)) ||
        (shared && (code = gather_ids(e, err))))
        return code;
    for (int l = 0; l < b->levels; l++)
        if ((code = lg__block_grow(&e->level[l].targets, T * i4, 0, "targets", err)) ||
            (code = lg__block_grow(&e->level[l].wanted, T * i4, 0, "targets", err)))
            return code;
    cut(e);
    if (window) {
        if ((code = reserve_places(e, err))) return code;
        lg__pool_run(e->pool, b->sequences, fill_places, e);
    }
    if ((code = list_kinds(e, err)) || (code = reserve(e, err))) return code;
    look(e);
    lg__walk(&e->view, e->pool);
    int pointers = 0;
    for (int l = 0; l < b->levels; l++) pointers |= m->config.pointer[l];
    if (losses)
        lg__pool_run(e->pool, e->slice_count, run_losses, e);
    else if (pointers)
        lg__pool_run(e->pool, e->slice_count, run_pointers, e);
    return 0;
}

int lg_evaluator_run(lg_evaluator *e, const lg_batch *b, lg_eval_result *r, lg_error *err)
{
    int code = run(e, b, NULL, 0, err);
    if (code) return code;
    *r = (lg_eval_result){
        .rows = e->wanted,
        .row = e->rows.data,
        .logits = e->logits.data,
    };
    r->loss = mean_loss(e, r->logits, e->targets.data, e->m->config.vocab, &r->targets, &r->right);
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
    if (!code) *r = (lg_eval_losses){e->wanted, e->rows.data, e->loss.data};
    return code;
}
