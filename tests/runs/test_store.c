/* test_store.c: what the store has of runs, their steps, cells and losses: written twice, moved,
 * rewound, brought up to date from an older version, deleted. Without it a run could be taken for
 * another, a step count twice, or what an older lengthen measured be lost. */
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "helpers/cells.h"
#include "helpers/storing.h"
#include "study/study.h"

static lg_cell cell_of(int64_t step, int length, int samples, int exact)
{
    lg_cell c = {.step = step, .length = length, .seconds = 2, .values = 2};
    c.value[0] = (lg_value){lg_kind_find("exact"), samples, (double)exact / samples, 0.1, 0.9};
    c.value[1] = (lg_value){lg_kind_find("token_accuracy"), samples, 0.9, NAN, NAN};
    return c;
}

static void teach(lg_cell *c, int samples, int exact)
{
    c->value[c->values++] =
        (lg_value){lg_kind_find("taught_exact"), samples, (double)exact / samples, 0, 1};
}

struct cells {
    int count;
    lg_cell cell[16];
};

static void keep_cell(void *context, const lg_cell *c)
{
    struct cells *n = context;
    if (n->count < 16) n->cell[n->count] = *c;
    n->count++;
}

static struct cells cells_of(lg_store *s, int64_t number, int64_t step)
{
    struct cells n = {0};
    lg_error err = {0};
    must(lg_store_cells(s, number, step, NULL, keep_cell, &n, &err), &err);
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
        lg_cell c = cell_of(step, 3, 10, 5);
        must(lg__store_add_cells(s, number, &c, 1, &err), &err);
        must(lg__store_add_cells(s, other, &c, 1, &err), &err);
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
    struct cells found = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one");
    lg_cell c = cell_of(7, 50, 40, 30);
    c.sparsity = 3;
    c.predicted = 1;
    c.tokens = 12.5;
    c.first = 5;
    c.last = 8;
    c.there = 70;
    c.held_out = 1;
    snprintf(c.setting, sizeof c.setting, "names=50");
    teach(&c, 40, 33);
    must(lg__store_add_cells(s, number, &c, 1, &err), &err);
    must(lg__store_get_cells(s, number, &c, 40, keep_cell, &found, &err), &err);
    assert_int_equal(found.count, 1);
    const lg_cell *back = &found.cell[0];
    assert_true(back->kept);
    assert_true(same_values(back, &c)); /* in the order of the table of kinds */
    assert_true(back->tokens == 12.5 && back->seconds == 2);
    assert_true(back->first == 5 && back->last == 8 && back->there == 70 && back->held_out == 1);
    assert_string_equal(back->setting, "names=50");
    assert_string_equal(ask_sql(in_home("cells.db"), "SELECT seconds FROM runs"), "2.0");
    lg_store_close(s);
}

/* Whether the store has a kind at step 7, length 5. */
static int has(lg_store *s, int64_t number, const char *setting, int samples, const char *kind)
{
    lg_error err = {0};
    lg_cell c = {.step = 7, .length = 5};
    struct cells found = {0};
    snprintf(c.setting, sizeof c.setting, "%s", setting);
    must(lg__store_get_cells(s, number, &c, samples, keep_cell, &found, &err), &err);
    return found.count && lg_cell_get(&found.cell[0], kind);
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
        lg_cell c = cell_of(5, 10, made[i].samples, made[i].exact);
        snprintf(c.data, sizeof c.data, "%s", made[i].data);
        must(lg__store_add_cells(s, number, &c, 1, &err), &err);
        struct cells n = cells_of(s, number, -1);
        assert_int_equal(n.count, 1);
        assert_int_equal(exact_of(&n.cell[0]), i == 1 ? 8 : 7);
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
    lg_store_close(s); /* it knows the number of its build, whose commit becomes another */
    static const char *const steps[] = {"1000", "999"};
    for (int i = 0; i < 2; i++) {
        char sql[200], want[100], *machine = NULL;
        snprintf(sql, sizeof sql,
                 "UPDATE builds SET commit_id = 'abc' WHERE number = 1; UPDATE runs SET step = %s",
                 steps[i]);
        assert_int_equal(run_sql(file, sql), SQLITE_OK);
        s = open_store("builds.db");
        lg_store_run r = run_of("00000000000000c2", "/c2");
        must(lg__store_register(s, &r, 1, &number, &err), &err);
        must(lg_store_find(s, "00000000000000c2", keep_machine, &machine, &err), &err);
        snprintf(want, sizeof want, i ? "(abc+%s, " : "(%.0sabc, ", lg_commit());
        assert_non_null(strstr(machine, want));
        free(machine);
        lg_store_close(s);
    }
}

