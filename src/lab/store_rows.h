/* store_rows.h: statements of the store, for the files of its tables: store.c alone knows SQLite. A
 * write is begun, some statements are finished, and it is ended. */
#ifndef LG_LAB_STORE_ROWS_H
#define LG_LAB_STORE_ROWS_H

#include "lab/store.h"

typedef struct sqlite3_stmt lg__rows;

int lg__store_begin(lg_store *s, lg_error *err);
/* Ends the transaction: commits if e is 0, else undoes it. Returns e, or what went wrong. */
int lg__store_end(lg_store *s, int e, lg_error *err);

/* A statement whose parameters are bound by the letters of `types`: i int64_t, r double (NaN is
 * NULL), t text. NULL: err. */
lg__rows *lg__store_prepare(lg_store *s, lg_error *err, const char *sql, const char *types, ...);
/* Runs a statement that gives no rows and ends it; NULL (from prepare) fails. */
int lg__store_finish(lg_store *s, lg__rows *q, lg_error *err);
/* The next row: 1; 0 at the end; negative: err. */
int lg__store_next(lg_store *s, lg__rows *q, lg_error *err);
/* The i-th column, from 0; a text lives until the next row. */
int64_t lg__store_int(lg__rows *q, int i);
double lg__store_real(lg__rows *q, int i);
const char *lg__store_text(lg__rows *q, int i);
void lg__store_close_rows(lg__rows *q);

const char *lg__store_file(const lg_store *s);
double lg__store_now(void);
/* Who writes a row. */
const char *lg__store_machine(char line[200]);

/* The scripts of tables that have a file of their own. */
extern const char lg__store_losses_schema[]; /* store_losses.c */

#endif
