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

/* Ways to run it, and the column that its best counts in. More threads than one for its own operations make
 * it slower on some shapes, unless idle workers sleep, so no single way is the best for all. */
static const struct way {
    const char *flag; /* or NULL */
    int threads;      /* tell it to use all cores */
    int bf16;
} ways[] = {{NULL, 0, 0},      {"--tuned", 1, 0}, {"--tuned", 0, 0},     {"--tuned-more", 1, 0},
            {"--tuned", 1, 1}, {"--tuned", 0, 1}, {"--tuned-more", 1, 1}};

static double measure_way(const lg_bench_options *o, const char *data, int generate, int threads,
                          const struct way *way, lg_error *err)
{
    char count[16], all[16], seconds[32], *words[LG__TORCH_WORDS + 1] = {"--data", (char *)data};
    int n = 2;
    if (way->flag) words[n++] = (char *)way->flag;
    if (way->bf16) words[n++] = "--bf16";
    if (generate) {
        snprintf(count, sizeof count, "%d", generate);
        words[n++] = "--generate";
        words[n++] = count;
    }
    if (way->threads) {
        snprintf(all, sizeof all, "%d", threads);
        words[n++] = "--threads";
        words[n++] = all;
    }
    snprintf(seconds, sizeof seconds, "%g", 4 * o->seconds);
    words[n++] = "--seconds";
    words[n++] = seconds;
    return lg__torch_measure(o, words, err);
}

static int compare(const lg_bench_options *o, const char *data, int generate, int threads,
                   lg__torch_own *own, void *context, double tokens, lg_bench_row *row,
                   lg_error *err)
{
    double best = 1e30;
    for (int i = 0; i < o->rounds; i++) {
        double now = own(context, o->seconds, err);
        if (now < 0) return err->code;
        best = now < best ? now : best;
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            double rate = measure_way(o, data, generate, threads, &ways[j], err);
            if (rate < 0) return LG_ERROR_SYSTEM;
            double *column = ways[j].bf16 ? &row->torch_bf16 : &row->torch_tuned;
            if (j == 0 && rate > row->torch) row->torch = rate;
            if (j == 1 && rate > row->torch_cpu) row->torch_cpu = rate;
            if (rate > *column) *column = rate;
        }
    }
    row->ratio_torch = tokens / best / row->torch;
    row->ratio_torch_cpu = tokens / best / row->torch_cpu;
    row->ratio_torch_tuned = tokens / best / row->torch_tuned;
    row->ratio_torch_bf16 = tokens / best / row->torch_bf16;
    return 0;
}

int lg__torch_compare(const lg_bench_options *o, const struct lg__shape *s, int generate,
                      int threads, lg__torch_own *own, void *context, double tokens,
                      lg_bench_row *row, lg_error *err)
{
    char folder[] = "/tmp/lengthen-bench-XXXXXX", data[64];
    if (!mkdtemp(folder))
        return lg__fail(err, LG_ERROR_SYSTEM, "no folder could be made in /tmp: check your rights");
    snprintf(data, sizeof data, "%s/shape.json", folder);
    int e = lg__shape_save(s, data, err);
    if (!e) e = compare(o, data, generate, threads, own, context, tokens, row, err);
    unlink(data);
    rmdir(folder);
    return e;
}
