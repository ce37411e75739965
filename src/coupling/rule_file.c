/* rule_file.c: a rule as YAML and back (docs/COUPLE.md):
 *
 *   separators: ["+", "="]             # cut the prompt into parts 1, 2, .. in this order
 *   parts: [{cut: whole}, {cut: whole}, {cut: whole}]
 *   answer: {cut: width, width: 3}     # or {cut: word, word: ">"}
 *   fixed: [{part: 2, from: start, at: 0}]
 *   find: {by: match, part: 1, at: 0, back: 1}
 *   levels:
 *     - {name: column, parts: [{by: index, from: end}, none], answer: {by: index}} */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/settings.h"
#include "base/yaml.h"
#include "coupling/coupling.h"

static const char *const cuts[] = {"whole", "width", "word", NULL};
static const char *const bys[] = {"none", "constant", "number", "index", "find", NULL};
static const char *const ends[] = {"start", "end", NULL};
static const char *const finds[] = {"none", "match", "occurrence", NULL};

enum { MOST_NUMBER = 1 << 20 };

/* ---- Writing ------------------------------------------------------------------------------ */

static void put_word(lg_buffer *to, const struct lg__rule_word *w)
{
    lg_buffer_json(to, w->text, strlen(w->text));
}

static void put_cut(lg_buffer *to, const struct lg__cutting *c)
{
    lg_buffer_print(to, "{cut: %s", cuts[c->cut]);
    if (c->cut == LG__CUT_WIDTH) lg_buffer_print(to, ", width: %d", c->width);
    if (c->cut == LG__CUT_WORD) {
        lg_buffer_put(to, ", word: ");
        put_word(to, &c->word);
    }
    lg_buffer_put(to, "}");
}

static void put_axis(lg_buffer *to, const struct lg__axis *a)
{
    if (a->by == LG__BY_NONE) {
        lg_buffer_put(to, "none");
        return;
    }
    lg_buffer_print(to, "{by: %s", bys[a->by]);
    if (a->from_end) lg_buffer_put(to, ", from: end");
    if (a->times != 1) lg_buffer_print(to, ", times: %d", a->times);
    if (a->plus) lg_buffer_print(to, ", plus: %d", a->plus);
    lg_buffer_put(to, "}");
}

static void put_level(lg_buffer *to, const struct lg__rule *r, const struct lg__rule_level *l)
{
    lg_buffer_print(to, "  - name: %s\n    parts: [", l->name);
    for (int k = 0; k <= r->structure.separators; k++) {
        if (k) lg_buffer_put(to, ", ");
        put_axis(to, &l->part[k]);
    }
    lg_buffer_put(to, "]\n    answer: ");
    put_axis(to, &l->answer);
    if (r->structure.answer.cut == LG__CUT_WIDTH) {
        lg_buffer_put(to, "\n    phases: [");
        for (int i = 0; i < r->structure.answer.width; i++)
            if (l->phase[i] == LG_ABSENT)
                lg_buffer_print(to, "%snone", i ? ", " : "");
            else
                lg_buffer_print(to, "%s%d", i ? ", " : "", l->phase[i]);
        lg_buffer_put(to, "]");
    }
    if (r->fixed && l->fixed != LG_ABSENT) lg_buffer_print(to, "\n    fixed: %d", l->fixed);
    lg_buffer_put(to, "\n");
}

