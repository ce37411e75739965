/* probe.c: how many earlier tokens a prediction depends on. A token that is left out is in the
 * input of no layer, so that no later token can have seen it; the others keep their IDs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/bench.h"
#include "runs/run.h"
#include "base/clock.h"
#include "measure/eval.h"

enum { ROWS = 1 << 15 };     /* a batch is closed at this many */
enum { AT_ONCE = 8 };        /* so many numbers of tokens are tried in one go */
enum { MOST_ADDED = 8 };     /* tokens that are chosen one after the other */
enum { STREAM_PLACES = 77 }; /* which prediction of an example is looked at */

/* What one prediction needs. */
struct need {
    int tokens;             /* before it */
    int matter;             /* of these: removing it alone changes the prediction */
    int k;                  /* as many suffice */
    int depends, necessary; /* on the context; without these k it is not the same */
    int stands;             /* not so, but these k outweigh all tokens that speak against them */
    double loss, none;      /* with all tokens, with none but those that stay */
};

/* An earlier token, how much the loss rises without it, and falls with it alone. */
struct token {
    int at;
    double influence, help;
};

struct probing {
    struct lg__run run;
    lg_probe_options o;
    lg_task *task; /* the run's own, or o.task */
    lg_plan plan;  /* of it */
    lg_evaluator *evaluator;
    lg_batch batch;
    lg_example x;
    double until; /* by lg__now; 0: whenever */
    int cut;      /* by o.stop or the time: this prediction was not finished */
    int last;     /* the token at which the prediction is made */
    /* Of the example: int32_t [levels, n], bytes [n], struct token [n], double and int [n + 1] */
    struct lg__block ids, kept, token, loss, guess;
    /* Of a sequence with tokens left out: int32_t [n], [n], [levels, n] */
    struct lg__block some, targets, some_ids;
};

static int make_room(struct probing *p, lg_error *err)
{
    size_t n = (size_t)p->x.n, levels = (size_t)p->run.model_config.levels;
    const struct {
        struct lg__block *block;
        size_t size;
    } row[] = {
        {&p->ids, n * levels * sizeof(int32_t)}, {&p->kept, n},
        {&p->token, n * sizeof(struct token)},   {&p->loss, (n + 1) * sizeof(double)},
        {&p->guess, (n + 1) * sizeof(int)},      {&p->some, n * sizeof(int32_t)},
        {&p->targets, n * sizeof(int32_t)},      {&p->some_ids, n * levels * sizeof(int32_t)}};
    int e = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row && !e; i++)
        e = lg__block_grow(row[i].block, row[i].size, 0, "a probe", err);
    return e;
}

static void close_probing(struct probing *p)
{
    struct lg__block *all[] = {&p->ids,   &p->kept, &p->token,   &p->loss,
                               &p->guess, &p->some, &p->targets, &p->some_ids};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) lg__block_free(all[i]);
    lg_evaluator_free(p->evaluator);
    lg_batch_clear(&p->batch);
    lg_example_clear(&p->x);
    if (p->task != p->run.task) lg_task_free(p->task);
    lg__run_close(&p->run);
}

/* ---- Sequences with tokens left out ------------------------------------------------------- */

/* Adds the tokens that are marked as kept; the last one is, and predicts what follows it. */
static int add_kept(struct probing *p, lg_error *err)
{
    int32_t *tokens = p->some.data, *targets = p->targets.data, *ids = p->some_ids.data;
    const unsigned char *kept = p->kept.data;
    int levels = p->run.model_config.levels, n = 0;
    for (int t = 0; t <= p->last; t++) {
        if (!kept[t]) continue;
        for (int l = 0; l < levels; l++)
            ids[l * p->x.n + n] = ((const int32_t *)p->ids.data)[l * p->x.n + t];
        targets[n] = LG_NONE;
        tokens[n++] = p->x.tokens[t];
    }
    targets[n - 1] = p->x.tokens[p->last + 1];
    lg_sequence s = {.n = n, .levels = levels, .tokens = tokens, .targets = targets};
    for (int l = 0; l < levels; l++) s.ids[l] = ids + (size_t)l * (size_t)p->x.n;
    return lg_batch_add_levels(&p->batch, &s, err);
}

