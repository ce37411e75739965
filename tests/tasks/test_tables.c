/* test_tables.c: the tables that a user writes, for planted and machine, give what they say:
 * examples are worked out a second time here, and what is random is counted (fixed seeds; chance
 * would fail a count once in a million). Without it a table could train something else than was
 * written. */
#include <string.h>

#include "tables.h"

enum { SAMPLES = 30000 };

/* ---- planted gives what its table says -------------------------------------------------------- */

/* The places of the k members (from 0, in order) and the planted words; the rest has label 0. */
struct seen {
    int place[8];
    const char *word[8], *answer;
};

static struct seen look_at(const lg_task *t, const lg_example *x, int k)
{
    const lg_task_shape *s = lg_task_get_shape(t);
    struct seen v = {.answer = s->words[x->tokens[x->n - 1]]};
    int members = 0;
    assert_int_equal(x->n, x->length + 1);
    assert_int_equal(x->answer, x->length);
    assert_int_equal(x->sparsity, k);
    for (int i = 0; i < x->length; i++) {
        assert_int_equal(x->loss[i], 0);
        if (!x->labels[0][i]) continue;
        assert_int_equal(x->labels[0][i], members + 1);
        assert_true(members < k);
        v.place[members] = i;
        v.word[members++] = s->words[x->tokens[i]];
    }
    assert_int_equal(members, k);
    assert_int_equal(x->loss[x->length], 1);
    assert_int_equal(x->labels[0][x->length], k + 1);
    return v;
}

/* Counts SAMPLES examples of one length into bins. */
static void count(const char *what, const char *table, int length, int k,
                  int (*bin)(const struct seen *), int bins, const double *weight)
{
    lg_task *t = open_table("planted", table);
    lg_draw d = {.seed = 5, .stream = 1, .length_lo = length, .length_hi = length};
    lg_example x;
    int counts[64] = {0};
    lg_example_init(&x);
    for (; d.index < SAMPLES; d.index++) {
        ck_example(t, &d, &x);
        struct seen v = look_at(t, &x, k);
        int b = bin(&v);
        if (b < 0 || b >= bins) fail_msg("%s: an example in bin %d", what, b);
        counts[b]++;
    }
    lg_example_clear(&x);
    lg_task_free(t);
    ck_chi_square(what, counts, weight, bins, 1);
}

/* The labels of the rules, worked out from the words A, B, C as 0, 1, 2. */
static void rules_label_as_they_say(void **state)
{
    (void)state;
    static const char *const rules[] = {"parity", "majority", "lookup", "count"};
    for (int rule = 0; rule < 4; rule++) {
        char table[200], want[8];
        snprintf(table, sizeof table,
                 "k: 3\nplanted: {A: 1, B: 1, C: 1}\nbackground: {a: 1}\nlabel: %s\n", rules[rule]);
        lg_task *t = open_table("planted", table);
        lg_draw d = {.seed = 5, .stream = 1, .length_lo = 6, .length_hi = 6};
        lg_example x;
        lg_example_init(&x);
        for (; d.index < 300; d.index++) {
            ck_example(t, &d, &x);
            struct seen v = look_at(t, &x, 3);
            int w[3], count[3] = {0}, most = 0;
            for (int i = 0; i < 3; i++) count[w[i] = v.word[i][0] - 'A']++;
            for (int i = 1; i < 3; i++) most = count[i] > count[most] ? i : most;
            if (rule == 0) snprintf(want, sizeof want, (w[0] + w[1] + w[2]) % 2 ? "odd" : "even");
            if (rule == 1) snprintf(want, sizeof want, "%c", 'A' + most);
            if (rule == 2) snprintf(want, sizeof want, "y%d", 9 * w[0] + 3 * w[1] + w[2]);
            if (rule == 3) snprintf(want, sizeof want, "y%d", w[0] + w[1] + w[2]);
            assert_string_equal(v.answer, want);
        }
        lg_example_clear(&x);
        lg_task_free(t);
    }
}

/* Side by side, the first of words of its own and the others of the background's: the label is read
 * off the text, from the one marked word on. Without it a transformer could find S by its words. */
