/* sparse_parity.c: the XOR of a few marked bits among many: at once, and with the walk from one
 * marked pair to the next (or over all pairs) written out. */
#include "tasks.h"

enum { ZERO, ONE, STAR, DOT, BAR, EQUALS, GO, STOP };
enum { MOST_IMPORTANT = 1000, ANY = -1 };

static int open_pairs(struct lg_task *t, lg_error *err)
{
    if (lg__word_digits(t, 2, err) || lg__word(t, "*", 0, err) < 0 || lg__word(t, ".", 0, err) < 0)
        return LG_ERROR_MEMORY;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "pair";
    t->shape.reach[0] = 1;
    t->shape.sparsity_least = 1;
    t->shape.sparsity_most = MOST_IMPORTANT;
    t->default_sparsity_lo = 1;
    t->default_sparsity_hi = 8;
    return 0;
}

static void allow_pairs(const struct lg_task *t, int length, int *least, int *most)
{
    (void)t, (void)least;
    if (*most > length) *most = length;
}

static const lg_setting parity_settings[] = {
    {"ones", "any|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16", "any",
     "uniform bits, or so many ones among the important ones"},
    {0},
};

static int ones_of(const struct lg_task *t) { return (int)t->value[0].i - 1; }

static int open_parity(struct lg_task *t, lg_error *err)
{
    int e = open_pairs(t, err), ones = ones_of(t);
    if (ones <= 1) return e;
    t->shape.length_least = t->shape.sparsity_least = t->default_sparsity_lo = ones;
    if (t->default_sparsity_hi < ones) t->default_sparsity_hi = ones;
    return e;
}

/* Puts `length` pairs of which `important` have a star, and returns the XOR of their bits. A pair
 * is taken with the chance (still wanted) / (still to come), so every subset is equally likely; so
 * are the stars with a one, where `ones` is not ANY. */
static int put_pairs(lg_example *x, lg_rng *r, int length, int important, int ones)
{
    int parity = 0, wanted = important;
    for (int i = 0; i < length; i++) {
        int star = (int)lg_rng_below(r, (uint32_t)(length - i)) < wanted;
        int choose = star && ones != ANY;
        int bit = choose ? (int)lg_rng_below(r, (uint32_t)wanted) < ones : (int)lg_rng_below(r, 2);
        wanted -= star;
        if (choose) ones -= bit;
        parity ^= star & bit;
        lg__put(x, star ? STAR : DOT, i + 1, LG_ABSENT, LG_ABSENT);
        lg__put(x, bit, i + 1, LG_ABSENT, LG_ABSENT);
    }
    return parity;
}

static int make_parity(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                       lg_error *err)
{
    int e = lg__example_room(x, 2 * length + 1, err);
    if (e) return e;
    int parity = put_pairs(x, r, length, sparsity, ones_of(t));
    lg__put_answer(x, parity, length + 1, LG_ABSENT, LG_ABSENT);
    return 0;
}

const struct lg__task_row lg__task_sparse_parity = {
    .info = {.name = "sparse-parity",
             .family = "paper",
             .line = "the XOR of the few bits that are marked, in one step",
             .text =
                 "  m1 b1 .. ml bl y\n"
                 "\n"
                 "l pairs of a marker and a uniform bit. k of the pairs, uniformly chosen, are\n"
                 "important: their marker is '*', that of the others '.'. y is the XOR of the\n"
                 "important bits. It is predicted at the last bit; no '=' and no stop token.\n"
                 "Length is l, sparsity k: 1..1000 and at most l, by default 1..8. With ones=M\n"
                 "exactly M of the important bits are 1, and k is at least M: what a model can\n"
                 "count is seen with `lengthen eval RUN --sparsities 8 --vary ones=0,1,2,3,4`.\n"
                 "Coupling, one level: both tokens of pair i have label i, y has l+1.\n",
             .unit = "pairs",
             .sparsity = "important pairs",
             .settings = parity_settings},
    .open = open_parity,
    .make = make_parity,
    .allow = allow_pairs,
};

static const lg_setting scratchpad_settings[] = {
    {"walk", "sparse|dense", "sparse", "over the important pairs, or over all pairs"},
    {0},
};

static int walk_is_dense(const struct lg_task *t) { return t->value[0].i == 1; }

static int open_scratchpad(struct lg_task *t, lg_error *err)
{
    static const char *const words[] = {"|", "=", ">", "$"};
    if (open_pairs(t, err)) return LG_ERROR_MEMORY;
    for (int i = 0; i < 4; i++)
        if (lg__word(t, words[i], 0, err) < 0) return LG_ERROR_MEMORY;
    t->shape.stop = STOP;
    if (walk_is_dense(t)) return 0;
    t->shape.levels = t->shape.needed = 2;
    t->shape.level[1] = "walk";
    t->shape.reach[0] = 0; /* from one important pair to the next it is any distance */
    t->shape.reach[1] = 1;
    t->shape.match = LG_MATCH_NEXT;
    t->shape.key_tokens = 3;
    t->shape.key_token[0] = STAR;
    t->shape.key_token[1] = DOT;
    t->shape.key_token[2] = BAR;
    return 0;
}

