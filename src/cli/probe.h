/* probe.h: what a probe leaves in the folder of --out: predictions.csv, figures, and one passage as a
 * page. */
#ifndef LG_CLI_PROBE_H
#define LG_CLI_PROBE_H

#include <stdio.h>

#include "lengthen_lab.h"

/* A prediction, for the figures and the page. */
struct lg_cli_probed {
    int position, k, depends;
    double loss, loss_0; /* of the run */
    double shown;        /* of the run that it is held against, if there is one */
    int sources, source[8];
    float influence[8];
};

/* Starts from {.folder = .., .title = .., .against = ..}. */
struct lg_cli_probe_out {
    const char *folder; /* NULL: nothing is written */
    const char *title;
    const char *against; /* the other run's name, or NULL */
    FILE *csv;
    struct lg_cli_probed *rows;
    int count, room, first; /* first: how many are of the first passage, which the page shows */
    int passages;
    lg_probe_passage page; /* its tokens are a copy, its words the library's until it returns */
    char **piece;          /* [page.n] its tokens as HTML */
    int lost;              /* 1: no memory, or a file could not be written */
    char begun[4096];
};

int lg_cli_probe_out_open(struct lg_cli_probe_out *o);
/* The file that a probe which was stopped goes on from; NULL: none. */
const char *lg_cli_probe_out_begun(struct lg_cli_probe_out *o);
void lg_cli_probe_out_passage(struct lg_cli_probe_out *o, const lg_probe_passage *p);
void lg_cli_probe_out_row(struct lg_cli_probe_out *o, const lg_probe_row *r);
/* Writes the rest; 0, or an exit code with the reason on stderr. */
int lg_cli_probe_out_finish(struct lg_cli_probe_out *o, const lg_probe_summary *s);
void lg_cli_probe_out_clear(struct lg_cli_probe_out *o);

/* "1", "3-4", "none"; the last one "33+", or "over 10" where k* was looked for up to 10. */
const char *lg_cli_probe_bin(const lg_probe_bin *b, char name[24]);
/* 1: nothing can be in the bin, as k* was looked for up to most_k only. */
int lg_cli_probe_is_past(const lg_probe_bin *b, int most_k);
/* Predictions, loss and, if there is one, excess of each bin. */
void lg_cli_probe_table(const lg_probe_bin *bins, int count, int most_k, int excess);
/* The same of one as members of a JSON object, without its braces; ,"name":.., of a mean. */
void lg_cli_probe_json(const lg_probe_bin *b);
void lg_cli_json_mean(const char *name, const lg_text_mean *m);
/* What the excess says of small and large k*, as one sentence. */
void lg_cli_probe_verdict(const lg_probe_summary *s, char *text, size_t size);

#endif
