/* store_runs.c: the runs of the store: registered, listed, found by whatever names them, deleted. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "runs/store_rows.h"
#include "base/files.h"
#include "base/clock.h"

#define RUN(type, name) LG__FIELD(lg_store_run, type, #name, name)
static const struct lg__column columns[] = {
    {"id", LG__COLUMN_TEXT, offsetof(lg_store_run, id), 0, "UNIQUE"},
    RUN(TEXT, folder),
    {"state", LG__COLUMN_TEXT, offsetof(lg_store_run, state), 0,
     "CHECK(state IN ('training', 'stopped', 'done', 'failed'))"},
    RUN(TEXT, error),
    RUN(TEXT, task),
    RUN(TEXT, positions),
    RUN(TEXT, unit),
    RUN(TEXT, config),
    RUN(TEXT, kernels),
    RUN(LONG, seed),
    RUN(LONG, step),
    RUN(LONG, steps),
    RUN(LONG, parameters),
    RUN(INT, least),
    RUN(INT, length),
    RUN(INT, sparsity),
    RUN(REAL, created),
    RUN(REAL, updated),
    RUN(REAL, seconds),
    {0},
};
const struct lg__table lg__table_runs = {.name = "runs",
                                         .columns = columns,
                                         .keys = "number INTEGER PRIMARY KEY AUTOINCREMENT",
                                         .end =
                                             "STRICT; CREATE INDEX runs_of_folder ON runs(folder)"};

/* A run's row, its number, and what its builds say of it: all commits, "A+B", the last one's compiler and the
 * last one as a line. */
enum { SQL = LG__TABLE_LIST + 1000 };

#define LAST_BUILD                                                                                 \
    "FROM run_builds AS t JOIN builds AS b ON b.number = t.build WHERE t.run = r.number ORDER BY"  \
    " t.place DESC LIMIT 1"
#define COMMITS                                                                                    \
    "(SELECT group_concat(c, '+') FROM (SELECT b.commit_id AS c FROM run_builds AS t JOIN builds"  \
    " AS b ON b.number = t.build WHERE t.run = r.number ORDER BY t.place))"

static const char *select_text(char sql[SQL], const char *rest)
{
    char list[LG__TABLE_LIST];
    snprintf(sql, SQL,
             "SELECT %s, r.number, " COMMITS ", (SELECT b.compiler " LAST_BUILD "),"
             " (SELECT printf('lengthen %%s (%%s, %%s), %%s, %%d cores, %%s', b.version, " COMMITS
             ", b.compiler, b.isa, b.cores, b.host) " LAST_BUILD ") FROM runs AS r %s",
             lg__table_list(&lg__table_runs, 'r', list), rest);
    return sql;
}

static lg_store_run read_run(lg__rows *q)
{
    lg_store_run r = {0};
    int at = lg__table_read(&lg__table_runs, q, 0, &r);
    r.number = lg__store_int(q, at);
    r.commit = lg__store_text(q, at + 1);
    r.compiler = lg__store_text(q, at + 2);
    r.machine = lg__store_text(q, at + 3);
    if (strcmp(r.state, "training") == 0 && !lg__run_is_locked(r.folder)) r.state = "stopped";
    return r;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

/* The number and the folder of the run with this ID; *number 0: there is none. */
static int look_up(lg_store *s, const char *id, int64_t *number, char folder[PATH_MAX],
                   lg_error *err)
{
    lg__rows *q =
        lg__store_prepare(s, err, "SELECT number, folder FROM runs WHERE id = ?", "t", id);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    *number = e > 0 ? lg__store_int(q, 0) : 0;
    snprintf(folder, PATH_MAX, "%s", e > 0 ? lg__store_text(q, 1) : "");
    lg__store_close_rows(s, q);
    return e < 0 ? e : 0;
}

/* The folder moves with the run; a copy of it is not the run as long as the store's own is there. */
static int move_folder(lg_store *s, const lg_store_run *r, const char *known, int trains,
                       lg_error *err)
{
    char there[LG__RUN_ID];
    if (strcmp(known, r->folder) == 0) return 0;
    lg__run_id(known, there);
    if (strcmp(there, r->id) != 0)
        return lg__store_run(s, err, "UPDATE runs SET folder = ? WHERE id = ?", "tt", r->folder,
                             r->id);
    if (!trains) return 0;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%.150s is a copy of the run in %.150s, whose rows the store %s has; train that "
        "one, or use another store (--store)",
        r->folder, known, lg__store_file(s));
}

