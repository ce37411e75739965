/* test_cli.c: the program as a user meets it: what it prints and the code it ends with. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
    char text[300];
    assert_int_equal(run("--version", BOTH), 0);
    snprintf(text, sizeof text, "lengthen " LG_VERSION "\ncommit %s, %s\n", lg_commit(),
             lg_compiler());
    assert_string_equal(out, text);
    size_t digits = strspn(lg_commit(), "0123456789abcdef");
    if (strcmp(lg_commit(), "unknown") != 0)
        assert_true(digits == 12 && (!lg_commit()[12] || strcmp(lg_commit() + 12, "-dirty") == 0));
    assert_string_equal(lg_version(), LG_VERSION);
}

/* The commands of the table in main.c, as the manual page has them: one section each. */
static int list_commands(char names[][32], int most)
{
    int n = 0;
    assert_int_equal(run("help --man", STDOUT), 0);
    for (const char *s = out; (s = strstr(s, "\n.SS ")); s++) {
        assert_true(n < most);
        assert_int_equal(sscanf(s + 5, "%31s", names[n++]), 1);
    }
    assert_true(n >= 8);
    return n;
}
enum { MOST_COMMANDS = 40 };

static void help_fits_a_screen_and_teaches(void **state)
{
    (void)state;
    static const char *const ways[] = {"--help", "-h", "help"};
    char names[MOST_COMMANDS][32];
    int commands = list_commands(names, MOST_COMMANDS);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        assert_int_equal(run(ways[w], STDOUT), 0);
        assert_prints("Usage: lengthen COMMAND");
        assert_prints("first: lengthen demo");
        assert_prints("COMMAND --help");
        int lines = 0;
        for (const char *s = out; *s; lines++) {
            size_t width = strcspn(s, "\n");
            if (width > 80) fail_msg("over 80 columns: %.*s", (int)width, s);
            s += width + (s[width] == '\n');
        }
        if (lines > 24) fail_msg("%d lines", lines);
        for (int i = 0; i < commands; i++) {
            char entry[64];
            snprintf(entry, sizeof entry, " %-10.31s ", names[i]);
            assert_prints(entry);
        }
    }
}

/* Every command explains itself. */
static void each_command_has_help(void **state)
{
    (void)state;
    char names[MOST_COMMANDS][32];
    int commands = list_commands(names, MOST_COMMANDS);
    for (int i = 0; i < commands; i++) {
        char arguments[64], usage[64];
        snprintf(usage, sizeof usage, "Usage: lengthen %.31s", names[i]);
        snprintf(arguments, sizeof arguments, "%.31s --help", names[i]);
        assert_int_equal(run(arguments, STDOUT), 0);
        assert_ptr_equal(strstr(out, usage), out);
        assert_prints("Example");
        assert_int_equal(out[strlen(out) - 1], '\n');
        snprintf(arguments, sizeof arguments, "help %.31s", names[i]);
        assert_int_equal(run(arguments, STDOUT), 0);
        assert_ptr_equal(strstr(out, usage), out);
    }
}

/* docs/lengthen.1 is what the program prints, and roff has nothing to say about it. */
static void the_manual_page_is_up_to_date(void **state)
{
    (void)state;
    static char page[sizeof out];
    assert_int_equal(run("help --man", STDOUT), 0);
    FILE *f = fopen(LG_SOURCE_DIR "/docs/lengthen.1", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    if (strcmp(page, out) != 0)
        fail_msg("docs/lengthen.1 is stale: lengthen help --man > docs/lengthen.1");
    static const char *const parts[] = {"NAME",        "SYNOPSIS",    "DESCRIPTION", "COMMANDS",
                                        "ENVIRONMENT", "EXIT STATUS", "FILES"};
    const char *at = out;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char heading[40];
        snprintf(heading, sizeof heading, "\n.SH %s\n", parts[i]);
        at = strstr(at, heading);
        assert_non_null(at);
    }
    if (system("command -v groff >/dev/null") != 0) return;
    assert_int_equal(run("help --man", "| groff -man -Tascii -ww 2>&1 >/dev/null"), 0);
    assert_string_equal(out, "");
    assert_int_equal(run("help --man", "| groff -man -Tascii -P-cbou 2>/dev/null"), 0);
    assert_prints("  --store FILE      the store (LENGTHEN_STORE,"); /* as it is in the help */
    assert_prints("which `lengthen train` and `eval` fill");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The program is there at once; the best of several runs, for others use this machine too. */
static void it_starts_at_once(void **state)
{
    (void)state;
    const double limit = SANITIZED ? 0.5 : 0.05;
    double best = 1e9;
    for (int i = 0; i < 20; i++) {
        struct timespec from, to;
        int status, nowhere = open("/dev/null", O_WRONLY);
        clock_gettime(CLOCK_MONOTONIC, &from);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            dup2(nowhere, STDOUT_FILENO);
            execl(LG_PROGRAM, LG_PROGRAM, "--version", (char *)NULL);
            _exit(99);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        clock_gettime(CLOCK_MONOTONIC, &to);
        close(nowhere);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        double spent =
            (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        best = spent < best ? spent : best;
    }
    if (best > limit) fail_msg("lengthen --version took %.0f ms", 1000 * best);
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
    char names[MOST_COMMANDS][32];
    int commands = list_commands(names, MOST_COMMANDS);
    for (int i = 0; i < commands; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "%.31s --no-such-option", names[i]);
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
                 {"bench --seconds never", "\"never\"; take a number from 0.01 to 3600"},
                 {"bench --threads 0", "\"0\""},
                 {"bench --against jax", "\"jax\"; take torch"},
                 {"bench --against torch --only kernel", "--only is kernel"},
                 {"bench --shape w7", "w7"},
                 {"bench --only generate --precision bf16", "--only is generate"},
                 {"bench --precision fp16", "fp16"},
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
        cmocka_unit_test(the_manual_page_is_up_to_date),
        cmocka_unit_test(it_starts_at_once),
        cmocka_unit_test(an_unknown_command_gets_a_suggestion),
        cmocka_unit_test(wrong_use_ends_with_two),
        cmocka_unit_test(unknown_kernels_are_refused),
        cmocka_unit_test(bench_refuses_bad_values),
        cmocka_unit_test(lost_output_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
