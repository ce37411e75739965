/* test_cli_theory.c: `lengthen theory` as a user meets it: tables, objects and files that hold the
 * numbers of its fits, a check that says which assumption fails by its exit code, a figure that puts
 * the class beside a transformer, and refusals that name the place and the remedy. */
#include "cli/running.h"

static int theory(const char *arguments)
{
    char all[2048];
    snprintf(all, sizeof all, "theory %s", arguments);
    return run_program("", all, "2>&1");
}

#define ENSEMBLE(positions)                                                                        \
    "k: 2\npositions: " positions "\nplanted: {P: 1, Q: 1}\nbackground: {a: 1, b: 1}\n"            \
    "label: parity\n"

static int make_home(void **state)
{
    (void)state;
    if (new_home()) return -1;
    return write_file("span.yaml", ENSEMBLE("{span: 5}")) ||
           write_file("columns.yaml", ENSEMBLE("columns")) ||
           write_file("wrong.yaml", "k: 2\nprobabilities: yes\nplanted: {P: 0.5, Q: 0.4}\n"
                                    "background: {a: 1}\nlabel: parity\n");
}

#define QUICK " --train-lengths 8..20 --test-lengths 20,200 --seeds 2 --samples 20 --threads 2"

static void a_fit_is_a_table(void **state)
{
    (void)state;
    assert_int_equal(theory("fit span.yaml" QUICK), 0);
    prints("length     error  95% from");
    prints("Slope of log error over log length: ");
    prints("Geometric means over 2 seeds, trained on lengths 8..20");
    assert_int_equal(count("e-0"), 2 * 3 + 1); /* errors, their intervals, and the 5e-05 below */
    assert_int_equal(theory("fit span.yaml" QUICK " --seeds 1"), 0); /* one seed has no interval */
    assert_int_equal(count("e-0"), 2 + 1);
    assert_int_equal(count("95%:"), 0);
    assert_int_equal(theory("fit span.yaml" QUICK " --seeds 1 --json"), 0);
    prints("\"low\":null,\"high\":null,");
}

static void an_interrupted_fit_writes_nothing(void **state)
{
    (void)state;
    assert_int_equal(run_program("timeout --preserve-status -s INT 0.5",
                                 "theory fit span.yaml --train-lengths 8..20 --test-lengths 20,200 "
                                 "--steps 10000000 --until 1e-300 --out stopped",
                                 "2>&1"),
                     130);
    prints("stopped; nothing was written");
    assert_false(there("stopped/rows.csv"));
}

static void a_sweep_writes_its_rows_and_what_made_them(void **state)
{
    (void)state;
    char line[400];
    int rows = 0;
    assert_int_equal(
        theory("sweep span.yaml" QUICK " --k 1,2 --coverage 1,0.5 --patterns --out made/here"), 0);
    prints("k = 1, coverage 1 ");
    prints("k = 2, coverage 0.5: not shown");
    if (strstr(out, "k = 1, coverage 0.5")) fail_msg("one pattern cannot be half shown");
    FILE *f = fopen(in_home("made/here/rows.csv"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) rows++;
    fclose(f);
    assert_int_equal(rows, 1 + 3 * 2 * 2);
    assert_true(there("made/here/errors.svg"));
    assert_int_equal(run_program("", "--version", "&& cat made/here/run.json"), 0);
    prints("\"command\": \"lengthen theory sweep span.yaml --train-lengths 8..20");
    prints("\"seeds\": [1, 2]");
    prints("\"compiler\": ");
    prints("\"date\": \"20");
}

static void objects_are_json(void **state)
{
    (void)state;
    assert_int_equal(theory("sweep columns.yaml" QUICK " --coupled no,yes --json"), 0);
    assert_int_equal(count("{\"variant\":\"by place\""), 3);
    assert_int_equal(count("{\"variant\":\"coupled\""), 3);
    assert_int_equal(count("\"slope\":"), 2);
    assert_int_equal(count("\"error_not_shown\":null"), 4);
}

static void a_check_answers_by_its_code(void **state)
{
    (void)state;
    assert_int_equal(theory("check span.yaml" QUICK), 0);
    assert_int_equal(count("holds"), 6);
    assert_int_equal(theory("check columns.yaml" QUICK " --out found"), 3);
    assert_true(there("found/check.svg") && there("found/findings.csv") && there("found/run.json"));
    prints("coverage           200  FAILS  training does not show the pattern of S in 100.0%");
    prints("locality            20  FAILS");
    prints("realizability      200  holds");
    assert_int_equal(theory("check columns.yaml" QUICK " --coupled yes --json"), 0);
    assert_int_equal(count("\"holds\":true"), 6);
}

/* To be freed. */
static char *contents(const char *name)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(in_home(name), "r");
    if (!f || getdelim(&text, &room, 0, f) < 0) fail_msg("%s cannot be read", name);
    fclose(f);
    return text;
}

