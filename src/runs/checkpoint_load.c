/* checkpoint_load.c: loads a checkpoint after every byte of it was checked, the weights alone or with the
 * optimizer's state. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/checkpoint.h"
#include "runs/checkpoint_files.h"

/* A checkpoint that was read. */
struct loaded {
    struct lg__content bytes;
    struct lg__safetensors model, state; /* state: empty where the weights alone are loaded */
    int weights;
    lg__path_text model_path, state_path;
};

static void loaded_free(struct loaded *l)
{
    lg__safetensors_close(&l->model);
    lg__safetensors_close(&l->state);
    lg__content_free(&l->bytes);
}

static void shape_text(char *out, size_t room, const struct lg__stored *s)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < s->dims && used < room; i++)
        used +=
            (size_t)snprintf(out + used, room - used, "%s%" PRId64, i ? " x " : "", s->shape[i]);
}

/* The file's tensor of that name has the parameter's shape. */
static int check_tensor(const struct lg__safetensors *s, const char *file, const char *name,
                        const lg_param *p, lg_error *err)
{
    static const char remedy[] = "use the settings of the model that was saved, or another folder";
    const struct lg__stored *t = lg__safetensors_find(s, name);
    struct lg__stored want = {0};
    char has[LG__STORED_DIMS * 24], wants[LG__STORED_DIMS * 24];
    lg__checkpoint_set_shape(&want, p);
    if (!t)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s has no tensor %s, which the model needs; %s",
                        file, name, remedy);
    if (t->dims == want.dims && memcmp(t->shape, want.shape, sizeof want.shape) == 0) return 0;
    shape_text(has, sizeof has, t);
    shape_text(wants, sizeof wants, &want);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s: tensor %s is %s, the model's is %s; %s", file,
                    name, has, wants, remedy);
}

/* Every parameter, and every moment unless the weights alone are loaded, is there. */
static int check_tensors(const struct loaded *l, const lg_model *m, lg_error *err)
{
    char name[LG__MOMENT_NAME];
    int e = 0;
    for (int i = 0; i < lg_model_param_count(m) && !e; i++) {
        lg_param p = lg_model_param(m, i);
        e = check_tensor(&l->model, l->model_path, p.name, &p, err);
        for (int second = 0; second < 2 && !e && !l->weights; second++)
            e = check_tensor(&l->state, l->state_path, lg__moment_name(name, p.name, second), &p,
                             err);
    }
    return e;
}

/* No tensor is there that the model does not have; they were all found, so a count tells. */
static int check_no_more(const struct loaded *l, const lg_model *m, lg_error *err)
{
    int n = lg_model_param_count(m);
    for (int i = 0; l->model.count != n && i < l->model.count; i++)
        if (lg_model_param_find(m, l->model.tensors[i].name) < 0)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has a tensor %s, which the model does not have; use the settings "
                            "of the model that was saved, or another folder",
                            l->model_path, l->model.tensors[i].name);
    if (l->weights || l->state.count == 2 * n) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s has %d tensors, the model needs %d; use the settings of the model that "
                    "was saved, or another folder",
                    l->state_path, l->state.count, 2 * n);
}

static int check_metadata(const struct lg__safetensors *s, const char *file, int64_t of,
                          lg_error *err)
{
    const char *format = lg__safetensors_meta(s, "format_version");
    const char *step = lg__safetensors_meta(s, "step");
    char right[32];
    if (!format || strcmp(format, LG__CHECKPOINT_FORMAT) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has format_version %s, this program reads " LG__CHECKPOINT_FORMAT
                        "; use the program that wrote it",
                        file, format ? format : "none");
    snprintf(right, sizeof right, "%" PRId64, of);
    if (!step || strcmp(step, right) != 0)
        return lg__checkpoint_is_damaged(file, "has another step than its folder", err);
    return 0;
}

static int open_tensors(struct lg__safetensors *s, const struct lg__block *b, size_t size,
                        const char *file, int64_t step, lg_error *err)
{
    int e = lg__safetensors_open(s, b->data, size, file, err);
    if (e) return e == LG_ERROR_SYSTEM ? LG__CHECKPOINT_DAMAGED : e;
    return check_metadata(s, file, step, err);
}

