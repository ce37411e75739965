/* joined.h: what was measured over the seeds of a sweep, as a table, JSON or CSV, and as a figure. */
#ifndef LG_CLI_JOINED_H
#define LG_CLI_JOINED_H

#include "cli/cells.h"
#include "cli/curves.h"

/* Starts from {.form = ..}. */
struct lg_cli_joined {
    enum lg_cli_form form;
    struct lg_cli_measures measures;
    struct lg_cli_joined_row **rows;
    int count, room;
    int lost; /* 1: there was no memory for a row */
};

/* Keeps it if its measure was asked for. An lg_joined_callback. */
void lg_cli_joined_keep(void *joined, const lg_joined *j);
/* Prints what was kept. 0, or -1 without memory. */
int lg_cli_joined_print(const struct lg_cli_joined *q);
/* Medians, and quartiles as bands: into a file (NULL: none), and with letters set on stdout. An exit code. */
int lg_cli_joined_draw(const struct lg_cli_joined *q, const char *title, const char *file,
                       int letters);
void lg_cli_joined_clear(struct lg_cli_joined *q);

#endif
