/* lines.c: a line of JSON, read with jansson, to an example. */
#include "tasks/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"

enum { LEAST_ROOM = 1 << 16, SHOWN = 60 };
enum { LEAST_ID = -1 }; /* the least start is 1 */
static const json_int_t MOST_ID = INT32_MAX - 1;

/* ---- Lines -------------------------------------------------------------------------------- */

/* Makes room behind what is in the buffer, moving it to the front or into a larger one. */
static int make_room(struct lg__lines *l, const char *name, lg_error *err)
{
    size_t held = l->end - l->start;
    if (l->start) {
        memmove(l->buffer, l->buffer + l->start, held);
        l->start = 0;
        l->end = held;
    }
    if (l->room - held > 1) return 0; /* one byte is for the 0 */
    if (held > LG__LINE_BYTES)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: line %lld has more than %d MiB, the most of a line; does it lack its "
                        "end? Else split the example",
                        name, (long long)l->line + 1, LG__LINE_BYTES >> 20);
    size_t room = l->room ? 2 * l->room : LEAST_ROOM;
    if (room > LG__LINE_BYTES) room = (size_t)LG__LINE_BYTES + 2; /* one more, and the 0 */
    char *buffer = lg__alloc(room);
    if (!buffer)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "%s: no memory for line %lld, which has more than %zu bytes; split it",
                        name, (long long)l->line + 1, held);
    if (held) memcpy(buffer, l->buffer, held);
    free(l->buffer);
    l->buffer = buffer;
    l->room = room;
    return 0;
}

static int read_more(struct lg__lines *l, const char *name, lg_error *err)
{
    int e = make_room(l, name, err);
    if (e) return e;
    ssize_t n;
    do n = read(l->fd, l->buffer + l->end, l->room - l->end - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; check it", name,
                        strerror(errno));
    if (n == 0) l->ended = 1;
    l->end += (size_t)n;
    return 0;
}

int lg__lines_next(struct lg__lines *l, const char *name, char **text, size_t *size, lg_error *err)
{
    size_t looked = 0; /* bytes from start on that have no line end */
    for (;;) {
        size_t held = l->end - l->start;
        char *line = l->buffer ? l->buffer + l->start : NULL;
        char *end = held > looked ? memchr(line + looked, '\n', held - looked) : NULL;
        if (!end && !l->ended) {
            int e = read_more(l, name, err);
            if (e) return e;
            looked = held;
            continue;
        }
        if (!end && !held) return 0;
        *text = line;
        *size = end ? (size_t)(end - line) : held;
        l->cut = !end;
        l->start += *size + (end != NULL);
        line[*size] = 0;
        l->line++;
        looked = 0;
        if (strspn(line, " \t\r") < *size) return 1;
    }
}

/* ---- An example ----------------------------------------------------------------------------- */

static int refuse(const struct lg__line_parser *p, lg_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(const struct lg__line_parser *p, lg_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s%s%lld: %s", p->name, p->between, (long long)p->line,
                    text);
}

/* A value as it was written, or its beginning; returns `text`. */
static const char *show(const json_t *v, char text[SHOWN + 4])
{
    char *all = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(text, SHOWN + 4, "%.*s%s", SHOWN, all ? all : "?",
             all && strlen(all) > SHOWN ? "..." : "");
    free(all);
    return text;
}

static int read_token(struct lg__line_parser *p, const json_t *v, size_t place, int32_t *token,
                      lg_error *err)
{
    char number[32], shown[SHOWN + 4];
    const char *word = json_string_value(v);
    if (json_is_integer(v)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
        word = number;
    }
    if (!word)
        return refuse(p, err, "tokens[%zu] is %s; a token is a string or a whole number", place,
                      show(v, shown));
    *token = lg__word_find(p->t, &p->words, word);
    if (*token >= 0) return 0;
    const char *fault = lg__word_fault(word);
    if (fault)
        return refuse(p, err, "tokens[%zu] is %s, which is %s; split or rename it", place,
                      show(v, shown), fault);
    if (p->fixed)
        return refuse(p, err, "tokens[%zu] is %s, which is not in %s; %s", place, show(v, shown),
                      p->fixed, p->remedy);
    *token = lg__word_indexed(p->t, &p->words, word, 0, err);
    return *token < 0 ? LG_ERROR_MEMORY : 0;
}

static int read_tokens(struct lg__line_parser *p, const json_t *list, lg_example *x, lg_error *err)
{
    char shown[SHOWN + 4];
    if (!json_is_array(list))
        return refuse(p, err, "tokens is %s; write a list, [\"a\", \"b\", ..]", show(list, shown));
    size_t n = json_array_size(list);
    if (n < 2)
        return refuse(p, err,
                      "tokens has %zu entries; an example has a prompt and an answer, so "
                      "write two or more",
                      n);
    if (n > LG__LINE_MOST) return refuse(p, err, "tokens has %zu entries; split the example", n);
    int e = lg__example_room(x, (int)n, err);
    for (size_t i = 0; i < n && !e; i++)
        e = read_token(p, json_array_get(list, i), i, &x->tokens[i], err);
    x->n = (int)n;
    return e;
}

