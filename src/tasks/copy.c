/* copy.c: a sequence again, forwards and backwards. */
#include "base/error.h"
#include "tasks.h"

enum { ALPHABET, KIND, HINTS };

static const lg_setting settings[] = {
    {"alphabet", "2..100000", "26", "how many letters there are"},
    {"kind", "random|unique", "random", "uniform letters, or all different"},
    {"hints", "0..10000", "0", "hint words, one before each letter; 0: none"},
    {0},
};

/* Tokens: the letters, '=', '$', the hints. */
static int open_copy(struct lg_task *t, lg_error *err)
{
    int alphabet = (int)t->value[ALPHABET].i, hints = (int)t->value[HINTS].i;
    if (lg__word_letters(t, alphabet, err) || lg__word(t, "=", 0, err) < 0 ||
        (t->shape.stop = lg__word(t, "$", 0, err)) < 0 || lg__word_numbered(t, "h", hints, err))
        return LG_ERROR_MEMORY;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.reach[0] = 1;
    if (t->value[KIND].i == 1) t->shape.length_most = alphabet;
    if (hints && hints < t->shape.length_most) t->shape.length_most = hints;
    return 0;
}

static int step_of(const struct lg_task *t) { return t->value[HINTS].i ? 2 : 1; }

/* n letters, drawn to where they will stand; returns the number of the first one's hint. */
static int draw_letters(const struct lg_task *t, lg_rng *r, int n, lg_example *x)
{
    int alphabet = (int)t->value[ALPHABET].i, hints = (int)t->value[HINTS].i, step = step_of(t);
    int32_t *letter = x->tokens + step - 1;
    if (t->value[KIND].i == 1) /* level 3 is free until a token is put */
        lg__distinct(letter, step, n, 1, alphabet, x->labels[2], r);
    else
        for (int i = 0; i < n; i++) letter[i * step] = (int32_t)lg_rng_below(r, (uint32_t)alphabet);
    return hints ? (int)lg_rng_below(r, (uint32_t)hints) : 0;
}

/* The letters that stand there, with hints in front of them if there are any, their labels counting
 * up from `first`. */
static void put_letters(const struct lg_task *t, int hint, int n, int first, lg_example *x)
{
    int alphabet = (int)t->value[ALPHABET].i, hints = (int)t->value[HINTS].i, step = step_of(t);
    const int32_t *letter = x->tokens + step - 1;
    for (int i = 0; i < n; i++) {
        if (hints) lg__put(x, alphabet + 2 + (hint + i) % hints, first + i, LG_ABSENT, LG_ABSENT);
        lg__put(x, letter[i * step], first + i, LG_ABSENT, LG_ABSENT);
    }
}

/* The letters are where they stand already, and the room for all is there. */
static void write_example(const struct lg_task *t, int hint, int n, int backward, lg_example *x)
{
    int step = step_of(t), equals = (int)t->value[ALPHABET].i;
    put_letters(t, hint, n, backward ? 0 : 1, x);
    lg__put(x, equals, backward ? n : 0, LG_ABSENT, LG_ABSENT);
    for (int i = 0; i < n; i++) {
        int from = (backward ? n - 1 - i : i) * step;
        for (int j = from; j < from + step; j++)
            lg__put_answer(x, x->tokens[j], x->labels[0][j], LG_ABSENT, LG_ABSENT);
    }
    lg__put_answer(x, t->shape.stop, backward ? -1 : n + 1, LG_ABSENT, LG_ABSENT);
}

static int make_example(const struct lg_task *t, lg_rng *r, int n, int backward, lg_example *x,
                        lg_error *err)
{
    int e = lg__example_room(x, 2 * n * step_of(t) + 2, err);
    if (e) return e;
    int hint = draw_letters(t, r, n, x);
    write_example(t, hint, n, backward, x);
    return 0;
}

static int make_copy(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                     lg_error *err)
{
    (void)sparsity;
    return make_example(t, r, length, 0, x, err);
}

static int make_reverse(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                        lg_error *err)
{
    (void)sparsity;
    return make_example(t, r, length, 1, x, err);
}

/* ---- Columns ---------------------------------------------------------------------------- */

/* One state: there is nothing to remember. */
static int next_letter(const struct lg_task *t, int state, int letter)
{
    (void)t, (void)state, (void)letter;
    return 0;
}

static int write_columns(const struct lg_task *t, const int32_t *letter, int n, int backward,
                         lg_example *x, lg_error *err)
{
    int e = lg__example_room(x, 2 * n + 2, err);
    if (e) return e;
    lg__example_begin(x, n, 0);
    for (int i = 0; i < n; i++) x->tokens[backward ? n - 1 - i : i] = letter[i];
    write_example(t, 0, n, backward, x);
    return 0;
}

static int write_copy(const struct lg_task *t, const int32_t *letter, int n, lg_example *x,
                      lg_error *err)
{
    return write_columns(t, letter, n, 0, x, err);
}

static int write_reverse(const struct lg_task *t, const int32_t *letter, int n, lg_example *x,
                         lg_error *err)
{
    return write_columns(t, letter, n, 1, x, err);
}

/* All but write. */
static int columns_both(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    const char *name = t->row->info.name;
    if (t->value[KIND].i == 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s: kind is unique, so that a letter depends on all before it; its "
                        "texts are among those of kind=random: say that",
                        name);
    int e = lg__columns_no_hints(t, (int)t->value[HINTS].i, err);
    if (e) return e;
    *c = (struct lg__columns){
        .states = 1,
        .inputs = (int)t->value[ALPHABET].i,
        .next = next_letter,
        .ends = lg__columns_end_anywhere,
    };
    return 0;
}

static int columns_copy(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    int e = columns_both(t, c, err);
    if (!e) c->write = write_copy;
    return e;
}

static int columns_reverse(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    int e = columns_both(t, c, err);
    if (!e) c->write = write_reverse;
    return e;
}

#define SETTINGS_TEXT                                                                              \
    "The letters are a, b, .. (`alphabet` of them; w0, w1, .. if they are over 26).\n"             \
    "kind=random: uniform. kind=unique: all n different, each choice and order equally\n"          \
    "likely; n is at most alphabet.\n"                                                             \
    "hints=H above 0: each letter, in the prompt and in the answer, has a hint word of\n"          \
    "h0 .. h(H-1) in front of it that names its place: that of xi is number (r + i) mod H,\n"      \
    "r uniform for each example; n is at most H. A hint has its letter's label, and those\n"       \
    "in the answer are to be generated too.\n"

const struct lg__task_row lg__task_copy = {
    .info = {.name = "copy",
             .family = "sequences",
             .line = "the same sequence again",
             .text =
                 "  x1 .. xn = x1 .. xn $\n"
                 "\n" SETTINGS_TEXT
                 "Coupling, one level: xi has label i, in the prompt and in the answer, '=' 0,\n"
                 "'$' n+1.\n",
             .unit = "letters",
             .settings = settings},
    .open = open_copy,
    .make = make_copy,
    .columns = columns_copy,
};

const struct lg__task_row lg__task_reverse = {
    .info = {.name = "reverse",
             .family = "sequences",
             .line = "the same sequence backwards",
             .text =
                 "  x1 .. xn = xn .. x1 $\n"
                 "\n" SETTINGS_TEXT "In the answer too a hint stands in front of its letter.\n"
                 "Coupling, one level: xi has label i-1, in the prompt and in the answer, '=' n,\n"
                 "'$' -1.\n",
             .unit = "letters",
             .settings = settings},
    .open = open_copy,
    .make = make_reverse,
    .columns = columns_reverse,
};
