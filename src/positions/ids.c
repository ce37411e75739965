/* ids.c: a scheme is opened for a task, and the IDs of an example. The kinds of IDs have a file each. */
#include "positions/ids.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"

/* ---- Opening a scheme ------------------------------------------------------------------ */

lg_scheme lg_scheme_default(void)
{
    return (lg_scheme){.ids = lg__ids_plain.name, .chunks = 2, .reach = 8};
}

const char *lg__ids_task_name(const lg_task_shape *shape)
{
    return shape->info ? shape->info->name : "?";
}

static const char *ids_name(int i) { return lg_ids_info_at(i).name; }
static const char *head_name(int i) { return lg_id_head_info_at(i).name; }

/* The place of a name among those of `at` (NULL ends), or -1 and the reason. `what` is what they
 * are, in words. */
static int find(const char *name, const char *(*at)(int i), const char *key, const char *what,
                const char *more, lg_error *err)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char list[400] = "";
    int n = 0;
    if (!name) name = "";
    for (; n < MOST && (names[n] = at(n)); n++) {
        if (strcmp(names[n], name) == 0) return n;
        if (strlen(list) + strlen(names[n]) + 3 > sizeof list) continue;
        if (n) strcat(list, ", ");
        strcat(list, names[n]);
    }
    int near = lg_nearest(name, names, n);
    if (near >= 0)
        lg__fail_key(err, LG_ERROR_ARGUMENT, key,
                     "there is no %s \"%s\"; did you mean \"%s\"? There are %s%s", what, name,
                     names[near], more, list);
    else
        lg__fail_key(err, LG_ERROR_ARGUMENT, key, "there is no %s \"%s\"; there are %s%s", what,
                     name, more, list);
    return -1;
}

static int open_levels(lg_plan *p, lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    const lg_task_shape *shape = p->shape;
    char names[LG__IDS_NAMES];
    p->levels = 1;
    if (!p->ids.labels) return 0;
    if (!shape->levels)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "ids",
                            "{ids} is %s, but task %s has no labels that say which tokens belong "
                            "together; take ids %s, or write \"ids\" into the lines of your own "
                            "data",
                            s->ids, lg__ids_task_name(shape),
                            lg__ids_names(names, LG__IDS_LABELS | LG__IDS_DIGITS));
    if (s->levels < 0 || s->levels > shape->levels)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "levels",
            "{levels} is %d, but task %s has %d; set {levels} to %d..%d, or to 0 for all",
            s->levels, lg__ids_task_name(shape), shape->levels, shape->needed, shape->levels);
    p->levels = s->levels ? s->levels : shape->levels;
    if (p->levels < shape->needed)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "levels",
            "{levels} is %d, but some tokens of task %s have labels at other levels only "
            "and would be left without an ID; set {levels} to %d or more, or to 0 for "
            "all",
            s->levels, lg__ids_task_name(shape), shape->needed);
    return 0;
}

static int check_numbers(const lg_plan *p, lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    if (s->max_id < 0 || s->max_id > INT_MAX - 2)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "max_id",
                            "{max_id} is %d; it must be 0 (none) to %d", s->max_id, INT_MAX - 2);
    if (!s->max_id && (p->flags & LG__IDS_NEEDS_MAX_ID))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "max_id",
            "{ids} is %s and {max_id} is 0, so there is nothing to draw from; set {max_id} "
            "to the largest ID that may be drawn, at least the tokens of the longest "
            "example",
            s->ids);
    int e = p->row->check ? p->row->check(p, err) : 0;
    return !e && p->over && p->over->check ? p->over->check(p, err) : e;
}

/* A head predicts IDs that follow the labels by steps that are the same in evaluation. */
static int check_head(const lg_plan *p, int l, lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    if (!p->ids.labels || (p->flags & LG__IDS_GAPS))
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "source",
                            "source of level %d is %s, but {ids} is %s: %s; take source given, or "
                            "ids coupled",
                            l + 1, s->source[l], s->ids,
                            p->flags & LG__IDS_GAPS
                                ? "random steps cannot be foreseen, and evaluation has others"
                                : "these IDs follow from the text and need no prediction");
    if (l >= p->levels)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "source",
                            "source of level %d is %s, but the scheme has %d level%s; leave that "
                            "source out, or take more levels",
                            l + 1, s->source[l], p->levels, p->levels > 1 ? "s" : "");
    if (p->head[l] == LG__HEAD_ABSOLUTE && !s->max_id)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "max_id",
            "source of level %d is absolute and {max_id} is 0: the head has one class "
            "for each ID up to {max_id}; set {max_id} to the largest ID that will be met",
            l + 1);
    if (p->head[l] == LG__HEAD_DELTA && (s->reach < 1 || s->reach > 1 << 20))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "reach",
            "{reach} is %d; a delta head makes steps of -reach..reach: set it to 1..%d", s->reach,
            1 << 20);
    return 0;
}

