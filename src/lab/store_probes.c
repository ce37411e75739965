/* store_probes.c: the table of probes, one row a bin of k*. The bins of a probe are written together. */
#include "lab/store_rows.h"

const char lg__store_probes_schema[] =
    "CREATE TABLE probes("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  against TEXT NOT NULL, method TEXT NOT NULL, against_step INTEGER NOT NULL,"
    "  data TEXT NOT NULL, length INTEGER NOT NULL, context INTEGER NOT NULL,"
    "  documents INTEGER NOT NULL, keep_last INTEGER NOT NULL, keep_first INTEGER NOT NULL,"
    "  most_k INTEGER NOT NULL, epsilon REAL NOT NULL, least REAL NOT NULL, low INTEGER NOT NULL,"
    "  high INTEGER NOT NULL, predictions INTEGER NOT NULL, loss REAL, loss_low REAL,"
    "  loss_high REAL, excess REAL, excess_low REAL, excess_high REAL, machine TEXT NOT NULL,"
    "  created REAL NOT NULL);";

static int add_bin(lg_store *s, int64_t number, const lg_store_probe *p, const lg_probe_bin *b,
                   const char *machine, double now, lg_error *err)
{
    lg__rows *q = lg__store_prepare(
        s, err, "INSERT INTO probes VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iittitiiiiiirriiirrrrrrtr", number, p->step, p->against, p->method, p->against_step,
        p->data, (int64_t)p->length, (int64_t)p->context, (int64_t)p->documents,
        (int64_t)p->keep_last, (int64_t)p->keep_first, (int64_t)p->most_k, p->epsilon, p->least,
        (int64_t)b->low, (int64_t)b->high, (int64_t)b->predictions, b->loss.value, b->loss.low,
        b->loss.high, b->excess.value, b->excess.low, b->excess.high, machine, now);
    return lg__store_finish(s, q, err);
}

int lg__store_add_probe(lg_store *s, int64_t number, const lg_store_probe *p,
                        const lg_probe_bin *bins, int count, lg_error *err)
{
    char line[200];
    double now = lg__store_now();
    int e = lg__store_begin(s, err);
    if (e) return e;
    lg__store_machine(line);
    for (int i = 0; i < count && !e; i++) e = add_bin(s, number, p, &bins[i], line, now, err);
    return lg__store_end(s, e, err);
}

int lg_store_probes(lg_store *s, int64_t number, lg_store_probe_told *each, void *context,
                    lg_error *err)
{
    lg__rows *q = lg__store_prepare(
        s, err,
        "SELECT step, against_step, against, method, data, length, context, documents, keep_last,"
        " keep_first, most_k, epsilon, least, low, high, predictions, loss, loss_low, loss_high,"
        " excess, excess_low, excess_high FROM probes WHERE run = ? ORDER BY created, rowid",
        "i", number);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_store_probe p = {.step = lg__store_int(q, 0),
                            .against_step = lg__store_int(q, 1),
                            .against = lg__store_text(q, 2),
                            .method = lg__store_text(q, 3),
                            .data = lg__store_text(q, 4),
                            .length = (int)lg__store_int(q, 5),
                            .context = (int)lg__store_int(q, 6),
                            .documents = (int)lg__store_int(q, 7),
                            .keep_last = (int)lg__store_int(q, 8),
                            .keep_first = (int)lg__store_int(q, 9),
                            .most_k = (int)lg__store_int(q, 10),
                            .epsilon = lg__store_real(q, 11),
                            .least = lg__store_real(q, 12),
                            .bin = {.low = (int)lg__store_int(q, 13),
                                    .high = (int)lg__store_int(q, 14),
                                    .predictions = (int)lg__store_int(q, 15),
                                    .loss = lg__store_mean(q, 16),
                                    .excess = lg__store_mean(q, 19)}};
        each(context, &p);
    }
    lg__store_close_rows(q);
    return e;
}
