/* test_cli_reproduce.c: `lengthen reproduce` as a user meets it: the list, exit codes, killed at any
 * instant and started again it ends with the same bytes. */
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "cli/running.h"
#include "lengthen_lab.h"

/* `lengthen ...`; its exit code. */
static int run(const char *what, const char *arguments) { return run_program("", arguments, what); }

static void ends_with(int wanted, const char *arguments)
{
    int code = run("2>&1", arguments);
    if (code != wanted) fail_msg("%s: %d, not %d:\n%s", arguments, code, wanted, out);
}

#define SMALL                                                                                      \
    "config:\n"                                                                                    \
    "  task: {name: copy}\n"                                                                       \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5], checkpoint_every: 7}\n"             \
    "  eval: {lengths: [3, 5], samples: 4}\n"                                                      \
    "vary:\n"                                                                                      \
    "  method: {plain: {}, coupled: {positions.ids: coupled}}\n"                                   \
    "  seed: [1, 2]\n"                                                                             \
    "scales: {smoke: {set: {train.steps: 5}, vary: {seed: [1]}}}\n"

static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/lengthen-cli-XXXXXX");
    if (!mkdtemp(home) || mkdir(in_home("experiments"), 0777)) return -1;
    return write_file("experiments/first.yaml",
                      "experiment:\n"
                      "  question: Does it copy?\n"
                      "  expected: \"not in 20 steps.\"\n"
                      "  words: \"reconstructed: all\"\n"
                      "  budget: 2\n"
                      "  figures: [{file: first.svg, title: Copying, lines: method}]\n"
                      "  checks: [{least: {method: plain, length: 3}, is: 0}]\n" SMALL) ||
           write_file("experiments/second.yaml",
                      "experiment:\n"
                      "  question: Is more than all right?\n"
                      "  expected: \"no.\"\n"
                      "  words: \"reconstructed: all\"\n"
                      "  budget: 5\n"
                      "  checks: [{more: {method: plain}, than: {method: plain}}]\n" SMALL) ||
           write_file("experiments/sweep.yaml", SMALL) ||
           write_file("experiments/plain.yaml", "task: {name: copy}\n");
}

/* ---- Use ----------------------------------------------------------------------------------- */

static void from_the_list_to_the_results(void **state)
{
    (void)state;
    ends_with(0, "reproduce --list");
    prints("first          4     0   2 min  0.00 h  2 min  Does it copy?");
    prints("2 experiments: budgets 7 min (0.1 h), spent 0.00 h, about 7 min left");
    assert_int_equal(count("plain"), 0);
    assert_false(there("results") || there("runs"));
    ends_with(0, "reproduce first --jobs 2");
    prints("4 runs; they go into runs/reproduce/desk");
    prints("run 4 of 4 is done: method=coupled,seed=2");
    prints("  holds          at least 0 in {method: plain, length: 3}: 0.000 at least in 1 cell");
    prints("4 of 4 runs done");
    assert_true(there("results/first/measurements.csv") && there("results/first/run.json"));
    if (system("command -v gnuplot >/dev/null") == 0) assert_true(there("results/first/first.svg"));
    ends_with(0, "reproduce first");
    assert_int_equal(count("begins"), 0);
    ends_with(0, "reproduce --list --json");
    prints("{\"experiment\":\"first\",\"question\":\"Does it copy?\",\"expected\":\"not in 20 "
           "steps.\"");
    prints("\"runs\":4,\"done\":4,\"budget_minutes\":2.00,");
    prints("\"minutes_left\":0.00}");
    /* without gnuplot it goes on */
    ends_with(0, "reproduce first --results results >/dev/null && PATH=/nowhere '" LG_PROGRAM
                 "' reproduce first");
    prints("not drawn      results/first/first.svg: ");
    prints("holds");
}

