/* list.c: the contexts of a user's examples, each with its answer, and whether the model gives it in all of
 * them. Where every context of an input is in the list, greedy decoding writes what the list says. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "certify/judge.h"
#include "lengthen_certify.h"
#include "positions/ids.h"
#include "tasks/tasks.h"

enum { SAMPLES = 10000, TELL = 256, LENGTHS = 256 };

/* A context of the list. */
struct listed {
    int32_t token, class[LG_LEVELS]; /* LG_NONE: a class that nothing reads */
    int32_t example;                 /* the first that has it, and the latest */
    int32_t latest;
    unsigned char several, contradicted; /* several examples have it; with two answers */
};

struct listing {
    const lg_list_options *o;
    lg_list *c;
    struct lg__run run;
    lg_task *task;
    lg_plan plan; /* of the task */
    struct lg__lookup lookup;
    struct lg__block list; /* struct listed [count] */
    int count;
    lg_example x;
    struct lg__block ids, number; /* of x: int32_t [levels, n], [n] */
};

static struct listed *at(const struct listing *w, int i)
{
    return (struct listed *)w->list.data + i;
}

/* ---- Examples -------------------------------------------------------------------------------------- */

/* Which examples: number i, and how many there are. */
struct source {
    lg_task *task;
    lg_draw draw;
    const int *lengths; /* or NULL */
    int length_count, count, lines;
    int part[LENGTHS]; /* examples of each length */
};

static int open_source(const struct listing *w, lg_task *t, struct source *s, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    const lg_list_options *o = w->o;
    const struct lg__config *c = &w->run.config;
    *s = (struct source){.task = t, .lines = lg__task_has_lines(t)};
    s->lengths = o->lengths;
    s->length_count = o->lengths ? o->length_count : 1;
    s->draw = (lg_draw){.seed = (uint64_t)c->seed, .stream = s->lines ? 0 : LG__STREAM_LIST};
    s->draw.length_lo = s->lines ? shape->length_least : c->length[0];
    s->draw.length_hi = s->lines ? shape->length_most : c->length[1];
    if (s->length_count > LENGTHS)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d lengths; take at most %d", s->length_count,
                        LENGTHS);
    int all = o->samples ? o->samples : SAMPLES;
    for (int i = 0; i < s->length_count; i++) {
        lg_draw d = s->draw;
        if (s->lengths) d.length_lo = d.length_hi = s->lengths[i];
        s->part[i] =
            s->lines ? lg__task_count(t, &d) : all / s->length_count + (i < all % s->length_count);
        s->count += s->part[i];
    }
    if (s->count) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "no line of %s has such a length; it has %d..%d",
                    w->c->data, shape->length_least, shape->length_most);
}

/* The draw of example i, length after length. */
static lg_draw draw_of(const struct source *s, int i)
{
    lg_draw d = s->draw;
    for (int k = 0; s->lengths; k++) {
        d.length_lo = d.length_hi = s->lengths[k];
        if (i < s->part[k]) break;
        i -= s->part[k];
    }
    d.index = (uint64_t)i;
    return d;
}

static int64_t line_of(const struct source *s, int i)
{
    lg_draw d = draw_of(s, i);
    int64_t line = lg__task_line(s->task, &d);
    return line ? line : (int64_t)i + 1;
}

static struct lg__text text_of(const struct listing *w)
{
    struct lg__text text = {.n = w->x.n, .tokens = w->x.tokens};
    for (int l = 0; l < w->plan.levels; l++)
        text.ids[l] = (const int32_t *)w->ids.data + (size_t)l * (size_t)w->x.n;
    return text;
}

static int drop(void *context, lg_error *err)
{
    struct listing *w = context;
    (void)err;
    lg_batch_reset(&w->lookup.unfold.fresh);
    return 0;
}

