/* config_open.c: a run config made into a task, a scheme, a model and options; what cannot go
 * together is refused here, before any work. */
#include "runs/config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "coupling/coupling.h"
#include "runs/run.h"
#include "runs/texts.h"
#include "tasks/tasks.h"

/* The line of the file that says this key, or 0. */
static int line_of(const struct lg__config *c, const char *key)
{
    const struct lg__config_key *k = lg__config_find(key);
    return k ? c->line[k - lg__config_keys(NULL)] : 0;
}

/* An error that some call below wrote, with its place. One that is in another file, a
 * task's table, keeps that place. */
static int because(const struct lg__config *c, const lg_error *inner, lg_error *err)
{
    if (err) *err = *inner;
    if (c->file && *inner->file)
        lg__error_before(err, "%.120s: ", c->file);
    else if (c->file)
        lg__error_place(err, c->file, err ? line_of(c, err->key) : 0);
    return inner->code;
}

static int check_counts(const struct lg__config *c, int levels, lg_error *err)
{
    const struct {
        const char *key;
        int count;
    } row[] = {{"positions.source", c->source_count}, {"positions.window", c->window_count}};
    for (int i = 0; i < 2; i++)
        if (row[i].count && row[i].count != levels)
            return lg__fail_key(
                err, LG_ERROR_ARGUMENT, row[i].key,
                "%s is a list of %d, but ids %s gives task %s %d level%s of IDs; write "
                "a list of %d, or one value for all",
                row[i].key, row[i].count, c->scheme.ids, c->task, levels, levels == 1 ? "" : "s",
                levels);
    return 0;
}

/* lo..hi of a key must be within what the task can make. */
static int within(const char *key, int lo, int hi, int least, int most, const lg_task_info *info,
                  const char *what, lg_error *err)
{
    if (lo >= least && hi <= most) return 0;
    int wrong_one = lo < least ? lo : hi;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, key,
        "%s has %d, but task %s with these settings takes %d..%d (%s); set %s within "
        "that",
        key, wrong_one, info->name, least, most, what, key);
}

static int check_lengths(const struct lg__config *c, const lg_task_shape *shape, lg_error *err)
{
    int least = shape->length_least, most = shape->length_most;
    const struct lg__config_list *list = &c->eval_lengths;
    int e = within("train.length", c->length[0], c->length[1], least, most, shape->info,
                   shape->info->unit, err);
    for (int i = 0; i < list->count && !e; i++)
        e = within("eval.lengths", list->at[i], list->at[i], least, most, shape->info,
                   shape->info->unit, err);
    return e;
}

static int check_sparsities(const struct lg__config *c, const lg_task_shape *shape, lg_error *err)
{
    const struct lg__config_list *list = &c->eval_sparsities;
    const char *what = shape->info->sparsity;
    int e = 0,
        grows = c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH;
    const char *key = c->sparsity[1] ? "train.sparsity"
                      : list->count  ? "eval.sparsities"
                                     : "train.curriculum";
    if (!what && (c->sparsity[1] || list->count || grows))
        return lg__fail_key(err, LG_ERROR_ARGUMENT, key,
                            "%s is set, but task %s has no sparsity; %s", key, shape->info->name,
                            c->sparsity[1] || list->count ? "set it to auto"
                                                          : "set it to length or none");
    if (c->sparsity[1])
        e = within("train.sparsity", c->sparsity[0], c->sparsity[1], shape->sparsity_least,
                   shape->sparsity_most, shape->info, what, err);
    for (int i = 0; i < list->count && !e; i++)
        e = within("eval.sparsities", list->at[i], list->at[i], shape->sparsity_least,
                   shape->sparsity_most, shape->info, what, err);
    return e;
}

static int check_certify(const struct lg__config *c, lg_error *err)
{
    if (c->certify_feedback && c->batch < 4)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "train.certify.feedback",
            "train.certify.feedback is yes, which takes a quarter of every batch, but "
            "train.batch is %d; take 4 or more",
            c->batch);
    if (!c->certify_feedback || c->certify_every) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "train.certify.every",
        "train.certify.feedback is yes, but train.certify.every is 0; say every how "
        "many steps, as in 100");
}

static int check_curriculum(const struct lg__config *c, lg_error *err)
{
    if (!c->curriculum_steps || c->curriculum != LG__CURRICULUM_NONE) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "train.curriculum_steps",
        "train.curriculum_steps is %d, but train.curriculum is none; say what is to "
        "grow, or set the steps to 0",
        c->curriculum_steps);
}

/* Of any task that has a sparsity, or may have one: own data. */
static int check_growth(const struct lg__config *c, const lg_task_shape *shape, lg_error *err)
{
    int grows = c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH;
    if (!grows || c->sparsity[1] || !(shape->info->own || shape->info->sparsity)) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "train.sparsity",
        "train.curriculum is to grow the sparsity, but train.sparsity is auto; give "
        "its range, as in [1, 8]");
}

