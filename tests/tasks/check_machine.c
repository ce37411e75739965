/* check_machine.c: checker of machine. Check follows the rules from state to state; solve says what
 * each column must give without the column before it, where there is a way to say that. Tables
 * that are read from a file are written down a second time here, known by the file's name. */
#include <string.h>

#include "check.h"

enum { NO = LG_ABSENT, MOST_STATES = 100, MOST_RULES = 512 };

enum kind { COMPARE, COUNT, TIMES, ADD, FILED };

struct machine {
    enum kind kind;
    int number; /* M, D or B */
    int tracks, inputs, states, start;
    int outputs, shows_state, final;
    const char *state[MOST_STATES], *input[16], *output[16];
    int next[MOST_RULES], out[MOST_RULES]; /* [state * inputs^tracks + inputs in reading order] */
    int last[MOST_STATES];                 /* output of `final` */
};

/* ---- Files of our own --------------------------------------------------------------------- */

const struct ck_file ck_machine_files[] = {
    {"carry.yaml", "name: carry\n"
                   "tracks: 2\n"
                   "inputs: [\"0\", \"1\"]\n"
                   "states: [c0, c1]\n"
                   "start: c0\n"
                   "emit: output\n"
                   "rules: {\"c0 0 0\": \"c0 0\", \"c0 0 1\": \"c0 1\", \"c0 1 0\": \"c0 1\",\n"
                   "        \"c0 1 1\": \"c1 0\", \"c1 0 0\": \"c0 1\", \"c1 0 1\": \"c1 0\",\n"
                   "        \"c1 1 0\": \"c1 0\", \"c1 1 1\": \"c1 1\"}\n"
                   "final: {c0: \"0\", c1: \"1\"}\n"},
    {"borrow.yaml", "name: borrow\n"
                    "tracks: 2\n"
                    "inputs: [\"0\", \"1\"]\n"
                    "states: [b0, b1]\n"
                    "start: b0\n"
                    "rules: {\"b0 0 0\": \"b0 0\", \"b0 0 1\": \"b1 1\", \"b0 1 0\": \"b0 1\",\n"
                    "        \"b0 1 1\": \"b0 0\", \"b1 0 0\": \"b1 1\", \"b1 0 1\": \"b1 0\",\n"
                    "        \"b1 1 0\": \"b0 0\", \"b1 1 1\": \"b1 1\"}\n"
                    "final: {b0: \"+\", b1: \"-\"}\n"},
    {"toggle.yaml", "name: toggle\n"
                    "tracks: 1\n"
                    "inputs: [on, off, flip]\n"
                    "states: [dark, light]\n"
                    "start: dark\n"
                    "emit: state\n"
                    "rules:\n"
                    "  \"dark on\": light\n"
                    "  \"dark off\": dark\n"
                    "  \"dark flip\": light\n"
                    "  \"light on\": light\n"
                    "  \"light off\": dark\n"
                    "  \"light flip\": dark\n"},
    {"vote.yaml", "name: vote\n"
                  "tracks: 3\n"
                  "inputs: [n, y]\n"
                  "states: [s0, s1]\n"
                  "start: s1\n"
                  "emit: state\n"
                  "rules:\n"
                  "  \"s0 n n n\": s0 lost\n"
                  "  \"s0 n n y\": s0 lost\n"
                  "  \"s0 n y n\": s0 lost\n"
                  "  \"s0 n y y\": s1 won\n"
                  "  \"s0 y n n\": s0 lost\n"
                  "  \"s0 y n y\": s1 won\n"
                  "  \"s0 y y n\": s1 won\n"
                  "  \"s0 y y y\": s1 won\n"
                  "  \"s1 n n n\": s0 lost\n"
                  "  \"s1 n n y\": s1 won\n"
                  "  \"s1 n y n\": s1 won\n"
                  "  \"s1 n y y\": s1 won\n"
                  "  \"s1 y n n\": s1 won\n"
                  "  \"s1 y n y\": s1 won\n"
                  "  \"s1 y y n\": s1 won\n"
                  "  \"s1 y y y\": s1 won\n"},
    {NULL, NULL},
};

