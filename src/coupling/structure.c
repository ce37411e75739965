/* structure.c: how the texts of a file are cut (find.h, 1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "coupling/find.h"

enum { MOST_TIMES = 6, WIDTHS = 4, SURE = 200 };

void lg__rule_word_set(struct lg__rule_word *w, const lg_task_shape *shape, int32_t token)
{
    w->token = token;
    snprintf(w->text, sizeof w->text, "%s", shape->words[token]);
}

static int enough(int good, int all) { return all && good >= LG__FIND_FORM * all; }

/* The usual count of each word in the prompts if nearly all agree, else 0. */
static int constant_words(const struct lg__examples *lines, int *times, lg_error *err)
{
    int vocab = lines->shape->vocab;
    int *count = lg__alloc((size_t)vocab * (MOST_TIMES + 2) * sizeof *count);
    int *here = lg__alloc((size_t)vocab * sizeof *here);
    if (!count || !here) {
        free(count);
        free(here);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the words of a file");
    }
    for (int i = 0; i < lines->count; i++) {
        const lg_example *x = &lines->x[i];
        memset(here, 0, (size_t)vocab * sizeof *here);
        for (int t = 0; t < x->answer; t++) here[x->tokens[t]]++;
        for (int w = 0; w < vocab; w++)
            count[w * (MOST_TIMES + 2) + (here[w] > MOST_TIMES ? MOST_TIMES + 1 : here[w])]++;
    }
    for (int w = 0; w < vocab; w++) {
        times[w] = 0;
        for (int c = 1; c <= MOST_TIMES; c++)
            if (enough(count[w * (MOST_TIMES + 2) + c], lines->count)) times[w] = c;
    }
    free(count);
    free(here);
    return 0;
}

/* The separators of a prompt in their order, into at most LG__PARTS; -1: there are more. */
static int sequence(const lg_example *x, const int *times, int32_t *out)
{
    int n = 0;
    for (int t = 0; t < x->answer; t++) {
        if (!times[x->tokens[t]]) continue;
        if (n == LG__PARTS) return -1;
        out[n++] = x->tokens[t];
    }
    return n;
}

/* The order that nearly all lines have; -1: there is none. */
static int usual_sequence(const struct lg__examples *lines, const int *times, int32_t *out)
{
    int32_t other[LG__PARTS];
    for (int first = 0; first < lines->count && first < 5; first++) {
        int n = sequence(&lines->x[first], times, out), same = 0;
        for (int i = 0; i < lines->count && n >= 0; i++)
            same += sequence(&lines->x[i], times, other) == n &&
                    memcmp(out, other, (size_t)n * sizeof *out) == 0;
        if (n >= 0 && enough(same, lines->count)) return n;
    }
    return -1;
}

/* ---- Cutting a part ---------------------------------------------------------------------------- */

struct span {
    const int32_t *at;
    int n;
};

/* Part k of a line that has all separators; n -1: it has not. */
static struct span part_of(const struct lg__structure *s, const lg_example *x, int k)
{
    int from = 0;
    for (int i = 0;; i++) {
        int at = from;
        while (i < s->separators && at < x->answer && x->tokens[at] != s->separator[i].token) at++;
        if (i == s->separators) at = x->answer;
        if (i < s->separators && at == x->answer) return (struct span){NULL, -1};
        if (i == k) return (struct span){x->tokens + from, at - from};
        from = at + 1;
    }
}

/* Whether some phase has words that no other phase has. */
static int has_width(const struct lg__examples *lines, const struct lg__structure *s, int k,
                     int width, unsigned char *seen)
{
    int vocab = lines->shape->vocab, good = 0, all = 0, tokens = 0;
    memset(seen, 0, (size_t)vocab);
    for (int i = 0; i < lines->count; i++) {
        struct span p = part_of(s, &lines->x[i], k);
        if (p.n <= 0) continue;
        all++;
        if (p.n % width) continue;
        good++;
        tokens += p.n;
        for (int t = 0; t < p.n; t++) seen[p.at[t]] |= (unsigned char)(1 << t % width);
    }
    if (!enough(good, all) || tokens < SURE) return 0;
    for (int phase = 0; phase < width; phase++) {
        int alone = 1, many = 0;
        for (int w = 0; w < vocab && alone; w++) {
            if (!(seen[w] & 1 << phase)) continue;
            alone = seen[w] == 1 << phase;
            many++;
        }
        if (alone && many) return 1;
    }
    return 0;
}

