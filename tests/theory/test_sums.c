/* test_sums.c: the recurrences of sparse functional attention against the enumeration of all
 * subsets, their gradients against finite differences, and all of them at 100,000 places against
 * sums that were taken with 200 digits (tests/data/make_theory.py). If this went, a fit of the
 * theory room could be a fit of something else than the class it names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "theory/sum.h"

enum { MOST_N = 14, MOST_TUPLES = 4096, MOST_OUT = 3, MOST_PATTERNS = 2000 };
enum form { ANYWHERE, WITHIN, ORDERED, UNORDERED, PATTERNS, COUPLED, FORMS };

/* A random case: everything that a sum reads. */
struct trial {
    enum form form;
    int n, k, vocab, outputs, tuples_count;
    double score[MOST_N], sign[4], weight[MOST_PATTERNS];
    double g[MOST_TUPLES * MOST_OUT], tuple_score[MOST_TUPLES];
    double m[MOST_TUPLES];
    int64_t e[MOST_TUPLES];
    int32_t token[MOST_N], id[MOST_N];
    struct lg__tuples tuples;
    struct lg__patterns patterns;
    struct lg__table table;
    struct lg__sum sum;
};

struct gradients {
    double score[MOST_N], sign[4], weight[MOST_PATTERNS], g[MOST_TUPLES * MOST_OUT],
        tuple[MOST_TUPLES];
};

static double between(lg_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * lg_rng_uniform(r);
}
static int from_to(lg_rng *r, int lo, int hi)
{
    return lo + (int)lg_rng_below(r, (uint32_t)(hi - lo + 1));
}

/* As the numbers are now. */
static void refresh(struct trial *t)
{
    if (t->table.m) lg__table_scores(&t->table, t->tuple_score);
}

static void make_trial(struct trial *t, lg_rng *r, enum form form, double wide)
{
    lg_error err = {0};
    memset(t, 0, sizeof *t);
    t->form = form;
    t->k = from_to(r, 1, 6);
    t->n = from_to(r, t->k, MOST_N);
    t->vocab = from_to(r, 2, t->k > 5 ? 3 : 4);
    t->outputs = form <= WITHIN ? 1 : from_to(r, 1, MOST_OUT);
    t->sum = (struct lg__sum){.n = t->n, .k = t->k, .score = t->score, .token = t->token};
    for (int i = 0; i < t->n; i++) {
        t->score[i] = lg_rng_below(r, 20) ? between(r, -wide, wide) : -INFINITY;
        t->token[i] = from_to(r, 0, t->vocab - 1);
        t->id[i] = from_to(r, 0, 4);
    }
    for (int i = 0; i < 4; i++) t->sign[i] = between(r, -1, 1);
    if (form == WITHIN || form == COUPLED) t->sum.span = from_to(r, t->k, MOST_N + 1);
    if (form == COUPLED) t->sum.span = from_to(r, 1, 4);
    if (form == COUPLED) t->sum.id = t->id;
    if (form <= WITHIN) {
        t->sum.sign = t->sign;
        return;
    }
    assert_int_equal(lg__tuples_make(&t->tuples, t->k, t->vocab, form != UNORDERED, &err), 0);
    t->tuples_count = t->tuples.count[t->k];
    t->table = (struct lg__table){.tuples = &t->tuples, .outputs = t->outputs, .g = t->g};
    if (lg_rng_below(r, 2)) t->table.m = t->m, t->table.e = t->e;
    for (int i = 0; i < t->tuples_count * t->outputs; i++) t->g[i] = between(r, -1, 1);
    for (int i = 0; i < t->tuples_count; i++) t->tuple_score[i] = between(r, -wide, wide);
    t->sum.table = &t->table;
    if (form == PATTERNS) {
        int span = from_to(r, t->k, 10);
        assert_int_equal(lg__patterns_all(&t->patterns, t->k, span, &err), 0);
        for (int i = 0; i < t->patterns.count; i++)
            t->weight[i] = lg_rng_below(r, 5) ? between(r, 0.1, 2) : 0;
        t->patterns.weight = t->weight;
        t->sum.patterns = &t->patterns;
    }
    refresh(t);
}

