/* config.c: a run config read from YAML and --set. What a key may be is in config_keys.c; it is
 * opened in config_open.c and written in config_text.c. */
#include "runs/config.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/yaml.h"
#include "lengthen_runs.h"

_Static_assert(sizeof(lg_arch) == sizeof(int) && sizeof(lg_norm) == sizeof(int) &&
                   sizeof(lg_act) == sizeof(int) && sizeof(lg_span) == sizeof(int) &&
                   sizeof(lg_attention) == sizeof(int) && sizeof(lg_rope) == sizeof(int) &&
                   sizeof(lg_schedule) == sizeof(int),
               "words are stored as int into enums");

enum { RANGE = 256, WORDS = 64 };

/* One key that somebody said, and where. */
struct said {
    char *key;             /* owned */
    const char *set;       /* the --set; NULL: a file, or a default */
    int number;            /* of the --set, from 1 */
    struct lg__yaml *tree; /* the value; NULL: scalar */
    struct lg__yaml scalar;
    int owned; /* 1: the tree is freed with it */
};

struct reader {
    struct lg__config *c;
    struct lg__yaml *root; /* of the file */
    struct lg__block block;
    int count;
    lg_error *err;
};

static struct said *said_at(const struct reader *r, int i)
{
    return (struct said *)r->block.data + i;
}

static const struct lg__yaml *value_of(const struct said *s)
{
    return s->tree ? s->tree : &s->scalar;
}

/* ---- Errors and copies -------------------------------------------------------------------- */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a run config; end other programs");
}

/* Where it was said, and the sentence. n is the value or the entry of it that is wrong. */
static int refuse(const struct said *s, const struct lg__yaml *n, lg_error *err, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

static int refuse(const struct said *s, const struct lg__yaml *n, lg_error *err, const char *format,
                  ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lg__fail_key(err, LG_ERROR_ARGUMENT, s && s->key ? s->key : "", "%s", text);
    if (s && s->set)
        lg__error_set(err, s->number, s->set);
    else if (s && n->file)
        lg__error_place(err, n->file, n->line);
    return LG_ERROR_ARGUMENT;
}

static char *copy(const char *text, size_t n)
{
    char *to = lg__alloc(n + 1);
    if (to) memcpy(to, text, n);
    return to;
}

/* "a.b", or "b" where a is empty. */
static char *join(const char *a, const char *b)
{
    size_t n = strlen(a), size = n + strlen(b) + 2;
    char *to = lg__alloc(size);
    if (to) snprintf(to, size, "%s%s%s", a, n ? "." : "", b);
    return to;
}

/* ---- What is said ------------------------------------------------------------------------- */

/* Takes the key and a tree that is owned, even when it fails. */
static int add(struct reader *r, char *key, struct said s)
{
    size_t size = ((size_t)r->count + 1) * sizeof s;
    int e = 0;
    if (!key || (size > r->block.size &&
                 lg__block_grow(&r->block, 2 * size, r->count > 0, "a run config", r->err)))
        e = no_memory(r->err);
    else if (r->count == LG__CONFIG_MOST)
        e = refuse(&s, value_of(&s), r->err, "these are over %d keys; take out what is no setting",
                   LG__CONFIG_MOST);
    if (e) {
        if (s.owned) lg__yaml_free(s.tree);
        free(key);
        return e;
    }
    s.key = key;
    *said_at(r, r->count++) = s;
    return 0;
}

/* The last that was said of a key, or NULL. */
static const struct said *said_of(const struct reader *r, const char *key)
{
    for (int i = r->count - 1; i >= 0; i--)
        if (strcmp(said_at(r, i)->key, key) == 0) return said_at(r, i);
    return NULL;
}

/* A key of the files of sweeps and experiments, which lie beside the configs. */
static int is_of_sweeps(const char *key)
{
    static const char *const first[] = {"experiment", "vary", "scales", "config", "base"};
    size_t n = strcspn(key, ".");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strlen(first[i]) == n && strncmp(key, first[i], n) == 0) return 1;
    return 0;
}

