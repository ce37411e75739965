/* member.c: sparse functional attention with its parameters. g is a softmax over the labels for
 * each tuple, or a product of tanh, one a word; A is exp of the scores, times the pattern's weight. */
#include "theory/member.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

enum { MOST_VALUES = 1 << 24 };

/* ---- Made ----------------------------------------------------------------------------------- */

static int refuse(const lg_theory_class *c, int k, int labels, lg_error *err)
{
    if (c->sign && (labels != 2 || !c->words || c->patterns || c->coupled))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "g as a product of signs needs two labels (here %d), scores of words, and "
                        "neither weights of patterns nor coupled IDs; take g as a table",
                        labels);
    if (c->patterns && (!c->local || c->coupled))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "weights of patterns need a span of places within which they lie; give "
                        "local, and no coupled IDs");
    if (c->coupled && !c->local)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "coupled IDs need a span that counts them; give local, 1 or more");
    if (c->local && c->local < k && !c->coupled)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "local is %d, which cannot hold k = %d places; take %d or more", c->local,
                        k, k);
    if (labels > LG__SUM_MOST_OUTPUTS)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the ensemble has %d labels; the theory room takes at most %d", labels,
                        LG__SUM_MOST_OUTPUTS);
    return 0;
}

static int section(struct lg__member *m, int numbers)
{
    int begin = m->count;
    m->count += numbers;
    return begin;
}

static int tuples_of(const struct lg__member *m) { return m->tuples.count[m->k]; }

static void start(struct lg__member *m, uint64_t seed)
{
    lg_rng r;
    lg_rng_init(&r, seed, 1, 0);
    for (int i = m->weights; i < m->values; i++) m->theta[i] = 1;
    for (int i = m->values; i < m->count; i++)
        m->theta[i] = m->c.sign ? lg_rng_uniform(&r) - 0.5 : 0.1 * lg_rng_normal(&r);
}

int lg__member_make(struct lg__member *m, const lg_theory_class *c, int k, int vocab, int labels,
                    uint64_t seed, lg_error *err)
{
    *m = (struct lg__member){.c = *c, .k = k, .vocab = vocab, .labels = labels};
    int e = refuse(c, k, labels, err), tuples = 0;
    if (!e && !c->sign && !(e = lg__tuples_make(&m->tuples, k, vocab, !c->unordered, err)))
        tuples = tuples_of(m);
    if (!e && c->local && !c->coupled && !c->sign)
        e = lg__patterns_all(&m->patterns, k, c->local, err);
    if (!e && (int64_t)tuples * labels > MOST_VALUES)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "g has %d tuples and %d labels; the theory room takes at most %d values: use "
                     "fewer words or labels",
                     tuples, labels, MOST_VALUES);
    if (e) return e;
    m->words = section(m, c->words ? vocab : 0);
    m->offsets = section(m, c->offsets ? c->offsets + !c->window : 0);
    m->scores = section(m, c->words ? 0 : tuples);
    m->weights = section(m, c->patterns ? m->patterns.count : 0);
    m->values = section(m, c->sign ? vocab : tuples * labels);
    m->theta = lg__alloc((size_t)m->count * sizeof *m->theta);
    m->g = lg__alloc((size_t)(m->count - m->values) * sizeof *m->g);
    m->table = (struct lg__table){.tuples = &m->tuples, .outputs = labels, .g = m->g};
    if (m->theta && m->g && tuples && !c->words) {
        m->table.m = lg__alloc((size_t)tuples * sizeof *m->table.m);
        m->table.e = lg__alloc((size_t)tuples * sizeof *m->table.e);
    }
    if (!m->theta || !m->g || (tuples && !c->words && (!m->table.m || !m->table.e)))
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d parameters; use fewer words",
                        m->count);
    if (c->patterns) m->patterns.weight = m->theta + m->weights;
    start(m, seed);
    lg__member_refresh(m);
    return 0;
}

void lg__member_clear(struct lg__member *m)
{
    lg__tuples_clear(&m->tuples);
    lg__patterns_clear(&m->patterns);
    free(m->theta);
    free(m->g);
    free(m->table.m);
    free(m->table.e);
    *m = (struct lg__member){0};
}

void lg__reader_clear(struct lg__reader *r)
{
    lg__sum_work_clear(&r->work);
    lg__block_free(&r->block[0]);
    lg__block_free(&r->block[1]);
    free(r->gradient);
}

