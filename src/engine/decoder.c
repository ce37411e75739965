/* decoder.c: generation with a key-value cache, on the calling thread. A call reads a few
 * new rows of some sequences, appends their keys and values to the caches, and leaves the
 * logits that follow each sequence's last token. With span window a row costs the same at
 * any length: its keys are found by ID. With span full the cache also keeps its whole
 * blocks packed, so that only the last block is packed again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pass.h"

enum { PROMPT_ROWS = 480 }; /* rows of a prompt that are read at once */

struct sequence {
    int length;
    struct lg__block ids[LG_LEVELS];
    struct lg__places places;                /* span window */
    struct lg__block pointer_key[LG_LEVELS]; /* [length, C] */
};

struct cache {
    struct lg__block kv;     /* [length, 2C] */
    struct lg__block packed; /* span full: key blocks */
};

/* n new rows of sequence s. */
struct part {
    int s, n;
};

struct lg_decoder {
    const struct lg_model *m;
    int most, sequences;  /* room for, in use */
    struct sequence *seq; /* [most] */
    struct cache *cache;  /* [layers, most] */
    struct part *parts;   /* [most] */
    int32_t *tokens;      /* of a step, [most] */
    int32_t *ids[LG_LEVELS];
    struct lg__rotary_table turns;
    struct lg__block arena, places, logits, scratch;
    struct lg__block final, query; /* [most, C] final states; [C] a pointer's query */
    struct lg__block id_logits[LG_LEVELS];
    lg__decoder_stop *stop; /* or NULL */
    void *context;
};

/* The IDs of a sequence, level by level. */
struct ids {
    const int32_t *level[LG_LEVELS];
};

static struct ids ids_of(const struct sequence *s)
{
    struct ids x;
    for (int l = 0; l < LG_LEVELS; l++) x.level[l] = s->ids[l].data;
    return x;
}

int32_t lg_argmax(const float *logits, int n)
{
    int32_t best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int32_t lg_sample(const float *logits, int n, double temperature, lg_rng *r)
{
    int32_t best = lg_argmax(logits, n), last = best;
    if (!(temperature > 0)) return best;
    double sum = 0, top = (double)logits[best];
    for (int i = 0; i < n; i++) sum += exp(((double)logits[i] - top) / temperature);
    double left = lg_rng_uniform(r) * sum;
    for (int i = 0; i < n; i++) {
        double p = exp(((double)logits[i] - top) / temperature);
        if (p <= 0) continue;
        last = i;
        if ((left -= p) < 0) return i;
    }
    return last;
}

static int allocate(struct lg_decoder *d)
{
    const lg_model_config *c = &d->m->config;
    size_t n = (size_t)d->most, C = (size_t)c->width, f = sizeof(float);
    d->seq = lg__alloc(n * sizeof *d->seq);
    d->cache = lg__alloc(n * (size_t)c->layers * sizeof *d->cache);
    d->parts = lg__alloc(n * sizeof *d->parts);
    d->tokens = lg__alloc(n * sizeof *d->tokens);
    int failed = !d->seq || !d->cache || !d->parts || !d->tokens ||
                 lg__block_grow(&d->logits, n * (size_t)c->vocab * f, 0, "logits", NULL) ||
                 lg__block_grow(&d->final, n * C * f, 0, "final states", NULL) ||
                 lg__block_grow(&d->query, C * f, 0, "a query", NULL);
    for (int l = 0; l < c->levels && !failed; l++) {
        d->ids[l] = lg__alloc(n * sizeof *d->ids[l]);
        failed = !d->ids[l] || lg__block_grow(&d->id_logits[l], n * (size_t)c->id_classes[l] * f, 0,
                                              "ID logits", NULL);
    }
    return failed;
}

lg_decoder *lg_decoder_new(const lg_model *m, int sequences, lg_error *err)
{
    if (sequences < 1) {
        lg__fail(err, LG_ERROR_ARGUMENT, "a decoder of %d sequences; it must have at least 1",
                 sequences);
        return NULL;
    }
    struct lg_decoder *d = lg__alloc(sizeof *d);
    if (d) {
        d->m = m;
        d->most = sequences;
    }
    if (!d || allocate(d)) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a decoder of %d sequences; take fewer",
                 sequences);
        lg_decoder_free(d);
        return NULL;
    }
    return d;
}

