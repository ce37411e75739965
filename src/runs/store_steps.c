/* store_steps.c: what each step of a run's training gave. */
#include "base/clock.h"
#include <stdio.h>

#include "runs/store_rows.h"

#define STEP(type, name) LG__FIELD(lg_run_step, type, #name, name)
static const struct lg__column columns[] = {
    STEP(LONG, step),
    STEP(REAL, loss),
    STEP(REAL, id_loss),
    STEP(REAL, accuracy),
    STEP(REAL, id_accuracy),
    STEP(REAL, lr),
    STEP(LONG, tokens),
    STEP(REAL, gflop),
    STEP(INT, length),
    STEP(INT, sparsity),
    {0},
};
const struct lg__table lg__table_metrics = {.name = "metrics",
                                            .columns = columns,
                                            .of_run = 1,
                                            .keys = "PRIMARY KEY(run, step)",
                                            .end = "STRICT, WITHOUT ROWID"};

int lg__store_add_steps(lg_store *s, int64_t number, const lg_run_step *rows, int count,
                        double seconds, lg_error *err)
{
    int e = count ? lg__store_begin(s, err) : 0;
    if (e || !count) return e;
    for (int i = 0; i < count && !e; i++)
        e = lg__table_put(s, &lg__table_metrics, number, &rows[i], err);
    if (!e)
        e = lg__store_run(
            s, err, "UPDATE runs SET step = ?, updated = ?, seconds = seconds + ? WHERE number = ?",
            "irri", rows[count - 1].step, lg__date(), seconds, number);
    return lg__store_end(s, e, err);
}

int lg__store_rewind(lg_store *s, int64_t number, int64_t step, int64_t *steps, lg_error *err)
{
    static const char *const forget[] = {"DELETE FROM metrics WHERE run = ? AND step > ?",
                                         "DELETE FROM measurements WHERE run = ? AND step > ?"};
    int e = lg__store_begin(s, err);
    if (e) return e;
    for (size_t i = 0; i < sizeof forget / sizeof *forget && !e; i++)
        e = lg__store_run(s, err, forget[i], "ii", number, step);
    if (!e)
        e = lg__store_run(s, err, "UPDATE runs SET step = ? WHERE number = ?", "ii", step, number);
    lg__rows *q =
        e ? NULL
          : lg__store_prepare(s, err, "SELECT count(*) FROM metrics WHERE run = ?", "i", number);
    if (!e) e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *steps = lg__store_int(q, 0);
    lg__store_close_rows(s, q);
    return lg__store_end(s, e > 0 ? 0 : e, err);
}

int lg_store_steps(lg_store *s, int64_t number, lg_run_watch *each, void *context, lg_error *err)
{
    char list[LG__TABLE_LIST], sql[LG__TABLE_LIST + 200];
    snprintf(
        sql, sizeof sql,
        "SELECT %s, r.steps FROM metrics AS m JOIN runs AS r ON r.number = m.run WHERE m.run = ?"
        " ORDER BY m.step",
        lg__table_list(&lg__table_metrics, 'm', list));
    lg__rows *q = lg__store_prepare(s, err, sql, "i", number);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_run_step t = {0};
        t.steps = lg__store_int(q, lg__table_read(&lg__table_metrics, q, 0, &t));
        if (!each(context, &t)) e = 0;
    }
    lg__store_close_rows(s, q);
    return e;
}
