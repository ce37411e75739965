/* decoder.c: generation with a key-value cache, on the calling thread. A call reads a few
 * new rows of some sequences: a view (walk.h) of them whose keys and values join those of the
 * caches, and whose queries in the last layer are each sequence's last token. With span window a row costs the same at
 * any length: its keys are found by ID. With span full the cache also keeps its whole
 * blocks packed, so that only the last block is packed again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "match.h"
#include "pointer.h"
#include "walk.h"

enum { PROMPT_ROWS = 480 }; /* rows of a prompt that are read at once */

struct sequence {
    int length;
    struct lg__block ids[LG_LEVELS];
    struct lg__places places;                /* span window */
    struct lg__block pointer_key[LG_LEVELS]; /* [length, C]; of a match head [keys, C] */
    struct lg__block key_ids[LG_LEVELS];     /* match heads: int32_t [keys] */
    int keys[LG_LEVELS];
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
    int reading;          /* 1: prompts, whose tokens may be keys */
    struct sequence *seq; /* [most] */
    struct cache *cache;  /* [depth, most] */
    struct part *parts;   /* [most] */
    int32_t *tokens;      /* of a step, [most] */
    int32_t *ids[LG_LEVELS];
    struct lg__rotary_table turns;
    struct lg__block arena, logits;
    size_t scratch_room;             /* floats of the attention's scratch */
    struct lg__block final, pointer; /* [most, C] final states; [C] a pointer's query, its scores */
    struct lg__block id_logits[LG_LEVELS];
    lg__decoder_stop *stop; /* or NULL */
    void *context;

    /* of the call that is running, in the arena */
    struct lg__view view;
    struct lg__acts acts;
    struct lg__strand *strand;
    int *at, *query, *query_at;
    float *scratch;
    struct lg__lists lists;
};

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
    d->cache = lg__alloc(n * (size_t)d->m->depth * sizeof *d->cache);
    d->parts = lg__alloc(n * sizeof *d->parts);
    d->tokens = lg__alloc(n * sizeof *d->tokens);
    int failed = !d->seq || !d->cache || !d->parts || !d->tokens ||
                 lg__block_grow(&d->logits, n * (size_t)c->vocab * f, 0, "logits", NULL) ||
                 lg__block_grow(&d->final, n * C * f, 0, "final states", NULL);
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
            lg__block_free(&d->seq[s].key_ids[l]);
        }
    }
    for (int i = 0; d->cache && i < d->most * d->m->depth; i++) {
        lg__block_free(&d->cache[i].kv);
        lg__block_free(&d->cache[i].packed);
    }
    for (int l = 0; l < LG_LEVELS; l++) {
        lg__block_free(&d->id_logits[l]);
        free(d->ids[l]);
    }
    lg__rotary_table_free(&d->turns);
    lg__block_free(&d->arena);
    lg__block_free(&d->logits);
    lg__block_free(&d->final);
    lg__block_free(&d->pointer);
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

static size_t take(struct lg_decoder *d, float *base, int rows, int parts, size_t scratch,
                   int listed)
{
    const struct lg_model *m = d->m;
    struct lg__view *v = &d->view;
    struct lg__arena to = {base, 0};
    size_t N = (size_t)rows, P = (size_t)parts, C = (size_t)m->config.width;
    *v = (struct lg__view){.m = m, .owner = d, .rows = rows, .strands = parts, .slices = 1};
    lg__acts_take(m, &to, &d->acts, rows, rows, 0);
    v->x = lg__arena_floats(&to, N * C);
    v->kv = lg__arena_floats(&to, 2 * N * C);
    v->logits = lg__arena_floats(&to, P * (size_t)m->config.vocab);
    for (int l = 0; l < m->config.levels; l++) {
        int classes = m->config.id_classes[l];
        if (classes) v->id_logits[l] = lg__arena_floats(&to, P * (size_t)classes);
        if (lg__finds(&m->config, l)) v->pointer_key[l] = lg__arena_floats(&to, N * C);
    }
    d->strand = lg__arena_take(&to, P, sizeof *d->strand);
    d->at = lg__arena_ints(&to, N);
    d->query = lg__arena_ints(&to, P);
    d->query_at = lg__arena_ints(&to, P);
    d->scratch = lg__arena_floats(&to, scratch);
    if (listed) lg__lists_take(&d->lists, &to, rows, listed);
    return to.used;
}

/* Room for the keys among n tokens of a prompt. */
static int reserve_keys(const struct lg_decoder *d, struct sequence *s, int l, int n, lg_error *err)
{
    size_t most = (size_t)s->keys[l] + (size_t)(d->reading ? n : 0);
    int code = room(&s->key_ids[l], most * sizeof(int32_t), err);
    if (code) return code;
    return room(&s->pointer_key[l], most * (size_t)d->m->config.width * sizeof(float), err);
}

