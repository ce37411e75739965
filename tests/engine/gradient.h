/* gradient.h: every backward kernel of a double table against central differences of its
 * forward kernel: L = sum of w * output for random w; the backward pass gets w as the
 * output's gradient and must give dL/dx. The error of a gradient is its largest difference
 * over its largest number; each function answers with the worst of its inputs. */
#ifndef TESTS_ENGINE_GRADIENT_H
#define TESTS_ENGINE_GRADIENT_H

#include "engine/cases.h"
#include "engine/helper.h"

/* Numbers of each input that are moved: all, or the one of the largest gradient and others
 * by lot. */
enum { PROBES = 60 };

/* One operation at work: its table, row, inputs and what its loss needs. */
struct probe {
    const struct lg__kernels64 *k;
    const int *size;
    lg_rng *r;
    double *x[4];    /* inputs */
    double *w, *out; /* weights of the loss, and the output */
    double *room[5]; /* kept for the backward pass, tables, scratch */
    int32_t *index;
    int *key, *turn;
    size_t n; /* of the output */
};

typedef double loss_function(struct probe *p);

static inline double weighted(const struct probe *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += p->w[i] * p->out[i];
    return sum;
}

static inline void probe_output(struct probe *p, size_t n)
{
    p->n = n;
    p->w = random_doubles(p->r, n);
    p->out = hold_doubles(n);
}

/* Gradients that are added to start from 1, to see that they are. */
static inline double *ones(size_t n)
{
    double *x = hold_doubles(n);
    for (size_t i = 0; i < n; i++) x[i] = 1;
    return x;
}

static inline void less_one(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] -= 1;
}

/* The error of dx[n], which claims to be the gradient of loss by x[n]. */
static inline double gradient_error(struct probe *p, loss_function *loss, double *x,
                                    const double *dx, size_t n)
{
    const double step = 2e-5;
    double off = 0, largest = 1e-3; /* a gradient of 0 has no relative error */
    size_t top = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(dx[i]));
        if (fabs(dx[i]) > fabs(dx[top])) top = i;
    }
    for (size_t i = 0; i < (n < PROBES ? n : PROBES); i++) {
        size_t at = n <= PROBES ? i : i == 0 ? top : lg_rng_below(p->r, (uint32_t)n);
        double old = x[at];
        x[at] = old + step;
        double up = loss(p);
        x[at] = old - step;
        double slope = (up - loss(p)) / (2 * step);
        x[at] = old;
        double error = fabs(slope - dx[at]);
        off = isnan(error) ? INFINITY : fmax(off, error);
        largest = fmax(largest, fabs(slope));
    }
    return off / largest;
}

/* ---- c = a B + bias: da = dc B^T, dB = a^T dc, dbias = sum of the rows of dc */

static inline double loss_gemm(struct probe *p)
{
    int M = p->size[0], N = p->size[1], K = p->size[2];
    p->k->pack(p->room[0], p->x[1], (size_t)N, 1, K, N);
    p->k->gemm(p->out, (size_t)N, p->x[0], (size_t)K, p->room[0], p->x[2], M, N, K, 0);
    return weighted(p);
}

static inline double gradient_gemm(struct probe *p)
{
    size_t M = (size_t)p->size[0], N = (size_t)p->size[1], K = (size_t)p->size[2];
    int m = p->size[0], n = p->size[1], c = p->size[2];
    p->x[0] = random_doubles(p->r, M * K);
    p->x[1] = random_doubles(p->r, K * N);
    p->x[2] = random_doubles(p->r, N);
    p->room[0] = hold_doubles(p->k->pack_size(c, n));
    probe_output(p, M * N);
    double *da = ones(M * K), *dB = ones(K * N), *dbias = ones(N);
    double *turned = hold_doubles(p->k->pack_size(n, c));
    double *scratch = hold_doubles(p->k->gemm_tn_scratch(c, n, m));
    p->k->pack(turned, p->x[1], 1, N, n, c);
    p->k->gemm(da, K, p->w, N, turned, NULL, m, c, n, 1);
    p->k->gemm_tn(dB, N, p->x[0], K, p->w, N, c, n, m, 1, scratch);
    p->k->sum_rows(dbias, p->w, m, n);
    less_one(da, M * K);
    less_one(dB, K * N);
    less_one(dbias, N);
    double e = gradient_error(p, loss_gemm, p->x[0], da, M * K);
    e = fmax(e, gradient_error(p, loss_gemm, p->x[1], dB, K * N));
    return fmax(e, gradient_error(p, loss_gemm, p->x[2], dbias, N));
}

