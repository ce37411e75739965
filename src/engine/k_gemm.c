/* k_gemm.c: matmul. A tile of the result, MR rows by NR = 2 vectors, stays in registers
 * while one pass runs over all of K: each number of the result is one chain of multiply-adds
 * (fused where the CPU can) in the order of k, from zero, whatever the tile it falls in. That is what
 * makes rows invariant, and it needs no blocking over K: the packed operand streams. Where the
 * result goes is fetched while the sums are taken.
 *
 * Packed order: panels of NR columns, P[n / NR][k][n % NR], the last one padded with 0.
 *
 * The half_ rows round both operands to bf16 and then do the same: exact products, so that they differ from those of
 * bf16_avx512.c by the order of sums alone. */
#include "k_table.h"

#define NR (2 * LG_W)
#if LG_W == 16 || defined(LG_ISA_NEON)
#define MR 12 /* 24 sums of 32 registers */
#else
#define MR 6 /* 12 sums of 16 registers */
#endif
#define A_BLOCK (48 * 1024) /* floats of A that stay in the second-level cache */
#define TN_ROWS 512         /* rows that gemm_tn packs at a time */

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

size_t LG_K(pack_size)(int K, int N) { return round_up((size_t)N, NR) * (size_t)K; }

/* Panels from rows that are contiguous in n, a few panels at a time: row after row is read
 * in the order of memory, whatever the stride, and few streams are written. */
static void pack_rows(float *P, const float *b, size_t rs, int K, int N)
{
    enum { PANELS = 8 };
    size_t panel = (size_t)K * NR;
    for (int n0 = 0; n0 < N; n0 += PANELS * NR, P += PANELS * panel) {
        int n1 = N - n0 < PANELS * NR ? N : n0 + PANELS * NR, whole = n1 - (n1 - n0) % NR;
        const float *from = b;
        for (int k = 0; k < K; k++, from += rs) {
            float *to = P + (size_t)k * NR;
            int n = n0;
            for (; n < whole; n += NR, to += panel) {
                v_store(to, v_load(from + n));
                v_store(to + LG_W, v_load(from + n + LG_W));
            }
            if (n == n1) continue;
            memset(to, 0, NR * sizeof *to);
            memcpy(to, from + n, (size_t)(n1 - n) * sizeof *to);
        }
    }
}

/* One panel from columns that are contiguous in k, by blocks of LG_W x LG_W; 0 past the n-th. */
static void pack_columns(float *P, const float *b, size_t cs, int K, int n)
{
    for (int j = 0; j < NR; j += LG_W, P += LG_W) {
        int there = n - j < 0 ? 0 : n - j < LG_W ? n - j : LG_W;
        for (int k = 0; k < K; k += LG_W) {
            vf r[LG_W];
            for (int i = 0; i < LG_W; i++)
                r[i] = i < there ? take(b + (size_t)(j + i) * cs, k, K) : v_zero();
            v_transpose(r);
            for (int i = 0; i < LG_W && k + i < K; i++) v_store(P + (size_t)(k + i) * NR, r[i]);
        }
    }
}

void LG_K(pack)(float *P, const float *b, size_t rs, size_t cs, int K, int N)
{
    if (cs == 1) {
        pack_rows(P, b, rs, K, N);
        return;
    }
    for (int n = 0; n < N; n += NR, P += (size_t)K * NR) {
        int w = N - n < NR ? N - n : NR;
        const float *from = b + (size_t)n * cs;
        if (rs == 1) {
            pack_columns(P, from, cs, K, w);
        } else {
            for (int k = 0; k < K; k++)
                for (int i = 0; i < NR; i++)
                    P[k * NR + i] = i < w ? from[(size_t)k * rs + (size_t)i * cs] : 0.0f;
        }
    }
}

static void round_all(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = lg__bf16(x[i]);
}

size_t LG_K(half_pack_size)(int K, int N) { return LG_K(pack_size)(K, N); }

void LG_K(half_pack)(float *P, const float *b, size_t rs, size_t cs, int K, int N)
{
    LG_K(pack)(P, b, rs, cs, K, N);
    round_all(P, LG_K(pack_size)(K, N));
}

/* c[rows, vectors * LG_W] of which `cols` columns exist. `a` is read at i*rs + k*cs; in calls
 * rows, vectors and one of the strides are constants, so that the sums live in registers. */