void lg_decoder_free(lg_decoder *d)
{
    if (!d) return;
    for (int s = 0; d->seq && s < d->most; s++) {
        lg__places_free(&d->seq[s].places);
        for (int l = 0; l < LG_LEVELS; l++) {
            lg__block_free(&d->seq[s].ids[l]);
            lg__block_free(&d->seq[s].pointer_key[l]);
        }
    }
    for (int i = 0; d->cache && i < d->most * d->m->config.layers; i++) {
        lg__block_free(&d->cache[i].kv);
        lg__block_free(&d->cache[i].packed);
    }
    for (int l = 0; l < LG_LEVELS; l++) {
        lg__block_free(&d->id_logits[l]);
        free(d->ids[l]);
    }
    lg__rotary_table_free(&d->turns);
    lg__block_free(&d->arena);
    lg__block_free(&d->places);
    lg__block_free(&d->logits);
    lg__block_free(&d->final);
    lg__block_free(&d->query);
    lg__block_free(&d->scratch);
    free(d->seq);
    free(d->cache);
    free(d->parts);
    free(d->tokens);
    free(d);
}

/* At least `need` bytes, by half more each time, so that appending costs little. */
static int room(struct lg__block *b, size_t need, lg_error *err)
{
    if (need <= b->size) return 0;
    size_t size = b->size + b->size / 2;
    return lg__block_grow(b, size > need ? size : need, 1, "the key-value cache", err);
}

/* Arrays for some rows of some parts; the last row of each part goes through the last
 * layer and the heads, whose logits are in *out. */
static size_t carve(const struct lg_decoder *d, struct lg__acts *a, float **cos, float **sin,
                    float **out, float *base, int rows, int parts)
{
    const struct lg_model *m = d->m;
    size_t at = 0, N = (size_t)rows, C = (size_t)m->config.width;
    size_t turned = lg__rotated(m) ? (size_t)m->R / 2 : 0;
    size_t widest = (size_t)m->head.out;
    for (int l = 0; l < m->config.levels; l++)
        if ((size_t)m->id_head[l].out > widest) widest = (size_t)m->id_head[l].out;
    memset(a, 0, sizeof *a);
#define CARVE(to, count) ((to) = base ? base + at : NULL, at += ((count) + 15) / 16 * 16)
    CARVE(*out, (size_t)parts * widest);
    CARVE(a->x, N * C);
    CARVE(a->h1, N * C);
    CARVE(a->kv, 2 * N * C);
    CARVE(a->q, N * C);
    CARVE(a->att, N * C);
    CARVE(a->h2, N * C);
    CARVE(a->up, N * (size_t)m->U);
    CARVE(a->act, N * (size_t)m->F);
    CARVE(a->mean1, N);
    CARVE(a->rstd1, N);
    CARVE(*cos, N * turned);
    CARVE(*sin, N * turned);
#undef CARVE
    a->mean2 = a->mean1;
    a->rstd2 = a->rstd1;
    a->h1q = a->h1;
    a->xq = a->x2 = a->out = a->x;
    a->cos = a->cosq = turned ? *cos : NULL;
    a->sin = a->sinq = *sin;
    a->M = a->Mq = rows;
    return at;
}

