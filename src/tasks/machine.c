/* machine.c: what a finite machine can work out in one pass over columns: sums, products with a
 * digit, counts, comparisons, or a table of the user's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/yaml.h"
#include "tasks/words.h"

enum { MOST_RULES = 1000000, MOST_TRACKS = 16 };
enum { EMIT_AUTO, EMIT_OUTPUT, EMIT_STATE };

struct machine {
    int tracks, inputs, states, start;
    int combinations;               /* of inputs on all tracks */
    int outputs, emit_state, final; /* whether there are such */
    int32_t *next, *output;         /* [state][input of track 1]..[of the last]: state, token */
    int32_t *state_token, *final_token;
    int32_t comma, equals, stop;
};

/* ---- Ready tables ------------------------------------------------------------------------ */

static char digit(int i) { return "0123456789ABCDEF"[i]; }

static void print_digits(lg_buffer *to, int base)
{
    lg_buffer_print(to, "inputs: [");
    for (int i = 0; i < base; i++) lg_buffer_print(to, "%s\"%c\"", i ? ", " : "", digit(i));
    lg_buffer_print(to, "]\n");
}

static void print_states(lg_buffer *to, char letter, int n)
{
    lg_buffer_print(to, "states: [");
    for (int i = 0; i < n; i++) lg_buffer_print(to, "%s%c%d", i ? ", " : "", letter, i);
    lg_buffer_print(to, "]\nstart: %c0\n", letter);
}

static void print_final(lg_buffer *to, char letter, int n)
{
    lg_buffer_print(to, "final: {");
    for (int i = 0; i < n; i++)
        lg_buffer_print(to, "%s%c%d: \"%c\"", i ? ", " : "", letter, i, digit(i));
    lg_buffer_print(to, "}\n");
}

static void print_add(lg_buffer *to, int base)
{
    lg_buffer_print(to, "tracks: 2\nemit: output\n");
    print_digits(to, base);
    print_states(to, 'c', 2);
    lg_buffer_print(to, "rules:\n");
    for (int i = 0; i < 2 * base * base; i++) {
        int carry = i / base / base, a = i / base % base, b = i % base, sum = a + b + carry;
        lg_buffer_print(to, "  c%d %c %c: c%d %c\n", carry, digit(a), digit(b), sum / base,
                        digit(sum % base));
    }
    print_final(to, 'c', 2);
}

static void print_times(lg_buffer *to, int factor)
{
    int carries = factor ? factor : 1;
    lg_buffer_print(to, "tracks: 1\nemit: output\n");
    print_digits(to, 10);
    print_states(to, 'k', carries);
    lg_buffer_print(to, "rules:\n");
    for (int i = 0; i < carries * 10; i++) {
        int product = i % 10 * factor + i / 10;
        lg_buffer_print(to, "  k%d %d: k%d %d\n", i / 10, i % 10, product / 10, product % 10);
    }
    print_final(to, 'k', carries);
}

static void print_count(lg_buffer *to, int modulus)
{
    lg_buffer_print(to, "tracks: 1\nemit: state\n");
    print_digits(to, 2);
    print_states(to, 'm', modulus);
    lg_buffer_print(to, "rules:\n");
    for (int i = 0; i < modulus; i++)
        lg_buffer_print(to, "  m%d 0: m%d\n  m%d 1: m%d\n", i, i, i, (i + 1) % modulus);
}

static void print_comparison(lg_buffer *to, int unused)
{
    static const char *const state[] = {"lt", "eq", "gt"};
    (void)unused;
    lg_buffer_print(to, "tracks: 2\nemit: state\nstates: [lt, eq, gt]\nstart: eq\n");
    print_digits(to, 10);
    lg_buffer_print(to, "rules:\n");
    for (int i = 0; i < 300; i++) {
        int a = i / 10 % 10, b = i % 10;
        lg_buffer_print(to, "  %s %d %d: %s\n", state[i / 100], a, b,
                        state[a < b   ? 0
                              : a > b ? 2
                                      : i / 100]);
    }
}

static const struct ready {
    const char *name;
    int least, most; /* of the number behind the name; 0, 0: there is none */
    void (*print)(lg_buffer *to, int number);
} ready[] = {
    {"add-", 2, 16, print_add},
    {"times-", 0, 9, print_times},
    {"count-", 2, 100, print_count},
    {"comparison", 0, 0, print_comparison},
};

