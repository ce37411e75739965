/* sum_tuples.c: the pass that carries, for each tuple of j words, the sum of the weights of the
 * j-subsets that show it:
 *
 *     T_j[tuple + word of i] += a_i T_(j-1)[tuple]     for j = k .. 1, place by place.
 *
 * A level j is the numbers T_j with one exponent. What follows a tuple does not depend on it, so
 * that a tuple 2^1000 times lighter than others of its level may be lost. */
#include <math.h>

#include "base/error.h"
#include "theory/scaled.h"
#include "theory/sum.h"

/* sum bounds the numbers of the level: forward it is their sum. 0: the level is empty. */
struct level {
    double *t;
    double sum;
    int64_t e;
    int count;
};

static void scale(struct level *l, double by, int64_t e)
{
    for (int i = 0; i < l->count; i++) l->t[i] *= by;
    l->sum *= by;
    l->e += e;
}

/* What a number of `from`, times m * 2^e, is in the units of `to`, which are made larger where it
 * needs to be. */
static double factor(struct level *to, const struct level *from, double m, int64_t e)
{
    int64_t rise = e + from->e - to->e;
    if (to->sum == 0) {
        to->e += rise;
        rise = 0;
    } else if (rise > 64) {
        scale(to, lg__pow2(-rise), rise);
        rise = 0;
    }
    return m * lg__pow2(rise);
}

static void settle(struct level *l, double more)
{
    l->sum += more;
    if (l->sum > 0x1p200) {
        int by = ilogb(l->sum);
        scale(l, lg__pow2(-by), by);
    }
}

/* A place with this word and weight m * 2^e, forward. */
static void take(const struct lg__tuples *u, struct level *level, int32_t word, double m, int64_t e)
{
    for (int j = u->k; j > 0; j--) {
        struct level *to = &level[j], *from = &level[j - 1];
        if (from->sum == 0) continue;
        double f = factor(to, from, m, e);
        if (u->ordered) {
            double *t = to->t + (size_t)from->count * (size_t)word;
            for (int i = 0; i < from->count; i++) t[i] += f * from->t[i];
        } else {
            const int32_t *next = u->next[j - 1] + word;
            for (int i = 0; i < from->count; i++) to->t[next[i * u->vocab]] += f * from->t[i];
        }
        settle(to, f * from->sum);
    }
}

/* The same backward: back[j] is the derivative by T_j. */
static void take_back(const struct lg__tuples *u, struct level *back, int32_t word, double m,
                      int64_t e)
{
    for (int j = 0; j < u->k; j++) {
        struct level *to = &back[j], *from = &back[j + 1];
        if (from->sum == 0) continue;
        double f = factor(to, from, m, e);
        for (int i = 0; i < to->count; i++) to->t[i] += f * from->t[lg__tuples_next(u, j, i, word)];
        settle(to, f * from->sum);
    }
}

/* What a place adds to the sum, and so the derivative by its score. */
static double meet(const struct lg__tuples *u, const double *before, const int64_t *exponent,
                   const struct level *back, int32_t word, double m, int64_t e)
{
    double sum = 0;
    for (int j = 0; j < u->k; j++) {
        double dot = 0;
        if (back[j + 1].sum != 0)
            for (int i = 0; i < u->count[j]; i++)
                dot += before[i] * back[j + 1].t[lg__tuples_next(u, j, i, word)];
        if (dot != 0) sum += dot * m * lg__pow2(e + exponent[j] + back[j + 1].e);
        before += u->count[j];
    }
    return sum;
}

static int make_levels(const struct lg__tuples *u, struct level *level, struct lg__block *b,
                       lg_error *err)
{
    size_t all = 0;
    for (int j = 0; j <= u->k; j++) all += (size_t)u->count[j];
    int e = lg__block_grow(b, all * sizeof(double), 0, "the tuples of a text", err);
    if (e) return e;
    memset(b->data, 0, all * sizeof(double));
    double *t = b->data;
    for (int j = 0; j <= u->k; j++) {
        level[j] = (struct level){.t = t, .count = u->count[j]};
        t += u->count[j];
    }
    return 0;
}

/* h, the sum and, in back[k], the derivative by T_k; the gradients of the table. */
static void finish(const struct lg__table *t, const struct level *top, double *h, double *log_sum,
                   const struct lg__sum_gradient *d, struct level *back)
{
    int outputs = t->outputs;
    int64_t most = INT64_MIN;
    double sum = 0;
    for (int i = 0; i < top->count && t->m; i++)
        if (top->t[i] > 0 && t->m[i] > 0 && t->e[i] > most) most = t->e[i];
    for (int i = 0; i < top->count; i++) {
        double a = top->t[i];
        if (a > 0 && t->m) a *= t->m[i] * lg__pow2(t->e[i] - most);
        if (!(a > 0)) continue;
        sum += a;
        for (int m = 0; m < outputs; m++) h[m] += a * t->g[i * outputs + m];
    }
    for (int m = 0; m < outputs && sum > 0; m++) h[m] /= sum;
    if (log_sum) *log_sum = lg__scaled_log(sum, top->e + (t->m && sum > 0 ? most : 0));
    if (!d || !(sum > 0)) return;
    back->sum = 1;
    back->e = -top->e;
    for (int i = 0; i < top->count; i++) {
        double a = t->m ? t->m[i] * lg__pow2(t->e[i] - most) : 1, change = 0;
        for (int m = 0; m < outputs; m++) {
            change += d->out[m] * (t->g[i * outputs + m] - h[m]);
            if (d->g) d->g[i * outputs + m] += top->t[i] * a / sum * d->out[m];
        }
        back->t[i] = a * change / sum;
        if (d->tuple) d->tuple[i] += top->t[i] * back->t[i];
    }
}

int lg__sum_tuples(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                   const struct lg__sum_gradient *d, lg_error *err)
{
    const struct lg__tuples *u = s->table->tuples;
    struct level level[LG__SUM_MOST_K + 1], back[LG__SUM_MOST_K + 1];
    int e, k = s->k;
    size_t lower = 0, kept = d && d->score ? (size_t)s->n : 0;
    for (int j = 0; j < k; j++) lower += (size_t)u->count[j];
    if ((e = make_levels(u, level, &w->block[0], err)) ||
        (e = make_levels(u, back, &w->block[1], err)) ||
        (e = lg__block_grow(&w->block[2], kept * lower * sizeof(double), 0, "a text's sums",
                            err)) ||
        (e = lg__block_grow(&w->block[3], kept * (size_t)k * sizeof(int64_t), 0, "a text's sums",
                            err)))
        return e;
    double *before = w->block[2].data, m;
    int64_t *exponent = w->block[3].data, power;
    level[0].t[0] = level[0].sum = 1;
    for (int i = 0; i < s->n; i++) {
        if (kept) {
            memcpy(before + (size_t)i * lower, level[0].t, lower * sizeof *before);
            for (int j = 0; j < k; j++) exponent[i * k + j] = level[j].e;
        }
        lg__split(s->score[i], &m, &power);
        if (m > 0) take(u, level, s->token[i], m, power);
    }
    for (int o = 0; o < s->table->outputs; o++) h[o] = 0;
    finish(s->table, &level[k], h, log_sum, d, &back[k]);
    for (int i = (int)kept - 1; i >= 0 && back[k].sum > 0; i--) {
        lg__split(s->score[i], &m, &power);
        if (!(m > 0)) continue;
        d->score[i] +=
            meet(u, before + (size_t)i * lower, exponent + i * k, back, s->token[i], m, power);
        take_back(u, back, s->token[i], m, power);
    }
    return 0;
}