/* The loss and the likeliest token of each sequence in the batch, which is then empty. */
static int read_batch(struct probing *p, double *loss, int *guess, lg_error *err)
{
    lg_eval_result r;
    int vocab = p->run.model_config.vocab, target = p->x.tokens[p->last + 1];
    int e = p->batch.sequences ? lg_evaluator_run(p->evaluator, &p->batch, &r, err) : 0;
    for (int s = 0; s < p->batch.sequences && !e; s++) {
        const float *logits = r.logits + (size_t)s * (size_t)vocab;
        double sum = 0;
        guess[s] = lg_argmax(logits, vocab);
        for (int i = 0; i < vocab; i++) sum += exp((double)logits[i] - (double)logits[guess[s]]);
        loss[s] = log(sum) - ((double)logits[target] - (double)logits[guess[s]]);
    }
    lg_batch_reset(&p->batch);
    p->cut |= (p->o.stop && *p->o.stop) || (p->until > 0 && lg__now() >= p->until);
    return e;
}

/* Tokens that always stay: the last keep_last, and the first if that is asked for. */
static int stays(const struct probing *p, int t)
{
    return t > p->last - p->o.keep_last || (t == 0 && p->o.keep_first);
}

/* ---- One prediction ------------------------------------------------------------------------- */

static int by_influence(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    if (x->influence != y->influence) return x->influence < y->influence ? 1 : -1;
    return x->at < y->at ? 1 : -1; /* the later one first */
}

/* The loss with all tokens, then what it becomes without each: fills the tokens, the most
 * influential first. */
static int leave_out_each(struct probing *p, struct need *need, int *count, lg_error *err)
{
    unsigned char *kept = p->kept.data;
    struct token *token = p->token.data;
    double *loss = p->loss.data;
    int *guess = p->guess.data, n = 0, read = 0, e;
    memset(kept, 1, (size_t)p->last + 1);
    e = add_kept(p, err);
    for (int t = 0; t <= p->last && !e && !p->cut; t++) {
        if (stays(p, t)) continue;
        token[n++].at = t;
        kept[t] = 0;
        e = add_kept(p, err);
        kept[t] = 1;
        if (e || p->batch.rows < ROWS) continue;
        int ready = p->batch.sequences;
        e = read_batch(p, loss + read, guess + read, err);
        read += ready;
    }
    if (!e && !p->cut) e = read_batch(p, loss + read, guess + read, err);
    if (e || p->cut) return e;
    need->loss = loss[0];
    for (int i = 0; i < n; i++) {
        token[i].influence = loss[i + 1] - loss[0];
        need->matter += token[i].influence >= p->o.epsilon || guess[i + 1] != guess[0];
    }
    qsort(token, (size_t)n, sizeof *token, by_influence);
    *count = n;
    return 0;
}

static void keep_none(struct probing *p)
{
    unsigned char *kept = p->kept.data;
    for (int t = 0; t <= p->last; t++) kept[t] = (unsigned char)stays(p, t);
}

/* The least k with which the k most influential tokens, and those that stay, give the loss of all
 * up to epsilon; all of them do. */
static int find_k(struct probing *p, struct need *need, int count, lg_error *err)
{
    unsigned char *kept = p->kept.data;
    const struct token *token = p->token.data;
    double loss[AT_ONCE];
    int guess[AT_ONCE], e = 0;
    need->k = count;
    keep_none(p);
    for (int k = 0; k < count && !e && !p->cut; k += AT_ONCE) {
        int n = count - k < AT_ONCE ? count - k : AT_ONCE;
        for (int i = 0; i < n && !e; i++) {
            if (k + i) kept[token[k + i - 1].at] = 1;
            e = add_kept(p, err);
        }
        if (!e) e = read_batch(p, loss, guess, err);
        if (!e && k == 0) {
            need->none = loss[0];
            need->depends = loss[0] - need->loss >= p->o.least;
        }
        for (int i = 0; i < n && !e; i++)
            if (loss[i] <= need->loss + p->o.epsilon) {
                need->k = k + i;
                return 0;
            }
    }
    return e;
}

/* The loss with each of token[from..count-1] beside those that are kept now. */
static int add_each(struct probing *p, int from, int count, lg_error *err)
{
    unsigned char *kept = p->kept.data;
    const struct token *token = p->token.data;
    int e = 0;
    for (int i = from, read = from; i < count && !e && !p->cut; i++) {
        unsigned char was = kept[token[i].at];
        kept[token[i].at] = 1;
        e = add_kept(p, err);
        kept[token[i].at] = was;
        if (e || (p->batch.rows < ROWS && i + 1 < count)) continue;
        e = read_batch(p, (double *)p->loss.data + read, (int *)p->guess.data + read, err);
        read = i + 1;
    }
    return e;
}

