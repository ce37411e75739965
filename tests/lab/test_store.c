/* test_store.c: what the store has of runs, their steps, cells and losses: written twice, moved,
 * rewound, brought up to date from an older version, deleted. Without it a run could be taken for
 * another, a step count twice, or what an older lengthen measured be lost. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lab/storing.h"
#include "lab/study.h"

static lg_run_cell cell_of(int64_t step, int length, int samples, int exact)
{
    lg_run_cell c = {.step = step, .length = length, .low = 0.1, .high = 0.9, .seconds = 2};
    c.score = (lg_score){.samples = samples, .exact = exact, .tokens = 100, .right = 90};
    c.score.first_least = 3;
    c.score.first_median = 4;
    for (int i = 0; i < 10; i++) c.score.first_in[i] = 11 * i;
    return c;
}

struct cells {
    int count;
    lg_run_cell cell[16];
};

static void keep_cell(void *context, const lg_run_cell *c)
{
    struct cells *n = context;
    if (n->count < 16) n->cell[n->count] = *c;
    n->count++;
}

static struct cells cells_of(lg_store *s, int64_t number, int64_t step)
{
    struct cells n = {0};
    lg_error err = {0};
    must(lg_store_cells(s, number, step, keep_cell, &n, &err), &err);
    return n;
}

static void keep_machine(void *context, const lg_store_run *r)
{
    *(char **)context = strdup(r->machine);
}

static void cannot_find(lg_store *s, const char *name, const char *words)
{
    struct found f = {0};
    lg_error err = {0};
    assert_int_equal(lg_store_find(s, name, keep_run, &f, &err), LG_ERROR_ARGUMENT);
    says(&err, words);
    assert_int_equal(f.count, 0);
}

static int lock_folder(const char *path)
{
    int f = open(path, O_RDONLY | O_DIRECTORY);
    return f < 0 || flock(f, LOCK_EX) != 0;
}

/* ---- Runs ------------------------------------------------------------------------------- */

static void a_run_is_known_by_its_id(void **state)
{
    (void)state;
    lg_store *s = open_store("known.db");
    lg_error err = {0};
    assert_int_equal(add_run(s, "aaaa000000000001", "/x/runs/one"), 1);
    assert_int_equal(add_run(s, "bbbb000000000002", "/x/runs/two"), 2);
    must(lg__store_state(s, 1, "failed", "it was the weather", &err), &err);
    assert_int_equal(add_run(s, "aaaa000000000001", "/x/moved/one"), 1);
    struct found f = find(s, "1");
    assert_string_equal(f.folder, "/x/moved/one");
    assert_string_equal(f.state, "failed");
    assert_string_equal(f.error, "it was the weather");
    struct found all = {0};
    must(lg_store_runs(s, keep_run, &all, &err), &err);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.number, 1); /* the newest comes first, so this was last */
    lg_store_close(s);
    s = open_store("known.db"); /* it is a file */
    assert_string_equal(find(s, "1").folder, "/x/moved/one");
    lg_store_close(s);
}

static void a_run_is_found_by_many_names(void **state)
{
    (void)state;
    lg_store *s = open_store("names.db");
    add_run(s, "1234000000000001", "/x/runs/one");
    add_run(s, "12345000000000f2", "/x/runs/two");
    add_run(s, "cccc000000000003", "/y/one");
    add_run(s, "dddd000000000004", "/y/100%_o'ne");
    assert_int_equal(find(s, "2").number, 2);
    assert_int_equal(find(s, "/x/runs/one").number, 1);
    assert_int_equal(find(s, "runs/one").number, 1);
    assert_int_equal(find(s, "two").number, 2);
    assert_int_equal(find(s, "cccc").number, 3);
    assert_int_equal(find(s, "12345").number, 2);
    assert_int_equal(find(s, "100%_o'ne").number, 4);
    cannot_find(s, "one", "may be one of 2 runs");
    cannot_find(s, "1234", "may be one of 2 runs");
    cannot_find(s, "ccc", "is no run"); /* too short for an ID */
    cannot_find(s, "ne", "is no run");
    cannot_find(s, "%", "is no run");
    cannot_find(s, "", "`lengthen runs` lists them");
    cannot_find(s, "5", "names.db");
    lg_store_close(s);
}