/* Example i with its IDs and contexts; keep: new ones join the list. */
static int read_example(struct listing *w, const struct source *s, int i, int keep, lg_error *err)
{
    lg_draw d = draw_of(s, i);
    int e = lg_task_example(s->task, &d, &w->x, err);
    if (e) return e;
    size_t n = (size_t)w->x.n, levels = (size_t)w->plan.levels;
    int32_t *ids[LG_LEVELS] = {0};
    e = lg__block_grow(&w->ids, levels * n * sizeof(int32_t), 0, "IDs", err);
    if (!e) e = lg__block_grow(&w->number, n * sizeof(int32_t), 0, "contexts", err);
    if (e) return e;
    for (size_t l = 0; l < levels; l++) ids[l] = (int32_t *)w->ids.data + l * n;
    if ((e = lg_plan_ids(&w->plan, &w->x, NULL, ids, err))) return e;
    struct lg__text text = text_of(w);
    int from = w->x.answer - 1, to = w->x.n - 2;
    if (keep) return lg__lookup_text(&w->lookup, &text, from, to, w->number.data, err);
    e = lg__unfold_text(&w->lookup.unfold, &text, from, to, w->number.data, drop, w, err);
    return e ? e : drop(w, err);
}

/* The right answer after each row of x, in turn: starts from {.row = answer - 2}. */
struct walk {
    int row;
    int32_t carried[LG_LEVELS];
    struct listed right;
};

/* 0: there are no more. */
static int step(const struct listing *w, struct walk *k, lg_error *err)
{
    struct lg__text text = text_of(w);
    const lg_plan *p = &w->plan;
    if (k->row == w->x.answer - 2)
        for (int l = 0; l < p->levels; l++) {
            k->carried[l] = LG_ABSENT;
            for (int t = k->row; t >= 0 && k->carried[l] == LG_ABSENT; t--)
                k->carried[l] = text.ids[l][t];
        }
    if (++k->row + 1 >= text.n) return 0;
    k->right = (struct listed){.token = text.tokens[k->row + 1]};
    for (int l = 0; l < LG_LEVELS; l++) {
        k->right.class[l] = LG_NONE;
        if (l >= p->levels) continue;
        if (text.ids[l][k->row] != LG_ABSENT) k->carried[l] = text.ids[l][k->row];
        int32_t next = text.ids[l][k->row + 1], from = k->carried[l];
        if (p->head[l] == LG__HEAD_GIVEN || k->row + 2 == text.n) continue; /* nothing reads it */
        int64_t jump = next == LG_ABSENT ? 0 : (int64_t)next - (from == LG_ABSENT ? 0 : from);
        if (jump < -p->scheme.reach || jump > p->scheme.reach ||
            (next == LG_ABSENT && p->levels == 1))
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "an example has an ID (%d after %d) that no class of the run's head "
                            "delta stands for; train with a larger positions.reach",
                            next, from);
        k->right.class[l] =
            next == LG_ABSENT ? lg__plan_classes(p, l) - 1 : (int32_t)jump + p->scheme.reach;
    }
    return 1;
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void put_answer(const struct listing *w, char *text, size_t size, int32_t token,
                       const int32_t class[LG_LEVELS])
{
    const lg_task_shape *shape = lg_task_get_shape(w->task);
    int n = snprintf(text, size, "%.60s", shape->words[token]);
    for (int l = 0; l < w->plan.levels && n > 0 && (size_t)n < size; l++) {
        if (class[l] == LG_NONE) continue;
        int reach = w->plan.scheme.reach;
        if (class[l] > 2 * reach)
            n += snprintf(text + n, size - (size_t)n, ", no ID");
        else
            n += snprintf(text + n, size - (size_t)n, ", ID %+d", class[l] - reach);
    }
}

