/* test_stats.c: an interval holds its share, for every count: at 0 and n the formula alone misses
 * by a rounding error, which a test on one sample size does not see. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stats.h"
#include "lengthen.h"

static void an_interval_holds_its_share(void **state)
{
    (void)state;
    for (int n = 1; n <= 1000; n++) {
        for (int right = 0; right <= n; right++) {
            double low, high, share = (double)right / n;
            lg__wilson(right, n, &low, &high);
            if (!(0 <= low && low <= share && share <= high && high <= 1)) {
                fail_msg("%d of %d: %.17g is not in %.17g to %.17g", right, n, share, low, high);
            }
        }
    }
}

/* By hand, 0 of 10: high = (z^2/n) / (1 + z^2/n) = 0.384146 / 1.384146; 10 of 10 mirrors it. */
static void an_interval_is_wilsons(void **state)
{
    (void)state;
    double low, high;
    lg__wilson(0, 10, &low, &high);
    assert_true(low == 0 && fabs(high - 0.277533) < 1e-6);
    lg__wilson(10, 10, &low, &high);
    assert_true(high == 1 && fabs(low - 0.722467) < 1e-6);
    lg__wilson(5, 10, &low, &high);
    assert_true(fabs(low - 0.236593) < 1e-6 && fabs(high - 0.763407) < 1e-6);
}

/* P(X <= k) of Binomial(10, 0.3), from tables; and the whole of it in long sums. */
static void binomial_sums(void **state)
{
    (void)state;
    static const double table[] = {0.0282475249,
                                   0.1493083459,
                                   0.3827827864,
                                   0.6496107184,
                                   0.8497316674,
                                   0.9526510126,
                                   0.9894079216,
                                   0.9984096136,
                                   0.9998563141,
                                   0.9999940951,
                                   1};
    for (int k = 0; k <= 10; k++)
        assert_true(fabs(lg__binomial_at_most(10, k, 0.3) - table[k]) < 1e-10);
    assert_true(lg__binomial_at_most(5, 2, 0) == 1 && lg__binomial_at_most(5, 2, 1) == 0);
    assert_true(fabs(lg__binomial_at_most(1000000, 500000, 0.5) - 0.5003989422) < 1e-8);
    assert_true(fabs(lg__binomial_at_most(100000, 99000, 0.5) - 1) < 1e-8);
    assert_true(lg__binomial_at_most(100000, 1000, 0.5) == 0); /* too small for a double */
}

/* Closed forms for none and all but one; two-sided 95% intervals of textbooks: 5 of 10 is 0.1871 to 0.8129,
 * 1 of 10 is 0.0025 to 0.4450; one-sided 95%: 1 of 10 wrong is at most 0.3942. */
static void bounds_are_clopper_and_pearsons(void **state)
{
    (void)state;
    for (int n = 1; n < 5000; n += 7) {
        assert_true(fabs(lg__share_at_least(0, n, 0.01) - pow(0.01, 1.0 / n)) < 1e-9);
        assert_true(lg__share_at_least(n, n, 0.01) == 0);
        if (n > 1) /* of one right one in n: 1 - (1 - p)^n = alpha */
            assert_true(fabs(lg__share_at_least(n - 1, n, 0.01) - (1 - pow(0.99, 1.0 / n))) < 1e-9);
    }
    assert_true(fabs(lg__share_at_least(5, 10, 0.025) - 0.1871) < 5e-5);
    assert_true(fabs(lg__share_at_least(9, 10, 0.025) - 0.0025) < 5e-5);
    assert_true(fabs(lg__share_at_least(1, 10, 0.025) - (1 - 0.4450)) < 5e-5);
    assert_true(fabs(lg__share_at_least(1, 10, 0.05) - (1 - 0.3942)) < 5e-5);
}

static void samples_that_are_needed(void **state)
{
    (void)state;
    assert_int_equal(lg__samples_for(0.999, 0.01, 0), 4603);
    assert_int_equal(lg__samples_for(0.999, 0.01, 1), 6636);
    assert_int_equal(lg__samples_for(0.95, 0.05, 0), 59); /* Wilks */
    assert_int_equal(lg__samples_for(0.95, 0.05, 1), 93);
    assert_int_equal(lg__samples_for(0.99, 0.05, 0), 299);
    assert_int_equal(lg__samples_for(1 - 1e-12, 0.01, 0), 0);
    for (int wrong = 0; wrong < 6; wrong++) {
        int64_t n = lg__samples_for(0.99, 0.01, wrong);
        assert_true(lg__share_at_least(wrong, n, 0.01) >= 0.99);
        assert_true(lg__share_at_least(wrong, n - 1, 0.01) < 0.99);
    }
}

/* How many of n draws, each wrong with probability p, are: by the distances between them. */
static int draw_wrong(lg_rng *r, int n, double p)
{
    int wrong = 0;
    for (double at = 0;; wrong++) {
        double u = (lg_rng_u32(r) + 0.5) / 4294967296.0;
        if ((at += 1 + floor(log(u) / log1p(-p))) > n) return wrong;
    }
}

/* 100,000 models that are just too bad: no more than 1% of them, up to four deviations of that count, pass
 * with no failure, or with one; and no more get a bound above what is true, whatever the failures. */
static void a_bound_keeps_its_word(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    double allowed = 0.01 * DRAWS + 4 * sqrt(0.01 * 0.99 * DRAWS);
    lg_rng r;
    lg_rng_init(&r, 7, 1, 0);
    for (int failures = 0; failures <= 1; failures++) {
        int n = (int)lg__samples_for(0.999, 0.01, failures), passed = 0;
        for (int i = 0; i < DRAWS; i++) passed += draw_wrong(&r, n, 0.001) <= failures;
        print_message("%d samples, %d failures: %d of %d pass\n", n, failures, passed, DRAWS);
        assert_true(passed <= allowed && passed > 0.5 * 0.01 * DRAWS); /* and it is no coarser */
    }
    static const struct {
        int n;
        double p;
    } cases[] = {{4603, 0.001}, {500, 0.01}, {100, 0.1}, {50, 0.5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double bound[5000];
        int above = 0;
        for (int k = 0; k <= cases[c].n && k < 5000; k++)
            bound[k] = k < 120 ? lg__share_at_least(k, cases[c].n, 0.01) : 0;
        for (int i = 0; i < DRAWS; i++)
            above += bound[draw_wrong(&r, cases[c].n, cases[c].p)] > 1 - cases[c].p;
        print_message("%d samples at %g: %d of %d bounds are too high\n", cases[c].n, cases[c].p,
                      above, DRAWS);
        assert_true(above <= allowed);
    }
    /* Three lengths that share the 1%: all three bounds hold together. */
    int n = (int)lg__samples_for(0.999, 0.01 / 3, 0), any = 0;
    for (int i = 0; i < DRAWS; i++) {
        int one = 0;
        for (int k = 0; k < 3; k++) one |= draw_wrong(&r, n, 0.001) == 0;
        any += one;
    }
    print_message("%d samples at each of three lengths: %d of %d pass somewhere\n", n, any, DRAWS);
    assert_true(any <= allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_holds_its_share),
        cmocka_unit_test(an_interval_is_wilsons),
        cmocka_unit_test(binomial_sums),
        cmocka_unit_test(bounds_are_clopper_and_pearsons),
        cmocka_unit_test(samples_that_are_needed),
        cmocka_unit_test(a_bound_keeps_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
