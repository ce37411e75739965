/* table.h: text in columns, as wide as the widest cell of each. */
#ifndef LG_CLI_TABLE_H
#define LG_CLI_TABLE_H

#include <stdint.h>

enum { LG_CLI_COLUMNS = 64 }; /* that may have a side and a least width */

struct lg_cli_table {
    int columns;             /* set before the first cell */
    int min[LG_CLI_COLUMNS]; /* how wide at least */
    uint64_t left;           /* bit i: column i begins at the left; others end at the right */
    char **cell;             /* row by row; the first row is the heading */
    int count, room;
    int lost; /* 1: there was no memory for a cell */
    int done; /* rows that lg_cli_table_flush has printed */
};

/* The next cell. */
void lg_cli_table_add(struct lg_cli_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Shortens column `cut` where the lines would be over `width` columns long, to 8 at the least. */
void lg_cli_table_cut(struct lg_cli_table *t, int cut, int width);
/* Prints it, each line behind `indent` blanks. width 0: in one piece; else columns that do not fit
 * go below, again beside the first `keep` ones. */
void lg_cli_table_print(const struct lg_cli_table *t, int indent, int keep, int width);
/* Prints the rows that were added since the last time: a table that grows. */
void lg_cli_table_flush(struct lg_cli_table *t);
void lg_cli_table_clear(struct lg_cli_table *t);

#endif
