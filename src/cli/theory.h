/* theory.h: what the files of `lengthen theory` share: the request, its rows, and what is shown and
 * written of them. */
#ifndef LG_CLI_THEORY_H
#define LG_CLI_THEORY_H

#include "cli/table.h"
#include "lengthen_lab.h"
#include "lengthen_theory.h"

enum { LG_CLI_THEORY_MOST = 32 };

struct lg_cli_theory {
    lg_theory_options o;
    lg_theory_lists lists;
    lg_theory_files files; /* their folder may be NULL: nothing is written */
    int json;
    int lengths[LG_CLI_THEORY_MOST], k[LG_CLI_THEORY_MOST], local[LG_CLI_THEORY_MOST],
        coupled[LG_CLI_THEORY_MOST];
    double coverage[LG_CLI_THEORY_MOST];
    lg_theory_row *rows;
    int count, room, lost;
    lg_theory_finding findings[3 * LG_CLI_THEORY_MOST];
    int finding_count;
    double start, shown;
    int fits, done; /* fits in all, those that are done */
};

/* Prints the errors by variant and length, and how fast they grow, or one object per cell and variant;
 * and writes the files. Returns an exit code. */
int lg_cli_theory_finish(struct lg_cli_theory *q);
/* Writes the files, if a folder was named. An exit code. */
int lg_cli_theory_write(const struct lg_cli_theory *q);
/* A number as a cell of a table, "-" for NAN. */
void lg_cli_theory_add(struct lg_cli_table *t, double x);
/* `lengthen theory bridge`. */
int lg_cli_theory_bridge(int argc, char **argv);

#endif
