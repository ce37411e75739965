/* test_fixtures.c: whole models against PyTorch in float64, on the committed cases of
 * tests/data/fixtures: logits, losses and every parameter's gradient, packed and decoded.
 * Per tensor, max|d| <= 1e-4 * max|ref|. A test goes through all cases and prints every
 * tensor that is wrong before it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>

#include "engine/fixture.h"

static const double tolerance = 1e-4;

static const char *const cases[] = {
    "neox_default",
    "neox_window_tied",
    "neox_long_far_ids",
    "neox_relative_window_ids",
    "neox_relative_full_tied",
    "neox_none_window_tanh",
    "neox_share0_ssmax",
    "neox_ssmax_relative_window",
    "neox_entmax_long",
    "neox_entmax_relative_window",
    "neox_rms_sequential",
    "olmo_default",
    "olmo_window_tied_ids",
    "olmo_rms_relative_full",
    "olmo_layer_window_far_ids",
    "olmo_relative_window",
    "olmo_ssmax_full",
    "olmo_ssmax_window",
    "olmo_entmax_window",
    "olmo_entmax_none_biases",
};
enum { CASES = sizeof cases / sizeof *cases };

/* A case with its model and batch, and room for what the model gives. */
struct bench {
    struct fixture f;
    lg_model *m;
    lg_batch b;
    lg_error err;
    float *got; /* room for the largest tensor: logits, id_logits or a gradient */
};

/* Runs check on every case; it returns the number of wrong tensors. */
static void each_case(int (*check)(struct bench *)) {
    int wrong = 0;
    struct bench *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int i = 0; i < CASES; i++) {
        if (fixture_load(&w->f, cases[i]) != 0) {
            wrong++;
            continue;
        }
        size_t most = 0;
        for (int j = 0; j < w->f.count; j++) {
            size_t n = (size_t)w->f.arrays[j].rows * (size_t)w->f.arrays[j].cols;
            if (n > most) most = n;
        }
        w->got = calloc(most, sizeof *w->got);
        int bad_batch = fixture_batch(&w->f, &w->b, &w->err) != 0;
        w->m = bad_batch ? NULL : fixture_model(&w->f, &w->err);
        if (!w->got || !w->m) {
            fprintf(stderr, "%s: no model: %s\n", cases[i], w->err.text);
            wrong++;
        } else {
            wrong += check(w);
        }
        lg_model_free(w->m);
        lg_batch_clear(&w->b);
        free(w->got);
        fixture_clear(&w->f);
    }
    free(w);
    assert_int_equal(wrong, 0);
}

/* A call that failed: says so and counts as one wrong. */
static int failed(const struct bench *w, const char *call) {
    fprintf(stderr, "%s: %s: %s\n", w->f.name, call, w->err.text);
    return 1;
}

static int differs_count(const struct bench *w, const char *what, int got, int expected) {
    if (got == expected) return 0;
    fprintf(stderr, "%s: %s: got %d, expected %d\n", w->f.name, what, got, expected);
    return 1;
}

/* ---- The evaluator ----------------------------------------------------------------- */

/* got[rows] = the evaluator's rows against the reference rows of the same places. */
static int differs_rows(struct bench *w, const char *tensor, const float *values,
                        const lg_eval_result *r) {
    const struct fixture_array *a = fixture_array(&w->f, "", tensor);
    size_t n = (size_t)a->cols;
    double *ref = malloc((size_t)r->rows * n * sizeof *ref);
    if (!ref) return 1;
    for (int i = 0; i < r->rows; i++)
        memcpy(ref + (size_t)i * n, a->data.f64 + (size_t)r->row[i] * n, n * sizeof *ref);
    int wrong = fixture_differs(stderr, w->f.name, tensor, values, ref, (size_t)r->rows * n,
                                tolerance);
    free(ref);
    return wrong;
}

