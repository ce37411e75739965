/* test_judge.c: contexts of texts are what predictions depend on, and no more; judging by look-up gives
 * what generation gives, example by example. */
#include "certify/judge.h"
#include "small_run.h"

static const char *const shared[] = {
    "positions.ids=coupled", "positions.encoding=relative",
    "positions.span=window", "model.width=32",
    "model.heads=2",         "train.length=[1, 6]",
};
enum { SHARED = sizeof shared / sizeof *shared };

static const struct {
    const char *name, *sets[8];
    int steps, longest;
} cases[] = {
    {"parity, delta, one layer",
     {"task.name=parity-scratchpad", "positions.window=[0, 1]", "positions.source=delta",
      "model.layers=1", "model.parallel=no"},
     300,
     40},
    {"addition, two layers, looped",
     {"task.name=addition", "task.base=2", "positions.window=[0, 1]", "positions.source=delta",
      "model.arch=looped", "model.layers=1", "model.loops=2"},
     150,
     30},
    {"addition, given",
     {"task.name=addition", "task.base=2", "positions.window=[-1, 1]", "model.layers=2",
      "model.sink=yes"},
     100,
     30},
    {"subtraction, two levels",
     {"task.name=subtraction", "task.base=2", "positions.window=[[0, 1], [-2, 0]]",
      "positions.source=delta", "model.layers=2"},
     150,
     30},
    {"multi-addition, two levels",
     {"task.name=multi-addition", "task.base=2", "positions.window=[-1, 1]", "model.layers=2"},
     60,
     8},
    {"copy, plain IDs and RoPE",
     {"task.name=copy", "task.alphabet=3", "positions.ids=plain", "positions.encoding=rope",
      "positions.window=[-6, 0]", "model.layers=2"},
     60,
     10},
    {"machine",
     {"task.name=machine", "task.table=count-3", "positions.window=[[0, 1], [-2, 1]]",
      "positions.source=delta", "model.layers=1"},
     120,
     40},
};
enum { CASES = sizeof cases / sizeof *cases };

static void open_case(struct lg__run *r, int i)
{
    const char *all[SHARED + 8];
    int n = SHARED;
    memcpy(all, shared, sizeof shared);
    for (int k = 0; k < 8 && cases[i].sets[k]; k++) all[n++] = cases[i].sets[k];
    open_small(r, all, n);
    train_small(r, cases[i].steps, 6);
}

/* ---- Contexts ---------------------------------------------------------------------------------------- */

/* The logits after each token of a text, from a packed run of all of it. */
static void whole(struct lg__run *r, const lg_example *x, lg_batch *b, lg_eval_result *result,
                  lg_evaluator *e)
{
    lg_error err;
    lg_batch_reset(b);
    must(lg_plan_add(&r->plan, x, NULL, b, &err), &err);
    for (int t = 0; t < b->rows; t++) b->targets[t] = 0;
    must(lg_evaluator_run(e, b, result, &err), &err);
}

static int keep_all(void *context, lg_error *err)
{
    (void)context;
    (void)err;
    return 0;
}

/* Of every row of some texts: the context that was cut out has the bits of the whole text, and rows with
 * the same number the same bits. */
static void contexts_have_the_bits_of_their_texts(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct lg__run r;
        struct lg__unfold u;
        lg_error err = {0};
        lg_example x;
        lg_batch b;
        lg_eval_result all, cut;
        open_case(&r, i);
        size_t vocab = (size_t)r.model_config.vocab;
        must(lg__unfold_check(&r, &err), &err);
        must(lg__unfold_open(&u, &r.model_config, &err), &err);
        lg_evaluator *e = lg_evaluator_new(r.model, 1, &err),
                     *e2 = lg_evaluator_new(r.model, 1, &err);
        lg_example_init(&x);
        lg_batch_init(&b);
        float *known = calloc(200000, vocab * sizeof *known);
        int64_t rows = 0;
        for (int k = 0; k < 12; k++) {
            lg_draw d = {.seed = 5, .stream = 9, .index = (uint64_t)k, .length_lo = 1 + k / 2};
            d.length_hi = d.length_lo;
            int32_t number[4000];
            must(lg_task_example(r.task, &d, &x, &err), &err);
            whole(&r, &x, &b, &all, e);
            struct lg__text text = {.n = x.n, .tokens = x.tokens};
            int32_t *ids[LG_LEVELS] = {0};
            for (int l = 0; l < r.plan.levels; l++) text.ids[l] = ids[l] = calloc((size_t)x.n, 4);
            must(lg_plan_ids(&r.plan, &x, NULL, ids, &err), &err);
            int before = lg__unfold_count(&u);
            lg_batch_reset(&u.fresh);
            must(lg__unfold_text(&u, &text, 0, x.n - 2, number, keep_all, NULL, &err), &err);
            assert_int_equal(u.fresh.sequences, lg__unfold_count(&u) - before);
            if (u.fresh.sequences) {
                must(lg_evaluator_run(e2, &u.fresh, &cut, &err), &err);
                memcpy(known + (size_t)before * vocab, cut.logits,
                       (size_t)cut.rows * vocab * sizeof *known);
            }
            for (int t = 0; t + 1 < x.n; t++, rows++)
                if (memcmp(known + (size_t)number[t] * vocab, all.logits + (size_t)t * vocab,
                           vocab * sizeof *known) != 0)
                    fail_msg("%s: row %d of text %d has other bits than its context", cases[i].name,
                             t, k);
            for (int l = 0; l < r.plan.levels; l++) free(ids[l]);
        }
        print_message("%s: %d contexts of %lld rows\n", cases[i].name, lg__unfold_count(&u),
                      (long long)rows);
        assert_true(lg__unfold_count(&u) < rows);
        free(known);
        lg_evaluator_free(e);
        lg_evaluator_free(e2);
        lg_example_clear(&x);
        lg_batch_clear(&b);
        lg__unfold_clear(&u);
        lg__run_close(&r);
    }
}

