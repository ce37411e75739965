/* test_tasks.c: every task against the checkers of this folder, over its whole range of settings
 * and sizes; and the checkers against changed examples, which they must refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "tasks/tasks.h"

enum { EXAMPLES = 10000, EACH = 40, CHANGES = 1000 };

/* Own data has no definition to check against. */
static int own_data(const char *name)
{
    return !strcmp(lg_task_info_find(name)->family, "own data");
}

static int below(lg_rng *r, int n) { return (int)lg_rng_below(r, (uint32_t)n); }

/* A task with random settings. Combinations that cannot be are drawn again and counted. */
static lg_task *draw_task(const lg_task_info *info, lg_rng *r, struct ck_made *m, int *refused)
{
    for (;;) {
        lg_error err = {0};
        ck_draw_settings(info, r, m);
        lg_task *t = lg_task_new(info->name, m->setting, m->settings, &err);
        if (t) return t;
        if (!err.text[0]) fail_msg("%s refuses its settings without a reason", info->name);
        if (++*refused > 2000) fail_msg("%s refuses all settings: %s", info->name, err.text);
    }
}

static void wrong_example(const char *name, const struct ck_made *m, const char *text,
                          const char *wrong)
{
    print_error("%s", name);
    for (int i = 0; i < m->settings; i++) print_error(" %s", m->setting[i]);
    print_error("\n%.2000s\n", text);
    fail_msg("%s: %s", name, wrong);
}

static void in_range(const lg_draw *d, const lg_task_shape *s, const lg_example *x)
{
    assert_in_range(x->length, d->length_lo, d->length_hi);
    if (d->sparsity_lo) assert_in_range(x->sparsity, d->sparsity_lo, d->sparsity_hi);
    for (int i = 0; i < x->n; i++) assert_in_range(x->tokens[i], 0, s->vocab - 1);
}

static void examples_are_right(void **state)
{
    (void)state;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        if (!ck_find(info->name)) fail_msg("task %s has no checker", info->name);
        lg_rng r;
        lg_rng_init(&r, 1, 1, (uint64_t)i);
        int made = 0, tasks = 0, refused = 0;
        while (made < EXAMPLES) {
            struct ck_made m;
            int most[LG_LEVELS] = {0};
            lg_task *t = draw_task(info, &r, &m, &refused);
            const lg_task_shape *s = lg_task_get_shape(t);
            tasks++;
            for (int e = 0; e < EACH; e++, made++) {
                lg_draw d = {.seed = 5, .stream = 2, .index = (uint64_t)made};
                ck_draw_sizes(s, &r, &d);
                ck_example(t, &d, &x);
                in_range(&d, s, &x);
                char *text = ck_text_of(t, &x);
                const char *wrong = ck_check(info->name, text, m.setting, m.settings);
                if (!wrong)
                    wrong = ck_coupled(info->name, text, m.setting, m.settings, s, &x, most);
                if (wrong) wrong_example(info->name, &m, text, wrong);
                free(text);
            }
            lg_task_free(t);
        }
        if (refused > tasks)
            fail_msg("%s refuses %d of its settings, takes %d", info->name, refused, tasks);
    }
    lg_example_clear(&x);
}

/* Another token at place p: any one, one that stands in the example, or a neighbour in the
 * vocabulary, which is often of the same kind. */
static void change(const lg_task_shape *s, lg_rng *r, lg_example *x, int p)
{
    int32_t old = x->tokens[p];
    do {
        switch (below(r, 3)) {
        case 0: x->tokens[p] = below(r, s->vocab); break;
        case 1: x->tokens[p] = x->tokens[below(r, x->n)]; break;
        default: x->tokens[p] = (old + (below(r, 2) ? 1 : s->vocab - 1)) % s->vocab; break;
        }
    } while (x->tokens[p] == old);
}

/* Whether the prompt can still be, and has the answer that stands behind it: the solver decides. */
static int still_right(const lg_task *t, const lg_example *x, const struct ck_made *m)
{
    const lg_task_shape *s = lg_task_get_shape(t);
    lg_example prompt = *x;
    prompt.n = x->answer;
    char *text = ck_text_of(t, &prompt);
    struct ck_text p;
    struct ck_words answer = {0};
    assert_int_equal(ck_open(&p, text, m->setting, m->settings), 0);
    int right = !ck_find(s->info->name)->solve(&p, &answer) && answer.n == x->n - x->answer;
    for (int i = 0; right && i < answer.n; i++)
        right = !strcmp(answer.word[i], s->words[x->tokens[x->answer + i]]);
    free(answer.word);
    ck_close(&p);
    free(text);
    return right;
}

/* Changes one token, in the answer or the prompt, and says whether it counts as a change; the
 * checker must refuse if it does, and (the prompt has the same answer) accept if not. */
