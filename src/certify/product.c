/* product.c: the sign of z(q, k) of all queries and keys, as a matrix product in blocks of which nothing is
 * kept. Keys with the query's number are scored by decoding's own kernel: each must match. Of the others
 * none may: where the product, whose sums have another order, comes near to a match, the pair is scored
 * again by that kernel. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/pool.h"
#include "certify/pairs.h"
#include "engine/match.h"

enum { QUERIES = 96, KEYS = 1024, LEVEL = 0, FOUND = 64 };

/* What one block of queries found. */
struct finding {
    int64_t missed, matched;
    double margin;
    struct lg__failing list[FOUND];
    int listed;
};

struct place {
    int32_t code, key;
};

struct product {
    const struct lg__matching *p;
    const struct lg_model *m;
    const struct lg__pointer *head;
    int C, blocks;       /* of keys */
    float *packed;       /* [blocks] keys */
    size_t pack;         /* floats of one */
    float *longest;      /* [blocks] the largest norm of a key */
    struct place *order; /* [keys] by their numbers */
    float **z;           /* one per thread: [QUERIES, KEYS] */
    float threshold;     /* q . k above which z > 0 */
    double scale;        /* of z: 64 / sqrt(C) */
    struct finding *found;
    struct lg__pool *pool;
    int from; /* the first block of queries of this round */
};

static const int32_t *code_of(const struct lg__vectors *v) { return v->code.data; }
static const float *at(const struct product *w, const struct lg__vectors *v, int i)
{
    return (const float *)v->data.data + (size_t)i * (size_t)w->C;
}

