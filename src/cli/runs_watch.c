/* runs_watch.c: `lengthen runs watch`: the runs that train, as they train, until none does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/curve.h"
#include "cli/runs.h"
#include "cli/show.h"

enum { SHOWN = 12, CURVE = 24 };
static const double EVERY = 1, EVERY_LINE = 10; /* seconds: on a terminal; lines elsewhere */

struct watched {
    struct lg_cli_run run;
    struct lg_cli_curve curve;
    double loss, right;
};

struct watching {
    struct lg_cli_asked *a;
    struct watched at[SHOWN];
    int count, training, lines, terminal, lost;
    double since; /* runs that changed after it are shown, too */
};

static int wanted(const struct lg_cli_asked *a, const lg_store_run *r)
{
    int named = !a->name_count;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)r->number);
    for (int i = 0; i < a->name_count; i++)
        named |= strcmp(a->names[i], number) == 0 || strcmp(a->names[i], lg_cli_run_name(r)) == 0 ||
                 strcmp(a->names[i], r->folder) == 0;
    return named && (!a->task || strcmp(a->task, r->task) == 0);
}

static void take(void *context, const lg_store_run *r)
{
    struct watching *w = context;
    int trains = strcmp(r->state, "training") == 0;
    if (!wanted(w->a, r)) return;
    w->training += trains;
    if ((!trains && r->updated < w->since && !w->a->name_count) || w->count == SHOWN) return;
    struct watched *t = &w->at[w->count++];
    *t = (struct watched){.run.r = *r};
    t->run.text = NULL;
    if (asprintf(&t->run.text, "%s%c%s%c%s", lg_cli_run_name(r), 0, r->state, 0, r->task) < 0) {
        t->run.text = NULL;
        w->lost = 1;
        w->count--;
        return;
    }
    char *at = t->run.text;
    t->run.r.folder = at;
    t->run.r.state = at += strlen(at) + 1;
    t->run.r.task = at + strlen(at) + 1;
}

static int add_step(void *context, const lg_run_step *s)
{
    struct watched *t = context;
    lg_cli_curve_add(&t->curve, s->loss, s->accuracy);
    t->loss = s->loss;
    t->right = s->accuracy;
    return 1;
}

static void clear(struct watching *w)
{
    for (int i = 0; i < w->count; i++) free(w->at[i].run.text);
    w->count = w->training = 0;
}

static int look(struct watching *w, lg_error *err)
{
    clear(w);
    int e = lg_store_runs(w->a->store, take, w, err);
    for (int i = 0; i < w->count && !e; i++)
        e = lg_store_steps(w->a->store, w->at[i].run.r.number, add_step, &w->at[i], err);
    return e || !w->lost ? e : lg_cli_no_memory(err);
}

static void print_run(const struct watched *t, int terminal)
{
    const lg_store_run *r = &t->run.r;
    char curve[4 * CURVE + 1] = "";
    if (terminal) lg_cli_curve_text(t->curve.loss, t->curve.count, 1, CURVE, lg_cli_utf8(), curve);
    printf("%s%lld %.24s: %s, %lld of %lld, loss %.4g, right %.1f%% %s\n", terminal ? "\033[K" : "",
           (long long)r->number, lg_cli_plain(r->folder), r->state, (long long)r->step,
           (long long)r->steps, t->loss, 100 * t->right, curve);
}

static void print_json(const struct watched *t)
{
    const lg_store_run *r = &t->run.r;
    printf("{\"run\":%lld,\"name\":", (long long)r->number);
    lg_cli_json(stdout, r->folder);
    lg_cli_json_word("state", r->state);
    printf(",\"step\":%lld,\"steps\":%lld", (long long)r->step, (long long)r->steps);
    lg_cli_json_number("loss", t->loss);
    lg_cli_json_number("accuracy", t->right);
    puts("}");
}

static void print(struct watching *w)
{
    if (w->terminal && w->lines) printf("\033[%dA", w->lines);
    for (int i = 0; i < w->count; i++)
        if (w->a->json)
            print_json(&w->at[i]);
        else
            print_run(&w->at[i], w->terminal);
    if (w->terminal) {
        printf("\033[J%d in training; Ctrl-C ends the watch, not the runs\n", w->training);
        w->lines = w->count + 1;
    }
    fflush(stdout);
}

int lg_cli_runs_watch(struct lg_cli_asked *a)
{
    struct watching *w = calloc(1, sizeof *w);
    double shown = 0;
    int e = w ? 0 : lg_cli_no_memory(&a->err), trained = 1;
    if (w) {
        w->a = a;
        w->terminal = isatty(STDOUT_FILENO) && !a->json;
        w->since = (double)time(NULL) - 1;
    }
    lg_cli_catch_interrupts(1);
    while (!e && trained && !lg_cli_interrupted && !(e = look(w, &a->err))) {
        trained = w->training;
        if (!w->count) puts("No run trains; `lengthen runs` lists all.");
        if (w->terminal || !trained || lg_cli_now() - shown >= EVERY_LINE) {
            print(w);
            shown = lg_cli_now();
        }
        for (double until = lg_cli_now() + EVERY;
             trained && !lg_cli_interrupted && lg_cli_now() < until;)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    lg_cli_catch_interrupts(0);
    if (w) clear(w);
    free(w);
    return e ? -1 : lg_cli_interrupted ? lg_cli_stopped() : LG_EXIT_DONE;
}
