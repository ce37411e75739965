/* certify.c: right at every length, or the input that fails. Every context that a generated position
 * can show is run through the model, packed; by row-invariance it gives the same bits there as
 * anywhere else, so that greedy decoding is right on every input if it is right on all of them. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "certify/contexts.h"
#include "certify/pairs.h"
#include "runs/run.h"
#include "base/files.h"
#include "base/memory.h"

/* Of the search for an input that fails: wrong contexts whose inputs are answered; inputs written
 * down one after the other; those of them that are answered. */
enum { CONTEXTS = 100, WRITTEN = 200000, ANSWERED = 10000 };

struct certifying {
    const lg_certify_options *o;
    struct lg__run run;
    struct lg__contexts set;
    struct lg__matching pairs; /* of match heads, in place of the set */
    const lg_example *x;       /* the input that is answered, */
    const lg_batch *text;      /* as it is evaluated */
    lg_evaluator *evaluator;
    lg_batch batch;
    struct lg__verdict verdict;
    lg_certificate *c;
};

/* ---- The input that fails --------------------------------------------------------------------- */

/* Generates the answer to the text in x greedily into token; returns how many, negative: err. */
static int generate(struct certifying *w, int32_t *token, int most, lg_error *err)
{
    const lg_example *x = w->x;
    const lg_batch *text = w->text;
    const lg_model_config *m = &w->run.model_config;
    lg_sequence prompt = {.n = x->answer, .levels = m->levels, .tokens = x->tokens};
    int32_t id[LG_LEVELS], carried[LG_LEVELS], stop = lg_task_get_shape(w->run.task)->stop;
    int n = 0, e;
    for (int l = 0; l < m->levels; l++) {
        prompt.ids[l] = text->ids[l];
        carried[l] = LG_ABSENT; /* the last ID that there is, as in answer.c */
        for (int t = 0; t < x->answer; t++)
            if (text->ids[l][t] != LG_ABSENT) carried[l] = text->ids[l][t];
    }
    lg_decoder *d = lg_decoder_new(w->run.model, 1, err);
    lg_batch_reset(&w->batch);
    e = d ? lg_batch_add_levels(&w->batch, &prompt, err) : LG_ERROR_MEMORY;
    if (!e) e = lg_decoder_start(d, &w->batch, err);
    while (!e && n < most) {
        token[n] = lg_argmax(lg_decoder_logits(d, 0), m->vocab);
        if (token[n++] == stop) break;
        for (int l = 0; l < m->levels; l++) {
            int place = x->answer + n - 1, known = place < text->rows;
            id[l] = m->id_classes[l] > 0 ? lg_plan_next_id(&w->run.plan, m, d, 0, l, carried[l])
                                         : text->ids[l][known ? place : text->rows - 1];
            if (id[l] != LG_ABSENT) carried[l] = id[l];
        }
        e = lg_decoder_step(d, &token[n - 1], id, err);
    }
    lg_decoder_free(d);
    return e ? e : n;
}

/* As many whole words as there is room for. */
static void put_words(const struct certifying *w, char *text, size_t size, const int32_t *token,
                      int n)
{
    const lg_task_shape *shape = lg_task_get_shape(w->run.task);
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < n && used + strlen(shape->words[token[i]]) + 2 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
                                 shape->words[token[i]]);
}

/* Shows the text in x and what the model answers: 1 if that is wrong, 0 if not. */
static int answer(struct certifying *w, lg_error *err)
{
    lg_certificate *c = w->c;
    const lg_example *x = w->x;
    int right = x->n - x->answer, most = 2 * right;
    int32_t *token = lg__alloc((size_t)most * sizeof *token);
    if (!token) return lg__fail(err, LG_ERROR_MEMORY, "no memory to answer; end other programs");
    int n = generate(w, token, most, err);
    c->first = 0;
    for (int i = 0; i < right && !c->first && n >= 0; i++)
        if (i >= n || token[i] != x->tokens[x->answer + i]) c->first = i + 1;
    if (n >= 0) {
        put_words(w, c->input, sizeof c->input, x->tokens, x->answer);
        put_words(w, c->right, sizeof c->right, x->tokens + x->answer, right);
        put_words(w, c->answer, sizeof c->answer, token, n);
        c->columns = x->length;
    }
    free(token);
    return n < 0 ? n : c->first > 0;
}

