/* test_ids.c: which ID each token gets by its place, with PoSE and with Abacus: cases worked by
 * hand, and the distributions against ones that are enumerated here. Without it a scheme could
 * train on other IDs than its paper's, and every comparison of schemes would be of something
 * else. */
#include "base/memory.h"
#include "positions/ids.h"
#include "positions/drawing.h"

/* ---- Tables and defaults --------------------------------------------------------------------- */

static void names_and_texts(void **state)
{
    (void)state;
    static const char *const names[] = {"plain",   "random-start",       "randomized",   "pose",
                                        "coupled", "coupled+randomized", "coupled+pose", "abacus"};
    static const char *const heads[] = {"absolute", "delta", "pointer", "match"};
    assert_int_equal(lg_ids_count(), 8);
    assert_int_equal(lg_id_head_count(), 4);
    for (int i = 0; i < 8 + 4; i++) {
        const char *line = i < 8 ? lg_ids_info_at(i).line : lg_id_head_info_at(i - 8).line;
        const char *text = i < 8 ? lg_ids_info_at(i).text : lg_id_head_info_at(i - 8).text;
        assert_string_equal(i < 8 ? lg_ids_info_at(i).name : lg_id_head_info_at(i - 8).name,
                            i < 8 ? names[i] : heads[i - 8]);
        assert_true(strlen(line) > 10 && strlen(line) < 80);
        assert_null(strchr(line, '\n'));
        assert_true(strlen(text) > 100);
        for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
            assert_true(strcspn(s, "\n") <= 92);
    }
    assert_null(lg_ids_info_at(-1).name);
    assert_null(lg_ids_info_at(8).name);
    assert_null(lg_id_head_info_at(4).name);
}

/* What is composed has the flags of both; of its line the name comes first. */
static void flags(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned flags;
    } rows[] = {
        {"plain", 0},
        {"random-start", LG__IDS_MAX_ID | LG__IDS_NEEDS_MAX_ID},
        {"randomized", LG__IDS_MAX_ID | LG__IDS_NEEDS_MAX_ID | LG__IDS_GAPS | LG__IDS_DRAWN},
        {"pose", LG__IDS_TARGET | LG__IDS_GAPS},
        {"coupled", LG__IDS_LABELS | LG__IDS_MAX_ID},
        {"coupled+randomized",
         LG__IDS_LABELS | LG__IDS_MAX_ID | LG__IDS_NEEDS_MAX_ID | LG__IDS_GAPS | LG__IDS_DRAWN},
        {"coupled+pose", LG__IDS_LABELS | LG__IDS_MAX_ID | LG__IDS_TARGET | LG__IDS_GAPS},
        {"abacus", LG__IDS_DIGITS | LG__IDS_MAX_ID},
        {"no such", 0}};
    char names[LG__IDS_NAMES];
    for (int i = 0; i < 9; i++) {
        assert_int_equal(lg__ids_flags(rows[i].name), rows[i].flags);
        if (i < 8)
            assert_int_equal(lg_ids_info_at(i).labels, (rows[i].flags & LG__IDS_LABELS) != 0);
    }
    assert_string_equal(lg__ids_names(names, LG__IDS_LABELS | LG__IDS_DIGITS),
                        "plain, random-start, randomized or pose");
    assert_string_equal(
        lg__ids_names(names, LG__IDS_LABELS | LG__IDS_MAX_ID | LG__IDS_GAPS | LG__IDS_DIGITS),
        "plain");
}

/* Nothing of the scheme is read again: not even its names need to live on. */
static void a_plan_stands_alone(void **state)
{
    (void)state;
    lg_task t = toy(2);
    int32_t labels[20], before[2][20];
    for (int i = 0; i < 20; i++) labels[i] = i % 7;
    lg_example x = example(20);
    x.labels[0] = labels, x.labels[1] = labels;
    char name[] = "coupled+pose", source[] = "given";
    lg_scheme s = scheme(name, 60);
    s.target = 60;
    s.source[0] = source;
    lg_rng r = rng(7), again = r;
    lg_plan p;
    assert_int_equal(lg_plan_open(&p, &s, &t, NULL), 0);
    assert_int_equal(lg_plan_ids(&p, &x, &r, ids, NULL), 0);
    for (int l = 0; l < 2; l++) memcpy(before[l], ids[l], sizeof before[l]);
    memset(name, 'x', sizeof name - 1);
    memset(source, 'x', sizeof source - 1);
    s = (lg_scheme){0};
    assert_int_equal(lg_plan_ids(&p, &x, &again, ids, NULL), 0);
    for (int l = 0; l < 2; l++) assert_memory_equal(ids[l], before[l], sizeof before[l]);
    assert_string_equal(p.ids.name, "coupled+pose");
    assert_string_equal(p.scheme.ids, "coupled+pose");
    assert_int_equal(p.levels, 2);
    assert_int_equal(p.head[0], LG__HEAD_GIVEN);
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
        int levels = lg_ids_info_at(k).labels ? 2 : 1, differ = 0;
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
        assert_int_equal(ids_once(&s, &t, &x, &r, ids, &err), LG_ERROR_MEMORY);
        lg__alloc_fail_after(-1);
        assert_non_null(strstr(err.text, "3000"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts),
        cmocka_unit_test(flags),
        cmocka_unit_test(a_plan_stands_alone),
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
        cmocka_unit_test(abacus),
        cmocka_unit_test(the_same_draw_gives_the_same_ids),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
