/* coupled.c: position coupling: tokens with the same label of the task share an ID. Composed with a
 * kind that maps labels (`over`), that one says which IDs the labels of its levels become. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "positions/ids.h"

static int range_of(struct lg__range *g, const int32_t *label, int n, int level, lg_error *err)
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

static int from_start(const lg_plan *p, int l, const int32_t *label, int n,
                      const struct lg__range *g, lg_rng *r, int32_t *ids, lg_error *err)
{
    int32_t start = 1;
    if (r && p->scheme.max_id && g->most != LG_ABSENT) {
        int64_t starts = (int64_t)p->scheme.max_id - g->most, least = (int64_t)g->most + 1;
        if (starts < 1) return lg__ids_no_room(p, l, "max_id", p->scheme.max_id, least, least, err);
        start += (int32_t)lg_rng_below(r, (uint32_t)starts);
    }
    for (int t = 0; t < n; t++) ids[t] = label[t] == LG_ABSENT ? LG_ABSENT : start + label[t];
    return 0;
}

static int by_map(const lg_plan *p, int l, const int32_t *label, int n, const struct lg__range *g,
                  lg_rng *r, int32_t *ids, lg_error *err)
{
    int32_t few[512], *map = few;
    if (g->most == LG_ABSENT) {
        for (int t = 0; t < n; t++) ids[t] = LG_ABSENT;
        return 0;
    }
    int64_t size = (int64_t)g->most - g->least + 1;
    int e = p->over->over_fits(p, l, g, err);
    if (e) return e;
    if (size > 512 && !(map = lg__alloc((size_t)size * sizeof *map)))
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for a map of %lld labels; use shorter examples, or labels "
                        "without large gaps",
                        (long long)size);
    e = p->over->over_map(p, g, map, r, err);
    for (int t = 0; !e && t < n; t++)
        ids[t] = label[t] == LG_ABSENT ? LG_ABSENT : map[label[t] - g->least];
    if (map != few) free(map);
    return e;
}

static int ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const out[LG_LEVELS],
               lg_error *err)
{
    int mapped = p->over && r ? p->over->over_levels : 0, e = 0;
    for (int l = 0; l < p->levels && !e; l++) {
        struct lg__range g;
        const int32_t *label = x->labels[l];
        if ((e = range_of(&g, label, x->n, l, err))) break;
        e = l < mapped ? by_map(p, l, label, x->n, &g, r, out[l], err)
                       : from_start(p, l, label, x->n, &g, r, out[l], err);
    }
    return e;
}

static const char text[] =
    "ID of a token at level l = start_l + the label that the task gives it at that level; a\n"
    "token without a label has no ID there. `lengthen tasks NAME` tells a task's labels.\n"
    "Training with max_id: start_l is uniform in 1 .. max_id - (largest label), drawn for each\n"
    "example and level. Without max_id, and in evaluation: start_l = 1.\n"
    "`levels` takes the first so many of the task's levels; 0 takes all.\n"
    "These are the IDs that a model can also predict for itself (source absolute, delta,\n"
    "pointer or match). Needs: a task with labels.";

const struct lg__ids_row lg__ids_coupled = {
    .name = "coupled",
    .line = "position coupling: tokens that belong together share an ID, as the task says",
    .text = text,
    .flags = LG__IDS_LABELS | LG__IDS_MAX_ID,
    .ids = ids,
};
