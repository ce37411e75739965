/* added.c: tokens that are found in a text as they are, the leftmost and longest first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

static int new_node(struct lg__added *a, lg_error *err)
{
    if (a->nodes == a->room) {
        int room = a->room ? 2 * a->room : 64;
        void *next = realloc(a->next, (size_t)room * sizeof *a->next);
        if (next) a->next = next;
        void *token = next ? realloc(a->token, (size_t)room * sizeof *a->token) : NULL;
        if (!token) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d added tokens", room);
        a->token = token;
        a->room = room;
    }
    memset(a->next[a->nodes], 0, sizeof *a->next);
    a->token[a->nodes] = LG_NONE;
    return a->nodes++;
}

int lg__added_put(struct lg__added *a, const char *text, size_t n, int32_t token, lg_error *err)
{
    int at = a->nodes ? 0 : new_node(a, err);
    for (size_t i = 0; i < n && at >= 0; i++) {
        unsigned char c = (unsigned char)text[i];
        int after = a->next[at][c];
        if (!after) {
            after = new_node(a, err);
            if (after > 0) a->next[at][c] = after;
        }
        at = after;
    }
    if (at < 0) return at;
    a->token[at] = token;
    return 0;
}

void lg__added_free(struct lg__added *a)
{
    free(a->next);
    free(a->token);
    *a = (struct lg__added){0};
}

size_t lg__added_find(const struct lg__added *a, const char *text, size_t n, size_t at,
                      size_t *bytes, int32_t *token)
{
    const unsigned char *s = (const unsigned char *)text;
    if (!a->nodes) return n;
    for (; at < n; at++) {
        int node = a->next[0][s[at]];
        if (!node) continue;
        *token = LG_NONE;
        for (size_t i = at + 1; node; node = i < n ? a->next[node][s[i]] : 0, i++)
            if (a->token[node] != LG_NONE) {
                *token = a->token[node];
                *bytes = i - at;
            }
        if (*token != LG_NONE) return at;
    }
    return n;
}
