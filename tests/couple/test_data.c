/* test_data.c: data in which nothing can be found is refused before any work, with the remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_couple.h"

enum { LINES = 400 };

enum fault { NONE, ANSWERS_DIFFER, NO_LOSS, ONE_LENGTH, NEW_WORDS, FEW, HAS_IDS };

/* Copies of 2 to 9 bits, with one fault. */
static void write_data(const char *path, enum fault fault)
{
    FILE *f = fopen(path, "w");
    unsigned state = 7;
    assert_non_null(f);
    for (int i = 0; i < (fault == FEW ? 50 : LINES); i++) {
        int n = fault == ONE_LENGTH ? 6 : 2 + i % 8, word[16];
        const char *prefix = fault == NEW_WORDS && n > 7 ? "w" : "";
        for (int k = 0; k < n; k++)
            word[k] = (int)((state = state * 1103515245u + 12345u) >> 16) % 4;
        fprintf(f, "{\"tokens\":[");
        for (int k = 0; k < n; k++)
            fprintf(f, "\"%s%d\",", prefix, fault == ANSWERS_DIFFER ? 0 : word[k]);
        fprintf(f, "\"=\",");
        for (int k = 0; k < n; k++) fprintf(f, "\"%s%d\",", prefix, word[k]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_before_any_work),
        cmocka_unit_test(lines_are_split_by_content),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
