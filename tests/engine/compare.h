/* compare.h: every kernel of a float table against the double twin on the same inputs. Each
 * function takes a row of cases.h and answers through the verdict, so that a wrong kernel
 * can be seen to fail (test_mutants.c). Bounds are ulps * 2^-24 * the size of the terms:
 * 8 sqrt(K) for sums of K products; elsewhere the reason stands at the bound. */
#ifndef TESTS_ENGINE_COMPARE_H
#define TESTS_ENGINE_COMPARE_H

#include "engine/cases.h"
#include "engine/helper.h"

typedef void compare_function(const struct lg__kernels *k, const int *size, lg_rng *r,
                              struct verdict *v);

#define oracle (&lg__naive64)

/* Sums of n terms; a kernel's few roundings beside a sum; the same and a mean in front. */
#define SUM_ULPS(n) (8 * sqrt((double)(n)))
#define FEW_ULPS 8
#define MEAN_ULPS(n) (8 + 2 * sqrt((double)(n)))
/* exp gives up below 2^-126, where floats lose their digits. */
#define EXP_TINY 0x1p-120

static inline double at(const struct mat *m, int t, int c)
{
    return m->d[(size_t)t * m->ld + (size_t)c];
}

/* ---- matmul: |difference| <= 8 sqrt(K) 2^-24 sum |a||b|, bias and old c among the terms */

static inline void compare_gemm_by(const struct lg__kernels *k, const struct lg__kernels64 *by,
                                   const int *size, lg_rng *r, struct verdict *v)
{
    int M = size[0], N = size[1], K = size[2];
    for (int variant = 0; variant < 8; variant++, release()) {
        int add = variant & 1, turned = variant >> 1 & 1, gap = variant % 3;
        struct mat a = mat_in(r, M, K, gap), bias = mat_in(r, 1, N, 0);
        struct mat b = turned ? mat_in(r, N, K, gap) : mat_in(r, K, N, gap);
        struct mat c = add ? mat_sum(r, M, N, gap) : mat_out(M, N, gap);
        const int biased = variant >> 2;
        size_t rs = turned ? 1 : b.ld, cs = turned ? b.ld : 1;

        double *B = hold_doubles(by->pack_size(K, N)), *bound = mat_abs(&c);
        by->pack(B, mat_abs(&b), rs, cs, K, N);
        by->gemm(bound, c.ld, mat_abs(&a), a.ld, B, biased ? mat_abs(&bias) : NULL, M, N, K, add);
        by->pack(B, b.d, rs, cs, K, N);
        by->gemm(c.d, c.ld, a.d, a.ld, B, biased ? bias.d : NULL, M, N, K, add);

        struct room P = room_make(k->pack_size(K, N));
        k->pack(P.f, b.f, rs, cs, K, N);
        k->gemm(c.f, c.ld, a.f, a.ld, P.f, biased ? bias.f : NULL, M, N, K, add);
        judge(v, "gemm c", &c, bound, SUM_ULPS(K), 0);
        judge_room(v, "pack wrote behind its room", &P);
    }
}

static inline void compare_gemm_tn_by(const struct lg__kernels *k, const struct lg__kernels64 *by,
                                      const int *size, lg_rng *r, struct verdict *v)
{
    int M = size[0], N = size[1], R = size[2];
    for (int variant = 0; variant < 4; variant++, release()) {
        int add = variant & 1, gap = variant;
        struct mat a = mat_in(r, R, M, gap), b = mat_in(r, R, N, gap / 2);
        struct mat c = add ? mat_sum(r, M, N, gap) : mat_out(M, N, gap);
        double *bound = mat_abs(&c);
        by->gemm_tn(bound, c.ld, mat_abs(&a), a.ld, mat_abs(&b), b.ld, M, N, R, add, NULL);
        by->gemm_tn(c.d, c.ld, a.d, a.ld, b.d, b.ld, M, N, R, add, NULL);

        struct room scratch = room_make(k->gemm_tn_scratch(M, N, R));
        k->gemm_tn(c.f, c.ld, a.f, a.ld, b.f, b.ld, M, N, R, add, scratch.f);
        judge(v, "gemm_tn c", &c, bound, SUM_ULPS(R), 0);
        judge_room(v, "gemm_tn wrote behind its scratch", &scratch);
    }
}

static inline void compare_gemm(const struct lg__kernels *k, const int *size, lg_rng *r,
                                struct verdict *v)
{
    compare_gemm_by(k, oracle, size, r, v);
}

static inline void compare_gemm_tn(const struct lg__kernels *k, const int *size, lg_rng *r,
                                   struct verdict *v)
{
    compare_gemm_tn_by(k, oracle, size, r, v);
}

/* In bf16: both sides round the same numbers to the same ones, so the bound is that of fp32. */
static inline struct lg__kernels64 halved_oracle(void)
{
    struct lg__kernels64 by = *oracle;
    by.pack = by.half_pack;
    by.gemm = by.half_gemm;
    by.gemm_tn = by.half_gemm_tn;
    return by;
}

static inline void compare_half_gemm(const struct lg__kernels *k, const int *size, lg_rng *r,
                                     struct verdict *v)
{
    struct lg__kernels64 by = halved_oracle();
    struct lg__kernels half;
    lg__kernels_halve(&half, k);
    compare_gemm_by(&half, &by, size, r, v);
}

static inline void compare_half_gemm_tn(const struct lg__kernels *k, const int *size, lg_rng *r,
                                        struct verdict *v)
{
    struct lg__kernels64 by = halved_oracle();
    struct lg__kernels half;
    lg__kernels_halve(&half, k);
    compare_gemm_tn_by(&half, &by, size, r, v);
}

