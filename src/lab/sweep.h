/* sweep.h: the file of a sweep, read: what varies, and the runs that it makes. */
#ifndef LG_LAB_SWEEP_H
#define LG_LAB_SWEEP_H

#include "base/memory.h"
#include "base/yaml.h"
#include "lengthen_lab.h"

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
};

/* Starts from {0}. */
struct lg__sweep_plan {
    const lg_sweep_options *o;
    struct lg__yaml *file, *base; /* base NULL: the config is in the file */
    struct lg__block sets;        /* struct lg__sweep_set: the config's, then those that vary */
    int set_count, config_count;
    struct lg__sweep_axis *axes;
    int axis_count;
    struct lg__sweep_item *runs;
    int count, groups;
};

/* Reads the file and names the runs; what is wrong is refused, and nothing is written. The plan
 * is to be cleared in any case. */
int lg__sweep_read(struct lg__sweep_plan *p, const lg_sweep_options *o, lg_error *err);
void lg__sweep_clear(struct lg__sweep_plan *p);
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

#endif
