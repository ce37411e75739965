/* relation.h: tasks whose IDs are found by keys, as inputs in which every context shows that a position can
 * see on any valid input, if entries are not in each other's sight (docs/CERTIFICATE.md). */
#ifndef LG_CERTIFY_RELATION_H
#define LG_CERTIFY_RELATION_H

#include "tasks/tasks.h"

struct lg__relation {
    int back,
        apart; /* set before it is filled in: labels behind its own that a position sees at level 2;
                        1: nothing that is generated sees the words of a key */
    int64_t inputs; /* the shorter ones first */
    int words,
        base; /* a key's number has so many digits of this base; 0: one key is not like another */
    int all;  /* 1: the inputs are all up to a length, and take no extra entry */
    int64_t keys, values;
    /* Writes input i; x->n is 0: there is no such one. extra >= 0: with one entry more, whose key has this
     * number, where it would be found if it matched. shift: other values, the same keys. */
    int (*write)(const struct lg_task *t, const struct lg__relation *r, int64_t i, int64_t extra,
                 int shift, lg_example *x, lg_error *err);
};

/* Fills it in; refused for a task that has none, or not with its settings. */
int lg__relation_open(struct lg__relation *r, const lg_task *t, lg_error *err);

#endif
