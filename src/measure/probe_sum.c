/* probe_sum.c: the predictions of a probe together: k*, and means by k* with their intervals. A
 * mean is over predictions, but documents are what was drawn: with sums S_d and numbers n_d by
 * document the mean is m = S / n, and its variance D / (D - 1) sum_d (S_d - m n_d)^2 / n^2, over the
 * D documents that have such predictions. */
#include "measure/probe_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct seen {
    int document, k, depends;
    double loss, excess; /* NaN: there is none */
};

/* Of k*. The first is of those that do not depend on the context, the last of those past the others
 * and past what was looked for. */
static const struct range {
    int low, high; /* high 0: no end */
} ranges[LG_PROBE_BINS] = {{0, 0}, {1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {17, 32}, {33, 0}};
static const struct range small = {1, 2}, large = {9, 0};

/* What can be told of a range where k* is looked for up to most_k: a k* above that is only known to be
 * above. */
static struct range told(struct range g, int most_k)
{
    if (g.high > most_k) g.high = most_k;
    if (g.low && !g.high && g.low > most_k + 1) g.low = most_k + 1;
    return g;
}

int lg__probe_sum_add(struct lg__probe_sum *s, int document, const lg_probe_row *r, lg_error *err)
{
    size_t need = ((size_t)s->count + 1) * sizeof(struct seen);
    int e = need > s->seen.size ? lg__block_grow(&s->seen, 2 * need + 65536, 1, "a probe", err) : 0;
    if (e) return e;
    ((struct seen *)s->seen.data)[s->count++] =
        (struct seen){document, r->k, r->depends, r->loss, r->against - r->against_short};
    s->documents = document + 1;
    return 0;
}

void lg__probe_sum_clear(struct lg__probe_sum *s)
{
    lg__block_free(&s->seen);
    lg__block_free(&s->share);
    *s = (struct lg__probe_sum){0};
}

static int within(const struct seen *x, const struct range *g)
{
    if (!g->low) return !x->depends;
    return x->depends && x->k >= g->low && (!g->high || x->k <= g->high);
}

/* A group's mean of the loss or the excess; what each document adds to its error, over the number
 * of predictions, is added to error[documents] with this sign, and the documents that have some are
 * marked in there[documents]. Returns how many predictions there are. */
static int mean_of(struct lg__probe_sum *s, const struct range *g, int excess, double *mean,
                   double *error, double *there, double sign)
{
    const struct seen *x = s->seen.data;
    double *sum = s->share.data, *number = sum + s->documents, all = 0;
    int n = 0;
    memset(sum, 0, 2 * (size_t)s->documents * sizeof *sum);
    for (int i = 0; i < s->count; i++) {
        double value = excess ? x[i].excess : x[i].loss;
        if (!within(&x[i], g) || isnan(value)) continue;
        sum[x[i].document] += value;
        number[x[i].document]++;
        all += value;
        n++;
    }
    *mean = n ? all / n : NAN;
    for (int d = 0; d < s->documents && n; d++) {
        error[d] += sign * (sum[d] - *mean * number[d]) / n;
        if (number[d] > 0) there[d] = 1;
    }
    return n;
}

/* What errors and marks say of a mean; of one document there is no interval. */
static lg_text_mean interval(const struct lg__probe_sum *s, double mean, const double *error,
                             const double *there)
{
    double squares = 0, D = 0;
    for (int d = 0; d < s->documents; d++) {
        squares += error[d] * error[d];
        D += there[d];
    }
    double half = D > 1 ? 1.959963984540054 * sqrt(squares * D / (D - 1)) : NAN;
    return (lg_text_mean){mean, mean - half, mean + half};
}

/* The mean of a group, or with `less` of it less that of another. */
static lg_text_mean group_mean(struct lg__probe_sum *s, const struct range *g,
                               const struct range *less, int excess, int *n)
{
    size_t D = (size_t)s->documents;
    double *error = (double *)s->share.data + 2 * D, *there = error + D, mean, other = 0;
    memset(error, 0, 2 * D * sizeof *error);
    int count = mean_of(s, g, excess, &mean, error, there, 1);
    if (less) mean_of(s, less, excess, &other, error, there, -1);
    if (n) *n = count;
    return interval(s, mean - other, error, there);
}

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int sum_k(const struct lg__probe_sum *s, lg_probe_summary *r, lg_error *err)
{
    static const double at[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    const struct seen *x = s->seen.data;
    int *k = lg__alloc(((size_t)s->count + 1) * sizeof *k), n = 0;
    if (!k) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a probe; end other programs");
    for (int i = 0; i < s->count; i++) {
        r->loss += x[i].loss / s->count;
        if (x[i].depends) k[n++] = x[i].k;
    }
    r->predictions = s->count;
    r->dependent = n;
    qsort(k, (size_t)n, sizeof *k, by_size);
    for (int i = 0; i < 5 && n; i++) {
        int place = (int)ceil(at[i] * n) - 1;
        r->k_quantile[i] = k[place < 0 ? 0 : place];
    }
    for (int i = 0, below = 0; i <= 32 && n; i++) {
        while (below < n && k[below] <= i && i <= r->most_k) below++;
        r->k_share[i] = (double)below / n;
    }
    free(k);
    return 0;
}

int lg__probe_sum_up(struct lg__probe_sum *s, lg_probe_summary *r, lg_error *err)
{
    size_t D = (size_t)s->documents;
    int e = lg__block_grow(&s->share, (4 * D + 1) * sizeof(double), 0, "a probe", err);
    if (!e) e = sum_k(s, r, err);
    if (e) return e;
    for (int i = 0; i < LG_PROBE_BINS; i++) {
        struct range g = told(ranges[i], r->most_k);
        lg_probe_bin *b = &r->bin[i];
        *b = (lg_probe_bin){.low = g.low, .high = g.high < g.low ? ranges[i].high : g.high};
        b->loss = group_mean(s, &g, NULL, 0, &b->predictions);
        b->excess = group_mean(s, &g, NULL, 1, NULL);
    }
    struct range few = told(small, r->most_k), many = told(large, r->most_k);
    r->few = few.high;
    r->many = many.low - 1;
    r->small = group_mean(s, &few, NULL, 1, NULL);
    r->large = group_mean(s, &many, NULL, 1, NULL);
    r->difference = group_mean(s, &many, &few, 1, NULL);
    if (isnan(r->small.low) || isnan(r->large.low)) r->difference.low = r->difference.high = NAN;
    return 0;
}