static int unknown(const struct said *s, const char *key, lg_error *err)
{
    const char *near = lg_config_nearest(key);
    const struct lg__yaml *n = value_of(s);
    if (!s->set && is_of_sweeps(key))
        return refuse(
            s, n, err,
            "\"%.*s\" is a key of sweeps and experiments, and this is read as the config of "
            "one run; `lengthen sweep` and `lengthen reproduce` read those",
            (int)strcspn(key, "."), key);
    if (lg__config_section(key))
        return refuse(s, n, err,
                      "\"%.80s\" is a map of keys; set one of them, with its whole name, as in "
                      "--set train.steps=500",
                      key);
    if (near)
        return refuse(s, n, err, "there is no key \"%.80s\"; did you mean \"%s\"?", key, near);
    return refuse(s, n, err, "there is no key \"%.80s\"; docs/CONFIG.md lists all keys", key);
}

static int is_setting(const char *key)
{
    return strncmp(key, "task.", 5) == 0 && strcmp(key, "task.name") != 0;
}

static int add_map(struct reader *r, const char *path, struct lg__yaml *map);

static int add_section(struct reader *r, const char *key, struct lg__yaml *n)
{
    struct said s = {.tree = n};
    int list = n->kind == LG__YAML_LIST;
    /* A map without entries is empty text in YAML. */
    if (n->kind == LG__YAML_MAP || (!list && !*n->text)) return add_map(r, key, n);
    return refuse(&s, n, r->err,
                  "%s is %s%.80s%s, but must be a map; write its keys below it, as in %s", key,
                  list ? "a list" : "\"", n->text, list ? "" : "\"",
                  strcmp(key, "task") == 0 ? "task: {name: parity}" : "train: {steps: 500}");
}

/* Adds the keys of a map, whose own name is `path`. */
static int add_map(struct reader *r, const char *path, struct lg__yaml *map)
{
    int e = 0;
    for (struct lg__yaml *n = map->first; n && !e; n = n->next) {
        char *key = join(path, n->key);
        struct said s = {.key = key, .tree = n};
        if (!key) return no_memory(r->err);
        if (lg__config_section(key)) {
            e = add_section(r, key, n);
            free(key);
            continue;
        }
        const struct said *before = said_of(r, key);
        if (before)
            e = refuse(&s, n, r->err, "%s is said already in line %d; keep one of them", key,
                       before->tree->line);
        else if (!lg__config_find(key) && !is_setting(key))
            e = unknown(&s, key, r->err);
        if (e)
            free(key);
        else
            e = add(r, key, s);
    }
    return e;
}

/* A tree if the key takes lists and this is one; otherwise the text as it is. */
static int parse_value(struct said *s, const struct lg__config_key *k, const char *text,
                       lg_error *err)
{
    int lists = k && (k->kind == LG__KEY_PAIR || k->kind == LG__KEY_LIST ||
                      k->kind == LG__KEY_SOURCE || k->kind == LG__KEY_WINDOW);
    s->scalar = (struct lg__yaml){.kind = LG__YAML_SCALAR, .text = text};
    if (!lists || *text != '[') return 0;
    lg_error inner = {0};
    s->tree = lg__yaml_parse("", text, &inner);
    s->owned = 1;
    if (s->tree) return 0;
    if (inner.code == LG_ERROR_MEMORY) return no_memory(err);
    return refuse(s, &s->scalar, err, "%s is \"%.80s\", which is no list; write [a, b, ..]", k->key,
                  text);
}

