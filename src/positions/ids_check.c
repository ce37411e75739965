/* ids_check.c: what must hold between a task, its IDs and a model before training. */
#include "positions/ids.h"

#include "base/error.h"
#include "engine/position.h"
#include "positions/keys.h"
#include "positions/positions.h"
#include "positions/sight.h"

enum { LOOKS = 8 }; /* examples that are tried */

static const char *level_name(const lg_task_shape *shape, int l)
{
    return shape->level[l] ? shape->level[l] : "unnamed";
}

/* The config must be the one that lg_scheme_config makes: classes are written for that one. */
static int check_config(const lg_scheme *s, const lg_task *t, const lg_model_config *c,
                        lg_error *err)
{
    lg_model_config want = *c;
    int e = lg_scheme_config(s, t, &want, err);
    if (e) return e;
    if (c->levels != want.levels)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the model has %d level%s of IDs, but ids %s on this task gives %d; set "
                        "the model's levels to %d (lg_scheme_config does)",
                        c->levels, c->levels == 1 ? "" : "s", s->ids, want.levels, want.levels);
    for (int l = 0; l < want.levels; l++) {
        if (c->id_classes[l] == want.id_classes[l] && !c->pointer[l] == !want.pointer[l] &&
            c->match[l] == want.match[l])
            continue;
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the model's ID head of level %d has %d classes%s, but source %s needs %d%s; "
            "make the config with lg_scheme_config",
            l + 1, c->id_classes[l],
            c->pointer[l] ? " and a pointer"
            : c->match[l] ? " and a match head"
                          : "",
            s->source[l] ? s->source[l] : "given", want.id_classes[l],
            want.pointer[l] ? " and a pointer"
            : want.match[l] ? " and a match head"
                            : "");
    }
    return 0;
}

static int check_span(const lg_plan *p, const lg_model_config *c, lg_error *err)
{
    char names[LG__IDS_NAMES];
    if (!(p->flags & LG__IDS_GAPS) || c->span != LG_SPAN_WINDOW) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "span",
        "{ids} is %s and the span is a window of IDs: a gap between IDs would put the "
        "next column out of sight; take span full, or ids %s",
        p->ids.name,
        p->ids.labels ? p->row->name
                      : lg__ids_names(names, LG__IDS_LABELS | LG__IDS_GAPS | LG__IDS_DIGITS));
}

static int check_digits(const lg_plan *p, lg_error *err)
{
    const lg_task_shape *shape = p->shape;
    char names[LG__IDS_NAMES];
    int digits = 0;
    if (!(p->flags & LG__IDS_DIGITS)) return 0;
    for (int i = 0; shape->digit && i < shape->vocab; i++) digits += shape->digit[i];
    if (digits) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "ids",
        "{ids} is %s, which counts digits, but none of the %d words of task %s is a "
        "digit; take ids %s",
        p->ids.name, shape->vocab, lg__ids_task_name(shape),
        lg__ids_names(names, LG__IDS_DIGITS | LG__IDS_GAPS));
}

static int check_head(const lg_plan *p, const lg_model_config *c, int l, lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    const lg_task_shape *shape = p->shape;
    const char *name = level_name(shape, l);
    char names[LG__ENCODING_NAMES];
    if (p->head[l] == LG__HEAD_ABSOLUTE && !lg__encoding_has(c->encoding, LG__ENCODING_ABSOLUTE))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "source",
            "source of level %d (%s) is absolute, but encoding %s does not show IDs "
            "themselves, but their differences at most; take source delta or pointer, "
            "or encoding %s",
            l + 1, name, c->encoding ? c->encoding : lg__encoding_none.name,
            lg__encoding_names(names, LG__ENCODING_ABSOLUTE));
    if (p->head[l] != LG__HEAD_DELTA) return 0;
    if (!shape->reach[l])
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "source",
                            "source of level %d (%s) is delta, but in this task the step of that "
                            "level's ID grows with the length; take source pointer",
                            l + 1, name);
    if (shape->reach[l] > s->reach)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "reach",
                            "source of level %d (%s) is delta with {reach} %d, but this task makes "
                            "steps of up to %d; set {reach} to %d or more, or take source pointer",
                            l + 1, name, s->reach, shape->reach[l], shape->reach[l]);
    return 0;
}

/* The largest ID of the batch's rows. */
static int32_t largest_id(const lg_batch *b)
{
    int32_t most = 0;
    for (int l = 0; l < b->levels; l++)
        for (int i = 0; i < b->rows; i++)
            if (b->ids[l][i] > most) most = b->ids[l][i];
    return most;
}

/* Adds one example as in training and as in evaluation, to see whether either is refused. */
static int try_example(const lg_plan *p, const lg_example *x, int look, lg_batch *b, lg_error *err)
{
    lg_rng r;
    lg_rng_init(&r, 0, 0, (uint64_t)look);
    int e = lg_plan_add(p, x, &r, b, err);
    return e ? e : lg_plan_add(p, x, NULL, b, err);
}

