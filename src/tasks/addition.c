/* addition.c: a + b and a - b, digit by digit. Both are written in the same ways, so that they
 * share all but the arithmetic itself. */
#include <string.h>

#include "base/error.h"
#include "digits.h"

/* The settings of both tasks, in the order of their tables; one place differs. */
enum { BASE, OPERANDS, ANSWER, PADDED, ORIENTATION, CARRY, LENGTHS, HINTS, WRAP = CARRY };

/* Tokens behind the digits. */
enum { SIGN, EQUALS, STOP, HINT };

static int is_reversed_answer(const struct lg_task *t) { return t->value[ANSWER].i == 0; }
static int is_padded(const struct lg_task *t) { return t->value[PADDED].i == 0; }
/* Of subtraction. */
static int is_larger_first(const struct lg_task *t) { return t->value[WRAP].i == 0; }

/* An example that is being written down. */
struct sheet {
    lg_example *x;
    int base, n;
    int down;  /* 1: labels count downwards */
    int hints; /* hint words, of which significance 0 has the number first_hint; 0: none */
    int first_hint;
    int32_t role; /* label at level 2 of what is written now */
    int answer;   /* 1: what is written now is generated */
};

static void put(struct sheet *s, int32_t token, int32_t label)
{
    if (s->down) label = s->n + 1 - label;
    if (s->answer)
        lg__put_answer(s->x, token, label, s->role, LG_ABSENT);
    else
        lg__put(s->x, token, label, s->role, LG_ABSENT);
}

static void put_number(struct sheet *s, const int32_t *digit, int digits, int reversed)
{
    for (int i = 0; i < digits; i++) {
        int place = reversed ? i : digits - 1 - i;
        if (s->hints) put(s, s->base + HINT + (s->first_hint + place) % s->hints, place + 1);
        put(s, digit[place], place + 1);
    }
}

/* a, b and the answer c have n, n and n + extra digits; roles: level 2 has labels. */
static void write_down(const struct lg_task *t, struct sheet *s, const int32_t *a, const int32_t *b,
                       const int32_t *c, int extra, int roles)
{
    int n = s->n, padded = is_padded(t), reversed = is_reversed_answer(t);
    int operands_reversed = t->value[OPERANDS].i == 1;
    int digits = padded ? n + extra : lg__digits_count(c, n + extra);
    s->role = roles ? 1 : LG_ABSENT;
    put_number(s, a, padded ? n : lg__digits_count(a, n), operands_reversed);
    put(s, s->base + SIGN, 0);
    s->role = roles ? 2 : LG_ABSENT;
    put_number(s, b, padded ? n : lg__digits_count(b, n), operands_reversed);
    /* The labels of the answer walk from '=' to '$' in steps of one, up or down the columns. */
    put(s, s->base + EQUALS, reversed ? 0 : n + extra + 1);
    s->role = roles ? 3 : LG_ABSENT;
    s->answer = 1;
    put_number(s, c, digits, reversed);
    put(s, s->base + STOP, reversed ? digits + 1 : 0);
}

/* Makes room for the text and, behind its end, for the digits of a, b and c, which it returns. */
static int32_t *start(const struct lg_task *t, struct sheet *s, lg_example *x, lg_rng *r, int n,
                      int extra, lg_error *err)
{
    int hints = (int)t->value[HINTS].i, numbers = 3 * n + extra;
    int tokens = numbers * (hints ? 2 : 1) + 3;
    if (lg__example_room(x, tokens + numbers, err)) return NULL;
    *s = (struct sheet){
        .x = x,
        .base = (int)t->value[BASE].i,
        .n = n,
        .down = t->value[ORIENTATION].i == 1,
        .hints = hints,
        .first_hint = hints ? (int)lg_rng_below(r, (uint32_t)hints) : 0,
    };
    return x->tokens + tokens;
}

/* A number of `digits` digits, with zeros on top of it up to n. */
static void draw_number(int32_t *digit, int digits, int n, int base, lg_rng *r)
{
    lg__digits_draw(digit, digits, base, r);
    memset(digit + digits, 0, (size_t)(n - digits) * sizeof *digit);
}

/* One of n digits, the other, unless lengths=equal, of 1 to n. */
static void draw_pair(const struct lg_task *t, int32_t *a, int32_t *b, int n, lg_rng *r)
{
    int base = (int)t->value[BASE].i, shorter = n, first = 0;
    if (t->value[LENGTHS].i == 0) {
        first = (int)lg_rng_below(r, 2);
        shorter = 1 + (int)lg_rng_below(r, (uint32_t)n);
    }
    draw_number(a, first ? shorter : n, n, base, r);
    draw_number(b, first ? n : shorter, n, base, r);
}

