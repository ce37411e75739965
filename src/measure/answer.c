/* answer.c: a model answers the examples of a task, token by token, as it would for a user: the
 * prompt is read, then each token is the likeliest one and gets the ID of the rule or the one
 * that the model itself predicts. Each thread has some examples side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "engine/work.h"
#include "measure/answer.h"
#include "measure/bench.h"
#include "positions/ids.h"
#include "base/clock.h"

/* Examples that are answered side by side, by all threads; each has at least a few, for which the
 * weights are read once. */
enum { BESIDE = 64, FEW = 8 };
size_t lg__answer_room = (size_t)4 << 30;

/* One example on its way. */
struct attempt {
    lg_example x;
    struct lg__block ids;       /* int32_t [levels, n] of the rule */
    int32_t carried[LG_LEVELS]; /* the latest ID so far */
    int at;                     /* tokens so far, prompt and answer */
    int done;
    int first; /* wrong token of the answer, from 1; 0: none so far */
    int index; /* its number among those to be answered */
};

/* What one thread has. */
struct answering {
    const lg_model *m;
    lg_task *t;
    const lg_scheme *s;
    lg_plan plan;
    const lg_model_config *c;
    int predicted;
    lg_batch prompts;
    lg_decoder *decoder;
    struct attempt a[BESIDE];
    int n;      /* of them */
    int *first; /* [samples] where answers went wrong first, of those that did */
    int first_count;
    int32_t token[BESIDE], id[LG_LEVELS * BESIDE];
    lg_score score;
    const struct lg__answer_limit *limit; /* or NULL */
    int cut;                              /* it was reached before these examples were answered */
    lg_score score_before;                /* without these examples */
    int first_before;
    int e;
    lg_error err;
};

static int32_t *rule(const struct attempt *a, int level)
{
    return (int32_t *)a->ids.data + (size_t)level * (size_t)a->x.n;
}

/* Adds the prompt of the example to the batch. */
static int prepare(struct answering *w, struct attempt *a, lg_error *err)
{
    int levels = w->c->levels, e;
    if ((e = lg__block_grow(&a->ids, (size_t)(levels * a->x.n) * sizeof(int32_t), 0, "IDs", err)))
        return e;
    int32_t *ids[LG_LEVELS] = {0};
    for (int l = 0; l < levels; l++) ids[l] = rule(a, l);
    if ((e = lg_plan_ids(&w->plan, &a->x, NULL, ids, err))) return e;
    lg_sequence prompt = {.n = a->x.answer, .levels = levels, .tokens = a->x.tokens};
    for (int l = 0; l < levels; l++) {
        prompt.ids[l] = ids[l];
        a->carried[l] = LG_ABSENT;
        for (int t = 0; t < a->x.answer; t++)
            if (ids[l][t] != LG_ABSENT) a->carried[l] = ids[l][t];
    }
    a->at = a->x.answer;
    a->done = a->first = 0;
    return lg_batch_add_levels(&w->prompts, &prompt, err);
}

/* The next token and its ID of attempt i, from what the decoder has read; counts what is right. */
static void choose(struct answering *w, int i, int n, lg_score *score)
{
    struct attempt *a = &w->a[i];
    int32_t token = lg_argmax(lg_decoder_logits(w->decoder, i), w->c->vocab);
    int right = token == a->x.tokens[a->at];
    score->right += right;
    if (!right && !a->first) a->first = a->at - a->x.answer + 1;
    for (int l = 0; l < w->c->levels; l++) {
        int predicts = w->predicted && w->plan.head[l] != LG__HEAD_GIVEN;
        int32_t expected = rule(a, l)[a->at], id = expected;
        if (predicts) {
            id = lg_plan_next_id(&w->plan, w->c, w->decoder, i, l, a->carried[l]);
            score->ids++;
            score->ids_right += id == expected;
        }
        if (id != LG_ABSENT) a->carried[l] = id;
        w->id[l * n + i] = id;
    }
    w->token[i] = token;
    a->at++;
    /* What has not stopped where the answer ends is wrong, whatever comes. */
    a->done = a->at >= a->x.n || (w->plan.shape->stop != LG_NONE && token == w->plan.shape->stop);
}

