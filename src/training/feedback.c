/* feedback.c: inputs that reach wrong contexts, for training. */
#include "training/feedback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "runs/note.h"

int lg__feedback_open(struct lg__feedback **f, const struct lg__run *r, int threads, lg_error *err)
{
    *f = NULL;
    if (!r->config.certify_every) return 0;
    struct lg__feedback *x = lg__alloc(sizeof *x);
    if (!x) return lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    lg_batch_init(&x->batch);
    int e = lg__contexts_make(&x->set, r, 0, NULL, NULL, err);
    if (!e && !(x->evaluator = lg_evaluator_new(r->model, threads, err))) e = LG_ERROR_MEMORY;
    if (!e && !(x->list = lg__alloc((size_t)x->set.count * sizeof *x->list)))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    if (e)
        lg__feedback_free(x);
    else
        *f = x;
    return e;
}

void lg__feedback_free(struct lg__feedback *f)
{
    if (!f) return;
    lg__contexts_clear(&f->set);
    lg_evaluator_free(f->evaluator);
    lg_batch_clear(&f->batch);
    free(f->list);
    free(f);
}

/* The input that is fed back is the shortest that shows a context: it must be one of those that
 * training draws. */
int lg__feedback_look(struct lg__feedback *f, const struct lg__run *r, lg_error *err)
{
    struct lg__verdict v = {.list = f->list, .most = f->set.count};
    int e = lg__contexts_judge(&f->set, f->evaluator, &f->batch, &v, err);
    f->wrong = v.wrong;
    f->margin = v.margin;
    f->count = 0;
    f->outside = 0;
    for (int i = 0; i < v.listed && !e; i++) {
        int n = lg__contexts_columns(&f->set, f->list[i], err);
        if (n < 0) e = n;
        if (n < r->config.length[0] || n > r->config.length[1])
            f->outside++;
        else if (f->count < LG__FEEDBACK_MOST)
            f->input[f->count++] = f->list[i];
    }
    return e;
}

int lg__feedback_example(struct lg__feedback *f, lg_rng *r, lg_example *x, lg_error *err)
{
    int row, i = f->input[lg_rng_below(r, (uint32_t)f->count)];
    int e = lg__contexts_text(&f->set, i, &row, err);
    if (e) return e;
    lg_example swap = *x; /* the scratch becomes the caller's, and his the scratch */
    *x = f->set.x;
    f->set.x = swap;
    return 0;
}

static void write_sum(const struct lg__feedback *f, char sum[20])
{
    snprintf(sum, 20, "%016llx", (unsigned long long)lg__contexts_sum(&f->set));
}

void lg__feedback_write(const struct lg__feedback *f, lg_buffer *note)
{
    char sum[20], inputs[12 * LG__FEEDBACK_MOST] = "";
    size_t n = 0;
    write_sum(f, sum);
    for (int i = 0; i < f->count; i++)
        n += (size_t)snprintf(inputs + n, sizeof inputs - n, "%s%d", i ? " " : "", f->input[i]);
    lg__note_put_text(note, "contexts", sum);
    lg__note_put_text(note, "feedback", inputs);
}

int lg__feedback_read(struct lg__feedback *f, const char *note, lg_error *err)
{
    char sum[20], own[20], inputs[12 * LG__FEEDBACK_MOST], *end;
    f->count = 0;
    if (!lg__note_has(note, "contexts")) return 0; /* saved before the first look */
    int e = lg__note_text(note, "contexts", sum, sizeof sum, err);
    if (!e) e = lg__note_text(note, "feedback", inputs, sizeof inputs, err);
    if (e) return e;
    write_sum(f, own);
    if (strcmp(sum, own) != 0) return 0;
    for (const char *at = inputs; *at && f->count < LG__FEEDBACK_MOST; at = end) {
        long i = strtol(at, &end, 10);
        if (end == at || i < 0 || i >= f->set.count)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "the checkpoint's note has \"feedback\" with \"%.40s\", which is no "
                            "context of 0..%d; was it edited? Train anew",
                            at, f->set.count - 1);
        f->input[f->count++] = (int)i;
    }
    return 0;
}
