/* fire.c: a learned function of the distance, relative to how far the query is into the text:
 *
 *     bias = f_h(x),   x = sign psi(|d|) / psi(max(L, i)),   psi(a) = ln(c a + 1)
 *
 * d = query ID - key ID, i = query ID, sign -1 for keys ahead (d < 0). f is a hidden layer of 32
 * ReLU units that the heads share, and one output for each head:
 * f_h(x) = bias_h + sum_k w_hk max(a_k x + b_k, 0). c and L are exp of what is learned, so they
 * stay positive. */
#include <math.h>

#include "positions/positions.h"

/* The parameters of one level: one row of the matrix. */
enum {
    HIDDEN = 32,
    AT_C = 0, /* ln c */
    AT_L = 1, /* ln L */
    AT_A = 2,
    AT_B = AT_A + HIDDEN,
    AT_HEADS = AT_B + HIDDEN,
    HEAD = HIDDEN + 1, /* w, then the bias */
    TILE = 32          /* keys at a time */
};

static size_t row_size(const lg_model_config *c) { return AT_HEADS + HEAD * (size_t)c->heads; }

static void shape(const lg_model_config *c, int *rows, int *cols)
{
    *rows = c->levels;
    *cols = (int)row_size(c);
}

static float uniform(lg_rng *r, double most) { return (float)(most * (2 * lg_rng_uniform(r) - 1)); }

/* The hidden layer and the output weights as torch's Linear(1, 32) and Linear(32, H). */
static void init(float *param, const lg_model_config *c, lg_rng *r)
{
    for (int l = 0; l < c->levels; l++, param += row_size(c)) {
        param[AT_C] = (float)log(0.1);
        param[AT_L] = (float)log(512);
        for (int k = AT_A; k < AT_HEADS; k++) param[k] = uniform(r, 1);
        for (int h = 0; h < c->heads; h++) {
            float *head = param + AT_HEADS + HEAD * (size_t)h;
            for (int k = 0; k < HIDDEN; k++) head[k] = uniform(r, 1 / sqrt(HIDDEN));
            head[HIDDEN] = 0;
        }
    }
}

/* What all keys of one query share. */
struct query {
    double c, most; /* most = max(L, i) */
    double psi;     /* psi(most) */
    int of_L;       /* most is L: its gradient goes there */
};

static struct query query_of(const float *row, int32_t id)
{
    double L = exp((double)row[AT_L]);
    struct query q = {.c = exp((double)row[AT_C])};
    q.of_L = !(id > L); /* where both are the same, of the two subgradients that of L */
    q.most = q.of_L ? L : id;
    q.psi = log1p(q.c * q.most);
    return q;
}

/* d here as everywhere is key - query: positive for a key ahead. */
static double place(const struct query *q, int64_t d)
{
    double x = log1p(q->c * (double)lg__distance(d)) / q->psi;
    return d > 0 ? -x : x;
}

/* f[j] = f_h(x[j]). Always a whole tile: a loop of fixed length over keys becomes vectors. A NaN
 * must pass through the ReLU, or a broken model would look well; hence the way it compares. */
static void network(float *f, const float *x, const float *row, const float *head)
{
    for (int j = 0; j < TILE; j++) f[j] = head[HIDDEN];
    for (int k = 0; k < HIDDEN; k++) {
        float a = row[AT_A + k], b = row[AT_B + k], w = head[k];
        for (int j = 0; j < TILE; j++) {
            float unit = a * x[j] + b;
            f[j] += w * (unit < 0 ? 0 : unit);
        }
    }
}

static void tile_bias(float *out, const float *row, const float *head, const struct query *q,
                      const struct lg__pairs *p, int level, int first, int n)
{
    float x[TILE] = {0}, f[TILE];
    int there[TILE];
    int64_t d;
    for (int j = 0; j < n; j++) {
        there[j] = lg__difference(p, level, first + j, &d);
        if (there[j]) x[j] = (float)place(q, d);
    }
    network(f, x, row, head);
    for (int j = 0; j < n; j++)
        if (there[j]) out[first + j] += f[j];
}

