/* test_ids_coupled.c: which ID each token gets by its labels, alone, drawn at random and with
 * PoSE: cases worked by hand, and the distributions against ones that are enumerated here. Without
 * it tokens that belong together could get different IDs, or the levels depend on each other. */
#include "positions/drawing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coupled_by_hand),
        cmocka_unit_test(coupled_starts),
        cmocka_unit_test(coupled_needs_labels),
        cmocka_unit_test(parity_with_scratchpad),
        cmocka_unit_test(coupled_randomized),
        cmocka_unit_test(coupled_pose),
        cmocka_unit_test(coupled_pose_from_minus_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
