/* test_data.c: data in which nothing can be found is refused before any work, with the remedy; how lines are split and
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "couple/couple.h"
#include "helpers/home.h"

enum { LINES = 400 };

enum fault { NONE, ANSWERS_DIFFER, NO_LOSS, ONE_LENGTH, NEW_WORDS, FEW, HAS_IDS, SOME_WRONG };

/* Copies of 2 to 9 bits, with one fault. */
static void write_data(const char *path, enum fault fault)
{
    FILE *f = fopen(path, "w");
    unsigned state = 7;
    assert_non_null(f);
    for (int i = 0; i < (fault == FEW ? 50 : LINES); i++) {
        int n = fault == ONE_LENGTH ? 6 : 2 + i % 8, word[16];
        const char *prefix = fault == NEW_WORDS && n > 8 ? "w" : "";
        for (int k = 0; k < n; k++)
            word[k] = (int)((state = state * 1103515245u + 12345u) >> 16) % 4;
        fprintf(f, "{\"tokens\":[");
        for (int k = 0; k < n; k++)
            fprintf(f, "\"%s%d\",", prefix, fault == ANSWERS_DIFFER ? 0 : word[k]);
        fprintf(f, "\"=\",");
        for (int k = 0; k < n; k++)
            fprintf(f, "\"%s%d\",", prefix, (word[k] + (fault == SOME_WRONG && i % 10 == 0)) % 4);
        fprintf(f, "\"$\"]");
        if (fault != NO_LOSS) {
            fprintf(f, ",\"loss\":[");
            for (int k = 0; k < 2 * n + 2; k++) fprintf(f, "%s%d", k ? "," : "", k > n);
            fprintf(f, "]");
        }
        if (fault == HAS_IDS) {
            fprintf(f, ",\"ids\":[");
            for (int k = 0; k < 2 * n + 2; k++) fprintf(f, "%s%d", k ? "," : "", k);
            fprintf(f, "]");
        }
        fprintf(f, ",\"length\":%d}\n", n);
    }
    fclose(f);
}

static void refused_before_any_work(void **state)
{
    static const struct {
        enum fault fault;
        const char *says;
    } rows[] = {
        {ANSWERS_DIFFER, "have the prompt of another line and a different answer"},
        {NO_LOSS, "do not say where their answer begins"},
        {ONE_LENGTH, "all lines have length 6"},
        {NEW_WORDS, "never show"},
        {FEW, "has 50 lines, too few"},
        {HAS_IDS, "has IDs already"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lg_couple_options o = lg_couple_options_default();
        lg_couple_result *r = calloc(1, sizeof *r);
        lg_error err = {0};
        write_data(in_home("data.jsonl"), rows[i].fault);
        o.data = in_home("data.jsonl");
        o.folder = in_home("out");
        assert_int_equal(lg_couple(&o, r, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, rows[i].says))
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].says);
        assert_int_not_equal(access(o.folder, F_OK), 0);
        lg_couple_clear(r);
        free(r);
    }
}

/* Ends at once: only the three parts are looked at. */
static void lines_are_split_by_content(void **state)
{
    lg_couple_result *r[2] = {calloc(1, sizeof **r), calloc(1, sizeof **r)};
    lg_error err = {0};
    volatile int stop = 1;
    (void)state;
    write_data(in_home("data.jsonl"), NONE);
    for (int i = 0; i < 2; i++) {
        lg_couple_options o = lg_couple_options_default();
        o.data = in_home("data.jsonl");
        o.folder = in_home("out");
        o.seed = (uint64_t)i;
        o.stop = &stop;
        assert_int_equal(lg_couple(&o, r[i], &err), LG_ERROR_STOPPED);
        assert_int_equal(r[i]->fit + r[i]->chosen_by + r[i]->reported, LINES);
        assert_in_range(r[i]->reported, LINES / 10, LINES / 5);
        assert_in_range(r[i]->chosen_by, LINES / 10, LINES / 3);
        assert_true(r[i]->fit_longest < r[i]->longest);
        lg_couple_clear(r[i]);
    }
    assert_int_equal(r[0]->reported, r[1]->reported); /* whatever the seed */
    free(r[0]);
    free(r[1]);
}

