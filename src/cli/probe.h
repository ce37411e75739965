/* probe.h: the bins of a probe in words, for `probe` and `runs`. */
#ifndef LG_CLI_PROBE_H
#define LG_CLI_PROBE_H

#include "lengthen_lab.h"

/* "1", "3-4", "none"; the last one "33+", or "over 10" where k* was looked for up to 10. */
const char *lg_cli_probe_bin(const lg_probe_bin *b, char name[24]);
/* 1: nothing can be in the bin, as k* was looked for up to most_k only. */
int lg_cli_probe_is_past(const lg_probe_bin *b, int most_k);
/* Predictions, loss and, if there is one, excess of each bin. */
void lg_cli_probe_table(const lg_probe_bin *bins, int count, int most_k, int excess);
/* The same of one as members of a JSON object, without its braces. */
void lg_cli_probe_json(const lg_probe_bin *b);

#endif
