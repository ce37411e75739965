/* test_tasks_again.c: the same draw gives the same example, whatever was made before, in another
 * task object, and on four threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"

enum { EXAMPLES = 150, THREADS = 4, SETTINGS = 4 };

static int own_data(const char *name)
{
    return !strcmp(lg_task_info_find(name)->family, "own data");
}

struct series {
    const char *name;
    struct ck_made made;
    lg_draw draw[EXAMPLES];
    lg_example example[EXAMPLES];
};

static int same(const lg_example *a, const lg_example *b, int levels)
{
    size_t n = (size_t)a->n;
    if (a->n != b->n || a->answer != b->answer || a->length != b->length ||
        a->sparsity != b->sparsity || memcmp(a->tokens, b->tokens, n * sizeof *a->tokens) ||
        memcmp(a->loss, b->loss, n))
        return 0;
    for (int l = 0; l < levels; l++)
        if (memcmp(a->labels[l], b->labels[l], n * sizeof **a->labels)) return 0;
    return 1;
}

/* First of all settings the fallbacks, then random ones. */
static lg_task *open_series(struct series *s, const lg_task_info *info, lg_rng *r, int round)
{
    s->name = info->name;
    lg_task *t = NULL;
    for (int tries = 0; !t && tries < 1000; tries++) {
        s->made.settings = 0;
        if (round) ck_draw_settings(info, r, &s->made);
        t = lg_task_new(s->name, s->made.setting, s->made.settings, NULL);
    }
    if (!t) fail_msg("%s refuses all settings", s->name);
    for (int i = 0; i < EXAMPLES; i++) {
        s->draw[i] = (lg_draw){.seed = (uint64_t)round + 3, .stream = 7, .index = (uint64_t)i};
        ck_draw_sizes(lg_task_get_shape(t), r, &s->draw[i]);
        lg_example_init(&s->example[i]);
        ck_example(t, &s->draw[i], &s->example[i]);
    }
    return t;
}

static void close_series(struct series *s)
{
    for (int i = 0; i < EXAMPLES; i++) lg_example_clear(&s->example[i]);
}

/* In another order, with other draws in between; how many differ. */
static int differing(const struct series *s, lg_task *t, int step)
{
    int wrong = 0, levels = lg_task_get_shape(t)->levels;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < EXAMPLES; i++) {
        int at = i * step % EXAMPLES;
        lg_draw other = s->draw[(at + 31) % EXAMPLES];
        other.seed += 100;
        wrong += lg_task_example(t, &other, &x, NULL) != 0;
        wrong += lg_task_example(t, &s->draw[at], &x, NULL) || !same(&x, &s->example[at], levels);
    }
    lg_example_clear(&x);
    return wrong;
}

struct thread {
    pthread_t id;
    const struct series *series;
    int step, wrong;
};

static void *make_all(void *argument)
{
    struct thread *a = argument;
    const struct series *s = a->series;
    lg_task *t = lg_task_new(s->name, s->made.setting, s->made.settings, NULL);
    a->wrong = t ? differing(s, t, a->step) : -1;
    lg_task_free(t);
    return NULL;
}

static void every_task(void (*test)(struct series *, lg_task *))
{
    struct series *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        lg_rng r;
        lg_rng_init(&r, 4, 1, (uint64_t)i);
        for (int round = 0; round < SETTINGS; round++) {
            lg_task *t = open_series(s, info, &r, round);
            test(s, t);
            lg_task_free(t);
            close_series(s);
        }
    }
    free(s);
}

static void again(struct series *s, lg_task *t)
{
    if (differing(s, t, 149)) fail_msg("%s: what was made before matters", s->name);
    lg_task *other = ck_task_new(s->name, s->made.setting, s->made.settings);
    if (differing(s, other, 77)) fail_msg("%s: another object makes other examples", s->name);
    lg_task_free(other);
}

static void same_draw_same_example(void **state)
{
    (void)state;
    every_task(again);
}

static void on_threads(struct series *s, lg_task *t)
{
    (void)t;
    static const int steps[THREADS] = {1, 7, 11, 149}; /* coprime to EXAMPLES: each is made once */
    struct thread thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        thread[i] = (struct thread){.series = s, .step = steps[i]};
        assert_int_equal(pthread_create(&thread[i].id, NULL, make_all, &thread[i]), 0);
    }
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i].id, NULL), 0);
        wrong += thread[i].wrong != 0;
    }
    if (wrong) fail_msg("%s: %d of %d threads make other examples", s->name, wrong, THREADS);
}

static void same_example_on_threads(void **state)
{
    (void)state;
    every_task(on_threads);
}

/* Of long examples no two are alike, unless something that must matter does not. */
static void other_draw_other_example(void **state)
{
    (void)state;
    lg_example x, y;
    lg_example_init(&x);
    lg_example_init(&y);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        lg_task *t = ck_task_new(info->name, NULL, 0);
        lg_draw d = {.seed = 1, .stream = 1, .index = 1, .length_lo = 90, .length_hi = 90};
        ck_example(t, &d, &x);
        for (int change = 0; change < 5; change++) {
            lg_draw e = d;
            e.seed += change == 0;
            e.stream += change == 1;
            e.index += change == 2;
            e.seed += (uint64_t)(change == 3) << 32;
            e.index += (uint64_t)(change == 4) << 32;
            ck_example(t, &e, &y);
            if (same(&x, &y, 0))
                fail_msg("%s: change %d of the draw changes nothing", info->name, change);
        }
        lg_task_free(t);
    }
    lg_example_clear(&x);
    lg_example_clear(&y);
}

static int clean(void **state)
{
    (void)state;
    ck_folder_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_draw_same_example),
        cmocka_unit_test(same_example_on_threads),
        cmocka_unit_test(other_draw_other_example),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
