/* bench_kernels.c: every kernel of the table in use, on one core, at the shapes of a shard
 * (400 rows, width 256, feed-forward 1024, heads of 32). FLOPs are those of the naive twin,
 * an exponential or a root counted as one. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench.h"
#include "engine/kernels.h"
#include "base/clock.h"

enum { T = 400, C = 256, F = 1024, H = 8, D = 32, Q = 24, KEYS = 128, WIN = 6, BUFFERS = 6 };

struct bench {
    const struct lg__kernels *k;
    float *x[BUFFERS]; /* [T, 2F] each, small numbers */
    float *packed, *scratch, *small[4];
    int32_t *token;
    int *seen, *key, *turn; /* key, turn: WIN for each of Q queries */
    int first[Q], n[Q];
};

#define N ((size_t)T * F)

static void gemm_up(struct bench *b)
{
    b->k->gemm(b->x[0], F, b->x[1], C, b->packed, b->small[0], T, F, C, 0);
}
static void gemm_down(struct bench *b)
{
    b->k->gemm(b->x[0], C, b->x[1], F, b->packed, NULL, T, C, F, 1);
}
static void gemm_one(struct bench *b)
{
    b->k->gemm(b->x[0], F, b->x[1], C, b->packed, NULL, 1, F, C, 0);
}
static void gemm_tn(struct bench *b)
{
    b->k->gemm_tn(b->x[0], C, b->x[1], F, b->x[2], C, F, C, T, 1, b->scratch);
}
static void half_gemm(struct bench *b)
{
    b->k->half_gemm(b->x[0], F, b->x[1], C, b->packed, b->small[0], T, F, C, 0);
}
static void half_gemm_tn(struct bench *b)
{
    b->k->half_gemm_tn(b->x[0], C, b->x[1], F, b->x[2], C, F, C, T, 1, b->scratch);
}
static void half_pack(struct bench *b) { b->k->half_pack(b->packed, b->x[1], 1, C, C, F); }
static void pack_y(struct bench *b) { b->k->pack(b->packed, b->x[1], 1, C, C, F); }
static void pack_dx(struct bench *b) { b->k->pack(b->packed, b->x[1], C, 1, F, C); }
static void sum_rows(struct bench *b) { b->k->sum_rows(b->x[0], b->x[1], T, F); }
static void embed(struct bench *b) { b->k->embed_forward(b->x[0], b->x[1], b->token, T, C); }
static void embed_back(struct bench *b) { b->k->embed_backward(b->x[0], b->x[1], b->token, T, C); }
static void layernorm(struct bench *b)
{
    b->k->layernorm_forward(b->x[0], b->small[0], b->small[1], b->x[1], b->small[2], b->small[3], T,
                            C, 1e-5f);
}
static void layernorm_back(struct bench *b)
{
    b->k->layernorm_backward(b->x[0], b->x[4], b->x[5], b->x[1], b->x[2], b->small[0], b->small[1],
                             b->small[2], T, C);
}
static void rmsnorm(struct bench *b)
{
    b->k->rmsnorm_forward(b->x[0], b->small[1], b->x[1], b->small[2], T, C, 1e-5f);
}
static void rmsnorm_back(struct bench *b)
{
    b->k->rmsnorm_backward(b->x[0], b->x[4], b->x[1], b->x[2], b->small[1], b->small[2], T, C);
}
static void gelu(struct bench *b) { b->k->gelu_forward(b->x[0], b->x[1], N, 0); }
static void gelu_back(struct bench *b) { b->k->gelu_backward(b->x[0], b->x[1], b->x[2], N, 0); }
static void gelu_tanh(struct bench *b) { b->k->gelu_forward(b->x[0], b->x[1], N, 1); }
static void swiglu(struct bench *b) { b->k->swiglu_forward(b->x[0], b->x[1], T, F); }
static void swiglu_back(struct bench *b) { b->k->swiglu_backward(b->x[0], b->x[2], b->x[1], T, F); }
static void rotary(struct bench *b) { b->k->rotary(b->x[0], C, b->x[1], b->x[2], T, H, D, D, 1); }
static void softmax_block(struct bench *b)
{
    b->k->softmax_block(b->x[0], KEYS, b->small[0], b->small[1], b->small[2], b->seen, Q, KEYS);
}
static void softmax_block_back(struct bench *b)
{
    b->k->softmax_block_backward(b->x[0], b->x[1], KEYS, b->small[2], b->small[3], b->seen, Q,
                                 KEYS);
}
static void scale_rows(struct bench *b) { b->k->scale_rows(b->x[0], C, b->small[2], Q, D); }
static void dot_rows(struct bench *b) { b->k->dot_rows(b->small[0], b->x[1], C, b->x[2], C, T, C); }
static void softmax_columns(struct bench *b) { b->k->softmax_columns(b->x[0], WIN, Q * H); }
static void softmax_columns_back(struct bench *b)
{
    b->k->softmax_columns_backward(b->x[0], b->x[1], WIN, Q * H);
}
static void entmax(struct bench *b) { b->k->entmax15_rows(b->x[0], Q, KEYS); }
static void entmax_back(struct bench *b)
{
    b->k->entmax15_rows_backward(b->x[0], b->x[1], Q, KEYS);
}
static void window_scores(struct bench *b)
{
    b->k->window_scores(b->x[0], b->x[1], b->x[2], 2 * C, b->first, b->n, b->key, b->turn, b->x[3],
                        b->x[4], Q, WIN, H, D, D, 0.2f, b->scratch);
}
static void window_scores_back(struct bench *b)
{
    b->k->window_scores_backward(b->x[0], b->x[5], b->x[1] + N, b->x[1], b->x[2], 2 * C, b->first,
                                 b->n, b->key, b->turn, b->x[3], b->x[4], Q, H, D, D, 0.2f,
                                 b->scratch);
}
static void window_mix(struct bench *b)
{
    b->k->window_mix(b->x[0], b->x[1], b->x[2], 2 * C, b->first, b->n, b->key, Q, H, D);
}
static void window_mix_back(struct bench *b)
{
    b->k->window_mix_backward(b->x[0], b->x[5], b->x[1], b->x[1] + N, b->x[2], 2 * C, b->first,
                              b->n, b->key, Q, WIN, H, D);
}
static void cross_entropy(struct bench *b)
{
    b->k->cross_entropy(b->x[0], b->x[1], b->x[2], b->token, 1.0f, T, C);
}
static void sum_tree(struct bench *b)
{
    b->k->sum_tree(b->x[0],
                   (const float *const[8]){b->x[1], b->x[2], b->x[3], b->x[4], b->x[1], b->x[2],
                                           b->x[3], b->x[4]},
                   8, N);
}
static void sum_squares(struct bench *b)
{
    b->small[0][0] = (float)b->k->sum_squares(b->x[1], N) * 0.0f + 0.1f;
}
static void adamw(struct bench *b)
{
    b->k->adamw(b->x[0], b->x[1], b->x[2], b->x[3], N, 0.0f, 0.1f, 0.9f, 0.999f, 1e-8f, 1.0f, 1.0f);
}
static void scale(struct bench *b) { b->k->scale(b->x[0], 1.0f, N); }
static void add(struct bench *b) { b->k->add(b->x[0], b->x[1], N); }

