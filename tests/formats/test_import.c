/* test_import.c: published weights in and out. The models in tests/data/imports were written by
 * make_imports.py in the layouts of Hugging Face and llama2.c, with PyTorch's logits beside them.
 * Without this test a wrong order of rows (fused heads, pairs that turn, shared heads) would be
 * read without a word, and a damaged file half way. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "helpers/home.h"
#include "formats/safetensors.h"
#include "helpers/same.h"
#include "lengthen_lab.h"

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("failed: %s", command);
}

static unsigned char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *all = malloc(*size + 1);
    assert_int_equal(fread(all, 1, *size, f), *size);
    all[*size] = 0;
    fclose(f);
    return all;
}

static void spill(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f) fail_msg("%s cannot be made", path);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static lg_model *must_import(const char *path, lg_import_info *info)
{
    lg_error err = {0};
    lg_model *m = lg_import(path, info, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

/* ---- Logits ------------------------------------------------------------------------------- */

/* tokens n, vocabulary, tokens, logits: as make_imports.py writes them. */
struct expected {
    int32_t n, vocab, *tokens;
    float *logits;
    unsigned char *all;
};

static struct expected read_expected(const char *path)
{
    struct expected x;
    size_t size;
    x.all = slurp(path, &size);
    memcpy(&x.n, x.all, 4);
    memcpy(&x.vocab, x.all + 4, 4);
    x.tokens = (int32_t *)(void *)(x.all + 8);
    x.logits = (float *)(void *)(x.all + 8 + 4 * (size_t)x.n);
    assert_int_equal(size, 8 + 4 * (size_t)x.n * (1 + (size_t)x.vocab));
    return x;
}

/* The logits after every token, [n, vocab]. */
static float *logits_of(const lg_model *m, const int32_t *tokens, int n)
{
    lg_error err = {0};
    lg_batch b;
    lg_eval_result r;
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    size_t size = (size_t)n * (size_t)lg_model_get_config(m)->vocab * sizeof(float);
    float *all = malloc(size);
    lg_batch_init(&b);
    if (!e || lg_batch_add(&b, n, tokens, NULL, tokens, NULL, &err) ||
        lg_evaluator_run(e, &b, &r, &err))
        fail_msg("%s", err.text);
    assert_int_equal(r.rows, n);
    memcpy(all, r.logits, size);
    lg_batch_clear(&b);
    lg_evaluator_free(e);
    return all;
}

static double worst_difference(const lg_model *m, const char *expected)
{
    struct expected x = read_expected(expected);
    assert_int_equal(x.vocab, lg_model_get_config(m)->vocab);
    float *logits = logits_of(m, x.tokens, x.n);
    double worst = 0;
    for (size_t i = 0; i < (size_t)x.n * (size_t)x.vocab; i++)
        worst = fmax(worst, fabs((double)logits[i] - (double)x.logits[i]));
    free(logits);
    free(x.all);
    return worst;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static const struct {
    const char *name, *kind;
    int length;
} models[] = {
    {"neox", "GPTNeoXForCausalLM", 64},
    {"neox_serial_f16", "GPTNeoXForCausalLM", 64},
    {"olmo_bf16", "OlmoForCausalLM", 64},
    {"llama_shards", "LlamaForCausalLM", 64},
    {"llama_biases_bf16", "LlamaForCausalLM", 64},
    {"gpt2", "GPT2LMHeadModel", 32},
    {"gpt2_bare_f16", "GPT2LMHeadModel", 32},
    {"llama2c_tied.bin", "llama2.c", 32},
    {"llama2c_untied.bin", "llama2.c", 32},
};
enum { MODELS = sizeof models / sizeof *models };

static const char *data_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/imports/%s", LG_TEST_DATA, name);
    return path;
}

