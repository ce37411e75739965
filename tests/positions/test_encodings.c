/* test_encodings.c: every encoding against its closed form. The numbers written out below were
 * made apart from the code: by hand where a comment says so, else with mpmath at 30 digits from
 * the published formula (YaRN: from the text of Hugging Face's _compute_yarn_parameters; ALiBi:
 * from the authors' recursive get_slopes). Learned ones are also differentiated numerically. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "positions/positions.h"

enum { FAR = INT32_MAX };

static lg_model_config config(int levels)
{
    lg_model_config c;
    memset(&c, 0, sizeof c);
    c.width = 24;
    c.heads = 3;
    c.levels = levels;
    c.rope_share = 1;
    c.rope_base = 10000;
    c.rope_factor = 1;
    c.max_id = 9;
    for (int l = 0; l < LG_LEVELS; l++) {
        c.window_lo[l] = -2 - l;
        c.window_hi[l] = 1 + l;
    }
    return c;
}

#define near(got, want, error) check_near(got, want, error, #got, __LINE__)
static void check_near(double got, double want, double error, const char *what, int line)
{
    if (!(fabs(got - want) <= error))
        fail_msg("line %d: %s is %.17g, not %.17g", line, what, got, want);
}

/* Exactly so much memory that ASan sees one number too far. */
static float *numbers(int n)
{
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < n; i++) x[i] = 0;
    return x;
}

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

/* ---- The table ----------------------------------------------------------------------- */

static void the_table_is_public(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "rope", "relative", "alibi",
                                        "t5",   "fire", "learned",  "sinusoidal"};
    assert_int_equal(lg_encoding_count(), 8);
    for (int i = 0; i < 8; i++) {
        lg_encoding_info info = lg_encoding_info_at(i);
        assert_string_equal(info.name, names[i]);
        assert_string_equal(info.name, lg__encodings[i]->name);
        assert_null(strchr(info.line, '\n'));
        assert_non_null(strstr(info.text, "Levels:"));
        assert_non_null(strstr(info.text, "Needs:"));
        for (const char *s = info.text; *s; s++)
            assert_true(*s == '\n' || (*s >= ' ' && *s <= '~'));
    }
    assert_null(lg__encodings[8]);
    assert_null(lg_encoding_info_at(8).name);
    assert_null(lg_encoding_info_at(-1).name);
}

static void hooks_come_in_pairs(void **state)
{
    (void)state;
    for (int i = 0; lg__encodings[i]; i++) {
        const struct lg__encoding *e = lg__encodings[i];
        assert_int_equal(e->shape != NULL, e->bias_backward != NULL);
        assert_int_equal(e->input_shape != NULL, e->input_backward != NULL);
        assert_true(!e->shape || e->bias);
        assert_int_equal(e->absolute, e->input != NULL);
    }
    const struct lg__encoding *none = lg__encodings[0];
    assert_true(!none->frequencies && !none->bias && !none->input && !none->check);
}

/* ---- Rope ------------------------------------------------------------------------------ */

static void check_theta(const lg_model_config *c, int length, int pairs, const double *want,
                        double amplitude)
{
    double theta[64], a = -1;
    int level[64];
    lg__encoding_rope.frequencies(theta, level, &a, c, 2 * pairs, length);
    for (int k = 0; k < pairs; k++) near(theta[k] / want[k], 1, 1e-13);
    near(a, amplitude, 1e-14);
}

