/* probe_begun.c: what is done of a probe, in a file: a head, then a record a document: its sum, the
 * bytes of its predictions, these, and a checksum of all. */
#include "measure/probe_begun.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "text/text.h"

static const char magic[16] = "lengthen probe1";

struct head {
    char magic[16];
    uint64_t sum;
};
struct record {
    uint64_t document, bytes;
};
/* One prediction; its sources, their influences and the curve follow. */
struct fixed {
    int32_t at, depends, k, sources;
    float loss, loss_0, against, against_short;
};

static int cannot(const struct lg__begun *b, lg_error *err)
{
    return lg__fail_write(err, b->path, errno);
}

/* What is behind `at` is dropped. */
static int cut(struct lg__begun *b, long at, lg_error *err)
{
    b->reading = 0;
    if (fflush(b->f) || ftruncate(fileno(b->f), at) || fseek(b->f, at, SEEK_SET))
        return cannot(b, err);
    return 0;
}

int lg__begun_open(struct lg__begun *b, const char *path, uint64_t sum, lg_error *err)
{
    struct head now = {.sum = sum}, was;
    memcpy(now.magic, magic, sizeof magic);
    b->path = path;
    b->f = fopen(path, "r+b");
    if (b->f && fread(&was, sizeof was, 1, b->f) == 1 && memcmp(&was, &now, sizeof now) == 0) {
        b->reading = 1;
        return 0;
    }
    if (!b->f) b->f = fopen(path, "w+b");
    if (!b->f) return cannot(b, err);
    int e = cut(b, 0, err);
    if (!e && (fwrite(&now, sizeof now, 1, b->f) != 1 || fflush(b->f))) e = cannot(b, err);
    return e;
}

static size_t size_of(const struct lg__influence *f)
{
    size_t size = 0;
    for (int i = 0; i < f->count; i++) {
        size_t n = (size_t)f->need[i].sources;
        size += sizeof(struct fixed) + n * (sizeof(int) + sizeof(float)) + (n + 1) * sizeof(float);
    }
    return size;
}

static void copy_out(char **to, const void *from, size_t size)
{
    memcpy(*to, from, size);
    *to += size;
}

int lg__begun_put(struct lg__begun *b, uint64_t document, const struct lg__influence *f,
                  const float *against, lg_error *err)
{
    struct record r = {document, size_of(f)};
    if (!b->f) return 0;
    int e = lg__block_grow(&b->text, r.bytes + 1, 0, "a probe", err);
    if (e) return e;
    char *to = b->text.data;
    for (int i = 0; i < f->count; i++) {
        const struct lg__need *need = &f->need[i];
        size_t n = (size_t)need->sources;
        struct fixed x = {need->at,
                          need->depends,
                          need->k,
                          need->sources,
                          need->loss,
                          need->loss_0,
                          against ? against[i] : 0,
                          against ? against[f->count + i] : 0};
        copy_out(&to, &x, sizeof x);
        copy_out(&to, need->source, n * sizeof(int));
        copy_out(&to, need->influence, n * sizeof(float));
        copy_out(&to, need->curve, (n + 1) * sizeof(float));
    }
    uint64_t sum = lg__hash(b->text.data, r.bytes, r.document);
    if (fwrite(&r, sizeof r, 1, b->f) != 1 || fwrite(b->text.data, 1, r.bytes, b->f) != r.bytes ||
        fwrite(&sum, sizeof sum, 1, b->f) != 1 || fflush(b->f))
        return cannot(b, err);
    return 0;
}

/* The record's text, if it is whole and of this document. */
static int read_record(struct lg__begun *b, uint64_t document, struct record *r, lg_error *err)
{
    uint64_t sum;
    long at = ftell(b->f), end;
    r->bytes = 0;
    if (at < 0 || fseek(b->f, 0, SEEK_END) || (end = ftell(b->f)) < 0 || fseek(b->f, at, SEEK_SET))
        return 0;
    if (fread(r, sizeof *r, 1, b->f) != 1 || r->document != document ||
        r->bytes > (uint64_t)(end - at))
        return 0;
    if (lg__block_grow(&b->text, r->bytes + 1, 0, "a probe", err)) return -1;
    return fread(b->text.data, 1, r->bytes, b->f) == r->bytes &&
           fread(&sum, sizeof sum, 1, b->f) == 1 &&
           sum == lg__hash(b->text.data, r->bytes, r->document);
}

/* Copies `size` bytes out of the text; 0: it has fewer. */
static int copy_in(void *to, const char **from, const char *end, size_t size)
{
    if ((size_t)(end - *from) < size) return 0;
    memcpy(to, *from, size);
    *from += size;
    return 1;
}

/* Fills the predictions; 0: they are others. */
static int fill(const char *from, const char *end, struct lg__influence *f, float *against)
{
    for (int i = 0; i < f->count; i++) {
        struct lg__need *need = &f->need[i];
        struct fixed x;
        if (!copy_in(&x, &from, end, sizeof x) || x.at != need->at || x.sources < 0 ||
            x.sources > f->o.most_k)
            return 0;
        size_t n = (size_t)x.sources, row = (size_t)i * ((size_t)f->o.most_k + 1);
        need->depends = x.depends;
        need->k = x.k;
        need->sources = x.sources;
        need->loss = x.loss;
        need->loss_0 = x.loss_0;
        if (against) {
            against[i] = x.against;
            against[f->count + i] = x.against_short;
        }
        if (!copy_in(need->source, &from, end, n * sizeof(int)) ||
            !copy_in(need->influence, &from, end, n * sizeof(float)) ||
            !copy_in((float *)f->asked.data + row, &from, end, (n + 1) * sizeof(float)))
            return 0;
    }
    return from == end;
}

int lg__begun_take(struct lg__begun *b, uint64_t document, struct lg__influence *f, float *against,
                   int *got, lg_error *err)
{
    struct record r;
    *got = 0;
    if (!b->f || !b->reading) return 0;
    long at = ftell(b->f);
    int there = read_record(b, document, &r, err);
    if (there < 0) return LG_ERROR_MEMORY;
    const char *text = b->text.data;
    *got = there && fill(text, text + r.bytes, f, against);
    return *got ? 0 : cut(b, at, err);
}

void lg__begun_close(struct lg__begun *b)
{
    if (b->f) fclose(b->f);
    lg__block_free(&b->text);
    *b = (struct lg__begun){0};
}
