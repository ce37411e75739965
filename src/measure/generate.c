/* generate.c: a run's model answers one prompt at a time, and every token is told with its ID: of
 * fresh examples of the task, or of a prompt that the user typed. What IDs such a prompt has, and
 * what is right for it, is found out from examples of the task with a prompt like it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "coupling/coupling.h"
#include "runs/run.h"
#include "positions/ids.h"
#include "tasks/tasks.h"
#include "lengthen_measure.h"

enum { STREAM_SAMPLE = 101, STREAM_SEARCH };
enum { MOST = 1 << 20, UNKNOWN_MOST = 1000 };

struct generation {
    const lg_generate_options *o;
    struct lg__run run;
    const lg_model_config *c;
    const lg_task_shape *shape;
    int predicted;
    uint64_t seed;
    /* The text: the prompt, and as much of the right answer as is known. */
    lg_example x;
    int right;            /* tokens of the right answer; 0: not known */
    int known;            /* whether those tokens are */
    int typed;            /* a prompt of the user's */
    struct lg__block ids; /* int32_t [levels, x.n] of the rule */
    int most;             /* tokens to generate */
    int fixed;            /* tokens of every answer, where there is no stop token; 0: it has one */
    int32_t carried[LG_LEVELS];
    lg_batch prompt;
    lg_decoder *decoder;
};

static int32_t *rule(const struct generation *g, int level)
{
    return (int32_t *)g->ids.data + (size_t)level * (size_t)g->x.n;
}

static int own_data(const struct generation *g) { return g->shape->info->own != LG_OWN_NONE; }

static int predicts(const struct generation *g, int level)
{
    return g->predicted && g->run.plan.head[level] != LG__HEAD_GIVEN;
}

/* ---- Options ---------------------------------------------------------------------------- */

static int check_options(const lg_generate_options *o, lg_error *err)
{
    if (!(o->temperature >= 0) || isinf(o->temperature))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the temperature is %g; take 0 (the likeliest token) or more",
                        o->temperature);
    if (o->max_tokens < 0 || o->max_tokens > MOST)
        return lg__fail(err, LG_ERROR_ARGUMENT, "at most %d tokens were asked for; take 1..%d",
                        o->max_tokens, MOST);
    if (o->length < 0 || o->sparsity < 0 || o->count < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "length %d, sparsity %d and %d examples were asked for; take 1 or more",
                        o->length, o->sparsity, o->count);
    if (o->prompt && (o->length || o->sparsity || o->count > 1))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a prompt was given, which is not drawn: leave out the prompt, or the %s "
                        "of the examples",
                        o->length     ? "length"
                        : o->sparsity ? "sparsity"
                                      : "number");
    if (o->prompt_ids && !o->prompt)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there are IDs of a prompt, but no prompt; give it with --prompt");
    return 0;
}

static int choose_source(struct generation *g, lg_error *err)
{
    if (g->o->predicted == 1 && !g->run.predicts)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no ID heads, so there are no predicted IDs; ask for given ones",
                        g->o->folder);
    g->predicted = g->o->predicted && g->run.predicts;
    return 0;
}

/* ---- The words of a prompt -------------------------------------------------------------- */

/* Bytes of the UTF-8 character that text starts with. */
static size_t letter(const char *text)
{
    size_t n = *text ? 1 : 0;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80) n++;
    return n;
}

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int unknown_word(const struct generation *g, const char *word, lg_error *err)
{
    const char *const *words = g->shape->words;
    int near = lg_nearest(word, words, g->shape->vocab), i = 0;
    char list[120] = "";
    for (size_t used = 0; i < g->shape->vocab; i++) {
        if (used + strlen(words[i]) + 2 > sizeof list) break;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? " " : "", words[i]);
    }
    if (i == g->shape->vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "\"%.40s\" of the prompt is no word of task %s; its words are %s", word,
                        g->shape->info->name, list);
    if (near >= 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "\"%.40s\" of the prompt is no word of task %s; did you mean \"%.40s\"?",
                        word, g->shape->info->name, words[near]);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "\"%.40s\" of the prompt is no word of task %s, which has %d; `lengthen "
                    "sample` shows examples",
                    word, g->shape->info->name, g->shape->vocab);
}

