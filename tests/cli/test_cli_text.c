/* test_cli_text.c: runs of texts as a user has them: train, eval, generate, export, import, and what
 * is refused. Without it a table could lose its columns, or a refusal its reason. */
#include "running.h"

#define BOTH "2>&1"
#define STDOUT "2>/dev/null"
#define SMALL "--threads 1 --store s.db"

static int run(const char *arguments, const char *after)
{
    return run_program("LENGTHEN_CACHE=cache", arguments, after);
}

static int make_texts(void **state)
{
    (void)state;
    if (new_home()) return -1;
    FILE *f = fopen(in_home("corpus.txt"), "w");
    if (!f) return -1;
    for (int d = 0; d < 30; d++) {
        if (d) fputs("<|endoftext|>\n", f);
        for (int i = 0; i < 20; i++) fprintf(f, "line %d of text %d\n", i, d);
    }
    fclose(f);
    return write_file("c.yaml", "task: {name: text, text: [corpus.txt], test: 0.3}\n"
                                "model: {layers: 1, width: 16, heads: 2}\n"
                                "train: {steps: 6, batch: 4, length: [16, 16], schedule: cosine}\n"
                                "eval: {lengths: [16, 32]}\n");
}

static void trains_and_evaluates(void **state)
{
    (void)state;
    assert_int_equal(run("train c.yaml --out r " SMALL, BOTH), 0);
    assert_int_equal(run("eval r --threads 1", BOTH), 0);
    prints("  tokens  positions     loss    95% interval     loss ");
    prints("      16      9..16");
    prints("      32     17..32");
    prints("sliding: the last 16 tokens alone. Trained on 16 tokens.");
    assert_int_equal(run("eval r --threads 1 --lengths 32 --samples 2 --context 4 --csv", STDOUT),
                     0);
    assert_int_equal(count("\n"), 7); /* 1, 2, 3..4, 5..8, 9..16, 17..32 */
    prints(
        "step,setting,length,unit,sparsity,source,first,last,context,tokens,samples,truncated,low,"
        "high,sliding,sliding_low,sliding_high,excess,");
    prints("\n6,\"\",32,\"tokens\",0,given,17,32,4,0,2,");
    assert_int_equal(run("eval r --threads 1 --lengths 32 --json", STDOUT), 0);
    assert_int_equal(count("\"excess_high\":"), 6);
    assert_int_equal(run("eval r --threads 1 --text corpus.txt --lengths 8 --json", STDOUT), 0);
    assert_int_equal(count("\"samples\":30,\"truncated\":"), 4);
    assert_int_equal(count("\"documents_there\":30,"), 4);
    assert_int_equal(run("eval r --threads 1 --lengths 32 --plot -", STDOUT), 0);
    prints("      loss, nats per token");
    assert_int_equal(
        run("eval r --threads 1 --lengths 32 --plot - --measure truncated,sliding", STDOUT), 0);
    prints(" sliding loss ");
}

static void the_store_has_its_losses(void **state)
{
    (void)state;
    assert_int_equal(run("eval r " SMALL, BOTH), 0);
    assert_int_equal(count("kept"), 0);
    assert_int_equal(run("eval r " SMALL, BOTH), 0);
    assert_int_equal(count("  (kept)\n"), 5 + 6);
    assert_int_equal(run("eval r " SMALL " --json", STDOUT), 0);
    assert_int_equal(count(",\"kept\":true,\"folder\":\"r\"}"), 11);
    assert_int_equal(run("eval r " SMALL " --force", BOTH), 0);
    assert_int_equal(count("kept"), 0);
    assert_int_equal(run("runs show r --store s.db", BOTH), 0);
    prints("Evaluated at step 6\n");
    prints("      32     17..32");
    assert_int_equal(run("runs show r --store s.db --json", BOTH), 0);
    assert_int_equal(count("\"excess_high\":"), 11);
    assert_int_equal(run("runs --store s.db", BOTH), 0);
    prints("loss ");
    prints(" at 32");
    assert_int_equal(run("eval r " SMALL " --text corpus.txt --lengths 8", BOTH), 0);
    prints("\ncorpus.txt               8          1");
    prints("In nats per token, mean over documents; ");
    assert_int_equal(run("runs show r --store s.db", BOTH), 0);
    prints("\ncorpus.txt               8          1");
    prints("\nheld out                16          1");
}

