/* judge.c: examples judged by look-up. As long as every token and ID before it is right, the context of a
 * generated position is the one that it has in the right text, so that a right text whose contexts all
 * say the right thing is what greedy decoding writes. Any other example is decoded. */
#include "certify/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "positions/ids.h"
#include "tasks/tasks.h"

enum { GROUP = 256, TOKENS = 1 << 21 }; /* of the examples that are in memory together */

struct item {
    lg_example x;
    struct lg__block ids;     /* int32_t [levels, n] of the rule */
    struct lg__block context; /* int32_t [n - answer] */
};

/* Where answers went wrong first, of those that did. */
struct firsts {
    struct lg__block at; /* int */
    int count;
};

struct lg__judge {
    const struct lg__run *run;
    int threads;
    struct lg__lookup lookup;
    lg_plan plan; /* the run's scheme, opened for the task that is judged */
    int predicted;
    struct item item[GROUP];
    int items;
    int wrong[GROUP], first[GROUP]; /* those that are decoded; the first wrong token of each */
    int wrongs;
    struct firsts generated, taught;
};

int lg__judge_open(struct lg__judge **made, const struct lg__run *r, int threads, lg_error *err)
{
    int e = lg__unfold_check(r, err);
    if (e) return e;
    struct lg__judge *j = *made = lg__alloc(sizeof *j);
    if (!j) return lg__fail(err, LG_ERROR_MEMORY, "no memory for contexts; end other programs");
    j->run = r;
    j->threads = threads;
    for (int i = 0; i < GROUP; i++) lg_example_init(&j->item[i].x);
    return lg__lookup_open(&j->lookup, r->model, threads, err);
}

static void clear_items(struct lg__judge *j)
{
    for (int i = 0; i < GROUP; i++) {
        lg_example_clear(&j->item[i].x);
        lg__block_free(&j->item[i].ids);
        lg__block_free(&j->item[i].context);
    }
}

void lg__judge_free(struct lg__judge *j)
{
    if (!j) return;
    clear_items(j);
    lg__lookup_clear(&j->lookup);
    lg__block_free(&j->generated.at);
    lg__block_free(&j->taught.at);
    free(j);
}

struct lg__lookup *lg__judge_lookup(struct lg__judge *j) { return &j->lookup; }

int64_t lg__judge_contexts(const struct lg__judge *j) { return j->lookup.run; }

/* ---- First errors ----------------------------------------------------------------------------------- */

