/* test_tasks_ids.c: the field's worked examples of coupled IDs, exact. The numbers here are
 * written by hand from the published rules, not computed; IDs are start + label. Both must give
 * them: the tasks, and the checkers that derive labels from a text. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"

struct worked {
    const char *task, *setting[4];
    int length, sparsity;
    int exact; /* 0: any digit may stand for a digit, as IDs do not depend on them */
    const char *text;
    int start[LG_LEVELS];
    const char *ids[LG_LEVELS]; /* "-": no ID at this level */
};

static const struct worked cases[] = {
    /* Addition: a digit's ID is its significance's, so that columns meet. */
    {"addition", {NULL}, 3, 0, 0, "6 5 3 + 0 4 9 = 2 0 7 0 $", {5}, {"8 7 6 5 8 7 6 5 6 7 8 9 10"}},
    {"addition",
     {"orientation=down"},
     3,
     0,
     0,
     "6 5 3 + 0 4 9 = 2 0 7 0 $",
     {5},
     {"6 7 8 9 6 7 8 9 8 7 6 5 4"}},
    {"addition",
     {"answer=plain"},
     3,
     0,
     0,
     "6 5 3 + 0 4 9 = 0 7 0 2 $",
     {5},
     {"8 7 6 5 8 7 6 10 9 8 7 6 5"}},
    {"addition",
     {"operands=reversed"},
     3,
     0,
     0,
     "3 5 6 + 9 4 0 = 2 0 7 0 $",
     {5},
     {"6 7 8 5 6 7 8 5 6 7 8 9 10"}},
    {"addition", {"padded=no"}, 2, 0, 0, "5 + 9 8 = 3 0 1 $", {1}, {"2 1 3 2 1 2 3 4 5"}},
    {"addition", {"padded=no"}, 2, 0, 0, "1 5 + 8 = 3 2 $", {1}, {"3 2 1 2 1 2 3 4"}},
    {"addition",
     {"padded=no", "answer=plain", "orientation=down"},
     2,
     0,
     0,
     "1 5 + 8 = 2 3 $",
     {1},
     {"2 3 4 3 0 2 3 4"}},
    {"addition", {"hints=4"}, 1, 0, 0, "h1 7 + h1 8 = h1 5 h2 1 $", {3}, {"4 4 3 4 4 3 4 4 5 5 6"}},
    {"subtraction",
     {NULL},
     3,
     0,
     0,
     "6 5 3 - 0 4 9 = 4 0 6 $",
     {5, 1},
     {"8 7 6 5 8 7 6 5 6 7 8 9", "2 2 2 2 3 3 3 3 4 4 4 4"}},
    {"subtraction",
     {"orientation=down"},
     3,
     0,
     0,
     "6 5 3 - 0 4 9 = 4 0 6 $",
     {5, 1},
     {"6 7 8 9 6 7 8 9 8 7 6 5", "2 2 2 2 3 3 3 3 4 4 4 4"}},
    {"subtraction",
     {"answer=plain"},
     3,
     0,
     0,
     "6 5 3 - 0 4 9 = 6 0 4 $",
     {5, 1},
     {"8 7 6 5 8 7 6 9 8 7 6 5", "2 2 2 2 3 3 3 3 4 4 4 4"}},
    {"subtraction",
     {"padded=no"},
     2,
     0,
     0,
     "1 5 - 8 = 7 $",
     {5, 1},
     {"7 6 5 6 5 6 7", "2 2 2 3 3 4 4"}},

    /* Multi-operand addition: level 1 '+', '=' and '>' s, digits s+1.. from the lowest; level 2
     * operand i and the '+' behind it t+i-1, partial sum j and what stands before it t+j. */
    {"multi-addition",
     {NULL},
     1,
     3,
     0,
     "0 7 + 0 8 + 0 9 = 0 0 > 7 0 > 5 1 > 4 2 $",
     {4, 10},
     {"6 5 4 6 5 4 6 5 4 5 6 4 5 6 4 5 6 4 5 6 7",
      "10 10 10 11 11 11 12 12 10 10 10 11 11 11 12 12 12 13 13 13 13"}},
    {"multi-addition", {"scratchpad=no"}, 1, 2, 0, "0 7 + 0 8 = 5 1 $", {4}, {"6 5 4 6 5 4 5 6 7"}},

    /* N x M multiplication: e = s+N+M; A e-N..e-1, '*' e, B e-M..e-1, '=' e, answer e-1..s. */
    {"multiplication",
     {NULL},
     3,
     2,
     0,
     "1 2 3 * 4 5 = 5 3 5 5 0 $",
     {2},
     {"4 5 6 7 5 6 7 6 5 4 3 2 1"}},
    {"multiplication",
     {"orientation=down"},
     2,
     1,
     0,
     "1 2 * 4 = 8 4 0 $",
     {7},
     {"8 9 10 9 10 9 8 7 6"}},
    {"multiplication",
     {"orientation=up"},
     3,
     2,
     0,
     "1 2 3 * 4 5 = 5 3 5 5 0 $",
     {2},
     {"5 4 3 2 4 3 2 3 4 5 6 7 8"}},
    /* With its scratchpad, three levels. */
    {"multiplication",
     {"scratchpad=yes"},
     2,
     2,
     0,
     "1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0 $",
     {5, 20, 40},
     {"7 6 5 - - 5 6 7 8 5 6 7 8 - - - - - - - - - - -",
      "- - - 21 20 20 20 20 20 21 21 21 21 20 20 20 20 20 21 21 21 21 21 21",
      "- - - - - 40 41 42 43 41 42 43 44 40 41 42 43 44 40 41 42 43 44 45"}},

    {"copy", {"alphabet=3"}, 4, 0, 1, "a b b c = a b b c $", {3}, {"4 5 6 7 3 4 5 6 7 8"}},
    {"copy",
     {"alphabet=2", "hints=3"},
     2,
     0,
     1,
     "h2 a h0 b = h2 a h0 b $",
     {1},
     {"2 2 3 3 1 2 2 3 3 4"}},
    {"reverse", {"alphabet=3"}, 3, 0, 1, "a b c = c b a $", {2}, {"2 3 4 5 4 3 2 1"}},
    {"reverse",
     {"alphabet=2", "hints=3"},
     2,
     0,
     1,
     "h2 a h0 b = h0 b h2 a $",
     {1},
     {"1 1 2 2 3 2 2 1 1 0"}},
    {"parity", {NULL}, 3, 0, 1, "1 0 1 = 0", {6}, {"6 6 6 7 6"}},
    {"parity-scratchpad", {NULL}, 3, 0, 1, "1 0 1 = 1 1 0 $", {3}, {"4 5 6 3 4 5 6 7"}},
    {"parity-scratchpad", {"scan=backward"}, 3, 0, 1, "1 0 0 = 0 0 1 $", {3}, {"3 4 5 6 5 4 3 2"}},

    {"sparse-parity", {NULL}, 3, 2, 1, ". 1 * 0 * 1 1", {1}, {"2 2 3 3 4 4 5"}},
    {"sparse-parity-scratchpad",
     {NULL},
     3,
     2,
     1,
     "* 1 . 0 * 1 | = > 1 1 > 1 0 > $",
     {1, 7},
     {"2 2 3 3 4 4 5 1 2 2 - 4 4 - 5 5", "- - - - - - - 7 8 8 8 9 9 9 10 10"}},
    {"sparse-parity-scratchpad",
     {"walk=dense"},
     3,
     2,
     1,
     "* 1 . 0 * 1 | = 1 1 0 $",
     {1},
     {"2 2 3 3 4 4 5 1 2 3 4 5"}},
    {"variable-assignment",
     {"names=2", "constants=2"},
     2,
     2,
     1,
     "v0 := v1 v1 := c1 ? v0 > v1 > c1 $",
     {5, 1},
     {"6 6 6 7 7 7 5 5 6 6 7 7 7", "2 3 4 2 3 4 3 4 3 4 3 4 5"}},
    {"variable-assignment",
     {"names=2", "constants=2", "scratchpad=no"},
     2,
     2,
     1,
     "v0 := v1 v1 := c1 ? v0 c1 $",
     {5, 1},
     {"6 6 6 7 7 7 5 5 5 5", "2 3 4 2 3 4 3 4 4 5"}},
    {"variable-assignment",
     {"names=2", "constants=2", "name_tokens=2"},
     1,
     1,
     1,
     "v1 v0 := c1 ? v1 v0 > c1 $",
     {1, 1},
     {"2 2 2 2 1 1 1 2 2 2", "2 3 4 5 4 5 6 4 5 6"}},
    {"retrieval",
     {"keys=2", "values=2", "value_tokens=2"},
     2,
     0,
     1,
     "k0 : v0 v1 k1 : v1 v1 ? k1 > v1 v1 $",
     {3, 1},
     {"4 4 4 4 5 5 5 5 3 3 5 5 5 5", "2 3 4 5 2 3 4 5 1 2 3 4 5 6"}},
    {"retrieval",
     {"keys=2", "values=2", "scratchpad=no"},
     2,
     0,
     1,
     "k0 : v0 k1 : v1 ? k1 v1 $",
     {3, 1},
     {"4 4 4 5 5 5 3 3 5 5", "2 3 4 2 3 4 1 2 4 5"}},
    {"planted", {NULL}, 4, 2, 1, "a B c B same", {1}, {"1 2 1 3 4"}},
    {"sort", {"alphabet=3"}, 3, 0, 1, "w2 w0 w1 = w0 w1 w2 $", {2}, {"3 4 5 2 4 5 3 6"}},
    {"sort",
     {"alphabet=2", "kind=random"},
     3,
     0,
     1,
     "w1 w0 w1 = w0 w1 w1 $",
     {2},
     {"3 4 5 2 4 3 5 6"}},
    {"majority", {NULL}, 3, 0, 1, "a b a = a", {4}, {"4 4 4 5 4"}},
    {"flip-flop", {NULL}, 3, 0, 1, "w 1 i 0 r 1", {1}, {"2 2 3 3 4 2"}},
    {"machine",
     {NULL},
     2,
     0,
     0,
     "7 2 , 5 1 = 2 4 0 $",
     {1, 1},
     {"2 3 1 2 3 1 2 3 4 5", "2 2 2 3 3 4 4 4 4 4"}},
    {"machine",
     {"emit=state", "table=add-2"},
     1,
     0,
     1,
     "1 , 1 = 0 c1 1 $",
     {1, 1},
     {"2 1 2 1 2 2 3 4", "2 2 3 4 4 5 4 4"}},
    {"machine",
     {"table=count-2"},
     2,
     0,
     1,
     "1 1 = m1 m0 $",
     {1, 1},
     {"2 3 1 2 3 4", "2 2 3 4 4 3"}},
};

