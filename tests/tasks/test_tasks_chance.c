/* test_tasks_chance.c: what is to be random is so, each thing as often as the definition says.
 * Seeds are fixed, so a test that passes once passes always; each would fail by chance once in a
 * million seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"

enum { SAMPLES = 40000, BINS = 256 };

/* ---- A sampler ------------------------------------------------------------------------- */

/* Examples of one task, seen as words, each put into a bin (-1: not counted) by `bin`. */
struct sampled {
    const char *name;
    const char *setting[4];
    int size[4]; /* length from, to; sparsity from, to; a missing "to" is the "from" */
};

struct seen {
    const lg_example *x;
    const lg_task_shape *s;
};

static const char *word(const struct seen *v, int i) { return v->s->words[v->x->tokens[i]]; }
static int is(const struct seen *v, int i, const char *w) { return !strcmp(word(v, i), w); }
static int last(const struct seen *v) { return v->x->n - 1; }

static void sample(const struct sampled *a, const char *what, int (*bin)(const struct seen *),
                   int bins, const double *weight, double shrink)
{
    char title[200];
    int settings = 0, count[BINS] = {0};
    while (settings < 4 && a->setting[settings]) settings++;
    snprintf(title, sizeof title, "%s%s%s: %s", a->name, settings ? " " : "",
             settings ? a->setting[0] : "", what);
    lg_task *t = ck_task_new(a->name, a->setting, settings);
    lg_example x;
    lg_example_init(&x);
    const int *z = a->size;
    lg_draw d = {.seed = 21,
                 .stream = 1,
                 .length_lo = z[0],
                 .length_hi = z[1] ? z[1] : z[0],
                 .sparsity_lo = z[2],
                 .sparsity_hi = z[3] ? z[3] : z[2]};
    for (; d.index < SAMPLES; d.index++) {
        ck_example(t, &d, &x);
        struct seen v = {&x, lg_task_get_shape(t)};
        int b = bin(&v);
        if (b >= bins) fail_msg("%s: something in bin %d", title, b);
        if (b >= 0) count[b]++;
    }
    lg_example_clear(&x);
    lg_task_free(t);
    ck_chi_square(title, count, weight, bins, shrink);
}

static void uniform(const struct sampled *a, const char *what, int (*bin)(const struct seen *),
                    int bins)
{
    sample(a, what, bin, bins, NULL, 1);
}

/* A word that has a number in it, or is a digit or a letter: that number. */
static int number(const struct seen *v, int i)
{
    const char *w = word(v, i);
    if (!w[1] && *w >= 'a' && *w <= 'z') return *w - 'a';
    if (!w[1] && *w >= 'A' && *w <= 'F') return 10 + *w - 'A';
    return atoi(w + (*w < '0' || *w > '9'));
}

/* ---- Answers ----------------------------------------------------------------------------- */

static int last_word(const struct seen *v) { return number(v, last(v)); }
static int word_before_stop(const struct seen *v) { return number(v, last(v) - 1); }
static int parity_before_end(const struct seen *v) { return number(v, last(v) - 2); }
static int same_or_other(const struct seen *v) { return is(v, last(v), "same"); }
static int state_before_stop(const struct seen *v)
{
    return is(v, last(v) - 1, "lt") ? 0 : is(v, last(v) - 1, "gt") ? 1 : -1;
}

