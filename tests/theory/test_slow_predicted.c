/* test_slow_predicted.c: the predicted behaviour of the idealised class, over five seeds: what
 * results/theory shows, with fewer texts. If it no longer held, the figures would be wrong. */
#include <math.h>

#include "theory/ensembles.h"

enum { SEEDS = 5, MOST = 400 };
static const int lengths[] = {50, 500, 5000};

static lg_theory_row rows[MOST];
static char variants[MOST][120];
static int count;

static void keep(void *context, const lg_theory_row *r)
{
    (void)context;
    assert_true(count < MOST);
    snprintf(variants[count], sizeof variants[0], "%s", r->variant);
    rows[count] = *r;
    rows[count].variant = variants[count];
    count++;
}

static void sweep(const char *text, lg_theory_class c, const lg_theory_lists *lists)
{
    const char *file = table(text);
    lg_error err = {0};
    lg_theory_options o = lg_theory_options_default();
    o.ensemble = file;
    o.c = c;
    o.train[0] = 10;
    o.train[1] = 50;
    o.lengths = lengths;
    o.length_count = 3;
    o.seeds = SEEDS;
    o.samples = 30;
    o.row = keep;
    count = 0;
    if (lg_theory_sweep(&o, lists, &err)) fail_msg("%s", err.text);
    unlink(file);
}

/* At most linear up to a hundred times the length, and at most 0.01 there, since it was at most
 * 1e-4 in training. */
static void grows_at_most_linearly(const lg_theory_slope *s)
{
    assert_int_equal(s->seeds, SEEDS);
    assert_int_equal(s->last_length, 5000);
    if (!(s->high <= 1.1) || !(s->trained <= 1e-4) || !(s->last <= 0.01))
        fail_msg("%s: slope %.3f (%.3f..%.3f), error %.2g in training, %.2g at 5,000", s->variant,
                 s->slope, s->low, s->high, s->trained, s->last);
}

static void local_classes_extrapolate(void **state)
{
    (void)state;
    static const int k[] = {1, 2, 3, 4}, local[] = {LG_THEORY_OWN, 0};
    lg_theory_lists l = {.k = k, .k_count = 4, .local = local, .local_count = 2};
    lg_theory_slope slopes[MOST];
    sweep(PARITY("{span: 8}"), (lg_theory_class){0}, &l);
    assert_int_equal(lg_theory_slopes(rows, count, slopes), 8);
    for (int i = 0; i < 8; i += 2) {
        grows_at_most_linearly(&slopes[i]);
        /* Without the limit: faster for k >= 2, far beyond 0.01; k = 1 is local by itself. */
        if (i && (slopes[i + 1].low < slopes[i].high + 0.3 || slopes[i + 1].last < 0.05))
            fail_msg("%s: slope %.3f, error %.2g at 5,000", slopes[i + 1].variant,
                     slopes[i + 1].slope, slopes[i + 1].last);
    }
}

static void coupled_ids_restore_it(void **state)
{
    (void)state;
    static const int k[] = {2, 3, 4}, coupled[] = {0, 1};
    lg_theory_lists l = {.k = k, .k_count = 3, .coupled = coupled, .coupled_count = 2};
    lg_theory_slope slopes[MOST];
    sweep(PARITY("columns"), (lg_theory_class){.local = LG_THEORY_OWN}, &l);
    assert_int_equal(lg_theory_slopes(rows, count, slopes), 6);
    for (int i = 0; i < 6; i += 2) {
        assert_non_null(strstr(slopes[i].variant, "by place"));
        assert_true(slopes[i].low > slopes[i + 1].high + 0.3 && slopes[i].last > 0.05);
        grows_at_most_linearly(&slopes[i + 1]);
    }
}

/* Weights of patterns: chance, which is 1/2, on the patterns that training did not show; as good as
 * ever on the others. */
static void missing_patterns_are_what_breaks(void **state)
{
    (void)state;
    static const int k[] = {2, 3, 4};
    lg_theory_lists l = {.k = k, .k_count = 3};
    static const double coverage[] = {0.6};
    l.coverage = coverage;
    l.coverage_count = 1;
    sweep(PARITY("{span: 8}"), (lg_theory_class){.local = LG_THEORY_OWN, .patterns = 1}, &l);
    assert_int_equal(count, 3 * SEEDS * 3);
    for (int v = 0; v < 3; v++)
        for (int at = 0; at < 3; at++) {
            double missing = 0;
            int texts = 0;
            for (int s = 0; s < SEEDS; s++) {
                const lg_theory_row *r = &rows[(v * SEEDS + s) * 3 + at];
                assert_int_equal(r->length, lengths[at]);
                if (r->error_seen > 2e-6 * r->length)
                    fail_msg("%s, seed %d: %.2g at %d", r->variant, s, r->error_seen, r->length);
                if (r->missing) missing += r->error_missing * r->missing;
                texts += r->missing;
            }
            /* Its mean over 50 texts or so is within 4 standard deviations of 1/2. */
            assert_in_range(texts, 30, 90);
            if (fabs(missing / texts - 0.5) > 4 * 0.5 / sqrt(texts))
                fail_msg("k = %d, length %d: %.3f on patterns not shown", k[v], lengths[at],
                         missing / texts);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_classes_extrapolate),
        cmocka_unit_test(coupled_ids_restore_it),
        cmocka_unit_test(missing_patterns_are_what_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
