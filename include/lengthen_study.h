/* lengthen_study.h: many runs: sweeps over a config, and experiments from their file to rows, figures and checks; and a
 * first try of a task.
 *
 *     lg_sweep_options o = {.file = "sweep.yaml", .folder = "runs", .store = "lab.db"};
 *     if (lg_sweep(&o, watch, NULL, &failed, &left, &err)) puts(err.text); */
#ifndef LENGTHEN_STUDY_H
#define LENGTHEN_STUDY_H

#include "lengthen_cluster.h"
#include "lengthen_couple.h"
#include "lengthen_report.h"
#include "lengthen_training.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sweeps -------------------------------------------------------------------------------- */

typedef void lg_note_callback(void *context, const char *sentence);
/* Whether a run is wanted. */
typedef int lg_sweep_choice(void *context, const char *name);

/* Many runs over a base config (docs/CONFIG.md, "Sweeps"), each trained and evaluated in a process
 * of its own, made by fork(): the caller has no other threads meanwhile. */
typedef struct lg_sweep_options {
    const char *file;        /* YAML */
    const char *scale;       /* one of its scales; NULL or "desk": the file as it is */
    const char *const *sets; /* [set_count] "key=value" for every run, after the base config */
    int set_count;
    const char *folder; /* each run is a folder in it */
    const char *store;
    int jobs;    /* processes at once; 0: 1 */
    int threads; /* of each; 0: the cores shared out among the jobs */
    lg_comm *
        comm; /* rank 0 of several: the runs are dealt to the others, which serve (lengthen_cluster.h),
                                instead; NULL: alone */
    int here;                /* 1: in this process, one after the other, instead */
    int certify;             /* above 0: each is certified too, into certificate.json in its
                                folder, and confirmed with so many inputs */
    lg_sweep_choice *wanted; /* runs that are not are left out; NULL: all are */
    void *wanted_context;
    lg_note_callback *note; /* something that the user should know before the first run; or NULL */
    void *note_context;
} lg_sweep_options;

typedef struct lg_sweep_run {
    int index, count;    /* this one, from 0, of how many */
    const char *name;    /* "positions.ids=plain,seed=1" */
    const char *variant; /* the same without the seed: what is compared; "" if only seeds differ */
    const char *folder;
    int64_t seed, step, steps;
    const char *state; /* "waiting", "training", "evaluating", "done", "failed" */
    const char *error; /* why it failed, or "" */
    const char *texts; /* of a run of texts: checksums of tokenizer and texts; else "" */
} lg_sweep_run;
/* Called for every run before the first begins, then whenever one begins, moves on or ends, and a few
 * times a second in any case. Returns 0 to stop: every run then saves a checkpoint; the same call
 * goes on with them. */
typedef int lg_sweep_watch(void *context, const lg_sweep_run *r);
/* A run that is done already is reused; one that fails does not stop the others. *failed
 * and *left: how many failed, how many are neither done nor failed since it was stopped. Every
 * config is opened first: what is wrong is refused before the folder and the store are touched. */
int lg_sweep(const lg_sweep_options *o, lg_sweep_watch *watch, void *context, int *failed,
             int *left, lg_error *err);

/* One measurement of a variant over its seeds. */
typedef struct lg_joined {
    const char *variant;
    const lg_kind *kind;
    const lg_cell *at;   /* where: the cell of the first seed; tokens is the mean of all */
    int seeds;           /* that are done */
    const double *value; /* [seeds] in the order of the seeds */
    const int64_t *seed; /* [seeds] */
    double min, lower, median, upper, max; /* of the values; lower and upper: the quartiles */
    /* The value of all samples together and its 95% interval, where the kind pools them; else the first
     * seed's. */
    double pooled, low, high;
    int samples; /* of all seeds together */
    /* Median of the leading kind at the longest length of training, of this sparsity or the densest of
     * training if that is less, with the IDs that the runs predict if they do; -1: there is no such cell. */
    double learned;
} lg_joined;
typedef void lg_joined_callback(void *context, const lg_joined *j);
/* What a sweep has in the store so far, variant by variant, kind by kind, cell by cell; of runs that are
 * done. A folder with a run of another config is refused. What is pointed at lives until the callback
 * returns. */