/* The same of the text in which wrong context i was first met. */
static int answer_wrong(struct certifying *w, int i, lg_error *err)
{
    int row, e = lg__contexts_text(&w->set, w->verdict.list[i], &row, err);
    return e ? e : answer(w, err);
}

/* Answers an input of n columns if it shows a context that is wrong: 1 if it fails. */
static int answer_nth(struct certifying *w, const unsigned char *wrong, int n, int64_t which,
                      int *answered, lg_error *err)
{
    int e = lg__contexts_write(&w->set, n, which, err);
    if (e > 0) e = lg__contexts_meet(&w->set, wrong, err);
    if (e <= 0) return e;
    ++*answered;
    return answer(w, err);
}

/* All inputs, the shortest first, until one fails: 1; 0: none does of as many columns as any context
 * needs, or there are too many. */
static int search(struct certifying *w, lg_error *err)
{
    int longest = w->set.back + 1 + w->set.ahead + w->set.columns.states;
    int found = 0, answered = 0;
    double written = 0;
    unsigned char *wrong = lg__alloc((size_t)w->set.count);
    if (!wrong) return lg__fail(err, LG_ERROR_MEMORY, "no memory to answer; end other programs");
    for (int i = 0; i < w->verdict.listed; i++) wrong[w->verdict.list[i]] = 1;
    for (int n = 1; n <= longest && !found; n++) {
        double strings = pow(w->set.columns.inputs, n);
        if ((written += strings) > WRITTEN) break;
        for (int64_t i = 0; (double)i < strings && !found && answered < ANSWERED; i++)
            found = answer_nth(w, wrong, n, i, &answered, err);
    }
    free(wrong);
    return found;
}

/* The first wrong context was met in one of the shortest inputs that show any. If that fails no
 * shorter one does. A wrong ID may do no harm there, though: then all inputs are tried, as far as
 * there are not too many of them, then those of some more wrong contexts. */
static int find_input(struct certifying *w, lg_error *err)
{
    int found = answer_wrong(w, 0, err);
    if (!found) found = search(w, err);
    w->c->shortest = found > 0;
    for (int i = 1; i < w->verdict.listed && i < CONTEXTS && !found; i++)
        found = answer_wrong(w, i, err);
    if (!found) found = answer_wrong(w, 0, err);
    return found < 0 ? found : 0;
}

/* A model that is no run's, as one; nothing of it is closed. */
static int borrow(struct certifying *w, lg_error *err)
{
    const lg_certify_options *o = w->o;
    struct lg__run *r = &w->run;
    if (!o->task || !o->scheme)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a model is certified with its task and scheme; name both");
    r->model_config = *lg_model_get_config(o->model);
    r->model = (lg_model *)(uintptr_t)o->model; /* run.h has no const one; it is only read */
    r->task = o->task;
    r->scheme = *o->scheme;
    for (int l = 0; l < r->model_config.levels; l++)
        r->predicts |= r->model_config.id_classes[l] > 0;
    int e = lg_plan_open(&r->plan, o->scheme, o->task, err);
    if (!e && r->model_config.vocab != lg_task_get_shape(o->task)->vocab)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the model has %d tokens and the task %d; take the model's own task",
                     r->model_config.vocab, lg_task_get_shape(o->task)->vocab);
    if (!e && r->model_config.levels != r->plan.levels)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the model has %d levels and the scheme %d; take the model's own scheme",
                     r->model_config.levels, r->plan.levels);
    return e;
}

/* ---- Match heads ------------------------------------------------------------------------------------ */

enum { SHIFTS = 4, EXTRAS = 8 }; /* of values that are tried, and of other entries */

/* Variant v of what was found wrong. A wrong ID may lead to a value that is right by chance, or to the only
 * one there is: other values are tried, then one more entry, of several keys. */
static struct lg__failing vary(const struct lg__matching *p, const struct lg__failing *of, int v)
{
    struct lg__failing f = *of;
    f.shift = v % SHIFTS;
    if (v >= SHIFTS && f.extra < 0) f.extra = (f.input + v / SHIFTS) % p->relation.keys;
    return f;
}