static int differs_losses(const struct bench *w, double loss, double id_loss, int targets,
                          int right, int id_targets, int id_right) {
    int expected = 0, id_expected = 0;
    for (int i = 0; i < w->b.rows; i++) {
        expected += w->b.targets[i] != LG_NONE;
        id_expected += w->b.id_targets[i] != LG_NONE;
    }
    int wrong = 0;
    const char *name = w->f.name;
    wrong += fixture_differs_value(stderr, name, "loss", loss, w->f.loss, tolerance);
    wrong += fixture_differs_value(stderr, name, "id_loss", id_loss, w->f.id_loss, tolerance);
    wrong += differs_count(w, "targets", targets, expected);
    wrong += differs_count(w, "right", right, w->f.right);
    wrong += differs_count(w, "id_targets", id_targets, id_expected);
    wrong += differs_count(w, "id_right", id_right, w->f.id_right);
    return wrong;
}

static int check_evaluator(struct bench *w) {
    lg_eval_result r;
    lg_evaluator *e = lg_evaluator_new(w->m, 2, &w->err);
    if (!e) return failed(w, "lg_evaluator_new");
    if (lg_evaluator_run(e, &w->b, &r, &w->err) != 0) {
        lg_evaluator_free(e);
        return failed(w, "lg_evaluator_run");
    }

    int wrong = 0, rows = 0;
    for (int i = 0; i < w->b.rows; i++) {
        if (w->b.targets[i] == LG_NONE && w->b.id_targets[i] == LG_NONE) continue;
        if (rows < r.rows && r.row[rows] != i)
            wrong += differs_count(w, "place of a row", r.row[rows], i);
        rows++;
    }
    wrong += differs_count(w, "rows", r.rows, rows);
    if (wrong == 0) {
        wrong += differs_rows(w, "logits", r.logits, &r);
        if (w->f.config.id_classes == 0)
            wrong += differs_count(w, "id_logits present", r.id_logits != NULL, 0);
        else if (!r.id_logits)
            wrong += differs_count(w, "id_logits present", 0, 1);
        else
            wrong += differs_rows(w, "id_logits", r.id_logits, &r);
        wrong += differs_losses(w, r.loss, r.id_loss, r.targets, r.right, r.id_targets,
                                r.id_right);
    }
    lg_evaluator_free(e);
    return wrong;
}

static void test_evaluator(void **state) {
    (void)state;
    each_case(check_evaluator);
}

/* ---- Gradients ---------------------------------------------------------------------- */

static int check_gradients(struct bench *w) {
    lg_train_options o = lg_train_options_default();
    o.id_weight = w->f.id_weight;
    o.threads = 2;
    lg_train_result r;
    lg_trainer *t = lg_trainer_new(w->m, &o, &w->err);
    if (!t) return failed(w, "lg_trainer_new");
    /* Twice: the second call starts from the buffers that the first has filled. */
    for (int i = 0; i < 2; i++) {
        if (lg_trainer_gradients(t, &w->b, &r, &w->err) != 0) {
            lg_trainer_free(t);
            return failed(w, "lg_trainer_gradients");
        }
    }
    int wrong = differs_losses(w, r.loss, r.id_loss, r.targets, r.right, r.id_targets,
                               r.id_right);
    wrong += fixture_differs_value(stderr, w->f.name, "grad_norm", r.grad_norm,
                                   w->f.grad_norm, tolerance);
    for (int i = 0; i < lg_model_param_count(w->m); i++) {
        lg_param p = lg_model_param(w->m, i);
        const struct fixture_array *a = fixture_array(&w->f, "grad:", p.name);
        const struct fixture_array *before = fixture_array(&w->f, "param:", p.name);
        size_t n = (size_t)p.rows * (size_t)p.cols;
        if (!a || a->rows != p.rows || a->cols != p.cols) {
            wrong += differs_count(w, p.name, 0, 1);
            continue;
        }
        wrong += fixture_differs(stderr, w->f.name, a->name, lg_trainer_gradient(t, i),
                                 a->data.f64, n, tolerance);
        if (memcmp(p.data, before->data.f32, n * sizeof(float)) != 0)
            wrong += differs_count(w, "a parameter changed by lg_trainer_gradients", 1, 0);
    }
    lg_trainer_free(t);
    return wrong;
}

