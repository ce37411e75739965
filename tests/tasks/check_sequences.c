/* check_sequences.c: checkers of copy, reverse, sort, majority and flip-flop. */
#include "check.h"

enum { NO = LG_ABSENT };

/* x1 .. xn =, each x behind a hint if there are hints. */
struct row {
    int n, step;  /* words a letter takes */
    int at;       /* behind the = */
    int *letter;  /* [n] its place in the alphabet */
    int alphabet; /* letters there are */
};

static const char *row_prompt(struct ck_text *t, int alphabet, int w, int unique, int hints,
                              struct row *x)
{
    *x = (struct row){.step = hints ? 2 : 1, .alphabet = ck_set_number(t, "alphabet", alphabet)};
    x->letter = ck_room(t, (size_t)t->n * sizeof(int));
    while (!ck_is(t, x->at, "=")) {
        if (x->at + x->step > t->n) return "no = behind the letters";
        int letter = ck_letter(t->word[x->at + x->step - 1], x->alphabet, w);
        if (letter < 0) return "a word is no letter of the alphabet";
        if (hints) {
            int first = ck_numbered(t->word[0], "h", hints);
            int hint = ck_numbered(t->word[x->at], "h", hints);
            if (first < 0 || hint != (first + x->n) % hints) return "a hint is not the next one";
        }
        for (int i = 0; unique && i < x->n; i++)
            if (x->letter[i] == letter) return "a letter stands there twice";
        x->letter[x->n++] = letter;
        x->at += x->step;
    }
    if (!x->n) return "no letters";
    if (hints && x->n > hints) return "a hint would stand for two letters";
    x->at++;
    return NULL;
}

/* ---- copy and reverse ------------------------------------------------------------------- */

static const char *repeat_prompt(struct ck_text *t, struct row *x)
{
    return row_prompt(t, 26, 0, ck_set_is(t, "kind", "random", "unique"),
                      ck_set_number(t, "hints", 0), x);
}

/* From the end of the text backwards for copy, forwards for reverse. */
static const char *repeat_check(struct ck_text *t, int back)
{
    struct row x;
    const char *wrong = repeat_prompt(t, &x);
    if (wrong) return wrong;
    for (int i = 0; i < x.n; i++)
        for (int k = 0; k < x.step; k++) {
            int to = back ? x.n - 1 - i : i;
            if (!ck_same(t, i * x.step + k, x.at + to * x.step + k))
                return "a letter is not repeated in its place";
        }
    return ck_stops(t, x.at + x.n * x.step);
}

static const char *repeat_solve(struct ck_text *t, struct ck_words *w, int back)
{
    struct row x;
    const char *wrong = repeat_prompt(t, &x);
    if (!wrong) wrong = ck_ends(t, x.at);
    if (wrong) return wrong;
    for (int i = back ? x.n - 1 : 0; i >= 0 && i < x.n; i += back ? -1 : 1) {
        if (x.step == 2) ck_say(w, t->word[2 * i]);
        ck_say(w, t->word[i * x.step + x.step - 1]);
    }
    ck_say(w, "$");
    return NULL;
}

static const char *repeat_couple(struct ck_text *t, struct ck_coupling *c, int back)
{
    struct row x;
    const char *wrong = repeat_prompt(t, &x);
    if (wrong) return wrong;
    c->levels = c->needed = c->reach[0] = 1;
    c->level[0] = "column";
    c->length = x.n;
    c->answer = x.at;
    for (int i = 0; i < x.n * x.step; i++) ck_label(c, i / x.step + !back, NO, NO);
    ck_label(c, back ? x.n : 0, NO, NO);
    for (int i = 0; i < x.n * x.step; i++)
        ck_label(c, back ? x.n - 1 - i / x.step : i / x.step + 1, NO, NO);
    ck_label(c, back ? -1 : x.n + 1, NO, NO);
    return NULL;
}