static inline void compare_sum_rows(const struct lg__kernels *k, const int *size, lg_rng *r,
                                    struct verdict *v)
{
    int T = size[0], C = size[1];
    struct mat x = mat_in(r, T, C, 0), out = mat_sum(r, 1, C, 0);
    double *bound = mat_abs(&out);
    oracle->sum_rows(bound, mat_abs(&x), T, C);
    oracle->sum_rows(out.d, x.d, T, C);
    k->sum_rows(out.f, x.f, T, C);
    judge(v, "sum_rows out", &out, bound, SUM_ULPS(T + 1), 0);
}

/* ---- embedding: a copy is exact; its gradient is a sum of up to T rows */

static inline void compare_embed(const struct lg__kernels *k, const int *size, lg_rng *r,
                                 struct verdict *v)
{
    int T = size[0], C = size[1], V = size[2];
    struct mat table = mat_in(r, V, C, 0), dout = mat_in(r, T, C, 0);
    struct mat out = mat_out(T, C, 0), dtable = mat_sum(r, V, C, 0);
    int32_t *tokens = hold((size_t)T * sizeof *tokens);
    for (int t = 0; t < T; t++) tokens[t] = (int32_t)lg_rng_below(r, (uint32_t)V);

    oracle->embed_forward(out.d, table.d, tokens, T, C);
    k->embed_forward(out.f, table.f, tokens, T, C);
    judge(v, "embed_forward out", &out, NULL, 0, 0);

    double *bound = mat_abs(&dtable);
    oracle->embed_backward(bound, mat_abs(&dout), tokens, T, C);
    oracle->embed_backward(dtable.d, dout.d, tokens, T, C);
    k->embed_backward(dtable.f, dout.f, tokens, T, C);
    judge(v, "embed_backward dtable", &dtable, bound, SUM_ULPS(T + 1), 0);
}

/* ---- norms -------------------------------------------------------------------------
 * A norm's error: that of the mean and of the sum of squares (sqrt(C) roundings), which
 * reach an element as rstd (|x| + mean |x|) and as |norm| times the relative error of rstd;
 * the latter is 1 + rstd^2 mean(|x - mean| (|x| + mean |x|)) roundings, as the squares are
 * of differences. The backward pass gets mean and rstd: no such cancellation. */

static inline void compare_layernorm(const struct lg__kernels *k, const int *size, lg_rng *r,
                                     struct verdict *v)
{
    int T = size[0], C = size[1], weights = size[2];
    const float eps = 0.01f; /* large enough to be seen when it is left out */
    struct mat x = mat_in(r, T, C, 0), w = mat_in(r, 1, C, 0), b = mat_in(r, 1, C, 0);
    struct mat out = mat_out(T, C, 0), mean = mat_out(1, T, 0), rstd = mat_out(1, T, 0);
    mat_fill(&x, r, 0.5, 1);
    oracle->layernorm_forward(out.d, mean.d, rstd.d, x.d, weights ? w.d : NULL,
                              weights ? b.d : NULL, T, C, (double)eps);
    k->layernorm_forward(out.f, mean.f, rstd.f, x.f, weights ? w.f : NULL, weights ? b.f : NULL, T,
                         C, eps);

    double *out_size = hold_doubles(out.count), *mean_size = hold_doubles((size_t)T);
    double *rstd_size = hold_doubles((size_t)T);
    for (int t = 0; t < T; t++) {
        double spread = 0;
        for (int c = 0; c < C; c++) mean_size[t] += fabs(at(&x, t, c)) / C;
        for (int c = 0; c < C; c++)
            spread += fabs(at(&x, t, c) - mean.d[t]) * (fabs(at(&x, t, c)) + mean_size[t]) / C;
        double relative = 1 + rstd.d[t] * rstd.d[t] * spread;
        rstd_size[t] = rstd.d[t] * relative;
        for (int c = 0; c < C; c++) {
            double norm = rstd.d[t] * (fabs(at(&x, t, c)) + mean_size[t]) +
                          fabs(at(&x, t, c) - mean.d[t]) * rstd_size[t];
            out_size[(size_t)t * out.ld + (size_t)c] =
                weights ? fabs(w.d[c]) * norm + fabs(b.d[c]) : norm;
        }
    }
    judge(v, "layernorm_forward mean", &mean, mean_size, MEAN_ULPS(C), 0);
    judge(v, "layernorm_forward rstd", &rstd, rstd_size, MEAN_ULPS(C), 0);
    judge(v, "layernorm_forward out", &out, out_size, MEAN_ULPS(C), 0);

    struct mat dout = mat_in(r, T, C, 0), dx = mat_sum(r, T, C, 0);
    struct mat dw = mat_sum(r, 1, C, 0), db = mat_sum(r, 1, C, 0);
    double *dx_size = mat_abs(&dx), *dw_size = mat_abs(&dw), *db_size = mat_abs(&db);
    mat_round(&mean);
    mat_round(&rstd);
    for (int t = 0; t < T; t++) {
        double sum = 0, dot = 0;
        for (int c = 0; c < C; c++) {
            double norm = rstd.d[t] * (fabs(at(&x, t, c)) + fabs(mean.d[t]));
            double dnorm = fabs(at(&dout, t, c)) * (weights ? fabs(w.d[c]) : 1);
            sum += dnorm / C;
            dot += dnorm * norm / C;
            dw_size[c] += fabs(at(&dout, t, c)) * norm;
            db_size[c] += fabs(at(&dout, t, c));
        }
        for (int c = 0; c < C; c++) {
            double norm = rstd.d[t] * (fabs(at(&x, t, c)) + fabs(mean.d[t]));
            double dnorm = fabs(at(&dout, t, c)) * (weights ? fabs(w.d[c]) : 1);
            dx_size[(size_t)t * dx.ld + (size_t)c] += rstd.d[t] * (dnorm + sum + norm * dot);
        }
    }
    oracle->layernorm_backward(dx.d, weights ? dw.d : NULL, weights ? db.d : NULL, dout.d, x.d,
                               mean.d, rstd.d, weights ? w.d : NULL, T, C);
    k->layernorm_backward(dx.f, weights ? dw.f : NULL, weights ? db.f : NULL, dout.f, x.f, mean.f,
                          rstd.f, weights ? w.f : NULL, T, C);
    judge(v, "layernorm_backward dx", &dx, dx_size, MEAN_ULPS(C), 0);
    judge(v, "layernorm_backward dw", &dw, dw_size, SUM_ULPS(T + 1), 0);
    judge(v, "layernorm_backward db", &db, db_size, SUM_ULPS(T + 1), 0);
}