static void rope_plain_and_linear(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    /* 10000^(-2k/8) = 10^-k */
    check_theta(&c, 1000, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
    c.rope_factor = 4; /* plain does not look at it */
    check_theta(&c, 1000, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
    c.rope_scaling = LG_ROPE_LINEAR;
    check_theta(&c, 1000, 4, (double[]){0.25, 0.025, 0.0025, 0.00025}, 1);
}

/* 8^(8/6) = 16, and the fourth root of 160000 is 20. The last pair is slowed by exactly the
 * factor: 0.001 / 8. */
static void rope_ntk_by_hand(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    c.rope_scaling = LG_ROPE_NTK;
    c.rope_factor = 8;
    check_theta(&c, 1, 4, (double[]){1, 0.05, 0.0025, 0.000125}, 1);
    c.rope_factor = 1;
    check_theta(&c, 1, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
}

/* s n/L - (s-1) = 2 * 450/100 - 1 = 8: the numbers of the NTK test. Up to L nothing changes. */
static void rope_dynamic_by_hand(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    c.rope_scaling = LG_ROPE_DYNAMIC;
    c.rope_factor = 2;
    c.rope_length = 100;
    check_theta(&c, 450, 4, (double[]){1, 0.05, 0.0025, 0.000125}, 1);
    check_theta(&c, 100, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
    check_theta(&c, 3, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
}

/* d = 64, b = 10000, L = 2048, s = 8: pairs of 32 turns and of 1 turn are 8.06 and 20.1, so the
 * ramp is from 8 to 21. */
static void rope_yarn_across_the_ramp(void **state)
{
    (void)state;
    static const struct {
        int k;
        double theta;
    } want[] = {
        {0, 1.0},
        {1, 0.74989420933245583},
        {7, 0.1333521432163324},
        {8, 0.1},
        {9, 0.069942056062738669},
        {14, 0.010601281098308963},
        {19, 0.0010947889992857424},
        {20, 0.00060813031926314987},
        {21, 0.00029642171320770691},
        {22, 0.00022228492625486535},
        {31, 1.666901790204155e-05},
    };
    lg_model_config c = config(1);
    double theta[32], a;
    int level[32];
    c.rope_scaling = LG_ROPE_YARN;
    c.rope_factor = 8;
    c.rope_length = 2048;
    lg__encoding_rope.frequencies(theta, level, &a, &c, 64, 16384);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        near(theta[want[i].k] / want[i].theta, 1, 1e-13);
    near(a, 1.2079441541679836, 1e-15); /* 0.1 ln 8 + 1 */
}

/* The ends of the ramp: past the last pair (22 to 35 with 32 pairs: Hugging Face clamps to
 * d - 1 = 63, not to 31), before the first (-0.3 becomes 0), and both at 0 (the 0.001 guard). */
static void rope_yarn_at_the_ends(void **state)
{
    (void)state;
    lg_model_config c = config(1);
    double theta[32], a;
    int level[32];
    c.rope_scaling = LG_ROPE_YARN;
    c.rope_factor = 4;
    c.rope_length = 131072;
    lg__encoding_rope.frequencies(theta, level, &a, &c, 64, 1);
    near(theta[21] / 0.0023713737056616553, 1, 1e-13);
    near(theta[22] / 0.0017782794100389228, 1, 1e-13);
    near(theta[23] / 0.0012565875033846707, 1, 1e-13);
    near(theta[28] / 0.00020676430854947096, 1, 1e-13);
    near(theta[31] / 6.4111607315544424e-05, 1, 1e-13);
    const double amplitude = 1.1386294361119891; /* 0.1 ln 4 + 1 */
    c.rope_length = 100;
    check_theta(&c, 1, 4, (double[]){1, 0.0625, 0.0025, 0.00025}, amplitude);
    c.rope_length = 1;
    check_theta(&c, 1, 4, (double[]){1, 0.025, 0.0025, 0.00025}, amplitude);
    c.rope_factor = 1;
    check_theta(&c, 1, 4, (double[]){1, 0.1, 0.01, 0.001}, 1);
}

/* 7 pairs and 3 levels: floor(7/3) = 2, floor(14/3) = 4, so 2, 2 and 3 pairs, each run with
 * frequencies of its own: d = 4, 4 and 6. */
static void rope_divides_the_pairs_among_levels(void **state)
{
    (void)state;
    static const double want[] = {1, 0.01, 1, 0.01, 1, 0.046415888336127789, 0.0021544346900318837};
    static const int want_level[] = {0, 0, 1, 1, 2, 2, 2};
    lg_model_config c = config(3);
    double theta[8], a;
    int level[8];
    theta[7] = level[7] = 55; /* not touched */
    lg__encoding_rope.frequencies(theta, level, &a, &c, 14, 1);
    for (int i = 0; i < 7; i++) {
        near(theta[i] / want[i], 1, 1e-13);
        assert_int_equal(level[i], want_level[i]);
    }
    near(theta[7], 55, 0);
    assert_int_equal(level[7], 55);
}

/* d of a scaling is that of the level: 8 pairs on 2 levels are twice the NTK numbers by hand. */
static void rope_scales_each_level_alone(void **state)
{
    (void)state;
    lg_model_config c = config(2);
    c.rope_scaling = LG_ROPE_NTK;
    c.rope_factor = 8;
    check_theta(&c, 1, 8, (double[]){1, .05, .0025, .000125, 1, .05, .0025, .000125}, 1);
}

/* The config is refused, and the sentence has all of these in it. */
static void refused(const struct lg__encoding *e, const lg_model_config *c, const char *a,
                    const char *b, const char *remedy)
{
    lg_error err = {0};
    int code = e->check(c, &err);
    if (code != LG_ERROR_ARGUMENT || err.code != code || !strstr(err.text, a) ||
        !strstr(err.text, b) || !strstr(err.text, remedy))
        fail_msg("code %d, '%s'; want %s, %s, %s", code, err.text, a, b, remedy);
    assert_int_equal(e->check(c, NULL), code);
}

static void accepted(const struct lg__encoding *e, const lg_model_config *c)
{
    lg_error err = {0};
    if (e->check(c, &err)) fail_msg("refused: %s", err.text);
}

static void rope_says_what_it_cannot(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_rope;
    lg_model_config ok = config(3), c = ok;
    accepted(e, &c);
    c.width = 4 * c.heads; /* three levels with four head dimensions */
    refused(e, &c, "2 pairs for 3 levels", "4 head dimensions", "heads of 6 dimensions or more");
    c.rope_share = 0; /* nothing turns, nothing is needed */
    accepted(e, &c);
    c = ok;
    c.rope_share = 0.25; /* one pair of 8 dimensions */
    refused(e, &c, "1 pairs for 3 levels", "rope_share 0.25", "24 dimensions");
    c = ok;
    c.rope_share = -0.5;
    refused(e, &c, "rope_share", "-0.5", "from 0 to 1");
    c.rope_share = NAN;
    refused(e, &c, "rope_share", "nan", "from 0 to 1");
    c = ok;
    c.rope_base = 1;
    refused(e, &c, "rope_base", "1", "over 1");
    c.rope_base = INFINITY;
    refused(e, &c, "rope_base", "inf", "over 1");
    c = ok;
    c.rope_scaling = (lg_rope)5;
    refused(e, &c, "rope_scaling", "5", "0 to 4");
}

static void rope_scaling_says_what_it_needs(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_rope;
    lg_model_config ok = config(1), c = ok;
    c.rope_factor = 0; /* plain does not use it */
    accepted(e, &c);
    c.rope_scaling = LG_ROPE_LINEAR;
    refused(e, &c, "rope_factor", "0", "1 or more");
    c.rope_factor = INFINITY;
    refused(e, &c, "rope_factor", "inf", "1 or more");
    c.rope_factor = 1;
    accepted(e, &c);
    c.rope_scaling = LG_ROPE_YARN;
    refused(e, &c, "rope_length", "0", "1 or more");
    c.rope_scaling = LG_ROPE_DYNAMIC;
    refused(e, &c, "rope_length", "0", "1 or more");
    c.rope_length = 1;
    accepted(e, &c);
    c.levels = 3; /* 4 pairs on 3 levels are 1, 1 and 2 */
    refused(e, &c, "level 1", "4 pairs for 3 levels", "wider heads");
    c.rope_scaling = LG_ROPE_NTK;
    refused(e, &c, "level 1", "4 pairs for 3 levels", "linear");
    c.rope_scaling = LG_ROPE_YARN;
    accepted(e, &c);
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

/* ---- Learned ------------------------------------------------------------------------------ */

static void learned_adds_the_row_of_the_id(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_learned;
    lg_model_config c = config(2);
    int rows, cols;
    double deviation;
    c.width = 3;
    e->input_shape(&c, &rows, &cols, &deviation);
    assert_int_equal(rows, 20);
    assert_int_equal(cols, 3);
    float *E = numbers(60), x[12];
    for (int i = 0; i < 60; i++) E[i] = (float)(i % 3 + 10 * (i / 3)); /* row r: 10 r + 0, 1, 2 */
    int32_t id0[] = {9, 0, LG_ABSENT, LG_ABSENT}, id1[] = {9, LG_ABSENT, 4, LG_ABSENT};
    for (int i = 0; i < 12; i++) x[i] = 1000;
    e->input(x, E, &c, (const int32_t *const[LG_LEVELS]){id0, id1}, 4);
    for (int i = 0; i < 3; i++) {
        near((double)x[i], 1000 + (90 + i) + (190 + i), 0);
        near((double)x[3 + i], 1000 + i, 0);
        near((double)x[6 + i], 1000 + 140 + i, 0);
        near((double)x[9 + i], 1000, 0);
    }
    free(E);
}

static void learned_shape_and_needs(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_learned;
    lg_model_config c = config(3);
    int rows, cols;
    double deviation;
    c.width = 64;
    e->input_shape(&c, &rows, &cols, &deviation);
    near(deviation, 0.079056941504209483, 1e-15); /* sqrt(2 / 320) */
    c.arch = LG_ARCH_OLMO;
    e->input_shape(&c, &rows, &cols, &deviation);
    near(deviation, 0.02, 0);
    accepted(e, &c);
    c.max_id = 0;
    refused(e, &c, "max_id is 0", "'learned'", "largest ID");
    c.max_id = -4;
    refused(e, &c, "max_id is -4", "'learned'", "largest ID");
    c.max_id = INT_MAX; /* more rows than a table may have */
    refused(e, &c, "max_id is 2147483647", "'learned'", "5592404");
    c.max_id = 1;
    accepted(e, &c);
}

/* ---- Sinusoidal ----------------------------------------------------------------------------- */

/* Width 11 on 2 levels: 5 pairs, 2 for level 0 (frequencies 1, 1/100) and 3 for level 1 (1,
 * 10000^(-1/3), 10000^(-2/3)); dimension 10 gets nothing. */
static void sinusoidal_waves(void **state)
{
    (void)state;
    static const double want3[] = {0.14112000805986722, -0.98999249660044546, 0.029995500202495661,
                                   0.99955003374898752};
    static const double want5[] = {-0.95892427466313847, 0.28366218546322626,  0.23000171166476739,
                                   0.97319022427852059,  0.010771965118034829, 0.99994198070062837};
    static const double far_level0[] = {-0.72491655514455639, -0.68883669187794383,
                                        0.70134957261801238, -0.71281749206127888};
    const struct lg__encoding *e = &lg__encoding_sinusoidal;
    lg_model_config c = config(2);
    float x[3 * 11];
    int32_t id0[] = {3, LG_ABSENT, FAR}, id1[] = {5, 5, LG_ABSENT};
    c.width = 11;
    for (int i = 0; i < 33; i++) x[i] = 1;
    e->input(x, NULL, &c, (const int32_t *const[LG_LEVELS]){id0, id1}, 3);
    for (int i = 0; i < 4; i++) {
        near((double)x[i], 1 + want3[i], 3e-7);
        near((double)x[11 + i], 1, 0);
        near((double)x[22 + i], 1 + far_level0[i], 3e-7);
    }
    for (int i = 0; i < 6; i++) {
        near((double)x[4 + i], 1 + want5[i], 3e-7);
        near((double)x[15 + i], 1 + want5[i], 3e-7);
        near((double)x[26 + i], 1, 0);
    }
    for (int t = 0; t < 3; t++) near((double)x[t * 11 + 10], 1, 0);
}

static void sinusoidal_needs_two_dimensions_a_level(void **state)
{
    (void)state;
    const struct lg__encoding *e = &lg__encoding_sinusoidal;
    lg_model_config c = config(3);
    c.width = 5;
    refused(e, &c, "width 5", "3 levels", "at least 6");
    c.width = 6;
    accepted(e, &c);
    c.width = 1;
    c.levels = 1;
    refused(e, &c, "width 1", "1 level", "at least 2");
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

static double input_loss(const float *E, const lg_model_config *c,
                         const int32_t *const ids[LG_LEVELS], int n)
{
    float x[64] = {0};
    double sum = 0;
    lg__encoding_learned.input(x, E, c, ids, n);
    for (int i = 0; i < n * c->width; i++) sum += sin(1.0 + i) * (double)x[i];
    return sum;
}

static void gradient_of_learned(void **state)
{
    (void)state;
    lg_model_config c = config(2);
    enum { N = 6, WIDTH = 3, ALL = 2 * 10 * WIDTH };
    int32_t id0[N] = {9, 0, 3, 3, LG_ABSENT, 1}, id1[N] = {0, 9, 2, LG_ABSENT, LG_ABSENT, 2};
    const int32_t *const ids[LG_LEVELS] = {id0, id1};
    float *E = numbers(ALL), *g = numbers(ALL), dx[N * WIDTH];
    c.width = WIDTH;
    for (int i = 0; i < N * WIDTH; i++) dx[i] = (float)sin(1.0 + i);
    for (int i = 0; i < ALL; i++) {
        E[i] = (float)cos(i);
        g[i] = 0.25f;
    }
    lg__encoding_learned.input_backward(g, dx, &c, ids, N);
    for (int i = 0; i < ALL; i++) {
        float was = E[i];
        E[i] = was + 0.5f;
        double above = input_loss(E, &c, ids, N);
        E[i] = was - 0.5f;
        near((double)g[i] - 0.25, above - input_loss(E, &c, ids, N), 2e-6);
        E[i] = was;
    }
    near((double)g[3 * 3] - 0.25, sin(7.0) + sin(10.0), 1e-6); /* ID 3 is at places 2 and 3 */
    free(E);
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
        cmocka_unit_test(the_table_is_public),
        cmocka_unit_test(hooks_come_in_pairs),
        cmocka_unit_test(rope_plain_and_linear),
        cmocka_unit_test(rope_ntk_by_hand),
        cmocka_unit_test(rope_dynamic_by_hand),
        cmocka_unit_test(rope_yarn_across_the_ramp),
        cmocka_unit_test(rope_yarn_at_the_ends),
        cmocka_unit_test(rope_divides_the_pairs_among_levels),
        cmocka_unit_test(rope_scales_each_level_alone),
        cmocka_unit_test(rope_says_what_it_cannot),
        cmocka_unit_test(rope_scaling_says_what_it_needs),
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
        cmocka_unit_test(learned_adds_the_row_of_the_id),
        cmocka_unit_test(learned_shape_and_needs),
        cmocka_unit_test(sinusoidal_waves),
        cmocka_unit_test(sinusoidal_needs_two_dimensions_a_level),
        cmocka_unit_test(gradients_of_the_tables),
        cmocka_unit_test(gradient_of_fire),
        cmocka_unit_test(fire_gradient_of_L_stops_past_it),
        cmocka_unit_test(gradient_of_learned),
        cmocka_unit_test(a_bias_does_not_depend_on_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
