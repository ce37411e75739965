/* feedback.c: inputs that reach wrong contexts, for training. */
#include "lab/feedback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int lg__feedback_open(struct lg__feedback **f, const struct lg__run *r, int threads, lg_error *err)
{
    *f = NULL;
    if (!r->config.certify_every) return 0;
    struct lg__feedback *x = calloc(1, sizeof *x);
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

void lg__feedback_write(const struct lg__feedback *f, char text[LG__FEEDBACK_TEXT])
{
    int n = snprintf(text, LG__FEEDBACK_TEXT, " feedback %016llx",
                     (unsigned long long)lg__contexts_sum(&f->set));
    for (int i = 0; i < f->count; i++)
        n += snprintf(text + n, (size_t)(LG__FEEDBACK_TEXT - n), " %d", f->input[i]);
}

void lg__feedback_read(struct lg__feedback *f, const char *note)
{
    const char *at = strstr(note, " feedback ");
    unsigned long long sum = 0;
    int skip = 0;
    char *end;
    f->count = 0;
    if (!at || sscanf(at, " feedback %llx%n", &sum, &skip) != 1) return;
    if (sum != lg__contexts_sum(&f->set)) return;
    for (at += skip; f->count < LG__FEEDBACK_MOST; at = end) {
        long i = strtol(at, &end, 10);
        if (end == at || i < 0 || i >= f->set.count) return;
        f->input[f->count++] = (int)i;
    }
}
