/* index.c: open addressing from ID to bucket, a chain of tokens in each bucket. */
#include "index.h"

#include <string.h>

#include "base/error.h"

enum { MOST_TOKENS = 1 << 30 };

struct lg__bucket {
    int32_t id;
    int first, last, count;
};

/* The slot that holds the ID, or the empty one where it would go. The first try is the ID
 * itself, so that a walk along the columns stays in the cache; the next ones are steps of
 * the ID's own, so that no run of full slots is ever walked through. The step is odd and the
 * slots are a power of two, at most half full: every slot is reached, two tries on average. */
static unsigned probe(const struct lg__index *x, int32_t id)
{
    const int *slot = x->slot.data;
    const struct lg__bucket *b = x->bucket.data;
    unsigned last = x->slots - 1, at = (unsigned)id & last;
    unsigned step = (unsigned)id * 2654435769u >> 7 | 1;
    while (slot[at] && b[slot[at] - 1].id != id) at = (at + step) & last;
    return at;
}

int lg__index_reserve(struct lg__index *x, int n, lg_error *err)
{
    if (n <= x->room_tokens) return 0;
    if (n > MOST_TOKENS)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a sequence of %d tokens; with span window there may be %d", n,
                        MOST_TOKENS);
    int64_t room = x->room_tokens ? x->room_tokens : 64;
    while (room < n) room *= 2;
    int64_t slots = 128;
    while (slots < 2 * room) slots *= 2;
    int e;
    if ((e = lg__block_grow(&x->next, (size_t)room * sizeof(int), 1, "an index", err)) ||
        (e = lg__block_grow(&x->bucket, (size_t)room * sizeof(struct lg__bucket), 1, "an index",
                            err)) ||
        (e = lg__block_grow(&x->slot, (size_t)slots * sizeof(int), 1, "an index", err)))
        return e;
    x->room_tokens = (int)room;
    x->slots = (unsigned)slots;
    memset(x->slot.data, 0, (size_t)slots * sizeof(int));
    const struct lg__bucket *b = x->bucket.data;
    for (int i = 0; i < x->buckets; i++) ((int *)x->slot.data)[probe(x, b[i].id)] = i + 1;
    return 0;
}

int lg__index_reset(struct lg__index *x, int n, lg_error *err)
{
    int e = lg__index_reserve(x, n, err);
    if (e) return e;
    x->tokens = x->buckets = x->most = 0;
    memset(x->slot.data, 0, (size_t)x->slots * sizeof(int));
    return 0;
}

void lg__index_add(struct lg__index *x, int32_t id)
{
    int *slot = x->slot.data, *next = x->next.data, t = x->tokens++;
    struct lg__bucket *b = x->bucket.data;
    unsigned at = probe(x, id);
    next[t] = -1;
    if (!slot[at]) {
        slot[at] = ++x->buckets;
        b[x->buckets - 1] = (struct lg__bucket){id, t, t, 0};
    }
    b += slot[at] - 1;
    if (b->count) next[b->last] = t;
    b->last = t;
    if (++b->count > x->most) x->most = b->count;
}

void lg__index_free(struct lg__index *x)
{
    lg__block_free(&x->next);
    lg__block_free(&x->bucket);
    lg__block_free(&x->slot);
    *x = (struct lg__index){0};
}

int lg__index_find(const struct lg__index *x, int *key, int *turn, int place, int32_t id, int lo,
                   int hi)
{
    const int *slot = x->slot.data, *next = x->next.data;
    const struct lg__bucket *b = x->bucket.data;
    int n = 0;
    for (int d = lo; d <= hi; d++) {
        int64_t want = (int64_t)id + d;
        if (want < 0 || want > INT32_MAX) continue;
        int at = slot[probe(x, (int32_t)want)];
        if (!at) continue;
        for (int t = b[at - 1].first; t >= 0 && t <= place; t = next[t]) {
            key[n] = t;
            turn[n++] = d - lo;
        }
    }
    return n;
}

int lg__index_most(const struct lg__index *x, int lo, int hi)
{
    int64_t most = (int64_t)x->most * (hi - lo + 1);
    return most < x->tokens ? (int)most : x->tokens;
}
