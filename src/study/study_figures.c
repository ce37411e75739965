/* study_figures.c: the figures of an experiment, from its cells: one line for each thing that is
 * not fixed, its range of training shaded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "study/study.h"

enum { NAME = 300 };

/* The cells that a figure shows, line after line, each by x. */
struct drawing {
    const struct lg__study *s;
    const struct lg__experiment_figure *f;
    const struct lg__cell **cells;
    int count;
    lg_series series;
    char *outside; /* [count] of the lines: such examples are not trained on */
};

/* Whether x is the length of a text, in whatever unit. */
static int over_length(const struct drawing *d)
{
    return !lg__study_is_text(d->s) && (d->f->x == LG__X_LENGTH || d->f->x == LG__X_TOKENS);
}

static double x_of(const struct drawing *d, const struct lg__cell *c)
{
    if (lg__study_is_text(d->s)) return c->to;
    if (d->f->x == LG__X_SPARSITY) return c->sparsity;
    if (d->f->x == LG__X_AXIS)
        return strtod(lg__sweep_value_of(&d->s->plan, c->run, d->f->axis)->name, NULL);
    return d->f->x == LG__X_TOKENS ? c->tokens : c->length;
}

/* Which of two cells' lines comes first: by everything but the seed and x. */
static int by_line(const struct drawing *d, const struct lg__cell *a, const struct lg__cell *b)
{
    const struct lg__sweep_plan *p = &d->s->plan;
    for (int i = 0; i < p->axis_count; i++) {
        ptrdiff_t order = lg__sweep_value_of(p, a->run, i) - lg__sweep_value_of(p, b->run, i);
        int named = strcmp(p->axes[i].at->key, "seed") != 0;
        if (named && !(d->f->x == LG__X_AXIS && d->f->axis == i) && order)
            return order < 0 ? -1 : 1;
    }
    if (a->mode != b->mode) return a->mode - b->mode;
    if (a->predicted != b->predicted) return a->predicted - b->predicted;
    if (d->f->x != LG__X_SPARSITY && a->sparsity != b->sparsity) return a->sparsity - b->sparsity;
    return over_length(d) ? 0 : a->length - b->length;
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct lg__cell *p = *(const struct lg__cell *const *)a,
                          *q = *(const struct lg__cell *const *)b;
    int order = by_line(context, p, q);
    double x = x_of(context, p), y = x_of(context, q);
    return order ? order : (x > y) - (x < y);
}

/* ---- Names of lines ------------------------------------------------------------------------ */

/* "k_train 4", "4 important pairs", "250 pairs", "predicted IDs", "PoSE". */
static void put_part(const struct drawing *d, const struct lg__cell *c, const char *key, char *name,
                     size_t size)
{
    const struct lg__study_variant *v = lg__study_variant_of(d->s, c->run);
    name[0] = 0;
    if (strcmp(key, "sparsity") == 0 && c->sparsity)
        snprintf(name, size, "%d %s", c->sparsity, v->sparse);
    if (strcmp(key, "ids") == 0)
        snprintf(name, size, "%s IDs", c->predicted ? "predicted" : "given");
    if (strcmp(key, "mode") == 0) snprintf(name, size, "%s", lg__mode_name(d->s, c->mode));
    if (strcmp(key, "length") == 0 && lg__study_is_text(d->s))
        snprintf(name, size, "length %d", c->length);
    else if (strcmp(key, "length") == 0)
        snprintf(name, size, "%d %s", c->length, v->unit);
    for (int a = 0; a < d->s->plan.axis_count; a++) {
        const char *axis = d->s->plan.axes[a].at->key;
        const char *value = lg__sweep_value_of(&d->s->plan, c->run, a)->name;
        if (strcmp(axis, key) != 0) continue;
        const char *dot = strrchr(axis, '.'); /* "k 4" for task.k */
        if (strcmp(axis, "method") == 0)
            snprintf(name, size, "%s", value);
        else
            snprintf(name, size, "%s %s", dot ? dot + 1 : axis, value);
    }
}

static int differs(const struct drawing *d, const char *key)
{
    char first[NAME], other[NAME];
    put_part(d, d->cells[0], key, first, sizeof first);
    for (int i = 1; i < d->count; i++) {
        put_part(d, d->cells[i], key, other, sizeof other);
        if (strcmp(first, other) != 0) return 1;
    }
    return 0;
}

static int is_listed(const struct lg__yaml *lines, const char *key)
{
    if (!lines) return 0;
    if (lines->kind == LG__YAML_SCALAR) return strcmp(lines->text, key) == 0;
    for (const struct lg__yaml *n = lines->first; n; n = n->next)
        if (strcmp(n->text, key) == 0) return 1;
    return 0;
}