/* The row and the number of "add-10"; NULL: it is no such name. */
static const struct ready *find_ready(const char *name, int *number)
{
    for (size_t i = 0; i < sizeof ready / sizeof *ready; i++) {
        size_t n = strlen(ready[i].name);
        if (strncmp(name, ready[i].name, n) != 0) continue;
        if (!ready[i].most) {
            *number = 0;
            if (!name[n]) return &ready[i];
        } else if (name[n] && strlen(name + n) <= 3 &&
                   strspn(name + n, "0123456789") == strlen(name + n)) {
            *number = atoi(name + n);
            return &ready[i];
        }
    }
    return NULL;
}

/* Ready tables are written as YAML too, so that they pass through the same reader. */
static struct lg__yaml *open_table(const char *table, lg_error *err)
{
    int number = 0;
    const struct ready *row = find_ready(table, &number);
    if (!row) {
        lg_error why = {0};
        struct lg__yaml *root = lg__yaml_read(table, &why);
        if (!root)
            lg__fail(err, why.code, "%s%s%s",
                     why.code == LG_ERROR_SYSTEM ? "task machine: table " : "", why.text,
                     why.code == LG_ERROR_SYSTEM ? "; it must be a YAML file, or a ready table: "
                                                   "comparison, count-M, times-D or add-B"
                                                 : "");
        return root;
    }
    if (number < row->least || number > row->most) {
        lg__fail(err, LG_ERROR_ARGUMENT, "task machine: table is \"%s\"; %sN takes an N in %d..%d",
                 table, row->name, row->least, row->most);
        return NULL;
    }
    lg_buffer b = {0};
    row->print(&b, number);
    char *text = lg_buffer_take(&b, NULL);
    struct lg__yaml *root = text ? lg__yaml_parse(table, text, err) : NULL;
    if (!text) lg__fail(err, LG_ERROR_MEMORY, "no memory for table %s; end other programs", table);
    free(text);
    return root;
}

/* ---- The reader -------------------------------------------------------------------------- */

/* What a table is read with. */
struct reader {
    struct lg_task *t;
    struct machine *m;
    struct lg__texts words, states; /* the vocabulary; the states' names, in state_name[] */
    const char **state_name;
    lg_error *err;
};

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a machine; end other programs");
}

/* The token of an input, output or state; new ones enter the vocabulary. */
static int32_t read_word(struct reader *r, const struct lg__yaml *n, const char *word, int is_digit)
{
    const char *fault = lg__word_fault(word);
    if (fault) {
        lg__yaml_fail(n, r->err, "the word \"%.80s\" is %s; write another", word, fault);
        return -1;
    }
    if (strcmp(word, ",") == 0 || strcmp(word, "=") == 0 || strcmp(word, "$") == 0) {
        lg__yaml_fail(n, r->err, "the word \"%s\" separates the parts of an example; use another",
                      word);
        return -1;
    }
    return lg__word_indexed(r->t, &r->words, word, is_digit, r->err);
}

/* Inputs are tokens 0, 1, .. in their order; if that is 0, 1, .. F, they are digits. */
static int read_inputs(struct reader *r, const struct lg__yaml *list)
{
    int digits = list->count >= 2 && list->count <= 16, i = 0;
    for (const struct lg__yaml *n = list->first; n && digits; n = n->next, i++)
        digits = n->text[0] == digit(i) && !n->text[1];
    for (const struct lg__yaml *n = list->first; n; n = n->next) {
        if (lg__yaml_is(n, LG__YAML_SCALAR, r->err)) return LG_ERROR_ARGUMENT;
        int32_t token = read_word(r, n, n->text, digits);
        if (token < 0) return LG_ERROR_ARGUMENT;
        if (token != r->m->inputs)
            return lg__yaml_fail(n, r->err, "the input \"%.80s\" is there twice; keep one",
                                 n->text);
        r->m->inputs++;
    }
    return r->m->inputs ? 0 : lg__yaml_fail(list, r->err, "inputs is empty; add words");
}

