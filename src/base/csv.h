/* csv.h: CSV as RFC 4180 has it, read and written. */
#ifndef LG_BASE_CSV_H
#define LG_BASE_CSV_H

#include "base/memory.h"
#include "lengthen.h"

/* A field: in quotes where it must be, those inside doubled. */
void lg__csv_put(lg_buffer *to, const char *text);

/* A file of CSV, read whole. Starts from {0}. */
struct lg__csv {
    char *text, *at; /* the file, and the rest of it */
    const char *file;
    char **field; /* of the last record: [count], unquoted in their place */
    int count, room;
    int line, next; /* of the last record, and of the next one; from 1 */
};
/* A file that is not there is an error unless `may` is set: then it has no records. One with a byte 0 is refused. */
int lg__csv_open(struct lg__csv *c, const char *file, int may, lg_error *err);
/* The next record: 1; 0 at the end; negative: err, with the place of what is not CSV. */
int lg__csv_next(struct lg__csv *c, lg_error *err);
/* The column of the first record with this name, from 0; -1: there is none. */
int lg__csv_column(const struct lg__csv *c, const char *name);
void lg__csv_close(struct lg__csv *c);

#endif
