/* test_fixtures.c: whole models against PyTorch in float64, on the committed cases of
 * tests/data/fixtures: logits, losses and every parameter's gradient, packed and decoded.
 * Per tensor, max|d| <= 1e-4 * max|ref|. What is decoded must also have the bits of what is
 * packed. A test goes through all cases and prints every tensor that is wrong before it fails. */
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
    "neox_learned",
    "olmo_learned_window",
    "neox_sinusoidal",
    "olmo_sinusoidal_window",
    "neox_alibi",
    "olmo_alibi_window",
    "neox_t5",
    "olmo_t5_window",
    "neox_fire",
    "olmo_fire_window",
    "olmo_rope_2levels",
    "neox_rope_3levels",
    "neox_rope_window_2levels",
    "olmo_rope_window_3levels",
    "neox_relative_2levels",
    "olmo_relative_3levels",
    "olmo_relative_window_2levels",
    "neox_relative_window_3levels",
    "olmo_alibi_2levels",
    "neox_alibi_window_3levels",
    "olmo_t5_3levels",
    "neox_t5_window_2levels",
    "olmo_fire_2levels",
    "neox_fire_window_3levels",
    "olmo_learned_3levels",
    "neox_learned_window_2levels",
    "olmo_sinusoidal_2levels",
    "neox_sinusoidal_window_3levels",
    "olmo_none_3levels",
    "neox_none_window_2levels",
    "neox_rope_linear",
    "olmo_rope_linear_window",
    "olmo_rope_ntk_2levels",
    "neox_rope_ntk_window",
    "neox_rope_dynamic",
    "olmo_rope_dynamic_window_2levels",
    "olmo_rope_yarn",
    "neox_rope_yarn_window_2levels",
    "neox_pointer_1layer",
    "olmo_pointer_window",
    "neox_pointer_window_2levels_1layer",
    "olmo_pointer_2levels",
    "neox_pointer_relative_window_3levels",
    "neox_sink",
    "olmo_sink_window",
    "neox_sink_entmax",
    "olmo_sink_entmax_window",
    "neox_sink_ssmax_window",
    "neox_pointer_cut_slopes",
    "looped_inject",
    "looped_alone_window",
    "looped_inject_learned",
    "neox_match_codes_window",
    "olmo_match_next",
    "neox_match_2levels",
    "looped_parallel_pointer",
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
static void each_case(int (*check)(struct bench *))
{
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
static int failed(const struct bench *w, const char *call)
{
    fprintf(stderr, "%s: %s: %s\n", w->f.name, call, w->err.text);
    return 1;
}

static int differs_count(const struct bench *w, const char *what, int got, int expected)
{
    if (got == expected) return 0;
    fprintf(stderr, "%s: %s: got %d, expected %d\n", w->f.name, what, got, expected);
    return 1;
}

/* ---- The evaluator ----------------------------------------------------------------- */

/* got[rows] = the evaluator's rows against the reference rows of the same places. */
static int differs_rows(struct bench *w, const char *tensor, const float *values,
                        const lg_eval_result *r)
{
    const struct fixture_array *a = fixture_array(&w->f, "", tensor);
    size_t n = (size_t)a->cols;
    double *ref = malloc((size_t)r->rows * n * sizeof *ref);
    if (!ref) return 1;
    for (int i = 0; i < r->rows; i++)
        memcpy(ref + (size_t)i * n, a->data.f64 + (size_t)r->row[i] * n, n * sizeof *ref);
    int wrong =
        fixture_differs(stderr, w->f.name, tensor, values, ref, (size_t)r->rows * n, tolerance);
    free(ref);
    return wrong;
}

static int differs_losses(const struct bench *w, double loss, double id_loss, int targets,
                          int right, int id_targets, int id_right)
{
    int expected = 0, id_expected = 0;
    for (int i = 0; i < w->b.rows; i++) {
        expected += w->b.targets[i] != LG_NONE;
        for (int l = 0; l < w->b.levels; l++) {
            id_expected += w->b.id_targets[l][i] != LG_NONE;
            id_expected += w->b.point_targets[l][i] != LG_NONE;
        }
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

static int has_loss(const lg_batch *b, int row)
{
    int any = b->targets[row] != LG_NONE;
    for (int l = 0; l < b->levels; l++)
        any |= b->id_targets[l][row] != LG_NONE || b->point_targets[l][row] != LG_NONE;
    return any;
}

/* ID logits, and what the pointer finds where it has a target. */
static int differs_level(struct bench *w, const lg_eval_result *r, int l)
{
    const lg_model_config *c = &w->f.config;
    const float *id_logits = r->id_logits[l];
    const int32_t *pointed = r->pointed_id[l], *ref = fixture_level(&w->f, "pointed", l);
    int wrong = differs_count(w, "id_logits present", id_logits != NULL, c->id_classes[l] > 0);
    wrong += differs_count(w, "pointed_id present", pointed != NULL, c->pointer[l] || c->match[l]);
    if (wrong) return wrong;
    if (id_logits) wrong += differs_rows(w, fixture_id_logits(l), id_logits, r);
    for (int i = 0; pointed && i < r->rows; i++)
        if (w->b.point_targets[l][r->row[i]] != LG_NONE)
            wrong += differs_count(w, "pointed_id", pointed[i], ref[r->row[i]]);
    return wrong;
}

static int differs_result(struct bench *w, const lg_eval_result *r)
{
    int wrong = 0, rows = 0;
    for (int i = 0; i < w->b.rows; i++) {
        if (!has_loss(&w->b, i)) continue;
        if (rows < r->rows && r->row[rows] != i)
            wrong += differs_count(w, "place of a row", r->row[rows], i);
        rows++;
    }
    wrong += differs_count(w, "rows", r->rows, rows);
    if (wrong) return wrong;
    wrong += differs_rows(w, "logits", r->logits, r);
    for (int l = 0; l < w->f.config.levels; l++) wrong += differs_level(w, r, l);
    return wrong +
           differs_losses(w, r->loss, r->id_loss, r->targets, r->right, r->id_targets, r->id_right);
}

/* Where the model goes by a length, the evaluator has already run at another one. */
static int check_evaluator(struct bench *w)
{
    lg_eval_result r;
    int wrong = 1, short_first = w->f.length > 0;
    lg_evaluator *e = lg_evaluator_new(w->m, 2, &w->err);
    if (!e) return failed(w, "lg_evaluator_new");
    if (short_first && (lg_model_set_length(w->m, w->f.config.rope_length, &w->err) != 0 ||
                        lg_evaluator_run(e, &w->b, &r, &w->err) != 0 ||
                        lg_model_set_length(w->m, w->f.length, &w->err) != 0))
        failed(w, "at rope_length");
    else if (lg_evaluator_run(e, &w->b, &r, &w->err) != 0)
        failed(w, "lg_evaluator_run");
    else
        wrong = differs_result(w, &r);
    lg_evaluator_free(e);
    return wrong;
}

static void test_evaluator(void **state)
{
    (void)state;
    each_case(check_evaluator);
}

/* ---- Gradients ---------------------------------------------------------------------- */

static int check_gradients(struct bench *w)
{
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
    int wrong = differs_losses(w, r.loss, r.id_loss, r.targets, r.right, r.id_targets, r.id_right);
    wrong += fixture_differs_value(stderr, w->f.name, "grad_norm", r.grad_norm, w->f.grad_norm,
                                   tolerance);
    for (int i = 0; i < lg_model_param_count(w->m); i++) {
        lg_param p = lg_model_param(w->m, i);
        const struct fixture_array *a = fixture_array(&w->f, "grad:", p.name);
        const struct fixture_array *before = fixture_array(&w->f, "param:", p.name);
        size_t n = (size_t)p.rows * (size_t)p.cols;
        if (!a || a->rows != p.rows || a->cols != p.cols) {
            wrong += differs_count(w, p.name, 0, 1);
            continue;
        }
        wrong += fixture_differs(stderr, w->f.name, a->name, lg_trainer_gradient(t, i), a->data.f64,
                                 n, tolerance);
        if (memcmp(p.data, before->data.f32, n * sizeof(float)) != 0)
            wrong += differs_count(w, "a parameter changed by lg_trainer_gradients", 1, 0);
    }
    lg_trainer_free(t);
    return wrong;
}

static void test_gradients(void **state)
{
    (void)state;
    each_case(check_gradients);
}

/* ---- The decoder -------------------------------------------------------------------- */

enum { HEADS = 1 + LG_LEVELS, MOST_SEQUENCES = 16 };

/* What the heads give at the rows of the case's batch: head 0 the logits, head 1 + l the ID
 * logits of level l; and what the pointers find. */
struct outputs {
    float *head[HEADS];
    int32_t *point[LG_LEVELS];
    unsigned char *given; /* [rows] */
};

static size_t head_size(const struct bench *w, int head)
{
    return (size_t)(head ? w->f.config.id_classes[head - 1] : w->f.config.vocab);
}

static const char *head_name(int head) { return head ? fixture_id_logits(head - 1) : "logits"; }

static void outputs_free(struct outputs *o)
{
    for (int h = 0; h < HEADS; h++) free(o->head[h]);
    for (int l = 0; l < LG_LEVELS; l++) free(o->point[l]);
    free(o->given);
}

static int outputs_new(const struct bench *w, struct outputs *o)
{
    size_t rows = (size_t)w->b.rows;
    *o = (struct outputs){.given = calloc(rows, 1)};
    int ok = o->given != NULL;
    for (int h = 0; h < HEADS; h++)
        ok &= (o->head[h] = calloc(rows * head_size(w, h) + 1, sizeof(float))) != NULL;
    for (int l = 0; l < LG_LEVELS; l++) ok &= (o->point[l] = calloc(rows, sizeof(int32_t))) != NULL;
    if (ok) return 0;
    outputs_free(o);
    return -1;
}

static void keep(const struct bench *w, struct outputs *o, int head, int row, const float *from)
{
    size_t n = head_size(w, head);
    if (n) memcpy(o->head[head] + (size_t)row * n, from, n * sizeof *from);
}

/* An ID that a pointer may be asked for at place t of a sequence. */
static int32_t any_id(const int32_t *ids, int t)
{
    while (t >= 0 && ids[t] == LG_ABSENT) t--;
    return t >= 0 ? ids[t] : LG_NONE;
}

/* The case's sequences as b's, with a loss everywhere. */
static int batch_of_all(const struct bench *w, lg_batch *b)
{
    int32_t *zero = calloc((size_t)w->b.rows, sizeof *zero);
    int32_t *ask = calloc((size_t)w->b.rows * LG_LEVELS, sizeof *ask);
    int code = zero && ask ? 0 : LG_ERROR_MEMORY;
    for (int s = 0; s < w->b.sequences && code == 0; s++) {
        int at = w->b.offsets[s], n = w->b.offsets[s + 1] - at;
        lg_sequence x = {
            .n = n, .levels = w->b.levels, .tokens = w->b.tokens + at, .targets = zero};
        for (int l = 0; l < w->b.levels; l++) {
            int32_t *own = ask + l * n;
            for (int t = 0; t < n; t++) own[t] = any_id(w->b.ids[l] + at, t);
            x.ids[l] = w->b.ids[l] + at;
            x.point_targets[l] = w->f.config.pointer[l] ? own : NULL;
        }
        code = lg_batch_add_levels(b, &x, NULL);
    }
    free(zero);
    free(ask);
    return code;
}

/* The evaluator's outputs at every row. */
static int evaluate_all(struct bench *w, struct outputs *o)
{
    lg_batch b;
    lg_eval_result r;
    int wrong = 1;
    lg_batch_init(&b);
    lg_evaluator *e = lg_evaluator_new(w->m, 2, &w->err);
    if (!e || batch_of_all(w, &b) != 0 || lg_evaluator_run(e, &b, &r, &w->err) != 0) {
        failed(w, "evaluating all rows");
    } else {
        wrong = differs_count(w, "rows, evaluating all", r.rows, w->b.rows);
        for (int i = 0; !wrong && i < r.rows; i++) {
            keep(w, o, 0, i, r.logits + (size_t)i * head_size(w, 0));
            for (int l = 0; l < b.levels; l++) {
                if (r.id_logits[l])
                    keep(w, o, 1 + l, i, r.id_logits[l] + (size_t)i * head_size(w, 1 + l));
                o->point[l][i] = r.pointed_id[l] ? r.pointed_id[l][i] : LG_ABSENT;
            }
        }
    }
    lg_evaluator_free(e);
    lg_batch_clear(&b);
    return wrong;
}

/* Keeps what follows the last token read of each sequence that has just moved. */
static void keep_step(const struct bench *w, struct outputs *o, lg_decoder *d, const int32_t *moved)
{
    for (int s = 0; s < w->b.sequences; s++) {
        int row = w->b.offsets[s] + lg_decoder_length(d, s) - 1;
        if (moved && moved[s] == LG_NONE) continue;
        keep(w, o, 0, row, lg_decoder_logits(d, s));
        for (int l = 0; l < w->b.levels; l++) {
            keep(w, o, 1 + l, row, lg_decoder_id_logits(d, s, l));
            o->point[l][row] = lg_decoder_point(d, s, l);
        }
        o->given[row] = 1;
    }
}

/* A prompt of the first `share` of each sequence (at least one token). */
static int add_prompts(const struct bench *w, lg_batch *prompts, double share)
{
    for (int s = 0; s < w->b.sequences; s++) {
        int at = w->b.offsets[s], n = (int)(share * (w->b.offsets[s + 1] - at));
        lg_sequence x = {.n = n < 1 ? 1 : n, .levels = w->b.levels, .tokens = w->b.tokens + at};
        for (int l = 0; l < w->b.levels; l++) x.ids[l] = w->b.ids[l] + at;
        if (lg_batch_add_levels(prompts, &x, NULL) != 0) return -1;
    }
    return 0;
}

/* All sequences side by side: their prompts, then token by token; a sequence that is through
 * waits. */
static int decode(struct bench *w, struct outputs *o, double share)
{
    const lg_batch *b = &w->b;
    int32_t token[MOST_SEQUENCES], id[MOST_SEQUENCES * LG_LEVELS];
    int wrong = 1, moving = 1;
    lg_batch prompts;
    lg_batch_init(&prompts);
    lg_decoder *d = lg_decoder_new(w->m, b->sequences, &w->err);
    if (!d || b->sequences > MOST_SEQUENCES || add_prompts(w, &prompts, share) != 0 ||
        lg_decoder_start(d, &prompts, &w->err) != 0) {
        failed(w, "starting to decode");
        goto done;
    }
    keep_step(w, o, d, NULL);
    while (moving) {
        moving = 0;
        for (int s = 0; s < b->sequences; s++) {
            int row = b->offsets[s] + lg_decoder_length(d, s), more = row < b->offsets[s + 1];
            token[s] = more ? b->tokens[row] : LG_NONE;
            for (int l = 0; l < b->levels; l++)
                id[l * b->sequences + s] = more ? b->ids[l][row] : 0;
            moving += more;
        }
        if (moving && lg_decoder_step(d, token, id, &w->err) != 0) {
            failed(w, "lg_decoder_step");
            goto done;
        }
        if (moving) keep_step(w, o, d, token);
    }
    wrong = 0;
    for (int s = 0; s < b->sequences; s++) {
        int n = b->offsets[s + 1] - b->offsets[s], prompt = prompts.offsets[s + 1];
        prompt -= prompts.offsets[s];
        wrong += differs_count(w, "lg_decoder_length", lg_decoder_length(d, s), n);
        for (int t = 0; t < n; t++)
            wrong +=
                differs_count(w, "a row was decoded", o->given[b->offsets[s] + t], t >= prompt - 1);
    }
done:
    lg_decoder_free(d);
    lg_batch_clear(&prompts);
    return wrong;
}

/* One head's decoded rows: the bits of the evaluator's, and the reference within tolerance. */
static int differs_head(const struct bench *w, const struct outputs *o, const struct outputs *all,
                        int head)
{
    const struct fixture_array *ref = fixture_array(&w->f, "", head_name(head));
    size_t n = head_size(w, head), kept = 0;
    double *want = calloc((size_t)w->b.rows * n + 1, sizeof *want);
    if (!want || (n && !ref)) {
        free(want);
        return n > 0;
    }
    int bits = 0;
    for (int row = 0; row < w->b.rows && n; row++) {
        size_t at = (size_t)row * n;
        if (!o->given[row]) continue; /* a row inside a prompt gives nothing */
        bits += memcmp(o->head[head] + at, all->head[head] + at, n * sizeof(float)) != 0;
        memcpy(want + kept, ref->data.f64 + at, n * sizeof *want);
        memcpy(w->got + kept, o->head[head] + at, n * sizeof(float));
        kept += n;
    }
    char name[FIXTURE_MAX_NAME];
    snprintf(name, sizeof name, "%s, decoded", head_name(head));
    int wrong = differs_count(w, "decoded rows whose bits are not the evaluator's", bits, 0);
    wrong += fixture_differs(stderr, w->f.name, name, w->got, want, kept, tolerance);
    free(want);
    return wrong;
}

static int differs_points(const struct bench *w, const struct outputs *o, const struct outputs *all,
                          int l)
{
    const int32_t *ref = fixture_level(&w->f, "pointed", l);
    int wrong = 0;
    for (int row = 0; row < w->b.rows; row++) {
        if (!o->given[row]) continue;
        wrong += differs_count(w, "lg_decoder_point, beside the evaluator", o->point[l][row],
                               all->point[l][row]);
        wrong += differs_count(w, "lg_decoder_point", o->point[l][row], ref ? ref[row] : LG_ABSENT);
    }
    return wrong;
}

static int check_decoder(struct bench *w)
{
    static const double shares[] = {0, 0.6};
    struct outputs all, o;
    if (outputs_new(w, &all) != 0) return 1;
    int wrong = evaluate_all(w, &all);
    for (size_t i = 0; i < sizeof shares / sizeof *shares && !wrong; i++) {
        if (outputs_new(w, &o) != 0) {
            wrong = 1;
            break;
        }
        wrong = decode(w, &o, shares[i]);
        for (int h = 0; h < HEADS && !wrong; h++) wrong = differs_head(w, &o, &all, h);
        /* What a match head finds depends on where the prompt ends: test_match.c. */
        for (int l = 0; l < w->b.levels && !wrong; l++)
            if (!w->f.config.match[l]) wrong = differs_points(w, &o, &all, l);
        outputs_free(&o);
    }
    outputs_free(&all);
    return wrong;
}

static void test_decoder(void **state)
{
    (void)state;
    each_case(check_decoder);
}

/* ---- The fixtures and the comparison -------------------------------------------------- */

/* Every case has its file (each_case sees to that), every file its case. */
static void test_every_file_is_tested(void **state)
{
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
static int check_comparison(struct bench *w)
{
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

static void test_comparison(void **state)
{
    (void)state;
    each_case(check_comparison);
}

/* The defaults of lg_model_config_default are what the fixtures call neox and olmo. */
static void test_defaults(void **state)
{
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
        assert_int_equal(c.attention, LG_ATTENTION_SOFTMAX);
        assert_int_equal(c.id_classes[0], 0);
        if (olmo) assert_true(fabs(c.rope_share - 1.0) < 1e-12);
    }
}

int main(void)
{
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
