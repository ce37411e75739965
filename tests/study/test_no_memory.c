/* test_no_memory.c: no memory, at each allocation in turn, while a text is made: the call says so,
 * and no text or file is ever shorter than it should be. Under ASan this is also the leak test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/memory.h"
#include "helpers/home.h"
#include "base/paths.h"
#include "runs/run.h"
#include "study/study.h"
#include "base/files.h"

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

static void file_is(const char *name, const char *want, long n)
{
    char *text = read_file(name);
    if (strcmp(text, want) != 0) fail_msg("without allocation %ld %s is\n%s", n, name, text);
    free(text);
}

static void is_memory_error(int code, const lg_error *err, const char *call, long n)
{
    if (code != LG_ERROR_MEMORY || err->code != LG_ERROR_MEMORY || !strstr(err->text, "memory"))
        fail_msg("%s without allocation %ld: code %d, \"%s\"", call, n, code, err->text);
}

#define CONFIG                                                                                     \
    "config:\n"                                                                                    \
    "  task: {name: machine, table: add-10}\n"                                                     \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"                                  \
    "  eval: {lengths: [3, 5], samples: 4}\n"
#define VARY                                                                                       \
    "vary:\n"                                                                                      \
    "  method:\n"                                                                                  \
    "    plain: {positions.ids: plain}\n"                                                          \
    "    \"another, longer name for the same scheme, so that texts grow\": {positions.ids: "       \
    "plain}\n"                                                                                     \
    "  model.width: [16, 32]\n"                                                                    \
    "  seed: [1, 2, 3]\n"
#define EXPERIMENT                                                                                 \
    "experiment:\n"                                                                                \
    "  question: Is it so?\n"                                                                      \
    "  expected: \"it is.\"\n"                                                                     \
    "  words: documented\n"                                                                        \
    "  budget: 1\n"                                                                                \
    "  checks:\n"                                                                                  \
    "    - {least: {method: plain, model.width: [16, 32]}, is: 0.5}\n"                             \
    "    - {more: {model.width: 32}, than: {model.width: 16}}\n"                                   \
    "    - {monotone: length, where: {method: plain}}\n"

static lg_reproduce_options options(void)
{
    static char path[4][400];
    static const char *const names[] = {"experiments", "results", "runs", "lab.db"};
    for (int i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%s", home, names[i]);
    return (lg_reproduce_options){.name = "full",
                                  .experiments = path[0],
                                  .results = path[1],
                                  .folder = path[2],
                                  .store = path[3],
                                  .threads = 1};
}

static int prepare(void **state)
{
    if (make_home(state)) return -1;
    if (mkdir(in_home("experiments"), 0777) || mkdir(in_home("results"), 0777) ||
        mkdir(in_home("results/full"), 0777))
        return -1;
    write_file("experiments/full.yaml", EXPERIMENT CONFIG VARY);
    return 0;
}

/* ---- Tables and sweeps ----------------------------------------------------------------------- */

static void no_memory_for_a_table(void **state)
{
    (void)state;
    static const char *const tables[] = {"table=add-16", "table=times-9", "table=count-100",
                                         "table=comparison"};
    for (int i = 0; i < 4; i++) {
        lg_task *task = NULL;
        long n = 0, failures = 0;
        for (; !task; n++) {
            lg_error err = {0};
            lg__alloc_fail_after(n);
            task = lg_task_new("machine", &tables[i], 1, &err);
            lg__alloc_fail_after(-1);
            if (task) break;
            is_memory_error(err.code, &err, tables[i], n);
            failures += strstr(err.text, "no memory for table") != NULL;
        }
        if (failures < 5) fail_msg("%s: its text failed %ld times", tables[i], failures);
        lg_task_free(task);
    }
}

static void no_memory_for_a_sweep(void **state)
{
    (void)state;
    write_file("base.yaml", "task: {name: machine, table: add-10}\n"
                            "train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"
                            "eval: {lengths: [3, 5], samples: 4}\n");
    write_file("sweep.yaml", "base: base.yaml\n" VARY);
    lg_sweep_options o = {
        .file = in_home("sweep.yaml"), .folder = in_home("sweep"), .store = in_home("sweep.db")};
    long n = 0;
    for (int code = -1; code; n++) {
        struct lg__sweep_plan p = {0};
        const char *sets[64];
        lg_error err = {0};
        lg__alloc_fail_after(n);
        code = lg__sweep_read(&p, &o, &err);
        lg__alloc_fail_after(-1);
        if (code) is_memory_error(code, &err, "lg__sweep_read", n);
        if (!code) {
            int last = lg__sweep_sets(&p, 11, sets) - 1, found = 0;
            assert_int_equal(p.count, 12);
            assert_string_equal(p.runs[11].name, "method=another, longer name for the same scheme, "
                                                 "so that texts grow,model.width=32,seed=3");
            assert_string_equal(sets[last], "seed=3");
            for (int i = 0; i <= last; i++) found += strcmp(sets[i], "eval.lengths=[3, 5]") == 0;
            assert_int_equal(found, 1);
        }
        lg__sweep_clear(&p);
    }
    /* each set and each name is a text, and there are 24 names */
    if (n < 50) fail_msg("only %ld allocations", n);
}

/* ---- Experiments ------------------------------------------------------------------------------ */

static void no_memory_for_an_experiment(void **state)
{
    (void)state;
    lg_reproduce_options o = options();
    long n = 0;
    for (int code = -1; code; n++) {
        struct lg__study s = {0};
        lg_error err = {0};
        lg__alloc_fail_after(n);
        code = lg__study_open(&s, &o, 1, &err);
        lg__alloc_fail_after(-1);
        if (code) is_memory_error(code, &err, "lg__study_open", n);
        if (!code) assert_string_equal(s.runs[11].train, "model.width=32");
        lg__study_close(&s);
    }
    assert_true(n > 50);
}