static double norm(const float *x, int C)
{
    double sum = 0;
    for (int i = 0; i < C; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static void note(struct finding *f, int64_t input, int64_t extra)
{
    if (f->listed < FOUND) f->list[f->listed++] = (struct lg__failing){input, extra, 0};
}

/* z of query q and key k, as decoding computes it. */
static float score(const struct product *w, int q, int k)
{
    float z;
    lg__match_scores(w->m, w->head, &z, at(w, &w->p->query, q), at(w, &w->p->key, k), 1);
    return z;
}

/* The first key, in the order of numbers, whose number is not below this one. */
static int first_of(const struct product *w, int32_t code)
{
    int low = 0, high = w->p->key.count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (w->order[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The keys that query q asks for. */
static void check_right(const struct product *w, int q, struct finding *f)
{
    const struct lg__vectors *key = &w->p->key;
    int32_t code = code_of(&w->p->query)[q];
    for (int i = first_of(w, code); i < key->count && w->order[i].code == code; i++) {
        float z = score(w, q, w->order[i].key);
        if (z > 0) {
            f->margin = fmin(f->margin, (double)z);
            continue;
        }
        f->missed++;
        note(f, ((int64_t *)w->p->query.input.data)[q], -1);
    }
}

/* A row of a block in which some key comes near to a match. */
static void check_near(const struct product *w, int q, int block, const float *dot, int n,
                       float bound, struct finding *f)
{
    const struct lg__vectors *key = &w->p->key;
    int32_t code = code_of(&w->p->query)[q];
    for (int j = 0; j < n; j++) {
        int k = block * KEYS + j;
        if (code_of(key)[k] == code) continue;
        if (dot[j] < w->threshold - bound) {
            f->margin = fmin(f->margin, w->scale * (double)(w->threshold - dot[j]));
            continue;
        }
        float z = score(w, q, k);
        if (z <= 0) { /* no match, nor is NaN one: those are refused before */
            f->margin = fmin(f->margin, -(double)z);
            continue;
        }
        f->matched++;
        note(f, ((int64_t *)w->p->query.input.data)[q], code_of(key)[k]);
    }
}

static float largest(const float *x, int n)
{
    float lane[16];
    for (int i = 0; i < 16; i++) lane[i] = -FLT_MAX;
    int j = 0;
    for (; j + 16 <= n; j += 16)
        for (int i = 0; i < 16; i++) lane[i] = x[j + i] > lane[i] ? x[j + i] : lane[i];
    for (; j < n; j++) lane[0] = x[j] > lane[0] ? x[j] : lane[0];
    for (int i = 1; i < 16; i++) lane[0] = lane[i] > lane[0] ? lane[i] : lane[0];
    return lane[0];
}

static void run_block(void *context, int i, int thread)
{
    const struct product *w = context;
    const struct lg__vectors *query = &w->p->query;
    int first = (w->from + i) * QUERIES, n = query->count - first;
    float *z = w->z[thread], length[QUERIES];
    struct finding *f = &w->found[i];
    if (n > QUERIES) n = QUERIES;
    *f = (struct finding){.margin = INFINITY};
    for (int q = 0; q < n; q++) {
        length[q] = (float)norm(at(w, query, first + q), w->C);
        check_right(w, first + q, f);
    }
    for (int b = 0; b < w->blocks; b++) {
        int keys = w->p->key.count - b * KEYS;
        if (keys > KEYS) keys = KEYS;
        w->m->k->gemm(z, KEYS, at(w, query, first), (size_t)w->C, w->packed + (size_t)b * w->pack,
                      NULL, n, keys, w->C, 0);
        for (int q = 0; q < n; q++) {
            /* Each order of C products is within C 2^-24 |q| |k| of the exact sum. */
            float bound = 4 * (float)(w->C + 4) * 0x1p-24f *
                          (length[q] * w->longest[b] + fabsf(w->threshold));
            float top = largest(z + (size_t)q * KEYS, keys);
            if (top < w->threshold - bound)
                f->margin = fmin(f->margin, w->scale * (double)(w->threshold - top));
            else
                check_near(w, first + q, b, z + (size_t)q * KEYS, keys, bound, f);
        }
    }
}

/* A NaN, or numbers so large that a product may be none. */
static int all_finite(const struct product *w, const struct lg__vectors *v)
{
    for (int i = 0; i < v->count; i++)
        if (!(norm(at(w, v, i), w->C) < 1e15)) return 0;
    return 1;
}

static int by_code(const void *a, const void *b)
{
    int32_t x = ((const struct place *)a)->code, y = ((const struct place *)b)->code;
    return (x > y) - (x < y);
}

static int prepare(struct product *w, int threads, lg_error *err)
{
    const struct lg__vectors *key = &w->p->key;
    w->blocks = (key->count + KEYS - 1) / KEYS;
    w->pack = w->m->k->pack_size(w->C, KEYS);
    w->packed = lg__alloc((size_t)w->blocks * w->pack * sizeof *w->packed);
    w->longest = lg__alloc((size_t)w->blocks * sizeof *w->longest);
    w->order = lg__alloc((size_t)key->count * sizeof *w->order);
    if (!(w->pool = lg__pool_new(threads, err))) return LG_ERROR_MEMORY;
    int n = lg__pool_threads(w->pool);
    w->z = lg__alloc((size_t)n * sizeof *w->z);
    int failed = !w->packed || !w->longest || !w->order || !w->z;
    for (int i = 0; i < n && !failed; i++)
        failed = !(w->z[i] = lg__alloc(QUERIES * KEYS * sizeof **w->z));
    if (failed)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the pairs; take a smaller vocabulary");
    for (int b = 0; b < w->blocks; b++) {
        int keys = key->count - b * KEYS;
        if (keys > KEYS) keys = KEYS;
        w->m->k->pack(w->packed + (size_t)b * w->pack, at(w, key, b * KEYS), 1, (size_t)w->C, w->C,
                      keys);
        for (int j = 0; j < keys; j++)
            w->longest[b] = fmaxf(w->longest[b], (float)norm(at(w, key, b * KEYS + j), w->C));
    }
    for (int i = 0; i < key->count; i++) w->order[i] = (struct place){code_of(key)[i], i};
    qsort(w->order, (size_t)key->count, sizeof *w->order, by_code);
    return 0;
}

static void take(struct lg__matching *p, const struct finding *f)
{
    p->missed += f->missed;
    p->false_matches += f->matched;
    p->margin = fmin(p->margin, f->margin);
    p->cut |= f->missed + f->matched > f->listed;
    for (int i = 0; i < f->listed; i++) lg__matching_list(p, f->list[i].input, f->list[i].extra);
}

static void tidy(struct product *w)
{
    for (int i = 0; w->z && i < lg__pool_threads(w->pool); i++) free(w->z[i]);
    if (w->pool) lg__pool_free(w->pool);
    free(w->z);
    free(w->packed);
    free(w->longest);
    free(w->order);
    free(w->found);
}

int lg__matching_multiply(struct lg__matching *p, const lg_model *m, int threads, lg_error *err)
{
    enum { ROUND = 256 };
    struct product w = {.p = p, .m = m, .head = &m->pointer[LEVEL], .C = p->model.width};
    int all = (p->query.count + QUERIES - 1) / QUERIES, e = 0;
    p->pairs = (int64_t)p->query.count * p->key.count;
    if (!all_finite(&w, &p->query) || !all_finite(&w, &p->key)) {
        p->missed = p->pairs;
        lg__matching_list(p, 0, -1);
        return 0;
    }
    w.scale = 64 / sqrt((double)w.C);
    w.threshold = -*lg__at(m, w.head->place) * (float)sqrt((double)w.C);
    w.found = lg__alloc(ROUND * sizeof *w.found);
    e = w.found ? prepare(&w, threads, err)
                : lg__fail(err, LG_ERROR_MEMORY, "no memory for the pairs; end other programs");
    for (w.from = 0; w.from < all && !e; w.from += ROUND) {
        int n = all - w.from < ROUND ? all - w.from : ROUND;
        if (p->progress)
            p->progress(p->context, "checking pairs", (int64_t)w.from * QUERIES, p->query.count);
        lg__pool_run(w.pool, n, run_block, &w);
        for (int i = 0; i < n; i++) take(p, &w.found[i]);
    }
    if (p->progress && !e)
        p->progress(p->context, "checking pairs", p->query.count, p->query.count);
    tidy(&w);
    return e;
}
