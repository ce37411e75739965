/* test_corpus.c: tokens kept in a file, train and test, windows. Without it a run could read the
 * tokens of another tokenizer or of older texts, train on what it is tested on, or look across the
 * end of a document. */
#include "making.h"

enum { DOCUMENTS = 400 };

static lg_tokenizer *bytes, *plain;

static int begin(void **state)
{
    bytes = lg_tokenizer_open("bytes", NULL);
    plain = lg_tokenizer_open(DATA "plain.json", NULL);
    return bytes && plain ? new_home(state) : -1;
}

static int end(void **state)
{
    lg_tokenizer_free(bytes);
    lg_tokenizer_free(plain);
    return remove_home(state);
}

/* Documents from..to-1: "document 17 xxx". */
static void put_lines(const char *name, int from, int to)
{
    FILE *f = fopen(in_home(name), "wb");
    assert_non_null(f);
    for (int i = from; i < to; i++)
        fprintf(f, "{\"text\": \"document %d %.*s\"}\n", i, i % 23, "xxxxxxxxxxxxxxxxxxxxxxx");
    fclose(f);
}

static lg_corpus *open_paths(const char *const *paths, int count, const char *cache, double share,
                             lg_tokenizer *t)
{
    lg_error err = {0};
    lg_corpus_options o = {.paths = paths,
                           .path_count = count,
                           .cache = in_home(cache),
                           .test_share = share,
                           .seed = 3};
    lg_corpus *c = lg_corpus_open(&o, t, &err);
    if (!c) fail_msg("%s", err.text);
    return c;
}

static lg_corpus *open_one(const char *name, const char *cache, lg_tokenizer *t)
{
    const char *path = in_home(name);
    return open_paths(&path, 1, cache, 0, t);
}

static void refused(const char *name, const char *cache, lg_tokenizer *t, const char *words)
{
    lg_error err = {0};
    const char *path = name ? in_home(name) : NULL;
    lg_corpus_options o = {.paths = &path, .path_count = name != NULL, .cache = in_home(cache)};
    lg_corpus *c = lg_corpus_open(&o, t, &err);
    if (c) fail_msg("%s was opened, not refused with \"%s\"", cache, words);
    says(&err, words);
}

/* The number in "document 17 xxx". */
static int number_of(const lg_corpus *c, lg_tokenizer *t, int64_t document)
{
    int32_t tokens[200];
    const char *text;
    size_t n;
    int number = -1;
    int64_t length = lg_corpus_length(c, document);
    assert_in_range(length, 2, 200);
    assert_int_equal(lg_corpus_read(c, document, 0, (int)length, tokens, NULL), 0);
    assert_int_equal(tokens[length - 1], lg_tokenizer_get_info(t).end);
    assert_int_equal(lg_tokenizer_decode(t, tokens, (size_t)length - 1, &text, &n, NULL), 0);
    assert_int_equal(sscanf(text, "document %d", &number), 1);
    return number;
}

static void documents_come_back(void **state)
{
    lg_tokenizer *kinds[] = {bytes, plain};
    (void)state;
    put_lines("d.jsonl", 0, DOCUMENTS);
    for (int k = 0; k < 2; k++) {
        lg_corpus *c = open_one("d.jsonl", k ? "plain.tokens" : "bytes.tokens", kinds[k]);
        assert_null(lg_corpus_note(c));
        assert_int_equal(lg_corpus_documents(c, LG_CORPUS_ALL), DOCUMENTS);
        int64_t tokens = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            assert_int_equal(number_of(c, kinds[k], i), i);
            tokens += lg_corpus_length(c, i);
        }
        assert_int_equal(lg_corpus_tokens(c, LG_CORPUS_ALL), tokens);
        if (!k) assert_int_equal(lg_corpus_bytes(c), tokens - DOCUMENTS);
        int32_t token[8];
        lg_error err = {0};
        assert_int_equal(lg_corpus_read(c, 0, lg_corpus_length(c, 0) - 3, 4, token, &err),
                         LG_ERROR_ARGUMENT);
        assert_int_equal(lg_corpus_read(c, DOCUMENTS, 0, 1, token, &err), LG_ERROR_ARGUMENT);
        assert_int_equal(lg_corpus_read(c, -1, 0, 1, token, &err), LG_ERROR_ARGUMENT);
        lg_corpus_free(c);
    }
}

