/* dry_run.h: what a training would cost. */
#ifndef LG_CLI_DRY_RUN_H
#define LG_CLI_DRY_RUN_H

#include "lengthen_lab.h"

/* Trains for some seconds with these options, in a folder that is removed and without a store, and prints what the whole would
 * take. An exit code. */
int lg_cli_dry_run(lg_run_options o, int json);

#endif
