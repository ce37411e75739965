/* bridge.c: the errors of a transformer, from an experiment's rows, beside those of the idealised class on
 * the same ensembles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/stats.h"
#include "lengthen_theory.h"

enum { MOST_FIELDS = 32 };

struct reading {
    const lg_theory_bridge_options *o;
    lg_theory_bridge *to;
};

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the points; end other programs");
}

/* ---- Files of rows -------------------------------------------------------------------------- */

/* Calls take for each row with the fields of the columns that are asked for. */
static int read_rows(const char *file, const char *const *wanted, int count,
                     int (*take)(void *context, char *const *field, lg_error *err), void *context,
                     lg_error *err)
{
    struct lg__csv csv;
    char *of[MOST_FIELDS];
    int place[MOST_FIELDS], n = 0, e = lg__csv_open(&csv, file, 0, err);
    if (!e && (e = lg__csv_next(&csv, err)) == 0)
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: it is empty; check the name", file);
    if (e > 0) n = csv.count;
    for (int i = 0; i < count && e > 0; i++)
        if ((place[i] = lg__csv_column(&csv, wanted[i])) < 0)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%s:1: there is no column \"%s\"; is it the right file?", file, wanted[i]);
    while (e > 0 && (e = lg__csv_next(&csv, err)) > 0) {
        if (csv.count != n) {
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%s:%d: the heading has %d columns, this line other ones", file, csv.line,
                         n);
            break;
        }
        for (int i = 0; i < count; i++) of[i] = csv.field[place[i]];
        int bad = take(context, of, err);
        if (bad) e = bad;
    }
    lg__csv_close(&csv);
    return e;
}

static lg_theory_point *point_of(struct reading *b, const char *name, int k)
{
    for (int i = 0; i < b->to->count; i++)
        if (b->to->points[i].k == k && strcmp(b->to->points[i].name, name) == 0)
            return &b->to->points[i];
    lg_theory_point *points = realloc(b->to->points, (size_t)(b->to->count + 1) * sizeof *points);
    if (!points) return NULL;
    b->to->points = points;
    points[b->to->count] = (lg_theory_point){.k = k};
    snprintf(points[b->to->count].name, LG_THEORY_NAME, "%s", name);
    return &points[b->to->count++];
}

/* ---- The transformer ------------------------------------------------------------------------ */

/* Columns of an experiment's measurements.csv. */
enum { METHOD, TRAIN, LENGTH, SAMPLES, VALUE, KIND, SEED, TRAINED, COLUMNS };

/* The k and the name of a row of exact answers; 0: it is none, or not wanted. The name has
 * whatever else varies, "a=1;b=2" in the file, but what is asked for: other runs are other points. */
static int name_eval(const struct reading *b, char *const *field, char name[LG_THEORY_NAME])
{
    int k = 0, wanted = !b->o->where;
    if (strcmp(field[KIND], "exact") != 0) return 0;
    snprintf(name, LG_THEORY_NAME, "transformer: %s", field[METHOD]);
    for (const char *at = field[TRAIN]; *at;) {
        int n = (int)strcspn(at, ";");
        size_t used = strlen(name);
        if (strncmp(at, "task.k=", 7) == 0) k = atoi(at + 7);
        if (b->o->where && strlen(b->o->where) == (size_t)n &&
            strncmp(at, b->o->where, (size_t)n) == 0)
            wanted = 1;
        else if (strncmp(at, "task.k=", 7) != 0)
            snprintf(name + used, LG_THEORY_NAME - used, ", %.*s", n, at);
        at += n + (at[n] == ';');
    }
    return wanted ? k : 0;
}

/* Under 99% at the longest length of training. */
static int take_learned(void *context, char *const *field, lg_error *err)
{
    struct reading *b = context;
    char name[LG_THEORY_NAME];
    int k = name_eval(b, field, name);
    if (!k || atoi(field[LENGTH]) != atoi(field[TRAINED]) || atof(field[VALUE]) >= 0.99) return 0;
    lg_theory_unlearned *failed =
        realloc(b->to->unlearned, (size_t)(b->to->unlearned_count + 1) * sizeof *failed);
    if (!failed) return no_memory(err);
    b->to->unlearned = failed;
    failed += b->to->unlearned_count++;
    *failed = (lg_theory_unlearned){.k = k,
                                    .seed = atoi(field[SEED]),
                                    .length = atoi(field[LENGTH]),
                                    .exact = atof(field[VALUE])};
    snprintf(failed->name, LG_THEORY_NAME, "%s", name);
    return 0;
}

