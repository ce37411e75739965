/* error.h: one sentence into the caller's lg_error, and what programs want to know of it: which setting is at
 * fault, and where it was said. Whoever passes an error on, and knows more of that, says it here; the sentence is
 * never searched. err may be NULL in all calls. */
#ifndef LG_BASE_ERROR_H
#define LG_BASE_ERROR_H

#include "lengthen.h"

/* Writes code and the formatted sentence into *err; returns code. */
int lg__fail(lg_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same where the setting `key` is at fault. Names of settings stand in braces, "{max_id} is %d; set {max_id}
 * to ..": who knows them by other names can put these there. The text has no braces. */
int lg__fail_key(lg_error *err, int code, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The key and the names in the sentence as the layer that passes it on calls them; NULL: it has no other name. */
void lg__error_rename(lg_error *err, const char *(*name_of)(const char *name));
void lg__error_key(lg_error *err, const char *key);

/* Where it was said, before the sentence and in the place of what stood there: "FILE:LINE: ", with line 0 "FILE: ",
 * with file NULL nothing. */
void lg__error_place(lg_error *err, const char *file, int line);
/* The same: it was the set-th (from 1) of the caller's settings, "--set KEY=VALUE: ". */
void lg__error_set(lg_error *err, int set, const char *text);
/* Words before everything, "run a: "; they belong to the place. */
void lg__error_before(lg_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