/* A run that another commit goes on with is of both. */
static int add_build(lg_store *s, int64_t number, int is_new, lg_error *err)
{
    int64_t build;
    int e = lg__store_build(s, &build, err);
    if (e) return e;
    return lg__store_run(
        s, err,
        "INSERT INTO run_builds SELECT ?1, (SELECT count(*) FROM run_builds WHERE run = ?1), ?2"
        " WHERE ?3 OR (EXISTS (SELECT 1 FROM runs WHERE number = ?1 AND step < steps) AND"
        " (SELECT commit_id FROM builds WHERE number = ?2) IS NOT (SELECT b.commit_id FROM"
        " run_builds AS t JOIN builds AS b ON b.number = t.build WHERE t.run = ?1"
        " ORDER BY t.place DESC LIMIT 1))",
        "iii", number, build, (int64_t)is_new);
}

/* A config that is no YAML has no keys: the row has its text all the same. */
static int add_settings(lg_store *s, int64_t number, const char *config, lg_error *err)
{
    lg_config_values v = {0};
    int e = lg_config_values_read(&v, config, NULL) ? 0 : 1;
    for (int i = 0; e > 0 && i < v.count; i++)
        if (lg__store_run(s, err, "INSERT OR REPLACE INTO settings VALUES(?,?,?,?)", "iitt", number,
                          (int64_t)i, v.at[i].key, v.at[i].value))
            e = LG_ERROR_SYSTEM;
    lg_config_values_clear(&v);
    return e < 0 ? e : 0;
}

int lg__store_register(lg_store *s, const lg_store_run *r, int trains, int64_t *number,
                       lg_error *err)
{
    char known[PATH_MAX];
    int e = lg__store_begin(s, err), is_new;
    if (e) return e;
    e = look_up(s, r->id, number, known, err);
    is_new = !e && !*number;
    if (is_new) {
        lg_store_run row = *r;
        row.error = "";
        row.created = row.updated = lg__date();
        row.seconds = 0;
        e = lg__table_put(s, &lg__table_runs, 0, &row, err);
        if (!e) e = look_up(s, r->id, number, known, err);
        if (!e) e = add_settings(s, *number, r->config, err);
    } else if (!e) {
        e = move_folder(s, r, known, trains, err);
    }
    if (!e && (is_new || trains)) e = add_build(s, *number, is_new, err);
    return lg__store_end(s, e, err);
}

int lg__store_state(lg_store *s, int64_t number, const char *state, const char *error,
                    lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_run(s, err, "UPDATE runs SET state = ?, error = ?, updated = ? WHERE number = ?",
                      "ttri", state, error ? error : "", lg__date(), number);
    return lg__store_end(s, e, err);
}

int lg__store_kernels(lg_store *s, int64_t number, const char *kernels, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_run(s, err, "UPDATE runs SET kernels = ? WHERE number = ?", "ti", kernels,
                      number);
    return lg__store_end(s, e, err);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

int lg_store_runs(lg_store *s, lg_store_each *each, void *context, lg_error *err)
{
    char sql[SQL];
    lg__rows *q = lg__store_prepare(s, err, select_text(sql, "ORDER BY r.number DESC"), "");
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_store_run r = read_run(q);
        each(context, &r);
    }
    lg__store_close_rows(s, q);
    return e;
}

