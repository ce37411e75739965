/* exec.c: examples from a program of the user's, which writes them as lines while they are used.
 * A run of the program serves one sequence of examples; where a run cannot serve the next one
 * that is asked for, another is started. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks/lines.h"

extern char **environ;

/* Training and evaluation ask in turns, so that a few runs are kept. */
enum { RUNS = 16, VARIABLES = 7, MOST_SKIPPED = 100000, PATIENCE = 2000 /* ms */ };

struct run {
    int open;  /* it serves a draw, though its program may have ended */
    pid_t pid; /* 0: the program has ended */
    struct lg__lines lines;
    lg_draw draw;   /* index: of the next example */
    int first;      /* no line was read yet */
    char last[64];  /* the beginning of the latest line */
    uint64_t asked; /* when it was used last */
};

struct program {
    struct lg__line_parser parser;
    char name[160], words_from[64];
    struct run run[RUNS];
    uint64_t clock; /* counts examples */
};

/* ---- A run ------------------------------------------------------------------------------------ */

/* This process's environment with the draw's variables; d NULL: a first look, of any length. */
static char **make_environment(const lg_draw *d, char variable[VARIABLES][64])
{
    static const lg_draw look = {0};
    int n = 0, kept = 0, own = 3;
    const lg_draw *of = d ? d : &look;
    snprintf(variable[0], 64, "LENGTHEN_SEED=%" PRIu64, of->seed);
    snprintf(variable[1], 64, "LENGTHEN_STREAM=%" PRIu32, of->stream);
    snprintf(variable[2], 64, "LENGTHEN_INDEX=%" PRIu64, of->index);
    if (d) {
        snprintf(variable[own++], 64, "LENGTHEN_LENGTH_LO=%d", d->length_lo);
        snprintf(variable[own++], 64, "LENGTHEN_LENGTH_HI=%d", d->length_hi);
    }
    if (d && (d->sparsity_lo || d->sparsity_hi)) {
        snprintf(variable[own++], 64, "LENGTHEN_SPARSITY_LO=%d", d->sparsity_lo);
        snprintf(variable[own++], 64, "LENGTHEN_SPARSITY_HI=%d", d->sparsity_hi);
    }
    while (environ && environ[n]) n++;
    char **all = lg__alloc((size_t)(n + own + 1) * sizeof *all);
    if (!all) return NULL;
    for (int i = 0; i < n; i++)
        if (strncmp(environ[i], "LENGTHEN_", 9) != 0) all[kept++] = environ[i];
    for (int i = 0; i < own; i++) all[kept++] = variable[i];
    return all;
}

/* sh -c COMMAND with its output into the pipe, in a process group of its own, so that it can be
 * ended with all that it starts. SIGPIPE ends it when nobody reads, even if this process ignores
 * that signal. */
