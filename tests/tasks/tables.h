/* tables.h: a file that a test writes its tables to, for planted and machine, and tables that more
 * than one of them needs. */
#ifndef LG_TESTS_TASKS_TABLES_H
#define LG_TESTS_TASKS_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"

enum { TEXT = 1 << 16 };

static char folder[] = "/tmp/lengthen-tables-XXXXXX", path[64], setting[80];

static inline int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/table.yaml", folder);
    snprintf(setting, sizeof setting, "table=%s", path);
    return 0;
}

static inline int close_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static inline void write_table(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static inline lg_task *open_table(const char *task, const char *text)
{
    write_table(text);
    return ck_task_new(task, (const char *const[]){setting}, 1);
}

#define PLANTED(k, positions)                                                                      \
    "k: " #k "\npositions: " positions "\nplanted: {A: 1}\nbackground: {a: 1, A: 1}\nlabel: {"

/* Only three tuples occur; a label for one that does not may stand there all the same. */
static const char joint_table[] = "k: 2\nplanted: {joint: {A A: 3, B A: 1, A B: 0.5}}\n"
                                  "background: {a: 1}\n"
                                  "label: {A A: AA, A B: AB, B A: BA, B B: BB}\n";

#endif
