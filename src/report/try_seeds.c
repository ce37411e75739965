/* try_seeds.c: a scheme of lg_try over its seeds: medians, and the least and the largest. */
#include <stdlib.h>

#include "lengthen_study.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lower median; the values are sorted by it. */
static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return values[(n - 1) / 2];
}

static int is_judged(const lg_try_scheme *s)
{
    return s->verdict == LG_TRY_LEARNED || s->verdict == LG_TRY_BY_HEART ||
           s->verdict == LG_TRY_NOT_LEARNED;
}

/* The cell of a column over n seeds; 0: none has one. */
static int sum_cell(const lg_try_scheme *const *seed, int n, int column, lg_try_cell *cell)
{
    double share[LG_TRY_SEEDS];
    int count = 0;
    *cell = (lg_try_cell){0};
    for (int i = 0; i < n; i++) {
        const lg_try_cell *c = &seed[i]->cell[column];
        if (column >= seed[i]->tested && seed[i]->late) continue;
        share[count++] = column < seed[i]->tested ? c->share : 0;
        if (column >= seed[i]->tested) continue;
        cell->tokens =
            (cell->tokens * cell->samples + c->tokens * c->samples) / (cell->samples + c->samples);
        cell->samples += c->samples;
        cell->exact += c->exact;
        cell->seconds += c->seconds;
    }
    if (!cell->samples) return 0;
    cell->share = median(share, count);
    cell->low = share[0];
    cell->high = share[count - 1];
    return 1;
}

int lg_try_summary(const lg_try_result *r, int scheme, lg_try_scheme *all)
{
    const lg_try_scheme *seed[LG_TRY_SEEDS];
    double steps[LG_TRY_SEEDS];
    int n = 0, learned = 0;
    *all = r->scheme[scheme];
    for (int s = 0; s < r->seeds; s++) {
        const lg_try_scheme *x = &r->scheme[s * r->schemes + scheme];
        if (!is_judged(x)) continue;
        learned += x->verdict == LG_TRY_LEARNED;
        steps[n] = (double)x->steps;
        seed[n++] = x;
    }
    if (r->seeds == 1 || !n) return learned;
    for (int i = 0; i < n; i++) /* that of most */
        if ((seed[i]->verdict == LG_TRY_LEARNED) == (2 * learned > n))
            all->verdict = seed[i]->verdict;
    all->steps = (int64_t)median(steps, n);
    all->tested = all->late = 0;
    while (all->tested < r->columns && sum_cell(seed, n, all->tested, &all->cell[all->tested]))
        all->tested++;
    for (int i = 0; i < n; i++) all->late |= seed[i]->late && seed[i]->tested == all->tested;
    return learned;
}