/* The tokens that the prediction after `row` of x depends on. */
static int put_context(struct listing *w, int row, char *out, size_t size, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(w->task);
    struct lg__text text = text_of(w);
    const int *place;
    int count = lg__unfold_places(&w->lookup.unfold, &text, row, &place, err);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        char one[200];
        int k =
            snprintf(one, sizeof one, "%s%.80s", i ? " " : "", shape->words[text.tokens[place[i]]]);
        for (int l = 0; l < w->plan.levels; l++) {
            int32_t id = text.ids[l][place[i]], own = text.ids[l][row];
            k += id == LG_ABSENT || own == LG_ABSENT
                     ? snprintf(one + k, sizeof one - (size_t)k, "%s-", l ? "," : "@")
                     : snprintf(one + k, sizeof one - (size_t)k, "%s%d", l ? "," : "@", id - own);
        }
        if (n + (size_t)k + 4 >= size) {
            snprintf(out + n, size - n, " ..");
            break;
        }
        memcpy(out + n, one, (size_t)k + 1);
        n += (size_t)k;
    }
    return count < 0 ? count : 0;
}

/* ---- The list ---------------------------------------------------------------------------------------- */

static int show_pair(struct listing *w, const struct source *s, const struct listed *known, int i,
                     const struct walk *k, lg_list_pair *p, lg_error *err)
{
    p->line[0] = line_of(s, known->example);
    p->line[1] = line_of(s, i);
    p->place = k->row + 1;
    put_answer(w, p->answer[0], sizeof p->answer[0], known->token, known->class);
    put_answer(w, p->answer[1], sizeof p->answer[1], k->right.token, k->right.class);
    return put_context(w, k->row, p->context, sizeof p->context, err);
}

/* Whether two answers are the same; a class that nothing read is learned from the other. */
static int agree(struct listed *known, const struct listed *other)
{
    int same = known->token == other->token;
    for (int l = 0; l < LG_LEVELS && same; l++) {
        if (known->class[l] == LG_NONE) known->class[l] = other->class[l];
        same = other->class[l] == LG_NONE || known->class[l] == other->class[l];
    }
    return same;
}

/* Example i joins the list. */
static int list_example(struct listing *w, const struct source *s, int i, lg_error *err)
{
    lg_list *c = w->c;
    const int32_t *number = w->number.data;
    int e, odd = 0;
    struct walk k = {.row = w->x.answer - 2};
    while ((e = step(w, &k, err)) > 0) {
        int which = number[k.row - w->x.answer + 1];
        c->positions++;
        if (which == w->count) {
            size_t size = ((size_t)w->count + 1) * sizeof(struct listed);
            if (size > w->list.size &&
                (e = lg__block_grow(&w->list, 2 * size, w->count > 0, "contexts", err)))
                return e;
            k.right.example = k.right.latest = i;
            *at(w, w->count++) = k.right;
            continue;
        }
        struct listed *known = at(w, which);
        known->several |= known->latest != i;
        known->latest = i;
        if (agree(known, &k.right)) continue;
        odd = 1;
        if (!known->contradicted && c->pairs < LG_LIST_PAIRS &&
            (e = show_pair(w, s, known, i, &k, &c->pair[c->pairs++], err)))
            return e;
        c->contradictions += !known->contradicted;
        known->contradicted = 1;
    }
    c->contradicting += odd;
    return e;
}

static void tell(const struct listing *w, int done, int all)
{
    if (w->o->progress && (done % TELL == 0 || done == all))
        w->o->progress(w->o->context, "reading examples", done, all);
}

static int make_list(struct listing *w, const struct source *s, lg_error *err)
{
    double most = w->o->most > 0 ? w->o->most : 1e7;
    int e = 0;
    for (int i = 0; i < s->count && !e; i++) {
        e = read_example(w, s, i, 1, err);
        if (!e) e = list_example(w, s, i, err);
        if (!e && w->count > most)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%d examples have %d contexts, over the most of %.3g; take fewer examples "
                         "or a narrower window, or allow more (certify --max-contexts)",
                         i + 1, w->count, most);
        tell(w, i + 1, s->count);
    }
    w->c->examples = s->count;
    w->c->contexts = w->count;
    w->c->lines = s->lines;
    return e ? e : lg__lookup_run(&w->lookup, err);
}

/* Examples that have a context for themselves. */
static int count_alone(struct listing *w, lg_error *err)
{
    unsigned char *alone = lg__alloc((size_t)w->c->examples + 1);
    if (!alone) return lg__fail(err, LG_ERROR_MEMORY, "no memory for examples; take fewer");
    for (int i = 0; i < w->count; i++)
        if (!at(w, i)->several) alone[at(w, i)->example] = 1;
    for (int64_t i = 0; i < w->c->examples; i++) w->c->alone += alone[i];
    free(alone);
    return 0;
}

