/* results.c: the rows of an experiment as a file, measurements.csv: one row per run, cell and kind. What is not
 * exactly a row of this experiment is refused with its line, so that nothing is ever written over it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "study/study.h"

enum {
    EXPERIMENT,
    METHOD,
    TRAIN,
    SEED,
    KIND,
    LENGTH,
    UNIT,
    SPARSITY,
    SOURCE,
    FIRST,
    LAST,
    CONTEXT,
    SAMPLES,
    THERE,
    VALUE,
    LOW,
    HIGH,
    TOKENS,
    TRAINED_LENGTH,
    TRAINED_SPARSITY,
    COLUMNS
};
static const char *const columns[COLUMNS] = {
    "experiment", "method", "train", "seed",   "kind",           "length",          "unit",
    "sparsity",   "source", "first", "last",   "context",        "samples",         "there",
    "value",      "low",    "high",  "tokens", "trained_length", "trained_sparsity"};
static const char *const sources[] = {"given", "predicted"};

/* ---- Writing ------------------------------------------------------------------------------- */

void lg__results_put_run(lg_buffer *to, const struct lg__study *s, int run)
{
    const struct lg__study_run *r = &s->runs[run];
    const char *const words[] = {s->o->name, r->method, r->train};
    for (int i = 0; i < 3; i++) {
        lg__csv_put(to, words[i]);
        lg_buffer_put(to, ",");
    }
    lg_buffer_print(to, "%lld", (long long)s->plan.runs[run].seed);
}

/* Nothing stands for what there is not. */
static void put_number(lg_buffer *to, double x)
{
    lg_buffer_put(to, ",");
    if (!isnan(x)) lg_buffer_print(to, "%.6f", x);
}

static void put_row(lg_buffer *to, const struct lg__study *s, const struct lg__row *row)
{
    const struct lg__variant *v = lg__variant_of(&s->plan, row->run);
    const lg_cell *c = &v->cells[row->cell];
    lg__results_put_run(to, s, row->run);
    lg_buffer_print(to, ",%s,%d,", row->v.kind->name, c->length);
    lg__csv_put(to, v->unit);
    lg_buffer_print(to, ",%d,%s,%d,%d,%d,%d,%lld", c->sparsity, sources[c->predicted], c->first,
                    c->last, c->context, row->v.samples, (long long)row->there);
    put_number(to, row->v.value);
    put_number(to, row->v.low);
    put_number(to, row->v.high);
    lg_buffer_print(to, ",%.2f,%d,%d\n", row->tokens, v->length, v->sparsity);
}

int lg__results_write(const struct lg__study *s, lg_error *err)
{
    lg_buffer b = {0};
    for (int i = 0; i < COLUMNS; i++)
        lg_buffer_print(&b, "%s%c", columns[i], i + 1 < COLUMNS ? ',' : '\n');
    for (int i = 0; i < s->rows.count; i++) put_row(&b, s, lg__row_at(&s->rows, i));
    char *text = lg_buffer_take(&b, NULL);
    int e = text ? lg__file_write(s->results, text, err)
                 : lg__fail(err, LG_ERROR_MEMORY, "no memory for the rows; end other programs");
    free(text);
    return e;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int wrong(const struct lg__csv *l, lg_error *err, const char *what)
{
    lg__fail(err, LG_ERROR_ARGUMENT, "%s; put it right, or move the file away and reproduce anew",
             what);
    lg__error_place(err, l->file, l->line);
    return LG_ERROR_ARGUMENT;
}

/* A whole number of at least `least`, at most 1e9 but for a seed. */
static int read_int(const struct lg__csv *l, int column, int64_t least, int64_t *value,
                    lg_error *err)
{
    char *end, what[200];
    const char *text = l->field[column];
    errno = 0;
    *value = strtoll(text, &end, 10);
    if ((isdigit((unsigned char)*text) || *text == '-') && !*end && !errno && *value >= least &&
        (column == SEED || *value <= 1000000000))
        return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no whole number that it may be", columns[column],
             text);
    return wrong(l, err, what);
}

/* Of a share from 0 to 1; maybe: nothing stands for none. */
static int read_real(const struct lg__csv *l, int column, int maybe, int share, double *value,
                     lg_error *err)
{
    char *end, what[200];
    const char *text = l->field[column];
    *value = NAN;
    if (!*text && maybe) return 0;
    *value = strtod(text, &end);
    if (*text != ' ' && end != text && !*end && isfinite(*value) &&
        (!share || (*value >= 0 && *value <= 1)))
        return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no number%s", columns[column], text,
             share ? " from 0 to 1" : "");
    return wrong(l, err, what);
}

static int find_run(const struct lg__study *s, const struct lg__csv *l, int *run, lg_error *err)
{
    int64_t seed;
    char what[300];
    if (strcmp(l->field[EXPERIMENT], s->o->name) != 0)
        return wrong(l, err, "this is a row of another experiment");
    int e = read_int(l, SEED, INT64_MIN, &seed, err);
    if (e) return e;
    for (*run = 0; *run < s->plan.count; ++*run) {
        const struct lg__study_run *r = &s->runs[*run];
        if (s->plan.runs[*run].seed == seed && strcmp(r->method, l->field[METHOD]) == 0 &&
            strcmp(r->train, l->field[TRAIN]) == 0)
            return 0;
    }
    snprintf(what, sizeof what,
             "method \"%.60s\", train \"%.60s\", seed %lld is no run of the experiment's file",
             l->field[METHOD], l->field[TRAIN], (long long)seed);
    return wrong(l, err, what);
}

