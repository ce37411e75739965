/* train.c: learns byte-level BPE: counts the words of the texts, then again and again makes the pair
 * of neighbours that comes most often into a token (Sennrich, Haddow, Birch 2016). Of pairs that come
 * equally often the one of the least tokens is taken, so that the same texts give the same file. Each
 * pair knows the words it was in, so that a merge touches those alone. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "text/text.h"
#include "text/learn.h"

enum { MOST_VOCAB = 1000000, FIRST = 257 }; /* tokens before the first merge */

/* ---- Counting words ---------------------------------------------------------------------------- */

struct word {
    size_t first; /* of its bytes, later of its tokens */
    uint32_t n;
    int64_t count;
};

struct learning {
    const lg_bpe_options *o;
    lg_bpe_result *result;
    int64_t total; /* bytes of the files */
    struct lg__split *split;
    struct lg__names table; /* of the words */
    size_t words, text_used;
    struct lg__block word, text; /* struct word, their bytes */
    struct lg__learner learner;
};

static const char *word_bytes(const void *learning, uint32_t i, size_t *n)
{
    const struct learning *l = learning;
    const struct word *w = (const struct word *)l->word.data + i;
    *n = w->n;
    return (const char *)l->text.data + w->first;
}

/* A table of twice the size. */
static int grow_table(struct learning *l, lg_error *err)
{
    struct lg__names larger;
    int e = lg__names_new(&larger, l->words + 1024, err);
    if (e) return e;
    for (size_t i = 0; i < l->words; i++) {
        size_t n;
        const char *bytes = word_bytes(l, (uint32_t)i, &n);
        lg__names_find(&larger, word_bytes, l, bytes, n, (int64_t)i);
    }
    lg__names_free(&l->table);
    l->table = larger;
    return 0;
}

static int count_word(struct learning *l, const char *bytes, size_t n, lg_error *err)
{
    if (n < 2) return 0; /* nothing to merge */
    int64_t i = lg__names_find(&l->table, word_bytes, l, bytes, n, (int64_t)l->words);
    if (i >= 0) {
        ((struct word *)l->word.data)[i].count++;
        return 0;
    }
    int e = lg__reserve(&l->word, (l->words + 1) * sizeof(struct word), "the words of a text", err);
    if (!e) e = lg__reserve(&l->text, l->text_used + n, "the words of a text", err);
    if (e) return e;
    memcpy((char *)l->text.data + l->text_used, bytes, n);
    ((struct word *)l->word.data)[l->words++] = (struct word){l->text_used, (uint32_t)n, 1};
    l->text_used += n;
    return 2 * l->words > l->table.mask ? grow_table(l, err) : 0;
}

static int watch(struct learning *l, int merging, double done, lg_error *err)
{
    lg_bpe_progress p = {.merging = merging,
                         .done = done,
                         .words = (int64_t)l->words,
                         .vocab = FIRST + l->learner.made};
    if (!l->o->watch || l->o->watch(l->o->context, &p)) return 0;
    return lg__fail(err, LG_ERROR_STOPPED, "stopped; nothing was written to %s", l->o->file);
}

static int count_piece(void *context, const struct lg__piece *p, lg_error *err)
{
    struct learning *l = context;
    int e = 0;
    for (size_t at = 0; at < p->n && !e;) {
        int high;
        size_t valid = lg__utf8_valid(p->text + at, p->n - at, &high), end = at + valid;
        while (at < end && !e) {
            size_t n = lg__split_word(l->split, p->text + at, end - at);
            e = count_word(l, p->text + at, n, err);
            at += n;
        }
        at += end < p->n; /* a byte that is not UTF-8 is a word of its own */
    }
    l->result->bytes += (int64_t)p->n;
    l->result->documents += p->last;
    return e ? e : watch(l, 0, l->total ? (double)p->done / (double)l->total : 1, err);
}

/* ---- Merging ------------------------------------------------------------------------------------- */

static int learn_merges(struct learning *l, lg_error *err)
{
    struct lg__learner *m = &l->learner;
    int e = lg__learner_new(m, l->o->vocab, err);
    for (size_t i = 0; i < l->words && !e; i++) {
        const struct word *w = (const struct word *)l->word.data + i;
        e = lg__learner_word(m, (const unsigned char *)l->text.data + w->first, w->n, w->count,
                             err);
    }
    for (int more = 1; more && !e;) {
        e = watch(l, 1, (double)m->made / (double)(l->o->vocab - FIRST + 1), err);
        if (!e && FIRST + m->made < l->o->vocab) {
            more = lg__learner_merge(m, err);
            e = more < 0 ? more : 0;
        } else {
            more = 0;
        }
    }
    return e;
}

