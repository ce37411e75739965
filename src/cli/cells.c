/* cells.c: what was measured, for the eye and for machines. */
#include "cli/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

static int has_positions(const lg_cell *c) { return c->first || c->last; }

/* Its samples are documents: intervals are of a mean over these. */
static int of_documents(const lg_cell *c)
{
    return c->values && c->value[0].kind->interval == LG_INTERVAL_MEAN;
}

static int samples_of(const lg_cell *c) { return c->values ? c->value[0].samples : 0; }

/* The next kind of the form behind the i-th kind, or -1. */
static int next_kind(const char *form, int i)
{
    while (++i < lg_kind_count())
        if (strcmp(lg_kind_at(i)->form, form) == 0) return i;
    return -1;
}

/* ---- Words --------------------------------------------------------------------------------- */

static void put_positions(const lg_cell *c, char *text, size_t size)
{
    if (c->first == c->last)
        snprintf(text, size, "%d", c->first);
    else
        snprintf(text, size, "%d..%d", c->first, c->last);
}

const char *lg_cli_place_setting(const lg_cell *c)
{
    return *c->setting ? c->setting : of_documents(c) ? "held out" : "as trained";
}

void lg_cli_place_words(const lg_cell *c, char text[400])
{
    char range[64] = "length", sparsity[32] = "";
    if (has_positions(c)) {
        put_positions(c, range, 40);
        strcat(range, " of");
    }
    if (c->sparsity) snprintf(sparsity, sizeof sparsity, ", sparsity %d", c->sparsity);
    snprintf(text, 400, "%s %d%s%s%s", range, c->length, sparsity, *c->setting ? ", " : "",
             c->setting);
}

const char *lg_cli_value_text(const lg_kind *kind, double value, char text[32])
{
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (kind->unit == LG_UNIT_SHARE)
        snprintf(text, 32, "%.*f%%", kind->interval == LG_INTERVAL_NONE ? 2 : 1, 100 * value);
    else if (kind->unit == LG_UNIT_NATS)
        snprintf(text, 32, "%.3f", value);
    else if (kind->better) /* an amount; else a place */
        snprintf(text, 32, "%.4g", value);
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
        snprintf(text, 64, kind->unit == LG_UNIT_NATS ? "%.3f..%.3f" : "%.4g..%.4g", low, high);
    return text;
}

const char *lg_cli_unit_text(const lg_kind *kind)
{
    static const char *const units[] = {
        [LG_UNIT_SHARE] = "%", [LG_UNIT_NATS] = "nats per token", [LG_UNIT_TOKENS] = "tokens"};
    return units[kind->unit];
}

/* ---- For machines -------------------------------------------------------------------------- */

void lg_cli_put_number(struct lg_cli_record *r, const char *key, const lg_kind *kind, double value)
{
    lg_cli_put_real(r, key, kind->unit == LG_UNIT_SHARE ? "%.6f" : "%.6g", value);
}

void lg_cli_put_value(struct lg_cli_record *r, const lg_kind *kind, const lg_value *v)
{
    static const char *const ends[] = {"low", "high"};
    int leading = kind == lg_kind_leading(kind->form);
    lg_cli_put_number(r, kind->name, kind, v ? v->value : NAN);
    for (int i = 0; i < 2 && kind->interval != LG_INTERVAL_NONE; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s%s%s", leading ? "" : kind->name, leading ? "" : "_", ends[i]);
        lg_cli_put_number(r, key, kind, !v ? NAN : i ? v->high : v->low);
    }
}

void lg_cli_put_place(struct lg_cli_record *r, const lg_cell *c)
{
    lg_cli_put_text(r, "setting", c->setting);
    lg_cli_put_int(r, "length", c->length);
    lg_cli_put_text(r, "unit", c->unit);
    lg_cli_put_int(r, "sparsity", c->sparsity);
    lg_cli_put_word(r, "source", c->predicted ? "predicted" : "given");
    int csv = r->form == LG_CLI_CSV && has_positions(c);
    if (c->first || csv) lg_cli_put_int(r, "first", c->first);
    if (c->last || csv) lg_cli_put_int(r, "last", c->last);
    if (c->context || csv) lg_cli_put_int(r, "context", c->context);
}

