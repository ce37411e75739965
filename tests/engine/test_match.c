/* test_match.c: the match head: which key is taken, its two losses by differences, keys of other
 * sequences of a shard, and the decoder beside the evaluator, bit by bit. PyTorch: test_fixtures.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/match.h"
#include "fixture.h"
#include "helper.h"

/* ---- Which key is taken ---------------------------------------------------------------------- */

static void the_right_key_is_taken(void **state)
{
    static const int32_t ids[] = {5, 2, LG_ABSENT, 9, 7, 3, 7};
    static const float all[] = {1, 1, 1, 1, 1, 1, 1}, none[] = {0, -1, 5, 0, -2, NAN, -1},
                       some[] = {-1, 2, 3, 1e-30f, -1, 0, 4};
    static const struct {
        lg_match order;
        const float *z;
        int32_t carried, found;
    } rows[] = {
        {LG_MATCH_NEXT, all, 5, 7},         {LG_MATCH_NEXT, all, 9, LG_ABSENT},
        {LG_MATCH_NEXT, all, 0, 2},         {LG_MATCH_NEXT, some, 7, 9},
        {LG_MATCH_NEXT, some, 2, 7},        {LG_MATCH_NEXT, all, LG_ABSENT, 2},
        {LG_MATCH_PREVIOUS, all, 5, 3},     {LG_MATCH_PREVIOUS, all, 2, LG_ABSENT},
        {LG_MATCH_PREVIOUS, some, 7, 2},    {LG_MATCH_PREVIOUS, all, LG_ABSENT, 9},
        {LG_MATCH_ANY, all, 100, 7},        {LG_MATCH_ANY, some, 0, 7},
        {LG_MATCH_ANY, none, 5, LG_ABSENT}, {LG_MATCH_NEXT, none, 1, LG_ABSENT},
    };
    struct lg__match_keys k = {.ids = ids, .n = 7};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(lg__match_find(rows[i].order, rows[i].z, &k, rows[i].carried),
                         rows[i].found);
}

/* ---- Losses by differences --------------------------------------------------------------------- */

enum { KEYS = 9 };

/* order 0: by the number. */
static double loss_of(const float *z, const struct lg__match_keys *k, int order, int gradient,
                      float *out)
{
    memcpy(out, z, KEYS * sizeof *z);
    return order ? lg__match_stick(out, k, (lg_match)order, 4, 6, 2, gradient)
                 : lg__match_loss(out, k, 1, 2, gradient);
}

static void losses_by_differences(void **state)
{
    static const int32_t codes[KEYS] = {0, 1, 2, 1, 0, 1, 3, 2, 0};
    static const int32_t above[KEYS] = {5, 6, 7, 6, LG_ABSENT, 2, 8, 4, 5};

    (void)state;
    for (int order = 0; order <= LG_MATCH_ANY; order++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct lg__match_keys k = {.ids = above, .codes = codes, .n = KEYS};
            float z[KEYS], d[KEYS], scratch[KEYS];
            lg_rng r;
            lg_rng_init(&r, seed, 1, 2);
            for (int j = 0; j < KEYS; j++) z[j] = (float)(2 * lg_rng_normal(&r));
            if (order == LG_MATCH_PREVIOUS) continue; /* mirrored: previous_mirrors_next */
            double loss = loss_of(z, &k, order, 1, d);
            assert_true(isfinite(loss) && loss > 0);
            for (int j = 0; j < KEYS; j++) {
                float old = z[j], h = 0x1p-7f;
                z[j] = old + h;
                double up = loss_of(z, &k, order, 0, scratch);
                z[j] = old - h;
                double down = loss_of(z, &k, order, 0, scratch);
                z[j] = old;
                assert_true(fabs((up - down) / (2 * (double)h) - (double)d[j] / 2) < 1e-4);
            }
        }
}

/* The order `previous` on IDs that are turned around. */
static void previous_mirrors_next(void **state)
{
    static const int32_t ids[KEYS] = {5, 6, 7, 6, 8, 2, 8, 4, 5};
    int32_t turned[KEYS];
    struct lg__match_keys k = {.ids = ids, .n = KEYS}, mirror = {.ids = turned, .n = KEYS};
    (void)state;
    for (int j = 0; j < KEYS; j++) turned[j] = 10 - ids[j];
    for (uint64_t seed = 0; seed < 50; seed++) {
        float z[KEYS], a[KEYS], b[KEYS];
        lg_rng r;
        lg_rng_init(&r, seed, 3, 4);
        for (int j = 0; j < KEYS; j++) z[j] = (float)lg_rng_normal(&r);
        int32_t next = lg__match_find(LG_MATCH_NEXT, z, &k, 4);
        int32_t previous = lg__match_find(LG_MATCH_PREVIOUS, z, &mirror, 6);
        assert_int_equal(next == LG_ABSENT ? LG_ABSENT : 10 - next, previous);
        memcpy(a, z, sizeof a);
        memcpy(b, z, sizeof b);
        double one = lg__match_stick(a, &k, LG_MATCH_NEXT, 4, 6, 1, 1);
        double other = lg__match_stick(b, &mirror, LG_MATCH_PREVIOUS, 6, 4, 1, 1);
        assert_true(one == other && memcmp(a, b, sizeof a) == 0);
    }
}

