/* common.c: the small things that several commands need. */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "lengthen.h"

const char *lg_cli_store(const char *option)
{
    const char *named = getenv("LENGTHEN_STORE");
    return option ? option : named && *named ? named : "lengthen.db";
}

const char *lg_cli_nearest(const char *word, const char *const *names, int n)
{
    int at = lg_nearest(word, names, n);
    return at < 0 ? NULL : names[at];
}

double lg_cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double lg_cli_share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

volatile sig_atomic_t lg_cli_interrupted;

/* A second one stops at once, unless it comes with the first: timeout(1) and others signal the process
 * and its group. */
static void interrupt(int signal_number)
{
    static double since;
    const double together = 0.5; /* seconds */
    double now = lg_cli_now();
    if (!lg_cli_interrupted) since = now;
    if (now - since > together) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    lg_cli_interrupted = 1;
}

void lg_cli_catch_interrupts(int on)
{
    signal(SIGINT, on ? interrupt : SIG_DFL);
    signal(SIGTERM, on ? interrupt : SIG_DFL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void lg_cli_remove_folder(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void lg_cli_last_part(const char *folder, char name[256])
{
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') end--;
    size_t start = end;
    while (start && folder[start - 1] != '/') start--;
    snprintf(name, 256, "%.*s", (int)(end - start), folder + start);
}

int lg_cli_make_folder(const char *command, const char *folder)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1;; at++) {
        char was = *at;
        if (was && was != '/') continue;
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return lg_cli_wrong(command, "the folder %s could not be made: %s", path,
                                strerror(errno));
        if (!was) break;
        *at = was;
    }
    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) return 0;
    return lg_cli_wrong(command, "--out is %s, which is no folder; take another name", folder);
}
