/* test_split.c: a file of own data split by length. Without it lines could be lost between training and
 * tests, the curve could have holes, or words that training never shows could pass for failures of
 * positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "training/split.h"

/* Lines of length 1..longest by turns: letters, and with `deep` the word d17 in those of length 17, 18
 * and so on from 10, as the depths of brackets. */
static void write_lines(const char *name, int lines, int longest, int deep)
{
    FILE *f = fopen(in_home(name), "w");
    unsigned r = 1;
    assert_non_null(f);
    for (int i = 0; i < lines; i++) {
        int n = 1 + i % longest;
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < n; k++) {
            r = r * 1103515245u + 12345u;
            fprintf(f, "\"%c\",", 'A' + (int)(r >> 16) % 20);
        }
        if (deep && n >= 10 && i % 3 == 0)
            fprintf(f, "\"d%d\"],", n);
        else
            fputs("\"x\"],", f);
        fprintf(f, "\"length\":%d}\n", n);
    }
    fclose(f);
}

static int split(const char *name, int length, struct lg__split *s, lg_error *err)
{
    char task[400];
    snprintf(task, sizeof task, "jsonl:%s", in_home(name));
    lg_task *t = lg_task_new(task, NULL, 0, err);
    assert_non_null(t);
    *s = (struct lg__split){.file = in_home(name), .length = length, .seed = 1};
    int e = lg__split_lines(s, t, err);
    lg_task_free(t);
    return e;
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void all_lines_and_lengths_are_used(void **state)
{
    (void)state;
    static const int longest[] = {5, 20, 40, 90};
    for (int i = 0; i < 4; i++) {
        struct lg__split s;
        lg_error err = {0};
        int covered[100] = {0}, tested = 0, before = 0;
        write_lines("lines.jsonl", 1800, longest[i], 0);
        if (split("lines.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
        assert_int_equal(s.trained + s.held + s.longer, 1800);
        assert_int_equal(count_lines(s.train), s.trained);
        assert_int_equal(count_lines(s.test), s.held + s.longer);
        assert_int_equal(s.rare, 0);
        assert_true(s.columns >= 3 || longest[i] < 10);
        for (int c = 0; c < s.columns; c++) {
            const struct lg__split_column *x = &s.column[c];
            assert_int_equal(c > 0, x->length[0] > s.most);
            for (int k = 0; k < x->count; k++) {
                assert_true(x->length[k] > before); /* they rise, and none is in two */
                covered[before = x->length[k]]++;
                tested += x->lines[k];
            }
            assert_true(x->mean >= x->length[0] && x->mean <= x->length[x->count - 1]);
        }
        assert_int_equal(tested, s.held + s.longer);
        for (int n = s.most + 1; n <= longest[i]; n++) assert_int_equal(covered[n], 1);
        lg__split_clear(&s);
    }
}

/* Far lengths are not put together, however few lines they have. */
static void far_lengths_stay_apart(void **state)
{
    (void)state;
    struct lg__split s;
    lg_error err = {0};
    write_lines("far.jsonl", 600, 10, 0);
    FILE *f = fopen(in_home("far.jsonl"), "a");
    assert_non_null(f);
    for (int i = 0; i < 30; i++)
        fprintf(f, "{\"tokens\":[\"A\",\"x\"],\"length\":%d}\n", i < 15 ? 40 : 41);
    fclose(f);
    if (split("far.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
    const struct lg__split_column *last = &s.column[s.columns - 1];
    assert_int_equal(last->count, 2);
    assert_int_equal(last->length[0], 40);
    assert_int_equal(last->total, 30);
    lg__split_clear(&s);
}

static void rare_words_are_told_and_counted_apart(void **state)
{
    (void)state;
    struct lg__split s;
    lg_error err = {0};
    write_lines("deep.jsonl", 1800, 20, 1);
    if (split("deep.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
    int words = 0, lines = 0;
    for (const char *at = s.rest; (at = strstr(at, "\"d")); at++) words++;
    assert_int_equal(s.rare, count_lines(s.rest));
    assert_int_equal(words, s.rare);
    assert_true(s.rare > 250); /* a third of the longer half */
    assert_non_null(strstr(s.rare_words, "d1"));
    assert_non_null(strstr(s.rare_words, "(0)"));
    assert_int_equal(s.rare_tested, 0);
    for (const char *at = s.test; (at = strstr(at, "\"d")); at++)
        if (atoi(at + 2) > s.most) fail_msg("%.60s is tested", at);
    for (int c = 0; c < s.columns; c++) lines += s.column[c].total;
    assert_int_equal(lines, count_lines(s.test));
    assert_int_equal(s.unusual.total, s.rare);
    assert_int_equal(lines + s.rare, s.held + s.longer);
    lg__split_clear(&s);
}

/* Where every longer line has one, they are tested all the same, and it is told. */
static void only_rare_words_are_tested(void **state)
{
    (void)state;
    struct lg__split s;
    lg_error err = {0};
    FILE *f = fopen(in_home("count.jsonl"), "w");
    assert_non_null(f);
    for (int i = 0; i < 800; i++) {
        int n = 1 + i % 20;
        fprintf(f, "{\"tokens\":[\"%c\",\"%c\",\"n%d\"],\"length\":%d}\n", 'a' + i % 23,
                'a' + i % 19, n, n);
    }
    fclose(f);
    if (split("count.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
    assert_int_equal(s.rare, s.longer);
    assert_int_equal(s.rare_tested, 1);
    assert_string_equal(s.rest, "");
    assert_int_equal(count_lines(s.test), s.held + s.longer);
    lg__split_clear(&s);
}

/* Many words that all are in few lines are not rare. */
static void names_are_not_rare(void **state)
{
    (void)state;
    struct lg__split s;
    lg_error err = {0};
    FILE *f = fopen(in_home("names.jsonl"), "w");
    unsigned r = 7;
    assert_non_null(f);
    for (int i = 0; i < 1500; i++) {
        int n = 1 + i % 10;
        fputs("{\"tokens\":[", f);
        for (int k = 0; k <= n; k++) {
            r = r * 1103515245u + 12345u;
            fprintf(f, "%s%d", k ? "," : "", (int)(r >> 16) % 100);
        }
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
    if (split("names.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
    assert_true(s.rare < s.longer / 10);
    lg__split_clear(&s);
}

/* What could be advised is accepted. */
static void other_lengths_are_accepted(void **state)
{
    (void)state;
    static const int longest[] = {4, 5, 20};
    for (int i = 0; i < 3; i++) {
        struct lg__split s, other;
        lg_error err = {0};
        write_lines("others.jsonl", 900, longest[i], 0);
        if (split("others.jsonl", 0, &s, &err)) fail_msg("%s", err.text);
        assert_int_equal(s.further > 0, s.most + 1 < longest[i]);
        assert_true(s.shorter < s.most); /* 0 where the shorter lines are all the same */
        if (longest[i] == 20) assert_int_equal(s.shorter, s.most / 2);
        int length[] = {s.shorter, s.further};
        for (int k = 0; k < 2; k++) {
            if (!length[k]) continue;
            if (split("others.jsonl", length[k], &other, &err)) fail_msg("%s", err.text);
            assert_int_equal(other.most, length[k]);
            lg__split_clear(&other);
        }
        lg__split_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lines_and_lengths_are_used),
        cmocka_unit_test(far_lengths_stay_apart),
        cmocka_unit_test(rare_words_are_told_and_counted_apart),
        cmocka_unit_test(only_rare_words_are_tested),
        cmocka_unit_test(names_are_not_rare),
        cmocka_unit_test(other_lengths_are_accepted),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
