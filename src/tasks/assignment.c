/* assignment.c: what a variable is worth when most variables are defined by others. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks.h"

enum { BECOMES, ASK, GO, STOP, WORDS };
enum { NAMES, CONSTANTS, NAME_TOKENS, SHUFFLED, SCRATCHPAD, GAP };

static const lg_setting settings[] = {
    {"names", "2..100000", "200", "how many name words there are"},
    {"constants", "2..1000", "10", "how many constants there are"},
    {"name_tokens", "1..4", "1", "words in a variable's name"},
    {"shuffled", "yes|no", "yes", "statements in any order, or each after those it uses"},
    {"scratchpad", "yes|no", "yes", "the chain written out, or its end alone"},
    {"gap", "0..1000", "0", "roles that are left out between the two sides of a statement"},
    {0},
};

static int open_assignment(struct lg_task *t, lg_error *err)
{
    static const char *const words[] = {":=", "?", ">", "$"};
    int names = (int)t->value[NAMES].i, width = (int)t->value[NAME_TOKENS].i;
    lg_task_shape *s = &t->shape;
    for (int i = 0; i < WORDS; i++)
        if (lg__word(t, words[i], 0, err) < 0) return LG_ERROR_MEMORY;
    if (lg__word_numbered(t, "c", (int)t->value[CONSTANTS].i, err) ||
        lg__word_numbered(t, "v", names, err))
        return LG_ERROR_MEMORY;
    int64_t most = lg__distinct_count(names, width);
    if (most < s->length_most) s->length_most = (int)most;
    s->sparsity_least = t->default_sparsity_lo = 1;
    s->sparsity_most = s->length_most;
    t->default_sparsity_hi = s->length_most < 4 ? s->length_most : 4;
    s->stop = STOP;
    s->levels = 2;
    s->needed = 1;
    s->level[0] = "statement";
    s->level[1] = "role";
    s->role = 2;
    s->reach[0] = t->value[SCRATCHPAD].i == 0 ? 0 : 1;
    s->reach[1] = width + 1;
    s->match = s->reach[0] ? LG_MATCH_NONE : LG_MATCH_ANY;
    s->key_tokens = 1;
    s->key_token[0] = BECOMES;
    s->key_back = width;
    return 0;
}

static void allow_depth(const struct lg_task *t, int length, int *least, int *most)
{
    (void)t, (void)least;
    if (*most > length) *most = length;
}

/* An example's statements. They are numbered in an order in which each uses only those before it;
 * statement s defines variable s. All arrays share one block, which starts at `name`. */
struct program {
    int statements, width;
    int asked;      /* the variable at the chain's head */
    int32_t *name;  /* [statements * width] the words of each variable, from 0 */
    int32_t *right; /* [statements] the variable on its right side, or -1 - constant */
    int32_t *order; /* [statements] the statement at each place of the text */
    int32_t *place; /* [statements] its place in the text, from 0 */
};

static int program_new(struct program *p, int statements, int width, lg_error *err)
{
    size_t n = (size_t)statements, w = (size_t)width;
    *p = (struct program){.statements = statements, .width = width};
    p->name = lg__alloc(n * (w + 3) * sizeof *p->name);
    if (!p->name)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for an example of %d statements; ask for a smaller length",
                        statements);
    p->right = p->name + n * w;
    p->order = p->right + n;
    p->place = p->order + n;
    return 0;
}

/* The chain's statements are a uniformly chosen subset, the constant first; each of them uses the
 * one before it. The others mix in between and may use any variable that is there. */
static void draw_right_sides(struct program *p, int depth, int constants, lg_rng *r)
{
    int wanted = depth;
    for (int s = 0; s < p->statements; s++) {
        int chain = (int)lg_rng_below(r, (uint32_t)(p->statements - s)) < wanted;
        int constant = chain ? wanted == depth : s == 0 || lg_rng_below(r, 2) == 0;
        if (constant)
            p->right[s] = -1 - (int32_t)lg_rng_below(r, (uint32_t)constants);
        else
            p->right[s] = chain ? p->asked : (int32_t)lg_rng_below(r, (uint32_t)s);
        if (!chain) continue;
        p->asked = s;
        wanted--;
    }
}

static void draw_order(struct program *p, int shuffled, lg_rng *r)
{
    for (int i = 0; i < p->statements; i++) {
        int other = shuffled ? (int)lg_rng_below(r, (uint32_t)i + 1) : i;
        p->order[i] = p->order[other];
        p->order[other] = i;
    }
    for (int i = 0; i < p->statements; i++) p->place[p->order[i]] = i;
}

/* Puts a variable or, if it is below 0, a constant; its tokens have the roles `role` and on. */
static void put_operand(const struct lg_task *t, const struct program *p, lg_example *x,
                        int operand, int label, int role, int answer)
{
    void (*put)(lg_example *, int32_t, int32_t, int32_t, int32_t) =
        answer ? lg__put_answer : lg__put;
    int first = WORDS + (int)t->value[CONSTANTS].i; /* the token of the first name */
    if (operand < 0) {
        put(x, WORDS - 1 - operand, label, role, LG_ABSENT);
        return;
    }
    const int32_t *name = p->name + (size_t)operand * (size_t)p->width;
    for (int j = 0; j < p->width; j++) put(x, first + name[j], label, role + j, LG_ABSENT);
    x->codes[x->n - 1] = lg__key_code(name, p->width, 0, (int)t->value[NAMES].i);
}

