/* eval.c: what a run can do, cell by cell: length, sparsity, settings of the task, IDs given and
 * predicted. A cell that the store has is not made again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/answer.h"
#include "measure/bench.h"
#include "runs/run.h"
#include "runs/store.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "base/clock.h"
#include "base/stats.h"
#include "measure/eval.h"

struct grid {
    struct lg__run *run;
    const lg_eval_options *o;
    lg_store *store;
    int64_t number;
    int samples;
    char data[20];    /* of a file of examples */
    int index, count; /* cells told, and to be told in all */
    double until;     /* by lg__now: the end of the time for all cells; 0: none */
    lg_task *task;    /* the run's own, or one with another setting */
    lg_example example;
};

static lg_draw draw_of(const struct grid *g, const lg_run_cell *cell)
{
    lg_draw d = {.seed = (uint64_t)g->run->config.seed, .stream = LG__STREAM_TEST};
    d.length_lo = d.length_hi = cell->length;
    d.sparsity_lo = d.sparsity_hi = cell->sparsity;
    if (!g->o->task)
        d.side = lg__run_test_side(&g->run->config, g->run->task, d.length_lo, d.length_hi);
    return d;
}

static int can_be(const struct grid *g, const lg_run_cell *cell)
{
    const char *name = g->o->task ? g->o->task : g->run->config.task;
    return lg__task_has_cell(name, cell->length, cell->sparsity);
}

/* Lines are answered once each, however many are asked for. */
static int samples_of(const struct grid *g, lg_run_cell *cell)
{
    lg_draw d = draw_of(g, cell);
    cell->lines = lg__task_count(g->task, &d);
    cell->held_out = cell->lines && d.side == LG_SIDE_TEST;
    return cell->lines && cell->lines < g->samples ? cell->lines : g->samples;
}

static int stopped(const struct grid *g) { return g->o->stop && *g->o->stop; }

/* Generates, and teaches, the examples of the cell; fewer if the cell's share of the time ends. */
static int make_cell(struct grid *g, lg_run_cell *cell, int samples, lg_error *err)
{
    struct lg__run *r = g->run;
    lg_draw d = draw_of(g, cell);
    double since = lg__now();
    struct lg__answer_limit limit = {.stop = g->o->stop};
    if (g->until > 0) limit.until = since + (g->until - since) / (g->count - g->index);
    int e = lg_task_example(g->task, &d, &g->example, err);
    if (e) return e;
    if (r->model_config.rope_scaling == LG_ROPE_DYNAMIC &&
        (e = lg_model_set_length(r->model, g->example.n, err)))
        return e;
    int single = 0;
    if (!g->o->generated_only)
        e = lg__answer_taught(r->model, g->task, &r->scheme, &d, samples, cell->predicted,
                              g->o->threads, &single, &cell->taught, err);
    if (!e && single && !cell->predicted)
        cell->score = cell->taught;
    else if (!e)
        e = lg__answer_within(r->model, g->task, &r->scheme, &d, samples, cell->predicted,
                              g->o->threads, &limit, &cell->score, err);
    cell->seconds = lg__now() - since;
    if (e || !cell->score.samples) return e;
    cell->tokens = (double)cell->score.text / cell->score.samples;
    lg__wilson(cell->score.exact, cell->score.samples, &cell->low, &cell->high);
    return 0;
}

static void tell(struct grid *g, lg_run_cell *cell)
{
    const struct lg__config *c = &g->run->config;
    cell->index = g->index++;
    cell->count = g->count;
    cell->unit = lg_task_get_shape(g->run->task)->info->unit;
    cell->trained_least = c->length[0];
    cell->trained_length = c->length[1];
    cell->trained_sparsity = c->sparsity[1];
    if (g->o->table) g->o->table(g->o->context, cell);
}

static int run_cell(struct grid *g, lg_run_cell *cell, lg_error *err)
{
    int e = 0, samples = samples_of(g, cell), lines = cell->lines, held_out = cell->held_out;
    if (!can_be(g, cell)) return 0;
    if (g->store && !g->o->force)
        e = lg__store_get_cell(g->store, g->number, cell, samples, !g->o->generated_only,
                               &cell->kept, err);
    if (!e && !cell->kept) {
        e = make_cell(g, cell, samples, err);
        if (!e && (stopped(g) || !cell->score.samples)) { /* as if it had not been started */
            g->index++;
            return 0;
        }
        if (!e && g->store) e = lg__store_add_cell(g->store, g->number, cell, err);
    }
    cell->lines = lines; /* the store does not have these */
    cell->held_out = held_out;
    if (!e) tell(g, cell);
    return e;
}

