/* test_cli_tokenizer.c: `lengthen tokenizer` as a user runs it: what it prints, what it refuses, and
 * that a text comes back through encode and decode. */
#include "running.h"

#define TOKENS LG_TEST_DATA "/tokens/"
#define BOTH "2>&1"
#define STDOUT "2>/dev/null"

static int run(const char *arguments, const char *after)
{
    return run_program("", arguments, after);
}

static void learns_and_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("tokenizer train " TOKENS "text.txt -o my.json --vocab 480", BOTH), 0);
    prints("my.json: 480 tokens, learned from 1 documents");
    assert_int_equal(run_program("cmp my.json " TOKENS "plain.json &&", "--version", STDOUT), 0);
    assert_int_equal(run("tokenizer train " TOKENS "text.txt -o my.json --vocab 9000 --json", BOTH),
                     0);
    prints("{\"file\":\"my.json\",\"vocab\":");
    prints("\"documents\":1,\"bytes\":");
    assert_int_equal(run("tokenizer train " TOKENS "text.txt -o my.json --vocab 9000", BOTH), 0);
    prints("fewer tokens than 9000");
}

static void shows_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(run("tokenizer show " TOKENS "nfc.json", BOTH), 0);
    prints("kind        byte-level BPE\ntokens      476, from 0 to 475\n");
    prints("bytes       243 of 256 have a token\nnormalises  NFC\nend         0 <|endoftext|>\n");
    assert_int_equal(run("tokenizer show " TOKENS "llama.bin --json", BOTH), 0);
    prints("{\"kind\":\"BPE by scores (llama2.c)\",");
    prints("\"begin\":1,\"end\":-1,");
    assert_int_equal(run("tokenizer show bytes 65 10 92 255", BOTH), 0);
    assert_string_equal(out, "65      A\n10      \\n\n92      \\\\\n255     \\xFF\n");
    assert_int_equal(run("tokenizer show bytes 65 --json", BOTH), 0);
    assert_string_equal(out, "{\"token\":65,\"hex\":\"41\"}\n");
    assert_int_equal(run("tokenizer show bytes 257", BOTH), 2);
    prints("there is no token 257; they are 0 to 256");
}

static void text_comes_back(void **state)
{
    (void)state;
    assert_int_equal(run("tokenizer encode bytes --string 'Hi!'", BOTH), 0);
    assert_string_equal(out, "72 105 33\n");
    assert_int_equal(run("tokenizer encode bytes --string 'Hi!' --json", BOTH), 0);
    assert_string_equal(out, "{\"bytes\":3,\"count\":3,\"tokens\":[72,105,33]}\n");
    assert_int_equal(run("tokenizer encode bytes --string 'H\n' --pieces", BOTH), 0);
    assert_string_equal(out, "72      H\n10      \\n\n");
    assert_int_equal(run("tokenizer decode bytes 72 105,33", BOTH), 0);
    assert_string_equal(out, "Hi!");
    assert_int_equal(run_program("echo '[72, 105]' |", "tokenizer decode bytes", BOTH), 0);
    assert_string_equal(out, "Hi");
    assert_int_equal(run("tokenizer decode bytes 34 0 255 195 169 --json", BOTH), 0);
    assert_string_equal(out, "{\"bytes\":5,\"text\":\"\\\"\\u0000\\ufffd\xC3\xA9\"}\n");
    assert_int_equal(run("tokenizer decode bytes 256", BOTH), 0);
    assert_string_equal(out, "<|endoftext|>");
    /* Any bytes, through a pipe. */
    assert_int_equal(run_program("head -c 20000 '" LG_PROGRAM "' > any;",
                                 "tokenizer encode " TOKENS "plain.json any > ids && '" LG_PROGRAM
                                 "' tokenizer decode " TOKENS "plain.json < ids | cmp - any",
                                 BOTH),
                     0);
    assert_string_equal(out, "");
}

