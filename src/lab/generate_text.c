/* generate_text.c: a run of texts goes on with a prompt, token by token. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/texts.h"
#include "tasks/tasks.h"

enum { STREAM_SAMPLE = 101, MOST = 1 << 20 };

struct writing {
    const lg_text_generate_options *o;
    struct lg__run run;
    lg_tokenizer *tokenizer;
    lg_tokenizer_info info;
    lg_example x; /* the prompt, then what was generated */
    int32_t *ids; /* [x.n] */
    lg_decoder *decoder;
    lg_batch prompt;
    size_t told; /* bytes of text */
};

static int check_options(const lg_text_generate_options *o, lg_error *err)
{
    if (!(o->temperature >= 0) || isinf(o->temperature))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the temperature is %g; take 0 (the likeliest token) or more",
                        o->temperature);
    if (o->most < 1 || o->most > MOST)
        return lg__fail(err, LG_ERROR_ARGUMENT, "at most %d tokens were asked for; take 1..%d",
                        o->most, MOST);
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
    int room = (int)count + 1 + w->o->most;
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
    for (int i = 0; i < w->o->most; i++) lg__put(&w->x, 0, LG_ABSENT, LG_ABSENT, LG_ABSENT);
    w->ids = levels[0] = malloc((size_t)w->x.n * sizeof *w->ids);
    int e = w->ids ? lg_scheme_ids(&w->run.scheme, w->run.task, &w->x, NULL, levels, err)
                   : lg__fail(err, LG_ERROR_MEMORY, "no memory for IDs; end other programs");
    if (!e && w->run.model_config.rope_scaling == LG_ROPE_DYNAMIC)
        e = lg_model_set_length(w->run.model, w->x.n, err);
    w->x.n = prompt;
    return e;
}

/* Tells the bytes that are new; a letter may come in several tokens. */
static int tell(struct writing *w, lg_error *err)
{
    const char *text;
    size_t n;
    int first = w->info.begin != LG_NONE || !(w->o->prompt && *w->o->prompt);
    int e = lg_tokenizer_decode(w->tokenizer, w->x.tokens + first, (size_t)(w->x.n - first), &text,
                                &n, err);
    if (e) return e;
    if (n > w->told && w->o->told) w->o->told(w->o->of, text + w->told, n - w->told);
    w->told = n > w->told ? n : w->told;
    return 0;
}

/* Text number i. */
static int go_on(struct writing *w, int i, lg_text_generated *g, lg_error *err)
{
    int vocab = w->run.model_config.vocab, e;
    uint64_t seed = (uint64_t)(w->o->seed < 0 ? w->run.config.seed : w->o->seed);
    lg_rng r;
    lg_rng_init(&r, seed, STREAM_SAMPLE, (uint64_t)i);
    w->x.n = g->prompt;
    w->told = 0;
    g->tokens = g->ended = 0;
    e = lg_decoder_start(w->decoder, &w->prompt, err);
    if (!e) e = tell(w, err);
    while (!e && !g->ended && g->tokens < w->o->most) {
        int32_t token = lg_sample(lg_decoder_logits(w->decoder, 0), vocab, w->o->temperature, &r);
        g->tokens++;
        g->ended = token == w->info.end || token == w->info.begin;
        if (g->ended) break;
        w->x.tokens[w->x.n++] = token;
        e = tell(w, err);
        if (!e && g->tokens < w->o->most)
            e = lg_decoder_step(w->decoder, &token, &w->ids[w->x.n - 1], err);
    }
    g->token = w->x.tokens;
    if (!e && w->o->done) w->o->done(w->o->of, g);
    g->token = NULL;
    return e;
}

static int write_all(struct writing *w, lg_text_generated *g, lg_error *err)
{
    w->decoder = lg_decoder_new(w->run.model, 1, err);
    if (!w->decoder) return LG_ERROR_MEMORY;
    int e = lg_batch_add(&w->prompt, w->x.n, w->x.tokens, w->ids, NULL, NULL, err);
    for (int i = 0; !e && (!i || i < w->o->count); i++) e = go_on(w, i, g, err);
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
    lg_batch_init(&w.prompt);
    int e = check_options(o, err);
    if (!e) e = lg__run_open_folder(&w.run, o->folder, warning, err);
    if (!e && !lg__is_text(w.run.task))
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
    if (!e) e = write_all(&w, g, err);
    free(w.ids);
    lg_decoder_free(w.decoder);
    lg_batch_clear(&w.prompt);
    lg_example_clear(&w.x);
    lg__run_close(&w.run);
    return e;
}
