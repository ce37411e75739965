/* test_cli_habits.c: small things that users expect: configs by name and from the standard input, the nearest name, a dry run,
 * comparison with the reference, doctor, a pager on a terminal only. */
#include "running.h"

static int make_home(void **state)
{
    (void)state;
    return new_home();
}

static void train_alone_lists_the_configs(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "train", "2>&1"), 2);
    prints("which config?");
    prints("\n  parity ");
    prints("\n  certify-addition ");
    assert_int_equal(count("ppc-parity"), 0); /* an experiment, for reproduce */
}

static void configs_have_names(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("", "train parity --set train.steps=21 --out a --store a.db", "2>&1"), 0);
    prints("Training in a on ");
    prints(" thread");
    assert_int_equal(run_program("", "train parrity", "2>&1"), 2);
    prints("did you mean parity?");
    assert_int_equal(run_program("", "train nowhere/parity.yaml", "2>&1"), 2);
    prints("nowhere/parity.yaml cannot be read");
}

static void a_config_comes_from_the_standard_input(void **state)
{
    (void)state;
    assert_int_equal(run_program("printf 'task: {name: copy}\\ntrain: {steps: 3}\\n' |",
                                 "train - --store b.db", "2>&1"),
                     0);
    assert_true(there("runs/stdin/config.yaml"));
    assert_int_equal(run_program("printf 'task: {name: cpy}\\n' |", "train - --out c", "2>&1"), 2);
    prints("did you mean \"copy\"?");
}

static void a_dry_run_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("", "train parity --dry-run --set train.steps=100000 --out dry --store dry.db",
                    "2>&1"),
        0);
    prints("Dry run: 100000 steps would take about ");
    prints(" of memory");
    assert_false(there("dry") || there("dry.db"));
    assert_int_equal(run_program("", "train parity --dry-run --json", "2>/dev/null"), 0);
    prints("{\"steps\":500,\"seconds\":");
    assert_int_equal(run_program("", "train parity --dry-run --set train.steps=0", "2>&1"), 2);
}

static void a_loss_is_compared_with_the_reference(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "train parity --compare-with reference --out r --store r.db",
                                 "2>/dev/null"),
                     0);
    prints("The loss is normal");
    assert_int_equal(count(" normal\n"), 10);
    assert_int_equal(
        run_program(
            "", "train parity --compare-with reference --set train.lr=1e-6 --out s --store r.db",
            "2>/dev/null"),
        3);
    prints("are over twice those");
    assert_int_equal(run_program("", "train parity --compare-with yesterday", "2>&1"), 2);
    assert_int_equal(
        run_program("printf 'task: {name: copy}\\n' |", "train - --compare-with reference", "2>&1"),
        2);
    prints("parity");
}

static void doctor_looks_at_everything(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "doctor", "2>&1"), 0);
    static const char *const topics[] = {"cpu ",      "kernels ", "memory ", "libraries ",
                                         "programs ", "disk ",    "speed ",  "GFLOPS"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) prints(topics[i]);
    assert_int_equal(run_program("LENGTHEN_ISA=naive", "doctor --quick --json", "2>&1"), 0);
    prints("\"advice\":\"LENGTHEN_ISA chooses others than the best: unset it\"");
    assert_int_equal(count("GFLOPS"), 0);
}

static void there_is_no_pager_but_on_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(run_program("PAGER='echo paged'", "config", "2>&1"), 0);
    assert_int_equal(count("paged"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(train_alone_lists_the_configs),
        cmocka_unit_test(configs_have_names),
        cmocka_unit_test(a_config_comes_from_the_standard_input),
        cmocka_unit_test(a_dry_run_leaves_nothing),
        cmocka_unit_test(a_loss_is_compared_with_the_reference),
        cmocka_unit_test(doctor_looks_at_everything),
        cmocka_unit_test(there_is_no_pager_but_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