static void a_first_word_marks_words_of_the_background(void **state)
{
    (void)state;
    static const char *const labels[] = {"parity", "lookup", "count",
                                         "{P a: 00, P b: 01, P c: 02, Q a: 10, Q b: 11, Q c: 12}"};
    for (int rule = 0; rule < 4; rule++) {
        char table[300], want[8];
        int k = rule == 3 ? 2 : 3, seen[2][3] = {{0}};
        snprintf(table, sizeof table,
                 "k: %d\npositions: together\nplanted: {first: {P: 1, Q: 1}, rest: {a: 1, b: 1, c: "
                 "2}}\nbackground: {a: 1, b: 1, c: 1}\nlabel: %s\n",
                 k, labels[rule]);
        lg_task *t = open_table("planted", table);
        const char *const *word = lg_task_get_shape(t)->words;
        lg_draw d = {.seed = 5, .stream = 1, .length_lo = 6, .length_hi = 6};
        lg_example x;
        lg_example_init(&x);
        for (; d.index < 300; d.index++) {
            int at = -1, w[3] = {0};
            ck_example(t, &d, &x);
            for (int i = 0; i < 6; i++) {
                char letter = *word[x.tokens[i]];
                if (letter != 'P' && letter != 'Q') continue;
                assert_int_equal(at, -1);
                at = i;
                w[0] = letter == 'Q';
            }
            assert_in_range(at, 0, 6 - k);
            for (int j = 1; j < k; j++) w[j] = *word[x.tokens[at + j]] - 'a';
            seen[w[0]][w[1]]++;
            if (rule == 0) snprintf(want, sizeof want, (w[0] + w[1] + w[2]) % 2 ? "odd" : "even");
            if (rule == 1) snprintf(want, sizeof want, "y%d", 9 * w[0] + 3 * w[1] + w[2]);
            if (rule == 2) snprintf(want, sizeof want, "y%d", w[0] + w[1] + w[2]);
            if (rule == 3) snprintf(want, sizeof want, "%d%d", w[0], w[1]);
            assert_string_equal(word[x.tokens[6]], want);
        }
        for (int i = 0; i < 6; i++) assert_true(seen[i / 3][i % 3] > 20); /* of 37 or 75 */
        lg_example_clear(&x);
        lg_task_free(t);
    }
}

/* Members in the first 7 places, as bits, to a bin for each set of 3 of them. */
static int three_of_seven(const struct seen *v)
{
    int set = 1 << v->place[0] | 1 << v->place[1] | 1 << v->place[2], bin = 0;
    for (int s = 0; s < set; s++)
        bin += (s & 1) + (s >> 1 & 1) + (s >> 2 & 1) + (s >> 3 & 1) + (s >> 4 & 1) + (s >> 5 & 1) +
                   (s >> 6 & 1) ==
               3;
    return bin;
}

/* Span 4 at length 7: the first at 0..3, two of the three places behind it. */
static int in_span(const struct seen *v)
{
    int first = v->place[0], left_out = 6 - (v->place[1] - first) - (v->place[2] - first);
    if (first > 3 || v->place[2] - first > 3) return -1;
    return first * 3 + left_out - 1;
}

/* offsets 0, 3 at 0..1 and offsets 0, 1 at 0..3 of length 5. */
static int in_patterns(const struct seen *v)
{
    int offset = v->place[1] - v->place[0];
    return offset == 3 ? v->place[0] : offset == 1 ? 2 + v->place[0] : -1;
}

static int first_place(const struct seen *v) { return v->place[0]; }

static void places_are_as_the_table_says(void **state)
{
    (void)state;
    static const char labels[] = "A A A: y}\n";
    char table[400];
    snprintf(table, sizeof table, "%s%s", PLANTED(3, "uniform"), labels);
    count("uniform, 3 of 7", table, 7, 3, three_of_seven, 35, NULL);
    const char *without = strstr(table, "positions"); /* uniform is what no line means */
    char unsaid[400];
    snprintf(unsaid, sizeof unsaid, "k: 3\n%s", strchr(without, '\n') + 1);
    count("no positions, 3 of 7", unsaid, 7, 3, three_of_seven, 35, NULL);
    snprintf(table, sizeof table, "%s%s", PLANTED(3, "{span: 4}"), labels);
    count("span 4 of 7", table, 7, 3, in_span, 12, NULL);
    snprintf(table, sizeof table, "%s%s", PLANTED(3, "{span: 8}"), labels);
    count("span 8 of 7: uniform", table, 7, 3, three_of_seven, 35, NULL);
    snprintf(table, sizeof table, "%s%s",
             PLANTED(2, "{patterns: [{offsets: [0, 3], weight: 2}, {offsets: [0, 1]}]}"),
             "A A: y}\n");
    static const double weight[] = {4, 4, 1, 1, 1, 1};
    count("patterns at length 5", table, 5, 2, in_patterns, 6, weight);
    snprintf(table, sizeof table, "%s%s", PLANTED(1, "{span: 1}"), "A: y}\n");
    count("one member", table, 9, 1, first_place, 9, NULL);
}

