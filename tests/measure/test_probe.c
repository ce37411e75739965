/* test_probe.c: how many earlier tokens a prediction needs, on tasks where that is known: a running
 * parity needs one or two beside the current token, a copied letter its original. */
#include <sys/stat.h>
#include <unistd.h>

#include "helpers/home.h"
#include "helpers/training.h"

/* Trains the task with coupled IDs and a window. */
static void train_run(const char *task, const char *window, const char *steps, const char *folder)
{
    char name[64];
    const char *sets[] = {name,
                          "seed=1",
                          "positions.ids=coupled",
                          "positions.source=delta",
                          "positions.encoding=relative",
                          "positions.span=window",
                          window,
                          "model.width=64",
                          "model.sink=yes",
                          "train.lr=4e-3",
                          "train.warmup=50",
                          "train.length=[1, 10]",
                          steps};
    lg_run_options o = {.sets = sets, .set_count = sizeof sets / sizeof *sets, .folder = folder};
    lg_error err = {0};
    int done;
    snprintf(name, sizeof name, "task.name=%s", task);
    must(lg_run_train(&o, &done, &err), &err);
}

static lg_probe_result probe(const char *folder, int length, int threads)
{
    lg_probe_options o = lg_probe_options_default();
    lg_probe_result r;
    lg_error err = {0};
    o.folder = folder;
    o.length[0] = o.length[1] = length;
    o.keep_last = 1;
    o.keep_first = 0;
    o.threads = threads;
    must(lg_probe(&o, &r, &err), &err);
    print_message(
        "length %d: %d of %d depend, k %d (90%%: %d) of %d, necessary %.2f, stands %.2f, matter %d "
        "(%d), loss %.4f\n",
        length, r.dependent, r.predictions, r.k_median, r.k_90, r.tokens_median, r.necessary,
        r.stands, r.matter_median, r.matter_90, r.loss);
    return r;
}

/* The bit of the next column, and that of its own, by which it is known as a parity and not as a
 * bit; the end of the input is seen by its absence, so that the stop token depends on none. */
static void a_running_parity_needs_two_bits(void **state)
{
    (void)state;
    const char *folder = in_home("parity");
    train_run("parity-scratchpad", "positions.window=[0, 1]", "train.steps=250", folder);
    static const int lengths[] = {5, 10, 40};
    for (int i = 0; i < 3; i++) {
        lg_probe_result r = probe(folder, lengths[i], 0);
        assert_int_equal(r.predictions, 100);
        assert_true(r.loss < 0.1);
        assert_true(r.dependent > 60);
        assert_true(r.tokens_median > lengths[i] && r.tokens_median < 2 * lengths[i] + 2);
        assert_true(r.k_median >= 1 && r.k_median <= 2);
        assert_true(r.k_90 <= 3);
        assert_true(r.necessary > 0.9);
        assert_true(r.matter_median >= 1 && r.matter_90 <= 4);
    }
}

static void a_copied_letter_needs_its_original(void **state)
{
    (void)state;
    const char *folder = in_home("copy");
    train_run("copy", "positions.window=[0, 1]", "train.steps=300", folder);
    lg_probe_result r = probe(folder, 10, 0);
    assert_true(r.loss < 0.1);
    assert_true(r.dependent > 60);
    assert_int_equal(r.k_median, 1);
    assert_int_equal(r.k_90, 1);
    assert_int_equal(r.matter_median, 1);
    assert_true(r.necessary > 0.9);
}

/* One word of the majority is enough for the right answer, but it is not missed among many. */
static void a_majority_is_no_single_word(void **state)
{
    (void)state;
    const char *folder = in_home("majority");
    train_run("majority", "positions.window=[-1, 1]", "train.steps=250", folder);
    lg_probe_result r = probe(folder, 25, 0);
    assert_true(r.loss < 0.2);
    assert_true(r.dependent > 60);
    assert_true(r.k_90 <= 3);
    assert_true(r.necessary + r.stands < 0.5);
}

