/* test_slow_linear.c: the recurrences cost as much a place at a million places as at a thousand. A
 * form that was quadratic would be a thousand times slower there; what the caches cost is allowed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "theory/sum.h"

enum { K = 4, VOCAB = 4, MOST = 1000000, TUPLES = 256 };
static double score[MOST], out_score[MOST], g[TUPLES];
static int32_t token[MOST], id[MOST];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nanoseconds a place, the best of several. */
static double cost(struct lg__sum s, lg__sum_form *form, int n, int gradient)
{
    static struct lg__sum_work w;
    double best = INFINITY, h, out = 1;
    lg_error err = {0};
    struct lg__sum_gradient d = {.out = &out, .score = out_score};
    s.n = n;
    for (int i = 0; i < 3; i++) {
        int times = 200000 / n + 1;
        double start = now();
        for (int j = 0; j < times; j++)
            assert_int_equal(form(&s, &w, &h, NULL, gradient ? &d : NULL, &err), 0);
        best = fmin(best, (now() - start) / ((double)times * n) * 1e9);
        assert_true(isfinite(h));
    }
    return best;
}

static void costs_are_linear(void **state)
{
    (void)state;
    static const double sign[] = {1, -1, 0.5, -0.5};
    lg_error err = {0};
    struct lg__tuples u;
    struct lg__patterns p;
    lg_rng r;
    lg_rng_init(&r, 1, 1, 1);
    for (int i = 0; i < MOST; i++) {
        score[i] = lg_rng_normal(&r);
        token[i] = (int32_t)lg_rng_below(&r, VOCAB);
        id[i] = i / K + 1;
    }
    for (int i = 0; i < TUPLES; i++) g[i] = lg_rng_uniform(&r);
    assert_int_equal(lg__tuples_make(&u, K, VOCAB, 1, &err), 0);
    assert_int_equal(lg__patterns_all(&p, K, 7, &err), 0);
    struct lg__table table = {.tuples = &u, .outputs = 1, .g = g};
    struct lg__sum base = {.k = K, .score = score, .token = token};
    struct lg__sum anywhere = base, within = base, tuples = base, patterns = base, coupled = base;
    anywhere.sign = within.sign = sign;
    within.span = 30;
    tuples.table = patterns.table = coupled.table = &table;
    patterns.patterns = &p;
    coupled.id = id;
    coupled.span = 1;
    struct {
        const char *name;
        struct lg__sum s;
        lg__sum_form *form;
        int gradient;
    } forms[] = {{"anywhere", anywhere, lg__sum_symmetric, 0},
                 {"anywhere, gradient", anywhere, lg__sum_symmetric, 1},
                 {"within", within, lg__sum_symmetric, 0},
                 {"within, gradient", within, lg__sum_symmetric, 1},
                 {"tuples", tuples, lg__sum_tuples, 0},
                 {"patterns", patterns, lg__sum_patterns, 0},
                 {"patterns, gradient", patterns, lg__sum_patterns, 1},
                 {"coupled", coupled, lg__sum_patterns, 0}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        double at[4];
        for (int i = 0, n = 1000; i < 4; i++, n *= 10)
            at[i] = cost(forms[f].s, forms[f].form, n, forms[f].gradient);
        print_message("%-20s %6.1f %6.1f %6.1f %6.1f ns a place at 10^3, 10^4, 10^5, 10^6\n",
                      forms[f].name, at[0], at[1], at[2], at[3]);
        for (int i = 1; i < 4; i++)
            if (at[i] > 4 * at[0]) fail_msg("%s: not linear", forms[f].name);
    }
    lg__tuples_clear(&u);
    lg__patterns_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_are_linear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
