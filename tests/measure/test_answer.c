/* test_answer.c: lg_answer on models that know nothing: what it refuses, and that a wrong token or
 * a wrong ID is a wrong answer and never an error. */
#include "measure/answer.h"
#include "measure/bench.h"
#include "helpers/training.h"
#include "base/clock.h"

/* A task, a coupled scheme with these sources, and a fresh model for them. */
static struct trained fresh(const char *task, const char *first, const char *second,
                            const char *encoding, uint64_t seed)
{
    struct trained r = {.scheme = lg_scheme_default()};
    lg_error err;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    r.t = lg_task_new(task, NULL, 0, &err);
    if (!r.t) fail_msg("%s", err.text);
    r.scheme.ids = "coupled";
    r.scheme.source[0] = first;
    r.scheme.source[1] = second;
    r.scheme.max_id = 40;
    c.vocab = lg_task_get_shape(r.t)->vocab;
    c.width = 16;
    c.encoding = encoding;
    c.seed = seed;
    must(lg_scheme_config(&r.scheme, r.t, &c, &err), &err);
    r.m = lg_model_new(&c, &err);
    if (!r.m) fail_msg("%s", err.text);
    return r;
}

/* A predicted ID may be anything: past a learned table it must not end the others' answers. */
static void wrong_ids_are_wrong_answers(void **state)
{
    (void)state;
    static const char *const heads[] = {"delta", "pointer", "absolute"};
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int h = 0; h < 3; h++) {
            struct trained r = fresh("addition", heads[h], NULL, "learned", seed);
            lg_draw d = {.seed = 1, .length_lo = 1, .length_hi = 12};
            lg_score s;
            lg_error err;
            must(lg_answer(r.m, r.t, &r.scheme, &d, 100, 1, 0, &s, &err), &err);
            assert_int_equal(s.samples, 100);
            assert_true(s.exact < 100 && s.ids > 0 && s.ids_right < s.ids);
            assert_true(s.right <= s.tokens && s.exact <= s.samples);
            trained_free(&r);
        }
}

static void a_model_of_another_scheme_is_refused(void **state)
{
    (void)state;
    struct trained two = fresh("multi-addition", NULL, NULL, "rope", 1);
    struct trained one = fresh("addition", "delta", NULL, "rope", 1);
    lg_draw d = {.seed = 1, .length_lo = 2, .length_hi = 2};
    lg_score s;
    lg_error err;
    lg_scheme pointer = one.scheme;
    pointer.source[0] = "pointer";
    assert_int_equal(lg_answer(one.m, two.t, &two.scheme, &d, 4, 0, 0, &s, &err),
                     LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "2 levels"));
    assert_int_equal(lg_answer(one.m, one.t, &pointer, &d, 4, 1, 0, &s, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "lg_scheme_config"));
    must(lg_answer(one.m, one.t, &pointer, &d, 4, 0, 0, &s, &err),
         &err); /* given: no head is asked */
    assert_int_equal(lg_answer(one.m, one.t, &one.scheme, &d, 0, 0, 0, &s, &err),
                     LG_ERROR_ARGUMENT);
    trained_free(&one);
    trained_free(&two);
}

