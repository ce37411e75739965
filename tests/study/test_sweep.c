/* test_sweep.c: a sweep's file and the runs that it makes, what is refused, runs that fail or are
 * stopped, and medians and quartiles over seeds. Kills are in cli/test_cli_sweep.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "runs/cells.h"
#include "runs/run.h"
#include "runs/store.h"
#include "study/sweep.h"

static int there(const char *name)
{
    struct stat st;
    return stat(in_home(name), &st) == 0;
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = in_home(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

#define SMALL                                                                                      \
    "config:\n"                                                                                    \
    "  task: {name: copy}\n"                                                                       \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"                                  \
    "  eval: {lengths: [3, 5], samples: 4}\n"

/* Its texts live until the next call. */
static lg_sweep_options options(const char *file, const char *folder)
{
    static char path[3][400];
    snprintf(path[0], sizeof path[0], "%s", file);
    snprintf(path[1], sizeof path[1], "%s/%s", home, folder);
    snprintf(path[2], sizeof path[2], "%s/%s.db", home, folder);
    return (lg_sweep_options){
        .file = path[0], .folder = path[1], .store = path[2], .jobs = 2, .threads = 1};
}

/* ---- The file ------------------------------------------------------------------------------- */

static int has_set(const struct lg__sweep_plan *p, int run, const char *set)
{
    const char *sets[64];
    int n = lg__sweep_sets(p, run, sets), last = -1;
    assert_true(lg__sweep_sets(p, run, NULL) <= 64);
    for (int i = 0; i < n; i++)
        if (strncmp(sets[i], set, strcspn(set, "=") + 1) == 0) last = i;
    return last >= 0 && strcmp(sets[last], set) == 0;
}

/* The product in the order of the file, the last one fastest; bundles; base beside the file. */
static void a_file_makes_its_runs(void **state)
{
    (void)state;
    static const char *const sets[] = {"train.batch=4"};
    write_file("base.yaml", "seed: 7\n"
                            "task: {name: copy}\n"
                            "train: {steps: 20, length: [1, 5]}\n"
                            "positions: {ids: coupled}\n");
    lg_sweep_options o = options(write_file("runs.yaml", "base: base.yaml\n"
                                                         "vary:\n"
                                                         "  \"my scheme\":\n"
                                                         "    plain: {positions.ids: plain}\n"
                                                         "    as is: {}\n"
                                                         "    two, keys:\n"
                                                         "      positions: {encoding: alibi}\n"
                                                         "      model.width: 32\n"
                                                         "  seed: [5, 3]\n"
                                                         "  train.length: [[1, 10], [1, 20]]\n"),
                                 "out");
    struct lg__sweep_plan p = {0};
    lg_error err = {0};
    o.sets = sets;
    o.set_count = 1;
    must(lg__sweep_read(&p, &o, &err), &err);
    assert_int_equal(p.count, 12);
    assert_int_equal(p.groups, 6);
    assert_string_equal(p.runs[0].name, "my scheme=plain,seed=5,train.length=[1, 10]");
    assert_string_equal(p.runs[1].name, "my scheme=plain,seed=5,train.length=[1, 20]");
    assert_string_equal(p.runs[2].name, "my scheme=plain,seed=3,train.length=[1, 10]");
    assert_string_equal(p.runs[11].name, "my scheme=two, keys,seed=3,train.length=[1, 20]");
    assert_string_equal(p.runs[11].variant, "my scheme=two, keys,train.length=[1, 20]");
    assert_string_equal(strrchr(p.runs[11].folder, '/'),
                        "/my_scheme=two,_keys,seed=3,train.length=_1,_20_");
    assert_int_equal(p.runs[0].group, 0);
    assert_int_equal(p.runs[2].group, 0);
    assert_int_equal(p.runs[3].group, 1);
    assert_int_equal(p.runs[4].group, 2);
    assert_true(has_set(&p, 0, "positions.ids=plain") && has_set(&p, 0, "seed=5"));
    assert_true(has_set(&p, 4, "positions.ids=coupled") && has_set(&p, 4, "train.batch=4"));
    assert_true(has_set(&p, 11, "positions.encoding=alibi") && has_set(&p, 11, "model.width=32"));
    assert_true(has_set(&p, 11, "train.length=[1, 20]") && has_set(&p, 11, "train.steps=20"));
    lg__sweep_clear(&p);
}

