/* check_products.c: checkers of multi-addition and multiplication. Check carries digit by digit
 * from one written number to the next; solve sums whole columns and carries at the end. */
#include <string.h>

#include "check.h"

enum { NO = LG_ABSENT };

static struct ck_number zeros(struct ck_text *t, int n)
{
    return (struct ck_number){n, ck_room(t, (size_t)n * sizeof(int))};
}

/* Reads one number, least significant digit first, that must have n digits. */
static const char *read_reversed(struct ck_text *t, int *at, int base, int n, struct ck_number *x)
{
    const char *wrong = ck_number_read(t, at, base, 1, NULL, x);
    if (!wrong && x->n != n) wrong = "a written number has not the right number of digits";
    return wrong;
}

/* x + d * y * base^shift = z, within z's digits; a digit above z's top must be 0. */
static const char *adds_up(const struct ck_number *x, int d, const struct ck_number *y, int shift,
                           const struct ck_number *z, int base)
{
    int carry = 0;
    for (int j = 0; j < z->n; j++) {
        int sum = ck_number_at(x, j) + carry;
        if (j >= shift) sum += d * ck_number_at(y, j - shift);
        if (z->digit[j] != sum % base) return "a digit of a written number is wrong";
        carry = sum / base;
    }
    return carry ? "a carry is lost" : NULL;
}

static void normalise(int64_t *column, int n, int base, int *digit)
{
    int64_t carry = 0;
    for (int j = 0; j < n; j++) {
        carry += column[j];
        digit[j] = (int)(carry % base);
        carry /= base;
    }
}

/* ---- x1 + .. + xk = ------------------------------------------------------------------------ */

struct operands {
    int base, scratchpad, k, width, n, at;
    struct ck_number *x; /* [k] */
};

/* Base-b digits of k * (b^n - 1). */
static int width_of(int base, int k, int n)
{
    int64_t carry = 0;
    int width = 0;
    for (int j = 0; j < n || carry; j++) {
        carry += j < n ? (int64_t)k * (base - 1) : 0;
        width = j + 1;
        carry /= base;
    }
    return width;
}

static const char *operands_prompt(struct ck_text *t, struct operands *o)
{
    *o = (struct operands){.base = ck_set_number(t, "base", 10),
                           .scratchpad = ck_set_is(t, "scratchpad", "yes", "yes")};
    o->x = ck_room(t, (size_t)t->n * sizeof *o->x);
    do {
        const char *wrong = ck_number_read(t, &o->at, o->base, 0, NULL, &o->x[o->k]);
        if (wrong) return wrong;
        if (o->x[o->k++].n != o->x[0].n) return "the operands are not of one width";
    } while (ck_is(t, o->at++, "+"));
    if (!ck_is(t, o->at - 1, "=")) return "no = behind the operands";
    if (o->k < 2) return "there is one operand";
    o->width = o->x[0].n;
    /* The width grows with the digits, so it tells how many they are. */
    do o->n++;
    while (width_of(o->base, o->k, o->n) < o->width);
    if (width_of(o->base, o->k, o->n) != o->width) return "no number of digits needs this width";
    for (int i = 0; i < o->k; i++)
        if (ck_number_length(&o->x[i]) > o->n) return "an operand has too many digits";
    return NULL;
}

static const char *operands_check(struct ck_text *t)
{
    struct operands o;
    const char *wrong = operands_prompt(t, &o);
    if (wrong) return wrong;
    int at = o.at;
    struct ck_number sum = zeros(t, o.width), nothing = sum, next;
    if (!o.scratchpad) {
        for (int i = 0; i < o.k; i++)
            for (int j = 0, carry = 0; j < o.width; j++) {
                int s = sum.digit[j] + o.x[i].digit[j] + carry;
                sum.digit[j] = s % o.base;
                carry = s / o.base;
            }
        wrong = read_reversed(t, &at, o.base, o.width, &next);
        if (!wrong && memcmp(sum.digit, next.digit, (size_t)o.width * sizeof(int)))
            wrong = "the answer is not the sum";
        return wrong ? wrong : ck_stops(t, at);
    }
    for (int i = 0; i <= o.k; i++) {
        if (i && !ck_is(t, at++, ">")) return "no > in front of a partial sum";
        wrong = read_reversed(t, &at, o.base, o.width, &next);
        if (!wrong) wrong = adds_up(&sum, i > 0, i ? &o.x[i - 1] : &nothing, 0, &next, o.base);
        if (wrong) return wrong;
        sum = next;
    }
    return ck_stops(t, at);
}

