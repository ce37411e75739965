/* test_yaml.c: a YAML file as a tree. What a reader of tables and configs relies on: every value
 * keeps its text, its line and its order, and what is refused names FILE:LINE and the remedy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "lengthen.h"

static struct lg__yaml *parse(const char *text)
{
    lg_error err = {0};
    struct lg__yaml *root = lg__yaml_parse("t.yaml", text, &err);
    if (!root) fail_msg("refused: %s\n%s", err.text, text);
    return root;
}

static void assert_says(const lg_error *err, const char *start, const char *words)
{
    if (strncmp(err->text, start, strlen(start)) != 0)
        fail_msg("does not start with \"%s\": %s", start, err->text);
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

/* This text must be refused at this line, with these words. */
static void refuse(const char *text, int line, const char *words)
{
    lg_error err = {0};
    char start[32];
    struct lg__yaml *root = lg__yaml_parse("t.yaml", text, &err);
    if (root) fail_msg("accepted:\n%s", text);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    snprintf(start, sizeof start, "t.yaml:%d: ", line);
    assert_says(&err, start, words);
    assert_null(lg__yaml_parse("t.yaml", text, NULL));
}

static const struct lg__yaml *at(const struct lg__yaml *list, int i)
{
    const struct lg__yaml *n = list->first;
    while (n && i--) n = n->next;
    assert_non_null(n);
    return n;
}

/* ---- The tree ----------------------------------------------------------------------------- */

static void a_tree_has_lines_kinds_and_order(void **state)
{
    (void)state;
    struct lg__yaml *root = parse("# a comment\n"
                                  "\n"
                                  "name: carry\n"
                                  "inputs: [\"0\", '1',\n"
                                  "         two]\n"
                                  "rules:\n"
                                  "  c0 0 0: c0 0\n"
                                  "\n"
                                  "  \"c0 0 1\": c0 1   # behind a value\n"
                                  "empty:\n"
                                  "list:\n"
                                  "  - {a: 1}\n"
                                  "  -\n"
                                  "    - deep\n");
    assert_int_equal(root->kind, LG__YAML_MAP);
    assert_int_equal(root->count, 5);
    assert_int_equal(root->line, 3);
    assert_null(root->key);
    assert_string_equal(root->file, "t.yaml");
    static const char *const keys[] = {"name", "inputs", "rules", "empty", "list"};
    static const int lines[] = {3, 4, 6, 10, 11}, counts[] = {0, 3, 2, 0, 2};
    static const enum lg__yaml_kind kinds[] = {LG__YAML_SCALAR, LG__YAML_LIST, LG__YAML_MAP,
                                               LG__YAML_SCALAR, LG__YAML_LIST};
    for (int i = 0; i < 5; i++) {
        const struct lg__yaml *n = at(root, i);
        assert_string_equal(n->key, keys[i]);
        assert_int_equal(n->line, lines[i]); /* of the key, where the value starts later */
        assert_int_equal(n->kind, kinds[i]);
        assert_int_equal(n->count, counts[i]);
        assert_string_equal(n->file, "t.yaml");
        assert_ptr_equal(lg__yaml_get(root, keys[i]), n);
    }
    assert_null(at(root, 4)->next);
    assert_string_equal(at(root, 0)->text, "carry");
    const struct lg__yaml *inputs = at(root, 1), *rules = at(root, 2), *list = at(root, 4);
    assert_string_equal(inputs->text, "");
    assert_string_equal(at(inputs, 0)->text, "0");
    assert_string_equal(at(inputs, 1)->text, "1");
    assert_string_equal(at(inputs, 2)->text, "two");
    assert_null(at(inputs, 2)->key);
    assert_int_equal(at(inputs, 0)->line, 4);
    assert_int_equal(at(inputs, 2)->line, 5);
    assert_string_equal(at(rules, 0)->key, "c0 0 0");
    assert_string_equal(at(rules, 0)->text, "c0 0");
    assert_int_equal(at(rules, 1)->line, 9);
    assert_string_equal(at(rules, 1)->text, "c0 1");
    assert_string_equal(at(root, 3)->text, ""); /* nothing is written */
    assert_int_equal(at(list, 0)->kind, LG__YAML_MAP);
    assert_string_equal(at(at(list, 0), 0)->key, "a");
    assert_int_equal(at(list, 1)->kind, LG__YAML_LIST);
    assert_string_equal(at(at(list, 1), 0)->text, "deep");
    assert_int_equal(at(at(list, 1), 0)->line, 14);
    lg__yaml_free(root);
    lg__yaml_free(NULL);
}

