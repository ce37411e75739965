/* run.c: a run from its config to its last checkpoint, and the grid of what it can do. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "checkpoint.h"
#include "config.h"
#include "lengthen.h"

enum { STREAM_TRAIN = 1, STREAM_IDS = 2, STREAM_TEST = 3, STREAM_STOP = 4 };
enum { STOP_EVERY = 100, STOP_SAMPLES = 100 }; /* early stop: how often, on how many examples */

/* Everything that a run has open. */
struct run {
    struct lg__config config;
    lg_task *task;
    lg_scheme scheme;
    lg_model_config model_config;
    lg_train_options options;
    lg_model *model;
    lg_trainer *trainer;
    lg_batch batch;
    lg_example example;
    char remark[512];
    /* The curriculum: what the examples may be now, and how well they are answered. */
    int length, sparsity;
    double learned;
    int enough; /* stopped early: there is nothing to go on with */
};

static void close_run(struct run *r)
{
    lg_trainer_free(r->trainer);
    lg_model_free(r->model);
    lg_task_free(r->task);
    lg_batch_clear(&r->batch);
    lg_example_clear(&r->example);
    lg__config_clear(&r->config);
}

/* ---- The folder ------------------------------------------------------------------------ */

static int join(char *path, size_t size, const char *folder, const char *name, lg_error *err)
{
    int n = snprintf(path, size, "%s/%s", folder, name);
    if (n > 0 && (size_t)n < size) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "the folder's name %.40s.. is too long", folder);
}

static int write_file(const char *path, const char *text, lg_error *err)
{
    char part[4200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "w");
    int ok = f && fputs(text, f) >= 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (f && fclose(f) != 0) ok = 0;
    if (ok && rename(part, path) == 0) return 0;
    return lg__fail(err, LG_ERROR_SYSTEM, "%s could not be written (%s); is the disk full?", path,
                    strerror(errno));
}

/* The whole file, or NULL. */
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used - 1, f);
        if (used < room - 1) break;
        char *more = realloc(text, room *= 2);
        if (!more) free(text);
        text = more;
    }
    if (text) text[used] = 0;
    fclose(f);
    return text;
}

/* The first line in which two texts differ, of the second one. */
static void first_difference(const char *a, const char *b, char *line, size_t size)
{
    const char *start = b;
    for (; *a && *a == *b; a++, b++)
        if (*b == '\n') start = b + 1;
    snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
}

/* The folder and those it lies in. */
static int make_folders(const char *folder, lg_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1;; at++) {
        char was = *at;
        if (was && was != '/') continue;
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return lg__fail(err, LG_ERROR_SYSTEM, "the folder %s could not be made: %s", path,
                            strerror(errno));
        if (!was) return 0;
        *at = was;
    }
}

/* A new run makes its folder; a resumed one must be the same run. */
static int claim_folder(const struct run *r, const lg_run_options *o, lg_error *err)
{
    char path[4096], line[200];
    int e = join(path, sizeof path, o->folder, "config.yaml", err);
    if (e) return e;
    char *text = lg__config_text(&r->config), *old = read_file(path);
    if (!text) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the config; end other programs");
    if (!e && old && !o->resume)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds a run already; go on with it (--resume), or take another folder "
                     "(--out)",
                     o->folder);
    if (!e && !old && o->resume)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds no run to resume (there is no %s); leave --resume out", o->folder,
                     path);
    if (!e && old && strcmp(old, text) != 0) {
        first_difference(text, old, line, sizeof line);
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is a run of another config: there it says \"%s\"; resume it with that "
                     "one, or take another folder (--out)",
                     o->folder, line);
    }
    if (!e && !old) e = make_folders(o->folder, err);
    if (!e && !old) e = write_file(path, text, err);
    free(text);
    free(old);
    return e;
}

/* ---- Examples -------------------------------------------------------------------------- */

/* The highest sparsity of training; 0: the task's own range. */
static int most_sparsity(const struct run *r) { return r->config.sparsity[1]; }

static lg_draw draw_of(const struct run *r, uint32_t stream, uint64_t index)
{
    const struct lg__config *c = &r->config;
    lg_draw d = {.seed = (uint64_t)c->seed, .stream = stream, .index = index};
    d.length_lo = c->length[0];
    d.length_hi = r->length;
    if (most_sparsity(r)) {
        d.sparsity_lo = c->sparsity[0];
        d.sparsity_hi = r->sparsity;
    }
    return d;
}

static int fill_batch(struct run *r, int64_t step, lg_error *err)
{
    int e = 0;
    lg_batch_reset(&r->batch);
    for (int i = 0; i < r->config.batch && !e; i++) {
        uint64_t index = (uint64_t)step * (uint64_t)r->config.batch + (uint64_t)i;
        lg_draw d = draw_of(r, STREAM_TRAIN, index);
        lg_rng ids;
        lg_rng_init(&ids, d.seed, STREAM_IDS, index);
        if (!(e = lg_task_example(r->task, &d, &r->example, err)))
            e = lg_scheme_add(&r->scheme, r->task, &r->example, &ids, &r->batch, err);
    }
    return e;
}

