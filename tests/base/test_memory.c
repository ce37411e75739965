/* test_memory.c: alignment, growth, counting, and allocations that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"

static void alloc_is_aligned_and_zero(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4097, (2u << 20) - 1, 2u << 20, 5000001};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i / 2];
        unsigned char *p = lg__alloc(size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t j = 0; j < size; j++)
            if (p[j] != 0) fail_msg("byte %zu of %zu is %d", j, size, p[j]);
        memset(p, 0xff, size); /* the next one of this size is likely the same memory */
        free(p);
    }
}

static void grow_keeps_when_asked(void **state)
{
    (void)state;
    struct lg__block b = {0};
    assert_int_equal(lg__block_grow(&b, 100, 0, "a test", NULL), LG_OK);
    assert_int_equal((uintptr_t)b.data % 64, 0);
    assert_true(b.size >= 100);
    for (int i = 0; i < 100; i++) ((unsigned char *)b.data)[i] = (unsigned char)i;
    void *before = b.data;
    assert_int_equal(lg__block_grow(&b, 50, 1, "a test", NULL), LG_OK);
    assert_ptr_equal(b.data, before); /* never shrinks, never moves for nothing */
    assert_true(b.size >= 100);
    assert_int_equal(lg__block_grow(&b, (size_t)3 << 20, 1, "a test", NULL), LG_OK);
    assert_int_equal((uintptr_t)b.data % 64, 0);
    for (int i = 0; i < 100; i++) assert_int_equal(((unsigned char *)b.data)[i], i);
    memset(b.data, 1, b.size);
    lg__block_free(&b);
    assert_null(b.data);
    assert_int_equal(b.size, 0);
    lg__block_free(&b);
    lg__block_free(NULL);
}

static void a_failed_grow_changes_nothing(void **state)
{
    (void)state;
    struct lg__block b = {0};
    assert_int_equal(lg__block_grow(&b, 10, 0, "a test", NULL), LG_OK);
    strcpy(b.data, "as it was");
    struct lg__block before = b;
    lg_error err = {0};
    lg__alloc_fail_after(0);
    assert_int_equal(lg__block_grow(&b, 1000, 1, "the gradients", &err), LG_ERROR_MEMORY);
    assert_int_equal(err.code, LG_ERROR_MEMORY);
    assert_non_null(strstr(err.text, "the gradients"));
    assert_non_null(strstr(err.text, "1000"));
    assert_ptr_equal(b.data, before.data);
    assert_int_equal(b.size, before.size);
    assert_string_equal(b.data, "as it was");
    /* Once only: the next one succeeds. */
    assert_int_equal(lg__block_grow(&b, 1000, 1, "the gradients", &err), LG_OK);
    assert_string_equal(b.data, "as it was");
    lg__block_free(&b);
}

static void a_size_that_cannot_be_fails(void **state)
{
    (void)state;
    struct lg__block b = {0};
    lg_error err = {0};
    assert_int_equal(lg__block_grow(&b, SIZE_MAX, 0, "all there is", &err), LG_ERROR_MEMORY);
    assert_int_equal(lg__block_grow(&b, SIZE_MAX - 63, 0, "all there is", &err), LG_ERROR_MEMORY);
    assert_null(b.data);
    assert_null(lg__alloc(SIZE_MAX));
}

static void the_chosen_allocation_fails(void **state)
{
    (void)state;
    for (int chosen = 0; chosen < 4; chosen++) {
        lg__alloc_fail_after(chosen);
        for (int i = 0; i < 6; i++) {
            void *p = lg__alloc(8);
            assert_int_equal(p == NULL, i == chosen);
            free(p);
        }
    }
    lg__alloc_fail_after(0);
    lg__alloc_fail_after(-5); /* takes it back */
    void *p = lg__alloc(8);
    assert_non_null(p);
    free(p);
}

static void allocations_are_counted(void **state)
{
    (void)state;
    struct lg__block b = {0};
    long before = lg__alloc_count();
    free(lg__alloc(10));
    assert_int_equal(lg__block_grow(&b, 10, 0, "a test", NULL), LG_OK);
    assert_int_equal(lg__alloc_count(), before + 2);
    assert_int_equal(lg__block_grow(&b, 10, 0, "a test", NULL), LG_OK);
    assert_int_equal(lg__alloc_count(), before + 2);
    lg__block_free(&b);
    assert_int_equal(lg__alloc_count(), before + 2);
}

static void errors_are_cut_and_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(lg__fail(NULL, LG_ERROR_SYSTEM, "nobody reads %d", 1), LG_ERROR_SYSTEM);
    lg_error err;
    assert_int_equal(lg__fail(&err, LG_ERROR_NUMERIC, "%0600d", 7), LG_ERROR_NUMERIC);
    assert_int_equal(err.code, LG_ERROR_NUMERIC);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_is_aligned_and_zero),
        cmocka_unit_test(grow_keeps_when_asked),
        cmocka_unit_test(a_failed_grow_changes_nothing),
        cmocka_unit_test(a_size_that_cannot_be_fails),
        cmocka_unit_test(the_chosen_allocation_fails),
        cmocka_unit_test(allocations_are_counted),
        cmocka_unit_test(errors_are_cut_and_may_be_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
