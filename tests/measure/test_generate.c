/* test_generate.c: generating token by token: the same tokens as lg_answer; a typed prompt has the
 * IDs of the examples like it, or is refused; temperature; what cannot be is refused. */
#include "helpers/cells.h"
#include "helpers/home.h"
#include "helpers/training.h"

/* ---- Runs ------------------------------------------------------------------------------- */

static void train_run(const char *folder, const char *const *sets, int count)
{
    lg_run_options o = {.folder = in_home(folder), .sets = sets, .set_count = count};
    lg_error err = {0};
    int done;
    must(lg_run_train(&o, &done, &err), &err);
}

/* Parity learned up to length 10. */
static void train_parity(void)
{
    static const char *const sets[] = {"seed=3",
                                       "task.name=parity-scratchpad",
                                       "positions.ids=coupled",
                                       "positions.source=delta",
                                       "positions.encoding=relative",
                                       "positions.span=window",
                                       "positions.window=[0, 1]",
                                       "model.width=64",
                                       "model.heads=2",
                                       "model.sink=yes",
                                       "train.steps=250",
                                       "train.batch=64",
                                       "train.lr=4e-3",
                                       "train.warmup=50",
                                       "train.length=[1, 10]"};
    train_run("parity", sets, sizeof sets / sizeof *sets);
}

/* A few steps of anything: what it writes is rubbish, but the same rubbish each time. */
static void train_little(const char *folder, const char *const *own, int count)
{
    const char *sets[24] = {"seed=2",        "model.width=16",     "model.heads=2",
                            "train.steps=6", "train.batch=4",      "train.warmup=1",
                            "train.lr=1e-2", "train.length=[1, 6]"};
    int n = 8;
    for (int i = 0; i < count; i++) sets[n++] = own[i];
    train_run(folder, sets, n);
}

static int prepare(void **state)
{
    if (make_home(state)) return -1;
    train_parity();
    return 0;
}

/* ---- What is told ----------------------------------------------------------------------- */

enum { MOST_TOLD = 4096 };

struct texts {
    lg_run_token token[MOST_TOLD]; /* of the last text */
    int n, texts, exact, right, known, ids, ids_right, first;
    int64_t next;         /* example that is to come */
    char prompt[16384];   /* of the last text */
    char written[16384];  /* what was generated in all texts */
    lg_run_answer answer; /* the last */
};

static void told(void *context, const lg_run_token *t)
{
    struct texts *x = context;
    if (t->at == 0) x->n = 0, x->prompt[0] = 0;
    assert_int_equal(t->at, x->n);
    assert_int_equal(t->example, x->next);
    x->token[x->n++] = *t;
    char *to = t->generated ? x->written : x->prompt;
    assert_true(strlen(to) + strlen(t->word) + 2 < sizeof x->prompt);
    if (*to) strcat(to, " ");
    strcat(to, t->word);
    if (!t->generated) return;
    assert_true(t->p > 0 && t->p <= 1);
    x->right += t->expected != LG_NONE && t->token == t->expected;
    for (int l = 0; l < t->levels; l++) {
        x->ids += t->expected_id[l] != LG_NONE;
        x->ids_right += t->expected_id[l] != LG_NONE && t->id[l] == t->expected_id[l];
    }
}

static void answered(void *context, const lg_run_answer *a)
{
    struct texts *x = context;
    assert_int_equal(a->example, x->next);
    assert_int_equal(a->prompt + a->tokens, x->n);
    x->next++;
    x->texts++;
    x->exact += a->exact;
    x->known += a->right;
    if (a->wrong && (!x->first || a->wrong < x->first)) x->first = a->wrong;
    assert_true(a->known == 0 || a->tokens <= 2 * a->right);
    x->answer = *a;
}

static struct texts told_of;

static lg_generate_options options(const char *folder)
{
    memset(&told_of, 0, sizeof told_of);
    return (lg_generate_options){.folder = in_home(folder),
                                 .seed = -1,
                                 .predicted = -1,
                                 .callback = told,
                                 .answered = answered,
                                 .context = &told_of};
}

static const struct texts *generate(const lg_generate_options *o)
{
    lg_error err = {0}, warning = {0};
    memset(&told_of, 0, sizeof told_of);
    must(lg_run_generate(o, &warning, &err), &err);
    if (warning.text[0]) fail_msg("%s", warning.text);
    return &told_of;
}

