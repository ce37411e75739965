/* assign.c: levels of labels under which the addresses of a finding are neighbours (find.h, 4).
 *
 *   column   the axis that grows with the length: the answer's steps, and each part that is read step by
 *            step, counted from its start or its end so that what a step reads lies beside it. A token of the
 *            answer lies where it was read for, or, if that makes the window narrower and roles tell it from
 *            the rest, one further, beside what is read for the token behind it
 *   number   the number of a segment, where the answer is cut by a word
 *   found    the segment that a search in the prompt finds; a walk counts the groups beside it
 *   shared   one label for the answer and for the places that all of it reads
 *   role     tells parts and phases apart
 * Parts that nothing reads get a label that no window reaches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "coupling/find.h"

enum { AWAY = -8, LOOKS = 600, WIDEST = 12 };

static int refuse(lg_error *err, const char *why)
{
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s", why);
}

static int on_line(const struct lg__address *a)
{
    return a->kind == LG__AT_LINE || a->kind == LG__AT_RECORD || a->kind == LG__AT_CELL;
}

static int by_search(const struct lg__address *a)
{
    return a->kind == LG__AT_MATCH || a->kind == LG__AT_OCCURRENCE;
}

/* How one part is read. */
struct reading {
    int lines, from_end, times, most, least_e, most_e;
};

static int read_part(const struct lg__finding *f, int k, struct reading *r, lg_error *err)
{
    *r = (struct reading){.times = 1};
    for (int p = 0; p < f->slots; p++)
        for (int i = 0; i < f->slot[p].count; i++) {
            const struct lg__address *a = &f->slot[p].address[i];
            if (!on_line(a) || a->part != k) continue;
            if (r->lines && (a->from_end != r->from_end || a->times != r->times))
                return refuse(err,
                              "a part is read from both of its ends, or at two strides, so that "
                              "no label brings all that is read together");
            if (!r->lines || a->d > r->most) r->most = a->d;
            if (!r->lines || a->e < r->least_e) r->least_e = a->e;
            if (!r->lines || a->e > r->most_e) r->most_e = a->e;
            r->from_end = a->from_end;
            r->times = a->times;
            r->lines++;
        }
    return 0;
}

static struct lg__rule_level *new_level(struct lg__rule *r, const char *name)
{
    struct lg__rule_level *l = &r->level[r->levels++];
    memset(l, 0, sizeof *l);
    snprintf(l->name, sizeof l->name, "%s", name);
    for (int k = 0; k <= LG__PARTS; k++) l->part[k].times = 1;
    l->answer.times = 1;
    l->fixed = LG_ABSENT;
    return l;
}

/* Offsets of the phases: each token of the answer gets the label of what it reads. */
static void set_phases(const struct lg__finding *f, struct lg__rule_level *l)
{
    int last = 0;
    for (int p = 0; p < f->slots; p++) {
        int found = 0, most = 0;
        for (int i = 0; i < f->slot[p].count; i++) {
            const struct lg__address *a = &f->slot[p].address[i];
            if (!on_line(a)) continue;
            if (!found++ || a->d > most) most = a->d;
        }
        if (found) last = most;
        l->phase[p] = last;
    }
}

static int add_column(const struct lg__finding *f, struct lg__rule *r, const struct reading *read,
                      int ahead, lg_error *err)
{
    const struct lg__structure *s = &r->structure;
    struct lg__rule_level *l = new_level(r, "column");
    int by_width = s->answer.cut == LG__CUT_WIDTH, times = 0;
    for (int k = 0; k <= s->separators; k++) {
        if (!read[k].lines) {
            l->part[k] = (struct lg__axis){LG__BY_CONSTANT, 0, 1, AWAY};
            continue;
        }
        if (times && read[k].times != times)
            return refuse(err, "two parts are read at two strides");
        times = read[k].times;
        int number = s->part[k].cut == LG__CUT_WIDTH;
        l->part[k] = (struct lg__axis){number ? LG__BY_NUMBER : LG__BY_INDEX, read[k].from_end, 1,
                                       by_width ? 0 : -read[k].most};
    }
    l->answer.by = by_width ? LG__BY_NUMBER : LG__BY_INDEX;
    l->answer.times = times ? times : 1;
    l->answer.plus = ahead;
    if (by_width) set_phases(f, l);
    return 0;
}

static void add_number(const struct lg__finding *f, struct lg__rule *r, const struct reading *read)
{
    struct lg__rule_level *l = new_level(r, "number");
    int before = 0;
    for (int i = 0; i < f->slot[0].count; i++)
        before |= f->slot[0].address[i].kind == LG__AT_BEFORE;
    l->answer.by = LG__BY_NUMBER;
    for (int k = 0; k <= r->structure.separators; k++)
        if (read[k].lines && r->structure.part[k].cut == LG__CUT_WORD)
            l->part[k] = (struct lg__axis){LG__BY_NUMBER, 0, 1,
                                           before ? -read[k].least_e - 1 : -read[k].most_e};
}