/* Losses on the way, and tokens that are made again. */
static void tells_on_the_way(void **state)
{
    (void)state;
    assert_int_equal(run("train c.yaml --out way --set eval.every=3 " SMALL, BOTH), 0);
    prints("step 3, positions 17..32 of 32: loss ");
    prints(", excess loss ");
    assert_int_equal(run("runs show way --store s.db", BOTH), 0);
    prints("On the way: loss by step, up to position\n  step");
    assert_int_equal(run("runs compare r way --store s.db", BOTH), 0);
    prints("loss at 17..32 of 32 ");
    assert_int_equal(count("loss at 9..16 of 16 "), 1);
    assert_int_equal(run("runs compare r way --store s.db --json", BOTH), 0);
    prints("\"length\":32,\"unit\":\"tokens\",\"sparsity\":0,\"source\":\"given\",\"first\":17,"
           "\"last\":32,"
           "\"context\":16,\"kind\":\"truncated\",\"cells\":[{\"step\":6,");
    assert_int_equal(run("runs compare r way --store s.db --measure excess --json", BOTH), 0);
    assert_int_equal(count("\"kind\":\"excess\""), 11 + 4);
    assert_int_equal(run("train c.yaml --out way2 --json --set eval.every=6 " SMALL, STDOUT), 0);
    assert_int_equal(count("\"excess_high\":"), 5 + 6);
    write_file("more.txt", "one text of some length\n");
    assert_int_equal(run("eval r --threads 1 --text more.txt --lengths 8", BOTH), 0);
    assert_int_equal(count("made again"), 0);
    write_file("more.txt", "another text of another length\n");
    assert_int_equal(run("eval r --threads 1 --text more.txt --lengths 8", BOTH), 0);
    prints("lengthen eval: the token cache cache/");
    prints(" was made of other texts, or they have changed since; it was rebuilt");
}

/* A probe of later weights is no evaluation. */
static void a_probe_hides_no_evaluation(void **state)
{
    (void)state;
    assert_int_equal(
        run("train c.yaml --out late --set train.steps=7 --set eval.every=3 " SMALL, BOTH), 0);
    assert_int_equal(run("probe late --documents 2 --predictions 4 " SMALL, BOTH), 0);
    assert_int_equal(run("runs show late --store s.db", BOTH), 0);
    prints("Evaluated at step 6\n");
    prints("predictions need, at step 7: probe loo, ");
    assert_int_equal(run("runs --last 1 --store s.db", BOTH), 0);
    prints(" at 32 ");
}

static void goes_on_with_a_prompt(void **state)
{
    (void)state;
    assert_int_equal(run("generate r --prompt 'line 1' --max-tokens 5", STDOUT), 0);
    assert_int_equal(strncmp(out, "line 1", 6), 0);
    assert_int_equal(run("generate r --prompt 'line 1' --max-tokens 5 --json", STDOUT), 0);
    prints("{\"prompt\":\"line 1\",\"text\":\"line 1");
    prints("\"prompt_tokens\":6,\"tokens\":");
    prints(",\"token\":[108,105,110,101,32,49,");
    assert_int_equal(run("generate r --count 3 --max-tokens 4 --temperature 1 --json", STDOUT), 0);
    assert_int_equal(count("\"token\":["), 3);
    /* bytes that are no letters, and zeros, which end a string of C but not a text */
    assert_int_equal(run("generate r --count 4 --max-tokens 200 --temperature 50 --json", STDOUT),
                     0);
    prints("\\ufffd");
    prints("\\u0000");
    assert_int_equal(run("generate r --prompt 'line 1' --count 3 --max-tokens 2", STDOUT), 0);
    assert_int_equal(count("line 1"), 3);
    assert_int_equal(count("\n<|endoftext|>\n"), 2);
    /* a model may have more rows than there are tokens, as published ones do: these are never drawn */
    assert_int_equal(run("train c.yaml --out wide --set task.vocab=400 " SMALL, BOTH), 0);
    assert_int_equal(
        run("generate wide --count 4 --max-tokens 100 --temperature 50 --json", STDOUT), 0);
    assert_int_equal(count("\"token\":["), 4);
    assert_int_equal(run("generate r --length 5", BOTH), 2);
    prints("r is a run of texts, for which there is no --length");
}

