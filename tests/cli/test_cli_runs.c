/* test_cli_runs.c: `lengthen train` and `eval` as a user meets them: a run from a config to a
 * table, an interruption, and wrong uses, which give exit code 2, one sentence with the remedy, and
 * leave nothing behind. */
#include <signal.h>

#include "cli/running.h"

/* `lengthen ...`; its exit code. */
static int run(const char *what, const char *arguments) { return run_program("", arguments, what); }

static int make_home(void **state)
{
    (void)state;
    char path[100];
    if (new_home()) return -1;
    snprintf(path, sizeof path, "%s/small.yaml", home);
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fputs("seed: 1\n"
          "task: {name: copy}\n"
          "positions: {ids: coupled, source: delta, encoding: relative, span: window}\n"
          "model: {width: 16, heads: 2}\n"
          "train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"
          "eval: {lengths: [3, 5], samples: 4}\n",
          f);
    return fclose(f);
}

static void a_run_from_config_to_table(void **state)
{
    (void)state;
    assert_int_equal(run("2>/dev/null", "train small.yaml --json"), 0);
    assert_int_equal(count("{\"step\":"), 20);
    prints("{\"step\":20,\"loss\":");
    assert_true(there("runs/small/config.yaml"));
    assert_int_equal(run("2>/dev/null", "eval runs/small --json"), 0);
    assert_int_equal(count("\"ids\":\"given\""), 2);
    assert_int_equal(count("\"ids\":\"predicted\""), 2);
    prints("{\"step\":20,\"setting\":\"\",\"length\":3,\"unit\":\"letters\",\"sparsity\":0,"
           "\"ids\":\"given\",\"tokens\":8,\"samples\":4,");
    assert_int_equal(count("\"kept\":false,\"folder\":\"runs/small\"}"), 4);
    assert_int_equal(count("\"id_accuracy\":null,"), 2); /* of given IDs none is predicted */
    assert_true(there("lengthen.db"));
    /* a second time the store has them */
    assert_int_equal(run("2>/dev/null", "eval runs/small --json"), 0);
    assert_int_equal(count("\"kept\":true"), 4);
    assert_int_equal(run("", "eval runs/small --ids given --lengths 2,4,6 --samples 2"), 0);
    assert_int_equal(count(" given "), 3);
    prints("95% interval");
    prints("first error");
    assert_int_equal(run("", "eval runs/small --ids given --lengths 2,4 --samples 2 --csv"), 0);
    assert_int_equal(count("\n"), 3);
    prints("step,setting,length,unit,sparsity,ids,tokens,samples,exact,");
    prints("\n20,\"\",4,\"letters\",0,given,10,2,");
    assert_int_equal(run("", "eval runs/small --vary task.kind=random,unique --ids given --json"),
                     0);
    assert_int_equal(count("\"setting\":\"kind=unique\""), 2);
    assert_int_equal(run("", "eval runs/small --ids given --plot -"), 0);
    prints("100%");
    prints("length (letters)");
    /* 5 steps are not enough for every context: the answer is no, with the input */
    assert_int_equal(run("2>/dev/null", "train small.yaml --out tiny --set train.steps=5 --set "
                                        "task.alphabet=3 --set 'positions.window=[0, 1]'"),
                     0);
    assert_int_equal(run("", "certify tiny"), 3);
    prints("Not certified:");
    prints("The shortest input that fails: 1 column, wrong at token");
    assert_int_equal(run("", "certify tiny --json"), 3);
    prints("{\"certified\":false,\"contexts\":");
    prints("\"counterexample\":{\"input\":\"");
    prints(",\"folder\":\"tiny\"}\n");
    /* resumed when all is done: nothing happens, and it is no error */
    assert_int_equal(run("2>&1", "train small.yaml --resume"), 0);
    prints("Trained.");
}

/* Ctrl-C: a checkpoint, the way to go on, and then the whole run. */
static void an_interrupted_run_goes_on(void **state)
{
    (void)state;
    char command[400];
    snprintf(command, sizeof command,
             "cd %s && (timeout -s INT 0.5 '%s' train small.yaml --set train.steps=100000 --out "
             "long; echo code $?) 2>&1",
             home, LG_PROGRAM);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    pclose(f);
    prints("a checkpoint is saved");
    prints("--resume");
    assert_true(there("long/checkpoint"));
    assert_int_equal(run("2>/dev/null", "eval long --samples 1"), 0);
}

/* --store, then LENGTHEN_STORE, then lengthen.db; and evaluations on the way. */
static void the_store_is_where_it_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("2>/dev/null", "train small.yaml --out a --store one.db --json "
                                        "--set eval.every=10 --set eval.samples=1"),
                     0);
    assert_int_equal(count("{\"step\":10,\"setting\""), 4);
    assert_int_equal(count("{\"step\":20,\"setting\""), 4);
    assert_true(there("one.db"));
    setenv("LENGTHEN_STORE", "two.db", 1);
    int code = run("2>/dev/null", "train small.yaml --out b");
    unsetenv("LENGTHEN_STORE");
    assert_int_equal(code, 0);
    assert_true(there("two.db"));
    /* its metrics went to another store: said, and no reason to stop */
    assert_int_equal(run("", "train small.yaml --out c --set train.steps=100000 2>&1 & sleep 0.4; "
                             "kill -INT $!; wait $!; true"),
                     0);
    assert_int_equal(run("", "train small.yaml --out c --set train.steps=100000 --resume "
                             "--store three.db 2>&1 & sleep 0.4; kill -INT $!; wait $!; true"),
                     0);
    prints("three.db has the metrics of 0 of the");
}

