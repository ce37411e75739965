/* walk.c: the layers one after the other; in each, first keys and values of every slice, then all
 * else. What a row becomes depends on its own context alone, so the drivers agree bit by bit. */
#include "walk.h"

#include <string.h>

int lg__view_subset(const struct lg__view *v, int l) { return v->query && l == v->m->depth - 1; }

static int by_kind(const struct lg__view *v) { return v->layer == 0 && v->kinds; }

/* Arrays of a slice in the layer that is running. */
static struct lg__acts acts_of(const struct lg__view *v, const struct lg__slice *c, int thread)
{
    size_t C = (size_t)v->m->config.width;
    if (v->kept) return v->acts[v->layer];
    struct lg__acts a = v->acts[thread];
    int subset = lg__view_subset(v, v->layer);
    a.M = c->r1 - c->r0;
    a.Mq = subset ? c->queries : a.M;
    a.x = v->x + (size_t)c->r0 * C;
    a.kv = v->kv + 2 * (size_t)c->r0 * C;
    if (!subset) a.xq = a.x2 = a.out = a.x;
    return a;
}

/* cos and sin of n rows: of row[0..n-1], or from `from` on. */
static void turn(const struct lg__view *v, float *cos, float *sin, const int *row, int from, int n)
{
    int half = v->m->R / 2;
    if (!cos) return;
    if (!row) lg__rotary_table_rows(v->m, v->turns, cos, sin, v->ids, from, n);
    for (int i = 0; row && i < n; i++)
        lg__rotary_table_rows(v->m, v->turns, cos + i * half, sin + i * half, v->ids, row[i], 1);
}

/* ---- Keys -------------------------------------------------------------------------------------- */

/* What the first layer makes of each kind of token. */
static void run_kinds(void *context, int i, int thread)
{
    const struct lg__view *v = context;
    size_t C = (size_t)v->m->config.width, from = (size_t)i * LG__SLICE_ROWS;
    struct lg__acts a = v->made;
    if (!v->kept) {
        int left = v->kinds - (int)from;
        a = v->acts[thread];
        a.M = a.Mq = left < LG__SLICE_ROWS ? left : LG__SLICE_ROWS;
        a.x = a.xq;
        a.cos = a.cosq = NULL;
        a.kv = v->made.kv + from * 2 * C;
        a.q = v->made.q + from * C;
        if (v->m->config.parallel) a.out = v->made.out + from * C;
    }
    lg__embed(v->m, a.x, v->kind, v->ids, (int)from, a.M);
    lg__kinds_make(v->m, &v->m->layers[0], &a);
}

/* Puts the slice's keys where they lie, if they were not made there. */
static void store_keys(const struct lg__view *v, const struct lg__slice *c, const float *kv)
{
    size_t wide = 2 * (size_t)v->m->config.width;
    for (int s = c->strand; s < v->strands && v->strand[s].row < c->r1; s++) {
        const struct lg__strand *t = &v->strand[s];
        struct lg__keys k;
        v->keys(v, v->layer, s, &k);
        int row = t->row > c->r0 ? t->row : c->r0, end = t->end < c->r1 ? t->end : c->r1;
        float *to = k.kv + (size_t)(t->at + row - t->row + k.gap) * wide;
        const float *from = kv + (size_t)(row - c->r0) * wide;
        if (to != from) memcpy(to, from, (size_t)(end - row) * wide * sizeof *to);
    }
}

