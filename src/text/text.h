/* text.h: what the files of this room share. docs/TEXT.md says what is read and how.
 *
 *     bytes ─► added tokens ─► NFC ─► words (split.c) ─► tokens of a word (merge.c)
 *     files ─► documents (source.c) ─► tokens ─► a file to be mapped (cache.c) ─► corpus.c */
#ifndef LG_TEXT_TEXT_H
#define LG_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "lengthen.h"

/* ---- Hashing and tables (hash.c) --------------------------------------------------------- */

/* The same on every machine of this byte order (little-endian). */
uint64_t lg__hash(const void *data, size_t n, uint64_t seed);
/* The same of words of 8 bytes that come in parts: begin with how many bytes they are in all, mix at
 * the end. */
uint64_t lg__hash_begin(size_t n, uint64_t seed);
uint64_t lg__hash_words(uint64_t so_far, const void *data, size_t words);
/* The same for bytes that come in parts, wherever they are cut; to be mixed at the end. */
uint64_t lg__hash_more(uint64_t so_far, const void *data, size_t n);
uint64_t lg__mix(uint64_t x); /* every bit of x in every bit of the result */

/* Room for `size` bytes in a block that keeps what it holds and grows by doubling. */
int lg__reserve(struct lg__block *b, size_t size, const char *what, lg_error *err);

/* Numbers from 0 on by their bytes, which the caller keeps. */
struct lg__names {
    uint32_t *slot; /* number + 1; 0: empty */
    uint64_t mask;
};
/* Bytes of number i of a list. */
typedef const char *lg__name_of(const void *of, uint32_t i, size_t *n);
int lg__names_new(struct lg__names *s, size_t count, lg_error *err); /* room for so many */
void lg__names_free(struct lg__names *s);
/* The number with these bytes, or -1. With add >= 0: adds that number if there is none. */
int64_t lg__names_find(const struct lg__names *s, lg__name_of *name, const void *of,
                       const char *bytes, size_t n, int64_t add);

/* ---- Merging (merge.c) ---------------------------------------------------------------------- */

/* What two neighbours become: the pair of least rank first, of equals the leftmost. */
struct lg__pair {
    uint64_t both; /* left << 32 | right; UINT64_MAX: an empty slot */
    uint32_t rank;
    int32_t token;
};

struct lg__merges {
    struct lg__pair *slot;
    uint64_t mask;
    size_t count;
    struct lg__block work; /* of long words */
};

int lg__merges_new(struct lg__merges *m, size_t count, lg_error *err); /* room for so many */
void lg__merges_free(struct lg__merges *m);
/* A pair said twice keeps what is said last. */
void lg__merges_add(struct lg__merges *m, int32_t left, int32_t right, uint32_t rank,
                    int32_t token);
/* Merges in place until no pair is left to merge; *n becomes less. */
int lg__merge(struct lg__merges *m, int32_t *tokens, size_t *n, lg_error *err);

/* ---- Splitting (split.c, added.c) ------------------------------------------------------------- */

/* GPT-2's pattern: the words of a text. */
struct lg__split;
struct lg__split *lg__split_new(lg_error *err);
void lg__split_free(struct lg__split *s);
/* Bytes of the first word of n >= 1 bytes of valid UTF-8. */
size_t lg__split_word(struct lg__split *s, const char *text, size_t n);
/* The same by the pattern alone, also where there is a quicker way. */
size_t lg__split_pattern(struct lg__split *s, const char *text, size_t n);

/* Bytes at the start of the text that are valid UTF-8; *high: one of them may be changed by NFC. */
size_t lg__utf8_valid(const char *text, size_t n, int *high);

/* The text in NFC: in *out, which has room for it, or the text itself where nothing changes. */
int lg__nfc(struct lg__block *out, const char **text, size_t *n, lg_error *err);

/* Tokens that are found in the text as they are: a trie, whose nodes have their children in a list.
 * Node 0 is the root. */
struct lg__added_node {
    int32_t child, sibling; /* 0: none */
    unsigned char byte;     /* that leads here */
};
struct lg__added {
    int32_t first[256]; /* children of the root; 0: none */
    struct lg__added_node *node;
    int32_t *token; /* that ends at a node, or LG_NONE */
    int nodes, room;
};
int lg__added_put(struct lg__added *a, const char *text, size_t n, int32_t token, lg_error *err);
void lg__added_free(struct lg__added *a);
uint64_t lg__added_hash(const struct lg__added *a, uint64_t seed);
/* The leftmost, of those the longest, from `at` on: its place; n if there is none. */
size_t lg__added_find(const struct lg__added *a, const char *text, size_t n, size_t at,
                      size_t *bytes, int32_t *token);

/* ---- Tokenizers (tokenizer.c, load_*.c, save.c) -------------------------------------------------- */

enum lg__kind { LG__BYTES, LG__BYTE_LEVEL, LG__SCORED };

/* Bytes of an added token, and of a token of llama2.c, whose every cut is looked up: at most. */
enum { LG__TOKEN_BYTES = 1024 };

/* A word and its tokens, one cache line. */
enum { LG__WORD_BYTES = 31, LG__WORD_TOKENS = 7, LG__WORDS = 1 << 16 };
struct lg__word {
    uint64_t key[4]; /* the bytes, zeros, and in the last byte how many they are */
    uint32_t n;
    int32_t token[LG__WORD_TOKENS];
};

