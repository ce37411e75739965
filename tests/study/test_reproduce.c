/* test_reproduce.c: Kendall's tau-b and the checks over rows written by hand, and an experiment from its file to
 * its rows, which are made once. */
#include "experiments.h"

/* ---- Checks over rows by hand ------------------------------------------------------------------ */

static void tau_b_by_hand(void **state)
{
    (void)state;
    /* Without ties: 5 of 6 pairs agree. */
    static const double a[] = {1, 2, 3, 4}, b[] = {1, 3, 2, 4};
    assert_true(fabs(lg__tau_b(a, b, 4) - 4.0 / 6) < 1e-15);
    /* One tie in x and one in y: of the 10 pairs 6 fall and 2 rise, 9 differ in x and 9 in y, which
     * gives (2 - 6) / sqrt(9 * 9). */
    static const double x[] = {1, 2, 2, 3, 4}, y[] = {0.9, 0.8, 0.5, 0.5, 0.7};
    assert_true(fabs(lg__tau_b(x, y, 5) - -4.0 / 9) < 1e-15);
    static const double flat[] = {1, 1, 1, 1};
    assert_true(lg__tau_b(a, flat, 4) == 0);
    static const double fall[] = {4, 3, 2, 1};
    assert_true(lg__tau_b(a, fall, 4) == -1);
}

struct told {
    int checks, figures, notes, begun, missing;
    int holds[16];
    char text[16][300], numbers[16][600], note[600];
    int stop; /* when one has begun */
};

static void keep_check(void *context, const lg_check *c)
{
    struct told *t = context;
    assert_true(c->index < 16 && c->count <= 16);
    t->holds[t->checks] = c->holds;
    snprintf(t->text[t->checks], sizeof t->text[0], "%s", c->text);
    snprintf(t->numbers[t->checks++], sizeof t->numbers[0], "%s", c->numbers);
}

static void keep_figure(void *context, const char *file, const char *missing)
{
    struct told *t = context;
    assert_non_null(file);
    t->figures++;
    t->missing += missing != NULL;
}

static void keep_note(void *context, const char *sentence)
{
    struct told *t = context;
    t->notes++;
    snprintf(t->note, sizeof t->note, "%s", sentence);
}

static int watch(void *context, const lg_sweep_run *r)
{
    struct told *t = context;
    static char before[64];
    if (r->index < 64 && before[r->index] != *r->state) {
        t->begun += *r->state == 't';
        before[r->index] = *r->state;
    }
    return !t->stop || !t->begun;
}

/* Its texts live until the next call. */
static lg_reproduce_options options(const char *name, struct told *t)
{
    static char path[4][400], own[100];
    snprintf(own, sizeof own, "%s", name);
    snprintf(path[0], sizeof path[0], "%s/experiments", home);
    snprintf(path[1], sizeof path[1], "%s/results", home);
    snprintf(path[2], sizeof path[2], "%s/runs", home);
    snprintf(path[3], sizeof path[3], "%s/runs/lab.db", home);
    mkdir(path[0], 0777);
    return (lg_reproduce_options){.name = own,
                                  .experiments = path[0],
                                  .results = path[1],
                                  .folder = path[2],
                                  .store = path[3],
                                  .jobs = 2,
                                  .threads = 1,
                                  .watch = watch,
                                  .check = keep_check,
                                  .figure = keep_figure,
                                  .note = keep_note,
                                  .context = t};
}

#define HEAD                                                                                       \
    "experiment,method,train,seed,kind,length,unit,sparsity,source,first,last,context,samples,"    \
    "there,value,low,high,tokens,trained_length,trained_sparsity\n"

/* Two kinds at a cell, right in so many of a hundred. */
static void put_cell(FILE *f, int seed, int length, int sparsity, int right)
{
    static const char *const kinds[] = {"exact", "taught_exact"};
    for (int m = 0; m < 2; m++)
        fprintf(f, "hand,,k=1,%d,%s,%d,pairs,%d,given,0,0,0,100,0,%.6f,0.1,0.9,%d.00,20,4\n", seed,
                kinds[m], length, sparsity, m ? 0.5 : right / 100.0, 2 * length);
}

