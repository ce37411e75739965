/* quick.c: lines of JSON as most of them are, read ten times as fast. It knows no escapes, no
 * new words, no keys twice and no mistakes: at the first thing out of the ordinary it gives up,
 * having decided nothing, and the line is read with all care. */
#include <string.h>

#include "tasks/lines.h"

enum { MOST_LETTERS = 63, MOST_DIGITS = 18 };

struct scan {
    const char *at; /* the text ends with a 0, which no rule takes */
    const struct lg__line_parser *p;
    lg_example *x;
    int n, levels, losses; /* entries read so far; -1: the key was not there */
    int count[LG_LEVELS];
};

static void skip(struct scan *s)
{
    while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r') s->at++;
}

/* Takes this character and the spaces around it. */
static int take(struct scan *s, char c)
{
    skip(s);
    if (*s->at != c) return 0;
    s->at++;
    skip(s);
    return 1;
}

static int take_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(s->at, word, n) != 0) return 0;
    s->at += n;
    return 1;
}

/* A whole number as it is written most simply; fractions and exponents are left to the caller,
 * who finds no comma or bracket behind it. */
static int take_number(struct scan *s, int64_t *value)
{
    int minus = *s->at == '-', n = 0;
    const char *digits = s->at + minus;
    for (*value = 0; digits[n] >= '0' && digits[n] <= '9'; n++) {
        if (n == MOST_DIGITS) return 0; /* one more might not fit */
        *value = 10 * *value + (digits[n] - '0');
    }
    if (n == 0 || (digits[0] == '0' && (n > 1 || minus))) return 0;
    if (minus) *value = -*value;
    s->at = digits + n;
    return 1;
}

static int take_token(struct scan *s)
{
    char word[MOST_LETTERS + 1];
    int quoted = *s->at == '"';
    const char *from = s->at + quoted, *end = from;
    int64_t number;
    if (quoted) {
        while (*end && *end != '"' && *end != '\\') end++;
        if (*end != '"') return 0;
        s->at = end + 1;
    } else {
        if (!take_number(s, &number)) return 0;
        end = s->at;
    }
    size_t n = (size_t)(end - from);
    if (n > MOST_LETTERS) return 0;
    memcpy(word, from, n);
    word[n] = 0;
    s->x->tokens[s->n] = lg__word_find(s->p->t, &s->p->words, word);
    return s->x->tokens[s->n++] >= 0;
}

static int take_tokens(struct scan *s)
{
    if (s->n >= 0 || !take(s, '[')) return 0;
    s->n = 0;
    do {
        if (!take_token(s)) return 0;
    } while (take(s, ','));
    return take(s, ']');
}

static int take_level(struct scan *s, int level)
{
    int n = 0;
    if (!take(s, '[')) return 0;
    do {
        int64_t id = LG_ABSENT;
        if (!take_word(s, "null") && (!take_number(s, &id) || id < -1 || id >= INT32_MAX)) return 0;
        s->x->labels[level][n++] = (int32_t)id;
    } while (take(s, ','));
    s->count[level] = n;
    return take(s, ']');
}

static int take_ids(struct scan *s)
{
    if (s->levels >= 0) return 0;
    skip(s);
    const char *next = s->at + (*s->at == '[');
    next += strspn(next, " \t\r");
    if (*next != '[') {
        s->levels = 1;
        return take_level(s, 0);
    }
    s->levels = 0;
    take(s, '[');
    do {
        if (s->levels == LG_LEVELS || !take_level(s, s->levels++)) return 0;
    } while (take(s, ','));
    return take(s, ']');
}

static int take_loss(struct scan *s)
{
    if (s->losses >= 0 || !take(s, '[')) return 0;
    s->losses = 0;
    do {
        int one = take_word(s, "1") || take_word(s, "true");
        if (!one && !take_word(s, "0") && !take_word(s, "false")) return 0;
        s->x->loss[s->losses++] = (unsigned char)one;
    } while (take(s, ','));
    return take(s, ']');
}

/* A number of `least` or more that may be said once; *value is -1 before. */
static int take_measure(struct scan *s, int *value, int least)
{
    int64_t number;
    skip(s);
    if (*value >= 0 || !take_number(s, &number) || number < least || number > LG__LINE_MOST)
        return 0;
    *value = (int)number;
    return 1;
}

static int take_pair(struct scan *s)
{
    if (take_word(s, "\"tokens\"")) return take(s, ':') && take_tokens(s);
    if (take_word(s, "\"ids\"")) return take(s, ':') && take_ids(s);
    if (take_word(s, "\"loss\"")) return take(s, ':') && take_loss(s);
    if (take_word(s, "\"length\"")) return take(s, ':') && take_measure(s, &s->x->length, 1);
    if (take_word(s, "\"sparsity\"")) return take(s, ':') && take_measure(s, &s->x->sparsity, 0);
    return 0;
}

int lg__line_quick(const struct lg__line_parser *p, const char *text, size_t size, lg_example *x,
                   int *levels)
{
    struct scan s = {.at = text, .p = p, .x = x, .n = -1, .levels = -1, .losses = -1};
    /* An entry takes two bytes or more, with its comma. */
    if (size / 2 >= (size_t)LG__LINE_MOST || lg__example_room(x, (int)(size / 2) + 1, NULL))
        return 0;
    x->length = x->sparsity = -1;
    if (!take(&s, '{')) return 0;
    do {
        if (!take_pair(&s)) return 0;
    } while (take(&s, ','));
    if (!take(&s, '}') || s.at != text + size || s.n < 2) return 0;
    for (int l = 0; l < s.levels; l++)
        if (s.count[l] != s.n) return 0;
    if (s.losses >= 0 && s.losses != s.n) return 0;
    for (int i = 0; i < s.n && s.losses < 0; i++) x->loss[i] = i > 0;
    x->n = s.n;
    if (x->sparsity < 0) x->sparsity = 0;
    if (x->length < 0) x->length = s.n;
    *levels = s.levels < 0 ? 0 : s.levels;
    return 1;
}