static void refused(const lg_generate_options *o, const char *what, const char *remedy)
{
    lg_error err = {0};
    memset(&told_of, 0, sizeof told_of);
    assert_int_equal(lg_run_generate(o, NULL, &err), LG_ERROR_ARGUMENT);
    if (!strstr(err.text, what) || !strstr(err.text, remedy))
        fail_msg("\"%s\" or \"%s\" is not in: %s", what, remedy, err.text);
    assert_int_equal(told_of.n, 0);
}

/* ---- Agreement with lg_answer ----------------------------------------------------------- */

static void keep_cell(void *context, const lg_cell *cell) { *(lg_cell *)context = *cell; }

/* One by one as side by side: as many exact, tokens and IDs right, the first wrong too. */
static void agrees_with_eval(const char *folder, int length, int samples, int predicted)
{
    lg_generate_options o = options(folder);
    lg_eval_options e = {.folder = o.folder,
                         .lengths = &length,
                         .length_count = 1,
                         .samples = samples,
                         .predicted = predicted,
                         .generated_only = 1,
                         .each = keep_cell};
    lg_cell cell = {0};
    lg_error err = {0};
    e.context = &cell;
    must(lg_run_eval(&e, NULL, &err), &err);
    o.length = length;
    o.count = samples;
    o.predicted = predicted;
    const struct texts *x = generate(&o);
    assert_int_equal(x->texts, samples);
    assert_int_equal(x->exact, exact_of(&cell));
    assert_true(value_of(&cell, "token_accuracy") == (double)x->right / x->known);
    assert_int_equal(x->first, (int)value_of(&cell, "first_error_min"));
    if (lg_cell_get(&cell, "id_accuracy"))
        assert_true(value_of(&cell, "id_accuracy") == (double)x->ids_right / x->ids);
    print_message("%s, length %d: %d of %d exact\n", folder, length, x->exact, samples);
}

static void the_same_as_eval(void **state)
{
    (void)state;
    for (int predicted = 0; predicted < 2; predicted++) {
        agrees_with_eval("parity", 10, 50, predicted);
        agrees_with_eval("parity", 40, 50, predicted);
        agrees_with_eval("parity", 400, 5, predicted);
    }
}

static void other_ids_agree_too(void **state)
{
    (void)state;
    static const char *const schemes[][3] = {
        {"positions.ids=plain", "positions.encoding=rope", "task.name=copy"},
        {"positions.ids=randomized", "positions.max_id=60", "task.name=copy"},
        {"positions.ids=abacus", "positions.encoding=rope", "task.name=addition"},
        {"positions.ids=coupled", "positions.encoding=rope", "task.name=sparse-parity"},
    };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "scheme-%zu", i);
        train_little(folder, schemes[i], 3);
        agrees_with_eval(folder, 4, 50, 0);
    }
}

/* ---- Prompts ---------------------------------------------------------------------------- */

/* Types the prompt of an example: the same tokens and IDs, in the prompt and after it; by_text: up
 * to the first wrong token, since IDs that follow from the text are others after it. */
static void typed_is_drawn(const char *folder, int length, int predicted, int by_text)
{
    static struct texts drawn;
    lg_generate_options o = options(folder);
    o.length = length;
    o.predicted = predicted;
    drawn = *generate(&o);
    char prompt[sizeof drawn.prompt];
    snprintf(prompt, sizeof prompt, "%s", drawn.prompt);
    o.length = 0;
    o.prompt = prompt;
    if (!drawn.answer.exact) o.max_tokens = drawn.answer.right;
    const struct texts *x = generate(&o);
    assert_int_equal(x->answer.length, 0);
    int until = x->n < drawn.n ? x->n : drawn.n;
    if (by_text && drawn.answer.wrong) until = drawn.answer.prompt + drawn.answer.wrong - 1;
    for (int i = 0; i < until; i++) {
        assert_int_equal(x->token[i].token, drawn.token[i].token);
        for (int l = 0; l < x->token[i].levels; l++)
            assert_int_equal(x->token[i].id[l], drawn.token[i].id[l]);
    }
    if (drawn.answer.exact) assert_int_equal(x->n, drawn.n);
}

static void a_typed_prompt_is_as_a_drawn_one(void **state)
{
    (void)state;
    typed_is_drawn("parity", 7, 1, 0);
    typed_is_drawn("parity", 7, 0, 0);
    typed_is_drawn("parity", 300, 1, 0);
    typed_is_drawn("scheme-3", 2000, 0, 0); /* stars are rare: no slip is suspected */
    for (int i = 0; i < 4; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "scheme-%d", i);
        typed_is_drawn(folder, 3, 0, i == 2);
    }
}

