/* fit.c: training and measuring a member of the class. */
#include "theory/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { TRAIN = 2, CHECK = 3, TEST = 4 }; /* streams of random numbers; the others are taken */
enum { LOOK_EVERY = 25, LOOK_AT = 64 };  /* steps between two looks at the error, and its texts */

/* ---- Opened --------------------------------------------------------------------------------- */

static int check_options(const lg_theory_options *o, lg_error *err)
{
    if (o->steps < 1 || o->steps > 10000000 || o->batch < 1 || o->batch > 1 << 20 ||
        o->samples < 1 || o->samples > 1 << 24 || o->seeds < 1 || o->seeds > 1000)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%d steps of %d texts, %d samples, %d seeds; take 1 to 10,000,000 steps, to "
            "1,048,576 texts, to 16,777,216 samples, and to 1,000 seeds",
            o->steps, o->batch, o->samples, o->seeds);
    if (!(o->rate > 0 && o->rate <= 100) || !(o->until >= 0 && o->until <= 1) ||
        !(o->coverage > 0 && o->coverage <= 1))
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "rate %g, until %g, coverage %g; take a rate in 0..100, until in 0..1, and a "
            "coverage above 0 and up to 1",
            o->rate, o->until, o->coverage);
    return 0;
}

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a fit; use fewer words or samples");
}

/* How far S reaches at any length, in places or in IDs; 0: there is no such bound. */
static int own_span(const struct lg__ensemble *e, int coupled)
{
    if (coupled) return e->where == LG__COLUMNS ? 1 : e->k;
    if (e->where == LG__SPAN) return e->span;
    return e->where == LG__PATTERNS ? e->least : 0;
}

int lg__fit_open(struct lg__fit *f, const lg_theory_options *o, lg_error *err)
{
    *f = (struct lg__fit){.o = *o};
    int e = check_options(o, err);
    if (!e) e = lg__world_open(&f->world, o, err);
    if (!e && o->c.local < 0) f->o.c.local = own_span(&f->world.e, o->c.coupled);
    if (!e) {
        f->results = o->samples > LOOK_AT ? o->samples : LOOK_AT;
        f->result = lg__alloc(2 * (size_t)f->results * sizeof *f->result);
        f->pattern = lg__alloc((size_t)f->results * sizeof *f->pattern);
        if (!f->result || !f->pattern) e = no_memory(err);
    }
    if (!e && !(f->pool = lg__pool_new(o->threads, err))) e = LG_ERROR_SYSTEM;
    return e;
}

static void clear_member(struct lg__fit *f)
{
    for (int i = 0; i < LG__FIT_GROUPS; i++) {
        free(f->group[i].reader.gradient);
        f->group[i].reader.gradient = NULL;
    }
    free(f->gradient);
    free(f->first);
    free(f->second);
    f->gradient = f->first = f->second = NULL;
    lg__member_clear(&f->member);
}

void lg__fit_close(struct lg__fit *f)
{
    clear_member(f);
    for (int i = 0; i < LG__FIT_GROUPS; i++) {
        lg__reader_clear(&f->group[i].reader);
        lg__sample_clear(&f->group[i].sample);
    }
    free(f->result);
    free(f->pattern);
    lg__pool_free(f->pool);
    lg__world_close(&f->world);
}

static int make_member(struct lg__fit *f, lg_error *err)
{
    clear_member(f);
    int e = lg__member_make(&f->member, &f->o.c, f->world.e.k, f->world.vocab, f->world.labels,
                            f->seed, err);
    if (e) return e;
    size_t bytes = (size_t)f->member.count * sizeof(double);
    f->gradient = lg__alloc(bytes);
    f->first = lg__alloc(bytes);
    f->second = lg__alloc(bytes);
    return f->gradient && f->first && f->second ? 0 : no_memory(err);
}

/* ---- A batch -------------------------------------------------------------------------------- */

/* Half the sum of |p - Y|, and whether another label is as likely as the right one. */
static double error_of(const double *p, int labels, int label, int *wrong)
{
    double error = 0;
    *wrong = 0;
    for (int y = 0; y < labels; y++) {
        error += fabs(p[y] - (y == label)) / 2;
        *wrong |= y != label && p[y] >= p[label];
    }
    return error;
}

static void work(void *context, int i, int thread)
{
    struct lg__fit *f = context;
    struct lg__fit_group *g = &f->group[i];
    (void)thread;
    g->failed = 0;
    if (g->reader.gradient) memset(g->reader.gradient, 0, (size_t)f->member.count * sizeof(double));
    for (int j = i; j < f->count && !g->failed; j += LG__FIT_GROUPS) {
        lg_rng r;
        double p[LG__SUM_MOST_OUTPUTS];
        int wrong = 0;
        lg_rng_init(&r, f->seed, f->stream, f->from + (uint64_t)j);
        int length = f->lo + (int)lg_rng_below(&r, (uint32_t)(f->hi - f->lo + 1));
        g->failed = lg__world_draw(&f->world, &r, length, f->shown, &g->sample, &g->err);
        if (!g->failed) g->failed = lg__member_read(&f->member, &g->reader, &g->sample, p, &g->err);
        if (g->failed || g->reader.gradient) continue;
        f->result[2 * j] = error_of(p, f->member.labels, g->sample.label, &wrong);
        f->result[2 * j + 1] = wrong;
        f->pattern[j] = g->sample.pattern;
    }
}

