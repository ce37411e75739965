/* t5.c: a learned bias for each bucket of distances; buckets grow with the distance.
 *
 * For distance >= 16 the bucket is 16 + floor(16 ln(distance/16) / ln 8). It is at least 16 + m
 * where 16 ln(distance/16) >= m ln 8, that is distance >= 16 * 2^(3m/16), or in integers
 * distance^16 >= 2^(64 + 3m). edge[m-1] is the least such distance: no logarithm a key, and no
 * rounding to think about. m = 16 (distance 128) would be bucket 32: 31 is the last. */
#include "positions/positions.h"

enum { EXACT = 16, BUCKETS = 32, SIDES = 2 * BUCKETS, EDGES = BUCKETS - EXACT - 1 };
static const int edge[EDGES] = {19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};

static int bucket_of(int64_t distance)
{
    if (distance < EXACT) return (int)distance;
    int bucket = EXACT;
    for (int m = 0; m < EDGES; m++) bucket += distance >= edge[m];
    return bucket;
}

/* d = key ID - query ID. T5 has no keys ahead of a decoder's query; coupled IDs do, and they
 * take the second 32 (of which the first, distance 0, stays unused). */
static size_t entry(const lg_model_config *c, int level, int64_t d)
{
    (void)c, (void)level;
    return (size_t)(d <= 0 ? bucket_of(-d) : BUCKETS + bucket_of(d));
}

static void shape(const lg_model_config *c, int *rows, int *cols)
{
    *rows = c->heads;
    *cols = SIDES * c->levels;
}

static size_t table_start(const lg_model_config *c, int head, int level)
{
    return ((size_t)head * (size_t)c->levels + (size_t)level) * SIDES;
}

LG__TABLE_BIAS(table_start, entry)

const struct lg__encoding lg__encoding_t5 = {
    .name = "t5",
    .flags = LG__ENCODING_RELATIVE,
    .line = "a learned bias for each bucket of ID differences, wider the farther",
    .text = "score += b(h, bucket(query ID - key ID))\n"
            "bucket(d) = d                                           for 0 <= d < 16\n"
            "          = min(31, 16 + floor(16 ln(d/16) / ln(128/16)))     for d >= 16\n"
            "          = 32 + bucket(-d)                             for d < 0, a key ahead\n"
            "b is a table of 64 for each layer and head, zeros at first.\n"
            "Levels: one table each; their values are added. A level that either token lacks\n"
            "adds nothing.\n"
            "Needs: nothing.",
    .shape = shape,
    .bias = bias,
    .bias_backward = bias_backward,
};
