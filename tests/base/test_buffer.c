/* test_buffer.c: a text is as it was written, and where memory is missing there is none: never one
 * that is shorter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/memory.h"

enum { LINES = 300 };

/* About 9000 bytes in all three ways. */
static void write_lines(lg_buffer *b)
{
    for (int i = 0; i < LINES; i++) {
        lg_buffer_print(b, "%d,%.3f,%*s", i, i / 7.0, i % 50, "");
        lg_buffer_put(b, i % 3 ? "three" : "");
        lg_buffer_add(b, "one\n\0", i % 2 ? 4 : 5);
    }
}

/* The same by other means; returns its bytes. */
static size_t lines_of(char *to)
{
    char *at = to;
    for (int i = 0; i < LINES; i++) {
        at += sprintf(at, "%d,%.3f,%*s%sone\n", i, i / 7.0, i % 50, "", i % 3 ? "three" : "");
        if (i % 2 == 0) *at++ = 0;
    }
    return (size_t)(at - to);
}

static void a_text_is_what_was_added(void **state)
{
    (void)state;
    static char want[1 << 16];
    lg_buffer b = {0};
    lg_error err = {0};
    size_t n = lines_of(want);
    write_lines(&b);
    assert_int_equal(b.size, n);
    char *text = lg_buffer_take(&b, &err);
    assert_non_null(text);
    assert_memory_equal(text, want, n);
    assert_int_equal(text[n], 0);
    assert_null(b.data);
    assert_int_equal(b.size + b.room + (size_t)b.lost, 0);
    free(text);
    lg_buffer_clear(&b);
}

/* Texts that end at, before and behind the end of the room. */
static void every_length_fits(void **state)
{
    (void)state;
    char want[300];
    for (int n = 0; n < 299; n++) {
        memset(want, 'x', sizeof want);
        want[n] = 0;
        lg_buffer b[3] = {{0}};
        lg_buffer_print(&b[0], "%s", want);
        lg_buffer_put(&b[1], want);
        lg_buffer_add(&b[2], want, (size_t)n);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(b[i].size, n);
            char *text = lg_buffer_take(&b[i], NULL);
            assert_string_equal(text, want);
            free(text);
        }
    }
}

static void nothing_is_a_text(void **state)
{
    (void)state;
    lg_buffer b = {0};
    lg_error err = {0};
    char *text = lg_buffer_take(&b, &err);
    assert_string_equal(text, "");
    free(text);
    lg__alloc_fail_after(0);
    assert_null(lg_buffer_take(&b, &err));
    assert_int_equal(err.code, LG_ERROR_MEMORY);
}

static void without_memory_there_is_no_text(void **state)
{
    (void)state;
    static char want[1 << 16];
    size_t size = lines_of(want);
    char *text = NULL;
    long n = 0;
    for (; !text; n++) {
        lg_buffer b = {0};
        lg_error err = {0};
        lg__alloc_fail_after(n);
        write_lines(&b);
        lg__alloc_fail_after(-1);
        int lost = b.lost;
        text = lg_buffer_take(&b, &err); /* the memory is back, the text is not */
        assert_int_equal(lost, text == NULL);
        if (text) break;
        assert_int_equal(err.code, LG_ERROR_MEMORY);
        assert_non_null(strstr(err.text, "memory"));
        lg_buffer_put(&b, "anew"); /* a buffer that was taken can be used again */
        char *other = lg_buffer_take(&b, &err);
        assert_string_equal(other, "anew");
        free(other);
    }
    assert_true(n > 5);
    assert_memory_equal(text, want, size);
    free(text);
}

static void what_cannot_be_printed_is_lost(void **state)
{
    (void)state;
    lg_buffer b = {0};
    lg_error err = {0};
    lg_buffer_put(&b, "before ");
    lg_buffer_print(&b, "%lc", (wint_t)0x3042); /* no letter of the locale C */
    lg_buffer_put(&b, "after");
    assert_null(lg_buffer_take(&b, &err));
    assert_int_equal(err.code, LG_ERROR_MEMORY);
    lg_buffer_put(&b, "before");
    lg_buffer_add(&b, "", SIZE_MAX - 2);
    assert_null(lg_buffer_take(&b, &err));
}

static long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void a_file_is_replaced_whole_or_stays(void **state)
{
    (void)state;
    static char want[1 << 16];
    long size = (long)lines_of(want), n = 0;
    char folder[] = "/tmp/lengthen-buffer-XXXXXX", path[100], part[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    lg_buffer b = {0};
    lg_error err = {0};
    lg_buffer_put(&b, "old");
    assert_int_equal(lg_buffer_save(&b, path, &err), 0);
    assert_int_equal(size_of(path), 3);
    for (int code = -1; code; n++) {
        lg__alloc_fail_after(n);
        write_lines(&b);
        code = lg_buffer_save(&b, path, &err);
        lg__alloc_fail_after(-1);
        assert_int_equal(code, code ? LG_ERROR_MEMORY : 0);
        assert_int_equal(size_of(path), code ? 3 : size);
    }
    assert_true(n > 5);
    /* a folder in its way: refused, and no part is left */
    snprintf(path, sizeof path, "%s/folder", folder);
    snprintf(part, sizeof part, "%s/folder.part-%ld", folder, (long)getpid());
    assert_int_equal(mkdir(path, 0700), 0);
    write_lines(&b);
    assert_int_equal(lg_buffer_save(&b, path, &err), LG_ERROR_SYSTEM);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(size_of(part), -1);
    rmdir(path);
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_what_was_added),
        cmocka_unit_test(every_length_fits),
        cmocka_unit_test(nothing_is_a_text),
        cmocka_unit_test(without_memory_there_is_no_text),
        cmocka_unit_test(what_cannot_be_printed_is_lost),
        cmocka_unit_test(a_file_is_replaced_whole_or_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