static const char *expected_path(const char *name)
{
    static char path[512];
    const char *dot = strstr(name, ".bin");
    snprintf(path, sizeof path, "%s/imports/%.*s%sexpected.bin", LG_TEST_DATA,
             (int)(dot ? (size_t)(dot - name) : strlen(name)), name, dot ? "." : "/");
    return path;
}

/* Every format, dtype and number of files: the function is PyTorch's. */
static void the_logits_are_those_of_pytorch(void **state)
{
    (void)state;
    for (int i = 0; i < MODELS; i++) {
        lg_import_info info;
        lg_model *m = must_import(data_path(models[i].name), &info);
        double worst = worst_difference(m, expected_path(models[i].name));
        print_message("%-20s largest difference %.1e\n", models[i].name, worst);
        if (!(worst <= 1e-4)) fail_msg("%s: a difference of %g", models[i].name, worst);
        assert_string_equal(info.kind, models[i].kind);
        assert_int_equal(info.length, models[i].length);
        assert_string_equal(info.tokenizer, "");
        lg_model_free(m);
    }
}

/* The halves are converted exactly, also where they are subnormal, zero or not finite. */
static void halves_become_the_same_floats(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        float value;
    } half[] = {
        {0x0000, 0.0f},
        {0x3c00, 1.0f},
        {0xc000, -2.0f},
        {0x7bff, 65504.0f},
        {0x0400, 0x1p-14f},
        {0x03ff, 0x1.ff8p-15f},
        {0x0001, 0x1p-24f},
        {0x8001, -0x1p-24f},
        {0x3555, 0x1.554p-2f},
        {0x7c00, (float)INFINITY},
        {0xfc00, -(float)INFINITY},
        {0x0200, 0x1p-15f},
    };
    static const struct {
        uint16_t bits;
        float value;
    } brain[] = {
        {0x3f80, 1.0f}, {0xc049, -3.140625f}, {0x0001, 0x1p-133f}, {0x7f80, (float)INFINITY}};
    float x;
    for (size_t i = 0; i < sizeof half / sizeof *half; i++) {
        struct lg__stored t = {.data = &half[i].bits, .dtype = LG__F16};
        lg__stored_read(&t, 0, 1, &x, 1);
        assert_memory_equal(&x, &half[i].value, sizeof x);
    }
    for (size_t i = 0; i < sizeof brain / sizeof *brain; i++) {
        struct lg__stored t = {.data = &brain[i].bits, .dtype = LG__BF16};
        lg__stored_read(&t, 0, 1, &x, 1);
        assert_memory_equal(&x, &brain[i].value, sizeof x);
    }
    uint16_t nan = 0x7e00;
    struct lg__stored t = {.data = &nan, .dtype = LG__F16};
    lg__stored_read(&t, 0, 1, &x, 1);
    assert_true(isnan(x));
}

/* A tokenizer beside the weights is named. */
static void the_tokenizer_is_found(void **state)
{
    (void)state;
    lg_import_info info;
    char path[256];
    shell("cp -r %s %s/with", data_path("neox"), home);
    shell("touch %s/with/tokenizer.json %s/tok40.bin", home, home);
    shell("cp %s %s/", data_path("llama2c_tied.bin"), home);
    snprintf(path, sizeof path, "%s/with", home);
    lg_model_free(must_import(path, &info));
    assert_non_null(strstr(info.tokenizer, "/with/tokenizer.json"));
    snprintf(path, sizeof path, "%s/llama2c_tied.bin", home);
    lg_model_free(must_import(path, &info));
    assert_non_null(strstr(info.tokenizer, "/tok40.bin"));
}