static const struct row {
    const char *name;
    void (*run)(struct bench *);
    double flops, floats; /* of one call */
} rows[] = {
    {"gemm 400x1024x256", gemm_up, 2.0 * T *F *C, T *(F + C) + F *C},
    {"gemm 400x256x1024", gemm_down, 2.0 * T *F *C, T *(F + 2 * C) + F *C},
    {"gemm 1x1024x256", gemm_one, 2.0 * F *C, F *C},
    {"gemm_tn 1024x256x400", gemm_tn, 2.0 * T *F *C, T *(F + C) + 2 * F *C},
    {"half_pack 256x1024", half_pack, 0, 1.5 * F *C},
    {"half_gemm 400x1024x256", half_gemm, 2.0 * T *F *C, T *(F + C) + F *C},
    {"half_gemm_tn 1024x256x400", half_gemm_tn, 2.0 * T *F *C, T *(F + C) + 2 * F *C},
    {"pack 256x1024", pack_y, 0, 2.0 * F *C},
    {"pack 1024x256", pack_dx, 0, 2.0 * F *C},
    {"sum_rows", sum_rows, (double)T *F, T *F},
    {"layernorm_forward", layernorm, 8.0 * T *C, 2.0 * T *C},
    {"layernorm_backward", layernorm_back, 15.0 * T *C, 4.0 * T *C},
    {"rmsnorm_forward", rmsnorm, 4.0 * T *C, 2.0 * T *C},
    {"rmsnorm_backward", rmsnorm_back, 11.0 * T *C, 4.0 * T *C},
    {"embed_forward", embed, 0, 2.0 * T *C},
    {"embed_backward", embed_back, (double)T *C, 2.0 * T *C},
    {"gelu_forward", gelu, 26.0 * T *F, 2.0 * T *F},
    {"gelu_backward", gelu_back, 30.0 * T *F, 3.0 * T *F},
    {"gelu_forward tanh", gelu_tanh, 9.0 * T *F, 2.0 * T *F},
    {"swiglu_forward", swiglu, 5.0 * T *F, 3.0 * T *F},
    {"swiglu_backward", swiglu_back, 10.0 * T *F, 5.0 * T *F},
    {"rotary", rotary, 3.0 * T *C, 2.0 * T *C},
    {"softmax_block", softmax_block, 4.0 * Q *KEYS, 2.0 * Q *KEYS},
    {"softmax_block_backward", softmax_block_back, 4.0 * Q *KEYS, 4.0 * Q *KEYS},
    {"scale_rows", scale_rows, (double)Q *D, 2.0 * Q *D},
    {"dot_rows", dot_rows, 2.0 * T *C, 2.0 * T *C},
    {"entmax15_rows", entmax, 40.0 * Q *KEYS, 2.0 * Q *KEYS},
    {"entmax15_rows_backward", entmax_back, 6.0 * Q *KEYS, 3.0 * Q *KEYS},
    {"softmax_columns", softmax_columns, 5.0 * Q *H *WIN, 2.0 * Q *H *WIN},
    {"softmax_columns_backward", softmax_columns_back, 4.0 * Q *H *WIN, 3.0 * Q *H *WIN},
    {"window_scores", window_scores, 2.0 * Q *WIN *C, (double)Q *WIN *C},
    {"window_scores_backward", window_scores_back, 4.0 * Q *WIN *C, 3.0 * Q *WIN *C},
    {"window_mix", window_mix, 2.0 * Q *WIN *C, (double)Q *WIN *C},
    {"window_mix_backward", window_mix_back, 4.0 * Q *WIN *C, 3.0 * Q *WIN *C},
    {"cross_entropy", cross_entropy, 5.0 * T *C, 2.0 * T *C},
    {"sum_tree", sum_tree, 7.0 * T *F, 9.0 * T *F},
    {"sum_squares", sum_squares, 2.0 * T *F, T *F},
    {"adamw", adamw, 13.0 * T *F, 7.0 * T *F},
    {"scale", scale, (double)T *F, 2.0 * T *F},
    {"add", add, (double)T *F, 3.0 * T *F},
};

