/* test_scales.c: the scales of a sweep's file, and what is wrong with an experiment: refused with its line, before
 * any work. */
#include "experiments.h"

static lg_sweep_options sweep_of(const char *file, const char *scale)
{
    static char path[3][400];
    snprintf(path[0], sizeof path[0], "%s/%s", home, file);
    snprintf(path[1], sizeof path[1], "%s/out", home);
    snprintf(path[2], sizeof path[2], "%s/out.db", home);
    return (lg_sweep_options){.file = path[0], .scale = scale, .folder = path[1], .store = path[2]};
}

static int has_set(const struct lg__sweep_plan *p, int run, const char *set)
{
    const char *sets[64];
    int n = lg__sweep_sets(p, run, sets), last = -1;
    for (int i = 0; i < n; i++)
        if (strncmp(sets[i], set, strcspn(set, "=") + 1) == 0) last = i;
    return last >= 0 && strcmp(sets[last], set) == 0;
}

static int is_plain(void *context, const char *name)
{
    ++*(int *)context;
    return strstr(name, "plain") != NULL;
}

static int is_none(void *context, const char *name)
{
    (void)context;
    (void)name;
    return 0;
}

static void a_scale_sets_and_replaces(void **state)
{
    (void)state;
    struct lg__sweep_plan p = {0};
    lg_error err = {0};
    int asked = 0;
    write_file("scales.yaml", CONFIG VARY SCALES);
    lg_sweep_options o = sweep_of("scales.yaml", "smoke");
    must(lg__sweep_read(&p, &o, &err), &err);
    assert_int_equal(p.count, 1);
    assert_string_equal(p.runs[0].name, "method=coupled, RoPE,seed=7");
    assert_true(has_set(&p, 0, "train.steps=9") && has_set(&p, 0, "eval.samples=2"));
    assert_true(has_set(&p, 0, "train.batch=8") && has_set(&p, 0, "positions.ids=coupled"));
    lg__sweep_clear(&p);
    o = sweep_of("scales.yaml", "paper");
    must(lg__sweep_read(&p, &o, &err), &err);
    assert_int_equal(p.count, 6);
    assert_string_equal(p.runs[5].name, "method=coupled, RoPE,seed=3");
    assert_true(has_set(&p, 5, "train.steps=20"));
    lg__sweep_clear(&p);
    o = sweep_of("scales.yaml", "desk");
    o.wanted = is_plain;
    o.wanted_context = &asked;
    must(lg__sweep_read(&p, &o, &err), &err);
    assert_int_equal(asked, 4);
    assert_int_equal(p.count, 2);
    assert_string_equal(p.runs[1].name, "method=plain,seed=2");
    assert_true(has_set(&p, 1, "seed=2") && has_set(&p, 1, "positions.ids=plain"));
    lg__sweep_clear(&p);
    o.wanted = is_none;
    o.jobs = 2;
    int failed, left;
    must(lg_sweep(&o, NULL, NULL, &failed, &left, &err), &err);
    assert_true(!failed && !left);
}

