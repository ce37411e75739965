/* ranks.c: programs under mpirun, for tests. */
#include "cluster/ranks.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

/* The test's home, by its environment: so what it starts can be told from what others do. */
static const char *place(void) { return getenv("LENGTHEN_TEST_HOME"); }

static const char *in_place(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", place(), name);
    return path;
}

void need_mpi(void)
{
    char module[1000];
    snprintf(module, sizeof module, "%s", LG_PROGRAM);
    char *slash = strrchr(module, '/');
    snprintf(slash, 64, "/liblengthen_mpi.so");
    if (access(module, R_OK) != 0 || system("command -v mpirun >/dev/null 2>&1") != 0) {
        print_message("no MPI here: install openmpi-bin and libopenmpi-dev (scripts/need mpi)\n");
        skip();
    }
}

void set_mpi(const char *home)
{
    setenv("LENGTHEN_TEST_HOME", home, 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* MPI's own */
}

static int spawn(const char *file, const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        int out = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || chdir(place())) _exit(126);
        execl("/bin/bash", "bash", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(void) { nanosleep(&(struct timespec){0, 10000000}, NULL); }

int finish(int pid, double seconds)
{
    int status;
    for (double end = now() + seconds; now() < end; rest())
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

int start(const char *file, const char *format, ...)
{
    char command[4000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return spawn(in_place(file), command);
}

char *read_home(const char *name)
{
    FILE *f = fopen(in_place(name), "rb");
    char *text = calloc(1, 1 << 20);
    if (f && text) {
        size_t n = fread(text, 1, (1 << 20) - 1, f);
        text[n] = 0;
    }
    if (f) fclose(f);
    return text;
}

int run(char **text, const char *format, ...)
{
    static int count;
    char command[4000], file[32];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(file, sizeof file, "out-%d", count++);
    int code = finish(spawn(in_place(file), command), 200);
    *text = read_home(file);
    if (code < 0) fail_msg("over 200 s: %s\n%s", command, *text);
    return code;
}

void assert_words(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}

/* All of /proc/PID/NAME, with spaces for zeros. */
static int read_proc(const char *pid, const char *name, char *to, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, size - 1, f) : 0;
    if (f) fclose(f);
    for (size_t i = 0; i < n; i++)
        if (!to[i]) to[i] = ' ';
    to[n] = 0;
    return n > 0;
}

static int look(int rank, const char *word)
{
    static char words[8192], variables[1 << 16];
    char program[1000], path[300], wanted[64];
    int found = 0;
    DIR *d = opendir("/proc");
    snprintf(wanted, sizeof wanted, "OMPI_COMM_WORLD_RANK=%d ", rank);
    for (struct dirent *e; d && (e = readdir(d)) && !found;) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/exe", e->d_name);
        ssize_t n = readlink(path, program, sizeof program - 1);
        if (n <= 0) continue;
        program[n] = 0;
        if (strcmp(program, LG_PROGRAM) != 0) continue;
        if (!read_proc(e->d_name, "cmdline", words, sizeof words) || !strstr(words, word) ||
            !read_proc(e->d_name, "environ", variables, sizeof variables) ||
            !strstr(variables, place()))
            continue;
        int is_rank = strstr(variables, "OMPI_COMM_WORLD_RANK=") != NULL;
        if (rank < 0 ? !is_rank : strstr(variables, wanted) != NULL) found = atoi(e->d_name);
    }
    if (d) closedir(d);
    return found;
}

int find_process(int rank, const char *word)
{
    int found = 0;
    for (double end = now() + 20; now() < end && !(found = look(rank, word));) rest();
    if (!found) fail_msg("there is no rank %d with \"%s\"", rank, word);
    return found;
}

unsigned long long weights_of(const char *folder)
{
    char *text;
    assert_int_equal(
        run(&text, "cat $(ls -d %s/checkpoint/step-* | tail -1)/{model,state}.safetensors | cksum",
            folder),
        0);
    unsigned long long sum = strtoull(text, NULL, 10);
    assert_true(sum > 0);
    free(text);
    return sum;
}
