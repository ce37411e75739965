/* test_cli_sweep.c: `lengthen sweep` as a user meets it: killed at any instant and started again it
 * ends with every run, each made once and with the same numbers as if it had never been; Ctrl-C,
 * tables, and wrong uses, which leave nothing behind. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>

#include "cli/running.h"
#include "lengthen_lab.h"

enum { RUNS = 12, STEPS = 20, CELLS = 2 };

/* `lengthen sweep ...`; its exit code. */
static int run(const char *what, const char *arguments)
{
    char sweep[2048];
    snprintf(sweep, sizeof sweep, "sweep %s", arguments);
    return run_program("", sweep, what);
}

#define SMALL                                                                                      \
    "config:\n"                                                                                    \
    "  task: {name: copy}\n"                                                                       \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5], checkpoint_every: 7}\n"             \
    "  eval: {lengths: [3, 5], samples: 4}\n"

static int make_home(void **state)
{
    (void)state;
    if (new_home()) return -1;
    return write_file("small.yaml", SMALL "vary:\n"
                                          "  positions.ids: [plain, coupled]\n"
                                          "  train.lr: [1e-3, 4e-3]\n"
                                          "  seed: [1, 2, 3]\n") ||
           write_file("two.yaml", SMALL "vary: {seed: [1, 2]}\n");
}

/* ---- Killing ------------------------------------------------------------------------------- */

/* `lengthen sweep` in a process group of its own; *err is its stderr. */
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

/* Reads until so many lines have the words, or to the end. */
static void wait_for(FILE *err, const char *words, int lines)
{
    char line[2000];
    while (lines > 0 && fgets(line, sizeof line, err)) lines -= strstr(line, words) != NULL;
}

/* What the store has of a run. */
struct kept {
    int runs, steps, cells;
    char name[RUNS][128], state[RUNS][16];
    int64_t number[RUNS];
    lg_run_step step[RUNS][STEPS];
    lg_cell cell[RUNS][CELLS];
};

static void keep_run(void *context, const lg_store_run *r)
{
    struct kept *k = context;
    assert_true(k->runs < RUNS);
    snprintf(k->name[k->runs], sizeof k->name[0], "%s", strrchr(r->folder, '/'));
    snprintf(k->state[k->runs], sizeof k->state[0], "%s", r->state);
    k->number[k->runs++] = r->number;
}

static int keep_step(void *context, const lg_run_step *s)
{
    struct kept *k = context;
    assert_true(k->steps < STEPS);
    assert_int_equal(s->step, k->steps + 1); /* none is missing, none is there twice */
    k->step[k->runs][k->steps++] = *s;
    return 1;
}

static void keep_cell(void *context, const lg_cell *c)
{
    struct kept *k = context;
    assert_true(k->cells < CELLS);
    k->cell[k->runs][k->cells++] = *c;
}

static struct kept *read_store(const char *file)
{
    struct kept *k = calloc(1, sizeof *k);
    lg_error err = {0};
    lg_store *s = lg_store_open(in_home(file), 0, &err);
    if (!s || lg_store_runs(s, keep_run, k, &err)) fail_msg("%s", err.text);
    assert_int_equal(k->runs, RUNS);
    for (k->runs = 0; k->runs < RUNS; k->runs++) {
        int64_t n = k->number[k->runs];
        k->steps = k->cells = 0;
        if (lg_store_steps(s, n, keep_step, k, &err) ||
            lg_store_cells(s, n, -1, NULL, keep_cell, k, &err))
            fail_msg("%s", err.text);
        assert_int_equal(k->steps, STEPS);
        assert_int_equal(k->cells, CELLS);
        assert_string_equal(k->state[k->runs], "done");
    }
    lg_store_close(s);
    return k;
}

