/* fit.h: a member of the class, fitted to an ensemble by Adam in double. The bits do not depend on
 * the number of threads: a batch is always cut into the same groups, and their sums are added in
 * order. */
#ifndef LG_THEORY_FIT_H
#define LG_THEORY_FIT_H

#include "base/pool.h"
#include "theory/world.h"

enum { LG__FIT_GROUPS = 8 };

struct lg__fit {
    lg_theory_options o; /* with the ensemble's own span in place of LG_THEORY_OWN */
    struct lg__world world;
    struct lg__member member;
    struct lg__pool *pool;
    uint64_t seed;
    struct lg__fit_group {
        struct lg__reader reader;
        struct lg__sample sample;
        int failed;
        lg_error err;
    } group[LG__FIT_GROUPS];
    double *gradient, *first, *second; /* [parameters] of the batch; Adam's two means */
    double *result;                    /* [samples][2]: error and whether it is wrong */
    int32_t *pattern;                  /* [samples] */
    int results;
    int steps; /* that training took */
    /* What the groups work on. */
    uint32_t stream;
    uint64_t from;
    int count, lo, hi, shown;
};

/* What is measured of a length. */
struct lg__fit_errors {
    double error, wrong, seen, missing_error;
    int missing;
};

int lg__fit_open(struct lg__fit *f, const lg_theory_options *o, lg_error *err);
void lg__fit_close(struct lg__fit *f);
/* A fresh member, with the patterns that its training shows. */
int lg__fit_new(struct lg__fit *f, uint64_t seed, lg_error *err);
/* Trains it on lengths lo..hi until its error at hi is small enough. *error: that. A watch that says
 * so stops it: *stopped. */
int lg__fit_train(struct lg__fit *f, int lo, int hi, const char *variant, double *error,
                  int *stopped, lg_error *err);
/* Its errors at a length. */
int lg__fit_measure(struct lg__fit *f, int length, struct lg__fit_errors *r, lg_error *err);

#endif
