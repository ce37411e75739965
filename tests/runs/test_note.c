/* test_note.c: the note of a checkpoint. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runs/note.h"

static void what_is_put_is_read(void **state)
{
    (void)state;
    static const double reals[] = {0, -0.0, 0.1, 1.0 / 3, 4.9e-324, 1e308, -INFINITY};
    lg_error err = {0};
    lg_buffer b = {0};
    char key[20], text[40];
    int64_t n;
    double x;
    for (int i = 0; i < 7; i++) {
        snprintf(key, sizeof key, "real%d", i);
        lg__note_put_real(&b, key, reals[i]);
    }
    lg__note_put_int(&b, "least", INT64_MIN);
    lg__note_put_text(&b, "words", "least 7 and more");
    lg__note_put_text(&b, "nothing", "");
    char *note = lg_buffer_take(&b, &err);
    assert_non_null(note);
    for (int i = 0; i < 7; i++) {
        snprintf(key, sizeof key, "real%d", i);
        assert_int_equal(lg__note_real(note, key, &x, &err), 0);
        assert_memory_equal(&x, &reals[i], sizeof x);
    }
    assert_int_equal(lg__note_int(note, "least", INT64_MIN, INT64_MAX, &n, &err), 0);
    assert_true(n == INT64_MIN);
    assert_int_equal(lg__note_text(note, "words", text, sizeof text, &err), 0);
    assert_string_equal(text, "least 7 and more");
    assert_int_equal(lg__note_text(note, "nothing", text, sizeof text, &err), 0);
    assert_string_equal(text, "");
    assert_true(lg__note_has(note, "nothing") && !lg__note_has(note, "and") &&
                !lg__note_has(note, "real"));
    free(note);
}

/* The order says nothing, and nor do keys that nobody asks for or words inside a value. */
static void lines_stand_in_any_order(void **state)
{
    (void)state;
    static const char *const notes[] = {"step 7\nlength 5\n", "length 5\nstep 7\n",
                                        "later here\nlength 5\nstep 7",
                                        "words step 9 length 8\nstepped 1\nlength 5\nstep 7\n"};
    lg_error err = {0};
    for (int i = 0; i < 4; i++) {
        int64_t step = 0, length = 0;
        assert_int_equal(lg__note_int(notes[i], "step", 0, 10, &step, &err), 0);
        assert_int_equal(lg__note_int(notes[i], "length", 0, 10, &length, &err), 0);
        assert_true(step == 7 && length == 5);
    }
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *note, *words;
    } cases[] = {{"", "has no \"step\""},
                 {"length 5\n", "has no \"step\""},
                 {"steps 5\n", "has no \"step\""},
                 {"step\n", "has no \"step\""},
                 {"step 1\nlength 5\nstep 1\n", "has \"step\" twice"},
                 {"step \n", "no whole number"},
                 {"step 1x\n", "\"step 1x\", which is no whole number"},
                 {"step 1.5\n", "no whole number"},
                 {"step  1\n", "no whole number"},
                 {"step 99999999999999999999\n", "no whole number"},
                 {"step 11\n", "not in 0..10"},
                 {"step -1\n", "not in 0..10"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error err = {0};
        int64_t n = 42;
        assert_int_equal(lg__note_int(cases[i].note, "step", 0, 10, &n, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, cases[i].words)) fail_msg("%s: %s", cases[i].note, err.text);
        assert_true(n == 42);
    }
    lg_error err = {0};
    char text[4];
    double x;
    assert_int_equal(lg__note_text("a 123\n", "a", text, sizeof text, &err), 0);
    assert_int_equal(lg__note_text("a 1234\n", "a", text, sizeof text, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(lg__note_real("a 1,5\n", "a", &x, &err), LG_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_read),
        cmocka_unit_test(lines_stand_in_any_order),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
