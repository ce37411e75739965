/* probe.h: the table of a probe, for `probe` and `runs`. */
#ifndef LG_CLI_PROBE_H
#define LG_CLI_PROBE_H

#include "cli/cells.h"

/* Predictions, and what was measured of them, one row per range of k*. */
void lg_cli_probe_table(const struct lg_cli_row *rows, int count);

#endif