/* Fresh examples: those that leave the list, and those that contradict it. */
static int compare(struct listing *w, const struct source *s, lg_error *err)
{
    int e = 0;
    for (int i = 0; i < s->count && !e; i++) {
        int left = 0, odd = 0;
        struct walk k;
        if ((e = read_example(w, s, i, 0, err))) return e;
        for (k = (struct walk){.row = w->x.answer - 2}; (e = step(w, &k, err)) > 0;) {
            int which = ((int32_t *)w->number.data)[k.row - w->x.answer + 1];
            struct listed known = {0};
            if (which < w->count) known = *at(w, which);
            left |= which >= w->count;
            odd |= which < w->count && !agree(&known, &k.right);
        }
        w->c->left += left;
        w->c->disagree += odd;
        tell(w, i + 1, s->count);
    }
    w->c->fresh = s->count;
    return e;
}

/* ---- The model --------------------------------------------------------------------------------------- */

/* The lead of the right answer; not above 0: it is wrong. */
static double lead_of(const struct listed *x, const struct lg__said *said)
{
    double lead = said->token == x->token ? (double)said->lead : -1;
    for (int l = 0; l < LG_LEVELS && lead > 0; l++) {
        if (x->class[l] == LG_NONE) continue;
        double own = said->class[l] == x->class[l] ? (double)said->id_lead[l] : -1;
        if (!(own >= lead)) lead = own;
    }
    return lead;
}

/* The first place of the examples at which the model is wrong. All are generated anew up to there: a program
 * starts at its first only. */
static int show_wrong(struct listing *w, const struct source *s, int first, lg_error *err)
{
    lg_list_pair *p = &w->c->first_wrong;
    int e = 0;
    for (int i = s->lines ? at(w, first)->example : 0; i <= at(w, first)->example && !e; i++)
        e = read_example(w, s, i, 1, err);
    struct walk k = {.row = w->x.answer - 2};
    while (!e && (e = step(w, &k, err)) > 0) {
        e = 0;
        if (((int32_t *)w->number.data)[k.row - w->x.answer + 1] != first) continue;
        const struct lg__said *said = lg__lookup_said(&w->lookup, first);
        p->line[0] = p->line[1] = line_of(s, at(w, first)->example);
        p->place = k.row + 1;
        put_answer(w, p->answer[0], sizeof p->answer[0], k.right.token, k.right.class);
        int32_t class[LG_LEVELS];
        for (int l = 0; l < LG_LEVELS; l++)
            class[l] = k.right.class[l] == LG_NONE ? LG_NONE : said->class[l];
        put_answer(w, p->answer[1], sizeof p->answer[1], said->token, class);
        return put_context(w, k.row, p->context, sizeof p->context, err);
    }
    return e;
}

