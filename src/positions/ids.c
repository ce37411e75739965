/* ids.c: which ID each token gets. */
#include "positions/ids.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"

/* ---- Understanding a scheme ------------------------------------------------------------ */

lg_scheme lg_scheme_default(void) { return (lg_scheme){.ids = "plain", .chunks = 2, .reach = 8}; }

/* The place of a name among n infos, or -1 and the reason. `what` is what they are, in words. */
static int find(const char *name, const lg_ids_info *infos, int n, const char *key,
                const char *what, const char *more, lg_error *err)
{
    const char *names[LG__IDS_COUNT];
    char list[160] = "";
    if (!name) name = "";
    for (int i = 0; i < n; i++) {
        if (strcmp(infos[i].name, name) == 0) return i;
        names[i] = infos[i].name;
        if (i) strcat(list, ", ");
        strcat(list, names[i]);
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

static int coupled(enum lg__ids ids)
{
    return ids == LG__IDS_COUPLED || ids == LG__IDS_COUPLED_RANDOMIZED ||
           ids == LG__IDS_COUPLED_POSE;
}

int lg__plan_coupled(const struct lg__plan *p) { return coupled(p->ids); }

static const char *task_name(const lg_task_shape *shape)
{
    return shape->info ? shape->info->name : "?";
}

static int plan_levels(struct lg__plan *p, const lg_scheme *s, const lg_task_shape *shape,
                       lg_error *err)
{
    p->levels = 1;
    if (!coupled(p->ids)) return 0;
    if (!shape->levels)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "ids",
                            "{ids} is %s, but task %s has no labels that say which tokens belong "
                            "together; take ids plain, random-start, randomized or pose, or write "
                            "\"ids\" into the lines of your own data",
                            s->ids, task_name(shape));
    if (s->levels < 0 || s->levels > shape->levels)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "levels",
            "{levels} is %d, but task %s has %d; set {levels} to %d..%d, or to 0 for all",
            s->levels, task_name(shape), shape->levels, shape->needed, shape->levels);
    p->levels = s->levels ? s->levels : shape->levels;
    if (p->levels < shape->needed)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "levels",
            "{levels} is %d, but some tokens of task %s have labels at other levels only "
            "and would be left without an ID; set {levels} to %d or more, or to 0 for "
            "all",
            s->levels, task_name(shape), shape->needed);
    return 0;
}

static int check_numbers(const struct lg__plan *p, const lg_scheme *s, lg_error *err)
{
    if (s->max_id < 0 || s->max_id > INT_MAX - 2)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "max_id",
                            "{max_id} is %d; it must be 0 (none) to %d", s->max_id, INT_MAX - 2);
    if (!s->max_id && (p->ids == LG__IDS_RANDOM_START || p->ids == LG__IDS_RANDOMIZED ||
                       p->ids == LG__IDS_COUPLED_RANDOMIZED))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "max_id",
            "{ids} is %s and {max_id} is 0, so there is nothing to draw from; set {max_id} "
            "to the largest ID that may be drawn, at least the tokens of the longest "
            "example",
            s->ids);
    if (p->ids != LG__IDS_POSE && p->ids != LG__IDS_COUPLED_POSE) return 0;
    if (s->chunks < 2)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "chunks",
                            "{chunks} is %d; PoSE needs 2 or more (with one chunk take ids %s)",
                            s->chunks, p->ids == LG__IDS_POSE ? "plain" : "coupled");
    if (s->target < 1)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "target",
            "{target} is %d; PoSE needs the length in IDs to be ready for: set it to the "
            "longest test length in tokens",
            s->target);
    return 0;
}

