/* test_page_store.c: how much of a large store the pages read, by SQLite's own counts; that curves are made shorter
 * without losing what is in them; and that a store that is only read stays as it is. */
#include <math.h>

#include "helpers/storing.h"

#include "pages/pages.h"

enum { RUNS = 1000, DRAWN = 10, STEPS = 10000, OTHER_STEPS = 200, MOST_ROWS = 200000 };

/* The runs that are drawn have all their steps; the others fewer, so that the store is made in seconds. What is read
 * may not depend on the others: reading the rows of all of them would be 298,000 rows. */
static void fill(const char *file)
{
    sqlite3 *db;
    char *why = NULL, sql[4000];
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    snprintf(
        sql, sizeof sql,
        "PRAGMA synchronous=OFF; BEGIN;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO runs(number, id, folder, state, error, task, positions, unit, config, "
        "kernels,"
        " seed, step, steps, parameters, least, length, sparsity, created, updated, seconds)"
        " SELECT i, printf('%%016x', i), printf('/nowhere/run-%%d', i), 'done', '', 'parity',"
        " 'coupled', 'bits', 'seed: 1', 'c-1', i %% 3, %d, %d, 1, 1, 10, 0, i, i, 1 FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO metrics(run, step, loss, id_loss, accuracy, id_accuracy, lr, tokens, gflop,"
        " length, sparsity) SELECT r.number, i, 1.0 / i + (i = 5000), 0, 0.5, 0, 0.001, 10, 1, 10, "
        "0"
        " FROM runs AS r JOIN n ON n.i <= CASE WHEN r.number %% %d = 0 THEN %d ELSE %d END;"
        "COMMIT;",
        RUNS, STEPS, STEPS, STEPS, RUNS / DRAWN, STEPS, OTHER_STEPS);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
    sqlite3_close(db);
}

/* Rows that the statements stepped over: those of whole tables by SQLite's count; of the steps of a run, which an
 * index finds, never more than the opcodes that were executed. */
static int64_t scanned, opcodes, statements;