/* "training" is believed only while somebody holds the folder. */
static void a_killed_run_is_stopped(void **state)
{
    (void)state;
    lg_store *s = open_store("state.db");
    lg_error err = {0};
    const char *folder = in_home("alive");
    assert_int_equal(mkdir(folder, 0700), 0);
    int64_t number = add_run(s, "aaaa000000000001", folder);
    must(lg__store_state(s, number, "training", NULL, &err), &err);
    assert_string_equal(find(s, "1").state, "stopped");
    struct holder h = start_holding(lock_folder, folder);
    assert_string_equal(find(s, "1").state, "training");
    let_go(&h);
    assert_string_equal(find(s, "1").state, "stopped");
    lg_store_close(s);
}

/* ---- Steps ------------------------------------------------------------------------------ */

static void steps_are_replaced_not_doubled(void **state)
{
    (void)state;
    lg_store *s = open_store("steps.db");
    lg_error err = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one"),
            other = add_run(s, "bbbb000000000002", "/x/two");
    must(add_steps(s, number, 1, 10, 0, &err), &err);
    must(add_steps(s, other, 1, 3, 0, &err), &err);
    must(add_steps(s, number, 6, 15, 100, &err), &err);
    must(add_steps(s, number, 16, 15, 0, &err), &err); /* none */
    struct steps n = steps_of(s, number);
    assert_int_equal(n.count, 15);
    assert_int_equal(n.last, 15);
    assert_true(n.loss == 120 + 10 * 100);
    assert_int_equal(find(s, "1").step, 15);
    assert_int_equal(steps_of(s, other).count, 3);
    /* rows of a run that there is not are refused, whole */
    assert_true(add_steps(s, 99, 1, 3, 0, &err) < 0);
    assert_int_equal(steps_of(s, 99).count, 0);
    lg_store_close(s);
}

static void rewind_forgets_what_came_after(void **state)
{
    (void)state;
    lg_store *s = open_store("rewind.db");
    lg_error err = {0};
    int64_t kept, number = add_run(s, "aaaa000000000001", "/x/one"),
                  other = add_run(s, "bbbb000000000002", "/x/two");
    must(add_steps(s, number, 1, 20, 0, &err), &err);
    must(add_steps(s, other, 1, 20, 0, &err), &err);
    for (int step = 5; step <= 20; step += 5) {
        lg_run_cell c = cell_of(step, 3, 10, 5);
        must(lg__store_add_cell(s, number, &c, &err), &err);
        must(lg__store_add_cell(s, other, &c, &err), &err);
    }
    must(lg__store_rewind(s, number, 12, &kept, &err), &err);
    assert_int_equal(kept, 12);
    assert_int_equal(steps_of(s, number).last, 12);
    assert_int_equal(find(s, "1").step, 12);
    assert_int_equal(cells_of(s, number, -2).count, 2);
    assert_int_equal(steps_of(s, other).count, 20);
    assert_int_equal(cells_of(s, other, -2).count, 4);
    must(lg__store_rewind(s, number, 0, &kept, &err), &err);
    assert_int_equal(kept, 0);
    lg_store_close(s);
}

/* ---- Cells ------------------------------------------------------------------------------ */

