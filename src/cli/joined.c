/* joined.c: what was measured over the seeds of a sweep, for the eye and for machines. */
#include "cli/joined.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

enum { LINE = 1000 };

/* What an lg_joined points at, kept. */
struct lg_cli_joined_row {
    lg_joined j;
    lg_cell at;
    char unit[64], *variant, *name; /* name: the variant in words */
    double *value;
    int64_t *seed;
};

/* "encoding rope, 4" for "positions.encoding=rope,scheme=4": the last part of each key, in words. */
static char *name_variant(const char *variant)
{
    char name[LINE] = "";
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
    return strdup(name);
}

static void *copy(const void *data, size_t size)
{
    void *to = malloc(size ? size : 1);
    if (to) memcpy(to, data, size);
    return to;
}

static void free_row(struct lg_cli_joined_row *r)
{
    if (!r) return;
    free(r->variant);
    free(r->name);
    free(r->value);
    free(r->seed);
    free(r);
}

static struct lg_cli_joined_row *copy_row(const lg_joined *j)
{
    struct lg_cli_joined_row *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->j = *j;
    r->at = *j->at;
    snprintf(r->unit, sizeof r->unit, "%s", j->at->unit);
    r->at.unit = r->unit;
    r->j.at = &r->at;
    r->j.variant = r->variant = strdup(j->variant);
    r->name = name_variant(j->variant);
    r->j.value = r->value = copy(j->value, (size_t)j->seeds * sizeof *j->value);
    r->j.seed = r->seed = copy(j->seed, (size_t)j->seeds * sizeof *j->seed);
    if (r->variant && r->name && r->value && r->seed) return r;
    free_row(r);
    return NULL;
}

void lg_cli_joined_keep(void *context, const lg_joined *j)
{
    struct lg_cli_joined *q = context;
    if (!lg_cli_measures_have(&q->measures, j->kind)) return;
    struct lg_cli_joined_row **more = lg_cli_grow(q->rows, q->count, &q->room, sizeof *more);
    if (more) q->rows = more;
    if (more && (more[q->count] = copy_row(j)))
        q->count++;
    else
        q->lost = 1;
}

void lg_cli_joined_clear(struct lg_cli_joined *q)
{
    for (int i = 0; i < q->count; i++) free_row(q->rows[i]);
    free(q->rows);
}

/* ---- The table ----------------------------------------------------------------------------- */

/* Its columns. */
struct columns {
    int variant, remark;
    unsigned places;
    const lg_kind *kind[LG_CELL_VALUES];
    int kinds;
};

/* Below 99% at the longest of training: what a model does beyond says nothing. */
static const char *remark(const lg_joined *j)
{
    if (lg_kind_leading(j->kind->form)->unit != LG_UNIT_SHARE) return "";
    return j->learned < 0 ? "not tested in range" : j->learned < 0.99 ? "not learned" : "";
}

static void find_columns(const struct lg_cli_joined *q, struct columns *c)
{
    int ids = 0;
    for (int i = 0, k; i < q->count; i++) {
        const lg_joined *j = &q->rows[i]->j;
        c->variant |= *j->variant != 0;
        c->remark |= *remark(j) != 0;
        c->places |= lg_cli_places(j->at, q->rows[0]->j.at);
        ids |= j->at->predicted != q->rows[0]->j.at->predicted;
        for (k = 0; k < c->kinds && c->kind[k] != j->kind; k++) {
        }
        if (k == c->kinds && k < LG_CELL_VALUES) c->kind[c->kinds++] = j->kind;
    }
    c->places &= ~(1u << LG_CLI_TOKENS);
    if (!ids) c->places &= ~(1u << LG_CLI_IDS);
}

