/* ensemble.c: a planted ensemble from its table, and samples of it. */
#include "tasks/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks/words.h"

static int choose(const struct lg__choice *c, lg_rng *r)
{
    int at = (int)lg_rng_below(r, (uint32_t)c->n);
    const struct lg__choice_column *column = &c->column[at];
    return column->keep >= 1 || lg_rng_uniform(r) < column->keep ? at : column->other;
}

/* Vose's way of filling the columns: each that is less than full gets the rest from one that is
 * more than full. What rounding leaves over at the end is full but for rounding. */
static int make_choice(struct lg__choice *c, const double *weight, int n, lg_error *err)
{
    double sum = 0;
    c->column = lg__alloc((size_t)n * sizeof *c->column);
    int *stack = lg__alloc((size_t)n * sizeof *stack), low = 0, high = n;
    if (!c->column || !stack) {
        free(stack);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d weights; end other programs", n);
    }
    c->n = n;
    for (int i = 0; i < n; i++) sum += weight[i];
    for (int i = 0; i < n; i++) {
        c->column[i] = (struct lg__choice_column){weight[i] / sum * n, i};
        stack[c->column[i].keep < 1 ? low++ : --high] = i;
    }
    while (low > 0 && high < n) {
        int less = stack[--low], more = stack[high];
        c->column[less].other = more;
        c->column[more].keep -= 1 - c->column[less].keep;
        if (c->column[more].keep < 1) {
            high++;
            stack[low++] = more;
        }
    }
    while (low > 0) c->column[stack[--low]].keep = 1;
    free(stack);
    return 0;
}

/* ---- The table -------------------------------------------------------------------------- */

static const char pair_table[] = "name: pair\n"
                                 "k: 2\n"
                                 "positions: uniform\n"
                                 "planted: {A: 1, B: 1, C: 1, D: 1}\n"
                                 "background: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}\n"
                                 "label: {A A: same, A B: other, A C: other, A D: other,\n"
                                 "        B A: other, B B: same, B C: other, B D: other,\n"
                                 "        C A: other, C B: other, C C: same, C D: other,\n"
                                 "        D A: other, D B: other, D C: other, D D: same}\n";

static const char lookup_table[] =
    "name: lookup\n"
    "k: 3\n"
    "positions: uniform\n"
    "planted: {P0: 1, P1: 1}\n"
    "background: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}\n"
    "label: {P0 P0 P0: y0, P0 P0 P1: y1, P0 P1 P0: y2, P0 P1 P1: y3,\n"
    "        P1 P0 P0: y4, P1 P0 P1: y5, P1 P1 P0: y6, P1 P1 P1: y7}\n";

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a table; end other programs");
}

static int check_word(const struct lg__yaml *n, const char *word, lg_error *err)
{
    const char *fault = lg__word_fault(word);
    if (!fault) return 0;
    return lg__yaml_fail(n, err, "the word \"%.80s\" is %s; write another", word, fault);
}

/* Under `probabilities: yes` the numbers of n must sum to one, but for rounding. */
static int check_sum(const struct lg__yaml *n, const double *weight, int count, lg_error *err)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += weight[i];
    if (fabs(sum - 1) <= 1e-9) return 0;
    return lg__yaml_fail(n, err,
                         "the probabilities of %s sum to %.10g, not to 1; correct them, or leave "
                         "\"probabilities\" out: then they are weights",
                         n->key, sum);
}

/* The weights of a map's entries, as a choice among their numbers. */
static int read_weights(const struct lg__yaml *map, int probabilities, struct lg__choice *c,
                        lg_error *err)
{
    int e = lg__yaml_is(map, LG__YAML_MAP, err), i = 0;
    if (e) return e;
    if (!map->count) return lg__yaml_fail(map, err, "%s is empty; add \"word: weight\"", map->key);
    double *weight = lg__alloc((size_t)map->count * sizeof *weight);
    if (!weight) return no_memory(err);
    for (const struct lg__yaml *n = map->first; n && !e; n = n->next)
        e = lg__yaml_real(n, 1e-9, 1e9, &weight[i++], err);
    if (!e && probabilities) e = check_sum(map, weight, map->count, err);
    if (!e) e = make_choice(c, weight, map->count, err);
    free(weight);
    return e;
}

