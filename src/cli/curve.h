/* curve.h: loss and accuracy as a small curve of letters, for a terminal. */
#ifndef LG_CLI_CURVE_H
#define LG_CLI_CURVE_H

#include <stdint.h>
#include <stdio.h>

/* Points so far; when there are too many, neighbours become one. Starts as {0}. */
enum { LG_CLI_POINTS = 256 };
struct lg_cli_curve {
    double loss[LG_CLI_POINTS], right[LG_CLI_POINTS]; /* means */
    int count;
    int64_t each, open; /* steps of a point; of the last one so far */
};
void lg_cli_curve_add(struct lg_cli_curve *c, double loss, double right);
/* The values as at most `width` columns, each a block as high as its value between the lowest and the highest; of a
 * loss (log 1) by its logarithm. text: room for 4 bytes a column and a 0. */
void lg_cli_curve_text(const double *v, int n, int log, int width, int utf8, char *text);
/* Two lines, "loss FIRST curve LAST" and "right ..", each no wider than `width`. */
void lg_cli_curve_print(const struct lg_cli_curve *c, int width, FILE *to);

#endif
