/* peak.h: the most memory that a call has at once, measured in a process of its own. */
#ifndef LG_TESTS_BASE_PEAK_H
#define LG_TESTS_BASE_PEAK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lengthen.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Sanitizers keep shadows and freed memory, so that their peak says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { PEAK_IS_KNOWN = 0 };
#else
enum { PEAK_IS_KNOWN = 1 };
#endif

/* The code that the call returns, its error, and the peak of a child that makes it, in MB; 0 under
 * a sanitizer. A child that dies fails the test. */
static inline int peak_of(int (*call)(const void *what, lg_error *err), const void *what,
                          lg_error *err, long *megabytes)
{
    struct answer {
        lg_error err;
        int code;
    } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    struct rusage used;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        shared->code = call(what, &shared->err);
        _exit(0);
    }
    assert_int_equal(wait4(child, &status, 0, &used), child);
    struct answer got = *shared;
    munmap(shared, sizeof *shared);
    if (status) fail_msg("the child ended with status %d", status);
    *err = got.err;
    *megabytes = PEAK_IS_KNOWN ? used.ru_maxrss / 1024 : 0;
    return got.code;
}

#endif
