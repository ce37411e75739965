/* test_bits.c: row-invariance (docs/MATH.md). For every table and every row-wise kernel
 * of eval, the bits of a row computed together with 1..64, 100, 1000 and 4096 rows, in
 * random order, are those of the row computed alone. */
#include "engine/helper.h"

enum { ROWS = 4096 };

/* A row-wise operation: a row of `in` numbers goes in, a row of `out` comes out. What the
 * rows share (weights, bias, a packed operand) is made once from `shared` random numbers. */
struct row_op {
    const char *name;
    int size[3];
    int in, out, shared;
    void (*run)(const struct lg__kernels *k, const struct row_op *op, float *out, const float *in,
                const float *shared, int T);
};

/* Columns from..from+n-1 of in, as a matrix of their own with rows ld apart. */
static float *part(const struct row_op *op, const float *in, int from, int n, int ld, int T)
{
    float *x = hold((size_t)T * (size_t)ld * sizeof *x);
    for (int t = 0; t < T; t++)
        for (int c = 0; c < n; c++)
            x[(size_t)t * (size_t)ld + (size_t)c] =
                in[(size_t)t * (size_t)op->in + (size_t)(from + c)];
    return x;
}

/* The other way. */
static void put(const struct row_op *op, float *out, int from, int n, const float *x, int ld, int T)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < n; c++)
            out[(size_t)t * (size_t)op->out + (size_t)(from + c)] =
                x[(size_t)t * (size_t)ld + (size_t)c];
}

static float *space(int T, int n) { return hold((size_t)T * (size_t)n * sizeof(float)); }

/* gemm with bias; the rows' distance is another for other T. shared: B [K,N], bias [N] */
static void run_gemm(const struct lg__kernels *k, const struct row_op *op, float *out,
                     const float *in, const float *shared, int T)
{
    int K = op->size[0], N = op->size[1], lda = K + T % 3, ldc = N + T % 5;
    struct room P = room_make(k->pack_size(K, N));
    float *c = space(T, ldc);
    k->pack(P.f, shared, (size_t)N, 1, K, N);
    k->gemm(c, (size_t)ldc, part(op, in, 0, K, lda, T), (size_t)lda, P.f, shared + K * N, T, N, K,
            0);
    put(op, out, 0, N, c, ldc, T);
}

static void run_gemm_add(const struct lg__kernels *k, const struct row_op *op, float *out,
                         const float *in, const float *shared, int T)
{
    int K = op->size[0], N = op->size[1];
    struct room P = room_make(k->pack_size(K, N));
    float *c = part(op, in, K, N, N, T);
    k->pack(P.f, shared, 1, (size_t)K, K, N);
    k->gemm(c, (size_t)N, part(op, in, 0, K, K, T), (size_t)K, P.f, NULL, T, N, K, 1);
    put(op, out, 0, N, c, N, T);
}

static void run_layernorm(const struct lg__kernels *k, const struct row_op *op, float *out,
                          const float *in, const float *shared, int T)
{
    int C = op->size[0], weights = op->size[1];
    float *mean = space(T, 1), *rstd = space(T, 1), *y = space(T, C);
    k->layernorm_forward(y, mean, rstd, in, weights ? shared : NULL, weights ? shared + C : NULL, T,
                         C, 1e-5f);
    put(op, out, 0, C, y, C, T);
    put(op, out, C, 1, mean, 1, T);
    put(op, out, C + 1, 1, rstd, 1, T);
}

static void run_rmsnorm(const struct lg__kernels *k, const struct row_op *op, float *out,
                        const float *in, const float *shared, int T)
{
    int C = op->size[0];
    float *rstd = space(T, 1), *y = space(T, C);
    k->rmsnorm_forward(y, rstd, in, op->size[1] ? shared : NULL, T, C, 1e-5f);
    put(op, out, 0, C, y, C, T);
    put(op, out, C, 1, rstd, 1, T);
}

/* n elements, flat: a row is anywhere among vectors and tails */
static void run_gelu(const struct lg__kernels *k, const struct row_op *op, float *out,
                     const float *in, const float *shared, int T)
{
    (void)shared;
    k->gelu_forward(out, in, (size_t)T * (size_t)op->size[0], op->size[1]);
}

static void run_swiglu(const struct lg__kernels *k, const struct row_op *op, float *out,
                       const float *in, const float *shared, int T)
{
    (void)shared;
    k->swiglu_forward(out, in, T, op->size[0]);
}

