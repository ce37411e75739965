/* test_ids.c: which ID each token gets: cases worked by hand, and the distributions against ones
 * that are enumerated here. Seeds are fixed, so a bound that holds once holds always; bounds of
 * chi-square are those of p = 1e-6. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "lengthen.h"
#include "tasks/tasks.h"

enum { A = LG_ABSENT, ROOM = 6000 };

/* ---- Toys ---------------------------------------------------------------------------------- */

/* A task of up to three levels whose words 0..9 are digits, 10 and up are not. */
static const lg_task_info toy_info = {.name = "toy", .family = "paper", .unit = "tokens"};
static const struct lg__task_row toy_row = {.info = {.name = "toy"}};
static const unsigned char toy_digit[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static lg_task toy(int levels)
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

static lg_example example(int n)
{
    return (lg_example){
        .n = n, .answer = 1, .tokens = zeros, .labels = {zeros, zeros, zeros}, .loss = no_loss};
}

static lg_scheme scheme(const char *name, int max_id)
{
    lg_scheme s = lg_scheme_default();
    s.ids = name;
    s.max_id = max_id;
    return s;
}

static lg_rng rng(uint64_t index)
{
    lg_rng r;
    lg_rng_init(&r, 77, 0, index);
    return r;
}

static void draw(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r)
{
    lg_error err = {0};
    if (lg_scheme_ids(s, t, x, r, ids, &err)) fail_msg("%s: %s", s->ids, err.text);
}

static void refuses(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_rng *r,
                    const char *value, const char *remedy)
{
    lg_error err = {0};
    assert_int_equal(lg_scheme_ids(s, t, x, r, ids, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    if (!strstr(err.text, value) || !strstr(err.text, remedy))
        fail_msg("\"%s\" and \"%s\" are not both in: %s", value, remedy, err.text);
}

static void same_numbers(int l, const int32_t *want, int n, int line)
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
static double bound(int k)
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

static int outcome(struct outcomes *o, uint64_t key, int add)
{
    for (int i = 0; i < o->n; i++)
        if (o->key[i] == key) return i;
    assert_true(add && o->n < 512);
    o->key[o->n] = key;
    return o->n++;
}

static void expect(struct outcomes *o, uint64_t key, double share)
{
    o->share[outcome(o, key, 1)] += share;
}

/* An outcome that was never expected fails the test. */
static void observe(struct outcomes *o, uint64_t key) { o->count[outcome(o, key, 0)]++; }

static void agree(const struct outcomes *o, int samples)
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

static void expect_uniform(struct outcomes *o, int least, int most)
{
    for (int v = least; v <= most; v++) expect(o, (uint64_t)v, 1.0 / (most - least + 1));
}

static uint64_t key_of(const int32_t *v, int n)
{
    uint64_t key = 0;
    for (int i = 0; i < n; i++) key = key << 6 | (uint64_t)v[i];
    return key;
}

/* ---- Tables and defaults --------------------------------------------------------------------- */

static void names_and_texts(void **state)
{
    (void)state;
    static const char *const names[] = {"plain",   "random-start",       "randomized",   "pose",
                                        "coupled", "coupled+randomized", "coupled+pose", "abacus"};
    static const char *const heads[] = {"absolute", "delta", "pointer"};
    assert_int_equal(lg_ids_count(), 8);
    assert_int_equal(lg_id_head_count(), 3);
    for (int i = 0; i < 8 + 3; i++) {
        lg_ids_info info = i < 8 ? lg_ids_info_at(i) : lg_id_head_info_at(i - 8);
        assert_string_equal(info.name, i < 8 ? names[i] : heads[i - 8]);
        assert_true(strlen(info.line) > 10 && strlen(info.line) < 80);
        assert_null(strchr(info.line, '\n'));
        assert_true(strlen(info.text) > 100);
        for (const char *s = info.text; *s; s += strcspn(s, "\n"), s += *s == '\n')
            assert_true(strcspn(s, "\n") <= 92);
    }
    assert_null(lg_ids_info_at(-1).name);
    assert_null(lg_ids_info_at(8).name);
    assert_null(lg_id_head_info_at(3).name);
}

static void the_default_is_plain(void **state)
{
    (void)state;
    lg_scheme s = lg_scheme_default();
    assert_string_equal(s.ids, "plain");
    assert_int_equal(s.chunks, 2);
    assert_int_equal(s.reach, 8);
    assert_int_equal(s.levels + s.max_id + s.target, 0);
    for (int l = 0; l < LG_LEVELS; l++) assert_null(s.source[l]);
}

static void unknown_names(void **state)
{
    (void)state;
    lg_task t = toy(1);
    lg_example x = example(3);
    lg_scheme s = scheme("coupledd", 0);
    refuses(&s, &t, &x, NULL, "\"coupledd\"", "did you mean \"coupled\"");
    s.ids = "xyzzyxyzzy";
    refuses(&s, &t, &x, NULL, "\"xyzzyxyzzy\"", "random-start");
    s.ids = NULL;
    refuses(&s, &t, &x, NULL, "no ids", "plain");
    s.ids = "coupled";
    s.source[0] = "pointr";
    refuses(&s, &t, &x, NULL, "\"pointr\"", "did you mean \"pointer\"");
    s.source[0] = "given";
    draw(&s, &t, &x, NULL);
}

/* ---- By place --------------------------------------------------------------------------------- */

static void plain(void **state)
{
    (void)state;
    lg_task t = toy(0);
    lg_example x = example(5);
    lg_scheme s = scheme("plain", 0);
    draw(&s, &t, &x, NULL);
    same(0, 0, 1, 2, 3, 4);
    lg_rng r = rng(0), before = r;
    draw(&s, &t, &x, &r);
    same(0, 0, 1, 2, 3, 4);
    assert_memory_equal(&r, &before, sizeof r); /* nothing is drawn */
}

static void random_start(void **state)
{
    (void)state;
    enum { N = 11, MAX = 30, SAMPLES = 40000 };
    lg_task t = toy(0);
    lg_example x = example(N);
    lg_scheme s = scheme("random-start", MAX);
    struct outcomes o = {0};
    expect_uniform(&o, 1, MAX - N + 1);
    lg_rng r = rng(1);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        for (int k = 1; k < N; k++) assert_int_equal(ids[0][k], ids[0][0] + k);
        assert_true(ids[0][N - 1] <= MAX);
        observe(&o, (uint64_t)ids[0][0]);
    }
    agree(&o, SAMPLES);

    draw(&s, &t, &x, NULL);
    same(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    x.n = MAX;
    draw(&s, &t, &x, &r);
    assert_int_equal(ids[0][0], 1);
    x.n = MAX + 1;
    refuses(&s, &t, &x, &r, "31 tokens", "set max_id to 31 or more");
    draw(&s, &t, &x, NULL); /* evaluation may go on where training cannot */
    assert_int_equal(ids[0][MAX], MAX + 1);
    s.max_id = 0;
    refuses(&s, &t, &x, &r, "max_id is 0", "set max_id");
}

static void increasing(const int32_t *v, int n, int32_t most)
{
    for (int i = 0; i < n; i++) assert_true(v[i] >= (i ? v[i - 1] + 1 : 0) && v[i] <= most);
}

/* All C(6, 3) sets, equally often. */
static void randomized_is_uniform(void **state)
{
    (void)state;
    enum { SAMPLES = 40000 };
    lg_task t = toy(0);
    lg_example x = example(3);
    lg_scheme s = scheme("randomized", 5);
    struct outcomes o = {0};
    for (int32_t a = 0; a < 6; a++)
        for (int32_t b = a + 1; b < 6; b++)
            for (int32_t c = b + 1; c < 6; c++) expect(&o, key_of((int32_t[]){a, b, c}, 3), 0.05);
    assert_int_equal(o.n, 20);
    lg_rng r = rng(2);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        observe(&o, key_of(ids[0], 3));
    }
    agree(&o, SAMPLES);
}

/* The larger path too: of 300 out of 1,000 each number comes with probability 0.3. */
static void randomized_of_many(void **state)
{
    (void)state;
    enum { N = 300, M = 1000, SAMPLES = 4000 };
    lg_task t = toy(0);
    lg_example x = example(N);
    lg_scheme s = scheme("randomized", M - 1);
    static int count[M];
    lg_rng r = rng(3);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        increasing(ids[0], N, M - 1);
        for (int k = 0; k < N; k++) count[ids[0][k]]++;
    }
    double deviation = sqrt(SAMPLES * 0.3 * 0.7);
    for (int v = 0; v < M; v++) assert_true(fabs(count[v] - 0.3 * SAMPLES) < 6 * deviation);

    static const struct {
        int n, max_id;
    } cases[] = {{1, 1},       {2, 1},       {256, 255},         {257, 256},
                 {5000, 4999}, {5000, 5003}, {5000, 2147483645}, {40, 2147483645},
                 {256, 100000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        x.n = cases[i].n;
        s.max_id = cases[i].max_id;
        draw(&s, &t, &x, &r);
        increasing(ids[0], x.n, s.max_id);
    }
    x.n = 300;
    s.max_id = 298;
    refuses(&s, &t, &x, &r, "300 tokens", "set max_id to 299 or more");
    s.max_id = 0;
    refuses(&s, &t, &x, &r, "max_id is 0", "set max_id");
}

/* Evaluation: by the prompt's tokens alone. */
static void randomized_by_the_prompt(void **state)
{
    (void)state;
    lg_task t = toy(0);
    int32_t tokens[] = {3, 1, 4, 1, 5, 9}, first[6];
    lg_example x = example(6);
    x.tokens = tokens;
    x.answer = 4;
    lg_scheme s = scheme("randomized", 100000);
    draw(&s, &t, &x, NULL);
    memcpy(first, ids[0], sizeof first);
    increasing(first, 6, 100000);
    tokens[4] = 7; /* the answer has no say */
    draw(&s, &t, &x, NULL);
    assert_memory_equal(first, ids[0], sizeof first);
    for (int i = 0; i < 4; i++) {
        tokens[i]++;
        draw(&s, &t, &x, NULL);
        assert_memory_not_equal(first, ids[0], sizeof first);
        tokens[i]--;
    }
    lg_rng r = rng(4);
    draw(&s, &t, &x, &r);
    assert_memory_not_equal(first, ids[0], sizeof first);
}

/* ---- PoSE --------------------------------------------------------------------------------------- */

/* Strictly increasing from 0, below the target, contiguous but for at most chunks-1 gaps. */
static void is_pose(const int32_t *v, int n, int chunks, int target)
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

static void pose_of_two_chunks(void **state)
{
    (void)state;
    enum { N = 9, TARGET = 20, SAMPLES = 60000 };
    lg_task t = toy(0);
    lg_example x = example(N);
    lg_scheme s = scheme("pose", 0);
    s.target = TARGET;
    struct outcomes shifts = {0}, first = {0};
    expect_uniform(&shifts, 0, TARGET - N);
    expect_uniform(&first, 1, 5); /* never longer than half: floor((9+1)/2) */
    lg_rng r = rng(5);
    int moved = 0;
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        is_pose(ids[0], N, 2, TARGET);
        int shift = ids[0][N - 1] - (N - 1), length = 1;
        observe(&shifts, (uint64_t)shift);
        if (!shift) continue; /* the cut cannot be seen */
        while (ids[0][length] == length) length++;
        observe(&first, (uint64_t)length);
        moved++;
    }
    agree(&shifts, SAMPLES);
    agree(&first, moved);

    draw(&s, &t, &x, NULL);
    same(0, 0, 1, 2, 3, 4, 5, 6, 7, 8);
    x.n = TARGET; /* no room to shift */
    draw(&s, &t, &x, &r);
    for (int i = 0; i < TARGET; i++) assert_int_equal(ids[0][i], i);
    x.n = TARGET + 1;
    refuses(&s, &t, &x, &r, "21 tokens", "set target to 21 or more");
    draw(&s, &t, &x, NULL);
    assert_int_equal(ids[0][TARGET], TARGET);
    x.n = 1;
    draw(&s, &t, &x, &r);
    assert_int_equal(ids[0][0], 0);
    s.chunks = 1;
    refuses(&s, &t, &x, &r, "chunks is 1", "2 or more");
    s.chunks = 2;
    s.target = 0;
    refuses(&s, &t, &x, &r, "target is 0", "longest test length");
}

/* The probability of every ID sequence, by the paper's form: the first `chunk` chunks cover v[0..n)
 * so far; all cut sets of this size are equally likely, and each shift is uniform from the one
 * before it to `most`. */
static void enumerate(struct outcomes *o, int32_t *v, int n, int at, int cuts, int shift, int most,
                      double share)
{
    if (at == n) {
        if (!cuts) expect(o, key_of(v, n), share);
        return;
    }
    v[at] = at + shift;
    enumerate(o, v, n, at + 1, cuts, shift, most, share);
    if (!cuts || !at) return;
    for (int u = shift; u <= most; u++) {
        v[at] = at + u;
        enumerate(o, v, n, at + 1, cuts - 1, u, most, share / (most - shift + 1));
    }
}

/* With a random start the first chunk's shift is as uniform as the others', and IDs need not begin
 * at 0: by the same enumeration, from every first shift. */
static void pose_with_a_random_start(void **state)
{
    (void)state;
    enum { N = 4, TARGET = 7, SAMPLES = 200000 };
    lg_task t = toy(0);
    lg_example x = example(N);
    lg_scheme s = scheme("pose", 0);
    s.chunks = 3;
    s.target = TARGET;
    s.random_start = 1;
    static struct outcomes o;
    o = (struct outcomes){0};
    int32_t v[16];
    for (int u = 0; u <= TARGET - N; u++) /* C(3, 2) cut sets, 4 first shifts */
        enumerate(&o, v, N, 0, 2, u, TARGET - N, 1.0 / 12);
    lg_rng r = rng(17);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        observe(&o, key_of(ids[0], N));
    }
    agree(&o, SAMPLES);
    draw(&s, &t, &x, NULL);
    assert_int_equal(ids[0][0], 0); /* evaluation stays plain */
}

