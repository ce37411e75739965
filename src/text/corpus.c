/* corpus.c: texts as documents of tokens, out of a cache that is made where it is not there or is
 * stale; train and test by document, or by stretches of too few; windows of them, drawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/text.h"

enum {
    STRETCHES = 20,
    LEAST_STRETCH = 1024,
    MOST_STRETCH = 4096
}; /* of what is held out; tokens */

struct lg_corpus {
    struct lg__cache cache;
    char *path;
    int64_t documents;
    const uint64_t
        *offset; /* [documents + 1] of their tokens: the cache's, or those of stretches */
    uint64_t *stretches;
    uint64_t seed;
    double share;
    int64_t *side[3]; /* numbers of the documents; of LG_CORPUS_ALL NULL: all */
    int64_t count[3], tokens[3];
    char note[600];
};

/* ---- Making the cache ------------------------------------------------------------------------ */

struct making {
    const lg_corpus_options *o;
    lg_tokenizer *t;
    struct lg__cache_writer *w;
    int64_t total; /* bytes of the files */
    uint64_t key;
    size_t bytes;
    const char *file; /* of the document, and which of its documents it is */
    int64_t in_file;
    lg_corpus_progress progress;
};

static int put_one(struct making *m, int32_t token, lg_error *err)
{
    return token == LG_NONE ? 0 : lg__cache_tokens(m->w, &token, 1, err);
}

/* A document's tokens, with those that begin and end it; one without text has none. */
static int put_piece(void *context, const struct lg__piece *p, lg_error *err)
{
    struct making *m = context;
    const int32_t *tokens;
    size_t n;
    int e = 0;
    if (p->first) {
        m->in_file = m->file == p->file ? m->in_file + 1 : 1;
        m->file = p->file;
        m->key = m->bytes = 0;
    }
    if (!m->bytes && p->n) e = put_one(m, m->t->begin, err);
    if (!e) e = lg__tokenizer_encode(m->t, p->text, p->n, !m->bytes, &tokens, &n, err);
    if (e && err && err->code == LG_ERROR_ARGUMENT) { /* a byte without a token: say where */
        lg_error why = *err;
        lg__fail(err, e, "%s, document %lld: %.400s", p->file, (long long)m->in_file, why.text);
    }
    if (!e) e = lg__cache_tokens(m->w, tokens, n, err);
    if (e) return e;
    m->key = lg__hash_more(m->key, p->text, p->n);
    m->bytes += p->n;
    m->progress.tokens += (int64_t)n;
    m->progress.bytes += (int64_t)p->n;
    if (p->last) {
        m->progress.documents += m->bytes > 0;
        if (m->bytes) e = put_one(m, m->t->end, err);
        if (!e) e = lg__cache_document(m->w, m->bytes, lg__mix(m->key), err);
    }
    m->progress.done = m->total ? (double)p->done / (double)m->total : 1;
    if (!e && m->o->watch && !m->o->watch(m->o->context, &m->progress))
        e = lg__fail(err, LG_ERROR_STOPPED, "stopped; nothing was written to %s", m->o->cache);
    return e;
}

static int make_cache(const lg_corpus_options *o, lg_tokenizer *t, const struct lg__sources *s,
                      uint64_t sources, lg_error *err)
{
    struct making m = {.o = o, .t = t, .total = s->size};
    m.w = lg__cache_begin(o->cache, t, sources, err);
    if (!m.w) return err ? err->code : LG_ERROR_SYSTEM;
    int e = lg__documents(s, o->field, put_piece, &m, err);
    if (!e && !m.progress.documents)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "there is no text in %s%s: name others",
                     s->file[0].path, s->count > 1 ? " and the other files" : "");
    if (!e) return lg__cache_keep(m.w, err);
    lg__cache_drop(m.w);
    return e;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Of names, sizes and times of the files, and which key holds the text. */
static uint64_t sources_checksum(const struct lg__sources *s, const char *field)
{
    uint64_t h = lg__hash(field, strlen(field), 4);
    for (int i = 0; i < s->count; i++) {
        const char *slash = strrchr(s->file[i].path, '/');
        const char *name = slash ? slash + 1 : s->file[i].path;
        h = lg__hash(name, strlen(name), h);
        h = lg__hash((int64_t[]){s->file[i].size, s->file[i].changed}, 2 * sizeof(int64_t), h);
    }
    return h;
}

/* What is wrong, with the whole sentence in *why, if the cache is that of another tokenizer or of other texts;
 * else NULL. */