/* YAML 1.1 has texts that mean something else elsewhere (no, 1e3, ~, 010): a word of a vocabulary
 * stays what was written. */
static void scalars_stay_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"no", "~", "null", "010", "1e3", "0x1F", "yes", "\xC3\xA4"};
    struct lg__yaml *root =
        parse("[no, ~, null, 010, 1e3, 0x1F, yes, \xC3\xA4, \"a\\tb\", 'it''s']\r\n");
    for (int i = 0; i < 8; i++) assert_string_equal(at(root, i)->text, texts[i]);
    assert_string_equal(at(root, 8)->text, "a\tb");
    assert_string_equal(at(root, 9)->text, "it's");
    assert_int_equal(root->count, 10);
    lg__yaml_free(root);
    root = parse("word"); /* a scalar alone, without a line end */
    assert_int_equal(root->kind, LG__YAML_SCALAR);
    assert_string_equal(root->text, "word");
    lg__yaml_free(root);
    root = parse("--- # one document, said so\na: b\n...\n");
    assert_string_equal(at(root, 0)->text, "b");
    lg__yaml_free(root);
    root = parse("a: {}\nb: []\n");
    assert_int_equal(at(root, 0)->kind, LG__YAML_MAP);
    assert_int_equal(at(root, 1)->kind, LG__YAML_LIST);
    assert_null(at(root, 1)->first);
    lg__yaml_free(root);
}

/* Longer than a chunk of the tree's memory, in number and in one text. */
static void a_tree_may_be_large(void **state)
{
    (void)state;
    enum { KEYS = 30000, LETTERS = 200000 };
    char *text = malloc(KEYS * 16 + LETTERS + 64), *s = text;
    assert_non_null(text);
    for (int i = 0; i < KEYS; i++) s += sprintf(s, "k%d: %d\n", KEYS - i, i);
    s += sprintf(s, "long: ");
    memset(s, 'x', LETTERS);
    strcpy(s + LETTERS, "\n");
    struct lg__yaml *root = parse(text);
    assert_int_equal(root->count, KEYS + 1);
    int i = 0;
    for (const struct lg__yaml *n = root->first; i < KEYS; n = n->next, i++) {
        assert_int_equal(atoi(n->key + 1), KEYS - i);
        assert_int_equal(atoi(n->text), i);
        assert_int_equal(n->line, i + 1);
    }
    assert_int_equal(strlen(lg__yaml_get(root, "long")->text), LETTERS);
    lg__yaml_free(root);
    strcpy(s + LETTERS, "\nk7: again\n"); /* found among very many keys */
    char words[64];
    snprintf(words, sizeof words, "\"k7\" is said already in line %d; keep one", KEYS - 6);
    refuse(text, KEYS + 2, words);
    free(text);
}

static void what_is_no_tree_is_refused(void **state)
{
    (void)state;
    refuse("a: 1\nb: [1, 2\n", 3, "this is not YAML");
    refuse("a: {b: 1\nc: 2}\nd\n", 2, "; correct this line or one before it");
    refuse("a: 1\n b: 2\n", 2, "this is not YAML");
    refuse("a: 1\n\tb: 2\n", 2, "this is not YAML");
    refuse("a: \"open\n", 2, "this is not YAML");
    refuse("a: 1\nb: 2\na: 3\n", 3, "\"a\" is said already in line 1; keep one");
    refuse("x: {b: 1, c: 2,\n b: 3}\n", 2, "\"b\" is said already in line 1");
    refuse("x: {b: 1, b: 3}\n", 1, "\"b\" is said already in line 1");
    refuse("- {\"b\": 1, 'b': 3}\n", 1, "\"b\" is said already"); /* quotes are not of the key */
    refuse("a: 1\n---\nb: 2\n", 2, "a second document starts here; put it into a file");
    refuse("", 1, "there is nothing in it; write");
    refuse("# only this\n\n", 1, "there is nothing in it; write");
    refuse("a: &x 1\nb: *x\n", 2, "references (*name) are not read; write the value out");
    refuse("ok: 1\n? [a, b]\n: 1\n", 2, "a key must be plain text here; write");
    refuse("a: 1\nb: \"x\\0y\"\n", 2, "zero byte (\\0) in this text; take it out");
    refuse("a: 1\n\"x\\0y\": 1\n", 2, "zero byte");
    lg_error err = {0};
    assert_null(lg__yaml_parse("t.yaml", "a: 1\nb: \xFF\xFE\n", &err));
    assert_says(&err, "t.yaml:", "cannot be read as text");
    assert_says(&err, "t.yaml:", "save it as UTF-8");
    assert_says(&err, "t.yaml:", "byte 8");
}

