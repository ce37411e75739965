/* probe_run.c: the probe over the documents of a run of texts, or the examples of another task: which
 * predictions are looked at, and what a run that was trained on shorter texts makes of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/held.h"
#include "measure/influence.h"
#include "measure/probe_begun.h"
#include "measure/probe_sum.h"
#include "runs/cells.h"
#include "runs/store.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "text/text.h"
#include "measure/eval.h"

enum { ROWS = 1 << 14 };      /* a batch is closed at this many */
enum { STREAM_CHOSEN = 203 }; /* which predictions of a document are looked at */

/* The run that was trained on shorter texts. */
struct against {
    struct lg__run run;
    lg_evaluator *evaluator;
    lg_batch batch;
    lg_example x;
    struct lg__block losses; /* float [2, predictions]: with all tokens, with the last ones */
    int context;
};

struct probing {
    lg_run_probe_options o;
    struct lg__run run;
    lg_task *task; /* the run's own, or o.task */
    lg_plan plan;  /* of it */
    int text;
    struct lg__held held;
    struct lg__influence influence;
    struct lg__probe_sum sum;
    struct against against;
    struct lg__begun begun;
    lg_example x;
    struct lg__block ids[LG_LEVELS]; /* int32_t [n] */
    int least;                       /* the shortest examples; the longest are o.length */
    int index, documents;            /* the document that is read, of how many */
};

lg_run_probe_options lg_run_probe_options_default(void)
{
    return (lg_run_probe_options){
        .keep_last = 4, .keep_first = 1, .most_k = 32, .epsilon = 0.1, .least = 0.5};
}

/* ---- The other run -------------------------------------------------------------------------- */

static int set_length(struct lg__run *r, int n, lg_error *err)
{
    if (r->model_config.rope_scaling != LG_ROPE_DYNAMIC) return 0;
    return lg_model_set_length(r->model, n, err);
}

/* What dynamic scaling goes by, as in eval: of a text the tokens that are read, of an example all. */
static int tokens_of(const struct probing *p) { return p->text ? p->x.n - 1 : p->x.n; }

/* Why its losses could not be held against the run's. */
static int check_against(const struct probing *p, lg_error *err)
{
    const struct lg__run *a = &p->run, *b = &p->against.run;
    const char *one = p->o.folder, *other = p->o.against;
    if (!lg__text_tokenizer(b->task))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a run of task %s; take one of the task text (--against)", other,
                        b->config.task);
    if (strcmp(a->id, b->id) == 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is the run that is probed itself; k* and the excess must be of "
                        "different models (--against)",
                        other);
    if (lg_tokenizer_get_info(lg__text_tokenizer(a->task)).checksum !=
            lg_tokenizer_get_info(lg__text_tokenizer(b->task)).checksum ||
        a->model_config.vocab != b->model_config.vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s and %s have different tokenizers or vocabularies (%d and %d), so that "
                        "their predictions cannot be compared; take a run with the same ones "
                        "(--against)",
                        one, other, a->model_config.vocab, b->model_config.vocab);
    if (b->config.length[1] < p->o.length) return 0;
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        "%s was trained on texts of %d tokens, and nothing of %d lies past them; take a "
        "greater --length, or a run that was trained on shorter ones (--against)",
        other, b->config.length[1], p->o.length);
}

static int open_against(struct probing *p, lg_error *warning, lg_error *err)
{
    struct against *a = &p->against;
    if (!p->o.against) return 0;
    if (!p->text)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a run of task %s; only runs of the task text are held against each "
                        "other (--against)",
                        p->o.folder, p->run.config.task);
    lg_error own = {0};
    int e = lg__run_open_folder(&a->run, p->o.against, &p->o.access, &own, err);
    if (!e && warning && !warning->text[0]) *warning = own;
    if (!e) e = check_against(p, err);
    if (e) return e;
    a->context = a->run.config.length[1];
    a->evaluator = lg_evaluator_new(a->run.model, p->o.threads, err);
    return a->evaluator ? 0 : LG_ERROR_MEMORY;
}

static int read_losses(struct against *a, float *to, int *done, lg_error *err)
{
    lg_eval_losses r;
    int e = lg_evaluator_losses(a->evaluator, &a->batch, NULL, &r, err);
    for (int i = 0; i < r.rows && !e; i++) to[(*done)++] = r.loss[i];
    lg_batch_reset(&a->batch);
    return e;
}

