/* test_model_kernels.c: which kernels a model uses is the model's: several in one process, each with
 * its own. */
#include <math.h>

#include "engine/helper.h"

static lg_model_config config(const char *isa)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 11, c.width = 24, c.heads = 2, c.seed = 3, c.isa = isa;
    return c;
}

static lg_model *model(const char *isa)
{
    lg_model_config c = config(isa);
    lg_error err = {0};
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

enum { TOKENS = 40, STEPS = 4 };

static void fill(lg_batch *b)
{
    int32_t token[TOKENS], id[TOKENS], target[TOKENS];
    for (int i = 0; i < TOKENS; i++) token[i] = 7 * i % 11, id[i] = i, target[i] = 3 * i % 11;
    lg_batch_init(b);
    assert_int_equal(lg_batch_add(b, TOKENS, token, id, target, NULL, NULL), 0);
}

static lg_trainer *trainer(lg_model *m)
{
    lg_train_options o = lg_train_options_default();
    o.steps = STEPS, o.warmup = 1, o.lr = 1e-3, o.threads = 1;
    lg_trainer *t = lg_trainer_new(m, &o, NULL);
    assert_non_null(t);
    return t;
}

/* How far the weights of two models lie apart at most. */
static double apart(const lg_model *a, const lg_model *b)
{
    double most = 0;
    for (int i = 0; i < lg_model_param_count(a); i++) {
        lg_param p = lg_model_param(a, i), q = lg_model_param(b, i);
        for (int j = 0; j < p.rows * p.cols; j++)
            most = fmax(most, fabs((double)p.data[j] - q.data[j]));
    }
    return most;
}

static void a_model_names_its_kernels(void **state)
{
    (void)state;
    lg_model *m = model(NULL);
    assert_string_equal(lg_model_isa(m), lg_isa());
    lg_model_free(m);
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++) {
        m = model((*k)->name);
        assert_string_equal(lg_model_isa(m), (*k)->name);
        assert_string_equal(lg_model_get_config(m)->isa, (*k)->name);
        lg_model_free(m);
        /* "wide" is a build of the tests. */
        if (strcmp((*k)->name, "wide") != 0 && !strstr(LG_ISAS, (*k)->name))
            fail_msg("LG_ISAS does not have %s", (*k)->name);
    }
    assert_string_equal(lg_isa(), lg__kernels_get()->name);
}

static void unknown_kernels_are_refused(void **state)
{
    (void)state;
    lg_model_config c = config("sse9");
    lg_error err = {0};
    assert_null(lg_model_new(&c, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    assert_string_equal(err.key, "isa");
    assert_non_null(strstr(err.text, "\"sse9\""));
    assert_non_null(strstr(err.text, LG_ISAS));
}

/* Models with different kernels that are trained in turns end with the bits that each has alone. */
static void models_do_not_share_kernels(void **state)
{
    (void)state;
    static const char *const isa[2] = {"c", "naive"};
    lg_model *alone[2], *turns[2];
    lg_trainer *t[2];
    lg_batch b;
    fill(&b);
    for (int i = 0; i < 2; i++) {
        alone[i] = model(isa[i]);
        lg_trainer *own = trainer(alone[i]);
        for (int step = 0; step < STEPS; step++)
            assert_int_equal(lg_trainer_step(own, &b, NULL, NULL), 0);
        lg_trainer_free(own);
        turns[i] = model(isa[i]);
        t[i] = trainer(turns[i]);
    }
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < 2; i++) assert_int_equal(lg_trainer_step(t[i], &b, NULL, NULL), 0);
    for (int i = 0; i < 2; i++) assert_true(apart(alone[i], turns[i]) == 0);
    double other = apart(turns[0], turns[1]);
    assert_true(other > 0 && other < 1e-4); /* the same training, by other sums */
    for (int i = 0; i < 2; i++) {
        lg_trainer_free(t[i]);
        lg_model_free(alone[i]);
        lg_model_free(turns[i]);
    }
    lg_batch_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_names_its_kernels),
        cmocka_unit_test(unknown_kernels_are_refused),
        cmocka_unit_test(models_do_not_share_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
