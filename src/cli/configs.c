/* configs.c: the configs that come with the program: in the folder experiments here, or where it is installed. */
#include "cli/configs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATH = 4096, MOST = 64, NAME = 64 };

const char *lg_cli_experiments(void)
{
    static const char *const beside[] = {"../share/lengthen/experiments", "../experiments"};
    static char path[PATH + 64];
    char program[PATH];
    if (access("experiments", R_OK) == 0) return "experiments";
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, beside[i]);
        if (access(path, R_OK) == 0) return path;
    }
    return "experiments";
}

struct config {
    char name[NAME];
    char line[200]; /* what its first comment asks */
};

/* Whether a file is a config, not a sweep or an experiment: it has the map task at its outermost level. */
static int read_config(const char *folder, const char *file, struct config *c)
{
    char path[PATH], line[400];
    int task = 0;
    const char *dot = strrchr(file, '.');
    if (!dot || strcmp(dot, ".yaml") != 0 || (size_t)(dot - file) >= sizeof c->name) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    *c = (struct config){0};
    while (f && fgets(line, sizeof line, f)) {
        task |= strncmp(line, "task:", 5) == 0;
        if (line[0] == '#' && !c->line[0])
            snprintf(c->line, sizeof c->line, "%.*s", (int)strcspn(line + 2, "?\n"), line + 2);
    }
    if (f) fclose(f);
    snprintf(c->name, sizeof c->name, "%.*s", (int)(dot - file), file);
    return task;
}

/* Those of the folder, by name. */
static int find_configs(struct config *list)
{
    struct dirent **entry;
    const char *folder = lg_cli_experiments();
    int n = scandir(folder, &entry, NULL, alphasort), count = 0;
    for (int i = 0; i < n; i++) {
        if (count < MOST && read_config(folder, entry[i]->d_name, &list[count])) count++;
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return count;
}

int lg_cli_configs_list(const char *command)
{
    struct config list[MOST];
    int count = find_configs(list), width = 0;
    fprintf(stderr, "lengthen %s: which config? Give a YAML file%s\n", command,
            count ? ", - for the standard input, or one of these:" : "");
    for (int i = 0; i < count; i++)
        if ((int)strlen(list[i].name) > width) width = (int)strlen(list[i].name);
    for (int i = 0; i < count; i++) {
        size_t room = (size_t)(74 - width), n = strlen(list[i].line);
        fprintf(stderr, "  %-*s  %.*s%s\n", width, list[i].name, (int)(n > room ? room : n),
                list[i].line, n > room ? ".." : "?");
    }
    fprintf(stderr, "See lengthen %s --help.\n", command);
    return LG_EXIT_USE;
}

/* The standard input as a file of its own, which is removed at the end. */
static char copy[] = "/tmp/lengthen-config-XXXXXX";
static void remove_copy(void) { unlink(copy); }

static int copy_input(const char *command, char *path, size_t size)
{
    size_t n;
    char *text = lg_cli_read_all(command, "-", &n);
    int fd = text ? mkstemp(copy) : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    int bad = !f || fwrite(text, 1, n, f) != n;
    if (f && fclose(f)) bad = 1;
    if (f) atexit(remove_copy);
    free(text);
    snprintf(path, size, "%s", copy);
    return bad ? lg_cli_wrong(command, "the config could not be taken from the standard input: %s",
                              strerror(errno))
               : 0;
}

int lg_cli_config_file(const char *command, const char *name, char *path, size_t size)
{
    struct config list[MOST];
    const char *names[MOST];
    if (strcmp(name, "-") == 0) return copy_input(command, path, size);
    snprintf(path, size, "%s", name);
    if (access(name, R_OK) == 0) return 0;
    int error = errno, count = find_configs(list);
    for (int i = 0; i < count; i++) {
        names[i] = list[i].name;
        if (strcmp(names[i], name) != 0) continue;
        snprintf(path, size, "%s/%s.yaml", lg_cli_experiments(), name);
        return 0;
    }
    const char *nearest = strpbrk(name, "/.") ? NULL : lg_cli_nearest(name, names, count);
    return lg_cli_wrong(command, "the config %s cannot be read: %s%s%s%s", name, strerror(error),
                        nearest ? "; did you mean " : "", nearest ? nearest : "",
                        nearest ? "?" : "");
}