static int32_t token_of(const struct generation *g, const char *word, size_t n)
{
    for (int i = 0; i < g->shape->vocab; i++)
        if (strncmp(g->shape->words[i], word, n) == 0 && !g->shape->words[i][n]) return i;
    return LG_NONE;
}

/* Fills in the tokens of the prompt, with no labels. */
static int read_prompt(struct generation *g, lg_error *err)
{
    const char *at = g->o->prompt;
    lg_example *x = &g->x;
    int letters = 1, e = 0;
    for (int i = 0; i < g->shape->vocab; i++)
        letters &= !g->shape->words[i][letter(g->shape->words[i])];
    while (!e) {
        while (is_space(*at)) at++;
        size_t n = 0;
        while (at[n] && !is_space(at[n])) n++;
        if (letters) n = letter(at);
        if (!n) break;
        int32_t token = token_of(g, at, n);
        if (token < 0) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), at);
            return unknown_word(g, word, err);
        }
        if (x->n == MOST)
            return lg__fail(err, LG_ERROR_ARGUMENT, "the prompt has over %d words; shorten it",
                            MOST);
        if (!(e = lg__example_room(x, x->n + 1, err)))
            lg__put(x, token, LG_ABSENT, LG_ABSENT, LG_ABSENT);
        at += n;
    }
    x->answer = x->n;
    if (!e && !x->n)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the prompt is empty; write at least one word of the task");
    return e;
}

/* ---- IDs that the user typed ------------------------------------------------------------ */

static int wrong_ids(const char *text, lg_error *err)
{
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the prompt's IDs are \"%.60s\"; write a whole number of 0 or more for each "
                    "token, or - for none, with ';' between levels, as in \"2 3 4 1\"",
                    text);
}

/* One level, up to its end or ';', into ids[n]: how many there were, or -1. */
static int read_level(const char **text, int32_t *ids, int n)
{
    const char *at = *text;
    int count = 0;
    for (;; count++) {
        while (is_space(*at)) at++;
        if (!*at || *at == ';') break;
        int32_t id = LG_ABSENT;
        if (at[0] == '-' && (!at[1] || at[1] == ';' || is_space(at[1]))) {
            at++;
        } else {
            char *end;
            errno = 0;
            long value = strtol(at, &end, 10);
            if (*at < '0' || *at > '9' || errno || value >= INT32_MAX) return -1;
            if (*end && *end != ';' && !is_space(*end)) return -1;
            id = (int32_t)value;
            at = end;
        }
        if (count < n) ids[count] = id;
    }
    *text = at;
    return count;
}

static int read_ids(struct generation *g, lg_error *err)
{
    const char *at = g->o->prompt_ids;
    int level = 0, n = g->x.n, levels = g->c->levels;
    for (;; level++, at++) {
        int32_t *ids = level < levels ? rule(g, level) : NULL;
        int count = read_level(&at, ids, ids ? n : 0);
        if (count < 0) return wrong_ids(g->o->prompt_ids, err);
        if (count != n)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "level %d of the prompt's IDs has %d, but the prompt has %d tokens; "
                            "write one for each (- for none)",
                            level + 1, count, n);
        if (!*at) break;
    }
    if (level + 1 == levels) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the prompt's IDs have %d level%s, but the run's have %d; write each level, "
                    "with ';' between",
                    level + 1, level ? "s" : "", levels);
}

/* ---- Examples with such a prompt -------------------------------------------------------- */

enum {
    DRAWS = 4000,
    OWN_DRAWS = 200000,
    EXEC_DRAWS = 1000, /* a program may be slow */
    PROBE = 16,
    LEAST_DRAWS = 16,
    TOKENS = 30000000,
    SURE = 50 /* examples that show what all have */
};