/* The same key in two maps, or as a value, is no repetition. */
static void keys_may_come_again_elsewhere(void **state)
{
    (void)state;
    lg__yaml_free(parse("a: {b: 1}\nc: {b: 1}\nb: a\nd: [{b: 1}, {b: 1}]\n"));
}

static void nesting_has_an_end(void **state)
{
    (void)state;
    char text[300];
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = 0;
    lg__yaml_free(parse(text));
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    text[130] = 0;
    refuse(text, 1, "nested too deeply; flatten it");
}

static void files_are_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/lengthen-yaml-XXXXXX", path[64], start[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.yaml", folder);
    lg_error err = {0};
    assert_null(lg__yaml_read(path, &err));
    assert_int_equal(err.code, LG_ERROR_SYSTEM);
    assert_says(&err, path, "cannot be read: No such file or directory; check the name");
    assert_null(lg__yaml_read(folder, &err));
    assert_int_equal(err.code, LG_ERROR_SYSTEM);
    assert_says(&err, folder, "cannot be read: Is a directory");
    static const char *const texts[] = {"a: 1\nb: 2\n", "a: 1\na: 2\n", ""};
    static const char *const says[] = {NULL, "\"a\" is said already", "there is nothing in it"};
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(texts[i], f);
        fclose(f);
        char name[64];
        strcpy(name, path);
        struct lg__yaml *root = lg__yaml_read(name, &err);
        name[0] = 'X'; /* the tree has a copy */
        assert_int_equal(root != NULL, says[i] == NULL);
        if (root) {
            assert_string_equal(root->file, path);
            assert_string_equal(lg__yaml_get(root, "b")->text, "2");
            assert_string_equal(lg__yaml_get(root, "b")->file, path);
        }
        snprintf(start, sizeof start, "%s:%d: ", path, i == 1 ? 2 : 1);
        if (!root) assert_says(&err, start, says[i]);
        lg__yaml_free(root);
    }
    unlink(path);
    rmdir(folder);
}

/* ---- Looking up --------------------------------------------------------------------------- */

#define REFUSED(call, start, words)                                                                \
    do {                                                                                           \
        lg_error err = {0};                                                                        \
        assert_int_equal(call, LG_ERROR_ARGUMENT);                                                 \
        assert_int_equal(err.code, LG_ERROR_ARGUMENT);                                             \
        assert_says(&err, start, words);                                                           \
    } while (0)

static void kinds_are_checked(void **state)
{
    (void)state;
    struct lg__yaml *root = parse("one: 1\nlist: [a]\nmap: {k: v}\n");
    const struct lg__yaml *one = at(root, 0), *list = at(root, 1), *map = at(root, 2), *v = NULL;
    assert_int_equal(lg__yaml_is(one, LG__YAML_SCALAR, NULL), LG_OK);
    assert_int_equal(lg__yaml_is(list, LG__YAML_LIST, NULL), LG_OK);
    assert_int_equal(lg__yaml_is(map, LG__YAML_MAP, NULL), LG_OK);
    REFUSED(lg__yaml_is(one, LG__YAML_LIST, &err),
            "t.yaml:1: ", "one is a single value, but must be a list; write [a, b, ..]");
    REFUSED(lg__yaml_is(list, LG__YAML_MAP, &err),
            "t.yaml:2: ", "list is a list, but must be a map; write {key: value, ..}");
    REFUSED(lg__yaml_is(map, LG__YAML_SCALAR, &err),
            "t.yaml:3: ", "map is a map, but must be a single value; write one word or number");
    REFUSED(lg__yaml_is(list->first, LG__YAML_MAP, &err), "t.yaml:2: ", "this entry is a single");
    assert_int_equal(lg__yaml_need(root, "list", LG__YAML_LIST, &v, NULL), LG_OK);
    assert_ptr_equal(v, list);
    REFUSED(lg__yaml_need(root, "list", LG__YAML_MAP, &v, &err), "t.yaml:2: ", "must be a map");
    REFUSED(lg__yaml_need(root, "start", LG__YAML_LIST, &v, &err),
            "t.yaml:1: ", "\"start\" is missing; add it");
    REFUSED(lg__yaml_need(map, "start", LG__YAML_LIST, &v, &err),
            "t.yaml:3: ", "\"start\" is missing in map; add it");
    REFUSED(lg__yaml_need(list, "start", LG__YAML_LIST, &v, &err), "t.yaml:2: ", "must be a map");
    assert_null(lg__yaml_get(root, "star"));
    assert_null(lg__yaml_get(list, "a")); /* a list has no keys */
    lg__yaml_free(root);
}

