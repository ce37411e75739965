/* cells.h: values of a cell, as they are measured. */
#ifndef LG_RUNS_CELLS_H
#define LG_RUNS_CELLS_H

#include "lengthen_runs.h"

/* right of n, which are of so many samples: with the interval that the kind has. */
void lg__cell_add_share(lg_cell *c, const char *kind, int samples, double right, double n);
/* A number, or a mean over samples with its interval; low and high NaN: it has none. */
void lg__cell_add(lg_cell *c, const char *kind, int samples, double value, double low, double high);

#endif
