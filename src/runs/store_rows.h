/* store_rows.h: statements and tables of the store, for the files that have rows in it: store.c alone knows
 * SQLite. A write is begun, some statements are finished, and it is ended. */
#ifndef LG_RUNS_STORE_ROWS_H
#define LG_RUNS_STORE_ROWS_H

#include "runs/store.h"

/* ---- Statements ------------------------------------------------------------------------------ */

typedef struct sqlite3_stmt lg__rows;

int lg__store_begin(lg_store *s, lg_error *err);
/* Ends the transaction: commits if e is 0, else undoes it. Returns e, or what went wrong. */
int lg__store_end(lg_store *s, int e, lg_error *err);

/* A statement whose parameters are bound by the letters of `types`: i int64_t, r double (NaN is
 * NULL), t text. NULL: err. It is compiled once for each store and kept; two that are read at the
 * same time are two. */
lg__rows *lg__store_prepare(lg_store *s, lg_error *err, const char *sql, const char *types, ...);
/* Runs a statement that gives no rows and ends it; NULL (from prepare) fails. */
int lg__store_finish(lg_store *s, lg__rows *q, lg_error *err);
/* Both: 0, or err. */
#define lg__store_run(s, err, ...) lg__store_finish(s, lg__store_prepare(s, err, __VA_ARGS__), err)
/* The next row: 1; 0 at the end; negative: err. */
int lg__store_next(lg_store *s, lg__rows *q, lg_error *err);
/* The i-th column, from 0; a text lives until the next row. */
int64_t lg__store_int(lg__rows *q, int i);
double lg__store_real(lg__rows *q, int i); /* NULL is NaN */
const char *lg__store_text(lg__rows *q, int i);
/* The i-th parameter, from 1. */
int lg__store_bind_int(lg__rows *q, int i, int64_t value);
int lg__store_bind_real(lg__rows *q, int i, double value);
int lg__store_bind_text(lg__rows *q, int i, const char *value);
void lg__store_close_rows(lg_store *s, lg__rows *q);

const char *lg__store_file(const lg_store *s);
/* The number of the build that runs now, in the table builds. */
int lg__store_build(lg_store *s, int64_t *number, lg_error *err);

/* ---- Tables ---------------------------------------------------------------------------------- */

enum lg__column_type {
    LG__COLUMN_INT,   /* int */
    LG__COLUMN_LONG,  /* int64_t */
    LG__COLUMN_REAL,  /* double */
    LG__COLUMN_MAYBE, /* double, where NaN is NULL */
    LG__COLUMN_TEXT,  /* const char *, which lives until the next row */
    LG__COLUMN_CHARS  /* char [size] */
};

struct lg__column {
    const char *name;
    enum lg__column_type type;
    size_t offset, size; /* where it is in the row's struct */
    const char *also;    /* behind its type in the schema: a CHECK, UNIQUE; or NULL */
};

/* A column of struct `row` whose field has its name, or another. */
#define LG__FIELD(row, type, name, field)                                                          \
    {                                                                                              \
        name, LG__COLUMN_##type, offsetof(row, field), sizeof(((row *)0)->field), NULL             \
    }

/* From this its schema, and the statements that write and read it, are made. Rows that belong to a run have
 * its number as their first column; those that are measured, who wrote them (build) and when (created). */
struct lg__table {
    const char *name;
    const struct lg__column *columns; /* a NULL name ends */
    int of_run, measured;
    const char *keys; /* the rest of the schema: "PRIMARY KEY(..)" */
    const char *end;  /* STRICT, .. and indices */
};

extern const struct lg__table lg__table_runs;         /* lg_store_run: store_runs.c */
extern const struct lg__table lg__table_metrics;      /* lg_run_step: store_steps.c */
extern const struct lg__table lg__table_measurements; /* lg_cell: store_cells.c */

/* Its schema, added to b. */
void lg__table_schema(const struct lg__table *t, lg_buffer *b);
/* Writes a row, in place of one with the same key; run 0 where it belongs to none. */
int lg__table_put(lg_store *s, const struct lg__table *t, int64_t run, const void *row,
                  lg_error *err);
/* Its columns as "a.x, a.y", into `list`, which it returns; all tables fit. */
enum { LG__TABLE_LIST = 1024 };
const char *lg__table_list(const struct lg__table *t, char alias, char list[LG__TABLE_LIST]);
/* Reads them from the column `first` of a statement into a row; what the table does not have stays. Returns
 * the column after them. */
int lg__table_read(const struct lg__table *t, lg__rows *q, int first, void *row);

#endif