/* Weights A 3, B 1, C 0.5, each on its own; the label names the tuple, so it shows g* too. */
static const char words_table[] = "k: 2\nplanted: {A: 3, B: 1, C: 0.5}\nbackground: {a: 1}\n"
                                  "label: {A A: AA, A B: AB, A C: AC, B A: BA, B B: BB, B C: BC,"
                                  " C A: CA, C B: CB, C C: CC}\n";

static int tuple(const struct seen *v)
{
    assert_int_equal(v->answer[0], v->word[0][0]);
    assert_int_equal(v->answer[1], v->word[1][0]);
    return 3 * (v->word[0][0] - 'A') + v->word[1][0] - 'A';
}

static int joint_tuple(const struct seen *v)
{
    int t = tuple(v);
    return t == 0 ? 0 : t == 3 ? 1 : t == 1 ? 2 : -1;
}

static void words_are_as_the_table_says(void **state)
{
    (void)state;
    static const double single[] = {9, 3, 1.5, 3, 1, 0.5, 1.5, 0.5, 0.25}, joint[] = {3, 1, 0.5};
    count("planted words", words_table, 6, 2, tuple, 9, single);
    count("joint words", joint_table, 6, 2, joint_tuple, 3, joint);
}

/* The background by its weights; a word of it may be a planted one and a label, too: the place
 * alone makes it planted. */
static void the_background_is_as_the_table_says(void **state)
{
    (void)state;
    static const double weight[] = {1, 2, 0.5, 4};
    lg_task *t = open_table("planted", "k: 1\nplanted: {d: 1, e: 1}\n"
                                       "background: {a: 1, b: 2, c: 0.5, d: 4}\n"
                                       "label: {d: a, e: d}\n");
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_draw d = {.seed = 9, .length_lo = 20, .length_hi = 20};
    lg_example x;
    int counts[4] = {0}, planted[2] = {0};
    lg_example_init(&x);
    assert_int_equal(s->vocab, 5); /* a b c d e: each word once, background first */
    assert_string_equal(s->words[3], "d");
    assert_string_equal(s->words[4], "e");
    for (; d.index < 3000; d.index++) {
        ck_example(t, &d, &x);
        struct seen v = look_at(t, &x, 1);
        assert_string_equal(v.answer, v.word[0][0] == 'd' ? "a" : "d");
        planted[v.word[0][0] - 'd']++;
        for (int i = 0; i < 20; i++)
            if (i != v.place[0]) counts[x.tokens[i]]++;
    }
    ck_chi_square("background", counts, weight, 4, 1);
    ck_chi_square("planted in both", planted, NULL, 2, 1);
    lg_example_clear(&x);
    lg_task_free(t);
}

static void the_shape_follows_from_the_table(void **state)
{
    (void)state;
    char table[400];
    lg_error err = {0};
    lg_example x;
    snprintf(table, sizeof table, "%s%s", PLANTED(2, "{patterns: [{offsets: [0, 6]}]}"),
             "A A: y}\n");
    lg_task *t = open_table("planted", table);
    const lg_task_shape *s = lg_task_get_shape(t);
    assert_int_equal(s->length_least, 7); /* where the pattern fits */
    assert_int_equal(s->sparsity_least, 2);
    assert_int_equal(s->sparsity_most, 2);
    assert_int_equal(s->levels, 1);
    assert_int_equal(s->reach[0], 0);
    assert_int_equal(s->stop, LG_NONE);
    lg_draw d = {.length_lo = 6, .length_hi = 9};
    lg_example_init(&x);
    assert_int_equal(lg_task_example(t, &d, &x, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "length 6..9"));
    d = (lg_draw){.length_lo = 7, .length_hi = 9, .sparsity_lo = 3, .sparsity_hi = 3};
    assert_int_equal(lg_task_example(t, &d, &x, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "sparsity 3..3"));
    lg_example_clear(&x);
    lg_task_free(t);
    snprintf(table, sizeof table, "%s%s", PLANTED(3, "{span: 9}"), "A A A: y}\n");
    t = open_table("planted", table);
    assert_int_equal(lg_task_get_shape(t)->length_least, 3); /* k: short ones are uniform */
    lg_task_free(t);
}

/* ---- machine gives what its table says --------------------------------------------------------- */

enum { TRACKS = 3, INPUTS = 3, STATES = 5, OUTPUTS = 4, RULES = STATES * 27 };

