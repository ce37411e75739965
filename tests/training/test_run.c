/* test_run.c: a run from its config to its checkpoints. Stopped at any step and resumed, it must
 * end with the same bytes as one that never was; a folder is never taken for another run. Kills
 * are in test_kills.c. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers/cells.h"
#include "helpers/home.h"
#include "runs/run.h"
#include "helpers/training.h"

static const char config[] =
    "seed: 5\n"
    "task: {name: sparse-parity-scratchpad}\n"
    "positions: {ids: coupled, source: [pointer, delta], encoding: relative,\n"
    "  span: window, window: [[0, 0], [-1, 0]]}\n"
    "model: {width: 16, heads: 2, sink: yes}\n"
    "train: {steps: 24, batch: 8, warmup: 5, length: [2, 8],\n"
    "  sparsity: [1, 3], curriculum: both, keep: 2}\n"
    "eval: {lengths: [4, 8], sparsities: [2, 6], samples: 10}\n";

static const char *config_file(void)
{
    const char *path = in_home("config.yaml");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(config, f);
    fclose(f);
    return path;
}

static lg_run_options options(const char *folder, int threads, const char *const *sets, int count)
{
    return (lg_run_options){.config = config_file(),
                            .folder = in_home(folder),
                            .threads = threads,
                            .sets = sets,
                            .set_count = count};
}

static int stop_at(void *context, const lg_run_step *s) { return s->step < *(int *)context; }

/* The bytes of the last checkpoint's model and state. */
static char *last_bytes(const char *folder, size_t *size)
{
    static const char *const names[] = {"model", "state"};
    char path[400], *all = NULL;
    *size = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/checkpoint/step-000000024/%s.safetensors", folder,
                 names[i]);
        FILE *f = fopen(path, "rb");
        if (!f) fail_msg("%s is not there", path);
        struct stat st;
        assert_int_equal(fstat(fileno(f), &st), 0);
        all = realloc(all, *size + (size_t)st.st_size);
        assert_int_equal(fread(all + *size, 1, (size_t)st.st_size, f), (size_t)st.st_size);
        *size += (size_t)st.st_size;
        fclose(f);
    }
    return all;
}

static void same_bytes(const char *a, const char *b)
{
    size_t na, nb;
    char *one = last_bytes(a, &na), *other = last_bytes(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(one, other, na);
    free(one);
    free(other);
}

static void train_whole(const char *folder, int threads)
{
    lg_run_options o = options(folder, threads, NULL, 0);
    lg_error err = {0};
    int done = 0;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(done, 1);
}

static void a_stopped_run_ends_with_the_same_bytes(void **state)
{
    (void)state;
    train_whole("whole", 1);
    static const int stops[] = {1, 7, 8, 23};
    for (int i = 0; i < 4; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "stopped-%d", stops[i]);
        lg_run_options o = options(folder, 1 + i % 2, NULL, 0);
        lg_error err = {0};
        int done = 1, at = stops[i], steps = 1000;
        o.watch = stop_at;
        o.context = &at;
        must(lg_run_train(&o, &done, &err), &err);
        assert_int_equal(done, 0);
        o.resume = 1;
        o.threads = 2 - i % 2;
        o.watch = stop_at;
        o.context = &steps;
        must(lg_run_train(&o, &done, &err), &err);
        assert_int_equal(done, 1);
        same_bytes(o.folder, in_home("whole"));
        /* once more: nothing is left to do */
        o.watch = stop_at;
        o.context = &steps;
        must(lg_run_train(&o, &done, &err), &err);
        assert_int_equal(done, 1);
        same_bytes(o.folder, in_home("whole"));
    }
}

static void refused(const lg_run_options *o, const char *what, const char *remedy)
{
    lg_error err = {0};
    int done;
    if (!lg_run_train(o, &done, &err)) fail_msg("not refused: %s", what);
    if (!strstr(err.text, what) || !strstr(err.text, remedy))
        fail_msg("want \"%s\" and \"%s\" in: %s", what, remedy, err.text);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const steps[] = {"train.steps=30"}, *const wrong[] = {"train.stepz=30"},
                             *const delta[] = {"positions.source=delta"};
    struct stat st;
    lg_run_options o = options("whole", 1, NULL, 0);
    refused(&o, "holds a run already", "--resume");
    o = options("whole", 1, steps, 1);
    o.resume = 1;
    refused(&o, "steps: 24", "another folder");
    o = options("none", 1, NULL, 0);
    o.resume = 1;
    refused(&o, "holds no run", "leave --resume out");
    o = options("none", 1, wrong, 1);
    refused(&o, "train.stepz", "train.steps");
    o = options("none", 1, delta, 1);
    refused(&o, "grows with the length", "pointer");
    o.config = "/no/such.yaml";
    refused(&o, "/no/such.yaml", "");
    assert_int_not_equal(stat(in_home("none"), &st), 0); /* nothing was made */
    same_bytes(in_home("whole"), in_home("stopped-7"));  /* nothing was harmed */
}

