/* study.h: an experiment at a scale, opened: its plan, what rows each run is to have, and the rows
 * that are there (evals.csv, of texts losses.csv) with what is said of the runs that made them
 * (run.json). */
#ifndef LG_STUDY_STUDY_H
#define LG_STUDY_STUDY_H

#include <stdio.h>

#include "study/experiment.h"

struct json_t;

/* One cell that a run is to have. */
struct lg__study_cell {
    int length, sparsity, predicted;
    int samples;   /* of texts: documents at most */
    int low, high; /* of texts: the positions */
};

/* A cell has one row of each mode. */
enum { LG__MODE_GENERATED, LG__MODE_TAUGHT, LG__MODES_ANSWERS };
enum { LG__MODE_TRUNCATED, LG__MODE_SLIDING, LG__MODE_EXCESS, LG__MODES_TEXTS };

/* What the runs of a variant share. */
struct lg__study_variant {
    struct lg__study_cell *cells; /* in the order of their rows */
    int count;
    int least, length;      /* shortest and longest of training */
    int sparsest, sparsity; /* sparsest and densest of training */
    int longest;            /* of the cells */
    int text;               /* of the task text */
    int64_t seed;
    char unit[64], sparse[64], data[20]; /* units of length and sparsity; data: as in lg_run_cell */
};

struct lg__study_run {
    char *method, *train; /* as in the rows */
    int64_t seed;
    uint64_t settings; /* a sum over what the file says of it */
    int done;          /* all its rows are there */
};

/* A row of evals.csv, or one loss of a row of losses.csv. */
struct lg__row {
    int run, cell, mode;     /* cell: of its variant */
    int samples;             /* of texts: documents */
    int64_t there;           /* of texts: documents that are as long */
    double value, low, high; /* the share of exact answers, or the loss; and its 95% interval */
    double tokens, token_accuracy;
};

struct lg__study {
    const lg_reproduce_options *o;
    char *file, *folder, *place; /* of the experiment, of its runs, of its rows */
    char *evals, *journal_file;
    lg_sweep_options sweep;
    struct lg__sweep_plan plan;
    struct lg__experiment x;
    int modes; /* LG__MODES_ANSWERS or LG__MODES_TEXTS */
    struct lg__study_variant *variants;
    struct lg__study_run *runs; /* [plan.count] */
    struct lg__block block;     /* struct lg__row, sorted by run, cell and mode */
    int row_count;
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

static inline struct lg__row *lg__study_rows(const struct lg__study *s) { return s->block.data; }
static inline int lg__study_is_text(const struct lg__study *s)
{
    return s->modes == LG__MODES_TEXTS;
}
static inline const struct lg__study_variant *lg__study_variant_of(const struct lg__study *s,
                                                                   int run)
{
    return &s->variants[s->plan.runs[run].group];
}

/* results.c: a file that is not there has no rows. */
int lg__results_read(struct lg__study *s, lg_error *err);
int lg__results_write(const struct lg__study *s, lg_error *err);
/* A field of a row: in quotes where it must be. */
void lg__results_put_text(lg_buffer *to, const char *text);
/* Puts rows[count] in the place of all that the run had. */
int lg__results_put(struct lg__study *s, int run, const struct lg__row *rows, int count,
                    lg_error *err);

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

/* A cell over its seeds. */
struct lg__cell {
    int run; /* one of its runs */
    int length, sparsity, predicted, mode;
    int from, to; /* of texts: the positions */
    int seeds;
    double tokens, least, median, most; /* of the values */
    /* Of answers, all seeds together, with their 95% interval; of texts the first seed's interval. */
    double right, samples, low, high;
};
/* "generated", "taught"; "truncated", "sliding", "excess". */
const char *lg__mode_name(const struct lg__study *s, int mode);
/* By variant, mode, IDs, sparsity, length and position; to be freed. Of runs that are done. */
int lg__study_cells(const struct lg__study *s, struct lg__cell **cells, int *count, lg_error *err);
int lg__where_fits(const struct lg__study *s, lg__where where, const struct lg__cell *c);

/* checks.c */
int lg__study_check(const struct lg__study *s, const struct lg__cell *cells, int count,
                    lg_reproduce_result *r, lg_error *err);
/* Kendall's tau-b; 0 where all of x or of y are equal. */
double lg__tau_b(const double *x, const double *y, int n);

/* certificates.c: certificates.csv and certificates.md; how many of the runs that are done, where
 * this fits, are certified. */
int lg__certificates_write(const struct lg__study *s, lg_error *err);
void lg__certificates_count(const struct lg__study *s, lg__where where, int *certified, int *all);

/* study_figures.c */
int lg__study_draw(const struct lg__study *s, const struct lg__cell *cells, int count,
                   lg_error *err);

#endif