/* The shortest and the longest example of training: a sparsity may not fit a length. */
static int try_ends(const struct lg__config *c, lg_task *t, lg_error *err)
{
    lg_example x;
    lg_error inner = {0};
    int e = 0;
    lg_example_init(&x);
    for (int end = 0; end < 2 && !e; end++) {
        lg_draw d = {.length_lo = c->length[end], .length_hi = c->length[end]};
        d.sparsity_lo = c->sparsity[0];
        d.sparsity_hi = c->sparsity[1];
        e = lg_task_example(t, &d, &x, &inner);
    }
    lg_example_clear(&x);
    if (!e) return 0;
    return lg__fail_key(err, e, "train.length",
                        "train.length is [%d, %d], but %s; change train.length or train.sparsity",
                        c->length[0], c->length[1], inner.text);
}

/* Of own data that is lines: whether some are left to train on, and held out where training tests itself. The
 * remark is about lengths that cannot be tested. */
static int check_lines(const struct lg__config *c, lg_task *t, lg_error *remark, lg_error *err)
{
    lg_draw d = {.length_lo = c->length[0], .length_hi = c->length[1], .side = LG_SIDE_TRAIN};
    lg_example x;
    int e = 0;
    if (!lg__task_has_lines(t)) return 0;
    lg_example_init(&x);
    d.sparsity_lo = c->sparsity[0];
    d.sparsity_hi = c->sparsity[1];
    e = lg_task_example(t, &d, &x, err);
    d.side = LG_SIDE_TEST;
    if (!e && c->stop_at > 0) e = lg_task_example(t, &d, &x, err);
    lg_example_clear(&x);
    for (int i = 0; i < c->eval_lengths.count && !e; i++) {
        int length = c->eval_lengths.at[i];
        lg_draw all = {.length_lo = length, .length_hi = length}, held = all;
        held.side = lg__run_test_side(c, t, length, length);
        int lines = lg__task_count(t, &all);
        if (!lines || lg__task_count(t, &held)) continue;
        lg__fail(remark, 0,
                 "%s has %d line%s of length %d, too few for task.test to hold one out, so that "
                 "eval has nothing to test there: add lines, or set task.test higher",
                 c->task, lines, lines == 1 ? "" : "s", length);
        break;
    }
    return e;
}

/* The user's own data has the lengths that it has; the draw says what it lacks. */
static int check_task(const struct lg__config *c, lg_task *t, lg_error *remark, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    int e = check_curriculum(c, err);
    if (!e) e = check_certify(c, err);
    if (!e) e = lg__text_check_config(c, t, err);
    if (!e) e = check_growth(c, shape, err);
    if (!e) e = check_lines(c, t, remark, err);
    if (e || shape->info->own) return e;
    if ((e = check_lengths(c, shape, err)) || (e = check_sparsities(c, shape, err))) return e;
    return try_ends(c, t, err);
}

/* Labels by a rule, in place of the task's own. */
static int couple(const struct lg__config *c, lg_task *t, lg_error *err)
{
    if (!c->coupling) return 0;
    if (strncmp(c->scheme.ids, "coupled", 7) == 0)
        return lg__task_couple_file(t, c->coupling, c->length, err);
    return lg__fail_key(err, LG_ERROR_ARGUMENT, "positions.coupling",
                        "positions.coupling is set, but positions.ids is %s, which has no use for "
                        "labels; set positions.ids to coupled, or leave the rule out",
                        c->scheme.ids);
}

/* What the IDs decide. How many levels they have must be known before the sources are looked at:
 * one that was said for all levels is that of those there are. */
static int plan(const struct lg__config *c, const lg_task *t, lg_scheme *s, lg_model_config *m,
                lg_error *err)
{
    int e;
    for (int l = 0; l < LG_LEVELS; l++) s->source[l] = NULL;
    if ((e = lg_scheme_config(s, t, m, err)) || (e = check_counts(c, m->levels, err))) return e;
    for (int l = 0; l < m->levels; l++) s->source[l] = c->scheme.source[l];
    return lg_scheme_config(s, t, m, err);
}

int lg__config_open(const struct lg__config *c, lg_task **t, lg_scheme *s, lg_model_config *m,
                    lg_train_options *o, lg_error *err)
{
    lg_error inner = {0}, remark = {0}, lines = {0};
    int e;
    *s = c->scheme;
    *m = c->model;
    *o = c->train;
    *t = lg_task_new(c->task, (const char *const *)c->settings, c->setting_count, &inner);
    if (!*t) return because(c, &inner, err);
    m->vocab = lg_task_get_shape(*t)->vocab;
    m->seed = (uint64_t)c->seed;
    e = couple(c, *t, &inner);
    if (!e && (e = plan(c, *t, s, m, &inner))) lg__error_rename(&inner, lg__config_key_of);
    if (!e) e = check_task(c, *t, &lines, &inner);
    if (!e && (e = lg_scheme_check(s, *t, m, c->length[1], &remark, &inner)))
        lg__error_rename(&inner, lg__config_key_of);
    if (!e) {
        lg__error_rename(&remark, lg__config_key_of);
        if (err) *err = *remark.text ? remark : lines;
        return 0;
    }
    lg_task_free(*t);
    *t = NULL;
    return because(c, &inner, err);
}
