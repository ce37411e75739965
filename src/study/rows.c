/* rows.c: what the runs of a plan have: rows from the store, which runs are done, and rows over their seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stats.h"
#include "runs/run.h"
#include "runs/store.h"
#include "study/sweep.h"

int lg__rows_add(struct lg__rows *r, const struct lg__row *row, lg_error *err)
{
    size_t size = ((size_t)r->count + 1) * sizeof *row;
    int e = size > r->block.size
                ? lg__block_grow(&r->block, 2 * size, r->count > 0, "the rows", err)
                : 0;
    if (!e) *lg__row_at(r, r->count++) = *row;
    return e;
}

int lg__rows_compare(const void *a, const void *b)
{
    const struct lg__row *x = a, *y = b;
    if (x->run != y->run) return x->run - y->run;
    if (x->cell != y->cell) return x->cell - y->cell;
    return (x->v.kind > y->v.kind) - (x->v.kind < y->v.kind);
}

void lg__rows_sort(struct lg__rows *r)
{
    if (r->count) qsort(r->block.data, (size_t)r->count, sizeof(struct lg__row), lg__rows_compare);
}

void lg__rows_drop(struct lg__rows *r, int run)
{
    int kept = 0;
    for (int i = 0; i < r->count; i++)
        if (lg__row_at(r, i)->run != run) *lg__row_at(r, kept++) = *lg__row_at(r, i);
    r->count = kept;
}

/* ---- From the store ---------------------------------------------------------------------------- */

struct reading {
    struct lg__rows *rows;
    const struct lg__variant *v;
    int run, e;
    lg_error *err;
};

static void take_cell(void *context, const lg_cell *c)
{
    struct reading *t = context;
    const struct lg__variant *v = t->v;
    int cell = 0;
    while (cell < v->count &&
           (v->cells[cell].length != c->length || v->cells[cell].sparsity != c->sparsity ||
            v->cells[cell].predicted != c->predicted || v->cells[cell].first != c->first ||
            v->cells[cell].last != c->last))
        cell++;
    for (int i = 0; i < c->values && cell < v->count && !t->e; i++) {
        struct lg__row row = {t->run, cell, c->there, c->tokens, c->value[i]};
        t->e = lg__rows_add(t->rows, &row, t->err);
    }
}

/* Cells of one length that differ in their positions alone are found together. */
static int found_together(const lg_cell *a, const lg_cell *b)
{
    return a->length == b->length && a->sparsity == b->sparsity && a->predicted == b->predicted;
}

int lg__rows_read(struct lg__rows *r, const struct lg__sweep_plan *p, int run, lg_store *s,
                  int64_t number, int64_t step, lg_error *err)
{
    const struct lg__variant *v = lg__variant_of(p, run);
    struct reading t = {.rows = r, .v = v, .run = run, .err = err};
    int e = 0;
    for (int i = 0; i < v->count && !e; i++) {
        lg_cell like = v->cells[i];
        like.step = step;
        if (i && found_together(&v->cells[i - 1], &like)) continue;
        e = lg__store_get_cells(s, number, &like, like.value[0].samples, take_cell, &t, err);
        if (!e) e = t.e;
    }
    return e;
}

/* As many as are asked for, or all that there are. */
static int is_enough(const struct lg__row *row, const lg_cell *cell)
{
    int asked = cell->value[0].samples;
    return row->v.samples == asked || (row->v.samples < asked && row->v.samples == row->there);
}

int lg__rows_whole(const struct lg__rows *r, const struct lg__sweep_plan *p, int run)
{
    const struct lg__variant *v = lg__variant_of(p, run);
    int leading = 0, right = 0, first = 0, end = r->count;
    for (int i = 0; i < lg_kind_count(); i++)
        leading += lg_kind_at(i)->leads && strcmp(lg_kind_at(i)->form, v->form) == 0;
    while (first < end) { /* to the run's first row */
        int middle = first + (end - first) / 2;
        if (lg__row_at(r, middle)->run < run)
            first = middle + 1;
        else
            end = middle;
    }
    for (int i = first; i < r->count && lg__row_at(r, i)->run == run; i++) {
        const struct lg__row *row = lg__row_at(r, i);
        right += row->v.kind->leads && is_enough(row, &v->cells[row->cell]);
    }
    return v->count && right == leading * v->count;
}

