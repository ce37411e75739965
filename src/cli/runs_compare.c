/* runs_compare.c: `lengthen runs compare`: where configs differ, and what that did. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/runs.h"
#include "cli/show.h"
#include "cli/table.h"

/* One of the runs. */
struct side {
    const lg_store_run *r;
    struct lg_cli_cells cells; /* at its last evaluation */
    lg_run_step last;
    int steps; /* 1: there is a last one */
};

static int keep_last(void *context, const lg_run_step *s)
{
    struct side *side = context;
    side->last = *s;
    side->steps = 1;
    return 1;
}

/* Of the cells with a context, those that have that of training: others are not comparable. */
static int read_side(struct lg_cli_asked *a, struct side *s)
{
    int n = 0, e = lg_cli_cells_read(a, s->r->number, -1, &s->cells);
    if (!e) e = lg_store_steps(a->store, s->r->number, keep_last, s, &a->err);
    lg_cli_cells_predicted(&s->cells);
    for (int i = 0; i < s->cells.count; i++) {
        const lg_cell *c = &s->cells.cells[i];
        if (!c->context || c->context == c->trained_length) s->cells.cells[n++] = *c;
    }
    s->cells.count = n;
    return e;
}

/* ---- Configs ---------------------------------------------------------------------------- */

/* Where the keys go: into a table, or as JSON. */
struct keys {
    struct lg_cli_table *table; /* NULL: JSON */
    int runs, found;
};

/* Whether runs with different values have the same short one. */
static int look_alike(const char *const *values, int n)
{
    char a[32], b[32];
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            if (values[i] && values[j] && strcmp(values[i], values[j]) != 0 &&
                strcmp(lg_cli_short_value(values[i], a), lg_cli_short_value(values[j], b)) == 0)
                return 1;
    return 0;
}

static void add_key(void *context, const char *key, const char *const *values)
{
    struct keys *k = context;
    int whole = look_alike(values, k->runs);
    k->found++;
    if (!k->table) {
        printf("{\"key\":");
        lg_cli_json(stdout, key);
        printf(",\"values\":[");
    } else {
        lg_cli_table_add(k->table, "%s", key);
    }
    for (int i = 0; i < k->runs; i++) {
        const char *value = values[i];
        char text[32];
        if (!k->table) {
            printf("%s", i ? "," : "");
            lg_cli_json(stdout, value);
            continue;
        }
        if (value && !whole) value = lg_cli_short_value(value, text);
        lg_cli_table_add(k->table, "%s", !value ? "-" : *value ? value : "\"\"");
    }
    if (!k->table) printf("]}\n");
}

/* How many keys differ, or a negative code. */
static int compare_keys(struct lg_cli_asked *a, const struct side *s, int n, struct lg_cli_table *t)
{
    struct keys k = {.table = t, .runs = n};
    int64_t *numbers = calloc((size_t)n, sizeof *numbers);
    if (!numbers) return lg_cli_no_memory(&a->err);
    for (int i = 0; i < n; i++) numbers[i] = s[i].r->number;
    int e = lg_store_differences(a->store, numbers, n, add_key, &k, &a->err);
    free(numbers);
    return e ? e : k.found;
}

/* ---- Cells ------------------------------------------------------------------------------ */

/* A row: a place of some run, and what is compared there. */
struct row {
    const lg_cell *cell;
    const lg_kind *kind;
};

static int order(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return lg_cli_place_order(a->cell, b->cell);
}

/* Those of every run, sorted, each once. */
static struct row *list_rows(const struct side *s, int n, const struct lg_cli_measures *m,
                             int *count)
{
    int all = 0, used = 0;
    for (int i = 0; i < n; i++) all += s[i].cells.count;
    struct row *rows = calloc((size_t)all * LG_CELL_VALUES + 1, sizeof *rows);
    if (!rows) return NULL;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].cells.count; k++) {
            const lg_cell *c = &s[i].cells.cells[k];
            const lg_kind *kind;
            for (int j = 0; (kind = lg_cli_measures_at(m, lg_cell_form(c), j)); j++)
                rows[used++] = (struct row){c, kind};
        }
    qsort(rows, (size_t)used, sizeof *rows, order);
    *count = 0;
    for (int i = 0; i < used; i++)
        if (!i || order(&rows[i], &rows[*count - 1]) != 0) rows[(*count)++] = rows[i];
    return rows;
}

