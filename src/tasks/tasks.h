/* tasks.h: the interface that a task fills in. One file a family, one row of table.c each. A
 * task knows tokens and labels; of IDs and networks it knows nothing. */
#ifndef LG_TASKS_H
#define LG_TASKS_H

#include "base/settings.h"
#include "lengthen.h"

enum { LG__MOST_SETTINGS = 16 };

/* A task whose answer a finite machine writes, column by column in the order of generation. The
 * texts of n columns are those that write gives for the n inputs that next accepts one after the
 * other, from start on, to a state where a text may end: all that make can draw, and no others. */
struct lg__columns {
    int states, start;
    int inputs; /* a column's input is 0..inputs-1: all of its prompt tokens as one number */
    /* The state after reading `input` in `state`; -1: no text goes on like this. */
    int (*next)(const struct lg_task *t, int state, int input);
    /* Whether a text may end here, after 1 or more columns. */
    int (*ends)(const struct lg_task *t, int state);
    /* Writes the example whose n columns (no more than the task's longest length), in the order of
     * generation, have these inputs. */
    int (*write)(const struct lg_task *t, const int32_t *input, int n, lg_example *x,
                 lg_error *err);
};

struct lg__task_row {
    lg_task_info info;
    /* Whether the name goes on, as in jsonl:FILE; the rest is t->argument. */
    enum { LG__ARGUMENT_NONE, LG__ARGUMENT_MUST, LG__ARGUMENT_MAY } argument;
    int executes; /* 1: opening it runs a command that its name has */
    /* How runs of it are measured: "losses"; NULL: "answers". */
    const char *form;
    /* Reads t->value, fills t->shape and, if it needs more, t->own. What it allocates it frees in
     * close, which is called after a failed open too. */
    int (*open)(struct lg_task *t, lg_error *err);
    void (*close)(struct lg_task *t); /* NULL: nothing to free but words and own */
    /* One example of this length and sparsity, both within the shape's ranges, into x (which is
     * empty, and has length and sparsity set already). All randomness comes from r. */
    int (*make)(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                lg_error *err);
    /* Sparsities that a length allows: cuts *least..*most; NULL: as in the shape. */
    void (*allow)(const struct lg_task *t, int length, int *least, int *most);
    /* Own data, in place of make: the example of this draw. */
    int (*fetch)(struct lg_task *t, const lg_draw *d, lg_example *x, lg_error *err);
    /* Own data: lg__task_count; NULL: there is no end of them. */
    int (*count)(const struct lg_task *t, const lg_draw *d);
    int64_t (*line)(const struct lg_task *t, const lg_draw *d); /* and lg__task_line */
    /* Own data with a count: lg__task_overlap of two tasks of this row. */
    int (*overlap)(const struct lg_task *t, const struct lg_task *trained, const lg_draw *d);
    /* The columns of the task with these settings; NULL: it has none. Refused with the reason where
     * the settings make it something that no finite machine writes in this order. */
    int (*columns)(const struct lg_task *t, struct lg__columns *c, lg_error *err);
    int keyed; /* 1: its IDs are found by keys, and it says which one is asked for */
};

/* Writes labels in place of the task's own (coupling/coupling.h). One block of memory. */
struct lg__labeller {
    int (*label)(const struct lg__labeller *l, lg_example *x, lg_error *err);
    struct lg__labeller *(*copy)(const struct lg__labeller *l); /* NULL: no memory */
    char level[LG_LEVELS][24];                                  /* names */
};

struct lg_task {
    const struct lg__task_row *row;
    const char *argument;
    char **setting; /* the caller's settings, copied: value[].text points into them */
    int settings;
    struct lg__value value[LG__MOST_SETTINGS]; /* of row->info.settings, in their order */
    lg_task_shape shape;
    int default_sparsity_lo, default_sparsity_hi; /* when a draw says 0, 0; set by open */
    char **words;                                 /* shape.words; made by lg__word */
    unsigned char *digit;
    int words_room;
    void *own;                     /* freed with free() */
    const struct lg_task *like;    /* while it is opened: as for lg__task_new_like */
    struct lg__labeller *labeller; /* or NULL; freed with free() */
};

/* lg_task_new, for a model that was trained on `like` (NULL: none was). A model knows words by their
 * numbers: where they are the user's own, as in a file of test examples, they get those that they have
 * there, and one that is not there is refused. Labels by a rule are taken over, too. */
lg_task *lg__task_new_like(const char *name, const char *const *settings, int count,
                           const lg_task *like, lg_error *err);

/* table.c: the i-th of all tasks; NULL: there are no more. */
const struct lg__task_row *lg__task_row_at(int i);
/* Adds one that needs more than this room has, or is the user's own; adding it again does nothing. -1: there is no
 * room, which is for 64. */
int lg__task_row_add(const struct lg__task_row *row);

/* How many examples there are in the draw's ranges, each of which draws 0, 1, .. give once before any
 * comes again; 0: there is no end of them, or there is none. */
