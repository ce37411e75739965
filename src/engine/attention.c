/* attention.c: full span in blocks, built on matmul; window span over lists of keys.
 *
 * score(t, j) = q_t . k_j / sqrt(D) + bias(ID_j - ID_t), times beta_h ln(keys seen) with
 * ssmax; weights by softmax or entmax15; out = sum of weight times value. With a sink, one more
 * score, learned per head, takes part in the weights and has no value: a query can then tell
 * that a key it looks for is not there, which an average of the others would hide.
 *
 * Full span: a block of 24 queries meets the packed keys 128 at a time with a running
 * maximum and sum (online softmax), so memory does not grow with the length. entmax15 has
 * no such recurrence: it keeps the block's whole score rows. The blocks of keys start at
 * the sequence's first token and every sum over keys has one order, so a row's bits do not
 * depend on the queries beside it. */
#include "attention.h"

#include <math.h>
#include <string.h>

#include "work.h"

enum { QB = LG__QUERY_BLOCK, KB = LG__KEY_BLOCK };

static size_t up16(size_t n) { return (n + 15) / 16 * 16; }
static int least(int a, int b) { return a < b ? a : b; }

static size_t key_pack(const struct lg_model *m) { return up16(m->k->pack_size(m->D, KB)); }
static size_t value_pack(const struct lg_model *m) { return up16(m->k->pack_size(KB, m->D)); }

size_t lg__keys_block_size(const struct lg_model *m)
{
    return (size_t)m->config.heads * (key_pack(m) + value_pack(m));
}

void lg__keys_pack(const struct lg_model *m, float *packed, const float *kv, int n)
{
    size_t C = (size_t)m->config.width, D = (size_t)m->D, ld = 2 * C;
    for (int h = 0; h < m->config.heads; h++) {
        m->k->pack(packed, kv + (size_t)h * D, 1, ld, m->D, n);
        packed += key_pack(m);
        m->k->pack(packed, kv + C + (size_t)h * D, ld, 1, n, m->D);
        packed += value_pack(m);
    }
}

/* ---- Full span ----------------------------------------------------------------------- */

/* What the block routines work in; every array is of the caller's scratch. */
struct full {
    const struct lg_model *m;
    const struct lg__layer *l;
    const struct lg__keys *keys;
    const int *at;       /* [nq] places of the block's queries */
    int nq, h;           /* of this head */
    float *q;            /* [QB, D] queries / sqrt(D) */
    float *s, *ds, *raw; /* [QB, lds] scores; their gradients; scores before ssmax */
    size_t lds;
    float *max, *sum, *alpha; /* [QB] */
    float *delta, *lse;       /* [QB] */
    float *bias;              /* [KB] */
    float *dq;                /* [QB, D] */
    float *kt, *vt, *k;       /* backward: K^T, V^T and K of every block, packed */
    float *tn;                /* for gemm_tn */
    const float *key;         /* K^T of this head, packed; blocks key_step apart */
    const float *before;      /* the same of the first blocks, which are another sequence's */
    size_t key_step;
    int before_blocks;
    int seen[QB];
};

static const float *key_block(const struct full *f, int b)
{
    if (b < f->before_blocks) return f->before + (size_t)b * f->key_step;
    return f->key + (size_t)(b - f->before_blocks) * f->key_step;
}

static void full_take(const struct lg_model *m, struct full *f, struct lg__arena *to, int n,
                      int backward)
{
    size_t D = (size_t)m->D, blocks = backward ? (size_t)((n + KB - 1) / KB) : 0;
    f->lds = m->config.attention == LG_ATTENTION_ENTMAX15 ? up16((size_t)n + KB) : KB;
    f->q = lg__arena_floats(to, QB * D);
    f->s = lg__arena_floats(to, QB * f->lds);
    f->ds = lg__arena_floats(to, backward ? QB * f->lds : 0);
    f->raw = lg__arena_floats(to, m->config.attention == LG_ATTENTION_SSMAX ? QB * f->lds : 0);
    f->max = lg__arena_floats(to, QB);
    f->sum = lg__arena_floats(to, QB);
    f->alpha = lg__arena_floats(to, QB);
    f->delta = lg__arena_floats(to, QB);
    f->lse = lg__arena_floats(to, QB);
    f->bias = lg__arena_floats(to, KB);
    f->dq = lg__arena_floats(to, QB * D);
    f->kt = lg__arena_floats(to, blocks * key_pack(m));
    f->vt = lg__arena_floats(to, blocks * key_pack(m));
    f->k = lg__arena_floats(to, blocks * value_pack(m));
    f->tn = lg__arena_floats(to, backward ? m->k->gemm_tn_scratch(KB, m->D, QB) : 0);
}