static int check_head(const struct lg__plan *p, const lg_scheme *s, int l, lg_error *err)
{
    if (p->ids != LG__IDS_COUPLED)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "source",
            "source of level %d is %s, but {ids} is %s: %s; take source given, or ids "
            "coupled",
            l + 1, s->source[l], s->ids,
            coupled(p->ids) || p->ids == LG__IDS_RANDOMIZED || p->ids == LG__IDS_POSE
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

int lg__plan_make(struct lg__plan *p, const lg_scheme *s, const lg_task_shape *shape, lg_error *err)
{
    int e, ids = find(s->ids, lg__ids_infos, LG__IDS_COUNT, "ids", "ids", "", err);
    if (ids < 0) return LG_ERROR_ARGUMENT;
    p->ids = (enum lg__ids)ids;
    if ((e = plan_levels(p, s, shape, err)) || (e = check_numbers(p, s, err))) return e;
    for (int l = 0; l < LG_LEVELS; l++) {
        p->head[l] = LG__HEAD_GIVEN;
        if (!s->source[l] || strcmp(s->source[l], "given") == 0) continue;
        int head = find(s->source[l], lg__head_infos, LG__HEAD_COUNT, "source", "source of IDs",
                        "given, ", err);
        if (head < 0) return LG_ERROR_ARGUMENT;
        p->head[l] = (enum lg__head)head;
        if ((e = check_head(p, s, l, err))) return e;
    }
    return 0;
}

int lg__plan_classes(const struct lg__plan *p, const lg_scheme *s, int level)
{
    int absent = p->levels > 1; /* a class more: no ID at this level */
    if (level >= p->levels) return 0;
    switch (p->head[level]) {
    case LG__HEAD_ABSOLUTE: return s->max_id + 1 + absent;
    case LG__HEAD_DELTA: return 2 * s->reach + 1 + absent;
    case LG__HEAD_POINTER: return LG__POINT_CLASSES;
    default: return 0;
    }
}

int lg_scheme_config(const lg_scheme *s, const lg_task *t, lg_model_config *c, lg_error *err)
{
    struct lg__plan p;
    int e = lg__plan_make(&p, s, lg_task_get_shape(t), err);
    if (e) return e;
    c->levels = p.levels;
    if (s->max_id > c->max_id) c->max_id = s->max_id;
    for (int l = 0; l < LG_LEVELS; l++) {
        c->id_classes[l] = lg__plan_classes(&p, s, l);
        c->pointer[l] = p.head[l] == LG__HEAD_POINTER;
    }
    return 0;
}

/* ---- Random maps ------------------------------------------------------------------------- */

/* Puts v into a table that keeps its numbers in order: v's home slot grows with v, and what is
 * larger moves on by one. Numbers are stored as v + 1; 0 is an empty slot. Returns 0 if v is
 * there. */
static int insert(uint32_t *table, int64_t home, uint32_t v)
{
    uint32_t *at = table + home, carry = v + 1;
    while (*at && *at < carry) at++;
    if (*at == carry) return 0;
    while (carry) {
        uint32_t larger = *at;
        *at++ = carry;
        carry = larger;
    }
    return 1;
}

/* out = n different integers of 0..m-1 in increasing order, every set equally likely: Floyd's
 * method, which inserts n numbers, into a table of 2n slots (and n for what is pushed over the
 * end) that is never more than half full at any place, on average: linear time, whatever m is. */
static int sample(int32_t *out, int n, int64_t m, lg_rng *r, lg_error *err)
{
    uint32_t few[3 * 256] = {0}, *table = few;
    if (n > 256) table = lg__alloc(3 * (size_t)n * sizeof *table);
    if (!table)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for %d random IDs; use shorter examples, or end other programs",
                        n);
    int64_t slots = 2 * (int64_t)n;
    for (int64_t j = m - n; j < m; j++) {
        uint32_t v = lg_rng_below(r, (uint32_t)(j + 1));
        if (!insert(table, v * slots / m, v)) insert(table, j * slots / m, (uint32_t)j);
    }
    for (int64_t i = 0, k = 0; k < n; i++)
        if (table[i]) out[k++] = (int32_t)(table[i] - 1);
    if (table != few) free(table);
    return 0;
}

/* map[v] = v + the shift of v's chunk, for v in 0..n-1; the last shift is at most `most`. */
static void pose(int32_t *map, int n, const lg_scheme *s, int most, lg_rng *r)
{
    int cuts = (s->chunks < n ? s->chunks : n) - 1;
    int shift = s->random_start ? (int)lg_rng_below(r, (uint32_t)most + 1) : 0;
    /* Two chunks: the first is never longer than half, unless it may be. */
    int first = cuts == 1 && !s->cut_anywhere ? 1 + (int)lg_rng_below(r, (uint32_t)(n - n / 2)) : 0;
    for (int v = 0; v < n; v++) {
        /* More: each place still to come is as likely to be one of the cuts still to make. */
        int cut = first ? v == first : v && cuts && (int)lg_rng_below(r, (uint32_t)(n - v)) < cuts;
        if (cut) {
            shift += (int)lg_rng_below(r, (uint32_t)(most - shift) + 1);
            cuts--;
        }
        map[v] = v + shift;
    }
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

/* ---- IDs by place -------------------------------------------------------------------------- */

static int too_long(const lg_scheme *s, int n, const char *what, int value, int least,
                    lg_error *err)
{
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, what,
        "ids %s: an example of %d tokens does not fit, since {%s} is %d; set {%s} to %d or "
        "more, or use shorter examples",
        s->ids, n, what, value, what, least);
}