static const char *stale(const lg_corpus *c, const lg_corpus_options *o, const lg_tokenizer *t,
                         uint64_t sources, lg_error *why)
{
    const char *what = c->cache.tokenizer != t->checksum ? "was made with another tokenizer"
                       : o->path_count && c->cache.sources != sources
                           ? "was made of other texts, or they have changed since"
                           : NULL;
    if (what)
        lg__fail(why, LG_ERROR_ARGUMENT,
                 "the token cache %s %s: take that tokenizer, or name the texts to make it again",
                 c->path, what);
    return what;
}

/* Makes the cache anew, because of its fault, which becomes the note; NULL: there was none. */
static int make_again(lg_corpus *c, const lg_corpus_options *o, lg_tokenizer *t,
                      const struct lg__sources *s, uint64_t sources, const char *fault,
                      lg_error *err)
{
    if (fault)
        snprintf(c->note, sizeof c->note, "the token cache %.480s %s; it was rebuilt", c->path,
                 fault);
    lg__cache_close(&c->cache);
    int e = make_cache(o, t, s, sources, err);
    if (!e) e = lg__cache_open(&c->cache, c->path, err);
    return e > 0 ? LG_ERROR_SYSTEM : e;
}

/* Opens what is there if it fits; otherwise makes it, if there are texts to make it of. */
static int open_cache(lg_corpus *c, const lg_corpus_options *o, lg_tokenizer *t, lg_error *err)
{
    struct lg__sources s = {0};
    lg_error why = {0};
    int e = o->path_count ? lg__sources_find(&s, o->paths, o->path_count, err) : 0;
    if (e) return e;
    uint64_t sources = sources_checksum(&s, o->field ? o->field : "text");
    int state = lg__cache_open(&c->cache, c->path, &why);
    const char *fault = state ? c->cache.fault : stale(c, o, t, sources, &why);
    if (state || fault) {
        int possible = o->path_count && state >= 0 && state != LG__CACHE_FOREIGN;
        e = possible ? make_again(c, o, t, &s, sources, fault, err) : why.code;
        if (!possible && err) *err = why;
    }
    lg__sources_free(&s);
    return e;
}

/* By the document's text alone: whatever the order of reading, and the same for its copies. */
static int in_test(const lg_corpus *c, uint64_t key)
{
    lg_rng r;
    lg_rng_init(&r, c->seed, 0x73706C74, key);
    return lg_rng_uniform(&r) < c->share;
}

static int no_memory(const lg_corpus *c, lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the numbers of %lld documents",
                    (long long)c->documents);
}

/* Of so many tokens the last that are held out. */
static int64_t last_part(const lg_corpus *c, int64_t tokens)
{
    return (int64_t)(c->share * (double)tokens + 0.5);
}

/* Cuts every document in two: the first part is one document of training, the last is held out, in
 * stretches of about equal length, each a document. */
static int cut_documents(lg_corpus *c, char *test, lg_error *err)
{
    int64_t held = last_part(c, c->cache.tokens), length = held / STRETCHES, n = 0;
    if (length > MOST_STRETCH) length = MOST_STRETCH;
    if (length < LEAST_STRETCH) length = LEAST_STRETCH;
    size_t room = (size_t)(2 * c->cache.documents + held / length + 1);
    if (!(c->stretches = lg__alloc(room * sizeof *c->stretches))) return no_memory(c, err);
    for (int64_t i = 0; i < c->cache.documents; i++) {
        uint64_t start = c->cache.offset[i], end = c->cache.offset[i + 1];
        int64_t tail = last_part(c, (int64_t)(end - start));
        int64_t parts = tail / length > 1 ? tail / length : 1;
        c->stretches[n] = start;
        test[n++] = 0;
        for (int64_t k = 0; k < parts; k++) {
            c->stretches[n] = end - (uint64_t)(tail - tail * k / parts);
            test[n++] = 1;
        }
    }
    c->stretches[n] = c->cache.offset[c->cache.documents];
    c->offset = c->stretches;
    c->documents = n;
    if (*c->note) return 0;
    snprintf(c->note, sizeof c->note,
             "%lld document%s too few to hold some out: the last %.3g%% of %s %s held out instead "
             "(a line <|endoftext|> parts documents)",
             (long long)c->cache.documents, c->cache.documents == 1 ? " is" : "s are",
             100 * c->share, c->cache.documents == 1 ? "it" : "each",
             c->cache.documents == 1 ? "is" : "are");
    return 0;
}

/* Which documents are held out. Where that would be all or none of them, though only a part is asked
 * for, they are cut. */
static int choose_sides(lg_corpus *c, char *test, lg_error *err)
{
    int64_t held = 0;
    for (int64_t i = 0; i < c->documents; i++) held += test[i] = (char)in_test(c, c->cache.key[i]);
    if ((held > 0 && held < c->documents) || c->share <= 0 || c->share >= 1) return 0;
    return cut_documents(c, test, err);
}