/* Every run and cell, with made-up numbers. */
static void fill(struct lg__study *s)
{
    lg_error err = {0};
    for (int run = 0; run < s->plan.count; run++) {
        static const char *const kinds[] = {"exact", "taught_exact"};
        for (int cell = 0; cell < lg__variant_of(&s->plan, run)->count; cell++)
            for (int k = 0; k < 2; k++) {
                struct lg__row row = {.run = run, .cell = cell, .tokens = 10 + run};
                row.v = (lg_value){lg_kind_find(kinds[k]), 4, 0.75, 0.5, 0.9};
                if (lg__rows_add(&s->rows, &row, &err)) fail_msg("%s", err.text);
            }
    }
    lg__study_count(s);
}

static void no_memory_for_rows(void **state)
{
    (void)state;
    static const char old[] = "the rows as they were\n";
    lg_reproduce_options o = options();
    struct lg__study s = {0};
    lg_error err = {0};
    long n = 0;
    if (lg__study_open(&s, &o, 1, &err)) fail_msg("%s", err.text);
    fill(&s);
    if (lg__results_write(&s, &err)) fail_msg("%s", err.text);
    char *whole = read_file("results/full/measurements.csv");
    assert_true(strlen(whole) > 4000);
    write_file("results/full/measurements.csv", old);
    for (int code = -1; code; n++) {
        lg__alloc_fail_after(n);
        code = lg__results_write(&s, &err);
        lg__alloc_fail_after(-1);
        if (code) is_memory_error(code, &err, "lg__results_write", n);
        file_is("results/full/measurements.csv", code ? old : whole, n);
    }
    if (n < 5) fail_msg("only %ld allocations", n);
    free(whole);
    lg__study_close(&s);
}

struct told {
    int checks;
    char text[3][2][600];
};

static void keep_check(void *context, const lg_check *c)
{
    struct told *t = context;
    assert_true(c->index < 3);
    t->checks++;
    snprintf(t->text[c->index][0], sizeof t->text[0][0], "%s", c->text);
    snprintf(t->text[c->index][1], sizeof t->text[0][1], "%s", c->numbers);
}

/* A check that is told is the same as with memory: none finds fewer cells. */
static void no_memory_for_checks(void **state)
{
    (void)state;
    static struct told whole, t;
    lg_reproduce_options o = options();
    struct lg__study s = {0};
    struct lg__joins cells;
    lg_reproduce_result r = {0};
    lg_error err = {0};
    long n = 0;
    o.check = keep_check;
    o.context = &whole;
    if (lg__study_open(&s, &o, 1, &err)) fail_msg("%s", err.text);
    fill(&s);
    assert_int_equal(lg__rows_join(&s.rows, &s.plan, s.done, &cells, &err), 0);
    assert_int_equal(lg__study_check(&s, &cells, &r, &err), 0);
    assert_int_equal(whole.checks, 3);
    o.context = &t;
    for (int code = -1; code; n++) {
        t.checks = 0;
        lg__alloc_fail_after(n);
        code = lg__study_check(&s, &cells, &r, &err);
        lg__alloc_fail_after(-1);
        if (code) is_memory_error(code, &err, "lg__study_check", n);
        assert_true(code ? t.checks < 3 : t.checks == 3);
        for (int i = 0; i < t.checks; i++) {
            assert_string_equal(t.text[i][0], whole.text[i][0]);
            assert_string_equal(t.text[i][1], whole.text[i][1]);
        }
    }
    assert_true(n > 6);
    lg__joins_clear(&cells);
    lg__study_close(&s);
}

/* ---- Pages ------------------------------------------------------------------------------------ */

static char *figure(void)
{
    static const double x[] = {1, 10, 100}, y[] = {0, 0.5, 1};
    static const lg_curve curve = {.name = "a curve", .n = 3, .x = x, .y = y};
    static const lg_figure f = {.title = "A figure", .curves = &curve, .count = 1};
    return lg_figure_text(&f, 80, 16, 1, 0);
}

static char *paths(void)
{
    char *text;
    lg_error err = {0};
    int code =
        lg__paths_expand("~/a,$HOME/b,/a/path/that/is/long/enough/to/need/more/than/64/bytes,"
                         "/and/another/one/that/makes/it/grow/once/more/beyond/128/bytes.txt",
                         &text, &err);
    if (code) is_memory_error(code, &err, "lg__paths_expand", 0);
    assert_int_equal(code == 0, text != NULL);
    return text;
}

static void no_memory_for_a_page(void **state)
{
    (void)state;
    static const struct {
        char *(*make)(void);
        int least; /* allocations */
    } pages[] = {{lg_config_page, 5}, {lg_config_help, 5}, {figure, 4}, {paths, 2}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char *whole = pages[i].make(), *text = NULL;
        long n = 0;
        assert_non_null(whole);
        for (; !text; n++) {
            lg__alloc_fail_after(n);
            text = pages[i].make();
            lg__alloc_fail_after(-1);
        }
        assert_true(n > pages[i].least);
        assert_string_equal(text, whole);
        free(text);
        free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_a_table),       cmocka_unit_test(no_memory_for_a_sweep),
        cmocka_unit_test(no_memory_for_an_experiment), cmocka_unit_test(no_memory_for_rows),
        cmocka_unit_test(no_memory_for_checks),        cmocka_unit_test(no_memory_for_a_page),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