void lg__rule_write(const struct lg__rule *r, lg_buffer *to)
{
    const struct lg__structure *s = &r->structure;
    lg_buffer_put(to,
                  "# Which tokens share position IDs; docs/COUPLE.md says what each line means.\n");
    for (const char *at = r->reads; *at;) {
        size_t n = strcspn(at, "\n");
        lg_buffer_print(to, "# %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    lg_buffer_put(to, "separators: [");
    for (int k = 0; k < s->separators; k++) {
        if (k) lg_buffer_put(to, ", ");
        put_word(to, &s->separator[k]);
    }
    lg_buffer_put(to, "]\nparts: [");
    for (int k = 0; k <= s->separators; k++) {
        if (k) lg_buffer_put(to, ", ");
        put_cut(to, &s->part[k]);
    }
    lg_buffer_put(to, "]\nanswer: ");
    put_cut(to, &s->answer);
    lg_buffer_put(to, "\n");
    for (int i = 0; i < r->fixed; i++)
        lg_buffer_print(to, "%s{part: %d, from: %s, at: %d}%s", i ? ", " : "fixed: [",
                        r->fixed_at[i].part + 1, ends[r->fixed_at[i].from_end], r->fixed_at[i].at,
                        i + 1 < r->fixed ? "" : "]\n");
    if (r->find.kind) {
        lg_buffer_print(to, "find: {by: %s, part: %d, at: %d", finds[r->find.kind],
                        r->find.part + 1, r->find.at);
        if (r->find.kind == LG__FIND_MATCH) lg_buffer_print(to, ", back: %d", r->find.back);
        if (r->find.kind == LG__FIND_OCCURRENCE) {
            lg_buffer_put(to, ", word: ");
            put_word(to, &r->find.word);
            if (r->find.plus) lg_buffer_print(to, ", plus: %d", r->find.plus);
        }
        lg_buffer_put(to, "}\n");
    }
    lg_buffer_put(to, "levels:\n");
    for (int l = 0; l < r->levels; l++) put_level(to, r, &r->level[l]);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int get_int(const struct lg__yaml *map, const char *key, int least, int most, int *value,
                   lg_error *err)
{
    const struct lg__yaml *n = lg__yaml_get(map, key);
    int64_t number = *value;
    int e = n ? lg__yaml_int(n, least, most, &number, err) : 0;
    *value = (int)number;
    return e;
}

static int get_choice(const struct lg__yaml *map, const char *key, const char *const *words,
                      int *value, lg_error *err)
{
    const struct lg__yaml *n = lg__yaml_get(map, key);
    return n ? lg__yaml_choice(n, words, value, err) : 0;
}

static int read_word(const struct lg__yaml *n, struct lg__rule_word *w, lg_error *err)
{
    int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e) return e;
    if (!*n->text || strlen(n->text) >= sizeof w->text)
        return lg__yaml_fail(n, err, "a word has 1 to %d bytes; write one of the data",
                             LG__RULE_WORD - 1);
    snprintf(w->text, sizeof w->text, "%s", n->text);
    w->token = LG_NONE;
    return 0;
}

static int read_cut(const struct lg__yaml *n, struct lg__cutting *c, lg_error *err)
{
    static const char *const keys[] = {"cut", "width", "word", NULL};
    const struct lg__yaml *word;
    int cut = 0, e = lg__yaml_keys(n, keys, err);
    *c = (struct lg__cutting){.width = 1};
    if (!e) e = get_choice(n, "cut", cuts, &cut, err);
    if (!e) e = get_int(n, "width", 1, LG__PHASES, &c->width, err);
    c->cut = (enum lg__cut)cut;
    if (e || c->cut != LG__CUT_WORD) return e;
    e = lg__yaml_need(n, "word", LG__YAML_SCALAR, &word, err);
    return e ? e : read_word(word, &c->word, err);
}

static int read_axis(const struct lg__yaml *n, struct lg__axis *a, lg_error *err)
{
    static const char *const keys[] = {"by", "from", "times", "plus", NULL};
    int by = 0, e;
    *a = (struct lg__axis){.times = 1};
    if (n->kind == LG__YAML_SCALAR && strcmp(n->text, "none") == 0) return 0;
    if ((e = lg__yaml_keys(n, keys, err)) || (e = get_choice(n, "by", bys, &by, err)) ||
        (e = get_choice(n, "from", ends, &a->from_end, err)) ||
        (e = get_int(n, "times", -MOST_NUMBER, MOST_NUMBER, &a->times, err)))
        return e;
    a->by = (enum lg__by)by;
    return get_int(n, "plus", -MOST_NUMBER, MOST_NUMBER, &a->plus, err);
}

/* A list of `want` entries (-1: any number up to `most`). */
static int need_list(const struct lg__yaml *map, const char *key, int want, int most,
                     const struct lg__yaml **list, lg_error *err)
{
    int e = lg__yaml_need(map, key, LG__YAML_LIST, list, err);
    if (e) return e;
    if (want >= 0 ? (*list)->count == want : (*list)->count <= most) return 0;
    if (want >= 0)
        return lg__yaml_fail(*list, err, "%s has %d entries, but there are %d; write one for each",
                             key, (*list)->count, want);
    return lg__yaml_fail(*list, err, "%s has %d entries; %d is the most", key, (*list)->count,
                         most);
}

static int read_structure(const struct lg__yaml *root, struct lg__structure *s, lg_error *err)
{
    const struct lg__yaml *list, *n;
    int e = need_list(root, "separators", -1, LG__PARTS, &list, err), k = 0;
    if (e) return e;
    for (n = list->first; n && !e; n = n->next)
        e = read_word(n, &s->separator[s->separators++], err);
    if (!e) e = need_list(root, "parts", s->separators + 1, 0, &list, err);
    for (n = e ? NULL : list->first; n && !e; n = n->next) e = read_cut(n, &s->part[k++], err);
    if (!e) e = lg__yaml_need(root, "answer", LG__YAML_MAP, &n, err);
    return e ? e : read_cut(n, &s->answer, err);
}

static int read_fixed(const struct lg__yaml *root, struct lg__rule *r, lg_error *err)
{
    static const char *const keys[] = {"part", "from", "at", NULL};
    const struct lg__yaml *list = lg__yaml_get(root, "fixed");
    int e = list ? need_list(root, "fixed", -1, LG__FIXED, &list, err) : 0;
    for (const struct lg__yaml *n = list && !e ? list->first : NULL; n && !e; n = n->next) {
        struct lg__fixed_place *f = &r->fixed_at[r->fixed++];
        f->part = 1;
        if ((e = lg__yaml_keys(n, keys, err)) ||
            (e = get_int(n, "part", 1, r->structure.separators + 1, &f->part, err)) ||
            (e = get_choice(n, "from", ends, &f->from_end, err)))
            return e;
        e = get_int(n, "at", 0, MOST_NUMBER, &f->at, err);
        f->part--;
    }
    return e;
}

static int read_find(const struct lg__yaml *root, struct lg__rule *r, lg_error *err)
{
    static const char *const keys[] = {"by", "part", "at", "back", "word", "plus", NULL};
    const struct lg__yaml *n = lg__yaml_get(root, "find"), *word;
    struct lg__find_rule *f = &r->find;
    int kind = 0, part = 1, e;
    f->back = 1;
    if (!n) return 0;
    if ((e = lg__yaml_keys(n, keys, err)) || (e = get_choice(n, "by", finds, &kind, err)) ||
        (e = get_int(n, "part", 1, r->structure.separators + 1, &part, err)) ||
        (e = get_int(n, "back", 1, MOST_NUMBER, &f->back, err)) ||
        (e = get_int(n, "plus", -MOST_NUMBER, MOST_NUMBER, &f->plus, err)))
        return e;
    f->kind = (enum lg__find_kind)kind;
    f->part = part - 1;
    const struct lg__cutting *c = &r->structure.part[f->part];
    e = get_int(n, "at", 0, c->cut == LG__CUT_WIDTH ? c->width - 1 : 0, &f->at, err);
    if (e || f->kind != LG__FIND_OCCURRENCE) return e;
    e = lg__yaml_need(n, "word", LG__YAML_SCALAR, &word, err);
    return e ? e : read_word(word, &f->word, err);
}

static int read_level(const struct lg__yaml *n, const struct lg__rule *r, struct lg__rule_level *l,
                      lg_error *err)
{
    static const char *const keys[] = {"name", "parts", "answer", "phases", "fixed", NULL};
    const struct lg__yaml *list, *at;
    int k = 0, e = lg__yaml_keys(n, keys, err);
    if (!e) e = lg__yaml_need(n, "name", LG__YAML_SCALAR, &at, err);
    if (e) return e;
    snprintf(l->name, sizeof l->name, "%s", at->text);
    if ((e = need_list(n, "parts", r->structure.separators + 1, 0, &list, err))) return e;
    for (at = list->first; at && !e; at = at->next) e = read_axis(at, &l->part[k++], err);
    if (!e && !(at = lg__yaml_get(n, "answer")))
        return lg__yaml_fail(n, err, "the level has no answer; write {by: index} or none");
    if (!e) e = read_axis(at, &l->answer, err);
    if (!e && l->answer.by == LG__BY_FIND && !r->find.kind)
        return lg__yaml_fail(at, err,
                             "the answer's labels are to be found, but there is no key "
                             "find; add it");
    l->fixed = LG_ABSENT;
    if (!e && lg__yaml_get(n, "fixed"))
        e = get_int(n, "fixed", -MOST_NUMBER, MOST_NUMBER, &l->fixed, err);
    if (e || !lg__yaml_get(n, "phases")) return e;
    e = need_list(n, "phases", r->structure.answer.width, 0, &list, err);
    k = 0;
    for (at = e ? NULL : list->first; at && !e; at = at->next, k++) {
        int64_t value = LG_ABSENT;
        if (strcmp(at->text ? at->text : "", "none") != 0)
            e = lg__yaml_int(at, -MOST_NUMBER, MOST_NUMBER, &value, err);
        l->phase[k] = (int)value;
    }
    return e;
}

int lg__rule_read(struct lg__rule *r, const char *path, lg_error *err)
{
    static const char *const keys[] = {"separators", "parts",  "answer", "fixed",
                                       "find",       "levels", NULL};
    const struct lg__yaml *list;
    struct lg__yaml *root = lg__yaml_read(path, err);
    if (!root) return LG_ERROR_ARGUMENT;
    *r = (struct lg__rule){0};
    int e = lg__yaml_keys(root, keys, err);
    if (!e) e = read_structure(root, &r->structure, err);
    if (!e) e = read_fixed(root, r, err);
    if (!e) e = read_find(root, r, err);
    if (!e) e = need_list(root, "levels", -1, LG_LEVELS, &list, err);
    if (!e && !list->count) e = lg__yaml_fail(list, err, "levels is empty; write one or more");
    for (const struct lg__yaml *n = e ? NULL : list->first; n && !e; n = n->next)
        e = read_level(n, r, &r->level[r->levels++], err);
    lg__yaml_free(root);
    return e;
}

int lg__task_couple_file(lg_task *t, const char *path, const int length[2], lg_error *err)
{
    struct lg__rule rule;
    int e = lg__rule_read(&rule, path, err);
    if (e) return e;
    return lg__task_couple(t, &rule, length ? length[0] : 0, length ? length[1] : 0, err);
}

int lg__task_keep_rule(const lg_task *t, const char *folder, const char *name, const char *from,
                       lg_error *err)
{
    const struct lg__rule *rule = lg__task_rule(t);
    char path[4096], *old = NULL;
    lg_buffer b = {0};
    if (!rule) return 0;
    int e = lg__file_path(path, sizeof path, folder, name, err);
    if (!e) e = lg__file_read(path, &old, err);
    if (e) return e;
    lg__rule_write(rule, &b);
    char *text = lg_buffer_take(&b, err);
    if (!text)
        e = LG_ERROR_MEMORY;
    else if (old && strcmp(old, text) != 0)
        e = lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%.200s has another rule than %.200s, with which the run is to go on; take that "
            "one, or train anew in another folder (--out)",
            path, from);
    else if (!old)
        e = lg__file_write(path, text, err);
    free(text);
    free(old);
    return e;
}
