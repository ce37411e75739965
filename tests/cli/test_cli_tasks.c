/* test_cli_tasks.c: `lengthen tasks`, `positions` and `sample`: what they print, what they
 * refuse, and that the pages in docs/ are what the program prints today. */
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lengthen.h"
#include "lengthen_lab.h"

static char out[1 << 20]; /* what the last run printed */

#define BOTH "2>&1"
#define STDOUT "2>/dev/null"
#define STDERR "2>&1 >/dev/null"

/* Runs the program through the shell and returns its exit code. */
static int run(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int run(const char *what, const char *format, ...)
{
    char command[4096], arguments[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "'%s' %s %s", LG_PROGRAM, arguments, what);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    if (!WIFEXITED(status)) fail_msg("%s: ended by a signal", command);
    return WEXITSTATUS(status);
}

static void assert_prints(const char *words)
{
    if (!strstr(out, words)) fail_msg("\"%s\" is not in:\n%s", words, out);
}

static int own_data(const lg_task_info *info) { return strcmp(info->family, "own data") == 0; }

/* ---- JSON: reads one value and counts the items of arrays ------------------------------- */

static const char *json_value(const char *s, int *items);

static const char *json_string(const char *s)
{
    assert_int_equal(*s, '"');
    for (s++; *s != '"'; s++) {
        assert_true((unsigned char)*s >= 0x20);
        if (*s == '\\') s++;
    }
    return s + 1;
}

static const char *json_items(const char *s, char end, int *items)
{
    *items = 0;
    for (s++; *s != end; (*items)++) {
        if (*items) assert_int_equal(*s++, ',');
        if (end == '}') {
            s = json_string(s);
            assert_int_equal(*s++, ':');
        }
        s = json_value(s, NULL);
    }
    return s + 1;
}

static const char *json_value(const char *s, int *items)
{
    int n = 0;
    if (*s == '"') return json_string(s);
    if (*s == '[' || *s == '{') {
        s = json_items(s, *s == '[' ? ']' : '}', &n);
        if (items) *items = n;
        return s;
    }
    if (strncmp(s, "null", 4) == 0) return s + 4;
    char *end;
    strtod(s, &end);
    assert_ptr_not_equal(end, s);
    return end;
}

/* Checks that out is JSON, one object per line; returns the lines. */
static int json_lines(void)
{
    int lines = 0;
    for (const char *s = out; *s; lines++) {
        assert_int_equal(*s, '{');
        s = json_value(s, NULL);
        assert_int_equal(*s++, '\n');
    }
    return lines;
}

/* Items of the array that is the value of the key in this line. */
static int json_count(const char *line, const char *key)
{
    char quoted[64];
    int n = -1;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    assert_non_null(at);
    json_value(at + strlen(quoted), &n);
    return n;
}

/* ---- sample ----------------------------------------------------------------------------- */

static void sample_aligns(void **state)
{
    (void)state;
    assert_int_equal(run(BOTH, "sample parity-scratchpad --length 10 --seed 4 --count 1"), 0);
    assert_string_equal(out, "parity-scratchpad, example 0: length 10 (bits), 22 tokens\n"
                             "  token   0 1 1 1 1 1 1 0  1  1 = 0 1 0 1 0 1 0 0  1  0  $\n"
                             "  column  2 3 4 5 6 7 8 9 10 11 1 2 3 4 5 6 7 8 9 10 11 12\n"
                             "  target                        0 1 0 1 0 1 0 0 1  0  $\n"
                             "  loss                            ^ ^ ^ ^ ^ ^ ^ ^  ^  ^  ^\n");
    assert_int_equal(run(BOTH, "sample parity-scratchpad --length 2 --seed 4 --count 1 --json"), 0);
    assert_string_equal(out, "{\"tokens\":[\"0\",\"1\",\"=\",\"0\",\"1\",\"$\"],"
                             "\"ids\":[[1,2,0,1,2,3]],\"loss\":[0,0,0,1,1,1],"
                             "\"length\":2,\"sparsity\":0}\n");
}

/* The examples are those of the library, in text and in JSON, whatever the task. */
static void sample_shows_every_task(void **state)
{
    (void)state;
    lg_error err;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (own_data(info)) continue;
        lg_task *t = lg_task_new(info->name, NULL, 0, &err);
        assert_non_null(t);
        const lg_task_shape *shape = lg_task_get_shape(t);
        int length = shape->length_least > 5 ? shape->length_least : 5;
        lg_draw d = {.seed = 7, .length_lo = length, .length_hi = length};
        assert_int_equal(run(STDOUT, "sample %s --seed 7 --count 2 --json", info->name), 0);
        assert_int_equal(json_lines(), 2);
        for (char *line = out; *line; line = strchr(line, '\n') + 1, d.index++) {
            char words[8192] = "{\"tokens\":[";
            assert_int_equal(lg_task_example(t, &d, &x, &err), 0);
            for (int k = 0; k < x.n; k++)
                snprintf(words + strlen(words), sizeof words - strlen(words), "%s\"%s\"",
                         k ? "," : "", shape->words[x.tokens[k]]);
            assert_memory_equal(line, words, strlen(words));
            assert_int_equal(json_count(line, "loss"), x.n);
            assert_int_equal(json_count(line, "ids"), shape->levels ? shape->levels : 1);
        }
        lg_task_free(t);
    }
    lg_example_clear(&x);
}

