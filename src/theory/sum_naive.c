/* sum_naive.c: the sums taken subset by subset, as they are written down. */
#include <math.h>

#include "base/error.h"
#include "theory/sum.h"

/* The log of A(S), or -INFINITY; *pattern is its number if there are patterns. */
static double log_weight(const struct lg__sum *s, const int *place, int tuple, int *pattern)
{
    double log_a = 0;
    int lo = s->id ? s->id[place[0]] : place[0], hi = lo;
    for (int j = 0; j < s->k; j++) {
        int at = s->id ? s->id[place[j]] : place[j];
        log_a += s->score[place[j]];
        lo = at < lo ? at : lo;
        hi = at > hi ? at : hi;
        if (s->id && !at) return -INFINITY;
    }
    if (s->span && hi - lo >= s->span) return -INFINITY;
    if (s->table && s->table->m)
        log_a += log(s->table->m[tuple]) + (double)s->table->e[tuple] * log(2);
    *pattern = 0;
    if (!s->patterns) return log_a;
    for (int p = 0; p < s->patterns->count; p++) {
        int same = 1;
        for (int j = 0; j < s->k; j++)
            same &= s->patterns->offset[p * s->k + j] == place[j] - place[0];
        *pattern = p;
        if (same) return log_a + (s->patterns->weight ? log(s->patterns->weight[p]) : 0);
    }
    return -INFINITY;
}

static int tuple_of(const struct lg__sum *s, const int *place)
{
    int tuple = 0;
    for (int j = 0; j < s->k && s->table; j++)
        tuple = lg__tuples_next(s->table->tuples, j, tuple, s->token[place[j]]);
    return tuple;
}

static double value_of(const struct lg__sum *s, const int *place, int tuple, int output)
{
    double product = 1;
    if (s->table) return s->table->g[tuple * s->table->outputs + output];
    for (int j = 0; j < s->k; j++) product *= s->sign[s->token[place[j]]];
    return product;
}

/* The next k-subset in order; 0: there is none. */
static int next_subset(int *place, int k, int n)
{
    int j = k - 1;
    while (j >= 0 && place[j] == n - k + j) j--;
    if (j < 0) return 0;
    place[j]++;
    for (j++; j < k; j++) place[j] = place[j - 1] + 1;
    return 1;
}

/* Adds what the subset gives; p is A(S) over the sum. Of the weight of a pattern the derivative is
 * wanted, so that A(S) is divided by it. */
static void add_gradient(const struct lg__sum *s, const struct lg__sum_gradient *d,
                         const int *place, int tuple, int pattern, double p, const double *h,
                         int outputs)
{
    double change = 0;
    for (int m = 0; m < outputs; m++) {
        change += d->out[m] * (value_of(s, place, tuple, m) - h[m]);
        if (d->g) d->g[tuple * outputs + m] += p * d->out[m];
    }
    for (int j = 0; j < s->k && d->score; j++) d->score[place[j]] += p * change;
    if (d->tuple) d->tuple[tuple] += p * change;
    if (d->weight) d->weight[pattern] += p * change / s->patterns->weight[pattern];
    for (int j = 0; j < s->k && d->sign; j++) {
        double others = 1;
        for (int i = 0; i < s->k; i++) others *= i == j ? 1 : s->sign[s->token[place[i]]];
        d->sign[s->token[place[j]]] += p * d->out[0] * others;
    }
}

int lg__sum_enumerate(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                      const struct lg__sum_gradient *gradient, lg_error *err)
{
    int outputs = s->table ? s->table->outputs : 1, place[LG__SUM_MOST_K], pattern = 0;
    double most = -INFINITY, sum = 0;
    (void)w;
    (void)err;
    for (int m = 0; m < outputs; m++) h[m] = 0;
    /* Round 0 finds the largest weight, 1 sums, 2 adds the gradients. */
    for (int round = 0; round < (gradient ? 3 : 2) && s->n >= s->k; round++) {
        for (int j = 0; j < s->k; j++) place[j] = j;
        do {
            int tuple = tuple_of(s, place);
            double log_a = log_weight(s, place, tuple, &pattern), a;
            if (!(log_a > -INFINITY)) continue;
            if (round == 0) {
                most = fmax(most, log_a);
                continue;
            }
            a = exp(log_a - most);
            if (round == 2) {
                add_gradient(s, gradient, place, tuple, pattern, a / sum, h, outputs);
                continue;
            }
            sum += a;
            for (int m = 0; m < outputs; m++) h[m] += a * value_of(s, place, tuple, m);
        } while (next_subset(place, s->k, s->n));
        for (int m = 0; m < outputs && round == 1 && sum > 0; m++) h[m] /= sum;
        if (!(most > -INFINITY)) break;
    }
    if (log_sum) *log_sum = sum > 0 ? log(sum) + most : -INFINITY;
    return 0;
}
