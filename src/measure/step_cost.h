/* step_cost.h: what a training step costs on this machine; for lg_try, before it plans its time. */
#ifndef LG_MEASURE_STEP_COST_H
#define LG_MEASURE_STEP_COST_H

#include "lengthen.h"

/* Seconds of a step with one example per core, of n[0] and of n[1] tokens; a small model of this width,
 * with plain positions and the loss on the second half of each example. */
int lg__step_cost(int width, const int n[2], double seconds[2], lg_error *err);

#endif