/* Takes the cells of all rows of this name together, single blanks between. */
static void cells(const char *name, char *to, size_t size)
{
    char start[64];
    int length = snprintf(start, sizeof start, "  %s ", name);
    size_t n = 0;
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, start, (size_t)length) != 0) continue;
        for (const char *s = line + length; *s != '\n'; s++) {
            if (*s == ' ' && (!n || to[n - 1] == ' ')) continue;
            assert_true(n + 2 < size);
            to[n++] = *s;
        }
        if (n && to[n - 1] != ' ') to[n++] = ' ';
    }
    to[n ? n - 1 : 0] = 0;
}

static int blanks(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == ' ';
    return n;
}

/* Folded at any width, it is the same example, no line is too long or ends with a blank. */
static void sample_folds(void **state)
{
    (void)state;
    char whole[3][4096], folded[4096];
    static const char *const rows[] = {"token", "pair", "walk"};
    const char *arguments = "sample sparse-parity-scratchpad --length 30 --sparsity 7 --count 1";
    setenv("COLUMNS", "1000", 1);
    assert_int_equal(run(STDOUT, "%s", arguments), 0);
    for (int r = 0; r < 3; r++) {
        cells(rows[r], whole[r], sizeof whole[r]);
        assert_int_equal(blanks(whole[r]), 2 * 30 + 2 + 3 * 7 + 2 - 1);
    }
    for (int width = 20; width < 200; width += 9) {
        char columns[16];
        snprintf(columns, sizeof columns, "%d", width);
        setenv("COLUMNS", columns, 1);
        assert_int_equal(run(STDOUT, "%s", arguments), 0);
        for (int r = 0; r < 3; r++) {
            cells(rows[r], folded, sizeof folded);
            assert_string_equal(folded, whole[r]);
        }
        for (const char *line = strchr(out, '\n') + 1; *line; line += strcspn(line, "\n") + 1) {
            size_t n = strcspn(line, "\n");
            assert_true(n <= (size_t)width);
            assert_false(n && line[n - 1] == ' ');
        }
    }
    unsetenv("COLUMNS");
    assert_int_equal(run(STDOUT, "%s", arguments), 0);
    for (const char *line = strchr(out, '\n') + 1; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
}

/* What the program prints to a terminal. */
static void run_on_terminal(const char *arguments)
{
    char what[128], *name;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0) {
        print_message("no terminals can be made here (is /dev/pts there?): skipped\n");
        skip();
    }
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    name = ptsname(master);
    int slave = open(name, O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    snprintf(what, sizeof what, "2>/dev/null >%s", name);
    assert_int_equal(run(what, "%s", arguments), 0);
    /* The kernel hands it over piece by piece, some of it after the program has ended. */
    size_t used = 0;
    struct pollfd ready = {.fd = master, .events = POLLIN};
    while (used < sizeof out - 1 && poll(&ready, 1, 200) > 0) {
        ssize_t n = read(master, out + used, sizeof out - 1 - used);
        if (n <= 0) break;
        used += (size_t)n;
    }
    out[used] = '\0';
    close(slave);
    close(master);
}

static void colour_is_for_terminals(void **state)
{
    (void)state;
    const char *arguments = "sample parity-scratchpad --count 1";
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_int_equal(run(STDOUT, "%s", arguments), 0);
    assert_null(strchr(out, '\033'));
    run_on_terminal(arguments);
    assert_prints("\033[2m");
    assert_prints("\033[1m");
    setenv("NO_COLOR", "1", 1);
    run_on_terminal(arguments);
    assert_prints("token");
    assert_null(strchr(out, '\033'));
    unsetenv("NO_COLOR");
}

static void sample_shows_ids(void **state)
{
    (void)state;
    char row[4096];
    assert_int_equal(run(STDOUT, "sample addition --length 3 --count 1 --ids plain"), 0);
    cells("id", row, sizeof row);
    assert_string_equal(row, "0 1 2 3 4 5 6 7 8 9 10 11 12");
    assert_int_equal(run(STDOUT, "sample addition --length 3 --count 1 --ids abacus"), 0);
    cells("id", row, sizeof row);
    assert_string_equal(row, "1 2 3 0 1 2 3 0 1 2 3 4 0");
    assert_int_equal(run(STDOUT, "sample addition --length 3 --count 1 --source delta"), 0);
    cells("column", row, sizeof row);
    assert_string_equal(row, "4 3 2 1 4 3 2 1 2 3 4 5 6");
    cells("next column", row, sizeof row);
    assert_string_equal(row, "+1 +1 +1 +1 +1");
    assert_int_equal(
        run(STDOUT, "sample addition --length 3 --count 1 --source absolute --max-id 20"), 0);
    cells("next column", row, sizeof row);
    assert_string_equal(row, "2 3 4 5 6");
    /* In training the start is drawn: the text stays, the IDs differ. */
    char text[4096], trained[4096];
    cells("token", text, sizeof text);
    assert_int_equal(run(STDOUT, "sample addition --length 3 --count 1 --train --max-id 1000000"),
                     0);
    cells("column", trained, sizeof trained);
    cells("token", row, sizeof row);
    assert_string_equal(row, text);
    assert_string_not_equal(trained, "4 3 2 1 4 3 2 1 2 3 4 5 6");
    assert_int_equal(blanks(trained), 12);
    assert_int_equal(run(STDOUT, "sample retrieval --count 1 --levels 1"), 0);
    assert_null(strstr(out, "  role "));
    assert_int_equal(run(STDOUT, "sample retrieval --count 1 --source pointer,given"), 0);
    assert_prints("  next entry ");
    assert_null(strstr(out, "  next role "));
}

static void same_seed_same_examples(void **state)
{
    (void)state;
    static char first[sizeof out];
    assert_int_equal(run(STDOUT, "sample addition --length 1..30 --count 50 --json"), 0);
    assert_int_equal(json_lines(), 50);
    strcpy(first, out);
    assert_int_equal(run(STDOUT, "sample addition --length 1..30 --count 20 --json"), 0);
    assert_memory_equal(first, out, strlen(out));
    assert_int_equal(run(STDOUT, "sample addition --length 1..30 --count 50 --json --seed 2"), 0);
    assert_string_not_equal(first, out);
}

/* The first ID is 0 unless the start is drawn; a first piece of more than half is there only with the cut
 * anywhere. Of 20 tokens, whose IDs go on by 1 inside a piece. */
static int longest_first_piece(const char *options, int *first)
{
    int longest = 0;
    *first = 0;
    assert_int_equal(run(STDOUT,
                         "sample sparse-parity --length 10 --count 200 --json --ids pose --train "
                         "--target 500 %s",
                         options),
                     0);
    for (const char *at = out; (at = strstr(at, "\"ids\":[[")); at++) {
        char *end;
        long id = strtol(at + strlen("\"ids\":[["), &end, 10), next;
        int n = 1;
        if (id > *first) *first = (int)id;
        for (; *end == ',' && (next = strtol(end + 1, &end, 10)) == id + 1; n++) id = next;
        if (n > longest) longest = n;
    }
    return longest;
}

static void sample_draws_pose(void **state)
{
    (void)state;
    int first, half = longest_first_piece("", &first);
    assert_true(half <= 12);
    assert_int_equal(first, 0);
    assert_true(longest_first_piece("--cut-anywhere", &first) > 15);
    assert_int_equal(first, 0);
    longest_first_piece("--random-start", &first);
    assert_true(first > 100);
}

/* What `sample --json` prints is data that jsonl: reads. */
static void json_is_data(void **state)
{
    (void)state;
    static char first[sizeof out];
    char file[] = "/tmp/lengthen-test-XXXXXX", what[64];
    if (!lg_task_info_find("jsonl")) skip();
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    snprintf(what, sizeof what, "2>/dev/null >%s", file);
    const char *arguments = "sample sparse-parity-scratchpad --length 1..12 --count 40 --json";
    assert_int_equal(run(what, "%s", arguments), 0);
    assert_int_equal(run(STDOUT, "%s", arguments), 0);
    strcpy(first, out);
    assert_int_equal(run(BOTH, "sample jsonl:%s --count 40 --json", file), 0);
    assert_int_equal(json_lines(), 40);
    for (const char *a = first, *b = out; *a; a = strchr(a, '\n') + 1, b = strchr(b, '\n') + 1) {
        size_t n = (size_t)(strstr(a, ",\"ids\"") - a);
        assert_memory_equal(a, b, n);
        const char *loss_a = strstr(a, "\"loss\""), *loss_b = strstr(b, "\"loss\"");
        assert_memory_equal(loss_a, loss_b, strcspn(loss_a, "\n"));
        assert_int_equal(json_count(b, "ids"), 2);
    }
    unlink(file);
}

static void sample_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"sample", "which task?"},
        {"sample adition", "did you mean \"addition\"?"},
        {"sample xyzzyxyzzy", "`lengthen tasks`"},
        {"sample copy reverse", "\"reverse\""},
        {"sample copy --no-such-option", "--no-such-option"},
        {"sample copy --length", "--length"},
        {"sample copy --length 0", "--length is \"0\""},
        {"sample copy --length -3", "--length is \"-3\""},
        {"sample copy --length five", "--length is \"five\""},
        {"sample copy --length 5..", "--length is \"5..\""},
        {"sample copy --length ..5", "--length is \"..5\""},
        {"sample copy --length 9..5", "--length is \"9..5\""},
        {"sample copy --length 1...5", "--length is \"1...5\""},
        {"sample copy --length 99999999999", "--length is \"99999999999\""},
        {"sample copy --length 2000000", "1..1048576"},
        {"sample copy --length 1..2000000", "length 1..2000000"},
        {"sample flip-flop --length 1", "length 1..1"},
        {"sample sparse-parity --sparsity x", "--sparsity is \"x\""},
        {"sample sparse-parity --sparsity 1001", "1001"},
        {"sample sparse-parity --length 1..9 --sparsity 5", "length 1 allows"},
        {"sample copy --count 0", "--count is \"0\""},
        {"sample copy --count many", "--count is \"many\""},
        {"sample copy --seed -1", "--seed is \"-1\""},
        {"sample copy --set task.alphabet", "task.KEY=VALUE"},
        {"sample copy --set kind=unique", "task.KEY=VALUE"},
        {"sample copy --set task.alpabet=3", "did you mean \"alphabet\"?"},
        {"sample copy --set task.alphabet=1", "alphabet is \"1\""},
        {"sample copy --set task.kind=odd", "random|unique"},
        {"sample parity --set task.scan=forward", "has no settings"},
        {"config train.lrr", "did you mean \"train.lr\"?"},
        {"config xyzzyxyzzy", "`lengthen config` lists them"},
        {"config ''", "no key and no map"},
        {"config train model", "one key at a time"},
        {"config train --markdown", "leave \"train\" out"},
        {"config --json --markdown", "not both"},
        {"train --help-config", "is not an option"},
        {"train --markdown", "is not an option"},
        {"sample copy --ids abacus", "is a digit"},
        {"sample parity --ids pose --target 3", "target is 3"},
        {"sample variable-assignment --source delta", "take source pointer"},
        {"sample copy --ids copled", "did you mean \"coupled\"?"},
        {"sample copy --ids xyzzyxyzzy", "`lengthen positions`"},
        {"sample copy --levels 0", "--levels is \"0\""},
        {"sample copy --levels 2", "levels is 2"},
        {"sample copy --ids randomized", "max_id"},
        {"sample copy --ids pose", "target"},
        {"sample copy --ids pose --target 100 --chunks 1", "--chunks is \"1\""},
        {"sample copy --train --max-id 3", "max_id"},
        {"sample copy --length 1..40 --train --max-id 20", "max_id"},
        {"sample copy --max-id x", "--max-id is \"x\""},
        {"sample copy --max-id 2147483647", "take a whole number from 1 to 2147483646"},
        {"sample copy --source oracle", "--source is \"oracle\""},
        {"sample copy --source delta,delta", "2 heads"},
        {"sample copy --source absolute", "max_id"},
        {"sample copy --ids plain --source delta", "ids is plain"},
        {"sample copy --source delta --reach 0", "--reach is \"0\""},
        {"tasks adition", "did you mean \"addition\"?"},
        {"tasks xyzzyxyzzy", "there is no task"},
        {"tasks copy reverse", "\"reverse\""},
        {"tasks --yaml", "--yaml"},
        {"tasks --json --markdown", "not both"},
        {"tasks copy --markdown", "\"copy\""},
        {"positions copled", "did you mean \"coupled\"?"},
        {"positions xyzzyxyzzy", "there is no \"xyzzyxyzzy\""},
        {"positions rope alibi", "\"alibi\""},
        {"positions --yaml", "--yaml"},
        {"positions --json --markdown", "not both"},
        {"positions rope --markdown", "\"rope\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run(STDERR, "%s", cases[i].arguments);
        if (code != 2) fail_msg("%s: ended with %d, not 2: %s", cases[i].arguments, code, out);
        if (!strstr(out, cases[i].says))
            fail_msg("%s: \"%s\" is not in: %s", cases[i].arguments, cases[i].says, out);
        assert_int_equal(run(STDOUT, "%s", cases[i].arguments), 2);
        assert_string_equal(out, ""); /* nothing is printed before the refusal */
    }
}

