/* test_import_limits.c: small files of published weights that would take much memory. Without it an
 * index, a header or a config of some megabytes could take gigabytes before it is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/peak.h"
#include "helpers/home.h"
#include "lengthen_lab.h"

static const char CONFIG[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"vocab_size\": 8,"
    "\"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 1,"
    "\"intermediate_size\": 8, \"max_position_embeddings\": 8, \"hidden_act\": \"silu\","
    "\"rms_norm_eps\": 1e-5}";

static FILE *create(const char *name)
{
    FILE *f = fopen(in_home(name), "wb");
    if (!f) fail_msg("%s cannot be made", in_home(name));
    return f;
}

static void put_config(void)
{
    FILE *f = create("config.json");
    fputs(CONFIG, f);
    assert_int_equal(fclose(f), 0);
}

/* An index of so many tensors, all in one file. */
static void put_index(int names)
{
    FILE *f = create("model.safetensors.index.json");
    fputs("{\"weight_map\": {", f);
    for (int i = 0; i < names; i++) fprintf(f, "%s\"w%d\":\"a.safetensors\"", i ? "," : "", i);
    fputs("}}", f);
    assert_int_equal(fclose(f), 0);
}

static int import(const void *folder, lg_error *err)
{
    lg_model *m = lg_import(folder, NULL, err);
    lg_model_free(m);
    return m ? 0 : err->code;
}

static void refused(const char *words, long most)
{
    lg_error err;
    long megabytes;
    assert_int_not_equal(peak_of(import, home, &err, &megabytes), 0);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    if (megabytes > most)
        fail_msg("%ld MB were used, %ld should be enough: %s", megabytes, most, err.text);
}

static void an_index_of_many_names_takes_little(void **state)
{
    (void)state;
    put_config();
    put_index(100000); /* 2.6 MB */
    refused("a.safetensors cannot be read", 80);
    put_index(500000); /* 13 MB */
    refused("model.safetensors.index.json has", 40);
}

static void a_header_of_many_tensors_is_refused(void **state)
{
    (void)state;
    put_config();
    FILE *f = create("model.safetensors");
    uint64_t length = 0;
    fwrite(&length, 1, sizeof length, f);
    for (int i = 0; i < 500000; i++)
        fprintf(f, "%c\"t%d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}",
                i ? ',' : '{', i);
    fputc('}', f);
    length = (uint64_t)ftell(f) - sizeof length;
    rewind(f);
    fwrite(&length, 1, sizeof length, f); /* little-endian, as the reader asserts */
    assert_int_equal(fclose(f), 0);
    refused("its header has", 40);
}

static void a_config_of_many_values_is_refused(void **state)
{
    (void)state;
    FILE *f = create("config.json");
    fputs("{\"a\": [[]", f);
    for (int i = 0; i < 3000000; i++) fputs(",[]", f);
    fputs("]}", f);
    assert_int_equal(fclose(f), 0);
    refused("config.json has", 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_index_of_many_names_takes_little, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_header_of_many_tensors_is_refused, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_config_of_many_values_is_refused, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