/* Texts from..from+count-1 of a stream, by all groups. */
static int run(struct lg__fit *f, uint32_t stream, uint64_t from, int count, int lo, int hi,
               int shown, lg_error *err)
{
    f->stream = stream;
    f->from = from;
    f->count = count;
    f->lo = lo;
    f->hi = hi;
    f->shown = shown;
    lg__pool_run(f->pool, LG__FIT_GROUPS, work, f);
    for (int i = 0; i < LG__FIT_GROUPS; i++)
        if (f->group[i].failed)
            return lg__fail(err, f->group[i].failed, "%s", f->group[i].err.text);
    return 0;
}

/* ---- Trained -------------------------------------------------------------------------------- */

/* Adam (Kingma and Ba 2015); weights of patterns stay at 0 or above. */
static int update(struct lg__fit *f, int step, lg_error *err)
{
    struct lg__member *m = &f->member;
    const double b1 = 0.9, b2 = 0.9, eps = 1e-16;
    double rate = f->o.rate * (1 - 0.9 * step / f->o.steps);
    double fix1 = 1 - pow(b1, step + 1), fix2 = 1 - pow(b2, step + 1);
    for (int i = 0; i < m->count; i++) {
        double sum = 0;
        for (int g = 0; g < LG__FIT_GROUPS; g++) sum += f->group[g].reader.gradient[i];
        f->gradient[i] = sum / f->o.batch;
    }
    lg__member_chain(m, f->gradient);
    for (int i = 0; i < m->count; i++) {
        double d = f->gradient[i];
        if (!isfinite(d))
            return lg__fail(
                err, LG_ERROR_NUMERIC,
                "the gradient of parameter %d is %g after %d steps; take a smaller rate", i, d,
                step);
        f->first[i] = b1 * f->first[i] + (1 - b1) * d;
        f->second[i] = b2 * f->second[i] + (1 - b2) * d * d;
        m->theta[i] -= rate * (f->first[i] / fix1) / (sqrt(f->second[i] / fix2) + eps);
        if (i >= m->weights && i < m->values && m->theta[i] < 0) m->theta[i] = 0;
    }
    lg__member_refresh(m);
    return 0;
}

static int set_gradients(struct lg__fit *f, int on, lg_error *err)
{
    for (int i = 0; i < LG__FIT_GROUPS; i++) {
        struct lg__reader *r = &f->group[i].reader;
        free(r->gradient);
        r->gradient = on ? lg__alloc((size_t)f->member.count * sizeof(double)) : NULL;
        if (on && !r->gradient) return no_memory(err);
    }
    return 0;
}

/* The mean error at a length, of patterns that training shows. */
static int look(struct lg__fit *f, int length, double *error, lg_error *err)
{
    int e = set_gradients(f, 0, err);
    if (!e) e = run(f, CHECK, 0, LOOK_AT, length, length, 1, err);
    *error = 0;
    for (int j = 0; j < LOOK_AT; j++) *error += f->result[2 * j] / LOOK_AT;
    return e;
}

int lg__fit_new(struct lg__fit *f, uint64_t seed, lg_error *err)
{
    f->seed = seed;
    lg__world_hide(&f->world, f->o.coverage, seed);
    return make_member(f, err);
}

int lg__fit_train(struct lg__fit *f, int lo, int hi, const char *variant, double *error,
                  int *stopped, lg_error *err)
{
    const lg_theory_options *o = &f->o;
    size_t bytes = (size_t)f->member.count * sizeof *f->first;
    int e = 0;
    *stopped = 0;
    *error = 1;
    memset(f->first, 0, bytes);
    memset(f->second, 0, bytes);
    for (f->steps = 0; f->steps < o->steps && !e && !*stopped;) {
        if ((e = set_gradients(f, 1, err))) break;
        for (int end = f->steps + LOOK_EVERY; f->steps < end && f->steps < o->steps && !e;) {
            e = run(f, TRAIN, (uint64_t)f->steps * (uint64_t)o->batch, o->batch, lo, hi, 1, err);
            if (!e) e = update(f, f->steps++, err);
        }
        if (!e) e = look(f, hi, error, err);
        if (!e && o->watch &&
            !o->watch(o->context, variant, (int64_t)f->seed, f->steps, o->steps, *error))
            *stopped = 1;
        if (*error <= o->until) break;
    }
    return e;
}

int lg__fit_measure(struct lg__fit *f, int length, struct lg__fit_errors *r, lg_error *err)
{
    int samples = f->o.samples, e = set_gradients(f, 0, err);
    if (!e) e = run(f, TEST, (uint64_t)length << 32, samples, length, length, 0, err);
    *r = (struct lg__fit_errors){0};
    for (int j = 0; j < samples && !e; j++) {
        double error = f->result[2 * j];
        int missing = f->pattern[j] >= 0 && f->world.hidden[f->pattern[j]];
        r->error += error / samples;
        r->wrong += f->result[2 * j + 1] / samples;
        r->missing += missing;
        *(missing ? &r->missing_error : &r->seen) += error;
    }
    r->seen = r->missing < samples ? r->seen / (samples - r->missing) : NAN;
    r->missing_error = r->missing ? r->missing_error / r->missing : NAN;
    return e;
}
