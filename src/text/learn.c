/* learn.c: which pair to merge next: counts that follow every merge, and a heap over them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/learn.h"

enum { BYTES = 256, FIRST = BYTES + 1 };

struct word {
    size_t first;
    uint32_t n;
    int64_t count;
};

struct pair {
    int32_t left, right;
    int64_t count;
    int64_t shown; /* count of its entry in the heap, at least `count`; 0: it has none */
    uint32_t list; /* its last node + 1 */
    int changed;   /* it is among the changed ones */
};

/* A word in which a pair was, and the node before; a word may be there twice, or no longer fit. */
struct node {
    uint32_t word, before;
};

struct entry {
    int64_t count;
    uint32_t pair;
};

static struct pair *pair_at(const struct lg__learner *m, size_t i)
{
    return (struct pair *)m->pair.data + i;
}

/* ---- The vocabulary ----------------------------------------------------------------------------- */

const char *lg__learner_token(const void *learner, uint32_t token, size_t *n)
{
    const struct lg__learner *m = learner;
    *n = m->first[token + 1] - m->first[token];
    return (const char *)m->bytes.data + m->first[token];
}

/* The token that has the bytes of both, which is made if there is none; or a negative code. */
static int64_t join(struct lg__learner *m, int32_t left, int32_t right, lg_error *err)
{
    int64_t next = FIRST + m->made;
    size_t used = m->first[next], n = m->first[left + 1] - m->first[left];
    size_t k = m->first[right + 1] - m->first[right];
    int e = lg__reserve(&m->bytes, used + n + k, "the vocabulary", err);
    if (e) return e;
    char *bytes = m->bytes.data;
    memcpy(bytes + used, bytes + m->first[left], n);
    memcpy(bytes + used + n, bytes + m->first[right], k);
    m->first[next + 1] = used + n + k;
    int64_t token = lg__names_find(&m->names, lg__learner_token, m, bytes + used, n + k, next);
    if (token >= 0) return token;
    m->made++;
    return next;
}

int lg__learner_new(struct lg__learner *m, int32_t vocab, lg_error *err)
{
    size_t count = (size_t)vocab;
    *m = (struct lg__learner){.first = lg__alloc((count + 2) * sizeof *m->first)};
    int e = m->first ? lg__names_new(&m->names, count, err)
                     : lg__fail(err, LG_ERROR_MEMORY, "no memory for %d tokens", vocab);
    if (!e) e = lg__reserve(&m->bytes, BYTES, "the vocabulary", err);
    for (int i = 0; i < BYTES && !e; i++) {
        ((unsigned char *)m->bytes.data)[i] = (unsigned char)i;
        m->first[i + 1] = (size_t)i; /* token 0 has no bytes */
    }
    if (!e) m->first[FIRST] = BYTES;
    size_t slots = (size_t)1 << 16;
    if (!e) e = lg__reserve(&m->slot, slots * sizeof(uint32_t), "pairs", err);
    if (!e) memset(m->slot.data, 0, slots * sizeof(uint32_t));
    return e;
}

void lg__learner_free(struct lg__learner *m)
{
    struct lg__block *blocks[] = {&m->bytes, &m->word, &m->token, &m->pair,
                                  &m->list,  &m->heap, &m->slot,  &m->changed};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) lg__block_free(blocks[i]);
    lg__names_free(&m->names);
    free(m->first);
    free(m->left);
    free(m->right);
    *m = (struct lg__learner){0};
}

/* ---- Pairs ---------------------------------------------------------------------------------------- */

static uint64_t hash_pair(int32_t left, int32_t right)
{
    return lg__mix((uint64_t)(uint32_t)left << 32 | (uint32_t)right);
}

static void put_slot(struct lg__learner *m, size_t pair)
{
    const struct pair *p = pair_at(m, pair);
    uint32_t *slot = m->slot.data;
    uint64_t mask = m->slot.size / sizeof *slot - 1, i = hash_pair(p->left, p->right);
    while (slot[i & mask]) i++;
    slot[i & mask] = (uint32_t)pair + 1;
}