/* Tries a few of the longest examples; *most becomes the largest ID met. */
static int try_examples(const lg_plan *p, lg_task *t, const lg_model_config *c, int length,
                        int32_t *most, struct lg__sight *sight, lg_error *err)
{
    const lg_task_shape *shape = p->shape;
    const lg_task_info *info = shape->info;
    int e = 0;
    /* A program's examples can be read only once: they are checked as they come. */
    if (info && info->own == LG_OWN_PROGRAM) return 0;
    if (!shape->length_most) return 0; /* a task that has no examples: text without texts */
    /* The user's own lines need not have one of exactly this length; of texts any can be cut. */
    int lines = info && info->own == LG_OWN_LINES;
    lg_draw d = {.length_lo = lines ? shape->length_least : length, .length_hi = length};
    lg_example x;
    lg_batch b;
    lg_example_init(&x);
    lg_batch_init(&b);
    for (int look = 0; look < LOOKS && !e; look++) {
        d.index = (uint64_t)look;
        lg_batch_reset(&b);
        e = lg_task_example(t, &d, &x, err);
        if (!e) e = try_example(p, &x, look, &b, err);
        if (!e && largest_id(&b) > *most) *most = largest_id(&b);
        if (!e) e = lg__sight_look(sight, p, &x, c, err);
        if (!e) e = lg__keys_check(p, &x, b.ids, c, err);
    }
    lg_batch_clear(&b);
    lg_example_clear(&x);
    return e;
}

static int check_rows(const lg_plan *p, const lg_model_config *c, int length, int32_t most,
                      lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    if (!lg__encoding_has(c->encoding, LG__ENCODING_ROWS)) return 0;
    if ((p->flags & LG__IDS_TARGET) && s->target - 1 > most) most = s->target - 1;
    if ((p->flags & LG__IDS_MAX_ID) && s->max_id > most) most = s->max_id;
    if (most <= c->max_id) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "max_id",
        "encoding %s has rows for IDs up to %d (the model's {max_id}), but with ids "
        "%s and length %d they go up to %d; set {max_id} to %d or more, or take an "
        "encoding without rows",
        c->encoding, c->max_id, s->ids, length, (int)most, (int)most);
}

/* An average of equal values hides how many there are: where positions enter the scores alone, the
 * end of an input of equal tokens looks like its middle (docs/MATH.md, section 6). */
static void remark_on_the_end(const lg_task_shape *shape, const lg_model_config *c,
                              lg_error *remark)
{
    const struct lg__encoding *encoding = lg__encoding_find(c->encoding);
    if (remark->text[0] || c->sink || c->span != LG_SPAN_WINDOW || shape->stop == LG_NONE) return;
    if (encoding->input) return;
    lg__fail_key(
        remark, LG_OK, "sink",
        "encoding %s shows positions in the scores alone, so with a window the model may not "
        "see where an input ends, and the stop token may come too early or too late; set {sink}",
        encoding->name);
}

static void remark_on_roles(const lg_plan *p, const lg_model_config *c, lg_error *remark)
{
    const lg_task_shape *shape = p->shape;
    if (remark->text[0] || !p->ids.labels || c->layers * c->loops > 1 || c->span != LG_SPAN_WINDOW)
        return;
    if (shape->role <= p->levels) return;
    lg__fail_key(remark, LG_OK, "levels",
                 "levels %d leaves out level %d (%s), and one layer with a window does not "
                 "see the order of the text: tokens that share an ID cannot be told apart; "
                 "keep the role level (levels %d), or use two layers",
                 p->levels, shape->role, level_name(shape, shape->role - 1), shape->role);
}

/* With full span a relative bias is the same for all keys past an end of the window: where that end
 * is 0, keys of the query's own ID look like those. IDs of other kinds never come after the query's. */
static void remark_on_clipping(const lg_plan *p, const lg_model_config *c, lg_error *remark)
{
    if (c->span != LG_SPAN_FULL || !lg__encoding_has(c->encoding, LG__ENCODING_CLIPS)) return;
    for (int l = 0; l < c->levels && !remark->text[0]; l++)
        if (!c->window_lo[l] || (!c->window_hi[l] && p->ids.labels))
            lg__fail_key(remark, LG_OK, "window_lo",
                         "the window of level %d (%s) is [%d, %d]: with span full a %s bias is "
                         "the same past its ends, so keys of the query's own ID look like all that "
                         "are %s it; take a window that is wider on both sides, or span window",
                         l + 1, level_name(p->shape, l), c->window_lo[l], c->window_hi[l],
                         c->encoding, !c->window_lo[l] ? "before" : "behind");
}

int lg_scheme_check(const lg_scheme *s, lg_task *t, const lg_model_config *c, int length,
                    lg_error *remark, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    lg_plan p;
    struct lg__sight sight = {0};
    int32_t most = 0;
    int e;
    if (remark) *remark = (lg_error){0};
    if (c->vocab < shape->vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the task has %d words, but the model %d; set its vocab to %d",
                        shape->vocab, c->vocab, shape->vocab);
    if ((e = lg_model_config_check(c, err)) || (e = lg__plan_open(&p, s, shape, err)) ||
        (e = check_config(s, t, c, err)) || (e = check_span(&p, c, err)) ||
        (e = check_digits(&p, err)))
        return e;
    for (int l = 0; l < p.levels; l++)
        if ((e = check_head(&p, c, l, err))) return e;
    if ((e = try_examples(&p, t, c, length, &most, &sight, err)) ||
        (e = check_rows(&p, c, length, most, err)))
        return e;
    if (remark) {
        lg__sight_remark(&sight, shape, c, remark);
        remark_on_roles(&p, c, remark);
        remark_on_the_end(shape, c, remark);
        remark_on_clipping(&p, c, remark);
    }
    return 0;
}
