/* page_method.c: sequences with their IDs for the drawing of the method (method.js): what a run writes, an example of a
 * task, and of texts a passage with the sources of its predictions. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "pages/page.h"

/* ---- Generations ----------------------------------------------------------------------------- */

struct generation {
    lg_buffer *to, tokens;
    char span[16], window[256]; /* window: JSON */
};

/* "[0, 1]", or one for each level, "[[0, 1], [-2, 2]]", is JSON as it is. */
static void take_window(struct generation *g, const char *text)
{
    if (text && text[strspn(text, "[]0123456789,- ")] == 0 && strchr(text, '['))
        snprintf(g->window, sizeof g->window, text[1] == '[' ? "%s" : "[%s]", text);
}

static int read_span(struct generation *g, const char *folder, lg_error *err)
{
    char path[PATH_MAX], *text = NULL;
    lg_config_values v = {0};
    int e = lg__file_path(path, sizeof path, folder, "config.yaml", err);
    if (!e) e = lg__file_read(path, &text, err);
    if (!e && text) e = lg_config_values_read(&v, text, err);
    const char *span = lg_config_values_get(&v, "positions.span");
    snprintf(g->span, sizeof g->span, "%s", !e && span ? span : "full");
    if (!e) take_window(g, lg_config_values_get(&v, "positions.window"));
    lg_config_values_clear(&v);
    free(text);
    return e;
}

static void put_ids(lg_buffer *b, const char *key, const int32_t *ids, int levels)
{
    lg__put_open(b, key, '[');
    for (int l = 0; l < levels; l++)
        if (ids[l] == LG_ABSENT || ids[l] == LG_NONE)
            lg__put_json(b, NULL, NULL);
        else
            lg__put_int(b, NULL, ids[l]);
    lg__put_close(b, ']');
}

static void put_token(void *context, const lg_run_token *t)
{
    struct generation *g = context;
    lg_buffer *b = &g->tokens;
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "w", t->word);
    put_ids(b, "id", t->id, t->levels);
    if (t->generated) {
        lg__put_int(b, "g", 1);
        lg__put_real(b, "p", t->p);
        if (t->expected_word) lg__put_text(b, "e", t->expected_word);
        if (t->levels && t->expected_id[0] != LG_NONE) put_ids(b, "eid", t->expected_id, t->levels);
    }
    lg__put_close(b, '}');
}

static void put_levels(lg_buffer *b, int levels, const char *const *names)
{
    lg__put_open(b, "levels", '[');
    for (int l = 0; l < levels; l++) lg__put_text(b, NULL, names[l]);
    lg__put_close(b, ']');
}

static void put_answer(void *context, const lg_run_answer *a)
{
    struct generation *g = context;
    lg_buffer *b = g->to;
    char title[200];
    if (a->length)
        snprintf(title, sizeof title, "%.80s, length %d (%.40s)", a->task, a->length, a->unit);
    else
        snprintf(title, sizeof title, "%.80s, a prompt", a->task);
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "title", title);
    lg__put_text(b, "task", a->task);
    lg__put_int(b, "step", a->step);
    lg__put_text(b, "source", a->predicted ? "predicted" : "given");
    put_levels(b, a->levels, a->level);
    lg__put_text(b, "span", g->span);
    lg__put_json(b, "window", g->window);
    lg__put_int(b, "prompt", a->prompt);
    lg__put_json(b, "exact", a->known ? a->exact ? "true" : "false" : NULL);
    lg__put_list(b, "tokens", &g->tokens);
    lg__put_close(b, '}');
    lg_buffer_clear(&g->tokens);
}

int lg__page_generate(lg_buffer *b, const lg_generate_options *o, lg_error *warning, lg_error *err)
{
    struct generation g = {.to = b};
    lg_generate_options own = *o;
    own.callback = put_token;
    own.answered = put_answer;
    own.context = &g;
    int e = read_span(&g, o->folder, err);
    if (!e) e = lg_run_generate(&own, warning, err);
    lg_buffer_clear(&g.tokens);
    return e;
}

/* ---- An example of a task ---------------------------------------------------------------------- */

