/* train.c: a run from its config to its last checkpoint. What a step gave goes into the store
 * before the checkpoint that has it, so that no row is ever missing; a resumed run makes the rows
 * after its checkpoint again, so that none is there twice. While the store cannot be written the
 * rows wait in a file of the run's folder, and training goes on. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "coupling/coupling.h"
#include "base/memory.h"
#include "engine/ranks.h"
#include "measure/bench.h"
#include "runs/checkpoint.h"
#include "training/feedback.h"
#include "runs/run.h"
#include "runs/store.h"
#include "runs/texts.h"
#include "runs/trust.h"
#include "text/text.h"
#include "base/files.h"
#include "base/clock.h"
#include "measure/eval.h"
#include "lengthen_training.h"

enum { STOP_EVERY = 100, STOP_SAMPLES = 100 }; /* early stop: how often, on how many examples */
enum { SHORT_WAIT = 2000, LONG_WAIT = 60000 }; /* for a locked store, ms: on the way, at the end */
static const double ROWS_SECONDS = 2;          /* between two writes to the store */
static const double STUCK_SECONDS = 20;        /* the same while it cannot be written */

struct training {
    struct lg__run run;
    const lg_run_options *o;
    lg_trainer *trainer;
    lg_batch batch;
    lg_example example;
    int lock;
    /* The curriculum: what the examples may be now, and how well they are answered. */
    int length, sparsity;
    double learned;
    int enough;                    /* stopped early: there is nothing to go on with */
    int64_t evaluated;             /* the last step that was, on the way */
    struct lg__feedback *feedback; /* certified on the way; or NULL */
    /* The store, and what it does not have yet. */
    lg_store *store;
    int64_t number;
    struct lg__block rows; /* lg_run_step [waiting] */
    int waiting, stuck;    /* stuck: it could not be written when that was last tried */
    double written;        /* when it was tried */
    double owed;           /* seconds that the store does not know of either */
    lg_error note;         /* to be told after the next step */
};

/* Rank 0 has the folder and the store; the others compute as it does. */
static int leads(const struct training *t) { return lg_comm_rank(t->o->comm) == 0; }

static void close_training(struct training *t)
{
    lg_trainer_free(t->trainer);
    lg_batch_clear(&t->batch);
    lg_example_clear(&t->example);
    lg__block_free(&t->rows);
    lg__feedback_free(t->feedback);
    lg_store_close(t->store);
    if (t->lock >= 0) close(t->lock);
    lg__run_close(&t->run);
}

/* ---- Examples -------------------------------------------------------------------------- */

static lg_draw draw_of(const struct training *t, uint32_t stream, uint64_t index)
{
    const struct lg__config *c = &t->run.config;
    lg_draw d = {.seed = (uint64_t)c->seed, .stream = stream, .index = index};
    d.side = stream == LG__STREAM_TRAIN ? LG_SIDE_TRAIN : LG_SIDE_TEST;
    d.length_lo = c->length[0];
    d.length_hi = t->length;
    if (c->sparsity[1]) { /* else the task's own range */
        d.sparsity_lo = c->sparsity[0];
        d.sparsity_hi = t->sparsity;
    }
    return d;
}

/* The i-th of a batch: fresh, or of the first quarter one that is fed back. */
static int next_example(struct training *t, const lg_draw *d, int i, lg_error *err)
{
    lg_rng chance;
    struct lg__feedback *f = t->run.config.certify_feedback ? t->feedback : NULL;
    if (!f || !f->count || i >= t->run.config.batch / 4)
        return lg_task_example(t->run.task, d, &t->example, err);
    lg_rng_init(&chance, d->seed, LG__STREAM_FEEDBACK, d->index);
    return lg__feedback_example(f, &chance, &t->example, err);
}

