/* sampled.c: how often a run is right at a length, from independent draws: their number is fixed by the share
 * and the confidence before any is judged, and the bound is the exact binomial one. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/stats.h"
#include "certify/judge.h"
#include "lengthen_certify.h"
#include "tasks/tasks.h"

enum { TIMED = 3 }; /* examples that show how long one takes */

struct sampling {
    const lg_sampled_options *o;
    lg_sampled *c;
    struct lg__run run;
    lg_task *task;
    struct lg__judge *judge; /* NULL: it cannot be judged by context */
};

/* The examples of a draw: how many are wrong. */
static int answer(struct sampling *w, const lg_draw *d, int samples, lg_score *s, lg_error *err)
{
    const struct lg__run *r = &w->run;
    struct lg__answer_limit limit = {.stop = w->o->stop};
    int e = w->judge ? lg__judge_draw(w->judge, w->task, d, samples, r->predicts, w->o->stop, s,
                                      NULL, err)
                     : lg__answer_within(r->model, w->task, &r->scheme, d, samples, r->predicts,
                                         w->o->threads, &limit, s, err);
    if (!e && s->samples < samples)
        e = lg__fail(err, LG_ERROR_SYSTEM, "stopped; nothing is certified by a part of the draws");
    return e;
}

/* How long one takes, by a few of another stream; the first pays for contexts that are new. */
static int find_cost(struct sampling *w, lg_draw d, lg_sampled_row *row, lg_error *err)
{
    double best = INFINITY, since = lg__now();
    int e = 0;
    d.stream = LG__STREAM_COSTS;
    for (int i = 0; i < TIMED && !e; i++, d.index++) {
        lg_score s;
        double begun = lg__now();
        e = answer(w, &d, 1, &s, err);
        best = fmin(best, lg__now() - begun);
        row->tokens = (double)s.text * row->samples;
        if (lg__now() - since > 10) break;
    }
    lg_sampled_cost cost = {.length = row->length,
                            .samples = row->samples,
                            .tokens = row->tokens,
                            .seconds = best * row->samples,
                            .by_context = w->judge != NULL};
    if (!w->judge) /* several are decoded side by side */
        cost.seconds /= lg__answer_beside(&w->run.model_config, (int)(row->tokens / row->samples),
                                          w->o->threads > 0 ? w->o->threads : lg_cores());
    if (!e && w->o->cost) w->o->cost(w->o->context, &cost);
    return e;
}

static int sample_length(struct sampling *w, lg_sampled_row *row, double alpha, lg_error *err)
{
    lg_draw d = {.seed = (uint64_t)w->run.config.seed,
                 .stream = LG__STREAM_SAMPLED,
                 .length_lo = row->length,
                 .length_hi = row->length};
    lg_score s;
    int e = find_cost(w, d, row, err);
    double since = lg__now();
    if (!e) e = answer(w, &d, row->samples, &s, err);
    if (e) return e;
    row->seconds = lg__now() - since;
    row->wrong = s.samples - s.exact;
    row->tokens = (double)s.text;
    row->least = lg__share_at_least(row->wrong, row->samples, alpha);
    row->certified = row->wrong <= w->c->failures;
    return 0;
}

static int check(const lg_sampled_options *o, const lg_sampled *c, lg_error *err)
{
    if (!(c->share > 0 && c->share < 1) || !(c->confidence > 0 && c->confidence < 1))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a share of %g with confidence %g; take both above 0 and below 1", c->share,
                        c->confidence);
    if (o->length_count > LG_SAMPLED_ROWS)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d lengths; take at most %d", o->length_count,
                        LG_SAMPLED_ROWS);
    if (o->failures < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d failures; take 0 or more", o->failures);
    return 0;
}

