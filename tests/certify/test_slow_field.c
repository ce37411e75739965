/* test_slow_field.c: the field that the certificate claims, against trained models. For five models
 * of different tasks, encodings and shapes, each token of an input is replaced by every other one of
 * the vocabulary, in turn: a position whose field does not hold it keeps every bit of its logits, of
 * tokens and of IDs; where the field holds it some change, out to the ends that can be reached.
 * Without this test the field could be claimed too narrow, and a model be certified whose answers
 * depend on what no context shows. */
#include "certify/contexts.h"
#include "helpers/training.h"

enum { ROWS = 1 << 14, INPUTS = 3, COLUMNS = 30, MOST_REACH = 16, MOST_LOGITS = 128 };

/* ---- Models ---------------------------------------------------------------------------------- */

static struct training window(lg_arch arch, const char *task, const char *setting, int layers,
                              int lo, int hi)
{
    struct training x = training_default(task);
    x.model = lg_model_config_default(arch);
    x.setting = setting;
    x.scheme.ids = "coupled";
    x.scheme.source[0] = "delta";
    x.model.encoding = "relative";
    x.model.span = LG_SPAN_WINDOW;
    x.model.layers = layers;
    x.model.width = 32;
    x.model.heads = 2;
    x.model.window_lo[0] = lo;
    x.model.window_hi[0] = hi;
    x.model.sink = 1;
    x.steps = 500;
    return x;
}

/* ---- One input ------------------------------------------------------------------------------- */

/* What is seen of one model. */
struct field {
    struct trained r;
    const lg_model_config *c;
    int back, ahead; /* as claimed */
    lg_evaluator *evaluator;
    lg_batch text, changed; /* an input; the same with a token replaced, many times */
    int direction;          /* of generation: 1 if IDs rise, -1 if they fall */
    int at[ROWS];           /* of each sequence of `changed`: the place that was replaced */
    int wide;               /* logits of a row: of tokens, and of the IDs of each level */
    float *as_it_is;        /* [rows, wide] of the text */
    /* Comparisons outside of the field, by place in the text; and within, by column. */
    int64_t earlier, later, within[2 * MOST_REACH + 1], changes[2 * MOST_REACH + 1];
};

static void copy_row(const struct field *f, const lg_eval_result *e, int row, float *to)
{
    int n = f->c->vocab;
    memcpy(to, e->logits + row * n, (size_t)n * sizeof *to);
    for (int l = 0; l < f->c->levels; l++) {
        to += n;
        n = f->c->id_classes[l];
        assert_true(n > 0);
        memcpy(to, e->id_logits[l] + row * n, (size_t)n * sizeof *to);
    }
}

/* Adds the text with `token` at `place`. Every row is wanted. */
static void add_text(struct field *f, int place, int32_t token)
{
    const lg_batch *b = &f->text;
    lg_error err;
    lg_sequence s = {.n = b->rows, .levels = b->levels, .tokens = b->tokens, .targets = b->tokens};
    for (int l = 0; l < b->levels; l++) s.ids[l] = b->ids[l];
    f->at[f->changed.sequences] = place;
    must(lg_batch_add_levels(&f->changed, &s, &err), &err);
    f->changed.tokens[f->changed.rows - b->rows + place] = token;
}

static void compare_row(struct field *f, int place, int row, const float *logits)
{
    int apart = f->direction * (f->text.ids[0][place] - f->text.ids[0][row]);
    int same = memcmp(logits, f->as_it_is + row * f->wide, (size_t)f->wide * sizeof *logits) == 0;
    if (place <= row && apart >= -f->back && apart <= f->ahead) {
        f->within[MOST_REACH + apart]++;
        f->changes[MOST_REACH + apart] += !same;
        return;
    }
    *(place > row ? &f->later : &f->earlier) += 1;
    if (!same)
        fail_msg("token %d, %d columns from position %d, is outside of its field and changes bits",
                 place, apart, row);
}

/* Runs what is in the batch and compares all of its rows. */
static void compare_changed(struct field *f)
{
    lg_eval_result e;
    lg_error err;
    float logits[MOST_LOGITS];
    int n = f->text.rows;
    must(lg_evaluator_run(f->evaluator, &f->changed, &e, &err), &err);
    assert_int_equal(e.rows, f->changed.rows);
    for (int i = 0; i < e.rows; i++) {
        copy_row(f, &e, i, logits);
        compare_row(f, f->at[i / n], i % n, logits);
    }
    lg_batch_reset(&f->changed);
}

/* Every token of the text replaced by every other one, in turn. */
static void look_at_text(struct field *f)
{
    lg_eval_result e;
    lg_error err;
    int n = f->text.rows;
    add_text(f, 0, f->text.tokens[0]);
    must(lg_evaluator_run(f->evaluator, &f->changed, &e, &err), &err);
    assert_int_equal(e.rows, n);
    f->as_it_is = calloc((size_t)(n * f->wide), sizeof *f->as_it_is);
    assert_non_null(f->as_it_is);
    for (int i = 0; i < n; i++) copy_row(f, &e, i, f->as_it_is + i * f->wide);
    lg_batch_reset(&f->changed);
    for (int place = 0; place < n; place++)
        for (int32_t token = 0; token < f->c->vocab; token++) {
            if (token == f->text.tokens[place]) continue;
            add_text(f, place, token);
            if (f->changed.rows + n > ROWS) compare_changed(f);
        }
    if (f->changed.rows) compare_changed(f);
    free(f->as_it_is);
}

