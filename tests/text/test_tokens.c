/* test_tokens.c: the tokens that a text becomes. Without it they could differ from those of the
 * published tokenizers, so that a published model would read something else than it was trained on;
 * or a text could come back changed. The expected tokens are those of other programs
 * (tests/data/make_tokens.mjs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/text.h"

#define DATA LG_TEST_DATA "/tokens/"

static lg_tokenizer *must_open(const char *file)
{
    lg_error err = {0};
    lg_tokenizer *t = lg_tokenizer_open(file, &err);
    if (!t) fail_msg("%s", err.text);
    return t;
}

/* ---- The table ------------------------------------------------------------------------------ */

static size_t from_hex(char *to, const char *hex)
{
    size_t n = 0;
    for (; hex[2 * n] && hex[2 * n + 1]; n++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * n, "%2x", &byte), 1);
        to[n] = (char)byte;
    }
    return n;
}

static size_t numbers(int32_t *to, const char *text)
{
    size_t n = 0;
    char *end;
    for (long v = strtol(text, &end, 10); end != text; v = strtol(text = end, &end, 10))
        to[n++] = (int32_t)v;
    return n;
}

/* Every line of the table for this tokenizer; how many there are. */
static int check_table(lg_tokenizer *t, const char *name, int round_trip)
{
    static char line[1 << 16], text[1 << 15];
    static int32_t expected[1 << 15];
    FILE *f = fopen(DATA "cases.tsv", "r");
    int cases = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *hex = strchr(line, '\t'), *tokens = hex ? strchr(hex + 1, '\t') : NULL;
        if (*line == '#') continue;
        assert_non_null(tokens);
        *hex++ = *tokens++ = '\0';
        if (strcmp(line, name) != 0) continue;
        size_t n = from_hex(text, hex), want = numbers(expected, tokens), count, bytes;
        const int32_t *got;
        const char *back;
        assert_int_equal(lg_tokenizer_encode(t, text, n, &got, &count, NULL), 0);
        int same = count == want && memcmp(got, expected, want * sizeof *got) == 0;
        if (!same) fail_msg("%s: other tokens for the text %s, expected %s", name, hex, tokens);
        assert_int_equal(lg_tokenizer_decode(t, expected, want, &back, &bytes, NULL), 0);
        if (round_trip && (bytes != n || memcmp(back, text, n) != 0))
            fail_msg("%s: the text %s came back changed", name, hex);
        cases++;
    }
    fclose(f);
    return cases;
}

static void tokens_are_those_of_other_programs(void **state)
{
    static const struct {
        const char *file;
        int round_trip; /* not with NFC, nor with a space put before the text */
    } cases[] = {{"plain.json", 1}, {"nfc.json", 0}, {"prefix.json", 0}, {"llama.bin", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s", cases[i].file);
        lg_tokenizer *t = must_open(path);
        assert_true(check_table(t, cases[i].file, cases[i].round_trip) > 100);
        /* And again with every word in the cache. */
        assert_true(check_table(t, cases[i].file, cases[i].round_trip) > 100);
        lg_tokenizer_free(t);
    }
}

/* ---- Round trips ---------------------------------------------------------------------------- */

static void comes_back(lg_tokenizer *t, const char *text, size_t n)
{
    const int32_t *tokens;
    size_t count, bytes;
    const char *back;
    lg_error err = {0};
    if (lg_tokenizer_encode(t, text, n, &tokens, &count, &err)) fail_msg("%s", err.text);
    if (lg_tokenizer_decode(t, tokens, count, &back, &bytes, &err)) fail_msg("%s", err.text);
    assert_int_equal(bytes, n);
    if (n) assert_memory_equal(back, text, n);
}

/* Bytes of any kind: uniform ones, letters of UTF-8 cut anywhere, runs of one byte. */
static size_t random_bytes(char *text, size_t most, uint64_t index)
{
    static const char *const parts[] = {
        "the model ", "\xF0\x9F\xA4\x96", "\xC3\xA9", "e\xCC\x81", "\xE4\xB8",
        "\n\n",       "<|endoftext|>",    "'ll",      "  ",        "\xFF"};
    lg_rng r;
    lg_rng_init(&r, 7, 1, index);
    size_t n = 0, want = lg_rng_below(&r, (uint32_t)most - 20);
    while (n < want) {
        uint32_t kind = lg_rng_below(&r, 3);
        const char *part = parts[lg_rng_below(&r, sizeof parts / sizeof *parts)];
        if (kind == 0) text[n++] = (char)lg_rng_below(&r, 256);
        for (uint32_t i = lg_rng_below(&r, 9); kind == 1 && i; i--)
            text[n] = text[n ? n - 1 : 0], n++;
        for (; kind == 2 && *part; part++) text[n++] = *part;
    }
    return n;
}

static void any_bytes_come_back(void **state)
{
    static const char *const names[] = {"bytes", DATA "plain.json", DATA "llama.bin"};
    static char text[4096];
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        lg_tokenizer *t = must_open(names[k]);
        for (uint64_t i = 0; i < 2000; i++)
            comes_back(t, text, random_bytes(text, i % 50 ? 200 : 4000, i));
        for (int i = 0; i < 256; i++) comes_back(t, &(char){(char)i}, 1);
        comes_back(t, "", 0);
        lg_tokenizer_free(t);
    }
}

