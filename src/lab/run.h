/* run.h: a run's folder, opened: its config, task, scheme and model. */
#ifndef LG_LAB_RUN_H
#define LG_LAB_RUN_H

#include "lab/config.h"
#include "lengthen_lab.h"

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
#define LG__RUN_TOKENIZER "tokenizer" /* a folder: a copy of the tokenizer of a run of texts */
enum { LG__RUN_ID = 17 };             /* letters of a run's ID, with the 0 */
enum { LG__RUN_KERNELS = 128 };

struct lg__run {
    struct lg__config config;
    char id[LG__RUN_ID];
    lg_task *task;
    lg_scheme scheme;
    lg_model_config model_config;
    lg_train_options options;
    lg_model *model;
    int predicts; /* whether it has heads that predict IDs */
    int64_t step; /* of the weights; and whether they are the last ones */
    int done;
    char kernels[LG__RUN_KERNELS]; /* as in lg_store_run; of a run that is new: those in use */
    char remark[512];              /* what the user should know of this config, or "" */
    char origin[512];              /* where the weights come from that it begins with, or "" */
    char texts[512]; /* why the texts of a run that is there could not be opened, or "" */
};

/* Starts from {0}. The config is read, and everything is made but for the weights. */
int lg__run_open(struct lg__run *r, const char *config, const char *const *sets, int count,
                 lg_error *err);
/* The weights of train.from into the model, if it is set: one with other shapes is refused, and of runs
 * of texts one with another tokenizer. */
int lg__run_take_weights(struct lg__run *r, lg_error *err);
/* A run that is there: its config from the folder, its weights from the newest checkpoint. */
int lg__run_open_folder(struct lg__run *r, const char *folder, lg_error *warning, lg_error *err);
void lg__run_close(struct lg__run *r);
/* The step of a checkpoint, with which its note begins, and whether the run stopped early there. */
int lg__run_note_step(const char *note, int64_t *step, int *enough, lg_error *err);

/* The kernels in use, "avx2-1"; those of a checkpoint, "" if its note does not say. */
void lg__run_kernels(char kernels[LG__RUN_KERNELS]);
void lg__run_note_kernels(const char *note, char kernels[LG__RUN_KERNELS]);

/* Whether the folder may be this run's: it must hold none (LG_RUN_NEW), this one (LG_RUN_RESUME),
 * or either; *there is 1 if it holds this one. Nothing is written. */
int lg__run_check_folder(struct lg__run *r, const char *folder, int resume, int *there,
                         lg_error *err);
/* Takes it: makes the folder, locks it (only one process trains a run at a time; *lock is closed
 * with close(), or by the end of the process) and writes the config if there is none. */
int lg__run_claim_folder(struct lg__run *r, const char *folder, int resume, int *there, int *lock,
                         lg_error *err);
int lg__run_is_locked(const char *folder);
/* The lock itself, beside those who only ask (shared) or alone; 0, or the reason as in errno. */
int lg__run_try_lock(const char *folder, int shared, int *lock);
/* Whether a checkpoint was ever finished in this folder; a run may be killed before its first one is. */
int lg__run_has_steps(const char *checkpoint);
/* Removes what a run has written; anything else stays, and so does the folder then. */
int lg__run_remove_folder(const char *folder, lg_error *err);
/* The config there must mean the same as this one; a key that it does not have, because it was written
 * before there was such a key, is at its default. */
int lg__run_check_config(const struct lg__config *c, const char *folder, lg_error *err);
/* The ID in a folder's config.yaml; "" if it holds no run. */
void lg__run_id(const char *folder, char id[LG__RUN_ID]);

/* A file of text: written whole or not at all, and on the disk when it returns; read, *text is to be
 * freed and stays NULL where there is no such file. */
int lg__run_write_file(const char *path, const char *text, lg_error *err);
int lg__run_read_file(const char *path, char **text, lg_error *err);
/* A copy of a tokenizer (not of "bytes") in the run's folder, under names that a tokenizer's folder has;
 * and of a file in any folder. */
int lg__run_keep_tokenizer(const char *from, const char *folder, lg_error *err);
/* 1: the tokenizer that the config names is not there, and the run's folder has a copy: what to --set. */
int lg__run_lost_tokenizer(const struct lg__run *r, const char *folder, char *set, size_t size);
int lg__run_copy_file(const char *from, const char *folder, const char *name, lg_error *err);
/* The folder and those it lies in. */
int lg__run_make_folders(const char *folder, lg_error *err);
/* FOLDER/NAME. */
int lg__run_path(char *path, size_t size, const char *folder, const char *name, lg_error *err);
/* The run's row in the store; NULL: *number is 0. trains as in lg__store_register. */
int lg__run_register(const struct lg__run *r, const char *folder, lg_store *s, int trains,
                     int64_t *number, lg_error *err);

/* Another task than the run's (NULL: its own) with its settings, where it is of the same kind, and
 * `setting` (or NULL) in the place of one; refused if words or labels are others than the run knows.
 * *task is to be freed, and NULL after an error. */
int lg__run_other_task(const struct lg__run *r, const char *name, const char *setting,
                       lg_task **task, lg_error *err);
/* Whether every cell of the options (or of the config) can be made: nothing is written. */
int lg__run_check_grid(struct lg__run *r, const lg_eval_options *o, lg_error *err);
/* The grid of the options (or of the config) with the weights that the run has now, of r->step. */
int lg__run_grid(struct lg__run *r, const lg_eval_options *o, lg_store *s, int64_t number,
                 lg_error *err);
/* The same of a run of texts, its losses by position (the warning may be NULL); and whether there are
 * documents for every length of its config. */
int lg__run_check_losses(const struct lg__run *r, lg_error *err);
int lg__run_losses(struct lg__run *r, const lg_text_eval_options *o, lg_store *s, int64_t number,
                   lg_error *warning, lg_error *err);
/* A checksum of the files that a task reads, of examples, of words or with a table, which may be others
 * tomorrow: lg_run_cell.data; "" of other tasks. Of the config's task, or another one (else NULL), with a
 * setting in the place of the config's (or NULL). */
void lg__run_sum_data(const struct lg__config *c, const char *task, const char *setting,
                      char data[20]);
/* The 95% interval of a share, `right` of n > 0. */
void lg__wilson(double right, double n, double *low, double *high);

#endif