static void is_still(const char *name, const char *text)
{
    char *now = contents(name);
    if (strcmp(now, text) != 0) fail_msg("%s had %zu bytes and is\n%s", name, strlen(text), now);
    free(now);
}

/* Killed, or refused more room, in the middle of the rows: those of before are all there. The limit
 * is above a figure and below the rows, in units of 512 or 1024 bytes. */
static void rows_that_cannot_be_written_leave_the_old_ones(void **state)
{
    (void)state;
#define LENGTHS "20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,62,64,66,68,70,72"
    static const char many[] = "theory fit span.yaml --train-lengths 8..20 --test-lengths " LENGTHS
                               " --seeds 50 --samples 1 --batch 1 --steps 1 --out large";
    assert_int_equal(run_program("", many, "2>&1"), 0);
    char *rows = contents("large/rows.csv");
    assert_true(strlen(rows) > 80 * 1024);
    assert_int_equal(
        run_program("ulimit -c 0 && ulimit -f 64 &&", many, "--seed 100 2>&1; exit $?"), 153);
    is_still("large/rows.csv", rows);
    assert_int_equal(
        run_program("trap '' XFSZ && ulimit -f 64 &&", many, "--seed 100 2>&1; exit $?"), 1);
    prints("large/rows.csv could not be written");
    is_still("large/rows.csv", rows);
    assert_int_equal(run_program("", many, "--seed 100 2>&1"), 0);
    char *after = contents("large/rows.csv");
    assert_string_not_equal(rows, after);
    free(rows);
    free(after);
}

