/* test_documents.c: the documents of files. Without it a document could be lost, cut, run together
 * with the next one, or change where a buffer ends. */
#include <zlib.h>

#include "making.h"

/* What was told, documents one behind the other with a line of their number between. */
static char *told;
static size_t told_bytes, told_room;
static int documents, pieces;

static int collect(void *context, const struct lg__piece *p, lg_error *err)
{
    (void)err;
    (void)context;
    assert_int_equal(p->first, pieces == 0);
    assert_true(p->n <= LG__PIECE || strstr(p->file, ".json"));
    pieces = p->last ? 0 : pieces + 1;
    if (told_bytes + p->n + 16 > told_room) {
        told_room = 2 * (told_bytes + p->n + 16);
        told = realloc(told, told_room);
        assert_non_null(told);
    }
    memcpy(told + told_bytes, p->text, p->n);
    told_bytes += p->n;
    if (p->last) told[told_bytes++] = '|';
    documents += p->last;
    return 0;
}

static int read_paths(const char *const *paths, int count, const char *field, lg_error *err)
{
    struct lg__sources s;
    told_bytes = 0;
    documents = pieces = 0;
    int e = lg__sources_find(&s, paths, count, err);
    if (e) return e;
    e = lg__documents(&s, field, collect, NULL, err);
    lg__sources_free(&s);
    return e;
}

static void reads(const char *name, const char *expected)
{
    lg_error err = {0};
    const char *path = in_home(name);
    if (read_paths(&path, 1, NULL, &err)) fail_msg("%s", err.text);
    assert_int_equal(told_bytes, strlen(expected));
    if (told_bytes) assert_memory_equal(told, expected, told_bytes);
    assert_int_equal(pieces, 0);
}

static void refuses(const char *name, const char *words)
{
    lg_error err = {0};
    const char *path = in_home(name);
    int e = read_paths(&path, 1, NULL, &err);
    if (!e) fail_msg("%s was read, not refused with \"%s\"", name, words);
    says(&err, words);
    says(&err, path);
}

static void plain_text_has_documents(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"one\r\ndocument\n", "one\r\ndocument\n|"},
        {"no end of line", "no end of line|"},
        {"a\n<|endoftext|>\nb\n<|endoftext|>\n", "a\n|b\n|"},
        {"a\r\n<|endoftext|>\r\nb", "a\r\n|b|"},
        {"<|endoftext|>\n<|endoftext|>\na", "a|"},
        {"a\n<|endoftext|>", "a\n|"},
        {"a <|endoftext|>\nb", "a <|endoftext|>\nb|"}, /* not alone on its line */
        {"a\n<|endoftext|> \nb", "a\n<|endoftext|> \nb|"},
        {"a\n<|endoftext|>b\n<|endoftext|>\nc", "a\n<|endoftext|>b\n|c|"},
        {"\n\n\n", "\n\n\n|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text("t.txt", cases[i].text);
        reads("t.txt", cases[i].expected);
    }
}

/* A mark around every place at which the buffer can end. */
static void marks_are_found_where_buffers_end(void **state)
{
    enum { SIZE = LG__PIECE + 64 };
    static const char *const line[] = {"\n<|endoftext|>\n", "\r\n<|endoftext|>\r\n"};
    char *text = malloc(SIZE + 64);
    (void)state;
    for (int k = 0; k < 2; k++)
        for (size_t at = LG__PIECE - 24; at < LG__PIECE + 8; at++) {
            for (size_t i = 0; i < SIZE; i++) text[i] = i % 7 ? 'a' : ' ';
            size_t mark = strlen(line[k]);
            memcpy(text + at, line[k], mark);
            put("t.txt", text, SIZE);
            lg_error err = {0};
            const char *path = in_home("t.txt");
            assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
            assert_int_equal(documents, 2);
            size_t first = at + (size_t)k + 1; /* its own line's end stays */
            assert_int_equal(told[first], '|');
            assert_memory_equal(told, text, first);
            assert_memory_equal(told + first + 1, text + at + mark, SIZE - at - mark);
        }
    free(text);
}

