/* generate_text.h: what `lengthen generate` shows of a run of texts. */
#ifndef LG_CLI_GENERATE_TEXT_H
#define LG_CLI_GENERATE_TEXT_H

#include "lengthen_lab.h"

/* Goes on with o->prompt; an exit code. */
int lg_cli_generate_text(const lg_generate_options *o, int json);

#endif