/* Examples whose prompts are alike: the first, and in what all agree with it. */
struct alike {
    lg_example first;
    int count;
    int labels; /* of the prompt */
    int answer; /* its length and its labels */
    int tokens; /* of the answer */
};

struct search {
    struct generation *g;
    int levels;                        /* of labels that matter */
    struct alike any, skeleton, equal; /* as many tokens; the same but for digits; the same */
    struct lg__block constant;         /* int32_t [x.n] token that all have here, or LG_NONE */
    struct lg__block varies; /* char [vocab] 1: a token of a place where not all have the same */
    int below, above;        /* prompts of the nearest lengths; 0: none */
    int64_t tokens, draws;
    lg_example x;
};

static int copy_example(lg_example *to, const lg_example *from, lg_error *err)
{
    size_t n = (size_t)from->n;
    int e = lg__example_room(to, from->n, err);
    if (e) return e;
    memcpy(to->tokens, from->tokens, n * sizeof *to->tokens);
    memcpy(to->loss, from->loss, n);
    for (int l = 0; l < LG_LEVELS; l++)
        memcpy(to->labels[l], from->labels[l], n * sizeof **to->labels);
    to->n = from->n;
    to->answer = from->answer;
    return 0;
}

static int same(const int32_t *a, const int32_t *b, int from, int to)
{
    return memcmp(a + from, b + from, (size_t)(to - from) * sizeof *a) == 0;
}

static int meet(struct alike *a, const lg_example *x, int levels, lg_error *err)
{
    lg_example *first = &a->first;
    if (!a->count++) {
        a->labels = a->answer = a->tokens = 1;
        return copy_example(first, x, err);
    }
    a->answer &= x->n == first->n;
    a->tokens &= x->n == first->n && same(x->tokens, first->tokens, x->answer, x->n);
    for (int l = 0; l < levels; l++) {
        a->labels &= same(x->labels[l], first->labels[l], 0, x->answer);
        a->answer = a->answer && same(x->labels[l], first->labels[l], x->answer, x->n);
    }
    return 0;
}

/* The same tokens, where a digit may be any other digit. */
static int same_skeleton(const struct search *s, const lg_example *x)
{
    const unsigned char *digit = s->g->shape->digit;
    const int32_t *a = s->g->x.tokens, *b = x->tokens;
    for (int i = 0; i < x->answer; i++)
        if (a[i] != b[i] && !(digit[a[i]] && digit[b[i]])) return 0;
    return 1;
}

/* Notes where all examples have the same token, and the tokens of all other places. */
static void note_places(struct search *s, const lg_example *x)
{
    int32_t *constant = s->constant.data;
    char *varies = s->varies.data;
    for (int i = 0; i < x->answer; i++) {
        if (!s->any.count) constant[i] = x->tokens[i];
        if (constant[i] == x->tokens[i]) continue;
        if (constant[i] != LG_NONE) varies[constant[i]] = 1;
        varies[x->tokens[i]] = 1;
        constant[i] = LG_NONE;
    }
}

/* What an example says about the prompt. */
static int consider(struct search *s, const lg_example *x, lg_error *err)
{
    int n = s->g->x.n, e = 0;
    if (x->answer < n && x->answer > s->below) s->below = x->answer;
    if (x->answer > n && (!s->above || x->answer < s->above)) s->above = x->answer;
    if (x->answer != n) return 0;
    note_places(s, x);
    e = meet(&s->any, x, s->levels, err);
    if (!e && same_skeleton(s, x)) e = meet(&s->skeleton, x, s->levels, err);
    if (!e && same(x->tokens, s->g->x.tokens, 0, n)) e = meet(&s->equal, x, s->levels, err);
    return e;
}

