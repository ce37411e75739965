/* cells.h: what was measured, place by place, as a table, JSON or CSV, and as a figure. What there is to show of a
 * place and of a measurement comes from lg_cell and the table of kinds: a new kind needs nothing here. */
#ifndef LG_CLI_CELLS_H
#define LG_CLI_CELLS_H

#include "cli/record.h"
#include "cli/table.h"
#include "lengthen_lab.h"

/* A cell that was kept. */
struct lg_cli_row {
    lg_cell cell;
    const char *of; /* the run or the variant that it is of, or "" */
    const char *tail,
        *remark; /* its last columns; NULL: how many samples, and whether it was kept */
};

/* Starts from {.record.form = ..}. */
struct lg_cli_cells {
    struct lg_cli_record record;
    const char *of; /* of the cells that come next; NULL: "" */
    int joined; /* 1: values are medians of the seeds of a variant, `of`, with their quartiles */
    struct lg_cli_row *rows;
    int count, room, lost;     /* lost: there was no memory for some */
    struct lg_cli_table table; /* the one being printed */
    int named;                 /* 1: it has a column for what its rows are of */
    unsigned places;           /* its columns of places, bit by bit, */
    uint64_t kinds;            /* and of kinds, by their index */
};

/* Prints the cell as a row and keeps it. The columns of a table are what its first row has; a row with more
 * begins a new one. An lg_cell_callback. */
void lg_cli_cells_add(void *cells, const lg_cell *cell);
/* Keeps it without printing. An lg_cell_callback. */
void lg_cli_cells_keep(void *cells, const lg_cell *cell);
/* A table of what was kept. */
void lg_cli_cells_print(struct lg_cli_cells *t);
/* Below a table: what its numbers are, where its headings do not say it. */
void lg_cli_cells_explain(const struct lg_cli_cells *t);
/* Of the rows from this one on, drops those with given IDs where there are any with predicted ones, which are how
 * it answers; and those with another context than that of training. */
void lg_cli_cells_compare(struct lg_cli_cells *t, int from);
/* One of each place, in their order; how many there are. [count] */
int lg_cli_cells_places(const struct lg_cli_cells *t, const lg_cell **place);
/* What was measured there, of a run (NULL: any) at a step (-1: any); NULL: nothing. *cell, which may be NULL, has
 * it. */
const lg_value *lg_cli_cells_find(const struct lg_cli_cells *t, const char *of, int64_t step,
                                  const lg_cell *place, const lg_kind *kind, const lg_cell **cell);
void lg_cli_cells_clear(struct lg_cli_cells *t);

/* ---- Places and values ------------------------------------------------------------------------ */

/* "length 9, sparsity 3, names=50", "17..32 of 32". */
void lg_cli_place_words(const lg_cell *c, char text[400]);
int lg_cli_same_place(const lg_cell *a, const lg_cell *b);
/* "names=50", "held out", "as trained". */
const char *lg_cli_place_setting(const lg_cell *c);
/* "97.5%", "1.234", "token 12"; NaN is "-". */
const char *lg_cli_value_text(const lg_kind *kind, double value, char text[32]);
/* "92.9 - 99.1", "1.201..1.267". */
const char *lg_cli_range_text(const lg_kind *kind, double low, double high, char text[64]);
const char *lg_cli_unit_text(const lg_kind *kind); /* "nats per token" */
/* Setting, length, unit, sparsity, source of IDs and, where it has some, positions. */
void lg_cli_put_place(struct lg_cli_record *r, const lg_cell *c);
void lg_cli_put_number(struct lg_cli_record *r, const char *key, const lg_kind *kind, double value);
/* With its interval: as low and high if the kind is the first of its form, else with its name before. v NULL: it
 * was not measured. */
void lg_cli_put_value(struct lg_cli_record *r, const lg_kind *kind, const lg_value *v);

/* A step of training: the row is an lg_run_step. */
void lg_cli_put_step(struct lg_cli_record *r, const void *row);

/* ---- Figures ---------------------------------------------------------------------------------- */

/* --measure KIND,..; none: the leading kinds. A row of a table of options:
 *     {"measure", .read = lg_cli_measures_read, .to = &m, .take = lg_cli_measures_names()} */
struct lg_cli_measures {
    const lg_kind *kind[LG_CELL_VALUES];
    int count;
};
int lg_cli_measures_read(void *measures, const char *names);
const char *lg_cli_measures_names(void);
/* Whether a kind is to be in a table over seeds. */
int lg_cli_measures_have(const struct lg_cli_measures *m, const lg_kind *kind);
/* The i-th kind of a form that is drawn, or compared; NULL: there are no more. */
const lg_kind *lg_cli_measures_at(const struct lg_cli_measures *m, const char *form, int i);
/* What was kept by length or, of the greatest length, by position: into a file (NULL: none), and with letters set
 * on stdout. Nothing is drawn of nothing. An exit code. */
int lg_cli_cells_draw(const struct lg_cli_cells *t, const struct lg_cli_measures *m,
                      const char *title, const char *command, const char *file, int letters);

#endif
