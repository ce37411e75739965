/* test_pool.c: every task once, in parallel, whatever the number of threads; and nothing
 * that ThreadSanitizer objects to (make test-tsan). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/pool.h"

enum { TASKS = 1000, THREADS = 16 };

/* Plain, unguarded memory on purpose: the pool alone must make it safe. */
struct tally {
    int done[TASKS]; /* times task i was done */
    int by_thread[THREADS];
    atomic_int busy[THREADS];
    atomic_int overlaps; /* a thread number in use twice at a time */
    atomic_int out_of_range;
    int n, threads;
};

static void count(void *context, int i, int thread)
{
    struct tally *t = context;
    if (i < 0 || i >= t->n || thread < 0 || thread >= t->threads) {
        atomic_fetch_add(&t->out_of_range, 1);
        return;
    }
    if (atomic_exchange(&t->busy[thread], 1)) atomic_fetch_add(&t->overlaps, 1);
    t->done[i]++;
    t->by_thread[thread]++;
    atomic_store(&t->busy[thread], 0);
}

static void each_task_is_done_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 4, 7, THREADS};
    static const int sizes[] = {0, 1, 2, 3, 8, 17, TASKS};
    static struct tally t;
    for (size_t a = 0; a < sizeof threads / sizeof *threads; a++) {
        struct lg__pool *p = lg__pool_new(threads[a], NULL);
        assert_non_null(p);
        assert_int_equal(lg__pool_threads(p), threads[a]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            memset(&t, 0, sizeof t);
            t.n = sizes[s];
            t.threads = threads[a];
            lg__pool_run(p, t.n, count, &t);
            assert_int_equal(t.out_of_range, 0);
            assert_int_equal(t.overlaps, 0);
            int total = 0;
            for (int i = 0; i < t.n; i++) assert_int_equal(t.done[i], 1);
            for (int i = 0; i < THREADS; i++) total += t.by_thread[i];
            assert_int_equal(total, t.n);
        }
        lg__pool_free(p);
    }
}

static void add(void *context, int i, int thread)
{
    (void)thread;
    ((int *)context)[i] += i + 1;
}

/* Back to back, and after pauses long enough for the workers to fall asleep. */
static void many_runs(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 5; threads++) {
        struct lg__pool *p = lg__pool_new(threads, NULL);
        assert_non_null(p);
        int sums[8] = {0};
        enum { RUNS = 3000 };
        for (int run = 0; run < RUNS; run++) {
            lg__pool_run(p, 2 + run % 7, add, sums);
            if (run % 100 == 0) usleep(300);
        }
        for (int i = 0; i < 8; i++) {
            int runs = 0;
            for (int run = 0; run < RUNS; run++) runs += i < 2 + run % 7;
            assert_int_equal(sums[i], runs * (i + 1));
        }
        lg__pool_free(p);
    }
}

struct meeting {
    atomic_int arrived;
    atomic_int late;
    atomic_int at[THREADS]; /* tasks at thread t: all are there at once, so one each */
    int n;
};

/* Returns only when all n tasks have begun; gives up after ten seconds. */
static void meet(void *context, int i, int thread)
{
    (void)i;
    struct meeting *m = context;
    atomic_fetch_add(&m->at[thread], 1);
    atomic_fetch_add(&m->arrived, 1);
    for (int ms = 0; atomic_load(&m->arrived) < m->n; ms++) {
        if (ms > 10000) {
            atomic_fetch_add(&m->late, 1);
            return;
        }
        usleep(1000);
    }
}

static void threads_work_at_the_same_time(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 6; threads++) {
        struct lg__pool *p = lg__pool_new(threads, NULL);
        assert_non_null(p);
        for (int run = 0; run < 5; run++) {
            struct meeting m = {.n = threads};
            lg__pool_run(p, threads, meet, &m);
            assert_int_equal(m.late, 0);
            assert_int_equal(m.arrived, threads);
            for (int t = 0; t < threads; t++) assert_int_equal(m.at[t], 1);
        }
        lg__pool_free(p);
    }
}

static void sleepy(void *context, int i, int thread)
{
    (void)thread;
    usleep(i == 0 ? 2000 : 200); /* over the time that the caller spins */
    ((int *)context)[i]++;
}

static void the_caller_waits_for_the_slowest(void **state)
{
    (void)state;
    struct lg__pool *p = lg__pool_new(3, NULL);
    assert_non_null(p);
    for (int run = 0; run < 20; run++) {
        int done[4] = {0};
        lg__pool_run(p, 4, sleepy, done);
        for (int i = 0; i < 4; i++) assert_int_equal(done[i], 1);
    }
    lg__pool_free(p);
}

static void *use_own_pool(void *wrong)
{
    struct lg__pool *p = lg__pool_new(3, NULL);
    int sums[5] = {0};
    for (int run = 0; p && run < 500; run++) lg__pool_run(p, 5, add, sums);
    for (int i = 0; i < 5; i++)
        if (sums[i] != 500 * (i + 1)) *(int *)wrong = 1;
    lg__pool_free(p);
    return NULL;
}

static void two_pools_at_the_same_time(void **state)
{
    (void)state;
    pthread_t other;
    int wrong_here = 0, wrong_there = 0;
    assert_int_equal(pthread_create(&other, NULL, use_own_pool, &wrong_there), 0);
    use_own_pool(&wrong_here);
    pthread_join(other, NULL);
    assert_int_equal(wrong_here, 0);
    assert_int_equal(wrong_there, 0);
}

static void zero_threads_are_all_cores(void **state)
{
    (void)state;
    struct lg__pool *p = lg__pool_new(0, NULL);
    assert_non_null(p);
    assert_true(lg_cores() >= 1);
    assert_int_equal(lg__pool_threads(p), lg_cores());
    lg__pool_free(p);
    lg__pool_free(NULL);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const int wrong[] = {-1, 100000};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_error err = {0};
        assert_null(lg__pool_new(wrong[i], &err));
        assert_int_equal(err.code, LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, i == 0 ? "-1" : "100000"));
    }
    for (int n = 0;; n++) { /* each allocation in turn */
        lg_error err = {0};
        lg__alloc_fail_after(n);
        struct lg__pool *p = lg__pool_new(2, &err);
        lg__alloc_fail_after(-1);
        if (p) {
            assert_true(n >= 1);
            lg__pool_free(p);
            break;
        }
        assert_int_equal(err.code, LG_ERROR_MEMORY);
    }
}

static void a_run_allocates_nothing(void **state)
{
    (void)state;
    struct lg__pool *p = lg__pool_new(3, NULL);
    assert_non_null(p);
    int sums[5] = {0};
    long before = lg__alloc_count();
    for (int run = 0; run < 10; run++) lg__pool_run(p, 5, add, sums);
    assert_int_equal(lg__alloc_count(), before);
    lg__pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_done_once),
        cmocka_unit_test(many_runs),
        cmocka_unit_test(threads_work_at_the_same_time),
        cmocka_unit_test(the_caller_waits_for_the_slowest),
        cmocka_unit_test(two_pools_at_the_same_time),
        cmocka_unit_test(zero_threads_are_all_cores),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_run_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
