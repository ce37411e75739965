/* safetensors.c: the format's writer and its suspicious reader. */
#include "formats/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "safetensors is little-endian: on this machine the floats must be swapped");

enum { PREFIX = 8, ALIGN = 8 };
/* The format's own limit, and that of files of others: 70,000 tensors. Parsed, a header takes up to
 * 45 times as much. */
static const uint64_t MOST_HEADER = 100000000, MOST_FOREIGN = 8 << 20;
static const char META[] = "__metadata__";

/* The dtypes of the format, those that are read first. */
static const struct {
    const char *name;
    size_t bytes;
    enum lg__dtype dtype;
} dtypes[] = {
    {"F32", 4, LG__F32},
    {"F16", 2, LG__F16},
    {"BF16", 2, LG__BF16},
    {"F64", 8, LG__OTHER_DTYPE},
    {"I64", 8, LG__OTHER_DTYPE},
    {"U64", 8, LG__OTHER_DTYPE},
    {"I32", 4, LG__OTHER_DTYPE},
    {"U32", 4, LG__OTHER_DTYPE},
    {"I16", 2, LG__OTHER_DTYPE},
    {"U16", 2, LG__OTHER_DTYPE},
    {"I8", 1, LG__OTHER_DTYPE},
    {"U8", 1, LG__OTHER_DTYPE},
    {"BOOL", 1, LG__OTHER_DTYPE},
    {"F8_E4M3", 1, LG__OTHER_DTYPE},
    {"F8_E5M2", 1, LG__OTHER_DTYPE},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* ---- Writing ------------------------------------------------------------------------------ */

static json_t *metadata(const struct lg__meta *meta, int metas, const char *file, lg_error *err)
{
    json_t *o = json_object();
    for (int i = 0; o && i < metas; i++) {
        json_t *text = json_string(meta[i].text);
        if (!text) {
            lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s: \"%s\" is not UTF-8 and cannot be stored; write it in UTF-8", file,
                     meta[i].key);
            json_decref(o);
            return NULL;
        }
        json_object_set_new(o, meta[i].key, text);
    }
    if (!o)
        lg__fail(err, LG_ERROR_MEMORY, "%s: no memory for its header; end other programs", file);
    return o;
}

/* The row of one tensor whose data starts at `from`. */
static json_t *tensor_row(const struct lg__stored *t, size_t from)
{
    json_t *shape = json_array();
    for (int i = 0; shape && i < t->dims; i++)
        if (json_array_append_new(shape, json_integer(t->shape[i]))) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape, "data_offsets",
                     (json_int_t)from, (json_int_t)(from + t->size));
}

/* The header's text, freed with free(). */
static char *header_text(const struct lg__stored *tensors, int count, const struct lg__meta *meta,
                         int metas, const char *file, lg_error *err)
{
    json_t *first = metadata(meta, metas, file, err);
    if (!first) return NULL;
    json_t *all = json_object();
    int bad = json_object_set_new(all, META, first);
    size_t from = 0;
    for (int i = 0; i < count && !bad; i++) {
        bad = json_object_set_new(all, tensors[i].name, tensor_row(&tensors[i], from));
        from += tensors[i].size;
    }
    char *text = bad ? NULL : json_dumps(all, JSON_COMPACT);
    if (!text)
        lg__fail(err, LG_ERROR_MEMORY, "%s: no memory for its header; end other programs", file);
    json_decref(all);
    return text;
}

