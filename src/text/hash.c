/* hash.c: checksums, blocks that grow, and numbers by their bytes in a flat table. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

uint64_t lg__mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

uint64_t lg__hash_begin(size_t n, uint64_t seed)
{
    return lg__mix(seed + 0x9E3779B97F4A7C15u * (n + 1));
}

uint64_t lg__hash_words(uint64_t h, const void *data, size_t words)
{
    const char *at = data;
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, at + 8 * i, 8);
        h = (h ^ word) * 0x9FB21C651E98DF25u;
        h ^= h >> 29;
    }
    return h;
}

uint64_t lg__hash(const void *data, size_t n, uint64_t seed)
{
    uint64_t h = lg__hash_words(lg__hash_begin(n, seed), data, n / 8), word = 0;
    if (n % 8) memcpy(&word, (const char *)data + n / 8 * 8, n % 8);
    return lg__mix(h ^ word);
}

uint64_t lg__hash_more(uint64_t so_far, const void *data, size_t n)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < n; i++) so_far = (so_far ^ (at[i] + 1u)) * 0x9E3779B97F4A7C15u;
    return so_far;
}

int lg__reserve(struct lg__block *b, size_t size, const char *what, lg_error *err)
{
    if (size <= b->size) return 0;
    return lg__block_grow(b, size < 2 * b->size ? 2 * b->size : size, 1, what, err);
}

int lg__names_new(struct lg__names *s, size_t count, lg_error *err)
{
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    *s = (struct lg__names){.slot = lg__alloc(slots * sizeof *s->slot), .mask = slots - 1};
    return s->slot ? 0
                   : lg__fail(err, LG_ERROR_MEMORY, "no memory for a table of %zu names", count);
}

void lg__names_free(struct lg__names *s)
{
    free(s->slot);
    *s = (struct lg__names){0};
}

int64_t lg__names_find(const struct lg__names *s, lg__name_of *name, const void *of,
                       const char *bytes, size_t n, int64_t add)
{
    for (uint64_t i = lg__hash(bytes, n, 0);; i++) {
        uint32_t *slot = &s->slot[i & s->mask];
        if (*slot == 0) {
            if (add >= 0) *slot = (uint32_t)add + 1;
            return -1;
        }
        size_t m;
        const char *other = name(of, *slot - 1, &m);
        if (m == n && memcmp(other, bytes, n) == 0) return (int64_t)*slot - 1;
    }
}
