/* store_table.c: schema, insert and select of a table, made of its columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "runs/store_rows.h"

static const char *const type_names[] = {
    [LG__COLUMN_INT] = "INTEGER NOT NULL", [LG__COLUMN_LONG] = "INTEGER NOT NULL",
    [LG__COLUMN_REAL] = "REAL NOT NULL",   [LG__COLUMN_MAYBE] = "REAL",
    [LG__COLUMN_TEXT] = "TEXT NOT NULL",   [LG__COLUMN_CHARS] = "TEXT NOT NULL"};

void lg__table_schema(const struct lg__table *t, lg_buffer *b)
{
    lg_buffer_print(b, "CREATE TABLE %s(", t->name);
    if (t->of_run)
        lg_buffer_put(b, "run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, ");
    for (const struct lg__column *c = t->columns; c->name; c++)
        lg_buffer_print(b, "%s %s%s%s, ", c->name, type_names[c->type], c->also ? " " : "",
                        c->also ? c->also : "");
    if (t->measured)
        lg_buffer_put(b,
                      "build INTEGER NOT NULL REFERENCES builds(number), created REAL NOT NULL, ");
    lg_buffer_print(b, "%s) %s;", t->keys, t->end);
}

/* ---- Writing ----------------------------------------------------------------------------------- */

static int bind(lg__rows *q, int i, const struct lg__column *c, const void *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case LG__COLUMN_INT: return lg__store_bind_int(q, i, *(const int *)field);
    case LG__COLUMN_LONG: return lg__store_bind_int(q, i, *(const int64_t *)field);
    case LG__COLUMN_REAL:
    case LG__COLUMN_MAYBE: return lg__store_bind_real(q, i, *(const double *)field);
    case LG__COLUMN_TEXT: {
        const char *text = *(const char *const *)field;
        return lg__store_bind_text(q, i, text ? text : "");
    }
    default: return lg__store_bind_text(q, i, field);
    }
}

/* "INSERT OR REPLACE INTO t(run, .., build, created) VALUES(?, ..)". */
static char *insert_text(const struct lg__table *t, lg_error *err)
{
    lg_buffer b = {0};
    int n = 2 * t->measured + t->of_run;
    lg_buffer_print(&b, "INSERT OR REPLACE INTO %s(%s", t->name, t->of_run ? "run" : "");
    for (const struct lg__column *c = t->columns; c->name; c++, n++)
        lg_buffer_print(&b, "%s%s", c == t->columns && !t->of_run ? "" : ", ", c->name);
    lg_buffer_print(&b, "%s) VALUES(", t->measured ? ", build, created" : "");
    for (int i = 0; i < n; i++) lg_buffer_put(&b, i ? ",?" : "?");
    lg_buffer_put(&b, ")");
    return lg_buffer_take(&b, err);
}

int lg__table_put(lg_store *s, const struct lg__table *t, int64_t run, const void *row,
                  lg_error *err)
{
    int64_t build = 0;
    int e = t->measured ? lg__store_build(s, &build, err) : 0, i = 1, bad = 0;
    char *sql = e ? NULL : insert_text(t, err);
    if (!sql) return e ? e : LG_ERROR_MEMORY;
    lg__rows *q = lg__store_prepare(s, err, sql, "");
    free(sql);
    if (!q) return LG_ERROR_SYSTEM;
    if (t->of_run) bad |= lg__store_bind_int(q, i++, run);
    for (const struct lg__column *c = t->columns; c->name; c++) bad |= bind(q, i++, c, row);
    if (t->measured) bad |= lg__store_bind_int(q, i++, build);
    if (t->measured) bad |= lg__store_bind_real(q, i++, lg__date());
    if (!bad) return lg__store_finish(s, q, err);
    lg__store_close_rows(s, q);
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a row of the store; end other programs");
}

/* ---- Reading ----------------------------------------------------------------------------------- */

const char *lg__table_list(const struct lg__table *t, char alias, char list[LG__TABLE_LIST])
{
    size_t used = 0;
    list[0] = 0;
    for (const struct lg__column *c = t->columns; c->name && used < LG__TABLE_LIST; c++)
        used += (size_t)snprintf(list + used, LG__TABLE_LIST - used, "%s%c.%s", used ? ", " : "",
                                 alias, c->name);
    return list;
}

int lg__table_read(const struct lg__table *t, lg__rows *q, int first, void *row)
{
    for (const struct lg__column *c = t->columns; c->name; c++, first++) {
        char *field = (char *)row + c->offset;
        switch (c->type) {
        case LG__COLUMN_INT: *(int *)field = (int)lg__store_int(q, first); break;
        case LG__COLUMN_LONG: *(int64_t *)field = lg__store_int(q, first); break;
        case LG__COLUMN_REAL:
        case LG__COLUMN_MAYBE: *(double *)field = lg__store_real(q, first); break;
        case LG__COLUMN_TEXT: *(const char **)field = lg__store_text(q, first); break;
        default: snprintf(field, c->size, "%s", lg__store_text(q, first)); break;
        }
    }
    return first;
}