static void pose_matches(int n, int chunks, int made, int target, double sets, uint64_t index)
{
    enum { SAMPLES = 200000 };
    lg_task t = toy(0);
    lg_example x = example(n);
    lg_scheme s = scheme("pose", 0);
    s.chunks = chunks;
    s.target = target;
    s.cut_anywhere = chunks == 2;
    static struct outcomes o;
    o = (struct outcomes){0};
    int32_t v[16];
    enumerate(&o, v, n, 0, made - 1, 0, target - n, 1 / sets);
    lg_rng r = rng(index);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        is_pose(ids[0], n, made, target);
        observe(&o, key_of(ids[0], n));
    }
    agree(&o, SAMPLES);
}

/* A peer's PoSE was wrong for more than two chunks (axolotl, PR 1567: found in review, chunks past
 * the second were mislaid). Here every ID sequence has the probability that the paper's form gives
 * it, for any number of chunks; sets is the number of cut sets. */
static void pose_of_more_than_two_chunks(void **state)
{
    (void)state;
    pose_matches(5, 3, 3, 8, 6, 6);   /* C(4, 2) */
    pose_matches(7, 3, 3, 10, 15, 7); /* C(6, 2) */
    pose_matches(7, 5, 5, 9, 15, 8);  /* C(6, 4) */
    pose_matches(4, 5, 4, 6, 1, 9);   /* fewer tokens than chunks: one each */
    pose_matches(2, 5, 2, 6, 1, 10);
    pose_matches(6, 2, 2, 10, 5, 11); /* two, cut anywhere */
}

