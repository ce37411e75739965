/* tokenizer.c: opens a tokenizer, encodes bytes to tokens and decodes them back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "text/text.h"

enum { MOST_VOCAB = 1 << 24 };

/* ---- The vocabulary ------------------------------------------------------------------------ */

int lg__tokenizer_room(lg_tokenizer *t, int64_t vocab, lg_error *err)
{
    if (vocab < 1 || vocab > MOST_VOCAB)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s has tokens up to %lld, which cannot be: take a whole, unchanged file",
                        t->file, (long long)vocab - 1);
    t->first = lg__alloc((size_t)vocab * sizeof *t->first);
    t->length = lg__alloc((size_t)vocab * sizeof *t->length);
    if (!t->first || !t->length)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the %lld tokens of %s",
                        (long long)vocab, t->file);
    t->vocab = (int32_t)vocab;
    for (int64_t i = 0; i < vocab; i++) t->length[i] = -1;
    return 0;
}

int lg__tokenizer_put(lg_tokenizer *t, int32_t token, const char *bytes, size_t n, lg_error *err)
{
    if (n > INT32_MAX / 2)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s: token %d has %zu bytes, which cannot be",
                        t->file, token, n);
    int e = lg__reserve(&t->bytes, t->used + n + 1, "the vocabulary", err);
    if (e) return e;
    if (n) memcpy((char *)t->bytes.data + t->used, bytes, n);
    t->first[token] = t->used;
    t->length[token] = (int32_t)n;
    t->used += n;
    return 0;
}

int lg__tokenizer_added(lg_tokenizer *t, int32_t token, const char *text, size_t n, int raw,
                        lg_error *err)
{
    int high = 0;
    if (!raw && t->nfc && lg__utf8_valid(text, n, &high) == n) {
        int e = lg__nfc(&t->normalised, &text, &n, err);
        if (e) return e;
    }
    t->added++;
    return lg__added_put(raw ? &t->raw : &t->normal, text, n, token, err);
}

const char *lg__token_bytes(const void *tokenizer, uint32_t token, size_t *n)
{
    const lg_tokenizer *t = tokenizer;
    *n = (size_t)t->length[token];
    return (const char *)t->bytes.data + t->first[token];
}

const char *lg_tokenizer_piece(const lg_tokenizer *t, int32_t token, size_t *n)
{
    if (token < 0 || token >= t->vocab || t->length[token] < 0) return NULL;
    return lg__token_bytes(t, (uint32_t)token, n);
}

/* ---- Opening --------------------------------------------------------------------------------- */

void lg_tokenizer_free(lg_tokenizer *t)
{
    if (!t) return;
    struct lg__block *blocks[] = {&t->bytes, &t->tokens, &t->text, &t->normalised, &t->prefixed};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) lg__block_free(blocks[i]);
    lg__names_free(&t->names);
    lg__merges_free(&t->merges);
    lg__added_free(&t->raw);
    lg__added_free(&t->normal);
    lg__split_free(t->split);
    free(t->words);
    free(t->first);
    free(t->length);
    free(t->file);
    free(t);
}

static int load_bytes(lg_tokenizer *t, lg_error *err)
{
    static const char end[] = "<|endoftext|>";
    int e = lg__tokenizer_room(t, 257, err);
    for (int i = 0; i < 256 && !e; i++) {
        t->of_byte[i] = i;
        e = lg__tokenizer_put(t, i, &(char){(char)i}, 1, err);
    }
    t->end = 256;
    return e ? e : lg__tokenizer_put(t, t->end, end, sizeof end - 1, err);
}

static int is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The names under which the files of a tokenizer lie in a folder. */
static const struct {
    const char *vocabulary, *merges; /* merges NULL: all is in one file */
} known[] = {
    {"tokenizer.json", NULL},
    {"encoder.json", "vocab.bpe"},
    {"vocab.json", "merges.txt"},
    {"tokenizer.bin", NULL},
};
enum { KNOWN = sizeof known / sizeof *known };

/* Path of `name` in the folder, or beside the file; NULL: no memory. */
static char *beside(const char *path, int folder, const char *name)
{
    const char *slash = strrchr(path, '/');
    int n = folder ? (int)strlen(path) : slash ? (int)(slash - path) : 0;
    char *made;
    if (asprintf(&made, "%.*s%s%s", n, path, folder || slash ? "/" : "", name) < 0) return NULL;
    return made;
}