/* A document of so many bytes, from the seed. */
static char *make_document(size_t size, uint64_t seed, size_t *n)
{
    static const char *const parts[] = {
        "the model ", "reads\n", "  ",        "'ll", "\xE5\xBA\x8F\xE5\x88\x97",
        "12 ",        "\n\n",    "e\xCC\x81", ". ",  "\xF0\x9F\xA4\x96 "};
    char *text = malloc(size + 32);
    lg_rng r;
    lg_rng_init(&r, seed, 0, 0);
    for (*n = 0; *n < size;) {
        const char *part = parts[lg_rng_below(&r, sizeof parts / sizeof *parts)];
        memcpy(text + *n, part, strlen(part));
        *n += strlen(part);
    }
    return text;
}

/* The tokens of a document as a corpus has them, all of them; to be freed. */
static int32_t *corpus_tokens(const char *text, size_t n, lg_tokenizer *t, int64_t *count)
{
    put("long.txt", text, n);
    const char *path = in_home("long.txt");
    lg_corpus_options o = {.paths = &path, .path_count = 1, .cache = in_home("long.tokens")};
    lg_error err = {0};
    unlink(o.cache);
    lg_corpus *c = lg_corpus_open(&o, t, &err);
    if (!c) fail_msg("%s", err.text);
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_ALL), 1);
    *count = lg_corpus_length(c, 0);
    int32_t *got = malloc((size_t)*count * sizeof *got);
    assert_int_equal(lg_corpus_read(c, 0, 0, (int)*count, got, NULL), 0);
    lg_corpus_free(c);
    return got;
}

/* Wherever it is cut, a long document gives the tokens of the whole. */
static void long_documents_are_cut_between_words(void **state)
{
    lg_tokenizer *t = lg_tokenizer_open(DATA "nfc.json", NULL);
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        size_t n, count;
        int64_t kept;
        char *text = make_document(seed ? LG__PIECE + 5000 : 5 * LG__PIECE / 2, seed, &n);
        int32_t *got = corpus_tokens(text, n, t, &kept);
        const int32_t *whole;
        assert_int_equal(lg_tokenizer_encode(t, text, n, &whole, &count, NULL), 0);
        assert_int_equal(kept, count + 1);
        assert_memory_equal(got, whole, count * sizeof *got);
        assert_int_equal(got[count], lg_tokenizer_get_info(t).end);
        free(text);
        free(got);
    }
    lg_tokenizer_free(t);
}

/* With llama2.c's there is one token that begins the document, and one space before its text. */
static void long_documents_begin_once(void **state)
{
    lg_tokenizer *t = lg_tokenizer_open(DATA "llama.bin", NULL);
    size_t n, bytes;
    int64_t count;
    (void)state;
    char *text = make_document(LG__PIECE + 5000, 1, &n);
    int32_t *got = corpus_tokens(text, n, t, &count);
    const char *back;
    assert_int_equal(got[0], 1);
    assert_int_equal(lg_tokenizer_decode(t, got + 1, (size_t)count - 1, &back, &bytes, NULL), 0);
    assert_int_equal(bytes, n);
    assert_memory_equal(back, text, n);
    free(text);
    free(got);
    lg_tokenizer_free(t);
}

/* A mark in the middle of a line stays one, also where a piece has to begin with it. */
static void a_piece_is_not_a_line(void **state)
{
    size_t n = LG__PIECE + 100;
    char *text = malloc(n);
    lg_error err = {0};
    (void)state;
    for (size_t at = LG__PIECE - 24; at < LG__PIECE; at++) {
        memset(text, 'a', n);
        memcpy(text + at, "<|endoftext|>\n", 14);
        put("t.txt", text, n);
        const char *path = in_home("t.txt");
        assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
        assert_int_equal(documents, 1);
        assert_int_equal(told_bytes, n + 1);
        assert_memory_equal(told, text, n);
    }
    free(text);
}

