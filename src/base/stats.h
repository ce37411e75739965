/* stats.h: intervals, and numbers for people. */
#ifndef LG_BASE_STATS_H
#define LG_BASE_STATS_H

/* The 95% Wilson interval of a share, `right` of n > 0. */
void lg__wilson(double right, double n, double *low, double *high);
/* A number above 0 rounded up to two digits, as a person would write it. */
double lg__round_up(double x);

#endif