/* Whether the task can make an example of the cell; the sparsity may be over the length, then the
 * cell is left out. */
static int check_cell(struct grid *g, const lg_run_cell *cell, lg_error *err)
{
    lg_draw d = draw_of(g, cell);
    if (!can_be(g, cell)) return 0;
    g->count++;
    return lg_task_example(g->task, &d, &g->example, err);
}

/* The grid of one task: checks it, or makes it. */
static int run_task(struct grid *g, const char *setting, int check, lg_error *err)
{
    static const int any[] = {0};
    const lg_eval_options *o = g->o;
    const struct lg__config *c = &g->run->config;
    const int *lengths = o->lengths ? o->lengths : c->eval_lengths.at;
    const int *sparsities = o->sparsities ? o->sparsities : c->eval_sparsities.at;
    int nl = o->lengths ? o->length_count : c->eval_lengths.count, e = 0;
    int ns = o->sparsities ? o->sparsity_count : c->eval_sparsities.count;
    if (!ns) sparsities = any, ns = 1;
    for (int p = o->predicted == 1; p <= (o->predicted && g->run->predicts); p++)
        for (int s = 0; s < ns; s++)
            for (int i = 0; i < nl && !e; i++) {
                lg_run_cell cell = {.step = g->run->step,
                                    .length = lengths[i],
                                    .sparsity = sparsities[s],
                                    .predicted = p};
                if (!check && stopped(g)) return 0;
                snprintf(cell.setting, sizeof cell.setting, "%s", setting);
                snprintf(cell.data, sizeof cell.data, "%s", g->data);
                e = check ? check_cell(g, &cell, err) : run_cell(g, &cell, err);
            }
    return e;
}

/* ---- Other tasks ------------------------------------------------------------------------------ */

/* A model knows tokens by their numbers: the words must be the same, in the same order; and coupling
 * takes as many labels as it was trained with. */
static int check_words(const struct lg__run *r, const lg_task *other, const char *what,
                       lg_error *err)
{
    const lg_task_shape *a = lg_task_get_shape(r->task), *b = lg_task_get_shape(other);
    int same = a->vocab == b->vocab;
    for (int i = 0; i < a->vocab && same; i++) same = strcmp(a->words[i], b->words[i]) == 0;
    if (!same)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "with %s the task has another vocabulary (%d words) than the run was "
                        "trained with (%d words); train a run with it",
                        what, b->vocab, a->vocab);
    int needed = r->model_config.levels;
    if (strncmp(r->scheme.ids, "coupled", 7) != 0 || b->levels == needed ||
        (r->scheme.levels && b->levels > needed))
        return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "with %s the task has labels at %d level%s, but the run was trained with "
                    "coupled IDs at %d; give as many, or train a run with it",
                    what, b->levels, b->levels == 1 ? "" : "s", needed);
}

int lg__run_other_task(const struct lg__run *r, const char *name, const char *setting,
                       lg_task **task, lg_error *err)
{
    const struct lg__config *c = &r->config;
    size_t key = setting ? strcspn(setting, "=") + 1 : 0;
    const char **settings = calloc((size_t)c->setting_count + 1, sizeof *settings);
    if (!name) name = c->task;
    size_t kind = strcspn(name, ":"); /* "jsonl" of two files: the same settings */
    int n = 0, known = !setting;
    int same = kind == strcspn(c->task, ":") && strncmp(name, c->task, kind) == 0;
    *task = NULL;
    if (setting && strncmp(setting, "vocab=", 6) == 0) {
        free(settings);
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: the words are those that the run was trained with; leave vocab out",
                        setting);
    }
    if (setting && lg__task_has_lines(r->task) && strncmp(setting, "test=", 5) == 0) {
        free(settings);
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: which lines are held out was decided when the run was trained; leave "
                        "test out",
                        setting);
    }
    if (!settings) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a task");
    for (int i = 0; i < c->setting_count && same; i++) {
        int replaced = setting && strncmp(c->settings[i], setting, key) == 0;
        settings[n++] = replaced ? setting : c->settings[i];
        known |= replaced;
    }
    if (!known) settings[n++] = setting; /* lg__task_new_like says what is wrong with it */
    lg_task *made = lg__task_new_like(name, settings, n, r->task, err);
    free(settings);
    int e = made ? check_words(r, made, setting ? setting : name, err) : LG_ERROR_ARGUMENT;
    if (e)
        lg_task_free(made);
    else
        *task = made;
    return e;
}

