/* test_bf16.c: training with bf16 matmuls. Its gradients are those of fp32 up to the rounding of what enters the
 * matmuls, and the same with every set of kernels up to the order of sums; evaluation stays fp32. */
#include "engine/helper.h"
#include "engine/model.h"

enum { VOCAB = 13, CLASSES = 5 };

static lg_model_config neox(void)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = VOCAB;
    c.width = 48;
    c.heads = 4;
    c.id_classes[0] = CLASSES;
    c.seed = 3;
    return c;
}

static lg_model_config olmo(void)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_OLMO);
    c.vocab = VOCAB;
    c.width = 33; /* odd: half a pair is left */
    c.heads = 3;
    c.ff = 50;
    c.tied = 1;
    c.id_classes[0] = CLASSES;
    c.encoding = "relative";
    c.span = LG_SPAN_WINDOW;
    c.window_lo[0] = -4;
    c.window_hi[0] = 3;
    c.seed = 4;
    return c;
}

static lg_model_config sequential(void)
{
    lg_model_config c = neox();
    c.parallel = 0;
    c.attention = LG_ATTENTION_SSMAX;
    c.sink = 1;
    c.encoding = "alibi";
    return c;
}

static lg_model_config (*const models[])(void) = {neox, olmo, sequential};
enum { MODELS = sizeof models / sizeof *models };

static void fill(lg_batch *b)
{
    lg_rng r;
    lg_rng_init(&r, 1, 4, 0);
    lg_batch_init(b);
    for (int s = 0; s < 24; s++) {
        int32_t tokens[150], targets[150], id_targets[150];
        int n = s == 3 ? 150 : 1 + (int)lg_rng_below(&r, 40);
        for (int t = 0; t < n; t++) {
            tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
            targets[t] = lg_rng_below(&r, 3) ? (tokens[t] * 3 + 1) % VOCAB : LG_NONE;
            id_targets[t] = lg_rng_below(&r, 2) ? (int32_t)lg_rng_below(&r, CLASSES) : LG_NONE;
        }
        assert_int_equal(lg_batch_add(b, n, tokens, NULL, targets, id_targets, NULL), 0);
    }
}

/* All gradients, end to end, of a model that had a few steps of fp32. k NULL: the kernels in use. */
static float *gradients(const lg_model_config *c, const lg_batch *b, lg_precision precision,
                        const struct lg__kernels *k)
{
    lg_error err;
    lg_train_options o = lg_train_options_default();
    o.warmup = 0;
    lg_model *m = lg_model_new(c, &err);
    assert_non_null(m);
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    assert_non_null(t);
    for (int i = 0; i < 5; i++)
        if (lg_trainer_step(t, b, NULL, &err)) fail_msg("%s", err.text);
    lg_trainer_free(t);
    if (k) {
        m->k = k;
        lg_model_touch(m);
    }
    o.precision = precision;
    t = lg_trainer_new(m, &o, &err);
    assert_non_null(t);
    if (lg_trainer_gradients(t, b, NULL, &err)) fail_msg("%s", err.text);
    float *all = hold((size_t)lg_model_param_total(m) * sizeof *all), *to = all;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        size_t n = (size_t)p.rows * (size_t)p.cols;
        memcpy(to, lg_trainer_gradient(t, i), n * sizeof *to);
        to += n;
    }
    lg_trainer_free(t);
    lg_model_free(m);
    return all;
}

/* The largest |a - b| / |b| of a tensor (L2), of those whose gradient is not all rounding. */
static double distance(const lg_model_config *c, const float *a, const float *b)
{
    lg_model *m = lg_model_new(c, NULL);
    double worst = 0, all = 0;
    for (int64_t i = 0; i < lg_model_param_total(m); i++) all += (double)b[i] * (double)b[i];
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        double difference = 0, size = 0;
        for (int j = 0; j < p.rows * p.cols; j++, a++, b++) {
            difference += ((double)*a - (double)*b) * ((double)*a - (double)*b);
            size += (double)*b * (double)*b;
        }
        double share = sqrt(difference / (size + 1e-6 * all));
        if (getenv("LG_TEST_VERBOSE")) print_message("%-32s %.5f\n", p.name, share);
        if (share > worst) worst = share;
    }
    lg_model_free(m);
    return worst;
}

/* 2^-9 is the rounding of one number; a gradient goes through a few dozen of them in a row. */
static void gradients_are_those_of_fp32_but_for_the_rounding(void **state)
{
    (void)state;
    lg_batch b;
    fill(&b);
    for (int i = 0; i < MODELS; i++, release()) {
        lg_model_config c = models[i]();
        float *half = gradients(&c, &b, LG_PRECISION_BF16, NULL);
        double d = distance(&c, half, gradients(&c, &b, LG_PRECISION_FP32, NULL));
        if (!(d < 0.03)) fail_msg("model %d: %g", i, d);
        if (!(d > 1e-4)) fail_msg("model %d: %g: nothing was rounded", i, d);
    }
    lg_batch_clear(&b);
}

/* The order of sums differs, and that may tip the rounding of what comes next, but of few numbers. */
static void every_set_of_kernels_rounds_alike(void **state)
{
    (void)state;
    lg_batch b;
    fill(&b);
    for (int i = 0; i < MODELS; i++) {
        lg_model_config c = models[i]();
        for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++, release()) {
            float *own = gradients(&c, &b, LG_PRECISION_BF16, *k);
            double d = distance(&c, own, gradients(&c, &b, LG_PRECISION_BF16, &lg__naive32));
            if (!(d < 0.003)) fail_msg("model %d, %s: %g", i, (*k)->name, d);
        }
    }
    lg_batch_clear(&b);
}

