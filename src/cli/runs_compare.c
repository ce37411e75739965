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
    const char *name; /* "3, parity" */
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

/* Puts the cells of its last evaluation to those of the others. */
static int read_side(struct lg_cli_asked *a, struct side *s, struct lg_cli_cells *cells)
{
    char name[300];
    int before = cells->count;
    snprintf(name, sizeof name, "%lld, %.250s", (long long)s->r->number, lg_cli_run_name(s->r));
    cells->of = s->name = lg_cli_intern(name);
    int e = lg_cli_cells_read(a, s->r->number, -1, cells);
    if (!e) e = lg_store_steps(a->store, s->r->number, keep_last, s, &a->err);
    lg_cli_cells_compare(cells, before);
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

/* What is compared: a kind at a place, in the cells of all runs. */
struct row {
    const struct side *s;
    int n;
    const struct lg_cli_cells *cells;
    const lg_cell *place;
    const lg_kind *kind;
};

static void add_row(struct lg_cli_table *t, const struct row *row)
{
    char place[400], text[32], range[64];
    lg_cli_place_words(row->place, place);
    lg_cli_table_add(t, "%s at %s", row->kind->label, place);
    for (int i = 0; i < row->n; i++) {
        const lg_value *v =
            lg_cli_cells_find(row->cells, row->s[i].name, -1, row->place, row->kind, NULL);
        int there = v && !isnan(v->low);
        lg_cli_value_text(row->kind, v ? v->value : NAN, text);
        if (there) lg_cli_range_text(row->kind, v->low, v->high, range);
        lg_cli_table_add(t, "%s%s%s%s", text, there ? " (" : "", there ? range : "",
                         there ? ")" : "");
    }
}

static void put_row(struct lg_cli_record *r, const void *data)
{
    const struct row *row = data;
    lg_cli_put_place(r, row->place);
    lg_cli_put_word(r, "kind", row->kind->name);
    lg_cli_put_open(r, "cells", '[');
    for (int i = 0; i < row->n; i++) {
        const lg_cell *c;
        const lg_value *v =
            lg_cli_cells_find(row->cells, row->s[i].name, -1, row->place, row->kind, &c);
        if (!v) {
            lg_cli_put_text(r, NULL, NULL);
            continue;
        }
        lg_cli_put_open(r, NULL, '{');
        lg_cli_put_int(r, "step", c->step);
        lg_cli_put_word(r, "source", c->predicted ? "predicted" : "given");
        lg_cli_put_int(r, "samples", v->samples);
        lg_cli_put_value(r, v->kind, v);
        lg_cli_put_close(r, '}');
    }
    lg_cli_put_close(r, ']');
}

/* The rows, into a table or (NULL) as JSON; how many there are, or a negative code. */
static int compare_cells(struct lg_cli_asked *a, const struct side *s, int n,
                         const struct lg_cli_cells *cells, struct lg_cli_table *t)
{
    struct lg_cli_record json = {.form = LG_CLI_JSON};
    const lg_cell **place = calloc((size_t)cells->count + 1, sizeof(const lg_cell *));
    if (!place) return lg_cli_no_memory(&a->err);
    int places = lg_cli_cells_places(cells, place), rows = 0;
    for (int i = 0; i < places; i++) {
        struct row row = {s, n, cells, place[i], NULL};
        for (int k = 0; (row.kind = lg_cli_measures_at(&a->measures, lg_cell_form(place[i]), k));
             k++, rows++)
            if (t)
                add_row(t, &row);
            else
                lg_cli_record_print(&json, put_row, &row);
    }
    free(place);
    return rows;
}

/* ---- The whole -------------------------------------------------------------------------- */

static int print_json(struct lg_cli_asked *a, const struct side *s, int n,
                      const struct lg_cli_cells *cells)
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
    if (found >= 0) found = compare_cells(a, s, n, cells, NULL);
    if (found < 0) return found;
    printf("{\"final\":[");
    for (int i = 0; i < n; i++) {
        printf("%s{\"step\":%lld", i ? "," : "", (long long)s[i].r->step);
        lg_cli_json_number("loss", s[i].steps ? s[i].last.loss : NAN);
        lg_cli_json_number("accuracy", s[i].steps ? s[i].last.accuracy : NAN);
        printf("}");
    }
    printf("]}\n");
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

static void add_blank(struct lg_cli_table *t, const char *first)
{
    for (int i = 0; i < t->columns; i++) lg_cli_table_add(t, "%s", i ? "" : first);
}

static int print_table(struct lg_cli_asked *a, const struct side *s, int n,
                       const struct lg_cli_cells *cells)
{
    struct lg_cli_table t = {.columns = n + 1, .left = 1};
    lg_cli_table_add(&t, "%s", "");
    for (int i = 0; i < n; i++) lg_cli_table_add(&t, "%s", s[i].name);
    lg_cli_table_add(&t, "state");
    for (int i = 0; i < n; i++)
        lg_cli_table_add(&t, "%s, %lld/%lld", s[i].r->state, (long long)s[i].r->step,
                         (long long)s[i].r->steps);
    add_blank(&t, "");
    int e = compare_keys(a, s, n, &t), rows = 0;
    if (!e) add_blank(&t, "(the same config)");
    add_blank(&t, "");
    if (e >= 0) e = rows = compare_cells(a, s, n, cells, &t);
    if (rows > 0) add_blank(&t, "");
    add_ends(&t, s, n);
    if (e >= 0 && t.lost) e = lg_cli_no_memory(&a->err);
    if (e >= 0) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    if (e > 0)
        puts("\nIn brackets the 95% interval; losses in nats per token; answers with predicted IDs "
             "if there\nare any.");
    lg_cli_table_clear(&t);
    return e < 0 ? e : 0;
}

/* An exit code, or -1. */
static int compare(struct lg_cli_asked *a, struct side *s, int n, struct lg_cli_cells *cells)
{
    int e = 0;
    for (int i = 0; i < n && !e; i++) e = read_side(a, &s[i], cells);
    if (!e) e = a->json ? print_json(a, s, n, cells) : print_table(a, s, n, cells);
    if (e) return -1;
    if (a->plot && !cells->count)
        return lg_cli_wrong("runs", "none of these runs was evaluated like that, so there is "
                                    "nothing to draw; see lengthen eval");
    return lg_cli_cells_draw(cells, &a->measures, "Runs compared", "runs", a->plot, 0);
}

int lg_cli_runs_compare(struct lg_cli_asked *a)
{
    struct lg_cli_cells cells = {0};
    int n, code = -1;
    if (a->plot && lg_figure_check(a->plot, &a->err)) return -1;
    struct lg_cli_run *runs = lg_cli_runs_find(a, &n);
    if (!runs) return -1;
    struct side *s = calloc((size_t)n, sizeof *s);
    if (!s) lg_cli_no_memory(&a->err);
    for (int i = 0; i < n && s; i++) s[i].r = &runs[i].r;
    if (n < 2)
        code = lg_cli_wrong("runs", "\"%s\" and \"%s\" are the same run; name another one",
                            a->names[0], a->names[1]);
    else if (s)
        code = compare(a, s, n, &cells);
    lg_cli_cells_clear(&cells);
    free(s);
    lg_cli_runs_free(runs, n);
    return code;
}
