/* test_rows.c: row-invariance of whole models (docs/MATH.md; test_bits.c is the same for
 * single kernels). The bits of a token's logits depend on its own context alone. The reference
 * is each sequence alone, on one thread; against it, bit by bit:
 *   - in a batch with others, in random order, with 1 to 4 threads, and with loss on a part;
 *   - decoded with the cache: token by token, after a prompt, beside other sequences;
 *   - window span: the field of a token (its IDs within N layers' reach) cut out of a long
 *     sequence, IDs moved to 0, and run alone. The certificate stands on this one.
 * Lengths cross the blocks of 128 keys and the chunks of 144 rows, a vocabulary the chunks of kinds
 * of tokens; IDs repeat, go back and reach 2^31 - 1. The program runs itself once for each instruction set that this CPU has. */
#include "engine/helper.h"

#include <sys/wait.h>
#include <unistd.h>

#include "engine/arch.h"
#include "engine/layer.h"
#include "engine/kernels.h"

/* The best instruction set gets all of the work, the others (and sanitizers) a part. */
static int thorough;

enum { MOST_LENGTH = 1000, MOST_SEQUENCES = 12, MOST_TOLD = 6 };
static const int all_lengths[] = {1, 2, 127, 128, 129, 300, 1000, 23, 24, 25, 479, 481};
static const int few_lengths[] = {1, 2, 127, 128, 129, 25};

/* ---- Models ------------------------------------------------------------------------ */

