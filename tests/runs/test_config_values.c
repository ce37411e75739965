/* test_config_values.c: the table of a config's keys, and configs as keys and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lengthen_runs.h"
#include "runs/config.h"

static const lg_config_value *value_of(const lg_config_values *v, const char *key)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->at[i].key, key) == 0) return &v->at[i];
    fail_msg("no key %s", key);
    return NULL;
}

static void the_table_has_every_key(void **state)
{
    (void)state;
    int count, words = 0;
    const struct lg__config_key *rows = lg__config_keys(&count);
    assert_int_equal(lg_config_key_count(), count);
    for (int i = 0; i < count; i++) {
        lg_config_key k = lg_config_key_at(i);
        assert_string_equal(k.key, rows[i].key);
        assert_string_equal(k.fallback, rows[i].fallback);
        assert_true(*k.type && *k.doc && *k.range);
        assert_true(strcmp(k.range, "NAME") != 0); /* names are written out */
        if (strcmp(k.key, "positions.ids") == 0)
            words = strncmp(k.range, "plain|", 6) == 0 && strstr(k.range, "coupled") != NULL;
    }
    assert_true(words);
}

/* A config that says nothing but its task has the default of every key that is not auto. */
static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=addition"};
    struct lg__config c;
    lg_error err = {0};
    lg_config_values own = {0}, usual = {0};
    int different = 0;
    if (lg__config_read(&c, NULL, sets, 1, &err)) fail_msg("%s", err.text);
    char *text = lg__config_text(&c);
    assert_non_null(text);
    if (lg_config_values_read(&own, text, &err)) fail_msg("%s", err.text);
    if (lg_config_values_default(&usual, c.task, &err)) fail_msg("%s", err.text);
    assert_int_equal(own.count, usual.count);
    for (int i = 0; i < own.count; i++) {
        const lg_config_value *d = value_of(&usual, own.at[i].key);
        if (lg_config_same_value(own.at[i].value, d->value)) continue;
        different++;
        if (strcmp(d->value, "auto") != 0 && strcmp(d->key, "task.name") != 0)
            fail_msg("%s: %s, not %s", d->key, own.at[i].value, d->value);
    }
    assert_true(different > 1);
    assert_string_equal(lg_config_values_get(&usual, "train.init_from"), "");
    assert_null(lg_config_values_get(&usual, "train.init_fro"));
    free(text);
    lg__config_clear(&c);
    lg_config_values_clear(&own);
    lg_config_values_clear(&usual);
}

/* What a text says is its own: no key, no comment and no list is read out of it. */
static void values_are_yaml(void **state)
{
    (void)state;
    static const char yaml[] = "# seed: 9\n"
                               "seed: 7\n"
                               "task:\n"
                               "  name: \"jsonl:a: b # c.jsonl\"\n"
                               "  text: \"[1, 2]\"\n"
                               "  long: \"one\n\n    seed: 8\"\n"
                               "positions:\n"
                               "  rope: {share: 0.5}\n"
                               "  window: [[-2, 2], [0, 1]]\n"
                               "train:\n"
                               "  from: \"\"\n";
    lg_error err = {0};
    lg_config_values v = {0};
    if (lg_config_values_read(&v, yaml, &err)) fail_msg("%s", err.text);
    assert_int_equal(v.count, 7);
    assert_string_equal(v.at[0].key, "seed");
    assert_string_equal(v.at[0].value, "7");
    assert_string_equal(lg_config_values_get(&v, "task.name"), "jsonl:a: b # c.jsonl");
    assert_string_equal(value_of(&v, "task.text")->value, "[1, 2]");
    assert_int_equal(value_of(&v, "task.text")->list, 0);
    assert_string_equal(lg_config_values_get(&v, "task.long"), "one\nseed: 8");
    assert_string_equal(lg_config_values_get(&v, "positions.rope.share"), "0.5");
    assert_string_equal(value_of(&v, "positions.window")->value, "[[-2, 2], [0, 1]]");
    assert_int_equal(value_of(&v, "positions.window")->list, 1);
    assert_string_equal(lg_config_values_get(&v, "train.from"), "");
    lg_config_values_clear(&v);
    assert_int_equal(lg_config_values_read(&v, "seed: [", &err), LG_ERROR_ARGUMENT);
    lg_config_values_clear(&v);
}

static void numbers_are_compared_as_numbers(void **state)
{
    (void)state;
    assert_true(lg_config_same_value("0.001", "1e-3") && lg_config_same_value("a", "a"));
    assert_false(lg_config_same_value("1", "1x") || lg_config_same_value("", "0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_every_key),
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(values_are_yaml),
        cmocka_unit_test(numbers_are_compared_as_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
