/* answer.h: a model answers examples that the caller makes; lg_answer is this with those of a draw. */
#ifndef LG_MEASURE_ANSWER_H
#define LG_MEASURE_ANSWER_H

#include "lengthen.h"

/* Makes example number `index`, from 0, of those to be answered. */
typedef int lg__answer_make(void *context, int index, lg_example *x, lg_error *err);

/* When answering ends before all samples are done: those that were answered side by side at that moment
 * then do not count, since the ones that are finished are not like the others. */
struct lg__answer_limit {
    const volatile int *stop; /* not 0: at once; or NULL */
    double until;             /* by lg__now; 0: whenever */
    int *first;               /* [samples] gets the first wrong token of each, 0: none; or NULL */
};

/* limit NULL: none. With one, score->samples says how many were answered. */
int lg__answer(const lg_model *m, lg_task *t, const lg_scheme *s, lg__answer_make *make,
               void *context, int samples, int predicted, int threads,
               const struct lg__answer_limit *limit, lg_score *score, lg_error *err);
/* lg_answer with a limit. */
int lg__answer_within(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                      int samples, int predicted, int threads, const struct lg__answer_limit *limit,
                      lg_score *score, lg_error *err);
/* How many examples of so many tokens each of the threads answers side by side: at least one, and no
 * more than those of all threads have room for, 4 GiB if no test makes it smaller. */
extern size_t lg__answer_room;
int lg__answer_beside(const lg_model_config *c, int tokens, int threads);
/* lg_answer_taught, which also says whether all answers are of one token: they are then the same
 * generated with given IDs. */
int lg__answer_taught(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                      int samples, int predicted, int threads, int *single, lg_score *score,
                      lg_error *err);

#endif
