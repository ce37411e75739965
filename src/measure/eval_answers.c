/* eval_answers.c: answers, cell by cell: length, sparsity, settings of the task, IDs given and predicted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "measure/eval.h"
#include "runs/cells.h"
#include "runs/store.h"
#include "tasks/tasks.h"

/* ---- Kinds ------------------------------------------------------------------------------------ */

/* The functions of the kinds of answers, in the order of the table; a function may stand several times. */
#define TELL_answers(kind, measure) lg__measure lg__measure_##measure;
#define TELL_losses(kind, measure)
#define TELL_probe(kind, measure)
#define KIND(name, form, measure, label, unit, better, interval, leads) TELL_##form(name, measure)
#include "runs/kinds_def.h"
#undef TELL_answers
#define TELL_answers(kind, measure) {#kind, lg__measure_##measure},
static const struct {
    const char *kind;
    lg__measure *measure;
} kinds[] = {
#include "runs/kinds_def.h"
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Teacher-forced, once for all kinds; a judge does both at once. */
static int teach(struct lg__answers *a, lg_error *err)
{
    if (a->is_taught) return 0;
    a->is_taught = 1;
    if (a->judging) return a->judging->judge(a->judging->context, a, err);
    return lg__answer_taught(a->run->model, a->task, &a->run->scheme, &a->draw, a->samples,
                             a->predicted, a->threads, &a->single, &a->taught, err);
}

/* If with given IDs one token is the answer, generating gives what teaching gives. */
int lg__measure_generated(struct lg__answers *a, lg_cell *cell, lg_error *err)
{
    lg_score s = {0};
    int e = a->taught_too || a->judging ? teach(a, err) : 0;
    if (!e && a->judging)
        s = a->generated;
    else if (!e && a->is_taught && a->single && !a->predicted)
        s = a->taught;
    else if (!e)
        e = lg__answer_within(a->run->model, a->task, &a->run->scheme, &a->draw, a->samples,
                              a->predicted, a->threads, &a->limit, &s, err);
    if (e || !s.samples) return e;
    cell->tokens = (double)s.text / s.samples;
    lg__cell_add_share(cell, "exact", s.samples, s.exact, s.samples);
    lg__cell_add_share(cell, "token_accuracy", s.samples, (double)s.right, (double)s.tokens);
    if (s.ids)
        lg__cell_add_share(cell, "id_accuracy", s.samples, (double)s.ids_right, (double)s.ids);
    lg__cell_add(cell, "first_error_min", s.samples, s.first_least, NAN, NAN);
    lg__cell_add(cell, "first_error_median", s.samples, s.first_median, NAN, NAN);
    return 0;
}

int lg__measure_taught(struct lg__answers *a, lg_cell *cell, lg_error *err)
{
    int e = a->taught_too ? teach(a, err) : 0;
    const lg_score *s = &a->taught;
    if (e || !s->samples) return e;
    lg__cell_add_share(cell, "taught_exact", s->samples, s->exact, s->samples);
    lg__cell_add_share(cell, "taught_token_accuracy", s->samples, (double)s->right,
                       (double)s->tokens);
    if (s->ids)
        lg__cell_add_share(cell, "taught_id_accuracy", s->samples, (double)s->ids_right,
                           (double)s->ids);
    return 0;
}

/* The kinds that a cell is to have: the first of each function. */
static int is_asked(const lg_eval_options *o, int i)
{
    int again = i > 0 && kinds[i].measure == kinds[i - 1].measure;
    return !again && (!o->generated_only || kinds[i].measure == lg__measure_generated);
}

static int has_all(const lg_eval_options *o, const lg_cell *c)
{
    for (int i = 0; i < KINDS; i++)
        if (is_asked(o, i) && !lg_cell_get(c, kinds[i].kind)) return 0;
    return c->values > 0;
}

/* ---- One cell ---------------------------------------------------------------------------------- */

struct grid {
    struct lg__eval *e;
    int samples;
    char data[20]; /* of a file of examples */
    double until;  /* by lg__now: the end of the time for all cells; 0: none */
    lg_task *task; /* the run's own, or one with another setting */
    lg_example example;
};

static lg_draw draw_of(const struct grid *g, const lg_cell *cell)
{
    const struct lg__run *r = g->e->run;
    lg_draw d = {.seed = (uint64_t)r->config.seed, .stream = LG__STREAM_TEST};
    d.length_lo = d.length_hi = cell->length;
    d.sparsity_lo = d.sparsity_hi = cell->sparsity;
    if (!g->e->o->task) d.side = lg__run_test_side(&r->config, r->task, d.length_lo, d.length_hi);
    return d;
}

static int can_be(const struct grid *g, const lg_cell *cell)
{
    const char *other = g->e->o->task;
    return lg__task_has_cell(other ? other : g->e->run->config.task, cell->length, cell->sparsity);
}

/* Measures the examples of the cell; fewer if the cell's share of the time ends. */
static int make_cell(struct grid *g, lg_cell *cell, int samples, lg_error *err)
{
    const lg_eval_options *o = g->e->o;
    struct lg__run *r = g->e->run;
    double since = lg__now();
    struct lg__answers a = {.run = r,
                            .task = g->task,
                            .draw = draw_of(g, cell),
                            .samples = samples,
                            .predicted = cell->predicted,
                            .threads = o->threads,
                            .taught_too = !o->generated_only,
                            .judging = o->judging,
                            .limit = {.stop = o->stop}};
    if (g->until > 0) a.limit.until = since + (g->until - since) / (g->e->count - g->e->index);
    int e = lg_task_example(g->task, &a.draw, &g->example, err);
    if (!e && r->model_config.rope_scaling == LG_ROPE_DYNAMIC)
        e = lg_model_set_length(r->model, g->example.n, err);
    for (int i = 0; i < KINDS && !e; i++)
        if (is_asked(o, i)) e = kinds[i].measure(&a, cell, err);
    cell->seconds = lg__now() - since;
    return e;
}

/* Fills the cell if it is whole. */
static void take_kept(void *context, const lg_cell *found)
{
    lg_cell *cell = context;
    lg_cell as = *cell;
    *cell = *found;
    cell->there = as.there; /* as it is now */
    cell->held_out = as.held_out;
}

static int run_cell(struct grid *g, lg_cell *cell, lg_error *err)
{
    struct lg__eval *v = g->e;
    lg_draw d = draw_of(g, cell);
    int lines = lg__task_count(g->task, &d), e = 0;
    if (!can_be(g, cell)) return 0;
    cell->there = lines;
    cell->held_out = lines && d.side == LG_SIDE_TEST;
    lg_cell made = *cell;
    if (v->store && !v->o->force)
        e = lg__store_get_cells(v->store, v->number, &made, g->samples, take_kept, cell, err);
    if (e) return e;
    if (!has_all(v->o, cell)) {
        /* Lines are answered once each, however many are asked for. */
        *cell = made;
        e = make_cell(g, cell, lines && lines < g->samples ? lines : g->samples, err);
        if (!e && (lg__eval_stopped(v) || !has_all(v->o, cell))) { /* as if it had not begun */
            v->index++;
            return 0;
        }
        if (!e && v->store) e = lg__store_add_cells(v->store, v->number, cell, 1, err);
    }
    if (!e) lg__eval_tell(v, cell);
    return e;
}

/* Whether the task can make an example of the cell; the sparsity may be over the length, then the
 * cell is left out. */
static int check_cell(struct grid *g, const lg_cell *cell, lg_error *err)
{
    lg_draw d = draw_of(g, cell);
    if (!can_be(g, cell)) return 0;
    g->e->count++;
    return lg_task_example(g->task, &d, &g->example, err);
}

/* The grid of one task: checks it, or makes it. */
static int run_task(struct grid *g, const char *setting, int check, lg_error *err)
{
    static const int any[] = {0};
    const lg_eval_options *o = g->e->o;
    const struct lg__run *r = g->e->run;
    const struct lg__config *c = &r->config;
    const int *lengths = o->lengths ? o->lengths : c->eval_lengths.at;
    const int *sparsities = o->sparsities ? o->sparsities : c->eval_sparsities.at;
    int nl = o->lengths ? o->length_count : c->eval_lengths.count, e = 0;
    int ns = o->sparsities ? o->sparsity_count : c->eval_sparsities.count;
    if (!ns) sparsities = any, ns = 1;
    for (int p = o->predicted == 1; p <= (o->predicted && r->predicts); p++)
        for (int s = 0; s < ns; s++)
            for (int i = 0; i < nl && !e; i++) {
                lg_cell cell = {.step = r->step,
                                .length = lengths[i],
                                .sparsity = sparsities[s],
                                .predicted = p};
                if (!check && lg__eval_stopped(g->e)) return 0;
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
    if (!r->plan.ids.labels || b->levels == needed || (r->scheme.levels && b->levels > needed))
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
    const char **settings = lg__alloc(((size_t)c->setting_count + 1) * sizeof *settings);
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
    const lg_eval_options *o = g->e->o;
    struct lg__run *r = g->e->run;
    int count = o->setting_count ? o->setting_count : 1, own = !o->setting_count && !o->task, e = 0;
    for (int i = 0; i < count && !e; i++) {
        const char *setting = o->setting_count ? o->settings[i] : NULL;
        char name[sizeof((lg_cell *)0)->setting];
        g->task = r->task;
        e = name_cells(o, setting, name, sizeof name, err);
        if (!e && !own) e = lg__run_other_task(r, o->task, setting, &g->task, err);
        if (!check) lg__run_sum_data(&r->config, o->task, setting, g->data);
        if (!e) e = run_task(g, name, check, err);
        if (g->task != r->task) lg_task_free(g->task);
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
    if (same)
        lg__eval_warn(warning,
                      "%d of the %d lines of %.200s are among those that the run was trained on",
                      same, lines, strchr(name, ':') + 1);
    lg_task_free(task);
    return 0;
}

/* ---- The form ---------------------------------------------------------------------------------- */

/* What can be made is counted on the way. */
static int check_grid(struct lg__eval *v, lg_error *err)
{
    const lg_eval_options *o = v->o;
    if (o->texts || o->field || o->sliding)
        return lg__eval_refuse(v, o->texts ? "--text" : o->field ? "--field" : "--context", err);
    if (o->predicted == 1 && !v->run->predicts)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no ID heads, so there are no predicted IDs; ask for given ones",
                        o->folder);
    struct grid g = {.e = v};
    lg_example_init(&g.example);
    v->count = 0;
    int e = run_settings(&g, 1, err);
    lg_example_clear(&g.example);
    return e;
}

static int make_grid(struct lg__eval *v, lg_error *err)
{
    const lg_eval_options *o = v->o;
    struct grid g = {.e = v};
    g.samples = o->samples ? o->samples : v->run->config.eval_samples;
    if (o->seconds > 0) g.until = lg__now() + o->seconds;
    int e = check_grid(v, err);
    if (!e && o->task && v->warning) e = warn_of_overlap(v->run, o->task, v->warning, err);
    lg_example_init(&g.example);
    if (!e) e = run_settings(&g, 0, err);
    lg_example_clear(&g.example);
    return e;
}

/* Whether a number stands in the list already: it is measured once. */
static int is_again(const struct lg__config_list *list, int at)
{
    int i = 0;
    while (i < at && list->at[i] != list->at[at]) i++;
    return i < at;
}

static int list_grid(const struct lg__config *c, const lg_task *task, int predicts, lg_cell **cells,
                     int *count, lg_error *err)
{
    int ns = c->eval_sparsities.count, e = 0;
    lg_cell cell = {0};
    lg__run_sum_data(c, NULL, NULL, cell.data);
    for (int p = 0; p <= predicts; p++)
        for (int k = 0; k < (ns ? ns : 1); k++)
            for (int l = 0; l < c->eval_lengths.count && !e; l++) {
                cell.predicted = p;
                cell.length = c->eval_lengths.at[l];
                cell.sparsity = ns ? c->eval_sparsities.at[k] : 0;
                cell.value[0].samples = lg__run_samples(c, task, cell.length, cell.sparsity);
                if (!is_again(&c->eval_lengths, l) && !(ns && is_again(&c->eval_sparsities, k)) &&
                    lg__task_has_cell(c->task, cell.length, cell.sparsity))
                    e = lg__eval_list(cells, count, &cell, err);
            }
    return e;
}

const struct lg__form lg__form_answers = {"answers", check_grid, make_grid, list_grid};