/* The keys of a map as words; tokens[] gets theirs, if it is not NULL. */
static int read_words(struct lg_task *t, struct lg__texts *words, const struct lg__yaml *map,
                      int32_t *tokens, lg_error *err)
{
    int e, i = 0;
    for (const struct lg__yaml *n = map->first; n; n = n->next) {
        if ((e = check_word(n, n->key, err))) return e;
        int32_t token = lg__word_indexed(t, words, n->key, 0, err);
        if (token < 0) return LG_ERROR_MEMORY;
        if (tokens) tokens[i++] = token;
    }
    return 0;
}

/* A key "A B C" as the tokens of k words. With add, new words enter the vocabulary. */
static int read_tuple(struct lg_task *t, struct lg__texts *words, const struct lg__yaml *n, int k,
                      int add, int32_t *tokens, lg_error *err)
{
    const char *s = n->key;
    for (int i = 0; i < k; i++) {
        char word[256];
        size_t length = strcspn(s, " ");
        if (!length || length >= sizeof word || (i < k - 1) != (s[length] == ' '))
            return lg__yaml_fail(n, err,
                                 "\"%.80s\" is not %d words (as k says) with single spaces between "
                                 "them; write it so",
                                 n->key, k);
        memcpy(word, s, length);
        word[length] = 0;
        s += length + (s[length] == ' ');
        int e = check_word(n, word, err);
        if (e) return e;
        tokens[i] = add ? lg__word_indexed(t, words, word, 0, err) : lg__word_find(t, words, word);
        if (tokens[i] < 0 && add) return LG_ERROR_MEMORY;
    }
    return 0;
}

/* patterns: [{offsets: [0, 3], weight: 2}, ..]; p->least becomes the length at which all fit. */
static int read_patterns(struct lg__ensemble *p, const struct lg__yaml *list, int probabilities,
                         lg_error *err)
{
    static const char *const keys[] = {"offsets", "weight", NULL};
    int e = lg__yaml_is(list, LG__YAML_LIST, err), i = 0;
    if (e) return e;
    if (!list->count)
        return lg__yaml_fail(list, err, "patterns is empty; add {offsets: [0, ..], weight: 1}");
    p->offset = lg__alloc((size_t)list->count * (size_t)p->k * sizeof *p->offset);
    double *weight = lg__alloc((size_t)list->count * sizeof *weight);
    if (!p->offset || !weight) e = no_memory(err);
    for (const struct lg__yaml *n = list->first; n && !e; n = n->next, i++) {
        const struct lg__yaml *offsets = NULL;
        if ((e = lg__yaml_keys(n, keys, err)) ||
            (e = lg__yaml_need(n, "offsets", LG__YAML_LIST, &offsets, err)))
            break;
        const struct lg__yaml *w = lg__yaml_get(n, "weight"), *at = offsets->first;
        weight[i] = 1;
        if (w && (e = lg__yaml_real(w, 1e-9, 1e9, &weight[i], err))) break;
        if (offsets->count != p->k) {
            e = lg__yaml_fail(offsets, err, "offsets has %d entries but k is %d; give one a member",
                              offsets->count, p->k);
            break;
        }
        int64_t before = -1, offset = 0;
        for (int j = 0; j < p->k && !e; j++, at = at->next, before = offset) {
            e = lg__yaml_int(at, before + 1, j ? 1 << 19 : 0, &offset, err);
            p->offset[(size_t)i * (size_t)p->k + (size_t)j] = (int32_t)offset;
        }
        if (p->least < (int)offset + 1) p->least = (int)offset + 1;
    }
    if (!e && probabilities) e = check_sum(list, weight, list->count, err);
    if (!e) e = make_choice(&p->pattern, weight, list->count, err);
    free(weight);
    return e;
}

