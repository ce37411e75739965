/* note.c: writes and reads the note of a checkpoint. */
#include "runs/note.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { NUMBER = 64 }; /* letters of a number, with the 0 */

void lg__note_put_int(lg_buffer *note, const char *key, int64_t value)
{
    lg_buffer_print(note, "%s %lld\n", key, (long long)value);
}

void lg__note_put_real(lg_buffer *note, const char *key, double value)
{
    lg_buffer_print(note, "%s %a\n", key, value);
}

void lg__note_put_text(lg_buffer *note, const char *key, const char *value)
{
    lg_buffer_print(note, "%s %s\n", key, value);
}

/* The value of the first line with this key from `note` on, and its length; NULL: there is none. */
static const char *find(const char *note, const char *key, size_t *length)
{
    size_t n = strlen(key);
    while (*note) {
        size_t line = strcspn(note, "\n");
        if (line > n && note[n] == ' ' && strncmp(note, key, n) == 0) {
            *length = line - n - 1;
            return note + n + 1;
        }
        note += line + (note[line] == '\n');
    }
    return NULL;
}

int lg__note_has(const char *note, const char *key)
{
    size_t n;
    return find(note, key, &n) != NULL;
}

int lg__note_text(const char *note, const char *key, char *value, size_t size, lg_error *err)
{
    size_t n, again;
    const char *at = find(note, key, &n);
    if (!at)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint's note has no \"%s\"; was it saved by another program? "
                        "Train anew",
                        key);
    if (find(at + n, key, &again))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint's note has \"%s\" twice; was it edited? Train anew", key);
    if (n >= size)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint's note has \"%s %.*s\", %zu letters, but %zu are the most; "
                        "was it edited? Train anew",
                        key, n < 40 ? (int)n : 40, at, n, size - 1);
    memcpy(value, at, n);
    value[n] = 0;
    return 0;
}

static int no_number(const char *key, const char *text, const char *must, lg_error *err)
{
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "the checkpoint's note has \"%s %s\", which is no %s; was it edited? Train anew", key, text,
        must);
}

int lg__note_int(const char *note, const char *key, int64_t least, int64_t most, int64_t *value,
                 lg_error *err)
{
    char text[NUMBER], *end;
    int e = lg__note_text(note, key, text, sizeof text, err);
    if (e) return e;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno || strchr(" \t+", *text))
        return no_number(key, text, "whole number", err);
    if (n < least || n > most)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint's note has \"%s %lld\", which is not in %lld..%lld; was it "
                        "edited? Train anew",
                        key, n, (long long)least, (long long)most);
    *value = n;
    return 0;
}

int lg__note_real(const char *note, const char *key, double *value, lg_error *err)
{
    char text[NUMBER], *end;
    int e = lg__note_text(note, key, text, sizeof text, err);
    if (e) return e;
    *value = strtod(text, &end);
    return end == text || *end ? no_number(key, text, "number", err) : 0;
}