/* ---- Over the seeds ---------------------------------------------------------------------------- */

/* A row, and where it belongs. */
struct sorted {
    const struct lg__row *row;
    const lg_cell *cell;
    int group;
};

static int by_cell(const struct sorted *x, const struct sorted *y)
{
    const lg_cell *p = x->cell, *q = y->cell;
    const lg_kind *a = x->row->v.kind, *b = y->row->v.kind;
    const int order[] = {x->group - y->group,         (a > b) - (a < b),
                         p->predicted - q->predicted, p->sparsity - q->sparsity,
                         p->length - q->length,       p->first - q->first};
    for (int i = 0; i < 6; i++)
        if (order[i]) return order[i];
    return 0;
}

static int by_cell_and_run(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int order = by_cell(x, y);
    return order ? order : x->row->run - y->row->run;
}

/* Of n rows of one cell and kind; `sorted` has room for as many numbers. */
static void join(const struct lg__sweep_plan *p, const struct sorted *rows, int n,
                 struct lg__joined *to, lg_cell *cell, double *values, int64_t *seeds,
                 double *sorted)
{
    const lg_value *first = &rows->row->v;
    double right = 0;
    *cell = *rows->cell;
    cell->tokens = 0;
    to->run = rows->row->run;
    to->j = (lg_joined){.variant = p->runs[to->run].variant,
                        .kind = first->kind,
                        .at = cell,
                        .seeds = n,
                        .value = values,
                        .seed = seeds,
                        .pooled = first->value,
                        .low = first->low,
                        .high = first->high,
                        .learned = -1};
    for (int i = 0; i < n; i++) {
        const struct lg__row *r = rows[i].row;
        sorted[i] = values[i] = r->v.value;
        seeds[i] = p->runs[r->run].seed;
        cell->tokens += r->tokens / n;
        right += round(r->v.value * r->v.samples);
        to->j.samples += r->v.samples;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, lg__by_number);
    to->j.min = sorted[0];
    to->j.lower = lg__quantile(sorted, n, 0.25);
    to->j.median = lg__quantile(sorted, n, 0.5);
    to->j.upper = lg__quantile(sorted, n, 0.75);
    to->j.max = sorted[n - 1];
    if (first->kind->interval != LG_INTERVAL_WILSON) return;
    to->j.pooled = right / to->j.samples;
    lg__wilson(right, to->j.samples, &to->j.low, &to->j.high);
}

/* As it is used (with the IDs that it predicts), of this sparsity, or of the densest of training where this one
 * is denser. Of shares alone: what a loss must be to be learned nobody knows. */
static void set_learned(const struct lg__sweep_plan *p, struct lg__joins *to)
{
    for (int i = 0, from = 0; i < to->count; i++) {
        struct lg__joined *c = &to->at[i];
        int group = p->runs[c->run].group, predicts = 0;
        int densest = c->j.at->trained_sparsity, sparsity = c->j.at->sparsity;
        if (densest && sparsity > densest) sparsity = densest;
        while (p->runs[to->at[from].run].group != group) from++; /* a variant's are together */
        for (int k = from; k < to->count && p->runs[to->at[k].run].group == group; k++) {
            const struct lg__joined *o = &to->at[k];
            if (o->j.at->predicted < predicts || o->j.kind != lg_kind_leading(o->j.kind->form) ||
                o->j.kind->unit != LG_UNIT_SHARE)
                continue;
            if (o->j.at->predicted > predicts) c->j.learned = -1;
            predicts = o->j.at->predicted;
            if (o->j.at->length == o->j.at->trained_length && o->j.at->sparsity == sparsity)
                c->j.learned = o->j.median;
        }
    }
}

