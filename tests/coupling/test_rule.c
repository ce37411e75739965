/* test_rule.c: a rule's labels, written out by hand; its file, there and back; what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coupling/coupling.h"

/* ---- Helpers -------------------------------------------------------------------------------------- */

static char path[64];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/lengthen-rule-XXXXXX");
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    return fd < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_rule(const char *text, struct lg__rule *r, lg_error *err)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return lg__rule_read(r, path, err);
}

/* The words of a text, those of the answer behind "/", as an example with tokens of one letter each. */
static void make_example(lg_example *x, const char *text)
{
    lg_error err;
    lg_example_init(x);
    assert_int_equal(lg__example_room(x, 64, &err), 0);
    int answer = 0;
    for (; *text; text++) {
        if (*text == ' ') continue;
        if (*text == '/')
            answer = 1;
        else if (answer)
            lg__put_answer(x, *text, 0, 0, 0);
        else
            lg__put(x, *text, 0, 0, 0);
    }
    if (!x->answer) x->answer = x->n;
}

/* Words of one letter are their own tokens here. */
static void resolve(struct lg__rule *r)
{
    struct lg__structure *s = &r->structure;
    for (int k = 0; k < s->separators; k++) s->separator[k].token = s->separator[k].text[0];
    for (int k = 0; k <= s->separators; k++) s->part[k].word.token = s->part[k].word.text[0];
    s->answer.word.token = s->answer.word.text[0];
    r->find.word.token = r->find.word.text[0];
}

/* "1 2 - 3": labels, - for none. */
static void labels_are(const lg_example *x, int level, const char *want)
{
    char got[400] = "";
    for (int i = 0; i < x->n; i++) {
        size_t n = strlen(got);
        if (x->labels[level][i] == LG_ABSENT)
            snprintf(got + n, sizeof got - n, "%s-", i ? " " : "");
        else
            snprintf(got + n, sizeof got - n, "%s%d", i ? " " : "", (int)x->labels[level][i]);
    }
    assert_string_equal(got, want);
}

/* ---- Labels ----------------------------------------------------------------------------------------- */

static const struct {
    const char *rule, *text, *label[LG_LEVELS];
} cases[] = {
    {"separators: [\"+\", \"=\"]\n"
     "parts: [{cut: whole}, {cut: whole}, {cut: whole}]\n"
     "answer: {cut: whole}\n"
     "levels:\n"
     "  - {name: column, parts: [{by: index, from: end}, {by: index, from: end}, none], answer: "
     "{by: index}}\n",
     "12+34=/640$",
     {"2 1 0 2 1 0 1 2 3 4", NULL, NULL}},
    /* a fixed place is seen at a level of its own */
    {"separators: [\"=\"]\n"
     "parts: [{cut: whole}, {cut: whole}]\n"
     "answer: {cut: whole}\n"
     "fixed: [{part: 1, from: start, at: 0}]\n"
     "levels:\n"
     "  - {name: column, parts: [{by: index, plus: -1}, none], answer: {by: index}}\n"
     "  - {name: shared, parts: [none, none], answer: {by: constant}, fixed: 0}\n",
     "3abc=/def$",
     {"- 1 2 3 0 1 2 3 4", "0 - - - 0 0 0 0 0", NULL}},
    /* segments of one size, in the prompt and in the answer */
    {"separators: [\"=\"]\n"
     "parts: [{cut: word, word: \"+\"}, {cut: whole}]\n"
     "answer: {cut: word, word: \">\"}\n"
     "levels:\n"
     "  - {name: column, parts: [{by: index, from: end}, none], answer: {by: index}}\n"
     "  - {name: number, parts: [{by: number}, none], answer: {by: number}}\n",
     "12+34=/00>21>64$",
     {"2 1 0 2 1 0 1 2 0 1 2 0 1 2 3", "0 0 0 1 1 0 0 0 1 1 1 2 2 2 2", NULL}},
    /* entries of three tokens, found by the word before the group; the end of the answer stays */
    {"separators: [\"?\"]\n"
     "parts: [{cut: width, width: 3}, {cut: whole}]\n"
     "answer: {cut: width, width: 2}\n"
     "find: {by: match, part: 1, at: 0, back: 1}\n"
     "levels:\n"
     "  - {name: found, parts: [{by: number}, {by: constant, plus: -1}], answer: {by: find}, "
     "phases: [0, 0]}\n"
     "  - {name: role, parts: [{by: index}, {by: constant, plus: 3}], answer: {by: constant, plus: "
     "4}, "
     "phases: [0, 1]}\n",
     "a:bc:db:e?a/>b>e$",
     {"1 1 1 2 2 2 3 3 3 4 0 1 1 3 3 3", "0 1 2 0 1 2 0 1 2 0 3 4 5 4 5 4", NULL}},
    /* the groups walk over the marked pairs, and past the last one stand at the end */
    {"separators: [\"|\", \"=\"]\n"
     "parts: [{cut: width, width: 2}, {cut: whole}, {cut: whole}]\n"
     "answer: {cut: width, width: 3}\n"
     "find: {by: occurrence, part: 1, at: 0, word: \"*\"}\n"
     "levels:\n"
     "  - {name: found, parts: [{by: number}, {by: constant, plus: -1}, {by: constant, plus: -1}], "
     "answer: {by: find}, phases: [0, 0, none]}\n"
     "  - {name: walk, parts: [none, none, none], answer: {by: number}, phases: [0, 0, 0]}\n",
     ".0*1.1*1|=/>11>10>$",
     {"1 1 2 2 3 3 4 4 5 0 2 2 - 4 4 - 5 5", "- - - - - - - - - 0 1 1 1 2 2 2 3 3", NULL}},
};

