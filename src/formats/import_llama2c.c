/* import_llama2c.c: the .bin files of llama2.c: seven int32, then fp32 tensors grouped by kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "formats/import.h"
#include "formats/layout.h"

enum { HEADER = 7 * sizeof(int32_t) };

enum { WIDTH, FF, LAYERS, HEADS, KV_HEADS, VOCAB, LENGTH };

/* What another program wrote, told by its first bytes. */
static int check_kind(const struct lg__mapped *f, const char *path, lg_error *err)
{
    uint32_t first[2] = {0};
    if (f->size < HEADER)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has %zu bytes, fewer than the %d of a llama2.c header; take a whole "
                        "copy",
                        path, f->size, (int)HEADER);
    memcpy(first, f->data, sizeof first);
    if (first[0] == 0x616b3432)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a llama2.c file of version %u; version 0 is read: export the model "
                        "once more with --version 0",
                        path, first[1]);
    if (memcmp(f->data, "PK\3\4", 4) == 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a Python pickle of PyTorch, which is not read; save the model as "
                        "safetensors and give its folder",
                        path);
    const char *name = strrchr(path, '.');
    if (name && (strcmp(name, ".safetensors") == 0 || strcmp(name, ".json") == 0))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is one file of a model; give the folder that holds it and its "
                        "config.json",
                        path);
    return 0;
}

static int read_number(const struct lg__mapped *f, const char *path, int i, int most, int *value,
                       lg_error *err)
{
    static const char *const names[] = {"dim",        "hidden_dim", "n_layers", "n_heads",
                                        "n_kv_heads", "vocab_size", "seq_len"};
    int32_t x;
    memcpy(&x, (const char *)f->data + (size_t)i * sizeof x, sizeof x);
    *value = x;
    if (i == VOCAB && x < 0 && x >= -most) return 0;
    if (x >= 1 && x <= most) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: %s in its header is %d, and must be from 1 to %d; it is no llama2.c file, "
                    "or a damaged one",
                    path, names[i], x, most);
}

static int read_header(struct lg__layout *l, const struct lg__mapped *f, const char *path,
                       int *length, lg_error *err)
{
    static const int most[] = {1 << 16, 1 << 18, 1000, 1024, 1024, 1 << 24, 1 << 24};
    int h[7], e = 0;
    for (int i = 0; i < 7 && !e; i++) e = read_number(f, path, i, most[i], &h[i], err);
    if (e) return e;
    if (h[WIDTH] % h[HEADS] || h[WIDTH] / h[HEADS] % 2 || h[HEADS] % h[KV_HEADS])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: width %d, %d heads and %d key-value heads do not go together; it is "
                        "no llama2.c file, or a damaged one",
                        path, h[WIDTH], h[HEADS], h[KV_HEADS]);
    *l = (struct lg__layout){.format = LG__FORMAT_LLAMA2C, .kv_heads = h[KV_HEADS]};
    l->c = lg_model_config_default(LG_ARCH_OLMO);
    l->c.norm = LG_NORM_RMS;
    l->c.width = h[WIDTH];
    l->c.ff = h[FF];
    l->c.layers = h[LAYERS];
    l->c.heads = h[HEADS];
    l->c.vocab = abs(h[VOCAB]);
    l->c.tied = h[VOCAB] > 0;
    l->c.rope_length = *length = h[LENGTH];
    return 0;
}

/* Where each piece lies. The angles of the rotations, which older versions needed, lie before the
 * classifier. */
static uint64_t place(struct lg__stored *t, const struct lg__piece *pieces, int count,
                      const struct lg__layout *l, int length, const struct lg__mapped *f)
{
    uint64_t at = HEADER;
    uint64_t angles = (uint64_t)length * (uint64_t)(l->c.width / l->c.heads) * sizeof(float);
    for (int i = 0; i < count; i++) {
        if (strcmp(pieces[i].param, "head.weight") == 0) at += angles;
        t[i].size = (size_t)pieces[i].stored_rows * (size_t)pieces[i].cols * sizeof(float);
        if (at <= f->size) t[i].data = (const char *)f->data + at;
        at += t[i].size;
    }
    return l->c.tied ? at + angles : at;
}

static lg_model *load(const struct lg__layout *l, int length, const struct lg__mapped *f,
                      const char *path, lg_error *err)
{
    int count;
    lg_model *m = NULL;
    struct lg__piece *pieces = lg__layout_pieces(l, &count);
    struct lg__stored *t = pieces ? lg__alloc((size_t)count * sizeof *t) : NULL;
    const struct lg__stored **list = t ? lg__alloc((size_t)count * sizeof *list) : NULL;
    if (!list) {
        lg__fail(err, LG_ERROR_MEMORY, "%s: no memory for its table of tensors", path);
    } else {
        uint64_t size = place(t, pieces, count, l, length, f);
        for (int i = 0; i < count; i++) list[i] = &t[i];
        if (size == f->size)
            m = lg__layout_load(l, pieces, list, count, path, err);
        else
            lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s has %zu bytes, and its header (width %d, %d layers, vocabulary %d%s) "
                     "asks for %llu; it is %s: take a whole copy",
                     path, f->size, l->c.width, l->c.layers, l->c.vocab,
                     l->c.tied ? "" : ", untied", (unsigned long long)size,
                     f->size < size ? "cut off" : "too long");
    }
    free(list);
    free(t);
    free(pieces);
    return m;
}

/* "tok512.bin" or "tokenizer.bin" in the same folder. */
static void find_tokenizer(const char *path, int vocab, char found[LG__IMPORT_PATH])
{
    char folder[LG__IMPORT_PATH], name[32];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(name, sizeof name, "tok%d.bin", vocab);
    lg__import_beside(found, folder, name);
    if (!found[0]) lg__import_beside(found, folder, "tokenizer.bin");
}

lg_model *lg__import_llama2c(const char *path, lg_import_info *info, lg_error *err)
{
    struct lg__mapped f;
    struct lg__layout l;
    lg_model *m = NULL;
    if (lg__map_file(&f, path, "give a folder of Hugging Face or a llama2.c .bin file", err))
        return NULL;
    if (!check_kind(&f, path, err) && !read_header(&l, &f, path, &info->length, err))
        m = load(&l, info->length, &f, path, err);
    lg__unmap_file(&f);
    if (!m) return NULL;
    snprintf(info->kind, sizeof info->kind, "llama2.c");
    info->vocab_is_whole = 1;
    find_tokenizer(path, l.c.vocab, info->tokenizer);
    return m;
}