static int changed(lg_task *t, lg_rng *r, lg_example *x, const struct ck_made *m, int in_answer)
{
    const lg_task_shape *s = lg_task_get_shape(t);
    int p = in_answer ? x->answer + below(r, x->n - x->answer) : below(r, x->answer);
    int32_t old = x->tokens[p];
    change(s, r, x, p);
    int counts = in_answer || !still_right(t, x, m);
    char *text = ck_text_of(t, x);
    const char *wrong = ck_check(s->info->name, text, m->setting, m->settings);
    if (counts && !wrong) wrong_example(s->info->name, m, text, "a changed token is accepted");
    if (!counts && wrong) wrong_example(s->info->name, m, text, wrong);
    free(text);
    x->tokens[p] = old;
    return counts;
}

static void changes_are_refused(void **state)
{
    (void)state;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        lg_rng r;
        lg_rng_init(&r, 2, 1, (uint64_t)i);
        int answers = 0, prompts = 0, tries = 0, refused = 0;
        while (answers < CHANGES || prompts < CHANGES) {
            struct ck_made m;
            lg_task *t = draw_task(info, &r, &m, &refused);
            for (int e = 0; e < 20; e++, tries++) {
                lg_draw d = {.seed = 6, .stream = 3, .index = (uint64_t)tries};
                ck_draw_sizes(lg_task_get_shape(t), &r, &d);
                ck_example(t, &d, &x);
                if (!still_right(t, &x, &m))
                    fail_msg("%s: the solver finds another answer", info->name);
                answers += changed(t, &r, &x, &m, 1);
                for (int k = 0; k < 3; k++) prompts += changed(t, &r, &x, &m, 0);
            }
            lg_task_free(t);
            if (tries > 20 * CHANGES) fail_msg("%s: too few changes count", info->name);
        }
    }
    lg_example_clear(&x);
}

/* One number of the example changed: a label, a loss, or one of the three counts. */
static void spoil(const lg_task_shape *s, lg_rng *r, lg_example *x)
{
    int i = below(r, x->n), l = below(r, s->levels);
    int32_t *label = &x->labels[l][i];
    switch (below(r, 12)) {
    case 0: x->loss[i] = !x->loss[i]; break;
    case 1: x->answer += below(r, 2) ? 1 : -1; break;
    case 2: x->length++; break;
    case 3: x->sparsity++; break;
    case 4: *label = *label == LG_ABSENT ? 0 : LG_ABSENT; break;
    case 5: x->n--; break;
    default: *label = *label == LG_ABSENT ? 1 : *label + (below(r, 2) ? 1 : -1); break;
    }
}

static void wrong_labels_are_refused(void **state)
{
    (void)state;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        lg_rng r;
        lg_rng_init(&r, 3, 1, (uint64_t)i);
        int refused = 0;
        for (int round = 0; round < CHANGES / EACH; round++) {
            struct ck_made m;
            lg_task *t = draw_task(info, &r, &m, &refused);
            const lg_task_shape *s = lg_task_get_shape(t);
            for (int e = 0; e < EACH; e++) {
                lg_draw d = {.seed = 7, .stream = 4, .index = (uint64_t)(round * EACH + e)};
                int most[LG_LEVELS] = {0};
                ck_draw_sizes(s, &r, &d);
                ck_example(t, &d, &x);
                char *text = ck_text_of(t, &x);
                spoil(s, &r, &x);
                if (!ck_coupled(info->name, text, m.setting, m.settings, s, &x, most))
                    wrong_example(info->name, &m, text, "a wrong number is accepted");
                free(text);
            }
            lg_task_free(t);
        }
    }
    lg_example_clear(&x);
}

/* A shape that differs from the definition in one number. */
static void wrong_shapes_are_refused(void **state)
{
    (void)state;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info->name)) continue;
        lg_task *t = ck_task_new(info->name, NULL, 0);
        const lg_task_shape *right = lg_task_get_shape(t);
        int length = right->length_least > 5 ? right->length_least : 5;
        lg_draw d = {.seed = 8, .length_lo = length, .length_hi = length};
        ck_example(t, &d, &x);
        char *text = ck_text_of(t, &x);
        for (int change_of = 0; change_of < 5; change_of++) {
            int most[LG_LEVELS] = {0};
            lg_task_shape s = *right;
            s.levels += change_of == 1;
            s.needed += change_of == 2;
            s.reach[0] += change_of == 3;
            if (change_of == 4) s.stop = s.stop == LG_NONE ? 0 : LG_NONE;
            const char *wrong = ck_coupled(info->name, text, NULL, 0, &s, &x, most);
            if (!wrong != !change_of)
                fail_msg("%s, change %d: %s", info->name, change_of, wrong ? wrong : "accepted");
        }
        free(text);
        lg_task_free(t);
    }
    lg_example_clear(&x);
}