static int read_states(struct reader *r, const struct lg__yaml *list, const struct lg__yaml *start)
{
    if (!list->count) return lg__yaml_fail(list, r->err, "states is empty; add names");
    r->state_name = lg__alloc((size_t)list->count * sizeof *r->state_name);
    if (!r->state_name) return no_memory(r->err);
    for (const struct lg__yaml *n = list->first; n; n = n->next) {
        if (lg__yaml_is(n, LG__YAML_SCALAR, r->err)) return LG_ERROR_ARGUMENT;
        const char *fault = lg__word_fault(n->text);
        if (fault)
            return lg__yaml_fail(n, r->err, "the state \"%.80s\" is %s; write another", n->text,
                                 fault);
        if (lg__texts_find(&r->states, r->state_name, n->text) >= 0)
            return lg__yaml_fail(n, r->err, "the state \"%.80s\" is there twice; keep one",
                                 n->text);
        r->state_name[r->m->states++] = n->text;
        int e = lg__texts_add(&r->states, r->state_name, r->err);
        if (e) return e;
    }
    r->m->start = lg__texts_find(&r->states, r->state_name, start->text);
    if (r->m->start >= 0) return 0;
    return lg__yaml_fail(
        start, r->err, "start is \"%.80s\", which is not in states; name one of them", start->text);
}

/* The next word of a rule's side, which *at walks; 0: there is none. */
static int next_word(const char **at, char *word, size_t size)
{
    size_t length = strcspn(*at, " ");
    if (!length || length >= size) return 0;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length + ((*at)[length] == ' ' && (*at)[length + 1]);
    return 1;
}

/* "state in1 in2": the rule's number, or -1 (then the error is set). */
static int rule_number(struct reader *r, const struct lg__yaml *n)
{
    const char *at = n->key;
    char word[256] = "";
    int number = -1;
    for (int i = 0; i <= r->m->tracks; i++) {
        if (!next_word(&at, word, sizeof word)) break;
        int place = i ? lg__word_find(r->t, &r->words, word)
                      : lg__texts_find(&r->states, r->state_name, word);
        if (place < 0 || (i && place >= r->m->inputs)) {
            lg__yaml_fail(n, r->err,
                          "\"%.80s\": \"%.80s\" is not in %s; correct it or add it there", n->key,
                          word, i ? "inputs" : "states");
            return -1;
        }
        number = i ? number * r->m->inputs + place : place;
        if (i == r->m->tracks && !*at) return number;
    }
    lg__yaml_fail(n, r->err,
                  "\"%.80s\" must be a state and %d input%s with single spaces between them",
                  n->key, r->m->tracks, r->m->tracks == 1 ? "" : "s");
    return -1;
}

/* "next output" or "next"; all rules have an output, or none has. */
static int read_rule(struct reader *r, const struct lg__yaml *n, int first)
{
    struct machine *m = r->m;
    const char *at = n->text;
    char word[256] = "";
    int number = rule_number(r, n), e = lg__yaml_is(n, LG__YAML_SCALAR, r->err);
    if (number < 0 || e) return LG_ERROR_ARGUMENT;
    if (!next_word(&at, word, sizeof word) ||
        (m->next[number] = lg__texts_find(&r->states, r->state_name, word)) < 0)
        return lg__yaml_fail(n, r->err,
                             "\"%.80s\" leads to \"%.80s\", which does not start with one of the "
                             "states; write \"next output\" or \"next\"",
                             n->key, n->text);
    int outputs = *at != 0;
    if (first) m->outputs = outputs;
    if (outputs != m->outputs)
        return lg__yaml_fail(
            n, r->err,
            "\"%.80s\" has %s output, but the rules before it have %s; give one to "
            "all or to none",
            n->key, outputs ? "an" : "no", outputs ? "none" : "one");
    if (!outputs) return 0;
    m->output[number] = read_word(r, n, at, 0);
    return m->output[number] < 0 ? LG_ERROR_ARGUMENT : 0;
}

/* The combination of a rule's number, as it is written in the table. */
static void write_combination(const struct reader *r, int number, char *text, size_t size)
{
    int scale = 1, used;
    for (int i = 0; i < r->m->tracks; i++) scale *= r->m->inputs;
    used = snprintf(text, size, "%.60s", r->state_name[number / scale]);
    for (int i = 0; i < r->m->tracks && used < (int)size - 1; i++) {
        scale /= r->m->inputs;
        used += snprintf(text + used, size - (size_t)used, " %.20s",
                         r->t->words[number / scale % r->m->inputs]);
    }
}