/* A vocabulary of more than 65,536 needs 4 bytes a token. */
static void wide_tokens_are_kept(void **state)
{
    lg_tokenizer *t = lg_tokenizer_open("bytes", NULL);
    (void)state;
    t->vocab = 70001; /* as of a larger one, whose end is its last token */
    t->first = realloc(t->first, 70001 * sizeof *t->first);
    t->length = realloc(t->length, 70001 * sizeof *t->length);
    for (int i = 257; i < 70001; i++) t->first[i] = 0, t->length[i] = 1;
    t->end = 70000;
    put_text("w.txt", "ab");
    lg_corpus *c = open_one("w.txt", "w.tokens", t);
    int32_t token[3];
    assert_int_equal(lg_corpus_read(c, 0, 0, 3, token, NULL), 0);
    assert_int_equal(token[0], 'a');
    assert_int_equal(token[2], 70000);
    lg_corpus_free(c);
    lg_tokenizer_free(t);
}

/* llama2.c's texts begin with a token of their own and have none at the end. */
static void documents_begin_as_the_tokenizer_says(void **state)
{
    lg_tokenizer *t = lg_tokenizer_open(DATA "llama.bin", NULL);
    (void)state;
    put_text("l.txt", "the model\n<|endoftext|>\nthe");
    lg_corpus *c = open_one("l.txt", "l.tokens", t);
    int32_t token[64];
    const int32_t *expected;
    size_t n;
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_ALL), 2);
    assert_int_equal(lg_tokenizer_encode(t, "the", 3, &expected, &n, NULL), 0);
    assert_int_equal(lg_corpus_length(c, 1), n + 1);
    assert_int_equal(lg_corpus_read(c, 1, 0, (int)n + 1, token, NULL), 0);
    assert_int_equal(token[0], 1);
    assert_memory_equal(token + 1, expected, n * sizeof *token);
    lg_corpus_free(c);
    lg_tokenizer_free(t);
}

/* ---- The file -------------------------------------------------------------------------------- */

static ino_t inode(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_home(name), &st), 0);
    return st.st_ino;
}

static off_t size_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_home(name), &st), 0);
    return st.st_size;
}

static void a_fresh_cache_is_kept_and_a_stale_one_made_again(void **state)
{
    (void)state;
    put_lines("s.jsonl", 0, 10);
    lg_corpus_free(open_one("s.jsonl", "s.tokens", bytes));
    ino_t first = inode("s.tokens");
    lg_corpus_free(open_one("s.jsonl", "s.tokens", bytes));
    assert_int_equal(inode("s.tokens"), first);
    lg_corpus *c = open_paths(NULL, 0, "s.tokens", 0, bytes); /* without the texts */
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_ALL), 10);
    lg_corpus_free(c);

    refused(NULL, "s.tokens", plain, "made with another tokenizer");
    c = open_one("s.jsonl", "s.tokens", plain);
    assert_non_null(strstr(lg_corpus_note(c), "made with another tokenizer; it was rebuilt"));
    assert_int_equal(number_of(c, plain, 9), 9);
    lg_corpus_free(c);

    char path[1000]; /* one that leaves no room for the remedy in a sentence */
    size_t n = (size_t)snprintf(path, sizeof path, "%s", home);
    for (int i = 0; i < 3; i++) {
        path[n] = '/';
        memset(path + n + 1, 'f', 180);
        path[n += 181] = 0;
        if (i < 2) assert_int_equal(mkdir(path, 0777), 0);
    }
    const char *text = in_home("s.jsonl");
    lg_corpus_options o = {.paths = &text, .path_count = 1, .cache = path};
    lg_corpus_free(lg_corpus_open(&o, bytes, NULL));
    c = lg_corpus_open(&o, plain, NULL);
    assert_non_null(c);
    assert_non_null(strstr(lg_corpus_note(c), "made with another tokenizer; it was rebuilt"));
    lg_corpus_free(c);

    put_lines("s.jsonl", 5, 15); /* the same size, or not: the time is another */
    c = open_one("s.jsonl", "s.tokens", plain);
    assert_non_null(strstr(lg_corpus_note(c), "have changed since; it was rebuilt"));
    assert_int_equal(number_of(c, plain, 0), 5);
    lg_corpus_free(c);
    refused(NULL, "none.tokens", plain, "there is no token cache");
}

