/* lengthen_cluster.h: work for many processes: commands that rank 0 of a job deals out to the others, and stores joined
 * into one (docs/SCALE.md).
 *
 *     lg_comm *c;
 *     if (lg_comm_open(&c, &err)) puts(err.text);
 *     if (lg_comm_rank(c) > 0) lg_comm_serve(c, NULL, &err);   // until rank 0 has no more work
 *     else { o.comm = c; lg_sweep(&o, watch, NULL, &failed, &left, &err); lg_comm_dismiss(c); } */
#ifndef LENGTHEN_CLUSTER_H
#define LENGTHEN_CLUSTER_H

#include "lengthen_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a job of several ranks, before any work: refuses ranks with another build, other kernels, another CPU or another
 * command. All ranks call it. */
int lg_comm_check(lg_comm *c, const char *command, lg_error *err);
/* A worker, rank 1 or above: runs what rank 0 deals out, each in a process of its own, until it is dismissed. *stop not
 * 0: its process is asked to stop. */
int lg_comm_serve(lg_comm *c, const volatile int *stop, lg_error *err);
/* Rank 0: there is no more work. */
void lg_comm_dismiss(lg_comm *c);

/* Rank 0: has the workers measure what lg_run_eval would, a length each, into the options' store, from which it then
 * comes. Each worker must be able to read the run's folder. What could not be made is left to lg_run_eval. */
int lg_run_eval_deal(const lg_eval_options *o, lg_comm *c, lg_error *err);

/* Joins the store FROM into the store TO, which is made if it is not there: runs that TO lacks, and of those that both
 * have the steps that TO lacks and the cells of FROM; state and step are those of the store that is further. *added and *known: runs
 * that were new, that both have. FROM stays as it is. */
int lg_store_merge(const char *to, const char *from, int *added, int *known, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
