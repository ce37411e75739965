/* put.c: JSON into a buffer. */
#include <math.h>
#include <string.h>

#include "pages/pages.h"

static void separate(lg_buffer *b)
{
    if (!b->size) return;
    char last = b->data[b->size - 1];
    if (last != '{' && last != '[' && last != ':') lg_buffer_put(b, ",");
}

void lg__put_key(lg_buffer *b, const char *key)
{
    separate(b);
    if (!key) return;
    lg_buffer_json(b, key, strlen(key));
    lg_buffer_put(b, ":");
}

void lg__put_open(lg_buffer *b, const char *key, char bracket)
{
    lg__put_key(b, key);
    lg_buffer_add(b, &bracket, 1);
}

void lg__put_close(lg_buffer *b, char bracket) { lg_buffer_add(b, &bracket, 1); }

void lg__put_text(lg_buffer *b, const char *key, const char *value)
{
    lg__put_key(b, key);
    lg_buffer_json(b, value, value ? strlen(value) : 0);
}

void lg__put_int(lg_buffer *b, const char *key, int64_t value)
{
    lg__put_key(b, key);
    lg_buffer_print(b, "%lld", (long long)value);
}

void lg__put_real(lg_buffer *b, const char *key, double value)
{
    lg__put_key(b, key);
    if (isfinite(value))
        lg_buffer_print(b, "%.6g", value);
    else
        lg_buffer_put(b, "null");
}

void lg__put_json(lg_buffer *b, const char *key, const char *json)
{
    lg__put_key(b, key);
    lg_buffer_put(b, json && *json ? json : "null");
}

void lg__put_list(lg_buffer *b, const char *key, const lg_buffer *entries)
{
    lg__put_open(b, key, '[');
    lg_buffer_put(b, entries->data ? entries->data : "");
    lg__put_close(b, ']');
    b->lost |= entries->lost;
}