/* ---- The grid ---------------------------------------------------------------------------- */

struct cells {
    int n;
    lg_cell cell[16];
};

static void keep_cell(void *context, const lg_cell *cell)
{
    struct cells *c = context;
    assert_true(c->n < 16);
    c->cell[c->n++] = *cell;
}

static void the_grid_has_every_cell_that_can_be(void **state)
{
    (void)state;
    lg_eval_options o = {.folder = in_home("whole"), .predicted = -1};
    struct cells c = {0};
    lg_error err = {0}, warning;
    o.each = keep_cell;
    o.context = &c;
    must(lg_run_eval(&o, &warning, &err), &err);
    assert_string_equal(warning.text, "");
    /* sparsity 2: lengths 4 and 8; sparsity 6: 8 alone; given and predicted */
    assert_int_equal(c.n, 6);
    for (int i = 0; i < c.n; i++) {
        static const int lengths[] = {4, 8, 8}, sparsities[] = {2, 2, 6};
        const lg_cell *x = &c.cell[i];
        assert_int_equal(x->length, lengths[i % 3]);
        assert_int_equal(x->sparsity, sparsities[i % 3]);
        assert_int_equal(x->predicted, i / 3);
        assert_int_equal(samples_of(x, "exact"), 10);
        assert_int_equal(lg_cell_get(x, "id_accuracy") != NULL, x->predicted);
        assert_true(x->tokens == 2 * x->length + 2 + 3 * x->sparsity + 2);
    }
    static const int lengths[] = {5};
    o.lengths = lengths;
    o.length_count = 1;
    o.samples = 3;
    o.predicted = 0;
    struct cells few = {0};
    o.each = keep_cell;
    o.context = &few;
    must(lg_run_eval(&o, NULL, &err), &err);
    assert_int_equal(few.n, 1);
    assert_int_equal(samples_of(&few.cell[0], "exact"), 3);
    o.folder = in_home("none");
    assert_int_equal(lg_run_eval(&o, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "is no run"));
}

/* Wilson, 95%, by hand for 0 of 10: high = (z^2/n) / (1 + z^2/n) = 0.384146 / 1.384146. */
static void intervals_are_wilsons(void **state)
{
    (void)state;
    lg_eval_options o = {.folder = in_home("whole"), .predicted = 0};
    struct cells c = {0};
    lg_error err;
    o.each = keep_cell;
    o.context = &c;
    must(lg_run_eval(&o, NULL, &err), &err);
    int none = 0;
    for (int i = 0; i < c.n; i++) {
        const lg_value *v = lg_cell_get(&c.cell[i], "exact");
        assert_true(v->low <= v->value && v->value <= v->high);
        if (v->value > 0) continue;
        none++;
        assert_true(v->low == 0 && v->high > 0.27752 && v->high < 0.27754);
    }
    assert_true(none > 0); /* 24 steps teach nothing */
}

/* ---- On the way ---------------------------------------------------------------------------- */

struct seen {
    int steps, cells, length[64], sparsity[64];
    lg_cell cell[64];
};

static int see_step(void *context, const lg_run_step *s)
{
    struct seen *t = context;
    assert_true(t->steps < 64);
    t->length[t->steps] = s->length;
    t->sparsity[t->steps++] = s->sparsity;
    return 1;
}

static void see_cell(void *context, const lg_cell *c)
{
    struct seen *t = context;
    assert_true(t->cells < 64);
    t->cell[t->cells++] = *c;
}

/* 12 steps for lengths 2..8 and sparsities 1..3: the schedule does not ask what was learned. */
static void a_schedule_grows_evenly(void **state)
{
    (void)state;
    static const char *const sets[] = {"train.curriculum_steps=12"};
    static const int length[] = {2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 7, 8, 8};
    lg_run_options o = options("schedule", 1, sets, 1);
    struct seen t = {0};
    lg_error err;
    int done;
    o.watch = see_step;
    o.context = &t;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(t.steps, 24);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(t.length[i], i < 13 ? length[i] : 8);
        assert_int_equal(t.sparsity[i], i < 4 ? 1 : i < 8 ? 2 : 3);
    }
}

