/* test_scheme.c: which tasks, IDs and models go together: each refusal names the value and the
 * remedy, and what makes sense passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/position.h"
#include "lengthen.h"
#include "tasks/tasks.h"
#include "positions/positions.h"

/* ---- Toys ---------------------------------------------------------------------------------- */

/* length tokens in the prompt and as many in the answer. Level 2, role, steps by up to 3; level 1's
 * step is said to grow with the length. */
static int make(const lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x, lg_error *err)
{
    (void)t, (void)r, (void)sparsity;
    int e = lg__example_room(x, 2 * length, err);
    if (e) return e;
    for (int i = 0; i < length; i++) lg__put(x, i % 3, 1 + i, 0, LG_ABSENT);
    for (int i = 0; i < length; i++) lg__put_answer(x, 3, length - i, 3 * (i & 1), LG_ABSENT);
    return 0;
}

static const struct lg__task_row row = {
    .info = {.name = "toy", .family = "paper", .unit = "tokens"}, .make = make};
static const unsigned char digits[4] = {1, 1, 1, 0}, no_digits[4];

static lg_task toy(int levels)
{
    return (lg_task){.row = &row,
                     .shape = {.info = &row.info,
                               .vocab = 4,
                               .digit = digits,
                               .stop = LG_NONE,
                               .levels = levels,
                               .level = {"column", "role"},
                               .role = 2,
                               .needed = levels ? 1 : 0,
                               .reach = {0, 3},
                               .length_least = 1,
                               .length_most = 1000}};
}

static lg_model_config model(const lg_scheme *s, const lg_task *t)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 4;
    if (s) lg_scheme_config(s, t, &c, NULL);
    return c;
}

static lg_scheme scheme(const char *ids)
{
    lg_scheme s = lg_scheme_default();
    s.ids = ids;
    return s;
}

enum { LENGTH = 10 }; /* 20 tokens */

static void passes(const lg_scheme *s, lg_task *t, const lg_model_config *c)
{
    lg_error err = {0}, remark = {.text = "old"};
    if (lg_scheme_check(s, t, c, LENGTH, &remark, &err)) fail_msg("%s: %s", s->ids, err.text);
    assert_string_equal(remark.text, "");
    assert_int_equal(lg_scheme_check(s, t, c, LENGTH, NULL, NULL), 0);
}

static void refuses(const lg_scheme *s, lg_task *t, const lg_model_config *c, const char *value,
                    const char *remedy)
{
    lg_error err = {0};
    assert_int_equal(lg_scheme_check(s, t, c, LENGTH, NULL, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    if (!strstr(err.text, value) || !strstr(err.text, remedy))
        fail_msg("\"%s\" and \"%s\" are not both in: %s", value, remedy, err.text);
    assert_true(strlen(err.text) < sizeof err.text - 1); /* not cut off */
    assert_int_equal(lg_scheme_check(s, t, c, LENGTH, NULL, NULL), LG_ERROR_ARGUMENT);
}

/* ---- What goes ------------------------------------------------------------------------------- */

static void what_makes_sense_passes(void **state)
{
    (void)state;
    lg_task t = toy(2);
    for (int i = 0; i < lg_ids_count(); i++) {
        lg_scheme s = scheme(lg_ids_info_at(i).name);
        s.max_id = s.target = 50;
        lg_model_config c = model(&s, &t);
        passes(&s, &t, &c);
    }
    lg_scheme s = scheme("coupled");
    s.source[0] = "pointer";
    s.source[1] = "delta";
    lg_model_config c = model(&s, &t);
    passes(&s, &t, &c);
    s.source[0] = "absolute";
    s.source[1] = "given";
    s.max_id = 30;
    c = model(&s, &t);
    c.encoding = "learned";
    passes(&s, &t, &c);
    c.encoding = "sinusoidal";
    passes(&s, &t, &c);
}

static void the_config_of_a_scheme(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_error err = {0};
    lg_model_config c = model(NULL, NULL);
    lg_scheme s = scheme("coupled");
    s.source[0] = "absolute";
    s.source[1] = "delta";
    s.max_id = 40;
    c.max_id = 30;
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.levels, 2);
    assert_int_equal(c.max_id, 40);
    assert_int_equal(c.id_classes[0], 42); /* 0..40 and none */
    assert_int_equal(c.id_classes[1], 18);
    c.max_id = 50;
    s.levels = 1;
    s.source[1] = NULL;
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.levels, 1);
    assert_int_equal(c.max_id, 50); /* a larger one stays */
    assert_int_equal(c.id_classes[0], 41);
    assert_int_equal(c.id_classes[1], 0);
    s.source[0] = "delta";
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.id_classes[0], 17);
    s.source[0] = "pointer";
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.id_classes[0], 7);
    assert_int_equal(c.pointer[0], 1);
    s = scheme("plain");
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), 0);
    assert_int_equal(c.levels, 1);
    assert_int_equal(c.id_classes[0] + c.pointer[0], 0);
    s.ids = "rndomized";
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "did you mean \"randomized\""));
    s = scheme("coupled");
    s.source[0] = "detla";
    assert_int_equal(lg_scheme_config(&s, &t, &c, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "did you mean \"delta\""));
}