/* Everything that can fail, before anything changes. */
static int reserve(struct lg_decoder *d, int parts, int rows, const int32_t *const ids[LG_LEVELS],
                   lg_error *err)
{
    const struct lg_model *m = d->m;
    const lg_model_config *c = &m->config;
    size_t C = (size_t)c->width, f = sizeof(float), scratch = 0;
    int code;
    for (int i = 0; i < parts; i++) {
        struct sequence *s = &d->seq[d->parts[i].s];
        if (s->length > INT32_MAX - d->parts[i].n)
            return lg__fail(err, LG_ERROR_ARGUMENT, "sequence %d has %d tokens, the most there are",
                            d->parts[i].s, s->length);
        int n = s->length + d->parts[i].n, most = 0;
        for (int l = 0; l < c->levels; l++)
            if ((code = room(&s->ids[l], (size_t)n * sizeof(int32_t), err)) ||
                (c->pointer[l] && (code = room(&s->pointer_key[l], (size_t)n * C * f, err))))
                return code;
        if (c->span == LG_SPAN_WINDOW) {
            if ((code = lg__places_reserve(&s->places, c->levels, n, err))) return code;
            most = lg__places_most(&s->places, c, d->parts[i].n);
        }
        for (int l = 0; l < c->levels; l++) /* a pointer's scores */
            if (c->pointer[l] && (size_t)n > scratch) scratch = (size_t)n;
        size_t need = lg__attention_scratch(m, n, most, 0);
        scratch = need > scratch ? need : scratch;
        size_t blocks = (size_t)(n + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK;
        for (int l = 0; l < c->layers; l++) {
            struct cache *k = &d->cache[l * d->most + d->parts[i].s];
            if ((code = room(&k->kv, 2 * (size_t)n * C * f, err))) return code;
            if (c->span == LG_SPAN_FULL &&
                (code = room(&k->packed, blocks * lg__keys_block_size(m) * f, err)))
                return code;
        }
    }
    struct lg__acts a;
    float *ignored;
    if ((code = lg__block_grow(&d->arena,
                               carve(d, &a, &ignored, &ignored, &ignored, NULL, rows, parts) * f, 0,
                               "activations", err)) ||
        (code = lg__block_grow(&d->places, (size_t)rows * sizeof(int), 0, "places", err)) ||
        (code = room(&d->scratch, scratch * f, err)) ||
        (code = lg__rotary_table_reserve(m, &d->turns, ids, rows, err)))
        return code;
    return 0;
}

/* Appends the parts' keys and values of layer l to the caches. */
static void append(struct lg_decoder *d, int l, int parts, const float *kv)
{
    const struct lg_model *m = d->m;
    size_t C = (size_t)m->config.width;
    for (int i = 0; i < parts; i++) {
        int s = d->parts[i].s, n = d->parts[i].n, from = d->seq[s].length;
        struct cache *k = &d->cache[l * d->most + s];
        memcpy((float *)k->kv.data + 2 * (size_t)from * C, kv, 2 * (size_t)n * C * sizeof *kv);
        kv += 2 * (size_t)n * C;
        for (int b = from / LG__KEY_BLOCK;
             m->config.span == LG_SPAN_FULL && b * LG__KEY_BLOCK < from + n; b++)
            lg__keys_pack(m, k->packed.data, k->kv.data, b, from + n);
    }
}

/* Attention of layer l; with `last`, of each part's last row alone. */
static void attend(struct lg_decoder *d, int l, int parts, const struct lg__acts *a, int last)
{
    const struct lg_model *m = d->m;
    size_t C = (size_t)m->config.width;
    int row = 0, *place = d->places.data;
    for (int i = 0; i < parts; i++) {
        int s = d->parts[i].s, n = d->parts[i].n, from = d->seq[s].length;
        const struct cache *k = &d->cache[l * d->most + s];
        struct lg__keys keys = {
            .kv = k->kv.data,
            .n = from + n,
            .packed = k->packed.data,
            .places = m->config.span == LG_SPAN_WINDOW ? &d->seq[s].places : NULL,
        };
        for (int v = 0; v < m->config.levels; v++) keys.ids[v] = d->seq[s].ids[v].data;
        int queries = last ? 1 : n;
        for (int j = 0; j < queries; j++) place[j] = from + n - queries + j;
        struct lg__queries q = {a->q + (size_t)row * C, place, queries};
        lg__attention_forward(m, &m->layers[l], a->att + (size_t)row * C, NULL, &keys, &q,
                              d->scratch.data);
        row += queries;
    }
}

/* Moves the last row of each part to the front: the last layer's queries. */
static void keep_last(const struct lg_decoder *d, struct lg__acts *a, float *cos, float *sin,
                      int parts)
{
    size_t C = (size_t)d->m->config.width, half = (size_t)d->m->R / 2;
    for (int i = 0, end = 0; i < parts; i++) {
        end += d->parts[i].n;
        size_t from = (size_t)end - 1, to = (size_t)i;
        memmove(a->x + to * C, a->x + from * C, C * sizeof(float));
        memmove(a->h1 + to * C, a->h1 + from * C, C * sizeof(float));
        if (!a->cos) continue;
        memmove(cos + to * half, cos + from * half, half * sizeof(float));
        memmove(sin + to * half, sin + from * half, half * sizeof(float));
    }
    a->Mq = parts;
}

/* Appends the parts' IDs, level after level. */
static void append_ids(struct lg_decoder *d, int parts, const int32_t *const ids[LG_LEVELS])
{
    const lg_model_config *c = &d->m->config;
    for (int i = 0, at = 0; i < parts; i++) {
        struct sequence *s = &d->seq[d->parts[i].s];
        int n = d->parts[i].n;
        for (int l = 0; l < c->levels; l++)
            memcpy((int32_t *)s->ids[l].data + s->length, ids[l] + at, (size_t)n * sizeof(int32_t));
        for (int j = 0; c->span == LG_SPAN_WINDOW && j < n; j++)
            lg__places_add(&s->places, ids_of(s).level, s->length + j);
        at += n;
    }
}

/* Appends the parts' keys of the pointers, from the last layer's h1. */
static void append_pointer_keys(struct lg_decoder *d, int parts, const float *h1)
{
    const struct lg_model *m = d->m;
    size_t C = (size_t)m->config.width;
    for (int i = 0; i < parts; i++) {
        struct sequence *s = &d->seq[d->parts[i].s];
        for (int l = 0; l < m->config.levels; l++)
            if (m->config.pointer[l])
                lg__linear_forward(m, &m->pointer[l].key,
                                   (float *)s->pointer_key[l].data + (size_t)s->length * C, h1,
                                   d->parts[i].n, 0);
        h1 += (size_t)d->parts[i].n * C;
    }
}

/* One head on the parts' final states, spread over the sequences' rows of `to`. */
static void run_head(struct lg_decoder *d, const struct lg__linear *head, float *to,
                     const float *final, float *out, int parts)
{
    size_t n = (size_t)head->out;
    if (!n) return;
    lg__linear_forward(d->m, head, out, final, parts, 0);
    for (int i = 0; i < parts; i++)
        memcpy(to + (size_t)d->parts[i].s * n, out + (size_t)i * n, n * sizeof(float));
}

/* Reads rows of tokens, part after part. */
static int advance(struct lg_decoder *d, int parts, int rows, const int32_t *tokens,
                   const int32_t *const ids[LG_LEVELS], lg_error *err)
{
    const struct lg_model *m = d->m;
    int code = reserve(d, parts, rows, ids, err);
    if (code) return code;
    struct lg__acts a;
    float *cos, *sin, *out;
    carve(d, &a, &cos, &sin, &out, d->arena.data, rows, parts);
    append_ids(d, parts, ids);
    lg__embed(m, a.x, tokens, ids, 0, rows);
    if (a.cos) lg__rotary_table_rows(m, &d->turns, cos, sin, ids, 0, rows);
    for (int l = 0; l < m->config.layers; l++) {
        int last = l == m->config.layers - 1;
        lg__layer_keys(m, &m->layers[l], &a);
        append(d, l, parts, a.kv);
        if (last) append_pointer_keys(d, parts, a.h1);
        if (last) keep_last(d, &a, cos, sin, parts);
        lg__layer_query(m, &m->layers[l], &a);
        attend(d, l, parts, &a, last);
        lg__layer_after(m, &m->layers[l], &a);
    }
    lg__norm_forward(m, m->final_norm, a.h2, a.mean2, a.rstd2, a.out, parts);
    run_head(d, &m->head, d->logits.data, a.h2, out, parts);
    for (int l = 0; l < m->config.levels; l++)
        run_head(d, &m->id_head[l], d->id_logits[l].data, a.h2, out, parts);
    size_t C = (size_t)m->config.width;
    for (int i = 0; i < parts; i++) {
        memcpy((float *)d->final.data + (size_t)d->parts[i].s * C, a.h2 + (size_t)i * C,
               C * sizeof(float));
        d->seq[d->parts[i].s].length += d->parts[i].n;
    }
    return 0;
}

int lg_decoder_start(lg_decoder *d, const lg_batch *prompts, lg_error *err)
{
    int code = lg__check_batch(d->m, prompts, err);
    if (code) return code;
    if (prompts->sequences > d->most)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%d prompts for a decoder of %d sequences; make a larger one",
                        prompts->sequences, d->most);
    d->sequences = 0; /* until all prompts are read */
    for (int s = 0; s < d->most; s++) {
        d->seq[s].length = 0;
        if ((code = lg__places_reset(&d->seq[s].places, d->m->config.levels, 1, err))) return code;
    }
    for (int s = 0; s < prompts->sequences; s++)
        for (int r = prompts->offsets[s]; r < prompts->offsets[s + 1]; r += PROMPT_ROWS) {
            int left = prompts->offsets[s + 1] - r;
            if (d->stop && d->stop(d->context)) return 0;
            d->parts[0] = (struct part){s, left < PROMPT_ROWS ? left : PROMPT_ROWS};
            const int32_t *ids[LG_LEVELS] = {0};
            for (int l = 0; l < prompts->levels; l++) ids[l] = prompts->ids[l] + r;
            code = advance(d, 1, d->parts[0].n, prompts->tokens + r, ids, err);
            if (code) return code;
        }
    d->sequences = prompts->sequences;
    return 0;
}

