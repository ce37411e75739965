/* pass.c: the order of a training pass. In the last layer, queries, attention output,
 * feed-forward and heads run on the wanted rows alone (those with a loss); its keys and
 * values, and all layers below, run on every row; but the first, where it can, makes of each kind
 * of token once what does not depend on others (first.h). */
#include "first.h"
#include "pass.h"

#include <string.h>

/* The shard's arrays, all in the arena. */
struct run {
    const struct lg_model *m;
    const lg_batch *b;
    const struct lg__shard *s;
    struct lg__pass *p;
    int r0;                /* the shard's first row in the batch */
    int all;               /* every row is wanted */
    int kinds;             /* of tokens; 0: the first layer is run row by row */
    int32_t *kind;         /* [kinds] */
    int *kind_of;          /* [rows] */
    struct lg__acts *acts; /* one a layer */
    struct lg__acts made;  /* of the kinds */
    int *iota;             /* 0, 1, 2, .. */
    int *row, *at;         /* [wanted] row in the shard; place in its sequence */
    int *first_wanted;     /* [count + 1] index into row of each sequence's first */
    int32_t *target, *id_target[LG_LEVELS];
    float *cos, *sin, *cosq, *sinq;
    float *packed, *scratch; /* attention */
    float *final, *mean, *rstd;
    float *logits, *id_logits, *loss;
    float *pq[LG_LEVELS], *pk[LG_LEVELS]; /* pointers: [wanted, C], [rows, C] */
    float *dpq[LG_LEVELS], *dpk[LG_LEVELS];
    float *point[2]; /* [longest] scores, scratch */
    float *d[2];
    struct lg__backward back;
};

static size_t up16(size_t n) { return (n + 15) / 16 * 16; }

struct lg__shard lg__shard_make(const lg_batch *b, int first, int count)
{
    struct lg__shard s = {.first = first, .count = count};
    for (int i = first; i < first + count; i++) {
        int n = b->offsets[i + 1] - b->offsets[i];
        s.rows += n;
        if (n > s.longest) s.longest = n;
    }
    for (int t = b->offsets[first]; t < b->offsets[first + count]; t++)
        s.wanted += lg__wanted(b, t);
    return s;
}

