/* sweep_cells.c: the cells of a sweep for the eye and for machines. */
#include "cli/sweep_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"

enum { LINE = 1000 };

static void *copy(const void *data, size_t size)
{
    void *to = malloc(size ? size : 1);
    if (to) memcpy(to, data, size);
    return to;
}

/* What a cell points at is its own. */
static void clear_cell(lg_sweep_cell *c)
{
    const void *own[] = {c->variant, c->setting, c->unit, c->exact, c->seed};
    for (int i = 0; i < 5; i++) free((void *)(uintptr_t)own[i]);
}

void lg_cli_sweep_keep(void *context, const lg_sweep_cell *cell)
{
    struct lg_cli_sweep *q = context;
    lg_sweep_cell c = *cell;
    lg_sweep_cell *more = lg_cli_grow(q->cells, q->count, &q->room, sizeof *more);
    q->lost |= !more;
    if (!more) return;
    q->cells = more;
    c.variant = strdup(cell->variant);
    c.setting = strdup(cell->setting);
    c.unit = strdup(cell->unit);
    c.exact = copy(cell->exact, (size_t)c.seeds * sizeof *c.exact);
    c.seed = copy(cell->seed, (size_t)c.seeds * sizeof *c.seed);
    q->cells[q->count++] = c;
    if (c.variant && c.setting && c.unit && c.exact && c.seed) return;
    q->lost = 1;
    clear_cell(&q->cells[--q->count]);
}

/* ---- Rows -------------------------------------------------------------------------------- */

static const char *ids_of(const lg_sweep_cell *c) { return c->predicted ? "predicted" : "given"; }

/* What a heading and a curve's name need: does it differ between the cells? */
struct differ {
    int variant, setting, sparsity, ids, unit, range;
};

static struct differ differences(const struct lg_cli_sweep *q)
{
    struct differ d = {0};
    const lg_sweep_cell *a = q->cells;
    for (int i = 0; i < q->count; i++) {
        const lg_sweep_cell *c = &q->cells[i];
        d.variant |= *c->variant != 0;
        d.setting |= *c->setting != 0;
        d.sparsity |= c->sparsity != a->sparsity;
        d.ids |= c->predicted != a->predicted;
        d.unit |= strcmp(c->unit, a->unit) != 0;
        d.range |= c->trained_least != a->trained_least || c->trained_length != a->trained_length;
    }
    return d;
}

static const char *remark(const lg_sweep_cell *c)
{
    return c->learned < 0 ? "not tested in range" : c->learned < 0.99 ? "not learned" : "";
}

static void add_heading(struct lg_cli_table *t, const struct lg_cli_sweep *q,
                        const struct differ *d)
{
    if (d->variant) lg_cli_table_add(t, "variant");
    if (d->setting) lg_cli_table_add(t, "setting");
    lg_cli_table_add(t, "%s", d->unit ? "length" : q->cells[0].unit);
    if (d->sparsity) lg_cli_table_add(t, "sparsity");
    if (d->ids) lg_cli_table_add(t, "IDs");
    lg_cli_table_add(t, "median");
    lg_cli_table_add(t, "quartiles");
    lg_cli_table_add(t, "each seed");
    lg_cli_table_add(t, "%s", "");
}

static void add_row(struct lg_cli_table *t, const lg_sweep_cell *c, const struct differ *d)
{
    char seeds[LINE] = "";
    for (int i = 0, n = 0; i < c->seeds && n < LINE - 20; i++)
        n += snprintf(seeds + n, sizeof seeds - (size_t)n, "%s%.1f", i ? " " : "",
                      100 * c->exact[i]);
    if (d->variant) lg_cli_table_add(t, "%s", c->variant);
    if (d->setting) lg_cli_table_add(t, "%s", c->setting);
    lg_cli_table_add(t, "%d", c->length);
    if (d->sparsity) lg_cli_table_add(t, "%d", c->sparsity);
    if (d->ids) lg_cli_table_add(t, "%s", ids_of(c));
    lg_cli_table_add(t, "%.1f%%", 100 * c->median);
    lg_cli_table_add(t, "%.1f - %.1f", 100 * c->lower, 100 * c->upper);
    lg_cli_table_add(t, "%s", seeds);
    lg_cli_table_add(t, "%s", remark(c));
}

static int print_table(const struct lg_cli_sweep *q)
{
    struct differ d = differences(q);
    int texts = d.variant + d.setting, ids = texts + 1 + d.sparsity, last = ids + d.ids;
    struct lg_cli_table t = {.columns = last + 4};
    t.left = (1u << texts) - 1;
    if (d.ids) t.left |= 1u << ids;
    t.left |= 3u << (last + 2);
    add_heading(&t, q, &d);
    for (int i = 0; i < q->count; i++) add_row(&t, &q->cells[i], &d);
    lg_cli_table_print(&t, 0, 0, 0);
    int lost = t.lost;
    lg_cli_table_clear(&t);
    return lost;
}