void lg__decoder_stop_at(lg_decoder *d, lg__decoder_stop *stop, void *context)
{
    d->stop = stop;
    d->context = context;
}

int lg_decoder_step(lg_decoder *d, const int32_t *tokens, const int32_t *ids, lg_error *err)
{
    int n = 0, code;
    if (!d->sequences)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the decoder has no sequences; call lg_decoder_start first");
    for (int s = 0; s < d->sequences; s++) {
        if (tokens[s] == LG_NONE) continue;
        lg_error why;
        int32_t id[LG_LEVELS];
        for (int l = 0; l < d->m->config.levels; l++)
            d->ids[l][n] = id[l] = ids[l * d->sequences + s];
        if ((code = lg__check_token(d->m, tokens[s], id, &why)))
            return lg__fail(err, code, "sequence %d: %s", s, why.text);
        d->parts[n] = (struct part){s, 1};
        d->tokens[n++] = tokens[s];
    }
    return n ? advance(d, n, n, d->tokens, (const int32_t *const *)d->ids, err) : 0;
}

const float *lg_decoder_logits(const lg_decoder *d, int s)
{
    return (const float *)d->logits.data + (size_t)s * (size_t)d->m->config.vocab;
}

const float *lg_decoder_id_logits(const lg_decoder *d, int s, int level)
{
    int classes = d->m->id_head[level].out;
    if (!classes) return NULL;
    return (const float *)d->id_logits[level].data + (size_t)s * (size_t)classes;
}

int32_t lg_decoder_point(lg_decoder *d, int s, int level)
{
    const struct lg_model *m = d->m;
    const struct sequence *q = &d->seq[s];
    size_t C = (size_t)m->config.width;
    if (!m->pointer[level].query.out || !q->length) return LG_ABSENT;
    struct lg__pointer_keys k = {q->pointer_key[level].data, q->ids[level].data, q->length};
    lg__linear_forward(m, &m->pointer[level].query, d->query.data,
                       (float *)d->final.data + (size_t)s * C, 1, 0);
    lg__pointer_scores(m, &m->pointer[level], d->scratch.data, d->query.data, &k,
                       lg__carried(k.ids, k.n - 1));
    return lg__pointer_best(d->scratch.data, &k);
}

int lg_decoder_length(const lg_decoder *d, int s) { return d->seq[s].length; }
