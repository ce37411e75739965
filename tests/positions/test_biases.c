/* test_biases.c: the encodings that are added to the scores, relative, ALiBi, T5 and FIRE, against
 * their closed forms. The numbers written out below were made apart from the code: by hand where a
 * comment says so, else with mpmath at 30 digits from the published formula (ALiBi: from the
 * authors' recursive get_slopes). Learned ones are also differentiated numerically. Without it a
 * table could be read one row off, or the mistakes of peers (docs/MATH.md) be made again. */
#include "positions/closed_form.h"

static float *params(const struct lg__encoding *e, const lg_model_config *c, int *n)
{
    int rows, cols;
    e->shape(c, &rows, &cols);
    *n = rows * cols;
    return numbers(*n);
}

/* One query and up to 8 keys at one level. */
static struct lg__pairs one_level(int32_t query, const int32_t *keys, int n)
{
    struct lg__pairs p = {.query = {query}, .key = {keys}, .n = n};
    return p;
}

/* The bias of a single pair of IDs at one level. */
static double bias_of(const struct lg__encoding *e, const float *param, const lg_model_config *c,
                      int head, int32_t query, int32_t key)
{
    float out = -77;
    struct lg__pairs p = one_level(query, &key, 1);
    e->bias(&out, param, c, head, &p);
    return (double)out;
}

/* ---- Relative --------------------------------------------------------------------------- */

/* Head h has the row 10h + 0 .. 10h + 3 for differences -2 .. 1. */
static void relative_looks_up_the_difference(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    int n, rows, cols;
    float *b = params(&lg__encoding_relative, &c, &n);
    lg__encoding_relative.shape(&c, &rows, &cols);
    assert_int_equal(rows, 3);
    assert_int_equal(cols, 4);
    assert_null(lg__encoding_relative.init);
    for (int i = 0; i < n; i++) b[i] = (float)(10 * (i / 4) + i % 4);
    static const int want[] = {0, 0, 0, 1, 2, 3, 3, 3}; /* differences -4 .. 3 */
    for (int h = 0; h < 3; h++)
        for (int d = -4; d <= 3; d++)
            near(bias_of(&lg__encoding_relative, b, &c, h, 7, 7 + d), 10 * h + want[d + 4], 0);
    free(b);
}

/* DeepMind's randomized positions: a table of L rows was read with indices up to 2L - 1, so all
 * differences >= 0 fell on one row. Here both ends and all between are told apart, and IDs at
 * the far end of 32 bits neither wrap around nor leave the table. */
static void relative_index_range_at_both_ends(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    int n;
    c.heads = 1;
    c.window_lo[0] = -5;
    c.window_hi[0] = 5;
    float *b = params(&lg__encoding_relative, &c, &n);
    assert_int_equal(n, 11);
    for (int i = 0; i < n; i++) b[i] = (float)(i - 5);
    const struct lg__encoding *e = &lg__encoding_relative;
    for (int d = -5; d <= 5; d++) {
        near(bias_of(e, b, &c, 0, 100, 100 + d), d, 0);
        near(bias_of(e, b, &c, 0, FAR - 5, FAR - 5 + d), d, 0);
    }
    near(bias_of(e, b, &c, 0, FAR, 0), -5, 0);
    near(bias_of(e, b, &c, 0, 0, FAR), 5, 0);
    near(bias_of(e, b, &c, 0, FAR, FAR), 0, 0);
    near(bias_of(e, b, &c, 0, LG_ABSENT, FAR), 0, 0);
    near(bias_of(e, b, &c, 0, FAR, LG_ABSENT), 0, 0);
    int32_t keys[] = {0, FAR};
    float dout[] = {1, 2};
    struct lg__pairs p = one_level(FAR, keys, 2);
    e->bias_backward(b, dout, NULL, &c, 0, &p); /* adds to what is there */
    near((double)b[0], -5 + 1, 0);
    near((double)b[5], 0 + 2, 0);
    free(b);
}

