/* positions.h: the encodings, one file each; table.c lists them. */
#ifndef LG_POSITIONS_H
#define LG_POSITIONS_H

#include "engine/position.h"

extern const struct lg__encoding lg__encoding_none;
extern const struct lg__encoding lg__encoding_rope;
extern const struct lg__encoding lg__encoding_relative;
extern const struct lg__encoding lg__encoding_alibi;
extern const struct lg__encoding lg__encoding_t5;
extern const struct lg__encoding lg__encoding_fire;
extern const struct lg__encoding lg__encoding_learned;
extern const struct lg__encoding lg__encoding_sinusoidal;

/* All of them; NULL ends. Those that the user adds are behind the others. */
extern const struct lg__encoding *lg__encodings[];

const struct lg__encoding *lg__encoding_find(const char *name); /* NULL: there is none */
int lg__encoding_has(const char *name, unsigned flag);
/* "learned or sinusoidal": those with all of these flags. text has LG__ENCODING_NAMES bytes. */
enum { LG__ENCODING_NAMES = 200 };
const char *lg__encoding_names(char *text, unsigned flags);

/* *d = ID of key j - ID of the query at this level; returns 0 if either token has none there.
 * 64 bits: LG_ABSENT is taken off before anyone knows that it is no ID, and levels are summed. */
static inline int lg__difference(const struct lg__pairs *p, int level, int j, int64_t *d)
{
    int32_t query = p->query[level], key = p->key[level][j];
    *d = (int64_t)key - query;
    return query != LG_ABSENT && key != LG_ABSENT;
}

static inline int64_t lg__distance(int64_t d) { return d < 0 ? -d : d; }

/* Pairs of dimensions divided among levels: level l has those from here to that of l + 1. */
static inline int lg__first_pair(int pairs, int levels, int l)
{
    return (int)((int64_t)pairs * l / levels);
}

/* A bias from tables: `start` is where that of a head and level begins, `entry` which of its values a difference
 * takes. Inline, so that both are known where it is used; LG__TABLE_BIAS makes an encoding's two functions. */
typedef size_t lg__table_start(const lg_model_config *c, int head, int level);
typedef size_t lg__table_entry(const lg_model_config *c, int level, int64_t d);

static inline void lg__table_bias(float *out, const float *param, const lg_model_config *c,
                                  int head, const struct lg__pairs *p, lg__table_start *start,
                                  lg__table_entry *entry)
{
    int64_t d;
    for (int j = 0; j < p->n; j++) out[j] = 0;
    for (int l = 0; l < c->levels; l++) {
        const float *table = param + start(c, head, l);
        for (int j = 0; j < p->n; j++)
            if (lg__difference(p, l, j, &d)) out[j] += table[entry(c, l, d)];
    }
}

static inline void lg__table_bias_backward(float *dparam, const float *dout,
                                           const lg_model_config *c, int head,
                                           const struct lg__pairs *p, lg__table_start *start,
                                           lg__table_entry *entry)
{
    int64_t d;
    for (int l = 0; l < c->levels; l++) {
        float *dtable = dparam + start(c, head, l);
        for (int j = 0; j < p->n; j++)
            if (lg__difference(p, l, j, &d)) dtable[entry(c, l, d)] += dout[j];
    }
}

#define LG__TABLE_BIAS(start, entry)                                                               \
    static void bias(float *out, const float *param, const lg_model_config *c, int head,           \
                     const struct lg__pairs *p)                                                    \
    {                                                                                              \
        lg__table_bias(out, param, c, head, p, start, entry);                                      \
    }                                                                                              \
    static void bias_backward(float *dparam, const float *dout, const float *param,                \
                              const lg_model_config *c, int head, const struct lg__pairs *p)       \
    {                                                                                              \
        (void)param;                                                                               \
        lg__table_bias_backward(dparam, dout, c, head, p, start, entry);                           \
    }

#endif