/* What is wrong is refused with its place and the remedy, and leaves nothing behind. */
static void wrong_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file, *set, *words, *more;
    } wrong[] = {
        {"vary: {seed: [1]}\n", NULL, "none of base", "write one"},
        {"base: base.yaml\n" SMALL "vary: {seed: [1]}\n", NULL, "both of base", "write one"},
        {"base: no.yaml\nvary: {seed: [1]}\n", NULL, "wrong.yaml:1: ", "cannot be read"},
        {"base: [a]\nvary: {seed: [1]}\n", NULL, "base is a list", ""},
        {"base: wrong.txt\nvary: {seed: [1]}\n", NULL, "wrong.txt:2: ", "\"train.steps\""},
        {SMALL "  sed: 1\nvary: {seed: [1]}\n", NULL, "wrong.yaml:6: ", "\"seed\""},
        {SMALL "  seed: {a: 1}\nvary: {train.lr: [1]}\n", NULL, "wrong.yaml:6: ", "a map"},
        {SMALL "  train.steps: 4\nvary: {train.lr: [1]}\n", NULL, "said already in line 4", ""},
        {SMALL, NULL, "\"vary\" is missing", ""},
        {SMALL "vary: {}\n", NULL, "nothing varies", "seed: [1, 2, 3]"},
        {SMALL "vari: {seed: [1]}\n", NULL, "\"vari\"", "\"vary\""},
        {SMALL "vary:\n  seed: []\n", NULL, "wrong.yaml:7: ", "seed has no values"},
        {SMALL "vary:\n  mine: {}\n", NULL, "wrong.yaml:7: ", "mine has no values"},
        {SMALL "vary:\n  seed: 3\n", NULL, "seed is a single value", "must be a list"},
        {SMALL "vary:\n  seed: {a: {}}\n", NULL, "seed is a map", "must be a list"},
        {SMALL "vary:\n  sed: [1, 2]\n", NULL, "wrong.yaml:7: ", "\"seed\""},
        {SMALL "vary:\n  lr: [1, 2]\n", NULL, "no key \"lr\"", "\"train.lr\""},
        {SMALL "vary:\n  train: {lr: [1, 2]}\n", NULL, "\"train\" is a map of keys", "train.lr"},
        {SMALL "vary:\n  seed: [1, 2, 1]\n", NULL, "the value 1 twice", "take one"},
        {SMALL "vary:\n  seed: [1, 2, {a: 1}]\n", NULL, "a map cannot be a value", ""},
        {SMALL "vary:\n  mine: {a: plain}\n", NULL, "a is a single value", "must be a map"},
        {SMALL "vary:\n  mine: {a: {sed: 2}}\n", NULL, "wrong.yaml:7: ", "\"seed\""},
        {SMALL "vary:\n  mine: {a: {seed: 1}, a: {seed: 2}}\n", NULL, "said already", "keep one"},
        {SMALL "vary:\n  mine: {a: {seed: 1}}\n  seed: [1, 2]\n", NULL,
         "wrong.yaml:8: seed is varied already in line 7", "one place"},
        {SMALL "vary:\n  mine: {a b: {seed: 1}, a_b: {seed: 2}}\n", NULL, "same folder", "differ"},
        {SMALL "vary:\n  train.lr: [1e-3, 0.001]\n", NULL, "same config", "take one"},
        {SMALL "vary:\n  mine: {a: {}, b: {train.steps: 20}}\n", NULL, "same config", "mine=b"},
        {SMALL "vary:\n  seed: [1, 2]\n", "seed=3", "--set seed=3", "wrong.yaml:7"},
        {SMALL "vary:\n  seed: [1, 2]\n", "train.stepz=3", "train.stepz", "\"train.steps\""},
        {SMALL "vary:\n  train.lr: [1e-3, fast]\n", NULL,
         "run train.lr=fast: ", "wrong.yaml:7: train.lr is \"fast\""},
        {SMALL "vary:\n  model.width: [16, 17]\n", NULL,
         "run model.width=17: ", "wrong.yaml:7: model.width is 17"},
        {SMALL "vary:\n  positions.ids: [plain, abacus]\n", NULL,
         "run positions.ids=abacus: ", "digit"},
        {SMALL "vary:\n  task.kind: [random, odd]\n", NULL, "wrong.yaml:7: ", "random|unique"},
        /* one text begins as the other with its place does */
        {SMALL
         "vary:\n  mine:\n    a: {task.kind: random}\n    b:\n      task.kind: \"random: odd\"\n",
         NULL, "run mine=b: ", "wrong.yaml:10: task copy: kind is \"random: odd\""},
        /* the same text in two places: the later one counts */
        {SMALL "  positions.ids: coupled\nvary:\n  mine:\n    a: {positions.ids: plain}\n"
               "    b:\n      positions.ids: abacus\n",
         NULL, "run mine=b: ", "wrong.yaml:11: positions.ids is abacus"},
        {SMALL "vary:\n  eval.lengths: [[5], [5, 2000000]]\n", NULL, "wrong.yaml:7: ", "2000000"},
        {SMALL "vary:\n  seed: [1, 2\n", NULL, "wrong.yaml:", "not YAML"},
    };
    write_file("wrong.txt", "task: {name: copy}\ntrain: {stepz: 3}\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_sweep_options o = options(write_file("wrong.yaml", wrong[i].file), "none");
        lg_error err = {0};
        int failed, left;
        o.sets = &wrong[i].set;
        o.set_count = wrong[i].set != NULL;
        int code = lg_sweep(&o, NULL, NULL, &failed, &left, &err);
        if (code != LG_ERROR_ARGUMENT) fail_msg("%s: code %d %s", wrong[i].file, code, err.text);
        if (!strstr(err.text, wrong[i].words) || !strstr(err.text, wrong[i].more))
            fail_msg("%s: want \"%s\" and \"%s\" in: %s", wrong[i].file, wrong[i].words,
                     wrong[i].more, err.text);
        if (there("none") || there("none.db")) fail_msg("%s: left something", wrong[i].file);
    }
}

