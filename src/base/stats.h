/* stats.h: intervals, quantiles, and numbers for people. */
#ifndef LG_BASE_STATS_H
#define LG_BASE_STATS_H

#include <stdint.h>

/* The 95% Wilson interval of a share, `right` of n > 0. */
void lg__wilson(double right, double n, double *low, double *high);
/* P(X <= most) of X ~ Binomial(n, p): a sum of all its terms, 0 <= most <= n. */
double lg__binomial_at_most(int64_t n, int64_t most, double p);
/* The exact (Clopper-Pearson) one-sided bound: with `wrong` of n wrong, the share that is right is at least this
 * with confidence 1 - alpha: where that few wrong ones have probability alpha. */
double lg__share_at_least(int64_t wrong, int64_t n, double alpha);
/* The smallest n with which at most `wrong` wrong ones show a share of right ones of at least `share`, below
 * 1, with confidence 1 - alpha; 0: more than 1e9. */
int64_t lg__samples_for(double share, double alpha, int64_t wrong);
/* Of n sorted numbers: between two of them linearly, as numpy's quantile does if it is not told. */
double lg__quantile(const double *sorted, int n, double q);
/* A comparison of two doubles for qsort. */
int lg__by_number(const void *a, const void *b);
/* A number above 0 rounded up to two digits, as a person would write it. */
double lg__round_up(double x);

#endif
