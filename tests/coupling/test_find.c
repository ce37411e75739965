/* test_find.c: what is found of tasks whose labels were forgotten is what their authors wrote; of answers that
 * nothing short decides, nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coupling/find.h"
#include "helpers/home.h"

enum { LINES = 1200, LONGEST = 10 };

static void make_lines(struct lg__examples *lines, lg_task *t)
{
    lg_error err = {0};
    lg_draw d = {.seed = 5,
                 .stream = 1,
                 .length_lo = lg_task_get_shape(t)->length_least,
                 .length_hi = LONGEST};
    lines->shape = lg_task_get_shape(t);
    lines->count = LINES;
    lines->x = calloc(LINES, sizeof *lines->x);
    for (int i = 0; i < LINES; i++) {
        d.index = (uint64_t)i;
        if (lg_task_example(t, &d, &lines->x[i], &err)) fail_msg("%s", err.text);
    }
}

static void clear_lines(struct lg__examples *lines)
{
    for (int i = 0; i < lines->count; i++) lg_example_clear(&lines->x[i]);
    free(lines->x);
}

static const struct {
    const char *task, *setting;
    const char *reads; /* what it must say, all of it in any order */
    int levels;        /* that must be the task's own, but for a shift; 0: not compared */
    int lo, hi;        /* window of the first level */
} cases[] = {
    {"parity-scratchpad", NULL, "a[i]", 1, 0, 1},
    {"copy", NULL, "a[i]", 1, 0, 1},
    {"reverse", NULL, "a[n-1-i]", 0, 0, 1},
    {"addition", "base=2", "a[n-1-i]", 1, 0, 1},
    {"addition", "base=5", "b[n-1-i]", 1, 0, 1},
    {"multi-addition", "base=3", "a[g-1][n-1-i]", 2, 0, 1},
    {"multi-addition", NULL, "a[g-1][n-1-i]", 2, 0, 1}, /* no table is filled; no line is wrong */
    {"machine", "table=count-5", "answer[i-1]", 0, 0, 1},
    {"retrieval", NULL, "where a[j][0] is the token 1 before the group", 0, 0, 0},
    {"variable-assignment", NULL, "where a[j][0] is the token 1 before the group", 0, 0, 0},
    {"sparse-parity-scratchpad", NULL, "of the q-th j with a[j][0] = \"*\"", 0, 0, 0},
    {"multiplication", "base=4", "b[0]", 0, 0, 1},
};

/* The rule's labels are the task's own at the first levels. */
static void same_labels(const struct lg__examples *lines, const struct lg__rule *r, int levels)
{
    for (int i = 0; i < 50; i++) {
        lg_example *x = &lines->x[i];
        lg_error err = {0};
        int32_t own[LG_LEVELS][400];
        assert_in_range(x->n, 1, 400);
        for (int l = 0; l < levels; l++) memcpy(own[l], x->labels[l], (size_t)x->n * sizeof **own);
        assert_int_equal(lg__rule_label(r, x, &err), 0);
        for (int l = 0; l < levels; l++)
            for (int t = 1; t < x->n; t++)
                assert_int_equal(x->labels[l][t] - x->labels[l][0], own[l][t] - own[l][0]);
    }
}

static void finds_what_was_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__examples lines, fresh;
        struct lg__finding found[1] = {0}, best;
        struct lg__assignment *a = calloc(1, sizeof *a);
        lg_error err = {0};
        lg_buffer b = {0};
        lg_task *t = lg_task_new(cases[i].task, &cases[i].setting, cases[i].setting != NULL, &err);
        if (!t) fail_msg("%s", err.text);
        make_lines(&lines, t);
        assert_int_equal(lg__find(&lines, found, 1, &best, NULL, &err), 1);
        lg__finding_words(found, lines.shape, &b);
        char *words = lg_buffer_take(&b, &err);
        if (!strstr(words, cases[i].reads)) fail_msg("%s: %s", cases[i].task, words);
        free(words);
        if (lg__assign(found, &lines, 0, a, &err)) fail_msg("%s: %s", cases[i].task, err.text);
        assert_int_equal(a->lo[0], cases[i].lo);
        assert_int_equal(a->hi[0], cases[i].hi);
        assert_int_equal(found->disagree, 0);
        make_lines(&fresh, t);
        same_labels(&fresh, &a->rule, cases[i].levels);
        clear_lines(&fresh);
        clear_lines(&lines);
        free(found->wrong);
        free(a);
        lg_task_free(t);
    }
}

/* With roles a token of the answer stands beside what is read for the one behind it: one column is seen where the
 * column behind is not read, and both are where it is. */
