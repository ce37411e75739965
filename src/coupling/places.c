/* places.c: a text cut into parts and segments. */
#include "base/error.h"
#include "coupling/coupling.h"

/* Part `part`, tokens from..to-1. */
static void cut_part(const struct lg__cutting *c, int part, const int32_t *tokens, int from, int to,
                     struct lg__place *place)
{
    int n = to - from;
    if (c->cut == LG__CUT_WHOLE)
        for (int i = 0; i < n; i++) place[from + i] = (struct lg__place){part, 0, 1, i, n};
    if (c->cut == LG__CUT_WIDTH)
        for (int i = 0; i < n; i++)
            place[from + i] = (struct lg__place){part, i / c->width, (n + c->width - 1) / c->width,
                                                 i % c->width, c->width};
    if (c->cut != LG__CUT_WORD) return;
    int of = n > 0;
    for (int i = from; i < to; i++) of += tokens[i] == c->word.token;
    for (int start = from, number = 0; start < to; number++) {
        int end = start;
        while (end < to && tokens[end] != c->word.token) end++;
        for (int i = start; i <= end && i < to; i++)
            place[i] = (struct lg__place){part, number, of, i - start, end - start};
        start = end + 1;
    }
}

/* The separator behind a part that has tokens from..to-1. */
static struct lg__place end_of(const struct lg__cutting *c, int part, int from, int to,
                               const struct lg__place *place)
{
    int n = to - from;
    if (c->cut == LG__CUT_WIDTH) {
        int of = (n + c->width - 1) / c->width;
        return (struct lg__place){part, of, of, 0, c->width};
    }
    if (c->cut == LG__CUT_WORD && n)
        return (struct lg__place){part, place[to - 1].number, place[to - 1].of, place[to - 1].size,
                                  place[to - 1].size};
    return (struct lg__place){part, 0, 1, n, n};
}

/* The answer, tokens from..to-1; a word that cuts it leads the segment behind it. `stop` is no part of a
 * segment's size. */
static void cut_answer(const struct lg__cutting *c, const int32_t *tokens, int from, int to,
                       struct lg__place *place)
{
    int n = to - from;
    if (c->cut == LG__CUT_WHOLE)
        for (int i = 0; i < n; i++) place[from + i] = (struct lg__place){-1, 0, 1, i, n};
    if (c->cut == LG__CUT_WIDTH)
        for (int i = 0; i < n; i++)
            place[from + i] = (struct lg__place){-1, i / c->width, (n + c->width - 1) / c->width,
                                                 i % c->width, c->width};
    if (c->cut != LG__CUT_WORD) return;
    int of = 1;
    for (int i = from; i < to; i++) of += tokens[i] == c->word.token;
    for (int i = from, number = 0, start = from; i < to; i++) {
        if (tokens[i] == c->word.token) {
            number++;
            start = i + 1;
        }
        place[i] = (struct lg__place){-1, number, of, i - start, 0};
    }
}

/* What stands right before the answer. */
static struct lg__place before_answer(const struct lg__cutting *c)
{
    if (c->cut == LG__CUT_WIDTH) return (struct lg__place){-1, -1, 0, c->width - 1, c->width};
    return (struct lg__place){-1, 0, 1, -1, 0};
}

int lg__structure_places(const struct lg__structure *s, const lg_example *x,
                         struct lg__place *place, lg_error *err)
{
    int from = 0;
    for (int k = 0; k < s->separators; k++) {
        int at = from;
        while (at < x->answer && x->tokens[at] != s->separator[k].token) at++;
        if (at == x->answer)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "the prompt has no \"%s\" where the coupling's rule has its separator "
                            "%d; leave the line out, or find a rule for such lines (lengthen "
                            "couple)",
                            s->separator[k].text, k + 1);
        cut_part(&s->part[k], k, x->tokens, from, at, place);
        place[at] = k == s->separators - 1 && at == x->answer - 1
                        ? before_answer(&s->answer)
                        : end_of(&s->part[k], k, from, at, place);
        from = at + 1;
    }
    cut_part(&s->part[s->separators], s->separators, x->tokens, from, x->answer, place);
    cut_answer(&s->answer, x->tokens, x->answer, x->n, place);
    return 0;
}