static void measure(lg__rows *q)
{
    statements++;
    scanned += sqlite3_stmt_status(q, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
    opcodes += sqlite3_stmt_status(q, SQLITE_STMTSTATUS_VM_STEP, 1);
}

static int64_t rows_of(lg_store *s, const char *sql)
{
    lg_error err = {0};
    lg__rows *q = lg__store_prepare(s, &err, sql, "");
    assert_non_null(q);
    assert_int_equal(lg__store_next(s, q, &err), 1);
    int64_t n = lg__store_int(q, 0);
    lg__store_close_rows(s, q);
    return n;
}

/* The opcodes of one row of a curve, from one curve of so many rows. */
static double opcodes_of_a_row(lg_store *s)
{
    lg_buffer b = {0};
    lg_error err = {0};
    opcodes = 0;
    must(lg__page_curves(s, RUNS / DRAWN, LG__PAGE_POINTS, &b, &err), &err);
    lg_buffer_clear(&b);
    return (double)opcodes / STEPS;
}

static void few_rows_are_read(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_buffer b = {0};
    lg_store_close(open_store("large.db"));
    fill(in_home("large.db"));
    lg_store *s = lg_store_open(in_home("large.db"), -1, &err);
    if (!s) fail_msg("%s", err.text);
    assert_int_equal(rows_of(s, "SELECT count(*) FROM metrics"),
                     DRAWN * STEPS + (RUNS - DRAWN) * OTHER_STEPS);
    lg__page_statement = measure;
    double each = opcodes_of_a_row(s);
    assert_true(each >= 10 && each < 100);
    scanned = opcodes = statements = 0;
    must(lg__page_list(s, NULL, 0, &b, &err), &err);
    assert_true(strstr(b.data, "\"name\":\"run-1000\"") && strstr(b.data, "\"name\":\"run-1\""));
    int64_t listed = opcodes;
    assert_true(scanned >= RUNS - 1 && scanned <= 2 * RUNS);
    lg_buffer_clear(&b);
    for (int i = 1; i <= DRAWN; i++)
        must(lg__page_curves(s, (int64_t)i * RUNS / DRAWN, LG__PAGE_POINTS, &b, &err), &err);
    lg__page_statement = NULL;
    assert_true(scanned <= 2 * RUNS); /* no curve scans the table */
    double rows = (double)scanned + (double)RUNS + (double)(opcodes - listed) / each;
    print_message("%.0f rows\n", rows);
    if (rows > MOST_ROWS) fail_msg("%.0f rows were read, %d are allowed", rows, MOST_ROWS);
    assert_true(statements > DRAWN && b.size < DRAWN * LG__PAGE_POINTS * 200);
    lg_buffer_clear(&b);
    lg_store_close(s);
}

static int numbers(const char *json, const char *key, double *to, int most)
{
    char word[40];
    snprintf(word, sizeof word, "\"%s\":[", key);
    const char *at = strstr(json, word);
    int n = 0;
    if (!at) fail_msg("there is no %s", key);
    for (at += strlen(word); *at != ']'; at += *at == ',') {
        char *end;
        assert_true(n < most);
        to[n++] = strtod(at, &end);
        assert_ptr_not_equal(end, at);
        at = end;
    }
    return n;
}

/* A spike of one step is in the range of its point, and the means are those of the steps. */
static void shorter_curves_keep_the_spike(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_buffer b = {0};
    static double step[1000], mean[1000], high[1000];
    lg_store *s = lg_store_open(in_home("large.db"), -1, &err);
    must(lg__page_curves(s, RUNS / DRAWN, 100, &b, &err), &err);
    assert_non_null(strstr(b.data, "\"thinned\":true"));
    int n = numbers(b.data, "step", step, 1000), spike = 0;
    assert_int_equal(n, 100);
    assert_int_equal(numbers(b.data, "loss", mean, 1000), n);
    assert_int_equal(numbers(b.data, "loss_high", high, 1000), n);
    assert_true(step[n - 1] == STEPS);
    for (int i = 0, from = 1; i < n; from = (int)step[i++] + 1) {
        double sum = 0;
        for (int k = from; k <= (int)step[i]; k++) sum += 1.0 / k + (k == 5000);
        sum /= step[i] - from + 1;
        assert_true(fabs(mean[i] - sum) < 1e-4 * sum);
        spike += high[i] > 1.0001;
    }
    assert_int_equal(spike, 1);
    lg_buffer_clear(&b);
    must(lg__page_curves(s, 1, OTHER_STEPS, &b, &err), &err);
    assert_non_null(strstr(b.data, "\"thinned\":false"));
    assert_int_equal(numbers(b.data, "step", step, 1000), OTHER_STEPS);
    lg_buffer_clear(&b);
    lg_store_close(s);
}

static void filters_choose(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_buffer b = {0};
    lg_store *s = lg_store_open(in_home("large.db"), -1, &err);
    must(lg__page_list(s, &(struct lg__page_filter){.seed = "2"}, 0, &b, &err), &err);
    int n = 0;
    for (const char *at = b.data; (at = strstr(at, "\"number\"")); at++) n++;
    assert_int_equal(n, 333);
    lg_buffer_clear(&b);
    must(lg__page_list(s, &(struct lg__page_filter){.task = "copy"}, 0, &b, &err), &err);
    assert_string_equal(b.data, "[]");
    lg_buffer_clear(&b);
    must(lg__page_list(s, NULL, RUNS, &b, &err), &err); /* changed since */
    assert_non_null(strstr(b.data, "run-1000"));
    assert_null(strstr(b.data, "run-999"));
    lg_buffer_clear(&b);
    lg_store_close(s);
}

static void a_store_that_is_read_refuses_rows(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_store_close(open_store("read.db"));
    lg_store *s = lg_store_open(in_home("read.db"), -1, &err);
    assert_non_null(s);
    lg_store_run r = run_of("00000000000000aa", in_home("a"));
    int64_t number = 0;
    assert_int_not_equal(lg__store_register(s, &r, 0, &number, &err), 0);
    says(&err, "readonly");
    lg_store_close(s);
    assert_null(lg_store_open(in_home("none.db"), -1, &err));
    says(&err, "there is no store");
    assert_int_not_equal(access(in_home("none.db"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_read),
        cmocka_unit_test(shorter_curves_keep_the_spike),
        cmocka_unit_test(filters_choose),
        cmocka_unit_test(a_store_that_is_read_refuses_rows),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
