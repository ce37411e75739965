/* bench.h: what the files of the benchmark share. */
#ifndef LG_MEASURE_BENCH_H
#define LG_MEASURE_BENCH_H

#include "base/pool.h"
#include "lengthen_measure.h"

/* The libraries' sgemm. */
struct lg__peak {
    struct lg__pool *pool;
    float *a, *b, *c;
    float *packed;
    int best; /* the library that was fastest on all cores */
};

int lg__peak_init(struct lg__peak *p, int threads, lg_error *err);
void lg__peak_clear(struct lg__peak *p);
int lg__peak_count(void);
/* Best GFLOPS of library i within about `seconds`. */
double lg__peak_measure(struct lg__peak *p, int i, int threads, double seconds);
/* The best library's, on all cores; finds out which that is at the first call. */
double lg__peak_all(struct lg__peak *p, double seconds);

/* PyTorch's tokens/s, from the script with these arguments (NULL ends them, at most so many);
 * negative: err. */
enum { LG__TORCH_WORDS = 24 };
double lg__torch_measure(const lg_bench_options *o, char *const *arguments, lg_error *err);

#endif
