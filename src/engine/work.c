/* work.c: checks, and rotations by ID. */
#include "work.h"

#include <string.h>

#include "base/error.h"

enum { MOST_IDS = 1 << 16 };

int lg__check_token(const struct lg_model *m, int32_t token, int32_t id, lg_error *err)
{
    if (token < 0 || token >= m->config.vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "token %d is outside the vocabulary 0..%d; make vocab larger or mend the "
                        "data",
                        token, m->config.vocab - 1);
    if (id < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT, "position ID %d is negative; IDs start at 0", id);
    return 0;
}

int lg__check_batch(const struct lg_model *m, const lg_batch *b, lg_error *err)
{
    int V = m->config.vocab, I = m->config.id_classes, e;
    if (b->sequences < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the batch has no sequences; add at least one with lg_batch_add");
    for (int s = 0; s < b->sequences; s++)
        for (int t = b->offsets[s]; t < b->offsets[s + 1]; t++) {
            int at = t - b->offsets[s];
            lg_error why;
            if ((e = lg__check_token(m, b->tokens[t], b->ids[t], &why)))
                return lg__fail(err, e, "sequence %d, position %d: %s", s, at, why.text);
            if (b->targets[t] < LG_NONE || b->targets[t] >= V)
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "sequence %d, position %d: target %d is outside the vocabulary "
                                "0..%d; LG_NONE (-1) means no loss here",
                                s, at, b->targets[t], V - 1);
            if (b->id_targets[t] < LG_NONE || b->id_targets[t] >= I) {
                if (I == 0)
                    return lg__fail(err, LG_ERROR_ARGUMENT,
                                    "sequence %d, position %d: an ID target, but the model has no "
                                    "ID head; set id_classes",
                                    s, at);
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "sequence %d, position %d: ID target %d is outside 0..%d; make "
                                "id_classes larger or mend the data",
                                s, at, b->id_targets[t], I - 1);
            }
        }
    return 0;
}

int lg__turns_reserve(const struct lg_model *m, struct lg__turns *t, const int32_t *ids, int n,
                      lg_error *err)
{
    if (!lg__turned(m)) return 0;
    int32_t most = 0;
    for (int i = 0; i < n; i++) most = ids[i] > most ? ids[i] : most;
    int want = most < MOST_IDS ? most + 1 : MOST_IDS, e;
    if (want <= t->ids) return 0;
    if (want < 2 * t->ids && 2 * t->ids <= MOST_IDS) want = 2 * t->ids;
    size_t row = (size_t)(m->R / 2);
    if ((e = lg__block_grow(&t->cos, (size_t)want * row * sizeof(float), 1, "rotations", err)) ||
        (e = lg__block_grow(&t->sin, (size_t)want * row * sizeof(float), 1, "rotations", err)))
        return e;
    for (; t->ids < want; t->ids++)
        lg__turn(m, (float *)t->cos.data + (size_t)t->ids * row,
                 (float *)t->sin.data + (size_t)t->ids * row, t->ids);
    return 0;
}

void lg__turns_rows(const struct lg_model *m, const struct lg__turns *t, float *cos, float *sin,
                    const int32_t *ids, int n)
{
    size_t row = (size_t)(m->R / 2);
    for (int i = 0; i < n; i++, cos += row, sin += row) {
        if (ids[i] >= t->ids) {
            lg__turn(m, cos, sin, ids[i]);
            continue;
        }
        memcpy(cos, (const float *)t->cos.data + (size_t)ids[i] * row, row * sizeof *cos);
        memcpy(sin, (const float *)t->sin.data + (size_t)ids[i] * row, row * sizeof *sin);
    }
}

void lg__turns_free(struct lg__turns *t)
{
    lg__block_free(&t->cos);
    lg__block_free(&t->sin);
    t->ids = 0;
}
