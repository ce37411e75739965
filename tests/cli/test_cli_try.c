/* test_cli_try.c: `lengthen try` as a user meets it: a task and a file of their own, split by
 * length, to a table and advice; an interruption; and wrong uses, which give exit code 2 and one
 * sentence, and leave nothing behind. Under a sanitizer only the form is checked: the models then
 * learn nothing in so short a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

enum { ENOUGH_STEPS = 300 }; /* parity is learned by then */

static char out[1 << 18], home[64];

/* Runs `lengthen ...` in the test's own folder, with a folder of its own for what is temporary. */
static int run(const char *before, const char *arguments, const char *after)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && TMPDIR=%s/tmp %s '%s' %s %s", home, home, before,
             LG_PROGRAM, arguments, after);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (!WIFEXITED(status)) fail_msg("%s: ended by a signal", command);
    return WEXITSTATUS(status);
}

static void prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static int count(const char *words)
{
    int n = 0;
    for (const char *at = out; (at = strstr(at, words)); at++) n++;
    return n;
}

static int there(const char *name)
{
    char path[200];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", home, name);
    return stat(path, &st) == 0;
}

/* The number behind `key` after the place of `from`. */
static double number(const char *from, const char *key)
{
    const char *at = strstr(out, from);
    if (at) at = strstr(at, key);
    if (!at) fail_msg("\"%s\" and then \"%s\" are not in:\n%s", from, key, out);
    return strtod(at + strlen(key), NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nothing_temporary_is_left(void)
{
    char command[256];
    snprintf(command, sizeof command, "rmdir %s/tmp && mkdir %s/tmp", home, home);
    assert_int_equal(system(command), 0);
}

static void write_lines(const char *name, int lines, int lengths)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < lines; i++) {
        fputs("{\"tokens\":[\"a\"", f);
        for (int k = 0; k <= i % lengths; k++) fprintf(f, ",\"%c\"", 'b' + (i / lengths + k) % 20);
        fputs("]}\n", f);
    }
    fclose(f);
}

static int make_home(void **state)
{
    (void)state;
    char path[100];
    snprintf(home, sizeof home, "/tmp/lengthen-try-XXXXXX");
    if (!mkdtemp(home)) return -1;
    snprintf(path, sizeof path, "%s/tmp", home);
    if (mkdir(path, 0777)) return -1;
    write_lines("few.jsonl", 20, 5);
    write_lines("one.jsonl", 80, 1);
    write_lines("same.jsonl", 80, 2);
    write_lines("bad.jsonl", 60, 4);
    snprintf(path, sizeof path, "%s/bad.jsonl", home);
    FILE *f = fopen(path, "a");
    if (!f) return -1;
    fputs("{\"tokens\":[\"a\"]\n", f);
    return fclose(f);
}

