/* rng.c: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011), a counter-based generator.
 * key = seed; counter = (block, stream, index low, index high). Block b holds the words
 * 4b .. 4b+3 of (seed, stream, index); after 2^34 words a stream starts again. */
#include <math.h>

#include "lengthen.h"

/* Ten rounds of (hi, lo) = multiplier * counter word, crossed, with a key that walks on. */
static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * x0;
        uint64_t b = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)b;
        x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)a;
        k0 += 0x9E3779B9u; /* the golden ratio */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

void lg_rng_init(lg_rng *r, uint64_t seed, uint32_t stream, uint64_t index)
{
    *r = (lg_rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, stream, (uint32_t)index, (uint32_t)(index >> 32)},
    };
}

uint32_t lg_rng_u32(lg_rng *r)
{
    if (r->left == 0) {
        philox(r->word, r->counter, r->key);
        r->counter[0]++;
        r->left = 4;
    }
    return r->word[4 - r->left--];
}

/* Lemire 2019: the high half of word * n; the low halves below 2^32 mod n, which would come
 * once too often, are thrown away. */
uint32_t lg_rng_below(lg_rng *r, uint32_t n)
{
    if (n < 2) return 0;
    uint64_t product = (uint64_t)lg_rng_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = (0u - n) % n; /* 2^32 mod n */
        while ((uint32_t)product < threshold) product = (uint64_t)lg_rng_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

double lg_rng_uniform(lg_rng *r)
{
    uint64_t high = lg_rng_u32(r) >> 5; /* 27 bits */
    uint64_t low = lg_rng_u32(r) >> 6;  /* 26 bits */
    return (double)(high << 26 | low) * (1.0 / (double)(1ll << 53));
}

/* Box-Muller, the cosine half alone: two uniforms a number and nothing kept between calls,
 * so that a copy of *r continues exactly. 1 - u is in (0, 1], so the logarithm is finite. */
double lg_rng_normal(lg_rng *r)
{
    const double two_pi = 6.283185307179586476925;
    double radius = sqrt(-2.0 * log(1.0 - lg_rng_uniform(r)));
    return radius * cos(two_pi * lg_rng_uniform(r));
}
