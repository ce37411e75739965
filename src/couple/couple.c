/* couple.c: lg_couple: lines in, the search, the trials, files out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "couple/couple.h"

enum { FINDINGS = 2, ASSIGNMENTS = 2 * FINDINGS };
static const double CLAIM = 0.985; /* of the lines that nothing was chosen by, and are not wrong */

lg_couple_options lg_couple_options_default(void)
{
    return (lg_couple_options){
        .lines = 2000, .length = 12, .steps = 6000, .minutes = 10, .seed = 1};
}

void lg_couple_clear(lg_couple_result *r)
{
    free(r->config);
    r->config = NULL;
}

int lg_task_couple(lg_task *t, const char *file, lg_error *err)
{
    return lg__task_couple_file(t, file, NULL, err);
}

static void searching(void *context, double share)
{
    const struct lg__couple *c = context;
    lg_couple_progress p = {.event = LG_COUPLE_SEARCHES, .share = share};
    p.left = fmax(0, c->end - lg__now());
    if (c->o->watch) c->o->watch(c->o->context, &p);
}

/* Lines that contradict what most say. */
static void mark_wrong(struct lg__couple *c, const struct lg__finding *f)
{
    lg_couple_result *r = c->r;
    r->disagree = f->disagree;
    for (int i = 0; i < c->looked.count && f->wrong; i++)
        if (f->wrong[i]) c->wrong[c->looked_at[i]] = 1;
    for (int i = 0; i < c->lines.count && r->shown < LG_COUPLE_SHOWN; i++)
        if (c->wrong[i])
            lg_example_text(c->task, &c->lines.x[i], r->disagreeing[r->shown++],
                            sizeof r->disagreeing[0]);
}

static int assign(struct lg__couple *c, const struct lg__finding *f, int found,
                  struct lg__assignment *a, int *from)
{
    lg_error why = {0};
    int n = 0;
    for (int second = 0; second < 2; second++)
        for (int i = 0; i < found; i++)
            if (!lg__assign(&f[i], &c->looked, second != f[i].roles, &a[n], &why)) from[n++] = i;
    if (!n)
        snprintf(c->r->why, sizeof c->r->why, "no IDs make what is read neighbours: %.400s",
                 why.text);
    return n;
}

static void say_nothing_found(struct lg__couple *c, const struct lg__finding *best)
{
    snprintf(c->r->why, sizeof c->r->why,
             "no set of up to %d addresses decides the answer: the best is right on %.0f%% of the "
             "rows of longer lines that it has seen alike (chance %.0f%%)",
             LG__SET, 100 * fmax(0, best->accuracy), 100 * best->slot[0].chance);
}

static int judge(struct lg__couple *c, lg_error *err)
{
    lg_couple_result *r = c->r;
    double wrong = (double)r->disagree / (c->looked.count ? c->looked.count : 1);
    r->claimed = r->report_lines && r->report_exact >= (CLAIM - wrong) * r->report_lines;
    if (!r->claimed && !r->why[0])
        snprintf(
            r->why, sizeof r->why,
            "the winner answers %d of the %d lines right that nothing was chosen by: too few to "
            "call it found; more lines or more --steps may help",
            r->report_exact, r->report_lines);
    char run[LG_COUPLE_PATH + 16];
    snprintf(run, sizeof run, "%s/best", r->folder);
    if (!r->claimed || !c->o->certify) return 0;
    return c->o->certify(c->o->context, run, r->certificate, sizeof r->certificate, err);
}

static int find_and_try(struct lg__couple *c, lg_error *err)
{
    struct lg__finding *f = calloc(FINDINGS + 1, sizeof *f);
    struct lg__assignment *a = calloc(ASSIGNMENTS, sizeof *a);
    const struct lg__assignment *best = NULL;
    struct lg__find_watch w = {.progress = searching, .context = c, .stop = c->o->stop};
    char path[LG_COUPLE_PATH + 32];
    int from[ASSIGNMENTS] = {0}, n = 0, e = 0;
    w.until = c->end;
    if (!f || !a) e = lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    int found = e ? 0 : lg__find(&c->looked, f, FINDINGS, &f[FINDINGS], &w, err);
    if (found < 0) e = found;
    c->r->cut = lg__now() >= c->end;
    if (!e && !found) say_nothing_found(c, &f[FINDINGS]);
    if (!e && found) {
        mark_wrong(c, &f[0]);
        c->r->accuracy = f[0].accuracy;
        c->r->found = (n = assign(c, f, found, a, from)) > 0;
        snprintf(c->r->reads, sizeof c->r->reads, "%s", n ? a[0].rule.reads : "");
    }
    if (!e && n) e = lg__couple_write(c, &a[0].rule, err);
    if (!e && n) e = lg__couple_trials(c, a, n, &best, err);
    if (!e && best) {
        snprintf(c->r->reads, sizeof c->r->reads, "%s", best->rule.reads);
        snprintf(path, sizeof path, "%s/coupling.svg", c->r->folder);
        e = lg__couple_picture(c, &f[from[best - a]], best, path, err);
        if (!e) e = judge(c, err);
    }
    for (int i = 0; i <= FINDINGS && f; i++) free(f[i].wrong);
    free(f);
    free(a);
    return e;
}

int lg_couple(const lg_couple_options *o, lg_couple_result *r, lg_error *err)
{
    struct lg__couple c = {.o = o, .r = r, .start = lg__now()};
    *r = (lg_couple_result){.best = -1};
    c.end = c.start + 60 * o->minutes;
    if (!o->folder || strlen(o->folder) >= sizeof((lg_cell *)0)->setting - 24)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is no folder to write into, or its name is too long; name one of at "
                        "most %d letters (--out)",
                        (int)sizeof((lg_cell *)0)->setting - 25);
    snprintf(r->folder, sizeof r->folder, "%s", o->folder);
    char path[LG_COUPLE_PATH + 16];
    snprintf(path, sizeof path, "%s/best", r->folder);
    if (access(path, F_OK) == 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is there already, of an earlier search; name another folder (--out), "
                        "or remove this one",
                        path);
    snprintf(path, sizeof path, "%s/trials", r->folder);
    lg_folder_remove(path); /* of one that was stopped */
    int e = lg__couple_read(&c, err);
    if (!e) e = lg__folder_out(o->folder, err);
    if (!e) e = find_and_try(&c, err);
    lg__couple_close(&c);
    r->seconds = lg__now() - c.start;
    if (!e && o->stop && *o->stop) e = lg__fail(err, LG_ERROR_STOPPED, "stopped");
    return e;
}
