/* test_trouble.c: what happens around a run that it did not ask for: a store that is locked or
 * deleted, a folder that is copied or edited, Ctrl-C in an evaluation. Nothing that was said to be
 * saved is lost, and nothing is taken for something else. */
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers/cells.h"
#include "helpers/home.h"
#include "runs/run.h"
#include "runs/store.h"
#include "helpers/training.h"

enum { STEPS = 24 };

static int prepare(void **state)
{
    lg__store_patience(300);
    return make_home(state);
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
    char command[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static int is_there(const char *path) { return access(path, F_OK) == 0; }

static void says(const lg_error *err, const char *words)
{
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

/* ---- Runs ------------------------------------------------------------------------------------- */

static const char *const common[] = {
    "seed=3",
    "task.name=copy",
    "positions.ids=coupled",
    "positions.source=delta",
    "positions.encoding=relative",
    "positions.span=window",
    "model.width=16",
    "model.heads=2",
    "train.steps=24",
    "train.batch=8",
    "train.warmup=5",
    "train.length=[1, 5]",
    "train.checkpoint_every=8",
    "eval.lengths=[3, 5]",
    "eval.samples=4",
};
enum { COMMON = sizeof common / sizeof *common, MORE = 6 };

/* Options of a run with up to MORE other sets; the folder and the store are named after it. */
static lg_run_options options(const char *name, const char *const *more, int count)
{
    static const char *sets[8][COMMON + MORE];
    static char store[8][300];
    static int next;
    int i = next++ % 8;
    memcpy(sets[i], common, sizeof common);
    for (int k = 0; k < count; k++) sets[i][COMMON + k] = more[k];
    snprintf(store[i], sizeof store[i], "%s/%s.db", home, name);
    return (lg_run_options){.sets = sets[i],
                            .set_count = COMMON + count,
                            .folder = in_home(name),
                            .store = store[i],
                            .resume = LG_RUN_EITHER,
                            .threads = 1};
}

static int train_run(lg_run_options *o, lg_error *err)
{
    int done = 0, e = lg_run_train(o, &done, err);
    if (!e && !o->stop) assert_int_equal(done, 1);
    return e;
}

struct told {
    int64_t number, step;
    int steps, cells;
    char state[20], folder[300];
    lg_cell cell[32];
};

static void keep_run(void *context, const lg_store_run *r)
{
    struct told *t = context;
    t->number = r->number;
    t->step = r->step;
    snprintf(t->state, sizeof t->state, "%s", r->state);
    snprintf(t->folder, sizeof t->folder, "%s", r->folder);
}

static int count_step(void *context, const lg_run_step *s)
{
    struct told *t = context;
    assert_int_equal(s->step, ++t->steps); /* in order, none missing, none twice */
    return 1;
}

static void keep_cell(void *context, const lg_cell *c)
{
    struct told *t = context;
    assert_true(t->cells < 32);
    t->cell[t->cells] = *c;
    t->cell[t->cells].unit = NULL;
    t->cell[t->cells++].seconds = 0;
}

/* What a store says of the run in a folder. */
static struct told look(const char *file, const char *run)
{
    struct told t = {0};
    lg_error err = {0};
    lg_store *s = lg_store_open(file, 0, &err);
    if (!s) fail_msg("%s", err.text);
    must(lg_store_find(s, run, keep_run, &t, &err), &err);
    must(lg_store_steps(s, t.number, count_step, &t, &err), &err);
    must(lg_store_cells(s, t.number, -2, NULL, keep_cell, &t, &err), &err);
    lg_store_close(s);
    return t;
}

static void same_weights(const char *a, const char *b)
{
    shell("cmp %s/checkpoint/step-000000024/model.safetensors "
          "%s/checkpoint/step-000000024/model.safetensors",
          a, b);
    shell("cmp %s/checkpoint/step-000000024/state.safetensors "
          "%s/checkpoint/step-000000024/state.safetensors",
          a, b);
}

/* ---- The store -------------------------------------------------------------------------------- */

struct lock {
    sqlite3 *db;
    int at; /* the step after which it is taken */
    const char *file;
    char note[600];
};

static int take_lock(void *context, const lg_run_step *s)
{
    struct lock *l = context;
    if (s->note) snprintf(l->note, sizeof l->note, "%s", s->note);
    if (s->step == l->at) {
        assert_int_equal(sqlite3_open(l->file, &l->db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(l->db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    }
    return 1;
}

/* Locked from step 3 on until the end: training goes on to its last checkpoint, the user is told,
 * and the rows wait in a file until the run is resumed. */
static void a_locked_store_does_not_stop_training(void **state)
{
    (void)state;
    lg_run_options whole = options("whole", NULL, 0), o = options("locked", NULL, 0);
    lg_error err = {0};
    char waiting[400];
    must(train_run(&whole, &err), &err);
    struct lock l = {.at = 3, .file = o.store};
    o.watch = take_lock;
    o.context = &l;
    assert_int_equal(train_run(&o, &err), LG_ERROR_SYSTEM);
    says(&err, "the run is saved");
    says(&err, "another program");
    says(&err, "--resume");
    if (!strstr(l.note, "training goes on")) fail_msg("not told: \"%s\"", l.note);
    snprintf(waiting, sizeof waiting, "%s/" LG__RUN_WAITING, o.folder);
    assert_true(is_there(waiting));
    same_weights(o.folder, whole.folder);
    sqlite3_close(l.db);
    o.watch = NULL;
    must(train_run(&o, &err), &err);
    assert_false(is_there(waiting));
    struct told t = look(o.store, o.folder);
    assert_int_equal(t.steps, STEPS);
    assert_string_equal(t.state, "done");
    same_weights(o.folder, whole.folder);
}

/* Killed while the rows wait in the file: those up to the checkpoint come from there. */
static void waiting_rows_survive_a_kill(void **state)
{
    (void)state;
    lg_run_options o = options("waiting", NULL, 0);
    lg_error err = {0};
    int status, pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct lock l = {.at = 3, .file = o.store};
        o.watch = take_lock;
        o.context = &l;
        lg__store_kill_at(1000);
        train_run(&o, &err);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    shell("rm -r %s/checkpoint/step-000000024", o.folder); /* as if killed at step 16 */
    must(train_run(&o, &err), &err);
    assert_int_equal(look(o.store, o.folder).steps, STEPS);
    same_weights(o.folder, in_home("whole"));
}

static int delete_store(void *context, const lg_run_step *s)
{
    if (s->step == 5) unlink(context);
    return 1;
}

/* A store that is deleted under a run is not written to as if it were there. */
static void a_deleted_store_is_noticed(void **state)
{
    (void)state;
    lg_run_options o = options("deleted", NULL, 0);
    lg_error err = {0};
    o.watch = delete_store;
    o.context = (void *)(uintptr_t)o.store;
    assert_int_equal(train_run(&o, &err), LG_ERROR_SYSTEM);
    says(&err, "deleted or moved");
    o.watch = NULL;
    must(train_run(&o, &err), &err);
    assert_true(is_there(o.store));
    same_weights(o.folder, in_home("whole"));
}

/* ---- Folders ---------------------------------------------------------------------------------- */

/* A copy is not the run: what is done to one is not done to the other. */
static void a_copy_is_not_the_run(void **state)
{
    (void)state;
    lg_run_options o = options("first", NULL, 0);
    lg_error err = {0};
    must(train_run(&o, &err), &err);
    shell("cp -r %s %s", o.folder, in_home("second"));
    lg_eval_options e = {.folder = in_home("second"), .store = o.store, .predicted = 0};
    must(lg_run_eval(&e, NULL, &err), &err);
    struct told t = look(o.store, o.folder);
    if (!strstr(t.folder, "/first")) fail_msg("the run moved to %s", t.folder);
    lg_store *s = lg_store_open(o.store, 0, &err);
    assert_int_equal(lg_store_find(s, in_home("second"), keep_run, &t, &err), LG_ERROR_ARGUMENT);
    says(&err, "copy of run 1");
    lg_run_options again = o;
    again.folder = in_home("second");
    assert_int_equal(train_run(&again, &err), LG_ERROR_ARGUMENT);
    says(&err, "is a copy");
    /* once the first is gone the second is it */
    shell("rm -r %s", o.folder);
    must(train_run(&again, &err), &err);
    assert_non_null(strstr(look(o.store, again.folder).folder, "/second"));
    must(lg_store_delete(s, 1, &err), &err);
    assert_false(is_there(again.folder));
    lg_store_close(s);
}

/* "1" may be a number or a folder; who deletes must know which. */
static void a_number_is_not_a_folder(void **state)
{
    (void)state;
    lg_run_options o = options("numbers", NULL, 0);
    lg_error err = {0};
    struct told t = {0};
    char here[300];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(home), 0);
    static const char *const names[] = {"2", "1"};
    for (int i = 0; i < 2; i++) {
        o.folder = names[i];
        must(train_run(&o, &err), &err);
    }
    lg_store *s = lg_store_open(o.store, 0, &err);
    assert_int_equal(lg_store_find(s, "1", keep_run, &t, &err), LG_ERROR_ARGUMENT);
    says(&err, "./1");
    must(lg_store_find(s, "./1", keep_run, &t, &err), &err);
    assert_int_equal(t.number, 2);
    lg_store_close(s);
    assert_int_equal(chdir(here), 0);
}

static void folders_that_cannot_be_taken(void **state)
{
    (void)state;
    lg_run_options o = options("odd", NULL, 0);
    lg_error err = {0};
    int done;
    /* a config that cannot be read is no reason to write another one over it */
    shell("mkdir -p %s/config.yaml", o.folder);
    assert_int_equal(lg_run_train(&o, &done, &err), LG_ERROR_SYSTEM);
    says(&err, "cannot be read");
    shell("rmdir %s/config.yaml && mkdir -p %s/checkpoint/step-000000008", o.folder, o.folder);
    assert_int_equal(lg_run_train(&o, &done, &err), LG_ERROR_ARGUMENT);
    says(&err, "config.yaml is gone");
    o.folder = "";
    assert_int_equal(lg_run_train(&o, &done, &err), LG_ERROR_ARGUMENT);
    says(&err, "no name");
    shell("touch %s", in_home("file"));
    o.folder = in_home("file/x");
    assert_true(lg_run_train(&o, &done, &err) < 0);
    assert_false(is_there(o.store)); /* a refused run makes no store */
}

/* A config.yaml from before there was a key means that key's default. */
static void an_older_config_is_still_the_same(void **state)
{
    (void)state;
    static const char *const seed[] = {"seed=4"};
    lg_run_options o = options("older", NULL, 0), other = options("older", seed, 1);
    lg_error err = {0};
    must(train_run(&o, &err), &err);
    shell("grep -q curriculum_at %s/config.yaml", o.folder);
    shell("sed -i /curriculum_at/d %s/config.yaml", o.folder);
    must(train_run(&o, &err), &err);
    int done;
    assert_int_equal(lg_run_train(&other, &done, &err), LG_ERROR_ARGUMENT);
    says(&err, "seed: 3");
}

static void keep_zero_keeps_all(void **state)
{
    (void)state;
    static const char *const all[] = {"train.keep=0"};
    lg_run_options o = options("all", all, 1);
    lg_error err = {0};
    must(train_run(&o, &err), &err);
    for (int step = 8; step <= STEPS; step += 8) {
        char path[400];
        snprintf(path, sizeof path, "%s/checkpoint/step-%09d", o.folder, step);
        assert_true(is_there(path));
    }
}

/* ---- Evaluations ------------------------------------------------------------------------------ */

/* Rotations that are set for a long test must not stay for the training after it. */
static void an_evaluation_does_not_change_the_training(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "positions.encoding=rope", "positions.span=full", "positions.rope.scaling=dynamic",
        "positions.rope.length=8", "eval.lengths=[40]",   "eval.every=5"};
    lg_run_options o = options("dynamic", sets, 5), way = options("dynamic-way", sets, 6);
    lg_error err = {0};
    must(train_run(&o, &err), &err);
    must(train_run(&way, &err), &err);
    shell("cmp %s/checkpoint/step-000000024/model.safetensors "
          "%s/checkpoint/step-000000024/model.safetensors",
          o.folder, way.folder);
}

static volatile int stop_now;

static void stop_at_third(void *context, const lg_cell *c)
{
    (void)c;
    if (++*(int *)context == 3) stop_now = 1;
}

/* Stopped between two cells of an evaluation on the way: the resumed run makes the others. */
static void a_stop_in_an_evaluation_loses_no_cell(void **state)
{
    (void)state;
    static const char *const way[] = {"eval.every=6"};
    lg_run_options whole = options("cells", way, 1), o = options("cells-stopped", way, 1);
    lg_error err = {0};
    int cells = 0, done = 1;
    must(train_run(&whole, &err), &err);
    stop_now = 0;
    o.stop = &stop_now;
    o.each = stop_at_third;
    o.context = &cells;
    must(lg_run_train(&o, &done, &err), &err);
    assert_int_equal(done, 0);
    assert_int_equal(cells, 3);
    assert_int_equal(look(o.store, o.folder).steps, 6);
    o.stop = NULL;
    must(train_run(&o, &err), &err);
    struct told a = look(whole.store, whole.folder), b = look(o.store, o.folder);
    assert_int_equal(a.cells, 16); /* 2 lengths, given and predicted, at 4 steps */
    assert_int_equal(b.cells, 16);
    assert_memory_equal(a.cell, b.cell, sizeof a.cell[0] * 16);
    same_weights(o.folder, whole.folder);
}

/* In another store than that of its training, a run is as far as its checkpoint. */
static void another_store_knows_how_far_it_is(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_eval_options e = {.folder = in_home("whole"), .store = in_home("other.db"), .predicted = 0};
    must(lg_run_eval(&e, NULL, &err), &err);
    struct told t = {0};
    lg_store *s = lg_store_open(e.store, 0, &err);
    must(lg_store_find(s, e.folder, keep_run, &t, &err), &err);
    lg_store_close(s);
    assert_int_equal(t.step, STEPS);
    assert_string_equal(t.state, "done");
}

static void write_lines(const char *path, const char *answer)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 32; i++) /* each twice */
        fprintf(f,
                "{\"tokens\": [\"%c\", \"%c\", \"%c\", \"%c\", \"=\", \"%s\"], \"loss\": "
                "[0, 0, 0, 0, 0, 1], \"length\": 2}\n",
                'a' + (i >> 3 & 1), 'a' + (i >> 2 & 1), 'a' + (i >> 1 & 1), 'a' + (i & 1), answer);
    fprintf(f, "{\"tokens\": [\"a\", \"b\", \"a\", \"=\", \"b\"], \"loss\": [0, 0, 0, 0, 1], "
               "\"length\": 3}\n");
    fclose(f);
}

/* Cells of own data are those of the file as it was, and of the task that was named. */
static void own_data_is_known_by_its_content(void **state)
{
    (void)state;
    char name[400];
    const char *file = in_home("data.jsonl"), *words = in_home("words.txt");
    FILE *f = fopen(words, "w");
    fputs("a\nb\n=\n", f);
    fclose(f);
    write_lines(file, "a");
    snprintf(name, sizeof name, "task.name=jsonl:%s", file);
    char vocab[400];
    snprintf(vocab, sizeof vocab, "task.vocab=%s", words);
    const char *sets[] = {name,
                          vocab,
                          "train.length=[2, 3]",
                          "eval.lengths=[2]",
                          "train.lr=0.01",
                          "train.steps=24",
                          "eval.samples=10"};
    lg_run_options o = {.sets = sets,
                        .set_count = 7,
                        .folder = in_home("own"),
                        .store = in_home("own.db"),
                        .threads = 1};
    lg_error err = {0};
    must(train_run(&o, &err), &err);
    struct told t = {0};
    lg_eval_options e = {.folder = o.folder, .store = o.store, .each = keep_cell, .context = &t};
    must(lg_run_eval(&e, NULL, &err), &err);
    must(lg_run_eval(&e, NULL, &err), &err);
    write_lines(file, "b");
    must(lg_run_eval(&e, NULL, &err), &err);
    assert_int_equal(t.cell[0].kept, 0);
    assert_int_equal(t.cell[1].kept, 1);
    assert_int_equal(t.cell[2].kept, 0);
    assert_int_not_equal(exact_of(&t.cell[2]), exact_of(&t.cell[0]));
    assert_true(t.cell[0].tokens == 6);
    assert_int_equal(samples_of(&t.cell[0], "exact"), 4); /* two contents are held out */
    struct told shown = {0};
    lg_store *s = lg_store_open(o.store, 0, &err);
    must(lg_store_cells(s, 1, -1, NULL, keep_cell, &shown, &err), &err);
    lg_store_close(s);
    assert_int_equal(shown.cells, 1); /* the latest */
    assert_int_equal(exact_of(&shown.cell[0]), exact_of(&t.cell[2]));
    char setting[400], task[400];
    snprintf(setting, sizeof setting, "vocab=%s", words);
    const char *one[] = {setting};
    snprintf(task, sizeof task, "jsonl:%s", file);
    e.settings = one;
    e.setting_count = 1;
    assert_int_equal(lg_run_eval(&e, NULL, &err),
                     LG_ERROR_ARGUMENT); /* there are the run's words */
    assert_non_null(strstr(err.text, "leave vocab out"));
    e.setting_count = 0;
    e.task = task;
    must(lg_run_eval(&e, NULL, &err), &err);
    assert_int_equal(t.cells, 4);
    assert_int_equal(t.cell[3].kept, 0); /* not the cell of the run's own task */
    o.resume = 1;                        /* its examples are not those that it began with */
    assert_int_equal(train_run(&o, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "have changed since"));
}

/* Without task.vocab the words have the order of the file: in another order every one would be taken for
 * another. */
static void words_in_another_order_are_refused(void **state)
{
    (void)state;
    char name[400];
    const char *file = in_home("order.jsonl");
    snprintf(name, sizeof name, "task.name=jsonl:%s", file);
    const char *sets[] = {name, "train.length=[2, 3]", "eval.lengths=[2]", "train.steps=2"};
    lg_run_options o = {.sets = sets, .set_count = 4, .folder = in_home("order"), .threads = 1};
    lg_eval_options e = {.folder = o.folder};
    lg_error err = {0};
    write_lines(file, "a");
    must(train_run(&o, &err), &err);
    must(lg_run_eval(&e, NULL, &err), &err);
    FILE *f = fopen(file, "w");
    fputs("{\"tokens\": [\"b\", \"a\", \"=\", \"a\"], \"loss\": [0, 0, 0, 1], \"length\": 2}\n", f);
    fclose(f);
    assert_int_equal(lg_run_eval(&e, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "in another order"));
    write_lines(file, "b"); /* other answers, the same words */
    must(lg_run_eval(&e, NULL, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_locked_store_does_not_stop_training),
        cmocka_unit_test(waiting_rows_survive_a_kill),
        cmocka_unit_test(a_deleted_store_is_noticed),
        cmocka_unit_test(a_copy_is_not_the_run),
        cmocka_unit_test(a_number_is_not_a_folder),
        cmocka_unit_test(folders_that_cannot_be_taken),
        cmocka_unit_test(an_older_config_is_still_the_same),
        cmocka_unit_test(keep_zero_keeps_all),
        cmocka_unit_test(an_evaluation_does_not_change_the_training),
        cmocka_unit_test(a_stop_in_an_evaluation_loses_no_cell),
        cmocka_unit_test(another_store_knows_how_far_it_is),
        cmocka_unit_test(own_data_is_known_by_its_content),
        cmocka_unit_test(words_in_another_order_are_refused),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
