/* losses.c: losses by position as a table, JSON, CSV and a figure. */
#include "cli/losses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"

/* ---- Rows --------------------------------------------------------------------------------- */

static void json_mean(const char *name, const lg_text_mean *m)
{
    printf(",\"%s\":%.6g", name, m->value);
    if (isnan(m->low))
        printf(",\"%s_low\":null,\"%s_high\":null", name, name);
    else
        printf(",\"%s_low\":%.6g,\"%s_high\":%.6g", name, m->low, name, m->high);
}

static void json_row(const struct lg_cli_losses *t, const lg_text_row *r)
{
    printf("{\"step\":%lld,\"length\":%d,\"low\":%d,\"high\":%d,\"context\":%d,\"documents\":%d,"
           "\"documents_there\":%lld",
           (long long)r->step, r->length, r->low, r->high, r->context, r->documents,
           (long long)r->there);
    json_mean("truncated", &r->truncated);
    json_mean("sliding", &r->sliding);
    json_mean("excess", &r->excess);
    printf(",\"texts\":");
    lg_cli_json(stdout, r->texts);
    printf(",\"kept\":%s", r->kept ? "true" : "false");
    lg_cli_json_folder(t->folder);
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
             "truncated_high,sliding,sliding_low,sliding_high,excess,excess_low,excess_high,texts");
    printf("%lld,%d,%d,%d,%d,%d,%lld", (long long)r->step, r->length, r->low, r->high, r->context,
           r->documents, (long long)r->there);
    csv_mean(&r->truncated);
    csv_mean(&r->sliding);
    csv_mean(&r->excess);
    putchar(',');
    lg_cli_csv(r->texts);
    putchar('\n');
}

void lg_cli_losses_add(void *losses, const lg_text_row *r)
{
    struct lg_cli_losses *t = losses;
    if (t->form == LG_CLI_JSON) json_row(t, r);
    if (t->form == LG_CLI_CSV) csv_row(r, !t->count);
    if (t->count == t->room) {
        int room = t->room ? 2 * t->room : 64;
        lg_text_row *more = realloc(t->rows, (size_t)room * sizeof *more);
        t->lost |= !more;
        if (!more) return;
        t->rows = more;
        t->room = room;
    }
    t->rows[t->count++] = *r;
}

void lg_cli_losses_clear(struct lg_cli_losses *t) { free(t->rows); }

/* ---- The table ---------------------------------------------------------------------------- */

static void mean_cells(struct lg_cli_table *t, const lg_text_mean *m, const char *form)
{
    lg_cli_table_add(t, form, m->value);
    if (isnan(m->low))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.3f..%.3f", m->low, m->high);
}

/* What need not be said of every row. */
struct differ {
    int texts, context, kept;
};

static void add_row(struct lg_cli_table *t, const lg_text_row *r, const struct differ *d)
{
    if (d->texts) lg_cli_table_add(t, "%s", *r->texts ? r->texts : "held out");
    if (d->context) lg_cli_table_add(t, "%d", r->context);
    lg_cli_table_add(t, "%d", r->length);
    if (r->low == r->high)
        lg_cli_table_add(t, "%d", r->low);
    else
        lg_cli_table_add(t, "%d..%d", r->low, r->high);
    lg_cli_table_add(t, "%d of %lld", r->documents, (long long)r->there);
    mean_cells(t, &r->truncated, "%.3f");
    mean_cells(t, &r->sliding, "%.3f");
    mean_cells(t, &r->excess, "%+.3f");
    if (d->kept) lg_cli_table_add(t, "%s", r->kept ? "kept" : "");
}