/* A full disk ends it soon, not after all that was asked for. */
static void lost_output_ends_it(void **state)
{
    (void)state;
    assert_int_equal(run("2>&1 >/dev/full", "sample copy --count 1000000000000 --json"), 1);
    assert_prints("could not be written");
    assert_int_equal(run("2>&1 >/dev/full", "sample copy --count 1000000000000"), 1);
    assert_prints("could not be written");
    assert_int_equal(run("2>&1 >/dev/full", "tasks"), 1);
    assert_int_equal(run("2>&1 >/dev/full", "positions"), 1);
}

/* ---- tasks and positions ---------------------------------------------------------------- */

static void tasks_lists_all(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "tasks"), 0);
    for (int i = 0; i < lg_task_count(); i++) {
        char name[80];
        snprintf(name, sizeof name, "\n  %s ", lg_task_info_at(i)->name);
        assert_prints(name);
        assert_prints(lg_task_info_at(i)->line);
        assert_prints(lg_task_info_at(i)->family);
    }
    assert_int_equal(run(STDOUT, "tasks --json"), 0);
    assert_int_equal(json_lines(), lg_task_count());
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        int settings = 0;
        while (info->settings && info->settings[settings].name) settings++;
        assert_int_equal(run(STDOUT, "tasks %s --json", info->name), 0);
        assert_int_equal(json_lines(), 1);
        assert_int_equal(json_count(out, "settings"), settings);
        assert_int_equal(run(STDOUT, "tasks %s", info->name), 0);
        assert_prints(info->text);
        for (int k = 0; k < settings; k++) assert_prints(info->settings[k].doc);
        if (own_data(info)) continue;
        assert_prints("example 0:");
        assert_prints("example 1:");
        assert_prints("  vocabulary  ");
        assert_prints("  levels      ");
    }
}

