/* test_train.c: the tokenizer that is learned. Without it another vocabulary than that of the
 * definition could be learned, or another one each time. */
#include "making.h"

/* ---- The definition ------------------------------------------------------------------------ */

enum { WORDS = 4000, LETTERS = 64, VOCAB = 400, FIRST = 257 };

static struct {
    int32_t token[LETTERS];
    int n;
} word[WORDS];
static int words;
static char piece[VOCAB][LETTERS];
static int piece_bytes[VOCAB];

static void split_text(const char *text, size_t n)
{
    struct lg__split *s = lg__split_new(NULL);
    assert_non_null(s);
    words = 0;
    for (size_t at = 0, bytes; at < n; at += bytes) {
        bytes = lg__split_pattern(s, text + at, n - at);
        assert_true(words < WORDS && bytes < LETTERS);
        word[words].n = (int)bytes;
        for (size_t i = 0; i < bytes; i++) word[words].token[i] = 1 + (unsigned char)text[at + i];
        words++;
    }
    lg__split_free(s);
}

/* The pair that comes most often over all words, of equals that of the least tokens; 0: none twice. */
static int find_best(int vocab, int32_t *left, int32_t *right)
{
    static int count[VOCAB][VOCAB];
    int best = 1;
    memset(count, 0, sizeof count);
    for (int w = 0; w < words; w++)
        for (int i = 0; i + 1 < word[w].n; i++) count[word[w].token[i]][word[w].token[i + 1]]++;
    for (int a = 0; a < vocab; a++)
        for (int b = 0; b < vocab; b++)
            if (count[a][b] > best) {
                best = count[a][b];
                *left = a;
                *right = b;
            }
    return best > 1;
}

