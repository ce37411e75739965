/* sampler.c: examples of a task with their IDs, one by one, for whoever looks at them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lengthen.h"

enum { STREAM_IDS = 1 << 16, SHORT = 5 };

void lg_sampler_init(lg_sampler *s)
{
    *s = (lg_sampler){.scheme = lg_scheme_default()};
    s->scheme.ids = NULL;
    lg_example_init(&s->x);
    lg_batch_init(&s->batch);
}

static int is_own_data(const lg_sampler *s)
{
    return lg_task_get_shape(s->task)->info->own != LG_OWN_NONE;
}

static void choose_length(lg_sampler *s)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    int lo = shape->length_least, hi = shape->length_most;
    int length = SHORT < lo ? lo : SHORT < hi ? SHORT : hi;
    s->draw.length_lo = is_own_data(s) ? lo : length;
    s->draw.length_hi = is_own_data(s) ? hi : length;
}

int lg_sampler_ready(lg_sampler *s, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    if (!s->scheme.ids) s->scheme.ids = shape->levels ? "coupled" : "plain";
    if (!s->draw.length_lo) choose_length(s);
    s->config = lg_model_config_default(LG_ARCH_NEOX);
    s->config.vocab = shape->vocab;
    int e = lg_plan_open(&s->plan, &s->scheme, s->task, err);
    return e ? e : lg_scheme_config(&s->scheme, s->task, &s->config, err);
}

static int make_room(lg_sampler *s, lg_error *err)
{
    if (s->x.n <= s->room) return 0;
    int room = s->x.n < 1 << 30 ? 2 * s->x.n : s->x.n;
    for (int l = 0; l < LG_LEVELS; l++) {
        free(s->ids[l]);
        s->ids[l] = lg__alloc((size_t)room * sizeof **s->ids);
    }
    s->room = room;
    for (int l = 0; l < LG_LEVELS; l++) {
        if (s->ids[l]) continue;
        s->room = 0;
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the IDs of %d tokens", s->x.n);
    }
    return 0;
}

/* The IDs of an example are drawn from a stream of their own: the text does not depend on them. */
static lg_rng *ids_rng(const lg_sampler *s, lg_rng *r)
{
    if (!s->train) return NULL;
    lg_rng_init(r, s->draw.seed, s->draw.stream + STREAM_IDS, s->draw.index);
    return r;
}

int lg_sampler_next(lg_sampler *s, lg_error *err)
{
    lg_rng r;
    int e = lg_task_example(s->task, &s->draw, &s->x, err), heads = 0;
    if (!e) e = make_room(s, err);
    if (!e) e = lg_plan_ids(&s->plan, &s->x, ids_rng(s, &r), s->ids, err);
    for (int l = 0; l < s->config.levels; l++)
        heads |= s->config.id_classes[l] > 0 || s->config.pointer[l];
    if (!e && heads) {
        lg_batch_reset(&s->batch);
        e = lg_plan_add(&s->plan, &s->x, ids_rng(s, &r), &s->batch, err);
    }
    s->draw.index++;
    return e;
}

/* The shortest and the longest example. */
static int try_ends(lg_sampler *s, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    lg_draw draw = s->draw;
    int e = 0;
    if (draw.length_lo == draw.length_hi) return 0;
    if (draw.length_lo < shape->length_least || draw.length_hi > shape->length_most)
        return lg_task_example(s->task, &draw, &s->x, err); /* says so, with the range as given */
    for (int end = 0; end < 2 && !e; end++) {
        s->draw = draw;
        s->draw.length_lo = s->draw.length_hi = end ? draw.length_hi : draw.length_lo;
        e = lg_sampler_next(s, err);
    }
    s->draw = draw;
    return e;
}

/* The network does not matter here, so it is one that takes every source. */
int lg_sampler_check(lg_sampler *s, lg_error *err)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    if (is_own_data(s)) return 0;
    int e = try_ends(s, err);
    c.vocab = s->config.vocab;
    c.encoding = "sinusoidal";
    if (!e) e = lg_scheme_config(&s->scheme, s->task, &c, err);
    return e ? e : lg_scheme_check(&s->scheme, s->task, &c, s->draw.length_hi, NULL, err);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Every word of the vocabulary with its quotes. */
static int quote_words(lg_sampler *s, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    if (s->words) return 0;
    s->words = lg__alloc((size_t)shape->vocab * sizeof *s->words);
    while (s->words && s->word_count < shape->vocab) {
        const char *word = shape->words[s->word_count];
        lg_buffer b = {0};
        lg_buffer_json(&b, word, strlen(word));
        if (!(s->words[s->word_count] = lg_buffer_take(&b, NULL))) break;
        s->word_count++;
    }
    if (s->word_count == shape->vocab) return 0;
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for the vocabulary");
}

/* Gathers the many small pieces of a line before they go into the buffer. */
struct line {
    lg_buffer *to;
    size_t used;
    char data[4096];
};

static void flush(struct line *w)
{
    lg_buffer_add(w->to, w->data, w->used);
    w->used = 0;
}

static void put(struct line *w, const char *text, size_t n)
{
    if (n > sizeof w->data - w->used) flush(w);
    if (n > sizeof w->data) {
        lg_buffer_add(w->to, text, n);
        return;
    }
    memcpy(w->data + w->used, text, n);
    w->used += n;
}

static void put_text(struct line *w, const char *text) { put(w, text, strlen(text)); }

static void put_int(struct line *w, int32_t value)
{
    char text[12], *at = text + sizeof text;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    put(w, at, (size_t)(text + sizeof text - at));
}

static void put_ids(struct line *w, const int32_t *ids, int n)
{
    for (int t = 0; t < n; t++) {
        put(w, t ? "," : "[", 1);
        if (ids[t] == LG_ABSENT)
            put(w, "null", 4);
        else
            put_int(w, ids[t]);
    }
    put(w, "]", 1);
}

int lg_sampler_line(lg_sampler *s, lg_buffer *to, lg_error *err)
{
    const lg_example *x = &s->x;
    struct line w;
    int as_labels = !s->train && s->plan.ids.labels;
    int e = quote_words(s, err);
    if (e) return e;
    w.to = to;
    w.used = 0;
    put_text(&w, "{\"tokens\":");
    for (int t = 0; t < x->n; t++) {
        put(&w, t ? "," : "[", 1);
        put_text(&w, s->words[x->tokens[t]]);
    }
    put_text(&w, "],\"ids\":");
    for (int l = 0; l < s->config.levels; l++) {
        put(&w, l ? "," : "[", 1);
        put_ids(&w, as_labels ? x->labels[l] : s->ids[l], x->n);
    }
    put_text(&w, "],\"loss\":");
    for (int t = 0; t < x->n; t++) {
        put(&w, t ? "," : "[", 1);
        put(&w, x->loss[t] ? "1" : "0", 1);
    }
    put_text(&w, "],\"length\":");
    put_int(&w, x->length);
    put_text(&w, ",\"sparsity\":");
    put_int(&w, x->sparsity);
    put(&w, "}\n", 2);
    flush(&w);
    if (!to->lost) return 0;
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a line of %d tokens", x->n);
}

void lg_sampler_clear(lg_sampler *s)
{
    lg_example_clear(&s->x);
    lg_batch_clear(&s->batch);
    for (int l = 0; l < LG_LEVELS; l++) free(s->ids[l]);
    for (int i = 0; i < s->word_count; i++) free(s->words[i]);
    free(s->words);
    lg_sampler_init(s);
}