int lg_sweep_cells(const lg_sweep_options *o, lg_joined_callback *each, void *context,
                   lg_error *err);

/* ---- Experiments ------------------------------------------------------------------------------ */

/* A sweep's file with the key `experiment` (docs/CONFIG.md, "Experiments"): a question, the runs that
 * answer it, what is drawn of their rows, and what must hold. */

/* What must hold, and what was found. */
typedef struct lg_check {
    int index, count;    /* this one, from 0, of how many */
    const char *text;    /* "more {method: coupled} than {method: plain} by 0.3" */
    const char *numbers; /* "1.000 (3 cells) - 0.120 (3 cells) = 0.880" */
    int holds;           /* 1: yes, 0: no, -1: there are no cells for it, at this scale or yet */
    double value;        /* the difference, the least or the most, or Kendall's tau-b */
} lg_check;
typedef void lg_check_callback(void *context, const lg_check *c);
/* missing: why it was not drawn, or NULL. */
typedef void lg_figure_callback(void *context, const char *file, const char *missing);
/* A figure or a map, the other one is NULL; lives until the callback returns. */
typedef void lg_drawn_callback(void *context, const lg_figure *f, const lg_heatmap *m);

typedef struct lg_reproduce_options {
    const char *name; /* of the experiment: its file is EXPERIMENTS/NAME.yaml; it may lie in a
                                folder there: "language/models" */
    const char *experiments; /* folder of the files */
    const char *scale;       /* NULL or "desk": the file as it is */
    const char *results;     /* its rows, figures and run.json go to RESULTS/NAME, */
    const char *folder;      /* at another scale to FOLDER/NAME; the runs to FOLDER/NAME/RUN */
    const char *store;
    const char *only;           /* the name of one of its runs; NULL: all */
    int nested;                 /* of lg_experiments: those in folders of EXPERIMENTS, too */
    int jobs, threads;          /* as in lg_sweep_options, */
    lg_comm *comm;              /* and this, too */
    lg_sweep_watch *watch;      /* of the runs that are made now; NULL: nobody */
    lg_check_callback *check;   /* or NULL, as the next two */
    lg_figure_callback *figure; /* after each */
    lg_drawn_callback *drawn;   /* gets the figures, and no file is drawn; NULL: they are drawn */
    lg_note_callback *note;     /* something that the user should know */
    void *context;              /* of all */
} lg_reproduce_options;

typedef struct lg_experiment {
    const char *name, *file;
    const char *question, *expected; /* as the file says; "": it does not */
    const char *words;               /* the caption of its figures; "": none */
    const char *folder;              /* of its rows */
    double budget;                   /* minutes of this machine, at the scale desk; -1: not said */
    int runs, done;                  /* done: all rows of the run are there */
    double hours;                    /* that the runs took whose rows are there */
    double minutes_left;             /* from these; without any: the budget; -1: not known */
} lg_experiment;
typedef void lg_experiment_callback(void *context, const lg_experiment *x);
/* The experiments in a folder by name, at a scale, with their state; o->name: that one alone. What
 * is pointed at lives until the callback returns. */
int lg_experiments(const lg_reproduce_options *o, lg_experiment_callback *each, void *context,
                   lg_error *err);

typedef struct lg_reproduce_result {
    int runs, done;          /* in all; those whose rows are there now */
    int failed, left;        /* of those that were to be made */
    int held, broken, empty; /* checks that hold, that do not, that have no cells */
} lg_reproduce_result;
/* Makes the runs whose rows are not all there, as lg_sweep does; the rows of each are put into
 * measurements.csv, and what is said of it into run.json, as soon as it is done. Then
 * draws, if gnuplot is there, and checks. A damaged file of rows or run.json is refused and left as it
 * is. */
