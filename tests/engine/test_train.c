/* test_train.c: what a training step is made of, against numbers computed here: the schedules,
 * AdamW and which tensors decay, clipping, losses and counts; that both architectures and the
 * ID head learn; sampling; the parameter table. */
#include "engine/helper.h"

#include "engine/pass.h"

/* ---- Schedules ------------------------------------------------------------------------ */

/* Without this, a wrong end of a schedule shows only as a slightly worse run. */
static void schedules(void **state)
{
    (void)state;
    const struct {
        lg_schedule schedule;
        int steps, warmup, cooldown;
        double lr, last;
        int64_t step;
        double want;
    } row[] = {
        /* rise: step / warmup */
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 1, 0.0002},
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 5, 0.001},
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 10, 0.002},
        /* fall: over the 100 steps after */
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 11, 0.001982},
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 60, 0.0011},
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 110, 0.0002},
        {LG_SCHEDULE_LINEAR, 110, 10, 0, 0.002, 0.1, 5000000000, 0.0002},
        {LG_SCHEDULE_LINEAR, 100, 0, 0, 0.002, 0.0, 1, 0.00198},
        {LG_SCHEDULE_LINEAR, 100, 0, 0, 0.002, 0.0, 100, 0.0},
        /* the cool-down belongs to the constant schedule alone */
        {LG_SCHEDULE_LINEAR, 110, 10, 50, 0.002, 0.1, 60, 0.0011},
        /* half a cosine: 1 - (1 - last) (1 - cos(pi x)) / 2, x = 1/4: 0.1464466094 */
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 5, 0.001},
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 35, 0.00173639610306789},
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 60, 0.0011},
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 85, 0.00046360389693211},
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 110, 0.0002},
        {LG_SCHEDULE_COSINE, 110, 10, 0, 0.002, 0.1, 111, 0.0002},
        {LG_SCHEDULE_CONSTANT, 100, 4, 0, 0.002, 0.1, 1, 0.0005},
        {LG_SCHEDULE_CONSTANT, 100, 4, 0, 0.002, 0.1, 4, 0.002},
        {LG_SCHEDULE_CONSTANT, 100, 4, 0, 0.002, 0.1, 100, 0.002},
        {LG_SCHEDULE_CONSTANT, 100, 4, 0, 0.002, 0.1, 101, 0.002},
        /* the last 20 steps fall */
        {LG_SCHEDULE_CONSTANT, 100, 4, 20, 0.002, 0.1, 80, 0.002},
        {LG_SCHEDULE_CONSTANT, 100, 4, 20, 0.002, 0.1, 81, 0.00191},
        {LG_SCHEDULE_CONSTANT, 100, 4, 20, 0.002, 0.1, 90, 0.0011},
        {LG_SCHEDULE_CONSTANT, 100, 4, 20, 0.002, 0.1, 100, 0.0002},
        {LG_SCHEDULE_CONSTANT, 100, 4, 20, 0.002, 0.1, 101, 0.0002},
        /* a warm-up as long as the schedule: then its last value */
        {LG_SCHEDULE_LINEAR, 10, 10, 0, 0.002, 0.5, 10, 0.002},
        {LG_SCHEDULE_LINEAR, 10, 10, 0, 0.002, 0.5, 11, 0.001},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        lg_train_options o = lg_train_options_default();
        o.schedule = row[i].schedule;
        o.steps = row[i].steps;
        o.warmup = row[i].warmup;
        o.cooldown = row[i].cooldown;
        o.lr = row[i].lr;
        o.min_lr_ratio = row[i].last;
        double got = lg_train_lr(&o, row[i].step);
        if (!(fabs(got - row[i].want) <= 1e-15))
            fail_msg("row %zu, step %lld: %.17g, want %.17g", i, (long long)row[i].step, got,
                     row[i].want);
    }
}

/* ---- Models and batches ------------------------------------------------------------------ */

enum { VOCAB = 7, CLASSES = 3 };

static lg_model_config config(lg_arch arch)
{
    lg_model_config c = lg_model_config_default(arch);
    c.vocab = VOCAB;
    c.width = 24;
    c.heads = 2;
    c.id_classes[0] = CLASSES;
    return c;
}

