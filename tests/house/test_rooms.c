/* test_rooms.c: keeps the order of the house (docs/MAP.md). Reads every source file and
 * fails when
 *   - a room includes what its row in rooms.h does not allow,
 *   - sqlite3.h or mpi.h is included in more than one file,
 *   - a file in src/, include/ or tests/ is over 800 lines,
 *   - library code (all but cli/) prints or ends the process.
 * The same inspection runs on small made-up trees that break one rule each. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "house/rooms.h"

enum { MOST_LINES = 800, PATH = 1024, CLI_FILES = 50, CLI_LINES = 12000 };

static const char *const once[] = {"sqlite3.h", "mpi.h"};
enum { ONCE = sizeof once / sizeof *once };

static const char *const forbidden_calls[] = {"printf", "vprintf",   "puts",  "putchar",
                                              "perror", "exit",      "_exit", "_Exit",
                                              "abort",  "quick_exit"};
static const char *const forbidden_names[] = {"stdout", "stderr"};

struct inspection {
    const char *root;
    int files;
    int findings;
    char text[16384]; /* one line a finding */
    char first[ONCE][PATH];
};

static void find(struct inspection *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void find(struct inspection *in, const char *format, ...)
{
    size_t used = strlen(in->text);
    va_list args;
    va_start(args, format);
    vsnprintf(in->text + used, sizeof in->text - used, format, args);
    va_end(args);
    used = strlen(in->text);
    snprintf(in->text + used, sizeof in->text - used, "\n");
    in->findings++;
}

static const struct room *room_named(const char *name, size_t length)
{
    for (int i = 0; i < ROOMS; i++) {
        if (strlen(rooms[i].name) == length && strncmp(rooms[i].name, name, length) == 0)
            return &rooms[i];
    }
    return NULL;
}

static int is_file(const char *root, const char *folder, const char *name)
{
    char path[3 * PATH];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* `what` as in the include line; room NULL: a public header. */
static void check_include(struct inspection *in, const char *file, int line,
                          const struct room *room, const char *what, int quoted)
{
    for (int i = 0; i < ONCE; i++) {
        if (strcmp(what, once[i]) != 0) continue;
        if (in->first[i][0] && strcmp(in->first[i], file) != 0)
            find(in, "%s:%d: includes %s, which %s does already: one file only", file, line, what,
                 in->first[i]);
        snprintf(in->first[i], sizeof in->first[i], "%s", file);
        return;
    }
    if (strncmp(what, "./", 2) == 0 || strstr(what, "../")) {
        find(in, "%s:%d: includes \"%s\": write the path from src/", file, line, what);
        return;
    }
    const char *slash = strchr(what, '/');
    const struct room *other = slash ? room_named(what, (size_t)(slash - what)) : NULL;
    if (!other) {
        if (quoted && !is_file(in->root, "include", what)) {
            char folder[PATH];
            snprintf(folder, sizeof folder, "src/%s", room ? room->name : "");
            if (!room || slash || !is_file(in->root, folder, what))
                find(in, "%s:%d: includes \"%s\", which is neither of its room nor public", file,
                     line, what);
        }
        return;
    }
    if (!room) {
        find(in, "%s:%d: a public header includes \"%s\"", file, line, what);
        return;
    }
    if (other == room) return;
    for (int i = 0; room->may[i]; i++) {
        size_t length = strlen(room->may[i]);
        if (room->may[i][length - 1] == '/' ? strncmp(what, room->may[i], length) == 0
                                            : strcmp(what, room->may[i]) == 0)
            return;
    }
    find(in, "%s:%d: room %s may not include \"%s\"", file, line, room->name, what);
}

/* Blanks comments, and with strings set also what stands between quotes; the lines stay. */
static void blank(char *s, int strings)
{
    for (size_t i = 0; s[i];) {
        if (s[i] == '/' && s[i + 1] == '/') {
            while (s[i] && s[i] != '\n') s[i++] = ' ';
        } else if (s[i] == '/' && s[i + 1] == '*') {
            s[i] = s[i + 1] = ' ';
            for (i += 2; s[i] && !(s[i] == '*' && s[i + 1] == '/'); i++)
                s[i] = s[i] == '\n' ? '\n' : ' ';
            if (s[i]) s[i] = s[i + 1] = ' ';
        } else if (s[i] == '"' || s[i] == '\'') {
            char quote = s[i++];
            while (s[i] && s[i] != quote && s[i] != '\n') {
                size_t step = s[i] == '\\' && s[i + 1] ? 2 : 1;
                for (size_t j = 0; strings && j < step; j++)
                    s[i + j] = s[i + j] == '\n' ? '\n' : ' ';
                i += step;
            }
            i += s[i] == quote;
        } else {
            i++;
        }
    }
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void check_calls(struct inspection *in, const char *file, const char *code)
{
    int line = 1;
    for (const char *s = code; *s;) {
        if (!is_name(*s)) {
            line += *s++ == '\n';
            continue;
        }
        const char *start = s;
        while (is_name(*s)) s++;
        size_t length = (size_t)(s - start);
        const char *next = s;
        while (*next == ' ') next++;
        int member = start > code && (start[-1] == '.' || start[-1] == '>');
        for (size_t i = 0; i < sizeof forbidden_calls / sizeof *forbidden_calls; i++) {
            if (!member && *next == '(' && strlen(forbidden_calls[i]) == length &&
                strncmp(start, forbidden_calls[i], length) == 0)
                find(in, "%s:%d: calls %s: the library reports, only cli/ prints or exits", file,
                     line, forbidden_calls[i]);
        }
        for (size_t i = 0; i < sizeof forbidden_names / sizeof *forbidden_names; i++) {
            if (strlen(forbidden_names[i]) == length &&
                strncmp(start, forbidden_names[i], length) == 0)
                find(in, "%s:%d: uses %s: the library reports, only cli/ prints or exits", file,
                     line, forbidden_names[i]);
        }
    }
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc((size_t)size + 2, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    return text;
}

/* The text of a file that is not too long, or is said to be; `file` is the path from the root. */
static char *read_short(struct inspection *in, const char *file)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", in->root, file);
    char *text = read_all(path);
    in->files++;

    int lines = 0;
    for (const char *s = text; *s; s++)
        lines += *s == '\n' || s[1] == '\0'; /* a last line without an end counts */
    if (lines > MOST_LINES)
        find(in, "%s: has %d lines: split it, at most %d", file, lines, MOST_LINES);
    return text;
}

static void inspect_file(struct inspection *in, const char *file, const struct room *room)
{
    char *text = read_short(in, file);
    blank(text, 0);
    int line = 1;
    for (char *s = text; s; line++) {
        char *end = strchr(s, '\n');
        char open, what[256];
        if (sscanf(s, " # include %c%255[^\">\n]", &open, what) == 2 &&
            strspn(s, " \t") == (size_t)(strchr(s, '#') - s) && (open == '"' || open == '<'))
            check_include(in, file, line, room, what, open == '"');
        s = end ? end + 1 : NULL;
    }
    blank(text, 1);
    if (!room || strcmp(room->name, "cli") != 0) check_calls(in, file, text);
    free(text);
}

static int is_source(const char *name)
{
    size_t n = strlen(name);
    return (n > 2 && name[n - 2] == '.' && (name[n - 1] == 'c' || name[n - 1] == 'h')) ||
           (n > 4 && strcmp(name + n - 4, ".def") == 0); /* rows of a table */
}

/* depth 0: src/ itself, whose folders are the rooms; 1: a room; include/ has no room. */
static void inspect_folder(struct inspection *in, const char *folder, int depth,
                           const struct room *room)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", in->root, folder);
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        char sub[PATH], full[3 * PATH];
        struct stat st;
        snprintf(sub, sizeof sub, "%s/%s", folder, name);
        snprintf(full, sizeof full, "%s/%s", in->root, sub);
        if (name[0] != '.' && stat(full, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth == 0) {
                const struct room *inner = room_named(name, strlen(name));
                if (inner)
                    inspect_folder(in, sub, 1, inner);
                else
                    find(in,
                         "%s: is not a room: give it a row in tests/house/rooms.h "
                         "and docs/MAP.md",
                         sub);
            } else if (S_ISDIR(st.st_mode)) {
                find(in, "%s: rooms have one level: no folder in them", sub);
            } else if (is_source(name) && depth == 0) {
                find(in, "%s: lies in no room", sub);
            } else if (is_source(name)) {
                inspect_file(in, sub, room);
            }
        }
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

/* Tests may include and print what they like, at any depth, but not be long. */
static void inspect_tests(struct inspection *in, const char *folder)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", in->root, folder);
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        char sub[PATH], full[3 * PATH];
        struct stat st;
        snprintf(sub, sizeof sub, "%s/%s", folder, name);
        snprintf(full, sizeof full, "%s/%s", in->root, sub);
        if (name[0] != '.' && stat(full, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                inspect_tests(in, sub);
            else if (is_source(name))
                free(read_short(in, sub));
        }
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

static void inspect(struct inspection *in, const char *root)
{
    *in = (struct inspection){.root = root};
    inspect_folder(in, "include", 1, NULL);
    inspect_folder(in, "src", 0, NULL);
    inspect_tests(in, "tests");
}

/* A room that one can see: at most 25 .c files and 6,000 lines; cli/, with a file per command, and engine/, whose
 * kernels are long, may be larger. */
static void rooms_are_small(void **state)
{
    (void)state;
    for (int i = 0; i < ROOMS; i++) {
        char path[PATH], file[2 * PATH];
        int files = 0, lines = 0, cli = strcmp(rooms[i].name, "cli") == 0;
        if (strcmp(rooms[i].name, "engine") == 0) continue;
        snprintf(path, sizeof path, "%s/src/%s", LG_SOURCE_DIR, rooms[i].name);
        struct dirent **entry;
        int n = scandir(path, &entry, NULL, alphasort);
        if (n < 0) fail_msg("there is no room %s", path);
        for (int k = 0; k < n; k++) {
            snprintf(file, sizeof file, "%s/%s", path, entry[k]->d_name);
            char *text = is_source(entry[k]->d_name) ? read_all(file) : NULL;
            for (const char *s = text; s && *s; s++) lines += *s == '\n';
            files += text && file[strlen(file) - 1] == 'c';
            free(text);
            free(entry[k]);
        }
        free(entry);
        if (files > (cli ? CLI_FILES : 25) || lines > (cli ? CLI_LINES : 6000))
            fail_msg("room %s has %d .c files and %d lines", rooms[i].name, files, lines);
    }
}

/* ---- this tree ---- */

static void this_house_is_in_order(void **state)
{
    (void)state;
    static struct inspection in;
    inspect(&in, LG_SOURCE_DIR);
    assert_true(in.files > 10);
    if (in.findings) fail_msg("%d findings:\n%s", in.findings, in.text);
}

/* ---- made-up trees ---- */

static char root[64];

static void put(const char *path, const char *text)
{
    char full[PATH];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')) != NULL; s++) {
        *s = '\0';
        if (mkdir(full, 0700) != 0) assert_int_equal(errno, EEXIST);
        *s = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The file, and its folder if it was alone there. */
static void take_away(const char *path)
{
    char full[PATH];
    snprintf(full, sizeof full, "%s/%s", root, path);
    assert_int_equal(remove(full), 0);
    *strrchr(full, '/') = '\0';
    (void)rmdir(full);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int end_tree(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A tree in order, with all that looks wrong and is not. */
static int begin_tree(void **state)
{
    (void)state;
    strcpy(root, "/tmp/lengthen-house-XXXXXX");
    if (!mkdtemp(root)) return -1;
    put("include/lengthen.h", "#include <stdint.h>\nint lg_x(void);\n");
    put("src/base/error.h", "#include \"lengthen.h\"\n");
    put("src/base/error.c", "#include \"error.h\"\n#include \"base/error.h\"\n"
                            "#include <mpi.h>\n"
                            "/* printf(\"x\") and exit(1) are\n for cli */ // abort();\n"
                            "int f(char *s) { return snprintf(s, 2, \"\\\" exit(1) stderr\"); }\n"
                            "int g(char c) { return c == '\"' || lg_exit(1) || p->exit(2); }\n");
    put("src/engine/kernels.h", "#include \"base/error.h\"\n");
    put("src/engine/position.h", "//#include \"runs/store.h\"\n/*\n#include \"cli/cli.h\"\n*/\n");
    put("src/positions/rope.c", "#include \"engine/position.h\"\n#include \"engine/kernels.h\"\n");
    put("src/tasks/parity.h", "#include \"base/error.h\"\n");
    put("src/theory/planted.c", "#include \"tasks/parity.h\"\n");
    put("src/runs/store.h", "#include \"engine/kernels.h\"\n#include \"theory/t.h\"\n");
    put("src/runs/store.c", "#include \"runs/store.h\"\n# include <sqlite3.h>\n");
    put("src/report/html.c", "#include \"runs/store.h\"\n#include \"base/error.h\"\n");
    put("src/cli/cli.h", "\n");
    put("src/cli/main.c", "#include \"cli/cli.h\"\n#include \"lengthen.h\"\n"
                          "int main(void) { printf(\"x\"); exit(1); }\n");
    put("tests/report/helper.h", "#include \"engine/kernels.h\"\n#include \"../cli/cli.h\"\n");
    put("tests/report/test_html.c", "#include \"helper.h\"\n#include <mpi.h>\n"
                                    "#include <sqlite3.h>\n"
                                    "int main(void) { fprintf(stderr, \"x\"); abort(); }\n");
    put("tests/data/made/a.c", "int x;\n"); /* is no room, and has no rooms' depth */
    return 0;
}

static void a_house_in_order_passes(void **state)
{
    (void)state;
    static struct inspection in;
    inspect(&in, root);
    if (in.findings) fail_msg("%d findings:\n%s", in.findings, in.text);
    assert_int_equal(in.files, 16);
}

static void each_rule_can_be_broken(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *finding;
    } cases[] = {
        {"src/base/a.c", "#include \"engine/kernels.h\"\n", "base may not include"},
        {"src/base/a.c", "int x;\n  #  include \"tasks/parity.h\"\n", "a.c:2: room base"},
        {"src/base/a.c", "#include <tasks/parity.h>\n", "base may not include"},
        {"src/engine/a.h", "#include \"positions/p.h\"\n", "engine may not include"},
        {"src/engine/a.c", "/* ok */ #include \"runs/store.h\"\n", "engine may not include"},
        {"src/positions/a.c", "#include \"engine/model.h\"\n", "positions may not include"},
        {"src/tasks/a.c", "#include \"engine/kernels.h\"\n", "tasks may not include"},
        {"src/text/a.c", "#include \"tasks/parity.h\"\n", "text may not include"},
        {"src/theory/a.c", "#include \"engine/kernels.h\"\n", "theory may not include"},
        {"src/formats/a.c", "#include \"runs/store.h\"\n", "formats may not include"},
        {"src/runs/a.c", "#include \"measure/eval.h\"\n", "runs may not include"},
        {"src/measure/a.c", "#include \"certify/contexts.h\"\n", "measure may not include"},
        {"src/certify/a.c", "#include \"training/train.h\"\n", "certify may not include"},
        {"src/training/a.c", "#include \"study/sweep.h\"\n", "training may not include"},
        {"src/study/a.c", "#include \"engine/model.h\"\n", "study may not include"},
        {"src/report/a.c", "#include \"engine/kernels.h\"\n", "report may not include"},
        {"src/report/a.c", "#include \"runs/run.h\"\n", "report may not include"},
        {"src/cli/a.c", "#include \"base/error.h\"\n", "cli may not include"},
        {"include/extra.h", "#include \"base/error.h\"\n", "a public header includes"},
        {"src/engine/a.c", "#include \"../base/error.h\"\n", "write the path from src/"},
        {"src/engine/a.c", "#include \"error.h\"\n", "neither of its room nor public"},
        {"src/base/a.c", "#include <mpi.h>\n", "includes mpi.h, which"},
        {"src/report/a.c", "#include \"sqlite3.h\"\n", "includes sqlite3.h, which"},
        {"src/base/a.c", "void f(void) { printf(\"x\"); }\n", "a.c:1: calls printf"},
        {"src/runs/a.c", "/*\n*/ int x = '\"';\nvoid f(void) { puts (\"\"); }\n", "3: calls puts"},
        {"src/tasks/a.c", "void f(void) { exit(1); }\n", "calls exit"},
        {"src/engine/a.h", "static void f(void) { abort(); }\n", "calls abort"},
        {"src/text/a.c", "void f(void) { fprintf(stderr, \"\"); }\n", "uses stderr"},
        {"src/attic/a.c", "int x;\n", "is not a room"},
        {"src/a.c", "int x;\n", "lies in no room"},
        {"src/engine/avx/a.c", "int x;\n", "rooms have one level"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct inspection in;
        put(cases[i].path, cases[i].text);
        inspect(&in, root);
        if (in.findings != 1 || !strstr(in.text, cases[i].finding))
            fail_msg("case %zu: wanted \"%s\" alone, got %d:\n%s", i, cases[i].finding, in.findings,
                     in.text);
        take_away(cases[i].path);
    }
}

static void long_files_are_found(void **state)
{
    (void)state;
    static char text[MOST_LINES + 2];
    static struct inspection in;
    memset(text, '\n', MOST_LINES);
    put("src/cli/long.c", text);
    inspect(&in, root);
    assert_int_equal(in.findings, 0);
    text[MOST_LINES] = 'x'; /* line 801, unfinished */
    put("src/cli/long.c", text);
    inspect(&in, root);
    assert_int_equal(in.findings, 1);
    assert_non_null(strstr(in.text, "src/cli/long.c: has 801 lines"));
}

static void long_tests_are_found(void **state)
{
    (void)state;
    static const char *const files[] = {"tests/cli/test_long.c", "tests/cli/long.h",
                                        "tests/data/made/long.c"};
    static char text[MOST_LINES + 2];
    static struct inspection in;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char says[100];
        memset(text, '\n', MOST_LINES);
        text[MOST_LINES] = '\0';
        put(files[i], text);
        inspect(&in, root);
        assert_int_equal(in.findings, 0);
        text[MOST_LINES] = 'x';
        put(files[i], text);
        inspect(&in, root);
        assert_int_equal(in.findings, 1);
        snprintf(says, sizeof says, "%s: has 801 lines", files[i]);
        assert_non_null(strstr(in.text, says));
        take_away(files[i]);
    }
    put("tests/data/long.py", text); /* no C */
    inspect(&in, root);
    assert_int_equal(in.findings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_house_is_in_order),
        cmocka_unit_test(rooms_are_small),
        cmocka_unit_test_setup_teardown(a_house_in_order_passes, begin_tree, end_tree),
        cmocka_unit_test_setup_teardown(each_rule_can_be_broken, begin_tree, end_tree),
        cmocka_unit_test_setup_teardown(long_files_are_found, begin_tree, end_tree),
        cmocka_unit_test_setup_teardown(long_tests_are_found, begin_tree, end_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