static void keep_number(void *context, const lg_store_run *r)
{
    assert_string_equal(r->state, "done");
    assert_string_equal(r->task, "sparse-parity-scratchpad");
    assert_string_equal(r->positions, "coupled, predicted, relative, window");
    assert_int_equal(r->step, 24);
    assert_int_equal(r->length, 8);
    *(int64_t *)context = r->number;
}

/* The grid every 10 steps: told, and in the store under its step. */
static void evaluations_on_the_way_are_kept(void **state)
{
    (void)state;
    static const char *const sets[] = {"eval.every=10"};
    lg_run_options o = options("on-the-way", 1, sets, 1);
    struct seen told = {0}, kept = {0};
    int64_t number = 0;
    lg_error err;
    int done;
    o.store = in_home("way.db");
    o.each = see_cell;
    o.context = &told;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(told.cells, 12); /* 6 cells at steps 10 and 20 */
    lg_store *s = lg_store_open(o.store, 0, &err);
    assert_non_null(s);
    must(lg_store_find(s, o.folder, keep_number, &number, &err), &err);
    must(lg_store_cells(s, number, -2, NULL, see_cell, &kept, &err), &err);
    assert_int_equal(kept.cells, 12);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(told.cell[i].step, i < 6 ? 10 : 20);
        assert_int_equal(told.cell[i].index, i % 6);
        assert_int_equal(told.cell[i].count, 6);
        assert_int_equal(kept.cell[i].step, told.cell[i].step);
        assert_int_equal(kept.cell[i].length, told.cell[i].length);
        assert_true(same_values(&kept.cell[i], &told.cell[i]));
        assert_true(value_of(&kept.cell[i], "taught_exact") >= 0);
    }
    lg_store_close(s);
}

/* ---- Cells ---------------------------------------------------------------------------------- */

static void two_then_die(void *context, const lg_cell *c)
{
    (void)c;
    if (++*(int *)context == 2) raise(SIGKILL);
}

