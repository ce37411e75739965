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
    assert_int_equal(count("\"source\":\"given\""), 2);
    assert_int_equal(count("\"source\":\"predicted\""), 2);
    prints("{\"step\":20,\"setting\":\"\",\"length\":3,\"unit\":\"letters\",\"sparsity\":0,"
           "\"source\":\"given\",\"tokens\":8,\"samples\":4,");
    assert_int_equal(count("\"kept\":false,\"folder\":\"runs/small\"}"), 4);
    assert_int_equal(count("\"id_accuracy\":null,"), 2); /* of given IDs none is predicted */
    assert_true(there("lengthen.db"));
    /* a second time the store has them */
    assert_int_equal(run("2>/dev/null", "eval runs/small --json"), 0);
    assert_int_equal(count("\"kept\":true"), 4);
    assert_int_equal(run("", "eval runs/small --source given --lengths 2,4,6 --samples 2"), 0);
    assert_int_equal(count(" given "), 3);
    prints("95% interval");
    prints("earliest       first ");
    prints("token 1");
    assert_int_equal(run("", "eval runs/small --source given --lengths 2,4 --samples 2 --csv"), 0);
    assert_int_equal(count("\n"), 3);
    prints("step,setting,length,unit,sparsity,source,tokens,samples,exact,");
    prints("\n20,\"\",4,\"letters\",0,given,10,2,");
    assert_int_equal(
        run("", "eval runs/small --vary task.kind=random,unique --source given --json"), 0);
    assert_int_equal(count("\"setting\":\"kind=unique\""), 2);
    assert_int_equal(run("", "eval runs/small --source given --plot -"), 0);
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
    /* the same run by the list of its contexts, and by draws */
    assert_int_equal(run("", "certify tiny --data own --samples 50"), 3);
    prints("Not certified: the model is wrong in ");
    assert_true(there("tiny/certificate-list.json"));
    assert_int_equal(run("", "certify tiny --data own --samples 50 --json"), 3);
    prints("{\"kind\":\"list\",\"certified\":false,");
    assert_int_equal(run("2>&1", "certify tiny --sample --share 0.9 --lengths 2,3"), 3);
    prints("length 2: 51 examples, about ");
    prints("Not shown: of 51 independent draws of length 3");
    assert_true(there("tiny/certificate-sampled.json"));
    assert_int_equal(run("2>/dev/null", "eval tiny --by-context --lengths 2,3 --samples 20 --csv"),
                     0);
    assert_int_equal(count("\n"), 5);
    assert_int_equal(run("2>/dev/null", "eval tiny --lengths 2,3 --samples 20 --json"), 0);
    assert_int_equal(count("\"kept\":true"), 4); /* they are the same cells */
    /* resumed when all is done: nothing happens, and it is no error */
    assert_int_equal(run("2>&1", "train small.yaml --resume"), 0);
    prints("Trained.");
}

/* Ctrl-C, a plain kill, a terminal that closes: a checkpoint, the way to go on, the exit code that
 * shells give the signal, and then the whole run. */
static void an_interrupted_run_goes_on(void **state)
{
    (void)state;
    static const char *const signals[] = {"INT", "TERM", "HUP"};
    static const int codes[] = {130, 143, 129};
    for (int i = 0; i < 3; i++) {
        char before[60], folder[40], arguments[100];
        snprintf(before, sizeof before, "timeout --preserve-status -s %s 0.5", signals[i]);
        snprintf(arguments, sizeof arguments,
                 "train small.yaml --set train.steps=100000 --out long-%s", signals[i]);
        assert_int_equal(run_program(before, arguments, "2>&1"), codes[i]);
        prints("a checkpoint is saved");
        prints("--resume");
        snprintf(folder, sizeof folder, "long-%s/checkpoint", signals[i]);
        assert_true(there(folder));
        snprintf(arguments, sizeof arguments, "eval long-%s --samples 1", signals[i]);
        assert_int_equal(run("2>/dev/null", arguments), 0);
    }
}

static void an_interrupted_demo_says_so(void **state)
{
    (void)state;
    assert_int_equal(run_program("timeout --preserve-status -s TERM 0.5", "demo", "2>&1"), 143);
    prints("lengthen demo: stopped\n");
}