/* Newer files say rope_parameters, and dynamic scaling keeps the length that it goes by. */
static void newer_keys_mean_the_same(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/newer", home);
    shell("cp -r %s %s && chmod -R u+w %s", data_path("llama_shards"), path, path);
    shell("sed -i 's/\"rope_theta\": 10000.0,//; s/\"rope_scaling\": null/\"rope_parameters\": "
          "{\"rope_type\": \"dynamic\", \"factor\": 2, \"rope_theta\": 500}/' %s/config.json",
          path);
    lg_model *m = must_import(path, NULL);
    const lg_model_config *c = lg_model_get_config(m);
    assert_int_equal(c->rope_scaling, LG_ROPE_DYNAMIC);
    assert_true(c->rope_factor == 2 && c->rope_base == 500);
    assert_int_equal(c->rope_length, 64);
    lg_model_free(m);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static lg_model *random_model(lg_model_config c)
{
    lg_error err = {0};
    c.vocab = 31;
    c.width = 24;
    c.heads = 4;
    c.ff = 20;
    c.seed = 7;
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s", err.text);
    lg_rng r;
    lg_rng_init(&r, 3, 0, 0);
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        for (int j = 0; j < p.rows * p.cols; j++) p.data[j] += (float)(0.2 * lg_rng_normal(&r));
    }
    lg_model_touch(m);
    return m;
}

static void same_params(const lg_model *a, const lg_model *b)
{
    assert_int_equal(lg_model_param_count(a), lg_model_param_count(b));
    for (int i = 0; i < lg_model_param_count(a); i++) {
        lg_param p = lg_model_param(a, i), q = lg_model_param(b, i);
        assert_string_equal(p.name, q.name);
        assert_int_equal(p.rows, q.rows);
        assert_int_equal(p.cols, q.cols);
        if (memcmp(p.data, q.data, (size_t)p.rows * (size_t)p.cols * sizeof(float)) != 0)
            fail_msg("%s came back with other bits", p.name);
    }
}

static void draw_tokens(int32_t *tokens, int n, int vocab)
{
    lg_rng r;
    lg_rng_init(&r, 4, 0, 0);
    for (int i = 0; i < n; i++) tokens[i] = (int32_t)lg_rng_below(&r, (uint32_t)vocab);
}

