/* export.c: a model as a Hugging Face folder that other tools open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "engine/model.h"
#include "formats/import.h"
#include "formats/layout.h"

static const char CONFIG[] = "config.json", WEIGHTS[] = "model.safetensors",
                  TOKENIZER[] = "tokenizer.json";

/* ---- What the formats can say ------------------------------------------------------------- */

static int cannot(const char *what, const char *remedy, lg_error *err)
{
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the formats of Hugging Face cannot say %s, so this model is not exported; %s",
                    what, remedy);
}

static int check_heads(const lg_model_config *c, lg_error *err)
{
    static const char remedy[] = "export a model that predicts tokens alone";
    for (int l = 0; l < c->levels; l++)
        if (c->id_classes[l] || c->pointer[l] || c->match[l])
            return cannot("heads that predict IDs", remedy, err);
    return 0;
}

static int check_common(const lg_model *m, lg_error *err)
{
    const lg_model_config *c = &m->config;
    char what[80];
    if (m->arch->unpublished) return cannot(m->arch->unpublished, "take arch neox or olmo", err);
    if (c->levels != 1) return cannot("several levels of IDs", "take one level", err);
    if (c->span != LG_SPAN_FULL)
        return cannot("attention to a window of IDs", "take span full", err);
    if (c->attention != LG_ATTENTION_SOFTMAX)
        return cannot("attention other than softmax", "take attention softmax", err);
    if (c->sink) return cannot("a sink", "take sink no", err);
    if (!m->encoding->frequencies || m->R < 2) {
        snprintf(what, sizeof what, "encoding %s%s", c->encoding,
                 m->R ? "" : " that turns nothing");
        return cannot(what, "take encoding rope, with a rope_share over 0", err);
    }
    if (c->rope_scaling != LG_ROPE_PLAIN && c->rope_scaling != LG_ROPE_LINEAR)
        return cannot("this rope_scaling as we mean it", "take plain or linear", err);
    return check_heads(c, err);
}

/* Which class it is; its layout. */
static int choose(const lg_model *m, struct lg__layout *l, const char **kind, lg_error *err)
{
    const lg_model_config *c = &m->config;
    int e = check_common(m, err), neox = c->norm == LG_NORM_LAYER && c->act != LG_ACT_SWIGLU;
    if (e) return e;
    *l = (struct lg__layout){.c = *c, .kv_heads = c->heads};
    if (neox) {
        l->format = LG__FORMAT_NEOX;
        l->attention_biases = l->ff_biases = 1;
        *kind = lg__archs[LG_ARCH_NEOX]->published[0].kind;
        return 0;
    }
    l->format = LG__FORMAT_LLAMA;
    *kind = lg__archs[LG_ARCH_OLMO]->published[c->norm == LG_NORM_RMS].kind;
    if (c->norm == LG_NORM_LAYER || c->act != LG_ACT_SWIGLU)
        return cannot("this norm together with this activation",
                      "take norm layer with gelu, or norm plain or rms with swiglu", err);
    if (c->parallel)
        return cannot("SwiGLU in parallel with the attention", "take parallel no", err);
    if (m->R != m->D)
        return cannot("SwiGLU with a part of each head turned", "take rope_share 1", err);
    if (c->norm == LG_NORM_PLAIN && c->biases)
        return cannot("biases in OLMo's feed-forward", "take biases no", err);
    if (c->norm == LG_NORM_PLAIN && c->norm_eps != 1e-5)
        return cannot("another norm_eps than OLMo's 1e-5", "take norm_eps 1e-5", err);
    l->attention_biases = l->ff_biases = c->biases;
    return 0;
}

/* ---- config.json -------------------------------------------------------------------------- */

/* The share whose whole part of a head is R dimensions, as the classes count. */
static double share_of(const lg_model *m)
{
    double share = m->config.rope_share;
    return (int)(m->D * share) == m->R ? share : (m->R + 0.5) / m->D;
}