static lg_model *model_new(const lg_model_config *c)
{
    lg_error err;
    lg_model *m = lg_model_new(c, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static lg_trainer *trainer_new(lg_model *m, const lg_train_options *o)
{
    lg_error err;
    lg_trainer *t = lg_trainer_new(m, o, &err);
    if (!t) fail_msg("%s", err.text);
    return t;
}

static lg_train_result step(lg_trainer *t, const lg_batch *b)
{
    lg_error err;
    lg_train_result r;
    if (lg_trainer_step(t, b, &r, &err)) fail_msg("%s", err.text);
    return r;
}

/* Plain AdamW: no warm-up, no fall, no decay, no clipping. */
static lg_train_options bare(double lr)
{
    lg_train_options o = lg_train_options_default();
    o.lr = lr;
    o.warmup = 0;
    o.schedule = LG_SCHEDULE_CONSTANT;
    o.weight_decay = 0;
    o.grad_clip = 0;
    o.threads = 2;
    return o;
}

static void fill(lg_batch *b, uint64_t seed, int sequences)
{
    lg_rng r;
    lg_rng_init(&r, seed, 4, 0);
    lg_batch_reset(b);
    for (int s = 0; s < sequences; s++) {
        int32_t tokens[20], targets[20], id_targets[20];
        int n = 1 + (int)lg_rng_below(&r, 20);
        for (int t = 0; t < n; t++) {
            tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
            targets[t] = lg_rng_below(&r, 3) ? (int32_t)lg_rng_below(&r, VOCAB) : LG_NONE;
            id_targets[t] = lg_rng_below(&r, 2) ? (int32_t)lg_rng_below(&r, CLASSES) : LG_NONE;
        }
        assert_int_equal(lg_batch_add(b, n, tokens, NULL, targets, id_targets, NULL), 0);
    }
}

static size_t count(lg_param p) { return (size_t)p.rows * (size_t)p.cols; }

/* All parameters, or all gradients, end to end. */
static float *flat(const lg_model *m, const lg_trainer *gradients)
{
    float *all = hold((size_t)lg_model_param_total(m) * sizeof *all), *to = all;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        memcpy(to, gradients ? lg_trainer_gradient(gradients, i) : p.data, count(p) * sizeof *to);
        to += count(p);
    }
    return all;
}

/* ---- The optimizer ------------------------------------------------------------------------ */

/* AdamW in double, from the gradients that the trainer shows, decoupled decay included. Without
 * this a wrong bias correction or a decay inside the moments would still "train". */
static void adamw_by_the_formula(void **state)
{
    (void)state;
    for (int arch = LG_ARCH_NEOX; arch <= LG_ARCH_LOOPED; arch++, release()) {
        lg_model_config c = config((lg_arch)arch);
        lg_model *m = model_new(&c);
        lg_train_options o = bare(0.01);
        o.weight_decay = 0.3;
        o.beta1 = 0.8;
        o.beta2 = 0.95;
        o.eps = 1e-4;      /* large enough to be seen */
        o.warmup = 3;      /* and each step has its own rate */
        o.grad_clip = 0.5; /* the moments are of the clipped gradient */
        lg_trainer *t = trainer_new(m, &o);
        size_t n = (size_t)lg_model_param_total(m), at = 0;
        double *p = hold_doubles(n), *m1 = hold_doubles(n), *m2 = hold_doubles(n);
        int *decay = hold(n * sizeof *decay);
        const float *start = flat(m, NULL);
        for (size_t i = 0; i < n; i++) p[i] = (double)start[i];
        for (int i = 0; i < lg_model_param_count(m); i++)
            for (size_t j = 0; j < count(lg_model_param(m, i)); j++)
                decay[at++] = lg_model_param(m, i).decay;
        lg_batch b;
        lg_batch_init(&b);
        for (int s = 1; s <= 5; s++) {
            fill(&b, (uint64_t)s, 6);
            lg_train_result r = step(t, &b);
            assert_int_equal(r.step, s);
            assert_true(r.lr == lg_train_lr(&o, s));
            const float *g = flat(m, t), *now = flat(m, NULL);
            for (size_t i = 0; i < n; i++) {
                double gi = (double)g[i];
                m1[i] = o.beta1 * m1[i] + (1 - o.beta1) * gi;
                m2[i] = o.beta2 * m2[i] + (1 - o.beta2) * gi * gi;
                double hat1 = m1[i] / (1 - pow(o.beta1, s)), hat2 = m2[i] / (1 - pow(o.beta2, s));
                p[i] -=
                    r.lr * (hat1 / (sqrt(hat2) + o.eps) + (decay[i] ? o.weight_decay * p[i] : 0));
                if (!(fabs((double)now[i] - p[i]) <= 1e-6 * (fabs(p[i]) + 0.1)))
                    fail_msg("step %d, number %zu: %.9g, want %.9g", s, i, (double)now[i], p[i]);
            }
        }
        lg_batch_clear(&b);
        lg_trainer_free(t);
        lg_model_free(m);
    }
}

/* Two runs of one step that differ in decay alone: matrices differ by -lr * decay * p, vectors
 * (norms, biases, ssmax) and the table of `relative` by nothing. */
static void decay_is_for_matrices(void **state)
{
    (void)state;
    lg_model_config c = config(LG_ARCH_NEOX);
    c.encoding = "relative";
    c.attention = LG_ATTENTION_SSMAX;
    lg_model *without = model_new(&c), *with = model_new(&c), *start = model_new(&c);
    /* norms' weights and biases at first are 1 and 0: give both values that decay would show */
    for (int i = 0; i < lg_model_param_count(start); i++) {
        lg_param p[] = {lg_model_param(without, i), lg_model_param(with, i),
                        lg_model_param(start, i)};
        for (size_t j = 0; j < count(p[0]); j++)
            for (int k = 0; k < 3; k++) p[k].data[j] += 0.25f;
    }
    lg_model_touch(without);
    lg_model_touch(with);
    lg_train_options o = bare(0.1);
    lg_trainer *t = trainer_new(without, &o);
    o.weight_decay = 0.5;
    lg_trainer *u = trainer_new(with, &o);
    lg_batch b;
    lg_batch_init(&b);
    fill(&b, 1, 6);
    step(t, &b);
    step(u, &b);
    int matrices = 0, others = 0;
    for (int i = 0; i < lg_model_param_count(start); i++) {
        lg_param p = lg_model_param(start, i), a = lg_model_param(without, i),
                 d = lg_model_param(with, i);
        int matrix = strstr(p.name, ".weight") && p.rows > 1;
        assert_int_equal(p.decay, matrix);
        matrices += matrix;
        others += !matrix;
        for (size_t j = 0; j < count(p); j++) {
            double by = (double)d.data[j] - (double)a.data[j], x = (double)p.data[j];
            double want = matrix ? -0.05 * x : 0;
            if (!matrix && by != 0) fail_msg("%s[%zu] decays", p.name, j);
            if (!(fabs(by - want) <= 4 * ULP * (fabs(x) + 0.2)))
                fail_msg("%s[%zu]: decay moved %g by %g, want %g", p.name, j, x, by, want);
        }
    }
    assert_true(matrices == 11 && others > 15); /* 2 x 4 + embedding and two heads */
    lg_batch_clear(&b);
    lg_trainer_free(t);
    lg_trainer_free(u);
    lg_model_free(without);
    lg_model_free(with);
    lg_model_free(start);
}

static double norm_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* The norm is that of all gradients together, and the clipped ones keep their direction. */
static void clipping(void **state)
{
    (void)state;
    lg_model_config c = config(LG_ARCH_OLMO);
    lg_model *m = model_new(&c);
    size_t n = (size_t)lg_model_param_total(m);
    lg_train_options o = bare(0);
    lg_batch b;
    lg_batch_init(&b);
    fill(&b, 2, 9);
    lg_trainer *t = trainer_new(m, &o);
    lg_train_result r, clipped;
    const float *before = flat(m, NULL);
    assert_int_equal(lg_trainer_gradients(t, &b, &r, NULL), 0);
    assert_memory_equal(flat(m, NULL), before, n * sizeof *before); /* nothing is updated */
    const float *whole = flat(m, t);
    double norm = norm_of(whole, n);
    assert_true(norm > 0.1 && fabs(r.grad_norm - norm) <= 1e-6 * norm);
    lg_trainer_free(t);

    o.grad_clip = norm / 7;
    t = trainer_new(m, &o);
    clipped = step(t, &b);
    const float *part = flat(m, t);
    assert_true(clipped.grad_norm == r.grad_norm); /* told as it was before */
    assert_true(fabs(norm_of(part, n) - o.grad_clip) <= 1e-5 * o.grad_clip);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((double)part[i] - (double)whole[i] / 7) <= 2e-6 * fabs((double)whole[i]));
    lg_trainer_free(t);

    o.grad_clip = norm * 1.01; /* not reached: not touched */
    t = trainer_new(m, &o);
    step(t, &b);
    assert_memory_equal(flat(m, t), whole, n * sizeof *whole);
    lg_trainer_free(t);
    lg_batch_clear(&b);
    lg_model_free(m);
    release();
}

