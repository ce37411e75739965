/* test_request.c: requests of the live page: what is read, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pages/pages.h"

static const char *const hosts[] = {"lab.example", NULL};

static int ask(struct lg__request *r, const char *target)
{
    return lg__request_read(r, "GET", target, "localhost:8765", hosts);
}

static void targets_are_read(void **state)
{
    (void)state;
    struct lg__request r;
    assert_int_equal(ask(&r, "/"), 0);
    assert_int_equal(r.kind, LG__REQUEST_PAGE);
    assert_int_equal(ask(&r, "/api/runs?task=parity&state=done&seed=7&positions=coupled%2C+rope"),
                     0);
    assert_int_equal(r.kind, LG__REQUEST_RUNS);
    assert_string_equal(r.task, "parity");
    assert_string_equal(r.positions, "coupled, rope");
    assert_string_equal(r.seed, "7");
    assert_int_equal(ask(&r, "/api/curves?runs=3,12,5&points=100"), 0);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.runs[1], 12);
    assert_int_equal(r.points, 100);
    assert_int_equal(ask(&r, "/api/generate?run=2&prompt=1+0+%3D&source=given&length=9"), 0);
    assert_string_equal(r.prompt, "1 0 =");
    assert_int_equal(r.predicted, 0);
    assert_int_equal(r.length, 9);
    assert_int_equal(ask(&r, "/api/generate?run=2"), 0);
    assert_int_equal(r.predicted, -1);
    assert_int_equal(r.points, LG__PAGE_POINTS);
}

static void wrong_targets_are_refused(void **state)
{
    (void)state;
    struct lg__request r;
    static const char *const bad[] = {"/api/run",
                                      "/api/run?run=",
                                      "/api/run?run=0",
                                      "/api/run?run=-1",
                                      "/api/run?run=1x",
                                      "/api/run?run=1,2",
                                      "/api/run?run=%3",
                                      "/api/run?run=%zz",
                                      "/api/runs?task=%00",
                                      "/api/runs?other=1",
                                      "/api/runs?task",
                                      "/api/runs?=1",
                                      "/?run=1",
                                      "/api/curves?points=1",
                                      "/api/curves?run=1&points=99999",
                                      "/api/generate?run=1&source=mine",
                                      "/api/run?run=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ask(&r, bad[i]) != 400) fail_msg("%s is not refused", bad[i]);
    assert_int_equal(ask(&r, "/api/other"), 404);
    assert_int_equal(ask(&r, "/../lab.db"), 404);
    assert_int_equal(ask(&r, ""), 404);
    char many[400] = "/api/curves?runs=1";
    for (int i = 0; i < LG__REQUEST_RUNS_MOST; i++) strcat(many, ",1");
    assert_int_equal(ask(&r, many), 400);
    static char large[2 * LG__REQUEST_TEXT];
    memset(large, 'a', sizeof large - 1);
    memcpy(large, "/api/generate?run=1&prompt=", 27);
    assert_int_equal(ask(&r, large), 400);
}

static void foreign_hosts_are_refused(void **state)
{
    (void)state;
    struct lg__request r;
    static const char *const own[] = {"localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]:80",
                                      "lab.example"};
    static const char *const foreign[] = {"",
                                          "evil.example",
                                          "localhost.evil.example",
                                          "localhost:",
                                          "localhost:80x",
                                          "localhost:123456",
                                          "127.0.0.10",
                                          "notlab.example",
                                          "[::1",
                                          "localhost@evil"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (lg__request_read(&r, "GET", "/", own[i], hosts)) fail_msg("%s is refused", own[i]);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (lg__request_read(&r, "GET", "/", foreign[i], hosts) != 403)
            fail_msg("%s is allowed", foreign[i]);
    assert_int_equal(lg__request_read(&r, "GET", "/", NULL, hosts), 403);
    assert_int_equal(lg__request_read(&r, "GET", "/", "lab.example", NULL), 403);
}

static void nothing_but_get(void **state)
{
    (void)state;
    struct lg__request r;
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "get", ""};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        assert_int_equal(lg__request_read(&r, methods[i], "/", "localhost", NULL), 405);
    assert_int_equal(lg__request_read(&r, "HEAD", "/", "localhost", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_read),
        cmocka_unit_test(wrong_targets_are_refused),
        cmocka_unit_test(foreign_hosts_are_refused),
        cmocka_unit_test(nothing_but_get),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
