/* import_run.c: a run's folder from published weights, and back: what has weights, a config and a
 * tokenizer can be evaluated, probed and asked like any run. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/arch.h"
#include "positions/ids.h"
#include "positions/positions.h"
#include "runs/checkpoint.h"
#include "formats/import.h"
#include "runs/run.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "base/files.h"

enum { SETS = 40 };

/* ---- The config ---------------------------------------------------------------------------- */

struct sets {
    char *list[SETS];
    int count, lost; /* lost: no memory for one */
};

static void say(struct sets *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sets *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (vasprintf(&s->list[s->count], format, args) < 0)
        s->lost = 1;
    else
        s->count++;
    va_end(args);
}

static const char *yes(int flag) { return flag ? "yes" : "no"; }

/* Words in the order of their enums. */
static void say_model(struct sets *s, const lg_model_config *c)
{
    static const char *const norm[] = {"layer", "plain", "rms"};
    static const char *const act[] = {"gelu", "gelu-tanh", "swiglu"};
    static const char *const scaling[] = {"none", "linear", "ntk", "dynamic", "yarn"};
    say(s, "model.arch=%s", lg__archs[c->arch]->name);
    say(s, "model.layers=%d", c->layers);
    say(s, "model.width=%d", c->width);
    say(s, "model.heads=%d", c->heads);
    say(s, "model.ff=%d", c->ff);
    say(s, "model.norm=%s", norm[c->norm]);
    say(s, "model.norm_eps=%.17g", c->norm_eps);
    say(s, "model.act=%s", act[c->act]);
    say(s, "model.biases=%s", yes(c->biases));
    say(s, "model.parallel=%s", yes(c->parallel));
    say(s, "model.tied=%s", yes(c->tied));
    say(s, "positions.encoding=%s", c->encoding);
    if (lg__encoding_has(c->encoding, LG__ENCODING_ROWS)) say(s, "positions.max_id=%d", c->max_id);
    say(s, "positions.rope.share=%.17g", c->rope_share);
    say(s, "positions.rope.base=%.17g", c->rope_base);
    say(s, "positions.rope.scaling=%s", scaling[c->rope_scaling]);
    say(s, "positions.rope.factor=%.17g", c->rope_factor);
    say(s, "positions.rope.length=%d", c->rope_length);
}

/* All documents of the texts are held out: the model was trained on others. */
static void say_task(struct sets *s, const lg_import_options *o, const lg_model_config *c,
                     const char *tokenizer, int length)
{
    say(s, "task.name=text");
    say(s, "task.text=%s", o->texts ? o->texts : "");
    if (o->field) say(s, "task.field=%s", o->field);
    say(s, "task.tokenizer=%s", tokenizer);
    say(s, "task.test=1");
    say(s, "task.vocab=%d", c->vocab);
    say(s, "train.steps=1");
    say(s, "train.length=[1, %d]", length);
    say(s, "eval.lengths=[%d]", length);
}

/* The config must say all that the model is: else the run would be another function. */
static int check_same(const lg_model *m, const struct lg__run *r, const char *path, lg_error *err)
{
    const lg_model_config *a = lg_model_get_config(m), *b = lg_model_get_config(r->model);
    int same = lg_model_param_count(m) == lg_model_param_count(r->model) &&
               a->norm_eps == b->norm_eps && a->rope_share == b->rope_share &&
               a->rope_base == b->rope_base && a->rope_scaling == b->rope_scaling &&
               a->rope_factor == b->rope_factor && a->parallel == b->parallel &&
               a->norm == b->norm && a->act == b->act && a->tied == b->tied &&
               strcmp(a->encoding, b->encoding) == 0 && a->attention == b->attention &&
               a->span == b->span;
    for (int i = 0; i < lg_model_param_count(m) && same; i++) {
        lg_param p = lg_model_param(m, i), q = lg_model_param(r->model, i);
        same = strcmp(p.name, q.name) == 0 && p.rows == q.rows && p.cols == q.cols;
    }
    if (same) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: a run's config cannot say what this model is; please report its "
                    "config.json",
                    path);
}

/* ---- Importing -------------------------------------------------------------------------------- */

/* As if the run had made its one step. */
static int save(const struct lg__run *r, lg_model *m, const char *folder, int length, lg_error *err)
{
    char path[LG__IMPORT_PATH];
    struct lg__run_note n = {.step = 1, .enough = 1, .length = length};
    lg_buffer b = {0};
    int e = lg__file_path(path, sizeof path, folder, "checkpoint", err);
    lg_trainer *t = e ? NULL : lg_trainer_new(m, &r->options, err);
    if (!t) return e ? e : LG_ERROR_MEMORY;
    lg_trainer_set_steps(t, 1);
    memcpy(n.kernels, r->kernels, sizeof n.kernels);
    lg__run_write_note(&n, &b);
    char *note = lg_buffer_take(&b, err);
    e = note ? lg__checkpoint_save(path, m, t, note, 1, err) : LG_ERROR_MEMORY;
    free(note);
    lg_trainer_free(t);
    return e;
}

/* Whether the run that is there has its weights: an import that was killed is made again. */
static int is_whole(const char *folder)
{
    char path[LG__IMPORT_PATH];
    return lg__file_path(path, sizeof path, folder, "checkpoint", NULL) || lg__run_has_steps(path);
}

/* A failed import removes its tokenizer's folder, and so may not begin with one of the user's. */
static int check_no_tokenizer(const char *folder, lg_error *err)
{
    char path[LG__IMPORT_PATH];
    struct stat st;
    int e = lg__file_path(path, sizeof path, folder, LG__RUN_TOKENIZER, err);
    if (!e && lstat(path, &st) == 0)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is there already and would be written over; take another folder", path);
    return e;
}

