/* test_errors.c: what cannot be is refused with a sentence that names it, and nothing is changed:
 * bad shapes and options, tokens and targets out of range, empty batches, NaN in the weights, bad
 * calls of a decoder. Without it a batch could be read past its end, or one NaN spread through a
 * run that looks sound. */
#include "engine/kinds.h"

/* ---- Refused values --------------------------------------------------------------- */

/* A field of a struct and values that it must not have: 'i' an int or enum, 'd' a double, 's' a
 * string. The sentence must have the field's name and the value in it. */
struct refused {
    const char *field;
    size_t at;
    char kind;
    const char *values[4];
};

#define FIELD(name, kind) #name, offsetof(TYPE, name), kind
#define TYPE lg_model_config
static const struct refused bad_shapes[] = {
    {FIELD(arch, 'i'), {"3"}},
    {FIELD(loops, 'i'), {"0", "2", "1001"}}, /* 2: not of arch neox */
    {FIELD(inject, 'i'), {"1", "2"}},
    {FIELD(vocab, 'i'), {"0", "-3", "16777217"}},
    {FIELD(layers, 'i'), {"0", "1001"}},
    {FIELD(width, 'i'), {"0", "-8", "65537", "25"}}, /* 25: not a multiple of 2 heads */
    {FIELD(heads, 'i'), {"0", "-1", "5", "1025"}},
    {FIELD(ff, 'i'), {"-1", "262145"}},
    {FIELD(norm, 'i'), {"3"}},
    {FIELD(act, 'i'), {"9"}},
    {FIELD(span, 'i'), {"2"}},
    {FIELD(attention, 'i'), {"3"}},
    {FIELD(id_classes, 'i'), {"-2", "16777217"}},
    {FIELD(window_lo, 'i'), {"1", "-1048577"}},
    {FIELD(window_hi, 'i'), {"-1", "1048577"}},
    {FIELD(norm_eps, 'd'), {"0", "1e-46", "1", "nan"}},
    {FIELD(rope_share, 'd'), {"-0.5", "1.25", "nan"}},
    {FIELD(rope_base, 'd'), {"0", "1", "inf", "nan"}},
    {FIELD(encoding, 's'), {"sinus", ""}},
};
#undef TYPE
#define TYPE lg_train_options
static const struct refused bad_options[] = {
    {FIELD(steps, 'i'), {"0", "-7"}},
    {FIELD(lr, 'd'), {"-0.001", "nan", "inf"}},
    {FIELD(min_lr_ratio, 'd'), {"-0.1", "1.5"}},
    {FIELD(warmup, 'i'), {"-1"}},
    {FIELD(cooldown, 'i'), {"-1", "1001"}}, /* of 1000 steps */
    {FIELD(schedule, 'i'), {"3"}},
    {FIELD(weight_decay, 'd'), {"-0.1", "nan"}},
    {FIELD(beta1, 'd'), {"1", "-0.1", "nan"}},
    {FIELD(beta2, 'd'), {"1", "-0.1"}},
    {FIELD(eps, 'd'), {"0", "nan"}},
    {FIELD(grad_clip, 'd'), {"-1", "nan"}},
    {FIELD(id_weight, 'd'), {"-2", "nan"}},
    {FIELD(groups, 'i'), {"0", "3", "-8", "2048"}},
    {FIELD(threads, 'i'), {"-1", "1025"}},
};
#undef TYPE

static void put(void *base, const struct refused *f, const char *value)
{
    char *to = (char *)base + f->at;
    double d = strtod(value, NULL);
    int i = f->kind == 'i' ? (int)d : 0;
    if (f->kind == 'i') memcpy(to, &i, sizeof i);
    if (f->kind == 'd') memcpy(to, &d, sizeof d);
    if (f->kind == 's') memcpy(to, &value, sizeof value);
}