static void keys_are_checked(void **state)
{
    (void)state;
    static const char *const known[] = {"name", "tracks", "inputs", NULL}, *const none[] = {NULL};
    struct lg__yaml *root = parse("name: a\ninputs: [b]\n");
    assert_int_equal(lg__yaml_keys(root, known, NULL), LG_OK);
    REFUSED(lg__yaml_keys(root, none, &err), "t.yaml:1: ", "there is no key \"name\"");
    REFUSED(lg__yaml_keys(at(root, 1), known, &err), "t.yaml:2: ", "inputs is a list");
    lg__yaml_free(root);
    root = parse("name: a\n\ntrack: 2\ninput: x\n");
    REFUSED(lg__yaml_keys(root, known, &err), "t.yaml:3: ",
            "there is no key \"track\"; did you mean \"tracks\"? the keys are: name, tracks, "
            "inputs");
    lg__yaml_free(root);
    root = parse("temperature: a\n");
    REFUSED(lg__yaml_keys(root, known, &err),
            "t.yaml:1: ", "there is no key \"temperature\"; the keys are: name, tracks, inputs");
    lg__yaml_free(root);
}

/* ---- Scalars ------------------------------------------------------------------------------ */

static void whole_numbers(void **state)
{
    (void)state;
    struct lg__yaml *root = parse("n: 64\nlow: -3\nbig: 9223372036854775807\n");
    int64_t v = 0;
    assert_int_equal(lg__yaml_int(at(root, 0), 1, 64, &v, NULL), LG_OK);
    assert_int_equal(v, 64);
    assert_int_equal(lg__yaml_int(at(root, 0), 64, 65, &v, NULL), LG_OK);
    assert_int_equal(lg__yaml_int(at(root, 1), -3, -3, &v, NULL), LG_OK);
    assert_int_equal(v, -3);
    assert_int_equal(lg__yaml_int(at(root, 2), 0, INT64_MAX, &v, NULL), LG_OK);
    assert_true(v == INT64_MAX);
    REFUSED(lg__yaml_int(at(root, 0), 1, 63, &v, &err),
            "t.yaml:1: ", "n is \"64\"; it must be a whole number in 1..63");
    REFUSED(lg__yaml_int(at(root, 1), -2, 5, &v, &err), "t.yaml:2: ", "low is \"-3\"");
    lg__yaml_free(root);
    static const char *const wrong[] = {
        "x: two\n",    "x: 1.0\n", "x: 1e1\n", "x: 0x8\n", "x:\n",
        "x: \"5 \"\n", "x: 5 6\n", "x: [5]\n", "x: {5}\n", "x: 9223372036854775808\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        root = parse(wrong[i]);
        REFUSED(lg__yaml_int(root->first, INT64_MIN, INT64_MAX, &v, &err), "t.yaml:1: x is ",
                "must be");
        lg__yaml_free(root);
    }
    root = parse("- 5\n- six\n");
    REFUSED(lg__yaml_int(at(root, 1), 0, 9, &v, &err), "t.yaml:2: ", "this entry is \"six\"");
    lg__yaml_free(root);
}