static void goes_out_and_comes_back(void **state)
{
    (void)state;
    assert_int_equal(run("export r hf", BOTH), 0);
    prints("hf has config.json, model.safetensors; the run has no tokenizer.json");
    assert_true(there("hf/model.safetensors"));
    assert_int_equal(run("import hf back", BOTH), 2);
    prints("there is no tokenizer beside hf");
    assert_false(there("back"));
    assert_int_equal(run("import hf back --tokenizer bytes --text corpus.txt", BOTH), 0);
    prints("back is a run of GPTNeoXForCausalLM, made for 16 tokens.");
    assert_int_equal(run("eval back --threads 1 --lengths 32", BOTH), 0);
    prints("30 of 30");
    assert_int_equal(run("import hf back --tokenizer bytes", BOTH), 2);
    prints("back holds a run already");
    /* texts that are shorter than the model was made for can be looked at all the same */
    write_file("brief.txt", "a few words\n<|endoftext|>\nand some\n");
    assert_int_equal(run("import hf brief --tokenizer bytes --text brief.txt", BOTH), 0);
    assert_int_equal(run("eval brief --threads 1 --lengths 8", BOTH), 0);
    /* what a failed import would remove */
    assert_int_equal(mkdir(in_home("mine"), 0777) | mkdir(in_home("mine/tokenizer"), 0777), 0);
    assert_int_equal(run("import hf mine --tokenizer bytes", BOTH), 2);
    prints("mine/tokenizer is there already");
    assert_true(there("mine/tokenizer") && !there("mine/config.yaml"));
    /* as an import leaves it that is killed before its weights are on the disk: made again */
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", in_home("back/checkpoint"));
    assert_int_equal(system(command), 0);
    assert_int_equal(run("import hf back --tokenizer bytes --text corpus.txt", BOTH), 0);
    assert_true(there("back/checkpoint"));
    assert_int_equal(run("export r hf", BOTH), 2);
    prints("hf holds files already");
    /* and is trained further */
    assert_int_equal(
        run("train back/config.yaml --out on --set train.init_from=back --set task.test=0.3 "
            "--set train.steps=3 --set train.length=[16,16] " SMALL,
            BOTH),
        0);
    assert_int_equal(run("runs show on --store s.db", BOTH), 0);
    prints("train.init_from: back");
}

/* The table of a sweep, and an experiment in a folder, by its name. */
static void sweeps_and_reproduces(void **state)
{
    (void)state;
    static const char sweep[] =
        "experiment:\n"
        "  question: Is it so?\n"
        "  expected: \"it is.\"\n  words: documented\n  budget: 1\n"
        "  checks: [{most: {position: 20}, is: 9}, {least: {position: 20}, is: 9}]\n"
        "base: ../c.yaml\nvary: {train.steps: [1, 6], seed: [1, 2]}\n";
    char command[300];
    snprintf(command, sizeof command, "mkdir -p %s %s", in_home("own"), in_home("experiments/own"));
    assert_int_equal(system(command), 0);
    write_file("own/e.yaml", sweep);
    assert_int_equal(run("sweep own/e.yaml --out w --threads 1 --store w.db", STDOUT), 0);
    prints("variant          tokens  positions     loss       quartiles     loss ");
    prints("train.steps=6        32     17..32 ");
    assert_int_equal(run("sweep own/e.yaml --out w --store w.db --table --csv", STDOUT), 0);
    assert_int_equal(count("\n"), 1 + 3 * 2 * 2 * (5 + 6)); /* kinds, variants, seeds, places */
    prints(
        "variant,setting,length,unit,sparsity,source,first,last,context,kind,tokens,seed,value,");
    assert_int_equal(run("sweep own/e.yaml --out w --store w.db --table --json", STDOUT), 0);
    assert_int_equal(count("\"seeds\":[1,2],\"values\":["), 3 * 2 * (5 + 6));
    assert_int_equal(count("\"kind\":\"truncated\""), 2 * (5 + 6));
    assert_int_equal(count("\"kind\":\"excess\""), 2 * (5 + 6));
    assert_int_equal(run("sweep own/e.yaml --out w --store w.db --table --plot -", STDOUT), 0);
    prints("loss, median of the seeds, nats per token");
    assert_int_equal(
        run("sweep own/e.yaml --out w --store w.db --table --set task.text=other.txt", BOTH), 2);
    prints("is a run of another config: there it says \"  text: ");
    snprintf(command, sizeof command, "sed s,../c.yaml,../../c.yaml, %s > %s",
             in_home("own/e.yaml"), in_home("experiments/own/e.yaml"));
    assert_int_equal(system(command), 0);
    assert_int_equal(run("reproduce own/e --threads 1", BOTH), 3); /* one check does not hold */
    prints("holds          at most 9 in {position: 20}");
    prints("DOES NOT HOLD  at least 9 in {position: 20}");
    assert_true(there("results/own/e/measurements.csv"));
    assert_int_equal(run("reproduce --list", BOTH), 0);
    prints("own/e          4     4");
    assert_int_equal(run("reproduce all", BOTH), 1);
    prints("no file has the key experiment in the folder experiments");
    assert_int_equal(run("reproduce ./own/e", BOTH), 2);
    prints("without experiments/ and .yaml");
}