/* Three levels, tables of 4, 6 and 8: each number says where it lies, 100 a level. Columns of a
 * head: 0..3 differences -2..1, 4..9 -3..2, 10..17 -4..3. */
static void relative_adds_the_levels(void **state)
{
    (void)state;
    lg_model_config c = config(3);
    int n;
    float *b = params(&lg__encoding_relative, &c, &n), out[4];
    assert_int_equal(n, 3 * 18);
    for (int i = 0; i < 18; i++)
        b[2 * 18 + i] = (float)(i < 4 ? i : i < 10 ? 100 * (i - 4) : 10000 * (i - 10));
    int32_t k0[] = {10, 11, LG_ABSENT, 0}, k1[] = {20, LG_ABSENT, LG_ABSENT, 99},
            k2[] = {30, 29, LG_ABSENT, LG_ABSENT};
    struct lg__pairs p = {.query = {10, 20, 30}, .key = {k0, k1, k2}, .n = 4};
    lg__encoding_relative.bias(out, b, &c, 2, &p);
    near((double)out[0], 2 + 300 + 40000, 0); /* differences 0, 0, 0 */
    near((double)out[1], 3 + 30000, 0);       /* 1, absent, -1 */
    near((double)out[2], 0, 0);
    near((double)out[3], 0 + 500, 0); /* clipped to -2 and to 2 */
    p.query[1] = LG_ABSENT;
    lg__encoding_relative.bias(out, b, &c, 2, &p);
    near((double)out[0], 2 + 40000, 0);
    near((double)out[3], 0, 0);
    free(b);
}

/* ---- ALiBi ------------------------------------------------------------------------------ */

static void alibi_slopes(void **state)
{
    (void)state;
    static const struct {
        int heads;
        double slope[12];
    } want[] = {
        {1, {0.00390625}},
        {2, {0.0625, 0.00390625}},
        {3, {0.0625, 0.00390625, 0.25}},
        {4, {0.25, 0.0625, 0.015625, 0.00390625}},
        {6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}},
        {8, {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}},
        {12,
         {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.70710678118654752,
          0.35355339059327376, 0.17677669529663688, 0.08838834764831844}},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        lg_model_config c = config(1);
        c.heads = want[i].heads;
        for (int h = 0; h < c.heads; h++) {
            double m = want[i].slope[h];
            near(bias_of(&lg__encoding_alibi, NULL, &c, h, 8, 8), 0, 0);
            near(bias_of(&lg__encoding_alibi, NULL, &c, h, 8, 7) / -m, 1, 1e-7);
            near(bias_of(&lg__encoding_alibi, NULL, &c, h, 100, 0) / (-100 * m), 1, 1e-7);
            near(bias_of(&lg__encoding_alibi, NULL, &c, h, 3, 8) / (-5 * m), 1, 1e-7); /* ahead */
        }
    }
}

/* Slope 0.0625 (first of 2 heads). */
static void alibi_adds_the_distances_of_levels(void **state)
{
    (void)state;
    lg_model_config c = config(3);
    float out[4];
    int32_t k0[] = {6, LG_ABSENT, LG_ABSENT, 0}, k1[] = {23, 20, LG_ABSENT, 0},
            k2[] = {30, 22, LG_ABSENT, FAR};
    struct lg__pairs p = {.query = {10, 20, 30}, .key = {k0, k1, k2}, .n = 4};
    c.heads = 2;
    lg__encoding_alibi.bias(out, NULL, &c, 0, &p);
    near((double)out[0], -0.0625 * (4 + 3 + 0), 0);
    near((double)out[1], -0.0625 * (0 + 8), 0);
    near((double)out[2], 0, 0);
    near((double)out[3] / (-0.0625 * (10.0 + 20.0 + 2147483617.0)), 1, 1e-7);
    p.query[0] = p.query[1] = LG_ABSENT;
    lg__encoding_alibi.bias(out, NULL, &c, 0, &p);
    near((double)out[0], 0, 0);
    near((double)out[1], -0.5, 0);
}

