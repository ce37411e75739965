/* test_cli_store.c: `lengthen runs` as a user meets it: a store with two real runs and many made-up
 * ones is listed, shown, compared and deleted from, on a pipe and on a terminal; and the manual
 * page. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runs/store.h"
#include "lengthen_lab.h"

static char out[1 << 18], home[64];

/* Runs `lengthen ...` in the test's own folder, without a terminal; its exit code. */
static int run(const char *what, const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && '%s' %s %s </dev/null", home, LG_PROGRAM, arguments,
             what);
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

static void prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static void prints_not(const char *words)
{
    if (strstr(out, words)) fail_msg("\"%s\" is in:\n%s", words, out);
}

static int count(const char *words)
{
    int n = 0;
    for (const char *at = out; (at = strstr(at, words)); at++) n++;
    return n;
}

/* The line that has these words, without its end. */
static const char *line_with(const char *words)
{
    static char line[1000];
    const char *at = strstr(out, words), *from = at;
    if (!at) fail_msg("\"%s\" is not in:\n%s", words, out);
    while (from > out && from[-1] != '\n') from--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(from, "\n"), from);
    return line;
}

static int there(const char *name)
{
    char path[200];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", home, name);
    return stat(path, &st) == 0;
}

/* The same on a terminal of 80 columns on which `typed` is typed once it asks. */
static int run_on_terminal(const char *typed, int argc, const char *const *words)
{
    const char *argv[12] = {LG_PROGRAM};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), status;
    if (terminal < 0) {
        print_message("no terminals can be made here (is /dev/pts there?): skipped\n");
        skip();
    }
    assert_true(argc < 11 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    ioctl(terminal, TIOCSWINSZ, &size);
    for (int i = 0; i < argc; i++) argv[i + 1] = words[i];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* not its controlling one: that is hung up at its end, and what is unread is lost */
        int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        if (side < 0 || chdir(home)) _exit(99);
        for (int i = 0; i < 3; i++) dup2(side, i);
        execv(LG_PROGRAM, (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    size_t used = 0;
    for (ssize_t n;
         used < sizeof out - 1 && (n = read(terminal, out + used, sizeof out - 1 - used)) > 0;) {
        used += (size_t)n;
        out[used] = 0;
        if (typed && strstr(out, "[y/N]")) {
            assert_true(write(terminal, typed, strlen(typed)) > 0);
            typed = NULL;
        }
    }
    out[used] = 0;
    close(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- The store -------------------------------------------------------------------------- */

static char real_store[100];

static int put(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fputs(text, f);
    return fclose(f);
}

/* A run of 20 steps, evaluated every 10 and at the end. */
static int train(const char *folder, const char *set)
{
    char config[100], path[100];
    const char *sets[] = {set};
    lg_error err = {0};
    int done;
    snprintf(config, sizeof config, "%s/small.yaml", home);
    snprintf(path, sizeof path, "%s/%s", home, folder);
    lg_run_options o = {.config = config,
                        .sets = sets,
                        .set_count = set != NULL,
                        .folder = path,
                        .store = real_store,
                        .threads = 1};
    lg_eval_options e = {.folder = path, .store = real_store, .predicted = -1, .threads = 1};
    int code = lg_run_train(&o, &done, &err);
    if (!code) code = lg_run_eval(&e, NULL, &err);
    if (code) fprintf(stderr, "%s\n", err.text);
    return code;
}

static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/lengthen-cli-store-XXXXXX");
    if (!mkdtemp(home)) return -1;
    snprintf(real_store, sizeof real_store, "%s/lengthen.db", home);
    unsetenv("LENGTHEN_STORE");
    unsetenv("COLUMNS");
    setenv("LC_ALL", "C.UTF-8", 1);
    if (put("small.yaml",
            "seed: 1\n"
            "task: {name: copy, kind: unique}\n"
            "positions: {ids: coupled, source: delta, encoding: relative, span: window}\n"
            "model: {width: 16, heads: 2, sink: yes}\n"
            "train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"
            "eval: {lengths: [3, 5, 9], samples: 4, every: 10}\n"))
        return -1;
    return train("runs/first", NULL) || train("runs/second", "train.lr=0.01");
}

static int remove_home(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

/* Made-up runs in a store of their own; every third failed, with the task of its turn. */
static void make_up(const char *name, int runs)
{
    static const char *const tasks[] = {"addition", "copy", "parity"};
    char path[200], id[20], folder[100];
    lg_error err = {0};
    snprintf(path, sizeof path, "%s/%s", home, name);
    lg_store *s = lg_store_open(path, 1, &err);
    if (!s) fail_msg("%s", err.text);
    for (int i = 1; i <= runs; i++) {
        int64_t number;
        snprintf(id, sizeof id, "%016x", 0x10000 * i);
        snprintf(folder, sizeof folder, "/no/such/run-%d", i);
        lg_store_run r = {.id = id,
                          .folder = folder,
                          .state = "stopped",
                          .task = tasks[i % 3],
                          .positions = "coupled, delta, relative, window",
                          .unit = "digits",
                          .config = "seed: 1\n",
                          .seed = i,
                          .steps = 100,
                          .length = 20};
        assert_int_equal(lg__store_register(s, &r, 0, &number, &err), 0);
        if (i % 3 == 0)
            assert_int_equal(lg__store_state(s, number, "failed", "the \"disk\"", &err), 0);
    }
    lg_store_close(s);
}

/* ---- Listing ---------------------------------------------------------------------------- */

static void without_runs_the_way_to_one_is_shown(void **state)
{
    (void)state;
    assert_int_equal(run(STDERR, "runs --store none.db"), 2);
    prints("there is no store none.db; train a run first");
    assert_false(there("none.db"));
    assert_int_equal(run(STDERR, "runs show 1 --store none.db"), 2);
    make_up("empty.db", 0);
    assert_int_equal(run(BOTH, "runs --store empty.db"), 0);
    prints("empty.db has no runs yet");
    prints("lengthen train");
    assert_int_equal(run(BOTH, "runs list --store empty.db --json"), 0);
    assert_string_equal(out, "");
    assert_int_equal(run(STDERR, "runs show 1 --store empty.db"), 2);
    prints("is no run");
}

static void the_list(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "runs"), 0);
    assert_int_equal(count("\n"), 3);
    assert_true(strstr(out, "second") < strstr(out, "first")); /* the newest first */
    const char *line = line_with("first");
    static const char *const words[] = {"  1  first", "copy",   "coupled, delta, relative, window",
                                        "20/20",      "done",   "5 letters",
                                        "% → ",       "% at 9", " s ago"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(line, words[i])) fail_msg("\"%s\" is not in: %s", words[i], line);
    assert_int_equal(run(STDOUT, "runs list --json"), 0);
    assert_int_equal(count("\n"), 2);
    assert_int_equal(count("\"at_longest\":{\"setting\":\"\",\"length\":9,\"unit\":\"letters\","
                           "\"sparsity\":0,\"source\":\"predicted\",\"samples\":4,\"exact\":"),
                     2);
    assert_int_equal(count("\"at_trained\":{\"setting\":\"\",\"length\":5,"), 2);
    setenv("LC_ALL", "C", 1);
    assert_int_equal(run(STDOUT, "runs"), 0);
    setenv("LC_ALL", "C.UTF-8", 1);
    prints("% -> ");
    for (const char *s = out; *s; s++) assert_true((unsigned char)*s < 128);
    char store[200];
    snprintf(store, sizeof store, "%s/lengthen.db", home);
    setenv("LENGTHEN_STORE", store, 1);
    char elsewhere[4096];
    snprintf(elsewhere, sizeof elsewhere, "runs %s && cd / && '%s' runs", STDOUT, LG_PROGRAM);
    assert_int_equal(run(STDOUT, elsewhere), 0);
    unsetenv("LENGTHEN_STORE");
    assert_int_equal(count("second"), 2);
}

static void the_list_can_be_narrowed(void **state)
{
    (void)state;
    make_up("many.db", 50);
    assert_int_equal(run(STDOUT, "runs --store many.db"), 0);
    assert_int_equal(count("\n"), 51); /* all on a pipe */
    assert_int_equal(run(STDOUT, "runs --store many.db --last 3"), 0);
    prints("run-50");
    prints("run-48");
    prints_not("run-47");
    prints("47 more; --last 50 shows all.");
    assert_int_equal(run(STDOUT, "runs --store many.db --task copy"), 0);
    assert_int_equal(count("copy"), 17);
    prints_not("addition");
    assert_int_equal(run(STDOUT, "runs --store many.db --state failed --task addition --json"), 0);
    assert_int_equal(count("\n"), 16);
    assert_int_equal(count("\"error\":\"the \\\"disk\\\"\""), 16);
    assert_int_equal(run(STDOUT, "runs --store many.db --state failed --task copy"), 0);
    prints("None of the 50 runs in the store many.db is of the task copy in the state failed");
}

static void on_a_terminal_the_list_fits(void **state)
{
    (void)state;
    static const char *const words[] = {"runs", "--store", "many.db"};
    assert_int_equal(run_on_terminal(NULL, 3, words), 0);
    prints("run-11");
    prints_not("run-10 ");
    prints("10 more; --last 50 shows all.");
    prints("..");
    for (const char *s = out; *s; s += strcspn(s, "\n") + 1)
        if (strcspn(s, "\r\n") > 80) fail_msg("a line is too long:\n%s", out);
}

/* ---- Showing ---------------------------------------------------------------------------- */

static void one_run_is_shown(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "runs show first"), 0);
    prints("Run 1, first\n");
    prints("state       done, step 20 of 20");
    prints("trained up to length 5 (letters)");
    prints("/runs/first\n");
    prints("machine     lengthen ");
    /* only what is not the default */
    prints("  task.name: copy\n");
    prints("  task.kind: unique\n");
    prints("  train.steps: 20\n");
    prints("  positions.span: window\n");
    prints_not("task.alphabet");
    prints_not("train.lr");
    prints_not("positions.rope.base");
    prints_not("beta1");
    prints("Loss, step 1 to 20");
    prints("█");
    prints("▁");
    prints("95% interval");
    assert_true(count("predicted") >= 3);
    prints("On the way: exact answers by step, at length, with predicted IDs");
    assert_non_null(strstr(line_with("  step  "), "  9"));
    prints("\n    10  ");
    prints("\n    20  ");
    for (const char *s = out; *s; s += strcspn(s, "\n") + 1)
        if (strcspn(s, "\n") && s[strcspn(s, "\n") - 1] == ' ')
            fail_msg("blanks at an end:\n%s", s);
    setenv("LC_ALL", "C", 1);
    assert_int_equal(run(STDOUT, "runs show first"), 0);
    setenv("LC_ALL", "C.UTF-8", 1);
    prints("#");
    for (const char *s = out; *s; s++) assert_true((unsigned char)*s < 128);
    assert_int_equal(run(STDOUT, "runs show 1 --store many.db"), 0);
    prints("No step is in the store yet.");
    prints("Not evaluated yet: lengthen eval /no/such/run-1");
    assert_int_equal(run(STDOUT, "runs show 3 --store many.db"), 0);
    prints("error       the \"disk\"");
}