/* ---- Losses and counts -------------------------------------------------------------------- */

/* Mean of -log softmax(row)[target] and the argmaxes that are right, from an evaluator's rows. */
static double loss_of(const float *logits, const int32_t *targets, const int *row, int rows, int V,
                      int *targets_seen, int *right)
{
    double sum = 0;
    *targets_seen = *right = 0;
    for (int i = 0; i < rows; i++, logits += V) {
        int32_t want = targets[row[i]];
        if (want == LG_NONE) continue;
        double total = 0;
        int best = 0;
        for (int v = 0; v < V; v++) {
            total += exp((double)logits[v]);
            if (logits[v] > logits[best]) best = v;
        }
        sum += log(total) - (double)logits[want];
        *right += best == want;
        ++*targets_seen;
    }
    return sum / *targets_seen;
}

static void losses_and_counts(void **state)
{
    (void)state;
    for (int arch = LG_ARCH_NEOX; arch <= LG_ARCH_LOOPED; arch++) {
        lg_model_config c = config((lg_arch)arch);
        lg_model *m = model_new(&c);
        lg_train_options o = bare(0.003);
        lg_trainer *t = trainer_new(m, &o);
        lg_evaluator *e = lg_evaluator_new(m, 2, NULL);
        lg_batch b;
        lg_batch_init(&b);
        int right_in_all = 0;
        for (int s = 0; s < 12; s++) {
            lg_eval_result er;
            fill(&b, 3, 12); /* the same batch: it is learnt by heart, more and more right */
            assert_int_equal(lg_evaluator_run(e, &b, &er, NULL), 0);
            int n, right, id_n, id_right;
            double loss = loss_of(er.logits, b.targets, er.row, er.rows, VOCAB, &n, &right);
            double id_loss = loss_of(er.id_logits[0], b.id_targets[0], er.row, er.rows, CLASSES,
                                     &id_n, &id_right);
            lg_train_result r = step(t, &b);
            assert_true(n > 20 && id_n > 20);
            assert_true(r.targets == n && er.targets == n);
            assert_true(r.id_targets == id_n && er.id_targets == id_n);
            assert_true(r.right == right && er.right == right);
            assert_true(r.id_right == id_right && er.id_right == id_right);
            assert_true(fabs(r.loss - loss) < 1e-5 && fabs(er.loss - loss) < 1e-5);
            assert_true(fabs(r.id_loss - id_loss) < 1e-5 && fabs(er.id_loss - id_loss) < 1e-5);
            right_in_all += right;
        }
        assert_true(right_in_all > 0);
        lg_batch_clear(&b);
        lg_evaluator_free(e);
        lg_trainer_free(t);
        lg_model_free(m);
    }
}

