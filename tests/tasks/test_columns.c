/* test_columns.c: a task's columns give the texts that the task draws, all of them and no others:
 * every input of a few columns is written out, checked by the checkers of this folder, and compared
 * with what is drawn; inputs are in the order of generation, and the state of the machine decides
 * what is generated. And no example changed when tasks learned to write columns. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "check.h"
#include "tasks/tasks.h"

enum { MOST_COLUMNS = 6, MOST_STRINGS = 20000, SMALL = 100, LONG = 300 };

/* ---- Settings, one combination after the other ------------------------------------------- */

/* Sets m to combination `which` of settings as in "base=2,3 lengths=mixed,equal", the last one
 * fastest; 0: there are no more. Tables that end in .yaml are the checkers' own files. */
static int combination(const char *axes, int which, struct ck_made *m)
{
    const char *from[CK_SETTINGS];
    int n = 0;
    m->settings = 0;
    for (const char *s = axes; *s; s += strcspn(s, " "), s += *s == ' ') from[n++] = s;
    while (n--) {
        const char *value = strchr(from[n], '=') + 1, *end = value + strcspn(value, " ");
        int values = 1;
        for (const char *s = value; s < end; s++) values += *s == ',';
        for (int i = which % values; i; i--) value = strchr(value, ',') + 1;
        which /= values;
        int size = (int)strcspn(value, " ,"),
            yaml = size > 5 && !strncmp(value + size - 5, ".yaml", 5);
        char *text = m->text[m->settings];
        snprintf(text, sizeof m->text[0], "%.*s%s%s%.*s", (int)(strchr(from[n], '=') + 1 - from[n]),
                 from[n], yaml ? ck_folder() : "", yaml ? "/" : "", size, value);
        m->setting[m->settings++] = text;
    }
    return which == 0;
}

static const struct task_case {
    const char *task, *axes;
} cases[] = {
    {"parity-scratchpad", "scan=forward,backward"},
    {"addition", "base=2,3 operands=plain,reversed orientation=up,down lengths=mixed,equal"},
    {"addition", "base=10,16 lengths=mixed,equal"},
    {"subtraction",
     "base=2,3 operands=plain,reversed orientation=up,down lengths=mixed,equal wrap=no,yes"},
    {"subtraction", "base=10 lengths=mixed,equal wrap=no,yes"},
    {"multiplication", "base=2 multiplier=0,1 orientation=auto,up,down"},
    {"multiplication", "base=3 multiplier=0,1,2 orientation=auto,up,down"},
    {"multiplication", "base=10,16 multiplier=0,1,2,7,9 orientation=up,down"},
    {"multiplication", "base=16 multiplier=15"},
    {"copy", "alphabet=2,3,30"},
    {"reverse", "alphabet=2,3,30"},
    {"machine", "table=carry.yaml,borrow.yaml,vote.yaml,add-2,add-3,times-0,times-1,times-7 "
                "emit=auto,output,state"},
    {"machine", "table=toggle.yaml,count-2,count-3,count-7,comparison emit=auto,state"},
    {NULL, NULL},
};

/* A task with its columns. */
struct bench {
    const char *name;
    struct ck_made made;
    lg_task *t;
    struct lg__columns c;
};

static void every_case(void (*test)(struct bench *))
{
    for (const struct task_case *row = cases; row->task; row++) {
        struct bench b = {.name = row->task};
        for (int i = 0; combination(row->axes, i, &b.made); i++) {
            lg_error err = {0};
            b.t = ck_task_new(b.name, b.made.setting, b.made.settings);
            if (lg__task_columns(b.t, &b.c, &err)) fail_msg("%s: %s", b.name, err.text);
            test(&b);
            lg_task_free(b.t);
        }
    }
}

static void fault(const struct bench *b, const char *text, const char *wrong)
{
    print_error("%s", b->name);
    for (int i = 0; i < b->made.settings; i++) print_error(" %s", b->made.setting[i]);
    print_error("\n%.2000s\n", text);
    fail_msg("%s: %s", b->name, wrong);
}

/* ---- The machine ---------------------------------------------------------------------------- */

/* Every state is one that a text reaches (which a user's own table need not have), and from every
 * one some text comes to its end. */
