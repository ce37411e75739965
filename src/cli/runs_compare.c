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
    struct lg_cli_cells cells;   /* at its last evaluation */
    struct lg_cli_losses losses; /* the same of a run of texts */
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

static int read_side(struct lg_cli_asked *a, struct side *s)
{
    int e = lg_cli_cells_read(a, s->r->number, -1, &s->cells);
    if (!e) e = lg_cli_losses_read(a, s->r->number, -1, &s->losses);
    if (!e) e = lg_store_steps(a->store, s->r->number, keep_last, s, &a->err);
    lg_cli_cells_predicted(&s->cells);
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

static int order(const void *left, const void *right)
{
    const lg_run_cell *a = left, *b = right;
    int names = strcmp(a->setting, b->setting);
    if (names) return names;
    if (a->sparsity != b->sparsity) return a->sparsity < b->sparsity ? -1 : 1;
    return (a->length > b->length) - (a->length < b->length);
}

/* The cells that head a row: those of every run, sorted, each once. */
static lg_run_cell *list_rows(const struct side *s, int n, int *count)
{
    int all = 0, used = 0;
    for (int i = 0; i < n; i++) all += s[i].cells.count;
    lg_run_cell *rows = calloc((size_t)all + 1, sizeof *rows);
    if (!rows) return NULL;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].cells.count; k++) rows[used++] = s[i].cells.cells[k];
    qsort(rows, (size_t)used, sizeof *rows, order);
    *count = 0;
    for (int i = 0; i < used; i++)
        if (!i || order(&rows[i], &rows[*count - 1]) != 0) rows[(*count)++] = rows[i];
    return rows;
}

static const lg_run_cell *cell_of(const struct side *s, const lg_run_cell *row)
{
    for (int i = 0; i < s->cells.count; i++)
        if (order(&s->cells.cells[i], row) == 0) return &s->cells.cells[i];
    return NULL;
}

static void add_row(struct lg_cli_table *t, const struct side *s, int n, const lg_run_cell *row)
{
    char sparsity[40] = "";
    if (row->sparsity) snprintf(sparsity, sizeof sparsity, ", sparsity %d", row->sparsity);
    lg_cli_table_add(t, "exact at length %d%s%s%s", row->length, sparsity,
                     *row->setting ? ", " : "", row->setting);
    for (int i = 0; i < n; i++) {
        const lg_run_cell *c = cell_of(&s[i], row);
        if (c)
            lg_cli_table_add(t, "%.1f%% (%.0f..%.0f)",
                             100 * lg_cli_share(c->score.exact, c->score.samples), 100 * c->low,
                             100 * c->high);
        else
            lg_cli_table_add(t, "-");
    }
}

static void json_row(const struct side *s, int n, const lg_run_cell *row)
{
    printf("{\"length\":%d,\"sparsity\":%d,\"setting\":", row->length, row->sparsity);
    lg_cli_json(stdout, row->setting);
    printf(",\"cells\":[");
    for (int i = 0; i < n; i++) {
        const lg_run_cell *c = cell_of(&s[i], row);
        printf("%s", i ? "," : "");
        if (c)
            printf("{\"step\":%lld,\"source\":\"%s\",\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,"
                   "\"high\":%.6f}",
                   (long long)c->step, c->predicted ? "predicted" : "given", c->score.samples,
                   lg_cli_share(c->score.exact, c->score.samples), c->low, c->high);
        else
            printf("null");
    }
    printf("]}\n");
}

/* ---- Losses ----------------------------------------------------------------------------- */

/* Of the context that it was trained with: those of others are not comparable. */
static const lg_text_row *loss_of(const struct side *s, const lg_text_row *like)
{
    for (int i = 0; i < s->losses.count; i++) {
        const lg_text_row *r = &s->losses.rows[i];
        if (r->context == r->trained_length && r->length == like->length && r->low == like->low &&
            r->high == like->high && strcmp(r->texts, like->texts) == 0)
            return r;
    }
    return NULL;
}

static void json_loss(const struct side *s, int n, const lg_text_row *like)
{
    printf("{\"texts\":");
    lg_cli_json(stdout, like->texts);
    printf(",\"length\":%d,\"low\":%d,\"high\":%d,\"losses\":[", like->length, like->low,
           like->high);
    for (int i = 0; i < n; i++) {
        const lg_text_row *r = loss_of(&s[i], like);
        printf("%s", i ? "," : "");
        if (r)
            printf("{\"step\":%lld,\"documents\":%d,\"truncated\":%.6g,\"excess\":%.6g}",
                   (long long)r->step, r->documents, r->truncated.value, r->excess.value);
        else
            printf("null");
    }
    printf("]}\n");
}

