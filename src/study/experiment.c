/* experiment.c: reads the key `experiment` of a sweep's file. */
#include "study/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for an experiment; end other programs");
}

/* ---- Which cells --------------------------------------------------------------------------- */

static const char *const kept_words[] = {"ids", "sparsity", "length", "position", "kind", NULL};

static const struct lg__yaml *axis_of(const struct lg__sweep_plan *p, const char *key)
{
    for (int a = 0; a < p->axis_count; a++)
        if (strcmp(p->axes[a].at->key, key) == 0) return p->axes[a].at;
    return NULL;
}

static int check_kind(const struct lg__yaml *n, lg_error *err)
{
    int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e || lg_kind_find(n->text)) return e;
    lg_buffer b = {0};
    for (int i = 0; i < lg_kind_count(); i++)
        lg_buffer_print(&b, "%s%s", i ? ", " : "", lg_kind_at(i)->name);
    char *all = lg_buffer_take(&b, NULL);
    e = all ? lg__yaml_fail(n, err, "nothing of the kind \"%.60s\" is measured; take one of %s",
                            n->text, all)
            : no_memory(err);
    free(all);
    return e;
}

/* One value of a key of `where`. */
static int check_value(const struct lg__sweep_plan *p, const char *key, const struct lg__yaml *n,
                       lg_error *err)
{
    static const char *const ids[] = {"given", "predicted", NULL};
    const struct lg__yaml *axis = axis_of(p, key);
    int64_t number;
    int word, e;
    if (strcmp(key, "ids") == 0) return lg__yaml_choice(n, ids, &word, err);
    if (strcmp(key, "kind") == 0) return check_kind(n, err);
    if (!axis) return lg__yaml_int(n, 0, 1000000000, &number, err);
    char *text = NULL;
    if ((e = lg__sweep_text(n, &text, err))) return e;
    if (!lg__sweep_has_value(p, axis, text))
        e = lg__yaml_fail(n, err, "%s has no value \"%.80s\"; take one of those in line %d", key,
                          text, axis->line);
    free(text);
    return e;
}

static int is_word(const char *text)
{
    int i = 0;
    while (kept_words[i] && strcmp(kept_words[i], text) != 0) i++;
    return kept_words[i] != NULL;
}

static int check_name(const struct lg__sweep_plan *p, const struct lg__yaml *n, const char *name,
                      lg_error *err)
{
    if (is_word(name) || (axis_of(p, name) && strcmp(name, "seed") != 0)) return 0;
    return lg__yaml_fail(n, err,
                         "\"%.60s\" is neither what vary has, other than the seed, nor ids, "
                         "sparsity, length, position or kind; take one of these",
                         name);
}

static int check_where(const struct lg__sweep_plan *p, lg__where where, lg_error *err)
{
    int e = lg__yaml_is(where, LG__YAML_MAP, err);
    for (const struct lg__yaml *n = where->first; n && !e; n = n->next) {
        e = check_name(p, n, n->key, err);
        if (!e && n->kind == LG__YAML_MAP)
            e = lg__yaml_fail(n, err, "%s is a map; write a value or a list of some", n->key);
        if (e || n->kind == LG__YAML_SCALAR) {
            if (!e) e = check_value(p, n->key, n, err);
            continue;
        }
        if (!n->count) e = lg__yaml_fail(n, err, "%s has no values; give one", n->key);
        for (const struct lg__yaml *v = n->first; v && !e; v = v->next)
            e = check_value(p, n->key, v, err);
    }
    return e;
}

/* ---- Figures ------------------------------------------------------------------------------- */

static int read_text(const struct lg__yaml *map, const char *key, const char **text, lg_error *err)
{
    const struct lg__yaml *n;
    int e = lg__yaml_need(map, key, LG__YAML_SCALAR, &n, err);
    if (e) return e;
    *text = n->text;
    return *n->text ? 0 : lg__yaml_fail(n, err, "%s says nothing; write it, or take it out", key);
}