static void check_sentence(const struct refused *f, const char *value, int made,
                           const lg_error *err)
{
    if (made || err->code != LG_ERROR_ARGUMENT || !strstr(err->text, f->field) ||
        !strstr(err->text, value))
        fail_msg("%s = %s: code %d, '%s'", f->field, value, err->code, err->text);
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_shapes / sizeof *bad_shapes; i++)
        for (int v = 0; v < 4 && bad_shapes[i].values[v]; v++) {
            lg_model_config c = kind_config(0);
            lg_error err = {0};
            put(&c, &bad_shapes[i], bad_shapes[i].values[v]);
            lg_model *m = lg_model_new(&c, &err);
            check_sentence(&bad_shapes[i], bad_shapes[i].values[v], m != NULL, &err);
            assert_null(lg_model_new(&c, NULL)); /* err may be NULL */
        }
    lg_model_config c = kind_config(1);
    lg_error err = {0};
    c.levels = 3; /* 2^63 combinations and more: counted with care */
    for (int l = 0; l < 3; l++) c.window_lo[l] = -1048576, c.window_hi[l] = 1048576;
    assert_null(lg_model_new(&c, &err));
    assert_non_null(strstr(err.text, "make them narrower"));
    c = kind_config(0);
    c.encoding = NULL;
    assert_null(lg_model_new(&c, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    c.encoding = "none"; /* where nothing is turned, the numbers of rope do not matter */
    c.rope_base = -1;
    lg_model_free(model_new(&c));
    lg_model_free(NULL);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    lg_model *m = kind_new(0);
    for (size_t i = 0; i < sizeof bad_options / sizeof *bad_options; i++)
        for (int v = 0; v < 4 && bad_options[i].values[v]; v++) {
            lg_train_options o = options();
            lg_error err = {0};
            put(&o, &bad_options[i], bad_options[i].values[v]);
            lg_trainer *t = lg_trainer_new(m, &o, &err);
            check_sentence(&bad_options[i], bad_options[i].values[v], t != NULL, &err);
            assert_null(lg_trainer_new(m, &o, NULL));
        }
    lg_error err = {0};
    assert_null(lg_evaluator_new(m, -1, &err));
    assert_non_null(strstr(err.text, "-1"));
    assert_null(lg_evaluator_new(m, 5000, &err));
    assert_non_null(strstr(err.text, "5000"));
    assert_null(lg_decoder_new(m, 0, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    assert_null(lg_decoder_new(m, -4, &err));
    assert_non_null(strstr(err.text, "-4"));
    lg_trainer_free(NULL);
    lg_evaluator_free(NULL);
    lg_decoder_free(NULL);
    lg_model_free(m);
}

/* ---- Batches that the model cannot take ----------------------------------------------- */

/* Sequences of 3, 5 and 4 tokens with targets of both kinds. */
static void fill(lg_batch *b, uint64_t seed)
{
    lg_rng r;
    lg_rng_init(&r, seed, 2, 0);
    lg_batch_reset(b);
    for (int s = 0; s < 3; s++) {
        int n = s == 0 ? 3 : s == 1 ? 5 : 4;
        int32_t tokens[5], targets[5], id_targets[5];
        for (int t = 0; t < n; t++) {
            /* every token of the vocabulary is in the batch */
            tokens[t] = t + s * 3 < VOCAB ? t + s * 3 : (int32_t)lg_rng_below(&r, VOCAB);
            targets[t] = (int32_t)lg_rng_below(&r, VOCAB);
            id_targets[t] = t % 2 ? LG_NONE : (int32_t)lg_rng_below(&r, CLASSES);
        }
        assert_int_equal(lg_batch_add(b, n, tokens, NULL, targets, id_targets, NULL), 0);
    }
}

/* The four calls that take a batch. */
struct callers {
    lg_model *m;
    lg_trainer *t;
    lg_evaluator *e;
    lg_decoder *d;
    float *before;
};

static struct callers callers_new(const lg_model_config *c)
{
    struct callers k = {.m = model_new(c)};
    k.t = trainer_new(k.m);
    k.e = lg_evaluator_new(k.m, 2, NULL);
    k.d = lg_decoder_new(k.m, 3, NULL);
    k.before = params_copy(k.m);
    return k;
}

static void callers_free(struct callers *k)
{
    lg_trainer_free(k->t);
    lg_evaluator_free(k->e);
    lg_decoder_free(k->d);
    lg_model_free(k->m);
    release();
}

/* All calls refuse the batch, and each sentence has all of these in it. */
static void check_refused(struct callers *k, const lg_batch *b, const char *where, const char *what,
                          const char *value)
{
    for (int call = 0; call < 4; call++) {
        lg_error err = {0};
        lg_train_result tr;
        lg_eval_result er;
        int code = call == 0   ? lg_trainer_step(k->t, b, &tr, &err)
                   : call == 1 ? lg_trainer_gradients(k->t, b, &tr, &err)
                   : call == 2 ? lg_evaluator_run(k->e, b, &er, &err)
                               : lg_decoder_start(k->d, b, &err);
        if (code != LG_ERROR_ARGUMENT || err.code != code || !strstr(err.text, where) ||
            !strstr(err.text, what) || !strstr(err.text, value))
            fail_msg("call %d: code %d, '%s'; want %s, %s, %s", call, code, err.text, where, what,
                     value);
    }
    assert_int_equal(lg_trainer_step(k->t, b, NULL, NULL), LG_ERROR_ARGUMENT);
    assert_true(params_are(k->m, k->before));
}

static void values_out_of_range_are_named(void **state)
{
    (void)state;
    lg_model_config c = kind_config(0);
    struct callers k = callers_new(&c);
    const struct {
        int32_t value;
        const char *text, *what;
        int column; /* tokens, ids, targets, id_targets */
    } bad[] = {
        {VOCAB, "6", "token", 0},   {1000000, "1000000", "token", 0},
        {-5, "-5", "token", 0},     {LG_NONE, "-1", "token", 0},
        {-3, "-3", "ID", 1},        {VOCAB, "6", "target", 2},
        {-2, "-2", "target", 2},    {CLASSES, "4", "ID target", 3},
        {77, "77", "ID target", 3}, {-2, "-2", "ID target", 3},
    };
    lg_batch b;
    lg_batch_init(&b);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fill(&b, i);
        int32_t *column[] = {b.tokens, b.ids[0], b.targets, b.id_targets[0]};
        column[bad[i].column][b.offsets[1] + 2] = bad[i].value;
        check_refused(&k, &b, "sequence 1, position 2", bad[i].what, bad[i].text);
    }
    /* and the batch as it should be is taken */
    fill(&b, 1);
    lg_error err;
    lg_train_result r;
    if (lg_trainer_step(k.t, &b, &r, &err)) fail_msg("%s", err.text);
    assert_int_equal(r.step, 1);
    lg_batch_clear(&b);
    callers_free(&k);
}

static void an_id_target_needs_an_id_head(void **state)
{
    (void)state;
    lg_model_config c = kind_config(0);
    c.id_classes[0] = 0;
    struct callers k = callers_new(&c);
    lg_batch b;
    lg_batch_init(&b);
    fill(&b, 1);
    for (int i = 0; i < b.rows; i++)
        if (i != b.offsets[2] + 2) b.id_targets[0][i] = LG_NONE;
    check_refused(&k, &b, "sequence 2, position 2", "ID target", "id_classes");
    lg_batch_clear(&b);
    callers_free(&k);
}

static void empty_batches_and_no_targets(void **state)
{
    (void)state;
    lg_model_config c = kind_config(0);
    struct callers k = callers_new(&c);
    lg_error err = {0};
    lg_batch b;
    lg_batch_init(&b);
    check_refused(&k, &b, "batch", "no sequences", "lg_batch_add");
    fill(&b, 1);
    lg_batch_reset(&b);
    check_refused(&k, &b, "batch", "no sequences", "lg_batch_add");

    fill(&b, 1);
    for (int i = 0; i < b.rows; i++) b.targets[i] = b.id_targets[0][i] = LG_NONE;
    assert_int_equal(lg_trainer_step(k.t, &b, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "no targets"));
    assert_int_equal(lg_trainer_gradients(k.t, &b, NULL, &err), LG_ERROR_ARGUMENT);
    assert_true(params_are(k.m, k.before));
    /* an evaluation without targets is one of no rows; a decoder looks at none */
    lg_eval_result r;
    assert_int_equal(lg_evaluator_run(k.e, &b, &r, &err), 0);
    assert_int_equal(r.rows + r.targets + r.right + r.id_targets + r.id_right, 0);
    assert_true(r.loss == 0 && r.id_loss == 0);
    assert_int_equal(lg_decoder_start(k.d, &b, &err), 0);
    lg_batch_clear(&b);
    callers_free(&k);
}

/* ---- NaN ----------------------------------------------------------------------------------- */

/* The parameters after 6 steps (spoil -2: after 5); with `spoil` >= 0, before the fourth step one number of that
 * tensor is made `value`, the step is tried, and the number is mended. */
static float *six_steps(int kind, int spoil, float value)
{
    lg_model *m = kind_new(kind);
    lg_trainer *t = trainer_new(m);
    lg_error err = {0};
    lg_train_result r;
    lg_batch b;
    lg_batch_init(&b);
    for (int step = 0; step < 6 - (spoil == -2); step++) {
        fill(&b, (uint64_t)step);
        if (step == 3 && spoil >= 0) {
            lg_param p = lg_model_param(m, spoil);
            float *x = p.data + p.rows * p.cols / 2, old = *x;
            *x = value;
            lg_model_touch(m);
            float *before = params_copy(m);
            for (int call = 0; call < 2; call++) {
                int code =
                    call ? lg_trainer_step(t, &b, &r, &err) : lg_trainer_gradients(t, &b, &r, &err);
                if (code != LG_ERROR_NUMERIC || !strstr(err.text, "step 4"))
                    fail_msg("%s: %s[%d] = %g: code %d (%s), loss %g, norm %g", kinds[kind].name,
                             p.name, p.rows * p.cols / 2, (double)value, code,
                             code ? err.text : "no error", r.loss, r.grad_norm);
            }
            assert_true(params_are(m, before));
            *x = old;
            lg_model_touch(m);
        }
        if (lg_trainer_step(t, &b, &r, &err)) fail_msg("%s: %s", kinds[kind].name, err.text);
        assert_int_equal(r.step, step + 1);
    }
    float *after = params_copy(m);
    lg_trainer_free(t);
    lg_model_free(m);
    lg_batch_clear(&b);
    return after;
}

/* Without this, one NaN would spread into all weights and moments, and the run would be lost
 * long before anybody looks. */
static void nan_changes_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++, release()) {
        lg_model *m = kind_new(kind);
        size_t bytes = (size_t)lg_model_param_total(m) * sizeof(float);
        int last = lg_model_param_count(m) - 1;
        lg_model_free(m);
        float *clean = six_steps(kind, -1, 0);
        assert_memory_equal(six_steps(kind, 0, NAN), clean, bytes);
        assert_memory_equal(six_steps(kind, 0, INFINITY), clean, bytes);
        assert_memory_equal(six_steps(kind, last, NAN), clean, bytes);
        /* and a step does change something */
        assert_memory_not_equal(six_steps(kind, -2, 0), clean, bytes);
    }
}