/* The block of queries from `first` on, divided by sqrt(D). */
static void load_queries(struct full *f, const struct lg__queries *q, int first)
{
    const struct lg_model *m = f->m;
    size_t C = (size_t)m->config.width, D = (size_t)m->D;
    f->nq = least(QB, q->n - first);
    f->at = q->at + first;
    for (int i = 0; i < f->nq; i++)
        memcpy(f->q + (size_t)i * D, q->q + (size_t)(first + i) * C + (size_t)f->h * D,
               D * sizeof *f->q);
    m->k->scale(f->q, (float)(1.0 / sqrt((double)m->D)), (size_t)f->nq * D);
}

/* beta_h ln(keys that the query at this place sees). */
static float stretch(const struct lg_model *m, const struct lg__layer *l, int h, int keys)
{
    return lg__at(m, l->scale)[h] * (float)log((double)keys);
}

/* The IDs of the query at this place and of n keys from k0 on. */
static struct lg__pairs block_pairs(const struct full *f, int at, int k0, int n)
{
    struct lg__pairs p = {.n = n};
    for (int l = 0; l < f->m->config.levels; l++) {
        p.query[l] = f->keys->ids[l][at];
        p.key[l] = f->keys->ids[l] + k0;
    }
    return p;
}

/* Keys of block b that query i sees. */
static int seen_keys(const struct full *f, int i, int b)
{
    int seen = f->at[i] + 1 - b * KB;
    return seen < 0 ? 0 : least(seen, KB);
}

/* Scores of the queries against key block b into s, before the weights; seen[i] says how many
 * keys of the block query i sees. Columns that no query sees are not computed. */
static void score_block(struct full *f, float *s, int b)
{
    const struct lg_model *m = f->m;
    int nk = seen_keys(f, f->nq - 1, b);
    for (int i = 0; i < f->nq; i++) f->seen[i] = seen_keys(f, i, b);
    m->k->gemm(s, f->lds, f->q, (size_t)m->D, key_block(f, b), NULL, f->nq, nk, m->D, 0);
    for (int i = 0; m->encoding->bias && i < f->nq; i++) {
        struct lg__pairs pairs = block_pairs(f, f->at[i], b * KB, f->seen[i]);
        m->encoding->bias(f->bias, lg__at(m, f->l->position), &m->config, f->h, &pairs);
        m->k->add(s + (size_t)i * f->lds, f->bias, (size_t)f->seen[i]);
    }
    if (f->l->scale == LG__NO_TENSOR) return;
    memcpy(f->raw, s, (size_t)f->nq * f->lds * sizeof *s);
    for (int i = 0; i < f->nq; i++)
        m->k->scale(s + (size_t)i * f->lds, stretch(m, f->l, f->h, f->at[i] + 1),
                    (size_t)f->seen[i]);
}

/* Keys that block b holds: the depth of its packed values. Weights past the last key that a
 * query sees are 0. */
static int block_keys(const struct lg__keys *keys, int b) { return least(KB, keys->n - b * KB); }

/* Key blocks that the queries see. */
static int seen_blocks(const struct full *f) { return f->at[f->nq - 1] / KB + 1; }