static inline void compare_rmsnorm(const struct lg__kernels *k, const int *size, lg_rng *r,
                                   struct verdict *v)
{
    int T = size[0], C = size[1], weights = size[2];
    const float eps = 0.01f;
    struct mat x = mat_in(r, T, C, 0), w = mat_in(r, 1, C, 0);
    struct mat out = mat_out(T, C, 0), rstd = mat_out(1, T, 0);
    oracle->rmsnorm_forward(out.d, rstd.d, x.d, weights ? w.d : NULL, T, C, (double)eps);
    k->rmsnorm_forward(out.f, rstd.f, x.f, weights ? w.f : NULL, T, C, eps);
    /* a sum of squares has no cancellation: everything is relative */
    judge(v, "rmsnorm_forward rstd", &rstd, NULL, MEAN_ULPS(C), 0);
    judge(v, "rmsnorm_forward out", &out, NULL, MEAN_ULPS(C), 0);

    struct mat dout = mat_in(r, T, C, 0), dx = mat_sum(r, T, C, 0), dw = mat_sum(r, 1, C, 0);
    double *dx_size = mat_abs(&dx), *dw_size = mat_abs(&dw);
    mat_round(&rstd);
    for (int t = 0; t < T; t++) {
        double dot = 0;
        for (int c = 0; c < C; c++) {
            double norm = rstd.d[t] * fabs(at(&x, t, c));
            dot += fabs(at(&dout, t, c)) * (weights ? fabs(w.d[c]) : 1) * norm / C;
            dw_size[c] += fabs(at(&dout, t, c)) * norm;
        }
        for (int c = 0; c < C; c++) {
            double norm = rstd.d[t] * fabs(at(&x, t, c));
            double dnorm = fabs(at(&dout, t, c)) * (weights ? fabs(w.d[c]) : 1);
            dx_size[(size_t)t * dx.ld + (size_t)c] += rstd.d[t] * (dnorm + norm * dot);
        }
    }
    oracle->rmsnorm_backward(dx.d, weights ? dw.d : NULL, dout.d, x.d, rstd.d, weights ? w.d : NULL,
                             T, C);
    k->rmsnorm_backward(dx.f, weights ? dw.f : NULL, dout.f, x.f, rstd.f, weights ? w.f : NULL, T,
                        C);
    judge(v, "rmsnorm_backward dx", &dx, dx_size, MEAN_ULPS(C), 0);
    judge(v, "rmsnorm_backward dw", &dw, dw_size, SUM_ULPS(T + 1), 0);
}

/* ---- activations -------------------------------------------------------------------
 * Phi, tanh and sigma are within a few 2^-24 of 1, not of themselves where they are small,
 * except for sigma, which is one division by 1 + exp. */

static inline void compare_gelu(const struct lg__kernels *k, const int *size, lg_rng *r,
                                struct verdict *v)
{
    int n = size[0], tanh_form = size[1];
    struct mat x = mat_in(r, 1, n, 0), dout = mat_in(r, 1, n, 0);
    struct mat out = mat_out(1, n, 0), dx = mat_out(1, n, 0), same = mat_out(1, n, 0);
    const double edge[] = {0, 1e-30, -1e-30, 5.5, -5.5, 10, -10, 30, -30, 1e4, -1e4};
    mat_fill(&x, r, 0, 3);
    for (int i = 0; n > 100 && i < (int)(sizeof edge / sizeof edge[0]); i++)
        mat_set(&x, 0, 9 * i, edge[i]);

    double *slope_size = hold_doubles((size_t)n);
    for (int i = 0; i < n; i++) {
        /* tanh form: x/2 (1 - tanh^2) u', where 1 - tanh^2 is a difference until both
         * round to 1 */
        double y = fabs(x.d[i]), u = 0.8 * (y + 0.044715 * y * y * y);
        double steep = tanh_form && u < 10 ? y * 0.8 * (1 + 0.134145 * y * y) : 0;
        slope_size[i] = fabs(dout.d[i]) * (1 + steep);
        mat_set(&same, 0, i, dout.d[i]);
    }
    oracle->gelu_forward(out.d, x.d, (size_t)n, tanh_form);
    oracle->gelu_backward(dx.d, dout.d, x.d, (size_t)n, tanh_form);
    oracle->gelu_backward(same.d, same.d, x.d, (size_t)n, tanh_form);
    k->gelu_forward(out.f, x.f, (size_t)n, tanh_form);
    k->gelu_backward(dx.f, dout.f, x.f, (size_t)n, tanh_form);
    k->gelu_backward(same.f, same.f, x.f, (size_t)n, tanh_form);
    judge(v, "gelu_forward out", &out, mat_abs(&x), FEW_ULPS, 0);
    judge(v, "gelu_backward dx", &dx, slope_size, FEW_ULPS, 0);
    judge(v, "gelu_backward in place", &same, slope_size, FEW_ULPS, 0);
}

static inline void compare_swiglu(const struct lg__kernels *k, const int *size, lg_rng *r,
                                  struct verdict *v)
{
    int T = size[0], F = size[1];
    struct mat gu = mat_in(r, T, 2 * F, 0), dout = mat_in(r, T, F, 0);
    struct mat out = mat_out(T, F, 0), dgu = mat_out(T, 2 * F, 0);
    const double edge[] = {0, 1e-30, -1e-30, 20, -20, 80, -80, 1e4, -1e4};
    for (int t = 0; t < T; t++)
        for (int f = 0; f < F; f++) mat_set(&gu, t, f, 3 * at(&gu, t, f));
    for (int i = 0; F > 16 && i < (int)(sizeof edge / sizeof edge[0]); i++)
        mat_set(&gu, i % T, i, edge[i]);

