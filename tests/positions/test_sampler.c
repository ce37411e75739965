/* test_sampler.c: a sampler makes the examples of a task with their IDs, refuses what cannot be, and
 * writes lines that are read back as the same examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen.h"

enum { LINES = 20 };

static lg_task *open_task(const char *name)
{
    lg_error err = {0};
    lg_task *t = lg_task_new(name, NULL, 0, &err);
    if (!t) fail_msg("%s", err.text);
    return t;
}

static void what_is_not_set_is_chosen(void **state)
{
    (void)state;
    static const char *const tasks[] = {"addition", "sparse-parity"};
    for (int i = 0; i < 2; i++) {
        lg_error err = {0};
        lg_sampler s;
        lg_sampler_init(&s);
        s.task = open_task(tasks[i]);
        if (lg_sampler_ready(&s, &err)) fail_msg("%s", err.text);
        if (lg_task_get_shape(s.task)->levels)
            assert_string_equal(s.scheme.ids, "coupled");
        else
            assert_string_equal(s.scheme.ids, "plain");
        assert_true(s.draw.length_lo >= 1 && s.draw.length_lo == s.draw.length_hi);
        assert_int_equal(lg_sampler_check(&s, &err), 0);
        assert_int_equal(lg_sampler_next(&s, &err), 0);
        assert_int_equal(s.draw.index, 1);
        assert_int_equal(s.x.length, s.draw.length_lo);
        lg_task *t = s.task;
        lg_sampler_clear(&s);
        lg_task_free(t);
    }
}

static void lengths_that_are_not_there_are_refused(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_sampler s;
    lg_sampler_init(&s);
    lg_task *t = s.task = open_task("addition");
    s.draw.length_lo = 1;
    s.draw.length_hi = 1 << 30;
    assert_int_equal(lg_sampler_ready(&s, &err), 0);
    assert_int_equal(lg_sampler_check(&s, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(s.draw.length_hi, 1 << 30); /* as it was */
    lg_sampler_clear(&s);
    lg_task_free(t);
}

static void lines_are_read_back(void **state)
{
    (void)state;
    char name[500];
    lg_error err = {0};
    lg_buffer b = {0};
    lg_sampler s;
    lg_sampler_init(&s);
    lg_task *t = s.task = open_task("addition");
    assert_int_equal(lg_sampler_ready(&s, &err), 0);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(lg_sampler_next(&s, &err), 0);
        assert_int_equal(lg_sampler_line(&s, &b, &err), 0);
    }
    if (lg_buffer_save(&b, in_home("lines.jsonl"), &err)) fail_msg("%s", err.text);
    snprintf(name, sizeof name, "jsonl:%s", in_home("lines.jsonl"));
    lg_task *own = open_task(name);
    lg_example x;
    lg_example_init(&x);
    s.draw.index = 0;
    for (int i = 0; i < LINES; i++) {
        const lg_task_shape *a = lg_task_get_shape(t), *o = lg_task_get_shape(own);
        lg_draw d = {
            .index = (uint64_t)i, .length_lo = o->length_least, .length_hi = o->length_most};
        assert_int_equal(lg_sampler_next(&s, &err), 0);
        if (lg_task_example(own, &d, &x, &err)) fail_msg("%s", err.text);
        assert_int_equal(x.n, s.x.n);
        assert_int_equal(x.length, s.x.length);
        for (int k = 0; k < x.n; k++) {
            assert_string_equal(o->words[x.tokens[k]], a->words[s.x.tokens[k]]);
            for (int l = 0; l < s.config.levels; l++)
                assert_int_equal(x.labels[l][k], s.x.labels[l][k]);
        }
    }
    lg_example_clear(&x);
    lg_task_free(own);
    lg_sampler_clear(&s);
    lg_task_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_set_is_chosen),
        cmocka_unit_test(lengths_that_are_not_there_are_refused),
        cmocka_unit_test(lines_are_read_back),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
