/* bf16_avx512.c: the matmuls of bf16 by vdpbf16ps, which adds two products to each sum at twice the speed of fp32. It
 * is k_gemm.c with pairs in place of numbers: one 32-bit word holds those of k and k + 1 (0 behind an odd K), the lower
 * half first. Packed order: P[n / NR][k / 2][n % NR]. A block of A is rounded to pairs before its tiles are taken; the
 * sums over K come in blocks of 2 DEPTH, whatever the rows. */
#include "k_table.h"

#define NR (2 * LG_W)
#define INLINE static inline __attribute__((always_inline))
enum { MR = 12, DEPTH = 256, ROWS = 20 * MR };

typedef float word; /* a pair; never used as a number */

static int at_most(int n, int most) { return n < most ? n : most; }
static size_t up(int n, int to) { return (size_t)((n + to - 1) / to * to); }

/* 32 numbers in their order as 16 words; two vectors as the halves of 16 words. */
INLINE vf pair_up(vf first, vf second)
{
    return (vf)(__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}
INLINE vf zip(vf low, vf high)
{
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return (vf)_mm512_permutexvar_epi16(order, (__m512i)pair_up(low, high));
}
INLINE vf load_n(const float *p, int n)
{
    return n >= LG_W ? v_load(p) : n > 0 ? v_load_n(p, n) : v_zero();
}
/* Up to 16 words of one row, n numbers. */
INLINE vf load_words(const float *p, int n)
{
    return pair_up(load_n(p, n), n > LG_W ? load_n(p + LG_W, n - LG_W) : v_zero());
}

static size_t pack_size(int K, int N) { return up(N, NR) * (size_t)((K + 1) / 2); }

static void pack(word *P, const float *b, size_t rs, size_t cs, int K, int N)
{
    int words = (K + 1) / 2;
    for (int n = 0; n < N; n += LG_W) {
        word *to = P + (size_t)(n / NR) * (size_t)words * NR + n % NR;
        const float *from = b + (size_t)n * cs;
        int left = at_most(N - n, LG_W);
        for (int k = 0; k < words && rs == 1; k += LG_W) {
            vf r[LG_W];
            for (int i = 0; i < LG_W; i++)
                r[i] = i < left ? load_words(from + (size_t)i * cs + 2 * k, K - 2 * k) : v_zero();
            v_transpose(r);
            for (int i = 0; i < at_most(words - k, LG_W); i++) v_store(to + (k + i) * NR, r[i]);
        }
        for (int k = 0; k < words && rs != 1; k++, from += 2 * rs) {
            float x[2][LG_W] = {{0}};
            for (int j = 0; j < at_most(K - 2 * k, 2); j++)
                if (cs == 1)
                    v_store(x[j], load_n(from + (size_t)j * rs, left));
                else
                    for (int i = 0; i < left; i++) x[j][i] = from[(size_t)j * rs + (size_t)i * cs];
            v_store(to + (size_t)k * NR, zip(v_load(x[0]), v_load(x[1])));
        }
        if (left == N - n && n % NR == 0) /* the last panel's other half */
            for (int k = 0; k < words; k++) v_store(to + (size_t)k * NR + LG_W, v_zero());
    }
}

/* c[rows, cols] of a tile; word k of row i of the left side is a[i*rs + k*cs]. */
INLINE void tile(float *c, size_t ldc, const word *a, size_t rs, size_t cs, const word *P,
                 const float *bias, int words, int rows, int cols, int add)
{
    __m512 sum[MR][2];
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
        sum[i][0] = sum[i][1] = _mm512_setzero_ps();
        if (i < rows) __builtin_prefetch(c + (size_t)i * ldc, 1);
    }
    for (int k = 0; k < words; k++, P += NR, a += cs) {
        __m512bh b0 = (__m512bh)v_load(P), b1 = (__m512bh)v_load(P + LG_W);
#pragma GCC unroll 12
        for (int i = 0; i < MR; i++) {
            int32_t pair;
            memcpy(&pair, a + (size_t)i * rs, sizeof pair);
            __m512bh x = (__m512bh)_mm512_set1_epi32(pair);
            sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
            sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++)
        for (int j = 0; j < cols && i < rows; j += LG_W) {
            vf s = j ? (vf)sum[i][1] : (vf)sum[i][0];
            if (bias) s += take(bias, j, cols);
            if (add) s += take(c + (size_t)i * ldc, j, cols);
            give(c + (size_t)i * ldc, s, j, cols);
        }
}

static void gemm(float *c, size_t ldc, const float *a, size_t lda, const word *P, const float *bias,
                 int M, int N, int K, int add)
{
    _Alignas(64) word A[ROWS * (DEPTH + LG_W)];
    int all = (K + 1) / 2;
    for (int m0 = 0; m0 < M; m0 += ROWS)
        for (int k0 = 0; k0 < all; k0 += DEPTH) {
            int rows = at_most(M - m0, ROWS), words = at_most(all - k0, DEPTH);
            size_t ld = up(words, LG_W);
            const float *from = a + (size_t)m0 * lda + 2 * k0;
            for (int i = 0; i < (int)up(rows, MR); i++, from += lda)
                for (int k = 0; k < words; k += LG_W)
                    v_store(A + (size_t)i * ld + k,
                            i < rows ? load_words(from + 2 * k, K - 2 * (k0 + k)) : v_zero());
            for (int n = 0; n < N; n += NR)
                for (int m = 0; m < rows; m += MR)
                    tile(c + (size_t)(m0 + m) * ldc + n, ldc, A + (size_t)m * ld, ld, 1,
                         P + (size_t)n * (size_t)all + (size_t)k0 * NR,
                         bias && !k0 ? bias + n : NULL, words, at_most(rows - m, MR),
                         at_most(N - n, NR), add || k0);
        }
}

static size_t gemm_tn_scratch(int M, int N, int R)
{
    size_t words = (size_t)at_most((R + 1) / 2, DEPTH), left = up(M, MR);
    return (up(N, NR) + (left < ROWS ? left : ROWS)) * words + LG_W;
}

static void gemm_tn(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb,
                    int M, int N, int R, int add, word *scratch)
{
    for (int r0 = 0; r0 < R; r0 += 2 * DEPTH, a += 2 * DEPTH * lda) {
        int depth = at_most(R - r0, 2 * DEPTH), words = (depth + 1) / 2;
        word *A = scratch + pack_size(depth, N);
        pack(scratch, b + (size_t)r0 * ldb, ldb, 1, depth, N);
        for (int m0 = 0; m0 < M; m0 += ROWS) {
            int rows = at_most(M - m0, ROWS);
            for (int k = 0; k < words; k++)
                for (int m = 0; m < rows; m += MR) {
                    const float *from = a + (size_t)(2 * k) * lda + m0 + m;
                    int n = at_most(rows - m, MR);
                    vf odd = 2 * k + 1 < depth ? v_load_n(from + lda, n) : v_zero();
                    v_store_n(A + (size_t)m * (size_t)words + k * MR, zip(v_load_n(from, n), odd),
                              MR);
                }
            for (int n = 0; n < N; n += NR)
                for (int m = 0; m < rows; m += MR)
                    tile(c + (size_t)(m0 + m) * ldc + n, ldc, A + (size_t)m * (size_t)words, 1, MR,
                         scratch + (size_t)n * (size_t)words, NULL, words, at_most(rows - m, MR),
                         at_most(N - n, NR), add || r0);
        }
    }
}

void lg__kernels_take_bf16(struct lg__kernels *k)
{
    k->half = "avx512bf16";
    k->half_pack_size = pack_size;
    k->half_pack = pack;
    k->half_gemm = gemm;
    k->half_gemm_tn_scratch = gemm_tn_scratch;
    k->half_gemm_tn = gemm_tn;
}
