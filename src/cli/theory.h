/* theory.h: what the files of `lengthen theory` share: the request, its rows, and what is shown and
 * written of them. */
#ifndef LG_CLI_THEORY_H
#define LG_CLI_THEORY_H

#include <stdio.h>

#include "cli/table.h"
#include "lengthen_lab.h"
#include "lengthen_theory.h"

enum { LG_CLI_THEORY_MOST = 32 };

struct lg_cli_theory {
    lg_theory_options o;
    lg_theory_lists lists;
    const char *out; /* the folder of rows, figure and record, or NULL */
    const char *title;
    int json;
    int lengths[LG_CLI_THEORY_MOST], k[LG_CLI_THEORY_MOST], local[LG_CLI_THEORY_MOST],
        coupled[LG_CLI_THEORY_MOST];
    double coverage[LG_CLI_THEORY_MOST];
    char *command; /* as it was given */
    lg_theory_row *rows;
    int count, room, lost;
    lg_theory_finding findings[3 * LG_CLI_THEORY_MOST];
    int finding_count;
    double start, shown;
    int fits, done; /* fits in all, those that are done */
};

/* The errors by variant and length, and how fast they grow; or one object a cell and a variant. */
void lg_cli_theory_show(const struct lg_cli_theory *q);
/* rows.csv, errors.svg and run.json in the folder. Returns an exit code. */
int lg_cli_theory_write(const struct lg_cli_theory *q);
/* The same of a check: findings.csv, check.svg and run.json. */
int lg_cli_theory_write_check(const struct lg_cli_theory *q);
/* Makes the folder, and sees that a figure can be drawn there: before long work. */
int lg_cli_theory_folder(const struct lg_cli_theory *q);
/* A number as a cell of a table, "-" for NAN; and as ,"key":number in an object, null for NAN. */
void lg_cli_theory_add(struct lg_cli_table *t, double x);
void lg_cli_theory_real(FILE *f, const char *key, double value);
/* `lengthen theory bridge`. */
int lg_cli_theory_bridge(int argc, char **argv);

#endif