/* The pair's number; a new one where there is none; or a negative code. */
static int64_t find_pair(struct lg__learner *m, int32_t left, int32_t right, lg_error *err)
{
    uint32_t *slot = m->slot.data;
    uint64_t mask = m->slot.size / sizeof *slot - 1;
    for (uint64_t i = hash_pair(left, right); slot[i & mask]; i++) {
        const struct pair *p = pair_at(m, slot[i & mask] - 1);
        if (p->left == left && p->right == right) return slot[i & mask] - 1;
    }
    int e = lg__reserve(&m->pair, (m->pairs + 1) * sizeof(struct pair), "pairs", err);
    if (e) return e;
    *pair_at(m, m->pairs++) = (struct pair){.left = left, .right = right};
    if (2 * m->pairs <= mask) {
        put_slot(m, m->pairs - 1);
        return (int64_t)m->pairs - 1;
    }
    e = lg__block_grow(&m->slot, 2 * m->slot.size, 0, "pairs", err);
    if (e) return e;
    memset(m->slot.data, 0, m->slot.size);
    for (size_t i = 0; i < m->pairs; i++) put_slot(m, i);
    return (int64_t)m->pairs - 1;
}

/* Adds the word's count to those of all its pairs, or with sign -1 takes it away. With `listed` the
 * word goes into the lists of the pairs that have the token `added` in them; LG_NONE: of all. */
static int count_pairs(struct lg__learner *m, uint32_t word, int sign, int listed, int32_t added,
                       lg_error *err)
{
    const struct word *w = (const struct word *)m->word.data + word;
    const int32_t *token = (const int32_t *)m->token.data + w->first;
    for (uint32_t i = 0; i + 1 < w->n; i++) {
        int64_t number = find_pair(m, token[i], token[i + 1], err);
        if (number < 0) return (int)number;
        struct pair *p = pair_at(m, (size_t)number);
        p->count += sign * w->count;
        if (!p->changed) {
            int e = lg__reserve(&m->changed, (m->changes + 1) * sizeof(uint32_t), "pairs", err);
            if (e) return e;
            ((uint32_t *)m->changed.data)[m->changes++] = (uint32_t)number;
            p->changed = 1;
        }
        if (!listed || (added != LG_NONE && token[i] != added && token[i + 1] != added)) continue;
        if (p->list && ((struct node *)m->list.data)[p->list - 1].word == word) continue;
        if (m->nodes >= UINT32_MAX - 1)
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "the words of the texts have more than 4e9 pairs of letters: name fewer");
        int e = lg__reserve(&m->list, (m->nodes + 1) * sizeof(struct node), "pairs", err);
        if (e) return e;
        ((struct node *)m->list.data)[m->nodes++] = (struct node){word, p->list};
        p->list = (uint32_t)m->nodes;
    }
    return 0;
}

int lg__learner_word(struct lg__learner *m, const unsigned char *bytes, size_t n, int64_t count,
                     lg_error *err)
{
    int e = lg__reserve(&m->word, (m->words + 1) * sizeof(struct word), "words", err);
    if (!e) e = lg__reserve(&m->token, (m->tokens + n) * sizeof(int32_t), "words", err);
    if (e) return e;
    int32_t *token = (int32_t *)m->token.data + m->tokens;
    for (size_t i = 0; i < n; i++) token[i] = 1 + bytes[i];
    ((struct word *)m->word.data)[m->words++] = (struct word){m->tokens, (uint32_t)n, count};
    m->tokens += n;
    return count_pairs(m, (uint32_t)m->words - 1, 1, 1, LG_NONE, err);
}

/* ---- The heap --------------------------------------------------------------------------------------- */

static int before(const struct lg__learner *m, const struct entry *a, const struct entry *b)
{
    const struct pair *p = pair_at(m, a->pair), *q = pair_at(m, b->pair);
    if (a->count != b->count) return a->count > b->count;
    return p->left != q->left ? p->left < q->left : p->right < q->right;
}