/* The first wrong token of an answer of n, from 1; 0: there is none. */
static void note_first(struct answering *w, int first, int n, lg_score *score)
{
    if (!first) return;
    score->first_in[10 * (first - 1) / n]++;
    w->first[w->first_count++] = first;
}

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sum_up_first(struct answering *w, lg_score *score)
{
    int n = w->first_count;
    if (!n) return;
    qsort(w->first, (size_t)n, sizeof *w->first, by_size);
    score->first_least = w->first[0];
    score->first_median = w->first[(n - 1) / 2];
}

static int at_limit(void *context)
{
    const struct lg__answer_limit *l = ((struct answering *)context)->limit;
    return l && ((l->stop && *l->stop) || (l->until > 0 && lg__now() >= l->until));
}

/* Answers the examples that were prepared. */
static int run(struct answering *w, lg_error *err)
{
    lg_score *score = &w->score;
    w->score_before = w->score;
    w->first_before = w->first_count;
    int n = w->n, e = lg_decoder_start(w->decoder, &w->prompts, err);
    for (int left = n; left && !e && !(w->cut = at_limit(w));) {
        for (int i = 0; i < n; i++) {
            struct attempt *a = &w->a[i];
            w->token[i] = LG_NONE;
            if (a->done) continue;
            choose(w, i, n, score);
            if (!a->done) continue;
            w->token[i] = LG_NONE;
            left--;
            score->samples++;
            score->tokens += a->x.n - a->x.answer;
            score->text += a->x.n;
            score->exact += !a->first && a->at == a->x.n;
            note_first(w, a->first, a->x.n - a->x.answer, score);
            if (w->limit && w->limit->first) w->limit->first[a->index] = a->first;
        }
        if (left) e = lg_decoder_step(w->decoder, w->token, w->id, err);
    }
    return e;
}

/* Opens the scheme; the model is one that it can be used with. */
static int open_scheme(struct answering *w, lg_error *err)
{
    lg_model_config c = *w->c;
    int e = lg_plan_open(&w->plan, w->s, w->t, err);
    if (!e) e = lg_scheme_config(w->s, w->t, &c, err);
    int differ = c.levels != w->c->levels;
    for (int l = 0; l < c.levels && w->predicted; l++)
        differ |= c.id_classes[l] != w->c->id_classes[l] || c.pointer[l] != w->c->pointer[l] ||
                  c.match[l] != w->c->match[l];
    if (e || !differ) return e;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "the model has %d levels of IDs and other ID heads than the scheme asks for (%d "
        "levels); make it with lg_scheme_config",
        w->c->levels, c.levels);
}

/* ---- Several threads ------------------------------------------------------------------------ */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory to answer; end other programs");
}

int lg__answer_beside(const lg_model_config *c, int tokens, int threads)
{
    size_t most = BESIDE / threads > FEW ? (size_t)(BESIDE / threads) : FEW;
    size_t states = 2 * (size_t)c->layers; /* keys and values, of width floats each */
    if (c->span == LG_SPAN_FULL) states += (size_t)c->layers; /* keys once more, packed */
    for (int l = 0; l < c->levels; l++) states += c->pointer[l] || c->match[l];
    /* The example, its IDs here and in the decoder, and the index by ID. */
    size_t token = states * (size_t)c->width * sizeof(float) + 64 * (size_t)(1 + c->levels);
    size_t fit = lg__answer_room / (size_t)threads / (token * (size_t)(tokens ? tokens : 1));
    return (int)(fit < 1 ? 1 : fit < most ? fit : most);
}

static int open_thread(struct answering *w, int beside, int samples, lg_error *err)
{
    w->c = lg_model_get_config(w->m);
    lg_batch_init(&w->prompts);
    int e = open_scheme(w, err);
    if (!e && !(w->first = lg__alloc((size_t)samples * sizeof *w->first))) e = no_memory(err);
    if (!e && !(w->decoder = lg_decoder_new(w->m, beside, err))) e = LG_ERROR_MEMORY;
    if (!e && w->limit) lg__decoder_stop_at(w->decoder, at_limit, w);
    return e;
}

static void close_thread(struct answering *w)
{
    free(w->first);
    for (int i = 0; i < BESIDE; i++) {
        lg_example_clear(&w->a[i].x);
        lg__block_free(&w->a[i].ids);
    }
    lg_decoder_free(w->decoder);
    lg_batch_clear(&w->prompts);
}

static void run_thread(void *context, int i, int thread)
{
    struct answering *w = (struct answering *)context + i;
    (void)thread;
    w->e = run(w, &w->err);
}

/* Makes examples from number `from` on, n or what there is room for, on the calling thread: a task need
 * not be able to on more. */
