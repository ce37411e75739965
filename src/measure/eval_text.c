/* eval_text.c: the loss of a run on held-out documents, by position. Truncated: a document's first
 * tokens, read once, so that the prediction at position p has seen all p tokens before it. Sliding:
 * each prediction has seen the last `context` of them alone, as if the text began there. Documents
 * are the unit: a mean over them, and an interval of that mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/bench.h"
#include "measure/held.h"
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
    const lg_text_eval_options *o;
    struct lg__run *run;
    lg_error *warning; /* or NULL */
    lg_store *store;   /* or NULL */
    int64_t number;    /* of the run in it */
    struct lg__held held;
    lg_evaluator *evaluator;
    lg_batch batch;
    lg_example example;
    struct lg__block losses; /* double [length + 1]: of one document, by position */
    struct bin bin[MOST_BINS];
    int bins, context, most; /* most: documents */
    lg_text_row like;        /* what the rows have in common; but for the length */
    int told;
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
    return e ? e : lg_scheme_add(&m->run->scheme, m->run->task, x, NULL, &m->batch, err);
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

/* Up to the context the powers of two and the context; then the same from there on. */
int lg__text_bin_end(int low, int length, int context)
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
        m->bin[m->bins] =
            (struct bin){.low = low, .high = lg__text_bin_end(low, length, m->context)};
}

static int one_document(struct measuring *m, int64_t document, int length, lg_error *err)
{
    int32_t *tokens = malloc(((size_t)length + 1) * sizeof *tokens);
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

/* Into the store, then to whoever asked. */
static int put_rows(struct measuring *m, int length, double seconds, lg_error *err)
{
    lg_text_row rows[MOST_BINS];
    for (int i = 0; i < m->bins; i++) {
        const struct bin *b = &m->bin[i];
        lg_text_row *row = &rows[i];
        *row = m->like;
        row->length = length;
        row->low = b->low;
        row->high = b->high;
        row->documents = m->held.count;
        row->there = m->held.there;
        row->truncated = result_of(&b->truncated);
        row->sliding = result_of(&b->sliding);
        row->excess = result_of(&b->excess);
        row->seconds = i ? 0 : seconds;
    }
    int e = m->store ? lg__store_add_losses(m->store, m->number, rows, m->bins, seconds, err) : 0;
    for (int i = 0; i < m->bins && !e && m->o->callback; i++)
        m->o->callback(m->o->callback_context, &rows[i]);
    return e;
}

/* Beside that older weights are used, which was said before. */
static void warn(lg_error *warning, const char *text)
{
    if (!warning) return;
    size_t n = warning->code == LG_ERROR_SYSTEM ? strlen(warning->text) : 0;
    snprintf(warning->text + n, sizeof warning->text - n, "%s%s", n ? "; " : "", text);
}

static void tell_kept(void *context, const lg_text_row *r)
{
    struct measuring *m = context;
    m->told++;
    if (m->o->callback) m->o->callback(m->o->callback_context, r);
}

static int one_length(struct measuring *m, int length, lg_error *err)
{
    lg_error why;
    int before = m->told, e = 0;
    double since = lg__now();
    m->like.length = length;
    if (m->store && !m->o->force)
        e = lg__store_get_losses(m->store, m->number, &m->like, m->most, tell_kept, m, err);
    if (e || m->told > before) return e;
    e = lg__held_choose(&m->held, length, m->most, err);
    if (!e) e = lg__block_grow(&m->losses, ((size_t)length + 1) * sizeof(double), 0, "losses", err);
    if (!e && !m->held.count) {
        lg__fail(&why, 0,
                 "no document has %d tokens and one more, so there is no loss at this length; take "
                 "shorter --lengths or longer texts",
                 length);
        warn(m->warning, why.text);
    }
    if (e || !m->held.count) return e;
    set_bins(m, length);
    for (int i = 0; i < m->held.count && !e; i++) {
        if (m->o->stop && *m->o->stop) return 0;
        e = one_document(m, lg__held_at(&m->held, i), length, err);
    }
    m->told++;
    return e ? e : put_rows(m, length, lg__now() - since, err);
}

/* ---- The call --------------------------------------------------------------------------------- */

static void set_like(struct measuring *m)
{
    const struct lg__config *c = &m->run->config;
    lg_text_row *like = &m->like;
    like->step = m->run->step;
    like->context = m->context;
    like->trained_least = c->length[0];
    like->trained_length = c->length[1];
    snprintf(like->texts, sizeof like->texts, "%s", m->o->texts ? m->o->texts : "");
    snprintf(like->data, sizeof like->data, "%016llx",
             (unsigned long long)lg_corpus_checksum(m->held.corpus));
}

static int measure(struct measuring *m, lg_error *err)
{
    const struct lg__config *c = &m->run->config;
    const int *lengths = m->o->lengths ? m->o->lengths : c->eval_lengths.at;
    int count = m->o->lengths ? m->o->length_count : c->eval_lengths.count, e = 0;
    m->context = m->o->context ? m->o->context : c->length[1];
    m->most = m->o->documents ? m->o->documents : c->eval_samples;
    set_like(m);
    m->evaluator = lg_evaluator_new(m->run->model, m->o->threads, err);
    if (!m->evaluator) return LG_ERROR_MEMORY;
    for (int i = 0; i < count && !e && !(m->o->stop && *m->o->stop); i++) {
        if (lengths[i] < 1 || lengths[i] > 1 << 20)
            e = lg__fail(err, LG_ERROR_ARGUMENT, "a length of %d tokens; take 1..1048576",
                         lengths[i]);
        else
            e = one_length(m, lengths[i], err);
    }
    if (e || m->told || !count || (m->o->stop && *m->o->stop)) return e;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: of %lld held-out documents none has %d tokens and one more; take shorter "
                    "--lengths, longer texts (--text), or a larger share task.test",
                    m->o->folder, (long long)lg_corpus_documents(m->held.corpus, m->held.side),
                    lengths[0]);
}

