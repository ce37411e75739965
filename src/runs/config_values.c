/* config_values.c: the table of a config's keys as others see it, and configs as lists of keys and values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/yaml.h"
#include "lengthen_runs.h"
#include "runs/config.h"

enum { NAME = 256 };

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a config; end other programs");
}

/* ---- The table ---------------------------------------------------------------------------- */

static const char *type_of(enum lg__config_kind kind)
{
    switch (kind) {
    case LG__KEY_INT:
    case LG__KEY_SEED: return "integer";
    case LG__KEY_REAL: return "number";
    case LG__KEY_WORD:
    case LG__KEY_NAME: return "word";
    case LG__KEY_TASK:
    case LG__KEY_TEXT: return "text";
    case LG__KEY_PAIR: return "pair";
    case LG__KEY_LIST: return "list";
    case LG__KEY_SOURCE: return "word or list";
    case LG__KEY_WINDOW: break;
    }
    return "pair or list";
}

int lg_config_key_count(void)
{
    int count;
    lg__config_keys(&count);
    return count;
}

lg_config_key lg_config_key_at(int i)
{
    const struct lg__config_key *k = &lg__config_keys(NULL)[i];
    lg_config_key key = {
        .key = k->key, .type = type_of(k->kind), .fallback = k->fallback, .doc = k->doc};
    lg__config_range(k, key.range, sizeof key.range);
    return key;
}

/* ---- Values ------------------------------------------------------------------------------- */

/* Takes the value, which may be NULL: no memory. */
static int add(lg_config_values *v, const char *key, char *value, int list, lg_error *err)
{
    if (v->count == v->room) {
        int room = v->room ? 2 * v->room : 64;
        lg_config_value *more = realloc(v->at, (size_t)room * sizeof *more);
        if (!more) {
            free(value);
            return no_memory(err);
        }
        v->at = more;
        v->room = room;
    }
    lg_config_value *row = &v->at[v->count++];
    row->key = strdup(key);
    row->value = value;
    row->list = list;
    return row->key && row->value ? 0 : no_memory(err);
}

/* A scalar as it is, a list as "[a, b]". */
static void put_value(lg_buffer *to, const struct lg__yaml *n)
{
    if (n->kind == LG__YAML_SCALAR) {
        lg_buffer_put(to, n->text);
        return;
    }
    lg_buffer_put(to, "[");
    for (const struct lg__yaml *i = n->first; i; i = i->next) {
        put_value(to, i);
        if (i->next) lg_buffer_put(to, ", ");
    }
    lg_buffer_put(to, "]");
}

/* The keys of a map whose own name is `path`, which ends in a dot or is "". */
static int add_map(lg_config_values *v, const char *path, const struct lg__yaml *map, lg_error *err)
{
    int e = 0;
    for (const struct lg__yaml *n = map->first; n && !e; n = n->next) {
        char key[NAME];
        int map_too = n->kind == LG__YAML_MAP;
        if (snprintf(key, sizeof key, "%s%s%s", path, n->key, map_too ? "." : "") >= NAME)
            return lg__yaml_fail(n, err, "no key of a config has %d letters; was it edited?", NAME);
        if (map_too) {
            e = add_map(v, key, n, err);
            continue;
        }
        lg_buffer b = {0};
        lg_buffer_put(&b, "");
        put_value(&b, n);
        e = add(v, key, lg_buffer_take(&b, NULL), n->kind == LG__YAML_LIST, err);
    }
    return e;
}

int lg_config_values_read(lg_config_values *v, const char *yaml, lg_error *err)
{
    lg_error own;
    if (!err) err = &own;
    struct lg__yaml *root = lg__yaml_parse("the config", yaml, err);
    if (!root) return err->code;
    int e = root->kind == LG__YAML_MAP ? add_map(v, "", root, err) : 0;
    lg__yaml_free(root);
    return e;
}

int lg_config_values_default(lg_config_values *v, const char *task, lg_error *err)
{
    int count, e = 0;
    const struct lg__config_key *k = lg__config_keys(&count);
    const lg_task_info *info = lg_task_info_find(task);
    for (int i = 0; i < count && !e; i++)
        e = add(v, k[i].key, strdup(k[i].fallback), *k[i].fallback == '[', err);
    for (const lg_setting *s = info ? info->settings : NULL; s && s->name && !e; s++) {
        char key[NAME];
        snprintf(key, sizeof key, "task.%s", s->name);
        e = add(v, key, strdup(s->fallback), 0, err);
    }
    return e;
}

const char *lg_config_values_get(const lg_config_values *v, const char *key)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->at[i].key, key) == 0) return v->at[i].value;
    return NULL;
}

void lg_config_values_clear(lg_config_values *v)
{
    for (int i = 0; i < v->count; i++) {
        free(v->at[i].key);
        free(v->at[i].value);
    }
    free(v->at);
    *v = (lg_config_values){0};
}

int lg_config_same_value(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (end_a != a && !*end_a && end_b != b && !*end_b) return x == y;
    return strcmp(a, b) == 0;
}
