/* test_text_paths.c: ~ and variables in the paths of texts. Without it the file of an experiment could
 * find its texts on one machine only, or a path with a dollar in it be taken for another one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "helpers/home.h"
#include "base/paths.h"
#include "runs/run.h"
#include "runs/texts.h"

static void becomes(const char *list, const char *expected)
{
    lg_error err = {0};
    char *got = NULL;
    if (lg__paths_expand(list, &got, &err)) fail_msg("%s: %s", list, err.text);
    assert_string_equal(got, expected);
    free(got);
}

static void set_variables(void)
{
    setenv("HOME", "/home/me", 1);
    setenv("TEXTS", "/data", 1);
    unsetenv("LENGTHEN_TEXT");
    unsetenv("LENGTHEN_CACHE");
    unsetenv("XDG_CACHE_HOME");
}

static void what_a_path_begins_with_is_expanded(void **state)
{
    (void)state;
    set_variables();
    becomes("", "");
    becomes("bytes", "bytes");
    becomes("~", "/home/me");
    becomes("~/a/*.txt", "/home/me/a/*.txt");
    becomes("$TEXTS", "/data");
    becomes("$TEXTS/a,b,~/c,", "/data/a,b,/home/me/c,");
    becomes("~you/a", "~you/a");
    becomes("a/~/$TEXTS", "a/~/$TEXTS");
    becomes("$/a", "$/a");
}

static void texts_of_the_experiments_have_a_place(void **state)
{
    (void)state;
    set_variables();
    becomes("$LENGTHEN_TEXT/english", "/home/me/.cache/lengthen/text/english");
    setenv("XDG_CACHE_HOME", "/cache", 1);
    becomes("$LENGTHEN_TEXT/english", "/cache/lengthen/text/english");
    setenv("LENGTHEN_CACHE", "/own", 1);
    becomes("$LENGTHEN_TEXT/english", "/own/text/english");
    setenv("LENGTHEN_TEXT", "/texts", 1);
    becomes("$LENGTHEN_TEXT/english", "/texts/english");
}

static void a_variable_that_is_not_set_is_refused(void **state)
{
    (void)state;
    lg_error err = {0};
    char *got = NULL;
    unsetenv("NOWHERE");
    assert_int_equal(lg__paths_expand("a,$NOWHERE/b", &got, &err), LG_ERROR_ARGUMENT);
    assert_string_equal(err.text, "the path $NOWHERE/b begins with $NOWHERE, but the variable "
                                  "NOWHERE is not set; set it, or write the path out");
    assert_null(got);
}

/* Who reads an experiment on language first has no texts yet, and is told what makes them. */
static void texts_that_were_never_made_are_named(void **state)
{
    (void)state;
    lg_error err = {0};
    setenv("LENGTHEN_TEXT", "/nowhere/text", 1);
    lg_task *t = lg_task_new("text:$LENGTHEN_TEXT/english", NULL, 0, &err);
    assert_null(t);
    assert_non_null(strstr(err.text, "there is no folder /nowhere/text"));
    assert_non_null(strstr(err.text, "experiments/language/get-text makes it"));
    assert_int_equal(lg__paths_check("/nowhere/else", &err), 0);
    unsetenv("LENGTHEN_TEXT");
}

/* The config keeps the variable, so that it means the same on another machine. */
static void a_run_finds_its_texts_through_a_variable(void **state)
{
    (void)state;
    lg_error err = {0};
    struct lg__run r = {0};
    const char *sets[] = {"task.name=text", "task.text=$TEXTS/a.txt", "task.cache=$TEXTS/a.tokens",
                          "train.length=[4, 4]"};
    FILE *f = fopen(in_home("a.txt"), "w");
    assert_non_null(f);
    fputs("one\n<|endoftext|>\ntwo\n<|endoftext|>\nthree words of text\n", f);
    fclose(f);
    setenv("TEXTS", home, 1);
    if (lg__run_open(&r, NULL, sets, 4, &err)) fail_msg("%s", err.text);
    assert_int_equal(lg_corpus_documents(lg__text_corpus(r.task), LG_CORPUS_ALL), 3);
    assert_int_equal(access(in_home("a.tokens"), R_OK), 0);
    char *text = lg__config_text(&r.config);
    assert_non_null(strstr(text, "$TEXTS/a.txt"));
    assert_null(strstr(text, home));
    free(text);
    lg__run_close(&r);
}

int main(void)
{
    lg_text_task_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_path_begins_with_is_expanded),
        cmocka_unit_test(texts_of_the_experiments_have_a_place),
        cmocka_unit_test(a_variable_that_is_not_set_is_refused),
        cmocka_unit_test(texts_that_were_never_made_are_named),
        cmocka_unit_test(a_run_finds_its_texts_through_a_variable),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
