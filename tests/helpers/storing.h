/* storing.h: a store with runs and steps in it, SQLite itself to look behind it, and other
 * processes that hold what a test needs. */
#ifndef LG_TESTS_HELPERS_STORING_H
#define LG_TESTS_HELPERS_STORING_H

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "runs/store.h"

static inline void must(int code, const lg_error *err)
{
    if (code) fail_msg("%s", err->text);
}

static inline void says(const lg_error *err, const char *words)
{
    if (!strstr(err->text, words)) fail_msg("\"%s\" is not in: %s", words, err->text);
}

static inline void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* ---- What is written and read ----------------------------------------------------------- */

static inline lg_store *open_store(const char *name)
{
    lg_error err = {0};
    lg_store *s = lg_store_open(in_home(name), 1, &err);
    if (!s) fail_msg("%s", err.text);
    return s;
}

static inline lg_store_run run_of(const char *id, const char *folder)
{
    return (lg_store_run){.id = id,
                          .folder = folder,
                          .state = "stopped",
                          .task = "copy",
                          .positions = "coupled, relative",
                          .unit = "symbols",
                          .config = "seed: 1\n",
                          .seed = 1,
                          .steps = 1000,
                          .parameters = 10,
                          .length = 5};
}

static inline int64_t add_run(lg_store *s, const char *id, const char *folder)
{
    lg_store_run r = run_of(id, folder);
    lg_error err = {0};
    int64_t number = 0;
    must(lg__store_register(s, &r, 0, &number, &err), &err);
    return number;
}

/* Steps from..to, with losses that tell them. */
static inline int add_steps(lg_store *s, int64_t number, int from, int to, double loss,
                            lg_error *err)
{
    lg_run_step rows[1000] = {0};
    for (int i = from; i <= to; i++)
        rows[i - from] = (lg_run_step){.step = i, .loss = loss + i, .lr = 1e-3, .tokens = 7};
    return lg__store_add_steps(s, number, rows, to - from + 1, 0.5, err);
}

struct steps {
    int count;
    int64_t last;
    double loss; /* the sum */
};

static inline int count_step(void *context, const lg_run_step *s)
{
    struct steps *n = context;
    assert_true(s->step > n->last); /* in order, none twice */
    n->count++;
    n->last = s->step;
    n->loss += s->loss;
    return 1;
}

static inline struct steps steps_of(lg_store *s, int64_t number)
{
    struct steps n = {0};
    lg_error err = {0};
    must(lg_store_steps(s, number, count_step, &n, &err), &err);
    return n;
}

struct found {
    int64_t number, step;
    char folder[200], state[20], error[100];
    int count;
};

static inline void keep_run(void *context, const lg_store_run *r)
{
    struct found *f = context;
    f->count++;
    f->number = r->number;
    f->step = r->step;
    snprintf(f->folder, sizeof f->folder, "%s", r->folder);
    snprintf(f->state, sizeof f->state, "%s", r->state);
    snprintf(f->error, sizeof f->error, "%s", r->error);
}

static inline struct found find(lg_store *s, const char *name)
{
    struct found f = {0};
    lg_error err = {0};
    must(lg_store_find(s, name, keep_run, &f, &err), &err);
    return f;
}

/* ---- SQLite itself, to look behind the store -------------------------------------------- */

static inline int run_sql(const char *file, const char *sql)
{
    sqlite3 *db;
    int code = sqlite3_open(file, &db);
    if (!code) code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return code;
}

/* The first column of the first row, as text. */
static inline const char *ask_sql(const char *file, const char *sql)
{
    static char text[200];
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    text[0] = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    sqlite3_close(db);
    return text;
}

/* ---- Other processes -------------------------------------------------------------------- */

static inline void wait_for(pid_t child, int code)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("the child ended with %s %d", WIFEXITED(status) ? "code" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* A process that does `hold` and keeps what it has until it is let go. */
struct holder {
    pid_t child;
    int ready[2], done[2];
};

static inline struct holder start_holding(int (*hold)(const char *path), const char *path)
{
    struct holder h;
    char letter;
    assert_int_equal(pipe(h.ready), 0);
    assert_int_equal(pipe(h.done), 0);
    assert_true((h.child = fork()) >= 0);
    if (h.child == 0) {
        close(h.done[1]);
        int code = hold(path);
        if (write(h.ready[1], code ? "n" : "y", 1) != 1) _exit(9);
        if (read(h.done[0], &letter, 1) != 0) _exit(9);
        _exit(code);
    }
    close(h.done[0]);
    assert_int_equal(read(h.ready[0], &letter, 1), 1);
    assert_int_equal(letter, 'y');
    return h;
}

static inline void let_go(struct holder *h)
{
    close(h->done[1]);
    wait_for(h->child, 0);
    close(h->ready[0]);
    close(h->ready[1]);
}

#endif
