/* check_lookup.c: checkers of variable-assignment and retrieval. */
#include "check.h"

enum { NO = LG_ABSENT };

static int same_words(const struct ck_text *t, int i, int j, int n)
{
    for (int k = 0; k < n; k++)
        if (!ck_same(t, i + k, j + k)) return 0;
    return 1;
}

/* The words i.. are `n` numbered ones. */
static int all_numbered(const struct ck_text *t, int i, int n, const char *prefix, int most)
{
    for (int k = 0; k < n; k++)
        if (i + k >= t->n || ck_numbered(t->word[i + k], prefix, most) < 0) return 0;
    return 1;
}

/* ---- name := rhs .. ? name --------------------------------------------------------------- */

struct program {
    int name; /* words of a name */
    int scratchpad;
    int n;               /* statements */
    int *left, *right;   /* [n] the first word of each side */
    int *size;           /* [n] words of the right side */
    int *to;             /* [n] the statement that defines the right side; -1: a constant */
    int query, queried;  /* the first word of the queried name, and its statement */
    int depth, constant; /* statements on the chain, and the word at its end */
};

static int find_statement(const struct ck_text *t, const struct program *p, int word)
{
    for (int i = 0; i < p->n; i++)
        if (same_words(t, p->left[i], word, p->name)) return i;
    return -1;
}

static const char *read_statements(struct ck_text *t, struct program *p)
{
    int names = ck_set_number(t, "names", 200), constants = ck_set_number(t, "constants", 10);
    size_t room = (size_t)t->n * sizeof(int);
    p->left = ck_room(t, room);
    p->right = ck_room(t, room);
    p->size = ck_room(t, room);
    p->to = ck_room(t, room);
    int at = 0;
    while (!ck_is(t, at, "?")) {
        if (!all_numbered(t, at, p->name, "v", names)) return "no name where a statement starts";
        if (find_statement(t, p, at) >= 0) return "a variable is defined twice";
        int i = p->n, right = at + p->name + 1;
        if (!ck_is(t, right - 1, ":=")) return "no := behind a name";
        p->left[i] = at;
        p->right[i] = right;
        if (right < t->n && ck_numbered(t->word[right], "c", constants) >= 0)
            p->size[i] = 1;
        else if (all_numbered(t, right, p->name, "v", names))
            p->size[i] = p->name;
        else
            return "a right side is neither a name nor a constant";
        at = right + p->size[i];
        p->n++;
    }
    if (!p->n) return "no statements";
    p->query = at + 1;
    if (!all_numbered(t, p->query, p->name, "v", names)) return "no name behind the ?";
    return NULL;
}

static const char *program_prompt(struct ck_text *t, struct program *p)
{
    *p = (struct program){.name = ck_set_number(t, "name_tokens", 1),
                          .scratchpad = ck_set_is(t, "scratchpad", "yes", "yes")};
    int ordered = ck_set_is(t, "shuffled", "yes", "no");
    const char *wrong = read_statements(t, p);
    if (wrong) return wrong;
    for (int i = 0; i < p->n; i++) {
        p->to[i] = -1;
        if (ck_numbered(t->word[p->right[i]], "c", 1 << 20) >= 0) continue;
        p->to[i] = find_statement(t, p, p->right[i]);
        if (p->to[i] < 0) return "a variable is used and never defined";
        if (ordered && p->to[i] >= i) return "a variable is used before it is defined";
    }
    for (int i = 0; i < p->n; i++) {
        int steps = 0;
        for (int at = i; at >= 0; at = p->to[at])
            if (++steps > p->n) return "the definitions go in a circle";
    }
    p->queried = find_statement(t, p, p->query);
    if (p->queried < 0) return "the queried variable is never defined";
    for (int at = p->queried; at >= 0; at = p->to[at]) {
        p->depth++;
        p->constant = p->right[at];
    }
    return NULL;
}

/* Goes by the words as they stand in the answer: each group must be the right side of the variable
 * that the group before it names. */
static const char *program_check(struct ck_text *t)
{
    struct program p;
    const char *wrong = program_prompt(t, &p);
    if (wrong) return wrong;
    int at = p.query + p.name;
    if (!p.scratchpad) {
        if (!ck_same(t, at, p.constant)) return "the answer is not the variable's constant";
        return ck_stops(t, at + 1);
    }
    for (int named = p.query;;) {
        int s = find_statement(t, &p, named);
        if (s < 0) return "a group names no variable";
        if (!ck_is(t, at++, ">")) return "no > in front of a group";
        if (!same_words(t, at, p.right[s], p.size[s])) return "a group is not the right side";
        named = at;
        at += p.size[s];
        if (ck_numbered(t->word[named], "c", 1 << 20) >= 0) return ck_stops(t, at);
    }
}

static const char *program_solve(struct ck_text *t, struct ck_words *w)
{
    struct program p;
    const char *wrong = program_prompt(t, &p);
    if (!wrong) wrong = ck_ends(t, p.query + p.name);
    if (wrong) return wrong;
    int at = p.queried;
    for (; at >= 0 && p.scratchpad; at = p.to[at]) {
        ck_say(w, ">");
        for (int k = 0; k < p.size[at]; k++) ck_say(w, t->word[p.right[at] + k]);
    }
    if (!p.scratchpad) {
        while (p.to[at] >= 0) at = p.to[at];
        ck_say(w, t->word[p.right[at]]);
    }
    ck_say(w, "$");
    return NULL;
}

