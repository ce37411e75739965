/* eval_losses.c: the loss of a run on held-out documents, by position. Truncated: a document's first
 * tokens, read once, so that the prediction at position p has seen all p tokens before it. Sliding:
 * each prediction has seen the last `context` of them alone, as if the text began there. Documents
 * are the unit: a mean over them, and an interval of that mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/held.h"
#include "runs/cells.h"
#include "runs/store.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "base/clock.h"
#include "measure/eval.h"

enum { STREAM_PLACES = 202 };
enum { PLACES = 16 };                           /* of a bin past the context: sliding predictions */
enum { MOST_BINS = 64, MOST_LOGITS = 1 << 26 }; /* numbers that one pass may give */

/* A mean over documents, and what its interval needs. */
struct mean {
    double sum, squares;
    int n;
};

/* Positions low..high. */
struct bin {
    int low, high;
    struct mean truncated, sliding, excess;
};

struct measuring {
    struct lg__eval *e;
    struct lg__run *run;
    struct lg__held held;
    lg_evaluator *evaluator;
    lg_batch batch;
    lg_example example;
    struct lg__block losses; /* double [length + 1]: of one document, by position */
    struct bin bin[MOST_BINS];
    int bins, context, most; /* most: documents */
    lg_cell like;            /* what the cells have in common; but for the length */
    int found;               /* cells of this length that the store has */
    int told;                /* lengths that have cells */
};

/* ---- Means -------------------------------------------------------------------------------- */

static void add(struct mean *m, double value)
{
    m->sum += value;
    m->squares += value * value;
    m->n++;
}

/* The mean and 1.96 standard errors on either side; of one document there is no interval. */
static lg_text_mean result_of(const struct mean *m)
{
    double mean = m->n ? m->sum / m->n : NAN;
    double left = m->n > 1 ? fmax(0, m->squares - m->n * mean * mean) / (m->n - 1) : NAN;
    double half = 1.959963984540054 * sqrt(left / fmax(1, m->n));
    return (lg_text_mean){mean, mean - half, mean + half};
}

/* ---- Losses ------------------------------------------------------------------------------- */

static double loss_of(const float *logits, int n, int32_t target)
{
    double most = logits[0], sum = 0;
    for (int i = 1; i < n; i++) most = fmax(most, logits[i]);
    for (int i = 0; i < n; i++) sum += exp(logits[i] - most);
    return most + log(sum) - logits[target];
}

static int add_sequence(struct measuring *m, const int32_t *tokens, int n, int from, int to,
                        lg_error *err)
{
    lg_example *x = &m->example;
    int e = lg__example_fill(x, tokens, n, err);
    for (int i = 0; i < n && !e; i++) x->loss[i] = i >= from && i <= to;
    return e ? e : lg_plan_add(&m->run->plan, x, NULL, &m->batch, err);
}

static int set_length(struct measuring *m, int n, lg_error *err)
{
    if (m->run->model_config.rope_scaling != LG_ROPE_DYNAMIC) return 0;
    return lg_model_set_length(m->run->model, n, err);
}

/* loss[p] for p = 1..length: of token p, from the tokens before it. */
static int truncated(struct measuring *m, const int32_t *tokens, int length, double *loss,
                     lg_error *err)
{
    lg_eval_result r;
    int vocab = m->run->model_config.vocab, most = MOST_LOGITS / vocab,
        e = set_length(m, length, err);
    most = most < 1 ? 1 : most;
    for (int from = 1; from <= length && !e; from += most) {
        int to = from + most - 1 < length ? from + most - 1 : length;
        lg_batch_reset(&m->batch);
        e = add_sequence(m, tokens, length + 1, from, to, err);
        if (!e) e = lg_evaluator_run(m->evaluator, &m->batch, &r, err);
        for (int i = 0; i < (e ? 0 : r.rows); i++)
            loss[r.row[i] + 1] =
                loss_of(r.logits + (size_t)i * (size_t)vocab, vocab, m->batch.targets[r.row[i]]);
    }
    return e;
}

/* The i-th place of a bin: one of each of at most PLACES equal parts, drawn. */
static int place_of(const struct bin *b, int i, int count, lg_rng *r)
{
    int width = b->high - b->low + 1;
    int low = (int)((int64_t)width * i / count), high = (int)((int64_t)width * (i + 1) / count);
    return b->low + low + (int)lg_rng_below(r, (uint32_t)(high - low));
}

/* Some places of a bin that lies past the context, each with `context` tokens before it. What differs
 * there from the truncated loss is taken off the mean of all places: it varies less than a mean of
 * those places alone. */
