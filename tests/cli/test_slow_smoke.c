/* test_slow_smoke.c: every experiment in experiments/ at the scale smoke: it runs, and what it is to
 * show holds even there; one of them made a second time gives the same bytes. Without this test an
 * experiment's file could rot, and a committed row might never come out again. */
#include "cli/running.h"

static int make_home(void **state)
{
    (void)state;
    return new_home() || symlink(LG_SOURCE_DIR "/experiments", in_home("experiments"));
}

static void every_experiment_shows_its_direction(void **state)
{
    (void)state;
    int code =
        run_program("", "reproduce all --scale smoke --out smoke --jobs 2 --threads 1", "2>&1");
    print_message("%s", out);
    if (code) fail_msg("exit code %d", code);
    assert_int_equal(count(", scale smoke\n"), count(" runs done\n"));
    assert_true(count(", scale smoke\n") >= 10 && count("\n  holds ") >= count(" runs done\n"));
    assert_int_equal(count("DOES NOT HOLD"), 0);
}

static void one_made_again_has_the_same_bytes(void **state)
{
    (void)state;
    static const char again[] =
        "reproduce ppc-retrieval --scale smoke --out again --jobs 1 --threads 2";
    char command[400];
    if (run_program("", again, "2>&1")) fail_msg("%s", out);
    snprintf(command, sizeof command, "cmp %s %s/again/ppc-retrieval/measurements.csv",
             in_home("smoke/ppc-retrieval/measurements.csv"), home);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_experiment_shows_its_direction),
        cmocka_unit_test(one_made_again_has_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