static int read_rules(struct reader *r, const struct lg__yaml *map)
{
    struct machine *m = r->m;
    int64_t rules = m->states;
    for (int i = 0; i < m->tracks && rules <= MOST_RULES; i++) rules *= m->inputs;
    if (rules > MOST_RULES)
        return lg__yaml_fail(map, r->err,
                             "%d states and %d inputs on %d tracks make more than %d rules; use "
                             "fewer",
                             m->states, m->inputs, m->tracks, MOST_RULES);
    m->next = lg__alloc((size_t)rules * sizeof *m->next);
    m->output = lg__alloc((size_t)rules * sizeof *m->output);
    if (!m->next || !m->output) return no_memory(r->err);
    m->combinations = (int)rules / m->states;
    for (int i = 0; i < rules; i++) m->next[i] = -1;
    for (const struct lg__yaml *n = map->first; n; n = n->next) {
        int e = read_rule(r, n, n == map->first);
        if (e) return e;
    }
    for (int i = 0; i < rules; i++) {
        if (m->next[i] >= 0) continue;
        char text[200];
        write_combination(r, i, text, sizeof text);
        return lg__yaml_fail(map, r->err, "rules has no entry for \"%s\"; add it", text);
    }
    return 0;
}

static int read_final(struct reader *r, const struct lg__yaml *map)
{
    struct machine *m = r->m;
    if (!map) return 0;
    int e = lg__yaml_is(map, LG__YAML_MAP, r->err);
    if (e) return e;
    m->final = 1;
    m->final_token = lg__alloc((size_t)m->states * sizeof *m->final_token);
    if (!m->final_token) return no_memory(r->err);
    for (int i = 0; i < m->states; i++) m->final_token[i] = -1;
    for (const struct lg__yaml *n = map->first; n; n = n->next) {
        if (lg__yaml_is(n, LG__YAML_SCALAR, r->err)) return LG_ERROR_ARGUMENT;
        int state = lg__texts_find(&r->states, r->state_name, n->key);
        if (state < 0)
            return lg__yaml_fail(n, r->err,
                                 "final has \"%.80s\", which is not in states; correct it", n->key);
        m->final_token[state] = read_word(r, n, n->text, 0);
        if (m->final_token[state] < 0) return LG_ERROR_ARGUMENT;
    }
    for (int i = 0; i < m->states; i++)
        if (m->final_token[i] < 0)
            return lg__yaml_fail(map, r->err, "final has no entry for the state \"%.80s\"; add it",
                                 r->state_name[i]);
    return 0;
}

/* Whether states are written: as the setting says, or else the table. Their words come after all
 * others. */
static int read_emit(struct reader *r, const struct lg__yaml *root, const struct lg__yaml *states)
{
    static const char *const words[] = {"output", "state", NULL};
    const struct lg__yaml *n = lg__yaml_get(root, "emit");
    int state = 0, setting = (int)r->t->value[1].i;
    int e = n ? lg__yaml_choice(n, words, &state, r->err) : 0;
    if (e) return e;
    if (setting != EMIT_AUTO) state = setting == EMIT_STATE;
    if (!state && !r->m->outputs)
        return lg__yaml_fail(n ? n : root, r->err,
                             "the rules have no outputs, so that emit must be state; write \"emit: "
                             "state\"%s",
                             setting == EMIT_OUTPUT ? " and leave out the setting emit=output"
                                                    : "");
    r->m->emit_state = state;
    if (!state) return 0;
    r->m->state_token = lg__alloc((size_t)r->m->states * sizeof *r->m->state_token);
    if (!r->m->state_token) return no_memory(r->err);
    int i = 0;
    for (n = states->first; n; n = n->next, i++)
        if ((r->m->state_token[i] = read_word(r, n, n->text, 0)) < 0) return LG_ERROR_ARGUMENT;
    return 0;
}

