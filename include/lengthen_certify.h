/* lengthen_certify.h: a proof that a run is right at every length, or the shortest input on which it fails.
 *
 *     lg_certify_options o = {.folder = "runs/parity"};
 *     lg_certificate c;
 *     if (!lg_certify(&o, &c, &err)) puts(c.certified ? "certified" : c.input); */
#ifndef LENGTHEN_CERTIFY_H
#define LENGTHEN_CERTIFY_H

#include "lengthen_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The certificate ------------------------------------------------------------------------- */

/* Called now and then, and at the end of each phase with done = all. phase: "finding contexts", by the
 * inputs that are written down, at most `all`; then "checking contexts"; then "answering long inputs",
 * by kinds of them. With match heads "checking contexts", by inputs, then "checking pairs", by queries. */
typedef void lg_certify_progress(void *context, const char *phase, int64_t done, int64_t all);

typedef struct lg_certify_options {
    const char *folder;
    lg_run_access access;
    /* In the place of a folder: a model of your own program with its task and scheme. */
    const lg_model *model;
    lg_task *task;
    const lg_scheme *scheme;
    double most; /* contexts; 0: 5e7 */
    int threads; /* 0: all cores */
    int confirm; /* n: what is certified then answers n random inputs of n columns, some of equal
                    columns, and one of 500 n; at most 2,000; 0: nothing */
    lg_certify_progress *progress; /* or NULL */
    void *context;
} lg_certify_options;

/* Inputs that a certified run answered; none is wrong if the proof is one. */
typedef struct lg_confirmed {
    int random, worst, columns; /* random ones, and ones of equal columns; the columns of each */
    int longest;                /* columns of one more random input; 0: nothing was tried */
    int wrong;                  /* of all */
} lg_confirmed;

typedef struct lg_certificate {
    int certified;    /* 1: right on every input of every length; 0: a context is wrong */
    int64_t contexts; /* that a generated position can show */
    int64_t wrong;    /* of those */
    double
        min_margin; /* the smallest lead of a right answer over the second: token or ID; with match
                                heads also the smallest |z| of a pair */
    /* Match heads: pairs of a query and a key; those that are missed, and those that match but should not. */
    int64_t pairs, missed, false_matches;
    int64_t step;            /* of the weights */
    const char *isa;         /* the kernels of the model */
    int layers, back, ahead; /* columns that a position sees behind and ahead of its own */
    /* Not certified: an input that fails, the answer that the model writes to it, and the token of
     * the answer at which it is first wrong, from 1. 0: an ID is predicted wrongly on this input, but
     * neither this answer nor any other that was tried came out wrong. */
    char input[4096], answer[4096], right[4096];
    int columns, first;
    int shortest; /* 1: it fails, and no shorter input does */
    lg_confirmed confirmed;
    char warning[512]; /* what the user should know: the newest checkpoint is damaged, ..; or "" */
} lg_certificate;

/* Proves for a run with window span, on a task that a finite machine writes, that greedy decoding is
 * right on every input of every length, or finds the shortest input on which it is not (see
 * docs/CERTIFICATE.md). What cannot be certified is refused with the reason. */
int lg_certify(const lg_certify_options *o, lg_certificate *c, lg_error *err);
/* As one JSON object with the instruction set and the build; to be freed. NULL: no memory. */
char *lg_certificate_json(const lg_certificate *c);

/* ---- By context ------------------------------------------------------------------------------- */

/* lg_run_eval, with the same cells, for runs with window span and IDs that are given or predicted by delta
 * heads: each distinct context is run once, examples are judged by look-up, and those with an error or a
 * wrong ID are decoded. Other runs are refused with the reason. */
int lg_run_eval_by_context(const lg_eval_options *o, lg_error *warning, lg_error *err);

/* ---- Own data: a list of contexts --------------------------------------------------------------- */

/* For runs as above, on data that no machine writes: the contexts of all examples, each with its answer. */
typedef struct lg_list_options {
    const char *folder;
    lg_run_access access;
    const char
        *data; /* jsonl:FILE, exec:COMMAND or another task with the run's words; NULL: its own */
    const char *fresh;  /* the same, of examples that are compared with the list; NULL: none */
    const int *lengths; /* NULL: all lines of a file, else the lengths of training */
    int length_count;
    int samples;                   /* examples of a task without lines; 0: 10,000 */
    double most;                   /* contexts; 0: 1e7 */
    int threads;                   /* 0: all cores */
    lg_certify_progress *progress; /* "reading examples", by examples; or NULL */
    void *context;
} lg_list_options;