    oracle->swiglu_forward(out.d, gu.d, T, F);
    oracle->swiglu_backward(dgu.d, dout.d, gu.d, T, F);
    k->swiglu_forward(out.f, gu.f, T, F);
    k->swiglu_backward(dgu.f, dout.f, gu.f, T, F);
    double *dgu_size = mat_abs(&dgu);
    for (int t = 0; t < T; t++)
        for (int f = 0; f < F; f++) { /* dg = d u sigma (1 + g (1 - sigma)) */
            double g = at(&gu, t, f), sigma = 1 / (1 + exp(-g));
            dgu_size[(size_t)t * dgu.ld + (size_t)f] =
                fabs(at(&dout, t, f) * at(&gu, t, F + f)) * sigma * (1 + fabs(g));
        }
    judge(v, "swiglu_forward out", &out, NULL, FEW_ULPS, 1e-30);
    judge(v, "swiglu_backward dgu", &dgu, dgu_size, FEW_ULPS, 1e-30);
}

/* ---- rotary: two products and a sum */

static inline struct mat angles(lg_rng *r, int rows, int R, int of_sine, struct mat *cosine)
{
    struct mat m = mat_in(r, rows, R / 2, 0);
    for (int t = 0; t < rows; t++)
        for (int i = 0; i < R / 2; i++) {
            double angle = 10 * (double)t * pow(0.3, i) + 1;
            mat_set(&m, t, i, of_sine ? sin(angle) : cos(angle));
        }
    if (of_sine) *cosine = angles(r, rows, R, 0, NULL);
    return m;
}

/* |a||c| + |b||s| for each number of a head: the terms of a rotated head, either way. */
static inline void rotated_size(double *out, const double *x, const double *cosine,
                                const double *sine, int D, int R)
{
    for (int d = 0; d < D; d++) out[d] = fabs(x[d]);
    for (int i = 0; i < R / 2; i++) {
        double a = fabs(x[i]), b = fabs(x[i + R / 2]);
        double c = fabs(cosine[i]), s = fabs(sine[i]);
        out[i] = a * c + b * s;
        out[i + R / 2] = b * c + a * s;
    }
}

static inline void compare_rotary(const struct lg__kernels *k, const int *size, lg_rng *r,
                                  struct verdict *v)
{
    int T = size[0], H = size[1], D = size[2], R = size[3];
    for (int variant = 0; variant < 4; variant++, release()) {
        int sign = variant & 1 ? -1 : 1, gap = 5 * (variant >> 1);
        struct mat x = mat_sum(r, T, H * D, gap), c, s = angles(r, T, R, 1, &c);
        double *bound = hold_doubles(x.count);
        for (int t = 0; t < T; t++)
            for (int h = 0; h < H; h++) {
                size_t at_head = (size_t)t * x.ld + (size_t)(h * D);
                rotated_size(bound + at_head, x.d + at_head, c.d + t * (R / 2), s.d + t * (R / 2),
                             D, R);
            }
        oracle->rotary(x.d, x.ld, c.d, s.d, T, H, D, R, sign);
        k->rotary(x.f, x.ld, c.f, s.f, T, H, D, R, sign);
        judge(v, "rotary x", &x, bound, 4, 0);
    }
}

/* ---- blocks of full attention -------------------------------------------------------
 * exp(a - b): the difference rounds by |a - b|, the exp by a few; the maximum is exact. */

static inline void compare_softmax_block(const struct lg__kernels *k, const int *size, lg_rng *r,
                                         struct verdict *v)
{
    int nq = size[0], nk = size[1];
    int *seen = hold((size_t)nq * sizeof *seen);
    for (int variant = 0; variant < 4; variant++) {
        int first = variant & 1, gap = variant;
        struct mat s = mat_sum(r, nq, nk, gap), m = mat_sum(r, 1, nq, 0);
        struct mat l = mat_sum(r, 1, nq, 0), alpha = mat_out(1, nq, 0);
        struct mat s2 = mat_sum(r, nq, nk, gap), ds = mat_sum(r, nq, nk, gap);
        struct mat lse = mat_in(r, 1, nq, 0), delta = mat_in(r, 1, nq, 0);
        for (int i = 0; i < nq; i++) {
            seen[i] = i % 3 == 2 ? nk : (int)lg_rng_below(r, (uint32_t)nk + 1);
            mat_set(&m, 0, i, first ? -INFINITY : 2 * m.d[i]);
            mat_set(&l, 0, i, first ? 0 : exp(l.d[i]));
            double top = m.d[i], sum = l.d[i];
            for (int j = 0; j < nk; j++) {
                /* what is not seen must not matter, however large */
                mat_set(&s, i, j, j < seen[i] ? 5 * at(&s, i, j) : 1e30);
                mat_set(&s2, i, j, at(&s, i, j));
                if (j >= seen[i]) mat_set(&ds, i, j, 1e30);
            }
            for (int j = 0; j < seen[i]; j++) top = fmax(top, at(&s, i, j));
            for (int j = 0; j < seen[i]; j++) sum += exp(at(&s, i, j) - top);
            mat_set(&lse, 0, i, sum > 0 ? top + log(sum) : 0);
        }
        double *old_m = hold_doubles((size_t)nq), *old_s = hold_doubles(s.count);
        memcpy(old_m, m.d, (size_t)nq * sizeof *old_m);
        memcpy(old_s, s.d, s.count * sizeof *old_s);
        double *old_ds = mat_abs(&ds);
        oracle->softmax_block(s.d, s.ld, m.d, l.d, alpha.d, seen, nq, nk);
        k->softmax_block(s.f, s.ld, m.f, l.f, alpha.f, seen, nq, nk);
        oracle->softmax_block_backward(ds.d, s2.d, s2.ld, lse.d, delta.d, seen, nq, nk);
        k->softmax_block_backward(ds.f, s2.f, s2.ld, lse.f, delta.f, seen, nq, nk);

        double *s_size = hold_doubles(s.count), *l_size = hold_doubles((size_t)nq);
        double *alpha_size = hold_doubles((size_t)nq);
        double *p_size = hold_doubles(s.count), *ds_size = hold_doubles(s.count);
        for (int i = 0; i < nq; i++) {
            double fall = isinf(old_m[i]) ? 0 : m.d[i] - old_m[i];
            alpha_size[i] = alpha.d[i] * (4 + fall);
            l_size[i] = l.d[i] * (4 + fall);
            for (int j = 0; j < seen[i]; j++) {
                size_t ij = (size_t)i * s.ld + (size_t)j;
                s_size[ij] = s.d[ij] * (4 + m.d[i] - old_s[ij]);
                l_size[i] += s_size[ij];
                p_size[ij] = s2.d[ij] * (4 + fabs(old_s[ij] - lse.d[i]));
                ds_size[ij] = p_size[ij] * (old_ds[ij] + fabs(delta.d[i]));
            }
        }
        judge(v, "softmax_block m", &m, NULL, 0, 0);
        judge(v, "softmax_block alpha", &alpha, alpha_size, 2, EXP_TINY);
        judge(v, "softmax_block s", &s, s_size, 2, EXP_TINY);
        judge(v, "softmax_block l", &l, l_size, MEAN_ULPS(nk) / 4, EXP_TINY);
        judge(v, "softmax_block_backward s", &s2, p_size, 2, EXP_TINY);
        judge(v, "softmax_block_backward ds", &ds, ds_size, 2, EXP_TINY);
    }
}

