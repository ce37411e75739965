/* test_load.c: which files make a tokenizer. Without it a wrong, cut or changed file could give a
 * tokenizer that quietly says other tokens. Every refusal is one sentence that names the file. */
#include <math.h>

#include "making.h"

static char *read_all(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static void refused(const char *file, const char *words)
{
    lg_error err = {0};
    lg_tokenizer *t = lg_tokenizer_open(file, &err);
    if (t) fail_msg("%s was opened, not refused with \"%s\"", file, words);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    if (!strstr(err.text, file)) fail_msg("the file %s is not named in: %s", file, err.text);
}

/* tokenizer.json with one place changed. */
static void change(const char *from, const char *to)
{
    size_t n;
    char *text = read_all(DATA "plain.json", &n), *at = strstr(text, from);
    if (!at) fail_msg("%s is not in plain.json", from);
    FILE *f = fopen(in_home("changed.json"), "wb");
    assert_non_null(f);
    fwrite(text, 1, (size_t)(at - text), f);
    fputs(to, f);
    fputs(at + strlen(from), f);
    fclose(f);
    free(text);
}

static void changed_files_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"\"type\": \"BPE\"", "\"type\": \"Unigram\"", "model.type is Unigram"},
        {"\"dropout\": null", "\"dropout\": 0.1", "model.dropout is set"},
        {"\"unk_token\": null", "\"unk_token\": \"<unk>\"", "model.unk_token is set"},
        {"\"byte_fallback\": false", "\"byte_fallback\": true", "model.byte_fallback is set"},
        {"\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}",
         "normalizer is Lowercase"},
        {"\"type\": \"ByteLevel\"", "\"type\": \"Metaspace\"", "pre_tokenizer is Metaspace"},
        {"\"lstrip\": false", "\"lstrip\": true", "has lstrip"},
        {"\"single_word\": false", "\"single_word\": true", "has single_word"},
        {"\"id\": 0", "\"id\": 3", "gives otherwise"},
        {"\"id\": 0", "\"id\": 2000000000", "which cannot be"},
        {"\"id\": 0", "\"id\": 9223372036854775807", "which cannot be"},
        {"\"a\": 98,", "\"a\": 9223372036854775807,", "which cannot be"},
        {"\"content\": \"<|endoftext|>\"", "\"content\": \"\"", "no content"},
        {"\"<|endoftext|>\": 0", "\"<|endoftext|>\": 1", "same number"},
        {"\"<|endoftext|>\": 0", "\"<|endoftext|>\": -1", "not a whole one"},
        {"\"merges\": [", "\"joins\": [", "model.merges is missing"},
        {"\"merges\": [", "\"merges\": [\"a b c\",", "merge 1"},
        {"\"merges\": [", "\"merges\": [[\"a\"],", "merge 1"},
        {"\"merges\": [", "\"merges\": [\"q z\",", "merge 1, \"q\" with \"z\", has or makes"},
        {"\"post_processor\": {", "\"post_processor\": {\"type\": \"RobertaProcessing\"}, \"x\": {",
         "post_processor is RobertaProcessing and adds tokens"},
        {"\"post_processor\": {",
         "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": "
         "{\"id\": \"<s>\"}}, {\"Sequence\": {\"id\": \"A\"}}]}, \"x\": {",
         "post_processor is TemplateProcessing and adds tokens"},
        {"\"vocab\": {", "\"words\": {", "no model.vocab"},
        {"\"a\": 98,", "", "not in the vocabulary"},
        {"\"merges\": [", "\"merges\" [", "line"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change(cases[i].from, cases[i].to);
        refused(in_home("changed.json"), cases[i].words);
    }
    static const char *const same[][2] = {
        {"\"version\": \"1.0\"", "\"version\": \"1.1\""},
        {"\"post_processor\": {",
         "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": "
         "[{\"Sequence\": {\"id\": \"A\"}}]}, \"x\": {"},
    };
    for (int i = 0; i < 2; i++) {
        change(same[i][0], same[i][1]);
        lg_tokenizer *t = lg_tokenizer_open(in_home("changed.json"), NULL);
        assert_non_null(t); /* unchanged where it matters */
        lg_tokenizer_free(t);
    }
}