/* ---- In a model ---------------------------------------------------------------------------------- */

enum { TOKENS = 30, PROMPT = 20, SEQUENCES = 5 };

static lg_model *small_model(lg_match order)
{
    lg_error err;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 6;
    c.layers = 2;
    c.width = 16;
    c.heads = 2;
    c.parallel = 0;
    c.encoding = "relative";
    c.span = LG_SPAN_WINDOW;
    c.id_classes[0] = 7;
    c.match[0] = order;
    c.key_tokens = 2;
    c.key_token[0] = 1;
    c.key_token[1] = 4;
    c.seed = 5;
    lg_model *m = lg_model_new(&c, &err);
    assert_non_null(m);
    /* Larger weights, so that about half of the keys match. */
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        if (strncmp(p.name, "match", 5) != 0) continue;
        for (int j = 0; j < p.rows * p.cols; j++) p.data[j] *= 2;
    }
    lg_model_touch(m);
    return m;
}

/* Sequences of a prompt and an answer; half of the answer's rows look for a key. */
static void draw(lg_batch *b, int coded, uint64_t seed)
{
    lg_error err;
    lg_rng r;
    lg_rng_init(&r, seed, 7, 0);
    lg_batch_reset(b);
    for (int s = 0; s < SEQUENCES; s++) {
        int32_t token[TOKENS], id[TOKENS], target[TOKENS], class[TOKENS], point[TOKENS],
            code[TOKENS];
        for (int t = 0; t < TOKENS; t++) {
            token[t] = (int32_t)lg_rng_below(&r, 6);
            id[t] = t < PROMPT ? 1 + t / 2 : (int32_t)lg_rng_below(&r, 4);
            code[t] = coded ? (int32_t)lg_rng_below(&r, 4) : LG_NONE;
            target[t] = t < PROMPT - 1 ? LG_NONE : (int32_t)lg_rng_below(&r, 6);
            class[t] = point[t] = LG_NONE;
        }
        token[6] = 1; /* a key at least, with ID 4 */
        for (int t = PROMPT; t < TOKENS; t += 2) {
            class[t] = 2;
            point[t] = 4;
            code[t] = coded ? code[6] : LG_NONE;
        }
        lg_sequence q = {
            .n = TOKENS, .levels = 1, .tokens = token, .targets = target, .codes = code};
        q.ids[0] = id;
        q.id_targets[0] = class;
        q.point_targets[0] = point;
        assert_int_equal(lg_batch_add_levels(b, &q, &err), 0);
    }
}

/* Along the gradient of each tensor of the head, in one shard of all sequences. */
static void a_shard_by_differences(void **state)
{
    lg_batch b;
    lg_error err;
    lg_train_result r;
    (void)state;
    lg_batch_init(&b);
    for (int coded = 0; coded < 2; coded++) {
        lg_model *m = small_model(LG_MATCH_NEXT);
        lg_train_options o = lg_train_options_default();
        o.groups = 1;
        o.id_weight = 1;
        lg_trainer *t = lg_trainer_new(m, &o, &err);
        assert_non_null(t);
        draw(&b, coded, 11);
        for (int i = 0; i < lg_model_param_count(m); i++) {
            lg_param p = lg_model_param(m, i);
            if (strncmp(p.name, "match", 5) != 0) continue;
            assert_int_equal(lg_trainer_gradients(t, &b, &r, &err), 0);
            int n = p.rows * p.cols;
            double size = 0, value[2];
            float g[16 * 16], old[16 * 16];
            memcpy(g, lg_trainer_gradient(t, i), (size_t)n * sizeof *g);
            memcpy(old, p.data, (size_t)n * sizeof *g);
            for (int j = 0; j < n; j++) size += (double)g[j] * (double)g[j];
            assert_true(size > 1e-6);
            double step = 2e-3 / size; /* the loss changes by about this much times size */
            for (int side = 0; side < 2; side++) {
                for (int j = 0; j < n; j++)
                    p.data[j] = old[j] + (float)((side ? -step : step) * (double)g[j]);
                lg_model_touch(m);
                assert_int_equal(lg_trainer_gradients(t, &b, &r, &err), 0);
                value[side] = r.loss + r.id_loss;
            }
            memcpy(p.data, old, (size_t)n * sizeof *g);
            lg_model_touch(m);
            double slope = (value[0] - value[1]) / (2 * step);
            if (fabs(slope - size) > 0.01 * size)
                fail_msg("%s: difference %g, gradient %g", p.name, slope, size);
        }
        lg_trainer_free(t);
        lg_model_free(m);
    }
    lg_batch_clear(&b);
}

