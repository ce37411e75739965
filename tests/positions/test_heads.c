/* test_heads.c: predictive position coupling: what the heads are to say for examples written out
 * by hand; against a plain and slow reading of the definition; and back from classes to IDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "helpers/plan.h"
#include "lengthen.h"
#include "positions/ids.h"
#include "tasks/tasks.h"

enum { A = LG_ABSENT, N = LG_NONE, ROOM = 4096 };

/* ---- Toys ---------------------------------------------------------------------------------- */

static const lg_task_info toy_info = {.name = "toy", .family = "paper", .unit = "tokens"};

static lg_task toy(int levels)
{
    return (lg_task){.shape = {.info = &toy_info,
                               .vocab = 100,
                               .levels = levels,
                               .level = {"first", "second", "third"},
                               .needed = 1}};
}

/* An example of hand-written labels; tokens are 10, 11, ..; a loss on the answer. */
static int32_t hand_tokens[ROOM];
static unsigned char hand_loss[ROOM];
static lg_example hand(int n, int answer, int32_t *l1, int32_t *l2)
{
    for (int t = 0; t < n; t++) {
        hand_tokens[t] = 10 + t;
        hand_loss[t] = t >= answer;
    }
    return (lg_example){.n = n,
                        .answer = answer,
                        .tokens = hand_tokens,
                        .labels = {l1, l2 ? l2 : l1, l1},
                        .loss = hand_loss};
}

static lg_scheme coupled(const char *source1, const char *source2)
{
    lg_scheme s = lg_scheme_default();
    s.ids = "coupled";
    s.source[0] = source1;
    s.source[1] = source2;
    return s;
}

static void add(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_batch *b)
{
    lg_error err = {0};
    if (add_once(s, t, x, NULL, b, &err)) fail_msg("%s", err.text);
}

static void same_numbers(const int32_t *got, const int32_t *want, int n, int line)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i]) fail_msg("line %d: row %d has %d, not %d", line, i, got[i], want[i]);
}
#define same(got, ...)                                                                             \
    same_numbers(got, (const int32_t[]){__VA_ARGS__},                                              \
                 (int)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), __LINE__)

static void refuses(const lg_scheme *s, const lg_task *t, const lg_example *x, lg_batch *b,
                    const char *value, const char *remedy)
{
    lg_error err = {0};
    assert_int_equal(add_once(s, t, x, NULL, b, &err), LG_ERROR_ARGUMENT);
    if (!strstr(err.text, value) || !strstr(err.text, remedy))
        fail_msg("\"%s\" and \"%s\" are not both in: %s", value, remedy, err.text);
}

/* ---- By hand -------------------------------------------------------------------------------- */

/* 1 0 1 = 1 1 0 $ */
static void parity_scratchpad(void **state)
{
    (void)state;
    lg_task t = toy(1);
    int32_t l[] = {1, 2, 3, 0, 1, 2, 3, 4};
    lg_example x = hand(8, 4, l, NULL);
    lg_batch b;
    lg_batch_init(&b);

    lg_scheme s = coupled(NULL, NULL);
    add(&s, &t, &x, &b);
    assert_int_equal(b.rows, 7);
    assert_int_equal(b.sequences, 1);
    assert_int_equal(b.levels, 1);
    assert_int_equal(b.offsets[1], 7);
    same(b.tokens, 10, 11, 12, 13, 14, 15, 16);
    same(b.targets, N, N, N, 14, 15, 16, 17);
    same(b.ids[0], 2, 3, 4, 1, 2, 3, 4);
    same(b.id_targets[0], N, N, N, N, N, N, N);
    same(b.point_targets[0], N, N, N, N, N, N, N);

    lg_batch_reset(&b);
    s = coupled("delta", NULL);
    s.reach = 1;
    add(&s, &t, &x, &b);
    same(b.id_targets[0], N, N, N, 2, 2, 2, 2); /* always one up */
    same(b.point_targets[0], N, N, N, N, N, N, N);

    lg_batch_reset(&b);
    s = coupled("absolute", NULL);
    s.max_id = 5;
    add(&s, &t, &x, &b);
    same(b.id_targets[0], N, N, N, 2, 3, 4, 5);

    lg_batch_reset(&b);
    s = coupled("pointer", NULL);
    add(&s, &t, &x, &b);
    same(b.id_targets[0], N, N, N, 2, 2, 2, 3); /* '$' is one past the largest */
    same(b.point_targets[0], N, N, N, 2, 3, 4, 4);
    lg_batch_clear(&b);
}

