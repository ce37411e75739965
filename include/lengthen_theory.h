/* lengthen_theory.h: the idealised class of the theory, fitted to planted ensembles and measured.
 *
 * An ensemble (a table of the task `planted`) plants k words in a text and labels it by them. The
 * class, sparse functional attention, reads a text by all its k-subsets S:
 *
 *     h(X) = sum of A(S, X_S) g(X_S) / sum of A(S, X_S),     A >= 0,
 *
 * with A and g learned on short texts. Its sums are exact at any length (docs/THEORY.md).
 *
 *     static const int lengths[] = {50, 500, 5000};
 *     lg_theory_options o = lg_theory_options_default();
 *     o.ensemble = "ensemble.yaml"; o.train[0] = 10; o.train[1] = 50;
 *     o.lengths = lengths; o.length_count = 3; o.row = print;
 *     if (lg_theory_fit(&o, &err)) puts(err.text);
 */
#ifndef LENGTHEN_THEORY_H
#define LENGTHEN_THEORY_H

#include "lengthen.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LG_THEORY_OWN (-1)

/* Which A and which g. */
typedef struct lg_theory_class {
    int words;     /* 0: A has a score for each tuple of words; 1: one for each word, added up */
    int offsets;   /* more scores: one for each distance from the end of the text below this; the
                     last one for all beyond. 0: none */
    int window;    /* 1: beyond these distances A is 0 */
    int local;     /* A is 0 unless the places of S lie within so many; 0: they lie anywhere */
    int patterns;  /* 1: A has a weight >= 0 for each pattern of S within `local` */
    int coupled;   /* 1: `local` counts the IDs of coupled places; A is 0 on places without one */
    int sign;      /* 1: g is a product of a sign a word, for two labels; 0: a distribution over the
                     labels for each tuple */
    int unordered; /* 1: tuples with the same words are one */
} lg_theory_class;

typedef struct lg_theory_row lg_theory_row;
typedef void lg_theory_callback(void *context, const lg_theory_row *r);
/* After each step that is worth telling; returns 0 to stop. */
typedef int lg_theory_watch(void *context, const char *variant, int64_t seed, int step, int steps,
                            double error);

typedef struct lg_theory_options {
    const char *ensemble; /* a YAML file, or a ready table: pair, lookup */
    int k, span;          /* in place of the ensemble's own; 0: its own */
    lg_theory_class c;
    double coverage; /* share of the patterns of S that training shows; 1: all of them */
    int train[2];    /* lengths, the first and the last */
    const int *lengths;
    int length_count;
    int seeds;    /* so many, from `seed` on */
    int64_t seed; /* not 0 */
    int steps;    /* at most; */
    double until; /* it ends when the error at the longest training length is this small */
    int batch;    /* texts a step */
    double rate;  /* of Adam, falling to a tenth of it over the steps */
    int samples;  /* texts that an error is the mean of */
    int threads;  /* 0: all cores; not part of the result's bits */
    lg_theory_callback *row;
    lg_theory_watch *watch; /* or NULL */
    void *context;          /* of both */
} lg_theory_options;
/* 2,000 steps of 64 texts, rate 0.1, until 5e-5, 5 seeds, 200 samples; a class with scores of
 * tuples, no limits. */
lg_theory_options lg_theory_options_default(void);

/* One seed and length. Errors are means of |h - Y| = 1/2 sum over the labels of |h_y - Y_y|, Y being
 * 1 for the right label and 0 for others: 0 right, 1 wrong. */
struct lg_theory_row {
    const char *variant; /* "k=2, local=8": what differs in a sweep */
    int k, local, coupled, patterns;
    double coverage;
    int64_t seed;
    int length, train_length; /* train_length: the longest of training */
    int samples;
    double error;
    double wrong; /* share of texts whose likeliest label is not theirs */
    /* Of texts whose pattern of S training has shown, and of the others; NAN: there are none. */
    double error_seen, error_missing;
    int missing;    /* texts of the second kind */
    int steps;      /* that training took */
    double trained; /* the error at the longest training length, where it ended */
    double seconds; /* of this row */
};

