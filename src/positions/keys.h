/* keys.h: for lg_scheme_check: what match heads ask of the layers. */
#ifndef LG_POSITIONS_KEYS_H
#define LG_POSITIONS_KEYS_H

#include "lengthen.h"

/* Refuses a model whose layers but the last do not show a key token of this example, which has these
 * IDs, its whole key. */
int lg__keys_check(const lg_plan *p, const lg_example *x, int32_t *const ids[LG_LEVELS],
                   const lg_model_config *c, lg_error *err);

#endif