static const struct size {
    int width, heads, ff, vocab, classes;
    double share;
} sizes[] = {
    {32, 2, 0, 8, 0, 1.0},    {21, 3, 17, 5, 3, 1.0},  {24, 4, 0, 17, 1, 0.5},
    {30, 2, 33, 3, 7, 1.0},   {7, 7, 9, 2, 0, 0.0},    {64, 1, 40, 33, 16, 0.3},
    {40, 5, 31, 300, 0, 1.0}, {15, 1, 16, 9, 17, 0.7},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char *const encodings[] = {"none", "rope", "relative"};
static const char *const score_names[] = {"softmax", "ssmax", "entmax15"};
enum { CONFIGS = 2 * 2 * 3 * 3 };

/* Config i of the product of architecture, span, encoding and scores; sizes, norms, activations
 * and the like change from one to the next. */
static lg_model_config config_of(int i)
{
    const struct size *z = &sizes[(i * 5 + i / 8) % SIZES];
    lg_model_config c = lg_model_config_default(i % 2 ? LG_ARCH_OLMO : LG_ARCH_NEOX);
    c.span = i / 2 % 2 ? LG_SPAN_WINDOW : LG_SPAN_FULL;
    c.encoding = encodings[i / 4 % 3];
    c.attention = (lg_attention)(i / 12 % 3);
    c.layers = 2 + (i % 7 == 3);
    c.width = z->width;
    c.heads = z->heads;
    c.ff = z->ff;
    c.vocab = z->vocab;
    c.id_classes[0] = z->classes;
    c.rope_share = z->share;
    c.window_lo[0] = i % 5 == 1 ? 0 : -3 + i % 3;
    c.window_hi[0] = c.window_lo[0] ? i % 3 : 2;
    c.tied = i % 3 == 1;
    if (i % 4 == 2) c.act = LG_ACT_GELU_TANH;
    if (i % 6 == 5) c.norm = LG_NORM_RMS;
    if (i % 9 == 4) c.parallel = !c.parallel;
    if (i % 8 == 6 || i % 12 == 8) { /* window, full */
        c.arch = LG_ARCH_LOOPED;
        c.loops = 2;
        c.inject = i % 16 != 6;
    }
    c.seed = (uint64_t)i + 100;
    return c;
}

static const char *config_name(int i)
{
    static char name[160];
    lg_model_config c = config_of(i);
    snprintf(name, sizeof name, "%s %s %s %s %s, width %d, heads %d, layers %d, window %d..%d",
             lg_isa(), lg__archs[c.arch]->name, c.span == LG_SPAN_FULL ? "full" : "window",
             c.encoding, score_names[c.attention], c.width, c.heads, c.layers, c.window_lo[0],
             c.window_hi[0]);
    return name;
}

/* Fresh weights are near each other and biases are 0: draw all of them, so that attention is
 * far from even and every parameter shows in the bits. */
static lg_model *model_of(int i)
{
    lg_error err;
    lg_model_config c = config_of(i);
    lg_model *m = lg_model_new(&c, &err);
    if (!m) fail_msg("%s: %s", config_name(i), err.text);
    lg_rng r;
    lg_rng_init(&r, c.seed, 7, 0);
    for (int k = 0; k < lg_model_param_count(m); k++) {
        lg_param p = lg_model_param(m, k);
        double deviation = p.decay ? 1.5 / sqrt((double)p.cols) : 0.3;
        for (int j = 0; j < p.rows * p.cols; j++) {
            double old = p.decay ? 0 : (double)p.data[j];
            p.data[j] = (float)(old + deviation * lg_rng_normal(&r));
        }
    }
    lg_model_touch(m);
    return m;
}

/* ---- Sequences --------------------------------------------------------------------- */

struct text {
    int n;
    int32_t *tokens, *ids;
    float *logits, *id_logits; /* [n, V], [n, I]: the reference */
};

enum ids { IDS_PLAIN, IDS_COLUMNS, IDS_CROWDED, IDS_FAR, IDS_KINDS };

static struct text text_make(const lg_model_config *c, lg_rng *r, int n, enum ids kind)
{
    struct text x = {.n = n};
    size_t N = (size_t)n;
    x.tokens = hold(N * sizeof *x.tokens);
    x.ids = hold(N * sizeof *x.ids);
    x.logits = hold(N * (size_t)c->vocab * sizeof *x.logits);
    x.id_logits = hold(N * (size_t)(c->id_classes[0] + 1) * sizeof *x.id_logits);
    for (int t = 0; t < n; t++) {
        x.tokens[t] = (int32_t)lg_rng_below(r, (uint32_t)c->vocab);
        int near = (int)lg_rng_below(r, 3);
        switch (kind) {
        case IDS_PLAIN: x.ids[t] = t; break;
        case IDS_COLUMNS: x.ids[t] = t < n / 2 ? t : t - n / 2 + near / 2; break;
        case IDS_CROWDED: x.ids[t] = (int32_t)lg_rng_below(r, (uint32_t)(n / 9 + 1)); break;
        default: x.ids[t] = INT32_MAX - (n - t) / 2 - near; /* the last ones see past the end */
        }
        if (kind == IDS_FAR && t + 3 > n) x.ids[t] = INT32_MAX;
    }
    return x;
}

/* Adds the text with a target in each row that want[] has (NULL: all). */
static void add(lg_batch *b, const struct text *x, const unsigned char *want)
{
    int32_t targets[MOST_LENGTH];
    lg_error err;
    for (int t = 0; t < x->n; t++) targets[t] = !want || want[t] ? 0 : LG_NONE;
    if (lg_batch_add(b, x->n, x->tokens, x->ids, targets, NULL, &err)) fail_msg("%s", err.text);
}

/* ---- Comparing --------------------------------------------------------------------- */

struct check {
    const lg_model *m;
    const lg_model_config *c;
    int config;
    int told, differ; /* rows whose bits differ */
    long compared;
};

static int differs(struct check *k, const char *way, const char *head, int s, int n, int t,
                   const float *got, const float *want, int width)
{
    for (int v = 0; v < width; v++) {
        if (memcmp(got + v, want + v, sizeof *got) == 0) continue;
        if (k->told++ < MOST_TOLD)
            fprintf(stderr, "%s\n    %s: sequence %d of %d tokens, token %d, %s %d: %a, alone %a\n",
                    config_name(k->config), way, s, n, t, head, v, (double)got[v], (double)want[v]);
        return 1;
    }
    return 0;
}

/* Logits and ID logits of token t of text s against the reference. */
static void compare(struct check *k, const char *way, const struct text *x, int s, int t,
                    const float *logits, const float *id_logits)
{
    int V = k->c->vocab, I = k->c->id_classes[0];
    int wrong = differs(k, way, "logit", s, x->n, t, logits, x->logits + t * V, V);
    if (I) wrong |= differs(k, way, "ID logit", s, x->n, t, id_logits, x->id_logits + t * I, I);
    k->compared++;
    k->differ += wrong;
}

/* Fills the reference: each text alone, on one thread, in a new evaluator. */
static void reference(struct check *k, struct text *x)
{
    lg_error err;
    lg_eval_result r;
    lg_batch b;
    lg_batch_init(&b);
    add(&b, x, NULL);
    lg_evaluator *e = lg_evaluator_new(k->m, 1, &err);
    if (!e || lg_evaluator_run(e, &b, &r, &err)) fail_msg("%s", err.text);
    assert_int_equal(r.rows, x->n);
    memcpy(x->logits, r.logits, (size_t)(x->n * k->c->vocab) * sizeof *x->logits);
    if (k->c->id_classes[0])
        memcpy(x->id_logits, r.id_logits[0],
               (size_t)(x->n * k->c->id_classes[0]) * sizeof *x->id_logits);
    lg_evaluator_free(e);
    lg_batch_clear(&b);
}

/* ---- Ways to compute a row ------------------------------------------------------------ */

/* All texts in one batch, `threads` threads; with `some`, loss on a random part of the rows. */
static void in_a_batch(struct check *k, const struct text *x, int n, lg_rng *r, int threads,
                       int some)
{
    static unsigned char want[MOST_SEQUENCES][MOST_LENGTH];
    lg_error err;
    lg_eval_result result;
    lg_batch b;
    lg_batch_init(&b);
    const int *order = random_order(r, n);
    for (int i = 0; i < n; i++) {
        for (int t = 0; t < x[order[i]].n; t++) want[i][t] = !some || lg_rng_below(r, 5) == 0;
        if (some && i % 3 == 0) memset(want[i], 0, sizeof want[i]); /* and none at all */
        add(&b, &x[order[i]], want[i]);
    }
    lg_evaluator *e = lg_evaluator_new(k->m, threads, &err);
    if (!e || lg_evaluator_run(e, &b, &result, &err)) fail_msg("%s", err.text);
    char way[80];
    snprintf(way, sizeof way, "in a batch of %d, %d threads, %s", n, threads,
             some ? "some rows wanted" : "all rows wanted");
    int row = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < x[order[i]].n; t++) {
            if (!want[i][t]) continue;
            assert_true(row < result.rows && result.row[row] == b.offsets[i] + t);
            compare(k, way, &x[order[i]], order[i], t,
                    result.logits + (size_t)row * (size_t)k->c->vocab,
                    result.id_logits[0]
                        ? result.id_logits[0] + (size_t)row * (size_t)k->c->id_classes[0]
                        : NULL);
            row++;
        }
    assert_int_equal(row, result.rows);
    lg_evaluator_free(e);
    lg_batch_clear(&b);
}

