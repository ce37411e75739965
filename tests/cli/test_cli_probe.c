/* test_cli_probe.c: `lengthen probe` as a user has it: the table, JSON, the folder of --out, and what
 * is refused. Without it a page could hold what a browser would fetch, or a column be lost. */
#include "running.h"

#define BOTH "2>&1"
#define STDOUT "2>/dev/null"
#define SMALL "--threads 1 --store s.db"

static int run(const char *arguments, const char *after)
{
    return run_program("LENGTHEN_CACHE=cache", arguments, after);
}

static int make_runs(void **state)
{
    (void)state;
    if (new_home()) return -1;
    FILE *f = fopen(in_home("corpus.txt"), "w");
    if (!f) return -1;
    for (int d = 0; d < 30; d++) {
        if (d) fputs("<|endoftext|>\n", f);
        for (int i = 0; i < 20; i++) fprintf(f, "<line> %d of \"t\u00e9xt\" & %d\n", i, d);
    }
    fclose(f);
    write_file("c.yaml", "task: {name: text, text: [corpus.txt], test: 0.3}\n"
                         "model: {layers: 1, width: 16, heads: 2}\n"
                         "train: {steps: 40, batch: 4, length: [48, 48], lr: 1e-2}\n");
    write_file("p.yaml", "task: {name: parity}\nmodel: {layers: 1, width: 16, heads: 2}\n"
                         "train: {steps: 4, batch: 4, length: [3, 8]}\n");
    return run("train c.yaml --out long " SMALL, BOTH) ||
           run("train c.yaml --set 'train.length=[16, 16]' --set seed=2 --out short " SMALL,
               BOTH) ||
           run("train p.yaml --out p " SMALL, BOTH);
}

static void read_back(const char *name)
{
    FILE *f = fopen(in_home(name), "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    fclose(f);
}

static void a_run_is_held_against_another(void **state)
{
    (void)state;
    assert_int_equal(
        run("probe ./long/ --against short --documents 4 --min-rise 0.1 --epsilon 0.05 --out "
            "results/probe " SMALL,
            BOTH),
        0);
    prints("128 predictions of 4 texts, length 48, past the first 16 tokens");
    prints("k*    predictions");
    prints("\nnone ");
    prints("\n3-4 "); /* and no range without predictions */
    assert_int_equal(count("\n33+ "), 0);
    prints("redictions with small k*"); /* the sentence */
    read_back("results/probe/predictions.csv");
    assert_int_equal(count("\n"), 129);
    prints("document,position,token,word,loss,loss_0,depends,k,sources,curve,against,against_short,"
           "excess");
    read_back("results/probe/passage.html");
    assert_int_equal(count("<span id=\"t"), 49);
    prints(">&#60;</span>");            /* no tag is made of the text */
    prints(">&#8201;</span>");          /* a byte that begins a letter, */
    prints(">\u00e9</span>");           /* the one that ends it */
    prints("as the run long reads it"); /* not its path */
    assert_int_equal(count("http"), 0); /* nothing is fetched */
    assert_int_equal(count("src="), 0);
    if (system("command -v gnuplot >/dev/null") != 0) return;
    assert_true(there("results/probe/kstar.svg"));
    assert_true(there("results/probe/position.svg"));
    read_back("results/probe/excess.svg");
    prints("Lost past its training length, by k*: short<");
    /* The figure of another run's excess does not stay beside predictions that have none. */
    assert_int_equal(
        run("probe long --documents 2 --predictions 4 --out results/probe " SMALL, BOTH), 0);
    assert_true(there("results/probe/kstar.svg"));
    assert_false(there("results/probe/excess.svg"));
}

/* --out keeps what was begun: a file of another probe is replaced by this one's, which goes when all is
 * drawn, and not before. */
static void what_was_begun_lies_in_the_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_home("begun"), 0777), 0);
    assert_int_equal(write_file("begun/begun", "of another probe"), 0);
    assert_int_equal(mkdir(in_home("begun/passage.html"), 0777), 0);
    assert_int_equal(write_file("begun/passage.html/full", "no room for a page"), 0);
    assert_int_equal(run("probe long --documents 2 --predictions 4 --out begun " SMALL, BOTH), 1);
    assert_true(there("begun/begun"));
    assert_int_equal(remove(in_home("begun/passage.html/full")), 0);
    assert_int_equal(remove(in_home("begun/passage.html")), 0);
    assert_int_equal(run("probe long --documents 2 --predictions 4 --out begun " SMALL, BOTH), 0);
    assert_true(there("begun/predictions.csv"));
    assert_false(there("begun/begun"));
}

