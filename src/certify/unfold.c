/* unfold.c: numbers the contexts of texts layer by layer, token by token. */
#include "certify/unfold.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "positions/ids.h"
#include "positions/positions.h"

enum { FRESH = 1 << 15 }; /* rows of new contexts that are run together */

/* ---- What can be unfolded ------------------------------------------------------------------------ */

int lg__window_check(const struct lg__run *r, lg_error *err)
{
    const lg_model_config *m = &r->model_config;
    char names[LG__ENCODING_NAMES];
    if (m->span != LG_SPAN_WINDOW)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the span is full, so that a prediction may depend on every token; train "
                        "with positions.span window");
    if (!lg__encoding_has(m->encoding, LG__ENCODING_RELATIVE))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the encoding %s shows more than differences of IDs; train with %s",
                        m->encoding, lg__encoding_names(names, LG__ENCODING_RELATIVE));
    if (m->rope_scaling == LG_ROPE_DYNAMIC)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "RoPE is scaled by the length of the text (dynamic), so that a prediction "
                        "depends on that too; train with another positions.rope.scaling");
    return 0;
}

int lg__unfold_check(const struct lg__run *r, lg_error *err)
{
    const lg_model_config *m = &r->model_config;
    const lg_plan *p = &r->plan;
    int e = lg__window_check(r, err);
    if (e) return e;
    if (p->flags & (LG__IDS_GAPS | LG__IDS_DRAWN))
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the IDs are %s, drawn anew for each text; train with positions.ids coupled",
            p->ids.name);
    for (int l = 0; l < m->levels; l++) {
        lg_id_head_info head = lg_id_head_info_at(p->head[l]);
        if (!head.name || head.steps) continue;
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the IDs are predicted by the head %s, which looks beyond the window; "
                        "train with positions.source delta",
                        head.name);
    }
    return 0;
}

/* ---- Strings of numbers ----------------------------------------------------------------------------- */

struct string {
    size_t at; /* of its numbers */
    uint32_t size, sum;
};

static uint32_t sum_up(const int32_t *key, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ n;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint32_t)key[i]) * 0x9fb21c651e98df25u, h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

static int grow_slots(struct lg__strings *s, lg_error *err)
{
    if (s->slots.data && 2 * (int64_t)s->count < (int64_t)1 << s->slot_bits) return 0;
    s->slot_bits = s->slots.data ? s->slot_bits + 1 : 12;
    size_t size = sizeof(uint32_t) << s->slot_bits;
    int e = lg__block_grow(&s->slots, size, 0, "contexts", err);
    if (e) return e;
    memset(s->slots.data, 0, size);
    uint32_t *slot = s->slots.data, mask = (uint32_t)(((uint64_t)1 << s->slot_bits) - 1);
    const struct string *list = s->list.data;
    for (int i = 0; i < s->count; i++) {
        uint32_t h = list[i].sum & mask;
        while (slot[h]) h = (h + 1) & mask;
        slot[h] = (uint32_t)i + 1;
    }
    return 0;
}

static int room(struct lg__block *b, size_t size, lg_error *err)
{
    return size <= b->size ? 0 : lg__block_grow(b, 2 * size, b->data != NULL, "contexts", err);
}

/* The number of a string, which is its place among those that are there; a new one is added. */
static int find(struct lg__strings *s, const int32_t *key, size_t n, lg_error *err)
{
    int e = grow_slots(s, err);
    if (e) return e;
    uint32_t sum = sum_up(key, n), mask = (uint32_t)(((uint64_t)1 << s->slot_bits) - 1);
    uint32_t *slot = s->slots.data, h = sum & mask;
    const struct string *list = s->list.data;
    for (; slot[h]; h = (h + 1) & mask) {
        const struct string *known = &list[slot[h] - 1];
        if (known->sum == sum && known->size == n &&
            memcmp((int32_t *)s->keys.data + known->at, key, n * sizeof *key) == 0)
            return (int)slot[h] - 1;
    }
    if (s->count == INT32_MAX - 1)
        return lg__fail(err, LG_ERROR_MEMORY, "over 2^31 contexts; take fewer examples");
    if ((e = room(&s->list, ((size_t)s->count + 1) * sizeof *list, err)) ||
        (e = room(&s->keys, (s->used + n) * sizeof *key, err)))
        return e;
    memcpy((int32_t *)s->keys.data + s->used, key, n * sizeof *key);
    ((struct string *)s->list.data)[s->count] = (struct string){s->used, (uint32_t)n, sum};
    s->used += n;
    slot[h] = (uint32_t)++s->count;
    return s->count - 1;
}

