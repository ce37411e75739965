/* hash.h: FNV-1a, 64 bits. Each byte is a bijection of the sum so far, so that one changed byte always
 * shows. The sums are part of what is stored: checkpoints, configs and rows know their data by them. */
#ifndef LG_BASE_HASH_H
#define LG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define LG__FNV_START 0xcbf29ce484222325u

/* On from the sum so far. */
static inline uint64_t lg__fnv(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ p[i]) * 0x100000001b3u;
    return sum;
}

#endif
