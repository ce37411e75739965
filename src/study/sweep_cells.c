/* sweep_cells.c: what a sweep has in the store: the cells of its runs, over the seeds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/run.h"
#include "study/sweep.h"
#include "base/stats.h"

/* A cell of a run. */
struct row {
    lg_run_cell cell;
    int64_t seed;
    int run; /* in the order of the file */
};

/* The rows of one variant. */
struct group {
    struct lg__block block;
    int count, failed; /* failed: no memory */
    int run;           /* whose cells are read now */
    struct lg__sweep_found found;
    int predicts;  /* whether there are cells with predicted IDs */
    double *exact; /* room for one number a run, twice */
    int64_t *seeds;
};

static struct row *rows_of(const struct group *g) { return g->block.data; }

static void keep_found(void *context, const lg_store_run *r)
{
    struct lg__sweep_found *f = context;
    if (strcmp(r->id, f->id) != 0) return; /* the name fits another run */
    f->number = r->number;
    f->step = r->step;
    f->seed = r->seed;
    f->done = strcmp(r->state, "done") == 0;
    f->least = r->least;
    f->length = r->length;
    f->sparsity = r->sparsity;
    snprintf(f->unit, sizeof f->unit, "%s", r->unit);
}

int lg__sweep_find(lg_store *s, const char *folder, struct lg__sweep_found *f, lg_error *err)
{
    *f = (struct lg__sweep_found){0};
    lg__run_id(folder, f->id);
    int e = *f->id ? lg_store_find(s, f->id, keep_found, f, err) : 0;
    return e == LG_ERROR_ARGUMENT ? 0 : e; /* it is in another store */
}

int lg__sweep_config(const struct lg__sweep_plan *p, int run, struct lg__config *c, lg_error *err)
{
    const char **sets = lg__alloc((size_t)lg__sweep_sets(p, run, NULL) * sizeof *sets);
    if (!sets) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table");
    int e = lg__config_read(c, NULL, sets, lg__sweep_sets(p, run, sets), err);
    free(sets);
    if (!e && (e = lg__run_check_config(c, p->runs[run].folder, err))) lg__config_clear(c);
    return e;
}

static void keep_row(void *context, const lg_run_cell *cell)
{
    struct group *g = context;
    size_t size = ((size_t)g->count + 1) * sizeof(struct row);
    if (g->failed || (size > g->block.size &&
                      lg__block_grow(&g->block, 2 * size, g->count > 0, "a table", NULL))) {
        g->failed = 1;
        return;
    }
    rows_of(g)[g->count++] = (struct row){.cell = *cell, .seed = g->found.seed, .run = g->run};
    g->predicts |= cell->predicted;
}

static int by_cell(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->cell.setting, y->cell.setting);
    if (!order) order = x->cell.predicted - y->cell.predicted;
    if (!order) order = x->cell.sparsity - y->cell.sparsity;
    if (!order) order = x->cell.length - y->cell.length;
    return order ? order : x->run - y->run;
}

static int same_cell(const struct row *x, const struct row *y)
{
    return strcmp(x->cell.setting, y->cell.setting) == 0 &&
           x->cell.predicted == y->cell.predicted && x->cell.sparsity == y->cell.sparsity &&
           x->cell.length == y->cell.length;
}

static double exact_of(const struct row *r)
{
    return r->cell.score.samples ? (double)r->cell.score.exact / r->cell.score.samples : 0;
}

/* ---- Over the seeds ---------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lg__quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/* The median at the longest length of training: as it is used (with the IDs that it predicts), of
 * this sparsity, or of the densest of training where this one is denser. */
static double learned(const struct group *g, int sparsity)
{
    int n = 0, densest = g->found.sparsity;
    if (densest && sparsity > densest) sparsity = densest;
    for (int i = 0; i < g->count; i++) {
        const lg_run_cell *c = &rows_of(g)[i].cell;
        if (c->length == g->found.length && c->sparsity == sparsity &&
            c->predicted == g->predicts && !*c->setting)
            g->exact[n++] = exact_of(&rows_of(g)[i]);
    }
    qsort(g->exact, (size_t)n, sizeof *g->exact, by_number);
    return n ? lg__quantile(g->exact, n, 0.5) : -1;
}