static void add_neox(json_t *o, const lg_model *m)
{
    const lg_model_config *c = &m->config;
    json_object_set_new(o, "model_type", json_string(lg__archs[LG_ARCH_NEOX]->published[0].type));
    json_object_set_new(o, "hidden_act", json_string(c->act == LG_ACT_GELU ? "gelu" : "gelu_new"));
    json_object_set_new(o, "layer_norm_eps", json_real(c->norm_eps));
    json_object_set_new(o, "rotary_pct", json_real(share_of(m)));
    json_object_set_new(o, "rotary_emb_base", json_real(c->rope_base));
    json_object_set_new(o, "use_parallel_residual", json_boolean(c->parallel));
    json_object_set_new(o, "attention_bias", json_true());
}

static void add_llama(json_t *o, const lg_model *m)
{
    const lg_model_config *c = &m->config;
    int olmo = c->norm == LG_NORM_PLAIN;
    json_object_set_new(o, "model_type",
                        json_string(lg__archs[LG_ARCH_OLMO]->published[!olmo].type));
    json_object_set_new(o, "hidden_act", json_string("silu"));
    json_object_set_new(o, "num_key_value_heads", json_integer(c->heads));
    json_object_set_new(o, "rope_theta", json_real(c->rope_base));
    json_object_set_new(o, "attention_bias", json_boolean(c->biases));
    if (olmo) {
        json_object_set_new(o, "clip_qkv", json_null());
        return;
    }
    json_object_set_new(o, "rms_norm_eps", json_real(c->norm_eps));
    json_object_set_new(o, "mlp_bias", json_boolean(c->biases));
}

static int write_config(const lg_model *m, const struct lg__layout *l, const char *kind, int length,
                        int32_t end, const char *path, lg_error *err)
{
    const lg_model_config *c = &m->config;
    json_t *o = json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:n, s:o}", "architectures", kind,
        "torch_dtype", "float32", "vocab_size", c->vocab, "hidden_size", c->width,
        "num_hidden_layers", c->layers, "num_attention_heads", c->heads, "intermediate_size", c->ff,
        "max_position_embeddings", length, "tie_word_embeddings", c->tied, "bos_token_id",
        "eos_token_id", end == LG_NONE ? json_null() : json_integer(end));
    if (o && l->format == LG__FORMAT_NEOX) add_neox(o, m);
    if (o && l->format == LG__FORMAT_LLAMA) add_llama(o, m);
    if (o && c->rope_scaling == LG_ROPE_LINEAR)
        json_object_set_new(o, "rope_scaling",
                            json_pack("{s:s, s:s, s:f}", "type", "linear", "rope_type", "linear",
                                      "factor", c->rope_factor));
    char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    int e = text ? lg__file_write(path, text, err)
                 : lg__fail(err, LG_ERROR_MEMORY, "%s: no memory; end other programs", path);
    free(text);
    json_decref(o);
    return e;
}

/* ---- model.safetensors -------------------------------------------------------------------- */

/* A file that is being written. */
struct output {
    const char *path;
    int fd;
};

