/* merge.c: stores joined into one. Runs are known by their IDs; numbers, of runs and of builds, are each store's own. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cluster/jobs.h"
#include "runs/store_rows.h"

/* Rows of the other store's table t, with its runs as o and ours as r. */
#define OF_RUN(table)                                                                              \
    " FROM other." table " AS t JOIN wanted AS o ON o.number = t.run JOIN runs AS r ON r.id = "    \
    "o.id"
#define BUILD                                                                                      \
    "(SELECT b.number FROM builds AS b JOIN other.builds AS x ON x.number = t.build WHERE"         \
    " b.version = x.version AND b.commit_id = x.commit_id AND b.compiler = x.compiler AND b.isa =" \
    " x.isa AND b.cores = x.cores AND b.host = x.host)"

static int count(lg_store *s, const char *sql, int *n, lg_error *err)
{
    lg__rows *q = lg__store_prepare(s, err, sql, "");
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *n = (int)lg__store_int(q, 0);
    lg__store_close_rows(s, q);
    return e < 0 ? e : 0;
}

/* Columns of a table, and the same of t. */
static int copy(lg_store *s, const struct lg__table *table, const char *from, lg_error *err)
{
    char list[LG__TABLE_LIST], plain[LG__TABLE_LIST], sql[4 * LG__TABLE_LIST];
    size_t n = 0;
    lg__table_list(table, 't', list);
    for (const char *at = list; *at; at++) /* "t.x, t.y" to "x, y" */
        if (strncmp(at, "t.", 2) == 0 && (at == list || at[-1] == ' '))
            at++;
        else
            plain[n++] = *at;
    plain[n] = 0;
    if (table == &lg__table_runs)
        snprintf(sql, sizeof sql,
                 "INSERT INTO runs(%s) SELECT %s FROM wanted AS t WHERE id NOT IN (SELECT id "
                 "FROM runs) ORDER BY number",
                 plain, list);
    else
        snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s(run, %s%s) SELECT r.number, %s%s%s",
                 table->name, plain, table->measured ? ", build, created" : "", list,
                 table->measured ? ", " BUILD ", t.created" : "", from);
    return lg__store_run(s, err, sql, "");
}

static int join(lg_store *s, const char *id, int *added, int *known, lg_error *err)
{
    int e = lg__store_run(s, err,
                          "CREATE TEMP TABLE wanted AS SELECT * FROM other.runs WHERE ?1 = '' OR "
                          "id = ?1",
                          "t", id);
    if (!e)
        e = lg__store_run(s, err,
                          "INSERT OR IGNORE INTO builds(version, commit_id, compiler, isa, cores, "
                          "host) SELECT version, commit_id, compiler, isa, cores, host FROM "
                          "other.builds ORDER BY number",
                          "");
    if (!e)
        e = count(s, "SELECT count(*) FROM wanted WHERE id IN (SELECT id FROM runs)", known, err);
    if (!e) e = count(s, "SELECT count(*) FROM wanted", added, err);
    if (e) return e;
    *added -= *known;
    e = lg__store_run(
        s, err,
        "UPDATE runs SET (state, error, kernels, step, updated, seconds) = (SELECT o.state, "
        "o.error, o.kernels, o.step, o.updated, max(o.seconds, runs.seconds) FROM wanted AS o "
        "WHERE o.id = runs.id) WHERE EXISTS (SELECT 1 FROM wanted AS o WHERE o.id = runs.id "
        "AND (o.step > runs.step OR (o.step = runs.step AND runs.state <> 'done' AND o.updated > "
        "runs.updated)))",
        "");
    if (!e) e = copy(s, &lg__table_runs, NULL, err);
    if (!e)
        e = lg__store_run(
            s, err,
            "INSERT OR IGNORE INTO run_builds SELECT r.number, t.place, " BUILD OF_RUN(
                "run_builds"),
            "");
    if (!e)
        e = lg__store_run(
            s, err,
            "INSERT OR IGNORE INTO settings SELECT r.number, t.place, t.key, t.value" OF_RUN(
                "settings"),
            "");
    if (!e) e = copy(s, &lg__table_metrics, OF_RUN("metrics"), err);
    if (!e) e = copy(s, &lg__table_measurements, OF_RUN("measurements"), err);
    return e;
}

int lg_store_merge(const char *to, const char *from, int *added, int *known, lg_error *err)
{
    lg_error own;
    return lg__store_merge(to, from, NULL, added, known, err ? err : &own);
}

int lg__store_merge(const char *to, const char *from, const char *id, int *added, int *known,
                    lg_error *err)
{
    *added = *known = 0;
    lg_store *s = lg_store_open(from, 0, err); /* one of another version is refused */
    if (!s) return err->code;
    lg_store_close(s);
    if (!(s = lg_store_open(to, 1, err))) return err->code;
    int e = lg__store_run(s, err, "ATTACH DATABASE ? AS other", "t", from);
    if (!e && !(e = lg__store_begin(s, err)))
        e = lg__store_end(s, join(s, id ? id : "", added, known, err), err);
    lg_store_close(s);
    return e;
}

void lg__store_remove(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[4200];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}