/* ---- embedding */

static inline double loss_embed(struct probe *p)
{
    p->k->embed_forward(p->out, p->x[0], p->index, p->size[0], p->size[1]);
    return weighted(p);
}

static inline double gradient_embed(struct probe *p)
{
    int T = p->size[0], C = p->size[1], V = p->size[2];
    p->index = hold((size_t)T * sizeof *p->index);
    for (int t = 0; t < T; t++) p->index[t] = (int32_t)lg_rng_below(p->r, (uint32_t)V);
    p->x[0] = random_doubles(p->r, (size_t)(V * C));
    probe_output(p, (size_t)(T * C));
    double *dtable = ones((size_t)(V * C));
    p->k->embed_backward(dtable, p->w, p->index, T, C);
    less_one(dtable, (size_t)(V * C));
    return gradient_error(p, loss_embed, p->x[0], dtable, (size_t)(V * C));
}

/* ---- norms */

static inline double loss_layernorm(struct probe *p)
{
    int weights = p->size[2];
    p->k->layernorm_forward(p->out, p->room[0], p->room[1], p->x[0], weights ? p->x[1] : NULL,
                            weights ? p->x[2] : NULL, p->size[0], p->size[1], 0.01);
    return weighted(p);
}

static inline double gradient_layernorm(struct probe *p)
{
    int T = p->size[0], C = p->size[1], weights = p->size[2];
    size_t n = (size_t)T * (size_t)C, c = (size_t)C;
    p->x[0] = random_doubles(p->r, n);
    p->x[1] = random_doubles(p->r, c);
    p->x[2] = random_doubles(p->r, c);
    p->room[0] = hold_doubles((size_t)T);
    p->room[1] = hold_doubles((size_t)T);
    probe_output(p, n);
    loss_layernorm(p);
    double *dx = ones(n), *dw = ones(c), *db = ones(c);
    p->k->layernorm_backward(dx, weights ? dw : NULL, weights ? db : NULL, p->w, p->x[0],
                             p->room[0], p->room[1], weights ? p->x[1] : NULL, T, C);
    less_one(dx, n);
    less_one(dw, c);
    less_one(db, c);
    double e = gradient_error(p, loss_layernorm, p->x[0], dx, n);
    if (!weights) return e;
    e = fmax(e, gradient_error(p, loss_layernorm, p->x[1], dw, c));
    return fmax(e, gradient_error(p, loss_layernorm, p->x[2], db, c));
}

static inline double loss_rmsnorm(struct probe *p)
{
    p->k->rmsnorm_forward(p->out, p->room[0], p->x[0], p->size[2] ? p->x[1] : NULL, p->size[0],
                          p->size[1], 0.01);
    return weighted(p);
}

static inline double gradient_rmsnorm(struct probe *p)
{
    int T = p->size[0], C = p->size[1], weights = p->size[2];
    size_t n = (size_t)T * (size_t)C, c = (size_t)C;
    p->x[0] = random_doubles(p->r, n);
    p->x[1] = random_doubles(p->r, c);
    p->room[0] = hold_doubles((size_t)T);
    probe_output(p, n);
    loss_rmsnorm(p);
    double *dx = ones(n), *dw = ones(c);
    p->k->rmsnorm_backward(dx, weights ? dw : NULL, p->w, p->x[0], p->room[0],
                           weights ? p->x[1] : NULL, T, C);
    less_one(dx, n);
    less_one(dw, c);
    double e = gradient_error(p, loss_rmsnorm, p->x[0], dx, n);
    return weights ? fmax(e, gradient_error(p, loss_rmsnorm, p->x[1], dw, c)) : e;
}

/* ---- activations and rotary */

static inline double loss_gelu(struct probe *p)
{
    p->k->gelu_forward(p->out, p->x[0], p->n, p->size[1]);
    return weighted(p);
}

static inline double gradient_gelu(struct probe *p)
{
    size_t n = (size_t)p->size[0];
    p->x[0] = random_doubles(p->r, n);
    for (size_t i = 0; i < n; i++) p->x[0][i] *= 2;
    probe_output(p, n);
    double *dx = hold_doubles(n);
    p->k->gelu_backward(dx, p->w, p->x[0], n, p->size[1]);
    return gradient_error(p, loss_gelu, p->x[0], dx, n);
}

static inline double loss_swiglu(struct probe *p)
{
    p->k->swiglu_forward(p->out, p->x[0], p->size[0], p->size[1]);
    return weighted(p);
}

