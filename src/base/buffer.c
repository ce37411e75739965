/* buffer.c: text that grows, and is there whole or not at all. The memory streams of POSIX are no
 * choice: where their memory cannot grow they drop bytes, and fclose says nothing of it. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"

enum { LEAST_ROOM = 64 };

static void lose(lg_buffer *b)
{
    lg_buffer_clear(b);
    b->lost = 1;
}

/* Room for n more bytes and the 0; 0: the buffer is lost. */
static int reserve(lg_buffer *b, size_t n)
{
    struct lg__block block = {b->data, b->room};
    if (b->lost) return 0;
    if (n < b->room - b->size) return 1;
    size_t room = b->room ? b->room : LEAST_ROOM;
    while (room - b->size <= n && room <= SIZE_MAX / 2) room *= 2;
    if (room - b->size <= n || lg__block_grow(&block, room, 1, "a text", NULL)) {
        lose(b);
        return 0;
    }
    b->data = block.data;
    b->room = block.size;
    return 1;
}

void lg_buffer_add(lg_buffer *b, const void *bytes, size_t n)
{
    if (!reserve(b, n)) return;
    if (n) memcpy(b->data + b->size, bytes, n);
    b->size += n;
    b->data[b->size] = '\0';
}

void lg_buffer_put(lg_buffer *b, const char *text) { lg_buffer_add(b, text, strlen(text)); }

void lg_buffer_print(lg_buffer *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = reserve(b, 0) ? vsnprintf(b->data + b->size, b->room - b->size, format, args) : 0;
    if (n < 0)
        lose(b);
    else if ((size_t)n >= b->room - b->size && reserve(b, (size_t)n))
        vsnprintf(b->data + b->size, b->room - b->size, format, again);
    if (!b->lost) b->size += (size_t)n;
    va_end(again);
    va_end(args);
}

/* A text of no bytes is one, too. */
static int complete(lg_buffer *b, lg_error *err)
{
    lg_buffer_put(b, "");
    if (!b->lost) return 0;
    lg_buffer_clear(b);
    return lg__fail(err, LG_ERROR_MEMORY,
                    "no memory for a text; end other programs, or give the process more memory");
}

char *lg_buffer_take(lg_buffer *b, lg_error *err)
{
    if (complete(b, err)) return NULL;
    char *text = b->data;
    *b = (lg_buffer){0};
    return text;
}

int lg_buffer_save(lg_buffer *b, const char *path, lg_error *err)
{
    struct lg__part part = {0};
    int e = complete(b, err);
    if (!e) e = lg__part_open(&part, path, err);
    if (!e) {
        fwrite(b->data, 1, b->size, part.file); /* keep sees whether that went well */
        e = lg__part_keep(&part, err);
    }
    lg_buffer_clear(b);
    return e;
}

void lg_buffer_clear(lg_buffer *b)
{
    struct lg__block block = {b->data, b->room};
    lg__block_free(&block);
    *b = (lg_buffer){0};
}
