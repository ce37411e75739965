/* evaluator.c: logits of a packed batch, without gradients. Layer by layer: first the keys
 * and values of all rows, then, a few hundred rows at a time, everything else, in place.
 * So memory is the stream and one layer's keys, linear in the length, and all cores work
 * on one long sequence as well as on many short ones. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "first.h"
#include "pass.h"

/* A multiple of the query block; few enough for the second-level cache. */
enum { CHUNK_ROWS = 144 };
enum { HEAD_ROWS = 96 }; /* whose logits are made at a time where their losses alone are wanted */

/* Rows r0..r1-1 of the batch: whole sequences, or a slice of a long one. */
struct chunk {
    int r0, r1;
    int sequence; /* the one that r0 is in */
    int wanted;   /* index of its first wanted row */
    int count;    /* of wanted rows */
};

/* What belongs to one level of IDs: [wanted] but for the keys. */
struct level {
    struct lg__block targets, id_logits;
    struct lg__block key;                 /* [rows, C] of the pointer */
    struct lg__block wanted, found, cost; /* the pointer's target, what it finds, its loss */
};

struct lg_evaluator {
    const struct lg_model *m;
    struct lg__pool *pool;
    struct lg__rotary_table turns;
    struct lg__block chunks, rows, targets; /* of the batch */
    struct lg__block at;                    /* [rows] place in its sequence */
    struct lg__block x, kv, packed, logits, loss;
    struct lg__block block_at; /* [sequences + 1] first key block of each sequence */
    struct lg__block places;   /* struct lg__places [places_room] */
    struct lg__block ids_at;   /* size_t [sequences]; of those that share rows, all IDs: */
    struct lg__block whole[LG_LEVELS];
    struct level level[LG_LEVELS];
    struct lg__block slot, kinds, kind_of; /* int [vocab], [kinds], [rows] */
    struct lg__block made[3];              /* first layer, one row a kind: kv, q, feed-forward */
    int places_room;
    struct lg__block *scratch; /* one a thread */

    /* of the call that is running */
    const lg_batch *b;
    const int *shared; /* [sequences] rows of sequence 0 that come before its own; NULL: none */
    int losses;        /* they alone are wanted: logits are not kept, other heads not run */
    int chunk_count, wanted, layer;
    int kind_count; /* 0: the first layer is run row by row */
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
    e->scratch = lg__alloc((size_t)lg__pool_threads(e->pool) * sizeof *e->scratch);
    if (!e->scratch) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluator; end other programs");
        lg_evaluator_free(e);
        return NULL;
    }
    return e;
}