static void put_cell(struct lg_cli_record *r, const void *row)
{
    const lg_cell *c = row;
    int csv = r->form == LG_CLI_CSV;
    lg_cli_put_int(r, "step", c->step);
    lg_cli_put_place(r, c);
    lg_cli_put_real(r, "tokens", "%.0f", c->tokens);
    lg_cli_put_int(r, "samples", samples_of(c));
    for (int i = -1; (i = next_kind(lg_cell_form(c), i)) >= 0;)
        lg_cli_put_value(r, lg_kind_at(i), lg_cell_get(c, lg_kind_at(i)->name));
    if (of_documents(c)) {
        lg_cli_put_int(r, "documents_there", c->there);
    } else if (c->there || csv) {
        lg_cli_put_int(r, "lines", c->there);
        lg_cli_put_bool(r, "held_out", c->held_out);
    }
    lg_cli_put_real(r, "seconds", "%.3f", c->seconds);
    if (!csv) lg_cli_put_bool(r, "kept", c->kept);
}

void lg_cli_put_step(struct lg_cli_record *r, const void *row)
{
    const lg_run_step *s = row;
    lg_cli_put_int(r, "step", s->step);
    lg_cli_put_real(r, "loss", "%.9g", s->loss);
    lg_cli_put_real(r, "accuracy", "%.9g", s->accuracy);
    lg_cli_put_real(r, "id_loss", "%.9g", s->id_loss);
    lg_cli_put_real(r, "id_accuracy", "%.9g", s->id_accuracy);
    lg_cli_put_real(r, "lr", "%.9g", s->lr);
    lg_cli_put_int(r, "tokens", s->tokens);
    lg_cli_put_real(r, "gflop", "%.9g", s->gflop);
    lg_cli_put_int(r, "length", s->length);
    lg_cli_put_int(r, "sparsity", s->sparsity);
}

/* ---- Columns of places --------------------------------------------------------------------- */

enum place { SETTING, LENGTH, SPARSITY, POSITIONS, CONTEXT, TOKENS, IDS, PLACES };

static const struct {
    const char *head;
    int min, left;
} places[PLACES] = {[SETTING] = {"setting", 16, 1},
                    [LENGTH] = {"length", 8, 0},
                    [SPARSITY] = {"sparsity", 8, 0},
                    [POSITIONS] = {"positions", 9, 0},
                    [CONTEXT] = {"context", 7, 0},
                    [TOKENS] = {"tokens", 7, 0},
                    [IDS] = {"IDs", 9, 1}};

/* Those that the cell has something for; t has its other ones. */
static unsigned places_of(const struct lg_cli_cells *t, const lg_cell *c)
{
    const lg_cell *first = t->count ? &t->rows[0].cell : c;
    unsigned some = 1u << LENGTH;
    if (*c->setting) some |= 1u << SETTING;
    if (c->sparsity) some |= 1u << SPARSITY;
    if (has_positions(c)) some |= 1u << POSITIONS;
    if (c->context != first->context) some |= 1u << CONTEXT;
    if (c->tokens > 0 && !t->joined) some |= 1u << TOKENS | 1u << IDS;
    if (c->predicted != first->predicted) some |= 1u << IDS;
    return some;
}

static void add_place(struct lg_cli_table *t, enum place column, const lg_cell *c)
{
    char range[64];
    switch (column) {
    case SETTING: lg_cli_table_add(t, "%s", lg_cli_place_setting(c)); break;
    case LENGTH: lg_cli_table_add(t, "%d", c->length); break;
    case SPARSITY: lg_cli_table_add(t, "%d", c->sparsity); break;
    case POSITIONS:
        put_positions(c, range, sizeof range);
        lg_cli_table_add(t, "%s", range);
        break;
    case CONTEXT: lg_cli_table_add(t, "%d", c->context); break;
    case TOKENS: lg_cli_table_add(t, "%.0f", c->tokens); break;
    default: lg_cli_table_add(t, "%s", c->predicted ? "predicted" : "given");
    }
}

/* ---- The table ----------------------------------------------------------------------------- */

/* Puts columns for the cell among those of the table; 1: there are new ones. */
static int see(struct lg_cli_cells *t, const lg_cell *c)
{
    unsigned old_places = t->places;
    uint64_t old_kinds = t->kinds;
    t->places |= places_of(t, c);
    for (int i = -1; (i = next_kind(lg_cell_form(c), i)) >= 0;) {
        const lg_value *v = lg_cell_get(c, lg_kind_at(i)->name);
        if (v && !isnan(v->value)) t->kinds |= UINT64_C(1) << i;
    }
    return t->places != old_places || t->kinds != old_kinds;
}

static int has_range(const struct lg_cli_cells *t, const lg_kind *kind)
{
    return t->joined || (kind->leads && kind->interval != LG_INTERVAL_NONE);
}