/* A wrong answer to a prompt that the report has would be the only one that training sees of it. */
static void a_prompt_is_in_one_part(void **state)
{
    lg_couple_options o = lg_couple_options_default();
    lg_couple_result *r = calloc(1, sizeof *r);
    struct lg__couple c = {.o = &o, .r = r};
    lg_error err = {0};
    int contradicting = 0;
    (void)state;
    write_data(in_home("wrong.jsonl"), SOME_WRONG);
    o.data = in_home("wrong.jsonl");
    if (lg__couple_read(&c, &err)) fail_msg("%s", err.text);
    for (int i = 0; i < LINES; i++)
        for (int k = 0; k < i; k++) {
            const lg_example *x = &c.lines.x[i], *y = &c.lines.x[k];
            if (x->answer != y->answer ||
                memcmp(x->tokens, y->tokens, (size_t)x->answer * sizeof *x->tokens) != 0)
                continue;
            contradicting += x->tokens[x->answer] != y->tokens[x->answer];
            assert_int_equal(c.part[i], c.part[k]);
        }
    assert_true(contradicting >= 5);
    lg__couple_close(&c);
    free(r);
}

/* 1 to 8 entries of 60 keys, then a key and its value. */
static void write_lookups(const char *path)
{
    FILE *f = fopen(path, "w");
    unsigned state = 11;
    assert_non_null(f);
    for (int i = 0; i < LINES; i++) {
        int n = 1 + i % 8, value[8];
        int first = (int)((state = state * 1103515245u + 12345u) >> 16) % 60;
        int asked = (int)((state = state * 1103515245u + 12345u) >> 16) % n;
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < n; k++) {
            value[k] = (int)((state = state * 1103515245u + 12345u) >> 16) % 9;
            fprintf(f, "\"k%d\",\":\",\"v%d\",", (first + 7 * k) % 60, value[k]);
        }
        fprintf(f, "\"?\",\"k%d\",\">\",\"v%d\",\"$\"],\"loss\":[", (first + 7 * asked) % 60,
                value[asked]);
        for (int k = 0; k < 3 * n + 5; k++) fprintf(f, "%s%d", k ? "," : "", k > 3 * n + 1);
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
}

/* What a file of the split has at one place: all of its lines must be right lookups. */
static int check_lookups(const char *file, int keys[60])
{
    char name[400];
    lg_error err = {0};
    lg_example x;
    snprintf(name, sizeof name, "jsonl:%s", file);
    lg_task *t = lg_task_new(name, NULL, 0, &err);
    if (!t) fail_msg("%s", err.text);
    const lg_task_shape *shape = lg_task_get_shape(t);
    lg_draw d = {.length_lo = shape->length_least, .length_hi = shape->length_most};
    int count = lg__task_count(t, &d);
    lg_example_init(&x);
    for (int i = 0; i < count; i++) {
        d.index = (uint64_t)i;
        if (lg_task_example(t, &d, &x, &err)) fail_msg("%s", err.text);
        int asked = x.tokens[x.n - 4], found = 0;
        keys[atoi(shape->words[asked] + 1)]++;
        for (int k = 0; k < x.n - 5; k += 3)
            if (x.tokens[k] == asked) {
                assert_int_equal(x.tokens[k + 2], x.tokens[x.n - 2]);
                found++;
            }
        assert_int_equal(found, 1);
    }
    lg_example_clear(&x);
    lg_task_free(t);
    return count;
}

/* Keys are only compared: lines to train on are there 16 times, with others in them, and right; those to choose by
 * and to report are as they were. */
static void compared_words_are_exchanged(void **state)
{
    lg_couple_options o = lg_couple_options_default();
    lg_couple_result *r = calloc(1, sizeof *r);
    struct lg__couple c = {.o = &o, .r = r};
    struct lg__finding found[2] = {0}, best;
    struct lg__assignment *a = calloc(1, sizeof *a);
    lg_error err = {0};
    int fit[60] = {0}, choose[60] = {0}, missing = 0;
    (void)state;
    write_lookups(in_home("lookups.jsonl"));
    o.data = in_home("lookups.jsonl");
    snprintf(r->folder, sizeof r->folder, "%s", home);
    if (lg__couple_read(&c, &err)) fail_msg("%s", err.text);
    assert_int_equal(lg__find(&c.looked, found, 2, &best, NULL, &err), 2);
    if (lg__assign(&found[0], &c.looked, 1, a, &err) &&
        lg__assign(&found[1], &c.looked, 1, a, &err))
        fail_msg("%s", err.text);
    if (lg__couple_write(&c, &a->rule, &err)) fail_msg("%s", err.text);
    assert_int_equal(r->copies, 16);
    assert_int_equal(check_lookups(in_home("fit.jsonl"), fit), 16 * r->fit);
    assert_int_equal(check_lookups(in_home("choose.jsonl"), choose), r->chosen_by);
    for (int k = 0; k < 60; k++) missing += fit[k] < 16;
    assert_int_equal(missing, 0);
    lg__couple_close(&c);
    free(found[0].wrong);
    free(found[1].wrong);
    free(a);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_before_any_work),
        cmocka_unit_test(lines_are_split_by_content),
        cmocka_unit_test(a_prompt_is_in_one_part),
        cmocka_unit_test(compared_words_are_exchanged),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
