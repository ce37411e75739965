/* store.c: runs, metrics and measurements in one SQLite file. WAL mode, so that one process writes while
 * others read; every write is one transaction that is synced before the call returns. */
#include "runs/store.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "runs/store_rows.h"
#include "base/clock.h"

/* A statement that is kept, compiled. */
struct kept {
    sqlite3_stmt *statement;
    int busy;
};
enum { KEPT = 48 };

struct lg_store {
    sqlite3 *db;
    char *file;
    int64_t build; /* number of the one that runs now; 0: not looked up yet */
    struct kept kept[KEPT];
    int next; /* the place of the next one that is kept */
};

static int patience = 60000; /* milliseconds */
static int kill_at = -1;

void lg__store_patience(int milliseconds) { patience = milliseconds; }
void lg__store_kill_at(int n) { kill_at = n; }

/* ---- The schema ---------------------------------------------------------------------------- */

enum { VERSION = 6 };

static const char other_schema[] =
    "CREATE TABLE builds(number INTEGER PRIMARY KEY, version TEXT NOT NULL, commit_id TEXT NOT "
    "NULL,"
    " compiler TEXT NOT NULL, isa TEXT NOT NULL, cores INTEGER NOT NULL, host TEXT NOT NULL,"
    " UNIQUE(version, commit_id, compiler, isa, cores, host)) STRICT;"
    /* Those that trained a run, in their order. */
    "CREATE TABLE run_builds(run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE,"
    " place INTEGER NOT NULL, build INTEGER NOT NULL REFERENCES builds(number),"
    " PRIMARY KEY(run, place)) STRICT, WITHOUT ROWID;"
    /* The resolved config, key by key, in its order. */
    "CREATE TABLE settings(run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE,"
    " place INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run, key))"
    " STRICT, WITHOUT ROWID; CREATE INDEX settings_of_key ON settings(key, value);";

static char *schema_text(lg_error *err)
{
    static const struct lg__table *const tables[] = {&lg__table_runs, &lg__table_metrics,
                                                     &lg__table_measurements};
    lg_buffer b = {0};
    lg__table_schema(tables[0], &b);
    lg_buffer_put(&b, other_schema);
    for (size_t i = 1; i < sizeof tables / sizeof *tables; i++) lg__table_schema(tables[i], &b);
    lg_buffer_print(&b, "PRAGMA user_version=%d;", VERSION);
    return lg_buffer_take(&b, err);
}

/* ---- Talking to SQLite ---------------------------------------------------------------------- */

/* The system's error behind SQLITE_IOERR: what SQLite kept, else errno if it is of a write; 0: unknown. */
static int io_error(sqlite3 *db, int error)
{
    static const int writing[] = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS};
    if (sqlite3_system_errno(db)) return sqlite3_system_errno(db);
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        if (error == writing[i]) return error;
    return 0;
}

/* What SQLite says, with the remedy. */
static int fail(const lg_store *s, lg_error *err)
{
    int error = errno, code = sqlite3_errcode(s->db) & 0xff;
    const char *remedy = "the rows were not written; what was saved before is unharmed";
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        remedy = "another program has held it for too long: end that one, or use another store "
                 "(--store)";
    else if (code == SQLITE_FULL || code == SQLITE_IOERR)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "the store %s: %s; %s; what was saved before is unharmed", s->file,
                        sqlite3_errmsg(s->db),
                        lg_write_remedy(code == SQLITE_FULL ? ENOSPC : io_error(s->db, error)));
    else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        remedy = "it is no store, or was damaged: name another file (--store)";
    else if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM)
        remedy = "name a file in a folder that can be written to (--store)";
    return lg__fail(err, LG_ERROR_SYSTEM, "the store %s: %s; %s", s->file, sqlite3_errmsg(s->db),
                    remedy);
}

static int execute(lg_store *s, const char *sql, lg_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, err);
}

/* A file that was deleted or moved under an open store would take rows that nobody finds again. */
int lg__store_begin(lg_store *s, lg_error *err)
{
    int moved = 0;
    sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "the store %s was deleted or moved while it was in use; put it back, or "
                        "name another (--store)",
                        s->file);
    return execute(s, "BEGIN IMMEDIATE", err);
}

int lg__store_end(lg_store *s, int e, lg_error *err)
{
    if (!e && kill_at >= 0 && kill_at-- == 0) raise(SIGKILL);
    if (!e) e = execute(s, "COMMIT", err);
    if (e) s->build = 0; /* its row may be gone with the transaction */
    if (e && !sqlite3_get_autocommit(s->db)) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return e;
}

/* The kept statement of this text that nobody reads, or NULL. */
static struct kept *find_kept(lg_store *s, const char *sql)
{
    for (int i = 0; i < KEPT; i++) {
        struct kept *k = &s->kept[i];
        if (k->statement && !k->busy && strcmp(sqlite3_sql(k->statement), sql) == 0) return k;
    }
    return NULL;
}