static int remove_home(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

static void a_task_to_advice(void **state)
{
    (void)state;
    double minutes = SLOW ? 0.1 : 0.35, since = now();
    char arguments[100];
    snprintf(arguments, sizeof arguments,
             "try parity-scratchpad --minutes %g --length 10 --seed 3 --json", minutes);
    assert_int_equal(run("", arguments, "2>/dev/null"), 0);
    double spent = now() - since;
    /* every scheme, at the training length, or named as one that is not compared */
    assert_int_equal(count("\"length\":10,") + count("\"too few steps\"") + count("\"no time\""),
                     5);
    if (!count("\"too few steps\"") && !count("\"no time\""))
        prints("{\"scheme\":\"plain RoPE\",\"source\":\"plain\",\"length_min\":10,\"length\":10,"
               "\"tokens\":22.0,\"samples\":");
    prints("{\"advice\":\"");
    prints("\"trained\":[1,10]");
    prints("\"sparsity\":{\"text\":");
    nothing_temporary_is_left();
    if (SLOW) return;
    print_message("%.1f s of %.1f\n", spent, 60 * minutes);
    assert_true(spent < 2 * 60 * minutes);
    static const char window[] = "{\"scheme\":\"coupled + window\",\"source\":\"predicted\"";
    double steps = number(window, "\"steps\":");
    const char *at = strstr(out, window);
    int learned =
        at && strstr(at, "\"learned\":true"); /* training ends when it has, maybe before */
    if (steps < ENOUGH_STEPS && !learned) { /* the time is what it is; the machine has other work */
        print_message("only %.0f steps in the time: the scores are not checked\n", steps);
        return;
    }
    assert_true(number(window, "\"length\":100,") >= 0 && number(window, "\"exact\":") >= 0.99);
    assert_true(number("\"predicted\",\"length_min\":100", "\"exact\":") >= 0.95);
    prints("\"best\":\"coupled + window\"");
    prints("Use coupled + window");
    double k = number("\"whole\":{", "\"k_median\":");
    assert_true(k >= 1 && k <= 4);
    prints("does not grow");
    prints("\"conclusive\":true");
    prints("  ids: coupled\\n");
    prints("  source: delta\\n");
    prints("\"certifiable\":true");
    prints("can be certified, which says whether it is right at every length");
}

/* The lines of a file in the test's folder. */
static int read_lines(const char *name, char **line, int most)
{
    char path[200], *text = NULL;
    size_t room = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s is not there", path);
    while (n < most && getline(&text, &room, f) > 0) line[n++] = strdup(text);
    free(text);
    fclose(f);
    return n;
}

static int length_of(const char *line)
{
    const char *at = strstr(line, "\"length\":");
    assert_non_null(at);
    return atoi(at + 9);
}

static void own_data_is_split_by_length(void **state)
{
    (void)state;
    enum { LINES = 900 };
    static char *all[LINES + 1], *train[LINES + 1], *test[LINES + 1], *word[100];
    assert_int_equal(run("", "sample copy --length 1..20 --count 900 --json", "> copy.jsonl"), 0);
    assert_int_equal(run("", "try copy.jsonl --minutes 0.08 --out o --json", "2>/dev/null"), 0);
    int n = read_lines("copy.jsonl", all, LINES + 1), held = 0, cut = 0;
    int trained = read_lines("o/train.jsonl", train, LINES + 1);
    int tested = read_lines("o/test.jsonl", test, LINES + 1);
    assert_int_equal(n, LINES);
    assert_int_equal(trained + tested, n); /* none is lost */
    for (int i = 0; i < trained; i++) {
        int length = length_of(train[i]);
        cut = length > cut ? length : cut;
        for (int k = 0; k < tested; k++)
            if (strcmp(train[i], test[k]) == 0) fail_msg("trained and tested: %s", train[i]);
    }
    for (int k = 0; k < tested; k++) held += length_of(test[k]) <= cut;
    assert_true(cut >= 9 && cut <= 11);
    assert_true(trained > n / 3);
    assert_true(held >= 20 && held <= n / 10);
    assert_int_equal(number("\"lines\":", "\"trained\":"), trained);
    assert_int_equal(number("\"lines\":", "\"held_out\":"), held);
    assert_int_equal(number("\"lines\":", "\"longer\":"), tested - held);
    assert_int_equal(read_lines("o/vocab.txt", word, 100), 28);
    prints("{\"scheme\":\"coupled + window\",\"source\":\"predicted\",");
    assert_true(there("o/coupled-window/config.yaml") && there("o/lengthen.db"));

    /* the same command goes on, with the table */
    assert_int_equal(run("", "try copy.jsonl --minutes 0.03 --out o", "2>/dev/null"), 0);
    char words[200];
    snprintf(words, sizeof words,
             "copy.jsonl: trained on %d lines of length 1 to %d; tested on %d held-out lines",
             trained, cut, held);
    prints(words);
    prints("coupled + window");
    prints("learned?");
    for (int i = 0; i < n; i++) free(all[i]);
    for (int i = 0; i < trained; i++) free(train[i]);
    for (int i = 0; i < tested; i++) free(test[i]);
    for (int i = 0; i < 28; i++) free(word[i]);
}

/* Sentences are folded between words. */
static void unfold(void)
{
    for (char *at = out; (at = strchr(at, '\n'));) *at = ' ';
}

/* Without IDs there is nothing to couple, and the advice says so. */
static void data_without_ids(void **state)
{
    (void)state;
    write_lines("plain.jsonl", 400, 12);
    assert_int_equal(run("", "try plain.jsonl --minutes 0.02 --csv", "2>/dev/null"), 0);
    prints("scheme,source,length_min,length,tokens,samples,exact,low,high,learned,steps,seconds,"
           "verdict,seed\n");
    prints("\nwindow,plain,");
    assert_null(strstr(out, "coupled"));
    assert_int_equal(run("", "try plain.jsonl --minutes 0.02", "2>/dev/null"), 0);
    unfold();
    prints("Your data has no ids");
    prints("lengthen tasks jsonl");
    nothing_temporary_is_left();
}

/* Schemes and seeds as they are asked for, each with its own run. */
static void schemes_and_seeds_are_chosen(void **state)
{
    (void)state;
    assert_int_equal(run("",
                         "try plain.jsonl --minutes 0.1 --out s --json --seeds 2 --seed 5 "
                         "--schemes nope,t5,fire,randomized",
                         "2>/dev/null"),
                     0);
    static const char *const names[] = {"NoPE", "T5 bias", "FIRE", "randomized + RoPE"};
    for (int i = 0; i < 4; i++) {
        char words[80];
        snprintf(words, sizeof words, "{\"scheme\":\"%s\",\"source\":\"plain\",", names[i]);
        assert_true(count(words) >= 2);
    }
    assert_true(count("\"seed\":5}") >= 4 && count("\"seed\":6}") >= 4);
    assert_null(strstr(out, "RoPE\",\"source\":\"plain\",\"samples\":0,\"learned\":true"));
    assert_true(there("s/nope/config.yaml") && there("s/nope-6/config.yaml"));
    assert_false(there("s/rope"));
    assert_int_equal(run("", "try plain.jsonl --minutes 0.05 --seeds 2 --schemes nope,t5", "2>&1"),
                     0);
    prints("[3/4] NoPE, seed 2: ");
    prints("median and range of the seeds");
}

static void interrupted_it_says_what_there_is(void **state)
{
    (void)state;
    static const char *const signals[] = {"INT", "TERM", "HUP"};
    static const char *const codes[] = {"code 130", "code 143", "code 129"};
    for (int i = 0; i < 3; i++) {
        char before[60];
        double since = now();
        /* timeout sends the signal twice, to the process and to its group */
        snprintf(before, sizeof before, "timeout --preserve-status -s %s 1", signals[i]);
        run(before, "try copy --minutes 2 --length 3", "2>/dev/null; echo code $?");
        prints("Stopped before the end");
        prints("plain RoPE");
        prints(codes[i]);
        assert_true(now() - since < 60);
        nothing_temporary_is_left();
    }
}

/* Whatever the length, the time is kept: by a refusal that says what would do, or by naming those that
 * could not be trained. */
static void the_time_is_kept(void **state)
{
    (void)state;
    double since = now();
    assert_int_equal(run("timeout 60", "try copy --length 100000 --minutes 0.2", "2>&1"), 2);
    prints("0.2 minutes are too short for training up to length 100000");
    prints("take --minutes ");
    prints(", or --length ");
    assert_true(now() - since < 60);
    nothing_temporary_is_left();
    since = now();
    assert_int_equal(run("timeout 60", "try addition --length 300 --minutes 0.01 --json", "2>&1"),
                     0);
    assert_true(now() - since < 30);
    int few = count("\"verdict\":\"too few steps\"");
    if (!few) { /* 50 steps of thousands of tokens in a tenth of a second */
        print_message("this machine is too fast for this test\n");
        return;
    }
    assert_int_equal(count("\"scheme\":"), 5); /* none of these has a cell */
    assert_int_equal(count("\"samples\":0,\"learned\":false"), 5);
    prints("made fewer than 50 steps, too few to say anything");
    prints("\"best\":null");
    assert_int_equal(run("timeout 60", "try addition --length 300 --minutes 0.01", "2>/dev/null"),
                     0);
    prints("  too few steps: fewer than the 50 of the warm-up");
    assert_null(strstr(out, "Use "));
}

static void wrong_uses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"", "which task?"},
        {"copy copy", "one task at a time"},
        {"copi", "did you mean \"copy\""},
        {"none.jsonl", "cannot be read"},
        {"few.jsonl", "has 20 lines"},
        {"one.jsonl", "nothing longer to test"},
        {"same.jsonl", "none can be held out"},
        {"bad.jsonl", "bad.jsonl:61"},
        {"exec:ls", "into a file"},
        {"text:few.jsonl", "a text has no right answers"},
        {"copy --minutes 0", "--minutes is \"0\""},
        {"copy --minutes soon", "--minutes is \"soon\""},
        {"copy --length 0", "--length is \"0\""},
        {"copy --length 1.5", "--length is \"1.5\""},
        {"copy --set task.hints=5 --length 5", "set --length"},
        {"copy.jsonl --length 20", "lengths 1..20"},
        {"copy --seed -1", "--seed is \"-1\""},
        {"copy --set kind=unique", "task.KEY=VALUE"},
        {"copy --set train.lr=1", "task.KEY=VALUE"},
        {"copy --set task.kind=odd", "random|unique"},
        {"copy --set task.kin=unique", "kin"},
        {"copy --plot figure.gif", ".svg, .png or .pdf"},
        {"copy --out few.jsonl", "no folder"},
        {"copy --out few.jsonl/x", "few.jsonl"},
        {"copy.jsonl --out o --seed 2", "another try"},
        {"copy --schemes rope,nop", "did you mean \"nope\"?"},
        {"copy --schemes rope,rope", "rope twice"},
        {"copy --schemes ,", "there are rope, pose"},
        {"plain.jsonl --schemes coupled-window", "needs labels"},
        {"copy --seeds 0", "--seeds is \"0\""},
        {"copy --seeds 11", "--seeds is \"11\""},
        {"notes.txt", "task: {name: text, text: notes.txt}"},
        {"copy --out o", "another try"},
        {"copy --json --csv", "not both"},
        {"copy --no-such", "--no-such"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "try %s", wrong[i].arguments);
        int code = run("", arguments, "2>&1 >/dev/null");
        if (code != 2) fail_msg("%s: exit code %d\n%s", arguments, code, out);
        if (!strstr(out, wrong[i].words))
            fail_msg("%s: \"%s\" is not in:\n%s", arguments, wrong[i].words, out);
    }
    nothing_temporary_is_left();
}