struct lg_tokenizer {
    enum lg__kind kind;
    char *file;
    int32_t vocab; /* the highest token + 1 */
    int32_t begin, end;
    struct lg__block bytes; /* of all tokens, end to end */
    size_t used;            /* of them */
    size_t *first;          /* [vocab] where a token's bytes begin */
    int32_t *length;        /* [vocab] how many; -1: there is no such token */
    int32_t of_byte[256];   /* the token that is this byte alone, or LG_NONE */
    struct lg__names names; /* scored: tokens by their bytes */
    struct lg__merges merges;
    struct lg__added raw, normal; /* found before and after the text is normalised */
    int added;                    /* how many of both */
    int nfc, prefix_space, regex;
    struct lg__split *split;
    struct lg__word *words; /* [LG__WORDS] seen lately */
    uint64_t checksum;
    struct lg__block tokens, text, normalised, prefixed; /* what the last calls gave, and between */
    size_t n;                                            /* tokens so far */
};

/* Room for tokens 0..vocab-1, all absent. */
int lg__tokenizer_room(lg_tokenizer *t, int64_t vocab, lg_error *err);
/* Sets the bytes of an absent token. */
int lg__tokenizer_put(lg_tokenizer *t, int32_t token, const char *bytes, size_t n, lg_error *err);
/* An added token, found before (raw) or after normalising. */
int lg__tokenizer_added(lg_tokenizer *t, int32_t token, const char *text, size_t n, int raw,
                        lg_error *err);
/* Encodes; begin 0: the text goes on where an earlier call stopped. */
int lg__tokenizer_encode(lg_tokenizer *t, const char *text, size_t n, int begin,
                         const int32_t **tokens, size_t *count, lg_error *err);
/* Bytes of a token, for lg__names_find. */
const char *lg__token_bytes(const void *tokenizer, uint32_t token, size_t *n);

/* Hugging Face's tokenizer.json; or GPT-2's pair, `merges` NULL where it is not one. */
int lg__load_json(lg_tokenizer *t, const char *file, lg_error *err);
int lg__load_pair(lg_tokenizer *t, const char *vocabulary, const char *merges, lg_error *err);
/* llama2.c's tokenizer.bin. */
int lg__load_llama(lg_tokenizer *t, const char *file, lg_error *err);

/* The letter that stands for a byte in the files of byte-level BPE, and back (-1: none). */
int lg__byte_letter(unsigned char byte);
int lg__letter_byte(int letter);

/* ---- Documents (source.c) --------------------------------------------------------------------------- */

struct lg__source {
    char *path;
    int64_t size, changed; /* bytes; nanoseconds since 1970 */
    int json;              /* one object per line */
};
struct lg__sources {
    struct lg__source *file;
    int count, room;
    int64_t size; /* of all */
};

/* Files, folders and globs to files, in a fixed order. */
int lg__sources_find(struct lg__sources *s, const char *const *paths, int count, lg_error *err);
void lg__sources_free(struct lg__sources *s);

/* A document, or a part of one that is long. */
struct lg__piece {
    const char *text;
    size_t n;
    int first, last; /* of its document */
    const char *file;
    int64_t done; /* bytes of the files that were read so far, packed ones as they are */
};
/* 0 to go on. */
typedef int lg__piece_callback(void *context, const struct lg__piece *p, lg_error *err);
int lg__documents(const struct lg__sources *s, const char *field, lg__piece_callback *callback,
                  void *context, lg_error *err);

enum { LG__PIECE = 1 << 20 };       /* plain text comes in pieces of at most so many bytes */
enum { LG__LINE_BYTES = 64 << 20 }; /* of a line of JSON, at most */
enum { LG__LINE_VALUES = 1000000 }; /* the same, as lg__json_values counts */

/* ---- The token cache (cache.c) ------------------------------------------------------------------------ */

struct lg__cache_writer;
struct lg__cache_writer *lg__cache_begin(const char *path, const lg_tokenizer *t, uint64_t sources,
                                         lg_error *err);
int lg__cache_tokens(struct lg__cache_writer *w, const int32_t *tokens, size_t n, lg_error *err);
/* Ends a document that had so many bytes of text, whose checksum is key; an empty one is left out. */
int lg__cache_document(struct lg__cache_writer *w, size_t bytes, uint64_t key, lg_error *err);
int lg__cache_keep(struct lg__cache_writer *w, lg_error *err); /* ends the writer in any case */
void lg__cache_drop(struct lg__cache_writer *w);

struct lg__cache {
    void *map;
    size_t size;
    const char *path;
    int width; /* bytes of a token */
    int32_t vocab;
    int64_t documents, tokens, bytes;
    uint64_t tokenizer, sources; /* checksums */
    const void *token;           /* [tokens] */
    const uint64_t *offset;      /* [documents + 1] */
    const uint64_t *key;         /* [documents] */
    const char *fault;           /* of one that could not be opened: "is cut off"; or NULL */
};

enum { LG__CACHE_FOREIGN = 1, LG__CACHE_DAMAGED = 2, LG__CACHE_ABSENT = 3 };
/* 0; LG__CACHE_ABSENT; LG__CACHE_FOREIGN, a file of another kind, which nobody should replace;
 * LG__CACHE_DAMAGED, with c->fault; or a negative code. The reason is in *err. */
int lg__cache_open(struct lg__cache *c, const char *path, lg_error *err);
void lg__cache_close(struct lg__cache *c);

#endif
