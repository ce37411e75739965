/* test_tables.c: the tables that a user writes, for planted and machine. A table with a mistake
 * must not train something else than was meant: it is refused with FILE:LINE, the value and the
 * remedy. A table without one gives what it says: examples are worked out a second time here, and
 * what is random is counted (fixed seeds; chance would fail a count once in a million). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "check.h"

enum { TEXT = 1 << 16, SAMPLES = 30000 };

static char folder[] = "/tmp/lengthen-tables-XXXXXX", path[64], setting[80];

static int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/table.yaml", folder);
    snprintf(setting, sizeof setting, "table=%s", path);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_table(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static lg_task *open_table(const char *task, const char *text)
{
    write_table(text);
    return ck_task_new(task, (const char *const[]){setting}, 1);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

/* A good table in which one piece is replaced, and what is said of it. */
struct mistake {
    const char *old, *new;
    int line;
    const char *says, *remedy;
};

static void refuse(const char *task, const char *good, const struct mistake *m,
                   const char *const *settings, int count)
{
    static char text[TEXT];
    const char *at = strstr(good, m->old);
    char start[100];
    lg_error err = {0};
    if (!at) fail_msg("the table has no \"%s\"", m->old);
    if (strstr(at + 1, m->old)) fail_msg("the table has \"%s\" twice", m->old);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, m->new, at + strlen(m->old));
    write_table(text);
    lg_task *t = lg_task_new(task, settings, count, &err);
    if (t) fail_msg("accepted: \"%s\" in place of \"%s\"", m->new, m->old);
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    snprintf(start, sizeof start, "%s:%d: ", path, m->line);
    if (strncmp(err.text, start, strlen(start)) != 0)
        fail_msg("\"%s\" is not said to be in line %d: %s", m->new, m->line, err.text);
    if (!strstr(err.text, m->says)) fail_msg("\"%s\" is not in: %s", m->says, err.text);
    if (!strstr(err.text, m->remedy)) fail_msg("\"%s\" is not in: %s", m->remedy, err.text);
    assert_null(lg_task_new(task, settings, count, NULL));
}

static const char planted_good[] = "name: mine\n"                 /* 1 */
                                   "k: 2\n"                       /* 2 */
                                   "positions: uniform\n"         /* 3 */
                                   "planted: {A: 1, B: 3}\n"      /* 4 */
                                   "background: {a: 1, b: 0.5}\n" /* 5 */
                                   "label:\n"                     /* 6 */
                                   "  A A: same\n"                /* 7 */
                                   "  A B: other\n"               /* 8 */
                                   "  B A: other\n"               /* 9 */
                                   "  B B: same\n";               /* 10 */
static const char uniform_line[] = "positions: uniform", planted_line[] = "planted: {A: 1, B: 3}";