/* The same context with two answers: the window is too small, or the data are wrong. */
typedef struct lg_list_pair {
    int64_t line[2]; /* lines of the file; else examples; from 1 */
    int place;       /* the token of the second one that it is after, from 1 */
    char
        answer[2]
              [80]; /* what follows: the word, and its IDs less those before it where they differ */
    char context[400]; /* "3@1 4@1 =@0": words with their IDs less that of the last one */
} lg_list_pair;

enum { LG_LIST_PAIRS = 3 };
typedef struct lg_list {
    int certified; /* 1: no contradictions, and the model is right in every context */
    int lines;     /* 1: examples are lines of a file */
    int64_t examples;
    int64_t positions;      /* that predict */
    int64_t contexts;       /* the list's */
    int64_t wrong;          /* of those; among those with one answer */
    int64_t contradictions; /* contexts with two answers */
    int64_t contradicting;  /* examples that show an answer other than the first one's */
    double min_margin;      /* the smallest lead of a right answer */
    int64_t alone;          /* examples with a context that no other example has */
    int64_t fresh, left;    /* fresh examples; those with a context that the list does not have */
    int64_t disagree;       /* those with another answer in a context of the list */
    int pairs;              /* of the contradictions, the first ones */
    lg_list_pair pair[LG_LIST_PAIRS];
    lg_list_pair first_wrong; /* wrong: the first; answer: that of the data, and the model's */
    int64_t step;
    const char *isa;
    char data[512]; /* the task's name */
    char warning[512];
} lg_list;

int lg_certify_list(const lg_list_options *o, lg_list *c, lg_error *err);
/* One object, as lg_certificate_json. */
char *lg_list_json(const lg_list *c);

/* ---- Own data: sampled ---------------------------------------------------------------------------- */

/* What the examples of a length will cost, before any of them is judged. */
typedef struct lg_sampled_cost {
    int length, samples;
    double tokens, seconds; /* of all of them, about */
    int by_context;         /* 0: each is decoded, since the run cannot be judged by context */
} lg_sampled_cost;
typedef void lg_sampled_cost_callback(void *context, const lg_sampled_cost *c);

/* For tasks and programs whose examples are independent draws: a share of them that is answered rightly,
 * with a confidence. How many are drawn is fixed before any is looked at. */
typedef struct lg_sampled_options {
    const char *folder;
    lg_run_access access;
    const char *data; /* as in lg_list_options; not the lines of a file */
    const int
        *lengths; /* they share what is left of the confidence; NULL: the longest of training */
    int length_count;
    double share;                   /* to be shown, below 1; 0: 0.999 */
    double confidence;              /* below 1; 0: 0.99 */
    int failures;                   /* that are allowed at each length */
    int threads;                    /* 0: all cores */
    lg_sampled_cost_callback *cost; /* or NULL */
    void *context;
    const volatile int *stop; /* not 0: give up; or NULL */
} lg_sampled_options;

enum { LG_SAMPLED_ROWS = 64 };
typedef struct lg_sampled_row {
    int length, samples, wrong;
    double
        least; /* the share that is right is at least this, at the confidence of all rows together */
    int certified; /* 1: no more wrong ones than were allowed */
    double tokens, seconds;
} lg_sampled_row;
typedef struct lg_sampled {
    int certified; /* 1: every row is */
    double share, confidence;
    int failures;
    int rows;
    lg_sampled_row row[LG_SAMPLED_ROWS];
    int by_context, predicted; /* IDs predicted, else given */
    int64_t step;
    const char *isa;
    const char *unit; /* of lengths */
    char data[512];
    char warning[512];
} lg_sampled;

int lg_certify_sampled(const lg_sampled_options *o, lg_sampled *c, lg_error *err);
char *lg_sampled_json(const lg_sampled *c); /* as lg_certificate_json */

/* Writes the JSON of a list or sampled certificate into the folder of its run, as certificate-list.json or
 * certificate-sampled.json. */
int lg_list_save(const lg_list *c, const char *folder, lg_error *err);
int lg_sampled_save(const lg_sampled *c, const char *folder, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
