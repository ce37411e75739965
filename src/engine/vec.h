/* vec.h: the vector words that the kernels k_*.c are written in, once for every
 * instruction set. LG_W is the number of floats in a vector: 16, 8 or 4. The vectors are
 * the compiler's own (gcc, clang), so that the widest source also compiles, and can be
 * tested, where the CPU has only narrower ones; a few words have no operator and use an
 * intrinsic where there is one. */
#ifndef LG_ENGINE_VEC_H
#define LG_ENGINE_VEC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(LG_ISA_NEON)
#include <arm_neon.h>
#endif

#include "kernels.h"

/* LG_K(gemm) is lg__gemm_avx2 in the build for AVX2. */
#define LG__PASTE2(a, b) a##_##b
#define LG__PASTE(a, b) LG__PASTE2(a, b)
#define LG_K(name) LG__PASTE(lg__##name, LG_ISA)

#if defined(LG_ISA_AVX512)
#define LG_W 16
#elif defined(LG_ISA_AVX2)
#define LG_W 8
#else
#define LG_W 4
#endif

#define LG_INLINE static inline __attribute__((always_inline, unused))

typedef float vf __attribute__((vector_size(LG_W * 4), may_alias));
typedef float vfu __attribute__((vector_size(LG_W * 4), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(LG_W * 4), may_alias));

LG_INLINE vf v_load(const float *p) { return *(const vfu *)p; }
LG_INLINE void v_store(float *p, vf x) { *(vfu *)p = x; }
/* x - 0 is x for every x, and the compiler knows it. */
LG_INLINE vf v_set(float x) { return x - (vf){0}; }
LG_INLINE vf v_zero(void) { return (vf){0}; }

/* The first n <= LG_W numbers, `rest` behind them; storing leaves what is behind them. */
#if LG_W == 16 && defined(__AVX512F__)
LG_INLINE vf v_load_or(const float *p, int n, vf rest)
{
    return (vf)_mm512_mask_loadu_ps((__m512)rest, (__mmask16)((1u << n) - 1), p);
}
LG_INLINE void v_store_n(float *p, vf x, int n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
}
#elif LG_W == 8 && defined(__AVX2__)
LG_INLINE vi v_first(int n) { return (vi){0, 1, 2, 3, 4, 5, 6, 7} < (vi){n, n, n, n, n, n, n, n}; }
LG_INLINE vf v_load_or(const float *p, int n, vf rest)
{
    vi mask = v_first(n);
    return (vf)_mm256_blendv_ps((__m256)rest, _mm256_maskload_ps(p, (__m256i)mask), (__m256)mask);
}
LG_INLINE void v_store_n(float *p, vf x, int n)
{
    _mm256_maskstore_ps(p, (__m256i)v_first(n), (__m256)x);
}
#else
LG_INLINE vf v_load_or(const float *p, int n, vf rest)
{
    memcpy(&rest, p, (size_t)n * sizeof *p);
    return rest;
}
LG_INLINE void v_store_n(float *p, vf x, int n) { memcpy(p, &x, (size_t)n * sizeof *p); }
#endif
LG_INLINE vf v_load_n(const float *p, int n) { return v_load_or(p, n, v_zero()); }

/* Element i and those behind it of an array of n, where fewer than a vector may be left. */
LG_INLINE vf take(const float *p, int i, int n)
{
    return n - i >= LG_W ? v_load(p + i) : v_load_n(p + i, n - i);
}
LG_INLINE void give(float *p, vf x, int i, int n)
{
    if (n - i >= LG_W)
        v_store(p + i, x);
    else
        v_store_n(p + i, x, n - i);
}

LG_INLINE vf v_blend(vi mask, vf yes, vf no) { return (vf)((mask & (vi)yes) | (~mask & (vi)no)); }

/* a > b ? a : b, so that a NaN in b stays. */
LG_INLINE vf v_max(vf a, vf b)
{
#if LG_W == 16 && defined(__AVX512F__)
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif LG_W == 8 && defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return v_blend(a > b, a, b);
#endif
}

LG_INLINE vf v_min(vf a, vf b)
{
#if LG_W == 16 && defined(__AVX512F__)
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif LG_W == 8 && defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return v_blend(a < b, a, b);
#endif
}

LG_INLINE vf v_sqrt(vf x)
{
#if LG_W == 16 && defined(__AVX512F__)
    return (vf)_mm512_sqrt_ps((__m512)x);
#elif LG_W == 8 && defined(__AVX2__)
    return (vf)_mm256_sqrt_ps((__m256)x);
#elif defined(LG_ISA_NEON)
    return (vf)vsqrtq_f32((float32x4_t)x);
#else
    for (int i = 0; i < LG_W; i++) x[i] = sqrtf(x[i]);
    return x;
#endif
}

/* Sums and maxima over the lanes, by halves: a fixed order, the same in every form. */
#if LG_W == 16 && defined(__AVX512F__)
LG_INLINE float v_sum(vf x) { return _mm512_reduce_add_ps((__m512)x); }
LG_INLINE float v_top(vf x) { return _mm512_reduce_max_ps((__m512)x); }
#elif defined(LG_ISA_NEON)
LG_INLINE float v_sum(vf x)
{
    float32x2_t half = vadd_f32(vget_low_f32((float32x4_t)x), vget_high_f32((float32x4_t)x));
    return vget_lane_f32(half, 0) + vget_lane_f32(half, 1);
}