/* . 0 * 1 * 0 | = > 1 1 > 0 1 > $ */
static void sparse_parity_scratchpad(void **state)
{
    (void)state;
    lg_task t = toy(2);
    int32_t pair[] = {1, 1, 2, 2, 3, 3, 4, 0, 2, 2, A, 3, 3, A, 4, 4};
    int32_t walk[] = {A, A, A, A, A, A, A, 0, 1, 1, 1, 2, 2, 2, 3, 3};
    lg_example x = hand(16, 8, pair, walk);
    lg_scheme s = coupled("pointer", "delta");
    lg_batch b;
    lg_batch_init(&b);
    add(&s, &t, &x, &b);
    assert_int_equal(b.levels, 2);
    assert_int_equal(b.rows, 15);
    same(b.ids[0], 2, 2, 3, 3, 4, 4, 5, 1, 3, 3, A, 4, 4, A, 5);
    same(b.ids[1], A, A, A, A, A, A, A, 1, 2, 2, 2, 3, 3, 3, 4);
    same(b.id_targets[0], N, N, N, N, N, N, N, 2, 5, 6, 2, 5, 6, 2, 5);
    same(b.point_targets[0], N, N, N, N, N, N, N, 3, N, N, 4, N, N, 5, N);
    same(b.id_targets[1], N, N, N, N, N, N, N, 9, 8, 8, 9, 8, 8, 9, 8);
    same(b.point_targets[1], N, N, N, N, N, N, N, N, N, N, N, N, N, N, N);

    /* Two levels: a class more, for no ID. */
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    lg_error err;
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.levels, 2);
    same(c.id_classes, 7, 18, 0);
    same(c.pointer, 1, 0, 0);

    lg_batch_reset(&b);
    s = coupled("absolute", "pointer");
    s.max_id = 7;
    add(&s, &t, &x, &b);
    same(b.id_targets[0], N, N, N, N, N, N, N, 3, 3, 8, 4, 4, 8, 5, 5);
    /* The walk's next number is one past all that is there: one up from the carried one. */
    same(b.id_targets[1], N, N, N, N, N, N, N, 3, 5, 5, 3, 5, 5, 3, 5);
    same(b.point_targets[1], N, N, N, N, N, N, N, 1, N, N, 2, N, N, 3, N);
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    same(c.id_classes, 9, 7, 0);
    same(c.pointer, 0, 1, 0);
    assert_int_equal(c.max_id, 7);
    lg_batch_clear(&b);
}

/* v1 := c0 v0 := v1 ? v0 > v1 > c0 $ */
static void variable_assignment(void **state)
{
    (void)state;
    lg_task t = toy(2);
    int32_t statement[] = {1, 1, 1, 2, 2, 2, 0, 0, 2, 2, 1, 1, 1};
    int32_t role[] = {1, 2, 3, 1, 2, 3, 2, 3, 2, 3, 2, 3, 4};
    lg_example x = hand(13, 8, statement, role);
    lg_scheme s = coupled("pointer", "delta");
    s.reach = 2;
    lg_batch b;
    lg_batch_init(&b);
    add(&s, &t, &x, &b);
    same(b.ids[0], 2, 2, 2, 3, 3, 3, 1, 1, 3, 3, 2, 2);
    same(b.id_targets[0], N, N, N, N, N, N, N, 2, 5, 2, 5, 5);
    same(b.point_targets[0], N, N, N, N, N, N, N, 3, N, 2, N, N);
    same(b.id_targets[1], N, N, N, N, N, N, N, 1, 3, 1, 3, 3); /* -1, 1, -1, 1, 1 */

    lg_batch_reset(&b);
    s = coupled("pointer", NULL); /* the role is given */
    s.levels = 1;
    add(&s, &t, &x, &b);
    assert_int_equal(b.levels, 1);
    same(b.id_targets[0], N, N, N, N, N, N, N, 2, 5, 2, 5, 5);
    lg_batch_clear(&b);
}

