/* test_own_limits.c: lines of the user's own data that never end. Without it one line could take all
 * memory there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/peak.h"
#include "tasks/lines.h"

static char folder[] = "/tmp/lengthen-own-XXXXXX", path[64], task[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/data.jsonl", mkdtemp(folder));
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int open_task(const void *name, lg_error *err)
{
    lg_task *t = lg_task_new(name, NULL, 0, err);
    lg_task_free(t);
    return t ? 0 : err->code;
}

static void refused(const char *name, const char *words)
{
    lg_error err;
    long megabytes;
    assert_int_not_equal(peak_of(open_task, name, &err, &megabytes), 0);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    /* While the buffer grows, there are two. */
    if (megabytes > 200) fail_msg("%ld MB were used: %s", megabytes, err.text);
}

/* One example of so many tokens, its IDs at three levels: 32 bytes a token. */
static void put_example(int tokens)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("{\"tokens\": [1", f);
    for (int i = 1; i < tokens; i++) fputs(",12345", f);
    fputs("], \"ids\": [", f);
    for (int l = 0; l < 3; l++) {
        fputs(l ? ", [0" : "[0", f);
        for (int i = 1; i < tokens; i++) fprintf(f, ",%d", 1000000 + i);
        fputc(']', f);
    }
    fputs("], \"loss\": [0", f);
    for (int i = 1; i < tokens; i++) fputs(",1", f);
    fputs("]}\n", f);
    assert_int_equal(fclose(f), 0);
}

static void a_million_tokens_are_a_line(void **state)
{
    lg_error err;
    long megabytes;
    (void)state;
    put_example(1000000);
    snprintf(task, sizeof task, "jsonl:%s", path);
    if (peak_of(open_task, task, &err, &megabytes)) fail_msg("%s", err.text);
}

static void an_endless_line_is_refused(void **state)
{
    char where[128];
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("{\"tokens\": [1, 1]}\n{\"tokens\": [\"", f);
    fclose(f);
    assert_int_equal(truncate(path, 300 << 20), 0); /* zero bytes, and none of them on the disk */
    snprintf(task, sizeof task, "jsonl:%s", path);
    snprintf(where, sizeof where, "%s: line 2 has more than 64 MiB", path);
    refused(task, where);
    snprintf(task, sizeof task, "exec:cat %s", path);
    refused(task, "line 2 has more than 64 MiB");
    refused("exec:yes | tr -d '\\n'", "line 1 has more than 64 MiB");
}

/* Parsed, each of its empty lists would take fifty times its bytes. */
static void a_line_of_many_values_is_refused(void **state)
{
    char where[128];
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("{\"tokens\": [1, 1]}\n{\"tokens\": [1", f);
    for (int i = 0; i < 15000000; i++) fputs(",[]", f);
    fputs("]}\n", f);
    assert_int_equal(fclose(f), 0);
    snprintf(task, sizeof task, "jsonl:%s", path);
    snprintf(where, sizeof where, "%s:2: there are over 8000000 values", path);
    refused(task, where);
}

static void an_endless_word_of_a_vocabulary_is_refused(void **state)
{
    lg_error err = {0};
    char setting[80];
    const char *settings[] = {setting};
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(truncate(path, 300 << 20), 0);
    snprintf(setting, sizeof setting, "vocab=%s", path);
    assert_null(lg_task_new("exec:yes", settings, 1, &err));
    if (!strstr(err.text, ": line 1 has more than 64 MiB")) fail_msg("%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_tokens_are_a_line),
        cmocka_unit_test(an_endless_line_is_refused),
        cmocka_unit_test(a_line_of_many_values_is_refused),
        cmocka_unit_test(an_endless_word_of_a_vocabulary_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