/* *cell: where it is from. NULL: the run has none. */
static const lg_value *value_of(const struct side *s, const struct row *row, const lg_cell **cell)
{
    for (int i = 0; i < s->cells.count; i++) {
        *cell = &s->cells.cells[i];
        const lg_value *v = lg_cell_get(*cell, row->kind->name);
        if (v && lg_cli_place_order(*cell, row->cell) == 0) return v;
    }
    return NULL;
}

static void add_row(struct lg_cli_table *t, const struct side *s, int n, const struct row *row)
{
    char place[400], text[32], range[64];
    const lg_cell *cell;
    lg_cli_place_words(row->cell, place);
    lg_cli_table_add(t, "%s at %s", row->kind->label, place);
    for (int i = 0; i < n; i++) {
        const lg_value *v = value_of(&s[i], row, &cell);
        if (!v || isnan(v->value))
            lg_cli_table_add(t, "-");
        else if (isnan(v->low))
            lg_cli_table_add(t, "%s", lg_cli_value_text(v->kind, v->value, text));
        else
            lg_cli_table_add(t, "%s (%s)", lg_cli_value_text(v->kind, v->value, text),
                             lg_cli_range_text(v->kind, v->low, v->high, range));
    }
}

static void json_row(const struct side *s, int n, const struct row *row)
{
    const lg_cell *cell;
    putchar('{');
    lg_cli_json_place(row->cell);
    printf(",\"kind\":\"%s\",\"cells\":[", row->kind->name);
    for (int i = 0; i < n; i++) {
        const lg_value *v = value_of(&s[i], row, &cell);
        printf("%s%s", i ? "," : "", v ? "" : "null");
        if (!v) continue;
        printf("{\"step\":%lld,\"source\":\"%s\",\"samples\":%d", (long long)cell->step,
               cell->predicted ? "predicted" : "given", v->samples);
        lg_cli_json_value(v->kind, v);
        putchar('}');
    }
    printf("]}\n");
}

/* ---- The whole -------------------------------------------------------------------------- */

static void json_ends(const struct side *s, int n)
{
    printf("{\"final\":[");
    for (int i = 0; i < n; i++) {
        printf("%s{\"step\":%lld", i ? "," : "", (long long)s[i].r->step);
        lg_cli_json_number("loss", s[i].steps ? s[i].last.loss : NAN);
        lg_cli_json_number("accuracy", s[i].steps ? s[i].last.accuracy : NAN);
        printf("}");
    }
    printf("]}\n");
}

static int print_json(struct lg_cli_asked *a, const struct side *s, int n, const struct row *rows,
                      int count)
{
    printf("{\"runs\":[");
    for (int i = 0; i < n; i++) printf("%s%lld", i ? "," : "", (long long)s[i].r->number);
    printf("],\"names\":[");
    for (int i = 0; i < n; i++) {
        printf("%s", i ? "," : "");
        lg_cli_json(stdout, lg_cli_run_name(s[i].r));
    }
    printf("]}\n");
    int found = compare_keys(a, s, n, NULL);
    if (found < 0) return found;
    for (int i = 0; i < count; i++) json_row(s, n, &rows[i]);
    json_ends(s, n);
    return 0;
}

static void add_ends(struct lg_cli_table *t, const struct side *s, int n)
{
    lg_cli_table_add(t, "last loss");
    for (int i = 0; i < n; i++)
        if (s[i].steps)
            lg_cli_table_add(t, "%.4f", s[i].last.loss);
        else
            lg_cli_table_add(t, "-");
    lg_cli_table_add(t, "right in training");
    for (int i = 0; i < n; i++)
        if (s[i].steps)
            lg_cli_table_add(t, "%.1f%%", 100 * s[i].last.accuracy);
        else
            lg_cli_table_add(t, "-");
}

