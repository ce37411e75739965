/* small_corpus.h: a small corpus of the test's own, runs that are trained on it, and the rows of
 * their losses. */
#ifndef LG_TESTS_HELPERS_SMALL_CORPUS_H
#define LG_TESTS_HELPERS_SMALL_CORPUS_H

#include <sys/stat.h>

#include "helpers/cells.h"
#include "helpers/home.h"
#include "helpers/training.h"

enum { DOCUMENTS = 40, MOST_ROWS = 64 };

static inline const char *set(const char *key, const char *value)
{
    static char text[16][400];
    static int next;
    char *p = text[next++ % 16];
    snprintf(p, sizeof text[0], "%s=%s", key, value);
    return p;
}

/* Documents of 60 to 250 bytes; every 9 bytes name the document, "[07]". */
static inline void write_corpus(const char *name, int from, int to)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    for (int d = from; d < to; d++) {
        lg_rng r;
        lg_rng_init(&r, 9, 0, (uint64_t)d);
        if (d > from) fputs("\n<|endoftext|>\n", f);
        for (int i = 0; i < 7 + (int)lg_rng_below(&r, 20); i++) {
            fprintf(f, "[%02d]", d);
            for (int k = 0; k < 5; k++) fputc("etaoin "[lg_rng_below(&r, 7)], f);
        }
    }
    assert_int_equal(fclose(f), 0);
}

static inline int prepare(void **state)
{
    if (make_home(state)) return -1;
    setenv("LENGTHEN_CACHE", in_home("cache"), 1);
    write_corpus("a.txt", 0, DOCUMENTS);
    return 0;
}

/* ---- Training ------------------------------------------------------------------------------ */

static inline int stop_at_four(void *context, const lg_run_step *s)
{
    (void)context;
    return s->step < 4;
}

/* Eight steps with the options and these sets. */
static inline int train_with(lg_run_options o, const char *const *own, int count, lg_error *err)
{
    const char *sets[24] = {"seed=2",
                            "task.name=text",
                            "task.test=0.3",
                            set("task.text", in_home("a.txt")),
                            "model.layers=1",
                            "model.width=16",
                            "model.heads=2",
                            "train.steps=8",
                            "train.batch=4",
                            "train.warmup=1",
                            "train.lr=1e-2",
                            "train.schedule=cosine",
                            "train.length=[8, 8]"};
    int n = 13, done;
    for (int i = 0; i < count; i++) sets[n++] = own[i];
    o.sets = sets;
    o.set_count = n;
    o.threads = 1;
    return lg_run_train(&o, &done, err);
}

static inline int train_some(const char *folder, const char *const *own, int count, int resume,
                             lg_run_watch *watch, lg_error *err)
{
    lg_run_options o = {.folder = in_home(folder), .resume = resume, .watch = watch};
    return train_with(o, own, count, err);
}

static inline size_t read_file(const char *name, char *to, size_t size)
{
    FILE *f = fopen(in_home(name), "rb");
    if (!f) fail_msg("%s is not there", name);
    size_t n = fread(to, 1, size, f);
    assert_true(n < size);
    fclose(f);
    return n;
}

static inline void refused(const char *folder, const char *const *own, int count, int resume,
                           const char *says)
{
    lg_error err = {0};
    struct stat st;
    int there = stat(in_home(folder), &st) == 0;
    if (!train_some(folder, own, count, resume, NULL, &err)) fail_msg("not refused: %s", says);
    if (!strstr(err.text, says)) fail_msg("\"%s\" is not in: %s", says, err.text);
    assert_int_equal(stat(in_home(folder), &st) == 0, there);
}

/* ---- Losses -------------------------------------------------------------------------------- */

struct rows {
    lg_cell row[MOST_ROWS];
    int count;
};

static inline void keep_row(void *context, const lg_cell *r)
{
    struct rows *s = context;
    assert_true(s->count < MOST_ROWS);
    s->row[s->count++] = *r;
}

#endif
