/* check_parity.c: checkers of parity, plain and sparse, with and without scratchpad. */
#include "check.h"

enum { NO = LG_ABSENT };

static int is_bit(const struct ck_text *t, int i) { return ck_is(t, i, "0") || ck_is(t, i, "1"); }
static int bit(const struct ck_text *t, int i) { return ck_is(t, i, "1"); }

/* ---- b1 .. bn = ------------------------------------------------------------------------- */

static const char *bits_prompt(const struct ck_text *t, int *n)
{
    *n = 0;
    while (is_bit(t, *n)) ++*n;
    if (!*n) return "no bits";
    return ck_is(t, *n, "=") ? NULL : "no = behind the bits";
}

static int ones(const struct ck_text *t, int from, int to)
{
    int sum = 0;
    for (int i = from; i < to; i++) sum += bit(t, i);
    return sum;
}

static const char *parity_check(struct ck_text *t)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (wrong) return wrong;
    if (!is_bit(t, n + 1)) return "the answer is no bit";
    int odd = 0;
    for (int i = 0; i < n; i++) odd ^= bit(t, i);
    if (bit(t, n + 1) != odd) return "the answer is not the parity";
    return ck_ends(t, n + 2);
}

static const char *parity_solve(struct ck_text *t, struct ck_words *w)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (!wrong) wrong = ck_ends(t, n + 1);
    if (!wrong) ck_say(w, ck_digit_word(ones(t, 0, n) % 2));
    return wrong;
}

static const char *parity_couple(struct ck_text *t, struct ck_coupling *c)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (wrong) return wrong;
    c->levels = c->needed = c->reach[0] = 1;
    c->length = n;
    c->answer = n + 1;
    for (int i = 0; i < n; i++) ck_label(c, 0, NO, NO);
    ck_label(c, 1, NO, NO);
    ck_label(c, 0, NO, NO);
    return NULL;
}

/* ---- b1 .. bn = r1 .. rn $ --------------------------------------------------------------- */

static int backward(const struct ck_text *t) { return ck_set_is(t, "scan", "forward", "backward"); }

static const char *scratch_check(struct ck_text *t)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (wrong) return wrong;
    for (int i = 0; i < n; i++) {
        int r = n + 1 + i, read = backward(t) ? n - 1 - i : i;
        if (!is_bit(t, r)) return "a running parity is no bit";
        int before = i ? bit(t, r - 1) : 0;
        if ((bit(t, r) != before) != bit(t, read)) return "a running parity is wrong";
    }
    return ck_stops(t, 2 * n + 1);
}

static const char *scratch_solve(struct ck_text *t, struct ck_words *w)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (!wrong) wrong = ck_ends(t, n + 1);
    if (wrong) return wrong;
    for (int i = 1; i <= n; i++)
        ck_say(w, ck_digit_word((backward(t) ? ones(t, n - i, n) : ones(t, 0, i)) % 2));
    ck_say(w, "$");
    return NULL;
}

static const char *scratch_couple(struct ck_text *t, struct ck_coupling *c)
{
    int n;
    const char *wrong = bits_prompt(t, &n);
    if (wrong) return wrong;
    c->levels = c->needed = c->reach[0] = 1;
    c->length = n;
    c->answer = n + 1;
    if (backward(t)) {
        for (int i = 1; i <= n; i++) ck_label(c, i - 1, NO, NO);
        for (int v = n; v >= -1; v--) ck_label(c, v, NO, NO);
    } else {
        for (int i = 1; i <= n; i++) ck_label(c, i, NO, NO);
        for (int v = 0; v <= n + 1; v++) ck_label(c, v, NO, NO);
    }
    return NULL;
}

/* ---- (m b) .. (m b) ------------------------------------------------------------------------ */

static int marked(const struct ck_text *t, int pair) { return ck_is(t, 2 * pair, "*"); }

/* Reads pairs while there are some in front of word `end`; says how many and how many count. */
static int pairs(const struct ck_text *t, int end, int *important)
{
    int l = 0;
    *important = 0;
    while (2 * l + 1 < end && (marked(t, l) || ck_is(t, 2 * l, ".")) && is_bit(t, 2 * l + 1))
        *important += marked(t, l++);
    return l;
}

static const char *sparse_prompt(const struct ck_text *t, int end, int *l, int *k)
{
    *l = pairs(t, end, k);
    if (2 * *l != end || !*l) return "the prompt is not pairs of a marker and a bit";
    return *k ? NULL : "no pair is important";
}

static int marked_ones(const struct ck_text *t, int to)
{
    int sum = 0;
    for (int i = 0; i < to; i++) sum += marked(t, i) && bit(t, 2 * i + 1);
    return sum;
}

