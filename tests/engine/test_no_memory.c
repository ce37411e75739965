/* test_no_memory.c: no memory, at each allocation in turn: the call says so, nothing is changed,
 * and tried again it gives the same bits. A step allocates nothing once one of its size was done.
 * Without it a full machine could leave half a step in the weights. Under ASan this is also the
 * leak test. */
#include "base/memory.h"
#include "engine/kinds.h"

static void check_memory_error(int code, const lg_error *err, const char *call, long n)
{
    if (code != LG_ERROR_MEMORY || err->code != LG_ERROR_MEMORY || !strstr(err->text, "memory"))
        fail_msg("%s without allocation %ld: code %d, '%s'", call, n, code, err->text);
}

static void no_memory_for_a_model(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++, release()) {
        lg_model_config c = kind_config(kind);
        lg_model *m = NULL, *whole = model_new(&c);
        long n = 0;
        for (; !m; n++) {
            lg_error err = {0};
            lg__alloc_fail_after(n);
            m = lg_model_new(&c, &err);
            lg__alloc_fail_after(-1);
            if (!m) check_memory_error(err.code, &err, "lg_model_new", n);
        }
        assert_true(n > 4); /* some failed */
        assert_true(params_are(m, params_copy(whole)));
        lg_model_free(m);
        lg_model_free(whole);
    }
}

static void no_memory_for_a_trainer(void **state)
{
    (void)state;
    lg_model *m = kind_new(0);
    float *before = params_copy(m);
    lg_train_options o = options();
    lg_trainer *t = NULL;
    long n = 0;
    for (; !t; n++) {
        lg_error err = {0};
        lg__alloc_fail_after(n);
        t = lg_trainer_new(m, &o, &err);
        lg__alloc_fail_after(-1);
        if (!t) check_memory_error(err.code, &err, "lg_trainer_new", n);
        assert_true(params_are(m, before));
    }
    assert_true(n > 7);
    lg_trainer_free(t);
    lg_model_free(m);
    release();
}

/* Two steps, the second with a larger batch, in which allocation n fails (n < 0: none). The
 * parameters after must be `want`; NULL: they are put there. Returns the number of failures. */
static int train_without(int kind, long n, float **want)
{
    lg_model *m = kind_new(kind);
    lg_trainer *t = trainer_new(m);
    lg_error err = {0};
    lg_batch b;
    lg_batch_init(&b);
    fill_long(&b, 3, 40, 1);
    assert_int_equal(lg_trainer_step(t, &b, NULL, &err), 0);
    fill_long(&b, 23, 140, 1);
    int held_before = held_count;
    float *before = params_copy(m);
    lg__alloc_fail_after(n);
    int code = lg_trainer_step(t, &b, NULL, &err);
    lg__alloc_fail_after(-1);
    if (code) {
        check_memory_error(code, &err, "lg_trainer_step", n);
        assert_true(params_are(m, before));
        if (lg_trainer_step(t, &b, NULL, &err)) fail_msg("tried again: %s", err.text);
    }
    while (held_count > held_before) free(held[--held_count]);
    if (!*want) *want = params_copy(m);
    assert_true(params_are(m, *want));
    lg_trainer_free(t);
    lg_model_free(m);
    lg_batch_clear(&b);
    return code != 0;
}

static void no_memory_for_a_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++, release()) {
        float *want = NULL;
        long n = 0;
        assert_int_equal(train_without(kind, -1, &want), 0);
        while (train_without(kind, n, &want)) n++;
        assert_true(n > 2); /* some failed */
    }
}

/* A new evaluator and one evaluation; what fails is tried again. Returns whether one did. */
static int evaluate_without(const lg_model *m, const lg_batch *b, long n, float *logits)
{
    lg_error err = {0};
    lg_eval_result r;
    int failures = 0, code;
    lg__alloc_fail_after(n);
    lg_evaluator *e = lg_evaluator_new(m, 3, &err);
    if (!e) {
        check_memory_error(err.code, &err, "lg_evaluator_new", n);
        failures++;
        e = lg_evaluator_new(m, 3, &err);
    }
    if ((code = lg_evaluator_run(e, b, &r, &err))) {
        check_memory_error(code, &err, "lg_evaluator_run", n);
        failures++;
        if (lg_evaluator_run(e, b, &r, &err)) fail_msg("tried again: %s", err.text);
    }
    lg__alloc_fail_after(-1);
    assert_int_equal(r.rows, b->rows);
    memcpy(logits, r.logits, (size_t)(r.rows * VOCAB) * sizeof *logits);
    lg_evaluator_free(e);
    return failures;
}