/* Every file of the folder, as one number. */
static void fingerprint(char *sum, size_t size)
{
    char command[400];
    snprintf(command, sizeof command,
             "cd %s && find . -type f -exec md5sum {} + | sort | md5sum; find %s -type d | sort | "
             "md5sum",
             home, home);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(sum, 1, size - 1, f);
    sum[n] = 0;
    pclose(f);
}

static void wrong_uses(void **state)
{
    (void)state;
    char before[200], after[200];
    fingerprint(before, sizeof before);
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"train", "which config?"},
        {"train none.yaml", "none.yaml"},
        {"train small.yaml small.yaml", "one config at a time"},
        {"train small.yaml --no-such", "--no-such"},
        {"train small.yaml --threads 0", "--threads is \"0\""},
        {"train small.yaml --threads 4294967297", "--threads is \"4294967297\""}, /* 2^32 + 1 */
        {"train small.yaml --set", "--set"},
        {"train small.yaml --out other --set train", "key=value"},
        {"train small.yaml --out other --set train.stepz=3", "train.steps"},
        {"train small.yaml --out other --set train.steps=many", "many"},
        {"train small.yaml --out other --set train.steps=0", "train.steps"},
        {"train small.yaml --out other --set model.width=17", "model.width is 17"},
        {"train small.yaml --out other --set model.arch=gpt9", "gpt9"},
        {"train small.yaml --out other --set task.name=copi", "copy"},
        {"train small.yaml --out other --set task.kind=odd", "random|unique"},
        {"train small.yaml --out other --set positions.ids=abacus --set positions.source=given",
         "digit"},
        {"train small.yaml --out other --set positions.ids=pose --set positions.source=given "
         "--set positions.target=99",
         "window"},
        {"train small.yaml --out other --set positions.source=absolute --set positions.max_id=50",
         "difference"},
        {"train small.yaml --out other --set positions.levels=3", "level"},
        {"train small.yaml --out other --set 'train.length=[5, 1]'", "train.length"},
        {"train small.yaml --out other --resume", "holds no run"},
        {"train small.yaml", "--resume"},
        {"train small.yaml --resume --set seed=9 --out runs/small", "another config"},
        {"eval", "which run?"},
        {"eval other", "is no run"},
        {"eval runs/small runs/small", "one run at a time"},
        {"eval runs/small --lengths 5,x", "--lengths is \"5,x\""},
        {"eval runs/small --lengths 5,,6", "take up to 256 numbers of 1 or more"},
        {"eval runs/small --json --csv", "take --json or --csv, not both"},
        {"eval runs/small --lengths 0", "--lengths is \"0\""},
        {"eval runs/small --samples none", "--samples is \"none\""},
        {"eval runs/small --ids both", "given or predicted"},
        {"eval runs/small --lengths 2000000", "2000000"},
        {"eval runs/small --no-such", "--no-such"},
        {"eval runs/small --vary names", "--vary is \"names\""},
        {"eval runs/small --vary kind=odd", "random|unique"},
        {"eval runs/small --vary alphabet=5", "vocabulary"},
        {"eval runs/small --task parity", "vocabulary"},
        {"eval runs/small --task jsonl:none.jsonl", "none.jsonl"},
        {"eval runs/small --threads none", "--threads is \"none\""},
        {"eval runs/small --plot picture.gif", ".svg"},
        {"eval runs/small --plot none/picture.svg", "none"},
        {"train small.yaml --out other --set train.curriculum_steps=5", "train.curriculum is none"},
        {"train small.yaml --out other --set eval.every=5 --set 'eval.lengths=[2000000]'",
         "2000000"},
        {"certify", "which run?"},
        {"certify other", "is no run"},
        {"certify runs/small runs/small", "one run at a time"},
        {"certify runs/small --most-contexts few", "--most-contexts is \"few\""},
        {"certify runs/small --most-contexts 1", "narrower window"},
        {"certify runs/small --threads 0", "--threads is \"0\""},
        {"certify runs/small --confirm 5000", "--confirm is \"5000\""},
        {"certify runs/small --confirm 4294968296", "--confirm is \"4294968296\""},
        {"demo --seed -1", "--seed is \"-1\""},
        {"demo --plot picture.gif", ".svg"},
        {"demo --out small.yaml/x", "small.yaml/x"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = run("2>&1 >/dev/null", wrong[i].arguments);
        if (code != 2) fail_msg("%s: exit code %d\n%s", wrong[i].arguments, code, out);
        if (!strstr(out, wrong[i].words))
            fail_msg("%s: \"%s\" is not in:\n%s", wrong[i].arguments, wrong[i].words, out);
        fingerprint(after, sizeof after);
        if (strcmp(before, after) != 0) fail_msg("%s: left something behind", wrong[i].arguments);
        if (strlen(out) > 600) fail_msg("%s: more than a sentence:\n%s", wrong[i].arguments, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_from_config_to_table),
        cmocka_unit_test(the_store_is_where_it_is_said),
        cmocka_unit_test(an_interrupted_run_goes_on),
        cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
