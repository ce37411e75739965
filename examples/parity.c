/* parity.c: train on at most 20 bits, answer 2,000.
 *
 * A sample is n bits, a separator, and the n running parities. Bit i and running parity i
 * share position ID i, the separator has 0, and a token sees only keys whose ID is its own
 * or the next one (span window): so nothing in a long sequence looks different from a
 * short one. Uses lengthen.h alone; exits with 1 if one answer of one seed is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "lengthen.h"

enum { SEPARATOR = 2, VOCAB = 3, BATCH = 64, STEPS = 300, SHORT = 20, LONG = 2000 };

static lg_error err;

static void check(int ok)
{
    if (ok) return;
    fprintf(stderr, "parity: %s\n", err.text);
    exit(1);
}

/* Sample `index` of n bits: 2n + 1 tokens and IDs; the target of a token is the running
 * parity behind it, from the separator on. */
static void make_sample(uint64_t seed, uint64_t index, int n, int32_t *token, int32_t *id,
                        int32_t *target)
{
    lg_rng r;
    int32_t parity = 0;
    lg_rng_init(&r, seed, 1, index);
    for (int i = 0; i < n; i++) {
        token[i] = (int32_t)lg_rng_below(&r, 2);
        id[i] = i + 1;
        target[i] = LG_NONE;
    }
    token[n] = SEPARATOR;
    id[n] = 0;
    for (int i = 0; i < n; i++) {
        parity ^= token[i];
        target[n + i] = token[n + 1 + i] = parity;
        id[n + 1 + i] = i + 1;
    }
    target[2 * n] = LG_NONE;
}

static void train(lg_model *m, uint64_t seed)
{
    int32_t token[2 * SHORT + 1], id[2 * SHORT + 1], target[2 * SHORT + 1];
    lg_train_options o = lg_train_options_default();
    o.steps = STEPS;
    o.warmup = 50;
    lg_trainer *t = lg_trainer_new(m, &o, &err);
    check(t != NULL);
    lg_batch b;
    lg_train_result result = {0};
    lg_batch_init(&b);
    for (uint64_t step = 0; step < STEPS; step++) {
        lg_batch_reset(&b);
        for (uint64_t i = 0; i < BATCH; i++) {
            int n = 1 + (int)((step + i) % SHORT);
            make_sample(seed, step * BATCH + i, n, token, id, target);
            check(!lg_batch_add(&b, 2 * n + 1, token, id, target, NULL, &err));
        }
        check(!lg_trainer_step(t, &b, &result, &err));
    }
    printf("seed %d: after %d steps on 1 to %d bits, loss %.2g; ", (int)seed, STEPS, SHORT,
           result.loss);
    lg_batch_clear(&b);
    lg_trainer_free(t);
}

/* Generates the running parities of BATCH fresh samples; returns how many are all right. */
static int test(const lg_model *m, uint64_t seed, int n)
{
    size_t length = 2 * (size_t)n + 1;
    int32_t *token = calloc(length * BATCH, sizeof *token), *target = malloc(length * 4 * BATCH);
    int32_t *id = malloc(length * 4), next[BATCH], next_id[BATCH];
    int right = 0, wrong[BATCH] = {0};
    lg_batch prompt;
    lg_decoder *d = lg_decoder_new(m, BATCH, &err);
    check(token && target && id && d);
    lg_batch_init(&prompt);
    for (size_t s = 0; s < BATCH; s++) {
        make_sample(seed + 1000, s, n, token + s * length, id, target + s * length);
        check(!lg_batch_add(&prompt, n + 1, token + s * length, id, NULL, NULL, &err));
    }
    check(!lg_decoder_start(d, &prompt, &err));
    for (int i = 0; i < n; i++) {
        for (size_t s = 0; s < BATCH; s++) {
            next[s] = lg_argmax(lg_decoder_logits(d, (int)s), VOCAB);
            next_id[s] = i + 1;
            wrong[s] |= next[s] != target[s * length + (size_t)(n + i)];
        }
        check(!lg_decoder_step(d, next, next_id, &err));
    }
    for (int s = 0; s < BATCH; s++) right += !wrong[s];
    lg_batch_clear(&prompt);
    lg_decoder_free(d);
    free(token), free(target), free(id);
    return right;
}

int main(void)
{
    int all = 1;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
        c.vocab = VOCAB, c.layers = 2, c.width = 64, c.heads = 2, c.seed = seed;
        c.encoding = "relative", c.span = LG_SPAN_WINDOW, c.window_lo[0] = 0, c.window_hi[0] = 1;
        lg_model *m = lg_model_new(&c, &err);
        check(m != NULL);
        train(m, seed);
        int right = test(m, seed, LONG);
        printf("%d of %d samples of %d bits right\n", right, BATCH, LONG);
        all = all && right == BATCH;
        lg_model_free(m);
    }
    return !all;
}
