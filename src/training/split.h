/* split.h: a file of own data split by length, for lg_try: the shorter half is trained on, but for some
 * lines that are held out; the longer lines are tested. */
#ifndef LG_TRAINING_SPLIT_H
#define LG_TRAINING_SPLIT_H

#include "lengthen.h"

enum { LG__SPLIT_COLUMNS = 8 };

/* Lengths that are tested together. */
struct lg__split_column {
    int count;
    const int *length, *lines; /* [count] rising; how many lines have each */
    int total;                 /* lines, all lengths together */
    double mean;               /* length */
};

/* Starts from {.file = .., .length = .., .seed = ..}. */
struct lg__split {
    const char *file;
    int length; /* longest of training; 0: the shorter half */
    int64_t seed;
    int least, most;      /* lengths of training */
    int shorter, further; /* others that could be the longest of training; 0: none */
    int tested; /* longest length of training with lines enough that jsonl holds some out; 0: none */
    int trained, held, longer; /* lines */
    int everything;            /* every token but the first is part of the answer */
    /* Lines of the tests with a word that training hardly shows: they are in no column, but where no
     * others are left. */
    int rare, rare_tested;
    char
        *rare_words; /* "d13 (in 4 lines), d14 (0)": the words, and how often training shows them */
    int columns;     /* the first is of the lines that are held out */
    struct lg__split_column column[LG__SPLIT_COLUMNS], unusual; /* unusual: of rare words */
    int *lengths, *lines;                                       /* of all columns */
    /* Texts of the files: lines to train on, to test, those with rare words; words. */
    char *train, *test, *rest, *vocab;
};

/* task: jsonl:FILE. */
int lg__split_lines(struct lg__split *s, lg_task *task, lg_error *err);
/* The i-th line of the file, from 0. */
int lg__split_example(lg_task *task, int i, lg_example *x, lg_error *err);
void lg__split_clear(struct lg__split *s);

#endif