/* ---- The curriculum ---------------------------------------------------------------------- */

static void start_curriculum(struct run *r)
{
    int kind = r->config.curriculum;
    r->length = r->config.length[1];
    r->sparsity = r->config.sparsity[1];
    r->learned = 0;
    if (kind == LG__CURRICULUM_LENGTH || kind == LG__CURRICULUM_BOTH)
        r->length = r->config.length[0];
    if (kind == LG__CURRICULUM_SPARSITY || kind == LG__CURRICULUM_BOTH)
        r->sparsity = r->config.sparsity[0];
}

/* Once nearly all tokens of the last hundred steps or so are right, one more of each. */
static void follow_curriculum(struct run *r, double accuracy)
{
    int length = r->length < r->config.length[1], sparsity = r->sparsity < r->config.sparsity[1];
    r->learned += 0.05 * (accuracy - r->learned);
    if (r->learned < 0.98 || (!length && !sparsity)) return;
    r->length += length;
    r->sparsity += sparsity;
    r->learned = 0;
}

/* The state that is not in the parameters, as text and back; %a keeps every bit. */
static void write_note(const struct run *r, char *note, size_t size)
{
    snprintf(note, size, "length %d sparsity %d learned %a enough %d", r->length, r->sparsity,
             r->learned, r->enough);
}

static int read_note(struct run *r, const char *note, lg_error *err)
{
    if (sscanf(note, "length %d sparsity %d learned %la enough %d", &r->length, &r->sparsity,
               &r->learned, &r->enough) == 4)
        return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the checkpoint's note \"%.60s\" is not one of a run; was it saved by another "
                    "program?",
                    note);
}

/* ---- Training ---------------------------------------------------------------------------- */

static int open_run(struct run *r, lg_error *err)
{
    int e = lg__config_open(&r->config, &r->task, &r->scheme, &r->model_config, &r->options, err);
    if (e) return e;
    snprintf(r->remark, sizeof r->remark, "%s", err ? err->text : "");
    r->model = lg_model_new(&r->model_config, err);
    return r->model ? 0 : LG_ERROR_MEMORY;
}

