/* confirm.c: what a certificate says, tried: a certified run answers long random inputs, those that a
 * machine finds hardest or dullest (every column alike, with another one in front of them or not), and
 * one that is very long. None of them may be wrong; the proof does not need it. */
#include <stdlib.h>

#include "base/error.h"
#include "measure/answer.h"
#include "certify/contexts.h"

enum { LONGEST = 500, MOST_WORST = 400 };

struct confirming {
    const struct lg__run *run;
    const struct lg__columns *columns;
    int32_t *input; /* [n] */
    int n;          /* columns of an input */
    int threads;
    int pair[MOST_WORST][2], pairs;
};

/* `first`, then `rest` again and again. Whether that is a text. */
static int write_string(const struct confirming *w, int first, int rest)
{
    const struct lg__columns *c = w->columns;
    int state = c->start;
    for (int i = 0; i < w->n && state >= 0; i++)
        state = c->next(w->run->task, state, w->input[i] = i ? rest : first);
    return state >= 0 && c->ends(w->run->task, state);
}

/* All strings of equal columns, then as many of the others as there is room for, evenly chosen. */
static void choose_pairs(struct confirming *w)
{
    int inputs = w->columns->inputs;
    int64_t all = (int64_t)inputs * inputs;
    for (int i = 0; i < inputs && w->pairs < MOST_WORST; i++)
        if (write_string(w, i, i)) {
            w->pair[w->pairs][0] = w->pair[w->pairs][1] = i;
            w->pairs++;
        }
    int64_t room = MOST_WORST - w->pairs, step = room ? (all + room - 1) / room : all;
    for (int64_t i = 0; i < all && w->pairs < MOST_WORST; i += step) {
        int first = (int)(i / inputs), rest = (int)(i % inputs);
        if (first == rest || !write_string(w, first, rest)) continue;
        w->pair[w->pairs][0] = first;
        w->pair[w->pairs][1] = rest;
        w->pairs++;
    }
}

static int make_worst(void *context, int index, lg_example *x, lg_error *err)
{
    struct confirming *w = context;
    write_string(w, w->pair[index][0], w->pair[index][1]);
    return w->columns->write(w->run->task, w->input, w->n, x, err);
}

static int answer_random(const struct confirming *w, int columns, int count, lg_confirmed *c,
                         lg_error *err)
{
    const struct lg__run *r = w->run;
    lg_draw d = {.seed = (uint64_t)r->config.seed,
                 .stream = LG__STREAM_CONFIRM,
                 .length_lo = columns,
                 .length_hi = columns};
    lg_score score;
    int e =
        lg_answer(r->model, r->task, &r->scheme, &d, count, r->predicts, w->threads, &score, err);
    if (!e) c->wrong += score.samples - score.exact;
    return e;
}

static int answer_worst(struct confirming *w, lg_confirmed *c, lg_error *err)
{
    const struct lg__run *r = w->run;
    lg_score score;
    choose_pairs(w);
    if (!w->pairs) return 0;
    int e = lg__answer(r->model, r->task, &r->scheme, make_worst, w, w->pairs, r->predicts,
                       w->threads, NULL, &score, err);
    if (!e) c->wrong += score.samples - score.exact;
    c->worst = w->pairs;
    return e;
}

static void tell(const struct lg__contexts *set, int done)
{
    if (set->progress) set->progress(set->context, "answering long inputs", done, 3);
}

int lg__confirm(struct lg__contexts *set, const struct lg__run *r, int n, int threads,
                lg_confirmed *c, lg_error *err)
{
    struct confirming *w = lg__alloc(sizeof *w);
    int32_t *input = lg__alloc((size_t)n * sizeof *input);
    int e =
        w && input ? 0 : lg__fail(err, LG_ERROR_MEMORY, "no memory to confirm; end other programs");
    *c = (lg_confirmed){.random = n, .columns = n, .longest = LONGEST * n};
    if (!e)
        *w = (struct confirming){
            .run = r, .columns = &set->columns, .input = input, .n = n, .threads = threads};
    tell(set, 0);
    if (!e) e = answer_random(w, n, n, c, err);
    tell(set, 1);
    if (!e) e = answer_worst(w, c, err);
    tell(set, 2);
    if (!e) e = answer_random(w, LONGEST * n, 1, c, err);
    tell(set, 3);
    free(input);
    free(w);
    return e;
}

int lg__confirm_pairs(const struct lg__run *r, int n, int threads, lg_confirmed *c, lg_error *err)
{
    const struct confirming w = {.run = r, .n = n, .threads = threads};
    int most = lg_task_get_shape(r->task)->length_most;
    int longest = most / LONGEST < n ? most : LONGEST * n;
    *c = (lg_confirmed){.random = n, .columns = n < most ? n : most, .longest = longest};
    int e = answer_random(&w, c->columns, n, c, err);
    return e ? e : answer_random(&w, longest, 1, c, err);
}
