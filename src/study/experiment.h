/* experiment.h: the key `experiment` of a sweep's file: what it is of, what is drawn and checked. */
#ifndef LG_STUDY_EXPERIMENT_H
#define LG_STUDY_EXPERIMENT_H

#include "study/sweep.h"

/* Which cells are meant: a map whose keys are axes, ids, sparsity, length, position and kind, and whose
 * values are one or a list of them. Without a kind the leading one; of positions without a length, those of the
 * greatest. */
typedef const struct lg__yaml *lg__where;

enum lg__figure_x { LG__X_LENGTH, LG__X_TOKENS, LG__X_POSITION, LG__X_SPARSITY, LG__X_AXIS };

struct lg__experiment_figure {
    const char *file, *title;
    lg__where where;
    const struct lg__yaml *lines; /* one name or a list; NULL: what differs */
    const struct lg__yaml *at_x;  /* where it says what the x axis has, or NULL */
    enum lg__figure_x x;
    int axis; /* LG__X_AXIS: which of the plan's */
    int map;  /* 1: a table of cells, x by sparsity, in place of lines */
};

enum lg__check_kind {
    LG__CHECK_MORE,
    LG__CHECK_LESS,
    LG__CHECK_LEAST,
    LG__CHECK_MOST,
    LG__CHECK_MONOTONE,
    LG__CHECK_CERTIFIED
};

struct lg__experiment_check {
    enum lg__check_kind kind;
    const struct lg__yaml *at;
    lg__where cells, other; /* of more and less: other is of than */
    /* Of these: by how much at least; of least and most: the value; of certified: the share. */
    double by;
    int has_by, has_chance;
    int by_length; /* monotone: in length, else in sparsity */
    double chance; /* monotone: what guessing gives */
};

/* Starts from {0}; points into the plan's file. */
struct lg__experiment {
    const char *question, *expected; /* "": not said */
    const char *words;               /* the caption of its figures; "": none */
    double budget;                   /* minutes; -1: not said */
    int certify; /* every run is certified, too, and confirmed with so many inputs */
    struct lg__experiment_figure *figures;
    struct lg__experiment_check *checks;
    int figure_count, check_count;
};

/* Of a plan whose axes are read. A file without the key is refused. */
int lg__experiment_read(struct lg__experiment *x, const struct lg__sweep_plan *p, lg_error *err);
void lg__experiment_clear(struct lg__experiment *x);
/* Whether it asks for nothing but what runs of this form have. */
int lg__experiment_check_form(const struct lg__experiment *x, const char *form, lg_error *err);
/* Reads it where it is there, to refuse what is wrong. */
int lg__experiment_check(const struct lg__sweep_plan *p, lg_error *err);

#endif