/* Of what was found wrong, the shorter inputs first, until one fails: 1. */
static int answer_failing(struct certifying *w, lg_error *err)
{
    struct lg__matching *p = &w->pairs;
    int longest = 1, found = 0, answered = 0;
    for (int n = 1; n <= longest && !found; n++)
        for (int i = 0; i < p->listed * (1 + EXTRAS) * SHIFTS && !found && answered < n * ANSWERED;
             i++) {
            struct lg__failing f = vary(p, &p->list[i % p->listed], i / p->listed);
            found = lg__matching_write(p, &f, err);
            if (found <= 0) continue;
            found = 0;
            if (p->x.length > longest) longest = p->x.length;
            if (p->x.length != n) continue;
            answered++;
            found = answer(w, err);
        }
    return found;
}

/* Whether no input with fewer entries than the one that fails can fail. One entry fails only by a wrong
 * prediction or a missed key, which the list has, and two statements without those by a false match. */
static int is_shortest(const struct certifying *w)
{
    const struct lg__matching *p = &w->pairs;
    int clean = !p->wrong && !p->missed, tried = !p->cut && p->relation.values <= SHIFTS;
    switch (w->c->columns) {
    case 1: return 1;
    case 2: return clean || tried;
    default: return clean && !p->cut;
    }
}

/* All inputs of the relation, the shortest first, until one fails: 1. */
static int answer_all(struct certifying *w, lg_error *err)
{
    struct lg__matching *p = &w->pairs;
    int found = 0;
    for (int64_t i = 0; i < p->relation.inputs && i < WRITTEN && !found; i++) {
        found = lg__matching_write(p, &(struct lg__failing){i, -1, 0}, err);
        if (found > 0) found = answer(w, err);
    }
    return found;
}

static int find_failing(struct certifying *w, lg_error *err)
{
    struct lg__matching *p = &w->pairs;
    w->x = &p->x;
    w->text = &p->text;
    int found = p->relation.all ? answer_all(w, err) : answer_failing(w, err);
    w->c->shortest = found > 0 && (p->relation.all || is_shortest(w));
    if (!found && (found = lg__matching_write(p, &p->list[0], err)) > 0) found = answer(w, err);
    return found < 0 ? found : 0;
}

static int certify_pairs(struct certifying *w, lg_error *err)
{
    struct lg__matching *p = &w->pairs;
    lg_certificate *c = w->c;
    int e = lg__matching_open(p, &w->run, err);
    if (!e) e = lg__matching_check(p, w->o->most, err);
    p->progress = w->o->progress;
    p->context = w->o->context;
    if (!e && !(w->evaluator = lg_evaluator_new(w->run.model, w->o->threads, err)))
        e = LG_ERROR_MEMORY;
    if (!e) e = lg__matching_judge(p, w->run.model, w->evaluator, w->o->threads, 0, 0, 0, err);
    if (e) return e;
    c->contexts = p->contexts;
    c->wrong = p->wrong;
    c->min_margin = p->margin;
    c->certified = !lg__matching_wrong(p);
    c->pairs = p->pairs;
    c->missed = p->missed;
    c->false_matches = p->false_matches;
    if (!c->certified) return find_failing(w, err);
    return w->o->confirm
               ? lg__confirm_pairs(&w->run, w->o->confirm, w->o->threads, &c->confirmed, err)
               : 0;
}

