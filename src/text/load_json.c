/* load_json.c: byte-level BPE from Hugging Face's tokenizer.json and from GPT-2's pair of files. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/json.h"
#include "text/text.h"

#define REMEDY "take a whole, unchanged file"

/* Values of a file, as lg__json_values counts: half a million merges and tokens have half of that. */
enum { MOST_VALUES = 8000000 };

/* ---- Letters for bytes ------------------------------------------------------------------------ */

/* Bytes that are visible in Latin-1 stand for themselves; the others, in their order, are written
 * as the letters from U+0100 on. */
static int visible(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173); }

int lg__byte_letter(unsigned char byte)
{
    int hidden = 0;
    if (visible(byte)) return byte;
    for (int i = 0; i < byte; i++) hidden += !visible(i);
    return 256 + hidden;
}

int lg__letter_byte(int letter)
{
    if (letter >= 0 && letter < 256) return visible(letter) ? letter : -1;
    for (int i = 0; i < 256; i++)
        if (!visible(i) && letter-- == 256) return i;
    return -1;
}

/* The bytes that the letters of a token stand for, in `bytes`, which has room for n; -1: one of
 * the letters stands for none. */
static int64_t to_bytes(char *bytes, const char *letters, size_t n, const int16_t byte_of[512])
{
    int64_t count = 0;
    for (size_t at = 0; at < n;) {
        utf8proc_int32_t letter;
        utf8proc_ssize_t m = utf8proc_iterate((const utf8proc_uint8_t *)letters + at,
                                              (utf8proc_ssize_t)(n - at), &letter);
        if (m < 1 || letter >= 512 || byte_of[letter] < 0) return -1;
        bytes[count++] = (char)byte_of[letter];
        at += (size_t)m;
    }
    return count;
}

/* ---- The vocabulary ----------------------------------------------------------------------------- */

struct loading {
    lg_tokenizer *t;
    const char *file; /* that is read now */
    json_t *vocab;    /* token's letters to its number */
    char *made;       /* [vocab] whether a merge gives it */
    int16_t byte_of[512];
    struct lg__block text;
};

static int refuse_vocab(const struct loading *l, const char *token, const char *why, lg_error *err)
{
    return lg__fail(err, LG_ERROR_SYSTEM, "%s: token \"%.60s\" %s: " REMEDY, l->file, token, why);
}

/* The highest number of the vocabulary and the added tokens, + 1; or a negative code. */
static int64_t count_tokens(const struct loading *l, const json_t *added, lg_error *err)
{
    const char *name;
    json_t *number;
    const json_t *one;
    int64_t most = -1;
    size_t i;
    json_object_foreach(l->vocab, name, number)
    {
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return refuse_vocab(l, name, "has a number that is not a whole one from 0 on", err);
        if (json_integer_value(number) > most) most = json_integer_value(number);
    }
    json_array_foreach(added, i, one)
    {
        int64_t id = json_integer_value(json_object_get(one, "id"));
        if (id > most) most = id;
    }
    return most < INT64_MAX ? most + 1 : most; /* too many either way */
}

static int put_vocabulary(struct loading *l, const json_t *added, lg_error *err)
{
    lg_tokenizer *t = l->t;
    int64_t vocab = count_tokens(l, added, err);
    int e = vocab < 0 ? (int)vocab : lg__tokenizer_room(t, vocab, err);
    if (e) return e;
    const char *name;
    json_t *number;
    json_object_foreach(l->vocab, name, number)
    {
        int32_t token = (int32_t)json_integer_value(number);
        size_t n = strlen(name);
        e = lg__reserve(&l->text, n + 1, "a token", err);
        if (e) return e;
        if (t->length[token] >= 0)
            return refuse_vocab(l, name, "has the same number as another", err);
        int64_t bytes = to_bytes(l->text.data, name, n, l->byte_of);
        e = bytes < 0 ? lg__tokenizer_put(t, token, name, n, err)
                      : lg__tokenizer_put(t, token, l->text.data, (size_t)bytes, err);
        if (e) return e;
        if (bytes == 1) t->of_byte[*(unsigned char *)l->text.data] = token;
    }
    l->made = lg__alloc((size_t)vocab);
    return l->made ? 0 : lg__fail(err, LG_ERROR_MEMORY, "no memory for the merges of %s", l->file);
}

/* ---- Merges ---------------------------------------------------------------------------------------- */

/* A token by its letters, which need not end with a zero. */
static int32_t token_of(struct loading *l, const char *letters, size_t n)
{
    char *text = l->text.data;
    memmove(text, letters, n);
    text[n] = '\0';
    const json_t *number = json_object_get(l->vocab, text);
    return number ? (int32_t)json_integer_value(number) : LG_NONE;
}

