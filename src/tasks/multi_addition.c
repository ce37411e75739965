/* multi_addition.c: the sum of many numbers: at once, and with the running sums written out. */
#include "digits.h"

enum { BASE, SCRATCHPAD };

/* Tokens behind the digits; NEXT only with a scratchpad. */
enum { PLUS, EQUALS, STOP, NEXT };

static int has_scratchpad(const struct lg_task *t) { return t->value[SCRATCHPAD].i == 0; }

/* The digits of k * (b^n - 1). With b^(d-1) <= k < b^d that is below b^(n+d), and not below
 * b^(d-1) * (b^n - 1), a number of n+d-1 digits: so there are n+d or n+d-1 of them, and n+d just if
 * k * b^n - k >= b^(n+d-1), which is (k - b^(d-1)) * b^n >= k. */
static int width(int base, int n, int k)
{
    int d = 1, power = 1;
    for (; power <= k / base; d++) power *= base;
    int left = k - power;
    for (int i = 0; i < n && left && left < k; i++) left *= base;
    return n + d - (left < k);
}

static int open_multi(struct lg_task *t, lg_error *err)
{
    int base = (int)t->value[BASE].i, scratchpad = has_scratchpad(t);
    if (lg__digits_words(t, base, scratchpad ? "+=$>" : "+=$", err)) return LG_ERROR_MEMORY;
    t->shape.stop = base + STOP;
    t->shape.levels = scratchpad ? 2 : 1;
    t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.level[1] = scratchpad ? "operand" : NULL;
    t->shape.reach[0] = scratchpad ? 0 : 1; /* each sum starts again at the lowest column */
    t->shape.reach[1] = scratchpad ? 1 : 0;
    t->shape.sparsity_least = t->default_sparsity_lo = 2;
    t->shape.sparsity_most = 1000;
    t->default_sparsity_hi = 4;
    return 0;
}

/* n uniform digits, with zeros on top of them up to w, top digit first. */
static void put_operand(lg_example *x, int n, int w, int base, int32_t level2, lg_rng *r)
{
    for (int place = w - 1; place >= n; place--) lg__put(x, 0, place + 1, level2, LG_ABSENT);
    for (int place = n - 1; place >= 0; place--)
        lg__put(x, (int32_t)lg_rng_below(r, (uint32_t)base), place + 1, level2, LG_ABSENT);
}

/* Behind the operands, which start every w+1 tokens: the sum. The columns are summed first, where
 * the answer will stand (1000 digits fit easily), and the carries are taken on the way. */
static void put_sum(lg_example *x, int k, int w, int base)
{
    int32_t *column = x->tokens + x->n, carry = 0;
    for (int j = 0; j < w; j++) column[j] = 0;
    for (int i = 0; i < k; i++) {
        const int32_t *lowest = x->tokens + (size_t)i * ((size_t)w + 1) + w - 1;
        for (int j = 0; j < w; j++) column[j] += lowest[-j];
    }
    for (int j = 0; j < w; j++) {
        int32_t sum = column[j] + carry;
        carry = sum / base;
        lg__put_answer(x, sum % base, j + 1, LG_ABSENT, LG_ABSENT);
    }
}

/* Behind the operands: S0 > S1 > .. > Sk, each from the one before it, w+1 tokens back. */
static void put_running_sums(lg_example *x, int k, int w, int base)
{
    for (int j = 0; j < w; j++) lg__put_answer(x, 0, j + 1, 0, LG_ABSENT);
    for (int i = 1; i <= k; i++) {
        lg__put_answer(x, base + NEXT, 0, i, LG_ABSENT);
        const int32_t *lowest = x->tokens + (size_t)(i - 1) * ((size_t)w + 1) + w - 1;
        const int32_t *before = x->tokens + x->n - (w + 1);
        int32_t carry = 0;
        for (int j = 0; j < w; j++) {
            int32_t sum = before[j] + lowest[-j] + carry;
            carry = sum >= base;
            lg__put_answer(x, carry ? sum - base : sum, j + 1, i, LG_ABSENT);
        }
    }
}

static int make_multi(const struct lg_task *t, lg_rng *r, int n, int k, lg_example *x,
                      lg_error *err)
{
    int base = (int)t->value[BASE].i, scratchpad = has_scratchpad(t), w = width(base, n, k);
    int64_t numbers = k + (scratchpad ? k + 1 : 1); /* each with a sign behind it */
    int e = lg__digits_room(t, x, numbers * (w + 1), err);
    if (e) return e;
    for (int i = 0; i < k; i++) {
        int32_t level2 = scratchpad ? i : LG_ABSENT;
        put_operand(x, n, w, base, level2, r);
        if (i < k - 1) lg__put(x, base + PLUS, 0, level2, LG_ABSENT);
    }
    lg__put(x, base + EQUALS, 0, scratchpad ? 0 : LG_ABSENT, LG_ABSENT);
    if (scratchpad)
        put_running_sums(x, k, w, base);
    else
        put_sum(x, k, w, base);
    lg__put_answer(x, base + STOP, w + 1, scratchpad ? k : LG_ABSENT, LG_ABSENT);
    return 0;
}

static const lg_setting multi_settings[] = {
    {"base", "2..16", "10", "of the digits, written 0 to F"},
    {"scratchpad", "yes|no", "yes", "write out the running sums, or the sum alone"},
    {0},
};

const struct lg__task_row lg__task_multi_addition = {
    .info =
        {.name = "multi-addition",
         .family = "arithmetic",
         .line = "the sum of many numbers, with the running sums written out",
         .text =
             "  x1 + x2 + .. + xk = S0 > S1 > .. > Sk $\n"
             "\n"
             "k operands, each of n uniform digits (so that some start with 0). Sj is the sum of\n"
             "the first j: S0 is 0, Sk the answer. Every number is filled up with zeros on top to\n"
             "W digits, as many as k*(base^n - 1), the largest sum, has. The operands are written\n"
             "top digit first, the sums lowest digit first.\n"
             "scratchpad=no: x1 + x2 + .. + xk = c $, with the sum c in W digits, lowest first.\n"
             "Coupling, level 1, column: a digit of significance j (0 is the lowest) has label\n"
             "j+1; '+', '=' and '>' 0; '$' W+1.\n"
             "Level 2, operand (not with scratchpad=no): operand xi and the '+' behind it i-1;\n"
             "'=' and S0 0; Sj and the '>' before it j; '$' k.\n",
         .unit = "digits",
         .sparsity = "operands",
         .settings = multi_settings},
    .open = open_multi,
    .make = make_multi,
};
