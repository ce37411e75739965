/* test_try_words.c: what a try advises, from results that are made up, and its seeds together. Without it
 * it could advise what it refuses itself, or take the best seed for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lengthen_study.h"
#include "report/try_words.h"

static lg_try_result r;

/* Two schemes over three columns, with so many seeds; cells have 100 samples. */
static void start(int seeds)
{
    r = (lg_try_result){.task = "mine.jsonl", .own = 1, .unit = "length", .least = 1, .most = 10};
    r.columns = 3;
    for (int c = 0; c < 3; c++)
        r.column[c] = (lg_try_column){10 * c + 1, 10 * c + 10, 10 * c + 5, c + 0.5};
    r.schemes = 2;
    r.seeds = seeds;
    r.best = -1;
    for (int i = 0; i < 2 * seeds; i++)
        r.scheme[i] = (lg_try_scheme){.name = i % 2 ? "window" : "plain RoPE",
                                      .ids = LG_TRY_PLAIN,
                                      .seed = 1 + i / 2,
                                      .steps = 1000,
                                      .verdict = LG_TRY_NOT_LEARNED};
}

static void put(int run, int a, int b, int c)
{
    lg_try_scheme *s = &r.scheme[run];
    int exact[] = {a, b, c};
    for (s->tested = 0; s->tested < 3 && exact[s->tested] >= 0; s->tested++)
        s->cell[s->tested] = (lg_try_cell){.samples = 100,
                                           .exact = exact[s->tested],
                                           .share = exact[s->tested] / 100.0,
                                           .tokens = 20};
    s->verdict = a >= 99 ? LG_TRY_LEARNED : LG_TRY_NOT_LEARNED;
}

static const char *advice(double minutes)
{
    lg_try_options o = lg_try_options_default();
    lg_error err = {0};
    o.minutes = minutes;
    free(r.advice);
    free(r.sparsity);
    assert_int_equal(lg__try_words(&o, &r, &err), 0);
    return r.advice;
}

static void says(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

static void is_silent(const char *text, const char *words)
{
    if (strstr(text, words)) fail_msg("\"%s\" is in: %s", words, text);
}

static void end(void)
{
    free(r.advice);
    free(r.sparsity);
}

/* Only lengths that can be tried are named. */
static void lengths_are_advised_where_there_are_some(void **state)
{
    (void)state;
    start(1);
    put(0, 50, -1, -1);
    put(1, 30, -1, -1);
    r.shorter = 4;
    says(advice(1), "give more time (--minutes 4), or shorter examples (--length 4).");
    r.shorter = 0;
    says(advice(1), "give more time (--minutes 4). ");
    is_silent(advice(1), "--length");
    says(advice(100000), "(--minutes 100000)");
    put(0, 100, 50, 20);
    r.best = 0;
    r.carries = 1;
    r.further = 15;
    says(advice(1), "train on longer examples (--length 15)");
    r.further = 0;
    is_silent(advice(1), "--length");
    says(advice(1), "confirm it (--seeds 3)");
    is_silent(advice(1), "--seed ");
    end();
}

static void rare_words_are_told(void **state)
{
    (void)state;
    char words[] = "d9 (in 3 lines), d10 (0)";
    start(1);
    put(0, 100, 90, 80);
    r.best = 0;
    r.carries = 1;
    is_silent(advice(1), "hardly shows");
    r.held = 10;
    r.longer = 190;
    r.rare = 60;
    r.rare_words = words;
    r.unusual = (lg_try_cell){.samples = 60, .exact = 6, .share = 0.1};
    says(advice(1),
         "60 of the 200 test lines have words that training hardly shows: d9 (in 3 lines), "
         "d10 (0). The table is of the others; of these plain RoPE answers 10% of 60.");
    r.rare_tested = 1;
    says(advice(1), "may be the words and not the positions");
    end();
}

static void the_certificate_is_named(void **state)
{
    (void)state;
    start(1);
    put(1, 100, 100, 100);
    r.best = 1;
    r.carries = 1;
    is_silent(advice(1), "certif");
    r.certifiable = 1;
    says(advice(1),
         "window can be certified, which says whether it is right at every length: train "
         "the config below, then lengthen certify RUN.");
    snprintf(r.best_folder, sizeof r.best_folder, "here/window");
    lg_try_options o = lg_try_options_default();
    lg_error err = {0};
    o.folder = "here";
    free(r.advice);
    free(r.sparsity);
    assert_int_equal(lg__try_words(&o, &r, &err), 0);
    says(r.advice, "lengthen certify here/window.");
    end();
}

/* Medians over all seeds, never the best one; a seed that failed at the short ones has none right. */
static void seeds_are_taken_together(void **state)
{
    (void)state;
    lg_try_scheme s;
    start(3);
    put(1, 100, 90, 10);
    put(3, 99, 80, 70);
    put(5, 40, -1, -1);
    assert_int_equal(lg_try_summary(&r, 1, &s), 2);
    assert_int_equal(s.verdict, LG_TRY_LEARNED);
    assert_int_equal(s.tested, 3);
    assert_true(s.cell[0].share == 0.99 && s.cell[0].low == 0.4 && s.cell[0].high == 1);
    assert_true(s.cell[1].share == 0.8 && s.cell[1].low == 0 && s.cell[1].high == 0.9);
    assert_true(s.cell[2].share == 0.1 && s.cell[2].samples == 200);
    r.best = 1;
    r.carries = 1;
    says(advice(1), "10% exact at length 21-30");
    says(advice(1), "median of 3 seeds, of which 2 learned; 0 to 70%");
    is_silent(advice(1), "--seeds");
    put(3, 50, -1, -1);
    assert_int_equal(lg_try_summary(&r, 1, &s), 1);
    assert_int_equal(s.verdict, LG_TRY_NOT_LEARNED);
    r.scheme[5].verdict = LG_TRY_FEW; /* nothing is known of it */
    r.scheme[3].verdict = LG_TRY_NO_TIME;
    assert_int_equal(lg_try_summary(&r, 1, &s), 1);
    assert_int_equal(s.verdict, LG_TRY_LEARNED);
    assert_true(s.cell[1].share == 0.9);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_advised_where_there_are_some),
        cmocka_unit_test(rare_words_are_told),
        cmocka_unit_test(the_certificate_is_named),
        cmocka_unit_test(seeds_are_taken_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