static int split(lg_corpus *c, lg_error *err)
{
    c->documents = c->cache.documents;
    c->offset = c->cache.offset;
    /* cut, there are at most so many */
    size_t most = (size_t)(2 * c->documents + c->cache.tokens / LEAST_STRETCH + 1);
    char *test = lg__alloc(most);
    int e = test ? choose_sides(c, test, err) : no_memory(c, err);
    for (int s = LG_CORPUS_TRAIN; s <= LG_CORPUS_TEST && !e; s++) {
        c->side[s] = lg__alloc((size_t)c->documents * sizeof(int64_t));
        if (!c->side[s]) e = no_memory(c, err);
    }
    for (int64_t i = 0; i < c->documents && !e; i++) {
        int s = test[i] ? LG_CORPUS_TEST : LG_CORPUS_TRAIN;
        c->side[s][c->count[s]++] = i;
        c->tokens[s] += lg_corpus_length(c, i);
    }
    free(test);
    c->count[LG_CORPUS_ALL] = c->documents;
    c->tokens[LG_CORPUS_ALL] = c->cache.tokens;
    return e;
}

lg_corpus *lg_corpus_open(const lg_corpus_options *o, lg_tokenizer *t, lg_error *err)
{
    if (!o->cache) {
        lg__fail(err, LG_ERROR_ARGUMENT, "a corpus needs a file for its tokens: set cache");
        return NULL;
    }
    if (!(o->test_share >= 0 && o->test_share <= 1)) {
        lg__fail(err, LG_ERROR_ARGUMENT, "the share of test documents is %g: take one from 0 to 1",
                 o->test_share);
        return NULL;
    }
    lg_corpus *c = lg__alloc(sizeof *c);
    if (c) c->path = strdup(o->cache);
    if (!c || !c->path) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a corpus");
        lg_corpus_free(c);
        return NULL;
    }
    c->seed = o->seed;
    c->share = o->test_share;
    if (open_cache(c, o, t, err) == 0 && split(c, err) == 0) return c;
    lg_corpus_free(c);
    return NULL;
}

void lg_corpus_free(lg_corpus *c)
{
    if (!c) return;
    lg__cache_close(&c->cache);
    for (int s = 0; s < 3; s++) free(c->side[s]);
    free(c->stretches);
    free(c->path);
    free(c);
}

const char *lg_corpus_note(const lg_corpus *c) { return *c->note ? c->note : NULL; }

/* ---- Documents --------------------------------------------------------------------------------- */

int64_t lg_corpus_documents(const lg_corpus *c, lg_corpus_side side) { return c->count[side]; }
int64_t lg_corpus_tokens(const lg_corpus *c, lg_corpus_side side) { return c->tokens[side]; }
int64_t lg_corpus_bytes(const lg_corpus *c) { return c->cache.bytes; }

uint64_t lg_corpus_checksum(const lg_corpus *c)
{
    return lg__hash(c->cache.key, (size_t)c->cache.documents * sizeof *c->cache.key, 5);
}

int64_t lg_corpus_document(const lg_corpus *c, lg_corpus_side side, int64_t i)
{
    if (i < 0 || i >= c->count[side]) return -1;
    return c->side[side] ? c->side[side][i] : i;
}

int64_t lg_corpus_length(const lg_corpus *c, int64_t document)
{
    return (int64_t)(c->offset[document + 1] - c->offset[document]);
}

int lg_corpus_read(const lg_corpus *c, int64_t document, int64_t from, int n, int32_t *tokens,
                   lg_error *err)
{
    if (document < 0 || document >= c->documents || from < 0 || n < 0 ||
        n > lg_corpus_length(c, document) - from)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "tokens %lld to %lld of document %lld are not in %s: it has %lld documents",
                        (long long)from, (long long)(from + n) - 1, (long long)document, c->path,
                        (long long)c->documents);
    uint64_t at = c->offset[document] + (uint64_t)from;
    for (int i = 0; i < n; i++) {
        tokens[i] = c->cache.width == 2
                        ? (int32_t)((const uint16_t *)c->cache.token)[at + (uint64_t)i]
                        : ((const int32_t *)c->cache.token)[at + (uint64_t)i];
        if (tokens[i] < 0 || tokens[i] >= c->cache.vocab)
            return lg__fail(err, LG_ERROR_SYSTEM,
                            "the token cache %s is damaged: document %lld has the token %d of %d; "
                            "delete it and make it again",
                            c->path, (long long)document, tokens[i], c->cache.vocab);
    }
    return 0;
}