static int prepare_thread(struct answering *w, int threads, lg__answer_make *make, void *context,
                          int from, int n, lg_error *err)
{
    int e = 0;
    lg_batch_reset(&w->prompts);
    for (w->n = 0; w->n < n && !e; w->n++) {
        struct attempt *a = &w->a[w->n];
        e = make(context, a->index = from + w->n, &a->x, err);
        if (!e) e = prepare(w, a, err);
        int beside = lg__answer_beside(w->c, a->x.n, threads);
        if (n > beside) n = beside;
    }
    return e;
}

/* How many examples each thread takes next. Until some moment: one, and then as many as there is time
 * for, judged by those before; 0: for none. */
static int group_size(const struct answering *w, int threads, int beside, int done, double since)
{
    if (!w->limit || w->limit->until <= 0) return beside;
    if (!done) return 1;
    double now = lg__now(), each = (now - since) / done * threads;
    double fit = each > 0 ? (w->limit->until - now) / each : beside;
    return fit < 1 ? 0 : fit < beside ? (int)fit : beside;
}

/* Those that were answered in this round do not count. */
static void take_back(struct answering *w, int busy)
{
    for (int i = 0; i < busy; i++) {
        w[i].score = w[i].score_before;
        w[i].first_count = w[i].first_before;
    }
}

static int run_all(struct answering *w, int threads, int most, struct lg__pool *pool,
                   lg__answer_make *make, void *context, int samples, lg_error *err)
{
    double since = lg__now();
    int e = 0, cut = 0;
    for (int done = 0; done < samples && !e && !cut;) {
        int busy = 0, beside = group_size(w, threads, most, done, since);
        if (!beside) break;
        for (; busy < threads && done < samples && !e; busy++) {
            int n = samples - done < beside ? samples - done : beside;
            e = prepare_thread(&w[busy], threads, make, context, done, n, err);
            done += w[busy].n;
        }
        if (!e) lg__pool_run(pool, busy, run_thread, w);
        for (int i = 0; i < busy && !e; i++) {
            if ((e = w[i].e)) *err = w[i].err;
            cut |= w[i].cut;
        }
        if (cut) take_back(w, busy);
    }
    return e;
}

/* Puts together what the threads have counted, into the first one's. */
static void gather(struct answering *w, int threads)
{
    lg_score *all = &w->score;
    for (int i = 1; i < threads; i++) {
        const lg_score *one = &w[i].score;
        all->samples += one->samples;
        all->exact += one->exact;
        all->tokens += one->tokens;
        all->right += one->right;
        all->ids += one->ids;
        all->ids_right += one->ids_right;
        all->text += one->text;
        for (int j = 0; j < 10; j++) all->first_in[j] += one->first_in[j];
        memcpy(w->first + w->first_count, w[i].first, (size_t)w[i].first_count * sizeof *w->first);
        w->first_count += w[i].first_count;
    }
    sum_up_first(w, all);
}