static void full_softmax(struct full *f, float *out, float *lse)
{
    const struct lg_model *m = f->m;
    size_t C = (size_t)m->config.width;
    const float *sink = lg__at(m, f->l->sink);
    int nq = f->nq;
    for (int i = 0; i < nq; i++) {
        f->max[i] = sink ? sink[f->h] : -INFINITY;
        f->sum[i] = sink ? 1 : 0;
    }
    for (int b = 0; b < seen_blocks(f); b++) {
        const float *value = key_block(f, b) + key_pack(m);
        int nk = block_keys(f->keys, b);
        score_block(f, f->s, b);
        m->k->softmax_block(f->s, f->lds, f->max, f->sum, f->alpha, f->seen, nq, nk);
        if (b > 0) m->k->scale_rows(out, C, f->alpha, nq, m->D);
        m->k->gemm(out, C, f->s, f->lds, value, NULL, nq, m->D, nk, b > 0);
    }
    for (int i = 0; i < nq; i++) {
        if (lse) lse[i * m->config.heads + f->h] = f->max[i] + logf(f->sum[i]);
        f->alpha[i] = 1.0f / f->sum[i];
    }
    m->k->scale_rows(out, C, f->alpha, nq, m->D);
}

/* All scores of the block, then the weights row by row: s[nq, keys]; the sink's into alpha. */
static void entmax_weights(struct full *f)
{
    const float *sink = lg__at(f->m, f->l->sink);
    int blocks = seen_blocks(f);
    for (int b = 0; b < blocks; b++) score_block(f, f->s + b * KB, b);
    for (int i = 0; i < f->nq; i++) {
        float *s = f->s + (size_t)i * f->lds;
        int n = f->at[i] + 1, more = sink ? 1 : 0;
        if (sink) s[n] = sink[f->h];
        f->m->k->entmax15_rows(s, 1, n + more);
        f->alpha[i] = s[n];
        memset(s + n, 0, (size_t)(blocks * KB - n) * sizeof *s);
    }
}

static void full_entmax(struct full *f, float *out)
{
    const struct lg_model *m = f->m;
    entmax_weights(f);
    for (int b = 0; b < seen_blocks(f); b++)
        m->k->gemm(out, (size_t)m->config.width, f->s + b * KB, f->lds,
                   key_block(f, b) + key_pack(m), NULL, f->nq, m->D, block_keys(f->keys, b), b > 0);
}

static void full_forward(const struct lg_model *m, const struct lg__layer *l, float *out,
                         float *lse, const struct lg__keys *keys, const struct lg__queries *q,
                         float *scratch)
{
    struct full f = {.m = m, .l = l, .keys = keys};
    full_take(m, &f, &(struct lg__arena){scratch, 0}, keys->n, 0);
    f.key_step = lg__keys_block_size(m);
    f.before_blocks = keys->before ? keys->shared / KB : 0;
    for (f.h = 0; f.h < m->config.heads; f.h++) {
        size_t head = (size_t)f.h * (key_pack(m) + value_pack(m));
        f.key = keys->packed + head;
        f.before = keys->before ? keys->before + head : NULL;
        for (int first = 0; first < q->n; first += QB) {
            float *o = out + (size_t)first * (size_t)m->config.width + f.h * m->D;
            load_queries(&f, q, first);
            if (m->config.attention == LG_ATTENTION_ENTMAX15)
                full_entmax(&f, o);
            else
                full_softmax(&f, o, lse ? lse + first * m->config.heads : NULL);
        }
    }
}

/* ---- Full span, backward ---------------------------------------------------------------- */

/* The packed forms of the head's keys that the gradients need. */
static void pack_for_backward(struct full *f)
{
    const struct lg_model *m = f->m;
    size_t C = (size_t)m->config.width, ld = 2 * C;
    for (int b = 0; b * KB < f->keys->n; b++) {
        const float *k = f->keys->kv + (size_t)b * KB * ld + f->h * m->D;
        int nk = block_keys(f->keys, b);
        m->k->pack(f->kt + (size_t)b * key_pack(m), k, 1, ld, m->D, nk);
        m->k->pack(f->vt + (size_t)b * key_pack(m), k + C, 1, ld, m->D, nk);
        m->k->pack(f->k + (size_t)b * value_pack(m), k, ld, 1, nk, m->D);
    }
}

/* dp = dout . v of block b into ds. */
static void weight_gradients(const struct full *f, float *ds, const float *dout, int nk, int b)
{
    const struct lg_model *m = f->m;
    m->k->gemm(ds, f->lds, dout, (size_t)m->config.width, f->vt + (size_t)b * key_pack(m), NULL,
               f->nq, nk, m->D, 0);
}