/* A carry is made at a random place and travels to the top: above it all pairs sum to base-1. */
static void draw_hard(int32_t *a, int32_t *b, int n, int base, lg_rng *r)
{
    uint32_t values = (uint32_t)base;
    int from = (int)lg_rng_below(r, (uint32_t)n);
    for (int i = 0; i < from; i++) {
        a[i] = (int32_t)lg_rng_below(r, values);
        b[i] = (int32_t)lg_rng_below(r, values);
    }
    do { /* uniform among the pairs with a carry, none of which has a 0 */
        a[from] = 1 + (int32_t)lg_rng_below(r, values - 1);
        b[from] = 1 + (int32_t)lg_rng_below(r, values - 1);
    } while (a[from] + b[from] < base);
    for (int i = from + 1; i < n; i++) {
        /* At the top neither is 0; in base 2 that cannot be. */
        int least = i == n - 1 && base > 2;
        a[i] = least + (int32_t)lg_rng_below(r, values - 2 * (uint32_t)least);
        b[i] = base - 1 - a[i];
    }
}

/* Into c, and all three into the text. */
static void add(const struct lg_task *t, struct sheet *s, const int32_t *a, const int32_t *b,
                int32_t *c)
{
    int32_t carry = 0;
    for (int i = 0; i < s->n; i++) {
        int32_t sum = a[i] + b[i] + carry;
        carry = sum >= s->base;
        c[i] = carry ? sum - s->base : sum;
    }
    c[s->n] = carry;
    write_down(t, s, a, b, c, 1, 0);
}

static int make_addition(const struct lg_task *t, lg_rng *r, int n, int sparsity, lg_example *x,
                         lg_error *err)
{
    (void)sparsity;
    struct sheet s;
    int32_t *a = start(t, &s, x, r, n, 1, err);
    if (!a) return LG_ERROR_MEMORY;
    int32_t *b = a + n;
    if (t->value[CARRY].i == 1)
        draw_hard(a, b, n, s.base, r);
    else
        draw_pair(t, a, b, n, r);
    add(t, &s, a, b, b + n);
    return 0;
}

static int is_less(const int32_t *a, const int32_t *b, int n)
{
    int i = n - 1;
    while (i > 0 && a[i] == b[i]) i--;
    return a[i] < b[i];
}

/* Into c, and all three into the text. */
static void subtract(const struct lg_task *t, struct sheet *s, const int32_t *a, const int32_t *b,
                     int32_t *c)
{
    int32_t borrow = 0;
    for (int i = 0; i < s->n; i++) {
        int32_t difference = a[i] - b[i] - borrow;
        borrow = difference < 0;
        c[i] = borrow ? difference + s->base : difference;
    }
    write_down(t, s, a, b, c, 0, 1);
}

static int make_subtraction(const struct lg_task *t, lg_rng *r, int n, int sparsity, lg_example *x,
                            lg_error *err)
{
    (void)sparsity;
    struct sheet s;
    int32_t *a = start(t, &s, x, r, n, 0, err);
    if (!a) return LG_ERROR_MEMORY;
    int32_t *b = a + n, *c = b + n;
    draw_pair(t, a, b, n, r);
    if (is_larger_first(t) && is_less(a, b, n))
        subtract(t, &s, b, a, c);
    else
        subtract(t, &s, a, b, c);
    return 0;
}

/* ---- Columns ------------------------------------------------------------------------------- */

/* States: 0 before the first column; 1 and 2 behind one that may be the top one, without and with a
 * carry (or borrow); 3 and 4 behind one that may not, as a number of n digits does not start with
 * 0. Where the larger operand comes first no borrow is left at the top, so that 2 stands for all
 * columns with a borrow; mixed additions have no 4, as 0 + 0 gives no carry. */
static int next_state(const struct lg_task *t, int state, int a, int b, int carry)
{
    int equal = t->value[LENGTHS].i == 1, zero = equal ? !a || !b : !a && !b;
    return 1 + carry + 2 * (state && zero);
}

static int carry_of(int state) { return state == 2 || state == 4; }

static int next_sum(const struct lg_task *t, int state, int input)
{
    int base = (int)t->value[BASE].i, a = input / base, b = input % base;
    return next_state(t, state, a, b, a + b + carry_of(state) >= base);
}

static int next_difference(const struct lg_task *t, int state, int input)
{
    int base = (int)t->value[BASE].i, a = input / base, b = input % base;
    int next = next_state(t, state, a, b, a - b < carry_of(state));
    return next == 4 && is_larger_first(t) ? 2 : next;
}