static int fill_batch(struct training *t, int64_t step, lg_error *err)
{
    struct lg__run *r = &t->run;
    int e = 0;
    lg_batch_reset(&t->batch);
    for (int i = 0; i < r->config.batch && !e; i++) {
        uint64_t index = (uint64_t)step * (uint64_t)r->config.batch + (uint64_t)i;
        lg_draw d = draw_of(t, LG__STREAM_TRAIN, index);
        lg_rng ids;
        lg_rng_init(&ids, d.seed, LG__STREAM_IDS, index);
        if (!(e = next_example(t, &d, i, err)))
            e = lg_plan_add(&r->plan, &t->example, &ids, &t->batch, err);
        if (!e && t->example.n > r->longest) r->longest = t->example.n;
    }
    return e;
}

/* Useful floating-point operations of the batch's step: 6 for each weight and row that needs it,
 * 12 for each dimension and visible pair; a window's few pairs are not counted. In the first of
 * several layers what does not depend on other tokens is needed for first_rows alone; in the last
 * keys and values are needed for every row, the rest where something is to be predicted. */
static double useful_gflop(const struct training *t, int first_rows)
{
    const lg_model_config *c = &t->run.model_config;
    const lg_batch *b = &t->batch;
    int depth = c->layers * c->loops;
    double w = c->width, ff = c->ff, rows = b->rows, wanted = 0, pairs = 0, last_pairs = 0;
    double layer = 4 * w * w + (c->act == LG_ACT_SWIGLU ? 3 : 2) * w * ff, heads = c->vocab;
    for (int l = 0; l < c->levels; l++) heads += c->id_classes[l];
    for (int s = 0; s < b->sequences; s++)
        for (int i = b->offsets[s]; i < b->offsets[s + 1]; i++) {
            int need = b->targets[i] >= 0, seen = i - b->offsets[s] + 1;
            for (int l = 0; l < c->levels; l++) need |= b->id_targets[l][i] >= 0;
            wanted += need;
            pairs += seen;
            last_pairs += need ? seen : 0;
        }
    if (c->span == LG_SPAN_WINDOW) pairs = last_pairs = 0;
    double matmul = layer * rows * (depth - 1) + 2 * w * w * rows + (layer - 2 * w * w) * wanted +
                    heads * w * wanted;
    double alone = c->parallel ? layer - w * w : 3 * w * w;
    if (depth > 1) matmul -= alone * (rows - first_rows);
    return 1e-9 * (6 * matmul + 12 * w * (pairs * (depth - 1) + last_pairs));
}

/* ---- The curriculum ---------------------------------------------------------------------- */

static void start_curriculum(struct training *t)
{
    const struct lg__config *c = &t->run.config;
    t->length = c->length[1];
    t->sparsity = c->sparsity[1];
    t->learned = 0;
    if (c->curriculum == LG__CURRICULUM_LENGTH || c->curriculum == LG__CURRICULUM_BOTH)
        t->length = c->length[0];
    if (c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH)
        t->sparsity = c->sparsity[0];
}

/* By the schedule: evenly from least to most over the first curriculum_steps steps. */
static int scheduled(int least, int most, int64_t step, int64_t steps)
{
    if (step >= steps) return most;
    return least + (int)((int64_t)(most - least + 1) * step / steps);
}

/* By the schedule, or one more of each once enough of the tokens of about the last 60 steps are
 * right. */
static void follow_curriculum(struct training *t, double accuracy)
{
    const struct lg__config *c = &t->run.config;
    int64_t step = lg_trainer_steps(t->trainer), steps = c->curriculum_steps;
    int length = t->length < c->length[1], sparsity = t->sparsity < c->sparsity[1];
    if (steps) {
        if (length) t->length = scheduled(c->length[0], c->length[1], step, steps);
        if (sparsity) t->sparsity = scheduled(c->sparsity[0], c->sparsity[1], step, steps);
        return;
    }
    t->learned += 0.05 * (accuracy - t->learned);
    if (t->learned < c->curriculum_at || (!length && !sparsity)) return;
    t->length += length;
    t->sparsity += sparsity;
    t->learned = 0;
}

