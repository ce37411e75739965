/* eval.h: evaluations of a run that is opened, for training on the way, sweeps and the probe. */
#ifndef LG_MEASURE_EVAL_H
#define LG_MEASURE_EVAL_H

#include "lengthen_measure.h"
#include "runs/run.h"

/* Another task than the run's (NULL: its own) with its settings, where it is of the same kind, and
 * `setting` (or NULL) in the place of one; refused if words or labels are others than the run knows.
 * *task is to be freed, and NULL after an error. */
int lg__run_other_task(const struct lg__run *r, const char *name, const char *setting,
                       lg_task **task, lg_error *err);

/* Whether every cell of the options (or of the config) can be made: nothing is written. */
int lg__run_check_grid(struct lg__run *r, const lg_eval_options *o, lg_error *err);
/* The grid of the options (or of the config) with the weights that the run has now, of r->step. */
int lg__run_grid(struct lg__run *r, const lg_eval_options *o, lg_store *s, int64_t number,
                 lg_error *err);
/* The same of a run of texts, its losses by position (the warning may be NULL); and whether there are
 * documents for every length of its config. */
int lg__run_check_losses(const struct lg__run *r, lg_error *err);
int lg__run_losses(struct lg__run *r, const lg_text_eval_options *o, lg_store *s, int64_t number,
                   lg_error *warning, lg_error *err);

#endif