static void many_runs_are_too_many(void **state)
{
    (void)state;
    char text[4096] = SMALL "vary:\n", *at = text + strlen(text);
    static const char *const keys[] = {"seed", "train.lr", "train.batch"};
    for (int k = 0; k < 3; k++) {
        at += sprintf(at, "  %s: [", keys[k]);
        for (int i = 1; i <= 22; i++) at += sprintf(at, "%s%d", i > 1 ? ", " : "", i);
        at += sprintf(at, "]\n");
    }
    lg_sweep_options o = options(write_file("wrong.yaml", text), "none");
    lg_error err = {0};
    struct lg__sweep_plan p = {0};
    assert_int_equal(lg__sweep_read(&p, &o, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "over 10000 runs"));
    lg__sweep_clear(&p);
}

/* Values and keys are compared with those before them, so that their number has a limit. */
static void many_keys_are_too_many(void **state)
{
    (void)state;
    static const struct {
        const char *before, *each, *after, *words;
    } cases[] = {
        {SMALL "vary:\n  seed: [0", ", %d", "]\n", "wrong.yaml:7: seed has 50001 values"},
        {SMALL "vary:\n  seed: [0]\n", "  task.k%d: [1]\n", "", "over 1000 keys vary"},
        {SMALL, "  task.k%d: 1\n", "vary: {seed: [0]}\n", "over 1000 keys"},
        {SMALL "vary:\n  mine:\n", "    m%d: {seed: 1, train.lr: 1, train.batch: 1}\n", "",
         "wrong.yaml:7: mine has 50000 values"},
    };
    char *text = malloc(4 << 20);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *at = text + sprintf(text, "%s", cases[i].before);
        for (int k = 1; k <= 50000; k++) {
            const char *hole = strstr(cases[i].each, "%d");
            at += sprintf(at, "%.*s%d%s", (int)(hole - cases[i].each), cases[i].each, k, hole + 2);
        }
        sprintf(at, "%s", cases[i].after);
        lg_sweep_options o = options(write_file("wrong.yaml", text), "none");
        lg_error err = {0};
        struct lg__sweep_plan p = {0};
        assert_int_equal(lg__sweep_read(&p, &o, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, cases[i].words))
            fail_msg("\"%s\" is not in: %s", cases[i].words, err.text);
        lg__sweep_clear(&p);
    }
    free(text);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