static int spawn(const char *command, int output, char **environment, pid_t *pid)
{
    char *const words[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, pipe_signal;
    int e;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    if ((e = posix_spawn_file_actions_init(&files))) return e;
    if ((e = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&files);
        return e;
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawnattr_setsigmask(&attributes, &none);
    e = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!e) e = posix_spawn_file_actions_adddup2(&files, output, 1);
    if (!e) e = posix_spawn(pid, "/bin/sh", &files, &attributes, words, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return e;
}

static int start(const struct program *p, struct run *run, const char *command, const lg_draw *d,
                 lg_error *err)
{
    char variable[VARIABLES][64];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return lg__fail(err, LG_ERROR_SYSTEM, "%s: no pipe could be had: %s; close files", p->name,
                        strerror(errno));
    char **environment = make_environment(d, variable);
    pid_t pid = 0;
    int why = environment ? spawn(command, ends[1], environment, &pid) : ENOMEM;
    free(environment);
    close(ends[1]);
    if (why) {
        close(ends[0]);
        return lg__fail(err, LG_ERROR_SYSTEM, "%s could not be started: %s; try it in a shell",
                        p->name, strerror(why));
    }
    *run = (struct run){.open = 1, .pid = pid, .lines = {.fd = ends[0]}, .first = 1};
    if (d) run->draw = *d;
    return 0;
}

/* Waits so many milliseconds for the run's end: its shell has ended, and nothing holds its output any
 * more. The shell is not reaped, so that its number still is that of its process group and of no
 * other. 1: it has ended; 0: not yet; -1: someone else has reaped it. */
static int wait_for(const struct run *run, int milliseconds)
{
    for (int waited = 0;; waited++) {
        siginfo_t shell = {0};
        struct pollfd output = {.fd = run->lines.fd};
        int e = waitid(P_PID, (id_t)run->pid, &shell, WEXITED | WNOHANG | WNOWAIT);
        if (e < 0 && errno != EINTR) return -1;
        if (e == 0 && shell.si_pid == run->pid && poll(&output, 1, 0) == 1 &&
            output.revents & POLLHUP)
            return 1;
        if (waited >= milliseconds) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Ends the program, if it runs, and all that it started, also what its shell has left in the
 * background; returns its status, -1 if it had to be made to end. */
static int stop(struct run *run, int patience)
{
    int status = 0;
    if (!run->pid) return 0;
    int ended = wait_for(run, patience);
    if (ended >= 0) {
        kill(-run->pid, SIGTERM);
        wait_for(run, PATIENCE);
        kill(-run->pid, SIGKILL);
        while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (!ended) status = -1;
    }
    close(run->lines.fd); /* not before: a program may complain when its pipe breaks */
    run->pid = 0;
    return status;
}

static void close_run(struct run *run)
{
    stop(run, 0);
    free(run->lines.buffer);
    *run = (struct run){0};
}

/* Its output has ended: reaps it. 0: it ended of itself and with success. */
static int check_end(const struct program *p, struct run *run, lg_error *err)
{
    int status = stop(run, PATIENCE);
    char how[64];
    if (status == 0) return 0;
    if (status == -1)
        snprintf(how, sizeof how, "closed its output");
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "failed with exit code %d", WEXITSTATUS(status));
    int64_t line = run->lines.line - run->lines.cut;
    if (!line)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s %s before its first line; run it in a shell to see why", p->name, how);
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s %s after line %lld (%s); run it in a shell to see why", p->name, how,
                    (long long)line, run->last);
}

/* The next example of a run: 1; 0: there is none; or an error. */
static int next_example(struct program *p, struct run *run, lg_example *x, lg_error *err)
{
    int e;
    do {
        char *text;
        size_t size;
        e = lg__lines_next(&run->lines, p->name, &text, &size, err);
        if (e < 0) return e;
        if (e == 0) return check_end(p, run, err);
        /* A line without an end is whole only if the program has not died over it. */
        if (run->lines.cut && (e = check_end(p, run, err))) return e;
        snprintf(run->last, sizeof run->last, "%s", text);
        p->parser.line = run->lines.line;
        e = lg__line_parse(&p->parser, text, size, run->first, x, err);
        run->first = 0;
    } while (e == 0); /* a header */
    return e;
}

/* ---- The task ----------------------------------------------------------------------------------- */

/* The words, if vocab does not name them, and the shape come from a run of its own: which example
 * will be asked for first is not known yet. */
static int look(struct lg_task *t, struct program *p, lg_error *err)
{
    struct lg__survey survey = {0};
    struct run run = {0};
    lg_example x;
    int e = start(p, &run, t->argument, NULL, err);
    lg_example_init(&x);
    while (!e && survey.examples < t->value[1].i) {
        e = next_example(p, &run, &x, err);
        if (e <= 0) break;
        lg__survey_add(&survey, &x, p->parser.levels);
        e = 0;
    }
    lg_example_clear(&x);
    close_run(&run);
    if (e) return e;
    if (!survey.examples)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s ended without writing an example; let it write JSON lines", p->name);
    lg__survey_shape(&survey, p->parser.levels, t);
    for (int l = 0; l < LG_LEVELS; l++) t->shape.reach[l] = 0; /* later lines may change more */
    if (!p->parser.fixed) {
        snprintf(p->words_from, sizeof p->words_from, "the first %lld lines",
                 (long long)survey.examples);
        p->parser.fixed = p->words_from;
        p->parser.remedy = lg__line_remedy;
    }
    return 0;
}

static int open_exec(struct lg_task *t, lg_error *err)
{
    struct program *p = t->own = lg__alloc(sizeof *p);
    const char *vocabulary = t->value[0].text;
    int e;
    if (!p) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a program; end other programs");
    snprintf(p->name, sizeof p->name, "exec:%.140s", t->argument);
    p->parser =
        (struct lg__line_parser){.t = t, .name = p->name, .between = ", line ", .levels = -1};
    if ((e = lg__line_vocabulary(&p->parser, vocabulary, err))) return e;
    return look(t, p, err);
}

static void close_exec(struct lg_task *t)
{
    struct program *p = t->own;
    if (!p) return;
    for (int i = 0; i < RUNS; i++) close_run(&p->run[i]);
    lg__texts_free(&p->parser.words);
}

static int same_range(const lg_draw *a, const lg_draw *b)
{
    return a->length_lo == b->length_lo && a->length_hi == b->length_hi &&
           a->sparsity_lo == b->sparsity_lo && a->sparsity_hi == b->sparsity_hi;
}

/* The run whose next example this is: that of the seed and stream if it is under way, or a new one
 * in its place, or in place of the one that was used least lately. For another range it is started
 * anew, since it was told the range when it started. Any program can start at 0; elsewhere only one that
 * says so. */
static int find_run(struct lg_task *t, const lg_draw *d, struct run **found, lg_error *err)
{
    struct program *p = t->own;
    struct run *run = p->run;
    int same = 0;
    for (int i = 0; i < RUNS && !same; i++) {
        struct run *other = &p->run[i];
        same = other->open && other->draw.seed == d->seed && other->draw.stream == d->stream;
        if (same || other->asked < run->asked) run = other;
    }
    *found = run;
    if (same && run->draw.index == d->index && same_range(&run->draw, d)) return 0;
    if (d->index && !p->parser.index)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s cannot start at example %" PRIu64
                        ", only at 0, as --resume, train.curriculum and train.stop_at want: leave "
                        "them out, or let it start at LENGTHEN_INDEX and say so in its first line, "
                        "{\"lengthen\": {\"index\": true}}",
                        p->name, d->index);
    close_run(run);
    return start(p, run, t->argument, d, err);
}

static int in_range(const lg_example *x, const lg_draw *d)
{
    int any_sparsity = !d->sparsity_lo && !d->sparsity_hi;
    return x->length >= d->length_lo && x->length <= d->length_hi &&
           (any_sparsity || (x->sparsity >= d->sparsity_lo && x->sparsity <= d->sparsity_hi));
}

/* The next example that is in the draw's range. A program that says it starts at LENGTHEN_INDEX
 * must keep to the range, or indices would not count what is used. */
static int next_in_range(struct program *p, struct run *run, const lg_draw *d, lg_example *x,
                         lg_error *err)
{
    for (int skipped = 0;; skipped++) {
        int e = next_example(p, run, x, err);
        if (e < 0) return e;
        if (e == 0)
            return lg__fail(err, LG_ERROR_SYSTEM,
                            "%s ended after line %lld (%s), but example %" PRIu64
                            " was asked for; let it write on for ever",
                            p->name, (long long)run->lines.line, run->last, d->index);
        if (in_range(x, d)) return 0;
        if (p->parser.index || skipped == MOST_SKIPPED)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s, line %lld: length %d, sparsity %d is not in the range asked for, "
                            "%d..%d and %d..%d (0..0: any); ask for what the program makes, or let "
                            "it keep to LENGTHEN_LENGTH_LO and _HI, LENGTHEN_SPARSITY_LO and _HI",
                            p->name, (long long)run->lines.line, x->length, x->sparsity,
                            d->length_lo, d->length_hi, d->sparsity_lo, d->sparsity_hi);
    }
}

