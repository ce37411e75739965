/* added.c: tokens that are found in a text as they are, the leftmost and longest first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

/* A node before this sibling; a negative code. */
static int32_t new_node(struct lg__added *a, int32_t sibling, unsigned char byte, lg_error *err)
{
    if (a->nodes == a->room) {
        int room = a->room ? 2 * a->room : 64;
        void *node = realloc(a->node, (size_t)room * sizeof *a->node);
        if (node) a->node = node;
        void *token = node ? realloc(a->token, (size_t)room * sizeof *a->token) : NULL;
        if (!token) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d added tokens", room);
        a->token = token;
        a->room = room;
    }
    a->node[a->nodes] = (struct lg__added_node){.sibling = sibling, .byte = byte};
    a->token[a->nodes] = LG_NONE;
    return a->nodes++;
}

/* The child of a node that this byte leads to; 0: none. */
static int32_t child_of(const struct lg__added *a, int32_t node, unsigned char byte)
{
    int32_t child = a->node[node].child;
    while (child && a->node[child].byte != byte) child = a->node[child].sibling;
    return child;
}

int lg__added_put(struct lg__added *a, const char *text, size_t n, int32_t token, lg_error *err)
{
    int32_t at = a->nodes ? 0 : new_node(a, 0, 0, err);
    for (size_t i = 0; i < n && at >= 0; i++) {
        unsigned char c = (unsigned char)text[i];
        int32_t after = at ? child_of(a, at, c) : a->first[c];
        if (!after) {
            after = new_node(a, at ? a->node[at].child : 0, c, err);
            if (after > 0) *(at ? &a->node[at].child : &a->first[c]) = after;
        }
        at = after;
    }
    if (at < 0) return at;
    a->token[at] = token;
    return 0;
}

void lg__added_free(struct lg__added *a)
{
    free(a->node);
    free(a->token);
    *a = (struct lg__added){0};
}

/* Of the trie as a table: for each node the children of all bytes. Checksums of tokenizers are in the
 * configs of runs, so it stays. */
uint64_t lg__added_hash(const struct lg__added *a, uint64_t seed)
{
    size_t nodes = (size_t)a->nodes;
    uint64_t h = lg__hash_begin(nodes * sizeof a->first, seed);
    for (size_t i = 0; i < nodes; i++) {
        int32_t row[256] = {0};
        for (int32_t c = a->node[i].child; c; c = a->node[c].sibling) row[a->node[c].byte] = c;
        h = lg__hash_words(h, i ? row : a->first, sizeof row / 8);
    }
    return lg__hash(a->token, nodes * sizeof *a->token, lg__mix(h));
}

size_t lg__added_find(const struct lg__added *a, const char *text, size_t n, size_t at,
                      size_t *bytes, int32_t *token)
{
    const unsigned char *s = (const unsigned char *)text;
    if (!a->nodes) return n;
    for (; at < n; at++) {
        int32_t node = a->first[s[at]];
        if (!node) continue;
        *token = LG_NONE;
        for (size_t i = at + 1; node; node = i < n ? child_of(a, node, s[i]) : 0, i++)
            if (a->token[node] != LG_NONE) {
                *token = a->token[node];
                *bytes = i - at;
            }
        if (*token != LG_NONE) return at;
    }
    return n;
}
