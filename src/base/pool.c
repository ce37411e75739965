/* pool.c: worker threads.
 *
 * One atomic word, the ticket, holds the number of the run (high half) and how many of its
 * tasks have not been handed out yet (low half). Whoever counts it down by one with a
 * compare-and-swap owns a task. A worker that comes late finds 0 left or a newer run, and
 * its swap fails: so the caller waits for tasks, never for workers, and a run that the
 * caller can finish alone costs no wake-up.
 *
 * Workers watch the ticket for SPIN_NS before they sleep on a condition variable; with more
 * threads than cores they sleep at once, as spinning would take the core from real work. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"

enum { SPIN_NS = 40000, MAX_THREADS = 1024, LINE = 64 };

typedef void work_fn(void *context, int i, int thread);

struct worker {
    struct lg__pool *pool;
    pthread_t id;
    int thread; /* 1 .. threads-1; the caller is 0 */
};

struct lg__pool {
    int threads;
    int started; /* workers that run */
    int spin;    /* 1: watch before sleeping */
    struct worker *worker;

    /* The task at hand: written by the caller before it publishes the ticket. Atomic, as a
     * late worker may read them while the next run writes; its swap then fails. */
    _Atomic(work_fn *) work;
    _Atomic(void *) context;
    atomic_int n;

    _Alignas(LINE) _Atomic uint64_t ticket;
    _Alignas(LINE) atomic_int finished;

    /* Sleeping and waking. */
    _Alignas(LINE) pthread_mutex_t mutex;
    pthread_cond_t wake; /* workers wait here for a ticket */
    pthread_cond_t done; /* the caller waits here for `finished` */
    atomic_int sleepers;
    atomic_int caller_waits;
    atomic_int stop;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t tasks_left(uint64_t ticket) { return (uint32_t)ticket; }

/* Takes and does tasks until none is left. */
static void take_tasks(struct lg__pool *p, int thread)
{
    uint64_t ticket = atomic_load(&p->ticket);
    while (tasks_left(ticket) > 0) {
        work_fn *work = atomic_load_explicit(&p->work, memory_order_relaxed);
        void *context = atomic_load_explicit(&p->context, memory_order_relaxed);
        int n = atomic_load_explicit(&p->n, memory_order_relaxed);
        if (!atomic_compare_exchange_weak(&p->ticket, &ticket, ticket - 1))
            continue; /* ticket now holds the newer value */
        work(context, n - (int)tasks_left(ticket), thread);
        if (atomic_fetch_add(&p->finished, 1) + 1 == n && atomic_load(&p->caller_waits)) {
            pthread_mutex_lock(&p->mutex);
            pthread_cond_signal(&p->done);
            pthread_mutex_unlock(&p->mutex);
        }
        ticket = atomic_load(&p->ticket);
    }
}

static int idle(struct lg__pool *p)
{
    return tasks_left(atomic_load(&p->ticket)) == 0 && !atomic_load(&p->stop);
}

static int unfinished(struct lg__pool *p)
{
    return atomic_load(&p->finished) < atomic_load_explicit(&p->n, memory_order_relaxed);
}

/* Watches for up to SPIN_NS as long as waiting() holds. */
static void spin_while(struct lg__pool *p, int (*waiting)(struct lg__pool *))
{
    if (!p->spin) return;
    int64_t end = now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 32; i++) {
            if (!waiting(p)) return;
            relax();
        }
    } while (now_ns() < end);
}

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    struct lg__pool *p = w->pool;
    while (!atomic_load(&p->stop)) {
        take_tasks(p, w->thread);
        spin_while(p, idle);
        if (!idle(p)) continue;
        /* The sleeper announces itself, then looks once more; the caller publishes, then
         * looks for sleepers. In the one order of all these atomics one sees the other. */
        pthread_mutex_lock(&p->mutex);
        atomic_fetch_add(&p->sleepers, 1);
        while (idle(p)) pthread_cond_wait(&p->wake, &p->mutex);
        atomic_fetch_sub(&p->sleepers, 1);
        pthread_mutex_unlock(&p->mutex);
    }
    return NULL;
}

void lg__pool_run(struct lg__pool *p, int n, void (*work)(void *context, int i, int thread),
                  void *context)
{
    if (p->started == 0 || n <= 1) {
        for (int i = 0; i < n; i++) work(context, i, 0);
        return;
    }
    atomic_store_explicit(&p->work, work, memory_order_relaxed);
    atomic_store_explicit(&p->context, context, memory_order_relaxed);
    atomic_store_explicit(&p->n, n, memory_order_relaxed);
    atomic_store(&p->finished, 0);
    uint64_t run = (atomic_load(&p->ticket) >> 32) + 1;
    atomic_store(&p->ticket, run << 32 | (uint32_t)n);

    int sleepers = atomic_load(&p->sleepers);
    if (sleepers > 0) {
        pthread_mutex_lock(&p->mutex);
        if (n - 1 >= sleepers)
            pthread_cond_broadcast(&p->wake);
        else
            for (int i = 0; i < n - 1; i++) pthread_cond_signal(&p->wake);
        pthread_mutex_unlock(&p->mutex);
    }

    take_tasks(p, 0);
    spin_while(p, unfinished);
    if (unfinished(p)) {
        pthread_mutex_lock(&p->mutex);
        atomic_store(&p->caller_waits, 1);
        while (unfinished(p)) pthread_cond_wait(&p->done, &p->mutex);
        atomic_store(&p->caller_waits, 0);
        pthread_mutex_unlock(&p->mutex);
    }
}

/* Starts the workers with all signals blocked: those belong to the program's own threads. */
static int start_workers(struct lg__pool *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    for (int i = 0; i < p->threads - 1 && !error; i++) {
        struct worker *w = &p->worker[i];
        *w = (struct worker){.pool = p, .thread = i + 1};
        error = pthread_create(&w->id, NULL, worker_main, w);
        if (!error) p->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct lg__pool *lg__pool_new(int threads, lg_error *err)
{
    if (threads < 0 || threads > MAX_THREADS) {
        lg__fail(err, LG_ERROR_ARGUMENT,
                 "%d threads are not possible; give 1 to %d, or 0 for all cores.", threads,
                 MAX_THREADS);
        return NULL;
    }
    int cores = lg_cores();
    if (threads == 0) threads = cores < MAX_THREADS ? cores : MAX_THREADS;

    struct lg__pool *p = lg__alloc(sizeof *p);
    struct worker *worker = p ? lg__alloc((size_t)threads * sizeof *worker) : NULL;
    if (!worker) {
        free(p);
        lg__fail(err, LG_ERROR_MEMORY, "No memory for %d threads; use fewer.", threads);
        return NULL;
    }
    p->threads = threads;
    p->spin = threads <= cores;
    p->worker = worker;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);

    int error = start_workers(p);
    if (error) {
        lg__fail(err, LG_ERROR_SYSTEM,
                 "Thread %d of %d could not be started (%s); use fewer threads, or raise the "
                 "limit (ulimit -u).",
                 p->started + 1, threads, strerror(error));
        lg__pool_free(p);
        return NULL;
    }
    return p;
}

void lg__pool_free(struct lg__pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->mutex);
    atomic_store(&p->stop, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->mutex);
    for (int i = 0; i < p->started; i++) pthread_join(p->worker[i].id, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mutex);
    free(p->worker);
    free(p);
}

int lg__pool_threads(const struct lg__pool *p) { return p->threads; }
