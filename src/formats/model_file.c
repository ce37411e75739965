/* model_file.c: a model as one file, lg_model_save and lg_model_load: safetensors with the parameters by their names,
 * and in the metadata each field of lg_model_config as text, {"format": "lengthen", "width": "64", ..}. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "engine/model.h"
#include "formats/import.h"
#include "formats/safetensors.h"
#include "positions/positions.h"

enum kind { WHOLE, REAL, SEED };
#define FIELD(kind, name)                                                                          \
    {                                                                                              \
#name, offsetof(lg_model_config, name), kind, 0                                            \
    }
#define LIST(name, count)                                                                          \
    {                                                                                              \
#name, offsetof(lg_model_config, name), WHOLE, count                                       \
    }
/* All but encoding, which is a name, and isa, which is the machine's. Enums are whole numbers. */
static const struct field {
    const char *name;
    size_t at;
    enum kind kind;
    int list; /* so many of them, "window_lo.0", ..; 0: one, not a list */
} fields[] = {
    FIELD(WHOLE, arch),
    FIELD(WHOLE, vocab),
    FIELD(WHOLE, layers),
    FIELD(WHOLE, width),
    FIELD(WHOLE, heads),
    FIELD(WHOLE, ff),
    FIELD(WHOLE, norm),
    FIELD(REAL, norm_eps),
    FIELD(WHOLE, act),
    FIELD(WHOLE, biases),
    FIELD(WHOLE, parallel),
    FIELD(WHOLE, tied),
    FIELD(WHOLE, loops),
    FIELD(WHOLE, inject),
    FIELD(WHOLE, levels),
    FIELD(WHOLE, max_id),
    FIELD(REAL, rope_share),
    FIELD(REAL, rope_base),
    FIELD(REAL, rope_factor),
    FIELD(WHOLE, rope_scaling),
    FIELD(WHOLE, rope_length),
    FIELD(WHOLE, span),
    LIST(window_lo, LG_LEVELS),
    LIST(window_hi, LG_LEVELS),
    FIELD(WHOLE, attention),
    FIELD(WHOLE, sink),
    LIST(id_classes, LG_LEVELS),
    LIST(pointer, LG_LEVELS),
    LIST(match, LG_LEVELS),
    FIELD(WHOLE, key_tokens),
    LIST(key_token, LG_KEY_TOKENS),
    FIELD(SEED, seed),
};
enum { FIELDS = sizeof fields / sizeof *fields, TEXT = 32, MOST = FIELDS * LG_KEY_TOKENS + 2 };

/* The value of a field, level by level: its key and where it lies. */
static void *value_at(lg_model_config *c, const struct field *f, int level, char key[TEXT])
{
    if (f->list)
        snprintf(key, TEXT, "%s.%d", f->name, level);
    else
        snprintf(key, TEXT, "%s", f->name);
    return (char *)c + f->at + (size_t)level * sizeof(int);
}

/* ---- Saving --------------------------------------------------------------------------------- */

struct metas {
    struct lg__meta meta[MOST];
    char key[MOST][TEXT], text[MOST][TEXT];
    int count;
};

static void describe(struct metas *m, const lg_model *model)
{
    lg_model_config c = model->config;
    m->meta[m->count++] = (struct lg__meta){"format", "lengthen"};
    m->meta[m->count++] = (struct lg__meta){"encoding", model->encoding->name};
    for (int i = 0; i < FIELDS; i++)
        for (int l = 0; l < (fields[i].list ? fields[i].list : 1); l++) {
            char *text = m->text[m->count];
            const void *at = value_at(&c, &fields[i], l, m->key[m->count]);
            if (fields[i].kind == REAL)
                snprintf(text, TEXT, "%.17g", *(const double *)at);
            else if (fields[i].kind == SEED)
                snprintf(text, TEXT, "%" PRIu64, *(const uint64_t *)at);
            else
                snprintf(text, TEXT, "%d", *(const int *)at);
            m->meta[m->count] = (struct lg__meta){m->key[m->count], text};
            m->count++;
        }
}

static int put(void *to, const void *data, size_t size, lg_error *err)
{
    struct lg__part *part = to;
    if (fwrite(data, 1, size, part->file) == size) return 0;
    return lg__fail_write(err, part->path, errno);
}