void lg_evaluator_free(lg_evaluator *e)
{
    if (!e) return;
    struct lg__block *all[] = {&e->chunks,  &e->rows,   &e->targets, &e->at,      &e->x,
                               &e->kv,      &e->packed, &e->logits,  &e->loss,    &e->block_at,
                               &e->ids_at,  &e->slot,   &e->kinds,   &e->kind_of, &e->made[0],
                               &e->made[1], &e->made[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lg__block_free(all[i]);
    for (int l = 0; l < LG_LEVELS; l++) {
        lg__block_free(&e->whole[l]);
        struct level *v = &e->level[l];
        struct lg__block *own[] = {&v->targets, &v->id_logits, &v->key,
                                   &v->wanted,  &v->found,     &v->cost};
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) lg__block_free(own[i]);
    }
    for (int i = 0; i < e->places_room; i++)
        lg__places_free((struct lg__places *)e->places.data + i);
    lg__block_free(&e->places);
    for (int i = 0; e->scratch && i < lg__pool_threads(e->pool); i++)
        lg__block_free(&e->scratch[i]);
    free(e->scratch);
    lg__rotary_table_free(&e->turns);
    lg__pool_free(e->pool);
    free(e);
}

/* ---- The plan ------------------------------------------------------------------------------ */

static void cut(struct lg_evaluator *e)
{
    const lg_batch *b = e->b;
    struct chunk *c = e->chunks.data;
    int *at = e->at.data;
    e->chunk_count = 0;
    for (int s = 0; s < b->sequences; s++) {
        int start = b->offsets[s], end = b->offsets[s + 1];
        struct chunk *open = e->chunk_count ? &c[e->chunk_count - 1] : NULL;
        for (int t = start; t < end; t++) at[t] = shared_rows(e, s) + t - start;
        if (open && end - open->r0 <= CHUNK_ROWS) {
            open->r1 = end;
            continue;
        }
        for (int r = start; r < end; r += CHUNK_ROWS)
            c[e->chunk_count++] = (struct chunk){
                .r0 = r, .r1 = end - r < CHUNK_ROWS ? end : r + CHUNK_ROWS, .sequence = s};
    }
    int *rows = e->rows.data;
    int32_t *target = e->targets.data;
    e->wanted = 0;
    for (int i = 0; i < e->chunk_count; i++) {
        c[i].wanted = e->wanted;
        for (int r = c[i].r0; r < c[i].r1; r++) {
            if (e->losses ? b->targets[r] < 0 : !lg__wanted(b, r)) continue;
            for (int l = 0; l < b->levels; l++) {
                ((int32_t *)e->level[l].targets.data)[e->wanted] = b->id_targets[l][r];
                ((int32_t *)e->level[l].wanted.data)[e->wanted] = b->point_targets[l][r];
            }
            rows[e->wanted] = r;
            target[e->wanted++] = b->targets[r];
        }
        c[i].count = e->wanted - c[i].wanted;
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
    e->kind_count = 0;
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
    e->kind_count = n;
    return 0;
}

/* ---- A chunk's arrays ------------------------------------------------------------------------ */

/* Arrays for n rows, of which all are queries; the stream is in xq = out. */
static size_t carve(const struct lg_evaluator *e, struct lg__acts *a, float **cos, float **sin,
                    float **rest, float *base, int n)
{
    const struct lg_model *m = e->m;
    size_t at = 0, N = (size_t)n, C = (size_t)m->config.width;
    size_t turned = lg__rotated(m) ? (size_t)m->R / 2 : 0;
    float *stat;
    memset(a, 0, sizeof *a);
#define CARVE(to, count) ((to) = base ? base + at : NULL, at += ((count) + 15) / 16 * 16)
    CARVE(a->xq, N * C);
    CARVE(a->h1, N * C);
    CARVE(a->q, N * C);
    CARVE(a->att, N * C);
    CARVE(a->h2, N * C);
    CARVE(a->up, N * (size_t)m->U);
    CARVE(a->act, N * (size_t)m->F);
    CARVE(stat, N);
    a->mean1 = a->mean2 = stat;
    CARVE(stat, N);
    a->rstd1 = a->rstd2 = stat;
    CARVE(*cos, N * turned);
    CARVE(*sin, N * turned);
    *rest = base ? base + at : NULL;
#undef CARVE
    a->h1q = a->h1;
    a->x2 = a->out = a->xq;
    a->cos = a->cosq = turned ? *cos : NULL;
    a->sin = a->sinq = *sin;
    return at;
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
    struct lg__acts a;
    float *ignored;
    size_t rest = lg__attention_scratch(m, longest, most, 0) + (size_t)longest;
    size_t head = e->losses ? HEAD_ROWS * (size_t)m->config.vocab : 0;
    size_t kept = e->losses ? 0 : (size_t)e->wanted * (size_t)m->config.vocab;
    size_t own =
        carve(e, &a, &ignored, &ignored, &ignored, NULL, CHUNK_ROWS) + (head > rest ? head : rest);
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
            (code = lg__block_grow(&v->found, pointer * W * sizeof(int32_t), 0, "IDs", err)) ||
            (code = lg__block_grow(&v->cost, pointer * W * sizeof(double), 0, "losses", err)))
            return code;
    }
    for (int i = 0; i < lg__pool_threads(e->pool); i++)
        if ((code = lg__block_grow(&e->scratch[i], own * f, 0, "activations", err))) return code;
    return 0;
}