static const char *program_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct program p;
    const char *wrong = program_prompt(t, &p);
    if (wrong) return wrong;
    int L = p.name, gap = ck_set_number(t, "gap", 0);
    c->levels = 2;
    c->needed = 1;
    c->level[0] = "statement";
    c->level[1] = "role";
    c->reach[0] = p.scratchpad ? 0 : 1;
    c->reach[1] = L + 1;
    c->length = p.n;
    c->sparsity = p.depth;
    c->answer = p.query + L;
    for (int i = 0; i < p.n; i++)
        for (int role = 1; role <= L + 1 + p.size[i]; role++)
            ck_label(c, i + 1, role > L + 1 ? role + gap : role, NO);
    for (int role = L + 1; role <= 2 * L + 1; role++) ck_label(c, 0, role + gap, NO);
    if (!p.scratchpad) {
        ck_label(c, 0, L + 2 + gap, NO);
        ck_label(c, 0, L + 3 + gap, NO);
        return NULL;
    }
    for (int at = p.queried; at >= 0; at = p.to[at]) {
        int last = L + 1 + p.size[at];
        for (int role = L + 1; role <= last; role++) ck_label(c, at + 1, role + gap, NO);
        if (p.to[at] < 0) ck_label(c, at + 1, last + 1 + gap, NO);
    }
    return NULL;
}

/* ---- key : value .. ? key > value $ --------------------------------------------------------- */

struct entries {
    int key, value; /* words of each */
    int scratchpad;
    int n;
    int query, found; /* the queried key's first word, and its entry from 0 */
};

static const char *entries_prompt(struct ck_text *t, struct entries *e)
{
    int keys = ck_set_number(t, "keys", 200), values = ck_set_number(t, "values", 200);
    *e = (struct entries){.key = ck_set_number(t, "key_tokens", 1),
                          .value = ck_set_number(t, "value_tokens", 1),
                          .scratchpad = ck_set_is(t, "scratchpad", "yes", "yes"),
                          .found = -1};
    int size = e->key + 1 + e->value, at = 0;
    for (; !ck_is(t, at, "?"); at += size, e->n++) {
        if (!all_numbered(t, at, e->key, "k", keys)) return "no key where an entry starts";
        if (!ck_is(t, at + e->key, ":")) return "no : behind a key";
        if (!all_numbered(t, at + e->key + 1, e->value, "v", values)) return "no value behind a :";
        for (int i = 0; i < e->n; i++)
            if (same_words(t, i * size, at, e->key)) return "a key stands there twice";
    }
    if (!e->n) return "no entries";
    e->query = at + 1;
    if (!all_numbered(t, e->query, e->key, "k", keys)) return "no key behind the ?";
    for (int i = 0; i < e->n; i++)
        if (same_words(t, i * size, e->query, e->key)) e->found = i;
    return e->found < 0 ? "the queried key has no entry" : NULL;
}

/* Every entry but the queried one could have any value: its own alone is compared. */
static const char *entries_check(struct ck_text *t)
{
    struct entries e;
    const char *wrong = entries_prompt(t, &e);
    if (wrong) return wrong;
    int at = e.query + e.key, size = e.key + 1 + e.value;
    if (e.scratchpad && !ck_is(t, at++, ">")) return "no > in front of the answer";
    for (int i = 0; i < e.n; i++)
        if (same_words(t, i * size, e.query, e.key) &&
            !same_words(t, i * size + e.key + 1, at, e.value))
            return "the answer is not the queried key's value";
    return ck_stops(t, at + e.value);
}

static const char *entries_solve(struct ck_text *t, struct ck_words *w)
{
    struct entries e;
    const char *wrong = entries_prompt(t, &e);
    if (!wrong) wrong = ck_ends(t, e.query + e.key);
    if (wrong) return wrong;
    if (e.scratchpad) ck_say(w, ">");
    int from = e.found * (e.key + 1 + e.value) + e.key + 1;
    for (int k = 0; k < e.value; k++) ck_say(w, t->word[from + k]);
    ck_say(w, "$");
    return NULL;
}

static const char *entries_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct entries e;
    const char *wrong = entries_prompt(t, &e);
    if (wrong) return wrong;
    int K = e.key, V = e.value, gap = ck_set_number(t, "gap", 0);
    c->levels = 2;
    c->needed = 1;
    c->level[0] = "entry";
    c->level[1] = "role";
    c->reach[1] = (e.scratchpad ? 1 : 2) + gap;
    c->length = e.n;
    c->answer = e.query + K;
    for (int i = 1; i <= e.n; i++)
        for (int role = 1; role <= K + 1 + V; role++)
            ck_label(c, i, role > K + 1 ? role + gap : role, NO);
    for (int role = 0; role <= K; role++) ck_label(c, 0, role, NO);
    for (int role = K + (e.scratchpad ? 1 : 2); role <= K + V + 2; role++)
        ck_label(c, e.found + 1, role + gap, NO);
    return NULL;
}

const struct ck_task ck_lookup[] = {
    {"variable-assignment", 1, program_check, program_solve, program_couple},
    {"retrieval", 1, entries_check, entries_solve, entries_couple},
    {.name = NULL},
};
