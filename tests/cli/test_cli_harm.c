/* test_cli_harm.c: files that are damaged, in use or hostile, as a user meets them. Nothing is lost or
 * replaced without a word: older weights are used only when asked for, two probes do not share a folder,
 * and what a store holds cannot steer the terminal. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include "runs/cells.h"
#include "runs/store.h"
#include "running.h"

#define BOTH "2>&1"
#define STDOUT "2>/dev/null"
#define SMALL "--threads 1 --store s.db"
#define COPY "--threads 1 --store r.db" /* a store of its own: it knows no other run of its ID */
#define NEWEST "r/checkpoint/step-000000008/"

static int run(const char *arguments, const char *after)
{
    return run_program("LENGTHEN_CACHE=cache", arguments, after);
}

static void prints_not(const char *words)
{
    if (strstr(out, words)) fail_msg("\"%s\" is in:\n%s", words, out);
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
    char command[1000], all[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(all, sizeof all, "cd %s && %s", home, command);
    if (system(all) != 0) fail_msg("%s", all);
}

static int make_runs(void **state)
{
    (void)state;
    if (new_home()) return -1;
    write_file("p.yaml", "task: {name: parity}\nmodel: {layers: 1, width: 16, heads: 2}\n"
                         "positions: {ids: plain, encoding: rope}\n"
                         "train: {steps: 8, batch: 4, length: [3, 8], checkpoint_every: 4, keep: "
                         "2}\n"
                         "eval: {lengths: [3], samples: 4}\n");
    return run("train p.yaml --out whole " SMALL, BOTH);
}

/* A fresh copy of the run, as r. */
static void copy_run(void) { shell("rm -rf r r.db && cp -r whole r"); }

/* Changes one byte in the middle of a file. */
static void flip(const char *name)
{
    int fd = open(in_home(name), O_RDWR);
    assert_true(fd >= 0);
    off_t at = lseek(fd, 0, SEEK_END) / 2;
    char c;
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= 1;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

/* ---- Damaged checkpoints ---------------------------------------------------------------------- */

/* What only needs weights, with one of them as the last word. */
static const char *const readers[] = {
    "generate r --seed 1 --length 3 --json",
    "eval r --samples 4 --force --json " COPY,
    "probe r --documents 2 --length 3 --json " COPY,
};
enum { READERS = sizeof readers / sizeof *readers };

static void whole_weights_are_used_whatever_the_optimizers_file_holds(void **state)
{
    (void)state;
    static char right[sizeof out];
    for (int harm = 0; harm < 2; harm++) {
        copy_run();
        assert_int_equal(run("export r hf0", BOTH), 0);
        assert_int_equal(run(readers[0], STDOUT), 0);
        prints("\"step\":8");
        snprintf(right, sizeof right, "%s", out);
        if (harm)
            shell("rm " NEWEST "state.safetensors");
        else
            flip(NEWEST "state.safetensors");
        for (int i = 0; i < READERS; i++) {
            assert_int_equal(run(readers[i], BOTH), 0);
            prints("\"step\":8");
            prints_not("damaged");
            prints_not("missing");
            if (!i) assert_string_equal(out, right);
        }
        assert_int_equal(run("export r hf1", BOTH), 0);
        prints_not("damaged");
        shell("cmp hf0/model.safetensors hf1/model.safetensors && rm -r hf0 hf1");
    }
}

static void older_weights_are_used_only_with_fallback(void **state)
{
    (void)state;
    char line[200];
    copy_run();
    flip(NEWEST "model.safetensors");
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(run(readers[i], BOTH), 1);
        prints(NEWEST "model.safetensors is damaged");
        prints("--fallback");
        prints("step 4");
        prints_not("\"step\"");
        snprintf(line, sizeof line, "%s --fallback", readers[i]);
        assert_int_equal(run(line, BOTH), 0);
        prints(NEWEST "model.safetensors is damaged");
        prints("step 4 is used instead");
        prints("\"step\":4");
    }
    assert_int_equal(run("export r hf", BOTH), 1);
    prints("--fallback");
    assert_false(there("hf"));
    assert_int_equal(run("certify r", BOTH), 1);
    prints("--fallback");
    assert_int_equal(run("export r hf --fallback", BOTH), 0);
    prints("step 4 is used instead");
    shell("rm -r hf");
    /* another run that begins with these */
    assert_int_equal(run("train p.yaml --set train.init_from=r --out next " SMALL, BOTH), 1);
    prints("--fallback");
    assert_false(there("next/checkpoint"));
    assert_int_equal(run("train p.yaml --set train.init_from=r --out next --fallback " SMALL, BOTH),
                     0);
    prints("step 4 is used instead");
    shell("grep -q 'weights of step 4 of run' next/config.yaml && rm -r next");
    /* nothing older is whole */
    flip("r/checkpoint/step-000000004/model.safetensors");
    assert_int_equal(run("generate r --length 3 --fallback", BOTH), 1);
    prints("no whole checkpoint");
}

static void a_run_resumes_from_an_older_step_only_with_fallback(void **state)
{
    (void)state;
    copy_run();
    flip(NEWEST "state.safetensors");
    assert_int_equal(run("train p.yaml --out r --resume " COPY, BOTH), 1);
    prints(NEWEST "state.safetensors is damaged");
    prints("--fallback");
    prints("step 4");
    assert_int_equal(run("generate r --length 3 --json", STDOUT), 0); /* all is as it was */
    prints("\"step\":8");
    assert_int_equal(run("train p.yaml --out r --resume --fallback " COPY, BOTH), 0);
    prints("step 4 is used instead");
    shell("cmp " NEWEST "model.safetensors whole/checkpoint/step-000000008/model.safetensors && "
          "cmp " NEWEST "state.safetensors whole/checkpoint/step-000000008/state.safetensors");
}

/* ---- A folder in use -------------------------------------------------------------------------- */

static void a_probe_has_its_folder_alone(void **state)
{
    (void)state;
    static const char probe[] = "probe whole --documents 2 --length 3 --out probed " SMALL;
    assert_int_equal(run(probe, BOTH), 0);
    shell("cp probed/predictions.csv before.csv");
    int lock = open(in_home("probed"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(run(probe, BOTH), 2);
    prints("probed");
    prints("another probe");
    prints("--out");
    shell("cmp probed/predictions.csv before.csv && test ! -e probed/predictions.csv.tmp && test ! "
          "-e probed/begun");
    close(lock);
    assert_int_equal(run(probe, BOTH), 0);
    shell("cmp probed/predictions.csv before.csv");
    prints_not("another probe");
}

/* While one probes, its folder is locked. */
static void two_probes_at_once(void **state)
{
    (void)state;
    int held = 0;
    pid_t first = fork();
    assert_true(first >= 0);
    if (first == 0) {
        if (chdir(home) || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(9);
        execl(LG_PROGRAM, LG_PROGRAM, "probe", "whole", "--documents", "1000000", "--length", "8",
              "--out", "twice", "--threads", "1", "--store", "one.db", (char *)NULL);
        _exit(9);
    }
    for (int i = 0; i < 1000 && !held; i++) {
        usleep(10000);
        int lock = open(in_home("twice"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        held = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0;
        if (lock >= 0) close(lock);
    }
    int code = run("probe whole --documents 2 --length 8 --out twice " SMALL, BOTH);
    kill(first, SIGKILL);
    assert_int_equal(waitpid(first, NULL, 0), first);
    assert_true(held);
    assert_int_equal(code, 2);
    prints("another probe");
}

/* ---- Hostile text ----------------------------------------------------------------------------- */

static void no_controls(const char *arguments)
{
    if (run(arguments, BOTH) > 1) fail_msg("%s: %s", arguments, out);
    for (const char *at = out; *at; at++)
        if ((unsigned char)*at < 0x20 && *at != '\n') fail_msg("%s prints %d", arguments, *at);
    prints_not("\x7f");
    prints_not("\xc2\x9b"); /* CSI as one character */
}

static void what_the_store_holds_cannot_steer_the_terminal(void **state)
{
    (void)state;
    lg_error err = {0};
    int64_t number;
    lg_cell cell = {.step = 3, .length = 3, .setting = "a=\x1b[2J"};
    lg__cell_add_share(&cell, "exact", 4, 2, 4);
    lg_store *s = lg_store_open(in_home("bad.db"), 1, &err);
    assert_non_null(s);
    for (int i = 0; i < 2; i++) { /* escaped as YAML does; and what is no YAML */
        static const char *const configs[] = {
            "seed: 1\n\"ta\\esk\":\n  \"na\\eme\": \"co\\e[31mpy\\x9b31m\"\n",
            "seed: 2\ntask:\n  na\x1bme: \"co\x1b[32mpy\"\n"};
        lg_store_run r = {.id = i ? "bbbb000000000002" : "aaaa000000000001",
                          .folder = i ? "/x/\x1b[31mtwo" : "/x/\x1b]0;one\x07",
                          .state = "stopped", /* the store takes no other than those there are */
                          .task = "co\x7fpy",
                          .positions = "cou\xc2\x9b"
                                       "31mpled",
                          .unit = "sym\rbols",
                          .config = configs[i],
                          .kernels = "avx\x1b[2J",
                          .steps = 5,
                          .step = 3,
                          .length = 5};
        assert_int_equal(lg__store_register(s, &r, 0, &number, &err), 0);
        assert_int_equal(lg__store_state(s, number, "failed", "bad\x1b[2J\b\nlines", &err), 0);
        assert_int_equal(lg__store_add_cells(s, number, &cell, 1, &err), 0);
    }
    lg_store_close(s);
    no_controls("runs --store bad.db");
    prints("two");
    no_controls("runs show 1 --store bad.db");
    prints("bad?[2J");
    prints("ta?sk.na?me: co?[31mpy");
    no_controls("runs show 2 --store bad.db");
    prints("bad?[2J");
    prints("the config of run 2 in the store cannot be read: ");
    no_controls("runs compare 1 2 --store bad.db");
    no_controls("runs --store bad.db --json");
    prints("\\u001b[31mtwo");
    no_controls("runs show 1 --store bad.db --json");
    no_controls("runs compare 1 2 --store bad.db --json");
    no_controls("runs delete 1 2 --store bad.db --yes");
}

/* Of somebody's folder: its config, and its name. */
static void what_a_folder_holds_cannot_steer_the_terminal(void **state)
{
    (void)state;
    copy_run();
    shell(
        "mv r \"$(printf 'r\\033[31m')\" && printf 'task: {name: par\\033[31mity}\\n' > bad.yaml");
    no_controls("eval \"$(printf 'r\\033[31m')\" --samples 4 " COPY);
    no_controls("generate \"$(printf 'r\\033[31m')\" --length 3");
    no_controls("runs show \"$(printf 'r\\033[31m')\" --store r.db");
    if (run("train bad.yaml --out bad " SMALL, BOTH) == 0) fail_msg("%s", out);
    prints_not("\x1b");
    shell("rm -r \"$(printf 'r\\033[31m')\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_weights_are_used_whatever_the_optimizers_file_holds),
        cmocka_unit_test(older_weights_are_used_only_with_fallback),
        cmocka_unit_test(a_run_resumes_from_an_older_step_only_with_fallback),
        cmocka_unit_test(a_probe_has_its_folder_alone),
        cmocka_unit_test(two_probes_at_once),
        cmocka_unit_test(what_the_store_holds_cannot_steer_the_terminal),
        cmocka_unit_test(what_a_folder_holds_cannot_steer_the_terminal),
    };
    return cmocka_run_group_tests(tests, make_runs, remove_home);
}