static void machine_is_whole(struct bench *b)
{
    const struct lg__columns *c = &b->c;
    assert_in_range(c->start, 0, c->states - 1);
    unsigned char *seen = calloc((size_t)c->states, 1), *ending = calloc((size_t)c->states, 1);
    assert_non_null(seen);
    assert_non_null(ending);
    seen[c->start] = 1;
    for (int round = 0; round <= c->states; round++)
        for (int s = 0; s < c->states; s++)
            for (int i = 0; i < c->inputs; i++) {
                int next = c->next(b->t, s, i);
                if (next < -1 || next >= c->states) fault(b, "", "next leads out of the states");
                if (next < 0) continue;
                if (seen[s]) seen[next] = 1;
                if (ending[next] || c->ends(b->t, next)) ending[s] = 1;
            }
    for (int s = 0; s < c->states; s++) {
        if (!seen[s]) fault(b, "", "a state is never reached");
        if (!ending[s]) fault(b, "", "a state is a dead end");
    }
    free(seen);
    free(ending);
}

static void machines_are_whole(void **state)
{
    (void)state;
    every_case(machine_is_whole);
}

static int accepted(const struct bench *b, const int32_t *input, int n)
{
    int s = b->c.start;
    for (int i = 0; i < n && s >= 0; i++) s = b->c.next(b->t, s, input[i]);
    return s >= 0 && b->c.ends(b->t, s);
}

static void write_checked(const struct bench *b, const int32_t *input, int n, lg_example *x)
{
    lg_error err = {0};
    int most[LG_LEVELS] = {0};
    if (b->c.write(b->t, input, n, x, &err)) fault(b, "", err.text);
    char *text = ck_text_of(b->t, x);
    const char *wrong = ck_check(b->name, text, b->made.setting, b->made.settings);
    if (!wrong)
        wrong = ck_coupled(b->name, text, b->made.setting, b->made.settings,
                           lg_task_get_shape(b->t), x, most);
    if (wrong) fault(b, text, wrong);
    if (x->length != n) fault(b, text, "the length is another");
    free(text);
}

/* ---- The order of the columns --------------------------------------------------------------- */

enum { WORDS = 4 };

/* What the texts so far showed, which must never be another; words of 0: not yet seen. */
struct shown {
    int words;
    int32_t token[WORDS];
};

struct habits {
    struct shown *prompt; /* [first column or not][input]: the column's tokens */
    struct shown *answer; /* [state before][input]: what is generated for it */
    struct shown *tail;   /* [last state]: what is generated behind the last column */
};

static void agree(const struct bench *b, struct shown *as, const struct shown *now,
                  const char *wrong)
{
    if (!as->words) *as = *now;
    if (as->words != now->words || memcmp(as->token, now->token, sizeof as->token))
        fault(b, "", wrong);
}

static void show(struct shown *s, int32_t token)
{
    assert_true(s->words < WORDS);
    s->token[s->words++] = token;
}

/* The tokens from..to-1 that have this label. */
static struct shown labelled(const lg_example *x, int from, int to, int32_t label)
{
    struct shown s = {0};
    for (int i = from; i < to; i++)
        if (x->labels[0][i] == label) show(&s, x->tokens[i]);
    return s;
}

/* Step k generates tokens of one label; the prompt's tokens of this label are input k, and the
 * machine's state and this input alone decide what is generated. */
static void follow(const struct bench *b, struct habits *h, const int32_t *input, int n,
                   const lg_example *x)
{
    int state = b->c.start, at = x->answer, inputs = b->c.inputs;
    for (int k = 0; k < n; k++) {
        int32_t label = x->labels[0][at];
        struct shown column = labelled(x, 0, x->answer, label);
        struct shown answer = labelled(x, at, x->n, label);
        agree(b, &h->prompt[(k > 0) * inputs + input[k]], &column,
              "an input is not the prompt's tokens of its column");
        agree(b, &h->answer[state * inputs + input[k]], &answer,
              "state and input do not decide what is generated");
        at += answer.words;
        state = b->c.next(b->t, state, input[k]);
    }
    struct shown tail = {0};
    while (at < x->n) show(&tail, x->tokens[at++]);
    agree(b, &h->tail[state], &tail, "the last state does not decide how the text ends");
}

static void open_habits(const struct bench *b, struct habits *h)
{
    size_t states = (size_t)b->c.states, inputs = (size_t)b->c.inputs;
    h->prompt = calloc(2 * inputs, sizeof *h->prompt);
    h->answer = calloc(states * inputs, sizeof *h->answer);
    h->tail = calloc(states, sizeof *h->tail);
    assert_true(h->prompt && h->answer && h->tail);
}

