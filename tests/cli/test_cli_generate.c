/* test_cli_generate.c: `lengthen generate` as a user meets it: the table, JSON lines, a prompt from
 * the command line and from the standard input, long texts, and wrong uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char out[1 << 20], home[64];

/* Runs `BEFORE lengthen ARGUMENTS WHERE` in the test's own folder; its exit code. */
static int run(const char *before, const char *arguments, const char *where)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && %s '%s' %s %s", home, before, LG_PROGRAM, arguments,
             where);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (!WIFEXITED(status)) fail_msg("%s: ended by a signal", command);
    return WEXITSTATUS(status);
}

static void prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static int count(const char *words)
{
    int n = 0;
    for (const char *at = out; (at = strstr(at, words)); at++) n++;
    return n;
}

static int write_file(const char *name, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fputs(text, f);
    return fclose(f);
}

/* parity learns; plain and names do not, and need not. */
static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/lengthen-cli-XXXXXX");
    if (!mkdtemp(home)) return -1;
    if (write_file("parity.yaml",
                   "seed: 3\n"
                   "task: {name: parity-scratchpad}\n"
                   "positions: {ids: coupled, source: delta, encoding: relative, span: window,\n"
                   "  window: [0, 1]}\n"
                   "model: {width: 64, heads: 2, sink: yes}\n"
                   "train: {steps: 250, batch: 64, lr: 4e-3, warmup: 50, length: [1, 10]}\n") ||
        write_file("plain.yaml", "task: {name: sparse-parity}\n"
                                 "positions: {ids: plain}\n"
                                 "model: {width: 16, heads: 2}\n"
                                 "train: {steps: 5, batch: 4, warmup: 1, length: [1, 5]}\n") ||
        write_file("names.yaml", "task: {name: variable-assignment, name_tokens: 2, names: 40}\n"
                                 "positions: {ids: coupled, source: [pointer, delta], reach: 4}\n"
                                 "model: {width: 16, heads: 2}\n"
                                 "train: {steps: 5, batch: 4, warmup: 1, length: [1, 5]}\n"))
        return -1;
    return run("", "train parity.yaml", "2>&1") || run("", "train plain.yaml", "2>&1") ||
           run("", "train names.yaml", "2>&1");
}

static int remove_home(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

static void a_prompt_as_a_table(void **state)
{
    (void)state;
    static const char *const same[] = {"--prompt '1 0 1 ='",
                                       "--prompt 101=", "--prompt 101= --source given"};
    for (int i = 0; i < 3; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "generate runs/parity %s", same[i]);
        assert_int_equal(run("", arguments, "2>&1"), 0);
        prints("parity-scratchpad, a prompt: 4 tokens of prompt; step 250, IDs ");
        prints("  token   1 0 1 = 1 1 0 $\n");
        prints("  column  2 3 4 1 2 3 4 5\n");
        prints("\nexact\n");
    }
    prints("IDs given\n");
    assert_int_equal(run("echo 1 0 1 = |", "generate runs/parity --prompt -", "2>&1"), 0);
    prints("\nexact\n");
}

static void fresh_examples(void **state)
{
    (void)state;
    assert_int_equal(run("", "generate runs/parity", "2>&1"), 0);
    prints("parity-scratchpad, example 0: length 10 (bits), 11 tokens of prompt; step 250, IDs "
           "predicted\n");
    assert_int_equal(run("", "generate runs/parity --length 20 --count 3", "2>&1"), 0);
    prints("example 2: length 20");
    prints(" of 3 exact\n");
    /* folded at the width */
    assert_int_equal(run("COLUMNS=40", "generate runs/parity --length 20", "2>&1"), 0);
    assert_true(count("\n  token ") > 2);
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "  ", 2) == 0) assert_true(strlen(line) <= 40);
    /* a model that has learned nothing: the right ones under the wrong ones */
    assert_int_equal(run("", "generate runs/plain --length 3 --count 30", "2>&1"), 0);
    prints("\n  right ");
    prints("wrong from token 1 on (expected ");
    prints("IDs given");
    assert_int_equal(run("", "generate runs/plain --length 3 --sparsity 2", "2>&1"), 0);
    prints("sparsity 2,");
    assert_int_equal(run("", "generate runs/parity --max-tokens 3", "2>&1"), 0);
    prints("right so far: 3 of 11 tokens\n");
}

/* The same seed, the same text; another one, another. */
static void temperature(void **state)
{
    (void)state;
    static char one[sizeof out];
    const char *again = "generate runs/parity --length 30 --temperature 3 --seed 4";
    assert_int_equal(run("", again, "2>&1"), 0);
    snprintf(one, sizeof one, "%s", out);
    assert_int_equal(run("", again, "2>&1"), 0);
    assert_string_equal(one, out);
    assert_int_equal(run("", "generate runs/parity --length 30 --temperature 3 --seed 5", "2>&1"),
                     0);
    assert_string_not_equal(one, out);
}

