/* store_losses.c: the table of losses by position. The rows of a length are written together, so that
 * whoever reads one of them has all. */
#include <stdio.h>
#include <string.h>

#include "runs/store_rows.h"
#include "base/clock.h"

#define ROW(type, name, field) LG__FIELD(lg_text_row, type, name, field)
static const struct lg__column columns[] = {
    ROW(LONG, "step", step),
    ROW(CHARS, "texts", texts),
    ROW(CHARS, "data", data),
    ROW(INT, "context", context),
    ROW(INT, "length", length),
    ROW(INT, "documents", documents),
    ROW(LONG, "there", there),
    ROW(INT, "low", low),
    ROW(INT, "high", high),
    ROW(MAYBE, "truncated", truncated.value),
    ROW(MAYBE, "truncated_low", truncated.low),
    ROW(MAYBE, "truncated_high", truncated.high),
    ROW(MAYBE, "sliding", sliding.value),
    ROW(MAYBE, "sliding_low", sliding.low),
    ROW(MAYBE, "sliding_high", sliding.high),
    ROW(MAYBE, "excess", excess.value),
    ROW(MAYBE, "excess_low", excess.low),
    ROW(MAYBE, "excess_high", excess.high),
    {0},
};
const struct lg__table lg__table_losses = {
    .name = "losses",
    .columns = columns,
    .of_run = 1,
    .measured = 1,
    .keys = "PRIMARY KEY(run, step, texts, data, context, length, documents, low)",
    .end = "STRICT, WITHOUT ROWID"};

int lg__store_add_losses(lg_store *s, int64_t number, const lg_text_row *rows, int count,
                         double seconds, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    for (int i = 0; i < count && !e; i++)
        e = lg__table_put(s, &lg__table_losses, number, &rows[i], err);
    if (!e)
        e = lg__store_run(s, err, "UPDATE runs SET seconds = seconds + ? WHERE number = ?", "ri",
                          seconds, number);
    return lg__store_end(s, e, err);
}

/* Tells the rows that the condition finds. */
enum { SQL = LG__TABLE_LIST + 1000 };

static const char *select_text(char sql[SQL], const char *where)
{
    char list[LG__TABLE_LIST];
    snprintf(
        sql, SQL,
        "SELECT %s, r.least, r.length FROM losses AS o JOIN runs AS r ON r.number = o.run WHERE"
        " %s",
        lg__table_list(&lg__table_losses, 'o', list), where);
    return sql;
}

static int tell_rows(lg_store *s, lg__rows *q, lg_text_callback *each, void *context, lg_error *err)
{
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_text_row row = {.kept = 1};
        int at = lg__table_read(&lg__table_losses, q, 0, &row);
        row.trained_least = (int)lg__store_int(q, at);
        row.trained_length = (int)lg__store_int(q, at + 1);
        each(context, &row);
    }
    lg__store_close_rows(s, q);
    return e;
}

int lg__store_get_losses(lg_store *s, int64_t number, const lg_text_row *like, int documents,
                         lg_text_callback *each, void *context, lg_error *err)
{
    char sql[SQL];
    /* As many documents as are asked for, or all that there are. */
    lg__rows *q = lg__store_prepare(
        s, err,
        select_text(sql, "o.run = ?1 AND o.step = ?2 AND o.texts = ?3 AND ?4 IN (o.data, '') AND"
                         " o.context = ?5 AND o.length = ?6 AND"
                         " (o.documents = ?7 OR o.documents = o.there AND o.there < ?7)"
                         " ORDER BY o.low"),
        "iittiii", number, like->step, like->texts, like->data, (int64_t)like->context,
        (int64_t)like->length, (int64_t)documents);
    return tell_rows(s, q, each, context, err);
}

#define SAME_LENGTH                                                                                \
    "FROM losses AS p WHERE p.run = o.run AND p.step = o.step AND p.texts = o.texts AND"           \
    " p.context = o.context AND p.length = o.length"

int lg_store_losses(lg_store *s, int64_t number, int64_t step, lg_text_callback *each,
                    void *context, lg_error *err)
{
    /* Of several states of the texts, the latest; of a length that was made of it with several numbers
     * of documents, the one with the most. */
    char sql[SQL];
    lg__rows *q = lg__store_prepare(
        s, err,
        select_text(sql, "o.run = ?1 AND (?2 = -2 OR o.step = CASE ?2 WHEN -1 THEN"
                         " (SELECT max(step) FROM losses WHERE run = ?1) ELSE ?2 END) AND"
                         " o.data = (SELECT p.data " SAME_LENGTH
                         " ORDER BY p.created DESC LIMIT 1) AND NOT EXISTS (SELECT 1 " SAME_LENGTH
                         " AND p.data = o.data AND p.documents > o.documents)"
                         " ORDER BY o.step, o.texts, o.context, o.length, o.low"),
        "ii", number, step);
    return tell_rows(s, q, each, context, err);
}