/* Draws an example of lengths lo..hi; 0 and x.n = 0 if there is none. */
static int draw(struct search *s, int lo, int hi, lg_error *err)
{
    const lg_task_shape *shape = s->g->shape;
    int own = own_data(s->g);
    lg_draw d = {.stream = own ? 0 : STREAM_SEARCH, .length_lo = lo, .length_hi = hi};
    d.index = (uint64_t)s->draws++;
    if (!own && shape->info->sparsity && d.index % 2) { /* any that there can be, else its own */
        int most = shape->sparsity_most < s->g->x.n ? shape->sparsity_most : s->g->x.n;
        d.sparsity_lo = shape->sparsity_least;
        d.sparsity_hi = most > d.sparsity_lo ? most : d.sparsity_lo;
    }
    lg_error ignored;
    int e = lg_task_example(s->g->run.task, &d, &s->x, &ignored);
    if (e == LG_ERROR_MEMORY) return lg__fail(err, e, "%s", ignored.text);
    if (e) s->x.n = 0;
    s->tokens += s->x.n;
    return e ? 0 : consider(s, &s->x, err);
}

/* The fewest and the most tokens that a few prompts of this length have. */
static int probe(struct search *s, int length, int *fewest, int *most, lg_error *err)
{
    int e = 0;
    *fewest = INT32_MAX;
    *most = 0;
    for (int i = 0; i < PROBE && !e; i++) {
        e = draw(s, length, length, err);
        if (e || !s->x.n) continue;
        if (s->x.answer < *fewest) *fewest = s->x.answer;
        if (s->x.answer > *most) *most = s->x.answer;
    }
    return e;
}

/* The first length from lo on, up to top, at which prompts have n tokens or more (all of them:
 * every one has more); top + 1 if there is none. Prompts grow with the length. */
static int first_length(struct search *s, int lo, int top, int all, int *found, lg_error *err)
{
    int n = s->g->x.n, bad = lo - 1, good = top + 1, step = 1;
    while (bad + 1 < good) {
        int fewest, most, length = good > top ? bad + step : bad + (good - bad) / 2;
        if (length > top) length = top;
        int e = probe(s, length, &fewest, &most, err);
        if (e) return e;
        if (all ? fewest > n && most : most >= n)
            good = length;
        else
            bad = length;
        step *= 2;
    }
    *found = good;
    return 0;
}

/* Lengths at which there are prompts of as many tokens: first..last. */
static int find_lengths(struct search *s, int *first, int *last, lg_error *err)
{
    const lg_task_shape *shape = s->g->shape;
    int least = shape->length_least, top = 4 * s->g->x.n, e;
    if (top < s->g->run.config.length[1]) top = s->g->run.config.length[1];
    if (top > shape->length_most) top = shape->length_most;
    if (top < least) top = least;
    if ((e = first_length(s, least, top, 0, first, err))) return e;
    if (*first > top) *first = top;
    if ((e = first_length(s, *first, top, 1, last, err))) return e;
    *last = *last > *first ? *last - 1 : *first;
    return 0;
}

static int look_around(struct search *s, lg_error *err)
{
    const lg_task_shape *shape = s->g->shape;
    int own = own_data(s->g), first = shape->length_least, last = shape->length_most, e = 0;
    int draws = shape->info->own == LG_OWN_PROGRAM ? EXEC_DRAWS : own ? OWN_DRAWS : DRAWS;
    if (!own) e = find_lengths(s, &first, &last, err);
    for (int i = 0; i < draws && !e && (i < LEAST_DRAWS || s->tokens < TOKENS); i++) {
        int length = first + (own ? 0 : i % (last - first + 1));
        e = draw(s, length, own ? last : length, err);
        if (own && !s->x.n) break;
    }
    return e;
}

static const char *nearest(const struct search *s, char *text, size_t size)
{
    if (s->below && s->above)
        snprintf(text, size, "%d and %d", s->below, s->above);
    else
        snprintf(text, size, "%d", s->below ? s->below : s->above);
    return text;
}

/* A prompt that lacks a token which all others have in its place, and only in such places, is
 * mostly a slip: a "=" left out. */