/* Stored models name tokens by number: the order of the vocabulary is part of a task. */
static void vocabularies_are_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *task, *setting[3], *words;
        int digits; /* the first so many are digits, no others; -1: not said */
    } cases[] = {
        {"parity", {NULL}, "0 1 =", 2},
        {"parity-scratchpad", {NULL}, "0 1 = $", 2},
        {"sparse-parity", {NULL}, "0 1 * .", -1},
        {"sparse-parity-scratchpad", {NULL}, "0 1 * . | = > $", 2},
        {"variable-assignment", {"names=3", "constants=2"}, ":= ? > $ c0 c1 v0 v1 v2", -1},
        {"retrieval", {"keys=2", "values=3"}, ": ? > $ k0 k1 v0 v1 v2", -1},
        {"addition", {"base=4"}, "0 1 2 3 ", 4},
        {"addition", {"hints=4"}, "0 1 2 3 4 5 6 7 8 9 ", 10},
        {"subtraction", {NULL}, "0 1 2 3 4 5 6 7 8 9 ", 10},
        {"multi-addition", {"base=16"}, "0 1 2 3 4 5 6 7 8 9 A B C D E F ", 16},
        {"multiplication", {"base=2", "scratchpad=yes"}, "0 1 ", 2},
        {"flip-flop", {NULL}, "0 1 w r i", -1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int settings = 0;
        while (settings < 3 && cases[c].setting[settings]) settings++;
        lg_task *t = ck_task_new(cases[c].task, cases[c].setting, settings);
        const lg_task_shape *s = lg_task_get_shape(t);
        char words[400] = "";
        for (int i = 0; i < s->vocab; i++) {
            if (i) strncat(words, " ", sizeof words - strlen(words) - 1);
            strncat(words, s->words[i], sizeof words - strlen(words) - 1);
            if (cases[c].digits >= 0 && s->digit[i] != (i < cases[c].digits))
                fail_msg("%s: %s is%s a digit", cases[c].task, s->words[i],
                         s->digit[i] ? "" : " not");
        }
        size_t size = strlen(cases[c].words);
        int open = cases[c].words[size - 1] == ' '; /* more may follow */
        if (open ? strncmp(words, cases[c].words, size) : strcmp(words, cases[c].words))
            fail_msg("%s has the words %s", cases[c].task, words);
        lg_task_free(t);
    }
}

/* What cannot be made is refused where the sizes are asked for, not found out later. */
static void sizes_have_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *task, *setting[3];
        int least, most; /* lengths; 0: not said */
    } cases[] = {
        {"flip-flop", {NULL}, 2, 0},
        {"addition", {"hints=12"}, 1, 11},
        {"copy", {"hints=12"}, 1, 12},
        {"reverse", {"hints=12"}, 1, 12},
        {"copy", {"kind=unique", "alphabet=9"}, 1, 9},
        {"reverse", {"kind=unique", "alphabet=9"}, 1, 9},
        {"sort", {"alphabet=9"}, 1, 9},
        {"variable-assignment", {"names=3", "name_tokens=2"}, 1, 9},
        {"retrieval", {"keys=3", "key_tokens=2"}, 1, 9},
        {"planted", {"table=pair"}, 2, 0},
        {"planted", {"table=lookup"}, 3, 0},
    };
    lg_example x;
    lg_example_init(&x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int settings = 0;
        while (settings < 3 && cases[c].setting[settings]) settings++;
        lg_task *t = ck_task_new(cases[c].task, cases[c].setting, settings);
        const lg_task_shape *s = lg_task_get_shape(t);
        if (s->length_least != cases[c].least || (cases[c].most && s->length_most != cases[c].most))
            fail_msg("%s takes lengths %d..%d", cases[c].task, s->length_least, s->length_most);
        lg_error err = {0};
        lg_draw d = {.length_lo = s->length_most + 1, .length_hi = s->length_most + 1};
        assert_int_not_equal(lg_task_example(t, &d, &x, &err), 0);
        assert_true(err.text[0]);
        d.length_lo = d.length_hi = s->length_least - 1;
        assert_int_not_equal(lg_task_example(t, &d, &x, &err), 0);
        lg_task_free(t);
    }
    lg_example_clear(&x);
}