static int settings_of(const struct worked *w)
{
    int n = 0;
    while (n < 4 && w->setting[n]) n++;
    return n;
}

static int is_digit(const char *word, size_t size)
{
    return size == 1 && isxdigit((unsigned char)*word) && !islower((unsigned char)*word);
}

/* The same words; where they need not be exact, a digit is like any other. */
static int same_structure(const char *a, const char *b, int exact)
{
    if (exact) return !strcmp(a, b);
    for (;;) {
        size_t i = strcspn(a, " "), j = strcspn(b, " ");
        if (!(is_digit(a, i) && is_digit(b, j)) && (i != j || strncmp(a, b, i))) return 0;
        if (!a[i] || !b[j]) return a[i] == b[j];
        a += i + 1;
        b += j + 1;
    }
}

static void compare_ids(const struct worked *w, const char *who, int n, int levels,
                        int32_t *const label[LG_LEVELS])
{
    int expected = 0;
    while (expected < LG_LEVELS && w->ids[expected]) expected++;
    if (levels != expected) fail_msg("%s, %s: %d levels", who, w->text, levels);
    for (int l = 0; l < levels; l++) {
        const char *s = w->ids[l];
        for (int i = 0; i < n; i++) {
            if (!*s) fail_msg("%s, %s: the table is short at level %d", who, w->text, l + 1);
            int absent = *s == '-' && (s[1] == ' ' || !s[1]);
            int32_t is = label[l][i], must = absent ? 0 : (int32_t)strtol(s, NULL, 10);
            if (absent ? is != LG_ABSENT : is == LG_ABSENT || w->start[l] + is != must)
                fail_msg("%s, %s, level %d, token %d: ID %d, must be %.4s", who, w->text, l + 1, i,
                         is == LG_ABSENT ? -1 : w->start[l] + is, s);
            s += strcspn(s, " ");
            s += *s == ' ';
        }
        if (*s) fail_msg("%s, %s: the table is long at level %d", who, w->text, l + 1);
    }
}