static void close_habits(struct habits *h)
{
    free(h->prompt);
    free(h->answer);
    free(h->tail);
}

/* ---- Written and drawn ---------------------------------------------------------------------- */

/* All texts of a length, each as a row of numbers that starts with its tokens, in order. */
struct set {
    int count, tokens, width;
    int32_t *row;
    int *drawn;
};

/* Everything that there is to an example. */
static void row_of(const struct bench *b, const lg_example *x, int32_t *row)
{
    size_t n = (size_t)x->n;
    int levels = lg_task_get_shape(b->t)->levels;
    memcpy(row, x->tokens, n * sizeof *row);
    row += n;
    for (int l = 0; l < levels; l++, row += n) memcpy(row, x->labels[l], n * sizeof *row);
    for (int i = 0; i < x->n; i++) *row++ = x->loss[i];
    int32_t last[] = {x->n, x->answer, x->length, x->sparsity};
    memcpy(row, last, sizeof last);
}

static int compared; /* numbers of a row; the tests run one after the other */
static int compare(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    int i = 0;
    while (i < compared - 1 && x[i] == y[i]) i++;
    return (x[i] > y[i]) - (x[i] < y[i]);
}

static void sort_set(const struct bench *b, struct set *s)
{
    compared = s->width;
    qsort(s->row, (size_t)s->count, (size_t)s->width * sizeof *s->row, compare);
    compared = s->tokens;
    for (int i = 1; i < s->count; i++) {
        const int32_t *row = s->row + (size_t)i * (size_t)s->width;
        if (!compare(row - s->width, row)) fault(b, "", "two inputs are written alike");
    }
    compared = s->width;
}

static void write_all(const struct bench *b, struct habits *h, int n, int strings, struct set *s)
{
    lg_example x;
    lg_example_init(&x);
    *s = (struct set){0};
    for (int k = 0; k < strings; k++) {
        int32_t input[MOST_COLUMNS];
        for (int i = 0, rest = k; i < n; i++, rest /= b->c.inputs) input[i] = rest % b->c.inputs;
        if (!accepted(b, input, n)) continue;
        write_checked(b, input, n, &x);
        follow(b, h, input, n, &x);
        if (!s->count) {
            s->tokens = x.n;
            s->width = x.n * (2 + lg_task_get_shape(b->t)->levels) + 4;
            s->row = malloc((size_t)strings * (size_t)s->width * sizeof *s->row);
            assert_non_null(s->row);
        }
        if (x.n != s->tokens) fault(b, "", "texts of one length have not one number of tokens");
        row_of(b, &x, s->row + (size_t)s->count++ * (size_t)s->width);
    }
    if (!s->count) fault(b, "", "no text has this length");
    sort_set(b, s);
    s->drawn = calloc((size_t)s->count, sizeof *s->drawn);
    assert_non_null(s->drawn);
    lg_example_clear(&x);
}

/* Each drawn example is in the set; of a small set all are drawn. */
static void draw_many(const struct bench *b, int n, struct set *s)
{
    int draws = s->count <= SMALL ? 20000 : 2000;
    lg_example x;
    lg_example_init(&x);
    int32_t *row = malloc((size_t)s->width * sizeof *row);
    assert_non_null(row);
    for (int i = 0; i < draws; i++) {
        lg_draw d = {.seed = 11, .stream = 3, .index = (uint64_t)i, .length_lo = n, .length_hi = n};
        ck_example(b->t, &d, &x);
        char *text = ck_text_of(b->t, &x);
        if (x.n != s->tokens) fault(b, text, "it has not as many tokens as those written");
        row_of(b, &x, row);
        const int32_t *found =
            bsearch(row, s->row, (size_t)s->count, (size_t)s->width * sizeof *row, compare);
        if (!found) fault(b, text, "it is drawn, but its columns are not accepted");
        s->drawn[(found - s->row) / s->width]++;
        free(text);
    }
    for (int i = 0; s->count <= SMALL && i < s->count; i++)
        if (!s->drawn[i]) fault(b, "", "a text is written, but never drawn");
    free(row);
    lg_example_clear(&x);
}

static void written_is_drawn(struct bench *b)
{
    struct habits h;
    int64_t strings = 1;
    open_habits(b, &h);
    for (int n = 1; n <= MOST_COLUMNS; n++) {
        struct set s;
        strings *= b->c.inputs;
        if (strings > MOST_STRINGS) break;
        write_all(b, &h, n, (int)strings, &s);
        draw_many(b, n, &s);
        free(s.row);
        free(s.drawn);
    }
    close_habits(&h);
}