static void wrong_scales_and_experiments_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file, *scale, *words, *more;
    } wrong[] = {
        {CONFIG VARY SCALES, "huge", "no scale \"huge\"", "desk, smoke, paper"},
        {CONFIG VARY, "smoke", "no scale \"smoke\"", "desk"},
        {CONFIG VARY "scales: {desk: {}}\n", NULL, "wrong.yaml:11: ", "desk is the file as it is"},
        {CONFIG VARY "scales:\n  smoke: {sett: {}}\n", NULL, "wrong.yaml:12: ", "\"set\""},
        {CONFIG VARY "scales:\n  smoke: {set: {train.stepz: 1}}\n", NULL,
         "wrong.yaml:12: ", "\"train.steps\""},
        {CONFIG VARY "scales:\n  smoke: {set: {seed: 1}}\n", "smoke",
         "wrong.yaml:12: seed is varied", "vary"},
        {CONFIG VARY "scales:\n  smoke: {vary: {train.lr: [1]}}\n", NULL,
         "wrong.yaml:12: ", "vary has no \"train.lr\""},
        {CONFIG VARY "scales:\n  smoke: {vary: {method: [plane]}}\n", NULL,
         "wrong.yaml:12: ", "no bundle \"plane\""},
        {CONFIG VARY "scales:\n  smoke: {vary: {method: [plain, plain]}}\n", NULL, "twice", ""},
        {CONFIG VARY "scales:\n  smoke: {vary: {seed: []}}\n", NULL, "seed has no values", ""},
        {CONFIG VARY "scales:\n  smoke: {vary: {seed: 3}}\n", NULL, "must be a list", ""},
        {CONFIG VARY "experiment: {budget: soon}\n", NULL, "wrong.yaml:11: ", "soon"},
        {CONFIG VARY "experiment: {words: \"\"}\n", NULL, "wrong.yaml:11: ", "words says nothing"},
        {CONFIG VARY EXPERIMENT "  figurez: []\n", NULL, "wrong.yaml:16: ", "\"figures\""},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg}]\n", NULL, "\"title\" is missing", ""},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.pdf, title: a}]\n", NULL, "a.pdf", ".svg"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: ../a.svg, title: a}]\n", NULL, "../a.svg",
         "without a folder"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, where: {k: 1}}]\n", NULL,
         "wrong.yaml:16: ", "\"k\" is neither"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, where: {method: plane}}]\n",
         NULL, "method has no value \"plane\"", "line 7"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, where: {ids: drawn}}]\n", NULL,
         "drawn", "predicted"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, lines: seed}]\n", NULL,
         "\"seed\" is neither", ""},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, x: steps}]\n", NULL, "steps",
         "tokens"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, x: seed}]\n", NULL,
         "wrong.yaml:16: x is \"seed\"", "other than the seed"},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, x: method}]\n", NULL,
         "value \"plain\" is no number", "\"lines\""},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a, x: [length]}]\n", NULL,
         "wrong.yaml:16: x ", ""},
        {CONFIG VARY EXPERIMENT "  figures: [{file: a.svg, title: a}, {file: a.svg, title: b}]\n",
         NULL, "two figures", "another name"},
        {CONFIG VARY EXPERIMENT "  checks: [{lesser: {}}]\n", NULL,
         "wrong.yaml:16: ", "a check is"},
        {CONFIG VARY EXPERIMENT "  checks: [{more: {}}]\n", NULL, "\"than\" is missing", ""},
        {CONFIG VARY EXPERIMENT "  checks: [{more: {}, than: {}, be: 1}]\n", NULL, "\"by\"", ""},
        {CONFIG VARY EXPERIMENT "  checks: [{least: {}}]\n", NULL, "Add \"is\"", ""},
        {CONFIG VARY EXPERIMENT "  checks: [{least: {length: far}, is: 1}]\n", NULL, "far", ""},
        {CONFIG VARY EXPERIMENT "  checks: [{monotone: seed}]\n", NULL, "seed", "sparsity"},
        {CONFIG VARY EXPERIMENT "  certify: yes\n", NULL, "wrong.yaml:16: ", "yes"},
        {CONFIG VARY EXPERIMENT "  checks: [{certified: {}, is: 1}]\n", NULL,
         "wrong.yaml:16: nothing is certified", "certify: 1000"},
        {CONFIG VARY EXPERIMENT "  certify: 5\n  checks: [{certified: {}}]\n", NULL, "which share",
         "Add \"is\""},
        {CONFIG VARY EXPERIMENT "  certify: 5\n  checks: [{certified: {length: 3}, is: 1}]\n", NULL,
         "length is of cells", "take it out"},
        {CONFIG "vary: {kind: {a: {}}}\n" EXPERIMENT, NULL, "\"kind\"", "another name"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lg__sweep_plan p = {0};
        lg_error err = {0};
        write_file("wrong.yaml", wrong[i].file);
        lg_sweep_options o = sweep_of("wrong.yaml", wrong[i].scale);
        int code = lg__sweep_read(&p, &o, &err);
        lg__sweep_clear(&p);
        if (code != LG_ERROR_ARGUMENT) fail_msg("%zu: code %d %s", i, code, err.text);
        says(err.text, wrong[i].words);
        says(err.text, wrong[i].more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scale_sets_and_replaces),
        cmocka_unit_test(wrong_scales_and_experiments_are_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
