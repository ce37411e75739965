/* eval.h: evaluations of a run that is opened, for training on the way, sweeps and the probe. */
#ifndef LG_MEASURE_EVAL_H
#define LG_MEASURE_EVAL_H

#include "lengthen_measure.h"
#include "measure/answer.h"
#include "runs/run.h"

/* Another task than the run's (NULL: its own) with its settings, where it is of the same kind, and
 * `setting` (or NULL) in the place of one; refused if words or labels are others than the run knows.
 * *task is to be freed, and NULL after an error. */
int lg__run_other_task(const struct lg__run *r, const char *name, const char *setting,
                       lg_task **task, lg_error *err);

/* ---- Forms ----------------------------------------------------------------------------------- */

/* An evaluation: of what, and where its cells go. */
struct lg__eval {
    struct lg__run *run;
    const lg_eval_options *o;
    lg_store *store; /* or NULL */
    int64_t number;  /* of the run in it */
    lg_error *warning;
    int strict;       /* 1: every length of the config must have examples */
    int index, count; /* cells told, and to be told in all */
};

/* How runs are measured: that of a run's task is named in the task's row. */
struct lg__form {
    const char *name;
    /* Whether every cell of the options (or of the config) can be made; nothing is written. */
    int (*check)(struct lg__eval *e, lg_error *err);
    int (*make)(struct lg__eval *e, lg_error *err);
    /* Adds the cells of a config, without values, to an array that starts as NULL; value[0].samples is how
     * many each is of at most. task NULL where the form can do without. */
    int (*list)(const struct lg__config *c, const lg_task *task, int predicts, lg_cell **cells,
                int *count, lg_error *err);
};
extern const struct lg__form lg__form_answers; /* eval_answers.c */
extern const struct lg__form lg__form_losses;  /* eval_losses.c */
/* That of a task, by its name. */
const struct lg__form *lg__form_of(const char *task);

/* Whether every cell of the config (or of the options) can be made. */
int lg__run_check_eval(struct lg__run *r, const lg_eval_options *o, lg_error *err);
/* With the weights that the run has now, of r->step; the warning may be NULL. */
int lg__run_measure(struct lg__run *r, const lg_eval_options *o, lg_store *s, int64_t number,
                    lg_error *warning, lg_error *err);

/* What the forms share. Whether the evaluation was stopped. */
int lg__eval_stopped(const struct lg__eval *e);
/* Fills in what a cell says of the run, and tells it. */
void lg__eval_tell(struct lg__eval *e, lg_cell *cell);
/* Adds a sentence to the warning, behind what is said there already. */
void lg__eval_warn(lg_error *warning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An option that the form does not have. */
int lg__eval_refuse(const struct lg__eval *e, const char *option, lg_error *err);
/* Adds a cell to a list; err where there is no memory. */
int lg__eval_list(lg_cell **cells, int *count, const lg_cell *cell, lg_error *err);

/* ---- Kinds of answers ------------------------------------------------------------------------ */

/* The examples of a cell, and what is known of them so far. */
struct lg__answers {
    struct lg__run *run;
    lg_task *task; /* the run's own, or another */
    lg_draw draw;
    int samples, predicted, threads;
    int taught_too;                    /* 0: no kind but those that are generated */
    struct lg__answer_limit limit;     /* of generating */
    const struct lg__judging *judging; /* or NULL */
    int is_taught, single;             /* 1: taught is made; and all answers are of one token */
    lg_score taught, generated;        /* generated: of a judge */
};
/* Judges answers in place of generating them: fills generated and, if taught_too, taught. */
struct lg__judging {
    int (*judge)(void *context, struct lg__answers *a, lg_error *err);
    void *context;
};
/* Adds its values to the cell; none: there was no time. */
typedef int lg__measure(struct lg__answers *a, lg_cell *cell, lg_error *err);

#endif