static void pose_covers_its_target(void **state)
{
    (void)state;
    enum { N = 40, TARGET = 100 };
    static const int chunks[] = {2, 3, 5, 40};
    lg_task t = toy(0);
    lg_example x = example(N);
    lg_scheme s = scheme("pose", 0);
    s.target = TARGET;
    for (size_t c = 0; c < 4; c++) {
        int last[TARGET - N + 1] = {0}, met[TARGET] = {0};
        s.chunks = chunks[c];
        lg_rng r = rng(11 + c);
        for (int i = 0; i < 20000; i++) {
            draw(&s, &t, &x, &r);
            is_pose(ids[0], N, s.chunks, TARGET);
            last[ids[0][N - 1] - N + 1]++;
            for (int k = 0; k < N; k++) met[ids[0][k]] = 1;
        }
        /* With many chunks a last shift of almost nothing is too rare to wait for. */
        for (int u = 0; c < 2 && u <= TARGET - N; u++) assert_true(last[u] > 0);
        for (int p = 0; p < TARGET; p++) assert_true(met[p]);
    }
}

/* ---- Coupled -------------------------------------------------------------------------------------- */

static void coupled_by_hand(void **state)
{
    (void)state;
    lg_task t = toy(3);
    int32_t l1[] = {1, 2, A, 2, -1}, l2[] = {A, A, 0, 4, A}, l3[] = {A, A, A, A, A};
    lg_example x = example(5);
    x.labels[0] = l1, x.labels[1] = l2, x.labels[2] = l3;
    lg_scheme s = scheme("coupled", 0);
    lg_rng r = rng(20), before = r;
    draw(&s, &t, &x, &r); /* without max_id nothing is drawn */
    assert_memory_equal(&r, &before, sizeof r);
    same(0, 2, 3, A, 3, 0);
    same(1, A, A, 1, 5, A);
    same(2, A, A, A, A, A);
    s.max_id = 9;
    draw(&s, &t, &x, NULL);
    same(0, 2, 3, A, 3, 0);
    s.levels = 1;
    ids[1][0] = -77;
    draw(&s, &t, &x, NULL);
    same(0, 2, 3, A, 3, 0);
    assert_int_equal(ids[1][0], -77); /* not a level of this scheme */
    l1[1] = -2;
    refuses(&s, &t, &x, NULL, "-2", "shift them all");
}