int lg_page_add_example(lg_page *p, const lg_sampler *s, const int *window, lg_error *err)
{
    const lg_example *x = &s->x;
    const lg_task_shape *shape = s->plan.shape;
    const char *names[LG_LEVELS] = {0};
    int levels = s->plan.levels;
    lg_buffer tokens = {0}, *b = &p->methods;
    char title[300];
    if (!shape || !x->n)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the sampler has no example; call its next first");
    for (int l = 0; l < levels && l < shape->levels; l++) names[l] = shape->level[l];
    for (int i = 0; i < x->n; i++) {
        int32_t ids[LG_LEVELS];
        for (int l = 0; l < levels; l++) ids[l] = s->ids[l][i];
        lg__put_open(&tokens, NULL, '{');
        lg__put_text(&tokens, "w", shape->words[x->tokens[i]]);
        put_ids(&tokens, "id", ids, levels);
        if (i >= x->answer) lg__put_int(&tokens, "g", 1);
        lg__put_close(&tokens, '}');
    }
    snprintf(title, sizeof title, "%.80s, length %d (%.40s), %.80s IDs", shape->info->name,
             x->length, shape->info->unit, s->plan.ids.name);
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "title", title);
    lg__put_text(b, "task", shape->info->name);
    put_levels(b, levels, names);
    lg__put_text(b, "span", window ? "window" : "full");
    lg__put_key(b, "window");
    if (window)
        lg_buffer_print(b, "[[%d,%d]]", window[0], window[1]);
    else
        lg_buffer_put(b, "null");
    lg__put_int(b, "prompt", x->answer);
    lg__put_json(b, "exact", NULL);
    lg__put_list(b, "tokens", &tokens);
    lg__put_close(b, '}');
    lg_buffer_clear(&tokens);
    return 0;
}

/* ---- A passage --------------------------------------------------------------------------------- */

struct passage {
    lg_buffer pieces, rows;
    int64_t document;
    int told; /* the first passage alone is shown */
};

static void put_passage(void *context, const lg_probe_passage *p)
{
    struct passage *t = context;
    if (t->told++) return;
    t->document = p->document;
    for (int i = 0; i < p->n; i++) {
        lg__put_key(&t->pieces, NULL);
        if (p->piece && p->piece[i])
            lg_buffer_json(&t->pieces, p->piece[i], p->size[i]);
        else
            lg_buffer_json(&t->pieces, p->words[p->tokens[i]], strlen(p->words[p->tokens[i]]));
    }
}

static void put_prediction(void *context, const lg_probe_row *r)
{
    struct passage *t = context;
    lg_buffer *b = &t->rows;
    if (r->document != t->document) return;
    lg__put_open(b, NULL, '{');
    lg__put_int(b, "at", r->position);
    lg__put_int(b, "k", r->k);
    lg__put_real(b, "loss", r->loss);
    lg__put_real(b, "loss0", r->loss_0);
    lg__put_json(b, "depends", r->depends ? "true" : "false");
    lg__put_open(b, "sources", '[');
    for (int i = 0; i < r->sources && i < 8; i++) {
        lg__put_open(b, NULL, '[');
        lg__put_int(b, NULL, r->source[i]);
        lg__put_real(b, NULL, (double)r->influence[i]);
        lg__put_close(b, ']');
    }
    lg__put_close(b, ']');
    lg__put_close(b, '}');
}

/* Short enough to be read, and made while one waits. */
enum { PASSAGE_TOKENS = 160, PASSAGE_K = 16 };

int lg__page_passage(lg_buffer *b, const char *folder, const lg_run_access *access, lg_error *err)
{
    struct passage t = {.document = -1};
    lg_probe_summary sum;
    lg_error warning = {0};
    lg_run_probe_options o = lg_run_probe_options_default();
    o.folder = folder;
    o.access = *access;
    o.length = PASSAGE_TOKENS;
    o.documents = 1;
    o.most_k = PASSAGE_K;
    o.passage = put_passage;
    o.row = put_prediction;
    o.context = &t;
    int e = lg_run_probe(&o, &sum, &warning, err);
    if (!e) {
        lg__put_open(b, NULL, '{');
        lg__put_int(b, "document", t.document);
        lg__put_int(b, "few", sum.few);
        lg__put_int(b, "many", sum.many);
        lg__put_int(b, "most_k", sum.most_k);
        lg__put_list(b, "pieces", &t.pieces);
        lg__put_list(b, "rows", &t.rows);
        lg__put_close(b, '}');
    }
    lg_buffer_clear(&t.pieces);
    lg_buffer_clear(&t.rows);
    return e;
}
