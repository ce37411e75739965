/* check_text.c: words, settings and numbers of a text; the comparison of labels. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const struct ck_task *const families[] = {ck_parity,   ck_lookup,    ck_planted, ck_sums,
                                                 ck_products, ck_sequences, ck_machine};

const struct ck_task *ck_find(const char *name)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct ck_task *t = families[f]; t->name; t++)
            if (!strcmp(t->name, name)) return t;
    return NULL;
}

const struct ck_task *ck_at(int i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct ck_task *t = families[f]; t->name; t++)
            if (!i--) return t;
    return NULL;
}

/* ---- Words ---------------------------------------------------------------------------- */

struct room {
    struct room *next;
    uint64_t data[];
};

/* A test cannot go on without memory. */
static void *got(void *p)
{
    if (!p) abort();
    return p;
}

void *ck_room(struct ck_text *t, size_t bytes)
{
    struct room *r = got(calloc(1, sizeof *r + bytes));
    r->next = t->rooms;
    t->rooms = r;
    return r->data;
}

int ck_open(struct ck_text *t, const char *text, const char *const *setting, int settings)
{
    *t = (struct ck_text){.setting = setting, .settings = settings};
    size_t size = strlen(text);
    char *copy = ck_room(t, size + 1);
    memcpy(copy, text, size + 1);
    int words = 1;
    for (size_t i = 0; i < size; i++) words += text[i] == ' ';
    t->word = ck_room(t, (size_t)words * sizeof *t->word);
    for (char *from = copy; from;) {
        char *space = strchr(from, ' ');
        if (space) *space = 0;
        if (!*from) return -1; /* two spaces, or one at an end */
        t->word[t->n++] = from;
        from = space ? space + 1 : NULL;
    }
    return 0;
}