/* Killed after two cells, an evaluation makes only the others. */
static void an_evaluation_goes_on_where_it_was(void **state)
{
    (void)state;
    int told = 0, status;
    lg_eval_options o = {.folder = in_home("whole"), .store = in_home("cells.db"), .predicted = -1};
    pid_t child = fork();
    if (child == 0) {
        o.each = two_then_die;
        o.context = &told;
        lg_run_eval(&o, NULL, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    struct seen first = {0}, second = {0}, again = {0};
    lg_error err;
    o.each = see_cell;
    o.context = &first;
    must(lg_run_eval(&o, NULL, &err), &err);
    o.context = &second;
    must(lg_run_eval(&o, NULL, &err), &err);
    o.context = &again;
    o.force = 1;
    must(lg_run_eval(&o, NULL, &err), &err);
    assert_int_equal(first.cells, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(first.cell[i].kept, i < 2);
        assert_int_equal(second.cell[i].kept, 1);
        assert_int_equal(again.cell[i].kept, 0);
        assert_true(same_values(&first.cell[i], &again.cell[i]));
        assert_true(same_values(&second.cell[i], &again.cell[i]));
    }
    o.force = 0;
    o.samples = 11; /* not what the store has */
    struct seen more = {0};
    o.context = &more;
    must(lg_run_eval(&o, NULL, &err), &err);
    assert_int_equal(more.cell[0].kept, 0);
    /* in no time no cell is made; in little, one of many samples has fewer, and says so */
    struct seen late = {0};
    o.context = &late;
    o.force = 1;
    o.seconds = 1e-9;
    must(lg_run_eval(&o, NULL, &err), &err);
    assert_int_equal(late.cells, 0);
    o.generated_only = 1;
    o.samples = 1000000; /* minutes */
    o.seconds = 1;
    must(lg_run_eval(&o, NULL, &err), &err);
    assert_true(late.cells > 0);
    for (int i = 0; i < late.cells; i++) {
        const lg_value *v = lg_cell_get(&late.cell[i], "exact");
        assert_true(v->samples > 0 && v->samples < 1000000 && v->value <= 1);
        assert_null(lg_cell_get(&late.cell[i], "taught_exact"));
        assert_true(late.cell[i].tokens > 1);
    }
}

/* The grid at other settings of the task, as long as it keeps its words. */
static void settings_can_vary(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=copy",           "positions.source=delta",
                                       "positions.window=[-2, 2]", "train.sparsity=auto",
                                       "eval.sparsities=auto",     "train.curriculum=none",
                                       "train.length=[1, 8]"};
    static const char *const kinds[] = {"kind=random", "kind=unique"};
    static const char *const words[] = {"alphabet=5"}, *const none[] = {"kinds=random"};
    lg_run_options o = options("copies", 1, sets, 7);
    lg_error err;
    int done;
    must(lg_run_train(&o, &done, &err), &err);
    struct seen t = {0};
    lg_eval_options e = {.folder = o.folder, .predicted = 0, .each = see_cell, .context = &t};
    e.settings = kinds;
    e.setting_count = 2;
    must(lg_run_eval(&e, NULL, &err), &err);
    assert_int_equal(t.cells, 4);
    assert_string_equal(t.cell[0].setting, "kind=random");
    assert_string_equal(t.cell[3].setting, "kind=unique");
    e.settings = words;
    e.setting_count = 1;
    e.store = in_home("none.db");
    assert_int_equal(lg_run_eval(&e, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "vocabulary"));
    e.settings = none;
    assert_int_equal(lg_run_eval(&e, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "\"kinds\""));
    assert_int_equal(t.cells, 4);
    assert_int_not_equal(access(e.store, F_OK), 0); /* refused before any work */
}

/* What `lengthen sample copy --json` writes: words appear in the order of the examples, which is not that
 * of the run. */
static const char *write_copies(const char *name, int ids, lg_draw d, int n)
{
    static const char *const letters[] = {"alphabet=3"};
    static char task[400];
    snprintf(task, sizeof task, "jsonl:%s", in_home(name));
    FILE *f = fopen(task + 6, "w");
    lg_error err;
    lg_task *t = lg_task_new("copy", letters, 1, &err);
    assert_non_null(f);
    assert_non_null(t);
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_example x;
    lg_example_init(&x);
    for (d.index = 0; d.index < (uint64_t)n; d.index++) {
        must(lg_task_example(t, &d, &x, &err), &err);
        fputs("{\"tokens\": [", f);
        for (int i = 0; i < x.n; i++) fprintf(f, "%s\"%s\"", i ? ", " : "", s->words[x.tokens[i]]);
        fputs("], \"loss\": [0", f);
        for (int i = 1; i < x.n; i++) fprintf(f, ", %d", x.loss[i]);
        if (ids) fprintf(f, "], \"ids\": [%d", x.labels[0][0]);
        for (int i = 1; i < x.n && ids; i++) fprintf(f, ", %d", x.labels[0][i]);
        fprintf(f, "], \"length\": %d}\n", x.length);
    }
    lg_example_clear(&x);
    lg_task_free(t);
    assert_int_equal(fclose(f), 0);
    return task;
}

/* Answers do not depend on whether examples are drawn or read from a file of the user's: words, the stop
 * token and the IDs, which this encoding tells from the same ones shifted, are those of the run. A file
 * has as many examples as it has lines. */
static void own_examples_are_answered_alike(void **state)
{
    (void)state;
    static const int lengths[] = {4};
    for (int ids = 0; ids < 2; ids++) {
        const char *sets[] = {"task.name=copy",
                              "task.alphabet=3",
                              ids ? "positions.ids=coupled" : "positions.ids=plain",
                              "positions.source=given",
                              "positions.encoding=sinusoidal",
                              "positions.span=full",
                              "positions.window=[0, 0]",
                              "eval.sparsities=auto",
                              "train.sparsity=auto",
                              "train.curriculum=none",
                              "train.length=[1, 4]",
                              "train.steps=200",
                              "train.lr=1e-2"};
        lg_run_options o = options(ids ? "coupled" : "plain", 1, sets, sizeof sets / sizeof *sets);
        lg_error err;
        int done;
        must(lg_run_train(&o, &done, &err), &err);
        struct seen drawn = {0}, read = {0};
        lg_eval_options e = {.folder = o.folder, .each = see_cell, .context = &drawn};
        e.lengths = lengths;
        e.length_count = 1;
        e.samples = 40;
        must(lg_run_eval(&e, NULL, &err), &err);
        lg_draw d = {.seed = 5,
                     .stream = LG__STREAM_TEST,
                     .length_lo = 4,
                     .length_hi = 4}; /* as eval draws them */
        e.task = write_copies(ids ? "with.jsonl" : "without.jsonl", ids, d, 40);
        e.context = &read;
        e.samples = 100;
        must(lg_run_eval(&e, NULL, &err), &err);
        assert_int_equal(read.cells, 1);
        assert_int_equal(samples_of(&read.cell[0], "exact"), 40);
        assert_true(3 * value_of(&drawn.cell[0], "taught_token_accuracy") > 1); /* not in vain */
        assert_true(same_values(&read.cell[0], &drawn.cell[0]));
        static const char *const vocab[] = {"vocab=words"};
        e.settings = vocab;
        e.setting_count = 1;
        assert_int_equal(lg_run_eval(&e, NULL, &err), LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, "those that the run was trained with"));
    }
}