struct told {
    int began, done, failed, calls, stop_after; /* stop_after: as many begun; 0: never */
    char states[64], error[600];
};

static int watch(void *context, const lg_sweep_run *r)
{
    struct told *t = context;
    char *s = &t->states[r->index];
    assert_true(r->index < 64 && r->index < r->count);
    t->calls++;
    if (*s != *r->state) {
        t->began += *r->state == 't';
        t->done += *r->state == 'd';
        t->failed += *r->state == 'f';
        *s = *r->state;
    }
    if (*r->error) snprintf(t->error, sizeof t->error, "%s: %s", r->name, r->error);
    return !t->stop_after || t->began < t->stop_after;
}

/* A run that cannot be made does not stop the others; the same call tries it once more, and makes
 * no other again. */
static void a_failed_run_stops_no_other(void **state)
{
    (void)state;
    lg_sweep_options o =
        options(write_file("some.yaml", SMALL "vary:\n  seed: [1, 2, 3]\n"), "some");
    struct told t = {0};
    lg_error err = {0};
    int failed, left;
    assert_int_equal(mkdir(in_home("some"), 0777), 0);
    write_file("some/seed=2", "a file where the run's folder is to be\n");
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_int_equal(failed, 1);
    assert_int_equal(left, 0);
    assert_int_equal(t.began, 3);
    assert_memory_equal(t.states, "dfd", 3);
    assert_non_null(strstr(t.error, "seed=2"));
    assert_int_equal(unlink(in_home("some/seed=2")), 0);
    t = (struct told){0};
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_int_equal(failed, 0);
    assert_int_equal(t.began, 1);
    assert_memory_equal(t.states, "ddd", 3);
    /* the runs are of this config: another one needs another folder */
    static const char *const sets[] = {"train.steps=30"};
    o.sets = sets;
    o.set_count = 1;
    assert_int_equal(lg_sweep(&o, watch, &t, &failed, &left, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "another config"));
}

/* Processes of runs that are killed, before the first, second, .. thing that they write. */
static void a_killed_run_is_told(void **state)
{
    (void)state;
    lg_sweep_options o =
        options(write_file("kill.yaml", SMALL "vary:\n  seed: [1, 2, 3]\n"), "kill");
    lg_error err = {0};
    int failed, left;
    lg_store_close(lg_store_open(o.store, 1, &err));
    for (int commit = 0; commit < 7; commit++) {
        struct told t = {0};
        lg__store_kill_at(commit);
        must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
        lg__store_kill_at(-1);
        assert_int_equal(left, 0);
        assert_int_equal(failed, t.failed);
        if (commit < 4) assert_int_equal(failed, 3);
        if (failed) assert_non_null(strstr(t.error, "its process was ended (Killed)"));
    }
    struct told t = {0};
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_int_equal(failed + left, 0);
    assert_memory_equal(t.states, "ddd", 3);
}