static int learn_plainly(int want)
{
    int vocab = FIRST;
    int32_t left, right;
    for (int i = 0; i < 256; i++) {
        piece[i + 1][0] = (char)i;
        piece_bytes[i + 1] = 1;
    }
    while (vocab < want && find_best(vocab, &left, &right)) {
        int n = piece_bytes[left] + piece_bytes[right], made = FIRST;
        memcpy(piece[vocab], piece[left], (size_t)piece_bytes[left]);
        memcpy(piece[vocab] + piece_bytes[left], piece[right], (size_t)piece_bytes[right]);
        piece_bytes[vocab] = n;
        while (piece_bytes[made] != n || memcmp(piece[made], piece[vocab], (size_t)n) != 0) made++;
        vocab += made == vocab;
        for (int w = 0; w < words; w++) {
            int kept = 0;
            for (int i = 0; i < word[w].n; i++) {
                int both =
                    i + 1 < word[w].n && word[w].token[i] == left && word[w].token[i + 1] == right;
                word[w].token[kept++] = both ? made : word[w].token[i];
                i += both;
            }
            word[w].n = kept;
        }
    }
    return vocab;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static char *read_file(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    *n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static lg_bpe_result train(const char *const *paths, int count, int vocab, const char *out)
{
    lg_bpe_options o = {.paths = paths, .path_count = count, .vocab = vocab, .file = in_home(out)};
    lg_bpe_result r;
    lg_error err = {0};
    if (lg_bpe_train(&o, &r, &err)) fail_msg("%s", err.text);
    return r;
}

/* On a text of ours, and on random letters, in which many pairs come equally often. */
static void learns_what_the_definition_does(void **state)
{
    static char letters[6000];
    size_t n;
    lg_rng r;
    (void)state;
    char *text = read_file(DATA "text.txt", &n);
    lg_rng_init(&r, 3, 0, 0);
    for (size_t i = 0; i < sizeof letters; i++) letters[i] = "aabbc  "[lg_rng_below(&r, 7)];
    put("text.txt", text, n);
    put("letters.txt", letters, sizeof letters);
    free(text);
    static const char *const names[] = {"text.txt", "letters.txt"};
    for (int k = 0; k < 2; k++) {
        const char *path = in_home(names[k]);
        text = read_file(path, &n);
        split_text(text, n);
        int vocab = learn_plainly(VOCAB - 1);
        lg_bpe_result result = train(&path, 1, VOCAB - 1, "learned.json");
        assert_int_equal(result.vocab, vocab);
        assert_true(vocab > 300);
        lg_error err = {0};
        lg_tokenizer *t = lg_tokenizer_open(in_home("learned.json"), &err);
        if (!t) fail_msg("%s", err.text);
        for (int i = 1; i < vocab; i++) {
            size_t bytes;
            const char *got = lg_tokenizer_piece(t, i, &bytes);
            assert_non_null(got);
            assert_int_equal(bytes, piece_bytes[i]);
            assert_memory_equal(got, piece[i], bytes);
        }
        /* The words of the text become what merging made of them. */
        const int32_t *tokens;
        size_t count, all = 0;
        assert_int_equal(lg_tokenizer_encode(t, text, n, &tokens, &count, NULL), 0);
        for (int w = 0; w < words; w++)
            for (int i = 0; i < word[w].n; i++, all++)
                assert_int_equal(tokens[all], word[w].token[i]);
        assert_int_equal(all, count);
        lg_tokenizer_free(t);
        free(text);
    }
}

/* The same texts in another order, packed otherwise, give the same file. */
static void the_same_texts_give_the_same_file(void **state)
{
    (void)state;
    put_text("a.txt", "the cat sat on the mat, the cat, the mat\n");
    put_text("b.txt", "a model of the cat: the cat sat\n");
    put_text("c.jsonl", "{\"text\": \"a model of the cat: the cat sat\\n\"}\n"
                        "{\"text\": \"the cat sat on the mat, the cat, the mat\\n\"}\n");
    const char *forward[] = {in_home("a.txt"), in_home("b.txt")};
    const char *backward[] = {in_home("b.txt"), in_home("a.txt")};
    const char *lines[] = {in_home("c.jsonl")};
    train(forward, 2, 290, "1.json");
    train(backward, 2, 290, "2.json");
    train(lines, 1, 290, "3.json");
    size_t n, m, k;
    char *one = read_file(in_home("1.json"), &n), *two = read_file(in_home("2.json"), &m);
    char *three = read_file(in_home("3.json"), &k);
    assert_int_equal(n, m);
    assert_int_equal(n, k);
    assert_memory_equal(one, two, n);
    assert_memory_equal(one, three, n);
    free(one);
    free(two);
    free(three);
}

static int stop_at_once(void *context, const lg_bpe_progress *p)
{
    (void)context;
    return !p->merging;
}

/* Refused or stopped: what was there stays, and nothing else is. */
static void nothing_is_half_written(void **state)
{
    lg_error err = {0};
    lg_bpe_result r;
    (void)state;
    put_text("t.txt", "aaa aaa aaa bb bb cc");
    put_text("out.json", "mine");
    int before = files_there();
    const char *path = in_home("t.txt");
    lg_bpe_options o = {.paths = &path,
                        .path_count = 1,
                        .vocab = 300,
                        .file = in_home("out.json"),
                        .watch = stop_at_once};
    assert_int_equal(lg_bpe_train(&o, &r, &err), LG_ERROR_STOPPED);
    says(&err, "stopped");
    o.watch = NULL;
    o.vocab = 257;
    assert_int_equal(lg_bpe_train(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(&err, "258");
    o.vocab = 300;
    o.file = in_home("no/such/folder.json");
    assert_int_equal(lg_bpe_train(&o, &r, &err), LG_ERROR_SYSTEM);
    says(&err, "folder.json could not be written");
    put_text("t.txt", "a b c");
    o.file = in_home("out.json");
    assert_int_equal(lg_bpe_train(&o, &r, &err), LG_ERROR_ARGUMENT);
    says(&err, "nothing to learn");
    size_t n;
    char *kept = read_file(in_home("out.json"), &n);
    assert_string_equal(kept, "mine");
    free(kept);
    assert_int_equal(files_there(), before);
}

static void without_memory_it_is_refused(void **state)
{
    lg_bpe_result r;
    int code = LG_ERROR_MEMORY;
    long fails = 0;
    (void)state;
    const char *path = DATA "text.txt";
    lg_bpe_options o = {.paths = &path, .path_count = 1, .vocab = 300, .file = in_home("m.json")};
    for (; code && fails < 300; fails++) {
        lg__alloc_fail_after(fails);
        code = lg_bpe_train(&o, &r, NULL);
        lg__alloc_fail_after(-1);
        if (code) assert_int_equal(code, LG_ERROR_MEMORY);
    }
    assert_in_range(fails, 10, 299);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_what_the_definition_does),
        cmocka_unit_test(the_same_texts_give_the_same_file),
        cmocka_unit_test(nothing_is_half_written),
        cmocka_unit_test(without_memory_it_is_refused),
    };
    return cmocka_run_group_tests(tests, new_home, remove_home);
}