static int put_merge(struct loading *l, uint32_t rank, const char *left, size_t n,
                     const char *right, size_t m, lg_error *err)
{
    int e = lg__reserve(&l->text, n + m + 1, "a merge", err);
    if (e) return e;
    int32_t a = token_of(l, left, n), b = token_of(l, right, m);
    char *both = l->text.data;
    memcpy(both, left, n);
    memcpy(both + n, right, m);
    int32_t made = token_of(l, both, n + m);
    if (a == LG_NONE || b == LG_NONE || made == LG_NONE)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: merge %u, \"%.*s\" with \"%.*s\", has or makes a token that is not in "
                        "the vocabulary: " REMEDY,
                        l->file, rank + 1, n < 40 ? (int)n : 40, left, m < 40 ? (int)m : 40, right);
    lg__merges_add(&l->t->merges, a, b, rank, made);
    l->made[made] = 1;
    return 0;
}

/* "left right", n bytes. */
static int put_line(struct loading *l, uint32_t rank, const char *line, size_t n, lg_error *err)
{
    const char *space = memchr(line, ' ', n);
    size_t left = space ? (size_t)(space - line) : 0;
    if (!left || left + 1 == n || memchr(space + 1, ' ', n - left - 1) || memchr(line, 0, n))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: merge %u is \"%.*s\", not two tokens with a space between: " REMEDY,
                        l->file, rank + 1, n < 60 ? (int)n : 60, line);
    return put_merge(l, rank, line, left, space + 1, n - left - 1, err);
}

/* <|endoftext|> or [PAD]: such are in vocabularies on purpose, though nothing makes them. */
static int is_name(const char *token, int32_t n)
{
    return n > 2 &&
           ((token[0] == '<' && token[n - 1] == '>') || (token[0] == '[' && token[n - 1] == ']'));
}

/* Merges that were lost show as tokens that nothing makes. */
static int check_merges(const struct loading *l, lg_error *err)
{
    const lg_tokenizer *t = l->t;
    int32_t lost = 0, tokens = 0, one = 0;
    for (int32_t i = 0; i < t->vocab; i++) {
        tokens += t->length[i] >= 0;
        if (t->length[i] < 2 || l->made[i]) continue;
        if (is_name((const char *)t->bytes.data + t->first[i], t->length[i])) continue;
        lost++;
        one = i;
    }
    if (lost)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: %d of its %d tokens (such as token %d) are made by none of its %zu "
                        "merges, so merges are missing: " REMEDY,
                        l->file, lost, tokens, one, t->merges.count);
    for (int i = 0x20; i < 0x7f; i++)
        if (t->of_byte[i] == LG_NONE)
            return lg__fail(err, LG_ERROR_SYSTEM,
                            "%s: its vocabulary has no token for the letter %c, so it is not of "
                            "byte-level BPE, the only kind that is read",
                            l->file, i);
    return 0;
}

static int put_merges(struct loading *l, const json_t *merges, lg_error *err)
{
    size_t i, count = json_array_size(merges);
    const json_t *one;
    if (!count)
        return lg__fail(
            err, LG_ERROR_SYSTEM,
            "%s: model.merges is missing or empty; byte-level BPE cannot do without: " REMEDY,
            l->file);
    int e = lg__merges_new(&l->t->merges, count, err);
    json_array_foreach(merges, i, one)
    {
        const json_t *left = json_array_get(one, 0), *right = json_array_get(one, 1);
        if (e) return e;
        if (json_is_string(one))
            e = put_line(l, (uint32_t)i, json_string_value(one), json_string_length(one), err);
        else if (json_array_size(one) == 2 && json_is_string(left) && json_is_string(right))
            e = put_merge(l, (uint32_t)i, json_string_value(left), json_string_length(left),
                          json_string_value(right), json_string_length(right), err);
        else
            e = lg__fail(err, LG_ERROR_SYSTEM,
                         "%s: merge %zu is neither \"a b\" nor [\"a\", \"b\"]: " REMEDY, l->file,
                         i + 1);
    }
    return e;
}

/* ---- tokenizer.json ---------------------------------------------------------------------------------- */

static int is_type(const json_t *o, const char *type)
{
    const char *is = json_string_value(json_object_get(o, "type"));
    return is && strcmp(is, type) == 0;
}

static const char *type_of(const json_t *o)
{
    const char *is = json_string_value(json_object_get(o, "type"));
    return is ? is : "nothing";
}

static int is_true(const json_t *o, const char *key, int fallback)
{
    const json_t *v = json_object_get(o, key);
    return v ? json_is_true(v) : fallback;
}

