/* test_try_time.c: how lg_try shares its time, with a clock of the test's own: the same share
 * for all, what is not needed goes to those that are left, the end is kept, and a step has as many
 * examples as there is time for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/try_time.h"

enum { MANY = 5 };

struct fake {
    double now, begin[MANY], train[MANY], test[MANY]; /* seconds that a first turn offered */
    double needs[MANY];                               /* of training until it has learned */
    double over;                                      /* that a turn takes too long */
    double spent[MANY];                               /* on training */
    int turns[MANY], rounds, stop_after, code;
};

static double fake_now(void *context) { return ((struct fake *)context)->now; }

static int is_open(void *context, int i)
{
    const struct fake *f = context;
    return f->spent[i] < f->needs[i];
}

static int is_stopped(void *context)
{
    const struct fake *f = context;
    int turns = 0;
    for (int i = 0; i < MANY; i++) turns += f->turns[i];
    return f->stop_after && turns >= f->stop_after;
}

static int take_turn(void *context, int i, int round, double train_until, double test_until)
{
    struct fake *f = context;
    double training = train_until - f->now, left = f->needs[i] - f->spent[i];
    if (round == 0) {
        f->begin[i] = f->now;
        f->train[i] = training;
        f->test[i] = test_until - train_until;
    }
    f->turns[i]++;
    f->rounds = round + 1;
    f->spent[i] += fmin(training, left);
    f->now = left < training ? f->now + left + (test_until - train_until) : test_until;
    f->now += f->over;
    return f->code;
}

static int share_out(struct fake *f, double seconds)
{
    struct lg__try_turns w = {.count = MANY,
                              .seconds = seconds,
                              .end = f->now + seconds,
                              .context = f,
                              .now = fake_now,
                              .open = is_open,
                              .stopped = is_stopped,
                              .turn = take_turn};
    return lg__try_take_turns(&w);
}

static void all_get_the_same(void **state)
{
    (void)state;
    struct fake f = {.now = 1000, .needs = {1e9, 1e9, 1e9, 1e9, 1e9}};
    assert_int_equal(share_out(&f, 100), 0);
    for (int i = 0; i < MANY; i++) {
        assert_true(fabs(f.train[i] - 14) < 1e-6);
        assert_true(fabs(f.test[i] - 6) < 1e-6);
        assert_int_equal(f.turns[i], 1);
    }
    assert_true(fabs(lg__try_training_share(100, MANY) - 14) < 1e-6);
    assert_true(f.now <= 1100 + 1e-6);
}

/* One that learns early takes nothing from the others, and gives them the rest in equal parts. */
static void what_is_not_needed_is_shared(void **state)
{
    (void)state;
    struct fake f = {.needs = {1, 1e9, 1, 1e9, 1}};
    assert_int_equal(share_out(&f, 100), 0);
    for (int i = 0; i < MANY; i++) assert_true(fabs(f.train[i] - 14) < 1e-6);
    assert_int_equal(f.turns[0], 1);
    assert_true(f.turns[1] > 1 && f.turns[3] == f.turns[1]);
    assert_true(fabs(f.spent[1] - f.spent[3]) < 1e-6);
    assert_true(f.now <= 100 + 1e-6);
}

/* The last ones may get less or nothing, but the end is that of one turn too late at most. */
static void the_end_is_kept(void **state)
{
    (void)state;
    struct fake f = {.needs = {1e9, 1e9, 1e9, 1e9, 1e9}, .over = 3};
    assert_int_equal(share_out(&f, 100), 0);
    for (int i = 0; i < MANY - 1; i++) assert_true(fabs(f.train[i] - 14) < 1e-6);
    assert_true(f.now <= 103 + 1e-6);
    f = (struct fake){.needs = {1e9, 1e9, 1e9, 1e9, 1e9}, .over = 60};
    assert_int_equal(share_out(&f, 100), 0);
    assert_int_equal(f.turns[0] + f.turns[1], 2);
    assert_int_equal(f.turns[2] + f.turns[3] + f.turns[4], 0);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    struct fake f = {.needs = {1e9, 1e9, 1e9, 1e9, 1e9}, .stop_after = 2};
    assert_int_equal(share_out(&f, 100), 0);
    assert_int_equal(f.turns[0] + f.turns[1] + f.turns[2], 2);
    f = (struct fake){.needs = {1e9, 1e9, 1e9, 1e9, 1e9}, .code = 7};
    assert_int_equal(share_out(&f, 100), 7);
    assert_int_equal(f.turns[1], 0);
}

static void steps_are_cut_to_the_time(void **state)
{
    (void)state;
    static const int n[] = {256, 1024};
    const double seconds[] = {256 * 1e-5 + 256 * 256 * 1e-8, 1024 * 1e-5 + 1024 * 1024 * 1e-8};
    struct lg__try_cost c = lg__try_cost_fit(n, seconds);
    assert_true(fabs(c.token - 1e-5) < 1e-9 && fabs(c.pair - 1e-8) < 1e-12);
    assert_true(fabs(lg__try_cost_step(&c, 1000, 4, 2) - 2 * 0.02) < 1e-9);
    assert_true(fabs(lg__try_cost_step(&c, 1000, 3, 2) - 2 * 0.02) < 1e-9);
    assert_int_equal(lg__try_cost_batch(&c, 1000, 8, 2, 1000), 8);
    assert_int_equal(lg__try_cost_batch(&c, 1000, 8, 2, LG_TRY_STEPS * 0.0601), 6);
    assert_int_equal(lg__try_cost_batch(&c, 1000, 8, 2, LG_TRY_STEPS * 0.0201), 2);
    assert_int_equal(lg__try_cost_batch(&c, 1000, 8, 2, LG_TRY_STEPS * 0.0199), 0);
    assert_int_equal(lg__try_cost_batch(&c, 200001, 8, 2, 2), 0);
    int longest = lg__try_cost_tokens(&c, LG_TRY_STEPS * 0.0201);
    assert_true(longest >= 1000 && longest < 1010);
    assert_int_equal(lg__try_cost_batch(&c, longest, 8, 1, LG_TRY_STEPS * 0.0201), 1);
    /* a measurement in which the longer one is the cheaper per token gives no negative cost */
    const double odd[] = {0.1, 0.2};
    c = lg__try_cost_fit(n, odd);
    assert_true(c.pair == 0 && c.token > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_get_the_same),          cmocka_unit_test(what_is_not_needed_is_shared),
        cmocka_unit_test(the_end_is_kept),           cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(steps_are_cut_to_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