static void warn(const struct search *s, lg_error *warning)
{
    const struct generation *g = s->g;
    const int32_t *constant = s->constant.data;
    const char *varies = s->varies.data;
    char text[32];
    const char *const *words = g->shape->words, *name = g->shape->info->name;
    if (!warning || warning->text[0] || (s->any.count && s->any.count < SURE)) return;
    if (!s->any.count) {
        lg__fail(
            warning, LG_ERROR_ARGUMENT,
            "no example of task %s was found whose prompt has %d tokens (the nearest have %s); "
            "is one missing or too much?",
            name, g->x.n, nearest(s, text, sizeof text));
        return;
    }
    for (int i = g->x.n - 1; i >= 0; i--) {
        if (constant[i] < 0 || constant[i] == g->x.tokens[i] || varies[constant[i]]) continue;
        lg__fail(
            warning, LG_ERROR_ARGUMENT,
            "token %d of the prompt is \"%.40s\"; in every example of task %s with %d tokens of "
            "prompt it is \"%.40s\", so this is nothing that the model was trained for",
            i + 1, words[g->x.tokens[i]], name, g->x.n, words[constant[i]]);
        return;
    }
}

static int no_labels(const struct search *s, lg_error *err)
{
    const struct generation *g = s->g;
    char text[32];
    if (!s->any.count)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "no example of task %s was found whose prompt has %d tokens (the nearest "
                        "have %s), so the rule's IDs are not known; change the prompt, or say its "
                        "IDs with --prompt-ids",
                        g->shape->info->name, g->x.n, nearest(s, text, sizeof text));
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the IDs of such a prompt follow from what it says (%d examples of task %s "
                    "with %d tokens of prompt do not agree), and none of them is the same; say "
                    "its IDs with --prompt-ids \"2 3 4 1\", ';' between levels, - for none",
                    s->any.count, g->shape->info->name, g->x.n);
}

/* Takes over the labels of the prompt, and of the right answer what is sure. */
static int adopt(struct generation *g, const struct search *s, const struct alike *a, lg_error *err)
{
    int n = g->x.n, by_text = g->run.plan.row->next != NULL;
    int known = a == &s->equal && a->answer && a->tokens;
    int e = lg__example_room(&g->x, a->first.n, err);
    if (e) return e;
    for (int l = 0; l < LG_LEVELS; l++)
        memcpy(g->x.labels[l], a->first.labels[l], (size_t)a->first.n * sizeof **g->x.labels);
    if (!a->answer || (by_text && !known)) return 0;
    memcpy(g->x.tokens + n, a->first.tokens + n, (size_t)(a->first.n - n) * sizeof *g->x.tokens);
    g->x.n = a->first.n;
    g->right = g->x.n - n;
    g->known = known;
    return 0;
}

static int find_labels(struct generation *g, lg_error *warning, lg_error *err)
{
    struct search s = {.g = g, .levels = g->run.plan.ids.labels ? g->run.plan.levels : 0};
    const struct alike *order[] = {&s.equal, &s.skeleton, &s.any}, *best = NULL;
    int e = lg__block_grow(&s.constant, (size_t)g->x.n * sizeof(int32_t), 0, "a prompt", err);
    if (!e) e = lg__block_grow(&s.varies, (size_t)g->shape->vocab, 0, "a vocabulary", err);
    if (!e) memset(s.varies.data, 0, (size_t)g->shape->vocab);
    if (!e) e = look_around(&s, err);
    for (int i = 0; i < 3 && !best; i++)
        if (order[i]->count && order[i]->labels) best = order[i];
    if (!e && !best && s.levels) e = no_labels(&s, err);
    if (!e) warn(&s, warning);
    if (!e && best) e = adopt(g, &s, best, err);
    lg_example_clear(&s.any.first);
    lg_example_clear(&s.skeleton.first);
    lg_example_clear(&s.equal.first);
    lg_example_clear(&s.x);
    lg__block_free(&s.constant);
    lg__block_free(&s.varies);
    return e;
}