int lg_model_save(const lg_model *m, const char *file, lg_error *err)
{
    struct metas *metas = lg__alloc(sizeof *metas);
    struct lg__stored *t = lg__alloc((size_t)m->tensor_count * sizeof *t);
    struct lg__part part = {0};
    int e = metas && t ? 0
                       : lg__fail(err, LG_ERROR_MEMORY,
                                  "%s: no memory to save a model; end other programs", file);
    for (int i = 0; !e && i < m->tensor_count; i++) {
        lg_param p = lg_model_param(m, i);
        t[i] = (struct lg__stored){.name = p.name,
                                   .dims = 2,
                                   .shape = {p.rows, p.cols},
                                   .data = p.data,
                                   .size = (size_t)p.rows * (size_t)p.cols * sizeof(float)};
    }
    if (!e) {
        describe(metas, m);
        e = lg__part_open(&part, file, err);
    }
    if (!e)
        e = lg__safetensors_write(t, m->tensor_count, metas->meta, metas->count, file, put, &part,
                                  err);
    if (!e)
        e = lg__part_keep(&part, err);
    else
        lg__part_drop(&part);
    free(t);
    free(metas);
    return e;
}

/* ---- Loading -------------------------------------------------------------------------------- */

static int no_model(const char *file, const char *what, const char *name, lg_error *err)
{
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: %s %s; load a file that lg_model_save of this version has written", file,
                    what, name);
}

static int read_field(const struct lg__safetensors *s, const struct field *f, int level,
                      lg_model_config *c, const char *file, lg_error *err)
{
    char key[TEXT], *end = NULL;
    void *at = value_at(c, f, level, key);
    const char *text = lg__safetensors_meta(s, key);
    if (!text || !*text) return no_model(file, "its metadata lack", key, err);
    errno = 0;
    if (f->kind == REAL)
        *(double *)at = strtod(text, &end);
    else if (f->kind == SEED)
        *(uint64_t *)at = strtoull(text, &end, 10);
    else
        *(int *)at = (int)strtol(text, &end, 10);
    return *end || errno ? no_model(file, "its metadata have no number as", key, err) : 0;
}

static int read_config(const struct lg__safetensors *s, lg_model_config *c, const char *file,
                       lg_error *err)
{
    const char *format = lg__safetensors_meta(s, "format");
    int e = format && strcmp(format, "lengthen") == 0
                ? 0
                : no_model(file, "its metadata do not say", "format lengthen", err);
    c->encoding = lg__safetensors_meta(s, "encoding");
    if (!e && !c->encoding) e = no_model(file, "its metadata lack", "encoding", err);
    for (int i = 0; i < FIELDS && !e; i++)
        for (int l = 0; l < (fields[i].list ? fields[i].list : 1) && !e; l++)
            e = read_field(s, &fields[i], l, c, file, err);
    return e;
}

static int read_params(const struct lg__safetensors *s, lg_model *m, const char *file,
                       lg_error *err)
{
    if (s->count != m->tensor_count)
        return no_model(file, "it has too few or too many tensors for", "its config", err);
    for (int i = 0; i < m->tensor_count; i++) {
        lg_param p = lg_model_param(m, i);
        const struct lg__stored *t = lg__safetensors_find(s, p.name);
        if (!t || t->dims != 2 || t->shape[0] != p.rows || t->shape[1] != p.cols)
            return no_model(file, "it has no tensor of the shape that its config asks for,", p.name,
                            err);
        lg__stored_read(t, 0, 1, p.data, (size_t)p.rows * (size_t)p.cols);
    }
    lg_model_touch(m);
    return 0;
}

lg_model *lg_model_load(const char *file, lg_error *err)
{
    struct lg__mapped f = {0};
    struct lg__safetensors s = {0};
    lg_model_config c = {0};
    lg_error why = {0};
    lg_model *m = NULL;
    if (lg__map_file(&f, file, "name a file that lg_model_save has written", err)) return NULL;
    if (!lg__safetensors_open(&s, f.data, f.size, file, err)) {
        if (!read_config(&s, &c, file, err)) {
            m = lg__model_new_zero(&c, lg__encodings, &why);
            if (!m) lg__fail(err, why.code, "%s: %s", file, why.text);
        }
        if (m && read_params(&s, m, file, err)) {
            lg_model_free(m);
            m = NULL;
        }
        lg__safetensors_close(&s);
    }
    lg__unmap_file(&f);
    return m;
}