static void what_is_written_is_drawn(void **state)
{
    (void)state;
    every_case(written_is_drawn);
}

/* A random text of many columns is as right as a short one. */
static void long_one(struct bench *b)
{
    int32_t input[LONG];
    lg_rng r;
    lg_example x;
    lg_example_init(&x);
    for (int k = 0; k < 5; k++) {
        lg_rng_init(&r, 12, 1, (uint64_t)k);
        do
            for (int i = 0; i < LONG; i++)
                input[i] = (int32_t)lg_rng_below(&r, (uint32_t)b->c.inputs);
        while (!accepted(b, input, LONG));
        write_checked(b, input, LONG, &x);
    }
    lg_example_clear(&x);
}

static void long_ones_are_right(void **state)
{
    (void)state;
    every_case(long_one);
}

static void without_memory(struct bench *b)
{
    int32_t input[LONG] = {0};
    lg_example x;
    lg_error err = {0};
    lg_example_init(&x);
    lg__alloc_fail_after(0);
    int e = b->c.write(b->t, input, LONG, &x, &err);
    lg__alloc_fail_after(-1);
    assert_int_equal(e, LG_ERROR_MEMORY);
    assert_true(err.text[0]);
    lg_example_clear(&x);
}

static void missing_memory_is_said(void **state)
{
    (void)state;
    every_case(without_memory);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void what_has_no_columns_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *task, *axes, *why, *remedy;
    } refused[] = {
        {"parity", "", "task parity is not known",
         "parity-scratchpad, addition, subtraction, multiplication, copy, reverse, machine"},
        {"majority", "", "task majority is not known", "parity-scratchpad, addition, "},
        {"sort", "", "task sort is not known", "parity-scratchpad, addition, "},
        {"addition", "answer=plain", "answer is plain, so that its first digit depends on all",
         "say answer=reversed"},
        {"addition", "padded=no", "padded is no, so that which digits a column has depends on all",
         "say padded=yes"},
        {"addition", "hints=9", "hints is 9, and hints name places", "say hints=0"},
        {"addition", "carry=hard", "carry is hard, whose texts are all among those of carry=random",
         "with lengths=mixed; say these two"},
        {"subtraction", "answer=plain wrap=no,yes", "task subtraction: answer is plain, so that",
         "say answer=reversed"},
        {"subtraction", "padded=no wrap=no,yes", "task subtraction: padded is no, so that",
         "say padded=yes"},
        {"subtraction", "hints=12 wrap=no,yes", "task subtraction: hints is 12", "say hints=0"},
        {"multiplication", "orientation=up,down",
         "multiplier is any, so that every column needs the digits of B", "as in multiplier=7"},
        {"multiplication", "scratchpad=yes multiplier=any,7",
         "scratchpad is yes, so that the answer passes the columns more than once",
         "say scratchpad=no"},
        {"copy", "kind=unique", "task copy: kind is unique, so that a letter depends on all before",
         "its texts are among those of kind=random: say that"},
        {"copy", "hints=5", "task copy: hints is 5, and hints name places", "say hints=0"},
        {"reverse", "kind=unique", "task reverse: kind is unique", "kind=random: say that"},
        {"reverse", "hints=5", "task reverse: hints is 5", "say hints=0"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct ck_made m;
        for (int i = 0; combination(refused[k].axes, i, &m); i++) {
            struct lg__columns c;
            lg_error err = {0};
            lg_task *t = ck_task_new(refused[k].task, m.setting, m.settings);
            assert_int_equal(lg__task_columns(t, &c, &err), LG_ERROR_ARGUMENT);
            if (!strstr(err.text, refused[k].why) || !strstr(err.text, refused[k].remedy))
                fail_msg("%s %s: %s", refused[k].task, refused[k].axes, err.text);
            lg_task_free(t);
        }
    }
}

/* ---- The same examples as ever --------------------------------------------------------------- */

#define SUMS "operands=plain,reversed answer=reversed,plain padded=yes,no orientation=up,down "

/* The hash of 200 examples of each of the lengths below, all combinations together, as they were
 * before tasks had columns. */
