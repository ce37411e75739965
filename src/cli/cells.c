/* cells.c: what was measured, for the eye and for machines. */
#include "cli/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

static const char *ids_of(const lg_cell *c) { return c->predicted ? "predicted" : "given"; }

static int has_positions(const lg_cell *c) { return c->first || c->last; }

/* What all values of a cell have in common; NULL: it has none. */
static const lg_kind *first_kind(const lg_cell *c)
{
    return c->values ? lg_kind_leading(lg_cell_form(c)) : NULL;
}

int lg_cli_of_documents(const lg_kind *kind) { return kind->interval == LG_INTERVAL_MEAN; }

static int of_documents(const lg_cell *c)
{
    return first_kind(c) && lg_cli_of_documents(first_kind(c));
}

/* ---- Places -------------------------------------------------------------------------------- */

unsigned lg_cli_places(const lg_cell *c, const lg_cell *first)
{
    unsigned some = 1u << LG_CLI_LENGTH;
    if (*c->setting) some |= 1u << LG_CLI_SETTING;
    if (c->sparsity) some |= 1u << LG_CLI_SPARSITY;
    if (has_positions(c)) some |= 1u << LG_CLI_POSITIONS;
    if (c->context != first->context) some |= 1u << LG_CLI_CONTEXT;
    if (c->tokens > 0) some |= 1u << LG_CLI_TOKENS | 1u << LG_CLI_IDS;
    return some;
}

const char *lg_cli_place_head(enum lg_cli_place column, const lg_cell *c)
{
    static const char *const heads[] = {"setting", "",       "sparsity", "positions",
                                        "context", "tokens", "IDs"};
    return column == LG_CLI_LENGTH ? c->unit : heads[column];
}

static void put_positions(const lg_cell *c, char *text, size_t size)
{
    if (c->first == c->last)
        snprintf(text, size, "%d", c->first);
    else
        snprintf(text, size, "%d..%d", c->first, c->last);
}

void lg_cli_place_text(enum lg_cli_place column, const lg_cell *c, char text[256])
{
    switch (column) {
    case LG_CLI_SETTING:
        snprintf(text, 256, "%s",
                 *c->setting       ? c->setting
                 : of_documents(c) ? "held out"
                                   : "as trained");
        break;
    case LG_CLI_LENGTH: snprintf(text, 256, "%d", c->length); break;
    case LG_CLI_SPARSITY: snprintf(text, 256, "%d", c->sparsity); break;
    case LG_CLI_POSITIONS: put_positions(c, text, 256); break;
    case LG_CLI_CONTEXT: snprintf(text, 256, "%d", c->context); break;
    case LG_CLI_TOKENS: snprintf(text, 256, "%.0f", c->tokens); break;
    default: snprintf(text, 256, "%s", ids_of(c));
    }
}

void lg_cli_place_words(const lg_cell *c, char text[400])
{
    char range[32] = "", sparsity[32] = "";
    if (has_positions(c)) put_positions(c, range, sizeof range);
    if (c->sparsity) snprintf(sparsity, sizeof sparsity, ", sparsity %d", c->sparsity);
    snprintf(text, 400, "%s%s%s%d%s%s%s", has_positions(c) ? "positions " : "length ", range,
             *range ? " of " : "", c->length, sparsity, *c->setting ? ", " : "", c->setting);
}