/* The first of 0, 1, -1, 2, -2 that leads from an ID that is there. */
static void the_pointers_step(void **state)
{
    (void)state;
    static const struct {
        int32_t before[3], next, class, point;
    } cases[] = {
        {{10, 20, 30}, 30, 5, N},  /* the carried one: stay */
        {{10, 20, 30}, 20, 2, 20}, /* is there */
        {{10, 12, 30}, 11, 3, 10}, /* one up before one down */
        {{10, 20, 30}, 11, 3, 10}, {{10, 20, 30}, 19, 1, 20}, {{10, 20, 30}, 12, 4, 10},
        {{10, 20, 30}, 18, 0, 20}, {{10, 13, 30}, 12, 1, 13}, /* one down before two up */
        {{10, 14, 30}, 12, 4, 10},                            /* two up before two down */
        {{10, 20, 30}, 31, 3, 30}, {{10, 20, 30}, 29, 1, 30}, {{10, 20, 30}, 32, 4, 30},
        {{0, 20, 30}, 1, 3, 0},    {{1, 20, 30}, 0, 1, 1},    {{2, 20, 30}, 0, 0, 2},
        {{A, A, A}, 0, 5, N}, /* no ID yet: counted from 0 */
    };
    lg_task t = toy(1);
    lg_scheme s = coupled("pointer", NULL);
    lg_batch b;
    lg_batch_init(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t l[4];
        for (int k = 0; k < 3; k++) l[k] = cases[i].before[k] == A ? A : cases[i].before[k] - 1;
        l[3] = cases[i].next - 1;
        lg_example x = hand(4, 3, l, NULL);
        lg_batch_reset(&b);
        add(&s, &t, &x, &b);
        same(b.id_targets[0], N, N, cases[i].class);
        same(b.point_targets[0], N, N, cases[i].point);
        assert_int_equal(lg__id_of_class(&s, LG__HEAD_POINTER, cases[i].class, cases[i].before[2],
                                         cases[i].point == N ? A : cases[i].point),
                         cases[i].next);
    }
    int32_t l[] = {9, 19, 29, 14};
    lg_example x = hand(4, 3, l, NULL);
    refuses(&s, &t, &x, &b, "the next ID is 15", "take source given or delta");
    refuses(&s, &t, &x, &b, "from token 2 to token 3", "level 1 (first)");
    lg_batch_clear(&b);
}

/* Only what lies before the predicting token, itself included, can be pointed to. */
static void a_pointer_does_not_see_ahead(void **state)
{
    (void)state;
    lg_task t = toy(1);
    lg_scheme s = coupled("pointer", NULL);
    int32_t l[] = {1, 2, 9, 9};
    lg_example x = hand(4, 2, l, NULL);
    lg_batch b;
    lg_batch_init(&b);
    refuses(&s, &t, &x, &b, "from token 1 to token 2", "the next ID is 10");
    lg_batch_clear(&b);
}

/* ---- Refusals: nothing is added --------------------------------------------------------------- */

static void a_refused_example_leaves_the_batch(void **state)
{
    (void)state;
    lg_task t = toy(1), two = toy(2);
    int32_t good[] = {1, 2, 3, 2}, far[] = {1, 2, 3, 40}, none[] = {1, 2, 3, A};
    lg_example x = hand(4, 3, good, NULL), bad = hand(4, 3, far, NULL);
    lg_example absent = hand(4, 3, none, NULL);
    lg_scheme s = coupled("delta", NULL);
    s.reach = 8;
    lg_batch b;
    lg_batch_init(&b);
    refuses(&s, &t, &bad, &b, "a step of 37", "source pointer");
    assert_int_equal(b.sequences + b.rows, 0);
    add(&s, &t, &x, &b);
    refuses(&s, &t, &bad, &b, "from token 2 to token 3", "reach of 37 or more");
    refuses(&s, &t, &absent, &b, "no ID", "give every token an ID");
    assert_int_equal(b.sequences, 1);
    assert_int_equal(b.rows, 3);
    add(&s, &t, &x, &b);
    assert_int_equal(b.offsets[2], 6);
    same(b.ids[0], 2, 3, 4, 2, 3, 4);
    same(b.id_targets[0], N, N, 7, N, N, 7);

    s = coupled("absolute", NULL);
    s.max_id = 40;
    refuses(&s, &t, &bad, &b, "the next ID is 41", "set max_id to 41");
    s.max_id = 41;
    add(&s, &t, &bad, &b);
    assert_int_equal(b.id_targets[0][8], 41);
    lg_scheme other = coupled(NULL, NULL);
    lg_error err = {0};
    assert_int_equal(add_once(&other, &two, &x, NULL, &b, &err), LG_ERROR_ARGUMENT);
    x.n = 1;
    refuses(&s, &t, &x, &b, "1 token", "2 or more");
    assert_int_equal(b.sequences, 3);
    lg_batch_clear(&b);
}