/* Whether the word cuts the span into segments of one size, 1 or more; *segments is how many. */
static int cuts_evenly(struct span p, int32_t word, int *segments)
{
    int size = -1, from = 0, n = 0;
    for (int t = 0; t <= p.n; t++) {
        if (t < p.n && p.at[t] != word) continue;
        if (size >= 0 && t - from != size) return 0;
        size = t - from;
        from = t + 1;
        n++;
    }
    *segments = n;
    return size > 0;
}

/* The word that cuts nearly all spans evenly, and half of them at all. */
struct vote {
    int32_t word;
    int good, cut, all, most;
};

static int32_t even_word(const struct lg__examples *lines, struct span (*get)(const void *, int),
                         const void *context)
{
    int32_t best = LG_NONE;
    for (int32_t w = 0; w < lines->shape->vocab && lines->shape->vocab <= 4096; w++) {
        struct vote v = {.word = w};
        for (int i = 0; i < lines->count; i++) {
            struct span p = get(context, i);
            int segments = 0;
            if (p.n <= 0) continue;
            v.all++;
            if (!cuts_evenly(p, w, &segments)) {
                if (v.all - v.good > lines->count / 20) break;
                continue;
            }
            v.good++;
            v.cut += segments > 1;
            if (segments > v.most) v.most = segments;
        }
        if (enough(v.good, v.all) && 2 * v.cut > v.all && v.most > 1) best = w;
    }
    return best;
}

struct part_context {
    const struct lg__examples *lines;
    const struct lg__structure *s;
    int k;
};

static struct span get_part(const void *context, int i)
{
    const struct part_context *c = context;
    return part_of(c->s, &c->lines->x[i], c->k);
}

static struct span get_answer(const void *context, int i)
{
    const struct lg__examples *lines = context;
    const lg_example *x = &lines->x[i];
    int stop = lines->shape->stop != LG_NONE && x->tokens[x->n - 1] == lines->shape->stop;
    return (struct span){x->tokens + x->answer, x->n - x->answer - stop};
}

int32_t lg__answer_word(const struct lg__examples *lines)
{
    return even_word(lines, get_answer, lines);
}

static void cut_parts(const struct lg__examples *lines, struct lg__structure *s,
                      unsigned char *seen)
{
    for (int k = 0; k <= s->separators; k++) {
        struct lg__cutting *c = &s->part[k];
        *c = (struct lg__cutting){.cut = LG__CUT_WHOLE, .width = 1};
        for (int width = 2; width <= WIDTHS && c->cut == LG__CUT_WHOLE; width++)
            if (has_width(lines, s, k, width, seen))
                *c = (struct lg__cutting){.cut = LG__CUT_WIDTH, .width = width};
        if (c->cut != LG__CUT_WHOLE) continue;
        struct part_context context = {lines, s, k};
        int32_t word = even_word(lines, get_part, &context);
        if (word == LG_NONE) continue;
        c->cut = LG__CUT_WORD;
        lg__rule_word_set(&c->word, lines->shape, word);
    }
}

/* As `from`, but a word that stands there several times running is no separator. */
static int without_repeats(const struct lg__structure *from, struct lg__structure *to)
{
    *to = (struct lg__structure){.answer = from->answer};
    for (int k = 0; k < from->separators; k++) {
        int32_t w = from->separator[k].token;
        int again = (k && from->separator[k - 1].token == w) ||
                    (k + 1 < from->separators && from->separator[k + 1].token == w);
        if (!again) to->separator[to->separators++] = from->separator[k];
    }
    return to->separators < from->separators;
}

int lg__structures_find(const struct lg__examples *lines, struct lg__structure *s, lg_error *err)
{
    int vocab = lines->shape->vocab, n = 0;
    int *times = lg__alloc((size_t)vocab * sizeof *times);
    unsigned char *seen = lg__alloc((size_t)vocab);
    int32_t order[LG__PARTS];
    int e = times && seen ? constant_words(lines, times, err)
                          : lg__fail(err, LG_ERROR_MEMORY, "no memory for the words of a file");
    if (!e) {
        int separators = usual_sequence(lines, times, order);
        s[0] = (struct lg__structure){.answer = {.width = 1}};
        for (int k = 0; k < separators; k++)
            lg__rule_word_set(&s[0].separator[s[0].separators++], lines->shape, order[k]);
        n = 1;
        if (without_repeats(&s[0], &s[1])) n = 2;
        for (int i = 0; i < n; i++) cut_parts(lines, &s[i], seen);
    }
    free(times);
    free(seen);
    return e ? e : n;
}