/* Its kind, and its cell of the run that it is of. */
static int find_cell(const struct lg__study *s, const struct lg__csv *l, struct lg__row *row,
                     lg_error *err)
{
    const struct lg__variant *v = lg__variant_of(&s->plan, row->run);
    int64_t place[4];
    char what[300];
    int predicted = strcmp(l->field[SOURCE], sources[1]) == 0, e = 0;
    static const int column[] = {LENGTH, SPARSITY, FIRST, LAST};
    row->v.kind = lg_kind_find(l->field[KIND]);
    if (!row->v.kind || strcmp(row->v.kind->form, v->form) != 0) {
        snprintf(what, sizeof what, "kind is \"%.60s\", which such runs do not have",
                 l->field[KIND]);
        return wrong(l, err, what);
    }
    if (!predicted && strcmp(l->field[SOURCE], sources[0]) != 0) {
        snprintf(what, sizeof what, "source is \"%.60s\", neither given nor predicted",
                 l->field[SOURCE]);
        return wrong(l, err, what);
    }
    for (int i = 0; i < 4 && !e; i++) e = read_int(l, column[i], 0, &place[i], err);
    if (e) return e;
    for (row->cell = 0; row->cell < v->count; row->cell++) {
        const lg_cell *c = &v->cells[row->cell];
        if (c->length == place[0] && c->sparsity == place[1] && c->first == place[2] &&
            c->last == place[3] && c->predicted == predicted)
            return 0;
    }
    snprintf(what, sizeof what,
             "length %lld, sparsity %lld, positions %lld to %lld, IDs %s is no cell that the "
             "experiment's file asks for",
             (long long)place[0], (long long)place[1], (long long)place[2], (long long)place[3],
             sources[predicted]);
    return wrong(l, err, what);
}

/* What every row of a run has in common with the file. */
static int check_common(const struct lg__study *s, const struct lg__csv *l,
                        const struct lg__row *row, lg_error *err)
{
    const struct lg__variant *v = lg__variant_of(&s->plan, row->run);
    int64_t length, sparsity, context;
    int e = read_int(l, TRAINED_LENGTH, 0, &length, err);
    if (!e) e = read_int(l, TRAINED_SPARSITY, 0, &sparsity, err);
    if (!e) e = read_int(l, CONTEXT, 0, &context, err);
    if (e) return e;
    if (length != v->length || sparsity != v->sparsity || context != v->cells[row->cell].context ||
        strcmp(l->field[UNIT], v->unit) != 0)
        return wrong(l, err,
                     "it was trained to another length or sparsity than the experiment's file "
                     "says now");
    return 0;
}

static int read_row(const struct lg__study *s, const struct lg__csv *l, struct lg__row *row,
                    lg_error *err)
{
    int64_t samples = 0;
    if (l->count != COLUMNS) {
        char what[100];
        snprintf(what, sizeof what, "this is not a row of %d fields", COLUMNS);
        return wrong(l, err, what);
    }
    int e = find_run(s, l, &row->run, err);
    if (!e) e = find_cell(s, l, row, err);
    if (!e) e = check_common(s, l, row, err);
    if (!e) e = read_int(l, SAMPLES, 1, &samples, err);
    if (!e) e = read_int(l, THERE, 0, &row->there, err);
    int share = !e && row->v.kind->unit == LG_UNIT_SHARE;
    if (!e) e = read_real(l, TOKENS, 0, 0, &row->tokens, err);
    if (!e) e = read_real(l, VALUE, 1, share, &row->v.value, err);
    if (!e) e = read_real(l, LOW, 1, share, &row->v.low, err);
    if (!e) e = read_real(l, HIGH, 1, share, &row->v.high, err);
    row->v.samples = (int)samples;
    return e;
}

static int check_heading(const struct lg__csv *l, lg_error *err)
{
    int same = l->count == COLUMNS;
    for (int i = 0; i < COLUMNS && same; i++) same = strcmp(l->field[i], columns[i]) == 0;
    return same ? 0 : wrong(l, err, "this is not the heading of an experiment's rows");
}

/* A run's rows are mostly together. */
static int is_twice(const struct lg__study *s, const struct lg__row *row)
{
    for (int i = s->rows.count - 1; i >= 0 && lg__row_at(&s->rows, i)->run == row->run; i--)
        if (lg__rows_compare(lg__row_at(&s->rows, i), row) == 0) return 1;
    return 0;
}

static int read_all(struct lg__study *s, struct lg__csv *l, lg_error *err)
{
    int e = lg__csv_next(l, err), bad = e > 0 ? check_heading(l, err) : 0;
    while (e > 0 && !bad && (e = lg__csv_next(l, err)) > 0) {
        struct lg__row row = {0};
        bad = read_row(s, l, &row, err);
        if (!bad && is_twice(s, &row)) bad = wrong(l, err, "this cell of this run is there twice");
        if (!bad) bad = lg__rows_add(&s->rows, &row, err);
    }
    return bad ? bad : e;
}

/* Rows of one cell that are not beside each other. */
static int check_twice(const struct lg__study *s, lg_error *err)
{
    for (int i = 1; i < s->rows.count; i++)
        if (lg__rows_compare(lg__row_at(&s->rows, i - 1), lg__row_at(&s->rows, i)) == 0)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has a cell of the run %.100s twice; put it right, or move the file "
                            "away and reproduce anew",
                            s->results, s->plan.runs[lg__row_at(&s->rows, i)->run].name);
    return 0;
}

int lg__results_read(struct lg__study *s, lg_error *err)
{
    struct lg__csv l;
    s->rows.count = 0;
    int e = lg__csv_open(&l, s->results, 1, err);
    if (!e) e = read_all(s, &l, err);
    lg__csv_close(&l);
    lg__rows_sort(&s->rows);
    if (!e) e = check_twice(s, err);
    if (e) s->rows.count = 0;
    return e;
}