/* A heading is of up to three lines. */
struct heading {
    char line[3][LG_CLI_COLUMNS][32];
    const char *group;
};

static void add_column(struct lg_cli_table *t, struct heading *h, const char *head, int min,
                       int left)
{
    t->min[t->columns] = min;
    t->left |= (uint64_t)left << t->columns;
    snprintf(h->line[2][t->columns++], 32, "%s", head);
}

/* "right tokens, teacher-forced" has "right" above "tokens" and above both "teacher-forced", which need not be
 * said again beside it. */
static void add_kind(struct lg_cli_table *t, struct heading *h, const lg_kind *kind)
{
    const char *label = kind->label, *comma = strstr(label, ", "), *group = comma ? comma + 2 : "";
    int n = comma ? (int)(comma - label) : (int)strlen(label), cut = n;
    while (cut && label[cut - 1] != ' ') cut--;
    if (strcmp(group, h->group) != 0) snprintf(h->line[0][t->columns], 32, "%s", group);
    h->group = group;
    if (cut) snprintf(h->line[1][t->columns], 32, "%.*s", cut - 1, label);
    add_column(t, h, label + cut, kind->unit == LG_UNIT_TOKENS ? 10 : 7, 0);
    h->line[2][t->columns - 1][n - cut] = 0;
}

static void begin_table(struct lg_cli_cells *t, const lg_cell *c)
{
    struct lg_cli_table *table = &t->table;
    struct heading h = {.group = ""};
    int kinds = 0, from = 2;
    lg_cli_table_clear(table);
    if (t->named) add_column(table, &h, "variant", 0, 1);
    for (int p = 0; p < PLACES; p++)
        if (t->places >> p & 1)
            add_column(table, &h, p == LENGTH ? c->unit : places[p].head, places[p].min,
                       places[p].left);
    for (int i = 0; i < lg_kind_count(); i++) {
        if (!(t->kinds >> i & 1)) continue;
        add_kind(table, &h, lg_kind_at(i));
        if (has_range(t, lg_kind_at(i)))
            add_column(table, &h, t->joined ? "quartiles" : "95% interval", 14, 0);
        kinds++;
    }
    add_column(table, &h,
               !t->joined && of_documents(c) ? "documents"
               : !t->joined                  ? "samples"
               : kinds == 1                  ? "each seed"
                                             : "seeds",
               7, t->joined && kinds == 1);
    add_column(table, &h, "", 0, 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < table->columns; k++)
            if (*h.line[i][k] && i < from) from = i;
    for (int i = from; i < 3; i++)
        for (int k = 0; k < table->columns; k++) lg_cli_table_add(table, "%s", h.line[i][k]);
}

/* How many samples, and what else is to be said of the cell. */
static void add_tail(struct lg_cli_table *t, const lg_cell *c)
{
    const char *lines = !c->there || of_documents(c) ? ""
                        : c->held_out                ? "held-out lines"
                                                     : "lines";
    if (c->there)
        lg_cli_table_add(t, "%d of %lld", samples_of(c), (long long)c->there);
    else
        lg_cli_table_add(t, "%d", samples_of(c));
    lg_cli_table_add(t, "%s%s%s", lines, *lines && c->kept ? "  " : "", c->kept ? "(kept)" : "");
}

static void print_row(struct lg_cli_cells *t, const struct lg_cli_row *row)
{
    const lg_cell *c = &row->cell;
    char text[64];
    if (see(t, c) || !t->table.columns) {
        if (t->table.columns) putchar('\n');
        begin_table(t, c);
    }
    if (t->named) lg_cli_table_add(&t->table, "%s", row->of);
    for (int p = 0; p < PLACES; p++)
        if (t->places >> p & 1) add_place(&t->table, (enum place)p, c);
    for (int i = 0; i < lg_kind_count(); i++) {
        const lg_kind *kind = lg_kind_at(i);
        if (!(t->kinds >> i & 1)) continue;
        const lg_value *v = lg_cell_get(c, kind->name);
        lg_cli_table_add(&t->table, "%s", lg_cli_value_text(kind, v ? v->value : NAN, text));
        if (has_range(t, kind))
            lg_cli_table_add(&t->table, "%s",
                             lg_cli_range_text(kind, v ? v->low : NAN, v ? v->high : NAN, text));
    }
    if (row->tail) {
        lg_cli_table_add(&t->table, "%s", row->tail);
        lg_cli_table_add(&t->table, "%s", row->remark);
    } else {
        add_tail(&t->table, c);
    }
}