static void labels_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__rule r;
        lg_error err = {0};
        lg_example x;
        if (read_rule(cases[i].rule, &r, &err)) fail_msg("%s", err.text);
        resolve(&r);
        make_example(&x, cases[i].text);
        if (lg__rule_label(&r, &x, &err)) fail_msg("%s", err.text);
        for (int l = 0; l < LG_LEVELS; l++) {
            if (cases[i].label[l]) labels_are(&x, l, cases[i].label[l]);
            for (int t = 0; t < x.n && l >= r.levels; t++)
                assert_int_equal(x.labels[l][t], LG_ABSENT);
        }
        lg_example_clear(&x);
    }
}

/* What a prompt's tokens are labelled does not depend on the answer behind them, but for one shift. */
static void prompts_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__rule r;
        lg_error err = {0};
        lg_example x, whole;
        char prompt[64];
        assert_int_equal(read_rule(cases[i].rule, &r, &err), 0);
        resolve(&r);
        snprintf(prompt, sizeof prompt, "%.*s", (int)strcspn(cases[i].text, "/"), cases[i].text);
        make_example(&whole, cases[i].text);
        make_example(&x, prompt);
        assert_int_equal(lg__rule_label(&r, &whole, &err), 0);
        assert_int_equal(lg__rule_label(&r, &x, &err), 0);
        for (int l = 0; l < r.levels; l++) {
            int32_t shift = LG_ABSENT;
            for (int t = 0; t < x.n; t++) {
                int32_t a = whole.labels[l][t], b = x.labels[l][t];
                assert_int_equal(a == LG_ABSENT, b == LG_ABSENT);
                if (a == LG_ABSENT) continue;
                if (shift == LG_ABSENT) shift = a - b;
                assert_int_equal(a - b, shift);
            }
        }
        lg_example_clear(&x);
        lg_example_clear(&whole);
    }
}

static void there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__rule r, again;
        lg_error err = {0};
        lg_buffer a = {0}, b = {0};
        assert_int_equal(read_rule(cases[i].rule, &r, &err), 0);
        lg__rule_write(&r, &a);
        char *first = lg_buffer_take(&a, &err);
        if (read_rule(first, &again, &err)) fail_msg("%s", err.text);
        lg__rule_write(&again, &b);
        char *second = lg_buffer_take(&b, &err);
        assert_string_equal(first, second);
        free(first);
        free(second);
    }
}

static void texts_of_another_form(void **state)
{
    struct lg__rule r;
    lg_error err = {0};
    lg_example x;
    (void)state;
    assert_int_equal(read_rule(cases[0].rule, &r, &err), 0);
    resolve(&r);
    make_example(&x, "1234=/640$");
    assert_int_equal(lg__rule_label(&r, &x, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "no \"+\""));
    lg_example_clear(&x);
}

static void wrong_files(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"levels: []\n", "separators"},
        {"separators: []\nparts: []\nanswer: {cut: whole}\nlevels: []\n", "parts has 0 entries"},
        {"separators: []\nparts: [{cut: whole}]\nanswer: {cut: whole}\nlevels: []\n",
         "levels is empty"},
        {"separators: []\nparts: [{cut: word}]\nanswer: {cut: whole}\nlevels: []\n", "word"},
        {"separators: []\nparts: [{cut: whole}]\nanswer: {cut: whole}\nlevels:\n"
         "  - {name: x, parts: [none], answer: {by: find}}\n",
         "no key find"},
        {"separators: []\nparts: [{cut: whole}]\nanswer: {cut: whole}\nlevel: []\n", "level"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lg__rule r;
        lg_error err = {0};
        assert_int_equal(read_rule(wrong[i].text, &r, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("\"%s\" lacks \"%s\"", err.text, wrong[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_by_hand), cmocka_unit_test(prompts_alone),
        cmocka_unit_test(there_and_back), cmocka_unit_test(texts_of_another_form),
        cmocka_unit_test(wrong_files),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
