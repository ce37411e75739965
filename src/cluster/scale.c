/* scale.c: how training scales over ranks: measured as far as there are ranks, predicted beyond.
 *
 * A step of R ranks: each runs its share of the groups and sums them, updates 1/R of the parameters, packs all weights;
 * between them log2 R rounds that add gradients, as many that bring the weights back, and as many small ones with the
 * losses. Round k of the first two moves P / 2^k parameters in each direction:
 *
 *     t(R) = groups share(R) + sum / R + update / R + pack + 3 latency log2 R + 2 (4 P / bandwidth) (1 - 1/R)
 *
 * share(R) is that of the rank with most sequences. All parts are measured while as many ranks do the same at once, so
 * that ranks which outnumber the cores, or share a memory bus, are measured as such. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/comm.h"
#include "base/error.h"
#include "cluster/jobs.h"
#include "engine/ranks.h"
#include "measure/bench.h"

enum { MOST_RANKS = 1024, TIMES = 9, WARM = 4, SMALL_FLOATS = 16 };

struct scale {
    const lg_scale_options *o;
    lg_comm *comm; /* all ranks */
    struct lg__shape shape;
    lg_model *model;
    lg_train_options train;
    size_t size; /* parameters */
    float *x, *y;
    int threads;
};

/* What one rank has measured. */
struct measured {
    struct lg__parts parts;
    double latency, per_byte; /* of a swap */
    double step;              /* of all ranks together */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static int meet(lg_comm *c, lg_error *err)
{
    char words[MOST_RANKS] = {0};
    return lg__comm_gather(c, words, 1, err);
}

/* The same seed in all ranks: a step must have the same weights everywhere. */
static lg_trainer *new_trainer(struct scale *s, lg_comm *c, lg_error *err)
{
    lg_model_free(s->model);
    s->model = lg_model_new(&s->shape.config, err);
    return s->model ? lg__trainer_new(s->model, &s->train, c, err) : NULL;
}

/* So many steps, all ranks alike, that they take about the seconds of the options. */
static int steps_for(const struct scale *s, lg_comm *c, double step, lg_error *err)
{
    int n = (int)fmin(TIMES, fmax(3, s->o->seconds / step));
    int e = lg__comm_spread(c, &n, sizeof n, 0, err);
    return e ? e : n;
}

/* A trainer over these ranks (NULL: alone) after its first step, which warms up; how many more to time, once all of
 * c are there. */
static int begin_steps(struct scale *s, lg_comm *over, lg_comm *c, lg_trainer **t, lg_error *err)
{
    *t = new_trainer(s, over, err);
    if (!*t) return err->code;
    double since = lg__now();
    int e = lg_trainer_step(*t, &s->shape.batch, NULL, err);
    int n = e ? e : steps_for(s, c, lg__now() - since, err);
    e = n < 0 ? n : meet(c, err);
    return e ? e : n;
}

/* Medians of the parts of steps that every rank of c makes for itself, at the same time. */
static int measure_parts(struct scale *s, lg_comm *c, struct lg__parts *parts, lg_error *err)
{
    double at[4][TIMES];
    lg_trainer *t;
    int n = begin_steps(s, NULL, c, &t, err), e = n < 0 ? n : 0;
    for (int i = 0; i < n && !e; i++) {
        e = lg_trainer_step(t, &s->shape.batch, NULL, err);
        const struct lg__parts *p = &lg__trainer_ranks(t)->parts;
        at[0][i] = p->groups;
        at[1][i] = p->sum;
        at[2][i] = p->update;
        at[3][i] = p->pack;
    }
    lg_trainer_free(t);
    if (!e)
        *parts = (struct lg__parts){median(at[0], n), median(at[1], n), median(at[2], n),
                                    median(at[3], n)};
    return e;
}

/* Seconds of a swap of n floats with the neighbour, added to ours, as a round of a step does. */
static int measure_swap(struct scale *s, lg_comm *c, size_t n, double *seconds, lg_error *err)
{
    double at[TIMES];
    struct lg__ranks r;
    int with = lg_comm_rank(c) ^ 1, e = lg__ranks_open(&r, c, lg_comm_size(c), s->size, err);
    for (int i = -WARM; i < TIMES && !e; i++) {
        if ((e = meet(c, err))) break;
        double since = lg__now();
        e = lg__ranks_swap(&r, with, s->x, s->y, n, i % 2 ? s->model->k : NULL, err);
        if (i >= 0) at[i] = lg__now() - since;
    }
    lg__ranks_close(&r);
    if (!e) *seconds = median(at, TIMES);
    return e;
}

static int measure_messages(struct scale *s, lg_comm *c, struct measured *m, lg_error *err)
{
    double small = 0, large = 0;
    size_t n = s->size / 2;
    int e = measure_swap(s, c, SMALL_FLOATS, &small, err);
    if (!e) e = measure_swap(s, c, n, &large, err);
    m->latency = small;
    m->per_byte = fmax(0, large - small) / (4.0 * (double)n);
    return e;
}

static int measure_step(struct scale *s, lg_comm *c, double *seconds, lg_error *err)
{
    double at[TIMES];
    lg_trainer *t;
    int n = begin_steps(s, c, c, &t, err), e = n < 0 ? n : 0;
    for (int i = 0; i < n && !e; i++) {
        double since = lg__now();
        e = lg_trainer_step(t, &s->shape.batch, NULL, err);
        at[i] = lg__now() - since;
    }
    lg_trainer_free(t);
    if (!e) *seconds = median(at, n);
    return e;
}

/* The slowest rank of each part: the others wait for it. Of messages the mean: a rank that comes to a swap a little
 * later than the other finds its half there already, and the other waits as much longer. */
static int join_ranks(lg_comm *c, struct measured *m, lg_error *err)
{
    int size = lg_comm_size(c);
    struct measured *all = lg__alloc((size_t)size * sizeof *all);
    if (!all) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d ranks", size);
    all[lg_comm_rank(c)] = *m;
    int e = lg__comm_gather(c, all, sizeof *all, err);
    m->latency = m->per_byte = 0;
    for (int i = 0; i < size && !e; i++) {
        m->parts.groups = fmax(m->parts.groups, all[i].parts.groups);
        m->parts.sum = fmax(m->parts.sum, all[i].parts.sum);
        m->parts.update = fmax(m->parts.update, all[i].parts.update);
        m->parts.pack = fmax(m->parts.pack, all[i].parts.pack);
        m->latency += all[i].latency / size;
        m->per_byte += all[i].per_byte / size;
        m->step = fmax(m->step, all[i].step);
    }
    free(all);
    return e;
}

static lg_scale_row predict(const struct scale *s, const struct measured *m, int ranks)
{
    const lg_scale_options *o = s->o;
    int sequences = s->shape.batch.sequences, rounds = 0;
    while (1 << rounds < ranks) rounds++;
    double rows = s->shape.batch.rows, most = ceil((double)sequences / ranks) / sequences;
    lg_scale_row r = {.shape = s->shape.name,
                      .ranks = ranks,
                      .threads = s->threads,
                      .parameters = (int64_t)s->size,
                      .latency = o->latency > 0 ? o->latency : m->latency,
                      .bandwidth = o->bandwidth > 0  ? o->bandwidth
                                   : m->per_byte > 0 ? 1 / m->per_byte
                                                     : 0};
    double own = (m->parts.sum + m->parts.update) / ranks + m->parts.pack;
    double bytes = r.bandwidth > 0 ? 4.0 * (double)s->size / r.bandwidth : 0;
    double alone = m->parts.groups + m->parts.sum + m->parts.update + m->parts.pack;
    r.compute_s = m->parts.groups * most + own;
    r.combine_s = 3 * rounds * r.latency + 2 * bytes * (1 - 1.0 / ranks);
    r.predicted = rows / (r.compute_s + r.combine_s);
    r.efficiency = r.predicted / (ranks * rows / alone);
    r.weak = ranks * rows / (m->parts.groups + own + r.combine_s);
    return r;
}

/* The ranks below `ranks` measure; the others wait. */
static int measure(struct scale *s, int ranks, struct measured *m, lg_error *err)
{
    int e = 0;
    if (lg_comm_rank(s->comm) < ranks) {
        lg_comm *c = ranks > 1 ? lg__comm_first(s->comm, ranks) : NULL;
        if (ranks > 1 && !c) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for %d ranks", ranks);
        if (!e) e = measure_parts(s, c, &m->parts, err);
        if (!e && c) e = measure_messages(s, c, m, err);
        if (!e) e = measure_step(s, c, &m->step, err);
        if (!e && c) e = join_ranks(c, m, err);
        free(c);
    }
    char word = 0; /* those that wait have no limit */
    return e ? e : lg__comm_spread(s->comm, &word, 1, 1, err);
}

static int run_shape(struct scale *s, lg_scale_report *report, void *context, lg_error *err)
{
    int most = s->o->most ? s->o->most : MOST_RANKS, size = lg_comm_size(s->comm), e = 0;
    struct measured last = {.latency = 30e-6, .per_byte = 1 / 1.1e9}, alone = {0};
    for (int ranks = 1; ranks <= most && !e; ranks *= 2) {
        struct measured m = {0};
        int here = ranks <= size;
        if (here) e = measure(s, ranks, &m, err);
        if (e || lg_comm_rank(s->comm)) continue;
        if (ranks == 2 && here) last = m; /* the network between two, with the cores to spare */
        if (ranks == 1) alone = m;
        if (!here) { /* on hosts of their own: nothing but the network is shared */
            m = alone;
            m.latency = last.latency;
            m.per_byte = last.per_byte;
        }
        lg_scale_row row = predict(s, &m, ranks);
        if (here) row.measured = s->shape.batch.rows / m.step;
        if (ranks > 1 && here) { /* against one rank on the same machine */
            double one =
                alone.parts.groups + alone.parts.sum + alone.parts.update + alone.parts.pack;
            row.efficiency = row.predicted / (ranks * s->shape.batch.rows / one);
        }
        report(context, &row);
    }
    return e;
}

int lg_bench_scale(const lg_scale_options *o, lg_comm *c, lg_scale_report *report, void *context,
                   lg_error *err)
{
    const char *name;
    lg_error own;
    int found = 0, e = 0, size = lg_comm_size(c);
    if (!err) err = &own;
    if (size & (size - 1) || size > MOST_RANKS)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%d ranks share no step; start a power of two of them, at most %d", size,
                        MOST_RANKS);
    for (int i = 0; (name = lg__shape_name(i)) && !e; i++) {
        if (o->shape && !strstr(name, o->shape)) continue;
        struct scale s = {.o = o, .comm = c, .train = lg_train_options_default()};
        found = 1;
        s.threads = s.train.threads = lg__comm_threads(c, o->threads);
        if (!s.threads) s.threads = lg_cores();
        if (s.train.groups < size) s.train.groups = size;
        e = lg__shape_open(i, &s.shape, err);
        if (!e && !(s.model = lg_model_new(&s.shape.config, err))) e = err->code;
        if (!e) s.size = s.model->size;
        s.x = e ? NULL : lg__alloc(s.size * sizeof(float));
        s.y = e ? NULL : lg__alloc(s.size * sizeof(float));
        if (!e && (!s.x || !s.y)) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for messages");
        if (!e) e = run_shape(&s, report, context, err);
        free(s.x);
        free(s.y);
        lg_model_free(s.model);
        if (!e || s.shape.batch.rows) lg__shape_clear(&s.shape);
    }
    if (!e && !found)
        return lg__fail(err, LG_ERROR_ARGUMENT, "no shape has '%s' in its name; the first is '%s'",
                        o->shape, lg__shape_name(0));
    return e;
}