static const char *sparse_check(struct ck_text *t)
{
    int l, k, odd = 0;
    const char *wrong = sparse_prompt(t, t->n - 1, &l, &k);
    if (wrong) return wrong;
    for (int i = 0; i < l; i++)
        if (marked(t, i)) odd ^= bit(t, 2 * i + 1);
    if (!ck_set_is(t, "ones", "any", "any") && marked_ones(t, l) != ck_set_number(t, "ones", 0))
        return "there are other than so many ones among the marked";
    return ck_is(t, 2 * l, odd ? "1" : "0") ? NULL : "the answer is not the parity of the marked";
}

static const char *sparse_solve(struct ck_text *t, struct ck_words *w)
{
    int l, k;
    const char *wrong = sparse_prompt(t, t->n, &l, &k);
    if (!wrong) ck_say(w, ck_digit_word(marked_ones(t, l) % 2));
    return wrong;
}

static const char *sparse_couple(struct ck_text *t, struct ck_coupling *c)
{
    int l, k;
    const char *wrong = sparse_prompt(t, t->n - 1, &l, &k);
    if (wrong) return wrong;
    c->levels = c->needed = c->reach[0] = 1;
    c->length = l;
    c->sparsity = k;
    c->answer = 2 * l;
    for (int i = 0; i < 2 * l; i++) ck_label(c, i / 2 + 1, NO, NO);
    ck_label(c, l + 1, NO, NO);
    return NULL;
}

/* ---- (m b) .. (m b) | = walk $ --------------------------------------------------------------- */

static int dense(const struct ck_text *t) { return ck_set_is(t, "walk", "sparse", "dense"); }

static const char *walk_prompt(const struct ck_text *t, int *l, int *k)
{
    *l = pairs(t, t->n, k);
    if (!*l) return "no pair of a marker and a bit";
    if (!*k) return "no pair is important";
    return ck_is(t, 2 * *l, "|") && ck_is(t, 2 * *l + 1, "=") ? NULL : "no | = behind the pairs";
}

static const char *walk_check(struct ck_text *t)
{
    int l, k, odd = 0;
    const char *wrong = walk_prompt(t, &l, &k);
    if (wrong) return wrong;
    int at = 2 * l + 2;
    for (int i = 0; i < l; i++) {
        if (marked(t, i)) odd ^= bit(t, 2 * i + 1);
        if (!dense(t) && !marked(t, i)) continue;
        if (!dense(t)) {
            if (!ck_is(t, at++, ">")) return "no > in front of a group";
            if (!ck_same(t, at++, 2 * i + 1)) return "a group has not its pair's bit";
        }
        if (!ck_is(t, at++, odd ? "1" : "0")) return "a running parity is wrong";
    }
    if (!dense(t) && !ck_is(t, at++, ">")) return "no > in front of the $";
    return ck_stops(t, at);
}

static const char *walk_solve(struct ck_text *t, struct ck_words *w)
{
    int l, k;
    const char *wrong = walk_prompt(t, &l, &k);
    if (!wrong) wrong = ck_ends(t, 2 * l + 2);
    if (wrong) return wrong;
    for (int i = 0; i < l; i++) {
        const char *running = ck_digit_word(marked_ones(t, i + 1) % 2);
        if (dense(t)) {
            ck_say(w, running);
        } else if (marked(t, i)) {
            ck_say(w, ">");
            ck_say(w, t->word[2 * i + 1]);
            ck_say(w, running);
        }
    }
    if (!dense(t)) ck_say(w, ">");
    ck_say(w, "$");
    return NULL;
}

static const char *walk_couple(struct ck_text *t, struct ck_coupling *c)
{
    int l, k, group = 0;
    const char *wrong = walk_prompt(t, &l, &k);
    if (wrong) return wrong;
    c->length = l;
    c->sparsity = k;
    c->answer = 2 * l + 2;
    c->level[0] = "pair";
    c->levels = c->needed = dense(t) ? 1 : 2;
    c->reach[0] = dense(t);
    for (int i = 0; i < 2 * l; i++) ck_label(c, i / 2 + 1, NO, NO);
    ck_label(c, l + 1, NO, NO);
    if (dense(t)) {
        for (int v = 0; v <= l + 1; v++) ck_label(c, v, NO, NO);
        return NULL;
    }
    c->level[1] = "walk";
    c->reach[1] = 1;
    ck_label(c, 0, 0, NO);
    for (int i = 0; i < l; i++) {
        if (!marked(t, i)) continue;
        group++;
        ck_label(c, i + 1, group, NO);
        ck_label(c, i + 1, group, NO);
        ck_label(c, NO, group, NO);
    }
    ck_label(c, l + 1, k + 1, NO);
    ck_label(c, l + 1, k + 1, NO);
    return NULL;
}

const struct ck_task ck_parity[] = {
    {"parity", 0, parity_check, parity_solve, parity_couple},
    {"parity-scratchpad", 1, scratch_check, scratch_solve, scratch_couple},
    {"sparse-parity", 0, sparse_check, sparse_solve, sparse_couple},
    {"sparse-parity-scratchpad", 1, walk_check, walk_solve, walk_couple},
    {.name = NULL},
};
