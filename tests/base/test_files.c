/* test_files.c: a file that cannot be written leaves nothing behind, and the sentence gives the remedy for
 * what went wrong. Without it a broken disk is taken for a full one, and a full one fills with leftovers. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files.h"

static char home[64], path[128];

static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/lengthen-files-XXXXXX");
    if (!mkdtemp(home)) return -1;
    snprintf(path, sizeof path, "%s/file", home);
    return 0;
}

static int remove_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

static int count_names(void)
{
    int n = 0;
    DIR *d = opendir(home);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void says(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

static void says_not(const char *text, const char *words)
{
    if (strstr(text, words)) fail_msg("\"%s\" is in: %s", words, text);
}

/* ---- The remedy ------------------------------------------------------------------------------- */

static void every_error_has_its_remedy(void **state)
{
    (void)state;
    static const struct {
        int error;
        const char *words;
    } rows[] = {{ENOSPC, "make room on its disk"},
                {EDQUOT, "quota"},
                {EIO, "dmesg"},
                {EFBIG, "ulimit -f"},
                {EROFS, "read-only"},
                {EACCES, "rights"},
                {EPERM, "rights"},
                {ENOENT, "folder"},
                {ENOTDIR, "folder"},
                {EMFILE, "another folder"},
                {0, "another folder"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *remedy = lg_write_remedy(rows[i].error);
        says(remedy, rows[i].words);
        if (rows[i].error != ENOSPC && rows[i].error != EDQUOT) says_not(remedy, "make room");
    }
}

/* ---- Files that are there whole or not at all ------------------------------------------------- */

/* The temporary name is a link to a device; the error must name the file, the reason and the words. */
static void write_to(const char *device, const char *reason, const char *words)
{
    char part[200];
    struct lg__part p = {0};
    lg_error err = {0};
    snprintf(part, sizeof part, "%s.part-%ld", path, (long)getpid());
    assert_int_equal(symlink(device, part), 0);
    assert_int_equal(lg__part_open(&p, path, &err), 0);
    for (int i = 0; i < 100000; i++) fputs("text", p.file); /* more than a buffer: it fails here */
    errno = ENOENT;                                         /* of another call meanwhile */
    assert_int_equal(lg__part_keep(&p, &err), LG_ERROR_SYSTEM);
    says(err.text, path);
    says(err.text, reason);
    says(err.text, words);
    assert_int_equal(count_names(), 0);
}

static void a_full_disk(void **state)
{
    (void)state;
    write_to("/dev/full", strerror(ENOSPC), "make room");
}

static void a_broken_disk(void **state)
{
    (void)state;
    write_to("/proc/self/mem", strerror(EIO), "dmesg"); /* nothing is mapped at 0 */
}

static void a_limit_on_the_size_of_files(void **state)
{
    (void)state;
    struct rlimit full, limit;
    struct lg__part p = {0};
    lg_error err = {0};
    getrlimit(RLIMIT_FSIZE, &full);
    void (*earlier)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = full;
    limit.rlim_cur = 3;
    assert_int_equal(lg__part_open(&p, path, &err), 0);
    fputs("text", p.file);
    setrlimit(RLIMIT_FSIZE, &limit);
    int e = lg__part_keep(&p, &err);
    setrlimit(RLIMIT_FSIZE, &full);
    signal(SIGXFSZ, earlier);
    assert_int_equal(e, LG_ERROR_SYSTEM);
    says(err.text, "ulimit -f");
    assert_int_equal(count_names(), 0);
}

static void one_that_can_be_written_is_kept(void **state)
{
    (void)state;
    struct lg__part p = {0};
    lg_error err = {0};
    assert_int_equal(lg__part_open(&p, path, &err), 0);
    fputs("text", p.file);
    assert_int_equal(count_names(), 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(lg__part_keep(&p, &err), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(count_names(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_its_remedy),
        cmocka_unit_test_setup_teardown(a_full_disk, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_broken_disk, make_home, remove_home),
        cmocka_unit_test_setup_teardown(a_limit_on_the_size_of_files, make_home, remove_home),
        cmocka_unit_test_setup_teardown(one_that_can_be_written_is_kept, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