/* ---- One model ------------------------------------------------------------------------------- */

/* The field as the certificate has it. */
static void claim(struct field *f)
{
    struct lg__run run = {
        .task = f->r.t, .scheme = f->r.scheme, .plan = f->r.plan, .model_config = *f->c};
    struct lg__contexts c;
    lg_error err;
    must(lg__contexts_open(&c, &run, &err), &err);
    f->back = c.back;
    f->ahead = c.ahead;
    assert_true(f->back <= MOST_REACH && f->ahead <= MOST_REACH);
    lg__contexts_clear(&c);
}

static void look_at_inputs(const struct training *x, struct field *f)
{
    lg_example example;
    lg_error err;
    lg_example_init(&example);
    for (int i = 0; i < INPUTS; i++) {
        lg_draw d = draw_of(x, TEST_STREAM, COLUMNS, 0);
        d.index = (uint64_t)i;
        must(lg_task_example(f->r.t, &d, &example, &err), &err);
        lg_batch_reset(&f->text);
        must(lg_plan_add(&f->r.plan, &example, NULL, &f->text, &err), &err);
        int last = f->text.rows - 1;
        f->direction = f->text.ids[0][last] > f->text.ids[0][example.answer] ? 1 : -1;
        look_at_text(f);
    }
    lg_example_clear(&example);
}

/* back, ahead: how far the model can see at least, of the columns that are claimed. */
static void look(const struct training *x, int back, int ahead)
{
    struct field *f = calloc(1, sizeof *f);
    lg_error err;
    lg_score score;
    assert_non_null(f);
    f->r = train(x);
    f->c = lg_model_get_config(f->r.m);
    f->wide = f->c->vocab;
    for (int l = 0; l < f->c->levels; l++) f->wide += f->c->id_classes[l];
    assert_true(f->wide <= MOST_LOGITS);
    lg_draw d = draw_of(x, TEST_STREAM, x->length, 0);
    must(lg_answer_taught(f->r.m, f->r.t, &f->r.scheme, &d, 50, 1, 0, &score, &err), &err);
    claim(f);
    lg_batch_init(&f->text);
    lg_batch_init(&f->changed);
    f->evaluator = lg_evaluator_new(f->r.m, 1, &err);
    if (!f->evaluator) fail_msg("%s", err.text);
    look_at_inputs(x, f);
    print_message("%s, %s, %d layers: %.3f of the tokens right; %lld later and %lld earlier "
                  "comparisons outside of the field; within, changes by column:",
                  x->task, f->c->encoding, f->c->layers, (double)score.right / (double)score.tokens,
                  (long long)f->later, (long long)f->earlier);
    for (int i = -f->back; i <= f->ahead; i++)
        print_message(" %+d: %lld of %lld", i, (long long)f->changes[MOST_REACH + i],
                      (long long)f->within[MOST_REACH + i]);
    print_message("\n");
    assert_true(2 * score.right > score.tokens); /* it has learned something */
    assert_true(f->earlier > 10000 && f->later > 10000);
    assert_true(f->changes[MOST_REACH] > 0);
    assert_true(f->changes[MOST_REACH - back] > 0 && f->changes[MOST_REACH + ahead] > 0);
    lg_evaluator_free(f->evaluator);
    lg_batch_clear(&f->text);
    lg_batch_clear(&f->changed);
    trained_free(&f->r);
    free(f);
}

static void parity_with_one_layer(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_NEOX, "parity-scratchpad", NULL, 1, 0, 1);
    look(&x, 0, 1);
}

/* IDs fall as the answer is written: ahead is where they are lower. */
static void parity_backward_with_rope(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_OLMO, "parity-scratchpad", "scan=backward", 2, -2, 1);
    x.model.encoding = "rope";
    look(&x, 2, 4);
}

static void addition_with_alibi(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_NEOX, "addition", "base=4", 2, 0, 1);
    x.model.encoding = "alibi";
    x.model.heads = 4;
    look(&x, 0, 2);
}

static void copy_with_t5(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_NEOX, "copy", "alphabet=8", 1, -1, 2);
    x.model.encoding = "t5";
    look(&x, 1, 2);
}

/* Two levels: the second one narrows what is seen and never widens it. What is third ahead would
 * take a third track to be seen: within a track no word sees later ones. */
static void machine_with_two_levels(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_OLMO, "machine", "table=add-3", 3, -1, 1);
    x.model.window_lo[1] = -2;
    x.model.window_hi[1] = 1;
    x.scheme.source[1] = "delta";
    look(&x, 3, 2);
}

static void reverse_without_an_encoding(void **state)
{
    (void)state;
    struct training x = window(LG_ARCH_NEOX, "reverse", "alphabet=4", 2, -1, 0);
    x.model.encoding = "none";
    look(&x, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity_with_one_layer),   cmocka_unit_test(parity_backward_with_rope),
        cmocka_unit_test(addition_with_alibi),     cmocka_unit_test(copy_with_t5),
        cmocka_unit_test(machine_with_two_levels), cmocka_unit_test(reverse_without_an_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