/* Tokens that stand in for each other have no influence one by one. So they are also chosen by what
 * they add to those chosen before, which are then the first of token[]; fewer of these count. */
static int choose_added(struct probing *p, struct need *need, int count, lg_error *err)
{
    const double *loss = p->loss.data;
    struct token *token = p->token.data;
    int most = count < MOST_ADDED ? count : MOST_ADDED, e = 0;
    keep_none(p);
    for (int k = 0; (k < most && k + 1 < need->k) || !k; k++) {
        if ((e = add_each(p, k, count, err)) || p->cut) return e;
        int best = k;
        for (int i = k; i < count; i++) {
            if (!k) token[i].help = need->none - loss[i];
            if (loss[i] < loss[best]) best = i;
        }
        if (need->k < 2) return 0; /* it was to see which of them help */
        struct token was = token[k];
        token[k] = token[best];
        token[best] = was;
        ((unsigned char *)p->kept.data)[token[k].at] = 1;
        if (loss[best] <= need->loss + p->o.epsilon) need->k = k + 1;
    }
    return 0;
}

/* Whether as few tokens outweigh all that speak against them: those that do not help alone are kept, and
 * of the others the one that adds most, up to k of them and two at least. */
static int outweigh(struct probing *p, struct need *need, int count, lg_error *err)
{
    unsigned char *kept = p->kept.data;
    struct token *token = p->token.data;
    const double *loss = p->loss.data;
    int helpers = 0, most = need->k > 2 ? need->k : 2, e = 0;
    keep_none(p);
    for (int i = 0; i < count; i++) {
        struct token was = token[i];
        if (was.help < p->o.epsilon) {
            kept[was.at] = 1;
            continue;
        }
        token[i] = token[helpers]; /* those that help come first */
        token[helpers++] = was;
    }
    for (int k = 0; k < most && k < helpers && !need->stands; k++) {
        int best = 0;
        if ((e = add_each(p, 0, helpers, err)) || p->cut) return e;
        for (int i = 0; i < helpers; i++)
            if (loss[i] < loss[best]) best = i;
        kept[token[best].at] = 1;
        need->stands = loss[best] <= need->loss + p->o.epsilon;
    }
    return 0;
}

/* Whether these k are missed. If not, others stand in for them: where these say the same, few outweigh
 * all that speak against them, and where many decide together, they do not. */
static int leave_out_k(struct probing *p, struct need *need, int count, lg_error *err)
{
    unsigned char *kept = p->kept.data;
    const struct token *token = p->token.data;
    double loss;
    int guess, e;
    memset(kept, 1, (size_t)p->last + 1);
    for (int i = 0; i < need->k; i++) kept[token[i].at] = 0;
    if ((e = add_kept(p, err)) || (e = read_batch(p, &loss, &guess, err))) return e;
    need->necessary = loss - need->loss >= p->o.epsilon;
    return need->necessary || !need->depends ? 0 : outweigh(p, need, count, err);
}

/* Draws the example and which of its predictions is looked at. */
static int draw(struct probing *p, int index, lg_error *err)
{
    const struct lg__config *c = &p->run.config;
    lg_draw d = {.seed = (uint64_t)c->seed, .stream = LG__STREAM_TEST, .index = (uint64_t)index};
    lg_rng r;
    int32_t *ids[LG_LEVELS] = {0};
    int wanted = 0, e;
    d.length_lo = p->o.length[0];
    d.length_hi = p->o.length[1];
    if (p->task == p->run.task) d.side = lg__run_test_side(c, p->task, d.length_lo, d.length_hi);
    d.sparsity_lo = d.sparsity_hi = p->o.sparsity;
    if ((e = lg_task_example(p->task, &d, &p->x, err)) || (e = make_room(p, err))) return e;
    for (int l = 0; l < p->run.model_config.levels; l++)
        ids[l] = (int32_t *)p->ids.data + (size_t)l * (size_t)p->x.n;
    if ((e = lg_plan_ids(&p->plan, &p->x, NULL, ids, err))) return e;
    for (int t = 1; t < p->x.n; t++) wanted += p->x.loss[t];
    lg_rng_init(&r, d.seed, STREAM_PLACES, d.index);
    int chosen = (int)lg_rng_below(&r, wanted ? (uint32_t)wanted : 1);
    for (p->last = 0; p->last < p->x.n - 2; p->last++)
        if (p->x.loss[p->last + 1] && chosen-- == 0) break;
    if (p->run.model_config.rope_scaling == LG_ROPE_DYNAMIC)
        e = lg_model_set_length(p->run.model, p->x.n, err);
    return e;
}

