/* sweep.c: the runs of a sweep, a few at a time, each trained and evaluated in a process of its
 * own. A run's folder is what it is known by, so that a sweep that was killed goes on where it
 * was: what a process had begun is resumed, what was never begun is started. */
#include "study/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "certify/contexts.h"
#include "study/sweep_ranks.h"
#include "runs/store.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "base/hash.h"
#include "base/clock.h"
#include "measure/eval.h"

enum { WAITING, TRAINING, EVALUATING, DONE, FAILED };
static const char *const state_names[] = {"waiting", "training", "evaluating", "done", "failed"};
enum { QUIET = 200 };                   /* milliseconds after which watch is asked again */
static const double TELL_SECONDS = 0.1; /* how often a process tells its step */

struct state {
    int state;
    int64_t seed, step, steps;
    int killed;  /* how often a worker's process of it was */
    char *error; /* or NULL */
};

/* What a process tells: written at once, as it is not longer than a pipe takes at once. */
struct message {
    int state;
    int64_t step;
    char error[sizeof((lg_error *)0)->text];
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message is written in one piece");

struct job {
    pid_t pid;
    int pipe, run;
    int rank; /* of the worker that has it; 0: a process of ours */
};

struct sweep {
    const lg_sweep_options *o;
    struct lg__sweep_plan plan;
    const char **sets; /* room for those of one run */
    struct state *states;
    char (*texts)[LG__TEXT_SUM]; /* of each variant: checksums of its texts, else "" */
    struct job *jobs;
    struct pollfd *polls;
    int most, running, threads; /* jobs at once, now; threads of each */
    lg_sweep_watch *watch;
    void *context;
    int stopping;
};

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep; end other programs");
}

static int deals(const struct sweep *s) { return lg_comm_size(s->o->comm) > 1; }

/* ---- Before any work --------------------------------------------------------------------- */

/* What the store knows of a run. */
static int look_up(struct sweep *s, int i, lg_store *store, lg_error *err)
{
    struct state *t = &s->states[i];
    struct lg__sweep_found f;
    struct lg__rows rows = {0};
    int e = lg__sweep_find(store, s->plan.runs[i].folder, &f, err);
    if (!e && f.number) t->step = f.step;
    if (!e && f.done) e = lg__rows_read(&rows, &s->plan, i, store, f.number, f.step, err);
    lg__rows_sort(&rows);
    int all = !e && f.done && lg__rows_whole(&rows, &s->plan, i);
    if (all && s->o->certify)
        all = lg__certificate_is_there(s->plan.runs[i].folder, f.step, s->o->certify);
    if (all) t->state = DONE;
    lg__block_free(&rows.block);
    return e;
}

/* Opens a run as its training will. Of a variant, one is enough: a seed decides nothing there, and
 * the config is read for each. */
static int open_run(struct sweep *s, int i, struct lg__run *r, lg_error *err)
{
    char *texts = s->texts[s->plan.runs[i].group];
    lg_eval_options eval = {.folder = s->plan.runs[i].folder, .predicted = -1};
    int n = lg__sweep_sets(&s->plan, i, s->sets), e;
    if (lg__variant_of(&s->plan, i)->form) {
        e = lg__config_read(&r->config, NULL, s->sets, n, err);
        return e ? e : lg__text_record(&r->config, texts, err);
    }
    e = lg__run_open(r, NULL, s->sets, n, err);
    if (e) return e;
    const char *note = lg__text_note(r->task);
    if (note && s->o->note) s->o->note(s->o->note_context, note);
    lg__text_sum(r->task, texts);
    e = lg__text_check_training(r->task, err);
    if (!e) e = lg__run_check_eval(r, &eval, err);
    if (!e) e = lg__variant_fill(&s->plan, i, &r->config, r->task, r->predicts, err);
    return !e && s->o->certify ? lg__certificate_possible(r, err) : e;
}