/* The same examples whether they are answered side by side or one after the other. */
static int by_size(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void side_by_side_is_one_by_one(void **state)
{
    (void)state;
    struct trained r = fresh("variable-assignment", "pointer", "delta", "relative", 3);
    lg_draw d = {.seed = 1, .length_lo = 1, .length_hi = 8};
    lg_score all, one, sum = {0};
    lg_error err;
    int first[150], wrong = 0;
    must(lg_answer(r.m, r.t, &r.scheme, &d, 150, 1, 0, &all, &err), &err);
    for (int i = 0; i < 150; i++) {
        d.index = (uint64_t)i;
        must(lg_answer(r.m, r.t, &r.scheme, &d, 1, 1, 0, &one, &err), &err);
        sum.samples += one.samples;
        sum.exact += one.exact;
        sum.tokens += one.tokens;
        sum.right += one.right;
        sum.ids += one.ids;
        sum.ids_right += one.ids_right;
        sum.text += one.text;
        assert_int_equal(one.first_least, one.first_median);
        assert_int_equal(one.first_least > 0, one.right < one.tokens);
        for (int t = 0; t < 10; t++) sum.first_in[t] += one.first_in[t];
        if (one.first_least) first[wrong++] = one.first_least;
    }
    qsort(first, (size_t)wrong, sizeof *first, by_size);
    sum.first_least = first[0];
    sum.first_median = first[(wrong - 1) / 2];
    assert_memory_equal(&all, &sum, sizeof all);
    d.index = 0;
    const size_t usual =
        lg__answer_room; /* then where few find room at a time, and where one does */
    for (lg__answer_room = usual; lg__answer_room; lg__answer_room >>= 15)
        for (int threads = 1; threads <= 5; threads++) {
            must(lg_answer(r.m, r.t, &r.scheme, &d, 150, 1, threads, &all, &err), &err);
            assert_memory_equal(&all, &sum, sizeof all);
        }
    lg__answer_room = usual;
    trained_free(&r);
}

/* Answers of one token are not generated for a second time: taught, they are the same. Of models that
 * know nothing, some say what may be an answer. */
static void one_token_is_the_same_taught(void **state)
{
    (void)state;
    lg_error err;
    lg_draw d = {.seed = 1, .length_lo = 3, .length_hi = 20};
    int exact = 0;
    for (int i = 0; i < 10; i++) {
        int found, single = i > 0;
        struct trained r = {.scheme = {.ids = "plain"}};
        lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
        lg_score generated, taught;
        assert_non_null(r.t = lg_task_new(single ? "sparse-parity" : "copy", NULL, 0, &err));
        c.vocab = lg_task_get_shape(r.t)->vocab;
        c.width = 32;
        c.seed = (uint64_t)i;
        must(lg_scheme_config(&r.scheme, r.t, &c, &err), &err);
        assert_non_null(r.m = lg_model_new(&c, &err));
        must(lg_answer(r.m, r.t, &r.scheme, &d, 200, 0, 1, &generated, &err), &err);
        must(lg__answer_taught(r.m, r.t, &r.scheme, &d, 200, 0, 1, &found, &taught, &err), &err);
        assert_int_equal(found, single);
        if (single) assert_memory_equal(&generated, &taught, sizeof taught);
        if (single) exact += taught.exact;
        trained_free(&r);
    }
    assert_true(exact > 50 && exact < 9 * 200 - 50);
}

/* A pointer that the config mentions above its levels is none. */
static void no_pointer_finds_nothing(void **state)
{
    (void)state;
    lg_error err;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = 4;
    c.width = 16;
    c.pointer[1] = 1; /* of one level */
    lg_model *m = lg_model_new(&c, &err);
    lg_decoder *d = lg_decoder_new(m, 1, &err);
    lg_batch b;
    lg_batch_init(&b);
    static const int32_t tokens[] = {0, 1, 2};
    assert_int_equal(lg_batch_add(&b, 3, tokens, NULL, NULL, NULL, &err), 0);
    must(lg_decoder_start(d, &b, &err), &err);
    for (int l = 0; l < LG_LEVELS; l++) {
        assert_int_equal(lg_decoder_point(d, 0, l), LG_ABSENT);
        assert_null(lg_decoder_id_logits(d, 0, l));
    }
    lg_batch_clear(&b);
    lg_decoder_free(d);
    lg_model_free(m);
}

/* Twenty texts of a million tokens at once would take 25 GB: long texts take turns. */
static void long_texts_take_turns(void **state)
{
    (void)state;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.layers = 2;
    c.width = 64;
    c.levels = 2;
    c.pointer[0] = 1;
    c.span = LG_SPAN_WINDOW;
    assert_int_equal(lg__answer_beside(&c, 1000, 1), 64);
    assert_int_equal(lg__answer_beside(&c, 1000, 2), 32);
    assert_int_equal(lg__answer_beside(&c, 1000000, 1), 2);
    assert_int_equal(lg__answer_beside(&c, 1000000, 2), 1);
    assert_int_equal(lg__answer_beside(&c, 100000000, 2), 1);
    int windowed = lg__answer_beside(&c, 200000, 1);
    c.span = LG_SPAN_FULL; /* packed keys beside the others */
    assert_true(lg__answer_beside(&c, 200000, 1) < windowed);
}

struct counted {
    lg_task *t;
    lg_draw d;
    volatile int made, stop;
    int stop_at; /* example */
};

static int make_counted(void *context, int index, lg_example *x, lg_error *err)
{
    struct counted *c = context;
    lg_draw d = c->d;
    d.index = (uint64_t)index;
    c->made++;
    if (index == c->stop_at) c->stop = 1;
    return lg_task_example(c->t, &d, x, err);
}

/* With a limit what is answered is the same as without one, only less: whole groups count, and those
 * under way do not. */
static void a_limit_cuts_between_groups(void **state)
{
    (void)state;
    struct trained r = fresh("copy", "delta", NULL, "relative", 3);
    struct counted c = {.t = r.t, .d = {.seed = 1, .length_lo = 1, .length_hi = 8}, .stop_at = -1};
    struct lg__answer_limit limit = {.until = lg__now() + 1e6};
    lg_score all, some, first;
    lg_error err;
    must(lg_answer(r.m, r.t, &r.scheme, &c.d, 100, 0, 2, &all, &err), &err);
    must(lg__answer(r.m, r.t, &r.scheme, make_counted, &c, 100, 0, 2, &limit, &some, &err), &err);
    assert_memory_equal(&some, &all, sizeof all); /* there was time enough */
    limit.until = lg__now() - 1;
    c.made = 0;
    must(lg__answer(r.m, r.t, &r.scheme, make_counted, &c, 100, 0, 2, &limit, &some, &err), &err);
    assert_int_equal(some.samples, 0);
    assert_int_equal(some.tokens, 0);
    assert_int_equal(c.made, 2); /* one per thread: no more were started */
    /* stopped while the second group is made: the first one's answers are what there is */
    limit = (struct lg__answer_limit){.stop = &c.stop};
    c.stop_at = 64;
    must(lg__answer(r.m, r.t, &r.scheme, make_counted, &c, 100, 0, 2, &limit, &some, &err), &err);
    must(lg_answer(r.m, r.t, &r.scheme, &c.d, 64, 0, 2, &first, &err), &err);
    assert_int_equal(some.samples, 64);
    assert_memory_equal(&some, &first, sizeof first);
    trained_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_ids_are_wrong_answers),
        cmocka_unit_test(a_model_of_another_scheme_is_refused),
        cmocka_unit_test(side_by_side_is_one_by_one),
        cmocka_unit_test(one_token_is_the_same_taught),
        cmocka_unit_test(no_pointer_finds_nothing),
        cmocka_unit_test(long_texts_take_turns),
        cmocka_unit_test(a_limit_cuts_between_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