/* Reads and checks one checkpoint: 0, LG__CHECKPOINT_DAMAGED, or an error. */
static int read_checkpoint(const char *folder, const struct lg__entry *entry, const lg_model *m,
                           struct loaded *l, lg_error *err)
{
    lg__path_text base;
    const struct lg__content *c = &l->bytes;
    int e = lg__content_read(folder, entry, l->weights, &l->bytes, err);
    if (e) return e;
    lg__checkpoint_join(base, folder, entry->name);
    lg__checkpoint_join(l->model_path, base, LG__CHECKPOINT_MODEL);
    lg__checkpoint_join(l->state_path, base, LG__CHECKPOINT_STATE);
    e = open_tensors(&l->model, &c->model, c->model_size, l->model_path, entry->step, err);
    if (!e && !l->weights)
        e = open_tensors(&l->state, &c->state, c->state_size, l->state_path, entry->step, err);
    if (!e) e = check_tensors(l, m, err);
    return e ? e : check_no_more(l, m, err);
}

static void copy_tensor(float *to, const struct lg__safetensors *s, const char *name)
{
    const struct lg__stored *t = lg__safetensors_find(s, name);
    memcpy(to, t->data, t->size);
}

/* From here on nothing can fail. */
static void apply(const struct loaded *l, int64_t step, lg_model *m, lg_trainer *t)
{
    char name[LG__MOMENT_NAME];
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        copy_tensor(p.data, &l->model, p.name);
        for (int second = 0; t && second < 2; second++)
            copy_tensor(lg_trainer_moment(t, i, second), &l->state,
                        lg__moment_name(name, p.name, second));
    }
    if (t) lg_trainer_set_steps(t, step);
    lg_model_touch(m);
}

/* Finds the newest whole one: its place in the list, or an error. Any but the first only with fallback. */
static int read_newest(const char *folder, const struct lg__listing *list, const lg_model *m,
                       int fallback, struct loaded *l, lg_error *warning, lg_error *err)
{
    lg_error first = {0}, why = {0};
    for (int i = 0; i < list->count; i++) {
        int64_t step = list->e[i].step;
        int e = read_checkpoint(folder, &list->e[i], m, l, &why);
        if (!e && i && !fallback)
            return lg__fail(err, LG_ERROR_SYSTEM,
                            "%s; bring back a copy, or add --fallback to use the older step "
                            "%" PRId64 " (`lengthen train --resume` has it, too)",
                            first.text, step);
        if (!e && i && warning)
            lg__fail(warning, LG_ERROR_SYSTEM, "%s; step %" PRId64 " is used instead%s", first.text,
                     step, i > 1 ? " (others between are damaged too)" : "");
        if (!e) return i;
        loaded_free(l);
        if (e < 0) {
            if (err) *err = why;
            return e;
        }
        if (!i) first = why;
    }
    if (!list->count)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s holds no checkpoint; give the folder of a run that has saved one, or "
                        "start from the beginning",
                        folder);
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s holds no whole checkpoint (of %d): %s; bring back a copy, or start from "
                    "the beginning in an empty folder",
                    folder, list->count, first.text);
}

int lg__checkpoint_load(const char *folder, lg_model *m, lg_trainer *t, int fallback, char **note,
                        lg_error *warning, lg_error *err)
{
    struct lg__listing list;
    int e = lg__checkpoint_check_folder(folder, err);
    if (warning) *warning = (lg_error){0};
    if (note) *note = NULL;
    if (e) return e;
    if (!m) return lg__fail(err, LG_ERROR_ARGUMENT, "there is no model to load into; give one");
    struct loaded *l = lg__alloc(sizeof *l);
    if (!l) return lg__checkpoint_no_memory(folder, err);
    l->weights = !t;
    e = lg__checkpoint_list(folder, &list, err);
    if (!e) e = read_newest(folder, &list, m, fallback, l, warning, err);
    if (e >= 0) {
        int64_t step = list.e[e].step;
        const char *text = l->bytes.note.data;
        e = 0;
        if (note && !(*note = lg__alloc(strlen(text) + 1)))
            e = lg__checkpoint_no_memory(folder, err);
        if (!e && note) strcpy(*note, text);
        if (!e) apply(l, step, m, t);
    }
    loaded_free(l);
    free(l);
    lg__block_free(&list.block);
    return e;
}
