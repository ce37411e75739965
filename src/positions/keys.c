/* keys.c: whether the layers below the last show every key token its whole key. What enters the last
 * layer has seen all but that one: a key token that is blind to a word of its key would match all keys
 * which differ in that word. */
#include "positions/keys.h"

#include "base/error.h"
#include "positions/ids.h"

enum { MOST_BACK = 64 };

/* Whether token u sees token v, not later in the text, in one layer. */
static int sees(const lg_model_config *c, int32_t *const ids[LG_LEVELS], int u, int v)
{
    int shared = u == v;
    if (c->span == LG_SPAN_FULL) return 1;
    for (int l = 0; l < c->levels; l++) {
        if (ids[l][u] == LG_ABSENT || ids[l][v] == LG_ABSENT) continue;
        int64_t d = (int64_t)ids[l][v] - ids[l][u];
        if (d < c->window_lo[l] || d > c->window_hi[l]) return 0;
        shared = 1;
    }
    return shared;
}

/* Whether `hops` layers show token t the `back` tokens before it. */
static int shows(const lg_model_config *c, int32_t *const ids[LG_LEVELS], int t, int back, int hops)
{
    unsigned char seen[MOST_BACK + 1] = {1}; /* of token t - i */
    for (int hop = 0; hop < hops; hop++) {
        unsigned char more[MOST_BACK + 1] = {0};
        for (int i = 0; i <= back; i++)
            for (int j = i; j <= back && seen[i]; j++)
                more[j] |= (unsigned char)sees(c, ids, t - i, t - j);
        for (int i = 0; i <= back; i++) seen[i] |= more[i];
    }
    for (int i = 0; i <= back; i++)
        if (!seen[i]) return 0;
    return 1;
}

int lg__keys_check(const lg_plan *p, const lg_example *x, int32_t *const ids[LG_LEVELS],
                   const lg_model_config *c, lg_error *err)
{
    const lg_task_shape *s = p->shape;
    int matches = 0, hops = c->layers * c->loops - 1, back = s->key_back;
    for (int l = 0; l < p->levels; l++) matches |= p->head[l] == LG__HEAD_MATCH;
    if (!matches || back > MOST_BACK) return 0;
    for (int t = back; t < x->answer; t++)
        for (int i = 0; i < s->key_tokens; i++) {
            if (x->tokens[t] != s->key_token[i] || shows(c, ids, t, back, hops)) continue;
            return lg__fail_key(
                err, LG_ERROR_ARGUMENT, "source",
                "{source} is match, but the %d layer%s below the last, from which keys are made, "
                "do "
                "not show the key token \"%s\" the %d token%s before it that are its key; take %s",
                hops, hops == 1 ? "" : "s", s->words[x->tokens[t]], back, back == 1 ? "" : "s",
                hops ? "a wider window or more layers" : "two layers or more");
        }
    return 0;
}