/* The weights of all blocks into s and the gradients of their scores into ds. */
static void entmax_backward(struct full *f, float *grad, const float *dout)
{
    int blocks = seen_blocks(f), more = f->l->sink != LG__NO_TENSOR;
    entmax_weights(f);
    for (int b = 0; b < blocks; b++)
        weight_gradients(f, f->ds + b * KB, dout, block_keys(f->keys, b), b);
    for (int i = 0; i < f->nq; i++) {
        float *ds = f->ds + (size_t)i * f->lds, *s = f->s + (size_t)i * f->lds;
        int n = f->at[i] + 1;
        if (more) {
            s[n] = f->alpha[i];
            ds[n] = 0;
        }
        f->m->k->entmax15_rows_backward(ds, s, 1, n + more);
        if (more) grad[f->l->sink + (size_t)f->h] += ds[n];
        memset(ds + n, 0, (size_t)(blocks * KB - n) * sizeof *ds);
        memset(s + n, 0, (size_t)(blocks * KB - n) * sizeof *s);
    }
}

/* From ds, the gradient of the final scores of block b, to beta, the bias, dq and dk. */
static void score_block_backward(struct full *f, float *ds, float *dk, float *grad, int b)
{
    const struct lg_model *m = f->m;
    const struct lg__layer *l = f->l;
    for (int i = 0; i < f->nq; i++) {
        float *row = ds + (size_t)i * f->lds;
        int seen = seen_keys(f, i, b), n = f->at[i] + 1;
        if (l->scale != LG__NO_TENSOR) {
            /* s = beta ln(n) raw */
            float dot;
            m->k->dot_rows(&dot, row, 0, f->raw + (size_t)i * f->lds, 0, 1, seen);
            grad[l->scale + (size_t)f->h] += dot * (float)log((double)n);
            m->k->scale(row, stretch(m, l, f->h, n), (size_t)seen);
        }
        if (!m->encoding->bias_backward) continue;
        struct lg__pairs pairs = block_pairs(f, f->at[i], b * KB, seen);
        m->encoding->bias_backward(grad + l->position, row, lg__at(m, l->position), &m->config,
                                   f->h, &pairs);
    }
    m->k->gemm(f->dq, (size_t)m->D, ds, f->lds, f->k + (size_t)b * value_pack(m), NULL, f->nq, m->D,
               block_keys(f->keys, b), b > 0);
    m->k->gemm_tn(dk, 2 * (size_t)m->config.width, ds, f->lds, f->q, (size_t)m->D,
                  seen_keys(f, f->nq - 1, b), m->D, f->nq, 1, f->tn);
}

/* A block of queries: dq is left in f->dq, without its 1 / sqrt(D). */
static void full_block_backward(struct full *f, float *dkv, float *grad, const float *dout,
                                const float *out, const float *lse)
{
    const struct lg_model *m = f->m;
    size_t C = (size_t)m->config.width, ld = 2 * C, sink = f->l->sink;
    int entmax = m->config.attention == LG_ATTENTION_ENTMAX15, nq = f->nq;
    if (entmax) {
        entmax_backward(f, grad, dout);
    } else {
        m->k->dot_rows(f->delta, dout, C, out, C, nq, m->D);
        for (int i = 0; i < nq; i++) f->lse[i] = lse[i * m->config.heads + f->h];
        for (int i = 0; i < nq && sink != LG__NO_TENSOR; i++)
            grad[sink + (size_t)f->h] -= expf(lg__at(m, sink)[f->h] - f->lse[i]) * f->delta[i];
    }
    for (int b = 0; b < seen_blocks(f); b++) {
        float *dk = dkv + (size_t)b * KB * ld + f->h * m->D;
        float *s = entmax ? f->s + b * KB : f->s, *ds = entmax ? f->ds + b * KB : f->ds;
        int nk = seen_keys(f, nq - 1, b);
        if (!entmax) {
            score_block(f, s, b);
            weight_gradients(f, ds, dout, nk, b);
            m->k->softmax_block_backward(ds, s, f->lds, f->lse, f->delta, f->seen, nq,
                                         block_keys(f->keys, b));
        }
        m->k->gemm_tn(dk + C, ld, s, f->lds, dout, C, nk, m->D, nq, 1, f->tn);
        score_block_backward(f, ds, dk, grad, b);
    }
}