/* The config is stored as YAML, which is UTF-8. */
static int is_utf8(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        int more = *s < 0x80   ? 0
                   : *s < 0xc2 ? -1
                   : *s < 0xe0 ? 1
                   : *s < 0xf0 ? 2
                   : *s < 0xf5 ? 3
                               : -1;
        if (more < 0 || (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
            (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
            return 0;
        for (; more > 0; more--)
            if ((*++s & 0xc0) != 0x80) return 0;
    }
    return 1;
}

static int add_set(struct reader *r, const char *set, int number)
{
    const char *equals = strchr(set, '=');
    struct said s = {.set = set, .number = number};
    if (!equals || equals == set)
        return refuse(&s, &s.scalar, r->err,
                      "this is not written as key=value; write --set train.steps=500, say");
    if (!is_utf8(set))
        return refuse(&s, &s.scalar, r->err, "this is not UTF-8 text; write it in UTF-8");
    char *key = copy(set, (size_t)(equals - set));
    if (!key) return no_memory(r->err);
    s.key = key;
    const struct lg__config_key *k = lg__config_find(key);
    int e =
        k || is_setting(key) ? parse_value(&s, k, equals + 1, r->err) : unknown(&s, key, r->err);
    if (!e) return add(r, key, s);
    free(key);
    return e;
}

static int read_file(struct reader *r, const char *file)
{
    r->c->file = copy(file, strlen(file));
    if (!r->c->file) return no_memory(r->err);
    r->root = lg__yaml_read(file, r->err);
    if (!r->root) return r->err ? r->err->code : LG_ERROR_ARGUMENT;
    struct said s = {0};
    if (r->root->kind != LG__YAML_MAP)
        return refuse(&s, r->root, r->err,
                      "a run config is a map of keys; write lines like \"seed: 1\"");
    return add_map(r, "", r->root);
}

/* ---- Values ------------------------------------------------------------------------------- */

static void *field(struct lg__config *c, const struct lg__config_key *k)
{
    return (char *)c + k->at;
}

/* How a value that is no scalar is called. */
static const char *kind_name(const struct lg__yaml *n)
{
    static const char *const names[] = {"a single value", "a list", "a map"};
    return names[n->kind];
}

/* k is wrong because n is not what it must be. */
static int wrong(const struct said *s, const struct lg__config_key *k, const struct lg__yaml *n,
                 const char *must, lg_error *err)
{
    int scalar = n->kind == LG__YAML_SCALAR;
    return refuse(s, n, err, "%s is %s%.80s%s; it must be %s (%s)", k->key, scalar ? "\"" : "",
                  scalar ? n->text : kind_name(n), scalar ? "\"" : "", must, k->doc);
}

static int read_int(const struct lg__yaml *n, double least, double most, int64_t *value)
{
    char *end;
    if (n->kind != LG__YAML_SCALAR || !strchr("-0123456789", *n->text)) return 0;
    errno = 0;
    *value = strtoll(n->text, &end, 10);
    return end != n->text && !*end && !errno && (double)*value >= least && (double)*value <= most;
}

static int read_real(const struct lg__yaml *n, double least, double most, double *value)
{
    char *end;
    /* Only decimal: no inf, nan or 0x. */
    if (n->kind != LG__YAML_SCALAR || strspn(n->text, "+-.0123456789eE") != strlen(n->text))
        return 0;
    *value = strtod(n->text, &end);
    return end != n->text && !*end && isfinite(*value) && *value >= least && *value <= most;
}

static int take_number(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                       lg_error *err)
{
    double least, most, real;
    int64_t whole;
    char must[RANGE + 40];
    const struct lg__yaml *n = value_of(s);
    int is_real = k->kind == LG__KEY_REAL;
    lg__config_bounds(k->range, 0, &least, &most);
    if (is_real ? !read_real(n, least, most, &real) : !read_int(n, least, most, &whole)) {
        int may_auto = strncmp(k->range, "auto|", 5) == 0;
        snprintf(must, sizeof must, "%sa %snumber in %s", may_auto ? "auto, or " : "",
                 is_real ? "" : "whole ", k->range + (may_auto ? 5 : 0));
        return wrong(s, k, n, must, err);
    }
    if (is_real)
        *(double *)field(c, k) = real;
    else if (k->kind == LG__KEY_SEED)
        *(int64_t *)field(c, k) = whole;
    else
        *(int *)field(c, k) = (int)whole;
    return 0;
}

/* The place of n's text among the words of the row's range, auto not counted; or -1 with the
 * error. */
static int find_word(const struct said *s, const struct lg__config_key *k, const struct lg__yaml *n,
                     lg_error *err)
{
    char range[RANGE], list[RANGE], must[RANGE + 80];
    const char *words[WORDS];
    int count = 0;
    lg__config_range(k, range, sizeof range);
    strcpy(list, range);
    for (char *rest = list, *word; count < WORDS && (word = strsep(&rest, "|"));)
        words[count++] = word;
    int may_auto = strcmp(words[0], "auto") == 0;
    for (int i = may_auto; n->kind == LG__YAML_SCALAR && i < count; i++)
        if (strcmp(words[i], n->text) == 0) return i - may_auto;
    int near = n->kind == LG__YAML_SCALAR ? lg_nearest(n->text, words, count) : -1;
    if (near >= 0)
        snprintf(must, sizeof must, "one of %s; did you mean \"%s\"?", range, words[near]);
    else
        snprintf(must, sizeof must, "one of %s", range);
    wrong(s, k, n, must, err);
    return -1;
}

static int take_word(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                     lg_error *err)
{
    int i = find_word(s, k, value_of(s), err);
    if (i < 0) return LG_ERROR_ARGUMENT;
    if (k->kind == LG__KEY_NAME)
        *(const char **)field(c, k) = k->name(i);
    else
        memcpy(field(c, k), &i, sizeof i);
    return 0;
}

static int take_task(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                     lg_error *err)
{
    const struct lg__yaml *n = value_of(s);
    const char *names[WORDS];
    int count = 0;
    if (n->kind != LG__YAML_SCALAR) return wrong(s, k, n, "the name of a task", err);
    if (!lg_task_info_find(n->text)) {
        for (; count < lg_task_count() && count < WORDS; count++)
            names[count] = lg_task_info_at(count)->name;
        int near = lg_nearest(n->text, names, count);
        return refuse(s, n, err,
                      "task.name is \"%.80s\", but there is no such task; %s%s%s`lengthen tasks` "
                      "lists them",
                      n->text, near < 0 ? "" : "did you mean \"", near < 0 ? "" : names[near],
                      near < 0 ? "" : "\"? ");
    }
    free(c->task);
    c->task = copy(n->text, strlen(n->text));
    return c->task ? 0 : no_memory(err);
}

static int take_text(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                     lg_error *err)
{
    const struct lg__yaml *n = value_of(s);
    char **text = field(c, k);
    if (n->kind != LG__YAML_SCALAR) return wrong(s, k, n, "a text", err);
    free(*text);
    *text = *n->text ? copy(n->text, strlen(n->text)) : NULL;
    return *text || !*n->text ? 0 : no_memory(err);
}

/* n as [lo, hi], each within its own part of the range. */
static int take_pair(int pair[2], const struct said *s, const struct lg__config_key *k,
                     const struct lg__yaml *n, lg_error *err)
{
    char must[RANGE + 80];
    int64_t value[2] = {0, 0};
    const char *shown = strncmp(k->range, "auto|", 5) == 0 ? k->range + 5 : k->range;
    snprintf(must, sizeof must, "%s[lo, hi] within %s", shown == k->range ? "" : "auto, or ",
             shown);
    if (n->kind != LG__YAML_LIST || n->count != 2) {
        if (n->kind != LG__YAML_LIST) return wrong(s, k, n, must, err);
        return refuse(s, n, err, "%s is a list of %d; it must be %s (%s)", k->key, n->count, must,
                      k->doc);
    }
    const struct lg__yaml *entry = n->first;
    for (int i = 0; i < 2; i++, entry = entry->next) {
        double least, most;
        lg__config_bounds(shown, i, &least, &most);
        if (!read_int(entry, least, most, &value[i])) return wrong(s, k, entry, must, err);
    }
    if (value[0] > value[1])
        return refuse(s, n, err, "%s is [%d, %d]; the lower number comes first: write [%d, %d]",
                      k->key, (int)value[0], (int)value[1], (int)value[1], (int)value[0]);
    pair[0] = (int)value[0];
    pair[1] = (int)value[1];
    return 0;
}

static int take_list(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                     lg_error *err)
{
    const struct lg__yaml *n = value_of(s);
    struct lg__config_list *list = field(c, k);
    double least, most;
    char must[RANGE + 80];
    lg__config_bounds(k->range, 0, &least, &most);
    snprintf(must, sizeof must, "auto, or a list of whole numbers in %.0f..%.0f, as in [20, 100]",
             least, most);
    if (n->kind != LG__YAML_LIST) return wrong(s, k, n, must, err);
    if (!n->count) return refuse(s, n, err, "%s is an empty list; it must be %s", k->key, must);
    int *at = lg__alloc((size_t)n->count * sizeof *at), i = 0;
    if (!at) return no_memory(err);
    for (const struct lg__yaml *entry = n->first; entry; entry = entry->next) {
        int64_t value;
        if (!read_int(entry, least, most, &value)) {
            free(at);
            return wrong(s, k, entry, must, err);
        }
        at[i++] = (int)value;
    }
    free(list->at);
    *list = (struct lg__config_list){at, i};
    return 0;
}

/* Of a list with one entry a level. */
static int check_levels(const struct said *s, const struct lg__config_key *k,
                        const struct lg__yaml *n, lg_error *err)
{
    if (n->count >= 1 && n->count <= LG_LEVELS) return 0;
    return refuse(s, n, err,
                  "%s is a list of %d; write one value for all levels, or a list of 1 "
                  "to %d, one per level",
                  k->key, n->count, LG_LEVELS);
}

static int take_source(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                       lg_error *err)
{
    const struct lg__yaml *n = value_of(s), *entry = n;
    int list = n->kind == LG__YAML_LIST, e;
    if (list && (e = check_levels(s, k, n, err))) return e;
    c->source_count = list ? n->count : 0;
    if (list) entry = n->first;
    for (int l = 0; l < LG_LEVELS; l++) {
        c->scheme.source[l] = k->name(0);
        if (!entry) continue;
        int i = find_word(s, k, entry, err);
        if (i < 0) return LG_ERROR_ARGUMENT;
        c->scheme.source[l] = k->name(i);
        if (list) entry = entry->next;
    }
    return 0;
}

static int take_window(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                       lg_error *err)
{
    const struct lg__yaml *n = value_of(s), *entry = n;
    int pair[2] = {0, 0}, e = 0;
    int list = n->kind == LG__YAML_LIST && n->first && n->first->kind == LG__YAML_LIST;
    if (list && (e = check_levels(s, k, n, err))) return e;
    c->window_count = list ? n->count : 0;
    if (list) entry = n->first;
    for (int l = 0; l < LG_LEVELS; l++) {
        if (entry && (e = take_pair(pair, s, k, entry, err))) return e;
        c->model.window_lo[l] = pair[0]; /* levels that the list leaves out have its last */
        c->model.window_hi[l] = pair[1];
        if (list && entry) entry = entry->next;
    }
    return 0;
}

static int take(struct lg__config *c, const struct said *s, const struct lg__config_key *k,
                lg_error *err)
{
    switch (k->kind) {
    case LG__KEY_INT:
    case LG__KEY_SEED:
    case LG__KEY_REAL: return take_number(c, s, k, err);
    case LG__KEY_WORD:
    case LG__KEY_NAME: return take_word(c, s, k, err);
    case LG__KEY_TASK: return take_task(c, s, k, err);
    case LG__KEY_TEXT: return take_text(c, s, k, err);
    case LG__KEY_PAIR: return take_pair(field(c, k), s, k, value_of(s), err);
    case LG__KEY_LIST: return take_list(c, s, k, err);
    case LG__KEY_SOURCE: return take_source(c, s, k, err);
    case LG__KEY_WINDOW: break;
    }
    return take_window(c, s, k, err);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static int is_auto(const struct lg__config_key *k, const struct lg__yaml *n)
{
    return strncmp(k->range, "auto|", 5) == 0 && n->kind == LG__YAML_SCALAR &&
           strcmp(n->text, "auto") == 0;
}

/* auto is what the arch has, or nothing: an empty list, two zeros. */
static void take_auto(struct lg__config *c, const struct lg__config_key *k)
{
    struct lg__config d = {.model = lg_model_config_default(c->model.arch)};
    struct lg__config_list *list = field(c, k);
    if (k->kind == LG__KEY_LIST) {
        free(list->at);
        *list = (struct lg__config_list){0};
    } else {
        size_t size = k->kind == LG__KEY_PAIR ? 2 * sizeof(int) : sizeof(int);
        memcpy(field(c, k), field(&d, k), size);
    }
}

static int take_said(struct lg__config *c, const struct said *s, lg_error *err)
{
    const struct lg__config_key *k = lg__config_find(s->key);
    if (!k) return 0; /* a setting of the task: read when the task is known */
    c->line[k - lg__config_keys(NULL)] = s->tree && !s->owned ? s->tree->line : 0;
    if (!is_auto(k, value_of(s))) return take(c, s, k, err);
    take_auto(c, k);
    return 0;
}

/* Every key has its default, the model that of its arch, which is read first. */
static int take_defaults(struct reader *r)
{
    int count, e = 0;
    const struct lg__config_key *k = lg__config_keys(&count);
    const struct said *arch = said_of(r, "model.arch");
    r->c->scheme = lg_scheme_default();
    r->c->train = lg_train_options_default();
    if (arch && (e = take_said(r->c, arch, r->err))) return e;
    r->c->model = lg_model_config_default(r->c->model.arch);
    for (int i = 0; i < count && !e; i++) {
        if (!*k[i].fallback || strcmp(k[i].key, "model.arch") == 0) continue;
        struct said s = {0};
        s.key = join("", k[i].key);
        e = s.key ? parse_value(&s, &k[i], k[i].fallback, r->err) : no_memory(r->err);
        if (!e) e = take_said(r->c, &s, r->err);
        if (s.tree) lg__yaml_free(s.tree);
        free(s.key);
    }
    return e;
}

/* "name=value" of a setting; a list is written with commas. NULL: no memory. */
static char *name_value(const char *name, const struct lg__yaml *n)
{
    int list = n->kind == LG__YAML_LIST;
    size_t size = strlen(name) + 2 + (list ? 0 : strlen(n->text)), at;
    for (const struct lg__yaml *i = list ? n->first : NULL; i; i = i->next)
        size += strlen(i->text) + 1;
    char *text = lg__alloc(size);
    if (!text) return NULL;
    at = (size_t)snprintf(text, size, "%s=%s", name, list ? "" : n->text);
    for (const struct lg__yaml *i = list ? n->first : NULL; i; i = i->next)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i->text, i->next ? "," : "");
    return text;
}

/* "name=value" as the task is to have it; s NULL: the default. */
static char *setting_text(const lg_setting *row, const struct said *s)
{
    struct lg__yaml fallback = {.kind = LG__YAML_SCALAR, .text = row->fallback};
    return name_value(row->name, s ? value_of(s) : &fallback);
}

/* A setting is one word or number, or a list of words where its range is one, "[PATH, ..]". */
static int check_kind(const struct said *s, const lg_task_info *info, lg_error *err)
{
    const struct lg__yaml *n = value_of(s);
    int lists = 0, comma = 0, words = n->kind == LG__YAML_LIST;
    for (const lg_setting *row = info->settings; row && row->name; row++)
        lists |= *row->range == '[' && strcmp(row->name, s->key + strlen("task.")) == 0;
    for (const struct lg__yaml *i = words ? n->first : NULL; i; i = i->next) {
        words &= i->kind == LG__YAML_SCALAR;
        comma |= words && strchr(i->text, ',') != NULL;
    }
    if (comma)
        return refuse(s, n, err,
                      "%s has a comma in one of its names, which parts names; write ? "
                      "in its place",
                      s->key);
    if (n->kind == LG__YAML_SCALAR || (lists && words)) return 0;
    return refuse(s, n, err, "%s is %s; it must be one word or number%s", s->key, kind_name(n),
                  lists ? ", or a list of words" : "");
}

/* The key that was meant by a setting which the task does not have: "train.length" for
 * "task.length"; or NULL. */
static const char *moved(const char *key, const lg_task_info *info)
{
    const char *name = key + strlen("task."), *near = lg_config_nearest(key);
    const char *dot = near ? strrchr(near, '.') : NULL;
    for (const lg_setting *row = info->settings; row && row->name; row++)
        if (strcmp(row->name, name) == 0) return NULL;
    return near && strcmp(dot ? dot + 1 : near, name) == 0 ? near : NULL;
}

/* What is said of a setting must be one of the task's, and in its range. */
static int check_setting(const struct said *s, const lg_task_info *info, lg_error *err)
{
    struct lg__value value[WORDS]; /* of all settings: a task has 16 at most */
    const struct lg__yaml *n = value_of(s);
    char who[80];
    lg_error inner = {0};
    int bad = check_kind(s, info, err);
    if (bad) return bad;
    const char *near = moved(s->key, info), *name = s->key + strlen("task.");
    if (near)
        return refuse(s, n, err, "task %s has no setting \"%s\"; did you mean \"%s\"?", info->name,
                      name, near);
    char *text = name_value(name, n);
    if (!text) return no_memory(err);
    snprintf(who, sizeof who, "task %s", info->name);
    const char *const one = text;
    int e = lg__settings_read(value, WORDS, info->settings, &one, 1, who, &inner);
    free(text);
    return e ? refuse(s, n, err, "%s", inner.text) : 0;
}

static int take_settings(struct reader *r)
{
    const lg_task_info *info = lg_task_info_find(r->c->task);
    int n = lg__settings_count(info->settings), e = 0;
    for (int i = 0; i < r->count && !e; i++)
        if (is_setting(said_at(r, i)->key)) e = check_setting(said_at(r, i), info, r->err);
    if (e) return e;
    r->c->settings = lg__alloc(((size_t)n + 1) * sizeof *r->c->settings);
    if (!r->c->settings) return no_memory(r->err);
    for (; r->c->setting_count < n; r->c->setting_count++) {
        const lg_setting *row = &info->settings[r->c->setting_count];
        char *key = join("task", row->name);
        char *text = key ? setting_text(row, said_of(r, key)) : NULL;
        free(key);
        if (!text) return no_memory(r->err);
        r->c->settings[r->c->setting_count] = text;
    }
    return 0;
}

/* auto that depends on other keys. */
static int resolve(struct lg__config *c, lg_error *err)
{
    static const int times[] = {1, 2, 5, 10};
    enum { TIMES = sizeof times / sizeof *times, MOST = 1 << 20 };
    if (!c->model.ff) c->model.ff = 4 * c->model.width;
    if (c->eval_lengths.count) return 0;
    c->eval_lengths.at = lg__alloc(TIMES * sizeof *c->eval_lengths.at);
    if (!c->eval_lengths.at) return no_memory(err);
    for (int i = 0; i < TIMES && c->length[1] <= MOST / times[i]; i++)
        c->eval_lengths.at[c->eval_lengths.count++] = times[i] * c->length[1];
    return 0;
}

/* What was said last of two keys, or NULL. */
static const struct said *later(const struct reader *r, const char *a, const char *b)
{
    for (int i = r->count - 1; i >= 0; i--)
        if (strcmp(said_at(r, i)->key, a) == 0 || strcmp(said_at(r, i)->key, b) == 0)
            return said_at(r, i);
    return NULL;
}

/* What two keys must keep between them, blamed on the one that was said last. */
static int check_together(struct reader *r)
{
    const struct lg__config *c = r->c;
    const struct said *a = later(r, "model.heads", "model.width");
    if (c->model.width % c->model.heads)
        return refuse(
            a, a ? value_of(a) : NULL, r->err,
            "model.width is %d, which is no multiple of model.heads, %d; take a width of %d",
            c->model.width, c->model.heads, (c->model.width / c->model.heads + 1) * c->model.heads);
    a = said_of(r, "train.groups");
    if (c->train.groups & (c->train.groups - 1))
        return refuse(a, a ? value_of(a) : NULL, r->err,
                      "train.groups is %d; it must be a power of two: 1, 2, 4, 8, 16, 32 or 64",
                      c->train.groups);
    a = later(r, "train.cooldown", "train.steps");
    if (c->train.cooldown > c->train.steps)
        return refuse(a, a ? value_of(a) : NULL, r->err,
                      "train.cooldown is %d, but there are %d steps (train.steps); make it shorter",
                      c->train.cooldown, c->train.steps);
    return 0;
}

static int no_task(const char *file, lg_error *err)
{
    lg__fail(err, LG_ERROR_ARGUMENT,
             "task.name is missing, and nothing says what to train on; write \"task: {name: "
             "parity-scratchpad}\" or --set task.name=parity-scratchpad (`lengthen tasks` lists "
             "them)");
    lg__error_key(err, "task.name");
    if (file) lg__error_place(err, file, 0);
    return LG_ERROR_ARGUMENT;
}

static int read_all(struct reader *r, const char *file, const char *const *sets, int count)
{
    int e = file ? read_file(r, file) : 0;
    for (int i = 0; i < count && !e; i++) e = add_set(r, sets[i], i + 1);
    if (!e) e = take_defaults(r);
    for (int i = 0; i < r->count && !e; i++) e = take_said(r->c, said_at(r, i), r->err);
    if (e) return e;
    for (int i = 0; i < r->count && !r->c->task; i++) /* a slip in "name" is taken for a setting */
        if (lg_nearest(said_at(r, i)->key, (const char *const[]){"task.name"}, 1) == 0)
            return unknown(said_at(r, i), said_at(r, i)->key, r->err);
    if (!r->c->task) return no_task(file, r->err);
    if ((e = take_settings(r)) || (e = check_together(r))) return e;
    return resolve(r->c, r->err);
}

int lg__config_read(struct lg__config *c, const char *file, const char *const *sets, int count,
                    lg_error *err)
{
    *c = (struct lg__config){0};
    lg_error own = {0};
    struct reader r = {.c = c, .err = err ? err : &own};
    lg_text_task_add(); /* a config may name it */
    int e = read_all(&r, file, sets, count);
    for (int i = 0; i < r.count; i++) {
        if (said_at(&r, i)->owned) lg__yaml_free(said_at(&r, i)->tree);
        free(said_at(&r, i)->key);
    }
    lg__block_free(&r.block);
    lg__yaml_free(r.root);
    if (e) lg__config_clear(c);
    return e;
}

void lg__config_clear(struct lg__config *c)
{
    for (int i = 0; i < c->setting_count; i++) free(c->settings[i]);
    free(c->settings);
    free(c->file);
    free(c->task);
    free(c->coupling);
    free(c->init_from);
    free(c->eval_lengths.at);
    free(c->eval_sparsities.at);
    *c = (struct lg__config){0};
}
