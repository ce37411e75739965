/* serve.c: a worker's side: it takes a job, runs it as a child process, passes on what the child tells, and gives its
 * files back. The child dies with the worker. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cluster/message.h"

enum { TICK = 50, LINE = 1200, MOST_VARIABLES = 4096 };

struct worker {
    lg_comm *comm;
    char *job; /* the message that it is from; NULL: idle */
    struct lg__job at;
    pid_t pid;
    int pipe, quit;
    char line[LINE]; /* what the child has told of a line */
    int length;
};

extern char **environ;

/* A variable that would make the child take itself for a rank. */
static int of_mpi(const char *variable)
{
    static const char *const begins[] = {"OMPI_", "PMIX_",  "PMI_",  "MPI_",    "ORTE_",
                                         "OPAL_", "HYDRA_", "PRTE_", "MPIEXEC_"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0) return 1;
    return 0;
}

static int say(struct worker *w, int word, int code, int number, const char *text,
               const struct lg__job_file *files, int count, lg_error *err)
{
    lg_buffer b = {0};
    lg__put_int(&b, word);
    lg__put_int(&b, w->at.number);
    lg__put_int(&b, code);
    lg__put_int(&b, number);
    lg__put_text(&b, text);
    lg__put_int(&b, count);
    for (int i = 0; i < count; i++) lg__put_bytes(&b, files[i].data, files[i].size);
    size_t size = b.size;
    char *data = lg_buffer_take(&b, err);
    int e = data ? lg__comm_send(w->comm, 0, LG__TAG_ANSWER, data, size, err) : LG_ERROR_MEMORY;
    free(data);
    return e;
}

static void read_job(struct worker *w, struct lg__reading *r)
{
    struct lg__job *j = &w->at;
    *j = (struct lg__job){.number = (int)lg__get_int(r)};
    j->word_count = (int)lg__get_int(r);
    for (int i = 0; i < j->word_count && i < LG__JOB_WORDS; i++) j->words[i] = lg__get_text(r);
    j->in_count = (int)lg__get_int(r);
    for (int i = 0; i < j->in_count && i < LG__JOB_FILES; i++) {
        j->in[i].path = lg__get_text(r);
        j->in[i].data = lg__get_bytes(r, &j->in[i].size);
    }
    j->out_count = (int)lg__get_int(r);
    for (int i = 0; i < j->out_count && i < LG__JOB_FILES; i++) j->out[i] = lg__get_text(r);
    j->removed = (int)lg__get_int(r);
}

/* Never returns. */
static void be_child(const char **words, char **variables, int out, pid_t parent)
{
    signal(SIGINT, SIG_IGN); /* a terminal signals everybody; rank 0 decides */
    signal(SIGTERM, SIG_DFL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(out, 1) == 1)
        execve("/proc/self/exe", (char *const *)words, variables);
    for (;;) syscall(SYS_exit_group, 127);
}

static int start_child(struct worker *w, lg_error *err)
{
    const char *words[LG__JOB_WORDS + 2] = {"lengthen"};
    char *variables[MOST_VARIABLES + 1];
    int ends[2], n = 0;
    for (int i = 0; i < w->at.word_count; i++) words[i + 1] = w->at.words[i];
    for (int i = 0; environ[i] && n < MOST_VARIABLES; i++)
        if (!of_mpi(environ[i])) variables[n++] = environ[i];
    variables[n] = NULL;
    for (int i = 0; i < w->at.in_count; i++) {
        int e = lg__job_write(w->at.in[i].path, w->at.in[i].data, w->at.in[i].size, err);
        if (e) return e;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lg__fail(err, LG_ERROR_SYSTEM, "no pipe for a child process: %s", strerror(errno));
    pid_t parent = getpid();
    w->pid = fork();
    if (w->pid == 0) be_child(words, variables, ends[1], parent);
    close(ends[1]);
    w->pipe = ends[0];
    w->length = 0;
    if (w->pid > 0) return 0;
    close(ends[0]);
    return lg__fail(err, LG_ERROR_SYSTEM, "no child process: %s; end other programs",
                    strerror(errno));
}

static void free_job(struct worker *w)
{
    free(w->job);
    w->job = NULL;
    w->pid = 0;
}

/* The child has ended: one that was killed gives nothing back, its next will go on where it was. */
static int end_child(struct worker *w, lg_error *err)
{
    struct lg__job_file files[LG__JOB_FILES] = {0};
    char *data[LG__JOB_FILES] = {0};
    int status = 0, e;
    close(w->pipe);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0, count = number ? 0 : w->at.out_count;
    for (int i = 0; i < count; i++) {
        data[i] = lg__job_read(w->at.out[i], &files[i].size);
        files[i].data = data[i];
    }
    e = say(w, LG__JOB_ENDED, number ? 0 : WEXITSTATUS(status), number, "", files, count, err);
    for (int i = 0; i < count; i++) {
        if (!e && i < w->at.removed) lg__store_remove(w->at.out[i]);
        free(data[i]);
    }
    free_job(w);
    return e;
}

/* Passes whole lines on; 1 at the end of the child's words. */
static int hear_child(struct worker *w, lg_error *err)
{
    struct pollfd p = {.fd = w->pipe, .events = POLLIN};
    if (poll(&p, 1, TICK) <= 0) return 0;
    ssize_t n = read(w->pipe, w->line + w->length, (size_t)(LINE - 1 - w->length));
    if (n < 0 && errno == EINTR) return 0;
    if (n <= 0) return 1;
    w->length += (int)n;
    w->line[w->length] = 0;
    int e = 0;
    for (char *end; !e && (end = strchr(w->line, '\n'));) {
        *end = 0;
        e = say(w, LG__JOB_TOLD, 0, 0, w->line, NULL, 0, err);
        w->length -= (int)(end + 1 - w->line);
        memmove(w->line, end + 1, (size_t)w->length + 1);
    }
    if (w->length == LINE - 1) w->length = 0; /* no line of ours is as long */
    return e;
}

static int obey(struct worker *w, char *data, size_t size, lg_error *err)
{
    struct lg__reading r = {data, data + size};
    int word = (int)lg__get_int(&r), e;
    lg_error why = {0};
    if (word == LG__JOB_RUN && !w->job) {
        w->job = data;
        read_job(w, &r);
        if (!start_child(w, &why)) return 0;
        e = say(w, LG__JOB_ENDED, 0, -1, why.text, NULL, 0, err);
        free_job(w);
        return e;
    }
    if (word == LG__JOB_STOP && w->pid > 0) kill(w->pid, SIGTERM);
    if (word == LG__JOB_QUIT) w->quit = 1;
    free(data);
    return 0;
}

int lg_comm_serve(lg_comm *c, const volatile int *stop, lg_error *err)
{
    struct worker w = {.comm = c};
    int e = 0, asked = 0;
    while (!e && !(w.quit && !w.job)) {
        int from = 0;
        char *data;
        size_t size;
        e = lg__comm_take(c, &from, LG__TAG_JOB, &data, &size, w.job ? 0 : 0.05, err);
        if (e > 0) e = obey(&w, data, size, err);
        if (stop && *stop && w.job && !asked++) kill(w.pid, SIGTERM);
        if (!w.job) asked = 0;
        if (e || !w.job) continue;
        e = hear_child(&w, err);
        if (e > 0) e = end_child(&w, err);
    }
    if (w.job) kill(w.pid, SIGKILL);
    free_job(&w);
    return e;
}