int lg_reproduce(const lg_reproduce_options *o, lg_reproduce_result *r, lg_error *err);
/* The figures and checks of the rows that are there, to o->drawn and o->check; trains and writes nothing. */
int lg_experiment_show(const lg_reproduce_options *o, lg_error *err);

/* ---- Trying a task ---------------------------------------------------------------------------- */

/* Will a task extrapolate, with which positions, and how sparse are its dependencies? Trains small
 * models with different positions on short examples, each for its share of the time, tests them at
 * longer lengths, probes the best, and says what to use:
 *
 *     lg_try_options o = lg_try_options_default();
 *     lg_try_result r;
 *     o.task = "parity-scratchpad";
 *     if (lg_try(&o, &r, &err)) puts(err.text); else puts(r.advice);
 *     lg_try_result_clear(&r); */

enum {
    LG_TRY_COLUMNS = 8, /* at most */
    LG_TRY_SCHEMES = 10,
    LG_TRY_SEEDS = 10,
    /* With fewer steps nothing can be said of a scheme: the learning rate is still rising (the
     * warm-up takes as many). */
    LG_TRY_STEPS = 50,
    LG_TRY_PATH = 1024
};

/* What came out at a column. */
typedef struct lg_try_cell {
    int samples, exact;
    double share; /* exact / samples, and its 95% Wilson interval */
    double low, high;
    double tokens; /* of an example, on average */
    double seconds;
    int64_t step; /* of the weights */
} lg_try_cell;

typedef enum {
    LG_TRY_LEFT_OUT, /* it does not go with the task: `refused` has the reason */
    LG_TRY_FEW,      /* fewer than LG_TRY_STEPS steps: it is not compared */
    LG_TRY_NO_TIME,  /* not tested */
    LG_TRY_LEARNED,  /* 99% exact at the training lengths */
    LG_TRY_BY_HEART, /* of own data: right on its lines, but not on those held out */
    LG_TRY_NOT_LEARNED
} lg_try_verdict;

/* Who knows the IDs of generated tokens: the place in the text, the task's rule, the model. */
typedef enum { LG_TRY_PLAIN, LG_TRY_GIVEN, LG_TRY_PREDICTED } lg_try_ids;
const char *lg_try_ids_name(lg_try_ids ids); /* "plain", "given", "predicted" */

/* A scheme with one seed. */
typedef struct lg_try_scheme {
    const char *name; /* for people */
    lg_try_ids ids;
    int64_t seed;
    char refused[512]; /* why it was left out, or "" */
    int64_t steps;
    double seconds; /* of training */
    int tested;     /* columns that have a cell */
    int late;       /* 1: there was no time for the column after these */
    lg_try_verdict verdict;
    lg_try_cell cell[LG_TRY_COLUMNS];
} lg_try_scheme;

/* Lengths that are tested together: one of a task that generates its examples; those near each
 * other in a file that has few lines of each. */
typedef struct lg_try_column {
    int low, high;
    double mean, times; /* of the lengths; that as a multiple of the longest of training */
} lg_try_column;

