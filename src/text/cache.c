/* cache.c: the tokens of a corpus in one file that is mapped (docs/TEXT.md):
 *
 *     header     128 bytes, struct header below
 *     tokens     2 bytes each where the vocabulary has at most 65,536, else 4
 *     (zeros to a multiple of 8 bytes)
 *     offsets    8 bytes each: where a document's tokens begin, and the end of the last
 *     keys       8 bytes each: the checksum of a document's text
 *
 * All numbers are little-endian. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "text/text.h"

static const char magic[8] = {'L', 'G', 'T', 'O', 'K', 'E', 'N', 'S'};
enum { VERSION = 2 };

struct header {
    char magic[8];
    uint32_t version, width;
    uint64_t tokenizer, sources;
    int64_t documents, tokens, bytes;
    int32_t vocab, zero[11];
    uint64_t content; /* checksum of the tokens and the zeros behind them */
    uint64_t tables;  /* of offsets and keys */
    uint64_t check;   /* of the bytes before it */
};
_Static_assert(sizeof(struct header) == 128, "the header is 128 bytes");

static uint64_t header_check(const struct header *h)
{
    return lg__hash(h, offsetof(struct header, check), 3);
}

static uint64_t tables_check(const uint64_t *offset, const uint64_t *key, int64_t documents)
{
    size_t n = (size_t)documents * sizeof(uint64_t);
    return lg__hash(key, n, lg__hash(offset, n + sizeof(uint64_t), 5));
}

enum { PIECE = 1 << 18, LANES = 4 }; /* bytes that are summed, and written, at a time */

/* The checksum of the tokens so far, and of another piece of them; n is a multiple of 8. Four chains
 * side by side are as fast as the memory: a cache is summed whenever it is opened. What comes in is
 * mixed into a chain by steps that can be undone, so that no single flip is ever lost. */
static uint64_t sum_piece(uint64_t sum, const char *bytes, size_t n)
{
    uint64_t h[LANES], word;
    for (int j = 0; j < LANES; j++) h[j] = lg__mix(sum + n + (uint64_t)j);
    for (; n >= LANES * sizeof word; n -= LANES * sizeof word, bytes += LANES * sizeof word)
        for (int j = 0; j < LANES; j++) {
            memcpy(&word, bytes + j * (int)sizeof word, sizeof word);
            h[j] = (h[j] ^ word) * 0x9FB21C651E98DF25u;
            h[j] ^= h[j] >> 29;
        }
    for (int j = 0; n; j++, n -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        h[j] = lg__mix(h[j] ^ word);
    }
    for (int j = 1; j < LANES; j++) h[0] = lg__mix(h[0]) ^ h[j];
    return lg__mix(h[0]);
}

static uint64_t sum_tokens(const char *bytes, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < n; at += PIECE)
        sum = sum_piece(sum, bytes + at, n - at < PIECE ? (size_t)(n - at) : PIECE);
    return sum;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct lg__cache_writer {
    struct lg__part part;
    struct header h;
    uint64_t start;               /* of the document */
    struct lg__block offset, key; /* [documents + 1], [documents] */
    size_t used;                  /* of bytes, which wait to be written */
    char bytes[PIECE];
};

static int put(struct lg__cache_writer *w, const void *data, size_t n, lg_error *err)
{
    if (n == 0 || fwrite(data, 1, n, w->part.file) == n) return 0;
    return lg__fail_write(err, w->part.path, errno);
}

void lg__cache_drop(struct lg__cache_writer *w)
{
    if (!w) return;
    lg__part_drop(&w->part);
    lg__block_free(&w->offset);
    lg__block_free(&w->key);
    free(w);
}

struct lg__cache_writer *lg__cache_begin(const char *path, const lg_tokenizer *t, uint64_t sources,
                                         lg_error *err)
{
    struct lg__cache_writer *w = lg__alloc(sizeof *w);
    if (!w) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory to write %s", path);
        return NULL;
    }
    memcpy(w->h.magic, magic, sizeof magic);
    w->h.version = VERSION;
    w->h.width = t->vocab <= 65536 ? 2 : 4;
    w->h.tokenizer = t->checksum;
    w->h.sources = sources;
    w->h.vocab = t->vocab;
    if (lg__part_open(&w->part, path, err) || put(w, &w->h, sizeof w->h, err) ||
        lg__reserve(&w->offset, sizeof(uint64_t), "documents", err)) {
        lg__cache_drop(w);
        return NULL;
    }
    *(uint64_t *)w->offset.data = 0;
    return w;
}

static int put_piece(struct lg__cache_writer *w, lg_error *err)
{
    if (!w->used) return 0;
    w->h.content = sum_piece(w->h.content, w->bytes, w->used);
    int e = put(w, w->bytes, w->used, err);
    w->used = 0;
    return e;
}

int lg__cache_tokens(struct lg__cache_writer *w, const int32_t *tokens, size_t n, lg_error *err)
{
    int e = 0;
    for (size_t i = 0; i < n && !e; i++) {
        uint32_t token = (uint32_t)tokens[i];
        memcpy(w->bytes + w->used, &token, w->h.width); /* its low bytes come first */
        w->used += w->h.width;
        if (w->used == PIECE) e = put_piece(w, err);
    }
    w->h.tokens += (int64_t)n;
    return e;
}