static void checkers_give_the_published_ids(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct worked *w = &cases[c];
        const char *wrong = ck_check(w->task, w->text, w->setting, settings_of(w));
        if (wrong) fail_msg("%s: %s: %s", w->task, w->text, wrong);
        struct ck_text t;
        struct ck_coupling k = {0};
        assert_int_equal(ck_open(&t, w->text, w->setting, settings_of(w)), 0);
        assert_null(ck_find(w->task)->couple(&t, &k));
        assert_int_equal(k.n, t.n);
        assert_int_equal(k.length, w->length);
        assert_int_equal(k.sparsity, w->sparsity);
        compare_ids(w, "checker", k.n, k.levels, k.label);
        for (int l = 0; l < LG_LEVELS; l++) free(k.label[l]);
        ck_close(&t);
    }
}

static void tasks_give_the_published_ids(void **state)
{
    (void)state;
    lg_example x;
    lg_example_init(&x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct worked *w = &cases[c];
        lg_task *t = ck_task_new(w->task, w->setting, settings_of(w));
        lg_draw d = {.seed = 9, .stream = 1};
        d.length_lo = d.length_hi = w->length;
        d.sparsity_lo = d.sparsity_hi = w->sparsity;
        int found = 0;
        for (; !found && d.index < 200000; d.index++) {
            ck_example(t, &d, &x);
            char *text = ck_text_of(t, &x);
            found = same_structure(text, w->text, w->exact);
            free(text);
        }
        if (!found) fail_msg("%s never makes %s", w->task, w->text);
        compare_ids(w, w->task, x.n, lg_task_get_shape(t)->levels, x.labels);
        lg_task_free(t);
    }
    lg_example_clear(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkers_give_the_published_ids),
        cmocka_unit_test(tasks_give_the_published_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
