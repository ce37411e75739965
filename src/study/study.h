/* study.h: an experiment at a scale, opened: its plan, and the rows that are there (measurements.csv) with what is
 * said of the runs that made them (run.json). */
#ifndef LG_STUDY_STUDY_H
#define LG_STUDY_STUDY_H

#include <stdio.h>

#include "study/experiment.h"

struct json_t;

struct lg__study_run {
    char *method, *train; /* as in the rows */
    uint64_t settings;    /* a sum over what the file says of it */
};

struct lg__study {
    const lg_reproduce_options *o;
    char *file, *folder, *place;  /* of the experiment, of its runs, of its rows */
    char *results, *journal_file; /* measurements.csv and run.json there */
    lg_sweep_options sweep;
    struct lg__sweep_plan plan;
    struct lg__experiment x;
    struct lg__study_run *runs; /* [plan.count] */
    char *done;                 /* [plan.count] 1: all rows of the run are there */
    struct lg__rows rows;
    struct json_t *journal; /* run.json */
};

/* Reads and checks everything, and writes nothing; makes 0: to be listed alone, so that no task is opened which
 * would execute a command; the study starts from {0}, and is to be closed
 * in any case. */
int lg__study_open(struct lg__study *s, const lg_reproduce_options *o, int makes, lg_error *err);
void lg__study_close(struct lg__study *s);
/* The rows and run.json as they are now. */
int lg__study_read(struct lg__study *s, lg_error *err);
/* Which runs have all their rows. */
void lg__study_count(struct lg__study *s);

/* results.c: a file that is not there has no rows. */
int lg__results_read(struct lg__study *s, lg_error *err);
int lg__results_write(const struct lg__study *s, lg_error *err);
/* The columns that every row of a run begins with: experiment, method, train, seed. */
void lg__results_put_run(lg_buffer *to, const struct lg__study *s, int run);

/* journal.c: run.json. */
int lg__journal_read(struct lg__study *s, lg_error *err);
int lg__journal_write(const struct lg__study *s, lg_error *err);
void lg__journal_free(struct lg__study *s);
/* What is said of a run that is done. */
int lg__journal_put(struct lg__study *s, int run, const lg_store_run *r, lg_error *err);
/* Rows of the same task from other texts are not put beside each other: refuses a run whose texts have
 * this checksum if the journal has another. */
int lg__journal_check_texts(const struct lg__study *s, int run, const char *sum, lg_error *err);
/* Hours of a run; -1: nothing is said of it. */
double lg__journal_hours(const struct lg__study *s, int run);
/* Whether it was made with the settings that the file has now, and with its table or examples as they
 * are now; 1 where that is not known. */
int lg__journal_same(const struct lg__study *s, int run);

/* The certificate in what is said of a run, or NULL. */
const struct json_t *lg__journal_certificate(const struct lg__study *s, int run);

/* where.c: of a cell over its seeds. */
int lg__where_fits(const struct lg__study *s, lg__where where, const struct lg__joined *c);

/* checks.c */
int lg__study_check(const struct lg__study *s, const struct lg__joins *cells,
                    lg_reproduce_result *r, lg_error *err);
/* Kendall's tau-b; 0 where all of x or of y are equal. */
double lg__tau_b(const double *x, const double *y, int n);

/* certificates.c: certificates.csv and certificates.md; how many of the runs that are done, where
 * this fits, are certified. */
int lg__certificates_write(const struct lg__study *s, lg_error *err);
void lg__certificates_count(const struct lg__study *s, lg__where where, int *certified, int *all);

/* study_figures.c */
int lg__study_draw(const struct lg__study *s, const struct lg__joins *cells, lg_error *err);

#endif
