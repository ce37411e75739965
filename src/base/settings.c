/* settings.c: one reader for all settings; the row's range says what a value may be. */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum { MOST_LETTERS = 63 };

int lg__settings_count(const lg_setting *rows)
{
    int n = 0;
    while (rows && rows[n].name) n++;
    return n;
}

/* Letters to add, drop or change to get from a to b; 99 if a word is too long. */
static int distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > MOST_LETTERS || nb > MOST_LETTERS) return 99;
    int row[MOST_LETTERS + 1];
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int drop = row[j] + 1, add = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < drop ? change : drop;
            row[j] = row[j] < add ? row[j] : add;
        }
    }
    return row[nb];
}

/* Whether the letters of the word are among those of the other, in their order: "ls" of "list". */
static int is_short_for(const char *word, const char *other)
{
    for (; *word && other; word++) {
        other = strchr(other, *word);
        if (other) other++;
    }
    return other != NULL;
}

int lg_nearest(const char *word, const char *const *words, int n)
{
    int best = -1, least = 4;
    for (int i = 0; i < n; i++) {
        int d = distance(word, words[i]);
        int near =
            2 * (size_t)d <= strlen(word) || is_short_for(word, words[i]); /* half is right */
        if (d < least && near && (size_t)d < strlen(words[i])) {
            least = d;
            best = i;
        }
    }
    return best;
}

const char *lg__either(char *text, size_t size, const char *const *words, int n)
{
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 !i          ? ""
                                 : i < n - 1 ? ", "
                                             : " or ",
                                 words[i]);
    return text;
}

/* Whether the range is "number..number". */
static int bounds(const char *range, int64_t *least, int64_t *most)
{
    char *end;
    *least = strtoll(range, &end, 10);
    if (end == range || strncmp(end, "..", 2) != 0) return 0;
    *most = strtoll(end + 2, &end, 10);
    return *end == 0;
}

/* The place of the value among "a|b|c", or -1. */
static int place(const char *range, const char *value)
{
    size_t n = strlen(value);
    for (int i = 0;; i++) {
        size_t length = strcspn(range, "|");
        if (length == n && strncmp(range, value, n) == 0) return i;
        if (!range[length]) return -1;
        range += length + 1;
    }
}

static int read_value(struct lg__value *v, const lg_setting *row, const char *text, const char *who,
                      lg_error *err)
{
    int64_t least, most;
    *v = (struct lg__value){0, text};
    if (bounds(row->range, &least, &most)) {
        char *end;
        errno = 0;
        v->i = strtoll(text, &end, 10);
        if (end == text || *end || errno || v->i < least || v->i > most)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s: %s is \"%s\"; it must be a whole number in %s (%s)", who,
                            row->name, text, row->range, row->doc);
        return 0;
    }
    if (!strchr(row->range, '|')) return 0;
    v->i = place(row->range, text);
    if (v->i >= 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s: %s is \"%s\"; it must be one of %s (%s)", who,
                    row->name, text, row->range, row->doc);
}

static int unknown(const lg_setting *rows, int n, const char *key, const char *who, lg_error *err)
{
    const char *names[64] = {0};
    char list[256] = "";
    for (int i = 0; i < n && i < 64; i++) {
        names[i] = rows[i].name;
        if (strlen(list) + strlen(names[i]) + 3 > sizeof list) continue;
        if (*list) strcat(list, ", ");
        strcat(list, names[i]);
    }
    int near = lg_nearest(key, names, n < 64 ? n : 64);
    if (!n)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s has no settings, so \"%s\" cannot be set", who,
                        key);
    if (near >= 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no setting \"%s\"; did you mean \"%s\"? It has: %s", who, key,
                        names[near], list);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s has no setting \"%s\"; it has: %s", who, key, list);
}

int lg__settings_read(struct lg__value *value, int room, const lg_setting *rows,
                      const char *const *settings, int count, const char *who, lg_error *err)
{
    int n = lg__settings_count(rows), e;
    if (n > room)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has %d settings, and there is room for %d; raise that where it is made",
                        who, n, room);
    for (int k = 0; k < n; k++)
        if ((e = read_value(&value[k], &rows[k], rows[k].fallback, who, err))) return e;
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(settings[i], '=');
        if (!equals || equals == settings[i])
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s: the setting \"%s\" is not written as key=value", who, settings[i]);
        size_t length = (size_t)(equals - settings[i]);
        int k = 0;
        while (k < n &&
               (strlen(rows[k].name) != length || strncmp(rows[k].name, settings[i], length) != 0))
            k++;
        if (k == n) {
            char key[64];
            size_t shown = length < sizeof key - 1 ? length : sizeof key - 1;
            memcpy(key, settings[i], shown);
            key[shown] = 0;
            return unknown(rows, n, key, who, err);
        }
        for (int j = 0; j < i; j++)
            if (strncmp(settings[j], settings[i], length + 1) == 0)
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "%s: %s is set twice, \"%s\" and \"%s\"; keep one", who,
                                rows[k].name, settings[j], settings[i]);
        if ((e = read_value(&value[k], &rows[k], equals + 1, who, err))) return e;
    }
    return 0;
}