static void count_from(int32_t *ids, int n, int32_t start)
{
    for (int t = 0; t < n; t++) ids[t] = start + t;
}

static int random_start(int32_t *ids, const lg_scheme *s, int n, lg_rng *r, lg_error *err)
{
    if (r && n > s->max_id) return too_long(s, n, "max_id", s->max_id, n, err);
    count_from(ids, n, r ? 1 + (int32_t)lg_rng_below(r, (uint32_t)(s->max_id - n + 1)) : 1);
    return 0;
}

static int randomized(int32_t *ids, const lg_scheme *s, int n, lg_rng *r, lg_error *err)
{
    int64_t m = (int64_t)s->max_id + 1;
    if (n > m) return too_long(s, n, "max_id", s->max_id, n - 1, err);
    return sample(ids, n, m, r, err);
}

static int posed(int32_t *ids, const lg_scheme *s, int n, lg_rng *r, lg_error *err)
{
    if (!r) {
        count_from(ids, n, 0);
        return 0;
    }
    if (n > s->target) return too_long(s, n, "target", s->target, n, err);
    pose(ids, n, s, s->target - n, r);
    return 0;
}

static int abacus(int32_t *ids, const lg_scheme *s, const lg_task_shape *shape, const lg_example *x,
                  lg_rng *r, lg_error *err)
{
    int run = 0, longest = 0;
    for (int t = 0; t < x->n; t++) {
        run = shape->digit && shape->digit[x->tokens[t]] ? run + 1 : 0;
        if (run > longest) longest = run;
        ids[t] = run;
    }
    if (!r || !s->max_id) return 0;
    if (longest > s->max_id)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "max_id",
            "ids abacus: a number of %d digits does not fit, since {max_id} is %d; set "
            "{max_id} to %d or more, or use shorter numbers",
            longest, s->max_id, longest);
    int32_t k = (int32_t)lg_rng_below(r, (uint32_t)(s->max_id - longest) + 1);
    for (int t = 0; t < x->n; t++) ids[t] += ids[t] ? k : 0;
    return 0;
}

/* ---- Coupled IDs ------------------------------------------------------------------------------ */

/* The labels of a level: least..most, or most == LG_ABSENT if no token has one. */
struct range {
    int32_t least, most;
};

static int range_of(struct range *g, const int32_t *label, int n, int level, lg_error *err)
{
    g->least = INT32_MAX;
    g->most = LG_ABSENT;
    for (int t = 0; t < n; t++) {
        int32_t v = label[t] == LG_ABSENT ? INT32_MAX : label[t];
        g->least = v < g->least ? v : g->least;
        g->most = label[t] > g->most ? label[t] : g->most;
    }
    if (g->least >= -1 && g->most < INT32_MAX) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "level %d has a label of %d; labels are -1 to %d, so that IDs (start + label, "
                    "start 1 or more) are 0 or more; shift them all",
                    level + 1, (int)(g->least < -1 ? g->least : g->most), INT32_MAX - 1);
}

static int no_room(const lg_scheme *s, const lg_task_shape *shape, int l, const char *what,
                   int value, int64_t labels, int64_t least, lg_error *err)
{
    const char *name = shape->level[l];
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, what,
        "ids %s: level %d%s%s%s of this example has labels that need %lld IDs, which "
        "do not fit, since {%s} is %d; set {%s} to %lld or more, or use shorter examples",
        s->ids, l + 1, name ? " (" : "", name ? name : "", name ? ")" : "", (long long)labels, what,
        value, what, (long long)least);
}