static void positions_lists_all(void **state)
{
    (void)state;
    const char *names[128];
    int n = 0;
    for (int i = 0; i < lg_ids_count(); i++) names[n++] = lg_ids_info_at(i).name;
    for (int i = 0; i < lg_encoding_count(); i++) names[n++] = lg_encoding_info_at(i).name;
    for (int i = 0; i < lg_id_head_count(); i++) names[n++] = lg_id_head_info_at(i).name;
    names[n++] = "full";
    names[n++] = "window";
    names[n++] = "given";
    assert_int_equal(run(STDOUT, "positions"), 0);
    for (int i = 0; i < n; i++) {
        char line[80];
        snprintf(line, sizeof line, "\n  %s ", names[i]);
        assert_prints(line);
    }
    assert_int_equal(run(STDOUT, "positions --json"), 0);
    assert_int_equal(json_lines(), n);
    for (int i = 0; i < n; i++) {
        char head[80];
        int same = 0;
        for (int j = 0; j < n; j++) same += strcmp(names[i], names[j]) == 0;
        assert_int_equal(run(STDOUT, "positions %s", names[i]), 0);
        snprintf(head, sizeof head, "%s (", names[i]);
        assert_prints(head);
        assert_int_equal(run(STDOUT, "positions %s --json", names[i]), 0);
        assert_int_equal(json_lines(), same); /* a name in two choices: both */
    }
}

