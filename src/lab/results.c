/* results.c: evals.csv, the rows of an experiment. Read as RFC 4180 has it; what is not exactly a
 * row of this experiment is refused with its line, so that nothing is ever written over it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/study.h"

enum {
    EXPERIMENT,
    METHOD,
    TRAIN,
    SEED,
    LENGTH,
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

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the rows; end other programs");
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* In quotes where it must be, those inside doubled. */
void lg__results_put_text(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_row(FILE *f, const struct lg__study *s, const struct lg__row *row)
{
    const struct lg__study_run *run = &s->runs[row->run];
    const struct lg__study_variant *v = lg__study_variant_of(s, row->run);
    const struct lg__study_cell *c = &v->cells[row->cell];
    const char *const words[] = {s->o->name, run->method, run->train};
    for (int i = 0; i < 3; i++) {
        lg__results_put_text(f, words[i]);
        fputc(',', f);
    }
    fprintf(f, "%lld,%d,", (long long)run->seed, c->length);
    lg__results_put_text(f, v->unit);
    fprintf(f, ",%.2f,%d,%d,%.6f,%.6f,%.6f,%.6f,%s,%s,%d,%d\n", row->tokens, c->sparsity,
            row->samples, row->exact, row->low, row->high, row->token_accuracy,
            c->predicted ? "predicted" : "given", row->taught ? "taught" : "generated", v->length,
            v->sparsity);
}

int lg__results_write(const struct lg__study *s, lg_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return no_memory(err);
    for (int i = 0; i < COLUMNS; i++) fprintf(f, "%s%c", columns[i], i + 1 < COLUMNS ? ',' : '\n');
    for (int i = 0; i < s->row_count; i++) put_row(f, s, &lg__study_rows(s)[i]);
    int e = fclose(f) ? no_memory(err) : lg__run_write_file(s->evals, text, err);
    free(text);
    return e;
}

/* ---- Reading ------------------------------------------------------------------------------- */

struct reader {
    struct lg__study *s;
    char *at; /* the rest of the text; fields are unquoted in their place */
    int line; /* of the next record, and of this one */
    int record;
    char *field[COLUMNS];
};

#define REMEDY "put it right, or move the file away and reproduce anew"

static int wrong(const struct reader *r, lg_error *err, const char *what)
{
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s:%d: %s; " REMEDY, r->s->evals, r->record, what);
}

/* One field, from r->at on; *end is what ends it: a comma, a newline, or 0. */
static int read_field(struct reader *r, char **field, char *end, lg_error *err)
{
    char *from = r->at, *to = from;
    *field = to;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            if (*from == '"') from++;
            if (*from == '\n') r->line++;
            *to++ = *from;
        }
        if (*from++ != '"') return wrong(r, err, "a quote is not closed");
    } else {
        while (*from && !strchr(",\r\n\"", *from)) *to++ = *from++;
    }
    if (from[0] == '\r' && from[1] == '\n') from++;
    *end = *from;
    if (*end != ',' && *end != '\n') return wrong(r, err, "a field or the line is not ended");
    *to = 0;
    r->at = from + 1;
    return 0;
}

static int read_record(struct reader *r, lg_error *err)
{
    char end = ',';
    int n = 0, e = 0;
    r->record = r->line;
    for (; end == ',' && !e; n++) {
        char *field;
        e = read_field(r, &field, &end, err);
        if (n < COLUMNS) r->field[n] = field;
    }
    r->line++;
    return e || n == COLUMNS ? e : wrong(r, err, "this is not a row of 17 fields");
}

static int read_int(const struct reader *r, int column, int64_t least, int64_t *value,
                    lg_error *err)
{
    char *end, what[200];
    const char *text = r->field[column];
    errno = 0;
    *value = strtoll(text, &end, 10);
    if ((isdigit((unsigned char)*text) || *text == '-') && !*end && !errno && *value >= least &&
        (column == SEED || *value <= 1000000000))
        return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no whole number that it may be", columns[column],
             text);
    return wrong(r, err, what);
}

static int read_real(const struct reader *r, int column, double most, double *value, lg_error *err)
{
    char *end, what[200];
    const char *text = r->field[column];
    *value = strtod(text, &end);
    if (isdigit((unsigned char)*text) && !*end && *value >= 0 && *value <= most) return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no number from 0 to %g", columns[column], text,
             most);
    return wrong(r, err, what);
}

static int read_word(const struct reader *r, int column, const char *no, const char *yes,
                     int *value, lg_error *err)
{
    char what[200];
    *value = strcmp(r->field[column], yes) == 0;
    if (*value || strcmp(r->field[column], no) == 0) return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", neither %s nor %s", columns[column],
             r->field[column], no, yes);
    return wrong(r, err, what);
}

/* Whose row it is: its run and its cell. */
static int find_cell(const struct reader *r, struct lg__row *row, lg_error *err)
{
    const struct lg__study *s = r->s;
    int64_t seed, length, sparsity;
    int predicted, e = read_int(r, SEED, INT64_MIN, &seed, err);
    char what[300];
    if (!e) e = read_int(r, LENGTH, 1, &length, err);
    if (!e) e = read_int(r, SPARSITY, 0, &sparsity, err);
    if (!e) e = read_word(r, IDS, "given", "predicted", &predicted, err);
    if (e) return e;
    for (row->run = 0; row->run < s->plan.count; row->run++) {
        const struct lg__study_run *run = &s->runs[row->run];
        if (run->seed == seed && strcmp(run->method, r->field[METHOD]) == 0 &&
            strcmp(run->train, r->field[TRAIN]) == 0)
            break;
    }
    snprintf(what, sizeof what,
             "method \"%.60s\", train \"%.60s\", seed %lld is no run of the experiment's file",
             r->field[METHOD], r->field[TRAIN], (long long)seed);
    if (row->run == s->plan.count) return wrong(r, err, what);
    const struct lg__study_variant *v = lg__study_variant_of(s, row->run);
    for (row->cell = 0; row->cell < v->count; row->cell++) {
        const struct lg__study_cell *c = &v->cells[row->cell];
        if (c->length == length && c->sparsity == sparsity && c->predicted == predicted) return 0;
    }
    snprintf(what, sizeof what,
             "length %lld, sparsity %lld, IDs %s is no cell that the experiment's file asks for",
             (long long)length, (long long)sparsity, r->field[IDS]);
    return wrong(r, err, what);
}