/* The same of a key that may be left out, and is "" then. */
static int may_say(const struct lg__yaml *map, const char *key, const char **text, lg_error *err)
{
    *text = "";
    return lg__yaml_get(map, key) ? read_text(map, key, text, err) : 0;
}

static int check_file(const struct lg__yaml *map, const char *file, lg_error *err)
{
    size_t n = strlen(file);
    const char *end = n > 4 ? file + n - 4 : "";
    if (*file != '.' && !strchr(file, '/') && (!strcmp(end, ".svg") || !strcmp(end, ".png")))
        return 0;
    return lg__yaml_fail(lg__yaml_get(map, "file"), err,
                         "file is \"%.60s\"; give a name that ends in .svg or .png, without a "
                         "folder",
                         file);
}

static int check_lines(const struct lg__sweep_plan *p, const struct lg__yaml *lines, lg_error *err)
{
    int e = 0;
    if (lines->kind == LG__YAML_SCALAR) return check_name(p, lines, lines->text, err);
    if ((e = lg__yaml_is(lines, LG__YAML_LIST, err))) return e;
    for (const struct lg__yaml *n = lines->first; n && !e; n = n->next)
        if (!(e = lg__yaml_is(n, LG__YAML_SCALAR, err))) e = check_name(p, n, n->text, err);
    return e;
}

/* One of the words, or what vary has as numbers. */
static int read_x(struct lg__experiment_figure *f, const struct lg__sweep_plan *p, lg_error *err)
{
    static const char *const words[] = {"length", "tokens", "position", "sparsity"};
    int e = lg__yaml_is(f->at_x, LG__YAML_SCALAR, err);
    if (e) return e;
    for (int i = 0; i < 4; i++)
        if (strcmp(f->at_x->text, words[i]) == 0) {
            f->x = (enum lg__figure_x)i;
            return 0;
        }
    f->x = LG__X_AXIS;
    while (f->axis < p->axis_count && strcmp(p->axes[f->axis].at->key, f->at_x->text) != 0)
        f->axis++;
    if (f->axis == p->axis_count || strcmp(f->at_x->text, "seed") == 0)
        return lg__yaml_fail(f->at_x, err,
                             "x is \"%.60s\", which is neither length, tokens, sparsity, position "
                             "nor what vary has, other than the seed; take one of these",
                             f->at_x->text);
    for (int i = 0; i < p->axes[f->axis].count; i++) {
        const char *value = p->axes[f->axis].values[i].name;
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end || !isfinite(number))
            return lg__yaml_fail(f->at_x, err,
                                 "x is %.60s, whose value \"%.60s\" is no number; draw it as "
                                 "\"lines\"",
                                 f->at_x->text, value);
    }
    return 0;
}

static int read_figure(struct lg__experiment *x, const struct lg__sweep_plan *p,
                       const struct lg__yaml *n, lg_error *err)
{
    static const char *const known[] = {"file", "title", "where", "lines", "x", "map", NULL};
    struct lg__experiment_figure *f = &x->figures[x->figure_count];
    int e = lg__yaml_keys(n, known, err);
    if (!e) e = read_text(n, "file", &f->file, err);
    if (!e) e = check_file(n, f->file, err);
    if (!e) e = read_text(n, "title", &f->title, err);
    if (e) return e;
    f->where = lg__yaml_get(n, "where");
    f->lines = lg__yaml_get(n, "lines");
    f->at_x = lg__yaml_get(n, "x");
    if (f->where) e = check_where(p, f->where, err);
    if (!e && f->lines) e = check_lines(p, f->lines, err);
    if (!e && f->at_x) e = read_x(f, p, err);
    const struct lg__yaml *map = lg__yaml_get(n, "map");
    f->map = map != NULL;
    if (!e && map && (map->kind != LG__YAML_SCALAR || strcmp(map->text, "sparsity") != 0))
        e = lg__yaml_fail(map, err, "a map has sparsity as its other axis; write map: sparsity");
    if (!e && map && (f->lines || (f->x != LG__X_LENGTH && f->x != LG__X_TOKENS)))
        e = lg__yaml_fail(map, err,
                          "a map has no lines, and its x is length or tokens; leave %s out",
                          f->lines ? "lines" : "x");
    for (int i = 0; i < x->figure_count && !e; i++)
        if (strcmp(x->figures[i].file, f->file) == 0)
            e = lg__yaml_fail(lg__yaml_get(n, "file"), err,
                              "two figures are called %s; give one of them another name", f->file);
    x->figure_count++;
    return e;
}

