/* test_deal.c: a sweep of 24 runs whose work rank 0 deals out to three workers: two child processes are killed on the
 * way, then a rank; the command repeated makes the rest, each run once, and the table is that of --jobs. An evaluation;
 * stores that are joined. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/ranks.h"
#include "helpers/home.h"
#include "lengthen_cluster.h"

static const char sweep[] =
    "config:\n"
    "  task: {name: parity}\n"
    "  positions: {ids: coupled, encoding: relative, span: window, window: [-2, 2]}\n"
    "  model: {width: 16, heads: 2, layers: 1}\n"
    "  train: {steps: 600, lr: 2e-3, warmup: 20, length: [1, 8], batch: 16, checkpoint_every: 50}\n"
    "  eval: {lengths: [8, 16], samples: 20}\n"
    "vary:\n"
    "  positions.encoding: [relative, alibi, none]\n"
    "  seed: [1, 2, 3, 4, 5, 6, 7, 8]\n";
#define SWEEP LG_PROGRAM " sweep s.yaml --threads 1 --csv "
enum { RUNS = 24, STEPS = 600 };

static int make(void **state)
{
    if (make_home(state)) return -1;
    set_mpi(home);
    FILE *f = fopen(in_home("s.yaml"), "w");
    if (!f) return -1;
    fputs(sweep, f);
    return fclose(f);
}

struct seen {
    int runs, done;
    int64_t steps; /* rows of them */
    lg_store *store;
};

static int count_step(void *context, const lg_run_step *s)
{
    (void)s;
    ++*(int64_t *)context;
    return 1;
}

static void see(void *context, const lg_store_run *r)
{
    struct seen *s = context;
    s->runs++;
    s->done += strcmp(r->state, "done") == 0;
    assert_int_equal(lg_store_steps(s->store, r->number, count_step, &s->steps, NULL), 0);
}

static struct seen look_at(const char *file)
{
    lg_error err;
    struct seen s = {.store = lg_store_open(in_home(file), 0, &err)};
    if (!s.store) fail_msg("%s", err.text);
    assert_int_equal(lg_store_runs(s.store, see, &s, &err), 0);
    lg_store_close(s.store);
    return s;
}

static void a_sweep_on_three_workers_with_kills(void **state)
{
    char *text, *csv;
    (void)state;
    need_mpi();
    int pid = start("first", "exec mpirun -n 4 " SWEEP "--out m --store m.db");
    for (int i = 0; i < 2; i++) {
        kill(find_process(-1, "--tell "), SIGKILL);
        usleep(300000);
    }
    int rank = find_process(2, "--out m ");
    find_process(-1, "--tell ");
    kill(rank, SIGKILL);
    assert_true(finish(pid, 20) > 0);
    struct seen s = look_at("m.db");
    assert_true(s.done < RUNS);
    assert_int_equal(run(&csv, "mpirun -n 4 " SWEEP "--out m --store m.db 2>second"), 0);
    s = look_at("m.db");
    assert_int_equal(s.runs, RUNS);
    assert_int_equal(s.done, RUNS);
    assert_int_equal(s.steps, RUNS * STEPS);
    assert_int_equal(run(&text, SWEEP "--out j --store j.db --jobs 2 2>third"), 0);
    assert_string_equal(csv, text);
    free(csv);
    free(text);
    /* The third time there is nothing to do. */
    assert_int_equal(run(&text, "mpirun -n 2 " SWEEP "--out m --store m.db 2>&1 >/dev/null"), 0);
    assert_words(text, "24 done already");
    free(text);
}

static void parts_and_their_stores_joined(void **state)
{
    char *text, *csv;
    (void)state;
#define FEW "--set train.steps=10 --out p "
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(run(&text, SWEEP FEW "--part %d/3 --store p%d.db", i, i), 0);
        free(text);
    }
    assert_int_equal(run(&text, "%s runs merge p1.db p2.db p3.db p1.db --store p.db", LG_PROGRAM),
                     0);
    assert_words(text, "p3.db: 8 runs added, 0 known already");
    assert_words(text, "p1.db: 0 runs added, 8 known already");
    free(text);
    struct seen s = look_at("p.db");
    assert_int_equal(s.done, RUNS);
    assert_int_equal(s.steps, RUNS * 10);
    assert_int_equal(run(&csv, LG_PROGRAM " sweep s.yaml --csv " FEW "--table --store p.db"), 0);
    assert_int_equal(
        run(&text, SWEEP "--set train.steps=10 --out q --store q.db --jobs 2 2>/dev/null"), 0);
    assert_string_equal(csv, text);
    free(csv);
    free(text);
    assert_int_not_equal(run(&text, "%s runs merge none.db --store p.db", LG_PROGRAM), 0);
    assert_words(text, "none.db");
    free(text);
    assert_int_equal(run(&text, SWEEP "--only no"), 2);
    assert_words(text, "is no run of s.yaml");
    free(text);
}

static void an_evaluation_on_two_workers(void **state)
{
    char *text, *other;
    (void)state;
    need_mpi();
    run(&text, SWEEP "--only 'positions.encoding=none,seed=1' --set train.steps=20 --out e "
                     "--store e.db");
    free(text);
#define EVAL " eval 'e/positions.encoding=none,seed=1' --lengths 4,8,16,32 --csv --store "
#define ROWS " | cut -d, -f1-22" /* without the seconds */
    assert_int_equal(run(&other, LG_PROGRAM EVAL "one.db" ROWS), 0);
    assert_int_equal(run(&text, "mpirun -n 3 " LG_PROGRAM EVAL "three.db" ROWS), 0);
    assert_string_equal(text, other);
    free(text);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_on_three_workers_with_kills),
        cmocka_unit_test(parts_and_their_stores_joined),
        cmocka_unit_test(an_evaluation_on_two_workers),
    };
    return cmocka_run_group_tests_name("deal", tests, make, remove_home);
}