/* Its losses on the predictions that were looked at, with all tokens and with the last ones alone, as
 * if the text began there. */
static int read_against(struct probing *p, lg_error *err)
{
    struct against *a = &p->against;
    const struct lg__need *need = p->influence.need;
    int count = p->influence.count, C = a->context, done = 0;
    float *loss = a->losses.data;
    int e = set_length(&a->run, tokens_of(p), err);
    if (!e) e = lg__example_fill(&a->x, p->x.tokens, p->x.n, err);
    if (e) return e;
    memcpy(a->x.loss, p->x.loss, (size_t)p->x.n);
    lg_batch_reset(&a->batch);
    e = lg_plan_add(&a->run.plan, &a->x, NULL, &a->batch, err);
    if (!e) e = read_losses(a, loss, &done, err);
    if (!e) e = set_length(&a->run, C, err);
    for (int i = 0; i < count && !e; i++) {
        e = lg__example_fill(&a->x, p->x.tokens + need[i].at - C, C + 1, err);
        if (e) break;
        memset(a->x.loss, 0, (size_t)C);
        e = lg_plan_add(&a->run.plan, &a->x, NULL, &a->batch, err);
        if (!e && (a->batch.rows >= ROWS || i == count - 1)) e = read_losses(a, loss, &done, err);
    }
    return e;
}

/* ---- One document --------------------------------------------------------------------------- */

/* How many predictions of this one are looked at, of `there`. */
static int quota(const struct probing *p, int there)
{
    if (!p->o.predictions) return there;
    int64_t all = p->o.predictions, i = p->index, n = p->documents;
    int64_t own = all * (i + 1) / n - all * i / n;
    return own < there ? (int)own : there;
}

/* Of the predictions in x.loss, those past `from` tokens, and one of each of so many equal parts. */
static void choose(struct probing *p, int64_t document, int from)
{
    lg_rng r;
    int there = 0, seen = 0, part = 0, pick;
    for (int t = 0; t < p->x.n; t++) {
        p->x.loss[t] = p->x.loss[t] && t > from;
        there += p->x.loss[t];
    }
    int parts = quota(p, there);
    if (parts == there) return;
    lg_rng_init(&r, (uint64_t)p->run.config.seed, STREAM_CHOSEN, (uint64_t)document);
    pick = -1;
    for (int t = 0; t < p->x.n; t++) {
        if (!p->x.loss[t]) continue;
        int low = parts ? (int)((int64_t)there * part / parts) : there;
        int high = parts ? (int)((int64_t)there * (part + 1) / parts) : there;
        if (seen == low && high > low) pick = low + (int)lg_rng_below(&r, (uint32_t)(high - low));
        p->x.loss[t] = seen == pick;
        if (++seen == high) part++;
    }
}

static lg_draw draw_of(const struct probing *p)
{
    const int *sparsity = p->run.config.sparsity;
    int own = p->task == p->run.task;
    return (lg_draw){.seed = (uint64_t)p->run.config.seed,
                     .stream = LG__STREAM_TEST,
                     .index = (uint64_t)p->index,
                     .length_lo = p->least,
                     .length_hi = p->o.length,
                     .side = own ? lg__run_test_side(&p->run.config, p->task, p->least, p->o.length)
                                 : LG_SIDE_ANY,
                     .sparsity_lo = own ? sparsity[0] : 0,
                     .sparsity_hi = own ? sparsity[1] : 0};
}

static int make_example(struct probing *p, int64_t *document, lg_error *err)
{
    int e;
    if (p->text) {
        *document = lg__held_at(&p->held, p->index);
        e = lg__example_room(&p->x, p->o.length + 1, err);
        if (!e) e = lg_corpus_read(p->held.corpus, *document, 0, p->o.length + 1, p->x.tokens, err);
        return e ? e : lg__example_fill(&p->x, p->x.tokens, p->o.length + 1, err);
    }
    *document = p->index;
    lg_draw d = draw_of(p);
    return lg_task_example(p->task, &d, &p->x, err);
}