int lg__cache_document(struct lg__cache_writer *w, size_t bytes, uint64_t key, lg_error *err)
{
    size_t i = (size_t)w->h.documents;
    if ((uint64_t)w->h.tokens == w->start) return 0;
    int e = lg__reserve(&w->offset, (i + 2) * sizeof(uint64_t), "documents", err);
    if (!e) e = lg__reserve(&w->key, (i + 1) * sizeof(uint64_t), "documents", err);
    if (e) return e;
    ((uint64_t *)w->offset.data)[i + 1] = w->start = (uint64_t)w->h.tokens;
    ((uint64_t *)w->key.data)[i] = key;
    w->h.documents++;
    w->h.bytes += (int64_t)bytes;
    return 0;
}

int lg__cache_keep(struct lg__cache_writer *w, lg_error *err)
{
    size_t n = (size_t)w->h.documents * sizeof(uint64_t);
    for (; w->used % 8; w->used++) w->bytes[w->used] = 0; /* a piece has room for them */
    int e = put_piece(w, err);
    if (!e) e = put(w, w->offset.data, n + sizeof(uint64_t), err);
    if (!e) e = put(w, w->key.data, n, err);
    w->h.tables = tables_check(w->offset.data, w->key.data, w->h.documents);
    w->h.check = header_check(&w->h);
    if (!e && fseek(w->part.file, 0, SEEK_SET) != 0) e = lg__fail_write(err, w->part.path, errno);
    if (!e) e = put(w, &w->h, sizeof w->h, err);
    if (!e) e = lg__part_keep(&w->part, err);
    lg__cache_drop(w);
    return e;
}

/* ---- Reading --------------------------------------------------------------------------------- */

void lg__cache_close(struct lg__cache *c)
{
    if (c->map) munmap(c->map, c->size);
    *c = (struct lg__cache){0};
}

static int damaged(struct lg__cache *c, const char *why, lg_error *err)
{
    lg__fail(err, LG_ERROR_SYSTEM, "the token cache %s %s: delete it and make it again", c->path,
             why);
    lg__cache_close(c);
    c->fault = why;
    return LG__CACHE_DAMAGED;
}

/* The parts of the file, if the header and its size say the same. */
static int check(struct lg__cache *c, const struct header *h, lg_error *err)
{
    if (h->version != VERSION) return damaged(c, "is of another version", err);
    if (h->check != header_check(h) || (h->width != 2 && h->width != 4) || h->documents < 0 ||
        h->tokens < h->documents || h->tokens > INT64_MAX / 64 || h->vocab < 1)
        return damaged(c, "has a damaged header", err);
    uint64_t tokens = ((uint64_t)h->tokens * h->width + 7) / 8 * 8;
    uint64_t size = sizeof *h + tokens + 8 * (2 * (uint64_t)h->documents + 1);
    if (c->size < size) return damaged(c, "is cut off", err);
    if (c->size > size) return damaged(c, "is longer than it says", err);
    const char *token = (const char *)c->map + sizeof *h;
    const uint64_t *offset = (const uint64_t *)(const void *)(token + tokens);
    *c = (struct lg__cache){.map = c->map,
                            .size = c->size,
                            .path = c->path,
                            .token = token,
                            .offset = offset,
                            .key = offset + h->documents + 1,
                            .width = (int)h->width,
                            .vocab = h->vocab,
                            .documents = h->documents,
                            .tokens = h->tokens,
                            .bytes = h->bytes,
                            .tokenizer = h->tokenizer,
                            .sources = h->sources};
    int ok = h->tables == tables_check(c->offset, c->key, c->documents) && c->offset[0] == 0 &&
             c->offset[c->documents] == (uint64_t)c->tokens;
    for (int64_t i = 0; i < c->documents; i++) ok &= c->offset[i] < c->offset[i + 1];
    if (!ok) return damaged(c, "has damaged offsets", err);
    ok = h->content == sum_tokens(c->token, tokens);
    return ok ? 0 : damaged(c, "has damaged tokens", err);
}

int lg__cache_open(struct lg__cache *c, const char *path, lg_error *err)
{
    struct stat st;
    *c = (struct lg__cache){.path = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        lg__fail(err, LG_ERROR_SYSTEM, "there is no token cache %s: name the texts to make it of",
                 path);
        return LG__CACHE_ABSENT;
    }
    int ok = fd >= 0 && fstat(fd, &st) == 0;
    c->size = ok ? (size_t)st.st_size : 0;
    void *map = !ok ? MAP_FAILED : mmap(NULL, c->size ? c->size : 1, PROT_READ, MAP_SHARED, fd, 0);
    int why = errno;
    if (fd >= 0) close(fd);
    if (map == MAP_FAILED)
        return lg__fail(err, LG_ERROR_SYSTEM, "the token cache %s cannot be read (%s)", path,
                        strerror(why));
    c->map = map;
    size_t same = c->size < sizeof magic ? c->size : sizeof magic;
    if (memcmp(map, magic, same) != 0 || !same) {
        lg__cache_close(c);
        lg__fail(err, LG_ERROR_ARGUMENT, "%s is no token cache: name another file", path);
        return LG__CACHE_FOREIGN;
    }
    if (c->size < sizeof(struct header)) return damaged(c, "is cut off", err);
    return check(c, map, err);
}