static int fetch_exec(struct lg_task *t, const lg_draw *d, lg_example *x, lg_error *err)
{
    struct program *p = t->own;
    struct run *run;
    int e = find_run(t, d, &run, err);
    if (e) return e;
    run->asked = ++p->clock;
    run->draw.index++;
    e = next_in_range(p, run, d, x, err);
    if (e) close_run(run);
    return e;
}

static const lg_setting exec_settings[] = {
    {"vocab", "TEXT", "", "a file with one word per line: all words there may be, in this order"},
    {"first", "1..1000000", "1000", "lines that are read to find words, lengths and levels"},
    {0},
};

const struct lg__task_row lg__task_exec = {
    .info =
        {.name = "exec",
         .family = "own data",
         .own = LG_OWN_PROGRAM,
         .line = "exec:COMMAND, examples of your own from a program's output",
         .text =
             "`sh -c COMMAND` is started and writes examples to its output, for ever, one JSON\n"
             "object per line, as in jsonl:FILE (`lengthen tasks jsonl`). examples/evens.py is "
             "one.\n"
             "\n"
             "It finds in its environment\n"
             "  LENGTHEN_SEED, LENGTHEN_STREAM    numbers from 0 on: other numbers, other "
             "examples;\n"
             "                                    streams tell training from evaluation\n"
             "  LENGTHEN_INDEX                    the example to start with, from 0 on\n"
             "  LENGTHEN_LENGTH_LO, _HI           the lengths that are wanted\n"
             "  LENGTHEN_SPARSITY_LO, _HI         the sparsities, only where they are asked for\n"
             "\n"
             "Lines that are not of the wanted lengths and sparsities are skipped, at most 100000\n"
             "in a row. A program that can start at LENGTHEN_INDEX says so in its first line,\n"
             "  {\"lengthen\": {\"index\": true}}\n"
             "and then keeps to the lengths: a line that would be skipped is an error. Others\n"
             "cannot go on with --resume, since they only start with example 0.\n"
             "\n"
             "When the task is opened, a run with seed, stream and index 0 and without the other\n"
             "variables writes the first 1000 lines (setting first, or fewer, if it ends); they\n"
             "show the levels, lengths, sparsities and the stop token, and all words unless the\n"
             "setting vocab names them. A word that comes up later is refused. Each seed and "
             "stream\n"
             "then has a run of its own, 16 at most, which is started again for example 0, and "
             "for\n"
             "another range of lengths if it takes LENGTHEN_INDEX. A program that fails, or ends\n"
             "too early, is an error.\n"
             "What it writes to its standard error is not read; its standard input is empty.\n"
             "\n"
             "Opening a run of this task executes its command. Runs that you trained on this\n"
             "machine are remembered with their command in your state folder (LENGTHEN_STATE, "
             "else\n"
             "~/.local/state/lengthen); any other run executes nothing unless you add "
             "--allow-exec.\n",
         .unit = "length",
         .sparsity = "as \"sparsity\" says",
         .settings = exec_settings},
    .argument = LG__ARGUMENT_MUST,
    .executes = 1,
    .open = open_exec,
    .close = close_exec,
    .fetch = fetch_exec,
};
