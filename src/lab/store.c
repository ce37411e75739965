/* store.c: runs, metrics, cells and probes in one SQLite file. WAL mode, so that one process writes while
 * others read; every write is one transaction that is synced before the call returns. */
#include "lab/store.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/store_rows.h"

struct lg_store {
    sqlite3 *db;
    char *file;
};

static int patience = 60000; /* milliseconds */
static int kill_at = -1;

void lg__store_patience(int milliseconds) { patience = milliseconds; }
void lg__store_kill_at(int n) { kill_at = n; }

/* ---- The schema: each script brings a store from one version to the next -------------------- */

static const char *const scripts[] = {
    "CREATE TABLE runs("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, folder TEXT NOT NULL,"
    "  state TEXT NOT NULL, error TEXT NOT NULL, task TEXT NOT NULL, positions TEXT NOT NULL,"
    "  unit TEXT NOT NULL, config TEXT NOT NULL, machine TEXT NOT NULL, seed INTEGER NOT NULL,"
    "  step INTEGER NOT NULL, steps INTEGER NOT NULL, parameters INTEGER NOT NULL,"
    "  least INTEGER NOT NULL, length INTEGER NOT NULL, sparsity INTEGER NOT NULL,"
    "  created REAL NOT NULL, updated REAL NOT NULL);"
    "CREATE TABLE metrics("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  loss REAL NOT NULL, id_loss REAL NOT NULL, accuracy REAL NOT NULL,"
    "  id_accuracy REAL NOT NULL, lr REAL NOT NULL, tokens INTEGER NOT NULL, gflop REAL NOT NULL,"
    "  length INTEGER NOT NULL, sparsity INTEGER NOT NULL, PRIMARY KEY(run, step)) WITHOUT ROWID;"
    "CREATE TABLE evals("
    "  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE, step INTEGER NOT NULL,"
    "  setting TEXT NOT NULL, data TEXT NOT NULL, length INTEGER NOT NULL,"
    "  sparsity INTEGER NOT NULL,"
    "  predicted INTEGER NOT NULL, samples INTEGER NOT NULL, exact INTEGER NOT NULL,"
    "  tokens REAL NOT NULL, answer_tokens INTEGER NOT NULL, tokens_right INTEGER NOT NULL,"
    "  ids INTEGER NOT NULL, ids_right INTEGER NOT NULL, first_least INTEGER NOT NULL,"
    "  first_median INTEGER NOT NULL, first_in TEXT NOT NULL, taught_samples INTEGER NOT NULL,"
    "  taught_exact INTEGER NOT NULL, taught_tokens INTEGER NOT NULL,"
    "  taught_tokens_right INTEGER NOT NULL, taught_ids INTEGER NOT NULL,"
    "  taught_ids_right INTEGER NOT NULL, low REAL NOT NULL, high REAL NOT NULL,"
    "  seconds REAL NOT NULL, machine TEXT NOT NULL, created REAL NOT NULL,"
    "  PRIMARY KEY(run, step, setting, data, sparsity, predicted, length, samples)) WITHOUT ROWID;",
    "ALTER TABLE runs ADD COLUMN kernels TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN seconds REAL NOT NULL DEFAULT 0;",
    lg__store_losses_schema,
    lg__store_probes_schema,
};
enum { VERSION = sizeof scripts / sizeof *scripts };

/* ---- Talking to SQLite ---------------------------------------------------------------------- */

/* What SQLite says, with the remedy. */
static int fail(const lg_store *s, lg_error *err)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    const char *remedy = "the rows were not written; what was saved before is unharmed";
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        remedy = "another program has held it for too long: end that one, or use another store "
                 "(--store)";
    else if (code == SQLITE_FULL)
        remedy = "make room on the disk; what was saved before is unharmed";
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
    if (e && !sqlite3_get_autocommit(s->db)) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return e;
}