/* The rules in the order of the states, within them of the inputs, the last track fastest. */
static int set_file(struct machine *m, const char *name)
{
    static const struct machine carry = {.tracks = 2,
                                         .inputs = 2,
                                         .states = 2,
                                         .outputs = 1,
                                         .final = 1,
                                         .state = {"c0", "c1"},
                                         .input = {"0", "1"},
                                         .output = {"0", "1"},
                                         .next = {0, 0, 0, 1, 0, 1, 1, 1},
                                         .out = {0, 1, 1, 0, 1, 0, 0, 1},
                                         .last = {0, 1}};
    static const struct machine borrow = {.tracks = 2,
                                          .inputs = 2,
                                          .states = 2,
                                          .outputs = 1,
                                          .final = 1,
                                          .state = {"b0", "b1"},
                                          .input = {"0", "1"},
                                          .output = {"0", "1", "+", "-"},
                                          .next = {0, 1, 0, 0, 1, 1, 0, 1},
                                          .out = {0, 1, 1, 0, 1, 0, 0, 1},
                                          .last = {2, 3}};
    static const struct machine toggle = {.tracks = 1,
                                          .inputs = 3,
                                          .states = 2,
                                          .shows_state = 1,
                                          .state = {"dark", "light"},
                                          .input = {"on", "off", "flip"},
                                          .next = {1, 0, 1, 1, 0, 0}};
    static const struct machine vote = {.tracks = 3,
                                        .inputs = 2,
                                        .states = 2,
                                        .start = 1,
                                        .outputs = 1,
                                        .shows_state = 1,
                                        .state = {"s0", "s1"},
                                        .input = {"n", "y"},
                                        .output = {"lost", "won"},
                                        .next = {0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1},
                                        .out = {0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1}};
    if (!strcmp(name, "carry.yaml"))
        *m = carry;
    else if (!strcmp(name, "borrow.yaml"))
        *m = borrow;
    else if (!strcmp(name, "toggle.yaml"))
        *m = toggle;
    else if (!strcmp(name, "vote.yaml"))
        *m = vote;
    else
        return -1;
    m->kind = FILED;
    return 0;
}

/* ---- Ready tables --------------------------------------------------------------------------- */

static void rule(struct machine *m, int state, int in1, int in2)
{
    int combo =
        m->tracks == 2 ? (state * m->inputs + in1) * m->inputs + in2 : state * m->inputs + in1;
    int sum = m->kind == ADD ? in1 + in2 + state : m->kind == TIMES ? m->number * in1 + state : 0;
    int base = m->kind == ADD ? m->number : 10;
    m->out[combo] = sum % base;
    m->next[combo] = sum / base;
    if (m->kind == COUNT) m->next[combo] = (state + in1) % m->number;
    if (m->kind == COMPARE) m->next[combo] = in1 < in2 ? 0 : in1 > in2 ? 2 : state;
}

