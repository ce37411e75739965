/* lengthen_runs.h: what a run is: its folder, what is known of it row by row, and the store that keeps the rows of
 * many. Models from published weights and back; the keys of a config.
 *
 *     lg_store *s = lg_store_open("lab.db", 0, &err);
 *     lg_store_find(s, "runs/parity", show_run, NULL, &err);
 *     lg_store_close(s); */
#ifndef LENGTHEN_RUNS_H
#define LENGTHEN_RUNS_H

#include "lengthen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runs ------------------------------------------------------------------------------ */

/* A run is a folder: config.yaml (everything resolved) and checkpoint/; and rows in a store.
 * Whoever resumes it ends with the same bits as if it had never stopped. */
typedef struct lg_run_step lg_run_step;
typedef struct lg_cell lg_cell;

/* Returns 1 to go on, 0 to save a checkpoint and stop. */
typedef int lg_run_watch(void *context, const lg_run_step *s);
typedef void lg_cell_callback(void *context, const lg_cell *c);

/* What opening a run may do, in the options of every function that opens one. */
typedef struct lg_run_access {
    int allow_exec; /* 1: execute the command of a task exec:COMMAND though this user has not trained the
                       run here; 0: such a run is refused */
    int fallback; /* 1: if the newest checkpoint is damaged, an older one is used, with a warning; 0: that
                       is an error */
} lg_run_access;

/* What a run may find in its folder. */
enum {
    LG_RUN_NEW,    /* refused if the folder holds a run */
    LG_RUN_RESUME, /* refused if it holds none, or one of another config */
    LG_RUN_EITHER  /* goes on with what is there, or starts */
};

/* How what the run in a folder does is measured: "answers", "losses"; "": it holds no run. */
const char *lg_run_form(const char *folder);

/* What each step gave. */
struct lg_run_step {
    int64_t step, steps;
    double loss, id_loss, accuracy, id_accuracy; /* of this batch; id_accuracy 0 without ID heads */
    double lr;
    int64_t tokens;       /* of this batch */
    double gflop;         /* useful floating-point operations of this batch, in 1e9 */
    int length, sparsity; /* longest and densest examples so far (curriculum) */
    int ranks;            /* that share the work; 0 and 1: one */
    double ranks_s;       /* seconds of this step that combining what they have took */
    const char *note;     /* something the user should know, or NULL */
};

/* ---- Measurements -------------------------------------------------------------------------- */

/* What is measured: a table, one row per kind. Store, CSV, JSON, tables and figures know a kind by its row
 * alone. */
typedef enum {
    LG_UNIT_SHARE, /* from 0 to 1, shown in percent */
    LG_UNIT_NATS,  /* per token */
    LG_UNIT_TOKENS
} lg_unit;
typedef enum {
    LG_INTERVAL_NONE,
    LG_INTERVAL_WILSON, /* of a share of independent samples; those of several seeds are pooled */
    LG_INTERVAL_MEAN    /* of a mean over documents, made with the value */
} lg_interval;
typedef struct lg_kind {
    const char *name;  /* "exact": in the store, CSV, JSON and the files of experiments */
    const char *form;  /* "answers", "losses", "probe": kinds of one form stand side by side */
    const char *label; /* "exact answers": on an axis, above a column */
    lg_unit unit;
    int better; /* 1: more is better; -1: less is; 0: neither */
    lg_interval interval;
    int leads; /* 1: shown over seeds; the first such kind of its form is what a figure draws if nothing
                  else is said */
} lg_kind;
int lg_kind_count(void);
const lg_kind *lg_kind_at(int i);              /* 0 <= i < count */
const lg_kind *lg_kind_find(const char *name); /* NULL: there is none */
const lg_kind *lg_kind_leading(const char *form);

typedef struct lg_value {
    const lg_kind *kind;
    int samples;             /* examples, documents or predictions that it is of */
    double value, low, high; /* and its 95% interval; NaN: there is none */
} lg_value;

/* A place, and what was measured there. */
enum { LG_CELL_VALUES = 12 };
typedef struct lg_cell {
    int64_t step;         /* of the weights */
    int length, sparsity; /* sparsity 0: the task has none, or its own range */
    /* Losses: these positions; a prediction at position p has p tokens before it. Probes: these k*, last 0:
     * any from first on. Answers: 0, 0. */
    int first, last;
    int context; /* losses: tokens that a sliding prediction sees; probes: those of the other run's
                      training; else 0 */
    int predicted; /* whether the IDs of generated tokens were predicted */
    /* Other than in training: of the task, "names=50"; the texts that were named; how a probe was made. "": as
     * trained. */
    char setting[200];
    char data[20];  /* a checksum of files of examples or texts; else "" */
    int64_t there;  /* lines of own data, documents that are as long; 0: examples are endless */
    int held_out;   /* 1: lines that were held out from training */
    double tokens;  /* of an example, on average: prompt and answer; 0: of no example */
    double seconds; /* that it took; of losses: all of its length, in the first */
    lg_value value[LG_CELL_VALUES];
    int values;
    int kept;         /* 1: it was in the store already */
    int index, count; /* this one, from 0, of how many; count 0: not known */
    /* Of the run: the unit of length, the shortest and the longest and the densest examples of
     * training. What is pointed at lives until the callback returns. */
    const char *unit;
    int trained_least, trained_length, trained_sparsity;
} lg_cell;
/* The value of a kind; NULL: it was not measured. */
const lg_value *lg_cell_get(const lg_cell *c, const char *kind);
/* The first value's kind's form: "answers", "losses" or "probe"; "" without values. */
const char *lg_cell_form(const lg_cell *c);

