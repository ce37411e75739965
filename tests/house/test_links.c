/* test_links.c: every relative link and image of the Markdown pages leads to a file or folder that is there,
 * and one with an anchor to a heading of that page. The same inspection runs on a made-up tree. */
#include <ctype.h>
#include <dirent.h>
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

enum { PATH = 4096, PAGE = 1 << 20 };

struct inspection {
    int pages, links, broken;
    char text[16384]; /* one line per broken link */
};

static int is_page(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".md") == 0;
}

/* The page, without fenced code; the caller frees it. */
static char *read_page(const char *path)
{
    char *page = calloc(1, PAGE), line[8192];
    FILE *f = fopen(path, "r");
    assert_non_null(page);
    if (!f) fail_msg("cannot read %s", path);
    size_t used = 0;
    for (int fenced = 0; fgets(line, sizeof line, f);) {
        if (strncmp(line, "```", 3) == 0) fenced = !fenced;
        size_t n = strlen(line);
        if (fenced) continue;
        assert_true(used + n < PAGE);
        memcpy(page + used, line, n);
        used += n;
    }
    fclose(f);
    return page;
}

/* The anchor that a heading gets: lower case, no punctuation, spaces as '-'. */
static int has_heading(const char *page, const char *anchor)
{
    for (const char *at = page; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        if (*at != '#') continue;
        char slug[512];
        size_t n = 0;
        const char *c = at + strspn(at, "# ");
        for (; *c && *c != '\n' && n + 1 < sizeof slug; c++) {
            unsigned char u = (unsigned char)*c;
            if (isalnum(u) || u >= 128 || u == '-' || u == '_') slug[n++] = (char)tolower(u);
            if (u == ' ') slug[n++] = '-';
        }
        slug[n] = 0;
        if (strcmp(slug, anchor) == 0) return 1;
    }
    return 0;
}

static void check_link(struct inspection *in, const char *file, const char *folder,
                       const char *link)
{
    char path[2 * PATH], target[PATH];
    struct stat st;
    if (strstr(link, "://") || strncmp(link, "mailto:", 7) == 0) return;
    in->links++;
    snprintf(target, sizeof target, "%s", link);
    char *anchor = strchr(target, '#');
    if (anchor) *anchor++ = 0;
    if (*target)
        snprintf(path, sizeof path, "%s/%s", folder, target);
    else
        snprintf(path, sizeof path, "%s", file);
    int there = stat(path, &st) == 0;
    if (there && anchor && is_page(path)) {
        char *page = read_page(path);
        there = has_heading(page, anchor);
        free(page);
    }
    if (there) return;
    in->broken++;
    size_t used = strlen(in->text);
    snprintf(in->text + used, sizeof in->text - used, "%s: %s\n", file, link);
}

static void check_page(struct inspection *in, const char *file, const char *folder)
{
    char *page = read_page(file);
    in->pages++;
    for (char *at = page; (at = strstr(at, "](")) != NULL;) {
        at += 2;
        char close = ')';
        if (*at == '<') close = '>', at++;
        char *end = strchr(at, close);
        if (!end) break;
        *end = 0;
        check_link(in, file, folder, at);
        at = end + 1;
    }
    free(page);
}

/* Hidden and build folders are not read. */
static void check_folder(struct inspection *in, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) fail_msg("cannot open %s", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[PATH];
        struct stat st;
        if (e->d_name[0] == '.' || strncmp(e->d_name, "build", 5) == 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (stat(path, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) check_folder(in, path);
        if (S_ISREG(st.st_mode) && is_page(path)) check_page(in, path, folder);
    }
    closedir(dir);
}

static void every_link_leads_somewhere(void **state)
{
    (void)state;
    struct inspection in = {0};
    check_folder(&in, LG_SOURCE_DIR);
    if (in.broken) fail_msg("%d of %d links are broken:\n%s", in.broken, in.links, in.text);
    assert_true(in.pages > 10);
    assert_true(in.links > 100);
}

static void broken_links_are_found(void **state)
{
    (void)state;
    char folder[] = "/tmp/lengthen-links-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.md", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("# One heading, here\n[a](a.md) [b](<a.md>) [c](#one-heading-here) [d](https://x.y/z)\n"
          "```\n[code](nowhere)\n```\n![e](gone.svg) [f](a.md#no-such) [g](<gone too.md>)\n",
          f);
    fclose(f);
    struct inspection in = {0};
    check_folder(&in, folder);
    unlink(path);
    rmdir(folder);
    assert_int_equal(in.pages, 1);
    assert_int_equal(in.links, 6);
    assert_int_equal(in.broken, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_leads_somewhere),
        cmocka_unit_test(broken_links_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