static void run_keys(void *context, int i, int thread)
{
    const struct lg__view *v = context;
    const struct lg_model *m = v->m;
    const struct lg__slice *c = &v->slice[i];
    struct lg__acts a = acts_of(v, c, thread);
    size_t C = (size_t)m->config.width;
    if (v->layer == 0) lg__embed(m, a.x, v->tokens, v->ids, c->r0, a.M);
    if (lg__injects(m, v->layer)) {
        lg__embed(m, a.h1, v->tokens, v->ids, c->r0, a.M);
        m->k->add(a.x, a.h1, (size_t)a.M * C);
    }
    if (v->layer == 0 || !v->kept) turn(v, a.cos, a.sin, NULL, c->r0, a.M);
    if (by_kind(v)) {
        lg__kinds_give(a.kv, v->made.kv, v->kind_of + c->r0, a.M, 2 * C);
        lg__layer_rotate(m, a.kv, 2 * C, a.cos, a.sin, a.M, 1);
    } else {
        lg__layer_keys(m, &m->layers[v->layer], &a);
    }
    store_keys(v, c, a.kv);
    for (int l = 0; v->layer == m->depth - 1 && l < m->config.levels; l++)
        if (v->pointer_key[l])
            lg__linear_forward(m, &m->pointer[l].key, v->pointer_key[l] + (size_t)c->r0 * C, a.h1,
                               a.M, 0);
}

/* Packs block b of a strand's keys. One that begins among shared keys is put together first; those
 * before it are the other sequence's. */
static void pack_block(const struct lg__view *v, const struct lg__keys *k, int b, float *scratch)
{
    size_t wide = 2 * (size_t)v->m->config.width;
    int at = b * LG__KEY_BLOCK, left = k->n - at, n = left < LG__KEY_BLOCK ? left : LG__KEY_BLOCK;
    const float *kv = k->kv + (size_t)(at + k->gap) * wide;
    if (at < k->shared) {
        size_t before = (size_t)(k->shared - at) * wide;
        memcpy(scratch, k->kv + (size_t)at * wide, before * sizeof *kv);
        memcpy(scratch + before, kv + before, ((size_t)n * wide - before) * sizeof *kv);
        kv = scratch;
    }
    int own = b - k->shared / LG__KEY_BLOCK;
    lg__keys_pack(v->m, k->packed + (size_t)own * lg__keys_block_size(v->m), kv, n);
}