/* One level's IDs; `nested` only serves the messages. */
static int read_level(struct lg__line_parser *p, const json_t *list, int level, int nested,
                      lg_example *x, lg_error *err)
{
    char name[32] = "ids", shown[SHOWN + 4];
    if (nested) snprintf(name, sizeof name, "ids[%d]", level);
    if (!json_is_array(list))
        return refuse(p, err, "%s is %s; write a list of IDs, one per token", name,
                      show(list, shown));
    if (json_array_size(list) != (size_t)x->n)
        return refuse(p, err, "%s has %zu entries for %d tokens; write one per token (null: none)",
                      name, json_array_size(list), x->n);
    for (int i = 0; i < x->n; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        json_int_t id = json_integer_value(v);
        if (!json_is_integer(v) && !json_is_null(v))
            return refuse(p, err, "%s[%d] is %s; an ID is a whole number, or null for none", name,
                          i, show(v, shown));
        if (id < LEAST_ID || id > MOST_ID)
            return refuse(p, err, "%s[%d] is %lld; IDs are %d to %lld; shift them all %s", name, i,
                          (long long)id, LEAST_ID, (long long)MOST_ID,
                          id < LEAST_ID ? "up" : "down");
        x->labels[level][i] = json_is_null(v) ? LG_ABSENT : (int32_t)id;
    }
    return 0;
}

static int read_ids(struct lg__line_parser *p, const json_t *ids, lg_example *x, int *levels,
                    lg_error *err)
{
    int nested = json_is_array(json_array_get(ids, 0)), e = 0;
    size_t n = !ids ? 0 : nested ? json_array_size(ids) : 1;
    if (n > LG_LEVELS)
        return refuse(p, err, "ids has lists for %zu levels; there may be %d", n, LG_LEVELS);
    *levels = (int)n;
    for (int l = 0; l < *levels && !e; l++)
        e = read_level(p, nested ? json_array_get(ids, (size_t)l) : ids, l, nested, x, err);
    return e;
}

/* All lines have as many levels, and every token has an ID at one of them. */
static int check_ids(struct lg__line_parser *p, lg_example *x, int levels, lg_error *err)
{
    if (p->levels >= 0 && levels != p->levels)
        return refuse(p, err,
                      "this line has IDs at %d levels, but the lines before have them at "
                      "%d; give all lines the same",
                      levels, p->levels);
    p->levels = levels;
    for (int l = levels; l < LG_LEVELS; l++)
        for (int i = 0; i < x->n; i++) x->labels[l][i] = LG_ABSENT;
    for (int i = 0; i < x->n && levels; i++) {
        int l = 0;
        while (l < levels && x->labels[l][i] == LG_ABSENT) l++;
        if (l == levels)
            return refuse(p, err,
                          "token %d has no ID (ids[%s%d] is null); give it one at one level "
                          "or more",
                          i, levels > 1 ? "..][" : "", i);
    }
    return 0;
}

static int read_loss(struct lg__line_parser *p, const json_t *list, lg_example *x, lg_error *err)
{
    char shown[SHOWN + 4];
    for (int i = 0; i < x->n && !list; i++) x->loss[i] = i > 0;
    if (!list) return 0;
    if (!json_is_array(list))
        return refuse(p, err, "loss is %s; write a list of 0 and 1, one per token",
                      show(list, shown));
    if (json_array_size(list) != (size_t)x->n)
        return refuse(p, err, "loss has %zu entries for %d tokens; write one per token",
                      json_array_size(list), x->n);
    for (int i = 0; i < x->n; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        json_int_t number = json_is_integer(v) ? json_integer_value(v) : -1;
        if (json_is_boolean(v)) number = json_is_true(v);
        if (number != 0 && number != 1)
            return refuse(p, err, "loss[%d] is %s; it must be 0 or 1, or false or true", i,
                          show(v, shown));
        x->loss[i] = (unsigned char)number;
    }
    return 0;
}

/* The answer starts at the first token with a loss, which is not the first of all. */
static int check_loss(struct lg__line_parser *p, lg_example *x, lg_error *err)
{
    if (x->loss[0])
        return refuse(p, err,
                      "loss[0] is 1, but nothing comes before the first token to predict "
                      "it from; write 0");
    for (x->answer = 1; x->answer < x->n && !x->loss[x->answer];) x->answer++;
    if (x->answer < x->n) return 0;
    return refuse(p, err,
                  "loss is 0 at every token, so that nothing is to be learnt; write 1 at "
                  "the answer");
}

