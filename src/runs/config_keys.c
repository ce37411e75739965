/* config_keys.c: the table of a run config's keys (config_keys.def), and the key that is meant. */
#include "runs/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

/* ---- Names that other tables hold -------------------------------------------------------- */

static const char *ids_name(int i) { return i < lg_ids_count() ? lg_ids_info_at(i).name : NULL; }

static const char *encoding_name(int i)
{
    return i < lg_encoding_count() ? lg_encoding_info_at(i).name : NULL;
}

/* The rule of the task, then the heads that predict. */
static const char *source_name(int i)
{
    if (i == 0) return "given";
    return i <= lg_id_head_count() ? lg_id_head_info_at(i - 1).name : NULL;
}

/* ---- The table ---------------------------------------------------------------------------- */

#define KEY(kind, key, range, fallback, field, doc)                                                \
    {                                                                                              \
        key, range, fallback, doc, LG__KEY_##kind, offsetof(struct lg__config, field), #field,     \
            NULL                                                                                   \
    }
#define NAME(kind, key, names, fallback, field, doc)                                               \
    {                                                                                              \
        key, "NAME", fallback, doc, LG__KEY_##kind, offsetof(struct lg__config, field), #field,    \
            names                                                                                  \
    }
#define INT(...) KEY(INT, __VA_ARGS__)
#define REAL(...) KEY(REAL, __VA_ARGS__)
#define WORD(...) KEY(WORD, __VA_ARGS__)

static const struct lg__config_key keys[] = {
#include "runs/config_keys.def"
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)LG__CONFIG_ROWS, "a config has a line for each key");

const struct lg__config_key *lg__config_keys(int *count)
{
    if (count) *count = KEYS;
    return keys;
}

const struct lg__config_key *lg__config_find(const char *key)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].key, key) == 0) return &keys[i];
    return NULL;
}

const char *lg__config_key_of(const char *name)
{
    for (int i = 0; i < KEYS; i++) {
        const char *dot = strchr(keys[i].field, '.');
        if (dot && strcmp(dot + 1, name) == 0) return keys[i].key;
    }
    return NULL;
}

int lg__config_section(const char *key)
{
    size_t n = strlen(key);
    for (int i = 0; n && i < KEYS; i++)
        if (strncmp(keys[i].key, key, n) == 0 && keys[i].key[n] == '.') return 1;
    return 0;
}

/* ---- Suggestions -------------------------------------------------------------------------- */

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static int task_setting(const char *name)
{
    for (int i = 0; i < lg_task_count(); i++)
        for (const lg_setting *s = lg_task_info_at(i)->settings; s && s->name; s++)
            if (strcmp(s->name, name) == 0) return 1;
    return 0;
}

/* The key that ends in this word, the one in the fewest maps; or NULL. */
static const char *ending_in(const char *last)
{
    const char *found = NULL;
    int least = 0;
    for (int i = 0; i < KEYS; i++) {
        int dots = 0;
        for (const char *s = keys[i].key; *s; s++) dots += *s == '.';
        if (strcmp(last_part(keys[i].key), last) != 0 || (found && dots >= least)) continue;
        found = keys[i].key;
        least = dots;
    }
    return found;
}

/* The key, or the map of keys, of as many parts as this one has that is nearest; or NULL. */
static const char *nearest_of_parts(const char *key)
{
    static _Thread_local char cut[KEYS][64];
    const char *names[KEYS];
    int parts = 1;
    for (const char *s = key; *s; s++) parts += *s == '.';
    for (int i = 0; i < KEYS; i++) {
        size_t n = 0;
        for (int k = 0; k < parts && (!k || keys[i].key[n]); k++)
            n += (k > 0) + strcspn(keys[i].key + n + (k > 0), ".");
        snprintf(cut[i], sizeof cut[i], "%.*s", (int)n, keys[i].key);
        names[i] = cut[i];
    }
    int near = lg_nearest(key, names, KEYS);
    return near < 0 ? NULL : cut[near];
}

/* A right word in the wrong map is likelier than a slip in the whole key. */
const char *lg_config_nearest(const char *key)
{
    static _Thread_local char setting[80];
    const char *names[KEYS], *last = last_part(key), *found = ending_in(last);
    if (found) return found;
    if (strncmp(key, "task.", 5) != 0 && strlen(last) < 64 && task_setting(last)) {
        snprintf(setting, sizeof setting, "task.%s", last);
        return setting;
    }
    if ((found = nearest_of_parts(key)) || strlen(last) < 4) return found;
    for (int i = 0; i < KEYS; i++) names[i] = last_part(keys[i].key);
    int near = lg_nearest(last, names, KEYS);
    return near < 0 ? NULL : keys[near].key;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

const char *lg__config_range(const struct lg__config_key *k, char *text, size_t size)
{
    if (!k->name) {
        snprintf(text, size, "%s", k->range);
        return text;
    }
    *text = 0;
    for (int i = 0; k->name(i); i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? "|" : "", k->name(i));
    }
    return text;
}

/* strtod would read "1..2" as 1. and .2, so the number before the dots is cut out first. */
int lg__config_bounds(const char *range, int i, double *least, double *most)
{
    const char *dots = range;
    for (;; dots += 2, i--) {
        dots = strstr(dots, "..");
        if (!dots) return 0;
        if (i == 0) break;
    }
    const char *from = dots;
    char low[32], *end;
    while (from > range && !strchr("[|, ", from[-1])) from--;
    size_t n = (size_t)(dots - from);
    if (!n || n >= sizeof low) return 0;
    memcpy(low, from, n);
    low[n] = 0;
    *least = strtod(low, &end);
    if (*end) return 0;
    *most = strtod(dots + 2, &end);
    return end != dots + 2;
}
