/* train.c: a run from its config to its last checkpoint. What a step gave goes into the store
 * before the checkpoint that has it, so that no row is ever missing; a resumed run makes the rows
 * after its checkpoint again, so that none is there twice. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/checkpoint.h"
#include "lab/run.h"
#include "lab/store.h"

enum { STOP_EVERY = 100, STOP_SAMPLES = 100 }; /* early stop: how often, on how many examples */
enum { ROWS = 1000 };                          /* of metrics that wait for the store */
static const double ROWS_SECONDS = 2;          /* and how long they wait at most */

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
    int enough; /* stopped early: there is nothing to go on with */
    /* The store, and what it does not have yet. */
    lg_store *store;
    int64_t number;
    lg_run_step rows[ROWS];
    int waiting;
    double written;
};

static void close_training(struct training *t)
{
    lg_trainer_free(t->trainer);
    lg_batch_clear(&t->batch);
    lg_example_clear(&t->example);
    lg_store_close(t->store);
    if (t->lock >= 0) close(t->lock);
    lg__run_close(&t->run);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Examples -------------------------------------------------------------------------- */

static lg_draw draw_of(const struct training *t, uint32_t stream, uint64_t index)
{
    const struct lg__config *c = &t->run.config;
    lg_draw d = {.seed = (uint64_t)c->seed, .stream = stream, .index = index};
    d.length_lo = c->length[0];
    d.length_hi = t->length;
    if (c->sparsity[1]) { /* else the task's own range */
        d.sparsity_lo = c->sparsity[0];
        d.sparsity_hi = t->sparsity;
    }
    return d;
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
        if (!(e = lg_task_example(r->task, &d, &t->example, err)))
            e = lg_scheme_add(&r->scheme, r->task, &t->example, &ids, &t->batch, err);
    }
    return e;
}

/* Useful floating-point operations of the batch's step: 6 for each weight and row that needs it,
 * 12 for each dimension and visible pair; a window's few pairs are not counted. In the last layer
 * keys and values are needed for every row, the rest where something is to be predicted. */
static double useful_gflop(const struct training *t)
{
    const lg_model_config *c = &t->run.model_config;
    const lg_batch *b = &t->batch;
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
    double matmul = layer * rows * (c->layers - 1) + 2 * w * w * rows +
                    (layer - 2 * w * w) * wanted + heads * w * wanted;
    return 1e-9 * (6 * matmul + 12 * w * (pairs * (c->layers - 1) + last_pairs));
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

/* By the schedule, or once nearly all tokens of the last hundred steps or so are right, one more
 * of each. */
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

/* ---- What is kept --------------------------------------------------------------------------- */

/* Puts the waiting rows into the store. */
static int write_rows(struct training *t, lg_error *err)
{
    double time = now();
    int e = t->store ? lg__store_add_steps(t->store, t->number, t->rows, t->waiting,
                                           time - t->written, err)
                     : 0;
    if (!e) t->waiting = 0;
    t->written = time;
    return e;
}

/* The state that is not in the parameters, as text and back; %a keeps every bit. */
static void write_note(const struct training *t, char *note, size_t size)
{
    snprintf(note, size, "step %lld length %d sparsity %d learned %a enough %d kernels %s",
             (long long)lg_trainer_steps(t->trainer), t->length, t->sparsity, t->learned, t->enough,
             t->run.kernels);
}

static int read_note(struct training *t, const char *note, lg_error *err)
{
    int64_t step;
    int e = lg__run_note_step(note, &step, err);
    if (!e && sscanf(note, "step %*d length %d sparsity %d learned %la enough %d", &t->length,
                     &t->sparsity, &t->learned, &t->enough) != 4)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the checkpoint's note \"%.60s\" is not one of this version; train anew",
                     note);
    return e;
}

/* The kernels of the checkpoint, and these if they are others: then the bits are not those of a run
 * that never stopped, which is said. A checkpoint that does not name its kernels says nothing. */
static void join_kernels(struct training *t, const char *note, lg_error *warning)
{
    char own[LG__RUN_KERNELS], before[LG__RUN_KERNELS], *all = t->run.kernels;
    lg__run_kernels(own);
    lg__run_note_kernels(note, before);
    const char *last = strrchr(before, '+') ? strrchr(before, '+') + 1 : before;
    int others = strcmp(last, own) != 0 && lg_trainer_steps(t->trainer) < t->run.options.steps &&
                 !t->enough; /* else there is nothing to go on with */
    if (!others || strlen(before) > 60)
        snprintf(all, LG__RUN_KERNELS, "%s", before);
    else
        snprintf(all, LG__RUN_KERNELS, "%.60s+%.60s", *before ? before : "unknown", own);
    if (*before && others && !warning->text[0])
        lg__fail(warning, 0,
                 "step %lld was made with the kernels %s, and the run goes on with %s: its numbers "
                 "may differ in the last digits from those of one set of kernels, and it is marked "
                 "(%s); LENGTHEN_ISA chooses kernels",
                 (long long)lg_trainer_steps(t->trainer), last, own, all);
}

/* The rows first: a checkpoint must not know of steps that the store does not. */
static int save(struct training *t, lg_error *err)
{
    char path[4096], note[200 + LG__RUN_KERNELS];
    int e = lg__run_path(path, sizeof path, t->o->folder, "checkpoint", err);
    if (!e) e = write_rows(t, err);
    write_note(t, note, sizeof note);
    return e ? e
             : lg__checkpoint_save(path, t->run.model, t->trainer, note, t->run.config.keep, err);
}

