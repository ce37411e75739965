/* summary.c: the rows of fits over their seeds: means, intervals, and how fast errors grow. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lengthen_theory.h"

enum { MOST_SEEDS = 1000 };

/* Student's t, two-sided 95%, for so many degrees of freedom. */
static double student(int freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
                               2.365, 2.306,  2.262, 2.228, 2.201, 2.179, 2.160,
                               2.145, 2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    if (freedom <= 20) return t[freedom];
    return 1.96 + 2.5 / freedom; /* over by less than 0.003 */
}

/* The mean of n numbers and its interval; one number has none: NAN. */
static void interval(const double *x, int n, double *mean, double *low, double *high)
{
    double sum = 0, square = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    *mean = n ? sum / n : NAN;
    for (int i = 0; i < n; i++) square += (x[i] - *mean) * (x[i] - *mean);
    double half = n > 1 ? student(n - 1) * sqrt(square / (n - 1) / n) : NAN;
    *low = *mean - half;
    *high = *mean + half;
}

/* The same of their logarithms, taken back; what is NAN is left out. */
static void log_interval(const double *x, int n, double *mean, double *low, double *high)
{
    double log_x[MOST_SEEDS];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i])) log_x[count++] = log(fmax(x[i], 1e-17));
    interval(log_x, count, mean, low, high);
    *mean = exp(*mean);
    *low = exp(*low);
    *high = exp(*high);
}

int lg_theory_cells(const lg_theory_row *rows, int count, lg_theory_cell *cells)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        double error[MOST_SEEDS], seen[MOST_SEEDS], lost[MOST_SEEDS], wrong = 0;
        int seeds = 0, missing = 0, first = 1;
        for (int j = 0; j < count && seeds < MOST_SEEDS; j++) {
            if (rows[j].length != rows[i].length || strcmp(rows[j].variant, rows[i].variant) != 0)
                continue;
            first &= j >= i;
            error[seeds] = rows[j].error;
            seen[seeds] = rows[j].error_seen;
            lost[seeds++] = rows[j].error_missing;
            wrong += rows[j].wrong;
            missing += rows[j].missing;
        }
        if (!first) continue;
        lg_theory_cell *c = &cells[n++];
        *c = (lg_theory_cell){.length = rows[i].length, .seeds = seeds, .missing = missing};
        snprintf(c->variant, sizeof c->variant, "%s", rows[i].variant);
        c->wrong = wrong / seeds;
        log_interval(error, seeds, &c->error, &c->low, &c->high);
        log_interval(seen, seeds, &c->seen, &c->seen_low, &c->seen_high);
        log_interval(lost, seeds, &c->lost, &c->lost_low, &c->lost_high);
    }
    return n;
}

/* The line through the points of one seed of one variant. */
static int seed_slope(const lg_theory_row *rows, int count, const lg_theory_row *of, double *slope,
                      lg_theory_slope *s)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int n = 0;
    for (int j = 0; j < count; j++) {
        const lg_theory_row *r = &rows[j];
        if (r->seed != of->seed || strcmp(r->variant, of->variant) != 0) continue;
        if (r->length < r->train_length) continue;
        double x = log(r->length), y = log(fmax(r->error, 1e-17));
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        if (!s->first_length || r->length <= s->first_length) {
            if (r->length < s->first_length || !s->first_length) s->trained = 0;
            s->first_length = r->length;
            s->trained = fmax(s->trained, r->error);
        }
        if (r->length >= s->last_length) {
            if (r->length > s->last_length) s->last = 0;
            s->last_length = r->length;
            s->last = fmax(s->last, r->error);
        }
    }
    double spread = n * sxx - sx * sx;
    if (n < 2 || !(spread > 0)) return 0;
    *slope = (n * sxy - sx * sy) / spread;
    return 1;
}

int lg_theory_slopes(const lg_theory_row *rows, int count, lg_theory_slope *slopes)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        double slope[MOST_SEEDS];
        int seeds = 0, known = 0;
        for (int j = 0; j < n && !known; j++) known = !strcmp(slopes[j].variant, rows[i].variant);
        if (known) continue;
        lg_theory_slope *s = &slopes[n];
        *s = (lg_theory_slope){0};
        for (int j = i; j < count && seeds < MOST_SEEDS; j++) {
            int first = strcmp(rows[j].variant, rows[i].variant) == 0;
            for (int l = i; l < j && first; l++)
                first =
                    strcmp(rows[l].variant, rows[j].variant) != 0 || rows[l].seed != rows[j].seed;
            if (first) seeds += seed_slope(rows, count, &rows[j], &slope[seeds], s);
        }
        if (!seeds) continue;
        snprintf(s->variant, sizeof s->variant, "%s", rows[i].variant);
        s->seeds = seeds;
        interval(slope, seeds, &s->slope, &s->low, &s->high);
        n++;
    }
    return n;
}