/* The starts of the levels are uniform and do not depend on each other. */
static void coupled_starts(void **state)
{
    (void)state;
    enum { SAMPLES = 60000 };
    lg_task t = toy(2);
    int32_t l1[] = {1, 5, 3}, l2[] = {A, -1, 2};
    lg_example x = example(3);
    x.labels[0] = l1, x.labels[1] = l2;
    lg_scheme s = scheme("coupled", 10);
    struct outcomes o = {0};
    for (uint64_t a = 1; a <= 5; a++)
        for (uint64_t b = 1; b <= 8; b++) expect(&o, a << 6 | b, 1.0 / 40);
    lg_rng r = rng(21);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        int32_t a = ids[0][0] - 1, b = ids[1][1] + 1;
        same(0, a + 1, a + 5, a + 3);
        same(1, A, b - 1, b + 2);
        observe(&o, (uint64_t)a << 6 | (uint64_t)b);
    }
    agree(&o, SAMPLES);
    s.max_id = 6;
    draw(&s, &t, &x, &r);
    same(0, 2, 6, 4); /* the only start that fits */
    s.max_id = 5;
    refuses(&s, &t, &x, &r, "level 1 (column)", "set max_id to 6 or more");
    refuses(&s, &t, &x, &r, "max_id is 5", "shorter examples");
    l1[1] = 0, l2[2] = 7;
    refuses(&s, &t, &x, &r, "level 2 (role)", "set max_id to 8 or more");
    draw(&s, &t, &x, NULL);
    same(1, A, 0, 8);
}