static void full_backward(const struct lg_model *m, const struct lg__layer *l, float *dq,
                          float *dkv, float *grad, const float *dout, const float *out,
                          const float *lse, const struct lg__keys *keys,
                          const struct lg__queries *q, float *scratch)
{
    struct full f = {.m = m, .l = l, .keys = keys};
    full_take(m, &f, &(struct lg__arena){scratch, 0}, keys->n, 1);
    f.key = f.kt;
    f.key_step = key_pack(m);
    size_t C = (size_t)m->config.width, D = (size_t)m->D;
    for (f.h = 0; f.h < m->config.heads; f.h++) {
        pack_for_backward(&f);
        for (int first = 0; first < q->n; first += QB) {
            size_t row = (size_t)first * C + (size_t)f.h * D;
            load_queries(&f, q, first);
            full_block_backward(&f, dkv, grad, dout + row, out + row,
                                lse + first * m->config.heads);
            m->k->scale(f.dq, (float)(1.0 / sqrt((double)m->D)), (size_t)f.nq * D);
            for (int i = 0; i < f.nq; i++)
                memcpy(dq + row + (size_t)i * C, f.dq + (size_t)i * D, D * sizeof *dq);
        }
    }
}

/* ---- Window span ---------------------------------------------------------------------- */

enum { MOST_QUERIES = 64, MOST_SCORES = 1 << 16 }; /* of a block */
enum { MOST_TURNS = 64 };                          /* rows of a table of biases */

/* A block of queries; scores and what becomes of them are [deep, T, H]. */
struct window {
    int T, deep; /* queries; keys of the one that sees most, and the sink */
    int first[MOST_QUERIES], n[MOST_QUERIES];
    float *s, *ds;           /* scores, then weights */
    float *raw;              /* before ssmax */
    float *bias, *row;       /* [most + 1] of one query and head */
    float *table;            /* biases of all rows of turns, [rows, H]; NULL: not made */
    int32_t *ids[LG_LEVELS]; /* of one query's keys */
    float *scratch;          /* [T, C], [2 D] */
};

void lg__lists_take(struct lg__lists *x, struct lg__arena *to, int rows, int room)
{
    *x = (struct lg__lists){.rows = rows, .room = room};
    x->first = lg__arena_ints(to, (size_t)rows);
    x->count = lg__arena_ints(to, (size_t)rows);
    x->key = lg__arena_ints(to, (size_t)room);
    x->turn = lg__arena_ints(to, (size_t)room);
}

void lg__lists_forget(struct lg__lists *x)
{
    x->used = 0;
    memset(x->count, 0, (size_t)x->rows * sizeof *x->count);
}

/* Queries of a block whose windows hold at most `most` keys. */
static int block_queries(const struct lg_model *m, int most)
{
    int fit = MOST_SCORES / (m->config.heads * (most + 1));
    return fit < 1 ? 1 : least(fit, MOST_QUERIES);
}

/* Rows of turns, where they say all that a bias depends on and are few; else 0. */
static int bias_turns(const struct lg_model *m)
{
    int64_t rows = lg__rotary_rows(&m->config);
    unsigned flags = m->encoding->flags & (LG__ENCODING_RELATIVE | LG__ENCODING_OWN);
    int few = m->encoding->bias && flags == LG__ENCODING_RELATIVE && rows <= MOST_TURNS;
    return few ? (int)rows : 0;
}

static void window_take(const struct lg_model *m, struct window *w, struct lg__arena *to, int most)
{
    size_t turns = (size_t)bias_turns(m), n = (size_t)(most > 0 ? most : 1) + 1,
           H = (size_t)m->config.heads;
    size_t T = (size_t)block_queries(m, (int)n - 1), all = n * T * H;
    size_t C = (size_t)m->config.width;
    w->s = lg__arena_floats(to, all);
    w->ds = lg__arena_floats(to, all);
    w->raw = lg__arena_floats(to, m->config.attention == LG_ATTENTION_SSMAX ? all : 0);
    w->table = lg__arena_floats(to, turns * H);
    if (n < turns) n = turns;
    w->bias = lg__arena_floats(to, n);
    w->row = lg__arena_floats(to, n);
    for (int l = 0; l < m->config.levels; l++) w->ids[l] = lg__arena_ints(to, n);
    w->scratch = lg__arena_floats(to, T * C + 2 * (size_t)m->D);
}