static inline double gradient_swiglu(struct probe *p)
{
    size_t n = (size_t)p->size[0] * (size_t)p->size[1];
    p->x[0] = random_doubles(p->r, 2 * n);
    probe_output(p, n);
    double *dgu = hold_doubles(2 * n);
    p->k->swiglu_backward(dgu, p->w, p->x[0], p->size[0], p->size[1]);
    return gradient_error(p, loss_swiglu, p->x[0], dgu, 2 * n);
}

static inline void probe_angles(struct probe *p, int rows, int R)
{
    p->room[0] = hold_doubles((size_t)(rows * (R / 2)));
    p->room[1] = hold_doubles((size_t)(rows * (R / 2)));
    for (int i = 0; i < rows * (R / 2); i++) {
        p->room[0][i] = cos(1 + 0.7 * i);
        p->room[1][i] = sin(1 + 0.7 * i);
    }
}

static inline double loss_rotary(struct probe *p)
{
    memcpy(p->out, p->x[0], p->n * sizeof *p->out);
    p->k->rotary(p->out, (size_t)(p->size[1] * p->size[2]), p->room[0], p->room[1], p->size[0],
                 p->size[1], p->size[2], p->size[3], 1);
    return weighted(p);
}

static inline double gradient_rotary(struct probe *p)
{
    int T = p->size[0], H = p->size[1], D = p->size[2], R = p->size[3];
    size_t n = (size_t)T * (size_t)(H * D);
    p->x[0] = random_doubles(p->r, n);
    probe_angles(p, T, R);
    probe_output(p, n);
    double *dx = hold_doubles(n);
    memcpy(dx, p->w, n * sizeof *dx);
    p->k->rotary(dx, (size_t)(H * D), p->room[0], p->room[1], T, H, D, R, -1);
    return gradient_error(p, loss_rotary, p->x[0], dx, n);
}

/* ---- full attention of T queries over T keys, causal, in blocks of keys: the engine's
 * forward and backward in small. x: q, k, v [T,D]; room: s, m, l, alpha; packed in x[3]. */

static inline int attention_block(const struct probe *p, int first, int *seen)
{
    int T = p->size[0], nk = T - first < p->size[2] ? T - first : p->size[2];
    for (int i = 0; i < T; i++) seen[i] = i < first ? 0 : i - first < nk ? i - first + 1 : nk;
    return nk;
}

/* s[T,nk] = a[T,D] b[nk,D]^T */
static inline void products(struct probe *p, double *s, const double *a, const double *b, int nk)
{
    int T = p->size[0], D = p->size[1];
    p->k->pack(p->x[3], b, 1, (size_t)D, D, nk);
    p->k->gemm(s, (size_t)p->size[2], a, (size_t)D, p->x[3], NULL, T, nk, D, 0);
}

static inline double loss_attention(struct probe *p)
{
    int T = p->size[0], D = p->size[1], width = p->size[2];
    double *s = p->room[0], *m = p->room[1], *l = p->room[2], *alpha = p->room[3];
    size_t d = (size_t)D;
    for (int i = 0; i < T; i++) {
        m[i] = -INFINITY;
        l[i] = 0;
    }
    for (size_t i = 0; i < p->n; i++) p->out[i] = 0;
    for (int first = 0; first < T; first += width) {
        int nk = attention_block(p, first, p->key);
        products(p, s, p->x[0], p->x[1] + (size_t)first * d, nk);
        p->k->softmax_block(s, (size_t)width, m, l, alpha, p->key, T, nk);
        p->k->scale_rows(p->out, d, alpha, T, D);
        p->k->pack(p->x[3], p->x[2] + (size_t)first * d, d, 1, nk, D);
        p->k->gemm(p->out, d, s, (size_t)width, p->x[3], NULL, T, D, nk, 1);
    }
    for (int i = 0; i < T; i++) alpha[i] = 1 / l[i];
    p->k->scale_rows(p->out, d, alpha, T, D);
    return weighted(p);
}

