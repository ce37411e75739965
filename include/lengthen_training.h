/* lengthen_training.h: a run from its config to its last checkpoint.
 *
 *     lg_run_options o = {.config = "parity.yaml", .folder = "runs/parity", .store = "lab.db"};
 *     int done;
 *     if (lg_run_train(&o, &done, &err)) puts(err.text); */
#ifndef LENGTHEN_TRAINING_H
#define LENGTHEN_TRAINING_H

#include "lengthen_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lg_run_options {
    const char *config;      /* YAML file (docs/CONFIG.md); NULL: the sets alone */
    const char *const *sets; /* [set_count] "key=value", after the file */
    int set_count;
    const char *folder;   /* of the run */
    lg_run_access access; /* of one that is resumed, and of train.init_from */
    const char *store;    /* the file of the store where its rows go; NULL: none are kept */
    int resume;           /* LG_RUN_NEW, .. */
    int threads;          /* 0: all cores; not part of the result's bits */
    lg_comm *
        comm; /* ranks that share the work, which all call with the same options; NULL: alone. Rank 0
                               alone has folder and store, and calls watch and each */
    lg_run_watch *watch;    /* after each step; NULL: nobody */
    lg_cell_callback *each; /* after each cell of an evaluation on the way (eval.every); or NULL */
    void *context;          /* of both */
    const volatile int *stop; /* not 0: as if watch had returned 0; also looked at between cells */
} lg_run_options;

/* Trains. *done is 1 if all steps are done, 0 if watch stopped it. Everything that can be refused
 * is refused before the folder and the store are touched. A checkpoint is written only after the
 * metrics up to its step are in the store or, while that cannot be written, in a file beside it. A run whose
 * task executes a command is remembered in the user's state folder, so that access need not allow it later. */
int lg_run_train(const lg_run_options *o, int *done, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
