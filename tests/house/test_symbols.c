/* test_symbols.c: what the rooms link, not only what they include: a declaration copied by hand, or a public
 * function of a room further up, would tie two rooms together behind the back of test_rooms.c. Reads the
 * symbols of the object files that this build has made (nm), and fails when a room uses one that is defined
 * in a room which its row in rooms.h does not name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "house/rooms.h"

enum { MOST = 1 << 16, NAME = 120, PATH = 400 };

struct symbol {
    char name[NAME], file[PATH];
    int room, defined;
};

static struct symbol symbols[MOST];
static int count;

/* The room of an object, "../src/ROOM/file.c.o", or -1. */
static int room_of(const char *path)
{
    const char *at = strstr(path, "/src/");
    for (int i = 0; at && i < ROOMS; i++) {
        size_t n = strlen(rooms[i].name);
        if (strncmp(at + 5, rooms[i].name, n) == 0 && at[5 + n] == '/') return i;
    }
    return -1;
}

/* "PATH:000 T name" or "PATH: U name". Local symbols, and those that a linker may go without, do not count. */
static void add_line(const char *line)
{
    char kind;
    struct symbol s = {.room = room_of(line)};
    const char *colon = strstr(line, ".o:");
    if (!colon || s.room < 0) return;
    const char *rest = colon + 3;
    while (*rest && strchr("0123456789abcdef ", *rest)) rest++;
    if (sscanf(rest, "%c %119s", &kind, s.name) != 2 || !strchr("UTDBRC", kind)) return;
    s.defined = kind != 'U';
    const char *file = strstr(line, "/src/");
    snprintf(s.file, sizeof s.file, "%.*s", (int)(colon - file), file);
    assert_true(count < MOST);
    symbols[count++] = s;
}

static int read_symbols(void **state)
{
    (void)state;
    char line[2000];
    FILE *f = popen("tr ';' '\\n' <'" LG_OBJECTS "' | xargs nm -A", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) add_line(line);
    return pclose(f);
}

/* Whether a room's row names the other one. */
static int may_link(int room, int other)
{
    const char *name = rooms[other].name;
    size_t n = strlen(name);
    if (room == other || strcmp(rooms[room].name, "cli") == 0) return 1;
    for (int i = 0; rooms[room].may[i]; i++)
        if (strncmp(rooms[room].may[i], name, n) == 0 && rooms[room].may[i][n] == '/') return 1;
    for (int i = 0; rooms[room].links[i]; i++)
        if (strcmp(rooms[room].links[i], name) == 0) return 1;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : y->defined - x->defined;
}

static void rooms_link_what_their_rows_name(void **state)
{
    (void)state;
    int findings = 0, links = 0;
    qsort(symbols, (size_t)count, sizeof *symbols, by_name);
    for (int from = 0, to; from < count; from = to) {
        for (to = from; to < count && strcmp(symbols[to].name, symbols[from].name) == 0;) to++;
        if (!symbols[from].defined) continue; /* of a library */
        for (int i = from + 1; i < to; i++) {
            const struct symbol *user = &symbols[i];
            links += user->room != symbols[from].room;
            if (may_link(user->room, symbols[from].room)) continue;
            print_error("%s: room %s links %s, which is in %s\n", user->file,
                        rooms[user->room].name, user->name, symbols[from].file);
            findings++;
        }
    }
    assert_true(links > 1000); /* there was something to see */
    assert_int_equal(findings, 0);
}

/* No room may use one that is further up, so that there is no cycle. */
/* memory.c says which rooms allocate through it alone. */
static void these_rooms_allocate_through_memory_c(void **state)
{
    (void)state;
    static const char *const strict[] = {"base",    "engine",  "positions", "formats",
                                         "measure", "certify", "training"};
    static const char *const others[] = {
        "malloc",          "calloc",         "realloc",  "reallocarray",   "strdup",
        "__strdup",        "strndup",        "asprintf", "__asprintf_chk", "vasprintf",
        "__vasprintf_chk", "posix_memalign", "getline",  "__getdelim",     "aligned_alloc",
        "open_memstream",  "scandir"};
    int wrong = 0, seen = 0;
    for (int i = 0; i < count; i++) {
        const struct symbol *s = &symbols[i];
        int keeps = 0, allocates = 0;
        for (size_t k = 0; k < sizeof strict / sizeof *strict; k++)
            keeps |= strcmp(rooms[s->room].name, strict[k]) == 0;
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            allocates |= strcmp(s->name, others[k]) == 0;
        if (!keeps || !allocates || s->defined) continue;
        if (strstr(s->file, "base/memory.c")) {
            seen = 1;
            continue;
        }
        print_error("%s uses %s; take base/memory.h\n", s->file, s->name);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_true(seen); /* else the names of the symbols are other ones */
}

/* A user's program has its own `add` and `gemm`: whatever the library defines for the linker begins with lg_.
 * Names with two underscores are the compiler's (sanitizers). */
static void the_library_defines_lg_names_alone(void **state)
{
    (void)state;
    char line[2000], name[NAME];
    int wrong = 0, seen = 0;
    FILE *f = popen("nm -gA --defined-only '" LG_LIBRARY "'", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        const char *last = strrchr(line, ' ');
        if (!last || sscanf(last, "%119s", name) != 1 || strncmp(name, "__", 2) == 0) continue;
        seen++;
        if (strncmp(name, "lg_", 3) == 0) continue;
        print_error("%s", line);
        wrong++;
    }
    assert_int_equal(pclose(f), 0);
    assert_true(seen > 500); /* kernels too */
    assert_int_equal(wrong, 0);
}

static void the_table_has_no_cycle(void **state)
{
    (void)state;
    for (int room = 0; room < ROOMS; room++)
        for (int other = room + 1; other < ROOMS; other++)
            if (strcmp(rooms[room].name, "cli") != 0 && may_link(room, other))
                fail_msg("%s may use %s, which is further up", rooms[room].name, rooms[other].name);
}

/* The rules are those of the table, and nothing passes unseen. */
static void wrong_links_are_seen(void **state)
{
    (void)state;
    int engine = room_of("x/src/engine/model.c.o:"), positions = room_of("x/src/positions/t.c.o:");
    int tasks = room_of("x/src/tasks/t.c.o:"), runs = room_of("x/src/runs/t.c.o:");
    assert_true(engine > 0 && positions > 0 && tasks > 0 && runs > 0);
    assert_false(may_link(engine, positions));
    assert_true(may_link(positions, engine) && may_link(positions, tasks));
    assert_false(may_link(tasks, runs) || may_link(tasks, positions));
    int before = count;
    add_line("b/src/engine/model.c.o:                 U lg__encodings\n");
    add_line("b/src/engine/model.c.o:0000000000000120 t find\n");
    add_line("b/src/engine/model.c.o:0000000000000120 T lg_model_free\n");
    assert_int_equal(count - before, 2);
    assert_true(!symbols[before].defined && symbols[before + 1].defined);
    assert_string_equal(symbols[before].name, "lg__encodings");
    assert_int_equal(symbols[before].room, engine);
    count = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(these_rooms_allocate_through_memory_c),
        cmocka_unit_test(the_library_defines_lg_names_alone),
        cmocka_unit_test(the_table_has_no_cycle),
        cmocka_unit_test(wrong_links_are_seen),
        cmocka_unit_test(rooms_link_what_their_rows_name),
    };
    return cmocka_run_group_tests(tests, read_symbols, NULL);
}