void ck_close(struct ck_text *t)
{
    for (struct room *r = t->rooms, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    *t = (struct ck_text){0};
}

const char *ck_set(const struct ck_text *t, const char *name, const char *fallback)
{
    size_t size = strlen(name);
    for (int i = 0; i < t->settings; i++)
        if (!strncmp(t->setting[i], name, size) && t->setting[i][size] == '=')
            return t->setting[i] + size + 1;
    return fallback;
}

int ck_set_number(const struct ck_text *t, const char *name, int fallback)
{
    const char *value = ck_set(t, name, NULL);
    return value ? atoi(value) : fallback;
}

int ck_set_is(const struct ck_text *t, const char *name, const char *fallback, const char *value)
{
    return !strcmp(ck_set(t, name, fallback), value);
}

int ck_is(const struct ck_text *t, int i, const char *word)
{
    return i >= 0 && i < t->n && !strcmp(t->word[i], word);
}

int ck_same(const struct ck_text *t, int i, int j)
{
    return i >= 0 && j >= 0 && i < t->n && j < t->n && !strcmp(t->word[i], t->word[j]);
}

const char *ck_ends(const struct ck_text *t, int i)
{
    return t->n < i ? "the text is cut short" : t->n > i ? "words behind the end" : NULL;
}

const char *ck_stops(const struct ck_text *t, int i)
{
    if (!ck_is(t, i, "$")) return "no $ behind the answer";
    return ck_ends(t, i + 1);
}

int ck_numbered(const char *word, const char *prefix, int most)
{
    size_t size = strlen(prefix);
    if (strncmp(word, prefix, size)) return -1;
    const char *s = word + size;
    if (!*s || (*s == '0' && s[1])) return -1;
    int64_t v = 0;
    for (; *s; s++) {
        if (*s < '0' || *s > '9') return -1;
        v = 10 * v + (*s - '0');
        if (v >= most) return -1;
    }
    return (int)v;
}

static const char digits[] = "0123456789ABCDEF";

int ck_digit(const char *word, int base)
{
    if (!*word || word[1]) return -1;
    const char *at = strchr(digits, *word);
    return at && at - digits < base ? (int)(at - digits) : -1;
}

const char *ck_digit_word(int digit)
{
    static const char word[16][2] = {"0", "1", "2", "3", "4", "5", "6", "7",
                                     "8", "9", "A", "B", "C", "D", "E", "F"};
    return word[digit];
}

int ck_letter(const char *word, int alphabet, int w)
{
    if (w || alphabet > 26) return ck_numbered(word, "w", alphabet);
    return *word >= 'a' && *word < 'a' + alphabet && !word[1] ? *word - 'a' : -1;
}

const char *ck_named(struct ck_text *t, const char *prefix, int number)
{
    char *word = ck_room(t, 24);
    snprintf(word, 24, "%.8s%d", prefix, number);
    return word;
}

void ck_say(struct ck_words *w, const char *word)
{
    if (w->n == w->room) {
        w->room = 2 * w->room + 16;
        w->word = got(realloc(w->word, (size_t)w->room * sizeof *w->word));
    }
    w->word[w->n++] = word;
}

/* ---- Numbers -------------------------------------------------------------------------- */

const char *ck_number_read(struct ck_text *t, int *at, int base, int reversed, struct ck_hints *h,
                           struct ck_number *number)
{
    int step = h && h->most ? 2 : 1, from = *at, n = 0;
    while (from + n * step + step - 1 < t->n &&
           ck_digit(t->word[from + n * step + step - 1], base) >= 0 &&
           (step == 1 || ck_numbered(t->word[from + n * step], "h", h->most) >= 0))
        n++;
    if (!n) return "no digits where a number must stand";
    *number = (struct ck_number){n, ck_room(t, (size_t)n * sizeof(int))};
    for (int i = 0; i < n; i++) {
        int j = reversed ? i : n - 1 - i; /* the significance of what is read i-th */
        number->digit[j] = ck_digit(t->word[from + i * step + step - 1], base);
        if (step == 1) continue;
        int hint = ck_numbered(t->word[from + i * step], "h", h->most);
        int first = ((hint - j) % h->most + h->most) % h->most;
        if (h->first < 0) h->first = first;
        if (h->first != first) return "a hint does not name its digit's place";
    }
    *at = from + n * step;
    return NULL;
}

void ck_number_say(struct ck_text *t, struct ck_words *w, const int *digit, int n, int reversed,
                   const struct ck_hints *h)
{
    for (int i = 0; i < n; i++) {
        int j = reversed ? i : n - 1 - i;
        if (h && h->most) ck_say(w, ck_named(t, "h", (h->first + j) % h->most));
        ck_say(w, ck_digit_word(digit[j]));
    }
}

int ck_number_length(const struct ck_number *a)
{
    int n = a->n;
    while (n > 1 && !a->digit[n - 1]) n--;
    return n;
}

int ck_number_at(const struct ck_number *a, int j) { return j < a->n ? a->digit[j] : 0; }

/* ---- The whole check ------------------------------------------------------------------ */

const char *ck_check(const char *task, const char *text, const char *const *setting, int settings)
{
    const struct ck_task *c = ck_find(task);
    if (!c) return "this task has no checker";
    struct ck_text t;
    const char *wrong = "the words are not between single spaces";
    if (!ck_open(&t, text, setting, settings)) wrong = c->check(&t);
    ck_close(&t);
    return wrong;
}

void ck_label(struct ck_coupling *c, int32_t l1, int32_t l2, int32_t l3)
{
    if (c->n == c->room) {
        c->room = 2 * c->room + 64;
        for (int l = 0; l < LG_LEVELS; l++)
            c->label[l] = got(realloc(c->label[l], (size_t)c->room * sizeof **c->label));
    }
    c->label[0][c->n] = l1;
    c->label[1][c->n] = l2;
    c->label[2][c->n++] = l3;
}

static _Thread_local char said[200];

static const char *differ(const char *what, int is, int must)
{
    snprintf(said, sizeof said, "%s is %d, must be %d", what, is, must);
    return said;
}

static const char *compare_shape(const struct ck_coupling *c, const struct ck_task *task,
                                 const lg_task_shape *s)
{
    if (s->levels != c->levels) return differ("levels", s->levels, c->levels);
    if (s->needed != c->needed) return differ("needed", s->needed, c->needed);
    for (int l = 0; l < c->levels; l++) {
        if (s->reach[l] != c->reach[l]) {
            snprintf(said, sizeof said, "reach of level %d is %d, must be %d", l + 1, s->reach[l],
                     c->reach[l]);
            return said;
        }
        if (!s->level[l] || (c->level[l] && strcmp(s->level[l], c->level[l])))
            return "a level has another name";
    }
    if (!task->stop) return s->stop == LG_NONE ? NULL : "there is a stop token";
    if (s->stop < 0 || s->stop >= s->vocab || strcmp(s->words[s->stop], "$"))
        return "the stop token is not $";
    return NULL;
}

static const char *compare_labels(const struct ck_coupling *c, const lg_example *x)
{
    for (int i = 0; i < x->n; i++) {
        int has = 0;
        for (int l = 0; l < c->levels; l++) {
            int32_t is = x->labels[l][i], must = c->label[l][i];
            if (is != must) {
                snprintf(said, sizeof said, "token %d has label %d at level %d, must have %d", i,
                         is, l + 1, must);
                return said;
            }
            if (is != LG_ABSENT && is < -1) return "a label is below -1";
            has |= l < c->needed && is != LG_ABSENT;
        }
        if (!has) return "a token has no label at the needed levels";
        if (x->loss[i] != (i >= c->answer)) return differ("loss", x->loss[i], i >= c->answer);
    }
    return NULL;
}

/* Changes are counted from the latest token that has a label. */
static void measure(const struct ck_coupling *c, int most[LG_LEVELS])
{
    for (int l = 0; l < c->levels; l++) {
        int32_t last = LG_ABSENT;
        for (int i = 0; i < c->n; i++) {
            int32_t v = c->label[l][i];
            if (v == LG_ABSENT) continue;
            if (i >= c->answer && last != LG_ABSENT && abs(v - last) > most[l])
                most[l] = abs(v - last);
            last = v;
        }
    }
}

const char *ck_coupled(const char *task, const char *text, const char *const *setting, int settings,
                       const lg_task_shape *shape, const lg_example *x, int most[LG_LEVELS])
{
    const struct ck_task *k = ck_find(task);
    if (!k) return "this task has no checker";
    struct ck_text t;
    struct ck_coupling c = {0};
    const char *wrong = ck_open(&t, text, setting, settings)
                            ? "the words are not between single spaces"
                            : k->couple(&t, &c);
    if (!wrong && c.n != t.n) wrong = differ("the number of labels", c.n, t.n);
    if (!wrong && x->n != t.n) wrong = differ("n", x->n, t.n);
    if (!wrong && x->answer != c.answer) wrong = differ("answer", x->answer, c.answer);
    if (!wrong && x->length != c.length) wrong = differ("length", x->length, c.length);
    if (!wrong && x->sparsity != c.sparsity) wrong = differ("sparsity", x->sparsity, c.sparsity);
    if (!wrong) wrong = compare_shape(&c, k, shape);
    if (!wrong) wrong = compare_labels(&c, x);
    if (!wrong) measure(&c, most);
    for (int l = 0; !wrong && l < c.levels; l++)
        if (c.reach[l] && most[l] > c.reach[l]) wrong = differ("a change", most[l], c.reach[l]);
    for (int l = 0; l < LG_LEVELS; l++) free(c.label[l]);
    ck_close(&t);
    return wrong;
}