static int count_step(void *context, const lg_run_step *s)
{
    assert_int_equal(s->step, ++*(int64_t *)context);
    return 1;
}

/* A learning rate at which nothing stays finite. */
static void a_run_of_nan_says_so(void **state)
{
    (void)state;
    lg_sweep_options o =
        options(write_file("nan.yaml", SMALL "vary:\n  train.lr: [1e6, 1e-3]\n"), "nan");
    static const char *const sets[] = {"train.grad_clip=0", "train.warmup=0", "train.steps=60"};
    struct told t = {0};
    lg_error err = {0};
    int failed, left;
    o.sets = sets;
    o.set_count = 3;
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_memory_equal(t.states, "fd", 2);
    assert_int_equal(failed, 1);
    assert_non_null(strstr(t.error, "train.lr=1e6: "));
    assert_non_null(strstr(t.error, "make lr or grad_clip smaller"));
}

static void a_stopped_sweep_goes_on(void **state)
{
    (void)state;
    lg_sweep_options o =
        options(write_file("long.yaml", SMALL "vary:\n  seed: [1, 2, 3, 4]\n"), "long");
    static const char *const sets[] = {"train.steps=300"};
    struct told t = {.stop_after = 2};
    lg_error err = {0};
    int failed, left;
    o.sets = sets;
    o.set_count = 1;
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_int_equal(failed, 0);
    assert_true(left >= 2 && left <= 4);
    assert_int_equal(t.began, 2);
    t = (struct told){0};
    must(lg_sweep(&o, watch, &t, &failed, &left, &err), &err);
    assert_int_equal(failed + left, 0);
    assert_memory_equal(t.states, "dddd", 4);
    lg_store *s = lg_store_open(o.store, 0, &err);
    assert_non_null(s);
    for (int i = 1; i <= 4; i++) {
        char name[40];
        int64_t step = 0;
        struct lg__sweep_found f;
        snprintf(name, sizeof name, "long/seed=%d", i);
        must(lg__sweep_find(s, in_home(name), &f, &err), &err);
        assert_true(f.number && f.done && f.step == 300);
        must(lg_store_steps(s, f.number, count_step, &step, &err), &err);
        assert_int_equal(step, 300);
    }
    lg_store_close(s);
}

/* ---- Over the seeds -------------------------------------------------------------------------- */

/* A run that is only its name, and a row in the store. */
static int64_t put_run(lg_store *s, const char *folder, int number, int64_t seed, const char *state)
{
    char id[20], text[400], path[300];
    lg_error err = {0};
    int64_t row;
    snprintf(id, sizeof id, "%016x", number);
    snprintf(text, sizeof text,
             "# lengthen run %s\n"
             "seed: %lld\n"
             "task: {name: sparse-parity-scratchpad, walk: dense}\n"
             "positions: %s\n"
             "model: {width: 16, heads: 2}\n"
             "train: {steps: 20, batch: 8, warmup: 2, length: [1, 5], sparsity: [1, 4]}\n"
             "eval: {lengths: [5, 10], sparsities: [2, 4, 8], samples: 10}\n",
             id, (long long)seed,
             strstr(folder, "plain") ? "{ids: plain}" : "{ids: coupled, source: delta}");
    snprintf(path, sizeof path, "hand/%s", folder);
    assert_int_equal(mkdir(in_home(path), 0777), 0);
    snprintf(path, sizeof path, "hand/%s/config.yaml", folder);
    write_file(path, text);
    *strrchr(path, '/') = 0;
    lg_store_run r = {.id = id,
                      .folder = in_home(path),
                      .state = state,
                      .task = "sparse-parity-scratchpad",
                      .positions = "",
                      .unit = "pairs",
                      .config = "",
                      .seed = seed,
                      .step = 20,
                      .steps = 20,
                      .least = 1,
                      .length = 5,
                      .sparsity = 4};
    must(lg__store_register(s, &r, 0, &row, &err), &err);
    must(lg__store_state(s, row, state, NULL, &err), &err);
    return row;
}

