/* task.c: what all tasks share: finding one by name, its settings and vocabulary, drawing a
 * length and a sparsity, and the example's arrays. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks.h"

int lg_task_count(void)
{
    int n = 0;
    while (lg__task_row_at(n)) n++;
    return n;
}

const lg_task_info *lg_task_info_at(int i) { return &lg__task_row_at(i)->info; }

/* The row of "name" or, where a row takes an argument, of "name:argument". */
static const struct lg__task_row *find(const char *name, const char **argument)
{
    size_t n = strcspn(name, ":");
    const struct lg__task_row *row;
    for (int i = 0; (row = lg__task_row_at(i)); i++) {
        if (strlen(row->info.name) != n || strncmp(row->info.name, name, n) != 0) continue;
        if (name[n] && !row->argument) return NULL;
        *argument = name[n] ? name + n + 1 : "";
        return row;
    }
    return NULL;
}

const lg_task_info *lg_task_info_find(const char *name)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    return row ? &row->info : NULL;
}

static int unknown(const char *name, lg_error *err)
{
    const char *names[64];
    int n = 0;
    for (; lg__task_row_at(n) && n < 64; n++) names[n] = lg__task_row_at(n)->info.name;
    int near = lg_nearest(name, names, n);
    if (near >= 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is no task \"%s\"; did you mean \"%s\"? `lengthen tasks` lists them",
                        name, names[near]);
    return lg__fail(err, LG_ERROR_ARGUMENT, "there is no task \"%s\"; `lengthen tasks` lists them",
                    name);
}

/* Copies the name's argument and the settings, since values point into them. */
static int copy_words(struct lg_task *t, const char *argument, const char *const *settings,
                      int count)
{
    t->setting = lg__alloc(((size_t)count + 1) * sizeof *t->setting);
    if (!t->setting) return 1;
    for (; t->settings <= count; t->settings++) {
        const char *from = t->settings < count ? settings[t->settings] : argument;
        char *to = lg__alloc(strlen(from) + 1);
        if (!to) return 1;
        strcpy(to, from);
        t->setting[t->settings] = to;
    }
    t->argument = t->setting[count];
    return 0;
}

lg_task *lg_task_new(const char *name, const char *const *settings, int count, lg_error *err)
{
    return lg__task_new_like(name, settings, count, NULL, err);
}

/* The labels of a task that has a rule for them. */
static int take_labels(struct lg_task *t, const struct lg_task *like, lg_error *err)
{
    if (!like || !like->labeller) return 0;
    t->labeller = like->labeller->copy(like->labeller);
    if (!t->labeller)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for a task; end other programs");
    t->shape.levels = like->shape.levels;
    t->shape.needed = like->shape.needed;
    for (int l = 0; l < LG_LEVELS; l++) {
        t->shape.level[l] = t->labeller->level[l];
        t->shape.reach[l] = like->shape.reach[l];
    }
    return 0;
}

lg_task *lg__task_new_like(const char *name, const char *const *settings, int count,
                           const lg_task *like, lg_error *err)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    if (!row) {
        unknown(name, err);
        return NULL;
    }
    struct lg_task *t = lg__alloc(sizeof *t);
    if (!t || copy_words(t, argument, settings, count)) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for task %s; end other programs", name);
        lg_task_free(t);
        return NULL;
    }
    char who[80];
    snprintf(who, sizeof who, "task %s", row->info.name);
    t->row = row;
    t->like = like;
    t->shape.info = &row->info;
    t->shape.stop = LG_NONE;
    t->shape.length_least = 1;
    t->shape.length_most = 1 << 20;
    if (row->argument == LG__ARGUMENT_MUST && !*argument) {
        lg__fail(err, LG_ERROR_ARGUMENT, "%s needs to know what to read: write %s:%s", who,
                 row->info.name, row->executes ? "COMMAND" : "FILE");
    } else if (!lg__settings_read(t->value, LG__MOST_SETTINGS, row->info.settings,
                                  (const char *const *)t->setting, count, who, err) &&
               !row->open(t, err) && !take_labels(t, like, err)) {
        t->shape.words = (const char *const *)t->words;
        t->shape.digit = t->digit;
        t->like = NULL;
        return t;
    }
    lg_task_free(t);
    return NULL;
}

void lg_task_free(lg_task *t)
{
    if (!t) return;
    if (t->row && t->row->close) t->row->close(t);
    for (int i = 0; i < t->settings; i++) free(t->setting[i]);
    for (int i = 0; i < t->shape.vocab; i++) free(t->words[i]);
    free(t->setting);
    free(t->words);
    free(t->digit);
    free(t->labeller);
    free(t->own);
    free(t);
}

const lg_task_shape *lg_task_get_shape(const lg_task *t) { return &t->shape; }