static void a_cell_comes_back_as_it_was(void **state)
{
    (void)state;
    lg_store *s = open_store("cells.db");
    lg_error err = {0};
    int found;
    int64_t number = add_run(s, "aaaa000000000001", "/x/one");
    lg_run_cell c = cell_of(7, 50, 40, 30), back;
    c.sparsity = 3;
    c.predicted = 1;
    c.tokens = 12.5;
    snprintf(c.setting, sizeof c.setting, "names=50");
    c.taught = (lg_score){.samples = 40, .exact = 33, .tokens = 99, .right = 98, .ids = 5};
    must(lg__store_add_cell(s, number, &c, &err), &err);
    back = (lg_run_cell){.step = 7, .length = 50, .sparsity = 3, .predicted = 1};
    snprintf(back.setting, sizeof back.setting, "names=50");
    must(lg__store_get_cell(s, number, &back, 40, 1, &found, &err), &err);
    assert_true(found);
    assert_true(back.kept);
    assert_int_equal(back.score.exact, 30);
    assert_memory_equal(back.score.first_in, c.score.first_in, sizeof c.score.first_in);
    assert_int_equal(back.score.first_median, 4);
    assert_int_equal(back.score.right, 90);
    assert_int_equal(back.taught.exact, 33);
    assert_int_equal(back.taught.ids, 5);
    assert_true(back.tokens == 12.5 && back.low == 0.1 && back.high == 0.9 && back.seconds == 2);
    assert_string_equal(back.setting, "names=50");
    lg_store_close(s);
}

/* Whether the store has a cell of step 7, length 5. */
static int has(lg_store *s, int64_t number, const char *setting, int samples, int taught)
{
    lg_error err = {0};
    lg_run_cell c = {.step = 7, .length = 5};
    int found;
    snprintf(c.setting, sizeof c.setting, "%s", setting);
    must(lg__store_get_cell(s, number, &c, samples, taught, &found, &err), &err);
    return found;
}

/* The newest state of the data counts, and of it the most samples: no cell hides all others. */
static void a_cell_of_two_states_is_shown_once(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_store *s = lg_store_open(in_home("states.db"), 1, &err);
    int64_t number = add_run(s, "00000000000000c1", "/c1");
    static const struct {
        const char *data;
        int samples, exact;
    } made[] = {{"1", 200, 7}, {"2", 150, 8}, {"1", 100, 9}};
    for (int i = 0; i < 3; i++) {
        lg_run_cell c = cell_of(5, 10, made[i].samples, made[i].exact);
        snprintf(c.data, sizeof c.data, "%s", made[i].data);
        must(lg__store_add_cell(s, number, &c, &err), &err);
        struct cells n = cells_of(s, number, -1);
        assert_int_equal(n.count, 1);
        assert_int_equal(n.cell[0].score.exact, i == 1 ? 8 : 7);
    }
    lg_store_close(s);
}

/* A run that another build goes on with names both; one that is done is as it was. */
static void a_run_of_two_builds_names_both(void **state)
{
    (void)state;
    lg_error err = {0};
    const char *file = in_home("builds.db");
    lg_store *s = lg_store_open(file, 1, &err);
    int64_t number = add_run(s, "00000000000000c2", "/c2");
    static const char *const steps[] = {"1000", "999"};
    for (int i = 0; i < 2; i++) {
        char sql[200], want[100], *machine = NULL;
        snprintf(sql, sizeof sql,
                 "UPDATE runs SET machine = 'lengthen 0.1.0 (abc, gcc), x', step = %s", steps[i]);
        assert_int_equal(run_sql(file, sql), SQLITE_OK);
        lg_store_run r = run_of("00000000000000c2", "/c2");
        must(lg__store_register(s, &r, 1, &number, &err), &err);
        must(lg_store_find(s, "00000000000000c2", keep_machine, &machine, &err), &err);
        snprintf(want, sizeof want, i ? "(abc+%s, " : "(%.0sabc, gcc)", lg_commit());
        assert_non_null(strstr(machine, want));
        free(machine);
    }
    lg_store_close(s);
}

