/* ids.h: which ID each token gets, and what the heads that predict IDs are to say. A kind of IDs is
 * one file that fills in a row, and its place in ids_table.c; ids.c opens a scheme with them,
 * ids_heads.c has the heads, ids_check.c what cannot go together. */
#ifndef LG_POSITIONS_IDS_H
#define LG_POSITIONS_IDS_H

#include "lengthen.h"

/* What a kind of IDs needs and does; of composed kinds, the flags of both. */
enum {
    LG__IDS_LABELS = 1,        /* IDs follow the task's labels, at as many levels */
    LG__IDS_DIGITS = 2,        /* needs a task with digits */
    LG__IDS_TARGET = 4,        /* takes chunks and target; training has IDs up to target - 1 */
    LG__IDS_MAX_ID = 8,        /* training draws IDs up to max_id, if it is set, */
    LG__IDS_NEEDS_MAX_ID = 16, /* and it must be */
    LG__IDS_GAPS = 32,         /* neighbours may have IDs far apart: no window, and no heads */
    LG__IDS_DRAWN = 64         /* evaluation draws as well, from 0..max_id, by the prompt */
};

/* The labels of a level: least..most, or most == LG_ABSENT if no token has one. */
struct lg__range {
    int32_t least, most;
};

struct lg__ids_row {
    const char *name, *line, *text; /* as in lg_ids_info */
    unsigned flags;
    /* The name, line and text of this kind over a task's labels, as "coupled+NAME", and how many of
     * the levels it changes, from the first on. No name: the two do not go together. */
    const char *over_name, *over_line, *over_text;
    int over_levels;

    /* What it asks of the scheme's numbers; NULL: nothing that the flags do not say. */
    int (*check)(const lg_plan *p, lg_error *err);
    /* As lg_plan_ids; r is NULL in evaluation, but not with LG__IDS_DRAWN. */
    int (*ids)(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const ids[LG_LEVELS],
               lg_error *err);
    /* The ID of a generated token after the ID `last`, where it follows from the text alone; NULL:
     * it follows from the place or from labels. */
    int32_t (*next)(const lg_plan *p, int32_t last, int32_t token);

    /* Over labels: whether IDs for all labels of the level's range fit; then map[v] = the ID of
     * label least + v, for all of the range. Those that no token has count too, so that a difference
     * between two labels can still take any size that it could have with all of them there. */
    int (*over_fits)(const lg_plan *p, int level, const struct lg__range *g, lg_error *err);
    int (*over_map)(const lg_plan *p, const struct lg__range *g, int32_t *map, lg_rng *r,
                    lg_error *err);
};

extern const struct lg__ids_row lg__ids_plain; /* what PoSE is in evaluation */

/* The place of a name in lg_ids_info_at, or -1; and what stands there: row, over and flags, as in
 * lg_plan. */
int lg__ids_find(const char *name);
unsigned lg__ids_entry(int i, const struct lg__ids_row **row, const struct lg__ids_row **over);
unsigned lg__ids_flags(const char *name); /* 0 for a name that is none */
/* "plain, random-start or pose": the kinds with none of these flags, composed ones left out. text
 * has LG__IDS_NAMES bytes. */
enum { LG__IDS_NAMES = 200 };
const char *lg__ids_names(char *text, unsigned without);

/* Why an example does not fit: `what` is the key, `value` its value, `least` what would do. Of n
 * tokens, or of the labels of a level. */
int lg__ids_too_long(const lg_plan *p, int n, const char *what, int value, int least,
                     lg_error *err);
int lg__ids_no_room(const lg_plan *p, int level, const char *what, int value, int64_t labels,
                    int64_t least, lg_error *err);
void lg__ids_count_from(int32_t *ids, int n, int32_t start);

/* The task's name in an error. */
const char *lg__ids_task_name(const lg_task_shape *shape);

/* In the order of lg_id_head_info_at. */
enum lg__head {
    LG__HEAD_GIVEN = -1, /* the task's rule; nothing is predicted */
    LG__HEAD_ABSOLUTE,
    LG__HEAD_DELTA,
    LG__HEAD_POINTER,
    LG__HEAD_MATCH,
    LG__HEAD_COUNT
};

/* The classes of the pointer's head, and of the match head's: steps -2..2 from the ID that it finds are 0..4. */
enum { LG__POINT_STEP = 2, LG__POINT_STAY = 5, LG__POINT_ABSENT = 6, LG__POINT_CLASSES = 7 };

extern const lg_id_head_info lg__head_infos[LG__HEAD_COUNT];

/* Whether a source is one of the heads: not NULL and not "given". */
int lg__source_predicts(const char *source);
/* Opens with the shape alone. */
int lg__plan_open(lg_plan *p, const lg_scheme *s, const lg_task_shape *shape, lg_error *err);
int lg__plan_classes(const lg_plan *p, int level); /* 0: no head */
lg_match lg__plan_match(const lg_plan *p);         /* the order of its match heads */

/* The ID that a class of a head stands for, where carried is the latest ID at this level
 * (LG_ABSENT: none; then steps count from 0) and pointed the ID that the pointer found (read for
 * the pointer's classes 0..4 only). */
int32_t lg__id_of_class(const lg_scheme *s, int head, int32_t class, int32_t carried,
                        int32_t pointed);

#endif
