/* saving.h: a folder of checkpoints, made-up states of a small model, and saves and loads
 * of them. */
#ifndef LG_TESTS_HELPERS_SAVING_H
#define LG_TESTS_HELPERS_SAVING_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "runs/checkpoint.h"
#include "lengthen.h"

enum { VOCAB = 11, CLASSES = 5, PATH = 512 };
static const char *const files[] = {"model.safetensors", "state.safetensors", "sum", "note"};
static char top[PATH / 4], folder[PATH / 2]; /* of the running test */

/* ---- Folders and files -------------------------------------------------------------------- */

static void empty(const char *path) /* calls itself: not inline */
{
    char name[2 * PATH];
    DIR *d = opendir(path);
    for (struct dirent *f; d && (f = readdir(d));) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, f->d_name);
        if (unlink(name)) {
            empty(name);
            rmdir(name);
        }
    }
    if (d) closedir(d);
}

static inline int open_folder(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/dev/shm/lg-checkpoint-XXXXXX"); /* a thousand syncs: in memory */
    if (!mkdtemp(top)) snprintf(top, sizeof top, "/tmp/lg-checkpoint-XXXXXX");
    if (access(top, F_OK) && !mkdtemp(top)) return -1;
    snprintf(folder, sizeof folder, "%s/checkpoint", top);
    return 0;
}

static inline int close_folder(void **state)
{
    (void)state;
    lg__checkpoint_stop_at(-1, 0);
    lg__alloc_fail_after(-1);
    empty(top);
    return rmdir(top);
}

/* Names in the folder that begin with `start`, all of them with "". */
static inline int count_names(const char *start)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *f; d && (f = readdir(d));)
        n += strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0 &&
             strncmp(f->d_name, start, strlen(start)) == 0;
    if (d) closedir(d);
    return n;
}

static inline const char *path_of(int64_t step, const char *file)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/step-%09lld%s%s", folder, (long long)step, *file ? "/" : "",
             file);
    return path;
}

static inline int is_there(int64_t step) { return access(path_of(step, ""), F_OK) == 0; }

static inline unsigned char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

/* ---- Models and their state --------------------------------------------------------------- */

static inline lg_model_config config(lg_arch arch)
{
    lg_model_config c = lg_model_config_default(arch);
    c.vocab = VOCAB;
    c.layers = 2;
    c.width = 12;
    c.heads = 2;
    c.levels = 2;
    c.encoding = arch == LG_ARCH_NEOX ? "fire" : "relative";
    c.span = LG_SPAN_WINDOW;
    c.window_lo[0] = c.window_lo[1] = -4;
    c.window_hi[0] = c.window_hi[1] = 3;
    c.sink = 1;
    c.id_classes[0] = CLASSES;
    c.pointer[0] = 1;
    c.seed = 3;
    return c;
}

struct pair {
    lg_model *m;
    lg_trainer *t;
};

static inline struct pair pair_of(const lg_model_config *c, int threads)
{
    lg_error err = {0};
    lg_train_options o = lg_train_options_default();
    o.steps = 20;
    o.warmup = 5;
    o.lr = 3e-3;
    o.threads = threads;
    struct pair p = {.m = lg_model_new(c, &err)};
    if (!p.m) fail_msg("%s", err.text);
    p.t = lg_trainer_new(p.m, &o, &err);
    if (!p.t) fail_msg("%s", err.text);
    return p;
}

static inline struct pair small(void)
{
    lg_model_config c = config(LG_ARCH_NEOX);
    c.layers = 1;
    return pair_of(&c, 1);
}

static inline void pair_free(struct pair *p)
{
    lg_trainer_free(p->t);
    lg_model_free(p->m);
}

static inline size_t floats(const lg_param *p) { return (size_t)p->rows * (size_t)p->cols; }

/* The k-th made-up state: every number its own. */
static inline void set_state(struct pair *p, int k, int64_t step)
{
    int64_t at = 0;
    for (int i = 0; i < lg_model_param_count(p->m); i++) {
        lg_param w = lg_model_param(p->m, i);
        float *m1 = lg_trainer_moment(p->t, i, 0), *m2 = lg_trainer_moment(p->t, i, 1);
        for (size_t j = 0; j < floats(&w); j++, at++) {
            w.data[j] = (float)k + (float)at * 1e-3f;
            m1[j] = -(float)k - (float)at * 1e-4f;
            m2[j] = (float)k * 100 + (float)at;
        }
    }
    lg_trainer_set_steps(p->t, step);
    lg_model_touch(p->m);
}

static inline int same(const struct pair *a, const struct pair *b)
{
    for (int i = 0; i < lg_model_param_count(a->m); i++) {
        lg_param x = lg_model_param(a->m, i), y = lg_model_param(b->m, i);
        size_t bytes = floats(&x) * sizeof(float);
        if (memcmp(x.data, y.data, bytes) != 0) return 0;
        for (int second = 0; second < 2; second++)
            if (memcmp(lg_trainer_moment(a->t, i, second), lg_trainer_moment(b->t, i, second),
                       bytes) != 0)
                return 0;
    }
    return lg_trainer_steps(a->t) == lg_trainer_steps(b->t);
}

static inline void save(const struct pair *p, const char *note, int keep)
{
    lg_error err = {0};
    if (lg__checkpoint_save(folder, p->m, p->t, note, keep, &err)) fail_msg("%s", err.text);
}

static inline void save_state(struct pair *p, int k, int64_t step, int keep)
{
    set_state(p, k, step);
    save(p, "step 7 enough 0, a note that is long enough to be cut", keep);
}

/* Loads into p, which then is state k of that step; words NULL: without a warning. Else the newest is
 * damaged: it is refused without fallback, and with it the warning has these words. */
static inline void expect(struct pair *p, int k, int64_t step, const char *words)
{
    lg_error err = {0}, warning = {0};
    struct pair right = small();
    char older[64];
    set_state(p, 77, 7);
    if (words) {
        snprintf(older, sizeof older, "--fallback to use the older step %lld", (long long)step);
        assert_int_equal(lg__checkpoint_load(folder, p->m, p->t, 0, NULL, &warning, &err),
                         LG_ERROR_SYSTEM);
        if (!strstr(err.text, older)) fail_msg("\"%s\" is not in: %s", older, err.text);
        assert_int_equal(warning.code, 0);
        set_state(&right, 77, 7);
        assert_true(same(p, &right));
    }
    if (lg__checkpoint_load(folder, p->m, p->t, words != NULL, NULL, &warning, &err))
        fail_msg("%s", err.text);
    set_state(&right, k, step);
    assert_int_equal(lg_trainer_steps(p->t), step);
    assert_true(same(p, &right));
    assert_int_equal(warning.code, words ? LG_ERROR_SYSTEM : 0);
    if (words && !strstr(warning.text, words))
        fail_msg("\"%s\" is not in: %s", words, warning.text);
    pair_free(&right);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

#endif
