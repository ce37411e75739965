/* study.c: opens an experiment: names, variants, and which rows there are to be. */
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
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

/* ---- What each run is to have --------------------------------------------------------------- */

/* Whether a number stands in the list already: it is made once. */
static int is_again(const struct lg__config_list *list, int at)
{
    int i = 0;
    while (i < at && list->at[i] != list->at[at]) i++;
    return i < at;
}

static int list_cells(struct lg__study_variant *v, const struct lg__config *c, const lg_task *task,
                      int predicts, lg_error *err)
{
    int ns = c->eval_sparsities.count ? c->eval_sparsities.count : 1;
    v->cells = lg__alloc((size_t)(ns * c->eval_lengths.count) * 2 * sizeof *v->cells);
    if (!v->cells) return no_memory(err);
    for (int p = 0; p <= predicts; p++)
        for (int k = 0; k < ns; k++)
            for (int l = 0; l < c->eval_lengths.count; l++) {
                struct lg__study_cell cell = {.length = c->eval_lengths.at[l], .predicted = p};
                if (c->eval_sparsities.count) cell.sparsity = c->eval_sparsities.at[k];
                int once = !is_again(&c->eval_lengths, l) &&
                           !(c->eval_sparsities.count && is_again(&c->eval_sparsities, k));
                cell.samples = lg__run_samples(c, task, cell.length, cell.sparsity);
                if (once && lg__task_has_cell(c->task, cell.length, cell.sparsity))
                    v->cells[v->count++] = cell;
            }
    return 0;
}

/* Every bin of every length. */
static int list_bins(struct lg__study_variant *v, const struct lg__config *c, lg_error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        v->count = 0;
        for (int l = 0; l < c->eval_lengths.count; l++) {
            if (is_again(&c->eval_lengths, l)) continue;
            for (int low = 1, high, length = c->eval_lengths.at[l]; low <= length; low = high + 1) {
                high = lg__text_bin_end(low, length, c->length[1]);
                if (pass)
                    v->cells[v->count] = (struct lg__study_cell){
                        .length = length, .samples = c->eval_samples, .low = low, .high = high};
                v->count++;
            }
        }
        if (!pass && !(v->cells = lg__alloc((size_t)v->count * sizeof *v->cells)))
            return no_memory(err);
    }
    return 0;
}

/* The config of texts as it is written: what is in them decides nothing here, and they need not be
 * there to read what was made of them. */
static int open_text_variant(struct lg__study_variant *v, const struct lg__config *c, lg_error *err)
{
    v->text = 1;
    snprintf(v->unit, sizeof v->unit, "tokens");
    return list_bins(v, c, err);
}

static int open_answers_variant(struct lg__study_variant *v, const struct lg__config *c,
                                lg_error *err)
{
    lg_task *task = NULL;
    lg_scheme scheme;
    lg_model_config model = {0};
    lg_train_options train;
    int predicts = 0, e = lg__config_open(c, &task, &scheme, &model, &train, err);
    if (e) return e;
    for (int l = 0; l < model.levels; l++) predicts |= model.id_classes[l] > 0;
    lg__run_sum_data(c, NULL, NULL, v->data);
    const lg_task_info *info = lg_task_get_shape(task)->info;
    int own = strcmp(info->family, "own data") == 0;
    snprintf(v->unit, sizeof v->unit, "%s", info->unit);
    snprintf(v->sparse, sizeof v->sparse, "%s", info->sparsity && !own ? info->sparsity : "sparse");
    e = list_cells(v, c, task, predicts, err);
    lg_task_free(task);
    return e;
}

/* The config as its runs will have it; the weights are not needed. */
static int open_variant(struct lg__study_variant *v, const char *const *sets, int count, int makes,
                        lg_error *err)
{
    struct lg__config c;
    int e = lg__config_read(&c, NULL, sets, count, err);
    if (e) return e;
    v->least = c.length[0];
    v->length = c.length[1];
    v->sparsest = c.sparsity[0];
    v->sparsity = c.sparsity[1];
    v->seed = c.seed;
    for (int i = 0; i < c.eval_lengths.count; i++)
        if (c.eval_lengths.at[i] > v->longest) v->longest = c.eval_lengths.at[i];
    if (!makes &&
        lg__task_executes(c.task)) /* a list executes nothing: how many cells is not known */
        v->cells = lg__alloc(sizeof *v->cells);
    else
        e = (lg__config_is_text(&c) ? open_text_variant : open_answers_variant)(v, &c, err);
    lg__config_clear(&c);
    return e;
}

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