/* Whether a post-processor puts tokens around a text, or may. */
static int adds_tokens(const json_t *after)
{
    if (!after || json_is_null(after) || is_type(after, "ByteLevel")) return 0;
    if (!is_type(after, "TemplateProcessing") || !json_is_array(json_object_get(after, "single")))
        return 1;
    const json_t *single = json_object_get(after, "single");
    for (size_t i = 0; i < json_array_size(single); i++)
        if (!json_object_get(json_array_get(single, i), "Sequence")) return 1;
    return 0;
}

/* What the file asks of the text before it is merged, as far as that is known here. */
static int read_steps(struct loading *l, const json_t *root, lg_error *err)
{
    const json_t *normalizer = json_object_get(root, "normalizer");
    const json_t *before = json_object_get(root, "pre_tokenizer");
    const json_t *after = json_object_get(root, "post_processor");
    const json_t *model = json_object_get(root, "model");
    static const char *const unread[] = {
        "dropout",       "unk_token",    "continuing_subword_prefix", "end_of_word_suffix",
        "byte_fallback", "ignore_merges"};
    if (!is_type(model, "BPE"))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: model.type is %s; only BPE on bytes is read: take a tokenizer of that "
                        "kind (GPT-2, GPT-NeoX, OLMo)",
                        l->file, type_of(model));
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        const json_t *v = json_object_get(model, unread[i]);
        if (v && !json_is_null(v) && !json_is_false(v) &&
            !(json_is_string(v) && !json_string_length(v)))
            return lg__fail(err, LG_ERROR_SYSTEM,
                            "%s: model.%s is set, which is not read: take a plain byte-level "
                            "tokenizer (GPT-2, GPT-NeoX, OLMo)",
                            l->file, unread[i]);
    }
    if (normalizer && !json_is_null(normalizer) && !is_type(normalizer, "NFC"))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: normalizer is %s; only NFC or null is read: take another tokenizer",
                        l->file, type_of(normalizer));
    if (!is_type(before, "ByteLevel"))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: pre_tokenizer is %s; only ByteLevel is read: take another tokenizer",
                        l->file, type_of(before));
    if (adds_tokens(after))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: post_processor is %s and adds tokens, which is not read: take another "
                        "tokenizer",
                        l->file, type_of(after));
    l->t->nfc = is_type(normalizer, "NFC");
    l->t->prefix_space = is_true(before, "add_prefix_space", 1);
    l->t->regex = is_true(before, "use_regex", 1);
    return 0;
}

static int put_added(struct loading *l, const json_t *one, lg_error *err)
{
    static const char *const unread[] = {"single_word", "lstrip", "rstrip"};
    lg_tokenizer *t = l->t;
    const json_t *content = json_object_get(one, "content"), *id = json_object_get(one, "id");
    const char *text = json_string_value(content);
    if (!text || !*text || !json_is_integer(id) || json_integer_value(id) < 0)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: an added token has no content or no id from 0 on: " REMEDY, l->file);
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (is_true(one, unread[i], 0))
            return lg__fail(
                err, LG_ERROR_SYSTEM,
                "%s: added token \"%.60s\" has %s, which would change the text and is not "
                "read: take another tokenizer",
                l->file, text, unread[i]);
    int32_t token = (int32_t)json_integer_value(id);
    size_t n = json_string_length(content);
    if (n > LG__TOKEN_BYTES)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: added token \"%.60s\" has %zu bytes, and at most %d are read: take a "
                        "tokenizer with shorter ones",
                        l->file, text, n, LG__TOKEN_BYTES);
    const json_t *other = json_object_get(l->vocab, text);
    if (other ? json_integer_value(other) != token : t->length[token] >= 0)
        return refuse_vocab(l, text, "is added with a number that the vocabulary gives otherwise",
                            err);
    int e = lg__tokenizer_put(t, token, text, n, err);
    if (e) return e;
    if (strcmp(text, "<|endoftext|>") == 0 || (strcmp(text, "</s>") == 0 && t->end == LG_NONE))
        t->end = token;
    l->made[token] = 1; /* as it is found in texts */
    return lg__tokenizer_added(t, token, text, n, !is_true(one, "normalized", 0), err);
}

static int read_root(struct loading *l, const json_t *root, lg_error *err)
{
    const json_t *model = json_object_get(root, "model"), *one;
    const json_t *added = json_object_get(root, "added_tokens");
    size_t i;
    l->vocab = json_object_get(model, "vocab");
    if (!json_is_object(model) || !json_is_object(l->vocab))
        return lg__fail(
            err, LG_ERROR_SYSTEM,
            "%s: there is no model.vocab in it, so it is no tokenizer.json; GPT-2's pair is "
            "read under the names encoder.json and vocab.bpe, or vocab.json and merges.txt",
            l->file);
    int e = read_steps(l, root, err);
    if (!e) e = put_vocabulary(l, added, err);
    if (!e) e = put_merges(l, json_object_get(model, "merges"), err);
    json_array_foreach(added, i, one) if (!e) e = put_added(l, one, err);
    return e ? e : check_merges(l, err);
}