int lg__source_predicts(const char *source) { return source && strcmp(source, "given") != 0; }

int lg__plan_open(lg_plan *p, const lg_scheme *s, const lg_task_shape *shape, lg_error *err)
{
    int e, ids = find(s->ids, ids_name, "ids", "ids", "", err);
    if (ids < 0) return LG_ERROR_ARGUMENT;
    *p = (lg_plan){.scheme = *s, .shape = shape, .ids = lg_ids_info_at(ids)};
    p->scheme.ids = p->ids.name;
    p->flags = lg__ids_entry(ids, &p->row, &p->over);
    if ((e = open_levels(p, err)) || (e = check_numbers(p, err))) return e;
    for (int l = 0; l < LG_LEVELS; l++) {
        p->head[l] = LG__HEAD_GIVEN;
        p->scheme.source[l] = NULL;
        if (!lg__source_predicts(s->source[l])) continue;
        int head = find(s->source[l], head_name, "source", "source of IDs", "given, ", err);
        if (head < 0) return LG_ERROR_ARGUMENT;
        p->head[l] = head;
        p->scheme.source[l] = head_name(head);
        if ((e = check_head(p, l, err))) return e;
    }
    return 0;
}

int lg_plan_open(lg_plan *p, const lg_scheme *s, const lg_task *t, lg_error *err)
{
    return lg__plan_open(p, s, lg_task_get_shape(t), err);
}

int lg__plan_classes(const lg_plan *p, int level)
{
    int absent = p->levels > 1; /* a class more: no ID at this level */
    if (level >= p->levels) return 0;
    switch (p->head[level]) {
    case LG__HEAD_ABSOLUTE: return p->scheme.max_id + 1 + absent;
    case LG__HEAD_DELTA: return 2 * p->scheme.reach + 1 + absent;
    case LG__HEAD_POINTER:
    case LG__HEAD_MATCH: return LG__POINT_CLASSES;
    default: return 0;
    }
}

lg_match lg__plan_match(const lg_plan *p)
{
    if (p->scheme.match) return p->scheme.match;
    return p->shape->match ? p->shape->match : LG_MATCH_ANY;
}

int lg_scheme_config(const lg_scheme *s, const lg_task *t, lg_model_config *c, lg_error *err)
{
    lg_plan p;
    int matches = 0, e = lg_plan_open(&p, s, t, err);
    if (e) return e;
    c->levels = p.levels;
    if (s->max_id > c->max_id) c->max_id = s->max_id;
    for (int l = 0; l < LG_LEVELS; l++) {
        c->id_classes[l] = lg__plan_classes(&p, l);
        c->pointer[l] = p.head[l] == LG__HEAD_POINTER;
        c->match[l] = p.head[l] == LG__HEAD_MATCH ? lg__plan_match(&p) : LG_MATCH_NONE;
        matches |= c->match[l] != LG_MATCH_NONE;
    }
    c->key_tokens = matches ? p.shape->key_tokens : 0;
    for (int i = 0; i < LG_KEY_TOKENS; i++)
        c->key_token[i] = i < c->key_tokens ? p.shape->key_token[i] : 0;
    return 0;
}

/* ---- The IDs of an example ----------------------------------------------------------------- */

int lg__ids_too_long(const lg_plan *p, int n, const char *what, int value, int least, lg_error *err)
{
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, what,
        "ids %s: an example of %d tokens does not fit, since {%s} is %d; set {%s} to %d or "
        "more, or use shorter examples",
        p->ids.name, n, what, value, what, least);
}

int lg__ids_no_room(const lg_plan *p, int level, const char *what, int value, int64_t labels,
                    int64_t least, lg_error *err)
{
    const char *name = p->shape->level[level];
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, what,
        "ids %s: level %d%s%s%s of this example has labels that need %lld IDs, which "
        "do not fit, since {%s} is %d; set {%s} to %lld or more, or use shorter examples",
        p->ids.name, level + 1, name ? " (" : "", name ? name : "", name ? ")" : "",
        (long long)labels, what, value, what, (long long)least);
}

void lg__ids_count_from(int32_t *ids, int n, int32_t start)
{
    for (int t = 0; t < n; t++) ids[t] = start + t;
}

/* Evaluation draws by the prompt and the number of tokens: the same example, the same IDs; what
 * the answer says has no say. */
static void rng_of_prompt(lg_rng *r, const lg_example *x)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < x->answer; i++) {
        h = (h ^ (uint32_t)x->tokens[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    lg_rng_init(r, h, 0x1d5u, (uint64_t)x->n);
}

int lg_plan_ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const ids[LG_LEVELS],
                lg_error *err)
{
    lg_rng own;
    if (!r && (p->flags & LG__IDS_DRAWN)) {
        rng_of_prompt(&own, x);
        r = &own;
    }
    return p->row->ids(p, x, r, ids, err);
}
