/* test_index.c: the index from ID to tokens against a scan over all tokens. Without it a window
 * could miss a key, take one twice, or take them in another order (the order fixes the bits).
 * IDs repeat, are far apart, unsorted and reach 2^31 - 1; the index grows while it is used. */
#include "engine/helper.h"

#include <time.h>

#include "engine/index.h"

/* The definition, by a scan, in index.h's order: by the lowest level that both have, the lower
 * levels of the key, the difference there, and place. */
static int scan(const int32_t *const *ids, int *key, int *turn, int place, const lg_model_config *c)
{
    int n = 0, none = 1;
    for (int l = 0; l < c->levels; l++) none &= ids[l][place] == LG_ABSENT;
    if (none) {
        key[0] = place;
        turn[0] = (int)lg__rotary_rows(c) - 1;
        return 1;
    }
    for (int l = 0; l < c->levels; l++)
        for (int lower = 0; lower < 1 << l; lower++)
            for (int d = c->window_lo[l]; d <= c->window_hi[l]; d++)
                for (int t = 0; t <= place; t++) {
                    int has = 0, seen = 1, lowest = -1, row = 0;
                    for (int i = 0; i < c->levels; i++) {
                        int width = c->window_hi[i] - c->window_lo[i] + 1, at = width;
                        int both = ids[i][t] != LG_ABSENT && ids[i][place] != LG_ABSENT;
                        int64_t apart = (int64_t)ids[i][t] - ids[i][place];
                        if (i < l && ids[i][t] != LG_ABSENT) has |= 1 << i;
                        if (both && lowest < 0) lowest = i;
                        if (both && (apart < c->window_lo[i] || apart > c->window_hi[i])) seen = 0;
                        if (both) at = (int)(apart - c->window_lo[i]);
                        if (seen) row = row * (width + 1) + at;
                    }
                    if (!seen || lowest != l || has != lower) continue;
                    if ((int64_t)ids[l][t] - ids[l][place] != d) continue;
                    key[n] = t;
                    turn[n++] = row;
                }
    return n;
}

enum { MOST = 700 };

/* Kinds of IDs. */
static int32_t draw(lg_rng *r, int kind, int t)
{
    switch (kind) {
    case 0: return t;
    case 1: return (int32_t)lg_rng_below(r, 40);             /* many of each */
    case 2: return (int32_t)(lg_rng_u32(r) >> 1);            /* far apart */
    case 3: return INT32_MAX - (int32_t)lg_rng_below(r, 50); /* at the end */
    case 4: return (int32_t)lg_rng_below(r, 64) << 25;       /* alike in the low bits */
    case 5: return (int32_t)(lg_rng_below(r, 16) << 16 | lg_rng_below(r, 3)); /* in clumps */
    case 6: return 1000 - t;                                                  /* downwards */
    default: return 7;                                                        /* one ID */
    }
}
enum { KINDS = 8 };

static const int windows[][2] = {{0, 0}, {-1, 1}, {-5, 0}, {0, 3}, {-20, 20}};

static void check_window(const struct lg__places *x, const int32_t *const *ids, int place,
                         const lg_model_config *c, int kind)
{
    int want_key[MOST], want_turn[MOST], most = lg__places_most(x, c, 0);
    int *key = malloc((size_t)(most ? most : 1) * sizeof *key);
    int *turn = malloc((size_t)(most ? most : 1) * sizeof *turn);
    int want = scan(ids, want_key, want_turn, place, c);
    if (want > most)
        fail_msg("kind %d, place %d: %d keys, but the index says at most %d", kind, place, want,
                 most);
    int got = lg__places_find(x, key, turn, place, ids, c);
    if (got != want) fail_msg("kind %d, place %d: %d keys, want %d", kind, place, got, want);
    for (int i = 0; i < got; i++)
        if (key[i] != want_key[i] || turn[i] != want_turn[i])
            fail_msg("kind %d, place %d: key %d is (%d, %d), want (%d, %d)", kind, place, i, key[i],
                     turn[i], want_key[i], want_turn[i]);
    free(key);
    free(turn);
}

