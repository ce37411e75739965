/* data.c: the lines of lg_couple: read, checked, split in three by content, written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/memory.h"
#include "couple/couple.h"
#include "runs/texts.h"

enum {
    LEAST_LINES = 200,
    MANY_NAMES = 32, /* words that are compared: with fewer the lines show them all */
    COPIES = 16      /* of a line that is trained on, with other names in it */
};
static const double REPORT = 0.15, CHOOSE = 0.25; /* shares of the lines; of the rest */
static const double CONTRADICTING = 0.05, NEW_WORDS = 0.02;

static uint64_t hash_tokens(const lg_example *x, int n)
{
    uint64_t h = lg__fnv(LG__FNV_START, x->tokens, (size_t)n * sizeof *x->tokens);
    h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 32;
}

/* ---- Reading ----------------------------------------------------------------------------------- */

static int is_task(const char *name) { return lg_task_info_find(name) != NULL; }

static int open_task(struct lg__couple *c, lg_error *err)
{
    const lg_couple_options *o = c->o;
    char *name = NULL;
    if (is_task(o->data))
        name = strdup(o->data);
    else if (asprintf(&name, "jsonl:%s", o->data) < 0)
        name = NULL;
    if (!name) return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    c->task = lg_task_new(name, o->settings, o->setting_count, err);
    free(name);
    if (!c->task) return LG_ERROR_ARGUMENT;
    c->shape = lg_task_get_shape(c->task);
    snprintf(c->r->unit, sizeof c->r->unit, "%s", c->shape->info->unit);
    int e =
        lg__text_refuse(c->shape->info, "give a file of examples (`lengthen tasks jsonl`)", err);
    if (e || !c->shape->levels || o->forget) return e;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s has IDs already, so that no coupling need be found (`lengthen try %s` uses "
                    "them); --forget finds one without looking at them",
                    o->data, o->data);
}

static int read_lines(struct lg__couple *c, lg_error *err)
{
    const lg_couple_options *o = c->o;
    int own = lg__task_has_lines(c->task), e = 0;
    int least = c->shape->length_least, most = c->shape->length_most;
    if (!own && most > o->length) most = o->length > least ? o->length : least;
    lg_draw d = {.length_lo = least, .length_hi = most, .seed = o->seed, .stream = own ? 0 : 1};
    int count = own ? lg__task_count(c->task, &d) : o->lines;
    c->lines.shape = c->shape;
    c->lines.x = lg__alloc((size_t)count * sizeof *c->lines.x);
    c->part = lg__alloc((size_t)count);
    c->wrong = lg__alloc((size_t)count);
    c->looked.x = lg__alloc((size_t)count * sizeof *c->looked.x);
    c->looked_at = lg__alloc((size_t)count * sizeof *c->looked_at);
    if (!c->lines.x || !c->part || !c->wrong || !c->looked.x || !c->looked_at)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d lines; give fewer", count);
    for (int i = 0; i < count && !e; i++) {
        d.index = (uint64_t)i;
        lg_example_init(&c->lines.x[i]);
        e = lg_task_example(c->task, &d, &c->lines.x[i], err);
        c->lines.count++;
    }
    return e;
}

/* ---- Checks ------------------------------------------------------------------------------------- */

struct keyed {
    uint64_t prompt, all;
    int line;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->prompt != y->prompt) return x->prompt < y->prompt ? -1 : 1;
    if (x->all != y->all) return x->all < y->all ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines with the prompt of another and a different answer. */
