/* page_store.c: the store for pages: the list of runs, and curves that SQL makes shorter. What is read of a store with
 * many runs is the rows of runs and the steps of those that are drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pages/pages.h"
#include "runs/run.h"

void (*lg__page_statement)(lg__rows *q);

static void close_rows(lg_store *s, lg__rows *q)
{
    if (q && lg__page_statement) lg__page_statement(q);
    lg__store_close_rows(s, q);
}

/* ---- The list ---------------------------------------------------------------------------------- */

static const char *last_part(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash && slash[1] ? slash + 1 : folder;
}

/* A run whose process is gone has stopped, whatever its row says. */
static const char *state_of(const char *state, const char *folder)
{
    return strcmp(state, "training") == 0 && !lg__run_is_locked(folder) ? "stopped" : state;
}

static int wanted(const char *filter, const char *value)
{
    return !filter || !*filter || strcmp(filter, value) == 0;
}

static void put_row(lg_buffer *b, lg__rows *q, const char *state)
{
    static const char *const texts[] = {"error", "task", "positions", "unit"};
    static const char *const numbers[] = {"seed",  "step",   "steps",   "parameters",
                                          "least", "length", "sparsity"};
    lg__put_open(b, NULL, '{');
    lg__put_int(b, "number", lg__store_int(q, 0));
    lg__put_text(b, "name", last_part(lg__store_text(q, 1)));
    lg__put_text(b, "state", state);
    for (int i = 0; i < 4; i++) lg__put_text(b, texts[i], lg__store_text(q, 3 + i));
    for (int i = 0; i < 7; i++) lg__put_int(b, numbers[i], lg__store_int(q, 7 + i));
    lg__put_real(b, "seconds", lg__store_real(q, 14));
    lg__put_key(b, "updated");
    lg_buffer_print(b, "%.3f", lg__store_real(q, 15));
    lg__put_real(b, "loss", lg__store_real(q, 16));
    lg__put_close(b, '}');
}

int lg__page_list(lg_store *s, const struct lg__page_filter *f, double changed, lg_buffer *b,
                  lg_error *err)
{
    lg__rows *q = lg__store_prepare(
        s, err,
        "SELECT r.number, r.folder, r.state, r.error, r.task, r.positions, r.unit, r.seed, r.step,"
        " r.steps, r.parameters, r.least, r.length, r.sparsity, r.seconds, r.updated,"
        " (SELECT m.loss FROM metrics AS m WHERE m.run = r.number ORDER BY m.step DESC LIMIT 1)"
        " FROM runs AS r WHERE r.updated >= ?1 OR r.state = 'training' ORDER BY r.number DESC",
        "r", changed);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    lg__put_open(b, NULL, '[');
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        const char *state = state_of(lg__store_text(q, 2), lg__store_text(q, 1));
        char seed[24];
        snprintf(seed, sizeof seed, "%lld", (long long)lg__store_int(q, 7));
        if (f && !(wanted(f->task, lg__store_text(q, 4)) && wanted(f->state, state) &&
                   wanted(f->positions, lg__store_text(q, 5)) && wanted(f->seed, seed)))
            continue;
        put_row(b, q, state);
    }
    lg__put_close(b, ']');
    close_rows(s, q);
    return e;
}

/* ---- Curves ------------------------------------------------------------------------------------ */

enum { COLUMNS = 12 };
static const char *const columns[COLUMNS] = {
    "step",          "loss",    "loss_low",    "loss_high", "accuracy", "accuracy_low",
    "accuracy_high", "id_loss", "id_accuracy", "lr",        "length",   "sparsity"};

static int last_step(lg_store *s, int64_t number, int64_t *first, int64_t *last, lg_error *err)
{
    lg__rows *q = lg__store_prepare(s, err,
                                    "SELECT (SELECT min(step) FROM metrics WHERE run = ?1),"
                                    " (SELECT max(step) FROM metrics WHERE run = ?1)",
                                    "i", number);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *first = lg__store_int(q, 0), *last = lg__store_int(q, 1);
    close_rows(s, q);
    return e < 0 ? e : 0;
}

int lg__page_curves(lg_store *s, int64_t number, int points, lg_buffer *b, lg_error *err)
{
    lg_buffer list[COLUMNS] = {{0}};
    int64_t first = 0, last = 0;
    int e = last_step(s, number, &first, &last, err), lost = 0;
    /* Steps first + i W .. first + (i + 1) W - 1 are one point. */
    int64_t wide = points > 0 ? (last - first + points) / points : 1;
    if (e) return e;
    lg__rows *q = lg__store_prepare(
        s, err,
        "SELECT max(step), avg(loss), min(loss), max(loss), avg(accuracy), min(accuracy),"
        " max(accuracy), avg(id_loss), avg(id_accuracy), avg(lr), max(length), max(sparsity)"
        " FROM metrics WHERE run = ?1 GROUP BY (step - ?2) / ?3",
        "iii", number, first, wide < 1 ? (int64_t)1 : wide);
    e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0)
        for (int i = 0; i < COLUMNS; i++) {
            double v = lg__store_real(q, i);
            if (list[i].size) lg_buffer_put(&list[i], ",");
            if (i == 0)
                lg_buffer_print(&list[i], "%lld", (long long)lg__store_int(q, 0));
            else if (isfinite(v))
                lg_buffer_print(&list[i], "%.5g", v);
            else
                lg_buffer_put(&list[i], "null");
        }
    close_rows(s, q);
    lg__put_open(b, NULL, '{');
    lg__put_json(b, "thinned", wide > 1 ? "true" : "false");
    for (int i = 0; i < COLUMNS; i++) {
        lost |= list[i].lost;
        lg__put_open(b, columns[i], '[');
        lg_buffer_put(b, list[i].data ? list[i].data : "");
        lg__put_close(b, ']');
        lg_buffer_clear(&list[i]);
    }
    lg__put_close(b, '}');
    b->lost |= lost;
    return e;
}

static int get_number(lg_store *s, const char *sql, int64_t *number, lg_error *err)
{
    lg__rows *q = lg__store_prepare(s, err, sql, "");
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *number = lg__store_int(q, 0);
    close_rows(s, q);
    return e < 0 ? e : 0;
}

int lg__page_count(lg_store *s, int64_t *runs, lg_error *err)
{
    return get_number(s, "SELECT count(*) FROM runs", runs, err);
}

int lg__page_version(lg_store *s, int64_t *version, lg_error *err)
{
    return get_number(s, "PRAGMA data_version", version, err);
}
