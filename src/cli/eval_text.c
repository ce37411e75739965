/* eval_text.c: the loss by position of a run of texts, as a table, JSON, CSV and a figure. */
#include "cli/eval_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"

struct show {
    const struct lg_cli_text_eval *q;
    lg_text_row *rows;
    int count, room, lost;
};

/* ---- Rows --------------------------------------------------------------------------------- */

static void json_mean(const char *name, const lg_text_mean *m)
{
    printf(",\"%s\":%.6g", name, m->value);
    if (isnan(m->low))
        printf(",\"%s_low\":null,\"%s_high\":null", name, name);
    else
        printf(",\"%s_low\":%.6g,\"%s_high\":%.6g", name, m->low, name, m->high);
}

static void json_row(const lg_text_row *r)
{
    printf("{\"step\":%lld,\"length\":%d,\"low\":%d,\"high\":%d,\"context\":%d,\"documents\":%d,"
           "\"documents_there\":%lld",
           (long long)r->step, r->length, r->low, r->high, r->context, r->documents,
           (long long)r->there);
    json_mean("truncated", &r->truncated);
    json_mean("sliding", &r->sliding);
    json_mean("excess", &r->excess);
    puts("}");
}

static void csv_mean(const lg_text_mean *m)
{
    if (isnan(m->low))
        printf(",%.6g,,", m->value);
    else
        printf(",%.6g,%.6g,%.6g", m->value, m->low, m->high);
}

static void csv_row(const lg_text_row *r, int first)
{
    if (first)
        puts("step,length,low,high,context,documents,documents_there,truncated,truncated_low,"
             "truncated_high,sliding,sliding_low,sliding_high,excess,excess_low,excess_high");
    printf("%lld,%d,%d,%d,%d,%d,%lld", (long long)r->step, r->length, r->low, r->high, r->context,
           r->documents, (long long)r->there);
    csv_mean(&r->truncated);
    csv_mean(&r->sliding);
    csv_mean(&r->excess);
    putchar('\n');
}

static void told(void *context, const lg_text_row *r)
{
    struct show *s = context;
    if (s->q->form == LG_CLI_JSON) json_row(r);
    if (s->q->form == LG_CLI_CSV) csv_row(r, !s->count);
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 64;
        lg_text_row *more = realloc(s->rows, (size_t)room * sizeof *more);
        s->lost |= !more;
        if (!more) return;
        s->rows = more;
        s->room = room;
    }
    s->rows[s->count++] = *r;
}

/* ---- The table ---------------------------------------------------------------------------- */

static void mean_cells(struct lg_cli_table *t, const lg_text_mean *m, const char *form)
{
    lg_cli_table_add(t, form, m->value);
    if (isnan(m->low))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.3f..%.3f", m->low, m->high);
}

static void print_table(const struct show *s)
{
    static const char *const heads[] = {"length",  "positions", "documents", "truncated", "95%",
                                        "sliding", "95%",       "excess",    "95%"};
    struct lg_cli_table t = {.columns = sizeof heads / sizeof *heads};
    for (int i = 0; i < t.columns; i++) lg_cli_table_add(&t, "%s", heads[i]);
    for (int i = 0; i < s->count; i++) {
        const lg_text_row *r = &s->rows[i];
        lg_cli_table_add(&t, "%d", r->length);
        if (r->low == r->high)
            lg_cli_table_add(&t, "%d", r->low);
        else
            lg_cli_table_add(&t, "%d..%d", r->low, r->high);
        lg_cli_table_add(&t, "%d of %lld", r->documents, (long long)r->there);
        mean_cells(&t, &r->truncated, "%.3f");
        mean_cells(&t, &r->sliding, "%.3f");
        mean_cells(&t, &r->excess, "%+.3f");
    }
    lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
    printf(
        "\nLoss in nats a token, on held-out documents. Truncated: all tokens before; sliding: the "
        "last %d alone.\nTrained on %d tokens.\n",
        s->rows[0].context, s->rows[0].trained_length);
}

/* ---- The figure --------------------------------------------------------------------------- */

/* The rows of the greatest length, as two curves. */
static int plot(const struct show *s)
{
    const char *file = s->q->plot && strcmp(s->q->plot, "-") != 0 ? s->q->plot : NULL;
    int letters = s->q->form == LG_CLI_TABLE && (isatty(STDOUT_FILENO) || (s->q->plot && !file));
    int longest = 0, n = 0, code = LG_EXIT_DONE;
    double *v = malloc(((size_t)s->count + 1) * 7 * sizeof *v), least = 0, most = 0;
    char title[300];
    lg_error err;
    if (!v) return LG_EXIT_FAILED;
    for (int i = 0; i < s->count; i++)
        if (s->rows[i].length > longest) longest = s->rows[i].length;
    double *column[7];
    for (int k = 0; k < 7; k++) column[k] = v + (size_t)k * ((size_t)s->count + 1);
    for (int i = 0; i < s->count; i++) {
        const lg_text_row *r = &s->rows[i];
        const double values[7] = {(r->low + r->high) / 2.0, r->truncated.value, r->truncated.low,
                                  r->truncated.high,        r->sliding.value,   r->sliding.low,
                                  r->sliding.high};
        if (r->length != longest) continue;
        for (int k = 0; k < 7; k++) {
            column[k][n] = values[k];
            if (!k || isnan(values[k])) continue;
            least = n || k > 1 ? fmin(least, values[k]) : values[k];
            most = n || k > 1 ? fmax(most, values[k]) : values[k];
        }
        n++;
    }
    snprintf(title, sizeof title, "%.200s, %d documents", s->q->o.folder,
             s->rows[s->count - 1].documents);
    lg_curve curves[] = {
        {"truncated: all tokens before", n, column[0], column[1], column[2], column[3]},
        {"sliding: the last of training's length", n, column[0], column[4], column[5], column[6]}};
    lg_figure f = {.title = title,
                   .x_label = "position (tokens)",
                   .y_label = "loss, nats a token",
                   .curves = curves,
                   .count = 2,
                   .trained_low = 1,
                   .trained_high = s->rows[0].trained_length,
                   .y_low = floor(2 * least) / 2,
                   .y_high = ceil(2 * most + 0.01) / 2};
    if (letters) lg_cli_figure(&f);
    if (file && lg_figure_write(&f, file, &err)) {
        fprintf(stderr, "lengthen eval: %s\n", err.text);
        code = LG_EXIT_FAILED;
    } else if (file) {
        fprintf(stderr, "The figure is in %s\n", file);
    }
    free(v);
    return code;
}

int lg_cli_eval_text(struct lg_cli_text_eval *q)
{
    struct show s = {.q = q};
    lg_error err = {0}, warning = {0};
    int file = q->plot && strcmp(q->plot, "-") != 0;
    int code = file ? lg_figure_check(q->plot, &err) : 0;
    q->o.told = told;
    q->o.of = &s;
    if (!code) code = lg_run_eval_text(&q->o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (code) {
        fprintf(stderr, "lengthen eval: %s\n", err.text);
        code = code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
    } else if (s.lost) {
        fputs("lengthen eval: no memory for the rows\n", stderr);
        code = LG_EXIT_FAILED;
    } else {
        if (q->form == LG_CLI_TABLE) print_table(&s);
        code = plot(&s);
    }
    free(s.rows);
    return code;
}