static int read_positions(struct lg__ensemble *p, const struct lg__yaml *n, int probabilities,
                          lg_error *err)
{
    static const char *const kinds[] = {"uniform", "columns", "together", NULL};
    static const enum lg__where where[] = {LG__UNIFORM, LG__COLUMNS, LG__SPAN};
    static const char *const keys[] = {"span", "patterns", NULL};
    int e, kind = 0;
    if (!n) return 0; /* uniform */
    p->line_positions = n->line;
    if (n->kind == LG__YAML_SCALAR) {
        e = lg__yaml_choice(n, kinds, &kind, err);
        p->where = e ? LG__UNIFORM : where[kind];
        p->span = p->k;
        return e;
    }
    if ((e = lg__yaml_keys(n, keys, err))) return e;
    if (n->count != 1)
        return lg__yaml_fail(n, err, "positions has %d keys; it must be one, span or patterns",
                             n->count);
    if (strcmp(n->first->key, "span") == 0) {
        int64_t span = 0;
        p->where = LG__SPAN;
        e = lg__yaml_int(n->first, p->k, 1 << 20, &span, err);
        p->span = (int)span;
        return e;
    }
    p->where = LG__PATTERNS;
    return read_patterns(p, n->first, probabilities, err);
}

/* planted: {first: {P: 1, ..}, rest: ..}: the draw of the first word; the map of the rest. */
static int read_first(struct lg_task *t, struct lg__ensemble *p, struct lg__texts *words,
                      const struct lg__yaml *n, int probabilities, const struct lg__yaml **rest,
                      lg_error *err)
{
    static const char *const keys[] = {"first", "rest", NULL};
    const struct lg__yaml *first;
    int e;
    if ((e = lg__yaml_keys(n, keys, err)) ||
        (e = lg__yaml_need(n, "first", LG__YAML_MAP, &first, err)) ||
        (e = lg__yaml_need(n, "rest", LG__YAML_MAP, rest, err)) ||
        (e = read_weights(first, probabilities, &p->first, err)))
        return e;
    p->first_word = lg__alloc((size_t)first->count * sizeof *p->first_word);
    if (!p->first_word) return no_memory(err);
    return read_words(t, words, first, p->first_word, err);
}

/* planted: {A: 1, ..}, {first: {..}, rest: {..}} or {joint: {"A A": 3, ..}}: the draw, its words, and
 * how many tuples. */
static int read_planted(struct lg_task *t, struct lg__ensemble *p, struct lg__texts *words,
                        const struct lg__yaml *n, int probabilities, lg_error *err)
{
    int maps = n->first && n->first->kind == LG__YAML_MAP;
    p->joint = maps && n->count == 1 && !strcmp(n->first->key, "joint");
    const struct lg__yaml *map = p->joint ? n->first : n;
    if (maps && !p->joint) {
        int fault = read_first(t, p, words, n, probabilities, &map, err);
        if (fault) return fault;
    }
    int64_t tuples = p->first.n ? p->first.n : map->count;
    for (int j = 1; j < p->k && !p->joint && tuples <= LG__MOST_TUPLES; j++) tuples *= map->count;
    if (tuples > LG__MOST_TUPLES)
        return lg__yaml_fail(n, err,
                             "%s with %d entries at k = %d gives more than %d tuples to label; use "
                             "fewer words, or list fewer tuples with joint",
                             map->key, map->count, p->k, LG__MOST_TUPLES);
    p->tuples = (int)tuples;
    int e = read_weights(map, probabilities, &p->draw, err), i = 0;
    if (e) return e;
    p->word = lg__alloc((size_t)map->count * (p->joint ? (size_t)p->k : 1) * sizeof *p->word);
    if (!p->word) return no_memory(err);
    if (!p->joint) return read_words(t, words, map, p->word, err);
    for (n = map->first; n && !e; n = n->next, i += p->k)
        e = read_tuple(t, words, n, p->k, 1, p->word + i, err);
    return e;
}