/* Its method, its other axes as "k_train=4;..", and its seed. */
static int name_run(struct lg__study *s, int i, lg_error *err)
{
    struct lg__study_run *r = &s->runs[i];
    lg_buffer b = {0};
    r->seed = lg__study_variant_of(s, i)->seed;
    for (int a = 0, n = 0; a < s->plan.axis_count; a++) {
        const char *key = s->plan.axes[a].at->key;
        const char *value = lg__sweep_value_of(&s->plan, i, a)->name;
        if (strcmp(key, "seed") == 0)
            r->seed = strtoll(value, NULL, 10);
        else if (strcmp(key, "method") == 0)
            r->method = strdup(value);
        else
            lg_buffer_print(&b, "%s%s=%s", n++ ? ";" : "", key, value);
    }
    if (!r->method) r->method = strdup("");
    r->train = lg_buffer_take(&b, NULL);
    return r->train && r->method ? 0 : no_memory(err);
}

static int open_runs(struct lg__study *s, int makes, lg_error *err)
{
    const struct lg__sweep_plan *p = &s->plan;
    const char **sets = lg__alloc((size_t)lg__sweep_sets(p, 0, NULL) * sizeof *sets);
    s->variants = lg__alloc((size_t)p->groups * sizeof *s->variants);
    s->runs = lg__alloc((size_t)p->count * sizeof *s->runs);
    int e = sets && s->variants && s->runs ? 0 : no_memory(err);
    for (int i = 0; i < p->count && !e; i++) {
        struct lg__study_variant *v = &s->variants[p->runs[i].group];
        int n = lg__sweep_sets(p, i, sets);
        if (!v->cells && (e = open_variant(v, sets, n, makes, err))) {
            lg__sweep_blame(p, i, err);
            break;
        }
        s->runs[i].settings = sum_of(sets, n);
        e = name_run(s, i, err);
    }
    free(sets);
    return e;
}

/* All runs are of texts, or none is. */
static int choose_form(struct lg__study *s, lg_error *err)
{
    int text = s->variants[0].text;
    for (int i = 1; i < s->plan.groups; i++)
        if (s->variants[i].text != text)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has runs of the task text, which have losses, and of others, which "
                            "have answers; make two experiments of it",
                            s->file);
    s->modes = text ? LG__MODES_TEXTS : LG__MODES_ANSWERS;
    if (asprintf(&s->evals, "%s/%s", s->place, text ? "losses.csv" : "evals.csv") < 0) {
        s->evals = NULL;
        return no_memory(err);
    }
    return lg__experiment_check_form(&s->x, text, err);
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
                                  .note = o->note,
                                  .note_context = o->context};
    e = lg__sweep_read(&s->plan, &s->sweep, err);
    if (!e) e = lg__experiment_read(&s->x, &s->plan, err);
    s->sweep.certify = s->x.certify;
    if (!e) e = open_runs(s, makes, err);
    if (!e) e = choose_form(s, err);
    return e ? e : check_only(s, err);
}

int lg__study_read(struct lg__study *s, lg_error *err)
{
    int e = lg__results_read(s, err);
    if (!e) e = lg__journal_read(s, err);
    if (!e) lg__study_count(s);
    return e;
}

/* Every cell in every mode, with as many samples as are asked for (or all the documents there are), and
 * the certificate. */
void lg__study_count(struct lg__study *s)
{
    const struct lg__row *rows = lg__study_rows(s);
    for (int i = 0, at = 0; i < s->plan.count; i++) {
        const struct lg__study_variant *v = lg__study_variant_of(s, i);
        int right = 0;
        for (; at < s->row_count && rows[at].run == i; at++) {
            int samples = v->cells[rows[at].cell].samples;
            right += rows[at].samples == samples ||
                     (v->text && rows[at].samples < samples && rows[at].samples == rows[at].there);
        }
        s->runs[i].done =
            right == s->modes * v->count && (!s->x.certify || lg__journal_certificate(s, i));
    }
}

void lg__study_close(struct lg__study *s)
{
    for (int i = 0; i < s->plan.count && s->runs; i++) {
        free(s->runs[i].method);
        free(s->runs[i].train);
    }
    for (int i = 0; i < s->plan.groups && s->variants; i++) free(s->variants[i].cells);
    free(s->runs);
    free(s->variants);
    lg__block_free(&s->block);
    lg__journal_free(s);
    lg__experiment_clear(&s->x);
    lg__sweep_clear(&s->plan);
    free(s->file);
    free(s->folder);
    free(s->place);
    free(s->evals);
    free(s->journal_file);
    *s = (struct lg__study){0};
}
