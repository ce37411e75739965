/* show.h: examples for the eye, and strings as JSON; shared by `sample` and `tasks`. */
#ifndef LG_CLI_SHOW_H
#define LG_CLI_SHOW_H

#include <stdio.h>

#include "lengthen_lab.h"

/* How wide a line may be, and whether colours are wanted. */
struct lg_cli_look {
    int width, colour;
};
struct lg_cli_look lg_cli_look_stdout(void); /* the terminal's, COLUMNS, NO_COLOR */
struct lg_cli_look lg_cli_look_plain(void);  /* 80 columns, no colour */

/* A heading and rows of tokens, IDs, targets and losses, one column a token, folded at the width;
 * what was made by the last next. */
void lg_cli_show(const lg_sampler *s, struct lg_cli_look look);

/* Whether the locale's letters are UTF-8. */
int lg_cli_utf8(void);
/* Prints a figure in letters, as wide as the terminal. */
void lg_cli_figure(const lg_figure *f);
/* The figure with the curves of the series, which is cleared: in letters, and into a file (NULL: none), which is
 * reported. An exit code. */
int lg_cli_series(lg_series *s, lg_figure *f, const char *command, const char *file, int letters);
/* The option --size WxH of the commands that draw a series with --plot. */
int lg_cli_read_size(void *to, const char *text);
#define LG_CLI_SIZE                                                                                \
    {                                                                                              \
        "size", .read = lg_cli_read_size, .take = "WIDTHxHEIGHT in pixels, 200 to 8000 each"       \
    }

/* Prints text of one or more lines; its last one is ended if it is not. */
void lg_cli_text(const char *text);
/* A field of CSV, in quotes, those inside doubled. */
void lg_cli_csv(const char *text);
/* A string with its quotes; a byte that is not UTF-8, which JSON cannot hold, is U+FFFD. */
void lg_cli_json_text(FILE *to, const char *text, size_t n);
/* The same up to its 0; NULL is null. */
void lg_cli_json(FILE *to, const char *text);
/* ,"key":value on stdout: a text or null; a number, null if it is not finite; a mean with its interval
 * as key_low and key_high. */
void lg_cli_json_word(const char *key, const char *value);
void lg_cli_json_number(const char *key, double value);
void lg_cli_json_mean(const char *key, const lg_text_mean *m);
/* ,"folder":"runs/a" on stdout, for whoever reads objects of several runs; NULL: nothing. */
void lg_cli_json_folder(const char *folder);

#endif