/* ---- Vocabulary ------------------------------------------------------------------------ */

int32_t lg__word(struct lg_task *t, const char *word, int digit, lg_error *err)
{
    int n = t->shape.vocab;
    for (int i = 0; n <= 64 && i < n; i++)
        if (strcmp(t->words[i], word) == 0) return i;
    if (n == t->words_room) {
        size_t room = n ? 2 * (size_t)n : 32;
        struct lg__block words = {t->words, (size_t)n * sizeof *t->words};
        struct lg__block digits = {t->digit, (size_t)n};
        if (lg__block_grow(&words, room * sizeof *t->words, 1, "a vocabulary", err)) return -1;
        t->words = words.data;
        if (lg__block_grow(&digits, room, 1, "a vocabulary", err)) return -1;
        t->digit = digits.data;
        t->words_room = (int)room;
    }
    char *copy = lg__alloc(strlen(word) + 1);
    if (!copy) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a vocabulary; end other programs");
        return -1;
    }
    strcpy(copy, word);
    t->words[n] = copy;
    t->digit[n] = (unsigned char)digit;
    t->shape.vocab++;
    return n;
}

int lg__word_digits(struct lg_task *t, int base, lg_error *err)
{
    for (int i = 0; i < base; i++) {
        char word[2] = {"0123456789ABCDEF"[i], 0};
        if (lg__word(t, word, 1, err) < 0) return LG_ERROR_MEMORY;
    }
    return 0;
}

int lg__word_numbered(struct lg_task *t, const char *prefix, int count, lg_error *err)
{
    for (int i = 0; i < count; i++) {
        char word[32];
        snprintf(word, sizeof word, "%s%d", prefix, i);
        if (lg__word(t, word, 0, err) < 0) return LG_ERROR_MEMORY;
    }
    return 0;
}

int lg__word_letters(struct lg_task *t, int count, lg_error *err)
{
    if (count > 26) return lg__word_numbered(t, "w", count, err);
    for (int i = 0; i < count; i++) {
        char word[2] = {"abcdefghijklmnopqrstuvwxyz"[i], 0};
        if (lg__word(t, word, 0, err) < 0) return LG_ERROR_MEMORY;
    }
    return 0;
}

/* ---- Examples --------------------------------------------------------------------------- */

void lg_example_init(lg_example *x) { *x = (lg_example){0}; }

void lg_example_clear(lg_example *x)
{
    if (!x) return;
    free(x->tokens);
    free(x->loss);
    free(x->codes);
    for (int l = 0; l < LG_LEVELS; l++) free(x->labels[l]);
    lg_example_init(x);
}

int lg__example_room(lg_example *x, int n, lg_error *err)
{
    if (n <= x->room) return 0;
    int room = x->room ? x->room : 64;
    while (room < n) room = room > INT_MAX / 2 ? n : 2 * room;
    void **slot[3 + LG_LEVELS] = {(void **)&x->tokens, (void **)&x->loss, (void **)&x->codes};
    for (int l = 0; l < LG_LEVELS; l++) slot[3 + l] = (void **)&x->labels[l];
    for (int i = 0; i < 3 + LG_LEVELS; i++) {
        size_t size = i == 1 ? 1 : sizeof(int32_t);
        struct lg__block b = {*slot[i], (size_t)x->room * size};
        int e = lg__block_grow(&b, (size_t)room * size, 1, "an example", err);
        if (e) return e;
        *slot[i] = b.data;
    }
    x->room = room;
    return 0;
}

int lg__example_fill(lg_example *x, const int32_t *tokens, int n, lg_error *err)
{
    int e = lg__example_room(x, n, err);
    if (e) return e;
    lg__example_begin(x, n - 1, 0);
    memmove(x->tokens, tokens, (size_t)n * sizeof *tokens);
    x->n = n;
    x->answer = 1;
    for (int i = 0; i < n; i++) {
        x->loss[i] = i > 0;
        x->codes[i] = LG_NONE;
        for (int l = 0; l < LG_LEVELS; l++) x->labels[l][i] = LG_ABSENT;
    }
    return 0;
}

static int check_range(const struct lg_task *t, const char *what, int lo, int hi, int least,
                       int most, const char *unit, lg_error *err)
{
    if (lo >= least && hi <= most && lo <= hi) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task %s: %s %d..%d (%s) was asked for; with its settings it may be %d..%d",
                    t->row->info.name, what, lo, hi, unit, least, most);
}

int lg__task_has_cell(const char *name, int length, int sparsity)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    return !sparsity || sparsity <= length || !row || !row->allow;
}

const char *lg__task_form(const char *name)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    return row && row->form ? row->form : "answers";
}

int lg__task_executes(const char *name)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    return row && row->executes;
}

