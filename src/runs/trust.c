/* trust.c: one file per remembered run, STATE/trained/ID, which holds the name of its task. */
#include "runs/trust.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "runs/run.h"
#include "tasks/tasks.h"
#include "base/files.h"

enum { SHOWN = 200 };

/* 0: there is no state folder, or the ID is none. Only its digits may become part of a path. */
static int find_file(const char *id, char path[PATH_MAX])
{
    char folder[PATH_MAX - 64];
    if (strlen(id) != LG__RUN_ID - 1 || strspn(id, "0123456789abcdef") != LG__RUN_ID - 1) return 0;
    if (!lg__state_folder(folder, sizeof folder)) return 0;
    return snprintf(path, PATH_MAX, "%s/trained/%s", folder, id) < PATH_MAX;
}

static int is_remembered(const char *id, const char *task)
{
    char path[PATH_MAX], *text = NULL;
    if (!find_file(id, path) || lg__file_read(path, &text, NULL)) return 0;
    int same = text && strcmp(text, task) == 0;
    free(text);
    return same;
}

/* The command in one line: it is somebody else's text, and must not look like further sentences of ours. */
static void show_command(const char *task, char shown[SHOWN + 4])
{
    const char *command = strchr(task, ':') + 1;
    int cut = (int)strlen(command) > SHOWN;
    snprintf(shown, SHOWN + 4, "%.*s%s", SHOWN, command, cut ? " .." : "");
    for (char *c = shown; *c; c++)
        if (*c == '\n' || *c == '\t') *c = ' ';
}

int lg__trust_check(const struct lg__owner *owner, const char *task, lg_error *err)
{
    char shown[SHOWN + 4];
    if (!lg__task_executes(task) || (owner->access && owner->access->allow_exec) ||
        is_remembered(owner->id, task))
        return 0;
    show_command(task, shown);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.100s was not trained here by you, and opening its task would execute the "
                    "command `%s`; if you trust whoever made it, add --allow-exec",
                    owner->place, shown);
}

int lg__trust_remember(const char *id, const char *task, lg_error *err)
{
    char path[PATH_MAX], folder[PATH_MAX];
    if (!lg__task_executes(task) || is_remembered(id, task)) return 0;
    if (!find_file(id, path))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "there is no folder for the user's state; set HOME or LENGTHEN_STATE");
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    int e = lg__folder_make(folder, err);
    return e ? e : lg__file_write(path, task, err);
}

void lg__trust_forget(const char *id)
{
    char path[PATH_MAX];
    if (find_file(id, path)) unlink(path);
}