static void only_the_same_cell_is_taken(void **state)
{
    (void)state;
    lg_store *s = open_store("same.db");
    lg_error err = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one"),
            other = add_run(s, "bbbb000000000002", "/x/two");
    lg_cell few = cell_of(7, 5, 10, 9), many = cell_of(7, 5, 100, 70), old = cell_of(3, 5, 10, 1);
    teach(&many, 100, 80);
    must(lg__store_add_cells(s, number, &few, 1, &err), &err);
    must(lg__store_add_cells(s, number, &many, 1, &err), &err);
    must(lg__store_add_cells(s, number, &old, 1, &err), &err);
    assert_true(has(s, number, "", 10, "exact"));
    assert_true(has(s, number, "", 100, "exact"));
    assert_true(has(s, number, "", 100, "taught_exact"));
    assert_false(has(s, number, "", 10, "taught_exact")); /* not teacher-forced */
    assert_false(has(s, number, "", 50, "exact"));
    assert_false(has(s, number, "kind=unique", 10, "exact"));
    assert_false(has(s, other, "", 10, "exact"));

    struct cells last = cells_of(s, number, -1), all = cells_of(s, number, -2);
    assert_int_equal(last.count, 1); /* of two numbers of samples, the larger */
    assert_int_equal(samples_of(&last.cell[0], "exact"), 100);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.cell[0].step, 3);
    assert_int_equal(cells_of(s, number, 3).count, 1);
    assert_int_equal(cells_of(s, number, 4).count, 0);
    assert_int_equal(cells_of(s, other, -1).count, 0);

    few.value[0].value = 0.2; /* made again: replaced */
    must(lg__store_add_cells(s, number, &few, 1, &err), &err);
    struct cells back = {0};
    must(lg__store_get_cells(s, number, &few, 10, keep_cell, &back, &err), &err);
    assert_int_equal(exact_of(&back.cell[0]), 2);
    lg_store_close(s);
}

/* All lines of a file are as good as more that were asked for; some of them are not. */
static void all_that_there_is_is_enough(void **state)
{
    (void)state;
    lg_store *s = open_store("enough.db");
    lg_error err = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one");
    lg_cell some = cell_of(7, 5, 10, 9);
    some.there = 12;
    must(lg__store_add_cells(s, number, &some, 1, &err), &err);
    assert_true(has(s, number, "", 10, "exact"));
    assert_false(has(s, number, "", 100, "exact"));
    lg_cell all = cell_of(7, 5, 12, 9);
    all.there = 12;
    must(lg__store_add_cells(s, number, &all, 1, &err), &err);
    assert_true(has(s, number, "", 100, "exact"));
    lg_store_close(s);
}

/* ---- Losses -------------------------------------------------------------------------------- */

static void count_loss(void *context, const lg_cell *c)
{
    int *n = context;
    assert_true(c->kept && value_of(c, "truncated") == (double)c->step);
    ++*n;
}

static int losses_of(lg_store *s, int64_t number, int64_t step)
{
    lg_error err = {0};
    int n = 0;
    must(lg_store_cells(s, number, step, "losses", count_loss, &n, &err), &err);
    return n;
}

/* Losses by position go with the steps after a checkpoint, and with their run; answers of the same run are
 * another form. */
static void losses_are_rewound_and_deleted(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_store *s = open_store("losses.db");
    int64_t number = add_run(s, "00000000000000cc", in_home("nowhere")), steps;
    for (int step = 3; step <= 6; step += 3) {
        lg_cell cells[3] = {{.step = step, .length = 4, .first = 1, .last = 2, .values = 1},
                            {.step = step, .length = 4, .first = 3, .last = 4, .values = 1},
                            cell_of(step, 4, 10, 5)};
        for (int i = 0; i < 2; i++)
            cells[i].value[0] = (lg_value){lg_kind_find("truncated"), 5, step, NAN, NAN};
        must(lg__store_add_cells(s, number, cells, 3, &err), &err);
    }
    assert_int_equal(losses_of(s, number, -2), 4);
    assert_int_equal(losses_of(s, number, -1), 2);
    must(lg__store_rewind(s, number, 5, &steps, &err), &err);
    assert_int_equal(losses_of(s, number, -2), 2);
    assert_int_equal(losses_of(s, number, 6), 0);
    must(lg_store_delete(s, number, &err), &err);
    assert_int_equal(losses_of(s, number, -2), 0);
    lg_store_close(s);
    assert_string_equal(ask_sql(in_home("losses.db"), "SELECT count(*) FROM measurements"), "0");
}

