/* test_text_experiment.c: an experiment of texts, from its file to its rows, figure and checks, on a few
 * kilobytes of the test's own: made once, killed and resumed to the same bytes, read without its texts,
 * and refused where it asks for what losses do not have. Without it the rows of language models could be
 * made twice, lost, or compared at the wrong positions. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "runs/run.h"
#include "runs/store.h"
#include "study/study.h"
#include "base/files.h"

static void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

static void says(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* To be freed. */
static char *read_file(const char *name)
{
    char *text = NULL;
    if (lg__file_read(in_home(name), &text, NULL) || !text) fail_msg("%s cannot be read", name);
    return text;
}

static int there(const char *name)
{
    struct stat st;
    return stat(in_home(name), &st) == 0;
}

static int count(const char *text, const char *words)
{
    int n = 0;
    for (; (text = strstr(text, words)); text++) n++;
    return n;
}

/* Documents of words that repeat, so that a few steps learn something. */
static int prepare(void **state)
{
    if (make_home(state)) return -1;
    setenv("LENGTHEN_CACHE", in_home("cache"), 1);
    FILE *f = fopen(in_home("a.txt"), "w");
    if (!f) return -1;
    for (int d = 0; d < 40; d++) {
        if (d) fputs("\n<|endoftext|>\n", f);
        for (int i = 0; i < 12; i++) fprintf(f, "text %d has line %d\n", d, i);
    }
    return fclose(f);
}

/* ---- The experiment ------------------------------------------------------------------------------ */

static void write_experiment(const char *name, const char *extra)
{
    char text[4000];
    mkdir(in_home("experiments"), 0777);
    mkdir(in_home("experiments/own"), 0777);
    snprintf(text, sizeof text,
             "experiment:\n"
             "  question: Is more training better?\n"
             "  expected: \"it is.\"\n"
             "  words: \"reconstructed: all of it\"\n"
             "  budget: 1\n"
             "%s"
             "config:\n"
             "  task: {name: text, text: [%s], test: 0.3}\n"
             "  model: {layers: 1, width: 16, heads: 2}\n"
             "  train: {batch: 4, warmup: 2, lr: 1e-2, length: [16, 16]}\n"
             "  eval: {lengths: [16, 40, 16], samples: 5}\n"
             "vary:\n"
             "  method:\n"
             "    little: {train.steps: 2}\n"
             "    much: {train.steps: 60}\n"
             "  seed: [1, 2]\n"
             "scales: {smoke: {set: {eval.samples: 1000}, vary: {seed: [1]}}}\n",
             extra, in_home("a.txt"));
    write_file(name, text);
}

#define FIGURES                                                                                    \
    "  figures:\n"                                                                                 \
    "    - {file: loss.svg, title: Loss, lines: method}\n"                                         \
    "    - {file: excess.svg, title: Excess, where: {method: much, kind: [sliding, excess]}}\n"
#define CHECKS                                                                                     \
    "  checks:\n"                                                                                  \
    "    - {less: {method: much, position: 40}, than: {method: little, position: 40}, by: 0.5}\n"  \
    "    - {less: {method: much, position: 40}, than: {method: little, position: 40}, by: 50}\n"   \
    "    - {most: {method: much, position: 2, kind: excess}, is: 0}\n"                             \
    "    - {least: {method: little, length: 16, position: [9, 12]}, is: 7}\n"                      \
    "    - {more: {position: 300}, than: {position: 40}}\n"

struct told {
    int checks, figures, missing, begun, stop;
    int holds[8];
    char text[8][200], numbers[8][200], drawn[600];
};

static void keep_check(void *context, const lg_check *c)
{
    struct told *t = context;
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
    if (missing) snprintf(t->drawn, sizeof t->drawn, "%s", missing);
}

static int watch(void *context, const lg_sweep_run *r)
{
    struct told *t = context;
    t->begun += strcmp(r->state, "training") == 0;
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
    return (lg_reproduce_options){.name = own,
                                  .experiments = path[0],
                                  .results = path[1],
                                  .folder = path[2],
                                  .store = path[3],
                                  .jobs = 1,
                                  .threads = 1,
                                  .watch = watch,
                                  .check = keep_check,
                                  .figure = keep_figure,
                                  .context = t};
}

#define HEAD                                                                                       \
    "experiment,method,train,seed,kind,length,unit,sparsity,source,first,last,context,samples,"    \
    "there,value,low,high,tokens,trained_length,trained_sparsity\n"

