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
    struct lg_cli_keys keys;
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

/* Cells with given IDs go where there are any with predicted ones: these are how it answers. */
static void keep_predicted(struct lg_cli_cells *c)
{
    int predicted = 0, n = 0;
    for (int i = 0; i < c->count; i++) predicted |= c->cells[i].predicted;
    for (int i = 0; i < c->count; i++)
        if (c->cells[i].predicted == predicted) c->cells[n++] = c->cells[i];
    c->count = n;
}

static int read_side(struct lg_cli_asked *a, struct side *s)
{
    int e = lg_cli_keys_read(&s->keys, s->r->config, &a->err);
    if (!e) e = lg_cli_cells_read(a, s->r->number, -1, &s->cells);
    if (!e) e = lg_cli_losses_read(a, s->r->number, -1, &s->losses);
    if (!e) e = lg_store_steps(a->store, s->r->number, keep_last, s, &a->err);
    keep_predicted(&s->cells);
    return e;
}

/* ---- Configs ---------------------------------------------------------------------------- */

/* Whether an earlier run has this key too, so that it was looked at. */
static int seen_before(const struct side *s, int i, const char *key)
{
    for (int j = 0; j < i; j++)
        if (lg_cli_keys_get(&s[j].keys, key)) return 1;
    return 0;
}

static int differs(const struct side *s, int n, const char *key)
{
    const char *first = lg_cli_keys_get(&s[0].keys, key);
    for (int i = 1; i < n; i++) {
        const char *value = lg_cli_keys_get(&s[i].keys, key);
        if (!first != !value || (first && !lg_cli_same_value(first, value))) return 1;
    }
    return 0;
}

static void add_key(struct lg_cli_table *t, const struct side *s, int n, const char *key)
{
    lg_cli_table_add(t, "%s", key);
    for (int i = 0; i < n; i++) {
        const char *value = lg_cli_keys_get(&s[i].keys, key);
        lg_cli_table_add(t, "%s", value ? value : "-");
    }
}

static void json_key(const struct side *s, int n, const char *key)
{
    printf("{\"key\":");
    lg_cli_json(stdout, key);
    printf(",\"values\":[");
    for (int i = 0; i < n; i++) {
        printf("%s", i ? "," : "");
        lg_cli_json(stdout, lg_cli_keys_get(&s[i].keys, key));
    }
    printf("]}\n");
}

/* Every key that any run has, once, in the order of the configs. */
static int compare_keys(const struct side *s, int n, struct lg_cli_table *t)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < s[i].keys.count; k++) {
            const char *key = s[i].keys.at[k].key;
            if (seen_before(s, i, key) || !differs(s, n, key)) continue;
            found++;
            if (t)
                add_key(t, s, n, key);
            else
                json_key(s, n, key);
        }
    return found;
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
            printf("{\"step\":%lld,\"ids\":\"%s\",\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,"
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

static void print_json(const struct side *s, int n, const lg_run_cell *rows, int count)
{
    printf("{\"runs\":[");
    for (int i = 0; i < n; i++) printf("%s%lld", i ? "," : "", (long long)s[i].r->number);
    printf("],\"names\":[");
    for (int i = 0; i < n; i++) {
        printf("%s", i ? "," : "");
        lg_cli_json(stdout, lg_cli_run_name(s[i].r));
    }
    printf("]}\n");
    compare_keys(s, n, NULL);
    for (int i = 0; i < count; i++) json_row(s, n, &rows[i]);
    compare_losses(s, n, NULL);
    json_ends(s, n);
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
    if (!compare_keys(s, n, &t)) {
        lg_cli_table_add(&t, "(the same config)");
        for (int i = 0; i < n; i++) lg_cli_table_add(&t, "%s", "");
    }
    add_blank(&t);
    for (int i = 0; i < count; i++) add_row(&t, s, n, &rows[i]);
    int losses = compare_losses(s, n, &t);
    if (count || losses) add_blank(&t);
    add_ends(&t, s, n);
    int e = t.lost ? lg_cli_no_memory(&a->err) : 0;
    if (!e) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    if (!e && count)
        printf("\nexact: of generated answers, with predicted IDs if there are any; (95%% "
               "interval)\n");
    if (!e && losses)
        printf("\nloss at positions of a text's first tokens: truncated, in nats a token\n");
    lg_cli_table_clear(&t);
    return e;
}

int lg_cli_runs_compare(struct lg_cli_asked *a)
{
    int n, count = 0, e = 0;
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
        print_json(s, n, rows, count);
    else if (!e)
        e = print_table(a, s, n, rows, count);
    free(rows);
    for (int i = 0; i < n && s; i++) {
        lg_cli_keys_free(&s[i].keys);
        lg_cli_cells_clear(&s[i].cells);
        lg_cli_losses_clear(&s[i].losses);
    }
    free(s);
    lg_cli_runs_free(runs, n);
    return e ? -1 : LG_EXIT_DONE;
}
