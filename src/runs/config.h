/* config.h: what a run is made of, from a YAML file and --set. One table of keys (config_keys.c)
 * serves the reader, the resolved text, the page docs/CONFIG.md, the help and the suggestions. */
#ifndef LG_RUNS_CONFIG_H
#define LG_RUNS_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "lengthen.h"

/* Keys that a config and --set may have in all. Each is compared with those before it. */
enum { LG__CONFIG_MOST = 1000 };
enum { LG__CONFIG_ROWS = 80 }; /* room for the rows of the table of keys */

/* What a value is, and how its range is written. "auto|" before a range: the word auto is taken
 * too, and leaves what the doc says. */
enum lg__config_kind {
    LG__KEY_INT,    /* "1..1000": a whole number; the field is an int */
    LG__KEY_SEED,   /* the same; an int64_t */
    LG__KEY_REAL,   /* "0.0..1.0": a number; a point or an e in the range says so; a double */
    LG__KEY_WORD,   /* "a|b|c"; an int (or enum), the word's place from 0 */
    LG__KEY_NAME,   /* one of the row's names; a const char * that lives for ever */
    LG__KEY_TASK,   /* a name of lg_task_info_find; c->task */
    LG__KEY_TEXT,   /* any text; a char * of its own, NULL where it is empty */
    LG__KEY_PAIR,   /* "[1..9, 1..9]": lo and hi, lo <= hi; two ints */
    LG__KEY_LIST,   /* "[1..9, ..]": whole numbers; a struct lg__config_list */
    LG__KEY_SOURCE, /* a name for all levels, or a list with one for each; c->scheme.source */
    LG__KEY_WINDOW  /* a pair for all levels, or a list with one for each; c->model.window_* */
};

struct lg__config_key {
    const char *key; /* "train.lr": lr in the map train */
    const char *range;
    const char *fallback; /* as written in YAML */
    const char *doc;
    enum lg__config_kind kind;
    size_t at;                  /* of the field in struct lg__config */
    const char *field;          /* its name: "model.rope_share" */
    const char *(*name)(int i); /* LG__KEY_NAME, LG__KEY_SOURCE: the i-th; NULL ends */
};

struct lg__config_list {
    int *at;
    int count;
};

enum lg__curriculum {
    LG__CURRICULUM_NONE,
    LG__CURRICULUM_LENGTH,
    LG__CURRICULUM_SPARSITY,
    LG__CURRICULUM_BOTH
};

/* Everything resolved: no value is "auto" but where said here. */
struct lg__config {
    char *file;                /* that was read, or NULL */
    int line[LG__CONFIG_ROWS]; /* of the file, where each key is said; 0: it is not, or not there */
    int64_t seed;
    char *task;      /* as for lg_task_new */
    char **settings; /* [setting_count] "key=value", all that the task has */
    int setting_count;

    char *coupling; /* the file of a rule that gives labels; NULL: the task has them */
    lg_scheme scheme;
    int source_count; /* of a list with one source a level; 0: one for all */
    /* vocab, levels, classes and seed are set by lg__config_open. */
    lg_model_config model;
    int window_count; /* as source_count */

    lg_train_options train; /* threads stay 0: they are not part of a run's result */
    char *init_from;        /* the folder of a run whose weights it begins with; NULL: none */
    int batch;              /* sequences per step */
    int length[2];          /* lo and hi of training */
    int sparsity[2];        /* 0, 0: auto, the task's own range */
    int curriculum;         /* enum lg__curriculum */
    int curriculum_steps;   /* 0: it advances when the examples so far are learned */
    double curriculum_at;   /* share of right tokens that counts as learned */
    int checkpoint_every;   /* steps; 0: at the end only */
    int keep;               /* checkpoints; 0: all */
    double stop_at;         /* 0: never */
    int certify_every;      /* steps; 0: never */
    int certify_feedback;

    struct lg__config_list eval_lengths;
    struct lg__config_list eval_sparsities; /* none: auto, the task's own range */
    int eval_samples;                       /* a cell */
    int eval_every;                         /* steps; 0: at the end only */
};

/* Reads the file (NULL: none), then sets[count] as "key=value", of which a later one wins. All
 * that is wrong is refused with FILE:LINE or the --set, the key, the value and the remedy (err has the
 * first three apart, too), and leaves *c cleared. *c may hold anything before. */
int lg__config_read(struct lg__config *c, const char *file, const char *const *sets, int count,
                    lg_error *err);
void lg__config_clear(struct lg__config *c);

/* The config as YAML with every key, to be freed; reading it gives the same config. NULL: no
 * memory. */
char *lg__config_text(const struct lg__config *c);

/* Opens the task (which the caller frees) and fills in what it decides: scheme, model and options
 * are then ready for lg_model_new and lg_trainer_new. What cannot go together is refused with the
 * reason. The scheme and the model point at names that live for ever, not into *c. On success
 * err->text is empty, or a remark that is no reason to stop. */
int lg__config_open(const struct lg__config *c, lg_task **t, lg_scheme *s, lg_model_config *m,
                    lg_train_options *o, lg_error *err);

/* ---- The table of keys -------------------------------------------------------------------- */

const struct lg__config_key *lg__config_keys(int *count);
const struct lg__config_key *lg__config_find(const char *key); /* or NULL */
/* The key that sets a field of lg_scheme, lg_model_config or lg_train_options, which the library's errors name:
 * "positions.rope.share" for "rope_share"; or NULL. */
const char *lg__config_key_of(const char *name);
/* Whether key is a map of keys: "positions.rope". */
int lg__config_section(const char *key);
/* The range as shown to the user, with the names written out. Returns text. */
const char *lg__config_range(const struct lg__config_key *k, char *text, size_t size);
/* The bounds of the i-th "A..B" in a range, as numbers; 0 if there is none. */
int lg__config_bounds(const char *range, int i, double *least, double *most);

/* To be freed; NULL: no memory. */

#endif