static int read_table(struct reader *r, const struct lg__yaml *root)
{
    static const char *const keys[] = {"name", "tracks", "inputs", "states", "start",
                                       "emit", "rules",  "final",  NULL};
    const struct lg__yaml *tracks, *inputs, *states, *start, *rules, *name;
    lg_error *err = r->err;
    int64_t n = 0;
    int e;
    if ((e = lg__yaml_keys(root, keys, err)) ||
        (e = lg__yaml_need(root, "tracks", LG__YAML_SCALAR, &tracks, err)) ||
        (e = lg__yaml_int(tracks, 1, MOST_TRACKS, &n, err)) ||
        (e = lg__yaml_need(root, "inputs", LG__YAML_LIST, &inputs, err)) ||
        (e = lg__yaml_need(root, "states", LG__YAML_LIST, &states, err)) ||
        (e = lg__yaml_need(root, "start", LG__YAML_SCALAR, &start, err)) ||
        (e = lg__yaml_need(root, "rules", LG__YAML_MAP, &rules, err)))
        return e;
    if ((name = lg__yaml_get(root, "name")) && (e = lg__yaml_is(name, LG__YAML_SCALAR, err)))
        return e;
    r->m->tracks = (int)n;
    if ((e = read_inputs(r, inputs)) || (e = read_states(r, states, start)) ||
        (e = read_rules(r, rules)) || (e = read_final(r, lg__yaml_get(root, "final"))))
        return e;
    return read_emit(r, root, states);
}

static int open_machine(struct lg_task *t, lg_error *err)
{
    struct machine *m = t->own = lg__alloc(sizeof *m);
    if (!m) return no_memory(err);
    struct lg__yaml *root = open_table(t->value[0].text, err);
    if (!root) return LG_ERROR_ARGUMENT;
    struct reader r = {.t = t, .m = m, .err = err};
    int e = read_table(&r, root);
    if (!e && m->tracks > 1 && (m->comma = lg__word(t, ",", 0, err)) < 0) e = LG_ERROR_MEMORY;
    if (!e && (m->equals = lg__word(t, "=", 0, err)) < 0) e = LG_ERROR_MEMORY;
    if (!e && (m->stop = lg__word(t, "$", 0, err)) < 0) e = LG_ERROR_MEMORY;
    lg__texts_free(&r.words);
    lg__texts_free(&r.states);
    free(r.state_name);
    lg__yaml_free(root);
    t->shape.stop = m->stop;
    t->shape.levels = 2;
    t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.level[1] = "role";
    t->shape.role = 2;
    t->shape.reach[0] = t->shape.reach[1] = 1;
    return e;
}

static void close_machine(struct lg_task *t)
{
    struct machine *m = t->own;
    if (!m) return;
    free(m->next);
    free(m->output);
    free(m->state_token);
    free(m->final_token);
}

/* ---- Examples ----------------------------------------------------------------------------- */

static int room_for(const struct machine *m, int length, lg_example *x, lg_error *err)
{
    int written = m->outputs + m->emit_state;
    return lg__example_room(x, (m->tracks + written) * length + m->tracks + m->final + 1, err);
}

/* Where the words of track j, from 0, stand. */
static int32_t *track(const lg_example *x, int j, int length)
{
    return x->tokens + (size_t)j * ((size_t)length + 1);
}

/* The tracks are where they stand already, and the room for all is there. */
static void write_machine(const struct machine *m, int length, lg_example *x)
{
    int answer = m->tracks + 1; /* the role of what comes */
    for (int j = 1; j <= m->tracks; j++) {
        for (int i = 1; i <= length; i++)
            lg__put(x, track(x, j - 1, length)[i - 1], i, j, LG_ABSENT);
        if (j < m->tracks) lg__put(x, m->comma, 0, j, LG_ABSENT);
    }
    lg__put(x, m->equals, 0, answer, LG_ABSENT);
    int state = m->start;
    for (int i = 1; i <= length; i++) {
        int rule = state;
        for (int j = 0; j < m->tracks; j++) rule = rule * m->inputs + track(x, j, length)[i - 1];
        state = m->next[rule];
        if (m->outputs) lg__put_answer(x, m->output[rule], i, answer, LG_ABSENT);
        if (m->emit_state) lg__put_answer(x, m->state_token[state], i, answer + 1, LG_ABSENT);
    }
    if (m->final) lg__put_answer(x, m->final_token[state], length + 1, answer, LG_ABSENT);
    lg__put_answer(x, m->stop, length + 1 + m->final, answer, LG_ABSENT);
}

static int make_machine(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                        lg_error *err)
{
    const struct machine *m = t->own;
    int e = room_for(m, length, x, err);
    (void)sparsity;
    if (e) return e;
    for (int j = 0; j < m->tracks; j++)
        for (int i = 0; i < length; i++)
            track(x, j, length)[i] = (int32_t)lg_rng_below(r, (uint32_t)m->inputs);
    write_machine(m, length, x);
    return 0;
}

/* ---- Columns ------------------------------------------------------------------------------ */

