/* store_runs.c: the runs of the store: listed, found by whatever names them, deleted. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/store_rows.h"

#define RUN_COLUMNS                                                                                \
    "number, id, folder, state, error, task, positions, unit, config, machine, seed, step, steps," \
    " parameters, least, length, sparsity, created, updated, kernels, seconds"

static lg_store_run read_run(lg__rows *q)
{
    lg_store_run r = {.number = lg__store_int(q, 0),
                      .id = lg__store_text(q, 1),
                      .folder = lg__store_text(q, 2),
                      .state = lg__store_text(q, 3),
                      .error = lg__store_text(q, 4),
                      .task = lg__store_text(q, 5),
                      .positions = lg__store_text(q, 6),
                      .unit = lg__store_text(q, 7),
                      .config = lg__store_text(q, 8),
                      .machine = lg__store_text(q, 9),
                      .seed = lg__store_int(q, 10),
                      .step = lg__store_int(q, 11),
                      .steps = lg__store_int(q, 12),
                      .parameters = lg__store_int(q, 13),
                      .least = (int)lg__store_int(q, 14),
                      .length = (int)lg__store_int(q, 15),
                      .sparsity = (int)lg__store_int(q, 16),
                      .created = lg__store_real(q, 17),
                      .updated = lg__store_real(q, 18),
                      .kernels = lg__store_text(q, 19),
                      .seconds = lg__store_real(q, 20)};
    if (strcmp(r.state, "training") == 0 && !lg__run_is_locked(r.folder)) r.state = "stopped";
    return r;
}

int lg_store_runs(lg_store *s, lg_store_each *each, void *context, lg_error *err)
{
    lg__rows *q =
        lg__store_prepare(s, err, "SELECT " RUN_COLUMNS " FROM runs ORDER BY number DESC", "");
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_store_run r = read_run(q);
        each(context, &r);
    }
    lg__store_close_rows(q);
    return e;
}

/* Calls each for the runs that the condition finds with this text; their number, or negative. */
static int find_by(lg_store *s, const char *condition, const char *what, lg_store_each *each,
                   void *context, lg_error *err)
{
    char sql[512];
    snprintf(sql, sizeof sql, "SELECT count(*) OVER (), " RUN_COLUMNS " FROM runs WHERE %s",
             condition);
    lg__rows *q = lg__store_prepare(s, err, sql, "t", what);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM, count = 0;
    if (e > 0) count = (int)lg__store_int(q, 0);
    lg__store_close_rows(q);
    if (e < 0 || count != 1) return e < 0 ? e : count;
    snprintf(sql, sizeof sql, "SELECT " RUN_COLUMNS " FROM runs WHERE %s", condition);
    if (!(q = lg__store_prepare(s, err, sql, "t", what))) return LG_ERROR_SYSTEM;
    if ((e = lg__store_next(s, q, err)) > 0) {
        lg_store_run r = read_run(q);
        each(context, &r);
    }
    lg__store_close_rows(q);
    return e;
}

struct place {
    char folder[PATH_MAX];
    int64_t number;
};

static void keep_place(void *context, const lg_store_run *r)
{
    struct place *p = context;
    p->number = r->number;
    snprintf(p->folder, sizeof p->folder, "%s", r->folder);
}

/* Whether a folder holds the run of this ID. */
static int holds(const char *folder, const char *id)
{
    char there[LG__RUN_ID];
    lg__run_id(folder, there);
    return strcmp(there, id) == 0;
}

/* The run that a folder holds, wherever it was made: 1; 0: the store has none; negative: err. A
 * copy, beside the folder that the store knows, is refused: what is done to one is not to the
 * other. A folder whose name is another run's number may be either. */
static int find_in_folder(lg_store *s, const char *run, const char *folder, lg_error *err)
{
    char id[LG__RUN_ID];
    struct place held = {0}, numbered = {0};
    lg__run_id(folder, id);
    int n = *id ? find_by(s, "id = ?1", id, keep_place, &held, err) : 0;
    if (n > 0) n = find_by(s, "CAST(number AS TEXT) = ?1", run, keep_place, &numbered, err);
    if (n < 0 || !held.number) return n;
    if (strcmp(held.folder, folder) != 0 && holds(held.folder, id))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a copy of run %lld, which the store %s has in %.200s; name the run "
                        "by its number",
                        run, (long long)held.number, lg__store_file(s), held.folder);
    if (numbered.number && numbered.number != held.number)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "\"%s\" is the number of one run and the folder of another (run %lld); "
                        "write ./%s for the folder, or that number",
                        run, (long long)held.number, run);
    return 1;
}

int lg_store_find(lg_store *s, const char *run, lg_store_each *each, void *context, lg_error *err)
{
    static const char *const ways[] = {"CAST(number AS TEXT) = ?1", "folder = ?1",
                                       "substr(folder, -length(?1) - 1) = '/' || ?1",
                                       "length(?1) >= 4 AND substr(id, 1, length(?1)) = ?1"};
    char whole[PATH_MAX], id[LG__RUN_ID];
    int path = realpath(run, whole) != NULL;
    int n = path ? find_in_folder(s, run, whole, err) : 0;
    if (n > 0) {
        lg__run_id(whole, id);
        n = find_by(s, "id = ?1", id, each, context, err);
    }
    if (n) return n < 0 ? n : 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        n = find_by(s, ways[i], i == 1 && path ? whole : run, each, context, err);
        if (n == 1 || n < 0) return n < 0 ? n : 0;
        if (n > 1)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "\"%s\" may be one of %d runs in the store %s; give a number or a "
                            "folder of `lengthen runs`",
                            run, n, lg__store_file(s));
    }
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "\"%s\" is no run in the store %s; `lengthen runs` lists them", run,
                    lg__store_file(s));
}

/* ---- Deleting ---------------------------------------------------------------------------------- */

static int get_id(lg_store *s, int64_t number, char id[LG__RUN_ID], lg_error *err)
{
    lg__rows *q = lg__store_prepare(s, err, "SELECT id FROM runs WHERE number = ?", "i", number);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) snprintf(id, LG__RUN_ID, "%s", lg__store_text(q, 0));
    lg__store_close_rows(q);
    return e < 0 ? e : 0;
}

int lg_store_delete(lg_store *s, int64_t number, lg_error *err)
{
    struct place d = {0};
    char name[32], id[LG__RUN_ID] = "";
    int lock = -1;
    snprintf(name, sizeof name, "%lld", (long long)number);
    int e = find_by(s, "CAST(number AS TEXT) = ?1", name, keep_place, &d, err);
    if (e < 0) return e;
    if (!d.number)
        return lg__fail(err, LG_ERROR_ARGUMENT, "there is no run %s in the store %s", name,
                        lg__store_file(s));
    if (lg__run_try_lock(d.folder, 0, &lock) == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "run %s is being trained in %s; stop that process first", name, d.folder);
    e = get_id(s, number, id, err);
    if (!e && holds(d.folder, id)) e = lg__run_remove_folder(d.folder, err);
    if (!e) e = lg__store_begin(s, err);
    if (!e) {
        e = lg__store_finish(
            s, lg__store_prepare(s, err, "DELETE FROM runs WHERE number = ?", "i", number), err);
        e = lg__store_end(s, e, err);
    }
    if (lock >= 0) close(lock);
    return e;
}