static int whole_range(const struct training *t)
{
    return t->length == t->run.config.length[1] && t->sparsity == t->run.config.sparsity[1];
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int keep_row(struct training *t, const lg_run_step *row, lg_error *err)
{
    size_t size = ((size_t)t->waiting + 1) * sizeof *row;
    if (!t->store) return 0;
    int e = size > t->rows.size
                ? lg__block_grow(&t->rows, 2 * size + 4096, t->waiting > 0, "metrics", err)
                : 0;
    if (!e) ((lg_run_step *)t->rows.data)[t->waiting++] = *row;
    return e;
}

/* Puts the waiting rows into the store. */
static int write_rows(struct training *t, lg_error *err)
{
    char path[4096];
    double time = lg__now(), seconds = time - t->written + t->owed;
    int e = t->store
                ? lg__store_add_steps(t->store, t->number, t->rows.data, t->waiting, seconds, err)
                : 0;
    t->written = time;
    t->owed = e || !t->waiting ? seconds : 0; /* with no rows nothing is written */
    if (e) return e;
    if (t->stuck && !lg__file_path(path, sizeof path, t->o->folder, LG__RUN_WAITING, NULL))
        unlink(path);
    t->waiting = t->stuck = 0;
    return 0;
}

/* The rows that wait, as text and back; %a keeps every bit. */
static char *rows_text(const struct training *t)
{
    lg_buffer b = {0};
    const lg_run_step *rows = t->rows.data;
    for (int i = 0; i < t->waiting; i++)
        lg_buffer_print(&b, "%lld %a %a %a %a %a %lld %a %d %d\n", (long long)rows[i].step,
                        rows[i].loss, rows[i].id_loss, rows[i].accuracy, rows[i].id_accuracy,
                        rows[i].lr, (long long)rows[i].tokens, rows[i].gflop, rows[i].length,
                        rows[i].sparsity);
    return lg_buffer_take(&b, NULL);
}

/* The store cannot be written: the rows wait in a file, and the user is told once. */
static int put_aside(struct training *t, const lg_error *why, lg_error *err)
{
    char path[4096];
    int e = lg__file_path(path, sizeof path, t->o->folder, LG__RUN_WAITING, err);
    char *text = rows_text(t);
    if (!e && !text) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the metrics");
    if (!e) e = lg__file_write(path, text, err);
    if (!e && !t->stuck)
        lg__fail(&t->note, 0, "%.350s; training goes on, and the rows wait in %.80s", why->text,
                 path);
    free(text);
    t->stuck |= !e;
    return e;
}

/* Back from the file into the store: those up to the checkpoint; the others are made again. */
static int take_back(struct training *t, lg_error *err)
{
    char path[4096], *text = NULL;
    int64_t last = lg_trainer_steps(t->trainer);
    int e = lg__file_path(path, sizeof path, t->o->folder, LG__RUN_WAITING, err);
    if (!e) e = lg__file_read(path, &text, err);
    if (e || !text || !t->store) {
        free(text);
        return e;
    }
    for (char *at = text; *at && !e; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : "") {
        lg_run_step r = {0};
        long long step, tokens;
        if (sscanf(at, "%lld %la %la %la %la %la %lld %la %d %d", &step, &r.loss, &r.id_loss,
                   &r.accuracy, &r.id_accuracy, &r.lr, &tokens, &r.gflop, &r.length,
                   &r.sparsity) != 10)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%s is no file of metrics: \"%.40s\"; was it edited? Move it away", path,
                         at);
        r.step = step;
        r.tokens = tokens;
        if (!e && step <= last) e = keep_row(t, &r, err);
    }
    free(text);
    t->stuck = 1; /* so that the file goes once the rows are in the store */
    return e ? e : write_rows(t, err);
}

/* ---- Checkpoints ------------------------------------------------------------------------------ */