static const struct mistake planted_mistakes[] = {
    /* the label table */
    {"  B A: other\n", "", 6, "no entry for \"B A\", which planted can give", "add it"},
    {"  B B: same\n", "", 6, "no entry for \"B B\"", "add it"},
    {"B B: same", "B C: same", 10, "word 2 of \"B C\" is not in planted", "correct it or add it"},
    {"B B: same", "B a: same", 10, "word 2 of \"B a\" is not in planted", "correct it"},
    {"B B: same", "B B B: same", 10, "\"B B B\" is not 2 words (as k says)", "write it so"},
    {"B B: same", "B: same", 10, "\"B\" is not 2 words", "write it so"},
    {"B B: same", "B  B: same", 10, "\"B  B\" is not 2 words", "single spaces"},
    {"B B: same", "\"B B \": same", 10, "\"B B \" is not 2 words", "single spaces"},
    {"B B: same", "B B: so so", 10, "the word \"so so\" is made of more than one word", "another"},
    {"B B: same", "B B:", 10, "the word \"\" is empty", "write another"},
    {"B B: same", "B B: [same]", 10, "B B is a list", "write one word or number"},
    {"B B: same", "B A: same", 10, "\"B A\" is said already in line 9", "keep one"},
    /* k */
    {"k: 2", "k: 3", 7, "\"A A\" is not 3 words (as k says)", "write it so"},
    {"k: 2", "k: 1", 7, "\"A A\" is not 1 words (as k says)", "write it so"},
    {"k: 2", "k: 0", 2, "k is \"0\"", "a whole number in 1..64"},
    {"k: 2", "k: 65", 2, "k is \"65\"", "a whole number in 1..64"},
    {"k: 2", "k: two", 2, "k is \"two\"", "a whole number in 1..64"},
    {"k: 2", "k: [2]", 2, "k is a list", "write one word or number"},
    {"k: 2\n", "", 1, "\"k\" is missing", "add it"},
    {"k: 2", "k: 64", 4, "planted with 2 entries at k = 64 gives more than 1000000 tuples",
     "list fewer tuples with joint"},
    /* keys */
    {uniform_line, "position: uniform", 3, "no key \"position\"", "did you mean \"positions\"?"},
    {"background: {", "backgrund: {", 5, "no key \"backgrund\"", "did you mean \"background\"?"},
    {"name: mine", "temperature: 3", 1, "no key \"temperature\"", "the keys are: name, k, pos"},
    {"name: mine", "label: {}", 6, "\"label\" is said already in line 1", "keep one"},
    {"name: mine", "name: [mine]", 1, "name is a list", "write one word or number"},
    {"planted: {A: 1, B: 3}\n", "", 1, "\"planted\" is missing", "add it"},
    {"background: {a: 1, b: 0.5}\n", "", 1, "\"background\" is missing", "add it"},
    /* weights and words */
    {"b: 0.5", "b: 0", 5, "b is \"0\"", "a number in 1e-09..1e+09"},
    {"b: 0.5", "b: -1", 5, "b is \"-1\"", "a number in"},
    {"b: 0.5", "b: much", 5, "b is \"much\"", "a number in"},
    {"b: 0.5", "b: nan", 5, "b is \"nan\"", "a number in"},
    {"b: 0.5", "b: inf", 5, "b is \"inf\"", "a number in"},
    {"b: 0.5", "b: 1e10", 5, "b is \"1e10\"", "a number in"},
    {"b: 0.5", "b", 5, "b is \"\"", "a number in"},
    {"b: 0.5", "b: [1]", 5, "b is a list", "write one word or number"},
    {"b: 0.5", "b c: 1", 5, "the word \"b c\" is made of more than one word", "write another"},
    {"b: 0.5", "\"\": 1", 5, "the word \"\" is empty", "write another"},
    {"b: 0.5", "a: 1", 5, "\"a\" is said already", "keep one"},
    {"{a: 1, b: 0.5}", "{}", 5, "background is empty", "add \"word: weight\""},
    {"{a: 1, b: 0.5}", "[a, b]", 5, "background is a list", "write {key: value, ..}"},
    {"B: 3}", "B: 0}", 4, "B is \"0\"", "a number in"},
    {"B: 3}", "B C: 1}", 4, "the word \"B C\" is made of more than one", "write another"},
    {"{A: 1, B: 3}", "{}", 4, "planted is empty", "add \"word: weight\""},
    {planted_line, "planted: {joint: {A A: 1, B: 1}}", 4, "\"B\" is not 2 words", "write it so"},
    {planted_line, "planted: {joint: {}}", 4, "joint is empty", "add \"word: weight\""},
    {planted_line, "planted: {joint: {A A: 1, A B: 0}}", 4, "A B is \"0\"", "a number in"},
    {planted_line, "planted: {joint: {A A: 1, A B: 1, B A: 1, B B: 1, A C: 1}}", 6,
     "no entry for \"A C\"", "add it"},
    {planted_line, "planted: {joint: {A A: 1}}", 8, "word 2 of \"A B\" is not in planted", "add"},
    /* probabilities and rules */
    {"name: mine", "probabilities: yes", 5, "probabilities of background sum to 1.5, not to 1",
     "leave \"probabilities\" out"},
    {"name: mine", "probabilities: true", 1, "probabilities is \"true\"", "one of: no, yes"},
    {"label:\n  A A: same\n  A B: other\n  B A: other\n  B B: same\n", "label: sum\n", 6,
     "label is \"sum\"", "one of: parity, majority, lookup, count"},
    {planted_line, "planted: {first: {P: 1}}", 4, "\"rest\" is missing", "add it"},
    {planted_line, "planted: {first: {P: 1}, rest: {A: 1}, last: {B: 1}}", 4, "no key \"last\"",
     "the keys are: first, rest"},
    {planted_line, "planted: {first: {P: 1}, rest: {A: 1, B: 1}}", 7,
     "word 1 of \"A A\" is not in planted", "correct it"},
    {planted_line, "planted: {first: {A: 1, B: 1, P: 1}, rest: {A: 1, B: 1}}", 6,
     "no entry for \"P A\", which planted can give", "add it"},
    {planted_good,
     "k: 2\nplanted: {first: {P: 1}, rest: {A: 1}}\nbackground: {a: 1}\nlabel: majority\n", 4,
     "the first planted word is not one of the rest", "take parity, lookup or count"},
    /* positions */
    {uniform_line, "positions: even", 3, "positions is \"even\"", "one of: uniform"},
    {uniform_line, "positions: {spam: 3}", 3, "no key \"spam\"", "did you mean \"span\"?"},
    {uniform_line, "positions: [span]", 3, "positions is a list", "write {key: value, ..}"},
    {uniform_line, "positions: {}", 3, "positions has 0 keys", "must be one, span or patterns"},
    {uniform_line, "positions: {span: 3, patterns: [{offsets: [0, 1]}]}", 3, "has 2 keys",
     "must be one, span or patterns"},
    {uniform_line, "positions: {span: 1}", 3, "span is \"1\"", "a whole number in 2..1048576"},
    {uniform_line, "positions: {span: wide}", 3, "span is \"wide\"", "a whole number in"},
    {uniform_line, "positions: {patterns: []}", 3, "patterns is empty", "add {offsets: [0, ..]"},
    {uniform_line, "positions: {patterns: {offsets: [0, 1]}}", 3, "patterns is a map", "write ["},
    {uniform_line, "positions: {patterns: [{weight: 1}]}", 3, "\"offsets\" is missing", "add it"},
    {uniform_line, "positions: {patterns: [{offsets: [0, 1], wait: 1}]}", 3, "no key \"wait\"",
     "did you mean \"weight\"?"},
    {uniform_line, "positions:\n  patterns:\n  - {offsets: [0, 1]}\n  - {offsets: [0, 1, 2]}", 6,
     "offsets has 3 entries but k is 2", "give one a member"},
    {uniform_line, "positions: {patterns: [{offsets: [0, 0]}]}", 3, "is \"0\"", "in 1..524288"},
    {uniform_line, "positions: {patterns: [{offsets: [1, 2]}]}", 3, "is \"1\"", "in 0..0"},
    {uniform_line, "positions: {patterns: [{offsets: [0, x]}]}", 3, "is \"x\"", "whole number"},
    {uniform_line, "positions: {patterns: [{offsets: [0, 1], weight: 0}]}", 3, "weight is \"0\"",
     "a number in"},
    /* not a table at all */
    {"{a: 1, b: 0.5}", "{a: 1, b: 0.5", 6, "this is not YAML", "correct this line or one before"},
    {"k: 2", "\tk: 2", 2, "this is not YAML", "correct this line"},
    {"label:\n", "---\n", 6, "a second document", "a file of its own"},
    {"A A: same", "A A: *x", 7, "references (*name) are not read", "write the value out"},
    {planted_good, "[k, 2]\n", 1, "this entry is a list, but must be a map", "write {key"},
    {planted_good, "", 1, "there is nothing in it", "write \"key: value\" lines"},
};