/* Texts so long that few predictions are looked at, and an answer that is always the same. */
static void few_predictions_conclude_nothing(void **state)
{
    (void)state;
    char path[100];
    unsigned state_of = 1; /* of random letters */
    snprintf(path, sizeof path, "%s/long.jsonl", home);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 200; i++) {
        int n = 170 + i % 20;
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < n; k++) {
            state_of = state_of * 1103515245u + 12345u;
            fprintf(f, "\"%c\",", 'a' + (int)(state_of >> 16) % 3);
        }
        fputs("\"x\"],\"loss\":[", f);
        for (int k = 0; k < n; k++) fputs("0,", f);
        fputs("1]}\n", f);
    }
    fclose(f);
    assert_int_equal(run("", "try long.jsonl --minutes 0.15 --json", "2>/dev/null"), 0);
    prints("\"conclusive\":false");
    if (strstr(out, "cannot be told")) { /* the time is what it is */
        print_message("nothing was learned in the time: the sentence is not checked\n");
        return;
    }
    prints(
        "predictions depends on an earlier token beside the current one, but these are too few to "
        "conclude from: 100 are needed at each length looked at.");
    prints("lengthen probe");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_predictions_conclude_nothing),
        cmocka_unit_test(a_task_to_advice),
        cmocka_unit_test(own_data_is_split_by_length),
        cmocka_unit_test(data_without_ids),
        cmocka_unit_test(schemes_and_seeds_are_chosen),
        cmocka_unit_test(interrupted_it_says_what_there_is),
        cmocka_unit_test(the_time_is_kept),
        cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