static void sees_no_more_columns_than_it_reads(void **state)
{
    static const struct {
        const char *task, *setting;
        int lo, hi;
    } rows[] = {{"machine", "table=comparison", 0, 0}, {"subtraction", "base=5", 0, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lg__examples lines;
        struct lg__finding found[1] = {0}, best;
        struct lg__assignment *a = calloc(1, sizeof *a);
        lg_error err = {0};
        lg_task *t = lg_task_new(rows[i].task, &rows[i].setting, 1, &err);
        if (!t) fail_msg("%s", err.text);
        make_lines(&lines, t);
        assert_int_equal(lg__find(&lines, found, 1, &best, NULL, &err), 1);
        assert_int_equal(found->roles, 1);
        if (lg__assign(found, &lines, 1, a, &err)) fail_msg("%s", err.text);
        assert_int_equal(a->lo[0], rows[i].lo);
        assert_int_equal(a->hi[0], rows[i].hi);
        clear_lines(&lines);
        free(found->wrong);
        free(a);
        lg_task_free(t);
    }
}

/* Sums of three numbers without carry, in base 10: three digits decide, and nothing else is read. */
static void reads_nothing_needless(void **state)
{
    struct lg__examples lines = {.count = LINES};
    struct lg__finding found[1] = {0}, best;
    lg_error err = {0};
    lg_rng r;
    FILE *f = fopen(in_home("sums.jsonl"), "w");
    char name[100];
    (void)state;
    lg_rng_init(&r, 4, 0, 0);
    assert_non_null(f);
    for (int i = 0; i < LINES; i++) {
        int n = 1 + i % LONGEST, digit[3 * LONGEST];
        for (int k = 0; k < 3 * n; k++) digit[k] = (int)lg_rng_below(&r, 10);
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < 3 * n; k++)
            fprintf(f, "%s\"%d\",", k == n ? "\"+\"," : k == 2 * n ? "\"/\"," : "", digit[k]);
        fputs("\"=\"", f);
        for (int k = n - 1; k >= 0; k--)
            fprintf(f, ",\"%d\"", (digit[k] + digit[n + k] + digit[2 * n + k]) % 10);
        fputs(",\"$\"],\"loss\":[0", f);
        for (int k = 1; k < 4 * n + 4; k++) fprintf(f, ",%d", k >= 3 * n + 3);
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
    snprintf(name, sizeof name, "jsonl:%s", in_home("sums.jsonl"));
    lg_task *t = lg_task_new(name, NULL, 0, &err);
    if (!t) fail_msg("%s", err.text);
    lines.shape = lg_task_get_shape(t);
    lines.x = calloc(LINES, sizeof *lines.x);
    for (int i = 0; i < LINES; i++) {
        lg_draw d = {.length_lo = 1, .length_hi = LONGEST, .index = (uint64_t)i};
        if (lg_task_example(t, &d, &lines.x[i], &err)) fail_msg("%s", err.text);
    }
    assert_int_equal(lg__find(&lines, found, 1, &best, NULL, &err), 1);
    assert_int_equal(found->slot[0].count, 3);
    clear_lines(&lines);
    free(found->wrong);
    lg_task_free(t);
}

/* Answers are drawn, or are the sum of all; nothing may be found. */
static void finds_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct lg__examples lines;
        struct lg__finding found[1] = {0}, best;
        lg_error err = {0};
        lg_task *t = lg_task_new("parity-scratchpad", NULL, 0, &err);
        lg_rng r;
        lg_rng_init(&r, 3, 0, 0);
        make_lines(&lines, t);
        for (int i = 0; i < LINES; i++) {
            lg_example *x = &lines.x[i];
            int sum = 0;
            for (int k = 0; k < x->answer - 1; k++) sum ^= x->tokens[k];
            if (kind) x->n = x->answer + 2;
            for (int k = x->answer; k < x->n - 1; k++)
                x->tokens[k] = kind ? sum : (int32_t)lg_rng_below(&r, 2);
            x->tokens[x->n - 1] = lines.shape->stop;
        }
        assert_int_equal(lg__find(&lines, found, 1, &best, NULL, &err), 0);
        assert_true(best.accuracy < LG__FIND_ACCURACY);
        clear_lines(&lines);
        lg_task_free(t);
    }
}

/* 2% of the lines have a wrong token: it is found all the same, and most of them are told. */
static void finds_wrong_lines(void **state)
{
    struct lg__examples lines;
    struct lg__finding found[1] = {0}, best;
    lg_error err = {0};
    lg_task *t = lg_task_new("parity-scratchpad", NULL, 0, &err);
    int spoiled = 0, told = 0;
    (void)state;
    make_lines(&lines, t);
    for (int i = 0; i < LINES; i += 50) {
        lg_example *x = &lines.x[i];
        x->tokens[x->answer] ^= 1;
        spoiled++;
    }
    assert_int_equal(lg__find(&lines, found, 1, &best, NULL, &err), 1);
    for (int i = 0; i < LINES; i += 50) told += found->wrong[i];
    assert_true(told >= 0.9 * spoiled);
    assert_true(found->disagree <= 1.1 * spoiled);
    clear_lines(&lines);
    free(found->wrong);
    lg_task_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_written),
        cmocka_unit_test(sees_no_more_columns_than_it_reads),
        cmocka_unit_test(reads_nothing_needless),
        cmocka_unit_test(finds_nothing),
        cmocka_unit_test(finds_wrong_lines),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