static void wrong_planted_tables_are_refused(void **state)
{
    (void)state;
    lg_task_free(open_table("planted", planted_good));
    for (size_t i = 0; i < sizeof planted_mistakes / sizeof *planted_mistakes; i++)
        refuse("planted", planted_good, &planted_mistakes[i], (const char *const[]){setting}, 1);
}

static const char machine_good[] = "name: mine\n"                  /* 1 */
                                   "tracks: 2\n"                   /* 2 */
                                   "inputs: [x, y]\n"              /* 3 */
                                   "states: [s0, s1]\n"            /* 4 */
                                   "start: s0\n"                   /* 5 */
                                   "emit: output\n"                /* 6 */
                                   "rules:\n"                      /* 7 */
                                   "  s0 x x: s0 low\n"            /* 8 */
                                   "  s0 x y: s1 high\n"           /* 9 */
                                   "  s0 y x: s1 high\n"           /* 10 */
                                   "  s0 y y: s0 low\n"            /* 11 */
                                   "  s1 x x: s1 high\n"           /* 12 */
                                   "  s1 x y: s0 low\n"            /* 13 */
                                   "  s1 y x: s0 low\n"            /* 14 */
                                   "  s1 y y: s1 high\n"           /* 15 */
                                   "final: {s0: even, s1: odd}\n"; /* 16 */

