/* test_model_file.c: a model that is saved and loaded is the same one: config, parameters, the bits of its logits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lengthen.h"

static char file[64];

static int make_name(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "/tmp/lg_model_%ld.safetensors", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

/* As many fields as possible are not at their defaults. */
static lg_model *windowed(void)
{
    lg_error err = {0};
    lg_model_config c = lg_model_config_default(LG_ARCH_OLMO);
    c.vocab = 11, c.layers = 3, c.width = 24, c.heads = 3, c.ff = 40, c.seed = 0xfedcba9876543210u;
    c.norm = LG_NORM_RMS, c.norm_eps = 3e-6, c.encoding = "relative", c.span = LG_SPAN_WINDOW,
    c.levels = 2;
    c.window_lo[0] = -2, c.window_hi[0] = 1, c.window_lo[1] = 0, c.window_hi[1] = 3;
    c.attention = LG_ATTENTION_SSMAX, c.sink = 1, c.id_classes[0] = 3, c.match[1] = LG_MATCH_NEXT,
    c.key_tokens = 2, c.key_token[1] = 5, c.rope_base = 12345.5;
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

/* A number of every row's logits. */
static void run(const lg_model *m, float *logits)
{
    lg_error err = {0};
    lg_batch b;
    lg_eval_result r;
    int32_t tokens[20], targets[20], one[20], two[20];
    for (int i = 0; i < 20; i++) {
        tokens[i] = i * 7 % 11, targets[i] = i % 11;
        one[i] = i % 9, two[i] = i % 3 ? i / 2 : LG_ABSENT;
    }
    lg_sequence s = {.n = 20, .levels = 2, .tokens = tokens, .targets = targets, .ids = {one, two}};
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add_levels(&b, &s, &err), 0);
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    if (lg_evaluator_run(e, &b, &r, &err)) fail_msg("%s", err.text);
    memcpy(logits, r.logits, 20 * 11 * sizeof *logits);
    lg_evaluator_free(e);
    lg_batch_clear(&b);
}

static void a_windowed_model_comes_back(void **state)
{
    (void)state;
    float before[220], after[220];
    lg_error err = {0};
    lg_model *m = windowed();
    for (int i = 0; i < lg_model_param_count(m); i++) { /* zeros too: the biases */
        lg_param p = lg_model_param(m, i);
        for (int k = 0; k < p.rows * p.cols; k++) p.data[k] += 0.01f * (float)((k + i) % 13);
    }
    lg_model_touch(m);
    run(m, before);
    if (lg_model_save(m, file, &err)) fail_msg("%s", err.text);
    lg_model *same = lg_model_load(file, &err);
    if (!same) fail_msg("%s", err.text);
    const lg_model_config *a = lg_model_get_config(m), *b = lg_model_get_config(same);
    assert_string_equal(a->encoding, b->encoding);
    lg_model_config x = *a, y = *b;
    x.isa = y.isa = NULL;
    x.encoding = y.encoding = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    run(same, after);
    assert_memory_equal(before, after, sizeof before);
    lg_model_free(same);
    lg_model_free(m);
}

static void what_is_no_model_is_refused(void **state)
{
    (void)state;
    lg_error err = {0};
    assert_null(lg_model_load("/nowhere/model", &err));
    assert_non_null(strstr(err.text, "/nowhere/model"));
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    fputs("not a model", f);
    fclose(f);
    assert_null(lg_model_load(file, &err));
    assert_int_equal(err.code, LG_ERROR_SYSTEM);
}

/* Each byte of the header changed: refused, or read as something that is a model; never outside of the file. */
static void a_damaged_header_is_refused_or_harmless(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_model *m = windowed();
    assert_int_equal(lg_model_save(m, file, &err), 0);
    lg_model_free(m);
    FILE *f = fopen(file, "r+b");
    assert_non_null(f);
    int refused = 0;
    for (long i = 8; i < 1200; i += 3) {
        fseek(f, i, SEEK_SET);
        int was = fgetc(f);
        fseek(f, i, SEEK_SET);
        fputc(was ^ 1, f);
        fflush(f);
        m = lg_model_load(file, &err);
        refused += !m;
        lg_model_free(m);
        fseek(f, i, SEEK_SET);
        fputc(was, f);
        fflush(f);
    }
    fclose(f);
    assert_true(refused > 200);
    m = lg_model_load(file, &err);
    assert_non_null(m);
    lg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_windowed_model_comes_back),
        cmocka_unit_test(what_is_no_model_is_refused),
        cmocka_unit_test(a_damaged_header_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, make_name, remove_file);
}
