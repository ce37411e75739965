/* merge.c: byte pair encoding: neighbours become one token, the pair of least rank first. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

enum { SHORT = 64 }; /* tokens up to which looking at all ranks beats a heap */
#define NO_RANK UINT32_MAX

int lg__merges_new(struct lg__merges *m, size_t count, lg_error *err)
{
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    *m = (struct lg__merges){.slot = lg__alloc(slots * sizeof *m->slot), .mask = slots - 1};
    if (!m->slot) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %zu merges", count);
    for (size_t i = 0; i < slots; i++) m->slot[i].both = UINT64_MAX;
    return 0;
}

void lg__merges_free(struct lg__merges *m)
{
    free(m->slot);
    lg__block_free(&m->work);
    *m = (struct lg__merges){0};
}

static struct lg__pair *find(const struct lg__merges *m, int32_t left, int32_t right)
{
    uint64_t both = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    for (uint64_t i = (both * 0x9E3779B97F4A7C15u) >> 32;; i++) {
        struct lg__pair *p = &m->slot[i & m->mask];
        if (p->both == both || p->both == UINT64_MAX) return p;
    }
}

void lg__merges_add(struct lg__merges *m, int32_t left, int32_t right, uint32_t rank, int32_t token)
{
    struct lg__pair *p = find(m, left, right);
    m->count += p->both == UINT64_MAX;
    *p = (struct lg__pair){(uint64_t)(uint32_t)left << 32 | (uint32_t)right, rank, token};
}

static uint32_t rank_of(const struct lg__merges *m, int32_t left, int32_t right)
{
    const struct lg__pair *p = find(m, left, right);
    return p->both == UINT64_MAX ? NO_RANK : p->rank;
}

static size_t merge_short(const struct lg__merges *m, int32_t *token, size_t n)
{
    uint32_t rank[SHORT]; /* of token i and the next */
    for (size_t i = 0; i + 1 < n; i++) rank[i] = rank_of(m, token[i], token[i + 1]);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best]) best = i;
        if (rank[best] == NO_RANK) break;
        token[best] = find(m, token[best], token[best + 1])->token;
        n--;
        memmove(token + best + 1, token + best + 2, (n - best - 1) * sizeof *token);
        if (best + 1 < n) {
            memmove(rank + best + 1, rank + best + 2, (n - best - 2) * sizeof *rank);
            rank[best] = rank_of(m, token[best], token[best + 1]);
        }
        if (best > 0) rank[best - 1] = rank_of(m, token[best - 1], token[best]);
    }
    return n;
}

/* ---- Long words: a heap of pairs, in which old ones are found out when they come up ---------- */

struct link {
    uint32_t before, after; /* places; NO_RANK: none */
};
struct entry {
    uint32_t rank, at;
    int32_t left, right; /* as they were when it was put in */
};
struct long_word {
    const struct lg__merges *m;
    int32_t *token; /* -1: merged into one before it */
    struct link *link;
    struct entry *heap;
    size_t entries;
};

static int less(const struct entry *a, const struct entry *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->at < b->at);
}

static void push(struct long_word *w, uint32_t at)
{
    if (at == NO_RANK || w->link[at].after == NO_RANK) return;
    struct entry e = {.at = at, .left = w->token[at], .right = w->token[w->link[at].after]};
    e.rank = rank_of(w->m, e.left, e.right);
    if (e.rank == NO_RANK) return;
    size_t i = w->entries++;
    for (; i && less(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2) w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = e;
}

static struct entry pop(struct long_word *w)
{
    struct entry top = w->heap[0], last = w->heap[--w->entries];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < w->entries; i = child) {
        if (child + 1 < w->entries && less(&w->heap[child + 1], &w->heap[child])) child++;
        if (!less(&w->heap[child], &last)) break;
        w->heap[i] = w->heap[child];
    }
    w->heap[i] = last;
    return top;
}

static void merge_at(struct long_word *w, const struct entry *e)
{
    uint32_t right = w->link[e->at].after;
    if (w->token[e->at] != e->left || right == NO_RANK || w->token[right] != e->right) return;
    w->token[e->at] = find(w->m, e->left, e->right)->token;
    w->token[right] = -1;
    uint32_t after = w->link[right].after;
    w->link[e->at].after = after;
    if (after != NO_RANK) w->link[after].before = e->at;
    push(w, w->link[e->at].before);
    push(w, e->at);
}

int lg__merge(struct lg__merges *m, int32_t *tokens, size_t *n, lg_error *err)
{
    size_t all = *n, kept = 0;
    if (all <= SHORT) {
        *n = merge_short(m, tokens, all);
        return 0;
    }
    if (all >= NO_RANK / 4)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "a stretch of %zu bytes without a place to cut it cannot be encoded at once: "
            "cut it into parts of at most 1 GB",
            all);
    /* A merge takes one token away and puts at most two entries in. */
    int e = lg__block_grow(&m->work, all * (sizeof(struct link) + 3 * sizeof(struct entry)), 0,
                           "the pairs of a long word", err);
    if (e) return e;
    struct long_word w = {.m = m, .token = tokens, .heap = m->work.data};
    w.link = (struct link *)(w.heap + 3 * all);
    for (size_t i = 0; i < all; i++)
        w.link[i] =
            (struct link){i ? (uint32_t)i - 1 : NO_RANK, i + 1 < all ? (uint32_t)i + 1 : NO_RANK};
    for (size_t i = 0; i + 1 < all; i++) push(&w, (uint32_t)i);
    while (w.entries) {
        struct entry top = pop(&w);
        merge_at(&w, &top);
    }
    for (size_t i = 0; i < all; i++)
        if (tokens[i] >= 0) tokens[kept++] = tokens[i];
    *n = kept;
    return 0;
}
