/* store_cells.c: what was measured of a run: one row per place and kind. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "runs/store_rows.h"

/* A value at its place. */
struct row {
    lg_cell cell; /* without values */
    const char *kind;
    lg_value v;
};

#define AT(type, name) LG__FIELD(struct row, type, #name, cell.name)
#define OF(type, name) LG__FIELD(struct row, type, #name, v.name)
static const struct lg__column columns[] = {
    AT(LONG, step),
    AT(CHARS, setting),
    AT(CHARS, data),
    AT(INT, context),
    AT(INT, sparsity),
    AT(INT, predicted),
    AT(INT, length),
    AT(INT, first),
    AT(INT, last),
    LG__FIELD(struct row, TEXT, "kind", kind),
    OF(INT, samples),
    AT(LONG, there),
    AT(INT, held_out),
    OF(MAYBE, value),
    OF(MAYBE, low),
    OF(MAYBE, high),
    AT(REAL, tokens),
    AT(REAL, seconds),
    {0},
};
#define PLACE "step, setting, data, context, sparsity, predicted, length, first"
const struct lg__table lg__table_measurements = {.name = "measurements",
                                                 .columns = columns,
                                                 .of_run = 1,
                                                 .measured = 1,
                                                 .keys =
                                                     "PRIMARY KEY(run, " PLACE ", kind, samples)",
                                                 .end = "STRICT, WITHOUT ROWID"};