/* Whether a token of a .bin begins here: a file that is cut there looks whole. */
static int token_begins(const char *bin, size_t cut)
{
    int32_t length;
    size_t at = 4;
    for (; at < cut; at += 8 + (size_t)length) memcpy(&length, bin + at + 4, 4);
    return at == cut;
}

/* Cut anywhere else, a file is refused: it never makes a smaller tokenizer. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "cut.bin" : "cut.json";
        size_t n;
        char *text = read_all(k ? DATA "llama.bin" : DATA "plain.json", &n);
        for (size_t cut = 0; cut < n - 2; cut += 1 + n / 60) {
            if (k && token_begins(text, cut)) continue;
            put(name, text, cut);
            refused(in_home(name), k ? "llama2.c" : "not whole JSON");
        }
        free(text);
    }
    refused("/nowhere/tokenizer.json", "No such file");
    refused(home, "no tokenizer.json");
    refused(DATA "text.txt", "not whole JSON");
}

/* One of the merges, or half of them: the tokens that they would make are there and nothing makes them. */
static void lost_merges_are_refused(void **state)
{
    size_t n;
    char *text = read_all(DATA "plain.json", &n), *merges = strstr(text, "\"merges\": [");
    (void)state;
    assert_non_null(merges);
    char *line = strchr(merges + strlen(merges) / 2, '\n') + 1, *next = strchr(line, '\n') + 1;
    put("one.json", text, (size_t)(line - text));
    FILE *f = fopen(in_home("one.json"), "a");
    fputs(next, f);
    fclose(f);
    refused(in_home("one.json"), "merges are missing");
    char *comma = strchr(merges + strlen(merges) / 2, '\n');
    strcpy(comma - 1, "]}}"); /* in place of the comma */
    put("half.json", text, strlen(text));
    refused(in_home("half.json"), "merges are missing");
    free(text);
}

static void damaged_bins_are_refused(void **state)
{
    size_t n;
    char *bin = read_all(DATA "llama.bin", &n);
    float nan = NAN;
    (void)state;
    bin[4 + 8 + 5 + 8 + 5 + 8 + 6 + 8 + 2] = 'y'; /* in <0x00> */
    put("other.bin", bin, n);
    refused(in_home("other.bin"), "is not the byte 0x00");
    free(bin);
    bin = read_all(DATA "llama.bin", &n);
    memcpy(bin + 4, &nan, 4);
    put("nan.bin", bin, n);
    refused(in_home("nan.bin"), "not a number");
    free(bin);
}

/* Bytes changed at random: refused, or a tokenizer that works; never anything worse. */
static void damaged_files_do_no_harm(void **state)
{
    static const char *const files[] = {DATA "nfc.json", DATA "llama.bin"};
    int opened = 0;
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "damaged.bin" : "damaged.json";
        size_t n;
        char *whole = read_all(files[k], &n), *text = malloc(n);
        for (uint64_t i = 0; i < 300; i++) {
            lg_rng r;
            lg_rng_init(&r, 1, 4, i);
            memcpy(text, whole, n);
            for (uint32_t m = 1 + lg_rng_below(&r, 3); m; m--)
                text[lg_rng_below(&r, (uint32_t)n)] =
                    (char)(lg_rng_below(&r, 2) ? lg_rng_below(&r, 256)
                                               : '0' + lg_rng_below(&r, 10));
            put(name, text, n);
            lg_error err = {0};
            lg_tokenizer *t = lg_tokenizer_open(in_home(name), &err);
            assert_true(t || err.text[0]);
            const int32_t *tokens;
            size_t count, bytes;
            const char *back;
            if (t && lg_tokenizer_encode(t, whole, 3000, &tokens, &count, &err) == 0)
                opened += lg_tokenizer_decode(t, tokens, count, &back, &bytes, &err) == 0;
            lg_tokenizer_free(t);
        }
        free(whole);
        free(text);
    }
    assert_in_range(opened, 50, 550); /* both happen */
}

