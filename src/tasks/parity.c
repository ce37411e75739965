/* parity.c: the XOR of all bits: at once, and with the running parities written out. */
#include "tasks.h"

enum { ZERO, ONE, EQUALS, STOP };

static int open_parity(struct lg_task *t, lg_error *err)
{
    if (lg__word_digits(t, 2, err) || lg__word(t, "=", 0, err) < 0) return LG_ERROR_MEMORY;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "column";
    t->shape.reach[0] = 1;
    return 0;
}

static int make_parity(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                       lg_error *err)
{
    (void)t, (void)sparsity;
    int e = lg__example_room(x, length + 2, err), parity = 0;
    if (e) return e;
    for (int i = 0; i < length; i++) {
        int bit = (int)lg_rng_below(r, 2);
        parity ^= bit;
        lg__put(x, bit, 0, LG_ABSENT, LG_ABSENT);
    }
    lg__put(x, EQUALS, 1, LG_ABSENT, LG_ABSENT);
    lg__put_answer(x, parity, 0, LG_ABSENT, LG_ABSENT);
    return 0;
}

const struct lg__task_row lg__task_parity = {
    .info = {.name = "parity",
             .unit = "bits",
             .family = "paper",
             .line = "the XOR of all bits, in one step",
             .text = "  b1 .. bn = p\n\n"
                     "n uniform bits, then their XOR p, predicted at the '='.\n"
                     "Coupling, one level: every bit has label 0, '=' 1, p 0.\n"},
    .open = open_parity,
    .make = make_parity,
};

static const lg_setting scratchpad_settings[] = {
    {"scan", "forward|backward", "forward", "from the first bit to the last, or back"},
    {0},
};

static int open_scratchpad(struct lg_task *t, lg_error *err)
{
    if (open_parity(t, err) || lg__word(t, "$", 0, err) < 0) return LG_ERROR_MEMORY;
    t->shape.stop = STOP;
    return 0;
}

static int is_backward(const struct lg_task *t) { return t->value[0].i == 1; }

/* The bits are in x->tokens already, and the room for all is there. */
static void write_scratchpad(const struct lg_task *t, int length, lg_example *x)
{
    int backward = is_backward(t), parity = 0;
    int first = backward ? 0 : 1; /* label of the first bit */
    for (int i = 0; i < length; i++) lg__put(x, x->tokens[i], first + i, LG_ABSENT, LG_ABSENT);
    lg__put(x, EQUALS, backward ? length : 0, LG_ABSENT, LG_ABSENT);
    for (int i = 0; i < length; i++) {
        int at = backward ? length - 1 - i : i;
        parity ^= x->tokens[at];
        lg__put_answer(x, parity, first + at, LG_ABSENT, LG_ABSENT);
    }
    lg__put_answer(x, STOP, backward ? -1 : length + 1, LG_ABSENT, LG_ABSENT);
}

static int make_scratchpad(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                           lg_example *x, lg_error *err)
{
    (void)sparsity;
    int e = lg__example_room(x, 2 * length + 2, err);
    if (e) return e;
    for (int i = 0; i < length; i++) x->tokens[i] = (int32_t)lg_rng_below(r, 2);
    write_scratchpad(t, length, x);
    return 0;
}

/* The state is the parity so far. */
static int next_parity(const struct lg_task *t, int state, int bit)
{
    (void)t;
    return state ^ bit;
}

static int write_columns(const struct lg_task *t, const int32_t *bit, int n, lg_example *x,
                         lg_error *err)
{
    int e = lg__example_room(x, 2 * n + 2, err);
    if (e) return e;
    lg__example_begin(x, n, 0);
    for (int i = 0; i < n; i++) x->tokens[is_backward(t) ? n - 1 - i : i] = bit[i];
    write_scratchpad(t, n, x);
    return 0;
}

static int columns_scratchpad(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    (void)t, (void)err;
    *c = (struct lg__columns){
        .states = 2,
        .inputs = 2,
        .next = next_parity,
        .ends = lg__columns_end_anywhere,
        .write = write_columns,
    };
    return 0;
}

const struct lg__task_row lg__task_parity_scratchpad = {
    .info = {.name = "parity-scratchpad",
             .family = "paper",
             .line = "the XOR of all bits, with the running parities written out",
             .text = "  b1 .. bn = r1 .. rn $\n"
                     "\n"
                     "n uniform bits; ri is the XOR of b1..bi, so that rn is the parity.\n"
                     "scan=backward starts at the end: r1 is bn, rn is the parity.\n"
                     "Coupling, one level: '=' has label 0, bi and ri have i, '$' n+1;\n"
                     "backward: bi has i-1, '=' n, the ri count down from n-1 to 0, '$' -1.\n",
             .unit = "bits",
             .settings = scratchpad_settings},
    .open = open_scratchpad,
    .make = make_scratchpad,
    .columns = columns_scratchpad,
};
