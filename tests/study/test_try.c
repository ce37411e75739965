/* test_try.c: lg_try as a function: what it refuses, what it reports, what its result says, and what it
 * leaves behind. The words of the command are in tests/cli/test_cli_try.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <dirent.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_study.h"

static volatile int stop;

struct seen {
    int planned, trains, steps, trained, tested;
    int stop_at; /* at this step of any scheme; 0: never */
};

static void watch(void *context, const lg_try_progress *p)
{
    struct seen *s = context;
    assert_non_null(p->result);
    assert_int_equal(p->event == LG_TRY_PLANNED, !p->scheme);
    assert_int_equal(p->event == LG_TRY_STEP, p->step != NULL);
    if (p->scheme) assert_ptr_equal(p->scheme, &p->result->scheme[p->index]);
    s->planned += p->event == LG_TRY_PLANNED;
    s->trains += p->event == LG_TRY_TRAINS;
    s->steps += p->event == LG_TRY_STEP;
    s->trained += p->event == LG_TRY_TRAINED;
    s->tested += p->event == LG_TRY_TESTED;
    assert_int_equal(s->planned, 1); /* comes first, and once */
    if (s->stop_at && s->steps == s->stop_at) stop = 1;
}

static lg_try_options options(struct seen *s, const char *task)
{
    lg_try_options o = lg_try_options_default();
    stop = 0;
    o.task = task;
    o.length = 2;
    o.watch = watch;
    o.context = s;
    o.stop = &stop;
    return o;
}

static int entries(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *x; (x = readdir(d));) n += x->d_name[0] != '.';
    closedir(d);
    return n;
}

static void what_cannot_be_tried_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *task, *says;
        int length;
    } cases[] = {{"no-such-task", "no-such-task", 2},
                 {"text", "no right answers", 2},
                 {"exec:cat", "only once", 2},
                 {"copy", "minutes are too short", 1 << 19},
                 {"jsonl:none.jsonl", "none.jsonl", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen s = {0};
        lg_try_options o = options(&s, cases[i].task);
        lg_try_result r;
        lg_error err = {0};
        o.length = cases[i].length;
        assert_int_equal(lg_try(&o, &r, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].task, err.text);
        assert_int_equal(s.planned, 0);
        lg_try_result_clear(&r);
    }
}

static void a_stopped_try_says_so_and_leaves_nothing(void **state)
{
    (void)state;
    struct seen s = {.stop_at = 3};
    lg_try_options o = options(&s, "copy");
    lg_try_result r;
    lg_error err = {0};
    assert_int_equal(setenv("TMPDIR", home, 1), 0);
    assert_int_equal(lg_try(&o, &r, &err), 0);
    assert_int_equal(s.steps, 3);
    assert_int_equal(s.trains, 1);
    assert_int_equal(s.trained, 1);
    assert_int_equal(s.tested, 0);
    assert_int_equal(r.interrupted, 1);
    assert_int_equal(r.best, -1);
    assert_int_equal(r.scheme[0].steps, 3);
    assert_int_equal(r.scheme[0].verdict, LG_TRY_FEW);
    assert_int_equal(strncmp(r.advice, "Stopped before the end", 22), 0);
    assert_non_null(r.sparsity);
    assert_null(r.config);
    lg_try_result_clear(&r);
    assert_null(r.advice);
    assert_int_equal(entries(home), 0);
}

/* Every number of a result fits the others, whatever was learned in so short a time. */
static void check(const lg_try_result *r)
{
    assert_int_equal(r->schemes, 5); /* copy has labels */
    assert_int_equal(r->most, 2);
    assert_int_equal(r->columns, 4);
    for (int c = 0; c < r->columns; c++) {
        static const int times[] = {1, 2, 5, 10};
        assert_int_equal(r->column[c].low, 2 * times[c]);
        assert_true(r->column[c].times == times[c]);
    }
    for (int i = 0; i < r->schemes; i++) {
        const lg_try_scheme *s = &r->scheme[i];
        assert_int_equal(s->verdict == LG_TRY_FEW, s->steps < LG_TRY_STEPS);
        for (int c = 0; c < s->tested; c++) {
            const lg_try_cell *x = &s->cell[c];
            assert_true(x->samples > 0 && x->share == (double)x->exact / x->samples);
            assert_true(x->low <= x->share && x->share <= x->high);
        }
        if (s->verdict == LG_TRY_LEARNED) assert_true(s->cell[0].share > 0.98 && r->best >= 0);
    }
    if (r->best >= 0) assert_int_equal(r->scheme[r->best].verdict, LG_TRY_LEARNED);
    assert_int_equal(r->carries, r->config != NULL);
}

static void a_folder_is_kept_and_is_of_one_try(void **state)
{
    (void)state;
    struct seen s = {0};
    lg_try_options o = options(&s, "copy");
    lg_try_result r;
    lg_error err = {0};
    o.minutes = 0.1;
    o.folder = in_home("kept");
    if (lg_try(&o, &r, &err)) fail_msg("%s", err.text);
    check(&r);
    assert_true(s.trains >= 1 && s.trained == s.trains);
    assert_true(entries(o.folder) >= 2);
    lg_try_result_clear(&r);
    s = (struct seen){0};
    o.seed = 2;
    assert_int_equal(lg_try(&o, &r, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "another try"));
    assert_int_equal(s.trains, 0);
    lg_try_result_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_tried_is_refused),
        cmocka_unit_test_setup_teardown(a_stopped_try_says_so_and_leaves_nothing, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_folder_is_kept_and_is_of_one_try, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