static void only_the_same_cell_is_taken(void **state)
{
    (void)state;
    lg_store *s = open_store("same.db");
    lg_error err = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one"),
            other = add_run(s, "bbbb000000000002", "/x/two");
    lg_run_cell few = cell_of(7, 5, 10, 9), many = cell_of(7, 5, 100, 70),
                old = cell_of(3, 5, 10, 1);
    many.taught.samples = 100;
    must(lg__store_add_cell(s, number, &few, &err), &err);
    must(lg__store_add_cell(s, number, &many, &err), &err);
    must(lg__store_add_cell(s, number, &old, &err), &err);
    assert_true(has(s, number, "", 10, 0));
    assert_true(has(s, number, "", 100, 0));
    assert_true(has(s, number, "", 100, 1));
    assert_false(has(s, number, "", 10, 1)); /* not teacher-forced */
    assert_false(has(s, number, "", 50, 0));
    assert_false(has(s, number, "kind=unique", 10, 0));
    assert_false(has(s, other, "", 10, 0));

    struct cells last = cells_of(s, number, -1), all = cells_of(s, number, -2);
    assert_int_equal(last.count, 1); /* of two numbers of samples, the larger */
    assert_int_equal(last.cell[0].score.samples, 100);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.cell[0].step, 3);
    assert_int_equal(cells_of(s, number, 3).count, 1);
    assert_int_equal(cells_of(s, number, 4).count, 0);
    assert_int_equal(cells_of(s, other, -1).count, 0);

    few.score.exact = 2; /* made again: replaced */
    must(lg__store_add_cell(s, number, &few, &err), &err);
    lg_run_cell back = {.step = 7, .length = 5};
    int found;
    must(lg__store_get_cell(s, number, &back, 10, 0, &found, &err), &err);
    assert_int_equal(back.score.exact, 2);
    lg_store_close(s);
}

/* ---- Losses -------------------------------------------------------------------------------- */

static void count_loss(void *context, const lg_text_row *r)
{
    int *n = context;
    assert_true(r->kept && r->truncated.value == (double)r->step);
    ++*n;
}

static int losses_of(lg_store *s, int64_t number, int64_t step)
{
    lg_error err = {0};
    int n = 0;
    must(lg_store_losses(s, number, step, count_loss, &n, &err), &err);
    return n;
}

/* Losses by position go with the steps after a checkpoint, and with their run. */
static void losses_are_rewound_and_deleted(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_store *s = open_store("losses.db");
    int64_t number = add_run(s, "00000000000000cc", in_home("nowhere")), steps;
    for (int step = 3; step <= 6; step += 3) {
        lg_text_row rows[2] = {{.step = step, .length = 4, .low = 1, .high = 2, .documents = 5},
                               {.step = step, .length = 4, .low = 3, .high = 4, .documents = 5}};
        for (int i = 0; i < 2; i++) rows[i].truncated.value = step;
        must(lg__store_add_losses(s, number, rows, 2, 1.5, &err), &err);
    }
    assert_int_equal(losses_of(s, number, -2), 4);
    assert_int_equal(losses_of(s, number, -1), 2);
    must(lg__store_rewind(s, number, 5, &steps, &err), &err);
    assert_int_equal(losses_of(s, number, -2), 2);
    assert_int_equal(losses_of(s, number, 6), 0);
    must(lg_store_delete(s, number, &err), &err);
    assert_int_equal(losses_of(s, number, -2), 0);
    lg_store_close(s);
    assert_string_equal(ask_sql(in_home("losses.db"), "SELECT count(*) FROM losses"), "0");
}

/* ---- Versions --------------------------------------------------------------------------- */

static const char *const made_up[] = {
    "CREATE TABLE a(x INTEGER); INSERT INTO a VALUES(1), (2), (3);",
    "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7; CREATE TABLE b(z INTEGER);",
};