/* The texts side by side in one decoder: text i starts with a prompt of prompt[i] tokens, then
 * token by token; in a step each takes part or not as chance has it. */
static void decoded(struct check *k, const char *way, const struct text *x, int n,
                    const int *prompt, lg_rng *r)
{
    lg_error err;
    lg_batch b;
    lg_batch_init(&b);
    for (int i = 0; i < n; i++)
        if (lg_batch_add(&b, prompt[i], x[i].tokens, x[i].ids, NULL, NULL, &err))
            fail_msg("%s", err.text);
    lg_decoder *d = lg_decoder_new(k->m, n, &err);
    if (!d || lg_decoder_start(d, &b, &err)) fail_msg("%s", err.text);
    int left = 1;
    for (int i = 0; i < n; i++)
        compare(k, way, &x[i], i, prompt[i] - 1, lg_decoder_logits(d, i),
                lg_decoder_id_logits(d, i, 0));
    while (left) {
        int32_t tokens[MOST_SEQUENCES], ids[MOST_SEQUENCES];
        left = 0;
        for (int i = 0; i < n; i++) {
            int t = lg_decoder_length(d, i), goes = n == 1 || lg_rng_below(r, 4) > 0;
            tokens[i] = t < x[i].n && goes ? x[i].tokens[t] : LG_NONE;
            ids[i] = t < x[i].n ? x[i].ids[t] : 0;
            left |= t < x[i].n;
        }
        if (lg_decoder_step(d, tokens, ids, &err)) fail_msg("%s", err.text);
        /* of all: those that took no part keep the logits of their last token */
        for (int i = 0; i < n; i++)
            compare(k, way, &x[i], i, lg_decoder_length(d, i) - 1, lg_decoder_logits(d, i),
                    lg_decoder_id_logits(d, i, 0));
    }
    for (int i = 0; i < n; i++) assert_int_equal(lg_decoder_length(d, i), x[i].n);
    lg_decoder_free(d);
    lg_batch_clear(&b);
}