static void coupled_needs_labels(void **state)
{
    (void)state;
    lg_task t = toy(0);
    lg_example x = example(3);
    lg_scheme s = scheme("coupled", 0);
    refuses(&s, &t, &x, NULL, "task toy has no labels", "take ids plain");
    t = toy(2);
    s.levels = 3;
    refuses(&s, &t, &x, NULL, "levels is 3", "0 for all");
    t.shape.needed = 2;
    s.levels = 1;
    refuses(&s, &t, &x, NULL, "without an ID", "set levels to 2 or more");
}

static void parity_with_scratchpad(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_task *t = lg_task_new("parity-scratchpad", NULL, 0, &err);
    assert_non_null(t);
    lg_draw d = {.seed = 1, .length_lo = 3, .length_hi = 3};
    lg_example x;
    lg_example_init(&x);
    assert_int_equal(lg_task_example(t, &d, &x, &err), 0);
    lg_scheme s = scheme("coupled", 0);
    draw(&s, t, &x, NULL); /* b b b = r r r $ */
    same(0, 2, 3, 4, 1, 2, 3, 4, 5);
    lg_example_clear(&x);
    lg_task_free(t);
}

/* Labels 1 and 3 of a range of three: the first and the last of three out of 0..4. */
static void coupled_randomized(void **state)
{
    (void)state;
    enum { SAMPLES = 40000 };
    lg_task t = toy(2);
    int32_t l1[] = {3, 1, A, 3, 1}, l2[] = {A, A, A, A, A}, tokens[] = {1, 2, 3, 4, 5};
    lg_example x = example(5);
    x.labels[0] = l1, x.labels[1] = l2, x.tokens = tokens, x.answer = 3;
    lg_scheme s = scheme("coupled+randomized", 4);
    struct outcomes o = {0};
    for (uint64_t a = 0; a < 5; a++)
        for (uint64_t b = a + 1; b < 5; b++)
            for (uint64_t c = b + 1; c < 5; c++) expect(&o, a << 6 | c, 0.1);
    assert_int_equal(o.n, 6);
    lg_rng r = rng(22);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        int32_t a = ids[0][1], c = ids[0][0];
        same(0, c, a, A, c, a);
        same(1, A, A, A, A, A);
        observe(&o, (uint64_t)a << 6 | (uint64_t)c);
    }
    agree(&o, SAMPLES);

    s.max_id = 100000;
    int32_t first[5];
    draw(&s, &t, &x, NULL);
    memcpy(first, ids[0], sizeof first);
    tokens[4]++; /* of the answer */
    draw(&s, &t, &x, NULL);
    assert_memory_equal(first, ids[0], sizeof first);
    tokens[0]++;
    draw(&s, &t, &x, NULL);
    assert_memory_not_equal(first, ids[0], sizeof first);
    s.max_id = 1;
    refuses(&s, &t, &x, &r, "level 1 (column)", "set max_id to 2 or more");

    /* A range past the small buffer, all of it used. */
    static int32_t many[ROOM];
    for (int i = 0; i < 3000; i++) many[i] = 2999 - i;
    x = example(3000);
    x.labels[0] = many, x.labels[1] = many;
    s.max_id = 2999;
    draw(&s, &t, &x, &r);
    for (int i = 0; i < 3000; i++) assert_int_equal(ids[0][i], many[i]);
}

