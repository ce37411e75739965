/* test_bridge.c: the points of a bridge from files that are written by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_theory.h"

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Two seeds of k = 2 at 300, one of k = 4 that has not learned, and rows that are not asked for. */
static const char evals[] = "method,train,seed,length,samples,value,kind,trained_length\n"
                            "plain,task.k=2;a=1,1,50,100,1.0,exact,50\n"
                            "plain,task.k=2;a=1,1,300,100,0.9,exact,50\n"
                            "plain,task.k=2;a=1,2,300,100,0.7,exact,50\n"
                            "plain,task.k=2;a=1,2,300,100,0.1,taught_exact,50\n"
                            "plain,task.k=2;a=2,2,300,100,0.5,exact,50\n"
                            "\"plain\",task.k=4;a=1,1,50,100,0.5,exact,50\n"
                            "plain,task.k=4;a=1,1,300,100,1.0,exact,50\n";

static void answers_are_pooled_by_k(void **state)
{
    (void)state;
    lg_theory_bridge b;
    lg_error err = {0};
    put("measurements.csv", evals);
    lg_theory_bridge_options o = {
        .rows = in_home("measurements.csv"), .length = 300, .where = "a=1"};
    if (lg_theory_bridge_read(&o, &b, &err)) fail_msg("%s", err.text);
    assert_int_equal(b.count, 2);
    assert_string_equal(b.points[0].name, "transformer: plain");
    assert_int_equal(b.points[0].k, 2);
    assert_int_equal(b.points[0].samples, 200);
    assert_int_equal(b.points[0].wrong, 40);
    assert_true(fabs(b.points[0].error - 0.2) < 1e-12);
    /* Wilson's interval of 40 in 200 */
    assert_true(fabs(b.points[0].low - 0.1504) < 1e-3 && fabs(b.points[0].high - 0.2609) < 1e-3);
    assert_int_equal(b.points[1].wrong, 0);
    assert_true(b.points[1].low == 0 && b.points[1].high > 0);
    assert_int_equal(b.unlearned_count, 1);
    assert_int_equal(b.unlearned[0].k, 4);
    assert_true(b.unlearned[0].exact == 0.5);
    lg_theory_bridge_clear(&b);
}

static void classes_come_first(void **state)
{
    (void)state;
    char class[500];
    lg_theory_bridge b;
    lg_error err = {0};
    put("measurements.csv", evals);
    put("rows.csv", "variant,k,seed,length,error\n\"k = 2, local\",2,1,300,0.01\n"
                    "\"k = 2, local\",2,2,300,0.0001\n\"k = 2, local\",2,1,50,0.5\n");
    snprintf(class, sizeof class, "ours=%s", in_home("rows.csv"));
    const char *classes[] = {class};
    lg_theory_bridge_options o = {
        .rows = in_home("measurements.csv"), .classes = classes, .class_count = 1, .length = 300};
    if (lg_theory_bridge_read(&o, &b, &err)) fail_msg("%s", err.text);
    assert_int_equal(b.count, 4); /* a = 1 and a = 2 are other points */
    assert_string_equal(b.points[0].name, "class: ours, local");
    assert_true(fabs(b.points[0].error - 0.001) < 1e-9); /* the geometric mean */
    assert_int_equal(b.points[0].samples, 0);
    lg_theory_bridge_clear(&b);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    lg_theory_bridge b;
    lg_error err = {0};
    put("measurements.csv", evals);
    put("other.csv", "method,train\n");
    put("ragged.csv", "method,train,seed,length,samples,value,kind,trained_length\nplain,x\n");
    const struct {
        const char *file;
        int length, code;
        const char *says;
    } cases[] = {{"none.csv", 300, LG_ERROR_SYSTEM, "check the name"},
                 {"other.csv", 300, LG_ERROR_ARGUMENT, "no column \"length\""},
                 {"ragged.csv", 300, LG_ERROR_ARGUMENT, "ragged.csv:2"},
                 {"measurements.csv", 301, LG_ERROR_ARGUMENT, "no row of length 301"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_theory_bridge_options o = {.rows = in_home(cases[i].file), .length = cases[i].length};
        assert_int_equal(lg_theory_bridge_read(&o, &b, &err), cases[i].code);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s", err.text);
        lg_theory_bridge_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_pooled_by_k),
        cmocka_unit_test(classes_come_first),
        cmocka_unit_test(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