static int judge_list(struct listing *w, const struct source *s, lg_error *err)
{
    int first = -1;
    for (int i = 0; i < w->count; i++) {
        if (at(w, i)->contradicted) continue;
        double lead = lead_of(at(w, i), lg__lookup_said(&w->lookup, i));
        if (lead > 0) {
            w->c->min_margin = fmin(w->c->min_margin, lead);
            continue;
        }
        w->c->wrong++;
        if (first < 0) first = i;
    }
    w->c->certified = !w->c->wrong && !w->c->contradictions;
    return first < 0 ? 0 : show_wrong(w, s, first, err);
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static int open_task(struct listing *w, const char *name, lg_task **task, lg_error *err)
{
    *task = w->run.task;
    int e = name ? lg__run_other_task(&w->run, name, NULL, task, err) : 0;
    if (!e) e = lg_plan_open(&w->plan, &w->run.scheme, *task, err);
    return e;
}

static void close_task(struct listing *w, lg_task *task)
{
    if (task != w->run.task) lg_task_free(task);
}

static int compare_fresh(struct listing *w, lg_error *err)
{
    lg_task *task = NULL;
    struct source s;
    int e = open_task(w, w->o->fresh, &task, err);
    if (!e) e = open_source(w, task, &s, err);
    if (!e && !s.lines) s.draw.stream = LG__STREAM_FRESH; /* others than those of the list */
    if (!e) e = compare(w, &s, err);
    close_task(w, task);
    return e;
}

int lg_certify_list(const lg_list_options *o, lg_list *c, lg_error *err)
{
    lg_error own, warning = {0};
    struct listing *w = lg__alloc(sizeof *w);
    struct source s = {0};
    if (!err) err = &own;
    *c = (lg_list){.min_margin = INFINITY, .isa = lg_isa()};
    if (!w) return lg__fail(err, LG_ERROR_MEMORY, "no memory to certify; end other programs");
    w->o = o;
    w->c = c;
    lg_example_init(&w->x);
    int e = lg__run_open_folder(&w->run, o->folder, &o->access, &warning, err);
    snprintf(c->warning, sizeof c->warning, "%s", warning.text);
    if (!e) e = lg__unfold_check(&w->run, err);
    if (!e) snprintf(c->data, sizeof c->data, "%s", o->data ? o->data : w->run.config.task);
    if (!e) e = open_task(w, o->data, &w->task, err);
    if (!e) e = open_source(w, w->task, &s, err);
    if (!e) e = lg__lookup_open(&w->lookup, w->run.model, o->threads, err);
    if (!e) e = make_list(w, &s, err);
    if (!e) e = count_alone(w, err);
    if (!e) e = judge_list(w, &s, err);
    if (!e && o->fresh) e = compare_fresh(w, err);
    c->certified &= !e;
    if (!e) {
        c->step = w->run.step;
        c->isa = lg_model_isa(w->run.model);
    }
    close_task(w, w->task);
    lg__lookup_clear(&w->lookup);
    lg__block_free(&w->list);
    lg__block_free(&w->ids);
    lg__block_free(&w->number);
    lg_example_clear(&w->x);
    lg__run_close(&w->run);
    free(w);
    return e;
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static json_t *pair_json(const lg_list_pair *p, const char *first, const char *second)
{
    return json_pack("{s:[I,I], s:i, s:s, s:s, s:s}", "lines", (json_int_t)p->line[0],
                     (json_int_t)p->line[1], "after_token", p->place, first, p->answer[0], second,
                     p->answer[1], "context", p->context);
}

char *lg_list_json(const lg_list *c)
{
    char build[200];
    snprintf(build, sizeof build, "%s, %s", lg_commit(), lg_compiler());
    int judged = isfinite(c->min_margin);
    json_t *pairs = json_array(), *wrong = json_null();
    int whole = pairs != NULL;
    for (int i = 0; i < c->pairs; i++)
        whole &= json_array_append_new(pairs, pair_json(&c->pair[i], "first", "second")) == 0;
    if (c->wrong) wrong = pair_json(&c->first_wrong, "right", "said");
    json_t *all = json_pack(
        "{s:s, s:b, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:I, "
        "s:s, s:s}",
        "kind", "list", "certified", c->certified, "data", c->data, "examples",
        (json_int_t)c->examples, "positions", (json_int_t)c->positions, "contexts",
        (json_int_t)c->contexts, "wrong", (json_int_t)c->wrong, "min_margin",
        judged ? json_real(c->min_margin) : json_null(), "contradictions",
        (json_int_t)c->contradictions, "contradicting_examples", (json_int_t)c->contradicting,
        "pairs", pairs, "first_wrong", wrong, "alone", (json_int_t)c->alone, "fresh",
        c->fresh ? json_integer(c->fresh) : json_null(), "fresh_left",
        c->fresh ? json_integer(c->left) : json_null(), "fresh_disagree",
        c->fresh ? json_integer(c->disagree) : json_null(), "step", (json_int_t)c->step, "isa",
        c->isa, "build", build);
    char *text = whole && all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(all);
    return text;
}
