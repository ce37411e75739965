/* experiments.h: files of a test's home, and the small experiment that several tests write. */
#ifndef LG_TESTS_STUDY_EXPERIMENTS_H
#define LG_TESTS_STUDY_EXPERIMENTS_H

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
#include "helpers/home.h"
#include "runs/run.h"
#include "study/study.h"
#include "base/files.h"

static inline int there(const char *name)
{
    struct stat st;
    return stat(in_home(name), &st) == 0;
}

static inline void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* To be freed. */
__attribute__((noinline, unused)) static char *read_file(const char *name)
{
    char *text = NULL;
    if (lg__file_read(in_home(name), &text, NULL) || !text) fail_msg("%s cannot be read", name);
    return text;
}

static inline void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

static inline void says(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

#define CONFIG                                                                                     \
    "config:\n"                                                                                    \
    "  task: {name: copy}\n"                                                                       \
    "  model: {width: 16, heads: 2}\n"                                                             \
    "  train: {steps: 20, batch: 8, warmup: 2, length: [1, 5]}\n"                                  \
    "  eval: {lengths: [3, 5], samples: 4}\n"
#define VARY                                                                                       \
    "vary:\n"                                                                                      \
    "  method:\n"                                                                                  \
    "    plain: {positions.ids: plain}\n"                                                          \
    "    coupled, RoPE: {positions.ids: coupled}\n"                                                \
    "  seed: [1, 2]\n"
#define EXPERIMENT                                                                                 \
    "experiment:\n"                                                                                \
    "  question: Is it so?\n"                                                                      \
    "  expected: \"it is.\"\n"                                                                     \
    "  words: \"reconstructed: all of it\"\n"                                                      \
    "  budget: 3\n"

#define SCALES                                                                                     \
    "scales:\n"                                                                                    \
    "  smoke:\n"                                                                                   \
    "    set: {train.steps: 9, eval: {samples: 2}}\n"                                              \
    "    vary: {seed: [7], method: [\"coupled, RoPE\"]}\n"                                         \
    "  paper: {vary: {seed: [1, 2, 3]}}\n"

#endif