static void checks_over_rows_by_hand(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("hand", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_file(
        "experiments/hand.yaml",
        "experiment:\n"
        "  words: documented\n"
        "  budget: 1\n"
        "  figures:\n"
        "    - {file: hand.svg, title: By hand, lines: sparsity}\n"
        "    - {file: dense.svg, title: By hand, x: sparsity}\n"
        "    - {file: k.svg, title: By hand, x: k, where: {sparsity: 2}}\n"
        "  checks:\n"
        "    - {more: {sparsity: 2}, than: {sparsity: 4}, by: 0.1}\n"
        "    - {more: {sparsity: 2}, than: {sparsity: 4}, by: 0.2}\n"
        "    - {more: {sparsity: 2, length: 20}, than: {sparsity: 6, length: 20}}\n"
        "    - {least: {length: [20, 40], sparsity: 2}, is: 0.9}\n"
        "    - {least: {sparsity: 9}, is: 0.9}\n"
        "    - {monotone: sparsity, where: {length: 20}, chance: 0.5}\n"
        "    - {monotone: sparsity, where: {length: 40}}\n"
        "    - {least: {kind: taught_exact}, is: 0.5}\n"
        "    - {least: {length: 40, sparsity: 2}, is: 0.905}\n" /* one seed has 0.90, one 0.92 */
        "    - {most: {length: 20, sparsity: 6}, is: 0.54}\n"
        "config:\n"
        "  task: {name: sparse-parity}\n"
        "  train: {steps: 5, length: [10, 20], sparsity: [1, 4]}\n"
        "  eval: {lengths: [20, 40, 20], sparsities: [2, 4, 6, 2], samples: 100}\n" /* said twice */
        "vary: {k: {1: {}}, seed: [1, 2]}\n");
    mkdir(in_home("results"), 0777);
    mkdir(in_home("results/hand"), 0777);
    FILE *f = fopen(in_home("results/hand/measurements.csv"), "w");
    assert_non_null(f);
    fputs(HEAD, f);
    static const int right[2][3][2] = {{{96, 90}, {80, 70}, {50, 89}},
                                       {{94, 92}, {76, 70}, {54, 95}}};
    for (int seed = 0; seed < 2; seed++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 2; l++)
                put_cell(f, seed + 1, 20 + 20 * l, 2 + 2 * k, right[seed][k][l]);
    assert_int_equal(fclose(f), 0);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_int_equal(r.done, 2);
    assert_int_equal(t.begun, 0);
    assert_int_equal(t.checks, 10);
    /* medians at sparsity 2: 0.95, 0.91; at 4: 0.78, 0.70 */
    assert_string_equal(t.text[0], "more {sparsity: 2} than {sparsity: 4} by 0.1");
    assert_string_equal(t.numbers[0], "0.930 (2 cells) - 0.740 (2 cells) = 0.190");
    assert_string_equal(t.numbers[2], "0.950 (1 cell) - 0.520 (1 cell) = 0.430");
    assert_string_equal(
        t.numbers[3], "0.900 at least in 2 cells, each seed counted; mean of their medians 0.930");
    assert_string_equal(t.numbers[4], "no cells");
    says(t.numbers[5], "at chance 6; tau-b -1.000 over 2 cells");
    says(t.numbers[6], "tau-b 0.333 over 3 cells, but sparsity 4 has 0.700 [");
    says(t.numbers[6], "and 6 has 0.920 [");
    static const int holds[] = {1, 0, 1, 1, -1, 1, 0, 1, 0, 1};
    for (int i = 0; i < 10; i++)
        if (t.holds[i] != holds[i]) fail_msg("check %d: %d, %s", i, t.holds[i], t.numbers[i]);
    assert_true(r.held == 6 && r.broken == 3 && r.empty == 1);
    assert_false(there("runs")); /* nothing was to be made */
    if (t.missing) return;       /* no gnuplot */
    char *figure = read_file("results/hand/hand.svg");
    says(figure, "4 important pairs");
    says(figure, "exact answers, %: median, range of seeds");
    free(figure);
    /* a line for each length, over the sparsities, of which training had 1 to 4 */
    figure = read_file("results/hand/dense.svg");
    says(figure, ">important pairs<");
    says(figure, ">20 pairs<");
    says(figure, ">40 pairs<");
    says(figure, ">training, 1 to 4");
    says(figure, ">6<");
    assert_null(strstr(figure, "2 important pairs"));
    free(figure);
    figure = read_file("results/hand/k.svg");
    says(figure, ">k<");
    says(figure, ">40 pairs<");
    assert_null(strstr(figure, "training"));
    free(figure);
}

/* Over what vary has as numbers: one line a length, whatever the order of the values. */
static void figures_over_an_axis(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("axis", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_file("experiments/axis.yaml", "experiment:\n"
                                        "  words: documented\n"
                                        "  budget: 1\n"
                                        "  figures:\n"
                                        "    - {file: k.svg, title: By k, x: k, lines: length}\n"
                                        "    - {file: none.svg, title: None, x: sparsity}\n"
                                        "config:\n"
                                        "  task: {name: copy}\n"
                                        "  train: {steps: 5, length: [10, 20]}\n"
                                        "  eval: {lengths: [20, 40], samples: 100}\n"
                                        "vary: {k: {10: {}, 2: {}}, seed: [1]}\n");
    mkdir(in_home("results"), 0777);
    mkdir(in_home("results/axis"), 0777);
    FILE *f = fopen(in_home("results/axis/measurements.csv"), "w");
    assert_non_null(f);
    fputs(HEAD, f);
    for (int k = 2; k <= 10; k += 8)
        for (int length = 20; length <= 40; length += 20)
            for (int m = 0; m < 2; m++)
                fprintf(f,
                        "axis,,k=%d,1,%s,%d,letters,0,given,0,0,0,100,0,0.%d,0.1,0.9,%d.00,20,0\n",
                        k, m ? "taught_exact" : "exact", length, k, length);
    assert_int_equal(fclose(f), 0);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 2 && t.figures == 2);
    char path[400];
    snprintf(path, sizeof path, "%s/experiments/axis.yaml", home);
    remove(path);
    assert_false(there("results/axis/none.svg")); /* copy has no sparsity to draw over */
    if (t.missing > 1) return;                    /* no gnuplot */
    char *figure = read_file("results/axis/k.svg"), *one = strstr(figure, ">20 letters<");
    assert_non_null(one);
    assert_null(strstr(one + 1, ">20 letters<"));
    says(figure, ">40 letters<");
    assert_null(strstr(figure, "k 10"));
    free(figure);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

#define TINY                                                                                       \
    EXPERIMENT                                                                                     \
    "  figures:\n"                                                                                 \
    "    - {file: tiny.svg, title: Copy, where: {ids: given}, lines: method, x: tokens}\n"         \
    "  checks:\n"                                                                                  \
    "    - {least: {method: plain}, is: 0}\n" CONFIG VARY SCALES

/* Takes the n-th line, from 1, out of a file. */
static void take_line_out(const char *name, int n)
{
    char *text = read_file(name), *at = text;
    for (int i = 1; i < n; i++) at = strchr(at, '\n') + 1;
    char *next = strchr(at, '\n') + 1;
    memmove(at, next, strlen(next) + 1);
    write_file(name, text);
    free(text);
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void rows_are_made_once(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("tiny", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_file("experiments/tiny.yaml", TINY);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.runs == 4 && r.done == 4 && !r.failed && !r.left && r.held == 1);
    assert_int_equal(t.begun, 4);
    char *rows = read_file("results/tiny/measurements.csv"),
         *json = read_file("results/tiny/run.json");
    assert_int_equal(count_lines(rows), 1 + 4 * 2 * 6); /* six kinds where no ID is predicted */
    assert_memory_equal(rows, HEAD, strlen(HEAD));
    says(rows, "\ntiny,plain,,1,exact,3,letters,0,given,0,0,0,4,0,");
    says(rows, "\ntiny,\"coupled, RoPE\",,2,taught_token_accuracy,5,letters,0,given,0,0,0,4,0,");
    says(rows, ",12.00,5,0\n");
    says(json, "\"command\": \"lengthen reproduce tiny --only 'method=plain,seed=1' ");
    says(json, "\"question\": \"Is it so?\"");
    says(json, lg_commit());
    if (!t.missing) assert_true(there("results/tiny/tiny.svg"));
    /* again: nothing is made, not a byte changes */
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 4 && !t.begun && !t.notes && t.figures == 1);
    char *again = read_file("results/tiny/measurements.csv"),
         *json_again = read_file("results/tiny/run.json");
    assert_string_equal(rows, again);
    assert_string_equal(json, json_again);
    free(again);
    free(json_again);
    /* a row is gone, and so are the runs: that one run is made again, to the same bytes */
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s/runs", home);
    assert_int_equal(system(command), 0);
    take_line_out("results/tiny/measurements.csv", 14); /* exact at length 3, plain, seed 2 */
    must(lg_reproduce(&o, &r, &err), &err);
    assert_int_equal(t.begun, 1);
    assert_true(there("runs/tiny/method=plain,seed=2") && !there("runs/tiny/method=plain,seed=1"));
    again = read_file("results/tiny/measurements.csv");
    assert_string_equal(rows, again);
    free(again);
    free(rows);
    free(json);
}

#define CERTIFIED                                                                                  \
    "experiment:\n"                                                                                \
    "  question: Is it so at every length?\n"                                                      \
    "  expected: \"it is.\"\n"                                                                     \
    "  words: \"reconstructed: all of it\"\n"                                                      \
    "  budget: 3\n"                                                                                \
    "  certify: 10\n"                                                                              \
    "  checks: [{certified: {steps: enough}, is: 1}, {certified: {steps: few}, is: 0.5}]\n"        \
    "config:\n"                                                                                    \
    "  task: {name: parity-scratchpad}\n"                                                          \
    "  positions: {ids: coupled, source: delta, encoding: relative, span: window, window: [0, 1]}" \
    "\n"                                                                                           \
    "  model: {layers: 1, width: 32, sink: yes, parallel: no}\n"                                   \
    "  train: {lr: 4e-3, warmup: 20, length: [1, 10], certify: {every: 50}}\n"                     \
    "  eval: {lengths: [5], samples: 4}\n"                                                         \
    "vary:\n"                                                                                      \
    "  steps:\n"                                                                                   \
    "    enough: {train.steps: 1000}\n"                                                            \
    "    few: {train.steps: 3}\n"                                                                  \
    "  seed: [1]\n"

/* What is certified and what is not, told apart in both tables; one that is gone is made again; what
 * cannot be certified is refused before any work. */
static void certificates_are_kept(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("sure", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_file("experiments/sure.yaml", CERTIFIED);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 2 && r.held == 1 && r.broken == 1);
    char *rows = read_file("results/sure/certificates.csv"),
         *table = read_file("results/sure/certificates.md");
    assert_int_equal(count_lines(rows), 3);
    says(rows, "\nsure,,steps=enough,1,yes,14,0,");
    says(rows, ",15,0,\n"); /* 10 random, 4 of equal columns, 1 long: none wrong */
    says(rows, "\nsure,,steps=few,1,no,14,");
    says(rows, ",0,0,0 =\n"); /* nothing tried; the counterexample */
    assert_int_equal(count_lines(table), 4);
    says(table, "| enough | 1 of 1 | 14 | ");
    says(table, "| few | 0 of 1 | 14 | | | | 0 | 0 |");
    /* a row is gone, and the certificate is of another run: it is made again from the trained one */
    static const char of_few[] = "runs/sure/steps=few,seed=1/certificate.json";
    char command[1000], *before = read_file(of_few), *after;
    snprintf(command, sizeof command, "cp '%s/runs/sure/steps=enough,seed=1/certificate.json' '%s'",
             home, in_home(of_few));
    assert_int_equal(system(command), 0);
    char *whole = read_file("results/sure/measurements.csv"),
         *few = strstr(whole, "\nsure,,steps=few,1,exact,");
    assert_non_null(few);
    few[1] = 0;
    take_line_out("results/sure/measurements.csv", count_lines(whole) + 1);
    free(whole);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 2 && r.broken == 1);
    after = read_file(of_few);
    assert_string_equal(strstr(before, "\"certified\""), strstr(after, "\"certified\""));
    free(before);
    free(after);
    free(rows);
    free(table);
    write_file("experiments/full.yaml", "experiment: {question: Is it?, expected: \"no.\", words: "
                                        "documented, budget: 1, certify: 5}\n" CONFIG VARY);
    o.name = "full";
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "the span is full");
    assert_false(there("runs/full"));
}