static int sum_ends(const struct lg_task *t, int state)
{
    (void)t;
    return state == 1 || state == 2;
}

static int difference_ends(const struct lg_task *t, int state)
{
    return state == 1 || (state == 2 && !is_larger_first(t));
}

/* Makes a and b of the columns, and returns a; b is behind it. */
static int32_t *start_columns(const struct lg_task *t, struct sheet *s, const int32_t *input, int n,
                              int extra, lg_example *x, lg_error *err)
{
    int32_t *a = start(t, s, x, NULL, n, extra, err);
    lg__example_begin(x, n, 0);
    for (int i = 0; a && i < n; i++) {
        a[i] = input[i] / s->base;
        a[n + i] = input[i] % s->base;
    }
    return a;
}

static int write_sum(const struct lg_task *t, const int32_t *input, int n, lg_example *x,
                     lg_error *err)
{
    struct sheet s;
    int32_t *a = start_columns(t, &s, input, n, 1, x, err);
    if (!a) return LG_ERROR_MEMORY;
    add(t, &s, a, a + n, a + 2 * (size_t)n);
    return 0;
}

static int write_difference(const struct lg_task *t, const int32_t *input, int n, lg_example *x,
                            lg_error *err)
{
    struct sheet s;
    int32_t *a = start_columns(t, &s, input, n, 0, x, err);
    if (!a) return LG_ERROR_MEMORY;
    subtract(t, &s, a, a + n, a + 2 * (size_t)n);
    return 0;
}

/* Refuses the settings of both tasks with which no finite machine writes them. */
static int check_columns(const struct lg_task *t, lg_error *err)
{
    const char *name = t->row->info.name;
    if (!is_reversed_answer(t))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s: answer is plain, so that its first digit depends on all columns; "
                        "say answer=reversed",
                        name);
    if (!is_padded(t))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s: padded is no, so that which digits a column has depends on all "
                        "above it; say padded=yes",
                        name);
    return lg__columns_no_hints(t, (int)t->value[HINTS].i, err);
}

static int columns_addition(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    int e = check_columns(t, err), base = (int)t->value[BASE].i;
    if (e) return e;
    if (t->value[CARRY].i == 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task addition: carry is hard, whose texts are all among those of "
                        "carry=random with lengths=mixed; say these two");
    *c = (struct lg__columns){
        .states = t->value[LENGTHS].i == 1 ? 5 : 4,
        .inputs = base * base,
        .next = next_sum,
        .ends = sum_ends,
        .write = write_sum,
    };
    return 0;
}

static int columns_subtraction(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    int e = check_columns(t, err), base = (int)t->value[BASE].i;
    if (e) return e;
    *c = (struct lg__columns){
        .states = is_larger_first(t) ? 4 : 5,
        .inputs = base * base,
        .next = next_difference,
        .ends = difference_ends,
        .write = write_difference,
    };
    return 0;
}

/* The vocabulary, level 1 and the length that the hints allow: one for every place of c, which has
 * n + extra. */
static int open_both(struct lg_task *t, const char *signs, int extra, lg_error *err)
{
    int hints = (int)t->value[HINTS].i;
    if (hints && hints <= extra)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s: hints is %d, but an answer of n+1 digits needs n+1 of them; say "
                        "more than the longest length, or hints=0 for none",
                        t->row->info.name, hints);
    if (lg__digits_words(t, (int)t->value[BASE].i, signs, err) ||
        lg__word_numbered(t, "h", hints, err))
        return LG_ERROR_MEMORY;
    t->shape.stop = (int32_t)t->value[BASE].i + STOP;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.reach[0] = 1;
    if (hints && t->shape.length_most > hints - extra) t->shape.length_most = hints - extra;
    return 0;
}

static int open_addition(struct lg_task *t, lg_error *err)
{
    int e = open_both(t, "+=$", 1, err);
    /* From '=' (n+2) to the top digit, which is that of place n or n+1. */
    if (!is_reversed_answer(t) && !is_padded(t)) t->shape.reach[0] = 2;
    return e;
}

static int open_subtraction(struct lg_task *t, lg_error *err)
{
    int e = open_both(t, "-=$", 0, err);
    t->shape.levels = 2;
    t->shape.level[1] = "role";
    t->shape.role = 2;
    t->shape.reach[1] = 1;
    /* The top digit that is left of a difference may be at any place. */
    if (!is_reversed_answer(t) && !is_padded(t)) t->shape.reach[0] = 0;
    return e;
}