/* The search of the finding; all of its searches must be one. */
static int set_find(const struct lg__finding *f, struct lg__rule *r, const lg_task_shape *shape,
                    lg_error *err)
{
    const struct lg__address *first = NULL;
    for (int p = 0; p < f->slots; p++)
        for (int i = 0; i < f->slot[p].count; i++) {
            const struct lg__address *a = &f->slot[p].address[i];
            if (!by_search(a)) continue;
            if (first && (a->kind != first->kind || a->part != first->part || a->at != first->at ||
                          a->back != first->back || a->word != first->word || a->d != first->d))
                return refuse(err, "the answer makes two searches in the prompt at once");
            first = a;
        }
    if (!first) return 0;
    struct lg__cutting *c = &r->structure.part[first->part];
    if (c->cut == LG__CUT_WHOLE) *c = (struct lg__cutting){.cut = LG__CUT_WIDTH, .width = 1};
    r->find = (struct lg__find_rule){.kind = first->kind == LG__AT_MATCH ? LG__FIND_MATCH
                                                                         : LG__FIND_OCCURRENCE,
                                     .part = first->part,
                                     .at = first->at,
                                     .back = first->back,
                                     .plus = first->d};
    if (first->kind == LG__AT_OCCURRENCE) lg__rule_word_set(&r->find.word, shape, first->word);
    return 0;
}

static int searches(const struct lg__slot *s)
{
    int n = 0;
    for (int i = 0; i < s->count; i++) n += by_search(&s->address[i]);
    return n;
}

static void add_found(const struct lg__finding *f, struct lg__rule *r)
{
    struct lg__rule_level *l = new_level(r, "found");
    l->answer = (struct lg__axis){LG__BY_FIND, 0, 1, 0};
    for (int k = 0; k <= r->structure.separators; k++)
        l->part[k] = k == r->find.part ? (struct lg__axis){LG__BY_NUMBER, 0, 1, 0}
                                       : (struct lg__axis){LG__BY_CONSTANT, 0, 1, -1};
    for (int p = 0; p < f->slots; p++)
        if (!searches(&f->slot[p]) && !searches(&f->slot[(p + 1) % f->slots]))
            l->phase[p] = LG_ABSENT;
}

/* Groups that read earlier groups. */
static int walks(const struct lg__finding *f)
{
    for (int p = 0; p < f->slots; p++)
        for (int i = 0; i < f->slot[p].count; i++) {
            const struct lg__address *a = &f->slot[p].address[i];
            if (a->kind == LG__AT_BACK && a->d > 1 && a->d > p) return 1;
        }
    return 0;
}

static int set_fixed(const struct lg__finding *f, struct lg__rule *r, lg_error *err)
{
    for (int p = 0; p < f->slots; p++)
        for (int i = 0; i < f->slot[p].count; i++) {
            const struct lg__address *a = &f->slot[p].address[i];
            int k = 0;
            if (a->kind != LG__AT_FIXED) continue;
            while (k < r->fixed && (r->fixed_at[k].part != a->part || r->fixed_at[k].at != a->d ||
                                    r->fixed_at[k].from_end != a->from_end))
                k++;
            if (k == LG__FIXED) return refuse(err, "too many fixed places are read");
            r->fixed_at[k] = (struct lg__fixed_place){a->part, a->from_end, a->d};
            if (k == r->fixed) r->fixed++;
        }
    return 0;
}

static void add_roles(struct lg__rule *r)
{
    struct lg__rule_level *l = new_level(r, "role");
    int next = 0;
    for (int k = 0; k <= r->structure.separators; k++) {
        const struct lg__cutting *c = &r->structure.part[k];
        int narrow = c->cut == LG__CUT_WIDTH;
        l->part[k] = (struct lg__axis){narrow ? LG__BY_INDEX : LG__BY_CONSTANT, 0, 1, next};
        next += narrow ? c->width : 1;
    }
    l->fixed = next;
    next += r->fixed > 0;
    l->answer = (struct lg__axis){LG__BY_CONSTANT, 0, 1, next};
    for (int p = 0; p < r->structure.answer.width; p++) l->phase[p] = p;
}

static int add_levels(const struct lg__finding *f, const struct lg__examples *lines, int roles,
                      int ahead, struct lg__rule *r, lg_error *err)
{
    struct reading read[LG__PARTS + 1];
    int aligned = 0, e = set_find(f, r, lines->shape, err);
    for (int k = 0; k <= f->structure.separators && !e; k++) {
        e = read_part(f, k, &read[k], err);
        aligned += read[k].lines;
    }
    if (!e) e = set_fixed(f, r, err);
    if (e) return e;
    if (r->find.kind) add_found(f, r);
    int group = f->structure.answer.cut == LG__CUT_WIDTH;
    if (aligned || !r->find.kind) {
        if ((e = add_column(f, r, read, ahead, err))) return e;
    } else if (!group || walks(f)) { /* what the search reaches has its own level */
        struct lg__rule_level *l = new_level(r, "walk");
        l->answer.by = group ? LG__BY_NUMBER : LG__BY_INDEX;
    }
    if (f->structure.answer.cut == LG__CUT_WORD) add_number(f, r, read);
    if (r->levels + (r->fixed > 0) + roles > LG_LEVELS)
        return refuse(err, "it needs more than 3 levels of labels");
    if (r->fixed) {
        struct lg__rule_level *l = new_level(r, "shared");
        l->fixed = 0;
        l->answer.by = LG__BY_CONSTANT;
    }
    if (roles) add_roles(r);
    return 0;
}