static struct check check_make(lg_model *m, int config)
{
    return (struct check){.m = m, .c = lg_model_get_config(m), .config = config};
}

static int texts_make(struct check *k, struct text *x, lg_rng *r, int longest)
{
    const int *lengths = thorough ? all_lengths : few_lengths;
    int count = (int)(thorough ? sizeof all_lengths / sizeof *all_lengths
                               : sizeof few_lengths / sizeof *few_lengths);
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (lengths[i] > longest) continue;
        x[n] = text_make(k->c, r, lengths[i], (enum ids)((i + k->config) % IDS_KINDS));
        reference(k, &x[n++]);
    }
    return n;
}

/* Without this, an answer would depend on the batch size of the evaluation. */
static void a_row_is_the_same_in_any_batch(void **state)
{
    (void)state;
    int differ = 0;
    for (int config = 0; config < CONFIGS; config++, release()) {
        lg_rng r;
        lg_rng_init(&r, 11, 0, (uint64_t)config);
        lg_model *m = model_of(config);
        struct check k = check_make(m, config);
        struct text x[MOST_SEQUENCES];
        int n = texts_make(&k, x, &r, MOST_LENGTH);
        for (int threads = 1; threads <= 4; threads++) {
            if (!thorough && threads % 2) continue;
            in_a_batch(&k, x, n, &r, threads, 0);
            if (threads % 2 == 0) in_a_batch(&k, x, n, &r, threads, 1);
        }
        assert_true(k.compared > 800);
        differ += k.differ;
        lg_model_free(m);
    }
    assert_int_equal(differ, 0);
}

/* Without this, generation would be another function than the one that was evaluated. */
static void a_row_is_the_same_decoded(void **state)
{
    (void)state;
    int differ = 0;
    for (int config = 0; config < CONFIGS; config++, release()) {
        lg_rng r;
        lg_rng_init(&r, 12, 0, (uint64_t)config);
        lg_model *m = model_of(config);
        struct check k = check_make(m, config);
        struct text x[MOST_SEQUENCES];
        int prompt[MOST_SEQUENCES], one[MOST_SEQUENCES], whole[MOST_SEQUENCES];
        /* 1,000 tokens with span full of both architectures, 300 with a window */
        int n = texts_make(&k, x, &r, thorough && config % 4 < 2 ? MOST_LENGTH : 300);
        for (int i = 0; i < n; i++) {
            one[i] = 1;
            whole[i] = x[i].n;
            prompt[i] = x[i].n > 1 ? x[i].n / 2 : 1;
        }
        decoded(&k, "decoded token by token, beside others", x, n, one, &r);
        decoded(&k, "decoded after half as prompt, beside others", x, n, prompt, &r);
        decoded(&k, "the prompt's last token, beside others", x, n, whole, &r);
        for (int i = 0; i < n; i++) {
            if (x[i].n > 300 && config % 12 > 1) continue;
            decoded(&k, "decoded token by token, alone", &x[i], 1, &one[i], &r);
            decoded(&k, "decoded after half as prompt, alone", &x[i], 1, &prompt[i], &r);
        }
        differ += k.differ;
        lg_model_free(m);
    }
    assert_int_equal(differ, 0);
}

/* ---- The window's field ---------------------------------------------------------------- */

/* The tokens that the one at `place` can depend on: not later, ID within `layers` windows. */
static int field_of(const lg_model_config *c, const struct text *x, int place, int *member)
{
    int n = 0, depth = c->layers * c->loops;
    for (int t = 0; t <= place; t++) {
        int64_t d = (int64_t)x->ids[t] - x->ids[place];
        if (d >= (int64_t)depth * c->window_lo[0] && d <= (int64_t)depth * c->window_hi[0])
            member[n++] = t;
    }
    return n;
}

/* Cut out, IDs moved down, alone: the same bits. Without this, a certificate over cut-out
 * contexts would say nothing of long inputs. */
