/* multiplication.c: A * B: at once, and with the products by each digit of B and their running
 * sums written out. */
#include "base/error.h"
#include "digits.h"

enum { BASE, MULTIPLIER, SCRATCHPAD, ORIENTATION };

/* Tokens behind the digits; the last two only with a scratchpad. */
enum { TIMES, EQUALS, STOP, PLUS, NEXT };

static int has_scratchpad(const struct lg_task *t) { return t->value[SCRATCHPAD].i == 0; }

/* The digit that B always is, or -1. The words are any, 0, 1, .. */
static int fixed_multiplier(const struct lg_task *t) { return (int)t->value[MULTIPLIER].i - 1; }

static int open_multiplication(struct lg_task *t, lg_error *err)
{
    int base = (int)t->value[BASE].i, scratchpad = has_scratchpad(t);
    int fixed = fixed_multiplier(t) >= 0;
    if (fixed_multiplier(t) >= base)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task multiplication: multiplier is %d, which is no digit of base %d; say "
                        "%d or less, or a larger base",
                        fixed_multiplier(t), base, base - 1);
    if (scratchpad && t->value[ORIENTATION].i == 2)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task multiplication: orientation is down, but with scratchpad=yes labels "
                        "go up alone; say orientation=up, or scratchpad=no");
    if (lg__digits_words(t, base, scratchpad ? "*=$+>" : "*=$", err)) return LG_ERROR_MEMORY;
    t->shape.stop = base + STOP;
    t->shape.levels = scratchpad ? 3 : 1;
    t->shape.needed = scratchpad ? 2 : 1;
    t->shape.level[0] = scratchpad ? "digit" : "column";
    t->shape.level[1] = scratchpad ? "factor" : NULL;
    t->shape.level[2] = scratchpad ? "place" : NULL;
    t->shape.reach[0] =
        scratchpad ? 0 : 1; /* at every level of the scratchpad labels start again */
    t->shape.sparsity_least = t->default_sparsity_lo = t->default_sparsity_hi = 1;
    t->shape.sparsity_most = fixed ? 1 : 1000;
    return 0;
}

/* The factors' digits are drawn to where they will stand, top digit first: A at token 0, B at
 * token n+1. */
static void draw_factors(const struct lg_task *t, int32_t *token, int n, int m, lg_rng *r)
{
    uint32_t base = (uint32_t)t->value[BASE].i, least = n > 1;
    token[0] = (int32_t)(least + lg_rng_below(r, base - least));
    for (int i = 1; i < n; i++) token[i] = (int32_t)lg_rng_below(r, base);
    int fixed = fixed_multiplier(t);
    for (int i = n + 1; i < n + 1 + m; i++)
        token[i] = fixed >= 0 ? fixed : (int32_t)lg_rng_below(r, base);
}

/* Digit i of the product before carries: the sum of the a_(i-j) * b_j, at most 1000 * 15 * 15. a
 * and b point to the lowest digits, which stand last. */
static int32_t column(const int32_t *a, int n, const int32_t *b, int m, int i)
{
    int from = i < n ? 0 : i - n + 1, to = i < m ? i + 1 : m;
    int32_t sum = 0;
    for (int j = from; j < to; j++) sum += a[j - i] * b[-j];
    return sum;
}

static void write_at_once(const struct lg_task *t, int n, int m, lg_example *x)
{
    int base = (int)t->value[BASE].i, up = t->value[ORIENTATION].i == 1, all = n + m;
    const int32_t *a = x->tokens + n - 1, *b = x->tokens + n + m;
    /* A digit of significance j has the label lowest + step * j. */
    int lowest = up ? 1 : all - 1, step = up ? 1 : -1;
    for (int j = n - 1; j >= 0; j--) lg__put(x, a[-j], lowest + step * j, LG_ABSENT, LG_ABSENT);
    lg__put(x, base + TIMES, lowest - step, LG_ABSENT, LG_ABSENT);
    for (int j = m - 1; j >= 0; j--) lg__put(x, b[-j], lowest + step * j, LG_ABSENT, LG_ABSENT);
    lg__put(x, base + EQUALS, lowest - step, LG_ABSENT, LG_ABSENT);
    int32_t carry = 0;
    for (int j = 0; j < all; j++) {
        int32_t sum = column(a, n, b, m, j) + carry;
        carry = sum / base;
        lg__put_answer(x, sum % base, lowest + step * j, LG_ABSENT, LG_ABSENT);
    }
    lg__put_answer(x, base + STOP, lowest + step * all, LG_ABSENT, LG_ABSENT);
}