/* Words with and without spaces, and what is right for a prompt that the task draws too. */
static void parity_typed(void **state)
{
    (void)state;
    static const char *const prompts[] = {"1 0 1 =", "101=", " 10\t1 =\n"};
    for (int i = 0; i < 3; i++) {
        lg_generate_options o = options("parity");
        o.prompt = prompts[i];
        const struct texts *x = generate(&o);
        assert_string_equal(x->prompt, "1 0 1 =");
        assert_string_equal(x->written, "1 1 0 $");
        assert_int_equal(x->answer.exact, 1);
        assert_int_equal(x->answer.right, 4);
        static const int32_t ids[] = {2, 3, 4, 1, 2, 3, 4, 5};
        for (int t = 0; t < 8; t++) {
            assert_int_equal(x->token[t].id[0], ids[t]);
            if (t >= 4) assert_int_equal(x->token[t].expected, x->token[t].token);
            if (t >= 4) assert_int_equal(x->token[t].expected_id[0], ids[t]);
        }
    }
}

/* 60 bits are never drawn twice: the tokens are not known, but the rule's IDs are. */
static void a_long_prompt_has_the_rules_ids(void **state)
{
    (void)state;
    char prompt[128] = "";
    for (int i = 0; i < 60; i++) strcat(prompt, i % 3 ? "0" : "1");
    strcat(prompt, "=");
    lg_generate_options o = options("parity");
    o.prompt = prompt;
    o.predicted = 0;
    const struct texts *x = generate(&o);
    assert_int_equal(x->answer.known, 0);
    assert_int_equal(x->answer.right, 61);
    for (int i = 0; i < 60; i++) assert_int_equal(x->token[i].id[0], i + 2);
    assert_int_equal(x->token[60].id[0], 1);
    for (int i = 61; i < x->n && i < 122; i++) {
        assert_int_equal(x->token[i].id[0], i - 59);
        assert_int_equal(x->token[i].expected, LG_NONE);
        assert_int_equal(x->token[i].expected_id[0], i - 59);
    }
}

/* Numbers of three: which digits they have is not in the labels, but where the + stands is. */
static void a_skeleton_gives_the_labels(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=multi-addition", "positions.ids=coupled",
                                       "positions.source=[pointer, delta]", "positions.reach=20",
                                       "train.sparsity=[2, 3]"};
    train_little("sums", sets, 5);
    typed_is_drawn("sums", 5, 1, 0);
    lg_generate_options o = options("sums");
    o.length = 5;
    static struct texts drawn;
    drawn = *generate(&o);
    char prompt[sizeof drawn.prompt];
    snprintf(prompt, sizeof prompt, "%s", drawn.prompt);
    for (char *c = prompt; *c; c++)
        if (*c >= '1' && *c <= '9') *c = (char)('1' + (*c - '0' + 6) % 9);
    o.length = 0;
    o.prompt = prompt;
    const struct texts *x = generate(&o);
    for (int i = 0; i < x->answer.prompt; i++)
        for (int l = 0; l < x->answer.levels; l++)
            assert_int_equal(x->token[i].id[l], drawn.token[i].id[l]);
}

/* Names of two words, values of one or two: labels follow from what the prompt says. */
static void labels_that_follow_from_the_content(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=variable-assignment",
                                       "task.name_tokens=2",
                                       "task.names=50",
                                       "positions.ids=coupled",
                                       "positions.source=[pointer, delta]",
                                       "positions.reach=4"};
    train_little("names", sets, 6);
    lg_generate_options o = options("names");
    o.prompt = "v1 v2 := v3 v4 v3 v4 := c7 v9 v9 := v1 v2 ? v9 v9";
    refused(&o, "follow from what it says", "--prompt-ids");
    o.prompt_ids = "2 2 2 2 2 3 3 3 3 4 4 4 4 4 1 1 1;2 3 4 5 6 2 3 4 5 2 3 4 5 6 4 5 6";
    o.max_tokens = 5;
    const struct texts *x = generate(&o);
    assert_int_equal(x->answer.prompt, 17);
    assert_true(x->answer.tokens >= 1 && x->answer.tokens <= 5);
    assert_int_equal(x->token[8].id[1], 5);
    assert_int_equal(x->answer.known, 0);
    o.predicted = 0;
    refused(&o, "not known", "--source predicted");
    o.predicted = -1;
    o.prompt_ids = "2 2 2 2 2 3 3 3 3 4 4 4 4 4 1 1 1";
    refused(&o, "1 level,", "';'");
    o.prompt_ids = "2 2 2;1 2 3";
    refused(&o, "has 3", "17 tokens");
    o.prompt_ids = "2 2 2 2 2 3 3 3 3 4 4 4 4 4 1 1 x;2 3 4 5 6 2 3 4 5 2 3 4 5 6 4 5 6";
    refused(&o, "whole number", "- for none");
    o.prompt_ids = "- - - - - - - - - - - - - - - - -;2 3 4 5 6 2 3 4 5 2 3 4 5 6 4 5 6";
    x = generate(&o);
    assert_int_equal(x->token[3].id[0], LG_ABSENT);
}

