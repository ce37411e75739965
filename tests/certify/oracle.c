/* oracle.c: every input up to a length, generated. Includes nothing of the lab. */
#include "certify/oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

/* ---- The texts -------------------------------------------------------------------------------- */

/* Appends a word with its labels; an ID is a label and 1. */
static void put(const struct oracle *o, struct oracle_text *x, const char *word, int column,
                int role)
{
    const lg_task_shape *shape = lg_task_get_shape(o->task);
    int token = 0;
    while (token < shape->vocab && strcmp(shape->words[token], word) != 0) token++;
    assert_true(token < shape->vocab && x->n < ORACLE_TOKENS);
    x->token[x->n] = token;
    x->id[0][x->n] = column == LG_ABSENT ? LG_ABSENT : column + 1;
    x->id[1][x->n++] = role == LG_ABSENT ? LG_ABSENT : role + 1;
}

static void put_bit(const struct oracle *o, struct oracle_text *x, int bit, int column)
{
    put(o, x, bit ? "1" : "0", column, 0);
}

/* b1 .. bn = r1 .. rn $ */
int oracle_parity(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    int sum = 0;
    for (int i = 0; i < n; i++) put_bit(o, x, input[i], i + 1);
    put(o, x, "=", 0, 0);
    x->answer = x->n;
    for (int i = 0; i < n; i++) put_bit(o, x, (sum += input[i]) % 2, i + 1);
    put(o, x, "$", n + 1, 0);
    return 1;
}

/* The same from the last bit to the first; IDs rise with the bits, from 1 on, and fall in the answer. */
int oracle_parity_backward(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    int sum = 0;
    for (int i = n; i--;) put_bit(o, x, input[i], n - 1 - i);
    put(o, x, "=", n, 0);
    x->answer = x->n;
    for (int i = 0; i < n; i++) put_bit(o, x, (sum += input[i]) % 2, n - 1 - i);
    put(o, x, "$", -1, 0);
    return 1;
}

/* a + b = c $, a and b with the top bit first, c with the lowest. One of the two has n digits, so
 * that a column of zeros on top is possible only where it is the only one. */
int oracle_addition(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    int a = 0, b = 0;
    if (n > 1 && input[n - 1] == 0) return 0;
    for (int i = 0; i < n; i++) {
        a |= (input[i] & 1) << i;
        b |= (input[i] >> 1) << i;
    }
    for (int i = n; i--;) put_bit(o, x, a >> i & 1, i + 1);
    put(o, x, "+", 0, 0);
    for (int i = n; i--;) put_bit(o, x, b >> i & 1, i + 1);
    put(o, x, "=", 0, 0);
    x->answer = x->n;
    for (int i = 0; i <= n; i++) put_bit(o, x, (a + b) >> i & 1, i + 1);
    put(o, x, "$", n + 2, 0);
    return 1;
}

const char oracle_table[] = "tracks: 1\ninputs: [a, b]\nstates: [s, t, u]\nstart: s\nemit: state\n"
                            "rules: {s a: t x, s b: s y, t a: u x, t b: t x, u a: s y, u b: t y}\n";

/* i1 .. in = o1 s1 .. on sn $ */
int oracle_machine(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    const char *state = "s", *out;
    for (int i = 0; i < n; i++) put(o, x, input[i] ? "b" : "a", i + 1, 1);
    put(o, x, "=", 0, 2);
    x->answer = x->n;
    for (int i = 0; i < n; i++) {
        switch (*state) {
        case 's':
            out = input[i] ? "y" : "x";
            state = input[i] ? "s" : "t";
            break;
        case 't':
            out = "x";
            state = input[i] ? "t" : "u";
            break;
        default: out = "y"; state = input[i] ? "t" : "s";
        }
        put(o, x, out, i + 1, 2);
        put(o, x, state, i + 1, 3);
    }
    put(o, x, "$", n + 1, 2);
    return 1;
}

/* key : value .. ? key > value $, keys of two words of two, two values. An input is a key, a value and
 * whether this entry is asked for. Values stand 7 roles further on than they would. */
int oracle_retrieval(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    static const char *const word[] = {"k0", "k1"}, *const value[] = {"v0", "v1"};
    enum { GAP = 7 };
    int asked = -1, times = 0;
    for (int i = 0; i < n; i++) {
        times += input[i] & 1;
        if (input[i] & 1) asked = i;
        for (int j = 0; j < i; j++)
            if (input[i] >> 2 == input[j] >> 2) return 0;
    }
    if (times != 1) return 0;
    for (int i = 0; i < n; i++) {
        put(o, x, word[input[i] >> 3], i + 1, 1);
        put(o, x, word[input[i] >> 2 & 1], i + 1, 2);
        put(o, x, ":", i + 1, 3);
        put(o, x, value[input[i] >> 1 & 1], i + 1, 4 + GAP);
    }
    put(o, x, "?", 0, 0);
    put(o, x, word[input[asked] >> 3], 0, 1);
    put(o, x, word[input[asked] >> 2 & 1], 0, 2);
    x->answer = x->n;
    put(o, x, ">", asked + 1, 3 + GAP);
    put(o, x, value[input[asked] >> 1 & 1], asked + 1, 4 + GAP);
    put(o, x, "$", asked + 1, 5 + GAP);
    return 1;
}

