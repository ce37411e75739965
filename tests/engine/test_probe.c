/* test_probe.c: what the probe asks of the engine. A sequence that shares its beginning with
 * another must have the bits that it has as a whole one, whatever the span, encoding and scores and
 * wherever it parts (in, at and beside the blocks of 128 keys); losses without logits must be those
 * of the logits; and the gradients of the inputs must be those that the embedding sums up. Without
 * this a probe would tell of another model than the one that was trained. */
#include "engine/helper.h"

enum { LENGTH = 300, CONFIGS = 2 * 2 * 4 * 3 };

static const char *const encodings[] = {"none", "rope", "relative", "alibi"};
/* Token that is left out; the next one is the first of the tail. */
static const int parts[] = {1, 2, 23, 24, 126, 127, 128, 129, 200, 255, 256, 257, 297, 298};
enum { PARTS = sizeof parts / sizeof *parts };

static lg_model *model_of(int i)
{
    lg_error err;
    lg_model_config c = lg_model_config_default(i % 2 ? LG_ARCH_OLMO : LG_ARCH_NEOX);
    c.span = i / 2 % 2 ? LG_SPAN_WINDOW : LG_SPAN_FULL;
    c.encoding = encodings[i / 4 % 4];
    c.attention = (lg_attention)(i / 16 % 3);
    c.layers = 3;
    c.width = 24;
    c.heads = 3;
    c.vocab = 19;
    c.window_lo[0] = -20;
    c.window_hi[0] = 2;
    c.sink = i % 3 == 1;
    c.seed = (uint64_t)i + 1;
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("config %d: %s", i, err.text);
    lg_rng r;
    lg_rng_init(&r, c.seed, 7, 0);
    for (int k = 0; k < lg_model_param_count(m); k++) { /* attention far from even */
        lg_param p = lg_model_param(m, k);
        for (int j = 0; j < p.rows * p.cols; j++)
            p.data[j] += (float)((p.decay ? 1.5 / sqrt((double)p.cols) : 0.3) * lg_rng_normal(&r));
    }
    lg_model_touch(m);
    return m;
}

struct text {
    int32_t token[LENGTH], id[LENGTH], target[LENGTH];
};

static struct text text_of(int i)
{
    struct text x;
    lg_rng r;
    lg_rng_init(&r, 5, 8, (uint64_t)i);
    for (int t = 0; t < LENGTH; t++) {
        x.token[t] = (int32_t)lg_rng_below(&r, 19);
        x.id[t] = i % 5 == 2 ? (t * 7) % 90 : t; /* IDs that come again */
        x.target[t] = lg_rng_below(&r, 4) ? (int32_t)lg_rng_below(&r, 19) : LG_NONE;
    }
    return x;
}

static void add(lg_batch *b, const struct text *x, int from, int n, const int32_t *target)
{
    lg_error err;
    if (lg_batch_add(b, n, x->token + from, x->id + from, target, NULL, &err))
        fail_msg("%s", err.text);
}

/* The text without token j: as a whole, its predictions behind j wanted; or what follows j. */
static void add_without(lg_batch *b, const struct text *x, int j, int whole)
{
    struct text y = *x;
    if (!whole) {
        add(b, x, j + 1, LENGTH - j - 1, x->target + j + 1);
        return;
    }
    for (int t = 0; t < LENGTH - 1; t++) {
        int from = t < j ? t : t + 1;
        y.token[t] = x->token[from];
        y.id[t] = x->id[from];
        y.target[t] = t < j ? LG_NONE : x->target[from];
    }
    add(b, &y, 0, LENGTH - 1, y.target);
}

static void compare(int i, const lg_batch *whole, const lg_batch *tails, const int *shared,
                    int threads)
{
    lg_model *m = model_of(i);
    lg_error err;
    lg_evaluator *a = lg_evaluator_new(m, threads, &err), *b = lg_evaluator_new(m, 2, &err);
    lg_eval_losses x, y;
    lg_eval_result r;
    assert_true(a && b);
    if (lg_evaluator_losses(a, whole, NULL, &x, &err)) fail_msg("config %d: %s", i, err.text);
    if (lg_evaluator_losses(b, tails, shared, &y, &err)) fail_msg("config %d: %s", i, err.text);
    assert_int_equal(x.rows, y.rows);
    assert_true(x.rows > 500);
    for (int k = 0; k < x.rows; k++)
        if (memcmp(&x.loss[k], &y.loss[k], sizeof(float)) != 0)
            fail_msg("config %d, row %d: %.9g as a whole, %.9g after a shared beginning", i, k,
                     (double)x.loss[k], (double)y.loss[k]);
    float *loss = hold((size_t)x.rows * sizeof *loss);
    memcpy(loss, x.loss, (size_t)x.rows * sizeof *loss);
    if (lg_evaluator_run(a, whole, &r, &err)) fail_msg("config %d: %s", i, err.text);
    assert_int_equal(r.rows, x.rows);
    for (int k = 0; k < r.rows; k++) {
        const float *z = r.logits + 19 * k;
        double sum = 0;
        for (int v = 0; v < 19; v++) sum += exp((double)z[v]);
        double want = log(sum) - (double)z[whole->targets[r.row[k]]];
        assert_true(fabs(want - (double)loss[k]) < 1e-4 * (1 + fabs(want)));
    }
    lg_evaluator_free(a);
    lg_evaluator_free(b);
    lg_model_free(m);
}

