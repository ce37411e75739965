/* probe_sum.h: what the predictions of a probe are together. */
#ifndef LG_MEASURE_PROBE_SUM_H
#define LG_MEASURE_PROBE_SUM_H

#include "base/memory.h"
#include "lengthen_measure.h"

/* Starts from {0}. */
struct lg__probe_sum {
    struct lg__block seen; /* struct seen [count] */
    /* double [4, documents]: of a group, by document: sum, number, error, whether there are any. */
    struct lg__block share;
    int count, documents;
};

/* The next prediction, of document number `document`, from 0 and not falling. */
int lg__probe_sum_add(struct lg__probe_sum *s, int document, const lg_probe_row *r, lg_error *err);
/* Fills predictions, dependent, loss, quantiles, shares, bins and the three means; most_k is set. */
int lg__probe_sum_up(struct lg__probe_sum *s, lg_probe_summary *r, lg_error *err);
void lg__probe_sum_clear(struct lg__probe_sum *s);

#endif