/* More words than the table of words seen lately has places for. */
static void words_do_not_take_the_place_of_others(void **state)
{
    lg_tokenizer *t = must_open(DATA "plain.json");
    char text[40];
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100000; i++) {
            static const char letters[] = "etaoinsrhldcumfp";
            size_t n = (size_t)sprintf(text, " %.*s", 1 + i % 24, "thethethethethethethethethe");
            for (int v = i; v; v /= 16) text[n++] = letters[v % 16];
            comes_back(t, text, n);
        }
    lg_tokenizer_free(t);
}

/* With NFC what comes back is the normalised text, and that comes back as it is. */
static void normalised_text_comes_back(void **state)
{
    lg_tokenizer *t = must_open(DATA "nfc.json");
    static const char text[] = "e\xCC\x81t\xC3\xA9 \xE2\x84\xAB a\xCC\x88\xCC\x84!";
    static const char normal[] = "\xC3\xA9t\xC3\xA9 \xC3\x85 \xC7\x9F!";
    const int32_t *tokens;
    const char *back;
    size_t count, n;
    (void)state;
    assert_int_equal(lg_tokenizer_encode(t, text, sizeof text - 1, &tokens, &count, NULL), 0);
    assert_int_equal(lg_tokenizer_decode(t, tokens, count, &back, &n, NULL), 0);
    assert_int_equal(n, sizeof normal - 1);
    assert_memory_equal(back, normal, n);
    comes_back(t, normal, sizeof normal - 1);
    comes_back(t, "half a letter: \xE4\xB8, and \x80", 24); /* not UTF-8: stays as it is */
    lg_tokenizer_free(t);
}

/* A part of a text that goes on: no space before it, but one before what follows an added token. */
static void parts_of_a_text_go_on(void **state)
{
    static const char *const texts[] = {" a<|endoftext|>b", " a||b"}; /* found before, after NFC */
    lg_tokenizer *t = must_open(DATA "prefix.json");
    (void)state;
    for (int k = 0; k < 2; k++) {
        const int32_t *tokens;
        size_t count, n;
        int32_t whole[20];
        assert_int_equal(
            lg__tokenizer_encode(t, texts[k], strlen(texts[k]), 1, &tokens, &count, NULL), 0);
        assert_in_range(count, 3, 20);
        memcpy(whole, tokens, count * sizeof *whole);
        assert_int_equal(lg__tokenizer_encode(t, texts[k], strlen(texts[k]), 0, &tokens, &n, NULL),
                         0);
        assert_int_equal(n, count);
        assert_memory_equal(tokens, whole, n * sizeof *whole);
        assert_int_equal(lg__tokenizer_encode(t, "a", 1, 0, &tokens, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_int_equal(tokens[0], 1 + 'a');
    }
    lg_tokenizer_free(t);
}

/* Surrogates, letters that are too long, cut or beyond the last: not UTF-8. */
static void utf8_is_told_apart(void **state)
{
    static const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        {"ab", 2},
        {"a\xC3\xA9", 3},
        {"\xC3", 0},
        {"a\x80", 1},
        {"\xC0\xAF", 0},
        {"\xC1\xBF", 0},
        {"\xC2\x80", 2},
        {"\xE0\x9F\xBF", 0},
        {"\xE0\xA0\x80", 3},
        {"\xED\x9F\xBF", 3},
        {"\xED\xA0\x80", 0},
        {"\xEE\x80\x80", 3},
        {"\xE4\xB8", 0},
        {"\xF0\x8F\xBF\xBF", 0},
        {"\xF0\x90\x80\x80", 4},
        {"\xF4\x8F\xBF\xBF", 4},
        {"\xF4\x90\x80\x80", 0},
        {"\xF5\x80\x80\x80", 0},
        {"\xFF", 0},
        {"12345678\xC3\xA9"
         "12345678\xC3",
         18},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int high;
        assert_int_equal(lg__utf8_valid(cases[i].text, strlen(cases[i].text), &high),
                         cases[i].valid);
    }
}

/* A vocabulary without the bytes that UTF-8 never has says so, instead of losing them. */
static void a_byte_without_token_is_refused(void **state)
{
    lg_tokenizer *t = must_open(DATA "nfc.json");
    lg_error err = {0};
    const int32_t *tokens;
    size_t count;
    (void)state;
    assert_int_equal(lg_tokenizer_encode(t, "a\xFF", 2, &tokens, &count, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "0xff"));
    const char *back;
    size_t n;
    assert_int_equal(lg_tokenizer_decode(t, &(int32_t){476}, 1, &back, &n, &err),
                     LG_ERROR_ARGUMENT);
    assert_int_equal(lg_tokenizer_decode(t, &(int32_t){-1}, 1, &back, &n, &err), LG_ERROR_ARGUMENT);
    lg_tokenizer_free(t);
}

/* ---- Merging ---------------------------------------------------------------------------------- */

/* The definition: the pair of least rank, of equals the leftmost, one at a time. */
static size_t merge_plainly(uint32_t rank[8][8], int32_t made[8][8], int32_t *token, size_t n)
{
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (rank[token[i]][token[i + 1]] &&
                (best == n || rank[token[i]][token[i + 1]] < rank[token[best]][token[best + 1]]))
                best = i;
        if (best == n) return n;
        token[best] = made[token[best]][token[best + 1]];
        memmove(token + best + 1, token + best + 2, (n - best - 2) * sizeof *token);
        n--;
    }
}