/* *sum is of its config. */
static int check_run(struct sweep *s, int i, lg_store *store, uint64_t *sum, lg_error *err)
{
    struct lg__run r = {0};
    int there, e = open_run(s, i, &r, err);
    if (!e) e = lg__run_check_folder(&r, s->plan.runs[i].folder, LG_RUN_EITHER, &there, err);
    char *text = e ? NULL : lg__config_text(&r.config);
    if (!e && !text) e = no_memory(err);
    if (e) lg__sweep_blame(&s->plan, i, err);
    if (!e) {
        *sum = lg__fnv(LG__FNV_START, text, strlen(text));
        s->states[i].seed = r.config.seed;
        s->states[i].steps = r.config.train.steps;
        if (store) e = look_up(s, i, store, err);
    }
    free(text);
    lg__run_close(&r);
    return e;
}

struct sum {
    uint64_t sum;
    int run;
};

static int by_sum(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->sum != y->sum) return x->sum < y->sum ? -1 : 1;
    return x->run - y->run;
}

/* Opens every run before the first one is started. Two of the same config are a slip: 1e-3 and
 * 0.001. */
static int check_runs(struct sweep *s, lg_store *store, lg_error *err)
{
    const struct lg__sweep_plan *p = &s->plan;
    struct sum *sums = lg__alloc((size_t)p->count * sizeof *sums);
    int e = sums ? 0 : no_memory(err);
    for (int i = 0; i < p->count && !e; i++) {
        sums[i].run = i;
        e = check_run(s, i, store, &sums[i].sum, err);
    }
    if (!e) qsort(sums, (size_t)p->count, sizeof *sums, by_sum);
    for (int i = 1; i < p->count && !e; i++)
        if (sums[i - 1].sum == sums[i].sum)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "the runs %.100s and %.100s have the same config; take one of them out",
                         p->runs[sums[i - 1].run].name, p->runs[sums[i].run].name);
    free(sums);
    return e;
}

/* The store is closed before the first fork: SQLite must not be taken into another process. */
static int prepare(struct sweep *s, lg_error *err)
{
    lg_store *store = NULL;
    int e = lg__sweep_read(&s->plan, s->o, err);
    if (e) return e;
    s->sets = lg__alloc((size_t)lg__sweep_sets(&s->plan, 0, NULL) * sizeof *s->sets);
    s->states = lg__alloc((size_t)s->plan.count * sizeof *s->states);
    s->texts = lg__alloc((size_t)s->plan.groups * sizeof *s->texts);
    if (!s->sets || !s->states || !s->texts) return no_memory(err);
    if (access(s->o->store, F_OK) == 0 && !(store = lg_store_open(s->o->store, 0, err)))
        return err->code;
    e = check_runs(s, store, err);
    if (!e && s->o->here) e = lg__folder_make(s->o->folder, err);
    if (!e && !store && !(store = lg_store_open(s->o->store, 1, err))) e = err->code;
    lg_store_close(store);
    if (e) return e;
    int jobs = deals(s) ? lg_comm_size(s->o->comm) - 1 : s->o->jobs;
    s->most = jobs < s->plan.count ? jobs : s->plan.count;
    if (s->most < 1) s->most = 1;
    s->threads = s->o->threads > 0 ? s->o->threads : lg_cores() / s->most;
    if (deals(s)) s->threads = lg__comm_threads(s->o->comm, s->o->threads);
    if (s->threads < 1) s->threads = 1;
    s->jobs = lg__alloc((size_t)s->most * sizeof *s->jobs);
    s->polls = lg__alloc((size_t)s->most * sizeof *s->polls);
    return s->jobs && s->polls ? 0 : no_memory(err);
}

/* ---- The process of a run ---------------------------------------------------------------- */

static volatile sig_atomic_t told_to_stop;

static void take_signal(int number)
{
    (void)number;
    told_to_stop = 1;
}

struct child {
    int pipe; /* -1: it is the caller itself */
    struct sweep *sweep;
    int run;
    int64_t step;
    double told;
};

static void tell(struct sweep *s, int run);

static void say(struct child *c, int state, const char *error)
{
    c->told = lg__now();
    if (c->pipe < 0) {
        c->sweep->states[c->run].state = state;
        c->sweep->states[c->run].step = c->step;
        tell(c->sweep, c->run);
        if (c->sweep->stopping) told_to_stop = 1;
        return;
    }
    struct message m = {.state = state, .step = c->step};
    snprintf(m.error, sizeof m.error, "%s", error);
    while (write(c->pipe, &m, sizeof m) < 0 && errno == EINTR) continue;
}