/* The state that is not in the parameters, as text and back. */
static char *write_note(const struct training *t, lg_error *err)
{
    lg_buffer note = {0};
    struct lg__run_note n = {.step = lg_trainer_steps(t->trainer),
                             .enough = t->enough,
                             .evaluated = t->evaluated,
                             .tokens = t->run.longest,
                             .length = t->length,
                             .sparsity = t->sparsity,
                             .learned = t->learned};
    memcpy(n.kernels, t->run.kernels, sizeof n.kernels);
    lg__run_write_note(&n, &note);
    if (t->feedback) lg__feedback_write(t->feedback, &note);
    return lg_buffer_take(&note, err);
}

static int read_note(struct training *t, const char *note, char kernels[LG__RUN_KERNELS],
                     lg_error *err)
{
    struct lg__run_note n;
    int e = lg__run_read_note(&n, note, err);
    if (e) return e;
    t->enough = n.enough;
    t->evaluated = n.evaluated;
    t->run.longest = n.tokens;
    t->length = n.length;
    t->sparsity = n.sparsity;
    t->learned = n.learned;
    memcpy(kernels, n.kernels, sizeof n.kernels);
    return t->feedback ? lg__feedback_read(t->feedback, note, err) : 0;
}

/* The kernels of the checkpoint, and these if they are others: then the bits are not those of a run
 * that never stopped, which is said. */
static void join_kernels(struct training *t, const char before[LG__RUN_KERNELS], lg_error *warning)
{
    char own[LG__RUN_KERNELS], *all = t->run.kernels;
    lg__run_kernels(t->run.model, t->run.options.precision, own);
    const char *last = strrchr(before, '+') ? strrchr(before, '+') + 1 : before;
    int others = strcmp(last, own) != 0 && lg_trainer_steps(t->trainer) < t->run.options.steps &&
                 !t->enough; /* else there is nothing to go on with */
    if (!others || strlen(before) > 60)
        snprintf(all, LG__RUN_KERNELS, "%s", before);
    else
        snprintf(all, LG__RUN_KERNELS, "%.60s+%.60s", before, own);
    if (others && !warning->text[0])
        lg__fail(warning, 0,
                 "step %lld was made with the kernels %s, and the run goes on with %s: its numbers "
                 "may differ in the last digits from those of one set of kernels, and it is marked "
                 "(%s); LENGTHEN_ISA chooses kernels",
                 (long long)lg_trainer_steps(t->trainer), last, own, all);
}

/* What rank 0 has begun alone, an evaluation or a checkpoint, may take longer than the others' patience. */
static int wait_for_lead(struct training *t, lg_error *err)
{
    char word = 0;
    return lg__comm_spread(t->o->comm, &word, 1, 1, err);
}

/* The rows first: a checkpoint must not know of steps that nobody has the metrics of. */
static int save(struct training *t, lg_error *err)
{
    char path[4096];
    int keep = t->run.config.keep ? t->run.config.keep : INT_MAX;
    lg_error why;
    int e = lg__file_path(path, sizeof path, t->o->folder, "checkpoint", err);
    if (!e && write_rows(t, &why)) e = put_aside(t, &why, err);
    if (e) return e;
    char *note = write_note(t, err);
    e = note ? lg__checkpoint_save(path, t->run.model, t->trainer, note, keep, err)
             : LG_ERROR_MEMORY;
    free(note);
    return e;
}

static int has_checkpoint(const struct training *t)
{
    char path[4096];
    return !lg__file_path(path, sizeof path, t->o->folder, "checkpoint", NULL) &&
           lg__run_has_steps(path);
}

static int load(struct training *t, lg_error *warning, lg_error *err)
{
    char path[4096], kernels[LG__RUN_KERNELS], *note = NULL;
    int e = lg__file_path(path, sizeof path, t->o->folder, "checkpoint", err);
    if (e || !lg__run_has_steps(path)) return e; /* from the start */
    e = lg__checkpoint_load(path, t->run.model, t->trainer, t->o->access.fallback, &note, warning,
                            err);
    if (!e) e = read_note(t, note, kernels, err);
    if (!e) join_kernels(t, kernels, warning);
    free(note);
    if (!e && t->store) e = lg__store_kernels(t->store, t->number, t->run.kernels, err);
    return e;
}