static void migrations_keep_what_is_there(void **state)
{
    (void)state;
    const char *file = in_home("versions.db");
    static const char *const broken[] = {
        "CREATE TABLE a(x INTEGER)",
        "CREATE TABLE b(z INTEGER); DELETE FROM a; INSERT INTO nowhere VALUES(1);"};
    lg_error err = {0};
    must(lg__store_migrate(file, made_up, 1, &err), &err);
    assert_string_equal(ask_sql(file, "SELECT count(*) FROM a"), "3");
    assert_int_equal(run_sql(file, "INSERT INTO a VALUES(40)"), SQLITE_OK);

    /* a script that fails leaves the version before it, whole */
    assert_true(lg__store_migrate(file, broken, 2, &err) < 0);
    says(&err, "nowhere");
    assert_string_equal(ask_sql(file, "SELECT max(version) FROM schema_version"), "1");
    assert_string_equal(ask_sql(file, "SELECT sum(x) FROM a"), "46");
    assert_string_equal(ask_sql(file, "SELECT count(*) FROM sqlite_master WHERE name='b'"), "0");

    must(lg__store_migrate(file, made_up, 2, &err), &err);
    must(lg__store_migrate(file, made_up, 2, &err), &err); /* once */
    assert_string_equal(ask_sql(file, "SELECT sum(x) || ' ' || sum(y) FROM a"), "46 28");
    assert_string_equal(ask_sql(file, "SELECT max(version) FROM schema_version"), "2");

    assert_true(lg__store_migrate(file, made_up, 1, &err) < 0);
    says(&err, "has version 2");
    says(&err, "use a newer lengthen");
    assert_string_equal(ask_sql(file, "SELECT sum(x) FROM a"), "46");
}

/* The script of version 1, as it was; what it made is kept, and the new columns say nothing. */
static const char *const version_1[] = {
    "CREATE TABLE runs("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, folder TEXT NOT NULL,"
    "  state TEXT NOT NULL, error TEXT NOT NULL, task TEXT NOT NULL, positions TEXT NOT NULL,"
    "  unit TEXT NOT NULL, config TEXT NOT NULL, machine TEXT NOT NULL, seed INTEGER NOT NULL,"
    "  step INTEGER NOT NULL, steps INTEGER NOT NULL, parameters INTEGER NOT NULL,"
    "  least INTEGER NOT NULL, length INTEGER NOT NULL, sparsity INTEGER NOT NULL,"
    "  created REAL NOT NULL, updated REAL NOT NULL);"
    "CREATE TABLE metrics("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  loss REAL NOT NULL, id_loss REAL NOT NULL, accuracy REAL NOT NULL,"
    "  id_accuracy REAL NOT NULL, lr REAL NOT NULL, tokens INTEGER NOT NULL, gflop REAL NOT NULL,"
    "  length INTEGER NOT NULL, sparsity INTEGER NOT NULL, PRIMARY KEY(run, step)) WITHOUT ROWID;"
    "CREATE TABLE evals("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  setting TEXT NOT NULL, data TEXT NOT NULL, length INTEGER NOT NULL,"
    "  sparsity INTEGER NOT NULL,"
    "  predicted INTEGER NOT NULL, samples INTEGER NOT NULL, exact INTEGER NOT NULL,"
    "  tokens REAL NOT NULL, answer_tokens INTEGER NOT NULL, tokens_right INTEGER NOT NULL,"
    "  ids INTEGER NOT NULL, ids_right INTEGER NOT NULL, first_least INTEGER NOT NULL,"
    "  first_median INTEGER NOT NULL, first_in TEXT NOT NULL, taught_samples INTEGER NOT NULL,"
    "  taught_exact INTEGER NOT NULL, taught_tokens INTEGER NOT NULL,"
    "  taught_tokens_right INTEGER NOT NULL, taught_ids INTEGER NOT NULL,"
    "  taught_ids_right INTEGER NOT NULL, low REAL NOT NULL, high REAL NOT NULL,"
    "  seconds REAL NOT NULL, machine TEXT NOT NULL, created REAL NOT NULL,"
    "  PRIMARY KEY(run, step, setting, data, sparsity, predicted, length, samples)) WITHOUT ROWID;",
};