static void one_run_for_machines(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "runs show runs/first --json"), 0);
    assert_int_equal(count("\n"), 1 + 2 * 3 * 2); /* the run; two steps, three lengths, two IDs */
    prints("{\"run\":1,\"id\":\"");
    prints("\"task.name\":\"copy\"");
    prints("\"train.length\":[1, 5],"); /* values, not texts of them */
    prints("\"seed\":1,");
    prints("\"train.init_from\":\"\",");
    prints("\"loss_last\":");
    prints("{\"step\":20,\"setting\":\"\",\"length\":9,");
    assert_int_equal(run(STDOUT, "runs show first --steps"), 0);
    assert_int_equal(count("\n"), 21);
    assert_int_equal(run(STDOUT, "runs show first --steps --csv"), 0);
    assert_int_equal(count("\n"), 21);
    assert_ptr_equal(strstr(out, "step,loss,"), out);
    assert_int_equal(run(STDOUT, "runs show first --steps --json"), 0);
    assert_int_equal(count("\n"), 20);
    assert_int_equal(count("{\"step\":"), 20);
}

/* ---- Comparing -------------------------------------------------------------------------- */

static void runs_are_compared(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "runs compare first second"), 0);
    prints("1, first");
    prints("2, second");
    const char *line = line_with("train.lr ");
    assert_non_null(strstr(line, "0.001"));
    assert_non_null(strstr(line, "0.01"));
    prints_not("train.steps");
    prints_not("seed");
    assert_non_null(strstr(line_with("exact answers at length 9"), " - "));
    prints("last loss");
    prints("right in training");
    assert_int_equal(run(STDOUT, "runs compare 1 2 --json"), 0);
    prints("{\"runs\":[1,2],\"names\":[\"first\",\"second\"]}\n");
    prints("{\"key\":\"train.lr\",\"values\":[\"0.001\",\"0.01\"]}\n");
    assert_int_equal(count("{\"key\":"), 1);
    assert_int_equal(count(",\"kind\":\"exact\",\"cells\":[{\"step\":20,"), 3);
    assert_int_equal(count("{\"final\":[{\"step\":20,\"loss\":"), 1);
    assert_int_equal(run(STDOUT, "runs compare 1 2 --measure token_accuracy,first_error_min"), 0);
    prints("right tokens at length 9 ");
    prints("earliest error at length 9 ");
    prints_not("exact answers at");
    assert_int_equal(run(STDOUT, "runs compare 1 2 3 --store many.db"), 0);
    prints("(the same config)");
    prints("3, run-3");
    assert_int_equal(run(STDERR, "runs compare 1 first"), 2);
    prints("are the same run");
}

