/* lengthen_lab.h: the lab on top of lengthen.h: runs from a config, what they can do at each
 * length, the store that keeps it, sweeps over many runs, figures, and the measuring of speed.
 *
 * Simple use: a run from its config to a table.
 *
 *     lg_run_options o = {.config = "parity.yaml", .folder = "runs/parity", .store = "lab.db"};
 *     lg_eval_options e = {.folder = o.folder, .store = o.store, .predicted = -1, .table = print};
 *     lg_error err;
 *     int done;
 *     if (lg_run_train(&o, &done, &err) || lg_run_eval(&e, NULL, &err)) puts(err.text);
 */
#ifndef LENGTHEN_LAB_H
#define LENGTHEN_LAB_H

#include "lengthen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runs ------------------------------------------------------------------------------ */

/* A run is a folder: config.yaml (everything resolved) and checkpoint/; and rows in a store.
 * Whoever resumes it ends with the same bits as if it had never stopped. */
typedef struct lg_run_step lg_run_step;
typedef struct lg_run_cell lg_run_cell;
typedef struct lg_text_row lg_text_row;

/* Returns 1 to go on, 0 to save a checkpoint and stop. */
typedef int lg_run_watch(void *context, const lg_run_step *s);
typedef void lg_run_table(void *context, const lg_run_cell *cell);
typedef void lg_text_told(void *context, const lg_text_row *r);

enum {
    LG_RUN_NEW,    /* refused if the folder holds a run */
    LG_RUN_RESUME, /* refused if it holds none, or one of another config */
    LG_RUN_EITHER  /* goes on with what is there, or starts */
};

typedef struct lg_run_options {
    const char *config;      /* YAML file (docs/CONFIG.md); NULL: the sets alone */
    const char *const *sets; /* [set_count] "key=value", after the file */
    int set_count;
    const char *folder;  /* of the run */
    const char *store;   /* the file of the store where its rows go; NULL: none are kept */
    int resume;          /* LG_RUN_NEW, .. */
    int threads;         /* 0: all cores; not part of the result's bits */
    lg_run_watch *watch; /* after each step; NULL: nobody */
    lg_run_table *table; /* after each cell of an evaluation on the way (eval.every); or NULL */
    lg_text_told *told;  /* the same of a run of texts: its losses by position */
    void *context;       /* of all three */
    const volatile int *stop; /* not 0: as if watch had returned 0; also looked at between cells */
} lg_run_options;

/* What is told after each step. */
struct lg_run_step {
    int64_t step, steps;
    double loss, id_loss, accuracy, id_accuracy; /* of this batch; id_accuracy 0 without ID heads */
    double lr;
    int64_t tokens;       /* of this batch */
    double gflop;         /* useful floating-point operations of this batch, in 1e9 */
    int length, sparsity; /* longest and densest examples so far (curriculum) */
    const char *note;     /* something the user should know, or NULL */
};

/* Trains. *done is 1 if all steps are done, 0 if watch stopped it. Everything that can be refused
 * is refused before the folder and the store are touched. A checkpoint is written only after the
 * metrics up to its step are in the store or, while that cannot be written, in a file beside it. */
int lg_run_train(const lg_run_options *o, int *done, lg_error *err);

/* One cell of the grid. */
struct lg_run_cell {
    int64_t step;         /* of the weights */
    int length, sparsity; /* sparsity 0: the task has none, or its own range */
    int predicted;        /* whether the IDs of generated tokens were predicted */
    char setting[200];    /* of the task, other than in training: "names=50"; "": as trained */
    char data[20];        /* of a file of examples: its checksum; else "" */
    double tokens;        /* of an example, on average: prompt and answer */
    lg_score score;       /* generated; if with given IDs one token is the answer, that as taught */
    lg_score taught;      /* teacher-forced; samples 0: not asked for */
    double low, high;     /* 95% Wilson interval of score.exact / score.samples */
    double seconds;
    int kept;         /* 1: it was in the store already */
    int index, count; /* this one, from 0, of how many */
    /* Of the run: the unit of length, the shortest and the longest and the densest examples of
     * training. What is pointed at lives until the callback returns. */
    const char *unit;
    int trained_least, trained_length, trained_sparsity;
};