/* ---- T5 --------------------------------------------------------------------------------- */

/* The bucket of query - key = d: entry i of the table is i. */
static double t5_bucket(int32_t query, int32_t key)
{
    lg_model_config c = config(1);
    float b[64];
    c.heads = 1;
    for (int i = 0; i < 64; i++) b[i] = (float)i;
    return bias_of(&lg__encoding_t5, b, &c, 0, query, key);
}

/* First distance of each bucket from 16 on, by
 *   python3 -c 'for m in range(16):
 *     d = 16
 *     while d**16 < 2**(64 + 3*m): d += 1
 *     print(d)'
 * for floor(16 ln(d/16) / ln 8) >= m is d^16 >= 2^(64 + 3m), all in integers. */
static const int t5_first[16] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};

static void t5_bucket_edges(void **state)
{
    (void)state;
    static const struct {
        int32_t distance;
        int bucket;
    } want[] = {{0, 0},   {1, 1},   {15, 15},  {16, 16},  {17, 16},         {18, 16},
                {19, 17}, {31, 21}, {32, 21},  {127, 31}, {128, 31},        {129, 31},
                {45, 23}, {46, 24}, {112, 30}, {113, 31}, {1000000000, 31}, {FAR, 31}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        near(t5_bucket(want[i].distance, 0), want[i].bucket, 0);
        near(t5_bucket(FAR, FAR - want[i].distance), want[i].bucket, 0);
        if (want[i].distance) near(t5_bucket(0, want[i].distance), 32 + want[i].bucket, 0);
    }
    for (int m = 0; m < 16; m++) {
        near(t5_bucket(t5_first[m], 0), 16 + m, 0);
        near(t5_bucket(t5_first[m] - 1, 0), m ? 15 + m : 15, 0);
    }
    /* and the formula as published; no distance from 17 to 127 is nearer than 0.01 to an edge */
    for (int d = 17; d < 128; d++)
        near(t5_bucket(d, 0), fmin(31, 16 + floor(16 * log(d / 16.0) / log(8.0))), 0);
}

/* Levels lie side by side, 64 columns each. */
static void t5_adds_the_levels(void **state)
{
    (void)state;
    lg_model_config c = config(2);
    int n, rows, cols;
    float *b = params(&lg__encoding_t5, &c, &n), out[3];
    lg__encoding_t5.shape(&c, &rows, &cols);
    assert_int_equal(rows, 3);
    assert_int_equal(cols, 128);
    assert_null(lg__encoding_t5.init);
    for (int i = 0; i < 64; i++) {
        b[128 + i] = (float)i;
        b[128 + 64 + i] = (float)(1000 * i);
    }
    int32_t k0[] = {30, 53, LG_ABSENT}, k1[] = {7, LG_ABSENT, LG_ABSENT};
    struct lg__pairs p = {.query = {50, 5}, .key = {k0, k1}, .n = 3};
    lg__encoding_t5.bias(out, b, &c, 1, &p);
    near((double)out[0], 17 + 1000 * (32 + 2), 0); /* 20 behind: bucket 17; 2 ahead */
    near((double)out[1], 32 + 3, 0);
    near((double)out[2], 0, 0);
    p.query[0] = LG_ABSENT;
    lg__encoding_t5.bias(out, b, &c, 1, &p);
    near((double)out[0], 34000, 0);
    near((double)out[1], 0, 0);
    free(b);
}

/* ---- FIRE -------------------------------------------------------------------------------- */

/* The row of a level: ln c, ln L, a[32], b[32], then for each head w[32] and its bias. */
enum { FIRE_A = 2, FIRE_B = 34, FIRE_HEADS = 66, FIRE_HEAD = 33 };