static const char *copy_check(struct ck_text *t) { return repeat_check(t, 0); }
static const char *copy_solve(struct ck_text *t, struct ck_words *w)
{
    return repeat_solve(t, w, 0);
}
static const char *copy_couple(struct ck_text *t, struct ck_coupling *c)
{
    return repeat_couple(t, c, 0);
}
static const char *reverse_check(struct ck_text *t) { return repeat_check(t, 1); }
static const char *reverse_solve(struct ck_text *t, struct ck_words *w)
{
    return repeat_solve(t, w, 1);
}
static const char *reverse_couple(struct ck_text *t, struct ck_coupling *c)
{
    return repeat_couple(t, c, 1);
}

/* ---- sort ----------------------------------------------------------------------------------- */

static const char *sort_prompt(struct ck_text *t, struct row *x)
{
    return row_prompt(t, 100, 1, ck_set_is(t, "kind", "unique", "unique"), 0, x);
}

static int letter_at(const struct ck_text *t, int i, int alphabet)
{
    return i < t->n ? ck_letter(t->word[i], alphabet, 1) : -1;
}

/* In order, and each letter as often as in the prompt. */
static const char *sort_check(struct ck_text *t)
{
    struct row x;
    const char *wrong = sort_prompt(t, &x);
    if (wrong) return wrong;
    for (int i = 0; i < x.n; i++) {
        int letter = letter_at(t, x.at + i, x.alphabet), balance = 0;
        if (letter < 0) return "a word of the answer is no letter";
        if (i && letter < letter_at(t, x.at + i - 1, x.alphabet)) return "the answer falls";
        for (int j = 0; j < x.n; j++)
            balance += (x.letter[j] == letter) - (ck_same(t, x.at + i, x.at + j) ? 1 : 0);
        if (balance) return "a letter is not there as often as in the prompt";
    }
    return ck_stops(t, x.at + x.n);
}

/* The places of the letters in rising order, equal ones by place. */
static int *order(struct ck_text *t, const struct row *x)
{
    int *place = ck_room(t, (size_t)x->n * sizeof(int));
    for (int i = 0; i < x->n; i++) {
        int j = i;
        for (; j > 0 && x->letter[place[j - 1]] > x->letter[i]; j--) place[j] = place[j - 1];
        place[j] = i;
    }
    return place;
}

static const char *sort_solve(struct ck_text *t, struct ck_words *w)
{
    struct row x;
    const char *wrong = sort_prompt(t, &x);
    if (!wrong) wrong = ck_ends(t, x.at);
    if (wrong) return wrong;
    int *place = order(t, &x);
    for (int i = 0; i < x.n; i++) ck_say(w, t->word[place[i]]);
    ck_say(w, "$");
    return NULL;
}

static const char *sort_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct row x;
    const char *wrong = sort_prompt(t, &x);
    if (wrong) return wrong;
    c->levels = c->needed = 1;
    c->length = x.n;
    c->answer = x.at;
    int *place = order(t, &x);
    for (int i = 1; i <= x.n; i++) ck_label(c, i, NO, NO);
    ck_label(c, 0, NO, NO);
    for (int i = 0; i < x.n; i++) ck_label(c, place[i] + 1, NO, NO);
    ck_label(c, x.n + 1, NO, NO);
    return NULL;
}

/* ---- majority ------------------------------------------------------------------------------- */

static int times(const struct row *x, int letter)
{
    int n = 0;
    for (int i = 0; i < x->n; i++) n += x->letter[i] == letter;
    return n;
}

static const char *majority_prompt(struct ck_text *t, struct row *x, int *winner)
{
    const char *wrong = row_prompt(t, 2, 0, 0, 0, x);
    if (wrong) return wrong;
    int most = 0, tie = 0;
    for (int i = 0; i < x->n; i++) {
        int n = times(x, x->letter[i]);
        if (n > most) {
            most = n;
            *winner = i;
            tie = 0;
        } else if (n == most && x->letter[i] != x->letter[*winner]) {
            tie = 1;
        }
    }
    return tie ? "two words are the most frequent" : NULL;
}