#define WRITING                                                                                    \
    {"base", "2..16", "10", "of the digits, written 0 to F"},                                      \
        {"operands", "plain|reversed", "plain", "top digit first, or lowest digit first"},         \
        {"answer", "reversed|plain", "reversed", "lowest digit first, or top digit first"},        \
        {"padded", "yes|no", "yes", "zeros on top: operands and answers have a fixed width"},      \
    {                                                                                              \
        "orientation", "up|down", "up", "labels rise, or fall, with the digits' significance"      \
    }
#define SIZES                                                                                      \
    {"lengths", "mixed|equal", "mixed", "the other operand has 1 to n digits, or n"},              \
    {                                                                                              \
        "hints", "0..10000", "0", "words that name the place before each digit; 0: none"           \
    }

static const lg_setting addition_settings[] = {
    WRITING,
    {"carry", "random|hard", "random", "uniform operands, or a carry that travels to the top"},
    SIZES,
    {0},
};

static const lg_setting subtraction_settings[] = {
    WRITING,
    {"wrap", "no|yes", "no", "the larger operand first, or any order, modulo base^n"},
    SIZES,
    {0},
};

const struct lg__task_row lg__task_addition = {
    .info =
        {.name = "addition",
         .family = "arithmetic",
         .line = "the sum of two numbers",
         .text =
             "  a + b = c $\n"
             "\n"
             "c = a + b. One operand (either, with equal chance) has n digits, the other 1 to n,\n"
             "uniformly; lengths=equal: both have n. All numbers of that many digits are equally\n"
             "likely; none starts with 0 but those of one digit.\n"
             "Both operands are filled up with zeros on top to n digits, c to n+1; padded=no:\n"
             "none is. Operands are written top digit first, c lowest digit first;\n"
             "operands=reversed, answer=plain: the other way round.\n"
             "carry=hard: both operands have n digits, whatever lengths says. At a uniformly\n"
             "random place the two digits sum to base or more; at every place above it they sum\n"
             "to base-1, so that the carry travels to the top; below it they are uniform. The\n"
             "top digits are not 0, but in base 2, where a pair that sums to 1 has one 0 (with\n"
             "padded=no it and the zeros under it are left out).\n"
             "hints=H: before every digit of a, b and c stands one of H hint words h0, h1, ..:\n"
             "that with the number (r + j) mod H before a digit of significance j (0 is the\n"
             "lowest), with one uniform r for each example. In c they are part of the answer.\n"
             "Lengths are then at most H-1, so that no two places share a word.\n"
             "Coupling, one level, column: a digit of significance j has label j+1, in a, b and\n"
             "c alike; '+' and '=' 0; '$' one more than c has digits (n+2 if padded).\n"
             "answer=plain: '=' has n+2, '$' 0. A hint has the label of its digit.\n"
             "orientation=down: every label v becomes n+1-v.\n",
         .unit = "digits",
         .settings = addition_settings},
    .open = open_addition,
    .make = make_addition,
    .columns = columns_addition,
};

const struct lg__task_row lg__task_subtraction = {
    .info =
        {.name = "subtraction",
         .family = "arithmetic",
         .line = "the difference of two numbers",
         .text =
             "  a - b = c $\n"
             "\n"
             "c = a - b. Two numbers are drawn: one (either, with equal chance) has n digits, the\n"
             "other 1 to n, uniformly; lengths=equal: both have n. All numbers of that many\n"
             "digits are equally likely; none starts with 0 but those of one digit.\n"
             "The larger one is a. wrap=yes: they stay as they were drawn, and c is a - b modulo\n"
             "base^n.\n"
             "a, b and c are filled up with zeros on top to n digits; padded=no: none is, and c\n"
             "has no zeros on top, but at least one digit. Operands are written top digit first,\n"
             "c lowest digit first; operands=reversed, answer=plain: the other way round.\n"
             "hints=H: before every digit of a, b and c stands one of H hint words h0, h1, ..:\n"
             "that with the number (r + j) mod H before a digit of significance j (0 is the\n"
             "lowest), with one uniform r for each example. In c they are part of the answer.\n"
             "Lengths are then at most H, so that no two places share a word.\n"
             "Coupling, level 1, column: a digit of significance j has label j+1, in a, b and c\n"
             "alike; '-' and '=' 0; '$' one more than c has digits (n+1 if padded).\n"
             "answer=plain: '=' has n+1, '$' 0. orientation=down: every label v becomes n+1-v.\n"
             "Level 2, role: a and '-' 1, b and '=' 2, c and '$' 3.\n"
             "A hint has the labels of its digit.\n",
         .unit = "digits",
         .settings = subtraction_settings},
    .open = open_subtraction,
    .make = make_subtraction,
    .columns = columns_subtraction,
};
