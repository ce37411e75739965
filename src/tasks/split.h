/* split.h: a file of own data split by length, for lg_try: the shorter half is trained on, but for some
 * lines that are held out; the longer lines are tested. */
#ifndef LG_TASKS_SPLIT_H
#define LG_TASKS_SPLIT_H

#include "lengthen.h"

enum { LG__SPLIT_COLUMNS = 4, LG__SPLIT_LENGTHS = 64 };

/* Lengths that are tested together. */
struct lg__split_column {
    int count;
    int length[LG__SPLIT_LENGTHS], lines[LG__SPLIT_LENGTHS]; /* rising; how many lines have each */
    int total;                                               /* lines, all lengths together */
    double mean;                                             /* length */
};

/* Starts from {.file = .., .length = .., .seed = ..}. */
struct lg__split {
    const char *file;
    int length; /* longest of training; 0: the shorter half */
    int64_t seed;
    int least, most;           /* lengths of training */
    int trained, held, longer; /* lines */
    int everything;            /* every token but the first is part of the answer */
    int columns;               /* the first is of the lines that are held out */
    struct lg__split_column column[LG__SPLIT_COLUMNS];
    char *train, *test, *vocab; /* texts of the files: lines to train on and to test, words */
};

/* task: jsonl:FILE. */
int lg__split_lines(struct lg__split *s, lg_task *task, lg_error *err);
/* The i-th line of the file, from 0. */
int lg__split_example(lg_task *task, int i, lg_example *x, lg_error *err);
void lg__split_clear(struct lg__split *s);

#endif