static void a_field_cut_out_gives_the_same_bits(void **state)
{
    (void)state;
    int differ = 0, cut_short = 0;
    for (int config = 0; config < CONFIGS; config++, release()) {
        if (config_of(config).span != LG_SPAN_WINDOW) continue;
        lg_rng r;
        lg_rng_init(&r, 13, 0, (uint64_t)config);
        lg_model *m = model_of(config);
        struct check k = check_make(m, config);
        for (int kind = 0; kind < IDS_KINDS; kind++) {
            struct text x = text_make(k.c, &r, thorough ? 700 : 200, (enum ids)kind);
            int *member = hold((size_t)x.n * sizeof *member);
            reference(&k, &x);
            struct text cut = text_make(k.c, &r, x.n, IDS_PLAIN); /* for its room */
            for (int i = 0; i < 40; i++) {
                int place = i < 4 ? x.n - 1 - i : (int)lg_rng_below(&r, (uint32_t)x.n);
                cut.n = field_of(k.c, &x, place, member);
                int32_t least = INT32_MAX;
                for (int t = 0; t < cut.n; t++)
                    least = x.ids[member[t]] < least ? x.ids[member[t]] : least;
                for (int t = 0; t < cut.n; t++) {
                    cut.tokens[t] = x.tokens[member[t]];
                    cut.ids[t] = x.ids[member[t]] - least;
                }
                reference(&k, &cut);
                cut_short += cut.n < place + 1;
                int V = k.c->vocab, I = k.c->id_classes[0], last = cut.n - 1;
                compare(&k, "its field cut out", &x, 0, place, cut.logits + last * V,
                        I ? cut.id_logits + last * I : NULL);
            }
        }
        differ += k.differ;
        lg_model_free(m);
    }
    assert_true(cut_short > 500); /* most fields are a part of the text */
    assert_int_equal(differ, 0);
}

/* ---- The comparison can fail -------------------------------------------------------------- */

/* Bits of the last row when token t is another. */
static int last_row_changes(struct check *k, const struct text *x, struct text *room, int t)
{
    int V = k->c->vocab, last = x->n - 1;
    memcpy(room->tokens, x->tokens, (size_t)x->n * sizeof *x->tokens);
    memcpy(room->ids, x->ids, (size_t)x->n * sizeof *x->ids);
    room->tokens[t] = (room->tokens[t] + 1) % V;
    reference(k, room);
    return memcmp(room->logits + last * V, x->logits + last * V, (size_t)V * sizeof(float)) != 0;
}

/* A token that is seen changes bits (with entmax15 only those of weight over 0 do, but the
 * last token itself always); one outside of the field, or later in the text, changes none. */
static void what_is_seen_changes_bits_and_nothing_else_does(void **state)
{
    (void)state;
    for (int config = 0; config < CONFIGS; config++, release()) {
        lg_rng r;
        lg_rng_init(&r, 14, 0, (uint64_t)config);
        lg_model *m = model_of(config);
        struct check k = check_make(m, config);
        int entmax = k.c->attention == LG_ATTENTION_ENTMAX15, full = k.c->span == LG_SPAN_FULL;
        struct text x = text_make(k.c, &r, 60, IDS_COLUMNS), room = text_make(k.c, &r, 60, 0);
        x.ids[x.n - 1] = 20; /* in the middle: others are below and above it */
        reference(&k, &x);
        int last = x.n - 1, seen = 0, changed = 0, outside = 0;
        for (int t = 0; t < x.n; t++) {
            int64_t d = (int64_t)x.ids[t] - x.ids[last];
            int depth = k.c->layers * k.c->loops;
            int inside = full || (d >= depth * k.c->window_lo[0] && d <= depth * k.c->window_hi[0]);
            int direct = full || (d >= k.c->window_lo[0] && d <= k.c->window_hi[0]);
            if (!direct && inside) continue; /* may or may not, by way of another token */
            int changes = last_row_changes(&k, &x, &room, t);
            if (!inside && changes)
                fail_msg("%s: token %d is outside of the field and changes bits",
                         config_name(config), t);
            seen += direct;
            changed += direct && changes;
            outside += !inside;
            if (direct && !changes && (!entmax || t == last))
                fail_msg("%s: token %d is seen and changes nothing", config_name(config), t);
        }
        assert_true(full ? outside == 0 : outside > 10);
        assert_true(changed > 0 && seen >= 2);
        /* what comes later changes nothing before it */
        (void)last_row_changes(&k, &x, &room, last);
        assert_memory_equal(room.logits, x.logits, (size_t)(last * k.c->vocab) * sizeof *x.logits);
        lg_model_free(m);
    }
}

