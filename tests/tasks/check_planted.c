/* check_planted.c: checker of planted. Its tables are written down here a second time; those
 * that are read from a file are known by the file's name. In all of them background and planted
 * words differ, so that a text shows which tokens were planted. */
#include <string.h>

#include "check.h"

enum { NO = LG_ABSENT, MOST_K = 4 };

enum places { ANYWHERE, SPAN_5, PATTERNS, COLUMNS };

struct ensemble {
    const char *name;
    int k;
    enum places places;
    const char *background, *planted; /* words, one letter each, or P0 and P1 as 0 and 1 */
    const char *(*label)(const int *v);
    int (*can)(const int *v); /* NULL: any tuple */
};

static const char *equal_label(const int *v) { return v[0] == v[1] ? "same" : "other"; }

static const char *binary_label(const int *v)
{
    static const char *const word[] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    return word[4 * v[0] + 2 * v[1] + v[2]];
}

static const char *count_label(const int *v) { return (v[0] + v[1] + v[2]) % 2 ? "odd" : "even"; }

static const char *joint_label(const int *v) { return v[1] ? "no" : "yes"; }
static int joint_can(const int *v) { return v[0] == 0; }

static const struct ensemble ensembles[] = {
    {"pair", 2, ANYWHERE, "abcdefgh", "ABCD", equal_label, NULL},
    {"lookup", 3, ANYWHERE, "abcdefgh", NULL, binary_label, NULL},
    {"span.yaml", 3, SPAN_5, "abc", "AB", count_label, NULL},
    {"patterns.yaml", 2, PATTERNS, "xyz", "AB", joint_label, joint_can},
    {"columns.yaml", 3, COLUMNS, "ab", "AB", count_label, NULL},
};

const struct ck_file ck_planted_files[] = {
    {"span.yaml", "name: span\n"
                  "k: 3\n"
                  "positions: {span: 5}\n"
                  "planted: {A: 1, B: 3}\n"
                  "background: {a: 1, b: 1, c: 2}\n"
                  "label:\n"
                  "  \"A A A\": even\n"
                  "  \"A A B\": odd\n"
                  "  \"A B A\": odd\n"
                  "  \"A B B\": even\n"
                  "  \"B A A\": odd\n"
                  "  \"B A B\": even\n"
                  "  \"B B A\": even\n"
                  "  \"B B B\": odd\n"},
    {"patterns.yaml", "name: patterns\n"
                      "k: 2\n"
                      "positions: {patterns: [{offsets: [0, 3], weight: 2}, {offsets: [0, 1], "
                      "weight: 1}]}\n"
                      "planted: {joint: {\"A A\": 3, \"A B\": 1}}\n"
                      "background: {x: 1, y: 1, z: 1}\n"
                      "label: {\"A A\": yes, \"A B\": no}\n"},
    {"columns.yaml", "k: 3\n"
                     "positions: columns\n"
                     "probabilities: yes\n"
                     "planted: {A: 0.5, B: 0.5}\n"
                     "background: {a: 0.25, b: 0.75}\n"
                     "label: parity\n"},
    {NULL, NULL},
};

static const struct ensemble *find_ensemble(const struct ck_text *t)
{
    static struct ensemble found;
    const char *table = ck_set(t, "table", "pair"), *slash = strrchr(table, '/');
    for (size_t i = 0; i < sizeof ensembles / sizeof *ensembles; i++)
        if (!strcmp(ensembles[i].name, slash ? slash + 1 : table)) {
            found = ensembles[i];
            found.k = ck_set_number(t, "k", found.k);
            return &found;
        }
    return NULL;
}

/* Which planted word it is, or -1. */
static int planted_word(const struct ensemble *e, const char *word)
{
    if (!e->planted) return ck_numbered(word, "P", 2);
    const char *at = !word[1] ? strchr(e->planted, *word) : NULL;
    return at ? (int)(at - e->planted) : -1;
}

static const char *planted_places(const struct ensemble *e, int l, const int *place)
{
    int k = e->k, spread = place[k - 1] - place[0];
    if (e->places == SPAN_5 && l >= 5 && spread >= 5) return "the planted tokens are too far apart";
    if (e->places == PATTERNS && spread != 3 && spread != 1)
        return "the planted tokens stand in no pattern";
    for (int j = 0; j < k && e->places == COLUMNS; j++)
        if (place[j] / (l / k) != j || place[j] % (l / k) != place[0])
            return "the planted tokens are no column";
    return NULL;
}

/* The prompt is words 0..end-1. */
static const char *planted_prompt(const struct ck_text *t, int end, const struct ensemble **which,
                                  int place[MOST_K], int value[MOST_K])
{
    const struct ensemble *e = *which = find_ensemble(t);
    if (!e) return "a table that the checker does not know";
    int found = 0;
    for (int i = 0; i < end; i++) {
        int v = planted_word(e, t->word[i]);
        if (v < 0) {
            if (t->word[i][1] || !strchr(e->background, *t->word[i])) return "an unknown word";
            continue;
        }
        if (found == e->k) return "too many planted tokens";
        place[found] = i;
        value[found++] = v;
    }
    if (found < e->k) return "too few planted tokens";
    if (e->can && !e->can(value)) return "a tuple that is never planted";
    return planted_places(e, end, place);
}

static const char *planted_check(struct ck_text *t)
{
    const struct ensemble *e;
    int place[MOST_K], value[MOST_K] = {0};
    const char *wrong = planted_prompt(t, t->n - 1, &e, place, value);
    if (wrong) return wrong;
    return ck_is(t, t->n - 1, e->label(value)) ? NULL : "the answer is not the tuple's label";
}

static const char *planted_solve(struct ck_text *t, struct ck_words *w)
{
    const struct ensemble *e;
    int place[MOST_K], value[MOST_K] = {0};
    const char *wrong = planted_prompt(t, t->n, &e, place, value);
    if (!wrong) ck_say(w, e->label(value));
    return wrong;
}

static const char *planted_couple(struct ck_text *t, struct ck_coupling *c)
{
    const struct ensemble *e;
    int place[MOST_K], value[MOST_K] = {0};
    const char *wrong = planted_prompt(t, t->n - 1, &e, place, value);
    if (wrong) return wrong;
    c->levels = c->needed = 1;
    c->length = t->n - 1;
    c->sparsity = e->k;
    int columns = c->length / e->k;
    c->answer = t->n - 1;
    for (int i = 0; i < t->n - 1; i++) {
        int member = 0;
        for (int j = 0; j < e->k; j++)
            if (place[j] == i) member = j + 1;
        if (e->places == COLUMNS) member = i < columns * e->k ? i % columns + 1 : 0;
        ck_label(c, member, NO, NO);
    }
    ck_label(c, e->places == COLUMNS ? 0 : e->k + 1, NO, NO);
    return NULL;
}

const struct ck_task ck_planted[] = {
    {"planted", 0, planted_check, planted_solve, planted_couple},
    {.name = NULL},
};