/* Each read since the last write repeats its bit: any of them will do, so none is missed. */
static void repeated_reads_stand_in_for_each_other(void **state)
{
    (void)state;
    const char *folder = in_home("flip-flop");
    const char *sets[] = {"task.name=flip-flop",     "seed=1",         "positions.ids=plain",
                          "positions.encoding=rope", "model.width=64", "train.lr=2e-3",
                          "train.warmup=50",         "train.batch=64", "train.length=[2, 8]",
                          "train.steps=400"};
    lg_run_options o = {.sets = sets, .set_count = sizeof sets / sizeof *sets, .folder = folder};
    lg_error err = {0};
    int done;
    must(lg_run_train(&o, &done, &err), &err);
    lg_probe_result r = probe(folder, 8, 0);
    assert_true(r.loss < 0.1);
    assert_true(r.dependent > 30);
    assert_int_equal(r.k_90, 1);
    assert_true(r.necessary < 0.8);
    assert_true(r.necessary + r.stands >= 0.8); /* what `lengthen try` calls sparse */
}

/* Neither the threads nor what is asked beside them change anything. */
static void the_same_is_found_again(void **state)
{
    (void)state;
    lg_probe_result a = probe(in_home("copy"), 8, 1), b = probe(in_home("copy"), 8, 2);
    assert_int_equal(a.dependent, b.dependent);
    assert_int_equal(a.tokens_median, b.tokens_median);
    assert_int_equal(a.k_median, b.k_median);
    assert_int_equal(a.matter_90, b.matter_90);
    assert_true(a.loss == b.loss);
}

/* Without time, or told to stop, it looks at fewer predictions or none, and that is no error. */
static void the_time_is_kept(void **state)
{
    (void)state;
    static const volatile int stop = 1;
    lg_probe_options o = lg_probe_options_default();
    lg_probe_result r;
    lg_error err = {0};
    o.folder = in_home("copy");
    o.seconds = 1e-9;
    must(lg_probe(&o, &r, &err), &err);
    assert_int_equal(r.predictions, 0);
    assert_int_equal(r.dependent, 0);
    o.seconds = 0;
    o.stop = &stop;
    must(lg_probe(&o, &r, &err), &err);
    assert_int_equal(r.predictions, 0);
    o.stop = NULL;
    o.seconds = 0.05;
    o.predictions = 1000000; /* hours */
    must(lg_probe(&o, &r, &err), &err);
    assert_true(r.predictions < 1000000);
}

/* What is never left out is not counted: with the last tokens that hold the original there, a copy
 * needs none, so nothing depends on what is before. */
static void kept_tokens_are_not_counted(void **state)
{
    (void)state;
    lg_probe_options o = lg_probe_options_default();
    lg_probe_result r;
    lg_error err = {0};
    o.folder = in_home("copy");
    o.length[0] = o.length[1] = 5;
    o.predictions = 20;
    o.keep_last = 12;
    must(lg_probe(&o, &r, &err), &err);
    assert_int_equal(r.predictions, 20);
    assert_int_equal(r.dependent, 0);
    assert_int_equal(r.k_median, 0);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    lg_probe_options o = lg_probe_options_default();
    lg_probe_result r;
    lg_error err = {0};
    o.folder = in_home("none");
    assert_int_equal(lg_probe(&o, &r, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "is no run"));
    o.folder = in_home("copy");
    o.predictions = 0;
    assert_int_equal(lg_probe(&o, &r, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "1 or more"));
    o.predictions = 5;
    o.keep_last = 0;
    assert_int_equal(lg_probe(&o, &r, &err), LG_ERROR_ARGUMENT);
    o.keep_last = 1;
    o.length[0] = o.length[1] = 1 << 30;
    assert_int_equal(lg_probe(&o, &r, &err), LG_ERROR_ARGUMENT);
    o.length[0] = o.length[1] = 0;
    o.task = "addition";
    assert_int_not_equal(lg_probe(&o, &r, &err), 0);
    o.task = NULL;
    assert_int_equal(lg_probe(&o, &r, NULL), 0); /* at the longest length of training */
    assert_int_equal(r.predictions, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_parity_needs_two_bits),
        cmocka_unit_test(a_copied_letter_needs_its_original),
        cmocka_unit_test(a_majority_is_no_single_word),
        cmocka_unit_test(repeated_reads_stand_in_for_each_other),
        cmocka_unit_test(the_same_is_found_again),
        cmocka_unit_test(the_time_is_kept),
        cmocka_unit_test(kept_tokens_are_not_counted),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
