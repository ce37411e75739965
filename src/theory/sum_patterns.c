/* sum_patterns.c: sums over subsets that are listed: the patterns behind each first member, or the
 * members of a span over coupled IDs. A(S) is a product of a few scaled numbers; the sums have one
 * exponent, which rises with the heaviest subset. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "theory/scaled.h"
#include "theory/sum.h"

struct sums {
    const struct lg__sum *s;
    const double *m; /* [n] weights of the places, m * 2^e */
    const int64_t *e;
    double den, *num; /* times 2^top */
    int64_t top;
    const struct lg__sum_gradient *d; /* NULL: the sums are taken; else the gradients added */
    const double *h;
};

/* A(S) without the weight of a pattern, as *a * 2^*e, and its tuple. place rises. */
static int weigh(const struct sums *q, const int32_t *place, double *a, int64_t *e)
{
    const struct lg__table *t = q->s->table;
    int tuple = 0;
    *a = 1;
    *e = 0;
    for (int j = 0; j < q->s->k; j++) {
        *a *= q->m[place[j]];
        *e += q->e[place[j]];
        tuple = lg__tuples_next(t->tuples, j, tuple, q->s->token[place[j]]);
    }
    if (t->m) {
        *a *= t->m[tuple];
        *e += t->e[tuple];
    }
    return tuple;
}

static void add_to_sums(struct sums *q, int tuple, double a, int64_t e)
{
    const double *g = q->s->table->g + (size_t)tuple * (size_t)q->s->table->outputs;
    int outputs = q->s->table->outputs;
    if (q->den == 0) q->top = e;
    if (e > q->top + 64) {
        double down = lg__pow2(q->top - e);
        q->den *= down;
        for (int m = 0; m < outputs; m++) q->num[m] *= down;
        q->top = e;
    }
    a *= lg__pow2(e - q->top);
    q->den += a;
    for (int m = 0; m < outputs; m++) q->num[m] += a * g[m];
}

/* The derivative by the weight of a pattern holds A(S) without it, which may be far over the sum
 * where that weight is 0; it is cut at 2^1000. */
static void add_to_gradients(const struct sums *q, const int32_t *place, int tuple, double a,
                             int64_t e, int pattern, double weight)
{
    const struct lg__sum_gradient *d = q->d;
    int outputs = q->s->table->outputs;
    const double *g = q->s->table->g + (size_t)tuple * (size_t)outputs;
    double change = 0, p = a / q->den * lg__pow2(e - q->top > 1000 ? 1000 : e - q->top);
    for (int m = 0; m < outputs; m++) change += d->out[m] * (g[m] - q->h[m]);
    if (d->weight) d->weight[pattern] += p * change;
    p *= weight;
    for (int m = 0; m < outputs && d->g; m++)
        d->g[(size_t)tuple * (size_t)outputs + (size_t)m] += p * d->out[m];
    if (d->tuple) d->tuple[tuple] += p * change;
    for (int j = 0; j < q->s->k && d->score; j++) d->score[place[j]] += p * change;
}

static void visit(struct sums *q, const int32_t *place, int pattern, double weight)
{
    double a;
    int64_t e;
    int tuple = weigh(q, place, &a, &e);
    if (a == 0) return;
    if (q->d)
        add_to_gradients(q, place, tuple, a, e, pattern, weight);
    else if (weight > 0)
        add_to_sums(q, tuple, a * weight, e);
}

static void each_pattern(struct sums *q)
{
    const struct lg__patterns *p = q->s->patterns;
    int k = q->s->k;
    int32_t place[LG__SUM_MOST_K];
    for (int first = 0; first < q->s->n; first++)
        for (int i = 0; i < p->count && q->m[first] > 0; i++) {
            const int32_t *offset = p->offset + (size_t)i * (size_t)k;
            double weight = p->weight ? p->weight[i] : 1;
            if (first + offset[k - 1] >= q->s->n || (weight == 0 && !q->d)) continue;
            for (int j = 0; j < k; j++) place[j] = first + offset[j];
            visit(q, place, i, weight);
        }
}

/* order: the places that have an ID, by ID and then by place. */
static void each_coupled(struct sums *q, const int32_t *order, int count)
{
    const int32_t *id = q->s->id;
    int k = q->s->k, at[LG__SUM_MOST_K];
    for (int first = 0; first + k <= count; first++) {
        int end = first + 1, j;
        while (end < count && id[order[end]] - id[order[first]] < q->s->span) end++;
        if (end - first < k) continue;
        for (int i = 0; i < k; i++) at[i] = first + i;
        do {
            int32_t place[LG__SUM_MOST_K];
            for (int i = 0; i < k; i++) { /* in order of place */
                int to = i;
                for (; to > 0 && place[to - 1] > order[at[i]]; to--) place[to] = place[to - 1];
                place[to] = order[at[i]];
            }
            visit(q, place, 0, 1);
            j = k - 1;
            while (j > 0 && at[j] == end - k + j) j--;
            at[j]++;
            for (int i = j + 1; i < k; i++) at[i] = at[i - 1] + 1;
        } while (j > 0); /* the first member stays */
    }
}

struct coupled {
    int32_t id, place;
};

static int by_id(const void *a, const void *b)
{
    const struct coupled *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int make_order(const struct lg__sum *s, struct lg__sum_work *w, int32_t **order, int *count,
                      lg_error *err)
{
    size_t n = (size_t)s->n;
    int e = lg__block_grow(&w->block[3], n * sizeof(struct coupled), 0, "a text's IDs", err);
    if (!e) e = lg__block_grow(&w->block[4], n * sizeof **order, 0, "a text's IDs", err);
    if (e) return e;
    struct coupled *c = w->block[3].data;
    *order = w->block[4].data;
    *count = 0;
    for (int i = 0; i < s->n; i++)
        if (s->id[i]) c[(*count)++] = (struct coupled){s->id[i], i};
    qsort(c, (size_t)*count, sizeof *c, by_id);
    for (int i = 0; i < *count; i++) (*order)[i] = c[i].place;
    return 0;
}

int lg__sum_patterns(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                     const struct lg__sum_gradient *d, lg_error *err)
{
    struct sums q = {.s = s, .h = h};
    int e, count = 0, outputs = s->table->outputs;
    int32_t *order = NULL;
    size_t n = (size_t)s->n;
    if ((e = lg__block_grow(&w->block[0], n * sizeof(double), 0, "a text's weights", err)) ||
        (e = lg__block_grow(&w->block[1], n * sizeof(int64_t), 0, "a text's weights", err)) ||
        (s->id && (e = make_order(s, w, &order, &count, err))))
        return e;
    double *m = w->block[0].data;
    int64_t *power = w->block[1].data;
    for (int i = 0; i < s->n; i++) lg__split(s->score[i], &m[i], &power[i]);
    q.m = m;
    q.e = power;
    q.num = h;
    for (int o = 0; o < outputs; o++) h[o] = 0;
    for (int round = 0; round < (d ? 2 : 1); round++) {
        if (round && q.den == 0) break;
        q.d = round ? d : NULL;
        if (s->id)
            each_coupled(&q, order, count);
        else
            each_pattern(&q);
        for (int o = 0; o < outputs && !round && q.den > 0; o++) h[o] /= q.den;
    }
    if (log_sum) *log_sum = lg__scaled_log(q.den, q.top);
    return 0;
}