static int load_file(lg_tokenizer *t, const char *path, lg_error *err)
{
    const char *dot = strrchr(path, '.'), *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (dot && strcmp(dot, ".bin") == 0) return lg__load_llama(t, path, err);
    for (int i = 0; i < KNOWN; i++) {
        if (!known[i].merges) continue;
        int merges = strcmp(name, known[i].merges) == 0;
        if (!merges && strcmp(name, known[i].vocabulary) != 0) continue;
        char *other = beside(path, 0, merges ? known[i].vocabulary : known[i].merges);
        if (!other) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of a file");
        int e = merges ? lg__load_pair(t, other, path, err) : lg__load_pair(t, path, other, err);
        free(other);
        return e;
    }
    return lg__load_json(t, path, err);
}

static int load(lg_tokenizer *t, const char *path, lg_error *err)
{
    struct stat st;
    if (strcmp(path, "bytes") == 0) return load_bytes(t, err);
    if (stat(path, &st) != 0)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s cannot be read (%s): name a tokenizer.json, encoder.json, tokenizer.bin, "
            "a folder with one, or bytes",
            *path ? path : "a tokenizer without a name", strerror(errno));
    if (!S_ISDIR(st.st_mode)) return load_file(t, path, err);
    for (int i = 0; i < KNOWN; i++) {
        char *file = beside(path, 1, known[i].vocabulary);
        if (!file) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of a file");
        int there = is_file(file), e = there ? load_file(t, file, err) : 0;
        free(file);
        if (there) return e;
    }
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the folder %s has no tokenizer.json, encoder.json with vocab.bpe, vocab.json "
                    "with merges.txt, or tokenizer.bin: name the file",
                    path);
}

/* Of all that decides which tokens a text becomes. */
static uint64_t checksum(const lg_tokenizer *t)
{
    uint64_t h = lg__hash((int32_t[]){(int32_t)t->kind, t->vocab, t->begin, t->end, t->nfc,
                                      t->prefix_space, t->regex},
                          7 * sizeof(int32_t), 1);
    for (int32_t i = 0; i < t->vocab; i++) {
        size_t n = 0;
        const char *bytes = lg_tokenizer_piece(t, i, &n);
        h = lg__hash(bytes ? bytes : "", n, h + (bytes != NULL));
    }
    const struct lg__added *added[] = {&t->raw, &t->normal};
    for (int i = 0; i < 2; i++) h = lg__added_hash(added[i], h);
    uint64_t pairs = 0; /* whatever their order in the table */
    for (uint64_t i = 0; t->merges.slot && i <= t->merges.mask; i++)
        if (t->merges.slot[i].both != UINT64_MAX)
            pairs += lg__hash(&t->merges.slot[i], sizeof t->merges.slot[i], 2);
    return lg__hash(&pairs, sizeof pairs, h);
}

/* What encoding needs once the vocabulary is there. */
static int make_ready(lg_tokenizer *t, lg_error *err)
{
    if (t->kind == LG__BYTE_LEVEL) {
        t->split = lg__split_new(err);
        if (!t->split) return LG_ERROR_MEMORY;
        t->words = lg__alloc(LG__WORDS * sizeof *t->words);
        if (!t->words)
            return lg__fail(err, LG_ERROR_MEMORY, "no memory for the words of %s", t->file);
    }
    t->checksum = checksum(t);
    return 0;
}

lg_tokenizer *lg_tokenizer_open(const char *path, lg_error *err)
{
    lg_tokenizer *t = lg__alloc(sizeof *t);
    if (t) {
        t->begin = t->end = LG_NONE;
        t->file = strdup(path);
        for (int i = 0; i < 256; i++) t->of_byte[i] = LG_NONE;
    }
    if (!t || !t->file) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a tokenizer");
    } else if (load(t, path, err) == 0 && make_ready(t, err) == 0) {
        return t;
    }
    lg_tokenizer_free(t);
    return NULL;
}

lg_tokenizer_info lg_tokenizer_get_info(const lg_tokenizer *t)
{
    static const char *const kinds[] = {"bytes", "byte-level BPE", "BPE by scores (llama2.c)"};
    lg_tokenizer_info info = {.kind = kinds[t->kind],
                              .vocab = t->vocab,
                              .merges = (int64_t)t->merges.count,
                              .added = t->added,
                              .begin = t->begin,
                              .end = t->end,
                              .nfc = t->nfc,
                              .prefix_space = t->prefix_space || t->kind == LG__SCORED,
                              .checksum = t->checksum};
    for (int32_t i = 0; i < t->vocab; i++) info.tokens += t->length[i] >= 0;
    for (int i = 0; i < 256; i++) info.bytes += t->of_byte[i] != LG_NONE;
    return info;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

/* Room for `more` tokens behind those there are. */
static int room(lg_tokenizer *t, size_t more, lg_error *err)
{
    return lg__reserve(&t->tokens, (t->n + more + 1) * sizeof(int32_t), "tokens", err);
}

static int32_t *next_token(lg_tokenizer *t) { return (int32_t *)t->tokens.data + t->n; }

static int refuse_byte(const lg_tokenizer *t, int byte, lg_error *err)
{
    int never = byte == 0xC0 || byte == 0xC1 || byte >= 0xF5; /* in UTF-8 */
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%s has no token for the byte 0x%02x%s the tokenizer bytes or one of your own", t->file,
        byte, never ? ", which is never in UTF-8: convert the text to UTF-8, or take" : ": take");
}