/* A "=" left out is told, and answered all the same. */
static void a_slip_is_told(void **state)
{
    (void)state;
    lg_generate_options o = options("parity");
    lg_error err = {0}, warning = {0};
    o.prompt = "1 0 1 1 0 1 1";
    must(lg_run_generate(&o, &warning, &err), &err);
    assert_non_null(strstr(warning.text, "token 7"));
    assert_non_null(strstr(warning.text, "\"=\""));
}

/* ---- Sampling and refusals -------------------------------------------------------------- */

static void a_seed_gives_the_same_draws(void **state)
{
    (void)state;
    lg_generate_options o = options("parity");
    static char one[16384], other[16384], prompt[16384];
    o.temperature = 3;
    o.length = 30;
    o.count = 3;
    o.seed = 11;
    snprintf(one, sizeof one, "%s", generate(&o)->written);
    snprintf(prompt, sizeof prompt, "%s", told_of.prompt);
    snprintf(other, sizeof other, "%s", generate(&o)->written);
    assert_string_equal(one, other);
    o.seed = 12;
    snprintf(other, sizeof other, "%s", generate(&o)->written);
    assert_string_not_equal(one, other);
    assert_string_not_equal(prompt, told_of.prompt);
    o.seed = 11;
    o.temperature = 0;
    snprintf(other, sizeof other, "%s", generate(&o)->written);
    assert_string_not_equal(one, other);
    assert_string_equal(prompt, told_of.prompt);
}

static void as_many_as_asked_for(void **state)
{
    (void)state;
    lg_generate_options o = options("parity");
    o.length = 10;
    o.max_tokens = 3;
    const struct texts *x = generate(&o);
    assert_int_equal(x->answer.tokens, 3);
    assert_int_equal(x->answer.ended, 0);
    assert_int_equal(x->answer.exact, 0);
    assert_int_equal(x->answer.right, 11);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    lg_generate_options o = options("none");
    refused(&o, "is no run", "lengthen train");
    o = options("parity");
    o.temperature = -1;
    refused(&o, "-1", "0 (the likeliest token)");
    o = options("parity");
    o.prompt = "1 0 1 =";
    o.length = 5;
    refused(&o, "a prompt was given", "length");
    o = options("parity");
    o.prompt = "1 2 =";
    refused(&o, "\"2\"", "0 1 = $");
    o.prompt = " ";
    refused(&o, "empty", "at least one word");
    o.prompt = NULL;
    o.prompt_ids = "1";
    refused(&o, "no prompt", "--prompt");
    o = options("names");
    o.prompt = "v1 := c77";
    refused(&o, "\"c77\"", "variable-assignment");
    o = options("scheme-0");
    o.predicted = 1;
    refused(&o, "no ID heads", "given");
    o = options("scheme-0");
    o.prompt = "a b =";
    o.prompt_ids = "0 1 2";
    refused(&o, "plain", "leave out --prompt-ids");
    o = options("scheme-3");
    o.prompt = "* 1 .";
    refused(&o, "2 and 4", "--prompt-ids");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_as_eval),
        cmocka_unit_test(other_ids_agree_too),
        cmocka_unit_test(a_typed_prompt_is_as_a_drawn_one),
        cmocka_unit_test(parity_typed),
        cmocka_unit_test(a_long_prompt_has_the_rules_ids),
        cmocka_unit_test(a_skeleton_gives_the_labels),
        cmocka_unit_test(labels_that_follow_from_the_content),
        cmocka_unit_test(a_slip_is_told),
        cmocka_unit_test(a_seed_gives_the_same_draws),
        cmocka_unit_test(as_many_as_asked_for),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
