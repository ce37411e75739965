/* config_text.c: the resolved config as YAML, and the keys as help and as the page
 * docs/CONFIG.md. */
#include "runs/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lengthen_runs.h"

/* ---- The resolved config ------------------------------------------------------------------------------ */

/* The code point at *text, which moves on. The text is UTF-8: the reader saw to that. */
static unsigned next_point(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    int more = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 0;
    unsigned point = more ? *s & (0x3fu >> more) : *s;
    for (int i = 1; i <= more; i++) point = point << 6 | (s[i] & 0x3f);
    *text += more + 1;
    return point;
}

/* Quoted unless it is plainly one word: YAML has many characters that mean something. */
static void put_text(lg_buffer *to, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (*text && *text != '-' && *text != '.' && strspn(text, plain) == strlen(text)) {
        lg_buffer_put(to, text);
        return;
    }
    lg_buffer_put(to, "\"");
    while (*text) {
        const char *from = text;
        unsigned point = next_point(&text);
        if (point == '"' || point == '\\')
            lg_buffer_print(to, "\\%c", (char)point);
        else if (point < 0x20 || (point >= 0x7f && point < 0xc0) ||
                 (point >= 0x2000 && point < 0x2100) || point >= 0xd800)
            lg_buffer_print(to, "\\U%08X", point); /* breaks lines, or is not allowed as it is */
        else
            lg_buffer_add(to, from, (size_t)(text - from));
    }
    lg_buffer_put(to, "\"");
}

/* The shortest that reads back as the same number. */
static void put_real(lg_buffer *to, double value)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    lg_buffer_put(to, text);
}

static void put_word(lg_buffer *to, const struct lg__config_key *k, int i)
{
    const char *word = k->range;
    if (strncmp(word, "auto|", 5) == 0) word += 5;
    for (; i > 0; i--) word += strcspn(word, "|") + 1;
    lg_buffer_print(to, "%.*s", (int)strcspn(word, "|"), word);
}

static void put_list(lg_buffer *to, const int *at, int count)
{
    for (int i = 0; i < count; i++) lg_buffer_print(to, "%s%d", i ? ", " : "[", at[i]);
    lg_buffer_put(to, "]");
}

static void put_sources(lg_buffer *to, const struct lg__config *c)
{
    if (c->source_count) lg_buffer_put(to, "[");
    for (int l = 0; l < c->source_count || l == 0; l++)
        lg_buffer_print(to, "%s%s", l ? ", " : "", c->scheme.source[l]);
    if (c->source_count) lg_buffer_put(to, "]");
}

static void put_windows(lg_buffer *to, const struct lg__config *c)
{
    if (c->window_count) lg_buffer_put(to, "[");
    for (int l = 0; l < c->window_count || l == 0; l++)
        lg_buffer_print(to, "%s[%d, %d]", l ? ", " : "", c->model.window_lo[l],
                        c->model.window_hi[l]);
    if (c->window_count) lg_buffer_put(to, "]");
}

static void put_value(lg_buffer *to, const struct lg__config *c, const struct lg__config_key *k)
{
    const void *at = (const char *)c + k->at;
    const int *ints = at;
    const struct lg__config_list *list = at;
    switch (k->kind) {
    case LG__KEY_INT: lg_buffer_print(to, "%d", *ints); break;
    case LG__KEY_SEED: lg_buffer_print(to, "%lld", (long long)*(const int64_t *)at); break;
    case LG__KEY_REAL: put_real(to, *(const double *)at); break;
    case LG__KEY_WORD: put_word(to, k, *ints); break;
    case LG__KEY_NAME: put_text(to, *(const char *const *)at); break;
    case LG__KEY_TASK: put_text(to, c->task); break;
    case LG__KEY_TEXT: put_text(to, *(char *const *)at ? *(char *const *)at : ""); break;
    case LG__KEY_SOURCE: put_sources(to, c); break;
    case LG__KEY_WINDOW: put_windows(to, c); break;
    case LG__KEY_PAIR:
        if (ints[1])
            put_list(to, ints, 2);
        else
            lg_buffer_put(to, "auto");
        break;
    case LG__KEY_LIST:
        if (list->count)
            put_list(to, list->at, list->count);
        else
            lg_buffer_put(to, "auto");
        break;
    }
    lg_buffer_put(to, "\n");
}

/* The maps that `key` is in and `before` is not, and the last part of the key. */
static void put_name(lg_buffer *to, const char *key, const char *before)
{
    int depth = 0, same = 1;
    for (size_t n; key[n = strcspn(key, ".")]; key += n + 1, depth++) {
        same = same && strncmp(key, before, n + 1) == 0;
        if (!same) lg_buffer_print(to, "%*s%.*s:\n", 2 * depth, "", (int)n, key);
        if (same) before += n + 1;
    }
    lg_buffer_print(to, "%*s%s: ", 2 * depth, "", key);
}

static void put_settings(lg_buffer *to, const struct lg__config *c)
{
    for (int i = 0; i < c->setting_count; i++) {
        const char *equals = strchr(c->settings[i], '=');
        lg_buffer_print(to, "  %.*s: ", (int)(equals - c->settings[i]), c->settings[i]);
        put_text(to, equals + 1);
        lg_buffer_put(to, "\n");
    }
}

char *lg__config_text(const struct lg__config *c)
{
    lg_buffer b = {0};
    int count;
    const struct lg__config_key *k = lg__config_keys(&count);
    for (int i = 0; i < count; i++) {
        put_name(&b, k[i].key, i ? k[i - 1].key : "");
        put_value(&b, c, &k[i]);
        if (k[i].kind == LG__KEY_TASK) put_settings(&b, c);
    }
    return lg_buffer_take(&b, NULL);
}
