/* where.c: which cells of an experiment a key of its file means. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "study/study.h"

/* What a cell has for a key of `where`. */
static const char *value_of(const struct lg__study *s, const struct lg__joined *c, const char *key,
                            char number[16])
{
    if (strcmp(key, "ids") == 0) return c->j.at->predicted ? "predicted" : "given";
    if (strcmp(key, "kind") == 0) return c->j.kind->name;
    snprintf(number, 16, "%d", strcmp(key, "length") == 0 ? c->j.at->length : c->j.at->sparsity);
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, key) == 0)
            return lg__sweep_value_of(&s->plan, c->run, a)->name;
    return number;
}

/* A position is one of a bin's. */
static int is_value(const struct lg__yaml *n, const char *key, const char *value,
                    const struct lg__joined *c)
{
    int64_t p;
    if (strcmp(key, "position") == 0)
        return !lg__yaml_int(n, 0, INT_MAX, &p, NULL) && p >= c->j.at->first && p <= c->j.at->last;
    return lg__sweep_is(n, value);
}

int lg__where_fits(const struct lg__study *s, lg__where where, const struct lg__joined *c)
{
    char number[16];
    int fits = 1, kind = 0, length = 0;
    for (const struct lg__yaml *n = where ? where->first : NULL; n && fits; n = n->next) {
        const char *value = value_of(s, c, n->key, number);
        kind |= strcmp(n->key, "kind") == 0;
        length |= strcmp(n->key, "length") == 0;
        if (n->kind == LG__YAML_SCALAR) {
            fits = is_value(n, n->key, value, c);
            continue;
        }
        fits = 0;
        for (const struct lg__yaml *v = n->first; v && !fits; v = v->next)
            fits = is_value(v, n->key, value, c);
    }
    int leads = c->j.kind == lg_kind_leading(c->j.kind->form);
    int longest = !c->j.at->last || c->j.at->length == lg__variant_of(&s->plan, c->run)->longest;
    return fits && (kind || leads) && (length || longest);
}
