/* address.c: what a token of the answer may read (find.h, 2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupling/find.h"

/* ---- Views ------------------------------------------------------------------------------------ */

static int make_extent(struct lg__extent *e, const struct lg__cutting *c, const int32_t *tokens,
                       int start, int end)
{
    int n = end - start;
    *e = (struct lg__extent){start, end, n, 1, 0};
    if (c->cut == LG__CUT_WIDTH) {
        e->size = e->stride = c->width;
        e->of = n / c->width;
        return n % c->width == 0;
    }
    if (c->cut != LG__CUT_WORD) return 1;
    e->size = 0;
    while (start + e->size < end && tokens[start + e->size] != c->word.token) e->size++;
    e->stride = e->size + 1;
    if ((n + 1) % e->stride) return 0;
    e->of = (n + 1) / e->stride;
    for (int i = 0; i < n; i++)
        if ((tokens[start + i] == c->word.token) != (i % e->stride == e->size)) return 0;
    return 1;
}

int lg__view_make(struct lg__view *v, const struct lg__structure *s, const lg_example *x)
{
    int from = 0, stop = 0;
    struct lg__extent *answer = &v->part[LG__PARTS + 1];
    v->x = x;
    for (int k = 0; k <= s->separators; k++) {
        int at = from;
        while (k < s->separators && at < x->answer && x->tokens[at] != s->separator[k].token) at++;
        if (k < s->separators && at == x->answer) return 0;
        if (k == s->separators) at = x->answer;
        if (!make_extent(&v->part[k], &s->part[k], x->tokens, from, at)) return 0;
        from = at + 1;
    }
    if (s->answer.cut == LG__CUT_WORD) { /* a last word that ends it is no part of a segment */
        int size = 0;
        while (x->answer + size < x->n && x->tokens[x->answer + size] != s->answer.word.token)
            size++;
        stop = (x->n - x->answer + 1) % (size + 1) != 0 || size == x->n - x->answer;
    }
    if (s->answer.cut == LG__CUT_WIDTH) {
        int n = x->n - x->answer;
        *answer = (struct lg__extent){x->answer, x->n, s->answer.width,
                                      (n + s->answer.width - 1) / s->answer.width, s->answer.width};
        return 1;
    }
    if (!make_extent(answer, &s->answer, x->tokens, x->answer, x->n - stop)) return 0;
    answer->end = x->n;
    return 1;
}

/* ---- Reading ----------------------------------------------------------------------------------- */

/* The answer's token t as segment number, index in it, and the step that addresses count by. */
struct step {
    int number, index, step, group; /* group: place of its first token */
};

static struct step step_of(const struct lg__structure *s, const struct lg__view *v, int t)
{
    const struct lg__extent *a = &v->part[LG__PARTS + 1];
    int i = t - a->start;
    if (s->answer.cut == LG__CUT_WIDTH)
        return (struct step){i / a->size, i % a->size, i / a->size, t - i % a->size};
    if (s->answer.cut == LG__CUT_WORD) /* what comes behind a segment is its end, whatever it is */
        return (struct step){i / a->stride, i % a->stride, i % a->stride, t};
    return (struct step){0, i, i, t};
}

static int cell(const struct lg__extent *p, int number, int index, int *at)
{
    if (number < 0 || number >= p->of) return LG__NO_SEGMENT;
    if (index < 0) return LG__NO_START;
    if (index >= p->size) return LG__NO_END;
    *at = p->start + number * p->stride + index;
    return 0;
}

static int found_segment(const struct lg__address *a, const struct lg__view *v,
                         const struct step *p)
{
    const struct lg__extent *e = &v->part[a->part];
    int size = e->stride ? e->stride : 1, of = e->stride ? e->of : e->size, seen = 0;
    if (a->kind == LG__AT_OCCURRENCE) {
        for (int i = 0; i < of; i++)
            if (v->x->tokens[e->start + i * size + a->at] == a->word && seen++ == p->step + a->d)
                return i;
        return -1;
    }
    int ref = p->group - a->back;
    if (ref < 0) return -1;
    for (int i = of - 1; i >= 0; i--) {
        int at = e->start + i * size + a->at;
        if (at != ref && v->x->tokens[at] == v->x->tokens[ref]) return i;
    }
    return -1;
}

