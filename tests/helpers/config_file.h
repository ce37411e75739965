/* config_file.h: a file that a test writes its configs to, and what a config opens to. */
#ifndef LG_TESTS_HELPERS_CONFIG_FILE_H
#define LG_TESTS_HELPERS_CONFIG_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runs/config.h"
#include "lengthen.h"

static char folder[] = "/tmp/lengthen-config-XXXXXX", path[64];

static inline int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static inline void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* A config opened, with all that it makes. */
struct opened {
    lg_task *t;
    lg_scheme s;
    lg_model_config m;
    lg_train_options o;
    lg_error err;
};

static inline void assert_has(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

#endif