int lg__columns_no_hints(const struct lg_task *t, int hints, lg_error *err)
{
    if (!hints) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task %s: hints is %d, and hints name places, of which there is no end; say "
                    "hints=0",
                    t->row->info.name, hints);
}

const char *lg__task_file(const char *name)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    return row && row->count && *argument ? argument : NULL;
}

int lg__task_count(const lg_task *t, const lg_draw *d)
{
    return t->row->count ? t->row->count(t, d) : 0;
}

int64_t lg__task_line(const lg_task *t, const lg_draw *d)
{
    return t->row->line ? t->row->line(t, d) : 0;
}

int lg__task_has_lines(const lg_task *t) { return t->row->count != NULL; }

int lg__task_overlap(const lg_task *t, const lg_task *trained, const lg_draw *d)
{
    return t->row == trained->row && t->row->overlap ? t->row->overlap(t, trained, d) : 0;
}

static int make_example(lg_task *t, const lg_draw *d, lg_example *x, lg_error *err)
{
    const lg_task_shape *s = &t->shape;
    int e;
    x->n = x->answer = 0;
    if (t->row->fetch) return t->row->fetch(t, d, x, err);
    if ((e = check_range(t, "length", d->length_lo, d->length_hi, s->length_least, s->length_most,
                         t->row->info.unit, err)))
        return e;
    lg_rng r;
    lg_rng_init(&r, d->seed, d->stream, d->index);
    int length = d->length_lo + (int)lg_rng_below(&r, (uint32_t)(d->length_hi - d->length_lo + 1));
    int sparsity = 0;
    if (!t->row->info.sparsity && (d->sparsity_lo || d->sparsity_hi))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s has no sparsity, but %d..%d was asked for; leave it out",
                        t->row->info.name, d->sparsity_lo, d->sparsity_hi);
    if (t->row->info.sparsity) {
        int lo = d->sparsity_lo, hi = d->sparsity_hi, least = s->sparsity_least,
            most = s->sparsity_most;
        if (!lo && !hi) {
            lo = t->default_sparsity_lo;
            hi = t->default_sparsity_hi;
        }
        if ((e = check_range(t, "sparsity", lo, hi, least, most, t->row->info.sparsity, err)))
            return e;
        if (t->row->allow) t->row->allow(t, length, &least, &most);
        int low = lo < least ? least : lo, high = hi > most ? most : hi;
        if (low > high)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "task %s: length %d allows a sparsity (%s) of %d..%d, but %d..%d was "
                            "asked for; take one of these, or another length",
                            t->row->info.name, length, t->row->info.sparsity, least, most, lo, hi);
        sparsity = low + (int)lg_rng_below(&r, (uint32_t)(high - low + 1));
    }
    lg__example_begin(x, length, sparsity);
    return t->row->make(t, &r, length, sparsity, x, err);
}

int lg_task_example(lg_task *t, const lg_draw *d, lg_example *x, lg_error *err)
{
    int e = make_example(t, d, x, err);
    return e || !t->labeller ? e : t->labeller->label(t->labeller, x, err);
}

/* ---- Columns ---------------------------------------------------------------------------- */

static int no_columns(const char *task, lg_error *err)
{
    char names[300] = "";
    const struct lg__task_row *row;
    for (int i = 0; (row = lg__task_row_at(i)); i++) {
        size_t used = strlen(names);
        if (row->columns)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", row->info.name);
    }
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "task %s is not known to be one that a finite machine writes column by column; "
        "take one that is: %s; or certify a list of contexts (--data) or a share of the "
        "inputs (--sample)",
        task, names);
}

int lg__task_columns(const lg_task *t, struct lg__columns *c, lg_error *err)
{
    if (t->labeller)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the labels of task %s come from a coupling's rule, so that its columns are "
            "not known; certify a list of contexts (--data own) or a share of the inputs "
            "(--sample), or leave positions.coupling out",
            t->row->info.name);
    return t->row->columns ? t->row->columns(t, c, err) : no_columns(t->row->info.name, err);
}

int lg__task_may_have_columns(const char *name, lg_error *err)
{
    const char *argument;
    const struct lg__task_row *row = find(name, &argument);
    if (!row) return unknown(name, err);
    return row->columns || row->keyed ? 0 : no_columns(row->info.name, err);
}

int lg__columns_end_anywhere(const struct lg_task *t, int state)
{
    (void)t, (void)state;
    return 1;
}

size_t lg_example_text(const lg_task *t, const lg_example *x, char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < x->n; i++) {
        const char *word = t->words[x->tokens[i]];
        for (int space = i > 0; space || *word; at++) {
            char c = space ? ' ' : *word++;
            space = 0;
            if (at + 1 < size) text[at] = c;
        }
    }
    if (size) text[at < size ? at : size - 1] = 0;
    return at;
}