/* Weights of another run, which may go on with its training: from here on they are this run's own. */
static int keep_weights(struct training *t, lg_error *err)
{
    return t->run.config.init_from && !has_checkpoint(t) ? save(t, err) : 0;
}

/* Back to the checkpoint's step; another store, or none, may have the rows before it. */
static int rewind_store(struct training *t, lg_error *warning, lg_error *err)
{
    int64_t has = 0, step = lg_trainer_steps(t->trainer);
    int e = t->store ? lg__store_rewind(t->store, t->number, step, &has, err) : 0;
    if (!e && t->store && has < step && !warning->text[0])
        lg__fail(
            warning, 0,
            "the store %s has the metrics of %lld of the %lld steps so far: the others went to "
            "another store, or to none",
            t->o->store, (long long)has, (long long)step);
    return e;
}

/* ---- Training ---------------------------------------------------------------------------- */

/* Whether training-length examples are answered well enough to stop early. */
static int good_enough(struct training *t, lg_error *err)
{
    struct lg__run *r = &t->run;
    lg_score s;
    lg_draw d = draw_of(t, LG__STREAM_STOP, (uint64_t)lg_trainer_steps(t->trainer) * STOP_SAMPLES);
    int e = lg_answer(r->model, r->task, &r->scheme, &d, STOP_SAMPLES, r->predicts, t->o->threads,
                      &s, err);
    t->enough = !e && s.exact >= r->config.stop_at * s.samples;
    return e;
}

static int due(int64_t step, int every) { return every && step % every == 0; }

static int stopped(const struct training *t) { return t->o->stop && *t->o->stop; }

/* The evaluation at this step; if it is stopped or cannot be stored, a resumed run makes the rest. */
static int evaluate(struct training *t, lg_error *err)
{
    t->run.step = lg_trainer_steps(t->trainer);
    if (t->store) lg__store_wait(t->store, LONG_WAIT);
    double since = lg__now();
    lg_eval_options eval = {.folder = t->o->folder,
                            .predicted = -1,
                            .threads = t->o->threads,
                            .each = t->o->each,
                            .context = t->o->context,
                            .stop = t->o->stop};
    int e = lg__run_measure(&t->run, &eval, t->store, t->number, NULL, err);
    t->written += lg__now() - since; /* the cells bring their own time */
    if (t->store) lg__store_wait(t->store, SHORT_WAIT);
    if (!e && !stopped(t)) t->evaluated = t->run.step;
    return e;
}

static int one_step(struct training *t, lg_run_step *told, lg_error *err)
{
    lg_train_result r;
    int e = fill_batch(t, lg_trainer_steps(t->trainer), err);
    if (e || (e = lg_trainer_step(t->trainer, &t->batch, &r, err))) return e;
    double accuracy = r.targets ? (double)r.right / r.targets : 0;
    *told = (lg_run_step){.step = r.step,
                          .steps = t->run.options.steps,
                          .loss = r.loss,
                          .id_loss = r.id_loss,
                          .accuracy = accuracy,
                          .id_accuracy = r.id_targets ? (double)r.id_right / r.id_targets : 0,
                          .lr = r.lr,
                          .tokens = t->batch.rows,
                          .gflop = useful_gflop(t, r.first_rows),
                          .length = t->length,
                          .sparsity = t->sparsity,
                          .ranks = lg_comm_size(t->o->comm),
                          .ranks_s = r.ranks_s};
    if (t->run.config.curriculum != LG__CURRICULUM_NONE) follow_curriculum(t, accuracy);
    return 0;
}