/* What the store has of it is shown with the run. */
static void probes_are_shown_with_their_run(void **state)
{
    (void)state;
    assert_int_equal(run("probe short --documents 2 --predictions 8 --store p.db", BOTH), 0);
    char table[4000];
    snprintf(table, sizeof table, "%.3900s", strstr(out, "k*    predictions"));
    char *end = strstr(table, "\n\n"); /* the sentence on few predictions comes behind it */
    assert_non_null(end);
    end[1] = 0;
    assert_int_equal(run("runs show short --store p.db", BOTH), 0);
    prints("How many earlier tokens predictions need, at step 40: probe loo, ");
    prints(", max_k 32, length 16\n\n");
    prints(table);
    assert_int_equal(run("runs show short --json --store p.db", STDOUT), 0);
    prints(
        "{\"step\":40,\"setting\":\"probe loo, keep 4+1, epsilon 0.1, min_rise 0.5, max_k 32\",");
    prints("\"samples\":8,\"kstar_loss\":");
}

static void json_is_an_object_a_line(void **state)
{
    (void)state;
    assert_int_equal(run("probe long --documents 3 --predictions 30 --json " SMALL, STDOUT), 0);
    assert_true(count("\"kstar_loss\":") >= 1); /* ranges with predictions, and the summary */
    assert_int_equal(count("\n"), 1 + count("\"kstar_loss\":"));
    assert_int_equal(count("\"kstar_excess\":null,"), count("\"kstar_loss\":"));
    prints("{\"summary\":true,\"step\":40,\"against_step\":null,\"length\":48,"
           "\"length_min\":48,\"context\":null,\"documents\":3,\"predictions\":30,");
    prints(",\"folder\":\"long\"}");
    assert_int_equal(
        run("probe long --documents 2 --predictions 4 --method gradient --json " SMALL, STDOUT), 0);
    prints("\"predictions\":4,");
}

static void other_tasks_are_probed_on_their_examples(void **state)
{
    (void)state;
    assert_int_equal(
        run("probe p --length 6 --documents 10 --keep-last 1 --drop-first " SMALL, BOTH), 0);
    prints("10 texts, length 6");
    assert_int_equal(run("probe p --length 9 --documents 2 " SMALL, BOTH), 0);
    prints("p was trained up to length 8 (bits)");
}

/* Numbers of few predictions are shown, but nothing is concluded from them. */
static void few_predictions_conclude_nothing(void **state)
{
    (void)state;
#define LOW "--min-rise 0.02 --epsilon 0.01 "
    assert_int_equal(run("probe long --documents 2 --predictions 4 " LOW SMALL, BOTH), 0);
    prints("4 predictions of 2 texts");
    prints("k*    predictions"); /* the table is there */
    prints(" depend on their context, too few to conclude from: 100 are needed. Take more with "
           "--documents, --predictions or --text.");
    assert_int_equal(run("probe long --documents 2 --predictions 4 --json " LOW SMALL, STDOUT), 0);
    prints(",\"conclusive\":false,\"verdict\":\"Only ");
    assert_int_equal(run("probe long --documents 9 " LOW SMALL, BOTH), 0);
    prints("Of these, k* is ");
    assert_int_equal(count("too few"), 0);
    assert_int_equal(run("probe long --documents 9 --json " LOW SMALL, STDOUT), 0);
    prints(",\"conclusive\":true");
    assert_int_equal(count("verdict"), 0); /* there is nothing to compare with */
}

/* Small and large k* are compared where there are 100 predictions of both. */
static void few_predictions_compare_nothing(void **state)
{
    (void)state;
    assert_int_equal(run("probe long --against short --documents 4 --min-rise 0.1 --epsilon 0.05 "
                         "--json " SMALL,
                         STDOUT),
                     0);
    prints(
        ",\"conclusive\":false,\"verdict\":\"Whether predictions with small k* extrapolate better "
        "cannot be said");
    assert_int_equal(count("extrapolate no better"), 0);
    assert_int_equal(
        run("probe long --against short --text corpus.txt --documents 30 --min-rise 0.02 "
            "--epsilon 0.015 "
            "--max-k 1 --json " SMALL,
            STDOUT),
        0);
    prints(",\"conclusive\":true,\"verdict\":\"Past 16 tokens, predictions with small k* ");
    assert_int_equal(count("too few"), 0);
}