void lg_cli_losses_print(const struct lg_cli_losses *q)
{
    static const char *const heads[] = {"length",  "positions", "documents", "truncated", "95%",
                                        "sliding", "95%",       "excess",    "95%"};
    enum { HEADS = sizeof heads / sizeof *heads };
    struct differ d = {0};
    if (q->form != LG_CLI_TABLE || !q->count) return;
    for (int i = 0; i < q->count; i++) {
        d.texts |= strcmp(q->rows[i].texts, q->rows[0].texts) != 0;
        d.context |= q->rows[i].context != q->rows[0].context;
        d.kept |= q->rows[i].kept;
    }
    struct lg_cli_table t = {.columns = HEADS + d.texts + d.context + d.kept, .left = !!d.texts};
    if (d.texts) lg_cli_table_add(&t, "texts");
    if (d.context) lg_cli_table_add(&t, "context");
    for (int i = 0; i < HEADS; i++) lg_cli_table_add(&t, "%s", heads[i]);
    if (d.kept) lg_cli_table_add(&t, "%s", "");
    for (int i = 0; i < q->count; i++) add_row(&t, &q->rows[i], &d);
    lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
    printf("\nLoss in nats a token, on ");
    if (d.texts || !*q->rows[0].texts)
        printf("held-out documents");
    else
        printf("%s", q->rows[0].texts);
    printf(". Truncated: all tokens before; sliding: the last ");
    if (d.context)
        printf("of the context alone");
    else
        printf("%d alone", q->rows[0].context);
    printf(".\nTrained on %d tokens.\n", q->rows[0].trained_length);
}

/* ---- The figure --------------------------------------------------------------------------- */

/* The numbers of a figure: x, then value, low and high of both losses. */
enum { NUMBERS = 7 };

/* The rows of the greatest length, of the texts and the context that come first; their number. *least
 * and *most are of the y axis. */
static int gather(const struct lg_cli_losses *t, double *column[NUMBERS], double *least,
                  double *most)
{
    int longest = 0, n = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].length > longest) longest = t->rows[i].length;
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < t->count; i++) {
        const lg_text_row *r = &t->rows[i];
        const double values[NUMBERS] = {
            (r->low + r->high) / 2.0, r->truncated.value, r->truncated.low, r->truncated.high,
            r->sliding.value,         r->sliding.low,     r->sliding.high};
        if (r->length != longest || r->context != t->rows[0].context ||
            strcmp(r->texts, t->rows[0].texts) != 0)
            continue;
        for (int k = 0; k < NUMBERS; k++) {
            column[k][n] = values[k];
            if (!k || isnan(values[k])) continue;
            *least = fmin(*least, values[k]);
            *most = fmax(*most, values[k]);
        }
        n++;
    }
    return n;
}

int lg_cli_losses_plot(const struct lg_cli_losses *t, const char *command, const char *file,
                       int letters)
{
    double *column[NUMBERS], least, most;
    lg_error err;
    int code = LG_EXIT_DONE;
    letters = t->form == LG_CLI_TABLE && (letters || isatty(STDOUT_FILENO));
    if (!t->count || (!file && !letters)) return code;
    double *v = malloc((size_t)t->count * NUMBERS * sizeof *v);
    if (!v) return LG_EXIT_FAILED;
    for (int k = 0; k < NUMBERS; k++) column[k] = v + (size_t)k * (size_t)t->count;
    int n = gather(t, column, &least, &most);
    char sliding[60];
    snprintf(sliding, sizeof sliding, "sliding: the last %d alone", t->rows[0].context);
    lg_curve curves[] = {
        {"truncated: all tokens before", n, column[0], column[1], column[2], column[3]},
        {sliding, n, column[0], column[4], column[5], column[6]}};
    lg_figure f = {.title = t->title,
                   .x_label = "position (tokens)",
                   .y_label = "loss, nats a token",
                   .curves = curves,
                   .count = 2,
                   .trained_low = 1,
                   .trained_high = t->rows[0].trained_length,
                   .y_low = floor(2 * least) / 2,
                   .y_high = ceil(2 * most + 0.01) / 2};
    if (letters) lg_cli_figure(&f);
    if (file && lg_figure_write(&f, file, &err)) {
        fprintf(stderr, "lengthen %s: %s\n", command, err.text);
        code = LG_EXIT_FAILED;
    } else if (file) {
        fprintf(stderr, "The figure is in %s\n", file);
    }
    free(v);
    return code;
}
