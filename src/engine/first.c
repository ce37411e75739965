/* first.c: the first layer by kinds of tokens. */
#include "first.h"

#include <string.h>

int lg__by_kind(const struct lg_model *m) { return m->depth > 1 && !m->encoding->input; }

int lg__kinds_list(int *slot, const int32_t *tokens, int n, int32_t *kind, int *of)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int *at = &slot[tokens[i]];
        if (*at < 0) {
            kind[count] = tokens[i];
            *at = count++;
        }
        of[i] = *at;
    }
    for (int i = 0; i < count; i++) slot[kind[i]] = -1;
    return count;
}

void lg__kinds_make(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a)
{
    lg__layer_keys(m, l, a);
    lg__layer_query(m, l, a);
    if (!m->config.parallel) return;
    lg__norm_forward(m, l->norm2, a->h2, a->mean2, a->rstd2, a->x, a->M);
    lg__layer_feed(m, l, a, 0);
}

void lg__kinds_backward(const struct lg_model *m, const struct lg__layer *l,
                        const struct lg__acts *a, const struct lg__backward *b)
{
    if (m->config.parallel) {
        lg__layer_feed_backward(m, l, a, b);
        lg__norm_backward(m, l->norm2, b->grad, b->d, b->dh, a->x, a->mean2, a->rstd2, a->M);
    }
    lg__layer_keys_backward(m, l, a, b, b->d, NULL);
}

void lg__kinds_give(float *to, const float *from, const int *of, int n, size_t wide)
{
    for (int i = 0; i < n; i++, to += wide)
        memcpy(to, from + (size_t)of[i] * wide, wide * sizeof *to);
}

void lg__kinds_sum(const struct lg_model *m, float *to, int count, const float *from, const int *of,
                   int n, size_t wide)
{
    memset(to, 0, (size_t)count * wide * sizeof *to);
    for (int i = 0; i < n; i++, from += wide) m->k->add(to + (size_t)of[i] * wide, from, wide);
}