/* ---- What does not ------------------------------------------------------------------------------ */

static void ids_and_task(void **state)
{
    (void)state;
    lg_task t = toy(2), bare = toy(0), wordy = toy(2);
    wordy.shape.digit = no_digits;
    lg_scheme s = scheme("nonsense");
    lg_model_config c = model(NULL, NULL);
    refuses(&s, &t, &c, "\"nonsense\"", "there are plain");
    s = scheme("coupled");
    refuses(&s, &bare, &c, "task toy has no labels", "take ids plain");
    refuses(&s, &bare, &c, "ids is coupled", "write \"ids\" into the lines");
    s.levels = 3;
    refuses(&s, &t, &c, "levels is 3, but task toy has 2", "set levels to 1..2");
    s.levels = -1;
    refuses(&s, &t, &c, "levels is -1", "set levels to 1..2");
    t.shape.needed = 2;
    s.levels = 1;
    refuses(&s, &t, &c, "levels is 1", "set levels to 2 or more");
    t.shape.needed = 1;
    s = scheme("abacus");
    refuses(&s, &wordy, &c, "none of the 4 words of task toy", "take ids plain");
    wordy.shape.digit = NULL;
    refuses(&s, &wordy, &c, "abacus", "take ids plain");
    s.max_id = 2;
    refuses(&s, &t, &c, "10 digits", "set max_id to 10 or more");
}

static void numbers(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_model_config c = model(NULL, NULL);
    lg_scheme s = scheme("random-start");
    refuses(&s, &t, &c, "max_id is 0", "set max_id");
    s.max_id = 19;
    refuses(&s, &t, &c, "20 tokens", "set max_id to 20 or more");
    s.max_id = -5;
    refuses(&s, &t, &c, "max_id is -5", "must be 0");
    s = scheme("randomized");
    refuses(&s, &t, &c, "max_id is 0", "set max_id");
    s.max_id = 18;
    refuses(&s, &t, &c, "20 tokens", "set max_id to 19 or more");
    s = scheme("pose");
    refuses(&s, &t, &c, "target is 0", "longest test length");
    s.target = 19;
    refuses(&s, &t, &c, "20 tokens", "set target to 20 or more");
    s.chunks = 1;
    refuses(&s, &t, &c, "chunks is 1", "take ids plain");
    s = scheme("coupled");
    s.max_id = 10; /* labels to 10: IDs to 11 */
    c = model(&s, &t);
    refuses(&s, &t, &c, "level 1 (column)", "set max_id to 11 or more");
    s = scheme("coupled+pose");
    s.target = 11;
    c = model(&s, &t);
    refuses(&s, &t, &c, "target is 11", "set target to 12 or more");
    s = scheme("coupled+randomized");
    s.max_id = 8;
    c = model(&s, &t);
    refuses(&s, &t, &c, "need 10 IDs", "set max_id to 9 or more");
}

static void gaps_and_windows(void **state)
{
    (void)state;
    lg_task t = toy(2);
    for (int i = 0; i < lg_ids_count(); i++) {
        lg_scheme s = scheme(lg_ids_info_at(i).name);
        s.max_id = s.target = 50;
        lg_model_config c = model(&s, &t);
        c.span = LG_SPAN_WINDOW;
        c.window_lo[0] = c.window_lo[1] = -2 * LENGTH; /* the prompt is in sight */
        char value[60];
        snprintf(value, sizeof value, "ids is %s and the span is a window", s.ids);
        if (strstr(s.ids, "pose") || strstr(s.ids, "randomized"))
            refuses(&s, &t, &c, value, "take span full");
        else
            passes(&s, &t, &c);
    }
}