static void keep_state(void *context, const lg_experiment *x)
{
    lg_experiment *to = context;
    *to = *x;
    assert_string_equal(x->name, "tiny");
    assert_string_equal(x->question, "Is it so?");
    assert_string_equal(x->expected, "it is.");
    assert_string_equal(x->words, "reconstructed: all of it");
}

static void has_no_question(void *context, const lg_experiment *x)
{
    (void)context;
    assert_string_equal(x->question, "");
    assert_string_equal(x->expected, "");
}

/* Other scales leave the results alone; what was made with other settings is told. */
static void scales_and_states(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("tiny", &t);
    lg_reproduce_result r;
    lg_experiment x;
    lg_error err = {0};
    char *rows = read_file("results/tiny/measurements.csv");
    must(lg_experiments(&o, keep_state, &x, &err), &err);
    assert_true(x.runs == 4 && x.done == 4 && x.budget == 3 && x.minutes_left == 0 && x.hours >= 0);
    o.scale = "smoke";
    must(lg_experiments(&o, keep_state, &x, &err), &err);
    assert_true(x.runs == 1 && x.done == 0 && x.minutes_left == 3);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.runs == 1 && r.done == 1 && r.empty == 1);
    assert_true(there("runs/tiny/measurements.csv") && there("runs/tiny/run.json"));
    char *same = read_file("results/tiny/measurements.csv");
    assert_string_equal(rows, same);
    free(same);
    free(rows);
    o.scale = "huge";
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "no scale \"huge\"");
    o.scale = NULL;
    o.only = "method=plain,seed=9";
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "no run of");
    o.only = NULL;
    /* question and comments are no settings */
    write_file("experiments/tiny.yaml", "# A comment? Expected: nobody reads it.\n"
                                        "experiment: {words: documented, budget: 3}\n" CONFIG VARY);
    must(lg_experiments(&o, has_no_question, NULL, &err), &err);
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_int_equal(t.notes, 0);
    /* the file changes under the rows */
    write_file("experiments/tiny.yaml",
               "experiment: {words: documented, budget: 3}\n" CONFIG "  seed: 3\n" VARY);
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_int_equal(t.notes, 1);
    says(t.note, "4 of 4 runs were made with other settings");
    write_file("experiments/tiny.yaml", TINY);
}

