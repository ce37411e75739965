/* test_store_harm.c: the store under everything that can happen to it: shared, locked, full,
 * killed in the middle, in a file or a folder that cannot be one. What a call said was saved must
 * be there afterwards, and what it said failed must not. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "helpers/storing.h"

static int tidy_up(void **state)
{
    lg__store_patience(60000);
    return remove_home(state);
}

static int begin_write(const char *path)
{
    static sqlite3 *db; /* reachable: nothing leaks */
    return sqlite3_open(path, &db) || sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

static int begin_exclusive(const char *path)
{
    static sqlite3 *db;
    return sqlite3_open(path, &db) || sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Several processes ------------------------------------------------------------------ */

enum { TRANSACTIONS = 200 };

/* In a child: a run of its own and so many transactions. */
static void write_many(const char *id)
{
    lg_error err = {0};
    int64_t number;
    lg_store_run r = run_of(id, "/x");
    lg_store *s = lg_store_open(in_home("both.db"), 1, &err);
    int e = s ? lg__store_register(s, &r, 0, &number, &err) : -1;
    for (int i = 1; i <= TRANSACTIONS && !e; i++) e = add_steps(s, number, i, i, 0, &err);
    lg_store_close(s);
    if (e) fprintf(stderr, "%s\n", err.text);
    _exit(e != 0);
}

static void two_processes_write_at_once(void **state)
{
    (void)state;
    static const char *const id[] = {"aaaa000000000001", "bbbb000000000002"};
    pid_t child[2];
    /* nobody has made the store yet: they do that at once, too */
    for (int i = 0; i < 2; i++) {
        assert_true((child[i] = fork()) >= 0);
        if (child[i] == 0) write_many(id[i]);
    }
    for (int i = 0; i < 2; i++) wait_for(child[i], 0);
    lg_store *s = open_store("both.db");
    for (int i = 0; i < 2; i++) {
        struct found f = find(s, id[i]);
        assert_int_equal(f.step, TRANSACTIONS);
        assert_int_equal(steps_of(s, f.number).count, TRANSACTIONS);
    }
    lg_store_close(s);
    assert_string_equal(ask_sql(in_home("both.db"), "PRAGMA integrity_check"), "ok");
}

static void a_locked_store_is_not_waited_for_forever(void **state)
{
    (void)state;
    lg_store *s = open_store("locked.db");
    lg_error err = {0};
    int64_t number = add_run(s, "aaaa000000000001", "/x/one");
    must(add_steps(s, number, 1, 5, 0, &err), &err);
    lg_store_close(s);
    struct holder h = start_holding(begin_write, in_home("locked.db"));
    lg__store_patience(200);
    s = open_store("locked.db"); /* that takes no lock */
    double since = now();
    assert_int_equal(add_steps(s, number, 6, 9, 0, &err), LG_ERROR_SYSTEM);
    assert_true(now() - since < 6);
    says(&err, "another program");
    says(&err, "--store");
    says(&err, "locked.db");
    assert_int_equal(steps_of(s, number).count, 5); /* and can still be read */
    let_go(&h);
    must(add_steps(s, number, 6, 9, 0, &err), &err);
    assert_int_equal(steps_of(s, number).count, 9);
    lg__store_patience(60000);
    lg_store_close(s);
}

/* Before WAL is set, a lock keeps everybody out. */
static void a_store_locked_whole_is_refused(void **state)
{
    (void)state;
    const char *file = in_home("whole.db");
    lg_error err = {0};
    assert_int_equal(
        run_sql(file, "PRAGMA application_id=1818586727; CREATE TABLE t(x); DROP TABLE t"),
        SQLITE_OK);
    struct holder h = start_holding(begin_exclusive, file);
    lg__store_patience(500);
    double since = now();
    assert_null(lg_store_open(file, 1, &err));
    assert_true(now() - since < 6); /* and not once for each attempt */
    says(&err, "another program");
    let_go(&h);
    lg__store_patience(60000);
    lg_store *s = lg_store_open(file, 1, &err);
    assert_non_null(s);
    lg_store_close(s);
}

/* ---- Full disks ------------------------------------------------------------------------- */

/* Writes until it is refused; how many rows were taken, or -1. */
static int write_until_full(lg_store *s, int64_t number, lg_error *err)
{
    enum { MANY = 100000, EACH = 500 };
    for (int i = 0; i < MANY; i += EACH)
        if (add_steps(s, number, i + 1, i + EACH, 0, err)) return i;
    return -1;
}

/* In a child, whose files may not grow over `size`. */
static int fill_limited(const char *file, rlim_t size, lg_error *err)
{
    struct rlimit limit = {size, size};
    signal(SIGXFSZ, SIG_IGN);
    lg_store *s = lg_store_open(file, 1, err);
    lg_store_run r = run_of("aaaa000000000001", "/x/one");
    int64_t number;
    if (!s || lg__store_register(s, &r, 0, &number, err)) return -1;
    if (setrlimit(RLIMIT_FSIZE, &limit)) return -1;
    int rows = write_until_full(s, number, err);
    lg_store_close(s);
    return rows;
}

struct told {
    int rows;
    char text[512];
};

static void files_that_cannot_grow(void **state)
{
    (void)state;
    static const int sizes[] = {150, 300, 600, 1300}; /* kB */
    for (int i = 0; i < 4; i++) {
        char name[32];
        int way[2];
        struct told t = {0};
        snprintf(name, sizeof name, "limit-%d.db", sizes[i]);
        assert_int_equal(pipe(way), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            lg_error err = {0};
            t.rows = fill_limited(in_home(name), (rlim_t)sizes[i] << 10, &err);
            snprintf(t.text, sizeof t.text, "%s", err.text);
            _exit(write(way[1], &t, sizeof t) != (ssize_t)sizeof t);
        }
        close(way[1]);
        assert_int_equal(read(way[0], &t, sizeof t), sizeof t);
        close(way[0]);
        wait_for(child, 0);
        if (t.rows < 0) fail_msg("%s", t.text);
        if (!strstr(t.text, name) || !strstr(t.text, "unharmed")) fail_msg("says: %s", t.text);
        if (!strstr(t.text, "ulimit -f")) fail_msg("not the remedy: %s", t.text);
        assert_string_equal(ask_sql(in_home(name), "PRAGMA integrity_check"), "ok");
        lg_store *s = open_store(name);
        assert_int_equal(steps_of(s, 1).count, t.rows);
        assert_int_equal(find(s, "1").step, t.rows);
        lg_store_close(s);
    }
}

/* In a child with file systems of its own: a disk of 400 kB, filled, made larger, and read.
 * 0: as it should be; 77: this machine does not let us. */
static int fill_small_disk(const char *folder)
{
    lg_error err = {0};
    char file[300];
    struct steps n = {0};
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", folder, "tmpfs", 0, "size=400k"))
        return 77;
    snprintf(file, sizeof file, "%s/small.db", folder);
    lg_store *s = lg_store_open(file, 1, &err);
    lg_store_run r = run_of("aaaa000000000001", "/x/one");
    int64_t number;
    if (!s || lg__store_register(s, &r, 0, &number, &err)) return 1;
    int rows = write_until_full(s, number, &err);
    if (rows < 0 || !strstr(err.text, file) || !strstr(err.text, "make room on its disk")) {
        fprintf(stderr, "%d rows, %s\n", rows, err.text);
        return 2;
    }
    if (lg_store_steps(s, number, count_step, &n, &err) || n.count != rows) return 3;
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=4m")) return 77;
    if (add_steps(s, number, rows + 1, rows + 10, 0, &err)) return 4; /* it goes on */
    lg_store_close(s);
    if (strcmp(ask_sql(file, "PRAGMA integrity_check"), "ok") != 0) return 5;
    s = lg_store_open(file, 0, &err);
    n = (struct steps){0};
    if (!s || lg_store_steps(s, number, count_step, &n, &err) || n.count != rows + 10) return 6;
    lg_store_close(s);
    return 0;
}

static void a_full_disk(void **state)
{
    (void)state;
    const char *folder = in_home("disk");
    int status;
    assert_int_equal(mkdir(folder, 0700), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(fill_small_disk(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- Killed ----------------------------------------------------------------------------- */

static void a_kill_before_the_commit_loses_that_alone(void **state)
{
    (void)state;
    for (int at = 0; at < 3; at++) {
        char name[32];
        int status;
        snprintf(name, sizeof name, "killed-%d.db", at);
        lg_store *s = open_store(name);
        add_run(s, "aaaa000000000001", "/x/one");
        lg_store_close(s);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            lg_error err = {0};
            s = lg_store_open(in_home(name), 0, &err);
            lg__store_kill_at(at);
            for (int i = 0; s && i < 5; i++) add_steps(s, 1, 10 * i + 1, 10 * i + 10, 0, &err);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        s = open_store(name);
        assert_int_equal(steps_of(s, 1).count, 10 * at);
        assert_int_equal(find(s, "1").step, 10 * at);
        lg_error err = {0};
        must(add_steps(s, 1, 10 * at + 1, 10 * at + 10, 0, &err), &err);
        assert_int_equal(steps_of(s, 1).count, 10 * at + 10);
        lg_store_close(s);
    }
}

/* ---- Refused ---------------------------------------------------------------------------- */

static void files_that_are_no_store(void **state)
{
    (void)state;
    lg_error err = {0};
    const char *notes = in_home("notes.txt");
    put(notes, "These are notes, and they are long enough to be taken for a header of SQLite, "
               "which has a hundred bytes, so that every byte of it can be looked at.\n");
    assert_null(lg_store_open(notes, 1, &err));
    says(&err, "notes.txt");
    says(&err, "no store");
    says(&err, "--store");
    assert_null(lg_store_open(in_home("none.db"), 0, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    says(&err, "there is no store");
    says(&err, "train a run first");
    says(&err, "LENGTHEN_STORE");
    struct stat st;
    assert_int_equal(stat(in_home("none.db"), &st), -1); /* asking does not make it */
    assert_null(lg_store_open(in_home("no/such/folder.db"), 1, &err));
    says(&err, "folder that can be written to");
    assert_null(lg_store_open(home, 1, &err)); /* a folder */
    says(&err, home);
    const char *other = in_home("music.db"); /* another program's: not one byte of it changes */
    char command[400];
    assert_int_equal(run_sql(other, "CREATE TABLE songs(x)"), SQLITE_OK);
    snprintf(command, sizeof command, "cp %s %s.before", other, other);
    assert_int_equal(system(command), 0);
    assert_null(lg_store_open(other, 1, &err));
    assert_int_equal(err.code, LG_ERROR_ARGUMENT);
    says(&err, "database of another program");
    snprintf(command, sizeof command, "cmp %s %s.before", other, other);
    assert_int_equal(system(command), 0);
}

/* In a child that is not root. */
static int open_in(const char *folder)
{
    char file[300];
    lg_error err = {0};
    if (geteuid() == 0 && setuid(65534)) return 77;
    snprintf(file, sizeof file, "%s/store.db", folder);
    if (lg_store_open(file, 1, &err)) return 1;
    return strstr(err.text, "can be written to") && strstr(err.text, file) ? 0 : 2;
}

static void a_folder_that_cannot_be_written_to(void **state)
{
    (void)state;
    const char *folder = in_home("shut");
    int status;
    assert_int_equal(mkdir(folder, 0555), 0);
    assert_int_equal(chmod(home, 0755), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(open_in(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child that is not root: a store some of whose steps are in its log alone. 0: all are read. */
static int read_shut(const char *file)
{
    lg_error err = {0};
    struct steps n = {0};
    if (geteuid() == 0 && setuid(65534)) return 77;
    lg_store *s = lg_store_open(file, 0, &err);
    if (!s || lg_store_steps(s, 1, count_step, &n, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int refused = add_steps(s, 1, 10, 11, 0, &err) != 0;
    lg_store_close(s);
    if (n.count != 9) fprintf(stderr, "%d steps\n", n.count);
    return n.count != 9 ? 2 : !refused ? 3 : 0;
}

/* As a process that was killed leaves it, then copied without the -shm to where nobody may write. */
static void rows_in_the_log_of_a_read_only_store_are_read(void **state)
{
    (void)state;
    char command[800];
    int status;
    lg_error err = {0};
    assert_int_equal(chmod(home, 0755), 0);
    lg_store *s = open_store("wal.db");
    int64_t number = add_run(s, "aaaa000000000001", "/x/one");
    must(add_steps(s, number, 1, 5, 0, &err), &err);
    lg_store_close(s);
    s = open_store("wal.db");
    must(add_steps(s, number, 6, 9, 0, &err), &err);
    snprintf(command, sizeof command,
             "cd %s && mkdir kept && cp wal.db wal.db-wal kept/ && test -s kept/wal.db-wal && cat "
             "kept/* | cksum > before && chmod 444 kept/* && chmod 555 kept",
             home);
    assert_int_equal(system(command), 0);
    lg_store_close(s);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(read_shut(in_home("kept/wal.db")));
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(command, sizeof command,
             "cd %s && test $(ls kept | wc -l) = 2 && cat kept/* | cksum | cmp - before && chmod "
             "755 kept",
             home);
    assert_int_equal(system(command), 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_processes_write_at_once),
        cmocka_unit_test(a_locked_store_is_not_waited_for_forever),
        cmocka_unit_test(a_store_locked_whole_is_refused),
        cmocka_unit_test(files_that_cannot_grow),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_kill_before_the_commit_loses_that_alone),
        cmocka_unit_test(files_that_are_no_store),
        cmocka_unit_test(a_folder_that_cannot_be_written_to),
        cmocka_unit_test(rows_in_the_log_of_a_read_only_store_are_read),
    };
    return cmocka_run_group_tests(tests, make_home, tidy_up);
}