/* Lays out the arrays from `base` (NULL: only counts). Returns the floats they take. */
static size_t carve(struct run *r, float *base)
{
    const struct lg_model *m = r->m;
    const lg_model_config *c = &m->config;
    size_t at = 0, C = (size_t)c->width, M = (size_t)r->s->rows, W = (size_t)r->s->wanted;
    size_t H = (size_t)c->heads, turned = lg__rotated(m) ? (size_t)m->R / 2 : 0;
    size_t most_classes = 0;
    size_t blocks = ((size_t)r->s->longest + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK;
    r->all = r->s->rows == r->s->wanted;
#define CARVE(to, type, count)                                                                     \
    ((to) = base ? (type *)(void *)(base + at) : NULL, at += up16((count) * sizeof(type) / 4))
    CARVE(r->acts, struct lg__acts, (size_t)c->layers);
    CARVE(r->iota, int, M);
    CARVE(r->kind, int32_t, M);
    CARVE(r->kind_of, int, M);
    CARVE(r->row, int, W);
    CARVE(r->at, int, W);
    CARVE(r->first_wanted, int, (size_t)r->s->count + 1);
    CARVE(r->target, int32_t, W);
    for (int l = 0; l < c->levels; l++) CARVE(r->id_target[l], int32_t, W);
    CARVE(r->cos, float, M *turned);
    CARVE(r->sin, float, M *turned);
    CARVE(r->cosq, float, W *turned);
    CARVE(r->sinq, float, W *turned);
    CARVE(r->packed, float, c->span == LG_SPAN_FULL ? blocks * lg__keys_block_size(m) : 0);
    CARVE(r->scratch, float, lg__attention_scratch(m, r->s->longest, r->s->longest, 1));
    float *x;
    CARVE(x, float, M *C);
    for (int l = 0; l < c->layers; l++) {
        struct lg__acts none, *a = base ? &r->acts[l] : &none;
        int subset = l == c->layers - 1 && !r->all;
        size_t Q = subset ? W : M;
        a->M = (int)M;
        a->Mq = (int)Q;
        a->x = a->xq = x;
        CARVE(a->h1, float, M *C);
        CARVE(a->mean1, float, M);
        CARVE(a->rstd1, float, M);
        CARVE(a->kv, float, 2 * M * C);
        a->h1q = a->h1;
        if (subset) {
            CARVE(a->xq, float, Q *C);
            CARVE(a->h1q, float, Q *C);
        }
        CARVE(a->q, float, Q *C);
        CARVE(a->att, float, Q *C);
        CARVE(a->lse, float, Q *H);
        CARVE(a->x2, float, c->parallel ? 0 : Q *C);
        CARVE(a->h2, float, Q *C);
        CARVE(a->mean2, float, Q);
        CARVE(a->rstd2, float, Q);
        CARVE(a->up, float, Q *(size_t)m->U);
        CARVE(a->act, float, Q *(size_t)m->F);
        CARVE(a->out, float, Q *C);
        a->cos = turned ? r->cos : NULL;
        a->sin = r->sin;
        a->cosq = turned ? (subset ? r->cosq : r->cos) : NULL;
        a->sinq = subset ? r->sinq : r->sin;
        x = a->out;
    }
    if (lg__by_kind(m)) {
        if (base) r->made = r->acts[0]; /* in the first rows of what it has for itself */
        CARVE(r->made.x, float, M *C);
        CARVE(r->made.kv, float, 2 * M * C);
        CARVE(r->made.q, float, M *C);
        CARVE(r->made.out, float, M *C);
        r->made.xq = r->made.x;
        r->made.cos = r->made.cosq = NULL;
    }
    CARVE(r->final, float, W *C);
    CARVE(r->mean, float, W);
    CARVE(r->rstd, float, W);
    CARVE(r->logits, float, W *(size_t)c->vocab);
    for (int l = 0; l < c->levels; l++) {
        size_t classes = (size_t)c->id_classes[l], keys = c->pointer[l] ? C : 0;
        most_classes = classes > most_classes ? classes : most_classes;
        CARVE(r->pq[l], float, W *keys);
        CARVE(r->dpq[l], float, W *keys);
        CARVE(r->pk[l], float, M *keys);
        CARVE(r->dpk[l], float, M *keys);
    }
    CARVE(r->id_logits, float, W *most_classes);
    CARVE(r->point[0], float, (size_t)r->s->longest);
    CARVE(r->point[1], float, (size_t)r->s->longest);
    CARVE(r->loss, float, W);
    CARVE(r->d[0], float, M *C);
    CARVE(r->d[1], float, M *C);
    CARVE(r->back.dh, float, M *C);
    CARVE(r->back.dup, float, M *(size_t)m->U);
    CARVE(r->back.dact, float, M *(size_t)m->F);
    CARVE(r->back.datt, float, M *C);
    CARVE(r->back.dq, float, M *C);
    CARVE(r->back.dkv, float, 2 * M * C);
    CARVE(r->back.tn, float, lg__layer_tn_scratch(m, r->s->rows));
#undef CARVE
    return at;
}

int lg__pass_reserve(const struct lg_model *m, struct lg__pass *p, const struct lg__shard *s,
                     lg_error *err)
{
    struct run r = {.m = m, .s = s};
    int e = lg__block_grow(&p->arena, carve(&r, NULL) * sizeof(float), 0, "activations", err);
    if (!e && !p->slot.size) {
        e = lg__block_grow(&p->slot, (size_t)m->config.vocab * sizeof(int), 0, "tokens", err);
        if (!e) memset(p->slot.data, -1, p->slot.size);
    }
    if (e || m->config.span != LG_SPAN_WINDOW) return e;
    if (s->count > p->room) {
        struct lg__block grown = {p->places, (size_t)p->room * sizeof *p->places};
        e = lg__block_grow(&grown, (size_t)s->count * sizeof *p->places, 1, "indexes", err);
        if (e) return e;
        p->places = grown.data;
        memset(p->places + p->room, 0, (size_t)(s->count - p->room) * sizeof *p->places);
        p->room = s->count;
    }
    for (int i = 0; i < s->count && !e; i++)
        e = lg__places_reserve(&p->places[i], m->config.levels, s->longest, err);
    return e;
}

void lg__pass_free(struct lg__pass *p)
{
    for (int i = 0; i < p->room; i++) lg__places_free(&p->places[i]);
    struct lg__block b = {p->places, 0};
    lg__block_free(&b);
    lg__block_free(&p->arena);
    lg__block_free(&p->slot);
    *p = (struct lg__pass){0};
}

/* Lists the kinds of tokens, if it pays to run the first layer by them and the gradient of every row
 * of it is not asked for. */
static void list_kinds(struct run *r)
{
    if (!lg__by_kind(r->m) || r->p->inputs) return;
    int n = lg__kinds_list(r->p->slot.data, r->b->tokens + r->r0, r->s->rows, r->kind, r->kind_of);
    if (lg__kinds_pay(n, r->s->rows)) r->kinds = n;
    r->made.M = r->made.Mq = n;
}

/* Lists the wanted rows, fills the rotations, indexes the IDs. */
static void prepare(struct run *r, const struct lg__rotary_table *turns)
{
    const lg_batch *b = r->b;
    int n = 0;
    for (int i = 0; i < r->s->rows; i++) r->iota[i] = i;
    for (int i = 0; i < r->s->count; i++) {
        int start = b->offsets[r->s->first + i], end = b->offsets[r->s->first + i + 1];
        r->first_wanted[i] = n;
        if (r->m->config.span == LG_SPAN_WINDOW) {
            lg__places_reset(&r->p->places[i], b->levels, end - start, NULL);
            for (int t = start; t < end; t++) lg__places_add(&r->p->places[i], lg__ids(b), t);
        }
        for (int t = start; t < end; t++) {
            if (!lg__wanted(b, t)) continue;
            r->row[n] = t - r->r0;
            r->at[n] = t - start;
            for (int l = 0; l < b->levels; l++) r->id_target[l][n] = b->id_targets[l][t];
            r->target[n++] = b->targets[t];
        }
    }
    r->first_wanted[r->s->count] = n;
    if (!lg__rotated(r->m)) return;
    lg__rotary_table_rows(r->m, turns, r->cos, r->sin, lg__ids(b), r->r0, r->s->rows);
    for (int i = 0; i < n; i++) {
        size_t half = (size_t)r->m->R / 2, from = (size_t)r->row[i] * half, to = (size_t)i * half;
        memcpy(r->cosq + to, r->cos + from, half * sizeof(float));
        memcpy(r->sinq + to, r->sin + from, half * sizeof(float));
    }
}

/* Keys and queries of sequence i in layer l; *rows is where its queries start among Mq. */
static void sequence(const struct run *r, int i, int l, struct lg__keys *keys,
                     struct lg__queries *q, size_t *keys_at, size_t *rows)
{
    const struct lg__acts *a = &r->acts[l];
    size_t C = (size_t)r->m->config.width;
    int start = r->b->offsets[r->s->first + i] - r->r0;
    int n = r->b->offsets[r->s->first + i + 1] - r->r0 - start;
    int subset = a->Mq != a->M;
    *keys_at = (size_t)start;
    *rows = (size_t)(subset ? r->first_wanted[i] : start);
    *keys = (struct lg__keys){
        .kv = a->kv + *keys_at * 2 * C,
        .n = n,
        .packed = r->packed,
        .places = r->m->config.span == LG_SPAN_WINDOW ? &r->p->places[i] : NULL,
    };
    for (int k = 0; k < r->b->levels; k++) keys->ids[k] = r->b->ids[k] + r->r0 + start;
    q->q = a->q + *rows * C;
    q->at = subset ? r->at + *rows : r->iota;
    q->n = subset ? r->first_wanted[i + 1] - r->first_wanted[i] : n;
}

static void attend(const struct run *r, int l)
{
    const struct lg_model *m = r->m;
    const struct lg__acts *a = &r->acts[l];
    size_t C = (size_t)m->config.width;
    for (int i = 0; i < r->s->count; i++) {
        struct lg__keys keys;
        struct lg__queries q;
        size_t keys_at, rows;
        sequence(r, i, l, &keys, &q, &keys_at, &rows);
        if (!q.n) continue;
        for (int k = 0; m->config.span == LG_SPAN_FULL && k * LG__KEY_BLOCK < keys.n; k++)
            lg__keys_pack(m, r->packed, keys.kv, k, keys.n);
        lg__attention_forward(m, &m->layers[l], a->att + rows * C,
                              a->lse + rows * (size_t)m->config.heads, &keys, &q, r->scratch);
    }
}

static void attend_backward(const struct run *r, int l)
{
    const struct lg_model *m = r->m;
    const struct lg__acts *a = &r->acts[l];
    const struct lg__backward *b = &r->back;
    size_t C = (size_t)m->config.width;
    memset(b->dkv, 0, 2 * (size_t)a->M * C * sizeof *b->dkv);
    for (int i = 0; i < r->s->count; i++) {
        struct lg__keys keys;
        struct lg__queries q;
        size_t keys_at, rows;
        sequence(r, i, l, &keys, &q, &keys_at, &rows);
        if (!q.n) continue;
        lg__attention_backward(m, &m->layers[l], b->dq + rows * C, b->dkv + keys_at * 2 * C,
                               b->grad, b->datt + rows * C, a->att + rows * C,
                               a->lse + rows * (size_t)m->config.heads, &keys, &q, r->scratch);
    }
}

static void gather(const struct run *r, float *to, const float *from)
{
    size_t C = (size_t)r->m->config.width;
    for (int i = 0; i < r->s->wanted; i++)
        memcpy(to + (size_t)i * C, from + (size_t)r->row[i] * C, C * sizeof *to);
}

/* The first layer, by kinds of tokens. */
static void first_forward(const struct run *r)
{
    const struct lg_model *m = r->m;
    const struct lg__acts *a = &r->acts[0], *k = &r->made;
    size_t C = (size_t)m->config.width;
    lg__embed(m, k->x, r->kind, lg__ids(r->b), 0, k->M);
    lg__kinds_make(m, &m->layers[0], k);
    lg__kinds_give(a->kv, k->kv, r->kind_of, a->M, 2 * C);
    lg__kinds_give(a->q, k->q, r->kind_of, a->M, C);
    lg__layer_rotate(m, a->kv, 2 * C, a->cos, a->sin, a->M, 1);
    lg__layer_rotate(m, a->q, C, a->cos, a->sin, a->M, 1);
    attend(r, 0);
    if (!m->config.parallel) {
        lg__kinds_give(a->x, k->x, r->kind_of, a->M, C);
        lg__layer_after(m, &m->layers[0], a);
        return;
    }
    lg__kinds_give(a->out, k->x, r->kind_of, a->M, C);
    lg__linear_forward(m, &m->layers[0].out, a->out, a->att, a->M, 1);
    lg__kinds_add(m, a->out, k->out, r->kind_of, a->M, C);
}

static void forward(const struct run *r)
{
    const struct lg_model *m = r->m;
    int last = m->config.layers - 1;
    if (r->kinds)
        first_forward(r);
    else
        lg__embed(m, r->acts[0].x, r->b->tokens, lg__ids(r->b), r->r0, r->s->rows);
    for (int l = r->kinds ? 1 : 0; l <= last; l++) {
        const struct lg__acts *a = &r->acts[l];
        lg__layer_keys(m, &m->layers[l], a);
        if (a->xq != a->x) {
            gather(r, a->xq, a->x);
            gather(r, a->h1q, a->h1);
        }
        lg__layer_query(m, &m->layers[l], a);
        attend(r, l);
        lg__layer_after(m, &m->layers[l], a);
    }
    lg__norm_forward(m, m->final_norm, r->final, r->mean, r->rstd, r->acts[last].out, r->s->wanted);
    for (int l = 0; l < m->config.levels; l++) {
        if (!m->config.pointer[l]) continue;
        lg__linear_forward(m, &m->pointer[l].key, r->pk[l], r->acts[last].h1, r->s->rows, 0);
        lg__linear_forward(m, &m->pointer[l].query, r->pq[l], r->final, r->s->wanted, 0);
    }
}

/* Whether lg_argmax would say `at` (a row with NAN is never right); most wrong ones are known after a
 * few. */
static int is_argmax(const float *x, int n, int at)
{
    for (int i = 0; i < at; i++)
        if (!(x[i] < x[at])) return 0;
    for (int i = at + 1; i < n; i++)
        if (!(x[i] <= x[at])) return 0;
    return 1;
}

int lg__count_right(const float *logits, const int32_t *target, int n, int V)
{
    int right = 0;
    for (int i = 0; i < n; i++)
        right += target[i] >= 0 && is_argmax(logits + (size_t)i * (size_t)V, V, target[i]);
    return right;
}

/* One head: its losses, and the gradient of the final rows into back.dh (+= if add). */
static void head(const struct run *r, const struct lg__linear *l, float *logits,
                 const int32_t *target, float scale, int add, double *loss, int *right)
{
    const struct lg_model *m = r->m;
    int n = r->s->wanted;
    lg__linear_forward(m, l, logits, r->final, n, 0);
    *right += lg__count_right(logits, target, n, l->out);
    m->k->cross_entropy(r->loss, logits, logits, target, scale, n, l->out);
    for (int i = 0; i < n; i++) *loss += (double)r->loss[i];
    lg__linear_backward(m, l, r->back.dh, logits, r->final, &r->back, n, add);
}

/* The pointer of level l: its losses, the gradients of its keys into dpk, and that of the final
 * rows added to back.dh. */
static void point(const struct run *r, int l, float scale, double *loss, int *right)
{
    const struct lg_model *m = r->m;
    const struct lg__pointer *p = &m->pointer[l];
    const lg_batch *b = r->b;
    size_t C = (size_t)m->config.width;
    memset(r->dpq[l], 0, (size_t)r->s->wanted * C * sizeof(float));
    memset(r->dpk[l], 0, (size_t)r->s->rows * C * sizeof(float));
    for (int i = 0; i < r->s->wanted; i++) {
        int t = r->r0 + r->row[i], start = t - r->at[i];
        int32_t wanted = b->point_targets[l][t];
        if (wanted < 0) continue;
        int32_t carried = lg__carried(b->ids[l] + start, r->at[i]);
        size_t first = (size_t)(start - r->r0) * C;
        struct lg__pointer_keys k = {r->pk[l] + first, b->ids[l] + start, r->at[i] + 1};
        const float *q = r->pq[l] + (size_t)i * C;
        lg__pointer_scores(m, p, r->point[0], q, &k, carried);
        *right += lg__pointer_best(r->point[0], &k) == wanted;
        *loss += lg__pointer_loss(r->point[0], &k, wanted, scale, 1);
        lg__pointer_backward(m, p, r->dpq[l] + (size_t)i * C, r->dpk[l] + first, r->back.grad,
                             r->point[0], q, &k, carried, r->iota, r->point[1]);
    }
    lg__linear_backward(m, &p->query, r->back.dh, r->dpq[l], r->final, &r->back, r->s->wanted, 1);
}

/* The first layer, by kinds of tokens, down to the embedding. What the forward pass made of them is
 * not needed any more: their gradients are in its place. */
static void first_backward(const struct run *r)
{
    const struct lg_model *m = r->m;
    const struct lg__layer *l = &m->layers[0];
    const struct lg__acts *a = &r->acts[0], *k = &r->made;
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

static void backward(struct run *r)
{
    const struct lg_model *m = r->m;
    struct lg__backward *b = &r->back;
    size_t C = (size_t)m->config.width;
    int last = m->config.layers - 1, now = 0;
    b->d = r->d[now];
    memset(b->d, 0, (size_t)r->s->wanted * C * sizeof *b->d);
    lg__norm_backward(m, m->final_norm, b->grad, b->d, b->dh, r->acts[last].out, r->mean, r->rstd,
                      r->s->wanted);
    for (int l = last; l >= (r->kinds ? 1 : 0); l--) {
        const struct lg__acts *a = &r->acts[l];
        lg__layer_after_backward(m, &m->layers[l], a, b);
        attend_backward(r, l);
        float *dx = b->d;
        if (a->xq != a->x) {
            dx = r->d[now = !now];
            memset(dx, 0, (size_t)a->M * C * sizeof *dx);
            for (int i = 0; i < a->Mq; i++)
                memcpy(dx + (size_t)r->row[i] * C, b->d + (size_t)i * C, C * sizeof *dx);
        }
        b->dpointer = l == last ? r->dpk : NULL;
        lg__layer_keys_backward(m, &m->layers[l], a, b, dx, a->xq != a->x ? r->row : NULL);
        b->d = dx;
    }
    if (r->kinds) {
        first_backward(r);
        return;
    }
    if (r->p->inputs)
        memcpy(r->p->inputs + (size_t)r->r0 * C, b->d, (size_t)r->s->rows * C * sizeof *b->d);
    m->k->embed_backward(b->grad + m->tensors[0].offset, b->d, r->b->tokens + r->r0, r->s->rows,
                         m->config.width);
    if (!m->encoding->input_backward) return;
    const int32_t *ids[LG_LEVELS] = {0};
    for (int l = 0; l < r->b->levels; l++) ids[l] = r->b->ids[l] + r->r0;
    m->encoding->input_backward(b->grad + m->input, b->d, &m->config, ids, r->s->rows);
}

void lg__pass_run(const struct lg_model *m, struct lg__pass *p,
                  const struct lg__rotary_table *turns, const lg_batch *b,
                  const struct lg__shard *s, float *grad, int first,
                  const struct lg__scales *scales, struct lg__losses *losses)
{
    struct run r = {.m = m, .b = b, .s = s, .p = p, .r0 = b->offsets[s->first]};
    carve(&r, p->arena.data);
    r.back.grad = grad;
    r.back.first = first;
    list_kinds(&r);
    losses->first_rows += r.kinds ? r.kinds : s->rows;
    prepare(&r, turns);
    forward(&r);
    head(&r, &m->head, r.logits, r.target, scales->token, 0, &losses->loss, &losses->right);
    for (int l = 0; l < m->config.levels; l++) {
        if (m->id_head[l].out)
            head(&r, &m->id_head[l], r.id_logits, r.id_target[l], scales->id[l], 1,
                 &losses->id_loss[l], &losses->id_right[l]);
        if (m->config.pointer[l])
            point(&r, l, scales->point[l], &losses->point_loss[l], &losses->point_right[l]);
    }
    backward(&r);
}