static void add_part(const struct drawing *d, const struct lg__cell *c, const char *key, char *name)
{
    char part[NAME];
    size_t used = strlen(name);
    if (!is_listed(d->f->lines, key) && !differs(d, key)) return;
    put_part(d, c, key, part, sizeof part);
    if (!*part) return;
    snprintf(name + used, NAME - used, "%s%s", used ? ", " : "", part);
}

/* What `lines` names, and whatever else differs. */
static void name_line(const struct drawing *d, const struct lg__cell *c, char *name)
{
    static const char *const words[] = {"sparsity", "ids", "mode", "length"};
    int first = d->f->x == LG__X_SPARSITY, count = over_length(d) ? 3 : 4;
    name[0] = 0;
    for (int a = 0; a < d->s->plan.axis_count; a++)
        if (strcmp(d->s->plan.axes[a].at->key, "seed") != 0 &&
            !(d->f->x == LG__X_AXIS && d->f->axis == a))
            add_part(d, c, d->s->plan.axes[a].at->key, name);
    for (int i = first; i < count; i++) add_part(d, c, words[i], name);
    if (!*name)
        snprintf(name, NAME, "%s",
                 c->seeds > 1              ? "median of the seeds"
                 : lg__study_is_text(d->s) ? "loss"
                                           : "exact answers");
}

/* ---- The figure ---------------------------------------------------------------------------- */

static int denser_than_trained(const struct drawing *d, const struct lg__cell *c)
{
    int trained = lg__study_variant_of(d->s, c->run)->sparsity;
    return trained && c->sparsity > trained;
}

static void draw_lines(struct drawing *d)
{
    char name[NAME];
    qsort_r(d->cells, (size_t)d->count, sizeof *d->cells, by_place, d);
    for (int i = 0; i < d->count; i++) {
        const struct lg__cell *c = d->cells[i];
        int several = c->seeds > 1;
        if (!i || by_line(d, c, d->cells[i - 1])) name_line(d, c, name);
        lg_series_add(&d->series, name, x_of(d, c), c->median, several ? c->least : c->low,
                      several ? c->most : c->high);
        if (d->series.count) d->outside[d->series.count - 1] = (char)denser_than_trained(d, c);
    }
}

/* a stands for more than b: by its length as `sign` says or, of the same length, by its tokens. */
static int goes_before(const struct lg__cell *a, const struct lg__cell *b, int sign)
{
    return a->length == b->length ? a->tokens > b->tokens : sign * a->length > sign * b->length;
}

/* How many tokens examples of a length have, by the shortest and the longest that are shown; where
 * the lines differ in that, the most. Those that are denser than in training have no say, unless all
 * are. */
static double tokens_at(const struct drawing *d, double length)
{
    const struct lg__cell *a = NULL, *b = NULL;
    for (int all = 0; !a; all++)
        for (int i = 0; i < d->count; i++) {
            if (!all && denser_than_trained(d, d->cells[i])) continue;
            if (!a || goes_before(d->cells[i], a, -1)) a = d->cells[i];
            if (!b || goes_before(d->cells[i], b, 1)) b = d->cells[i];
        }
    if (a->length == b->length) return a->tokens * length / a->length;
    return a->tokens + (b->tokens - a->tokens) * (length - a->length) / (b->length - a->length);
}

/* The range of training, if all lines share it. */
static void set_range(const struct drawing *d, lg_figure *f)
{
    const struct lg__study_variant *v = lg__study_variant_of(d->s, d->cells[0]->run), *o;
    for (int i = 1; i < d->count; i++) {
        o = lg__study_variant_of(d->s, d->cells[i]->run);
        if (over_length(d) ? o->least != v->least || o->length != v->length
                           : o->sparsest != v->sparsest || o->sparsity != v->sparsity)
            return;
    }
    if (d->f->x == LG__X_SPARSITY) {
        f->trained_low = v->sparsest;
        f->trained_high = v->sparsity;
    }
    if (!over_length(d)) return;
    f->trained_low = d->f->x == LG__X_TOKENS ? tokens_at(d, v->least) : v->least;
    f->trained_high = d->f->x == LG__X_TOKENS ? tokens_at(d, v->length) : v->length;
    if (f->trained_low < 0) f->trained_low = 0;
}

/* What all lines were trained on. */
static void set_losses(const struct drawing *d, lg_figure *f)
{
    f->trained_low = 1;
    f->trained_high = INFINITY;
    for (int i = 0; i < d->count; i++)
        f->trained_high =
            fmin(f->trained_high, lg__study_variant_of(d->s, d->cells[i]->run)->length);
    lg_series_axis(&d->series, f);
}