static void answers_are_balanced(void **state)
{
    (void)state;
    uniform(&(struct sampled){"parity", {NULL}, {1, 40}}, "parity", last_word, 2);
    uniform(&(struct sampled){"parity-scratchpad", {NULL}, {1, 40}}, "parity", word_before_stop, 2);
    uniform(&(struct sampled){"parity-scratchpad", {"scan=backward"}, {1, 40}}, "parity",
            word_before_stop, 2);
    uniform(&(struct sampled){"sparse-parity", {NULL}, {1, 40}}, "parity", last_word, 2);
    uniform(&(struct sampled){"sparse-parity", {NULL}, {30, 30, 8, 8}}, "parity", last_word, 2);
    uniform(&(struct sampled){"sparse-parity-scratchpad", {NULL}, {1, 40}}, "parity",
            parity_before_end, 2);
    uniform(&(struct sampled){"sparse-parity-scratchpad", {"walk=dense"}, {1, 40}}, "parity",
            word_before_stop, 2);
    uniform(&(struct sampled){"majority", {NULL}, {1, 40}}, "winner", last_word, 2);
    uniform(&(struct sampled){"majority", {"alphabet=5"}, {9}}, "winner", last_word, 5);
    uniform(&(struct sampled){"flip-flop", {NULL}, {2, 40}}, "bit", last_word, 2);
    uniform(&(struct sampled){"flip-flop", {"ignore=0"}, {2, 9}}, "bit", last_word, 2);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {1, 20}}, "constant", word_before_stop,
            10);
    uniform(&(struct sampled){"retrieval", {"values=9"}, {1, 20}}, "value", word_before_stop, 9);
    uniform(&(struct sampled){"planted", {"table=lookup"}, {3, 20}}, "label", last_word, 8);
    uniform(&(struct sampled){"machine", {"table=comparison"}, {5}}, "state", state_before_stop, 2);
    static const double quarter[] = {3, 1};
    sample(&(struct sampled){"planted", {NULL}, {2, 20}}, "label", same_or_other, 2, quarter, 1);
}

/* ---- Which pairs are important --------------------------------------------------------------- */

/* The number of the subset of places whose word is `marked`, in lexicographic order. */
static int subset(const struct seen *v, int n, int step, const char *marks)
{
    int bin = 0, k = 0;
    long choose = 1; /* C(place, k) as the combinatorial number system counts */
    for (int i = 0; i < n; i++) {
        if (!strchr(marks, *word(v, i * step))) continue;
        k++;
        choose = 1;
        for (int j = 0; j < k; j++) choose = choose * (i - j) / (j + 1);
        bin += (int)choose;
    }
    return bin;
}

static int stars(const struct seen *v) { return subset(v, v->x->length, 2, "*"); }
/* Of five marked pairs with two ones, which have them. */
static int stars_with_ones(const struct seen *v)
{
    int first = -1, second = -1, star = 0;
    for (int i = 0; i < v->x->length; i++) {
        if (!is(v, 2 * i, "*")) continue;
        if (is(v, 2 * i + 1, "1")) first = first < 0 ? star : first, second = star;
        star++;
    }
    return second * (second - 1) / 2 + first;
}
static int planted(const struct seen *v) { return subset(v, v->x->length, 1, "ABCDP"); }

static void important_places_are_uniform(void **state)
{
    (void)state;
    static const char *const names[] = {"sparse-parity", "sparse-parity-scratchpad"};
    for (int i = 0; i < 2; i++) {
        uniform(&(struct sampled){names[i], {NULL}, {7, 7, 3, 3}}, "subset", stars, 35);
        uniform(&(struct sampled){names[i], {NULL}, {12, 12, 2, 2}}, "two of twelve", stars, 66);
        uniform(&(struct sampled){names[i], {NULL}, {40, 40, 1, 1}}, "one of forty", stars, 40);
        uniform(&(struct sampled){names[i], {NULL}, {6, 6, 5, 5}}, "five of six", stars, 6);
    }
    const struct sampled two = {"sparse-parity", {"ones=2"}, {9, 9, 5, 5}};
    uniform(&two, "subset", stars, 126);
    uniform(&two, "ones", stars_with_ones, 10);
    uniform(&(struct sampled){"planted", {NULL}, {9}}, "two of nine", planted, 36);
    uniform(&(struct sampled){"planted", {"table=lookup"}, {7}}, "three of seven", planted, 35);
}

/* Every place of a longer example is as often important; a place cannot be so twice, which makes
 * the counts vary less than those of independent draws, by (l-k)/(l-1). */
