/* show.h: examples for the eye, and strings as JSON; shared by `sample` and `tasks`. */
#ifndef LG_CLI_SHOW_H
#define LG_CLI_SHOW_H

#include <stdio.h>

#include "lengthen_lab.h"

/* Makes examples, their IDs and what is to be predicted. Set task, scheme, train and draw, then
 * call ready; next makes the example of draw.index and counts it up. */
struct lg_cli_sampler {
    lg_task *task;
    lg_scheme scheme;
    int train; /* 1: IDs as in training; 0: as in evaluation */
    lg_draw draw;
    lg_model_config config; /* what the scheme makes of it: levels, classes, pointers */
    lg_example x;
    int32_t *ids[LG_LEVELS];
    int room;       /* of ids */
    lg_batch batch; /* what the ID heads are to predict; unused where the source is given */
};

/* "coupled" for a task with labels, else "plain". */
const char *lg_cli_own_ids(const lg_task *t);
/* A length that shows the format; own data: all that there are. */
void lg_cli_short_length(const lg_task *t, int *lo, int *hi);

int lg_cli_sampler_ready(struct lg_cli_sampler *s, lg_error *err);
int lg_cli_sampler_next(struct lg_cli_sampler *s, lg_error *err);
void lg_cli_sampler_clear(struct lg_cli_sampler *s); /* not the task */

/* How wide a line may be, and whether colours are wanted. */
struct lg_cli_look {
    int width, colour;
};
struct lg_cli_look lg_cli_look_stdout(void); /* the terminal's, COLUMNS, NO_COLOR */
struct lg_cli_look lg_cli_look_plain(void);  /* 80 columns, no colour */

/* A heading and rows of tokens, IDs, targets and losses, one column a token, folded at the width;
 * what was made by the last next. */
void lg_cli_show(const struct lg_cli_sampler *s, struct lg_cli_look look);

/* Whether the locale's letters are UTF-8. */
int lg_cli_utf8(void);
/* Prints a figure in letters, as wide as the terminal. */
void lg_cli_figure(const lg_figure *f);

/* Prints text of one or more lines; its last one is ended if it is not. */
void lg_cli_text(const char *text);
/* A field of CSV, in quotes, those inside doubled. */
void lg_cli_csv(const char *text);
/* A string with its quotes; a byte that is not UTF-8, which JSON cannot hold, is U+FFFD. */
void lg_cli_json_text(FILE *to, const char *text, size_t n);
/* The same up to its 0; NULL is null. */
void lg_cli_json(FILE *to, const char *text);
/* ,"folder":"runs/a" on stdout, for whoever reads objects of several runs; NULL: nothing. */
void lg_cli_json_folder(const char *folder);

#endif