static void no_memory_leaves_the_batch(void **state)
{
    (void)state;
    static int32_t l[ROOM];
    for (int i = 0; i < ROOM; i++) l[i] = i % 7;
    lg_task t = toy(1);
    lg_example x = hand(ROOM, ROOM / 2, l, NULL);
    lg_scheme s = coupled("pointer", NULL);
    lg_batch b;
    lg_error err = {0};
    lg_batch_init(&b);
    add(&s, &t, &x, &b);
    lg_batch_reset(&b);
    lg__alloc_fail_after(0);
    assert_int_equal(add_once(&s, &t, &x, NULL, &b, &err), LG_ERROR_MEMORY);
    lg__alloc_fail_after(-1);
    assert_non_null(strstr(err.text, "4096 tokens"));
    assert_int_equal(b.sequences + b.rows, 0);
    lg_batch_clear(&b);
}

/* A warm batch takes examples without an allocation. */
static void nothing_is_allocated(void **state)
{
    (void)state;
    static const char *const names[] = {"plain",   "random-start",       "randomized",   "pose",
                                        "coupled", "coupled+randomized", "coupled+pose", "abacus"};
    lg_task t = toy(1);
    int32_t l[100];
    for (int i = 0; i < 100; i++) l[i] = i % 50;
    lg_example x = hand(100, 50, l, NULL);
    for (int i = 0; i < 100; i++) hand_tokens[i] = i % 10;
    lg_batch b;
    lg_batch_init(&b);
    for (int k = 0; k < 8 + 3; k++) {
        lg_scheme s = coupled(k < 8 ? NULL : lg_id_head_info_at(k - 8).name, NULL);
        if (k < 8) s.ids = names[k];
        s.max_id = s.target = 200;
        s.reach = 50;
        lg_rng r;
        lg_rng_init(&r, 1, 2, 3);
        lg_batch_reset(&b);
        assert_int_equal(add_once(&s, &t, &x, &r, &b, NULL), 0);
        long before = lg__alloc_count();
        for (int i = 0; i < 10; i++) {
            lg_batch_reset(&b);
            assert_int_equal(add_once(&s, &t, &x, &r, &b, NULL), 0);
        }
        assert_int_equal(lg__alloc_count(), before);
    }
    lg_batch_clear(&b);
}

/* ---- Classes and back -------------------------------------------------------------------------- */

static void ids_of_classes(void **state)
{
    (void)state;
    lg_scheme s = lg_scheme_default();
    s.max_id = 9;
    s.reach = 2;
    static const struct {
        enum lg__head head;
        int32_t class, carried, pointed, id;
    } cases[] = {
        {LG__HEAD_ABSOLUTE, 0, 5, A, 0},  {LG__HEAD_ABSOLUTE, 9, A, A, 9},
        {LG__HEAD_ABSOLUTE, 10, 5, A, A}, {LG__HEAD_DELTA, 0, 5, A, 3},
        {LG__HEAD_DELTA, 2, 5, A, 5},     {LG__HEAD_DELTA, 4, 5, A, 7},
        {LG__HEAD_DELTA, 5, 5, A, A},     {LG__HEAD_DELTA, 0, 1, A, 0}, /* below 0 becomes 0 */
        {LG__HEAD_DELTA, 3, A, A, 1}, /* nothing carried: from 0 */
        {LG__HEAD_DELTA, 1, A, A, 0},     {LG__HEAD_DELTA, 4, INT32_MAX, A, INT32_MAX},
        {LG__HEAD_POINTER, 0, 5, 40, 38}, {LG__HEAD_POINTER, 4, 5, 40, 42},
        {LG__HEAD_POINTER, 0, 5, 1, 0},   {LG__HEAD_POINTER, 5, 5, 40, 5},
        {LG__HEAD_POINTER, 5, A, 40, 0},  {LG__HEAD_POINTER, 6, 5, 40, A},
        {LG__HEAD_POINTER, 3, 5, A, 6}, /* nothing to point to: from the carried one */
        {LG__HEAD_MATCH, 3, 5, 40, 41},   {LG__HEAD_MATCH, 5, 5, 40, 5},
        {LG__HEAD_MATCH, 6, 5, 40, A},    {LG__HEAD_MATCH, 2, 5, A, A}, /* no key matches: no ID */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            lg__id_of_class(&s, cases[i].head, cases[i].class, cases[i].carried, cases[i].pointed),
            cases[i].id);
}