static const char *operands_solve(struct ck_text *t, struct ck_words *w)
{
    struct operands o;
    const char *wrong = operands_prompt(t, &o);
    if (!wrong) wrong = ck_ends(t, o.at);
    if (wrong) return wrong;
    int64_t *column = ck_room(t, (size_t)o.width * sizeof *column);
    int *digit = ck_room(t, (size_t)o.width * sizeof *digit);
    for (int i = 0; i <= o.k; i++) {
        if (i && o.scratchpad) ck_say(w, ">");
        for (int j = 0; i && j < o.width; j++) column[j] += o.x[i - 1].digit[j];
        if (!o.scratchpad && i < o.k) continue;
        normalise(column, o.width, o.base, digit);
        ck_number_say(t, w, digit, o.width, 1, NULL);
    }
    ck_say(w, "$");
    return NULL;
}

static const char *operands_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct operands o;
    const char *wrong = operands_prompt(t, &o);
    if (wrong) return wrong;
    int W = o.width, two = o.scratchpad;
    c->levels = two ? 2 : 1;
    c->needed = 1;
    c->reach[0] = two ? 0 : 1;
    c->level[0] = "column";
    if (two) {
        c->reach[1] = 1;
        c->level[1] = "operand";
    }
    c->length = o.n;
    c->sparsity = o.k;
    c->answer = o.at;
    for (int i = 1; i <= o.k; i++) {
        for (int v = W; v >= 1; v--) ck_label(c, v, two ? i - 1 : NO, NO);
        ck_label(c, 0, i == o.k || !two ? (two ? 0 : NO) : i - 1, NO); /* the last is the = */
    }
    for (int v = 1; v <= W; v++) ck_label(c, v, two ? 0 : NO, NO);
    for (int i = 1; two && i <= o.k; i++)
        for (int v = 0; v <= W; v++) ck_label(c, v, i, NO);
    ck_label(c, W + 1, two ? o.k : NO, NO);
    return NULL;
}

/* ---- A * B = -------------------------------------------------------------------------------- */

struct product {
    int base, scratchpad, down, at;
    struct ck_number a, b;
};

static const char *product_prompt(struct ck_text *t, struct product *p)
{
    *p = (struct product){.base = ck_set_number(t, "base", 10),
                          .scratchpad = ck_set_is(t, "scratchpad", "no", "yes")};
    p->down = !p->scratchpad && !ck_set_is(t, "orientation", "auto", "up");
    const char *wrong = ck_number_read(t, &p->at, p->base, 0, NULL, &p->a);
    if (wrong) return wrong;
    if (!ck_is(t, p->at++, "*")) return "no * between the factors";
    wrong = ck_number_read(t, &p->at, p->base, 0, NULL, &p->b);
    if (wrong) return wrong;
    if (!ck_is(t, p->at++, "=")) return "no = behind the factors";
    if (ck_number_length(&p->a) != p->a.n) return "the first factor has a zero at the top";
    if (!ck_set_is(t, "multiplier", "any", "any") &&
        (p->b.n != 1 || p->b.digit[0] != ck_set_number(t, "multiplier", 0)))
        return "the multiplier is another";
    return NULL;
}

static const char *partials_check(struct ck_text *t, const struct product *p)
{
    int at = p->at, N = p->a.n, M = p->b.n;
    const struct ck_number nothing = zeros(t, 1);
    struct ck_number *partial = ck_room(t, (size_t)M * sizeof *partial), sum = nothing, next;
    for (int i = 0; i < M; i++) {
        if (i && !ck_is(t, at++, "+")) return "no + in front of a partial product";
        const char *wrong = read_reversed(t, &at, p->base, N + 1, &partial[i]);
        if (!wrong) wrong = adds_up(&nothing, p->b.digit[i], &p->a, 0, &partial[i], p->base);
        if (wrong) return wrong;
    }
    for (int i = 0; i < M; i++) {
        if (!ck_is(t, at++, i ? ">" : "=")) return "no separator in front of a partial sum";
        const char *wrong = read_reversed(t, &at, p->base, N + M, &next);
        if (!wrong) wrong = adds_up(&sum, 1, &partial[i], i, &next, p->base);
        if (wrong) return wrong;
        sum = next;
    }
    return ck_stops(t, at);
}