static int couple(int32_t *ids, const lg_scheme *s, const lg_task_shape *shape, int l,
                  const lg_example *x, const struct range *g, lg_rng *r, lg_error *err)
{
    int32_t start = 1;
    const int32_t *label = x->labels[l];
    if (r && s->max_id && g->most != LG_ABSENT) {
        int64_t starts = (int64_t)s->max_id - g->most;
        if (starts < 1)
            return no_room(s, shape, l, "max_id", s->max_id, (int64_t)g->most + 1,
                           (int64_t)g->most + 1, err);
        start += (int32_t)lg_rng_below(r, (uint32_t)starts);
    }
    for (int t = 0; t < x->n; t++) ids[t] = label[t] == LG_ABSENT ? LG_ABSENT : start + label[t];
    return 0;
}

/* ids = base + map[label - least], where map is a random one of the whole range of labels: those
 * that no token has count too, so that a difference between two labels can still take any size
 * that it could have with all of them there. */
static int couple_by_map(int32_t *ids, const lg_scheme *s, const lg_task_shape *shape, int l,
                         const lg_example *x, const struct range *g, int posing, lg_rng *r,
                         lg_error *err)
{
    int64_t size = g->most == LG_ABSENT ? 0 : (int64_t)g->most - g->least + 1;
    int32_t few[512], *map = few, base = posing && size ? g->least + 1 : 0;
    int e = 0;
    if (posing && g->most > s->target - 2)
        return no_room(s, shape, l, "target", s->target, (int64_t)g->most + 2, (int64_t)g->most + 2,
                       err);
    if (!posing && size > (int64_t)s->max_id + 1)
        return no_room(s, shape, l, "max_id", s->max_id, size, size - 1, err);
    if (size > 512 && !(map = lg__alloc((size_t)size * sizeof *map)))
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for a map of %lld labels; use shorter examples, or labels "
                        "without large gaps",
                        (long long)size);
    if (size && posing)
        pose(map, (int)size, s, s->target - 2 - g->most, r);
    else if (size)
        e = sample(map, (int)size, (int64_t)s->max_id + 1, r, err);
    for (int t = 0; !e && t < x->n; t++) {
        int32_t label = x->labels[l][t];
        ids[t] = label == LG_ABSENT ? LG_ABSENT : base + map[label - g->least];
    }
    if (map != few) free(map);
    return e;
}

static int couple_level(const struct lg__plan *p, int32_t *ids, const lg_scheme *s,
                        const lg_task_shape *shape, int l, const lg_example *x, lg_rng *training,
                        lg_rng *r, lg_error *err)
{
    struct range g;
    int e = range_of(&g, x->labels[l], x->n, l, err);
    if (e) return e;
    if (p->ids == LG__IDS_COUPLED_RANDOMIZED)
        return couple_by_map(ids, s, shape, l, x, &g, 0, r, err);
    if (p->ids == LG__IDS_COUPLED_POSE && l == 0 && training)
        return couple_by_map(ids, s, shape, l, x, &g, 1, r, err);
    return couple(ids, s, shape, l, x, &g, training, err);
}

int lg__plan_ids(const struct lg__plan *p, const lg_scheme *s, const lg_task_shape *shape,
                 const lg_example *x, lg_rng *r, int32_t *const ids[LG_LEVELS], lg_error *err)
{
    lg_rng own, *any = r ? r : &own; /* any: for what is drawn in evaluation too */
    if (!r && (p->ids == LG__IDS_RANDOMIZED || p->ids == LG__IDS_COUPLED_RANDOMIZED))
        rng_of_prompt(&own, x);
    switch (p->ids) {
    case LG__IDS_RANDOM_START: return random_start(ids[0], s, x->n, r, err);
    case LG__IDS_RANDOMIZED: return randomized(ids[0], s, x->n, any, err);
    case LG__IDS_POSE: return posed(ids[0], s, x->n, r, err);
    case LG__IDS_ABACUS: return abacus(ids[0], s, shape, x, r, err);
    case LG__IDS_COUPLED:
    case LG__IDS_COUPLED_RANDOMIZED:
    case LG__IDS_COUPLED_POSE:
        for (int l = 0; l < p->levels; l++) {
            int e = couple_level(p, ids[l], s, shape, l, x, r, any, err);
            if (e) return e;
        }
        return 0;
    default: count_from(ids[0], x->n, 0); return 0;
    }
}

int lg_scheme_ids(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r,
                  int32_t *const ids[LG_LEVELS], lg_error *err)
{
    struct lg__plan p;
    const lg_task_shape *shape = lg_task_get_shape(t);
    int e = lg__plan_make(&p, s, shape, err);
    return e ? e : lg__plan_ids(&p, s, shape, x, r, ids, err);
}