static inline void compare_dot_rows(const struct lg__kernels *k, const int *size, lg_rng *r,
                                    struct verdict *v)
{
    int T = size[0], C = size[1];
    struct mat a = mat_in(r, T, C, 3), b = mat_in(r, T, C, 1), out = mat_out(1, T, 0);
    double *bound = hold_doubles((size_t)T);
    oracle->dot_rows(bound, mat_abs(&a), a.ld, mat_abs(&b), b.ld, T, C);
    oracle->dot_rows(out.d, a.d, a.ld, b.d, b.ld, T, C);
    k->dot_rows(out.f, a.f, a.ld, b.f, b.ld, T, C);
    judge(v, "dot_rows out", &out, bound, SUM_ULPS(C), 0);

    struct mat x = mat_sum(r, T, C, 3), factor = mat_in(r, 1, T, 0);
    oracle->scale_rows(x.d, x.ld, factor.d, T, C);
    k->scale_rows(x.f, x.ld, factor.f, T, C);
    judge(v, "scale_rows x", &x, NULL, 1, 0); /* one product, rounded */
}

/* ---- rows of weights */

/* Rows from flat to sharp, with ties. */
static inline void fill_scores(struct mat *s, lg_rng *r)
{
    const double width[] = {0.05, 1, 4, 20};
    for (int t = 0; t < s->rows; t++)
        for (int j = 0; j < s->cols; j++) {
            mat_set(s, t, j, width[t % 4] * lg_rng_normal(r) + t % 3);
            if (j % 7 == 6) mat_set(s, t, j, at(s, t, j - 1));
        }
}

/* The kernels have the columns of s as their rows: x and its transpose. */
static inline void turn_over(struct mat *to, const struct mat *from)
{
    for (int t = 0; t < from->rows; t++)
        for (int j = 0; j < from->cols; j++) {
            size_t a = (size_t)j * to->ld + (size_t)t, b = (size_t)t * from->ld + (size_t)j;
            to->d[a] = from->d[b];
            to->f[a] = from->f[b];
        }
}

static inline void compare_softmax_columns(const struct lg__kernels *k, const int *size, lg_rng *r,
                                           struct verdict *v)
{
    int T = size[0], n = size[1];
    struct mat s = mat_sum(r, T, n, 0), ds = mat_sum(r, T, n, 0);
    struct mat s_over = mat_sum(r, n, T, 0), ds_over = mat_sum(r, n, T, 0);
    fill_scores(&s, r);
    double *p_size = hold_doubles(s.count), *ds_size = hold_doubles(s.count);
    for (int t = 0; t < T; t++) { /* p: exp(s - max) as above, and the sum's own roundings */
        double top = at(&s, t, 0);
        for (int j = 0; j < n; j++) top = fmax(top, at(&s, t, j));
        for (int j = 0; j < n; j++)
            p_size[(size_t)t * s.ld + (size_t)j] = 4 + top - at(&s, t, j) + MEAN_ULPS(n);
    }
    turn_over(&s_over, &s);
    oracle->softmax_columns(s_over.d, n, T);
    k->softmax_columns(s_over.f, n, T);
    turn_over(&s, &s_over);
    for (size_t i = 0; i < s.count; i++) p_size[i] *= s.d[i];
    judge(v, "softmax_columns p", &s, p_size, 2, EXP_TINY);

    mat_round(&s);
    for (int t = 0; t < T; t++) {
        double dot = 0;
        for (int j = 0; j < n; j++) dot += at(&s, t, j) * fabs(at(&ds, t, j));
        for (int j = 0; j < n; j++)
            ds_size[(size_t)t * s.ld + (size_t)j] = at(&s, t, j) * (fabs(at(&ds, t, j)) + dot);
    }
    turn_over(&s_over, &s);
    turn_over(&ds_over, &ds);
    oracle->softmax_columns_backward(ds_over.d, s_over.d, n, T);
    k->softmax_columns_backward(ds_over.f, s_over.f, n, T);
    turn_over(&ds, &ds_over);
    judge(v, "softmax_columns_backward ds", &ds, ds_size, MEAN_ULPS(n), EXP_TINY);
}