static void check_checks(const struct told *t)
{
    static const int holds[] = {1, 0, 1, 0, -1};
    assert_int_equal(t->checks, 5);
    for (int i = 0; i < 5; i++)
        if (t->holds[i] != holds[i]) fail_msg("check %d: %d, %s", i, t->holds[i], t->numbers[i]);
    assert_string_equal(
        t->text[0], "less {method: much, position: 40} than {method: little, position: 40} by 0.5");
    says(t->numbers[0], " (1 cell) - "); /* of length 40 alone, and in one bin */
    assert_string_equal(t->text[2], "at most 0 in {method: much, position: 2, kind: excess}");
    assert_string_equal(t->numbers[2],
                        "0.000 at most in 1 cell, each seed counted; mean of their medians 0.000");
    says(t->numbers[3], " at least in 1 cell,"); /* 9 and 12 are in one bin */
    assert_string_equal(t->numbers[4], "no cells");
}

static void rows_figures_and_checks(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("own/text", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_experiment("experiments/own/text.yaml", FIGURES CHECKS);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.runs == 4 && r.done == 4 && !r.failed && !r.left);
    assert_true(r.held == 2 && r.broken == 2 && r.empty == 1);
    check_checks(&t);
    char *rows = read_file("results/own/text/measurements.csv");
    char *json = read_file("results/own/text/run.json");
    assert_memory_equal(rows, HEAD, strlen(HEAD));
    /* 1, 2, 3..4, 5..8, 9..16; and 17..32, 33..40 */
    assert_int_equal(count(rows, "\n"), 1 + 3 * 4 * (5 + 7));
    assert_int_equal(count(rows, "\nown/text,much,,2,excess,40,tokens,0,given,17,32,16,5,"), 1);
    assert_int_equal(count(rows, "\nown/text,much,,2,excess,40,tokens,0,given,33,40,16,5,"), 1);
    says(rows, ",0.000000,0.000000,0.000000,0.00,16,0\n"); /* no excess within the context */
    says(json, "\"experiment\": \"own/text\"");
    says(json, "\"command\": \"lengthen reproduce own/text --only 'method=little,seed=1' ");
    assert_int_equal(count(json, "\"checksum\": \""), 4);
    assert_int_equal(t.figures, 2);
    if (!t.missing) {
        char *figure = read_file("results/own/text/loss.svg");
        says(figure, "loss, nats per token, median and range of the seeds");
        says(figure, "position (tokens)");
        says(figure, "little");
        free(figure);
        figure = read_file("results/own/text/excess.svg");
        says(figure, "sliding");
        says(figure, "excess");
        free(figure);
    }
    /* again, and without the texts: nothing is made, not a byte changes */
    rename(in_home("a.txt"), in_home("b.txt"));
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 4 && !t.begun);
    check_checks(&t);
    rename(in_home("b.txt"), in_home("a.txt"));
    char *again = read_file("results/own/text/measurements.csv");
    assert_string_equal(rows, again);
    free(again);
    free(rows);
    free(json);
}

/* More documents are asked for than there are: all of them are enough. */
static void all_documents_are_enough(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("own/text", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    o.scale = "smoke";
    o.folder = in_home("smoke");
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.runs == 2 && r.done == 2);
    assert_true(there("smoke/own/text/measurements.csv"));
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 2 && !t.begun);
}

/* ---- Killed and resumed --------------------------------------------------------------------------- */