/* The file stays as it is, but the table that it names does not. */
static void an_edited_table_is_told(void **state)
{
    (void)state;
    static const char ensemble[] = "name: e\nk: 2\npositions: together\n"
                                   "planted: {P: 1, Q: 1}\nbackground: {a: 1, b: %d}\n"
                                   "label: count\n";
    char text[600];
    struct told t = {0};
    lg_reproduce_options o = options("edited", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    snprintf(text, sizeof text, ensemble, 1);
    write_file("ensemble.yaml", text);
    snprintf(
        text, sizeof text,
        "experiment: {question: Is it so?, expected: \"it is.\", words: documented, budget: 1}\n"
        "config: {task: {name: planted, table: %s/ensemble.yaml}, model: {width: 16, heads: 2},\n"
        "  train: {steps: 2, batch: 4, length: [4, 8]}, eval: {lengths: [8], samples: 4}}\n"
        "vary: {seed: [1]}\n",
        home);
    write_file("experiments/edited.yaml", text);
    for (int edited = 0; edited < 2; edited++) {
        t = (struct told){0};
        snprintf(text, sizeof text, ensemble, 1 + edited);
        write_file("ensemble.yaml", text);
        must(lg_reproduce(&o, &r, &err), &err);
        assert_int_equal(r.done, 1);
        must(lg_reproduce(&o, &r, &err), &err); /* the same again: nothing to tell */
        assert_int_equal(t.notes, 2 * edited);
    }
    says(t.note, "1 of 1 runs were made with other settings, or another table,");
    char path[400];
    snprintf(path, sizeof path, "%s/experiments/edited.yaml", home);
    remove(path);
}

/* What is not exactly this experiment's is refused with its line, and stays as it is. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words, *more;
    } wrong[] = {
        {"experiment,method", "experiment,way", "measurements.csv:1: ", "heading"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,1,exact,", "measurements.csv:2: ", "20 fields"},
        {"\ntiny,plain,,1,exact,3,", "\nother,plain,,1,exact,3,",
         "measurements.csv:2: ", "another experiment"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plane,,1,exact,3,",
         "measurements.csv:2: ", "no run of"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,k=1,1,exact,3,",
         "measurements.csv:2: ", "no run of"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,7,exact,3,",
         "measurements.csv:2: ", "no run of"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,x,exact,3,",
         "measurements.csv:2: ", "seed is \"x\""},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,1,exact,4,", "measurements.csv:2: ", "no cell"},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,1,exakt,3,",
         "measurements.csv:2: ", "kind is \"exakt\""},
        {"\ntiny,plain,,1,exact,3,", "\ntiny,plain,,1,excess,3,",
         "measurements.csv:2: ", "do not have"},
        {"\ntiny,plain,,1,token_accuracy,3,", "\ntiny,plain,,1,exact,3,",
         "measurements.csv:3: ", "twice"},
        {"letters,0,given,", "letters,0,gone,",
         "measurements.csv:2: ", "neither given nor predicted"},
        {",8.00,5,0", ",8.00,6,0", "measurements.csv:2: ", "another length"},
        {",8.00,5,0", ",eight,5,0", "measurements.csv:2: ", "tokens is \"eight\""},
        {",given,0,0,0,4,0,", ",given,0,0,0,0,0,", "measurements.csv:2: ", "samples is \"0\""},
        {",given,0,0,0,4,0,0.", ",given,0,0,0,4,0,7.", "measurements.csv:2: ", "value is \"7."},
        {"\ntiny,\"coupled, RoPE\",,2,exact,5,", "\ntiny,\"coupled, RoPE,,2,exact,5,",
         "measurements.csv:", "not ended"},
        {"\ntiny,\"coupled, RoPE\",,2,exact,5,", "\ntiny,\"coupled, RoPE\"x,,2,exact,5,",
         "measurements.csv:", "not ended"},
    };
    struct told t = {0};
    lg_reproduce_options o = options("tiny", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    char *good = read_file("results/tiny/measurements.csv"),
         *json = read_file("results/tiny/run.json");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[16384], *at = strstr(good, wrong[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, wrong[i].to,
                 at + strlen(wrong[i].from));
        write_file("results/tiny/measurements.csv", text);
        int code = lg_reproduce(&o, &r, &err);
        if (code != LG_ERROR_ARGUMENT) fail_msg("%zu: %d %s", i, code, err.text);
        says(err.text, wrong[i].words);
        says(err.text, wrong[i].more);
        char *same = read_file("results/tiny/measurements.csv");
        assert_string_equal(text, same);
        free(same);
    }
    good[strlen(good) - 1] = 0; /* cut off */
    write_file("results/tiny/measurements.csv", good);
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "measurements.csv:49: ");
    FILE *f = fopen(in_home("results/tiny/measurements.csv"), "a");
    assert_true(f && fwrite("\n\0\0\0", 1, 4, f) == 4 && fclose(f) == 0);
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "byte 0");
    strcat(good, "\n");
    write_file("results/tiny/measurements.csv", good);
    write_file("results/tiny/run.json", "{\"experiment\": \"tiny\", \"runs\": [");
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "run.json:1: ");
    write_file("results/tiny/run.json", "{\"experiment\": \"other\", \"runs\": []}");
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "another experiment");
    write_file("results/tiny/run.json", json);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_int_equal(t.begun, 0);
    free(good);
    free(json);
}

static void a_stopped_one_goes_on(void **state)
{
    (void)state;
    struct told t = {.stop = 1};
    lg_reproduce_options o = options("long", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_file("experiments/long.yaml", TINY);
    o.jobs = 1;
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.left >= 3 && r.done <= 1 && !r.failed);
    t.stop = 0;
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 4 && !r.left);
    char *rows = read_file("results/long/measurements.csv"),
         *other = read_file("results/tiny/measurements.csv");
    for (char *a = strstr(rows, "\nlong,"), *b = strstr(other, "\ntiny,"); a;
         a = strstr(a + 1, "\nlong,"), b = strstr(b + 1, "\ntiny,"))
        assert_memory_equal(a + 6, b + 6, strcspn(b + 6, "\n"));
    free(rows);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tau_b_by_hand),           cmocka_unit_test(checks_over_rows_by_hand),
        cmocka_unit_test(figures_over_an_axis),    cmocka_unit_test(rows_are_made_once),
        cmocka_unit_test(certificates_are_kept),   cmocka_unit_test(scales_and_states),
        cmocka_unit_test(an_edited_table_is_told), cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_stopped_one_goes_on),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
