/* test_slow_match.c: the certificate of match heads against generation, on 200 damaged models of each task. */
#include "certify/match_bed.h"

enum { MODELS = 200 };

static void retrieval(void **state)
{
    (void)state;
    match_examine(&match_cases[0], MODELS, 4, 1);
}

static void assignment(void **state)
{
    (void)state;
    match_examine(&match_cases[1], MODELS, 3, 1);
}

static void walk(void **state)
{
    (void)state;
    match_examine(&match_cases[2], MODELS, 5, 1);
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