/* ---- Deleting --------------------------------------------------------------------------- */

static void nothing_is_deleted_by_mistake(void **state)
{
    (void)state;
    assert_int_equal(run(STDERR, "runs delete first"), 2); /* nobody to ask */
    prints("run 1, first: 20 steps, 12 cells; config and checkpoints in ");
    prints("add --yes");
    assert_int_equal(run(STDERR, "runs delete first nobody --yes"), 2);
    prints("\"nobody\" is no run");
    static const char *const words[] = {"runs", "delete", "first", "2"};
    assert_int_equal(run_on_terminal("n\n", 4, words), 0);
    prints("Delete 2 runs? [y/N] ");
    prints("Nothing was deleted.");
    assert_int_equal(run_on_terminal("\n", 4, words), 0);
    assert_int_equal(run(STDOUT, "runs --json"), 0);
    assert_int_equal(count("\n"), 2);
    assert_true(there("runs/first/config.yaml") && there("runs/second/checkpoint"));
}

static void runs_are_deleted(void **state)
{
    (void)state;
    static const char *const words[] = {"runs", "delete", "1"};
    assert_int_equal(run_on_terminal("y\n", 3, words), 0);
    prints("Delete 1 run? [y/N] ");
    prints("Deleted 1 run.");
    assert_false(there("runs/first"));
    assert_true(there("runs/second/config.yaml"));
    assert_int_equal(put("runs/second/notes.txt", "mine"), 0);
    assert_int_equal(run(STDOUT, "runs delete second 2 runs/second --yes --json"), 0);
    assert_int_equal(count("\n"), 1); /* one run by three names */
    prints("\"deleted\":true}");
    assert_false(there("runs/second/checkpoint"));
    assert_true(there("runs/second/notes.txt"));
    assert_int_equal(run(STDOUT, "runs"), 0);
    prints("no runs yet");
}