/* The definition, read slowly: the class of one row, and in *point what the pointer is to find. */
static int32_t slow_class(const lg_scheme *s, const char *head, int several, const int32_t *ids,
                          int t, int32_t *point)
{
    int32_t next = ids[t + 1], carried = 0;
    *point = N;
    for (int j = 0; j <= t; j++)
        if (ids[j] != A) carried = ids[j];
    if (strcmp(head, "absolute") == 0) return next == A ? s->max_id + 1 : next;
    if (strcmp(head, "delta") == 0) {
        if (next == A) assert_true(several);
        return next == A ? 2 * s->reach + 1 : next - carried + s->reach;
    }
    if (next == A) return 6;
    if (next == carried) return 5;
    for (int i = 0; i < 5; i++) {
        int step = (int[]){0, 1, -1, 2, -2}[i];
        for (int j = 0; j <= t; j++)
            if (ids[j] == next - step) {
                *point = next - step;
                return step + 2;
            }
    }
    fail_msg("ID %d cannot be found from row %d", next, t);
    return 0;
}

static void check_rows(const lg_scheme *s, const lg_example *x, const lg_batch *b, int l,
                       const int32_t *ids)
{
    const char *head = s->source[l];
    enum lg__head kind = (enum lg__head)(strcmp(head, "absolute") == 0 ? 0
                                         : strcmp(head, "delta") == 0  ? 1
                                                                       : 2);
    int32_t carried = A;
    for (int t = 0; t + 1 < x->n; t++) {
        int32_t class = b->id_targets[l][t], found = b->point_targets[l][t], point = N;
        if (ids[t] != A) carried = ids[t];
        assert_int_equal(b->ids[l][t], ids[t]);
        if (t + 1 < x->answer) {
            assert_int_equal(class, N);
            assert_int_equal(found, N);
            continue;
        }
        assert_int_equal(class, slow_class(s, head, b->levels > 1, ids, t, &point));
        assert_int_equal(found, point);
        assert_int_equal(lg__id_of_class(s, kind, class, carried, found == N ? A : found),
                         ids[t + 1]);
    }
}

/* One draw of a task with these sources: every row against the definition, and back. */
static void check_draw(lg_task *t, const lg_scheme *s, uint64_t index, int training)
{
    static int32_t buffer[LG_LEVELS][ROOM];
    int32_t *const ids[LG_LEVELS] = {buffer[0], buffer[1], buffer[2]};
    const lg_task_shape *shape = lg_task_get_shape(t);
    int least = shape->length_least, most = least + 20;
    if (most > shape->length_most) most = shape->length_most;
    lg_draw d = {.seed = 5, .index = index, .length_lo = least, .length_hi = most};
    lg_error err = {0};
    lg_example x;
    lg_batch b;
    lg_rng r, again;
    lg_rng_init(&r, 6, 1, index);
    again = r;
    lg_example_init(&x);
    lg_batch_init(&b);
    if (lg_task_example(t, &d, &x, &err)) fail_msg("%s: %s", shape->info->name, err.text);
    assert_true(x.n < ROOM);
    if (add_once(s, t, &x, training ? &r : NULL, &b, &err))
        fail_msg("%s, draw %d: %s", shape->info->name, (int)index, err.text);
    assert_int_equal(ids_once(s, t, &x, training ? &again : NULL, ids, &err), 0);
    assert_int_equal(b.rows, x.n - 1);
    for (int i = 0; i + 1 < x.n; i++) {
        assert_int_equal(b.tokens[i], x.tokens[i]);
        assert_int_equal(b.targets[i], x.loss[i + 1] ? x.tokens[i + 1] : N);
    }
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    assert_int_equal(lg_scheme_config(s, t, &c, &err), 0);
    for (int l = 0; l < b.levels; l++) {
        for (int i = 0; i < b.rows; i++) assert_true(b.id_targets[l][i] < c.id_classes[l]);
        check_rows(s, &x, &b, l, ids[l]);
    }
    lg_batch_clear(&b);
    lg_example_clear(&x);
}

