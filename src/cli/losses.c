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

static void json_row(const struct lg_cli_losses *t, const lg_text_row *r)
{
    printf("{\"step\":%lld,\"length\":%d,\"low\":%d,\"high\":%d,\"context\":%d,\"documents\":%d,"
           "\"documents_there\":%lld",
           (long long)r->step, r->length, r->low, r->high, r->context, r->documents,
           (long long)r->there);
    lg_cli_json_mean("truncated", &r->truncated);
    lg_cli_json_mean("sliding", &r->sliding);
    lg_cli_json_mean("excess", &r->excess);
    lg_cli_json_word("texts", r->texts);
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
    lg_text_row *rows = lg_cli_grow(t->rows, t->count, &t->room, sizeof *rows);
    t->lost |= !rows;
    if (!rows) return;
    t->rows = rows;
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
    printf("\nLoss in nats per token, on ");
    if (d.texts || !*q->rows[0].texts)
        printf("held-out documents");
    else
        printf("%s", lg_cli_plain(q->rows[0].texts));
    printf(". Truncated: all tokens before; sliding: the last ");
    if (d.context)
        printf("of the context alone");
    else
        printf("%d alone", q->rows[0].context);
    printf(".\nTrained on %d tokens.\n", q->rows[0].trained_length);
}

/* ---- The figure --------------------------------------------------------------------------- */

/* The rows of the greatest length, of the texts and the context that come first. */
static void gather(const struct lg_cli_losses *t, lg_series *s)
{
    char sliding[60];
    int longest = 0;
    snprintf(sliding, sizeof sliding, "sliding: the last %d alone", t->rows[0].context);
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].length > longest) longest = t->rows[i].length;
    for (int i = 0; i < t->count; i++) {
        const lg_text_row *r = &t->rows[i];
        double at = (r->low + r->high) / 2.0;
        if (r->length != longest || r->context != t->rows[0].context ||
            strcmp(r->texts, t->rows[0].texts) != 0)
            continue;
        lg_series_add(s, "truncated: all tokens before", at, r->truncated.value, r->truncated.low,
                      r->truncated.high);
        lg_series_add(s, sliding, at, r->sliding.value, r->sliding.low, r->sliding.high);
    }
}

int lg_cli_losses_plot(const struct lg_cli_losses *t, const char *command, const char *file,
                       int letters)
{
    lg_series s = {0};
    letters = t->form == LG_CLI_TABLE && (letters || isatty(STDOUT_FILENO));
    if (!t->count || (!file && !letters)) return LG_EXIT_DONE;
    gather(t, &s);
    lg_figure f = {.title = t->title,
                   .x_label = "position (tokens)",
                   .y_label = "loss, nats per token",
                   .trained_low = 1,
                   .trained_high = t->rows[0].trained_length};
    lg_series_axis(&s, &f);
    return lg_cli_series(&s, &f, command, file, letters);
}
