/* stats.h: intervals, quantiles, and numbers for people. */
#ifndef LG_BASE_STATS_H
#define LG_BASE_STATS_H

/* The 95% Wilson interval of a share, `right` of n > 0. */
void lg__wilson(double right, double n, double *low, double *high);
/* Of n sorted numbers: between two of them linearly, as numpy's quantile does if it is not told. */
double lg__quantile(const double *sorted, int n, double q);
/* A comparison of two doubles for qsort. */
int lg__by_number(const void *a, const void *b);
/* A number above 0 rounded up to two digits, as a person would write it. */
double lg__round_up(double x);

#endif