/* 0 and the place, or why there is none. */
static int resolve(const struct lg__address *a, const struct lg__structure *s,
                   const struct lg__view *v, int t, int *at)
{
    const struct lg__extent *p = &v->part[a->part];
    struct step q = step_of(s, v, t);
    int why, index;
    switch (a->kind) {
    case LG__AT_BACK:
        *at = t - a->d;
        if (s->answer.cut == LG__CUT_WORD && q.index - a->d < -1) return LG__NO_START;
        return *at >= v->x->answer - 1 && *at >= 0 ? 0 : LG__NO_START;
    case LG__AT_LINE:
        index = a->times * q.step + a->d;
        return cell(p, 0, a->from_end ? p->size - 1 - index : index, at);
    case LG__AT_FIXED: return cell(p, 0, a->from_end ? p->size - 1 - a->d : a->d, at);
    case LG__AT_BEFORE:
        why = cell(&v->part[LG__PARTS + 1], q.number - a->e, q.index + a->d, at);
        return why ? why : *at < t ? 0 : LG__NO_END;
    case LG__AT_HAS:
    case LG__AT_CELL:
        index = a->kind == LG__AT_HAS ? 0 : q.index + a->d;
        return cell(p, q.number + a->e, a->from_end ? p->size - 1 - index : index, at);
    case LG__AT_RECORD:
        index = q.step + a->d;
        return cell(p, a->from_end ? p->of - 1 - index : index, a->at, at);
    default: break;
    }
    int found = found_segment(a, v, &q);
    if (found < 0) return LG__NO_SEGMENT;
    if (p->stride) return cell(p, found, a->e, at);
    return cell(p, 0, found + a->e, at);
}

int32_t lg__address_read(const struct lg__address *a, const struct lg__structure *s,
                         const struct lg__view *v, int t)
{
    int at = 0, why = resolve(a, s, v, t, &at);
    if (why) return why;
    return a->kind == LG__AT_HAS ? LG__IS_THERE : v->x->tokens[at];
}

int lg__address_place(const struct lg__address *a, const struct lg__structure *s,
                      const struct lg__view *v, int t)
{
    int at = -1;
    struct lg__address near = *a;
    if (a->kind == LG__AT_HAS) { /* any of its tokens does: one beside the reader */
        near.kind = LG__AT_CELL;
        near.d = -1;
    }
    return resolve(&near, s, v, t, &at) ? -1 : at;
}

/* ---- The list ---------------------------------------------------------------------------------- */

struct list {
    struct lg__address *at;
    int n, room;
};

static void add(struct list *l, struct lg__address a)
{
    if (!a.times) a.times = 1;
    if (l->n < l->room) l->at[l->n++] = a;
}

static void add_line(struct list *l, const struct lg__structure *s, int k)
{
    int width = s->answer.cut == LG__CUT_WIDTH ? s->answer.width : 1;
    int low = width > 1 ? -1 : -3, high = width > 1 ? width : 3;
    for (int from_end = 0; from_end < 2; from_end++)
        for (int times = 1; times <= width; times++)
            for (int d = low; d <= high; d++)
                add(l, (struct lg__address){.kind = LG__AT_LINE,
                                            .part = k,
                                            .from_end = from_end,
                                            .times = times,
                                            .d = d});
}

static void add_fixed(struct list *l, int k)
{
    for (int from_end = 0; from_end < 2; from_end++)
        for (int d = 0; d < 2; d++)
            add(l, (struct lg__address){
                       .kind = LG__AT_FIXED, .part = k, .from_end = from_end, .d = d});
}