static void a_check_that_does_not_hold(void **state)
{
    (void)state;
    ends_with(3, "reproduce all --scale smoke --out out --json");
    prints("{\"experiment\":\"first\",\"check\":\"at least 0 in {method: plain, length: 3}\"");
    prints("{\"experiment\":\"second\",\"check\":\"more {method: plain} than {method: plain}\"");
    prints("= 0.000\",\"value\":0,\"holds\":false}");
    prints("{\"experiment\":\"second\",\"scale\":\"smoke\",\"runs\":2,\"done\":2,\"failed\":0,"
           "\"left\":0,\"held\":0,\"broken\":1,\"empty\":0}");
    assert_true(there("out/second/measurements.csv") && there("out/lengthen.db"));
    assert_false(there("results/second"));
    ends_with(3, "reproduce second --scale smoke --out out");
    prints("DOES NOT HOLD");
    /* the file has other settings than the runs in the folder: refused, and nothing was "stopped" */
    ends_with(2, "--version && rm out/second/measurements.csv && sed -i 's/steps: 5/steps: 6/' "
                 "experiments/second.yaml && '" LG_PROGRAM
                 "' reproduce second --scale smoke --out out --results new");
    prints("is a run of another config");
    assert_int_equal(count("Stopped"), 0);
    ends_with(3,
              "--version && sed -i 's/steps: 6/steps: 5/' experiments/second.yaml && '" LG_PROGRAM
              "' reproduce second --scale smoke --out out");
    /* one of its runs alone, elsewhere: the same rows */
    run("2>&1", "reproduce second --scale smoke --only method=coupled,seed=1 --out again");
    prints("1 of 2 runs done");
    ends_with(0, "--version && grep coupled out/second/measurements.csv >a.csv; "
                 "grep coupled again/second/measurements.csv | cmp - a.csv");
}

static void wrong_uses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"", "which experiment?"},
        {"none", "there is no experiment none"},
        {"plain", "is the config of one run, nothing varies in it"},
        {"sweep", "\"experiment\" is missing"},
        {"experiments/first.yaml", "is a file"},
        {"first second", "one experiment at a time"},
        {"first --scale huge", "no scale \"huge\""},
        {"all --scale huge", "no scale \"huge\""},
        {"first --scale a/b", "--scale is \"a/b\""},
        {"first --minutes soon", "--minutes is \"soon\""},
        {"first --minutes 0", "--minutes is \"0\""},
        {"first --jobs 0", "--jobs is \"0\""},
        {"first --threads x", "--threads is \"x\""},
        {"first --no-such", "--no-such"},
        {"first --only seed=1", "no run of"},
        {"all --only seed=1", "--only needs"},
        {"all --experiments nowhere", "nowhere cannot be read"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char arguments[300];
        snprintf(arguments, sizeof arguments,
                 "reproduce %s --results wrong/results --out wrong/out", wrong[i].arguments);
        ends_with(2, arguments);
        prints(wrong[i].words);
        if (there("wrong")) fail_msg("%s: left something", wrong[i].arguments);
    }
    assert_int_equal(write_file("experiments/bad.yaml", "experiment: {budget: a}\n" SMALL), 0);
    ends_with(2, "reproduce all");
    prints("bad.yaml:1: ");
    assert_int_equal(unlink(in_home("experiments/bad.yaml")), 0);
}

/* ---- Killing ------------------------------------------------------------------------------- */

/* `lengthen reproduce` in a process group of its own; *err is its stderr. */
static pid_t begin(char *const *arguments, FILE **err)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (chdir(home) == 0 && dup2(ends[1], STDERR_FILENO) >= 0 &&
            freopen("/dev/null", "w", stdout))
            execv(LG_PROGRAM, arguments);
        _exit(127);
    }
    assert_true(pid > 0);
    setpgid(pid, pid);
    close(ends[1]);
    *err = fdopen(ends[0], "r");
    return pid;
}

static void wait_for(FILE *err, const char *words, int lines)
{
    char line[2000];
    while (lines > 0 && fgets(line, sizeof line, err)) lines -= strstr(line, words) != NULL;
}

/* --store, then LENGTHEN_STORE, then lengthen.db in --out. */
static void the_store_is_where_it_is_said(void **state)
{
    (void)state;
    setenv("LENGTHEN_STORE", "named.db", 1);
    int code = run("2>&1", "reproduce second --scale smoke --out stores/one"),
        other = run("2>&1", "reproduce second --scale smoke --out stores/two --store told.db"),
        tried = run("2>&1", "try copy --minutes 0.01 --length 3 --out stores/try"),
        untold = run("2>&1", "try copy --minutes 0.01 --length 3");
    unsetenv("LENGTHEN_STORE");
    assert_int_equal(code, 3); /* its check does not hold */
    assert_int_equal(other, 3);
    assert_true(tried == 0 && untold == 0);
    assert_true(there("named.db") && there("told.db"));
    assert_false(there("stores/one/lengthen.db") || there("stores/two/lengthen.db") ||
                 there("stores/try/lengthen.db"));
    assert_int_equal(run("2>&1", "runs --store named.db --json"), 0);
    assert_int_equal(count("stores/one"), 2);
    assert_int_not_equal(count("stores/try"), 0);
    assert_int_equal(count("lengthen-try-"), 0); /* gone with its temporary folder */
}