static void forget(struct lg__strings *s)
{
    lg__block_free(&s->list);
    lg__block_free(&s->keys);
    lg__block_free(&s->slots);
    *s = (struct lg__strings){0};
}

/* ---- Opening ---------------------------------------------------------------------------------------- */

int lg__unfold_open(struct lg__unfold *u, const lg_model_config *m, lg_error *err)
{
    *u = (struct lg__unfold){.model = *m, .depth = m->layers * m->loops};
    lg_batch_init(&u->fresh);
    u->layer = lg__alloc((size_t)u->depth * sizeof *u->layer);
    return u->layer ? 0
                    : lg__fail(err, LG_ERROR_MEMORY, "no memory for contexts; end other programs");
}

void lg__unfold_forget(struct lg__unfold *u)
{
    for (int k = 0; k < u->depth && u->layer; k++) forget(&u->layer[k]);
    lg_batch_reset(&u->fresh);
    u->fresh_first = 0;
}

void lg__unfold_clear(struct lg__unfold *u)
{
    lg__unfold_forget(u);
    free(u->layer);
    lg__places_free(&u->places);
    lg__block_free(&u->number);
    lg__block_free(&u->key);
    lg__block_free(&u->turn);
    lg__block_free(&u->string);
    lg__block_free(&u->mark);
    lg__block_free(&u->cut);
    lg__block_free(&u->row);
    lg_batch_clear(&u->fresh);
    *u = (struct lg__unfold){0};
}

int lg__unfold_count(const struct lg__unfold *u) { return u->layer[u->depth - 1].count; }

size_t lg__unfold_bytes(const struct lg__unfold *u)
{
    size_t bytes = 0;
    for (int k = 0; k < u->depth; k++)
        bytes += u->layer[k].list.size + u->layer[k].keys.size + u->layer[k].slots.size;
    return bytes;
}

/* ---- Cutting a context out ---------------------------------------------------------------------------- */

/* What a token sees, into u->key and u->turn; how much. */
static int look(struct lg__unfold *u, const struct lg__text *x, int t, lg_error *err)
{
    size_t most = (size_t)lg__places_most(&u->places, &u->model, 0) * sizeof(int);
    int e = 0;
    if (most > u->key.size) e = lg__block_grow(&u->key, 2 * most, 0, "contexts", err);
    if (!e && most > u->turn.size) e = lg__block_grow(&u->turn, 2 * most, 0, "contexts", err);
    return e ? e : lg__places_find(&u->places, u->key.data, u->turn.data, t, x->ids, &u->model);
}