/* Every window of the token at `place`; the arrays end where the index says they must reach. */
static void check_place(const struct lg__places *x, const int32_t *ids, int place, int kind)
{
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        lg_model_config c = {.levels = 1};
        c.window_lo[0] = windows[w][0];
        c.window_hi[0] = windows[w][1];
        check_window(x, (const int32_t *[LG_LEVELS]){ids}, place, &c, kind);
    }
}

static void add(struct lg__places *x, const int32_t *ids, int t)
{
    const int32_t *levels[LG_LEVELS] = {ids};
    lg__places_add(x, levels, t);
}

/* All tokens first, then any of them asks: a key later in the text is there and not seen. */
static void every_place_after_all_were_added(void **state)
{
    (void)state;
    struct lg__places x = {0};
    for (int kind = 0; kind < KINDS; kind++) {
        lg_rng r;
        int32_t ids[MOST];
        lg_rng_init(&r, 1, 0, (uint64_t)kind);
        int n = kind % 2 ? MOST : 150;
        assert_int_equal(lg__places_reset(&x, 1, n, NULL),
                         0); /* nothing of the kind before is left */
        for (int t = 0; t < n; t++) ids[t] = draw(&r, kind, t);
        for (int t = 0; t < n; t++) add(&x, ids, t);
        assert_int_equal(x.tokens, n);
        for (int t = 0; t < n; t += 1 + (int)lg_rng_below(&r, 9)) check_place(&x, ids, t, kind);
        check_place(&x, ids, n - 1, kind);
    }
    lg__places_free(&x);
}

/* A decoder's way: room for one more, add it, ask. What was there stays when the room grows. */
static void growing_by_one(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct lg__places x = {0};
        lg_rng r;
        int32_t ids[MOST];
        int grown = 0;
        lg_rng_init(&r, 2, 0, (uint64_t)kind);
        for (int t = 0; t < MOST; t++) {
            int room = x.index[0].room_tokens;
            assert_int_equal(lg__places_reserve(&x, 1, t + 1, NULL), 0);
            grown += x.index[0].room_tokens != room;
            assert_true(x.index[0].room_tokens >= t + 1);
            ids[t] = draw(&r, kind, t);
            add(&x, ids, t);
            if (t % 11 == 0 || x.index[0].room_tokens != room) check_place(&x, ids, t, kind);
            if (x.index[0].room_tokens != room && t > 5) check_place(&x, ids, t / 2, kind);
        }
        assert_true(grown >= 3 && grown <= 12); /* it grew, and not at every token */
        lg__places_free(&x);
    }
}

/* Distinct IDs, fullest bucket: what bounds the room that a caller takes. */
static void counts(void **state)
{
    (void)state;
    struct lg__places x = {0};
    const int32_t ids[] = {5, 7, 5, INT32_MAX, 5, 7, 0};
    assert_int_equal(lg__places_reset(&x, 1, 7, NULL), 0);
    for (int i = 0; i < 7; i++) add(&x, ids, i);
    assert_int_equal(x.tokens, 7);
    assert_int_equal(x.index[0].buckets, 4);
    assert_int_equal(x.index[0].most, 3);
    lg_model_config c = {.levels = 1};
    assert_int_equal(lg__places_most(&x, &c, 0), 4); /* one more: a token without ID sees itself */
    assert_int_equal(lg__places_most(&x, &c, 2), 6);
    c.window_lo[0] = -1;
    c.window_hi[0] = 1;
    assert_int_equal(lg__places_most(&x, &c, 0), 7); /* never more than there are tokens */
    c.window_lo[0] = -(1 << 20);
    c.window_hi[0] = 1 << 20;
    assert_int_equal(lg__places_most(&x, &c, 0), 7);
    assert_int_equal(lg__places_reset(&x, 1, 3, NULL), 0);
    assert_int_equal(x.tokens + x.index[0].tokens + x.index[0].buckets + x.index[0].most, 0);
    lg__places_free(&x);
    lg__places_free(&x); /* twice is once */
}

