/* store.h: what the lab writes into the store; what everybody reads is in lengthen_runs.h. A call
 * that returns 0 has put its rows on the disk; one that fails has changed nothing. */
#ifndef LG_RUNS_STORE_H
#define LG_RUNS_STORE_H

#include "lengthen_runs.h"

/* The run of r->id, new or known: number, state and times are the store's own. trains 1: refused if
 * the folder is a copy of the one that the store knows; and if another build goes on with the run, its
 * commit is put behind that of the first, "A+B". */
int lg__store_register(lg_store *s, const lg_store_run *r, int trains, int64_t *number,
                       lg_error *err);
/* How long to wait for another process that writes, from now on (60000 ms at first). */
void lg__store_wait(lg_store *s, int milliseconds);
/* error NULL: "". */
int lg__store_state(lg_store *s, int64_t number, const char *state, const char *error,
                    lg_error *err);
/* By which kernels it was trained: "avx2-1", or "avx2-1+c-1". */
int lg__store_kernels(lg_store *s, int64_t number, const char *kernels, lg_error *err);
/* Rows of steps; one that is there already is replaced, and the run is at the last one's step.
 * seconds: that they took, which are added to the run's. */
int lg__store_add_steps(lg_store *s, int64_t number, const lg_run_step *rows, int count,
                        double seconds, lg_error *err);
/* Forgets what came after this step, which a resumed run makes again; *steps is how many of the
 * steps up to it the store has. */
int lg__store_rewind(lg_store *s, int64_t number, int64_t step, int64_t *steps, lg_error *err);
/* Cells, together: whoever finds one of them finds all. A value that is there already is replaced. Their seconds
 * are added to the run's. */
int lg__store_add_cells(lg_store *s, int64_t number, const lg_cell *cells, int count,
                        lg_error *err);
/* Those of the same step, setting, data ("": any), context, length, sparsity and source of IDs, with so many
 * samples, or all that there are; none are told if there are none. */
int lg__store_get_cells(lg_store *s, int64_t number, const lg_cell *like, int samples,
                        lg_cell_callback *each, void *context, lg_error *err);

/* For tests: the process is killed (SIGKILL) before the n-th commit from now, 0 is the next. n < 0:
 * it is not. */
void lg__store_kill_at(int n);
/* For tests: never wait longer than this for another process that writes. */
void lg__store_patience(int milliseconds);

#endif
