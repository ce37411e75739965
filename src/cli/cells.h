/* cells.h: what was measured, place by place, as a table, JSON or CSV. What there is to show of a place and of
 * a measurement comes from lg_cell and the table of kinds: a new kind needs nothing here. */
#ifndef LG_CLI_CELLS_H
#define LG_CLI_CELLS_H

#include "cli/table.h"
#include "lengthen_lab.h"

enum lg_cli_form { LG_CLI_TABLE, LG_CLI_JSON, LG_CLI_CSV };

/* Columns of the places, in their order; a set of them has bit 1 << column. */
enum lg_cli_place {
    LG_CLI_SETTING,
    LG_CLI_LENGTH,
    LG_CLI_SPARSITY,
    LG_CLI_POSITIONS,
    LG_CLI_CONTEXT,
    LG_CLI_TOKENS,
    LG_CLI_IDS,
    LG_CLI_PLACES
};

/* Starts from {.form = ..}. */
struct lg_cli_cells {
    enum lg_cli_form form;
    const char *folder; /* of the run, told in JSON; NULL: not told */
    char unit[64];
    lg_cell *cells;        /* all that were added */
    int count, room, lost; /* lost: there was no memory for some */
    int printed;
    struct lg_cli_table table; /* the one being printed */
    unsigned places;           /* its columns: of places, */
    uint64_t kinds;            /* of kinds, by their index */
};

/* Prints the cell as a row and keeps it. The columns of a table are what its first row has; a row with more
 * begins a new one. An lg_cell_callback. */
void lg_cli_cells_add(void *cells, const lg_cell *cell);
/* Keeps it without printing. An lg_cell_callback. */
void lg_cli_cells_keep(void *cells, const lg_cell *cell);
/* One table of those at a step, with columns for all of them, and what its numbers are. */
void lg_cli_cells_print(const struct lg_cli_cells *t, int64_t step);
/* Below a table: what its numbers are, where its headings do not say it. */
void lg_cli_cells_explain(const struct lg_cli_cells *t);
/* Drops the cells with given IDs where there are any with predicted ones: these are how it answers. */
void lg_cli_cells_predicted(struct lg_cli_cells *t);
void lg_cli_cells_clear(struct lg_cli_cells *t);

/* ---- Places and values, for other tables ------------------------------------------------------ */

/* The columns that a cell has something for, beside those of `first`, the first cell. */
unsigned lg_cli_places(const lg_cell *c, const lg_cell *first);
const char *lg_cli_place_head(enum lg_cli_place column, const lg_cell *c);
void lg_cli_place_text(enum lg_cli_place column, const lg_cell *c, char text[256]);
/* "length 9, sparsity 3, names=50", "positions 17..32 of 32". */
void lg_cli_place_words(const lg_cell *c, char text[400]);
/* Order by setting, sparsity, length and position. */
int lg_cli_place_order(const lg_cell *a, const lg_cell *b);

/* "97.5%", "1.234", "token 12"; NaN is "-". */
const char *lg_cli_value_text(const lg_kind *kind, double value, char text[32]);
/* "92.9 - 99.1", "1.201..1.267". */
const char *lg_cli_range_text(const lg_kind *kind, double low, double high, char text[64]);
/* "nats per token". */
const char *lg_cli_unit_text(const lg_kind *kind);
/* Its samples are documents: the interval is of a mean over these. */
int lg_cli_of_documents(const lg_kind *kind);

/* As members of a JSON object, each behind a comma but the first of a place: setting, length, unit, sparsity,
 * source of IDs and positions; a number in the kind's form; a value with its interval, as low and high if it is
 * the first of its form. */
void lg_cli_json_place(const lg_cell *c);
void lg_cli_json_value(const lg_kind *kind, const lg_value *v);
/* The number in the kind's form, `none` for NaN. */
void lg_cli_print_number(const lg_kind *kind, double value, const char *none);
/* The fields of a place in CSV, and their names: with those of positions, or without. */
void lg_cli_csv_place(const lg_cell *c, int positions);
void lg_cli_csv_place_names(int positions);

#endif