static void sources(void **state)
{
    (void)state;
    static const char *const foreseen[] = {"plain", "random-start", "abacus"};
    static const char *const unforeseen[] = {"randomized", "pose", "coupled+randomized",
                                             "coupled+pose"};
    lg_task t = toy(2);
    for (int i = 0; i < 7; i++) {
        lg_scheme s = scheme(i < 3 ? foreseen[i] : unforeseen[i - 3]);
        s.max_id = s.target = 50;
        lg_model_config c = model(&s, &t);
        s.source[0] = "delta";
        refuses(&s, &t, &c, "source of level 1 is delta", "take source given, or ids coupled");
        refuses(&s, &t, &c, s.ids, i < 3 ? "need no prediction" : "cannot be foreseen");
    }
    lg_scheme s = scheme("coupled");
    lg_model_config c = model(&s, &t);
    s.source[1] = "oracle";
    refuses(&s, &t, &c, "no source of IDs \"oracle\"", "given, absolute, delta, pointer");
    s.source[1] = "delta";
    s.levels = 1;
    refuses(&s, &t, &c, "source of level 2 is delta", "leave that source out");
    s.levels = 0;
    refuses(&s, &t, &c, "level 2 has 0 classes", "lg_scheme_config");
    s.reach = 0;
    refuses(&s, &t, &c, "reach is 0", "set it to 1..");
    s.reach = 2;
    c = model(&s, &t);
    refuses(&s, &t, &c, "level 2 (role) is delta with reach 2", "set reach to 3 or more");
    s.source[0] = "delta";
    c = model(&s, &t);
    refuses(&s, &t, &c, "level 1 (column)", "take source pointer");
    refuses(&s, &t, &c, "grows with the length", "take source pointer");
}

static void absolute_needs_absolute_ids(void **state)
{
    (void)state;
    lg_task t = toy(1);
    lg_scheme s = scheme("coupled");
    s.source[0] = "absolute";
    lg_model_config c = model(NULL, NULL);
    refuses(&s, &t, &c, "absolute and max_id is 0", "set max_id");
    s.max_id = 30;
    c = model(&s, &t);
    int refused = 0;
    for (int i = 0; lg__encodings[i]; i++) {
        c.encoding = lg__encodings[i]->name;
        if (lg__encodings[i]->flags & LG__ENCODING_ABSOLUTE) {
            passes(&s, &t, &c);
        } else {
            refuses(&s, &t, &c, c.encoding, "encoding learned or sinusoidal");
            refuses(&s, &t, &c, "does not show IDs themselves", "take source delta or pointer");
            refused++;
        }
    }
    assert_true(refused >= 5); /* none, rope, relative, alibi, t5 */
}

static void model_and_scheme(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_scheme s = scheme("coupled");
    lg_model_config c = model(&s, &t);
    c.levels = 1;
    refuses(&s, &t, &c, "the model has 1 level", "set the model's levels to 2");
    c = model(&s, &t);
    c.encoding = "no such encoding";
    lg_error err = {0};
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, NULL, &err), LG_ERROR_ARGUMENT);
    c = model(&s, &t);
    s.source[0] = "pointer";
    refuses(&s, &t, &c, "has 0 classes, but source pointer needs 7 and a pointer",
            "lg_scheme_config");
    c.id_classes[0] = 7;
    refuses(&s, &t, &c, "has 7 classes, but", "lg_scheme_config");
    s = scheme("coupled");
    c = model(&s, &t);
    c.vocab--;
    refuses(&s, &t, &c, "but the model", "set its vocab to");
    c.vocab++;
    /* The length has to be one that the task can make. */
    c = model(&s, &t);
    assert_int_equal(lg_scheme_check(&s, &t, &c, 1001, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "1001"));
}

static void learned_rows(void **state)
{
    (void)state;
    lg_task t = toy(1);
    lg_scheme s = scheme("plain");
    lg_model_config c = model(&s, &t);
    c.encoding = "learned";
    c.max_id = 18; /* the 19 tokens that are read have IDs 0..18 */
    passes(&s, &t, &c);
    c.max_id = 17;
    refuses(&s, &t, &c, "up to 17", "set max_id to 18 or more");
    s = scheme("pose");
    s.target = 100;
    c.max_id = 98;
    refuses(&s, &t, &c, "up to 98", "set max_id to 99 or more");
    c.max_id = 99;
    passes(&s, &t, &c);
    s = scheme("random-start");
    s.max_id = 200;
    c.max_id = 100;
    refuses(&s, &t, &c, "length 10", "set max_id to 200 or more");
    s = scheme("coupled");
    c.max_id = 10;
    refuses(&s, &t, &c, "ids coupled", "set max_id to 11 or more");
}