int lg_cli_place_order(const lg_cell *a, const lg_cell *b)
{
    int names = strcmp(a->setting, b->setting);
    if (names) return names;
    if (a->sparsity != b->sparsity) return a->sparsity < b->sparsity ? -1 : 1;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* ---- Values -------------------------------------------------------------------------------- */

const char *lg_cli_value_text(const lg_kind *kind, double value, char text[32])
{
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (kind->unit == LG_UNIT_SHARE)
        snprintf(text, 32, "%.*f%%", kind->interval == LG_INTERVAL_NONE ? 2 : 1, 100 * value);
    else if (kind->unit == LG_UNIT_NATS)
        snprintf(text, 32, "%.3f", value);
    else if (value > 0)
        snprintf(text, 32, "token %.6g", value);
    else
        snprintf(text, 32, "none");
    return text;
}

const char *lg_cli_range_text(const lg_kind *kind, double low, double high, char text[64])
{
    if (isnan(low))
        snprintf(text, 64, "-");
    else if (kind->unit == LG_UNIT_SHARE)
        snprintf(text, 64, "%.1f - %.1f", 100 * low, 100 * high);
    else
        snprintf(text, 64, "%.3f..%.3f", low, high);
    return text;
}

const char *lg_cli_unit_text(const lg_kind *kind)
{
    static const char *const units[] = {
        [LG_UNIT_SHARE] = "%", [LG_UNIT_NATS] = "nats per token", [LG_UNIT_TOKENS] = "tokens"};
    return units[kind->unit];
}

void lg_cli_print_number(const lg_kind *kind, double value, const char *none)
{
    if (isfinite(value))
        printf(kind->unit == LG_UNIT_SHARE ? "%.6f" : "%.6g", value);
    else
        fputs(none, stdout);
}

/* The names of an interval's ends have the kind's in front, but for the first kind of a form. */
static const char *prefix(const lg_kind *kind, char text[64])
{
    snprintf(text, 64, "%s_", kind->name);
    if (kind == lg_kind_leading(kind->form)) *text = 0;
    return text;
}

void lg_cli_json_value(const lg_kind *kind, const lg_value *v)
{
    char before[64];
    printf(",\"%s\":", kind->name);
    lg_cli_print_number(kind, v ? v->value : NAN, "null");
    if (kind->interval == LG_INTERVAL_NONE) return;
    printf(",\"%slow\":", prefix(kind, before));
    lg_cli_print_number(kind, v ? v->low : NAN, "null");
    printf(",\"%shigh\":", before);
    lg_cli_print_number(kind, v ? v->high : NAN, "null");
}

/* The kinds of a form in their order: the next one behind `i`, or -1. */
static int next_kind(const char *form, int i)
{
    while (++i < lg_kind_count())
        if (strcmp(lg_kind_at(i)->form, form) == 0) return i;
    return -1;
}

/* ---- JSON and CSV -------------------------------------------------------------------------- */

static int samples_of(const lg_cell *c) { return c->values ? c->value[0].samples : 0; }

void lg_cli_json_place(const lg_cell *c)
{
    printf("\"setting\":");
    lg_cli_json(stdout, c->setting);
    printf(",\"length\":%d", c->length);
    lg_cli_json_word("unit", c->unit);
    printf(",\"sparsity\":%d,\"source\":\"%s\"", c->sparsity, ids_of(c));
    if (c->first) printf(",\"first\":%d", c->first);
    if (c->last) printf(",\"last\":%d", c->last);
    if (c->context) printf(",\"context\":%d", c->context);
}

static void print_json(const struct lg_cli_cells *t, const lg_cell *c)
{
    const char *form = lg_cell_form(c);
    printf("{\"step\":%lld,", (long long)c->step);
    lg_cli_json_place(c);
    printf(",\"tokens\":%.0f,\"samples\":%d", c->tokens, samples_of(c));
    for (int i = -1; (i = next_kind(form, i)) >= 0;)
        lg_cli_json_value(lg_kind_at(i), lg_cell_get(c, lg_kind_at(i)->name));
    if (c->there && of_documents(c))
        printf(",\"documents_there\":%lld", (long long)c->there);
    else if (c->there)
        printf(",\"lines\":%lld,\"held_out\":%s", (long long)c->there,
               c->held_out ? "true" : "false");
    printf(",\"seconds\":%.3f,\"kept\":%s", c->seconds, c->kept ? "true" : "false");
    lg_cli_json_folder(t->folder);
    puts("}");
}

void lg_cli_csv_place_names(int positions)
{
    printf("setting,length,unit,sparsity,source%s", positions ? ",first,last,context" : "");
}

void lg_cli_csv_place(const lg_cell *c, int positions)
{
    lg_cli_csv(c->setting);
    printf(",%d,", c->length);
    lg_cli_csv(c->unit);
    printf(",%d,%s", c->sparsity, ids_of(c));
    if (positions) printf(",%d,%d,%d", c->first, c->last, c->context);
}

static void csv_heading(const lg_cell *c)
{
    char before[64];
    printf("step,");
    lg_cli_csv_place_names(has_positions(c));
    printf(",tokens,samples");
    for (int i = -1; (i = next_kind(lg_cell_form(c), i)) >= 0;) {
        const lg_kind *kind = lg_kind_at(i);
        printf(",%s", kind->name);
        if (kind->interval != LG_INTERVAL_NONE)
            printf(",%slow,%shigh", prefix(kind, before), before);
    }
    printf("%s,seconds\n", of_documents(c) ? ",documents_there" : ",lines,held_out");
}

static void print_csv(const lg_cell *c)
{
    printf("%lld,", (long long)c->step);
    lg_cli_csv_place(c, has_positions(c));
    printf(",%.0f,%d", c->tokens, samples_of(c));
    for (int i = -1; (i = next_kind(lg_cell_form(c), i)) >= 0;) {
        const lg_kind *kind = lg_kind_at(i);
        const lg_value *v = lg_cell_get(c, kind->name);
        putchar(',');
        lg_cli_print_number(kind, v ? v->value : NAN, "");
        if (kind->interval == LG_INTERVAL_NONE) continue;
        putchar(',');
        lg_cli_print_number(kind, v ? v->low : NAN, "");
        putchar(',');
        lg_cli_print_number(kind, v ? v->high : NAN, "");
    }
    printf(",%lld", (long long)c->there);
    if (!of_documents(c)) printf(",%d", c->held_out);
    printf(",%.3f\n", c->seconds);
}

/* ---- The table ----------------------------------------------------------------------------- */

/* Puts columns for the cell among those of the table; 1: there are new ones. */
static int see(struct lg_cli_cells *t, const lg_cell *c)
{
    unsigned places = t->places | lg_cli_places(c, t->count ? t->cells : c);
    uint64_t kinds = t->kinds;
    for (int i = -1; (i = next_kind(lg_cell_form(c), i)) >= 0;) {
        const lg_value *v = lg_cell_get(c, lg_kind_at(i)->name);
        if (v && !isnan(v->value)) kinds |= UINT64_C(1) << i;
    }
    int more = places != t->places || kinds != t->kinds;
    t->places = places;
    t->kinds = kinds;
    return more;
}

/* A column: its heading in three lines, how wide it is at least, and its side. */
static void add_column(struct lg_cli_table *t, char head[][3][32], const char *const lines[3],
                       int min, int left)
{
    if (t->columns == LG_CLI_COLUMNS) return;
    t->min[t->columns] = min;
    t->left |= (uint64_t)left << t->columns;
    for (int i = 0; i < 3; i++) snprintf(head[t->columns][i], 32, "%s", lines[i]);
    t->columns++;
}

/* "right tokens, teacher-forced" has "teacher-forced" above it, which need not be said again beside it. */
static void add_kind(struct lg_cli_table *t, char head[][3][32], const lg_kind *kind,
                     const char **group)
{
    static const int widths[] = {[LG_UNIT_SHARE] = 7, [LG_UNIT_NATS] = 7, [LG_UNIT_TOKENS] = 9};
    const char *comma = strstr(kind->label, ", "), *over = comma ? comma + 2 : "";
    char upper[32], lower[32];
    int n = comma ? (int)(comma - kind->label) : (int)strlen(kind->label), cut = n;
    while (cut && kind->label[cut - 1] != ' ') cut--;
    snprintf(upper, sizeof upper, "%.*s", cut ? cut - 1 : 0, kind->label);
    snprintf(lower, sizeof lower, "%.*s", n - cut, kind->label + cut);
    const char *lines[3] = {strcmp(*group, over) ? over : "", upper, lower};
    add_column(t, head, lines, widths[kind->unit], 0);
    *group = over;
    if (kind->leads && kind->interval != LG_INTERVAL_NONE)
        add_column(t, head, (const char *const[3]){"", "", "95% interval"}, 13, 0);
}

static void begin_table(struct lg_cli_cells *t, const lg_cell *c)
{
    static const int widths[LG_CLI_PLACES] = {16, 8, 8, 9, 7, 7, 9};
    char head[LG_CLI_COLUMNS][3][32];
    struct lg_cli_table *table = &t->table;
    const char *group = "";
    int from = 2;
    lg_cli_table_clear(table);
    for (int p = 0; p < LG_CLI_PLACES; p++)
        if (t->places >> p & 1)
            add_column(table, head,
                       (const char *const[3]){"", "", lg_cli_place_head((enum lg_cli_place)p, c)},
                       widths[p], p == LG_CLI_SETTING || p == LG_CLI_IDS);
    for (int i = 0; i < lg_kind_count(); i++)
        if (t->kinds >> i & 1) add_kind(table, head, lg_kind_at(i), &group);
    add_column(table, head,
               (const char *const[3]){"", "", of_documents(c) ? "documents" : "samples"}, 7, 0);
    add_column(table, head, (const char *const[3]){"", "", ""}, 0, 1);
    for (int k = 0; k < table->columns; k++)
        for (int i = 0; i < 2; i++)
            if (*head[k][i] && i < from) from = i;
    for (int i = from; i < 3; i++)
        for (int k = 0; k < table->columns; k++) lg_cli_table_add(table, "%s", head[k][i]);
}

static void add_values(struct lg_cli_table *table, const lg_kind *kind, const lg_value *v)
{
    char text[64];
    lg_cli_table_add(table, "%s", lg_cli_value_text(kind, v ? v->value : NAN, text));
    if (kind->leads && kind->interval != LG_INTERVAL_NONE)
        lg_cli_table_add(table, "%s",
                         lg_cli_range_text(kind, v ? v->low : NAN, v ? v->high : NAN, text));
}

static void print_row(struct lg_cli_cells *t, const lg_cell *c)
{
    char text[256], lines[64] = "";
    if (see(t, c) || !t->table.columns) {
        if (t->table.columns) putchar('\n');
        begin_table(t, c);
    }
    for (int p = 0; p < LG_CLI_PLACES; p++)
        if (t->places >> p & 1) {
            lg_cli_place_text((enum lg_cli_place)p, c, text);
            lg_cli_table_add(&t->table, "%s", text);
        }
    for (int i = 0; i < lg_kind_count(); i++)
        if (t->kinds >> i & 1)
            add_values(&t->table, lg_kind_at(i), lg_cell_get(c, lg_kind_at(i)->name));
    if (c->there && of_documents(c))
        lg_cli_table_add(&t->table, "%d of %lld", samples_of(c), (long long)c->there);
    else
        lg_cli_table_add(&t->table, "%d", samples_of(c));
    if (c->there && !of_documents(c))
        snprintf(lines, sizeof lines, "of %lld %slines", (long long)c->there,
                 c->held_out ? "held-out " : "");
    lg_cli_table_add(&t->table, "%s%s%s", lines, *lines && c->kept ? "  " : "",
                     c->kept ? "(kept)" : "");
    lg_cli_table_flush(&t->table);
}

void lg_cli_cells_explain(const struct lg_cli_cells *t)
{
    if (t->form != LG_CLI_TABLE || !t->count || !of_documents(t->cells)) return;
    const lg_cell *c = t->cells;
    printf("\nIn %s, mean over %s", lg_cli_unit_text(first_kind(c)),
           t->places >> LG_CLI_SETTING & 1 ? "documents" : "held-out documents");
    if (c->context && !(t->places >> LG_CLI_CONTEXT & 1))
        printf("; sliding: the last %d tokens alone", c->context);
    printf(". Trained on %d %s.\n", c->trained_length, c->unit);
}

/* ---- Cells --------------------------------------------------------------------------------- */

void lg_cli_cells_keep(void *cells, const lg_cell *cell)
{
    struct lg_cli_cells *t = cells;
    lg_cell *more = lg_cli_grow(t->cells, t->count, &t->room, sizeof *more);
    t->lost |= !more;
    if (!more) return;
    t->cells = more;
    snprintf(t->unit, sizeof t->unit, "%s", lg_cli_plain(cell->unit));
    t->cells[t->count] = *cell;
    t->cells[t->count++].unit = t->unit;
}

void lg_cli_cells_add(void *cells, const lg_cell *cell)
{
    struct lg_cli_cells *t = cells;
    if (t->form == LG_CLI_JSON) {
        print_json(t, cell);
    } else if (t->form == LG_CLI_CSV) {
        if (!t->printed) csv_heading(cell);
        print_csv(cell);
    } else {
        print_row(t, cell);
    }
    t->printed++;
    fflush(stdout);
    lg_cli_cells_keep(t, cell);
}

void lg_cli_cells_print(const struct lg_cli_cells *t, int64_t step)
{
    struct lg_cli_cells table = {.form = LG_CLI_TABLE};
    const lg_cell *first = NULL;
    for (int i = 0; i < t->count; i++) {
        if (t->cells[i].step != step) continue;
        if (!first) first = &t->cells[i];
        see(&table, &t->cells[i]);
        table.places |= lg_cli_places(&t->cells[i], first);
    }
    for (int i = 0; i < t->count; i++) {
        lg_cell c = t->cells[i];
        c.kept = 0; /* all of them were: not worth a word */
        if (c.step == step) lg_cli_cells_add(&table, &c);
    }
    lg_cli_cells_explain(&table);
    lg_cli_cells_clear(&table);
}

void lg_cli_cells_predicted(struct lg_cli_cells *t)
{
    int predicted = 0, n = 0;
    for (int i = 0; i < t->count; i++) predicted |= t->cells[i].predicted;
    for (int i = 0; i < t->count; i++)
        if (t->cells[i].predicted == predicted) t->cells[n++] = t->cells[i];
    t->count = n;
}

void lg_cli_cells_clear(struct lg_cli_cells *t)
{
    free(t->cells);
    t->cells = NULL;
    t->count = t->room = 0;
    lg_cli_table_clear(&t->table);
}
