/* test_threads.c: same seed, same bits. A run of 200 steps has byte-identical parameters with
 * 1, 2, 3 and 4 threads: threads are no part of a result. The batches have mixed lengths,
 * sequences without loss, fewer sequences than groups, and groups of several shards, so that
 * any sum whose order depends on who came first (a gradient, the norm, a loss) shows. */
#include "engine/helper.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEPS = 40 };
#else
enum { STEPS = 200 };
#endif

enum { VOCAB = 11, CLASSES = 5 };

static lg_model_config neox(void)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = VOCAB;
    c.width = 40;
    c.heads = 4;
    c.id_classes[0] = CLASSES;
    c.seed = 3;
    return c;
}

static lg_model_config olmo(void)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_OLMO);
    c.vocab = VOCAB;
    c.width = 33; /* odd: no lane or line of a thread's work is a whole one */
    c.heads = 3;
    c.ff = 50;
    c.tied = 1;
    c.encoding = "relative";
    c.span = LG_SPAN_WINDOW;
    c.window_lo[0] = -4;
    c.window_hi[0] = 3;
    c.seed = 4;
    return c;
}

/* Everything that has come with levels: absent IDs, a pointer, a sink, a bias that is a network. */
static lg_model_config levels(void)
{
    lg_model_config c = neox();
    c.levels = 2;
    c.encoding = "fire";
    c.span = LG_SPAN_WINDOW;
    c.sink = 1;
    c.pointer[0] = 1;
    return c;
}

/* How a run's batches look. */
struct feed {
    uint64_t seed;
    int fewest, most; /* sequences of a batch */
    int longest;      /* tokens of a sequence */
    int wide_every;   /* one batch in so many has long sequences: several shards a group */
    lg_precision precision;
};

/* Adds one sequence: IDs that repeat and go back, loss on a random part, or none at all. With
 * pointers, the second level's IDs are absent now and then, and both levels point back. */
static void add_sequence(lg_batch *b, lg_rng *r, int n, const lg_model_config *c)
{
    int32_t tokens[160], ids[160], targets[160], id_targets[160], other[160], point[160];
    int no_loss = lg_rng_below(r, 4) == 0, classes = c->id_classes[0];
    lg_error err;
    for (int t = 0; t < n; t++) {
        tokens[t] = (int32_t)lg_rng_below(r, VOCAB);
        ids[t] = t / 2 + (int32_t)lg_rng_below(r, 3);
        targets[t] = no_loss || lg_rng_below(r, 2) ? LG_NONE : (tokens[t] * 3 + 1) % VOCAB;
        id_targets[t] = no_loss || !classes || lg_rng_below(r, 3)
                            ? LG_NONE
                            : (int32_t)lg_rng_below(r, (uint32_t)classes);
    }
    lg_sequence s = {.n = n, .levels = c->levels, .tokens = tokens, .targets = targets};
    s.ids[0] = ids;
    s.id_targets[0] = id_targets;
    for (int t = 0; c->levels == 2 && t < n; t++) {
        other[t] = t && lg_rng_below(r, 4) == 0 ? LG_ABSENT : (int32_t)lg_rng_below(r, 6);
        point[t] = no_loss || lg_rng_below(r, 3) ? LG_NONE : ids[lg_rng_below(r, (uint32_t)t + 1)];
    }
    if (c->levels == 2) {
        s.ids[1] = other;
        s.point_targets[0] = point;
    }
    assert_int_equal(lg_batch_add_levels(b, &s, &err), 0);
}

static void fill(lg_batch *b, const struct feed *f, int step, const lg_model_config *c)
{
    lg_rng r;
    lg_rng_init(&r, f->seed, 1, (uint64_t)step);
    lg_batch_reset(b);
    int wide = f->wide_every && step % f->wide_every == 0;
    int count = wide ? 60 : f->fewest + (int)lg_rng_below(&r, (uint32_t)(f->most - f->fewest) + 1);
    for (int s = 0; s < count; s++) {
        int longest = wide ? 160 : f->longest;
        add_sequence(b, &r, 1 + (int)lg_rng_below(&r, (uint32_t)longest), c);
    }
    if (b->targets[0] < 0) b->targets[0] = 1; /* never a batch without any loss */
}

