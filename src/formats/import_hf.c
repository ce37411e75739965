/* import_hf.c: the tensors of a Hugging Face folder, in one file or in several. */
#include "formats/import_hf.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/files.h"
#include "base/files.h"

static const char ONE[] = "model.safetensors", INDEX[] = "model.safetensors.index.json";

struct shard {
    char *path;
    const char *name; /* in the index */
    struct lg__mapped bytes;
    struct lg__safetensors s;
    unsigned char *used; /* [s.count] */
};

struct folder {
    const char *path;
    json_t *index;     /* NULL: one file */
    const json_t *map; /* name of a tensor: name of its file */
    struct shard *shards;
    int count;
};

static int no_memory(const struct folder *f, lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY,
                    "%s: no memory for its table of tensors; end other "
                    "programs",
                    f->path);
}

/* ---- Files -------------------------------------------------------------------------------- */

static int open_shard(struct folder *f, const char *name, lg_error *err)
{
    struct shard *s = &f->shards[f->count++];
    char path[LG__IMPORT_PATH];
    s->name = name;
    int e = lg__file_path(path, sizeof path, f->path, name, err);
    if (!e && !(s->path = lg__alloc_text(path))) e = no_memory(f, err);
    if (!e) e = lg__map_file(&s->bytes, s->path, "bring the missing file", err);
    if (!e) e = lg__safetensors_open_any(&s->s, s->bytes.data, s->bytes.size, s->path, err);
    if (!e && !(s->used = lg__alloc((size_t)s->s.count + 1))) e = no_memory(f, err);
    return e;
}

static struct shard *find_shard(const struct folder *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->shards[i].name, name) == 0) return &f->shards[i];
    return NULL;
}

/* The files that the index names, each once. */
static int open_shards(struct folder *f, const char *path, lg_error *err)
{
    const char *tensor;
    json_t *file;
    json_error_t why;
    struct lg__mapped bytes;
    int e = lg__map_file(&bytes, path, "take a whole copy of it", err);
    if (e) return e;
    if (bytes.size > LG__HF_INDEX_BYTES)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s has %zu bytes, and at most %d are read; take the index that was published "
                     "with the weights",
                     path, bytes.size, LG__HF_INDEX_BYTES);
    else
        f->index =
            json_loadb(bytes.data ? bytes.data : "", bytes.size, JSON_REJECT_DUPLICATES, &why);
    lg__unmap_file(&bytes);
    if (e) return e;
    f->map = json_object_get(f->index, "weight_map");
    if (!json_object_size(f->map))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is no JSON object with a \"weight_map\" (%s); take a whole copy of it",
                        path, f->index ? "it names no file" : why.text);
    f->shards = lg__alloc((json_object_size(f->map) + 1) * sizeof *f->shards);
    if (!f->shards) return no_memory(f, err);
    json_object_foreach((json_t *)f->map, tensor, file)
    {
        const char *name = json_string_value(file);
        if (!name || !*name || strchr(name, '/'))
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s: the file of %s is no name of a file in this folder; take the "
                            "index that was published with the weights",
                            path, tensor);
        if (!e && !find_shard(f, name)) e = open_shard(f, name, err);
    }
    return e;
}

static int open_folder(struct folder *f, lg_error *err)
{
    char path[LG__IMPORT_PATH];
    lg__import_beside(path, f->path, ONE);
    if (path[0]) {
        f->shards = lg__alloc(sizeof *f->shards);
        return f->shards ? open_shard(f, ONE, err) : no_memory(f, err);
    }
    lg__import_beside(path, f->path, INDEX);
    if (path[0]) return open_shards(f, path, err);
    lg__import_beside(path, f->path, "pytorch_model.bin");
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s holds neither %s nor %s%s; %s", f->path, ONE, INDEX,
                    path[0] ? ", but pytorch_model.bin, a Python pickle that is not read" : "",
                    path[0] ? "save the model as safetensors"
                            : "give the folder of a published model");
}

static void close_folder(struct folder *f)
{
    for (int i = 0; i < f->count; i++) {
        lg__safetensors_close(&f->shards[i].s);
        lg__unmap_file(&f->shards[i].bytes);
        free(f->shards[i].path);
        free(f->shards[i].used);
    }
    free(f->shards);
    json_decref(f->index);
}

/* ---- Tensors ------------------------------------------------------------------------------ */

/* The tensor, marked as used; NULL: there is none. */
static const struct lg__stored *find_tensor(const struct folder *f, const char *name,
                                            const struct shard **in)
{
    const char *file = f->map ? json_string_value(json_object_get(f->map, name)) : f->shards->name;
    struct shard *s = file ? find_shard(f, file) : NULL;
    const struct lg__stored *t = s ? lg__safetensors_find(&s->s, name) : NULL;
    if (t) s->used[t - s->s.tensors] = 1;
    *in = s ? s : f->shards;
    return t;
}