/* in: x [H*D], cos [R/2], sin [R/2] */
static void run_rotary(const struct lg__kernels *k, const struct row_op *op, float *out,
                       const float *in, const float *shared, int T)
{
    (void)shared;
    int H = op->size[0], D = op->size[1], R = op->size[2], ld = H * D + T % 3;
    float *x = part(op, in, 0, H * D, ld, T);
    k->rotary(x, (size_t)ld, part(op, in, H * D, R / 2, R / 2, T),
              part(op, in, H * D + R / 2, R / 2, R / 2, T), T, H, D, R, 1);
    put(op, out, 0, H * D, x, ld, T);
}

static void run_softmax_columns(const struct lg__kernels *k, const struct row_op *op, float *out,
                                const float *in, const float *shared, int T)
{
    (void)shared;
    int n = op->in;
    float *s = space(T, n);
    for (int t = 0; t < T; t++)
        for (int j = 0; j < n; j++) s[j * T + t] = in[t * n + j];
    k->softmax_columns(s, n, T);
    for (int t = 0; t < T; t++)
        for (int j = 0; j < n; j++) out[t * n + j] = s[j * T + t];
}

static void run_entmax15_rows(const struct lg__kernels *k, const struct row_op *op, float *out,
                              const float *in, const float *shared, int T)
{
    (void)shared;
    memcpy(out, in, (size_t)T * (size_t)op->in * sizeof *out);
    k->entmax15_rows(out, T, op->in);
}

/* A whole number in 0..n-1 made of a random one, the same every time. */
static int chosen(float x, int n) { return (int)(fabsf(x) * 1000.0f) % n; }

/* in: logits [V], target */
static void run_cross_entropy(const struct lg__kernels *k, const struct row_op *op, float *out,
                              const float *in, const float *shared, int T)
{
    (void)shared;
    int V = op->size[0];
    int32_t *target = hold((size_t)T * sizeof *target);
    for (int t = 0; t < T; t++)
        target[t] = chosen(in[(size_t)t * (size_t)op->in + (size_t)V], V + 1) - 1;
    k->cross_entropy(out, NULL, part(op, in, 0, V, V, T), target, 1.0f, T, V);
}

/* in: s [nk], m, l, seen; out: s, m, l, alpha */
static void run_softmax_block(const struct lg__kernels *k, const struct row_op *op, float *out,
                              const float *in, const float *shared, int T)
{
    (void)shared;
    int nk = op->size[0], lds = nk + T % 3, *seen = hold((size_t)T * sizeof *seen);
    float *s = part(op, in, 0, nk, lds, T), *m = part(op, in, nk, 1, 1, T);
    float *l = part(op, in, nk + 1, 1, 1, T), *alpha = space(T, 1);
    for (int t = 0; t < T; t++) {
        seen[t] = chosen(in[(size_t)t * (size_t)op->in + (size_t)nk + 2], nk + 1);
        l[t] = fabsf(l[t]);
        if (m[t] < 0.0f) { /* half of the rows are at their first block */
            m[t] = -INFINITY;
            l[t] = 0.0f;
        }
    }
    k->softmax_block(s, (size_t)lds, m, l, alpha, seen, T, nk);
    put(op, out, 0, nk, s, lds, T);
    put(op, out, nk, 1, m, 1, T);
    put(op, out, nk + 1, 1, l, 1, T);
    put(op, out, nk + 2, 1, alpha, 1, T);
}

/* in: a [C], b [C]; the factor of scale_rows is b's first number */
static void run_dot_rows(const struct lg__kernels *k, const struct row_op *op, float *out,
                         const float *in, const float *shared, int T)
{
    (void)shared;
    int C = op->size[0];
    float *a = part(op, in, 0, C, C, T), *dot = space(T, 1);
    k->dot_rows(dot, a, (size_t)C, part(op, in, C, C, C + 1, T), (size_t)C + 1, T, C);
    k->scale_rows(a, (size_t)C, part(op, in, C, 1, 1, T), T, C);
    put(op, out, 0, C, a, C, T);
    put(op, out, C, 1, dot, 1, T);
}

