/* lengthen_library.h: a run's model in a program of your own, and what this machine offers.
 *
 *     lg_loaded *r = lg_run_load("runs/parity", NULL, NULL, &err);
 *     lg_answer(lg_loaded_model(r), lg_loaded_task(r), lg_loaded_scheme(r), &draw, 100, 1, 0, &score, &err);
 *     lg_loaded_free(r); */
#ifndef LENGTHEN_LIBRARY_H
#define LENGTHEN_LIBRARY_H

#include "lengthen_runs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run that is there, with the weights of its newest checkpoint. What the functions give is its own, and lasts as long as it
 * does. access NULL: nothing is allowed. warning may be NULL. */
typedef struct lg_loaded lg_loaded;
lg_loaded *lg_run_load(const char *folder, const lg_run_access *access, lg_error *warning,
                       lg_error *err);
void lg_loaded_free(lg_loaded *r);
const lg_model *lg_loaded_model(const lg_loaded *r);
lg_task *lg_loaded_task(const lg_loaded *r);
const lg_scheme *lg_loaded_scheme(const lg_loaded *r);
int64_t lg_loaded_step(const lg_loaded *r); /* of the weights */
/* The lengths and sparsities of its training; sparsities 0: the task has none, or its own range. */
lg_draw lg_loaded_draw(const lg_loaded *r);

/* ---- This machine ------------------------------------------------------------------------ */

typedef enum { LG_DOCTOR_FINE, LG_DOCTOR_SLOW, LG_DOCTOR_WRONG } lg_doctor_state;
typedef struct lg_doctor_row {
    const char *topic; /* "cpu", "kernels", "memory", "libraries", "programs", "disk", "speed" */
    char name[32], value[256];
    lg_doctor_state state;
    char advice[256]; /* what would make it faster, or right; "": nothing */
} lg_doctor_row;
typedef void lg_doctor_callback(void *context, const lg_doctor_row *row);
/* What this machine and this installation offer. quick 1: nothing is measured; else it takes about two seconds. */
int lg_doctor(int quick, lg_doctor_callback *each, void *context, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