static void no_memory_for_an_evaluation(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++, release()) {
        lg_model *m = kind_new(kind);
        lg_batch b;
        lg_batch_init(&b);
        fill_long(&b, 3, 200, 1);
        size_t bytes = (size_t)(b.rows * VOCAB) * sizeof(float);
        float *before = params_copy(m), *want = hold(bytes), *got = hold(bytes);
        assert_int_equal(evaluate_without(m, &b, -1, want), 0);
        long n = 0;
        for (; evaluate_without(m, &b, n, got); n++) assert_memory_equal(got, want, bytes);
        assert_true(n > 10);
        assert_true(params_are(m, before));
        lg_batch_clear(&b);
        lg_model_free(m);
    }
}

/* Prompts, then 200 tokens; whatever fails is tried again. Returns the number of failures. */
static int decode_without(const lg_model *m, long n, float *logits)
{
    lg_error err = {0};
    lg_batch b;
    lg_batch_init(&b);
    fill_long(&b, 2, 130, 1);
    int failures = 0, code;
    lg__alloc_fail_after(n);
    lg_decoder *d = lg_decoder_new(m, 2, &err);
    if (!d) {
        check_memory_error(err.code, &err, "lg_decoder_new", n);
        failures++;
        d = lg_decoder_new(m, 2, &err);
    }
    if ((code = lg_decoder_start(d, &b, &err))) {
        check_memory_error(code, &err, "lg_decoder_start", n);
        failures++;
        /* Half-read prompts are no place to go on from. */
        assert_int_equal(lg_decoder_step(d, (int32_t[]){0, 0}, (int32_t[]){0, 0}, &err),
                         LG_ERROR_ARGUMENT);
        if (lg_decoder_start(d, &b, &err)) fail_msg("tried again: %s", err.text);
    }
    for (int t = 0; t < 200; t++) {
        int32_t tokens[] = {t % VOCAB, t % 5 ? (t + 1) % VOCAB : LG_NONE};
        int32_t ids[] = {130 + t, 130 + t};
        if ((code = lg_decoder_step(d, tokens, ids, &err))) {
            check_memory_error(code, &err, "lg_decoder_step", n);
            failures++;
            assert_int_equal(lg_decoder_length(d, 0), 130 + t);
            if (lg_decoder_step(d, tokens, ids, &err)) fail_msg("tried again: %s", err.text);
        }
    }
    lg__alloc_fail_after(-1);
    for (int s = 0; s < 2; s++)
        memcpy(logits + s * VOCAB, lg_decoder_logits(d, s), VOCAB * sizeof *logits);
    lg_decoder_free(d);
    lg_batch_clear(&b);
    return failures;
}

static void no_memory_for_a_decoder(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++, release()) {
        lg_model *m = kind_new(kind);
        float *before = params_copy(m), want[2 * VOCAB], got[2 * VOCAB];
        assert_int_equal(decode_without(m, -1, want), 0);
        long n = 0;
        for (int failures = 1; failures; n++) {
            failures = decode_without(m, n, got);
            if (memcmp(got, want, sizeof got) != 0)
                fail_msg("%s: without allocation %ld the logits are others", kinds[kind].name, n);
        }
        assert_true(n > 20);
        assert_true(params_are(m, before));
        lg_model_free(m);
    }
}

/* Allocation inside a step costs time and, on a full machine, the run. */
static void no_allocation_in_a_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        lg_model *m = kind_new(kind);
        lg_trainer *t = trainer_new(m);
        lg_evaluator *e = lg_evaluator_new(m, 2, NULL);
        lg_eval_result r;
        lg_batch b;
        lg_batch_init(&b);
        fill_long(&b, 12, 150, 0);
        long start = lg__alloc_count();
        assert_int_equal(lg_trainer_step(t, &b, NULL, NULL), 0);
        assert_int_equal(lg_evaluator_run(e, &b, &r, NULL), 0);
        long first = lg__alloc_count();
        assert_true(first > start); /* they are counted */
        for (uint64_t step = 1; step < 6; step++) {
            /* the same shape, and a smaller one */
            fill_long(&b, step == 4 ? 5 : 12, step == 4 ? 77 : 150, step);
            assert_int_equal(lg_trainer_step(t, &b, NULL, NULL), 0);
            assert_int_equal(lg_evaluator_run(e, &b, &r, NULL), 0);
        }
        if (lg__alloc_count() != first)
            fail_msg("%s: %ld allocations in the steps after the first", kinds[kind].name,
                     lg__alloc_count() - first);
        lg_trainer_free(t);
        lg_evaluator_free(e);
        lg_batch_clear(&b);
        lg_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_a_model),   cmocka_unit_test(no_memory_for_a_trainer),
        cmocka_unit_test(no_memory_for_a_step),    cmocka_unit_test(no_memory_for_an_evaluation),
        cmocka_unit_test(no_memory_for_a_decoder), cmocka_unit_test(no_allocation_in_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