/* The passage with the bytes of its tokens. */
static int tell_passage(struct probing *p, int64_t document, lg_error *err)
{
    size_t n = (size_t)p->x.n;
    lg_probe_passage passage = {.document = document,
                                .n = p->x.n,
                                .tokens = p->x.tokens,
                                .words = lg_task_get_shape(p->task)->words};
    const char **piece = p->text ? lg__alloc(n * sizeof *piece) : NULL;
    size_t *size = p->text ? lg__alloc(n * sizeof *size) : NULL;
    int e = p->text && (!piece || !size)
                ? lg__fail(err, LG_ERROR_MEMORY, "no memory for a passage; end other programs")
                : 0;
    for (size_t i = 0; i < n && p->text && !e; i++)
        piece[i] = lg_tokenizer_piece(lg__text_tokenizer(p->task), p->x.tokens[i], &size[i]);
    passage.piece = piece;
    passage.size = size;
    if (!e) p->o.passage(p->o.context, &passage);
    free(piece);
    free(size);
    return e;
}

static int tell(struct probing *p, int64_t document, lg_error *err)
{
    const struct lg__influence *f = &p->influence;
    const float *loss = p->against.losses.data;
    int e = p->o.passage ? tell_passage(p, document, err) : 0;
    for (int i = 0; i < f->count && !e; i++) {
        const struct lg__need *need = &f->need[i];
        lg_probe_row row = {.document = document,
                            .position = need->at,
                            .token = p->x.tokens[need->at],
                            .loss = (double)need->loss,
                            .loss_0 = (double)need->loss_0,
                            .depends = need->depends,
                            .k = need->k,
                            .sources = need->k < need->sources ? need->k : need->sources,
                            .source = need->source,
                            .influence = need->influence,
                            .curve = need->curve,
                            .against = p->o.against ? (double)loss[i] : NAN,
                            .against_short = p->o.against ? (double)loss[f->count + i] : NAN};
        e = lg__probe_sum_add(&p->sum, p->index, &row, err);
        if (!e && p->o.row) p->o.row(p->o.context, &row);
    }
    return e;
}

/* What is found of a document, if it was not found before. */
static int look(struct probing *p, int64_t document, const struct lg__passage *passage,
                lg_error *err)
{
    struct lg__influence *f = &p->influence;
    struct lg__block *losses = &p->against.losses;
    int got = 0, e = lg__influence_list(f, passage, err);
    if (!e) e = lg__block_grow(losses, 2 * (size_t)f->count * sizeof(float), 0, "losses", err);
    float *against = e || !p->o.against ? NULL : losses->data;
    uint64_t sum = lg__hash(p->x.tokens, (size_t)p->x.n * sizeof *p->x.tokens, (uint64_t)document);
    if (!e) e = lg__begun_take(&p->begun, sum, f, against, &got, err);
    if (!e && got) return tell(p, document, err);
    if (!e) e = set_length(&p->run, tokens_of(p), err);
    if (!e) e = lg__influence_run(f, passage, err);
    if (!e && against && f->count) e = read_against(p, err);
    if (!e) e = lg__begun_put(&p->begun, sum, f, against, err);
    return e ? e : tell(p, document, err);
}

static int one_document(struct probing *p, lg_error *err)
{
    int64_t document;
    int32_t *ids[LG_LEVELS] = {0};
    int e = make_example(p, &document, err);
    if (e) return e;
    choose(p, document, p->against.context);
    struct lg__passage passage = {.n = p->x.n, .tokens = p->x.tokens, .wanted = p->x.loss};
    for (int l = 0; l < p->run.model_config.levels && !e; l++) {
        e = lg__block_grow(&p->ids[l], (size_t)p->x.n * sizeof(int32_t), 0, "IDs", err);
        passage.ids[l] = ids[l] = p->ids[l].data;
    }
    if (!e) e = lg_plan_ids(&p->plan, &p->x, NULL, ids, err);
    return e ? e : look(p, document, &passage, err);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void progress(void *context, double done)
{
    const struct probing *p = context;
    if (p->o.progress) p->o.progress(p->o.context, (p->index + done) / p->documents);
}

/* The length where none is named: the longest of training; of own data all that there are. */
static void set_lengths(struct probing *p)
{
    const lg_task_shape *s = lg_task_get_shape(p->task);
    int own = !p->text && s->info->own && !p->o.length;
    if (!p->o.length) p->o.length = own ? s->length_most : p->run.config.length[1];
    p->least = own ? s->length_least : p->o.length;
}

/* The task of the examples, where it is not the run's own. */
static int open_task(struct probing *p, lg_error *err)
{
    const struct lg__config *c = &p->run.config;
    p->task = p->run.task;
    p->plan = p->run.plan;
    if (p->o.texts && !p->text)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a run of task %s, which is not probed on texts (--text); name "
                        "examples with --task jsonl:FILE",
                        p->o.folder, c->task);
    if (!p->o.task) return 0;
    if (p->text)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a run of the task text; name other texts with --text, not --task",
                        p->o.folder);
    int e = lg__run_other_task(&p->run, p->o.task, NULL, &p->task, err);
    return e ? e : lg_plan_open(&p->plan, &p->run.scheme, p->task, err);
}