static void every_pair_is_important_as_often(void **state)
{
    (void)state;
    enum { L = 100, K = 8 };
    lg_task *t = ck_task_new("sparse-parity", NULL, 0);
    lg_example x;
    lg_example_init(&x);
    int count[L] = {0};
    lg_draw d = {.seed = 22, .length_lo = L, .length_hi = L, .sparsity_lo = K, .sparsity_hi = K};
    for (; d.index < SAMPLES; d.index++) {
        ck_example(t, &d, &x);
        struct seen v = {&x, lg_task_get_shape(t)};
        for (int i = 0; i < L; i++) count[i] += is(&v, 2 * i, "*");
    }
    ck_chi_square("sparse-parity: places of 8 among 100", count, NULL, L, (L - K) / (L - 1.0));
    lg_example_clear(&x);
    lg_task_free(t);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int least_length;
static int length(const struct seen *v) { return v->x->length - least_length; }
static int sparsity(const struct seen *v) { return v->x->sparsity; }

static void lengths_are_uniform(void **state)
{
    (void)state;
    for (int i = 0; i < lg_task_count(); i++) {
        const char *name = lg_task_info_at(i)->name;
        if (!ck_find(name)) continue;
        lg_task *t = ck_task_new(name, NULL, 0);
        least_length = lg_task_get_shape(t)->length_least + 1;
        lg_task_free(t);
        uniform(&(struct sampled){name, {NULL}, {least_length, least_length + 10}}, "length",
                length, 11);
    }
}

/* Length and sparsity together: the sparsity is uniform in what the length allows. */
static int length_and_sparsity(const struct seen *v)
{
    return (v->x->length - 3) * 8 + v->x->sparsity - 1;
}

static void sparsities_are_uniform(void **state)
{
    (void)state;
    static const char *const cut[] = {"sparse-parity", "sparse-parity-scratchpad",
                                      "variable-assignment"};
    for (int i = 0; i < 3; i++) {
        int count[64] = {0}, bins = 0, compact[64];
        double weight[64];
        lg_task *t = ck_task_new(cut[i], NULL, 0);
        lg_example x;
        lg_example_init(&x);
        lg_draw d = {.seed = 23,
                     .stream = 1,
                     .length_lo = 3,
                     .length_hi = 10,
                     .sparsity_lo = 1,
                     .sparsity_hi = 8};
        for (; d.index < SAMPLES; d.index++) {
            ck_example(t, &d, &x);
            struct seen v = {&x, NULL};
            count[length_and_sparsity(&v)]++;
        }
        for (int l = 3; l <= 10; l++) /* the bins that can be */
            for (int k = 1; k <= 8; k++) {
                int most = l < 8 ? l : 8;
                if (k > most) {
                    assert_int_equal(count[(l - 3) * 8 + k - 1], 0);
                    continue;
                }
                weight[bins] = 1.0 / most;
                compact[bins++] = count[(l - 3) * 8 + k - 1];
            }
        ck_chi_square(cut[i], compact, weight, bins, 1);
        lg_example_clear(&x);
        lg_task_free(t);
        /* What cannot be is cut off, not moved to the nearest that can. */
        int five[9] = {0};
        t = ck_task_new(cut[i], NULL, 0);
        lg_example_init(&x);
        d = (lg_draw){.seed = 24, .stream = 1, .sparsity_lo = 2, .sparsity_hi = 8};
        for (d.length_lo = d.length_hi = 5; d.index < SAMPLES; d.index++) {
            ck_example(t, &d, &x);
            five[x.sparsity]++;
        }
        assert_int_equal(five[0] + five[1] + five[6] + five[7] + five[8], 0);
        ck_chi_square(cut[i], five + 2, NULL, 4, 1);
        lg_example_clear(&x);
        lg_task_free(t);
    }
}

static int sparsity_from_1(const struct seen *v) { return sparsity(v) - 1; }
static int sparsity_from_2(const struct seen *v) { return sparsity(v) - 2; }

static void fallback_sparsities_are_uniform(void **state)
{
    (void)state;
    uniform(&(struct sampled){"sparse-parity", {NULL}, {20}}, "sparsity", sparsity_from_1, 8);
    uniform(&(struct sampled){"sparse-parity", {NULL}, {3}}, "sparsity", sparsity_from_1, 3);
    uniform(&(struct sampled){"sparse-parity-scratchpad", {NULL}, {20}}, "sparsity",
            sparsity_from_1, 8);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {20}}, "sparsity", sparsity_from_1, 4);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {2}}, "sparsity", sparsity_from_1, 2);
    uniform(&(struct sampled){"multi-addition", {NULL}, {2}}, "sparsity", sparsity_from_2, 3);
    uniform(&(struct sampled){"multi-addition", {NULL}, {2, 2, 2, 8}}, "sparsity", sparsity_from_2,
            7);
    uniform(&(struct sampled){"multiplication", {NULL}, {2, 2, 1, 7}}, "sparsity", sparsity_from_1,
            7);
    lg_task *t = ck_task_new("multiplication", NULL, 0);
    lg_example x;
    lg_example_init(&x);
    lg_draw d = {.length_lo = 3, .length_hi = 3};
    for (; d.index < 1000; d.index++) {
        ck_example(t, &d, &x);
        assert_int_equal(x.sparsity, 1);
    }
    lg_example_clear(&x);
    lg_task_free(t);
}

