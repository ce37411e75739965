/* helper.h: what the kernel tests share: memory that is given back at the end of a case,
 * matrices in float and double with canaries around them, and the verdict of a comparison. */
#ifndef TESTS_ENGINE_HELPER_H
#define TESTS_ENGINE_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/naive.h"
#include "lengthen.h"

#define ULP 0x1p-24 /* the unit roundoff of float: a correctly rounded result is this near */

/* ---- memory ----------------------------------------------------------------------- */

static void *held[256];
static int held_count;

/* Memory that ends exactly where it was asked to, so that ASan sees one byte too many. */
static inline void *hold(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p || held_count == (int)(sizeof held / sizeof held[0])) {
        fprintf(stderr, "the kernel tests ran out of memory or of slots\n");
        abort();
    }
    held[held_count++] = p;
    return p;
}

static inline void release(void)
{
    while (held_count > 0) free(held[--held_count]);
}

static inline double *hold_doubles(size_t n)
{
    double *x = hold(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = 0;
    return x;
}

/* ---- random numbers --------------------------------------------------------------- */

static inline double *random_doubles(lg_rng *r, size_t n)
{
    double *x = hold_doubles(n);
    for (size_t i = 0; i < n; i++) x[i] = lg_rng_normal(r);
    return x;
}

/* 0..n-1 in random order. */
static inline int *random_order(lg_rng *r, int n)
{
    int *order = hold((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++) {
        int j = (int)lg_rng_below(r, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

/* ---- matrices --------------------------------------------------------------------- */

/* f is what the kernel under test works on, d the same numbers for the oracle, same ld. */
struct mat {
    float *f;
    double *d;
    int rows, cols;
    size_t ld, guard, count; /* count: from the first number to the last, gaps included */
};

/* Not a number that any kernel makes; in the gaps of inputs it also poisons a result that
 * was made from what lies between the rows. */
#define CANARY 0x7fc5a5a5u

static inline int is_canary(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == CANARY;
}

/* guard: canaries on both sides. Numbers lie at an odd place in memory: kernels are told
 * nothing of alignment. */
static inline struct mat mat_make(int rows, int cols, int gap, size_t guard)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = (size_t)(cols + gap), .guard = guard};
    m.count = rows > 0 && cols > 0 ? (size_t)(rows - 1) * m.ld + (size_t)cols : 0;
    float *base = hold((m.count + 2 * guard + 1) * sizeof *base);
    const uint32_t canary = CANARY;
    for (size_t i = 0; i < m.count + 2 * guard + 1; i++) memcpy(base + i, &canary, sizeof canary);
    m.f = base + 1 + guard;
    m.d = hold((m.count ? m.count : 1) * sizeof *m.d);
    for (size_t i = 0; i < m.count; i++) m.d[i] = (double)NAN;
    return m;
}

static inline void mat_set(struct mat *m, int t, int c, double x)
{
    size_t i = (size_t)t * m->ld + (size_t)c;
    m->f[i] = (float)x;
    m->d[i] = (double)m->f[i];
}

static inline void mat_fill(struct mat *m, lg_rng *r, double mean, double deviation)
{
    for (int t = 0; t < m->rows; t++)
        for (int c = 0; c < m->cols; c++) mat_set(m, t, c, mean + deviation * lg_rng_normal(r));
}

/* An input: ends where its last number ends. */
static inline struct mat mat_in(lg_rng *r, int rows, int cols, int gap)
{
    struct mat m = mat_make(rows, cols, gap, 0);
    mat_fill(&m, r, 0, 1);
    return m;
}

/* An output with old numbers in it, for kernels that add to them. */
static inline struct mat mat_sum(lg_rng *r, int rows, int cols, int gap)
{
    struct mat m = mat_make(rows, cols, gap, 32);
    mat_fill(&m, r, 0, 1);
    return m;
}

/* An output of NaN, for kernels that overwrite. */
static inline struct mat mat_out(int rows, int cols, int gap)
{
    struct mat m = mat_make(rows, cols, gap, 32);
    for (int t = 0; t < rows; t++)
        for (int c = 0; c < cols; c++) m.f[(size_t)t * m.ld + (size_t)c] = NAN;
    return m;
}

/* Rounds d to what the kernel under test gets, so that both get the same. */
static inline void mat_round(struct mat *m)
{
    for (int t = 0; t < m->rows; t++)
        for (int c = 0; c < m->cols; c++) mat_set(m, t, c, m->d[(size_t)t * m->ld + (size_t)c]);
}

/* |d|, same ld. */
static inline double *mat_abs(const struct mat *m)
{
    double *x = hold_doubles(m->count);
    for (size_t i = 0; i < m->count; i++) x[i] = fabs(m->d[i]);
    return x;
}

/* A place for n floats at a multiple of 64 bytes, canaries after it: packed operands and
 * scratch, which the engine takes from its aligned blocks. */
struct room {
    float *f;
    size_t n;
};

static inline struct room room_make(size_t n)
{
    char *base = hold((n + 48) * sizeof(float));
    size_t off = (64 - (size_t)((uintptr_t)base % 64)) % 64;
    struct room s = {(float *)(void *)(base + off), n};
    const uint32_t canary = CANARY;
    for (size_t i = 0; i < n + 32; i++) memcpy(s.f + i, &canary, sizeof canary);
    return s;
}

/* ---- verdicts --------------------------------------------------------------------- */

/* The worst |difference| / bound of a comparison, and where it is; over 1 is a failure. */
struct verdict {
    double worst;
    char where[160];
};

static inline void verdict_add(struct verdict *v, double ratio, const char *what, long i,
                               double got, double want)
{
    if (isnan(ratio)) ratio = INFINITY;
    if (ratio <= v->worst) return;
    v->worst = ratio;
    snprintf(v->where, sizeof v->where, "%s at %ld: %.9g, want %.17g", what, i, got, want);
}

/* |f - d| <= ulps * 2^-24 * size + tiny, number by number; size has d's layout; NULL: |d|.
 * Also: nothing written outside of the matrix. */
static inline void judge(struct verdict *v, const char *what, const struct mat *m,
                         const double *size, double ulps, double tiny)
{
    for (int t = 0; t < m->rows; t++)
        for (int c = 0; c < m->cols; c++) {
            size_t i = (size_t)t * m->ld + (size_t)c;
            double got = (double)m->f[i], want = m->d[i];
            double off = fabs(got - want);
            double bound = ulps * ULP * (size ? size[i] : fabs(want)) + tiny;
            /* got == want: also of infinities, and where the bound is 0 */
            verdict_add(v, got == want ? 0 : off / bound, what, (long)i, got, want);
        }
    for (size_t i = 0; i < m->guard; i++)
        if (!is_canary(m->f[-1 - (ptrdiff_t)i]) || !is_canary(m->f[m->count + i]))
            verdict_add(v, INFINITY, "written outside of the matrix", (long)i, 0, 0);
    for (int t = 0; t + 1 < m->rows && m->guard; t++)
        for (size_t i = (size_t)m->cols; i < m->ld; i++)
            if (!is_canary(m->f[(size_t)t * m->ld + i]))
                verdict_add(v, INFINITY, "written between the rows", t, 0, 0);
}

static inline void judge_room(struct verdict *v, const char *what, const struct room *s)
{
    for (size_t i = 0; i < 32; i++)
        if (!is_canary(s->f[s->n + i]))
            verdict_add(v, INFINITY, what, (long)i, (double)s->f[s->n + i], 0);
}

#endif