sqlite3_stmt *lg__store_prepare(lg_store *s, lg_error *err, const char *sql, const char *types, ...)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) {
        fail(s, err);
        return NULL;
    }
    va_list args;
    va_start(args, types);
    int bad = 0;
    for (int i = 1; *types; types++, i++) {
        if (*types == 'i')
            bad |= sqlite3_bind_int64(q, i, va_arg(args, int64_t));
        else if (*types == 'r')
            bad |= sqlite3_bind_double(q, i, va_arg(args, double));
        else
            bad |= sqlite3_bind_text(q, i, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
    }
    va_end(args);
    if (!bad) return q;
    fail(s, err);
    sqlite3_finalize(q);
    return NULL;
}

int lg__store_finish(lg_store *s, sqlite3_stmt *q, lg_error *err)
{
    if (!q) return LG_ERROR_SYSTEM;
    int e = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s, err);
    sqlite3_finalize(q);
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

void lg__store_close_rows(sqlite3_stmt *q) { sqlite3_finalize(q); }

const char *lg__store_file(const lg_store *s) { return s->file; }

double lg__store_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *describe_machine(char line[200], const char *commit)
{
    char host[100] = "";
    gethostname(host, sizeof host - 1);
    snprintf(line, 200, "lengthen %s (%s, %s), %s, %d cores, %s", lg_version(), commit,
             lg_compiler(), lg_isa(), lg_cores(), host);
    return line;
}

const char *lg__store_machine(char line[200]) { return describe_machine(line, lg_commit()); }

void lg__store_build(const char *line, char commit[64], char compiler[64])
{
    char ignored[64];
    if (sscanf(line, "lengthen %63s (%63[^,], %63[^)])", ignored, commit, compiler) == 3) return;
    snprintf(commit, 64, "unknown"); /* a line of version 1 of the store */
    snprintf(compiler, 64, "unknown");
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
    sqlite3_finalize(q);
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

static int get_version(lg_store *s, int *version, lg_error *err)
{
    int64_t has = 0, n = 0;
    int e = get_number(s, "SELECT count(*) FROM sqlite_master WHERE name = 'schema_version'", &has,
                       err);
    if (!e && has) e = get_number(s, "SELECT max(version) FROM schema_version", &n, err);
    *version = (int)n;
    return e;
}

/* All missing scripts in one transaction: another process may be doing the same. */
static int migrate(lg_store *s, const char *const *script, int count, lg_error *err)
{
    int version, e = get_version(s, &version, err);
    if (!e && version > count)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the store %s has version %d, and this program knows up to %d; use a newer "
                     "lengthen, or another store (--store)",
                     s->file, version, count);
    if (e || version == count) return e;
    if ((e = lg__store_begin(s, err))) return e;
    e = execute(s,
                "PRAGMA application_id=" APPLICATION
                ";CREATE TABLE IF NOT EXISTS schema_version(version INTEGER NOT NULL)",
                err);
    if (!e) e = get_version(s, &version, err);
    for (int i = version; i < count && !e; i++) {
        e = execute(s, script[i], err);
        if (!e)
            e = lg__store_finish(s,
                                 lg__store_prepare(s, err, "INSERT INTO schema_version VALUES(?)",
                                                   "i", (int64_t)i + 1),
                                 err);
    }
    return lg__store_end(s, e, err);
}

