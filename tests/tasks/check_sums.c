/* check_sums.c: checkers of addition and subtraction. Check goes up the columns with the carry;
 * solve finds the carry of each column by itself, or adds the complement. */
#include <string.h>

#include "check.h"

enum { NO = LG_ABSENT };

struct sum {
    int base, padded, minus, wrap;
    int reversed, answer_reversed, down;
    struct ck_hints hints;
    struct ck_number a, b;
    int n;  /* columns */
    int at; /* behind the = */
};

/* Seen from the top, the columns sum to base-1 down to one that makes a carry. */
static int hard(const struct sum *s)
{
    int j = s->n - 1;
    while (j >= 0 && ck_number_at(&s->a, j) + ck_number_at(&s->b, j) == s->base - 1) j--;
    return j >= 0 && ck_number_at(&s->a, j) + ck_number_at(&s->b, j) >= s->base;
}

static int compare(const struct ck_number *a, const struct ck_number *b, int n)
{
    for (int j = n - 1; j >= 0; j--)
        if (ck_number_at(a, j) != ck_number_at(b, j))
            return ck_number_at(a, j) - ck_number_at(b, j);
    return 0;
}

static const char *sum_lengths(const struct ck_text *t, const struct sum *s)
{
    int a = ck_number_length(&s->a), b = ck_number_length(&s->b), n = s->n;
    int is_hard = ck_set_is(t, "carry", "random", "hard");
    int equal = is_hard || ck_set_is(t, "lengths", "mixed", "equal");
    /* Bits cannot both be 1 where the sum must be 1: one operand is shorter then. */
    int loose = is_hard && s->base == 2;
    if (s->padded && s->a.n != s->b.n) return "the operands are not padded to one length";
    if (!s->padded && (a != s->a.n || b != s->b.n)) return "a zero at the top";
    if (a != n && b != n) return "no operand has all digits";
    if (equal && !loose && (a != n || b != n)) return "the operands are not of one length";
    if (is_hard && !hard(s)) return "the carry does not run to the top";
    return NULL;
}

static const char *sum_prompt(struct ck_text *t, int minus, struct sum *s)
{
    *s = (struct sum){.base = ck_set_number(t, "base", 10),
                      .padded = ck_set_is(t, "padded", "yes", "yes"),
                      .minus = minus,
                      .wrap = ck_set_is(t, "wrap", "no", "yes"),
                      .reversed = ck_set_is(t, "operands", "plain", "reversed"),
                      .answer_reversed = ck_set_is(t, "answer", "reversed", "reversed"),
                      .down = ck_set_is(t, "orientation", "up", "down"),
                      .hints = {ck_set_number(t, "hints", 0), -1}};
    const char *wrong = ck_number_read(t, &s->at, s->base, s->reversed, &s->hints, &s->a);
    if (wrong) return wrong;
    if (!ck_is(t, s->at++, minus ? "-" : "+")) return "no sign between the operands";
    wrong = ck_number_read(t, &s->at, s->base, s->reversed, &s->hints, &s->b);
    if (wrong) return wrong;
    if (!ck_is(t, s->at++, "=")) return "no = behind the operands";
    s->n = s->a.n > s->b.n ? s->a.n : s->b.n;
    if (s->hints.most && s->n + !minus > s->hints.most) return "a hint would stand for two places";
    if (minus && !s->wrap && compare(&s->a, &s->b, s->n) < 0) return "the difference is negative";
    return sum_lengths(t, s);
}

/* The whole answer's digits, whatever its zeros: c = a + b, or b + c = a. */
static const char *sum_columns(const struct sum *s, const struct ck_number *c)
{
    const struct ck_number *x = s->minus ? c : &s->a, *y = &s->b, *z = s->minus ? &s->a : c;
    int carry = 0, places = s->n + !s->minus;
    for (int j = 0; j < places; j++) {
        int sum = ck_number_at(x, j) + ck_number_at(y, j) + carry;
        carry = sum >= s->base;
        if (sum - carry * s->base != ck_number_at(z, j)) return "a digit of the answer is wrong";
    }
    /* b + c passes a by base^n where the difference was wrapped. */
    if (carry && !(s->minus && s->wrap)) return "a carry is lost";
    return NULL;
}

