/* eval_text.h: what `lengthen eval` shows of a run of texts: its loss by position. */
#ifndef LG_CLI_EVAL_TEXT_H
#define LG_CLI_EVAL_TEXT_H

#include "cli/cells.h"

struct lg_cli_text_eval {
    lg_text_eval_options o; /* but for told and of */
    enum lg_cli_form form;
    const char *plot;  /* a file, "-" for letters, or NULL */
    const char *title; /* of the figure, or NULL */
};
/* An exit code. */
int lg_cli_eval_text(struct lg_cli_text_eval *q);

#endif
