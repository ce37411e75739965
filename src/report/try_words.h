/* try_words.h: what a try found, in sentences; for lg_try. */
#ifndef LG_REPORT_TRY_WORDS_H
#define LG_REPORT_TRY_WORDS_H

#include "lengthen_study.h"

/* Sets the advice and the sparsity of a result that has all else. */
int lg__try_words(const lg_try_options *o, lg_try_result *r, lg_error *err);

#endif