/* ---- Lookups ------------------------------------------------------------------------------------ */

/* By the text: where the words behind the '?' stand as a key or a left side. */
static int queried(const struct seen *v, int statement)
{
    int query = 0;
    while (!is(v, query, "?")) query++;
    for (int i = 0; i * statement < query; i++)
        if (v->x->tokens[i * statement] == v->x->tokens[query + 1]) return i;
    return BINS;
}

static int queried_of_3(const struct seen *v) { return queried(v, 3); }

/* The places of the first two statements on the chain, as one number below 5 * 4. */
static int first_two(const struct seen *v)
{
    int a = queried(v, 3), b = 0;
    while (v->x->tokens[3 * b] != v->x->tokens[3 * a + 2]) b++;
    return a * 4 + b - (b > a);
}

static int constants(const struct seen *v)
{
    int sum = 0;
    for (int i = 0; i < v->x->length; i++) sum += *word(v, 3 * i + 2) == 'c';
    return sum - 1;
}

static int first_two_keys(const struct seen *v)
{
    int a = number(v, 0), b = number(v, 3);
    return a * 3 + b - (b > a);
}

static int first_names(const struct seen *v) { return number(v, 0); }
static int first_two_values(const struct seen *v) { return number(v, 2) * 3 + number(v, 5); }

static void lookups_are_uniform(void **state)
{
    (void)state;
    uniform(&(struct sampled){"retrieval", {NULL}, {11}}, "queried entry", queried_of_3, 11);
    uniform(&(struct sampled){"retrieval", {"scratchpad=no"}, {30}}, "queried entry", queried_of_3,
            30);
    uniform(&(struct sampled){"retrieval", {"keys=4"}, {2}}, "keys", first_two_keys, 12);
    uniform(&(struct sampled){"retrieval", {"keys=4"}, {4}}, "keys", first_two_keys, 12);
    uniform(&(struct sampled){"retrieval", {"values=3"}, {2}}, "values", first_two_values, 9);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {11}}, "queried statement",
            queried_of_3, 11);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {11, 11, 8, 8}}, "queried statement",
            queried_of_3, 11);
    uniform(&(struct sampled){"variable-assignment", {"scratchpad=no"}, {20, 20, 1, 1}},
            "queried statement", queried_of_3, 20);
    uniform(&(struct sampled){"variable-assignment", {NULL}, {5, 5, 3, 3}},
            "first two of the chain", first_two, 20);
    uniform(&(struct sampled){"variable-assignment", {"names=12"}, {5}}, "name of the first",
            first_names, 12);
    /* Six are off the chain, each a constant with 1/2; but the first in the order of construction,
     * which is one of the six with 6/9, has no variable before it. */
    static const double coins[] = {1, 10, 35, 60, 55, 26, 5};
    sample(&(struct sampled){"variable-assignment", {NULL}, {9, 9, 3, 3}}, "constants", constants,
           7, coins, 1);
}