/* Which of its words member j of a tuple that is not joint is. */
static int digit(const struct lg__ensemble *p, int tuple, int j)
{
    for (int i = p->k - 1; i > j; i--) tuple /= p->draw.n;
    return j ? tuple % p->draw.n : tuple;
}

/* Every tuple that can occur must have got its label. */
static int check_labels(const struct lg_task *t, const struct lg__ensemble *p,
                        const char *const *texts, const struct lg__yaml *label, lg_error *err)
{
    int number = 0;
    while (number < p->tuples && p->label[number] >= 0) number++;
    if (number == p->tuples) return 0;
    char tuple[160] = "";
    if (p->joint) {
        strncat(tuple, texts[number], sizeof tuple - 1);
    } else {
        for (int i = 0; i < p->k; i++) {
            int32_t drawn = digit(p, number, i);
            const char *word = t->words[i || !p->first.n ? p->word[drawn] : p->first_word[drawn]];
            strncat(tuple, i ? " " : "", sizeof tuple - strlen(tuple) - 1);
            strncat(tuple, word, sizeof tuple - strlen(tuple) - 1);
        }
    }
    return lg__yaml_fail(label, err,
                         "label has no entry for \"%s\", which planted can give; add it", tuple);
}

static int read_labels(struct lg_task *t, struct lg__ensemble *p, struct lg__texts *words,
                       const struct lg__yaml *planted, const struct lg__yaml *label, lg_error *err)
{
    struct lg__texts joint = {0};
    int e = 0, places = t->shape.vocab, i = 0, drawn = p->draw.n * (p->joint ? p->k : 1);
    const char **texts = lg__alloc((size_t)p->draw.n * sizeof *texts);
    int32_t *place = lg__alloc(2 * (size_t)places * sizeof *place), *first = place;
    p->label = lg__alloc((size_t)p->tuples * sizeof *p->label);
    if (!texts || !place || !p->label) e = no_memory(err);
    for (i = 0; i < 2 * places && !e; i++) place[i] = -1;
    for (i = 0; i < p->tuples && !e; i++) p->label[i] = -1;
    for (i = 0; i < drawn && !e; i++) place[p->word[i]] = i;
    if (p->first.n) first += places;
    for (i = 0; i < p->first.n && !e; i++) first[p->first_word[i]] = i;
    const struct lg__yaml *n = p->joint ? planted->first->first : NULL;
    for (i = 0; n && !e; n = n->next) {
        texts[i++] = n->key;
        e = lg__texts_add(&joint, texts, err);
    }
    for (n = label->first; n && !e; n = n->next) {
        int32_t tokens[LG__MOST_K];
        if ((e = lg__yaml_is(n, LG__YAML_SCALAR, err)) || (e = check_word(n, n->text, err)) ||
            (e = read_tuple(t, words, n, p->k, 0, tokens, err)))
            break;
        int number = 0; /* in base draw.n, if not joint */
        for (i = 0; i < p->k && !e; i++) {
            const int32_t *of = i ? place : first;
            if (tokens[i] < 0 || tokens[i] >= places || of[tokens[i]] < 0)
                e = lg__yaml_fail(n, err,
                                  "word %d of \"%.80s\" is not in planted; correct it or add it "
                                  "there",
                                  i + 1, n->key);
            else if (!p->joint)
                number = number * p->draw.n + of[tokens[i]];
        }
        if (e) break;
        if (p->joint) number = lg__texts_find(&joint, texts, n->key);
        int32_t token = lg__word_indexed(t, words, n->text, 0, err);
        if (token < 0) e = LG_ERROR_MEMORY;
        if (number >= 0) p->label[number] = token; /* else: joint does not list this tuple */
    }
    if (!e) e = check_labels(t, p, texts, label, err);
    lg__texts_free(&joint);
    free(texts);
    free(place);
    return e;
}

