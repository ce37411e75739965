/* test_limits.c: small files that would take much memory or time. Without it a token of a megabyte
 * could take a gigabyte, a few long ones half a minute, and a packed line all memory there is. */
#include <zlib.h>

#include "base/peak.h"
#include "making.h"

/* plain.json with tokens added, ADDED of them, each `bytes` long. */
static void put_added(const char *name, int added, int bytes)
{
    FILE *from = fopen(DATA "plain.json", "rb"), *to = fopen(in_home(name), "wb");
    char text[1 << 16];
    assert_true(from && to);
    size_t n = fread(text, 1, sizeof text - 1, from);
    text[n] = 0;
    char *at = strstr(text, "\"added_tokens\": [");
    assert_non_null(at);
    at += strlen("\"added_tokens\": [");
    fwrite(text, 1, (size_t)(at - text), to);
    for (int i = 0; i < added; i++) {
        fprintf(to, "{\"id\": %d, \"content\": \"", 1000 + i);
        for (int k = fprintf(to, "<%d>", i); k < bytes; k++) fputc('x', to);
        fputs("\", \"normalized\": false},\n", to);
    }
    fputs(at, to);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static int open_tokenizer(const void *path, lg_error *err)
{
    lg_tokenizer *t = lg_tokenizer_open(path, err);
    lg_tokenizer_free(t);
    return t ? 0 : err->code;
}

static void check_peak(long megabytes, long most, const lg_error *err)
{
    if (megabytes > most)
        fail_msg("%ld MB were used, %ld should be enough; %s", megabytes, most, err->text);
}

static void a_long_added_token_is_refused(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    put_added("longest.json", 1, LG__TOKEN_BYTES);
    if (peak_of(open_tokenizer, in_home("longest.json"), &err, &megabytes))
        fail_msg("%s", err.text);
    put_added("too-long.json", 1, LG__TOKEN_BYTES + 1);
    assert_int_not_equal(peak_of(open_tokenizer, in_home("too-long.json"), &err, &megabytes), 0);
    says(&err, "added token \"<0>xxx");
    says(&err, "has 1025 bytes");
    says(&err, in_home("too-long.json"));
    put_added("megabyte.json", 1, 1 << 20);
    assert_int_not_equal(peak_of(open_tokenizer, in_home("megabyte.json"), &err, &megabytes), 0);
    check_peak(megabytes, 40, &err);
}

/* Parsed, each of its empty lists would take fifty times its bytes. */
static void a_tokenizer_of_many_values_is_refused(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    FILE *f = fopen(in_home("values.json"), "wb");
    assert_non_null(f);
    fputs("{\"model\": [[]", f);
    for (int i = 0; i < 10000000; i++) fputs(",[]", f);
    fputs("]}", f);
    assert_int_equal(fclose(f), 0);
    assert_int_not_equal(peak_of(open_tokenizer, in_home("values.json"), &err, &megabytes), 0);
    says(&err, "values.json has over 8000000 values");
    check_peak(megabytes, 150, &err);
}

/* A file of 4 MB: a node of a trie is not a kilobyte. */
static void many_added_tokens_take_little(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    put_added("many.json", 50000, 40);
    if (peak_of(open_tokenizer, in_home("many.json"), &err, &megabytes)) fail_msg("%s", err.text);
    check_peak(megabytes, 150, &err);
    lg_tokenizer *t = lg_tokenizer_open(in_home("many.json"), &err);
    assert_int_equal(lg_tokenizer_get_info(t).checksum,
                     0x2027c528ed170752); /* as runs have it in their configs */
    const int32_t *tokens;
    size_t n;
    char text[64] = "<49999>";
    for (int i = 7; i < 40; i++) text[i] = 'x';
    assert_non_null(t);
    assert_int_equal(lg_tokenizer_encode(t, text, 40, &tokens, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(tokens[0], 1000 + 49999);
    assert_int_equal(lg_tokenizer_encode(t, text, 39, &tokens, &n, &err), 0);
    assert_true(n > 1);
    lg_tokenizer_free(t);
}

/* llama2.c's tokenizer with eight long tokens. */
static void put_bin(const char *name, int32_t bytes)
{
    FILE *f = fopen(in_home(name), "wb");
    char *text = malloc((size_t)bytes);
    float score = 0;
    assert_true(f && text);
    fwrite(&bytes, 4, 1, f);
    for (int i = 0; i < 268; i++) {
        static const char *const names[] = {"<unk>", "<s>", "</s>"};
        char piece[16] = " ";
        int32_t n = 1;
        if (i < 3) n = snprintf(piece, sizeof piece, "%s", names[i]);
        if (i >= 3 && i < 259) n = snprintf(piece, sizeof piece, "<0x%02X>", i - 3);
        if (i > 259) n = bytes;
        memset(text, 'a' + i - 260, (size_t)bytes);
        fwrite(&score, 4, 1, f);
        fwrite(&n, 4, 1, f);
        fwrite(i > 259 ? text : piece, 1, (size_t)n, f);
    }
    assert_int_equal(fclose(f), 0);
    free(text);
}

/* All cuts of a token are looked up, so that the time grows with the square of its length. */
static void a_long_token_of_a_bin_is_refused(void **state)
{
    lg_error err = {0};
    (void)state;
    put_bin("longest.bin", LG__TOKEN_BYTES);
    if (open_tokenizer(in_home("longest.bin"), &err)) fail_msg("%s", err.text);
    put_bin("too-long.bin", LG__TOKEN_BYTES + 1);
    assert_int_not_equal(open_tokenizer(in_home("too-long.bin"), &err), 0);
    says(&err, "has a token of 1025 bytes");
    says(&err, in_home("too-long.bin"));
    put_bin("slow.bin", 1 << 16); /* half a minute, if it were read */
    assert_int_not_equal(open_tokenizer(in_home("slow.bin"), &err), 0);
    says(&err, "has a token of 65536 bytes");
}

static int pass_over(void *context, const struct lg__piece *p, lg_error *err)
{
    (void)context;
    (void)p;
    (void)err;
    return 0;
}

static int read_documents(const void *path, lg_error *err)
{
    const char *paths[] = {path};
    struct lg__sources s;
    int e = lg__sources_find(&s, paths, 1, err);
    if (e) return e;
    e = lg__documents(&s, NULL, pass_over, NULL, err);
    lg__sources_free(&s);
    return e;
}

/* A short line, and one of so many MB in a text that is not ended. */
static void put_packed(const char *name, int megabytes)
{
    char *part = malloc(1 << 20);
    gzFile f = gzopen(in_home(name), "wb1");
    assert_true(part && f);
    memset(part, 'a', 1 << 20);
    gzputs(f, "{\"text\": \"a\"}\n{\"text\": \"");
    for (int i = 0; i < megabytes; i++) assert_int_equal(gzwrite(f, part, 1 << 20), 1 << 20);
    gzputs(f, "\"}\n");
    assert_int_equal(gzclose(f), Z_OK);
    free(part);
}

static void an_endless_line_is_refused(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    put_packed("long.jsonl.gz", LG__LINE_BYTES / (1 << 20) - 1);
    if (peak_of(read_documents, in_home("long.jsonl.gz"), &err, &megabytes))
        fail_msg("%s", err.text);
    put_packed("bomb.jsonl.gz", 300); /* 1.4 MB */
    assert_int_not_equal(peak_of(read_documents, in_home("bomb.jsonl.gz"), &err, &megabytes), 0);
    says(&err, in_home("bomb.jsonl.gz"));
    says(&err, "line 2 has more than 64 MiB");
    check_peak(megabytes, 200, &err); /* while the buffer grows, there are two */
}

/* A line within the limit: parsed, each of its empty lists would take fifty times its bytes. */
static void a_line_of_many_values_is_refused(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    gzFile f = gzopen(in_home("values.jsonl.gz"), "wb1");
    assert_non_null(f);
    gzputs(f, "{\"text\": \"a\"}\n{\"text\": \"[[[[,,,,\\\"[,\", \"more\": [[]");
    for (int i = 0; i < 15000000; i++) gzwrite(f, ",[]", 3);
    gzputs(f, "]}\n");
    assert_int_equal(gzclose(f), Z_OK);
    assert_int_not_equal(peak_of(read_documents, in_home("values.jsonl.gz"), &err, &megabytes), 0);
    says(&err, in_home("values.jsonl.gz"));
    says(&err, "line 2 has over 1000000 values");
    check_peak(megabytes, 200, &err);
    char *text = malloc(4 << 20); /* what a text says is not counted */
    assert_non_null(text);
    memset(text, ',', 4 << 20);
    memcpy(text, "{\"text\": \"", 10);
    memcpy(text + (4 << 20) - 3, "\"}\n", 3);
    put("commas.jsonl", text, 4 << 20);
    free(text);
    if (read_documents(in_home("commas.jsonl"), &err)) fail_msg("%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_added_token_is_refused),
        cmocka_unit_test(a_tokenizer_of_many_values_is_refused),
        cmocka_unit_test(many_added_tokens_take_little),
        cmocka_unit_test(a_long_token_of_a_bin_is_refused),
        cmocka_unit_test(an_endless_line_is_refused),
        cmocka_unit_test(a_line_of_many_values_is_refused),
    };
    return cmocka_run_group_tests(tests, new_home, remove_home);
}