static const struct {
    const char *task, *axes;
    int sparsity; /* 1 to this; 0: the task's own */
    uint64_t hash;
} before[] = {
    {"parity", "", 0, 0x5eb6c8ed126e46f5u},
    {"parity-scratchpad", "scan=forward,backward", 0, 0x96f9517774df31edu},
    {"addition", "base=2,10 " SUMS "lengths=mixed,equal hints=0,40", 0, 0x3e004d5e48c84f1u},
    {"addition", "base=2,3,16 " SUMS "hints=0,40 carry=hard", 0, 0xccb0f6a961ad2a85u},
    {"subtraction", "base=2,10 " SUMS "lengths=mixed,equal hints=0,40 wrap=no", 0,
     0xac1899a877eba8e5u},
    {"subtraction", "base=2,10 " SUMS "lengths=mixed,equal hints=0,40 wrap=yes", 0,
     0xcfc51039e9235e7du},
    {"multiplication", "base=8,16 multiplier=any,0,7 orientation=auto,up,down", 1,
     0x53cf461ecc1613adu},
    {"multiplication", "base=2,10 orientation=up,down", 4, 0xc9387805391d9581u},
    {"multiplication", "base=2,10 scratchpad=yes orientation=auto,up", 4, 0xfc3c59cf056b199u},
    {"copy", "alphabet=3,40 kind=random,unique hints=0,50", 0, 0x6974da0af89d1ee5u},
    {"reverse", "alphabet=3,40 kind=random,unique hints=0,50", 0, 0x20c68f2dba5f4ec5u},
    {"machine", "table=carry.yaml,vote.yaml,add-2,add-10,times-0,times-7 emit=auto,output,state", 0,
     0xac54d829934d4ee4u},
    {"machine", "table=toggle.yaml,count-2,count-7,comparison emit=auto,state", 0,
     0x19a8fe5cce7163e1u},
    {"sparse-parity", "", 0, 0xf3102b7f35ff7962u},
    {"sparse-parity-scratchpad", "", 0, 0xe936fc6a7c4f4e14u},
    {"variable-assignment", "", 0, 0x337634248b441a94u},
    {"retrieval", "", 0, 0xefeb03f09996a375u},
    {"planted", "", 0, 0x1364acc45c263faeu},
    {"multi-addition", "", 0, 0x1ff1dcc47d59d75au},
    {"sort", "", 0, 0x83eed107cb0d5095u},
    {"majority", "", 0, 0x49ed609ce7cd3da9u},
    {"flip-flop", "", 0, 0x84df0f6cf3aaa261u},
};

static void add_to(uint64_t *hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) *hash = (*hash ^ byte[i]) * 0x100000001b3u;
}

static void add_numbers(uint64_t *hash, const int32_t *number, int n)
{
    add_to(hash, number, (size_t)n * sizeof *number);
}

static void add_example(uint64_t *hash, const lg_example *x, int levels)
{
    const int32_t size[] = {x->n, x->answer, x->length, x->sparsity};
    add_numbers(hash, size, 4);
    add_numbers(hash, x->tokens, x->n);
    for (int l = 0; l < levels; l++) add_numbers(hash, x->labels[l], x->n);
    add_to(hash, x->loss, (size_t)x->n);
}

static void examples_are_the_same(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 5, 33};
    lg_example x;
    lg_example_init(&x);
    for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
        uint64_t hash = 0xcbf29ce484222325u;
        struct ck_made m;
        for (int c = 0; combination(before[k].axes, c, &m); c++) {
            lg_task *t = ck_task_new(before[k].task, m.setting, m.settings);
            const lg_task_shape *s = lg_task_get_shape(t);
            for (int i = 0; i < 800; i++) {
                int n = lengths[i / 200], sparsity = before[k].sparsity;
                if (n < s->length_least || n > s->length_most) continue;
                lg_draw d = {.seed = 1, .stream = 2, .index = (uint64_t)i % 200};
                d.length_lo = d.length_hi = n;
                d.sparsity_lo = sparsity > 0;
                d.sparsity_hi = sparsity;
                ck_example(t, &d, &x);
                add_example(&hash, &x, s->levels);
            }
            lg_task_free(t);
        }
        if (hash != before[k].hash)
            fail_msg("%s %s has other examples: 0x%" PRIx64, before[k].task, before[k].axes, hash);
    }
    lg_example_clear(&x);
}

static int clean(void **state)
{
    (void)state;
    ck_folder_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_whole),
        cmocka_unit_test(what_is_written_is_drawn),
        cmocka_unit_test(long_ones_are_right),
        cmocka_unit_test(missing_memory_is_said),
        cmocka_unit_test(what_has_no_columns_is_refused),
        cmocka_unit_test(examples_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