static void coupled_pose(void **state)
{
    (void)state;
    enum { TARGET = 14, SAMPLES = 40000 };
    lg_task t = toy(2);
    int32_t l1[] = {0, 1, 2, 3, 4, 0, 3, A}, l2[] = {1, 1, 1, 1, 1, 2, 2, 2};
    lg_example x = example(8);
    x.labels[0] = l1, x.labels[1] = l2;
    lg_scheme s = scheme("coupled+pose", 3);
    s.target = TARGET;
    /* Plain IDs would be 1..5, so the shift is 0..14-6. */
    struct outcomes shifts = {0}, first = {0};
    expect_uniform(&shifts, 0, 8);
    expect_uniform(&first, 1, 3);
    int moved = 0;
    lg_rng r = rng(23);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        int32_t by_label[5];
        for (int v = 0; v < 5; v++) by_label[v] = ids[0][v] - 1;
        is_pose(by_label, 5, 2, TARGET - 1);
        assert_int_equal(ids[0][5], ids[0][0]);
        assert_int_equal(ids[0][6], ids[0][3]);
        assert_int_equal(ids[0][7], A);
        int shift = by_label[4] - 4, length = 1;
        observe(&shifts, (uint64_t)shift);
        same(1, 2, 2, 2, 2, 2, 3, 3, 3); /* as in coupled: start 1, the only one within 3 */
        if (!shift) continue;
        while (by_label[length] == length) length++;
        observe(&first, (uint64_t)length);
        moved++;
    }
    agree(&shifts, SAMPLES);
    agree(&first, moved);
    draw(&s, &t, &x, NULL);
    same(0, 1, 2, 3, 4, 5, 1, 4, A);
    same(1, 2, 2, 2, 2, 2, 3, 3, 3);
    s.target = 5;
    refuses(&s, &t, &x, &r, "target is 5", "set target to 6 or more");
    s.target = 6;
    draw(&s, &t, &x, &r);
    same(0, 1, 2, 3, 4, 5, 1, 4, A);
    for (int i = 0; i < 8; i++) l1[i] = A;
    draw(&s, &t, &x, &r);
    same(0, A, A, A, A, A, A, A, A);
}