static int init(struct bench *b, lg_error *err)
{
    size_t big = 2 * N * sizeof(float);
    int ok = 1;
    memset(b, 0, sizeof *b);
    b->k = lg__kernels_get();
    for (int i = 0; i < BUFFERS; i++) ok &= (b->x[i] = lg__alloc(big)) != NULL;
    for (int i = 0; i < 4; i++) ok &= (b->small[i] = lg__alloc(F * sizeof(float))) != NULL;
    ok &= (b->packed = lg__alloc(big)) != NULL;
    size_t half = b->k->half_gemm_tn_scratch(F, C, T), scratch = b->k->gemm_tn_scratch(F, C, T);
    if (half > scratch) scratch = half;
    ok &= (b->scratch = lg__alloc(scratch * sizeof(float))) != NULL;
    ok &= (b->token = lg__alloc(T * sizeof(int32_t))) != NULL;
    ok &= (b->seen = lg__alloc(Q * sizeof(int))) != NULL;
    ok &= (b->key = lg__alloc(Q * WIN * sizeof(int))) != NULL;
    ok &= (b->turn = lg__alloc(Q * WIN * sizeof(int))) != NULL;
    if (!ok) return lg__fail(err, LG_ERROR_MEMORY, "no memory to measure the kernels (30 MB)");
    for (int i = 0; i < BUFFERS; i++)
        for (size_t j = 0; j < 2 * N; j++)
            b->x[i][j] = (float)((j * 2654435761u >> 7) % 1000) * 1e-3f;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < F; j++) b->small[i][j] = 0.5f + (float)(j % 10) * 0.1f;
    for (int i = 0; i < T; i++) b->token[i] = i % 64;
    for (int i = 0; i < Q; i++) b->seen[i] = KEYS;
    for (int i = 0; i < Q; i++) {
        b->first[i] = i * WIN;
        b->n[i] = WIN;
        for (int j = 0; j < WIN; j++) {
            b->key[i * WIN + j] = i + 30 * j;
            b->turn[i * WIN + j] = j / 2;
        }
    }
    return 0;
}

static void clear(struct bench *b)
{
    for (int i = 0; i < BUFFERS; i++) free(b->x[i]);
    for (int i = 0; i < 4; i++) free(b->small[i]);
    free(b->packed);
    free(b->scratch);
    free(b->token);
    free(b->seen);
    free(b->key);
    free(b->turn);
}

/* Best time of one call; short calls are timed many at once. */
static double best_call(struct bench *b, const struct row *r, double seconds)
{
    double best = 1e30, end = lg__now() + seconds;
    int many = 1;
    for (;;) {
        double t = lg__now();
        for (int i = 0; i < many; i++) r->run(b);
        t = lg__now() - t;
        if (t < 2e-4) {
            many *= 2;
            continue;
        }
        best = t / many < best ? t / many : best;
        if (lg__now() > end) return best;
    }
}

int lg_bench_kernels(const lg_bench_options *o, lg_bench_report *report, void *context,
                     lg_error *err)
{
    struct bench b;
    int code = init(&b, err);
    for (size_t i = 0; !code && i < sizeof rows / sizeof *rows; i++) {
        double t = best_call(&b, &rows[i], o->seconds / 5);
        report(context, &(lg_bench_row){.bench = "kernel",
                                        .name = rows[i].name,
                                        .threads = 1,
                                        .gflops = rows[i].flops / t * 1e-9,
                                        .gbytes = rows[i].floats * sizeof(float) / t * 1e-9});
    }
    clear(&b);
    return code;
}
