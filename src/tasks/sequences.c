/* sequences.c: sorting, the most frequent word, and a memory of one bit. */
#include <string.h>

#include "tasks.h"

/* ---- sort ------------------------------------------------------------------------------- */

enum { ALPHABET, KIND };

static const lg_setting sort_settings[] = {
    {"alphabet", "2..100000", "100", "how many words there are"},
    {"kind", "random|unique", "unique", "uniform words, or all different"},
    {0},
};

/* Tokens: the words, '=', '$'. */
static int open_sort(struct lg_task *t, lg_error *err)
{
    int alphabet = (int)t->value[ALPHABET].i;
    if (lg__word_numbered(t, "w", alphabet, err) || lg__word(t, "=", 0, err) < 0 ||
        (t->shape.stop = lg__word(t, "$", 0, err)) < 0)
        return LG_ERROR_MEMORY;
    if (t->value[KIND].i == 1) t->shape.length_most = alphabet;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.reach[0] = 0; /* from one word to the next in order it is any distance */
    return 0;
}

/* One pass of a radix sort: the n places in `from` (NULL: 0..n-1), ordered by nine bits of the
 * token that stands there, go to `to`; equal ones keep their order. Two passes sort tokens below
 * 2^18, in linear time whatever the alphabet. */
static void sort_pass(const int32_t *tokens, int n, int shift, const int32_t *from, int32_t *to)
{
    enum { BITS = 9, MASK = (1 << BITS) - 1 };
    int next[MASK + 2] = {0};
    for (int i = 0; i < n; i++) next[(tokens[i] >> shift & MASK) + 1]++;
    for (int v = 0; v < MASK; v++) next[v + 1] += next[v];
    for (int i = 0; i < n; i++) {
        int place = from ? from[i] : i;
        to[next[tokens[place] >> shift & MASK]++] = place;
    }
}

static int make_sort(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                     lg_error *err)
{
    (void)sparsity;
    int alphabet = (int)t->value[ALPHABET].i;
    int e = lg__example_room(x, 2 * length + 2, err);
    if (e) return e;
    if (t->value[KIND].i == 1) /* level 3 is free until a token is put */
        lg__distinct(x->tokens, 1, length, 1, alphabet, x->labels[2], r);
    else
        for (int i = 0; i < length; i++)
            x->tokens[i] = (int32_t)lg_rng_below(r, (uint32_t)alphabet);
    for (int i = 0; i < length; i++) lg__put(x, x->tokens[i], i + 1, LG_ABSENT, LG_ABSENT);
    lg__put(x, alphabet, 0, LG_ABSENT, LG_ABSENT);
    /* Levels 2 and 3 of the answer, not put yet, hold the order, each place until it is read. */
    int32_t *half = x->labels[1] + x->n, *order = x->labels[2] + x->n;
    sort_pass(x->tokens, length, 0, NULL, half);
    sort_pass(x->tokens, length, 9, half, order);
    for (int i = 0; i < length; i++) {
        int place = order[i];
        lg__put_answer(x, x->tokens[place], place + 1, LG_ABSENT, LG_ABSENT);
    }
    lg__put_answer(x, t->shape.stop, length + 1, LG_ABSENT, LG_ABSENT);
    return 0;
}

const struct lg__task_row lg__task_sort = {
    .info = {.name = "sort",
             .family = "sequences",
             .line = "the words in ascending order",
             .text =
                 "  x1 .. xn = y1 .. yn $\n"
                 "\n"
                 "n of the words w0, w1, .. (`alphabet` of them), then the same in ascending\n"
                 "order, w0 the least. kind=unique: all n different, each choice and order\n"
                 "equally likely; n is at most alphabet. kind=random: uniform words, which may\n"
                 "come several times.\n"
                 "Coupling, one level: xi has label i, '=' 0, each y that of the x which it is\n"
                 "(equal ones in their order in the prompt), '$' n+1.\n",
             .unit = "words",
             .settings = sort_settings},
    .open = open_sort,
    .make = make_sort,
};

/* ---- majority --------------------------------------------------------------------------- */

static const lg_setting majority_settings[] = {
    {"alphabet", "2..100000", "2", "how many words there are"},
    {0},
};

/* Tokens: the words, '='. */
static int open_majority(struct lg_task *t, lg_error *err)
{
    if (lg__word_letters(t, (int)t->value[ALPHABET].i, err) || lg__word(t, "=", 0, err) < 0)
        return LG_ERROR_MEMORY;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.reach[0] = 1;
    return 0;
}

/* How often each word was seen: a table by the word itself or, if the words are many, by its
 * hash, sparse enough to find nearly all at once. */
struct votes {
    int words, size;
    int32_t *word;  /* [size] a word + 1, or 0 */
    int32_t *count; /* [size] */
    int32_t winner;
    int most, winners;
    int64_t equal_pairs; /* of places with the same word */
};

static void votes_clear(struct votes *v)
{
    memset(v->word, 0, (size_t)v->size * sizeof *v->word);
    v->most = v->winners = 0;
    v->equal_pairs = 0;
}

static void vote(struct votes *v, int32_t word)
{
    int at = word;
    if (v->words > v->size) {
        uint32_t hash = (uint32_t)word * 0x9E3779B9u;
        at = (int)((uint64_t)hash * (uint64_t)v->size >> 32);
    }
    while (v->word[at] && v->word[at] != word + 1) at = at + 1 < v->size ? at + 1 : 0;
    if (!v->word[at]) {
        v->word[at] = word + 1;
        v->count[at] = 0;
    }
    v->equal_pairs += v->count[at];
    int count = ++v->count[at];
    if (count > v->most) {
        v->most = count;
        v->winner = word;
        v->winners = 1;
    } else if (count == v->most) {
        v->winners++;
    }
}