/* ---- Getting a text ready --------------------------------------------------------------- */

static int ids_room(struct generation *g, lg_error *err)
{
    size_t size = (size_t)g->c->levels * (size_t)g->x.n * sizeof(int32_t);
    return lg__block_grow(&g->ids, size, 0, "IDs", err);
}

static int rule_ids(struct generation *g, lg_error *err)
{
    int32_t *ids[LG_LEVELS] = {0};
    int e = ids_room(g, err);
    for (int l = 0; l < g->c->levels && !e; l++) ids[l] = rule(g, l);
    return e ? e : lg_plan_ids(&g->run.plan, &g->x, NULL, ids, err);
}

/* How many tokens may be generated. */
static void choose_most(struct generation *g)
{
    g->fixed = g->shape->stop != LG_NONE ? 0 : g->right ? g->right : own_data(g) ? 0 : 1;
    g->most = g->o->max_tokens ? g->o->max_tokens : g->right ? 2 * g->right : UNKNOWN_MOST;
    if (g->fixed && g->fixed < g->most) g->most = g->fixed;
}

static int fresh_example(struct generation *g, int64_t index, lg_error *err)
{
    const lg_generate_options *o = g->o;
    const struct lg__config *c = &g->run.config;
    lg_draw d = {.seed = g->seed, .stream = LG__STREAM_TEST, .index = (uint64_t)index};
    d.length_hi = o->length ? o->length : c->length[1];
    d.length_lo = o->length || !own_data(g) ? d.length_hi : c->length[0];
    d.side = lg__run_test_side(c, g->run.task, d.length_lo, d.length_hi);
    d.sparsity_lo = o->sparsity ? o->sparsity : c->sparsity[0];
    d.sparsity_hi = o->sparsity ? o->sparsity : c->sparsity[1];
    int e = lg_task_example(g->run.task, &d, &g->x, err);
    if (e) return e;
    g->known = 1;
    g->right = g->x.n - g->x.answer;
    choose_most(g);
    return rule_ids(g, err);
}

/* The rule's IDs of the answer are needed where none are predicted; if they are not known, only
 * those that follow from the places or from the text can be had. */
static int check_given(const struct generation *g, lg_error *err)
{
    int given = 0;
    for (int l = 0; l < g->c->levels; l++) given |= !predicts(g, l);
    if (!given || g->right || !g->run.plan.ids.labels) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the rule's IDs of this prompt's answer are not known, so they cannot be "
                    "given; %s",
                    g->run.predicts && !g->predicted
                        ? "take predicted ones (--source predicted)"
                        : "this run does not predict them all: generate an example of the task "
                          "(leave out the prompt)");
}

/* IDs that go on counting whatever the answer is. */
static int by_place(const struct generation *g)
{
    const lg_plan *p = &g->run.plan;
    if (p->ids.labels || p->row->next) return 0;
    return !(p->flags & LG__IDS_DRAWN) || !g->right; /* drawn for the whole text */
}

/* IDs of places go on after the prompt for as long as there may be tokens. */
static int extend(struct generation *g, lg_error *err)
{
    int n = g->x.answer + g->most, e;
    if ((g->run.plan.flags & LG__IDS_DRAWN) && n > g->run.scheme.max_id + 1 && !g->o->max_tokens)
        n = g->run.scheme.max_id + 1;
    if (n <= g->x.n) return 0;
    if ((e = lg__example_room(&g->x, n, err))) return e;
    memset(g->x.tokens + g->x.n, 0, (size_t)(n - g->x.n) * sizeof *g->x.tokens);
    g->x.n = n;
    g->most = n - g->x.answer;
    return 0;
}