/* name := rhs .. ? x > y > c $, names of one word of four, two constants. An input is a name, a right
 * side (0 and 1: constants) and whether the name is asked for. */
int oracle_assignment(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    static const char *const word[] = {"c0", "c1", "v0", "v1", "v2", "v3"};
    int place[4] = {-1, -1, -1, -1}, asked = -1, times = 0;
    for (int i = 0; i < n; i++) {
        int name = input[i] / 12;
        if (place[name] >= 0) return 0;
        place[name] = i;
        times += input[i] % 2;
        if (input[i] % 2) asked = i;
    }
    if (times != 1) return 0;
    for (int i = 0; i < n; i++) { /* every chain ends */
        int at = i, steps = 0;
        for (int right; (right = input[at] / 2 % 6) >= 2; at = place[right - 2])
            if (place[right - 2] < 0 || ++steps > n) return 0;
    }
    for (int i = 0; i < n; i++) {
        put(o, x, word[2 + input[i] / 12], i + 1, 1);
        put(o, x, ":=", i + 1, 2);
        put(o, x, word[input[i] / 2 % 6], i + 1, 3);
    }
    put(o, x, "?", 0, 2);
    put(o, x, word[2 + input[asked] / 12], 0, 3);
    x->answer = x->n;
    for (int at = asked, right = 2; right >= 2; at = right >= 2 ? place[right - 2] : at) {
        right = input[at] / 2 % 6;
        put(o, x, ">", at + 1, 2);
        put(o, x, word[right], at + 1, 3);
        if (right < 2) put(o, x, "$", at + 1, 4);
    }
    return 1;
}

/* m b .. | = > b r .. > $; an input is a pair: whether it is marked, and its bit. */
int oracle_walk(const struct oracle *o, const int *input, int n, struct oracle_text *x)
{
    int group = 1, parity = 0;
    for (int i = 0; i < n; i++) {
        put(o, x, input[i] >= 2 ? "*" : ".", i + 1, LG_ABSENT);
        put(o, x, input[i] & 1 ? "1" : "0", i + 1, LG_ABSENT);
    }
    put(o, x, "|", n + 1, LG_ABSENT);
    put(o, x, "=", 0, 0);
    x->answer = x->n;
    for (int i = 0; i < n; i++) {
        if (input[i] < 2) continue;
        parity ^= input[i] & 1;
        put(o, x, ">", i + 1, group);
        put(o, x, input[i] & 1 ? "1" : "0", i + 1, group);
        put(o, x, parity ? "1" : "0", LG_ABSENT, group++);
    }
    if (group == 1) return 0;
    put(o, x, ">", n + 1, group);
    put(o, x, "$", n + 1, group);
    return 1;
}

void oracle_open(struct oracle *o, const lg_task *t, const lg_plan *p, int levels,
                 oracle_write *write, int inputs, int longest)
{
    *o = (struct oracle){.task = t, .plan = p, .levels = levels};
    for (int n = 1; n <= longest; n++) {
        int input[ORACLE_TOKENS] = {0};
        for (int more = 1; more;) {
            if (o->count == o->room) {
                o->room = o->room ? 2 * o->room : 256;
                o->text = realloc(o->text, (size_t)o->room * sizeof *o->text);
                assert_non_null(o->text);
            }
            struct oracle_text *x = &o->text[o->count];
            *x = (struct oracle_text){.columns = n};
            o->count += write(o, input, n, x);
            int i = 0;
            while (i < n && ++input[i] == inputs) input[i++] = 0;
            more = i < n;
        }
    }
}

void oracle_close(struct oracle *o) { free(o->text); }

const struct oracle_text *oracle_find(const struct oracle *o, const char *prompt)
{
    const lg_task_shape *shape = lg_task_get_shape(o->task);
    for (int i = 0; i < o->count; i++) {
        const struct oracle_text *x = &o->text[i];
        char text[400];
        size_t n = 0;
        for (int t = 0; t < x->answer; t++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", t ? " " : "",
                                  shape->words[x->token[t]]);
        if (strcmp(text, prompt) == 0) return x;
    }
    return NULL;
}

/* ---- Generating ------------------------------------------------------------------------------ */

enum { BESIDE = 128 }; /* texts that are answered side by side */

/* Whether one is above all others. */
static int is_strict(const float *logits, int n)
{
    int32_t best = lg_argmax(logits, n);
    for (int i = 0; i < n; i++)
        if (i != best && !(logits[i] < logits[best])) return 0;
    return 1;
}