typedef struct lg_eval_options {
    const char *folder;
    const char *store;               /* cells go there, and come from there; NULL: none */
    const int *lengths, *sparsities; /* NULL: those of the config */
    int length_count, sparsity_count;
    const char *const *settings; /* [setting_count] of the task, "key=value": the grid once for
                                    each; none: as trained */
    int setting_count;
    const char *task;   /* another task with the same vocabulary (own data: a test file), or NULL */
    int samples;        /* 0: as in the config */
    int predicted;      /* 1 predicted IDs, 0 given ones, -1 both where the run predicts any */
    int generated_only; /* 1: not teacher-forced too */
    int again;          /* 1: cells that the store has are made again */
    int threads;        /* 0: all cores */
    lg_run_table *table;
    void *context;
    const volatile int *stop; /* not 0: no further cells; or NULL */
} lg_eval_options;
/* Generates answers cell by cell; each is in the store before it is told, so that an evaluation
 * that was stopped goes on where it was. Cells that the task cannot make (sparsity over the
 * length) are left out. */
int lg_run_eval(const lg_eval_options *o, lg_error *warning, lg_error *err);

/* ---- Loss by position ---------------------------------------------------------------------- */

/* A run of the task text: its loss on documents that it was not trained on. */
typedef struct lg_text_mean {
    double value, low, high; /* nats a token: the mean over documents, and its 95% interval (of one
                                document: NaN) */
} lg_text_mean;

/* The predictions at some positions; a prediction at position p has p tokens before it. */
struct lg_text_row {
    int64_t step;           /* of the weights */
    int length;             /* the first so many positions of each document */
    int low, high;          /* of those, these */
    int context;            /* of sliding predictions */
    int documents;          /* that were read */
    int64_t there;          /* that are as long */
    lg_text_mean truncated; /* with all tokens before them */
    lg_text_mean sliding;   /* with the last `context` alone: truncated - excess */
    lg_text_mean excess; /* what the model loses by seeing more than `context` tokens, at up to 16
                               of the places */
    int trained_least, trained_length;
    char texts[200]; /* that were named, cut where they are longer; "": those held out */
    char data[20];   /* a checksum of them */
    int kept;        /* 1: it was in the store already */
    double seconds;  /* that the rows of its length took, in the first of them; else 0 */
};

typedef struct lg_text_eval_options {
    const char *folder;
    const char *store;  /* rows go there, and come from there; NULL: none */
    const char *texts;  /* others than those that were held out: files, folders and globs, commas
                           between them; NULL: none */
    const char *field;  /* of JSON lines among them; NULL: task.field of the run */
    const int *lengths; /* NULL: those of the config; without a document that long they are left
                           out */
    int length_count;
    int context;   /* 0: the longest of training */
    int documents; /* at most, drawn; 0: eval.samples of the config */
    int again;     /* 1: rows that the store has are made again */
    int threads;   /* 0: all cores */
    lg_text_told *told;
    void *of;                 /* its context */
    const volatile int *stop; /* not 0: no further documents; or NULL */
} lg_text_eval_options;
/* Tells the rows of each length as it is done; they are in the store before they are told, so that
 * an evaluation that was stopped goes on where it was. */
int lg_run_eval_text(const lg_text_eval_options *o, lg_error *warning, lg_error *err);
int lg_run_is_text(const char *folder); /* 1: it holds a run of the task text */

/* ---- Probing ------------------------------------------------------------------------------- */

/* How many earlier tokens a prediction of a run depends on. A token is left out of the input of
 * every layer; the others keep their IDs. */
typedef struct lg_probe_options {
    const char *folder; /* of the run */
    const char *task;   /* another task with the same vocabulary (a test file), or NULL */
    int length[2];      /* of the examples, lo and hi; 0, 0: the longest of training */
    int sparsity;       /* 0: the task's own range */
    int predictions;    /* one of each example */
    int keep_last;      /* tokens that are never left out, the one that predicts among them; >= 1 */
    int keep_first;     /* 1: nor is the first one */
    double epsilon;     /* nats: the loss may rise by this much */
    double least;       /* nats: a prediction depends on the context if it rises by this much when
                            only what is never left out remains */
    int threads;        /* 0: all cores */
} lg_probe_options;
/* 100 predictions, the last 4 tokens and the first kept, epsilon 0.1, least 0.5. */
lg_probe_options lg_probe_options_default(void);

typedef struct lg_probe_result {
    int predictions, dependent; /* looked at; those that depend on the context */
    double loss;                /* of all predictions, with all tokens, on average */
    /* Over the dependent ones. k: the least number with which the k most influential tokens (those
     * whose absence raises the loss most) give the loss of all up to epsilon. matter: tokens whose
     * absence alone raises it by epsilon, or changes the likeliest token. */
    int tokens_median; /* earlier tokens */
    int k_median, k_90;
    double necessary; /* share of them whose loss rises by epsilon without these k tokens; where it
                         is small the others stand in for them: many decide together */
    int matter_median, matter_90;
} lg_probe_result;
int lg_probe(const lg_probe_options *o, lg_probe_result *r, lg_error *err);

