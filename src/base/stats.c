/* stats.c: intervals, quantiles, and numbers for people. */
#include "base/stats.h"

#include <math.h>

void lg__wilson(double right, double n, double *low, double *high)
{
    double p = right / n, z = 1.959963984540054;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    /* Rounding can put the ends of 0 and of n on the wrong side of the share. */
    *low = fmax(0, fmin(p, middle - half));
    *high = fmin(1, fmax(p, middle + half));
}

double lg__quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

int lg__by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lg__round_up(double x)
{
    double unit = pow(10, floor(log10(x)) - 1);
    return unit * ceil(x / unit);
}