/* ---- Numbers ------------------------------------------------------------------------------------- */

/* Significant digits of the number at words from..to-1, top digit first. */
static int digits(const struct seen *v, int from, int to)
{
    while (from < to - 1 && is(v, from, "0")) from++;
    return to - from;
}

/* Lengths of the operands of four digits, padded: (4, 1), .., (4, 4), (1, 4), (2, 4), (3, 4). */
static int lengths_of_four(const struct seen *v)
{
    int a = digits(v, 0, 4), b = digits(v, 5, 9);
    return a == 4 ? b - 1 : b == 4 ? 3 + a : BINS;
}

static int pair_of_digits(const struct seen *v) { return number(v, 0) * 4 + number(v, 2); }
static int top_digits(const struct seen *v) { return (number(v, 0) - 1) * 9 + number(v, 4) - 1; }
static int low_digits(const struct seen *v) { return number(v, 2) * 10 + number(v, 6); }
static int hint(const struct seen *v) { return number(v, 0); }

/* The place that makes the carry of six digits, from the top. */
static int carry_place(const struct seen *v)
{
    int i = 0;
    while (i < 6 && number(v, i) + number(v, 7 + i) == 9) i++;
    return i;
}

static int low_carries(const struct seen *v)
{
    return number(v, 0) + number(v, 4) == 9 && number(v, 1) + number(v, 5) == 9;
}
/* Where the lowest of three places makes it, the digits of the first operand above. */
static int hard_top(const struct seen *v) { return low_carries(v) ? number(v, 0) - 1 : -1; }
static int hard_middle(const struct seen *v) { return low_carries(v) ? number(v, 1) : -1; }

static int two_by_two(const struct seen *v)
{
    return (number(v, 0) * 4 + number(v, 1) - 4) * 16 + number(v, 3) * 4 + number(v, 4);
}
static int three_operands(const struct seen *v)
{
    return number(v, 1) * 16 + number(v, 4) * 4 + number(v, 7);
}
static int columns_of_three(const struct seen *v) { return number(v, 0) * 3 + number(v, 2); }

static void numbers_are_uniform(void **state)
{
    (void)state;
    static const double lengths[] = {1, 1, 1, 2, 1, 1, 1};
    sample(&(struct sampled){"addition", {NULL}, {4}}, "lengths", lengths_of_four, 7, lengths, 1);
    sample(&(struct sampled){"subtraction", {"wrap=yes"}, {4}}, "lengths", lengths_of_four, 7,
           lengths, 1);
    uniform(&(struct sampled){"addition", {"base=4"}, {1}}, "digits", pair_of_digits, 16);
    uniform(&(struct sampled){"subtraction", {"base=4", "wrap=yes"}, {1}}, "digits", pair_of_digits,
            16);
    uniform(&(struct sampled){"addition", {"lengths=equal"}, {3}}, "top digits", top_digits, 81);
    uniform(&(struct sampled){"addition", {"lengths=equal"}, {3}}, "low digits", low_digits, 100);
    uniform(&(struct sampled){"addition", {"carry=hard"}, {6}}, "place of the carry", carry_place,
            6);
    uniform(&(struct sampled){"addition", {"carry=hard"}, {3}}, "top digit", hard_top, 8);
    uniform(&(struct sampled){"addition", {"carry=hard"}, {3}}, "middle digit", hard_middle, 10);
    uniform(&(struct sampled){"addition", {"hints=9"}, {3}}, "hint", hint, 9);
    uniform(&(struct sampled){"subtraction", {"hints=9"}, {3}}, "hint", hint, 9);
    uniform(&(struct sampled){"multi-addition", {"base=4"}, {1, 1, 3, 3}}, "operands",
            three_operands, 64);
    uniform(&(struct sampled){"multiplication", {"base=4"}, {1, 1, 1, 1}}, "factors",
            pair_of_digits, 16);
    uniform(&(struct sampled){"multiplication", {"base=4"}, {2, 2, 2, 2}}, "factors", two_by_two,
            192);
    uniform(&(struct sampled){"machine", {"table=add-3"}, {1}}, "inputs", columns_of_three, 9);
}