/* What was started with nohup goes on when its terminal closes. */
static void an_ignored_hangup_stays_ignored(void **state)
{
    (void)state;
    run_program("trap '' HUP;",
                "train small.yaml --set train.steps=2000 --out nohup 2>&1 & while [ ! -e "
                "nohup/config.yaml ]; do sleep 0.01; done; kill -HUP $!; wait $!; echo code $?",
                "");
    prints("Trained.");
    prints("code 0");
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

/* For people: what is no number is called NaN, and a value of the config has six digits, unless runs
 * differ in later ones. */
static void numbers_are_readable(void **state)
{
    (void)state;
    assert_int_equal(
        run("2>&1", "train small.yaml --out wild --set train.lr=1e6 --set train.grad_clip=0"), 1);
    prints(": loss NaN, ID loss NaN, gradient norm NaN; ");
    assert_int_equal(run("2>&1", "runs show wild"), 0);
    assert_null(strstr(out, "nan"));
    static const char *const decay[] = {"0.30000000000000004", "0.12345678901234568",
                                        "0.12345678901234"};
    for (int i = 0; i < 3; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "train small.yaml --out decay-%d --set train.steps=1 --set train.weight_decay=%s",
                 i, decay[i]);
        assert_int_equal(run("2>&1", arguments), 0);
    }
    assert_int_equal(run("2>&1", "runs show decay-0"), 0);
    prints("  train.weight_decay: 0.3\n");
    assert_int_equal(run("2>&1", "runs show decay-1"), 0);
    prints("  train.weight_decay: 0.123457\n");
    assert_int_equal(run("2>&1", "runs show decay-1 --json"), 0);
    prints("0.12345678901234568"); /* as it was */
    assert_int_equal(run("2>&1", "runs compare decay-0 decay-1"), 0);
    prints(" 0.123457\n");
    assert_null(strstr(out, "0.30000"));
    assert_int_equal(run("2>&1", "runs compare decay-1 decay-2"), 0);
    prints("0.12345678901234568  ");
}

/* Runs that are there are drawn together; without anything to draw that is said. */
static void compared_runs_are_drawn(void **state)
{
    (void)state;
    if (system("command -v gnuplot >/dev/null") != 0) skip();
    static const char *const seeds[] = {"7", "8"};
    for (int i = 0; i < 2; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "train small.yaml --out drawn-%s --set seed=%s",
                 seeds[i], seeds[i]);
        assert_int_equal(run("2>&1", arguments), 0);
    }
    assert_int_equal(run("2>&1", "runs compare drawn-7 drawn-8 --plot c.svg"), 2);
    prints("nothing to draw");
    assert_int_equal(run("2>&1", "runs --plot c.svg"), 2);
    prints("--plot goes with `runs compare` alone");
    assert_int_equal(run("2>&1", "runs compare drawn-7 drawn-8 --plot c.gif"), 2);
    assert_int_equal(run("2>&1", "eval drawn-7 --samples 4"), 0);
    assert_int_equal(run("2>&1", "eval drawn-8 --samples 4"), 0);
    assert_int_equal(run("2>&1", "runs compare drawn-7 drawn-8 --plot c.svg --size 1200x400"), 0);
    prints("The figure is in c.svg");
    char command[300];
    snprintf(command, sizeof command,
             "cd %s && grep -q 'drawn-7' c.svg && grep -q 'drawn-8' c.svg &&"
             " grep -q 'width=\"1200\" height=\"400\"' c.svg",
             home);
    assert_int_equal(system(command), 0);
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
        {"eval runs/small --ids given", "\"--ids\" is not an option"},
        {"eval runs/small --again", "\"--again\" is not an option"},
        {"eval runs/small --source both", "given or predicted"},
        {"eval runs/small --lengths 2000000", "2000000"},
        {"eval runs/small --no-such", "--no-such"},
        {"eval runs/small --vary names", "--vary is \"names\""},
        {"eval runs/small --vary kind=odd", "random|unique"},
        {"eval runs/small --vary alphabet=5", "vocabulary"},
        {"eval runs/small --task parity", "vocabulary"},
        {"eval runs/small --task jsonl:none.jsonl", "none.jsonl"},
        {"eval runs/small --threads none", "--threads is \"none\""},
        {"eval runs/small --plot picture.gif", ".svg"},
        {"eval runs/small --plot picture.svg --size 900", "WIDTHxHEIGHT"},
        {"eval runs/small --plot picture.svg --size 900x1", "WIDTHxHEIGHT"},
        {"eval runs/small --measure loss", "--measure is \"loss\"; take exact, "},
        {"eval runs/small --measure exact,excess",
         "--measure excess is of losses, but runs/small has answers"},
        {"eval runs/small --plot none/picture.svg", "none"},
        {"train small.yaml --out other --set train.curriculum_steps=5", "train.curriculum is none"},
        {"train small.yaml --out other --set eval.every=5 --set 'eval.lengths=[2000000]'",
         "2000000"},
        {"certify", "which run?"},
        {"certify other", "is no run"},
        {"certify runs/small runs/small", "one run at a time"},
        {"certify runs/small --max-contexts few", "--max-contexts is \"few\""},
        {"certify runs/small --max-contexts 1", "narrower window"},
        {"certify runs/small --share 0.9", "are of --sample"},
        {"certify runs/small --sample --share 1", "--share is \"1\""},
        {"certify runs/small --lengths 5", "for all lengths"},
        {"certify runs/small --sample --confirm 5", "--confirm is of the proof"},
        {"certify runs/small --fresh own", "of the list of --data"},
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
        if (i && strlen(out) > 600) /* the first lists the configs */
            fail_msg("%s: more than a sentence:\n%s", wrong[i].arguments, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_from_config_to_table),
        cmocka_unit_test(the_store_is_where_it_is_said),
        cmocka_unit_test(an_interrupted_run_goes_on),
        cmocka_unit_test(an_interrupted_demo_says_so),
        cmocka_unit_test(an_ignored_hangup_stays_ignored),
        cmocka_unit_test(numbers_are_readable),
        cmocka_unit_test(compared_runs_are_drawn),
        cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