/* Labels that begin at -1 stay at 0 and above. */
static void coupled_pose_from_minus_one(void **state)
{
    (void)state;
    lg_task t = toy(1);
    int32_t l1[] = {2, 1, 0, -1};
    lg_example x = example(4);
    x.labels[0] = l1;
    lg_scheme s = scheme("coupled+pose", 0);
    s.target = 50;
    s.chunks = 3;
    lg_rng r = rng(24);
    for (int i = 0; i < 1000; i++) {
        draw(&s, &t, &x, &r);
        int32_t up[] = {ids[0][3], ids[0][2], ids[0][1], ids[0][0]};
        is_pose(up, 4, 3, 50);
    }
}

/* ---- Abacus ------------------------------------------------------------------------------------------ */

static void abacus(void **state)
{
    (void)state;
    enum { SAMPLES = 20000 };
    lg_task t = toy(0);
    int32_t tokens[] = {1, 2, 10, 3, 4, 5, 11, 10, 6, 0}; /* 12 + 345 = + 60 */
    lg_example x = example(10);
    x.tokens = tokens;
    lg_scheme s = scheme("abacus", 0);
    lg_rng r = rng(30), before = r;
    draw(&s, &t, &x, &r);
    assert_memory_equal(&r, &before, sizeof r);
    same(0, 1, 2, 0, 1, 2, 3, 0, 0, 1, 2);
    s.max_id = 10;
    draw(&s, &t, &x, NULL);
    same(0, 1, 2, 0, 1, 2, 3, 0, 0, 1, 2);
    struct outcomes o = {0};
    expect_uniform(&o, 0, 7);
    for (int i = 0; i < SAMPLES; i++) {
        draw(&s, &t, &x, &r);
        int32_t k = ids[0][0] - 1;
        same(0, k + 1, k + 2, 0, k + 1, k + 2, k + 3, 0, 0, k + 1, k + 2);
        observe(&o, (uint64_t)k);
    }
    agree(&o, SAMPLES);
    s.max_id = 2;
    refuses(&s, &t, &x, &r, "3 digits", "set max_id to 3 or more");
    draw(&s, &t, &x, NULL);
}