int lg__task_count(const lg_task *t, const lg_draw *d);
/* The number of the line that a draw gives, in its file, from 1; 0 of tasks without lines. */
int64_t lg__task_line(const lg_task *t, const lg_draw *d);
/* Whether its examples are lines that can be counted. */
int lg__task_has_lines(const lg_task *t);
/* How many lines of a task are among those of another one that are in this draw; 0 of tasks without lines. */
int lg__task_overlap(const lg_task *t, const lg_task *trained, const lg_draw *d);

/* How runs of the task of this name are measured: "answers", "losses". */
const char *lg__task_form(const char *name);
/* Whether opening the task of this name executes a command. */
int lg__task_executes(const char *name);
/* FILE of a name whose task is the lines of a file, as in jsonl:FILE; else NULL. */
const char *lg__task_file(const char *name);
/* Refuses a name whose task, whatever its settings, has no columns; nothing is opened. */
int lg__task_may_have_columns(const char *name, lg_error *err);

/* Whether texts of this length can have this sparsity: of some tasks it is at most the length. */
int lg__task_has_cell(const char *name, int length, int sparsity);

/* The task's columns; refused for a task that has none, naming those that have. */
int lg__task_columns(const lg_task *t, struct lg__columns *c, lg_error *err);
/* Texts of tasks whose IDs are found by keys, of n entries, the first of which is asked for: keys and values
 * by their numbers; statements by their names, right sides (a statement, or -1 - constant) and the order in
 * which they stand; pairs, 2 marked + bit. Sparse parity: with the walk written out. */
int lg__retrieval_write(const struct lg_task *t, const int64_t *key, const int64_t *value, int n,
                        lg_example *x, lg_error *err);
int lg__assignment_write(const struct lg_task *t, const int64_t *name, const int32_t *right,
                         const int32_t *order, int n, lg_example *x, lg_error *err);
int lg__walk_write(const unsigned char *pair, int n, lg_example *x, lg_error *err);
/* Refuses hints, which columns cannot have. */
int lg__columns_no_hints(const struct lg_task *t, int hints, lg_error *err);
/* For lg__columns.ends, where a text may end in every state. */
int lg__columns_end_anywhere(const struct lg_task *t, int state);

/* Adds a word to the vocabulary, or finds it there: its token, or -1 without memory (then *err is
 * set). */
int32_t lg__word(struct lg_task *t, const char *word, int digit, lg_error *err);
/* The digits of a base, "0" to "F", as tokens 0..base-1; call it first. */
int lg__word_digits(struct lg_task *t, int base, lg_error *err);
/* The words prefix0 .. prefix(count-1). */
int lg__word_numbered(struct lg_task *t, const char *prefix, int count, lg_error *err);
/* The words a, b, .. or, if they are over 26, w0, w1, .. */
int lg__word_letters(struct lg_task *t, int count, lg_error *err);

/* n different sequences of `width` numbers below base, each choice and order equally likely:
 * sequence i goes to out[i * stride] and on. scratch has room for 2n numbers; base^width >= n. */
void lg__distinct(int32_t *out, int stride, int n, int width, int base, int32_t *scratch,
                  lg_rng *r);
/* The number of a key of `width` words, the first of which is `first`: exact below 2^31 - 1. */
int32_t lg__key_code(const int32_t *words, int width, int32_t first, int base);
/* Its words, from 0. */
void lg__key_words(int64_t code, int32_t *words, int width, int base);
/* base^width, or something above 2^30 if it is more than that. */
int64_t lg__distinct_count(int base, int width);

/* Empties the example and says of which length and sparsity it will be. */
static inline void lg__example_begin(lg_example *x, int length, int sparsity)
{
    x->n = x->answer = 0;
    x->length = length;
    x->sparsity = sparsity;
}

/* An example of these tokens, without labels: all but the first are to be predicted. */
int lg__example_fill(lg_example *x, const int32_t *tokens, int n, lg_error *err);

/* Makes room for n tokens in all, so that lg__put cannot fail. */
int lg__example_room(lg_example *x, int n, lg_error *err);

/* Appends a token of the prompt (level l's label: l1, l2, l3; LG_ABSENT: none). */
static inline void lg__put(lg_example *x, int32_t token, int32_t l1, int32_t l2, int32_t l3)
{
    int t = x->n++;
    x->tokens[t] = token;
    x->labels[0][t] = l1;
    x->labels[1][t] = l2;
    x->labels[2][t] = l3;
    x->loss[t] = 0;
    x->codes[t] = LG_NONE;
}

/* Appends a token of the answer: one that is generated and has a loss. */
static inline void lg__put_answer(lg_example *x, int32_t token, int32_t l1, int32_t l2, int32_t l3)
{
    if (!x->answer) x->answer = x->n;
    lg__put(x, token, l1, l2, l3);
    x->loss[x->n - 1] = 1;
}

#endif