/* Tells rows[from..to-1], which are one cell. */
static void tell(const struct group *g, const char *variant, int from, int to, int most,
                 lg_sweep_table *each, void *context)
{
    const struct row *rows = rows_of(g);
    double *sorted = g->exact, *exact = g->exact + most, right = 0;
    const lg_run_cell *cell = &rows[from].cell;
    lg_sweep_cell c = {.variant = variant,
                       .length = cell->length,
                       .sparsity = cell->sparsity,
                       .predicted = cell->predicted,
                       .setting = cell->setting,
                       .seeds = to - from,
                       .exact = exact,
                       .seed = g->seeds,
                       .learned = learned(g, cell->sparsity),
                       .trained_least = g->found.least,
                       .trained_length = g->found.length,
                       .trained_sparsity = g->found.sparsity,
                       .unit = g->found.unit};
    for (int i = from; i < to; i++) {
        sorted[i - from] = exact[i - from] = exact_of(&rows[i]);
        g->seeds[i - from] = rows[i].seed;
        c.tokens += rows[i].cell.tokens / c.seeds;
        c.samples += rows[i].cell.score.samples;
        right += rows[i].cell.score.exact;
    }
    qsort(sorted, (size_t)c.seeds, sizeof *sorted, by_number);
    c.lower = lg__quantile(sorted, c.seeds, 0.25);
    c.median = lg__quantile(sorted, c.seeds, 0.5);
    c.upper = lg__quantile(sorted, c.seeds, 0.75);
    lg__wilson(right, c.samples, &c.low, &c.high);
    each(context, &c);
}

/* ---- Variants ---------------------------------------------------------------------------- */

/* The cells of a run that is done, at its last step. */
static int gather(struct group *g, lg_store *s, const struct lg__sweep_plan *p, int run,
                  lg_error *err)
{
    struct lg__sweep_found f;
    struct lg__config c;
    int e = lg__sweep_find(s, p->runs[run].folder, &f, err);
    if (e || !f.number || !f.done || (e = lg__sweep_config(p, run, &c, err))) return e;
    lg__config_clear(&c);
    g->found = f;
    g->run = run;
    return lg_store_cells(s, f.number, f.step, keep_row, g, err);
}

static int one_variant(struct group *g, lg_store *s, const struct lg__sweep_plan *p, int variant,
                       lg_sweep_table *each, void *context, lg_error *err)
{
    const char *name = NULL;
    int e = 0;
    g->count = g->predicts = 0;
    for (int i = 0; i < p->count && !e; i++) {
        if (p->runs[i].group != variant) continue;
        name = p->runs[i].variant;
        e = gather(g, s, p, i, err);
    }
    if (!e && g->failed)
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table; end other programs");
    if (e || !g->count) return e;
    qsort(rows_of(g), (size_t)g->count, sizeof(struct row), by_cell);
    for (int from = 0, to; from < g->count; from = to) {
        for (to = from + 1; to < g->count && same_cell(&rows_of(g)[from], &rows_of(g)[to]);) to++;
        tell(g, name, from, to, p->count, each, context);
    }
    return 0;
}

int lg_sweep_cells(const lg_sweep_options *o, lg_sweep_table *each, void *context, lg_error *err)
{
    struct lg__sweep_plan p = {0};
    struct group g = {0};
    lg_store *s = NULL;
    lg_error own;
    if (!err) err = &own;
    int e = lg__sweep_read(&p, o, err);
    if (!e && !(s = lg_store_open(o->store, 0, err))) e = err->code;
    if (!e) {
        g.exact = lg__alloc(2 * (size_t)p.count * sizeof *g.exact);
        g.seeds = lg__alloc((size_t)p.count * sizeof *g.seeds);
        if (!g.exact || !g.seeds)
            e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table; end other programs");
    }
    for (int v = 0; v < p.groups && !e; v++) e = one_variant(&g, s, &p, v, each, context, err);
    free(g.exact);
    free(g.seeds);
    lg__block_free(&g.block);
    lg_store_close(s);
    lg__sweep_clear(&p);
    return e;
}