static int push(struct lg__learner *m, uint32_t pair, lg_error *err)
{
    int e = lg__reserve(&m->heap, (m->entries + 1) * sizeof(struct entry), "pairs", err);
    if (e) return e;
    struct entry *heap = m->heap.data, new = {pair_at(m, pair)->count, pair};
    pair_at(m, pair)->shown = new.count;
    size_t i = m->entries++;
    for (; i && before(m, &new, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = new;
    return 0;
}

static struct entry pop(struct lg__learner *m)
{
    struct entry *heap = m->heap.data, top = heap[0], last = heap[--m->entries];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->entries; i = child) {
        if (child + 1 < m->entries && before(m, &heap[child + 1], &heap[child])) child++;
        if (!before(m, &heap[child], &last)) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}

/* Entries for the pairs that come more often than the heap says. */
static int show_changed(struct lg__learner *m, lg_error *err)
{
    int e = 0;
    for (size_t i = 0; i < m->changes && !e; i++) {
        uint32_t number = ((uint32_t *)m->changed.data)[i];
        struct pair *p = pair_at(m, number);
        p->changed = 0;
        if (p->count > p->shown) e = push(m, number, err);
    }
    m->changes = 0;
    return e;
}

/* The pair that comes most often, or -1 if none comes twice; or a code below that. */
static int64_t most_frequent(struct lg__learner *m, lg_error *err)
{
    while (m->entries) {
        struct entry top = pop(m);
        struct pair *p = pair_at(m, top.pair);
        if (top.count != p->shown) continue; /* there is a later entry */
        if (top.count == p->count) return top.count >= 2 ? (int64_t)top.pair : -1;
        p->shown = 0;
        if (p->count > 0 && push(m, top.pair, err)) return LG_ERROR_MEMORY;
    }
    return -1;
}

/* ---- Merging ------------------------------------------------------------------------------------------ */

static int has_pair(const int32_t *token, uint32_t n, int32_t left, int32_t right)
{
    for (uint32_t i = 0; i + 1 < n; i++)
        if (token[i] == left && token[i + 1] == right) return 1;
    return 0;
}

static int merge_word(struct lg__learner *m, uint32_t word, int32_t left, int32_t right,
                      int32_t made, lg_error *err)
{
    struct word *w = (struct word *)m->word.data + word;
    int32_t *token = (int32_t *)m->token.data + w->first;
    if (!has_pair(token, w->n, left, right)) return 0;
    int e = count_pairs(m, word, -1, 0, LG_NONE, err);
    if (e) return e;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        int both = i + 1 < w->n && token[i] == left && token[i + 1] == right;
        token[n++] = both ? made : token[i];
        i += (uint32_t)both;
    }
    w->n = n;
    return count_pairs(m, word, 1, 1, made, err);
}

static int note_merge(struct lg__learner *m, int32_t left, int32_t right, lg_error *err)
{
    if (m->merges == m->room) {
        int32_t room = m->room ? 2 * m->room : 1024;
        void *l = realloc(m->left, (size_t)room * sizeof *m->left);
        if (l) m->left = l;
        void *r = l ? realloc(m->right, (size_t)room * sizeof *m->right) : NULL;
        if (!r) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d merges", room);
        m->right = r;
        m->room = room;
    }
    m->left[m->merges] = left;
    m->right[m->merges++] = right;
    return 0;
}

int lg__learner_merge(struct lg__learner *m, lg_error *err)
{
    int e = show_changed(m, err);
    int64_t best = e ? e : most_frequent(m, err);
    if (best == -1 && !e) return 0;
    if (best < 0) return (int)best;
    struct pair p = *pair_at(m, (size_t)best);
    int64_t made = join(m, p.left, p.right, err);
    e = made < 0 ? (int)made : note_merge(m, p.left, p.right, err);
    for (uint32_t at = p.list; at && !e;) {
        struct node node = ((struct node *)m->list.data)[at - 1];
        e = merge_word(m, node.word, p.left, p.right, (int32_t)made, err);
        at = node.before;
    }
    return e ? e : 1;
}
