/* sweep_losses.c: what a sweep of texts has in the store: the losses by position of its runs, over the
 * seeds. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/run.h"
#include "study/sweep.h"

/* A row of a run. */
struct row {
    lg_text_row row;
    int64_t seed;
    int run; /* in the order of the file */
};

/* The rows of one variant. */
struct group {
    struct lg__block block;
    int count, failed;        /* failed: no memory */
    int run;                  /* whose rows are read now */
    struct lg__config config; /* its config */
    struct lg__sweep_found found;
    lg_text_row *rows; /* room for one a run, as the next two */
    int64_t *seeds;
    double *sorted;
};

static struct row *rows_of(const struct group *g) { return g->block.data; }

/* Whether it is one of those that the sweep itself makes: others are somebody's own. */
static int is_of_sweep(const struct group *g, const lg_text_row *r)
{
    const struct lg__config_list *lengths = &g->config.eval_lengths;
    int64_t documents = r->there < g->config.eval_samples ? r->there : g->config.eval_samples;
    int known = 0;
    for (int i = 0; i < lengths->count && !known; i++) known = lengths->at[i] == r->length;
    return known && !*r->texts && r->context == g->found.length && r->documents == documents;
}

static void keep_row(void *context, const lg_text_row *r)
{
    struct group *g = context;
    size_t size = ((size_t)g->count + 1) * sizeof(struct row);
    if (!is_of_sweep(g, r)) return;
    if (g->failed || (size > g->block.size &&
                      lg__block_grow(&g->block, 2 * size, g->count > 0, "a table", NULL))) {
        g->failed = 1;
        return;
    }
    rows_of(g)[g->count++] = (struct row){.row = *r, .seed = g->found.seed, .run = g->run};
}

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->row.length != y->row.length) return x->row.length - y->row.length;
    return x->row.low != y->row.low ? x->row.low - y->row.low : x->run - y->run;
}

static int same_place(const struct row *x, const struct row *y)
{
    return x->row.length == y->row.length && x->row.low == y->row.low;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and quartiles of the loss at this place of lg_text_row. */
static lg_text_mean over_seeds(const struct group *g, int n, size_t at)
{
    for (int i = 0; i < n; i++)
        memcpy(&g->sorted[i], (const char *)&g->rows[i] + at, sizeof g->sorted[i]);
    qsort(g->sorted, (size_t)n, sizeof *g->sorted, by_number);
    return (lg_text_mean){lg__quantile(g->sorted, n, 0.5), lg__quantile(g->sorted, n, 0.25),
                          lg__quantile(g->sorted, n, 0.75)};
}

/* Tells rows[from..to-1], which are of the same positions. */
static void tell(const struct group *g, const char *variant, int from, int to,
                 lg_sweep_loss_callback *each, void *context)
{
    const lg_text_row *r = &rows_of(g)[from].row;
    int n = to - from;
    for (int i = 0; i < n; i++) {
        g->rows[i] = rows_of(g)[from + i].row;
        g->seeds[i] = rows_of(g)[from + i].seed;
    }
    lg_sweep_loss l = {.variant = variant,
                       .length = r->length,
                       .low = r->low,
                       .high = r->high,
                       .context = r->context,
                       .seeds = n,
                       .rows = g->rows,
                       .seed = g->seeds,
                       .truncated = over_seeds(g, n, offsetof(lg_text_row, truncated.value)),
                       .sliding = over_seeds(g, n, offsetof(lg_text_row, sliding.value)),
                       .excess = over_seeds(g, n, offsetof(lg_text_row, excess.value)),
                       .trained_least = g->found.least,
                       .trained_length = g->found.length};
    each(context, &l);
}

/* The rows of a run that is done, at its last step. */
static int gather(struct group *g, lg_store *s, const struct lg__sweep_plan *p, int run,
                  lg_error *err)
{
    int e = lg__sweep_find(s, p->runs[run].folder, &g->found, err);
    if (e || !g->found.number || !g->found.done) return e;
    if ((e = lg__sweep_config(p, run, &g->config, err))) return e;
    g->run = run;
    e = lg_store_losses(s, g->found.number, g->found.step, keep_row, g, err);
    lg__config_clear(&g->config);
    return e;
}

static int one_variant(struct group *g, lg_store *s, const struct lg__sweep_plan *p, int variant,
                       lg_sweep_loss_callback *each, void *context, lg_error *err)
{
    const char *name = NULL;
    int e = 0;
    g->count = 0;
    for (int i = 0; i < p->count && !e; i++) {
        if (p->runs[i].group != variant) continue;
        name = p->runs[i].variant;
        e = gather(g, s, p, i, err);
    }
    if (!e && g->failed)
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table; end other programs");
    if (e || !g->count) return e;
    qsort(rows_of(g), (size_t)g->count, sizeof(struct row), by_place);
    for (int from = 0, to; from < g->count; from = to) {
        for (to = from + 1; to < g->count && same_place(&rows_of(g)[from], &rows_of(g)[to]);) to++;
        tell(g, name, from, to, each, context);
    }
    return 0;
}

int lg_sweep_losses(const lg_sweep_options *o, lg_sweep_loss_callback *each, void *context,
                    lg_error *err)
{
    struct lg__sweep_plan p = {0};
    struct group g = {0};
    lg_store *s = NULL;
    lg_error own;
    if (!err) err = &own;
    int e = lg__sweep_read(&p, o, err);
    if (!e && !(s = lg_store_open(o->store, 0, err))) e = err->code;
    if (!e) {
        g.rows = lg__alloc((size_t)p.count * sizeof *g.rows);
        g.seeds = lg__alloc((size_t)p.count * sizeof *g.seeds);
        g.sorted = lg__alloc((size_t)p.count * sizeof *g.sorted);
        if (!g.rows || !g.seeds || !g.sorted)
            e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table; end other programs");
    }
    for (int v = 0; v < p.groups && !e; v++) e = one_variant(&g, s, &p, v, each, context, err);
    free(g.rows);
    free(g.seeds);
    free(g.sorted);
    lg__block_free(&g.block);
    lg_store_close(s);
    lg__sweep_clear(&p);
    return e;
}