/* All keys, one, or a map of them; the same in JSON, a task's settings with their task. */
static void config_shows_keys(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "config"), 0);
    assert_prints("\n  model.attention: softmax\n      softmax|ssmax|entmax15\n");
    assert_prints("\n    task.carry: ");
    assert_int_equal(run(STDOUT, "config train.lr"), 0);
    assert_string_equal(
        out, "  train.lr: 0.001\n      0.0..1e6\n      learning rate after the warmup\n");
    assert_int_equal(run(STDOUT, "config positions.rope"), 0);
    assert_prints("  positions.rope.share: 1\n");
    assert_prints("  positions.rope.length: 0\n");
    assert_null(strstr(out, "positions.span"));
    assert_int_equal(run(STDOUT, "config task.carry"), 0);
    assert_prints("  addition\n    task.carry: ");
    assert_null(strstr(out, "task.orientation"));
    assert_int_equal(run(STDOUT, "config train.lr --json"), 0);
    assert_string_equal(out, "{\"key\":\"train.lr\",\"range\":\"0.0..1e6\",\"default\":\"0.001\","
                             "\"doc\":\"learning rate after the warmup\"}\n");
    assert_int_equal(run(STDOUT, "config train.init_from --json"), 0);
    assert_prints("\"default\":null,");
    assert_int_equal(run(STDOUT, "config task --json"), 0);
    assert_prints("{\"key\":\"task.name\",\"range\"");
    assert_prints("{\"key\":\"task.carry\",\"task\":\"addition\",\"range\"");
    assert_null(strstr(out, "\"train."));
    int settings = json_lines();
    assert_int_equal(run(STDOUT, "config --json"), 0);
    assert_prints("{\"key\":\"seed\",");
    assert_true(json_lines() > settings + 40);
}