#define GEMM(K, N) "gemm", {K, N}, K, N, (K) * (N) + (N), run_gemm
#define GEMM_ADD(K, N) "gemm add", {K, N}, (K) + (N), N, (K) * (N), run_gemm_add
#define LAYERNORM(C, w) "layernorm", {C, w}, C, (C) + 2, 2 * (C), run_layernorm
#define RMSNORM(C, w) "rmsnorm", {C, w}, C, (C) + 1, C, run_rmsnorm
#define GELU(C, form) "gelu", {C, form}, C, C, 0, run_gelu
#define SWIGLU(F) "swiglu", {F}, 2 * (F), F, 0, run_swiglu
#define ROTARY(H, D, R) "rotary", {H, D, R}, (H) * (D) + (R), (H) * (D), 0, run_rotary
#define SOFTMAX(n) "softmax_columns", {n}, n, n, 0, run_softmax_columns
#define ENTMAX(n) "entmax15_rows", {n}, n, n, 0, run_entmax15_rows
#define LOSS(V) "cross_entropy", {V}, (V) + 1, 1, 0, run_cross_entropy
#define BLOCK(nk) "softmax_block", {nk}, (nk) + 3, (nk) + 3, 0, run_softmax_block
#define DOT(C) "dot_rows", {C}, 2 * (C), (C) + 1, 0, run_dot_rows

static const struct row_op row_ops[] = {
    {GEMM(1, 1)},
    {GEMM(7, 5)},
    {GEMM(16, 48)},
    {GEMM(64, 64)},
    {GEMM(129, 33)},
    {GEMM(257, 17)},
    {GEMM(1000, 7)},
    {GEMM(100, 129)},
    {GEMM_ADD(3, 2)},
    {GEMM_ADD(65, 31)},
    {GEMM_ADD(300, 16)},
    {LAYERNORM(1, 1)},
    {LAYERNORM(7, 0)},
    {LAYERNORM(64, 1)},
    {LAYERNORM(129, 1)},
    {LAYERNORM(129, 0)},
    {RMSNORM(1, 1)},
    {RMSNORM(7, 0)},
    {RMSNORM(64, 1)},
    {RMSNORM(129, 1)},
    {GELU(1, 0)},
    {GELU(7, 1)},
    {GELU(33, 0)},
    {GELU(64, 1)},
    {SWIGLU(1)},
    {SWIGLU(7)},
    {SWIGLU(33)},
    {SWIGLU(64)},
    {ROTARY(1, 2, 2)},
    {ROTARY(2, 7, 4)},
    {ROTARY(3, 16, 16)},
    {ROTARY(2, 33, 10)},
    {SOFTMAX(1)},
    {SOFTMAX(2)},
    {SOFTMAX(7)},
    {SOFTMAX(16)},
    {SOFTMAX(33)},
    {SOFTMAX(100)},
    {ENTMAX(1)},
    {ENTMAX(2)},
    {ENTMAX(7)},
    {ENTMAX(16)},
    {ENTMAX(33)},
    {LOSS(1)},
    {LOSS(2)},
    {LOSS(8)},
    {LOSS(17)},
    {LOSS(100)},
    {BLOCK(1)},
    {BLOCK(7)},
    {BLOCK(16)},
    {BLOCK(33)},
    {BLOCK(64)},
    {BLOCK(129)},
    {DOT(1)},
    {DOT(7)},
    {DOT(33)},
    {DOT(64)},
};

/* The first row whose bits are others together with T than alone; -1: none. */
static int first_other_row(const float *together, const float *alone, const int *order, int T,
                           int width)
{
    size_t row = (size_t)width * sizeof(float);
    for (int t = 0; t < T; t++)
        if (memcmp((const char *)together + (size_t)t * row,
                   (const char *)alone + (size_t)order[t] * row, row))
            return t;
    return -1;
}