static int try_again(void *context, const lg_run_step *s)
{
    lg_run_options *o = context;
    lg_error err;
    int done;
    if (s->step == 1) {
        assert_int_equal(lg_run_train(o, &done, &err), LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, "another process is training"));
    }
    return 1;
}

static void only_one_process_trains_a_run(void **state)
{
    (void)state;
    lg_run_options o = options("busy", 1, NULL, 0), second = o;
    lg_error err;
    int done;
    second.resume = LG_RUN_RESUME;
    o.watch = try_again;
    o.context = &second;
    must(lg_run_train(&o, &done, &err), &err);
    same_bytes(o.folder, in_home("whole"));
}

static int count_steps(void *context, const lg_run_step *s)
{
    *(int64_t *)context = s->step;
    return 1;
}

/* A run that stopped early because it was good enough is whole: resuming it must not train on. */
static void an_early_stop_is_an_end(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=parity-scratchpad",
                                       "positions.source=delta",
                                       "positions.window=[0, 1]",
                                       "train.steps=2000",
                                       "train.batch=64",
                                       "train.lr=4e-3",
                                       "model.width=64",
                                       "train.length=[1, 5]",
                                       "train.sparsity=auto",
                                       "train.curriculum=none",
                                       "eval.sparsities=auto",
                                       "train.stop_at=0.5"};
    lg_run_options o = options("early", 0, sets, 12);
    lg_error err = {0};
    int64_t last = 0, again = 0;
    int done = 0;
    o.watch = count_steps;
    o.context = &last;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(done, 1);
    assert_true(last >= 100 && last < 2000 && last % 100 == 0);
    o.resume = 1;
    o.watch = count_steps;
    o.context = &again;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(done, 1);
    assert_int_equal(again, 0);
}

/* An ID head that is wrong shows in the predicted cells alone. */
static void given_and_predicted_differ_where_they_should(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=parity-scratchpad",
                                       "positions.source=delta",
                                       "positions.window=[0, 1]",
                                       "train.steps=250",
                                       "train.batch=64",
                                       "train.lr=4e-3",
                                       "model.width=64",
                                       "train.length=[1, 10]",
                                       "train.sparsity=auto",
                                       "train.curriculum=none",
                                       "eval.sparsities=auto",
                                       "train.id_weight=0"};
    lg_run_options o = options("blind", 0, sets, 12);
    lg_error err = {0};
    int done;
    must(lg_run_train(&o, &done, &err), &err);
    lg_eval_options e = {.folder = o.folder, .predicted = -1, .samples = 50};
    struct cells c = {0};
    e.each = keep_cell;
    e.context = &c;
    must(lg_run_eval(&e, NULL, &err), &err);
    assert_int_equal(c.n, 4);
    for (int i = 0; i < 2; i++) {
        print_message("length %d: given %d, predicted %d of 50\n", c.cell[i].length,
                      exact_of(&c.cell[i]), exact_of(&c.cell[i + 2]));
        assert_true(exact_of(&c.cell[i]) > 45);
        assert_true(exact_of(&c.cell[i + 2]) < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_run_ends_with_the_same_bytes),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_grid_has_every_cell_that_can_be),
        cmocka_unit_test(intervals_are_wilsons),
        cmocka_unit_test(a_schedule_grows_evenly),
        cmocka_unit_test(evaluations_on_the_way_are_kept),
        cmocka_unit_test(an_evaluation_goes_on_where_it_was),
        cmocka_unit_test(settings_can_vary),
        cmocka_unit_test(own_examples_are_answered_alike),
        cmocka_unit_test(only_one_process_trains_a_run),
        cmocka_unit_test(an_early_stop_is_an_end),
        cmocka_unit_test(given_and_predicted_differ_where_they_should),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
