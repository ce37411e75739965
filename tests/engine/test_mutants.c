/* test_mutants.c: the tests of the kernels are tested: each deliberately wrong kernel of
 * mutants.h must fail the comparison with the double twin (test_kernels.c) and, where it can
 * be seen there, the finite differences (test_gradients.c). */
#include "engine/compare.h"
#include "engine/gradient.h"
#include "engine/mutants.h"

/* Says what noticed mutant i, the row of cases.h or -1 for none; returns 1 for none. */
static int unnoticed(int i, const char *by, int row)
{
    if (row < 0)
        print_error("%s, %s: not noticed by the %s\n", mutants[i].kernel, mutants[i].fault, by);
    else if (getenv("LG_TEST_VERBOSE"))
        print_message("%s, %s: noticed by the %s of %s, row %d\n", mutants[i].kernel,
                      mutants[i].fault, by, kernel_cases[row].op, row);
    return row < 0;
}

static void wrong_kernels_fail_the_comparison(void **state)
{
    (void)state;
    int missed = 0;
    for (int i = 0; i < MUTANT_COUNT; i++) {
        struct lg__kernels wrong = lg__naive32;
        int row = KERNEL_CASES - 1;
        mutate32(&wrong, i);
        while (row >= 0 && (strcmp(kernel_cases[row].op, mutants[i].op) != 0 ||
                            compare_case(&wrong, row).worst <= 1))
            row--;
        missed += unnoticed(i, "comparison", row);
    }
    assert_int_equal(missed, 0);
}

static void wrong_kernels_fail_the_finite_differences(void **state)
{
    (void)state;
    int missed = 0;
    for (int i = 0; i < MUTANT_COUNT; i++) {
        struct lg__kernels64 wrong = lg__naive64;
        int row = KERNEL_CASES - 1;
        if (!mutants[i].in_gradient) continue;
        mutate64(&wrong, i);
        while (row >= 0 && gradient_case(&wrong, row) <= 1e-6) row--;
        missed += unnoticed(i, "finite differences", row);
    }
    assert_int_equal(missed, 0);
}

/* A table with all mutants at once shares no kernel with the naive one: each has its own.
 * The sizes alone are not computed with. */
static void every_kernel_has_a_mutant(void **state)
{
    (void)state;
    typedef void (*function)(void);
    struct lg__kernels wrong = lg__naive32;
    for (int i = 0; i < MUTANT_COUNT; i++) mutate32(&wrong, i);
    for (size_t at = offsetof(struct lg__kernels, pack_size); at < sizeof wrong;
         at += sizeof(function)) {
        function f, g;
        if (at == offsetof(struct lg__kernels, pack_size) ||
            at == offsetof(struct lg__kernels, gemm_tn_scratch) ||
            at == offsetof(struct lg__kernels, half_pack_size) ||
            at == offsetof(struct lg__kernels, half_gemm_tn_scratch))
            continue;
        memcpy(&f, (const char *)&wrong + at, sizeof f);
        memcpy(&g, (const char *)&lg__naive32 + at, sizeof g);
        if (f == g) fail_msg("kernel number %zu has no mutant", at / sizeof(function));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_has_a_mutant),
        cmocka_unit_test(wrong_kernels_fail_the_comparison),
        cmocka_unit_test(wrong_kernels_fail_the_finite_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
