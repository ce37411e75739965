/* sum.h: sparse functional attention on one text, exactly:
 *
 *     h = sum over S of A(S) g(X_S) / sum over S of A(S),
 *     A(S) = weight(pattern of S) * exp(sum of the scores of its members + score of the tuple X_S),
 *
 * S running over the k-subsets of the n places, or over those that a span, a list of patterns or
 * coupled IDs allow. docs/THEORY.md derives the recurrences. All of it in double; where no S has a
 * weight, h is 0. */
#ifndef LG_THEORY_SUM_H
#define LG_THEORY_SUM_H

#include "base/memory.h"
#include "lengthen.h"

enum { LG__SUM_MOST_K = 16, LG__SUM_MOST_OUTPUTS = 64 };

/* The numbers of tuples. Ordered: x_0 + V x_1 + V^2 x_2 .., the words in order of place. Otherwise
 * tuples with the same words have one number. */
struct lg__tuples {
    int k, vocab, ordered;
    int count[LG__SUM_MOST_K + 1];     /* [j]: tuples of j words; the last is that of the tables */
    int32_t *next[LG__SUM_MOST_K + 1]; /* not ordered: [j][tuple of j words][word] */
};
int lg__tuples_make(struct lg__tuples *t, int k, int vocab, int ordered, lg_error *err);
void lg__tuples_clear(struct lg__tuples *t);
/* The number of a tuple of j words with one more behind it. */
static inline int lg__tuples_next(const struct lg__tuples *t, int j, int tuple, int32_t word)
{
    return t->ordered ? tuple + t->count[j] * word : t->next[j][tuple * t->vocab + word];
}

/* g, and what A has for a whole tuple. Read only while sums are taken. */
struct lg__table {
    const struct lg__tuples *tuples;
    int outputs;
    const double *g; /* [tuples][outputs] */
    double *m;       /* [tuples] exp of the score, as m * 2^e; NULL: all scores are 0 */
    int64_t *e;
};
/* Fills m and e from the scores. */
void lg__table_scores(struct lg__table *t, const double *score);

/* Offsets from the first member, which is 0, rising. */
struct lg__patterns {
    int k, count;
    int32_t *offset;      /* [count][k] */
    const double *weight; /* [count] >= 0; NULL: all 1 */
};
/* All patterns of k places within so many; refused if there are more than a million. */
int lg__patterns_all(struct lg__patterns *p, int k, int span, lg_error *err);
void lg__patterns_clear(struct lg__patterns *p); /* the weights are the caller's */

/* Memory of the sums, kept from one to the next; one per thread. Starts as {0}. */
struct lg__sum_work {
    struct lg__block block[6];
};
void lg__sum_work_clear(struct lg__sum_work *w);

struct lg__sum {
    int n, k;
    const double *score;  /* [n] of each place; -INFINITY: it is in no S */
    const int32_t *token; /* [n] */
    const struct lg__table *table;
    const double *sign;                  /* [words] in place of the table: g is their product */
    int span;                            /* the places of S lie within so many; 0: anywhere */
    const struct lg__patterns *patterns; /* S has one of these patterns */
    const int32_t *id;                   /* [n] span counts IDs; a place with ID 0 is in no S */
};

/* dLoss/dh, and where the gradients are added; each may be NULL. */
struct lg__sum_gradient {
    const double *out; /* [outputs] */
    double *score;     /* [n] */
    double *g;         /* [tuples][outputs] */
    double *tuple;     /* [tuples]: of the tuples' scores */
    double *sign;      /* [words] */
    double *weight;    /* [patterns] */
};

/* h[outputs] and, if log_sum is not NULL, the logarithm of the sum below. gradient NULL: none. */
typedef int lg__sum_form(const struct lg__sum *s, struct lg__sum_work *w, double *h,
                         double *log_sum, const struct lg__sum_gradient *gradient, lg_error *err);

/* (a) Every S, one after the other: the naive twin of all others. */
lg__sum_form lg__sum_enumerate;
/* (b) g a product of signs, no scores of tuples: elementary symmetric polynomials, O(n k); with a
 * span, products of them over the blocks of a two-stack queue, O(n k^2). */
lg__sum_form lg__sum_symmetric;
/* (c) Any table, no span: carries the sums of all tuples of fewer words, O(n V^(k-1)). */
lg__sum_form lg__sum_tuples;
/* (d) Any table, S of listed patterns: first member by first member, O(n patterns k); or, with IDs,
 * of those that a span over them allows, first member by first member in their order. */
lg__sum_form lg__sum_patterns;

#endif