/* A machine without any sense, but with every state, input and output in use. */
static int next_state(int s, const int *in)
{
    return (2 * s + in[0] + in[1] * in[1] + 3 * in[2] + in[0] * in[2]) % STATES;
}
static int output_of(int s, const int *in)
{
    return (s * s + in[0] + 2 * in[1] + 3 * in[2]) % OUTPUTS;
}

static void write_machine(int outputs, int emit_state, int final)
{
    static char text[TEXT];
    char *at = text + sprintf(text,
                              "tracks: 3\ninputs: [x, y, z]\nstates: [q0, q1, q2, q3, q4]\n"
                              "start: q3\nemit: %s\nrules:\n",
                              emit_state ? "state" : "output");
    for (int i = RULES - 1; i >= 0; i--) { /* in any order */
        int in[] = {i / 9 % 3, i / 3 % 3, i % 3}, s = i / 27;
        at += sprintf(at, "  q%d %c %c %c: q%d", s, 'x' + in[0], 'x' + in[1], 'x' + in[2],
                      next_state(s, in));
        if (outputs) at += sprintf(at, " o%d", output_of(s, in));
        at += sprintf(at, "\n");
    }
    if (final) sprintf(at, "final: {q4: end4, q0: end0, q2: end2, q1: end1, q3: end3}\n");
    write_table(text);
}

/* The next word of the example with its two labels. */
static void expect(const lg_task *t, const lg_example *x, int *at, const char *prefix, int number,
                   int column, int role, int loss)
{
    char word[16];
    if (number < 0)
        snprintf(word, sizeof word, "%s", prefix);
    else
        snprintf(word, sizeof word, "%s%d", prefix, number);
    assert_true(*at < x->n);
    assert_string_equal(lg_task_get_shape(t)->words[x->tokens[*at]], word);
    assert_int_equal(x->labels[0][*at], column);
    assert_int_equal(x->labels[1][*at], role);
    assert_int_equal(x->labels[2][*at], LG_ABSENT);
    assert_int_equal(x->loss[*at], loss);
    ++*at;
}

/* Runs the machine over the inputs of one example; counts columns. */
static void follow(const lg_task *t, const lg_example *x, int outputs, int states, int final,
                   int *columns)
{
    static const char *const letters[] = {"x", "y", "z"};
    int n = x->length, at = 0, state = 3;
    for (int j = 1; j <= TRACKS; j++) {
        for (int i = 1; i <= n; i++) {
            assert_true(x->tokens[at] < INPUTS); /* inputs are the first tokens */
            expect(t, x, &at, letters[x->tokens[at]], -1, i, j, 0);
        }
        expect(t, x, &at, j < TRACKS ? "," : "=", -1, 0, j < TRACKS ? j : TRACKS + 1, 0);
    }
    assert_int_equal(x->answer, at);
    for (int i = 1; i <= n; i++) {
        int in[TRACKS];
        for (int j = 0; j < TRACKS; j++) in[j] = x->tokens[j * (n + 1) + i - 1];
        columns[in[0] * 9 + in[1] * 3 + in[2]]++;
        if (outputs) expect(t, x, &at, "o", output_of(state, in), i, TRACKS + 1, 1);
        state = next_state(state, in);
        if (states) expect(t, x, &at, "q", state, i, TRACKS + 2, 1);
    }
    if (final) expect(t, x, &at, "end", state, n + 1, TRACKS + 1, 1);
    expect(t, x, &at, "$", -1, n + 1 + final, TRACKS + 1, 1);
    assert_int_equal(at, x->n);
}

static void a_machine_of_ones_own(void **state)
{
    (void)state;
    static const struct {
        int outputs, emit, final;
        const char *setting;
        int states; /* are written */
    } kinds[] = {
        {1, 0, 1, NULL, 0}, {1, 1, 1, NULL, 1},          {0, 1, 0, NULL, 1},
        {0, 1, 1, NULL, 1}, {1, 1, 0, "emit=output", 0}, {1, 0, 0, "emit=state", 1},
    };
    lg_example x;
    int columns[27] = {0};
    lg_example_init(&x);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        write_machine(kinds[k].outputs, kinds[k].emit, kinds[k].final);
        lg_task *t = ck_task_new("machine", (const char *const[]){setting, kinds[k].setting},
                                 kinds[k].setting ? 2 : 1);
        const lg_task_shape *s = lg_task_get_shape(t);
        assert_int_equal(s->vocab,
                         3 + 4 * kinds[k].outputs + 5 * kinds[k].final + 5 * kinds[k].states + 3);
        assert_string_equal(s->words[s->stop], "$");
        assert_int_equal(s->digit[0], 0);                         /* x, y, z are no digits */
        lg_draw d = {.seed = k, .length_lo = 1, .length_hi = 20}; /* no input counts twice */
        for (; d.index < 500; d.index++) {
            ck_example(t, &d, &x);
            follow(t, &x, kinds[k].outputs, kinds[k].states, kinds[k].final, columns);
        }
        lg_task_free(t);
    }
    ck_chi_square("inputs of three tracks", columns, NULL, 27, 1);
    lg_example_clear(&x);
}

