/* progress.c: what is shown of many runs while they are made. Ctrl-C once saves a checkpoint of each
 * and stops; twice stops at once. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { LINE = 1000 };

/* What is shown of a run. */
struct lg_cli_shown {
    char *name, *error;
    char state; /* the first letter of its state; 0: not told yet */
    int64_t step, steps, first;
};

static int in_state(const struct lg_cli_progress *q, const char *letters)
{
    int n = 0;
    for (int i = 0; i < q->count; i++)
        n += q->runs[i].state && strchr(letters, q->runs[i].state) != NULL;
    return n;
}

/* From the steps that were made so far; -1: none. */
static double seconds_left(const struct lg_cli_progress *q)
{
    int64_t made = 0, left = 0;
    for (int i = 0; i < q->count; i++) {
        const struct lg_cli_shown *r = &q->runs[i];
        made += r->step - r->first;
        if (r->state == 'w' || r->state == 't') left += r->steps - r->step;
    }
    return made > 0 ? (lg_cli_now() - q->start) / (double)made * (double)left : -1;
}

/* The states of all runs in one line, no wider than the terminal. */
static void show_line(const struct lg_cli_progress *q)
{
    char line[LINE];
    struct winsize size;
    int n, running = in_state(q, "te"), failed = in_state(q, "f"), shown = 0;
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    double left = seconds_left(q);
    n = snprintf(line, sizeof line, "%d of %d done, ", in_state(q, "d"), q->count);
    if (failed) n += snprintf(line + n, sizeof line - (size_t)n, "%d failed, ", failed);
    if (left >= 0) n += snprintf(line + n, sizeof line - (size_t)n, "%.0f s left, ", left);
    n += snprintf(line + n, sizeof line - (size_t)n, "%d running", running);
    for (int i = 0; i < q->count && n < LINE - 100; i++) {
        const struct lg_cli_shown *r = &q->runs[i];
        if (r->state != 't' && r->state != 'e') continue;
        n += snprintf(line + n, sizeof line - (size_t)n, "%s", shown++ ? ", " : ": ");
        n += snprintf(line + n, sizeof line - (size_t)n, "%.60s ", r->name);
        if (r->state == 'e')
            n += snprintf(line + n, sizeof line - (size_t)n, "evaluating");
        else
            n += snprintf(line + n, sizeof line - (size_t)n, "step %lld of %lld",
                          (long long)r->step, (long long)r->steps);
    }
    if (n >= width) n = width - 1;
    while (n > 0 && ((unsigned char)line[n] & 0xc0) == 0x80) n--; /* not within a character */
    fprintf(stderr, "\r\033[K%.*s", n, line);
}

/* A line when a run begins and when it ends. */
static void show_change(const struct lg_cli_progress *q, const lg_sweep_run *r)
{
    const char *what = *r->state == 't'   ? "begins"
                       : *r->state == 'd' ? "is done"
                       : *r->state == 'f' ? "failed"
                       : *r->state == 'w' ? "has stopped"
                                          : NULL;
    if (!what || (q->terminal && *r->state != 'f')) return;
    fprintf(stderr, "%srun %d of %d %s: %s%s%s\n", q->terminal ? "\r\033[K" : "", r->index + 1,
            r->count, what, r->name, *r->error ? ": " : "", r->error);
}

static void show_start(struct lg_cli_progress *q)
{
    int done = in_state(q, "d");
    q->start = lg_cli_now();
    fprintf(stderr, "%d runs", q->count);
    if (done) fprintf(stderr, ", %d done already", done);
    fprintf(stderr, "; they go into %s and %s\n", q->folder, q->store);
}

int lg_cli_progress_watch(void *context, const lg_sweep_run *r)
{
    struct lg_cli_progress *q = context;
    if (!q->runs) {
        q->runs = calloc((size_t)r->count, sizeof *q->runs);
        if (!q->runs) return 0;
        q->count = r->count;
        q->terminal = isatty(STDERR_FILENO);
        lg_cli_catch_interrupts(1); /* before, there is nothing to save */
    }
    struct lg_cli_shown *s = &q->runs[r->index];
    int changed = s->state && s->state != *r->state;
    if (!s->state) {
        s->name = strdup(r->name);
        s->first = r->step;
        if (!s->name) return 0;
        if (++q->told == q->count) q->start = -1;
    }
    s->state = *r->state;
    s->step = r->step;
    s->steps = r->steps;
    if (*r->error && !s->error) s->error = strdup(r->error);
    if (q->start < 0) show_start(q);
    if (changed) show_change(q, r);
    if (q->terminal && q->told == q->count && (changed || lg_cli_now() - q->last > 0.2)) {
        q->last = lg_cli_now();
        show_line(q);
    }
    return !lg_cli_interrupted && (q->until <= 0 || lg_cli_now() < q->until);
}

int lg_cli_progress_end(struct lg_cli_progress *q, const char *command, int left)
{
    lg_cli_catch_interrupts(0);
    if (q->terminal && q->told) fputs("\r\033[K", stderr);
    if (left)
        fprintf(stderr,
                "Stopped; what was begun is saved, and %d of %d runs are left. To go on, the same "
                "command.\n",
                left, q->count);
    for (int i = 0; i < q->count; i++)
        if (q->runs[i].error)
            fprintf(stderr, "lengthen %s: run %s failed: %s\n", command, q->runs[i].name,
                    q->runs[i].error);
    return lg_cli_interrupted;
}

void lg_cli_progress_clear(struct lg_cli_progress *q)
{
    for (int i = 0; i < q->count; i++) {
        free(q->runs[i].name);
        free(q->runs[i].error);
    }
    free(q->runs);
    *q = (struct lg_cli_progress){0};
}