static int read_number(struct lg__line_parser *p, const json_t *v, const char *name, int least,
                       int *value, lg_error *err)
{
    char shown[SHOWN + 4];
    if (!v) return 0;
    json_int_t number = json_integer_value(v);
    if (!json_is_integer(v) || number < least || number > LG__LINE_MOST)
        return refuse(p, err, "%s is %s; it must be a whole number in %d..%d", name, show(v, shown),
                      least, LG__LINE_MOST);
    *value = (int)number;
    return 0;
}

#define FORM                                                                                       \
    "write prompt and answer as one list of words, with loss 1 where a word is of the answer: "    \
    "{\"tokens\": [\"2\", \"7\", \"=\", \"7\", \"2\"], \"loss\": [0, 0, 0, 1, 1]} (`lengthen "     \
    "tasks jsonl`)"

/* What is not said in words of this format gets all of it. */
static int unknown_key(struct lg__line_parser *p, const char *key, const char *const *known, int n,
                       int form, lg_error *err)
{
    int near = lg_nearest(key, known, n);
    if (near >= 0)
        return refuse(p, err, "there is no key \"%.80s\"; did you mean \"%s\"?", key, known[near]);
    return refuse(p, err, "there is no key \"%.80s\"; %s", key, form ? FORM : "leave it out");
}

static int read_header(struct lg__line_parser *p, const json_t *header, lg_error *err)
{
    static const char *const known[] = {"index"};
    char shown[SHOWN + 4];
    const char *key;
    json_t *v;
    if (!json_is_object(header))
        return refuse(p, err, "lengthen is %s; write {\"index\": true}", show(header, shown));
    json_object_foreach((json_t *)header, key, v)
    {
        if (strcmp(key, known[0]) != 0) return unknown_key(p, key, known, 1, 0, err);
        if (!json_is_boolean(v))
            return refuse(p, err, "index is %s; write true or false", show(v, shown));
        p->index = json_is_true(v);
    }
    return 0;
}

static int read_object(struct lg__line_parser *p, const json_t *object, int first, lg_example *x,
                       int *levels, lg_error *err)
{
    static const char *const known[] = {"tokens", "ids", "loss", "length", "sparsity"};
    enum { TOKENS, IDS, LOSS, LENGTH, SPARSITY, KEYS };
    const json_t *value[KEYS] = {0};
    const char *key;
    json_t *v;
    int e;
    if (first && json_object_size(object) == 1 && (v = json_object_get(object, "lengthen")))
        return read_header(p, v, err);
    json_object_foreach((json_t *)object, key, v)
    {
        int k = 0;
        while (k < KEYS && strcmp(key, known[k]) != 0) k++;
        if (k == KEYS)
            return unknown_key(p, key, known, KEYS, !json_object_get(object, "tokens"), err);
        value[k] = v;
    }
    if (!value[TOKENS]) return refuse(p, err, "there is no key \"tokens\"; " FORM);
    x->sparsity = 0;
    if ((e = read_tokens(p, value[TOKENS], x, err))) return e;
    x->length = x->n;
    if ((e = read_ids(p, value[IDS], x, levels, err)) || (e = read_loss(p, value[LOSS], x, err)) ||
        (e = read_number(p, value[LENGTH], "length", 1, &x->length, err)) ||
        (e = read_number(p, value[SPARSITY], "sparsity", 0, &x->sparsity, err)))
        return e;
    return 1;
}

/* lg__line_parse with JSON's library, all but the checks. */
static int parse_with_care(struct lg__line_parser *p, const char *text, size_t size, int first,
                           lg_example *x, int *levels, lg_error *err)
{
    json_error_t why;
    char shown[SHOWN + 4];
    if (lg__json_values(text, size) > LG__LINE_VALUES)
        return refuse(p, err,
                      "there are over %d values in this line, the most of a line; split the "
                      "example",
                      LG__LINE_VALUES);
    json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    int e;
    if (!line)
        e = refuse(
            p, err,
            "this cannot be read as JSON in UTF-8: %s (column %d); write one object per line",
            why.text, why.column);
    else if (!json_is_object(line))
        e = refuse(p, err, "this is %s; write an object, {\"tokens\": [..]}", show(line, shown));
    else
        e = read_object(p, line, first, x, levels, err);
    json_decref(line);
    return e;
}

int lg__line_parse(struct lg__line_parser *p, const char *text, size_t size, int first,
                   lg_example *x, lg_error *err)
{
    int levels = 0, e = lg__line_quick(p, text, size, x, &levels);
    if (!e) e = parse_with_care(p, text, size, first, x, &levels, err);
    if (e <= 0) return e;
    if ((e = check_ids(p, x, levels, err)) || (e = check_loss(p, x, err))) return e;
    return 1;
}

