/* test_cli_own.c: a run of own data (jsonl:FILE) is tested on lines that it was not trained on. With random
 * labels there is nothing to learn but the lines themselves, so that a test which finds them known is one on
 * training lines. */
#include "running.h"

static const char config[] = "task: {name: \"jsonl:own.jsonl\"}\n"
                             "model: {layers: 2, width: 64, heads: 2, ff: 128}\n"
                             "positions: {encoding: learned, max_id: 20}\n"
                             "train: {steps: 1000, batch: 64, length: [10, 10], lr: 3e-3}\n"
                             "eval: {lengths: [10], samples: 1000}\n";

/* 200 lines of ten bits that differ, each with a random answer; 30 longer ones; 3 of length 12. */
static int set_up(void **state)
{
    (void)state;
    if (new_home() || write_file("own.yaml", config)) return -1;
    FILE *f = fopen(in_home("own.jsonl"), "w");
    if (!f) return -1;
    unsigned r = 1;
    for (int i = 0; i < 233; i++) {
        int length = i < 200 ? 10 : i < 230 ? 11 : 12;
        fprintf(f, "{\"tokens\":[");
        for (int k = 0; k < length; k++) fprintf(f, "%d,", (37 * i + 11) >> (k % 10) & 1);
        r = r * 1103515245u + 12345u;
        fprintf(f, "\"=\",%u],\"loss\":[", r >> 16 & 1);
        for (int k = 0; k < length; k++) fprintf(f, "0,");
        fprintf(f, "0,1],\"length\":%d}\n", length);
    }
    if (fclose(f)) return -1;
    int code = run_program("", "train own.yaml --store db", "2>&1");
    if (code) fputs(out, stderr);
    return code;
}

static double number(const char *key)
{
    const char *at = strstr(out, key);
    if (!at) fail_msg("%s is not in: %s", key, out);
    return atof(at + strlen(key));
}

static void test_random_labels_are_not_known(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "eval runs/own --store db --json", "2>&1"), 0);
    assert_int_equal((int)number("\"samples\":"), 20); /* not 1000: each once */
    assert_int_equal((int)number("\"lines\":"), 20);
    prints("\"held_out\":true");
    assert_true(number("\"exact\":") < 0.86); /* 17 of 20 by chance: 1 in 800 */
    assert_int_equal(run_program("", "eval runs/own --store db", "2>&1"), 0);
    prints("20 of 20  held-out lines");
}

/* The training lines are known by heart: the test above would have seen them. */
static void test_overlap_is_told(void **state)
{
    (void)state;
    assert_int_equal(
        run_program("", "eval runs/own --store db --task jsonl:own.jsonl --json", "2>&1"), 0);
    prints("180 of the 233 lines of own.jsonl are among those that the run was trained on");
    assert_true(number("\"exact\":") > 0.92); /* 90% of them, and half of the rest */
}

/* What training never shows is tested whole. */
static void test_other_lengths_are_tested_whole(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "eval runs/own --store db --lengths 11", "2>&1"), 0);
    prints("30 of 30  lines");
}

static void test_too_few_lines_are_told_first(void **state)
{
    (void)state;
    const char *sets =
        "--set train.length=[12,12] --set eval.lengths=[12] --set train.steps=1 --out r2";
    char command[300];
    snprintf(command, sizeof command, "train own.yaml --store db %s", sets);
    assert_int_equal(run_program("", command, "2>&1"), 0);
    prints("3 lines of length 12, too few for task.test to hold one out");
    assert_int_equal(run_program("", "eval r2 --store db", "2>&1"), 2);
    prints("of its 3 lines with length 12..12 none is held out");
    /* Early stopping needs some. */
    snprintf(command, sizeof command, "train own.yaml --store db %s3 --set train.stop_at=0.9",
             sets);
    assert_int_equal(run_program("", command, "2>&1"), 2);
    prints("none is held out");
    assert_false(there("r23"));
    /* Nothing to train on is refused before any work. */
    assert_int_equal(
        run_program("", "train own.yaml --store db --set task.test=1 --out r4", "2>&1"), 2);
    prints("none is left to train on");
    assert_false(there("r4"));
}

/* Which lines are held out was decided by training: it cannot be varied, and changes when the file does. */
static void test_held_out_lines_stay(void **state)
{
    (void)state;
    assert_int_equal(run_program("", "eval runs/own --store db --vary test=1", "2>&1"), 2);
    prints("leave test out");
    assert_int_equal(
        run_program(
            "cp own.jsonl kept && cp -r runs/own runs/grown && tail -n 40 own.jsonl >> own.jsonl;",
            "eval runs/grown --store db --force", "2>&1; mv kept own.jsonl"),
        0);
    prints("have changed since the run was trained");
}

/* A sweep knows how many samples such a cell has, and does not make it again. */
static void test_sweep_is_done_once(void **state)
{
    (void)state;
    write_file("sweep.yaml", "config:\n"
                             "  task: {name: \"jsonl:own.jsonl\"}\n"
                             "  model: {layers: 1, width: 16, heads: 2, ff: 16}\n"
                             "  train: {steps: 5, batch: 4, length: [10, 10]}\n"
                             "  eval: {lengths: [10, 11], samples: 1000}\n"
                             "vary: {seed: [1, 2]}\n");
    assert_int_equal(run_program("", "sweep sweep.yaml --out s --store s.db", "2>&1"), 0);
    assert_int_equal(run_program("", "sweep sweep.yaml --out s --store s.db", "2>&1"), 0);
    prints("2 runs, 2 done already");
}

/* The window of another task: one word of the config changed, and no answer can see its input. */
static void test_a_blind_window_is_told_first(void **state)
{
    (void)state;
    assert_int_equal(run_program("",
                                 "train " LG_SOURCE_DIR "/experiments/parity.yaml --out blind "
                                 "--set task.name=machine --set train.steps=1 --threads 1",
                                 "2>&1"),
                     0);
    prints("lengthen train: 100% of the answer's tokens see nothing of the prompt");
    prints("the window of level 2 (role) is [0, 1]; take [-2, 1]");
    if (strstr(out, "see nothing") > strstr(out, "Trained.")) fail_msg("too late:\n%s", out);
    assert_int_equal(run_program("",
                                 "train " LG_SOURCE_DIR "/experiments/parity.yaml --out seeing "
                                 "--set task.name=machine --set 'positions.window=[[0, 1], "
                                 "[-2, 1]]' --set train.steps=1 --threads 1",
                                 "2>&1"),
                     0);
    assert_int_equal(count("see nothing"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_labels_are_not_known),
        cmocka_unit_test(test_overlap_is_told),
        cmocka_unit_test(test_other_lengths_are_tested_whole),
        cmocka_unit_test(test_too_few_lines_are_told_first),
        cmocka_unit_test(test_held_out_lines_stay),
        cmocka_unit_test(test_sweep_is_done_once),
        cmocka_unit_test(test_a_blind_window_is_told_first),
    };
    return cmocka_run_group_tests(tests, set_up, remove_home);
}