static int check_contradictions(const struct lg__couple *c, lg_error *err)
{
    int n = c->lines.count, bad = 0, first = -1, second = -1;
    struct keyed *key = lg__alloc((size_t)n * sizeof *key);
    if (!key) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d lines; give fewer", n);
    for (int i = 0; i < n; i++) {
        const lg_example *x = &c->lines.x[i];
        key[i] = (struct keyed){hash_tokens(x, x->answer), hash_tokens(x, x->n), i};
    }
    qsort(key, (size_t)n, sizeof *key, by_key);
    for (int from = 0, to; from < n; from = to) {
        int most = 0, run = 0;
        for (to = from; to < n && key[to].prompt == key[from].prompt; to++) {
            run = to > from && key[to].all == key[to - 1].all ? run + 1 : 1;
            if (run > most) most = run;
            if (to > from && key[to].all != key[to - 1].all && first < 0) {
                first = key[to - 1].line;
                second = key[to].line;
            }
        }
        bad += to - from - most;
    }
    free(key);
    if (bad <= CONTRADICTING * n) return 0;
    char text[2][120];
    for (int i = 0; i < 2; i++)
        lg_example_text(c->task, &c->lines.x[i ? second : first], text[i], sizeof text[i]);
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%d of the %d lines have the prompt of another line and a different answer, as in "
        "\"%.100s\" and \"%.100s\": no rule gives both; correct them, or give the prompt "
        "what decides",
        bad, n, text[0], text[1]);
}

static int check_answers(const struct lg__couple *c, lg_error *err)
{
    int n = c->lines.count, none = 0, least, most;
    if (n < LEAST_LINES)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s has %d lines, too few to find what depends on what; give %d or more, best "
            "some thousands",
            c->o->data, n, LEAST_LINES);
    least = most = c->lines.x[0].length;
    for (int i = 0; i < n; i++) {
        const lg_example *x = &c->lines.x[i];
        none += x->answer == 1;
        if (x->length < least) least = x->length;
        if (x->length > most) most = x->length;
    }
    if (2 * none > n)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%d of the %d lines do not say where their answer begins, so that all but the "
            "first token is taken for one; write \"loss\", 0 for each token of the prompt "
            "and 1 for each of the answer",
            none, n);
    c->r->shortest = least;
    c->r->longest = most;
    if (least < most) return 0;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "all lines have length %d, so that nothing can be said of longer ones; give lines "
        "of several lengths",
        least);
}

/* Words that the lines to fit do not show, but many of the others have. */
static int check_words(const struct lg__couple *c, lg_error *err)
{
    unsigned char *seen = lg__alloc((size_t)c->shape->vocab);
    int others = 0, bad = 0, word = -1;
    if (!seen) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the words; give fewer lines");
    for (int i = 0; i < c->lines.count; i++)
        for (int t = 0; t < c->lines.x[i].n && c->part[i] == LG__PART_FIT; t++)
            seen[c->lines.x[i].tokens[t]] = 1;
    for (int i = 0; i < c->lines.count; i++) {
        if (c->part[i] == LG__PART_FIT) continue;
        int unknown = -1;
        for (int t = 0; t < c->lines.x[i].n; t++)
            if (!seen[c->lines.x[i].tokens[t]]) unknown = c->lines.x[i].tokens[t];
        others++;
        bad += unknown >= 0;
        if (unknown >= 0) word = unknown;
    }
    free(seen);
    if (bad <= NEW_WORDS * others) return 0;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%d of the %d lines that are kept for tests have words, such as \"%.60s\", that "
        "the lines up to length %d never show: no training on short lines can know them; "
        "give short lines with all words",
        bad, others, c->shape->words[word], c->r->fit_longest);
}

