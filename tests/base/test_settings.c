/* test_settings.c: values by name. A slip in a key or a value must not train something else than
 * was meant: it is refused, with what was written and what there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/settings.h"
#include "lengthen.h"

static const lg_setting rows[] = {
    {"base", "2..16", "10", "the base of the digits"},
    {"answer", "reversed|plain|both", "plain", "the order of the answer"},
    {"shift", "-5..9223372036854775807", "0", "a number that may be negative, or beyond 32 bits"},
    {"table", "TEXT", "pair", "a name or a file"},
    {0},
};
enum { BASE, ANSWER, SHIFT, TABLE, ROWS };

static void assert_says(const lg_error *err, const char *words)
{
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

/* Must be refused, with these words in the reason. */
static void refuse(const lg_setting *of, const char *const *settings, int count,
                   const char *const *says)
{
    struct lg__value value[ROWS];
    lg_error err = {0};
    assert_int_equal(lg__settings_read(value, ROWS, of, settings, count, "task test", &err),
                     LG_ERROR_ARGUMENT);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    assert_int_equal(strncmp(err.text, "task test", 9), 0);
    for (int i = 0; says[i]; i++) assert_says(&err, says[i]);
    assert_int_equal(lg__settings_read(value, ROWS, of, settings, count, "task test", NULL),
                     LG_ERROR_ARGUMENT);
}

#define REFUSE(setting, ...)                                                                       \
    refuse(rows, (const char *const[]){setting}, 1, (const char *const[]){__VA_ARGS__, NULL})

static void rows_are_counted(void **state)
{
    (void)state;
    assert_int_equal(lg__settings_count(rows), ROWS);
    assert_int_equal(lg__settings_count(rows + ROWS), 0);
    assert_int_equal(lg__settings_count(NULL), 0);
}

static void what_is_unsaid_has_its_fallback(void **state)
{
    (void)state;
    struct lg__value value[ROWS];
    assert_int_equal(lg__settings_read(value, ROWS, rows, NULL, 0, "task test", NULL), LG_OK);
    assert_int_equal(value[BASE].i, 10);
    assert_string_equal(value[BASE].text, "10");
    assert_int_equal(value[ANSWER].i, 1); /* the place among reversed|plain|both */
    assert_string_equal(value[ANSWER].text, "plain");
    assert_int_equal(value[SHIFT].i, 0);
    assert_string_equal(value[TABLE].text, "pair");
    assert_int_equal(lg__settings_read(value, ROWS, NULL, NULL, 0, "task test", NULL), LG_OK);
}

static void what_is_said_counts(void **state)
{
    (void)state;
    static const char *const settings[] = {"table=a=b, c", "answer=both", "base=2",
                                           "shift=9000000000"};
    struct lg__value value[ROWS];
    assert_int_equal(lg__settings_read(value, ROWS, rows, settings, 4, "task test", NULL), LG_OK);
    assert_string_equal(value[TABLE].text, "a=b, c"); /* only the first = divides */
    assert_int_equal(value[ANSWER].i, 2);
    assert_int_equal(value[BASE].i, 2);
    assert_true(value[SHIFT].i == INT64_C(9000000000));
    static const char *const ends[] = {"base=16", "shift=-5", "table=", "answer=reversed"};
    assert_int_equal(lg__settings_read(value, ROWS, rows, ends, 4, "task test", NULL), LG_OK);
    assert_int_equal(value[BASE].i, 16);
    assert_int_equal(value[SHIFT].i, -5);
    assert_string_equal(value[TABLE].text, "");
    assert_int_equal(value[ANSWER].i, 0);
}

static void a_number_out_of_its_range_is_refused(void **state)
{
    (void)state;
    REFUSE("base=1", "base is \"1\"", "a whole number in 2..16", "the base of the digits");
    REFUSE("base=17", "base is \"17\"", "2..16");
    REFUSE("base=-10", "base is \"-10\"");
    REFUSE("base=", "base is \"\"");
    REFUSE("base=ten", "base is \"ten\"");
    REFUSE("base=10x", "base is \"10x\"");
    REFUSE("base=10.0", "base is \"10.0\"");
    REFUSE("base=1e1", "base is \"1e1\"");
    REFUSE("base=0xA", "base is \"0xA\"");
    REFUSE("shift=-6", "shift is \"-6\"", "-5..9223372036854775807");
    /* Beyond 64 bits strtoll gives its largest number, which must not pass for the value. */
    REFUSE("shift=9223372036854775808", "shift is \"9223372036854775808\"");
}

static void a_word_that_is_not_listed_is_refused(void **state)
{
    (void)state;
    REFUSE("answer=backwards", "answer is \"backwards\"", "one of reversed|plain|both",
           "the order of the answer");
    REFUSE("answer=", "answer is \"\"");
    REFUSE("answer=pla", "answer is \"pla\""); /* the beginning of a word is not the word */
    REFUSE("answer=plainer", "answer is \"plainer\"");
    REFUSE("answer=plain|both", "answer is \"plain|both\"");
}

