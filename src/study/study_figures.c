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
    const struct lg__joined **cells;
    int count;
    lg_series series;
    char *outside; /* [count] of the lines: such examples are not trained on */
};

/* Whether x is the length of a text, in whatever unit. */
static int over_length(const struct drawing *d)
{
    return !d->cells[0]->j.at->last && (d->f->x == LG__X_LENGTH || d->f->x == LG__X_TOKENS);
}

static double x_of(const struct drawing *d, const struct lg__joined *c)
{
    if (c->j.at->last) return c->j.at->last;
    if (d->f->x == LG__X_SPARSITY) return c->j.at->sparsity;
    if (d->f->x == LG__X_AXIS)
        return strtod(lg__sweep_value_of(&d->s->plan, c->run, d->f->axis)->name, NULL);
    return d->f->x == LG__X_TOKENS ? c->j.at->tokens : c->j.at->length;
}

/* Which of two cells' lines comes first: by everything but the seed and x. */
static int by_line(const struct drawing *d, const struct lg__joined *a, const struct lg__joined *b)
{
    const struct lg__sweep_plan *p = &d->s->plan;
    for (int i = 0; i < p->axis_count; i++) {
        ptrdiff_t order = lg__sweep_value_of(p, a->run, i) - lg__sweep_value_of(p, b->run, i);
        int named = strcmp(p->axes[i].at->key, "seed") != 0;
        if (named && !(d->f->x == LG__X_AXIS && d->f->axis == i) && order)
            return order < 0 ? -1 : 1;
    }
    const lg_cell *c = a->j.at, *o = b->j.at;
    if (a->j.kind != b->j.kind) return a->j.kind < b->j.kind ? -1 : 1;
    if (c->predicted != o->predicted) return c->predicted - o->predicted;
    if (d->f->x != LG__X_SPARSITY && c->sparsity != o->sparsity) return c->sparsity - o->sparsity;
    return over_length(d) ? 0 : c->length - o->length;
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct lg__joined *p = *(const struct lg__joined *const *)a,
                            *q = *(const struct lg__joined *const *)b;
    int order = by_line(context, p, q);
    double x = x_of(context, p), y = x_of(context, q);
    return order ? order : (x > y) - (x < y);
}

/* ---- Names of lines ------------------------------------------------------------------------ */