static void put_cell(lg_store *s, int64_t run, int step, int length, int sparsity, int predicted,
                     int exact)
{
    lg_cell c = {.step = step, .length = length, .sparsity = sparsity, .predicted = predicted};
    lg_error err = {0};
    c.tokens = 2 * length;
    lg__cell_add_share(&c, "exact", 10, exact, 10);
    must(lg__store_add_cells(s, run, &c, 1, &err), &err);
}

struct cells {
    int n;
    lg_joined cell[16];
    lg_cell at[16];
    double exact[16][4];
    int64_t seed[16][4];
    char variant[16][40];
};

static void keep(void *context, const lg_joined *c)
{
    struct cells *t = context;
    assert_true(t->n < 16 && c->seeds <= 4);
    memcpy(t->exact[t->n], c->value, (size_t)c->seeds * sizeof *c->value);
    memcpy(t->seed[t->n], c->seed, (size_t)c->seeds * sizeof *c->seed);
    snprintf(t->variant[t->n], sizeof t->variant[0], "%s", c->variant);
    assert_string_equal(c->at->unit, "pairs");
    assert_string_equal(c->at->setting, "");
    assert_string_equal(c->kind->name, "exact");
    t->at[t->n] = *c->at;
    t->cell[t->n++] = *c;
}

static void is(double a, double b)
{
    if (fabs(a - b) > 1e-12) fail_msg("%.15g is not %.15g", a, b);
}

static void check_cell(const struct cells *t, int i, const char *variant, int predicted,
                       int sparsity, int length, int seeds)
{
    const lg_cell *c = &t->at[i];
    assert_string_equal(t->variant[i], variant);
    assert_int_equal(c->predicted, predicted);
    assert_int_equal(c->sparsity, sparsity);
    assert_int_equal(c->length, length);
    assert_int_equal(t->cell[i].seeds, seeds);
    assert_int_equal(t->cell[i].samples, 10 * seeds);
    assert_int_equal(c->trained_least, 1);
    assert_int_equal(c->trained_length, 5);
    assert_int_equal(c->trained_sparsity, 4);
    is(c->tokens, 2 * length);
}

