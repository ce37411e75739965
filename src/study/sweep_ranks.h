/* sweep_ranks.h: a run of a sweep as a job for a worker: `lengthen sweep FILE --only RUN --tell`, whose store and small
 * files come back by message. */
#ifndef LG_STUDY_SWEEP_RANKS_H
#define LG_STUDY_SWEEP_RANKS_H

#include "cluster/jobs.h"
#include "study/sweep.h"

int lg__sweep_deal(const struct lg__sweep_plan *p, int run, lg_comm *c, int rank, int threads,
                   lg_error *err);
/* The rows into the sweep's store, and the run's small files into its folder, where they are not there. */
int lg__sweep_take(const struct lg__sweep_plan *p, int run, const struct lg__heard *h,
                   lg_error *err);

#endif
