/* ranks.h: programs under mpirun, for tests: started, looked for by their words, killed. */
#ifndef LG_TESTS_CLUSTER_RANKS_H
#define LG_TESTS_CLUSTER_RANKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Skips the test where there is no mpirun, or the build has no module for it. */
void need_mpi(void);
/* Lets root start ranks, more of them than there are cores; home is the test's folder. */
void set_mpi(const char *home);
/* Runs a shell command, printed as by printf, in the test's home; its exit code, and what it wrote into *text, to be
 * freed. A command that takes over 200 s fails the test. */
int run(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Starts one and does not wait; its output goes to FILE in home. */
int start(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Waits for it at most so many seconds; its exit code, -1: it was still running and is killed. */
int finish(int pid, double seconds);
/* The process of rank (-1: of a child, which is no rank) that has WORD among its own; waits for it, at most 20 s. */
int find_process(int rank, const char *word);
/* A file of home, to be freed. */
char *read_home(const char *name);
void assert_words(const char *text, const char *words);
/* A checksum of the weights and moments of the newest checkpoint of a run in home. */
unsigned long long weights_of(const char *folder);

#endif