static void damage(const char *name, long at, char bits)
{
    FILE *f = fopen(in_home(name), "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ bits, f);
    fclose(f);
}

static void a_damaged_cache_is_refused_or_made_again(void **state)
{
    (void)state;
    put_lines("x.jsonl", 0, 10);
    lg_corpus_free(open_one("x.jsonl", "x.tokens", bytes));
    off_t whole = size_of("x.tokens");
    for (off_t cut = 1; cut < whole; cut += whole / 9) {
        assert_int_equal(truncate(in_home("x.tokens"), cut), 0);
        refused(NULL, "x.tokens", bytes, "is cut off");
        lg_corpus *c = open_one("x.jsonl", "x.tokens", bytes);
        assert_non_null(strstr(lg_corpus_note(c), "is cut off"));
        assert_non_null(strstr(lg_corpus_note(c), "it was rebuilt"));
        lg_corpus_free(c);
        assert_int_equal(size_of("x.tokens"), whole);
    }
    assert_int_equal(truncate(in_home("x.tokens"), whole + 8), 0);
    refused(NULL, "x.tokens", bytes, "longer than it says");
    static const struct {
        long at;
        char bits;
        const char *words;
    } places[] = {{8, 1, "another version"},       {12, 6, "damaged header"},
                  {33, 1, "damaged header"},       {124, 1, "damaged header"},
                  {104, 1, "damaged header"},      {128, 1, "damaged tokens"},
                  {129, 2, "damaged tokens"},      {-8 * 23, 4, "damaged tokens"},
                  {-8 * 12, 1, "damaged offsets"}, {-8 * 2, 1, "damaged offsets"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        lg_corpus_free(open_one("x.jsonl", "x.tokens", bytes));
        damage("x.tokens", places[i].at < 0 ? (long)whole + places[i].at : places[i].at,
               places[i].bits);
        refused(NULL, "x.tokens", bytes, places[i].words);
    }
    lg_corpus_free(open_one("x.jsonl", "x.tokens", bytes));
    lg_corpus *c = open_paths(NULL, 0, "x.tokens", 0, bytes);
    damage("x.tokens", 129, 2); /* while it is open: a token of 512 and more, which there is not */
    int32_t token;
    lg_error err = {0};
    assert_int_equal(lg_corpus_read(c, 0, 0, 1, &token, &err), LG_ERROR_SYSTEM);
    says(&err, "is damaged");
    lg_corpus_free(c);
}

/* Tokens that are other ones of the vocabulary: nothing but their sum can tell. The text is of
 * several of the pieces that are summed, and its last one is not full. */
static void no_flipped_bit_is_trained_on(void **state)
{
    (void)state;
    enum { LETTERS = 300001 };
    static char text[LETTERS + 1];
    lg_error err = {0};
    int32_t token;
    for (int i = 0; i < LETTERS; i++) text[i] = (char)('a' + i % 23);
    put_text("long.txt", text);
    lg_corpus *c = open_one("long.txt", "long.tokens", bytes);
    uint64_t sum = lg_corpus_checksum(c);
    int64_t tokens = lg_corpus_tokens(c, LG_CORPUS_ALL);
    assert_true(tokens >= LETTERS);
    lg_corpus_free(c);
    for (int64_t i = 0; i < 40; i++) {
        int64_t at = i < 4 ? tokens - 1 - i : i * tokens / 40;
        damage("long.tokens", (long)(128 + 2 * at), (char)(1 << i % 3));
        refused(NULL, "long.tokens", bytes, "has damaged tokens: delete it and make it again");
        c = open_one("long.txt", "long.tokens", bytes);
        assert_non_null(strstr(lg_corpus_note(c), "has damaged tokens; it was rebuilt"));
        assert_int_equal(lg_corpus_checksum(c), sum);
        assert_int_equal(lg_corpus_read(c, 0, LETTERS - 1, 1, &token, &err), 0);
        lg_corpus_free(c);
    }
}

static int stop(void *context, const lg_corpus_progress *p)
{
    (void)context;
    return p->documents < 5;
}

/* A file of another kind is never replaced; a stopped or refused one leaves nothing behind. */
static void nothing_is_lost_or_half_written(void **state)
{
    lg_error err = {0};
    (void)state;
    put_text("mine.txt", "a letter of mine");
    put_lines("y.jsonl", 0, 10);
    int before = files_there();
    refused("y.jsonl", "mine.txt", bytes, "is no token cache");
    assert_int_equal(size_of("mine.txt"), 16);
    const char *path = in_home("y.jsonl");
    lg_corpus_options o = {
        .paths = &path, .path_count = 1, .cache = in_home("y.tokens"), .watch = stop};
    assert_null(lg_corpus_open(&o, bytes, &err));
    says(&err, "stopped");
    put_text("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 1}\n");
    refused("bad.jsonl", "y.tokens", bytes, "line 2");
    put_text("bad.jsonl", "\n\n");
    refused("bad.jsonl", "y.tokens", bytes, "there is no text");
    lg_tokenizer *t = lg_tokenizer_open(DATA "nfc.json", NULL);
    put("bad.txt", "fine\n<|endoftext|>\n\xFF", 20);
    refused("bad.txt", "y.tokens", t, "document 2");
    /* counted in its own file: two come before it in another */
    mkdir(in_home("two"), 0777);
    put_text("two/a.txt", "one\n<|endoftext|>\ntwo\n");
    put("two/b.txt", "fine\n<|endoftext|>\n\xFF", 20);
    refused("two", "y.tokens", t, "b.txt, document 2: ");
    lg_tokenizer_free(t);
    assert_int_equal(files_there(), before + 2);
}

/* ---- Train and test ---------------------------------------------------------------------------- */

static void the_split_is_by_document(void **state)
{
    static char side[2][DOCUMENTS];
    (void)state;
    put_lines("1.jsonl", 0, DOCUMENTS / 2);
    put_lines("2.jsonl", DOCUMENTS / 2, DOCUMENTS);
    const char *forward[] = {in_home("1.jsonl"), in_home("2.jsonl")};
    const char *backward[] = {forward[1], forward[0]};
    for (int k = 0; k < 2; k++) {
        lg_corpus *c = open_paths(k ? backward : forward, 2, "split.tokens", 0.25, bytes);
        int64_t tokens = 0;
        for (lg_corpus_side s = LG_CORPUS_TRAIN; s <= LG_CORPUS_TEST; s++)
            for (int64_t i = 0; i < lg_corpus_documents(c, s); i++) {
                int64_t document = lg_corpus_document(c, s, i);
                side[k][number_of(c, bytes, document)] = (char)s;
                tokens += lg_corpus_length(c, document);
            }
        assert_int_equal(lg_corpus_documents(c, LG_CORPUS_TRAIN) +
                             lg_corpus_documents(c, LG_CORPUS_TEST),
                         DOCUMENTS);
        assert_int_equal(lg_corpus_tokens(c, LG_CORPUS_TRAIN) + lg_corpus_tokens(c, LG_CORPUS_TEST),
                         tokens);
        assert_in_range(lg_corpus_documents(c, LG_CORPUS_TEST), 70,
                        130); /* 100 +- 3.5 deviations */
        assert_int_equal(lg_corpus_document(c, LG_CORPUS_TEST, DOCUMENTS), -1);
        lg_corpus_free(c);
    }
    assert_memory_equal(side[0], side[1], DOCUMENTS); /* whatever the order of the files */
    for (int i = 0; i < DOCUMENTS; i++) assert_true(side[0][i]);
}

static void copies_are_on_the_same_side(void **state)
{
    static const double shares[] = {0, 0.5, 1};
    (void)state;
    FILE *f = fopen(in_home("copies.jsonl"), "wb");
    for (int i = 0; i < 200; i++) fprintf(f, "{\"text\": \"document %d\"}\n", i % 50);
    fclose(f);
    const char *path = in_home("copies.jsonl");
    for (int k = 0; k < 3; k++) {
        lg_corpus *c = open_paths(&path, 1, "copies.tokens", shares[k], bytes);
        int on[50] = {0};
        for (int64_t i = 0; i < lg_corpus_documents(c, LG_CORPUS_TEST); i++)
            on[number_of(c, bytes, lg_corpus_document(c, LG_CORPUS_TEST, i))]++;
        int some = 0;
        for (int i = 0; i < 50; i++) {
            assert_true(on[i] == 0 || on[i] == 4);
            some += on[i] == 4;
        }
        assert_in_range(some, k == 0 ? 0 : k == 1 ? 10 : 50, k == 0 ? 0 : k == 1 ? 40 : 50);
        lg_corpus_free(c);
    }
}

/* ---- Windows ------------------------------------------------------------------------------------- */

/* Every window is drawn, equally often, and none across the end of a document. */
static void windows_are_drawn_evenly(void **state)
{
    enum { N = 4, DRAWS = 40000 };
    (void)state;
    put_text("v.jsonl", "{\"text\": \"abcdef\"}\n{\"text\": \"xy\"}\n{\"text\": \"\"}\n{\"text\": "
                        "\"0123456789\"}\n{\"text\": \"pqr\"}\n");
    lg_corpus *c = open_one("v.jsonl", "v.tokens", bytes);
    lg_error err = {0};
    lg_windows *w = lg_windows_new(c, LG_CORPUS_ALL, N, &err);
    if (!w) fail_msg("%s", err.text);
    assert_int_equal(lg_windows_count(w), 4 + 0 + 8 + 1); /* with the end's token */
    int drawn[4][12] = {{0}};
    for (uint64_t i = 0; i < DRAWS; i++) {
        int32_t tokens[N], again[N];
        lg_window at, twice;
        assert_int_equal(lg_windows_draw(w, 9, 1, i, tokens, &at, NULL), 0);
        assert_int_equal(lg_windows_draw(w, 9, 1, i, again, &twice, NULL), 0);
        assert_memory_equal(tokens, again, sizeof tokens);
        assert_int_equal(lg_corpus_read(c, at.document, at.from, N, again, NULL), 0);
        assert_memory_equal(tokens, again, sizeof tokens);
        assert_true(at.from + N <= lg_corpus_length(c, at.document));
        drawn[at.document][at.from]++;
    }
    for (int d = 0; d < 4; d++)
        for (int from = 0; from + N <= lg_corpus_length(c, d); from++)
            assert_in_range(drawn[d][from], DRAWS / 13 - 320, DRAWS / 13 + 320); /* 6 deviations */
    lg_windows_free(w);
    assert_null(lg_windows_new(c, LG_CORPUS_ALL, 12, &err));
    says(&err, "the longest has 11");
    assert_null(lg_windows_new(c, LG_CORPUS_TEST, 2, &err));
    says(&err, "no test document");
    assert_null(lg_windows_new(c, LG_CORPUS_ALL, 0, &err));
    lg_corpus_free(c);
}

/* Put end to end: windows cross documents, all are as likely, and every token is in one. */
static void joined_windows_cross_documents(void **state)
{
    enum { N = 5, DRAWS = 40000, TOKENS = 7 + 3 + 11 + 4, WINDOWS = TOKENS - N + 1 };
    (void)state;
    put_text("j.jsonl", "{\"text\": \"abcdef\"}\n{\"text\": \"xy\"}\n{\"text\": "
                        "\"0123456789\"}\n{\"text\": \"pqr\"}\n");
    lg_corpus *c = open_one("j.jsonl", "j.tokens", bytes);
    lg_error err = {0};
    int32_t all[TOKENS];
    int64_t begin[4], n = 0;
    for (int d = 0; d < 4; d++) {
        begin[d] = n;
        assert_int_equal(lg_corpus_read(c, d, 0, (int)lg_corpus_length(c, d), all + n, NULL), 0);
        n += lg_corpus_length(c, d);
    }
    assert_int_equal(n, TOKENS);
    lg_windows *w = lg_windows_joined(c, LG_CORPUS_ALL, N, &err);
    if (!w) fail_msg("%s", err.text);
    assert_int_equal(lg_windows_count(w), WINDOWS);
    int drawn[WINDOWS] = {0}, crossing = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        int32_t tokens[N];
        lg_window at;
        assert_int_equal(lg_windows_draw(w, 9, 1, i, tokens, &at, NULL), 0);
        int64_t from = begin[at.document] + at.from;
        assert_in_range(from, 0, WINDOWS - 1);
        assert_memory_equal(tokens, all + from, sizeof tokens);
        crossing += at.from + N > lg_corpus_length(c, at.document);
        drawn[from]++;
    }
    for (int i = 0; i < WINDOWS; i++)
        assert_in_range(drawn[i], DRAWS / WINDOWS - 250, DRAWS / WINDOWS + 250); /* 6 deviations */
    assert_true(crossing > 0);
    lg_windows_free(w);
    w = lg_windows_joined(c, LG_CORPUS_ALL, TOKENS, &err);
    assert_int_equal(lg_windows_count(w), 1);
    lg_windows_free(w);
    assert_null(lg_windows_joined(c, LG_CORPUS_ALL, TOKENS + 1, &err));
    says(&err, "has 25 tokens in all its documents, and the window 26");
    assert_null(lg_windows_joined(c, LG_CORPUS_TEST, 2, &err));
    assert_null(lg_windows_joined(c, LG_CORPUS_ALL, 0, &err));
    lg_corpus_free(c);
}

/* A number of four digits in each place, so that every place of the text can be told. */
static void put_numbers(const char *name, int count)
{
    FILE *f = fopen(in_home(name), "wb");
    assert_non_null(f);
    for (int i = 0; i < count; i++) fprintf(f, "%04d", i);
    fclose(f);
}

/* One text without marks: its last tenth is held out, in stretches; nothing is lost or on both sides. */
static void one_document_is_cut(void **state)
{
    (void)state;
    put_numbers("one.txt", 10000);
    const char *path = in_home("one.txt");
    lg_corpus *c = open_paths(&path, 1, "one.tokens", 0.1, bytes);
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_TRAIN), 1);
    assert_int_equal(lg_corpus_tokens(c, LG_CORPUS_TRAIN), 36001); /* of 40001, the end with them */
    assert_int_equal(lg_corpus_tokens(c, LG_CORPUS_TEST), 4000);
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_TEST), 3);
    assert_non_null(strstr(lg_corpus_note(c), "the last 10% of it is held out"));
    for (int64_t i = 1, place = 36001; i < 4; i++) {
        char digits[8];
        int32_t first;
        assert_int_equal(lg_corpus_document(c, LG_CORPUS_TEST, i - 1), i);
        assert_in_range(lg_corpus_length(c, i), 1333, 1334);
        assert_int_equal(lg_corpus_read(c, i, 0, 1, &first, NULL), 0);
        snprintf(digits, sizeof digits, "%04d", (int)(place / 4));
        assert_int_equal(first, digits[place % 4]); /* it goes on where the one before ends */
        place += lg_corpus_length(c, i);
    }
    lg_corpus_free(c);
    /* all, or nothing, held out: it stays whole */
    for (int share = 0; share < 2; share++) {
        c = open_paths(&path, 1, "one.tokens", share, bytes);
        assert_int_equal(lg_corpus_documents(c, LG_CORPUS_ALL), 1);
        assert_int_equal(lg_corpus_tokens(c, share ? LG_CORPUS_TEST : LG_CORPUS_TRAIN), 40001);
        assert_null(lg_corpus_note(c));
        lg_corpus_free(c);
    }
    /* two of which the share would hold out none are cut, too */
    put_text("ab.txt", "aaaaaaaaaaaaaaaaaaa\n<|endoftext|>\nbbbbbbbbbbbbbbbbbbb");
    path = in_home("ab.txt");
    c = open_paths(&path, 1, "ab.tokens", 0.001, bytes);
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_TRAIN), 2);
    assert_int_equal(lg_corpus_documents(c, LG_CORPUS_TEST), 2);
    lg_corpus_free(c);
}

static void wrong_options_are_refused(void **state)
{
    lg_error err = {0};
    (void)state;
    lg_corpus_options o = {.cache = in_home("o.tokens"), .test_share = 1.5};
    assert_null(lg_corpus_open(&o, bytes, &err));
    says(&err, "1.5");
    o = (lg_corpus_options){0};
    assert_null(lg_corpus_open(&o, bytes, &err));
    says(&err, "set cache");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_back),
        cmocka_unit_test(wide_tokens_are_kept),
        cmocka_unit_test(documents_begin_as_the_tokenizer_says),
        cmocka_unit_test(a_fresh_cache_is_kept_and_a_stale_one_made_again),
        cmocka_unit_test(a_damaged_cache_is_refused_or_made_again),
        cmocka_unit_test(no_flipped_bit_is_trained_on),
        cmocka_unit_test(nothing_is_lost_or_half_written),
        cmocka_unit_test(the_split_is_by_document),
        cmocka_unit_test(copies_are_on_the_same_side),
        cmocka_unit_test(windows_are_drawn_evenly),
        cmocka_unit_test(joined_windows_cross_documents),
        cmocka_unit_test(one_document_is_cut),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