/* In any tensor, at any of three places: no kernel may swallow a NaN (a maximum, or a
 * comparison, easily does), since the loss would then look sound. */
static void nan_is_told_wherever_it_is(void **state)
{
    (void)state;
    int missed = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        lg_model *m = kind_new(kind);
        lg_trainer *t = trainer_new(m);
        lg_batch b;
        lg_batch_init(&b);
        fill(&b, 1);
        for (int i = 0; i < lg_model_param_count(m); i++)
            for (int place = 0; place < 3; place++) {
                lg_param p = lg_model_param(m, i);
                int at = (p.rows * p.cols - 1) * place / 2;
                float old = p.data[at];
                lg_error err = {0};
                lg_train_result r;
                p.data[at] = NAN;
                lg_model_touch(m);
                int code = lg_trainer_gradients(t, &b, &r, &err);
                if (code != LG_ERROR_NUMERIC) {
                    fprintf(stderr, "%s: %s[%d] is NaN: code %d, loss %g, gradient norm %g\n",
                            kinds[kind].name, p.name, at, code, r.loss, r.grad_norm);
                    missed++;
                }
                p.data[at] = old;
            }
        lg_model_touch(m);
        assert_int_equal(lg_trainer_gradients(t, &b, NULL, NULL), 0); /* mended, all is well */
        lg_trainer_free(t);
        lg_model_free(m);
        lg_batch_clear(&b);
    }
    assert_int_equal(missed, 0);
}