static inline double gradient_attention(struct probe *p)
{
    int T = p->size[0], D = p->size[1], width = p->size[2];
    size_t d = (size_t)D, n = (size_t)T * d, w = (size_t)width;
    for (int i = 0; i < 3; i++) p->x[i] = random_doubles(p->r, n);
    p->x[3] = hold_doubles(p->k->pack_size(D, width) + p->k->pack_size(width, D));
    p->room[0] = hold_doubles((size_t)T * w);
    for (int i = 1; i < 5; i++) p->room[i] = hold_doubles((size_t)T);
    p->key = hold((size_t)T * sizeof *p->key);
    probe_output(p, n);
    loss_attention(p);

    double *dq = hold_doubles(n), *dk = hold_doubles(n), *dv = hold_doubles(n);
    double *s = p->room[0], *ds = hold_doubles((size_t)T * w), *delta = p->room[4];
    double *lse = hold_doubles((size_t)T);
    double *scratch = hold_doubles(p->k->gemm_tn_scratch(width, D, T));
    for (int i = 0; i < T; i++) lse[i] = p->room[1][i] + log(p->room[2][i]);
    p->k->dot_rows(delta, p->w, d, p->out, d, T, D);
    for (int first = 0; first < T; first += width) {
        int nk = attention_block(p, first, p->key);
        size_t from = (size_t)first * d;
        products(p, s, p->x[0], p->x[1] + from, nk);
        products(p, ds, p->w, p->x[2] + from, nk);
        p->k->softmax_block_backward(ds, s, w, lse, delta, p->key, T, nk);
        p->k->gemm_tn(dv + from, d, s, w, p->w, d, nk, D, T, 0, scratch);
        p->k->gemm_tn(dk + from, d, ds, w, p->x[0], d, nk, D, T, 0, scratch);
        p->k->pack(p->x[3], p->x[1] + from, d, 1, nk, D);
        p->k->gemm(dq, d, ds, w, p->x[3], NULL, T, D, nk, 1);
    }
    double e = gradient_error(p, loss_attention, p->x[0], dq, n);
    e = fmax(e, gradient_error(p, loss_attention, p->x[1], dk, n));
    return fmax(e, gradient_error(p, loss_attention, p->x[2], dv, n));
}

/* ---- rows of weights */

static inline double loss_softmax_columns(struct probe *p)
{
    memcpy(p->out, p->x[0], p->n * sizeof *p->out);
    p->k->softmax_columns(p->out, p->size[0], p->size[1]);
    return weighted(p);
}

static inline double loss_entmax15_rows(struct probe *p)
{
    memcpy(p->out, p->x[0], p->n * sizeof *p->out);
    p->k->entmax15_rows(p->out, p->size[0], p->size[1]);
    return weighted(p);
}

static inline double gradient_rows(struct probe *p, loss_function *loss,
                                   void (*backward)(double *, const double *, int, int))
{
    size_t n = (size_t)p->size[0] * (size_t)p->size[1];
    p->x[0] = random_doubles(p->r, n);
    probe_output(p, n);
    loss(p);
    double *ds = hold_doubles(n);
    memcpy(ds, p->w, n * sizeof *ds);
    backward(ds, p->out, p->size[0], p->size[1]);
    return gradient_error(p, loss, p->x[0], ds, n);
}

static inline double gradient_softmax_columns(struct probe *p)
{
    return gradient_rows(p, loss_softmax_columns, p->k->softmax_columns_backward);
}

static inline double gradient_entmax15_rows(struct probe *p)
{
    return gradient_rows(p, loss_entmax15_rows, p->k->entmax15_rows_backward);
}

/* ---- window attention. x: q [T,H,D], k, v [rows,H,D], p [n,T,H]. key holds, for each of T queries, where
 * its keys begin, their number, and T n keys. */

static inline double loss_window_scores(struct probe *p)
{
    int n = p->size[0], H = p->size[1], D = p->size[2], T = p->size[4], *key = p->key;
    p->k->window_scores(p->out, p->x[0], p->x[1], (size_t)(H * D), key, key + T, key + 2 * T,
                        p->turn, p->room[0], p->room[1], T, n, H, D, p->size[3], 0.3, p->room[2]);
    for (size_t i = 0; i < p->n; i++)
        if (isinf(p->out[i])) p->out[i] = 0;
    return weighted(p);
}

static inline double loss_window_mix(struct probe *p)
{
    int H = p->size[1], D = p->size[2], T = p->size[4], *key = p->key;
    p->k->window_mix(p->out, p->x[3], p->x[2], (size_t)(H * D), key, key + T, key + 2 * T, T, H, D);
    return weighted(p);
}