/* Without memory the index is as it was and can be asked. */
static void no_memory_leaves_it_as_it_was(void **state)
{
    (void)state;
    int failures = 0;
    for (long n = 0;; n++) {
        struct lg__places x = {0};
        lg_rng r;
        int32_t ids[MOST];
        lg_error err = {0};
        lg_rng_init(&r, 3, 0, 0);
        assert_int_equal(lg__places_reset(&x, 1, 64, NULL), 0);
        for (int t = 0; t < MOST; t++) ids[t] = draw(&r, 1, t);
        for (int t = 0; t < 64; t++) add(&x, ids, t);
        lg__alloc_fail_after(n);
        int code = lg__places_reserve(&x, 1, MOST, &err);
        lg__alloc_fail_after(-1);
        if (code) {
            failures++;
            assert_int_equal(code, LG_ERROR_MEMORY);
            assert_non_null(strstr(err.text, "memory"));
        }
        for (int t = 0; t < 64; t++) check_place(&x, ids, t, 1);
        assert_int_equal(lg__places_reserve(&x, 1, MOST, NULL), 0);
        for (int t = 64; t < MOST; t++) add(&x, ids, t);
        for (int t = 0; t < MOST; t += 37) check_place(&x, ids, t, 1);
        lg__places_free(&x);
        if (!code) break;
    }
    assert_int_equal(failures, 3); /* next, bucket, slot */
}

/* Processor time to add n tokens with IDs in two runs, the second `apart` behind the first,
 * and to look each up again. */
static double time_of_runs(int n, int32_t apart)
{
    struct lg__places x = {0};
    int key[8], turn[8], found = 0;
    lg_model_config c = {.levels = 1};
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    const int32_t *levels[LG_LEVELS] = {ids};
    for (int t = 0; t < n; t++) ids[t] = t < n / 2 ? t : apart + t - n / 2;
    assert_int_equal(lg__places_reset(&x, 1, n, NULL), 0);
    clock_t start = clock();
    for (int t = 0; t < n; t++) add(&x, ids, t);
    for (int t = 0; t < n; t++) found += lg__places_find(&x, key, turn, t, levels, &c);
    double seconds = (double)(clock() - start + 1) / CLOCKS_PER_SEC;
    assert_int_equal(found, n);
    free(ids);
    lg__places_free(&x);
    return seconds;
}

/* Runs of IDs that want the same slots must not be walked through: with linear probing a run
 * laid on another costs over a hundred times a run beside it. */
static void no_pattern_piles_up(void **state)
{
    (void)state;
    enum { N = 60000 };
    double beside = time_of_runs(N, N / 2);
    for (int shift = 15; shift < 31; shift++) {
        double t = time_of_runs(N, (int32_t)1 << shift);
        if (t > 100 * beside + 0.1)
            fail_msg("runs 2^%d apart: %g s, one run: %g s", shift, t, beside);
    }
}

/* Two and three levels, some IDs absent, windows of all sorts: what a level further down finds
 * must not be found again, nor missed, nor judged by a level that only one of the two has. */
static void several_levels(void **state)
{
    (void)state;
    struct lg__places x = {0};
    for (int kind = 0; kind < 60; kind++) {
        static int32_t all[LG_LEVELS][MOST];
        const int32_t *ids[LG_LEVELS] = {all[0], all[1], all[2]};
        lg_rng r;
        lg_rng_init(&r, 4, 0, (uint64_t)kind);
        lg_model_config c = {.levels = 2 + kind % 2};
        int n = 40 + (int)lg_rng_below(&r, 100);
        assert_int_equal(lg__places_reset(&x, c.levels, n, NULL), 0);
        for (int l = 0; l < c.levels; l++) {
            c.window_lo[l] = -(int)lg_rng_below(&r, 3);
            c.window_hi[l] = (int)lg_rng_below(&r, 3);
            for (int t = 0; t < n; t++)
                all[l][t] = lg_rng_below(&r, 4) < (uint32_t)(kind % 4)
                                ? LG_ABSENT
                                : (int32_t)lg_rng_below(&r, l ? 6 : 12);
        }
        for (int t = 0; t < n; t++) lg__places_add(&x, ids, t);
        for (int t = 0; t < n; t++) check_window(&x, ids, t, &c, kind);
    }
    lg__places_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_after_all_were_added),
        cmocka_unit_test(growing_by_one),
        cmocka_unit_test(counts),
        cmocka_unit_test(no_memory_leaves_it_as_it_was),
        cmocka_unit_test(several_levels),
        cmocka_unit_test(no_pattern_piles_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