/* "k_train 4", "4 important pairs", "250 pairs", "predicted IDs", "PoSE". */
static void put_part(const struct drawing *d, const struct lg__joined *c, const char *key,
                     char *name, size_t size)
{
    const struct lg__variant *v = lg__variant_of(&d->s->plan, c->run);
    name[0] = 0;
    const lg_cell *at = c->j.at;
    if (strcmp(key, "sparsity") == 0 && at->sparsity)
        snprintf(name, size, "%d %s", at->sparsity, v->sparse);
    if (strcmp(key, "ids") == 0)
        snprintf(name, size, "%s IDs", at->predicted ? "predicted" : "given");
    if (strcmp(key, "kind") == 0) snprintf(name, size, "%s", c->j.kind->label);
    if (strcmp(key, "length") == 0 && at->last)
        snprintf(name, size, "length %d", at->length);
    else if (strcmp(key, "length") == 0)
        snprintf(name, size, "%d %s", at->length, v->unit);
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

static void add_part(const struct drawing *d, const struct lg__joined *c, const char *key,
                     char *name)
{
    char part[NAME];
    size_t used = strlen(name);
    if (!is_listed(d->f->lines, key) && !differs(d, key)) return;
    put_part(d, c, key, part, sizeof part);
    if (!*part) return;
    snprintf(name + used, NAME - used, "%s%s", used ? ", " : "", part);
}

/* What `lines` names, and whatever else differs. */
static void name_line(const struct drawing *d, const struct lg__joined *c, char *name)
{
    static const char *const words[] = {"sparsity", "ids", "kind", "length"};
    int first = d->f->x == LG__X_SPARSITY, count = over_length(d) ? 3 : 4;
    name[0] = 0;
    for (int a = 0; a < d->s->plan.axis_count; a++)
        if (strcmp(d->s->plan.axes[a].at->key, "seed") != 0 &&
            !(d->f->x == LG__X_AXIS && d->f->axis == a))
            add_part(d, c, d->s->plan.axes[a].at->key, name);
    for (int i = first; i < count; i++) add_part(d, c, words[i], name);
    if (!*name)
        snprintf(name, NAME, "%s", c->j.seeds > 1 ? "median of the seeds" : c->j.kind->label);
}

/* ---- The figure ---------------------------------------------------------------------------- */

static int denser_than_trained(const struct drawing *d, const struct lg__joined *c)
{
    int trained = lg__variant_of(&d->s->plan, c->run)->sparsity;
    return trained && c->j.at->sparsity > trained;
}

static void draw_lines(struct drawing *d)
{
    char name[NAME];
    qsort_r(d->cells, (size_t)d->count, sizeof *d->cells, by_place, d);
    for (int i = 0; i < d->count; i++) {
        const struct lg__joined *c = d->cells[i];
        int several = c->j.seeds > 1;
        if (!i || by_line(d, c, d->cells[i - 1])) name_line(d, c, name);
        lg_series_add(&d->series, name, x_of(d, c), c->j.median, several ? c->j.min : c->j.low,
                      several ? c->j.max : c->j.high);
        if (d->series.count) d->outside[d->series.count - 1] = (char)denser_than_trained(d, c);
    }
}

/* a stands for more than b: by its length as `sign` says or, of the same length, by its tokens. */
static int goes_before(const struct lg__joined *a, const struct lg__joined *b, int sign)
{
    const lg_cell *p = a->j.at, *q = b->j.at;
    return p->length == q->length ? p->tokens > q->tokens : sign * p->length > sign * q->length;
}

/* How many tokens examples of a length have, by the shortest and the longest that are shown; where
 * the lines differ in that, the most. Those that are denser than in training have no say, unless all
 * are. */
static double tokens_at(const struct drawing *d, double length)
{
    const struct lg__joined *a = NULL, *b = NULL;
    for (int all = 0; !a; all++)
        for (int i = 0; i < d->count; i++) {
            if (!all && denser_than_trained(d, d->cells[i])) continue;
            if (!a || goes_before(d->cells[i], a, -1)) a = d->cells[i];
            if (!b || goes_before(d->cells[i], b, 1)) b = d->cells[i];
        }
    const lg_cell *p = a->j.at, *q = b->j.at;
    if (p->length == q->length) return p->tokens * length / p->length;
    return p->tokens + (q->tokens - p->tokens) * (length - p->length) / (q->length - p->length);
}

/* The range of training, if all lines share it. */
static void set_range(const struct drawing *d, lg_figure *f)
{
    const struct lg__variant *v = lg__variant_of(&d->s->plan, d->cells[0]->run), *o;
    for (int i = 1; i < d->count; i++) {
        o = lg__variant_of(&d->s->plan, d->cells[i]->run);
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

/* Of positions: what all lines were trained on. */
static void set_positions(const struct drawing *d, lg_figure *f)
{
    f->trained_low = 1;
    f->trained_high = INFINITY;
    for (int i = 0; i < d->count; i++)
        f->trained_high =
            fmin(f->trained_high, lg__variant_of(&d->s->plan, d->cells[i]->run)->length);
}

static void label_x(const struct drawing *d, char *label, size_t size)
{
    const struct lg__variant *v = lg__variant_of(&d->s->plan, d->cells[0]->run);
    if (d->cells[0]->j.at->last)
        snprintf(label, size, "position (%s)", v->unit);
    else if (d->f->x == LG__X_LENGTH)
        lg_length_label(v->unit, label, size);
    else
        snprintf(label, size, "%.80s", d->f->x == LG__X_SPARSITY ? v->sparse : d->f->at_x->text);
}

/* What all lines show, or the leading kind's label; its unit; and what the band is. */
static void label_y(const struct drawing *d, int several, char *label, size_t size)
{
    static const char *const units[] = {"%", "nats per token", "tokens"};
    const lg_kind *kind = d->cells[0]->j.kind;
    for (int i = 1; i < d->count; i++)
        if (d->cells[i]->j.kind != kind) kind = lg_kind_leading(kind->form);
    snprintf(label, size, "%s, %s%s", kind->label, units[kind->unit],
             !several                      ? ""
             : kind->unit == LG_UNIT_SHARE ? ": median, range of seeds"
                                           : ", median and range of the seeds");
}

static int put_lines(struct drawing *d, const char *file, lg_error *err)
{
    char x_label[100], y_label[100];
    int several = 0, sparse = 0, positions = d->cells[0]->j.at->last > 0;
    draw_lines(d);
    for (int i = 0; i < d->count; i++) {
        several |= d->cells[i]->j.seeds > 1;
        sparse |= d->cells[i]->j.at->sparsity;
    }
    if (d->f->x == LG__X_SPARSITY && !sparse)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "x is sparsity, and no cell has one; say eval.sparsities, or take another");
    label_x(d, x_label, sizeof x_label);
    label_y(d, several, y_label, sizeof y_label);
    lg_figure f = {.title = d->f->title,
                   .x_label = x_label,
                   .y_label = y_label,
                   .answers = over_length(d),
                   .outside = d->outside,
                   .caption = d->s->x.words};
    (positions ? set_positions : set_range)(d, &f);
    if (d->cells[0]->j.kind->unit != LG_UNIT_SHARE) lg_series_axis(&d->series, &f);
    int e = lg_series_put(&d->series, &f, err);
    if (!e && d->s->o->drawn) d->s->o->drawn(d->s->o->context, &f, NULL);
    return e || d->s->o->drawn ? e : lg_figure_write(&f, file, err);
}

/* Medians over x and sparsity; what training shows is framed. */
static int put_map(struct drawing *d, const char *file, lg_error *err)
{
    const struct lg__variant *v = lg__variant_of(&d->s->plan, d->cells[0]->run);
    double *x = lg__alloc(3 * (size_t)d->count * sizeof *x), *y = x + d->count,
           *value = y + d->count;
    char label[100], caption[1000];
    int several = 0;
    if (!x) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
    for (int i = 0; i < d->count; i++) {
        x[i] = x_of(d, d->cells[i]);
        y[i] = d->cells[i]->j.at->sparsity;
        value[i] = d->cells[i]->j.median;
        several |= d->cells[i]->j.seeds > 1;
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
    int e = 0;
    if (d->s->o->drawn)
        d->s->o->drawn(d->s->o->context, NULL, &m);
    else
        e = lg_heatmap_write(&m, file, err);
    free(x);
    return e;
}

/* What cannot be drawn is told, and does not stop the rest. */
static int one_figure(const struct lg__study *s, const struct lg__experiment_figure *f,
                      const struct lg__joins *cells, lg_error *err)
{
    struct drawing d = {.s = s, .f = f};
    char *file = NULL;
    lg_error why = {0};
    int e = 0;
    d.cells = lg__alloc(((size_t)cells->count + 1) * sizeof *d.cells);
    d.outside = lg__alloc((size_t)cells->count + 1);
    if (!d.cells || !d.outside || asprintf(&file, "%s/%s", s->place, f->file) < 0) {
        file = NULL;
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
    }
    for (int i = 0; i < cells->count && !e; i++)
        if (lg__where_fits(s, f->where, &cells->at[i])) d.cells[d.count++] = &cells->at[i];
    if (!e) {
        int bad = !d.count ? lg__fail(&why, LG_ERROR_ARGUMENT, "there are no cells for it yet")
                  : f->map ? put_map(&d, file, &why)
                           : put_lines(&d, file, &why);
        if (s->o->figure) s->o->figure(s->o->context, file, bad ? why.text : NULL);
    }
    free(d.cells);
    free(d.outside);
    lg_series_clear(&d.series);
    free(file);
    return e;
}

int lg__study_draw(const struct lg__study *s, const struct lg__joins *cells, lg_error *err)
{
    int e = 0;
    for (int i = 0; i < s->x.figure_count && !e; i++)
        e = one_figure(s, &s->x.figures[i], cells, err);
    return e;
}