static int put(void *to, const void *data, size_t size, lg_error *err)
{
    struct output *o = to;
    const char *p = data;
    while (size) {
        ssize_t n = write(o->fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return lg__fail_write(err, o->path, errno);
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int write_tensors(const struct lg__stored *t, int count, const char *path, lg_error *err)
{
    static const struct lg__meta meta[] = {{"format", "pt"}};
    struct output o = {path, open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (o.fd < 0)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be made: %s; check its folder's rights",
                        path, strerror(errno));
    int e = lg__safetensors_write(t, count, meta, 1, path, put, &o, err);
    if (!e && fsync(o.fd)) e = lg__fail_write(err, path, errno);
    close(o.fd);
    return e;
}

/* The tensor of a piece: our parameter as it lies, or in a copy with its rows in the file's order.
 * A bias that the model does not have is 0. `own` gets the copy. */
static int make_tensor(const lg_model *m, const struct lg__piece *p, struct lg__stored *t,
                       float **own)
{
    int i = lg_model_param_find(m, p->param);
    size_t cols = (size_t)p->cols;
    const float *from = i < 0 ? NULL : lg_model_param(m, i).data + (size_t)p->row * cols;
    t->name = p->name;
    t->dims = lg__piece_shape(p, t->shape);
    t->size = (size_t)p->rows * cols * sizeof(float);
    t->data = from;
    if (from && p->order == LG__AS_IS) return 0;
    t->data = *own = lg__alloc(t->size);
    if (!*own) return -1;
    for (int r = 0; from && r < p->rows; r++)
        memcpy(*own + (size_t)lg__piece_row(p, r) * cols, from + (size_t)r * cols,
               cols * sizeof(float));
    return 0;
}

static int write_weights(const lg_model *m, const struct lg__layout *l, const char *path,
                         lg_error *err)
{
    int count, bad = 0;
    struct lg__piece *pieces = lg__layout_pieces(l, &count);
    struct lg__stored *t = pieces ? lg__alloc((size_t)count * sizeof *t) : NULL;
    float **own = t ? lg__alloc((size_t)count * sizeof *own) : NULL;
    for (int i = 0; own && i < count && !bad; i++) bad = make_tensor(m, &pieces[i], &t[i], &own[i]);
    int e = own && !bad ? write_tensors(t, count, path, err)
                        : lg__fail(err, LG_ERROR_MEMORY,
                                   "%s: no memory for its tensors; end other programs", path);
    for (int i = 0; own && i < count; i++) free(own[i]);
    free(own);
    free(t);
    free(pieces);
    return e;
}

/* ---- The folder --------------------------------------------------------------------------- */

static int check_empty(const char *folder, lg_error *err)
{
    struct dirent *f;
    int more = 0;
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT) return 0;
    if (!d)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be written to: %s; give another folder",
                        folder, strerror(errno));
    while ((f = readdir(d))) more |= strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0;
    closedir(d);
    if (!more) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s holds files already; give a folder that is new or empty", folder);
}

/* All files under a temporary name beside the folder, which then takes its place. */
static int write_folder(const lg_model *m, const struct lg__layout *l, const char *kind, int length,
                        const char *tokenizer, int32_t end, const char *folder, lg_error *err)
{
    char part[LG__IMPORT_PATH], config[LG__IMPORT_PATH], weights[LG__IMPORT_PATH];
    char copy[LG__IMPORT_PATH], name[32];
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    snprintf(name, sizeof name, ".part-%ld", (long)getpid());
    if (n + sizeof name + sizeof WEIGHTS > sizeof part)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the folder's name %.40s.. is too long", folder);
    memcpy(part, folder, n);
    strcpy(part + n, name);
    int e = lg__folder_make(part, err);
    if (!e) e = lg__file_path(config, sizeof config, part, CONFIG, err);
    if (!e) e = lg__file_path(weights, sizeof weights, part, WEIGHTS, err);
    if (!e) e = lg__file_path(copy, sizeof copy, part, TOKENIZER, err);
    if (e) return e;
    e = write_weights(m, l, weights, err);
    if (!e) e = write_config(m, l, kind, length, end, config, err);
    if (!e && tokenizer) e = lg__file_copy(tokenizer, part, TOKENIZER, err);
    if (!e && rename(part, folder))
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be made: %s; check the folder above it",
                     folder, strerror(errno));
    if (e) {
        unlink(config);
        unlink(weights);
        unlink(copy);
        rmdir(part);
    }
    return e;
}

int lg__export(const lg_model *m, int length, const char *tokenizer, int32_t end,
               const char *folder, lg_error *err)
{
    struct lg__layout l;
    const char *kind;
    if (length < 1 || length > 1 << 24)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a training length of %d tokens; it must be from 1 to 16777216", length);
    int e = choose(m, &l, &kind, err);
    if (!e) e = check_empty(folder, err);
    return e ? e : write_folder(m, &l, kind, length, tokenizer, end, folder, err);
}

int lg_export(const lg_model *m, int length, const char *folder, lg_error *err)
{
    return lg__export(m, length, NULL, LG_NONE, folder, err);
}
