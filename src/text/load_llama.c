/* load_llama.c: llama2.c's tokenizer.bin: the length of the longest token, then of each token its
 * score, its length and its bytes. Tokens 0 to 2 are unknown, begin and end, 3 to 258 the bytes; the
 * others are merged from two neighbours by the greatest score. Older files lack the first number, or
 * have bytes as the letters U+0000 to U+00FF instead of as <0x00> to <0xFF>. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

enum { BEGIN = 1, BYTES = 3, PIECES = BYTES + 256, LONGEST = 1 << 16 };

struct bin {
    const char *file;
    const unsigned char *data;
    size_t size;
};

static int32_t number_at(const struct bin *b, size_t at)
{
    int32_t v;
    memcpy(&v, b->data + at, sizeof v);
    return v;
}

/* Bytes of the token at `at`; -1: there is none. */
static int32_t length_at(const struct bin *b, size_t at)
{
    if (b->size - at < 8) return -1;
    int32_t n = number_at(b, at + 4);
    return n < 0 || n > LONGEST || (size_t)n > b->size - at - 8 ? -1 : n;
}

/* Tokens of the file from `at` to its very end; -1: it does not end with one. */
static int64_t count_tokens(const struct bin *b, size_t at, int32_t *longest)
{
    int64_t count = 0;
    *longest = 0;
    for (; at < b->size; count++) {
        int32_t n = length_at(b, at);
        if (n < 0) return -1;
        if (n > *longest) *longest = n;
        at += 8 + (size_t)n;
    }
    return count;
}

/* Whether a token's text stands for this byte, in one of both ways. */
static int is_byte(const char *text, size_t n, unsigned byte)
{
    char name[8],
        letter[2] = {(char)(byte < 0x80 ? byte : 0xC0 | byte >> 6), (char)(0x80 | (byte & 0x3F))};
    snprintf(name, sizeof name, "<0x%02X>", byte & 0xFF);
    return (n == 6 && memcmp(text, name, n) == 0) ||
           (n == (byte < 0x80 ? 1 : 2) && memcmp(text, letter, n) == 0);
}

static int put_tokens(lg_tokenizer *t, const struct bin *b, size_t at, float *score, lg_error *err)
{
    int e = 0;
    for (int32_t i = 0; i < t->vocab && !e; i++) {
        size_t n = (size_t)length_at(b, at);
        const char *text = (const char *)b->data + at + 8;
        unsigned byte = (unsigned)(i - BYTES);
        memcpy(&score[i], b->data + at, sizeof score[i]);
        if (!isfinite(score[i]))
            return lg__fail(
                err, LG_ERROR_SYSTEM,
                "%s: the score of token %d is not a number: take a whole, unchanged file", b->file,
                i);
        if (i >= BYTES && i < PIECES) {
            if (!is_byte(text, n, byte))
                return lg__fail(err, LG_ERROR_SYSTEM,
                                "%s: token %d is not the byte 0x%02x, so it is not a tokenizer of "
                                "llama2.c, the only kind of .bin that is read",
                                b->file, i, byte);
            t->of_byte[byte] = i;
            e = lg__tokenizer_put(t, i, &(char){(char)byte}, 1, err);
        } else {
            e = lg__tokenizer_put(t, i, text, n, err);
        }
        at += 8 + n;
    }
    return e;
}

/* ---- Merges -------------------------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* How many different scores are greater. */
static uint32_t rank_of(const float *scores, size_t count, float score)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (scores[mid] > score)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

/* Every way to cut a token into two. */
static int put_cuts(lg_tokenizer *t, const float *score, const float *scores, lg_error *err)
{
    size_t cuts = 0;
    for (int32_t i = PIECES; i < t->vocab; i++) cuts += (size_t)t->length[i];
    int e = lg__merges_new(&t->merges, cuts, err);
    for (int32_t i = PIECES; i < t->vocab && !e; i++) {
        size_t n;
        const char *text = lg__token_bytes(t, (uint32_t)i, &n);
        if (lg__names_find(&t->names, lg__token_bytes, t, text, n, -1) != i) continue;
        for (size_t cut = 1; cut < n; cut++) {
            int64_t left = lg__names_find(&t->names, lg__token_bytes, t, text, cut, -1);
            int64_t right = lg__names_find(&t->names, lg__token_bytes, t, text + cut, n - cut, -1);
            if (left >= 0 && right >= 0)
                lg__merges_add(&t->merges, (int32_t)left, (int32_t)right,
                               rank_of(scores, (size_t)t->vocab, score[i]), i);
        }
    }
    return e;
}

static int put_merges(lg_tokenizer *t, const char *file, const float *score, lg_error *err)
{
    size_t count = (size_t)t->vocab;
    float *scores = lg__alloc(count * sizeof *scores);
    int e = scores ? lg__names_new(&t->names, count, err)
                   : lg__fail(err, LG_ERROR_MEMORY, "no memory for the scores of %s", file);
    for (int32_t i = PIECES; i < t->vocab && !e; i++) {
        size_t n;
        const char *text = lg__token_bytes(t, (uint32_t)i, &n);
        if (n) lg__names_find(&t->names, lg__token_bytes, t, text, n, i);
    }
    if (!e && lg__names_find(&t->names, lg__token_bytes, t, " ", 1, -1) < 0)
        e = lg__fail(
            err, LG_ERROR_SYSTEM,
            "%s: it has no token for a space, which llama2.c puts before every text: take a "
            "whole, unchanged file",
            file);
    if (!e) {
        memcpy(scores, score, count * sizeof *scores);
        qsort(scores, count, sizeof *scores, by_score);
        e = put_cuts(t, score, scores, err);
    }
    free(scores);
    return e;
}

static int read_bin(lg_tokenizer *t, const struct bin *b, lg_error *err)
{
    int32_t longest = 0;
    size_t at = 4;
    int64_t count = b->size < 4 ? -1 : count_tokens(b, at, &longest);
    if (count < 0 || longest != number_at(b, 0)) count = count_tokens(b, at = 0, &longest);
    if (count < PIECES)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s is not a whole tokenizer.bin of llama2.c (%zu bytes): take a whole, "
                        "unchanged file",
                        b->file, b->size);
    if (longest > LG__TOKEN_BYTES)
        return lg__fail(
            err, LG_ERROR_SYSTEM,
            "%s has a token of %d bytes, and at most %d are read: take a tokenizer with "
            "shorter tokens",
            b->file, longest, LG__TOKEN_BYTES);
    float *score = lg__alloc((size_t)count * sizeof *score);
    if (!score) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the scores of %s", b->file);
    t->kind = LG__SCORED;
    t->begin = BEGIN;
    int e = lg__tokenizer_room(t, count, err);
    if (!e) e = put_tokens(t, b, at, score, err);
    if (!e) e = put_merges(t, b->file, score, err);
    free(score);
    return e;
}

int lg__load_llama(lg_tokenizer *t, const char *file, lg_error *err)
{
    struct lg__block data = {0};
    struct bin b = {.file = file};
    FILE *f = fopen(file, "rb");
    int e = f ? 0
              : lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read (%s): check your rights", file,
                         strerror(errno));
    for (size_t n = 1; n && !e; b.size += n) {
        e = lg__reserve(&data, b.size + LONGEST, "a tokenizer", err);
        n = e ? 0 : fread((char *)data.data + b.size, 1, LONGEST, f);
    }
    b.data = data.data;
    if (!e) e = read_bin(t, &b, err);
    if (f) fclose(f);
    lg__block_free(&data);
    return e;
}
