/* test_experiments.c: what an experiment's file must say: a user's little, the committed ones all. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_lab.h"

static void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#define CONFIG                                                                                     \
    "config:\n"                                                                                    \
    "  task: {name: copy}\n"                                                                       \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 2, batch: 8, warmup: 0, length: [1, 5]}\n"                                   \
    "  eval: {lengths: [3], samples: 4}\n"                                                         \
    "vary: {seed: [1]}\n"

static void keep_little(void *context, const lg_experiment *x) { *(lg_experiment *)context = *x; }

/* A user's experiment needs neither a budget nor words of ours. */
static void an_experiment_may_say_little(void **state)
{
    (void)state;
    static char path[4][400];
    static const char *const names[] = {"experiments", "results", "runs", "runs/lab.db"};
    for (int i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%s", home, names[i]);
    assert_int_equal(mkdir(path[0], 0777), 0);
    lg_reproduce_options o = {.name = "little",
                              .experiments = path[0],
                              .results = path[1],
                              .folder = path[2],
                              .store = path[3]};
    lg_reproduce_result r;
    lg_experiment x = {0};
    lg_error err = {0};
    write_file("experiments/little.yaml", "# Is it? Expected: no.\nexperiment: {}\n" CONFIG);
    must(lg_experiments(&o, keep_little, &x, &err), &err);
    assert_true(x.runs == 1 && x.budget < 0 && x.minutes_left < 0);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.runs == 1 && r.done == 1);
    must(lg_experiments(&o, keep_little, &x, &err), &err);
    assert_true(x.done == 1 && x.budget < 0 && x.minutes_left == 0);
    write_file("experiments/little.yaml",
               "# Is it? Expected: no.\nexperiment: {words: Ours.}\n" CONFIG);
    must(lg_experiments(&o, keep_little, &x, &err), &err);
}

static void is_complete(void *context, const lg_experiment *x)
{
    ++*(int *)context;
    if (!strstr(x->words, "documented") && !strstr(x->words, "reconstructed"))
        fail_msg("%s does not say what is documented and what is reconstructed (words)", x->file);
    if (x->budget <= 0) fail_msg("%s has no budget", x->file);
}

/* Ours do: what is documented and what is reconstructed, and what they cost. */
static void the_committed_experiments_say_all(void **state)
{
    (void)state;
    lg_reproduce_options o = {.experiments = "experiments",
                              .results = "results",
                              .folder = "runs",
                              .store = "runs/lab.db",
                              .nested = 1};
    lg_error err = {0};
    int count = 0, back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(back >= 0 && chdir(LG_SOURCE_DIR) == 0);
    int e = lg_experiments(&o, is_complete, &count, &err);
    assert_int_equal(fchdir(back), 0);
    close(back);
    must(e, &err);
    assert_true(count >= 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_experiment_may_say_little),
        cmocka_unit_test(the_committed_experiments_say_all),
    };
    lg_text_task_add();
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