static void add_loss(struct lg_cli_table *t, const struct side *s, int n, const lg_text_row *like)
{
    lg_cli_table_add(t, "loss at %d..%d of %d%s%s", like->low, like->high, like->length,
                     *like->texts ? ", " : "", like->texts);
    for (int i = 0; i < n; i++) {
        const lg_text_row *r = loss_of(&s[i], like);
        if (r)
            lg_cli_table_add(t, "%.3f", r->truncated.value);
        else
            lg_cli_table_add(t, "-");
    }
}

/* The positions of every run, each once, as they come; t NULL: as JSON. Their number. */
static int compare_losses(const struct side *s, int n, struct lg_cli_table *t)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].losses.count; k++) {
            const lg_text_row *r = &s[i].losses.rows[k];
            int before = loss_of(&s[i], r) != r; /* with another context */
            for (int j = 0; j < i; j++) before |= loss_of(&s[j], r) != NULL;
            if (before) continue;
            count++;
            if (t)
                add_loss(t, s, n, r);
            else
                json_loss(s, n, r);
        }
    return count;
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

static int print_json(struct lg_cli_asked *a, const struct side *s, int n, const lg_run_cell *rows,
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
    compare_losses(s, n, NULL);
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

static int print_table(struct lg_cli_asked *a, const struct side *s, int n, const lg_run_cell *rows,
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
    int losses = compare_losses(s, n, &t);
    if (count || losses) add_blank(&t);
    add_ends(&t, s, n);
    int e = found < 0 ? found : t.lost ? lg_cli_no_memory(&a->err) : 0;
    if (!e) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    if (!e && count)
        printf("\nexact: of generated answers, with predicted IDs if there are any; (95%% "
               "interval)\n");
    if (!e && losses)
        printf("\nloss at positions of a text's first tokens: truncated, in nats per token\n");
    lg_cli_table_clear(&t);
    return e;
}

/* ---- The figure ------------------------------------------------------------------------- */

/* Exact answers by length, one line per run (and per sparsity and setting); of runs of texts, the truncated
 * losses of their longest length. */
static int draw(struct lg_cli_asked *a, const struct side *s, int n)
{
    lg_series series = {0};
    char name[400], label[100];
    const struct side *with = NULL;
    lg_figure f = {.title = "Runs compared", .answers = 1, .y_label = "exact answers, %"};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].cells.count; k++) {
            const lg_run_cell *c = &s[i].cells.cells[k];
            int at = snprintf(name, sizeof name, "%.200s", lg_cli_run_name(s[i].r));
            if (c->sparsity)
                at += snprintf(name + at, sizeof name - (size_t)at, ", sparsity %d", c->sparsity);
            if (*c->setting) snprintf(name + at, sizeof name - (size_t)at, ", %.100s", c->setting);
            if (!with) with = &s[i];
            lg_series_add(&series, name, c->length, lg_cli_share(c->score.exact, c->score.samples),
                          c->low, c->high);
        }
    if (with) {
        const lg_run_cell *first = with->cells.cells;
        int same = 1; /* what all were trained on */
        for (int i = 0; i < n; i++)
            same &=
                !s[i].cells.count || (s[i].cells.cells[0].trained_least == first->trained_least &&
                                      s[i].cells.cells[0].trained_length == first->trained_length);
        f.x_label = lg_length_label(with->cells.unit, label, sizeof label);
        f.trained_low = same ? first->trained_least : 0;
        f.trained_high = same ? first->trained_length : 0;
        return lg_cli_series(&series, &f, "runs", a->plot, 0);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].losses.count; k++) {
            const lg_text_row *r = &s[i].losses.rows[k];
            if (r->length != s[i].losses.rows[s[i].losses.count - 1].length) continue;
            lg_series_add(&series, lg_cli_run_name(s[i].r), (r->low + r->high) / 2.0,
                          r->truncated.value, r->truncated.low, r->truncated.high);
        }
    if (!series.count) {
        lg_series_clear(&series);
        return lg_cli_wrong("runs",
                            "none of these runs was evaluated, so there is nothing to draw; "
                            "see lengthen eval");
    }
    f.answers = 0;
    f.x_label = "position (tokens)";
    f.y_label = "loss, nats per token";
    lg_series_axis(&series, &f);
    return lg_cli_series(&series, &f, "runs", a->plot, 0);
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
    lg_run_cell *rows = e ? NULL : list_rows(s, n, &count);
    if (!e && !rows) e = lg_cli_no_memory(&a->err);
    if (!e && a->json)
        e = print_json(a, s, n, rows, count);
    else if (!e)
        e = print_table(a, s, n, rows, count);
    if (!e && a->plot) code = draw(a, s, n);
    free(rows);
    for (int i = 0; i < n && s; i++) {
        lg_cli_cells_clear(&s[i].cells);
        lg_cli_losses_clear(&s[i].losses);
    }
    free(s);
    lg_cli_runs_free(runs, n);
    return e ? -1 : code;
}