static void keeps_a_corpus(void **state)
{
    (void)state;
    write_file("c.jsonl", "{\"body\": \"abc\"}\n{\"body\": \"de\"}\n");
    assert_int_equal(run("tokenizer cache bytes c.jsonl -o c.tokens --field body", BOTH), 0);
    prints("c.tokens: 2 documents, 7 tokens of 0.71 bytes");
    assert_int_equal(run("tokenizer cache bytes -o c.tokens --json", STDOUT), 0);
    prints("{\"documents\":2,\"tokens\":7,\"bytes\":5,");
    write_file("c.jsonl", "{\"body\": \"a\"}\n");
    assert_int_equal(run("tokenizer cache bytes c.jsonl -o c.tokens --field body", BOTH), 0);
    prints("have changed since; it was rebuilt");
    assert_int_equal(run("tokenizer cache bytes c.jsonl -o c.jsonl --field body", BOTH), 2);
    prints("is no token cache");
    assert_int_equal(run("tokenizer cache bytes c.jsonl -o c2.tokens", BOTH), 2);
    prints("c.jsonl: line 1 has no string \"text\": name the key that holds the text (--field;");
    assert_false(there("c2.tokens"));
}

/* Each refusal is one line and perhaps where the help is, with the right exit code. */
static void refuses_in_a_sentence(void **state)
{
    static const struct {
        const char *arguments;
        int code;
        const char *words;
    } cases[] = {
        {"tokenizer", 2, "none of train, encode, decode, show and cache"},
        {"tokenizer encod bytes", 2, "did you mean encode?"},
        {"tokenizer train -o x.json", 2, "on which texts?"},
        {"tokenizer train any --out x.json", 2, "\"--out\" is not an option"},
        {"tokenizer encode bytes --text Hi", 2, "\"--text\" is not an option"},
        {"tokenizer train any", 2, "-o FILE.json"},
        {"tokenizer train none.txt -o x.json", 2, "none.txt cannot be read"},
        {"tokenizer train any -o x.json --vocab 12", 2, "--vocab is \"12\""},
        {"tokenizer encode", 2, "which tokenizer?"},
        {"tokenizer encode none.json any", 2, "none.json cannot be read"},
        {"tokenizer encode any any", 1, "not whole JSON"},
        {"tokenizer encode bytes any any", 2, "too much"},
        {"tokenizer encode bytes none.txt", 1, "none.txt could not be read"},
        {"tokenizer decode bytes 1 x", 2, "\"x\" is no number"},
        {"tokenizer decode bytes -- -1", 2, "is no number"},
        {"tokenizer decode bytes 300", 2, "token 300"},
        {"tokenizer cache bytes any", 2, "-o FILE.tokens"},
        {"tokenizer cache bytes -o none.tokens", 1, "there is no token cache none.tokens"},
        {"tokenizer show bytes --colour", 2, "is not an option"},
        {"bench --only text --tokenizer none.json", 2, "none.json cannot be read"},
        {"bench --only task --text any", 2, "are for --only text"},
    };
    (void)state;
    write_file("any", "some text");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run(cases[i].arguments, BOTH);
        if (code != cases[i].code) fail_msg("%s: exit code %d\n%s", cases[i].arguments, code, out);
        prints(cases[i].words);
        if (count("\n") > 2) fail_msg("%s: more than a sentence:\n%s", cases[i].arguments, out);
        assert_false(there("x.json"));
    }
}

static void bench_measures_text(void **state)
{
    (void)state;
    assert_int_equal(
        run("bench --only text --seconds 0.01 --json --tokenizer bytes --text any", STDOUT), 0);
    prints("{\"bench\":\"text\",\"name\":\"bytes\",\"mbytes_per_s\":");
    assert_int_equal(run("bench --tokenizer " TOKENS "plain.json --seconds 0.01", STDOUT), 0);
    prints("\nplain.json ");
}

static int begin(void **state)
{
    (void)state;
    return new_home();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_and_says_so),    cmocka_unit_test(shows_what_it_is),
        cmocka_unit_test(text_comes_back),       cmocka_unit_test(keeps_a_corpus),
        cmocka_unit_test(refuses_in_a_sentence), cmocka_unit_test(bench_measures_text),
    };
    return cmocka_run_group_tests(tests, begin, remove_home);
}