/* The pages in docs/ are what the program prints. */
static void pages_are_fresh(void **state)
{
    (void)state;
    static const struct {
        const char *command, *file;
    } pages[] = {{"tasks", "docs/TASKS.md"},
                 {"positions", "docs/POSITIONS.md"},
                 {"config", "docs/CONFIG.md"}};
    static char page[sizeof out];
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", LG_SOURCE_DIR, pages[i].file);
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(page, 1, sizeof page - 1, f) : 0;
        page[n] = 0;
        if (f) fclose(f);
        assert_int_equal(run(STDOUT, "%s --markdown", pages[i].command), 0);
        assert_prints("do not edit");
        if (strcmp(page, out) != 0)
            fail_msg("%s is stale; make it again: lengthen %s --markdown > %s", pages[i].file,
                     pages[i].command, pages[i].file);
    }
}

static void bench_measures_tasks(void **state)
{
    (void)state;
    int wanted = 0;
    for (int i = 0; i < lg_task_count(); i++) wanted += !own_data(lg_task_info_at(i));
    assert_int_equal(run(STDOUT, "bench --only task --seconds 0.01 --json"), 0);
    assert_int_equal(json_lines(), wanted);
    assert_prints("{\"bench\":\"task\",\"name\":\"copy\",\"tokens_per_s\":");
    assert_int_equal(run(STDOUT, "bench --only task --seconds 0.01"), 0);
    assert_prints("\nparity-scratchpad ");
}

static void bench_measures_generation(void **state)
{
    (void)state;
    assert_int_equal(run(STDOUT, "bench --only generate --seconds 0.01 --threads 1 --json"), 0);
    assert_int_equal(json_lines(), 2);
    assert_prints("{\"bench\":\"generate\",\"shape\":\"text-w256-l6-1\",\"threads\":1,");
}

int main(void)
{
    lg_text_task_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_aligns),        cmocka_unit_test(sample_shows_every_task),
        cmocka_unit_test(sample_folds),         cmocka_unit_test(colour_is_for_terminals),
        cmocka_unit_test(sample_shows_ids),     cmocka_unit_test(same_seed_same_examples),
        cmocka_unit_test(json_is_data),         cmocka_unit_test(sample_refuses),
        cmocka_unit_test(sample_draws_pose),    cmocka_unit_test(lost_output_ends_it),
        cmocka_unit_test(tasks_lists_all),      cmocka_unit_test(positions_lists_all),
        cmocka_unit_test(config_shows_keys),    cmocka_unit_test(pages_are_fresh),
        cmocka_unit_test(bench_measures_tasks), cmocka_unit_test(bench_measures_generation),
    };
    unsetenv("COLUMNS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
