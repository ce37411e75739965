/* study_cells.c: the rows of an experiment over their seeds, and which of them are meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/study.h"

/* A row, and where it belongs. */
struct sorted {
    const struct lg__row *row;
    int group, length, sparsity, predicted;
};

static int by_cell(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    const int order[] = {x->group - y->group, x->row->taught - y->row->taught,
                         x->predicted - y->predicted, x->sparsity - y->sparsity,
                         x->length - y->length};
    for (int i = 0; i < 5; i++)
        if (order[i]) return order[i];
    return x->row->run - y->row->run;
}

static int same_cell(const struct sorted *x, const struct sorted *y)
{
    return x->group == y->group && x->row->taught == y->row->taught &&
           x->predicted == y->predicted && x->sparsity == y->sparsity && x->length == y->length;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n rows; exact has room for as many numbers. */
static struct lg__cell cell_of(const struct sorted *rows, int n, double *exact)
{
    struct lg__cell c = {.run = rows->row->run,
                         .length = rows->length,
                         .sparsity = rows->sparsity,
                         .predicted = rows->predicted,
                         .taught = rows->row->taught,
                         .seeds = n};
    for (int i = 0; i < n; i++) {
        const struct lg__row *r = rows[i].row;
        exact[i] = r->exact;
        c.tokens += r->tokens / n;
        c.right += r->exact * r->samples;
        c.samples += r->samples;
    }
    qsort(exact, (size_t)n, sizeof *exact, by_number);
    c.lower = lg__quantile(exact, n, 0.25);
    c.median = lg__quantile(exact, n, 0.5);
    c.upper = lg__quantile(exact, n, 0.75);
    lg__wilson(c.right, c.samples, &c.low, &c.high);
    return c;
}

int lg__study_cells(const struct lg__study *s, struct lg__cell **cells, int *count, lg_error *err)
{
    size_t room = (size_t)s->row_count;
    struct sorted *sorted = lg__alloc(room * sizeof *sorted);
    double *exact = lg__alloc(room * sizeof *exact);
    int n = 0;
    *cells = lg__alloc(room * sizeof **cells);
    *count = 0;
    if (!sorted || !exact || !*cells) {
        free(sorted);
        free(exact);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the cells; end other programs");
    }
    for (int i = 0; i < s->row_count; i++) {
        const struct lg__row *r = &lg__study_rows(s)[i];
        const struct lg__study_cell *c = &lg__study_variant_of(s, r->run)->cells[r->cell];
        if (s->runs[r->run].done)
            sorted[n++] = (struct sorted){r, s->plan.runs[r->run].group, c->length, c->sparsity,
                                          c->predicted};
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_cell);
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && same_cell(&sorted[from], &sorted[to]);) to++;
        (*cells)[(*count)++] = cell_of(&sorted[from], to - from, exact);
    }
    free(sorted);
    free(exact);
    return 0;
}

/* ---- Which are meant ----------------------------------------------------------------------- */

/* What a cell has for a key of `where`. */
static const char *value_of(const struct lg__study *s, const struct lg__cell *c, const char *key,
                            char number[16])
{
    if (strcmp(key, "ids") == 0) return c->predicted ? "predicted" : "given";
    if (strcmp(key, "mode") == 0) return c->taught ? "taught" : "generated";
    snprintf(number, 16, "%d", strcmp(key, "length") == 0 ? c->length : c->sparsity);
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, key) == 0)
            return lg__sweep_value_of(&s->plan, c->run, a)->name;
    return number;
}

static int is_value(const struct lg__yaml *n, const char *value)
{
    char *text = NULL;
    if (lg__sweep_text(n, &text, NULL)) return 0;
    int same = strcmp(text, value) == 0;
    free(text);
    return same;
}

int lg__where_fits(const struct lg__study *s, lg__where where, const struct lg__cell *c)
{
    char number[16];
    int fits = 1, mode = 0;
    for (const struct lg__yaml *n = where ? where->first : NULL; n && fits; n = n->next) {
        const char *value = value_of(s, c, n->key, number);
        mode |= strcmp(n->key, "mode") == 0;
        if (n->kind == LG__YAML_SCALAR) {
            fits = is_value(n, value);
            continue;
        }
        fits = 0;
        for (const struct lg__yaml *v = n->first; v && !fits; v = v->next)
            fits = is_value(v, value);
    }
    return fits && (mode || !c->taught);
}