static void add_cells(struct list *l, int k)
{
    for (int e = -1; e <= 1; e++) {
        add(l, (struct lg__address){.kind = LG__AT_HAS, .part = k, .e = e});
        for (int from_end = 0; from_end < 2; from_end++)
            for (int d = -2; d <= 1; d++)
                add(l, (struct lg__address){
                           .kind = LG__AT_CELL, .part = k, .e = e, .from_end = from_end, .d = d});
    }
}

static void add_records(struct list *l, int k, int width)
{
    for (int from_end = 0; from_end < 2; from_end++)
        for (int at = 0; at < width; at++)
            for (int d = -2; d <= 2; d++)
                add(l,
                    (struct lg__address){
                        .kind = LG__AT_RECORD, .part = k, .from_end = from_end, .at = at, .d = d});
}

/* Words that few enough stand at an index of the part's segments. */
static int words_at(const struct lg__examples *lines, const struct lg__structure *s, int k, int at,
                    int32_t words[4])
{
    int n = 0;
    struct lg__view v;
    for (int i = 0; i < lines->count && i < 400; i++) {
        if (!lg__view_make(&v, s, &lines->x[i])) continue;
        const struct lg__extent *e = &v.part[k];
        int size = e->stride ? e->stride : 1, of = e->stride ? e->of : e->size;
        for (int j = 0; j < of; j++) {
            int32_t w = v.x->tokens[e->start + j * size + at];
            int known = 0;
            while (known < n && words[known] != w) known++;
            if (known < n) continue;
            if (n == 4) return 0;
            words[n++] = w;
        }
    }
    return n;
}

static void add_found(struct list *l, const struct lg__examples *lines,
                      const struct lg__structure *s, int k)
{
    int by_width = s->part[k].cut == LG__CUT_WIDTH, width = by_width ? s->part[k].width : 1;
    int low = by_width ? 0 : -1, high = by_width ? width - 1 : 1;
    for (int at = 0; at < width; at++) {
        int32_t words[4];
        int n = words_at(lines, s, k, at, words);
        for (int e = low; e <= high; e++)
            for (int back = 1; back <= 2; back++)
                add(l, (struct lg__address){
                           .kind = LG__AT_MATCH, .part = k, .at = at, .back = back, .e = e});
        for (int w = 0; w < n && n > 1; w++)
            for (int e = low; e <= high; e++)
                add(l,
                    (struct lg__address){
                        .kind = LG__AT_OCCURRENCE, .part = k, .at = at, .word = words[w], .e = e});
    }
}

int lg__addresses_list(struct lg__address *list, int room, const struct lg__examples *lines,
                       const struct lg__structure *s, int phase)
{
    struct list l = {list, 0, room};
    int width = s->answer.cut == LG__CUT_WIDTH ? s->answer.width : 1;
    int backs = width > 1 ? width + phase % width + 1 : 3;
    for (int d = 1; d <= (backs > 3 ? backs : 3); d++)
        add(&l, (struct lg__address){.kind = LG__AT_BACK, .d = d});
    if (s->answer.cut == LG__CUT_WORD)
        for (int d = -2; d <= 1; d++)
            add(&l, (struct lg__address){.kind = LG__AT_BEFORE, .e = 1, .d = d});
    for (int k = 0; k <= s->separators; k++) {
        if (s->part[k].cut == LG__CUT_WHOLE) {
            add_line(&l, s, k);
            add_fixed(&l, k);
        }
        if (s->part[k].cut == LG__CUT_WORD && s->answer.cut == LG__CUT_WORD) add_cells(&l, k);
        if (s->part[k].cut == LG__CUT_WIDTH) add_records(&l, k, s->part[k].width);
        if (s->answer.cut != LG__CUT_WORD && s->part[k].cut != LG__CUT_WORD)
            add_found(&l, lines, s, k);
    }
    return l.n;
}

/* ---- Words -------------------------------------------------------------------------------------- */