static void an_end_that_cannot_be_seen_is_remarked(void **state)
{
    (void)state;
    lg_task t = toy(1);
    lg_scheme s = scheme("coupled");
    lg_model_config c = model(&s, &t);
    lg_error remark = {0}, err = {0};
    t.shape.stop = 0;
    c.encoding = "relative";
    passes(&s, &t, &c); /* full span: many keys, none of them alone */
    c.span = LG_SPAN_WINDOW;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "relative"));
    assert_non_null(strstr(remark.text, "set sink"));
    c.sink = 1;
    passes(&s, &t, &c);
    c.sink = 0;
    c.encoding = "sinusoidal"; /* positions are in the stream */
    passes(&s, &t, &c);
    c.encoding = "relative";
    t.shape.stop = LG_NONE; /* nothing to stop */
    passes(&s, &t, &c);
}

static void a_window_that_hides_ids_from_a_full_span_is_remarked(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_scheme s = scheme("coupled");
    lg_model_config c = model(&s, &t);
    lg_error remark = {0}, err = {0};
    c.encoding = "relative";
    passes(&s, &t, &c);
    c.window_lo[1] = 0;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "level 2 (role) is [0, 2]"));
    assert_non_null(strstr(remark.text, "are before it"));
    c.span = LG_SPAN_WINDOW; /* what is past the ends is not seen */
    c.sink = 1;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_null(strstr(remark.text, "are before it"));
    c.span = LG_SPAN_FULL;
    c.window_lo[1] = -2;
    c.window_hi[0] = 0;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "is [-2, 0]"));
    assert_non_null(strstr(remark.text, "are behind it"));
    c.encoding = "rope";
    passes(&s, &t, &c);
    c.encoding = "relative";
    s = scheme("plain"); /* no key's ID is after the query's */
    c.levels = 1;
    passes(&s, &t, &c);
}

static void a_dropped_role_is_remarked(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_scheme s = scheme("coupled");
    s.levels = 1;
    lg_model_config c = model(&s, &t);
    c.layers = 1;
    c.span = LG_SPAN_WINDOW;
    lg_error remark = {0}, err = {0};
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "level 2 (role)"));
    assert_non_null(strstr(remark.text, "levels 2"));
    assert_non_null(strstr(remark.text, "two layers"));
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, NULL, &err), 0);
    c.layers = 2;
    passes(&s, &t, &c);
    c.layers = 1;
    c.span = LG_SPAN_FULL;
    passes(&s, &t, &c);
    c.span = LG_SPAN_WINDOW;
    t.shape.role = 0;
    passes(&s, &t, &c);
    t.shape.role = 2;
    s.levels = 2;
    c = model(&s, &t);
    c.layers = 1;
    c.span = LG_SPAN_WINDOW;
    c.window_lo[1] = -3; /* from role 3 to the prompt's, 0 */
    passes(&s, &t, &c);
}

/* Every second token of the toy's answer has role 3, and the prompt 0. */
static void an_answer_in_the_dark_is_remarked(void **state)
{
    (void)state;
    lg_task t = toy(2);
    lg_scheme s = scheme("coupled");
    lg_model_config c = model(&s, &t);
    lg_error remark = {0}, err = {0};
    c.layers = 1;
    c.span = LG_SPAN_WINDOW;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "% of the answer's tokens see nothing of the prompt"));
    assert_non_null(strstr(remark.text, "level 2 (role) is [-2, 2]; take [-3, 2]"));
    c.window_lo[1] = -3;
    passes(&s, &t, &c);
    s = scheme("plain");
    c = model(&s, &t);
    c.layers = 1;
    c.span = LG_SPAN_WINDOW;
    assert_int_equal(lg_scheme_check(&s, &t, &c, LENGTH, &remark, &err), 0);
    assert_non_null(strstr(remark.text, "the window is [-2, 2]; take [-"));
    c.layers = LENGTH; /* as many hops reach it */
    passes(&s, &t, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_sense_passes),
        cmocka_unit_test(the_config_of_a_scheme),
        cmocka_unit_test(ids_and_task),
        cmocka_unit_test(numbers),
        cmocka_unit_test(gaps_and_windows),
        cmocka_unit_test(sources),
        cmocka_unit_test(absolute_needs_absolute_ids),
        cmocka_unit_test(model_and_scheme),
        cmocka_unit_test(learned_rows),
        cmocka_unit_test(an_end_that_cannot_be_seen_is_remarked),
        cmocka_unit_test(a_dropped_role_is_remarked),
        cmocka_unit_test(an_answer_in_the_dark_is_remarked),
        cmocka_unit_test(a_window_that_hides_ids_from_a_full_span_is_remarked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
