/* store_cells.c: what a run answers, cell by cell. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runs/store_rows.h"

#define CELL(type, name, field) LG__FIELD(lg_run_cell, type, name, field)
static const struct lg__column columns[] = {
    CELL(LONG, "step", step),
    CELL(CHARS, "setting", setting),
    CELL(CHARS, "data", data),
    CELL(INT, "length", length),
    CELL(INT, "sparsity", sparsity),
    CELL(INT, "predicted", predicted),
    CELL(INT, "samples", score.samples),
    CELL(INT, "exact", score.exact),
    CELL(REAL, "tokens", tokens),
    CELL(LONG, "answer_tokens", score.tokens),
    CELL(LONG, "tokens_right", score.right),
    CELL(LONG, "ids", score.ids),
    CELL(LONG, "ids_right", score.ids_right),
    CELL(INT, "first_least", score.first_least),
    CELL(INT, "first_median", score.first_median),
    CELL(TENTHS, "first_in", score.first_in),
    CELL(INT, "taught_samples", taught.samples),
    CELL(INT, "taught_exact", taught.exact),
    CELL(LONG, "taught_tokens", taught.tokens),
    CELL(LONG, "taught_tokens_right", taught.right),
    CELL(LONG, "taught_ids", taught.ids),
    CELL(LONG, "taught_ids_right", taught.ids_right),
    CELL(REAL, "low", low),
    CELL(REAL, "high", high),
    CELL(REAL, "seconds", seconds),
    {0},
};
const struct lg__table lg__table_evals = {
    .name = "evals",
    .columns = columns,
    .of_run = 1,
    .measured = 1,
    .keys = "PRIMARY KEY(run, step, setting, data, sparsity, predicted, length, samples)",
    .end = "STRICT, WITHOUT ROWID"};

int lg__store_add_cell(lg_store *s, int64_t number, const lg_run_cell *c, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__table_put(s, &lg__table_evals, number, c, err);
    if (!e)
        e = lg__store_run(s, err, "UPDATE runs SET seconds = seconds + ? WHERE number = ?", "ri",
                          c->seconds, number);
    return lg__store_end(s, e, err);
}

/* "SELECT the cell, what it needs of the run, and how many there are" and the rest. */
enum { SQL = LG__TABLE_LIST + 1500 };

static const char *select_text(char sql[SQL], const char *where)
{
    char list[LG__TABLE_LIST];
    snprintf(sql, SQL,
             "SELECT %s, r.unit, r.least, r.length, r.sparsity, count(*) OVER () FROM evals AS e"
             " JOIN runs AS r ON r.number = e.run WHERE %s",
             lg__table_list(&lg__table_evals, 'e', list), where);
    return sql;
}

static void read_cell(lg__rows *q, lg_run_cell *c)
{
    *c = (lg_run_cell){.kept = 1};
    int at = lg__table_read(&lg__table_evals, q, 0, c);
    c->unit = lg__store_text(q, at);
    c->trained_least = (int)lg__store_int(q, at + 1);
    c->trained_length = (int)lg__store_int(q, at + 2);
    c->trained_sparsity = (int)lg__store_int(q, at + 3);
    c->count = (int)lg__store_int(q, at + 4);
    c->score.text = (int64_t)(c->tokens * c->score.samples + 0.5);
    c->taught.text = c->taught.samples ? c->score.text : 0;
}

int lg__store_get_cell(lg_store *s, int64_t number, lg_run_cell *cell, int samples, int taught,
                       int *found, lg_error *err)
{
    char sql[SQL];
    lg__rows *q = lg__store_prepare(
        s, err,
        select_text(sql,
                    "e.run = ? AND e.step = ? AND e.setting = ? AND e.data = ? AND e.length = ?"
                    " AND e.sparsity = ? AND e.predicted = ? AND e.samples = ? AND"
                    " e.taught_samples >= ?"),
        "iittiiiii", number, cell->step, cell->setting, cell->data, (int64_t)cell->length,
        (int64_t)cell->sparsity, (int64_t)cell->predicted, (int64_t)samples,
        (int64_t)(taught ? samples : 0));
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) {
        read_cell(q, cell);
        cell->unit = NULL;
    }
    *found = e > 0;
    lg__store_close_rows(s, q);
    return e < 0 ? e : 0;
}

#define SAME_CELL                                                                                  \
    "FROM evals AS o WHERE o.run = e.run AND o.step = e.step AND o.setting = e.setting AND"        \
    " o.sparsity = e.sparsity AND o.predicted = e.predicted AND o.length = e.length"

int lg_store_cells(lg_store *s, int64_t number, int64_t step, lg_run_table *each, void *context,
                   lg_error *err)
{
    /* Of several states of a file of examples, the latest; of a cell that was made of it with several
     * numbers of samples, the one with the most. */
    char sql[SQL];
    lg__rows *q = lg__store_prepare(
        s, err,
        select_text(sql, "e.run = ?1 AND (?2 = -2 OR e.step = CASE ?2 WHEN -1 THEN"
                         " (SELECT max(step) FROM evals WHERE run = ?1) ELSE ?2 END) AND"
                         " e.data = (SELECT o.data " SAME_CELL
                         " ORDER BY o.created DESC LIMIT 1) AND NOT EXISTS"
                         " (SELECT 1 " SAME_CELL " AND o.data = e.data AND o.samples > e.samples)"
                         " ORDER BY e.step, e.setting, e.predicted, e.sparsity, e.length"),
        "ii", number, step);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    lg_run_cell cell;
    for (int i = 0; e > 0 && (e = lg__store_next(s, q, err)) > 0; i++) {
        read_cell(q, &cell);
        cell.index = i;
        each(context, &cell);
    }
    lg__store_close_rows(s, q);
    return e;
}
