/* config_open.c: a run config made into a task, a scheme, a model and options; what cannot go
 * together is refused here, before any work. */
#include "lab/config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lab/texts.h"

static int is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Whether the n letters at `at` are a field of the library's: words like "ids" are so only where they
 * are said to be something, or are to be set; elsewhere they may be the user's own. */
static int is_field(const char *text, const char *at, size_t n)
{
    if (at != text && at[-1] != ' ') return 0;
    return memchr(at, '_', n) || strncmp(at + n, " is ", 4) == 0 ||
           (at - text >= 4 && strncmp(at - 4, "set ", 4) == 0);
}

/* The fields of the library's structs by the keys that set them here. */
static void name_keys(lg_error *e)
{
    static const char *const names[][2] = {{"ids", "positions.ids"},
                                           {"max_id", "positions.max_id"},
                                           {"chunks", "positions.chunks"},
                                           {"target", "positions.target"},
                                           {"reach", "positions.reach"},
                                           {"rope_share", "positions.rope.share"},
                                           {"rope_base", "positions.rope.base"},
                                           {"rope_factor", "positions.rope.factor"},
                                           {"rope_length", "positions.rope.length"},
                                           {"sink", "model.sink"}};
    lg_error to = {.code = e->code};
    size_t used = 0;
    for (const char *at = e->text; *at && used + 1 < sizeof to.text;) {
        size_t n = 0;
        while (is_letter(at[n])) n++;
        const char *word = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names && is_field(e->text, at, n); i++)
            if (strlen(names[i][0]) == n && strncmp(at, names[i][0], n) == 0) word = names[i][1];
        if (!n) n = 1;
        int put = word ? snprintf(to.text + used, sizeof to.text - used, "%s", word)
                       : snprintf(to.text + used, sizeof to.text - used, "%.*s", (int)n, at);
        used += (size_t)put;
        at += n;
    }
    *e = to;
}

/* The file before a sentence that some call below wrote. */
static int because(const struct lg__config *c, int code, const lg_error *inner, lg_error *err)
{
    return lg__fail(err, code, "%.120s: %s", c->file ? c->file : "the config", inner->text);
}

static int check_counts(const struct lg__config *c, int levels, lg_error *err)
{
    const struct {
        const char *key;
        int count;
    } row[] = {{"positions.source", c->source_count}, {"positions.window", c->window_count}};
    for (int i = 0; i < 2; i++)
        if (row[i].count && row[i].count != levels)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s is a list of %d, but ids %s gives task %s %d level%s of IDs; write "
                            "a list of %d, or one value for all",
                            row[i].key, row[i].count, c->scheme.ids, c->task, levels,
                            levels == 1 ? "" : "s", levels);
    return 0;
}

/* lo..hi of a key must be within what the task can make. */
static int within(const char *key, int lo, int hi, int least, int most, const lg_task_info *info,
                  const char *what, lg_error *err)
{
    if (lo >= least && hi <= most) return 0;
    int wrong_one = lo < least ? lo : hi;
    return lg__fail(err, LG_ERROR_ARGUMENT,
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
    if (!what && (c->sparsity[1] || list->count || grows))
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s is set, but task %s has no sparsity; %s",
                        c->sparsity[1] ? "train.sparsity"
                        : list->count  ? "eval.sparsities"
                                       : "train.curriculum",
                        shape->info->name,
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
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "train.certify.feedback is yes, which takes a quarter of every batch, but "
                        "train.batch is %d; take 4 or more",
                        c->batch);
    if (!c->certify_feedback || c->certify_every) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "train.certify.feedback is yes, but train.certify.every is 0; say every how "
                    "many steps, as in 100");
}

static int check_curriculum(const struct lg__config *c, lg_error *err)
{
    if (!c->curriculum_steps || c->curriculum != LG__CURRICULUM_NONE) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "train.curriculum_steps is %d, but train.curriculum is none; say what is to "
                    "grow, or set the steps to 0",
                    c->curriculum_steps);
}

/* Of any task that has a sparsity, or may have one: own data. */
static int check_growth(const struct lg__config *c, const lg_task_shape *shape, lg_error *err)
{
    int grows = c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH;
    int own = strcmp(shape->info->family, "own data") == 0;
    if (!grows || c->sparsity[1] || !(own || shape->info->sparsity)) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
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
    return lg__fail(err, e,
                    "train.length is [%d, %d], but %s; change train.length or train.sparsity",
                    c->length[0], c->length[1], inner.text);
}

/* A text has no answers that are right or wrong, no sparsity, and is evaluated by its loss. */
static int check_text(const struct lg__config *c, lg_error *err)
{
    int grows = c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH;
    const struct {
        const char *key, *why, *remedy;
        int set;
    } row[] = {
        {"train.stop_at", "a text has no exact answers", "set it to 0", c->stop_at > 0},
        {"train.certify.every", "no finite machine writes a text", "set it to 0", c->certify_every},
        {"train.sparsity", "a text has no sparsity", "set it to auto", c->sparsity[1]},
        {"eval.sparsities", "a text has no sparsity", "set it to auto", c->eval_sparsities.count},
        {"train.curriculum", "a text has no sparsity", "set it to length or none", grows}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].set)
            return lg__fail(err, LG_ERROR_ARGUMENT, "%s is set, but the task is text, and %s; %s",
                            row[i].key, row[i].why, row[i].remedy);
    return 0;
}

/* The user's own data has the lengths that it has; the draw says what it lacks. */
static int check_task(const struct lg__config *c, lg_task *t, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    int e = check_curriculum(c, err);
    if (!e) e = check_certify(c, err);
    if (!e && lg__is_text(t)) e = check_text(c, err);
    if (!e) e = check_growth(c, shape, err);
    if (e || strcmp(shape->info->family, "own data") == 0) return e;
    if ((e = check_lengths(c, shape, err)) || (e = check_sparsities(c, shape, err))) return e;
    return try_ends(c, t, err);
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
    lg_error inner = {0}, remark = {0};
    int e;
    *s = c->scheme;
    *m = c->model;
    *o = c->train;
    *t = lg_task_new(c->task, (const char *const *)c->settings, c->setting_count, &inner);
    if (!*t) return because(c, inner.code, &inner, err);
    m->vocab = lg_task_get_shape(*t)->vocab;
    m->seed = (uint64_t)c->seed;
    if ((e = plan(c, *t, s, m, &inner))) name_keys(&inner);
    if (!e && !(e = check_task(c, *t, &inner)) &&
        (e = lg_scheme_check(s, *t, m, c->length[1], &remark, &inner)))
        name_keys(&inner);
    if (!e) {
        name_keys(&remark);
        if (err) *err = remark;
        return 0;
    }
    lg_task_free(*t);
    *t = NULL;
    return because(c, e, &inner, err);
}
