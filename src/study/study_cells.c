/* study_cells.c: the rows of an experiment over their seeds, and which of them are meant. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/run.h"
#include "study/study.h"
#include "base/stats.h"

/* A row, and where it belongs. */
struct sorted {
    const struct lg__row *row;
    const struct lg__study_cell *cell;
    int group;
};

static int by_cell(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    const struct lg__study_cell *p = x->cell, *q = y->cell;
    const int order[] = {x->group - y->group,         x->row->mode - y->row->mode,
                         p->predicted - q->predicted, p->sparsity - q->sparsity,
                         p->length - q->length,       p->low - q->low};
    for (int i = 0; i < 6; i++)
        if (order[i]) return order[i];
    return x->row->run - y->row->run;
}

static int same_cell(const struct sorted *x, const struct sorted *y)
{
    const struct lg__study_cell *p = x->cell, *q = y->cell;
    return x->group == y->group && x->row->mode == y->row->mode && p->predicted == q->predicted &&
           p->sparsity == q->sparsity && p->length == q->length && p->low == q->low;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n rows; values has room for as many numbers. */
static struct lg__cell cell_of(const struct sorted *rows, int n, int text, double *values)
{
    struct lg__cell c = {.run = rows->row->run,
                         .length = rows->cell->length,
                         .sparsity = rows->cell->sparsity,
                         .predicted = rows->cell->predicted,
                         .mode = rows->row->mode,
                         .from = rows->cell->low,
                         .to = rows->cell->high,
                         .low = rows->row->low,
                         .high = rows->row->high,
                         .seeds = n};
    for (int i = 0; i < n; i++) {
        const struct lg__row *r = rows[i].row;
        values[i] = r->value;
        c.tokens += r->tokens / n;
        c.right += r->value * r->samples;
        c.samples += r->samples;
    }
    qsort(values, (size_t)n, sizeof *values, by_number);
    c.least = values[0];
    c.most = values[n - 1];
    c.median = lg__quantile(values, n, 0.5);
    if (!text) lg__wilson(c.right, c.samples, &c.low, &c.high);
    return c;
}

int lg__study_cells(const struct lg__study *s, struct lg__cell **cells, int *count, lg_error *err)
{
    size_t room = (size_t)s->row_count;
    struct sorted *sorted = lg__alloc(room * sizeof *sorted);
    double *values = lg__alloc(room * sizeof *values);
    int n = 0;
    *cells = lg__alloc(room * sizeof **cells);
    *count = 0;
    if (!sorted || !values || !*cells) {
        free(sorted);
        free(values);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the cells; end other programs");
    }
    for (int i = 0; i < s->row_count; i++) {
        const struct lg__row *r = &lg__study_rows(s)[i];
        const struct lg__study_cell *c = &lg__study_variant_of(s, r->run)->cells[r->cell];
        if (s->runs[r->run].done) sorted[n++] = (struct sorted){r, c, s->plan.runs[r->run].group};
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_cell);
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && same_cell(&sorted[from], &sorted[to]);) to++;
        (*cells)[(*count)++] = cell_of(&sorted[from], to - from, lg__study_is_text(s), values);
    }
    free(sorted);
    free(values);
    return 0;
}

/* ---- Which are meant ----------------------------------------------------------------------- */

const char *lg__mode_name(const struct lg__study *s, int mode)
{
    static const char *const answers[] = {"generated", "taught"};
    static const char *const texts[] = {"truncated", "sliding", "excess"};
    return lg__study_is_text(s) ? texts[mode] : answers[mode];
}

/* What a cell has for a key of `where`. */
static const char *value_of(const struct lg__study *s, const struct lg__cell *c, const char *key,
                            char number[16])
{
    if (strcmp(key, "ids") == 0) return c->predicted ? "predicted" : "given";
    if (strcmp(key, "mode") == 0) return lg__mode_name(s, c->mode);
    snprintf(number, 16, "%d", strcmp(key, "length") == 0 ? c->length : c->sparsity);
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, key) == 0)
            return lg__sweep_value_of(&s->plan, c->run, a)->name;
    return number;
}

/* A position is one of a bin's. */
static int is_value(const struct lg__yaml *n, const char *key, const char *value,
                    const struct lg__cell *c)
{
    int64_t p;
    if (strcmp(key, "position") == 0)
        return !lg__yaml_int(n, 0, INT_MAX, &p, NULL) && p >= c->from && p <= c->to;
    return lg__sweep_is(n, value);
}

int lg__where_fits(const struct lg__study *s, lg__where where, const struct lg__cell *c)
{
    char number[16];
    int fits = 1, mode = 0, length = 0;
    for (const struct lg__yaml *n = where ? where->first : NULL; n && fits; n = n->next) {
        const char *value = value_of(s, c, n->key, number);
        mode |= strcmp(n->key, "mode") == 0;
        length |= strcmp(n->key, "length") == 0;
        if (n->kind == LG__YAML_SCALAR) {
            fits = is_value(n, n->key, value, c);
            continue;
        }
        fits = 0;
        for (const struct lg__yaml *v = n->first; v && !fits; v = v->next)
            fits = is_value(v, n->key, value, c);
    }
    int longest = !lg__study_is_text(s) || c->length == lg__study_variant_of(s, c->run)->longest;
    return fits && (mode || !c->mode) && (length || longest);
}