int lg__safetensors_write(const struct lg__stored *tensors, int count, const struct lg__meta *meta,
                          int metas, const char *file, lg__put *put, void *to, lg_error *err)
{
    lg_error own = {0};
    char *text = header_text(tensors, count, meta, metas, file, &own);
    if (!text) {
        if (err) *err = own;
        return own.code;
    }
    size_t length = strlen(text), padded = (length + ALIGN - 1) / ALIGN * ALIGN;
    unsigned char prefix[PREFIX];
    for (int i = 0; i < PREFIX; i++) prefix[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    int e = put(to, prefix, sizeof prefix, err);
    if (!e) e = put(to, text, length, err);
    if (!e) e = put(to, "       ", padded - length, err);
    for (int i = 0; i < count && !e; i++) e = put(to, tensors[i].data, tensors[i].size, err);
    free(text);
    return e;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* What a reading knows of the file. */
struct source {
    const char *file;
    const unsigned char *data; /* behind the header */
    uint64_t size;             /* of the data */
    int all;                   /* 1: all dtypes, 0: F32 alone */
};

static int damaged(const struct source *f, const char *tensor, const char *what, lg_error *err)
{
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s: %s%s%s%s; it is no whole safetensors file%s: take a copy that is, or "
                    "write it again",
                    f->file, tensor ? "tensor " : "", tensor ? tensor : "", tensor ? " " : "", what,
                    f->all ? "" : " of 32-bit floats");
}

/* The shape, and that it holds exactly `size` bytes when each number has so many. */
static int read_shape(const struct source *f, struct lg__stored *t, const json_t *shape,
                      uint64_t bytes, lg_error *err)
{
    size_t dims = json_array_size(shape);
    uint64_t nothing = 0;
    if (!json_is_array(shape) || dims > LG__STORED_DIMS)
        return damaged(f, t->name, "has no shape of at most 8 dimensions", err);
    t->dims = (int)dims;
    for (size_t i = 0; i < dims; i++) {
        const json_t *n = json_array_get(shape, i);
        if (!json_is_integer(n) || json_integer_value(n) < 0)
            return damaged(f, t->name, "has a dimension that is no count", err);
        t->shape[i] = json_integer_value(n);
        nothing |= t->shape[i] == 0;
    }
    for (size_t i = 0; i < dims && !nothing; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes))
            return damaged(f, t->name, "has a shape too large for any memory", err);
    if ((nothing ? 0 : bytes) != t->size)
        return damaged(f, t->name, "has a shape and data_offsets that do not agree", err);
    return 0;
}

static int read_tensor(const struct source *f, struct lg__stored *t, const json_t *row,
                       lg_error *err)
{
    const char *dtype = json_string_value(json_object_get(row, "dtype"));
    const json_t *ends = json_object_get(row, "data_offsets");
    const json_t *a = json_array_get(ends, 0), *b = json_array_get(ends, 1);
    int type = 0, known = f->all ? DTYPES : 1;
    while (dtype && type < known && strcmp(dtype, dtypes[type].name) != 0) type++;
    if (dtype && type == known && f->all)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%s: tensor %s is of dtype %.20s; F32, F16 and BF16 are read: take the "
                        "model in one of them",
                        f->file, t->name, dtype);
    if (!dtype || type == known)
        return damaged(f, t->name, dtype ? "has another dtype than F32" : "has no dtype", err);
    t->dtype = dtypes[type].dtype;
    t->type = dtypes[type].name;
    if (json_array_size(ends) != 2 || !json_is_integer(a) || !json_is_integer(b))
        return damaged(f, t->name, "has no two data_offsets", err);
    json_int_t from = json_integer_value(a), to = json_integer_value(b);
    if (from < 0 || to < from || (uint64_t)to > f->size)
        return damaged(f, t->name, "has data_offsets outside of the file", err);
    t->data = f->data + from;
    t->size = (size_t)(to - from);
    return read_shape(f, t, json_object_get(row, "shape"), dtypes[type].bytes, err);
}

static int by_place(const void *x, const void *y)
{
    const struct lg__stored *a = x, *b = y;
    const unsigned char *p = a->data, *q = b->data;
    if (p != q) return p < q ? -1 : 1;
    return a->size != b->size ? (a->size < b->size ? -1 : 1) : 0;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct lg__stored *)x)->name, ((const struct lg__stored *)y)->name);
}

/* Every byte of the data belongs to exactly one tensor. Leaves the tensors sorted by name. */
static int check_places(const struct source *f, struct lg__stored *t, int count, lg_error *err)
{
    const unsigned char *end = f->data;
    if (count) qsort(t, (size_t)count, sizeof *t, by_place);
    for (int i = 0; i < count; i++) {
        const unsigned char *from = t[i].data;
        if (from < end) return damaged(f, t[i].name, "overlaps another", err);
        if (from > end) return damaged(f, t[i].name, "leaves unused bytes before it", err);
        end = from + t[i].size;
    }
    if (end != f->data + f->size)
        return damaged(f, NULL, "there are bytes behind the last tensor", err);
    if (count) qsort(t, (size_t)count, sizeof *t, by_name);
    return 0;
}

