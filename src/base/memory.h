/* memory.h: aligned memory that grows, and never inside a step. */
#ifndef LG_BASE_MEMORY_H
#define LG_BASE_MEMORY_H

#include <stddef.h>

#include "lengthen.h"

/* A block aligned to 64 bytes. Starts as {0}. */
struct lg__block {
    void *data;
    size_t size; /* bytes */
};

/* Makes the block at least `size` bytes; what it held is lost unless keep is set. `what`
 * names it in the error. A failed call leaves the block as it was. */
int lg__block_grow(struct lg__block *b, size_t size, int keep, const char *what, lg_error *err);
void lg__block_free(struct lg__block *b);

/* Zeroed memory aligned to 64 bytes, freed with free(); NULL if there is none. */
void *lg__alloc(size_t size);
/* More room for what lg__alloc gave, or for NULL: the first `used` bytes are kept, the others are 0.
 * NULL: there is none, and data stays as it was. */
void *lg__alloc_more(void *data, size_t used, size_t size);
/* A copy of a text, and one that is printed; freed with free(), NULL if there is no memory. */
char *lg__alloc_text(const char *text);
char *lg__alloc_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For tests: the allocation after the next n fails, once. n < 0: none fails. */
void lg__alloc_fail_after(long n);
/* Number of allocations made through this file so far, by all threads. */
long lg__alloc_count(void);

#endif
