/* checkpoint.h: a run's state on disk, such that a `kill -9` or a power cut at any instant loses
 * at most the steps since the last save, and a damaged file is never taken for a good one.
 *
 *     folder/step-000001200/model.safetensors    the parameters, by name; metadata:
 *                                                format_version, step
 *                           note                 the caller's own state as text
 *                           state.safetensors    AdamW's moments: m1.NAME and m2.NAME; metadata:
 *                                                format_version, step
 *                           sum                  size and FNV-1a 64 of these three
 *
 * A save writes all into folder/.tmp-PID, syncs it and renames it: step-N is whole or not there.
 * While step N is replaced by a new step N, the earlier one is step-N.old for an instant. */
#ifndef LG_RUNS_CHECKPOINT_H
#define LG_RUNS_CHECKPOINT_H

#include "lengthen.h"

/* Saves the model and its trainer as step lg_trainer_steps(t). `note` is the caller's own state
 * as text (NULL: ""). The folder is made if it is missing. The `keep` newest up to this
 * step stay; later ones, which are damaged, go. A failed save leaves the earlier ones as they were. Refused when the folder holds a
 * whole later step: a load would prefer that one, so this run does not belong here. */
int lg__checkpoint_save(const char *folder, const lg_model *m, lg_trainer *t, const char *note,
                        int keep, lg_error *err);

/* Loads the newest checkpoint. If it is damaged, that is an error; with fallback 1 the newest whole one
 * is loaded, and *warning (may be NULL; code 0: nothing to say) names the file, what is wrong and the
 * step used instead. A whole one of another model is an error at once: an older step would not be what
 * was asked for. On an error model and trainer are as they were. t NULL: the parameters alone, and the
 * optimizer's file is not even opened. *note (note may be NULL) is for the caller to free(). Never
 * writes to the folder. */
int lg__checkpoint_load(const char *folder, lg_model *m, lg_trainer *t, int fallback, char **note,
                        lg_error *warning, lg_error *err);

/* For tests: the next save dies at the n-th (0 is the first) of its dangerous points and returns
 * at once, leaving all behind as `kill -9` would; kill 1: the process is killed there. The points: of each of the four files, opened,
 * half written (several), not yet synced; before the rename; between the two renames of a
 * replacement; after the rename; before each removal, and in its midst. n < 0: none. */
void lg__checkpoint_stop_at(int n, int kill);

#endif
