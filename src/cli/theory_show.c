/* theory_show.c: what `lengthen theory` prints of its rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/theory.h"

struct summary {
    lg_theory_cell *cells;
    lg_theory_slope *slopes;
    int cell_count, slope_count;
};

static int summarise(const struct lg_cli_theory *q, struct summary *s)
{
    s->cells = calloc((size_t)q->count + 1, sizeof *s->cells);
    s->slopes = calloc((size_t)q->count + 1, sizeof *s->slopes);
    if (!s->cells || !s->slopes) return -1;
    s->cell_count = lg_theory_cells(q->rows, q->count, s->cells);
    s->slope_count = lg_theory_slopes(q->rows, q->count, s->slopes);
    return 0;
}

static void end_summary(struct summary *s)
{
    free(s->cells);
    free(s->slopes);
}

/* ---- Shown ---------------------------------------------------------------------------------- */

static const lg_theory_cell *cell_of(const struct summary *s, const char *variant, int length)
{
    for (int i = 0; i < s->cell_count; i++)
        if (s->cells[i].length == length && strcmp(s->cells[i].variant, variant) == 0)
            return &s->cells[i];
    return NULL;
}

void lg_cli_theory_add(struct lg_cli_table *t, double x)
{
    if (isnan(x))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.2e", x);
}

static void add_line(struct lg_cli_table *t, const struct lg_cli_theory *q, const struct summary *s,
                     const char *variant, int kind)
{
    static const char *const suffix[] = {"", ": shown", ": not shown"};
    lg_cli_table_add(t, "%s%s", variant, suffix[kind]);
    for (int i = 0; i < q->o.length_count; i++) {
        const lg_theory_cell *c = cell_of(s, variant, q->lengths[i]);
        double error = !c ? NAN : kind == 0 ? c->error : kind == 1 ? c->seen : c->lost;
        lg_cli_theory_add(t, error);
    }
    for (int i = 0; i < s->slope_count && !kind; i++)
        if (strcmp(s->slopes[i].variant, variant) == 0) {
            lg_cli_table_add(t, "%.2f", s->slopes[i].slope);
            if (isnan(s->slopes[i].low))
                lg_cli_table_add(t, "-");
            else
                lg_cli_table_add(t, "%.2f..%.2f", s->slopes[i].low, s->slopes[i].high);
            return;
        }
    lg_cli_table_add(t, "-");
    lg_cli_table_add(t, "-");
}

/* One variant: a line a length. */
static void show_lengths(const struct summary *s)
{
    struct lg_cli_table t = {.columns = 6};
    static const char *const heading[] = {"length", "error", "95% from", "to", "wrong", "seeds"};
    for (int i = 0; i < 6; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < s->cell_count; i++) {
        const lg_theory_cell *c = &s->cells[i];
        lg_cli_table_add(&t, "%d", c->length);
        lg_cli_table_add(&t, "%.2e", c->error);
        lg_cli_theory_add(&t, c->low);
        lg_cli_theory_add(&t, c->high);
        lg_cli_table_add(&t, "%.1f%%", 100 * c->wrong);
        lg_cli_table_add(&t, "%d", c->seeds);
    }
    lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    if (!s->slope_count) return;
    printf("\nSlope of log error over log length: %.2f", s->slopes[0].slope);
    if (!isnan(s->slopes[0].low))
        printf(" (95%%: %.2f to %.2f)", s->slopes[0].low, s->slopes[0].high);
    puts(".");
}

/* Several: a line a variant, a column a length. */
static void show_variants(const struct lg_cli_theory *q, const struct summary *s)
{
    struct lg_cli_table t = {.columns = q->o.length_count + 3, .left = 1};
    lg_cli_table_add(&t, "error at length");
    for (int i = 0; i < q->o.length_count; i++) lg_cli_table_add(&t, "%d", q->lengths[i]);
    lg_cli_table_add(&t, "slope");
    lg_cli_table_add(&t, "95%%");
    for (int i = 0; i < s->cell_count; i++) {
        const char *variant = s->cells[i].variant;
        int known = 0, missing = 0;
        for (int j = 0; j < i && !known; j++) known = strcmp(s->cells[j].variant, variant) == 0;
        for (int j = i; j < s->cell_count; j++)
            missing |= s->cells[j].missing && strcmp(s->cells[j].variant, variant) == 0;
        for (int kind = 0; kind < (missing ? 3 : 1) && !known; kind++)
            add_line(&t, q, s, variant, kind);
    }
    lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
}

static void show_table(const struct lg_cli_theory *q, const struct summary *s)
{
    int one = 1;
    for (int i = 0; i < s->cell_count; i++)
        one &= strcmp(s->cells[i].variant, s->cells[0].variant) == 0 && !s->cells[i].missing;
    if (one)
        show_lengths(s);
    else
        show_variants(q, s);
    printf("\nGeometric means over %d seed%s, trained on lengths %d..%d until the error was %g.\n",
           q->o.seeds, q->o.seeds == 1 ? "" : "s", q->o.train[0], q->o.train[1], q->o.until);
    for (int i = 0; i < q->count; i++)
        if (q->rows[i].trained > q->o.until &&
            (!i || q->rows[i].seed != q->rows[i - 1].seed ||
             strcmp(q->rows[i].variant, q->rows[i - 1].variant) != 0))
            printf("Not reached in %d steps: %s, seed %lld has %.2g.\n", q->rows[i].steps,
                   q->rows[i].variant, (long long)q->rows[i].seed, q->rows[i].trained);
}

static void show_json(const struct summary *s)
{
    for (int i = 0; i < s->cell_count; i++) {
        const lg_theory_cell *c = &s->cells[i];
        printf("{\"variant\":");
        lg_cli_json(stdout, c->variant);
        printf(",\"length\":%d,\"seeds\":%d", c->length, c->seeds);
        lg_cli_json_number("error", c->error);
        lg_cli_json_number("low", c->low);
        lg_cli_json_number("high", c->high);
        lg_cli_json_number("wrong", c->wrong);
        lg_cli_json_number("error_shown", c->seen);
        lg_cli_json_number("error_not_shown", c->lost);
        printf("}\n");
    }
    for (int i = 0; i < s->slope_count; i++) {
        printf("{\"variant\":");
        lg_cli_json(stdout, s->slopes[i].variant);
        lg_cli_json_number("slope", s->slopes[i].slope);
        lg_cli_json_number("low", s->slopes[i].low);
        lg_cli_json_number("high", s->slopes[i].high);
        lg_cli_json_number("most_trained", s->slopes[i].trained);
        lg_cli_json_number("most_last", s->slopes[i].last);
        printf("}\n");
    }
}

int lg_cli_theory_finish(struct lg_cli_theory *q)
{
    struct summary s = {0};
    int code = 0;
    if (summarise(q, &s)) {
        fputs("lengthen theory: no memory for the cells; end other programs\n", stderr);
        code = LG_EXIT_FAILED;
    } else if (q->json) {
        show_json(&s);
    } else {
        show_table(q, &s);
    }
    q->files.rows = q->rows;
    q->files.count = q->count;
    q->files.cells = s.cells;
    q->files.cell_count = s.cell_count;
    if (!code) code = lg_cli_theory_write(q);
    end_summary(&s);
    return code;
}
