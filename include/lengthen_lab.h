/* lengthen_lab.h: the whole lab on top of lengthen.h, one header per room:
 *
 *     lengthen_runs.h      what a run is, its rows, the store, published weights
 *     lengthen_training.h  from a config to checkpoints
 *     lengthen_measure.h   what a run can do: answers, losses, generation, the probe, speed
 *     lengthen_certify.h   a proof for every length
 *     lengthen_library.h   a run's model in a program of your own; this machine
 *     lengthen_cluster.h   work for many processes, stores joined
 *     lengthen_report.h    figures, the folders of a probe and of the theory
 *     lengthen_couple.h    position IDs for data that has none, found from examples
 *     lengthen_study.h     sweeps, experiments, a first try of a task
 *     lengthen_pages.h     reports and live pages for a browser
 *
 * Simple use: a run from its config to a table.
 *
 *     lg_run_options o = {.config = "parity.yaml", .folder = "runs/parity", .store = "lab.db"};
 *     lg_eval_options e = {.folder = o.folder, .store = o.store, .predicted = -1, .table = print};
 *     lg_error err;
 *     int done;
 *     if (lg_run_train(&o, &done, &err) || lg_run_eval(&e, NULL, &err)) puts(err.text);
 */
#ifndef LENGTHEN_LAB_H
#define LENGTHEN_LAB_H

#include "lengthen_certify.h"
#include "lengthen_cluster.h"
#include "lengthen_couple.h"
#include "lengthen_library.h"
#include "lengthen_measure.h"
#include "lengthen_pages.h"
#include "lengthen_report.h"
#include "lengthen_runs.h"
#include "lengthen_study.h"
#include "lengthen_training.h"

#endif