/* Lines of copy, whose lengths are those of the file. */
static void own_data_is_read_once(void **state)
{
    (void)state;
    assert_int_equal(
        write_file("own.jsonl",
                   "{\"tokens\": [\"a\", \"b\", \"c\", \"=\", \"a\", \"b\", \"c\", \"$\"]}\n"
                   "{\"tokens\": [\"b\", \"c\", \"=\", \"b\", \"c\", \"$\"]}\n"
                   "{\"tokens\": [\"c\", \"b\", \"=\", \"c\", \"b\", \"$\"]}\n"),
        0);
    write_file("own.yaml", "task: {name: \"jsonl:own.jsonl\"}\npositions: {ids: plain}\n"
                           "model: {layers: 1, width: 16, heads: 2}\n"
                           "train: {steps: 4, batch: 4, length: [6, 8]}\n");
    assert_int_equal(run("train own.yaml --out own " SMALL, BOTH), 0);
    assert_int_equal(run("probe own --task jsonl:own.jsonl --documents 20 " SMALL, BOTH), 0);
    prints("17 predictions of 3 texts, length 6 to 8");
}

/* A text of 8 letters has its predictions at tokens 9 to 17: a point each; one line needs no key. If
 * they were taken for lengths, all would fall into one. */
static void a_figure_has_the_positions_of_its_predictions(void **state)
{
    (void)state;
    write_file("copy.yaml", "task: {name: copy}\nmodel: {layers: 1, width: 16, heads: 2}\n"
                            "train: {steps: 1, batch: 4, length: [3, 8]}\n");
    assert_int_equal(run("train copy.yaml --out copy " SMALL, BOTH), 0);
    assert_int_equal(run("probe copy --documents 3 --min-rise 50 --out results/copy " SMALL, BOTH),
                     0);
    if (system("command -v gnuplot >/dev/null") != 0) return;
    read_back("results/copy/position.svg");
    assert_int_equal(count(" scale("), 9);
}

/* k* was looked for up to 1: whatever is above is that, and no k* of 2. */
static void more_than_max_k_is_called_so(void **state)
{
    (void)state;
    assert_int_equal(
        run("probe long --against short --documents 4 --min-rise 0.01 --epsilon 0.0001 "
            "--max-k 1 --out results/most " SMALL,
            BOTH),
        0);
    prints("\nover 1 ");
    prints(", over 1 at 10, 25, 50, 75 and 90%.");
    prints("nats where k* is 1 and ");
    prints("where it is over 1, a difference");
    assert_int_equal(count("\n2 "), 0);
    assert_int_equal(count("33+"), 0);
}

static void a_probe_that_fails_leaves_an_earlier_one(void **state)
{
    (void)state;
    assert_int_equal(run("probe p --documents 2 --out results/kept " SMALL, BOTH), 0);
    read_back("results/kept/predictions.csv");
    int before = count("\n");
    assert_true(before > 1);
    assert_int_equal(run("probe none --out results/kept " SMALL, BOTH), 2);
    read_back("results/kept/predictions.csv");
    assert_int_equal(count("\n"), before);
    assert_false(there("results/kept/predictions.csv.tmp"));
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *why;
    } row[] = {
        {"", "which run?"},
        {"long short", "one run at a time"},
        {"none", "is no run"},
        {"long --against long", "the run that is probed itself"},
        {"short --against long", "nothing of 16 lies past"},
        {"long --against p", "is a run of task parity"},
        {"p --against short", "only runs of the task text"},
        {"p --text corpus.txt", "is not probed on texts"},
        {"long --field body", "--field is of the texts that --text names"},
        {"long --method best", "take loo or gradient"},
        {"long --epsilon 0", "above 0"},
        {"long --min-rise 0.1", "take more than epsilon"},
        {"long --length 0", "--length is \"0\"; take a whole number from 1 to 1048576"},
        {"long --length 900", "none has 900 tokens"},
        {"long --out c.yaml", "which is no folder"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "probe %s " SMALL, row[i].arguments);
        assert_int_equal(run(arguments, BOTH), 2);
        prints(row[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_held_against_another),
        cmocka_unit_test(what_was_begun_lies_in_the_folder),
        cmocka_unit_test(probes_are_shown_with_their_run),
        cmocka_unit_test(json_is_an_object_a_line),
        cmocka_unit_test(other_tasks_are_probed_on_their_examples),
        cmocka_unit_test(few_predictions_conclude_nothing),
        cmocka_unit_test(few_predictions_compare_nothing),
        cmocka_unit_test(own_data_is_read_once),
        cmocka_unit_test(a_figure_has_the_positions_of_its_predictions),
        cmocka_unit_test(more_than_max_k_is_called_so),
        cmocka_unit_test(a_probe_that_fails_leaves_an_earlier_one),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_home);
}