/* What every row of a run has in common with the file. */
static int check_common(const struct reader *r, const struct lg__row *row, lg_error *err)
{
    const struct lg__study_variant *v = lg__study_variant_of(r->s, row->run);
    int64_t length, sparsity;
    int e = read_int(r, TRAINED_LENGTH, 0, &length, err);
    if (!e) e = read_int(r, TRAINED_SPARSITY, 0, &sparsity, err);
    if (e) return e;
    if (strcmp(r->field[EXPERIMENT], r->s->o->name) != 0)
        return wrong(r, err, "this is a row of another experiment");
    if (length != v->length || sparsity != v->sparsity || strcmp(r->field[UNIT], v->unit) != 0)
        return wrong(r, err,
                     "it was trained to another length or sparsity than the experiment's file "
                     "says now");
    return 0;
}

static int read_row(const struct reader *r, struct lg__row *row, lg_error *err)
{
    int64_t samples = 0;
    int e = find_cell(r, row, err);
    if (!e) e = check_common(r, row, err);
    if (!e) e = read_word(r, MODE, "generated", "taught", &row->taught, err);
    if (!e) e = read_int(r, SAMPLES, 1, &samples, err);
    if (!e) e = read_real(r, TOKENS, 1e12, &row->tokens, err);
    if (!e) e = read_real(r, EXACT, 1, &row->exact, err);
    if (!e) e = read_real(r, LOW, 1, &row->low, err);
    if (!e) e = read_real(r, HIGH, 1, &row->high, err);
    if (!e) e = read_real(r, TOKEN_ACCURACY, 1, &row->token_accuracy, err);
    row->samples = (int)samples;
    return e;
}

static int by_place(const void *a, const void *b)
{
    const struct lg__row *x = a, *y = b;
    if (x->run != y->run) return x->run - y->run;
    return x->cell != y->cell ? x->cell - y->cell : x->taught - y->taught;
}

static int add_row(struct lg__study *s, const struct lg__row *row, lg_error *err)
{
    size_t size = ((size_t)s->row_count + 1) * sizeof *row;
    int e = size > s->block.size
                ? lg__block_grow(&s->block, 2 * size, s->row_count > 0, "the rows", err)
                : 0;
    if (!e) lg__study_rows(s)[s->row_count++] = *row;
    return e;
}

static int read_all(struct reader *r, lg_error *err)
{
    struct lg__study *s = r->s;
    int e = read_record(r, err);
    for (int i = 0; i < COLUMNS && !e; i++)
        if (strcmp(r->field[i], columns[i]) != 0)
            e = wrong(r, err, "this is not the heading of an experiment's rows");
    while (!e && *r->at) {
        struct lg__row row = {0};
        e = read_record(r, err);
        if (!e) e = read_row(r, &row, err);
        for (int i = s->row_count - 1; i >= 0 && !e; i--) {
            if (by_place(&lg__study_rows(s)[i], &row) == 0)
                e = wrong(r, err, "this cell of this run is there twice");
            if (lg__study_rows(s)[i].run != row.run) break; /* a run's rows are together */
        }
        if (!e) e = add_row(s, &row, err);
    }
    return e;
}

/* Rows of one cell that are not beside each other. */
static int check_twice(const struct lg__study *s, lg_error *err)
{
    const struct lg__row *rows = lg__study_rows(s);
    for (int i = 1; i < s->row_count; i++)
        if (by_place(&rows[i - 1], &rows[i]) == 0)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has a cell of the run %.100s twice; " REMEDY, s->evals,
                            s->plan.runs[rows[i].run].name);
    return 0;
}

int lg__results_read(struct lg__study *s, lg_error *err)
{
    s->row_count = 0;
    char *text;
    struct stat st;
    int e = lg__run_read_file(s->evals, &text, err);
    if (e || !text) return e;
    struct reader r = {.s = s, .at = text, .line = 1};
    int whole = stat(s->evals, &st) == 0 && (size_t)st.st_size == strlen(text);
    e = read_all(&r, err);
    r.record = r.line;
    if (!e && !whole) e = wrong(&r, err, "there is a byte 0 in it");
    free(text);
    if (!e && s->row_count)
        qsort(s->block.data, (size_t)s->row_count, sizeof(struct lg__row), by_place);
    if (!e) e = check_twice(s, err);
    if (e) s->row_count = 0;
    return e;
}

int lg__results_put(struct lg__study *s, int run, const struct lg__row *rows, int count,
                    lg_error *err)
{
    int kept = 0, e = 0;
    for (int i = 0; i < s->row_count; i++)
        if (lg__study_rows(s)[i].run != run) lg__study_rows(s)[kept++] = lg__study_rows(s)[i];
    s->row_count = kept;
    for (int i = 0; i < count && !e; i++) e = add_row(s, &rows[i], err);
    if (s->row_count) qsort(s->block.data, (size_t)s->row_count, sizeof(struct lg__row), by_place);
    return e;
}