/* More words than lg__word searches through one by one, in a table that is not short. */
static void a_machine_with_many_words(void **state)
{
    (void)state;
    static char text[TEXT];
    char *at = text + sprintf(text, "tracks: 1\nstates: [s]\nstart: s\ninputs: [w0");
    for (int i = 1; i < 500; i++) at += sprintf(at, ", w%d", i);
    at += sprintf(at, "]\nrules:\n");
    for (int i = 0; i < 500; i++) at += sprintf(at, "  s w%d: s w%d\n", i, 499 - i);
    lg_task *t = open_table("machine", text);
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_draw d = {.length_lo = 2000, .length_hi = 2000};
    lg_example x;
    lg_example_init(&x);
    assert_int_equal(s->vocab, 502);
    ck_example(t, &d, &x);
    for (int i = 0; i < 2000; i++) assert_int_equal(x.tokens[2001 + i], 499 - x.tokens[i]);
    lg_example_clear(&x);
    lg_task_free(t);
}

/* ---- The files in examples/ -------------------------------------------------------------------- */

static lg_task *open_example(const char *task, const char *file)
{
    char table[1000];
    snprintf(table, sizeof table, "table=%s/examples/%s", LG_SOURCE_DIR, file);
    return ck_task_new(task, (const char *const[]){table}, 1);
}

/* examples/machine.yaml says of itself that it subtracts binary numbers. */
static void the_example_machine_subtracts(void **state)
{
    (void)state;
    lg_task *t = open_example("machine", "machine.yaml");
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_draw d = {.length_lo = 1, .length_hi = 30};
    lg_example x;
    lg_example_init(&x);
    assert_int_equal(s->digit[0] && s->digit[1], 1);
    for (; d.index < 1000; d.index++) {
        ck_example(t, &d, &x);
        int64_t number[3] = {0}, n = x.length;
        for (int part = 0; part < 3; part++)
            for (int i = 0; i < n; i++) number[part] += (int64_t)x.tokens[part * (n + 1) + i] << i;
        int negative = number[0] < number[1];
        assert_int_equal(number[2], number[0] - number[1] + ((int64_t)negative << n));
        assert_string_equal(s->words[x.tokens[3 * n + 2]], negative ? "-" : "0");
        assert_int_equal(x.n, 3 * n + 4);
    }
    lg_example_clear(&x);
    lg_task_free(t);
}

/* examples/planted.yaml: side by side or three between, 2 to 1; the label compares two letters. */
static void the_example_ensemble_compares(void **state)
{
    (void)state;
    static const double weight[] = {2, 1};
    lg_task *t = open_example("planted", "planted.yaml");
    lg_draw d = {.length_lo = 5, .length_hi = 30};
    lg_example x;
    int counts[2] = {0};
    lg_example_init(&x);
    assert_int_equal(lg_task_get_shape(t)->length_least, 5);
    for (; d.index < 3000; d.index++) {
        ck_example(t, &d, &x);
        struct seen v = look_at(t, &x, 2);
        int apart = v.place[1] - v.place[0], order = v.word[1][0] - v.word[0][0];
        assert_true(apart == 1 || apart == 4);
        counts[apart == 4]++;
        assert_string_equal(v.answer, order > 0 ? "rising" : order < 0 ? "falling" : "same");
    }
    ck_chi_square("patterns of the example", counts, weight, 2, 1);
    lg_example_clear(&x);
    lg_task_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_label_as_they_say),
        cmocka_unit_test(a_first_word_marks_words_of_the_background),
        cmocka_unit_test(places_are_as_the_table_says),
        cmocka_unit_test(words_are_as_the_table_says),
        cmocka_unit_test(the_background_is_as_the_table_says),
        cmocka_unit_test(the_shape_follows_from_the_table),
        cmocka_unit_test(a_machine_of_ones_own),
        cmocka_unit_test(a_machine_with_many_words),
        cmocka_unit_test(the_example_machine_subtracts),
        cmocka_unit_test(the_example_ensemble_compares),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