/* Pi = A * b_i, n+1 digits, behind its separator. */
static void put_product(lg_example *x, const int32_t *a, int n, int base, int32_t b_i, int i)
{
    int32_t carry = 0;
    for (int j = 0; j < n; j++) {
        int32_t sum = a[-j] * b_i + carry;
        carry = sum / base;
        lg__put_answer(x, sum % base, j + 1, i, i + j + 1);
    }
    lg__put_answer(x, carry, n + 1, i, i + n + 1);
}

/* Ci = C(i-1) + Pi * base^i, n+m digits: `before` is C(i-1), NULL for i = 0. */
static void put_running_sum(lg_example *x, const int32_t *before, const int32_t *product, int n,
                            int m, int base, int i)
{
    int32_t carry = 0;
    for (int j = 0; j < n + m; j++) {
        int32_t sum = carry + (before ? before[j] : 0);
        if (j >= i && j <= i + n) sum += product[j - i];
        carry = sum >= base;
        lg__put_answer(x, carry ? sum - base : sum, LG_ABSENT, i, j + 1);
    }
}

static void write_scratchpad(const struct lg_task *t, int n, int m, lg_example *x)
{
    int base = (int)t->value[BASE].i;
    const int32_t *a = x->tokens + n - 1, *b = x->tokens + n + m;
    for (int j = n - 1; j >= 0; j--) lg__put(x, a[-j], j + 1, LG_ABSENT, LG_ABSENT);
    lg__put(x, base + TIMES, 0, LG_ABSENT, LG_ABSENT);
    for (int i = m - 1; i >= 0; i--) lg__put(x, b[-i], LG_ABSENT, i, LG_ABSENT);
    lg__put(x, base + EQUALS, 0, 0, 0); /* P0's separator, the prompt's last */
    const int32_t *products = x->tokens + x->n;
    for (int i = 0; i < m; i++) {
        if (i) lg__put_answer(x, base + PLUS, 0, i, i);
        put_product(x, a, n, base, b[-i], i);
    }
    const int32_t *before = NULL;
    for (int i = 0; i < m; i++) {
        lg__put_answer(x, base + (i ? NEXT : EQUALS), LG_ABSENT, i, 0);
        const int32_t *sum = x->tokens + x->n;
        put_running_sum(x, before, products + (size_t)i * ((size_t)n + 2), n, m, base, i);
        before = sum;
    }
    lg__put_answer(x, base + STOP, LG_ABSENT, m - 1, n + m + 1);
}

static int room_for(const struct lg_task *t, int n, int m, lg_example *x, lg_error *err)
{
    int64_t query = n + 1 + m, product = n + 2, sum = n + m + 1; /* with a sign behind or before */
    return lg__digits_room(t, x, query + (has_scratchpad(t) ? m * (product + sum) : sum) + 1, err);
}

static int make_multiplication(const struct lg_task *t, lg_rng *r, int n, int m, lg_example *x,
                               lg_error *err)
{
    int e = room_for(t, n, m, x, err);
    if (e) return e;
    draw_factors(t, x->tokens, n, m, r);
    if (has_scratchpad(t))
        write_scratchpad(t, n, m, x);
    else
        write_at_once(t, n, m, x);
    return 0;
}

/* ---- Columns ------------------------------------------------------------------------------- */

/* States: 0 before the first column; 1 + carry; and the last one behind a digit 0 of A that cannot
 * be its top one, as it is not its only one. That leaves no carry: carries are below D. */
static int carries(const struct lg_task *t)
{
    int digit = fixed_multiplier(t);
    return digit ? digit : 1;
}