/* The same for every prediction of documents or examples, one by one (docs/PROBE.md). */
typedef enum {
    LG_PROBE_LOO,     /* influence: how much the loss rises without the token */
    LG_PROBE_GRADIENT /* the norm of the loss's gradient at the token's embedding */
} lg_probe_method;

/* A text, told before its predictions. */
typedef struct lg_probe_passage {
    int64_t document; /* its number; of a task: of the example, from 0 */
    int n;
    const int32_t *tokens;    /* [n] */
    const char *const *words; /* [vocab] */
    lg_tokenizer *tokenizer;  /* of texts; else NULL */
} lg_probe_passage;

typedef struct lg_probe_row {
    int64_t document;
    int position;  /* tokens before it */
    int32_t token; /* that is predicted */
    double loss;   /* with all of these; with those alone that are never left out: */
    double loss_0;
    int depends; /* 1: loss_0 - loss >= least */
    int k;       /* k*: the least number of the most influential tokens that give the loss of all up
                    to epsilon; most_k + 1: more than most_k; 0: where it does not depend, too */
    int sources; /* these tokens, at most most_k: their places in the text, and their influence */
    const int *source;
    const float *influence;
    const float *curve; /* [sources + 1] the loss with none of them, with one, .., with all */
    /* Of the run that it is held against: the loss with all tokens, and with the last `context`
     * alone; NaN without one. The excess is the first less the second. */
    double against, against_short;
} lg_probe_row;
typedef void lg_probe_passage_told(void *context, const lg_probe_passage *p);
typedef void lg_probe_row_told(void *context, const lg_probe_row *r);
typedef void lg_probe_progress(void *context, double done); /* a share */

typedef struct lg_run_probe_options {
    const char *folder;  /* of the run */
    const char *against; /* a run that was trained on shorter texts, with the same tokenizer: only
                            predictions past its longest ones are looked at; NULL: none */
    const char *texts;   /* as in lg_text_eval_options */
    const char *field;
    const char *task; /* of other runs: another task with the same vocabulary, or NULL */
    int length;       /* of documents and examples; 0: the longest of training, of own data all */
    int documents;    /* or examples, at most; 0: eval.samples of the config */
    int predictions;  /* at most, evenly over the documents, which are no more then; 0: all */
    lg_probe_method method;
    int keep_last;  /* tokens that are never left out, the one that predicts among them; >= 1 */
    int keep_first; /* 1: nor is the first one */
    int most_k;
    double epsilon, least; /* nats, as in lg_probe_options */
    int threads;           /* 0: all cores */
    const char *store;     /* the bins go there; NULL: nowhere */
    const char
        *begun; /* a file that has what is done of each document, so that the same probe goes on
                          where it was stopped; who has put away the rows removes it. NULL: none */
    lg_probe_passage_told *passage;
    lg_probe_row_told *row;
    lg_probe_progress *progress; /* each of them or NULL */
    void *of;                    /* their context */
    const volatile int *stop;    /* not 0: no further documents; or NULL */
} lg_run_probe_options;
/* The last 4 tokens and the first kept, k* up to 32, epsilon 0.1, least 0.5. */
lg_run_probe_options lg_run_probe_options_default(void);

/* Predictions by their k*. Intervals are those of means over predictions, documents being drawn. */
typedef struct lg_probe_bin {
    /* Of k*; high 0: any from low on; 0, 0: those that do not depend. A k* above most_k is in the last
     * one, which begins at most_k + 1 where that is less than 33. */
    int low, high;
    int predictions;
    lg_text_mean loss;   /* with all tokens */
    lg_text_mean excess; /* NaN without a run that it is held against */
} lg_probe_bin;
enum { LG_PROBE_BINS = 8 }; /* none, 1, 2, 3-4, 5-8, 9-16, 17-32, more */

