/* test_tables_refused.c: the tables that a user writes, for planted and machine, with a mistake:
 * each is refused with FILE:LINE, the value and the remedy, and so is a table without memory.
 * Without it a table with a mistake would train something else than was meant. */
#include <string.h>

#include "base/memory.h"
#include "tables.h"

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
    {uniform_line, "positions: {patterns: [{offsets: [0, 1], wieght: 1}]}", 3, "no key \"wieght\"",
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
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
