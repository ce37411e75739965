/* own.c: your own program with your own task and your own encoding: train, save, load, evaluate, generate, certify.
 *
 *     cc own.c $(pkg-config --cflags --libs lengthen) -o own && ./own
 *
 * The task: bits, "=", then after each bit how many ones there were so far, modulo 3. A finite machine with three states writes
 * it, so it can be certified. The encoding: a learned bias for each difference of IDs from 0 to 1. Uses lengthen.h and
 * lengthen_certify.h; exits with 1 unless the model, trained on at most 10 bits, is proved right at every length. */
#include <stdio.h>
#include <stdlib.h>

#include "lengthen.h"
#include "lengthen_certify.h"

enum { EQUALS = 2, SUM = 3, STOP = 6, VOCAB = 7, STEPS = 400, BATCH = 64, SEED = 1 };

static lg_error err;

static void check(int ok)
{
    if (ok) return;
    fprintf(stderr, "own: %s\n", err.text);
    exit(1);
}

/* ---- The task -------------------------------------------------------------------------------- */

static int next_state(void *context, int state, int bit)
{
    (void)context;
    return (state + bit) % 3;
}

/* Bit i, the sum after it and its column have label i; "=" is before the first column, the stop after the last. */
static int write_text(void *context, const int32_t *bit, int n, lg_example *x, lg_error *e)
{
    int code = 0, state = 0;
    for (int32_t i = 0; i < n && !code; i++)
        code = lg_example_put(x, bit[i], 0, (int32_t[]){i + 1, LG_ABSENT, LG_ABSENT}, e);
    if (!code) code = lg_example_put(x, EQUALS, 0, (int32_t[]){0, LG_ABSENT, LG_ABSENT}, e);
    for (int32_t i = 0; i < n && !code; i++) {
        state = next_state(context, state, bit[i]);
        code = lg_example_put(x, SUM + state, 1, (int32_t[]){i + 1, LG_ABSENT, LG_ABSENT}, e);
    }
    return code ? code : lg_example_put(x, STOP, 1, (int32_t[]){n + 1, LG_ABSENT, LG_ABSENT}, e);
}

static int make_text(void *context, lg_rng *r, int length, lg_example *x, lg_error *e)
{
    int32_t *bit = malloc((size_t)length * sizeof *bit);
    if (!bit) return LG_ERROR_MEMORY;
    for (int i = 0; i < length; i++) bit[i] = (int32_t)lg_rng_below(r, 2);
    int code = write_text(context, bit, length, x, e);
    free(bit);
    return code;
}

/* ---- The encoding ---------------------------------------------------------------------------- */

/* param[0] for a key with the query's own ID, param[1] for one with the next. */
static void add_bias(void *context, float *out, const float *param, int head, int n, int levels,
                     const int32_t *query, const int32_t *const *key)
{
    (void)context, (void)head, (void)levels;
    for (int j = 0; j < n; j++) out[j] = param[key[0][j] > query[0]];
}

static void add_gradient(void *context, float *dparam, const float *dout, const float *param,
                         int head, int n, int levels, const int32_t *query,
                         const int32_t *const *key)
{
    (void)context, (void)param, (void)head, (void)levels;
    for (int j = 0; j < n; j++) dparam[key[0][j] > query[0]] += dout[j];
}

/* ---- The program ----------------------------------------------------------------------------- */

static void train(lg_model *m, lg_task *task, const lg_plan *plan)
{
    lg_train_options o = lg_train_options_default();
    o.steps = STEPS, o.warmup = 50, o.lr = 4e-3;
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    check(t != NULL);
    lg_draw d = {.seed = SEED, .stream = 1, .length_lo = 1, .length_hi = 10};
    lg_example x;
    lg_batch b;
    lg_rng r;
    lg_example_init(&x);
    lg_batch_init(&b);
    for (int step = 0; step < STEPS; step++) {
        lg_batch_reset(&b);
        for (int i = 0; i < BATCH; i++, d.index++) {
            lg_rng_init(&r, SEED, 2, d.index);
            check(!lg_task_example(task, &d, &x, &err));
            check(!lg_plan_add(plan, &x, &r, &b, &err));
        }
        check(!lg_trainer_step(t, &b, NULL, &err));
    }
    lg_batch_clear(&b);
    lg_example_clear(&x);
    lg_trainer_free(t);
}