/* In a process of its own, which is killed before the n-th commit to the store. */
static int killed_at(int n)
{
    fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct told t = {0};
        lg_reproduce_options o = options("killed", &t);
        lg_reproduce_result r;
        lg_error err = {0};
        lg__store_kill_at(n);
        _exit(lg_reproduce(&o, &r, &err) || r.failed ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* The rows after the name of the experiment. */
static void same_rows(const char *a, const char *b)
{
    char *x = read_file(a), *y = read_file(b), *p = x, *q = y;
    assert_int_equal(count(x, "\n"), count(y, "\n"));
    for (; (p = strchr(p, '\n')) && *++p;) {
        q = strchr(q, '\n') + 1;
        p = strchr(p, ',');
        q = strchr(q, ',');
        assert_memory_equal(p, q, strcspn(q, "\n") + 1);
    }
    free(x);
    free(y);
}

static void killed_ones_go_on(void **state)
{
    (void)state;
    int kills = 0;
    struct told t = {0};
    lg_reproduce_result r;
    lg_error err = {0};
    write_experiment("experiments/killed.yaml", FIGURES CHECKS);
    /* a run has about six commits: register, training, rows, state, the losses of two lengths */
    for (int n = 2; n < 9; n++) kills += killed_at(n);
    assert_true(kills >= 4);
    lg_reproduce_options o = options("killed", &t);
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 4 && !r.left && !r.failed);
    check_checks(&t);
    same_rows("results/killed/measurements.csv", "results/own/text/measurements.csv");
}

static void a_stopped_one_goes_on(void **state)
{
    (void)state;
    struct told t = {.stop = 1};
    lg_reproduce_options o = options("stopped", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_experiment("experiments/stopped.yaml", "");
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.left >= 2 && !r.failed);
    t = (struct told){0};
    must(lg_reproduce(&o, &r, &err), &err);
    assert_true(r.done == 4 && !r.left);
    same_rows("results/stopped/measurements.csv", "results/own/text/measurements.csv");
}

/* ---- The sweep's table ----------------------------------------------------------------------------- */

struct losses {
    int count, last; /* last: those of positions 33..40 */
    double much, little;
};

static void keep_loss(void *context, const lg_joined *l)
{
    struct losses *s = context;
    s->count++;
    assert_int_equal(l->seeds, 2);
    assert_int_equal(l->at->context, 16);
    assert_true(l->seed[0] == 1 && l->seed[1] == 2);
    double mean = (l->value[0] + l->value[1]) / 2;
    assert_true(fabs(l->median - mean) < 1e-12);
    assert_true(l->lower <= mean && mean <= l->upper);
    if (l->at->first != 33 || strcmp(l->kind->name, "truncated") != 0) return;
    s->last++;
    *(strstr(l->variant, "much") ? &s->much : &s->little) = l->median;
}

static void a_sweep_has_its_losses(void **state)
{
    (void)state;
    struct losses l = {0};
    char file[400], folder[400], store[400];
    lg_error err = {0};
    int failed, left;
    snprintf(file, sizeof file, "%s/experiments/own/text.yaml", home);
    snprintf(folder, sizeof folder, "%s/runs/own/text", home);
    snprintf(store, sizeof store, "%s/runs/lab.db", home);
    lg_sweep_options o = {.file = file, .folder = folder, .store = store, .threads = 1};
    must(lg_sweep(&o, NULL, NULL, &failed, &left, &err), &err); /* all is done */
    assert_true(!failed && !left);
    must(lg_sweep_cells(&o, keep_loss, &l, &err), &err);
    assert_int_equal(l.count, 3 * 2 * (5 + 7)); /* kinds, variants, bins */
    assert_int_equal(l.last, 2);
    assert_true(l.much < l.little);
    /* somebody's own evaluations, of another length and of fewer documents, are not the sweep's */
    char run[400];
    snprintf(run, sizeof run, "%s/runs/own/text/method=much,seed=1", home);
    lg_eval_options e = {.folder = run, .store = store, .threads = 1};
    e.lengths = (const int[]){40, 60};
    e.length_count = 2;
    e.samples = 2;
    must(lg_run_eval(&e, NULL, &err), &err);
    double much = l.much;
    l = (struct losses){0};
    must(lg_sweep_cells(&o, keep_loss, &l, &err), &err);
    assert_int_equal(l.count, 3 * 2 * (5 + 7)); /* kinds, variants, bins */
    assert_true(l.much == much);
}

/* Rows of other texts are not put beside those that are there, and no run is trained to find that out. */
static void other_texts_are_refused(void **state)
{
    (void)state;
    struct told t = {0};
    lg_reproduce_options o = options("own/changed", &t);
    lg_reproduce_result r;
    lg_error err = {0};
    write_experiment("experiments/own/changed.yaml", FIGURES CHECKS);
    o.only = "method=little,seed=1";
    must(lg_reproduce(&o, &r, &err), &err);
    char *text = read_file("a.txt"), *rows = read_file("results/own/changed/measurements.csv");
    FILE *f = fopen(in_home("a.txt"), "a");
    assert_non_null(f);
    fputs("one more line\n", f);
    assert_int_equal(fclose(f), 0);
    o.only = "method=little,seed=2";
    assert_int_not_equal(lg_reproduce(&o, &r, &err), 0);
    says(err.text, "own/changed: the run method=little,seed=2 is of other texts");
    says(err.text, "take the rows away");
    assert_int_not_equal(access(in_home("runs/own/changed/method=little,seed=2"), F_OK), 0);
    assert_int_equal(access(in_home("runs/own/changed/method=little,seed=1"), F_OK), 0);
    char *after = read_file("results/own/changed/measurements.csv");
    assert_string_equal(rows, after);
    write_file("a.txt", text);
    free(after);
    free(rows);
    free(text);
}

/* ---- Refusals and names ----------------------------------------------------------------------------- */

static void what_losses_do_not_have_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *extra, *words, *more;
    } wrong[] = {
        {"  checks: [{most: {ids: given}, is: 1}]\n",
         "wrong.yaml:6: the runs are measured by losses, which have no ids", "take"},
        {"  checks: [{most: {kind: taught_exact}, is: 1}]\n", "kind is taught_exact", "truncated"},
        {"  checks: [{most: {kind: [excess, exact]}, is: 1}]\n", "kind is exact", ""},
        {"  checks: [{monotone: length}]\n", "monotone is of answers", "less or most"},
        {"  checks: [{most: {position: far}, is: 1}]\n", "far", ""},
        {"  checks: [{most: {position: 4}}]\n", "most of which value", "nats"},
        {"  figures: [{file: a.svg, title: A, x: tokens}]\n", "x is tokens", "position"},
        {"  certify: 5\n", "", ""},
    };
    struct told t = {0};
    lg_reproduce_options o = options("wrong", &t);
    lg_reproduce_result r;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_error err = {0};
        write_experiment("experiments/wrong.yaml", wrong[i].extra);
        int code = lg_reproduce(&o, &r, &err);
        if (code != LG_ERROR_ARGUMENT) fail_msg("%zu: code %d %s", i, code, err.text);
        says(err.text, wrong[i].words);
        says(err.text, wrong[i].more);
    }
    assert_false(there("runs/wrong"));
    unlink(in_home("experiments/wrong.yaml"));
    /* no document is that long */
    lg_error err = {0};
    write_experiment("experiments/far.yaml", "");
    char *text = read_file("experiments/far.yaml"), *at = strstr(text, "[16, 40, 16]");
    assert_non_null(at);
    memcpy(at, "[16, 999, 1]", 12);
    write_file("experiments/far.yaml", text);
    free(text);
    o = options("far", &t);
    assert_int_equal(lg_reproduce(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(err.text, "eval.lengths has 999, but of ");
    says(err.text, "longer texts");
    assert_false(there("runs/far"));
    unlink(in_home("experiments/far.yaml"));
}

/* What is not exactly this experiment's is refused with its line. */
static void damaged_rows_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } wrong[] = {
        {"experiment,method", "experiment,way", "measurements.csv:1: this is not the heading"},
        {"\nown/text,little,,1,truncated,16,", "\nown/text,little,,1,16,", "20 fields"},
        {"\nown/text,little,,1,truncated,16,", "\nown/text,less,,1,truncated,16,", "no run of"},
        {"\nown/text,little,,1,truncated,16,", "\nown/text,little,,1,exact,16,", "do not have"},
        {",16,tokens,0,given,1,1,", ",16,tokens,0,given,1,2,", "no cell"},
        {",16,tokens,0,given,1,1,16,", ",16,tokens,0,given,1,1,8,", "another length"},
        {",sliding,16,tokens,0,given,1,1,", ",truncated,16,tokens,0,given,1,1,",
         "measurements.csv:3: this cell"},
        {",given,1,1,16,5,", ",given,1,1,16,0,", "samples is \"0\""},
    };
    struct told t = {0};
    lg_reproduce_options o = options("own/text", &t);
    lg_reproduce_result r;
    char *good = read_file("results/own/text/measurements.csv");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_error err = {0};
        char text[32768], *at = strstr(good, wrong[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, wrong[i].to,
                 at + strlen(wrong[i].from));
        write_file("results/own/text/measurements.csv", text);
        int code = lg_reproduce(&o, &r, &err);
        if (code != LG_ERROR_ARGUMENT) fail_msg("%zu: %d %s", i, code, err.text);
        says(err.text, wrong[i].words);
    }
    write_file("results/own/text/measurements.csv", good);
    free(good);
}

static void keep_name(void *context, const lg_experiment *x)
{
    char *names = context;
    strcat(names, x->name);
    strcat(names, " ");
}

/* Those in folders are listed where that is asked for. */
static void experiments_may_lie_in_folders(void **state)
{
    (void)state;
    char names[400] = "";
    struct told t = {0};
    lg_error err = {0};
    lg_reproduce_options o = options("", &t);
    o.name = NULL;
    must(lg_experiments(&o, keep_name, names, &err), &err);
    assert_string_equal(names, "killed stopped ");
    names[0] = 0;
    o.nested = 1;
    must(lg_experiments(&o, keep_name, names, &err), &err);
    assert_string_equal(names, "killed own/changed own/text stopped ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_figures_and_checks),
        cmocka_unit_test(all_documents_are_enough),
        cmocka_unit_test(killed_ones_go_on),
        cmocka_unit_test(a_stopped_one_goes_on),
        cmocka_unit_test(a_sweep_has_its_losses),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(what_losses_do_not_have_is_refused),
        cmocka_unit_test(damaged_rows_are_refused),
        cmocka_unit_test(experiments_may_lie_in_folders),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