typedef struct lg_try_result {
    const char *task;          /* its name, or the file of own data; points into the options */
    int own;                   /* 1: own data */
    const char *unit;          /* of lengths */
    int least, most;           /* lengths of training */
    int tokens, tokens_tested; /* of the longest example of training, of the tests */
    int levels;                /* of IDs that the examples have */
    int everything;            /* of own data: every token but the first is part of the answer */
    int trained, held, longer; /* of own data: lines */
    int shorter, further;      /* other longest lengths of training that can be tried; 0: none */
    int columns;               /* the first is of the training lengths */
    lg_try_column column[LG_TRY_COLUMNS];
    int schemes, seeds;
    lg_try_scheme scheme[LG_TRY_SCHEMES * LG_TRY_SEEDS]; /* scheme i, seed s: [s * schemes + i] */
    int best;    /* the scheme that carries furthest among those that learned, with the seed that is
                        its median; -1: none did */
    int carries; /* 1: some of its longest answers are right */
    int certifiable; /* 1: its run can be certified (lg_run_certify) */
    /* Of own data: lines of the tests with words that training hardly shows, these words, and whether
     * the columns have them; if not, what the best makes of them. */
    int rare, rare_tested;
    char *rare_words;
    lg_try_cell unusual;
    int interrupted;
    lg_probe_result probe[2]; /* of the best, at half the training length, and at all of it */
    int probed;               /* how many of these there are */
    int conclusive;           /* 1: they have predictions enough to conclude from */
    char folder[LG_TRY_PATH], store[LG_TRY_PATH]; /* of the runs; a temporary folder is gone */
    char best_folder[LG_TRY_PATH + 64];           /* of the best */
    char *advice, *sparsity;                      /* in sentences */
    char *
        config; /* of the best, or of the coupling that was found, ready for lg_run_train; NULL: it does not carry */
    lg_couple_result *coupled; /* own data without IDs: what was found of them, or NULL */
} lg_try_result;

typedef enum {
    LG_TRY_PLANNED, /* nothing was written so far */
    LG_TRY_TRAINS,  /* a turn of a scheme begins */
    LG_TRY_STEP,
    LG_TRY_TRAINED,
    LG_TRY_TESTED
} lg_try_event;
typedef struct lg_try_progress {
    lg_try_event event;
    const lg_try_result *result; /* so far */
    const lg_try_scheme *scheme; /* NULL where all is planned; index from 0 */
    int index;
    const lg_run_step *step;  /* of LG_TRY_STEP; else NULL */
    double seconds, all_left; /* left of the training of this turn, of the whole try */
} lg_try_progress;
typedef void lg_try_watch(void *context, const lg_try_progress *p);

typedef struct lg_try_options {
    const char *task;            /* a name of lg_task_new, or a file of own data */
    const char *const *settings; /* [setting_count] of the task, "key=value"; at most 60 */
    int setting_count;
    double minutes;      /* for all */
    int length;          /* longest of training; 0: 20, or what fits */
    int64_t seed;        /* of weights and examples; the first, if there are several */
    int seeds;           /* how many, up to LG_TRY_SEEDS; 0: 1 */
    const char *schemes; /* their names, "rope,nope,t5", or "all"; NULL: the usual ones */
    const char *folder;  /* keeps the runs and their store; the same try goes on there. NULL: a
                           temporary one */
    const char *store;   /* the file of the store; NULL: lengthen.db in the folder */
    const char
        *coupled; /* own data without IDs: what lg_couple finds stays there; NULL: in the folder */
    lg_try_watch *watch;
    void *context;
    const volatile int *stop; /* not 0: the result is of what is done so far; or NULL */
} lg_try_options;
/* 5 minutes, seed 1. */
lg_try_options lg_try_options_default(void);
/* Examples that are too long for the time are refused before any work. The result is to be cleared
 * in any case. */
int lg_try(const lg_try_options *o, lg_try_result *result, lg_error *err);
/* A scheme over its seeds: as *all of one seed; else the verdict of most, and of each cell the median,
 * with the least and the largest as low and high. A seed that was not asked has 0 there. Returns how many
 * seeds learned. */
int lg_try_summary(const lg_try_result *result, int scheme, lg_try_scheme *all);
/* The name of scheme i for lg_try_options, and whether it is usual for data with or without labels;
 * NULL: there are no more. */
const char *lg_try_scheme_name(int i, const char **what);
void lg_try_result_clear(lg_try_result *result);

#ifdef __cplusplus
}
#endif
#endif
