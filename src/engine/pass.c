/* pass.c: a training pass: the view of a shard, and the backward pass. In the last layer, queries,
 * attention output, feed-forward and heads run on the wanted rows alone (those with a loss); its
 * keys and values, and all layers below, run on every row; but the first, where it can, makes of
 * each kind of token once what does not depend on others (layer.h). */
#include "pass.h"

#include "match.h"

#include <stdlib.h>
#include <string.h>

/* The shard's arrays, all in the arena. */
struct run {
    struct lg__view v;
    const lg_batch *b;
    const struct lg__shard *s;
    struct lg__pass *p;
    int r0; /* the shard's first row in the batch */
    int first;
    struct lg__slice slice;
    struct lg__strand *strand; /* one per sequence */
    int32_t *kind;             /* of tokens, [kinds] */
    int *kind_of;              /* [rows] */
    int *iota;                 /* 0, 1, 2, .. */
    int *at;                   /* [rows] place in the sequence */
    int *row, *row_at;         /* [wanted] row in the shard; place in its sequence */
    int32_t *target, *id_target[LG_LEVELS];
    float *packed, *scratch; /* attention */
    struct lg__lists lists;
    float *loss;
    float *dpq[LG_LEVELS], *dpk[LG_LEVELS]; /* pointers: [wanted, C], [rows, C] */
    float *point;                           /* [longest] scores; of match heads [rows] */
    /* Match heads: the shard's keys, [rows] at most, their gradients; their rows, IDs and numbers; where
     * each sequence's begin. */
    float *key, *dkey;
    int *key_row, *key_at;
    int32_t *key_id, *key_code;
    int keys;
    float *d[2];
    struct lg__backward back;
};

struct lg__shard lg__shard_make(const lg_batch *b, int first, int count)
{
    struct lg__shard s = {.first = first, .count = count};
    for (int i = first; i < first + count; i++) {
        int n = b->offsets[i + 1] - b->offsets[i];
        int64_t pairs = s.pairs + (int64_t)n * (n + 1) / 2;
        s.rows += n;
        if (n > s.longest) s.longest = n;
        s.pairs = pairs < LG__MOST_LISTED ? (int)pairs : LG__MOST_LISTED;
    }
    for (int t = b->offsets[first]; t < b->offsets[first + count]; t++)
        s.wanted += lg__wanted(b, t);
    if (s.pairs < s.longest) s.pairs = s.longest;
    return s;
}

static void take_forward(struct run *r, struct lg__arena *to)
{
    struct lg__view *v = &r->v;
    const struct lg_model *m = v->m;
    const lg_model_config *c = &m->config;
    size_t C = (size_t)c->width, M = (size_t)r->s->rows, W = (size_t)r->s->wanted;
    int all = r->s->rows == r->s->wanted;
    float *turns[4] = {0};
    size_t half = lg__rotated(m) ? (size_t)m->R / 2 : 0;
    for (int i = 0; half && i < 4; i++) turns[i] = lg__arena_floats(to, (i < 2 ? M : W) * half);
    float *x = lg__arena_floats(to, M * C);
    for (int l = 0; l < m->depth; l++) {
        struct lg__acts *a = &v->acts[l];
        int subset = l == m->depth - 1 && !all;
        lg__acts_take(m, to, a, r->s->rows, subset ? r->s->wanted : r->s->rows, 1);
        a->x = x;
        if (!subset) a->xq = x;
        a->cos = turns[0];
        a->sin = turns[1];
        a->cosq = turns[subset ? 2 : 0];
        a->sinq = turns[subset ? 3 : 1];
        x = a->out;
    }
    if (lg__by_kind(m)) {
        v->made = v->acts[0]; /* in the first rows of what it has for itself */
        v->made.x = v->made.xq = lg__arena_floats(to, M * C);
        v->made.kv = lg__arena_floats(to, 2 * M * C);
        v->made.q = lg__arena_floats(to, M * C);
        v->made.out = lg__arena_floats(to, M * C);
        v->made.cos = v->made.cosq = NULL;
    }
    v->final = lg__arena_floats(to, W * C);
    v->mean = lg__arena_floats(to, W);
    v->rstd = lg__arena_floats(to, W);
    v->logits = lg__arena_floats(to, W * (size_t)c->vocab);
    for (int l = 0; l < c->levels; l++) {
        if (c->id_classes[l]) v->id_logits[l] = lg__arena_floats(to, W * (size_t)c->id_classes[l]);
        if (!lg__finds(c, l)) continue;
        v->pointer_query[l] = lg__arena_floats(to, W * C);
        v->pointer_key[l] = lg__arena_floats(to, M * C);
    }
}

