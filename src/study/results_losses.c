/* results_losses.c: the lines of losses.csv, of an experiment of texts: one a run and bin of positions,
 * with three losses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/results.h"

enum {
    LENGTH = 4, /* after those of the run */
    LOW,
    HIGH,
    CONTEXT,
    DOCUMENTS,
    THERE,
    LOSSES, /* value, low and high of each */
    TRAINED_LENGTH = LOSSES + 9,
    COLUMNS
};
static const char *const columns[COLUMNS] = {
    "experiment",   "method",        "train",          "seed",        "length",
    "low",          "high",          "context",        "documents",   "documents_there",
    "truncated",    "truncated_low", "truncated_high", "sliding",     "sliding_low",
    "sliding_high", "excess",        "excess_low",     "excess_high", "trained_length"};

/* Nothing stands for what there is not: the interval of one document. */
static void put_loss(lg_buffer *to, double loss)
{
    lg_buffer_put(to, ",");
    if (!isnan(loss)) lg_buffer_print(to, "%.6f", loss);
}

static void put_rows(lg_buffer *to, const struct lg__study *s, const struct lg__row *rows)
{
    const struct lg__study_variant *v = lg__study_variant_of(s, rows->run);
    const struct lg__study_cell *c = &v->cells[rows->cell];
    lg__results_put_run(to, s, rows->run);
    lg_buffer_print(to, ",%d,%d,%d,%d,%d,%lld", c->length, c->low, c->high, v->length,
                    rows->samples, (long long)rows->there);
    for (int i = 0; i < LG__MODES_TEXTS; i++) {
        put_loss(to, rows[i].value);
        put_loss(to, rows[i].low);
        put_loss(to, rows[i].high);
    }
    lg_buffer_print(to, ",%d\n", v->length);
}

static int read_loss(const struct lg__results_line *l, int column, double *value, lg_error *err)
{
    char *end, what[200];
    const char *text = l->field[column];
    *value = *text ? strtod(text, &end) : NAN;
    if (!*text || (*text != ' ' && end != text && !*end)) return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no number", columns[column], text);
    return lg__results_wrong(l, err, what);
}

/* Its cell, of the run that it is of. */
static int find_cell(const struct lg__results_line *l, struct lg__row *row, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(l->s, row->run);
    int64_t length, low, high;
    char what[200];
    int e = lg__results_int(l, LENGTH, 1, &length, err);
    if (!e) e = lg__results_int(l, LOW, 1, &low, err);
    if (!e) e = lg__results_int(l, HIGH, low, &high, err);
    if (e) return e;
    for (row->cell = 0; row->cell < v->count; row->cell++) {
        const struct lg__study_cell *c = &v->cells[row->cell];
        if (c->length == length && c->low == low && c->high == high) return 0;
    }
    snprintf(what, sizeof what,
             "length %lld, positions %lld to %lld are no cell that the experiment's file asks for",
             (long long)length, (long long)low, (long long)high);
    return lg__results_wrong(l, err, what);
}

static int check_common(const struct lg__results_line *l, int run, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(l->s, run);
    int64_t context, length;
    int e = lg__results_int(l, CONTEXT, 1, &context, err);
    if (!e) e = lg__results_int(l, TRAINED_LENGTH, 1, &length, err);
    if (e || (context == v->length && length == v->length)) return e;
    return lg__results_wrong(l, err,
                             "it was trained to another length than the experiment's file says "
                             "now");
}

static int read_rows(const struct lg__results_line *l, struct lg__row *rows, lg_error *err)
{
    int64_t documents = 0, there = 0;
    int e = lg__results_run(l, &rows->run, err);
    if (!e) e = find_cell(l, rows, err);
    if (!e) e = check_common(l, rows->run, err);
    if (!e) e = lg__results_int(l, DOCUMENTS, 1, &documents, err);
    if (!e) e = lg__results_int(l, THERE, documents, &there, err);
    rows->samples = (int)documents;
    rows->there = there;
    for (int i = 0; i < LG__MODES_TEXTS && !e; i++) {
        rows[i] = rows[0];
        rows[i].mode = i;
        e = read_loss(l, LOSSES + 3 * i, &rows[i].value, err);
        if (!e) e = read_loss(l, LOSSES + 3 * i + 1, &rows[i].low, err);
        if (!e) e = read_loss(l, LOSSES + 3 * i + 2, &rows[i].high, err);
    }
    return e;
}

const struct lg__results_form lg__results_losses = {.columns = columns,
                                                    .count = COLUMNS,
                                                    .modes = LG__MODES_TEXTS,
                                                    .read = read_rows,
                                                    .put = put_rows};