size_t lg__attention_scratch(const struct lg_model *m, int n, int most, int backward)
{
    struct full f;
    struct window w;
    struct lg__arena count = {0};
    if (m->config.span == LG_SPAN_WINDOW)
        window_take(m, &w, &count, most);
    else
        full_take(m, &f, &count, n, backward);
    return count.used;
}

/* Lists the keys of queries i.. of a block, as rows of kv, as far as they are not listed; ends the
 * block before one for which others would have to be forgotten. */
static void window_block(const struct lg_model *m, struct window *w, const struct lg__keys *keys,
                         const struct lg__queries *q, int i, int most)
{
    struct lg__lists *x = q->lists;
    int T = least(block_queries(m, most > 0 ? most : 1), q->n - i);
    w->deep = 0;
    for (w->T = 0; w->T < T; w->T++) {
        int at = q->at[i + w->T], r = at + q->row - x->base;
        if (!x->count[r]) {
            if (x->room - x->used < most) {
                if (w->T) return;
                lg__lists_forget(x);
            }
            int *key = x->key + x->used;
            x->first[r] = x->used;
            x->count[r] =
                lg__places_find(keys->places, key, x->turn + x->used, at, keys->ids, &m->config);
            for (int j = 0; keys->shared && j < x->count[r]; j++)
                if (key[j] >= keys->shared) key[j] += keys->gap;
            x->used += x->count[r];
        }
        w->first[w->T] = x->first[r];
        w->n[w->T] = x->count[r];
        if (w->n[w->T] > w->deep) w->deep = w->n[w->T];
    }
}

/* The IDs of query t of the block, which is at this place, and of its keys. */
static struct lg__pairs window_pairs(const struct lg_model *m, struct window *w,
                                     const struct lg__keys *keys, const struct lg__queries *q,
                                     int at, int t)
{
    const int *key = q->lists->key + w->first[t];
    struct lg__pairs p = {.n = w->n[t]};
    for (int l = 0; l < m->config.levels; l++) {
        for (int j = 0; j < p.n; j++) {
            int gap = keys->shared && key[j] >= keys->shared + keys->gap ? keys->gap : 0;
            w->ids[l][j] = keys->ids[l][key[j] - gap];
        }
        p.query[l] = keys->ids[l][at];
        p.key[l] = w->ids[l];
    }
    return p;
}

/* Column c of x[deep, L], its first n numbers and the last (the sink's, if `more`), into a row; and
 * back. */
static void take_column(const struct window *w, float *row, const float *x, int L, int c, int n,
                        int more)
{
    for (int j = 0; j < n; j++) row[j] = x[j * L + c];
    if (more) row[n] = x[(w->deep - 1) * L + c];
}

static void give_column(const struct window *w, const float *row, float *x, int L, int c, int n,
                        int more)
{
    for (int j = 0; j < n; j++) x[j * L + c] = row[j];
    if (more) x[(w->deep - 1) * L + c] = row[n];
}

/* entmax15, column after column, or with ds its gradients. */
static void window_entmax(const struct lg_model *m, struct window *w, float *ds, int more)
{
    int H = m->config.heads, L = w->T * H;
    for (int c = 0; c < L; c++) {
        int n = w->n[c / H];
        take_column(w, w->row, w->s, L, c, n, more);
        if (!ds) {
            m->k->entmax15_rows(w->row, 1, n + more);
            for (int j = n; j < w->deep; j++) w->s[j * L + c] = 0;
            give_column(w, w->row, w->s, L, c, n, more);
            continue;
        }
        take_column(w, w->bias, ds, L, c, n, more);
        m->k->entmax15_rows_backward(w->bias, w->row, 1, n + more);
        give_column(w, w->bias, ds, L, c, n, more);
    }
}

