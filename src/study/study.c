/* study.c: opens an experiment: names, variants, and which rows there are to be. */
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "base/hash.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for an experiment; end other programs");
}

/* ---- Names --------------------------------------------------------------------------------- */

static int is_desk(const lg_reproduce_options *o)
{
    return !o->scale || strcmp(o->scale, "desk") == 0;
}

static int name_files(struct lg__study *s, lg_error *err)
{
    const lg_reproduce_options *o = s->o;
    int n = asprintf(&s->file, "%s/%s.yaml", o->experiments, o->name);
    if (n >= 0) n = asprintf(&s->folder, "%s/%s", o->folder, o->name);
    if (n >= 0) n = asprintf(&s->place, "%s/%s", is_desk(o) ? o->results : o->folder, o->name);
    if (n >= 0) n = asprintf(&s->results, "%s/measurements.csv", s->place);
    if (n >= 0) n = asprintf(&s->journal_file, "%s/run.json", s->place);
    return n < 0 ? no_memory(err) : 0;
}

static int check_there(const struct lg__study *s, lg_error *err)
{
    if (access(s->file, R_OK) == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "there is no experiment %s: %s cannot be read; `lengthen reproduce --list` "
                    "has all, --experiments names their folder",
                    s->o->name, s->file);
}

/* ---- The runs ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of the sets, in whatever order they are written. */
static uint64_t sum_of(const char **sets, int n)
{
    uint64_t h = LG__FNV_START;
    qsort(sets, (size_t)n, sizeof *sets, by_text);
    for (int i = 0; i < n; i++) h = lg__fnv(h, sets[i], strlen(sets[i]) + 1);
    return h;
}

/* Its method, and its other axes as "k_train=4;..". */
static int name_run(struct lg__study *s, int i, lg_error *err)
{
    struct lg__study_run *r = &s->runs[i];
    lg_buffer b = {0};
    for (int a = 0, n = 0; a < s->plan.axis_count; a++) {
        const char *key = s->plan.axes[a].at->key;
        const char *value = lg__sweep_value_of(&s->plan, i, a)->name;
        if (strcmp(key, "method") == 0)
            r->method = strdup(value);
        else if (strcmp(key, "seed") != 0)
            lg_buffer_print(&b, "%s%s=%s", n++ ? ";" : "", key, value);
    }
    if (!r->method) r->method = strdup("");
    r->train = lg_buffer_take(&b, NULL);
    return r->train && r->method ? 0 : no_memory(err);
}

static int open_runs(struct lg__study *s, int makes, lg_error *err)
{
    struct lg__sweep_plan *p = &s->plan;
    const char **sets = lg__alloc((size_t)lg__sweep_sets(p, 0, NULL) * sizeof *sets);
    s->runs = lg__alloc((size_t)p->count * sizeof *s->runs);
    s->done = lg__alloc((size_t)p->count);
    int e = sets && s->runs && s->done ? lg__variants_open(p, makes, err) : no_memory(err);
    for (int i = 0; i < p->count && !e; i++) {
        s->runs[i].settings = sum_of(sets, lg__sweep_sets(p, i, sets));
        e = name_run(s, i, err);
    }
    free(sets);
    return e;
}

/* All runs are measured alike. */
static int check_form(const struct lg__study *s, lg_error *err)
{
    const char *form = s->plan.variants[0].form;
    for (int i = 1; i < s->plan.groups; i++)
        if (strcmp(s->plan.variants[i].form, form) != 0)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has runs that are measured by %s, and others by %s; make two "
                            "experiments of it",
                            s->file, form, s->plan.variants[i].form);
    return lg__experiment_check_form(&s->x, form, err);
}

static int check_only(const struct lg__study *s, lg_error *err)
{
    if (!s->o->only) return 0;
    for (int i = 0; i < s->plan.count; i++)
        if (strcmp(s->plan.runs[i].name, s->o->only) == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "\"%.150s\" is no run of %s; one of them is \"%.150s\"",
                    s->o->only, s->file, s->plan.runs[0].name);
}

int lg__study_open(struct lg__study *s, const lg_reproduce_options *o, int makes, lg_error *err)
{
    s->o = o;
    int e = name_files(s, err);
    if (!e) e = check_there(s, err);
    if (e) return e;
    s->sweep = (lg_sweep_options){.file = s->file,
                                  .scale = o->scale,
                                  .folder = s->folder,
                                  .store = o->store,
                                  .jobs = o->jobs,
                                  .threads = o->threads,
                                  .comm = o->comm,
                                  .note = o->note,
                                  .note_context = o->context};
    e = lg__sweep_read(&s->plan, &s->sweep, err);
    if (!e) e = lg__experiment_read(&s->x, &s->plan, err);
    s->sweep.certify = s->x.certify;
    if (!e) e = open_runs(s, makes, err);
    if (!e) e = check_form(s, err);
    return e ? e : check_only(s, err);
}

int lg__study_read(struct lg__study *s, lg_error *err)
{
    int e = lg__results_read(s, err);
    if (!e) e = lg__journal_read(s, err);
    if (!e) lg__study_count(s);
    return e;
}

/* The rows, and the certificate. */
void lg__study_count(struct lg__study *s)
{
    for (int i = 0; i < s->plan.count; i++)
        s->done[i] = lg__rows_whole(&s->rows, &s->plan, i) &&
                     (!s->x.certify || lg__journal_certificate(s, i));
}

void lg__study_close(struct lg__study *s)
{
    for (int i = 0; i < s->plan.count && s->runs; i++) {
        free(s->runs[i].method);
        free(s->runs[i].train);
    }
    free(s->runs);
    free(s->done);
    lg__block_free(&s->rows.block);
    lg__journal_free(s);
    lg__experiment_clear(&s->x);
    lg__sweep_clear(&s->plan);
    free(s->file);
    free(s->folder);
    free(s->place);
    free(s->results);
    free(s->journal_file);
    *s = (struct lg__study){0};
}