static int watch_child(void *context, const lg_run_step *step)
{
    struct child *c = context;
    c->step = step->step;
    if (lg__now() - c->told >= TELL_SECONDS) say(c, TRAINING, "");
    return !told_to_stop;
}

/* A process of a sweep that was killed just now may still have the folder for a moment. */
static void wait_for_lock(const char *folder)
{
    for (int i = 0; i < 100 && !told_to_stop && lg__run_is_locked(folder); i++)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static int evaluate(const lg_run_options *o, lg_error *err)
{
    lg_eval_options eval = {.folder = o->folder,
                            .access = o->access,
                            .store = o->store,
                            .predicted = -1,
                            .threads = o->threads};
    return lg_run_eval(&eval, NULL, err);
}

/* Trains and evaluates; the state in which that leaves the run. What is done already takes no time:
 * a trained run has no steps left, and the store has its cells. */
static int work(const struct sweep *s, int run, struct child *c, lg_error *err)
{
    lg_run_options train = {.sets = s->sets,
                            .set_count = lg__sweep_sets(&s->plan, run, s->sets),
                            .folder = s->plan.runs[run].folder,
                            .access.allow_exec = 1, /* the command is in the user's own file */
                            .store = s->o->store,
                            .resume = LG_RUN_EITHER,
                            .threads = s->threads,
                            .watch = watch_child,
                            .context = c};
    int done = 0;
    wait_for_lock(train.folder);
    if (told_to_stop) return WAITING;
    if (lg_run_train(&train, &done, err)) return FAILED;
    signal(SIGTERM, SIG_DFL); /* from here on all that was made is in the store: it may just end */
    if (!done || told_to_stop) return WAITING;
    say(c, EVALUATING, "");
    if (s->o->certify && !lg__certificate_is_there(train.folder, c->step, s->o->certify) &&
        lg__certificate_make(train.folder, train.store, s->threads, s->o->certify, err))
        return FAILED;
    return evaluate(&train, err) ? FAILED : DONE;
}

/* Never returns. It ends without what the caller has for the end of its own process: handlers, and
 * buffers that would be written twice. It dies with the caller, by whatever that is ended. */
static void be_child(const struct sweep *s, int run, int pipe, pid_t parent, const sigset_t *mask)
{
    lg_error err = {0};
    struct child c = {.pipe = pipe, .step = s->states[run].step};
    signal(SIGINT, SIG_IGN); /* a terminal signals everybody; the caller decides */
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, take_signal);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
        int state = work(s, run, &c, &err);
        say(&c, state, state == FAILED ? err.text : "");
    }
    for (;;) syscall(SYS_exit_group, 0);
}

/* ---- The caller's side ------------------------------------------------------------------- */

/* Those that run save and stop. */
static void stop_jobs(struct sweep *s)
{
    s->stopping = 1;
    for (int j = 0; j < s->running; j++)
        if (s->jobs[j].rank)
            lg__job_stop(s->o->comm, s->jobs[j].rank, NULL);
        else
            kill(s->jobs[j].pid, SIGTERM);
}

static void tell(struct sweep *s, int run)
{
    const struct state *t = &s->states[run];
    const struct lg__sweep_item *item = &s->plan.runs[run];
    lg_sweep_run r = {.index = run,
                      .count = s->plan.count,
                      .name = item->name,
                      .variant = item->variant,
                      .folder = item->folder,
                      .seed = t->seed,
                      .step = t->step,
                      .steps = t->steps,
                      .state = state_names[t->state],
                      .texts = s->texts[item->group],
                      .error = t->error ? t->error : ""};
    if (!s->watch || s->watch(s->context, &r) || s->stopping) return;
    stop_jobs(s);
}

