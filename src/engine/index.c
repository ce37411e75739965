/* index.c: open addressing from ID to bucket, a chain of tokens in each bucket; and the
 * tokens of a sequence by their IDs at every level. */
#include "index.h"

#include <string.h>

#include "base/error.h"

enum { MOST_TOKENS = 1 << 30 };

struct lg__bucket {
    int32_t id;
    int first, last, count; /* entries */
};

struct entry {
    int token, next; /* the next entry with the same ID, or -1 */
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
    if ((e = lg__block_grow(&x->entry, (size_t)room * sizeof(struct entry), 1, "an index", err)) ||
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

void lg__index_add(struct lg__index *x, int32_t id, int token)
{
    int *slot = x->slot.data, t = x->tokens++;
    struct entry *entry = x->entry.data;
    struct lg__bucket *b = x->bucket.data;
    unsigned at = probe(x, id);
    entry[t] = (struct entry){token, -1};
    if (!slot[at]) {
        slot[at] = ++x->buckets;
        b[x->buckets - 1] = (struct lg__bucket){id, t, t, 0};
    }
    b += slot[at] - 1;
    if (b->count) entry[b->last].next = t;
    b->last = t;
    if (++b->count > x->most) x->most = b->count;
}

void lg__index_free(struct lg__index *x)
{
    lg__block_free(&x->entry);
    lg__block_free(&x->bucket);
    lg__block_free(&x->slot);
    *x = (struct lg__index){0};
}

/* ---- Several levels -------------------------------------------------------------------- */

/* The index of level l for tokens that have an ID at the lower levels in `mask` (bits). A query
 * then finds the keys of level l without walking over those that a lower level has judged. */
static int which(int level, unsigned mask) { return (1 << level) - 1 + (int)mask; }

int lg__places_room(struct lg__places **all, int *room, int n, lg_error *err)
{
    if (n <= *room) return 0;
    struct lg__block grown = {*all, (size_t)*room * sizeof **all};
    int e = lg__block_grow(&grown, (size_t)n * sizeof **all, 1, "indexes", err);
    if (e) return e;
    *all = grown.data;
    memset(*all + *room, 0, (size_t)(n - *room) * sizeof **all);
    *room = n;
    return 0;
}

int lg__places_reserve(struct lg__places *x, int levels, int n, lg_error *err)
{
    int e = 0;
    x->levels = levels;
    for (int i = 0; i < which(levels, 0) && !e; i++) e = lg__index_reserve(&x->index[i], n, err);
    return e;
}

int lg__places_reset(struct lg__places *x, int levels, int n, lg_error *err)
{
    int e = 0;
    x->levels = levels;
    x->tokens = 0;
    for (int i = 0; i < which(levels, 0) && !e; i++) e = lg__index_reset(&x->index[i], n, err);
    return e;
}

void lg__places_add(struct lg__places *x, const int32_t *const ids[LG_LEVELS], int place)
{
    unsigned mask = 0;
    int token = x->tokens++;
    for (int l = 0; l < x->levels; l++) {
        if (ids[l][place] == LG_ABSENT) continue;
        lg__index_add(&x->index[which(l, mask)], ids[l][place], token);
        mask |= 1u << l;
    }
}

void lg__places_free(struct lg__places *x)
{
    for (int i = 0; i < LG__INDEXES; i++) lg__index_free(&x->index[i]);
    *x = (struct lg__places){0};
}

int64_t lg__rotary_rows(const lg_model_config *c)
{
    int64_t rows = 1;
    for (int l = 0; l < c->levels && rows <= 1 << 22; l++) /* more is refused */
        rows *= c->window_hi[l] - c->window_lo[l] + 2;
    return rows;
}

void lg__rotary_row(const lg_model_config *c, int64_t row, int64_t d[LG_LEVELS],
                    int shared[LG_LEVELS])
{
    for (int l = c->levels - 1; l >= 0; l--) {
        int64_t width = (int64_t)c->window_hi[l] - c->window_lo[l] + 1;
        shared[l] = row % (width + 1) < width;
        d[l] = row % (width + 1) + c->window_lo[l];
        row /= width + 1;
    }
}

/* Adds level l's part for the key to *turn; 0 if the key lies outside the window there. */
static int within(const lg_model_config *c, const int32_t *const ids[LG_LEVELS], int l, int query,
                  int key, int *turn)
{
    int64_t width = c->window_hi[l] - c->window_lo[l] + 1, d = width;
    if (ids[l][query] != LG_ABSENT && ids[l][key] != LG_ABSENT) {
        d = (int64_t)ids[l][key] - ids[l][query] - c->window_lo[l];
        if (d < 0 || d >= width) return 0;
    }
    *turn = *turn * (int)(width + 1) + (int)d;
    return 1;
}

/* The keys of one index whose ID at level l is `id`, if the higher levels agree. */
static int walk(const struct lg__places *x, const struct lg__index *index, int *key, int *turn,
                int place, const int32_t *const ids[LG_LEVELS], const lg_model_config *c,
                int32_t id, int n)
{
    const struct entry *entry = index->entry.data;
    int at = ((const int *)index->slot.data)[probe(index, id)];
    if (!at) return n;
    for (int e = ((const struct lg__bucket *)index->bucket.data)[at - 1].first; e >= 0;
         e = entry[e].next) {
        int t = entry[e].token, row = 0, seen = 1;
        if (t > place) break;
        if (x->levels == 1) /* nothing else to ask, and the row is the difference */
            row = (int)((int64_t)id - ids[0][place] - c->window_lo[0]);
        for (int i = 0; x->levels > 1 && i < x->levels && seen; i++)
            seen = within(c, ids, i, place, t, &row);
        if (!seen) continue;
        key[n] = t;
        turn[n++] = row;
    }
    return n;
}

int lg__places_find(const struct lg__places *x, int *key, int *turn, int place,
                    const int32_t *const ids[LG_LEVELS], const lg_model_config *c)
{
    unsigned has = 0;
    int n = 0;
    for (int l = 0; l < x->levels; l++) {
        if (ids[l][place] == LG_ABSENT) continue;
        for (unsigned mask = 0; mask < 1u << l; mask++) {
            if (mask & has) continue; /* a lower level is shared: judged there */
            for (int d = c->window_lo[l]; d <= c->window_hi[l]; d++) {
                int64_t want = (int64_t)ids[l][place] + d;
                if (want < 0 || want > INT32_MAX) continue;
                n = walk(x, &x->index[which(l, mask)], key, turn, place, ids, c, (int32_t)want, n);
            }
        }
        has |= 1u << l;
    }
    if (!has) { /* a token without any ID sees itself alone */
        key[0] = place;
        turn[0] = (int)lg__rotary_rows(c) - 1;
        n = 1;
    }
    return n;
}

int lg__places_most(const struct lg__places *x, const lg_model_config *c, int more)
{
    int64_t most = 1, tokens = (int64_t)x->tokens + more;
    for (int l = 0; l < x->levels; l++)
        for (unsigned mask = 0; mask < 1u << l; mask++)
            most += ((int64_t)x->index[which(l, mask)].most + more) *
                    (c->window_hi[l] - c->window_lo[l] + 1);
    return most < tokens ? (int)most : (int)tokens;
}