/* Right on every context: there is nothing more to learn. */
static int certify(struct training *t, lg_error *err)
{
    struct lg__feedback *f = t->feedback;
    t->run.step = lg_trainer_steps(t->trainer);
    int e = lg__feedback_look(f, &t->run, err);
    if (e) return e;
    long long step = (long long)lg_trainer_steps(t->trainer);
    const char *what = f->pairs ? "contexts and pairs" : "contexts";
    t->enough |= !f->wrong;
    if (!f->wrong)
        lg__fail(&t->note, 0, "step %lld: certified, all %lld %s are right", step,
                 (long long)f->looks, what);
    else if (!f->outside)
        lg__fail(&t->note, 0, "step %lld: %lld of %lld %s are wrong", step, (long long)f->wrong,
                 (long long)f->looks, what);
    else
        lg__fail(&t->note, 0,
                 "step %lld: %lld of %lld %s are wrong; the shortest inputs that show %lld of "
                 "these are not of the lengths of training",
                 step, (long long)f->wrong, (long long)f->looks, what, (long long)f->outside);
    return 0;
}

/* Rows to the store now and then; it may be locked for a while. */
static void pass_on_rows(struct training *t)
{
    lg_error why;
    double wait = t->stuck ? STUCK_SECONDS : ROWS_SECONDS;
    if (lg__now() - t->written > wait && write_rows(t, &why) && !t->stuck) put_aside(t, &why, NULL);
}

/* What follows a step: early stop, evaluation, rows, checkpoint; *saved is 1 after the last. */
static int after_step(struct training *t, const lg_run_step *told, int *saved, lg_error *err)
{
    const struct lg__config *c = &t->run.config;
    lg_error second;
    int looks = due(told->step, c->eval_every), saves = due(told->step, c->checkpoint_every);
    int e = keep_row(t, told, err);
    *saved = 0;
    if (!e && c->stop_at > 0 && told->step % STOP_EVERY == 0 && whole_range(t))
        e = good_enough(t, err);
    if (!e && due(told->step, c->certify_every)) e = certify(t, err);
    if (!e && (looks || saves)) e = lg__trainer_join(t->trainer, err);
    if (!e && looks && leads(t) && (e = evaluate(t, err))) {
        save(t, &second); /* what was learned is not to be lost with the cells */
        return e;
    }
    if (!e && saves) {
        if (leads(t)) e = save(t, err);
        *saved = !e;
    } else if (!e && leads(t)) {
        pass_on_rows(t);
    }
    return !e && (looks || saves) ? wait_for_lead(t, err) : e;
}

static int train(struct training *t, int *done, lg_error *err)
{
    int e = 0, more = 1, saved = 1;
    int64_t step = lg_trainer_steps(t->trainer);
    struct lg__ranks *ranks = lg__trainer_ranks(t->trainer);
    if (step && due(step, t->run.config.eval_every) && t->evaluated < step) {
        if (leads(t)) e = evaluate(t, err);
        if (!e) e = wait_for_lead(t, err);
    }
    while (!e && !t->enough && lg_trainer_steps(t->trainer) < t->run.options.steps) {
        lg_run_step told;
        ranks->asks = !more || stopped(t);
        if (ranks->comm ? ranks->asked : ranks->asks) break; /* ranks stop after the same step */
        if ((e = one_step(t, &told, err)) || (e = after_step(t, &told, &saved, err))) break;
        told.note = t->note.text[0] ? t->note.text : NULL;
        if (t->o->watch) more = t->o->watch(t->o->context, &told);
        t->note.text[0] = 0;
    }
    if (t->store) lg__store_wait(t->store, LONG_WAIT);
    if (!e && !saved && !(e = lg__trainer_join(t->trainer, err)) && leads(t)) e = save(t, err);
    *done = !e && (t->enough || lg_trainer_steps(t->trainer) >= t->run.options.steps);
    return e;
}

/* One that is there must be usable, one that is not must be possible: nothing is written yet. */
static int check_store(const char *file, lg_error *err)
{
    char folder[4096];
    if (!file) return 0;
    if (access(file, F_OK) == 0) {
        lg_store *s = lg_store_open(file, 1, err);
        lg_store_close(s);
        return s ? 0 : err->code;
    }
    snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    if (access(slash ? folder : ".", W_OK | X_OK) == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the store %s cannot be made: %s; name a file in a folder that can be written "
                    "to (--store)",
                    file, strerror(errno));
}

