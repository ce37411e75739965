/* error.c: one sentence into the caller's lg_error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MARKED = sizeof((lg_error *)0)->text + 4 * LG_ERROR_NAMES };

char *lg_plain(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f) *c = '?';
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?'; /* C1, as UTF-8 */
    }
    return text;
}

/* ---- Sentences ---------------------------------------------------------------------------- */

/* Of a new error nothing is known but its code. */
static void start(lg_error *err, int code)
{
    err->code = code;
    err->key[0] = err->file[0] = 0;
    err->line = err->set = err->begin = err->names = 0;
}

/* Sentences quote names, files and rows, which may hold anything. */
int lg__fail(lg_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        start(err, code);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        lg_plain(err->text);
    }
    return code;
}

/* The format with its braces as the letters open and close. */
static void mark(char to[MARKED], const char *format, char open, char close)
{
    size_t n = 0;
    for (; format[n] && n + 1 < MARKED; n++)
        to[n] = format[n] == '{' ? open : format[n] == '}' ? close : format[n];
    to[n] = 0;
}

/* The sentence without its marks, and where the names between them are. It was written twice, with different
 * marks: where the texts differ is a mark, whatever is quoted in them. */
static void take_names(lg_error *err, const char *one, const char *other)
{
    size_t n = 0;
    int from = -1;
    for (; *one && n + 1 < sizeof err->text; one++, other++) {
        if (*one == *other) {
            err->text[n++] = *one;
        } else if (from < 0) {
            from = (int)n;
        } else {
            if (err->names < LG_ERROR_NAMES) {
                err->name[err->names].at = from;
                err->name[err->names++].size = (int)n - from;
            }
            from = -1;
        }
    }
    err->text[n] = 0;
}

int lg__fail_key(lg_error *err, int code, const char *key, const char *format, ...)
{
    char marked[MARKED], one[MARKED], other[MARKED];
    if (!err) return code;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    start(err, code);
    lg__error_key(err, key);
    mark(marked, format, 1, 1);
    vsnprintf(one, sizeof one, marked, args);
    mark(marked, format, 2, 2);
    vsnprintf(other, sizeof other, marked, again);
    va_end(again);
    va_end(args);
    take_names(err, one, other);
    lg_plain(err->text);
    return code;
}

/* ---- What is known of it ------------------------------------------------------------------- */

void lg__error_key(lg_error *err, const char *key)
{
    if (err) snprintf(err->key, sizeof err->key, "%s", key);
}

/* n letters of the text from `at` on become `words`; names behind them move along. What does not fit any longer
 * is cut off at the end. */
static void put(lg_error *err, int at, int n, const char *words)
{
    char rest[sizeof err->text];
    int size = (int)sizeof err->text, long_by = (int)strlen(words) - n;
    snprintf(rest, sizeof rest, "%s", err->text + at + n);
    snprintf(err->text + at, sizeof err->text - (size_t)at, "%s%s", words, rest);
    int kept = 0;
    for (int i = 0; i < err->names; i++) {
        if (err->name[i].at >= at + n) err->name[i].at += long_by;
        if (err->name[i].at + err->name[i].size < size) err->name[kept++] = err->name[i];
    }
    err->names = kept;
}

void lg__error_rename(lg_error *err, const char *(*name_of)(const char *name))
{
    if (!err) return;
    const char *key = name_of(err->key);
    if (key) lg__error_key(err, key);
    for (int i = 0; i < err->names; i++) {
        int at = err->name[i].at, n = err->name[i].size;
        char name[sizeof err->key];
        snprintf(name, sizeof name, "%.*s", n, err->text + at);
        const char *to = name_of(name);
        if (!to || (size_t)at + strlen(to) >= sizeof err->text) continue;
        err->name[i].size = (int)strlen(to);
        put(err, at, n, to);
    }
}

static void set_place(lg_error *err, const char *words)
{
    put(err, 0, err->begin, words);
    lg_plain(err->text);
    err->begin = (int)strlen(words);
}

void lg__error_place(lg_error *err, const char *file, int line)
{
    char words[280] = "";
    if (!err) return;
    if (file && line) snprintf(words, sizeof words, "%.240s:%d: ", file, line);
    if (file && !line) snprintf(words, sizeof words, "%.240s: ", file);
    set_place(err, words);
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    err->line = file ? line : 0;
    err->set = 0;
}

void lg__error_set(lg_error *err, int set, const char *text)
{
    char words[200];
    if (!err) return;
    snprintf(words, sizeof words, "--set %.160s: ", text);
    lg__error_place(err, NULL, 0);
    set_place(err, words);
    err->set = set;
}

void lg__error_before(lg_error *err, const char *format, ...)
{
    char words[300];
    va_list args;
    if (!err) return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    put(err, 0, 0, words);
    lg_plain(err->text);
    err->begin += (int)strlen(words);
}