int lg__answer(const lg_model *m, lg_task *t, const lg_scheme *s, lg__answer_make *make,
               void *context, int samples, int predicted, int threads,
               const struct lg__answer_limit *limit, lg_score *score, lg_error *err)
{
    lg_error own;
    if (!err) err = &own;
    *score = (lg_score){0};
    if (samples < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d samples; take at least 1", samples);
    if (threads < 1) threads = lg_cores();
    if (threads > samples) threads = samples;
    if (threads > BESIDE) threads = BESIDE;
    int e = 0, most = lg__answer_beside(lg_model_get_config(m), 1, threads);
    int beside = (samples + threads - 1) / threads;
    if (beside > most) beside = most;
    struct answering *w = lg__alloc((size_t)threads * sizeof *w);
    if (!w) return no_memory(err);
    for (int i = 0; i < threads; i++) {
        w[i] = (struct answering){.m = m, .t = t, .s = s, .predicted = predicted, .limit = limit};
        if (!e) e = open_thread(&w[i], beside, samples, err);
    }
    struct lg__pool *pool = e ? NULL : lg__pool_new(threads, err);
    if (!e && !pool) e = err->code;
    if (!e) e = run_all(w, threads, beside, pool, make, context, samples, err);
    if (!e) gather(w, threads);
    *score = w->score;
    lg__pool_free(pool);
    for (int i = 0; i < threads; i++) close_thread(&w[i]);
    free(w);
    return e;
}

struct drawing {
    lg_task *t;
    const lg_draw *d;
};

static int draw(void *context, int index, lg_example *x, lg_error *err)
{
    const struct drawing *w = context;
    lg_draw one = *w->d;
    one.index += (uint64_t)index;
    return lg_task_example(w->t, &one, x, err);
}

int lg__answer_within(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                      int samples, int predicted, int threads, const struct lg__answer_limit *limit,
                      lg_score *score, lg_error *err)
{
    struct drawing w = {t, d};
    return lg__answer(m, t, s, draw, &w, samples, predicted, threads, limit, score, err);
}

int lg_answer(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d, int samples,
              int predicted, int threads, lg_score *score, lg_error *err)
{
    return lg__answer_within(m, t, s, d, samples, predicted, threads, NULL, score, err);
}

/* ---- Teacher-forced ----------------------------------------------------------------------- */

enum { ROWS = 1 << 16 }; /* a batch is closed at this many */

/* Whether the heads of all levels say the next ID at row i of the result; counts those of each. */
static int ids_right(const lg_model_config *c, const lg_batch *b, const lg_eval_result *r, int i,
                     lg_score *score)
{
    int row = r->row[i], all = 1;
    for (int l = 0; l < c->levels; l++) {
        int32_t class = b->id_targets[l][row], point = b->point_targets[l][row];
        int n = c->id_classes[l], right;
        if (class < 0) continue;
        right = lg_argmax(r->id_logits[l] + (size_t)i * (size_t)n, n) == class &&
                (point < 0 || r->pointed_id[l][i] == point);
        score->ids++;
        score->ids_right += right;
        all &= right;
    }
    return all;
}

static void count_batch(struct answering *w, const lg_eval_result *r, lg_score *score)
{
    const lg_model_config *c = w->c;
    const lg_batch *b = &w->prompts;
    for (int s = 0, i = 0; s < b->sequences; s++) {
        int exact = 1, first = 0, start = -1;
        for (; i < r->rows && r->row[i] < b->offsets[s + 1]; i++) {
            int32_t target = b->targets[r->row[i]];
            if (target >= 0) {
                const float *logits = r->logits + (size_t)i * (size_t)c->vocab;
                int right = lg_argmax(logits, c->vocab) == target;
                score->tokens++;
                score->right += right;
                exact &= right;
                if (start < 0) start = r->row[i];
                if (!right && !first) first = r->row[i] - start + 1;
            }
            if (w->predicted) exact &= ids_right(c, b, r, i, score);
        }
        if (start >= 0) note_first(w, first, b->offsets[s + 1] - start, score);
        score->samples++;
        score->text += b->offsets[s + 1] - b->offsets[s] + 1; /* the last one is only a target */
        score->exact += exact;
    }
}

int lg__answer_taught(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                      int samples, int predicted, int threads, int *single, lg_score *score,
                      lg_error *err)
{
    const lg_model_config *c = lg_model_get_config(m);
    struct answering w = {.m = m, .t = t, .s = s, .c = c, .predicted = predicted};
    lg_draw one = *d;
    lg_example x;
    lg_eval_result r;
    *score = (lg_score){0};
    *single = 1;
    if (samples < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d samples; take at least 1", samples);
    int e = open_scheme(&w, err);
    if (!e && !(w.first = lg__alloc((size_t)samples * sizeof *w.first))) e = no_memory(err);
    lg_evaluator *evaluator = e ? NULL : lg_evaluator_new(m, threads, err);
    if (!e && !evaluator) e = LG_ERROR_MEMORY;
    lg_batch_init(&w.prompts);
    lg_example_init(&x);
    for (int done = 0; done < samples && !e;) {
        lg_batch_reset(&w.prompts);
        for (; done < samples && !e && w.prompts.rows < ROWS; done++, one.index++) {
            if ((e = lg_task_example(t, &one, &x, err))) break;
            *single &= x.n - x.answer == 1;
            e = lg_plan_add(&w.plan, &x, NULL, &w.prompts, err);
        }
        if (!e && !(e = lg_evaluator_run(evaluator, &w.prompts, &r, err)))
            count_batch(&w, &r, score);
    }
    sum_up_first(&w, score);
    free(w.first);
    lg_example_clear(&x);
    lg_batch_clear(&w.prompts);
    lg_evaluator_free(evaluator);
    return e;
}

int lg_answer_taught(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                     int samples, int predicted, int threads, lg_score *score, lg_error *err)
{
    int single;
    return lg__answer_taught(m, t, s, d, samples, predicted, threads, &single, score, err);
}