/* id_weight is a factor of the ID loss's gradient, and of nothing that is told. */
static void weight_of_the_id_loss(void **state)
{
    (void)state;
    lg_model_config c = config(LG_ARCH_NEOX);
    lg_model *m = model_new(&c);
    size_t n = (size_t)lg_model_param_total(m);
    lg_train_options o = bare(0);
    lg_batch b;
    lg_batch_init(&b);
    fill(&b, 5, 6);
    const double weights[] = {0, 1, 4};
    const float *g[3];
    lg_train_result r[3];
    for (int i = 0; i < 3; i++) {
        o.id_weight = weights[i];
        lg_trainer *t = trainer_new(m, &o);
        assert_int_equal(lg_trainer_gradients(t, &b, &r[i], NULL), 0);
        g[i] = flat(m, t);
        lg_trainer_free(t);
    }
    double scale = norm_of(g[2], n) / sqrt((double)n), moved = 0;
    for (size_t i = 0; i < n; i++) { /* token part + weight * ID part */
        double id = (double)g[1][i] - (double)g[0][i];
        assert_true(fabs((double)g[2][i] - (double)g[0][i] - 4 * id) <= 1e-4 * (scale + fabs(id)));
        moved += fabs(id);
    }
    assert_true(moved > 0);
    assert_true(r[0].id_loss == r[2].id_loss && r[0].loss == r[2].loss);
    lg_batch_clear(&b);
    lg_model_free(m);
    release();
}