/* What the cells are of: "TASK, SETTING", "" as trained. */
static int name_cells(const lg_eval_options *o, const char *setting, char *name, size_t size,
                      lg_error *err)
{
    int n = snprintf(name, size, "%s%s%s", o->task ? o->task : "", o->task && setting ? ", " : "",
                     setting ? setting : "");
    if (n >= 0 && (size_t)n < size) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "\"%.60s..\" is too long; take a shorter name", name);
}

/* The grid of every setting: checks them, or makes them. */
static int run_settings(struct grid *g, int check, lg_error *err)
{
    const lg_eval_options *o = g->o;
    int count = o->setting_count ? o->setting_count : 1, own = !o->setting_count && !o->task, e = 0;
    for (int i = 0; i < count && !e; i++) {
        const char *setting = o->setting_count ? o->settings[i] : NULL;
        char name[sizeof((lg_run_cell *)0)->setting];
        g->task = g->run->task;
        e = name_cells(o, setting, name, sizeof name, err);
        if (!e && !own) e = lg__run_other_task(g->run, o->task, setting, &g->task, err);
        if (!check) lg__run_sum_data(&g->run->config, o->task, setting, g->data);
        if (!e) e = run_task(g, name, check, err);
        if (g->task != g->run->task) lg_task_free(g->task);
    }
    return e;
}

/* What can be made is counted on the way. */
static int check_grid(struct grid *g, lg_error *err)
{
    if (g->o->predicted == 1 && !g->run->predicts)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no ID heads, so there are no predicted IDs; ask for given ones",
                        g->o->folder);
    return run_settings(g, 1, err);
}

int lg__run_check_grid(struct lg__run *r, const lg_eval_options *o, lg_error *err)
{
    struct grid g = {.run = r, .o = o};
    lg_example_init(&g.example);
    int e = check_grid(&g, err);
    lg_example_clear(&g.example);
    return e;
}

int lg__run_grid(struct lg__run *r, const lg_eval_options *o, lg_store *s, int64_t number,
                 lg_error *err)
{
    struct grid g = {.run = r, .o = o, .store = s, .number = number};
    g.samples = o->samples ? o->samples : r->config.eval_samples;
    if (o->seconds > 0) g.until = lg__now() + o->seconds;
    lg_example_init(&g.example);
    int e = check_grid(&g, err);
    if (!e) e = run_settings(&g, 0, err);
    lg_example_clear(&g.example);
    if (r->model_config.rope_scaling == LG_ROPE_DYNAMIC) { /* as it is trained */
        int back = lg_model_set_length(r->model, r->model_config.rope_length, e ? NULL : err);
        if (!e) e = back;
    }
    return e;
}

/* Test lines that the run was trained on measure what it remembers. */
static int warn_of_overlap(const struct lg__run *r, const char *name, lg_error *warning,
                           lg_error *err)
{
    lg_task *task;
    int e = lg__run_other_task(r, name, NULL, &task, err);
    if (e) return e;
    const lg_task_shape *shape = lg_task_get_shape(task);
    lg_draw all = {.length_lo = shape->length_least, .length_hi = shape->length_most};
    lg_draw training = {.length_lo = r->config.length[0],
                        .length_hi = r->config.length[1],
                        .sparsity_lo = r->config.sparsity[0],
                        .sparsity_hi = r->config.sparsity[1],
                        .side = LG_SIDE_TRAIN};
    int lines = lg__task_count(task, &all), same = lg__task_overlap(task, r->task, &training);
    size_t n = strlen(warning->text);
    if (same)
        snprintf(warning->text + n, sizeof warning->text - n,
                 "%s%d of the %d lines of %.200s are among those that the run was trained on",
                 n ? "; " : "", same, lines, strchr(name, ':') + 1);
    lg_task_free(task);
    return 0;
}

int lg_run_eval(const lg_eval_options *o, lg_error *warning, lg_error *err)
{
    lg_error own;
    struct lg__run r = {0};
    lg_store *s = NULL;
    int64_t number = 0;
    if (!err) err = &own;
    int e = lg__run_open_folder(&r, o->folder, &o->access, warning, err);
    if (!e && lg__is_text(r.task))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is a run of texts, which has no answers to be right or wrong; ask for its "
                     "loss by position (lengthen eval, lg_run_eval_text)",
                     o->folder);
    if (!e) e = lg__run_check_grid(&r, o, err);
    if (!e && o->task && warning) e = warn_of_overlap(&r, o->task, warning, err);
    if (!e && o->store && !(s = lg_store_open(o->store, 1, err))) e = err->code;
    if (!e) e = lg__run_register(&r, o->folder, s, 0, &number, err);
    if (!e) e = lg__run_grid(&r, o, s, number, err);
    lg_store_close(s);
    lg__run_close(&r);
    return e;
}