static inline double gradient_window(struct probe *p)
{
    int n = p->size[0], H = p->size[1], D = p->size[2], R = p->size[3], T = p->size[4];
    int rows = n + 2, *key = hold((size_t)(T * (n + 2)) * sizeof *key);
    size_t one = (size_t)(H * D), all = (size_t)rows * one, hn = (size_t)(T * H * n);
    p->x[0] = random_doubles(p->r, (size_t)T * one);
    p->x[1] = random_doubles(p->r, all);
    p->x[2] = random_doubles(p->r, all);
    p->x[3] = random_doubles(p->r, hn);
    probe_angles(p, n + 1, R);
    p->room[2] = hold_doubles((size_t)(T * H * D + 2 * D));
    p->key = key;
    p->turn = hold((size_t)(T * n) * sizeof *p->turn);
    for (int t = 0; t < T; t++) {
        int *order = random_order(p->r, rows), *turn = random_order(p->r, n + 1);
        key[t] = t * n;
        key[T + t] = n - t % 3 < 1 ? 1 : n - t % 3;
        memcpy(key + 2 * T + t * n, order, (size_t)n * sizeof *key);
        memcpy(p->turn + t * n, turn, (size_t)n * sizeof *turn);
    }

    probe_output(p, hn);
    double *dq = ones((size_t)T * one), *dk = ones(all);
    p->k->window_scores_backward(dq, dk, p->w, p->x[0], p->x[1], one, key, key + T, key + 2 * T,
                                 p->turn, p->room[0], p->room[1], T, H, D, R, 0.3, p->room[2]);
    less_one(dq, (size_t)T * one);
    less_one(dk, all);
    double e = gradient_error(p, loss_window_scores, p->x[0], dq, (size_t)T * one);
    e = fmax(e, gradient_error(p, loss_window_scores, p->x[1], dk, all));

    probe_output(p, (size_t)T * one);
    double *dp = ones(hn), *dv = ones(all);
    p->k->window_mix_backward(dp, dv, p->w, p->x[3], p->x[2], one, key, key + T, key + 2 * T, T, n,
                              H, D);
    less_one(dv, all);
    e = fmax(e, gradient_error(p, loss_window_mix, p->x[2], dv, all));
    return fmax(e, gradient_error(p, loss_window_mix, p->x[3], dp, hn));
}

/* ---- loss: dlogits for the sum of the losses times scale */

static inline double loss_cross_entropy(struct probe *p)
{
    p->k->cross_entropy(p->out, NULL, p->x[0], p->index, 1, p->size[0], p->size[1]);
    double sum = 0;
    for (int t = 0; t < p->size[0]; t++) sum += p->out[t];
    return 0.37 * sum;
}

static inline double gradient_cross_entropy(struct probe *p)
{
    int T = p->size[0], V = p->size[1];
    size_t n = (size_t)T * (size_t)V;
    p->x[0] = random_doubles(p->r, n);
    p->index = hold((size_t)T * sizeof *p->index);
    for (int t = 0; t < T; t++)
        p->index[t] = t % 4 == 1 ? -1 : (int32_t)lg_rng_below(p->r, (uint32_t)V);
    probe_output(p, (size_t)T);
    double *dlogits = hold_doubles(n);
    p->k->cross_entropy(p->out, dlogits, p->x[0], p->index, 0.37, T, V);
    return gradient_error(p, loss_cross_entropy, p->x[0], dlogits, n);
}

/* ---- the operations by name */

static const struct gradient {
    const char *op;
    double (*run)(struct probe *p);
} gradients[] = {
    {"gemm", gradient_gemm},
    {"embed", gradient_embed},
    {"layernorm", gradient_layernorm},
    {"rmsnorm", gradient_rmsnorm},
    {"gelu", gradient_gelu},
    {"swiglu", gradient_swiglu},
    {"rotary", gradient_rotary},
    {"attention", gradient_attention},
    {"softmax_columns", gradient_softmax_columns},
    {"entmax15_rows", gradient_entmax15_rows},
    {"window", gradient_window},
    {"cross_entropy", gradient_cross_entropy},
};

/* The error of one row of cases.h with table k; < 0: the row has no gradient check. */
static inline double gradient_case(const struct lg__kernels64 *k, int row)
{
    double error = -1, work = 1;
    lg_rng r;
    lg_rng_init(&r, 2, 0, (uint64_t)row);
    struct probe p = {.k = k, .size = kernel_cases[row].size, .r = &r};
    for (int i = 0; i < 4; i++) work *= p.size[i] > 1 ? p.size[i] : 1;
    if (work > GRADIENT_WORK) return -1;
    for (size_t i = 0; i < sizeof gradients / sizeof gradients[0]; i++)
        if (!strcmp(gradients[i].op, kernel_cases[row].op)) error = gradients[i].run(&p);
    release();
    return error;
}

#endif