/* A run is "training" while a process holds its folder. */
static void a_run_that_trains_stays(void **state)
{
    (void)state;
    char folder[100];
    lg_error err = {0};
    int64_t number;
    snprintf(folder, sizeof folder, "%s/held", home);
    assert_int_equal(mkdir(folder, 0700), 0);
    lg_store *s = lg_store_open(real_store, 1, &err);
    assert_non_null(s);
    lg_store_run r = {.id = "abcd000000000001",
                      .folder = folder,
                      .state = "training",
                      .task = "copy",
                      .positions = "plain, rope",
                      .unit = "symbols",
                      .config = "seed: 1\n"};
    assert_int_equal(lg__store_register(s, &r, 0, &number, &err), 0);
    assert_int_equal(lg__store_state(s, number, "training", NULL, &err), 0);
    lg_store_close(s);
    char arguments[400]; /* the shell that runs the program holds the lock */
    snprintf(arguments, sizeof arguments, "--version && flock %s '%s' runs delete held --yes",
             folder, LG_PROGRAM);
    if (run(BOTH, "--version && command -v flock") != 0) skip();
    assert_int_equal(run(BOTH, arguments), 2);
    prints("is being trained");
    prints("stop that process first");
    assert_int_equal(run(BOTH, "runs --state stopped"), 0);
    prints("held");
    assert_int_equal(run(BOTH, "runs delete held --yes"), 0);
}

