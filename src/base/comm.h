/* comm.h: the ranks of one job, and messages between them. A program that was started alone is a job of one rank,
 * where every call returns at once. Started by mpirun or srun, the ranks talk through a module that is loaded then
 * (comm_mpi.c, the only file with mpi.h), so that the program itself needs no MPI.
 *
 * All waiting is done here: it yields the core, answers those who ask whether this rank still lives, and after the
 * comm's patience names the ranks that do not answer. One thread at a time calls. Every c may be NULL: alone. */
#ifndef LG_BASE_COMM_H
#define LG_BASE_COMM_H

#include <stddef.h>

#include "lengthen.h"

/* What the module gives. No call waits; a negative result is an error of MPI. */
enum { LG__TRANSPORT_VERSION = 1, LG__TRANSPORT_REQUESTS = 64 };
struct lg__transport {
    int version;
    int (*open)(int *rank, int *size);
    /* The number of the request, to be tested until that returns 1. */
    int (*send)(const void *data, size_t bytes, int to, int tag);
    int (*receive)(void *data, size_t bytes, int from, int tag);
    int (*test)(int request);
    void (*cancel)(int request);
    /* 1: a message of this tag is there, from *from (-1: anybody) of *bytes. */
    int (*probe)(int *from, int tag, size_t *bytes);
    void (*close)(void);
    void (*abort)(int code);
};
#define LG__TRANSPORT_NAME "lg__transport_mpi"

/* Tags of the users; those of comm.c are above. */
enum {
    LG__TAG_GRADIENT = 1, /* engine: parts of gradients and weights */
    LG__TAG_JOB,          /* cluster: work for a worker, .. */
    LG__TAG_ANSWER        /* .. and what it tells of it */
};

/* What every rank says of itself at the start; equal in all ranks but for the host. */
struct lg__comm_card {
    char host[64];
    char build[160];   /* version, commit, compiler and checksum of the program's file */
    char kernels[136]; /* that compute: "avx512-1"; "": no matter */
    char cpu[200];
    int isa_set;     /* 1: LENGTHEN_ISA chose the kernels */
    uint64_t config; /* a checksum; 0: no matter */
    char what[64];   /* the command: ranks that do different things are refused */
    int code;        /* of an error that this rank has found by itself, and its text */
    char text[sizeof((lg_error *)0)->text];
};
/* Fills in what the machine knows. */
void lg__comm_card_fill(struct lg__comm_card *card, const char *what);
/* Why rank i may not go with rank 0, or 0. */
int lg__comm_compare(const struct lg__comm_card *first, const struct lg__comm_card *other, int i,
                     lg_error *err);
/* All ranks show their cards; an error of any of them, or of comparing them, is that of all. */
int lg__comm_agree(lg_comm *c, const struct lg__comm_card *own, lg_error *err);
/* How many threads a rank takes if nobody says: its cores, shared with the ranks of its host. */
int lg__comm_threads(const lg_comm *c, int asked);
/* "rank 3 (host n4)"; good until the fourth call after it. */
const char *lg__comm_name(const lg_comm *c, int rank);

/* The first ranks of a job as a job of their own, for as long as the whole is there; freed with free(). */
lg_comm *lg__comm_first(const lg_comm *c, int size);
/* From rank 0 to all. A rank waits for as long as rank 0 takes if patient is 1. */
int lg__comm_spread(lg_comm *c, void *data, size_t bytes, int patient, lg_error *err);
/* records[ranks][bytes], of which each rank has its own: afterwards all of them. */
int lg__comm_gather(lg_comm *c, void *records, size_t bytes, lg_error *err);
/* Sends and receives at once; either may be of 0 bytes. */
int lg__comm_exchange(lg_comm *c, int with, const void *out, size_t out_bytes, void *in,
                      size_t in_bytes, lg_error *err);
/* One error for all: rank 0's code and text are spread. */
int lg__comm_follow(lg_comm *c, int e, lg_error *err);
/* Marks an error as one that every rank has. */
void lg__comm_is_common(lg_comm *c);

/* A request of its own: begun, waited for. */
int lg__comm_send_begin(lg_comm *c, const void *data, size_t bytes, int to, int tag, int *request,
                        lg_error *err);
int lg__comm_receive_begin(lg_comm *c, void *data, size_t bytes, int from, int tag, int *request,
                           lg_error *err);
int lg__comm_wait(lg_comm *c, int request, int with, lg_error *err);

/* Messages of any size, for dealing out work. */
int lg__comm_send(lg_comm *c, int to, int tag, const void *data, size_t bytes, lg_error *err);
/* 1: one was received, from *from (-1: anybody), *data is to be freed; 0: none is there within the seconds. */
int lg__comm_take(lg_comm *c, int *from, int tag, char **data, size_t *bytes, double seconds,
                  lg_error *err);

#endif