static void test_gradients(void **state) {
    (void)state;
    each_case(check_gradients);
}

/* ---- The decoder -------------------------------------------------------------------- */

/* Keeps the logits that follow the last token read of each sequence that has just moved. */
static void keep_logits(const struct bench *w, const lg_decoder *d, int id_head,
                        const int32_t *moved) {
    int n = id_head ? w->f.config.id_classes : w->f.config.vocab;
    for (int s = 0; s < w->b.sequences; s++) {
        int row = w->b.offsets[s] + lg_decoder_length(d, s) - 1;
        if (moved && moved[s] == LG_NONE) continue;
        memcpy(w->got + (size_t)row * (size_t)n,
               id_head ? lg_decoder_id_logits(d, s) : lg_decoder_logits(d, s),
               (size_t)n * sizeof(float));
    }
}

/* All sequences side by side: a prompt of the first `share` of each (at least one token),
 * then token by token; a sequence that is through waits. NAN marks what was never given. */
static int decode(struct bench *w, double share, int id_head) {
    const lg_batch *b = &w->b;
    const struct fixture_array *ref = fixture_array(&w->f, "", id_head ? "id_logits" : "logits");
    size_t cols = (size_t)ref->cols, total = (size_t)ref->rows * cols;
    int32_t token[16], id[16];
    double *read = calloc(total, sizeof *read);
    lg_decoder *d = NULL;
    lg_batch prompts;
    lg_batch_init(&prompts);
    int wrong = 1, longest = 0;
    if (!read || b->sequences > 16) goto done;

    /* Rows inside a prompt give no logits: they are left out of the comparison. */
    memcpy(read, ref->data.f64, total * sizeof *read);
    for (size_t i = 0; i < total; i++) w->got[i] = NAN;
    for (int s = 0; s < b->sequences; s++) {
        int at = b->offsets[s], n = b->offsets[s + 1] - at, k = (int)(share * n);
        if (k < 1) k = 1;
        if (n > longest) longest = n;
        if (lg_batch_add(&prompts, k, b->tokens + at, b->ids + at, NULL, NULL, &w->err) != 0) {
            failed(w, "lg_batch_add");
            goto done;
        }
        for (size_t i = (size_t)at * cols; i < (size_t)(at + k - 1) * cols; i++) {
            w->got[i] = 0;
            read[i] = 0;
        }
    }
    d = lg_decoder_new(w->m, b->sequences, &w->err);
    if (!d) {
        failed(w, "lg_decoder_new");
        goto done;
    }
    if (lg_decoder_start(d, &prompts, &w->err) != 0) {
        failed(w, "lg_decoder_start");
        goto done;
    }
    keep_logits(w, d, id_head, NULL);
    for (int step = 0; step < longest; step++) {
        int moving = 0;
        for (int s = 0; s < b->sequences; s++) {
            int row = b->offsets[s] + lg_decoder_length(d, s);
            int more = row < b->offsets[s + 1];
            token[s] = more ? b->tokens[row] : LG_NONE;
            id[s] = more ? b->ids[row] : 0;
            moving += more;
        }
        if (!moving) break;
        if (lg_decoder_step(d, token, id, &w->err) != 0) {
            failed(w, "lg_decoder_step");
            goto done;
        }
        keep_logits(w, d, id_head, token);
    }
    wrong = 0;
    for (int s = 0; s < b->sequences; s++)
        wrong += differs_count(w, "lg_decoder_length", lg_decoder_length(d, s),
                               b->offsets[s + 1] - b->offsets[s]);
    wrong += fixture_differs(stderr, w->f.name,
                             id_head ? "id_logits, decoded" : "logits, decoded", w->got, read,
                             total, tolerance);
done:
    lg_decoder_free(d);
    lg_batch_clear(&prompts);
    free(read);
    return wrong;
}

static int check_decoder(struct bench *w) {
    int wrong = decode(w, 0, 0) + decode(w, 0.6, 0);
    if (w->f.config.id_classes > 0) wrong += decode(w, 0, 1);
    return wrong;
}