/* ---- Checks -------------------------------------------------------------------------------- */

static int need_where(const struct lg__sweep_plan *p, const struct lg__yaml *n, const char *key,
                      lg__where *where, lg_error *err)
{
    int e = lg__yaml_need(n, key, LG__YAML_MAP, where, err);
    return e ? e : check_where(p, *where, err);
}

static int read_real(const struct lg__yaml *n, const char *key, int *has, double *value,
                     lg_error *err)
{
    const struct lg__yaml *v = lg__yaml_get(n, key);
    *has = v != NULL;
    return v ? lg__yaml_real(v, -1000, 1000, value, err) : 0;
}

/* Of runs, not of cells. */
static int read_certified(const struct lg__experiment *x, const struct lg__sweep_plan *p,
                          const struct lg__yaml *n, struct lg__experiment_check *c, lg_error *err)
{
    static const char *const known[] = {"certified", "is", NULL};
    int e = lg__yaml_keys(n, known, err);
    if (!e && !x->certify)
        e = lg__yaml_fail(n, err,
                          "nothing is certified; add \"certify: 1000\" to experiment, or take this "
                          "check out");
    if (!e) e = need_where(p, n, "certified", &c->cells, err);
    for (const struct lg__yaml *v = e ? NULL : c->cells->first; v && !e; v = v->next)
        if (is_word(v->key))
            e = lg__yaml_fail(v, err, "%s is of cells, and runs are certified; take it out",
                              v->key);
    if (!e) e = read_real(n, "is", &c->has_by, &c->by, err);
    if (!e && !c->has_by)
        e = lg__yaml_fail(n, err, "which share is certified? Add \"is\": a number from 0 to 1");
    return e;
}

/* More or less than others. */
static int read_more(struct lg__experiment_check *c, const char *word,
                     const struct lg__sweep_plan *p, const struct lg__yaml *n, lg_error *err)
{
    const char *const known[] = {word, "than", "by", NULL};
    int e = lg__yaml_keys(n, known, err);
    if (!e) e = need_where(p, n, word, &c->cells, err);
    if (!e) e = need_where(p, n, "than", &c->other, err);
    return e ? e : read_real(n, "by", &c->has_by, &c->by, err);
}

/* At least or at most a value. */
static int read_least(struct lg__experiment_check *c, const char *word,
                      const struct lg__sweep_plan *p, const struct lg__yaml *n, lg_error *err)
{
    const char *const known[] = {word, "is", NULL};
    int e = lg__yaml_keys(n, known, err);
    if (!e) e = need_where(p, n, word, &c->cells, err);
    if (!e) e = read_real(n, "is", &c->has_by, &c->by, err);
    if (!e && !c->has_by)
        e = lg__yaml_fail(n, err,
                          "%s of which value? Add \"is\": a share from 0 to 1, of texts a loss in "
                          "nats",
                          word);
    return e;
}

