/* probe_begun.h: a probe that was stopped goes on. What is found of each document is put into a file as
 * soon as it is done; the same probe takes it from there. A file of another probe, and what is damaged
 * or of another text, is dropped. */
#ifndef LG_MEASURE_PROBE_BEGUN_H
#define LG_MEASURE_PROBE_BEGUN_H

#include <stdio.h>

#include "measure/influence.h"

/* Starts from {0}. */
struct lg__begun {
    const char *path;
    FILE *f;               /* NULL: nothing is kept */
    int reading;           /* there may be more in it */
    struct lg__block text; /* one document */
};

/* sum: of everything that decides what is found. */
int lg__begun_open(struct lg__begun *b, const char *path, uint64_t sum, lg_error *err);
/* The next document, a sum of which is `document`, into f->need[f->count], whose predictions are listed,
 * and `against`, float [2 * count], or NULL. *got 0: it is not there, nor is any behind it. */
int lg__begun_take(struct lg__begun *b, uint64_t document, struct lg__influence *f, float *against,
                   int *got, lg_error *err);
int lg__begun_put(struct lg__begun *b, uint64_t document, const struct lg__influence *f,
                  const float *against, lg_error *err);
/* The file stays. */
void lg__begun_close(struct lg__begun *b);

#endif