int lg__run_losses(struct lg__run *r, const lg_text_eval_options *o, lg_store *s, int64_t number,
                   lg_error *warning, lg_error *err)
{
    struct measuring *m = calloc(1, sizeof *m);
    if (!m) return lg__fail(err, LG_ERROR_MEMORY, "no memory for an evaluation");
    m->o = o;
    m->run = r;
    m->warning = warning;
    m->store = s;
    m->number = number;
    lg_batch_init(&m->batch);
    lg_example_init(&m->example);
    int e = lg__held_open(&m->held, r, o->folder, o->texts, o->field, err);
    if (!e && m->held.own && lg_corpus_note(m->held.own))
        warn(warning, lg_corpus_note(m->held.own));
    if (!e) e = measure(m, err);
    if (r->model_config.rope_scaling == LG_ROPE_DYNAMIC) { /* as it is trained */
        int back = lg_model_set_length(r->model, r->model_config.rope_length, e ? NULL : err);
        if (!e) e = back;
    }
    lg_evaluator_free(m->evaluator);
    lg__held_close(&m->held);
    lg_batch_clear(&m->batch);
    lg_example_clear(&m->example);
    lg__block_free(&m->losses);
    free(m);
    return e;
}

int lg__run_check_losses(const struct lg__run *r, lg_error *err)
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

int lg_run_eval_text(const lg_text_eval_options *o, lg_error *warning, lg_error *err)
{
    lg_error own;
    struct lg__run r = {0};
    lg_store *s = NULL;
    int64_t number = 0;
    if (!err) err = &own;
    int e = lg__run_open_folder(&r, o->folder, &o->access, warning, err);
    if (!e && !lg__is_text(r.task))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is a run of task %s, which has answers; evaluate those (lg_run_eval)",
                     o->folder, r.config.task);
    if (!e && o->store && !(s = lg_store_open(o->store, 1, err))) e = err->code;
    if (!e) e = lg__run_register(&r, o->folder, s, 0, &number, err);
    if (!e) e = lg__run_losses(&r, o, s, number, warning, err);
    lg_store_close(s);
    lg__run_close(&r);
    return e;
}