/* States and rules are the table's own; a table may have states that no text reaches. */
static int next_state(const struct lg_task *t, int state, int input)
{
    const struct machine *m = t->own;
    return m->next[state * m->combinations + input];
}

static int write_columns(const struct lg_task *t, const int32_t *input, int n, lg_example *x,
                         lg_error *err)
{
    const struct machine *m = t->own;
    int e = room_for(m, n, x, err);
    if (e) return e;
    lg__example_begin(x, n, 0);
    for (int i = 0; i < n; i++) {
        int rest = input[i];
        for (int j = m->tracks - 1; j >= 0; j--, rest /= m->inputs)
            track(x, j, n)[i] = rest % m->inputs;
    }
    write_machine(m, n, x);
    return 0;
}

static int columns_machine(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    const struct machine *m = t->own;
    (void)err;
    *c = (struct lg__columns){
        .states = m->states,
        .start = m->start,
        .inputs = m->combinations,
        .next = next_state,
        .ends = lg__columns_end_anywhere,
        .write = write_columns,
    };
    return 0;
}

static const lg_setting machine_settings[] = {
    {"table", "TEXT", "add-10",
     "a ready table, comparison, count-M, times-D or add-B, or a YAML file's path"},
    {"emit", "auto|output|state", "auto",
     "what is written for a column: as the table says, or its output, or also the state"},
    {0},
};

const struct lg__task_row lg__task_machine = {
    .info =
        {.name = "machine",
         .family = "machine",
         .line = "a finite machine that reads columns and writes outputs; tables of your own",
         .text =
             "  track 1's n words , track 2's n words , .. = answer $\n"
             "\n"
             "Every track has n words, uniform among the inputs. The machine starts in its start\n"
             "state and reads the columns 1..n, one word of each track at once; a rule gives the\n"
             "next state and maybe an output. The answer has for each column its output, if the\n"
             "rules have outputs, then with emit=state the state after the column, and behind the\n"
             "last column the final output, if the table has one.\n"
             "\n"
             "A table is a YAML file:\n"
             "\n"
             "  name: carry              # optional\n"
             "  tracks: 2                # 1 to 16\n"
             "  inputs: [\"0\", \"1\"]       # words, the same for every track\n"
             "  states: [c0, c1]\n"
             "  start: c0\n"
             "  emit: output             # or state: the state is written behind the output, too\n"
             "  rules: {c0 0 0: c0 0, c0 0 1: c0 1, c0 1 0: c0 1, c0 1 1: c1 0,\n"
             "          c1 0 0: c0 1, c1 0 1: c1 0, c1 1 0: c1 0, c1 1 1: c1 1}\n"
             "  final: {c0: \"0\", c1: \"1\"}    # optional: one more output, from the last state\n"
             "\n"
             "A rule is \"state input-1 input-2 ..: next output\", or without outputs \"..: "
             "next\";\n"
             "either all rules have an output or none has, and then emit must be state (without a\n"
             "line emit, it is output). Every combination of a state and inputs needs its rule, "
             "at\n"
             "most 1,000,000; final needs every state. Words have no spaces and are not , = or $.\n"
             "Inputs that are 0, 1, .. up to F in this order count as digits. The vocabulary is\n"
             "inputs, outputs, final outputs, states if they are written, `,` (two or more\n"
             "tracks), `=` and `$`.\n"
             "\n"
             "Ready tables; numbers are written with the lowest digit first.\n"
             "  add-B       B 2..16: two numbers in base B; the digits of their sum, then the "
             "carry\n"
             "  times-D     D 0..9: a decimal number; the digits of D times it, then the carry\n"
             "  count-M     M 2..100: bits; m0..m(M-1), the number of ones so far modulo M\n"
             "  comparison  two decimal numbers; lt, eq or gt for the digits so far, so that the\n"
             "              last says how the first number compares with the second\n"
             "\n"
             "Coupling, two levels. Column: column i has i on every track and in what is written\n"
             "for it, `,` and '=' have 0, the final output n+1, '$' the next after the last.\n"
             "Role: track j and the `,` behind it have j; '=', outputs, the final output and '$'\n"
             "have tracks+1; states have tracks+2.\n",
         .unit = "columns",
         .settings = machine_settings},
    .open = open_machine,
    .close = close_machine,
    .make = make_machine,
    .columns = columns_machine,
};
