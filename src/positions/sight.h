/* sight.h: whether a window of IDs shows the tokens of the answer anything of the prompt, seen from
 * examples; for lg_scheme_check. */
#ifndef LG_POSITIONS_SIGHT_H
#define LG_POSITIONS_SIGHT_H

#include "lengthen.h"

/* Starts from {0}. */
struct lg__sight {
    int64_t pairs; /* of tokens that were compared */
    int64_t tokens,
        dark; /* of answers, without the last of each; with nothing of the prompt in sight */
    int64_t without[LG_LEVELS]; /* still dark if this level had no window */
    int low[LG_LEVELS];         /* of prompt tokens that only this level hides: the furthest ID */
    int high[LG_LEVELS];        /* differences */
};

/* Looks at an example; a model without a window shows everything. */
int lg__sight_look(struct lg__sight *s, const lg_plan *p, const lg_example *x,
                   const lg_model_config *c, lg_error *err);
/* Says it, if a tenth of the tokens see nothing. */
void lg__sight_remark(const struct lg__sight *s, const lg_task_shape *shape,
                      const lg_model_config *c, lg_error *remark);

#endif