/* f(x) = x + bias: max(x, 0) - max(-x, 0). */
static void fire_identity(float *row, int heads, double c, double L)
{
    row[0] = (float)log(c);
    row[1] = (float)log(L);
    row[FIRE_A + 3] = 1;
    row[FIRE_A + 20] = -1;
    for (int h = 0; h < heads; h++) {
        float *w = row + FIRE_HEADS + FIRE_HEAD * h;
        w[3] = 1;
        w[20] = -1;
        w[32] = (float)(10 * h);
    }
}

/* Position-coupling's code divides by psi(min(L, i)). The paper's max keeps x within 0..1: below
 * L the mistake gives 0.289 for 0.175, above it 0.606 for 0.520 (and over 1 at the far end). */
static void fire_divides_by_the_larger_of_L_and_the_query_id(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(1);
    int n, rows, cols;
    float *p = params(e, &c, &n);
    e->shape(&c, &rows, &cols);
    assert_int_equal(rows, 1);
    assert_int_equal(cols, 66 + 33 * 3);
    fire_identity(p, 3, 0.1, 512);
    near(bias_of(e, p, &c, 0, 100, 90), 0.17525479720226921, 1e-6);
    near(bias_of(e, p, &c, 0, 1000, 900), 0.5195737064824407, 1e-6);
    near(bias_of(e, p, &c, 0, 1000, 0), 1, 1e-6);
    near(bias_of(e, p, &c, 0, 1000, 1000), 0, 0);
    near(bias_of(e, p, &c, 2, 100, 90), 20.17525479720226921, 1e-5);
    near(bias_of(e, p, &c, 0, FAR, 0), 1, 1e-6);
    near(bias_of(e, p, &c, 0, FAR, 1000), 0.99999997572781133, 1e-6);
    memset(p, 0, (size_t)n * sizeof *p);
    fire_identity(p, 3, 2, 50); /* c and L are those of the parameters */
    near(bias_of(e, p, &c, 0, 60, 53), 0.56467232573128293, 1e-6);
    near(bias_of(e, p, &c, 0, 40, 33), 0.58677778645652548, 1e-6);
    free(p);
}

static void fire_keys_ahead_have_the_other_sign(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(1);
    int n;
    float *p = params(e, &c, &n);
    fire_identity(p, 3, 0.1, 512);
    near(bias_of(e, p, &c, 0, 100, 110), -0.17525479720226921, 1e-6);
    near(bias_of(e, p, &c, 0, 100, 200), -0.60628198675939744, 1e-6);
    near(bias_of(e, p, &c, 0, 0, FAR), -4.8507148797399772, 1e-5);
    free(p);
}

/* f itself, by hand at x = 0 and x = 1: with x = 1 (query 1000, key 0) unit k is
 * max(k/16 - 1 + 0.5, 0): sum over k = 9..31 of (k - 8)/16 = (1 + 2 + .. + 23)/16 = 17.25;
 * with x = 0 unit k is 0.5: 32 * 0.5 = 16. */
static void fire_network_by_hand(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(1);
    int n;
    float *p = params(e, &c, &n);
    p[0] = (float)log(0.1);
    p[1] = (float)log(512);
    for (int k = 0; k < 32; k++) {
        p[FIRE_A + k] = (float)k / 16 - 1;
        p[FIRE_B + k] = 0.5f;
        p[FIRE_HEADS + FIRE_HEAD + k] = 2; /* head 1 */
    }
    p[FIRE_HEADS + FIRE_HEAD + 32] = -3;
    near(bias_of(e, p, &c, 1, 1000, 0), 2 * 17.25 - 3, 1e-5);
    near(bias_of(e, p, &c, 1, 1000, 1000), 2 * 16 - 3, 1e-5);
    near(bias_of(e, p, &c, 0, 1000, 1000), 0, 0); /* the other heads have nothing */
    p[FIRE_A + 4] = NAN;                          /* a broken weight is seen */
    assert_true(isnan(bias_of(e, p, &c, 1, 1000, 0)));
    free(p);
}