static int put_losses(struct drawing *d, const char *file, lg_error *err)
{
    char label[100];
    int several = 0, excess = 1;
    draw_lines(d);
    for (int i = 0; i < d->count; i++) {
        several |= d->cells[i]->seeds > 1;
        excess &= d->cells[i]->mode == LG__MODE_EXCESS;
    }
    snprintf(label, sizeof label, "%s, nats per token%s", excess ? "excess loss" : "loss",
             several ? ", median and range of the seeds" : "");
    lg_figure f = {.title = d->f->title,
                   .x_label = "position (tokens)",
                   .y_label = label,
                   .caption = d->s->x.words};
    set_losses(d, &f);
    int e = lg_series_put(&d->series, &f, err);
    return e ? e : lg_figure_write(&f, file, err);
}

static int put_answers(struct drawing *d, const char *file, lg_error *err)
{
    char label[100];
    int several = 0, sparse = 0;
    draw_lines(d);
    for (int i = 0; i < d->count; i++) {
        several |= d->cells[i]->seeds > 1;
        sparse |= d->cells[i]->sparsity;
    }
    if (d->f->x == LG__X_SPARSITY && !sparse)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "x is sparsity, and no cell has one; say eval.sparsities, or take another");
    const struct lg__study_variant *v = lg__study_variant_of(d->s, d->cells[0]->run);
    if (d->f->x == LG__X_LENGTH)
        lg_length_label(v->unit, label, sizeof label);
    else
        snprintf(label, sizeof label, "%.80s",
                 d->f->x == LG__X_SPARSITY ? v->sparse : d->f->at_x->text);
    lg_figure f = {.title = d->f->title,
                   .x_label = label,
                   .y_label =
                       several ? "exact answers, %: median, range of seeds" : "exact answers, %",
                   .answers = over_length(d),
                   .outside = d->outside,
                   .caption = d->s->x.words};
    set_range(d, &f);
    int e = lg_series_put(&d->series, &f, err);
    return e ? e : lg_figure_write(&f, file, err);
}

/* Medians over x and sparsity; what training shows is framed. */
static int put_map(struct drawing *d, const char *file, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(d->s, d->cells[0]->run);
    double *x = lg__alloc(3 * (size_t)d->count * sizeof *x), *y = x + d->count,
           *value = y + d->count;
    char label[100], caption[1000];
    int several = 0;
    if (!x) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
    for (int i = 0; i < d->count; i++) {
        x[i] = x_of(d, d->cells[i]);
        y[i] = d->cells[i]->sparsity;
        value[i] = d->cells[i]->median;
        several |= d->cells[i]->seeds > 1;
    }
    lg_figure range = {0};
    set_range(d, &range);
    snprintf(caption, sizeof caption, "Exact answers, %%%s%s. %s",
             several ? ", median of the seeds" : "",
             range.trained_high > 0 && v->sparsity ? "; framed: what training shows" : "",
             d->s->x.words);
    lg_heatmap m = {.title = d->f->title,
                    .x_label = d->f->x == LG__X_LENGTH
                                   ? lg_length_label(v->unit, label, sizeof label)
                                   : "tokens",
                    .y_label = v->sparse,
                    .caption = caption,
                    .n = d->count,
                    .x = x,
                    .y = y,
                    .value = value,
                    .trained_x = {range.trained_low, range.trained_high},
                    .trained_y = {v->sparsest, v->sparsity}};
    int e = lg_heatmap_write(&m, file, err);
    free(x);
    return e;
}

/* What cannot be drawn is told, and does not stop the rest. */
static int one_figure(const struct lg__study *s, const struct lg__experiment_figure *f,
                      const struct lg__cell *cells, int count, lg_error *err)
{
    struct drawing d = {.s = s, .f = f};
    char *file = NULL;
    lg_error why = {0};
    int e = 0;
    d.cells = lg__alloc(((size_t)count + 1) * sizeof *d.cells);
    d.outside = lg__alloc((size_t)count + 1);
    if (!d.cells || !d.outside || asprintf(&file, "%s/%s", s->place, f->file) < 0) {
        file = NULL;
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
    }
    for (int i = 0; i < count && !e; i++)
        if (lg__where_fits(s, f->where, &cells[i])) d.cells[d.count++] = &cells[i];
    if (!e) {
        int bad = !d.count ? lg__fail(&why, LG_ERROR_ARGUMENT, "there are no cells for it yet")
                  : f->map ? put_map(&d, file, &why)
                  : lg__study_is_text(s) ? put_losses(&d, file, &why)
                                         : put_answers(&d, file, &why);
        if (s->o->figure) s->o->figure(s->o->context, file, bad ? why.text : NULL);
    }
    free(d.cells);
    free(d.outside);
    lg_series_clear(&d.series);
    free(file);
    return e;
}

int lg__study_draw(const struct lg__study *s, const struct lg__cell *cells, int count,
                   lg_error *err)
{
    int e = 0;
    for (int i = 0; i < s->x.figure_count && !e; i++)
        e = one_figure(s, &s->x.figures[i], cells, count, err);
    return e;
}