struct group {
    struct oracle *o;
    const lg_model_config *c;
    lg_decoder *d;
    struct oracle_text *x[BESIDE];
    int n;
    int at[BESIDE], done[BESIDE];
    int32_t token[BESIDE], id[LG_LEVELS * BESIDE], carried[LG_LEVELS * BESIDE];
};

/* What the model says of token at[s], into token and id; 1: it is right. */
static int ask(struct group *g, int s)
{
    const struct oracle_text *x = g->x[s];
    int t = g->at[s], right;
    const float *logits = lg_decoder_logits(g->d, s);
    g->token[s] = lg_argmax(logits, g->c->vocab);
    right = g->token[s] == x->token[t] && is_strict(logits, g->c->vocab);
    for (int l = 0; l < g->o->levels; l++) {
        int32_t *id = &g->id[l * g->n + s];
        *id = lg_plan_next_id(g->o->plan, g->c, g->d, s, l, g->carried[l * g->n + s]);
        if (t == x->n - 1) continue;
        right &=
            *id == x->id[l][t] && is_strict(lg_decoder_id_logits(g->d, s, l), g->c->id_classes[l]);
    }
    return right;
}

/* The model's own answer, up to its end or its first wrong token; *again is set if anything was not
 * right on the way. */
static void answer_freely(struct group *g, int s, unsigned char *again)
{
    struct oracle_text *x = g->x[s];
    int t = g->at[s];
    if (!ask(g, s)) *again = 1;
    g->at[s]++;
    x->exact = t == x->n - 1 && g->token[s] == x->token[t];
    g->done[s] = t == x->n - 1 || g->token[s] != x->token[t];
}

/* The right token with its right ID whatever the model says. */
static void answer_forced(struct group *g, int s)
{
    struct oracle_text *x = g->x[s];
    int t = g->at[s];
    x->wrong[t] = !ask(g, s);
    g->at[s]++;
    g->token[s] = x->token[t];
    for (int l = 0; l < g->o->levels; l++) g->id[l * g->n + s] = x->id[l][t];
    g->done[s] = t == x->n - 1;
}

static void start_group(struct group *g, lg_batch *prompts)
{
    lg_error err = {0};
    lg_batch_reset(prompts);
    for (int s = 0; s < g->n; s++) {
        const struct oracle_text *x = g->x[s];
        lg_sequence prompt = {.n = x->answer, .levels = g->o->levels, .tokens = x->token};
        for (int l = 0; l < g->o->levels; l++) {
            prompt.ids[l] = x->id[l];
            int32_t *carried = &g->carried[l * g->n + s];
            *carried = LG_ABSENT;
            for (int t = 0; t < x->answer; t++)
                if (x->id[l][t] != LG_ABSENT) *carried = x->id[l][t];
        }
        g->at[s] = x->answer;
        g->done[s] = 0;
        must(lg_batch_add_levels(prompts, &prompt, &err), &err);
    }
    must(lg_decoder_start(g->d, prompts, &err), &err);
}

/* Answers the texts of the group side by side; again NULL: forced. */
static void run_group(struct group *g, lg_batch *prompts, unsigned char *again)
{
    lg_error err = {0};
    start_group(g, prompts);
    for (int left = g->n; left;) {
        for (int s = 0; s < g->n; s++) {
            if (g->done[s]) {
                g->token[s] = LG_NONE;
                continue;
            }
            if (again)
                answer_freely(g, s, &again[g->x[s] - g->o->text]);
            else
                answer_forced(g, s);
            if (!g->done[s]) continue;
            g->token[s] = LG_NONE;
            left--;
        }
        for (int i = 0; i < g->n * g->o->levels; i++)
            if (g->id[i] != LG_ABSENT && !g->done[i % g->n]) g->carried[i] = g->id[i];
        if (left) must(lg_decoder_step(g->d, g->token, g->id, &err), &err);
    }
}

/* First each text freely. Where all came out right its history was right at every step, and nothing
 * is wrong; the others are gone through once more with the right history. */
void oracle_run(struct oracle *o, const lg_model *m)
{
    lg_error err = {0};
    lg_batch prompts;
    unsigned char *again = calloc((size_t)o->count, 1);
    struct group g = {.o = o, .c = lg_model_get_config(m), .d = lg_decoder_new(m, BESIDE, &err)};
    if (!g.d) fail_msg("%s", err.text);
    assert_non_null(again);
    lg_batch_init(&prompts);
    for (int i = 0; i < o->count; i += g.n) {
        for (g.n = 0; g.n < BESIDE && i + g.n < o->count; g.n++) {
            g.x[g.n] = &o->text[i + g.n];
            memset(g.x[g.n]->wrong, 0, sizeof g.x[g.n]->wrong);
        }
        run_group(&g, &prompts, again);
    }
    for (int i = 0; i < o->count;) {
        for (g.n = 0; g.n < BESIDE && i < o->count; i++)
            if (again[i]) g.x[g.n++] = &o->text[i];
        if (g.n) run_group(&g, &prompts, NULL);
    }
    lg_batch_clear(&prompts);
    lg_decoder_free(g.d);
    free(again);
}