static void take_backward(struct run *r, struct lg__arena *to)
{
    const struct lg_model *m = r->v.m;
    size_t C = (size_t)m->config.width, M = (size_t)r->s->rows, W = (size_t)r->s->wanted;
    int matches = 0;
    for (int l = 0; l < m->config.levels; l++) {
        r->dpq[l] = lg__arena_floats(to, lg__finds(&m->config, l) ? W * C : 0);
        r->dpk[l] = lg__arena_floats(to, lg__finds(&m->config, l) ? M * C : 0);
        matches |= m->config.match[l] != LG_MATCH_NONE;
    }
    for (int i = 0; i < 2; i++) r->d[i] = lg__arena_floats(to, M * C);
    r->point = lg__arena_floats(to, matches ? M : (size_t)r->s->longest);
    r->key = lg__arena_floats(to, matches ? M * C : 0);
    r->dkey = lg__arena_floats(to, matches ? M * C : 0);
    r->key_row = lg__arena_ints(to, matches ? M : 0);
    r->key_id = lg__arena_ints(to, matches ? M : 0);
    r->key_code = lg__arena_ints(to, matches ? M : 0);
    r->key_at = lg__arena_ints(to, matches ? (size_t)r->s->count + 1 : 0);
    r->loss = lg__arena_floats(to, W);
    r->back.dh = lg__arena_floats(to, M * C);
    r->back.dup = lg__arena_floats(to, M * (size_t)m->U);
    r->back.dact = lg__arena_floats(to, M * (size_t)m->F);
    r->back.datt = lg__arena_floats(to, M * C);
    r->back.dq = lg__arena_floats(to, M * C);
    r->back.dkv = lg__arena_floats(to, 2 * M * C);
    r->back.tn = lg__arena_floats(to, lg__layer_tn_scratch(m, r->s->rows));
}

