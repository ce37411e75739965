/* runs_losses.c: what `lengthen runs` shows of a run of texts: its losses by position. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/runs.h"
#include "cli/show.h"
#include "cli/table.h"

int lg_cli_losses_read(struct lg_cli_asked *a, int64_t number, int64_t step,
                       struct lg_cli_losses *losses)
{
    losses->count = 0;
    int e = lg_store_losses(a->store, number, step, lg_cli_losses_add, losses, &a->err);
    return !e && losses->lost ? lg_cli_no_memory(&a->err) : e;
}

const lg_text_row *lg_cli_losses_pick(const struct lg_cli_losses *losses, int high)
{
    const lg_text_row *best = NULL;
    for (int i = 0; i < losses->count; i++) {
        const lg_text_row *r = &losses->rows[i];
        if (*r->texts || (high && r->high != high)) continue;
        if (!best || r->length > best->length || (r->length == best->length && r->low > best->low))
            best = r;
    }
    return best;
}

/* These were all kept, so that need not be said. */
static void print_last(const lg_store_run *r, const struct lg_cli_losses *losses)
{
    struct lg_cli_losses table = {.form = LG_CLI_TABLE};
    int64_t step = losses->rows[losses->count - 1].step;
    for (int i = 0; i < losses->count; i++) {
        lg_text_row row = losses->rows[i];
        row.kept = 0;
        if (row.step == step) lg_cli_losses_add(&table, &row);
    }
    snprintf(table.title, sizeof table.title, "%s, step %lld", lg_cli_plain(lg_cli_run_name(r)),
             (long long)step);
    printf("\nLoss by position, at step %lld\n\n", (long long)step);
    lg_cli_losses_print(&table);
    lg_cli_losses_plot(&table, "runs", NULL, 0);
    lg_cli_losses_clear(&table);
}

/* Rows in which only the step differs. */
static int same_column(const lg_text_row *a, const lg_text_row *b)
{
    return a->length == b->length && a->context == b->context && a->low == b->low &&
           strcmp(a->texts, b->texts) == 0;
}

/* Truncated loss by step, one column a bin of the greatest length that was held out. */
static int print_way(struct lg_cli_asked *a, const struct lg_cli_losses *losses)
{
    const lg_text_row *rows = losses->rows, *longest = lg_cli_losses_pick(losses, 0);
    if (!longest || rows[0].step == rows[losses->count - 1].step) return 0;
    const lg_text_row *column[64];
    int n = 0, e = 0;
    for (int i = 0; i < losses->count && n < 64; i++)
        if (rows[i].step == longest->step && rows[i].length == longest->length &&
            rows[i].context == longest->context && !*rows[i].texts)
            column[n++] = &rows[i];
    struct lg_cli_table t = {.columns = n + 1};
    lg_cli_table_add(&t, "step");
    for (int k = 0; k < n; k++) lg_cli_table_add(&t, "%d", column[k]->high);
    for (int i = 0, next; i < losses->count; i = next) {
        lg_cli_table_add(&t, "%lld", (long long)rows[i].step);
        for (next = i; next < losses->count && rows[next].step == rows[i].step;) next++;
        for (int k = 0; k < n; k++) {
            int j = i;
            while (j < next && !same_column(column[k], &rows[j])) j++;
            if (j < next)
                lg_cli_table_add(&t, "%.3f", rows[j].truncated.value);
            else
                lg_cli_table_add(&t, "-");
        }
    }
    printf("\nOn the way: truncated loss by step, up to position\n");
    if (t.lost)
        e = lg_cli_no_memory(&a->err);
    else
        lg_cli_table_print(&t, 2, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    return e;
}

int lg_cli_losses_show(struct lg_cli_asked *a, const lg_store_run *r,
                       const struct lg_cli_losses *losses)
{
    print_last(r, losses);
    return print_way(a, losses);
}