static void fire_adds_the_levels(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(2);
    int n;
    float *p = params(e, &c, &n), out[4];
    int size = n / 2;
    fire_identity(p, 3, 0.1, 512);
    fire_identity(p + size, 3, 2, 50);
    int32_t k0[] = {90, LG_ABSENT, 110, LG_ABSENT}, k1[] = {53, 53, LG_ABSENT, LG_ABSENT};
    struct lg__pairs q = {.query = {100, 60}, .key = {k0, k1}, .n = 4};
    e->bias(out, p, &c, 1, &q); /* the output bias of head 1 is 10 in both sets */
    near((double)out[0], 10.17525479720226921 + 10.56467232573128293, 1e-5);
    near((double)out[1], 10.56467232573128293, 1e-5);
    near((double)out[2], 10 - 0.17525479720226921, 1e-5);
    near((double)out[3], 0, 0); /* no bias either */
    q.query[1] = LG_ABSENT;
    e->bias(out, p, &c, 1, &q);
    near((double)out[0], 10.17525479720226921, 1e-5);
    near((double)out[1], 0, 0);
    free(p);
}

static void check_uniform(const float *x, int n, int step, double most)
{
    double top = 0, sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        double v = (double)x[(size_t)i * (size_t)step] / most;
        top = fmax(top, fabs(v));
        sum += v / n;
        square += v * v / n;
    }
    assert_true(top <= 1.0 + 1e-6 && top > 0.8); /* 32 numbers and more: 0.8^32 is 1 in 1000 */
    near(sum, 0, 0.4);
    near(square, 1.0 / 3, 0.2);
}