static uint64_t checksum_of(const char *file)
{
    lg_error err = {0};
    lg_tokenizer *t = lg_tokenizer_open(file, &err);
    if (!t) fail_msg("%s", err.text);
    uint64_t sum = lg_tokenizer_get_info(t).checksum;
    lg_tokenizer_free(t);
    return sum;
}

/* llama2.c's older files: without the first number, or with bytes as letters. */
static void older_bins_are_read(void **state)
{
    size_t n, used = 4;
    char *bin = read_all(DATA "llama.bin", &n), *old = calloc(1, n);
    (void)state;
    put("headless.bin", bin + 4, n - 4);
    assert_int_equal(checksum_of(in_home("headless.bin")), checksum_of(DATA "llama.bin"));
    memcpy(old, bin, 4);
    int token = 0;
    for (size_t at = 4; at < n; token++) {
        int32_t length;
        memcpy(&length, bin + at + 4, 4);
        unsigned byte = (unsigned)token - 3;
        int32_t letters = byte < 0x80 ? 1 : 2;
        memcpy(old + used, bin + at, 8 + (size_t)length);
        if (byte < 256) {
            memcpy(old + used + 4, &letters, 4);
            old[used + 8] = (char)(byte < 0x80 ? byte : 0xC0 | byte >> 6);
            old[used + 9] = (char)(0x80 | (byte & 0x3F));
        }
        used += 8 + (size_t)(byte < 256 ? letters : length);
        at += 8 + (size_t)length;
    }
    put("older.bin", old, used);
    assert_int_equal(checksum_of(in_home("older.bin")), checksum_of(DATA "llama.bin"));
    free(bin);
    free(old);
}

/* GPT-2's two files, made of plain.json; by the name of either, and by the folder. */
static void the_pair_is_read(void **state)
{
    size_t n, count, others;
    char *text = read_all(DATA "plain.json", &n);
    char *vocab = strstr(text, "\"vocab\": {") + 9, *merges = strstr(text, "\"merges\": [") + 11;
    (void)state;
    put("encoder.json", vocab, (size_t)(strstr(vocab, "\n    }") + 6 - vocab));
    refused(in_home("encoder.json"), "vocab.bpe");
    FILE *f = fopen(in_home("vocab.bpe"), "wb");
    fputs("#version: 0.2\n", f);
    for (char *at = merges; (at = strchr(at, '"')) && at < strstr(merges, "\n    ]"); at++) {
        for (at++; *at != '"'; at++) {
            at += *at == '\\';
            fputc(*at, f);
        }
        fputc('\n', f);
    }
    fclose(f);
    lg_tokenizer *one = lg_tokenizer_open(DATA "plain.json", NULL);
    static const char *const names[] = {"encoder.json", "vocab.bpe", ""};
    for (int i = 0; i < 3; i++) {
        lg_error err = {0};
        lg_tokenizer *t = lg_tokenizer_open(in_home(names[i]), &err);
        const int32_t *a, *b;
        if (!t) fail_msg("%s", err.text);
        assert_int_equal(lg_tokenizer_encode(one, merges, 2000, &a, &count, NULL), 0);
        assert_int_equal(lg_tokenizer_encode(t, merges, 2000, &b, &others, NULL), 0);
        assert_int_equal(count, others);
        assert_memory_equal(a, b, count * sizeof *a);
        assert_int_equal(lg_tokenizer_get_info(t).end, 0);
        lg_tokenizer_free(t);
    }
    lg_tokenizer_free(one);
    free(text);
}