/* Block i of all strands, counted through. */
static void run_pack(void *context, int i, int thread)
{
    const struct lg__view *v = context;
    int low = 0, high = v->strands - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (v->block_at[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    struct lg__keys k;
    v->keys(v, v->layer, low, &k);
    pack_block(v, &k, k.shared / LG__KEY_BLOCK + i - v->block_at[low], v->scratch[thread]);
}

/* ---- Queries ----------------------------------------------------------------------------------- */

int lg__view_meet(const struct lg__view *v, const struct lg__slice *c, int l, int s, int from,
                  int n, const float *q, struct lg__keys *keys, struct lg__queries *queries)
{
    int subset = lg__view_subset(v, l), end = v->strand[s].end, i = from;
    if (subset)
        while (i < n && v->query[c->query + i] < end) i++;
    else
        i = end - c->r0 < n ? end - c->r0 : n;
    queries->q = q + (size_t)from * (size_t)v->m->config.width;
    queries->at = subset ? v->query_at + c->query + from : v->at + c->r0 + from;
    queries->n = i - from;
    queries->row = v->strand[s].row - v->strand[s].at;
    if (i > from) v->keys(v, l, s, keys);
    return i;
}

static void attend(const struct lg__view *v, const struct lg__slice *c, const struct lg__acts *a,
                   int thread)
{
    const struct lg_model *m = v->m;
    size_t C = (size_t)m->config.width, H = (size_t)m->config.heads;
    struct lg__keys k;
    struct lg__queries q = {.lists = v->lists ? &v->lists[thread] : NULL};
    if (q.lists && v->slices > 1) {
        q.lists->base = c->r0;
        lg__lists_forget(q.lists);
    }
    for (int i = 0, next, s = c->strand; i < a->Mq; i = next, s++) {
        next = lg__view_meet(v, c, v->layer, s, i, a->Mq, a->q, &k, &q);
        if (!q.n) continue;
        if (m->config.span == LG_SPAN_FULL && !v->block_at)
            for (int b = v->strand[s].at / LG__KEY_BLOCK; b * LG__KEY_BLOCK < k.n; b++)
                pack_block(v, &k, b, v->scratch[thread]);
        lg__attention_forward(m, &m->layers[v->layer], a->att + (size_t)i * C,
                              a->lse ? a->lse + (size_t)i * H : NULL, &k, &q, v->scratch[thread]);
    }
}

/* The heads on what leaves the last layer. */
static void leave(const struct lg__view *v, const struct lg__slice *c, const struct lg__acts *a)
{
    const struct lg_model *m = v->m;
    size_t C = (size_t)m->config.width, from = (size_t)c->query;
    float *final = v->kept ? v->final : a->h2;
    lg__norm_forward(m, m->final_norm, final, v->kept ? v->mean : a->mean2,
                     v->kept ? v->rstd : a->rstd2, a->out, a->Mq);
    if (v->logits)
        lg__linear_forward(m, &m->head, v->logits + from * (size_t)m->config.vocab, final, a->Mq,
                           0);
    for (int l = 0; l < m->config.levels; l++) {
        if (v->id_logits[l])
            lg__linear_forward(m, &m->id_head[l],
                               v->id_logits[l] + from * (size_t)m->config.id_classes[l], final,
                               a->Mq, 0);
        if (v->pointer_query[l])
            lg__linear_forward(m, &m->pointer[l].query, v->pointer_query[l] + from * C, final,
                               a->Mq, 0);
    }
    if (!v->kept) memcpy(a->x, final, (size_t)a->Mq * C * sizeof *final);
}

/* Where the slice's keys were made by another thread, or its queries are some rows alone, what
 * their rows had there is made again: the same bits. */
static void run_rest(void *context, int i, int thread)
{
    const struct lg__view *v = context;
    const struct lg_model *m = v->m;
    const struct lg__layer *l = &m->layers[v->layer];
    const struct lg__slice *c = &v->slice[i];
    struct lg__acts a = acts_of(v, c, thread);
    size_t C = (size_t)m->config.width;
    int subset = lg__view_subset(v, v->layer), again = subset || v->slices > 1;
    const int *row = subset ? v->query + c->query : NULL;
    if (!a.Mq) return;
    for (int j = 0; subset && j < a.Mq; j++)
        memcpy(a.xq + (size_t)j * C, a.x + (size_t)(row[j] - c->r0) * C, C * sizeof *a.xq);
    if (again) turn(v, a.cosq, a.sinq, row, c->r0, a.Mq);
    if (by_kind(v)) {
        lg__kinds_give(a.q, v->made.q, v->kind_of + c->r0, a.Mq, C);
        lg__layer_rotate(m, a.q, C, a.cosq, a.sinq, a.Mq, 1);
        a.fed = m->config.parallel ? v->made.out : NULL;
        a.kind = v->kind_of + c->r0;
    } else {
        if (again) lg__norm_forward(m, l->norm1, a.h1q, a.mean2, a.rstd2, a.xq, a.Mq);
        lg__layer_query(m, l, &a);
    }
    attend(v, c, &a, thread);
    lg__layer_after(m, l, &a);
    if (v->layer == m->depth - 1) leave(v, c, &a);
}

/* ---- The walk ---------------------------------------------------------------------------------- */

static void each(struct lg__view *v, struct lg__pool *pool, int n,
                 void (*work)(void *context, int i, int thread))
{
    if (pool) {
        lg__pool_run(pool, n, work, v);
        return;
    }
    for (int i = 0; i < n; i++) work(v, i, 0);
}

void lg__walk(struct lg__view *v, struct lg__pool *pool)
{
    int kinds = v->kept ? v->kinds > 0 : (v->kinds + LG__SLICE_ROWS - 1) / LG__SLICE_ROWS;
    each(v, pool, kinds, run_kinds);
    for (v->layer = 0; v->layer < v->m->depth; v->layer++) {
        each(v, pool, v->slices, run_keys);
        if (v->block_at) each(v, pool, v->block_at[v->strands], run_pack);
        each(v, pool, v->slices, run_rest);
    }
}