/* WAL is set by a write; while another process does the same, SQLite does not wait by itself. */
static int set_wal(lg_store *s, lg_error *err)
{
    double until = lg__store_now() + 1e-3 * patience; /* by the clock: at times SQLite waits, too */
    int e = execute(s, "PRAGMA journal_mode=WAL", err);
    while (e && (sqlite3_errcode(s->db) & 0xff) == SQLITE_BUSY && lg__store_now() < until) {
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

/* Where nothing can be written the store can still be read, as long as nobody else writes it. */
static int open_to_read(lg_store *s, lg_error *err)
{
    char *name = NULL, *to;
    int64_t version = 0;
    if (!(name = malloc(3 * strlen(s->file) + 32)))
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the store; end other programs");
    to = name + sprintf(name, "file:");
    for (const char *c = s->file; *c; c++)
        to += sprintf(to, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
    sprintf(to, "?immutable=1");
    sqlite3_close(s->db);
    s->db = NULL;
    int code = sqlite3_open_v2(name, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(name);
    int e = code == SQLITE_OK
                ? get_number(s, "SELECT max(version) FROM schema_version", &version, err)
                : fail(s, err);
    if (!e && version != VERSION)
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "the store %s has version %d, which only a program that may write to it can "
                     "bring to %d; copy it to a folder of yours",
                     s->file, (int)version, VERSION);
    return e;
}

static int open_file(lg_store *s, const char *file, int create, lg_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if (!(s->file = strdup(file)))
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the store; end other programs");
    if (!create && access(file, F_OK) != 0)
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
        e = migrate(s, scripts, VERSION, err);
    else if (!create && s->db && access(file, R_OK) == 0 && cannot_write(s))
        e = open_to_read(s, err);
    if (!e) return s;
    lg_store_close(s);
    return NULL;
}

int lg__store_migrate(const char *file, const char *const *script, int count, lg_error *err)
{
    lg_store s = {0};
    int e = open_file(&s, file, 1, err);
    if (!e) e = migrate(&s, script, count, err);
    sqlite3_close(s.db);
    free(s.file);
    return e;
}

void lg__store_wait(lg_store *s, int milliseconds)
{
    sqlite3_busy_timeout(s->db, milliseconds < patience ? milliseconds : patience);
}

void lg_store_close(lg_store *s)
{
    if (!s) return;
    sqlite3_close(s->db);
    free(s->file);
    free(s);
}

/* ---- Writing ---------------------------------------------------------------------------------- */

/* The folder moves with the run; a copy of it is not the run as long as the store's own is there. */
static int move_folder(lg_store *s, const lg_store_run *r, int trains, lg_error *err)
{
    sqlite3_stmt *q = lg__store_prepare(s, err, "SELECT folder FROM runs WHERE id = ?", "t", r->id);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM, copy = 0;
    char known[PATH_MAX] = "", there[LG__RUN_ID];
    if (e > 0) snprintf(known, sizeof known, "%s", lg__store_text(q, 0));
    sqlite3_finalize(q);
    if (e > 0 && strcmp(known, r->folder) != 0) {
        lg__run_id(known, there);
        copy = strcmp(there, r->id) == 0;
    }
    if (copy && trains)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%.150s is a copy of the run in %.150s, whose rows the store %s has; train "
                        "that one, or use another store (--store)",
                        r->folder, known, s->file);
    if (e <= 0 || copy) return e < 0 ? e : 0;
    return lg__store_finish(s,
                            lg__store_prepare(s, err, "UPDATE runs SET folder = ? WHERE id = ?",
                                              "tt", r->folder, r->id),
                            err);
}

/* A run that another build goes on with is of both. */
static int join_builds(lg_store *s, int64_t number, lg_error *err)
{
    char line[200], commit[64], compiler[64], all[140];
    sqlite3_stmt *q = lg__store_prepare(
        s, err, "SELECT machine FROM runs WHERE number = ? AND step < steps", "i", number);
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) lg__store_build(lg__store_text(q, 0), commit, compiler);
    sqlite3_finalize(q);
    if (e <= 0) return e;
    const char *last = strrchr(commit, '+') ? strrchr(commit, '+') + 1 : commit;
    if (strcmp(last, lg_commit()) == 0) return 0;
    if (snprintf(all, sizeof all, "%s+%s", commit, lg_commit()) > 63) /* as lg__store_build reads */
        snprintf(all, sizeof all, "..+%.60s", lg_commit());
    return lg__store_finish(s,
                            lg__store_prepare(s, err,
                                              "UPDATE runs SET machine = ? WHERE number = ?", "ti",
                                              describe_machine(line, all), number),
                            err);
}

int lg__store_register(lg_store *s, const lg_store_run *r, int trains, int64_t *number,
                       lg_error *err)
{
    char line[200];
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = move_folder(s, r, trains, err);
    if (!e)
        e = lg__store_finish(
            s,
            lg__store_prepare(
                s, err,
                "INSERT INTO runs(id, folder, state, error, task, positions, unit,"
                " config, machine, seed, step, steps, parameters, least, length, sparsity,"
                " created, updated, kernels) SELECT ?1,?2,?3,'',?4,?5,?6,?7,?8,?9,?10,?11,?12,"
                "?13,?14,?15,?16,?16,?17 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1)",
                "tttttttt"
                "iiiiiii"
                "rt",
                r->id, r->folder, r->state, r->task, r->positions, r->unit, r->config,
                lg__store_machine(line), r->seed, r->step, r->steps, r->parameters,
                (int64_t)r->least, (int64_t)r->length, (int64_t)r->sparsity, lg__store_now(),
                r->kernels ? r->kernels : ""),
            err);
    sqlite3_stmt *q =
        e ? NULL : lg__store_prepare(s, err, "SELECT number FROM runs WHERE id = ?", "t", r->id);
    if (!e) e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *number = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    if (e > 0) e = trains ? join_builds(s, *number, err) : 0;
    return lg__store_end(s, e, err);
}

int lg__store_state(lg_store *s, int64_t number, const char *state, const char *error,
                    lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_finish(
        s,
        lg__store_prepare(s, err,
                          "UPDATE runs SET state = ?, error = ?, updated = ? WHERE number = ?",
                          "ttri", state, error ? error : "", lg__store_now(), number),
        err);
    return lg__store_end(s, e, err);
}

int lg__store_kernels(lg_store *s, int64_t number, const char *kernels, lg_error *err)
{
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_finish(s,
                         lg__store_prepare(s, err, "UPDATE runs SET kernels = ? WHERE number = ?",
                                           "ti", kernels, number),
                         err);
    return lg__store_end(s, e, err);
}

int lg__store_add_steps(lg_store *s, int64_t number, const lg_run_step *rows, int count,
                        double seconds, lg_error *err)
{
    int e = count ? lg__store_begin(s, err) : 0;
    if (e || !count) return e;
    for (int i = 0; i < count && !e; i++) {
        const lg_run_step *r = &rows[i];
        e = lg__store_finish(
            s,
            lg__store_prepare(
                s, err, "INSERT OR REPLACE INTO metrics VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                "iirrrrririi", number, r->step, r->loss, r->id_loss, r->accuracy, r->id_accuracy,
                r->lr, r->tokens, r->gflop, (int64_t)r->length, (int64_t)r->sparsity),
            err);
    }
    if (!e)
        e = lg__store_finish(
            s,
            lg__store_prepare(s, err,
                              "UPDATE runs SET step = ?, updated = ?, seconds = seconds + ?"
                              " WHERE number = ?",
                              "irri", rows[count - 1].step, lg__store_now(), seconds, number),
            err);
    return lg__store_end(s, e, err);
}

int lg__store_rewind(lg_store *s, int64_t number, int64_t step, int64_t *steps, lg_error *err)
{
    static const char *const forget[] = {"DELETE FROM metrics WHERE run = ? AND step > ?",
                                         "DELETE FROM evals WHERE run = ? AND step > ?",
                                         "DELETE FROM losses WHERE run = ? AND step > ?",
                                         "DELETE FROM probes WHERE run = ? AND step > ?"};
    int e = lg__store_begin(s, err);
    if (e) return e;
    for (size_t i = 0; i < sizeof forget / sizeof *forget && !e; i++)
        e = lg__store_finish(s, lg__store_prepare(s, err, forget[i], "ii", number, step), err);
    if (!e)
        e = lg__store_finish(s,
                             lg__store_prepare(s, err, "UPDATE runs SET step = ? WHERE number = ?",
                                               "ii", step, number),
                             err);
    sqlite3_stmt *q =
        e ? NULL
          : lg__store_prepare(s, err, "SELECT count(*) FROM metrics WHERE run = ?", "i", number);
    if (!e) e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) *steps = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return lg__store_end(s, e > 0 ? 0 : e, err);
}

