/* test_rng.c: Philox against its published vectors, and the distributions made from it.
 * Seeds are fixed, so a bound that holds once holds always. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lengthen.h"

/* The vectors of the Random123 distribution (kat_vectors, philox4x32 10). */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lg_rng r = {.left = 0};
        memcpy(r.counter, cases[c].counter, sizeof r.counter);
        memcpy(r.key, cases[c].key, sizeof r.key);
        for (int i = 0; i < 4; i++) assert_int_equal(lg_rng_u32(&r), cases[c].out[i]);
    }
}

/* Where seed, stream and index go is part of every stored result. */
static void init_fills_key_and_counter(void **state)
{
    (void)state;
    lg_rng r;
    lg_rng_init(&r, 0x299f31d0a4093822u, 0x85a308d3u, 0x0370734413198a2eu);
    assert_int_equal(r.counter[0], 0);
    r.counter[0] = 0x243f6a88;
    assert_int_equal(lg_rng_u32(&r), 0xd16cfe09);
    assert_int_equal(lg_rng_u32(&r), 0x94fdcceb);

    lg_rng_init(&r, 0, 0, 0);
    for (int i = 0; i < 4; i++) lg_rng_u32(&r);
    uint32_t fifth = lg_rng_u32(&r);
    lg_rng second_block = {.counter = {1, 0, 0, 0}};
    assert_int_equal(fifth, lg_rng_u32(&second_block));
}

static void same_arguments_same_numbers(void **state)
{
    (void)state;
    lg_rng a, b;
    lg_rng_init(&a, 7, 3, 1000000007);
    lg_rng_init(&b, 7, 3, 1000000007);
    for (int i = 0; i < 1000; i++) {
        switch (i % 4) {
        case 0: assert_int_equal(lg_rng_u32(&a), lg_rng_u32(&b)); break;
        case 1: assert_int_equal(lg_rng_below(&a, 77), lg_rng_below(&b, 77)); break;
        case 2: assert_true(lg_rng_uniform(&a) == lg_rng_uniform(&b)); break;
        default: assert_true(lg_rng_normal(&a) == lg_rng_normal(&b)); break;
        }
        if (i == 500) b = a; /* a copy continues exactly: nothing is kept outside of the struct */
    }
}

static void any_other_argument_other_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        uint32_t stream;
        uint64_t index;
    } cases[] = {{1, 1, 1},          {2, 1, 1}, {1, 2, 1},         {1, 1, 2},
                 {1ull << 32, 1, 1}, {1, 0, 1}, {1, 1, 1ull << 32}};
    enum { CASES = sizeof cases / sizeof *cases };
    uint32_t first[CASES];
    for (int c = 0; c < CASES; c++) {
        lg_rng r;
        lg_rng_init(&r, cases[c].seed, cases[c].stream, cases[c].index);
        first[c] = lg_rng_u32(&r);
        for (int d = 0; d < c; d++) assert_int_not_equal(first[c], first[d]);
    }
}

/* Pearson's sum over `bins` equally likely bins. */
static double chi_square(const int *count, int bins, int samples)
{
    double expected = (double)samples / bins, sum = 0;
    for (int i = 0; i < bins; i++) sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void below_is_uniform(void **state)
{
    (void)state;
    enum { SAMPLES = 200000 };
    for (int n = 1; n <= 100; n += 11) {
        int count[100] = {0};
        lg_rng r;
        lg_rng_init(&r, 11, 0, (uint64_t)n);
        for (int i = 0; i < SAMPLES; i++) {
            uint32_t v = lg_rng_below(&r, (uint32_t)n);
            assert_true(v < (uint32_t)n);
            count[v]++;
        }
        /* Mean n-1, deviation sqrt(2(n-1)): five deviations. */
        assert_true(chi_square(count, n, SAMPLES) <= (n - 1) + 5 * sqrt(2.0 * (n - 1)));
    }
}

/* With n = 3 * 2^30 bias cannot hide: word % n makes the first third twice as likely as
 * the others, and the high half of word * n, unrejected, every third value. */
static void below_has_no_bias(void **state)
{
    (void)state;
    enum { SAMPLES = 30000 };
    const uint32_t third = 1u << 30;
    int by_third[3] = {0}, by_rest[3] = {0};
    lg_rng r;
    lg_rng_init(&r, 12, 0, 0);
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t v = lg_rng_below(&r, 3 * third);
        assert_true(v < 3 * third);
        by_third[v / third]++;
        by_rest[v % 3]++;
    }
    assert_true(chi_square(by_third, 3, SAMPLES) < 14); /* p = 0.001 */
    assert_true(chi_square(by_rest, 3, SAMPLES) < 14);
}

static void below_one_is_zero(void **state)
{
    (void)state;
    lg_rng r;
    lg_rng_init(&r, 1, 0, 0);
    assert_int_equal(lg_rng_below(&r, 1), 0);
}

static void uniform_fills_the_interval(void **state)
{
    (void)state;
    enum { SAMPLES = 200000, BINS = 64 };
    int count[BINS] = {0}, odd = 0;
    lg_rng r;
    lg_rng_init(&r, 13, 0, 0);
    for (int i = 0; i < SAMPLES; i++) {
        double u = lg_rng_uniform(&r);
        assert_true(u >= 0 && u < 1);
        count[(int)(u * BINS)]++;
        odd += (int)((uint64_t)(u * 9007199254740992.0) & 1); /* the 53rd bit */
    }
    assert_true(chi_square(count, BINS, SAMPLES) <= (BINS - 1) + 5 * sqrt(2.0 * (BINS - 1)));
    assert_true(fabs(odd - SAMPLES / 2.0) < 5 * sqrt(SAMPLES / 4.0));
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    enum { SAMPLES = 1000000 };
    double sum = 0, sum2 = 0, sum3 = 0, sum4 = 0, pairs = 0, last = 0;
    int tail = 0;
    lg_rng r;
    lg_rng_init(&r, 14, 0, 0);
    for (int i = 0; i < SAMPLES; i++) {
        double x = lg_rng_normal(&r);
        sum += x;
        sum2 += x * x;
        sum3 += x * x * x;
        sum4 += x * x * x * x;
        pairs += x * last;
        tail += fabs(x) > 1.959963984540054;
        last = x;
    }
    /* Five standard errors each: var x = 1, x^2: 2, x^3: 15, x^4: 96, product: 1. */
    const double n = SAMPLES, five = 5 / sqrt(n);
    assert_true(fabs(sum / n) < five);
    assert_true(fabs(sum2 / n - 1) < five * sqrt(2.0));
    assert_true(fabs(sum3 / n) < five * sqrt(15.0));
    assert_true(fabs(sum4 / n - 3) < five * sqrt(96.0));
    assert_true(fabs(pairs / n) < five);
    assert_true(fabs(tail / n - 0.05) < five * sqrt(0.05 * 0.95));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(init_fills_key_and_counter),
        cmocka_unit_test(same_arguments_same_numbers),
        cmocka_unit_test(any_other_argument_other_numbers),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(uniform_fills_the_interval),
        cmocka_unit_test(normal_has_its_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