static void walk_dense(lg_example *x, int length)
{
    int parity = 0;
    for (int i = 0; i < length; i++) {
        if (x->tokens[2 * i] == STAR) parity ^= x->tokens[2 * i + 1];
        lg__put_answer(x, parity, i + 1, LG_ABSENT, LG_ABSENT);
    }
    lg__put_answer(x, STOP, length + 1, LG_ABSENT, LG_ABSENT);
}

/* Numbers of keys: a pair that is passed by, and what the walk stops at. */
enum { PASSED, STOPPED_AT };

static void walk_sparse(lg_example *x, int length)
{
    int parity = 0, group = 1;
    for (int i = 0; i < length; i++)
        x->codes[2 * i] = x->tokens[2 * i] == STAR ? STOPPED_AT : PASSED;
    x->codes[2 * length] = x->codes[2 * length + 1] = STOPPED_AT; /* '|', and '=' that asks */
    for (int i = 0; i < length; i++) {
        if (x->tokens[2 * i] != STAR) continue;
        int bit = x->tokens[2 * i + 1];
        parity ^= bit;
        lg__put_answer(x, GO, i + 1, group, LG_ABSENT);
        lg__put_answer(x, bit, i + 1, group, LG_ABSENT);
        lg__put_answer(x, parity, LG_ABSENT, group, LG_ABSENT);
        x->codes[x->n - 1] = STOPPED_AT;
        group++;
    }
    lg__put_answer(x, GO, length + 1, group, LG_ABSENT);
    lg__put_answer(x, STOP, length + 1, group, LG_ABSENT);
}

static int make_scratchpad(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                           lg_example *x, lg_error *err)
{
    int dense = walk_is_dense(t);
    int walk = dense ? length + 1 : 3 * sparsity + 2;
    int e = lg__example_room(x, 2 * length + 2 + walk, err);
    if (e) return e;
    put_pairs(x, r, length, sparsity, ANY);
    lg__put(x, BAR, length + 1, LG_ABSENT, LG_ABSENT);
    lg__put(x, EQUALS, 0, dense ? LG_ABSENT : 0, LG_ABSENT);
    if (dense)
        walk_dense(x, length);
    else
        walk_sparse(x, length);
    return 0;
}

int lg__walk_write(const unsigned char *pair, int n, lg_example *x, lg_error *err)
{
    int e = lg__example_room(x, 5 * n + 4, err), important = 0;
    if (e) return e;
    for (int i = 0; i < n; i++) important += pair[i] >= 2;
    lg__example_begin(x, n, important);
    for (int i = 0; i < n; i++) {
        lg__put(x, pair[i] >= 2 ? STAR : DOT, i + 1, LG_ABSENT, LG_ABSENT);
        lg__put(x, pair[i] & 1, i + 1, LG_ABSENT, LG_ABSENT);
    }
    lg__put(x, BAR, n + 1, LG_ABSENT, LG_ABSENT);
    lg__put(x, EQUALS, 0, 0, LG_ABSENT);
    walk_sparse(x, n);
    return 0;
}

const struct lg__task_row lg__task_sparse_parity_scratchpad = {
    .info = {.name = "sparse-parity-scratchpad",
             .family = "paper",
             .line = "the XOR of the few bits that are marked, with the walk written out",
             .text =
                 "  m1 b1 .. ml bl | = > b r .. > b r > $      walk=sparse\n"
                 "  m1 b1 .. ml bl | = r1 .. rl $              walk=dense\n"
                 "\n"
                 "l pairs of a marker and a uniform bit. k of the pairs, uniformly chosen, are\n"
                 "important: their marker is '*', that of the others '.'. Length is l, sparsity\n"
                 "k: 1..1000 and at most l, by default 1..8.\n"
                 "walk=sparse: one group '> b r' for each important pair in order: its bit b, and\n"
                 "r, the XOR of the important bits so far; the last r is the parity. The walk\n"
                 "ends at '|', which the last '> $' stands for.\n"
                 "Coupling, two levels, both needed. 1, pair: both tokens of pair i have label i,\n"
                 "'|' l+1, '=' 0; in the group of pair i '>' and b have i and r has none; the\n"
                 "last '>' and '$' l+1. 2, walk: pairs and '|' have none, '=' 0, all of group g\n"
                 "(1..k) g, the last '>' and '$' k+1.\n"
                 "Match: every marker and '|' is a key; '=' and r ask for the next '*' or '|'.\n"
                 "walk=dense: ri is the XOR of the important bits among pairs 1..i, so that rl is\n"
                 "the parity. Coupling, one level, pair: both tokens of pair i have label i, '|'\n"
                 "l+1, '=' 0, ri i, '$' l+1.\n",
             .unit = "pairs",
             .sparsity = "important pairs",
             .settings = scratchpad_settings},
    .open = open_scratchpad,
    .make = make_scratchpad,
    .keyed = 1,
    .allow = allow_pairs,
};