static int typed_prompt(struct generation *g, lg_error *warning, lg_error *err)
{
    int coupled = g->run.plan.ids.labels, e = read_prompt(g, err);
    g->typed = 1;
    if (!e && g->o->prompt_ids && !coupled)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the IDs of this run (%s) follow from the text; leave out --prompt-ids",
                     g->run.scheme.ids);
    const struct lg__rule *by_rule = lg__task_rule(g->run.task);
    if (!e && !g->o->prompt_ids)
        e = by_rule ? lg__rule_label(by_rule, &g->x, err) : find_labels(g, warning, err);
    if (!e) e = check_given(g, err);
    if (e) return e;
    choose_most(g);
    if (g->o->prompt_ids) return (e = ids_room(g, err)) ? e : read_ids(g, err);
    if (by_place(g) && !g->known) e = extend(g, err);
    return e ? e : rule_ids(g, err);
}

/* ---- Decoding --------------------------------------------------------------------------- */

static double probability(const float *logits, int n, int32_t token)
{
    double top = (double)logits[lg_argmax(logits, n)], sum = 0;
    for (int i = 0; i < n; i++) sum += exp((double)logits[i] - top);
    return exp((double)logits[token] - top) / sum;
}

/* The ID at a level of the generated token at place `at`. */
static int32_t next_id(struct generation *g, int level, int at, int32_t token)
{
    const lg_plan *p = &g->run.plan;
    int32_t last = g->carried[level];
    if (predicts(g, level)) return lg_plan_next_id(p, g->c, g->decoder, 0, level, last);
    if (p->row->next && !g->right) return p->row->next(p, last, token);
    return rule(g, level)[at < g->x.n ? at : g->x.n - 1];
}

/* What the right answer has at the place of t. */
static void expect(const struct generation *g, lg_run_token *t)
{
    int within = t->at - g->x.answer < g->right;
    t->expected = within && g->known ? g->x.tokens[t->at] : LG_NONE;
    t->expected_word = t->expected >= 0 ? g->shape->words[t->expected] : NULL;
    for (int l = 0; l < t->levels; l++) t->expected_id[l] = within ? rule(g, l)[t->at] : LG_NONE;
}

/* The next token and its IDs, from what the decoder has read. */
static void choose(struct generation *g, lg_rng *r, lg_run_token *t)
{
    const float *logits = lg_decoder_logits(g->decoder, 0);
    t->token = lg_sample(logits, g->c->vocab, g->o->temperature, r);
    t->word = g->shape->words[t->token];
    t->p = probability(logits, g->c->vocab, t->token);
    for (int l = 0; l < t->levels; l++) {
        t->id[l] = next_id(g, l, t->at, t->token);
        if (t->id[l] != LG_ABSENT) g->carried[l] = t->id[l];
    }
    expect(g, t);
}

static void count(const struct generation *g, const lg_run_token *t, lg_run_answer *a)
{
    int within = t->at < g->x.answer + g->right;
    a->tokens++;
    for (int l = 0; l < t->levels && within; l++)
        a->wrong_ids += predicts(g, l) && t->id[l] != t->expected_id[l];
    if (!g->known || a->wrong || t->token == t->expected) return;
    a->wrong = a->tokens;
    a->expected = t->expected_word;
    a->got = t->word;
}

/* Reads the prompt, and tells it. */
static int start(struct generation *g, lg_run_token *t, lg_error *err)
{
    lg_sequence prompt = {.n = g->x.answer, .levels = t->levels, .tokens = g->x.tokens};
    for (int l = 0; l < t->levels; l++) {
        prompt.ids[l] = rule(g, l);
        g->carried[l] = LG_ABSENT;
        for (int i = 0; i < prompt.n; i++)
            if (prompt.ids[l][i] != LG_ABSENT) g->carried[l] = prompt.ids[l][i];
    }
    lg_batch_reset(&g->prompt);
    int e = lg_batch_add_levels(&g->prompt, &prompt, err);
    if (!e) e = lg_decoder_start(g->decoder, &g->prompt, err);
    for (t->at = 0; t->at < prompt.n && !e; t->at++) {
        t->token = g->x.tokens[t->at];
        t->word = g->shape->words[t->token];
        for (int l = 0; l < t->levels; l++) t->id[l] = prompt.ids[l][t->at];
        if (g->o->callback) g->o->callback(g->o->context, t);
    }
    return e;
}