static void print_json(const lg_sweep_cell *c)
{
    printf("{\"variant\":");
    lg_cli_json(stdout, c->variant);
    lg_cli_json_word("setting", c->setting);
    printf(",\"length\":%d,\"unit\":", c->length);
    lg_cli_json(stdout, c->unit);
    printf(",\"sparsity\":%d,\"source\":\"%s\",\"tokens\":%.0f,\"samples\":%d,\"median\":%.6f,"
           "\"quartile_low\":%.6f,\"quartile_high\":%.6f,\"low\":%.6f,\"high\":%.6f,\"learned\":",
           c->sparsity, ids_of(c), c->tokens, c->samples, c->median, c->lower, c->upper, c->low,
           c->high);
    if (c->learned < 0)
        printf("null");
    else
        printf("%.6f", c->learned);
    printf(",\"trained_length_min\":%d,\"trained_length\":%d,\"trained_sparsity\":%d,\"seeds\":[",
           c->trained_least, c->trained_length, c->trained_sparsity);
    for (int i = 0; i < c->seeds; i++) printf("%s%lld", i ? "," : "", (long long)c->seed[i]);
    printf("],\"exact\":[");
    for (int i = 0; i < c->seeds; i++) printf("%s%.6f", i ? "," : "", c->exact[i]);
    printf("]}\n");
}

static void print_csv(const lg_sweep_cell *c)
{
    for (int i = 0; i < c->seeds; i++) {
        lg_cli_csv(c->variant);
        putchar(',');
        lg_cli_csv(c->setting);
        printf(",%d,", c->length);
        lg_cli_csv(c->unit);
        printf(",%d,%s,%.0f,%lld,%.6f,%.6f,", c->sparsity, ids_of(c), c->tokens,
               (long long)c->seed[i], c->exact[i], c->median);
        if (c->learned >= 0) printf("%.6f", c->learned);
        printf(",%d,%d,%d\n", c->trained_least, c->trained_length, c->trained_sparsity);
    }
}

int lg_cli_sweep_print(const struct lg_cli_sweep *q)
{
    if (q->form == LG_CLI_TABLE) return q->count && print_table(q) ? -1 : 0;
    if (q->form == LG_CLI_CSV)
        puts("variant,setting,length,unit,sparsity,source,tokens,seed,exact,median,learned,"
             "trained_length_min,trained_length,trained_sparsity");
    for (int i = 0; i < q->count; i++)
        (q->form == LG_CLI_JSON ? print_json : print_csv)(&q->cells[i]);
    return 0;
}

void lg_cli_sweep_clear(struct lg_cli_sweep *q)
{
    for (int i = 0; i < q->count; i++) clear_cell(&q->cells[i]);
    free(q->cells);
}

/* ---- The figure -------------------------------------------------------------------------- */

/* "encoding rope, 4" for "positions.encoding=rope,scheme=4": the last part of each key, in words. Returns its
 * length. */
static int put_variant(const char *variant, char *name)
{
    int n = 0;
    for (const char *at = variant; *at && n < LINE / 2;) {
        size_t all = strcspn(at, ","), key = strcspn(at, "=,"), part = key;
        while (part && at[part - 1] != '.') part--;
        int named = key < all && strncmp(at + part, "method", 6) != 0 &&
                    strncmp(at + part, "scheme", 6) != 0;
        n += snprintf(name + n, LINE - (size_t)n, "%s%.*s%s%.*s", n ? ", " : "",
                      named ? (int)(key - part) : 0, at + part, named ? " " : "",
                      key < all ? (int)(all - key - 1) : (int)all, key < all ? at + key + 1 : at);
        at += all + (at[all] == ',');
    }
    return n;
}

static void name_curve(const lg_sweep_cell *c, const struct differ *d, char *name)
{
    int n = put_variant(c->variant, name);
    if (d->setting)
        n += snprintf(name + n, LINE - (size_t)n, "%s%.100s", n ? ", " : "",
                      *c->setting ? c->setting : "as trained");
    if (d->sparsity)
        n += snprintf(name + n, LINE - (size_t)n, "%ssparsity %d", n ? ", " : "", c->sparsity);
    if (d->ids) n += snprintf(name + n, LINE - (size_t)n, "%s%s IDs", n ? ", " : "", ids_of(c));
    if (!n) snprintf(name, LINE, "median of the seeds");
}

int lg_cli_sweep_draw(const struct lg_cli_sweep *q, const char *file, int letters)
{
    struct differ d = differences(q);
    char label[100], name[LINE];
    lg_series s = {0};
    lg_figure f = {.title = q->title,
                   .x_label =
                       lg_length_label(d.unit ? "length" : q->cells[0].unit, label, sizeof label),
                   .y_label = "exact answers, median of the seeds, %",
                   .answers = 1};
    if (!d.range) {
        f.trained_low = q->cells[0].trained_least;
        f.trained_high = q->cells[0].trained_length;
    }
    for (int i = 0; i < q->count; i++) {
        const lg_sweep_cell *c = &q->cells[i];
        name_curve(c, &d, name);
        lg_series_add(&s, name, c->length, c->median, c->lower, c->upper);
    }
    return lg_cli_series(&s, &f, "sweep", file, letters);
}