int lg__store_add_cell(lg_store *s, int64_t number, const lg_run_cell *c, lg_error *err)
{
    char tenths[10 * 12] = "", line[200];
    const lg_score *g = &c->score, *t = &c->taught;
    for (int i = 0, n = 0; i < 10; i++)
        n += snprintf(tenths + n, sizeof tenths - (size_t)n, "%s%d", i ? " " : "", g->first_in[i]);
    int e = lg__store_begin(s, err);
    if (e) return e;
    e = lg__store_finish(
        s,
        lg__store_prepare(
            s, err,
            "INSERT OR REPLACE INTO evals VALUES"
            "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            "iittiiiii"
            "riiii"
            "iit"
            "iiiiii"
            "rrr"
            "tr",
            number, c->step, c->setting, c->data, (int64_t)c->length, (int64_t)c->sparsity,
            (int64_t)c->predicted, (int64_t)g->samples, (int64_t)g->exact, c->tokens, g->tokens,
            g->right, g->ids, g->ids_right, (int64_t)g->first_least, (int64_t)g->first_median,
            tenths, (int64_t)t->samples, (int64_t)t->exact, t->tokens, t->right, t->ids,
            t->ids_right, c->low, c->high, c->seconds, lg__store_machine(line), lg__store_now()),
        err);
    if (!e)
        e = lg__store_finish(
            s,
            lg__store_prepare(s, err, "UPDATE runs SET seconds = seconds + ? WHERE number = ?",
                              "ri", c->seconds, number),
            err);
    return lg__store_end(s, e, err);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

#define CELLS                                                                                      \
    "SELECT e.step, setting, e.length, e.sparsity, predicted, samples, exact, e.tokens,"           \
    " answer_tokens, tokens_right, ids, ids_right, first_least, first_median, first_in,"           \
    " taught_samples, taught_exact, taught_tokens, taught_tokens_right, taught_ids,"               \
    " taught_ids_right, low, high, e.seconds, unit, r.least, r.length, r.sparsity, count(*) OVER " \
    "(), data"                                                                                     \
    " FROM evals AS e JOIN runs AS r ON r.number = e.run"

static void read_cell(sqlite3_stmt *q, lg_run_cell *c)
{
    lg_score *g = &c->score, *t = &c->taught;
    *c = (lg_run_cell){.kept = 1};
    c->step = sqlite3_column_int64(q, 0);
    snprintf(c->setting, sizeof c->setting, "%s", lg__store_text(q, 1));
    c->length = sqlite3_column_int(q, 2);
    c->sparsity = sqlite3_column_int(q, 3);
    c->predicted = sqlite3_column_int(q, 4);
    g->samples = sqlite3_column_int(q, 5);
    g->exact = sqlite3_column_int(q, 6);
    c->tokens = sqlite3_column_double(q, 7);
    g->tokens = sqlite3_column_int64(q, 8);
    g->right = sqlite3_column_int64(q, 9);
    g->ids = sqlite3_column_int64(q, 10);
    g->ids_right = sqlite3_column_int64(q, 11);
    g->first_least = sqlite3_column_int(q, 12);
    g->first_median = sqlite3_column_int(q, 13);
    char *at = (char *)(uintptr_t)lg__store_text(q, 14);
    for (int i = 0; i < 10; i++) g->first_in[i] = (int)strtol(at, &at, 10);
    t->samples = sqlite3_column_int(q, 15);
    t->exact = sqlite3_column_int(q, 16);
    t->tokens = sqlite3_column_int64(q, 17);
    t->right = sqlite3_column_int64(q, 18);
    t->ids = sqlite3_column_int64(q, 19);
    t->ids_right = sqlite3_column_int64(q, 20);
    c->low = sqlite3_column_double(q, 21);
    c->high = sqlite3_column_double(q, 22);
    c->seconds = sqlite3_column_double(q, 23);
    c->unit = lg__store_text(q, 24);
    c->trained_least = sqlite3_column_int(q, 25);
    c->trained_length = sqlite3_column_int(q, 26);
    c->trained_sparsity = sqlite3_column_int(q, 27);
    c->count = sqlite3_column_int(q, 28);
    snprintf(c->data, sizeof c->data, "%s", lg__store_text(q, 29));
    g->text = (int64_t)(c->tokens * g->samples + 0.5);
    t->text = t->samples ? g->text : 0;
}

int lg__store_get_cell(lg_store *s, int64_t number, lg_run_cell *cell, int samples, int taught,
                       int *found, lg_error *err)
{
    sqlite3_stmt *q = lg__store_prepare(
        s, err,
        CELLS " WHERE run = ? AND e.step = ? AND setting = ? AND data = ? AND e.length = ? AND"
              " e.sparsity = ? AND predicted = ? AND samples = ? AND taught_samples >= ?",
        "iittiiiii", number, cell->step, cell->setting, cell->data, (int64_t)cell->length,
        (int64_t)cell->sparsity, (int64_t)cell->predicted, (int64_t)samples,
        (int64_t)(taught ? samples : 0));
    int e = q ? lg__store_next(s, q, err) : LG_ERROR_SYSTEM;
    if (e > 0) {
        read_cell(q, cell);
        cell->unit = NULL;
    }
    *found = e > 0;
    sqlite3_finalize(q);
    return e < 0 ? e : 0;
}

#define SAME_CELL                                                                                  \
    "FROM evals AS o WHERE o.run = e.run AND o.step = e.step AND o.setting = e.setting AND"        \
    " o.sparsity = e.sparsity AND o.predicted = e.predicted AND o.length = e.length"

int lg_store_cells(lg_store *s, int64_t number, int64_t step, lg_run_table *each, void *context,
                   lg_error *err)
{
    /* Of several states of a file of examples, the latest; of a cell that was made of it with several
     * numbers of samples, the one with the most. */
    sqlite3_stmt *q = lg__store_prepare(
        s, err,
        CELLS " WHERE run = ?1 AND (?2 = -2 OR e.step = CASE ?2 WHEN -1 THEN"
              " (SELECT max(step) FROM evals WHERE run = ?1) ELSE ?2 END) AND"
              " e.data = (SELECT o.data " SAME_CELL
              " ORDER BY o.created DESC LIMIT 1) AND NOT EXISTS"
              " (SELECT 1 " SAME_CELL " AND o.data = e.data AND o.samples > e.samples)"
              " ORDER BY e.step, setting, predicted, e.sparsity, e.length",
        "ii", number, step);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    lg_run_cell cell;
    for (int i = 0; e > 0 && (e = lg__store_next(s, q, err)) > 0; i++) {
        read_cell(q, &cell);
        cell.index = i;
        each(context, &cell);
    }
    sqlite3_finalize(q);
    return e;
}

int lg_store_steps(lg_store *s, int64_t number, lg_run_watch *each, void *context, lg_error *err)
{
    sqlite3_stmt *q = lg__store_prepare(
        s, err,
        "SELECT m.step, r.steps, loss, id_loss, accuracy, id_accuracy, lr, tokens, gflop, m.length,"
        " m.sparsity FROM metrics AS m JOIN runs AS r ON r.number = m.run WHERE m.run = ?"
        " ORDER BY m.step",
        "i", number);
    int e = q ? 1 : LG_ERROR_SYSTEM;
    while (e > 0 && (e = lg__store_next(s, q, err)) > 0) {
        lg_run_step t = {.step = sqlite3_column_int64(q, 0),
                         .steps = sqlite3_column_int64(q, 1),
                         .loss = sqlite3_column_double(q, 2),
                         .id_loss = sqlite3_column_double(q, 3),
                         .accuracy = sqlite3_column_double(q, 4),
                         .id_accuracy = sqlite3_column_double(q, 5),
                         .lr = sqlite3_column_double(q, 6),
                         .tokens = sqlite3_column_int64(q, 7),
                         .gflop = sqlite3_column_double(q, 8),
                         .length = sqlite3_column_int(q, 9),
                         .sparsity = sqlite3_column_int(q, 10)};
        if (!each(context, &t)) e = 0;
    }
    sqlite3_finalize(q);
    return e;
}
