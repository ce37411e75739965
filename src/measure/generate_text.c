/* generate_text.c: a run of texts goes on with a prompt, token by token; several texts side by side,
 * which read the weights once for all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "runs/run.h"
#include "runs/texts.h"
#include "tasks/tasks.h"
#include "lengthen_measure.h"

/* Texts side by side, and bytes that their keys and values may take. */
enum { STREAM_SAMPLE = 101, MOST = 1 << 20, SIDE = 32, KEPT = 1 << 29 };

struct text {
    int32_t *tokens; /* [prompt + most] */
    int n, generated, ended, over;
    lg_rng draws;
};

struct writing {
    const lg_text_generate_options *o;
    struct lg__run run;
    lg_tokenizer *tokenizer;
    lg_tokenizer_info info;
    lg_example x; /* the prompt, then room for what is generated */
    int32_t *ids; /* [x.n] */
    lg_decoder *decoder;
    float *logits;
    unsigned char *absent; /* rows that are of no token: never drawn */
    lg_batch prompts;
    struct text text[SIDE];
    int side;    /* of them */
    size_t told; /* bytes of the text whose turn it is */
};

static int check_options(const lg_text_generate_options *o, lg_error *err)
{
    if (!(o->temperature >= 0) || isinf(o->temperature))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the temperature is %g; take 0 (the likeliest token) or more",
                        o->temperature);
    if (o->max_tokens < 1 || o->max_tokens > MOST)
        return lg__fail(err, LG_ERROR_ARGUMENT, "at most %d tokens were asked for; take 1..%d",
                        o->max_tokens, MOST);
    return 0;
}

/* The tokens of the prompt behind the one that begins a document; without a prompt that one alone,
 * or the one that ends the document before. */
static int read_prompt(struct writing *w, lg_error *err)
{
    const int32_t *tokens = NULL;
    const char *text = w->o->prompt ? w->o->prompt : "";
    size_t count = 0, n = strlen(text);
    int e = n ? lg_tokenizer_encode(w->tokenizer, text, n, &tokens, &count, err) : 0;
    if (!e && count > MOST)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "the prompt has %zu tokens; shorten it to %d", count,
                     MOST);
    int room = (int)count + 1 + w->o->max_tokens;
    if (!e) e = lg__example_room(&w->x, room, err);
    if (e) return e;
    int32_t first = w->info.begin;
    if (first == LG_NONE && !count) first = w->info.end;
    lg__example_begin(&w->x, 0, 0);
    if (first != LG_NONE) lg__put(&w->x, first, LG_ABSENT, LG_ABSENT, LG_ABSENT);
    for (size_t i = 0; i < count; i++) lg__put(&w->x, tokens[i], LG_ABSENT, LG_ABSENT, LG_ABSENT);
    if (!w->x.n)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the prompt is empty, and the tokenizer has no token that begins a "
                        "document; give a prompt");
    w->x.answer = w->x.n;
    return 0;
}

/* The IDs of the prompt and of all that may follow. */
static int make_ids(struct writing *w, lg_error *err)
{
    int32_t *levels[LG_LEVELS] = {0};
    int prompt = w->x.n;
    for (int i = 0; i < w->o->max_tokens; i++) lg__put(&w->x, 0, LG_ABSENT, LG_ABSENT, LG_ABSENT);
    w->ids = levels[0] = lg__alloc((size_t)w->x.n * sizeof *w->ids);
    int e = w->ids ? lg_plan_ids(&w->run.plan, &w->x, NULL, levels, err)
                   : lg__fail(err, LG_ERROR_MEMORY, "no memory for IDs; end other programs");
    if (!e && w->run.model_config.rope_scaling == LG_ROPE_DYNAMIC)
        e = lg_model_set_length(w->run.model, w->x.n, err);
    w->x.n = prompt;
    return e;
}

/* Tells the bytes that are new; a letter may come in several tokens. */
static int tell(struct writing *w, const struct text *t, lg_error *err)
{
    const char *text;
    size_t n;
    int first = w->info.begin != LG_NONE || !(w->o->prompt && *w->o->prompt);
    int e = lg_tokenizer_decode(w->tokenizer, t->tokens + first, (size_t)(t->n - first), &text, &n,
                                err);
    if (e) return e;
    if (n > w->told && w->o->callback) w->o->callback(w->o->context, text + w->told, n - w->told);
    w->told = n > w->told ? n : w->told;
    return 0;
}

/* Tells of the text whose turn it is, and while that one is over of the next; count: of all. */
static int tell_turns(struct writing *w, int *turn, int count, lg_text_generated *g, lg_error *err)
{
    int e = 0;
    while (!e && *turn < count) {
        const struct text *t = &w->text[*turn];
        e = tell(w, t, err);
        if (e || !t->over) return e;
        g->tokens = t->generated;
        g->ended = t->ended;
        g->token = t->tokens;
        if (w->o->done) w->o->done(w->o->context, g);
        g->token = NULL;
        w->told = 0;
        ++*turn;
    }
    return e;
}