static const char *majority_check(struct ck_text *t)
{
    struct row x;
    int winner;
    const char *wrong = majority_prompt(t, &x, &winner);
    if (wrong) return wrong;
    wrong = ck_ends(t, x.at + 1);
    if (wrong) return wrong;
    int y = ck_letter(t->word[x.at], x.alphabet, 0);
    for (int i = 0; i < x.n; i++)
        if (x.letter[i] != y && times(&x, x.letter[i]) >= times(&x, y))
            return "the answer is not the most frequent word";
    return NULL;
}

static const char *majority_solve(struct ck_text *t, struct ck_words *w)
{
    struct row x;
    int winner;
    const char *wrong = majority_prompt(t, &x, &winner);
    if (!wrong) wrong = ck_ends(t, x.at);
    if (!wrong) ck_say(w, t->word[winner]);
    return wrong;
}

static const char *majority_couple(struct ck_text *t, struct ck_coupling *c)
{
    struct row x;
    int winner;
    const char *wrong = majority_prompt(t, &x, &winner);
    if (wrong) return wrong;
    c->levels = c->needed = c->reach[0] = 1;
    c->length = x.n;
    c->answer = x.at;
    for (int i = 0; i < x.n; i++) ck_label(c, 0, NO, NO);
    ck_label(c, 1, NO, NO);
    ck_label(c, 0, NO, NO);
    return NULL;
}

/* ---- flip-flop ------------------------------------------------------------------------------ */

/* The prompt is words 0..end-1: pairs and a last r. */
static const char *flip_prompt(const struct ck_text *t, int end, int *n)
{
    *n = end / 2 + 1;
    if (end < 3 || end % 2 == 0) return "the prompt is not pairs and an r";
    if (!ck_is(t, 0, "w")) return "the first is no w";
    if (!ck_is(t, end - 1, "r")) return "the last is no r";
    int ignore = ck_set_number(t, "ignore", 80), last = 1;
    for (int i = 0; i + 1 < end; i += 2) {
        if (!ck_is(t, i + 1, "0") && !ck_is(t, i + 1, "1")) return "no bit behind an operation";
        if (ck_is(t, i, "w"))
            last = i + 1;
        else if (ck_is(t, i, "r") && !ck_same(t, i + 1, last))
            return "a read in the middle is not the last written bit";
        else if (!ck_is(t, i, "r") && !(ignore > 0 && ck_is(t, i, "i")))
            return "no operation where one must stand";
    }
    return NULL;
}

static int last_write(const struct ck_text *t, int pairs)
{
    int pair = pairs - 1;
    while (!ck_is(t, 2 * pair, "w")) pair--;
    return pair;
}

/* Every read, the last too, tells the bit of the latest write. */
static const char *flip_check(struct ck_text *t)
{
    int n;
    const char *wrong = flip_prompt(t, t->n - 1, &n);
    if (wrong) return wrong;
    int held = 0;
    for (int i = 0; i < t->n; i += 2)
        if (ck_is(t, i, "w")) held = ck_is(t, i + 1, "1");
    return ck_is(t, t->n - 1, held ? "1" : "0") ? NULL : "the answer is not the last written bit";
}

static const char *flip_solve(struct ck_text *t, struct ck_words *w)
{
    int n;
    const char *wrong = flip_prompt(t, t->n, &n);
    if (!wrong) ck_say(w, t->word[2 * last_write(t, n) + 1]);
    return wrong;
}

static const char *flip_couple(struct ck_text *t, struct ck_coupling *c)
{
    int n;
    const char *wrong = flip_prompt(t, t->n - 1, &n);
    if (wrong) return wrong;
    c->levels = c->needed = 1;
    c->length = n;
    c->answer = t->n - 1;
    for (int i = 0; i + 1 < t->n; i++) ck_label(c, i / 2 + 1, NO, NO);
    ck_label(c, last_write(t, n) + 1, NO, NO);
    return NULL;
}

const struct ck_task ck_sequences[] = {
    {"copy", 1, copy_check, copy_solve, copy_couple},
    {"reverse", 1, reverse_check, reverse_solve, reverse_couple},
    {"sort", 1, sort_check, sort_solve, sort_couple},
    {"majority", 0, majority_check, majority_solve, majority_couple},
    {"flip-flop", 0, flip_check, flip_solve, flip_couple},
    {.name = NULL},
};
