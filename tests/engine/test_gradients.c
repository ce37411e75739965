/* test_gradients.c: finite differences on the double twin, every backward kernel, over the
 * case table: relative error at most 1e-6. LG_TEST_VERBOSE=1 prints the errors. */
#include "engine/gradient.h"

static void backward_kernels_agree_with_finite_differences(void **state)
{
    (void)state;
    int verbose = getenv("LG_TEST_VERBOSE") != NULL, failed = 0;
    int checked[sizeof gradients / sizeof gradients[0]] = {0};
    for (int row = 0; row < KERNEL_CASES; row++) {
        const int *n = kernel_cases[row].size;
        double error = gradient_case(&lg__naive64, row);
        if (error < 0) continue;
        if (verbose || error > 1e-6)
            print_message("%-14s [%d %d %d %d]: relative error %.1e\n", kernel_cases[row].op, n[0],
                          n[1], n[2], n[3], error);
        failed += error > 1e-6;
        for (size_t i = 0; i < sizeof gradients / sizeof gradients[0]; i++)
            checked[i] += !strcmp(gradients[i].op, kernel_cases[row].op);
    }
    assert_int_equal(failed, 0);
    for (size_t i = 0; i < sizeof gradients / sizeof gradients[0]; i++)
        if (checked[i] < 3) fail_msg("only %d rows for %s", checked[i], gradients[i].op);
}

/* sign -1 undoes sign +1, and q . Rot k = Rot^T q . k. */
static void rotary_back_is_the_transpose(void **state)
{
    (void)state;
    enum { T = 5, H = 3, D = 10, R = 6, N = T * H * D };
    lg_rng r;
    lg_rng_init(&r, 3, 0, 0);
    double *q = random_doubles(&r, N), *k = random_doubles(&r, N);
    double *there = hold_doubles(N), *back = hold_doubles(N), c[T * R / 2], s[T * R / 2];
    double left = 0, right = 0;
    for (int i = 0; i < T * R / 2; i++) {
        c[i] = cos(i + 0.5);
        s[i] = sin(i + 0.5);
    }
    memcpy(there, k, N * sizeof *k);
    memcpy(back, q, N * sizeof *q);
    lg__naive64.rotary(there, (size_t)(H * D), c, s, T, H, D, R, 1);
    lg__naive64.rotary(back, (size_t)(H * D), c, s, T, H, D, R, -1);
    for (int i = 0; i < N; i++) {
        left += q[i] * there[i];
        right += back[i] * k[i];
    }
    assert_true(fabs(left - right) < 1e-12);
    lg__naive64.rotary(there, (size_t)(H * D), c, s, T, H, D, R, -1);
    for (int i = 0; i < N; i++) assert_true(fabs(there[i] - k[i]) < 1e-14);
    release();
}

/* Blocks of any width are the same softmax as rows in one pass. */
static void blocks_of_attention_are_one_softmax(void **state)
{
    (void)state;
    enum { N = 37 };
    lg_rng r;
    lg_rng_init(&r, 4, 0, 0);
    for (int width = 1; width <= N; width++, release()) {
        double *s = random_doubles(&r, N), *p = hold_doubles(N);
        double m = -INFINITY, l = 0, alpha;
        memcpy(p, s, N * sizeof *p);
        lg__naive64.softmax_columns(p, N, 1);
        for (int first = 0; first < N; first += width) {
            int nk = N - first < width ? N - first : width;
            lg__naive64.softmax_block(s + first, (size_t)nk, &m, &l, &alpha, &nk, 1, nk);
            for (int j = 0; j < first; j++) s[j] *= alpha;
        }
        for (int j = 0; j < N; j++) assert_true(fabs(s[j] / l - p[j]) < 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_kernels_agree_with_finite_differences),
        cmocka_unit_test(rotary_back_is_the_transpose),
        cmocka_unit_test(blocks_of_attention_are_one_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
