/* store_losses.c: the table of losses by position. The rows of a length are written together, so that
 * whoever reads one of them has all. */
#include <stdio.h>
#include <string.h>

#include "lab/store_rows.h"

const char lg__store_losses_schema[] =
    "CREATE TABLE losses("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  texts TEXT NOT NULL, data TEXT NOT NULL, context INTEGER NOT NULL, length INTEGER NOT NULL,"
    "  documents INTEGER NOT NULL, there INTEGER NOT NULL, low INTEGER NOT NULL,"
    "  high INTEGER NOT NULL, truncated REAL, truncated_low REAL, truncated_high REAL,"
    "  sliding REAL, sliding_low REAL, sliding_high REAL, excess REAL,"
    "  excess_low REAL, excess_high REAL, machine TEXT NOT NULL, created REAL NOT NULL,"
    "  PRIMARY KEY(run, step, texts, data, context, length, documents, low)) WITHOUT ROWID;";

static int add_row(lg_store *s, int64_t number, const lg_text_row *r, const char *machine,
                   double now, lg_error *err)
{
    const lg_text_mean *t = &r->truncated, *l = &r->sliding, *x = &r->excess;
    return lg__store_finish(
        s,
        lg__store_prepare(s, err,
                          "INSERT OR REPLACE INTO losses VALUES"
                          "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                          "iitt"
                          "iiiiii"
                          "rrrrrrrrr"
                          "tr",
                          number, r->step, r->texts, r->data, (int64_t)r->context,
                          (int64_t)r->length, (int64_t)r->documents, r->there, (int64_t)r->low,
                          (int64_t)r->high, t->value, t->low, t->high, l->value, l->low, l->high,
                          x->value, x->low, x->high, machine, now),
        err);
}

int lg__store_add_losses(lg_store *s, int64_t number, const lg_text_row *rows, int count,
                         double seconds, lg_error *err)
{
    char line[200];
    double now = lg__store_now();
    int e = lg__store_begin(s, err);
    if (e) return e;
    lg__store_machine(line);
    for (int i = 0; i < count && !e; i++) e = add_row(s, number, &rows[i], line, now, err);
    if (!e)
        e = lg__store_finish(
            s,
            lg__store_prepare(s, err, "UPDATE runs SET seconds = seconds + ? WHERE number = ?",
                              "ri", seconds, number),
            err);
    return lg__store_end(s, e, err);
}

#define LOSSES                                                                                     \
    "SELECT o.step, texts, data, context, o.length, documents, there, low, high, truncated,"       \
    " truncated_low, truncated_high, sliding, sliding_low, sliding_high, excess, excess_low,"      \
    " excess_high, r.least, r.length FROM losses AS o JOIN runs AS r ON r.number = o.run"

static lg_text_row read_row(lg__rows *q)
{
    lg_text_row r = {.step = lg__store_int(q, 0),
                     .context = (int)lg__store_int(q, 3),
                     .length = (int)lg__store_int(q, 4),
                     .documents = (int)lg__store_int(q, 5),
                     .there = lg__store_int(q, 6),
                     .low = (int)lg__store_int(q, 7),
                     .high = (int)lg__store_int(q, 8),
                     .truncated = lg__store_mean(q, 9),
                     .sliding = lg__store_mean(q, 12),
                     .excess = lg__store_mean(q, 15),
                     .trained_least = (int)lg__store_int(q, 18),
                     .trained_length = (int)lg__store_int(q, 19),
                     .kept = 1};
    snprintf(r.texts, sizeof r.texts, "%s", lg__store_text(q, 1));
    snprintf(r.data, sizeof r.data, "%s", lg__store_text(q, 2));
    return r;
}

int lg__store_get_losses(lg_store *s, int64_t number, const lg_text_row *like, int documents,
                         lg_text_told *each, void *context, lg_error *err)
{
    /* As many documents as are asked for, or all that there are. */
    lg__rows *q = lg__store_prepare(
        s, err,
        LOSSES
        " WHERE run = ?1 AND o.step = ?2 AND texts = ?3 AND ?4 IN (data, '') AND context = ?5 AND"
        " o.length = ?6 AND (documents = ?7 OR documents = there AND there < ?7)"
        " ORDER BY low",
        "iittiii", number, like->step, like->texts, like->data, (int64_t)like->context,
        (int64_t)like->length, (int64_t)documents);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_text_row row = read_row(q);
        each(context, &row);
    }
    lg__store_close_rows(q);
    return e;
}

#define SAME_LENGTH                                                                                \
    "FROM losses AS p WHERE p.run = o.run AND p.step = o.step AND p.texts = o.texts AND"           \
    " p.context = o.context AND p.length = o.length"

int lg_store_losses(lg_store *s, int64_t number, int64_t step, lg_text_told *each, void *context,
                    lg_error *err)
{
    /* Of several states of the texts, the latest; of a length that was made of it with several numbers
     * of documents, the one with the most. */
    lg__rows *q = lg__store_prepare(
        s, err,
        LOSSES " WHERE run = ?1 AND (?2 = -2 OR o.step = CASE ?2 WHEN -1 THEN"
               " (SELECT max(step) FROM losses WHERE run = ?1) ELSE ?2 END) AND"
               " o.data = (SELECT p.data " SAME_LENGTH " ORDER BY p.created DESC LIMIT 1) AND NOT"
               " EXISTS (SELECT 1 " SAME_LENGTH
               " AND p.data = o.data AND p.documents > o.documents)"
               " ORDER BY o.step, texts, context, o.length, low",
        "ii", number, step);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_text_row row = read_row(q);
        each(context, &row);
    }
    lg__store_close_rows(q);
    return e;
}