/* Bytes to tokens, merged; there is room for one a byte. */
static int merge_word(lg_tokenizer *t, const char *text, size_t n, lg_error *err)
{
    int32_t *out = next_token(t);
    for (size_t i = 0; i < n; i++) {
        out[i] = t->of_byte[(unsigned char)text[i]];
        if (out[i] == LG_NONE) return refuse_byte(t, (unsigned char)text[i], err);
    }
    int e = lg__merge(&t->merges, out, &n, err);
    if (!e) t->n += n;
    return e;
}

/* The word as a key: `left` bytes can be read behind its start. */
static void word_key(uint64_t key[4], const char *text, size_t n, size_t left)
{
    if (left >= 32) {
        memcpy(key, text, 32);
        for (size_t i = 0; i < 4; i++) {
            size_t bytes = n > 8 * i ? n - 8 * i : 0;
            if (bytes < 8) key[i] &= ((uint64_t)1 << 8 * bytes) - 1;
        }
    } else {
        memset(key, 0, 32);
        memcpy(key, text, n);
    }
    key[3] |= (uint64_t)n << 56;
}

static int same_word(const struct lg__word *w, const uint64_t key[4])
{
    return ((w->key[0] ^ key[0]) | (w->key[1] ^ key[1]) | (w->key[2] ^ key[2]) |
            (w->key[3] ^ key[3])) == 0;
}

static uint64_t word_place(const uint64_t key[4])
{
    uint64_t h = (key[0] ^ key[1] * 0x9FB21C651E98DF25u ^ (key[2] + key[3]) * 0xD6E8FEB86659FD93u) *
                 0x9E3779B97F4A7C15u;
    return (h >> 40 ^ h >> 20) & (LG__WORDS - 2); /* the first of two */
}

/* A word lately seen is looked up, in either of its two places; a new one takes the first, and
 * what was there the second. */
static int encode_word(lg_tokenizer *t, const char *text, size_t n, size_t left, lg_error *err)
{
    if (n > LG__WORD_BYTES) return merge_word(t, text, n, err);
    uint64_t key[4];
    word_key(key, text, n, left);
    struct lg__word *w = &t->words[word_place(key)];
    const struct lg__word *seen = same_word(w, key) ? w : same_word(w + 1, key) ? w + 1 : NULL;
    if (seen) {
        memcpy(next_token(t), seen->token, sizeof seen->token);
        t->n += seen->n;
        return 0;
    }
    size_t before = t->n;
    int e = merge_word(t, text, n, err);
    if (e || t->n - before > LG__WORD_TOKENS) return e;
    w[1] = w[0];
    memcpy(w->key, key, sizeof w->key);
    w->n = (uint32_t)(t->n - before);
    memcpy(w->token, (int32_t *)t->tokens.data + before, w->n * sizeof *w->token);
    return 0;
}

/* Text without added tokens. */
static int encode_plain(lg_tokenizer *t, const char *text, size_t n, int begin, lg_error *err)
{
    int e = room(t, n + 1 + LG__WORD_TOKENS, err);
    if (!e && begin && t->prefix_space && n && text[0] != ' ') {
        e = lg__reserve(&t->prefixed, n + 1, "text", err);
        if (e) return e;
        char *copy = t->prefixed.data;
        copy[0] = ' ';
        memcpy(copy + 1, text, n++);
        text = copy;
    }
    while (n && !e) {
        size_t word = t->regex ? lg__split_word(t->split, text, n) : n;
        e = encode_word(t, text, word, n, err);
        text += word;
        n -= word;
    }
    return e;
}

static int put_token(lg_tokenizer *t, int32_t token, lg_error *err)
{
    int e = room(t, 1, err);
    if (!e) *next_token(t) = token, t->n++;
    return e;
}

/* Valid UTF-8 without tokens that are found before normalising. */
static int encode_valid(lg_tokenizer *t, const char *text, size_t n, int high, int begin,
                        lg_error *err)
{
    int e = t->nfc && high ? lg__nfc(&t->normalised, &text, &n, err) : 0;
    for (size_t at = 0, found, bytes = 0; at < n && !e; at = found + bytes) {
        int32_t token = LG_NONE;
        found = lg__added_find(&t->normal, text, n, at, &bytes, &token);
        if (found == n) bytes = 0;
        if (found > at) e = encode_plain(t, text + at, found - at, begin || at > 0, err);
        if (!e && bytes) e = put_token(t, token, err);
    }
    return e;
}

