/* lengthen_couple.h: position IDs for data that has none: which tokens each token of an answer reads is found
 * from examples alone, made into a rule for coupled IDs, and tried by training (docs/COUPLE.md).
 *
 *     lg_couple_options o = lg_couple_options_default();
 *     lg_couple_result r;
 *     o.data = "data.jsonl"; o.folder = "coupled";
 *     if (!lg_couple(&o, &r, &err)) puts(r.claimed ? r.reads : r.why);
 *     lg_couple_clear(&r); */
#ifndef LENGTHEN_COUPLE_H
#define LENGTHEN_COUPLE_H

#include "lengthen_training.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Labels by the rule of a file (positions.coupling), in place of the task's own. */
int lg_task_couple(lg_task *t, const char *file, lg_error *err);

enum { LG_COUPLE_CANDIDATES = 8, LG_COUPLE_CELLS = 64, LG_COUPLE_PATH = 4096, LG_COUPLE_SHOWN = 3 };

/* A rule with settings that was trained. */
typedef struct lg_couple_candidate {
    char name[64];   /* "column, role; decay 1" */
    char window[96]; /* "[0, 1]", or one for each level */
    char source[64]; /* "delta", or one for each level */
    int levels, roles, layers;
    double decay;
    int64_t steps;
    double seconds;
    int lines, exact; /* of the longer lines that it was chosen by; lines 0: not tried */
    char refused[200];
} lg_couple_candidate;

typedef struct lg_couple_cell {
    int length, lines, exact;
} lg_couple_cell;

typedef enum {
    LG_COUPLE_SEARCHES,
    LG_COUPLE_TRAINS,
    LG_COUPLE_TESTS,
    LG_COUPLE_FINISHES
} lg_couple_event;
typedef struct lg_couple_progress {
    lg_couple_event event;
    double share;            /* of the search */
    int candidate;           /* from 0 on; -1: the winner's own run */
    const lg_run_step *step; /* while it trains; else NULL */
    double left;             /* seconds of all that is left, at most */
} lg_couple_progress;
typedef void lg_couple_watch(void *context, const lg_couple_progress *p);

typedef struct lg_couple_options {
    const char *data;            /* a file of lines, or the name of a task (exec:COMMAND too) */
    const char *const *settings; /* [setting_count] of the task */
    int setting_count;
    int forget;        /* 1: labels that the data has are not looked at; 0: such data is refused */
    int lines, length; /* of a task: how many examples, and the longest of them */
    /* The steps of all candidates and of the winner's run together, each times its layers, at most: what is
     * tried, and for how long, is decided by these alone. */
    int64_t steps;
    double minutes; /* a last cap by the clock; r->cut says that it ended something */
    uint64_t seed;
    const char *folder; /* where all goes; it is made */
    const char *store;  /* of the winner's run; NULL: none */
    int threads;        /* 0: all cores */
    lg_couple_watch *watch;
    void *context;
    const volatile int *stop;
    /* The hook for certificates: writes what it can say of the winner's run, "" for nothing; or NULL. */
    int (*certify)(void *context, const char *folder, char *text, size_t size, lg_error *err);
} lg_couple_options;
lg_couple_options lg_couple_options_default(void);

typedef struct lg_couple_result {
    int lines, fit, chosen_by, reported; /* lines in all, and in the three parts */
    int shortest, longest, fit_longest;
    char unit[32];
    /* What was found. */
    int found;           /* a rule was; */
    int claimed;         /* and the winner's run is right on lines that nothing was chosen by */
    char why[512];       /* where one is not: the reason */
    char reads[1024];    /* lines: "answer[i] reads a[n-1-i], b[n-1-i], answer[i-1]" */
    double accuracy;     /* of the table, of the worst phase */
    int copies;          /* of each line that was trained on, with other names in it; 1: as it is */
    int disagree, shown; /* lines that contradict the others, and some of them */
    char disagreeing[LG_COUPLE_SHOWN][240];
    /* What was tried. */
    int candidates, best;
    lg_couple_candidate candidate[LG_COUPLE_CANDIDATES];
    int64_t steps; /* of the winner's run */
    int cells;     /* of the lines that nothing was chosen by, length by length */
    lg_couple_cell cell[LG_COUPLE_CELLS];
    int report_lines, report_exact;
    char certificate[512];
    int cut; /* the time ended before the steps: a faster machine may find something else */
    double seconds;
    char folder[LG_COUPLE_PATH];
    char *config; /* to go on with; the caller's, freed by lg_couple_clear */
} lg_couple_result;

/* 0, also where nothing is found: r->claimed says so. Before any work refused: data whose answers contradict
 * each other, without answers, of one length only, or with words that only longer lines have. Writes into the
 * folder: fit.jsonl, choose.jsonl, report.jsonl, train.jsonl, vocab.txt, coupling.yaml, config.yaml,
 * coupling.svg and best/. */
int lg_couple(const lg_couple_options *o, lg_couple_result *r, lg_error *err);
void lg_couple_clear(lg_couple_result *r);

#ifdef __cplusplus
}
#endif
#endif