/* For check_export.py, if somebody asks for it: the folder with our logits. */
static void keep(const lg_model *m, const char *name)
{
    enum { N = 40 };
    const char *to = getenv("LG_KEEP_EXPORTS");
    int32_t head[2 + N] = {N, lg_model_get_config(m)->vocab};
    char path[512];
    lg_error err = {0};
    if (!to) return;
    snprintf(path, sizeof path, "%s/%s", to, name);
    if (lg_export(m, 64, path, &err)) fail_msg("%s", err.text);
    draw_tokens(head + 2, N, head[1]);
    float *logits = logits_of(m, head + 2, N);
    snprintf(path, sizeof path, "%s/%s/expected.bin", to, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(head, sizeof head, 1, f);
    fwrite(logits, sizeof(float), (size_t)N * (size_t)head[1], f);
    assert_int_equal(fclose(f), 0);
    free(logits);
}

static void comes_back(const char *name, const lg_model *m, const char *kind)
{
    enum { N = 40 };
    char path[128];
    lg_error err = {0};
    lg_import_info info;
    int32_t tokens[N];
    const lg_model_config *c = lg_model_get_config(m);
    lg_model_config was = *c;
    snprintf(path, sizeof path, "%s/%s", home, name);
    if (lg_export(m, 96, path, &err)) fail_msg("%s", err.text);
    lg_model *back = must_import(path, &info);
    assert_string_equal(info.kind, kind);
    assert_int_equal(info.length, 96);
    was.rope_length = 96; /* ours knew of none */
    was.seed = 0;
    was.arch = lg_model_get_config(back)->arch; /* says how weights begin */
    same_model(&was, lg_model_get_config(back));
    same_params(m, back);
    draw_tokens(tokens, N, c->vocab);
    float *a = logits_of(m, tokens, N), *b = logits_of(back, tokens, N);
    assert_memory_equal(a, b, (size_t)N * (size_t)c->vocab * sizeof(float));
    free(a);
    free(b);
    lg_model_free(back);
    keep(m, name);
}

static void what_is_exported_comes_back_bit_by_bit(void **state)
{
    (void)state;
    lg_model_config neox = lg_model_config_default(LG_ARCH_NEOX);
    lg_model_config olmo = lg_model_config_default(LG_ARCH_OLMO), c;
    lg_model *m;
    comes_back("neox", m = random_model(neox), "GPTNeoXForCausalLM");
    lg_model_free(m);
    c = neox;
    c.rope_share = 0.7, c.rope_base = 777.25, c.parallel = 0, c.tied = 1;
    c.act = LG_ACT_GELU_TANH, c.norm_eps = 1e-6;
    comes_back("neox-serial", m = random_model(c), "GPTNeoXForCausalLM");
    lg_model_free(m);
    comes_back("olmo", m = random_model(olmo), "OlmoForCausalLM");
    lg_model_free(m);
    c = olmo;
    c.tied = 1, c.rope_scaling = LG_ROPE_LINEAR, c.rope_factor = 3;
    comes_back("olmo-linear", m = random_model(c), "OlmoForCausalLM");
    lg_model_free(m);
    c = olmo;
    c.norm = LG_NORM_RMS, c.biases = 1;
    comes_back("llama", m = random_model(c), "LlamaForCausalLM");
    lg_model_free(m);
    comes_back("llama2c", m = must_import(data_path("llama2c_untied.bin"), NULL),
               "LlamaForCausalLM");
    lg_model_free(m);
}

/* What GPTNeoX counts or has otherwise than we do: half a pair that turns, biases. The function
 * stays the same. */
static void what_the_format_says_otherwise_is_the_same_function(void **state)
{
    (void)state;
    enum { N = 40 };
    char path[128];
    lg_error err = {0};
    int32_t tokens[N];
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.biases = 0;
    c.rope_share = 0.5; /* of 6: 3 by their count, 2 by ours */
    lg_model *m = random_model(c);
    snprintf(path, sizeof path, "%s/otherwise", home);
    if (lg_export(m, 64, path, &err)) fail_msg("%s", err.text);
    lg_model *back = must_import(path, NULL);
    assert_int_equal(lg_model_get_config(back)->biases, 1);
    draw_tokens(tokens, N, 31);
    float *a = logits_of(m, tokens, N), *b = logits_of(back, tokens, N);
    for (int i = 0; i < N * 31; i++) assert_true(a[i] == b[i]);
    free(a);
    free(b);
    keep(m, "neox-otherwise");
    lg_model_free(m);
    lg_model_free(back);
}

static void what_the_formats_cannot_say_is_refused(void **state)
{
    (void)state;
    enum { CASES = 16 };
    lg_model_config neox = lg_model_config_default(LG_ARCH_NEOX), c[CASES];
    lg_model_config olmo = lg_model_config_default(LG_ARCH_OLMO);
    static const char *const words[CASES] = {
        "window",       "relative",   "learned",  "turns nothing", "sink",          "softmax",
        "heads that",   "heads that", "levels",   "rope_scaling",  "norm together", "parallel",
        "rope_share 1", "biases",     "norm_eps", "same weights"};
    for (int i = 0; i < CASES; i++) c[i] = i < 10 ? neox : olmo;
    c[0].span = LG_SPAN_WINDOW;
    c[1].encoding = "relative";
    c[2].encoding = "learned", c[2].max_id = 9;
    c[3].rope_share = 0;
    c[4].sink = 1;
    c[5].attention = LG_ATTENTION_ENTMAX15;
    c[6].id_classes[0] = 3;
    c[7].pointer[0] = 1;
    c[8].levels = 2;
    c[9].rope_scaling = LG_ROPE_YARN, c[9].rope_factor = 2, c[9].rope_length = 64;
    c[10].norm = LG_NORM_LAYER;
    c[11].parallel = 1;
    c[12].rope_share = 0.5;
    c[13].biases = 1;
    c[14].norm_eps = 1e-6;
    c[15] = lg_model_config_default(LG_ARCH_LOOPED);
    for (int i = 0; i < CASES; i++) {
        char path[128];
        lg_error err = {0};
        lg_model *m = random_model(c[i]);
        snprintf(path, sizeof path, "%s/refused", home);
        assert_int_equal(lg_export(m, 64, path, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, words[i])) fail_msg("\"%s\" is not in: %s", words[i], err.text);
        assert_int_equal(access(path, F_OK), -1);
        lg_model_free(m);
    }
}

/* A folder that holds something stays as it is, and nothing is left of what was refused. */
static void a_full_folder_is_left_alone(void **state)
{
    (void)state;
    char path[128];
    lg_error err = {0};
    lg_model *m = random_model(lg_model_config_default(LG_ARCH_NEOX));
    snprintf(path, sizeof path, "%s/full", home);
    shell("mkdir %s && echo mine > %s/config.json", path, path);
    assert_int_equal(lg_export(m, 64, path, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "new or empty"));
    shell("test $(cat %s/config.json) = mine", path);
    assert_int_equal(lg_export(m, 0, path, &err), LG_ERROR_ARGUMENT);
    shell("rm %s/config.json", path);
    if (lg_export(m, 64, path, &err)) fail_msg("%s", err.text);
    shell("test $(ls -a %s | wc -l) = 4", path);
    shell("test -z \"$(ls -d %s/*.part* 2>/dev/null)\"", home);
    lg_model_free(m);
}

/* ---- Refusals ----------------------------------------------------------------------------- */

static void refused(const char *path, const char *words)
{
    lg_error err = {0};
    lg_import_info info;
    lg_model *m = lg_import(path, &info, &err);
    if (m) fail_msg("%s was read, and should not (%s)", path, words);
    assert_true(err.code < 0);
    assert_string_equal(info.kind, "");
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    if (!strchr(err.text, ';')) fail_msg("no remedy in: %s", err.text);
}

/* A copy of the model in which a file has these bytes (NULL: is not there) is refused; the copy is
 * as it was after that. */
static void refused_with(const char *model, const char *file, const void *data, size_t size,
                         const char *words)
{
    char folder[128], path[256], from[64];
    size_t was;
    snprintf(folder, sizeof folder, "%s/copy-%s", home, model);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(from, sizeof from, "%s/%s", model, file);
    if (access(folder, F_OK) != 0)
        shell("cp -r %s %s && chmod -R u+w %s", data_path(model), folder, folder);
    if (data)
        spill(path, data, size);
    else
        assert_int_equal(unlink(path), 0);
    refused(folder, words);
    unsigned char *all = slurp(data_path(from), &was);
    spill(path, all, was);
    free(all);
}

/* The same with the first `before` of the file made `after`. */
static void refused_changed(const char *model, const char *file, const char *before,
                            const char *after, const char *words)
{
    char from[64];
    size_t size, n = strlen(before), m = strlen(after), at = 0;
    snprintf(from, sizeof from, "%s/%s", model, file);
    unsigned char *all = slurp(data_path(from), &size), *other = malloc(size + m);
    while (at + n <= size && memcmp(all + at, before, n) != 0) at++;
    if (at + n > size) fail_msg("%s has no %s", from, before);
    memcpy(other, all, at);
    memcpy(other + at, after, m);
    memcpy(other + at + m, all + at + n, size - at - n);
    refused_with(model, file, other, size - n + m, words);
    free(all);
    free(other);
}

static void configs_that_the_engine_cannot_do_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *model, *before, *after, *words;
    } row[] = {
        {"olmo_bf16", "\"clip_qkv\": null", "\"clip_qkv\": 8.0",
         "config.json: \"clip_qkv\" is 8.0"},
        {"neox", "GPTNeoXForCausalLM", "MambaForCausalLM", "[\"MambaForCausalLM\"]"},
        {"neox",
         "\"architectures\": [\n  \"GPTNeoXForCausalLM\"\n ],\n \"model_type\": \"gpt_neox\"",
         "\"model_type\": \"mamba\"", "\"model_type\" is \"mamba\""},
        {"neox", "\"architectures\": [\n  \"GPTNeoXForCausalLM\"\n ],\n \"model_type\"", "\"b\"",
         "has no \"architectures\""},
        {"neox", "}", ",}", "is not JSON in line"},
        {"neox", "{", "x{", "is not JSON in line"},
        {"neox", "\"hidden_size\": 24", "\"hidden_size\": \"24\"", "\"hidden_size\" is \"24\""},
        {"neox", "\"hidden_size\": 24", "\"hidden_size\": -3", "whole number"},
        {"neox", "\"hidden_size\": 24", "\"hidden_size\": 1e99", "whole number"},
        {"neox", "\"hidden_size\": 24", "\"hidden_size\": 26", "no multiple"},
        {"neox", "\"hidden_size\"", "\"hidden\"", "has no \"hidden_size\""},
        {"neox", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"",
         "\"hidden_act\" is \"relu\""},
        {"neox", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"silu\"",
         "\"hidden_act\" is \"silu\""},
        {"neox", "\"rotary_pct\": 0.7", "\"rotary_pct\": 0.5", "3 of the 6 dimensions"},
        {"neox", "\"rotary_pct\": 0.7", "\"rotary_pct\": 7", "rope_share is 7"},
        {"neox", "\"use_parallel_residual\": true", "\"use_parallel_residual\": 1",
         "true or false"},
        {"neox", "\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": 0", "norm_eps is 0"},
        {"neox", "\"vocab_size\": 40", "\"vocab_size\": 41",
         "[40, 24], and config.json says [41, 24]"},
        {"neox", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3",
         "no tensor gpt_neox.layers.2"},
        {"neox", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1",
         "has a tensor gpt_neox.layers.1"},
        {"neox", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true",
         "embed_out.weight differs"},
        {"llama_shards", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", "must divide"},
        {"llama_shards", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", "silu alone"},
        {"llama_shards", "\"rope_scaling\": null", "\"rope_scaling\": {\"rope_type\": \"llama3\"}",
         "\"rope_scaling\" is {\"rope_type\":\"llama3\"}"},
        {"llama_shards", "\"pretraining_tp\": 1", "\"head_dim\": 8", "\"head_dim\" is 8"},
        {"llama_shards", "\"pretraining_tp\": 1", "\"quantization_config\": {\"bits\": 4}",
         "\"quantization_config\" is {\"bits\":4}"},
        {"gpt2", "\"n_inner\": null", "\"scale_attn_by_inverse_layer_idx\": true",
         "\"scale_attn_by_inverse_layer_idx\" is true"},
        {"gpt2", "\"n_inner\": null", "\"scale_attn_weights\": false",
         "\"scale_attn_weights\" is false"},
        {"gpt2", "\"n_positions\": 32", "\"n_positions\": 33",
         "transformer.wpe.weight has the shape"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        refused_changed(row[i].model, "config.json", row[i].before, row[i].after, row[i].words);
    refused_with("neox", "config.json", "", 0, "is not JSON in line");
    refused_with("neox", "config.json", NULL, 0, "config.json cannot be read");
}

static void damaged_folders_are_refused(void **state)
{
    (void)state;
    static const char one[] = "model.safetensors", index[] = "model.safetensors.index.json";
    static const char second[] = "model-00002-of-00003.safetensors";
    static const struct {
        const char *model, *file, *before, *after, *words;
    } row[] = {
        {"neox", one, "embed_out.weight", "embed_xut.weight", "no tensor embed_out.weight"},
        {"neox", one, "[40, 24]", "[24, 40]", "gpt_neox.embed_in.weight has the shape [24, 40]"},
        {"neox", one, "F32", "I32", "is of dtype I32; F32, F16 and BF16"},
        {"neox", one, "F32", "F31", "is of dtype F31; F32, F16 and BF16 are read"},
        {"neox", one, "F32", "F16", "do not agree"},
        {"neox", one, "\"data_offsets\": [0, ", "\"data_offsets\": [4, ", "do not agree"},
        {"llama_shards", index, "weight_map", "weight_mop", "with a \"weight_map\""},
        {"llama_shards", index, "{", "[", "is no JSON object"},
        {"llama_shards", index, ": \"model-00001", ": \"../model-00001",
         "no name of a file in this folder"},
        {"llama_shards", index, "lm_head", "lm_hxad", "no tensor lm_head.weight"},
    };
    size_t size;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        refused_changed(row[i].model, row[i].file, row[i].before, row[i].after, row[i].words);
    unsigned char *all = slurp(data_path("neox/model.safetensors"), &size);
    refused_with("neox", one, all, 0, "fewer than 8 bytes");
    refused_with("neox", one, all, 5, "fewer than 8 bytes");
    refused_with("neox", one, all, 1000, "header is longer than the file");
    refused_with("neox", one, all, size - 4, "data_offsets outside of the file");
    refused_with("neox", one, all, size + 1, "bytes behind the last tensor");
    refused_with("neox", one, NULL, 0, "neither model.safetensors nor");
    free(all);
    all = slurp(data_path("llama_shards/model-00002-of-00003.safetensors"), &size);
    refused_with("llama_shards", second, all, size - 4, "outside of the file");
    refused_with("llama_shards", second, NULL, 0, "bring the missing file");
    free(all);
    shell("touch %s/copy-neox/pytorch_model.bin", home);
    refused_with("neox", one, NULL, 0, "a Python pickle that is not read");
}

/* One byte of one tensor made infinite. */
static void weights_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    char path[128];
    size_t size;
    static const unsigned char infinite[] = {0, 0, 0x80, 0x7f};
    snprintf(path, sizeof path, "%s/infinite.bin", home);
    unsigned char *all = slurp(data_path("llama2c_tied.bin"), &size);
    memcpy(all + 28 + 40, infinite, 4);
    spill(path, all, size);
    refused(path, "tensor token_embedding.weight holds inf");
    free(all);
}

static void damaged_llama2c_files_are_refused(void **state)
{
    (void)state;
    size_t size;
    char path[128], numbers[64];
    unsigned char *all = slurp(data_path("llama2c_tied.bin"), &size);
    static const struct {
        int at;
        int32_t value;
        const char *words;
    } row[] = {
        {0, 0, "dim in its header is 0"},
        {0, 25, "do not go together"},
        {0, 20, "do not go together"}, /* heads of 5: no pairs */
        {0, 48, "cut off"},
        {1, -1, "hidden_dim in its header is -1"},
        {2, 100000, "n_layers in its header is 100000"},
        {2, 1, "too long"},
        {3, 5, "do not go together"},
        {4, 3, "do not go together"},
        {5, INT32_MIN, "vocab_size in its header"},
        {5, -40, "cut off"},
        {6, 31, "too long"},
        {0, 0x616b3432, "llama2.c file of version 28"},
        {0, 0x04034b50, "Python pickle"},
    };
    snprintf(path, sizeof path, "%s/damaged.bin", home);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        unsigned char *bad = malloc(size);
        memcpy(bad, all, size);
        memcpy(bad + 4 * row[i].at, &row[i].value, 4);
        spill(path, bad, size);
        refused(path, row[i].words);
        free(bad);
    }
    spill(path, all, size - 1);
    snprintf(numbers, sizeof numbers, "has %zu bytes", size - 1);
    refused(path, numbers);
    snprintf(numbers, sizeof numbers, "asks for %zu; it is cut off", size);
    refused(path, numbers);
    spill(path, all, 27);
    refused(path, "has 27 bytes, fewer than the 28");
    spill(path, all, 0);
    refused(path, "has 0 bytes");
    refused("/nowhere/at-all.bin", "/nowhere/at-all.bin cannot be read");
    refused(data_path("neox/model.safetensors"), "give the folder that holds it");
    free(all);
}

/* Whatever byte of a file is another one, it is read or refused with a sentence: nothing outside
 * of it is touched (the sanitizer looks). */
static void any_bytes_are_read_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *model, *file;
        size_t most; /* bytes at its start that are changed; 0: all */
    } row[] = {
        {"neox_serial_f16", "/model.safetensors", 3000},
        {"neox_serial_f16", "/config.json", 0},
        {"llama_shards", "/model.safetensors.index.json", 0},
        {"llama2c_tied.bin", "", 28},
    };
    char path[128], file[256];
    lg_rng r;
    lg_rng_init(&r, 9, 0, 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        size_t size;
        snprintf(path, sizeof path, "%s/any", home);
        shell("rm -rf %s && cp -r %s %s && chmod -R u+w %s", path, data_path(row[i].model), path,
              path);
        snprintf(file, sizeof file, "%s%s", path, row[i].file);
        unsigned char *all = slurp(file, &size);
        for (int j = 0; j < 100; j++) {
            lg_error err = {0};
            size_t at = lg_rng_below(&r, (uint32_t)(row[i].most ? row[i].most : size));
            unsigned char was = all[at];
            all[at] ^= (unsigned char)(1u << lg_rng_below(&r, 8));
            spill(file, all, size);
            all[at] = was;
            lg_model *m = lg_import(path, NULL, &err);
            if (!m && (err.code >= 0 || !err.text[0])) fail_msg("refused without a sentence");
            lg_model_free(m);
        }
        free(all);
    }
}

