/* running.h: the program as a user runs it, in a folder of the test's own. */
#ifndef LG_TESTS_CLI_RUNNING_H
#define LG_TESTS_CLI_RUNNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char out[1 << 20], home[64]; /* what it printed; the folder */

/* `BEFORE lengthen ARGUMENTS AFTER` in the folder; its exit code. */
static inline int run_program(const char *before, const char *arguments, const char *after)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && %s '%s' %s %s", home, before, LG_PROGRAM, arguments,
             after);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (!WIFEXITED(status)) fail_msg("%s: ended by a signal", command);
    return WEXITSTATUS(status);
}

static inline void prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static inline int count(const char *words)
{
    int n = 0;
    for (const char *at = out; (at = strstr(at, words)); at++) n++;
    return n;
}

static inline const char *in_home(const char *name)
{
    static char path[4][300];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", home, name);
    return p;
}

static inline int there(const char *name)
{
    struct stat st;
    return stat(in_home(name), &st) == 0;
}

static inline int write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_home(name), "w");
    if (!f) return -1;
    fputs(text, f);
    return fclose(f);
}

static inline int new_home(void)
{
    snprintf(home, sizeof home, "/tmp/lengthen-cli-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static inline int remove_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

#endif
