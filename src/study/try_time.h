/* try_time.h: how `lengthen try` shares its time: whose turn it is and how long it may take, and how
 * many examples a step may have. Plain functions of numbers and of a clock that the caller gives, so
 * that tests can give another. */
#ifndef LG_STUDY_TRY_TIME_H
#define LG_STUDY_TRY_TIME_H

#include "lengthen_study.h"

/* What the turns are of. A turn trains until one moment and tests until the other. */
struct lg__try_turns {
    int count;
    double seconds, end; /* of all together; by now() */
    void *context;
    double (*now)(void *context);
    int (*open)(void *context, int i); /* whether more training could still help */
    int (*stopped)(void *context);
    int (*turn)(void *context, int i, int round, double train_until, double test_until);
};

/* Rounds in which each that is open gets the same share of the time that is left; what one does not
 * need goes into the next round. 0, or what a turn returned. */
int lg__try_take_turns(const struct lg__try_turns *w);
/* The seconds of training in the first turn, of so many. */
double lg__try_training_share(double seconds, int count);

/* Seconds of a training step with one example of n tokens per core: token * n + pair * n * n. */
struct lg__try_cost {
    double token, pair;
};

/* From what steps of n[0] < n[1] tokens took. */
struct lg__try_cost lg__try_cost_fit(const int n[2], const double seconds[2]);
double lg__try_cost_step(const struct lg__try_cost *c, int tokens, int batch, int cores);
/* The most examples, up to `most`, with which LG_TRY_STEPS steps fit into the seconds; 0: none. */
int lg__try_cost_batch(const struct lg__try_cost *c, int tokens, int most, int cores,
                       double seconds);
/* The longest example with which they do. */
int lg__try_cost_tokens(const struct lg__try_cost *c, double seconds);

#endif
