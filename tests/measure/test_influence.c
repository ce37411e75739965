/* test_influence.c: what the predictions of one text need: leaving out against plain loops over
 * the whole text, k* against its definition, and a model that ignores its context. Without it a
 * place could be off by one, or a token count as left out that was read. */
#include <math.h>

#include "measure/influence.h"
#include "helpers/training.h"

enum { N = 40, VOCAB = 11, MOST_K = 3 };

/* Weights far from each other, so that every token matters. */
static lg_model *model_of(lg_span span, int ignores)
{
    lg_error err;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    lg_rng r;
    c.vocab = VOCAB;
    c.layers = 2;
    c.width = 16;
    c.heads = 2;
    c.span = span;
    c.window_lo[0] = -6;
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s", err.text);
    lg_rng_init(&r, 3, 0, 0);
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        int out = strstr(p.name, "attn.out") != NULL;
        for (int k = 0; k < p.rows * p.cols; k++)
            p.data[k] = ignores && out ? 0 : p.data[k] + (float)(0.8 * lg_rng_normal(&r));
    }
    lg_model_touch(m);
    return m;
}

struct text {
    int32_t token[N], id[N];
    unsigned char wanted[N];
    struct lg__passage passage;
};

static void make_text(struct text *x)
{
    lg_rng r;
    lg_rng_init(&r, 4, 0, 0);
    for (int t = 0; t < N; t++) {
        x->token[t] = (int32_t)lg_rng_below(&r, VOCAB);
        x->id[t] = t + 2;
        x->wanted[t] = t > 0 && lg_rng_below(&r, 3) > 0;
    }
    x->passage =
        (struct lg__passage){.n = N, .tokens = x->token, .ids = {x->id}, .wanted = x->wanted};
}

/* The loss of the prediction of token `at` from those that are kept, by an evaluator of its own. */
static double naive(const lg_model *m, const struct text *x, int at, const unsigned char *kept)
{
    int32_t token[N], id[N], target[N];
    lg_error err;
    lg_eval_result r;
    lg_batch b;
    int n = 0;
    for (int t = 0; t < at; t++) {
        if (!kept[t]) continue;
        token[n] = x->token[t];
        id[n] = x->id[t];
        target[n++] = LG_NONE;
    }
    target[n - 1] = x->token[at];
    lg_batch_init(&b);
    must(lg_batch_add(&b, n, token, id, target, NULL, &err), &err);
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    must(lg_evaluator_run(e, &b, &r, &err), &err);
    double loss = r.loss;
    lg_evaluator_free(e);
    lg_batch_clear(&b);
    return loss;
}

static lg_run_probe_options options(int keep_last, int keep_first)
{
    lg_run_probe_options o = lg_run_probe_options_default();
    o.keep_last = keep_last;
    o.keep_first = keep_first;
    o.most_k = MOST_K;
    o.threads = 2;
    return o;
}

static int stays(const lg_run_probe_options *o, int t, int at)
{
    return t >= at - o->keep_last || (t == 0 && o->keep_first);
}

/* The least k with which the k first sources are enough. */
static void check_k(const lg_model *m, const struct text *x, const lg_run_probe_options *o,
                    const struct lg__need *need)
{
    unsigned char kept[N];
    int found = MOST_K + 1;
    for (int t = 0; t < N; t++) kept[t] = (unsigned char)stays(o, t, need->at);
    double none = naive(m, x, need->at, kept);
    assert_true(fabs(none - (double)need->loss_0) < 1e-5);
    assert_int_equal(need->depends, none - (double)need->loss >= o->least);
    for (int k = 1; k <= need->sources; k++) {
        kept[need->source[k - 1]] = 1;
        double loss = naive(m, x, need->at, kept);
        if (k <= need->k) assert_true(fabs(loss - (double)need->curve[k]) < 1e-5);
        if (found > k && loss <= (double)need->loss + o->epsilon) found = k;
    }
    assert_int_equal(need->k, need->depends ? found : 0);
}

static void leaving_out_is_what_plain_loops_find(void **state)
{
    (void)state;
    static const int keep[][2] = {{4, 1}, {1, 0}, {1, 1}, {3, 0}};
    struct text x;
    int depend = 0, most = 0, predictions = 0;
    make_text(&x);
    for (int i = 0; i < 4; i++) {
        lg_model *m = model_of(i == 3 ? LG_SPAN_WINDOW : LG_SPAN_FULL, 0);
        lg_run_probe_options o = options(keep[i][0], keep[i][1]);
        struct lg__influence f = {0};
        lg_error err;
        must(lg__influence_open(&f, m, &o, &err), &err);
        must(lg__influence_run(&f, &x.passage, &err), &err);
        const float *score = f.scores.data;
        for (int n = 0, t = 1; t < N; t++) {
            unsigned char kept[N];
            if (!x.wanted[t]) continue;
            const struct lg__need *need = &f.need[n];
            assert_int_equal(need->at, t);
            memset(kept, 1, sizeof kept);
            double whole = naive(m, &x, t, kept), best = -INFINITY;
            assert_true(fabs(whole - (double)need->loss) < 1e-5);
            for (int j = 0; j < t; j++) {
                double influence = 0;
                if (!stays(&o, j, t)) {
                    kept[j] = 0;
                    influence = naive(m, &x, t, kept) - whole;
                    kept[j] = 1;
                    best = fmax(best, influence);
                }
                assert_true(fabs(influence - (double)score[n * N + j]) < 2e-5);
            }
            if (need->sources) assert_true(fabs(best - (double)need->influence[0]) < 2e-5);
            check_k(m, &x, &o, need);
            depend += need->depends;
            most += need->k > MOST_K;
            predictions++;
            n++;
        }
        lg__influence_close(&f);
        lg_model_free(m);
    }
    print_message("%d of %d depend, %d on more than %d tokens\n", depend, predictions, most,
                  MOST_K);
    assert_true(depend > 10 && most > 0 && depend - most > 5); /* each case was there */
}

static void a_model_that_ignores_its_context_needs_nothing(void **state)
{
    (void)state;
    struct text x;
    make_text(&x);
    lg_model *m = model_of(LG_SPAN_FULL, 1);
    for (int method = 0; method < 2; method++) {
        lg_run_probe_options o = options(1, 0);
        struct lg__influence f = {0};
        lg_error err;
        o.method = method ? LG_PROBE_GRADIENT : LG_PROBE_LOO;
        must(lg__influence_open(&f, m, &o, &err), &err);
        must(lg__influence_run(&f, &x.passage, &err), &err);
        assert_true(f.count > 10);
        for (int i = 0; i < f.count; i++) {
            assert_int_equal(f.need[i].depends, 0);
            assert_int_equal(f.need[i].k, 0);
            for (int s = 0; s < f.need[i].sources; s++)
                assert_true(fabs((double)f.need[i].influence[s]) == 0);
        }
        lg__influence_close(&f);
    }
    lg_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaving_out_is_what_plain_loops_find),
        cmocka_unit_test(a_model_that_ignores_its_context_needs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
