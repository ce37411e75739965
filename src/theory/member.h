/* member.h: one member of the class: its parameters, its answer to a text, and the gradient. */
#ifndef LG_THEORY_MEMBER_H
#define LG_THEORY_MEMBER_H

#include "lengthen_theory.h"
#include "theory/sum.h"

/* A text with its label. */
struct lg__sample {
    int n, label;
    int32_t *token, *id; /* [n]; id is of no use where nothing is coupled */
    int pattern;         /* of S among those of the ensemble; -1: they are not numbered */
    struct lg__block block[2];
};

struct lg__member {
    lg_theory_class c;
    int k, vocab, labels;
    struct lg__tuples tuples;
    struct lg__patterns patterns;
    /* The parameters, one section behind the other; a section that is not there has no numbers. */
    int words, offsets, scores, weights, values; /* where each begins */
    int count;                                   /* of all */
    double *theta;
    /* What the sums read, made of theta by lg__member_refresh. */
    double *g; /* [tuples][labels], or [words] signs */
    struct lg__table table;
};

/* The memory of one thread. Starts as {0}. */
struct lg__reader {
    struct lg__sum_work work;
    struct lg__block block[2];
    double *gradient; /* [count] of the member, by g in place of its own parameters */
};

int lg__member_make(struct lg__member *m, const lg_theory_class *c, int k, int vocab, int labels,
                    uint64_t seed, lg_error *err);
void lg__member_clear(struct lg__member *m);
void lg__member_refresh(struct lg__member *m);
/* p[labels]: the answer. With r->gradient, that of the loss -log p[label] is added to it. */
int lg__member_read(const struct lg__member *m, struct lg__reader *r, const struct lg__sample *x,
                    double *p, lg_error *err);
/* From the gradient by g to that by its parameters, in place. */
void lg__member_chain(const struct lg__member *m, double *gradient);
void lg__reader_clear(struct lg__reader *r);

#endif
