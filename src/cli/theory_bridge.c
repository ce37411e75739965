/* theory_bridge.c: `lengthen theory bridge`: the errors of a transformer, from an experiment's rows,
 * beside those of the idealised class on the same ensembles: one figure over k. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/theory.h"

static const char words[] =
    "Reconstructed: ensembles, class and coupling (docs/THEORY.md). Class: mean |h - Y|, geometric "
    "mean over seeds, 95% interval. Transformer: share of wrong answers of all seeds together, "
    "95% Wilson interval of answers, not of seeds; none wrong of n is drawn at 1/2n.";

enum { MOST_CLASSES = 16, MOST_FIELDS = 32, NAME = 120 };

/* The error of one model at one k: mean and interval. */
struct point {
    char name[NAME];
    int k;
    int64_t samples, wrong; /* of the transformer, over all seeds */
    double error, low, high;
};

/* A run of the transformer that has not learned its training lengths: it is drawn as those of the
 * class are, and named. */
struct failed {
    char name[NAME];
    int k, seed, length;
    double exact;
};

struct bridge {
    const char *evals, *out, *where, *title, *classes[MOST_CLASSES];
    int class_count, length, json;
    struct point *points;
    struct failed *failed;
    int count, failed_count;
};

/* ---- Files of rows -------------------------------------------------------------------------- */

/* A line of CSV in place: fields, quotes taken off; how many. */
static int split_line(char *line, char *field[MOST_FIELDS])
{
    int n = 0;
    for (char *at = line; n < MOST_FIELDS;) {
        char *to = at;
        field[n++] = at;
        if (*at == '"') {
            for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
                if (*at == '"') at++;
                *to++ = *at;
            }
            at += *at == '"';
        } else {
            while (*at && *at != ',' && *at != '\n') *to++ = *at++;
        }
        char end = *at;
        *to = 0;
        if (end != ',') return n;
        at++;
    }
    return n;
}

/* Calls take for each row with the fields of the wanted columns; an exit code. */
static int read_rows(const char *file, const char *const *wanted, int count,
                     int (*take)(void *context, char *const *field), void *context)
{
    FILE *f = fopen(file, "r");
    char *line = NULL, *field[MOST_FIELDS], *of[MOST_FIELDS];
    size_t room = 0;
    int place[MOST_FIELDS], code = 0, n;
    if (!f || getline(&line, &room, f) < 0) {
        fprintf(stderr, "lengthen theory: %s cannot be read: %s; check the name\n", file,
                errno ? strerror(errno) : "it is empty");
        code = LG_EXIT_FAILED;
    }
    n = code ? 0 : split_line(line, field);
    for (int i = 0; i < count && !code; i++) {
        for (place[i] = 0; place[i] < n && strcmp(field[place[i]], wanted[i]) != 0;) place[i]++;
        if (place[i] == n)
            code = lg_cli_wrong("theory", "%s:1: there is no column \"%s\"; is it the right file?",
                                file, wanted[i]);
    }
    for (int number = 2; !code && getline(&line, &room, f) > 0; number++) {
        if (split_line(line, field) != n)
            code = lg_cli_wrong("theory", "%s:%d: the heading has %d columns, this line other ones",
                                file, number, n);
        for (int i = 0; i < count && !code; i++) of[i] = field[place[i]];
        if (!code && take(context, of)) code = LG_EXIT_FAILED;
    }
    free(line);
    if (f) fclose(f);
    return code;
}

static struct point *point_of(struct bridge *b, const char *name, int k)
{
    for (int i = 0; i < b->count; i++)
        if (b->points[i].k == k && strcmp(b->points[i].name, name) == 0) return &b->points[i];
    struct point *points = realloc(b->points, (size_t)(b->count + 1) * sizeof *points);
    if (!points) return NULL;
    b->points = points;
    points[b->count] = (struct point){.k = k};
    snprintf(points[b->count].name, NAME, "%s", name);
    return &points[b->count++];
}

/* ---- The transformer ------------------------------------------------------------------------ */

/* Columns of evals.csv. */
enum { METHOD, TRAIN, LENGTH, SAMPLES, EXACT, MODE, SEED, TRAINED, EVAL_COLUMNS };

/* The k and the name of a row of generated answers; 0: it is none, or not wanted. The name has
 * whatever else varies, "a=1;b=2" in the file, but what is asked for: other runs are other points. */
static int name_eval(const struct bridge *b, char *const *field, char name[NAME])
{
    int k = 0, wanted = !b->where;
    if (strcmp(field[MODE], "generated") != 0) return 0;
    snprintf(name, NAME, "transformer: %s", field[METHOD]);
    for (const char *at = field[TRAIN]; *at;) {
        int n = (int)strcspn(at, ";");
        size_t used = strlen(name);
        if (strncmp(at, "task.k=", 7) == 0) k = atoi(at + 7);
        if (b->where && strlen(b->where) == (size_t)n && strncmp(at, b->where, (size_t)n) == 0)
            wanted = 1;
        else if (strncmp(at, "task.k=", 7) != 0)
            snprintf(name + used, NAME - used, ", %.*s", n, at);
        at += n + (at[n] == ';');
    }
    return wanted ? k : 0;
}