static int read_check(struct lg__experiment *x, const struct lg__sweep_plan *p,
                      const struct lg__yaml *n, lg_error *err)
{
    static const struct {
        const char *word;
        enum lg__check_kind kind;
        int (*read)(struct lg__experiment_check *, const char *, const struct lg__sweep_plan *,
                    const struct lg__yaml *, lg_error *);
    } kinds[] = {{"more", LG__CHECK_MORE, read_more},
                 {"less", LG__CHECK_LESS, read_more},
                 {"least", LG__CHECK_LEAST, read_least},
                 {"most", LG__CHECK_MOST, read_least}};
    static const char *const monotone[] = {"monotone", "where", "chance", NULL};
    static const char *const over[] = {"sparsity", "length", NULL};
    struct lg__experiment_check *c = &x->checks[x->check_count++];
    int e = lg__yaml_is(n, LG__YAML_MAP, err);
    if (e) return e;
    c->at = n;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        c->kind = kinds[i].kind;
        if (lg__yaml_get(n, kinds[i].word)) return kinds[i].read(c, kinds[i].word, p, n, err);
    }
    if (lg__yaml_get(n, "monotone")) {
        c->kind = LG__CHECK_MONOTONE;
        if (!(e = lg__yaml_keys(n, monotone, err)))
            e = lg__yaml_choice(lg__yaml_get(n, "monotone"), over, &c->by_length, err);
        c->cells = lg__yaml_get(n, "where");
        if (!e && c->cells) e = check_where(p, c->cells, err);
        return e ? e : read_real(n, "chance", &c->has_chance, &c->chance, err);
    }
    if (lg__yaml_get(n, "certified")) {
        c->kind = LG__CHECK_CERTIFIED;
        return read_certified(x, p, n, c, err);
    }
    return lg__yaml_fail(
        n, err,
        "a check is {more: {..}, than: {..}, by: 0.1}, the same with less, {least: "
        "{..}, is: 0.9}, the same with most, {monotone: sparsity, where: {..}} or "
        "{certified: {..}, is: 1}; write one of them");
}

/* ---- The key ------------------------------------------------------------------------------- */

static int check_axes(const struct lg__sweep_plan *p, lg_error *err)
{
    for (int a = 0; a < p->axis_count; a++)
        if (is_word(p->axes[a].at->key))
            return lg__yaml_fail(p->axes[a].at, err,
                                 "\"%s\" is what an experiment calls a part of every cell; give "
                                 "what varies another name",
                                 p->axes[a].at->key);
    return 0;
}

/* The entries of a list; *room is for as many of `size` bytes. */
static int open_list(const struct lg__yaml *map, const char *key, size_t size, void **room,
                     const struct lg__yaml **first, lg_error *err)
{
    const struct lg__yaml *list = lg__yaml_get(map, key);
    int e = list ? lg__yaml_is(list, LG__YAML_LIST, err) : 0;
    *first = NULL;
    if (e || !list) return e;
    *room = lg__alloc((size_t)list->count * size);
    *first = list->first;
    return *room ? 0 : no_memory(err);
}

int lg__experiment_read(struct lg__experiment *x, const struct lg__sweep_plan *p, lg_error *err)
{
    static const char *const known[] = {"question", "expected", "words",  "budget",
                                        "certify",  "figures",  "checks", NULL};
    int64_t confirm = 0;
    const struct lg__yaml *n, *budget, *certify, *first;
    void *room = NULL;
    int e = lg__yaml_need(p->file, "experiment", LG__YAML_MAP, &n, err);
    if (!e) e = lg__yaml_keys(n, known, err);
    if (!e) e = check_axes(p, err);
    if (!e) e = may_say(n, "question", &x->question, err);
    if (!e) e = may_say(n, "expected", &x->expected, err);
    x->words = "";
    x->budget = -1;
    if (!e && lg__yaml_get(n, "words")) e = read_text(n, "words", &x->words, err);
    if (!e && (budget = lg__yaml_get(n, "budget")))
        e = lg__yaml_real(budget, 0, 1e6, &x->budget, err);
    if (!e && (certify = lg__yaml_get(n, "certify")))
        e = lg__yaml_int(certify, 1, 2000, &confirm, err);
    if (!e) x->certify = (int)confirm;
    if (!e) e = open_list(n, "figures", sizeof *x->figures, &room, &first, err);
    if (e) return e;
    x->figures = room;
    for (; first && !e; first = first->next) e = read_figure(x, p, first, err);
    room = NULL;
    if (!e) e = open_list(n, "checks", sizeof *x->checks, &room, &first, err);
    if (e) return e;
    x->checks = room;
    for (; first && !e; first = first->next) e = read_check(x, p, first, err);
    return e;
}

