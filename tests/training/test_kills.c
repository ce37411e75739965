/* test_kills.c: kill -9 at any instant of a run. Every resume works; when all is done no step's
 * metrics are missing or there twice, the evaluations on the way are the same, and the weights are
 * byte for byte those of the run that was never stopped, with 1 and with 2 threads.
 * LENGTHEN_TEST_KILLS=50 kills 50 times instead of 20. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runs/checkpoint.h"
#include "helpers/home.h"
#include "runs/store.h"
#include "helpers/training.h"

enum { MOST_STEPS = 1000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- One run ------------------------------------------------------------------------------ */

/* Saves after every step; curriculum, so that the state has more in it than weights. */
struct subject {
    char folder[128], store[128], steps[64];
    lg_run_options o;
};

static const char *const common[] = {
    "seed=5",
    "task.name=sparse-parity-scratchpad",
    "positions.ids=coupled",
    "positions.source=[pointer, delta]",
    "positions.encoding=relative",
    "positions.span=window",
    "positions.window=[[0, 0], [-1, 0]]",
    "model.width=16",
    "model.heads=2",
    "model.sink=yes",
    "train.batch=8",
    "train.warmup=5",
    "train.length=[2, 8]",
    "train.sparsity=[1, 3]",
    "train.curriculum=both",
    "train.curriculum_steps=20",
    "train.keep=2",
    "train.checkpoint_every=1",
    "eval.lengths=[4]",
    "eval.sparsities=[2]",
    "eval.samples=4",
    "eval.every=7",
};
enum { COMMON = sizeof common / sizeof *common };

static struct subject *subject(const char *name, int steps, int threads)
{
    static struct subject all[2];
    static int next;
    static const char *sets[2][COMMON + 1];
    int i = next++ % 2;
    struct subject *s = &all[i];
    snprintf(s->folder, sizeof s->folder, "%s/%s-%d", home, name, threads);
    snprintf(s->store, sizeof s->store, "%s/%s-%d.db", home, name, threads);
    snprintf(s->steps, sizeof s->steps, "train.steps=%d", steps);
    memcpy(sets[i], common, sizeof common);
    sets[i][COMMON] = s->steps;
    s->o = (lg_run_options){.sets = sets[i],
                            .set_count = COMMON + 1,
                            .folder = s->folder,
                            .store = s->store,
                            .resume = LG_RUN_EITHER,
                            .threads = threads};
    return s;
}

/* When a child is to die: some seconds after its start, or at some instant of a step, `share` of
 * what the one before took after that one, whichever comes first. The timer is the child's own, so
 * that a busy machine, on which the two do not run at the same pace, does not move it. */
struct death {
    double after; /* seconds; negative: not */
    int64_t step;
    double share, last;
};
static const struct death none = {.after = -1, .step = INT64_MAX};

static void die_in(double seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer)) _exit(3);
    int64_t ns = 1 + (int64_t)(1e9 * seconds); /* nothing at all would disarm it */
    struct itimerspec when = {.it_value = {ns / 1000000000, ns % 1000000000}};
    if (timer_settime(timer, 0, &when, NULL)) _exit(3);
}

static int watch_death(void *context, const lg_run_step *s)
{
    struct death *d = context;
    if (s->step >= d->step) die_in(d->share * (now() - d->last));
    d->last = now();
    return 1;
}

/* Trains in a child that is killed, or dies at a point of a save or of a commit. Returns 1 if it
 * was killed, 0 if it came to its end. */
static int train_in_child(const struct subject *s, struct death d, int file_point, int commit_point)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int done;
        lg_error err = {0};
        lg_run_options o = s->o;
        o.watch = watch_death;
        o.context = &d;
        d.last = now();
        if (d.after >= 0) die_in(d.after);
        lg__checkpoint_stop_at(file_point, 1);
        lg__store_kill_at(commit_point);
        int code = lg_run_train(&o, &done, &err);
        if (code) fprintf(stderr, "%s\n", err.text);
        _exit(code ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return 1;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return 0;
}

/* ---- What it left ---------------------------------------------------------------------------- */