void lg__member_refresh(struct lg__member *m)
{
    const double *value = m->theta + m->values;
    if (m->table.m) lg__table_scores(&m->table, m->theta + m->scores);
    for (int i = 0; i < m->vocab && m->c.sign; i++) m->g[i] = tanh(value[i]);
    for (int i = m->values; i < m->count && !m->c.sign; i += m->labels) {
        double most = -INFINITY, sum = 0, *g = m->g + (i - m->values);
        for (int y = 0; y < m->labels; y++) most = fmax(most, m->theta[i + y]);
        for (int y = 0; y < m->labels; y++) sum += g[y] = exp(m->theta[i + y] - most);
        for (int y = 0; y < m->labels; y++) g[y] /= sum;
    }
}

void lg__member_chain(const struct lg__member *m, double *gradient)
{
    double *d = gradient + m->values;
    for (int i = 0; i < m->vocab && m->c.sign; i++) d[i] *= 1 - m->g[i] * m->g[i];
    for (int i = 0; i < m->count - m->values && !m->c.sign; i += m->labels) {
        double mean = 0;
        for (int y = 0; y < m->labels; y++) mean += m->g[i + y] * d[i + y];
        for (int y = 0; y < m->labels; y++) d[i + y] = m->g[i + y] * (d[i + y] - mean);
    }
}

/* ---- Read ----------------------------------------------------------------------------------- */

/* The number of a place's distance score; -1: it has none, and -2: A is 0 there. */
static int offset_of(const struct lg__member *m, int n, int at)
{
    int distance = n - 1 - at;
    if (!m->c.offsets) return -1;
    if (distance < m->c.offsets) return distance;
    return m->c.window ? -2 : m->c.offsets;
}

static void place_scores(const struct lg__member *m, const struct lg__sample *x, double *score)
{
    for (int i = 0; i < x->n; i++) {
        int offset = offset_of(m, x->n, i);
        score[i] = m->c.words ? m->theta[m->words + x->token[i]] : 0;
        if (offset >= 0) score[i] += m->theta[m->offsets + offset];
        if (offset == -2) score[i] = -INFINITY;
    }
}

static void spread_scores(const struct lg__member *m, const struct lg__sample *x, const double *d,
                          double *gradient)
{
    for (int i = 0; i < x->n; i++) {
        int offset = offset_of(m, x->n, i);
        if (m->c.words) gradient[m->words + x->token[i]] += d[i];
        if (offset >= 0) gradient[m->offsets + offset] += d[i];
    }
}

/* The answer as a distribution, and the derivative of -log p[label] by h. */
static void answer(const struct lg__member *m, const struct lg__sample *x, const double *h,
                   double *p, double *out)
{
    for (int y = 0; y < m->labels; y++) {
        p[y] = m->c.sign ? (y ? 1 - h[0] : 1 + h[0]) / 2 : h[y];
        out[y] = 0;
    }
    double slope = -1 / fmax(p[x->label], 1e-12);
    if (m->c.sign)
        out[0] = x->label ? -slope / 2 : slope / 2;
    else
        out[x->label] = slope;
}

int lg__member_read(const struct lg__member *m, struct lg__reader *r, const struct lg__sample *x,
                    double *p, lg_error *err)
{
    double h[LG__SUM_MOST_OUTPUTS], out[LG__SUM_MOST_OUTPUTS];
    size_t bytes = (size_t)x->n * sizeof(double);
    int e;
    if ((e = lg__block_grow(&r->block[0], bytes, 0, "the scores of a text", err)) ||
        (e = lg__block_grow(&r->block[1], bytes, 0, "the scores of a text", err)))
        return e;
    double *score = r->block[0].data, *d = r->block[1].data;
    place_scores(m, x, score);
    struct lg__sum s = {.n = x->n, .k = m->k, .score = score, .token = x->token};
    lg__sum_form *form = lg__sum_tuples;
    if (m->c.sign) {
        form = lg__sum_symmetric;
        s.sign = m->g;
        s.span = m->c.local;
    } else {
        s.table = &m->table;
        if (m->c.local) form = lg__sum_patterns;
        if (m->c.local) s.patterns = &m->patterns;
        if (m->c.coupled) s.id = x->id, s.span = m->c.local;
    }
    if ((e = form(&s, &r->work, h, NULL, NULL, err))) return e;
    answer(m, x, h, p, out);
    if (!r->gradient) return 0;
    struct lg__sum_gradient g = {.out = out, .score = NULL};
    if (m->c.words || m->c.offsets) g.score = d;
    if (m->c.sign)
        g.sign = r->gradient + m->values;
    else
        g.g = r->gradient + m->values;
    if (m->table.m) g.tuple = r->gradient + m->scores;
    if (m->c.patterns) g.weight = r->gradient + m->weights;
    for (int i = 0; i < x->n; i++) d[i] = 0;
    if ((e = form(&s, &r->work, h, NULL, &g, err))) return e;
    if (g.score) spread_scores(m, x, d, r->gradient);
    return 0;
}