static void refuses(void **state)
{
    (void)state;
    assert_int_equal(run("eval r --source predicted", BOTH), 2);
    prints("r is a run of task text, for which there is no --source");
    assert_int_equal(run("eval r --lengths 5000", BOTH), 2);
    prints("none has 5000 tokens and one more");
    assert_int_equal(run("import hf", BOTH), 2);
    prints("give the weights and the folder");
    assert_int_equal(run("import a b c", BOTH), 2);
    assert_int_equal(run("export r", BOTH), 2);
    assert_int_equal(run("export r a --fast", BOTH), 2);
    prints("\"--fast\" is not an option");
    assert_int_equal(run("train c.yaml --out x --set positions.ids=coupled " SMALL, BOTH), 2);
    prints("positions.ids is coupled, but task text has no labels");
    prints(
        "or write \"ids\" into the lines of your own data"); /* a key of theirs, not of the config */
    assert_false(there("x"));
    write_file("p.yaml", "task: {name: parity}\nmodel: {width: 16, heads: 2}\n"
                         "train: {steps: 1, batch: 2}\n");
    assert_int_equal(run("train p.yaml --out p " SMALL, BOTH), 0);
    assert_int_equal(run("eval p --text corpus.txt", BOTH), 2);
    prints("p is a run of task parity, for which there is no --text");
    assert_int_equal(run("eval nowhere --text corpus.txt", BOTH), 2);
    prints("there is no nowhere/config.yaml");
    assert_int_equal(run("eval r --field body", BOTH), 2);
    prints("--field is of the texts that --text names");
    write_file("body.jsonl",
               "{\"body\": \"a text of more than sixteen letters, twice sixteen\"}\n");
    assert_int_equal(run("eval r --text body.jsonl --lengths 16 --store b.db", BOTH), 2);
    prints("name the key that holds the text (--field;");
    assert_int_equal(run("eval r --text body.jsonl --field body --lengths 16 --store b.db", BOTH),
                     0);
}

/* What everybody has first: one file, no marks, no setting. */
static void one_file_is_enough(void **state)
{
    (void)state;
    FILE *f = fopen(in_home("input.txt"), "w");
    assert_non_null(f);
    for (int i = 0; i < 2000; i++) fprintf(f, "line %d of one text\n", i);
    fclose(f);
    write_file("one.yaml", "task: {name: text, text: input.txt}\n"
                           "model: {layers: 1, width: 16, heads: 2}\n"
                           "train: {steps: 6, batch: 4, length: [16, 16]}\n");
    assert_int_equal(run("train one.yaml --out one " SMALL, BOTH), 0);
    prints("the last 10% of it is held out");
    assert_int_equal(run("eval one --threads 1 --json", STDOUT), 0);
    prints("\"length\":160,");
    prints("\"documents_there\":4,");
    assert_int_equal(run("probe one --threads 1 --predictions 8", BOTH), 0);
    prints("8 predictions of 4 texts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trains_and_evaluates),  cmocka_unit_test(the_store_has_its_losses),
        cmocka_unit_test(tells_on_the_way),      cmocka_unit_test(a_probe_hides_no_evaluation),
        cmocka_unit_test(goes_on_with_a_prompt), cmocka_unit_test(goes_out_and_comes_back),
        cmocka_unit_test(sweeps_and_reproduces), cmocka_unit_test(refuses),
        cmocka_unit_test(one_file_is_enough),
    };
    return cmocka_run_group_tests(tests, make_texts, remove_home);
}