/* ---- Versions --------------------------------------------------------------------------- */

/* A store of another version is left as it is: nobody knows what its rows mean. */
static void a_store_of_another_version_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *set, *says;
    } cases[] = {{"future.db", "PRAGMA user_version=1000", "a newer lengthen"},
                 {"past.db", "PRAGMA user_version=4", "the lengthen that made it"},
                 {"before.db", "PRAGMA user_version=0", "the lengthen that made it"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = in_home(cases[i].name);
        lg_error err = {0};
        lg_store *s = open_store(cases[i].name);
        add_run(s, "00000000000000aa", "/x");
        lg_store_close(s);
        assert_int_equal(run_sql(file, cases[i].set), SQLITE_OK);
        assert_null(lg_store_open(file, 1, &err));
        assert_int_equal(err.code, LG_ERROR_ARGUMENT);
        says(&err, cases[i].says);
        assert_string_equal(ask_sql(file, "SELECT count(*) FROM runs"), "1");
    }
}

/* What a program error would write is refused by the store itself. */
static void rows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const char *file = in_home("strict.db");
    lg_error err = {0};
    lg_store *s = open_store("strict.db");
    int64_t number = add_run(s, "00000000000000aa", "/x");
    assert_true(lg__store_state(s, number, "sleeping", NULL, &err) < 0);
    says(&err, "CHECK constraint failed");
    must(add_steps(s, number, 1, 3, 0, &err), &err);
    assert_true(add_steps(s, number + 7, 1, 3, 0, &err) < 0); /* of no run */
    says(&err, "FOREIGN KEY");
    lg_store_close(s);
    assert_int_not_equal(run_sql(file, "UPDATE runs SET step = 'many'"), SQLITE_OK);
    assert_int_not_equal(run_sql(file, "UPDATE metrics SET loss = NULL"), SQLITE_OK);
    assert_string_equal(
        ask_sql(file, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE"
                      " 'sqlite_%' AND sql NOT LIKE '%STRICT%'"),
        "0");
}

/* A build is written once, and rows name it. */
static void builds_are_written_once(void **state)
{
    (void)state;
    const char *file = in_home("once.db");
    lg_error err = {0};
    for (int i = 0; i < 2; i++) {
        lg_store *s = open_store("once.db");
        int64_t number = add_run(s, "00000000000000aa", "/x");
        lg_cell cell = cell_of(i, 5, 10, 5);
        must(lg__store_add_cells(s, number, &cell, 1, &err), &err);
        lg_store_close(s);
    }
    assert_string_equal(ask_sql(file, "SELECT count(*) FROM builds"), "1");
    assert_string_equal(ask_sql(file, "SELECT count(*) FROM measurements AS e JOIN builds AS b ON"
                                      " b.number = e.build"),
                        "4");
}

static void take_values(void *context, const char *key, const char *const *values)
{
    char *to = context;
    to += strlen(to);
    sprintf(to, "%s:", key);
    for (int i = 0; i < 3; i++) sprintf(to + strlen(to), " %s", values[i] ? values[i] : "-");
    strcat(to, "\n");
}

/* Settings are rows, so that comparing runs is one query. */
static void configs_are_compared_by_the_store(void **state)
{
    (void)state;
    lg_error err = {0};
    char found[500] = "";
    static const char *const configs[] = {"seed: 1\ntask:\n  name: copy\n  kind: \"a: b\"\n",
                                          "seed: 2\ntask:\n  name: copy\n",
                                          "seed: 2\ntask:\n  name: copy\nmodel:\n  width: 8\n"};
    int64_t numbers[3];
    lg_store *s = open_store("settings.db");
    for (int i = 0; i < 3; i++) {
        char id[32], folder[32];
        snprintf(id, sizeof id, "00000000000000a%d", i);
        snprintf(folder, sizeof folder, "/x%d", i);
        lg_store_run r = run_of(id, folder);
        r.config = configs[i];
        must(lg__store_register(s, &r, 0, &numbers[i], &err), &err);
    }
    must(lg_store_differences(s, numbers, 3, take_values, found, &err), &err);
    assert_string_equal(found, "seed: 1 2 2\ntask.kind: a: b - -\nmodel.width: - - 8\n");
    must(lg_store_delete(s, numbers[2], &err), &err);
    lg_store_close(s);
    assert_string_equal(ask_sql(in_home("settings.db"), "SELECT count(*) FROM settings"), "5");
}

struct nested {
    lg_store *s;
    int depth, seen;
};