static void bias(float *out, const float *param, const lg_model_config *c, int head,
                 const struct lg__pairs *p)
{
    for (int j = 0; j < p->n; j++) out[j] = 0;
    for (int l = 0; l < c->levels; l++, param += row_size(c)) {
        if (p->query[l] == LG_ABSENT) continue;
        struct query q = query_of(param, p->query[l]);
        const float *own = param + AT_HEADS + HEAD * (size_t)head;
        for (int first = 0; first < p->n; first += TILE) {
            int n = p->n - first < TILE ? p->n - first : TILE;
            tile_bias(out, param, own, &q, p, l, first, n);
        }
    }
}

/* Sums over the keys of dout_j * (unit k is on) * (1, unit, x, dx/d ln c, dx/d ln L): all that
 * the gradients need, and no sum over k inside the loop. */
struct sums {
    float one[HIDDEN], unit[HIDDEN], x[HIDDEN], c[HIDDEN], L[HIDDEN];
};

static void add_key(struct sums *s, const float *row, float g, float x, float dc, float dL)
{
    const float *a = row + AT_A, *b = row + AT_B;
    for (int k = 0; k < HIDDEN; k++) {
        float unit = a[k] * x + b[k], on = unit > 0 ? g : 0;
        s->one[k] += on;
        s->unit[k] += on * unit;
        s->x[k] += on * x;
        s->c[k] += on * dc;
        s->L[k] += on * dL;
    }
}

/* d psi(a) / d ln c and d psi(a) / d ln a are the same: c a / (c a + 1). With x = u / v,
 * u = sign psi(|d|), v = psi(most):  dx = (du - x dv) / v. */
static void add_keys(struct sums *s, float *dhead, const float *dout, const float *row,
                     const struct query *q, const struct lg__pairs *p, int level)
{
    double dv = q->c * q->most / (q->c * q->most + 1), g = 0;
    int64_t d;
    for (int j = 0; j < p->n; j++) {
        if (!lg__difference(p, level, j, &d)) continue;
        double x = place(q, d), ca = q->c * (double)lg__distance(d), du = ca / (ca + 1);
        double dc = ((d > 0 ? -du : du) - x * dv) / q->psi;
        double dL = q->of_L ? -x * dv / q->psi : 0;
        add_key(s, row, dout[j], (float)x, (float)dc, (float)dL);
        g += dout[j];
    }
    dhead[HIDDEN] += (float)g;
}

static void bias_backward(float *dparam, const float *dout, const float *param,
                          const lg_model_config *c, int head, const struct lg__pairs *p)
{
    size_t own = AT_HEADS + HEAD * (size_t)head, size = row_size(c);
    for (int l = 0; l < c->levels; l++, param += size, dparam += size) {
        if (p->query[l] == LG_ABSENT) continue;
        struct query q = query_of(param, p->query[l]);
        struct sums s = {{0}, {0}, {0}, {0}, {0}};
        const float *w = param + own, *a = param + AT_A;
        add_keys(&s, dparam + own, dout, param, &q, p, l);
        for (int k = 0; k < HIDDEN; k++) {
            dparam[own + (size_t)k] += s.unit[k];
            dparam[AT_A + k] += w[k] * s.x[k];
            dparam[AT_B + k] += w[k] * s.one[k];
            dparam[AT_C] += w[k] * a[k] * s.c[k];
            dparam[AT_L] += w[k] * a[k] * s.L[k];
        }
    }
}

const struct lg__encoding lg__encoding_fire = {
    .name = "fire",
    .line = "a learned function of the distance relative to the query's own ID",
    .text = "score += f_h(x),   x = psi(d) / psi(max(L, i)),   psi(a) = ln(c a + 1)\n"
            "d = query ID - key ID, i = query ID; for a key ahead (d < 0)\n"
            "x = -psi(|d|) / psi(max(L, i)). f_h(x) = o_h + sum_k w_hk max(a_k x + b_k, 0),\n"
            "k = 1..32; a and b are shared by the heads of a layer. c (0.1 at first) and L (512\n"
            "at first) are learned as their logarithms. With keys behind only, x is from 0 to 1\n"
            "at any length.\n"
            "Levels: a set of parameters each; their values are added. A level that either\n"
            "token lacks adds nothing.\n"
            "Needs: nothing. It is the slowest encoding: a logarithm and 32 units for each\n"
            "query, key and head.",
    .flags = 0, /* up to L only differences count, and past it all of them shrink alike */
    .shape = shape,
    .init = init,
    .bias = bias,
    .bias_backward = bias_backward,
};