static int next_column(const struct lg_task *t, int state, int digit)
{
    int last = 1 + carries(t), carry = state == 0 || state == last ? 0 : state - 1;
    if (state && !digit) return last;
    return 1 + (digit * fixed_multiplier(t) + carry) / (int)t->value[BASE].i;
}

static int may_end(const struct lg_task *t, int state) { return state && state <= carries(t); }

static int write_columns(const struct lg_task *t, const int32_t *digit, int n, lg_example *x,
                         lg_error *err)
{
    lg__example_begin(x, n, 1);
    int e = room_for(t, n, 1, x, err);
    if (e) return e;
    for (int j = 0; j < n; j++) x->tokens[n - 1 - j] = digit[j];
    x->tokens[n + 1] = fixed_multiplier(t);
    write_at_once(t, n, 1, x);
    return 0;
}

static int columns_multiplication(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    if (has_scratchpad(t))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task multiplication: scratchpad is yes, so that the answer passes the "
                        "columns more than once; say scratchpad=no");
    if (fixed_multiplier(t) < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task multiplication: multiplier is any, so that every column needs the "
                        "digits of B, however far they are; say a digit, as in multiplier=7");
    *c = (struct lg__columns){
        .states = carries(t) + 2,
        .inputs = (int)t->value[BASE].i,
        .next = next_column,
        .ends = may_end,
        .write = write_columns,
    };
    return 0;
}

static const lg_setting multiplication_settings[] = {
    {"base", "2..16", "10", "of the digits, written 0 to F"},
    {"multiplier", "any|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15", "any",
     "B: uniform digits, or always this one digit"},
    {"scratchpad", "yes|no", "no", "write out the products by each digit of B and their sums"},
    {"orientation", "auto|up|down", "auto",
     "labels rise, or fall, with the digits' significance; auto: down, up with a scratchpad"},
    {0},
};

const struct lg__task_row lg__task_multiplication = {
    .info =
        {.name = "multiplication",
         .family = "arithmetic",
         .line = "the product of a long number and one of few digits",
         .text =
             "  A * B = C $\n"
             "\n"
             "C = A * B. A has exactly N digits (the length), all such numbers equally likely; it\n"
             "starts with 0 only where N is 1. B has M uniform digits (the sparsity) and may\n"
             "start with 0. multiplier=D: B is always the one digit D (a decimal number below\n"
             "base), and M is 1. A and B are written top digit first, C lowest digit first, with\n"
             "N+M digits, the top ones 0 where need be.\n"
             "Coupling, one level, column; j is the significance of a digit, 0 the lowest. A\n"
             "digit of A, B or C has label N+M-1-j; '*' and '=' N+M; '$' -1.\n"
             "orientation=up: a digit has j+1; '*' and '=' 0; '$' N+M+1.\n"
             "\n"
             "scratchpad=yes (orientation up or auto):\n"
             "\n"
             "  A * B = P0 + P1 + .. + P(M-1) = C0 > C1 > .. > C(M-1) $\n"
             "\n"
             "Pi = A * b_i, where b_i is B's digit of significance i, in N+1 digits; Ci is the\n"
             "sum of P0, P1*base, .., Pi*base^i, in N+M digits, so that C(M-1) is the product.\n"
             "All are written lowest digit first. The separator of Pi or Ci is the sign in front\n"
             "of it.\n"
             "Level 1, digit: A's digit of significance j has label j+1, '*' 0; Pi's digits j+1,\n"
             "its separator 0; B, the Ci with their separators, and '$' have none.\n"
             "Level 2, factor: b_i has label i; Pi and Ci with their separators i; '$' M-1; A\n"
             "and '*' have none.\n"
             "Level 3, place: Pi's digits have i+j+1, its separator i; Ci's digits j+1, its\n"
             "separator 0; '$' N+M+1; A, '*' and B have none.\n"
             "Levels 1 and 2 at least are needed.\n",
         .unit = "digits of A",
         .sparsity = "digits of B",
         .settings = multiplication_settings},
    .open = open_multiplication,
    .make = make_multiplication,
    .columns = columns_multiplication,
};