LG_INLINE void tile(float *c, size_t ldc, const float *a, size_t rs, size_t cs, const float *P,
                    const float *bias, int K, int rows, int vectors, int cols, int add, int half)
{
    vf sum[MR][8];
    size_t panel = (size_t)K * NR;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++) {
            sum[i][j] = v_zero();
            __builtin_prefetch(c + (size_t)i * ldc + j * LG_W, 1);
        }
    for (int k = 0; k < K; k++, P += NR, a += cs) {
        vf b[8];
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++)
            b[j] = v_load(P + (size_t)(j / 2) * panel + (size_t)(j % 2) * LG_W);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vf x = v_set(half ? lg__bf16(a[(size_t)i * rs]) : a[(size_t)i * rs]);
#pragma GCC unroll 8
            for (int j = 0; j < vectors; j++) sum[i][j] += x * b[j];
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++) {
            float *to = c + (size_t)i * ldc + j * LG_W;
            int n = cols - j * LG_W;
            if (n <= 0) break;
            vf s = sum[i][j];
            if (bias) s += n >= LG_W ? v_load(bias + j * LG_W) : v_load_n(bias + j * LG_W, n);
            if (add) s += n >= LG_W ? v_load(to) : v_load_n(to, n);
            if (n >= LG_W)
                v_store(to, s);
            else
                v_store_n(to, s, n);
        }
    }
}

/* The same with the number of rows as a constant: few rows take several panels at once,
 * so that there are enough independent sums to hide the latency; few columns take half of one. */
LG_INLINE void tile_rows(float *c, size_t ldc, const float *a, size_t rs, size_t cs, const float *P,
                         const float *bias, int K, int rows, int panels, int cols, int add,
                         int half)
{
#define TILE(r, v)                                                                                 \
    case 10 * r + v:                                                                               \
        tile(c, ldc, a, rs, cs, P, bias, K, r, v, cols, add, half);                                \
        break
#define ROWS(r)                                                                                    \
    TILE(r, 1);                                                                                    \
    TILE(r, 2)
    switch (10 * rows + (cols <= LG_W ? 1 : 2 * panels)) {
        TILE(1, 8);
        TILE(2, 4);
        ROWS(1);
        ROWS(2);
        ROWS(3);
        ROWS(4);
        ROWS(5);
        ROWS(6);
#if MR == 12
        ROWS(7);
        ROWS(8);
        ROWS(9);
        ROWS(10);
        ROWS(11);
        ROWS(12);
#endif
    default: break;
    }
#undef ROWS
#undef TILE
}

/* Tiles at an edge, out of the way of the others, whose registers they would take. */
static __attribute__((noinline)) void gemm_edge(float *c, size_t ldc, const float *a, size_t lda,
                                                const float *P, const float *bias, int K, int rows,
                                                int panels, int cols, int add)
{
    tile_rows(c, ldc, a, lda, 1, P, bias, K, rows, panels, cols, add, 0);
}

static __attribute__((noinline)) void tn_edge(float *c, size_t ldc, const float *a, const float *P,
                                              int K, int rows, int cols, int add)
{
    tile_rows(c, ldc, a, 1, MR, P, NULL, K, rows, 1, cols, add, 0);
}

LG_INLINE void gemm(float *c, size_t ldc, const float *a, size_t lda, const float *P,
                    const float *bias, int M, int N, int K, int add, int half)
{
    int block = A_BLOCK / (K > 0 ? K : 1) / MR * MR;
    if (block < 8 * MR) block = 8 * MR;
    for (int m0 = 0; m0 < M; m0 += block) {
        int m1 = M - m0 < block ? M : m0 + block;
        int most = m1 - m0 == 1 ? 4 : m1 - m0 == 2 ? 2 : 1;
        for (int n = 0; n < N;) {
            int panels = N - n > (most - 1) * NR ? most : 1;
            int cols = N - n < panels * NR ? N - n : panels * NR;
            const float *p = P + (size_t)n * (size_t)K;
            const float *from = bias ? bias + n : NULL;
            for (int m = m0; m < m1; m += MR) {
                float *to = c + (size_t)m * ldc + n;
                const float *left = a + (size_t)m * lda;
                if (m1 - m >= MR && cols == NR)
                    tile(to, ldc, left, lda, 1, p, from, K, MR, 2, NR, add, half);
                else if (half)
                    tile_rows(to, ldc, left, lda, 1, p, from, K, m1 - m < MR ? m1 - m : MR, panels,
                              cols, add, 1);
                else
                    gemm_edge(to, ldc, left, lda, p, from, K, m1 - m < MR ? m1 - m : MR, panels,
                              cols, add);
            }
            n += panels * NR;
        }
    }
}