static const char silent_good[] = "tracks: 1\ninputs: [x]\nstates: [s0]\nstart: s0\n"
                                  "emit: state\nrules: {s0 x: s0}\n";

static const struct mistake machine_mistakes[] = {
    /* rules */
    {"  s1 x y: s0 low\n", "", 7, "rules has no entry for \"s1 x y\"", "add it"},
    {"  s0 x x: s0 low\n", "", 7, "rules has no entry for \"s0 x x\"", "add it"},
    {"s1 y y: s1 high", "s2 y y: s1 high", 15, "\"s2\" is not in states", "correct it or add it"},
    {"s1 y y: s1 high", "s1 y z: s1 high", 15, "\"z\" is not in inputs", "correct it or add it"},
    {"s1 y y: s1 high", "s1 y high: s1 high", 15, "\"high\" is not in inputs", "correct it"},
    {"s1 y y: s1 high", "s1 y y: s2 high", 15, "\"s1 y y\" leads to \"s2 high\"", "\"next out"},
    {"s1 y y: s1 high", "s1 y y: high", 15, "leads to \"high\"", "write \"next output\""},
    {"s1 y y: s1 high", "s1 y y:", 15, "leads to \"\"", "write \"next output\""},
    {"s1 y y: s1 high", "s1 y y: s1", 15, "\"s1 y y\" has no output, but", "to all or to none"},
    {"s0 x x: s0 low", "s0 x x: s0", 9, "\"s0 x y\" has an output, but", "to all or to none"},
    {"s1 y y: s1 high", "s1 y: s1 high", 15, "\"s1 y\" must be a state and 2 inputs", "single sp"},
    {"s1 y y: s1 high", "s1 y y y: s1 high", 15, "\"s1 y y y\" must be a state and 2", "single"},
    {"s1 y y: s1 high", "s1  y y: s1 high", 15, "\"s1  y y\" must be", "single spaces"},
    {"s1 y y: s1 high", "\"s1 y y \": s1 high", 15, "\"s1 y y \" must be", "single spaces"},
    {"s1 y y: s1 high", "s1 y y: s1 very high", 15, "the word \"very high\" is", "write another"},
    {"s1 y y: s1 high", "s1 y y: s1 =", 15, "the word \"=\" separates the parts", "use another"},
    {"s1 y y: s1 high", "s1 y y: {s1: high}", 15, "s1 y y is a map", "write one word"},
    {"s1 y y: s1 high", "s1 y x: s1 high", 15, "\"s1 y x\" is said already in line 14", "keep one"},
    /* states and inputs */
    {"start: s0", "start: s9", 5, "start is \"s9\", which is not in states", "name one of them"},
    {"start: s0", "start: [s0]", 5, "start is a list", "write one word"},
    {"start: s0\n", "", 1, "\"start\" is missing", "add it"},
    {"[s0, s1]", "[s0, s1, s0]", 4, "the state \"s0\" is there twice", "keep one"},
    {"[s0, s1]", "[s0, s1, s2]", 7, "no entry for \"s2 x x\"", "add it"},
    {"[s0, s1]", "[s0,\n s 1]", 5, "the state \"s 1\" is made of more than one", "write another"},
    {"[s0, s1]", "[s0, [s1]]", 4, "this entry is a list", "write one word"},
    {"[s0, s1]", "[]", 4, "states is empty", "add names"},
    {"[s0, s1]", "s0 s1", 4, "states is a single value", "write [a, b, ..]"},
    {"[x, y]", "[x, y, x]", 3, "the input \"x\" is there twice", "keep one"},
    {"[x, y]", "[x, y, z]", 7, "no entry for \"s0 x z\"", "add it"},
    {"[x, y]", "[x, \",\"]", 3, "the word \",\" separates the parts", "use another"},
    {"[x, y]", "[x, $]", 3, "the word \"$\" separates the parts", "use another"},
    {"[x, y]", "[x, \"\"]", 3, "the word \"\" is empty", "write another"},
    {"[x, y]", "[x, {y: 1}]", 3, "this entry is a map", "write one word"},
    {"[x, y]", "[]", 3, "inputs is empty", "add words"},
    {"tracks: 2", "tracks: 0", 2, "tracks is \"0\"", "a whole number in 1..16"},
    {"tracks: 2", "tracks: 17", 2, "tracks is \"17\"", "a whole number in 1..16"},
    {"tracks: 2", "tracks: two", 2, "tracks is \"two\"", "a whole number in 1..16"},
    {"tracks: 2", "tracks: 1", 8, "\"s0 x x\" must be a state and 1 input with", "single spaces"},
    {"tracks: 2", "tracks: 3", 8, "\"s0 x x\" must be a state and 3 inputs", "single spaces"},
    {"tracks: 2\ninputs: [x, y]", "tracks: 16\ninputs: [x, y, z]", 7,
     "2 states and 3 inputs on 16 tracks make more than 1000000 rules", "use fewer"},
    /* final, emit, keys */
    {", s1: odd", "", 16, "final has no entry for the state \"s1\"", "add it"},
    {"s1: odd", "s2: odd", 16, "final has \"s2\", which is not in states", "correct it"},
    {"s1: odd", "s1: $", 16, "the word \"$\" separates the parts", "use another"},
    {"s1: odd", "s1: [odd]", 16, "s1 is a list", "write one word"},
    {"{s0: even, s1: odd}", "even", 16, "final is a single value", "write {key: value, ..}"},
    {"emit: output", "emit: outputs", 6, "emit is \"outputs\"", "one of: output, state"},
    {"emit: output", "emits: output", 6, "no key \"emits\"", "did you mean \"emit\"?"},
    {"name: mine", "temperature: 1", 1, "no key \"temperature\"", "the keys are: name, tracks"},
    {"name: mine", "name: {}", 1, "name is a map", "write one word"},
    {"emit: output", "start: s0", 6, "\"start\" is said already in line 5", "keep one"},
    /* not a table at all */
    {"[s0, s1]", "[s0, s1", 5, "this is not YAML", "correct this line or one before it"},
    {"rules:\n", "rules: [\n", 9, "this is not YAML", "correct this line"},
    {machine_good, "- tracks\n", 1, "this entry is a list, but must be a map", "write {key"},
};

