/* curves.h: what was measured as the figure of a command, and which measures were asked for. */
#ifndef LG_CLI_CURVES_H
#define LG_CLI_CURVES_H

#include "lengthen_lab.h"

/* --measure KIND,..; none: the leading kinds. A row of a table of options:
 *     {"measure", .read = lg_cli_measures_read, .to = &m, .take = lg_cli_measures_names()} */
struct lg_cli_measures {
    const lg_kind *kind[LG_CELL_VALUES];
    int count;
};
int lg_cli_measures_read(void *measures, const char *names);
const char *lg_cli_measures_names(void);
/* Whether a kind is to be in a table over seeds. */
int lg_cli_measures_have(const struct lg_cli_measures *m, const lg_kind *kind);
/* The i-th kind that a figure of such cells has, and compared runs; NULL: there are no more. */
const lg_kind *lg_cli_measures_at(const struct lg_cli_measures *m, const char *form, int i);

/* Points of a figure. Starts from {0}. */
struct lg_cli_curves {
    struct lg_cli_point *points;
    int count, room, lost;
};
/* of: whose curve it is, "" if there is only one; the cell and the name live until the drawing. A NaN is not
 * drawn; low and high may be NaN. */
void lg_cli_curves_add(struct lg_cli_curves *c, const char *of, const lg_cell *cell,
                       const lg_kind *kind, double value, double low, double high);
/* The values of a cell that were asked for. */
void lg_cli_curves_add_cell(struct lg_cli_curves *c, const char *of, const lg_cell *cell,
                            const struct lg_cli_measures *m);
/* Draws them by length or, of the greatest length, by position: into a file (NULL: none) and with letters set
 * on stdout. `joined` comes behind the measure's name: ", median of the seeds", or "". Then they are cleared.
 * An exit code. */
int lg_cli_curves_draw(struct lg_cli_curves *c, const char *title, const char *joined,
                       const char *command, const char *file, int letters);

#endif
