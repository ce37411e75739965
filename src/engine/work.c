/* work.c: checks, and rotations by ID. */
#include "work.h"

#include <string.h>

#include "base/error.h"

enum { MOST_IDS = 1 << 16 };

int lg__check_token(const struct lg_model *m, int32_t token, const int32_t *id, lg_error *err)
{
    const lg_model_config *c = &m->config;
    if (token < 0 || token >= c->vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "token %d is outside the vocabulary 0..%d; make vocab larger or mend the "
                        "data",
                        token, c->vocab - 1);
    for (int l = 0; l < c->levels; l++) {
        if (id[l] < 0 && id[l] != LG_ABSENT)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "position ID %d is negative; IDs start at 0 (LG_ABSENT: none)", id[l]);
        if (m->input != LG__NO_TENSOR && id[l] > c->max_id)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "position ID %d has no row in the learned table, which ends at max_id "
                            "%d; make max_id larger or take another encoding",
                            id[l], c->max_id);
    }
    return 0;
}

int lg__wanted(const lg_batch *b, int row)
{
    int wanted = b->targets[row] >= 0;
    for (int l = 0; l < b->levels; l++)
        wanted |= b->id_targets[l][row] >= 0 || b->point_targets[l][row] >= 0;
    return wanted;
}

static int check_id_targets(const struct lg_model *m, const lg_batch *b, int s, int t, int l,
                            lg_error *err)
{
    int at = t - b->offsets[s], classes = m->config.id_classes[l];
    int32_t class = b->id_targets[l][t], id = b->point_targets[l][t];
    if (class >= 0 && classes == 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "sequence %d, position %d: an ID target, but the model has no ID head; set "
                        "id_classes",
                        s, at);
    if (class < LG_NONE || class >= (classes ? classes : 1))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "sequence %d, position %d: ID target %d is outside 0..%d; make id_classes "
                        "larger or mend the data",
                        s, at, class, classes - 1);
    if (id == LG_NONE) return 0;
    if (!lg__finds(&m->config, l))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "sequence %d, position %d: a pointer's target, but the model has no "
                        "pointer and no match head; set pointer or match",
                        s, at);
    int found = t;
    while (found >= b->offsets[s] && b->ids[l][found] != id) found--;
    if (found < b->offsets[s])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "sequence %d, position %d: the pointer is to find ID %d, which no token up "
                        "to here has; mend the data",
                        s, at, id);
    return 0;
}

int lg__check_batch(const struct lg_model *m, const lg_batch *b, lg_error *err)
{
    int V = m->config.vocab, e;
    if (b->sequences < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the batch has no sequences; add at least one with lg_batch_add");
    if (b->levels != m->config.levels)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the batch has %d levels of IDs, the model %d; make them the same",
                        b->levels, m->config.levels);
    for (int s = 0; s < b->sequences; s++)
        for (int t = b->offsets[s]; t < b->offsets[s + 1]; t++) {
            int at = t - b->offsets[s];
            int32_t id[LG_LEVELS];
            lg_error why;
            for (int l = 0; l < b->levels; l++) id[l] = b->ids[l][t];
            if ((e = lg__check_token(m, b->tokens[t], id, &why)))
                return lg__fail(err, e, "sequence %d, position %d: %s", s, at, why.text);
            if (b->targets[t] < LG_NONE || b->targets[t] >= V)
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "sequence %d, position %d: target %d is outside the vocabulary "
                                "0..%d; LG_NONE (-1) means no loss here",
                                s, at, b->targets[t], V - 1);
            for (int l = 0; l < b->levels; l++)
                if ((e = check_id_targets(m, b, s, t, l, err))) return e;
        }
    return 0;
}

int lg__rotary_table_reserve(const struct lg_model *m, struct lg__rotary_table *t,
                             const int32_t *const ids[LG_LEVELS], int n, lg_error *err)
{
    if (!lg__rotated(m)) return 0;
    int32_t most = 0;
    for (int l = 0; l < m->config.levels; l++)
        for (int i = 0; i < n; i++) most = ids[l][i] > most ? ids[l][i] : most;
    int want = most < MOST_IDS ? most + 1 : MOST_IDS, e;
    if (t->rotation != m->rotation) t->ids = 0;
    t->rotation = m->rotation;
    if (want <= t->ids) return 0;
    if (want < 2 * t->ids && 2 * t->ids <= MOST_IDS) want = 2 * t->ids;
    size_t row = (size_t)(m->R / 2);
    if ((e = lg__block_grow(&t->cos, (size_t)want * row * sizeof(float), 1, "rotations", err)) ||
        (e = lg__block_grow(&t->sin, (size_t)want * row * sizeof(float), 1, "rotations", err)))
        return e;
    for (; t->ids < want; t->ids++)
        lg__rotate(m, (float *)t->cos.data + (size_t)t->ids * row,
                   (float *)t->sin.data + (size_t)t->ids * row, t->ids, 0, m->R / 2);
    return 0;
}

/* The pairs from..to-1 of a row, which level's ID turns. */
static void rotate_pairs(const struct lg_model *m, const struct lg__rotary_table *t, float *cos,
                         float *sin, int32_t id, int from, int to)
{
    size_t row = (size_t)(m->R / 2), bytes = (size_t)(to - from) * sizeof *cos;
    if (id == LG_ABSENT) { /* such a level adds nothing to any score */
        memset(cos + from, 0, bytes);
        memset(sin + from, 0, bytes);
    } else if (id < t->ids) {
        memcpy(cos + from, (const float *)t->cos.data + (size_t)id * row + from, bytes);
        memcpy(sin + from, (const float *)t->sin.data + (size_t)id * row + from, bytes);
    } else {
        lg__rotate(m, cos, sin, id, from, to);
    }
}

void lg__rotary_table_rows(const struct lg_model *m, const struct lg__rotary_table *t, float *cos,
                           float *sin, const int32_t *const ids[LG_LEVELS], int from, int n)
{
    int row = m->R / 2;
    for (int i = from; i < from + n; i++, cos += row, sin += row)
        for (int a = 0, b; a < row; a = b) {
            int level = m->theta_level[a];
            for (b = a; b < row && m->theta_level[b] == level; b++) continue;
            rotate_pairs(m, t, cos, sin, ids[level][i], a, b);
        }
}

void lg__rotary_table_free(struct lg__rotary_table *t)
{
    lg__block_free(&t->cos);
    lg__block_free(&t->sin);
    t->ids = 0;
}

void lg__embed(const struct lg_model *m, float *x, const int32_t *tokens,
               const int32_t *const ids[LG_LEVELS], int from, int n)
{
    const int32_t *own[LG_LEVELS] = {0};
    m->k->embed_forward(x, m->params + m->tensors[0].offset, tokens + from, n, m->config.width);
    for (int l = 0; l < m->config.levels; l++) own[l] = ids[l] + from;
    if (m->encoding->input) m->encoding->input(x, lg__at(m, m->input), &m->config, own, n);
}

/* Whether lg_argmax would say `at` (a row with NAN is never right); most wrong ones are known after a
 * few. */
static int is_argmax(const float *x, int n, int at)
{
    for (int i = 0; i < at; i++)
        if (!(x[i] < x[at])) return 0;
    for (int i = at + 1; i < n; i++)
        if (!(x[i] <= x[at])) return 0;
    return 1;
}

int lg__count_right(const float *logits, const int32_t *target, int n, int V)
{
    int right = 0;
    for (int i = 0; i < n; i++)
        right += target[i] >= 0 && is_argmax(logits + (size_t)i * (size_t)V, V, target[i]);
    return right;
}
