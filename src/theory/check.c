/* check.c: do the assumptions of the theory hold for an ensemble and a class? Coverage and locality
 * follow from how the places of S are drawn; a member is searched for by fitting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "theory/fit.h"

enum { DRAWS = 2000, STREAM = 6, SHOWN = 3 };

struct checking {
    const lg_theory_options *o;
    struct lg__fit *fit;
    lg_theory_found *found;
    void *context;
    int failed;
};

static void tell(struct checking *q, const lg_theory_finding *f)
{
    q->failed += !f->holds;
    if (q->found) q->found(q->context, f);
}

/* How far S reaches at most in a text of this length: places, or IDs where they are coupled. */
static int reach(const struct checking *q, int length)
{
    const struct lg__ensemble *e = &q->fit->world.e;
    if (q->o->c.coupled) return e->where == LG__COLUMNS ? 1 : e->k;
    switch (e->where) {
    case LG__SPAN: return length < e->span ? length : e->span;
    case LG__PATTERNS: return e->least;
    case LG__COLUMNS: return (e->k - 1) * (length / e->k) + 1;
    default: return e->k > 1 ? length : 1;
    }
}

/* Whether training shows this pattern of S, in places or, coupled, in IDs. */
static int is_shown(const struct checking *q, const int *place, int length)
{
    const struct lg__world *w = &q->fit->world;
    int k = w->e.k, pattern = lg__world_pattern(w, place);
    if (q->o->c.coupled || k == 1) return 1; /* the IDs of S are the same ones at every length */
    if (w->e.where == LG__COLUMNS)
        return length / k >= q->o->train[0] / k && length / k <= q->o->train[1] / k;
    return place[k - 1] - place[0] < q->o->train[1] && !(pattern >= 0 && w->hidden[pattern]);
}

static void name_pattern(char name[80], const int *place, int k)
{
    size_t n = (size_t)snprintf(name, 80, "[");
    for (int j = 0; j < k && n < 70; j++)
        n += (size_t)snprintf(name + n, 80 - n, "%s%d", j ? ", " : "", place[j] - place[0]);
    snprintf(name + n, 80 - n, "]");
}

static void check_coverage(struct checking *q, int length)
{
    const struct lg__world *w = &q->fit->world;
    lg_theory_finding f = {.assumption = "coverage", .length = length};
    char missing[SHOWN][80];
    int shown = 0, names = 0, place[LG__MOST_K];
    for (int i = 0; i < DRAWS; i++) {
        char name[80];
        lg_rng r;
        int known = 0;
        lg_rng_init(&r, (uint64_t)q->o->seed, STREAM, (uint64_t)length << 32 | (uint64_t)i);
        lg__ensemble_places(&w->e, &r, length, place);
        if (is_shown(q, place, length)) {
            shown++;
            continue;
        }
        name_pattern(name, place, w->e.k);
        for (int j = 0; j < names; j++) known |= strcmp(name, missing[j]) == 0;
        if (!known && names < SHOWN) memcpy(missing[names++], name, sizeof name);
    }
    f.value = (double)shown / DRAWS;
    f.holds = shown == DRAWS;
    if (f.holds)
        snprintf(f.text, sizeof f.text, "training shows every pattern of S%s",
                 q->o->c.coupled ? ", in IDs" : "");
    else
        snprintf(
            f.text, sizeof f.text,
            "training does not show the pattern of S in %.1f%% of the texts: %.40s%s%.40s%s%.40s",
            100 * (1 - f.value), missing[0], names > 1 ? ", " : "", names > 1 ? missing[1] : "",
            names > 2 ? ", " : "", names > 2 ? missing[2] : "");
    tell(q, &f);
}

static void check_locality(struct checking *q, int length)
{
    lg_theory_finding f = {.assumption = "locality", .length = length};
    const char *what = q->o->c.coupled ? "IDs" : "places";
    int local = q->o->c.local;
    f.value = reach(q, length);
    f.holds = local && f.value <= local;
    if (!local)
        snprintf(f.text, sizeof f.text, "S reaches over %.0f %s; the class has no limit", f.value,
                 what);
    else
        snprintf(f.text, sizeof f.text, "S reaches over %.0f %s; A is 0 beyond %d", f.value, what,
                 local);
    tell(q, &f);
}

static int check_realizability(struct checking *q, int length, int *stopped, lg_error *err)
{
    lg_theory_finding f = {.assumption = "realizability", .length = length};
    int e = lg__fit_train(q->fit, length, length, "best member", &f.value, stopped, err);
    if (e || *stopped) return e;
    f.holds = f.value <= q->o->until;
    snprintf(f.text, sizeof f.text, "the best member found at this length has an error of %.2g%s",
             f.value, f.holds ? "" : "; there may be a better one: give more steps");
    tell(q, &f);
    return 0;
}

int lg_theory_check(const lg_theory_options *o, lg_theory_found *found, void *context, int *failed,
                    lg_error *err)
{
    struct checking q = {.found = found, .context = context};
    int e, stopped = 0;
    q.fit = lg__alloc(sizeof *q.fit);
    if (!q.fit) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a fit; end other programs");
    e = lg__fit_open(q.fit, o, err);
    q.o = &q.fit->o;
    if (!e) e = lg__fit_new(q.fit, (uint64_t)o->seed, err);
    for (int i = 0; i < o->length_count && !e; i++) check_coverage(&q, o->lengths[i]);
    for (int i = 0; i < o->length_count && !e; i++) check_locality(&q, o->lengths[i]);
    q.fit->o.coverage = 1; /* which members there are has nothing to do with what training shows */
    if (!e) e = lg__fit_new(q.fit, (uint64_t)o->seed, err);
    for (int i = 0; i < o->length_count && !e && !stopped; i++)
        e = check_realizability(&q, o->lengths[i], &stopped, err);
    *failed = q.failed;
    lg__fit_close(q.fit);
    free(q.fit);
    return e;
}