static void medians_over_seeds(void **state)
{
    (void)state;
    static const int exact[] = {1, 4, 2, 9};
    lg_sweep_options o = options(
        write_file("hand.yaml", "config:\n"
                                "  task: {name: sparse-parity-scratchpad, walk: dense}\n"
                                "  model: {width: 16, heads: 2}\n"
                                "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5],"
                                " sparsity: [1, 4]}\n"
                                "  eval: {lengths: [5, 10], sparsities: [2, 4, 8], samples: 10}\n"
                                "vary:\n"
                                "  seed: [9, 2, 5, 7]\n"
                                "  scheme:\n"
                                "    plain: {positions.ids: plain}\n"
                                "    coupled: {positions.ids: coupled, positions.source: delta}\n"),
        "hand");
    struct cells t = {0};
    lg_error err = {0};
    assert_int_equal(lg_sweep_cells(&o, keep, &t, &err), LG_ERROR_ARGUMENT); /* no store yet */
    lg_store *s = lg_store_open(o.store, 1, &err);
    assert_non_null(s);
    must(lg_sweep_cells(&o, keep, &t, &err), &err);
    assert_int_equal(t.n, 0);
    assert_int_equal(mkdir(in_home("hand"), 0777), 0);
    static const int seeds[] = {9, 2, 5, 7};
    for (int i = 0; i < 4; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "seed=%d,scheme=plain", seeds[i]);
        int64_t run = put_run(s, folder, 100 + i, seeds[i], "done");
        put_cell(s, run, 20, 10, 2, 0, exact[i]);
        put_cell(s, run, 20, 5, 2, 0, 10 - (i == 0));
        put_cell(s, run, 10, 10, 4, 0, 3); /* on the way */
        put_cell(s, run, 20, 7, 2, 0, 3);  /* somebody's own, not one of the sweep's */
        if (i < 3) put_cell(s, run, 20, 10, 8, 0, i);
        put_cell(s, run, 20, 5, 4, 0, i + 1);
    }
    /* of coupled IDs one run is done, with predicted IDs; another one still trains */
    int64_t run = put_run(s, "seed=2,scheme=coupled", 200, 2, "done");
    put_cell(s, run, 20, 5, 2, 0, 10);
    put_cell(s, run, 20, 5, 2, 1, 3);
    run = put_run(s, "seed=5,scheme=coupled", 201, 5, "stopped");
    put_cell(s, run, 20, 5, 2, 1, 7);
    /* rows of a run whose folder is gone, and of one that was in a folder of this sweep before */
    run = put_run(s, "seed=9,scheme=coupled", 202, 9, "done");
    put_cell(s, run, 20, 5, 2, 1, 8);
    assert_int_equal(unlink(in_home("hand/seed=9,scheme=coupled/config.yaml")), 0);
    run = put_run(s, "seed=7,scheme=coupled", 203, 7, "done");
    put_cell(s, run, 20, 5, 2, 1, 8);
    write_file("hand/seed=7,scheme=coupled/config.yaml", "# lengthen run 00000000000000ff\n");
    lg_store_close(s);

    t = (struct cells){0};
    must(lg_sweep_cells(&o, keep, &t, &err), &err);
    assert_int_equal(t.n, 6);
    check_cell(&t, 0, "scheme=plain", 0, 2, 5, 4);
    is(t.cell[0].median, 1);
    is(t.cell[0].lower, 0.975);
    is(t.cell[0].learned, 1);
    check_cell(&t, 1, "scheme=plain", 0, 2, 10, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t.seed[1][i], seeds[i]);
        is(t.exact[1][i], exact[i] / 10.0);
    }
    /* numpy.quantile([.1, .4, .2, .9], [.25, .5, .75]) */
    is(t.cell[1].lower, 0.175);
    is(t.cell[1].median, 0.3);
    is(t.cell[1].upper, 0.525);
    is(t.cell[1].learned, 1);
    /* Wilson of 16 of 40, z = 1.959963984540054 */
    assert_true(fabs(t.cell[1].low - 0.263483257) < 1e-8 &&
                fabs(t.cell[1].high - 0.554041063) < 1e-8);
    check_cell(&t, 2, "scheme=plain", 0, 4, 5, 4);
    is(t.cell[2].learned, 0.25);
    check_cell(&t, 3, "scheme=plain", 0, 8, 10, 3);
    is(t.cell[3].median, 0.1);
    is(t.cell[3].lower, 0.05);
    is(t.cell[3].learned, 0.25); /* denser than training: that of the densest there */
    check_cell(&t, 4, "scheme=coupled", 0, 2, 5, 1);
    is(t.cell[4].median, 1);
    is(t.cell[4].learned, 0.3); /* as it is used: with predicted IDs */
    check_cell(&t, 5, "scheme=coupled", 1, 2, 5, 1);
    is(t.cell[5].lower, 0.3);
    is(t.cell[5].upper, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_makes_its_runs),       cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(many_runs_are_too_many),      cmocka_unit_test(many_keys_are_too_many),
        cmocka_unit_test(a_failed_run_stops_no_other), cmocka_unit_test(a_killed_run_is_told),
        cmocka_unit_test(a_run_of_nan_says_so),        cmocka_unit_test(a_stopped_sweep_goes_on),
        cmocka_unit_test(medians_over_seeds),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
