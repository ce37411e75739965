/* test_index.c: the index from ID to tokens against a scan over all tokens. Without it a window
 * could miss a key, take one twice, or take them in another order (the order fixes the bits).
 * IDs repeat, are far apart, unsorted and reach 2^31 - 1; the index grows while it is used. */
#include "engine/helper.h"

#include <time.h>

#include "engine/index.h"

/* The definition, in index.h's order: by difference, then by place. */
static int scan(const int32_t *ids, int *key, int *turn, int place, int lo, int hi)
{
    int n = 0;
    for (int d = lo; d <= hi; d++)
        for (int t = 0; t <= place; t++)
            if ((int64_t)ids[t] - ids[place] == d) {
                key[n] = t;
                turn[n++] = d - lo;
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

/* Every window of the token at `place`; the arrays end where the index says they must reach. */
static void check_place(const struct lg__index *x, const int32_t *ids, int place, int kind)
{
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        int lo = windows[w][0], hi = windows[w][1];
        int want_key[MOST], want_turn[MOST];
        int most = lg__index_most(x, lo, hi);
        int *key = malloc((size_t)(most ? most : 1) * sizeof *key);
        int *turn = malloc((size_t)(most ? most : 1) * sizeof *turn);
        int want = scan(ids, want_key, want_turn, place, lo, hi);
        if (want > most)
            fail_msg("kind %d, place %d, window %d..%d: %d keys, but the index says at most %d",
                     kind, place, lo, hi, want, most);
        int got = lg__index_find(x, key, turn, place, ids[place], lo, hi);
        if (got != want)
            fail_msg("kind %d, place %d, window %d..%d: %d keys, want %d", kind, place, lo, hi, got,
                     want);
        for (int i = 0; i < got; i++)
            if (key[i] != want_key[i] || turn[i] != want_turn[i])
                fail_msg("kind %d, place %d, window %d..%d: key %d is (%d, %d), want (%d, %d)",
                         kind, place, lo, hi, i, key[i], turn[i], want_key[i], want_turn[i]);
        free(key);
        free(turn);
    }
}

/* All tokens first, then any of them asks: a key later in the text is there and not seen. */
static void every_place_after_all_were_added(void **state)
{
    (void)state;
    struct lg__index x = {0};
    for (int kind = 0; kind < KINDS; kind++) {
        lg_rng r;
        int32_t ids[MOST];
        lg_rng_init(&r, 1, 0, (uint64_t)kind);
        int n = kind % 2 ? MOST : 150;
        assert_int_equal(lg__index_reset(&x, n, NULL), 0); /* nothing of the kind before is left */
        for (int t = 0; t < n; t++) lg__index_add(&x, ids[t] = draw(&r, kind, t));
        assert_int_equal(x.tokens, n);
        for (int t = 0; t < n; t += 1 + (int)lg_rng_below(&r, 9)) check_place(&x, ids, t, kind);
        check_place(&x, ids, n - 1, kind);
    }
    lg__index_free(&x);
}

/* A decoder's way: room for one more, add it, ask. What was there stays when the room grows. */
static void growing_by_one(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct lg__index x = {0};
        lg_rng r;
        int32_t ids[MOST];
        int grown = 0;
        lg_rng_init(&r, 2, 0, (uint64_t)kind);
        for (int t = 0; t < MOST; t++) {
            int room = x.room_tokens;
            assert_int_equal(lg__index_reserve(&x, t + 1, NULL), 0);
            grown += x.room_tokens != room;
            assert_true(x.room_tokens >= t + 1);
            lg__index_add(&x, ids[t] = draw(&r, kind, t));
            if (t % 11 == 0 || x.room_tokens != room) check_place(&x, ids, t, kind);
            if (x.room_tokens != room && t > 5) check_place(&x, ids, t / 2, kind);
        }
        assert_true(grown >= 3 && grown <= 12); /* it grew, and not at every token */
        lg__index_free(&x);
    }
}

/* Distinct IDs, fullest bucket: what bounds the room that a caller takes. */
static void counts(void **state)
{
    (void)state;
    struct lg__index x = {0};
    const int32_t ids[] = {5, 7, 5, INT32_MAX, 5, 7, 0};
    assert_int_equal(lg__index_reset(&x, 7, NULL), 0);
    for (int i = 0; i < 7; i++) lg__index_add(&x, ids[i]);
    assert_int_equal(x.tokens, 7);
    assert_int_equal(x.buckets, 4);
    assert_int_equal(x.most, 3);
    assert_int_equal(lg__index_most(&x, 0, 0), 3);
    assert_int_equal(lg__index_most(&x, -1, 0), 6);
    assert_int_equal(lg__index_most(&x, -1, 1), 7); /* never more than there are tokens */
    assert_int_equal(lg__index_most(&x, -(1 << 20), 1 << 20), 7);
    assert_int_equal(lg__index_reset(&x, 3, NULL), 0);
    assert_int_equal(x.tokens + x.buckets + x.most, 0);
    lg__index_free(&x);
    lg__index_free(&x); /* twice is once */
}

/* Without memory the index is as it was and can be asked. */
static void no_memory_leaves_it_as_it_was(void **state)
{
    (void)state;
    int failures = 0;
    for (long n = 0;; n++) {
        struct lg__index x = {0};
        lg_rng r;
        int32_t ids[MOST];
        lg_error err = {0};
        lg_rng_init(&r, 3, 0, 0);
        assert_int_equal(lg__index_reset(&x, 64, NULL), 0);
        for (int t = 0; t < 64; t++) lg__index_add(&x, ids[t] = draw(&r, 1, t));
        lg__alloc_fail_after(n);
        int code = lg__index_reserve(&x, MOST, &err);
        lg__alloc_fail_after(-1);
        if (code) {
            failures++;
            assert_int_equal(code, LG_ERROR_MEMORY);
            assert_non_null(strstr(err.text, "memory"));
        }
        for (int t = 0; t < 64; t++) check_place(&x, ids, t, 1);
        assert_int_equal(lg__index_reserve(&x, MOST, NULL), 0);
        for (int t = 64; t < MOST; t++) lg__index_add(&x, ids[t] = draw(&r, 1, t));
        for (int t = 0; t < MOST; t += 37) check_place(&x, ids, t, 1);
        lg__index_free(&x);
        if (!code) break;
    }
    assert_int_equal(failures, 3); /* next, bucket, slot */
}

/* Processor time to add n tokens with IDs in two runs, the second `apart` behind the first,
 * and to look each up again. */
static double time_of_runs(int n, int32_t apart)
{
    struct lg__index x = {0};
    int key[8], turn[8], found = 0;
    assert_int_equal(lg__index_reset(&x, n, NULL), 0);
    clock_t start = clock();
    for (int t = 0; t < n; t++) lg__index_add(&x, t < n / 2 ? t : apart + t - n / 2);
    for (int t = 0; t < n; t++)
        found += lg__index_find(&x, key, turn, n, t < n / 2 ? t : apart + t - n / 2, 0, 0);
    double seconds = (double)(clock() - start + 1) / CLOCKS_PER_SEC;
    assert_int_equal(found, n);
    lg__index_free(&x);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_after_all_were_added),
        cmocka_unit_test(growing_by_one),
        cmocka_unit_test(counts),
        cmocka_unit_test(no_memory_leaves_it_as_it_was),
        cmocka_unit_test(no_pattern_piles_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