/* ---- Writing --------------------------------------------------------------------------------------- */

/* The letters of bytes, inside of a JSON string. */
static void put_letters(FILE *f, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int letter = lg__byte_letter((unsigned char)bytes[i]);
        if (letter == '"' || letter == '\\') fputc('\\', f);
        if (letter >= 0x80) fputc(0xC0 | letter >> 6, f);
        fputc(letter >= 0x80 ? 0x80 | (letter & 0x3F) : letter, f);
    }
}

static void put_token(FILE *f, const struct lg__learner *m, int32_t token)
{
    size_t n;
    const char *bytes = lg__learner_token(m, (uint32_t)token, &n);
    put_letters(f, bytes, n);
}

static int write_json(const struct learning *l, lg_error *err)
{
    static const char steps[] =
        "{\n    \"type\": \"ByteLevel\",\n    \"add_prefix_space\": false,\n"
        "    \"trim_offsets\": true,\n    \"use_regex\": true\n  }";
    const struct lg__learner *m = &l->learner;
    struct lg__part part = {0};
    int e = lg__part_open(&part, l->o->file, err);
    if (e) return e;
    FILE *f = part.file;
    fprintf(
        f,
        "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n"
        "  \"added_tokens\": [\n    {\n      \"id\": 0,\n      \"content\": \"<|endoftext|>\",\n"
        "      \"single_word\": false,\n      \"lstrip\": false,\n      \"rstrip\": false,\n"
        "      \"normalized\": false,\n      \"special\": true\n    }\n  ],\n"
        "  \"normalizer\": null,\n  \"pre_tokenizer\": %s,\n  \"post_processor\": %s,\n"
        "  \"decoder\": %s,\n  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n"
        "    \"unk_token\": null,\n    \"continuing_subword_prefix\": null,\n"
        "    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n"
        "    \"byte_fallback\": false,\n    \"vocab\": {\n      \"<|endoftext|>\": 0",
        steps, steps, steps);
    for (int32_t i = 1; i < FIRST + m->made; i++) {
        fputs(",\n      \"", f);
        put_token(f, m, i);
        fprintf(f, "\": %d", i);
    }
    fputs("\n    },\n    \"merges\": [", f);
    for (int32_t i = 0; i < m->merges; i++) {
        fputs(i ? ",\n      \"" : "\n      \"", f);
        put_token(f, m, m->left[i]);
        fputc(' ', f);
        put_token(f, m, m->right[i]);
        fputc('"', f);
    }
    fputs("\n    ]\n  }\n}\n", f);
    return lg__part_keep(&part, err);
}

static int train(struct learning *l, lg_error *err)
{
    struct lg__sources s = {0};
    int e = lg__sources_find(&s, l->o->paths, l->o->path_count, err);
    if (!e) e = lg__names_new(&l->table, 1 << 16, err);
    if (!e) l->split = lg__split_new(err);
    if (!e && !l->split) e = LG_ERROR_MEMORY;
    l->total = s.size;
    if (!e) e = lg__documents(&s, l->o->field, count_piece, l, err);
    if (!e) e = learn_merges(l, err);
    if (!e && l->learner.made == 0)
        e = lg__fail(
            err, LG_ERROR_ARGUMENT,
            "no two letters come together twice in these texts, so there is nothing to learn: "
            "name more text");
    if (!e) e = write_json(l, err);
    l->result->words = (int64_t)l->words;
    l->result->vocab = FIRST + l->learner.made;
    lg__sources_free(&s);
    return e;
}

int lg_bpe_train(const lg_bpe_options *o, lg_bpe_result *result, lg_error *err)
{
    struct learning l = {.o = o, .result = result};
    *result = (lg_bpe_result){0};
    if (o->vocab <= FIRST || o->vocab > MOST_VOCAB)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the vocabulary is to have %d tokens: take %d to %d (the end of text and the "
            "256 bytes are among them)",
            o->vocab, FIRST + 1, MOST_VOCAB);
    if (!o->path_count)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there are no texts to learn from: name some files");
    int e = train(&l, err);
    lg__split_free(l.split);
    lg__names_free(&l.table);
    lg__block_free(&l.word);
    lg__block_free(&l.text);
    lg__learner_free(&l.learner);
    return e;
}
