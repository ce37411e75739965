/* ensembles.h: tables that the tests of the theory room write for themselves. */
#ifndef LG_TESTS_THEORY_ENSEMBLES_H
#define LG_TESTS_THEORY_ENSEMBLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lengthen_theory.h"

#define PARITY(positions)                                                                          \
    "k: 2\npositions: " positions "\nplanted: {P: 1, Q: 1}\nbackground: {a: 1, b: 1}\n"            \
    "label: parity\n"

/* The first word is marked, the second looks like the background. */
#define MARKED(positions)                                                                          \
    "k: 2\npositions: " positions "\nplanted: {first: {P: 1, Q: 1}, rest: {a: 1, b: 1}}\n"         \
    "background: {a: 1, b: 1}\nlabel: count\n"

/* A file with this text; its name lives until the fourth one after it is made. */
static inline const char *table(const char *text)
{
    static char name[4][40];
    static int next;
    char *path = name[next++ % 4];
    strcpy(path, "/tmp/lengthen-theory-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

#endif
