/* test_batch.c: sequences go in as given; what cannot be is refused with its value, and a
 * refused sequence leaves the batch as it was. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "lengthen.h"

static void sequences_lie_end_to_end(void **state)
{
    (void)state;
    static const int32_t tokens[] = {5, 6, 7}, ids[] = {9, 0, 9}, targets[] = {6, -1, 0},
                         id_targets[] = {-1, 2, 3};
    lg_batch b;
    lg_batch_init(&b);
    assert_int_equal(b.rows, 0);
    assert_int_equal(lg_batch_add(&b, 3, tokens, ids, targets, id_targets, NULL), LG_OK);
    assert_int_equal(lg_batch_add(&b, 2, tokens + 1, NULL, NULL, NULL, NULL), LG_OK);
    assert_int_equal(b.sequences, 2);
    assert_int_equal(b.rows, 5);
    static const int offsets[] = {0, 3, 5};
    static const int32_t all_tokens[] = {5, 6, 7, 6, 7}, all_ids[] = {9, 0, 9, 0, 1},
                         all_targets[] = {6, -1, 0, -1, -1}, all_id_targets[] = {-1, 2, 3, -1, -1};
    assert_memory_equal(b.offsets, offsets, sizeof offsets);
    assert_memory_equal(b.tokens, all_tokens, sizeof all_tokens);
    assert_memory_equal(b.ids[0], all_ids, sizeof all_ids);
    assert_memory_equal(b.targets, all_targets, sizeof all_targets);
    assert_memory_equal(b.id_targets[0], all_id_targets, sizeof all_id_targets);
    lg_batch_clear(&b);
    assert_null(b.tokens);
    assert_int_equal(b.rows, 0);
    lg_batch_clear(&b);
}

static void growth_keeps_all(void **state)
{
    (void)state;
    lg_batch b;
    lg_batch_init(&b);
    for (int s = 0; s < 500; s++) {
        int32_t tokens[13];
        int n = 1 + s % 13;
        for (int i = 0; i < n; i++) tokens[i] = s * 13 + i;
        assert_int_equal(lg_batch_add(&b, n, tokens, tokens, tokens, tokens, NULL), LG_OK);
    }
    assert_int_equal(b.sequences, 500);
    int row = 0;
    for (int s = 0; s < 500; s++) {
        assert_int_equal(b.offsets[s], row);
        for (int i = 0; i < 1 + s % 13; i++, row++) {
            assert_int_equal(b.tokens[row], s * 13 + i);
            assert_int_equal(b.ids[0][row], s * 13 + i);
            assert_int_equal(b.targets[row], s * 13 + i);
            assert_int_equal(b.id_targets[0][row], s * 13 + i);
        }
    }
    assert_int_equal(b.offsets[500], row);
    assert_int_equal(b.rows, row);
    lg_batch_clear(&b);
}

static void reset_keeps_the_memory(void **state)
{
    (void)state;
    static int32_t tokens[1000];
    lg_batch b;
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add(&b, 1000, tokens, NULL, NULL, NULL, NULL), LG_OK);
    long before = lg__alloc_count();
    for (int i = 0; i < 10; i++) {
        lg_batch_reset(&b);
        assert_int_equal(b.sequences, 0);
        assert_int_equal(b.rows, 0);
        assert_int_equal(lg_batch_add(&b, 400, tokens, NULL, NULL, NULL, NULL), LG_OK);
        assert_int_equal(lg_batch_add(&b, 600, tokens, NULL, NULL, NULL, NULL), LG_OK);
        assert_int_equal(b.offsets[1], 400);
    }
    assert_int_equal(lg__alloc_count(), before);
    lg_batch_clear(&b);
}

static void a_sequence_of_the_batch_itself(void **state)
{
    (void)state;
    static const int32_t tokens[] = {3, 1, 4, 1, 5, 9, 2, 6};
    lg_batch b;
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add(&b, 8, tokens, NULL, tokens, NULL, NULL), LG_OK);
    for (int copies = 1; copies < 200; copies++) /* passes several growths */
        assert_int_equal(lg_batch_add(&b, 8, b.tokens, b.ids[0], b.targets, b.id_targets[0], NULL),
                         LG_OK);
    for (int i = 0; i < 1600; i++) {
        assert_int_equal(b.tokens[i], tokens[i % 8]);
        assert_int_equal(b.ids[0][i], i % 8);
        assert_int_equal(b.targets[i], tokens[i % 8]);
        assert_int_equal(b.id_targets[0][i], LG_NONE);
    }
    lg_batch_clear(&b);
}

