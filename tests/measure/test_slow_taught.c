/* test_slow_taught.c: an example is exact teacher-forced if and only if it is when generated: on
 * models that are right on about half of their examples, so that both would show. Without this the
 * two columns of `eval` could measure different things. */
#include "helpers/training.h"

static int half_right(const struct training *x, const struct trained *r)
{
    lg_draw d = draw_of(x, TEST_STREAM, x->length, 0);
    double share = exact(r, &d, 100, 0);
    return share > 0.3 && share < 0.7;
}

static void agree(struct training *x)
{
    x->enough = half_right;
    struct trained r = train(x);
    int differ = 0, right = 0;
    for (int i = 0; i < 1000; i++) {
        lg_draw d = draw_of(x, TEST_STREAM, x->length, 0);
        lg_score generated, taught;
        lg_error err;
        d.index = 1000 + (uint64_t)i;
        must(lg_answer(r.m, r.t, &r.scheme, &d, 1, 0, 1, &generated, &err), &err);
        must(lg_answer_taught(r.m, r.t, &r.scheme, &d, 1, 0, 1, &taught, &err), &err);
        assert_int_equal(taught.tokens, generated.tokens);
        differ += generated.exact != taught.exact || generated.first_least != taught.first_least;
        right += generated.exact;
    }
    lg_draw all = draw_of(x, TEST_STREAM, x->length, 0);
    lg_score packed;
    lg_error err;
    all.index = 1000;
    must(lg_answer_taught(r.m, r.t, &r.scheme, &all, 1000, 0, 0, &packed, &err), &err);
    print_message("%s: %d of 1000 exact, %d differ\n", x->task, right, differ);
    trained_free(&r);
    assert_true(right >= 200 && right <= 800);
    assert_int_equal(differ, 0); /* row-invariance: the same bits either way */
    assert_int_equal(packed.samples, 1000);
    assert_int_equal(packed.exact, right);
}

static void parity(void **state)
{
    (void)state;
    struct training x = training_default("parity-scratchpad");
    x.scheme.ids = "coupled";
    x.model.encoding = "relative";
    x.model.span = LG_SPAN_WINDOW;
    x.model.window_lo[0] = 0;
    x.model.window_hi[0] = 1; /* and no sink: half of the ends are missed */
    x.length = 20;
    agree(&x);
}

static void copy(void **state)
{
    (void)state;
    struct training x = training_default("copy");
    x.steps = 3000;
    agree(&x);
}

static void addition(void **state)
{
    (void)state;
    struct training x = training_default("addition");
    x.scheme.ids = "coupled";
    x.model.span = LG_SPAN_WINDOW;
    x.model.sink = 1;
    x.length = 4;
    x.lr = 2e-3;
    x.steps = 3000;
    agree(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity),
        cmocka_unit_test(copy),
        cmocka_unit_test(addition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