/* ---- Learning ------------------------------------------------------------------------------ */

/* The token before: needs attention and IDs. */
static void fill_previous(lg_batch *b, uint64_t seed)
{
    lg_rng r;
    lg_rng_init(&r, seed, 5, 0);
    lg_batch_reset(b);
    for (int s = 0; s < 16; s++) {
        int32_t tokens[12], targets[12];
        int n = 2 + (int)lg_rng_below(&r, 11);
        for (int t = 0; t < n; t++) {
            tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
            targets[t] = t ? tokens[t - 1] : LG_NONE;
        }
        assert_int_equal(lg_batch_add(b, n, tokens, NULL, targets, NULL, NULL), 0);
    }
}

static void every_architecture_learns(void **state)
{
    (void)state;
    for (int arch = LG_ARCH_NEOX; arch <= LG_ARCH_LOOPED; arch++)
        for (int window = 0; window < 2; window++) {
            lg_model_config c = config((lg_arch)arch);
            c.id_classes[0] = 0;
            c.span = window ? LG_SPAN_WINDOW : LG_SPAN_FULL;
            c.encoding = window ? "relative" : "rope";
            lg_model *m = model_new(&c);
            lg_train_options o = lg_train_options_default();
            o.steps = 300;
            o.warmup = 20;
            o.lr = 5e-3;
            lg_trainer *t = trainer_new(m, &o);
            lg_batch b;
            lg_batch_init(&b);
            double first = 0, last = 0;
            int targets = 0, right = 0;
            for (int s = 0; s < o.steps; s++) {
                fill_previous(&b, (uint64_t)s);
                lg_train_result r = step(t, &b);
                if (s < 10) first += r.loss / 10;
                if (s < o.steps - 10) continue;
                last += r.loss / 10;
                targets += r.targets;
                right += r.right;
            }
            if (!(first > 1.5 && last < 0.1 * first && right >= 0.97 * targets))
                fail_msg("arch %d, window %d: loss %g to %g, %d of %d right", arch, window, first,
                         last, right, targets);
            lg_batch_clear(&b);
            lg_trainer_free(t);
            lg_model_free(m);
        }
}