/* ---- The parallel parts ------------------------------------------------------------------------ */

/* What the first layer makes of CHUNK_ROWS kinds of tokens. */
static void run_kinds(void *context, int i, int thread)
{
    struct lg_evaluator *e = context;
    size_t C = (size_t)e->m->config.width, from = (size_t)i * CHUNK_ROWS;
    int left = e->kind_count - (int)from;
    struct lg__acts a;
    float *cos, *sin, *rest;
    carve(e, &a, &cos, &sin, &rest, e->scratch[thread].data, CHUNK_ROWS);
    a.M = a.Mq = left < CHUNK_ROWS ? left : CHUNK_ROWS;
    a.x = a.xq;
    a.kv = (float *)e->made[0].data + from * 2 * C;
    a.q = (float *)e->made[1].data + from * C;
    if (e->m->config.parallel) a.out = (float *)e->made[2].data + from * C;
    lg__embed(e->m, a.x, e->kinds.data, lg__ids(e->b), (int)from, a.M);
    lg__kinds_make(e->m, &e->m->layers[0], &a);
}

static int by_kind(const struct lg_evaluator *e) { return e->layer == 0 && e->kind_count; }

static void run_keys(void *context, int i, int thread)
{
    struct lg_evaluator *e = context;
    const struct lg_model *m = e->m;
    const struct chunk *c = (const struct chunk *)e->chunks.data + i;
    size_t C = (size_t)m->config.width;
    struct lg__acts a;
    float *cos, *sin, *rest;
    carve(e, &a, &cos, &sin, &rest, e->scratch[thread].data, CHUNK_ROWS);
    a.M = c->r1 - c->r0;
    a.x = (float *)e->x.data + (size_t)c->r0 * C;
    a.kv = (float *)e->kv.data + 2 * (size_t)c->r0 * C;
    if (e->layer == 0) lg__embed(m, a.x, e->b->tokens, lg__ids(e->b), c->r0, a.M);
    if (a.cos) lg__rotary_table_rows(m, &e->turns, cos, sin, lg__ids(e->b), c->r0, a.M);
    if (by_kind(e)) {
        lg__kinds_give(a.kv, e->made[0].data, (const int *)e->kind_of.data + c->r0, a.M, 2 * C);
        lg__layer_rotate(m, a.kv, 2 * C, a.cos, a.sin, a.M, 1);
        return;
    }
    lg__layer_keys(m, &m->layers[e->layer], &a);
    for (int l = 0; e->layer == m->config.layers - 1 && l < m->config.levels; l++)
        if (m->config.pointer[l] && !e->losses)
            lg__linear_forward(m, &m->pointer[l].key,
                               (float *)e->level[l].key.data + (size_t)c->r0 * C, a.h1, a.M, 0);
}

/* Key blocks of all sequences, counted through. A block that begins among the rows that a sequence
 * shares is put together first; those before it are sequence 0's. */