/* Compiles it, in place of the oldest that nobody reads; NULL: err. */
static sqlite3_stmt *compile(lg_store *s, const char *sql, lg_error *err)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q, NULL) != SQLITE_OK) {
        fail(s, err);
        return NULL;
    }
    for (int i = 0; i < KEPT; i++) {
        struct kept *k = &s->kept[s->next];
        s->next = (s->next + 1) % KEPT;
        if (k->busy) continue;
        sqlite3_finalize(k->statement);
        *k = (struct kept){q, 1};
        return q;
    }
    return q; /* all are being read: it is not kept */
}

sqlite3_stmt *lg__store_prepare(lg_store *s, lg_error *err, const char *sql, const char *types, ...)
{
    struct kept *k = find_kept(s, sql);
    sqlite3_stmt *q = k ? k->statement : compile(s, sql, err);
    if (!q) return NULL;
    if (k) k->busy = 1;
    va_list args;
    va_start(args, types);
    int bad = 0;
    for (int i = 1; *types; types++, i++) {
        if (*types == 'i')
            bad |= lg__store_bind_int(q, i, va_arg(args, int64_t));
        else if (*types == 'r')
            bad |= lg__store_bind_real(q, i, va_arg(args, double));
        else
            bad |= lg__store_bind_text(q, i, va_arg(args, const char *));
    }
    va_end(args);
    if (!bad) return q;
    fail(s, err);
    lg__store_close_rows(s, q);
    return NULL;
}

int lg__store_bind_int(sqlite3_stmt *q, int i, int64_t v) { return sqlite3_bind_int64(q, i, v); }

int lg__store_bind_real(sqlite3_stmt *q, int i, double v) { return sqlite3_bind_double(q, i, v); }

int lg__store_bind_text(sqlite3_stmt *q, int i, const char *value)
{
    return sqlite3_bind_text(q, i, value, -1, SQLITE_TRANSIENT);
}

int lg__store_finish(lg_store *s, sqlite3_stmt *q, lg_error *err)
{
    if (!q) return LG_ERROR_SYSTEM;
    int e = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s, err);
    lg__store_close_rows(s, q);
    return e;
}

int lg__store_next(lg_store *s, sqlite3_stmt *q, lg_error *err)
{
    int code = sqlite3_step(q);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fail(s, err);
}

const char *lg__store_text(sqlite3_stmt *q, int i)
{
    const unsigned char *t = sqlite3_column_text(q, i);
    return t ? (const char *)t : "";
}

int64_t lg__store_int(sqlite3_stmt *q, int i) { return sqlite3_column_int64(q, i); }

double lg__store_real(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? NAN : sqlite3_column_double(q, i);
}

void lg__store_close_rows(lg_store *s, sqlite3_stmt *q)
{
    for (int i = 0; q && i < KEPT; i++)
        if (s->kept[i].statement == q) {
            sqlite3_reset(q);
            sqlite3_clear_bindings(q);
            s->kept[i].busy = 0;
            return;
        }
    sqlite3_finalize(q);
}

static void close_database(lg_store *s)
{
    for (int i = 0; i < KEPT; i++) sqlite3_finalize(s->kept[i].statement);
    memset(s->kept, 0, sizeof s->kept);
    sqlite3_close(s->db);
    s->db = NULL;
}

const char *lg__store_file(const lg_store *s) { return s->file; }

/* A store that may only be read has no rows to add to. */
int lg__store_build(lg_store *s, int64_t *number, lg_error *err)
{
    static const char types[] = "ttttit";
    char host[100] = "";
    int e = 0;
    gethostname(host, sizeof host - 1);
    if (!s->build) {
        e = lg__store_run(
            s, err,
            "INSERT OR IGNORE INTO builds(version, commit_id, compiler, isa, cores, host)"
            " VALUES(?,?,?,?,?,?)",
            types, lg_version(), lg_commit(), lg_compiler(), lg_isa(), (int64_t)lg_cores(), host);
        sqlite3_stmt *q = e ? NULL
                            : lg__store_prepare(s, err,
                                                "SELECT number FROM builds WHERE version = ? AND"
                                                " commit_id = ? AND compiler = ? AND isa = ? AND"
                                                " cores = ? AND host = ?",
                                                types, lg_version(), lg_commit(), lg_compiler(),
                                                lg_isa(), (int64_t)lg_cores(), host);
        if (!e) e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
        if (e > 0) s->build = sqlite3_column_int64(q, 0);
        lg__store_close_rows(s, q);
    }
    *number = s->build;
    return e < 0 ? e : 0;
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* The number in the file's head that says whose it is: "leng". */
#define APPLICATION "1818586727"

/* A number that the statement gives. */
static int get_number(lg_store *s, const char *sql, int64_t *number, lg_error *err)
{
    sqlite3_stmt *q = lg__store_prepare(s, err, sql, "");
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *number = sqlite3_column_int64(q, 0);
    lg__store_close_rows(s, q);
    return e < 0 ? e : 0;
}

/* Another program's database is left as it is. */
static int check_owner(lg_store *s, lg_error *err)
{
    int64_t tables = 0, application = 0;
    int e = get_number(s, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (!e) e = get_number(s, "PRAGMA application_id", &application, err);
    if (e || !tables || application == strtol(APPLICATION, NULL, 10)) return e;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s is the database of another program, not a store; name another file "
                    "(--store)",
                    s->file);
}

static int check_version(const lg_store *s, int64_t version, lg_error *err)
{
    if (version == VERSION) return 0;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "the store %s has version %lld, and this program reads and writes %d; use %s, or "
        "name another file (--store)",
        s->file, (long long)version, VERSION,
        version > VERSION ? "a newer lengthen" : "the lengthen that made it");
}

