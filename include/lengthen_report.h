/* lengthen_report.h: figures, with gnuplot or in letters; and the folders of a probe and
 * of the theory.
 *
 *     lg_figure f = {.title = "parity", .curves = curves, .count = 2};
 *     if (lg_figure_write(&f, "parity.svg", &err)) puts(err.text); */
#ifndef LENGTHEN_REPORT_H
#define LENGTHEN_REPORT_H

#include "lengthen_measure.h"
#include "lengthen_theory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Figures -------------------------------------------------------------------------------- */

typedef struct lg_curve {
    const char *name;
    int n;
    const double *x, *y;      /* y is a share, 0 to 1; with log_y a number above 0, with y_low
                                 and y_high any */
    const double *low, *high; /* a band around y; NULL: none */
} lg_curve;

typedef struct lg_figure {
    const char *title, *x_label, *y_label;
    const lg_curve *curves;
    int count;
    double trained_low, trained_high; /* of x, shaded; both 0: not shown */
    const char *caption;              /* a sentence or two below it; NULL: none */
    int log_y;                        /* 1: the y axis is logarithmic, from decade to decade */
    double y_low, y_high;             /* else: of the y axis; both 0: it has percent, 0 to 100 */
    int answers; /* 1: x is a length and y a share of right answers: a line below 99% at the longest
                          training length that it has is marked as not learned */
    const char *
        outside; /* [count] 1: not marked: its examples are such as training never shows; NULL: none */
    int width, height; /* pixels; 0: as usual */
} lg_figure;

/* "length (bits)" for the unit of a task; "length" where that says nothing more. */
const char *lg_length_label(const char *unit, char *label, size_t size);

/* Points, gathered into the curves of a figure: one for each name, in the order in which the names came first;
 * the points of a curve in the order in which they came. Starts as {0}; where memory runs out, put says so. */
typedef struct lg_series {
    lg_curve *curves;
    int count;
    int *rooms, lost; /* its own */
} lg_series;
/* low and high: the ends of the band around y; NaN: there is none. */
void lg_series_add(lg_series *s, const char *name, double x, double y, double low, double high);
/* Gives the figure its curves, which live as long as the series does and take no more points. */
int lg_series_put(lg_series *s, lg_figure *f, lg_error *err);
/* A y axis around all numbers of the series, in halves, in tenths where that is much: for losses. */
void lg_series_axis(const lg_series *s, lg_figure *f);
void lg_series_clear(lg_series *s);

/* Whether such a figure could be written (its ending is .svg or .png, gnuplot is installed, the
 * folder can be written to): to be asked before long work. */
int lg_figure_check(const char *file, lg_error *err);
/* Draws with gnuplot. The x axis is logarithmic where x spans a decade or more. */
int lg_figure_write(const lg_figure *f, const char *file, lg_error *err);
/* A share for each pair of numbers, as a table of coloured cells with the percent in them: for what would be many
 * crossing lines. */
typedef struct lg_heatmap {
    const char *title, *x_label, *y_label, *caption; /* caption: or NULL */
    int n;
    const double *x, *y, *value; /* [n] no pair twice; values from 0 to 1 */
    double trained_x[2],
        trained_y[2];  /* cells within both ranges are framed: training shows them */
    int width, height; /* pixels; 0: as usual */
} lg_heatmap;
int lg_heatmap_write(const lg_heatmap *m, const char *file, lg_error *err);

/* The figure in letters, for a terminal: at most width columns and height lines; ascii 1: ASCII
 * letters alone; colour 1: with colours. To be freed; NULL: no memory. */
char *lg_figure_text(const lg_figure *f, int width, int height, int colour, int ascii);

/* ---- The folder of a probe ------------------------------------------------------------------- */

/* What lg_run_probe finds, in files: predictions.csv, kstar.svg, excess.svg, position.svg, and the first
 * passage as passage.html, which shows where each prediction comes from. Those of an earlier probe are
 * replaced when all is done. */
typedef struct lg_probe_files lg_probe_files;
/* Makes the folder, and locks it: one probe at a time writes there. title: the run's name; against: that
 * of the run it is compared with, or NULL. */
lg_probe_files *lg_probe_files_new(const char *folder, const char *title, const char *against,
                                   lg_error *err);
/* For lg_run_probe_options.begun. */
const char *lg_probe_files_begun(const lg_probe_files *f);
/* What lg_run_probe reports to its callbacks. */
void lg_probe_files_passage(lg_probe_files *f, const lg_probe_passage *p);
void lg_probe_files_row(lg_probe_files *f, const lg_probe_row *r);
/* After a probe that was not stopped. verdict: of lg_probe_verdict. Without gnuplot there are no figures:
 * *warning, which may be NULL, says so. */
int lg_probe_files_finish(lg_probe_files *f, const lg_probe_summary *s, const char *verdict,
                          lg_error *warning, lg_error *err);
/* Without a finish an earlier probe's files stay. NULL is accepted. */
void lg_probe_files_free(lg_probe_files *f);

/* ---- The folder of the theory ---------------------------------------------------------------- */

/* What lg_theory_fit, _sweep or _check found, in files: rows.csv and errors.svg, or of a check
 * findings.csv and check.svg; and run.json, what made them. */
typedef struct lg_theory_files {
    const char *folder, *title; /* title: of the figure; NULL: the ensemble */
    const char *command, *isa;  /* for run.json: as it was given; lg_isa() */
    double seconds;             /* that it took */
    const lg_theory_options *o;
    const lg_theory_row *rows; /* [count]; NULL: of a check */
    int count;
    const lg_theory_cell *cells; /* [cell_count] of these rows */
    int cell_count;
    const lg_theory_finding *findings; /* [finding_count] of a check */
    int finding_count;
} lg_theory_files;
/* Makes the folder: before long work. */
int lg_theory_files_open(const char *folder, lg_error *err);
/* Without gnuplot there is no figure: *warning, which may be NULL, says so. */
int lg_theory_files_write(const lg_theory_files *f, lg_error *warning, lg_error *err);

/* The points of a bridge over k as one figure. title NULL: one of its own. */
int lg_theory_bridge_draw(const lg_theory_bridge *b, const char *title, const char *file,
                          lg_error *err);

/* ---- Event files of TensorBoard ------------------------------------------------------------------ */

/* Scalars as TensorBoard reads them: FOLDER/events.out.tfevents.TIME.HOST.PID, records with their CRC32C. */
typedef struct lg_events lg_events;
/* Makes the folder and a new file in it. NULL: err. */
lg_events *lg_events_open(const char *folder, lg_error *err);
/* train/loss, train/accuracy, train/lr, .. of a step. */
int lg_events_step(lg_events *e, const lg_run_step *s, lg_error *err);
/* What was measured on the way, as eval/KIND/PLACE at the cell's step. */
int lg_events_cell(lg_events *e, const lg_cell *c, lg_error *err);
/* Writes what is left; NULL is accepted. */
int lg_events_close(lg_events *e, lg_error *err);

/* ---- Config pages ------------------------------------------------------------------------------ */

/* docs/CONFIG.md, and the same as plain text; to be freed; NULL: no memory. */
char *lg_config_page(void);
char *lg_config_help(void);
/* Only what `which` names: a key ("train.lr"), or a map of keys ("train", "positions.rope"); NULL: all.
 * As lg_config_help has them, or as one JSON object per line. *text is to be freed. */
int lg_config_describe(const char *which, int json, char **text, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