/* Under 99% at the longest length of training. */
static int take_learned(void *context, char *const *field)
{
    struct bridge *b = context;
    char name[NAME];
    int k = name_eval(b, field, name);
    if (!k || atoi(field[LENGTH]) != atoi(field[TRAINED]) || atof(field[EXACT]) >= 0.99) return 0;
    struct failed *failed = realloc(b->failed, (size_t)(b->failed_count + 1) * sizeof *failed);
    if (!failed) return -1;
    b->failed = failed;
    failed += b->failed_count++;
    *failed = (struct failed){.k = k,
                              .seed = atoi(field[SEED]),
                              .length = atoi(field[LENGTH]),
                              .exact = atof(field[EXACT])};
    snprintf(failed->name, NAME, "%s", name);
    return 0;
}

static int take_eval(void *context, char *const *field)
{
    struct bridge *b = context;
    char name[NAME];
    int k = name_eval(b, field, name);
    if (!k || atoi(field[LENGTH]) != b->length) return 0;
    struct point *p = point_of(b, name, k);
    if (!p) return -1;
    int64_t samples = atoll(field[SAMPLES]);
    p->samples += samples;
    p->wrong += samples - llround(atof(field[EXACT]) * (double)samples);
    return 0;
}

/* Wilson's interval. */
static void settle_points(struct bridge *b)
{
    const double z = 1.959964;
    for (int i = 0; i < b->count; i++) {
        struct point *p = &b->points[i];
        if (!p->samples) continue;
        double n = (double)p->samples, share = (double)p->wrong / n, below = 1 + z * z / n;
        double middle = (share + z * z / (2 * n)) / below;
        double half = z / below * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
        p->error = share;
        p->low = p->wrong ? middle - half : 0;
        p->high = middle + half;
    }
}

/* ---- The class ------------------------------------------------------------------------------ */

struct class_rows {
    struct bridge *b;
    lg_theory_row *rows;
    int count;
};