static int sliding(struct measuring *m, const int32_t *tokens, struct bin *b, const double *loss,
                   double mean, lg_rng *rng, lg_error *err)
{
    lg_eval_result r;
    int place[PLACES], width = b->high - b->low + 1, count = width < PLACES ? width : PLACES;
    int vocab = m->run->model_config.vocab, e = set_length(m, m->context, err);
    double sum = 0, before = 0;
    lg_batch_reset(&m->batch);
    for (int i = 0; i < count && !e; i++) {
        place[i] = place_of(b, i, count, rng);
        before += loss[place[i]];
        e = add_sequence(m, tokens + place[i] - m->context, m->context + 1, m->context, m->context,
                         err);
    }
    if (!e) e = lg_evaluator_run(m->evaluator, &m->batch, &r, err);
    for (int i = 0; i < (e ? 0 : r.rows); i++)
        sum += loss_of(r.logits + (size_t)i * (size_t)vocab, vocab, m->batch.targets[r.row[i]]);
    if (e) return e;
    add(&b->sliding, mean - (before - sum) / count);
    add(&b->excess, (before - sum) / count);
    return 0;
}

/* ---- One length ----------------------------------------------------------------------------- */

/* Where the bin that begins at `low` ends: up to the context at the powers of two and the context; then the
 * same from there on. */
static int bin_end(int low, int length, int context)
{
    int power = 1;
    while (power < low) power *= 2;
    int high = power < length ? power : length;
    return low <= context && high > context ? context : high;
}

static void set_bins(struct measuring *m, int length)
{
    m->bins = 0;
    for (int low = 1; low <= length && m->bins < MOST_BINS; low = m->bin[m->bins++].high + 1)
        m->bin[m->bins] = (struct bin){.low = low, .high = bin_end(low, length, m->context)};
}

static int one_document(struct measuring *m, int64_t document, int length, lg_error *err)
{
    int32_t *tokens = lg__alloc(((size_t)length + 1) * sizeof *tokens);
    double *loss = m->losses.data;
    lg_rng r;
    int e = tokens ? lg_corpus_read(m->held.corpus, document, 0, length + 1, tokens, err)
                   : lg__fail(err, LG_ERROR_MEMORY, "no memory for a document; end other programs");
    if (!e) e = truncated(m, tokens, length, loss, err);
    lg_rng_init(&r, 0, STREAM_PLACES, (uint64_t)document); /* the same for runs of all seeds */
    for (int i = 0; i < m->bins && !e; i++) {
        struct bin *b = &m->bin[i];
        double sum = 0;
        for (int p = b->low; p <= b->high; p++) sum += loss[p];
        double mean = sum / (b->high - b->low + 1);
        add(&b->truncated, mean);
        if (b->low > m->context)
            e = sliding(m, tokens, b, loss, mean, &r, err);
        else /* all that there is before them is in the context */
            add(&b->sliding, mean), add(&b->excess, 0);
    }
    free(tokens);
    return e;
}

static void add_mean(lg_cell *cell, const char *kind, const struct mean *m)
{
    lg_text_mean r = result_of(m);
    lg__cell_add(cell, kind, m->n, r.value, r.low, r.high);
}

/* Into the store, then to whoever asked. */
static int put_cells(struct measuring *m, int length, double seconds, lg_error *err)
{
    lg_cell cells[MOST_BINS];
    struct lg__eval *v = m->e;
    for (int i = 0; i < m->bins; i++) {
        const struct bin *b = &m->bin[i];
        cells[i] = m->like;
        cells[i].length = length;
        cells[i].first = b->low;
        cells[i].last = b->high;
        cells[i].there = m->held.there;
        cells[i].seconds = i ? 0 : seconds;
        add_mean(&cells[i], "truncated", &b->truncated);
        add_mean(&cells[i], "sliding", &b->sliding);
        add_mean(&cells[i], "excess", &b->excess);
    }
    int e = v->store ? lg__store_add_cells(v->store, v->number, cells, m->bins, err) : 0;
    for (int i = 0; i < m->bins && !e; i++) lg__eval_tell(v, &cells[i]);
    return e;
}

static void tell_kept(void *context, const lg_cell *c)
{
    struct measuring *m = context;
    lg_cell cell = *c;
    m->found++;
    lg__eval_tell(m->e, &cell);
}

static int one_length(struct measuring *m, int length, lg_error *err)
{
    struct lg__eval *v = m->e;
    int e = 0;
    double since = lg__now();
    m->like.length = length;
    m->found = 0;
    if (v->store && !v->o->force)
        e = lg__store_get_cells(v->store, v->number, &m->like, m->most, tell_kept, m, err);
    m->told += m->found > 0;
    if (e || m->found) return e;
    e = lg__held_choose(&m->held, length, m->most, err);
    if (!e) e = lg__block_grow(&m->losses, ((size_t)length + 1) * sizeof(double), 0, "losses", err);
    if (!e && !m->held.count)
        lg__eval_warn(v->warning,
                      "no document has %d tokens and one more, so there is no loss at this length; "
                      "take shorter --lengths or longer texts",
                      length);
    if (e || !m->held.count) return e;
    set_bins(m, length);
    for (int i = 0; i < m->held.count && !e; i++) {
        if (lg__eval_stopped(v)) return 0;
        e = one_document(m, lg__held_at(&m->held, i), length, err);
    }
    m->told++;
    return e ? e : put_cells(m, length, lg__now() - since, err);
}