/* Opens the run, and the judge where its contexts allow one. */
static int open_all(struct sampling *w, lg_error *err)
{
    const lg_sampled_options *o = w->o;
    lg_error warning = {0}, why;
    int e = lg__run_open_folder(&w->run, o->folder, &o->access, &warning, err);
    snprintf(w->c->warning, sizeof w->c->warning, "%s", warning.text);
    if (e) return e;
    w->task = w->run.task;
    snprintf(w->c->data, sizeof w->c->data, "%s", o->data ? o->data : w->run.config.task);
    if (strcmp(lg__task_form(w->run.config.task), "answers") != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task %s has no answers that could be right or wrong; nothing can be "
                        "certified of it",
                        w->run.config.task);
    if (o->data && (e = lg__run_other_task(&w->run, o->data, NULL, &w->task, err))) return e;
    if (lg__task_has_lines(w->task))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s are lines of a file, not draws that can be repeated at will; give a "
                        "program that makes them (--data exec:COMMAND), or certify the list of "
                        "their contexts (--data without --sample)",
                        w->c->data);
    if (w->run.model_config.rope_scaling == LG_ROPE_DYNAMIC)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "RoPE is scaled by the length of each text (dynamic), which only eval does; "
            "use eval");
    if (!lg__unfold_check(&w->run, &why))
        return lg__judge_open(&w->judge, &w->run, o->threads, err);
    return 0;
}

int lg_certify_sampled(const lg_sampled_options *o, lg_sampled *c, lg_error *err)
{
    lg_error own;
    struct sampling *w = lg__alloc(sizeof *w);
    if (!err) err = &own;
    *c = (lg_sampled){.share = o->share > 0 ? o->share : 0.999,
                      .confidence = o->confidence > 0 ? o->confidence : 0.99,
                      .failures = o->failures,
                      .isa = lg_isa(),
                      .unit = ""};
    if (!w) return lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    w->o = o;
    w->c = c;
    int e = check(o, c, err), rows = o->lengths ? o->length_count : 1;
    double alpha = (1 - c->confidence) / rows;
    int64_t samples = e ? 0 : lg__samples_for(c->share, alpha, c->failures);
    if (!e && (samples < 1 || samples > INT32_MAX / 2))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "a share of %g with confidence %g takes over 1e9 examples; take less",
                     c->share, c->confidence);
    if (!e) e = open_all(w, err);
    for (int i = 0; i < rows && !e; i++) {
        c->row[i] = (lg_sampled_row){.length = o->lengths ? o->lengths[i] : w->run.config.length[1],
                                     .samples = (int)samples};
        e = sample_length(w, &c->row[i], alpha, err);
        c->rows = i + 1;
    }
    c->certified = !e;
    for (int i = 0; i < c->rows; i++) c->certified &= c->row[i].certified;
    if (!e) {
        c->step = w->run.step;
        c->isa = lg_model_isa(w->run.model);
        c->by_context = w->judge != NULL;
        c->predicted = w->run.predicts;
        c->unit = lg_task_get_shape(w->task)->info->unit; /* the library's own */
    }
    lg__judge_free(w->judge);
    if (w->task != w->run.task) lg_task_free(w->task);
    lg__run_close(&w->run);
    free(w);
    return e;
}

char *lg_sampled_json(const lg_sampled *c)
{
    char build[200];
    snprintf(build, sizeof build, "%s, %s", lg_commit(), lg_compiler());
    json_t *rows = json_array();
    int whole = rows != NULL;
    for (int i = 0; i < c->rows; i++) {
        const lg_sampled_row *r = &c->row[i];
        whole &= json_array_append_new(rows, json_pack("{s:i, s:i, s:i, s:f, s:b, s:f, s:f}",
                                                       "length", r->length, "samples", r->samples,
                                                       "wrong", r->wrong, "least", r->least,
                                                       "certified", r->certified, "tokens",
                                                       r->tokens, "seconds", r->seconds)) == 0;
    }
    json_t *all =
        json_pack("{s:s, s:b, s:s, s:f, s:f, s:i, s:s, s:s, s:b, s:o, s:I, s:s, s:s}", "kind",
                  "sampled", "certified", c->certified, "data", c->data, "share", c->share,
                  "confidence", c->confidence, "failures", c->failures, "unit", c->unit, "source",
                  c->predicted ? "predicted" : "given", "by_context", c->by_context, "lengths",
                  rows, "step", (json_int_t)c->step, "isa", c->isa, "build", build);
    char *text = whole && all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(all);
    return text;
}
