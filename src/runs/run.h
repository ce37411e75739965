/* run.h: a run's folder, opened: its config, task, scheme and model. */
#ifndef LG_RUNS_RUN_H
#define LG_RUNS_RUN_H

#include "runs/config.h"
#include "lengthen_runs.h"

/* Of the examples: training, its drawn IDs, tests, early stop, which inputs are fed back, those that
 * confirm a certificate. */
enum {
    LG__STREAM_TRAIN = 1,
    LG__STREAM_IDS,
    LG__STREAM_TEST,
    LG__STREAM_STOP,
    LG__STREAM_FEEDBACK,
    LG__STREAM_CONFIRM
};

#define LG__RUN_WAITING "metrics.waiting" /* rows that the store could not take yet */
#define LG__RUN_CERTIFICATE "certificate.json"
#define LG__RUN_LIST "certificate-list.json"
#define LG__RUN_SAMPLED "certificate-sampled.json"
#define LG__RUN_TOKENIZER "tokenizer"    /* a folder: a copy of the tokenizer of a run of texts */
#define LG__RUN_COUPLING "coupling.yaml" /* the rule of positions.coupling */
enum { LG__RUN_ID = 17 };                /* letters of a run's ID, with the 0 */
enum { LG__RUN_KERNELS = 128 };

/* Whose run a config is of: where it lies, and its ID ("": it names none). */
struct lg__owner {
    const char *place, *id;
    const lg_run_access *access; /* NULL: nothing is allowed */
};

struct lg__run {
    const struct lg__owner *owner; /* while it is opened; NULL: the config is the user's own */
    struct lg__config config;
    char id[LG__RUN_ID];
    lg_task *task;
    lg_scheme scheme;
    lg_plan plan; /* the scheme, opened for the task */
    lg_model_config model_config;
    lg_train_options options;
    lg_model *model;
    int predicts; /* whether it has heads that predict IDs */
    int64_t step; /* of the weights; and whether they are the last ones */
    int done;
    int longest; /* tokens of the longest text that training has shown it; 0: not known */
    char kernels[LG__RUN_KERNELS]; /* as in lg_store_run; of a run that is new: those in use */
    char remark[512];              /* what the user should know of this config, or "" */
    char origin[512];              /* where the weights come from that it begins with, or "" */
    char texts[512]; /* why the texts of a run that is there could not be opened, or "" */
};

/* Starts from {0}. The config is read, and everything is made but for the weights. */
int lg__run_open(struct lg__run *r, const char *config, const char *const *sets, int count,
                 lg_error *err);
/* The weights of train.init_from into the model, if it is set: one with other shapes is refused, and of runs
 * of texts one with another tokenizer. fallback as for lg__checkpoint_load; its warning is a remark. */
int lg__run_take_weights(struct lg__run *r, int fallback, lg_error *err);
/* A run that is there: its config from the folder, its weights from the newest checkpoint. access NULL:
 * nothing is allowed. */
int lg__run_open_folder(struct lg__run *r, const char *folder, const lg_run_access *access,
                        lg_error *warning, lg_error *err);
/* The same for an export, which needs the weights alone: the task is not opened, so that r->task stays NULL,
 * and the size of the vocabulary is that of the stored tensors. Refused for IDs that do not count tokens. */
int lg__run_open_weights(struct lg__run *r, const char *folder, int fallback, lg_error *warning,
                         lg_error *err);
void lg__run_close(struct lg__run *r);

/* What the note of every checkpoint of a run says. Training may add lines of its own. */
struct lg__run_note {
    int64_t step;
    int enough;        /* 1: the run stopped early there */
    int64_t evaluated; /* the last step that was, on the way */
    int tokens;        /* as `longest` of the run */
    char kernels[LG__RUN_KERNELS];
    int length, sparsity; /* of the curriculum, and how well its examples are answered */
    double learned;
};
void lg__run_write_note(const struct lg__run_note *n, lg_buffer *note);
int lg__run_read_note(struct lg__run_note *n, const char *note, lg_error *err);

/* Its own: "avx2-3"; trained with bf16 "avx512-3-bf16:avx512bf16", or "avx2-3-bf16:avx2" by rounding. */
void lg__run_kernels(const lg_model *m, lg_precision p, char kernels[LG__RUN_KERNELS]);

/* Whether the folder may be this run's: it must hold none (LG_RUN_NEW), this one (LG_RUN_RESUME),
 * or either; *there is 1 if it holds this one. Nothing is written. */
int lg__run_check_folder(struct lg__run *r, const char *folder, int resume, int *there,
                         lg_error *err);
/* Takes it: makes the folder, locks it (only one process trains a run at a time; *lock is closed
 * with close(), or by the end of the process) and writes the config if there is none. */
int lg__run_claim_folder(struct lg__run *r, const char *folder, int resume, int *there, int *lock,
                         lg_error *err);
int lg__run_is_locked(const char *folder);
/* Whether a checkpoint was ever finished in this folder; a run may be killed before its first one is. */
int lg__run_has_steps(const char *checkpoint);
/* Removes what a run has written; anything else stays, and so does the folder then. */
int lg__run_remove_folder(const char *folder, lg_error *err);
/* The config there must mean the same as this one; a key that it does not have, because it was written
 * before there was such a key, is at its default. */
int lg__run_check_config(const struct lg__config *c, const char *folder, lg_error *err);
/* The ID in a folder's config.yaml, or in a file; "" if it holds no run. 1: there is such a file. */
int lg__run_id(const char *folder, char id[LG__RUN_ID]);
int lg__run_file_id(const char *path, char id[LG__RUN_ID]);

/* A copy of a tokenizer (not of "bytes") in the run's folder, under names that a tokenizer's folder has. */
int lg__run_keep_tokenizer(const char *from, const char *folder, lg_error *err);
/* 1: the tokenizer that the config names is not there, and the run's folder has a copy: what to --set. */
int lg__run_lost_tokenizer(const struct lg__run *r, const char *folder, char *set, size_t size);
/* The run's row in the store; NULL: *number is 0. trains as in lg__store_register. */
int lg__run_register(const struct lg__run *r, const char *folder, lg_store *s, int trains,
                     int64_t *number, lg_error *err);

/* Where tests of its own task at these lengths draw from: what is held out; of lines also those of lengths
 * that training never shows. And how many samples a cell of the config's grid has: each line is used once. */
lg_side lg__run_test_side(const struct lg__config *c, const lg_task *t, int lo, int hi);
int lg__run_samples(const struct lg__config *c, const lg_task *t, int length, int sparsity);
/* A checksum of the files that a task reads, of examples, of words or with a table, which may be others
 * tomorrow: lg_run_cell.data; "" of other tasks. Of the config's task, or another one (else NULL), with a
 * setting in the place of the config's (or NULL). */
void lg__run_sum_data(const struct lg__config *c, const char *task, const char *setting,
                      char data[20]);

#endif
