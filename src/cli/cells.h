/* cells.h: the cells of evaluations as a table, JSON or CSV, and as a figure; shared by the commands
 * that show them. */
#ifndef LG_CLI_CELLS_H
#define LG_CLI_CELLS_H

#include "lengthen_lab.h"

enum lg_cli_form { LG_CLI_TABLE, LG_CLI_JSON, LG_CLI_CSV };

/* Starts from {.form = ..}. */
struct lg_cli_cells {
    enum lg_cli_form form;
    const char *folder; /* of the run, told in JSON; NULL: not told */
    char title[200];    /* of the figure */
    char unit[32];
    lg_run_cell *cells; /* all that were added */
    int count, room, printed;
    int sparsity, setting; /* whether the table has these columns: set, or as its first row has */
};

/* Prints the cell as a row (the first with its heading) and keeps it. An lg_run_table. */
void lg_cli_cells_add(void *cells, const lg_run_cell *cell);
/* Keeps it without printing. An lg_run_table. */
void lg_cli_cells_keep(void *cells, const lg_run_cell *cell);
/* Drops the cells with given IDs where there are any with predicted ones: these are how it answers. */
void lg_cli_cells_predicted(struct lg_cli_cells *t);
/* Exact answers by length, one curve for each setting, sparsity and source of IDs: into a file
 * (NULL: none) and, if the form is a table, in letters where stdout is a terminal or letters is set.
 * An exit code. */
int lg_cli_cells_plot(const struct lg_cli_cells *t, const char *command, const char *file,
                      int letters);
void lg_cli_cells_clear(struct lg_cli_cells *t);

#endif