static void test_decoder(void **state) {
    (void)state;
    each_case(check_decoder);
}

/* ---- The fixtures and the comparison -------------------------------------------------- */

/* Every case has its file (each_case sees to that), every file its case. */
static void test_every_file_is_tested(void **state) {
    (void)state;
    int files = 0, unknown = 0;
    DIR *dir = opendir(LG_TEST_DATA "/fixtures");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".bin") != 0) continue;
        int known = 0;
        for (int i = 0; i < CASES; i++)
            known += strlen(cases[i]) == n - 4 && strncmp(cases[i], e->d_name, n - 4) == 0;
        if (!known) fprintf(stderr, "%s has no row in the table of cases\n", e->d_name);
        unknown += !known;
        files++;
    }
    closedir(dir);
    assert_int_equal(unknown, 0);
    assert_int_equal(files, CASES);
}

/* ref as floats is right; with one sign wrong, or one NaN, it is not. The sign is that of
 * the smallest number that is at least a thousandth of the largest. */
static int check_comparison(struct bench *w) {
    int wrong = 0;
    for (int j = 0; j < w->f.count; j++) {
        const struct fixture_array *a = &w->f.arrays[j];
        if (a->type != FIXTURE_F64) continue;
        size_t n = (size_t)a->rows * (size_t)a->cols, at = 0;
        double top = 0;
        for (size_t i = 0; i < n; i++) {
            w->got[i] = (float)a->data.f64[i];
            if (fabs(a->data.f64[i]) > top) {
                top = fabs(a->data.f64[i]);
                at = i;
            }
        }
        for (size_t i = 0; i < n; i++) {
            double x = fabs(a->data.f64[i]);
            if (x >= 1e-3 * top && x < fabs(a->data.f64[at])) at = i;
        }
        wrong += fixture_differs(stderr, w->f.name, a->name, w->got, a->data.f64, n, tolerance);
        w->got[at] = -w->got[at];
        int sign = fixture_differs(NULL, w->f.name, a->name, w->got, a->data.f64, n, tolerance);
        w->got[at] = NAN;
        int nan = fixture_differs(NULL, w->f.name, a->name, w->got, a->data.f64, n, tolerance);
        if (!sign || !nan) wrong += differs_count(w, "a wrong sign or NaN seen", 0, 1);
    }
    double l = w->f.loss;
    if (!fixture_differs_value(NULL, w->f.name, "loss", l * 1.001, l, tolerance) ||
        !fixture_differs_value(NULL, w->f.name, "loss", NAN, l, tolerance))
        wrong += differs_count(w, "a wrong loss seen", 0, 1);
    return wrong;
}

static void test_comparison(void **state) {
    (void)state;
    each_case(check_comparison);
}

/* The defaults of lg_model_config_default are what the fixtures call neox and olmo. */
static void test_defaults(void **state) {
    (void)state;
    for (int olmo = 0; olmo < 2; olmo++) {
        lg_model_config c = lg_model_config_default(olmo ? LG_ARCH_OLMO : LG_ARCH_NEOX);
        assert_int_equal(c.arch, olmo ? LG_ARCH_OLMO : LG_ARCH_NEOX);
        assert_int_equal(c.norm, olmo ? LG_NORM_PLAIN : LG_NORM_LAYER);
        assert_true(fabs(c.norm_eps - 1e-5) < 1e-12);
        assert_int_equal(c.act, olmo ? LG_ACT_SWIGLU : LG_ACT_GELU);
        assert_int_equal(c.biases, !olmo);
        assert_int_equal(c.parallel, !olmo);
        assert_int_equal(c.tied, 0);
        assert_string_equal(c.encoding, "rope");
        assert_int_equal(c.span, LG_SPAN_FULL);
        assert_int_equal(c.scores, LG_SCORES_SOFTMAX);
        assert_int_equal(c.id_classes, 0);
        if (olmo) assert_true(fabs(c.rope_share - 1.0) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file_is_tested),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_evaluator),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