/* Everything that can fail, before anything changes. */
static int reserve(struct lg_decoder *d, int parts, int rows, const int32_t *const ids[LG_LEVELS],
                   lg_error *err)
{
    const struct lg_model *m = d->m;
    const lg_model_config *c = &m->config;
    size_t C = (size_t)c->width, f = sizeof(float), scratch = 0, scores = 0;
    int64_t listed = 0;
    int code, longest = 0;
    for (int i = 0; i < parts; i++) {
        struct sequence *s = &d->seq[d->parts[i].s];
        if (s->length > INT32_MAX - d->parts[i].n)
            return lg__fail(err, LG_ERROR_ARGUMENT, "sequence %d has %d tokens, the most there are",
                            d->parts[i].s, s->length);
        int n = s->length + d->parts[i].n, most = 0;
        for (int l = 0; l < c->levels; l++)
            if ((code = room(&s->ids[l], (size_t)n * sizeof(int32_t), err)) ||
                (c->pointer[l] && (code = room(&s->pointer_key[l], (size_t)n * C * f, err))) ||
                (c->match[l] && (code = reserve_keys(d, s, l, d->parts[i].n, err))))
                return code;
        if (c->span == LG_SPAN_WINDOW) {
            if ((code = lg__places_reserve(&s->places, c->levels, n, err))) return code;
            most = lg__places_most(&s->places, c, d->parts[i].n);
            listed += (int64_t)most * d->parts[i].n;
            longest = most > longest ? most : longest;
        }
        for (int l = 0; l < c->levels; l++) /* a pointer's scores */
            if (lg__finds(c, l) && (size_t)n > scores) scores = (size_t)n;
        size_t need = lg__attention_scratch(m, n, most, 0);
        scratch = need > scratch ? need : scratch;
        size_t blocks = (size_t)(n + LG__KEY_BLOCK - 1) / LG__KEY_BLOCK;
        for (int l = 0; l < m->depth; l++) {
            struct cache *k = &d->cache[l * d->most + d->parts[i].s];
            if ((code = room(&k->kv, 2 * (size_t)n * C * f, err))) return code;
            if (c->span == LG_SPAN_FULL &&
                (code = room(&k->packed, blocks * lg__keys_block_size(m) * f, err)))
                return code;
        }
    }
    /* the attention's scratch grows with the sequences, by half more each time */
    if (scratch > d->scratch_room) d->scratch_room = scratch + scratch / 2;
    scratch = d->scratch_room;
    if (listed > LG__MOST_LISTED) listed = longest > LG__MOST_LISTED ? longest : LG__MOST_LISTED;
    size_t need = take(d, NULL, rows, parts, scratch, (int)listed) * f;
    if ((code = room(&d->arena, need, err)) ||
        (scores && (code = room(&d->pointer, (C + scores) * f, err))) ||
        (code = lg__rotary_table_reserve(m, &d->turns, ids, rows, err)))
        return code;
    take(d, d->arena.data, rows, parts, scratch, (int)listed);
    return 0;
}

/* The caches hold what came before; the new keys are put behind it. */
static void cached_keys(const struct lg__view *v, int l, int i, struct lg__keys *k)
{
    const struct lg_decoder *d = v->owner;
    int s = d->parts[i].s;
    const struct cache *cache = &d->cache[l * d->most + s];
    *k = (struct lg__keys){
        .kv = cache->kv.data,
        .n = d->seq[s].length + d->parts[i].n,
        .packed = cache->packed.data,
        .places = v->m->config.span == LG_SPAN_WINDOW ? &d->seq[s].places : NULL,
    };
    for (int level = 0; level < v->m->config.levels; level++)
        k->ids[level] = d->seq[s].ids[level].data;
}

/* The new rows, part after part; of each the last goes through the last layer. */
static void look(struct lg_decoder *d, const int32_t *tokens, const int32_t *const ids[LG_LEVELS],
                 struct lg__slice *all)
{
    struct lg__view *v = &d->view;
    int row = 0;
    for (int i = 0; i < v->strands; i++) {
        int from = d->seq[d->parts[i].s].length, n = d->parts[i].n;
        d->strand[i] = (struct lg__strand){row, row + n, from};
        for (int j = 0; j < n; j++) d->at[row + j] = from + j;
        row += n;
        d->query[i] = row - 1;
        d->query_at[i] = from + n - 1;
    }
    *all = (struct lg__slice){.r1 = row, .queries = v->strands};
    v->tokens = tokens;
    for (int l = 0; l < d->m->config.levels; l++) v->ids[l] = ids[l];
    v->at = d->at;
    v->query = d->query;
    v->query_at = d->query_at;
    v->strand = d->strand;
    v->slice = all;
    v->turns = &d->turns;
    v->keys = cached_keys;
    v->acts = &d->acts;
    v->scratch = &d->scratch;
    if (d->m->config.span == LG_SPAN_FULL) return;
    v->lists = &d->lists;
    lg__lists_forget(v->lists);
}