/* A vocabulary of nearly only a, aa, aaa, ..: two of them make a third, in many ways. */
static void a_pair_may_have_more_merges_than_tokens(void **state)
{
    enum { LETTERS = 95, RUN = 60 };
    char as[RUN + 1];
    (void)state;
    memset(as, 'a', RUN);
    as[RUN] = '\0';
    FILE *f = fopen(in_home("vocab.json"), "wb");
    assert_non_null(f);
    fputs("{\"\304\240\": 0", f); /* the letter of a space */
    for (int i = 1; i < LETTERS; i++)
        fprintf(f, ", \"%s%c\": %d", i + ' ' == '"' || i + ' ' == '\\' ? "\\" : "", i + ' ', i);
    for (int n = 2; n <= RUN; n++) fprintf(f, ", \"%.*s\": %d", n, as, LETTERS + n - 2);
    fputs("}", f);
    fclose(f);
    f = fopen(in_home("merges.txt"), "wb");
    assert_non_null(f);
    for (int n = 2; n <= RUN; n++)
        for (int i = 1; i < n; i++) fprintf(f, "%.*s %.*s\n", i, as, n - i, as);
    fclose(f);
    lg_error err = {0};
    const int32_t *tokens;
    size_t count;
    lg_tokenizer *t = lg_tokenizer_open(in_home("vocab.json"), &err);
    if (!t) fail_msg("%s", err.text);
    assert_int_equal(lg_tokenizer_encode(t, as, RUN, &tokens, &count, NULL), 0);
    lg_tokenizer_free(t);
    f = fopen(in_home("merges.txt"), "wb");
    fwrite("a a\0x\n", 1, 6, f); /* a zero is part of no token */
    fclose(f);
    refused(in_home("merges.txt"), "not two tokens");
}

/* What a tokenizer is called by: the same of the same, another of one that encodes otherwise. */
static void checksums_tell_tokenizers_apart(void **state)
{
    (void)state;
    change("\"version\": \"1.0\"", "\"version\": \"2\"");
    assert_int_equal(checksum_of(in_home("changed.json")), checksum_of(DATA "plain.json"));
    change("\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}");
    assert_int_not_equal(checksum_of(in_home("changed.json")), checksum_of(DATA "plain.json"));
    change("\"add_prefix_space\": false", "\"add_prefix_space\": true");
    assert_int_not_equal(checksum_of(in_home("changed.json")), checksum_of(DATA "plain.json"));
    change("\"normalized\": false", "\"normalized\": true"); /* found later, else the same */
    assert_int_not_equal(checksum_of(in_home("changed.json")), checksum_of(DATA "plain.json"));
    assert_int_not_equal(checksum_of("bytes"), checksum_of(DATA "plain.json"));
}

/* No memory, at any of the places where it is asked for: a refusal, and nothing lost or kept. */
static void without_memory_it_is_refused(void **state)
{
    static const char *const files[] = {DATA "nfc.json", DATA "llama.bin", "bytes"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        lg_tokenizer *t = NULL;
        long fails = 0;
        for (; !t && fails < 200; fails++) {
            lg_error err = {0};
            lg__alloc_fail_after(fails);
            t = lg_tokenizer_open(files[k], &err);
            lg__alloc_fail_after(-1);
            if (!t) assert_int_equal(err.code, LG_ERROR_MEMORY);
        }
        assert_in_range(fails, 4, 199);
        lg_tokenizer_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_files_are_refused),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(lost_merges_are_refused),
        cmocka_unit_test(damaged_bins_are_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(older_bins_are_read),
        cmocka_unit_test(the_pair_is_read),
        cmocka_unit_test(a_pair_may_have_more_merges_than_tokens),
        cmocka_unit_test(checksums_tell_tokenizers_apart),
        cmocka_unit_test(without_memory_it_is_refused),
    };
    return cmocka_run_group_tests(tests, new_home, remove_home);
}