static int folders(const char *name)
{
    int n = 0;
    DIR *d = opendir(in_home(name));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void same_runs(const struct kept *a, const struct kept *b)
{
    for (int i = 0; i < RUNS; i++) {
        int j = 0;
        while (j < RUNS && strcmp(a->name[i], b->name[j]) != 0) j++;
        assert_true(j < RUNS);
        for (int t = 0; t < STEPS; t++)
            assert_true(a->step[i][t].loss == b->step[j][t].loss &&
                        a->step[i][t].lr == b->step[j][t].lr &&
                        a->step[i][t].tokens == b->step[j][t].tokens);
        for (int c = 0; c < CELLS; c++) {
            const lg_cell *x = &a->cell[i][c], *y = &b->cell[j][c];
            assert_true(x->step == STEPS && y->step == STEPS && x->length == y->length);
            assert_true(x->values > 2 && x->values == y->values);
            assert_memory_equal(x->value, y->value, (size_t)x->values * sizeof *x->value);
        }
    }
}

static void a_killed_sweep_ends_the_same(void **state)
{
    (void)state;
    static char *const arguments[] = {"lengthen", "sweep",  "small.yaml", "--jobs",    "2",
                                      "--out",    "killed", "--store",    "killed.db", NULL};
    assert_int_equal(run("2>/dev/null >/dev/null", "small.yaml --out whole --store whole.db"), 0);
    srand(1);
    int kills = 0;
    for (int k = 0; k < 6; k++) {
        FILE *err;
        int status;
        pid_t pid = begin(arguments, &err);
        if (k) wait_for(err, " begins: ", 1 + rand() % 4);
        nanosleep(&(struct timespec){0, rand() % 15 * 1000000}, NULL);
        kill(-pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        kills += WIFSIGNALED(status);
        fclose(err);
    }
    print_message("killed %d times of 6\n", kills);
    assert_true(kills >= 3);
    int code = run("2>&1", "small.yaml --jobs 2 --out killed --store killed.db --json");
    if (code) fail_msg("%s", out);
    assert_int_equal(folders("killed"), RUNS);
    struct kept *whole = read_store("whole.db"), *killed = read_store("killed.db");
    same_runs(whole, killed);
    free(whole);
    free(killed);
    /* the tables are the same too, and nothing is made again */
    char table[1 << 14];
    assert_int_equal(run("", "small.yaml --out whole --store whole.db --table --json"), 0);
    assert_int_equal(count("\n"), 8);
    assert_int_equal(count("\"kind\":\"exact\","), 8);
    snprintf(table, sizeof table, "%.16000s", out);
    assert_int_equal(run("2>/dev/null", "small.yaml --out killed --store killed.db --json"), 0);
    assert_string_equal(out, table);
    assert_int_equal(run("2>&1 >/dev/null", "small.yaml --out killed --store killed.db"), 0);
    prints("12 runs, 12 done already");
    assert_int_equal(count("begins"), 0);
}

/* Whether somebody has the run's folder. */
static int locked(const char *name)
{
    int d = open(in_home(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int taken = d >= 0 && flock(d, LOCK_EX | LOCK_NB) != 0;
    if (d >= 0) close(d);
    return taken;
}

/* Written once the folder is locked; asking for the lock itself could be in the way. */
static void wait_for_config(const char *name)
{
    for (int waited = 0; !there(name); waited++) {
        assert_true(waited < 4000);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

/* Without their parent the processes of the runs end at once. */
static void no_run_outlives_its_sweep(void **state)
{
    (void)state;
    static char *const arguments[] = {"lengthen", "sweep",   "two.yaml",           "--jobs",
                                      "2",        "--set",   "train.steps=100000", "--out",
                                      "orphans",  "--store", "orphans.db",         NULL};
    FILE *err;
    pid_t pid = begin(arguments, &err);
    wait_for_config("orphans/seed=1/config.yaml");
    wait_for_config("orphans/seed=2/config.yaml");
    assert_true(locked("orphans/seed=1") && locked("orphans/seed=2"));
    kill(pid, SIGKILL); /* the parent alone */
    waitpid(pid, NULL, 0);
    int waited = 0;
    for (; (locked("orphans/seed=1") || locked("orphans/seed=2")) && waited < 400; waited++)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    fclose(err);
    assert_true(waited < 400);
}

#define EVERY "train.checkpoint_every=1000"

/* Ctrl-C, which a terminal sends to the whole group, or the hangup of one that closes: checkpoints,
 * and how to go on. */
static void interrupt_a_sweep(int number)
{
    static char *const arguments[] = {
        "lengthen", "sweep", "two.yaml", "--jobs",  "2",       "--set",      "train.steps=3000",
        "--set",    EVERY,   "--out",    "stopped", "--store", "stopped.db", NULL};
    FILE *err;
    int status;
    pid_t pid = begin(arguments, &err);
    wait_for_config("stopped/seed=1/config.yaml");
    wait_for_config("stopped/seed=2/config.yaml");
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    kill(-pid, number);
    size_t n = fread(out, 1, sizeof out - 1, err);
    out[n] = 0;
    fclose(err);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 128 + number);
    prints("To go on, the same command");
    assert_int_equal(count("has stopped: seed="), 2);
    assert_true(there("stopped/seed=1/checkpoint") && there("stopped/seed=2/checkpoint"));
    assert_int_equal(run("2>&1", "two.yaml --jobs 2 --set train.steps=3000 --set " EVERY
                                 " --out stopped --store stopped.db --threads 1"),
                     0);
    prints("run 2 of 2 is done: seed=2");
}

static void an_interrupted_sweep_goes_on(void **state)
{
    (void)state;
    interrupt_a_sweep(SIGINT);
    run_program("", "--version && rm -r stopped stopped.db*", "");
    interrupt_a_sweep(SIGHUP);
}

/* ---- What is shown ----------------------------------------------------------------------- */

static void failures_are_named(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_home("partly"), 0777), 0);
    assert_int_equal(write_file("partly/seed=1", "a file in the place of the folder\n"), 0);
    assert_int_equal(run("2>&1", "two.yaml --out partly --store partly.db"), 1);
    prints("run 1 of 2 failed: seed=1: ");
    prints("run 2 of 2 is done: seed=2");
    prints("lengthen sweep: run seed=1 failed: ");
    prints("letters"); /* the table of the other one */
    assert_int_equal(count("not learned"), 2);
}

static void tables_in_every_form(void **state)
{
    (void)state;
    const char *where = "small.yaml --out whole --store whole.db --table";
    char arguments[200];
    assert_int_equal(run("", where), 0);
    prints("variant                               letters  answers ");
    assert_int_equal(count("positions.ids=coupled,train.lr=4e-3 "), 2);
    assert_int_equal(count("not learned"), 8);
    snprintf(arguments, sizeof arguments, "%s --csv", where);
    assert_int_equal(run("", arguments), 0);
    assert_int_equal(count("\n"), 1 + 8 * 3);
    prints("variant,setting,length,unit,sparsity,source,kind,tokens,seed,value,median,");
    prints("\"positions.ids=plain,train.lr=1e-3\",\"\",3,\"letters\",0,given,exact,8,1,");
    snprintf(arguments, sizeof arguments, "%s --json", where);
    assert_int_equal(run("", arguments), 0);
    static const char *const keys[] = {
        "source",        "median", "quartile_low", "low",
        "quartile_high", "high",   "values",       "trained_length_min"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[40];
        snprintf(key, sizeof key, ",\"%s\":", keys[i]);
        assert_int_equal(count(key), 8);
    }
    snprintf(arguments, sizeof arguments, "%s --plot -", where);
    assert_int_equal(run("", arguments), 0);
    prints("length (letters)");
    /* other measures, alone or side by side */
    snprintf(arguments, sizeof arguments, "%s --measure token_accuracy --plot -", where);
    assert_int_equal(run("", arguments), 0);
    prints("letters   tokens ");
    prints("right tokens, median of the seeds, %");
    snprintf(arguments, sizeof arguments, "%s --measure first_error_min,exact --json", where);
    assert_int_equal(run("", arguments), 0);
    assert_int_equal(count("\"kind\":\"first_error_min\",\"tokens\":"), 8);
    assert_int_equal(count("\"kind\":\"exact\",\"tokens\":"), 8);
    if (system("command -v gnuplot >/dev/null") == 0) {
        snprintf(arguments, sizeof arguments, "%s --json --plot sweep.svg", where);
        assert_int_equal(run("2>/dev/null", arguments), 0);
        assert_int_equal(count("{\"variant\":"), 8);
        assert_true(there("sweep.svg"));
    }
    assert_int_equal(run("2>&1", "two.yaml --out nowhere --store whole.db --table"), 0);
    prints("No run of this sweep is done");
    /* nobody knows what it learned if it was not asked at the lengths of training */
    assert_int_equal(write_file("far.yaml", SMALL "vary: {seed: [1]}\n"), 0);
    assert_int_equal(run("2>/dev/null", "far.yaml --out far --store far.db --set eval.lengths=[9]"),
                     0);
    assert_int_equal(count("not tested in range"), 1);
    /* rows of another config are not shown as if they were of this one */
    snprintf(arguments, sizeof arguments, "%s --set train.steps=21", where);
    assert_int_equal(run("2>&1 >/dev/null", arguments), 2);
    prints("is a run of another config: there it says");
    assert_int_equal(run("2>/dev/null", arguments), 2);
    assert_string_equal(out, "");
}

static void wrong_uses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"", "which sweep?"},
        {"none.yaml", "none.yaml cannot be read"},
        {"run.yaml", "run.yaml is the config of one run"},
        {"two.yaml two.yaml", "one sweep at a time"},
        {"two.yaml --no-such", "--no-such"},
        {"two.yaml --jobs 0", "--jobs is \"0\""},
        {"two.yaml --threads many", "--threads is \"many\""},
        {"two.yaml --json --csv", "take --json or --csv, not both"},
        {"two.yaml --plot sweep.gif", ".svg"},
        {"two.yaml --measure exakt", "--measure is \"exakt\"; take exact, token_accuracy, "},
        {"two.yaml --set seed=3", "varies this key in two.yaml:6"},
        {"two.yaml --set train.stepz=3", "train.steps"},
        {"two.yaml --set train", "key=value"},
        {"two.yaml --set model.width=17", "run seed=1: "},
        {"two.yaml --table", "there is no store"},
        {"both.yaml", "both of base"},
        {"twice.yaml", "the value 1 twice"},
        {"unknown.yaml", "did you mean \"train.lr\"?"},
        {"value.yaml", "train.lr is \"quick\""},
        {"empty.yaml", "seed has no values"},
        {"small.yaml --out whole --set train.steps=21", "another config"},
    };
    assert_int_equal(write_file("run.yaml", "seed: 1\ntask: {name: copy}\n"), 0);
    assert_int_equal(write_file("both.yaml", SMALL "base: a.yaml\nvary: {seed: [1]}\n"), 0);
    assert_int_equal(write_file("twice.yaml", SMALL "vary: {seed: [1, 2, 1]}\n"), 0);
    assert_int_equal(write_file("unknown.yaml", SMALL "vary: {train.lrr: [1, 2, 1]}\n"), 0);
    assert_int_equal(write_file("value.yaml", SMALL "vary: {train.lr: [1, quick]}\n"), 0);
    assert_int_equal(write_file("empty.yaml", SMALL "vary: {seed: []}\n"), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char arguments[300];
        snprintf(arguments, sizeof arguments, "%s --store wrong.db", wrong[i].arguments);
        int code = run("2>&1 >/dev/null", arguments);
        if (code != 2) fail_msg("%s: exit code %d\n%s", wrong[i].arguments, code, out);
        if (!strstr(out, wrong[i].words))
            fail_msg("%s: \"%s\" is not in:\n%s", wrong[i].arguments, wrong[i].words, out);
        if (there("runs") || there("wrong.db")) fail_msg("%s: left something", wrong[i].arguments);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_sweep_ends_the_same), cmocka_unit_test(no_run_outlives_its_sweep),
        cmocka_unit_test(an_interrupted_sweep_goes_on), cmocka_unit_test(failures_are_named),
        cmocka_unit_test(tables_in_every_form),         cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