static void a_shared_beginning_changes_no_bit(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i++) {
        struct text x = text_of(i);
        lg_batch whole, tails;
        int shared[PARTS + 1] = {0}, n = 1;
        lg_batch_init(&whole);
        lg_batch_init(&tails);
        add(&whole, &x, 0, LENGTH, x.target);
        add(&tails, &x, 0, LENGTH, x.target);
        for (int k = i % 3; k < PARTS; k += 3) { /* each with a third of the configs */
            shared[n++] = parts[k];
            add_without(&whole, &x, parts[k], 1);
            add_without(&tails, &x, parts[k], 0);
        }
        compare(i, &whole, &tails, shared, 1 + i % 3);
        lg_batch_clear(&whole);
        lg_batch_clear(&tails);
        release();
    }
}

static void what_cannot_be_shared_is_refused(void **state)
{
    (void)state;
    struct text x = text_of(0);
    lg_model *m = model_of(0);
    lg_error err;
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    lg_eval_losses r;
    lg_batch b;
    lg_batch_init(&b);
    add(&b, &x, 0, 10, NULL);
    add(&b, &x, 5, 10, x.target);
    int shared[2] = {0, 11};
    assert_int_equal(lg_evaluator_losses(e, &b, shared, &r, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "0 to 10"));
    shared[1] = 10;
    assert_int_equal(lg_evaluator_losses(e, &b, shared, &r, &err), 0);
    shared[0] = 1; /* sequence 0 has nothing before it */
    assert_int_equal(lg_evaluator_losses(e, &b, shared, &r, &err), LG_ERROR_ARGUMENT);
    lg_batch_clear(&b);
    lg_evaluator_free(e);
    lg_model_free(m);
}

/* A row with the class of an ID to predict alone has no loss of a token. */
static void only_tokens_have_losses(void **state)
{
    (void)state;
    struct text x = text_of(0);
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 19;
    c.width = 24;
    c.heads = 3;
    c.id_classes[0] = 5;
    lg_error err;
    lg_model *m = lg_model_new(&c, &err);
    assert_non_null(m);
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    lg_eval_losses r;
    lg_batch b;
    int32_t classes[10] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, targets[10];
    for (int t = 0; t < 10; t++)
        targets[t] = t % 3 ? LG_NONE : x.target[t] == LG_NONE ? 7 : x.target[t];
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add(&b, 10, x.token, x.id, targets, classes, &err), 0);
    assert_int_equal(lg_evaluator_losses(e, &b, NULL, &r, &err), 0);
    assert_int_equal(r.rows, 4);
    for (int i = 0; i < 4; i++) assert_true(r.row[i] == 3 * i && r.loss[i] > 0);
    lg_batch_clear(&b);
    lg_evaluator_free(e);
    lg_model_free(m);
}

/* The gradient of the embedding of a token is the sum of those of the inputs that are this token. */
static void inputs_sum_up_to_the_embedding(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIGS; i += 5) {
        struct text x = text_of(i);
        lg_model *m = model_of(i);
        lg_error err;
        lg_train_options o = lg_train_options_default();
        lg_trainer *t = lg_trainer_new(m, &o, &err);
        lg_batch b;
        lg_batch_init(&b);
        add(&b, &x, 0, 40, x.target);
        add(&b, &x, 40, 30, NULL); /* without a loss: its inputs have no gradient */
        add(&b, &x, 70, 200, x.target + 70);
        float *inputs = hold((size_t)b.rows * 24 * sizeof *inputs);
        double *sum = hold_doubles((size_t)19 * 24);
        if (lg_trainer_inputs(t, &b, inputs, &err)) fail_msg("config %d: %s", i, err.text);
        for (int r = 0; r < b.rows; r++)
            for (int c = 0; c < 24; c++) {
                sum[b.tokens[r] * 24 + c] += (double)inputs[r * 24 + c];
                if (r >= 40 && r < 70) assert_true(inputs[r * 24 + c] == 0);
            }
        int at = lg_model_param_find(m, "embed.weight");
        assert_true(at >= 0 && !lg_model_get_config(m)->tied);
        const float *want = lg_trainer_gradient(t, at);
        double most = 0;
        for (int k = 0; k < 19 * 24; k++) most = fmax(most, fabs((double)want[k]));
        assert_true(most > 0);
        for (int k = 0; k < 19 * 24; k++) assert_true(fabs(sum[k] - (double)want[k]) < 1e-5 * most);
        lg_batch_clear(&b);
        lg_trainer_free(t);
        lg_model_free(m);
        release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_beginning_changes_no_bit),
        cmocka_unit_test(what_cannot_be_shared_is_refused),
        cmocka_unit_test(only_tokens_have_losses),
        cmocka_unit_test(inputs_sum_up_to_the_embedding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
