/* results_answers.c: the lines of evals.csv: one a run, cell and mode. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/results.h"

enum {
    LENGTH = 4, /* after those of the run */
    UNIT,
    TOKENS,
    SPARSITY,
    SAMPLES,
    EXACT,
    LOW,
    HIGH,
    TOKEN_ACCURACY,
    IDS,
    MODE,
    TRAINED_LENGTH,
    TRAINED_SPARSITY,
    COLUMNS
};
static const char *const columns[COLUMNS] = {
    "experiment",     "method",   "train",   "seed",           "length",          "unit",
    "tokens",         "sparsity", "samples", "exact",          "exact_low",       "exact_high",
    "token_accuracy", "ids",      "mode",    "trained_length", "trained_sparsity"};

static void put_row(lg_buffer *to, const struct lg__study *s, const struct lg__row *row)
{
    const struct lg__study_variant *v = lg__study_variant_of(s, row->run);
    const struct lg__study_cell *c = &v->cells[row->cell];
    lg__results_put_run(to, s, row->run);
    lg_buffer_print(to, ",%d,", c->length);
    lg__results_put_text(to, v->unit);
    lg_buffer_print(to, ",%.2f,%d,%d,%.6f,%.6f,%.6f,%.6f,%s,%s,%d,%d\n", row->tokens, c->sparsity,
                    row->samples, row->value, row->low, row->high, row->token_accuracy,
                    c->predicted ? "predicted" : "given", lg__mode_name(s, row->mode), v->length,
                    v->sparsity);
}

static int read_real(const struct lg__results_line *l, int column, double most, double *value,
                     lg_error *err)
{
    char *end, what[200];
    const char *text = l->field[column];
    *value = strtod(text, &end);
    if (isdigit((unsigned char)*text) && !*end && *value >= 0 && *value <= most) return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no number from 0 to %g", columns[column], text,
             most);
    return lg__results_wrong(l, err, what);
}

static int read_word(const struct lg__results_line *l, int column, const char *no, const char *yes,
                     int *value, lg_error *err)
{
    char what[200];
    *value = strcmp(l->field[column], yes) == 0;
    if (*value || strcmp(l->field[column], no) == 0) return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", neither %s nor %s", columns[column],
             l->field[column], no, yes);
    return lg__results_wrong(l, err, what);
}

/* Its cell, of the run that it is of. */
static int find_cell(const struct lg__results_line *l, struct lg__row *row, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(l->s, row->run);
    int64_t length, sparsity;
    int predicted, e = lg__results_int(l, LENGTH, 1, &length, err);
    char what[300];
    if (!e) e = lg__results_int(l, SPARSITY, 0, &sparsity, err);
    if (!e) e = read_word(l, IDS, "given", "predicted", &predicted, err);
    if (e) return e;
    for (row->cell = 0; row->cell < v->count; row->cell++) {
        const struct lg__study_cell *c = &v->cells[row->cell];
        if (c->length == length && c->sparsity == sparsity && c->predicted == predicted) return 0;
    }
    snprintf(what, sizeof what,
             "length %lld, sparsity %lld, IDs %s is no cell that the experiment's file asks for",
             (long long)length, (long long)sparsity, l->field[IDS]);
    return lg__results_wrong(l, err, what);
}

/* What every row of a run has in common with the file. */
static int check_common(const struct lg__results_line *l, const struct lg__row *row, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(l->s, row->run);
    int64_t length, sparsity;
    int e = lg__results_int(l, TRAINED_LENGTH, 0, &length, err);
    if (!e) e = lg__results_int(l, TRAINED_SPARSITY, 0, &sparsity, err);
    if (e) return e;
    if (length != v->length || sparsity != v->sparsity || strcmp(l->field[UNIT], v->unit) != 0)
        return lg__results_wrong(
            l, err,
            "it was trained to another length or sparsity than the experiment's file "
            "says now");
    return 0;
}

static int read_row(const struct lg__results_line *l, struct lg__row *row, lg_error *err)
{
    int64_t samples = 0;
    int e = lg__results_run(l, &row->run, err);
    if (!e) e = find_cell(l, row, err);
    if (!e) e = check_common(l, row, err);
    if (!e) e = read_word(l, MODE, "generated", "taught", &row->mode, err);
    if (!e) e = lg__results_int(l, SAMPLES, 1, &samples, err);
    if (!e) e = read_real(l, TOKENS, 1e12, &row->tokens, err);
    if (!e) e = read_real(l, EXACT, 1, &row->value, err);
    if (!e) e = read_real(l, LOW, 1, &row->low, err);
    if (!e) e = read_real(l, HIGH, 1, &row->high, err);
    if (!e) e = read_real(l, TOKEN_ACCURACY, 1, &row->token_accuracy, err);
    row->samples = (int)samples;
    return e;
}

const struct lg__results_form lg__results_answers = {
    .columns = columns, .count = COLUMNS, .modes = 1, .read = read_row, .put = put_row};