/* ---- A vocabulary --------------------------------------------------------------------------- */

static int add_word(struct lg__line_parser *p, const char *path, int64_t line, const char *word,
                    lg_error *err)
{
    const char *fault = lg__word_fault(word);
    json_t *utf8 = json_string(word);
    json_decref(utf8);
    if (!utf8) fault = "not UTF-8";
    if (!fault && lg__word_find(p->t, &p->words, word) >= 0) fault = "there twice";
    if (fault)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s:%lld: the word \"%.80s\" is %s; write one word per line", path,
                        (long long)line, utf8 ? word : "?", fault);
    return lg__word_indexed(p->t, &p->words, word, 0, err) < 0 ? LG_ERROR_MEMORY : 0;
}

const char lg__line_remedy[] =
    "add it to the file that the setting vocab=FILE names, one word per line";

static int take_words(struct lg__line_parser *p, const struct lg_task *like, lg_error *err)
{
    p->fixed = "the words that the run was trained with";
    p->remedy = "leave this example out, or train a run with such ones";
    for (int i = 0; i < like->shape.vocab; i++)
        if (lg__word_indexed(p->t, &p->words, like->words[i], like->digit[i], err) < 0)
            return LG_ERROR_MEMORY;
    return 0;
}

int lg__line_vocabulary(struct lg__line_parser *p, const char *path, lg_error *err)
{
    if (p->t->like) return take_words(p, p->t->like, err);
    if (!*path) return 0;
    struct lg__lines lines = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    char *word;
    size_t size;
    int e;
    if (lines.fd < 0)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "the vocabulary %s cannot be read: %s; check the setting vocab", path,
                        strerror(errno));
    while ((e = lg__lines_next(&lines, path, &word, &size, err)) > 0) {
        if (word[size - 1] == '\r') word[--size] = 0;
        if (strlen(word) < size) word[strlen(word)] = ' '; /* a 0 byte: no word, as a space */
        if ((e = add_word(p, path, lines.line, word, err))) break;
    }
    if (!e && !p->t->shape.vocab)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "%s: there is no word in it; write one word per line",
                     path);
    close(lines.fd);
    free(lines.buffer);
    p->fixed = path;
    p->remedy = lg__line_remedy;
    return e;
}

/* ---- A survey --------------------------------------------------------------------------------- */

static void survey_ids(struct lg__survey *s, const lg_example *x, int levels)
{
    for (int i = 0; i < x->n && s->needed < levels; i++) {
        int l = 0;
        while (l < levels - 1 && x->labels[l][i] == LG_ABSENT) l++;
        if (s->needed < l + 1) s->needed = l + 1;
    }
    for (int l = 0; l < levels; l++) {
        int32_t before = LG_ABSENT;
        for (int i = 0; i < x->n; i++) {
            int32_t id = x->labels[l][i];
            if (id == LG_ABSENT) continue;
            int change = before == LG_ABSENT ? 0 : abs(id - before);
            if (i >= x->answer && change > s->reach[l]) s->reach[l] = change;
            before = id;
        }
    }
}

void lg__survey_add(struct lg__survey *s, const lg_example *x, int levels)
{
    int32_t last = x->tokens[x->n - 1];
    if (!s->examples++) {
        s->stop = last;
        s->length_least = s->length_most = x->length;
        s->sparsity_least = s->sparsity_most = x->sparsity;
    }
    if (s->stop != last) s->stop = LG_NONE;
    for (int i = x->answer; i < x->n - 1; i++)
        if (x->tokens[i] == s->stop) s->stop = LG_NONE;
    if (s->length_least > x->length) s->length_least = x->length;
    if (s->length_most < x->length) s->length_most = x->length;
    if (s->sparsity_least > x->sparsity) s->sparsity_least = x->sparsity;
    if (s->sparsity_most < x->sparsity) s->sparsity_most = x->sparsity;
    survey_ids(s, x, levels);
}

void lg__survey_shape(const struct lg__survey *s, int levels, struct lg_task *t)
{
    static const char *const one[] = {"ids"}, *const many[] = {"ids 1", "ids 2", "ids 3"};
    /* few examples may all end in a word that ends no answer of the run's */
    t->shape.stop = t->like && s->stop != t->like->shape.stop ? LG_NONE : s->stop;
    t->shape.levels = levels;
    t->shape.needed = s->needed;
    for (int l = 0; l < levels; l++) {
        t->shape.level[l] = levels == 1 ? one[0] : many[l];
        t->shape.reach[l] = s->reach[l] ? s->reach[l] : 1;
    }
    t->shape.length_least = s->length_least;
    t->shape.length_most = s->length_most;
    t->default_sparsity_lo = t->shape.sparsity_least = s->sparsity_least;
    t->default_sparsity_hi = t->shape.sparsity_most = s->sparsity_most;
}