/* label: parity, majority, lookup or count: the label of each tuple by a rule. */
static int rule_labels(struct lg_task *t, struct lg__ensemble *p, struct lg__texts *words,
                       const struct lg__yaml *label, lg_error *err)
{
    static const char *const rules[] = {"parity", "majority", "lookup", "count", NULL};
    enum { PARITY, MAJORITY, LOOKUP, COUNT };
    int rule = 0, e = lg__yaml_choice(label, rules, &rule, err);
    if (e) return e;
    if (rule == MAJORITY && p->first.n)
        return lg__yaml_fail(
            label, err,
            "label is majority, but the first planted word is not one of the "
            "rest; take parity, lookup or count, or write the label of each tuple");
    if (p->joint)
        return lg__yaml_fail(label, err,
                             "label is the rule %s, but planted is joint; write the label of each "
                             "tuple, or give planted one weight a word",
                             label->text);
    p->label = lg__alloc((size_t)p->tuples * sizeof *p->label);
    int *count = lg__alloc((size_t)p->draw.n * sizeof *count);
    if (!p->label || !count) e = no_memory(err);
    for (int tuple = 0; tuple < p->tuples && !e; tuple++) {
        char numbered[32];
        const char *word = numbered;
        int sum = 0, most = 0;
        for (int i = 0; i < p->draw.n; i++) count[i] = 0;
        for (int j = 0; j < p->k; j++) {
            int number = digit(p, tuple, j);
            sum += number;
            if (rule == MAJORITY) count[number]++;
        }
        for (int i = 1; i < p->draw.n; i++)
            if (count[i] > count[most]) most = i;
        if (rule == PARITY)
            word = sum % 2 ? "odd" : "even";
        else if (rule == MAJORITY)
            word = t->words[p->word[most]];
        else
            snprintf(numbered, sizeof numbered, "y%d", rule == LOOKUP ? tuple : sum);
        p->label[tuple] = lg__word_indexed(t, words, word, 0, err);
        if (p->label[tuple] < 0) e = LG_ERROR_MEMORY;
    }
    free(count);
    return e;
}

/* What stands in place of the file's own k and positions. */
static int change_table(struct lg__ensemble *p, const struct lg__yaml *k,
                        struct lg__ensemble_change change, const struct lg__yaml **positions,
                        lg_error *err)
{
    if (change.k) p->k = change.k;
    if (!change.span) return 0;
    if (change.span < p->k)
        return lg__yaml_fail(k, err, "a span of %d cannot hold k = %d tokens; take a wider one",
                             change.span, p->k);
    *positions = NULL;
    p->where = LG__SPAN;
    p->span = change.span;
    return 0;
}

static int read_table(struct lg_task *t, struct lg__ensemble *p, struct lg__texts *words,
                      const struct lg__yaml *root, struct lg__ensemble_change change, lg_error *err)
{
    static const char *const keys[] = {"name",       "k",     "positions",     "planted",
                                       "background", "label", "probabilities", NULL};
    static const char *const no_yes[] = {"no", "yes", NULL};
    const struct lg__yaml *k, *planted, *background, *label, *n;
    int64_t members = 0;
    int e, sure = 0;
    if ((e = lg__yaml_keys(root, keys, err)) ||
        (e = lg__yaml_need(root, "k", LG__YAML_SCALAR, &k, err)) ||
        (e = lg__yaml_int(k, 1, LG__MOST_K, &members, err)) ||
        (e = lg__yaml_need(root, "background", LG__YAML_MAP, &background, err)) ||
        (e = lg__yaml_need(root, "planted", LG__YAML_MAP, &planted, err)))
        return e;
    label = lg__yaml_get(root, "label");
    if ((!label || label->kind == LG__YAML_LIST) &&
        (e = lg__yaml_need(root, "label", LG__YAML_MAP, &label, err)))
        return e;
    if ((n = lg__yaml_get(root, "name")) && (e = lg__yaml_is(n, LG__YAML_SCALAR, err))) return e;
    if ((n = lg__yaml_get(root, "probabilities")) && (e = lg__yaml_choice(n, no_yes, &sure, err)))
        return e;
    n = lg__yaml_get(root, "positions");
    snprintf(p->file, sizeof p->file, "%s", root->file);
    p->line_k = p->line_positions = k->line;
    p->k = (int)members;
    if ((e = change_table(p, k, change, &n, err))) return e;
    p->least = p->k;
    if ((e = read_positions(p, n, sure, err)) ||
        (e = read_weights(background, sure, &p->background, err)) ||
        (e = read_words(t, words, background, NULL, err)) ||
        (e = read_planted(t, p, words, planted, sure, err)))
        return e;
    return label->kind == LG__YAML_SCALAR ? rule_labels(t, p, words, label, err)
                                          : read_labels(t, p, words, planted, label, err);
}