/* One bias for each row of turns and head, if n queries make up for it. */
static void make_biases(const struct lg_model *m, const struct lg__layer *l, struct window *w,
                        int n)
{
    const lg_model_config *c = &m->config;
    struct lg__pairs p = {.n = bias_turns(m)};
    if (!p.n || p.n > 2 * n) {
        w->table = NULL;
        return;
    }
    for (int v = 0; v < c->levels; v++) {
        p.query[v] = c->window_lo[v] < 0 ? -c->window_lo[v] : 0;
        p.key[v] = w->ids[v];
    }
    for (int r = 0; r < p.n; r++) {
        int64_t d[LG_LEVELS];
        int shared[LG_LEVELS];
        lg__rotary_row(c, r, d, shared);
        for (int v = 0; v < c->levels; v++)
            w->ids[v][r] = shared[v] ? p.query[v] + (int32_t)d[v] : LG_ABSENT;
    }
    for (int h = 0; h < c->heads; h++) {
        m->encoding->bias(w->bias, lg__at(m, l->position), c, h, &p);
        for (int r = 0; r < p.n; r++) w->table[r * c->heads + h] = w->bias[r];
    }
}

/* Adds the biases of query t of the block, which is at this place. */
static void window_bias(const struct lg_model *m, const struct lg__layer *l, struct window *w,
                        const struct lg__keys *keys, const struct lg__queries *q, int at, int t)
{
    int H = m->config.heads, L = w->T * H;
    const int *turn = q->lists->turn + w->first[t];
    float *s = w->s + t * H;
    if (w->table) {
        for (int j = 0; j < w->n[t]; j++, s += L)
            for (int h = 0; h < H; h++) s[h] += w->table[turn[j] * H + h];
        return;
    }
    struct lg__pairs pairs = window_pairs(m, w, keys, q, at, t);
    for (int h = 0; h < H; h++) {
        m->encoding->bias(w->bias, lg__at(m, l->position), &m->config, h, &pairs);
        for (int j = 0; j < pairs.n; j++) s[j * L + h] += w->bias[j];
    }
}

/* Leaves the weights of a block in w->s. */
static void window_weights(const struct lg_model *m, const struct lg__layer *l, struct window *w,
                           const struct lg__keys *keys, const struct lg__queries *q, int i)
{
    const lg_model_config *c = &m->config;
    const struct lg__lists *x = q->lists;
    const float *sink = lg__at(m, l->sink);
    int H = c->heads, L = w->T * H;
    m->k->window_scores(w->s, q->q + (size_t)i * (size_t)c->width, keys->kv, 2 * (size_t)c->width,
                        w->first, w->n, x->key, x->turn, m->rotary_cos, m->rotary_sin, w->T,
                        w->deep, H, m->D, m->R, (float)(1.0 / sqrt((double)m->D)), w->scratch);
    for (int t = 0; m->encoding->bias && t < w->T; t++)
        window_bias(m, l, w, keys, q, q->at[i + t], t);
    if (l->scale != LG__NO_TENSOR) {
        memcpy(w->raw, w->s, (size_t)(w->deep * L) * sizeof *w->s);
        for (int col = 0; col < L; col++) {
            float by = stretch(m, l, col % H, w->n[col / H]);
            for (int j = 0; j < w->n[col / H]; j++) w->s[j * L + col] *= by;
        }
    }
    for (int col = 0; sink && col < L; col++) w->s[w->deep * L + col] = sink[col % H];
    if (sink) w->deep++;
    if (c->attention == LG_ATTENTION_ENTMAX15)
        window_entmax(m, w, NULL, sink != NULL);
    else
        m->k->softmax_columns(w->s, w->deep, L);
}

static void window_forward(const struct lg_model *m, const struct lg__layer *l, float *out,
                           const struct lg__keys *keys, const struct lg__queries *q, float *scratch)
{
    size_t C = (size_t)m->config.width;
    int most = lg__places_most(keys->places, &m->config, 0);
    struct window w;
    window_take(m, &w, &(struct lg__arena){scratch, 0}, most);
    make_biases(m, l, &w, q->n);
    for (int i = 0; i < q->n; i += w.T) {
        window_block(m, &w, keys, q, i, most);
        window_weights(m, l, &w, keys, q, i);
        m->k->window_mix(out + (size_t)i * C, w.s, keys->kv + C, 2 * C, w.first, w.n, q->lists->key,
                         w.T, m->config.heads, m->D);
    }
}

