/* results.c: the rows of an experiment as a file, evals.csv or losses.csv. Read as RFC 4180 has it;
 * what is not exactly a row of this experiment is refused with its line, so that nothing is ever
 * written over it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "study/results.h"
#include "base/files.h"

enum { EXPERIMENT, METHOD, TRAIN, SEED };

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the rows; end other programs");
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* In quotes where it must be, those inside doubled. */
void lg__results_put_text(lg_buffer *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        lg_buffer_put(to, text);
        return;
    }
    lg_buffer_put(to, "\"");
    for (; *text; text++) {
        if (*text == '"') lg_buffer_put(to, "\"");
        lg_buffer_add(to, text, 1);
    }
    lg_buffer_put(to, "\"");
}

void lg__results_put_run(lg_buffer *to, const struct lg__study *s, int run)
{
    const struct lg__study_run *r = &s->runs[run];
    const char *const words[] = {s->o->name, r->method, r->train};
    for (int i = 0; i < 3; i++) {
        lg__results_put_text(to, words[i]);
        lg_buffer_put(to, ",");
    }
    lg_buffer_print(to, "%lld", (long long)r->seed);
}

static const struct lg__results_form *form_of(const struct lg__study *s)
{
    return lg__study_is_text(s) ? &lg__results_losses : &lg__results_answers;
}

int lg__results_write(const struct lg__study *s, lg_error *err)
{
    lg_buffer b = {0};
    const struct lg__results_form *form = form_of(s);
    for (int i = 0; i < form->count; i++)
        lg_buffer_print(&b, "%s%c", form->columns[i], i + 1 < form->count ? ',' : '\n');
    for (int i = 0; i < s->row_count; i += form->modes) form->put(&b, s, &lg__study_rows(s)[i]);
    char *text = lg_buffer_take(&b, NULL);
    int e = text ? lg__file_write(s->evals, text, err) : no_memory(err);
    free(text);
    return e;
}

/* ---- Reading ------------------------------------------------------------------------------- */

struct reader {
    struct lg__results_line l;
    const struct lg__results_form *form;
    char *at; /* the rest of the text; fields are unquoted in their place */
    int line; /* of the next record */
};

#define REMEDY "put it right, or move the file away and reproduce anew"

int lg__results_wrong(const struct lg__results_line *l, lg_error *err, const char *what)
{
    lg__fail(err, LG_ERROR_ARGUMENT, "%s; " REMEDY, what);
    lg__error_place(err, l->s->evals, l->number);
    return LG_ERROR_ARGUMENT;
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
        if (*from++ != '"') return lg__results_wrong(&r->l, err, "a quote is not closed");
    } else {
        while (*from && !strchr(",\r\n\"", *from)) *to++ = *from++;
    }
    if (from[0] == '\r' && from[1] == '\n') from++;
    *end = *from;
    if (*end != ',' && *end != '\n')
        return lg__results_wrong(&r->l, err, "a field or the line is not ended");
    *to = 0;
    r->at = from + 1;
    return 0;
}

static int read_record(struct reader *r, lg_error *err)
{
    char end = ',', what[100];
    int n = 0, e = 0;
    r->l.number = r->line;
    for (; end == ',' && !e; n++) {
        char *field;
        e = read_field(r, &field, &end, err);
        if (n < r->form->count) r->l.field[n] = field;
    }
    r->line++;
    if (e || n == r->form->count) return e;
    snprintf(what, sizeof what, "this is not a row of %d fields", r->form->count);
    return lg__results_wrong(&r->l, err, what);
}

int lg__results_int(const struct lg__results_line *l, int column, int64_t least, int64_t *value,
                    lg_error *err)
{
    char *end, what[200];
    const char *text = l->field[column];
    errno = 0;
    *value = strtoll(text, &end, 10);
    if ((isdigit((unsigned char)*text) || *text == '-') && !*end && !errno && *value >= least &&
        (column == SEED || *value <= 1000000000))
        return 0;
    snprintf(what, sizeof what, "%s is \"%.60s\", no whole number that it may be",
             l->columns[column], text);
    return lg__results_wrong(l, err, what);
}

int lg__results_run(const struct lg__results_line *l, int *run, lg_error *err)
{
    const struct lg__study *s = l->s;
    int64_t seed;
    char what[300];
    if (strcmp(l->field[EXPERIMENT], s->o->name) != 0)
        return lg__results_wrong(l, err, "this is a row of another experiment");
    int e = lg__results_int(l, SEED, INT64_MIN, &seed, err);
    if (e) return e;
    for (*run = 0; *run < s->plan.count; ++*run) {
        const struct lg__study_run *r = &s->runs[*run];
        if (r->seed == seed && strcmp(r->method, l->field[METHOD]) == 0 &&
            strcmp(r->train, l->field[TRAIN]) == 0)
            return 0;
    }
    snprintf(what, sizeof what,
             "method \"%.60s\", train \"%.60s\", seed %lld is no run of the experiment's file",
             l->field[METHOD], l->field[TRAIN], (long long)seed);
    return lg__results_wrong(l, err, what);
}

static int by_place(const void *a, const void *b)
{
    const struct lg__row *x = a, *y = b;
    if (x->run != y->run) return x->run - y->run;
    return x->cell != y->cell ? x->cell - y->cell : x->mode - y->mode;
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
    struct lg__study *s = r->l.s;
    int e = read_record(r, err);
    for (int i = 0; i < r->form->count && !e; i++)
        if (strcmp(r->l.field[i], r->form->columns[i]) != 0)
            e = lg__results_wrong(&r->l, err, "this is not the heading of an experiment's rows");
    while (!e && *r->at) {
        struct lg__row rows[LG__MODES_TEXTS] = {{0}};
        e = read_record(r, err);
        if (!e) e = r->form->read(&r->l, rows, err);
        for (int i = s->row_count - 1; i >= 0 && !e; i--) {
            if (by_place(&lg__study_rows(s)[i], rows) == 0)
                e = lg__results_wrong(&r->l, err, "this cell of this run is there twice");
            if (lg__study_rows(s)[i].run != rows->run) break; /* a run's rows are together */
        }
        for (int i = 0; i < r->form->modes && !e; i++) e = add_row(s, &rows[i], err);
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
    int e = lg__file_read(s->evals, &text, err);
    if (e || !text) return e;
    struct reader r = {.form = form_of(s), .at = text, .line = 1};
    r.l = (struct lg__results_line){.s = s, .columns = r.form->columns};
    int whole = stat(s->evals, &st) == 0 && (size_t)st.st_size == strlen(text);
    e = read_all(&r, err);
    r.l.number = r.line;
    if (!e && !whole) e = lg__results_wrong(&r.l, err, "there is a byte 0 in it");
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
