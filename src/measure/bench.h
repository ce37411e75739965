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

/* A plain GPT-NeoX style model of this size. */
lg_model *lg__plain_model(int vocab, int layers, int width, int heads, lg_error *err);

/* A model and a batch: those of a row of the step, or of the generation. */
struct lg__shape {
    const char *name;
    lg_model_config config;
    lg_batch batch;
};

/* Of the step's rows; NULL: there is no such. */
const char *lg__shape_name(int i);
int lg__shape_open(int i, struct lg__shape *s, lg_error *err);
void lg__shape_clear(struct lg__shape *s);
/* Useful FLOPs of a step whose first layer was run on so many rows (docs/MATH.md, section 14). */
double lg__shape_flops(const struct lg__shape *s, int first_rows);
/* For bench/torch_step.py --data. */
int lg__shape_save(const struct lg__shape *s, const char *path, lg_error *err);

/* PyTorch's tokens/s, from the script with these arguments (NULL ends them, at most so many);
 * negative: err. */
enum { LG__TORCH_WORDS = 24 };
double lg__torch_measure(const lg_bench_options *o, char *const *arguments, lg_error *err);

/* Measures ours within about so many seconds: the best time of one pass; negative: err. */
typedef double lg__torch_own(void *context, double seconds, lg_error *err);
/* Ours and PyTorch, every way that the script knows, in turn, on the shape's data; `generate` tokens after each
 * prompt, 0: the training step. A pass of ours makes so many tokens. Fills the row's columns. */
int lg__torch_compare(const lg_bench_options *o, const struct lg__shape *s, int generate,
                      int threads, lg__torch_own *own, void *context, double tokens,
                      lg_bench_row *row, lg_error *err);

#endif