/* No more than there are predictions to look at: one of each at least; nor lines of a file, which are
 * read once each. */
static int choose_documents(struct probing *p, lg_error *err)
{
    int most = p->o.documents ? p->o.documents : p->run.config.eval_samples;
    if (p->o.predictions && p->o.predictions < most) most = p->o.predictions;
    p->documents = most;
    if (!p->text) {
        lg_draw d = draw_of(p);
        int there = lg__task_count(p->task, &d);
        if (there && there < most) p->documents = there;
        return 0;
    }
    int e = lg__held_open(&p->held, &p->run, p->o.folder, p->o.texts, p->o.field, err);
    if (!e) e = lg__held_choose(&p->held, p->o.length, most, err);
    if (e) return e;
    p->documents = p->held.count;
    if (p->documents) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: of %lld documents none has %d tokens and one more; take a shorter "
                    "--length or longer texts (--text)",
                    p->o.folder, (long long)lg_corpus_documents(p->held.corpus, p->held.side),
                    p->o.length);
}

/* Everything that decides what is found of a document, but its tokens. */
static int open_begun(struct probing *p, lg_error *err)
{
    const lg_run_probe_options *o = &p->o;
    const struct lg__run *r[] = {&p->run, &p->against.run};
    char text[1000], kernels[LG__RUN_KERNELS];
    if (!o->begun) return 0;
    lg__run_kernels(p->run.model, LG_PRECISION_FP32, kernels);
    uint64_t sum = 0;
    for (int i = 0; i < (o->against ? 2 : 1); i++) {
        snprintf(text, sizeof text, "%s %lld", r[i]->id, (long long)r[i]->step);
        sum = lg__hash(text, strlen(text), sum);
    }
    snprintf(text, sizeof text, "%s %d %d %d %d %d %d %d %a %a %d", kernels, o->length, p->least,
             p->documents, o->predictions, (int)o->method, o->keep_last, o->keep_first, o->epsilon,
             o->least, o->most_k);
    return lg__begun_open(&p->begun, o->begun, lg__hash(text, strlen(text), sum), err);
}

static int open_probing(struct probing *p, lg_error *warning, lg_error *err)
{
    lg_run_probe_options *o = &p->o;
    int e = lg__run_open_folder(&p->run, o->folder, &o->access, warning, err);
    if (e) return e;
    p->text = lg__text_tokenizer(p->run.task) != NULL;
    if ((e = open_task(p, err))) return e;
    set_lengths(p);
    if (o->length < 1 || o->length > 1 << 20 || o->documents < 0 || o->predictions < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%d documents of %d tokens, %d predictions; take lengths of 1 to 1048576, "
                        "and no number below 0",
                        o->documents, o->length, o->predictions);
    if ((e = open_against(p, warning, err)) || (e = choose_documents(p, err))) return e;
    p->influence.progress = progress;
    p->influence.context = p;
    e = lg__influence_open(&p->influence, p->run.model, o, err);
    return e ? e : open_begun(p, err);
}

/* In the unit of the examples; 0: it is another one than that of training. */
static int trained_length(const struct probing *p)
{
    const char *here = lg_task_get_shape(p->task)->info->unit;
    const char *there = lg_task_get_shape(p->run.task)->info->unit;
    return strcmp(here, there) == 0 ? p->run.config.length[1] : 0;
}