/* A task without columns is refused before it is opened, since that may execute a command. */
static int open_run(struct certifying *w, lg_error *warning, lg_error *err)
{
    char path[4096];
    struct lg__config c;
    int e = lg__file_path(path, sizeof path, w->o->folder, "config.yaml", err);
    if (!e && access(path, F_OK) == 0 && !(e = lg__config_read(&c, path, NULL, 0, err))) {
        if (lg__task_executes(c.task)) e = lg__task_may_have_columns(c.task, err);
        lg__config_clear(&c);
    }
    return e ? e : lg__run_open_folder(&w->run, w->o->folder, &w->o->access, warning, err);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static int certify_contexts(struct certifying *w, lg_error *err)
{
    const lg_certify_options *o = w->o;
    lg_certificate *c = w->c;
    int e = lg__contexts_make(&w->set, &w->run, o->most, o->progress, o->context, err);
    w->x = &w->set.x;
    w->text = &w->set.text;
    if (!e && !(w->evaluator = lg_evaluator_new(w->run.model, o->threads, err)))
        e = LG_ERROR_MEMORY;
    w->verdict.most = w->set.count;
    if (!e && !(w->verdict.list = lg__alloc((size_t)w->set.count * sizeof *w->verdict.list)))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    if (!e) e = lg__contexts_judge(&w->set, w->evaluator, &w->batch, &w->verdict, err);
    if (e) return e;
    c->contexts = w->set.count;
    c->wrong = w->verdict.wrong;
    c->min_margin = w->verdict.margin;
    c->back = w->set.back;
    c->ahead = w->set.ahead;
    if (c->wrong) return find_input(w, err);
    c->certified = 1;
    return o->confirm > 0
               ? lg__confirm(&w->set, &w->run, o->confirm, o->threads, &c->confirmed, err)
               : 0;
}

int lg_certify(const lg_certify_options *o, lg_certificate *c, lg_error *err)
{
    lg_error own, warning = {0};
    struct certifying *w = lg__alloc(sizeof *w);
    if (!err) err = &own;
    *c = (lg_certificate){.min_margin = INFINITY, .isa = lg_isa()};
    if (!w) return lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    w->o = o;
    w->c = c;
    lg_batch_init(&w->batch);
    int e = o->confirm < 0 || o->confirm > 2000
                ? lg__fail(err, LG_ERROR_ARGUMENT, "confirm is %d; take 0 to 2000", o->confirm)
            : o->model ? borrow(w, err)
                       : open_run(w, &warning, err);
    snprintf(c->warning, sizeof c->warning, "%s", warning.text);
    if (!e) {
        c->step = w->run.step;
        c->isa = lg_model_isa(w->run.model);
        c->layers = w->run.model_config.layers * w->run.model_config.loops;
        e = lg__matching_wanted(&w->run) ? certify_pairs(w, err) : certify_contexts(w, err);
    }
    lg_evaluator_free(w->evaluator);
    free(w->verdict.list);
    lg_batch_clear(&w->batch);
    lg__contexts_clear(&w->set);
    lg__matching_clear(&w->pairs);
    if (!o->model) lg__run_close(&w->run);
    free(w);
    return e;
}

/* 0 if it could not be added. */
static int add(json_t *to, const char *key, json_t *part)
{
    return to && part && json_object_set_new(to, key, part) == 0;
}

char *lg_certificate_json(const lg_certificate *c)
{
    char build[200];
    snprintf(build, sizeof build, "%s, %s", lg_commit(), lg_compiler());
    json_t *margin = c->wrong < c->contexts ? json_real(c->min_margin) : json_null();
    json_t *all =
        json_pack("{s:b, s:I, s:I, s:o, s:I, s:s, s:s}", "certified", c->certified, "contexts",
                  (json_int_t)c->contexts, "wrong", (json_int_t)c->wrong, "min_margin", margin,
                  "step", (json_int_t)c->step, "isa", c->isa, "build", build);
    const lg_confirmed *t = &c->confirmed;
    int whole = all != NULL;
    if (c->pairs)
        whole &= add(all, "pairs", json_integer((json_int_t)c->pairs)) &&
                 add(all, "missed", json_integer((json_int_t)c->missed)) &&
                 add(all, "false_matches", json_integer((json_int_t)c->false_matches));
    if (!c->certified)
        whole &= add(all, "counterexample",
                     json_pack("{s:s, s:i, s:s, s:s, s:i, s:b}", "input", c->input, "columns",
                               c->columns, "right", c->right, "answer", c->answer, "first_error",
                               c->first, "shortest", c->shortest));
    if (t->longest)
        whole &= add(all, "confirmed",
                     json_pack("{s:i, s:i, s:i, s:i, s:i}", "random", t->random, "worst", t->worst,
                               "columns", t->columns, "longest", t->longest, "wrong", t->wrong));
    char *text = whole ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(all);
    return text;
}