/* What is not UTF-8 becomes the tokens of its bytes, one by one. */
static int encode_any(lg_tokenizer *t, const char *text, size_t n, int begin, lg_error *err)
{
    int e = 0;
    for (size_t at = 0; at < n && !e;) {
        int high;
        size_t valid = lg__utf8_valid(text + at, n - at, &high);
        if (valid) e = encode_valid(t, text + at, valid, high, begin && at == 0, err);
        at += valid;
        if (!e && at < n) e = room(t, 1, err);
        if (!e && at < n) e = merge_word(t, text + at++, 1, err);
    }
    return e;
}

static int encode_byte_level(lg_tokenizer *t, const char *text, size_t n, int begin, lg_error *err)
{
    int e = 0;
    for (size_t at = 0, found, bytes = 0; at < n && !e; at = found + bytes) {
        int32_t token = LG_NONE;
        found = lg__added_find(&t->raw, text, n, at, &bytes, &token);
        if (found == n) bytes = 0;
        if (found > at) e = encode_any(t, text + at, found - at, begin || at > 0, err);
        if (!e && bytes) e = put_token(t, token, err);
    }
    return e;
}

/* llama2.c: a space before the text; letters to tokens, or the tokens of their bytes; merged. */
static int encode_scored(lg_tokenizer *t, const char *text, size_t n, int begin, lg_error *err)
{
    int e = room(t, n + 1, err);
    if (e || !n) return e;
    int32_t *out = next_token(t);
    size_t count = 0;
    if (begin) out[count++] = (int32_t)lg__names_find(&t->names, lg__token_bytes, t, " ", 1, -1);
    for (size_t at = 0, bytes; at < n; at += bytes) {
        for (bytes = 1; bytes < 4 && at + bytes < n; bytes++)
            if (((unsigned char)text[at + bytes] & 0xC0) != 0x80) break;
        int64_t token = lg__names_find(&t->names, lg__token_bytes, t, text + at, bytes, -1);
        if (token >= 0) out[count++] = (int32_t)token;
        for (size_t i = 0; i < bytes && token < 0; i++)
            out[count++] = t->of_byte[(unsigned char)text[at + i]];
    }
    e = lg__merge(&t->merges, out, &count, err);
    if (!e) t->n += count;
    return e;
}

int lg__tokenizer_encode(lg_tokenizer *t, const char *text, size_t n, int begin,
                         const int32_t **tokens, size_t *count, lg_error *err)
{
    t->n = 0;
    int e = room(t, 0, err);
    if (!e && t->kind == LG__BYTES) e = room(t, n, err);
    if (e) return e;
    if (t->kind == LG__BYTES) {
        for (size_t i = 0; i < n; i++) ((int32_t *)t->tokens.data)[i] = (unsigned char)text[i];
        t->n = n;
    } else if (t->kind == LG__SCORED) {
        e = encode_scored(t, text, n, begin, err);
    } else {
        e = encode_byte_level(t, text, n, begin, err);
    }
    *tokens = t->tokens.data;
    *count = e ? 0 : t->n;
    return e;
}

int lg_tokenizer_encode(lg_tokenizer *t, const char *text, size_t n, const int32_t **tokens,
                        size_t *count, lg_error *err)
{
    return lg__tokenizer_encode(t, text, n, 1, tokens, count, err);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

int lg_tokenizer_decode(lg_tokenizer *t, const int32_t *tokens, size_t count, const char **text,
                        size_t *n, lg_error *err)
{
    size_t used = 0;
    int e = lg__reserve(&t->text, 1, "text", err);
    for (size_t i = 0; i < count && !e; i++) {
        size_t bytes = 0;
        const char *piece = lg_tokenizer_piece(t, tokens[i], &bytes);
        if (!piece)
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "token %d, number %zu of those to decode, is not in the vocabulary of %s: "
                "its tokens are 0 to %d",
                tokens[i], i + 1, t->file, t->vocab - 1);
        e = lg__reserve(&t->text, used + bytes + 1, "text", err);
        if (e) break;
        if (bytes) memcpy((char *)t->text.data + used, piece, bytes);
        used += bytes;
    }
    if (e) return e;
    char *start = t->text.data;
    start[used] = '\0';
    int skip =
        t->kind == LG__SCORED && used && start[0] == ' '; /* the one that encoding put there */
    *text = start + skip;
    *n = used - (size_t)skip;
    return 0;
}