/* ---- Sequences ------------------------------------------------------------------------------------ */

static int base_3(const struct seen *v)
{
    return number(v, 0) * 9 + number(v, 1) * 3 + number(v, 2);
}
static int base_2(const struct seen *v)
{
    int b = 0;
    for (int i = 0; i < v->x->length; i++) b = 2 * b + number(v, i);
    return b;
}
/* Three different ones of four, in any order. */
static int arrangement(const struct seen *v)
{
    int a = number(v, 0), b = number(v, 1), c = number(v, 2);
    return a * 6 + (b - (b > a)) * 2 + (c - (c > a) - (c > b));
}
/* Four bits without ties, numbered. */
static int no_tie(const struct seen *v)
{
    static const int bin[] = {0, 1, 2, -2, 3, -2, -2, 4, 5, -2, -2, 6, -2, 7, 8, 9};
    int b = bin[base_2(v)];
    return b < 0 ? BINS : b;
}
/* The second pair of a flip-flop: i 0, i 1, w 0, w 1, r. */
static int second_pair(const struct seen *v)
{
    return is(v, 2, "r") ? 4 : (is(v, 2, "w") ? 2 : 0) + number(v, 3);
}
static int second_operation(const struct seen *v) { return is(v, 2, "r"); }

static void sequences_are_uniform(void **state)
{
    (void)state;
    static const char *const names[] = {"copy", "reverse", "sort"};
    for (int i = 0; i < 3; i++) {
        uniform(&(struct sampled){names[i], {"kind=random", "alphabet=3"}, {3}}, "letters", base_3,
                27);
        uniform(&(struct sampled){names[i], {"kind=unique", "alphabet=4"}, {3}}, "letters",
                arrangement, 24);
    }
    for (int i = 0; i < 2; i++)
        uniform(&(struct sampled){names[i], {"hints=7"}, {3}}, "hint", hint, 7);
    uniform(&(struct sampled){"parity", {NULL}, {7}}, "bits", base_2, 128);
    uniform(&(struct sampled){"parity-scratchpad", {NULL}, {7}}, "bits", base_2, 128);
    uniform(&(struct sampled){"majority", {NULL}, {5}}, "letters", base_2, 32);
    uniform(&(struct sampled){"majority", {NULL}, {4}}, "letters", no_tie, 10);
    uniform(&(struct sampled){"machine", {"table=count-5"}, {6}}, "inputs", base_2, 64);
    static const double pair_weights[] = {0.4, 0.4, 0.05, 0.05, 0.1};
    sample(&(struct sampled){"flip-flop", {NULL}, {4}}, "second pair", second_pair, 5, pair_weights,
           1);
    uniform(&(struct sampled){"flip-flop", {"ignore=0"}, {4}}, "second pair", second_operation, 2);
}

/* ---- Planted tables --------------------------------------------------------------------------- */

static int first_planted(const struct seen *v)
{
    int i = 0;
    while (!strchr("AB", *word(v, i))) i++;
    return i;
}

/* Pattern and place: 0..4 three apart in eight tokens, 5..11 side by side. */
static int pattern_place(const struct seen *v)
{
    int i = first_planted(v);
    return strchr("AB", *word(v, i + 1)) ? 5 + i : i;
}
static int joint(const struct seen *v)
{
    int i = first_planted(v) + 1;
    while (!strchr("AB", *word(v, i))) i++;
    return is(v, i, "B");
}
/* Nine tokens, a span of five: the first place 0..4, the others two of the next four. */
static int span_places(const struct seen *v)
{
    static const int two_of_four[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {0, 0, 0, 5}};
    int i = first_planted(v), j = i + 1, k;
    while (!strchr("AB", *word(v, j))) j++;
    for (k = j + 1; !strchr("AB", *word(v, k));) k++;
    if (i > 4 || k - i > 4) return BINS;
    return i * 6 + two_of_four[j - i - 1][k - i - 1];
}
static int planted_words(const struct seen *v)
{
    int b = 0;
    for (int i = 0; i < v->x->length; i++)
        if (strchr("AB", *word(v, i))) b = 2 * b + is(v, i, "B");
    return b;
}
static int background(const struct seen *v)
{
    return strchr("AB", *word(v, 0)) ? -1 : number(v, 0);
}
static int background_of_eight(const struct seen *v)
{
    return strchr("ABCD", *word(v, 0)) ? -1 : number(v, 0);
}
static int planted_pair(const struct seen *v)
{
    return (*word(v, 0) - 'A') * 4 + *word(v, 1) - 'A';
}