/* Appends the parts' IDs, level after level. */
static void append_ids(struct lg_decoder *d, int parts, const int32_t *const ids[LG_LEVELS])
{
    const lg_model_config *c = &d->m->config;
    for (int i = 0, at = 0; i < parts; at += d->parts[i++].n) {
        struct sequence *s = &d->seq[d->parts[i].s];
        const int32_t *all[LG_LEVELS] = {0};
        int n = d->parts[i].n;
        for (int l = 0; l < c->levels; l++) {
            all[l] = s->ids[l].data;
            memcpy((int32_t *)s->ids[l].data + s->length, ids[l] + at, (size_t)n * sizeof(int32_t));
        }
        for (int j = 0; c->span == LG_SPAN_WINDOW && j < n; j++)
            lg__places_add(&s->places, all, s->length + j);
    }
}

/* Gives row i of `from` to the sequence of part i in `to`, n floats each. */
static void spread(const struct lg_decoder *d, struct lg__block *to, const float *from, size_t n)
{
    for (int i = 0; i < d->view.strands; i++)
        memcpy((float *)to->data + (size_t)d->parts[i].s * n, from + (size_t)i * n,
               n * sizeof *from);
}

/* Of a prompt's rows, those that are keys. */
static void keep_keys(const struct lg_decoder *d, struct sequence *s, int l, int row, int n)
{
    const struct lg__view *v = &d->view;
    size_t C = (size_t)d->m->config.width;
    for (int t = row; t < row + n; t++) {
        if (!lg__match_is_key(&d->m->config, v->tokens[t], v->ids[l][t])) continue;
        memcpy((float *)s->pointer_key[l].data + (size_t)s->keys[l] * C,
               v->pointer_key[l] + (size_t)t * C, C * sizeof(float));
        ((int32_t *)s->key_ids[l].data)[s->keys[l]++] = v->ids[l][t];
    }
}

/* Reads rows of tokens, part after part. */
static int advance(struct lg_decoder *d, int parts, int rows, const int32_t *tokens,
                   const int32_t *const ids[LG_LEVELS], lg_error *err)
{
    const lg_model_config *c = &d->m->config;
    size_t C = (size_t)c->width;
    int code = reserve(d, parts, rows, ids, err);
    if (code) return code;
    struct lg__slice all;
    append_ids(d, parts, ids);
    look(d, tokens, ids, &all);
    lg__walk(&d->view, NULL);
    spread(d, &d->logits, d->view.logits, (size_t)c->vocab);
    spread(d, &d->final, d->view.x, C);
    for (int l = 0; l < c->levels; l++)
        if (c->id_classes[l])
            spread(d, &d->id_logits[l], d->view.id_logits[l], (size_t)c->id_classes[l]);
    for (int i = 0; i < parts; i++) {
        struct sequence *s = &d->seq[d->parts[i].s];
        size_t n = (size_t)d->parts[i].n, row = (size_t)d->strand[i].row;
        for (int l = 0; l < c->levels; l++)
            if (c->pointer[l])
                memcpy((float *)s->pointer_key[l].data + (size_t)s->length * C,
                       d->view.pointer_key[l] + row * C, n * C * sizeof(float));
            else if (c->match[l] && d->reading)
                keep_keys(d, s, l, (int)row, (int)n);
        s->length += d->parts[i].n;
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
    d->reading = 1;
    for (int s = 0; s < d->most; s++) {
        d->seq[s].length = 0;
        memset(d->seq[s].keys, 0, sizeof d->seq[s].keys);
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
    d->reading = 0;
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
    float *query = d->pointer.data, *scores = query + C;
    lg__linear_forward(m, &m->pointer[level].query, query, (float *)d->final.data + (size_t)s * C,
                       1, 0);
    if (m->config.match[level]) {
        struct lg__match_keys k = {q->pointer_key[level].data, q->key_ids[level].data, NULL,
                                   q->keys[level]};
        int32_t carried = lg__carried(q->ids[level].data, q->length - 1);
        lg__match_scores(m, &m->pointer[level], scores, query, k.key, k.n);
        return lg__match_find(m->config.match[level], scores, &k, carried);
    }
    struct lg__pointer_keys k = {q->pointer_key[level].data, q->ids[level].data, q->length};
    lg__pointer_scores(m, &m->pointer[level], scores, query, &k, lg__carried(k.ids, k.n - 1));
    return lg__pointer_best(scores, &k);
}

int lg_decoder_length(const lg_decoder *d, int s) { return d->seq[s].length; }