/* Fits a member of the class for each seed and tells its errors. */
int lg_theory_fit(const lg_theory_options *o, lg_error *err);

/* All combinations of the lists; a list without entries is the one value of the options. Those that
 * cannot be (coverage below 1 where S has one pattern) are left out. */
typedef struct lg_theory_lists {
    const int *k, *local, *coupled;
    const double *coverage;
    int k_count, local_count, coupled_count, coverage_count;
} lg_theory_lists;
int lg_theory_sweep(const lg_theory_options *o, const lg_theory_lists *lists, lg_error *err);

/* Of the rows of one variant: over the seeds. One seed has no interval: NAN. */
typedef struct lg_theory_cell {
    char variant[120];
    int length, seeds, missing;
    double error, low, high; /* geometric mean, and its 95% interval (Student's t on logarithms) */
    double wrong;            /* mean */
    double seen, seen_low, seen_high, lost, lost_low, lost_high; /* errors by pattern: shown in
                                                                    training, or not; NAN: none */
} lg_theory_cell;
/* How fast a variant's error grows: the slope of log error over log length, seed by seed, from the
 * longest training length on. */
typedef struct lg_theory_slope {
    char variant[120];
    int seeds;
    double slope, low, high; /* mean and its 95% interval */
    double trained, last;    /* largest error of a seed at the first length, and at the last */
    int first_length, last_length;
} lg_theory_slope;
/* cells and slopes have room for as many as there are rows; return how many there are. Errors of 0
 * count as 1e-17. */
int lg_theory_cells(const lg_theory_row *rows, int count, lg_theory_cell *cells);
int lg_theory_slopes(const lg_theory_row *rows, int count, lg_theory_slope *slopes);

/* ---- The assumptions ------------------------------------------------------------------------- */

typedef struct lg_theory_finding {
    const char *assumption; /* "coverage", "locality", "realizability" */
    int length;             /* that it is about */
    int holds;
    double value; /* share of S whose pattern training shows; span of S; error */
    char text[400];
} lg_theory_finding;
typedef void lg_theory_found(void *context, const lg_theory_finding *f);
/* Tests coverage, locality and realizability of an ensemble with a class, length by length; the
 * last one by fitting a member at each length by itself: it holds if one with an error of at most
 * `until` is found. *failed: how many findings do not hold. */
int lg_theory_check(const lg_theory_options *o, lg_theory_found *found, void *context, int *failed,
                    lg_error *err);

/* ---- The bridge ------------------------------------------------------------------------------ */

enum { LG_THEORY_NAME = 120 };

/* The error of one model at one k: mean and 95% interval. */
typedef struct lg_theory_point {
    char name[LG_THEORY_NAME]; /* "class: NAME", "transformer: METHOD" */
    int k;
    int64_t samples, wrong; /* of a transformer, over all seeds; of the class 0 */
    double error, low, high;
} lg_theory_point;

/* A run of the transformer that has not learned its training lengths (under 99% exact): it is among the
 * points all the same. */
typedef struct lg_theory_unlearned {
    char name[LG_THEORY_NAME];
    int k, seed, length;
    double exact;
} lg_theory_unlearned;

typedef struct lg_theory_bridge_options {
    const char *rows;           /* measurements.csv of an experiment with the key task.k */
    const char *const *classes; /* [class_count] "NAME=ROWS.csv": rows of lg_theory_files_write */
    int class_count;
    int length;        /* of the texts */
    const char *where; /* of these runs alone, "key=value" in the column train; NULL: of all */
} lg_theory_bridge_options;

typedef struct lg_theory_bridge {
    int length;
    lg_theory_point *points;
    lg_theory_unlearned *unlearned;
    int count, unlearned_count;
} lg_theory_bridge;
/* The points of the class, then those of the transformer; to be cleared in any case. */
int lg_theory_bridge_read(const lg_theory_bridge_options *o, lg_theory_bridge *b, lg_error *err);
void lg_theory_bridge_clear(lg_theory_bridge *b);

#ifdef __cplusplus
}
#endif
#endif
