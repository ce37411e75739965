/* test_slow_encodings.c: every encoding, in a model of two layers, learns to copy at training
 * length. Without this test an encoding whose gradient is right on paper could still enter the
 * network in a way that nothing can be learned from. */
#include "helpers/training.h"

/* What is enough for each. parallel: whether the feed-forward reads the stream before the
 * attention or after it, two architectures that we have; some learn faster in one of them. */
static struct row {
    const char *encoding;
    int steps, parallel, width;
    double lr;
} rows[] = {
    {"none", 3500, 0, 96, 3e-3}, {"learned", 1000, 0, 64, 4e-3},  {"sinusoidal", 800, 0, 64, 4e-3},
    {"rope", 1000, 1, 64, 4e-3}, {"relative", 1500, 0, 64, 4e-3}, {"alibi", 1500, 0, 64, 4e-3},
    {"t5", 1500, 0, 64, 4e-3},   {"fire", 1000, 1, 64, 4e-3},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void learns(void **state)
{
    const struct row *row = *state;
    struct training x = training_default("copy");
    x.setting = "kind=unique";
    x.model.encoding = row->encoding;
    x.model.parallel = row->parallel;
    x.model.width = row->width;
    x.model.max_id = 32;
    x.model.window_lo[0] = -24; /* the ends of `relative` */
    x.model.window_hi[0] = 0;
    x.steps = row->steps;
    x.lr = row->lr;
    struct trained r = train(&x);
    lg_draw d = draw_of(&x, TEST_STREAM, x.length, 0);
    d.length_lo = 1;
    double share = exact(&r, &d, 1000, 0);
    print_message("%s: %.3f exact at lengths 1 to 10 after %d steps\n", row->encoding, share,
                  row->steps);
    trained_free(&r);
    if (share < 0.99) fail_msg("%s: %.3f exact, want 0.99", row->encoding, share);
}

/* A new encoding comes with a row here. */
static void none_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(lg_encoding_count(), ROWS);
    for (int i = 0; i < ROWS; i++) {
        int found = 0;
        for (int j = 0; j < ROWS; j++)
            found += strcmp(lg_encoding_info_at(i).name, rows[j].encoding) == 0;
        assert_int_equal(found, 1);
    }
}

int main(void)
{
    struct CMUnitTest tests[ROWS + 1] = {cmocka_unit_test(none_is_left_out)};
    for (int i = 0; i < ROWS; i++) {
        tests[i + 1] = (struct CMUnitTest)cmocka_unit_test_prestate(learns, &rows[i]);
        tests[i + 1].name = rows[i].encoding;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
