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

/* ---- How training scales ------------------------------------------------------------------- */

typedef struct lg_scale_options {
    const char *shape; /* of those of lg_bench_step, those with this in their name; NULL: all */
    int threads;       /* of a rank; 0: its cores */
    double seconds;    /* for each measurement */
    double latency; /* of the network, seconds; 0: as measured between ranks 0 and 1, else 30e-6 */
    double bandwidth; /* bytes per second and direction; 0: as measured, else 1.1e9 */
    int most;         /* ranks to predict for; 0: 1,024 */
} lg_scale_options;

typedef struct lg_scale_row {
    const char *shape;
    int ranks, threads;
    int64_t parameters;
    double latency, bandwidth;   /* that the prediction takes */
    double compute_s, combine_s; /* of a step, predicted: in each rank, between them */
    double predicted;            /* tokens/s with the batch of the shape */
    double efficiency;           /* of these, against ranks times one */
    double weak;                 /* tokens/s with the batch of the shape in every rank, predicted */
    double measured;             /* tokens/s; 0: not with so many */
} lg_scale_row;
typedef void lg_scale_report(void *context, const lg_scale_row *row);

/* Measures the step's parts and the messages of this job, predicts the speed of 1, 2, 4, .. ranks, and compares with
 * the step itself on as many of them as there are. All ranks call it; rank 0 reports. */
int lg_bench_scale(const lg_scale_options *o, lg_comm *c, lg_scale_report *report, void *context,
                   lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