/* ---- What the runs have -------------------------------------------------------------------- */

/* Whether cells of this form lie at positions of texts, not at lengths of examples. */
static int has_positions(const char *form) { return lg_kind_leading(form)->unit == LG_UNIT_NATS; }

static int check_form_kind(const struct lg__yaml *n, const char *form, lg_error *err)
{
    if (strcmp(lg_kind_find(n->text)->form, form) == 0) return 0;
    return lg__yaml_fail(n, err, "kind is %s, but the runs are measured by %s; take %s or the like",
                         n->text, form, lg_kind_leading(form)->name);
}

static int check_where_form(lg__where where, const char *form, lg_error *err)
{
    int e = 0;
    for (const struct lg__yaml *n = where ? where->first : NULL; n && !e; n = n->next) {
        int of_answers = strcmp(n->key, "ids") == 0 || strcmp(n->key, "sparsity") == 0;
        int of_positions = strcmp(n->key, "position") == 0;
        if (has_positions(form) ? of_answers : of_positions)
            e = lg__yaml_fail(n, err, "the runs are measured by %s, which have no %s; take it out",
                              form, n->key);
        else if (strcmp(n->key, "kind") == 0 && n->kind == LG__YAML_SCALAR)
            e = check_form_kind(n, form, err);
        else if (strcmp(n->key, "kind") == 0)
            for (const struct lg__yaml *v = n->first; v && !e; v = v->next)
                e = check_form_kind(v, form, err);
    }
    return e;
}

int lg__experiment_check_form(const struct lg__experiment *x, const char *form, lg_error *err)
{
    int e = 0, positions = has_positions(form);
    for (int i = 0; i < x->figure_count && !e; i++) {
        const struct lg__experiment_figure *f = &x->figures[i];
        e = check_where_form(f->where, form, err);
        if (!e && f->map && positions)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "the figure %s is a map of answers, and the runs have %s; draw lines",
                         f->file, form);
        if (!e && f->at_x && (f->x == LG__X_POSITION) != positions)
            e = lg__yaml_fail(f->at_x, err, "x is %s, but the runs are measured by %s; take %s",
                              f->at_x->text, form,
                              positions ? "position" : "length, tokens or sparsity");
    }
    for (int i = 0; i < x->check_count && !e; i++) {
        const struct lg__experiment_check *c = &x->checks[i];
        e = check_where_form(c->cells, form, err);
        if (!e) e = check_where_form(c->other, form, err);
        if (!e && !positions && fabs(c->by) > 1)
            e = lg__yaml_fail(c->at, err, "%g is no share of answers; take a number from -1 to 1",
                              c->by);
        if (!e && c->has_chance && !(c->chance >= 0 && c->chance <= 1))
            e = lg__yaml_fail(
                c->at, err, "chance is %g; it must be a share of answers, from 0 to 1", c->chance);
        if (!e && positions && c->kind == LG__CHECK_MONOTONE)
            e = lg__yaml_fail(c->at, err,
                              "monotone is of answers, and the runs have %s; take less or most",
                              form);
    }
    return e;
}

void lg__experiment_clear(struct lg__experiment *x)
{
    free(x->figures);
    free(x->checks);
    *x = (struct lg__experiment){0};
}

int lg__experiment_check(const struct lg__sweep_plan *p, lg_error *err)
{
    struct lg__experiment x = {0};
    if (!lg__yaml_get(p->file, "experiment")) return 0;
    int e = lg__experiment_read(&x, p, err);
    lg__experiment_clear(&x);
    return e;
}
