/* drawing.h: figures to draw, and a gnuplot of the test's own that shows the script it is given. */
#ifndef LG_TESTS_REPORT_DRAWING_H
#define LG_TESTS_REPORT_DRAWING_H

#include <dirent.h>
#include <math.h>
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

#include "base/memory.h"
#include "lengthen_lab.h"

#define REMEDY "install gnuplot (Debian: gnuplot-nox), or leave --plot out"

enum { SIZE = 1 << 16 };
static char home[64], svg[100], *real_path, text[SIZE]; /* svg: a file in out/ */

/* ---- A folder of the test's own ------------------------------------------------------------- */

/* Good until it was called three times more. */
static inline const char *in_home(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", home, name);
    return path[turn];
}

static inline void save(const char *path, const char *what)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(what, f);
    assert_int_equal(fclose(f), 0);
}

/* The file in text[]; its bytes. */
static inline size_t load(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s is not there", path);
    size_t n = fread(text, 1, SIZE - 1, f);
    text[n] = '\0';
    fclose(f);
    return n;
}

static inline void has(const char *where, const char *words)
{
    if (!strstr(where, words)) fail_msg("\"%s\" is not in:\n%s", words, where);
}

static inline void lacks(const char *where, const char *words)
{
    if (strstr(where, words)) fail_msg("\"%s\" is in:\n%s", words, where);
}

/* How many files the folder out/ has, with those of a leading dot. */
static inline int files(void)
{
    int n = 0;
    DIR *d = opendir(in_home("out"));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static inline int clear(void **state)
{
    (void)state;
    char command[256];
    setenv("PATH", real_path, 1);
    unsetenv("GNUTERM");
    snprintf(command, sizeof command, "rm -rf %s/* && mkdir %s/out %s/bin", home, home, home);
    return system(command);
}

static inline int begin(void **state)
{
    const char *path = getenv("PATH");
    real_path = strdup(path ? path : "/usr/bin:/bin");
    strcpy(home, "/tmp/lengthen-figure-XXXXXX");
    if (!real_path || !mkdtemp(home)) return -1;
    snprintf(svg, sizeof svg, "%s/out/a.svg", home);
    return clear(state);
}

static inline int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", home);
    int code = system(command);
    free(real_path);
    return code;
}

/* From now on gnuplot is this script, and no other program is on the PATH. */
static inline void gnuplot_is(const char *script)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "#!/bin/sh\ncd %s\n%s\n", home, script);
    save(in_home("bin/gnuplot"), whole);
    assert_int_equal(chmod(in_home("bin/gnuplot"), 0755), 0);
    setenv("PATH", in_home("bin"), 1);
}

static inline void need_gnuplot(void)
{
    char *all = strdup(real_path), *rest = all, *folder, path[1024];
    int found = 0;
    while ((folder = strsep(&rest, ":"))) {
        snprintf(path, sizeof path, "%s/gnuplot", *folder ? folder : ".");
        found |= access(path, X_OK) == 0;
    }
    free(all);
    if (found) return;
    print_message("skipped: gnuplot is not on the PATH; install it to run this test\n");
    skip();
}

/* ---- Figures -------------------------------------------------------------------------------- */

static const double x4[] = {1000, 20, 100, 500000}, y4[] = {0.5, 1, 0.75, 0},
                    low4[] = {0.4, 0.9, 0.7, 0}, high4[] = {0.6, 1, 0.8, 0.125};
static const char awkward[] = "'a_b{2} \"q\" it''s \\n <&> `touch bad` @x é\x1b\n\xff";
/* The same as it is to be read: no control characters, and no bytes that are no character. */
static const char readable[] = ">'a_b{2} \"q\" it''s \\n <&> `touch bad` @x é  ?</text>";

static const lg_curve two[] = {
    {.name = awkward, .n = 4, .x = x4, .y = y4, .low = low4, .high = high4},
    {.name = "one point", .n = 1, .x = x4, .y = y4, .low = low4, .high = high4},
};
static const lg_figure plain = {.title = "Copy $HOME",
                                .x_label = "length",
                                .y_label = "answers right, %",
                                .curves = two,
                                .count = 2,
                                .trained_low = 10,
                                .trained_high = 20};

static inline void must(int code, const lg_error *err)
{
    if (code) fail_msg("%d: %s", code, err->text);
}

#endif