/* ---- The window --------------------------------------------------------------------------------- */

struct hull {
    int lo[LG_LEVELS], hi[LG_LEVELS];
    int reads, unseen;
    struct lg__steps steps;
};

/* What row t - 1 must see to predict token t. */
static void widen(struct hull *h, const struct lg__rule *r, const lg_example *x, int from, int to)
{
    int common = 0;
    for (int l = 0; l < r->levels; l++) {
        int32_t a = x->labels[l][from], b = x->labels[l][to];
        if (a == LG_ABSENT || b == LG_ABSENT) continue;
        common++;
        if (b - a < h->lo[l]) h->lo[l] = b - a;
        if (b - a > h->hi[l]) h->hi[l] = b - a;
    }
    h->reads++;
    h->unseen += !common;
}

static int measure(const struct lg__finding *f, const struct lg__examples *lines,
                   const struct lg__rule *r, struct hull *h, lg_error *err)
{
    int looked = 0, e = 0;
    for (int i = 0; i < lines->count && looked < LOOKS && !e; i++) {
        lg_example *x = &lines->x[i];
        struct lg__view v;
        if (!lg__view_make(&v, &f->structure, x)) continue;
        looked++;
        if ((e = lg__rule_label(r, x, err))) return e;
        lg__steps_add(&h->steps, x, r->levels);
        for (int t = x->answer; t < x->n; t++) {
            const struct lg__slot *s =
                &f->slot[f->structure.answer.cut == LG__CUT_WIDTH ? (t - x->answer) % f->slots : 0];
            for (int k = 0; k < s->count; k++) {
                int at = lg__address_place(&s->address[k], &f->structure, &v, t);
                /* that there is nothing yet shows without what stands before the answer */
                if (at >= 0 && (at >= x->answer || at < x->answer - 1 || t == x->answer))
                    widen(h, r, x, t - 1, at);
            }
        }
    }
    return e;
}

static int fill(const struct lg__finding *f, const struct lg__examples *lines, int ahead,
                struct hull *h, struct lg__assignment *a, lg_error *err)
{
    int e = add_levels(f, lines, a->roles, ahead, &a->rule, err);
    if (!e) e = measure(f, lines, &a->rule, h, err);
    if (e) return e;
    if (h->unseen > h->reads / 50)
        return refuse(err, "some of what is read shares no level with its reader");
    a->reach = 1;
    for (int l = 0; l < a->rule.levels; l++) {
        a->lo[l] = h->lo[l];
        a->hi[l] = h->hi[l];
        if (a->hi[l] - a->lo[l] > WIDEST)
            return refuse(err, "what is read lies further apart in longer lines, so that no window "
                               "holds it");
        int reach = lg__steps_reach(&h->steps, l);
        a->grows[l] = !reach;
        if (reach > a->reach) a->reach = reach;
    }
    return 0;
}

static int assign(const struct lg__finding *f, const struct lg__examples *lines, int roles,
                  int ahead, struct lg__assignment *a, lg_error *err)
{
    struct hull *h = lg__alloc(sizeof *h);
    *a = (struct lg__assignment){.roles = roles};
    a->rule.structure = f->structure;
    a->seen = 1;
    for (int p = 0; p < f->slots; p++)
        if (f->slot[p].seen < a->seen) a->seen = f->slot[p].seen;
    int e = h ? fill(f, lines, ahead, h, a, err)
              : lg__fail(err, LG_ERROR_MEMORY, "no memory for a coupling's rule");
    free(h);
    return e;
}

static int width(const struct lg__assignment *a)
{
    int sum = 0;
    for (int l = 0; l < a->rule.levels; l++) sum += a->hi[l] - a->lo[l];
    return sum;
}

int lg__assign(const struct lg__finding *f, const struct lg__examples *lines, int roles,
               struct lg__assignment *a, lg_error *err)
{
    lg_buffer b = {0};
    int e = assign(f, lines, roles, 0, a, err);
    if (e) return e;
    if (roles && f->structure.answer.cut == LG__CUT_WHOLE) {
        struct lg__assignment *other = lg__alloc(sizeof *other);
        lg_error why;
        if (!other) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a coupling's rule");
        if (!assign(f, lines, roles, 1, other, &why) && width(other) < width(a)) *a = *other;
        free(other);
    }
    lg__finding_words(f, lines->shape, &b);
    char *text = lg_buffer_take(&b, err);
    if (!text) return LG_ERROR_MEMORY;
    snprintf(a->rule.reads, sizeof a->rule.reads, "%s", text);
    free(text);
    return 0;
}
