/* test_encodings.c: the table of encodings, and against their closed forms those that turn queries
 * and keys or are added to the embedding: rope, learned, sinusoidal. The numbers written out below
 * were made apart from the code: by hand where a comment says so, else with mpmath at 30 digits
 * from the published formula (YaRN: from the text of Hugging Face's _compute_yarn_parameters).
 * Learned is also differentiated numerically. Without it a frequency could be off, and a model
 * would train with it all the same, only worse. */
#include "positions/closed_form.h"

#include <limits.h>

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
        assert_int_equal((e->flags & LG__ENCODING_ABSOLUTE) != 0, e->input != NULL);
    }
    const struct lg__encoding *none = lg__encodings[0];
    assert_true(!none->frequencies && !none->bias && !none->input && !none->check);
}

/* Whether the biases of one query and 8 keys are the same 5000 IDs further on. */
static int moves_with_the_ids(const struct lg__encoding *e)
{
    enum { KEYS = 8, FROM = 700, FURTHER = 5000 };
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    float param[4096], here[KEYS], there[KEYS];
    int32_t key[KEYS], moved[KEYS];
    int rows = 0, cols = 0;
    c.levels = 1;
    c.window_lo[0] = -4;
    if (e->shape) e->shape(&c, &rows, &cols);
    assert_true(rows * cols <= 4096);
    for (int i = 0; i < rows * cols; i++) param[i] = (float)(i % 13) / 13 - 0.4f;
    for (int j = 0; j < KEYS; j++) key[j] = FROM - j, moved[j] = key[j] + FURTHER;
    struct lg__pairs p = {.query = {FROM}, .key = {key}, .n = KEYS};
    struct lg__pairs q = {.query = {FROM + FURTHER}, .key = {moved}, .n = KEYS};
    e->bias(here, param, &c, 1, &p);
    e->bias(there, param, &c, 1, &q);
    return memcmp(here, there, sizeof here) == 0;
}

/* A certificate rests on LG__ENCODING_RELATIVE; what is added to the input is the ID itself. */
static void flags_say_what_is_seen(void **state)
{
    (void)state;
    char names[LG__ENCODING_NAMES];
    for (int i = 0; lg__encodings[i]; i++) {
        const struct lg__encoding *e = lg__encodings[i];
        int relative = e->bias ? moves_with_the_ids(e) : !e->input;
        assert_int_equal((e->flags & LG__ENCODING_RELATIVE) != 0, relative);
        assert_ptr_equal(lg__encoding_find(e->name), e);
        assert_int_equal(lg__encoding_has(e->name, LG__ENCODING_ABSOLUTE), e->input != NULL);
    }
    assert_null(lg__encoding_find("no such"));
    assert_null(lg__encoding_find(NULL));
    assert_false(lg__encoding_has("no such", LG__ENCODING_ABSOLUTE));
    assert_string_equal(lg__encoding_names(names, LG__ENCODING_RELATIVE),
                        "none, rope, relative, alibi or t5");
    assert_string_equal(lg__encoding_names(names, LG__ENCODING_ABSOLUTE), "learned or sinusoidal");
    assert_string_equal(lg__encoding_names(names, LG__ENCODING_ROWS), "learned");
    assert_string_equal(lg__encoding_names(names, LG__ENCODING_CLIPS), "relative");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_public),
        cmocka_unit_test(hooks_come_in_pairs),
        cmocka_unit_test(flags_say_what_is_seen),
        cmocka_unit_test(rope_plain_and_linear),
        cmocka_unit_test(rope_ntk_by_hand),
        cmocka_unit_test(rope_dynamic_by_hand),
        cmocka_unit_test(rope_yarn_across_the_ramp),
        cmocka_unit_test(rope_yarn_at_the_ends),
        cmocka_unit_test(rope_divides_the_pairs_among_levels),
        cmocka_unit_test(rope_scales_each_level_alone),
        cmocka_unit_test(rope_says_what_it_cannot),
        cmocka_unit_test(rope_scaling_says_what_it_needs),
        cmocka_unit_test(learned_adds_the_row_of_the_id),
        cmocka_unit_test(learned_shape_and_needs),
        cmocka_unit_test(sinusoidal_waves),
        cmocka_unit_test(sinusoidal_needs_two_dimensions_a_level),
        cmocka_unit_test(gradient_of_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