static int set_ready(struct ck_text *t, struct machine *m, const char *name)
{
    const char *prefix = "c";
    *m = (struct machine){0};
    if (!strcmp(name, "comparison")) {
        *m = (struct machine){.kind = COMPARE, .tracks = 2, .inputs = 10, .states = 3, .start = 1};
    } else if ((m->number = ck_numbered(name, "count-", 101)) >= 2) {
        *m = (struct machine){COUNT, m->number, .tracks = 1, .inputs = 2, .states = m->number};
        prefix = "m";
    } else if ((m->number = ck_numbered(name, "times-", 10)) >= 0) {
        *m = (struct machine){TIMES, m->number, .tracks = 1, .inputs = 10};
        m->states = m->number ? m->number : 1;
        prefix = "k";
    } else if ((m->number = ck_numbered(name, "add-", 17)) >= 2) {
        *m = (struct machine){ADD, m->number, .tracks = 2, .inputs = m->number, .states = 2};
    } else {
        return -1;
    }
    m->outputs = m->final = m->kind == TIMES || m->kind == ADD;
    m->shows_state = !m->outputs;
    for (int i = 0; i < 16; i++) m->input[i] = m->output[i] = ck_digit_word(i);
    for (int s = 0; s < m->states; s++) {
        static const char *const compared[] = {"lt", "eq", "gt"};
        m->state[s] = m->kind == COMPARE ? compared[s] : ck_named(t, prefix, s);
        m->last[s] = s;
        for (int i = 0; i < m->inputs; i++)
            for (int j = 0; j < (m->tracks == 2 ? m->inputs : 1); j++) rule(m, s, i, j);
    }
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int input_of(const struct machine *m, const char *word)
{
    for (int i = 0; i < m->inputs; i++)
        if (!strcmp(m->input[i], word)) return i;
    return -1;
}

struct run {
    struct machine m;
    int n, at;
    int *in; /* [tracks][n] */
};

static const char *machine_prompt(struct ck_text *t, struct run *r)
{
    const char *table = ck_set(t, "table", "add-10"), *slash = strrchr(table, '/');
    if (slash ? set_file(&r->m, slash + 1) : set_ready(t, &r->m, table))
        return "a table that the checker does not know";
    const char *emit = ck_set(t, "emit", "auto");
    if (!strcmp(emit, "state")) r->m.shows_state = 1;
    if (!strcmp(emit, "output")) r->m.shows_state = 0;
    if (!r->m.outputs && !r->m.shows_state) return "a table without outputs must emit its states";
    r->in = ck_room(t, (size_t)t->n * sizeof(int));
    r->n = r->at = 0;
    while (r->at < t->n && input_of(&r->m, t->word[r->at]) >= 0) r->at++;
    r->n = r->at;
    if (!r->n) return "no columns";
    r->at = 0;
    for (int track = 0; track < r->m.tracks; track++) {
        for (int i = 0; i < r->n; i++, r->at++) {
            int in = r->at < t->n ? input_of(&r->m, t->word[r->at]) : -1;
            if (in < 0) return "a track is too short";
            r->in[track * r->n + i] = in;
        }
        if (!ck_is(t, r->at++, track == r->m.tracks - 1 ? "=" : ","))
            return "no separator behind a track";
    }
    return NULL;
}

static int combo(const struct run *r, int state, int column)
{
    int at = state;
    for (int track = 0; track < r->m.tracks; track++)
        at = at * r->m.inputs + r->in[track * r->n + column];
    return at;
}

static const char *machine_check(struct ck_text *t)
{
    struct run r;
    const char *wrong = machine_prompt(t, &r);
    if (wrong) return wrong;
    int state = r.m.start, at = r.at;
    for (int i = 0; i < r.n; i++) {
        int c = combo(&r, state, i);
        if (r.m.outputs && !ck_is(t, at++, r.m.output[r.m.out[c]]))
            return "an output is not what its rule says";
        state = r.m.next[c];
        if (r.m.shows_state && !ck_is(t, at++, r.m.state[state]))
            return "a state is not what its rule says";
    }
    if (r.m.final && !ck_is(t, at++, r.m.output[r.m.last[state]]))
        return "the last output is not that of the last state";
    return ck_stops(t, at);
}

/* ---- Solving ---------------------------------------------------------------------------------- */

/* The state in front of column i, from the columns below it. */
static int state_before(const struct run *r, int i)
{
    const int *a = r->in, *b = r->in + r->n;
    int j = i - 1, sum = 0;
    switch (r->m.kind) {
    case COUNT:
        for (; j >= 0; j--) sum += a[j];
        return sum % r->m.number;
    case ADD: /* the highest column that does not pass on what it gets decides */
        while (j >= 0 && a[j] + b[j] == r->m.number - 1) j--;
        return j >= 0 && a[j] + b[j] >= r->m.number;
    case COMPARE: /* the highest column that differs decides */
        while (j >= 0 && a[j] == b[j]) j--;
        return j < 0 ? 1 : a[j] < b[j] ? 0 : 2;
    case TIMES: { /* the most c with c/D <= 0.x(i-1)x(i-2).., by the decimals of c/D */
        int c = 0;
        for (int next = 1; next < r->m.number; next++) {
            int rest = next, above = 0, below = 0;
            for (j = i - 1; j >= 0 && !above && !below; j--) {
                int decimal = 10 * rest / r->m.number;
                rest = 10 * rest % r->m.number;
                above = a[j] > decimal;
                below = a[j] < decimal;
            }
            if (above || (!below && !rest)) c = next;
        }
        return c;
    }
    default: { /* no way but the rules */
        int state = r->m.start;
        for (j = 0; j < i; j++) state = r->m.next[combo(r, state, j)];
        return state;
    }
    }
}

static const char *machine_solve(struct ck_text *t, struct ck_words *w)
{
    struct run r;
    const char *wrong = machine_prompt(t, &r);
    if (!wrong) wrong = ck_ends(t, r.at);
    if (wrong) return wrong;
    for (int i = 0; i < r.n; i++) {
        int out = r.m.out[combo(&r, state_before(&r, i), i)];
        if (r.m.outputs) ck_say(w, r.m.output[out]);
        if (r.m.shows_state) ck_say(w, r.m.state[state_before(&r, i + 1)]);
    }
    if (r.m.final) ck_say(w, r.m.output[r.m.last[state_before(&r, r.n)]]);
    ck_say(w, "$");
    return NULL;
}

static const char *machine_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct run r;
    const char *wrong = machine_prompt(t, &r);
    if (wrong) return wrong;
    int T = r.m.tracks, n = r.n;
    c->levels = 2;
    c->needed = 1;
    c->reach[0] = c->reach[1] = 1;
    c->level[0] = "column";
    c->level[1] = "role";
    c->length = n;
    c->answer = r.at;
    for (int track = 1; track <= T; track++) {
        for (int i = 1; i <= n; i++) ck_label(c, i, track, NO);
        ck_label(c, 0, track == T ? T + 1 : track, NO);
    }
    for (int i = 1; i <= n; i++) {
        if (r.m.outputs) ck_label(c, i, T + 1, NO);
        if (r.m.shows_state) ck_label(c, i, T + 2, NO);
    }
    if (r.m.final) ck_label(c, n + 1, T + 1, NO);
    ck_label(c, n + (r.m.final ? 2 : 1), T + 1, NO);
    return NULL;
}

const struct ck_task ck_machine[] = {
    {"machine", 1, machine_check, machine_solve, machine_couple},
    {.name = NULL},
};
