/* results.h: the rows of an experiment as lines of CSV: what evals.csv and losses.csv share. */
#ifndef LG_STUDY_RESULTS_H
#define LG_STUDY_RESULTS_H

#include "study/study.h"

enum { LG__RESULTS_COLUMNS = 20 }; /* at most */

/* A line, read. */
struct lg__results_line {
    struct lg__study *s;
    int number; /* of the line */
    const char *const *columns;
    char *field[LG__RESULTS_COLUMNS];
};

/* One kind of file. A line is read into, and written from, the rows of `modes` modes. */
struct lg__results_form {
    const char *const *columns;
    int count, modes;
    int (*read)(const struct lg__results_line *l, struct lg__row *rows, lg_error *err);
    void (*put)(lg_buffer *to, const struct lg__study *s, const struct lg__row *rows);
};
extern const struct lg__results_form lg__results_answers; /* results_answers.c */
extern const struct lg__results_form lg__results_losses;  /* results_losses.c */

/* FILE:LINE: what; and the remedy. */
int lg__results_wrong(const struct lg__results_line *l, lg_error *err, const char *what);
/* A whole number of at least `least`, at most 1e9 but for a seed. */
int lg__results_int(const struct lg__results_line *l, int column, int64_t least, int64_t *value,
                    lg_error *err);
/* Columns 0..3 of every kind: experiment, method, train, seed. */
int lg__results_run(const struct lg__results_line *l, int *run, lg_error *err);
void lg__results_put_run(lg_buffer *to, const struct lg__study *s, int run);

#endif