/* Makes the tables of a store that is empty, in one transaction: another process may be doing the same. A file
 * with tables and no number of its version is of before there was one. */
static int create_tables(lg_store *s, lg_error *err)
{
    int64_t tables = 0, version = 0;
    int e = get_number(s, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (!e) e = get_number(s, "PRAGMA user_version", &version, err);
    if (e || tables) return e ? e : check_version(s, version, err);
    if ((e = lg__store_begin(s, err))) return e;
    e = get_number(s, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (!e && !tables) {
        char *schema = schema_text(err);
        e = schema ? execute(s, "PRAGMA application_id=" APPLICATION, err) : LG_ERROR_MEMORY;
        if (!e) e = execute(s, schema, err);
        free(schema);
    }
    return lg__store_end(s, e, err);
}

/* WAL is set by a write; while another process does the same, SQLite does not wait by itself. */
static int set_wal(lg_store *s, lg_error *err)
{
    double until = lg__date() + 1e-3 * patience; /* by the clock: at times SQLite waits, too */
    int e = execute(s, "PRAGMA journal_mode=WAL", err);
    while (e && (sqlite3_errcode(s->db) & 0xff) == SQLITE_BUSY && lg__date() < until) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        e = execute(s, "PRAGMA journal_mode=WAL", err);
    }
    return e;
}

static int cannot_write(const lg_store *s)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    return code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM;
}

/* 1: rows of the store may be in its log alone. */
static int has_log(const char *file)
{
    char *log = NULL, whole[PATH_MAX];
    struct stat st;
    if (asprintf(&log, "%s-wal", realpath(file, whole) ? whole : file) < 0) return 1;
    int has = stat(log, &st) == 0 && st.st_size > 0;
    free(log);
    return has;
}

/* Opens it for reading alone. SQLite needs a file -shm beside a log, unless nobody else uses the store:
 * with exclusive locking the index of the log is in memory, and without locks (unix-none) a file that
 * may only be read will do. Without a log there is nothing that could hide rows (immutable). */
static int open_unlocked(lg_store *s, lg_error *err)
{
    int log = has_log(s->file);
    char *name = malloc(3 * strlen(s->file) + 64), *to;
    if (!name) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the store; end other programs");
    to = name + sprintf(name, "file:");
    for (const char *c = s->file; *c; c++)
        to += sprintf(to, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
    sprintf(to, log ? "?vfs=unix-none" : "?immutable=1");
    close_database(s);
    int code = sqlite3_open_v2(name, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(name);
    if (code != SQLITE_OK) return fail(s, err);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL); /* the log stays */
    return log ? execute(s, "PRAGMA locking_mode=EXCLUSIVE", err) : 0;
}

/* Where nothing can be written the store can still be read, as long as nobody else writes it. */
static int open_to_read(lg_store *s, lg_error *err)
{
    int64_t version = 0;
    int e = open_unlocked(s, err);
    if (!e) e = get_number(s, "PRAGMA user_version", &version, err);
    return e ? e : check_version(s, version, err);
}

static int open_file(lg_store *s, const char *file, int create, lg_error *err)
{
    int flags = create < 0 ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (create > 0) flags |= SQLITE_OPEN_CREATE;
    if (!(s->file = strdup(file)))
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the store; end other programs");
    if (create <= 0 && access(file, F_OK) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is no store %s; train a run first, or name the file with --store or "
                        "LENGTHEN_STORE",
                        file);
    if (sqlite3_open_v2(file, &s->db, flags, NULL) != SQLITE_OK) return fail(s, err);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, patience);
    int e = check_owner(s, err);
    if (!e) e = set_wal(s, err);
    return e ? e : execute(s, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON", err);
}

lg_store *lg_store_open(const char *file, int create, lg_error *err)
{
    lg_store *s = calloc(1, sizeof *s);
    if (!s) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for the store; end other programs");
        return NULL;
    }
    int e = open_file(s, file, create, err);
    if (!e)
        e = create_tables(s, err);
    else if (create <= 0 && s->db && access(file, R_OK) == 0 && cannot_write(s))
        e = open_to_read(s, err);
    if (!e) return s;
    lg_store_close(s);
    return NULL;
}

void lg__store_wait(lg_store *s, int milliseconds)
{
    sqlite3_busy_timeout(s->db, milliseconds < patience ? milliseconds : patience);
}

void lg_store_close(lg_store *s)
{
    if (!s) return;
    close_database(s);
    free(s->file);
    free(s);
}
