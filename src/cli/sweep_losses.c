/* sweep_losses.c: the losses by position of a sweep of texts, for the eye and for machines. */
#include "cli/sweep_losses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"

/* ---- Rows -------------------------------------------------------------------------------- */

static void json_mean(const char *name, const lg_text_mean *m)
{
    printf(",\"%s\":%.6g,\"%s_quartile_low\":%.6g,\"%s_quartile_high\":%.6g", name, m->value, name,
           m->low, name, m->high);
}

static void print_json(const lg_sweep_loss *l)
{
    printf("{\"variant\":");
    lg_cli_json(stdout, l->variant);
    printf(",\"length\":%d,\"low\":%d,\"high\":%d,\"context\":%d", l->length, l->low, l->high,
           l->context);
    json_mean("truncated", &l->truncated);
    json_mean("sliding", &l->sliding);
    json_mean("excess", &l->excess);
    printf(",\"trained_length_min\":%d,\"trained_length\":%d,\"seeds\":[", l->trained_least,
           l->trained_length);
    for (int i = 0; i < l->seeds; i++) printf("%s%lld", i ? "," : "", (long long)l->seed[i]);
    printf("]}\n");
}

static void print_csv(const lg_sweep_loss *l, int first)
{
    if (first)
        puts("variant,seed,length,low,high,context,documents,truncated,sliding,excess,"
             "trained_length_min,trained_length");
    for (int i = 0; i < l->seeds; i++) {
        const lg_text_row *r = &l->rows[i];
        lg_cli_csv(l->variant);
        printf(",%lld,%d,%d,%d,%d,%d,%.6g,%.6g,%.6g,%d,%d\n", (long long)l->seed[i], r->length,
               r->low, r->high, r->context, r->documents, r->truncated.value, r->sliding.value,
               r->excess.value, l->trained_least, l->trained_length);
    }
}

void lg_cli_sweep_losses_add(void *losses, const lg_sweep_loss *l)
{
    struct lg_cli_sweep_losses *q = losses;
    if (q->form == LG_CLI_JSON) print_json(l);
    if (q->form == LG_CLI_CSV) print_csv(l, !q->count);
    lg_sweep_loss *more = lg_cli_grow(q->kept, q->count, &q->room, sizeof *more);
    q->lost |= !more;
    if (!more) return;
    q->kept = more;
    char *variant = strdup(l->variant);
    q->lost |= !variant;
    if (!variant) return;
    q->kept[q->count] = *l;
    q->kept[q->count].rows = NULL;
    q->kept[q->count].seed = NULL;
    q->kept[q->count++].variant = variant;
}

void lg_cli_sweep_losses_clear(struct lg_cli_sweep_losses *q)
{
    for (int i = 0; i < q->count; i++) free((void *)(uintptr_t)q->kept[i].variant);
    free(q->kept);
}

/* ---- The table ---------------------------------------------------------------------------- */

static void mean_cells(struct lg_cli_table *t, const lg_text_mean *m, const char *form)
{
    lg_cli_table_add(t, form, m->value);
    lg_cli_table_add(t, "%.3f - %.3f", m->low, m->high);
}

int lg_cli_sweep_losses_print(const struct lg_cli_sweep_losses *q)
{
    static const char *const heads[] = {"variant",   "length",  "positions", "seeds",  "truncated",
                                        "quartiles", "sliding", "quartiles", "excess", "quartiles"};
    enum { HEADS = sizeof heads / sizeof *heads };
    struct lg_cli_table t = {.columns = HEADS, .left = 1};
    if (q->form != LG_CLI_TABLE || !q->count) return q->lost ? -1 : 0;
    for (int i = 0; i < HEADS; i++) lg_cli_table_add(&t, "%s", heads[i]);
    for (int i = 0; i < q->count; i++) {
        const lg_sweep_loss *l = &q->kept[i];
        lg_cli_table_add(&t, "%s", l->variant);
        lg_cli_table_add(&t, "%d", l->length);
        if (l->low == l->high)
            lg_cli_table_add(&t, "%d", l->low);
        else
            lg_cli_table_add(&t, "%d..%d", l->low, l->high);
        lg_cli_table_add(&t, "%d", l->seeds);
        mean_cells(&t, &l->truncated, "%.3f");
        mean_cells(&t, &l->sliding, "%.3f");
        mean_cells(&t, &l->excess, "%+.3f");
    }
    lg_cli_table_print(&t, 0, 0, 0);
    puts("\nMedian loss of the seeds in nats per token, on held-out documents.");
    int lost = t.lost || q->lost;
    lg_cli_table_clear(&t);
    return lost ? -1 : 0;
}

/* ---- The figure -------------------------------------------------------------------------- */

int lg_cli_sweep_losses_draw(const struct lg_cli_sweep_losses *q, const char *file, int letters)
{
    lg_series s = {0};
    int longest = 0;
    lg_figure f = {.title = q->title,
                   .x_label = "position (tokens)",
                   .y_label = "loss, nats per token, median of the seeds",
                   .trained_low = 1,
                   .trained_high = q->kept[0].trained_length};
    for (int i = 0; i < q->count; i++) {
        f.trained_high = fmin(f.trained_high, q->kept[i].trained_length);
        if (q->kept[i].length > longest) longest = q->kept[i].length;
    }
    for (int i = 0; i < q->count; i++) {
        const lg_sweep_loss *l = &q->kept[i];
        if (l->length == longest)
            lg_series_add(&s, l->variant, l->high, l->truncated.value, l->truncated.low,
                          l->truncated.high);
    }
    lg_series_axis(&s, &f);
    return lg_cli_series(&s, &f, "sweep", file, letters);
}