/* ---- Windows ----------------------------------------------------------------------------------- */

struct lg_windows {
    const lg_corpus *corpus;
    lg_corpus_side side;
    int n;
    int64_t documents, count;
    int64_t *before; /* [documents + 1] windows that begin in the documents before */
};

void lg_windows_free(lg_windows *w)
{
    if (!w) return;
    free(w->before);
    free(w);
}

static const char *side_name(lg_corpus_side side)
{
    static const char *const names[] = {"", "training ", "test "};
    return names[side];
}

static lg_windows *make_windows(const lg_corpus *c, lg_corpus_side side, int n, lg_error *err)
{
    lg_windows *w = lg__alloc(sizeof *w);
    if (w) {
        *w = (lg_windows){.corpus = c, .side = side, .n = n, .documents = c->count[side]};
        w->before = lg__alloc((size_t)(w->documents + 1) * sizeof *w->before);
    }
    if (w && w->before) return w;
    lg__fail(err, LG_ERROR_MEMORY, "no memory for the windows of %s", c->path);
    lg_windows_free(w);
    return NULL;
}

lg_windows *lg_windows_new(const lg_corpus *c, lg_corpus_side side, int n, lg_error *err)
{
    lg_windows *w = make_windows(c, side, n, err);
    int64_t longest = 0;
    if (!w) return NULL;
    for (int64_t i = 0; i < w->documents; i++) {
        int64_t length = lg_corpus_length(c, lg_corpus_document(c, side, i));
        w->before[i + 1] = w->before[i] + (n > 0 && length >= n ? length - n + 1 : 0);
        longest = length > longest ? length : longest;
    }
    if ((w->count = w->before[w->documents])) return w;
    lg__fail(
        err, LG_ERROR_ARGUMENT,
        "there is no %sdocument with %d tokens, the longest has %lld: take a shorter length or "
        "longer texts (their tokens are in %s)",
        side_name(side), n, (long long)longest, c->path);
    lg_windows_free(w);
    return NULL;
}

lg_windows *lg_windows_joined(const lg_corpus *c, lg_corpus_side side, int n, lg_error *err)
{
    lg_windows *w = make_windows(c, side, n, err);
    if (!w) return NULL;
    for (int64_t i = 0; i < w->documents; i++)
        w->before[i + 1] = w->before[i] + lg_corpus_length(c, lg_corpus_document(c, side, i));
    w->count = w->before[w->documents] - n + 1;
    if (n > 0 && w->count > 0) return w;
    lg__fail(err, LG_ERROR_ARGUMENT,
             "%s has %lld tokens in all its %sdocuments, and the window %d: take a shorter window "
             "or more texts",
             c->path, (long long)w->before[w->documents], side_name(side), n);
    lg_windows_free(w);
    return NULL;
}

int64_t lg_windows_count(const lg_windows *w) { return w->count; }

/* Uniform in 0..n-1: 64 random bits, of which the few that would come once too often are drawn
 * again. */
static int64_t below(lg_rng *r, int64_t n)
{
    uint64_t count = (uint64_t)n, over = (0 - count) % count, bits;
    do bits = (uint64_t)lg_rng_u32(r) << 32 | lg_rng_u32(r);
    while (bits < over);
    return (int64_t)(bits % count);
}

/* n tokens from a place of the i-th document on, and of those after it. */
static int read_on(const lg_windows *w, int64_t i, int64_t from, int32_t *tokens, lg_error *err)
{
    int e = 0;
    for (int got = 0; got < w->n && !e; i++, from = 0) {
        int64_t document = lg_corpus_document(w->corpus, w->side, i);
        int64_t left = lg_corpus_length(w->corpus, document) - from;
        int n = left < w->n - got ? (int)left : w->n - got;
        e = lg_corpus_read(w->corpus, document, from, n, tokens + got, err);
        got += n;
    }
    return e;
}

int lg_windows_draw(const lg_windows *w, uint64_t seed, uint32_t stream, uint64_t index,
                    int32_t *tokens, lg_window *at, lg_error *err)
{
    lg_rng r;
    lg_rng_init(&r, seed, stream, index);
    int64_t window = below(&r, lg_windows_count(w)), lo = 0, hi = w->documents - 1;
    while (lo < hi) { /* the document in which it is: before[lo] <= window < before[lo + 1] */
        int64_t mid = lo + (hi - lo) / 2;
        if (w->before[mid + 1] <= window)
            lo = mid + 1;
        else
            hi = mid;
    }
    lg_window found = {.document = lg_corpus_document(w->corpus, w->side, lo),
                       .from = window - w->before[lo]};
    if (at) *at = found;
    return read_on(w, lo, found.from, tokens, err);
}