/* Gradients of a tensor, copied. */
static float *gradient_of(const lg_trainer *t, const lg_model *m, int i)
{
    lg_param p = lg_model_param((lg_model *)m, i);
    size_t n = (size_t)p.rows * (size_t)p.cols;
    return memcpy(hold(n * sizeof(float)), lg_trainer_gradient(t, i), n * sizeof(float));
}

/* Training runs the first layer once for each kind of token, and adds up the gradients of a kind's
 * rows before it goes back through it; asked for the gradient of every row, it goes row by row. Both
 * must give the same, but for the order of sums: within 1e-4 of each tensor's largest. */
static void gradients_by_kind_are_those_row_by_row(void **state)
{
    (void)state;
    for (int config = 0, least = 0; config < CONFIGS; config++, release()) {
        lg_rng r;
        lg_error err;
        lg_rng_init(&r, 15, 0, (uint64_t)config);
        lg_model *m = model_of(config);
        lg_model_config c = config_of(config);
        lg_train_options o = lg_train_options_default();
        o.threads = 1;
        lg_trainer *t = lg_trainer_new(m, &o, &err);
        lg_batch b;
        lg_batch_init(&b);
        assert_non_null(t);
        for (int s = 0; s < 16; s++) { /* one to three a group, and one kind alone in the last */
            struct text x = text_make(&c, &r, 30 + 2 * s, s % 2 ? IDS_COLUMNS : IDS_PLAIN);
            for (int i = 0; i < x.n; i++) x.tokens[i] = s < 14 ? x.tokens[i] % 33 : 0;
            add(&b, &x, NULL);
        }
        assert_true(lg__by_kind(m));
        float *inputs = hold((size_t)b.rows * (size_t)c.width * sizeof *inputs);
        if (lg_trainer_inputs(t, &b, inputs, &err)) fail_msg("%s", err.text);
        int count = lg_model_param_count(m);
        float *want[64];
        assert_true(count <= 64);
        for (int i = 0; i < count; i++) want[i] = gradient_of(t, m, i);
        lg_train_result result;
        if (lg_trainer_gradients(t, &b, &result, &err)) fail_msg("%s", err.text);
        assert_true(result.first_rows >= 8 &&
                    result.first_rows <= 7 * (c.vocab < 33 ? c.vocab : 33) + 1);
        for (int i = 0; i < count; i++) {
            lg_param p = lg_model_param(m, i);
            const float *got = lg_trainer_gradient(t, i);
            float largest = 0, off = 0;
            for (int j = 0; j < p.rows * p.cols; j++) {
                largest = fmaxf(largest, fabsf(want[i][j]));
                off = fmaxf(off, fabsf(want[i][j] - got[j]));
            }
            least += largest > 0 && off > 0;
            if (!(off <= 1e-4f * largest))
                fail_msg("%s: %s is off by %g of %g", config_name(config), p.name, (double)off,
                         (double)largest);
        }
        if (config == CONFIGS - 1) assert_true(least > 0); /* the sums are not in the same order */
        lg_batch_clear(&b);
        lg_trainer_free(t);
        lg_model_free(m);
    }
}

static int rows_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_the_same_in_any_batch),
        cmocka_unit_test(a_row_is_the_same_decoded),
        cmocka_unit_test(a_field_cut_out_gives_the_same_bits),
        cmocka_unit_test(what_is_seen_changes_bits_and_nothing_else_does),
        cmocka_unit_test(gradients_by_kind_are_those_row_by_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The instruction set is chosen once a process: a child for each. */
int main(void)
{
    const char *const isas[] = {"avx512", "avx2", "neon", "c", "wide", "naive"};
    int failed = 0;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            setenv("LENGTHEN_ISA", isas[i], 1);
            if (strcmp(lg_isa(), isas[i]) != 0) /* not on this CPU; these are on every one */
                exit(strcmp(isas[i], "c") == 0 || strcmp(isas[i], "naive") == 0);
            thorough = lg__kernels_all()[0] == lg__kernels_get();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
            if (!thorough) exit(0);
            thorough = 0;
#endif
            fprintf(stderr, "%s%s\n", isas[i], thorough ? "" : ", a part of the lengths");
            exit(rows_tests() ? 1 : 0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
            fprintf(stderr, "%s: failed\n", isas[i]);
            failed = 1;
        }
    }
    return failed;
}