/* A tokenizer.bin that was cut off between two tokens looks whole: `all` of the model's are needed. */
static int check_tokens(const lg_model *m, int all, const char *tokenizer, lg_error *err)
{
    lg_tokenizer *t = lg_tokenizer_open(tokenizer, err);
    if (!t) return err->code;
    int has = (int)lg_tokenizer_get_info(t).vocab, wanted = lg_model_get_config(m)->vocab;
    lg_tokenizer_free(t);
    if (has == wanted || (has < wanted && !all)) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s has %d tokens, the model %d: take the model's own tokenizer, whole "
                    "(--tokenizer)",
                    tokenizer, has, wanted);
}

static int make_run(const lg_import_options *o, lg_model *m, const char *tokenizer, int length,
                    struct sets *s, lg_error *err)
{
    struct lg__run r = {0};
    int there = 0, lock = -1;
    const lg_model_config *c = lg_model_get_config(m);
    say_task(s, o, c, tokenizer, length);
    say_model(s, c);
    int e = s->lost ? lg__fail(err, LG_ERROR_MEMORY, "no memory for a config")
                    : lg__run_open(&r, NULL, (const char *const *)s->list, s->count, err);
    if (!e) e = check_same(m, &r, o->path, err);
    if (!e && is_whole(o->folder))
        e = lg__fail(err, LG_ERROR_ARGUMENT, "%s holds a run already; take another folder",
                     o->folder);
    if (!e) e = lg__run_check_folder(&r, o->folder, LG_RUN_EITHER, &there, err);
    if (!e && !there) e = check_no_tokenizer(o->folder, err);
    if (!e) e = lg__run_claim_folder(&r, o->folder, LG_RUN_EITHER, &there, &lock, err);
    if (!e && ((e = lg__run_keep_tokenizer(tokenizer, o->folder, err)) ||
               (e = save(&r, m, o->folder, length, err))))
        lg__run_remove_folder(o->folder, NULL);
    if (lock >= 0) close(lock);
    lg__run_close(&r);
    return e;
}

int lg_run_import(const lg_import_options *o, lg_import_info *info, lg_error *err)
{
    lg_import_info own;
    lg_error mine;
    struct sets s = {.count = 0};
    if (!info) info = &own;
    if (!err) err = &mine;
    lg_model *m = lg_import(o->path, info, err);
    const char *tokenizer = o->tokenizer ? o->tokenizer : info->tokenizer;
    int e = m ? 0 : err->code;
    if (m && !*tokenizer)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "there is no tokenizer beside %s; give its file, or bytes (--tokenizer)",
                     o->path);
    if (!e) e = check_tokens(m, info->vocab_is_whole && strcmp(tokenizer, "bytes"), tokenizer, err);
    if (!e) e = make_run(o, m, tokenizer, info->length, &s, err);
    lg_model_free(m);
    for (int i = 0; i < s.count; i++) free(s.list[i]);
    return e;
}

/* ---- Exporting -------------------------------------------------------------------------------- */

/* The tokenizer.json of a run of texts; "" if its tokenizer is of another kind. */
static void find_tokenizer(const struct lg__run *r, const char *folder, char path[LG__IMPORT_PATH])
{
    char own[LG__IMPORT_PATH];
    const char *said = "";
    struct stat st;
    path[0] = 0;
    for (int i = 0; i < r->config.setting_count; i++)
        if (strncmp(r->config.settings[i], "tokenizer=", 10) == 0)
            said = r->config.settings[i] + 10;
    snprintf(own, sizeof own, "%.4000s/" LG__RUN_TOKENIZER, folder);
    if (stat(own, &st) == 0) said = own;
    if (stat(said, &st)) return;
    if (S_ISDIR(st.st_mode)) {
        lg__import_beside(path, said, "tokenizer.json");
        return;
    }
    size_t n = strlen(said);
    const char *slash = strrchr(said, '/'), *name = slash ? slash + 1 : said;
    if (n > 5 && strcmp(said + n - 5, ".json") == 0 && strcmp(name, "encoder.json") != 0 &&
        strcmp(name, "vocab.json") != 0)
        snprintf(path, LG__IMPORT_PATH, "%s", said);
}

/* The token that ends a text of this tokenizer ("": none). */
static int32_t end_of_text(const char *tokenizer)
{
    lg_tokenizer *t = *tokenizer ? lg_tokenizer_open(tokenizer, NULL) : NULL;
    int32_t end = t ? lg_tokenizer_get_info(t).end : LG_NONE;
    lg_tokenizer_free(t);
    return end;
}

int lg_run_export(const char *folder, const char *to, int fallback, int *tokenizer,
                  lg_error *warning, lg_error *err)
{
    struct lg__run r = {0};
    char path[LG__IMPORT_PATH];
    lg_error own;
    if (!err) err = &own;
    int e = lg__run_open_weights(&r, folder, fallback, warning, err);
    if (!e) find_tokenizer(&r, folder, path);
    /* IDs with a target train for texts up to it. */
    int length = lg__text_longest(&r.config, r.longest);
    int target = !e && (lg__ids_flags(r.scheme.ids) & LG__IDS_TARGET) ? r.scheme.target : 0;
    if (target > length) length = target;
    if (!e) e = lg__export(r.model, length, *path ? path : NULL, end_of_text(path), to, err);
    *tokenizer = !e && *path;
    lg__run_close(&r);
    return e;
}