/* ---- The decoder ------------------------------------------------------------------------ */

/* The logits after 20 steps of two sequences; with `disturb`, all kinds of bad calls between. */
static void decode_disturbed(const lg_model *m, int disturb, float *logits)
{
    lg_error err = {0};
    lg_batch b, bad;
    lg_batch_init(&b);
    lg_batch_init(&bad);
    lg_decoder *d = lg_decoder_new(m, 2, &err);
    const int32_t none[] = {LG_NONE, LG_NONE}, zero[] = {0, 0};
    if (disturb) {
        assert_int_equal(lg_decoder_step(d, zero, zero, &err), LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, "lg_decoder_start"));
    }
    fill_long(&b, 2, 10, 1);
    assert_int_equal(lg_decoder_start(d, &b, &err), 0);
    for (int t = 0; t < 20; t++) {
        int32_t tokens[] = {t % VOCAB, (t + 1) % VOCAB}, ids[] = {10 + t, 10 + t};
        if (disturb) {
            int32_t wrong[] = {t % VOCAB, VOCAB + t};
            const int32_t negative[] = {0, -9};
            float held_logits[VOCAB];
            memcpy(held_logits, lg_decoder_logits(d, 0), sizeof held_logits);
            /* the second is wrong: the first must not have been read either */
            assert_int_equal(lg_decoder_step(d, wrong, ids, &err), LG_ERROR_ARGUMENT);
            char value[32];
            snprintf(value, sizeof value, "token %d", VOCAB + t);
            assert_non_null(strstr(err.text, value));
            assert_int_equal(lg_decoder_step(d, tokens, negative, &err), LG_ERROR_ARGUMENT);
            assert_non_null(strstr(err.text, "-9"));
            wrong[1] = -2;
            assert_int_equal(lg_decoder_step(d, wrong, ids, NULL), LG_ERROR_ARGUMENT);
            assert_int_equal(lg_decoder_step(d, none, zero, &err), 0); /* nothing to read */
            fill_long(&bad, 3, 4, 1);
            assert_int_equal(lg_decoder_start(d, &bad, &err), LG_ERROR_ARGUMENT);
            assert_non_null(strstr(err.text, "3"));
            fill_long(&bad, 2, 4, 1);
            bad.tokens[6] = VOCAB;
            assert_int_equal(lg_decoder_start(d, &bad, &err), LG_ERROR_ARGUMENT);
            assert_int_equal(lg_decoder_length(d, 0), 10 + t);
            assert_int_equal(lg_decoder_length(d, 1), 10 + t);
            assert_memory_equal(held_logits, lg_decoder_logits(d, 0), sizeof held_logits);
        }
        if (lg_decoder_step(d, tokens, ids, &err)) fail_msg("%s", err.text);
    }
    for (int s = 0; s < 2; s++)
        memcpy(logits + s * VOCAB, lg_decoder_logits(d, s), VOCAB * sizeof *logits);
    lg_decoder_free(d);
    lg_batch_clear(&b);
    lg_batch_clear(&bad);
}

static void a_decoder_goes_on_after_an_error(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        lg_model *m = kind_new(kind);
        float want[2 * VOCAB], got[2 * VOCAB];
        decode_disturbed(m, 0, want);
        decode_disturbed(m, 1, got);
        assert_memory_equal(got, want, sizeof got);
        lg_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(values_out_of_range_are_named),
        cmocka_unit_test(an_id_target_needs_an_id_head),
        cmocka_unit_test(empty_batches_and_no_targets),
        cmocka_unit_test(nan_changes_nothing),
        cmocka_unit_test(nan_is_told_wherever_it_is),
        cmocka_unit_test(a_decoder_goes_on_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