void LG_K(gemm)(float *c, size_t ldc, const float *a, size_t lda, const float *P, const float *bias,
                int M, int N, int K, int add)
{
    gemm(c, ldc, a, lda, P, bias, M, N, K, add, 0);
}

void LG_K(half_gemm)(float *c, size_t ldc, const float *a, size_t lda, const float *P,
                     const float *bias, int M, int N, int K, int add)
{
    gemm(c, ldc, a, lda, P, bias, M, N, K, add, 1);
}

/* Rows of the result that gemm_tn packs at a time, for R rows of the operands. */
static int tn_block(int R)
{
    int block = A_BLOCK / (R < TN_ROWS ? R : TN_ROWS) / MR * MR;
    return block < 4 * MR ? 4 * MR : block;
}

/* For R rows or fewer: a block of fewer rows may be the larger one, by what rounding leaves over. */
size_t LG_K(gemm_tn_scratch)(int M, int N, int R)
{
    size_t rows = (size_t)(R < TN_ROWS ? R : TN_ROWS), most = (size_t)4 * MR * rows;
    size_t left = round_up((size_t)M, MR) * rows;
    if (most < A_BLOCK) most = A_BLOCK;
    return (left < most ? left : most) + round_up((size_t)N, NR) * rows + NR;
}

/* Columns m0..m1 of a as panels [r][MR], 0 past M, row after row. Whole vectors are copied
 * where they fit, each row's surplus overwritten by the next row. */
static void pack_left(float *A, const float *a, size_t lda, int m0, int m1, int M, int R)
{
    size_t panel = (size_t)R * MR;
    for (int r = 0; r < R; r++, a += lda) {
        float *to = A + (size_t)r * MR;
        for (int m = m0; m < m1; m += MR, to += panel) {
            if (LG_W >= MR && M - m >= LG_W && r + 1 < R) {
                v_store(to, v_load(a + m));
            } else {
                for (int i = 0; i < MR; i++) to[i] = m + i < M ? a[m + i] : 0.0f;
            }
        }
    }
}

static void gemm_tn(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb,
                    int M, int N, int R, int add, float *scratch, int half)
{
    for (int r0 = 0; r0 < R; r0 += TN_ROWS) {
        int rows = R - r0 < TN_ROWS ? R - r0 : TN_ROWS, block = tn_block(rows), sum = add || r0;
        size_t panel = (size_t)rows * MR;
        float *B = scratch, *A = scratch + LG_K(pack_size)(rows, N);
        LG_K(pack)(B, b + (size_t)r0 * ldb, ldb, 1, rows, N);
        if (half) round_all(B, LG_K(pack_size)(rows, N));
        for (int m0 = 0; m0 < M; m0 += block) {
            int m1 = M - m0 < block ? M : m0 + block;
            pack_left(A, a + (size_t)r0 * lda, lda, m0, m1, M, rows);
            if (half) round_all(A, round_up((size_t)(m1 - m0), MR) * (size_t)rows);
            for (int n = 0; n < N; n += NR) {
                const float *p = B + (size_t)n * (size_t)rows, *left = A;
                int w = N - n < NR ? N - n : NR;
                for (int m = m0; m < m1; m += MR, left += panel) {
                    float *to = c + (size_t)m * ldc + n;
                    if (M - m >= MR && w == NR)
                        tile(to, ldc, left, 1, MR, p, NULL, rows, MR, 2, NR, sum, 0);
                    else
                        tn_edge(to, ldc, left, p, rows, M - m < MR ? M - m : MR, w, sum);
                }
            }
        }
    }
}

void LG_K(gemm_tn)(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb,
                   int M, int N, int R, int add, float *scratch)
{
    gemm_tn(c, ldc, a, lda, b, ldb, M, N, R, add, scratch, 0);
}

size_t LG_K(half_gemm_tn_scratch)(int M, int N, int R) { return LG_K(gemm_tn_scratch)(M, N, R); }

void LG_K(half_gemm_tn)(float *c, size_t ldc, const float *a, size_t lda, const float *b,
                        size_t ldb, int M, int N, int R, int add, float *scratch)
{
    gemm_tn(c, ldc, a, lda, b, ldb, M, N, R, add, scratch, 1);
}

void LG_K(sum_rows)(float *out, const float *x, int T, int C)
{
    for (int i = 0; i < C; i += LG_W) {
        vf sum = take(out, i, C);
        for (int t = 0; t < T; t++) sum += take(x + (size_t)t * (size_t)C, i, C);
        give(out, sum, i, C);
    }
}
