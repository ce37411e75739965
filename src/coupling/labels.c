/* labels.c: the labels that a rule gives, and a task that takes them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "coupling/coupling.h"

/* ---- One text ---------------------------------------------------------------------------- */

/* What a text is read into while its labels are written. */
struct reading {
    const struct lg__rule *rule;
    const lg_example *x;
    struct lg__place *place;
    int32_t *first;     /* [segments of the searched part] place of each segment's first token */
    int segments;       /* of the searched part */
    int seen, *seen_at; /* occurrences: their segments */
};

static int32_t axis_label(const struct lg__axis *a, const struct lg__place *p)
{
    int value = 0;
    if (a->by == LG__BY_NONE) return LG_ABSENT;
    if (a->by == LG__BY_NUMBER) value = a->from_end ? p->of - 1 - p->number : p->number;
    if (a->by == LG__BY_INDEX) value = a->from_end ? p->size - 1 - p->index : p->index;
    return a->plus + a->times * value;
}

static int is_fixed(const struct lg__rule *r, const struct lg__place *p)
{
    for (int i = 0; i < r->fixed; i++) {
        const struct lg__fixed_place *f = &r->fixed_at[i];
        int at = f->from_end ? p->size - 1 - p->index : p->index;
        if (f->part == p->part && at == f->at && p->index < p->size) return 1;
    }
    return 0;
}

static void list_segments(struct reading *w)
{
    const struct lg__find_rule *f = &w->rule->find;
    w->segments = w->seen = 0;
    for (int i = 0; i < w->x->answer; i++) {
        const struct lg__place *p = &w->place[i];
        if (p->part != f->part || p->index || p->number >= p->of || p->size < 1) continue;
        w->first[w->segments] = i;
        if (f->kind == LG__FIND_OCCURRENCE && w->x->tokens[i + f->at] == f->word.token)
            w->seen_at[w->seen++] = w->segments;
        w->segments++;
    }
}

/* The segment that group `group`, whose first token is at `start`, belongs to; the latest of several. */
static int find_segment(const struct reading *w, int group, int start, int before)
{
    const struct lg__find_rule *f = &w->rule->find;
    if (f->kind == LG__FIND_OCCURRENCE) {
        int at = group + f->plus;
        return at < 0 ? 0 : at < w->seen ? w->seen_at[at] : w->segments;
    }
    int32_t wanted = start - f->back >= 0 ? w->x->tokens[start - f->back] : LG_NONE;
    for (int i = w->segments - 1; i >= 0; i--)
        if (w->first[i] + f->at != start - f->back && w->x->tokens[w->first[i] + f->at] == wanted)
            return i;
    return before;
}

/* Labels by search: group by group; what is before the first group has one less than the first segment. */
static void label_found(const struct reading *w, const struct lg__rule_level *l, int32_t *label)
{
    const struct lg__cutting *c = &w->rule->structure.answer;
    int width = c->cut == LG__CUT_WIDTH ? c->width : 1, found = -1;
    for (int i = w->x->answer; i < w->x->n; i++) {
        int at = (i - w->x->answer) % width;
        if (at == 0) found = find_segment(w, (i - w->x->answer) / width, i, found);
        label[i] = l->phase[at] == LG_ABSENT
                       ? LG_ABSENT
                       : l->answer.plus + l->answer.times * found + l->phase[at];
    }
}

static void label_level(const struct reading *w, const struct lg__rule_level *l, int32_t *label)
{
    const lg_example *x = w->x;
    int by_width = w->rule->structure.answer.cut == LG__CUT_WIDTH;
    for (int i = 0; i < x->n; i++) {
        const struct lg__place *p = &w->place[i];
        const struct lg__axis *a = p->part < 0 ? &l->answer : &l->part[p->part];
        if (is_fixed(w->rule, p)) {
            label[i] = l->fixed;
            continue;
        }
        if (a->by == LG__BY_FIND) { /* what stands before the answer; the rest is found */
            label[i] = a->plus - a->times;
            continue;
        }
        label[i] = axis_label(a, p);
        if (p->part >= 0 || !by_width || label[i] == LG_ABSENT) continue;
        int more = l->phase[p->index];
        label[i] = more == LG_ABSENT ? LG_ABSENT : label[i] + more;
    }
    if (l->answer.by == LG__BY_FIND) label_found(w, l, label);
}

/* Labels of a text start at 0: only their differences matter. */
static void shift(int32_t *label, int n)
{
    int32_t least = INT32_MAX;
    for (int i = 0; i < n; i++)
        if (label[i] != LG_ABSENT && label[i] < least) least = label[i];
    for (int i = 0; i < n; i++)
        if (label[i] != LG_ABSENT) label[i] -= least;
}

int lg__rule_label(const struct lg__rule *r, lg_example *x, lg_error *err)
{
    struct reading w = {.rule = r, .x = x};
    size_t n = (size_t)x->n + 1;
    char *memory = lg__alloc(n * (sizeof *w.place + sizeof *w.first + sizeof *w.seen_at));
    if (!memory)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the places of %d tokens", x->n);
    w.place = (struct lg__place *)memory;
    w.first = (int32_t *)(w.place + n);
    w.seen_at = (int *)(w.first + n);
    int e = lg__structure_places(&r->structure, x, w.place, err);
    if (!e && r->find.kind) list_segments(&w);
    for (int l = 0; l < LG_LEVELS && !e; l++) {
        if (l < r->levels) {
            label_level(&w, &r->level[l], x->labels[l]);
            shift(x->labels[l], x->n);
        } else
            for (int i = 0; i < x->n; i++) x->labels[l][i] = LG_ABSENT;
    }
    free(memory);
    return e;
}