void lg_cli_cells_print(struct lg_cli_cells *t)
{
    for (int i = 0; i < t->count; i++) {
        see(t, &t->rows[i].cell);
        t->named |= *t->rows[i].of != 0;
    }
    for (int i = 0; i < t->count; i++) print_row(t, &t->rows[i]);
    if (t->count) lg_cli_table_flush(&t->table);
}

void lg_cli_cells_explain(const struct lg_cli_cells *t)
{
    if (t->record.form != LG_CLI_TABLE || !t->count || !of_documents(&t->rows[0].cell)) return;
    const lg_cell *c = &t->rows[0].cell;
    printf("\nIn %s%s, mean over %sdocuments", lg_cli_unit_text(c->value[0].kind),
           t->joined ? ", median of the seeds" : "", t->places >> SETTING & 1 ? "" : "held-out ");
    if (c->context && !(t->places >> CONTEXT & 1))
        printf("; sliding: the last %d tokens alone", c->context);
    if (!t->joined) printf(". Trained on %d %s", c->trained_length, c->unit);
    puts(".");
}

/* ---- Rows ---------------------------------------------------------------------------------- */

void lg_cli_cells_keep(void *cells, const lg_cell *cell)
{
    struct lg_cli_cells *t = cells;
    struct lg_cli_row *more = lg_cli_grow(t->rows, t->count, &t->room, sizeof *more);
    t->lost |= !more;
    if (!more) return;
    t->rows = more;
    t->rows[t->count] = (struct lg_cli_row){.cell = *cell, .of = t->of ? lg_cli_intern(t->of) : ""};
    t->rows[t->count++].cell.unit = lg_cli_intern(lg_cli_plain(cell->unit));
}

void lg_cli_cells_add(void *cells, const lg_cell *cell)
{
    struct lg_cli_cells *t = cells;
    if (t->record.form == LG_CLI_TABLE) {
        print_row(t, &(struct lg_cli_row){.cell = *cell});
        lg_cli_table_flush(&t->table);
    } else {
        lg_cli_record_print(&t->record, put_cell, cell);
    }
    fflush(stdout);
    lg_cli_cells_keep(t, cell);
}

void lg_cli_cells_compare(struct lg_cli_cells *t, int from)
{
    int predicted = 0, n = from;
    for (int i = from; i < t->count; i++) predicted |= t->rows[i].cell.predicted;
    for (int i = from; i < t->count; i++) {
        const lg_cell *c = &t->rows[i].cell;
        if (c->predicted == predicted && (!c->context || c->context == c->trained_length))
            t->rows[n++] = t->rows[i];
    }
    t->count = n;
}

/* By setting, sparsity, length and position. */
static int order(const lg_cell *a, const lg_cell *b)
{
    int names = strcmp(a->setting, b->setting);
    if (names) return names;
    if (a->sparsity != b->sparsity) return a->sparsity < b->sparsity ? -1 : 1;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

int lg_cli_same_place(const lg_cell *a, const lg_cell *b)
{
    return order(a, b) == 0 && a->predicted == b->predicted && a->context == b->context;
}

static int order_places(const void *a, const void *b)
{
    return order(*(const lg_cell *const *)a, *(const lg_cell *const *)b);
}

int lg_cli_cells_places(const struct lg_cli_cells *t, const lg_cell **place)
{
    int n = 0;
    for (int i = 0; i < t->count; i++) place[i] = &t->rows[i].cell;
    qsort(place, (size_t)t->count, sizeof *place, order_places);
    for (int i = 0; i < t->count; i++)
        if (!n || order(place[n - 1], place[i]) != 0) place[n++] = place[i];
    return n;
}

const lg_value *lg_cli_cells_find(const struct lg_cli_cells *t, const char *of, int64_t step,
                                  const lg_cell *place, const lg_kind *kind, const lg_cell **cell)
{
    for (int i = 0; i < t->count; i++) {
        const struct lg_cli_row *r = &t->rows[i];
        if ((of && strcmp(r->of, of) != 0) || (step >= 0 && r->cell.step != step)) continue;
        if (order(&r->cell, place) != 0 || !lg_cell_get(&r->cell, kind->name)) continue;
        if (cell) *cell = &r->cell;
        return lg_cell_get(&r->cell, kind->name);
    }
    return NULL;
}

void lg_cli_cells_clear(struct lg_cli_cells *t)
{
    free(t->rows);
    t->rows = NULL;
    t->count = t->room = 0;
    lg_cli_table_clear(&t->table);
}