static int probe_one(struct probing *p, int index, struct need *need, lg_error *err)
{
    int count = 0, e = draw(p, index, err);
    *need = (struct need){.tokens = p->last};
    if (!e) e = leave_out_each(p, need, &count, err);
    if (!e && !p->cut) e = find_k(p, need, count, err);
    if (!e && !p->cut && need->depends) e = choose_added(p, need, count, err);
    if (!e && !p->cut) e = leave_out_k(p, need, count, err);
    return e;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The value under which a share of the n lies; they are sorted by it. */
static int quantile(int *values, int n, double share)
{
    if (!n) return 0;
    qsort(values, (size_t)n, sizeof *values, by_size);
    int at = (int)ceil(share * n) - 1;
    return values[at < 0 ? 0 : at];
}

static void sum_up(const struct need *need, int n, int *values, lg_probe_result *r)
{
    double loss = 0;
    int depends = 0, necessary = 0, stands = 0;
    *r = (lg_probe_result){.predictions = n};
    for (int i = 0; i < n; i++) {
        loss += need[i].loss;
        necessary += need[i].depends && need[i].necessary;
        stands += need[i].depends && need[i].stands;
    }
    r->loss = loss / n;
    for (int i = 0; i < n; i++)
        if (need[i].depends) values[depends++] = need[i].tokens;
    r->dependent = depends;
    r->necessary = depends ? (double)necessary / depends : 0;
    r->stands = depends ? (double)stands / depends : 0;
    r->tokens_median = quantile(values, depends, 0.5);
    depends = 0;
    for (int i = 0; i < n; i++)
        if (need[i].depends) values[depends++] = need[i].matter;
    r->matter_median = quantile(values, depends, 0.5);
    r->matter_90 = quantile(values, depends, 0.9);
    depends = 0;
    for (int i = 0; i < n; i++)
        if (need[i].depends) values[depends++] = need[i].k;
    r->k_median = quantile(values, depends, 0.5);
    r->k_90 = quantile(values, depends, 0.9);
}

lg_probe_options lg_probe_options_default(void)
{
    return (lg_probe_options){
        .predictions = 100, .keep_last = 4, .keep_first = 1, .epsilon = 0.1, .least = 0.5};
}

static int check(struct probing *p, lg_error *err)
{
    const struct lg__config *c = &p->run.config;
    lg_probe_options *o = &p->o;
    if (!o->length[0] && !o->length[1]) o->length[0] = o->length[1] = c->length[1];
    if (o->predictions < 1 || o->keep_last < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%d predictions with the last %d tokens kept; take 1 or more of each",
                        o->predictions, o->keep_last);
    p->task = p->run.task;
    p->plan = p->run.plan;
    if (!o->task) return 0;
    int e = lg__run_other_task(&p->run, o->task, NULL, &p->task, err);
    return e ? e : lg_plan_open(&p->plan, &p->run.scheme, p->task, err);
}

int lg_probe(const lg_probe_options *o, lg_probe_result *result, lg_error *err)
{
    lg_error own;
    struct probing p = {.o = *o};
    struct need *need = NULL;
    int *values = NULL;
    if (!err) err = &own;
    *result = (lg_probe_result){0};
    lg_batch_init(&p.batch);
    lg_example_init(&p.x);
    if (o->seconds > 0) p.until = lg__now() + o->seconds;
    int e = lg__run_open_folder(&p.run, o->folder, &o->access, NULL, err);
    if (!e) e = check(&p, err);
    if (!e && !(p.evaluator = lg_evaluator_new(p.run.model, o->threads, err))) e = LG_ERROR_MEMORY;
    if (!e) {
        need = lg__alloc((size_t)o->predictions * sizeof *need);
        values = lg__alloc((size_t)o->predictions * sizeof *values);
        if (!need || !values) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a probe");
    }
    int done = 0;
    while (done < o->predictions && !e && !p.cut) {
        e = probe_one(&p, done, &need[done], err);
        done += !p.cut;
    }
    if (!e && done) sum_up(need, done, values, result);
    free(need);
    free(values);
    close_probing(&p);
    return e;
}
