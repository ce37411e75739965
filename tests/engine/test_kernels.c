/* test_kernels.c: every kernel of every table that this CPU runs against the double twin,
 * over the case table. LG_TEST_VERBOSE=1 prints the worst share of its bound that each
 * operation uses up, table by table. */
#include "engine/compare.h"

static void kernels_agree_with_the_double_twin(void **state)
{
    (void)state;
    int verbose = getenv("LG_TEST_VERBOSE") != NULL, failed = 0;
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        struct verdict worst = {0};
        for (int row = 0; row < KERNEL_CASES; row++) {
            const int *n = kernel_cases[row].size;
            struct verdict v = compare_case(*k, row);
            if (v.worst > worst.worst) worst = v;
            if (v.worst > 1) {
                failed++;
                print_error("%s: %s [%d %d %d %d]: %g of the bound: %s\n", (*k)->name,
                            kernel_cases[row].op, n[0], n[1], n[2], n[3], v.worst, v.where);
            }
            int last = row + 1 == KERNEL_CASES ||
                       strcmp(kernel_cases[row].op, kernel_cases[row + 1].op) != 0;
            if (last && verbose)
                print_message("%-7s %-14s %5.2f of the bound: %s\n", (*k)->name,
                              kernel_cases[row].op, worst.worst, worst.where);
            if (last) worst = (struct verdict){0};
        }
    }
    assert_int_equal(failed, 0);
}

static void every_row_of_the_case_table_has_its_comparison(void **state)
{
    (void)state;
    for (int row = 0; row < KERNEL_CASES; row++) {
        int found = !strcmp(kernel_cases[row].op, "attention"); /* gradients alone */
        for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
            found |= !strcmp(comparisons[i].op, kernel_cases[row].op);
        if (!found) fail_msg("no comparison for %s", kernel_cases[row].op);
    }
}

static void the_last_table_is_the_naive_one(void **state)
{
    (void)state;
    const struct lg__kernels *const *k = lg__kernels_all();
    while (k[1]) k++;
    assert_ptr_equal(*k, &lg__naive32);
}

/* A pass reserves for all of its rows and then has fewer of them in the last layer. */
static void scratch_for_many_rows_is_enough_for_fewer(void **state)
{
    (void)state;
    static const int size[][2] = {{512, 128}, {128, 512}, {128, 128}, {4096, 64}, {64, 64}, {1, 1}};
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++)
        for (size_t i = 0; i < sizeof size / sizeof *size; i++)
            for (int R = 2; R <= 1200; R++) {
                size_t fewer = (*k)->gemm_tn_scratch(size[i][0], size[i][1], R - 1);
                if (fewer > (*k)->gemm_tn_scratch(size[i][0], size[i][1], R))
                    fail_msg("%s, %d x %d: %d rows need more than %d", (*k)->name, size[i][0],
                             size[i][1], R - 1, R);
            }
}

/* A block that sees nothing, before any other block has: no NaN, and nothing moves. */
static void a_block_that_sees_nothing_changes_nothing(void **state)
{
    (void)state;
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        float s[40], m[2] = {-INFINITY, 3}, l[2] = {0, 2}, alpha[2] = {7, 7};
        const int seen[2] = {0, 0};
        for (int i = 0; i < 40; i++) s[i] = 1;
        (*k)->softmax_block(s, 20, m, l, alpha, seen, 2, 20);
        assert_true(m[0] == -INFINITY && m[1] == 3.0f);
        assert_true(l[0] == 0.0f && l[1] == 2.0f);
        assert_true(alpha[0] == 1.0f && alpha[1] == 1.0f);
        for (int i = 0; i < 40; i++) assert_true(s[i] == 0.0f);
    }
}

/* The far-behind keys of entmax are exact zeros, and rows of weights sum to 1. */
static void rows_of_weights_sum_to_one(void **state)
{
    (void)state;
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        float soft[100], ent[100];
        double soft_sum = 0, ent_sum = 0;
        for (int i = 0; i < 100; i++) soft[i] = ent[i] = (float)(i % 10) - 1000.0f;
        (*k)->softmax_columns(soft, 100, 1);
        (*k)->entmax15_rows(ent, 1, 100);
        for (int i = 0; i < 100; i++) {
            soft_sum += (double)soft[i];
            ent_sum += (double)ent[i];
            assert_true(soft[i] > 0.0f);
            assert_int_equal(ent[i] > 0.0f, i % 10 >= 9);
        }
        assert_true(fabs(soft_sum - 1) < 1e-6 && fabs(ent_sum - 1) < 1e-6);
    }
}

/* Moments that fade end at 0, not among the subnormal numbers, and the weight is still a number. */
static void fading_moments_end_at_zero(void **state)
{
    (void)state;
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        float p[19], m[19], v[19], g[19] = {0};
        for (int i = 0; i < 19; i++) {
            p[i] = 1.0f;
            m[i] = i % 2 ? -1.2e-38f : 1.2e-38f;
            v[i] = 1.176e-38f;
        }
        (*k)->adamw(p, m, v, g, 19, 1e-3f, 0.0f, 0.9f, 0.999f, 1e-8f, 1.0f, 1.0f);
        for (int i = 0; i < 19; i++)
            if (m[i] != 0.0f || v[i] != 0.0f || p[i] != 1.0f)
                fail_msg("%s: %g %g %g", (*k)->name, (double)m[i], (double)v[i], (double)p[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_case_table_has_its_comparison),
        cmocka_unit_test(the_last_table_is_the_naive_one),
        cmocka_unit_test(kernels_agree_with_the_double_twin),
        cmocka_unit_test(a_block_that_sees_nothing_changes_nothing),
        cmocka_unit_test(rows_of_weights_sum_to_one),
        cmocka_unit_test(fading_moments_end_at_zero),
        cmocka_unit_test(scratch_for_many_rows_is_enough_for_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
