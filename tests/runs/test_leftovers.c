/* test_leftovers.c: what a run, an export and a checkpoint leave behind when they cannot be written, and what they
 * say: a full disk must not fill with halves of files, and a broken one is not a full one. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "runs/run.h"
#include "base/files.h"

static int count_names(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void says(const lg_error *err, const char *words)
{
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

static void says_not(const lg_error *err, const char *words)
{
    if (strstr(err->text, words)) fail_msg("\"%s\" is in: %s", words, err->text);
}

static void fresh(const char *folder) { assert_int_equal(mkdir(folder, 0777), 0); }

static void a_file_of_a_run(void **state)
{
    (void)state;
    lg_error err = {0};
    fresh(in_home("run"));
    assert_int_equal(lg__file_write(in_home("run/config.yaml"), "old\n", &err), 0);
    char part[64];
    snprintf(part, sizeof part, "run/config.yaml.part-%ld", (long)getpid());
    assert_int_equal(symlink("/dev/full", in_home(part)), 0);
    assert_int_equal(lg__file_write(in_home("run/config.yaml"), "new\n", &err), LG_ERROR_SYSTEM);
    says(&err, in_home("run/config.yaml"));
    says(&err, "make room on its disk");
    assert_int_equal(count_names(in_home("run")), 1); /* the one of before */
    assert_int_equal(symlink("/proc/self/mem", in_home(part)), 0);
    assert_int_equal(lg__file_write(in_home("run/config.yaml"), "new\n", &err), LG_ERROR_SYSTEM);
    says(&err, strerror(EIO));
    says(&err, "dmesg");
    says_not(&err, "full");
    assert_int_equal(count_names(in_home("run")), 1);
    char *text = NULL;
    assert_int_equal(lg__file_read(in_home("run/config.yaml"), &text, &err), 0);
    assert_string_equal(text, "old\n");
    free(text);
}

/* A copy of a tokenizer. */
static void a_copy(void **state)
{
    (void)state;
    char name[64];
    lg_error err = {0};
    fresh(in_home("copies"));
    assert_int_equal(lg__file_write(in_home("from"), "a tokenizer", &err), 0);
    snprintf(name, sizeof name, "copies/to.part-%ld", (long)getpid());
    assert_int_equal(symlink("/proc/self/mem", in_home(name)), 0);
    assert_int_equal(lg__file_copy(in_home("from"), in_home("copies"), "to", &err),
                     LG_ERROR_SYSTEM);
    says(&err, "dmesg");
    says_not(&err, "full");
    assert_int_equal(count_names(in_home("copies")), 0);
}

/* Its folder is written under another name; the last file in it meets a full disk. */
static void an_export(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 11;
    c.layers = 1;
    c.width = 16;
    c.heads = 2;
    c.encoding = "rope";
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s", err.text);
    fresh(in_home("exports"));
    char part[64], file[100];
    snprintf(part, sizeof part, "exports/to.part-%ld", (long)getpid());
    snprintf(file, sizeof file, "%s/config.json.part-%ld", part, (long)getpid());
    fresh(in_home(part));
    assert_int_equal(symlink("/dev/full", in_home(file)), 0);
    assert_int_equal(lg_export(m, 8, in_home("exports/to"), &err), LG_ERROR_SYSTEM);
    says(&err, "make room on its disk");
    assert_int_equal(count_names(in_home("exports")), 0);
    if (lg_export(m, 8, in_home("exports/to"), &err)) fail_msg("%s", err.text);
    assert_int_equal(count_names(in_home("exports/to")), 2);
    lg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_a_run),
        cmocka_unit_test(a_copy),
        cmocka_unit_test(an_export),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
