/* sweep.h: the plan of a sweep or an experiment: its file, read once; what varies, the runs that it makes, the
 * cells that each is to have; and the rows that are there, over the seeds. */
#ifndef LG_STUDY_SWEEP_H
#define LG_STUDY_SWEEP_H

#include "base/memory.h"
#include "base/yaml.h"
#include "lengthen_study.h"

struct lg__config;
struct lg__run;

/* One key and its value, and where it is said. */
struct lg__sweep_set {
    char *text; /* "key=value" */
    const struct lg__yaml *at;
};

/* One value of what varies: a name, and the keys that it sets. */
struct lg__sweep_value {
    char *name;
    int first, count; /* of the sets */
};

struct lg__sweep_axis {
    const struct lg__yaml *at;
    struct lg__sweep_value *values;
    int count;
};

struct lg__sweep_item {
    char *name, *variant, *folder;
    int group;    /* the number of the variant, from 0 */
    int place;    /* among all combinations, from 0; those that are not wanted are left out */
    int64_t seed; /* known once its variant is opened */
};

/* What the runs of a variant share. */
struct lg__variant {
    const char *form; /* how they are measured; NULL: it is not opened */
    lg_cell *cells;   /* that they are to have; value[0].samples is of how many samples at most */
    int count;
    int least, length;      /* shortest and longest of training */
    int sparsest, sparsity; /* sparsest and densest of training */
    int longest;            /* of the cells */
    int64_t seed;
    char unit[64], sparse[64], data[20]; /* units of length and sparsity; data: as in lg_cell */
};

/* Starts from {0}. */
struct lg__sweep_plan {
    const lg_sweep_options *o;
    struct lg__yaml *file, *base; /* base NULL: the config is in the file */
    const struct lg__yaml *scale; /* in the file; NULL: none */
    struct lg__block sets;        /* struct lg__sweep_set: the config's, then those that vary */
    int set_count, config_count, scale_from; /* scale_from: the first set of the scale */
    struct lg__sweep_axis *axes;
    int axis_count;
    struct lg__sweep_item *runs;
    int count, groups;
    struct lg__variant *variants; /* [groups] */
};

/* Reads the file and names the runs; what is wrong is refused, and nothing is written. The plan
 * is to be cleared in any case. */
int lg__sweep_read(struct lg__sweep_plan *p, const lg_sweep_options *o, lg_error *err);
void lg__sweep_clear(struct lg__sweep_plan *p);
/* The value of an axis that a run has. */
const struct lg__sweep_value *lg__sweep_value_of(const struct lg__sweep_plan *p, int run, int axis);
/* A value as it is written in a name: "4", "[1, 10]"; to be freed. What cannot be a value is
 * refused. */
int lg__sweep_text(const struct lg__yaml *n, char **text, lg_error *err);
/* Whether it is this text. Needs no memory: where there is none, no cell is taken for another. */
int lg__sweep_is(const struct lg__yaml *n, const char *text);
/* Whether a config has such a key. */
int lg__sweep_check_key(const struct lg__yaml *n, const char *key, lg_error *err);

/* The key `scales`, of every scale; then the one of the options, NULL: the file as it is. */
int lg__sweep_check_scales(const struct lg__sweep_plan *p, lg_error *err);
int lg__sweep_find_scale(const struct lg__sweep_plan *p, const struct lg__yaml **scale,
                         lg_error *err);
/* What a scale says of an axis: NULL for nothing. */
const struct lg__yaml *lg__sweep_scaled(const struct lg__yaml *scale, const char *axis);
/* Whether an axis has such a value, at any scale. */
int lg__sweep_has_value(const struct lg__sweep_plan *p, const struct lg__yaml *axis,
                        const char *value);

/* The sets of a run, later ones win; returns their number. to NULL: how many there are at most. */
int lg__sweep_sets(const struct lg__sweep_plan *p, int run, const char **to);
/* Puts the run, and FILE:LINE of the set that is wrong, before what lg__run_open wrote. */
void lg__sweep_blame(const struct lg__sweep_plan *p, int run, lg_error *err);

/* variants.c: the variants of all runs, from their configs: no weights, and of texts no file. makes 0: to be
 * listed alone, so that no task is opened which would execute a command; such a variant has no cells. */
int lg__variants_open(struct lg__sweep_plan *p, int makes, lg_error *err);
/* The variant of a run from its config, its task (NULL: it is not opened) and whether it predicts IDs. */
int lg__variant_fill(struct lg__sweep_plan *p, int run, const struct lg__config *c,
                     const lg_task *task, int predicts, lg_error *err);
static inline struct lg__variant *lg__variant_of(const struct lg__sweep_plan *p, int run)
{
    return &p->variants[p->runs[run].group];
}

/* ---- Rows ------------------------------------------------------------------------------------- */

/* A value at a cell of a run's variant. */
struct lg__row {
    int run, cell;
    int64_t there;
    double tokens;
    lg_value v;
};
/* Starts from {0}; sorted by run, cell and kind once it is read. */
struct lg__rows {
    struct lg__block block;
    int count;
};
static inline struct lg__row *lg__row_at(const struct lg__rows *r, int i)
{
    return (struct lg__row *)r->block.data + i;
}
int lg__rows_add(struct lg__rows *r, const struct lg__row *row, lg_error *err);
int lg__rows_compare(const void *a, const void *b); /* by run, cell and kind */
void lg__rows_sort(struct lg__rows *r);
/* Takes those of a run out. */
void lg__rows_drop(struct lg__rows *r, int run);
/* Adds what the store has of the run's cells at a step. */
int lg__rows_read(struct lg__rows *r, const struct lg__sweep_plan *p, int run, lg_store *s,
                  int64_t number, int64_t step, lg_error *err);
/* Whether a run is done, of sorted rows: every cell has every leading kind of its form, of as many samples as are asked for,
 * or all that there are. */
int lg__rows_whole(const struct lg__rows *r, const struct lg__sweep_plan *p, int run);

/* Rows over their seeds, by variant, kind, source of IDs, sparsity, length and position. */
struct lg__joined {
    lg_joined j;
    int run; /* one of its runs */
};
struct lg__joins {
    struct lg__joined *at;
    int count;
    lg_cell *cells;
    double *values;
    int64_t *seeds;
};
/* Of runs that are done; to be cleared in any case. */
int lg__rows_join(const struct lg__rows *r, const struct lg__sweep_plan *p, const char *done,
                  struct lg__joins *to, lg_error *err);
void lg__joins_clear(struct lg__joins *j);

/* The run that a folder holds, as the store knows it; number 0: it does not. */
struct lg__sweep_found {
    char id[20];
    int64_t number, step;
    int done;
};
int lg__sweep_find(lg_store *s, const char *folder, struct lg__sweep_found *f, lg_error *err);
/* The config of a run as the file and the sets say, to be cleared; refused where its folder has a run of
 * another. */
int lg__sweep_config(const struct lg__sweep_plan *p, int run, struct lg__config *c, lg_error *err);

#endif
