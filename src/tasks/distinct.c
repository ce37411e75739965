/* distinct.c: names and keys: sequences of words that are all different. */
#include <string.h>

#include "tasks.h"

int32_t lg__key_code(const int32_t *words, int width, int32_t first, int base)
{
    int64_t code = 0;
    for (int j = 0; j < width; j++) code = (code * base + words[j] - first) % INT32_MAX;
    return (int32_t)code;
}

void lg__key_words(int64_t code, int32_t *words, int width, int base)
{
    for (int j = width - 1; j >= 0; j--, code /= base) words[j] = (int32_t)(code % base);
}

/* base^width, or something above 2^30 if it is more than that. */
int64_t lg__distinct_count(int base, int width)
{
    int64_t count = 1;
    for (int i = 0; i < width && count <= 1 << 30; i++) count *= base;
    return count;
}

/* Enters sequence i into a table of `size` places, more than will be used: 0 if it is there. A
 * place holds the number of a sequence + 1, or 0. */
static int enter(int32_t *table, int size, const int32_t *out, int stride, int width, int i)
{
    const int32_t *word = out + (size_t)i * (size_t)stride;
    uint64_t hash = 0;
    for (int j = 0; j < width; j++) hash = (hash + (uint64_t)word[j]) * 0x9E3779B97F4A7C15u;
    int at = (int)((hash >> 32) * (uint64_t)size >> 32);
    for (; table[at]; at = at + 1 < size ? at + 1 : 0) {
        const int32_t *old = out + (size_t)(table[at] - 1) * (size_t)stride;
        if (memcmp(old, word, (size_t)width * sizeof *word) == 0) return 0;
    }
    table[at] = i + 1;
    return 1;
}

/* n different sequences of `width` numbers below base, each choice and order equally likely:
 * sequence i goes to out[i * stride] and on. scratch has room for 2n numbers; base^width >= n. */
void lg__distinct(int32_t *out, int stride, int n, int width, int base, int32_t *scratch, lg_rng *r)
{
    int64_t count = lg__distinct_count(base, width);
    if (count > 2 * (int64_t)n) { /* so that less than half of the draws are thrown away */
        memset(scratch, 0, 2 * (size_t)n * sizeof *scratch);
        for (int i = 0; i < n;) {
            int32_t *word = out + (size_t)i * (size_t)stride;
            for (int j = 0; j < width; j++) word[j] = (int32_t)lg_rng_below(r, (uint32_t)base);
            i += enter(scratch, 2 * n, out, stride, width, i);
        }
        return;
    }
    for (int i = 0; i < (int)count; i++) scratch[i] = i;
    for (int i = 0; i < n; i++) { /* a shuffle of them all that stops after n */
        int other = i + (int)lg_rng_below(r, (uint32_t)((int)count - i));
        int code = scratch[other];
        scratch[other] = scratch[i];
        for (int j = width - 1; j >= 0; j--, code /= base)
            out[(size_t)i * (size_t)stride + (size_t)j] = code % base;
    }
}