int lg__store_add_cells(lg_store *s, int64_t number, const lg_cell *cells, int count, lg_error *err)
{
    double seconds = 0;
    int e = lg__store_begin(s, err);
    if (e) return e;
    for (int i = 0; i < count; i++) {
        struct row row = {.cell = cells[i]};
        seconds += cells[i].seconds;
        for (int k = 0; k < cells[i].values && !e; k++) {
            row.v = cells[i].value[k];
            row.kind = row.v.kind->name;
            e = lg__table_put(s, &lg__table_measurements, number, &row, err);
        }
    }
    if (!e)
        e = lg__store_run(s, err, "UPDATE runs SET seconds = seconds + ? WHERE number = ?", "ri",
                          seconds, number);
    return lg__store_end(s, e, err);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

enum { KINDS = 1000, WHERE = 1200 + 2 * KINDS, SQL = LG__TABLE_LIST + 500 + WHERE };

/* The rows of a place come one after the other; what they need of the run behind each. */
static const char *select_text(char sql[SQL], const char *where)
{
    char list[LG__TABLE_LIST];
    snprintf(sql, SQL,
             "SELECT %s, r.unit, r.least, r.length, r.sparsity FROM measurements AS e JOIN runs AS"
             " r ON r.number = e.run WHERE %s ORDER BY e.step, e.setting, e.context, e.predicted,"
             " e.sparsity, e.length, e.first, e.kind",
             lg__table_list(&lg__table_measurements, 'e', list), where);
    return sql;
}

static int same_place(const lg_cell *a, const lg_cell *b)
{
    return a->step == b->step && a->context == b->context && a->sparsity == b->sparsity &&
           a->predicted == b->predicted && a->length == b->length && a->first == b->first &&
           a->last == b->last && strcmp(a->setting, b->setting) == 0;
}

/* In the order of the table of kinds. A kind that this program does not know is left out. */
static void add_value(lg_cell *c, const struct row *row)
{
    lg_value v = row->v;
    v.kind = lg_kind_find(row->kind);
    if (!v.kind || c->values == LG_CELL_VALUES) return;
    int at = c->values++;
    for (; at && c->value[at - 1].kind > v.kind; at--) c->value[at] = c->value[at - 1];
    c->value[at] = v;
    if (row->cell.seconds > c->seconds) c->seconds = row->cell.seconds;
}

static void read_row(lg__rows *q, struct row *row)
{
    *row = (struct row){.cell.kept = 1};
    int at = lg__table_read(&lg__table_measurements, q, 0, row);
    row->cell.unit = lg__store_text(q, at);
    row->cell.trained_least = (int)lg__store_int(q, at + 1);
    row->cell.trained_length = (int)lg__store_int(q, at + 2);
    row->cell.trained_sparsity = (int)lg__store_int(q, at + 3);
}

/* The rows of a statement, place by place. */
static int tell_cells(lg_store *s, lg__rows *q, lg_cell_callback *each, void *context,
                      lg_error *err)
{
    int e = q ? 1 : LG_ERROR_SYSTEM, index = 0;
    char unit[64] = "";
    lg_cell cell = {0};
    while (e > 0 && (e = lg__store_next(s, q, err)) >= 0) {
        struct row row;
        if (e) read_row(q, &row);
        if (cell.values && (!e || !same_place(&cell, &row.cell))) {
            cell.index = index++;
            each(context, &cell);
            cell.values = 0;
        }
        if (!e) break;
        if (!lg_kind_find(row.kind)) continue;
        if (!cell.values) {
            cell = row.cell;
            snprintf(unit, sizeof unit, "%s", row.cell.unit);
            cell.unit = unit;
        }
        add_value(&cell, &row);
    }
    lg__store_close_rows(s, q);
    return e;
}

int lg__store_get_cells(lg_store *s, int64_t number, const lg_cell *like, int samples,
                        lg_cell_callback *each, void *context, lg_error *err)
{
    /* As many samples as are asked for, or all that there are. */
    char sql[SQL];
    lg__rows *q = lg__store_prepare(
        s, err,
        select_text(sql, "e.run = ?1 AND e.step = ?2 AND e.setting = ?3 AND ?4 IN (e.data, '') AND"
                         " e.context = ?5 AND e.length = ?6 AND e.sparsity = ?7 AND"
                         " e.predicted = ?8 AND"
                         " (e.samples = ?9 OR e.samples = e.there AND e.there < ?9)"),
        "iittiiiii", number, like->step, like->setting, like->data, (int64_t)like->context,
        (int64_t)like->length, (int64_t)like->sparsity, (int64_t)like->predicted, (int64_t)samples);
    return tell_cells(s, q, each, context, err);
}

#define SAME_PLACE                                                                                 \
    "FROM measurements AS o WHERE o.run = e.run AND o.step = e.step AND o.setting = e.setting AND" \
    " o.context = e.context AND o.sparsity = e.sparsity AND o.predicted = e.predicted AND"         \
    " o.length = e.length"

/* "'exact', 'token_accuracy'": the kinds of a form, NULL: all, for a list in SQL. */
static const char *kinds_of(const char *form, char text[KINDS])
{
    size_t n = 0;
    *text = 0;
    for (int i = 0; i < lg_kind_count(); i++)
        if (!form || strcmp(lg_kind_at(i)->form, form) == 0)
            n += (size_t)snprintf(text + n, n < KINDS ? KINDS - n : 0, "%s'%s'", n ? ", " : "",
                                  lg_kind_at(i)->name);
    return text;
}

int lg_store_cells(lg_store *s, int64_t number, int64_t step, const char *form,
                   lg_cell_callback *each, void *context, lg_error *err)
{
    /* Of several states of the data, the latest; of what was measured there with several numbers of
     * samples, the one with the most. */
    char sql[SQL], where[WHERE], kinds[KINDS];
    kinds_of(form, kinds);
    snprintf(
        where, sizeof where,
        "e.run = ?1 AND e.kind IN (%s) AND (?2 = -2 OR e.step = CASE ?2 WHEN -1 THEN"
        " (SELECT max(step) FROM measurements WHERE run = ?1 AND kind IN (%s)) ELSE ?2 END) AND"
        " e.data = (SELECT o.data " SAME_PLACE " ORDER BY o.created DESC LIMIT 1) AND NOT EXISTS"
        " (SELECT 1 " SAME_PLACE " AND o.first = e.first AND o.kind = e.kind AND"
        " o.data = e.data AND o.samples > e.samples)",
        kinds, kinds);
    lg__rows *q = lg__store_prepare(s, err, select_text(sql, where), "ii", number, step);
    return tell_cells(s, q, each, context, err);
}