static void end_trial(struct trial *t)
{
    lg__tuples_clear(&t->tuples);
    lg__patterns_clear(&t->patterns);
}

static lg__sum_form *const forms[FORMS] = {lg__sum_symmetric, lg__sum_symmetric, lg__sum_tuples,
                                           lg__sum_tuples,    lg__sum_patterns,  lg__sum_patterns};

static void take(const struct trial *t, lg__sum_form *form, double *h, double *log_sum,
                 const double *out, struct gradients *g)
{
    static struct lg__sum_work w;
    lg_error err = {0};
    struct lg__sum_gradient d = {.out = out};
    if (g) {
        memset(g, 0, sizeof *g);
        d.score = g->score;
        if (t->sum.sign) d.sign = g->sign;
        if (t->sum.table) d.g = g->g, d.tuple = g->tuple;
        if (t->sum.patterns) d.weight = g->weight;
    }
    assert_int_equal(form(&t->sum, &w, h, log_sum, g ? &d : NULL, &err), 0);
}

/* sum of A |g| over sum of A, by enumeration: what an error is measured by. */
static double absolute(struct trial *t, int output)
{
    static struct trial copy;
    double h[MOST_OUT];
    copy = *t;
    copy.sum.score = copy.score;
    copy.sum.sign = t->sum.sign ? copy.sign : NULL;
    copy.table.g = copy.g;
    copy.sum.table = t->sum.table ? &copy.table : NULL;
    for (int i = 0; i < 4; i++) copy.sign[i] = fabs(copy.sign[i]);
    for (int i = 0; i < t->tuples_count * t->outputs; i++) copy.g[i] = fabs(copy.g[i]);
    take(&copy, lg__sum_enumerate, h, NULL, NULL, NULL);
    return h[output];
}

static void near_to(const double *a, const double *b, int n, double allowed, const char *what,
                    const struct trial *t)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= allowed))
            fail_msg("form %d, n %d, k %d: %s %d is %.17g, not %.17g", (int)t->form, t->n, t->k,
                     what, i, a[i], b[i]);
}

static void recurrences_are_the_enumeration(void **state)
{
    (void)state;
    static struct trial t;
    static struct gradients fast, slow;
    static const double wides[] = {0.5, 5, 60};
    for (int f = 0; f < FORMS; f++)
        for (int i = 0; i < 150; i++) {
            lg_rng r;
            double h[MOST_OUT], want[MOST_OUT], log_sum, log_want, out[MOST_OUT];
            lg_rng_init(&r, 7, (uint32_t)f, (uint64_t)i);
            make_trial(&t, &r, (enum form)f, wides[i % 3]);
            for (int m = 0; m < MOST_OUT; m++) out[m] = between(&r, -1, 1);
            for (int p = 0; p < t.patterns.count; p++) /* a derivative at 0 is not enumerated */
                if (t.weight[p] == 0) t.weight[p] = i % 2 ? 1e-3 : 0;
            int zero = t.form == PATTERNS && i % 2 == 0;
            take(&t, forms[f], h, &log_sum, out, zero ? NULL : &fast);
            take(&t, lg__sum_enumerate, want, &log_want, out, zero ? NULL : &slow);
            for (int m = 0; m < t.outputs; m++)
                near_to(h + m, want + m, 1, 1e-10 * absolute(&t, m), "h", &t);
            if (isfinite(log_want) || isfinite(log_sum))
                near_to(&log_sum, &log_want, 1, 1e-10 * (1 + fabs(log_want)), "log", &t);
            if (!zero) {
                near_to(fast.score, slow.score, t.n, 1e-10, "score gradient", &t);
                near_to(fast.sign, slow.sign, 4, 1e-10, "sign gradient", &t);
                near_to(fast.g, slow.g, t.tuples_count * t.outputs, 1e-10, "g gradient", &t);
                near_to(fast.tuple, slow.tuple, t.tuples_count, 1e-10, "tuple gradient", &t);
                for (int p = 0; p < t.patterns.count; p++)
                    near_to(&fast.weight[p], &slow.weight[p], 1, 1e-9 * (1 + fabs(slow.weight[p])),
                            "weight gradient", &t);
            }
            end_trial(&t);
        }
}

