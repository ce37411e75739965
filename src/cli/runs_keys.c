/* runs_keys.c: the keys of a resolved config, and their defaults. The text is YAML as the library
 * writes it: one key a line, maps by two blanks more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs.h"

enum { DEPTH = 8, NAME = 256 };

static int add(struct lg_cli_keys *k, const char *key, const char *value, size_t n, lg_error *err)
{
    if (k->count == k->room) {
        int room = k->room ? 2 * k->room : 64;
        struct lg_cli_key *more = realloc(k->at, (size_t)room * sizeof *more);
        if (!more) return lg_cli_no_memory(err);
        k->at = more;
        k->room = room;
    }
    struct lg_cli_key *row = &k->at[k->count++];
    row->key = strdup(key);
    row->value = strndup(value, n);
    return row->key && row->value ? 0 : lg_cli_no_memory(err);
}

/* The next line that is a key of at least this indentation; its parts, or 0 at the end. */
static int next_line(const char **text, int *indent, const char **key, int *key_length,
                     const char **value, size_t *value_length)
{
    while (**text) {
        const char *line = *text;
        size_t n = strcspn(line, "\n"), blanks = strspn(line, " ");
        *text = line + n + (line[n] == '\n');
        const char *colon = memchr(line, ':', n);
        if (!colon || line[blanks] == '#' || (size_t)(colon - line) <= blanks) continue;
        *indent = (int)blanks;
        *key = line + blanks;
        *key_length = (int)(colon - *key);
        *value = colon + 1 + (colon[1] == ' ');
        *value_length = (size_t)(line + n - *value);
        return 1;
    }
    return 0;
}

int lg_cli_keys_read(struct lg_cli_keys *k, const char *yaml, lg_error *err)
{
    size_t parent[DEPTH + 1] = {0}, value_length; /* letters of the path at each depth */
    char path[NAME] = "";
    const char *key, *value;
    int indent, key_length, e = 0;
    while (!e && next_line(&yaml, &indent, &key, &key_length, &value, &value_length)) {
        int depth = indent / 2 < DEPTH ? indent / 2 : DEPTH - 1;
        size_t used = parent[depth];
        int n = snprintf(path + used, sizeof path - used, "%.*s", key_length, key);
        if ((size_t)n + 2 >= sizeof path - used) continue; /* no key is that long */
        if (value_length) {
            e = add(k, path, value, value_length, err);
            continue;
        }
        path[used + (size_t)n] = '.';
        parent[depth + 1] = used + (size_t)n + 1;
    }
    return e;
}

void lg_cli_keys_free(struct lg_cli_keys *k)
{
    for (int i = 0; i < k->count; i++) {
        free(k->at[i].key);
        free(k->at[i].value);
    }
    free(k->at);
    *k = (struct lg_cli_keys){0};
}

const char *lg_cli_keys_get(const struct lg_cli_keys *k, const char *key)
{
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->at[i].key, key) == 0) return k->at[i].value;
    return NULL;
}

/* The page of the keys has each with its default as "  a.b: value". */
int lg_cli_keys_default(struct lg_cli_keys *k, const char *task, lg_error *err)
{
    char *page = lg_config_help(), name[NAME];
    const char *text = page, *key, *value;
    int indent, key_length, e = page ? 0 : lg_cli_no_memory(err);
    size_t value_length;
    while (!e && next_line(&text, &indent, &key, &key_length, &value, &value_length)) {
        snprintf(name, sizeof name, "%.*s", key_length, key);
        if (indent == 2 && !strchr(name, ' ')) e = add(k, name, value, value_length, err);
    }
    free(page);
    const lg_task_info *info = lg_task_info_find(task);
    for (const lg_setting *s = info ? info->settings : NULL; s && s->name && !e; s++) {
        snprintf(name, sizeof name, "task.%s", s->name);
        e = add(k, name, s->fallback, strlen(s->fallback), err);
    }
    return e;
}

int lg_cli_same_value(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (end_a != a && !*end_a && end_b != b && !*end_b) return x == y;
    return strcmp(a, b) == 0 || (strcmp(a, "\"\"") == 0 && (!*b || strcmp(b, "(none)") == 0));
}