/* The ID head: each token says how far the next ID is; no token loss at all. */
static void the_id_head_learns(void **state)
{
    (void)state;
    lg_model_config c = config(LG_ARCH_NEOX);
    c.layers = 1;
    lg_model *m = model_new(&c);
    lg_train_options o = bare(5e-3);
    lg_trainer *t = trainer_new(m, &o);
    lg_batch b;
    lg_batch_init(&b);
    lg_train_result r = {0};
    double first = 0;
    for (int s = 0; s < 150; s++) {
        lg_rng rng;
        lg_rng_init(&rng, (uint64_t)s, 6, 0);
        lg_batch_reset(&b);
        for (int q = 0; q < 8; q++) {
            int32_t tokens[10], ids[10], id_targets[10], id = 0;
            for (int i = 0; i < 10; i++) {
                tokens[i] = (int32_t)lg_rng_below(&rng, VOCAB);
                ids[i] = id;
                id_targets[i] = tokens[i] % CLASSES;
                id += id_targets[i];
            }
            assert_int_equal(lg_batch_add(&b, 10, tokens, ids, NULL, id_targets, NULL), 0);
        }
        r = step(t, &b);
        assert_true(r.targets == 0 && r.right == 0 && r.loss == 0 && r.id_targets == 80);
        if (s == 0) first = r.id_loss;
    }
    assert_int_equal(r.id_right, r.id_targets);
    assert_true(first > 0.8 && r.id_loss < 0.1 * first);
    lg_batch_clear(&b);
    lg_trainer_free(t);
    lg_model_free(m);
}

/* ---- The head and the parameter table ------------------------------------------------------- */

static void a_tied_head_is_the_embedding(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        lg_model_config c = config(LG_ARCH_OLMO);
        c.tied = tied;
        lg_model *m = model_new(&c);
        int embed = lg_model_param_find(m, "embed.weight");
        assert_int_equal(lg_model_param_find(m, "head.weight") == -1, tied);
        /* tokens 0 and 1 only; the embedding of token 5 is read by a tied head alone */
        const int32_t tokens[] = {0, 1, 1}, targets[] = {1, 0, 1};
        lg_batch b;
        lg_batch_init(&b);
        assert_int_equal(lg_batch_add(&b, 3, tokens, NULL, targets, NULL, NULL), 0);
        lg_evaluator *e = lg_evaluator_new(m, 1, NULL);
        lg_eval_result r;
        float before[VOCAB];
        assert_int_equal(lg_evaluator_run(e, &b, &r, NULL), 0);
        memcpy(before, r.logits, sizeof before);
        lg_param p = lg_model_param(m, embed);
        for (int i = 0; i < c.width; i++) p.data[5 * c.width + i] *= 3;
        lg_model_touch(m);
        assert_int_equal(lg_evaluator_run(e, &b, &r, NULL), 0);
        for (int v = 0; v < VOCAB; v++) {
            double want = (double)before[v] * (tied && v == 5 ? 3 : 1);
            assert_true(fabs((double)r.logits[v] - want) <= 1e-5 * (fabs(want) + 0.01));
        }
        assert_true(fabsf(before[5]) > 1e-3f);
        /* and its gradient reaches the row of a token that is only in the head */
        lg_train_options o = bare(0);
        lg_trainer *t = trainer_new(m, &o);
        assert_int_equal(lg_trainer_gradients(t, &b, NULL, NULL), 0);
        double sum = norm_of(lg_trainer_gradient(t, embed) + 5 * c.width, (size_t)c.width);
        assert_true(tied ? sum > 1e-4 : sum == 0);
        lg_trainer_free(t);
        lg_evaluator_free(e);
        lg_batch_clear(&b);
        lg_model_free(m);
    }
}

static void the_parameter_table(void **state)
{
    (void)state;
    lg_model_config c = config(LG_ARCH_NEOX);
    lg_model *m = model_new(&c);
    int64_t total = 0;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        assert_int_equal(lg_model_param_find(m, p.name), i);
        total += (int64_t)p.rows * p.cols;
    }
    assert_true(total == lg_model_param_total(m));
    const struct {
        const char *name;
        int rows, cols, decay;
    } row[] = {
        {"embed.weight", VOCAB, 24, 1},          {"head.weight", VOCAB, 24, 1},
        {"id_head.weight", CLASSES, 24, 1},      {"final_norm.weight", 1, 24, 0},
        {"layers.0.attn.qkv.weight", 72, 24, 1}, {"layers.1.attn.qkv.bias", 1, 72, 0},
        {"layers.1.attn.out.weight", 24, 24, 1}, {"layers.0.ff.up.weight", 96, 24, 1},
        {"layers.1.ff.down.weight", 24, 96, 1},  {"layers.1.norm2.bias", 1, 24, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int at = lg_model_param_find(m, row[i].name);
        if (at < 0) fail_msg("%s is not there", row[i].name);
        lg_param p = lg_model_param(m, at);
        assert_true(p.rows == row[i].rows && p.cols == row[i].cols && p.decay == row[i].decay);
    }
    assert_int_equal(lg_model_param_find(m, "layers.2.attn.qkv.weight"), -1);
    assert_int_equal(lg_model_param_find(m, ""), -1);
    assert_int_equal(lg_model_param_find(m, "embed"), -1);
    assert_int_equal(lg_model_get_config(m)->ff, 96);
    lg_model_free(m);
}