/* Whether a checkpoint was ever finished there; a run may be killed before its first one is. */
static int has_steps(const char *path)
{
    int found = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) found |= strncmp(e->d_name, "step-", 5) == 0;
    if (d) closedir(d);
    return found;
}

static int load(struct training *t, lg_error *warning, lg_error *err)
{
    char path[4096], *note = NULL;
    int e = lg__run_path(path, sizeof path, t->o->folder, "checkpoint", err);
    if (e || !has_steps(path)) return e; /* from the start */
    e = lg__checkpoint_load(path, t->run.model, t->trainer, &note, warning, err);
    if (!e) e = read_note(t, note, err);
    if (!e) join_kernels(t, note, warning);
    free(note);
    if (!e && t->store) e = lg__store_kernels(t->store, t->number, t->run.kernels, err);
    return e;
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
    int e = lg_answer(r->model, r->task, &r->scheme, &d, STOP_SAMPLES, r->predicts, &s, err);
    t->enough = !e && s.exact >= r->config.stop_at * s.samples;
    return e;
}

static int evaluate(struct training *t, lg_error *err)
{
    lg_eval_options o = {.folder = t->o->folder, .predicted = -1, .again = 1};
    o.threads = t->o->threads;
    o.table = t->o->table;
    o.context = t->o->context;
    double since = now();
    int e = lg__run_grid(&t->run, &o, lg_trainer_steps(t->trainer), t->store, t->number, err);
    t->written += now() - since; /* the cells bring their own time */
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
                          .gflop = useful_gflop(t),
                          .length = t->length,
                          .sparsity = t->sparsity};
    if (t->run.config.curriculum != LG__CURRICULUM_NONE) follow_curriculum(t, accuracy);
    return 0;
}

static int due(int64_t step, int every) { return every && step % every == 0; }

/* What follows a step: early stop, evaluation, rows, checkpoint; *saved is 1 after the last. */
static int after_step(struct training *t, const lg_run_step *told, int *saved, lg_error *err)
{
    const struct lg__config *c = &t->run.config;
    int e = 0;
    t->rows[t->waiting++] = *told;
    if (c->stop_at > 0 && told->step % STOP_EVERY == 0 && whole_range(t)) e = good_enough(t, err);
    if (!e && due(told->step, c->eval_every)) e = evaluate(t, err);
    *saved = 0;
    if (!e && due(told->step, c->checkpoint_every)) {
        e = save(t, err);
        *saved = !e;
    } else if (!e && (t->waiting == ROWS || now() - t->written > ROWS_SECONDS)) {
        e = write_rows(t, err);
    }
    return e;
}

static int train(struct training *t, const char *note, int *done, lg_error *err)
{
    int e = 0, more = 1, saved = 1;
    while (!e && more && !t->enough && lg_trainer_steps(t->trainer) < t->run.options.steps) {
        lg_run_step told;
        if ((e = one_step(t, &told, err)) || (e = after_step(t, &told, &saved, err))) break;
        told.note = note && *note ? note : NULL;
        note = NULL;
        if (t->o->watch) more = t->o->watch(t->o->context, &told);
    }
    if (!e && !saved) e = save(t, err);
    *done = !e && (t->enough || lg_trainer_steps(t->trainer) >= t->run.options.steps);
    return e;
}

/* Everything that can be refused, then the store, the folder and its lock. */
static int start(struct training *t, int *there, lg_error *err)
{
    const lg_run_options *o = t->o;
    int e = lg__run_open(&t->run, o->config, o->sets, o->set_count, err);
    if (e) return e;
    t->run.options.threads = o->threads;
    start_curriculum(t);
    t->trainer = lg_trainer_new(t->run.model, &t->run.options, err);
    if (!t->trainer) return LG_ERROR_MEMORY;
    e = lg__run_check_folder(&t->run, o->folder, o->resume, there, err);
    if (!e && t->run.config.eval_every) {
        lg_eval_options grid = {.folder = o->folder, .predicted = -1};
        e = lg__run_check_grid(&t->run, &grid, err);
    }
    if (!e && o->store && !(t->store = lg_store_open(o->store, 1, err))) e = LG_ERROR_SYSTEM;
    if (!e) e = lg__run_claim_folder(&t->run, o->folder, o->resume, there, &t->lock, err);
    if (!e) e = lg__run_register(&t->run, o->folder, t->store, &t->number, err);
    return e;
}

int lg_run_train(const lg_run_options *o, int *done, lg_error *err)
{
    lg_error own, warning = {0}, second;
    struct training *t = calloc(1, sizeof *t);
    int there = 0;
    if (!err) err = &own;
    *done = 0;
    if (!t) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a run; end other programs");
    t->o = o;
    t->lock = -1;
    lg_batch_init(&t->batch);
    lg_example_init(&t->example);
    int e = start(t, &there, err);
    if (!e && there) e = load(t, &warning, err);
    if (!e) e = rewind_store(t, &warning, err);
    if (!e && t->store) e = lg__store_state(t->store, t->number, "training", NULL, err);
    if (!e) {
        t->written = now();
        e = train(t, warning.text[0] ? warning.text : t->run.remark, done, err);
        if (t->store && e) {
            write_rows(t, &second);
            lg__store_state(t->store, t->number, "failed", err->text, &second);
        } else if (t->store) {
            e = lg__store_state(t->store, t->number, *done ? "done" : "stopped", NULL, err);
        }
    }
    close_training(t);
    free(t);
    return e;
}

char *lg_config_page(void) { return lg__config_page(); }
char *lg_config_help(void) { return lg__config_help(); }