/* Calls each for the runs that the condition finds with this text; their number, or negative. */
static int find_by(lg_store *s, const char *condition, const char *what, lg_store_each *each,
                   void *context, lg_error *err)
{
    char sql[SQL], rest[300];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM runs AS r WHERE %s", condition);
    lg__rows *q = lg__store_prepare(s, err, sql, "t", what);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM, count = 0;
    if (e > 0) count = (int)lg__store_int(q, 0);
    lg__store_close_rows(s, q);
    if (e < 0 || count != 1) return e < 0 ? e : count;
    snprintf(rest, sizeof rest, "WHERE %s", condition);
    if (!(q = lg__store_prepare(s, err, select_text(sql, rest), "t", what))) return LG_ERROR_SYSTEM;
    if ((e = lg__store_next(s, q, err)) > 0) {
        lg_store_run r = read_run(q);
        each(context, &r);
    }
    lg__store_close_rows(s, q);
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

/* ---- Comparing --------------------------------------------------------------------------------- */

/* The values of one key, each to be freed. */
struct values {
    char *key, **at;
    int count;
};

static void tell_values(struct values *v, lg_store_values_callback *each, void *context)
{
    if (v->key) each(context, v->key, (const char *const *)v->at);
    for (int i = 0; i < v->count; i++) {
        free(v->at[i]);
        v->at[i] = NULL;
    }
    free(v->key);
    v->key = NULL;
}

/* Rows of (key, place of the run among those asked for, value), those of a key one behind the other: keys that
 * some run lacks or has another value of, in the order of the first config that has them. */
static char *differences_text(const int64_t *numbers, int count, lg_error *err)
{
    lg_buffer b = {0};
    lg_buffer_put(&b, "WITH s AS (SELECT key, value, place, CASE run");
    for (int i = 0; i < count; i++)
        lg_buffer_print(&b, " WHEN %lld THEN %d", (long long)numbers[i], i);
    lg_buffer_put(&b, " END AS side FROM settings WHERE run IN (");
    for (int i = 0; i < count; i++)
        lg_buffer_print(&b, "%s%lld", i ? "," : "", (long long)numbers[i]);
    lg_buffer_print(&b,
                    ")) SELECT key, side, value FROM s WHERE key IN (SELECT key FROM s GROUP BY key"
                    " HAVING count(*) < %d OR min(value) <> max(value))"
                    " ORDER BY min(side * 100000 + place) OVER (PARTITION BY key), side",
                    count);
    return lg_buffer_take(&b, err);
}

int lg_store_differences(lg_store *s, const int64_t *numbers, int count,
                         lg_store_values_callback *each, void *context, lg_error *err)
{
    struct values v = {.at = calloc((size_t)count + 1, sizeof *v.at), .count = count};
    char *sql = v.at ? differences_text(numbers, count, err) : NULL;
    lg__rows *q = sql ? lg__store_prepare(s, err, sql, "") : NULL;
    int e = q ? 1 : sql ? LG_ERROR_SYSTEM : LG_ERROR_MEMORY;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        if (v.key && strcmp(v.key, lg__store_text(q, 0)) != 0) tell_values(&v, each, context);
        char **value = &v.at[lg__store_int(q, 1)];
        if (!v.key) v.key = strdup(lg__store_text(q, 0));
        *value = strdup(lg__store_text(q, 2));
        if (!v.key || !*value) e = LG_ERROR_MEMORY;
    }
    if (!e) tell_values(&v, each, context);
    if (e == LG_ERROR_MEMORY) lg__fail(err, e, "no memory to compare runs; end other programs");
    if (q) lg__store_close_rows(s, q);
    for (int i = 0; i < count && v.at; i++) free(v.at[i]);
    free(v.at);
    free(v.key);
    free(sql);
    return e;
}

/* ---- Deleting ---------------------------------------------------------------------------------- */

static int get_id(lg_store *s, int64_t number, char id[LG__RUN_ID], lg_error *err)
{
    lg__rows *q = lg__store_prepare(s, err, "SELECT id FROM runs WHERE number = ?", "i", number);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) snprintf(id, LG__RUN_ID, "%s", lg__store_text(q, 0));
    lg__store_close_rows(s, q);
    return e < 0 ? e : 0;
}

/* The row first, so that a store that cannot be written to costs no weights; a folder that cannot be
 * changed keeps the row. */
static int delete_row(lg_store *s, int64_t number, const char *folder, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_run(s, err, "DELETE FROM runs WHERE number = ?", "i", number);
    if (!e && folder && access(folder, W_OK | X_OK) != 0)
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "the files in %.200s cannot be removed: %s; check its "
                     "rights",
                     folder, strerror(errno));
    return lg__store_end(s, e, err);
}

int lg_store_delete(lg_store *s, int64_t number, lg_error *err)
{
    struct place d = {0};
    char name[32], id[LG__RUN_ID] = "";
    lg_error why = {0};
    int lock = -1;
    snprintf(name, sizeof name, "%lld", (long long)number);
    int e = find_by(s, "CAST(number AS TEXT) = ?1", name, keep_place, &d, err);
    if (e < 0) return e;
    if (!d.number)
        return lg__fail(err, LG_ERROR_ARGUMENT, "there is no run %s in the store %s", name,
                        lg__store_file(s));
    if (lg__folder_lock(d.folder, 0, &lock) == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "run %s is being trained in %s; stop that process first", name, d.folder);
    e = get_id(s, number, id, err);
    int own = !e && holds(d.folder, id);
    if (!e && (e = delete_row(s, number, own ? d.folder : NULL, &why)))
        lg__fail(err, e, "%s; nothing of run %s was deleted", why.text, name);
    else if (!e && own && (e = lg__run_remove_folder(d.folder, &why)))
        lg__fail(err, e, "%s; run %s is no longer in the store", why.text, name);
    if (lock >= 0) close(lock);
    return e;
}