/* p = g^2, g = z - tau, both within [-1, 0] where p > 0: z rounds once; tau solves
 * sum g^2 = 1 and moves by at most half of that sum's error, since sum g >= 1. So g is off
 * by no more than e = MEAN_ULPS(n) 2^-24, and p by 2 g e + e^2. */
static inline void compare_entmax15_rows(const struct lg__kernels *k, const int *size, lg_rng *r,
                                         struct verdict *v)
{
    int T = size[0], n = size[1];
    struct mat s = mat_sum(r, T, n, 0), ds = mat_sum(r, T, n, 0);
    fill_scores(&s, r);
    oracle->entmax15_rows(s.d, T, n);
    k->entmax15_rows(s.f, T, n);
    double e = MEAN_ULPS(n) * ULP;
    double *p_size = hold_doubles(s.count), *ds_size = hold_doubles(s.count);
    for (size_t i = 0; i < s.count; i++) p_size[i] = 2 * sqrt(s.d[i]);
    judge(v, "entmax15_rows p", &s, p_size, MEAN_ULPS(n), e * e);

    mat_round(&s);
    for (int t = 0; t < T; t++) {
        double dot = 0, sum = 0;
        for (int j = 0; j < n; j++) {
            dot += sqrt(at(&s, t, j)) * fabs(at(&ds, t, j));
            sum += sqrt(at(&s, t, j));
        }
        for (int j = 0; j < n; j++)
            ds_size[(size_t)t * s.ld + (size_t)j] =
                sqrt(at(&s, t, j)) * (fabs(at(&ds, t, j)) + dot / sum);
    }
    oracle->entmax15_rows_backward(ds.d, s.d, T, n);
    k->entmax15_rows_backward(ds.f, s.f, T, n);
    judge(v, "entmax15_rows_backward ds", &ds, ds_size, MEAN_ULPS(n), EXP_TINY);
}

/* ---- window attention: sums of D and of n products, of rotated numbers */

/* T queries; query t sees n - t % 3 keys (at least 1), so that some rows of s are short. */
static inline void compare_window(const struct lg__kernels *k, const int *size, lg_rng *r,
                                  struct verdict *v)
{
    int n = size[0], H = size[1], D = size[2], R = size[3], T = size[4], L = T * H;
    int rows = 2 * n + 1, turns = n + 2, gap = 5;
    const float scale = 0.3f;
    struct mat q = mat_in(r, T, H * D, 0), ks = mat_in(r, rows, H * D, gap);
    struct mat cosine, sine = angles(r, turns, R, 1, &cosine);
    struct mat s = mat_out(n, L, 0), ds = mat_in(r, n, L, 0);
    struct mat dq = mat_sum(r, T, H * D, 0), dk = mat_sum(r, rows, H * D, gap);
    struct mat p = mat_in(r, n, L, 0), vs = mat_in(r, rows, H * D, gap);
    struct mat out = mat_out(T, H * D, 0), dout = mat_in(r, T, H * D, 0);
    struct mat dp = mat_out(n, L, 0), dv = mat_sum(r, rows, H * D, gap);
    struct room scratch = room_make((size_t)(T * H * D > 2 * D ? T * H * D : 2 * D));
    int *first = hold((size_t)T * sizeof *first), *count = hold((size_t)T * sizeof *count);
    int *key = hold((size_t)(T * n) * sizeof *key), *turn = hold((size_t)(T * n) * sizeof *turn);
    for (int t = 0, used = 0; t < T; t++, used += count[t - 1]) {
        int *order = random_order(r, rows);
        first[t] = used;
        count[t] = n - t % 3 < 1 ? 1 : n - t % 3;
        for (int j = 0; j < count[t]; j++) {
            key[used + j] = order[j];
            turn[used + j] = (int)lg_rng_below(r, (uint32_t)turns);
        }
    }

    double *s_size = hold_doubles(s.count), *out_size = hold_doubles(out.count);
    double *dq_size = mat_abs(&dq), *dk_size = mat_abs(&dk);
    double *dp_size = hold_doubles(s.count), *dv_size = mat_abs(&dv);
    double *rotated_k = hold_doubles((size_t)D), *rotated_q = hold_doubles((size_t)D);
    for (int t = 0; t < T; t++)
        for (int h = 0; h < H; h++)
            for (int j = 0; j < count[t]; j++) {
                int i = first[t] + j;
                size_t row = (size_t)key[i] * ks.ld + (size_t)(h * D),
                       jth = (size_t)(j * L + t * H + h);
                size_t th = (size_t)t * q.ld + (size_t)(h * D);
                const double *c = cosine.d + turn[i] * (R / 2), *si = sine.d + turn[i] * (R / 2);
                rotated_size(rotated_k, ks.d + row, c, si, D, R);
                rotated_size(rotated_q, q.d + th, c, si, D, R);
                for (size_t d = 0; d < (size_t)D; d++) {
                    double d_dot = (double)scale * fabs(ds.d[jth]);
                    s_size[jth] += (double)scale * fabs(q.d[th + d]) * rotated_k[d];
                    dq_size[th + d] += d_dot * rotated_k[d];
                    dk_size[row + d] += d_dot * rotated_q[d];
                    out_size[th + d] += fabs(p.d[jth] * vs.d[row + d]);
                    dp_size[jth] += fabs(dout.d[th + d] * vs.d[row + d]);
                    dv_size[row + d] += fabs(p.d[jth] * dout.d[th + d]);
                }
            }