/* ---- Words -------------------------------------------------------------------------------- */

static int resolve(struct lg__rule_word *w, const lg_task *t, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    for (int i = 0; i < shape->vocab; i++)
        if (strcmp(shape->words[i], w->text) == 0) {
            w->token = i;
            return 0;
        }
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "the coupling's rule has the word \"%s\", which task %s does not have; take "
                    "the rule of such data, or find one (lengthen couple)",
                    w->text, shape->info->name);
}

int lg__rule_resolve(struct lg__rule *r, const lg_task *t, lg_error *err)
{
    struct lg__structure *s = &r->structure;
    int e = 0;
    for (int k = 0; k < s->separators && !e; k++) e = resolve(&s->separator[k], t, err);
    for (int k = 0; k <= s->separators && !e; k++)
        if (s->part[k].cut == LG__CUT_WORD) e = resolve(&s->part[k].word, t, err);
    if (!e && s->answer.cut == LG__CUT_WORD) e = resolve(&s->answer.word, t, err);
    if (!e && r->find.kind == LG__FIND_OCCURRENCE) e = resolve(&r->find.word, t, err);
    return e;
}

/* ---- A task with a rule -------------------------------------------------------------------- */

struct coupled {
    struct lg__labeller labeller; /* first */
    struct lg__rule rule;
};

static int label(const struct lg__labeller *l, lg_example *x, lg_error *err)
{
    return lg__rule_label(&((const struct coupled *)l)->rule, x, err);
}

static struct lg__labeller *copy(const struct lg__labeller *l)
{
    struct coupled *c = lg__alloc(sizeof *c);
    if (c) *c = *(const struct coupled *)l;
    return c ? &c->labeller : NULL;
}

static const struct lg__labeller like = {label, copy, {""}};

const struct lg__rule *lg__task_rule(const lg_task *t)
{
    return t->labeller ? &((const struct coupled *)t->labeller)->rule : NULL;
}

void lg__steps_add(struct lg__steps *s, const lg_example *x, int levels)
{
    for (int l = 0; l < levels; l++) {
        int32_t before = LG_ABSENT, least = INT32_MAX, most = 0;
        int step = 0;
        for (int i = 0; i < x->n; i++) {
            int32_t at = x->labels[l][i];
            if (at == LG_ABSENT) continue;
            if (i >= x->answer && before != LG_ABSENT && abs(at - before) > step)
                step = abs(at - before);
            if (at < least) least = at;
            if (at > most) most = at;
            before = at;
        }
        if (before == LG_ABSENT) continue;
        int range = most - least < LG__STEP_RANGES ? most - least : LG__STEP_RANGES - 1;
        if (s->most[l][range] < step + 1) s->most[l][range] = step + 1;
    }
}

int lg__steps_reach(const struct lg__steps *s, int level)
{
    int first = -1, last = 0, most[2] = {0};
    for (int r = 0; r < LG__STEP_RANGES; r++) {
        if (!s->most[level][r]) continue;
        if (first < 0) first = r;
        last = r;
    }
    for (int r = 0; r < LG__STEP_RANGES; r++) {
        int upper = 2 * r > first + last;
        if (s->most[level][r] - 1 > most[upper]) most[upper] = s->most[level][r] - 1;
    }
    if (most[1] > most[0] + 1) return 0;
    int reach = most[0] > most[1] ? most[0] : most[1];
    return reach ? reach : 1;
}

/* Levels without which a token has no label. */
static void count_needed(int *needed, const lg_example *x, int levels)
{
    for (int i = 0; i < x->n && *needed < levels; i++) {
        int l = 0;
        while (l < levels - 1 && x->labels[l][i] == LG_ABSENT) l++;
        if (*needed < l + 1) *needed = l + 1;
    }
}

enum { LOOKS = 400 };

static int survey(lg_task *t, int lo, int hi, struct lg__steps *steps, lg_error *err)
{
    int e = 0, lines = lg__task_has_lines(t);
    lg_example x;
    lg_example_init(&x);
    if (!lo || lines) {
        lo = t->shape.length_least;
        hi = t->shape.length_most;
        if (!lines && hi > lo + 11) hi = lo + 11;
    }
    lg_draw d = {.length_lo = lo, .length_hi = hi};
    for (int i = 0; i < LOOKS && !e; i++) {
        d.index = (uint64_t)i;
        e = lg_task_example(t, &d, &x, err);
        if (e) break;
        lg__steps_add(steps, &x, t->shape.levels);
        count_needed(&t->shape.needed, &x, t->shape.levels);
    }
    lg_example_clear(&x);
    return e;
}

int lg__task_couple(lg_task *t, const struct lg__rule *r, int lo, int hi, lg_error *err)
{
    struct coupled *c = lg__alloc(sizeof *c);
    struct lg__steps *steps = lg__alloc(sizeof *steps);
    if (!c || !steps) {
        free(c);
        free(steps);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for a coupling's rule");
    }
    c->labeller = like;
    c->rule = *r;
    int e = lg__rule_resolve(&c->rule, t, err);
    if (e) {
        free(c);
        free(steps);
        return e;
    }
    free(t->labeller);
    t->labeller = &c->labeller;
    t->shape.levels = r->levels;
    for (int l = 0; l < LG_LEVELS; l++) {
        snprintf(c->labeller.level[l], sizeof c->labeller.level[l], "%s", r->level[l].name);
        t->shape.level[l] = c->labeller.level[l];
    }
    t->shape.needed = 1;
    if (strcmp(t->row->info.name, "exec") != 0) e = survey(t, lo, hi, steps, err);
    for (int l = 0; l < r->levels; l++) t->shape.reach[l] = lg__steps_reach(steps, l);
    free(steps);
    return e;
}
