/* test_cli_exec.c: opening somebody else's run executes nothing. A run of the task exec:COMMAND is
 * trained by one user; to another, whose state folder does not know it, every command that would
 * have to open its task refuses, shows the command, and has not run it. */
#include "running.h"

/* The two users are two state folders. */
#define ANN "LENGTHEN_STATE=$PWD/ann"
#define BOB "LENGTHEN_STATE=$PWD/bob"

/* Examples of "a b = b a $" for ever; it leaves a mark whenever it is started. */
static const char program[] = "#!/bin/sh\n"
                              "echo started >>mark\n"
                              "while :; do\n"
                              "echo '{\"tokens\":[\"a\",\"b\",\"=\",\"b\",\"a\",\"$\"],"
                              "\"loss\":[0,0,0,1,1,1],\"length\":2}'\n"
                              "echo '{\"tokens\":[\"b\",\"b\",\"a\",\"=\",\"a\",\"b\",\"b\",\"$\"],"
                              "\"loss\":[0,0,0,0,1,1,1,1],\"length\":3}'\n"
                              "done\n";
static const char config[] = "task: {name: \"exec:sh examples.sh\", first: 10}\n"
                             "model: {layers: 1, width: 16, heads: 1, ff: 16}\n"
                             "train: {steps: 3, batch: 4, length: [2, 3]}\n"
                             "eval: {lengths: [2], samples: 4}\n";

static int set_up(void **state)
{
    (void)state;
    if (new_home() || write_file("examples.sh", program) || write_file("own.yaml", config))
        return -1;
    int code = run_program(ANN, "train own.yaml --store db", "2>&1");
    if (code) fputs(out, stderr);
    return code;
}

static int was_started(void)
{
    int yes = there("mark");
    unlink(in_home("mark"));
    return yes;
}

static void refuses(const char *who, const char *arguments)
{
    was_started();
    assert_int_equal(run_program(who, arguments, "2>&1"), 2);
    prints("sh examples.sh");
    prints("--allow-exec");
    assert_false(was_started());
}

static void test_opens_own_run(void **state)
{
    (void)state;
    was_started();
    assert_int_equal(run_program(ANN, "eval runs/own --store db --json", "2>&1"), 0);
    assert_true(was_started());
    assert_int_equal(run_program(ANN, "generate runs/own", "2>&1"), 0);
    assert_int_equal(run_program(ANN, "train own.yaml --store db --resume", "2>&1"), 0);
}

static void test_refuses_other_run(void **state)
{
    (void)state;
    refuses(BOB, "eval runs/own --store db --force");
    refuses(BOB, "generate runs/own");
    refuses(BOB, "probe runs/own --store db");
    refuses(BOB, "train runs/own/config.yaml --out runs/own --store db --resume");
    /* Without any state folder nothing is known. */
    refuses("env -u HOME -u XDG_STATE_HOME", "eval runs/own --store db --force");
    /* A relative one could lie in the run. */
    refuses("LENGTHEN_STATE=ann", "eval runs/own --store db --force");
}

static void test_is_allowed(void **state)
{
    (void)state;
    was_started();
    assert_int_equal(run_program(BOB, "eval runs/own --store db --force --allow-exec", "2>&1"), 0);
    assert_true(was_started());
    refuses(BOB, "eval runs/own --store db --force"); /* once is not for ever */
}

/* A folder that does not name its run, and a config that was somebody's run, are no ways around. */
static void test_refuses_in_disguise(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("cp -r runs/own runs/bare && sed -i 1d runs/bare/config.yaml; true",
                    "--version", ""),
        0);
    refuses(BOB, "train runs/bare/config.yaml --out runs/bare --store db --resume");
    refuses(BOB, "train runs/own/config.yaml --out runs/new --store db");
    assert_false(there("runs/new"));
    assert_int_equal(
        run_program(ANN, "train runs/own/config.yaml --out runs/new --store db", "2>&1"), 0);
}

/* A list of experiments trains nothing, and executes nothing. */
static void test_lists_without_executing(void **state)
{
    (void)state;
    was_started();
    assert_int_equal(
        run_program("mkdir -p ex && (echo 'experiment: {question: Is it safe?}'; echo config:; "
                    "sed 's/^/  /' own.yaml; echo 'vary: {seed: [1]}') > ex/e.yaml;",
                    "reproduce --list --experiments ex", "2>&1"),
        0);
    prints("Is it safe?");
    assert_false(was_started());
}

/* What needs no task does not open it. */
static void test_opens_no_task(void **state)
{
    (void)state;
    was_started();
    assert_int_equal(run_program(BOB, "export runs/own exported", "2>&1"), 0);
    assert_true(there("exported/model.safetensors"));
    assert_int_equal(run_program(BOB, "certify runs/own", "2>&1"), 2);
    prints("not known to be one that a finite machine writes");
    assert_int_equal(run_program(BOB, "runs --store db", "2>&1"), 0);
    assert_int_equal(run_program(BOB, "runs show own --store db", "2>&1"), 0);
    assert_false(was_started());
}

/* The own run with another command, as it may come back from somebody else. */
static void test_refuses_changed_command(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("cp -r runs/own runs/back && "
                    "sed -i 's/examples.sh/examples.sh  /' runs/back/config.yaml && " ANN,
                    "eval runs/back --store db --force", "2>&1"),
        2);
    prints("--allow-exec");
    assert_false(was_started());
}

/* Control characters of the command do not reach the terminal. */
static void test_shows_command_safely(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("cp -r runs/own runs/evil && sed -i "
                    "'s/name: .*/name: \"exec:echo \\\\e[2J\"/' runs/evil/config.yaml && " ANN,
                    "eval runs/evil --store db", "2>&1"),
        2);
    prints("echo ?[2J");
    assert_null(strchr(out, 27));
}

static void test_deleting_forgets(void **state)
{
    (void)state;
    assert_int_equal(run_program("test -n \"$(ls ann/trained)\";", "--version", ""), 0);
    assert_int_equal(run_program(ANN, "runs delete own new --yes --store db", "2>&1"), 0);
    assert_int_equal(run_program("ls ann/trained; ", "--version", ""), 0);
    assert_int_equal(strncmp(out, "lengthen", 8), 0); /* nothing was listed before */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens_own_run),
        cmocka_unit_test(test_refuses_other_run),
        cmocka_unit_test(test_is_allowed),
        cmocka_unit_test(test_refuses_in_disguise),
        cmocka_unit_test(test_lists_without_executing),
        cmocka_unit_test(test_opens_no_task),
        cmocka_unit_test(test_refuses_changed_command),
        cmocka_unit_test(test_shows_command_safely),
        cmocka_unit_test(test_deleting_forgets),
    };
    return cmocka_run_group_tests(tests, set_up, remove_home);
}
