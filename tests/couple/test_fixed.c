/* test_fixed.c: what is tried, for how many steps, and the winner's weights hang on the lines, the seed and the steps
 * that are given, not on the clock or the threads; where the clock cuts, that is said. */
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

/* Copies of 1 to 6 words. */
static void write_data(const char *path)
{
    FILE *f = fopen(path, "w");
    unsigned state = 5;
    assert_non_null(f);
    for (int i = 0; i < 400; i++) {
        int n = 1 + i % 6, word[8];
        for (int k = 0; k < n; k++)
            word[k] = (int)((state = state * 1103515245u + 12345u) >> 16) % 4;
        fputs("{\"tokens\":[", f);
        for (int k = 0; k < n; k++) fprintf(f, "%d,", word[k]);
        fputs("\"=\"", f);
        for (int k = 0; k < n; k++) fprintf(f, ",%d", word[k]);
        fputs(",\"$\"],\"loss\":[", f);
        for (int k = 0; k < 2 * n + 2; k++) fprintf(f, "%s%d", k ? "," : "", k > n);
        fprintf(f, "],\"length\":%d}\n", n);
    }
    fclose(f);
}

static void couple(const char *folder, double minutes, int threads, lg_couple_result *r)
{
    lg_couple_options o = lg_couple_options_default();
    lg_error err = {0};
    o.data = in_home("data.jsonl");
    o.folder = folder;
    o.steps = 370;
    o.minutes = minutes;
    o.threads = threads;
    o.seed = 3;
    if (lg_couple(&o, r, &err)) fail_msg("%s", err.text);
}

/* The bytes of the weights of the last checkpoint. */
static char *weights(const lg_couple_result *r, size_t *size)
{
    char path[LG_COUPLE_PATH + 80];
    snprintf(path, sizeof path, "%s/best/checkpoint/step-%09lld/model.safetensors", r->folder,
             (long long)r->steps);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("no %s", path);
    char *bytes = malloc(1 << 24);
    *size = fread(bytes, 1, 1 << 24, f);
    fclose(f);
    return bytes;
}

static void same_seed_same_weights(void **state)
{
    lg_couple_result *r[2] = {calloc(1, sizeof **r), calloc(1, sizeof **r)};
    size_t size[2];
    (void)state;
    write_data(in_home("data.jsonl"));
    couple(in_home("one"), 60, 1, r[0]);
    couple(in_home("two"), 30, 2, r[1]);
    char *bytes[2] = {weights(r[0], &size[0]), weights(r[1], &size[1])};
    assert_int_equal(r[0]->cut, 0);
    assert_int_equal(r[0]->best, r[1]->best);
    assert_int_equal(r[0]->candidates, r[1]->candidates);
    for (int i = 0; i < r[0]->candidates; i++) {
        assert_int_equal(r[0]->candidate[i].steps, r[1]->candidate[i].steps);
        assert_int_equal(r[0]->candidate[i].exact, r[1]->candidate[i].exact);
    }
    assert_int_equal(r[0]->steps, r[1]->steps);
    assert_in_range(r[0]->steps, 100, 370);
    assert_int_equal(r[0]->report_exact, r[1]->report_exact);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; i++) {
        lg_couple_clear(r[i]);
        free(r[i]);
        free(bytes[i]);
    }
}

static void a_cut_is_said(void **state)
{
    lg_couple_result *r = calloc(1, sizeof *r);
    (void)state;
    write_data(in_home("data.jsonl"));
    couple(in_home("cut"), 1e-5, 2, r);
    assert_int_equal(r->cut, 1);
    lg_couple_clear(r);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_weights),
        cmocka_unit_test(a_cut_is_said),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