/* ---- Splitting ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The longest length of those to fit: about a quarter of what is not for the report is longer. */
static int split(struct lg__couple *c, lg_error *err)
{
    int n = c->lines.count, rest = 0, *length = lg__alloc((size_t)n * sizeof *length);
    if (!length) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d lines; give fewer", n);
    for (int i = 0; i < n; i++) {
        uint64_t h = hash_tokens(&c->lines.x[i], c->lines.x[i].answer); /* of the prompt */
        c->part[i] = (double)(h >> 40) < REPORT * (1 << 24) ? LG__PART_REPORT : LG__PART_FIT;
        if (c->part[i] == LG__PART_FIT) length[rest++] = c->lines.x[i].length;
    }
    qsort(length, (size_t)rest, sizeof *length, by_number);
    int cut = rest ? length[(int)((1 - CHOOSE) * (rest - 1))] : 0;
    if (rest && cut == length[rest - 1]) { /* most have the longest length */
        int k = rest - 1;
        while (k > 0 && length[k] == cut) k--;
        cut = length[k];
    }
    free(length);
    for (int i = 0; i < n; i++) {
        if (c->part[i] == LG__PART_FIT && c->lines.x[i].length > cut) c->part[i] = LG__PART_CHOOSE;
        c->r->fit += c->part[i] == LG__PART_FIT;
        c->r->chosen_by += c->part[i] == LG__PART_CHOOSE;
        c->r->reported += c->part[i] == LG__PART_REPORT;
        if (c->part[i] == LG__PART_REPORT) continue;
        c->looked_at[c->looked.count] = i;
        c->looked.x[c->looked.count++] = c->lines.x[i];
    }
    c->looked.shape = c->shape;
    c->r->lines = n;
    c->r->fit_longest = cut;
    return 0;
}

int lg__couple_read(struct lg__couple *c, lg_error *err)
{
    int e = open_task(c, err);
    if (!e) e = read_lines(c, err);
    if (!e) e = check_answers(c, err);
    if (!e) e = check_contradictions(c, err);
    if (!e) e = split(c, err);
    return e ? e : check_words(c, err);
}

int lg__couple_lengths(const struct lg__couple *c, enum lg__couple_part part, int *length,
                       int *lines, int room)
{
    int n = 0;
    for (int i = 0; i < c->lines.count; i++) {
        if (c->part[i] != part) continue;
        int at = 0;
        while (at < n && length[at] < c->lines.x[i].length) at++;
        if (at < n && length[at] == c->lines.x[i].length) {
            lines[at]++;
            continue;
        }
        if (n == room) continue;
        memmove(length + at + 1, length + at, (size_t)(n - at) * sizeof *length);
        memmove(lines + at + 1, lines + at, (size_t)(n - at) * sizeof *lines);
        length[at] = c->lines.x[i].length;
        lines[at] = 1;
        n++;
    }
    return n;
}

/* ---- Writing ------------------------------------------------------------------------------------- */

/* Words that a search of the rule compares: which of them it is does not matter, if it is one and the same. A line
 * with others in their place is as right, and shows the comparison where 2,000 lines show most words once. */
struct names {
    int count;
    int32_t *word; /* [count] of the vocabulary */
    int32_t *as;   /* [vocab] what stands for each word */
};

static int collect_names(const struct lg__couple *c, const struct lg__rule *rule, struct names *s,
                         lg_error *err)
{
    size_t vocab = (size_t)c->shape->vocab;
    const struct lg__find_rule *f = &rule->find;
    struct lg__place *place = NULL;
    lg_error other_form;
    s->word = lg__alloc(vocab * sizeof *s->word);
    s->as = lg__alloc(vocab * sizeof *s->as);
    int e = s->word && s->as ? 0 : LG_ERROR_MEMORY;
    for (int i = 0; i < c->lines.count && !e && f->kind == LG__FIND_MATCH; i++) {
        const lg_example *x = &c->lines.x[i];
        if (c->part[i] != LG__PART_FIT) continue;
        free(place);
        place = lg__alloc((size_t)x->n * sizeof *place);
        if (!place) e = LG_ERROR_MEMORY;
        if (e || lg__structure_places(&rule->structure, x, place, &other_form)) continue;
        for (int t = 0; t < x->answer; t++)
            if (place[t].part == f->part && place[t].index == f->at &&
                place[t].number < place[t].of)
                s->as[x->tokens[t]] = 1;
    }
    free(place);
    for (int32_t w = 0; w < c->shape->vocab && !e; w++) {
        if (s->as[w]) s->word[s->count++] = w;
        s->as[w] = w;
    }
    if (s->count < MANY_NAMES) s->count = 0;
    return e ? lg__fail(err, e, "no memory for the words; give fewer lines") : 0;
}