static int check_metadata(const struct source *f, const json_t *meta, lg_error *err)
{
    const char *key;
    json_t *value;
    if (meta && !json_is_object(meta)) return damaged(f, NULL, "its metadata is no object", err);
    json_object_foreach((json_t *)meta, key, value)
    {
        if (!json_is_string(value))
            return damaged(f, NULL, "its metadata has a value that is no text", err);
    }
    return 0;
}

static int read_header(struct lg__safetensors *s, const struct source *f, lg_error *err)
{
    const char *name;
    json_t *row;
    int e = check_metadata(f, json_object_get(s->header, META), err);
    if (e) return e;
    s->tensors = lg__alloc((json_object_size(s->header) + 1) * sizeof *s->tensors);
    if (!s->tensors)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "%s: no memory for its table of tensors; end other programs", f->file);
    json_object_foreach((json_t *)s->header, name, row)
    {
        if (strcmp(name, META) == 0) continue;
        struct lg__stored *t = &s->tensors[s->count++];
        t->name = name;
        if ((e = read_tensor(f, t, row, err))) return e;
    }
    return check_places(f, s->tensors, s->count, err);
}

static int open_file(struct lg__safetensors *s, const void *bytes, size_t size, const char *file,
                     int all, lg_error *err)
{
    const unsigned char *p = bytes;
    struct source f = {.file = file, .all = all};
    uint64_t length = 0;
    json_error_t why;
    *s = (struct lg__safetensors){0};
    if (size < PREFIX) return damaged(&f, NULL, "it has fewer than 8 bytes", err);
    for (int i = 0; i < PREFIX; i++) length |= (uint64_t)p[i] << (8 * i);
    if (length > size - PREFIX || length > MOST_HEADER)
        return damaged(&f, NULL, "its header is longer than the file", err);
    if (all && length > MOST_FOREIGN)
        return lg__fail(
            err, LG_ERROR_SYSTEM,
            "%s: its header has %llu bytes, and at most %llu are read; take a model with "
            "fewer tensors",
            file, (unsigned long long)length, (unsigned long long)MOST_FOREIGN);
    f.data = p + PREFIX + length;
    f.size = size - PREFIX - length;
    /* A name twice would be two tensors of which one is never seen: refused here. */
    s->header = json_loadb((const char *)p + PREFIX, (size_t)length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object((json_t *)s->header)) {
        lg__safetensors_close(s);
        return damaged(&f, NULL, "its header is no JSON object", err);
    }
    int e = read_header(s, &f, err);
    if (e) lg__safetensors_close(s);
    return e;
}

int lg__safetensors_open(struct lg__safetensors *s, const void *bytes, size_t size,
                         const char *file, lg_error *err)
{
    return open_file(s, bytes, size, file, 0, err);
}

int lg__safetensors_open_any(struct lg__safetensors *s, const void *bytes, size_t size,
                             const char *file, lg_error *err)
{
    return open_file(s, bytes, size, file, 1, err);
}

void lg__safetensors_close(struct lg__safetensors *s)
{
    json_decref(s->header);
    free(s->tensors);
    *s = (struct lg__safetensors){0};
}

const struct lg__stored *lg__safetensors_find(const struct lg__safetensors *s, const char *name)
{
    struct lg__stored key = {.name = name};
    return s->count ? bsearch(&key, s->tensors, (size_t)s->count, sizeof key, by_name) : NULL;
}

const char *lg__safetensors_meta(const struct lg__safetensors *s, const char *key)
{
    return json_string_value(json_object_get(json_object_get(s->header, META), key));
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* The float with the value of a half: sign, 5 bits of exponent, 10 of fraction. */
static uint32_t half_bits(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) return sign | 0x7f800000 | fraction << 13;
    if (exponent) return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction) return sign;
    exponent = 113; /* fraction times 2^-24: shifted up to a leading one */
    for (; !(fraction & 1024); fraction <<= 1) exponent--;
    return sign | exponent << 23 | (fraction & 1023) << 13;
}

void lg__stored_read(const struct lg__stored *t, size_t from, size_t step, float *to, size_t n)
{
    const unsigned char *p = t->data;
    size_t width = t->dtype == LG__F32 ? 4 : 2;
    if (t->dtype == LG__F32 && step == 1) {
        memcpy(to, p + from * width, n * width);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        memcpy(&bits, p + (from + i * step) * width, width);
        if (t->dtype == LG__BF16) bits <<= 16;
        if (t->dtype == LG__F16) bits = half_bits(bits);
        memcpy(&to[i], &bits, sizeof bits);
    }
}
