/* sweep_scale.c: the scales of a sweep's file: the same runs with other settings, and fewer or more
 * of them. Every scale is looked at, whichever is asked for. */
#include <stdio.h>
#include <string.h>

#include "runs/config.h"
#include "study/sweep.h"

static int is_empty(const struct lg__yaml *n) { return n->kind == LG__YAML_SCALAR && !*n->text; }

/* The keys of a map in `set`, whose own name is `path`. */
static int check_set(const struct lg__yaml *map, const char *path, lg_error *err)
{
    char key[256];
    int e = is_empty(map) ? 0 : lg__yaml_is(map, LG__YAML_MAP, err);
    for (const struct lg__yaml *n = map->first; n && !e; n = n->next) {
        snprintf(key, sizeof key, "%s%s%s", path, *path ? "." : "", n->key);
        e = lg__config_section(key) ? check_set(n, key, err) : lg__sweep_check_key(n, key, err);
    }
    return e;
}

static const struct lg__yaml *entry(const struct lg__yaml *map, const char *key)
{
    return map && map->kind == LG__YAML_MAP ? lg__yaml_get(map, key) : NULL;
}

/* A list in the place of an axis's own, or the names of its bundles that are kept. */
static int check_axis(const struct lg__yaml *list, const struct lg__yaml *axis, lg_error *err)
{
    if (!axis)
        return lg__yaml_fail(list, err,
                             "vary has no \"%s\"; a scale changes what the file varies, other keys "
                             "are in its set",
                             list->key);
    int e = lg__yaml_is(list, LG__YAML_LIST, err);
    if (!e && !list->count)
        e = lg__yaml_fail(list, err, "%s has no values; give it at least one, or take it out",
                          list->key);
    for (const struct lg__yaml *n = list->first; n && !e && axis->kind == LG__YAML_MAP;
         n = n->next) {
        if (n->kind != LG__YAML_SCALAR || !entry(axis, n->text))
            e = lg__yaml_fail(n, err,
                              "%s has no bundle \"%.60s\"; name some of those in line %d and below",
                              list->key, n->kind == LG__YAML_SCALAR ? n->text : "[..]", axis->line);
        for (const struct lg__yaml *b = list->first; b != n && !e; b = b->next)
            if (strcmp(b->text, n->text) == 0)
                e = lg__yaml_fail(n, err, "%s has the bundle %.80s twice; take one of them out",
                                  list->key, n->text);
    }
    return e;
}

static int check_scale(const struct lg__sweep_plan *p, const struct lg__yaml *scale, lg_error *err)
{
    static const char *const known[] = {"set", "vary", NULL};
    const struct lg__yaml *axes = entry(p->file, "vary");
    if (strcmp(scale->key, "desk") == 0)
        return lg__yaml_fail(scale, err,
                             "desk is the file as it is; write it there, or give this scale "
                             "another name");
    int e = lg__yaml_keys(scale, known, err);
    const struct lg__yaml *set = e ? NULL : entry(scale, "set");
    const struct lg__yaml *vary = e ? NULL : entry(scale, "vary");
    if (!e && set) e = check_set(set, "", err);
    if (!e && vary) e = is_empty(vary) ? 0 : lg__yaml_is(vary, LG__YAML_MAP, err);
    for (const struct lg__yaml *n = vary ? vary->first : NULL; n && !e; n = n->next)
        e = check_axis(n, entry(axes, n->key), err);
    return e;
}

int lg__sweep_check_scales(const struct lg__sweep_plan *p, lg_error *err)
{
    const struct lg__yaml *scales = entry(p->file, "scales");
    int e = scales ? lg__yaml_is(scales, LG__YAML_MAP, err) : 0;
    for (const struct lg__yaml *n = scales ? scales->first : NULL; n && !e; n = n->next)
        e = check_scale(p, n, err);
    return e;
}

int lg__sweep_find_scale(const struct lg__sweep_plan *p, const struct lg__yaml **scale,
                         lg_error *err)
{
    const char *name = p->o->scale;
    const struct lg__yaml *scales = entry(p->file, "scales");
    char known[200] = "desk";
    *scale = NULL;
    if (!name || strcmp(name, "desk") == 0) return 0;
    if ((*scale = entry(scales, name))) return 0;
    size_t used = strlen(known);
    for (const struct lg__yaml *n = scales ? scales->first : NULL; n; n = n->next)
        if (used + strlen(n->key) + 3 < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", n->key);
    return lg__yaml_fail(scales ? scales : p->file, err,
                         "there is no scale \"%.60s\"; take one of %s, or write it under scales",
                         name, known);
}

const struct lg__yaml *lg__sweep_scaled(const struct lg__yaml *scale, const char *axis)
{
    return entry(entry(scale, "vary"), axis);
}

static int in_list(const struct lg__yaml *list, const char *value)
{
    int found = 0;
    for (const struct lg__yaml *n = list ? list->first : NULL; n && !found; n = n->next)
        found = lg__sweep_is(n, value);
    return found;
}

int lg__sweep_has_value(const struct lg__sweep_plan *p, const struct lg__yaml *axis,
                        const char *value)
{
    const struct lg__yaml *scales = entry(p->file, "scales");
    if (axis->kind == LG__YAML_MAP) return entry(axis, value) != NULL;
    int found = in_list(axis, value);
    for (const struct lg__yaml *s = scales ? scales->first : NULL; s && !found; s = s->next)
        found = in_list(lg__sweep_scaled(s, axis->key), value);
    return found;
}