/* The statements and the query. */
static void put_prompt(const struct lg_task *t, const struct program *p, lg_example *x)
{
    int width = p->width, role = width + 1 + (int)t->value[GAP].i;
    for (int i = 0; i < p->statements; i++) {
        int s = p->order[i];
        put_operand(t, p, x, s, i + 1, 1, 0);
        lg__put(x, BECOMES, i + 1, width + 1, LG_ABSENT);
        x->codes[x->n - 1] = x->codes[x->n - 2];
        put_operand(t, p, x, p->right[s], i + 1, role + 1, 0);
    }
    lg__put(x, ASK, 0, role, LG_ABSENT);
    put_operand(t, p, x, p->asked, 0, role + 1, 0);
}

/* Follows the chain to its constant, in writing or not. */
static void put_answer(const struct lg_task *t, const struct program *p, lg_example *x)
{
    int scratchpad = t->value[SCRATCHPAD].i == 0, role = p->width + 1 + (int)t->value[GAP].i,
        label = 0;
    int operand = p->asked;
    while (operand >= 0) {
        if (scratchpad) {
            label = p->place[operand] + 1;
            lg__put_answer(x, GO, label, role, LG_ABSENT);
        }
        operand = p->right[operand];
        if (scratchpad || operand < 0) put_operand(t, p, x, operand, label, role + 1, 1);
    }
    lg__put_answer(x, STOP, label, role + 2, LG_ABSENT);
}

static int make_assignment(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                           lg_example *x, lg_error *err)
{
    int width = (int)t->value[NAME_TOKENS].i;
    int most = length * (2 * width + 1) + (1 + width) + sparsity * (1 + width) + 1;
    struct program p;
    int e = lg__example_room(x, most, err);
    if (e || (e = program_new(&p, length, width, err))) return e;
    /* Scratch: order and place, side by side and not in use yet. */
    lg__distinct(p.name, width, length, width, (int)t->value[NAMES].i, p.order, r);
    draw_right_sides(&p, sparsity, (int)t->value[CONSTANTS].i, r);
    draw_order(&p, t->value[SHUFFLED].i == 0, r);
    put_prompt(t, &p, x);
    put_answer(t, &p, x);
    free(p.name);
    return 0;
}

int lg__assignment_write(const struct lg_task *t, const int64_t *name, const int32_t *right,
                         const int32_t *order, int n, lg_example *x, lg_error *err)
{
    int width = (int)t->value[NAME_TOKENS].i, depth = 1;
    struct program p;
    int e = lg__example_room(x, (n + 1) * (3 * width + 3), err);
    if (e || (e = program_new(&p, n, width, err))) return e;
    for (int i = 0; i < n; i++) {
        lg__key_words(name[i], p.name + i * width, width, (int)t->value[NAMES].i);
        p.right[i] = right[i];
        p.order[i] = order[i];
        p.place[order[i]] = i;
    }
    for (int at = 0; right[at] >= 0; at = right[at]) depth++;
    lg__example_begin(x, n, depth);
    put_prompt(t, &p, x);
    put_answer(t, &p, x);
    free(p.name);
    return 0;
}

const struct lg__task_row lg__task_variable_assignment = {
    .info =
        {.name = "variable-assignment",
         .family = "paper",
         .line = "the value of a variable, through a chain of assignments",
         .text =
             "  name := rhs .. name := rhs ? x1 > x2 > x3 .. > c $      scratchpad=yes\n"
             "  name := rhs .. name := rhs ? x1 c $                     scratchpad=no\n"
             "\n"
             "N statements define N different variables. A variable is name_tokens = L words of\n"
             "v0, v1, .. (`names` of them), different as a sequence, so N is at most names^L. A\n"
             "right side is a variable (L words) or one of the `constants` c0, c1, .. (a word).\n"
             "The chain has d statements: x1 := x2, x2 := x3, .., xd := c. Every other variable\n"
             "is defined by a constant or, one time in two, by a variable that was made before\n"
             "it (on the chain or not; the first one made has a constant), so there are no\n"
             "cycles. Names, constants and choices are uniform; the chain is spread uniformly\n"
             "over the order of making. Length is N, sparsity d: at most N, by default 1..4.\n"
             "shuffled=yes puts the statements into a uniformly random order; shuffled=no keeps\n"
             "the order of making, in which every variable is defined before it is used.\n"
             "The answer to x1: for each statement of the chain '>' and its right side, the\n"
             "last of which is c; scratchpad=no: c alone.\n"
             "Coupling, two levels, the first needed. 1, statement: all of the p-th statement\n"
             "in the text has label p, '?' and the x1 behind it 0; a '>' and the right side\n"
             "behind it p, if the right side is that of the p-th statement; '$' as the token\n"
             "before it. scratchpad=no: c and '$' 0. 2, role: the words of a left side have\n"
             "1..L; ':=', '?' and '>' L+1, the words behind them (c too) L+2, L+3, ..; '$' L+3. "
             "With gap=G the roles\n"
             "of right sides, '?', '>' and '$' are G larger, so that a window can end between the\n"
             "two sides. Match: ':=' ends a key, the name on its left; the last word of a name\n"
             "behind '?' or '>' asks for it.\n",
         .unit = "statements",
         .sparsity = "statements on the chain",
         .settings = settings},
    .open = open_assignment,
    .make = make_assignment,
    .keyed = 1,
    .allow = allow_depth,
};
