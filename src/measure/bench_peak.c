/* bench_peak.c: what the best sgemm to be had reaches on this machine. The libraries are
 * loaded while running, so that nothing here depends on them. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench.h"
#include "engine/kernels.h"
#include "base/clock.h"

enum { SIZE = 2048, ROWS_EACH = 96 };

lg_bench_options lg_bench_options_default(void)
{
    return (lg_bench_options){.seconds = 1.0, .rounds = 3, .torch_python = "/usr/bin/python3"};
}

/* A function from a library, without a cast that ISO C forbids. */
static void load(void *library, const char *name, void *to)
{
    void *f = library ? dlsym(library, name) : NULL;
    memcpy(to, &f, sizeof f);
}

/* ---- Ours ------------------------------------------------------------------------------- */

static void own_rows(void *context, int i, int thread)
{
    struct lg__peak *p = context;
    int rows = SIZE - i * ROWS_EACH < ROWS_EACH ? SIZE - i * ROWS_EACH : ROWS_EACH;
    size_t at = (size_t)i * ROWS_EACH * SIZE;
    (void)thread;
    lg__kernels_get()->gemm(p->c + at, SIZE, p->a + at, SIZE, p->packed, NULL, rows, SIZE, SIZE, 0);
}

/* Packing is part of it, as it is for the others. */
static int own_gemm(struct lg__peak *p, int threads)
{
    int parts = (SIZE + ROWS_EACH - 1) / ROWS_EACH;
    lg__kernels_get()->pack(p->packed, p->b, SIZE, 1, SIZE, SIZE);
    if (threads == 1)
        for (int i = 0; i < parts; i++) own_rows(p, i, 0);
    else
        lg__pool_run(p->pool, parts, own_rows, p);
    return 1;
}

/* ---- OpenBLAS ------------------------------------------------------------------------------ */

static const char *core_type(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "SKYLAKEX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_is("amd")) return "ZEN";
    if (__builtin_cpu_supports("avx2")) return "HASWELL";
#endif
    return NULL;
}

static int openblas_gemm(struct lg__peak *p, int threads)
{
    static void (*gemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                        float, float *, int);
    static void (*set_threads)(int);
    if (!gemm) {
        if (core_type()) setenv("OPENBLAS_CORETYPE", core_type(), 0);
        void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        load(library, "openblas_set_num_threads", &set_threads);
        load(library, "cblas_sgemm", &gemm);
    }
    if (!gemm || !set_threads) return 0;
    set_threads(threads);
    gemm(101, 111, 111, SIZE, SIZE, SIZE, 1.0f, p->a, SIZE, p->b, SIZE, 0.0f, p->c, SIZE);
    return 1;
}

/* ---- oneDNN ---------------------------------------------------------------------------------- */

static int dnnl_gemm(struct lg__peak *p, int threads)
{
    static int (*gemm)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                       const float *, int64_t, float, float *, int64_t);
    static void (*set_threads)(int);
    if (!gemm) {
        void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_GLOBAL);
        if (!library) library = dlopen("libdnnl.so.3", RTLD_NOW | RTLD_GLOBAL);
        load(library, "omp_set_num_threads", &set_threads);
        load(library, "dnnl_sgemm", &gemm);
    }
    if (!gemm || !set_threads) return 0;
    set_threads(threads);
    return gemm('N', 'N', SIZE, SIZE, SIZE, 1.0f, p->a, SIZE, p->b, SIZE, 0.0f, p->c, SIZE) == 0;
}

/* ---- All --------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*gemm)(struct lg__peak *p, int threads); /* 0: it is not here */
} library[] = {
    {"lengthen", own_gemm},
    {"openblas", openblas_gemm},
    {"onednn", dnnl_gemm},
};

int lg__peak_count(void) { return (int)(sizeof library / sizeof *library); }

int lg__peak_init(struct lg__peak *p, int threads, lg_error *err)
{
    size_t n = (size_t)SIZE * SIZE;
    memset(p, 0, sizeof *p);
    p->best = -1;
    p->pool = lg__pool_new(threads, err);
    if (!p->pool) return LG_ERROR_SYSTEM;
    p->a = lg__alloc(n * sizeof(float));
    p->b = lg__alloc(n * sizeof(float));
    p->c = lg__alloc(n * sizeof(float));
    p->packed = lg__alloc(lg__kernels_get()->pack_size(SIZE, SIZE) * sizeof(float));
    if (!p->a || !p->b || !p->c || !p->packed) {
        lg__peak_clear(p);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory to measure the peak (70 MB)");
    }
    for (size_t i = 0; i < n; i++) {
        p->a[i] = (float)(i % 7) * 0.1f;
        p->b[i] = (float)(i % 11) * 0.1f;
    }
    return 0;
}

void lg__peak_clear(struct lg__peak *p)
{
    lg__pool_free(p->pool);
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->packed);
    memset(p, 0, sizeof *p);
}

double lg__peak_measure(struct lg__peak *p, int i, int threads, double seconds)
{
    double best = 1e30, end = lg__now() + seconds;
    if (!library[i].gemm(p, threads)) return 0; /* also warms up */
    for (int n = 0; n < 3 || lg__now() < end; n++) {
        double t = lg__now();
        library[i].gemm(p, threads);
        t = lg__now() - t;
        best = t < best ? t : best;
    }
    return 2.0 * SIZE * SIZE * SIZE / best * 1e-9;
}

double lg__peak_all(struct lg__peak *p, double seconds)
{
    int threads = lg__pool_threads(p->pool);
    if (p->best >= 0) return lg__peak_measure(p, p->best, threads, seconds);
    double best = 0;
    for (int i = 0; i < lg__peak_count(); i++) {
        double g = lg__peak_measure(p, i, threads, seconds);
        if (g > best) {
            best = g;
            p->best = i;
        }
    }
    return best;
}

int lg_bench_peak(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    struct lg__peak p;
    int code = lg__peak_init(&p, o->threads, err);
    if (code) return code;
    int all = lg__pool_threads(p.pool);
    for (int i = 0; i < lg__peak_count(); i++)
        for (int threads = 1; threads <= all; threads += all > 1 ? all - 1 : 1) {
            double g = lg__peak_measure(&p, i, threads, o->seconds);
            if (g > 0)
                report(context, &(lg_bench_row){.bench = "peak",
                                                .name = library[i].name,
                                                .threads = threads,
                                                .gflops = g});
        }
    lg__peak_clear(&p);
    return 0;
}

double lg_peak_gflops(int threads)
{
    struct lg__peak p;
    if (lg__peak_init(&p, threads, NULL)) return 0;
    double g = lg__peak_measure(&p, 0, lg__pool_threads(p.pool), 0.3);
    lg__peak_clear(&p);
    return g;
}
