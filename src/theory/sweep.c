/* sweep.c: fits over seeds, and over the lists of a sweep. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "theory/fit.h"

lg_theory_options lg_theory_options_default(void)
{
    return (lg_theory_options){.coverage = 1,
                               .seeds = 5,
                               .seed = 1,
                               .steps = 2000,
                               .until = 5e-5,
                               .batch = 64,
                               .rate = 0.1,
                               .samples = 200};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int tell_lengths(struct lg__fit *f, const char *variant, double trained, lg_error *err)
{
    const lg_theory_options *o = &f->o;
    int e = 0;
    for (int i = 0; i < o->length_count && !e; i++) {
        struct lg__fit_errors r;
        double start = now();
        if ((e = lg__fit_measure(f, o->lengths[i], &r, err))) break;
        lg_theory_row row = {.variant = variant,
                             .k = f->world.e.k,
                             .local = o->c.local,
                             .coupled = o->c.coupled,
                             .patterns = o->c.patterns,
                             .coverage = o->coverage,
                             .seed = (int64_t)f->seed,
                             .length = o->lengths[i],
                             .train_length = o->train[1],
                             .samples = o->samples,
                             .error = r.error,
                             .wrong = r.wrong,
                             .error_seen = r.seen,
                             .error_missing = r.missing_error,
                             .missing = r.missing,
                             .steps = f->steps,
                             .trained = trained,
                             .seconds = now() - start};
        if (o->row) o->row(o->context, &row);
    }
    return e;
}

static int fit(const lg_theory_options *o, const char *variant, int *stopped, lg_error *err)
{
    struct lg__fit *f = lg__alloc(sizeof *f);
    if (!f) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a fit; end other programs");
    int e = lg__fit_open(f, o, err);
    for (int i = 0; i < o->seeds && !e && !*stopped; i++) {
        double trained;
        if ((e = lg__fit_new(f, (uint64_t)(o->seed + i), err))) break;
        e = lg__fit_train(f, o->train[0], o->train[1], variant, &trained, stopped, err);
        if (!e && !*stopped) e = tell_lengths(f, variant, trained, err);
    }
    lg__fit_close(f);
    free(f);
    return e;
}

int lg_theory_fit(const lg_theory_options *o, lg_error *err)
{
    int stopped = 0;
    return fit(o, "fit", &stopped, err);
}

static void say(char name[120], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(char name[120], const char *format, ...)
{
    size_t n = strlen(name);
    va_list args;
    if (n) n += (size_t)snprintf(name + n, 120 - n, ", ");
    va_start(args, format);
    vsnprintf(name + n, 120 - n, format, args);
    va_end(args);
}

/* What differs, in words; a list of one value says nothing. */
static void name_variant(char name[120], const lg_theory_options *o, const lg_theory_lists *l)
{
    name[0] = 0;
    if (l->k_count > 1) say(name, "k = %d", o->k);
    if (l->coverage_count > 1) say(name, "coverage %g", o->coverage);
    if (l->coupled_count > 1) say(name, "%s", o->c.coupled ? "coupled" : "by place");
    if (l->local_count > 1 && o->c.local > 0) say(name, "local %d", o->c.local);
    if (l->local_count > 1 && o->c.local < 0) say(name, "local");
    if (l->local_count > 1 && !o->c.local) say(name, "anywhere");
    if (!name[0]) say(name, "fit");
}

/* Whether a combination can be; what is wrong with all of them is left to the fit. */
static int can_be(const lg_theory_options *o)
{
    struct lg__world w;
    lg_error ignored;
    lg_theory_options whole = *o;
    whole.coverage = 1;
    int e = lg__world_open(&w, &whole, &ignored);
    int can = e || ((o->coverage >= 1 || w.patterns.count > 1) &&
                    (o->c.local < 1 || o->c.coupled || o->c.local >= w.e.k));
    lg__world_close(&w);
    return can;
}

int lg_theory_sweep(const lg_theory_options *base, const lg_theory_lists *l, lg_error *err)
{
    int e = 0, stopped = 0, made = 0;
    int counts[4] = {l->k_count, l->coverage_count, l->coupled_count, l->local_count}, all = 1;
    for (int i = 0; i < 4; i++) all *= counts[i] ? counts[i] : 1;
    for (int at = 0; at < all && !e && !stopped; at++) {
        lg_theory_options o = *base;
        char variant[120];
        int rest = at, place[4];
        for (int i = 3; i >= 0; i--) {
            place[i] = counts[i] ? rest % counts[i] : 0;
            rest /= counts[i] ? counts[i] : 1;
        }
        if (l->k_count) o.k = l->k[place[0]];
        if (l->coverage_count) o.coverage = l->coverage[place[1]];
        if (l->coupled_count) o.c.coupled = l->coupled[place[2]];
        if (l->local_count) o.c.local = l->local[place[3]];
        if (!can_be(&o)) continue;
        name_variant(variant, &o, l);
        made++;
        e = fit(&o, variant, &stopped, err);
    }
    if (!e && !made)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "none of the %d combinations can be; give a span of at least k, and a "
                        "coverage below 1 where S has several patterns",
                        all);
    return e;
}