static void close_probing(struct probing *p)
{
    struct against *a = &p->against;
    lg__influence_close(&p->influence);
    lg__probe_sum_clear(&p->sum);
    lg__held_close(&p->held);
    lg_example_clear(&p->x);
    for (int l = 0; l < LG_LEVELS; l++) lg__block_free(&p->ids[l]);
    if (p->task != p->run.task) lg_task_free(p->task);
    lg__run_close(&p->run);
    lg_evaluator_free(a->evaluator);
    lg_batch_clear(&a->batch);
    lg_example_clear(&a->x);
    lg__block_free(&a->losses);
    lg__run_close(&a->run);
}

/* The bins to the store: the setting says how they were made. */
static int keep(const struct probing *p, const lg_probe_summary *s, lg_store *store, lg_error *err)
{
    const lg_run_probe_options *o = &p->o;
    lg_cell cells[LG_PROBE_BINS];
    lg_cell all = {
        .step = s->step, .length = s->length, .context = s->context, .there = s->documents};
    int64_t number = 0;
    int count = 0;
    int n = snprintf(all.setting, sizeof all.setting,
                     "probe %s, keep %d+%d, epsilon %g, min_rise %g, max_k %d",
                     o->method == LG_PROBE_GRADIENT ? "gradient" : "loo", o->keep_last,
                     o->keep_first, o->epsilon, o->least, o->most_k);
    if (o->against)
        n += snprintf(all.setting + n, sizeof all.setting - (size_t)n, ", against %s at %lld",
                      p->against.run.id, (long long)s->against_step);
    if (o->texts || o->task)
        snprintf(all.setting + n, sizeof all.setting - (size_t)n, ", on %.60s",
                 o->texts ? o->texts : o->task);
    for (int i = 0; i < LG_PROBE_BINS; i++) {
        const lg_probe_bin *b = &s->bin[i];
        if (!b->predictions) continue; /* also those past max_k, but for the last */
        lg_cell *c = &cells[count++];
        *c = all;
        c->first = b->low;
        c->last = b->high;
        lg__cell_add(c, "kstar_loss", b->predictions, b->loss.value, b->loss.low, b->loss.high);
        if (o->against)
            lg__cell_add(c, "kstar_excess", b->predictions, b->excess.value, b->excess.low,
                         b->excess.high);
    }
    int e = lg__run_register(&p->run, o->folder, store, 0, &number, err);
    return e ? e : lg__store_add_cells(store, number, cells, count, err);
}

int lg_run_probe(const lg_run_probe_options *o, lg_probe_summary *summary, lg_error *warning,
                 lg_error *err)
{
    lg_error own;
    struct probing *p = lg__alloc(sizeof *p);
    lg_store *store = NULL;
    if (!err) err = &own;
    *summary = (lg_probe_summary){0};
    if (!p) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a probe; end other programs");
    p->o = *o;
    lg_batch_init(&p->against.batch);
    lg_example_init(&p->against.x);
    lg_example_init(&p->x);
    int e = open_probing(p, warning, err);
    if (!e && o->store && !(store = lg_store_open(o->store, 1, err))) e = err->code;
    for (p->index = 0; p->index < p->documents && !e; p->index++) {
        if (o->stop && *o->stop) break;
        e = one_document(p, err);
    }
    if (!e && !p->sum.count)
        e = o->stop && *o->stop
                ? lg__fail(err, LG_ERROR_STOPPED, "stopped before the first text was done")
                : lg__fail(err, LG_ERROR_ARGUMENT,
                           "%s: no prediction was looked at; take more documents or predictions",
                           o->folder);
    if (!e) {
        *summary = (lg_probe_summary){.step = p->run.step,
                                      .against_step = p->against.run.step,
                                      .length = p->o.length,
                                      .length_least = p->least,
                                      .trained_length = trained_length(p),
                                      .unit = lg_task_get_shape(p->task)->info->unit,
                                      .context = p->against.context,
                                      .documents = p->sum.documents,
                                      .most_k = p->o.most_k};
        summary->stopped = p->index < p->documents;
        e = lg__probe_sum_up(&p->sum, summary, err);
    }
    if (!e && store && !summary->stopped) e = keep(p, summary, store, err);
    lg_store_close(store);
    lg__begun_close(&p->begun);
    close_probing(p);
    free(p);
    return e;
}