double lg__address_cost(const struct lg__address *a)
{
    double cost = abs(a->d) + 0.1 * a->part + 0.2 * a->from_end + (a->times - 1);
    switch (a->kind) {
    case LG__AT_BACK: return 0.5 + 0.5 * a->d;
    case LG__AT_LINE:
    case LG__AT_RECORD: return 1 + cost;
    case LG__AT_FIXED: return 2 + cost;
    case LG__AT_BEFORE:
    case LG__AT_CELL:
    case LG__AT_HAS: return 1.5 + cost + abs(a->e);
    case LG__AT_MATCH: return 3 + cost + a->back;
    case LG__AT_OCCURRENCE: break;
    }
    return 4 + cost;
}

/* "i", "i+2", "n-1-i", "2q+1". */
static void put_count(lg_buffer *to, const char *axis, int times, int d, int from_end,
                      const char *all)
{
    char count[48];
    if (times > 1)
        snprintf(count, sizeof count, "%d%s", times, axis);
    else
        snprintf(count, sizeof count, "%s", axis);
    if (from_end) {
        lg_buffer_put(to, all);
        if (d >= 0) lg_buffer_print(to, "-%d", 1 + d);
        lg_buffer_print(to, "-%s", count);
        if (d < -1) lg_buffer_print(to, "+%d", -d - 1);
    } else if (d)
        lg_buffer_print(to, "%s%+d", count, d);
    else
        lg_buffer_put(to, count);
}

static void part_name(int k, char name[8]) { snprintf(name, 8, "%c", 'a' + k); }

void lg__address_words(const struct lg__address *a, const struct lg__structure *s,
                       const lg_task_shape *shape, lg_buffer *to)
{
    char name[8];
    const char *axis = s->answer.cut == LG__CUT_WIDTH ? "q" : "i";
    part_name(a->part, name);
    switch (a->kind) {
    case LG__AT_BACK:
        if (s->answer.cut == LG__CUT_WIDTH)
            lg_buffer_print(to, "the token %d back", a->d);
        else
            lg_buffer_print(to, "answer[i-%d]", a->d);
        return;
    case LG__AT_LINE:
        lg_buffer_print(to, "%s[", name);
        put_count(to, axis, a->times, a->d, a->from_end, "n");
        lg_buffer_put(to, "]");
        return;
    case LG__AT_FIXED:
        if (a->from_end)
            lg_buffer_print(to, "%s[n-%d]", name, 1 + a->d);
        else
            lg_buffer_print(to, "%s[%d]", name, a->d);
        return;
    case LG__AT_BEFORE:
        lg_buffer_print(to, "answer[g-%d][i", a->e);
        if (a->d) lg_buffer_print(to, "%+d", a->d);
        lg_buffer_put(to, "]");
        return;
    case LG__AT_CELL:
    case LG__AT_HAS:
        lg_buffer_print(to, "%s%s[g", a->kind == LG__AT_HAS ? "whether there is " : "", name);
        if (a->e) lg_buffer_print(to, "%+d", a->e);
        lg_buffer_put(to, "]");
        if (a->kind == LG__AT_HAS) return;
        lg_buffer_put(to, "[");
        put_count(to, "i", 1, a->d, a->from_end, "n");
        lg_buffer_put(to, "]");
        return;
    case LG__AT_RECORD:
        lg_buffer_print(to, "%s[", name);
        put_count(to, axis, 1, a->d, a->from_end, "n");
        lg_buffer_print(to, "][%d]", a->at);
        return;
    case LG__AT_MATCH:
        lg_buffer_print(to, "%s[j][%d] where %s[j][%d] is the token %d before the group", name,
                        a->e, name, a->at, a->back);
        return;
    case LG__AT_OCCURRENCE:
        lg_buffer_print(to, "%s[j][%d] of the %s-th j with %s[j][%d] = \"%s\"", name, a->e, axis,
                        name, a->at, shape->words[a->word]);
        return;
    }
}
