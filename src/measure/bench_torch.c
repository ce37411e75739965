/* bench_torch.c: PyTorch's training step, measured by bench/torch_step.py in a process of its own. It is
 * started with its arguments as they are: no shell reads the path of the Python. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench.h"

extern char **environ;

/* This process's environment without what tunes PyTorch by hand; freed with free(). */
static char **plain_environment(void)
{
    static const char *const without[] = {"OPENBLAS_CORETYPE=", "ATEN_CPU_CAPABILITY="};
    int n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **all = lg__alloc(((size_t)n + 1) * sizeof *all);
    for (int i = 0; all && i < n; i++) {
        int keep = 1;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++)
            keep &= strncmp(environ[i], without[k], strlen(without[k])) != 0;
        if (keep) all[kept++] = environ[i];
    }
    return all;
}

/* Starts words[0] with its output into `to`, or into nothing with its errors where that is -1. 0, or
 * errno. */
static int start(char *const *words, int to, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    char **environment = plain_environment();
    int e = environment ? posix_spawn_file_actions_init(&files) : ENOMEM;
    if (!e) {
        e = to < 0 ? posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
                   : posix_spawn_file_actions_adddup2(&files, to, 1);
        if (!e && to < 0) e = posix_spawn_file_actions_adddup2(&files, 1, 2);
        if (!e) e = posix_spawnp(pid, words[0], &files, NULL, words, environment);
        posix_spawn_file_actions_destroy(&files);
    }
    free(environment);
    return e;
}

/* Waits for its end; 1: it went well. */
static int went_well(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int lg_bench_torch_check(const lg_bench_options *o, lg_error *err)
{
    char *const words[] = {(char *)o->torch_python, "-c", "import torch", NULL};
    pid_t pid;
    if (!start(words, -1, &pid) && went_well(pid)) return 0;
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s cannot import torch; install it with 'apt-get install python3-torch' (or "
                    "name a Python that has it with --python)",
                    o->torch_python);
}

/* The words with spaces between them, for a message. */
static int failed(char *const *words, const char *why, lg_error *err)
{
    char text[400];
    size_t used = 0;
    *text = 0;
    for (int i = 0; words[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", words[i]);
    return lg__fail(err, LG_ERROR_SYSTEM, "'%s' %s; run it by hand to see why", text, why);
}

double lg__torch_measure(const lg_bench_options *o, char *const *arguments, lg_error *err)
{
    char *words[LG__TORCH_WORDS + 3] = {(char *)o->torch_python, (char *)o->torch_script},
                                  line[1024];
    double rate = -1;
    int ends[2], n = 2;
    pid_t pid;
    for (int i = 0; arguments[i] && i < LG__TORCH_WORDS; i++) words[n++] = arguments[i];
    if (pipe2(ends, O_CLOEXEC)) return failed(words, strerror(errno), err);
    int why = start(words, ends[1], &pid);
    close(ends[1]);
    FILE *f = why ? NULL : fdopen(ends[0], "r");
    if (!f) {
        close(ends[0]);
        if (!why) went_well(pid);
        return failed(words, why ? strerror(why) : "could not be read", err);
    }
    while (fgets(line, sizeof line, f)) {
        const char *at = strstr(line, "\"tokens_per_s\":");
        if (at) rate = strtod(at + strlen("\"tokens_per_s\":"), NULL);
    }
    fclose(f);
    return went_well(pid) && rate > 0 ? rate : failed(words, "failed", err);
}
