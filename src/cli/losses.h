/* losses.h: losses by position for the eye and for machines. */
#ifndef LG_CLI_LOSSES_H
#define LG_CLI_LOSSES_H

#include "cli/cells.h"

/* Starts from {.form = ..}. */
struct lg_cli_losses {
    enum lg_cli_form form;
    const char *folder; /* of the run, told in JSON; NULL: not told */
    char title[300];    /* of the figure */
    lg_text_row *rows;
    int count, room, lost; /* lost: there was no memory for some */
};
/* A callback: keeps the row and, as JSON or CSV, prints it. */
void lg_cli_losses_add(void *losses, const lg_text_row *r);
/* The table of what was kept, if that is the form. */
void lg_cli_losses_print(const struct lg_cli_losses *t);
/* The rows of the greatest length, truncated and sliding: into a file, if one is named, and in letters
 * below a table on a terminal or where that is asked for. An exit code. */
int lg_cli_losses_plot(const struct lg_cli_losses *t, const char *command, const char *file,
                       int letters);
void lg_cli_losses_clear(struct lg_cli_losses *t);

#endif