/* No signal may come between the fork and the child's own handlers: it would be lost. */
static int start(struct sweep *s, int run, lg_error *err)
{
    int ends[2];
    sigset_t all, mask;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lg__fail(err, LG_ERROR_SYSTEM, "no pipe for a run: %s; take fewer jobs (--jobs)",
                        strerror(errno));
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGTERM);
    sigprocmask(SIG_BLOCK, &all, &mask);
    pid_t pid = fork();
    int reason = errno;
    if (pid == 0) be_child(s, run, ends[1], parent, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "no process for a run: %s; take fewer jobs (--jobs), the same call goes on",
                        strerror(reason));
    }
    s->jobs[s->running++] = (struct job){.pid = pid, .pipe = ends[0], .run = run};
    s->states[run].state = TRAINING;
    tell(s, run);
    return 0;
}

static void set_error(struct state *t, const char *text)
{
    free(t->error);
    t->error = strdup(text);
}

/* The process has ended; one that did not say how was killed. */
static void finish(struct sweep *s, int j)
{
    struct job job = s->jobs[j];
    struct state *t = &s->states[job.run];
    int status = 0;
    char text[200];
    s->jobs[j] = s->jobs[--s->running];
    close(job.pipe);
    while (waitpid(job.pid, &status, 0) < 0 && errno == EINTR) continue;
    if (t->state == TRAINING || t->state == EVALUATING) {
        int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        t->state = s->stopping && number == SIGTERM ? WAITING : FAILED;
        snprintf(text, sizeof text, "its process was ended (%s)%s; the same call goes on with it",
                 number ? strsignal(number) : "by no signal",
                 number == SIGKILL ? ", maybe for lack of memory" : "");
        if (t->state == FAILED) set_error(t, text);
    }
    tell(s, job.run);
}

/* One message of a process; how a run ended is told when its process has. */
static void listen_to(struct sweep *s, int j)
{
    struct message m;
    struct state *t = &s->states[s->jobs[j].run];
    ssize_t n = read(s->jobs[j].pipe, &m, sizeof m);
    if (n < 0 && errno == EINTR) return;
    if (n != (ssize_t)sizeof m) {
        finish(s, j);
        return;
    }
    t->state = m.state;
    t->step = m.step;
    if (m.state == FAILED) set_error(t, m.error);
    if (m.state == TRAINING || m.state == EVALUATING) tell(s, s->jobs[j].run);
}

/* Waits for the processes; watch is asked now and then, even if they say nothing. */
static void attend(struct sweep *s)
{
    nfds_t count = (nfds_t)s->running;
    for (nfds_t j = 0; j < count; j++)
        s->polls[j] = (struct pollfd){.fd = s->jobs[j].pipe, .events = POLLIN};
    if (poll(s->polls, count, QUIET) <= 0) {
        tell(s, s->jobs[0].run);
        return;
    }
    while (count-- > 0) /* backwards: finish puts the last one into the place of the ended */
        if (s->polls[count].revents) listen_to(s, (int)count);
}

/* ---- Workers of other ranks ------------------------------------------------------------------ */

enum { MOST_KILLED = 3 };

static int idle_rank(const struct sweep *s)
{
    for (int rank = 1;; rank++) {
        int j = 0;
        while (j < s->running && s->jobs[j].rank != rank) j++;
        if (j == s->running) return rank;
    }
}

static int start_on_rank(struct sweep *s, int run, lg_error *err)
{
    int rank = idle_rank(s);
    int e = lg__sweep_deal(&s->plan, run, s->o->comm, rank, s->threads, err);
    if (e) return e;
    s->jobs[s->running++] = (struct job){.run = run, .rank = rank};
    s->states[run].state = TRAINING;
    tell(s, run);
    return 0;
}

