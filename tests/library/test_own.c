/* test_own.c: a task and an encoding of the user's own (lengthen_own.h): they do what the library's own do, bit by bit,
 * and what cannot be is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lengthen_lab.h"

enum { EQUALS = 2, STOP = 3 };
static const char *const words[] = {"0", "1", "=", "$"};

static int32_t *label(int32_t at)
{
    static _Thread_local int32_t three[LG_LEVELS];
    three[0] = at, three[1] = three[2] = LG_ABSENT;
    return three;
}

/* parity-scratchpad again. */
static int write_text(void *context, const int32_t *bit, int n, lg_example *x, lg_error *err)
{
    (void)context;
    int parity = 0, e = 0;
    for (int i = 0; i < n; i++) e |= lg_example_put(x, bit[i], 0, label(i + 1), err);
    e |= lg_example_put(x, EQUALS, 0, label(0), err);
    for (int i = 0; i < n; i++) e |= lg_example_put(x, parity ^= bit[i], 1, label(i + 1), err);
    return e | lg_example_put(x, STOP, 1, label(n + 1), err);
}

static int make(void *context, lg_rng *r, int length, lg_example *x, lg_error *err)
{
    int32_t bit[100];
    for (int i = 0; i < length; i++) bit[i] = (int32_t)lg_rng_below(r, 2);
    return write_text(context, bit, length, x, err);
}

static int next(void *context, int state, int bit)
{
    (void)context;
    return state ^ bit;
}

static lg_own_task parity(const char *name)
{
    return (lg_own_task){.name = name,
                         .words = words,
                         .vocab = 4,
                         .stop = STOP,
                         .levels = 1,
                         .reach = {1},
                         .level = {"column"},
                         .make = make,
                         .states = 2,
                         .inputs = 2,
                         .next = next,
                         .write = write_text,
                         .length_least = 1,
                         .length_most = 100};
}

static void an_own_task_makes_the_same_examples(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_own_task mine = parity("my-parity");
    if (lg_task_add(&mine, &err)) fail_msg("%s", err.text);
    lg_task *own = lg_task_new("my-parity", NULL, 0, &err),
            *theirs = lg_task_new("parity-scratchpad", NULL, 0, &err);
    assert_true(own && theirs);
    assert_string_equal(lg_task_get_shape(own)->level[0], "column");
    lg_example a, b;
    lg_example_init(&a);
    lg_example_init(&b);
    for (int i = 0; i < 50; i++) {
        lg_draw d = {.seed = 3, .stream = 1, .index = (uint64_t)i, .length_lo = 1, .length_hi = 20};
        assert_int_equal(lg_task_example(own, &d, &a, &err), 0);
        assert_int_equal(lg_task_example(theirs, &d, &b, &err), 0);
        assert_true(a.n == b.n && a.answer == b.answer && a.length == b.length);
        assert_memory_equal(a.tokens, b.tokens, (size_t)a.n * sizeof *a.tokens);
        assert_memory_equal(a.labels[0], b.labels[0], (size_t)a.n * sizeof *a.tokens);
        assert_memory_equal(a.loss, b.loss, (size_t)a.n);
    }
    lg_example_clear(&a);
    lg_example_clear(&b);
    lg_task_free(own);
    lg_task_free(theirs);
}

/* The relative encoding again, of one level with the window 0..1. */
static void bias(void *context, float *out, const float *param, int head, int n, int levels,
                 const int32_t *query, const int32_t *const *key)
{
    (void)context, (void)head, (void)levels;
    for (int j = 0; j < n; j++) out[j] = param[key[0][j] - query[0]];
}

static void backward(void *context, float *dparam, const float *dout, const float *param, int head,
                     int n, int levels, const int32_t *query, const int32_t *const *key)
{
    (void)context, (void)head, (void)levels, (void)param;
    for (int j = 0; j < n; j++) dparam[key[0][j] - query[0]] += dout[j];
}

struct trained {
    lg_model *model;
    lg_task *task;
    lg_scheme scheme;
};