static void wrong_machine_tables_are_refused(void **state)
{
    (void)state;
    lg_task_free(open_table("machine", machine_good));
    for (size_t i = 0; i < sizeof machine_mistakes / sizeof *machine_mistakes; i++)
        refuse("machine", machine_good, &machine_mistakes[i], (const char *const[]){setting}, 1);
    lg_task_free(open_table("machine", silent_good));
    refuse("machine", silent_good,
           &(struct mistake){"emit: state", "emit: output", 5, "the rules have no outputs",
                             "write \"emit: state\""},
           (const char *const[]){setting}, 1);
    refuse("machine", silent_good,
           &(struct mistake){"emit: state\n", "", 1, "the rules have no outputs",
                             "write \"emit: state\""},
           (const char *const[]){setting}, 1);
    refuse("machine", silent_good,
           &(struct mistake){"emit: state", "emit: state", 5, "the rules have no outputs",
                             "leave out the setting emit=output"},
           (const char *const[]){setting, "emit=output"}, 2);
}

static void no_such_table(void **state)
{
    (void)state;
    static const struct {
        const char *task, *table, *says, *remedy;
        int code;
    } wrong[] = {
        {"planted", "table=/tmp", "/tmp cannot be read", "pair or lookup", LG_ERROR_SYSTEM},
        {"planted", "table=pear", "pear cannot be read", "pair or lookup", LG_ERROR_SYSTEM},
        {"planted", "table=", "cannot be read", "pair or lookup", LG_ERROR_SYSTEM},
        {"machine", "table=ad-10", "ad-10 cannot be read", "times-D or add-B", LG_ERROR_SYSTEM},
        {"machine", "table=add-x", "add-x cannot be read", "times-D or add-B", LG_ERROR_SYSTEM},
        {"machine", "table=add-1", "table is \"add-1\"", "an N in 2..16", LG_ERROR_ARGUMENT},
        {"machine", "table=add-17", "table is \"add-17\"", "an N in 2..16", LG_ERROR_ARGUMENT},
        {"machine", "table=times-10", "\"times-10\"", "an N in 0..9", LG_ERROR_ARGUMENT},
        {"machine", "table=count-1", "\"count-1\"", "an N in 2..100", LG_ERROR_ARGUMENT},
        {"machine", "tabel=add-2", "no setting \"tabel\"", "\"table\"", LG_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_error err = {0};
        assert_null(lg_task_new(wrong[i].task, &wrong[i].table, 1, &err));
        assert_int_equal(err.code, wrong[i].code);
        if (!strstr(err.text, wrong[i].says)) fail_msg("no \"%s\" in: %s", wrong[i].says, err.text);
        if (!strstr(err.text, wrong[i].remedy))
            fail_msg("no \"%s\" in: %s", wrong[i].remedy, err.text);
    }
}

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

#define PLANTED(k, positions)                                                                      \
    "k: " #k "\npositions: " positions "\nplanted: {A: 1}\nbackground: {a: 1, A: 1}\nlabel: {"

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
/* Only three tuples occur; a label for one that does not may stand there all the same. */
static const char joint_table[] = "k: 2\nplanted: {joint: {A A: 3, B A: 1, A B: 0.5}}\n"
                                  "background: {a: 1}\n"
                                  "label: {A A: AA, A B: AB, B A: BA, B B: BB}\n";

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

/* Whatever allocation fails: no task, that reason, nothing lost (the sanitizer sees). */
static void no_memory_is_told(void **state)
{
    (void)state;
    static const char *const tasks[] = {"planted", "planted", "planted", "machine"};
    char patterns[400];
    snprintf(patterns, sizeof patterns, "%s%s", PLANTED(2, "{patterns: [{offsets: [0, 3]}]}"),
             "A A: y}\n");
    const char *const tables[] = {planted_good, joint_table, patterns, machine_good};
    for (int i = 0; i < 4; i++) {
        int failures = 0;
        write_table(tables[i]);
        for (int n = 0;; n++) {
            lg_error err = {0};
            lg__alloc_fail_after(n);
            lg_task *t = lg_task_new(tasks[i], (const char *const[]){setting}, 1, &err);
            lg__alloc_fail_after(-1);
            lg_task_free(t);
            if (t) break;
            if (err.code != LG_ERROR_MEMORY) fail_msg("allocation %d: %s", n, err.text);
            failures++;
        }
        assert_true(failures > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_planted_tables_are_refused),
        cmocka_unit_test(wrong_machine_tables_are_refused),
        cmocka_unit_test(no_such_table),
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
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
