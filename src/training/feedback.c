/* feedback.c: inputs that reach wrong contexts, for training. */
#include "training/feedback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "runs/note.h"

enum { PLACE = 32 }; /* bytes that an input takes in a note, at most */

int lg__feedback_open(struct lg__feedback **f, const struct lg__run *r, int threads, lg_error *err)
{
    *f = NULL;
    if (!r->config.certify_every) return 0;
    struct lg__feedback *x = lg__alloc(sizeof *x);
    if (!x) return lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    lg_batch_init(&x->batch);
    x->threads = threads;
    int matching = lg__matching_wanted(r), e = 0;
    if (matching && !(x->pairs = lg__alloc(sizeof *x->pairs)))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    if (!e && matching && !(e = lg__matching_open(x->pairs, r, err)))
        e = lg__matching_check(x->pairs, 0, err);
    if (!e && !matching) e = lg__contexts_make(&x->set, r, 0, NULL, NULL, err);
    if (!e && !(x->evaluator = lg_evaluator_new(r->model, threads, err))) e = LG_ERROR_MEMORY;
    if (!e && !matching && !(x->list = lg__alloc((size_t)x->set.count * sizeof *x->list)))
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
    if (f->pairs) lg__matching_clear(f->pairs);
    free(f->pairs);
    lg_evaluator_free(f->evaluator);
    lg_batch_clear(&f->batch);
    free(f->list);
    free(f);
}

/* Some inputs first, then, if nothing is wrong with them and their neighbours, all. */
static int look_at_pairs(struct lg__feedback *f, const struct lg__run *r, lg_error *err)
{
    struct lg__matching *p = f->pairs;
    uint64_t seed = (uint64_t)r->config.seed, step = (uint64_t)r->step;
    int e = lg__matching_judge(p, r->model, f->evaluator, f->threads, LG__FEEDBACK_SAMPLE, seed,
                               step, err);
    if (!e && !lg__matching_wrong(p))
        e = lg__matching_judge(p, r->model, f->evaluator, f->threads, 0, 0, 0, err);
    f->wrong = lg__matching_wrong(p);
    f->margin = p->margin;
    f->looks = p->contexts + p->pairs;
    f->count = 0;
    f->outside = 0;
    /* Evenly over what was listed: neighbours in the list are much alike. */
    for (int i = 0; i < LG__FEEDBACK_MOST && i < p->listed && !e; i++) {
        int of =
            p->listed <= LG__FEEDBACK_MOST ? i : (int)((int64_t)i * p->listed / LG__FEEDBACK_MOST);
        int there = lg__matching_write(p, &p->list[of], err);
        if (there < 0) return there;
        if (!there || p->x.length < r->config.length[0] || p->x.length > r->config.length[1])
            f->outside++;
        else
            f->failing[f->count++] = p->list[of];
    }
    return e;
}

/* The input that is fed back is the shortest that shows a context: it must be one of those that
 * training draws. */
int lg__feedback_look(struct lg__feedback *f, const struct lg__run *r, lg_error *err)
{
    if (f->pairs) return look_at_pairs(f, r, err);
    struct lg__verdict v = {.list = f->list, .most = f->set.count};
    int e = lg__contexts_judge(&f->set, f->evaluator, &f->batch, &v, err);
    f->wrong = v.wrong;
    f->margin = v.margin;
    f->looks = f->set.count;
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
    int row, i = (int)lg_rng_below(r, (uint32_t)f->count);
    int e = f->pairs ? lg__matching_write(f->pairs, &f->failing[i], err)
                     : lg__contexts_text(&f->set, f->input[i], &row, err);
    if (e < 0) return e;
    lg_example *from = f->pairs ? &f->pairs->x : &f->set.x;
    lg_example swap = *x; /* the scratch becomes the caller's, and his the scratch */
    *x = *from;
    *from = swap;
    return 0;
}

static void write_sum(const struct lg__feedback *f, char sum[20])
{
    if (f->pairs)
        snprintf(sum, 20, "%lld", (long long)f->pairs->relation.inputs);
    else
        snprintf(sum, 20, "%016llx", (unsigned long long)lg__contexts_sum(&f->set));
}

void lg__feedback_write(const struct lg__feedback *f, lg_buffer *note)
{
    char sum[20], inputs[PLACE * LG__FEEDBACK_MOST] = "";
    size_t n = 0;
    write_sum(f, sum);
    for (int i = 0; i < f->count && f->pairs; i++)
        n += (size_t)snprintf(inputs + n, sizeof inputs - n, "%s%lld %lld", i ? " " : "",
                              (long long)f->failing[i].input, (long long)f->failing[i].extra);
    for (int i = 0; i < f->count && !f->pairs; i++)
        n += (size_t)snprintf(inputs + n, sizeof inputs - n, "%s%d", i ? " " : "", f->input[i]);
    lg__note_put_text(note, "contexts", sum);
    lg__note_put_text(note, "feedback", inputs);
}

static int read_pairs(struct lg__feedback *f, const char *inputs, lg_error *err)
{
    char *end;
    for (const char *at = inputs; *at && f->count < LG__FEEDBACK_MOST; at = end) {
        long long input = strtoll(at, &end, 10), extra = strtoll(end, &end, 10);
        if (end == at || input < 0 || input >= f->pairs->relation.inputs || extra < -1 ||
            extra > INT32_MAX)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "the checkpoint's note has \"feedback\" with \"%.40s\", which is no "
                            "input of this task; was it edited? Train anew",
                            at);
        f->failing[f->count++] = (struct lg__failing){input, extra, 0};
    }
    return 0;
}

int lg__feedback_read(struct lg__feedback *f, const char *note, lg_error *err)
{
    char sum[20], own[20], inputs[PLACE * LG__FEEDBACK_MOST], *end;
    f->count = 0;
    if (!lg__note_has(note, "contexts")) return 0; /* saved before the first look */
    int e = lg__note_text(note, "contexts", sum, sizeof sum, err);
    if (!e) e = lg__note_text(note, "feedback", inputs, sizeof inputs, err);
    if (e) return e;
    write_sum(f, own);
    if (strcmp(sum, own) != 0) return 0;
    if (f->pairs) return read_pairs(f, inputs, err);
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
