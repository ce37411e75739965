/* dispatch.c: which kernels this CPU runs, and which are used. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "lengthen.h"
#include "naive.h"

extern const struct lg__kernels lg__kernels_c;
#ifdef LG_HAVE_AVX2
extern const struct lg__kernels lg__kernels_avx2;
#endif
#ifdef LG_HAVE_AVX512
extern const struct lg__kernels lg__kernels_avx512;
static struct lg__kernels with_bf16;
#endif
#ifdef LG_HAVE_NEON
extern const struct lg__kernels lg__kernels_neon;
#endif
#ifdef LG_HAVE_WIDE
extern const struct lg__kernels lg__kernels_wide; /* 16 lanes on AVX2, for tests */
#endif

static const struct lg__kernels *all[6];
static const struct lg__kernels *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct lg__kernels *named(const char *name)
{
    for (int i = 0; name && all[i]; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

static void look(void)
{
    int n = 0;
#ifdef LG_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        with_bf16 = lg__kernels_avx512;
        if (__builtin_cpu_supports("avx512bf16")) lg__kernels_take_bf16(&with_bf16);
        all[n++] = &with_bf16;
    }
#endif
#ifdef LG_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        all[n++] = &lg__kernels_avx2;
#endif
#ifdef LG_HAVE_NEON
    all[n++] = &lg__kernels_neon; /* every arm64 CPU has it */
#endif
    all[n++] = &lg__kernels_c;
#ifdef LG_HAVE_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        all[n++] = &lg__kernels_wide;
#endif
    all[n++] = &lg__naive32;
    chosen = all[0];
    const struct lg__kernels *wanted = named(getenv("LENGTHEN_ISA"));
    if (wanted) chosen = wanted;
}

const struct lg__kernels *lg__kernels_get(void)
{
    pthread_once(&once, look);
    return chosen;
}

const struct lg__kernels *lg__kernels_find(const char *name)
{
    pthread_once(&once, look);
    return named(name);
}

const struct lg__kernels *const *lg__kernels_all(void)
{
    pthread_once(&once, look);
    return all;
}

void lg__kernels_halve(struct lg__kernels *out, const struct lg__kernels *k)
{
    *out = *k;
    out->pack_size = k->half_pack_size;
    out->pack = k->half_pack;
    out->gemm = k->half_gemm;
    out->gemm_tn_scratch = k->half_gemm_tn_scratch;
    out->gemm_tn = k->half_gemm_tn;
}

const char *lg_isa(void) { return lg__kernels_get()->name; }