/* One try at n words without a tie: uniform words, and 1 if they are such.
 *
 * If the words are many and n is small, nearly all tries would end with n different words. Then
 * two places, uniformly chosen, get the same word at once. That makes a sequence with e pairs of
 * equal places e times as likely as it should be (and every one without a tie has such a pair, if
 * n > 1), so it is kept with the chance 1/e: what is kept is uniform again. */
static int try_words(struct votes *v, lg_rng *r, int n, int32_t *words)
{
    int paired = n > 1 && (int64_t)n * (n - 1) / 2 < v->words, first = -1, second = -1;
    if (paired) {
        first = (int)lg_rng_below(r, (uint32_t)n);
        second = (int)lg_rng_below(r, (uint32_t)n - 1);
        if (second < first) { /* the two in order, without the place `first` itself */
            int swap = first;
            first = second;
            second = swap;
        } else {
            second++;
        }
    }
    votes_clear(v);
    for (int i = 0; i < n; i++) {
        words[i] = i == second ? words[first] : (int32_t)lg_rng_below(r, (uint32_t)v->words);
        vote(v, words[i]);
    }
    if (v->winners > 1) return 0;
    return !paired || lg_rng_below(r, (uint32_t)v->equal_pairs) == 0;
}

static int make_majority(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                         lg_example *x, lg_error *err)
{
    (void)sparsity;
    int words = (int)t->value[ALPHABET].i, size = words < 4 * length ? words : 4 * length;
    int e = lg__example_room(x, size > length + 2 ? size : length + 2, err);
    if (e) return e;
    /* Levels 2 and 3 are free until a token is put. */
    struct votes v = {.words = words, .size = size, .word = x->labels[1], .count = x->labels[2]};
    while (!try_words(&v, r, length, x->tokens)) continue;
    for (int i = 0; i < length; i++) lg__put(x, x->tokens[i], 0, LG_ABSENT, LG_ABSENT);
    lg__put(x, words, 1, LG_ABSENT, LG_ABSENT);
    lg__put_answer(x, v.winner, 0, LG_ABSENT, LG_ABSENT);
    return 0;
}

const struct lg__task_row lg__task_majority = {
    .info = {.name = "majority",
             .family = "sequences",
             .line = "the most frequent word",
             .text =
                 "  x1 .. xn = y\n"
                 "\n"
                 "n of the words a, b, .. (`alphabet` of them; w0, w1, .. if they are over 26),\n"
                 "then the most frequent one, y. The words are uniform; a draw in which two or\n"
                 "more words are the most frequent is made again, so there are no ties. No stop\n"
                 "token.\n"
                 "Coupling, one level: every x has label 0, '=' 1, y 0.\n",
             .unit = "words",
             .settings = majority_settings},
    .open = open_majority,
    .make = make_majority,
};

/* ---- flip-flop -------------------------------------------------------------------------- */

enum { ZERO, ONE, WRITE, READ, IGNORE };

static const lg_setting flip_flop_settings[] = {
    {"ignore", "0..99", "80", "percent of the pairs that are to be ignored"},
    {0},
};

static int open_flip_flop(struct lg_task *t, lg_error *err)
{
    if (lg__word_digits(t, 2, err) || lg__word(t, "w", 0, err) < 0 ||
        lg__word(t, "r", 0, err) < 0 || lg__word(t, "i", 0, err) < 0)
        return LG_ERROR_MEMORY;
    t->shape.length_least = 2;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "pair";
    t->shape.reach[0] = 0; /* the last write may be any distance back */
    return 0;
}

static int make_flip_flop(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                          lg_example *x, lg_error *err)
{
    (void)sparsity;
    int ignore = (int)t->value[0].i, written = 0, place = 1;
    int e = lg__example_room(x, 2 * length, err);
    if (e) return e;
    for (int i = 1; i < length; i++) {
        int op = WRITE;
        if (i > 1) {
            int ignored = (int)lg_rng_below(r, 100) < ignore;
            op = ignored ? IGNORE : lg_rng_below(r, 2) ? WRITE : READ;
        }
        int bit = op == READ ? written : (int)lg_rng_below(r, 2);
        if (op == WRITE) {
            written = bit;
            place = i;
        }
        lg__put(x, op, i, LG_ABSENT, LG_ABSENT);
        lg__put(x, bit, i, LG_ABSENT, LG_ABSENT);
    }
    lg__put(x, READ, length, LG_ABSENT, LG_ABSENT);
    lg__put_answer(x, written, place, LG_ABSENT, LG_ABSENT);
    return 0;
}

const struct lg__task_row lg__task_flip_flop = {
    .info = {.name = "flip-flop",
             .family = "sequences",
             .line = "a memory of one bit: the last one written",
             .text =
                 "  w b1 op2 b2 .. op(n-1) b(n-1) r y\n"
                 "\n"
                 "n pairs, 2 or more, of an operation and a bit. The first operation is 'w'\n"
                 "(write), the last 'r' (read); in between each is 'i' (ignore) in `ignore`\n"
                 "percent of the cases, else 'w' or 'r', equally likely. The bit behind a 'w' or\n"
                 "an 'i' is uniform, that behind an 'r' is the one last written; so is y, the\n"
                 "only token with a loss. No stop token.\n"
                 "Coupling, one level: both tokens of pair j have label j, the last 'r' n, and y\n"
                 "that of the pair which wrote last.\n",
             .unit = "pairs",
             .settings = flip_flop_settings},
    .open = open_flip_flop,
    .make = make_flip_flop,
};
