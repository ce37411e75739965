/* sweep_losses.h: the losses by position of a sweep of texts as a table, JSON or CSV, and as a figure. */
#ifndef LG_CLI_SWEEP_LOSSES_H
#define LG_CLI_SWEEP_LOSSES_H

#include "cli/cells.h"

/* Starts from {.form = .., .title = ..}. JSON and CSV are printed as they come. */
struct lg_cli_sweep_losses {
    enum lg_cli_form form;
    const char *title;     /* of the figure */
    lg_sweep_loss *kept;   /* without rows and seeds */
    int count, room, lost; /* lost: there was no memory for some */
};

void lg_cli_sweep_losses_add(void *losses, const lg_sweep_loss *l); /* an lg_sweep_loss_callback */
/* The table, if that is the form. 0, or -1 without memory. */
int lg_cli_sweep_losses_print(const struct lg_cli_sweep_losses *q);
/* The truncated losses of the greatest length, one line per variant. An exit code. */
int lg_cli_sweep_losses_draw(const struct lg_cli_sweep_losses *q, const char *file, int letters);
void lg_cli_sweep_losses_clear(struct lg_cli_sweep_losses *q);

#endif