static void fire_starts_as_torch_does(void **state)
{
    (void)state;
    lg_model_config c = config(2);
    int n;
    float *p = params(&lg__encoding_fire, &c, &n);
    lg_rng r;
    lg_rng_init(&r, 5, 0, 0);
    lg__encoding_fire.init(p, &c, &r);
    for (int l = 0; l < 2; l++) {
        const float *row = p + n / 2 * l;
        near(exp((double)row[0]), 0.1, 1e-7);
        near(exp((double)row[1]), 512, 1e-3);
        check_uniform(row + FIRE_A, 32, 1, 1);
        check_uniform(row + FIRE_B, 32, 1, 1);
        for (int h = 0; h < 3; h++) {
            const float *w = row + FIRE_HEADS + FIRE_HEAD * h;
            check_uniform(w, 32, 1, 0.17677669529663688); /* 1 / sqrt(32) */
            near((double)w[32], 0, 0);
        }
    }
    assert_memory_not_equal(p, p + n / 2, sizeof *p * 66); /* levels differ */
    free(p);
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* 3 queries with up to 8 keys on 2 levels: near and far, behind and ahead, past L, some absent. */
enum { QUERIES = 3, KEYS = 8 };
static const int32_t query_ids[QUERIES][2] = {{10, 40}, {700, 3}, {20, LG_ABSENT}};
static const int32_t key_ids[2][KEYS] = {{10, 9, 12, 0, 300, 21, LG_ABSENT, 690},
                                         {40, 2, 41, 700, 5, LG_ABSENT, LG_ABSENT, 38}};

static struct lg__pairs pairs_of(int q)
{
    struct lg__pairs p = {
        .query = {query_ids[q][0], query_ids[q][1]}, .key = {key_ids[0], key_ids[1]}, .n = KEYS};
    return p;
}

/* What is differentiated: all biases of all heads, each times a weight of its own. */
static double weight_of(int head, int q, int j) { return sin(1.0 + 7 * head + 3 * q + 1.3 * j); }

static double bias_loss(const struct lg__encoding *e, const float *param, const lg_model_config *c)
{
    double sum = 0;
    for (int h = 0; h < c->heads; h++)
        for (int q = 0; q < QUERIES; q++) {
            float out[KEYS];
            struct lg__pairs p = pairs_of(q);
            e->bias(out, param, c, h, &p);
            for (int j = 0; j < KEYS; j++) sum += weight_of(h, q, j) * (double)out[j];
        }
    return sum;
}

/* Into what is there, 0.25 everywhere: the hook adds. */
static float *bias_gradient(const struct lg__encoding *e, const float *param,
                            const lg_model_config *c, int n)
{
    float *g = numbers(n);
    for (int i = 0; i < n; i++) g[i] = 0.25f;
    for (int h = 0; h < c->heads; h++)
        for (int q = 0; q < QUERIES; q++) {
            float dout[KEYS];
            struct lg__pairs p = pairs_of(q);
            for (int j = 0; j < KEYS; j++) dout[j] = (float)weight_of(h, q, j);
            e->bias_backward(g, dout, param, c, h, &p);
        }
    for (int i = 0; i < n; i++) g[i] -= 0.25f;
    return g;
}

static double difference(const struct lg__encoding *e, float *param, const lg_model_config *c,
                         int i, float step)
{
    float was = param[i];
    param[i] = was + step;
    double up = param[i], above = bias_loss(e, param, c);
    param[i] = was - step;
    double slope = (above - bias_loss(e, param, c)) / (up - (double)param[i]);
    param[i] = was;
    return slope;
}

static void check_gradient(const struct lg__encoding *e, float *param, const lg_model_config *c,
                           int n, float step, double error)
{
    float *g = bias_gradient(e, param, c, n);
    int moved = 0;
    for (int i = 0; i < n; i++) {
        double want = difference(e, param, c, i, step);
        if (!(fabs((double)g[i] - want) <= error * (1 + fabs(want))))
            fail_msg("%s, parameter %d: gradient %.8g, difference %.8g", e->name, i, (double)g[i],
                     want);
        moved += want != 0;
    }
    assert_true(moved >= 20);
    free(g);
}

/* These two are linear in their parameters: any step is exact but for rounding. */
static void gradients_of_the_tables(void **state)
{
    (void)state;
    const struct lg__encoding *both[] = {&lg__encoding_relative, &lg__encoding_t5};
    for (int i = 0; i < 2; i++) {
        lg_model_config c = config(2);
        int n;
        float *param = params(both[i], &c, &n);
        for (int k = 0; k < n; k++) param[k] = (float)cos(k);
        check_gradient(both[i], param, &c, n, 0.5f, 1e-5);
        free(param);
    }
}

/* x of the closed form; for the distance of a unit from its kink. */
static double fire_x(const float *row, int32_t query, int32_t key)
{
    double c = exp((double)row[0]), most = fmax(exp((double)row[1]), query);
    double x = log(c * fabs((double)query - key) + 1) / log(c * most + 1);
    return key > query ? -x : x;
}

static double nearest_kink(const float *row, int level, int k)
{
    double least = INFINITY;
    for (int q = 0; q < QUERIES; q++)
        for (int j = 0; j < KEYS; j++) {
            int32_t query = query_ids[q][level], key = key_ids[level][j];
            if (query == LG_ABSENT || key == LG_ABSENT) continue;
            double unit =
                (double)row[FIRE_A + k] * fire_x(row, query, key) + (double)row[FIRE_B + k];
            least = fmin(least, fabs(unit));
        }
    return least;
}

/* Random parameters with every unit at least 0.02 from its kink at every pair, so that a small
 * step crosses none. */
static float *fire_smooth(const lg_model_config *c, int *n)
{
    float *param = params(&lg__encoding_fire, c, n);
    lg_rng r;
    lg_rng_init(&r, 11, 0, 0);
    lg__encoding_fire.init(param, c, &r);
    for (int l = 0; l < c->levels; l++) {
        float *row = param + *n / c->levels * l;
        row[1] = (float)log(l ? 30 : 100); /* L among the queries' IDs */
        for (int k = 0; k < 32; k++)
            while (nearest_kink(row, l, k) < 0.02) row[FIRE_B + k] += 0.01f;
    }
    return param;
}

static void gradient_of_fire(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(2);
    int n;
    float *param = fire_smooth(&c, &n);
    check_gradient(e, param, &c, n, 0x1p-7f, 2e-4);
    float *g = bias_gradient(e, param, &c, n);
    for (int l = 0; l < 2; l++) /* the check above is not of zeros */
        for (int i = 0; i < 2; i++) assert_true(fabs((double)g[n / 2 * l + i]) > 0.01);
    free(g);
    free(param);
}

/* Past L the query's own ID is the larger: L gets nothing, c still does. At a tie, L does. */
static void fire_gradient_of_L_stops_past_it(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_fire;
    lg_model_config c = config(1);
    int n;
    int32_t keys[] = {1, 0, 3};
    float *param = params(e, &c, &n), *g = numbers(n), dout[] = {1, 2, 0.5f};
    fire_identity(param, 3, 2, 1); /* ln L = 0: exp gives 1 without an error */
    struct lg__pairs p = one_level(2, keys, 3);
    e->bias_backward(g, dout, param, &c, 0, &p);
    assert_true(fabs((double)g[0]) > 0.01);
    near((double)g[1], 0, 0);
    p = one_level(1, keys, 3);
    e->bias_backward(g, dout, param, &c, 0, &p);
    assert_true(fabs((double)g[1]) > 0.01);
    free(param);
    free(g);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* A key's bias has the same bits whatever keys are beside it, and nothing is written past n: the
 * decoder meets keys in other numbers than the trainer. */
static void a_bias_does_not_depend_on_its_neighbours(void **state)
{
    (void)state;
    enum { MOST = 70 };
    int32_t keys[2][MOST];
    for (int j = 0; j < MOST; j++) {
        keys[0][j] = j % 13 == 5 ? LG_ABSENT : j * j % 900;
        keys[1][j] = j % 7 == 2 ? LG_ABSENT : 3 * j;
    }
    for (int i = 0; lg__encodings[i]; i++) {
        const struct lg__encoding *e = lg__encodings[i];
        lg_model_config c = config(2);
        int n = 1;
        lg_rng r;
        if (!e->bias) continue;
        float *param = e->shape ? params(e, &c, &n) : numbers(1), out[MOST + 1], alone;
        lg_rng_init(&r, 3, 0, 0);
        for (int k = 0; k < n; k++) param[k] = (float)lg_rng_normal(&r);
        for (int count = 1; count <= MOST; count++) {
            struct lg__pairs p = {.query = {60, 90}, .key = {keys[0], keys[1]}, .n = count};
            out[count] = 55;
            e->bias(out, param, &c, 1, &p);
            assert_true(out[count] == 55);
            for (int j = 0; j < count; j++) {
                struct lg__pairs one = {
                    .query = {60, 90}, .key = {keys[0] + j, keys[1] + j}, .n = 1};
                e->bias(&alone, param, &c, 1, &one);
                assert_memory_equal(&alone, &out[j], sizeof alone);
            }
        }
        free(param);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_looks_up_the_difference),
        cmocka_unit_test(relative_index_range_at_both_ends),
        cmocka_unit_test(relative_adds_the_levels),
        cmocka_unit_test(alibi_slopes),
        cmocka_unit_test(alibi_adds_the_distances_of_levels),
        cmocka_unit_test(t5_bucket_edges),
        cmocka_unit_test(t5_adds_the_levels),
        cmocka_unit_test(fire_divides_by_the_larger_of_L_and_the_query_id),
        cmocka_unit_test(fire_keys_ahead_have_the_other_sign),
        cmocka_unit_test(fire_network_by_hand),
        cmocka_unit_test(fire_adds_the_levels),
        cmocka_unit_test(fire_starts_as_torch_does),
        cmocka_unit_test(gradients_of_the_tables),
        cmocka_unit_test(gradient_of_fire),
        cmocka_unit_test(fire_gradient_of_L_stops_past_it),
        cmocka_unit_test(a_bias_does_not_depend_on_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
