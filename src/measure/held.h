/* held.h: the documents on which a run of texts is measured: those that were held out, or others. */
#ifndef LG_MEASURE_HELD_H
#define LG_MEASURE_HELD_H

#include "base/memory.h"
#include "runs/run.h"

/* Starts from {0}. */
struct lg__held {
    const lg_corpus *corpus;
    lg_corpus *own; /* opened here: other texts than the run's */
    lg_corpus_side side;
    struct lg__block all; /* int64_t: those that are long enough, the chosen ones first */
    int count;            /* chosen */
    int64_t there;
};

/* texts: files, folders and globs, commas between them; NULL: those that were held out. */
int lg__held_open(struct lg__held *h, const struct lg__run *r, const char *folder,
                  const char *texts, const char *field, lg_error *err);
/* Those that have length + 1 tokens, at most so many, drawn: the same for every run. */
int lg__held_choose(struct lg__held *h, int length, int64_t most, lg_error *err);
static inline int64_t lg__held_at(const struct lg__held *h, int i)
{
    return ((const int64_t *)h->all.data)[i];
}
void lg__held_close(struct lg__held *h);

#endif