static void json_lines(void **state)
{
    (void)state;
    assert_int_equal(run("", "generate runs/parity --prompt 101= --json", "2>/dev/null"), 0);
    assert_int_equal(count("{\"at\":"), 8);
    assert_int_equal(count("\"prompt\":true"), 4);
    prints("{\"at\":0,\"prompt\":true,\"token\":\"1\",\"id\":[2]}\n");
    prints("{\"at\":4,\"prompt\":false,\"token\":\"1\",\"id\":[2],\"p\":");
    prints(",\"expected\":\"$\",\"expected_id\":[5]}\n");
    prints("{\"exact\":true,\"example\":0,\"task\":\"parity-scratchpad\",\"step\":250,\"source\":"
           "\"predicted\",");
    prints("\"right_tokens\":4,\"wrong_from\":null,\"wrong_ids\":0}\n");
    assert_int_equal(run("", "generate runs/parity --count 2 --length 3 --json", ""), 0);
    assert_int_equal(count("{\"exact\":"), 2);
    const char *names =
        "generate runs/names --max-tokens 2 --json --prompt 'v1 v2 := v3 v4 v3 v4 := c7 "
        "v9 v9 := v1 v2 ? v9 v9' --prompt-ids '2 2 2 2 2 3 3 3 3 4 4 4 4 4 1 1 -;"
        "2 3 4 5 6 2 3 4 5 2 3 4 5 6 4 5 6'";
    assert_int_equal(run("", names, "2>/dev/null"), 0);
    prints("\"token\":\"v9\",\"id\":[null,6]}\n");
    prints("\"expected\":null,\"expected_id\":null}\n");
    prints("{\"exact\":null,");
}

/* Over 2000 tokens: the ends, the start of the answer, and what is wrong. */
static void long_texts(void **state)
{
    (void)state;
    assert_int_equal(run("", "generate runs/parity --length 1500 --max-tokens 1000", "2>&1"), 0);
    prints("of 2501 tokens are shown");
    prints("\n  at ");
    prints(" 199 1401 ");
    prints(" 2500\n");
    prints("--json gives all");
    assert_true(strlen(out) < 200000);
}

static void wrong_uses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words, *remedy;
    } wrong[] = {
        {"generate", "which run?", "folder"},
        {"generate none", "is no run", "lengthen train"},
        {"generate runs/parity runs/parity", "one run at a time", "--help"},
        {"generate runs/parity --no-such", "--no-such", "--help"},
        {"generate runs/parity --length", "--length", "--help"},
        {"generate runs/parity --length 0", "--length is \"0\"", "1 or more"},
        {"generate runs/parity --length 1.5", "--length is \"1.5\"", "1 or more"},
        {"generate runs/parity --length 2000000", "2000000", "may be 1..1048576"},
        {"generate runs/parity --count none", "--count is \"none\"", "1 or more"},
        {"generate runs/parity --count 4294967297", "4294967297", "from 1 to 1073741824"},
        {"generate runs/parity --max-tokens 0", "--max-tokens is \"0\"", "1 or more"},
        {"generate runs/parity --max-tokens 2000000", "2000000 tokens", "1..1048576"},
        {"generate runs/parity --seed -4", "--seed is \"-4\"", "0 or more"},
        {"generate runs/parity --temperature -1", "--temperature is \"-1\"", "0 (the likeliest"},
        {"generate runs/parity --temperature nan", "--temperature is \"nan\"", "0 (the likeliest"},
        {"generate runs/parity --source mine", "--source is \"mine\"", "given or predicted"},
        {"generate runs/plain --source predicted", "no ID heads", "given"},
        {"generate runs/plain --sparsity 2000", "2000", "1..1000"},
        {"generate runs/parity --prompt '1 x ='", "\"x\"", "words are 0 1 = $"},
        {"generate runs/parity --prompt 1x=", "\"x\"", "words are 0 1 = $"},
        {"generate runs/parity --prompt ''", "empty", "at least one word"},
        {"generate runs/parity --prompt - </dev/null", "empty", "at least one word"},
        {"generate runs/parity --prompt 101= --length 3", "--length", "leave out one"},
        {"generate runs/parity --prompt 101= --sparsity 3", "--sparsity", "leave out one"},
        {"generate runs/parity --prompt 101= --count 2", "--count", "leave out one"},
        {"generate runs/parity --prompt-ids '1 2'", "no prompt", "--prompt"},
        {"generate runs/parity --prompt 101= --prompt-ids '1 2 3'", "has 3", "4 tokens"},
        {"generate runs/parity --prompt 101= --prompt-ids '1 2 3 4;1 2 3 4'", "2 levels", "have 1"},
        {"generate runs/parity --prompt 101= --prompt-ids '1 2 -3 4'", "-3", "- for none"},
        {"generate runs/parity --prompt 101= --prompt-ids '2 3 4 1' --source given", "not known",
         "--source predicted"},
        {"generate runs/plain --prompt '* 1' --prompt-ids '1 2'", "plain", "leave out"},
        {"generate runs/names --prompt 'v1 v2 := v3 v4 v3 v4 := c7 ? v1 v2'", "follow from",
         "--prompt-ids"},
        {"generate runs/names --prompt 'vv1 := c3'", "\"vv1\"", "did you mean"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = run("", wrong[i].arguments, "2>&1 >/dev/null");
        if (code != 2) fail_msg("%s: exit code %d\n%s", wrong[i].arguments, code, out);
        if (!strstr(out, wrong[i].words) || !strstr(out, wrong[i].remedy))
            fail_msg("%s: \"%s\" or \"%s\" is not in:\n%s", wrong[i].arguments, wrong[i].words,
                     wrong[i].remedy, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_as_a_table), cmocka_unit_test(fresh_examples),
        cmocka_unit_test(temperature),         cmocka_unit_test(json_lines),
        cmocka_unit_test(long_texts),          cmocka_unit_test(wrong_uses),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
