/* test_try_config.c: the configs that lg_try gives, for a task and for a file: each runs through train and
 * eval as it is. Without it the advice could end in a refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/files.h"
#include "helpers/home.h"
#include "lengthen_lab.h"
#include "study/try.h"

/* Reversed words of 1..12 letters, with labels or without. */
static const char *write_lines(const char *name, int labels)
{
    const char *path = in_home(name);
    FILE *f = fopen(path, "w");
    unsigned r = 3;
    assert_non_null(f);
    for (int i = 0; i < 900; i++) {
        int n = 1 + i % 12;
        char word[13] = "";
        for (int k = 0; k < n; k++) {
            r = r * 1103515245u + 12345u;
            word[k] = (char)('a' + (r >> 16) % 20);
        }
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < n; k++) fprintf(f, "\"%c\",", word[k]);
        fputs("\"=\"", f);
        for (int k = n; k--;) fprintf(f, ",\"%c\"", word[k]);
        fputs(",\"$\"],\"loss\":[", f);
        for (int k = 0; k < 2 * n + 2; k++) fprintf(f, "%s%d", k ? "," : "", k > n);
        if (labels) {
            fputs("],\"ids\":[", f);
            for (int k = 0; k < 2 * n + 2; k++)
                fprintf(f, "%s%d", k ? "," : "", k <= n ? k + 1 : 2 * n + 1 - k);
        }
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
    return path;
}

static int cells;

static void count(void *context, const lg_cell *cell)
{
    (void)context;
    assert_true(lg_cell_get(cell, "exact")->samples > 0);
    cells++;
}

static void runs_as_it_is(const char *config, const char *name)
{
    char file[300], folder[300];
    lg_error err = {0};
    int done;
    snprintf(file, sizeof file, "%s", in_home("config.yaml"));
    snprintf(folder, sizeof folder, "%s/run-%s", home, name);
    assert_int_equal(lg__file_write(file, config, &err), 0);
    lg_run_options o = {.config = file, .folder = folder, .threads = 1};
    if (lg_run_train(&o, &done, &err)) fail_msg("%s: %s\n%s", name, err.text, config);
    lg_eval_options e = {.folder = folder, .predicted = -1, .each = count, .threads = 1};
    cells = 0;
    if (lg_run_eval(&e, NULL, &err)) fail_msg("%s: %s\n%s", name, err.text, config);
    assert_true(cells >= 4);
    lg_folder_remove(folder);
}

/* With as few steps as a config has. */
static void check(const char *task, const char *schemes, int count_of)
{
    lg_try_options o = lg_try_options_default();
    lg_try_result *r = calloc(1, sizeof *r);
    struct lg__try *t = calloc(1, sizeof *t);
    lg_error err = {0};
    assert_true(r && t);
    o.task = task;
    o.schemes = schemes;
    o.length = 5;
    t->o = &o;
    t->r = r;
    if (lg__try_plan(t, &err)) fail_msg("%s", err.text);
    t->batch = 4;
    t->curriculum = 2;
    lg__try_schemes(t);
    assert_int_equal(r->schemes, count_of);
    for (int i = 0; i < r->schemes; i++) {
        lg_buffer b = {0};
        lg_try_scheme *s = &r->scheme[i];
        s->steps = 3;
        lg__try_config(&b, t, i);
        char *config = lg_buffer_take(&b, &err);
        assert_non_null(config);
        assert_non_null(strstr(config, "eval:\n  lengths: [5, "));
        runs_as_it_is(config, t->run[i].key);
        free(config);
    }
    lg__split_clear(&t->split);
    free(t->name);
    free(t);
    lg_try_result_clear(r);
    free(r);
}

static void of_a_task(void **state)
{
    (void)state;
    check("copy", "pose,coupled-window", 2);
}

static void of_a_file(void **state)
{
    (void)state;
    check(write_lines("my #1: data.jsonl", 0), "all", 8); /* a name that YAML would misread */
}

static void of_a_file_with_labels(void **state)
{
    (void)state;
    check(write_lines("labels.jsonl", 1), "coupled-rope,coupled-window", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(of_a_task, make_home, remove_home),
        cmocka_unit_test_setup_teardown(of_a_file, make_home, remove_home),
        cmocka_unit_test_setup_teardown(of_a_file_with_labels, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