/* With numbers, a key of another sequence of the shard counts; without, it does not. */
static void other_sequences_are_compared(void **state)
{
    lg_batch b;
    lg_error err;
    (void)state;
    lg_batch_init(&b);
    for (int coded = 0; coded < 2; coded++) {
        double loss[2];
        for (int groups = 1; groups <= 8; groups += 7) {
            lg_model *m = small_model(LG_MATCH_ANY);
            lg_train_options o = lg_train_options_default();
            lg_train_result r;
            o.groups = groups;
            lg_trainer *t = lg_trainer_new(m, &o, &err);
            draw(&b, coded, 12);
            assert_int_equal(lg_trainer_gradients(t, &b, &r, &err), 0);
            loss[groups > 1] = r.id_loss;
            lg_trainer_free(t);
            lg_model_free(m);
        }
        if (coded)
            assert_true(loss[0] > loss[1] + 0.1);
        else
            assert_true(fabs(loss[0] - loss[1]) < 1e-5);
    }
    lg_batch_clear(&b);
}

/* The decoder finds what the evaluator finds; keys and queries have the same bits alone. */
static void decoder_and_evaluator_agree(void **state)
{
    static const lg_match orders[] = {LG_MATCH_NEXT, LG_MATCH_PREVIOUS, LG_MATCH_ANY};
    lg_batch b, one;
    lg_error err;
    int found = 0, absent = 0;
    (void)state;
    lg_batch_init(&b);
    lg_batch_init(&one);
    for (int i = 0; i < 3; i++) {
        lg_model *m = small_model(orders[i]);
        lg_evaluator *e = lg_evaluator_new(m, 2, &err), *alone = lg_evaluator_new(m, 1, &err);
        lg_decoder *d = lg_decoder_new(m, 1, &err);
        lg_eval_result r, q;
        draw(&b, 1, 13);
        assert_int_equal(lg_evaluator_run(e, &b, &r, &err), 0);
        for (int s = 0, row = 0; s < SEQUENCES; s++) {
            int start = b.offsets[s];
            lg_sequence x = {.n = TOKENS, .levels = 1, .tokens = b.tokens + start};
            x.targets = b.targets + start;
            x.codes = b.codes + start;
            x.ids[0] = b.ids[0] + start;
            x.id_targets[0] = b.id_targets[0] + start;
            x.point_targets[0] = b.point_targets[0] + start;
            lg_batch_reset(&one);
            assert_int_equal(lg_batch_add_levels(&one, &x, &err), 0);
            assert_int_equal(lg_evaluator_run(alone, &one, &q, &err), 0);
            assert_memory_equal(lg__evaluator_keys(alone, 0),
                                lg__evaluator_keys(e, 0) + (size_t)start * 16,
                                TOKENS * 16 * sizeof(float));
            assert_memory_equal(lg__evaluator_queries(alone, 0),
                                lg__evaluator_queries(e, 0) + (size_t)row * 16,
                                (size_t)q.rows * 16 * sizeof(float));
            row += q.rows;
            lg_batch_reset(&one);
            x.n = PROMPT;
            assert_int_equal(lg_batch_add_levels(&one, &x, &err), 0);
            assert_int_equal(lg_decoder_start(d, &one, &err), 0);
            for (int t = PROMPT; t < TOKENS; t++) {
                int32_t token = b.tokens[start + t], id = b.ids[0][start + t];
                assert_int_equal(lg_decoder_step(d, &token, &id, &err), 0);
                if (b.point_targets[0][start + t] < 0) continue;
                int32_t got = lg_decoder_point(d, 0, 0), want = 0;
                for (int k = 0; k < r.rows; k++)
                    if (r.row[k] == start + t) want = r.pointed_id[0][k];
                assert_int_equal(got, want);
                found += got != LG_ABSENT;
                absent += got == LG_ABSENT;
            }
        }
        lg_decoder_free(d);
        lg_evaluator_free(e);
        lg_evaluator_free(alone);
        lg_model_free(m);
    }
    assert_true(found > 10 && absent > 2);
    lg_batch_clear(&b);
    lg_batch_clear(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_key_is_taken),
        cmocka_unit_test(losses_by_differences),
        cmocka_unit_test(previous_mirrors_next),
        cmocka_unit_test(a_shard_by_differences),
        cmocka_unit_test(other_sequences_are_compared),
        cmocka_unit_test(decoder_and_evaluator_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