/* ---- Choosing a token ------------------------------------------------------------------------- */

/* ---- Layers that are run several times -------------------------------------------------------- */

static double loss_along(lg_model *m, lg_evaluator *e, const lg_batch *b, const float *start,
                         const float *direction, double far)
{
    lg_eval_result r;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        for (size_t j = 0; j < count(p); j++)
            p.data[j] = (float)((double)*start++ + far * (double)*direction++);
    }
    lg_model_touch(m);
    assert_int_equal(lg_evaluator_run(e, b, &r, NULL), 0);
    return r.loss + r.id_loss;
}

/* Along the gradient the loss rises by its square. Weights are shared and the input enters several
 * times: a use whose gradient is lost, or counted twice, shows. */
static void gradients_of_loops_by_differences(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++, release()) {
        lg_model_config c = config(LG_ARCH_LOOPED);
        c.layers = 1 + i % 2;
        c.loops = 2 + i / 4;
        c.inject = i / 2 % 2;
        if (i % 3 == 2) c.encoding = "sinusoidal"; /* then the first layer is run row by row */
        lg_model *m = model_new(&c);
        lg_train_options o = bare(0);
        lg_trainer *t = trainer_new(m, &o);
        lg_evaluator *e = lg_evaluator_new(m, 1, NULL);
        lg_batch b;
        lg_batch_init(&b);
        fill(&b, 5, 12);
        assert_int_equal(lg_trainer_gradients(t, &b, NULL, NULL), 0);
        const float *g = flat(m, t), *start = flat(m, NULL);
        double square = 0;
        for (int64_t j = 0; j < lg_model_param_total(m); j++) square += (double)g[j] * (double)g[j];
        double step = 1e-2 / square;
        double rise = loss_along(m, e, &b, start, g, step) - loss_along(m, e, &b, start, g, -step);
        if (!(fabs(rise / (2 * step) / square - 1) < 5e-3))
            fail_msg("config %d: the loss rises by %g, its gradient says %g", i, rise / (2 * step),
                     square);
        lg_batch_clear(&b);
        lg_evaluator_free(e);
        lg_trainer_free(t);
        lg_model_free(m);
    }
}

/* Run once, it is the plain model, bit by bit; more often, and with injection, it is another. */
static void one_loop_is_the_plain_model(void **state)
{
    (void)state;
    lg_model_config plain = config(LG_ARCH_NEOX);
    plain.parallel = 0;
    lg_batch b;
    lg_batch_init(&b);
    fill(&b, 6, 6);
    float *first = NULL;
    for (int i = 0; i < 4; i++) {
        lg_model_config c = i ? config(LG_ARCH_LOOPED) : plain;
        if (i) c.loops = i < 2 ? 1 : 2;
        if (i < 3) c.inject = 0;
        lg_model *m = model_new(&c);
        lg_evaluator *e = lg_evaluator_new(m, 1, NULL);
        lg_eval_result r;
        assert_int_equal(lg_evaluator_run(e, &b, &r, NULL), 0);
        size_t bytes = (size_t)r.rows * VOCAB * sizeof *first;
        if (!i) first = memcpy(hold(bytes), r.logits, bytes);
        assert_int_equal(memcmp(r.logits, first, bytes) != 0, i > 1);
        if (i == 2) memcpy(first, r.logits, bytes); /* the next must differ from this one */
        lg_evaluator_free(e);
        lg_model_free(m);
    }
    lg_batch_clear(&b);
    release();
}

