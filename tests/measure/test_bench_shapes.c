/* test_bench_shapes.c: what `lengthen bench` counts as useful, compared with counts by hand, and the shapes that it
 * hands to PyTorch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "measure/bench.h"
#include "helpers/home.h"

/* Width 4, feed-forward 16, vocabulary 3; one sequence of 4 tokens, the loss on the last two. */
static struct lg__shape make(int layers, int window)
{
    static const int32_t tokens[] = {1, 2, 1, 1}, ids[] = {1, 2, 2, 1}, targets[] = {-1, -1, 2, 1};
    struct lg__shape s = {.config = lg_model_config_default(LG_ARCH_NEOX)};
    s.config.vocab = 3;
    s.config.width = 4;
    s.config.heads = 1;
    s.config.layers = layers;
    s.config.window_lo[0] = 0;
    s.config.window_hi[0] = 1;
    if (window) s.config.span = LG_SPAN_WINDOW;
    lg_batch_init(&s.batch);
    assert_int_equal(lg_batch_add(&s.batch, 4, tokens, ids, targets, NULL, NULL), 0);
    return s;
}

static void flops_are_those_counted_by_hand(void **state)
{
    (void)state;
    static const struct {
        int layers, window, first_rows;
        double flops;
    } cases[] = {
        /* keys and values 2 x 16 x 4 rows; q, out, feed-forward (2 x 16 + 128) x 2 rows; head 12 x 2; the last two
         * queries see 3 + 4 keys */
        {1, 0, 4, 6 * (2 * 16 * 4 + (2 * 16 + 128) * 2 + 12 * 2) + 12 * 4 * 7.0},
        /* the query with ID 2 sees both of ID 2; that with ID 1 all four */
        {1, 1, 4, 6 * (2 * 16 * 4 + (2 * 16 + 128) * 2 + 12 * 2) + 12 * 4 * 6.0},
        /* a first layer on all rows: 12 x 16 weights, 1 + 2 + 3 + 4 pairs */
        {2, 0, 4, 6 * (192 * 4 + 2 * 16 * 4 + 160 * 2 + 12 * 2) + 12 * 4 * 17.0},
        /* and on the two distinct tokens, but for the matrix behind the attention */
        {2, 0, 3, 6 * (176 * 2 + 16 * 4 + 2 * 16 * 4 + 160 * 2 + 12 * 2) + 12 * 4 * 17.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__shape s = make(cases[i].layers, cases[i].window);
        double flops = lg__shape_flops(&s, cases[i].first_rows);
        if (flops != cases[i].flops) fail_msg("%zu: %g, not %g", i, flops, cases[i].flops);
        lg__shape_clear(&s);
    }
}

static int find(const char *name)
{
    int i = 0;
    while (lg__shape_name(i) && strcmp(lg__shape_name(i), name) != 0) i++;
    assert_non_null(lg__shape_name(i));
    return i;
}

/* As experiments/parity.yaml has it: 64 sequences, two keys of each ID at most, a head for the steps. */
static void parity_is_that_of_the_experiment(void **state)
{
    (void)state;
    struct lg__shape s;
    lg_error err;
    if (lg__shape_open(find("parity-w64"), &s, &err)) fail_msg("%s", err.text);
    assert_int_equal(s.batch.sequences, 64);
    assert_int_equal(s.config.span, LG_SPAN_WINDOW);
    assert_int_equal(s.config.window_hi[0], 1);
    assert_int_equal(s.config.id_classes[0], 17);
    int longest = 0;
    for (int i = 0; i < 64; i++) {
        int n = s.batch.offsets[i + 1] - s.batch.offsets[i];
        longest = n > longest ? n : longest;
    }
    assert_in_range(longest, 35, 45);
    lg__shape_clear(&s);
}

static void every_shape_opens_and_is_json(void **state)
{
    (void)state;
    for (int i = 0; lg__shape_name(i); i++) {
        struct lg__shape s;
        lg_error err;
        json_error_t where;
        if (lg__shape_open(i, &s, &err)) fail_msg("%s: %s", lg__shape_name(i), err.text);
        if (lg_model_config_check(&s.config, &err)) fail_msg("%s: %s", s.name, err.text);
        if (lg__shape_save(&s, in_home("shape.json"), &err)) fail_msg("%s", err.text);
        json_t *all = json_load_file(in_home("shape.json"), 0, &where);
        if (!all) fail_msg("%s: line %d: %s", s.name, where.line, where.text);
        json_t *sequences = json_object_get(all, "sequences");
        assert_int_equal(json_array_size(sequences), s.batch.sequences);
        assert_int_equal(json_integer_value(json_object_get(all, "vocab")), s.config.vocab);
        json_t *last = json_array_get(sequences, (size_t)s.batch.sequences - 1);
        json_t *ids = json_array_get(json_object_get(last, "ids"), 0);
        int n = s.batch.rows - s.batch.offsets[s.batch.sequences - 1];
        assert_int_equal(json_array_size(json_object_get(ids, "of")), n);
        json_decref(all);
        lg__shape_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flops_are_those_counted_by_hand),
        cmocka_unit_test(parity_is_that_of_the_experiment),
        cmocka_unit_test(every_shape_opens_and_is_json),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