/* The derivative of sum out_m h_m by *x, by central differences. */
static double difference(struct trial *t, double *x, const double *out)
{
    double step = 1e-5, was = *x, sum = 0, h[MOST_OUT];
    for (int side = -1; side <= 1; side += 2) {
        *x = was + side * step;
        refresh(t);
        take(t, forms[t->form], h, NULL, NULL, NULL);
        for (int m = 0; m < t->outputs; m++) sum += side * out[m] * h[m];
    }
    *x = was;
    refresh(t);
    return sum / (2 * step);
}

static void gradients_are_differences(void **state)
{
    (void)state;
    static struct trial t;
    static struct gradients g;
    for (int f = 0; f < FORMS; f++)
        for (int i = 0; i < 25; i++) {
            lg_rng r;
            double h[MOST_OUT], out[MOST_OUT];
            lg_rng_init(&r, 8, (uint32_t)f, (uint64_t)i);
            make_trial(&t, &r, (enum form)f, 2);
            for (int m = 0; m < MOST_OUT; m++) out[m] = between(&r, -1, 1);
            take(&t, forms[f], h, NULL, out, &g);
            struct {
                double *x, *d;
                int n;
            } parts[] = {{t.score, g.score, t.n},
                         {t.sign, g.sign, f <= WITHIN ? t.vocab : 0},
                         {t.g, g.g, t.tuples_count * t.outputs},
                         {t.tuple_score, g.tuple, t.table.m ? t.tuples_count : 0},
                         {t.weight, g.weight, t.patterns.count}};
            for (int p = 0; p < 5; p++)
                for (int j = 0; j < parts[p].n && j < 40; j++) {
                    if (!isfinite(parts[p].x[j]) || (p == 4 && parts[p].x[j] == 0)) continue;
                    double want = difference(&t, parts[p].x + j, out);
                    if (fabs(parts[p].d[j] - want) > 1e-7 * (1 + fabs(want)))
                        fail_msg("form %d, trial %d, part %d, number %d: %.10g, not %.10g", f, i, p,
                                 j, parts[p].d[j], want);
                }
            end_trial(&t);
        }
}

/* A pattern whose weight is 0 has a derivative all the same: it can come back. */
static void a_weight_of_zero_can_rise(void **state)
{
    (void)state;
    lg_error err = {0};
    struct lg__tuples u;
    struct lg__patterns p;
    struct lg__sum_work w = {0};
    double g[] = {0, 0, 0, 1}, score[] = {0, 0, 0}, weight[] = {1, 0}, d[2] = {0}, out = 1, h;
    int32_t token[] = {1, 0, 1};
    assert_int_equal(lg__tuples_make(&u, 2, 2, 1, &err), 0);
    assert_int_equal(lg__patterns_all(&p, 2, 3, &err), 0);
    assert_int_equal(p.count, 2);
    p.weight = weight;
    struct lg__table table = {.tuples = &u, .outputs = 1, .g = g};
    struct lg__sum s = {
        .n = 3, .k = 2, .score = score, .token = token, .table = &table, .patterns = &p};
    struct lg__sum_gradient gradient = {.out = &out, .weight = d};
    assert_int_equal(lg__sum_patterns(&s, &w, &h, NULL, &gradient, &err), 0);
    assert_true(h == 0);                   /* the pairs side by side show (1, 0) and (0, 1) */
    assert_true(fabs(d[1] - 0.5) < 1e-15); /* h = w / (2 + w) */
    lg__tuples_clear(&u);
    lg__patterns_clear(&p);
    lg__sum_work_clear(&w);
}

