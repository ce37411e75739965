/* memory.c: aligned memory. All allocations of the rooms base, engine, positions, formats, measure,
 * certify and training pass through obtain(), so that the tests can count them and make any one of
 * them fail; tests/house/test_symbols.c keeps it so. Not through here:
 *   - in tasks, text, theory, runs, report, study and cli some texts, lines and lists, which the C
 *     library allocates (malloc, calloc, realloc, strdup, asprintf, getline, scandir);
 *   - what other libraries allocate for themselves: jansson (json_dumps), libyaml, SQLite, zlib,
 *     and the C library for files and threads. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

enum { ALIGNMENT = 64, PAGE = 4096 };
static const size_t HUGE_BLOCK = (size_t)2 << 20;

static atomic_long allocations;
static atomic_long fail_after = -1;

void lg__alloc_fail_after(long n) { atomic_store(&fail_after, n < 0 ? -1 : n); }

long lg__alloc_count(void) { return atomic_load(&allocations); }

/* 1 if this allocation is the one that a test has chosen to fail. */
static int must_fail(void)
{
    long n = atomic_load(&fail_after);
    while (n >= 0) {
        if (atomic_compare_exchange_weak(&fail_after, &n, n - 1)) return n == 0;
    }
    return 0;
}

static void *obtain(size_t size)
{
    if (must_fail()) return NULL;
    /* Objects over PTRDIFF_MAX bytes break pointer arithmetic, whatever malloc says. */
    if (size > PTRDIFF_MAX - HUGE_BLOCK) return NULL;
    void *data = NULL;
    int huge = size >= HUGE_BLOCK;
    if (posix_memalign(&data, huge ? HUGE_BLOCK : ALIGNMENT, size ? size : 1) != 0) return NULL;
    /* Fewer TLB misses in the big weight and activation blocks. Only a wish: a kernel
     * without huge pages refuses it and nothing is lost. */
    if (huge) (void)madvise(data, size & ~(size_t)(PAGE - 1), MADV_HUGEPAGE);
    atomic_fetch_add(&allocations, 1);
    return data;
}

void *lg__alloc(size_t size)
{
    void *data = obtain(size);
    if (data) memset(data, 0, size);
    return data;
}

void *lg__alloc_more(void *data, size_t used, size_t size)
{
    void *more = lg__alloc(size);
    if (!more) return NULL;
    if (used) memcpy(more, data, used);
    free(data);
    return more;
}

char *lg__alloc_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = obtain(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *lg__alloc_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : obtain((size_t)n + 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

int lg__block_grow(struct lg__block *b, size_t size, int keep, const char *what, lg_error *err)
{
    if (size <= b->size) return LG_OK;
    void *data = obtain(size);
    if (!data)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "No memory for %s: %zu bytes could not be had; use a smaller batch or "
                        "model, or give the process more memory.",
                        what, size);
    if (keep && b->size) memcpy(data, b->data, b->size);
    free(b->data);
    b->data = data;
    b->size = size;
    return LG_OK;
}

void lg__block_free(struct lg__block *b)
{
    if (!b) return;
    free(b->data);
    *b = (struct lg__block){0};
}
