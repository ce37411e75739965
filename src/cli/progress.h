/* progress.h: what is shown on stderr of many runs while they are made; for sweep and reproduce. */
#ifndef LG_CLI_PROGRESS_H
#define LG_CLI_PROGRESS_H

#include "lengthen_lab.h"

/* Starts from {.folder = .., .store = ..}. */
struct lg_cli_progress {
    const char *folder, *store; /* where they go */
    double until;               /* by lg_cli_now: nothing is begun after it; 0: no end */
    struct lg_cli_shown *runs;
    int count, told, terminal;
    double start, last;
};

/* An lg_sweep_watch; it stops after Ctrl-C, or when the time is over. */
int lg_cli_progress_watch(void *progress, const lg_sweep_run *r);
/* Says how many are left and which failed; 1 after Ctrl-C. */
int lg_cli_progress_end(struct lg_cli_progress *p, const char *command, int left);
void lg_cli_progress_clear(struct lg_cli_progress *p);

#endif