/* From the gradients of the scores of query t of a block to those of ssmax and the biases. */
static void query_backward(const struct lg_model *m, const struct lg__layer *l, struct window *w,
                           float *grad, const struct lg__keys *keys, const struct lg__queries *q,
                           int at, int t)
{
    int H = m->config.heads, L = w->T * H, n = w->n[t];
    struct lg__pairs pairs = {0};
    if (m->encoding->bias_backward) pairs = window_pairs(m, w, keys, q, at, t);
    for (int h = 0; h < H; h++) {
        int c = t * H + h;
        take_column(w, w->row, w->ds, L, c, n, 0);
        if (l->scale != LG__NO_TENSOR) {
            float dot;
            take_column(w, w->bias, w->raw, L, c, n, 0);
            m->k->dot_rows(&dot, w->row, 0, w->bias, 0, 1, n);
            grad[l->scale + (size_t)h] += dot * (float)log((double)n);
            m->k->scale(w->row, stretch(m, l, h, n), (size_t)n);
            give_column(w, w->row, w->ds, L, c, n, 0);
        }
        if (m->encoding->bias_backward)
            m->encoding->bias_backward(grad + l->position, w->row, lg__at(m, l->position),
                                       &m->config, h, &pairs);
    }
}

static void window_backward(const struct lg_model *m, const struct lg__layer *l, float *dq,
                            float *dkv, float *grad, const float *dout, const struct lg__keys *keys,
                            const struct lg__queries *q, float *scratch)
{
    size_t C = (size_t)m->config.width;
    int H = m->config.heads, most = lg__places_most(keys->places, &m->config, 0);
    int more = l->sink != LG__NO_TENSOR;
    struct window w;
    window_take(m, &w, &(struct lg__arena){scratch, 0}, most);
    make_biases(m, l, &w, q->n);
    memset(dq, 0, (size_t)q->n * C * sizeof *dq);
    for (int i = 0; i < q->n; i += w.T) {
        const struct lg__lists *x = q->lists;
        size_t row = (size_t)i * C;
        window_block(m, &w, keys, q, i, most);
        window_weights(m, l, &w, keys, q, i);
        int L = w.T * H;
        float *last = w.ds + (w.deep - 1) * L; /* of the sink */
        m->k->window_mix_backward(w.ds, dkv + C, dout + row, w.s, keys->kv + C, 2 * C, w.first, w.n,
                                  x->key, w.T, w.deep - more, H, m->D);
        if (more) memset(last, 0, (size_t)L * sizeof *last);
        if (m->config.attention == LG_ATTENTION_ENTMAX15)
            window_entmax(m, &w, w.ds, more);
        else
            m->k->softmax_columns_backward(w.ds, w.s, w.deep, L);
        for (int t = 0; more && t < w.T; t++) m->k->add(grad + l->sink, last + t * H, (size_t)H);
        if (l->scale != LG__NO_TENSOR || m->encoding->bias_backward)
            for (int t = 0; t < w.T; t++) query_backward(m, l, &w, grad, keys, q, q->at[i + t], t);
        m->k->window_scores_backward(dq + row, dkv, w.ds, q->q + row, keys->kv, 2 * C, w.first, w.n,
                                     x->key, x->turn, m->rotary_cos, m->rotary_sin, w.T, H, m->D,
                                     m->R, (float)(1.0 / sqrt((double)m->D)), w.scratch);
    }
}

/* ---- Either ------------------------------------------------------------------------------ */

void lg__attention_forward(const struct lg_model *m, const struct lg__layer *l, float *out,
                           float *lse, const struct lg__keys *keys, const struct lg__queries *q,
                           float *scratch)
{
    if (m->config.span == LG_SPAN_WINDOW)
        window_forward(m, l, out, keys, q, scratch);
    else
        full_forward(m, l, out, lse, keys, q, scratch);
}

void lg__attention_backward(const struct lg_model *m, const struct lg__layer *l, float *dq,
                            float *dkv, float *grad, const float *dout, const float *out,
                            const float *lse, const struct lg__keys *keys,
                            const struct lg__queries *q, float *scratch)
{
    if (m->config.span == LG_SPAN_WINDOW)
        window_backward(m, l, dq, dkv, grad, dout, keys, q, scratch);
    else
        full_backward(m, l, dq, dkv, grad, dout, out, lse, keys, q, scratch);
}
