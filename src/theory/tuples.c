/* tuples.c: the numbers of tuples of words, tables over them, and patterns of places. */
#include <stdlib.h>

#include "base/error.h"
#include "theory/scaled.h"
#include "theory/sum.h"

enum { MOST = 1000000 }; /* tuples, or patterns */

/* Or something above 2^30, if it is more than that. */
static int64_t choose(int64_t n, int k)
{
    int64_t c = 1;
    if (n < k) return 0;
    for (int j = 1; j <= k && c <= 1 << 30; j++) c = c * (n - k + j) / j;
    return c;
}

/* The place of a rising sequence word[0] <= word[1] <= .. among all of j words: those of
 * word[i] + i, which rise strictly, in the combinatorial number system. */
static int32_t rank_of(const int32_t *word, int j)
{
    int64_t rank = 0;
    for (int i = 0; i < j; i++) rank += choose(word[i] + i, i + 1);
    return (int32_t)rank;
}

/* The next rising sequence; 0: there is none. */
static int next_rising(int32_t *word, int j, int vocab)
{
    int i = 0;
    while (i < j && word[i] == (i + 1 < j ? word[i + 1] : vocab - 1)) i++;
    if (i == j) return 0;
    word[i]++;
    while (i-- > 0) word[i] = 0;
    return 1;
}

/* next[j] of tuples whose order does not matter: the word goes to its place. */
static int fill_next(struct lg__tuples *t, int j, lg_error *err)
{
    int32_t word[LG__SUM_MOST_K] = {0}, longer[LG__SUM_MOST_K + 1];
    t->next[j] = lg__alloc((size_t)t->count[j] * (size_t)t->vocab * sizeof *t->next[j]);
    if (!t->next[j]) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the tuples; end others");
    do {
        int32_t *row = t->next[j] + rank_of(word, j) * t->vocab;
        for (int32_t v = 0; v < t->vocab; v++) {
            int at = j;
            for (; at > 0 && word[at - 1] > v; at--) longer[at] = word[at - 1];
            longer[at] = v;
            while (at-- > 0) longer[at] = word[at];
            row[v] = rank_of(longer, j + 1);
        }
    } while (next_rising(word, j, t->vocab));
    return 0;
}

int lg__tuples_make(struct lg__tuples *t, int k, int vocab, int ordered, lg_error *err)
{
    int e = 0;
    *t = (struct lg__tuples){.k = k, .vocab = vocab, .ordered = ordered};
    int64_t count = 1;
    for (int j = 0; j <= k && !e; j++) {
        if (j) count = ordered ? count * vocab : choose((int64_t)vocab + j - 1, j);
        if (k > LG__SUM_MOST_K || count > MOST)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "k = %d with %d words: the theory room takes k up to %d and at most %d "
                            "tuples; use fewer words, or g as a product of signs",
                            k, vocab, LG__SUM_MOST_K, MOST);
        t->count[j] = (int)count;
    }
    for (int j = 0; j < k && !ordered && !e; j++) e = fill_next(t, j, err);
    return e;
}

void lg__tuples_clear(struct lg__tuples *t)
{
    for (int j = 0; j <= LG__SUM_MOST_K; j++) free(t->next[j]);
    *t = (struct lg__tuples){0};
}

void lg__table_scores(struct lg__table *t, const double *score)
{
    int count = t->tuples->count[t->tuples->k];
    for (int i = 0; i < count; i++) lg__split(score[i], &t->m[i], &t->e[i]);
}

int lg__patterns_all(struct lg__patterns *p, int k, int span, lg_error *err)
{
    int64_t count = choose(span - 1, k - 1);
    *p = (struct lg__patterns){.k = k, .count = (int)count};
    if (count > MOST)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "k = %d within %d places has more than %d patterns; take a smaller span, or "
            "A a product with g a product of signs",
            k, span, MOST);
    p->offset = lg__alloc((size_t)count * (size_t)k * sizeof *p->offset);
    if (!p->offset) return lg__fail(err, LG_ERROR_MEMORY, "no memory for patterns; end others");
    int32_t now[LG__SUM_MOST_K];
    for (int j = 0; j < k; j++) now[j] = j;
    for (int64_t i = 0; i < count; i++) {
        memcpy(p->offset + i * k, now, (size_t)k * sizeof *now);
        int j = k - 1;
        while (j > 0 && now[j] == span - k + j) j--;
        if (j > 0) now[j]++;
        for (j++; j < k; j++) now[j] = now[j - 1] + 1;
    }
    return 0;
}

void lg__patterns_clear(struct lg__patterns *p)
{
    free(p->offset);
    *p = (struct lg__patterns){0};
}

void lg__sum_work_clear(struct lg__sum_work *w)
{
    for (int i = 0; i < 6; i++) lg__block_free(&w->block[i]);
}