/* Text without any place to cut is cut between two letters. */
static void text_without_spaces_is_read(void **state)
{
    size_t n = 3 * (size_t)(LG__PIECE / 2) + 1;
    char *text = malloc(n + 1);
    (void)state;
    for (size_t i = 0; i < n; i++) text[i] = "\xE5\xBA\x8F"[i % 3];
    put("t.txt", text, n);
    lg_error err = {0};
    const char *path = in_home("t.txt");
    assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
    assert_int_equal(documents, 1);
    assert_int_equal(told_bytes, n + 1);
    assert_memory_equal(told, text, n);
    free(text);
}

static void json_lines_are_documents(void **state)
{
    (void)state;
    put_text("t.jsonl",
             "\xEF\xBB\xBF{\"text\": \"a\\n\\u00e9\\ud83e\\udd16\", \"url\": 1}\r\n\r\n   \n"
             "{\"url\": {\"text\": \"no\"}, \"text\": \"\"}\n{\"text\":\"last\"}");
    reads("t.jsonl", "a\n\xC3\xA9\xF0\x9F\xA4\x96||last|");
    put_text("nul.json", "{\"text\": \"a\\u0000b\"}");
    lg_error err = {0};
    const char *path = in_home("nul.json");
    assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
    assert_int_equal(told_bytes, 4);
    assert_memory_equal(told, "a\0b|", 4);
    path = in_home("t.jsonl");
    put_text("t.jsonl", "{\"body\": \"x\", \"text\": \"y\"}\n");
    assert_int_equal(read_paths(&path, 1, "body", &err), 0);
    assert_memory_equal(told, "x|", 2);
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    put_text("t.jsonl", "{\"text\": \"a\"}\n\n{\"text\": \"b\"\n");
    refuses("t.jsonl", "line 3 is not a JSON object");
    put_text("t.jsonl", "{\"text\": \"a\"}\n[1, 2]\n");
    refuses("t.jsonl", "line 2 is not a JSON object");
    put_text("t.jsonl", "{\"content\": \"a\"}\n");
    refuses("t.jsonl", "line 1 has no string \"text\"");
    put_text("t.jsonl", "{\"text\": 5}\n");
    refuses("t.jsonl", "line 1 has no string \"text\"");
    put_text("t.jsonl", "{\"text\": \"\xFF\"}\n");
    refuses("t.jsonl", "line 1");
}

/* A line longer than any buffer, and lines that end where one does. */
static void lines_of_any_length_are_read(void **state)
{
    size_t n = 5 * (size_t)LG__PIECE / 2;
    char *text = malloc(n + 64);
    (void)state;
    for (int k = -2; k < 3; k++) {
        size_t length = LG__PIECE + (size_t)(k + 2) - 2,
               used = (size_t)sprintf(text, "{\"text\":\"");
        memset(text + used, 'x', length - used - 3);
        used = length - 3;
        used += (size_t)sprintf(text + used, "\"}\n{\"text\":\"y\"}\n");
        put("t.jsonl", text, used);
        lg_error err = {0};
        const char *path = in_home("t.jsonl");
        assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
        assert_int_equal(documents, 2);
        assert_int_equal(told_bytes, length - 12 + 1 + 2);
    }
    size_t used = (size_t)sprintf(text, "{\"text\":\"");
    memset(text + used, 'x', n);
    used += n;
    used += (size_t)sprintf(text + used, "\"}");
    put("t.jsonl", text, used);
    lg_error err = {0};
    const char *path = in_home("t.jsonl");
    assert_int_equal(read_paths(&path, 1, NULL, &err), 0);
    assert_int_equal(told_bytes, n + 1);
    free(text);
}

/* ---- Packed files --------------------------------------------------------------------------- */