/* Short words are merged by looking at all pairs, long ones with a heap: both as defined, with
 * tables in which ranks are equal and what is made may be merged before what is waiting. */
static void merges_are_as_defined(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 400; round++) {
        lg_rng r;
        uint32_t rank[8][8] = {{0}};
        int32_t made[8][8] = {{0}}, token[300], copy[300];
        struct lg__merges m;
        lg_rng_init(&r, 1, 2, round);
        assert_int_equal(lg__merges_new(&m, 64, NULL), 0);
        for (int32_t a = 0; a < 8; a++)
            for (int32_t b = 0; b < 8; b++)
                if (lg_rng_below(&r, 3) == 0) {
                    rank[a][b] = 1 + lg_rng_below(&r, 12);
                    made[a][b] = (int32_t)lg_rng_below(&r, 8);
                    lg__merges_add(&m, a, b, rank[a][b], made[a][b]);
                }
        size_t n = round % 2 ? 1 + lg_rng_below(&r, 64) : 65 + lg_rng_below(&r, 230), kept = n;
        for (size_t i = 0; i < n; i++) copy[i] = token[i] = (int32_t)lg_rng_below(&r, 8);
        assert_int_equal(lg__merge(&m, token, &kept, NULL), 0);
        size_t want = merge_plainly(rank, made, copy, n);
        assert_int_equal(kept, want);
        assert_memory_equal(token, copy, want * sizeof *token);
        lg__merges_free(&m);
    }
}

/* ---- Words -------------------------------------------------------------------------------------- */

/* Most words of ASCII are found without the pattern: they are the same. */
static void quick_words_are_the_patterns(void **state)
{
    static const char *const letters[] = {"a", "b", "Z",  "1",    "2",        " ",
                                          " ", "'", "s",  "t",    "l",        "re",
                                          ".", "!", "\n", "\x01", "\xC3\xA9", "\xE2\x80\x9C"};
    lg_error err;
    struct lg__split *s = lg__split_new(&err);
    (void)state;
    assert_non_null(s);
    for (uint64_t i = 0; i < 20000; i++) {
        char text[64] = "";
        lg_rng r;
        lg_rng_init(&r, 1, 3, i);
        for (uint32_t n = 1 + lg_rng_below(&r, 9); n; n--)
            strcat(text, letters[lg_rng_below(&r, sizeof letters / sizeof *letters)]);
        assert_int_equal(lg__split_word(s, text, strlen(text)),
                         lg__split_pattern(s, text, strlen(text)));
    }
    lg__split_free(s);
}

static void added_tokens_are_the_leftmost_and_longest(void **state)
{
    struct lg__added a = {0};
    size_t bytes = 0;
    int32_t token = 0;
    (void)state;
    assert_int_equal(lg__added_put(&a, "ab", 2, 1, NULL), 0);
    assert_int_equal(lg__added_put(&a, "abcd", 4, 2, NULL), 0);
    assert_int_equal(lg__added_put(&a, "bcx", 3, 3, NULL), 0);
    assert_int_equal(lg__added_find(&a, "xabcx", 5, 0, &bytes, &token), 1);
    assert_int_equal(token, 1); /* leftmost before longest */
    assert_int_equal(bytes, 2);
    assert_int_equal(lg__added_find(&a, "xabcdx", 6, 0, &bytes, &token), 1);
    assert_int_equal(token, 2);
    assert_int_equal(bytes, 4);
    assert_int_equal(lg__added_find(&a, "xabcdx", 6, 2, &bytes, &token), 6);
    assert_int_equal(lg__added_find(&a, "ab", 2, 0, &bytes, &token), 0);
    assert_int_equal(lg__added_find(&a, "xa", 2, 0, &bytes, &token), 2);
    lg__added_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_other_programs),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(words_do_not_take_the_place_of_others),
        cmocka_unit_test(normalised_text_comes_back),
        cmocka_unit_test(parts_of_a_text_go_on),
        cmocka_unit_test(utf8_is_told_apart),
        cmocka_unit_test(a_byte_without_token_is_refused),
        cmocka_unit_test(merges_are_as_defined),
        cmocka_unit_test(quick_words_are_the_patterns),
        cmocka_unit_test(added_tokens_are_the_leftmost_and_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
