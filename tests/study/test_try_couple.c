/* test_try_couple.c: what a try says of a coupling that was found in own data, or was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/try.h"

/* The advice of a try of which couple says `claimed`. */
static char *advise(int claimed, char **config)
{
    lg_try_options o = lg_try_options_default();
    lg_try_result r = {.task = "sums.jsonl", .own = 1, .best = -1};
    struct lg__try *t = calloc(1, sizeof *t);
    lg_couple_result *c = calloc(1, sizeof *c);
    lg_error err = {0};
    t->o = &o;
    t->r = &r;
    r.coupled = c;
    r.advice = strdup("None carries it.");
    c->claimed = claimed;
    strcpy(c->folder, "runs/couple/sums");
    strcpy(c->why, "no set decides the answer");
    strcpy(c->reads, "answer[2q+0] is a[q]\nanswer[2q+1] is b[q]\n");
    strcpy(c->candidate[0].window, "[0, 1]");
    c->report_lines = c->report_exact = 300;
    c->config = strdup("seed: 1\n");
    if (lg__try_couple_words(t, &err)) fail_msg("%s", err.text);
    char *advice = r.advice;
    *config = r.config;
    r.advice = r.config = NULL;
    lg_try_result_clear(&r);
    free(t);
    return advice;
}

static void a_coupling_is_what_to_use(void **state)
{
    char *config, *advice = advise(1, &config);
    (void)state;
    assert_non_null(strstr(advice, "Use the coupling that was found"));
    assert_non_null(strstr(advice, "answer[2q+0] is a[q]; answer[2q+1] is b[q]. "));
    assert_non_null(strstr(advice, "runs/couple/sums/best"));
    assert_non_null(strstr(advice, "None carries it."));
    assert_null(strstr(advice, "no ids"));
    assert_string_equal(config, "seed: 1\n");
    free(advice);
    free(config);
}

static void none_is_claimed(void **state)
{
    char *config, *advice = advise(0, &config);
    (void)state;
    assert_non_null(strstr(advice, "none is claimed: no set decides the answer. "));
    assert_null(strstr(advice, "Use the coupling"));
    assert_null(config);
    free(advice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_coupling_is_what_to_use),
        cmocka_unit_test(none_is_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