static void argmax(void **state)
{
    (void)state;
    assert_int_equal(lg_argmax((const float[]){3}, 1), 0);
    assert_int_equal(lg_argmax((const float[]){1, 2, 2, 1}, 4), 1); /* on a tie the first */
    assert_int_equal(lg_argmax((const float[]){-1, -1, -1}, 3), 0);
    assert_int_equal(lg_argmax((const float[]){-5, -4, -3}, 3), 2);
    assert_int_equal(lg_argmax((const float[]){-INFINITY, -1e30f}, 2), 1);
    assert_int_equal(lg_argmax((const float[]){0, INFINITY, 1}, 3), 1);
}

/* What counts as right is what lg_argmax chooses, on a tie too: every row of four small values. */
static void right_is_the_argmax(void **state)
{
    (void)state;
    for (int i = 0; i < 81; i++)
        for (int32_t t = LG_NONE; t < 4; t++) {
            float x[4] = {(float)(i % 3), (float)(i / 3 % 3), (float)(i / 9 % 3), (float)(i / 27)};
            assert_int_equal(lg__count_right(x, &t, 1, 4), lg_argmax(x, 4) == t);
        }
    const float nan[2] = {NAN, 1};
    assert_int_equal(lg__count_right(nan, (const int32_t[]){1}, 1, 2), 0);
}

enum { CHOICES = 6, DRAWS = 40000 };

/* Chi-square of the draws against softmax(logits / temperature), 4 degrees of freedom (one of
 * the six is -inf). */
static double chi_square(const int *drawn, const float *logits, double temperature)
{
    double p[CHOICES], sum = 0, chi = 0;
    for (int i = 0; i < CHOICES; i++) sum += p[i] = exp((double)logits[i] / temperature);
    for (int i = 0; i < CHOICES; i++) {
        double want = DRAWS * p[i] / sum;
        if (want > 0) chi += (drawn[i] - want) * (drawn[i] - want) / want;
    }
    return chi;
}

static void sampling(void **state)
{
    (void)state;
    const float logits[CHOICES] = {1.0f, -0.5f, -INFINITY, 2.0f, 0.0f, 2.0f};
    const double temperatures[] = {1, 0.5, 2.5};
    for (int i = 0; i < 3; i++) {
        lg_rng r;
        int drawn[CHOICES] = {0};
        lg_rng_init(&r, 9, 0, (uint64_t)i);
        for (int j = 0; j < DRAWS; j++) drawn[lg_sample(logits, CHOICES, temperatures[i], &r)]++;
        assert_int_equal(drawn[2], 0); /* no weight, never drawn */
        /* 23.5: 1 in 10,000 of a right sampler; the seed is fixed */
        double chi = chi_square(drawn, logits, temperatures[i]);
        if (!(chi < 23.5)) fail_msg("temperature %g: chi-square %g", temperatures[i], chi);
        /* a temperature 10% off is seen */
        assert_true(chi_square(drawn, logits, 1.1 * temperatures[i]) > 23.5);
    }
    lg_rng r;
    lg_rng_init(&r, 9, 1, 0);
    for (int j = 0; j < 100; j++) {
        assert_int_equal(lg_sample(logits, CHOICES, 0, &r), 3); /* the argmax, first of a tie */
        assert_int_equal(lg_sample((const float[]){5, 1e30f, -1e30f}, 3, 1.0, &r), 1);
        assert_int_equal(lg_sample((const float[]){7}, 1, 1.0, &r), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules),
        cmocka_unit_test(adamw_by_the_formula),
        cmocka_unit_test(decay_is_for_matrices),
        cmocka_unit_test(clipping),
        cmocka_unit_test(losses_and_counts),
        cmocka_unit_test(weight_of_the_id_loss),
        cmocka_unit_test(every_architecture_learns),
        cmocka_unit_test(the_id_head_learns),
        cmocka_unit_test(a_tied_head_is_the_embedding),
        cmocka_unit_test(the_parameter_table),
        cmocka_unit_test(gradients_of_loops_by_differences),
        cmocka_unit_test(one_loop_is_the_plain_model),
        cmocka_unit_test(argmax),
        cmocka_unit_test(right_is_the_argmax),
        cmocka_unit_test(sampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