static int save(struct run *r, const char *folder, lg_error *err)
{
    char path[4096], note[200];
    int e = join(path, sizeof path, folder, "checkpoint", err);
    write_note(r, note, sizeof note);
    return e ? e : lg__checkpoint_save(path, r->model, r->trainer, note, r->config.keep, err);
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

static int load(struct run *r, const char *folder, lg_error *warning, lg_error *err)
{
    char path[4096], *note = NULL;
    int e = join(path, sizeof path, folder, "checkpoint", err);
    *warning = (lg_error){0};
    if (e || (r->trainer && !has_steps(path))) return e; /* from the start */
    e = lg__checkpoint_load(path, r->model, r->trainer, r->trainer ? &note : NULL, warning, err);
    if (!e && note) e = read_note(r, note, err);
    free(note);
    return e;
}

/* Whether training-length examples are answered well enough to stop early. */
static int good_enough(struct run *r, lg_error *err)
{
    lg_score s;
    int predicted = 0, e;
    for (int l = 0; l < r->model_config.levels; l++) predicted |= r->model_config.id_classes[l] > 0;
    lg_draw d = draw_of(r, STREAM_STOP, (uint64_t)lg_trainer_steps(r->trainer) * STOP_SAMPLES);
    e = lg_answer(r->model, r->task, &r->scheme, &d, STOP_SAMPLES, predicted, &s, err);
    r->enough = !e && s.exact >= r->config.stop_at * s.samples;
    return e;
}

static int whole_range(const struct run *r)
{
    return r->length == r->config.length[1] && r->sparsity == r->config.sparsity[1];
}

static int one_step(struct run *r, lg_run_step *told, lg_error *err)
{
    lg_train_result t;
    int64_t step = lg_trainer_steps(r->trainer);
    int e = fill_batch(r, step, err);
    if (e || (e = lg_trainer_step(r->trainer, &r->batch, &t, err))) return e;
    double accuracy = t.targets ? (double)t.right / t.targets : 0;
    *told = (lg_run_step){.step = t.step,
                          .steps = r->options.steps,
                          .loss = t.loss,
                          .id_loss = t.id_loss,
                          .accuracy = accuracy,
                          .id_accuracy = t.id_targets ? (double)t.id_right / t.id_targets : 0,
                          .lr = t.lr,
                          .tokens = r->batch.rows,
                          .length = r->length,
                          .sparsity = r->sparsity};
    if (r->config.curriculum != LG__CURRICULUM_NONE) follow_curriculum(r, accuracy);
    return 0;
}

static int train(struct run *r, const lg_run_options *o, lg_run_watch *watch, void *context,
                 const char *note, int *done, lg_error *err)
{
    int e = 0, more = 1, saved = 1;
    while (!e && more && !r->enough && lg_trainer_steps(r->trainer) < r->options.steps) {
        lg_run_step told;
        if ((e = one_step(r, &told, err))) break;
        told.note = note && *note ? note : NULL;
        note = NULL;
        saved = 0;
        if (r->config.stop_at > 0 && told.step % STOP_EVERY == 0 && whole_range(r))
            e = good_enough(r, err);
        if (!e && r->config.checkpoint_every && told.step % r->config.checkpoint_every == 0) {
            e = save(r, o->folder, err);
            saved = !e;
        }
        if (!e && watch) more = watch(context, &told);
    }
    if (!e && !saved) e = save(r, o->folder, err);
    *done = !e && (r->enough || lg_trainer_steps(r->trainer) >= r->options.steps);
    return e;
}

int lg_run_train(const lg_run_options *o, lg_run_watch *watch, void *context, int *done,
                 lg_error *err)
{
    lg_error own, warning = {0};
    struct run r = {0};
    if (!err) err = &own;
    *done = 0;
    lg_batch_init(&r.batch);
    lg_example_init(&r.example);
    int e = lg__config_read(&r.config, o->config, o->sets, o->set_count, err);
    if (!e) e = open_run(&r, err);
    if (!e) {
        r.options.threads = o->threads;
        start_curriculum(&r);
        r.trainer = lg_trainer_new(r.model, &r.options, err);
        e = r.trainer ? claim_folder(&r, o, err) : LG_ERROR_MEMORY;
    }
    if (!e && o->resume) e = load(&r, o->folder, &warning, err);
    if (!e) e = train(&r, o, watch, context, warning.text[0] ? warning.text : r.remark, done, err);
    close_run(&r);
    return e;
}

/* ---- The grid -------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wilson(lg_run_cell *cell)
{
    double n = cell->score.samples, p = cell->score.exact / n, z = 1.959963984540054;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    cell->low = fmax(0, middle - half);
    cell->high = fmin(1, middle + half);
}

/* One cell; *made is 0 if the task cannot make such examples. */
static int run_cell(struct run *r, lg_run_cell *cell, int samples, int *made, lg_error *err)
{
    lg_draw d = {.seed = (uint64_t)r->config.seed, .stream = STREAM_TEST};
    d.length_lo = d.length_hi = cell->length;
    d.sparsity_lo = d.sparsity_hi = cell->sparsity;
    double since = now();
    *made = !cell->sparsity || cell->sparsity <= cell->length;
    int e = *made ? lg_task_example(r->task, &d, &r->example, err) : 0;
    if (e || !*made) return e;
    cell->tokens = r->example.n;
    if (r->model_config.rope_scaling == LG_ROPE_DYNAMIC &&
        (e = lg_model_set_length(r->model, r->example.n, err)))
        return e;
    e = lg_answer(r->model, r->task, &r->scheme, &d, samples, cell->predicted, &cell->score, err);
    if (!e)
        e = lg_answer_taught(r->model, r->task, &r->scheme, &d, samples, cell->predicted, 0,
                             &cell->taught, err);
    cell->seconds = now() - since;
    if (!e) wilson(cell);
    return e;
}

static int run_grid(struct run *r, const lg_eval_options *o, lg_run_table *table, void *context,
                    lg_error *err)
{
    static const int any[] = {0};
    const struct lg__config *c = &r->config;
    const int *lengths = o->lengths ? o->lengths : c->eval_lengths.at;
    const int *sparsities = o->sparsities ? o->sparsities : c->eval_sparsities.at;
    int nl = o->lengths ? o->length_count : c->eval_lengths.count;
    int ns = o->sparsities ? o->sparsity_count : c->eval_sparsities.count;
    int predicts = 0, samples = o->samples ? o->samples : c->eval_samples;
    for (int l = 0; l < r->model_config.levels; l++) predicts |= r->model_config.id_classes[l] > 0;
    if (o->predicted == 1 && !predicts)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no ID heads, so there are no predicted IDs; ask for given ones",
                        o->folder);
    if (!ns) sparsities = any, ns = 1;
    for (int p = o->predicted == 1; p <= (o->predicted && predicts); p++)
        for (int s = 0; s < ns; s++)
            for (int i = 0; i < nl; i++) {
                lg_run_cell cell = {
                    .length = lengths[i], .sparsity = sparsities[s], .predicted = p};
                int made, e = run_cell(r, &cell, samples, &made, err);
                if (e) return e;
                if (made) table(context, &cell);
            }
    return 0;
}

int lg_run_eval(const lg_eval_options *o, lg_run_table *table, void *context, lg_error *warning,
                lg_error *err)
{
    lg_error own, ignored;
    struct run r = {0};
    char path[4096];
    struct stat st;
    if (!err) err = &own;
    lg_batch_init(&r.batch);
    lg_example_init(&r.example);
    int e = join(path, sizeof path, o->folder, "config.yaml", err);
    if (!e && stat(path, &st) != 0)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is no run: there is no %s; train one with lengthen train", o->folder,
                     path);
    if (!e) e = lg__config_read(&r.config, path, NULL, 0, err);
    if (!e) e = open_run(&r, err);
    if (!e) e = load(&r, o->folder, warning ? warning : &ignored, err);
    if (!e) e = run_grid(&r, o, table, context, err);
    close_run(&r);
    return e;
}

char *lg_config_page(void) { return lg__config_page(); }
char *lg_config_help(void) { return lg__config_help(); }
