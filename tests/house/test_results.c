/* test_results.c: numbers of a results page that a script makes of committed rows are what it prints, and
 * every folder of results/ has a page that the table of claims links to. Without it a number that was rounded
 * or copied by hand stays wrong, and a new experiment has no row. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char page[1 << 18];

static void read_page(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/results/%s", LG_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("there is no results/%s", name);
    size_t n = fread(page, 1, sizeof page - 1, f);
    page[n] = 0;
    fclose(f);
    assert_in_range(n, 1, sizeof page - 2);
}

static void the_table_of_the_bridge(void **state)
{
    (void)state;
    char line[400];
    int rows = 0;
    read_page("theory-bridge/README.md");
    FILE *f = popen(LG_SOURCE_DIR "/scripts/bridge 300", "r");
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); rows++)
        if (!strstr(page, line))
            fail_msg("results/theory-bridge/README.md does not have: %s", line);
    assert_int_equal(pclose(f), 0);
    assert_int_equal(rows, 6);
}

static void every_folder_has_a_page(void **state)
{
    (void)state;
    int folders = 0;
    DIR *dir = opendir(LG_SOURCE_DIR "/results");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char name[512];
        if (strchr(e->d_name, '.')) continue; /* no folder of an experiment */
        snprintf(name, sizeof name, "%s/README.md", e->d_name);
        read_page(name);
        read_page("README.md");
        int n = snprintf(name, sizeof name, "](%s", e->d_name), linked = 0;
        for (const char *at = page; (at = strstr(at, name)) != NULL && !linked; at++)
            linked = at[n] == ')' || at[n] == '/';
        if (!linked) fail_msg("results/README.md has no row for %s: link to it there", e->d_name);
        folders++;
    }
    closedir(dir);
    assert_true(folders >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_the_bridge),
        cmocka_unit_test(every_folder_has_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
