/* test_own_exec.c: the user's own data from a program, exec:COMMAND. A program that crashes, ends,
 * or writes nonsense must not pass for one that works; it is started as often as needed, no more;
 * and nothing of it is left behind. The programs are of sh and awk, which every system has. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "check.h"

enum { SHOWN = 100 }; /* so much of a command is in a message, at least */

static char folder[] = "/tmp/lengthen-exec-XXXXXX", words[64], started[64], vocab[80];

static int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(words, sizeof words, "%s/words.txt", folder);
    snprintf(started, sizeof started, "%s/started", folder);
    snprintf(vocab, sizeof vocab, "vocab=%s", words);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(words);
    unlink(started);
    return rmdir(folder);
}

static void put_words(const char *text)
{
    FILE *f = fopen(words, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* This process has no children, not even dead ones that nobody waited for. */
static void assert_no_children(void)
{
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void assert_in(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

static lg_task *open_program(const char *command, const char *setting)
{
    char name[1100];
    snprintf(name, sizeof name, "exec:%s", command);
    return ck_task_new(name, &setting, setting ? 1 : 0);
}

static void close_program(lg_task *t)
{
    lg_task_free(t);
    assert_no_children();
}

/* It cannot be opened; the reason names the command and has the other parts. */
static void refuse(const char *command, const char *setting, int code, const char *says,
                   const char *remedy)
{
    char name[1100];
    lg_error err = {0};
    snprintf(name, sizeof name, "exec:%s", command);
    lg_task *t = lg_task_new(name, &setting, setting ? 1 : 0, &err);
    if (t) fail_msg("accepted, without: %s", says);
    if (strncmp(err.text, name, strlen(name) < SHOWN ? strlen(name) : SHOWN) != 0)
        fail_msg("not of %s: %s", name, err.text);
    assert_int_equal(err.code, code);
    assert_in(err.text, says);
    assert_in(err.text, remedy);
    assert_no_children();
}

static const lg_draw all = {.length_lo = 1, .length_hi = 1 << 20};

/* The text of example `index`. */
static const char *draw(lg_task *t, lg_draw d, uint64_t index)
{
    static char text[400];
    lg_example x;
    d.index = index;
    lg_example_init(&x);
    ck_example(t, &d, &x);
    lg_example_text(t, &x, text, sizeof text);
    lg_example_clear(&x);
    return text;
}

static void refuse_draw(lg_task *t, lg_draw d, uint64_t index, int code, const char *says,
                        const char *remedy)
{
    lg_error err = {0};
    lg_example x;
    d.index = index;
    lg_example_init(&x);
    assert_int_equal(lg_task_example(t, &d, &x, &err), code);
    assert_int_equal(err.code, code);
    assert_int_equal(strncmp(err.text, "exec:", 5), 0);
    assert_in(err.text, says);
    assert_in(err.text, remedy);
    lg_example_clear(&x);
}

/* Lines 0 0 .. 9 9, 0 0, .. for ever. */
#define COUNT "i=0; while :; do printf '{\"tokens\":[%d,%d]}\\n' $i $i; i=$(( (i + 1) % 10 )); done"
/* The same line three times. */
#define THREE "for i in 1 2 3; do echo '{\"tokens\":[1,2]}'; done"

/* ---- Streams ------------------------------------------------------------------------------------ */

/* The program writes for ever: whoever waits for its end, waits for ever. */
static void lines_are_used_while_they_come(void **state)
{
    (void)state;
    char want[8];
    lg_task *t = open_program(COUNT, "first=20");
    const lg_task_shape *s = lg_task_get_shape(t);
    assert_int_equal(s->vocab, 10);
    assert_int_equal(s->levels, 0);
    assert_int_equal(s->length_least, 2);
    for (uint64_t i = 0; i < 500; i++) {
        snprintf(want, sizeof want, "%d %d", (int)i % 10, (int)i % 10);
        assert_string_equal(draw(t, all, i), want);
    }
    close_program(t);
}

static int starts(void)
{
    FILE *f = fopen(started, "r");
    int n = 0;
    for (int c; f && (c = fgetc(f)) != EOF;) n += c == '\n';
    if (f) fclose(f);
    return n;
}

/* Training and evaluation take turns, each at its own place of its own run. */
static void each_stream_has_one_run(void **state)
{
    (void)state;
    char command[300], want[8];
    lg_draw d[3] = {all, all, all};
    unlink(started);
    snprintf(command, sizeof command, "echo start >> %s; %s", started, COUNT);
    lg_task *t = open_program(command, "first=30");
    assert_int_equal(starts(), 1); /* the look at the first lines */
    d[1].stream = 1;
    d[2].seed = 1;
    for (uint64_t i = 0; i < 60; i++)
        for (int s = 0; s < 3; s++) {
            snprintf(want, sizeof want, "%d %d", (int)i % 10, (int)i % 10);
            assert_string_equal(draw(t, d[s], i), want);
        }
    assert_int_equal(starts(), 4);
    assert_string_equal(draw(t, d[1], 0), "0 0"); /* from the start, as evaluation does */
    assert_int_equal(starts(), 5);
    assert_string_equal(draw(t, d[0], 60), "0 0");
    assert_int_equal(starts(), 5);
    for (uint32_t s = 100; s < 116; s++) { /* as many as are kept: they replace all others */
        d[0].stream = s;
        assert_string_equal(draw(t, d[0], 0), "0 0");
    }
    for (uint32_t s = 100; s < 116; s++) {
        d[0].stream = s;
        assert_string_equal(draw(t, d[0], 1), "1 1");
    }
    assert_int_equal(starts(), 21);
    refuse_draw(t, d[1], 1, LG_ERROR_ARGUMENT, "cannot start at example 1", "--resume");
    close_program(t);
}

static void out_of_order_is_refused(void **state)
{
    (void)state;
    lg_task *t = open_program(COUNT, "first=20");
    assert_string_equal(draw(t, all, 0), "0 0");
    assert_string_equal(draw(t, all, 1), "1 1");
    static const uint64_t wrong[] = {3, 1, 500};
    for (int i = 0; i < 3; i++)
        refuse_draw(t, all, wrong[i], LG_ERROR_ARGUMENT, "only at 0, as --resume",
                    "{\"lengthen\": {\"index\": true}}");
    assert_string_equal(draw(t, all, 2), "2 2"); /* a refusal does not lose the place */
    lg_draw other = all;
    other.stream = 5;
    refuse_draw(t, other, 7, LG_ERROR_ARGUMENT, "cannot start at example 7", "LENGTHEN_INDEX");
    other = all; /* as a curriculum does: the program knows only the range that it started with */
    other.length_hi++;
    refuse_draw(t, other, 3, LG_ERROR_ARGUMENT, "cannot start at example 3", "train.curriculum");
    close_program(t);
}

/* A program that says so is started where it is needed, and told where that is. */
#define INDEX "echo '{\"lengthen\": {\"index\": true}}'; "
#define TELL                                                                                       \
    INDEX "i=$LENGTHEN_INDEX; while :; do "                                                        \
          "printf '{\"tokens\":[\"s%s\",\"t%s\",%d,\"l%s-%s\",\"k%s-%s\"],\"length\":4}\\n' "      \
          "$LENGTHEN_SEED $LENGTHEN_STREAM $i \"$LENGTHEN_LENGTH_LO\" \"$LENGTHEN_LENGTH_HI\" "    \
          "\"$LENGTHEN_SPARSITY_LO\" \"$LENGTHEN_SPARSITY_HI\"; i=$((i + 1)); done"

static void a_program_may_start_anywhere(void **state)
{
    (void)state;
    put_words("s0\ns7\nt0\nt3\nl-\nl2-9\nl4-4\nk-\n0\n1\n2\n3\n4\n5\n6\n"
              "18446744073709551615\ns18446744073709551615\n");
    /* What this process was told is not for the program, and must not be taken for the draw's. */
    assert_int_equal(setenv("LENGTHEN_SPARSITY_LO", "5", 1), 0);
    assert_int_equal(setenv("LENGTHEN_INDEX", "99", 1), 0);
    const char *const both[] = {vocab, "first=3"};
    lg_task *t = ck_task_new("exec:" TELL, both, 2);
    lg_draw d = {.seed = 7, .stream = 3, .length_lo = 2, .length_hi = 9};
    assert_string_equal(draw(t, d, 0), "s7 t3 0 l2-9 k-");
    assert_string_equal(draw(t, d, 1), "s7 t3 1 l2-9 k-");
    assert_string_equal(draw(t, d, 5), "s7 t3 5 l2-9 k-"); /* resumed */
    assert_string_equal(draw(t, d, 6), "s7 t3 6 l2-9 k-");
    assert_string_equal(draw(t, d, 2), "s7 t3 2 l2-9 k-"); /* and back */
    d.length_lo = d.length_hi = 4; /* another range: the run for it says so */
    assert_string_equal(draw(t, d, 3), "s7 t3 3 l4-4 k-");
    d.seed = UINT64_MAX;
    assert_string_equal(draw(t, d, 4), "s18446744073709551615 t3 4 l4-4 k-");
    close_program(t);
    unsetenv("LENGTHEN_SPARSITY_LO");
    unsetenv("LENGTHEN_INDEX");
}

/* Lines of other lengths are skipped, unless the program promised to write none. */
static void lengths_are_kept(void **state)
{
    (void)state;
    lg_task *t =
        open_program("awk 'BEGIN { for (i = 0;; i++) printf "
                     "\"{\\\"tokens\\\":[%d,%d],\\\"length\\\":%d,\\\"sparsity\\\":%d}\\n\","
                     " i % 7, i % 7, 3 + i % 7, 1 + i % 2 }'",
                     "first=50");
    lg_draw d = {.length_lo = 5, .length_hi = 6};
    static const char *const found[] = {"2 2", "3 3"};
    for (uint64_t i = 0; i < 20; i++) assert_string_equal(draw(t, d, i), found[i % 2]);
    d = (lg_draw){.stream = 1, .length_lo = 3, .length_hi = 9, .sparsity_lo = 2, .sparsity_hi = 2};
    static const char *const second[] = {"1 1", "3 3", "5 5", "0 0", "2 2", "4 4", "6 6"};
    for (uint64_t i = 0; i < 20; i++) assert_string_equal(draw(t, d, i), second[i % 7]);
    d = (lg_draw){.stream = 2, .length_lo = 50, .length_hi = 60}; /* it must not search for ever */
    refuse_draw(t, d, 0, LG_ERROR_ARGUMENT, "not in the range asked for, 50..60",
                "ask for what the program makes");
    close_program(t);
    t = open_program(INDEX "yes '{\"tokens\":[1,2]}'", "first=5");
    d = (lg_draw){.length_lo = 3, .length_hi = 4};
    refuse_draw(t, d, 0, LG_ERROR_ARGUMENT, "line 2: length 2, sparsity 0 is not in the range",
                "LENGTHEN_LENGTH_LO");
    close_program(t);
}

/* ---- Programs that fail --------------------------------------------------------------------------- */

static void crashes_are_told(void **state)
{
    (void)state;
    refuse("exit 3", NULL, LG_ERROR_SYSTEM, "failed with exit code 3 before its first line",
           "run it in a shell");
    refuse(THREE "; exit 3", NULL, LG_ERROR_SYSTEM,
           "failed with exit code 3 after line 3 ({\"tokens\":[1,2]})", "run it in a shell");
    refuse(THREE "; kill -9 $$", NULL, LG_ERROR_SYSTEM, "was ended by signal 9 after line 3",
           "run it in a shell");
    refuse(THREE "; kill -SEGV $$", NULL, LG_ERROR_SYSTEM, "was ended by signal 11 after line 3",
           "run it in a shell");
    /* Half a line of a program that dies is no bad line. */
    refuse(THREE "; printf '{\"tok'; exit 4", NULL, LG_ERROR_SYSTEM,
           "failed with exit code 4 after line 3", "run it in a shell");
    refuse("printf '{\"tokens\":[1,2]}'; exit 4", NULL, LG_ERROR_SYSTEM,
           "failed with exit code 4 before its first line", "run it in a shell");
    refuse("no-such-program-at-all 2>/dev/null", NULL, LG_ERROR_SYSTEM, "exit code 127", "shell");
    refuse("exit 0", NULL, LG_ERROR_ARGUMENT, "ended without writing an example", "JSON lines");
    refuse("echo", NULL, LG_ERROR_ARGUMENT, "ended without writing an example", "JSON lines");
    lg_error err = {0};
    assert_null(lg_task_new("exec:", NULL, 0, &err));
    assert_in(err.text, "task exec needs to know what to read: write exec:COMMAND");
}

static void a_crash_later_is_told(void **state)
{
    (void)state;
    lg_task *t = open_program(THREE "; exit 3", "first=2");
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    refuse_draw(t, all, 3, LG_ERROR_SYSTEM, "failed with exit code 3 after line 3", "in a shell");
    assert_string_equal(draw(t, all, 0), "1 2"); /* from the start it works again */
    close_program(t);
    t = open_program(THREE "; kill -TERM $$", "first=2");
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    refuse_draw(t, all, 3, LG_ERROR_SYSTEM, "was ended by signal 15 after line 3", "in a shell");
    assert_no_children();
    close_program(t);
}

static void an_early_end_is_told(void **state)
{
    (void)state;
    lg_task *t = open_program(THREE, NULL); /* fewer than 1000 lines are enough to open it */
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    refuse_draw(t, all, 3, LG_ERROR_SYSTEM,
                "ended after line 3 ({\"tokens\":[1,2]}), but example 3 was asked for",
                "let it write on for ever");
    close_program(t);
    t = open_program("printf '{\"tokens\":[1,2]}\\r\\n\\n{\"tokens\":[2,1]}'", NULL);
    assert_string_equal(draw(t, all, 0), "1 2");
    assert_string_equal(draw(t, all, 1), "2 1"); /* the last line has no end, but is whole */
    refuse_draw(t, all, 2, LG_ERROR_SYSTEM, "ended after line 3", "let it write on");
    close_program(t);
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    refuse(THREE "; echo; echo '{\"tokens\":[1]}'; " COUNT, NULL, LG_ERROR_ARGUMENT,
           ", line 5: tokens has 1 entries", "write two or more");
    refuse("echo hello; " COUNT, NULL, LG_ERROR_ARGUMENT, ", line 1: this cannot be read as JSON",
           "write one object per line");
    refuse(THREE "; " INDEX, NULL, LG_ERROR_ARGUMENT, ", line 4: there is no key \"lengthen\"",
           "did you mean");
    lg_task *t =
        open_program(THREE "; echo '{\"tokens\":[1,2],\"ids\":[1,-2]}'; " COUNT, "first=2");
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    refuse_draw(t, all, 3, LG_ERROR_ARGUMENT, ", line 4: ids[1] is -2", "shift them all up");
    close_program(t);
    /* A word that the first lines did not have: the model has no place for it. */
    t = open_program(THREE "; echo '{\"tokens\":[1,\"new\"]}'; " COUNT, "first=2");
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    refuse_draw(t, all, 3, LG_ERROR_ARGUMENT,
                ", line 4: tokens[1] is \"new\", which is not in the first 2 lines", "vocab=FILE");
    close_program(t);
    put_words("1\n2\nnew\n");
    t = open_program(THREE "; echo '{\"tokens\":[1,\"new\"]}'", vocab);
    assert_int_equal(lg_task_get_shape(t)->vocab, 3);
    for (uint64_t i = 0; i < 3; i++) assert_string_equal(draw(t, all, i), "1 2");
    assert_string_equal(draw(t, all, 3), "1 new");
    close_program(t);
    refuse(THREE "; echo '{\"tokens\":[1,3]}'; " COUNT, vocab, LG_ERROR_ARGUMENT,
           "tokens[1] is 3, which is not in ", "vocab=FILE");
}

/* ---- What is left behind ----------------------------------------------------------------------------- */

/* Programs and what they start hold the writing end of a pipe of ours: when it is closed, none of
 * them is there any more. `pause`: the shell has ended by then, but is not reaped. */
static void assert_all_end_after(const char *command, const char *setting, int pause)
{
    int ends[2];
    char c;
    assert_int_equal(pipe(ends), 0);
    lg_task *t = open_program(command, setting);
    assert_string_equal(draw(t, all, 0), "1 2");
    siginfo_t info;
    if (pause) assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    close_program(t);
    close(ends[1]);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 2000), 1);
    assert_int_equal(read(ends[0], &c, 1), 0);
    close(ends[0]);
}

static void assert_all_end(const char *command) { assert_all_end_after(command, "first=2", 0); }

/* What a shell leaves in the background when it ends, before the task is freed or before its
 * output is read to the end: with and without its output, and one that does not listen. */
static void the_background_is_not_left_behind(void **state)
{
    (void)state;
    assert_all_end_after("sleep 600 & " THREE, "first=2", 1);
    assert_all_end_after("sleep 600 > /dev/null & " THREE, "first=2", 1);
    assert_all_end_after("(trap '' TERM; sleep 600) > /dev/null & " THREE, "first=2", 1);
    assert_all_end_after("sleep 600 > /dev/null & " THREE, NULL, 0); /* read to its end first */
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    assert_all_end(THREE "; sleep 600");
    assert_all_end("sleep 600 & " THREE "; wait");
    assert_all_end("yes '{\"tokens\":[1,2]}' | cat");
    assert_all_end(THREE);
}

/* A program that will not be ended in peace is killed, and waited for; this takes two seconds. */
static void what_does_not_listen_is_killed(void **state)
{
    (void)state;
    lg_task *t = open_program("trap '' TERM; " THREE "; while :; do sleep 600; done", "first=3");
    close_program(t);
}

/* A program finds no input, rather than that of the lab's own terminal. */
static void its_input_is_empty(void **state)
{
    (void)state;
    int ends[2], own = dup(0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x\n", 2), 2);
    dup2(ends[0], 0);
    lg_task *t = open_program("if read word; then exit 9; fi; " THREE, NULL);
    close_program(t);
    dup2(own, 0);
    close(own);
    close(ends[0]);
    close(ends[1]);
}

/* Every allocation fails once. The quick reader of lines may do without; else there is a reason. */
static void no_memory_is_told(void **state)
{
    (void)state;
    int failures = 0, n = 0, reached = 1;
    for (; reached; n++) {
        lg_error err = {0};
        long before = lg__alloc_count();
        lg__alloc_fail_after(n);
        lg_task *t = lg_task_new("exec:" THREE, NULL, 0, &err);
        lg__alloc_fail_after(-1);
        reached = !t || lg__alloc_count() - before > n;
        lg_task_free(t);
        assert_no_children();
        if (t) continue;
        /* A program that could not be started for want of memory says so as the system does. */
        if (err.code != LG_ERROR_MEMORY) assert_in(err.text, "Cannot allocate memory");
        failures++;
    }
    assert_true(failures > 5);
    assert_true(n > 15);
}

/* ---- The program in examples/ -------------------------------------------------------------------------- */

static void the_example_program(void **state)
{
    (void)state;
    if (system("command -v python3 > /dev/null 2>&1") != 0) {
        print_message("there is no python3 here, so examples/evens.py is not tried\n");
        skip();
    }
    char command[1000];
    snprintf(command, sizeof command, "python3 '%s/examples/evens.py'", LG_SOURCE_DIR);
    lg_task *t = open_program(command, "first=200");
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_draw d = {.seed = 3, .length_lo = 4, .length_hi = 12};
    lg_example x;
    char tenth[200] = "";
    lg_example_init(&x);
    assert_string_equal(s->words[s->stop], "$");
    assert_int_equal(s->levels, 1);
    for (; d.index < 100; d.index++) {
        ck_example(t, &d, &x);
        int n = x.length, ones = 0;
        assert_int_equal(x.n, 2 * n + 2);
        assert_int_equal(x.answer, n + 1);
        assert_string_equal(s->words[x.tokens[n]], "=");
        for (int i = 0; i < n; i++) {
            ones += s->words[x.tokens[i]][0] == '1';
            assert_string_equal(s->words[x.tokens[n + 1 + i]], ones % 2 ? "o" : "e");
            assert_int_equal(x.labels[0][i], i + 1);
            assert_int_equal(x.labels[0][n + 1 + i], i + 1);
        }
        if (d.index == 10) lg_example_text(t, &x, tenth, sizeof tenth);
    }
    assert_string_equal(draw(t, d, 10), tenth); /* it starts where it is told to */
    lg_example_clear(&x);
    close_program(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_used_while_they_come),
        cmocka_unit_test(each_stream_has_one_run),
        cmocka_unit_test(out_of_order_is_refused),
        cmocka_unit_test(a_program_may_start_anywhere),
        cmocka_unit_test(lengths_are_kept),
        cmocka_unit_test(crashes_are_told),
        cmocka_unit_test(a_crash_later_is_told),
        cmocka_unit_test(an_early_end_is_told),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(the_background_is_not_left_behind),
        cmocka_unit_test(what_does_not_listen_is_killed),
        cmocka_unit_test(its_input_is_empty),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(the_example_program),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
