/* ids.h: which ID each token gets, and what the heads that predict IDs are to say: the parts that
 * ids.c, ids_text.c, ids_heads.c and ids_check.c share. */
#ifndef LG_POSITIONS_IDS_H
#define LG_POSITIONS_IDS_H

#include "lengthen.h"

/* In the order of lg_ids_info_at. */
enum lg__ids {
    LG__IDS_PLAIN,
    LG__IDS_RANDOM_START,
    LG__IDS_RANDOMIZED,
    LG__IDS_POSE,
    LG__IDS_COUPLED,
    LG__IDS_COUPLED_RANDOMIZED,
    LG__IDS_COUPLED_POSE,
    LG__IDS_ABACUS,
    LG__IDS_COUNT
};

/* In the order of lg_id_head_info_at. */
enum lg__head {
    LG__HEAD_GIVEN = -1, /* the task's rule; nothing is predicted */
    LG__HEAD_ABSOLUTE,
    LG__HEAD_DELTA,
    LG__HEAD_POINTER,
    LG__HEAD_COUNT
};

/* The classes of the pointer's head: steps -2..2 from the ID that it finds are 0..4. */
enum { LG__POINT_STEP = 2, LG__POINT_STAY = 5, LG__POINT_ABSENT = 6, LG__POINT_CLASSES = 7 };

extern const lg_ids_info lg__ids_infos[LG__IDS_COUNT];
extern const lg_ids_info lg__head_infos[LG__HEAD_COUNT];

/* A scheme whose names are understood and whose numbers fit the task. */
struct lg__plan {
    enum lg__ids ids;
    int levels;
    enum lg__head head[LG_LEVELS];
};
int lg__plan_make(struct lg__plan *p, const lg_scheme *s, const lg_task_shape *shape,
                  lg_error *err);
int lg__plan_coupled(const struct lg__plan *p);
int lg__plan_classes(const struct lg__plan *p, const lg_scheme *s, int level); /* 0: no head */
/* As lg_scheme_ids. */
int lg__plan_ids(const struct lg__plan *p, const lg_scheme *s, const lg_task_shape *shape,
                 const lg_example *x, lg_rng *r, int32_t *const ids[LG_LEVELS], lg_error *err);

/* The ID that a class of a head stands for, where carried is the latest ID at this level
 * (LG_ABSENT: none; then steps count from 0) and pointed the ID that the pointer found (read for
 * the pointer's classes 0..4 only). */
int32_t lg__id_of_class(const lg_scheme *s, enum lg__head head, int32_t class, int32_t carried,
                        int32_t pointed);

#endif
