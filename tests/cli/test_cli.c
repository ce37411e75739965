/* test_cli.c: the program as a user meets it: what it prints and the code it ends with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "lengthen.h"

static char out[65536]; /* what the last run printed */

/* Runs the program through the shell and returns its exit code. `what` chooses the stream
 * that is kept: "2>&1" both, "2>/dev/null" stdout, "2>&1 >/dev/null" stderr. */
static int run(const char *arguments, const char *what)
{
    char command[4096];
    snprintf(command, sizeof command, "'%s' %s %s", LG_PROGRAM, arguments, what);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (!WIFEXITED(status)) fail_msg("%s: ended by a signal", command);
    return WEXITSTATUS(status);
}

#define BOTH "2>&1"
#define STDOUT "2>/dev/null"
#define STDERR "2>&1 >/dev/null"

static void assert_prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static void version(void **state)
{
    (void)state;
    assert_int_equal(run("--version", BOTH), 0);
    assert_string_equal(out, "lengthen " LG_VERSION "\n");
    assert_string_equal(lg_version(), LG_VERSION);
}

static void help_fits_a_screen_and_teaches(void **state)
{
    (void)state;
    static const char *const ways[] = {"--help", "-h", "help"};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        assert_int_equal(run(ways[w], STDOUT), 0);
        assert_prints("Usage: lengthen COMMAND");
        assert_prints("Example");
        assert_prints("lengthen demo");
        assert_prints("bench");
        int lines = 0;
        for (const char *s = out; *s; lines++) {
            size_t width = strcspn(s, "\n");
            assert_true(width <= 80);
            s += width + (s[width] == '\n');
        }
        assert_true(lines <= 40);
    }
}

/* Every command that the help lists explains itself. */
static void each_command_has_help(void **state)
{
    (void)state;
    char list[sizeof out];
    assert_int_equal(run("--help", STDOUT), 0);
    char *s = strstr(out, "Commands:\n");
    assert_non_null(s);
    strcpy(list, s + strlen("Commands:\n"));
    int commands = 0;
    char *rest = NULL;
    *strstr(list, "\n\n") = '\0';
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[32], arguments[64], usage[64];
        assert_int_equal(sscanf(line, " %31s", name), 1);
        snprintf(usage, sizeof usage, "Usage: lengthen %s", name);
        snprintf(arguments, sizeof arguments, "%s --help", name);
        assert_int_equal(run(arguments, STDOUT), 0);
        assert_ptr_equal(strstr(out, usage), out);
        assert_prints("Example");
        assert_int_equal(out[strlen(out) - 1], '\n');
        snprintf(arguments, sizeof arguments, "help %s", name);
        assert_int_equal(run(arguments, STDOUT), 0);
        assert_ptr_equal(strstr(out, usage), out);
        commands++;
    }
    assert_true(commands >= 2);
}

static void an_unknown_command_gets_a_suggestion(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"dmeo", "demo"}, {"Demo", "demo"}, {"benhc", "bench"}, {"ben", "bench"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[64];
        assert_int_equal(run(cases[i].typed, STDERR), 2);
        snprintf(wanted, sizeof wanted, "no command \"%s\"; did you mean \"%s\"?", cases[i].typed,
                 cases[i].meant);
        assert_prints(wanted);
        assert_prints("lengthen --help");
        assert_int_equal(run(cases[i].typed, STDOUT), 2);
        assert_string_equal(out, "");
    }
    assert_int_equal(run("xyzzyxyzzyxyzzyxyzzyxyzzyxyzzyxyzzyxyzzy", STDERR), 2);
    assert_prints("no command");
    assert_null(strstr(out, "did you mean"));
    assert_int_equal(run("help dmeo", STDERR), 2);
    assert_prints("did you mean \"demo\"?");
}

static void wrong_use_ends_with_two(void **state)
{
    (void)state;
    assert_int_equal(run("", STDERR), 2);
    assert_prints("Usage: lengthen COMMAND");
    assert_int_equal(run("", STDOUT), 2);
    assert_string_equal(out, "");
    assert_int_equal(run("--colour", STDERR), 2);
    assert_prints("--colour");
    assert_int_equal(run("''", STDERR), 2);
    static const char *const commands[] = {"demo",   "train",     "eval", "tasks",
                                           "sample", "positions", "bench"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "%s --no-such-option", commands[i]);
        assert_int_equal(run(arguments, STDERR), 2);
        assert_prints("no-such-option");
    }
}

/* A measurement or a training run with other kernels than those asked for would mislead. */
static void unknown_kernels_are_refused(void **state)
{
    (void)state;
    setenv("LENGTHEN_ISA", "sse9", 1);
    assert_int_equal(run("--version", STDERR), 2);
    assert_prints("sse9");
    setenv("LENGTHEN_ISA", "c", 1);
    assert_int_equal(run("--version", BOTH), 0);
    unsetenv("LENGTHEN_ISA");
}

/* Every value is looked at before any measuring starts. */
static void bench_refuses_bad_values(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *named;
    } cases[] = {{"bench --only sheep", "sheep"},
                 {"bench --seconds never", "never"},
                 {"bench --threads 0", "\"0\""},
                 {"bench --against jax", "jax"},
                 {"bench --shape w7", "w7"},
                 {"bench --only peak --shape w256", "w256"},
                 {"bench now", "now"},
                 {"demo --seed -1", "-1"},
                 {"demo --seed x", "x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(cases[i].arguments, STDERR), 2);
        assert_prints(cases[i].named);
        assert_int_equal(run(cases[i].arguments, STDOUT), 2);
        assert_string_equal(out, "");
    }
    assert_int_equal(run("bench --against torch --python /no/such/python", STDERR), 1);
    assert_prints("apt-get install python3-torch");
}

static void lost_output_is_a_failure(void **state)
{
    (void)state;
    assert_int_equal(run("--help", "2>&1 >/dev/full"), 1);
    assert_prints("could not be written");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version),
        cmocka_unit_test(help_fits_a_screen_and_teaches),
        cmocka_unit_test(each_command_has_help),
        cmocka_unit_test(an_unknown_command_gets_a_suggestion),
        cmocka_unit_test(wrong_use_ends_with_two),
        cmocka_unit_test(unknown_kernels_are_refused),
        cmocka_unit_test(bench_refuses_bad_values),
        cmocka_unit_test(lost_output_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
