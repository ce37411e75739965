/* test_fit.c: members of the class and their fits. Without it a class could be trained by a wrong
 * gradient, its bits could depend on the threads, and a wrong ensemble could be fitted as if it were
 * right. */
#include <math.h>

#include "theory/ensembles.h"
#include "theory/fit.h"

static const int lengths[] = {20, 60};

static lg_theory_options options(const char *file)
{
    lg_theory_options o = lg_theory_options_default();
    o.ensemble = file;
    o.train[0] = 10;
    o.train[1] = 20;
    o.lengths = lengths;
    o.length_count = 2;
    o.seeds = 1;
    o.samples = 30;
    o.threads = 1;
    return o;
}

/* ---- Gradients ------------------------------------------------------------------------------ */

static double loss(struct lg__fit *f, struct lg__reader *r, const struct lg__sample *x)
{
    double p[LG__SUM_MOST_OUTPUTS];
    lg_error err = {0};
    assert_int_equal(lg__member_read(&f->member, r, x, p, &err), 0);
    return -log(p[x->label]);
}

static void parameters_have_their_gradients(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lg_theory_class c;
    } cases[] = {
        {PARITY("{span: 5}"), {.local = 0}},
        {PARITY("{span: 5}"), {.words = 1, .offsets = 6}},
        {PARITY("{span: 5}"), {.words = 1, .offsets = 8, .window = 1, .unordered = 1}},
        {PARITY("{span: 5}"), {.local = 5, .patterns = 1}},
        {PARITY("{span: 5}"), {.local = 6, .words = 1}},
        {PARITY("{span: 5}"), {.local = 5, .words = 1, .sign = 1}},
        {PARITY("uniform"), {.words = 1, .sign = 1, .offsets = 30}},
        {PARITY("columns"), {.local = 2, .coupled = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = table(cases[i].text);
        lg_theory_options o = options(file);
        static struct lg__fit f;
        struct lg__reader r = {0};
        struct lg__sample x = {0};
        lg_error err = {0};
        lg_rng rng;
        o.c = cases[i].c;
        assert_int_equal(lg__fit_open(&f, &o, &err), 0);
        assert_int_equal(lg__fit_new(&f, 3, &err), 0);
        struct lg__member *m = &f.member;
        lg_rng_init(&rng, 1, 1, i);
        for (int j = 0; j < m->count; j++) m->theta[j] += 0.3 * lg_rng_uniform(&rng);
        lg__member_refresh(m);
        assert_int_equal(lg__world_draw(&f.world, &rng, 12, 1, &x, &err), 0);
        r.gradient = calloc((size_t)m->count, sizeof(double));
        double *d = r.gradient;
        loss(&f, &r, &x);
        lg__member_chain(m, d);
        r.gradient = NULL;
        for (int j = 0; j < m->count; j++) {
            double was = m->theta[j], side[2];
            for (int s = 0; s < 2; s++) {
                m->theta[j] = was + (s ? 1e-5 : -1e-5);
                lg__member_refresh(m);
                side[s] = loss(&f, &r, &x);
            }
            m->theta[j] = was;
            double want = (side[1] - side[0]) / 2e-5;
            if (fabs(d[j] - want) > 1e-8 + 1e-6 * fabs(want))
                fail_msg("case %zu, parameter %d: %.10g, not %.10g", i, j, d[j], want);
        }
        free(d);
        lg__reader_clear(&r);
        lg__sample_clear(&x);
        lg__fit_close(&f);
        unlink(file);
    }
}

/* ---- Fits ----------------------------------------------------------------------------------- */

struct kept {
    lg_theory_row row[40];
    char variant[40][120];
    int count;
};

static void keep(void *context, const lg_theory_row *r)
{
    struct kept *k = context;
    assert_true(k->count < 40);
    snprintf(k->variant[k->count], sizeof k->variant[0], "%s", r->variant);
    k->row[k->count] = *r;
    k->row[k->count].variant = k->variant[k->count];
    k->count++;
}

static void threads_are_not_in_the_bits(void **state)
{
    (void)state;
    const char *file = table(PARITY("{span: 5}"));
    static struct kept one, three;
    lg_error err = {0};
    lg_theory_options o = options(file);
    o.row = keep;
    o.c.local = LG_THEORY_OWN;
    o.context = &one;
    assert_int_equal(lg_theory_fit(&o, &err), 0);
    o.context = &three;
    o.threads = 3;
    assert_int_equal(lg_theory_fit(&o, &err), 0);
    assert_int_equal(one.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(one.row[i].length, lengths[i]);
        assert_int_equal(one.row[i].local, 5);
        assert_true(one.row[i].error == three.row[i].error);
        assert_true(one.row[i].error > 0 && one.row[i].error < 1e-3);
    }
    unlink(file);
}

static int two_looks(void *context, const char *variant, int64_t seed, int step, int steps,
                     double error)
{
    (void)variant;
    assert_int_equal(seed, 1);
    assert_true(step <= steps && error >= 0 && error <= 1);
    return ++*(int *)context < 2;
}

static void a_watch_stops_it(void **state)
{
    (void)state;
    const char *file = table(PARITY("{span: 5}"));
    int looks = 0;
    lg_error err = {0};
    lg_theory_options o = options(file);
    o.watch = two_looks;
    o.until = 0;
    o.context = &looks;
    assert_int_equal(lg_theory_fit(&o, &err), 0);
    assert_int_equal(looks, 2);
    unlink(file);
}

/* Of a sweep those combinations that cannot be are left out, and the others have their names. */
static void a_sweep_is_all_combinations(void **state)
{
    (void)state;
    static const int k[] = {1, 2}, local[] = {LG_THEORY_OWN, 0};
    static const double coverage[] = {1, 0.5};
    static struct kept rows;
    const char *file = table(PARITY("{span: 5}"));
    lg_error err = {0};
    lg_theory_options o = options(file);
    lg_theory_lists l = {k, local, NULL, coverage, 2, 2, 0, 2};
    o.row = keep;
    o.context = &rows;
    o.steps = 25;
    o.length_count = 1;
    assert_int_equal(lg_theory_sweep(&o, &l, &err), 0);
    static const char *const names[] = {
        "k = 1, coverage 1, local",   "k = 1, coverage 1, anywhere",
        "k = 2, coverage 1, local",   "k = 2, coverage 1, anywhere",
        "k = 2, coverage 0.5, local", "k = 2, coverage 0.5, anywhere"};
    assert_int_equal(rows.count, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(rows.row[i].variant, names[i]);
    assert_int_equal(rows.row[3].missing, 0);
    assert_in_range(rows.row[4].missing, 3, 27); /* two of four patterns, of 30 texts */
    assert_true(isnan(rows.row[3].error_missing) && !isnan(rows.row[4].error_missing));
    unlink(file);
}

/* ---- Summaries ------------------------------------------------------------------------------ */

/* Three seeds whose errors grow as 1, 2 and 3 times the length squared: worked out by hand. */
static void summaries_are_right(void **state)
{
    (void)state;
    lg_theory_row rows[9];
    lg_theory_cell cells[9];
    lg_theory_slope slopes[9];
    for (int i = 0; i < 9; i++) {
        int length = (int[]){5, 10, 100}[i % 3];
        rows[i] =
            (lg_theory_row){.variant = "v", .seed = i / 3, .length = length, .train_length = 10};
        rows[i].error = (1 + i / 3) * 1e-6 * length * length;
        rows[i].error_seen = rows[i].error;
        rows[i].error_missing = NAN;
    }
    assert_int_equal(lg_theory_cells(rows, 9, cells), 3);
    assert_int_equal(cells[2].length, 100);
    assert_int_equal(cells[2].seeds, 3);
    assert_true(fabs(cells[2].error - cbrt(6) * 1e-2) < 1e-12);
    /* t(0.975, 2) = 4.303; the deviation of ln 1, ln 2, ln 3 is 0.55555. */
    assert_true(fabs(cells[2].high / cells[2].error - exp(4.303 * 0.555548 / sqrt(3))) < 1e-4);
    assert_true(isnan(cells[2].lost));
    assert_int_equal(lg_theory_slopes(rows, 9, slopes), 1);
    assert_true(fabs(slopes[0].slope - 2) < 1e-12 && fabs(slopes[0].high - 2) < 1e-12);
    assert_int_equal(slopes[0].first_length, 10); /* lengths of training have no part in it */
    assert_int_equal(slopes[0].last_length, 100);
    assert_true(fabs(slopes[0].trained - 3e-4) < 1e-15 && fabs(slopes[0].last - 3e-2) < 1e-15);
}

/* ---- Refused -------------------------------------------------------------------------------- */

static void wrong_ensembles_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line; /* 0: it is not about the file */
        lg_theory_class c;
        double coverage;
        const char *words, *remedy;
    } cases[] = {
        {"k: 2\nprobabilities: yes\nplanted: {P: 0.5, Q: 0.4}\nbackground: {a: 1}\nlabel: parity\n",
         3,
         {0},
         1,
         "probabilities of planted sum to 0.9, not to 1",
         "correct them"},
        {"k: 2\nprobabilities: yes\nplanted: {P: 0.5, Q: 0.5}\nbackground: {a: 1}\nlabel: parity\n"
         "positions:\n  patterns: [{offsets: [0, 1], weight: 0.5}, {offsets: [0, 2], weight: "
         "0.6}]\n",
         7,
         {0},
         1,
         "probabilities of patterns sum to 1.1",
         "leave \"probabilities\" out"},
        {"planted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: parity\nk: 12\n",
         4,
         {0},
         1,
         "k is 12, which a text of length 10 cannot hold",
         "give lengths from 12 on"},
        {"k: 2\nplanted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: parity\n"
         "positions: {patterns: [{offsets: [0, 30]}]}\n",
         5,
         {0},
         1,
         "a length of 10",
         "fit from 31"},
        {"k: 2\nplanted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: {P P: x, P Q: y, Q P: y}\n",
         4,
         {0},
         1,
         "no entry for \"Q Q\"",
         "add it"},
        {"k: 2\nplanted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: {P P P: x}\n",
         4,
         {0},
         1,
         "\"P P P\" is not 2 words (as k says)",
         "write it so"},
        {"k: 2\nplanted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: parity\n"
         "positions: {patterns: [{offsets: [0, 1, 2]}]}\n",
         5,
         {0},
         1,
         "offsets has 3 entries but k is 2",
         "give one a member"},
        {"k: 17\nplanted: {P: 1, Q: 1}\nbackground: {a: 1}\nlabel: parity\npositions: {span: 18}\n",
         1,
         {0},
         1,
         "k is 17",
         "takes 1 to 16"},
        {PARITY("columns"),
         2,
         {0},
         0.5,
         "a coverage of 0.5 needs positions with two patterns",
         "span"},
        {PARITY("uniform"), 0, {.patterns = 1}, 1, "weights of patterns need a span", "give local"},
        {PARITY("uniform"), 0, {.local = 1}, 1, "local is 1, which cannot hold k = 2", "take 2"},
        {PARITY("columns"), 0, {.coupled = 1}, 1, "coupled IDs need a span", "give local"},
        {PARITY("uniform"),
         0,
         {.sign = 1},
         1,
         "needs two labels (here 2), scores of words",
         "table"},
        {PARITY("uniform"), 0, {0}, 2, "coverage 2", "up to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = table(cases[i].text);
        char place[80];
        lg_error err = {0};
        lg_theory_options o = options(file);
        o.c = cases[i].c;
        o.coverage = cases[i].coverage;
        assert_int_equal(lg_theory_fit(&o, &err), LG_ERROR_ARGUMENT);
        snprintf(place, sizeof place, "%s:%d: ", file, cases[i].line);
        if ((cases[i].line && strncmp(err.text, place, strlen(place)) != 0) ||
            !strstr(err.text, cases[i].words) || !strstr(err.text, cases[i].remedy))
            fail_msg("case %zu: %s", i, err.text);
        unlink(file);
    }
}

/* Whichever allocation fails: it is said, nothing leaks, and the next fit works. */
static void no_memory_is_told(void **state)
{
    (void)state;
    static const lg_theory_class classes[] = {{.local = LG_THEORY_OWN, .patterns = 1},
                                              {.words = 1, .unordered = 1},
                                              {.local = 1, .coupled = 1}};
    const char *file = table(PARITY("{span: 5}"));
    for (int c = 0; c < 3; c++) {
        lg_theory_options o = options(file);
        lg_error err = {0};
        int code = LG_ERROR_MEMORY, fails = 0;
        o.c = classes[c];
        o.steps = 1;
        for (; code; fails++) {
            lg__alloc_fail_after(fails);
            code = lg_theory_fit(&o, &err);
            if (code && code != LG_ERROR_MEMORY && code != LG_ERROR_SYSTEM)
                fail_msg("allocation %d: %d, %s", fails, code, err.text);
            if (code) assert_non_null(strstr(err.text, "emory"));
        }
        lg__alloc_fail_after(-1);
        assert_true(fails > 40);
    }
    unlink(file);
}

/* ---- The assumptions ------------------------------------------------------------------------ */

struct found {
    int holds[3][2], count;
    char text[6][400];
};

static void note(void *context, const lg_theory_finding *f)
{
    static const char *const names[] = {"coverage", "locality", "realizability"};
    struct found *n = context;
    for (int i = 0; i < 3; i++)
        if (strcmp(f->assumption, names[i]) == 0) n->holds[i][f->length == lengths[1]] = f->holds;
    snprintf(n->text[n->count++ % 6], sizeof n->text[0], "%s", f->text);
}

/* Each assumption fails alone where it should, and coupled IDs mend what places break. */
static void a_check_says_what_fails(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int local, coupled;
        double coverage;
        int holds[3][2];
    } cases[] = {
        {PARITY("{span: 5}"), LG_THEORY_OWN, 0, 1, {{1, 1}, {1, 1}, {1, 1}}},
        {PARITY("{span: 5}"), LG_THEORY_OWN, 0, 0.5, {{0, 0}, {1, 1}, {1, 1}}},
        {PARITY("{span: 5}"), 3, 0, 1, {{1, 1}, {0, 0}, {0, 0}}},
        {PARITY("columns"), LG_THEORY_OWN, 0, 1, {{1, 0}, {0, 0}, {1, 1}}},
        {PARITY("columns"), LG_THEORY_OWN, 1, 1, {{1, 1}, {1, 1}, {1, 1}}},
        {PARITY("uniform"), 0, 0, 1, {{1, 0}, {0, 0}, {1, 1}}},
        {MARKED("together"), LG_THEORY_OWN, 0, 1, {{1, 1}, {1, 1}, {1, 1}}},
        {MARKED("columns"), LG_THEORY_OWN, 0, 1, {{1, 0}, {0, 0}, {0, 0}}},
        {MARKED("columns"), LG_THEORY_OWN, 1, 1, {{1, 1}, {1, 1}, {1, 1}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = table(cases[i].text);
        static struct found n;
        int failed = -1, expected = 0;
        lg_error err = {0};
        lg_theory_options o = options(file);
        o.c.local = cases[i].local;
        o.c.coupled = cases[i].coupled;
        o.coverage = cases[i].coverage;
        o.steps = 600;
        memset(&n, 0, sizeof n);
        assert_int_equal(lg_theory_check(&o, note, &n, &failed, &err), 0);
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < 2; l++) {
                expected += !cases[i].holds[a][l];
                if (n.holds[a][l] != cases[i].holds[a][l])
                    fail_msg("case %zu, assumption %d, length %d: %s", i, a, lengths[l],
                             n.text[2 * a + l]);
            }
        assert_int_equal(failed, expected);
        unlink(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_have_their_gradients),
        cmocka_unit_test(threads_are_not_in_the_bits),
        cmocka_unit_test(a_watch_stops_it),
        cmocka_unit_test(a_sweep_is_all_combinations),
        cmocka_unit_test(summaries_are_right),
        cmocka_unit_test(wrong_ensembles_are_refused),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(a_check_says_what_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