int lg__ensemble_read(struct lg__ensemble *p, struct lg_task *t, const char *table,
                      struct lg__ensemble_change change, lg_error *err)
{
    const char *ready = strcmp(table, "pair") == 0     ? pair_table
                        : strcmp(table, "lookup") == 0 ? lookup_table
                                                       : NULL;
    lg_error why = {0};
    struct lg__yaml *root = ready ? lg__yaml_parse(table, ready, &why) : lg__yaml_read(table, &why);
    if (!root && why.code == LG_ERROR_SYSTEM)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "task planted: table %s; it must be a YAML file, or a ready table: pair or "
                        "lookup",
                        why.text);
    if (!root) return lg__fail(err, why.code, "%s", why.text);
    struct lg__texts words = {0};
    int e = read_table(t, p, &words, root, change, err);
    lg__texts_free(&words);
    lg__yaml_free(root);
    return e;
}

void lg__ensemble_clear(struct lg__ensemble *p)
{
    free(p->pattern.column);
    free(p->background.column);
    free(p->draw.column);
    free(p->first.column);
    free(p->offset);
    free(p->word);
    free(p->first_word);
    free(p->label);
}

/* ---- Samples ---------------------------------------------------------------------------- */

/* A uniformly random k-subset of from..from+n-1, in order (Floyd): value j is new in round j, so
 * it may stand for one that was drawn before. */
static void draw_subset(lg_rng *r, int from, int n, int k, int *place)
{
    for (int count = 0; count < k; count++) {
        int last = n - k + count, value = from + (int)lg_rng_below(r, (uint32_t)last + 1);
        for (int i = 0; i < count; i++)
            if (place[i] == value) value = from + last;
        int at = count;
        for (; at > 0 && place[at - 1] > value; at--) place[at] = place[at - 1];
        place[at] = value;
    }
}

void lg__ensemble_places(const struct lg__ensemble *p, lg_rng *r, int length, int *place)
{
    if (p->where == LG__COLUMNS) {
        int columns = length / p->k, column = (int)lg_rng_below(r, (uint32_t)columns);
        for (int i = 0; i < p->k; i++) place[i] = i * columns + column;
    } else if (p->where == LG__PATTERNS) {
        const int32_t *offset = p->offset + (size_t)choose(&p->pattern, r) * (size_t)p->k;
        int first = (int)lg_rng_below(r, (uint32_t)(length - offset[p->k - 1]));
        for (int i = 0; i < p->k; i++) place[i] = first + offset[i];
    } else if (p->where == LG__SPAN && length >= p->span) {
        place[0] = (int)lg_rng_below(r, (uint32_t)(length - p->span + 1));
        draw_subset(r, place[0] + 1, p->span - 1, p->k - 1, place + 1);
    } else {
        draw_subset(r, 0, length, p->k, place);
    }
}

int lg__ensemble_fill(const struct lg__ensemble *p, lg_rng *r, int length, const int *place,
                      int32_t *tokens)
{
    int tuple = 0;
    for (int i = 0; i < length; i++) tokens[i] = choose(&p->background, r);
    if (p->joint) tuple = choose(&p->draw, r);
    for (int j = 0; j < p->k; j++) {
        int apart = !j && p->first.n; /* drawn from words of its own */
        int drawn = p->joint ? tuple * p->k + j : choose(apart ? &p->first : &p->draw, r);
        if (!p->joint) tuple = tuple * p->draw.n + drawn;
        tokens[place[j]] = apart ? p->first_word[drawn] : p->word[drawn];
    }
    return tuple;
}
