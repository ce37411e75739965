/* test_probe_files.c: the folder of a probe: one probe at a time, all files or those of before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files.h"
#include "helpers/home.h"
#include "lengthen_report.h"

static const char *const words[] = {"a", "b<c", "say \"x\""};

/* The second token of the text ends a letter that the first began. */
static void report_passage(lg_probe_files *f)
{
    static const int32_t tokens[] = {0, 1, 2};
    static const char *const piece[] = {"x\xc3", "\xa4", "<y>"};
    static const size_t size[] = {2, 1, 3};
    static const int source[] = {0};
    static const float influence[] = {0.5f}, curve[] = {3, 1};
    lg_probe_passage p = {.document = 7, .n = 3, .tokens = tokens, .words = words};
    lg_probe_row r = {.document = 7,
                      .position = 2,
                      .token = 2,
                      .loss = 1,
                      .loss_0 = 3,
                      .depends = 1,
                      .k = 1,
                      .sources = 1,
                      .source = source,
                      .influence = influence,
                      .curve = curve};
    p.piece = piece;
    p.size = size;
    lg_probe_files_passage(f, &p);
    lg_probe_files_row(f, &r);
}

static void expect(const char *name, const char *const *parts, int count)
{
    char *text = NULL;
    if (lg__file_read(in_home(name), &text, NULL) || !text) fail_msg("%s is not there", name);
    for (int i = 0; i < count; i++)
        if (!strstr(text, parts[i])) fail_msg("%s lacks %s:\n%s", name, parts[i], text);
    free(text);
}

static void files_are_written_at_the_end(void **state)
{
    (void)state;
    static const char *const csv[] = {"document,position,",
                                      "7,2,2,\"say \"\"x\"\"\",1,3,1,1,0:0.5,"};
    static const char *const page[] = {"&#60;y&#62;", ">x</span>", ">\xc3\xa4</span>", "the run me",
                                       "title=\"k* 1; loss 1.00, 3.00 without context; from"};
    lg_probe_summary s = {.predictions = 1, .dependent = 1, .documents = 1, .most_k = 32};
    lg_error err = {0}, warning = {0};
    s.few = 2;
    s.many = 8;
    lg_probe_files *f = lg_probe_files_new(in_home("p"), "me", NULL, &err);
    if (!f) fail_msg("%s", err.text);
    assert_string_equal(lg_probe_files_begun(f), in_home("p/begun"));
    report_passage(f);
    assert_int_not_equal(access(in_home("p/predictions.csv"), F_OK), 0);
    if (lg_probe_files_finish(f, &s, "", &warning, &err)) fail_msg("%s", err.text);
    lg_probe_files_free(f);
    expect("p/predictions.csv", csv, 2);
    expect("p/passage.html", page, 5);
    assert_int_equal(access(in_home("p/kstar.svg"), F_OK) == 0, !warning.text[0]);
    assert_int_not_equal(access(in_home("p/predictions.csv.tmp"), F_OK), 0);
}

static void one_probe_at_a_time(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_probe_files *f = lg_probe_files_new(in_home("q"), "me", "other", &err);
    assert_non_null(f);
    assert_null(lg_probe_files_new(in_home("q"), "me", "other", &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "another probe"));
    report_passage(f);
    lg_probe_files_free(f); /* without a finish: nothing is left */
    assert_int_not_equal(access(in_home("q/predictions.csv"), F_OK), 0);
    assert_int_not_equal(access(in_home("q/predictions.csv.tmp"), F_OK), 0);
    f = lg_probe_files_new(in_home("q"), "me", NULL, &err);
    assert_non_null(f);
    lg_probe_files_free(f);
}

static void a_file_is_no_folder(void **state)
{
    (void)state;
    lg_error err = {0};
    assert_int_equal(lg__file_write(in_home("file"), "x", NULL), 0);
    assert_null(lg_probe_files_new(in_home("file"), "me", NULL, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "no folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_written_at_the_end),
        cmocka_unit_test(one_probe_at_a_time),
        cmocka_unit_test(a_file_is_no_folder),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