/* What runs saves a checkpoint; the exit code is the signal's. */
static void interrupted_it_exits_with_the_signal(void **state)
{
    (void)state;
    static char *const arguments[] = {"lengthen",  "reproduce",    "long",  "--experiments", "slow",
                                      "--results", "slow/results", "--out", "slow/out",      NULL};
    static const int numbers[] = {SIGINT, SIGTERM};
    assert_int_equal(mkdir(in_home("slow"), 0777), 0);
    assert_int_equal(write_file("slow/long.yaml", "experiment: {question: Does it copy?}\n"
                                                  "config:\n"
                                                  "  task: {name: copy}\n"
                                                  "  model: {width: 16, heads: 2}\n"
                                                  "  train: {steps: 1000000}\n"
                                                  "vary: {seed: [1]}\n"),
                     0);
    ends_with(0, "reproduce --list --experiments slow");
    prints("long           1     0       -  0.00 h     -  Does it copy?");
    ends_with(0, "reproduce --list --experiments slow --json");
    prints("\"budget_minutes\":null,\"hours\":0.00000,\"minutes_left\":null}");
    for (int i = 0; i < 2; i++) {
        FILE *err;
        int status;
        pid_t pid = begin(arguments, &err);
        wait_for(err, " begins: ", 1);
        nanosleep(&(struct timespec){0, 200000000}, NULL);
        kill(pid, numbers[i]);
        size_t n = fread(out, 1, sizeof out - 1, err);
        out[n] = 0;
        fclose(err);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128 + numbers[i]);
        prints("To go on, the same command");
    }
}

static void killed_it_ends_with_the_same_bytes(void **state)
{
    (void)state;
    static char *const arguments[] = {"lengthen",       "reproduce", "first",  "--results",
                                      "killed/results", "--out",     "killed", NULL};
    int kills = 0;
    srand(2);
    for (int k = 0; k < 6; k++) {
        FILE *err;
        int status;
        pid_t pid = begin(arguments, &err);
        if (k) wait_for(err, k % 2 ? " begins: " : " is done: ", 1);
        nanosleep(&(struct timespec){0, rand() % 15 * 1000000}, NULL);
        kill(-pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        kills += WIFSIGNALED(status);
        fclose(err);
    }
    print_message("killed %d times of 6\n", kills);
    assert_true(kills >= 2);
    ends_with(0, "reproduce first --results killed/results --out killed");
    prints("4 of 4 runs done");
    int code = run(
        "2>&1",
        "--version && cmp results/first/measurements.csv killed/results/first/measurements.csv");
    if (code) fail_msg("%s", out);
    ends_with(0, "reproduce first --results killed/results --out killed");
    assert_int_equal(count("begins"), 0);
}

/* What is begun when the time is over saves a checkpoint. */
static void the_time_is_over(void **state)
{
    (void)state;
    ends_with(1, "reproduce first --results late/results --out late --minutes 0.0000001");
    prints("4 of 4 runs are left");
    prints("0 of 4 runs done");
    assert_false(there("late/results/first"));
    ends_with(0, "reproduce first --results late/results --out late --minutes 5");
    int code =
        run("2>&1",
            "--version && cmp results/first/measurements.csv late/results/first/measurements.csv");
    if (code) fail_msg("%s", out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_list_to_the_results),
        cmocka_unit_test(a_check_that_does_not_hold),
        cmocka_unit_test(wrong_uses),
        cmocka_unit_test(the_store_is_where_it_is_said),
        cmocka_unit_test(interrupted_it_exits_with_the_signal),
        cmocka_unit_test(killed_it_ends_with_the_same_bytes),
        cmocka_unit_test(the_time_is_over),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
