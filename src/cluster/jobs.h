/* jobs.h: a job is a command of this program that a worker runs as a child process of its own, started anew and without
 * MPI's variables, and files that go with it and come back. Its child tells how far it is in lines on its stdout, which
 * are passed on. No file system needs to be shared. */
#ifndef LG_CLUSTER_JOBS_H
#define LG_CLUSTER_JOBS_H

#include "base/comm.h"
#include "lengthen_cluster.h"

/* A file of a job; data is not a text, size bytes. */
struct lg__job_file {
    const char *path;
    const char *data;
    size_t size;
};
enum { LG__JOB_WORDS = 256, LG__JOB_FILES = 8 };

struct lg__job {
    int number;
    const char *words[LG__JOB_WORDS]; /* the arguments, without the program */
    int word_count;
    struct lg__job_file in[LG__JOB_FILES]; /* written before it starts */
    int in_count;
    const char *out
        [LG__JOB_FILES]; /* that come back, where they are there; the first `removed` of them are removed then */
    int out_count, removed;
};

/* What a worker says. Everything is in `data`. */
struct lg__heard {
    int rank, number; /* of the worker and of the job */
    int ended;        /* 0: it tells `text`, one line of its child */
    int code,
        signal; /* the child's exit code, or the signal that ended it; signal -1: it was not started */
    const char *text;
    struct lg__job_file out[LG__JOB_FILES]; /* in the job's order; data NULL: not there */
    int out_count;
    char *data;
};

int lg__job_send(lg_comm *c, int rank, const struct lg__job *job, lg_error *err);
/* Asks the child of a worker to stop (SIGTERM). */
int lg__job_stop(lg_comm *c, int rank, lg_error *err);
/* Waits for so many seconds; 1: something was heard, and h is to be cleared. */
int lg__job_hear(lg_comm *c, struct lg__heard *h, double seconds, lg_error *err);
void lg__heard_clear(struct lg__heard *h);
/* All of a file, to be freed; NULL: it is not there. */
char *lg__job_read(const char *path, size_t *size);
/* lg_store_merge of one run alone, by its ID; NULL: all. */
int lg__store_merge(const char *to, const char *from, const char *id, int *added, int *known,
                    lg_error *err);
/* Removes a store, whoever had it open last. */
void lg__store_remove(const char *path);
/* Writes a file that came back; its folder is made. */
int lg__job_write(const char *path, const char *data, size_t size, lg_error *err);

#endif