static void real_numbers(void **state)
{
    (void)state;
    struct lg__yaml *root = parse("[2, 0.5, 1e-9, -1.5e3]");
    double v = 0;
    assert_int_equal(lg__yaml_real(at(root, 0), 2, 2, &v, NULL), LG_OK);
    assert_true(v == 2);
    assert_int_equal(lg__yaml_real(at(root, 1), 0, 1, &v, NULL), LG_OK);
    assert_true(v == 0.5);
    assert_int_equal(lg__yaml_real(at(root, 2), 1e-9, 1e9, &v, NULL), LG_OK);
    assert_true(v == 1e-9);
    assert_int_equal(lg__yaml_real(at(root, 3), -1500, 0, &v, NULL), LG_OK);
    lg__yaml_free(root);
    static const char *const wrong[] = {"0",   "-1", "2e9", "1e-10", "nan",  "inf",
                                        "one", "1x", "",    "[1]",   "1e999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[32];
        snprintf(text, sizeof text, "ok: 1\nw: %s\n", wrong[i]);
        root = parse(text);
        REFUSED(lg__yaml_real(at(root, 1), 1e-9, 1e9, &v, &err), "t.yaml:2: w is ", "must be");
        lg__yaml_free(root);
    }
    root = parse("[inf, nan]"); /* no number, whatever the range */
    for (int i = 0; i < 2; i++)
        REFUSED(lg__yaml_real(at(root, i), -INFINITY, INFINITY, &v, &err), "t.yaml:1: ", "must be");
    lg__yaml_free(root);
    root = parse("w: 0\n");
    REFUSED(lg__yaml_real(at(root, 0), 1e-9, 1e9, &v, &err),
            "t.yaml:1: ", "w is \"0\"; it must be a number in 1e-09..1e+09");
    lg__yaml_free(root);
}

static void choices(void **state)
{
    (void)state;
    static const char *const words[] = {"output", "state", NULL};
    struct lg__yaml *root = parse("a: output\nb: state\nc: stat\nd: [state]\ne:\n");
    int v = -1;
    assert_int_equal(lg__yaml_choice(at(root, 0), words, &v, NULL), LG_OK);
    assert_int_equal(v, 0);
    assert_int_equal(lg__yaml_choice(at(root, 1), words, &v, NULL), LG_OK);
    assert_int_equal(v, 1);
    REFUSED(lg__yaml_choice(at(root, 2), words, &v, &err),
            "t.yaml:3: ", "c is \"stat\"; it must be one of: output, state");
    REFUSED(lg__yaml_choice(at(root, 3), words, &v, &err), "t.yaml:4: ", "d is a list");
    REFUSED(lg__yaml_choice(at(root, 4), words, &v, &err), "t.yaml:5: ", "e is \"\"");
    lg__yaml_free(root);
}

/* Texts of a user's that are longer than an error must not push out where it is. */
static void long_values_are_cut(void **state)
{
    (void)state;
    char text[3000];
    int64_t v;
    memcpy(text, "k: ", 3);
    memset(text + 3, 'z', sizeof text - 4);
    text[sizeof text - 1] = 0;
    struct lg__yaml *root = parse(text);
    REFUSED(lg__yaml_int(root->first, 1, 9, &v, &err), "t.yaml:1: k is \"zzzz",
            "it must be a whole number in 1..9");
    lg__yaml_free(root);
}

/* Whatever allocation fails: no tree, a reason, nothing lost. */
static void no_memory_is_told(void **state)
{
    (void)state;
    int failures = 0;
    for (int n = 0;; n++) {
        lg_error err = {0};
        lg__alloc_fail_after(n);
        struct lg__yaml *root = lg__yaml_parse("t.yaml", "a: {b: 1, c: 2}\nd: [e]\n", &err);
        lg__alloc_fail_after(-1);
        if (root) {
            lg__yaml_free(root);
            break;
        }
        assert_int_equal(err.code, LG_ERROR_MEMORY);
        assert_says(&err, "t.yaml: ", "no memory to read it; end other programs");
        failures++;
    }
    assert_true(failures >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_has_lines_kinds_and_order),
        cmocka_unit_test(scalars_stay_text),
        cmocka_unit_test(a_tree_may_be_large),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(keys_may_come_again_elsewhere),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(kinds_are_checked),
        cmocka_unit_test(keys_are_checked),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(real_numbers),
        cmocka_unit_test(choices),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