/* A child of a worker has ended. One that was killed has its run dealt again. */
static int finish_on_rank(struct sweep *s, int j, const struct lg__heard *h, lg_error *err)
{
    int run = s->jobs[j].run, rank = s->jobs[j].rank;
    struct state *t = &s->states[run];
    char text[300];
    s->jobs[j] = s->jobs[--s->running];
    int e = lg__sweep_take(&s->plan, run, h, err);
    if (t->state == TRAINING || t->state == EVALUATING) {
        int killed = h->signal > 0 && !s->stopping && ++t->killed >= MOST_KILLED;
        t->state = s->stopping || (h->signal > 0 && !killed) ? WAITING : FAILED;
        if (h->signal > 0)
            snprintf(text, sizeof text, "its process on %s was ended %d times, the last time by %s",
                     lg__comm_name(s->o->comm, rank), t->killed, strsignal(h->signal));
        else
            snprintf(text, sizeof text, "its process on %s ended with exit code %d%s%.150s",
                     lg__comm_name(s->o->comm, rank), h->code, *h->text ? ": " : "", h->text);
        if (t->state == FAILED) set_error(t, text);
    }
    tell(s, run);
    return e;
}

static int attend_ranks(struct sweep *s, lg_error *err)
{
    struct lg__heard h;
    int e = lg__job_hear(s->o->comm, &h, 1e-3 * QUIET, err), j = 0;
    if (e <= 0) {
        tell(s, s->jobs[0].run);
        return e;
    }
    while (j < s->running && s->jobs[j].rank != h.rank) j++;
    e = 0;
    if (j < s->running && h.ended) {
        e = finish_on_rank(s, j, &h, err);
    } else if (j < s->running) {
        struct state *t = &s->states[s->jobs[j].run];
        long long step;
        char word[20];
        int n = 0;
        if (sscanf(h.text, "%19s %lld %n", word, &step, &n) == 2) {
            for (int i = TRAINING; i <= FAILED; i++)
                if (strcmp(word, state_names[i]) == 0) t->state = i;
            t->step = step;
            if (t->state == FAILED) set_error(t, h.text + n);
            if (t->state == TRAINING || t->state == EVALUATING) tell(s, s->jobs[j].run);
        }
    }
    lg__heard_clear(&h);
    return e;
}

/* ---- All runs ---------------------------------------------------------------------------------- */

static int next_waiting(const struct sweep *s)
{
    int i = 0;
    while (i < s->plan.count && s->states[i].state != WAITING) i++;
    return i;
}

static int run_all(struct sweep *s, lg_error *err)
{
    int e = 0, next, count = s->plan.count;
    for (int i = 0; i < count && !s->stopping; i++) tell(s, i);
    for (;;) {
        while (s->running < s->most && !s->stopping && !e && (next = next_waiting(s)) < count)
            e = deals(s) ? start_on_rank(s, next, err) : start(s, next, err);
        if (e && !s->stopping) stop_jobs(s);
        if (!s->running || (e && deals(s))) return e;
        if (deals(s))
            e = attend_ranks(s, err);
        else
            attend(s);
    }
}

/* One after the other, in this process. */
static void run_here(struct sweep *s)
{
    told_to_stop = 0;
    for (int i = 0; i < s->plan.count && !s->stopping; i++) tell(s, i);
    for (int i; !s->stopping && (i = next_waiting(s)) < s->plan.count;) {
        lg_error why = {0};
        struct child c = {.pipe = -1, .sweep = s, .run = i, .step = s->states[i].step};
        say(&c, TRAINING, "");
        int state = work(s, i, &c, &why);
        s->states[i].state = state;
        if (state == FAILED) set_error(&s->states[i], why.text);
        tell(s, i);
        if (state == WAITING) return;
    }
}

int lg_sweep(const lg_sweep_options *o, lg_sweep_watch *watch, void *context, int *failed,
             int *left, lg_error *err)
{
    lg_error own;
    struct sweep s = {.o = o, .watch = watch, .context = context};
    if (!err) err = &own;
    *failed = *left = 0;
    int e = prepare(&s, err), prepared = !e;
    if (!e && o->here)
        run_here(&s);
    else if (!e)
        e = run_all(&s, err);
    for (int i = 0; i < s.plan.count && s.states; i++) {
        *failed += s.states[i].state == FAILED;
        *left += prepared && s.states[i].state != FAILED && s.states[i].state != DONE;
        free(s.states[i].error);
    }
    free(s.sets);
    free(s.states);
    free(s.texts);
    free(s.jobs);
    free(s.polls);
    lg__sweep_clear(&s.plan);
    return e;
}