static int by_place(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Breadth first, as many hops as there are layers. */
int lg__unfold_places(struct lg__unfold *u, const struct lg__text *x, int row, const int **place,
                      lg_error *err)
{
    int n = 1, e = room(&u->cut, sizeof(int), err);
    if (e) return e;
    int stamp = ++u->stamp;
    ((int *)u->cut.data)[0] = row;
    ((int *)u->mark.data)[row] = stamp;
    for (int hop = 0, from = 0; hop < u->depth; hop++)
        for (int to = n; from < to; from++) {
            int seen = look(u, x, ((int *)u->cut.data)[from], err);
            if (seen < 0) return seen;
            if ((e = room(&u->cut, (size_t)(n + seen) * sizeof(int), err))) return e;
            int *cut = u->cut.data, *mark = u->mark.data;
            const int *key = u->key.data;
            for (int i = 0; i < seen; i++) {
                if (mark[key[i]] == stamp) continue;
                mark[key[i]] = stamp;
                cut[n++] = key[i];
            }
        }
    qsort(u->cut.data, (size_t)n, sizeof(int), by_place);
    *place = u->cut.data;
    return n;
}

/* The context as a sequence of its own. Its IDs are moved so that they start at 0. */
static int cut_out(struct lg__unfold *u, const struct lg__text *x, int row, lg_error *err)
{
    const int *place;
    int levels = u->model.levels, n = lg__unfold_places(u, x, row, &place, err);
    if (n < 0) return n;
    size_t N = (size_t)n;
    int e = room(&u->row, N * (size_t)(2 + 2 * levels) * sizeof(int32_t), err);
    if (e) return e;
    int32_t *tokens = u->row.data, *targets = tokens + n;
    lg_sequence s = {.n = n, .levels = levels, .tokens = tokens, .targets = targets};
    for (int i = 0; i < n; i++) {
        tokens[i] = x->tokens[place[i]];
        targets[i] = i == n - 1 ? 0 : LG_NONE;
    }
    for (int l = 0; l < levels; l++) {
        int32_t *ids = targets + (size_t)(2 * l + 1) * N, *class = ids + n, least = INT32_MAX;
        for (int i = 0; i < n; i++) {
            int32_t id = x->ids[l][place[i]];
            if (id != LG_ABSENT && id < least) least = id;
        }
        for (int i = 0; i < n; i++) {
            int32_t id = x->ids[l][place[i]];
            ids[i] = id == LG_ABSENT ? LG_ABSENT : id - least;
            class[i] = i == n - 1 && u->model.id_classes[l] ? 0 : LG_NONE;
        }
        s.ids[l] = ids;
        s.id_targets[l] = class;
    }
    return lg_batch_add_levels(&u->fresh, &s, err);
}

/* ---- Unfolding ------------------------------------------------------------------------------------------ */

/* c_1 .. of token t up to layer `most`; the number of that, negative: err. */
static int number_token(struct lg__unfold *u, const struct lg__text *x, int t, int most,
                        lg_error *err)
{
    int32_t *number = u->number.data;
    size_t n = (size_t)x->n;
    int seen = look(u, x, t, err), c = x->tokens[t];
    if (seen < 0) return seen;
    int e = room(&u->string, (size_t)(2 * seen + 1) * sizeof(int32_t), err);
    if (e) return e;
    int32_t *string = u->string.data;
    const int *key = u->key.data, *turn = u->turn.data;
    number[t] = c;
    for (int k = 1; k <= most; k++, number += n) {
        string[0] = c;
        for (int i = 0; i < seen; i++) {
            string[2 * i + 1] = turn[i];
            string[2 * i + 2] = number[key[i]];
        }
        c = find(&u->layer[k - 1], string, (size_t)(2 * seen + 1), err);
        if (c < 0) return c;
        if (k < u->depth) number[n + (size_t)t] = c;
    }
    return c;
}

int lg__unfold_text(struct lg__unfold *u, const struct lg__text *x, int from, int to,
                    int32_t *number, lg__unfold_full *full, void *context, lg_error *err)
{
    size_t n = (size_t)x->n;
    int e = lg__places_reset(&u->places, u->model.levels, x->n, err);
    if (!e) e = room(&u->number, (size_t)u->depth * n * sizeof(int32_t), err);
    if (!e) e = room(&u->mark, n * sizeof(int), err);
    if (e) return e;
    memset(u->mark.data, 0, n * sizeof(int));
    u->stamp = 0;
    for (int t = 0; t <= to && !e; t++) {
        int known = lg__unfold_count(u), most = t < from ? u->depth - 1 : u->depth;
        lg__places_add(&u->places, x->ids, t);
        if (!most) {
            ((int32_t *)u->number.data)[t] = x->tokens[t];
            continue;
        }
        int c = number_token(u, x, t, most, err);
        if (c < 0) return c;
        if (t < from) continue;
        number[t - from] = c;
        if (c < known) continue;
        e = cut_out(u, x, t, err);
        if (!e && u->fresh.rows >= FRESH) e = full(context, err);
    }
    return e;
}
