/* drawing.h: a toy task whose tokens get IDs, and whether what is drawn is as likely as it should
 * be. Seeds are fixed, so a bound that holds once holds always; bounds of chi-square are those of
 * p = 1e-6. */
#ifndef LG_TESTS_POSITIONS_DRAWING_H
#define LG_TESTS_POSITIONS_DRAWING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/plan.h"
#include "lengthen.h"
#include "tasks/tasks.h"

enum { A = LG_ABSENT, ROOM = 6000 };

/* ---- Toys ---------------------------------------------------------------------------------- */

/* A task of up to three levels whose words 0..9 are digits, 10 and up are not. */
static const lg_task_info toy_info = {.name = "toy", .family = "paper", .unit = "tokens"};
static const struct lg__task_row toy_row = {.info = {.name = "toy"}};
static const unsigned char toy_digit[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static inline lg_task toy(int levels)
{
    return (lg_task){.row = &toy_row,
                     .shape = {.info = &toy_info,
                               .vocab = 16,
                               .digit = toy_digit,
                               .stop = LG_NONE,
                               .levels = levels,
                               .level = {"column", "role", "place"},
                               .needed = levels ? 1 : 0,
                               .length_least = 1,
                               .length_most = 1000}};
}

static int32_t zeros[ROOM], buffer[LG_LEVELS][ROOM];
static int32_t *const ids[LG_LEVELS] = {buffer[0], buffer[1], buffer[2]};
static unsigned char no_loss[ROOM];

static inline lg_example example(int n)
{
    return (lg_example){
        .n = n, .answer = 1, .tokens = zeros, .labels = {zeros, zeros, zeros}, .loss = no_loss};
}

static inline lg_scheme scheme(const char *name, int max_id)
{
    lg_scheme s = lg_scheme_default();
    s.ids = name;
    s.max_id = max_id;
    return s;
}

static inline lg_rng rng(uint64_t index)
{
    lg_rng r;
    lg_rng_init(&r, 77, 0, index);
    return r;
}

static inline void draw(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r)
{
    lg_error err = {0};
    if (ids_once(s, t, x, r, ids, &err)) fail_msg("%s: %s", s->ids, err.text);
}

static inline void refuses(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r,
                           const char *value, const char *remedy)
{
    lg_error err = {0};
    assert_int_equal(ids_once(s, t, x, r, ids, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    if (!strstr(err.text, value) || !strstr(err.text, remedy))
        fail_msg("\"%s\" and \"%s\" are not both in: %s", value, remedy, err.text);
}

static inline void same_numbers(int l, const int32_t *want, int n, int line)
{
    for (int i = 0; i < n; i++)
        if (ids[l][i] != want[i])
            fail_msg("line %d: level %d, ids[%d] is %d, not %d", line, l + 1, i, ids[l][i],
                     want[i]);
}
#define same(l, ...)                                                                               \
    same_numbers(l, (const int32_t[]){__VA_ARGS__},                                                \
                 (int)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), __LINE__)

/* ---- Chi-square ------------------------------------------------------------------------------ */

/* The value that chi-square of k degrees passes once in 10^6 times (Wilson and Hilferty). */
static inline double bound(int k)
{
    double a = 2.0 / (9.0 * k), root = 1 - a + 4.7534 * sqrt(a);
    return k * root * root * root;
}

/* Counts of outcomes that are numbers, beside their probabilities. */
struct outcomes {
    int n;
    uint64_t key[512];
    double share[512];
    int count[512];
};

static inline int outcome(struct outcomes *o, uint64_t key, int add)
{
    for (int i = 0; i < o->n; i++)
        if (o->key[i] == key) return i;
    assert_true(add && o->n < 512);
    o->key[o->n] = key;
    return o->n++;
}

static inline void expect(struct outcomes *o, uint64_t key, double share)
{
    o->share[outcome(o, key, 1)] += share;
}

/* An outcome that was never expected fails the test. */
static inline void observe(struct outcomes *o, uint64_t key) { o->count[outcome(o, key, 0)]++; }

static inline void agree(const struct outcomes *o, int samples)
{
    double sum = 0, all = 0;
    for (int i = 0; i < o->n; i++) {
        double e = o->share[i] * samples, d = o->count[i] - e;
        assert_true(e >= 5 && o->count[i] > 0); /* every outcome occurs */
        sum += d * d / e;
        all += o->share[i];
    }
    assert_true(fabs(all - 1) < 1e-9);
    if (o->n > 1 && sum > bound(o->n - 1))
        fail_msg("chi-square is %g with %d degrees; at most %g", sum, o->n - 1, bound(o->n - 1));
}

static inline void expect_uniform(struct outcomes *o, int least, int most)
{
    for (int v = least; v <= most; v++) expect(o, (uint64_t)v, 1.0 / (most - least + 1));
}

static inline uint64_t key_of(const int32_t *v, int n)
{
    uint64_t key = 0;
    for (int i = 0; i < n; i++) key = key << 6 | (uint64_t)v[i];
    return key;
}

/* ---- PoSE ---------------------------------------------------------------------------------- */

/* Strictly increasing from 0, below the target, contiguous but for at most chunks-1 gaps. */
static inline void is_pose(const int32_t *v, int n, int chunks, int target)
{
    int gaps = 0;
    assert_int_equal(v[0], 0);
    for (int i = 1; i < n; i++) {
        assert_true(v[i] > v[i - 1]);
        gaps += v[i] > v[i - 1] + 1;
    }
    assert_true(gaps <= chunks - 1);
    assert_true(v[n - 1] < target);
}

#endif