/* With the run's own copy of a tokenizer that is no longer where it was. */
static int open_run(struct training *t, lg_error *err)
{
    const lg_run_options *o = t->o;
    char set[4400], id[LG__RUN_ID] = "";
    /* A run that is there, or the config of one, may be somebody else's. */
    struct lg__owner owner = {o->folder, id, &o->access};
    int theirs = o->resume != LG_RUN_NEW && lg__run_id(o->folder, id);
    if (!theirs && o->config && lg__run_file_id(o->config, id) && *id) {
        owner.place = o->config;
        theirs = 1;
    }
    t->run.owner = theirs ? &owner : NULL;
    int e = lg__run_open(&t->run, o->config, o->sets, o->set_count, err);
    t->run.owner = NULL;
    if (!e || o->resume == LG_RUN_NEW ||
        !lg__run_lost_tokenizer(&t->run, o->folder, set, sizeof set))
        return e;
    const char **sets = lg__alloc(((size_t)o->set_count + 1) * sizeof *sets);
    if (!sets) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the settings");
    for (int i = 0; i < o->set_count; i++) sets[i] = o->sets[i];
    sets[o->set_count] = set;
    lg__run_close(&t->run);
    t->run = (struct lg__run){.owner = theirs ? &owner : NULL};
    e = lg__run_open(&t->run, o->config, sets, o->set_count + 1, err);
    t->run.owner = NULL;
    free(sets);
    return e;
}

/* Everything that can be refused before anything is written. */
static int check(struct training *t, int *there, lg_error *err)
{
    const lg_run_options *o = t->o;
    int e = open_run(t, err), threads = lg__comm_threads(o->comm, o->threads);
    if (e) return e;
    if ((e = lg__text_check_training(t->run.task, err))) return e;
    t->run.options.threads = threads;
    start_curriculum(t);
    t->trainer = lg__trainer_new(t->run.model, &t->run.options, o->comm, err);
    if (!t->trainer) return err->code;
    if (leads(t)) e = lg__run_check_folder(&t->run, o->folder, o->resume, there, err);
    if (!e && leads(t) && !has_checkpoint(t))
        e = lg__run_take_weights(&t->run, o->access.fallback, err);
    if (!e) e = lg__feedback_open(&t->feedback, &t->run, threads, err);
    if (e || !leads(t)) return e;
    if (t->run.config.eval_every) {
        lg_eval_options grid = {.folder = o->folder, .predicted = -1};
        e = lg__run_check_eval(&t->run, &grid, err);
    }
    return e ? e : check_store(o->store, err);
}

/* The folder, its lock and the store. */
static int claim(struct training *t, int *there, lg_error *err)
{
    const lg_run_options *o = t->o;
    int e = lg__run_claim_folder(&t->run, o->folder, o->resume, there, &t->lock, err);
    if (!e && lg__text_tokenizer(t->run.task))
        e = lg__run_keep_tokenizer(lg__text_tokenizer(t->run.task)->file, o->folder, err);
    if (!e)
        e = lg__task_keep_rule(t->run.task, o->folder, LG__RUN_COUPLING, t->run.config.coupling,
                               err);
    if (!e && o->store && !(t->store = lg_store_open(o->store, 1, err))) e = err->code;
    if (!e) e = lg__run_register(&t->run, o->folder, t->store, 1, &t->number, err);
    return e;
}

/* A run that cannot be remembered is trained all the same. */
static void remember(struct training *t)
{
    lg_error why;
    if (lg__trust_remember(t->run.id, t->run.config.task, &why))
        lg__fail(&t->note, 0, "later commands will need --allow-exec for this run: %.400s",
                 why.text);
}

/* What the store is to say of the run now. The state of a run whose rows still wait is not told:
 * it is not yet what the store has. */