/* ---- The form --------------------------------------------------------------------------------- */

static void set_like(struct measuring *m)
{
    const char *texts = m->e->o->texts;
    m->like = (lg_cell){.step = m->run->step, .context = m->context};
    snprintf(m->like.setting, sizeof m->like.setting, "%s", texts ? texts : "");
    snprintf(m->like.data, sizeof m->like.data, "%016llx",
             (unsigned long long)lg_corpus_checksum(m->held.corpus));
}

static int measure(struct measuring *m, lg_error *err)
{
    const struct lg__config *c = &m->run->config;
    const lg_eval_options *o = m->e->o;
    const int *lengths = o->lengths ? o->lengths : c->eval_lengths.at;
    int count = o->lengths ? o->length_count : c->eval_lengths.count, e = 0;
    m->context = o->sliding ? o->sliding : c->length[1];
    m->most = o->samples ? o->samples : c->eval_samples;
    set_like(m);
    m->evaluator = lg_evaluator_new(m->run->model, o->threads, err);
    if (!m->evaluator) return LG_ERROR_MEMORY;
    for (int i = 0; i < count && !e && !lg__eval_stopped(m->e); i++) {
        if (lengths[i] < 1 || lengths[i] > 1 << 20)
            e = lg__fail(err, LG_ERROR_ARGUMENT, "a length of %d tokens; take 1..1048576",
                         lengths[i]);
        else
            e = one_length(m, lengths[i], err);
    }
    if (e || m->told || !count || lg__eval_stopped(m->e)) return e;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: of %lld held-out documents none has %d tokens and one more; take shorter "
                    "--lengths, longer texts (--text), or a larger share task.test",
                    o->folder, (long long)lg_corpus_documents(m->held.corpus, m->held.side),
                    lengths[0]);
}

static int make_losses(struct lg__eval *v, lg_error *err)
{
    struct measuring *m = lg__alloc(sizeof *m);
    if (!m) return lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluation");
    m->e = v;
    m->run = v->run;
    lg_batch_init(&m->batch);
    lg_example_init(&m->example);
    int e = lg__held_open(&m->held, v->run, v->o->folder, v->o->texts, v->o->field, err);
    if (!e && m->held.own && lg_corpus_note(m->held.own))
        lg__eval_warn(v->warning, "%s", lg_corpus_note(m->held.own));
    if (!e) e = measure(m, err);
    lg_evaluator_free(m->evaluator);
    lg__held_close(&m->held);
    lg_batch_clear(&m->batch);
    lg_example_clear(&m->example);
    lg__block_free(&m->losses);
    free(m);
    return e;
}

/* Whether there are documents for every length of the config. */
static int check_lengths(const struct lg__run *r, lg_error *err)
{
    const struct lg__config_list *lengths = &r->config.eval_lengths;
    const lg_corpus *c = lg__text_corpus(r->task);
    int64_t longest = 0, all = c ? lg_corpus_documents(c, LG_CORPUS_TEST) : 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t n = lg_corpus_length(c, lg_corpus_document(c, LG_CORPUS_TEST, i));
        if (n > longest) longest = n;
    }
    for (int i = 0; i < lengths->count; i++)
        if (lengths->at[i] >= longest)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "eval.lengths has %d, but of %lld held-out documents the longest has "
                            "%lld tokens, and one more than the length is needed; take shorter "
                            "eval.lengths, longer texts, or a larger share task.test",
                            lengths->at[i], (long long)all, (long long)longest);
    return 0;
}

/* What there is only of answers is refused. */
static int check_losses(struct lg__eval *v, lg_error *err)
{
    const lg_eval_options *o = v->o;
    const char *none = o->sparsities       ? "--sparsities"
                       : o->setting_count  ? "--vary"
                       : o->task           ? "--task"
                       : o->predicted == 1 ? "--source"
                                           : NULL;
    if (none) return lg__eval_refuse(v, none, err);
    if (o->field && !o->texts)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "--field is of the texts that --text names; name them");
    return v->strict ? check_lengths(v->run, err) : 0;
}

/* Every bin of every length. The texts need not be there. */
static int list_bins(const struct lg__config *c, const lg_task *task, int predicts, lg_cell **cells,
                     int *count, lg_error *err)
{
    int e = 0;
    (void)task;
    (void)predicts;
    for (int l = 0; l < c->eval_lengths.count; l++) {
        int length = c->eval_lengths.at[l], again = 0;
        for (int i = 0; i < l; i++) again |= c->eval_lengths.at[i] == length;
        for (int low = 1, high; low <= length && !again && !e; low = high + 1) {
            high = bin_end(low, length, c->length[1]);
            lg_cell cell = {.length = length, .first = low, .last = high, .context = c->length[1]};
            cell.value[0].samples = c->eval_samples;
            e = lg__eval_list(cells, count, &cell, err);
        }
    }
    return e;
}

const struct lg__form lg__form_losses = {"losses", check_losses, make_losses, list_bins};