/* Writes the answer to one input, token by token, with the IDs that the model predicts itself. */
static void generate(const lg_model *m, lg_task *task, const lg_plan *plan)
{
    const lg_task_shape *shape = lg_task_get_shape(task);
    const lg_model_config *c = lg_model_get_config(m);
    lg_draw d = {.seed = SEED, .stream = 3, .length_lo = 20, .length_hi = 20};
    lg_example x;
    lg_batch b;
    lg_example_init(&x);
    lg_batch_init(&b);
    check(!lg_task_example(task, &d, &x, &err));
    int32_t *ids[LG_LEVELS] = {malloc((size_t)x.n * sizeof(int32_t))}, id, token = LG_NONE;
    check(ids[0] && !lg_plan_ids(plan, &x, NULL, ids, &err));
    check(!lg_batch_add(&b, x.answer, x.tokens, ids[0], NULL, NULL, &err)); /* the prompt */
    lg_decoder *decoder = lg_decoder_new(m, 1, &err);
    check(decoder && !lg_decoder_start(decoder, &b, &err));
    id = ids[0][x.answer - 1];
    for (int i = 0; i < x.answer; i++) printf("%s ", shape->words[x.tokens[i]]);
    for (int i = 0; i < 40 && token != STOP; i++) {
        token = lg_argmax(lg_decoder_logits(decoder, 0), VOCAB);
        id = lg_plan_next_id(plan, c, decoder, 0, 0, id);
        check(!lg_decoder_step(decoder, &token, &id, &err));
        printf("%s ", shape->words[token]);
    }
    puts("");
    lg_decoder_free(decoder);
    lg_batch_clear(&b);
    lg_example_clear(&x);
    free(ids[0]);
}

int main(int argc, char **argv)
{
    static const char *const words[VOCAB] = {"0", "1", "=", "A", "B", "C", "$"};
    const char *file = argc > 1 ? argv[1] : "own.safetensors";
    lg_own_task mine = {
        .name = "ones-mod-3", .unit = "bits", .words = words, .vocab = VOCAB, .stop = STOP};
    mine.levels = 1, mine.level[0] = "column", mine.reach[0] = 1, mine.make = make_text;
    mine.states = 3, mine.inputs = 2, mine.next = next_state, mine.write = write_text;
    lg_own_encoding near = {
        .name = "near", .relative = 1, .parameters = 2, .bias = add_bias, .backward = add_gradient};
    check(!lg_task_add(&mine, &err) && !lg_encoding_add(&near, &err));
    lg_task *task = lg_task_new("ones-mod-3", NULL, 0, &err);
    check(task != NULL);

    lg_scheme scheme = lg_scheme_default();
    scheme.ids = "coupled", scheme.source[0] = "delta", scheme.reach = 1;
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = VOCAB, c.width = 32, c.heads = 2, c.layers = 2, c.seed = SEED;
    c.encoding = "near", c.span = LG_SPAN_WINDOW, c.window_lo[0] = 0, c.window_hi[0] = 1,
    c.sink = 1;
    check(!lg_scheme_config(&scheme, task, &c, &err));
    check(!lg_scheme_check(&scheme, task, &c, 10, NULL, &err));
    lg_model *trained = lg_model_new(&c, &err);
    lg_plan plan;
    check(trained && !lg_plan_open(&plan, &scheme, task, &err));
    train(trained, task, &plan);
    check(!lg_model_save(trained, file, &err));
    lg_model_free(trained);

    lg_model *m = lg_model_load(file, &err);
    check(m != NULL);
    lg_score s;
    lg_draw d = {.seed = SEED, .stream = 3, .length_lo = 1000, .length_hi = 1000};
    check(!lg_answer(m, task, &scheme, &d, 20, 1, 0, &s, &err));
    printf("1,000 bits: %d of %d answers exact\n", s.exact, s.samples);
    generate(m, task, &plan);
    lg_certify_options o = {.model = m, .task = task, .scheme = &scheme};
    lg_certificate certificate;
    check(!lg_certify(&o, &certificate, &err));
    printf("%s: %lld contexts, %lld wrong\n", certificate.certified ? "certified" : "not certified",
           (long long)certificate.contexts, (long long)certificate.wrong);
    lg_model_free(m);
    lg_task_free(task);
    return !certificate.certified;
}
