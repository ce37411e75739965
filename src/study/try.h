/* try.h: what the files of lg_try share: what is trained and tested (try_data.c), with which positions
 * (try_schemes.c), in how large steps (try_cost.c), and the turns of training and tests (try.c). */
#ifndef LG_STUDY_TRY_H
#define LG_STUDY_TRY_H

#include "lengthen_study.h"
#include "training/split.h"

enum {
    LG__TRY_SETS = 32,
    LG__TRY_SETTINGS = 60, /* of the task */
    LG__TRY_WIDTH = 64     /* of the models */
};

/* An lg_try_scheme as a config. */
struct lg__try_run {
    const char *key;              /* its folder, without the seed */
    char sets[LG__TRY_SETS][160]; /* "key=value" */
    int set_count;
    int full;    /* span: its time grows with the square of the length */
    int settled; /* the last steps had no error */
};

struct lg__try {
    const lg_try_options *o;
    lg_try_result *r;
    /* Planned. */
    int reach[LG_LEVELS];       /* as lg_task_shape.reach */
    int window[LG_LEVELS];      /* -window..window is seen */
    int curriculum;             /* its steps; 0: it goes on when a length is learned */
    int batch;                  /* examples of a step */
    int kind[LG_TRY_SCHEMES];   /* of the schemes, in their table */
    int length[LG_TRY_COLUMNS]; /* of a task's columns */
    struct lg__split_column column[LG_TRY_COLUMNS]; /* the lengths of each lg_try_column */
    struct lg__split split;                         /* of own data */
    /* Made. */
    double end; /* of training and tests, by lg__now */
    char *name, *test,
        *rest; /* as for lg_task_new; test NULL: the same; rest: lines with rare words */
    struct lg__try_run run[LG_TRY_SCHEMES * LG_TRY_SEEDS];
};

/* Finds out what is trained and tested. */
int lg__try_plan(struct lg__try *t, lg_error *err);
/* Writes into the folder what is tried, and the files of own data; a try that is there must be the same
 * one. */
int lg__try_write(struct lg__try *t, lg_error *err);

/* Which schemes: those that are asked for, or sensible for what was planned. */
int lg__try_select(struct lg__try *t, lg_error *err);
/* Makes them. */
void lg__try_schemes(struct lg__try *t);
static inline int lg__try_runs(const lg_try_result *r) { return r->schemes * r->seeds; }
/* The config of one, ready to be trained. */
void lg__try_config(lg_buffer *to, const struct lg__try *t, int scheme);

/* The examples of a step, so that each scheme makes enough steps in its share of the seconds; refuses
 * what is too long for any scheme. */
int lg__try_choose_batch(struct lg__try *t, double seconds, lg_error *err);

/* Looks for a coupling of own data without IDs, into t->r->coupled; *seconds is how long that took. And what it
 * found, in the advice. */
int lg__try_couple(struct lg__try *t, double *seconds, lg_error *err);
int lg__try_couple_words(struct lg__try *t, lg_error *err);

#endif