static void planted_tables_are_obeyed(void **state)
{
    (void)state;
    char patterns[160], span[160];
    snprintf(patterns, sizeof patterns, "table=%s/patterns.yaml", ck_folder());
    snprintf(span, sizeof span, "table=%s/span.yaml", ck_folder());
    static const double places[] = {2 / 5., 2 / 5., 2 / 5., 2 / 5., 2 / 5., 1 / 7.,
                                    1 / 7., 1 / 7., 1 / 7., 1 / 7., 1 / 7., 1 / 7.};
    static const double three_to_one[] = {3, 1};
    sample(&(struct sampled){"planted", {patterns}, {8}}, "places", pattern_place, 12, places, 1);
    sample(&(struct sampled){"planted", {patterns}, {8}}, "tuple", joint, 2, three_to_one, 1);
    uniform(&(struct sampled){"planted", {span}, {9}}, "places", span_places, 30);
    static const double words[] = {1, 3, 3, 9, 3, 9, 9, 27}, mu[] = {1, 1, 2};
    sample(&(struct sampled){"planted", {span}, {9}}, "words", planted_words, 8, words, 1);
    sample(&(struct sampled){"planted", {span}, {9}}, "background", background, 3, mu, 1);
    uniform(&(struct sampled){"planted", {NULL}, {9}}, "background", background_of_eight, 8);
    uniform(&(struct sampled){"planted", {NULL}, {2}}, "words", planted_pair, 16);
}

/* The test itself: it sees a bias of 3 percent, and does not see one where there is none. */
static void bias_is_seen(void **state)
{
    (void)state;
    int fair[] = {19900, 20100}, biased[] = {19400, 20600}, skewed[] = {30000, 10000};
    static const double three_to_one[] = {3, 1};
    assert_true(ck_chi_ratio(fair, NULL, 2, 1) < 1);
    assert_true(ck_chi_ratio(biased, NULL, 2, 1) > 1);
    assert_true(ck_chi_ratio(skewed, three_to_one, 2, 1) < 1);
    assert_true(ck_chi_ratio(skewed, NULL, 2, 1) > 1);
    assert_true(ck_chi_ratio(fair, NULL, 2, 0.01) > 1);
    /* p = 1e-6 with 1, 10 and 100 degrees of freedom, from tables: within some percent. */
    static const int bins[] = {2, 11, 101};
    static const double limit[] = {23.93, 46.86, 182.7};
    for (int i = 0; i < 3; i++) {
        int count[101] = {0};
        count[0] = 10 * bins[i]; /* all in one bin of 10 expected ones each */
        double chi = 10 * bins[i] * (bins[i] - 1.0),
               is = chi / ck_chi_ratio(count, NULL, bins[i], 1);
        assert_true(is > 0.97 * limit[i] && is < 1.2 * limit[i]);
    }
}

static int clean(void **state)
{
    (void)state;
    ck_folder_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bias_is_seen),
        cmocka_unit_test(answers_are_balanced),
        cmocka_unit_test(important_places_are_uniform),
        cmocka_unit_test(every_pair_is_important_as_often),
        cmocka_unit_test(lengths_are_uniform),
        cmocka_unit_test(sparsities_are_uniform),
        cmocka_unit_test(fallback_sparsities_are_uniform),
        cmocka_unit_test(lookups_are_uniform),
        cmocka_unit_test(numbers_are_uniform),
        cmocka_unit_test(sequences_are_uniform),
        cmocka_unit_test(planted_tables_are_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
