/* gnuplot.h: pictures by gnuplot: scripts, and files that are there whole or not at all. */
#ifndef LG_REPORT_GNUPLOT_H
#define LG_REPORT_GNUPLOT_H

#include <stdio.h>

#include "lengthen_report.h"

enum lg__picture { LG__SVG, LG__PNG, LG__PDF };

/* Writes the script of a picture. */
typedef void lg__script(FILE *s, enum lg__picture kind, const void *context);

/* Whether a curve of answers is below 99% at the longest length of training that it has: it was not learned, and
 * what it does beyond says nothing of its positions. What is put behind its name then. */
int lg__unlearned(const lg_figure *f, int curve);
#define LG__NOT_LEARNED " (not learned)"

/* Draws beside the file and, to keep it, puts it in its place; keep 0: only whether it could be. */
int lg__gnuplot(const char *file, int keep, lg__script *script, const void *context, lg_error *err);

/* Parts of scripts. The terminal of a picture of so many pixels; a text of one line, of at most so many
 * characters, in quotes; a number as people write it: 20, 500,000, 2×10⁷; how many characters a text has. */
void lg__plot_terminal(FILE *s, enum lg__picture kind, int width, int height);
void lg__plot_quote(FILE *s, const char *text, int most);
void lg__plot_number(char *text, size_t size, double x);
int lg__plot_length(const char *text);
enum { LG__PLOT_WIDE = 760, LG__PLOT_HIGH = 420, LG__PLOT_NAME = 90 };
/* Writes a caption at the foot of a picture so high, and puts the plot above it; s NULL: nothing. Returns its
 * height. */
int lg__plot_caption(FILE *s, const char *text, int high);

#endif