static const char *product_check(struct ck_text *t)
{
    struct product p;
    struct ck_number c;
    const char *wrong = product_prompt(t, &p);
    if (wrong) return wrong;
    if (p.scratchpad) return partials_check(t, &p);
    int at = p.at, N = p.a.n, M = p.b.n;
    struct ck_number sum = zeros(t, N + M);
    for (int i = 0; i < M; i++)
        for (int j = 0, carry = 0; i + j < N + M; j++) {
            int s = sum.digit[i + j] + p.b.digit[i] * ck_number_at(&p.a, j) + carry;
            sum.digit[i + j] = s % p.base;
            carry = s / p.base;
        }
    wrong = read_reversed(t, &at, p.base, N + M, &c);
    if (!wrong && memcmp(sum.digit, c.digit, (size_t)(N + M) * sizeof(int)))
        wrong = "the answer is not the product";
    return wrong ? wrong : ck_stops(t, at);
}

static const char *product_solve(struct ck_text *t, struct ck_words *w)
{
    struct product p;
    const char *wrong = product_prompt(t, &p);
    if (!wrong) wrong = ck_ends(t, p.at);
    if (wrong) return wrong;
    int N = p.a.n, M = p.b.n;
    size_t room = (size_t)(N + M);
    int64_t *column = ck_room(t, room * sizeof *column);
    int *digit = ck_room(t, room * sizeof *digit);
    for (int i = 0; p.scratchpad && i < M; i++) {
        if (i) ck_say(w, "+");
        memset(column, 0, room * sizeof *column);
        for (int j = 0; j < N; j++) column[j] = (int64_t)p.b.digit[i] * p.a.digit[j];
        normalise(column, N + 1, p.base, digit);
        ck_number_say(t, w, digit, N + 1, 1, NULL);
    }
    memset(column, 0, room * sizeof *column);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) column[i + j] += (int64_t)p.b.digit[i] * p.a.digit[j];
        if (!p.scratchpad && i < M - 1) continue;
        if (p.scratchpad) ck_say(w, i ? ">" : "=");
        normalise(column, N + M, p.base, digit);
        ck_number_say(t, w, digit, N + M, 1, NULL);
    }
    ck_say(w, "$");
    return NULL;
}

static void partials_couple(const struct product *p, struct ck_coupling *c)
{
    int N = p->a.n, M = p->b.n;
    c->levels = 3;
    c->needed = 2;
    c->level[0] = "digit";
    c->level[1] = "factor";
    c->level[2] = "place";
    for (int j = N - 1; j >= 0; j--) ck_label(c, j + 1, NO, NO);
    ck_label(c, 0, NO, NO);
    for (int i = M - 1; i >= 0; i--) ck_label(c, NO, i, NO);
    for (int i = 0; i < M; i++)
        for (int j = -1; j <= N; j++) ck_label(c, j + 1, i, i + j + 1); /* -1: the separator */
    for (int i = 0; i < M; i++)
        for (int j = -1; j < N + M; j++) ck_label(c, NO, i, j + 1);
    ck_label(c, NO, M - 1, N + M + 1);
}

static const char *product_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct product p;
    const char *wrong = product_prompt(t, &p);
    if (wrong) return wrong;
    int N = p.a.n, M = p.b.n, e = N + M;
    c->length = N;
    c->sparsity = M;
    c->answer = p.at;
    if (p.scratchpad) {
        partials_couple(&p, c);
        return NULL;
    }
    c->levels = c->needed = c->reach[0] = 1;
    c->level[0] = "column";
    for (int j = N - 1; j >= 0; j--) ck_label(c, p.down ? e - 1 - j : j + 1, NO, NO);
    ck_label(c, p.down ? e : 0, NO, NO);
    for (int j = M - 1; j >= 0; j--) ck_label(c, p.down ? e - 1 - j : j + 1, NO, NO);
    ck_label(c, p.down ? e : 0, NO, NO);
    for (int j = 0; j <= e; j++) ck_label(c, p.down ? e - 1 - j : j + 1, NO, NO); /* and the $ */
    return NULL;
}

const struct ck_task ck_products[] = {
    {"multi-addition", 1, operands_check, operands_solve, operands_couple},
    {"multiplication", 1, product_check, product_solve, product_couple},
    {.name = NULL},
};