    const int *no_rotary = R ? turn : NULL; /* R = 0: tables and turns are not looked at */
    double *scratch64 = hold_doubles((size_t)(T * H * D + 2 * D));
    oracle->window_scores(s.d, q.d, ks.d, ks.ld, first, count, key, no_rotary, R ? cosine.d : NULL,
                          R ? sine.d : NULL, T, n, H, D, R, (double)scale, scratch64);
    k->window_scores(s.f, q.f, ks.f, ks.ld, first, count, key, no_rotary, R ? cosine.f : NULL,
                     R ? sine.f : NULL, T, n, H, D, R, scale, scratch.f);
    for (int t = 0; t < T; t++) /* past the last key: -inf, and no number to judge */
        for (int h = 0; h < H; h++)
            for (int j = count[t]; j < n; j++) {
                size_t jth = (size_t)(j * L + t * H + h);
                s.f[jth] = isinf(s.f[jth]) && s.f[jth] < 0 ? 0 : 1;
                s.d[jth] = 0;
            }
    judge(v, "window_scores s", &s, s_size, SUM_ULPS(D), 0);
    oracle->window_scores_backward(dq.d, dk.d, ds.d, q.d, ks.d, ks.ld, first, count, key, no_rotary,
                                   R ? cosine.d : NULL, R ? sine.d : NULL, T, H, D, R,
                                   (double)scale, scratch64);
    k->window_scores_backward(dq.f, dk.f, ds.f, q.f, ks.f, ks.ld, first, count, key, no_rotary,
                              R ? cosine.f : NULL, R ? sine.f : NULL, T, H, D, R, scale, scratch.f);
    judge(v, "window_scores_backward dq", &dq, dq_size, SUM_ULPS(n + 1), 0);
    judge(v, "window_scores_backward dk", &dk, dk_size, T > 1 ? SUM_ULPS(T) : FEW_ULPS, 0);
    judge_room(v, "window_scores wrote behind its scratch", &scratch);

    oracle->window_mix(out.d, p.d, vs.d, vs.ld, first, count, key, T, H, D);
    k->window_mix(out.f, p.f, vs.f, vs.ld, first, count, key, T, H, D);
    judge(v, "window_mix out", &out, out_size, SUM_ULPS(n), 0);
    oracle->window_mix_backward(dp.d, dv.d, dout.d, p.d, vs.d, vs.ld, first, count, key, T, n, H,
                                D);
    k->window_mix_backward(dp.f, dv.f, dout.f, p.f, vs.f, vs.ld, first, count, key, T, n, H, D);
    judge(v, "window_mix_backward dp", &dp, dp_size, SUM_ULPS(D), 0);
    judge(v, "window_mix_backward dv", &dv, dv_size, T > 1 ? SUM_ULPS(T) : FEW_ULPS, 0);
}

/* ---- loss: log and max are added and taken off, each rounding by its own size */

static inline void compare_cross_entropy(const struct lg__kernels *k, const int *size, lg_rng *r,
                                         struct verdict *v)
{
    int T = size[0], V = size[1];
    const float scale = 0.37f;
    struct mat logits = mat_in(r, T, V, 0), inside = mat_sum(r, T, V, 0);
    struct mat loss = mat_out(1, T, 0), loss2 = mat_out(1, T, 0), loss3 = mat_out(1, T, 0);
    struct mat dlogits = mat_out(T, V, 0);
    int32_t *target = hold((size_t)T * sizeof *target);
    double *loss_size = hold_doubles((size_t)T), *d_size = hold_doubles(logits.count);
    for (int t = 0; t < T; t++) {
        target[t] = t % 4 == 1 ? -1 : (int32_t)lg_rng_below(r, (uint32_t)V);
        double top = -INFINITY, sum = 0;
        for (int c = 0; c < V; c++) { /* some rows far from 0 */
            mat_set(&logits, t, c, 4 * at(&logits, t, c) + (t % 5 == 4 ? 200 : 0));
            mat_set(&inside, t, c, at(&logits, t, c));
            top = fmax(top, at(&logits, t, c));
        }
        for (int c = 0; c < V; c++) sum += exp(at(&logits, t, c) - top);
        if (target[t] < 0) continue;
        loss_size[t] = 1 + fabs(top) + log(sum) + fabs(at(&logits, t, target[t]));
        for (int c = 0; c < V; c++) {
            double fall = top - at(&logits, t, c);
            d_size[(size_t)t * dlogits.ld + (size_t)c] =
                (double)scale *
                (exp(-fall) / sum * (1 + fall / 8 + sqrt((double)V) / 4) + (c == target[t]));
        }
    }
    oracle->cross_entropy(loss.d, dlogits.d, logits.d, target, (double)scale, T, V);
    oracle->cross_entropy(loss2.d, inside.d, inside.d, target, (double)scale, T, V);
    oracle->cross_entropy(loss3.d, NULL, logits.d, target, (double)scale, T, V);
    k->cross_entropy(loss.f, dlogits.f, logits.f, target, scale, T, V);
    k->cross_entropy(loss2.f, inside.f, inside.f, target, scale, T, V);
    k->cross_entropy(loss3.f, NULL, logits.f, target, scale, T, V);
    judge(v, "cross_entropy loss", &loss, loss_size, FEW_ULPS, 0);
    judge(v, "cross_entropy loss, in place", &loss2, loss_size, FEW_ULPS, 0);
    judge(v, "cross_entropy loss alone", &loss3, loss_size, FEW_ULPS, 0);
    judge(v, "cross_entropy dlogits", &dlogits, d_size, FEW_ULPS, EXP_TINY);
    judge(v, "cross_entropy dlogits, in place", &inside, d_size, FEW_ULPS, EXP_TINY);
}

/* ---- optimizer */

