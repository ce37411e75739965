/* test_slow_couple.c: from lines without labels to a run that is right at ten times their length, with its rule in
 * its folder; and no claim where the answer is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_couple.h"

/* Running parities of `lo` to `hi` bits, or drawn bits. */
static void write_data(const char *path, int lo, int hi, int count, int drawn)
{
    FILE *f = fopen(path, "w");
    unsigned state = 99u + (unsigned)hi;
    assert_non_null(f);
    for (int i = 0; i < count; i++) {
        int n = lo + i % (hi - lo + 1), sum = 0, bit[200];
        for (int k = 0; k < n; k++)
            bit[k] = (int)((state = state * 1103515245u + 12345u) >> 20) & 1;
        fprintf(f, "{\"tokens\":[");
        for (int k = 0; k < n; k++) fprintf(f, "%d,", bit[k]);
        fprintf(f, "\"=\"");
        for (int k = 0; k < n; k++) {
            int any = (int)((state = state * 1103515245u + 12345u) >> 20) & 1;
            fprintf(f, ",%d", drawn ? any : (sum ^= bit[k]));
        }
        fprintf(f, ",\"$\"],\"loss\":[");
        for (int k = 0; k < 2 * n + 2; k++) fprintf(f, "%s%d", k ? "," : "", k > n);
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
}

struct tally {
    int samples, exact;
};

static void tally(void *context, const lg_cell *c)
{
    struct tally *t = context;
    const lg_value *exact = lg_cell_get(c, "exact");
    t->samples += exact->samples;
    t->exact += (int)(exact->value * exact->samples + 0.5);
}

static void finds_parity(void **state)
{
    lg_couple_options o = lg_couple_options_default();
    lg_couple_result *r = calloc(1, sizeof *r);
    lg_error err = {0};
    struct tally t = {0};
    const int length = 120;
    char task[300];
    (void)state;
    write_data(in_home("data.jsonl"), 4, 12, 1200, 0);
    o.data = in_home("data.jsonl");
    o.folder = in_home("out");
    o.minutes = 10;
    if (lg_couple(&o, r, &err)) fail_msg("%s", err.text);
    if (!r->claimed) fail_msg("%s", r->why);
    assert_non_null(strstr(r->reads, "a[i]"));
    assert_int_equal(access(in_home("out/best/coupling.yaml"), F_OK), 0);
    assert_int_equal(access(in_home("out/coupling.svg"), F_OK), 0);
    lg_couple_clear(r);
    free(r);
    /* the rule that was chosen is gone: the run has its own */
    assert_int_equal(unlink(in_home("out/coupling.yaml")), 0);
    write_data(in_home("long.jsonl"), length, length, 50, 0);
    snprintf(task, sizeof task, "jsonl:%s", in_home("long.jsonl"));
    lg_eval_options e = {.folder = in_home("out/best"),
                         .task = task,
                         .lengths = &length,
                         .length_count = 1,
                         .samples = 50,
                         .predicted = 1,
                         .generated_only = 1,
                         .each = tally,
                         .context = &t};
    if (lg_run_eval(&e, NULL, &err)) fail_msg("%s", err.text);
    assert_int_equal(t.samples, 50);
    assert_int_equal(t.exact, 50);
}

static void claims_nothing(void **state)
{
    lg_couple_options o = lg_couple_options_default();
    lg_couple_result *r = calloc(1, sizeof *r);
    lg_error err = {0};
    (void)state;
    write_data(in_home("drawn.jsonl"), 14, 22, 900, 1);
    o.data = in_home("drawn.jsonl");
    o.folder = in_home("none");
    if (lg_couple(&o, r, &err)) fail_msg("%s", err.text);
    assert_int_equal(r->claimed, 0);
    assert_true(r->why[0] != 0);
    lg_couple_clear(r);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_parity),
        cmocka_unit_test(claims_nothing),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