static lg_run_answer heading(const struct generation *g, int64_t example)
{
    lg_run_answer a = {.example = example,
                       .step = g->run.step,
                       .task = g->shape->info->name,
                       .unit = g->shape->info->unit,
                       .length = g->typed ? 0 : g->x.length,
                       .sparsity = g->typed ? 0 : g->x.sparsity,
                       .predicted = g->predicted,
                       .levels = g->c->levels,
                       .prompt = g->x.answer,
                       .known = g->known,
                       .right = g->right};
    for (int l = 0; l < a.levels && g->run.plan.ids.labels; l++) a.level[l] = g->shape->level[l];
    return a;
}

static int decode(struct generation *g, int64_t example, lg_error *err)
{
    lg_run_answer a = heading(g, example);
    lg_run_token t = {.example = example, .levels = a.levels, .expected = LG_NONE};
    lg_rng r;
    for (int l = 0; l < LG_LEVELS; l++) t.id[l] = LG_ABSENT, t.expected_id[l] = LG_NONE;
    lg_rng_init(&r, g->seed, STREAM_SAMPLE, (uint64_t)example);
    int e = start(g, &t, err);
    t.generated = 1;
    while (!e && !a.ended && a.tokens < g->most) {
        if (a.tokens) e = lg_decoder_step(g->decoder, &t.token, t.id, err);
        if (e) break;
        t.at = g->x.answer + a.tokens;
        choose(g, &r, &t);
        count(g, &t, &a);
        a.ended = g->fixed ? a.tokens == g->fixed : t.token == g->shape->stop;
        if (g->o->callback) g->o->callback(g->o->context, &t);
    }
    a.exact = g->known && !a.wrong && a.tokens == g->right;
    if (!e && g->o->answered) g->o->answered(g->o->context, &a);
    return e;
}

/* ---- The call --------------------------------------------------------------------------- */

static int generate(struct generation *g, lg_error *warning, lg_error *err)
{
    int count = g->o->count ? g->o->count : 1, e = 0;
    for (int i = 0; i < count && !e; i++) {
        e = g->o->prompt ? typed_prompt(g, warning, err) : fresh_example(g, i, err);
        /* As lg_run_eval has it: by the first of the examples. */
        if (!e && !i && g->c->rope_scaling == LG_ROPE_DYNAMIC)
            e = lg_model_set_length(g->run.model, g->x.answer + (g->right ? g->right : g->most),
                                    err);
        if (!e && !g->decoder && !(g->decoder = lg_decoder_new(g->run.model, 1, err)))
            e = LG_ERROR_MEMORY;
        if (!e) e = decode(g, i, err);
    }
    return e;
}

int lg_run_generate(const lg_generate_options *o, lg_error *warning, lg_error *err)
{
    struct generation g = {.o = o};
    lg_error own;
    if (!err) err = &own;
    if (warning) *warning = (lg_error){0};
    lg_example_init(&g.x);
    lg_batch_init(&g.prompt);
    int e = check_options(o, err);
    if (!e) e = lg__run_open_folder(&g.run, o->folder, &o->access, warning, err);
    if (!e) {
        g.c = lg_model_get_config(g.run.model);
        g.shape = lg_task_get_shape(g.run.task);
        g.seed = (uint64_t)(o->seed < 0 ? g.run.config.seed : o->seed);
    }
    if (!e) e = choose_source(&g, err);
    if (!e) e = generate(&g, warning, err);
    lg_decoder_free(g.decoder);
    lg_batch_clear(&g.prompt);
    lg_example_clear(&g.x);
    lg__block_free(&g.ids);
    lg__run_close(&g.run);
    return e;
}