static void look_at_old_run(void *context, const lg_store_run *r)
{
    char commit[64], compiler[64];
    ++*(int *)context;
    assert_string_equal(r->id, "00000000000000aa");
    assert_string_equal(r->machine, "lengthen 0.1.0, avx2, 2 cores, here");
    assert_string_equal(r->kernels, "");
    assert_true(r->seconds == 0 && r->seed == 5 && r->updated == 2.5);
    lg__store_build(r->machine, commit, compiler);
    assert_string_equal(commit, "unknown");
}

static void a_store_of_version_1_is_brought_up(void **state)
{
    (void)state;
    const char *file = in_home("old.db");
    lg_error err = {0};
    int runs = 0;
    must(lg__store_migrate(file, version_1, 1, &err), &err);
    assert_int_equal(
        run_sql(file,
                "INSERT INTO runs VALUES(7, '00000000000000aa', '/x', 'done', '', 'copy', '',"
                " 'letters', '', 'lengthen 0.1.0, avx2, 2 cores, here', 5, 9, 9, 100, 1, 5,"
                " 0, 1.5, 2.5);"
                "INSERT INTO metrics VALUES(7, 1, 0.5, 0, 1, 0, 1e-3, 40, 0.1, 5, 0);"
                "INSERT INTO evals VALUES(7, 9, '', '', 5, 0, 0, 10, 9, 11, 60, 59, 0, 0, 1, 1,"
                " '1 0 0 0 0 0 0 0 0 0', 10, 9, 60, 59, 0, 0, 0.5, 0.9, 0.25, '', 1.5);"),
        SQLITE_OK);
    lg_store *s = open_store("old.db");
    must(lg_store_runs(s, look_at_old_run, &runs, &err), &err);
    assert_int_equal(runs, 1);
    assert_int_equal(cells_of(s, 7, 9).count, 1);
    must(add_steps(s, 7, 2, 3, 0, &err), &err);
    must(lg__store_kernels(s, 7, "avx2-1+c-1", &err), &err);
    lg_store_close(s);
    assert_string_equal(ask_sql(file, "SELECT max(version) FROM schema_version"), "4");
    assert_string_equal(ask_sql(file, "SELECT count(*) FROM metrics"), "3");
    assert_string_equal(ask_sql(file, "SELECT kernels || ' ' || seconds FROM runs"),
                        "avx2-1+c-1 0.5");
}