/* The first wrong token of an answer of n, from 1. */
static int note_first(struct firsts *f, int first, int n, lg_score *s, lg_error *err)
{
    size_t size = ((size_t)f->count + 1) * sizeof(int);
    int e = size <= f->at.size ? 0 : lg__block_grow(&f->at, 2 * size, f->count > 0, "answers", err);
    if (e) return e;
    ((int *)f->at.data)[f->count++] = first;
    s->first_in[10 * (int64_t)(first - 1) / n]++;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sum_up_firsts(struct firsts *f, lg_score *s)
{
    if (!f->count) return;
    qsort(f->at.data, (size_t)f->count, sizeof(int), by_size);
    s->first_least = ((int *)f->at.data)[0];
    s->first_median = ((int *)f->at.data)[(f->count - 1) / 2];
}

/* ---- One example -------------------------------------------------------------------------------------- */

static struct lg__text text_of(const struct lg__judge *j, const struct item *i)
{
    struct lg__text x = {.n = i->x.n, .tokens = i->x.tokens};
    for (int l = 0; l < j->plan.levels; l++)
        x.ids[l] = (const int32_t *)i->ids.data + (size_t)l * (size_t)i->x.n;
    return x;
}

/* Its IDs and contexts. */
static int unfold(struct lg__judge *j, struct item *i, lg_error *err)
{
    size_t n = (size_t)i->x.n, levels = (size_t)j->plan.levels;
    int32_t *ids[LG_LEVELS] = {0};
    int e = lg__block_grow(&i->ids, levels * n * sizeof(int32_t), 0, "IDs", err);
    if (!e) e = lg__block_grow(&i->context, n * sizeof(int32_t), 0, "contexts", err);
    if (e) return e;
    for (size_t l = 0; l < levels; l++) ids[l] = (int32_t *)i->ids.data + l * n;
    if ((e = lg_plan_ids(&j->plan, &i->x, NULL, ids, err))) return e;
    struct lg__text x = text_of(j, i);
    return lg__lookup_text(&j->lookup, &x, i->x.answer - 1, i->x.n - 2, i->context.data, err);
}

/* The class of a delta head for the next ID, as it is trained; LG_NONE: there is none. */
static int class_of(const lg_plan *p, int level, int32_t next, int32_t carried)
{
    int reach = p->scheme.reach;
    int64_t step = (int64_t)next - (carried == LG_ABSENT ? 0 : carried);
    if (next == LG_ABSENT) return p->levels > 1 ? lg__plan_classes(p, level) - 1 : LG_NONE;
    return step >= -reach && step <= reach ? (int)step + reach : LG_NONE;
}

/* An ID that the heads cannot say has no class to teach, and lg_plan_add knows the words for it. */
static int refuse_class(const struct lg__judge *j, const lg_example *x, lg_error *err)
{
    lg_batch b;
    lg_batch_init(&b);
    int e = lg_plan_add(&j->plan, x, NULL, &b, err);
    lg_batch_clear(&b);
    return e;
}

/* What is counted along an answer. */
struct count {
    int64_t ids, ids_right, classes_right; /* of all rows: by ID as generated, by class as taught */
    int64_t tokens, right, loss_right;     /* with a loss, those right; rows that are right */
    int wrong;                             /* 1: it must be decoded */
    int first;                             /* wrong token with a loss, from 1; 0: none */
    int unsaid;                            /* 1: an ID has no class */
};

static void count_ids(const struct lg__judge *j, const struct lg__text *x,
                      const struct lg__said *said, int row, int32_t carried[LG_LEVELS],
                      struct count *c)
{
    for (int l = 0; l < j->plan.levels; l++) {
        int32_t next = x->ids[l][row + 1];
        if (j->predicted && j->plan.head[l] != LG__HEAD_GIVEN) {
            int class = class_of(&j->plan, l, next, carried[l]);
            int right = next == lg__id_of_class(&j->plan.scheme, j->plan.head[l], said->class[l],
                                                carried[l], LG_ABSENT);
            c->ids++;
            c->ids_right += right;
            c->classes_right += said->class[l] == class;
            c->unsaid |= class == LG_NONE;
            if (!right && row + 2 < x->n) c->wrong = 1; /* the last one's is never read */
        }
        if (next != LG_ABSENT) carried[l] = next;
    }
}

static struct count count_answer(const struct lg__judge *j, const struct item *i)
{
    struct lg__text x = text_of(j, i);
    const int32_t *context = i->context.data;
    int32_t carried[LG_LEVELS], stop = j->plan.shape->stop;
    struct count c = {0};
    for (int l = 0; l < j->plan.levels; l++) {
        carried[l] = LG_ABSENT;
        for (int t = i->x.answer - 1; t >= 0 && carried[l] == LG_ABSENT; t--)
            carried[l] = x.ids[l][t];
    }
    for (int row = i->x.answer - 1, start = -1; row + 1 < x.n; row++) {
        const struct lg__said *said = lg__lookup_said(&j->lookup, context[row - i->x.answer + 1]);
        int right = said->token == x.tokens[row + 1];
        c.right += right;
        c.wrong |= !right || (said->token == stop && stop != LG_NONE && row + 2 < x.n);
        if (i->x.loss[row + 1]) {
            if (start < 0) start = row;
            c.tokens++;
            c.loss_right += right;
            if (!right && !c.first) c.first = row - start + 1;
        }
        count_ids(j, &x, said, row, carried, &c);
    }
    return c;
}

static int judge_item(struct lg__judge *j, int at, lg_score *generated, lg_score *taught,
                      lg_error *err)
{
    const struct item *i = &j->item[at];
    struct count c = count_answer(j, i);
    int n = i->x.n - i->x.answer, e = 0;
    if (taught && c.unsaid) e = refuse_class(j, &i->x, err);
    if (taught && !e) {
        taught->samples++;
        taught->text += i->x.n;
        taught->tokens += c.tokens;
        taught->right += c.loss_right;
        taught->ids += c.ids;
        taught->ids_right += c.classes_right;
        taught->exact += c.loss_right == c.tokens && c.classes_right == c.ids;
        if (c.first) e = note_first(&j->taught, c.first, n, taught, err);
    }
    if (c.wrong) {
        j->wrong[j->wrongs++] = at;
    } else {
        generated->samples++;
        generated->exact++;
        generated->text += i->x.n;
        generated->tokens += n;
        generated->right += c.right;
        generated->ids += c.ids;
        generated->ids_right += c.ids_right;
    }
    return e;
}

/* ---- Decoding ------------------------------------------------------------------------------------------ */

static int make_wrong(void *context, int index, lg_example *x, lg_error *err)
{
    const struct lg__judge *j = context;
    const lg_example *from = &j->item[j->wrong[index]].x;
    size_t bytes = (size_t)from->n * sizeof(int32_t);
    int e = lg__example_room(x, from->n, err);
    if (e) return e;
    memcpy(x->tokens, from->tokens, bytes);
    memcpy(x->loss, from->loss, (size_t)from->n);
    for (int l = 0; l < LG_LEVELS; l++) memcpy(x->labels[l], from->labels[l], bytes);
    x->n = from->n;
    x->answer = from->answer;
    x->length = from->length;
    x->sparsity = from->sparsity;
    return 0;
}

static int decode(struct lg__judge *j, lg_task *t, const volatile int *stop, lg_score *all,
                  lg_error *err)
{
    lg_score s;
    struct lg__answer_limit limit = {.stop = stop, .first = j->first};
    if (!j->wrongs) return 0;
    int e = lg__answer(j->run->model, t, &j->run->scheme, make_wrong, j, j->wrongs, j->predicted,
                       j->threads, &limit, &s, err);
    if (e) return e;
    all->samples += s.samples;
    all->exact += s.exact;
    all->text += s.text;
    all->tokens += s.tokens;
    all->right += s.right;
    all->ids += s.ids;
    all->ids_right += s.ids_right;
    for (int i = 0; i < j->wrongs && !e; i++) {
        const lg_example *x = &j->item[j->wrong[i]].x;
        if (j->first[i]) e = note_first(&j->generated, j->first[i], x->n - x->answer, all, err);
    }
    return e;
}

/* ---- All of them ----------------------------------------------------------------------------------------- */

/* Makes the next examples, most of them at most, and finds their contexts. */
static int fill_group(struct lg__judge *j, lg_task *t, lg_draw *d, int most, lg_error *err)
{
    int64_t tokens = 0, room = 0;
    int e = 0;
    for (int i = 0; i < GROUP; i++) room += j->item[i].x.room;
    if (room > 4 * (int64_t)TOKENS) clear_items(j);
    lg__lookup_tidy(&j->lookup);
    for (j->items = 0; j->items < GROUP && j->items < most && tokens < TOKENS && !e; j->items++) {
        struct item *i = &j->item[j->items];
        e = lg_task_example(t, d, &i->x, err);
        d->index++;
        if (!e) e = unfold(j, i, err);
        tokens += i->x.n;
    }
    return e ? e : lg__lookup_run(&j->lookup, err);
}

int lg__judge_draw(struct lg__judge *j, lg_task *t, const lg_draw *d, int samples, int predicted,
                   const volatile int *stop, lg_score *generated, lg_score *taught, lg_error *err)
{
    lg_draw next = *d;
    *generated = (lg_score){0};
    if (taught) *taught = (lg_score){0};
    if (samples < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d samples; take at least 1", samples);
    int e = lg_plan_open(&j->plan, &j->run->scheme, t, err);
    j->predicted = predicted;
    j->generated.count = j->taught.count = 0;
    for (int done = 0; done < samples && !e && !(stop && *stop); done += j->items) {
        e = fill_group(j, t, &next, samples - done, err);
        j->wrongs = 0;
        for (int i = 0; i < j->items && !e; i++) e = judge_item(j, i, generated, taught, err);
        if (!e) e = decode(j, t, stop, generated, err);
    }
    sum_up_firsts(&j->generated, generated);
    if (taught) sum_up_firsts(&j->taught, taught);
    return e;
}

/* ---- Evaluation ------------------------------------------------------------------------------------------ */

static int judge_answers(void *context, struct lg__answers *a, lg_error *err)
{
    struct lg__judge **j = context;
    int e = *j ? 0 : lg__judge_open(j, a->run, a->threads, err);
    return e ? e
             : lg__judge_draw(*j, a->task, &a->draw, a->samples, a->predicted, a->limit.stop,
                              &a->generated, a->taught_too ? &a->taught : NULL, err);
}

int lg_run_eval_by_context(const lg_eval_options *o, lg_error *warning, lg_error *err)
{
    struct lg__judge *j = NULL;
    struct lg__judging judging = {judge_answers, &j};
    lg_eval_options with = *o;
    with.judging = &judging;
    int e = lg_run_eval(&with, warning, err);
    lg__judge_free(j);
    return e;
}