/* Everything a run leaves behind. */
struct outcome {
    lg_model *m;
    double loss[STEPS], id_loss[STEPS], norm[STEPS];
    int right[STEPS];
};

static struct outcome *run(const lg_model_config *c, const struct feed *f, int threads, int groups)
{
    lg_error err = {0};
    struct outcome *o = hold(sizeof *o);
    lg_train_options t = lg_train_options_default();
    t.steps = STEPS;
    t.warmup = 10;
    t.lr = 3e-3;
    t.threads = threads;
    t.groups = groups;
    t.precision = f->precision;
    lg_batch b;
    lg_batch_init(&b);
    o->m = lg_model_new(c, &err);
    assert_non_null(o->m);
    lg_trainer *trainer = lg_trainer_new(o->m, &t, &err);
    assert_non_null(trainer);
    for (int step = 0; step < STEPS; step++) {
        lg_train_result r;
        fill(&b, f, step, c);
        if (lg_trainer_step(trainer, &b, &r, &err) != 0) fail_msg("step %d: %s", step, err.text);
        o->loss[step] = r.loss;
        o->id_loss[step] = r.id_loss;
        o->norm[step] = r.grad_norm;
        o->right[step] = r.right + 1000 * r.id_right;
    }
    lg_trainer_free(trainer);
    lg_batch_clear(&b);
    return o;
}

/* Numbers of all tensors whose bits differ; the first one of each tensor is told to `where`. */
static int params_that_differ(const lg_model *a, const lg_model *b, FILE *where, const char *what)
{
    int differ = 0;
    for (int i = 0; i < lg_model_param_count(a); i++) {
        lg_param p = lg_model_param(a, i), q = lg_model_param(b, i);
        int first = -1, count = 0;
        for (int j = 0; j < p.rows * p.cols; j++)
            if (memcmp(p.data + j, q.data + j, sizeof *p.data) != 0 && count++ == 0) first = j;
        if (count && where)
            fprintf(where, "%s: %s: %d of %d numbers differ, first [%d]: %a and %a\n", what, p.name,
                    count, p.rows * p.cols, first, (double)p.data[first], (double)q.data[first]);
        differ += count;
    }
    return differ;
}

static int outcomes_that_differ(const struct outcome *a, const struct outcome *b, const char *what)
{
    int differ = params_that_differ(a->m, b->m, stderr, what);
    for (int i = 0; i < STEPS; i++)
        if (memcmp(&a->loss[i], &b->loss[i], sizeof a->loss[i]) != 0 ||
            memcmp(&a->id_loss[i], &b->id_loss[i], sizeof a->loss[i]) != 0 ||
            memcmp(&a->norm[i], &b->norm[i], sizeof a->norm[i]) != 0 ||
            a->right[i] != b->right[i]) {
            fprintf(stderr, "%s: the results of step %d are the first that differ\n", what, i + 1);
            return differ + 1;
        }
    return differ;
}

static void end(struct outcome *o) { lg_model_free(o->m); }

static void check_threads(const char *name, const lg_model_config *c, const struct feed *f,
                          int groups)
{
    struct outcome *one = run(c, f, 1, groups);
    int differ = 0;
    for (int threads = 2; threads <= 4; threads++) {
        char what[80];
        snprintf(what, sizeof what, "%s, %d threads against 1", name, threads);
        struct outcome *more = run(c, f, threads, groups);
        differ += outcomes_that_differ(more, one, what);
        end(more);
    }
    end(one);
    release();
    assert_int_equal(differ, 0);
}

/* Without this, a lab's result would hang on the machine that made it. */
static void neox_is_the_same_with_any_threads(void **state)
{
    (void)state;
    lg_model_config c = neox();
    struct feed f = {.seed = 1, .fewest = 2, .most = 14, .longest = 30, .wide_every = 50};
    check_threads("neox", &c, &f, 8);
}