static int take_class(void *context, char *const *field)
{
    struct class_rows *c = context;
    if (atoi(field[3]) != c->b->length) return 0;
    lg_theory_row *rows = realloc(c->rows, (size_t)(c->count + 1) * sizeof *rows);
    char *variant = strdup(field[0]);
    if (rows) c->rows = rows;
    if (!rows || !variant) {
        free(variant);
        return -1;
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
static int add_class(struct bridge *b, const char *text)
{
    static const char *const wanted[] = {"variant", "k", "seed", "length", "error"};
    struct class_rows c = {.b = b};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return lg_cli_wrong("theory", "--class is \"%s\"; take NAME=ROWS.csv", text);
    int code = read_rows(equals + 1, wanted, 5, take_class, &c);
    lg_theory_cell *cells = calloc((size_t)c.count + 1, sizeof *cells);
    int n = code || !cells ? 0 : lg_theory_cells(c.rows, c.count, cells);
    for (int i = 0; i < n; i++) {
        char name[NAME];
        const char *rest = cells[i].variant;
        if (strncmp(rest, "k = ", 4) == 0) rest += strcspn(rest, ",");
        if (strcmp(rest, "fit") == 0) rest = "";
        snprintf(name, sizeof name, "class: %.*s%.70s", (int)(equals - text), text, rest);
        struct point *p = point_of(b, name, k_of(&c, cells[i].variant));
        if (!p) break;
        p->error = cells[i].error;
        p->low = cells[i].low;
        p->high = cells[i].high > 1 ? 1 : cells[i].high;
    }
    for (int i = 0; i < c.count; i++) free((char *)(uintptr_t)c.rows[i].variant);
    free(c.rows);
    free(cells);
    if (!code && !n)
        return lg_cli_wrong("theory", "%s has no row of length %d; give another --length",
                            equals + 1, b->length);
    return code;
}

/* ---- Shown and drawn ------------------------------------------------------------------------ */

static void show(const struct bridge *b)
{
    struct lg_cli_table t = {.columns = 6, .left = 1};
    static const char *const heading[] = {"error", "k", "mean", "low", "high", "wrong"};
    for (int i = 0; i < 6; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < b->count; i++) {
        const struct point *p = &b->points[i];
        if (b->json) {
            printf("{\"model\":");
            lg_cli_json(stdout, p->name);
            printf(",\"k\":%d,\"length\":%d", p->k, b->length);
            lg_cli_theory_real(stdout, "error", p->error);
            lg_cli_theory_real(stdout, "low", p->low);
            lg_cli_theory_real(stdout, "high", p->high);
            if (p->samples)
                printf(",\"wrong\":%lld,\"samples\":%lld", (long long)p->wrong,
                       (long long)p->samples);
            puts("}");
            continue;
        }
        lg_cli_table_add(&t, "%s", p->name);
        lg_cli_table_add(&t, "%d", p->k);
        lg_cli_table_add(&t, "%.2e", p->error);
        lg_cli_theory_add(&t, p->low);
        lg_cli_theory_add(&t, p->high);
        if (p->samples)
            lg_cli_table_add(&t, "%lld of %lld", (long long)p->wrong, (long long)p->samples);
        else
            lg_cli_table_add(&t, "-");
    }
    if (!b->json) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    for (int i = 0; i < b->failed_count && !b->json; i++) {
        const struct failed *f = &b->failed[i];
        printf("%sNot learned: %s, k = %d, seed %d: %.1f%% exact at %d.\n", i ? "" : "\n", f->name,
               f->k, f->seed, 100 * f->exact, f->length);
    }
}

/* The points of one model as a curve; v has room for all of x, then of y, low and high. No wrong one of
 * n is drawn at 1 / 2n, since the axis has no 0. */
static void fill_curve(const struct bridge *b, const char *name, double *v, lg_curve *c)
{
    *c = (lg_curve){.name = name, .x = v, .y = v + b->count};
    c->low = c->y + b->count;
    c->high = c->low + b->count;
    for (int i = 0; i < b->count; i++) {
        const struct point *p = &b->points[i];
        if (strcmp(p->name, name) != 0) continue;
        double least = p->samples ? 0.5 / (double)p->samples : 0;
        const double of[4] = {p->k, fmax(p->error, least), p->low < least ? least : p->low,
                              p->high};
        for (int j = 0; j < 4; j++) v[j * b->count + c->n] = of[j];
        c->n++;
    }
}

static int draw(const struct bridge *b)
{
    char title[160];
    lg_error err = {0};
    size_t points = (size_t)b->count;
    lg_curve *curves = calloc(points + 1, sizeof *curves);
    double *values = calloc(4 * points * points + 1, sizeof *values);
    int count = 0, e = -1;
    for (int i = 0; i < b->count && curves && values; i++) {
        const char *name = b->points[i].name;
        int known = 0;
        for (int j = 0; j < count && !known; j++) known = strcmp(curves[j].name, name) == 0;
        if (!known) fill_curve(b, name, values + 4 * points * (size_t)count, &curves[count]);
        count += !known;
    }
    snprintf(title, sizeof title, "The idealised class and a transformer at %d tokens", b->length);
    lg_figure f = {.title = b->title ? b->title : title,
                   .x_label = "k, planted words",
                   .y_label = "error",
                   .curves = curves,
                   .count = count,
                   .log_y = 1,
                   .caption = words};
    if (curves && values) e = lg_figure_write(&f, b->out, &err);
    if (e) fprintf(stderr, "lengthen theory: %s\n", *err.text ? err.text : "no memory");
    free(curves);
    free(values);
    return e ? LG_EXIT_FAILED : LG_EXIT_DONE;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int read_options(struct bridge *b, int argc, char **argv)
{
    const struct lg_cli_option rows[] = {
        {"class", .texts = b->classes, .count = &b->class_count, .room = MOST_CLASSES,
         .take = "take fewer"},
        {"length", .whole = &b->length, .least = 1, .most = 1 << 30},
        {"plot", .text = &b->out},
        {"where", .text = &b->where},
        {"title", .text = &b->title},
        {"json", .flag = &b->json},
        {0},
    };
    int code = lg_cli_options("theory bridge", rows, &argc, &argv);
    if (code) return code;
    if (argc != 2)
        return lg_cli_wrong("theory", "bridge takes one file, evals.csv of an experiment");
    b->evals = argv[1];
    if (!b->length) return lg_cli_wrong("theory", "--length is missing; as in 300");
    return 0;
}

int lg_cli_theory_bridge(int argc, char **argv)
{
    static const char *const wanted[EVAL_COLUMNS] = {"method", "train", "length", "samples",
                                                     "exact",  "mode",  "seed",   "trained_length"};
    struct bridge b = {0};
    int code = read_options(&b, argc, argv);
    if (code) return code;
    for (int i = 0; i < b.class_count && !code; i++) code = add_class(&b, b.classes[i]);
    int class_points = b.count;
    if (!code) code = read_rows(b.evals, wanted, EVAL_COLUMNS, take_learned, &b);
    if (!code) code = read_rows(b.evals, wanted, EVAL_COLUMNS, take_eval, &b);
    if (!code && b.count == class_points)
        code = lg_cli_wrong("theory",
                            "%s has no row of length %d with task.k%s%s; give another --length%s",
                            b.evals, b.length, b.where ? " and " : "", b.where ? b.where : "",
                            b.where ? " or --where" : "");
    if (!code) {
        settle_points(&b);
        show(&b);
        if (b.out) code = draw(&b);
    }
    free(b.points);
    free(b.failed);
    return code;
}