LG_INLINE float v_top(vf x)
{
    float32x2_t a = vget_low_f32((float32x4_t)x), b = vget_high_f32((float32x4_t)x);
    float32x2_t half = vbsl_f32(vcgt_f32(a, b), a, b);
    float first = vget_lane_f32(half, 0), second = vget_lane_f32(half, 1);
    return first > second ? first : second;
}
#else
LG_INLINE float v_sum(vf x)
{
    float a[LG_W];
    memcpy(a, &x, sizeof a);
    for (int half = LG_W / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) a[i] += a[i + half];
    return a[0];
}

LG_INLINE float v_top(vf x)
{
    float a[LG_W];
    memcpy(a, &x, sizeof a);
    for (int half = LG_W / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) a[i] = a[i] > a[i + half] ? a[i] : a[i + half];
    return a[0];
}
#endif

/* e^x: x = n ln 2 + r, e^r = 1 + r + r^2 p(r), p fitted on |r| <= ln(2)/2 (error 5e-9
 * relative, so that rounding dominates). Below -87.3 it is 0, above 88.7 infinity. */
LG_INLINE vf v_exp(vf x)
{
    const vf low = v_set(-87.33f), high = v_set(88.72f), magic = v_set(12582912.0f);
    vf y = v_min(v_set(88.8f), v_max(v_set(-88.0f), x)); /* NaN passes */
    vf t = y * v_set(1.44269504f) + magic;
    vf n = t - magic;
    vf r = n * v_set(-0.693359375f) + y;
    r = n * v_set(2.12194440e-4f) + r;
    vf p = v_set(0.001395049156f) * r + v_set(0.008368889801f);
    p = p * r + v_set(0.041666205972f);
    p = p * r + v_set(0.166665181518f);
    p = p * r + v_set(0.5f);
    p = p * (r * r) + (r + v_set(1.0f));
    /* 2^n in two factors, since n reaches 128. */
    vi e = (vi)t - (vi)magic, half = e >> 1;
    vf a = (vf)((half + 127) << 23), b = (vf)((e - half + 127) << 23);
    p = p * a * b;
    p = (vf)((vi)p & ~(vi)(x < low)); /* -inf and all that would be denormal */
    return v_blend((vi)(x > high), v_set(INFINITY), p);
}

/* The normal distribution: exp(-x^2/2) into *density (without 1/sqrt(2 pi)), Phi(x) as
 * the result. Phi(-|x|) = exp(-x^2/2) R(|x|) with R a polynomial in u = (3-|x|)/(3+|x|),
 * fitted on |x| <= 14 (error about 1e-8 relative up to |x| = 4, where rounding dominates). */
LG_INLINE vf v_phi(vf x, vf *density)
{
    vf ax = v_max(x, -x);
    vf e = v_exp(v_set(-0.5f) * x * x);
    vf u = (v_set(3.0f) - ax) / (v_set(3.0f) + ax);
    vf r = v_set(-5.36718981e-05f) * u + v_set(0.000115543800f);
    r = r * u + v_set(0.000339484919f);
    r = r * u + v_set(-0.000983758480f);
    r = r * u + v_set(-0.00290455623f);
    r = r * u + v_set(0.00613207044f);
    r = r * u + v_set(0.0462132916f);
    r = r * u + v_set(0.123225033f);
    r = r * u + v_set(0.206402615f);
    r = r * u + v_set(0.121513948f);
    vf tail = e * r;
    *density = e;
    return v_blend((vi)(x < v_zero()), tail, v_set(1.0f) - tail);
}

/* 1 / (1 + e^-x). */
LG_INLINE vf v_sigmoid(vf x) { return v_set(1.0f) / (v_set(1.0f) + v_exp(-x)); }

/* gcc 11 has the same under another name. */
#if defined(__clang__) || __GNUC__ >= 12
#define LG__SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LG__SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vi){__VA_ARGS__})
#endif

/* r[0..W-1] as rows of a W x W matrix, transposed: log2 W perfect shuffles of the rows. */
#if LG_W == 16
#define LG__LOW(a, b) LG__SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define LG__HIGH(a, b)                                                                             \
    LG__SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif LG_W == 8
#define LG__LOW(a, b) LG__SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define LG__HIGH(a, b) LG__SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LG__LOW(a, b) LG__SHUFFLE(a, b, 0, 4, 1, 5)
#define LG__HIGH(a, b) LG__SHUFFLE(a, b, 2, 6, 3, 7)
#endif

LG_INLINE void v_transpose(vf *r)
{
    for (int stage = 1; stage < LG_W; stage *= 2) {
        vf t[LG_W];
        for (int i = 0; i < LG_W / 2; i++) {
            t[2 * i] = LG__LOW(r[i], r[i + LG_W / 2]);
            t[2 * i + 1] = LG__HIGH(r[i], r[i + LG_W / 2]);
        }
        memcpy(r, t, sizeof t);
    }
}

#endif
