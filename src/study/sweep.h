/* sweep.h: the file of a sweep, read: what varies, and the runs that it makes. */
#ifndef LG_STUDY_SWEEP_H
#define LG_STUDY_SWEEP_H

#include "base/memory.h"
#include "base/yaml.h"
#include "lengthen_study.h"

struct lg__config;

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
    int group; /* the number of the variant, from 0 */
    int place; /* among all combinations, from 0; those that are not wanted are left out */
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

/* The run that a folder holds, as the store knows it; number 0: it does not. */
struct lg__sweep_found {
    char id[20];
    int64_t number, step, seed;
    int done, least, length, sparsity;
    char unit[64];
};
int lg__sweep_find(lg_store *s, const char *folder, struct lg__sweep_found *f, lg_error *err);
/* The config of a run as the file and the sets say, to be cleared; refused where its folder has a run of
 * another. */
int lg__sweep_config(const struct lg__sweep_plan *p, int run, struct lg__config *c, lg_error *err);

/* Of n sorted numbers: between two of them linearly, as numpy's quantile does if it is not told. */
double lg__quantile(const double *sorted, int n, double q);

#endif