/* The bytes of the last checkpoint's model and state. */
static char *last_bytes(const struct subject *s, int steps, size_t *size)
{
    static const char *const names[] = {"model", "state"};
    char path[400], *all = NULL;
    *size = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/checkpoint/step-%09d/%s.safetensors", s->folder, steps,
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

/* What the store says of a run. */
struct story {
    int runs, steps, cells;
    int64_t number;
    lg_run_step step[MOST_STEPS];
    lg_cell cell[MOST_STEPS];
};

static int keep_step(void *context, const lg_run_step *s)
{
    struct story *t = context;
    assert_true(t->steps < MOST_STEPS);
    t->step[t->steps++] = *s;
    return 1;
}

static void keep_cell(void *context, const lg_cell *c)
{
    struct story *t = context;
    assert_true(t->cells < MOST_STEPS);
    t->cell[t->cells] = *c;
    t->cell[t->cells].unit = NULL;
    t->cell[t->cells++].seconds = 0;
}

static void keep_run(void *context, const lg_store_run *r)
{
    struct story *t = context;
    t->runs++;
    t->number = r->number;
}

static struct story *story_of(const struct subject *s)
{
    struct story *t = calloc(1, sizeof *t);
    lg_error err;
    lg_store *store = lg_store_open(s->store, 0, &err);
    if (!store) fail_msg("%s", err.text);
    must(lg_store_runs(store, keep_run, t, &err), &err);
    must(lg_store_steps(store, t->number, keep_step, t, &err), &err);
    must(lg_store_cells(store, t->number, -2, NULL, keep_cell, t, &err), &err);
    lg_store_close(store);
    return t;
}

/* Everything is as in the run that was never stopped. */
static void same(const struct subject *a, const struct subject *b, int steps)
{
    size_t na, nb;
    char *one = last_bytes(a, steps, &na), *other = last_bytes(b, steps, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(one, other, na);
    free(one);
    free(other);
    struct story *x = story_of(a), *y = story_of(b);
    assert_int_equal(x->runs, 1);
    assert_int_equal(x->steps, steps);
    assert_int_equal(y->steps, steps);
    for (int i = 0; i < steps; i++) assert_int_equal(x->step[i].step, i + 1);
    assert_memory_equal(x->step, y->step, sizeof x->step[0] * (size_t)steps);
    assert_int_equal(x->cells, 2 * (steps / 7)); /* given and predicted */
    assert_int_equal(y->cells, x->cells);
    assert_memory_equal(x->cell, y->cell, sizeof x->cell[0] * (size_t)x->cells);
    free(x);
    free(y);
}

/* How far the last whole checkpoint is: the store's own step, which is not before it. */
static int64_t steps_so_far(const struct subject *s)
{
    struct stat st;
    if (stat(s->store, &st) != 0) return 0;
    struct story *t = story_of(s);
    int64_t n = t->steps;
    free(t);
    return n;
}

/* ---- Kills ------------------------------------------------------------------------------------ */

static int wanted_kills(void)
{
    const char *text = getenv("LENGTHEN_TEST_KILLS");
    int n = text ? atoi(text) : 0;
    return n > 0 && n <= 200 ? n : 20;
}

/* Each try may take the run on by its share of the steps that are left, so that the kills fall all
 * over it; every fourth falls into the start. */
static void at_any_instant(int threads)
{
    int kills = wanted_kills(), steps = 4 * kills, killed = 0;
    struct subject *whole = subject("whole", steps, threads),
                   *s = subject("killed", steps, threads);
    train_in_child(whole, none, -1, -1);
    double begin = now();
    train_in_child(whole, none, -1, -1); /* there is nothing to do: how long a start takes */
    begin = now() - begin;
    int64_t at = 0, least = steps, last = steps - 2;
    lg_rng r;
    lg_rng_init(&r, 1, (uint32_t)threads, 0);
    for (; killed < kills; killed++) {
        int64_t share = at < last ? (last - at) / (kills - killed) : 0;
        int64_t step = at + 1 + (int64_t)lg_rng_below(&r, (uint32_t)(2 * share + 1));
        struct death d = {
            .after = -1, .step = step < last ? step : last, .share = lg_rng_below(&r, 1000) * 1e-3};
        if (killed % 4 == 0) d.after = begin * d.share;
        if (!train_in_child(s, d, -1, -1)) break;
        at = steps_so_far(s);
        least = at && at < least ? at : least;
    }
    assert_int_equal(train_in_child(s, none, -1, -1), 0);
    print_message("%d threads: killed %d times, between steps %d and %d of %d\n", threads, killed,
                  (int)least, (int)at, steps);
    assert_true(killed >= kills / 2);
    same(s, whole, steps);
}

static void killed_at_any_instant(void **state)
{
    (void)state;
    at_any_instant(1);
    at_any_instant(2);
}

/* At each dangerous point of a save: files opened, half written, not yet synced, before and after
 * the rename, before and amid the removal of old ones. One save has some fifteen of them. */
static void killed_in_a_save(void **state)
{
    (void)state;
    enum { STEPS = 14 };
    for (int threads = 1; threads <= 2; threads++) {
        struct subject *whole = subject("saves", STEPS, threads);
        train_in_child(whole, none, -1, -1);
        int killed = 0;
        struct subject *s = subject("save", STEPS, threads);
        while (train_in_child(s, none, killed, -1)) killed++;
        print_message("%d threads: killed at %d points of saves\n", threads, killed);
        assert_true(killed >= 30);
        same(s, whole, STEPS);
    }
}

/* Before each commit of the store: of the schema, the run's row, its state, metrics, cells. */
static void killed_before_a_commit(void **state)
{
    (void)state;
    enum { STEPS = 14 };
    for (int threads = 1; threads <= 2; threads++) {
        struct subject *whole = subject("commits", STEPS, threads);
        train_in_child(whole, none, -1, -1);
        int killed = 0, ended = 0;
        struct subject *s = subject("commit", STEPS, threads);
        for (int point = 0; point < 6 && !ended; point++)
            for (int again = 0; again < 2 && !ended; again++) {
                ended = !train_in_child(s, none, -1, point);
                killed += !ended;
            }
        print_message("%d threads: killed before %d commits\n", threads, killed);
        assert_true(killed >= 8);
        if (!ended) assert_int_equal(train_in_child(s, none, -1, -1), 0);
        same(s, whole, STEPS);
    }
}

/* ---- Damage --------------------------------------------------------------------------------- */

static int keep_note(void *context, const lg_run_step *s)
{
    if (s->note) snprintf(context, 600, "%s", s->note);
    return 1;
}

static int stop_at_ten(void *context, const lg_run_step *s)
{
    (void)context;
    return s->step < 10;
}

/* One flipped bit, or a file cut short, in the last checkpoint: the one before it is used if that is
 * asked for, with a warning, and the end is the same. */
static void a_damaged_checkpoint_is_passed_over(void **state)
{
    (void)state;
    enum { STEPS = 14 };
    struct subject *whole = subject("sound", STEPS, 1);
    train_in_child(whole, none, -1, -1);
    for (int cut = 0; cut < 2; cut++) {
        struct subject *s = subject(cut ? "cut" : "flipped", STEPS, 1);
        char path[300], note[600] = "";
        lg_error err;
        int done;
        s->o.watch = stop_at_ten;
        must(lg_run_train(&s->o, &done, &err), &err);
        snprintf(path, sizeof path, "%s/checkpoint/step-000000010/state.safetensors", s->folder);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        if (cut) {
            assert_int_equal(truncate(path, st.st_size / 2), 0);
        } else {
            FILE *f = fopen(path, "r+b");
            assert_non_null(f);
            fseek(f, st.st_size / 2, SEEK_SET);
            int byte = fgetc(f);
            fseek(f, st.st_size / 2, SEEK_SET);
            fputc(byte ^ 4, f);
            fclose(f);
        }
        s->o.watch = keep_note;
        s->o.context = note;
        assert_int_equal(lg_run_train(&s->o, &done, &err), LG_ERROR_SYSTEM);
        if (!strstr(err.text, path) || !strstr(err.text, "--fallback")) fail_msg("%s", err.text);
        s->o.access.fallback = 1;
        must(lg_run_train(&s->o, &done, &err), &err);
        if (!strstr(note, path)) fail_msg("no warning names %s: \"%s\"", path, note);
        same(s, whole, STEPS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_any_instant),
        cmocka_unit_test(killed_in_a_save),
        cmocka_unit_test(killed_before_a_commit),
        cmocka_unit_test(a_damaged_checkpoint_is_passed_over),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
