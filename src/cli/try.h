/* try.h: what the files of `lengthen try` share: what is trained and tested (try_data.c), with
 * which positions (try_schemes.c), what came out of it (try.c), and what is said of it
 * (try_report.c). */
#ifndef LG_CLI_TRY_H
#define LG_CLI_TRY_H

#include "lengthen_lab.h"

enum {
    LG_TRY_COLUMNS = 4,
    LG_TRY_SCHEMES = 5,
    LG_TRY_LENGTHS = 64, /* of a column */
    LG_TRY_SETS = 32,
    LG_TRY_PATH = 1024
};

/* Lengths that are tested together: one of a task that makes examples; those near each other in a
 * file that has few lines of each. */
struct lg_try_column {
    int count;
    int length[LG_TRY_LENGTHS], lines[LG_TRY_LENGTHS]; /* rising; how many there are of each */
    int total;                                         /* lines, all lengths together */
    double mean;                                       /* length */
};

/* What came out at a column. */
struct lg_try_cell {
    int samples, exact;
    int64_t step;
    double tokens; /* of an example, on average */
    double low, high, seconds;
};

struct lg_try_scheme {
    const char *name, *key, *ids; /* for people; its folder; "plain", "given", "predicted" */
    char sets[LG_TRY_SETS][160];  /* what differs between the schemes comes first */
    int set_count, own_count;
    int full;          /* span: its time grows with the square of the length */
    char refused[512]; /* why it was left out, or "" */
    int64_t steps;
    double seconds; /* of training */
    int settled;    /* the last steps had no error */
    int tested;     /* columns that have a cell */
    struct lg_try_cell cell[LG_TRY_COLUMNS];
};

struct lg_try {
    /* Asked for. */
    const char *what; /* the task's name or the file */
    const char **settings;
    int setting_count;
    double minutes;
    int length;
    int64_t seed;
    const char *out, *plot;
    int json, csv;
    /* Planned. */
    int own; /* the user's data */
    const char *unit;
    int levels;
    int reach[LG_LEVELS];      /* as lg_task_shape.reach */
    int window[LG_LEVELS];     /* -window..window is seen */
    int least, most;           /* lengths of training */
    int tokens, tokens_tested; /* of the longest example of training, of the tests */
    int curriculum;            /* its steps; 0: it goes on when a length is learned */
    int everything;            /* every token but the first is part of the answer */
    int trained, held, longer; /* lines */
    int columns;
    struct lg_try_column column[LG_TRY_COLUMNS]; /* the first is of the training lengths */
    char *train_text, *test_text, *vocab_text;   /* of the files */
    /* Made. */
    char folder[LG_TRY_PATH], store[LG_TRY_PATH];
    char task[LG_TRY_PATH], test[LG_TRY_PATH]; /* as for lg_task_new; test "": the same */
    struct lg_try_scheme scheme[LG_TRY_SCHEMES];
    int schemes;
    int interrupted;
    lg_probe_result probe[2]; /* at half the training length, and at all of it */
    int probed;               /* how many of these there are */
};

/* Finds out what is trained and tested: 0, or an exit code after saying what is wrong. */
int lg_try_plan(struct lg_try *t);
/* Writes into the folder what is tried, and the files of the user's own data; a try that is there
 * must be the same one. */
int lg_try_write(struct lg_try *t);
void lg_try_clear(struct lg_try *t);

/* The sensible schemes for what was planned. */
void lg_try_schemes(struct lg_try *t);

/* Whether it answers at the training lengths. */
int lg_try_learned(const struct lg_try_scheme *s);
/* The scheme that carries furthest among those that learned; NULL: none did. */
const struct lg_try_scheme *lg_try_best(const struct lg_try *t);
void lg_try_interval(struct lg_try_cell *c); /* Wilson's, 95% */
/* Everything that is printed at the end. An exit code. */
int lg_try_report(const struct lg_try *t);

#endif