/* The checkers see the text alone: it must be whole, and cut where there is no room. */
static void texts_are_cut_to_their_room(void **state)
{
    (void)state;
    lg_task *t = ck_task_new("variable-assignment", NULL, 0);
    lg_example x;
    lg_example_init(&x);
    lg_draw d = {.length_lo = 3, .length_hi = 3};
    ck_example(t, &d, &x);
    char *whole = ck_text_of(t, &x), part[200];
    size_t size = strlen(whole);
    assert_true(size < sizeof part - 2);
    for (size_t room = 0; room <= size + 2; room++) {
        memset(part, '#', sizeof part);
        assert_int_equal(lg_example_text(t, &x, part, room), size);
        size_t kept = room ? (room - 1 < size ? room - 1 : size) : 0;
        assert_memory_equal(part, whole, kept);
        if (room) assert_int_equal(part[kept], 0);
        assert_int_equal(part[room], '#');
    }
    free(whole);
    lg_example_clear(&x);
    lg_task_free(t);
}

/* A sparsity that is asked for is that of the examples, or refused; where it is no part of the length it may
 * be more than that. */
static void sparsity_is_not_ignored(void **state)
{
    (void)state;
    lg_task *t = ck_task_new("parity", NULL, 0);
    lg_example x;
    lg_error err = {0};
    lg_example_init(&x);
    lg_draw d = {.length_lo = 3, .length_hi = 3, .sparsity_lo = 2, .sparsity_hi = 2};
    assert_int_equal(lg_task_example(t, &d, &x, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "has no sparsity"));
    lg_task_free(t);
    t = ck_task_new("multi-addition", NULL, 0);
    d = (lg_draw){.length_lo = 2, .length_hi = 2, .sparsity_lo = 10, .sparsity_hi = 10};
    ck_example(t, &d, &x);
    assert_int_equal(x.sparsity, 10);
    lg_task_free(t);
    assert_true(lg__task_has_cell("multi-addition", 2, 10));
    assert_true(lg__task_has_cell("sparse-parity", 10, 10));
    assert_false(lg__task_has_cell("sparse-parity", 2, 10));
    lg_example_clear(&x);
}

static void every_checker_has_its_task(void **state)
{
    (void)state;
    for (int i = 0; ck_at(i); i++)
        if (!lg_task_info_find(ck_at(i)->name)) fail_msg("there is no task %s", ck_at(i)->name);
}

static int clean(void **state)
{
    (void)state;
    ck_folder_close();
    return 0;
}

/* A task has room for so many values. */
static void settings_have_their_room(void **state)
{
    (void)state;
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        int n = lg__settings_count(info->settings);
        if (n > LG__MOST_SETTINGS) fail_msg("%s has %d settings; raise the room", info->name, n);
    }
}

static void the_role_level_is_named_so(void **state)
{
    (void)state;
    int roles = 0;
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        lg_error err = {0};
        if (info->own) continue;
        lg_task *t = lg_task_new(info->name, NULL, 0, &err);
        if (!t) fail_msg("%s", err.text);
        const lg_task_shape *shape = lg_task_get_shape(t);
        for (int l = 0; l < shape->levels; l++)
            assert_int_equal(shape->level[l] && strcmp(shape->level[l], "role") == 0,
                             shape->role == l + 1);
        roles += shape->role > 0;
        lg_task_free(t);
    }
    assert_true(roles >= 4);
}

static int open_nothing(lg_task *t, lg_error *err)
{
    (void)t, (void)err;
    return 0;
}

/* Where a task's row has one setting more than there is room for, nothing is written past it. Comes
 * last: the row stays in the table. */
static void a_17th_setting_is_refused(void **state)
{
    (void)state;
    static lg_setting many[LG__MOST_SETTINGS + 2];
    static char names[LG__MOST_SETTINGS + 1][16];
    static struct lg__task_row row = {.info = {.name = "seventeen", .unit = "tokens"},
                                      .open = open_nothing};
    lg_error err = {0};
    for (int i = 0; i <= LG__MOST_SETTINGS; i++) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        many[i] = (lg_setting){names[i], "0..9", "1", "a number"};
    }
    row.info.settings = many + 1; /* 16 of them */
    lg__task_row_add(&row);
    lg_task *t = lg_task_new("seventeen", NULL, 0, &err);
    assert_non_null(t);
    lg_task_free(t);
    row.info.settings = many;
    assert_null(lg_task_new("seventeen", NULL, 0, &err));
    assert_non_null(
        strstr(err.text, "task seventeen has 17 settings, and there is room for 16; raise"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_right),          cmocka_unit_test(changes_are_refused),
        cmocka_unit_test(wrong_labels_are_refused),    cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(vocabularies_are_in_order),   cmocka_unit_test(sizes_have_bounds),
        cmocka_unit_test(texts_are_cut_to_their_room), cmocka_unit_test(sparsity_is_not_ignored),
        cmocka_unit_test(every_checker_has_its_task),  cmocka_unit_test(settings_have_their_room),
        cmocka_unit_test(the_role_level_is_named_so),  cmocka_unit_test(a_17th_setting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
