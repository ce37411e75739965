/* paths.c: paths in which ~ and variables stand, so that the file of an experiment finds the user's
 * texts wherever they are. */
#include "base/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct place {
    const char *variable, *below;
};

/* The first of three places whose variable is set. */
static int find_folder(const struct place places[3], char *folder, size_t size)
{
    for (int i = 0; i < 3; i++) {
        const char *place = getenv(places[i].variable);
        if (!place || !*place) continue;
        int n = snprintf(folder, size, "%s%s", place, places[i].below);
        return n > 0 && (size_t)n < size;
    }
    return 0;
}

int lg__cache_folder(char *folder, size_t size)
{
    static const struct place places[] = {
        {"LENGTHEN_CACHE", ""}, {"XDG_CACHE_HOME", "/lengthen"}, {"HOME", "/.cache/lengthen"}};
    return find_folder(places, folder, size);
}

int lg__state_folder(char *folder, size_t size)
{
    static const struct place places[] = {{"LENGTHEN_STATE", ""},
                                          {"XDG_STATE_HOME", "/lengthen"},
                                          {"HOME", "/.local/state/lengthen"}};
    return find_folder(places, folder, size) && folder[0] == '/';
}

/* What the name of a variable stands for; NULL: nothing. */
static const char *value_of(const char *name, char text[PATH_MAX])
{
    const char *value = getenv(name);
    if (value && *value) return value;
    if (strcmp(name, "LENGTHEN_TEXT") != 0 || !lg__cache_folder(text, PATH_MAX - 8)) return NULL;
    memcpy(text + strlen(text), "/text", sizeof "/text");
    return text;
}

/* One path; *n is the bytes of its beginning that the value is in place of. */
static int beginning(const char *path, size_t all, const char **value, size_t *n,
                     char text[PATH_MAX], lg_error *err)
{
    char name[100] = "HOME";
    *value = "";
    *n = 0;
    while (*n < all && path[*n] != '/') ++*n;
    int home = *n == 1 && *path == '~';
    if (!home && (*path != '$' || *n < 2 || *n > sizeof name)) {
        *n = 0;
        return 0;
    }
    if (!home) snprintf(name, sizeof name, "%.*s", (int)*n - 1, path + 1);
    *value = value_of(name, text);
    if (*value) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the path %.*s begins with %.*s, but the variable %s is not set; set it, or "
                    "write the path out",
                    all > 200 ? 200 : (int)all, path, (int)*n, path, name);
}

int lg__paths_expand(const char *list, char **expanded, lg_error *err)
{
    char text[PATH_MAX];
    size_t used = 0;
    lg_buffer b = {0};
    int e = 0;
    for (const char *at = list; !e; at += used + 1) {
        const char *value;
        size_t all = strcspn(at, ","), cut;
        used = all;
        e = beginning(at, all, &value, &cut, text, err);
        if (!e) lg_buffer_print(&b, "%s%.*s%.1s", value, (int)(all - cut), at + cut, at + all);
        if (!at[all]) break;
    }
    *expanded = e ? NULL : lg_buffer_take(&b, NULL);
    lg_buffer_clear(&b);
    if (e || *expanded) return e;
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the names of texts; end other programs");
}

int lg__paths_check(const char *list, lg_error *err)
{
    static const char name[] = "$LENGTHEN_TEXT";
    char text[PATH_MAX];
    const char *folder = NULL;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, sizeof name - 1) == 0 && strchr("/,", at[sizeof name - 1]))
            folder = value_of(name + 1, text);
    if (!folder || access(folder, F_OK) == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.100s: there is no folder %.200s, which $LENGTHEN_TEXT stands for; "
                    "experiments/language/get-text makes it, or name texts of your own",
                    list, folder);
}
