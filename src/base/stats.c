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

/* From the largest term downwards and upwards, so that nothing overflows. */
double lg__binomial_at_most(int64_t n, int64_t most, double p)
{
    if (p <= 0 || most >= n) return 1;
    if (p >= 1) return 0;
    double N = (double)n, odds = p / (1 - p), sum = 1, term = 1;
    int64_t top = (int64_t)((N + 1) * p), from = most < top ? most : top;
    double first = lgamma(N + 1) - lgamma((double)from + 1) - lgamma(N - (double)from + 1) +
                   (double)from * log(p) + (N - (double)from) * log1p(-p);
    for (int64_t k = from; k > 0 && term > 0; k--)
        sum += term *= (double)k / ((N - (double)k + 1) * odds);
    term = 1;
    for (int64_t k = from + 1; k <= most && term > 0; k++)
        sum += term *= (N - (double)k + 1) * odds / (double)k;
    return fmin(1, exp(first) * sum);
}

double lg__share_at_least(int64_t wrong, int64_t n, double alpha)
{
    double low = 0, high = 1; /* of the share that is wrong */
    if (wrong >= n) return 0;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (lg__binomial_at_most(n, wrong, middle) > alpha)
            low = middle;
        else
            high = middle;
    }
    return 1 - high;
}

int64_t lg__samples_for(double share, double alpha, int64_t wrong)
{
    int64_t low = wrong, high = wrong + 1; /* too few, enough */
    while (lg__binomial_at_most(high, wrong, 1 - share) > alpha) {
        low = high;
        high *= 2;
        if (high > 1000000000) return 0;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (lg__binomial_at_most(middle, wrong, 1 - share) > alpha)
            low = middle;
        else
            high = middle;
    }
    return high;
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