static void add_heading(struct lg_cli_table *t, const struct columns *c, const lg_cell *first)
{
    if (c->variant) t->left |= UINT64_C(1) << t->columns++;
    for (int p = 0; p < LG_CLI_PLACES; p++) {
        if (!(c->places >> p & 1)) continue;
        if (p == LG_CLI_SETTING || p == LG_CLI_IDS) t->left |= UINT64_C(1) << t->columns;
        t->columns++;
    }
    t->columns += 2 * c->kinds;
    t->left |= UINT64_C(3) << t->columns;
    t->columns += 1 + c->remark;
    if (c->variant) lg_cli_table_add(t, "variant");
    for (int p = 0; p < LG_CLI_PLACES; p++)
        if (c->places >> p & 1)
            lg_cli_table_add(t, "%s", lg_cli_place_head((enum lg_cli_place)p, first));
    for (int k = 0; k < c->kinds; k++) {
        lg_cli_table_add(t, "%s", c->kinds == 1 ? "median" : c->kind[k]->label);
        lg_cli_table_add(t, "quartiles");
    }
    lg_cli_table_add(t, "%s", c->kinds == 1 ? "each seed" : "seeds");
    if (c->remark) lg_cli_table_add(t, "%s", "");
}

static void add_seeds(struct lg_cli_table *t, const struct columns *c, const lg_joined *j)
{
    char line[LINE] = "", text[32];
    if (c->kinds > 1) {
        lg_cli_table_add(t, "%d", j->seeds);
        return;
    }
    for (int i = 0, n = 0; i < j->seeds && n < LINE - 40; i++) {
        lg_cli_value_text(j->kind, j->value[i], text);
        text[strcspn(text, "%")] = 0;
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", i ? " " : "", text);
    }
    lg_cli_table_add(t, "%s", line);
}

static int same_place(const lg_joined *a, const lg_joined *b)
{
    return strcmp(a->variant, b->variant) == 0 && lg_cli_place_order(a->at, b->at) == 0 &&
           a->at->predicted == b->at->predicted && a->at->context == b->at->context;
}

/* The row of a place: `rows` come one after the other, one for each of its kinds. */
static void add_row(struct lg_cli_table *t, const struct columns *c,
                    struct lg_cli_joined_row *const *rows, int n)
{
    const lg_joined *first = &rows[0]->j;
    char text[256];
    if (c->variant) lg_cli_table_add(t, "%s", first->variant);
    for (int p = 0; p < LG_CLI_PLACES; p++)
        if (c->places >> p & 1) {
            lg_cli_place_text((enum lg_cli_place)p, first->at, text);
            lg_cli_table_add(t, "%s", text);
        }
    for (int k = 0; k < c->kinds; k++) {
        const lg_joined *j = NULL;
        for (int i = 0; i < n; i++)
            if (rows[i]->j.kind == c->kind[k]) j = &rows[i]->j;
        lg_cli_table_add(t, "%s", lg_cli_value_text(c->kind[k], j ? j->median : NAN, text));
        lg_cli_table_add(
            t, "%s", lg_cli_range_text(c->kind[k], j ? j->lower : NAN, j ? j->upper : NAN, text));
    }
    add_seeds(t, c, first);
    if (c->remark) lg_cli_table_add(t, "%s", remark(first));
}

static int print_table(const struct lg_cli_joined *q)
{
    struct columns c = {0};
    struct lg_cli_table t = {0};
    find_columns(q, &c);
    add_heading(&t, &c, &q->rows[0]->at);
    for (int i = 0, next; i < q->count; i = next) {
        for (next = i + 1; next < q->count && same_place(&q->rows[i]->j, &q->rows[next]->j);)
            next++;
        add_row(&t, &c, q->rows + i, next - i);
    }
    lg_cli_table_print(&t, 0, 0, 0);
    printf("\nMedian of the seeds: ");
    for (int k = 0; k < c.kinds; k++) printf("%s%s", k ? ", " : "", c.kind[k]->label);
    if (c.kind[0]->unit != LG_UNIT_SHARE) printf(", in %s", lg_cli_unit_text(c.kind[0]));
    puts(".");
    int lost = t.lost;
    lg_cli_table_clear(&t);
    return lost;
}