/* ---- Wrong uses ------------------------------------------------------------------------- */

static void wrong_uses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"runs lits", "did you mean `runs list`?"},
        {"runs comapre 1 2", "did you mean `runs compare`?"},
        {"runs xyzzyxyzzyxyzzy", "take list, show, compare, watch, delete or merge"},
        {"runs list first", "did you mean `runs show first`?"},
        {"runs show", "which run?"},
        {"runs show 1 2", "one run at a time"},
        {"runs compare 1", "two or more"},
        {"runs delete", "which run?"},
        {"runs --last 0", "--last is \"0\""},
        {"runs --last many", "--last is \"many\""},
        {"runs --state doen", "did you mean \"done\"?"},
        {"runs --state 7", "training, stopped, done or failed"},
        {"runs --no-such", "--no-such"},
        {"runs --store", "--store"},
        {"runs --steps", "--steps goes with `runs show`"},
        {"runs show 1 --yes", "--yes goes with `runs delete`"},
        {"runs show 1 --last 3", "--last goes with `runs list`"},
        {"runs show 1 --csv", "--csv goes with --steps"},
        {"runs show 1 --steps --csv --json", "not both"},
        {"runs show nobody", "\"nobody\" is no run"},
        {"runs --store small.yaml", "is no store"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = run(STDERR, wrong[i].arguments);
        if (code != 2 && strcmp(wrong[i].words, "is no store") != 0)
            fail_msg("%s: exit code %d\n%s", wrong[i].arguments, code, out);
        if (!strstr(out, wrong[i].words))
            fail_msg("%s: \"%s\" is not in:\n%s", wrong[i].arguments, wrong[i].words, out);
        assert_true(run(STDOUT, wrong[i].arguments) != 0);
        assert_string_equal(out, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_runs_the_way_to_one_is_shown),
        cmocka_unit_test(the_list),
        cmocka_unit_test(the_list_can_be_narrowed),
        cmocka_unit_test(on_a_terminal_the_list_fits),
        cmocka_unit_test(one_run_is_shown),
        cmocka_unit_test(one_run_for_machines),
        cmocka_unit_test(runs_are_compared),
        cmocka_unit_test(wrong_uses),
        cmocka_unit_test(nothing_is_deleted_by_mistake),
        cmocka_unit_test(runs_are_deleted),
        cmocka_unit_test(a_run_that_trains_stays),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
