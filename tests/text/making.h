/* making.h: files for the tests of this room, in a folder of the test's own. */
#ifndef LG_TESTS_TEXT_MAKING_H
#define LG_TESTS_TEXT_MAKING_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "text/text.h"

#define DATA LG_TEST_DATA "/tokens/"

static char home[64];

static inline int new_home(void **state)
{
    (void)state;
    strcpy(home, "/tmp/lengthen-text-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static inline int remove_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

static inline const char *in_home(const char *name)
{
    static char path[8][256];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", home, name);
    return p;
}

static inline void put(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_home(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

/* How many files the folder has, hidden ones too. */
static inline int files_there(void)
{
    struct dirent **entry;
    int n = scandir(home, &entry, NULL, NULL), files = 0;
    for (int i = 0; i < n; i++) {
        files += entry[i]->d_type == DT_REG;
        free(entry[i]);
    }
    free(entry);
    return files;
}

static inline void says(const lg_error *err, const char *words)
{
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

#endif