/* All bytes of the file, in a block that the caller frees. */
static int read_bytes(const char *file, struct lg__block *bytes, size_t *n, lg_error *err)
{
    FILE *f = fopen(file, "rb");
    int e = 0, bad = !f;
    size_t got = 1;
    for (*n = 0; f && got && !e; *n += got) {
        e = lg__reserve(bytes, *n + LG__PIECE, "a tokenizer", err);
        got = e ? 0 : fread((char *)bytes->data + *n, 1, LG__PIECE, f);
    }
    if (f) bad = ferror(f) != 0;
    if (!e && bad)
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read (%s): check the name and your rights",
                     file, strerror(errno));
    if (f) fclose(f);
    return e;
}

/* The file's JSON, or NULL. */
static json_t *read_json(const char *file, lg_error *err)
{
    json_error_t at;
    json_t *root = NULL;
    struct lg__block bytes = {0};
    size_t n;
    int e = read_bytes(file, &bytes, &n, err);
    if (!e && lg__json_values(bytes.data, n) > MOST_VALUES)
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "%s has over %d values, more than any tokenizer: " REMEDY, file, MOST_VALUES);
    if (!e && !(root = json_loadb(bytes.data, n, JSON_REJECT_DUPLICATES, &at)))
        lg__fail(err, LG_ERROR_SYSTEM, "%s: line %d, byte %d: not whole JSON (%.120s): " REMEDY,
                 file, at.line, at.position, at.text);
    lg__block_free(&bytes);
    return root;
}

static void begin_loading(struct loading *l, lg_tokenizer *t, const char *file)
{
    *l = (struct loading){.t = t, .file = file};
    t->kind = LG__BYTE_LEVEL;
    for (int i = 0; i < 512; i++) l->byte_of[i] = (int16_t)lg__letter_byte(i);
}

static int end_loading(struct loading *l, int e)
{
    free(l->made);
    lg__block_free(&l->text);
    return e;
}

int lg__load_json(lg_tokenizer *t, const char *file, lg_error *err)
{
    struct loading l;
    json_t *root = read_json(file, err);
    if (!root) return LG_ERROR_SYSTEM;
    begin_loading(&l, t, file);
    int e = read_root(&l, root, err);
    json_decref(root);
    return end_loading(&l, e);
}

/* ---- GPT-2's pair ------------------------------------------------------------------------------------- */

static size_t count_lines(FILE *f)
{
    size_t lines = 1; /* the last need not end */
    for (int c; (c = getc(f)) != EOF;) lines += c == '\n';
    rewind(f);
    return lines;
}

/* A line each, after one with the version. */
static int read_lines(struct loading *l, FILE *f, lg_error *err)
{
    char *line = NULL;
    size_t size = 0;
    uint32_t rank = 0;
    ssize_t n;
    int e = lg__merges_new(&l->t->merges, count_lines(f), err);
    while (!e && (n = getline(&line, &size, f)) >= 0) {
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
        if (n && !(rank == 0 && strncmp(line, "#version", 8) == 0))
            e = put_line(l, rank++, line, (size_t)n, err);
    }
    free(line);
    if (!e && !rank)
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s: there are no merges in it: " REMEDY, l->file);
    return e;
}

int lg__load_pair(lg_tokenizer *t, const char *vocabulary, const char *merges, lg_error *err)
{
    struct loading l;
    json_t *root = read_json(vocabulary, err);
    if (!root) return LG_ERROR_SYSTEM;
    begin_loading(&l, t, vocabulary);
    t->regex = 1;
    l.vocab = root;
    int e = json_is_object(root) && json_object_size(root)
                ? put_vocabulary(&l, NULL, err)
                : lg__fail(err, LG_ERROR_SYSTEM, "%s: there is no {token: number} in it: " REMEDY,
                           vocabulary);
    FILE *f = e ? NULL : fopen(merges, "rb");
    l.file = merges;
    if (!e && !f)
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "%s cannot be read (%s): the merges must lie beside %s, under this name",
                     merges, strerror(errno), vocabulary);
    if (!e) e = read_lines(&l, f, err);
    if (!e) e = check_merges(&l, err);
    const json_t *end = json_object_get(root, "<|endoftext|>");
    if (!e && end) t->end = (int32_t)json_integer_value(end);
    if (f) fclose(f);
    json_decref(root);
    return end_loading(&l, e);
}