/* ---- 200 digits ----------------------------------------------------------------------------- */

enum { N = 100000, K = 8, SPAN = 20 };
static double scores[N], score_d[N];
static int32_t words[N], bits[N],
    listed[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 3, 5, 7, 11, 13, 17, 0, 1, 4, 9, 16, 25, 36, 49};

static void fill(const char *kind)
{
    for (int i = 0; i < N; i++) {
        long long l = i, mixed = l * 7919 + 12345;
        words[i] = (int32_t)((l * l + 3 * l) % 7 % 3);
        bits[i] = (int32_t)((l * 5 + l / 11) % 3 % 2);
        scores[i] = (double)(mixed % 100003) / 100003 * 400 - 200;
        if (strcmp(kind, "one") == 0) scores[i] = i == 77777 ? 601 : (double)(mixed % 1024) / 1024;
    }
}

/* What the line of the fixture asks for. */
static double measure(const char *form, const char *kind, const char *what)
{
    static const double sign[] = {1, -0.75, 0.5}, weight[] = {1, 2, 3};
    static double g[256];
    static struct lg__tuples u;
    static struct lg__sum_work w;
    lg_error err = {0};
    double h, log_sum, out = 1;
    for (int i = 0; i < 256; i++) g[i] = (double)((i * 37 + 11) % 128) / 64 - 1;
    if (!u.k) assert_int_equal(lg__tuples_make(&u, K, 2, 1, &err), 0);
    struct lg__patterns p = {.k = K, .count = 3, .offset = listed, .weight = weight};
    struct lg__table table = {.tuples = &u, .outputs = 1, .g = g};
    struct lg__sum s = {.n = N, .k = K, .score = scores, .token = words};
    struct lg__sum_gradient d = {.out = &out, .score = score_d};
    int gradient = strncmp(what, "score", 5) == 0;
    fill(kind);
    memset(score_d, 0, sizeof score_d);
    lg__sum_form *sum = lg__sum_symmetric;
    if (*form == 'a' || *form == 'w') s.sign = sign;
    if (*form == 'w') s.span = SPAN;
    if (*form == 't' || *form == 'p') s.table = &table, s.token = bits;
    if (*form == 't') sum = lg__sum_tuples;
    if (*form == 'p') sum = lg__sum_patterns, s.patterns = &p;
    assert_int_equal(sum(&s, &w, &h, &log_sum, gradient ? &d : NULL, &err), 0);
    for (int i = 0; i < N; i++) assert_true(isfinite(score_d[i]));
    return gradient ? score_d[atoi(what + 5)] : *what == 'h' ? h : log_sum;
}

static void long_texts_are_right_to_the_digits(void **state)
{
    (void)state;
    FILE *f = fopen(LG_TEST_DATA "/fixtures/theory.txt", "r");
    assert_non_null(f);
    char form[20], kind[20], what[20];
    double want;
    int lines = 0;
    for (; fscanf(f, "%19s %19s %19s %lf", form, kind, what, &want) == 4; lines++) {
        double got = measure(form, kind, what);
        /* |g| is 0.06 or more on average; a derivative is right to its own digits. */
        double allowed = 1e-12 * (1 + fabs(want));
        if (strncmp(what, "score", 5) == 0 && fabs(want) > 1e-50) allowed = 1e-8 * fabs(want);
        if (!(fabs(got - want) <= allowed))
            fail_msg("%s %s %s is %.17g, not %.17g", form, kind, what, got, want);
    }
    fclose(f);
    assert_int_equal(lines, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recurrences_are_the_enumeration),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(a_weight_of_zero_can_rise),
        cmocka_unit_test(long_texts_are_right_to_the_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