/* Takes the arrays; returns the floats that they take. */
static size_t take(struct run *r, float *base)
{
    const struct lg_model *m = r->v.m;
    struct lg__arena to = {base, 0};
    size_t M = (size_t)r->s->rows, W = (size_t)r->s->wanted;
    size_t blocks = ((size_t)r->s->longest + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK;
    int full = m->config.span == LG_SPAN_FULL;
    r->v.acts = r->p->acts.data;
    r->strand = lg__arena_take(&to, (size_t)r->s->count, sizeof *r->strand);
    r->iota = lg__arena_ints(&to, M);
    r->at = lg__arena_ints(&to, M);
    r->kind = lg__arena_ints(&to, M);
    r->kind_of = lg__arena_ints(&to, M);
    r->row = lg__arena_ints(&to, W);
    r->row_at = lg__arena_ints(&to, W);
    r->target = lg__arena_ints(&to, W);
    for (int l = 0; l < m->config.levels; l++) r->id_target[l] = lg__arena_ints(&to, W);
    r->packed = lg__arena_floats(&to, full ? blocks * lg__keys_block_size(m) : 0);
    r->scratch = lg__arena_floats(&to, lg__attention_scratch(m, r->s->longest, r->s->longest, 1));
    if (!full) lg__lists_take(&r->lists, &to, r->s->rows, r->s->pairs);
    take_forward(r, &to);
    take_backward(r, &to);
    return to.used;
}

int lg__pass_reserve(const struct lg_model *m, struct lg__pass *p, const struct lg__shard *s,
                     lg_error *err)
{
    size_t layers = (size_t)m->depth * sizeof(struct lg__acts);
    int e = lg__block_grow(&p->acts, layers, 0, "layers", err);
    if (e) return e;
    struct run r = {.v.m = m, .s = s, .p = p};
    e = lg__block_grow(&p->arena, take(&r, NULL) * sizeof(float), 0, "activations", err);
    if (!e && !p->slot.size) {
        e = lg__block_grow(&p->slot, (size_t)m->config.vocab * sizeof(int), 0, "tokens", err);
        if (!e) memset(p->slot.data, -1, p->slot.size);
    }
    if (e || m->config.span != LG_SPAN_WINDOW) return e;
    e = lg__places_room(&p->places, &p->room, s->count, err);
    for (int i = 0; i < s->count && !e; i++)
        e = lg__places_reserve(&p->places[i], m->config.levels, s->longest, err);
    return e;
}

void lg__pass_free(struct lg__pass *p)
{
    for (int i = 0; i < p->room; i++) lg__places_free(&p->places[i]);
    free(p->places);
    lg__block_free(&p->arena);
    lg__block_free(&p->acts);
    lg__block_free(&p->slot);
    *p = (struct lg__pass){0};
}

/* Lists the kinds of tokens, if it pays to run the first layer by them and the gradient of every row
 * of it is not asked for. */
static void list_kinds(struct run *r)
{
    if (!lg__by_kind(r->v.m) || r->p->inputs) return;
    int n = lg__kinds_list(r->p->slot.data, r->v.tokens, r->s->rows, r->kind, r->kind_of);
    if (lg__kinds_pay(n, r->s->rows)) r->v.kinds = n;
    r->v.made.M = r->v.made.Mq = n;
}

static void shard_keys(const struct lg__view *v, int l, int s, struct lg__keys *k)
{
    const struct run *r = v->owner;
    int row = v->strand[s].row;
    *k = (struct lg__keys){
        .kv = v->acts[l].kv + 2 * (size_t)row * (size_t)v->m->config.width,
        .n = v->strand[s].end - row,
        .packed = r->packed,
        .places = v->m->config.span == LG_SPAN_WINDOW ? &r->p->places[s] : NULL,
    };
    for (int i = 0; i < v->m->config.levels; i++) k->ids[i] = v->ids[i] + row;
}

/* Lists the wanted rows, indexes the IDs. */
static void prepare(struct run *r, const struct lg__rotary_table *turns)
{
    const lg_batch *b = r->b;
    struct lg__view *v = &r->v;
    int n = 0;
    for (int i = 0; i < r->s->rows; i++) r->iota[i] = i;
    for (int i = 0; i < r->s->count; i++) {
        int start = b->offsets[r->s->first + i], end = b->offsets[r->s->first + i + 1];
        r->strand[i] = (struct lg__strand){start - r->r0, end - r->r0, 0};
        if (v->m->config.span == LG_SPAN_WINDOW) {
            lg__places_reset(&r->p->places[i], b->levels, end - start, NULL);
            for (int t = start; t < end; t++) lg__places_add(&r->p->places[i], lg__ids(b), t);
        }
        for (int t = start; t < end; t++) {
            r->at[t - r->r0] = t - start;
            if (!lg__wanted(b, t)) continue;
            r->row[n] = t - r->r0;
            r->row_at[n] = t - start;
            for (int l = 0; l < b->levels; l++) r->id_target[l][n] = b->id_targets[l][t];
            r->target[n++] = b->targets[t];
        }
    }
    r->slice = (struct lg__slice){.r1 = r->s->rows, .queries = r->s->wanted};
    v->owner = r;
    v->rows = r->s->rows;
    v->tokens = b->tokens + r->r0;
    for (int l = 0; l < b->levels; l++) v->ids[l] = b->ids[l] + r->r0;
    v->at = r->at;
    v->query = r->s->rows == r->s->wanted ? NULL : r->row;
    v->query_at = r->row_at;
    v->strand = r->strand;
    v->strands = r->s->count;
    v->slice = &r->slice;
    v->slices = 1;
    v->turns = turns;
    v->keys = shard_keys;
    v->kept = 1;
    v->scratch = &r->scratch;
    if (v->m->config.span == LG_SPAN_WINDOW) {
        v->lists = &r->lists;
        lg__lists_forget(v->lists);
    }
    v->kind = r->kind;
    v->kind_of = r->kind_of;
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* The losses of one head; its logits become their gradients. */
static void lose(const struct run *r, float *logits, const int32_t *target, int V, float scale,
                 double *loss, int *right)
{
    int n = r->s->wanted;
    *right += lg__count_right(logits, target, n, V);
    r->v.m->k->cross_entropy(r->loss, logits, logits, target, scale, n, V);
    for (int i = 0; i < n; i++) *loss += (double)r->loss[i];
}

/* The pointer of level l: its losses (the gradients of its scores are not kept), the gradients of its
 * keys into dpk, and that of the final rows added to back.dh. */
static void point_backward(const struct run *r, int l, float scale, double *loss, int *right)
{
    const struct lg_model *m = r->v.m;
    const struct lg__pointer *p = &m->pointer[l];
    const lg_batch *b = r->b;
    size_t C = (size_t)m->config.width;
    memset(r->dpq[l], 0, (size_t)r->s->wanted * C * sizeof(float));
    memset(r->dpk[l], 0, (size_t)r->s->rows * C * sizeof(float));
    for (int i = 0; i < r->s->wanted; i++) {
        int t = r->r0 + r->row[i], at = r->row_at[i], start = t - at;
        int32_t wanted = b->point_targets[l][t];
        if (wanted < 0) continue;
        int32_t carried = lg__carried(b->ids[l] + start, at);
        size_t first = (size_t)(start - r->r0) * C;
        struct lg__pointer_keys k = {r->v.pointer_key[l] + first, b->ids[l] + start, at + 1};
        const float *q = r->v.pointer_query[l] + (size_t)i * C;
        lg__pointer_scores(m, p, r->point, q, &k, carried);
        *right += lg__pointer_best(r->point, &k) == wanted;
        *loss += lg__pointer_loss(r->point, &k, wanted, scale, 1);
        lg__pointer_backward(m, p, r->dpq[l] + (size_t)i * C, r->dpk[l] + first, r->back.grad,
                             r->point, q, &k, carried, r->iota);
    }
    lg__linear_backward(m, &p->query, r->back.dh, r->dpq[l], r->v.final, &r->back, r->s->wanted, 1);
}

/* Puts the keys of all the shard's sequences side by side. */
static void gather_keys(struct run *r, int l)
{
    const struct lg_model *m = r->v.m;
    const lg_batch *b = r->b;
    size_t C = (size_t)m->config.width;
    r->keys = 0;
    for (int i = 0; i < r->s->count; i++) {
        int start = b->offsets[r->s->first + i];
        int prompt = lg__match_prompt(b, start, b->offsets[r->s->first + i + 1]);
        r->key_at[i] = r->keys;
        for (int t = start; t < start + prompt; t++) {
            if (!lg__match_is_key(&m->config, b->tokens[t], b->ids[l][t])) continue;
            int row = t - r->r0, k = r->keys++;
            r->key_row[k] = row;
            r->key_id[k] = b->ids[l][t];
            r->key_code[k] = b->codes[t];
            memcpy(r->key + (size_t)k * C, r->v.pointer_key[l] + (size_t)row * C,
                   C * sizeof(float));
        }
    }
    r->key_at[r->s->count] = r->keys;
    memset(r->dkey, 0, (size_t)r->keys * C * sizeof(float));
}

/* The match head of level l, as point_backward. Where the query's number is known, it is compared with
 * every key of the shard, else with those of its own sequence. */
static void match_backward(struct run *r, int l, float scale, double *loss, int *right)
{
    const struct lg_model *m = r->v.m;
    const struct lg__pointer *p = &m->pointer[l];
    const lg_batch *b = r->b;
    size_t C = (size_t)m->config.width;
    lg_match order = m->config.match[l];
    memset(r->dpq[l], 0, (size_t)r->s->wanted * C * sizeof(float));
    memset(r->dpk[l], 0, (size_t)r->s->rows * C * sizeof(float));
    gather_keys(r, l);
    for (int i = 0, s = 0; i < r->s->wanted; i++) {
        int t = r->r0 + r->row[i], at = r->row_at[i], start = t - at;
        int32_t wanted = b->point_targets[l][t], code = b->codes[t];
        while (b->offsets[r->s->first + s + 1] <= t) s++;
        if (wanted < 0) continue;
        int all = code != LG_NONE, first = r->key_at[s], own = r->key_at[s + 1] - first;
        int from = all ? 0 : first, n = all ? r->keys : own;
        int32_t carried = lg__carried(b->ids[l] + start, at);
        const float *q = r->v.pointer_query[l] + (size_t)i * C, *key = r->key + (size_t)from * C;
        struct lg__match_keys near = {NULL, r->key_id + first, r->key_code + first, own};
        struct lg__match_keys k = {key, r->key_id + from, r->key_code + from, n};
        lg__match_scores(m, p, r->point, q, key, n);
        *right += lg__match_find(order, r->point + (first - from), &near, carried) == wanted;
        *loss += all ? lg__match_loss(r->point, &k, code, scale, 1)
                     : lg__match_stick(r->point, &k, order, carried, wanted, scale, 1);
        lg__match_backward(m, p, r->dpq[l] + (size_t)i * C, r->dkey + (size_t)from * C,
                           r->back.grad, r->point, q, key, n, r->iota);
    }
    for (int k = 0; k < r->keys; k++)
        memcpy(r->dpk[l] + (size_t)r->key_row[k] * C, r->dkey + (size_t)k * C, C * sizeof(float));
    lg__linear_backward(m, &p->query, r->back.dh, r->dpq[l], r->v.final, &r->back, r->s->wanted, 1);
}

/* Losses, and through the heads and the final norm to what left the last layer, in back.d. */
static void heads_backward(struct run *r, const struct lg__scales *scales, struct lg__losses *sum)
{
    const struct lg__view *v = &r->v;
    const struct lg_model *m = v->m;
    struct lg__backward *b = &r->back;
    int n = r->s->wanted;
    lose(r, v->logits, r->target, m->config.vocab, scales->token, &sum->loss, &sum->right);
    lg__linear_backward(m, &m->head, b->dh, v->logits, v->final, b, n, 0);
    for (int l = 0; l < m->config.levels; l++) {
        const struct lg__linear *head = &m->id_head[l];
        if (head->out) {
            lose(r, v->id_logits[l], r->id_target[l], head->out, scales->id[l], &sum->id_loss[l],
                 &sum->id_right[l]);
            lg__linear_backward(m, head, b->dh, v->id_logits[l], v->final, b, n, 1);
        }
        if (m->config.pointer[l])
            point_backward(r, l, scales->point[l], &sum->point_loss[l], &sum->point_right[l]);
        if (m->config.match[l])
            match_backward(r, l, scales->point[l], &sum->point_loss[l], &sum->point_right[l]);
    }
    memset(b->d, 0, (size_t)n * (size_t)m->config.width * sizeof *b->d);
    lg__norm_backward(m, m->final_norm, b->grad, b->d, b->dh, v->acts[m->depth - 1].out, v->mean,
                      v->rstd, n);
}

static void attend_backward(const struct run *r, int l)
{
    const struct lg__view *v = &r->v;
    const struct lg_model *m = v->m;
    const struct lg__acts *a = &v->acts[l];
    const struct lg__backward *b = &r->back;
    size_t C = (size_t)m->config.width;
    struct lg__keys keys;
    struct lg__queries q = {.lists = v->lists};
    memset(b->dkv, 0, 2 * (size_t)a->M * C * sizeof *b->dkv);
    for (int i = 0, next, s = 0; i < a->Mq; i = next, s++) {
        size_t at = (size_t)i * C;
        next = lg__view_meet(v, v->slice, l, s, i, a->Mq, a->q, &keys, &q);
        if (!q.n) continue;
        lg__attention_backward(m, &m->layers[l], b->dq + at,
                               b->dkv + 2 * (size_t)v->strand[s].row * C, b->grad, b->datt + at,
                               a->att + at, a->lse + (size_t)i * (size_t)m->config.heads, &keys, &q,
                               r->scratch);
    }
}

/* The first layer, by kinds of tokens, down to the embedding. What the forward pass made of them is
 * not needed any more: their gradients are in its place. */
static void first_backward(const struct run *r)
{
    const struct lg_model *m = r->v.m;
    const struct lg__layer *l = &m->layers[0];
    const struct lg__acts *a = &r->v.acts[0], *k = &r->v.made;
    const struct lg__backward *b = &r->back;
    struct lg__backward of = *b;
    size_t C = (size_t)m->config.width;
    of.d = k->out;
    of.dq = k->q;
    of.dkv = k->kv;
    of.dpointer = NULL;
    if (m->config.parallel)
        lg__linear_backward(m, &l->out, b->datt, b->d, a->att, b, a->M, 0);
    else
        lg__layer_after_backward(m, l, a, b);
    attend_backward(r, 0);
    lg__layer_rotate(m, b->dq, C, a->cos, a->sin, a->M, -1);
    lg__layer_rotate(m, b->dkv, 2 * C, a->cos, a->sin, a->M, -1);
    lg__kinds_sum(m, of.d, k->M, b->d, r->kind_of, a->M, C);
    lg__kinds_sum(m, of.dq, k->M, b->dq, r->kind_of, a->M, C);
    lg__kinds_sum(m, of.dkv, k->M, b->dkv, r->kind_of, a->M, 2 * C);
    lg__kinds_backward(m, l, k, &of);
    m->k->embed_backward(b->grad + m->tensors[0].offset, of.d, r->kind, k->M, m->config.width);
}

/* Whether layer l's gradients are the first of its weights. */
static int adds_nothing(const struct run *r, int l)
{
    return r->first && l >= r->v.m->depth - r->v.m->config.layers;
}

/* From d, the gradient of what enters a layer beside the stream, to embedding and encoding. */
static void inputs_backward(const struct run *r)
{
    const struct lg__view *v = &r->v;
    const struct lg_model *m = v->m;
    const struct lg__backward *b = &r->back;
    size_t C = (size_t)m->config.width;
    if (r->p->inputs) m->k->add(r->p->inputs + (size_t)r->r0 * C, b->d, (size_t)v->rows * C);
    m->k->embed_backward(b->grad + m->tensors[0].offset, b->d, v->tokens, v->rows, m->config.width);
    if (m->encoding->input_backward)
        m->encoding->input_backward(b->grad + m->input, b->d, &m->config, v->ids, v->rows);
}

/* Layer l: back.d from the gradient of what leaves to that of what enters. */
static void layer_backward(struct run *r, int l)
{
    const struct lg_model *m = r->v.m;
    const struct lg__acts *a = &r->v.acts[l];
    struct lg__backward *b = &r->back;
    size_t C = (size_t)m->config.width;
    int subset = lg__view_subset(&r->v, l);
    float *dx = b->d;
    b->first = adds_nothing(r, l);
    lg__layer_after_backward(m, &m->layers[l], a, b);
    attend_backward(r, l);
    if (subset) {
        dx = b->d == r->d[0] ? r->d[1] : r->d[0];
        memset(dx, 0, (size_t)a->M * C * sizeof *dx);
        for (int i = 0; i < a->Mq; i++)
            memcpy(dx + (size_t)r->row[i] * C, b->d + (size_t)i * C, C * sizeof *dx);
    }
    b->dpointer = l == m->depth - 1 ? r->dpk : NULL;
    lg__layer_keys_backward(m, &m->layers[l], a, b, dx, subset ? r->row : NULL);
    b->d = dx;
}

static void backward(struct run *r)
{
    int down = r->v.kinds ? 1 : 0;
    for (int l = r->v.m->depth - 1; l >= down; l--) {
        layer_backward(r, l);
        if (lg__injects(r->v.m, l)) inputs_backward(r);
    }
    r->back.first = adds_nothing(r, 0);
    if (down)
        first_backward(r);
    else
        inputs_backward(r);
}

void lg__pass_run(const struct lg_model *m, struct lg__pass *p,
                  const struct lg__rotary_table *turns, const lg_batch *b,
                  const struct lg__shard *s, float *grad, int first,
                  const struct lg__scales *scales, struct lg__losses *losses)
{
    struct run r = {.v.m = m, .b = b, .s = s, .p = p, .r0 = b->offsets[s->first]};
    take(&r, p->arena.data);
    r.back.grad = grad;
    r.back.first = r.first = first;
    r.back.d = r.d[0];
    prepare(&r, turns);
    list_kinds(&r);
    losses->first_rows += r.v.kinds ? r.v.kinds : s->rows;
    lg__walk(&r.v, NULL);
    heads_backward(&r, scales, losses);
    backward(&r);
}