static int tell_state(struct training *t, int e, int done, lg_error *err)
{
    lg_error second;
    if (!t->store) return e;
    if (e) {
        write_rows(t, &second);
        lg__store_state(t->store, t->number, "failed", err->text, &second);
        return e;
    }
    if (t->stuck && write_rows(t, &second))
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "the run is saved, but %.300s; its last rows wait in %.80s/" LG__RUN_WAITING
                        ", and --resume puts them into the store",
                        second.text, t->o->folder);
    return lg__store_state(t->store, t->number, done ? "done" : "stopped", NULL, err);
}

/* Whether all ranks have the same program, kernels and config, and none has found an error; nothing is written yet. */
static int agree(struct training *t, int e, lg_error *err)
{
    struct lg__comm_card card = {.code = e};
    if (lg_comm_size(t->o->comm) == 1) return e;
    char *text = e ? NULL : lg__config_text(&t->run.config);
    lg__comm_card_fill(&card, "train");
    if (e)
        memcpy(card.text, err->text, sizeof card.text);
    else
        lg__run_kernels(t->run.model, t->run.options.precision, card.kernels);
    if (text) card.config = lg__fnv(LG__FNV_START, text, strlen(text));
    free(text);
    return lg__comm_agree(t->o->comm, &card, err);
}

/* What rank 0 alone does before the first step. */
static int begin(struct training *t, int *there, lg_error *warning, lg_error *err)
{
    int e = claim(t, there, err);
    if (!e && *there) e = load(t, warning, err);
    if (!e) e = keep_weights(t, err);
    if (!e) e = take_back(t, err);
    if (!e) e = rewind_store(t, warning, err);
    if (!e && t->store) e = lg__store_state(t->store, t->number, "training", NULL, err);
    if (!e && !*there) lg__certificate_warn(&t->run, t->run.remark, sizeof t->run.remark);
    if (e) return e;
    snprintf(t->note.text, sizeof t->note.text, "%s",
             warning->text[0] ? warning->text : t->run.remark);
    remember(t);
    return 0;
}

/* Where rank 0 stands, to all: weights, moments and steps, and what its checkpoint's note says. */
static int spread(struct training *t, lg_error *err)
{
    lg_comm *c = t->o->comm;
    char kernels[LG__RUN_KERNELS], *note = NULL;
    size_t size = 0;
    if (lg_comm_size(c) == 1) return 0;
    int e = lg__trainer_spread(t->trainer, err);
    if (!e && leads(t)) {
        note = write_note(t, err);
        if (!note) e = LG_ERROR_MEMORY;
        size = note ? strlen(note) + 1 : 0;
    }
    if (!e) e = lg__comm_spread(c, &size, sizeof size, 0, err);
    if (!e && !leads(t) && !(note = lg__alloc(size)))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a note of %zu bytes", size);
    if (!e) e = lg__comm_spread(c, note, size, 0, err);
    if (!e && !leads(t)) e = read_note(t, note, kernels, err);
    free(note);
    return e;
}

int lg_run_train(const lg_run_options *o, int *done, lg_error *err)
{
    lg_error own, warning = {0};
    struct training *t = lg__alloc(sizeof *t);
    int there = 0;
    lg_run_options follower = *o;
    if (!err) err = &own;
    *done = 0;
    if (!t) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a run; end other programs");
    follower.watch = NULL;
    follower.each = NULL;
    follower.store = NULL;
    t->o = lg_comm_rank(o->comm) ? &follower : o;
    t->lock = -1;
    t->written = lg__now();
    lg_batch_init(&t->batch);
    lg_example_init(&t->example);
    int e = agree(t, check(t, &there, err), err);
    if (!e) e = lg__comm_follow(o->comm, leads(t) ? begin(t, &there, &warning, err) : 0, err);
    if (!e) e = spread(t, err);
    if (!e) {
        if (t->store) lg__store_wait(t->store, SHORT_WAIT);
        e = train(t, done, err);
        e = tell_state(t, e, *done, err);
    }
    close_training(t);
    free(t);
    return e;
}
