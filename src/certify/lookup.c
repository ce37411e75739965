/* lookup.c: runs each context through the model once, packed with others. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "certify/judge.h"

int lg__lookup_open(struct lg__lookup *k, const lg_model *m, int threads, lg_error *err)
{
    *k = (struct lg__lookup){.model = m, .most = (size_t)1 << 30};
    int e = lg__unfold_open(&k->unfold, lg_model_get_config(m), err);
    if (!e && !(k->evaluator = lg_evaluator_new(m, threads, err))) e = LG_ERROR_MEMORY;
    return e;
}

void lg__lookup_clear(struct lg__lookup *k)
{
    lg_evaluator_free(k->evaluator);
    lg__unfold_clear(&k->unfold);
    lg__block_free(&k->said);
    *k = (struct lg__lookup){0};
}

void lg__lookup_tidy(struct lg__lookup *k)
{
    if (lg__unfold_bytes(&k->unfold) + k->said.size <= k->most) return;
    lg__unfold_forget(&k->unfold);
    lg__block_free(&k->said);
}

static float lead(const float *logits, int n, int best)
{
    float second = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (isnan(logits[i])) return NAN;
        if (i != best && logits[i] > second) second = logits[i];
    }
    return logits[best] - second;
}

int lg__lookup_run(struct lg__lookup *k, lg_error *err)
{
    struct lg__unfold *u = &k->unfold;
    const lg_model_config *m = &u->model;
    lg_eval_result r;
    int n = u->fresh.sequences;
    if (!n) return 0;
    size_t size = ((size_t)u->fresh_first + (size_t)n) * sizeof(struct lg__said);
    int e = size <= k->said.size
                ? 0
                : lg__block_grow(&k->said, 2 * size, u->fresh_first > 0, "contexts", err);
    if (!e) e = lg_evaluator_run(k->evaluator, &u->fresh, &r, err);
    struct lg__said *said = (struct lg__said *)k->said.data + u->fresh_first;
    for (int i = 0; !e && i < n; i++) {
        const float *logits = r.logits + (size_t)i * (size_t)m->vocab;
        said[i] = (struct lg__said){.token = lg_argmax(logits, m->vocab)};
        said[i].lead = lead(logits, m->vocab, said[i].token);
        for (int l = 0; l < m->levels; l++) {
            int classes = m->id_classes[l];
            if (!classes) continue;
            logits = r.id_logits[l] + (size_t)i * (size_t)classes;
            said[i].class[l] = lg_argmax(logits, classes);
            said[i].id_lead[l] = lead(logits, classes, said[i].class[l]);
        }
    }
    k->run += n;
    lg_batch_reset(&u->fresh);
    u->fresh_first += n;
    return e;
}

static int full(void *context, lg_error *err) { return lg__lookup_run(context, err); }

int lg__lookup_text(struct lg__lookup *k, const struct lg__text *x, int from, int to,
                    int32_t *number, lg_error *err)
{
    return lg__unfold_text(&k->unfold, x, from, to, number, full, k, err);
}

const struct lg__said *lg__lookup_said(const struct lg__lookup *k, int number)
{
    return (const struct lg__said *)k->said.data + number;
}