typedef struct lg_text_mean {
    double value, low,
        high; /* nats per token: the mean over documents, and its 95% interval (of one
                                document: NaN) */
} lg_text_mean;

/* Predictions by their k*. Intervals are those of means over predictions, documents being drawn. */
typedef struct lg_probe_bin {
    /* Of k*; high 0: any from low on; 0, 0: those that do not depend. A k* above most_k is in the last
     * one, which begins at most_k + 1 where that is less than 33. */
    int low, high;
    int predictions;
    lg_text_mean loss;   /* with all tokens */
    lg_text_mean excess; /* NaN without a run to compare with */
} lg_probe_bin;

/* ---- Text as a task ------------------------------------------------------------------------ */

/* Makes the task text known to lg_task_new and the lists of tasks. What reads a config does it by itself; it
 * may be called again. */
void lg_text_task_add(void);

/* ---- Import and export ------------------------------------------------------------------------ */

/* Published weights (docs/IMPORT.md): a folder of Hugging Face with config.json and safetensors,
 * whole or in shards, of GPTNeoXForCausalLM, OlmoForCausalLM, LlamaForCausalLM or GPT2LMHeadModel;
 * or a llama2.c .bin file. The model computes the same function, its positions are the IDs 0, 1,
 * 2, ... What the engine cannot do is refused, with key, value and reason. */
typedef struct lg_import_info {
    char kind[32];        /* "GPTNeoXForCausalLM", .., "llama2.c" */
    int vocab_is_whole;   /* 1: the model has as many tokens as its tokenizer, and no more */
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
 * is 1. fallback as in lg_run_access. */
int lg_run_export(const char *folder, const char *to, int fallback, int *tokenizer,
                  lg_error *warning, lg_error *err);

/* Writes config.json and model.safetensors (fp32) into a folder that is new or empty: as
 * GPTNeoXForCausalLM (LayerNorm, GELU), OlmoForCausalLM (norms without weights, SwiGLU) or
 * LlamaForCausalLM (RMSNorm, SwiGLU). length is that of training, in tokens. What the format cannot say is
 * refused. The folder is there whole or not at all. */
int lg_export(const lg_model *m, int length, const char *folder, lg_error *err);

/* ---- The store --------------------------------------------------------------------------- */

/* Runs, the metrics of their steps and the cells of their evaluations: one SQLite file, into
 * which several processes may write at once. */
typedef struct lg_store lg_store;
/* create 1: makes it if it is not there; -1: it is only read, and nothing can be written to it. One of another
 * version is refused. */
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
    const char *commit;    /* of the program that trained it; "A+B": another one went on with it */
    const char *compiler;  /* of the last one */
    const char *machine;   /* "lengthen 0.2.0 (COMMIT, gcc 12.2.0), avx2, 2 cores, HOST" */
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
/* What was measured at a step, place by place: by setting, source of IDs, sparsity, length and position. step -1: at
 * the last one that has any; -2: at all. form NULL: of every form. */
int lg_store_cells(lg_store *s, int64_t number, int64_t step, const char *form,
                   lg_cell_callback *each, void *context, lg_error *err);
/* Where the configs of these runs differ, key by key in the order of the configs: values[i] is that of
 * numbers[i], NULL if it has no such key. */
typedef void lg_store_values_callback(void *context, const char *key, const char *const *values);
int lg_store_differences(lg_store *s, const int64_t *numbers, int count,
                         lg_store_values_callback *each, void *context, lg_error *err);
/* Deletes the run's rows, and its folder if it is still that run's; refused while it trains. */
int lg_store_delete(lg_store *s, int64_t number, lg_error *err);

/* ---- The keys of a config ---------------------------------------------------------------------- */

/* The table of keys, in the order in which a config has them. Keys of the task's own settings, task.NAME, are in
 * lg_task_info instead. */
typedef struct lg_config_key {
    const char *key; /* "train.lr": lr in the map train */
    /* "integer", "number", "word", "text", "pair", "list", "word or list" or "pair or list" */
    const char *type;
    const char *fallback; /* its default, as written in YAML; "": none */
    const char *doc;
    char range[256]; /* what it may be: "0.0..1.0", "a|b|c"; docs/CONFIG.md explains the notation */
} lg_config_key;
int lg_config_key_count(void);
lg_config_key lg_config_key_at(int i); /* 0 <= i < count */
/* What an unknown key was meant to be, or NULL: "train.lr" for "train.lrr", "lr" and "model.lr",
 * "task.carry" for "carry". Valid until the next call of this thread. */
const char *lg_config_nearest(const char *key);

/* A config as keys and values, in its order. Starts from {0}, and is to be cleared even after an error. */
typedef struct lg_config_value {
    char *key, *value; /* "train.length", "[1, 20]" */
    int list;          /* 1: the value is a list, not a text that looks like one */
} lg_config_value;
typedef struct lg_config_values {
    lg_config_value *at;
    int count, room;
} lg_config_values;
/* Adds the keys of a config's text. */
int lg_config_values_read(lg_config_values *v, const char *yaml, lg_error *err);
/* Adds every key with its default, and the settings of this task with theirs. */
int lg_config_values_default(lg_config_values *v, const char *task, lg_error *err);
const char *lg_config_values_get(const lg_config_values *v, const char *key); /* or NULL */
void lg_config_values_clear(lg_config_values *v);
/* Whether two values mean the same: numbers are compared as numbers. */
int lg_config_same_value(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