static void add_blank(struct lg_cli_table *t)
{
    for (int i = 0; i < t->columns; i++) lg_cli_table_add(t, "%s", "");
}

static int print_table(struct lg_cli_asked *a, const struct side *s, int n, const struct row *rows,
                       int count)
{
    struct lg_cli_table t = {.columns = n + 1, .left = 1};
    lg_cli_table_add(&t, "%s", "");
    for (int i = 0; i < n; i++)
        lg_cli_table_add(&t, "%lld, %s", (long long)s[i].r->number, lg_cli_run_name(s[i].r));
    lg_cli_table_add(&t, "state");
    for (int i = 0; i < n; i++)
        lg_cli_table_add(&t, "%s, %lld/%lld", s[i].r->state, (long long)s[i].r->step,
                         (long long)s[i].r->steps);
    add_blank(&t);
    int found = compare_keys(a, s, n, &t);
    if (!found) {
        lg_cli_table_add(&t, "(the same config)");
        for (int i = 0; i < n; i++) lg_cli_table_add(&t, "%s", "");
    }
    add_blank(&t);
    for (int i = 0; i < count; i++) add_row(&t, s, n, &rows[i]);
    if (count) add_blank(&t);
    add_ends(&t, s, n);
    int e = found < 0 ? found : t.lost ? lg_cli_no_memory(&a->err) : 0;
    if (!e) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    if (!e && count)
        printf("\nIn brackets: the 95%% interval. With predicted IDs if there are any%s%s.\n",
               rows->kind->unit == LG_UNIT_SHARE ? "" : "; in ",
               rows->kind->unit == LG_UNIT_SHARE ? "" : lg_cli_unit_text(rows->kind));
    lg_cli_table_clear(&t);
    return e;
}

/* ---- The figure ------------------------------------------------------------------------- */

/* One line per run, and what else differs. */
static int draw(struct lg_cli_asked *a, const struct side *s, int n)
{
    struct lg_cli_curves curves = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].cells.count; k++)
            lg_cli_curves_add_cell(&curves, lg_cli_run_name(s[i].r), &s[i].cells.cells[k],
                                   &a->measures);
    if (!curves.count && !curves.lost) {
        free(curves.points);
        return lg_cli_wrong("runs", "none of these runs was evaluated so, and there is nothing to "
                                    "draw; see lengthen eval");
    }
    return lg_cli_curves_draw(&curves, "Runs compared", "", "runs", a->plot, 0);
}

int lg_cli_runs_compare(struct lg_cli_asked *a)
{
    int n, count = 0, code = LG_EXIT_DONE, e = a->plot ? lg_figure_check(a->plot, &a->err) : 0;
    if (e) return -1;
    struct lg_cli_run *runs = lg_cli_runs_find(a, &n);
    if (!runs) return -1;
    if (n < 2) {
        lg_cli_runs_free(runs, n);
        return lg_cli_wrong("runs", "\"%s\" and \"%s\" are the same run; name another one",
                            a->names[0], a->names[1]);
    }
    struct side *s = calloc((size_t)n, sizeof *s);
    if (!s) e = lg_cli_no_memory(&a->err);
    for (int i = 0; i < n && !e; i++) {
        s[i].r = &runs[i].r;
        e = read_side(a, &s[i]);
    }
    struct row *rows = e ? NULL : list_rows(s, n, &a->measures, &count);
    if (!e && !rows) e = lg_cli_no_memory(&a->err);
    if (!e && a->json)
        e = print_json(a, s, n, rows, count);
    else if (!e)
        e = print_table(a, s, n, rows, count);
    if (!e && a->plot) code = draw(a, s, n);
    free(rows);
    for (int i = 0; i < n && s; i++) lg_cli_cells_clear(&s[i].cells);
    free(s);
    lg_cli_runs_free(runs, n);
    return e ? -1 : code;
}