static int rows_that_change(const struct lg__kernels *k, const struct row_op *op, uint64_t seed,
                            int quiet)
{
    lg_rng r;
    lg_rng_init(&r, 5, 0, seed);
    size_t in_n = (size_t)op->in, out_n = (size_t)op->out;
    float *in = malloc(ROWS * in_n * sizeof *in), *taken = malloc(ROWS * in_n * sizeof *in);
    float *alone = malloc(ROWS * out_n * sizeof *in), *out = malloc(ROWS * out_n * sizeof *in);
    float *shared = malloc(((size_t)op->shared + 1) * sizeof *in);
    int changed = 0;
    assert_true(in && taken && alone && out && shared);
    for (size_t i = 0; i < ROWS * in_n; i++) in[i] = (float)lg_rng_normal(&r);
    for (int i = 0; i < op->shared; i++) shared[i] = (float)lg_rng_normal(&r);
    for (size_t t = 0; t < ROWS; t++, release())
        op->run(k, op, alone + t * out_n, in + t * in_n, shared, 1);

    for (int step = 1; step <= 67; step++, release()) {
        int T = step <= 64 ? step : step == 65 ? 100 : step == 66 ? 1000 : ROWS;
        int *order = random_order(&r, ROWS);
        for (int t = 0; t < T; t++)
            memcpy(taken + (size_t)t * in_n, in + (size_t)order[t] * in_n, in_n * sizeof *in);
        op->run(k, op, out, taken, shared, T);
        int t = first_other_row(out, alone, order, T, op->out);
        if (t < 0) continue;
        if (!changed++ && !quiet)
            print_error("%s: %s [%d %d %d]: row %d of %d has other bits than alone\n", k->name,
                        op->name, op->size[0], op->size[1], op->size[2], t, T);
    }
    free(in), free(taken), free(alone), free(out), free(shared);
    return changed;
}

static void a_row_has_the_same_bits_in_any_company(void **state)
{
    (void)state;
    int changed = 0;
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++)
        for (size_t i = 0; i < sizeof row_ops / sizeof row_ops[0]; i++)
            changed += rows_that_change(*k, &row_ops[i], i, 0);
    assert_int_equal(changed, 0);
}

/* What oneDNN does: another order of the sum when the rows are few; here, backwards. The
 * naive packed operand holds B's columns one after the other. */
static void gemm_of_another_order(float *c, size_t ldc, const float *a, size_t lda, const float *P,
                                  const float *bias, int M, int N, int K, int add)
{
    if (M >= 16) {
        lg__naive32.gemm(c, ldc, a, lda, P, bias, M, N, K, add);
        return;
    }
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0, *to = c + (size_t)m * ldc + n;
            for (int k = K - 1; k >= 0; k--) sum += a[(size_t)m * lda + (size_t)k] * P[n * K + k];
            if (bias) sum += bias[n];
            *to = add ? *to + sum : sum;
        }
}

static void another_order_for_few_rows_is_seen(void **state)
{
    (void)state;
    struct lg__kernels wrong = lg__naive32;
    wrong.gemm = gemm_of_another_order;
    for (size_t i = 0; i < sizeof row_ops / sizeof row_ops[0]; i++)
        if (row_ops[i].run == run_gemm && row_ops[i].size[0] > 2)
            assert_true(rows_that_change(&wrong, &row_ops[i], i, 1) > 0);
}

/* Packed and cached: a query meets its last block of keys with more keys behind those that
 * it sees, or with none. Neither the sum of the weights nor the mix of the values changes. */
static void keys_not_seen_change_no_bits(void **state)
{
    (void)state;
    enum { NK = 70, D = 19 };
    lg_rng r;
    lg_rng_init(&r, 6, 0, 0);
    for (const struct lg__kernels *const *k = lg__kernels_all(); *k; k++)
        for (int seen = 1; seen <= NK; seen++, release()) {
            float s[NK], p[NK], value[NK * D], first_m = 0, first_l = 0, first_out[D], out[D];
            for (int i = 0; i < NK; i++) s[i] = 3.0f * (float)lg_rng_normal(&r);
            for (int i = 0; i < NK * D; i++) value[i] = (float)lg_rng_normal(&r);
            for (int nk = seen; nk <= NK; nk++) {
                float m = -INFINITY, l = 0.0f, alpha;
                struct room P = room_make((*k)->pack_size(nk, D));
                memcpy(p, s, sizeof p);
                (*k)->softmax_block(p, NK, &m, &l, &alpha, &seen, 1, nk);
                (*k)->pack(P.f, value, D, 1, nk, D);
                (*k)->gemm(out, D, p, NK, P.f, NULL, 1, D, nk, 0);
                if (nk == seen) {
                    first_m = m;
                    first_l = l;
                    memcpy(first_out, out, sizeof out);
                }
                if (m != first_m || l != first_l || memcmp(out, first_out, sizeof out))
                    fail_msg("%s: %d keys seen of %d: other bits", (*k)->name, seen, nk);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_same_bits_in_any_company),
        cmocka_unit_test(another_order_for_few_rows_is_seen),
        cmocka_unit_test(keys_not_seen_change_no_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