static void pack(const char *name, const char *how, const char *text, size_t n)
{
    gzFile f = gzopen(in_home(name), how);
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

static void packed_files_are_read(void **state)
{
    (void)state;
    pack("c4.json.gz", "wb", "{\"text\": \"a\"}\n{\"te", 18);
    pack("c4.json.gz", "ab", "xt\": \"b\"}\n", 10); /* a second member, in the middle of a line */
    reads("c4.json.gz", "a|b|");
    pack("t.txt.gz", "wb", "one\n<|endoftext|>\ntwo\n", 22);
    reads("t.txt.gz", "one\n|two\n|");
}

static void damaged_packed_files_are_refused(void **state)
{
    char *text = malloc(100000), *bytes = malloc(100000);
    lg_rng r;
    (void)state;
    lg_rng_init(&r, 1, 1, 1);
    for (int i = 0; i < 100000; i++) text[i] = (char)('a' + lg_rng_below(&r, 26));
    pack("t.txt.gz", "wb", text, 100000);
    FILE *f = fopen(in_home("t.txt.gz"), "rb");
    size_t n = fread(bytes, 1, 100000, f);
    fclose(f);
    assert_true(n > 1000);
    for (size_t cut = 20; cut < n; cut += n / 7) {
        put("t.txt.gz", bytes, cut);
        refuses("t.txt.gz", "ends in the middle of its gzip data");
    }
    bytes[n / 2] ^= 0x55;
    put("t.txt.gz", bytes, n);
    refuses("t.txt.gz", "cannot be read");
    put("t.txt", "PK\3\4....", 8);
    refuses("t.txt", "packed with zip");
    put("t.jsonl", "\x28\xB5\x2F\xFD....", 8);
    refuses("t.jsonl", "packed with zstd");
    free(text);
    free(bytes);
}

/* ---- Paths ------------------------------------------------------------------------------------ */

static void folders_and_globs_have_an_order(void **state)
{
    lg_error err = {0};
    (void)state;
    assert_int_equal(mkdir(in_home("f"), 0700), 0);
    assert_int_equal(mkdir(in_home("f/deep"), 0700), 0);
    put_text("f/b.txt", "B");
    put_text("f/a.md", "A");
    put_text("f/c.pdf", "no text");
    put_text("f/.hidden.txt", "hidden");
    put_text("f/deep/d.jsonl", "{\"text\": \"D\"}");
    reads("f", "A|B|D|");
    const char *globbed = in_home("f/*.[mt]*");
    assert_int_equal(read_paths(&globbed, 1, NULL, &err), 0);
    assert_int_equal(told_bytes, 4);
    assert_memory_equal(told, "A|B|", 4);
    const char *both[] = {in_home("f/c.pdf"), in_home("f/deep")}; /* a file that is named is read */
    assert_int_equal(read_paths(both, 2, NULL, &err), 0);
    assert_memory_equal(told, "no text|D|", 10);
    refuses("f/*.csv", "no file fits");
    refuses("nowhere.txt", "No such file");
    assert_int_equal(mkdir(in_home("empty"), 0700), 0);
    refuses("empty", "no texts in it");
}

static void binary_files_are_no_text(void **state)
{
    (void)state;
    put("ls.txt",
        "\x7f"
        "ELF\2\1\1\0\0",
        9);
    refuses("ls.txt", "is a binary file, not text (byte 8 is 0)");
    put_text("control.txt", "a\1b\2c\3d\4");
    refuses("control.txt", "4 of its first 8 bytes are control characters");
    put("wide.txt",
        "\xFF\xFE"
        "a\0b\0",
        6);
    refuses("wide.txt", "is in UTF-16");
    put("wide.txt",
        "\xFE\xFF"
        "\0a\0b",
        6);
    refuses("wide.txt", "iconv -f UTF-16");
    put_text("latin.txt", "d\xE9j\xE0 \xFE\xFE\t\033[1m\r\n"); /* other encodings are texts */
    reads("latin.txt", "d\xE9j\xE0 \xFE\xFE\t\033[1m\r\n|");
}

static int end(void **state)
{
    free(told);
    return remove_home(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_has_documents),
        cmocka_unit_test(marks_are_found_where_buffers_end),
        cmocka_unit_test(long_documents_are_cut_between_words),
        cmocka_unit_test(long_documents_begin_once),
        cmocka_unit_test(a_piece_is_not_a_line),
        cmocka_unit_test(text_without_spaces_is_read),
        cmocka_unit_test(json_lines_are_documents),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(lines_of_any_length_are_read),
        cmocka_unit_test(packed_files_are_read),
        cmocka_unit_test(damaged_packed_files_are_refused),
        cmocka_unit_test(folders_and_globs_have_an_order),
        cmocka_unit_test(binary_files_are_no_text),
    };
    return cmocka_run_group_tests(tests, new_home, end);
}