static int take_eval(void *context, char *const *field, lg_error *err)
{
    struct reading *b = context;
    char name[LG_THEORY_NAME];
    int k = name_eval(b, field, name);
    if (!k || atoi(field[LENGTH]) != b->o->length) return 0;
    lg_theory_point *p = point_of(b, name, k);
    if (!p) return no_memory(err);
    int64_t samples = atoll(field[SAMPLES]);
    p->samples += samples;
    p->wrong += samples - llround(atof(field[VALUE]) * (double)samples);
    return 0;
}

static void settle_points(lg_theory_bridge *to)
{
    for (int i = 0; i < to->count; i++) {
        lg_theory_point *p = &to->points[i];
        if (!p->samples) continue;
        p->error = (double)p->wrong / (double)p->samples;
        lg__wilson((double)p->wrong, (double)p->samples, &p->low, &p->high);
        if (!p->wrong) p->low = 0;
    }
}

/* ---- The class ------------------------------------------------------------------------------ */

struct class_rows {
    struct reading *b;
    lg_theory_row *rows;
    int count;
};

static int take_class(void *context, char *const *field, lg_error *err)
{
    struct class_rows *c = context;
    if (atoi(field[3]) != c->b->o->length) return 0;
    lg_theory_row *rows = realloc(c->rows, (size_t)(c->count + 1) * sizeof *rows);
    char *variant = strdup(field[0]);
    if (rows) c->rows = rows;
    if (!rows || !variant) {
        free(variant);
        return no_memory(err);
    }
    rows[c->count++] = (lg_theory_row){.variant = variant,
                                       .k = atoi(field[1]),
                                       .seed = atoll(field[2]),
                                       .length = atoi(field[3]),
                                       .error = atof(field[4]),
                                       .error_seen = NAN,
                                       .error_missing = NAN};
    return 0;
}

static int k_of(const struct class_rows *c, const char *variant)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->rows[i].variant, variant) == 0) return c->rows[i].k;
    return 0;
}

/* NAME=ROWS.csv: points named NAME and what the variant says besides k. */
static int add_class(struct reading *b, const char *text, lg_error *err)
{
    static const char *const wanted[] = {"variant", "k", "seed", "length", "error"};
    struct class_rows c = {.b = b};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return lg__fail(err, LG_ERROR_ARGUMENT, "--class is \"%s\"; take NAME=ROWS.csv", text);
    int code = read_rows(equals + 1, wanted, 5, take_class, &c, err);
    lg_theory_cell *cells = calloc((size_t)c.count + 1, sizeof *cells);
    if (!cells && !code) code = no_memory(err);
    int n = code ? 0 : lg_theory_cells(c.rows, c.count, cells);
    for (int i = 0; i < n; i++) {
        char name[LG_THEORY_NAME];
        const char *rest = cells[i].variant;
        if (strncmp(rest, "k = ", 4) == 0) rest += strcspn(rest, ",");
        if (strcmp(rest, "fit") == 0) rest = "";
        snprintf(name, sizeof name, "class: %.*s%.70s", (int)(equals - text), text, rest);
        lg_theory_point *p = point_of(b, name, k_of(&c, cells[i].variant));
        if (!p) {
            code = no_memory(err);
            break;
        }
        p->error = cells[i].error;
        p->low = cells[i].low;
        p->high = cells[i].high > 1 ? 1 : cells[i].high;
    }
    for (int i = 0; i < c.count; i++) free((char *)(uintptr_t)c.rows[i].variant);
    free(c.rows);
    free(cells);
    if (!code && !n)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s has no row of length %d; give another --length",
                        equals + 1, b->o->length);
    return code;
}

int lg_theory_bridge_read(const lg_theory_bridge_options *o, lg_theory_bridge *to, lg_error *err)
{
    static const char *const wanted[COLUMNS] = {"method", "train", "length", "samples",
                                                "value",  "kind",  "seed",   "trained_length"};
    struct reading b = {o, to};
    int e = 0;
    *to = (lg_theory_bridge){.length = o->length};
    for (int i = 0; i < o->class_count && !e; i++) e = add_class(&b, o->classes[i], err);
    int class_points = to->count;
    if (!e) e = read_rows(o->rows, wanted, COLUMNS, take_learned, &b, err);
    if (!e) e = read_rows(o->rows, wanted, COLUMNS, take_eval, &b, err);
    if (!e && to->count == class_points)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s has no row of length %d with task.k%s%s; give another --length%s", o->rows,
                     o->length, o->where ? " and " : "", o->where ? o->where : "",
                     o->where ? " or --where" : "");
    if (!e) settle_points(to);
    return e;
}

void lg_theory_bridge_clear(lg_theory_bridge *b)
{
    free(b->points);
    free(b->unlearned);
    *b = (lg_theory_bridge){0};
}
