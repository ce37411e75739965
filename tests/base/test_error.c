/* test_error.c: a sentence, which setting is at fault, and where it was said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static const char *longer(const char *name)
{
    static const char *const names[][2] = {{"id", "positions.id"}, {"max_id", "positions.max_id"}};
    for (int i = 0; i < 2; i++)
        if (strcmp(names[i][0], name) == 0) return names[i][1];
    return NULL;
}

static void is(const lg_error *err, const char *text, const char *key)
{
    assert_string_equal(err->text, text);
    assert_string_equal(err->key, key);
}

/* Only what the format marks is a name: words that are quoted are not, whatever they look like. */
static void names_are_those_of_the_format(void **state)
{
    (void)state;
    static const struct {
        const char *quoted, *shown;
    } user[] = {{"max_id is", "max_id is"},
                {"{max_id}", "{max_id}"},
                {"\001max_id\001", "?max_id?"},
                {"\002max_id\002", "?max_id?"},
                {"", ""}};
    for (int i = 0; i < 5; i++) {
        lg_error err;
        char text[200];
        memset(&err, 'x', sizeof err); /* need not be cleared before */
        assert_int_equal(lg__fail_key(&err, LG_ERROR_ARGUMENT, "max_id",
                                      "%s: {id} and {max_id} are %d, %s; set {%s} or {other}",
                                      user[i].quoted, 7, user[i].quoted, "max_id"),
                         LG_ERROR_ARGUMENT);
        assert_true(err.code == LG_ERROR_ARGUMENT && !*err.file && !err.line && !err.set);
        snprintf(text, sizeof text, "%s: id and max_id are 7, %s; set max_id or other",
                 user[i].shown, user[i].shown);
        is(&err, text, "max_id");
        lg__error_rename(&err, longer);
        snprintf(text, sizeof text,
                 "%s: positions.id and positions.max_id are 7, %s; set positions.max_id or other",
                 user[i].shown, user[i].shown);
        is(&err, text, "positions.max_id");
        lg__error_rename(&err, longer); /* they have no other names now */
        is(&err, text, "positions.max_id");
    }
}

static void a_place_takes_the_place_of_another(void **state)
{
    (void)state;
    lg_error err;
    lg__fail_key(&err, LG_ERROR_ARGUMENT, "id", "{id} is a: b; set {id}");
    lg__error_set(&err, 3, "id=a: b");
    is(&err, "--set id=a: b: id is a: b; set id", "id");
    assert_true(err.set == 3 && !*err.file);
    lg__error_rename(&err, longer);
    is(&err, "--set id=a: b: positions.id is a: b; set positions.id", "positions.id");
    lg__error_place(&err, "c.yaml", 7);
    is(&err, "c.yaml:7: positions.id is a: b; set positions.id", "positions.id");
    assert_true(!err.set && err.line == 7);
    assert_string_equal(err.file, "c.yaml");
    lg__error_before(&err, "run %s: ", "a");
    is(&err, "run a: c.yaml:7: positions.id is a: b; set positions.id", "positions.id");
    assert_int_equal(err.line, 7);
    lg__error_place(&err, "d.yaml", 0);
    is(&err, "d.yaml: positions.id is a: b; set positions.id", "positions.id");
    lg__error_place(&err, NULL, 0);
    is(&err, "positions.id is a: b; set positions.id", "positions.id");
    assert_true(!*err.file && !err.line);
    lg__fail(&err, LG_ERROR_SYSTEM, "{no}");
    is(&err, "{no}", "");
    assert_int_equal(err.names, 0);
}

/* What does not fit is cut off at the end, and no name is looked for behind it. */
static void long_ones_are_cut(void **state)
{
    (void)state;
    char words[1000], place[400];
    memset(words, 'w', sizeof words - 1);
    memset(place, 'p', sizeof place - 1);
    words[sizeof words - 1] = place[sizeof place - 1] = 0;
    for (size_t n = 0; n < sizeof words; n++) {
        lg_error err;
        lg__fail_key(&err, LG_ERROR_ARGUMENT, "max_id", "%s{max_id}{id}{id}{max_id}", words + n);
        for (int i = 0; i < 2; i++) {
            lg__error_rename(&err, longer);
            assert_true(strlen(err.text) < sizeof err.text && err.names <= 4);
            for (int k = 0; k < err.names; k++)
                assert_true(err.name[k].at + err.name[k].size < (int)sizeof err.text);
            lg__error_place(&err, place, 1);
            lg__error_before(&err, "%s", place);
            lg__error_set(&err, 1, place);
        }
    }
    lg__error_rename(NULL, longer);
    lg__error_place(NULL, "a", 1);
    lg__error_set(NULL, 1, "a");
    lg__error_before(NULL, "a");
    assert_int_equal(lg__fail_key(NULL, LG_ERROR_NUMERIC, "a", "b"), LG_ERROR_NUMERIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_format),
        cmocka_unit_test(a_place_takes_the_place_of_another),
        cmocka_unit_test(long_ones_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