/* Tasks by name and one setting: those whose labels differ in kind from the default's. */
static const struct {
    const char *name, *setting;
} variants[] = {
    {"parity-scratchpad", "scan=backward"},
    {"sparse-parity-scratchpad", "walk=dense"},
    {"variable-assignment", "name_tokens=2"},
    {"variable-assignment", "scratchpad=no"},
    {"retrieval", "key_tokens=2"},
    {"retrieval", "value_tokens=3"},
    {"retrieval", "scratchpad=no"},
    {"addition", "answer=plain"},
    {"addition", "padded=no"},
    {"addition", "orientation=down"},
    {"addition", "hints=200"},
    {"subtraction", "wrap=yes"},
    {"subtraction", "answer=plain"},
    {"multi-addition", "scratchpad=no"},
    {"multiplication", "scratchpad=yes"},
    {"multiplication", "orientation=up"},
    {"copy", "hints=200"},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* The i-th of all tasks and variants with labels, or NULL if it has none; *end: there is no i-th. */
static lg_task *labelled_task(int i, int *end)
{
    int count = lg_task_count(), variant = i - count;
    lg_error err = {0};
    *end = variant >= VARIANTS;
    if (*end) return NULL;
    if (variant < 0 && strcmp(lg_task_info_at(i)->family, "own data") == 0) return NULL;
    const char *name = variant < 0 ? lg_task_info_at(i)->name : variants[variant].name;
    const char *setting = variant < 0 ? NULL : variants[variant].setting;
    lg_task *t = lg_task_new(name, &setting, variant >= 0, &err);
    if (!t) fail_msg("%s", err.text);
    if (lg_task_get_shape(t)->levels) return t;
    lg_task_free(t);
    return NULL;
}

/* The cheapest head that a task's reach allows, and each head alone. */
static void every_task_and_back(void **state)
{
    (void)state;
    for (int i = 0, end = 0; !end; i++) {
        lg_task *t = labelled_task(i, &end);
        if (!t) continue;
        const lg_task_shape *shape = lg_task_get_shape(t);
        for (int way = 0; way < 3; way++) {
            lg_scheme s = coupled(NULL, NULL);
            s.max_id = 300;
            for (int l = 0; l < shape->levels; l++) {
                int delta = way == 0 && shape->reach[l];
                s.source[l] = delta ? "delta" : way == 2 ? "absolute" : "pointer";
                if (shape->reach[l] > s.reach) s.reach = shape->reach[l];
            }
            for (uint64_t k = 0; k < 500; k++) check_draw(t, &s, k, k % 2);
        }
        lg_task_free(t);
    }
}

/* The promise of shape.reach, on which delta relies: no step is larger at any length. */
static void reach_is_kept(void **state)
{
    (void)state;
    for (int i = 0, end = 0; !end; i++) {
        lg_task *t = labelled_task(i, &end);
        if (!t) continue;
        lg_error err = {0};
        const lg_task_shape *shape = lg_task_get_shape(t);
        int length = shape->length_most < 150 ? shape->length_most : 150;
        lg_scheme s = coupled(NULL, NULL);
        s.reach = 1;
        for (int l = 0; l < shape->levels; l++) {
            if (shape->reach[l]) s.source[l] = "delta";
            if (shape->reach[l] > s.reach) s.reach = shape->reach[l];
        }
        lg_example x;
        lg_batch b;
        lg_example_init(&x);
        lg_batch_init(&b);
        for (uint64_t k = 0; k < 100; k++) {
            lg_draw d = {.seed = 9, .index = k, .length_lo = length, .length_hi = length};
            assert_int_equal(lg_task_example(t, &d, &x, &err), 0);
            lg_batch_reset(&b);
            if (add_once(&s, t, &x, NULL, &b, &err))
                fail_msg("%s: %s", shape->info->name, err.text);
        }
        lg_batch_clear(&b);
        lg_example_clear(&x);
        lg_task_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity_scratchpad),
        cmocka_unit_test(sparse_parity_scratchpad),
        cmocka_unit_test(variable_assignment),
        cmocka_unit_test(the_pointers_step),
        cmocka_unit_test(a_pointer_does_not_see_ahead),
        cmocka_unit_test(a_refused_example_leaves_the_batch),
        cmocka_unit_test(no_memory_leaves_the_batch),
        cmocka_unit_test(nothing_is_allocated),
        cmocka_unit_test(ids_of_classes),
        cmocka_unit_test(every_task_and_back),
        cmocka_unit_test(reach_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