typedef struct lg_probe_summary {
    int64_t step, against_step; /* of the weights */
    int length, length_least;   /* of the longest examples that were asked for, and the shortest */
    int trained_length;         /* the longest of training; 0: it is in another unit */
    const char *unit;           /* of these lengths: "tokens", "bits" */
    int context;                /* the longest texts that the other run was trained on; 0: none */
    int documents, predictions, dependent, most_k;
    int stopped; /* before all documents that were asked for: the store has nothing of it */
    double loss; /* of all predictions */
    /* Of the dependent ones: k* at 10, 25, 50, 75 and 90% (most_k + 1: more than most_k); and the share
     * with k* <= 0, 1, .. 32, as far as it was looked for. */
    int k_quantile[5];
    double k_share[33];
    lg_probe_bin bin[LG_PROBE_BINS];
    /* The excess of k* from 1 to few (2), of k* > many (8), and of the second less the first; few and
     * many are most_k where that is less. */
    int few, many;
    lg_text_mean small, large, difference;
} lg_probe_summary;
int lg_run_probe(const lg_run_probe_options *o, lg_probe_summary *summary, lg_error *warning,
                 lg_error *err);

/* ---- Generating --------------------------------------------------------------------------- */

/* One token of a text: of the prompt, or generated. */
typedef struct lg_run_token {
    int64_t example; /* from 0 */
    int at;          /* its place in the text, from 0 */
    int generated;   /* 0: of the prompt */
    int32_t token;
    const char *word;
    int levels;
    int32_t id[LG_LEVELS]; /* that it has; LG_ABSENT: none at this level */
    double p;              /* that the model gives it, at temperature 1; of the prompt: 0 */
    /* What the right answer has here, for generated tokens: LG_NONE (and NULL) where that is not
     * known, or has ended. */
    int32_t expected, expected_id[LG_LEVELS];
    const char *expected_word;
} lg_run_token;

/* A whole text, told after its last token. */
typedef struct lg_run_answer {
    int64_t example, step; /* step: of the weights */
    const char *task, *unit;
    int length, sparsity; /* of an example of the task; of a prompt that was given: 0 */
    int predicted;        /* whether IDs were predicted */
    int levels;
    const char *level[LG_LEVELS]; /* names of coupled levels, or NULL */
    int prompt, tokens;           /* of the prompt, and generated */
    int ended;                    /* 1: by the stop token, or as long as every answer is */
    int known;                    /* 1: the right answer is */
    int right;                    /* tokens that it has; 0: not known */
    int exact;                    /* as in lg_score; 0 where the right answer is not known */
    int wrong;                    /* the first wrong token of the answer, from 1; 0: none */
    int wrong_ids;                /* predicted IDs that are not the rule's */
    const char *expected, *got;   /* at `wrong`: the words; expected NULL: the end */
} lg_run_answer;

/* What is pointed at lives until lg_run_generate returns. */
typedef void lg_run_told(void *context, const lg_run_token *t);
typedef void lg_run_answered(void *context, const lg_run_answer *a);

typedef struct lg_generate_options {
    const char *folder;
    const char *prompt; /* words between spaces (needless where every word of the vocabulary is one
                           letter); NULL: fresh examples of the task */
    /* IDs of the prompt, "2 3 4 1", levels between ';', - for none. NULL: those of the examples
     * with such a prompt, where they agree; else it is refused. */
    const char *prompt_ids;
    int length, sparsity; /* of the examples; 0: the longest of training, and as there */
    int count;            /* of examples; 0: 1 */
    int64_t seed;         /* of examples and sampling; -1: the run's, which lg_run_eval has too */
    int predicted;        /* 1 predicted IDs, 0 given ones, -1 predicted where the run has heads */
    double temperature;   /* 0: the likeliest token */
    int most;             /* tokens; 0: twice the right answer, or 1000 where it is not known */
    lg_run_told *told;    /* each token as it comes, or NULL */
    lg_run_answered *answered; /* or NULL */
    void *context;             /* of both */
} lg_generate_options;
/* Answers with the newest checkpoint, one text after the other. With given IDs, tokens past the
 * end of the right answer have the ID of its last one. */
int lg_run_generate(const lg_generate_options *o, lg_error *warning, lg_error *err);

/* A run of texts goes on with a prompt. */
typedef struct lg_text_generated {
    int64_t step;         /* of the weights */
    int prompt, tokens;   /* of the prompt; generated, the one that ends a document counted */
    int ended;            /* 1: by that one */
    const int32_t *token; /* [prompt + tokens - ended]; good in lg_text_done alone */
} lg_text_generated;
typedef void lg_text_bytes(void *context, const char *bytes, size_t n);
typedef void lg_text_done(void *context, const lg_text_generated *g);
typedef struct lg_text_generate_options {
    const char *folder;
    const char *prompt;  /* NULL or "": a document from its beginning */
    int count;           /* texts, each with draws of its own; 0: one */
    int most;            /* tokens to be generated of each, 1 or more */
    double temperature;  /* 0: the likeliest token */
    int64_t seed;        /* of sampling; -1: the run's */
    lg_text_bytes *told; /* the text as it comes, the prompt first; or NULL */
    lg_text_done *done;  /* after each text; or NULL */
    void *of;            /* context of both */
} lg_text_generate_options;
int lg_run_generate_text(const lg_text_generate_options *o, lg_text_generated *g, lg_error *warning,
                         lg_error *err);

