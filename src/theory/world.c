/* world.c: texts of a planted ensemble, with the numbers that the sums read. */
#include "theory/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for an ensemble; end other programs");
}

/* Words of texts come first in the vocabulary; labels may be among them. */
static int number_labels(struct lg__world *w, lg_error *err)
{
    const struct lg__ensemble *e = &w->e;
    int drawn = e->draw.n * (e->joint ? e->k : 1), all = w->words.shape.vocab;
    w->vocab = e->background.n;
    for (int i = 0; i < drawn; i++)
        if (e->word[i] >= w->vocab) w->vocab = e->word[i] + 1;
    for (int i = 0; i < e->first.n; i++)
        if (e->first_word[i] >= w->vocab) w->vocab = e->first_word[i] + 1;
    w->label = lg__alloc((size_t)e->tuples * sizeof *w->label);
    int32_t *number = lg__alloc((size_t)all * sizeof *number);
    if (!w->label || !number) {
        free(number);
        return no_memory(err);
    }
    for (int i = 0; i < all; i++) number[i] = -1;
    for (int i = 0; i < e->tuples; i++) {
        if (number[e->label[i]] < 0) number[e->label[i]] = w->labels++;
        w->label[i] = number[e->label[i]];
    }
    free(number);
    return 0;
}

static int number_patterns(struct lg__world *w, lg_error *err)
{
    const struct lg__ensemble *e = &w->e;
    int error = 0;
    if (e->where == LG__SPAN) error = lg__patterns_all(&w->patterns, e->k, e->span, err);
    if (e->where == LG__PATTERNS) {
        size_t bytes = (size_t)e->pattern.n * (size_t)e->k * sizeof *e->offset;
        w->patterns = (struct lg__patterns){.k = e->k, .count = e->pattern.n};
        w->patterns.offset = lg__alloc(bytes);
        if (!w->patterns.offset) return no_memory(err);
        memcpy(w->patterns.offset, e->offset, bytes);
    }
    if (error) return error;
    w->hidden = lg__alloc((size_t)w->patterns.count + 1);
    return w->hidden ? 0 : no_memory(err);
}

static int check_length(const struct lg__ensemble *e, int length, lg_error *err)
{
    if (length >= e->least && length <= 1 << 24) return 0;
    if (length > e->k)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s:%d: a length of %d: its positions fit from %d to %d; give other lengths", e->file,
            e->line_positions, length, e->least, 1 << 24);
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%s:%d: k is %d, which a text of length %d cannot hold; give lengths from %d on", e->file,
        e->line_k, e->k, length, e->least);
}

static int check(const struct lg__world *w, const lg_theory_options *o, lg_error *err)
{
    const struct lg__ensemble *e = &w->e;
    int error = check_length(e, o->train[0], err);
    if (!error) error = check_length(e, o->train[1], err);
    for (int i = 0; i < o->length_count && !error; i++) error = check_length(e, o->lengths[i], err);
    if (error) return error;
    if (o->train[0] > o->train[1])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "training lengths from %d to %d; give the shorter one first", o->train[0],
                        o->train[1]);
    if (o->coverage < 1 && w->patterns.count < 2)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s:%d: a coverage of %g needs positions with two patterns or more, by span "
            "or patterns; here there are %d",
            e->file, e->line_positions, o->coverage, w->patterns.count);
    return 0;
}

int lg__world_open(struct lg__world *w, const lg_theory_options *o, lg_error *err)
{
    struct lg__ensemble_change change = {o->k, o->span};
    *w = (struct lg__world){0};
    int e = lg__ensemble_read(&w->e, &w->words, o->ensemble, change, err);
    if (!e && w->e.k > LG__SUM_MOST_K)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "%s:%d: k is %d; the theory room takes 1 to %d",
                     w->e.file, w->e.line_k, w->e.k, LG__SUM_MOST_K);
    if (!e) e = number_labels(w, err);
    if (!e) e = number_patterns(w, err);
    return e ? e : check(w, o, err);
}

void lg__world_close(struct lg__world *w)
{
    for (int i = 0; i < w->words.shape.vocab; i++) free(w->words.words[i]);
    free(w->words.words);
    free(w->words.digit);
    lg__ensemble_clear(&w->e);
    lg__patterns_clear(&w->patterns);
    free(w->label);
    free(w->hidden);
    *w = (struct lg__world){0};
}

void lg__world_hide(struct lg__world *w, double coverage, uint64_t seed)
{
    int n = w->patterns.count, hide = (int)((1 - coverage) * n + 0.5);
    lg_rng r;
    lg_rng_init(&r, seed, 5, 0);
    memset(w->hidden, 0, (size_t)n + 1);
    if (coverage >= 1 || n < 2) return;
    if (hide < 1) hide = 1;
    if (hide > n - 1) hide = n - 1;
    while (hide > 0) {
        uint32_t at = lg_rng_below(&r, (uint32_t)n);
        hide -= !w->hidden[at];
        w->hidden[at] = 1;
    }
}

int lg__world_pattern(const struct lg__world *w, const int *place)
{
    int k = w->e.k;
    for (int p = 0; p < w->patterns.count; p++) {
        const int32_t *offset = w->patterns.offset + (size_t)p * (size_t)k;
        int j = 1;
        while (j < k && place[j] - place[0] == offset[j]) j++;
        if (j == k) return p;
    }
    return -1;
}

int lg__world_draw(const struct lg__world *w, lg_rng *r, int length, int shown,
                   struct lg__sample *x, lg_error *err)
{
    int place[LG__MOST_K], e, tries = 0;
    size_t bytes = (size_t)length * sizeof *x->token;
    if ((e = lg__block_grow(&x->block[0], bytes, 0, "a text", err)) ||
        (e = lg__block_grow(&x->block[1], bytes, 0, "a text", err)))
        return e;
    x->n = length;
    x->token = x->block[0].data;
    x->id = x->block[1].data;
    do {
        lg__ensemble_places(&w->e, r, length, place);
        x->pattern = lg__world_pattern(w, place);
        if (++tries > 100000)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s: at length %d nearly all patterns of S are hidden from training; "
                            "give a larger coverage or longer training lengths",
                            w->e.file, length);
    } while (shown && x->pattern >= 0 && w->hidden[x->pattern]);
    x->label = w->label[lg__ensemble_fill(&w->e, r, length, place, x->token)];
    if (w->e.where == LG__COLUMNS) {
        for (int i = 0; i < length; i++) x->id[i] = lg__ensemble_column(&w->e, length, i);
        return 0;
    }
    memset(x->id, 0, bytes);
    for (int j = 0; j < w->e.k; j++) x->id[place[j]] = j + 1;
    return 0;
}

void lg__sample_clear(struct lg__sample *x)
{
    lg__block_free(&x->block[0]);
    lg__block_free(&x->block[1]);
}