static void a_number_is_rounded_to_the_nearest(void **state)
{
    (void)state;
    static const float cases[][2] = {
        {0x1p0f, 0x1p0f},
        {0x1.01p0f, 0x1.00p0f}, /* a tie, to the even one */
        {0x1.03p0f, 0x1.04p0f},
        {0x1.010002p0f, 0x1.02p0f},
        {-0x1.03p0f, -0x1.04p0f},
        {0x1.fffffep127f, INFINITY},
        {INFINITY, INFINITY},
        {-INFINITY, -INFINITY},
        {0x1p-126f, 0x1p-126f},
        {0x1.fffp-127f, 0.0f},
        {0x1.fep-126f, 0x1.fep-126f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lg__bf16(cases[i][0]) != cases[i][1])
            fail_msg("%a: %a", (double)cases[i][0], (double)lg__bf16(cases[i][0]));
    uint32_t all = 0x7fffffffu;
    float nan;
    memcpy(&nan, &all, sizeof nan);
    assert_true(isnan(lg__bf16(nan)));
    assert_true(signbit(lg__bf16(-0.0f)));
}

/* The kernels' own rounding, seen through a product with 1. */
static void kernels_round_as_the_function_does(void **state)
{
    (void)state;
    enum { N = 4096 };
    const float one = 1.0f;
    lg_rng r;
    lg_rng_init(&r, 9, 0, 0);
    float *x = hold(N * sizeof *x), *y = hold(N * sizeof *y);
    for (int i = 0; i < N; i++) {
        uint32_t u = lg_rng_u32(&r);
        if ((u & 0x7f800000u) == 0x7f800000u) u &= 0xbfffffffu; /* no NaN and infinity */
        if (i % 4 == 0) u = (u & 0xffff0000u) | 0x8000u;        /* a tie */
        if (i % 64 == 1) u &= 0x807fffffu;                      /* subnormal */
        memcpy(&x[i], &u, sizeof u);
        if (!isfinite(lg__bf16(x[i]))) x[i] = 1.0f;
    }
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        float *P = hold((*k)->half_pack_size(1, 1) * sizeof *P);
        (*k)->half_pack(P, &one, 1, 1, 1, 1);
        (*k)->half_gemm(y, 1, x, 1, P, NULL, N, 1, 1, 0);
        for (int i = 0; i < N; i++)
            if (y[i] != lg__bf16(x[i]))
                fail_msg("%s: %a: %a, not %a", (*k)->name, (double)x[i], (double)y[i],
                         (double)lg__bf16(x[i]));
    }
    release();
}

/* While it is trained, and after: the losses of the evaluator are those of a model that never saw a bf16. */
static void evaluation_is_in_fp32(void **state)
{
    (void)state;
    lg_batch b;
    lg_error err;
    lg_model_config c = neox();
    lg_train_options o = lg_train_options_default();
    fill(&b);
    o.precision = LG_PRECISION_BF16;
    lg_model *m = lg_model_new(&c, &err), *same = lg_model_new(&c, &err);
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    lg_evaluator *e = lg_evaluator_new(m, 1, &err), *f = lg_evaluator_new(same, 1, &err);
    assert_true(m && same && t && e && f);
    for (int i = 0; i < 3; i++) assert_int_equal(lg_trainer_step(t, &b, NULL, &err), 0);
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i), q = lg_model_param(same, i);
        memcpy(q.data, p.data, (size_t)p.rows * (size_t)p.cols * sizeof *p.data);
    }
    lg_model_touch(same);
    for (int pass = 0; pass < 2; pass++) {
        lg_eval_result r, s;
        assert_int_equal(lg_evaluator_run(e, &b, &r, &err), 0);
        assert_int_equal(lg_evaluator_run(f, &b, &s, &err), 0);
        assert_memory_equal(r.logits, s.logits, (size_t)r.rows * VOCAB * sizeof *r.logits);
        if (!pass) lg_trainer_free(t);
    }
    /* and what trains it next in fp32 finds all of its packed weights */
    float *next[2];
    lg_model *both[] = {m, same};
    for (int i = 0; i < 2; i++) {
        o.precision = LG_PRECISION_FP32;
        lg_trainer *u = lg_trainer_new(both[i], &o, &err);
        assert_non_null(u);
        assert_int_equal(lg_trainer_gradients(u, &b, NULL, &err), 0);
        lg_param p = lg_model_param(m, 0);
        next[i] = hold((size_t)p.rows * (size_t)p.cols * sizeof(float));
        memcpy(next[i], lg_trainer_gradient(u, 0), (size_t)p.rows * (size_t)p.cols * sizeof(float));
        lg_trainer_free(u);
    }
    lg_param p = lg_model_param(m, 0);
    assert_memory_equal(next[0], next[1], (size_t)p.rows * (size_t)p.cols * sizeof(float));
    lg_evaluator_free(e);
    lg_evaluator_free(f);
    lg_model_free(m);
    lg_model_free(same);
    lg_batch_clear(&b);
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_rounded_to_the_nearest),
        cmocka_unit_test(kernels_round_as_the_function_does),
        cmocka_unit_test(gradients_are_those_of_fp32_but_for_the_rounding),
        cmocka_unit_test(every_set_of_kernels_rounds_alike),
        cmocka_unit_test(evaluation_is_in_fp32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