/* ---- The certificate ------------------------------------------------------------------------- */

/* Told now and then, and at the end of each phase with done = all. phase: "finding contexts", by the
 * inputs that are written down, at most `all`; then "checking contexts"; then "answering long inputs",
 * by kinds of them. */
typedef void lg_certify_progress(void *context, const char *phase, int64_t done, int64_t all);

typedef struct lg_certify_options {
    const char *folder;
    double most; /* contexts; 0: 5e7 */
    int threads; /* 0: all cores */
    int confirm; /* n: what is certified then answers n random inputs of n columns, some of equal
                    columns, and one of 500 n; at most 2,000; 0: nothing */
    lg_certify_progress *progress; /* or NULL */
    void *context;
} lg_certify_options;

/* Inputs that a certified run answered; none is wrong if the proof is one. */
typedef struct lg_confirmed {
    int random, worst,
        columns; /* random ones, and such of equal columns, each of so many columns */
    int longest; /* columns of one more random input; 0: nothing was tried */
    int wrong;   /* of all */
} lg_confirmed;

typedef struct lg_certificate {
    int certified;           /* 1: right on every input of every length; 0: a context is wrong */
    int64_t contexts;        /* that a generated position can show */
    int64_t wrong;           /* of those */
    double min_margin;       /* the smallest lead of a right answer over the second: token or ID */
    int64_t step;            /* of the weights */
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

/* ---- Import and export ------------------------------------------------------------------------ */

/* Published weights (docs/IMPORT.md): a folder of Hugging Face with config.json and safetensors,
 * whole or in shards, of GPTNeoXForCausalLM, OlmoForCausalLM, LlamaForCausalLM or GPT2LMHeadModel;
 * or a llama2.c .bin file. The model computes the same function, its positions are the IDs 0, 1,
 * 2, ... What the engine cannot do is refused, with key, value and reason. */
typedef struct lg_import_info {
    char kind[32];        /* "GPTNeoXForCausalLM", .., "llama2.c" */
    int length;           /* tokens that it was made for: its training length */
    char tokenizer[4096]; /* the tokenizer's file beside it, or "" */
} lg_import_info;
lg_model *lg_import(const char *path, lg_import_info *info, lg_error *err); /* info may be NULL */

/* A run's folder from published weights: config.yaml with the task text, its own copy of the
 * tokenizer, and a checkpoint. It is there whole or not at all. */
typedef struct lg_import_options {
    const char *path;      /* as for lg_import */
    const char *folder;    /* of the run to be made */
    const char *tokenizer; /* a file, a folder or "bytes"; NULL: the one beside the weights */
    const char *texts; /* to be evaluated on: files, folders and globs, commas between; or NULL */
    const char *field; /* of JSON lines among them; NULL: "text" */
} lg_import_options;
int lg_run_import(const lg_import_options *o, lg_import_info *info, lg_error *err);
/* A run's model as lg_export writes it, with tokenizer.json if its tokenizer is one: then *tokenizer
 * is 1. */
int lg_run_export(const char *folder, const char *to, int *tokenizer, lg_error *warning,
                  lg_error *err);

/* Writes config.json and model.safetensors (fp32) into a folder that is new or empty: as
 * GPTNeoXForCausalLM (LayerNorm, GELU), OlmoForCausalLM (norms without weights, SwiGLU) or
 * LlamaForCausalLM (RMSNorm, SwiGLU). length is that of training. What the format cannot say is
 * refused. The folder is there whole or not at all. */
int lg_export(const lg_model *m, int length, const char *folder, lg_error *err);

/* ---- The store --------------------------------------------------------------------------- */

/* Runs, the metrics of their steps and the cells of their evaluations: one SQLite file, into
 * which several processes may write at once. */
typedef struct lg_store lg_store;
/* create 1: makes it if it is not there. One of an earlier version is brought up to date. */
lg_store *lg_store_open(const char *file, int create, lg_error *err);
void lg_store_close(lg_store *s);

typedef struct lg_store_run {
    int64_t number;        /* in this store, from 1 */
    const char *id;        /* 16 hex digits, drawn when the run was made; in its config.yaml too */
    const char *folder;    /* absolute */
    const char *state;     /* "training", "stopped", "done", "failed"; a run whose process was
                              killed is "stopped" */
    const char *error;     /* why it failed, or "" */
    const char *task;      /* its name */
    const char *positions; /* in a few words: "coupled, delta, relative, window" */
    const char *unit;      /* of length */
    const char *config;    /* resolved, as YAML */
    const char *machine;   /* "lengthen 0.1.0 (COMMIT, gcc 12.2.0), avx2, 2 cores, HOST" */
    const char *kernels;   /* that trained it: "avx2-1"; "avx2-1+c-1": it was resumed with others;
                              "": not known */
    int64_t seed, step, steps, parameters;
    int least, length, sparsity; /* the shortest, longest and densest examples of training */
    double created, updated;     /* seconds since 1970 */
    double seconds;              /* that training and evaluating took so far */
} lg_store_run;
typedef void lg_store_each(void *context, const lg_store_run *r);

/* Every run, the newest first. What is pointed at lives until the callback returns. */
int lg_store_runs(lg_store *s, lg_store_each *each, void *context, lg_error *err);
/* The run that is meant by its number, its folder, the last part of its folder's name, or the
 * first letters of its ID; what fits none or several is refused. */
int lg_store_find(lg_store *s, const char *run, lg_store_each *each, void *context, lg_error *err);
/* The metrics of its steps, in their order; each returns 0 to stop. */
int lg_store_steps(lg_store *s, int64_t number, lg_run_watch *each, void *context, lg_error *err);
/* The cells of the evaluations at a step; step -1: at the last one that has any; -2: at all. */
int lg_store_cells(lg_store *s, int64_t number, int64_t step, lg_run_table *each, void *context,
                   lg_error *err);
/* The losses by position of a run of texts; step as of lg_store_cells. */
int lg_store_losses(lg_store *s, int64_t number, int64_t step, lg_text_told *each, void *context,
                    lg_error *err);
/* The bins of the probes of a run, in the order in which they were made. */
typedef struct lg_store_probe {
    int64_t step, against_step;
    const char *against; /* the ID of the other run, or "" */
    const char *method;  /* "loo" or "gradient" */
    const char *data;    /* the texts or the task that were named, or "" */
    int length, context, documents, keep_last, keep_first, most_k;
    double epsilon, least;
    lg_probe_bin bin;
} lg_store_probe;
typedef void lg_store_probe_told(void *context, const lg_store_probe *p);
int lg_store_probes(lg_store *s, int64_t number, lg_store_probe_told *each, void *context,
                    lg_error *err);
/* Deletes the run's rows, and its folder if it is still that run's; refused while it trains. */
int lg_store_delete(lg_store *s, int64_t number, lg_error *err);

/* ---- Sweeps -------------------------------------------------------------------------------- */

typedef void lg_note_told(void *context, const char *sentence);
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
    int jobs;                /* processes at once; 0: 1 */
    int threads;             /* of each; 0: the cores shared out among the jobs */
    int certify;             /* above 0: each is certified too, into certificate.json in its
                                folder, and confirmed with so many inputs */
    lg_sweep_choice *wanted; /* runs that are not are left out; NULL: all are */
    void *wanted_context;
    lg_note_told *note; /* something that the user should know before the first run; or NULL */
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
/* Told of every run before the first begins, then whenever one begins, moves on or ends, and a few
 * times a second in any case. Returns 0 to stop: every run then saves a checkpoint; the same call
 * goes on with them. */
typedef int lg_sweep_watch(void *context, const lg_sweep_run *r);
/* A run that is done already is not made again; one that fails does not stop the others. *failed
 * and *left: how many failed, how many are neither done nor failed since it was stopped. Every
 * config is opened first: what is wrong is refused before the folder and the store are touched. */
int lg_sweep(const lg_sweep_options *o, lg_sweep_watch *watch, void *context, int *failed,
             int *left, lg_error *err);

/* One cell of a sweep over its seeds. */
typedef struct lg_sweep_cell {
    const char *variant;
    int length, sparsity, predicted;
    const char *setting;
    double tokens;
    int seeds;                   /* that are done */
    const double *exact;         /* [seeds] shares, in the order of the seeds */
    const int64_t *seed;         /* [seeds] */
    double median, lower, upper; /* of exact; the quartiles */
    double low, high;            /* 95% Wilson interval of all samples together */
    int samples;                 /* of all seeds together */
    /* Median exact at the longest length of training, of this sparsity or the densest of training
     * if that is less, with the IDs that the runs predict if they do; -1: there is no such cell. */
    double learned;
    int trained_least, trained_length, trained_sparsity; /* shortest, longest, densest there */
    const char *unit;
} lg_sweep_cell;
typedef void lg_sweep_table(void *context, const lg_sweep_cell *c);
/* What a sweep has in the store so far, variant by variant; of runs that are done. A folder with a run
 * of another config is refused. What is pointed at lives until the callback returns. */
int lg_sweep_cells(const lg_sweep_options *o, lg_sweep_table *each, void *context, lg_error *err);

/* The same of runs of texts: the predictions at some positions, over the seeds. */
typedef struct lg_sweep_loss {
    const char *variant;
    int length, low, high, context;
    int seeds;                               /* that are done */
    const lg_text_row *rows;                 /* [seeds] in the order of the seeds */
    const int64_t *seed;                     /* [seeds] */
    lg_text_mean truncated, sliding, excess; /* the median, and the quartiles as low and high */
    int trained_least, trained_length;
} lg_sweep_loss;
typedef void lg_sweep_loss_told(void *context, const lg_sweep_loss *l);
/* On held-out texts, with the context of training. */
int lg_sweep_losses(const lg_sweep_options *o, lg_sweep_loss_told *each, void *context,
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
typedef void lg_check_told(void *context, const lg_check *c);
/* missing: why it was not drawn, or NULL. */
typedef void lg_figure_told(void *context, const char *file, const char *missing);

typedef struct lg_reproduce_options {
    const char *name; /* of the experiment: its file is EXPERIMENTS/NAME.yaml; it may lie in a
                                folder there: "language/models" */
    const char *experiments; /* folder of the files */
    const char *scale;       /* NULL or "desk": the file as it is */
    const char *results;     /* its rows, figures and run.json go to RESULTS/NAME, */
    const char *folder;      /* at another scale to FOLDER/NAME; the runs to FOLDER/NAME/RUN */
    const char *store;
    const char *only;       /* the name of one of its runs; NULL: all */
    int nested;             /* of lg_experiments: those in folders of EXPERIMENTS, too */
    int jobs, threads;      /* as in lg_sweep_options */
    lg_sweep_watch *watch;  /* of the runs that are made now; NULL: nobody */
    lg_check_told *check;   /* or NULL, as the next two */
    lg_figure_told *figure; /* after each */
    lg_note_told *note;     /* something that the user should know */
    void *context;          /* of all */
} lg_reproduce_options;

typedef struct lg_experiment {
    const char *name, *file;
    const char *question, *expected; /* from the file's first line: "# question Expected: .." */
    const char *words;               /* what is documented, what is reconstructed */
    const char *folder;              /* of its rows */
    double budget;                   /* minutes of this machine, at the scale desk */
    int runs, done;                  /* done: all rows of the run are there */
    double hours;                    /* that the runs took whose rows are there */
    double minutes_left;             /* from these; without any: the budget */
} lg_experiment;
typedef void lg_experiment_told(void *context, const lg_experiment *x);
/* The experiments in a folder by name, at a scale, with their state; o->name: that one alone. What
 * is pointed at lives until the callback returns. */
int lg_experiments(const lg_reproduce_options *o, lg_experiment_told *each, void *context,
                   lg_error *err);

typedef struct lg_reproduce_result {
    int runs, done;          /* in all; those whose rows are there now */
    int failed, left;        /* of those that were to be made */
    int held, broken, empty; /* checks that hold, that do not, that have no cells */
} lg_reproduce_result;
/* Makes the runs whose rows are not all there, as lg_sweep does; the rows of each are put into
 * evals.csv (of texts losses.csv), and what is said of it into run.json, as soon as it is done. Then
 * draws, if gnuplot is there, and checks. A damaged file of rows or run.json is refused and left as it
 * is. */
int lg_reproduce(const lg_reproduce_options *o, lg_reproduce_result *r, lg_error *err);

/* ---- Figures -------------------------------------------------------------------------------- */

typedef struct lg_curve {
    const char *name;
    int n;
    const double *x, *y;      /* y is a share, 0 to 1; with log_y a number above 0, with y_low
                                 and y_high any */
    const double *low, *high; /* a band around y; NULL: none */
} lg_curve;

typedef struct lg_figure {
    const char *title, *x_label, *y_label;
    const lg_curve *curves;
    int count;
    double trained_low, trained_high; /* of x, shaded; both 0: not shown */
    const char *caption;              /* a sentence or two below it; NULL: none */
    int log_y;                        /* 1: the y axis is logarithmic, from decade to decade */
    double y_low, y_high;             /* else: of the y axis; both 0: it has percent, 0 to 100 */
} lg_figure;

/* Whether such a figure could be written (its ending is .svg or .png, gnuplot is installed, the
 * folder can be written to): to be asked before long work. */
int lg_figure_check(const char *file, lg_error *err);
/* Draws with gnuplot. The x axis is logarithmic where x spans a decade or more. */
int lg_figure_write(const lg_figure *f, const char *file, lg_error *err);
/* The same in letters, for a terminal: at most width columns and height lines; ascii 1: ASCII
 * letters alone; colour 1: with colours. To be freed; NULL: no memory. */
char *lg_figure_text(const lg_figure *f, int width, int height, int colour, int ascii);

/* ---- Config pages ------------------------------------------------------------------------------ */

/* docs/CONFIG.md, and the same as plain text; to be freed; NULL: no memory. */
char *lg_config_page(void);
char *lg_config_help(void);

/* ---- Measuring -------------------------------------------------------------------- */

/* Speeds are best times of several; compare them within one run, never across runs. */
typedef struct lg_bench_row {
    const char *bench; /* "peak", "kernel", "task", "text", "step" or "probe" */
    const char *name;  /* library, kernel, task, tokenizer or shape */
    int threads;
    double gflops;       /* step, probe: on useful FLOPs */
    double gbytes;       /* kernel: GB/s read and written, counting each operand once; text: read */
    double tokens_per_s; /* step, task, text */
    double predictions_per_s; /* probe */
    double step_ms;           /* step */
    double peak;       /* step, probe: GFLOPS of the best library, the larger of before and after */
    double peak_share; /* gflops / peak */
    double peak_drift; /* how far the peaks before and after differ, 0.1 is 10% */
    /* step: PyTorch's tokens/s, 0 if not measured: without any setting; with the kernels of
     * this CPU chosen (OPENBLAS_CORETYPE, ATEN_CPU_CAPABILITY) on all cores; the fastest of
     * every way that bench/torch_step.py knows. */
    double torch, torch_cpu, torch_tuned;
    double ratio_torch, ratio_torch_cpu, ratio_torch_tuned; /* ours / theirs */
} lg_bench_row;

typedef struct lg_bench_options {
    int threads;              /* 0: all cores */
    double seconds;           /* for each measurement, 1 */
    const char *shape;        /* only the step shapes whose name has this in it; NULL: all */
    const char *torch_script; /* bench/torch_step.py: measure PyTorch in turn; NULL: do not */
    const char *torch_python; /* the Python that has torch */
    const char *tokenizer;    /* text: NULL: one that is learned from the text */
    const char *text; /* text: a file or folder, of which at most 64 MB are read; NULL: words
                                 made up */
} lg_bench_options;

lg_bench_options lg_bench_options_default(void);

typedef void lg_bench_report(void *context, const lg_bench_row *row);

/* The sgemm of each library that can be loaded (and our own) at 2048^3, on one core and on
 * all. OpenBLAS is told which CPU this is: it often guesses wrong. */
int lg_bench_peak(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* Every kernel of the table in use, on one core. */
int lg_bench_kernels(const lg_bench_options *o, lg_bench_report *report, void *context,
                     lg_error *err);
/* Making examples of every generated task with its default settings, at length 50 or what is
 * nearest to it, on one core. */
int lg_bench_tasks(const lg_bench_options *o, lg_bench_report *report, void *context,
                   lg_error *err);
/* Encoding text to tokens, on one core, by the time that the core worked on it. */
int lg_bench_text(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* The whole training step. Useful FLOPs are 6 x weights of each matmul x rows that it is
 * needed for, + 12 x head width x heads x visible pairs x layers, and nothing else. A
 * measurement whose peaks before and after differ by over 10% is void and repeated; after
 * five such the row is reported with its drift. */
int lg_bench_step(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* The influence of every earlier token on every prediction of a text of 512 tokens, by leaving each
 * out, on random weights: 6 layers, width 256, vocabulary 4096. Useful FLOPs are those of a forward
 * pass over the tokens behind the one that is left out. */
int lg_bench_probe(const lg_bench_options *o, lg_bench_report *report, void *context,
                   lg_error *err);
/* GFLOPS of our own sgemm with so many threads (0: all cores); takes about half a second. 0: it
 * could not be measured. */
double lg_peak_gflops(int threads);
/* 0 if the Python of the options can import torch; otherwise how to get it is in *err. */
int lg_bench_torch_check(const lg_bench_options *o, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