static void a_store_of_the_future_is_refused(void **state)
{
    (void)state;
    const char *file = in_home("future.db");
    lg_error err = {0};
    lg_store_close(open_store("future.db"));
    assert_int_equal(run_sql(file, "INSERT INTO schema_version VALUES(1000)"), SQLITE_OK);
    assert_null(lg_store_open(file, 1, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    says(&err, "version 1000");
    says(&err, "newer lengthen");
}

/* ---- Deleted ---------------------------------------------------------------------------- */

/* A folder as a run leaves it. */
static const char *make_folder(const char *name, const char *id)
{
    static char folder[8][200];
    static int next;
    char path[300], text[100], *f = folder[next++ % 8];
    snprintf(f, sizeof folder[0], "%s", in_home(name));
    assert_int_equal(mkdir(f, 0700), 0);
    snprintf(path, sizeof path, "%s/checkpoint", f);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/checkpoint/step-1", f);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/checkpoint/step-1/model.safetensors", f);
    put(path, "weights");
    snprintf(path, sizeof path, "%s/config.yaml", f);
    snprintf(text, sizeof text, "# lengthen run %s\nseed: 1\n", id);
    put(path, text);
    return f;
}

static int there(const char *folder, const char *name)
{
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0;
}

static int64_t add_whole_run(lg_store *s, const char *id, const char *folder)
{
    lg_error err = {0};
    int64_t number = add_run(s, id, folder);
    lg_run_cell c = cell_of(5, 3, 10, 5);
    must(add_steps(s, number, 1, 5, 0, &err), &err);
    must(lg__store_add_cell(s, number, &c, &err), &err);
    return number;
}

static void delete_takes_what_is_the_runs_own(void **state)
{
    (void)state;
    lg_store *s = open_store("delete.db");
    lg_error err = {0};
    char path[300];
    const char *plain = make_folder("plain", "aaaa000000000001"),
               *extra = make_folder("extra", "bbbb000000000002"),
               *taken = make_folder("taken", "cccc0000000000ff"); /* another run's by now */
    snprintf(path, sizeof path, "%s/notes.txt", extra);
    put(path, "mine");
    int64_t a = add_whole_run(s, "aaaa000000000001", plain),
            b = add_whole_run(s, "bbbb000000000002", extra),
            c = add_whole_run(s, "cccc000000000003", taken),
            d = add_whole_run(s, "dddd000000000004", "/no/such/folder");
    must(lg_store_delete(s, a, &err), &err);
    assert_false(there(plain, ""));
    assert_int_equal(steps_of(s, a).count, 0);
    assert_int_equal(cells_of(s, a, -2).count, 0);
    cannot_find(s, "1", "is no run");
    assert_int_equal(steps_of(s, b).count, 5);
    assert_int_equal(cells_of(s, b, -2).count, 1);
    must(lg_store_delete(s, b, &err), &err);
    assert_true(there(extra, "notes.txt"));
    assert_false(there(extra, "config.yaml"));
    assert_false(there(extra, "checkpoint"));
    must(lg_store_delete(s, c, &err), &err);
    assert_true(there(taken, "config.yaml"));
    assert_true(there(taken, "checkpoint/step-1/model.safetensors"));
    must(lg_store_delete(s, d, &err), &err);
    assert_true(lg_store_delete(s, d, &err) < 0);
    says(&err, "there is no run 4");
    assert_int_equal(add_run(s, "eeee000000000005", "/x"), 5); /* a number is never another's */
    lg_store_close(s);
    assert_string_equal(ask_sql(in_home("delete.db"), "SELECT count(*) FROM metrics"), "0");
    assert_string_equal(ask_sql(in_home("delete.db"), "SELECT count(*) FROM evals"), "0");
}

static void a_run_that_trains_is_not_deleted(void **state)
{
    (void)state;
    lg_store *s = open_store("busy.db");
    lg_error err = {0};
    const char *folder = make_folder("busy", "aaaa000000000001");
    int64_t number = add_whole_run(s, "aaaa000000000001", folder);
    struct holder h = start_holding(lock_folder, folder);
    assert_int_equal(lg_store_delete(s, number, &err), LG_ERROR_ARGUMENT);
    says(&err, "is being trained");
    says(&err, "stop that process first");
    assert_true(there(folder, "config.yaml"));
    assert_true(there(folder, "checkpoint/step-1/model.safetensors"));
    assert_int_equal(steps_of(s, number).count, 5);
    let_go(&h);
    must(lg_store_delete(s, number, &err), &err);
    assert_false(there(folder, ""));
    lg_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_known_by_its_id),
        cmocka_unit_test(a_run_is_found_by_many_names),
        cmocka_unit_test(a_killed_run_is_stopped),
        cmocka_unit_test(steps_are_replaced_not_doubled),
        cmocka_unit_test(rewind_forgets_what_came_after),
        cmocka_unit_test(a_cell_comes_back_as_it_was),
        cmocka_unit_test(only_the_same_cell_is_taken),
        cmocka_unit_test(a_cell_of_two_states_is_shown_once),
        cmocka_unit_test(a_run_of_two_builds_names_both),
        cmocka_unit_test(migrations_keep_what_is_there),
        cmocka_unit_test(losses_are_rewound_and_deleted),
        cmocka_unit_test(a_store_of_version_1_is_brought_up),
        cmocka_unit_test(a_store_of_the_future_is_refused),
        cmocka_unit_test(delete_takes_what_is_the_runs_own),
        cmocka_unit_test(a_run_that_trains_is_not_deleted),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