/* ---- Judging ----------------------------------------------------------------------------------------- */

static void same_score(const char *name, int index, const lg_score *a, const lg_score *b)
{
    int same = a->samples == b->samples && a->exact == b->exact && a->tokens == b->tokens &&
               a->right == b->right && a->ids == b->ids && a->ids_right == b->ids_right &&
               a->text == b->text && a->first_least == b->first_least &&
               a->first_median == b->first_median &&
               memcmp(a->first_in, b->first_in, sizeof a->first_in) == 0;
    if (!same)
        fail_msg("%s, example %d: %d of %d exact, %lld tokens of %lld, %lld IDs of %lld, first %d "
                 "and %d; judged %d of %d, %lld of %lld, %lld of %lld, %d and %d",
                 name, index, a->exact, a->samples, (long long)a->right, (long long)a->tokens,
                 (long long)a->ids_right, (long long)a->ids, a->first_least, a->first_median,
                 b->exact, b->samples, (long long)b->right, (long long)b->tokens,
                 (long long)b->ids_right, (long long)b->ids, b->first_least, b->first_median);
}

static void compare(struct lg__run *r, struct lg__judge *j, const char *name, lg_draw d,
                    int samples, int index)
{
    lg_error err = {0};
    for (int predicted = 0; predicted <= r->predicts; predicted++) {
        lg_score a, taught, b, looked;
        must(lg_answer(r->model, r->task, &r->scheme, &d, samples, predicted, 1, &a, &err), &err);
        must(lg_answer_taught(r->model, r->task, &r->scheme, &d, samples, predicted, 1, &taught,
                              &err),
             &err);
        must(lg__judge_draw(j, r->task, &d, samples, predicted, NULL, &b, &looked, &err), &err);
        same_score(name, index, &a, &b);
        same_score(name, index, &taught, &looked);
    }
}

/* Models that get some right and some wrong, one example at a time and all together. */
static void judging_is_generating(void **state)
{
    (void)state;
    int exact = 0, wrong = 0;
    for (int i = 0; i < CASES; i++) {
        struct lg__run r;
        struct lg__judge *j;
        lg_error err = {0};
        lg_score s;
        open_case(&r, i);
        must(lg__judge_open(&j, &r, 1, &err), &err);
        for (int k = 0; k < 60; k++) {
            int length = 1 + k * (cases[i].longest - 1) / 59;
            lg_draw d = {.seed = 3,
                         .stream = TEST_STREAM,
                         .index = (uint64_t)k,
                         .length_lo = length,
                         .length_hi = length};
            compare(&r, j, cases[i].name, d, 1, k);
        }
        lg_draw d = {.seed = 4, .stream = TEST_STREAM, .length_lo = 1, .length_hi = 6};
        compare(&r, j, cases[i].name, d, 600, -1); /* several groups */
        must(lg__judge_draw(j, r.task, &d, 600, r.predicts, NULL, &s, NULL, &err), &err);
        print_message("%s: %d of 600 exact, %lld contexts run\n", cases[i].name, s.exact,
                      (long long)lg__judge_contexts(j));
        exact += s.exact;
        wrong += 600 - s.exact;
        lg__judge_free(j);
        lg__run_close(&r);
    }
    assert_true(exact > 200 && wrong > 200); /* both ways were taken */
}

/* Contexts that are forgotten are run again, with the same result. */
static void memory_is_bounded(void **state)
{
    (void)state;
    struct lg__run r;
    struct lg__judge *j;
    lg_error err = {0};
    lg_score a, b;
    lg_draw d = {.seed = 4, .stream = TEST_STREAM, .length_lo = 1, .length_hi = 20};
    open_case(&r, 2);
    must(lg__judge_open(&j, &r, 1, &err), &err);
    must(lg__judge_draw(j, r.task, &d, 2000, 0, NULL, &a, NULL, &err), &err);
    int64_t once = lg__judge_contexts(j);
    lg__judge_free(j);
    must(lg__judge_open(&j, &r, 1, &err), &err);
    lg__judge_lookup(j)->most = 1000;
    must(lg__judge_draw(j, r.task, &d, 2000, 0, NULL, &b, NULL, &err), &err);
    same_score("bounded", -1, &a, &b);
    assert_true(lg__judge_contexts(j) > once);
    lg__judge_free(j);
    lg__run_close(&r);
}

static void others_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sets[5], *words;
    } refused[] = {
        {{"task.name=parity", "positions.ids=plain", "positions.encoding=relative",
          "positions.span=full"},
         "span is full"},
        {{"task.name=parity-scratchpad", "positions.ids=coupled", "positions.encoding=learned",
          "positions.max_id=100", "positions.span=window"},
         "learned"},
        {{"task.name=retrieval", "positions.ids=coupled", "positions.encoding=relative",
          "positions.source=pointer", "positions.span=window"},
         "pointer"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct lg__run r;
        struct lg__judge *j = NULL;
        lg_error err = {0};
        int n = 0;
        while (n < 5 && refused[i].sets[n]) n++;
        open_small(&r, refused[i].sets, n);
        assert_int_equal(lg__judge_open(&j, &r, 1, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, refused[i].words)) fail_msg("%s", err.text);
        lg__run_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_have_the_bits_of_their_texts),
        cmocka_unit_test(judging_is_generating),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
