/* error.h: one sentence into the caller's lg_error. */
#ifndef LG_BASE_ERROR_H
#define LG_BASE_ERROR_H

#include "lengthen.h"

/* Writes code and the formatted sentence into *err (which may be NULL); returns code. */
int lg__fail(lg_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
