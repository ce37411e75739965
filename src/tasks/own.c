/* own.c: a task whose examples the user's program makes, by callbacks (lengthen_own.h): a row of its own, which
 * passes each hook on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks.h"

struct own_row {
    struct lg__task_row row; /* first: a task's row leads here */
    lg_own_task own;
    char level[LG_LEVELS][24];
};

static const lg_own_task *own_of(const struct lg_task *t)
{
    return &((const struct own_row *)(const void *)t->row)->own;
}

static int open_own(struct lg_task *t, lg_error *err)
{
    const struct own_row *row = (const void *)t->row;
    const lg_own_task *o = &row->own;
    for (int i = 0; i < o->vocab; i++) {
        int32_t token = lg__word(t, o->words[i], 0, err);
        if (token < 0) return LG_ERROR_MEMORY;
    }
    t->shape.stop = o->stop;
    t->shape.levels = o->levels;
    t->shape.needed = o->needed ? o->needed : o->levels;
    for (int l = 0; l < o->levels; l++) {
        t->shape.level[l] = o->level[l] ? o->level[l] : row->level[l];
        t->shape.reach[l] = o->reach[l];
    }
    if (o->length_most) {
        t->shape.length_least = o->length_least;
        t->shape.length_most = o->length_most;
    }
    return 0;
}

/* The library trusts its own tasks; what a callback made is checked. */
static int check_example(const lg_own_task *o, const lg_example *x, lg_error *err)
{
    if (x->n < 2 || x->answer < 1 || x->answer >= x->n)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "task %s made an example of %d tokens with its answer from token %d on; put a prompt "
            "of at least one token, then the answer",
            o->name, x->n, x->answer);
    for (int i = 0; i < x->n; i++) {
        if (x->tokens[i] < 0 || x->tokens[i] >= o->vocab)
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "task %s made token %d, and its vocabulary has the tokens 0 to %d; put one of "
                "these",
                o->name, x->tokens[i], o->vocab - 1);
        for (int l = 0; l < o->levels; l++)
            if (x->labels[l][i] < -1 && x->labels[l][i] != LG_ABSENT)
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "task %s made label %d; labels are -1 or more, or LG_ABSENT",
                                o->name, x->labels[l][i]);
    }
    return 0;
}

static int make_own(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                    lg_error *err)
{
    (void)sparsity;
    const lg_own_task *o = own_of(t);
    int e = o->make(o->context, r, length, x, err);
    return e ? e : check_example(o, x, err);
}

/* ---- Columns ---------------------------------------------------------------------------- */

static int next_own(const struct lg_task *t, int state, int input)
{
    int next = own_of(t)->next(own_of(t)->context, state, input);
    return next < own_of(t)->states ? next : -1;
}

static int ends_own(const struct lg_task *t, int state)
{
    const lg_own_task *o = own_of(t);
    return !o->ends || o->ends(o->context, state);
}

static int write_own(const struct lg_task *t, const int32_t *input, int n, lg_example *x,
                     lg_error *err)
{
    const lg_own_task *o = own_of(t);
    lg__example_begin(x, n, 0);
    int e = o->write(o->context, input, n, x, err);
    return e ? e : check_example(o, x, err);
}

static int columns_own(const struct lg_task *t, struct lg__columns *c, lg_error *err)
{
    (void)err;
    const lg_own_task *o = own_of(t);
    *c = (struct lg__columns){.states = o->states,
                              .start = o->start,
                              .inputs = o->inputs,
                              .next = next_own,
                              .ends = ends_own,
                              .write = write_own};
    return 0;
}

/* ---- Adding it -------------------------------------------------------------------------- */

static int check_words(const lg_own_task *o, lg_error *err)
{
    for (int i = 0; i < o->vocab; i++) {
        if (!o->words[i] || !*o->words[i] || strpbrk(o->words[i], " \t\n"))
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "task %s: word %d is empty or has a space; write each token as one word", o->name,
                i);
        for (int k = 0; k < i; k++)
            if (strcmp(o->words[i], o->words[k]) == 0)
                return lg__fail(
                    err, LG_ERROR_ARGUMENT,
                    "task %s: words %d and %d are both \"%s\"; write each token in its own way",
                    o->name, k, i, o->words[i]);
    }
    return 0;
}

static int check(const lg_own_task *o, lg_error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (!o->name || !*o->name || o->name[strspn(o->name, letters)])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a task is to be named \"%s\"; take letters, digits and dashes",
                        o->name ? o->name : "");
    if (lg_task_info_find(o->name))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is a task %s already; take another name, and add each once",
                        o->name);
    if (!o->make || !o->words || o->vocab < 2 || o->vocab > 1 << 20)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s needs make, words, and a vocab of 2 to 1048576", o->name);
    if (o->stop != LG_NONE && (o->stop < 0 || o->stop >= o->vocab))
        return lg__fail(err, LG_ERROR_ARGUMENT, "task %s: stop is %d; take a token, or LG_NONE",
                        o->name, o->stop);
    if (o->levels < 0 || o->levels > LG_LEVELS || o->needed < 0 || o->needed > o->levels)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "task %s: %d levels of which %d are needed; take 0 to %d, and no more needed", o->name,
            o->levels, o->needed, LG_LEVELS);
    if (o->length_most && (o->length_least < 1 || o->length_most < o->length_least))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s: lengths of %d to %d; take 1 or more, the longest last, or 0, 0",
                        o->name, o->length_least, o->length_most);
    if (o->next &&
        (!o->write || o->states < 1 || o->inputs < 1 || o->start < 0 || o->start >= o->states))
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "task %s has next, and so needs write, states and inputs of 1 or more, and a "
            "start below states",
            o->name);
    return check_words(o, err);
}

int lg_task_add(const lg_own_task *o, lg_error *err)
{
    int e = check(o, err);
    if (e) return e;
    struct own_row *row = lg__alloc(sizeof *row);
    if (!row)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for task %s; end other programs", o->name);
    row->own = *o;
    row->row = (struct lg__task_row){.info = {.name = o->name,
                                              .family = "own data",
                                              .line = o->line ? o->line : "",
                                              .text = o->text ? o->text : "",
                                              .unit = o->unit ? o->unit : "tokens"},
                                     .open = open_own,
                                     .make = make_own,
                                     .columns = o->next ? columns_own : NULL};
    for (int l = 0; l < LG_LEVELS; l++)
        snprintf(row->level[l], sizeof row->level[l], "level %d", l + 1);
    if (lg__task_row_add(&row->row)) {
        free(row);
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is no room for task %s: no more than 64 can be added; use one task "
                        "with a context",
                        o->name);
    }
    return 0;
}

int lg_example_put(lg_example *x, int32_t token, int answer, const int32_t *label, lg_error *err)
{
    int e = lg__example_room(x, x->n + 1, err);
    if (e) return e;
    int32_t none[LG_LEVELS] = {LG_ABSENT, LG_ABSENT, LG_ABSENT};
    if (!label) label = none;
    (answer ? lg__put_answer : lg__put)(x, token, label[0], label[1], label[2]);
    return 0;
}
