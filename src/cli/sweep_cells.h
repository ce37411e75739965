/* sweep_cells.h: the cells of a sweep as a table, JSON or CSV, and as a figure. */
#ifndef LG_CLI_SWEEP_CELLS_H
#define LG_CLI_SWEEP_CELLS_H

#include "cli/cells.h"

/* Starts from {.form = .., .title = ..}. */
struct lg_cli_sweep {
    enum lg_cli_form form;
    const char *title; /* of the figure */
    lg_sweep_cell *cells;
    int count, room;
    int lost; /* 1: there was no memory for a cell */
};

void lg_cli_sweep_keep(void *sweep, const lg_sweep_cell *cell); /* an lg_sweep_table */
/* Prints what was kept. 0, or -1 without memory. */
int lg_cli_sweep_print(const struct lg_cli_sweep *q);
/* Draws it: into a file (NULL: none), and with letters set on stdout. An exit code. */
int lg_cli_sweep_draw(const struct lg_cli_sweep *q, const char *file, int letters);
void lg_cli_sweep_clear(struct lg_cli_sweep *q);

#endif