/* The tree fixes every rounding: besides the bound, the bits are the naive float twin's. */
static inline void compare_sum_tree(const struct lg__kernels *k, const int *size, lg_rng *r,
                                    struct verdict *v)
{
    int blocks = size[0], n = size[1];
    for (int variant = 0; variant < 4; variant++, release()) {
        const float **f = hold((size_t)blocks * sizeof *f);
        const double **d = hold((size_t)blocks * sizeof *d);
        double *bound = hold_doubles((size_t)n);
        for (int b = 0; b < blocks; b++) { /* none, some, none and the first, all missing */
            struct mat x = mat_in(r, 1, n, 0);
            int missing =
                variant == 3 || (variant == 1 && lg_rng_below(r, 2)) || (variant == 2 && b == 0);
            f[b] = missing ? NULL : x.f;
            d[b] = missing ? NULL : x.d;
            for (int i = 0; i < n && !missing; i++) bound[i] += fabs(x.d[i]);
        }
        struct mat out = mat_out(1, n, 0), twin = mat_out(1, n, 0);
        oracle->sum_tree(out.d, d, blocks, (size_t)n);
        k->sum_tree(out.f, f, blocks, (size_t)n);
        judge(v, "sum_tree out", &out, bound, SUM_ULPS(blocks), 0);
        lg__naive32.sum_tree(twin.f, f, blocks, (size_t)n);
        for (int i = 0; i < n; i++)
            if (out.f[i] != twin.f[i])
                verdict_add(v, INFINITY, "sum_tree, another tree", i, (double)out.f[i],
                            (double)twin.f[i]);
    }
}

static inline void compare_flat(const struct lg__kernels *k, const int *size, lg_rng *r,
                                struct verdict *v)
{
    int n = size[0];
    struct mat x = mat_in(r, 1, n, 0), a = mat_sum(r, 1, n, 0), b = mat_sum(r, 1, n, 0);
    const float factor = -0.7f;
    oracle->scale(a.d, (double)factor, (size_t)n);
    oracle->add(b.d, x.d, (size_t)n);
    k->scale(a.f, factor, (size_t)n);
    k->add(b.f, x.f, (size_t)n);
    judge(v, "scale x", &a, NULL, 1, 0); /* one rounding each */
    judge(v, "add out", &b, NULL, 1, 0);
    double got = k->sum_squares(x.f, (size_t)n), want = oracle->sum_squares(x.d, (size_t)n);
    /* products of floats are exact in double; n additions round */
    verdict_add(v, fabs(got - want) / (want * n * DBL_EPSILON), "sum_squares", 0, got, want);
}

static inline void compare_adamw(const struct lg__kernels *k, const int *size, lg_rng *r,
                                 struct verdict *v)
{
    int n = size[0];
    const float lr = 0.01f, decay = 0.1f, beta1 = 0.9f, beta2 = 0.99f, eps = 1e-3f;
    const float bias_correction1 = 0.271f, bias_correction2 = 0.0297f;
    struct mat p = mat_sum(r, 1, n, 0), m = mat_sum(r, 1, n, 0), u = mat_sum(r, 1, n, 0);
    struct mat g = mat_in(r, 1, n, 0);
    double *p_size = hold_doubles((size_t)n), *m_size = hold_doubles((size_t)n);
    for (int i = 0; i < n; i++) {
        mat_set(&u, 0, i, u.d[i] * u.d[i]);
        if (i % 8 == 7) { /* nothing has happened to this one yet */
            mat_set(&g, 0, i, 0);
            mat_set(&m, 0, i, 0);
            mat_set(&u, 0, i, 0);
        }
        m_size[i] = fabs((double)beta1 * m.d[i]) + fabs((1 - (double)beta1) * g.d[i]);
        p_size[i] = fabs(p.d[i]);
    }
    oracle->adamw(p.d, m.d, u.d, g.d, (size_t)n, (double)lr, (double)decay, (double)beta1,
                  (double)beta2, (double)eps, (double)bias_correction1, (double)bias_correction2);
    k->adamw(p.f, m.f, u.f, g.f, (size_t)n, lr, decay, beta1, beta2, eps, bias_correction1,
             bias_correction2);
    for (int i = 0; i < n; i++) { /* the step: relative, but for m, which may cancel */
        double below = sqrt(u.d[i] / (double)bias_correction2) + (double)eps;
        p_size[i] += (double)lr * m_size[i] / (double)bias_correction1 / below;
    }
    judge(v, "adamw m", &m, m_size, 4, 0);
    judge(v, "adamw v", &u, NULL, 4, 0); /* no cancellation in a sum of squares */
    judge(v, "adamw p", &p, p_size, FEW_ULPS, 0);
}

/* ---- the operations by name */

static const struct comparison {
    const char *op;
    compare_function *run;
} comparisons[] = {
    {"gemm", compare_gemm},
    {"gemm_tn", compare_gemm_tn},
    {"half_gemm", compare_half_gemm},
    {"half_gemm_tn", compare_half_gemm_tn},
    {"sum_rows", compare_sum_rows},
    {"embed", compare_embed},
    {"layernorm", compare_layernorm},
    {"rmsnorm", compare_rmsnorm},
    {"gelu", compare_gelu},
    {"swiglu", compare_swiglu},
    {"rotary", compare_rotary},
    {"softmax_block", compare_softmax_block},
    {"dot_rows", compare_dot_rows},
    {"softmax_columns", compare_softmax_columns},
    {"entmax15_rows", compare_entmax15_rows},
    {"window", compare_window},
    {"cross_entropy", compare_cross_entropy},
    {"sum_tree", compare_sum_tree},
    {"flat", compare_flat},
    {"adamw", compare_adamw},
};

/* One row of cases.h with table k; worst 0 where the row is for gradients alone. */
static inline struct verdict compare_case(const struct lg__kernels *k, int row)
{
    struct verdict v = {0};
    lg_rng r;
    lg_rng_init(&r, 1, 0, (uint64_t)row);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        if (!strcmp(comparisons[i].op, kernel_cases[row].op))
            comparisons[i].run(k, kernel_cases[row].size, &r, &v);
    release();
    return v;
}

#endif