static const char *sum_check(struct ck_text *t, int minus)
{
    struct sum s;
    struct ck_number c;
    const char *wrong = sum_prompt(t, minus, &s);
    if (wrong) return wrong;
    int at = s.at;
    wrong = ck_number_read(t, &at, s.base, s.answer_reversed, &s.hints, &c);
    if (wrong) return wrong;
    int places = s.n + !minus;
    if (s.padded ? c.n != places : c.n != ck_number_length(&c))
        return "the answer has not the right number of digits";
    if (c.n > places) return "the answer is too long";
    wrong = sum_columns(&s, &c);
    return wrong ? wrong : ck_stops(t, at);
}

/* The carry into column j of x + y + 1 or + 0, from the first column below that decides it. */
static int carry_into(const struct sum *s, const int *x, const int *y, int j, int first)
{
    for (j--; j >= 0; j--)
        if (x[j] + y[j] != s->base - 1) return x[j] + y[j] >= s->base;
    return first;
}

static const char *sum_solve(struct ck_text *t, struct ck_words *w, int minus)
{
    struct sum s;
    const char *wrong = sum_prompt(t, minus, &s);
    if (!wrong) wrong = ck_ends(t, s.at);
    if (wrong) return wrong;
    int places = s.n + !minus;
    size_t room = (size_t)places * sizeof(int);
    int *x = ck_room(t, room), *y = ck_room(t, room), *z = ck_room(t, room);
    for (int j = 0; j < places; j++) {
        x[j] = ck_number_at(&s.a, j);
        y[j] = minus ? s.base - 1 - ck_number_at(&s.b, j) : ck_number_at(&s.b, j);
    }
    for (int j = 0; j < places; j++) z[j] = (x[j] + y[j] + carry_into(&s, x, y, j, minus)) % s.base;
    struct ck_number c = {places, z};
    int shown = s.padded ? places : ck_number_length(&c);
    ck_number_say(t, w, z, shown, s.answer_reversed, &s.hints);
    ck_say(w, "$");
    return NULL;
}

/* A digit and its hint. */
static void column(const struct sum *s, struct ck_coupling *c, int up, int role)
{
    int v = s->down ? s->n + 1 - up : up;
    ck_label(c, v, role, NO);
}

static void columns(const struct sum *s, struct ck_coupling *c, int n, int reversed, int role)
{
    for (int i = 0; i < n; i++)
        for (int twice = s->hints.most ? 2 : 1; twice; twice--)
            column(s, c, reversed ? i + 1 : n - i, role);
}

static const char *sum_couple(struct ck_text *t, struct ck_coupling *c, int minus)
{
    struct sum s;
    struct ck_number z;
    const char *wrong = sum_prompt(t, minus, &s);
    if (wrong) return wrong;
    int at = s.at;
    wrong = ck_number_read(t, &at, s.base, s.answer_reversed, &s.hints, &z);
    if (wrong) return wrong;
    int plain = !s.answer_reversed, role = minus ? 0 : NO, step = minus;
    c->levels = minus ? 2 : 1;
    c->needed = 1;
    c->reach[0] = plain && !s.padded ? (minus ? 0 : 2) : 1;
    c->level[0] = "column";
    if (minus) {
        c->reach[1] = 1;
        c->level[1] = "role";
    }
    c->length = s.n;
    c->answer = s.at;
    columns(&s, c, s.a.n, s.reversed, role += step);
    column(&s, c, 0, role);
    columns(&s, c, s.b.n, s.reversed, role += step);
    column(&s, c, plain ? s.n + 1 + !minus : 0, role);
    columns(&s, c, z.n, s.answer_reversed, role += step);
    column(&s, c, plain ? 0 : s.padded ? s.n + 1 + !minus : z.n + 1, role);
    return NULL;
}

static const char *plus_check(struct ck_text *t) { return sum_check(t, 0); }
static const char *plus_solve(struct ck_text *t, struct ck_words *w) { return sum_solve(t, w, 0); }
static const char *plus_couple(struct ck_text *t, struct ck_coupling *c)
{
    return sum_couple(t, c, 0);
}
static const char *minus_check(struct ck_text *t) { return sum_check(t, 1); }
static const char *minus_solve(struct ck_text *t, struct ck_words *w) { return sum_solve(t, w, 1); }
static const char *minus_couple(struct ck_text *t, struct ck_coupling *c)
{
    return sum_couple(t, c, 1);
}

const struct ck_task ck_sums[] = {
    {"addition", 1, plus_check, plus_solve, plus_couple},
    {"subtraction", 1, minus_check, minus_solve, minus_couple},
    {.name = NULL},
};
