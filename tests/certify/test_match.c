/* test_match.c: the certificate of match heads against generation, in a few seconds; test_slow_match.c has more. */
#include "certify/match_bed.h"

enum { MODELS = 9 };

static void retrieval(void **state)
{
    (void)state;
    match_examine(&match_cases[0], MODELS, 3, 0);
}

static void assignment(void **state)
{
    (void)state;
    match_examine(&match_cases[1], MODELS, 3, 0);
}

static void walk(void **state)
{
    (void)state;
    match_examine(&match_cases[2], MODELS, 5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retrieval),
        cmocka_unit_test(assignment),
        cmocka_unit_test(walk),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