static void look_again(void *context, const lg_store_run *r)
{
    struct nested *n = context;
    lg_error err = {0};
    n->seen++;
    assert_true(r->number > 0);
    if (n->depth-- > 0) must(lg_store_runs(n->s, look_again, n, &err), &err);
    n->depth++;
    assert_string_equal(r->task, "copy"); /* what is pointed at has not moved */
}

/* Statements are kept: one that is being read must not be used for another reader. */
static void a_reader_may_read_again(void **state)
{
    (void)state;
    lg_error err = {0};
    struct nested n = {.s = open_store("nested.db"), .depth = 2};
    add_run(n.s, "00000000000000aa", "/x");
    add_run(n.s, "00000000000000bb", "/y");
    must(lg_store_runs(n.s, look_again, &n, &err), &err);
    assert_int_equal(n.seen, 2 + 4 + 8);
    lg_store_close(n.s);
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
    lg_cell c = cell_of(5, 3, 10, 5);
    must(add_steps(s, number, 1, 5, 0, &err), &err);
    must(lg__store_add_cells(s, number, &c, 1, &err), &err);
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
    assert_string_equal(ask_sql(in_home("delete.db"), "SELECT count(*) FROM measurements"), "0");
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

static int begin_write(const char *path)
{
    static sqlite3 *db; /* reachable: nothing leaks */
    return sqlite3_open(path, &db) || sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

/* The row goes before the files: a store that cannot be written to costs no weights. */
static void nothing_is_deleted_while_the_store_is_locked(void **state)
{
    (void)state;
    lg_store *s = open_store("held.db");
    lg_error err = {0};
    const char *folder = make_folder("held", "aaaa000000000001");
    int64_t number = add_whole_run(s, "aaaa000000000001", folder);
    lg_store_close(s);
    struct holder h = start_holding(begin_write, in_home("held.db"));
    lg__store_patience(200);
    s = open_store("held.db");
    assert_int_equal(lg_store_delete(s, number, &err), LG_ERROR_SYSTEM);
    says(&err, "held.db");
    says(&err, "another program");
    says(&err, "nothing of run 1 was deleted");
    assert_true(there(folder, "config.yaml"));
    assert_true(there(folder, "checkpoint/step-1/model.safetensors"));
    assert_int_equal(steps_of(s, number).count, 5);
    let_go(&h);
    must(lg_store_delete(s, number, &err), &err);
    assert_false(there(folder, ""));
    lg__store_patience(60000);
    lg_store_close(s);
}

/* In a child that is not root: the folder of run 1 is not its own. 0: as it should be. */
static int delete_foreign(const char *file, const char *folder)
{
    lg_error err = {0};
    if (geteuid() == 0 && setuid(65534)) return 77;
    lg_store *s = lg_store_open(file, 0, &err);
    if (!s || !lg_store_delete(s, 1, &err)) return 1;
    if (!strstr(err.text, folder) || !strstr(err.text, "nothing of run 1 was deleted")) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    struct found f = {0};
    if (lg_store_find(s, "1", keep_run, &f, &err)) return 3;
    lg_store_close(s);
    return 0;
}

static void nothing_is_deleted_of_a_folder_without_rights(void **state)
{
    (void)state;
    int status;
    lg_store *s = open_store("rights.db");
    const char *folder = make_folder("rights", "aaaa000000000001");
    add_whole_run(s, "aaaa000000000001", folder);
    lg_store_close(s);
    assert_int_equal(chmod(home, 0777) | chmod(folder, 0755) | chmod(in_home("rights.db"), 0666),
                     0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(delete_foreign(in_home("rights.db"), folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(there(folder, "config.yaml"));
    assert_true(there(folder, "checkpoint/step-1/model.safetensors"));
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
        cmocka_unit_test(all_that_there_is_is_enough),
        cmocka_unit_test(a_cell_of_two_states_is_shown_once),
        cmocka_unit_test(a_run_of_two_builds_names_both),
        cmocka_unit_test(losses_are_rewound_and_deleted),
        cmocka_unit_test(a_store_of_another_version_is_refused),
        cmocka_unit_test(rows_that_cannot_be_are_refused),
        cmocka_unit_test(builds_are_written_once),
        cmocka_unit_test(a_reader_may_read_again),
        cmocka_unit_test(configs_are_compared_by_the_store),
        cmocka_unit_test(delete_takes_what_is_the_runs_own),
        cmocka_unit_test(a_run_that_trains_is_not_deleted),
        cmocka_unit_test(nothing_is_deleted_while_the_store_is_locked),
        cmocka_unit_test(nothing_is_deleted_of_a_folder_without_rights),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
