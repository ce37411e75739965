/* memory.c: aligned memory. All of the library's allocations pass through obtain(), so that
 * the tests can count them and make any one of them fail. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdint.h>
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