/* Published models have more rows than their tokenizers have tokens: those are never drawn. */
static int find_absent(struct writing *w, lg_error *err)
{
    size_t n;
    int vocab = w->run.model_config.vocab, absent = 0;
    w->logits = lg__alloc((size_t)vocab * sizeof *w->logits);
    w->absent = lg__alloc((size_t)vocab);
    if (!w->logits || !w->absent)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for logits; end other programs");
    for (int i = 0; i < vocab; i++)
        absent += w->absent[i] = !lg_tokenizer_piece(w->tokenizer, i, &n);
    if (absent == vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the tokenizer has no token that can be drawn");
    return 0;
}

/* One more token of a text; LG_NONE: it was the last, and need not be read. */
static int32_t draw(const struct writing *w, struct text *t, const float *logits)
{
    int vocab = w->run.model_config.vocab;
    for (int i = 0; i < vocab; i++) w->logits[i] = w->absent[i] ? -INFINITY : logits[i];
    int32_t token = lg_sample(w->logits, vocab, w->o->temperature, &t->draws);
    t->generated++;
    t->ended = token == w->info.end || token == w->info.begin;
    t->over = t->ended || t->generated == w->o->max_tokens;
    if (!t->ended) t->tokens[t->n++] = token;
    return t->over ? LG_NONE : token;
}

static int begin(struct writing *w, int from, int count, lg_error *err)
{
    uint64_t seed = (uint64_t)(w->o->seed < 0 ? w->run.config.seed : w->o->seed);
    int e = 0;
    lg_batch_reset(&w->prompts);
    for (int s = 0; s < count && !e; s++) {
        struct text *t = &w->text[s];
        *t = (struct text){.tokens = t->tokens, .n = w->x.n};
        memcpy(t->tokens, w->x.tokens, (size_t)w->x.n * sizeof *t->tokens);
        lg_rng_init(&t->draws, seed, STREAM_SAMPLE, (uint64_t)(from + s));
        e = lg_batch_add(&w->prompts, w->x.n, w->x.tokens, w->ids, NULL, NULL, err);
    }
    w->told = 0;
    return e ? e : lg_decoder_start(w->decoder, &w->prompts, err);
}

/* Texts number `from` and on, side by side. */
static int go_on(struct writing *w, int from, int count, lg_text_generated *g, lg_error *err)
{
    int32_t tokens[SIDE], ids[SIDE];
    int turn = 0, e = begin(w, from, count, err);
    if (!e) e = tell_turns(w, &turn, count, g, err);
    while (!e && turn < count) {
        int left = 0;
        for (int s = 0; s < count; s++) {
            struct text *t = &w->text[s];
            tokens[s] = t->over ? LG_NONE : draw(w, t, lg_decoder_logits(w->decoder, s));
            ids[s] = w->ids[t->n - 1];
            left += tokens[s] != LG_NONE;
        }
        e = tell_turns(w, &turn, count, g, err);
        if (!e && left) e = lg_decoder_step(w->decoder, tokens, ids, err);
    }
    return e;
}

static int write_all(struct writing *w, lg_text_generated *g, lg_error *err)
{
    const lg_model_config *c = &w->run.model_config;
    int count = w->o->count > 1 ? w->o->count : 1, room = w->x.n + w->o->max_tokens, e = 0;
    double text = 2.0 * sizeof(float) * c->layers * c->width * room;
    w->side = text * SIDE < KEPT ? SIDE : text < KEPT ? (int)(KEPT / text) : 1;
    if (w->side > count) w->side = count;
    for (int s = 0; s < w->side; s++)
        if (!(w->text[s].tokens = lg__alloc((size_t)room * sizeof *w->text[s].tokens)))
            return lg__fail(err, LG_ERROR_MEMORY, "no memory for texts; end other programs");
    if (!(w->decoder = lg_decoder_new(w->run.model, w->side, err))) return LG_ERROR_MEMORY;
    for (int i = 0; i < count && !e; i += w->side)
        e = go_on(w, i, count - i < w->side ? count - i : w->side, g, err);
    return e;
}

int lg_run_generate_text(const lg_text_generate_options *o, lg_text_generated *g, lg_error *warning,
                         lg_error *err)
{
    struct writing w = {.o = o};
    lg_error own;
    if (!err) err = &own;
    *g = (lg_text_generated){0};
    lg_example_init(&w.x);
    lg_batch_init(&w.prompts);
    int e = check_options(o, err);
    if (!e) e = lg__run_open_folder(&w.run, o->folder, &o->access, warning, err);
    if (!e && !lg__text_tokenizer(w.run.task))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is a run of task %s, not of texts; its answers are those of "
                     "lg_run_generate",
                     o->folder, w.run.config.task);
    if (!e) {
        w.tokenizer = lg__text_tokenizer(w.run.task);
        w.info = lg_tokenizer_get_info(w.tokenizer);
        e = read_prompt(&w, err);
    }
    g->step = w.run.step;
    g->prompt = w.x.n;
    if (!e) e = make_ids(&w, err);
    if (!e) e = find_absent(&w, err);
    if (!e) e = write_all(&w, g, err);
    free(w.ids);
    free(w.logits);
    free(w.absent);
    lg_decoder_free(w.decoder);
    lg_batch_clear(&w.prompts);
    for (int i = 0; i < w.side; i++) free(w.text[i].tokens);
    lg_example_clear(&w.x);
    lg__run_close(&w.run);
    return e;
}
