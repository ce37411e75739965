/* error.c: one sentence into the caller's lg_error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int lg__fail(lg_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return code;
}