/* Adds a sequence that must be refused, and checks that nothing changed. */
static void refuse(lg_batch *b, int code, const char *words, int n, const int32_t *tokens,
                   const int32_t *ids, const int32_t *targets, const int32_t *id_targets)
{
    lg_batch before = *b;
    lg_error err = {0};
    assert_int_equal(lg_batch_add(b, n, tokens, ids, targets, id_targets, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    assert_int_equal(err.text[strlen(err.text) - 1], '.');
    assert_memory_equal(b, &before, sizeof before);
    assert_int_equal(lg_batch_add(b, n, tokens, ids, targets, id_targets, NULL), code);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const int32_t good[] = {1, 2, 3}, minus_one[] = {1, -1, 3}, minus_two[] = {1, 2, -2};
    lg_batch b;
    lg_batch_init(&b);
    for (int filled = 0; filled < 2; filled++) {
        const int code = LG_ERROR_ARGUMENT;
        refuse(&b, code, "0 tokens", 0, good, NULL, NULL, NULL);
        refuse(&b, code, "-7 tokens", -7, good, NULL, NULL, NULL);
        refuse(&b, code, "tokens is NULL", 3, NULL, good, good, good);
        refuse(&b, code, "tokens[1] is -1", 3, minus_one, NULL, NULL, NULL);
        refuse(&b, code, "ids[1] is -1", 3, good, minus_one, NULL, NULL);
        refuse(&b, code, "targets[2] is -2", 3, good, NULL, minus_two, NULL);
        refuse(&b, code, "id_targets[2] is -2", 3, good, NULL, NULL, minus_two);
        assert_int_equal(lg_batch_add(&b, 3, good, good, minus_one, minus_one, NULL), LG_OK);
    }
    lg_batch_clear(&b);
}

/* Rows past INT_MAX, without the memory for them: the check comes before any access. */
static void too_many_rows_are_refused(void **state)
{
    (void)state;
    static const int32_t good[] = {1, 2, 3};
    lg_batch b;
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add(&b, 3, good, NULL, NULL, NULL, NULL), LG_OK);
    b.rows = INT_MAX - 2;
    refuse(&b, LG_ERROR_ARGUMENT, "at most 2147483647", 3, good, NULL, NULL, NULL);
    b.rows = 3;
    refuse(&b, LG_ERROR_ARGUMENT, "2147483647 tokens", INT_MAX, good, NULL, NULL, NULL);
    lg_batch_clear(&b);
}

/* Levels come with the first sequence, stay for the batch and go with a reset; the room of an
 * earlier, larger batch with fewer levels must not be taken for theirs. */
static void levels_lie_side_by_side(void **state)
{
    (void)state;
    static int32_t tokens[200], first[200], second[200], classes[200];
    for (int i = 0; i < 200; i++) {
        tokens[i] = i;
        first[i] = 1000 + i;
        second[i] = i % 3 ? 7 * i : LG_ABSENT;
        classes[i] = i % 5;
    }
    lg_batch b;
    lg_error err = {0};
    lg_batch_init(&b);
    assert_int_equal(lg_batch_add(&b, 200, tokens, NULL, NULL, NULL, &err), LG_OK);
    lg_sequence s = {.n = 90, .levels = 2, .tokens = tokens, .ids = {first, second}};
    s.id_targets[1] = classes;
    s.point_targets[0] = first;
    assert_int_equal(lg_batch_add_levels(&b, &s, &err), LG_ERROR_ARGUMENT); /* one level so far */
    assert_non_null(strstr(err.text, "2 levels"));
    for (int round = 0; round < 2; round++) {
        lg_batch_reset(&b);
        for (int i = 0; i < 5; i++)
            if (lg_batch_add_levels(&b, &s, &err)) fail_msg("%s", err.text);
        assert_int_equal(b.levels, 2);
        assert_int_equal(b.rows, 450);
        for (int i = 0; i < b.rows; i++) {
            assert_int_equal(b.ids[0][i], first[i % 90]);
            assert_int_equal(b.ids[1][i], second[i % 90]);
            assert_int_equal(b.id_targets[0][i], LG_NONE);
            assert_int_equal(b.id_targets[1][i], classes[i % 90]);
            assert_int_equal(b.point_targets[0][i], first[i % 90]);
            assert_int_equal(b.point_targets[1][i], LG_NONE);
        }
        /* A batch of one level outgrows the room of the second level, which is then made anew. */
        lg_batch_reset(&b);
        for (int i = 0; i < 4 + 4 * round; i++)
            assert_int_equal(lg_batch_add(&b, 200, tokens, NULL, NULL, NULL, NULL), LG_OK);
        assert_int_equal(b.levels, 1);
    }
    s.levels = 4;
    assert_int_equal(lg_batch_add_levels(&b, &s, &err), LG_ERROR_ARGUMENT);
    s.levels = 2;
    s.ids[1] = NULL;
    lg_batch_reset(&b);
    assert_int_equal(lg_batch_add_levels(&b, &s, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "level 2"));
    lg_batch_clear(&b);
}

static void no_memory_changes_nothing(void **state)
{
    (void)state;
    static int32_t tokens[100];
    for (int i = 0; i < 100; i++) tokens[i] = i;
    int failures = 0;
    for (int filled = 0; filled < 2; filled++) {
        for (int n = 0;; n++) {
            lg_batch b;
            lg_batch_init(&b);
            if (filled)
                assert_int_equal(lg_batch_add(&b, 60, tokens, NULL, NULL, NULL, NULL), LG_OK);
            lg_batch before = b;
            lg_error err = {0};
            lg__alloc_fail_after(n);
            int code = lg_batch_add(&b, 100, tokens, NULL, NULL, NULL, &err);
            lg__alloc_fail_after(-1);
            if (code == LG_OK) {
                lg_batch_clear(&b);
                break;
            }
            failures++;
            assert_int_equal(code, LG_ERROR_MEMORY);
            assert_int_equal(err.code, LG_ERROR_MEMORY);
            assert_memory_equal(&b, &before, sizeof b);
            assert_int_equal(lg_batch_add(&b, 100, tokens, NULL, NULL, NULL, &err), LG_OK);
            assert_int_equal(b.rows, filled ? 160 : 100);
            assert_int_equal(b.tokens[b.rows - 1], 99);
            lg_batch_clear(&b);
        }
    }
    assert_int_equal(failures, 7 + 6); /* the offsets of a filled batch have room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_lie_end_to_end),
        cmocka_unit_test(growth_keeps_all),
        cmocka_unit_test(reset_keeps_the_memory),
        cmocka_unit_test(a_sequence_of_the_batch_itself),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(too_many_rows_are_refused),
        cmocka_unit_test(levels_lie_side_by_side),
        cmocka_unit_test(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
