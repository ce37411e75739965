/* store_probes.c: the table of probes, one row a bin of k*. The bins of a probe are written together. */
#include <stdio.h>

#include "runs/store_rows.h"
#include "base/clock.h"

#define BIN(type, name, field) LG__FIELD(lg_store_probe, type, name, field)
static const struct lg__column columns[] = {
    BIN(LONG, "step", step),
    BIN(LONG, "against_step", against_step),
    BIN(TEXT, "against", against),
    BIN(TEXT, "method", method),
    BIN(TEXT, "data", data),
    BIN(INT, "length", length),
    BIN(INT, "context", context),
    BIN(INT, "documents", documents),
    BIN(INT, "keep_last", keep_last),
    BIN(INT, "keep_first", keep_first),
    BIN(INT, "most_k", most_k),
    BIN(REAL, "epsilon", epsilon),
    BIN(REAL, "least", least),
    BIN(INT, "low", bin.low),
    BIN(INT, "high", bin.high),
    BIN(INT, "predictions", bin.predictions),
    BIN(MAYBE, "loss", bin.loss.value),
    BIN(MAYBE, "loss_low", bin.loss.low),
    BIN(MAYBE, "loss_high", bin.loss.high),
    BIN(MAYBE, "excess", bin.excess.value),
    BIN(MAYBE, "excess_low", bin.excess.low),
    BIN(MAYBE, "excess_high", bin.excess.high),
    {0},
};
/* The same probe may be made several times: its rows have no key but their number. */
const struct lg__table lg__table_probes = {.name = "probes",
                                           .columns = columns,
                                           .of_run = 1,
                                           .measured = 1,
                                           .keys = "number INTEGER PRIMARY KEY",
                                           .end =
                                               "STRICT; CREATE INDEX probes_of_run ON probes(run)"};

int lg__store_add_probe(lg_store *s, int64_t number, const lg_store_probe *p,
                        const lg_probe_bin *bins, int count, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    for (int i = 0; i < count && !e; i++) {
        lg_store_probe row = *p;
        row.bin = bins[i];
        e = lg__table_put(s, &lg__table_probes, number, &row, err);
    }
    return lg__store_end(s, e, err);
}

int lg_store_probes(lg_store *s, int64_t number, lg_store_probe_callback *each, void *context,
                    lg_error *err)
{
    char list[LG__TABLE_LIST], sql[LG__TABLE_LIST + 100];
    snprintf(sql, sizeof sql, "SELECT %s FROM probes AS p WHERE p.run = ? ORDER BY p.number",
             lg__table_list(&lg__table_probes, 'p', list));
    lg__rows *q = lg__store_prepare(s, err, sql, "i", number);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_store_probe p = {0};
        lg__table_read(&lg__table_probes, q, 0, &p);
        each(context, &p);
    }
    lg__store_close_rows(s, q);
    return e;
}