/* Another name of the old file keeps what it had. */
static void files_are_replaced_not_overwritten(void **state)
{
    (void)state;
    static const struct {
        const char *command, *file;
        int code;
    } cases[] = {
        {"fit span.yaml" QUICK " --out twice", "twice/rows.csv", 0},
        {"fit span.yaml" QUICK " --out twice", "twice/run.json", 0},
        {"check columns.yaml" QUICK " --out twice", "twice/findings.csv", 3},
        {"check columns.yaml" QUICK " --out twice", "twice/run.json", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[400];
        struct stat old, new;
        assert_int_equal(theory(cases[i].command), cases[i].code);
        char *text = contents(cases[i].file);
        unlink(in_home("other"));
        assert_int_equal(link(in_home(cases[i].file), in_home("other")), 0);
        snprintf(command, sizeof command, "%s --seed 7", cases[i].command);
        assert_int_equal(theory(command), cases[i].code);
        is_still("other", text);
        assert_int_equal(stat(in_home("other"), &old), 0);
        assert_int_equal(stat(in_home(cases[i].file), &new), 0);
        if (old.st_ino == new.st_ino) fail_msg("%s was overwritten", cases[i].file);
        free(text);
    }
    assert_int_equal(run_program("", "--version", "&& ls twice"), 0);
    assert_int_equal(count("part"), 0);
}

/* The rows are what counts: without gnuplot they are written all the same, and a figure of before is not left
 * beside them. */
static void without_gnuplot_there_are_rows(void **state)
{
    (void)state;
    char path[400];
    snprintf(path, sizeof path, "PATH=%s", in_home(""));
    assert_int_equal(write_file("plain-errors.svg", "old"), 0);
    assert_int_equal(
        run_program("mkdir -p plain && mv plain-errors.svg plain/errors.svg &&", "--version", ""),
        0);
    assert_int_equal(
        run_program(path, "theory fit span.yaml" QUICK " --seeds 1 --out plain", "2>&1"), 0);
    prints("there is no figure: ");
    prints("gnuplot");
    assert_true(there("plain/rows.csv") && there("plain/run.json"));
    assert_false(there("plain/errors.svg"));
}

static void a_bridge_draws_both(void **state)
{
    (void)state;
    assert_int_equal(theory("sweep span.yaml" QUICK " --k 1,2 --out class"), 0);
    assert_int_equal(write_file("measurements.csv",
                                "method,train,length,samples,value,kind,seed,trained_length\n"
                                "local,task.k=1,200,100,1.0,exact,1,20\n"
                                "local,task.k=2,20,100,1.0,exact,1,20\n"
                                "local,task.k=2,200,100,0.5,exact,1,20\n"
                                "local,task.k=2,200,100,0.7,exact,2,20\n"
                                "local,task.k=2,200,100,0.1,taught_exact,1,20\n"
                                "local,task.k=3,20,100,0.6,exact,1,20\n" /* not learned: named */
                                "local,task.k=3,200,100,0.6,exact,1,20\n"
                                "\"a \"\"b\"\", c\",task.k=2,30,100,0,exact,1,20\n"),
                     0);
    assert_int_equal(theory("bridge measurements.csv --class local=class/rows.csv --length 200"),
                     0);
    prints("Not learned: transformer: local, k = 3, seed 1: 60.0% exact at 20.");
    assert_int_equal(
        theory("bridge measurements.csv --class local=class/rows.csv --length 200 --json "
               "--plot both.svg"),
        0);
    assert_int_equal(count("\"model\":\"class: local\""), 2);
    prints("{\"model\":\"transformer: local\",\"k\":1,\"length\":200,\"error\":0,\"low\":0,");
    prints("\"wrong\":0,\"samples\":100}");
    prints("{\"model\":\"transformer: local\",\"k\":2,\"length\":200,\"error\":0.4,");
    prints("{\"model\":\"transformer: local\",\"k\":3,\"length\":200,\"error\":0.4,");
    assert_int_equal(count("transformer"), 3);
    assert_true(there("both.svg"));
    assert_int_equal(theory("bridge measurements.csv --length 200 --where task.k=3 --json"), 0);
    assert_int_equal(count("transformer"), 1);
    assert_int_equal(write_file("scores.csv",
                                "method,train,length,samples,value,kind,seed,trained_length\n"
                                "local,model.attention=softmax;task.k=1,200,100,0.5,exact,1,20\n"
                                "local,model.attention=ssmax;task.k=1,200,100,0.9,exact,1,20\n"
                                "local,model.attention=ssmax;task.k=10,200,100,0.8,exact,1,20\n"),
                     0);
    assert_int_equal(theory("bridge scores.csv --length 200 --json"), 0);
    prints("{\"model\":\"transformer: local, "
           "model.attention=softmax\",\"k\":1,\"length\":200,\"error\":0.5,");
    assert_int_equal(count("transformer"), 3);
    assert_int_equal(theory("bridge scores.csv --length 200 --where task.k=1 --json"), 0);
    assert_int_equal(count("transformer"), 2); /* not k = 10 */
    assert_int_equal(theory("bridge scores.csv --length 200 --where model.attention=ssmax --json"),
                     0);
    prints("{\"model\":\"transformer: local\",\"k\":1,\"length\":200,\"error\":0.1,");
    assert_int_equal(theory("bridge measurements.csv --length 200 --where model.attention=softmax"),
                     2);
    prints("measurements.csv has no row of length 200 with task.k and model.attention=softmax; "
           "give another");
    assert_int_equal(theory("bridge measurements.csv --class local=class/rows.csv --length 7"), 2);
    prints("class/rows.csv has no row of length 7");
    assert_int_equal(theory("bridge class/rows.csv --length 200"), 2);
    prints("class/rows.csv:1: there is no column \"method\"");
}

static void wrong_uses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } cases[] = {
        {"", "fit, sweep, check or bridge?"},
        {"swep span.yaml", "did you mean \"sweep\"?"},
        {"bridge measurements.csv --length 300x", "--length is \"300x\""},
        {"bridge measurements.csv --length 4294967496",
         "--length is \"4294967496\""}, /* 2^32 + 200 */
        {"bridge measurements.csv --k 2", "lengthen theory bridge: \"--k\" is not an option"},
        {"fit", "which ensemble?"},
        {"fit span.yaml columns.yaml" QUICK, "one ensemble at a time; \"columns.yaml\""},
        {"fit span.yaml --test-lengths 20", "--train-lengths is missing"},
        {"fit span.yaml --train-lengths 8..20", "--test-lengths is missing"},
        {"fit span.yaml --train-lengths 20..8 --test-lengths 20", "the shorter first"},
        {"fit span.yaml" QUICK " --k 1,2", "--k has 2 values; fit takes one, sweep takes lists"},
        {"fit span.yaml" QUICK " --local near", "--local is \"near\"; take numbers, own or none"},
        {"fit span.yaml" QUICK " --local 8,0", "--local is \"8,0\"; take numbers, own or none"},
        {"fit span.yaml" QUICK " --coupled 2", "--coupled is \"2\"; take yes, no, or both"},
        {"fit span.yaml" QUICK " --until 0", "take a number above 0 and up to 1"},
        {"fit span.yaml" QUICK " --coverage 0", "--coverage is \"0\"; take shares above 0"},
        {"fit span.yaml" QUICK " --scores all", "take tuples or words"},
        {"fit span.yaml" QUICK " --window", "--window needs --offsets"},
        {"fit span.yaml" QUICK " --seeds none", "--seeds is \"none\"; take a whole number"},
        {"fit span.yaml" QUICK " --sigm", "\"--sigm\" is not an option"},
        {"fit wrong.yaml" QUICK, "wrong.yaml:3: the probabilities of planted sum to 0.9, not to 1"},
        {"fit span.yaml" QUICK " --k 9",
         "span.yaml:2: span is \"5\"; it must be a whole number in 9"},
        {"fit columns.yaml" QUICK " --k 9", "columns.yaml:1: k is 9, which a text of length 8"},
        {"fit columns.yaml" QUICK " --coverage 0.5", "columns.yaml:2: a coverage of 0.5 needs"},
        {"sweep span.yaml" QUICK " --local 1", "none of the 1 combinations can be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = theory(cases[i].arguments);
        if (code != 2) fail_msg("theory %s: code %d:\n%s", cases[i].arguments, code, out);
        prints(cases[i].words);
        prints(strncmp(cases[i].arguments, "bridge", 6) == 0 ? "lengthen theory bridge: "
                                                             : "lengthen theory: ");
    }
    assert_int_equal(theory("fit none.yaml" QUICK), 1);
    prints("none.yaml cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_is_a_table),
        cmocka_unit_test(an_interrupted_fit_writes_nothing),
        cmocka_unit_test(a_sweep_writes_its_rows_and_what_made_them),
        cmocka_unit_test(objects_are_json),
        cmocka_unit_test(a_check_answers_by_its_code),
        cmocka_unit_test(rows_that_cannot_be_written_leave_the_old_ones),
        cmocka_unit_test(files_are_replaced_not_overwritten),
        cmocka_unit_test(without_gnuplot_there_are_rows),
        cmocka_unit_test(a_bridge_draws_both),
        cmocka_unit_test(wrong_uses_are_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