int lg__rows_join(const struct lg__rows *r, const struct lg__sweep_plan *p, const char *done,
                  struct lg__joins *to, lg_error *err)
{
    size_t room = (size_t)r->count + 1;
    struct sorted *sorted = lg__alloc(room * sizeof *sorted);
    double *numbers = lg__alloc(room * sizeof *numbers);
    int n = 0;
    *to = (struct lg__joins){.at = lg__alloc(room * sizeof *to->at),
                             .cells = lg__alloc(room * sizeof *to->cells),
                             .values = lg__alloc(room * sizeof *to->values),
                             .seeds = lg__alloc(room * sizeof *to->seeds)};
    int e = sorted && numbers && to->at && to->cells && to->values && to->seeds
                ? 0
                : lg__fail(err, LG_ERROR_MEMORY, "no memory for the cells; end other programs");
    for (int i = 0; i < r->count && !e; i++) {
        const struct lg__row *row = lg__row_at(r, i);
        const lg_cell *cell = &lg__variant_of(p, row->run)->cells[row->cell];
        if (done[row->run]) sorted[n++] = (struct sorted){row, cell, p->runs[row->run].group};
    }
    if (n) qsort(sorted, (size_t)n, sizeof *sorted, by_cell_and_run);
    for (int from = 0, last; from < n; from = last) {
        for (last = from + 1; last < n && by_cell(&sorted[from], &sorted[last]) == 0;) last++;
        int i = to->count++;
        join(p, &sorted[from], last - from, &to->at[i], &to->cells[i], &to->values[from],
             &to->seeds[from], numbers);
    }
    if (!e) set_learned(p, to);
    free(sorted);
    free(numbers);
    return e;
}

void lg__joins_clear(struct lg__joins *j)
{
    free(j->at);
    free(j->cells);
    free(j->values);
    free(j->seeds);
    *j = (struct lg__joins){0};
}

/* ---- A sweep's table --------------------------------------------------------------------------- */

static void keep_found(void *context, const lg_store_run *r)
{
    struct lg__sweep_found *f = context;
    if (strcmp(r->id, f->id) != 0) return; /* the name fits another run */
    f->number = r->number;
    f->step = r->step;
    f->done = strcmp(r->state, "done") == 0;
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

/* The rows of a run that is done, at its last step. */
static int gather(struct lg__rows *r, const struct lg__sweep_plan *p, int run, lg_store *s,
                  char *done, lg_error *err)
{
    struct lg__sweep_found f;
    struct lg__config c;
    int e = lg__sweep_find(s, p->runs[run].folder, &f, err);
    if (e || !f.number || !f.done || (e = lg__sweep_config(p, run, &c, err))) return e;
    lg__config_clear(&c);
    *done = 1;
    return lg__rows_read(r, p, run, s, f.number, f.step, err);
}

int lg_sweep_cells(const lg_sweep_options *o, lg_joined_callback *each, void *context,
                   lg_error *err)
{
    struct lg__sweep_plan p = {0};
    struct lg__rows rows = {0};
    struct lg__joins joins = {0};
    lg_store *s = NULL;
    lg_error own;
    if (!err) err = &own;
    int e = lg__sweep_read(&p, o, err);
    if (!e) e = lg__variants_open(&p, 1, err);
    if (!e && !(s = lg_store_open(o->store, 0, err))) e = err->code;
    char *done = e ? NULL : lg__alloc((size_t)p.count);
    if (!e && !done) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep's table");
    for (int i = 0; i < p.count && !e; i++) e = gather(&rows, &p, i, s, &done[i], err);
    if (!e) e = lg__rows_join(&rows, &p, done, &joins, err);
    for (int i = 0; i < joins.count && !e; i++) each(context, &joins.at[i].j);
    free(done);
    lg__joins_clear(&joins);
    lg__block_free(&rows.block);
    lg_store_close(s);
    lg__sweep_clear(&p);
    return e;
}