/* Groups without a sequence have no gradient block; the tree has holes, always the same. */
static void more_groups_than_sequences(void **state)
{
    (void)state;
    lg_model_config c = neox();
    struct feed f = {.seed = 2, .fewest = 1, .most = 5, .longest = 12};
    check_threads("neox, 16 groups", &c, &f, 16);
}

static void olmo_window_is_the_same_with_any_threads(void **state)
{
    (void)state;
    lg_model_config c = olmo();
    struct feed f = {.seed = 3, .fewest = 2, .most = 14, .longest = 30, .wide_every = 50};
    check_threads("olmo, window", &c, &f, 8);
}

static void levels_are_the_same_with_any_threads(void **state)
{
    (void)state;
    lg_model_config c = levels();
    struct feed f = {.seed = 6, .fewest = 2, .most = 14, .longest = 30, .wide_every = 50};
    check_threads("two levels, pointer, sink", &c, &f, 8);
}

static void bf16_is_the_same_with_any_threads(void **state)
{
    (void)state;
    lg_model_config full = neox(), window = levels();
    struct feed f = {.seed = 7, .fewest = 2, .most = 14, .longest = 30, .wide_every = 50};
    f.precision = LG_PRECISION_BF16;
    check_threads("neox, bf16", &full, &f, 8);
    check_threads("two levels, pointer, sink, bf16", &window, &f, 8);
}

/* A trainer keeps nothing of the one before: neither in the model nor anywhere else. */
static void two_trainers_from_one_seed(void **state)
{
    (void)state;
    lg_model_config c = neox();
    struct feed f = {.seed = 4, .fewest = 3, .most = 9, .longest = 25};
    struct outcome *a = run(&c, &f, 2, 8), *b = run(&c, &f, 2, 8);
    int differ = outcomes_that_differ(a, b, "the same run twice");
    end(a);
    end(b);
    release();
    assert_int_equal(differ, 0);
}

/* The comparison can fail: other batches, another seed of the weights, and (since they fix the
 * order of the sum) other groups give other bits. */
static void what_makes_other_bits(void **state)
{
    (void)state;
    lg_model_config c = neox(), other_seed = neox();
    other_seed.seed++;
    struct feed f = {.seed = 5, .fewest = 3, .most = 9, .longest = 25}, other = f;
    other.seed++;
    struct outcome *a = run(&c, &f, 2, 8);
    struct outcome *with[] = {run(&c, &other, 2, 8), run(&other_seed, &f, 2, 8), run(&c, &f, 2, 2)};
    int differ[3];
    for (int i = 0; i < 3; i++) {
        differ[i] = params_that_differ(a->m, with[i]->m, NULL, "");
        end(with[i]);
    }
    /* and one bit of one parameter is enough */
    lg_model *same = lg_model_new(&c, NULL);
    for (int i = 0; i < lg_model_param_count(same); i++) {
        lg_param p = lg_model_param(same, i), q = lg_model_param(a->m, i);
        memcpy(p.data, q.data, (size_t)(p.rows * p.cols) * sizeof *p.data);
    }
    int none = params_that_differ(a->m, same, NULL, "");
    lg_param last = lg_model_param(same, lg_model_param_count(same) - 1);
    float *x = &last.data[last.rows * last.cols - 1];
    *x = nextafterf(*x, INFINITY);
    int one = params_that_differ(a->m, same, NULL, "");
    lg_model_free(same);
    end(a);
    release();
    for (int i = 0; i < 3; i++) assert_true(differ[i] > 0);
    assert_int_equal(none, 0);
    assert_int_equal(one, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neox_is_the_same_with_any_threads),
        cmocka_unit_test(more_groups_than_sequences),
        cmocka_unit_test(olmo_window_is_the_same_with_any_threads),
        cmocka_unit_test(levels_are_the_same_with_any_threads),
        cmocka_unit_test(bf16_is_the_same_with_any_threads),
        cmocka_unit_test(two_trainers_from_one_seed),
        cmocka_unit_test(what_makes_other_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