static void shape_text(char *out, size_t room, const int64_t *shape, int dims)
{
    size_t used = (size_t)snprintf(out, room, "[");
    for (int i = 0; i < dims && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%" PRId64, i ? ", " : "", shape[i]);
    if (used < room) snprintf(out + used, room - used, "]");
}

static int check_tensor(const struct lg__stored *t, const struct lg__piece *p, const char *kind,
                        const char *file, lg_error *err)
{
    int64_t wanted[LG__STORED_DIMS];
    char is[LG__STORED_DIMS * 24], must[64];
    if (!t)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no tensor %s, which config.json asks for (%s); take weights and "
                        "config.json from the same place",
                        file, p->name, kind);
    int dims = lg__piece_shape(p, wanted);
    if (t->dims != dims || memcmp(t->shape, wanted, sizeof wanted) != 0) {
        shape_text(is, sizeof is, t->shape, t->dims);
        shape_text(must, sizeof must, wanted, dims);
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: tensor %s has the shape %s, and config.json says %s; take weights "
                        "and config.json from the same place",
                        file, p->name, is, must);
    }
    if (t->dtype == LG__OTHER_DTYPE)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: tensor %s is of dtype %s; F32, F16 and BF16 are read: take the model "
                        "in one of them",
                        file, p->name, t->type);
    return 0;
}

/* Masks and frequencies that older files carry, and that follow from the config. */
static int is_known_buffer(const char *name)
{
    static const char *const ends[] = {".attention.bias", ".attention.masked_bias", ".attn.bias",
                                       ".attn.masked_bias", "rotary_emb.inv_freq"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t k = strlen(ends[i]);
        if (n >= k && strcmp(name + n - k, ends[i]) == 0) return 1;
    }
    return 0;
}

/* A tied head that is stored all the same must be the embedding. */
static int check_head(const struct folder *f, const struct lg__layout *l,
                      const struct lg__stored *embed, lg_error *err)
{
    const struct shard *in;
    const char *name = l->format == LG__FORMAT_NEOX ? "embed_out.weight" : "lm_head.weight";
    const struct lg__stored *head = l->c.tied ? find_tensor(f, name, &in) : NULL;
    if (!head || (head->dtype == embed->dtype && head->size == embed->size &&
                  memcmp(head->data, embed->data, head->size) == 0))
        return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: %s differs from the embedding, and config.json says "
                    "\"tie_word_embeddings\"; set it to false there if the head is its own",
                    in->path, name);
}

static int check_no_more(const struct folder *f, const char *kind, lg_error *err)
{
    for (int i = 0; i < f->count; i++) {
        const struct shard *s = &f->shards[i];
        for (int j = 0; j < s->s.count; j++)
            if (!s->used[j] && !is_known_buffer(s->s.tensors[j].name))
                return lg__fail(err, LG_ERROR_ARGUMENT,
                                "%s has a tensor %s, which a %s of this config.json does not have; "
                                "take weights and config.json from the same place",
                                s->path, s->s.tensors[j].name, kind);
    }
    return 0;
}

static int find_all(const struct folder *f, const struct lg__layout *l, const char *kind,
                    const struct lg__piece *pieces, const struct lg__stored **list, int count,
                    lg_error *err)
{
    const struct shard *in;
    int e = 0;
    for (int i = 0; i < count && !e; i++) {
        list[i] = find_tensor(f, pieces[i].name, &in);
        e = check_tensor(list[i], &pieces[i], kind, in->path, err);
    }
    if (!e) e = check_head(f, l, list[0], err);
    return e ? e : check_no_more(f, kind, err);
}

static lg_model *load(const struct folder *f, struct lg__layout *l, const char *kind, lg_error *err)
{
    const struct shard *in;
    lg_model *m = NULL;
    int count;
    l->bare = l->format == LG__FORMAT_GPT2 && !find_tensor(f, "transformer.wte.weight", &in);
    struct lg__piece *pieces = lg__layout_pieces(l, &count);
    const struct lg__stored **list = pieces ? lg__alloc((size_t)count * sizeof *list) : NULL;
    if (!list)
        no_memory(f, err);
    else if (!find_all(f, l, kind, pieces, list, count, err))
        m = lg__layout_load(l, pieces, list, count, f->path, err);
    free(list);
    free(pieces);
    return m;
}

lg_model *lg__import_hf(const char *path, lg_import_info *info, lg_error *err)
{
    char config[LG__IMPORT_PATH];
    struct folder f = {.path = path};
    struct lg__layout l;
    lg_model *m = NULL;
    if (lg__file_path(config, sizeof config, path, "config.json", err) ||
        lg__hf_config(&l, info, config, err))
        return NULL;
    if (!open_folder(&f, err)) m = load(&f, &l, info->kind, err);
    close_folder(&f);
    lg__import_beside(info->tokenizer, path, "tokenizer.json");
    return m;
}