/* Another order of the names, for one copy of one line. */
static void rename_words(struct names *s, uint64_t seed, int copy, int line)
{
    lg_rng r;
    lg_rng_init(&r, seed, (uint32_t)copy, (uint64_t)line);
    for (int i = 0; i < s->count; i++) s->as[s->word[i]] = s->word[i];
    for (int i = s->count - 1; i > 0 && copy; i--) {
        int k = (int)lg_rng_below(&r, (uint32_t)i + 1);
        int32_t as = s->as[s->word[i]];
        s->as[s->word[i]] = s->as[s->word[k]];
        s->as[s->word[k]] = as;
    }
}

static void put_line(lg_buffer *b, const lg_task_shape *shape, const lg_example *x,
                     const int32_t *as)
{
    lg_buffer_put(b, "{\"tokens\":");
    for (int t = 0; t < x->n; t++) {
        const char *word = shape->words[as[x->tokens[t]]];
        lg_buffer_put(b, t ? "," : "[");
        lg_buffer_json(b, word, strlen(word));
    }
    lg_buffer_put(b, "],\"loss\":");
    for (int t = 0; t < x->n; t++) {
        lg_buffer_put(b, t ? "," : "[");
        lg_buffer_put(b, x->loss[t] ? "1" : "0");
    }
    lg_buffer_print(b, "],\"length\":%d}\n", x->length);
}

/* Lines that contradict the others are left out of what is trained on. */
static int wanted(const struct lg__couple *c, int i, int file)
{
    if (file == LG__PART_TRAIN) return c->part[i] != LG__PART_REPORT && !c->wrong[i];
    return c->part[i] == file && (file == LG__PART_REPORT || !c->wrong[i]);
}

static void put_lines(const struct lg__couple *c, int file, struct names *names, lg_buffer *b)
{
    int trained = file == LG__PART_FIT || file == LG__PART_TRAIN;
    for (int copy = 0; copy < (trained && names->count ? COPIES : 1); copy++)
        for (int i = 0; i < c->lines.count; i++) {
            if (!wanted(c, i, file)) continue;
            rename_words(names, c->o->seed, copy, i);
            put_line(b, c->shape, &c->lines.x[i], names->as);
        }
}

int lg__couple_write(struct lg__couple *c, const struct lg__rule *rule, lg_error *err)
{
    static const char *const file_name[] = {"fit.jsonl", "choose.jsonl", "report.jsonl",
                                            "train.jsonl"};
    char path[LG_COUPLE_PATH + 32];
    struct names names = {0};
    int e = collect_names(c, rule, &names, err);
    for (int file = 0; file <= LG__COUPLE_FILES && !e; file++) {
        lg_buffer b = {0};
        if (file == LG__COUPLE_FILES)
            for (int w = 0; w < c->shape->vocab; w++)
                lg_buffer_print(&b, "%s\n", c->shape->words[w]);
        if (file < LG__COUPLE_FILES) put_lines(c, file, &names, &b);
        snprintf(path, sizeof path, "%s/%s", c->r->folder,
                 file < LG__COUPLE_FILES ? file_name[file] : "vocab.txt");
        char *text = lg_buffer_take(&b, err);
        e = text ? lg__file_write(path, text, err) : LG_ERROR_MEMORY;
        free(text);
    }
    c->r->copies = names.count ? COPIES : 1;
    free(names.word);
    free(names.as);
    return e;
}

void lg__couple_close(struct lg__couple *c)
{
    for (int i = 0; i < c->lines.count; i++) lg_example_clear(&c->lines.x[i]);
    free(c->lines.x);
    free(c->part);
    free(c->wrong);
    free(c->looked.x);
    free(c->looked_at);
    lg_task_free(c->task);
}