/* ---- All of them ----------------------------------------------------------------------------------- */

static void the_same_draw_gives_the_same_ids(void **state)
{
    (void)state;
    lg_task t = toy(2);
    int32_t labels[20];
    for (int i = 0; i < 20; i++) labels[i] = i % 7;
    lg_example x = example(20);
    x.labels[0] = labels, x.labels[1] = labels;
    for (int k = 0; k < lg_ids_count(); k++) {
        lg_scheme s = scheme(lg_ids_info_at(k).name, 60);
        s.target = 60;
        int levels = strncmp(s.ids, "coupled", 7) == 0 ? 2 : 1, differ = 0;
        for (uint64_t i = 0; i < 20; i++) {
            int32_t first[2][20];
            lg_rng r = rng(100 + i), again = r;
            draw(&s, &t, &x, &r);
            for (int l = 0; l < levels; l++) memcpy(first[l], ids[l], sizeof first[l]);
            draw(&s, &t, &x, &again);
            for (int l = 0; l < levels; l++) assert_memory_equal(first[l], ids[l], sizeof first[l]);
            assert_memory_equal(&r, &again, sizeof r);
            draw(&s, &t, &x, &again);
            differ += memcmp(first[0], ids[0], sizeof first[0]) != 0;
            /* Evaluation has no memory of what was drawn. */
            draw(&s, &t, &x, NULL);
            if (i) continue;
            memcpy(first[0], ids[0], sizeof first[0]);
            draw(&s, &t, &x, NULL);
            assert_memory_equal(first[0], ids[0], sizeof first[0]);
        }
        if (k) assert_true(differ > 10);
    }
}

static void no_memory_is_said(void **state)
{
    (void)state;
    lg_task t = toy(1);
    static int32_t many[ROOM];
    for (int i = 0; i < ROOM; i++) many[i] = i;
    lg_example x = example(3000);
    x.labels[0] = many;
    static const char *const names[] = {"randomized", "coupled+randomized", "coupled+randomized"};
    static const long after[] = {0, 0, 1};
    for (int i = 0; i < 3; i++) {
        lg_scheme s = scheme(names[i], 5000);
        lg_rng r = rng(40);
        lg_error err = {0};
        lg__alloc_fail_after(after[i]);
        assert_int_equal(lg_scheme_ids(&s, &t, &x, &r, ids, &err), LG_ERROR_MEMORY);
        lg__alloc_fail_after(-1);
        assert_non_null(strstr(err.text, "3000"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts),
        cmocka_unit_test(the_default_is_plain),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(plain),
        cmocka_unit_test(random_start),
        cmocka_unit_test(randomized_is_uniform),
        cmocka_unit_test(randomized_of_many),
        cmocka_unit_test(randomized_by_the_prompt),
        cmocka_unit_test(pose_of_two_chunks),
        cmocka_unit_test(pose_of_more_than_two_chunks),
        cmocka_unit_test(pose_with_a_random_start),
        cmocka_unit_test(pose_covers_its_target),
        cmocka_unit_test(coupled_by_hand),
        cmocka_unit_test(coupled_starts),
        cmocka_unit_test(coupled_needs_labels),
        cmocka_unit_test(parity_with_scratchpad),
        cmocka_unit_test(coupled_randomized),
        cmocka_unit_test(coupled_pose),
        cmocka_unit_test(coupled_pose_from_minus_one),
        cmocka_unit_test(abacus),
        cmocka_unit_test(the_same_draw_gives_the_same_ids),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