static void a_key_that_is_not_there_is_refused(void **state)
{
    (void)state;
    REFUSE("bse=3", "no setting \"bse\"", "did you mean \"base\"?", "base, answer, shift, table");
    REFUSE("Answer=plain", "no setting \"Answer\"", "did you mean \"answer\"?");
    REFUSE("bas=3", "no setting \"bas\"", "\"base\"");     /* the beginning of a key */
    REFUSE("bases=3", "no setting \"bases\"", "\"base\""); /* a key goes on */
    lg_error err = {0};
    struct lg__value value[ROWS];
    static const char *const far[] = {"temperature=3"};
    assert_int_equal(lg__settings_read(value, ROWS, rows, far, 1, "task test", &err),
                     LG_ERROR_ARGUMENT);
    assert_says(&err, "no setting \"temperature\"; it has: base, answer, shift, table");
    assert_null(strstr(err.text, "did you mean"));
    refuse(NULL, far, 1, (const char *const[]){"has no settings", "\"temperature\"", NULL});
    char longest[3000];
    memset(longest, 'k', sizeof longest);
    memcpy(longest + 2990, "=1", 3);
    REFUSE(longest, "no setting \"kkkkkkkk");
}

static void what_is_no_setting_is_refused(void **state)
{
    (void)state;
    REFUSE("base", "\"base\" is not written as key=value");
    REFUSE("=3", "\"=3\" is not written as key=value");
    REFUSE("", "\"\" is not written as key=value");
}

static void a_key_said_twice_is_refused(void **state)
{
    (void)state;
    static const char *const twice[] = {"base=3", "table=x", "base=4"};
    refuse(
        rows, twice, 3,
        (const char *const[]){"base is set twice", "\"base=3\"", "\"base=4\"", "keep one", NULL});
    static const char *const same[] = {"base=3", "base=3"};
    refuse(rows, same, 2, (const char *const[]){"base is set twice", NULL});
}

/* A later row's fallback must not be left out when an earlier setting is wrong in its value: the
 * error is that of the setting, whatever comes behind it. */
static void the_first_error_is_the_one_told(void **state)
{
    (void)state;
    static const char *const two[] = {"base=99", "answr=plain"};
    refuse(rows, two, 2, (const char *const[]){"base is \"99\"", NULL});
}

static void more_rows_than_fit_a_list(void **state)
{
    (void)state;
    static char names[80][40];
    static lg_setting many[81];
    static struct lg__value value[80];
    for (int i = 0; i < 80; i++) {
        snprintf(names[i], sizeof names[i], "a-setting-of-many-%d", i);
        many[i] = (lg_setting){names[i], "0..9", "5", "one of many"};
    }
    assert_int_equal(lg__settings_count(many), 80);
    static const char *const last[] = {"a-setting-of-many-79=7"}, *const none[] = {"zzz=1"};
    assert_int_equal(lg__settings_read(value, 80, many, last, 1, "task test", NULL), LG_OK);
    assert_int_equal(value[79].i, 7);
    assert_int_equal(value[78].i, 5);
    lg_error err = {0};
    assert_int_equal(lg__settings_read(value, 80, many, none, 1, "task test", &err),
                     LG_ERROR_ARGUMENT);
    assert_says(&err, "no setting \"zzz\"");
}

/* A table of more rows than the caller has values for is refused, and nothing is written. */
static void more_rows_than_room_are_refused(void **state)
{
    (void)state;
    struct lg__value value[ROWS];
    lg_error err = {0};
    memset(value, 0x55, sizeof value);
    assert_int_equal(lg__settings_read(value, ROWS - 1, rows, NULL, 0, "task test", &err),
                     LG_ERROR_ARGUMENT);
    assert_says(&err, "task test has 4 settings, and there is room for 3");
    for (size_t i = 0; i < sizeof value; i++) assert_int_equal(((unsigned char *)value)[i], 0x55);
}

static void the_nearest_word(void **state)
{
    (void)state;
    static const char *const words[] = {"tokens", "ids", "loss", "length", "sparsity"};
    assert_int_equal(lg_nearest("token", words, 5), 0);
    assert_int_equal(lg_nearest("tokens", words, 5), 0);
    assert_int_equal(lg_nearest("id", words, 5), 1);
    assert_int_equal(lg_nearest("los", words, 5), 2);
    assert_int_equal(lg_nearest("lenght", words, 5), 3);
    assert_int_equal(lg_nearest("sparcety", words, 5), 4);
    assert_int_equal(lg_nearest("sparsities", words, 5), 4);
    assert_int_equal(lg_nearest("temperature", words, 5), -1);
    assert_int_equal(lg_nearest("xyz", words, 5), -1); /* all letters differ: no slip */
    assert_int_equal(lg_nearest("foo", words, 5), -1); /* one of "loss" is not enough */
    assert_int_equal(lg_nearest("lass", words, 5), 2);
    assert_int_equal(lg_nearest("tks", words, 5), 0); /* left out, but nothing wrong */
    assert_int_equal(lg_nearest("", words, 5), -1);
    assert_int_equal(lg_nearest("token", words, 0), -1);
    char longest[200];
    memset(longest, 't', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *const one[] = {longest};
    assert_int_equal(lg_nearest(longest, words, 5), -1); /* too long to compare, not too far */
    assert_int_equal(lg_nearest("tokens", one, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(what_is_unsaid_has_its_fallback),
        cmocka_unit_test(what_is_said_counts),
        cmocka_unit_test(a_number_out_of_its_range_is_refused),
        cmocka_unit_test(a_word_that_is_not_listed_is_refused),
        cmocka_unit_test(a_key_that_is_not_there_is_refused),
        cmocka_unit_test(what_is_no_setting_is_refused),
        cmocka_unit_test(a_key_said_twice_is_refused),
        cmocka_unit_test(the_first_error_is_the_one_told),
        cmocka_unit_test(more_rows_than_fit_a_list),
        cmocka_unit_test(more_rows_than_room_are_refused),
        cmocka_unit_test(the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
