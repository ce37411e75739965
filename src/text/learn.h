/* learn.h: the merges of byte-level BPE, learned from words and how often they come. */
#ifndef LG_TEXT_LEARN_H
#define LG_TEXT_LEARN_H

#include "text/text.h"

/* Token 0 is the end of text, 1 + b is byte b, then what merges made. */
struct lg__learner {
    int32_t made;             /* tokens that merges made */
    int32_t merges, room;     /* so far; two merges may make the same token */
    int32_t *left, *right;    /* [merges] */
    struct lg__block bytes;   /* of the tokens */
    size_t *first;            /* [tokens + 1] */
    struct lg__names names;   /* of the tokens */
    struct lg__block word;    /* where its tokens begin, how many they are, how often it comes */
    struct lg__block token;   /* of the words */
    struct lg__block pair;    /* both tokens, how often, and in which words */
    struct lg__block list;    /* those words */
    struct lg__block heap;    /* pairs, the most frequent first */
    struct lg__block slot;    /* pairs by their tokens */
    struct lg__block changed; /* pairs whose number a merge changed */
    size_t words, tokens, pairs, nodes, entries, changes;
};

int lg__learner_new(struct lg__learner *m, int32_t vocab, lg_error *err);
void lg__learner_free(struct lg__learner *m);
/* A word of n >= 2 bytes that comes `count` times. */
int lg__learner_word(struct lg__learner *m, const unsigned char *bytes, size_t n, int64_t count,
                     lg_error *err);
/* The next merge: 1, or 0 if no pair comes twice. */
int lg__learner_merge(struct lg__learner *m, lg_error *err);
const char *lg__learner_token(const void *learner, uint32_t token, size_t *n);

#endif