static void run_pack(void *context, int i, int thread)
{
    struct lg_evaluator *e = context;
    const int *first = e->block_at.data;
    int low = 0, high = e->b->sequences - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (first[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    size_t wide = 2 * (size_t)e->m->config.width;
    int shared = shared_rows(e, low), start = e->b->offsets[low];
    int at = (shared / LG__KEY_BLOCK + i - first[low]) * LG__KEY_BLOCK; /* its first key */
    int left = whole_rows(e, low) - at, n = left < LG__KEY_BLOCK ? left : LG__KEY_BLOCK;
    float *all = e->kv.data, *kv = e->scratch[thread].data;
    if (at < shared) {
        size_t before = (size_t)(shared - at) * wide;
        memcpy(kv, all + (size_t)at * wide, before * sizeof *kv);
        memcpy(kv + before, all + (size_t)start * wide, ((size_t)n * wide - before) * sizeof *kv);
    } else {
        kv = all + (size_t)(start + at - shared) * wide;
    }
    lg__keys_pack(e->m, (float *)e->packed.data + (size_t)i * lg__keys_block_size(e->m), kv, 0, n);
}

/* Attention of n queries, rows row[0..n-1] of the batch in rising order. */
static void attend(const struct lg_evaluator *e, const struct lg__acts *a, int sequence,
                   const int *row, int n, float *scratch)
{
    const struct lg_model *m = e->m;
    const lg_batch *b = e->b;
    size_t C = (size_t)m->config.width;
    int place[CHUNK_ROWS];
    for (int i = 0, s = sequence; i < n; s++) {
        int end = b->offsets[s + 1], first = i;
        for (; i < n && row[i] < end; i++) place[i] = ((int *)e->at.data)[row[i]];
        if (first == i) continue;
        int shared = shared_rows(e, s), base = shared ? 0 : b->offsets[s];
        struct lg__keys keys = {.kv = (float *)e->kv.data + 2 * (size_t)base * C,
                                .n = whole_rows(e, s),
                                .before = shared ? e->packed.data : NULL,
                                .shared = shared,
                                .gap = b->offsets[s] - shared};
        for (int l = 0; l < b->levels; l++) keys.ids[l] = whole_ids(e, s, l);
        if (m->config.span == LG_SPAN_WINDOW)
            keys.places = (struct lg__places *)e->places.data + s;
        else
            keys.packed = (float *)e->packed.data +
                          (size_t)((int *)e->block_at.data)[s] * lg__keys_block_size(m);
        struct lg__queries q = {a->q + (size_t)first * C, place + first, i - first};
        lg__attention_forward(m, &m->layers[e->layer], a->att + (size_t)first * C, NULL, &keys, &q,
                              scratch);
    }
}

/* The pointer of level l from the chunk's final rows; q is room for its queries. */
static void point(const struct lg_evaluator *e, int l, const struct chunk *c, const float *final,
                  float *q, float *scores)
{
    const struct lg_model *m = e->m;
    const struct level *v = &e->level[l];
    size_t C = (size_t)m->config.width;
    lg__linear_forward(m, &m->pointer[l].query, q, final, c->count, 0);
    for (int i = 0; i < c->count; i++) {
        int w = c->wanted + i, row = ((int *)e->rows.data)[w], at = ((int *)e->at.data)[row];
        int32_t wanted = ((int32_t *)v->wanted.data)[w], *found = (int32_t *)v->found.data + w;
        const int32_t *ids = e->b->ids[l] + (row - at);
        *found = LG_ABSENT;
        if (wanted < 0) continue;
        struct lg__pointer_keys k = {(float *)v->key.data + (size_t)(row - at) * C, ids, at + 1};
        lg__pointer_scores(m, &m->pointer[l], scores, q + (size_t)i * C, &k, lg__carried(ids, at));
        *found = lg__pointer_best(scores, &k);
        ((double *)v->cost.data)[w] = lg__pointer_loss(scores, &k, wanted, 1, 0);
    }
}

/* The losses of the chunk's final rows, a few at a time. */
static void chunk_losses(const struct lg_evaluator *e, const struct chunk *c, const float *final,
                         float *logits)
{
    const struct lg_model *m = e->m;
    for (int i = 0; i < c->count; i += HEAD_ROWS) {
        int n = c->count - i < HEAD_ROWS ? c->count - i : HEAD_ROWS, at = c->wanted + i;
        lg__linear_forward(m, &m->head, logits, final + (size_t)i * (size_t)m->config.width, n, 0);
        m->k->cross_entropy((float *)e->loss.data + at, NULL, logits,
                            (const int32_t *)e->targets.data + at, 1.0f, n, m->config.vocab);
    }
}

static void run_rest(void *context, int i, int thread)
{
    struct lg_evaluator *e = context;
    const struct lg_model *m = e->m;
    const struct lg__layer *l = &m->layers[e->layer];
    const struct chunk *c = (const struct chunk *)e->chunks.data + i;
    size_t C = (size_t)m->config.width, wide = C * sizeof(float);
    int last = e->layer == m->config.layers - 1, n = last ? c->count : c->r1 - c->r0;
    int all[CHUNK_ROWS];
    const int *row = (const int *)e->rows.data + c->wanted;
    if (!n) return;
    struct lg__acts a;
    float *cos, *sin, *rest;
    carve(e, &a, &cos, &sin, &rest, e->scratch[thread].data, CHUNK_ROWS);
    a.Mq = n;
    if (!last) {
        for (int j = 0; j < n; j++) all[j] = c->r0 + j;
        row = all;
    }
    for (int j = 0; j < n; j++) {
        memcpy(a.xq + (size_t)j * C, (float *)e->x.data + (size_t)row[j] * C, wide);
        if (a.cos)
            lg__rotary_table_rows(m, &e->turns, cos + j * (m->R / 2), sin + j * (m->R / 2),
                                  lg__ids(e->b), row[j], 1);
    }
    const int *kind = by_kind(e) ? (const int *)e->kind_of.data + c->r0 : NULL;
    if (kind) {
        lg__kinds_give(a.q, e->made[1].data, kind, n, C);
        lg__layer_rotate(m, a.q, C, a.cosq, a.sinq, n, 1);
    } else {
        lg__norm_forward(m, l->norm1, a.h1q, a.mean1, a.rstd1, a.xq, n);
        lg__layer_query(m, l, &a);
    }
    attend(e, &a, c->sequence, row, n, rest);
    if (kind && m->config.parallel) {
        lg__linear_forward(m, &l->out, a.out, a.att, n, 1);
        lg__kinds_add(m, a.out, e->made[2].data, kind, n, C);
    } else {
        lg__layer_after(m, l, &a);
    }
    if (!last) {
        memcpy((float *)e->x.data + (size_t)c->r0 * C, a.out, (size_t)n * wide);
        return;
    }
    lg__norm_forward(m, m->final_norm, a.h2, a.mean2, a.rstd2, a.out, n);
    if (e->losses) {
        chunk_losses(e, c, a.h2, rest);
        return;
    }
    size_t from = (size_t)c->wanted;
    lg__linear_forward(m, &m->head, (float *)e->logits.data + from * (size_t)m->config.vocab, a.h2,
                       n, 0);
    for (int v = 0; v < m->config.levels; v++) {
        float *id_logits = e->level[v].id_logits.data;
        if (m->id_head[v].out)
            lg__linear_forward(m, &m->id_head[v],
                               id_logits + from * (size_t)m->config.id_classes[v], a.h2, n, 0);
        if (m->config.pointer[v]) point(e, v, c, a.h2, a.q, rest);
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
    size_t most_chunks = (size_t)b->sequences + T / CHUNK_ROWS + 1;
    if ((code = lg__block_grow(&e->chunks, most_chunks * sizeof(struct chunk), 0, "chunks", err)) ||
        (code = lg__block_grow(&e->rows, T * i4, 0, "rows", err)) ||
        (code = lg__block_grow(&e->targets, T * i4, 0, "targets", err)) ||
        (code = lg__block_grow(&e->at, T * i4, 0, "places", err)) ||
        (code = lg__block_grow(&e->block_at, ((size_t)b->sequences + 1) * i4, 0, "blocks", err)) ||
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
    lg__pool_run(e->pool, (e->kind_count + CHUNK_ROWS - 1) / CHUNK_ROWS, run_kinds, e);
    for (e->layer = 0; e->layer < m->config.layers; e->layer++) {
        lg__pool_run(e->pool, e->chunk_count, run_keys, e);
        if (!window) lg__pool_run(e->pool, ((int *)e->block_at.data)[b->sequences], run_pack, e);
        lg__pool_run(e->pool, e->chunk_count, run_rest, e);
    }
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
