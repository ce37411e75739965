/* lengthen_certify.h: a proof that a run is right at every length, or the shortest input on which it fails.
 *
 *     lg_certify_options o = {.folder = "runs/parity"};
 *     lg_certificate c;
 *     if (!lg_certify(&o, &c, &err)) puts(c.certified ? "certified" : c.input); */
#ifndef LENGTHEN_CERTIFY_H
#define LENGTHEN_CERTIFY_H

#include "lengthen_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The certificate ------------------------------------------------------------------------- */

/* Called now and then, and at the end of each phase with done = all. phase: "finding contexts", by the
 * inputs that are written down, at most `all`; then "checking contexts"; then "answering long inputs",
 * by kinds of them. */
typedef void lg_certify_progress(void *context, const char *phase, int64_t done, int64_t all);

typedef struct lg_certify_options {
    const char *folder;
    lg_run_access access;
    /* In the place of a folder: a model of your own program with its task and scheme. */
    const lg_model *model;
    lg_task *task;
    const lg_scheme *scheme;
    double most; /* contexts; 0: 5e7 */
    int threads; /* 0: all cores */
    int confirm; /* n: what is certified then answers n random inputs of n columns, some of equal
                    columns, and one of 500 n; at most 2,000; 0: nothing */
    lg_certify_progress *progress; /* or NULL */
    void *context;
} lg_certify_options;

/* Inputs that a certified run answered; none is wrong if the proof is one. */
typedef struct lg_confirmed {
    int random, worst, columns; /* random ones, and ones of equal columns; the columns of each */
    int longest;                /* columns of one more random input; 0: nothing was tried */
    int wrong;                  /* of all */
} lg_confirmed;

typedef struct lg_certificate {
    int certified;           /* 1: right on every input of every length; 0: a context is wrong */
    int64_t contexts;        /* that a generated position can show */
    int64_t wrong;           /* of those */
    double min_margin;       /* the smallest lead of a right answer over the second: token or ID */
    int64_t step;            /* of the weights */
    const char *isa;         /* the kernels of the model */
    int layers, back, ahead; /* columns that a position sees behind and ahead of its own */
    /* Not certified: an input that fails, the answer that the model writes to it, and the token of
     * the answer at which it is first wrong, from 1. 0: an ID is predicted wrongly on this input, but
     * neither this answer nor any other that was tried came out wrong. */
    char input[4096], answer[4096], right[4096];
    int columns, first;
    int shortest; /* 1: it fails, and no shorter input does */
    lg_confirmed confirmed;
    char warning[512]; /* what the user should know: the newest checkpoint is damaged, ..; or "" */
} lg_certificate;

/* Proves for a run with window span, on a task that a finite machine writes, that greedy decoding is
 * right on every input of every length, or finds the shortest input on which it is not (see
 * docs/CERTIFICATE.md). What cannot be certified is refused with the reason. */
int lg_certify(const lg_certify_options *o, lg_certificate *c, lg_error *err);
/* As one JSON object with the instruction set and the build; to be freed. NULL: no memory. */
char *lg_certificate_json(const lg_certificate *c);

/* ---- By context ------------------------------------------------------------------------------- */

/* lg_run_eval, with the same cells, for runs with window span and IDs that are given or predicted by delta
 * heads: each distinct context is run once, examples are judged by look-up, and those with an error or a
 * wrong ID are decoded. Other runs are refused with the reason. */
int lg_run_eval_by_context(const lg_eval_options *o, lg_error *warning, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
