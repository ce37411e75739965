/* couple.h: what the files of lg_couple share. data.c reads and splits the lines, trial.c trains candidates,
 * couple.c leads, picture.c draws. */
#ifndef LG_COUPLE_COUPLE_H
#define LG_COUPLE_COUPLE_H

#include "coupling/find.h"
#include "lengthen_couple.h"

enum lg__couple_part {
    LG__PART_FIT,
    LG__PART_CHOOSE,
    LG__PART_REPORT,
    LG__PART_TRAIN,
    LG__COUPLE_FILES
};

struct lg__couple {
    const lg_couple_options *o;
    lg_couple_result *r;
    lg_task *task;
    const lg_task_shape *shape;
    struct lg__examples lines;  /* all */
    unsigned char *part;        /* [lines.count] enum lg__couple_part */
    unsigned char *wrong;       /* [lines.count] it contradicts the others: not trained on */
    struct lg__examples looked; /* those that may be looked at: fit and choose (borrowed) */
    int *looked_at;             /* their numbers */
    double start, trials, end;  /* by lg__now */
    int64_t spent;              /* steps of all candidates, times their layers */
};

/* Reads all lines, checks them, splits them in three. */
int lg__couple_read(struct lg__couple *c, lg_error *err);
/* Writes vocab.txt and the files of the parts; those that are trained on several times, with other names, where the
 * rule compares names. */
int lg__couple_write(struct lg__couple *c, const struct lg__rule *rule, lg_error *err);
void lg__couple_close(struct lg__couple *c);
/* The lengths that lines of a part have, at most `room` of them; how many. */
int lg__couple_lengths(const struct lg__couple *c, enum lg__couple_part part, int *length,
                       int *lines, int room);

/* Trains the candidates of the assignments until one is right on all lines to choose by, then the best once
 * more on all lines but those to report. */
int lg__couple_trials(struct lg__couple *c, const struct lg__assignment *a, int count,
                      const struct lg__assignment **best, lg_error *err);

/* Two examples with arcs from what is read to who reads it, as SVG. */
int lg__couple_picture(const struct lg__couple *c, const struct lg__finding *f,
                       const struct lg__assignment *a, const char *path, lg_error *err);

#endif