/* ---- JSON and CSV -------------------------------------------------------------------------- */

static void json_number(const char *name, const lg_kind *kind, double value)
{
    printf(",\"%s\":", name);
    lg_cli_print_number(kind, value, "null");
}

static void print_json(const lg_joined *j)
{
    const lg_cell *at = j->at;
    const lg_kind *kind = j->kind;
    printf("{\"variant\":");
    lg_cli_json(stdout, j->variant);
    putchar(',');
    lg_cli_json_place(at);
    printf(",\"kind\":\"%s\",\"tokens\":%.0f,\"samples\":%d", kind->name, at->tokens, j->samples);
    json_number("median", kind, j->median);
    json_number("quartile_low", kind, j->lower);
    json_number("quartile_high", kind, j->upper);
    json_number("low", kind, j->low);
    json_number("high", kind, j->high);
    json_number("learned", lg_kind_leading(kind->form), j->learned < 0 ? NAN : j->learned);
    printf(",\"trained_length_min\":%d,\"trained_length\":%d,\"trained_sparsity\":%d,\"seeds\":[",
           at->trained_least, at->trained_length, at->trained_sparsity);
    for (int i = 0; i < j->seeds; i++) printf("%s%lld", i ? "," : "", (long long)j->seed[i]);
    printf("],\"values\":[");
    for (int i = 0; i < j->seeds; i++) {
        if (i) putchar(',');
        lg_cli_print_number(kind, j->value[i], "null");
    }
    puts("]}");
}

static void print_csv(const lg_joined *j, int positions)
{
    const lg_cell *at = j->at;
    for (int i = 0; i < j->seeds; i++) {
        lg_cli_csv(j->variant);
        putchar(',');
        lg_cli_csv_place(at, positions);
        printf(",%s,%.0f,%lld,", j->kind->name, at->tokens, (long long)j->seed[i]);
        lg_cli_print_number(j->kind, j->value[i], "");
        putchar(',');
        lg_cli_print_number(j->kind, j->median, "");
        putchar(',');
        if (j->learned >= 0) lg_cli_print_number(lg_kind_leading(j->kind->form), j->learned, "");
        printf(",%d,%d,%d\n", at->trained_least, at->trained_length, at->trained_sparsity);
    }
}

int lg_cli_joined_print(const struct lg_cli_joined *q)
{
    int positions = 0;
    if (!q->count) return 0;
    if (q->form == LG_CLI_TABLE) return print_table(q) ? -1 : 0;
    for (int i = 0; i < q->count; i++) positions |= q->rows[i]->at.first != 0;
    if (q->form == LG_CLI_CSV) {
        printf("variant,");
        lg_cli_csv_place_names(positions);
        puts(",kind,tokens,seed,value,median,learned,trained_length_min,trained_length,"
             "trained_sparsity");
    }
    for (int i = 0; i < q->count; i++)
        if (q->form == LG_CLI_JSON)
            print_json(&q->rows[i]->j);
        else
            print_csv(&q->rows[i]->j, positions);
    return 0;
}

/* ---- The figure ---------------------------------------------------------------------------- */

int lg_cli_joined_draw(const struct lg_cli_joined *q, const char *title, const char *file,
                       int letters)
{
    struct lg_cli_curves curves = {0};
    for (int i = 0; i < q->count; i++) {
        const lg_joined *j = &q->rows[i]->j;
        const lg_kind *kind;
        for (int k = 0; (kind = lg_cli_measures_at(&q->measures, j->kind->form, k)); k++)
            if (kind == j->kind)
                lg_cli_curves_add(&curves, q->rows[i]->name, j->at, kind, j->median, j->lower,
                                  j->upper);
    }
    return lg_cli_curves_draw(&curves, title, ", median of the seeds", "sweep", file, letters);
}