static struct trained train(const char *task, const char *encoding, int steps)
{
    lg_error err = {0};
    struct trained t = {.task = lg_task_new(task, NULL, 0, &err), .scheme = lg_scheme_default()};
    t.scheme.ids = "coupled", t.scheme.source[0] = "delta", t.scheme.reach = 1;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 4, c.width = 32, c.heads = 2, c.layers = 2, c.encoding = encoding,
    c.span = LG_SPAN_WINDOW;
    c.window_lo[0] = 0, c.window_hi[0] = 1, c.sink = 1;
    if (lg_scheme_config(&t.scheme, t.task, &c, &err)) fail_msg("%s", err.text);
    t.model = lg_model_new(&c, &err);
    if (!t.model) fail_msg("%s", err.text);
    lg_train_options o = lg_train_options_default();
    o.steps = steps, o.lr = 4e-3, o.warmup = 10;
    lg_trainer *trainer = lg_trainer_new(t.model, &o, &err);
    lg_plan plan;
    assert_int_equal(lg_plan_open(&plan, &t.scheme, t.task, &err), 0);
    lg_example x;
    lg_batch b;
    lg_rng r;
    lg_example_init(&x);
    lg_batch_init(&b);
    lg_draw d = {.seed = 1, .stream = 1, .length_lo = 1, .length_hi = 8};
    for (int s = 0; s < steps; s++) {
        lg_batch_reset(&b);
        for (int i = 0; i < 32; i++, d.index++) {
            lg_rng_init(&r, 1, 2, d.index);
            assert_int_equal(lg_task_example(t.task, &d, &x, &err), 0);
            assert_int_equal(lg_plan_add(&plan, &x, &r, &b, &err), 0);
        }
        if (lg_trainer_step(trainer, &b, NULL, &err)) fail_msg("%s", err.text);
    }
    lg_example_clear(&x);
    lg_batch_clear(&b);
    lg_trainer_free(trainer);
    return t;
}

static void an_own_encoding_learns_the_same_bits(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_own_encoding mine = {
        .name = "mine", .relative = 1, .parameters = 2, .bias = bias, .backward = backward};
    if (lg_encoding_add(&mine, &err)) fail_msg("%s", err.text);
    struct trained a = train("my-parity", "mine", 20),
                   b = train("parity-scratchpad", "relative", 20);
    assert_int_equal(lg_model_param_count(a.model), lg_model_param_count(b.model));
    for (int i = 0; i < lg_model_param_count(a.model); i++) {
        lg_param p = lg_model_param(a.model, i), q = lg_model_param(b.model, i);
        assert_string_equal(p.name, q.name);
        assert_memory_equal(p.data, q.data, (size_t)p.rows * (size_t)p.cols * sizeof *p.data);
    }
    lg_model_free(a.model), lg_model_free(b.model);
    lg_task_free(a.task), lg_task_free(b.task);
}

/* A model without a run is certified, or the shortest input on which it fails is found. */
static void a_model_is_certified(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_certificate c;
    struct trained good = train("my-parity", "mine", 250), bad = train("my-parity", "mine", 3);
    lg_certify_options o = {.model = good.model, .task = good.task, .scheme = &good.scheme};
    if (lg_certify(&o, &c, &err)) fail_msg("%s", err.text);
    assert_int_equal(c.certified, 1);
    assert_int_equal(c.contexts, 34); /* as of parity-scratchpad with two layers: README.md */
    o.model = bad.model;
    if (lg_certify(&o, &c, &err)) fail_msg("%s", err.text);
    assert_int_equal(c.certified, 0);
    assert_true(c.wrong > 0 && c.input[0]);
    o.scheme = NULL;
    assert_int_equal(lg_certify(&o, &c, &err), LG_ERROR_ARGUMENT);
    lg_model_free(good.model), lg_model_free(bad.model);
    lg_task_free(good.task), lg_task_free(bad.task);
}

static int make_wrong(void *context, lg_rng *r, int length, lg_example *x, lg_error *err)
{
    (void)r, (void)length;
    int e = lg_example_put(x, 1, 0, NULL, err);
    return e ? e : lg_example_put(x, *(int32_t *)context, 1, NULL, err);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_own_task t = parity("my-parity"); /* again */
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    t = parity("addition");
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    t = parity("a b");
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    t = parity("no-make"), t.make = NULL;
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    t = parity("no-write"), t.write = NULL;
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    t = parity("bad-stop"), t.stop = 4;
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    static const char *const twice[] = {"0", "1", "=", "1"};
    t = parity("twice"), t.words = twice;
    assert_int_equal(lg_task_add(&t, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "both \"1\""));
    static int32_t token = 4; /* the vocabulary has 0..3 */
    t = parity("wrong-token"), t.make = make_wrong, t.context = &token;
    assert_int_equal(lg_task_add(&t, &err), 0);
    lg_task *task = lg_task_new("wrong-token", NULL, 0, &err);
    lg_example x;
    lg_example_init(&x);
    lg_draw d = {.length_lo = 5, .length_hi = 5};
    assert_int_equal(lg_task_example(task, &d, &x, &err), LG_ERROR_ARGUMENT);
    token = 3;
    assert_int_equal(lg_task_example(task, &d, &x, &err), 0);
    lg_example_clear(&x);
    lg_task_free(task);
    lg_own_encoding e = {.name = "relative", .bias = bias};
    assert_int_equal(lg_encoding_add(&e, &err), LG_ERROR_ARGUMENT);
    e.name = "learns", e.parameters = 2; /* without backward */
    assert_int_equal(lg_encoding_add(&e, &err), LG_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_own_task_makes_the_same_examples),
        cmocka_unit_test(an_own_encoding_learns_the_same_bits),
        cmocka_unit_test(a_model_is_certified),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