/* Without memory, at any point, the answer is a sentence; nothing leaks (the sanitizer looks) and
 * no folder is left. */
static void no_memory_is_told(void **state)
{
    (void)state;
    static const char *const names[] = {"neox", "llama_shards", "llama2c_tied.bin"};
    for (int i = 0; i < 3; i++) {
        lg_model *m = NULL;
        long n = 0;
        for (; !m && n < 1000; n++) {
            lg_error err = {0};
            lg__alloc_fail_after(n);
            m = lg_import(data_path(names[i]), NULL, &err);
            lg__alloc_fail_after(-1);
            if (!m) assert_int_equal(err.code, LG_ERROR_MEMORY);
        }
        assert_true(n > 5);
        lg_model_free(m);
    }
    lg_model *m = random_model(lg_model_config_default(LG_ARCH_NEOX));
    char path[128];
    int e = -1;
    long n = 0;
    snprintf(path, sizeof path, "%s/short", home);
    for (; e && n < 1000; n++) {
        lg_error err = {0};
        assert_int_equal(access(path, F_OK), -1);
        lg__alloc_fail_after(n);
        e = lg_export(m, 64, path, &err);
        lg__alloc_fail_after(-1);
        if (e) assert_int_equal(err.code, LG_ERROR_MEMORY);
    }
    assert_true(n > 5);
    shell("test -z \"$(ls -d %s/*.part* 2>/dev/null)\"", home);
    lg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_logits_are_those_of_pytorch),
        cmocka_unit_test(halves_become_the_same_floats),
        cmocka_unit_test(the_tokenizer_is_found),
        cmocka_unit_test(newer_keys_mean_the_same),
        cmocka_unit_test(what_is_exported_comes_back_bit_by_bit),
        cmocka_unit_test(what_the_format_says_otherwise_is_the_same_function),
        cmocka_unit_test(what_the_formats_cannot_say_is_refused),
        cmocka_unit_test(a_full_folder_is_left_alone),
        cmocka_unit_test(configs_that_the_engine_cannot_do_are_refused),
        cmocka_unit_test(damaged_folders_are_refused),
        cmocka_unit_test(weights_that_are_no_numbers_are_refused),
        cmocka_unit_test(damaged_llama2c_files_are_refused),
        cmocka_unit_test(any_bytes_are_read_or_refused),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
