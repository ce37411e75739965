/* yaml.c: libyaml's events made into a tree. Nodes and texts lie in chunks that are freed
 * together; children are linked, so that nothing grows. */
#include "base/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"

enum { CHUNK = 1 << 16, MOST_DEPTH = 64 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char data[];
};

/* The root comes first, so that a pointer to it is one to the document. */
struct document {
    struct lg__yaml root;
    struct chunk *chunks;
    yaml_parser_t *parser; /* while it is read */
};

static void *take(struct document *d, size_t size)
{
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct chunk *c = d->chunks;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;
        c = lg__alloc(sizeof *c + room);
        if (!c) return NULL;
        c->next = d->chunks;
        c->size = room;
        d->chunks = c;
    }
    void *data = c->data + c->used;
    c->used += size;
    return data;
}

static const char *take_text(struct document *d, const char *text, size_t length)
{
    char *copy = take(d, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void lg__yaml_free(struct lg__yaml *root)
{
    if (!root) return;
    struct document *d = (struct document *)root;
    for (struct chunk *c = d->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(d);
}

int lg__yaml_fail(const struct lg__yaml *n, lg_error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lg__fail_key(err, LG_ERROR_ARGUMENT, n->key ? n->key : "", "%s", text);
    lg__error_place(err, n->file, n->line);
    return LG_ERROR_ARGUMENT;
}

/* ---- Reading ---------------------------------------------------------------------------- */

static int refuse(const struct document *d, size_t line, lg_error *err, const char *what)
{
    lg__fail(err, LG_ERROR_ARGUMENT, "%s", what);
    lg__error_place(err, d->root.file, (int)line + 1);
    return LG_ERROR_ARGUMENT;
}

static int no_memory(const struct document *d, lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "%s: no memory to read it; end other programs",
                    d->root.file);
}

static int next_event(struct document *d, yaml_event_t *event, lg_error *err)
{
    yaml_parser_t *p = d->parser;
    if (yaml_parser_parse(p, event)) {
        if (event->type != YAML_SCALAR_EVENT ||
            !memchr(event->data.scalar.value, 0, event->data.scalar.length))
            return 0;
        size_t line = event->start_mark.line;
        yaml_event_delete(event);
        return refuse(d, line, err, "there is a zero byte (\\0) in this text; take it out");
    }
    if (p->error == YAML_MEMORY_ERROR) return no_memory(d, err);
    int reads = p->error != YAML_READER_ERROR;
    if (!reads)
        lg__fail(err, LG_ERROR_ARGUMENT,
                 "byte %zu of the file cannot be read as text (%s); save it as UTF-8",
                 p->problem_offset, p->problem ? p->problem : "unknown");
    else
        lg__fail(err, LG_ERROR_ARGUMENT,
                 "this is not YAML: %s%s%s; correct this line or one before it",
                 p->problem ? p->problem : "unknown", p->context ? ", " : "",
                 p->context ? p->context : "");
    lg__error_place(err, d->root.file, (int)(reads ? p->problem_mark : p->mark).line + 1);
    return LG_ERROR_ARGUMENT;
}

static int compare_keys(const void *a, const void *b)
{
    const struct lg__yaml *x = *(struct lg__yaml *const *)a, *y = *(struct lg__yaml *const *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : x->line - y->line;
}

/* Tables may have a million keys, so they are sorted to find two that are equal. */
static int check_twice(struct document *d, const struct lg__yaml *map, lg_error *err)
{
    if (map->count < 2) return 0;
    struct lg__yaml **sorted = lg__alloc((size_t)map->count * sizeof *sorted);
    if (!sorted) return no_memory(d, err);
    int e = 0, n = 0;
    for (struct lg__yaml *v = map->first; v; v = v->next) sorted[n++] = v;
    qsort(sorted, (size_t)n, sizeof *sorted, compare_keys);
    for (int i = 1; i < n && !e; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            e = lg__yaml_fail(sorted[i], err,
                              "\"%.80s\" is said already in line %d; keep one of them",
                              sorted[i]->key, sorted[i - 1]->line);
    free(sorted);
    return e;
}

static int fill(struct document *d, struct lg__yaml *n, yaml_event_t *event, int depth,
                lg_error *err);

/* Reads entries up to the list's or map's end. */
static int fill_entries(struct document *d, struct lg__yaml *n, int depth, lg_error *err)
{
    struct lg__yaml **link = &n->first;
    int map = n->kind == LG__YAML_MAP, e = 0;
    if (depth == MOST_DEPTH) return lg__yaml_fail(n, err, "this is nested too deeply; flatten it");
    for (;;) {
        yaml_event_t event;
        if ((e = next_event(d, &event, err))) return e;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return map ? check_twice(d, n, err) : 0;
        }
        struct lg__yaml *entry = take(d, sizeof *entry);
        int key_line = (int)event.start_mark.line + 1;
        if (!entry) {
            e = no_memory(d, err);
        } else if (map && event.type != YAML_SCALAR_EVENT) {
            e = refuse(d, event.start_mark.line, err,
                       "a key must be plain text here; write \"key: value\"");
        } else if (map) {
            entry->key = take_text(d, (char *)event.data.scalar.value, event.data.scalar.length);
            if (!entry->key) e = no_memory(d, err);
            yaml_event_delete(&event);
            if (!e) e = next_event(d, &event, err);
            if (e) return e;
        }
        if (!e) e = fill(d, entry, &event, depth + 1, err);
        yaml_event_delete(&event);
        if (e) return e;
        if (map) entry->line = key_line;
        *link = entry;
        link = &entry->next;
        n->count++;
    }
}

/* Makes n the value that starts with this event. */
static int fill(struct document *d, struct lg__yaml *n, yaml_event_t *event, int depth,
                lg_error *err)
{
    n->file = d->root.file;
    n->line = (int)event->start_mark.line + 1;
    n->text = "";
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        n->kind = LG__YAML_SCALAR;
        n->text = take_text(d, (char *)event->data.scalar.value, event->data.scalar.length);
        return n->text ? 0 : no_memory(d, err);
    case YAML_SEQUENCE_START_EVENT: n->kind = LG__YAML_LIST; break;
    case YAML_MAPPING_START_EVENT: n->kind = LG__YAML_MAP; break;
    default:
        return refuse(d, event->start_mark.line, err,
                      "references (*name) are not read; write the value out");
    }
    return fill_entries(d, n, depth, err);
}

/* The one document of the stream. */
static int fill_root(struct document *d, lg_error *err)
{
    for (int values = 0;;) {
        yaml_event_t event;
        int e = next_event(d, &event, err);
        if (e) return e;
        yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && values)
            e = refuse(d, event.start_mark.line, err,
                       "a second document starts here; put it into a file of its own");
        else if (type == YAML_STREAM_END_EVENT && !values)
            e = refuse(d, 0, err, "there is nothing in it; write \"key: value\" lines");
        else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
                 type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT) {
            e = fill(d, &d->root, &event, 0, err);
            values++;
        }
        yaml_event_delete(&event);
        if (e || type == YAML_STREAM_END_EVENT) return e;
    }
}

/* From f or, where that is NULL, from text. */
static struct lg__yaml *load(const char *name, FILE *f, const char *text, lg_error *err)
{
    yaml_parser_t parser;
    struct document *d = lg__alloc(sizeof *d);
    if (!d || !yaml_parser_initialize(&parser)) {
        lg__fail(err, LG_ERROR_MEMORY, "%s: no memory to read it; end other programs", name);
        free(d);
        return NULL;
    }
    if (f)
        yaml_parser_set_input_file(&parser, f);
    else
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    d->parser = &parser;
    d->root.file = name; /* until there is a copy: take_text may fail */
    const char *copy = take_text(d, name, strlen(name));
    int e = copy ? 0 : no_memory(d, err);
    if (!e) {
        d->root.file = copy;
        e = fill_root(d, err);
    }
    yaml_parser_delete(&parser);
    if (!e) return &d->root;
    lg__yaml_free(&d->root);
    return NULL;
}

struct lg__yaml *lg__yaml_parse(const char *name, const char *text, lg_error *err)
{
    return load(name, NULL, text, err);
}

struct lg__yaml *lg__yaml_read(const char *path, lg_error *err)
{
    struct lg__yaml *root = NULL;
    FILE *f = fopen(path, "rb");
    int first = f ? fgetc(f) : EOF; /* a folder can be opened, but not read */
    if (!f || (first == EOF && ferror(f))) {
        lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; check the name", path,
                 strerror(errno));
    } else {
        if (first != EOF) ungetc(first, f);
        root = load(path, f, NULL, err);
    }
    if (f) fclose(f);
    return root;
}

/* ---- Looking up ------------------------------------------------------------------------- */

const struct lg__yaml *lg__yaml_get(const struct lg__yaml *map, const char *key)
{
    for (const struct lg__yaml *n = map->first; n; n = n->next)
        if (n->key && strcmp(n->key, key) == 0) return n;
    return NULL;
}

/* How a value is called in a message. */
static const char *name_of(const struct lg__yaml *n) { return n->key ? n->key : "this entry"; }

int lg__yaml_is(const struct lg__yaml *n, enum lg__yaml_kind kind, lg_error *err)
{
    static const char *const what[] = {"a single value", "a list", "a map"};
    static const char *const remedy[] = {"write one word or number", "write [a, b, ..]",
                                         "write {key: value, ..}"};
    if (n->kind == kind) return 0;
    return lg__yaml_fail(n, err, "%.80s is %s, but must be %s; %s", name_of(n), what[n->kind],
                         what[kind], remedy[kind]);
}

/* "a, b, c", cut where it does not fit. */
static void enumerate(char *list, size_t size, const char *const *words, int n)
{
    size_t used = 0;
    *list = 0;
    for (int i = 0; i < n; i++) {
        size_t length = strlen(words[i]);
        if (used + length + 3 > size) return;
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "", words[i]);
    }
}

static int count_words(const char *const *words)
{
    int n = 0;
    while (words[n]) n++;
    return n;
}

int lg__yaml_keys(const struct lg__yaml *map, const char *const *known, lg_error *err)
{
    int count = count_words(known), e = lg__yaml_is(map, LG__YAML_MAP, err);
    for (const struct lg__yaml *n = map->first; n && !e; n = n->next) {
        int k = 0;
        while (k < count && strcmp(known[k], n->key) != 0) k++;
        if (k < count) continue;
        char list[256];
        enumerate(list, sizeof list, known, count);
        k = lg_nearest(n->key, known, count);
        e = lg__yaml_fail(n, err, "there is no key \"%.80s\"%s%s%s the keys are: %s", n->key,
                          k < 0 ? ";" : "; did you mean \"", k < 0 ? "" : known[k],
                          k < 0 ? "" : "\"?", list);
    }
    return e;
}

int lg__yaml_need(const struct lg__yaml *map, const char *key, enum lg__yaml_kind kind,
                  const struct lg__yaml **value, lg_error *err)
{
    int e = lg__yaml_is(map, LG__YAML_MAP, err);
    if (e) return e;
    *value = lg__yaml_get(map, key);
    if (*value) return lg__yaml_is(*value, kind, err);
    return lg__yaml_fail(map, err, "\"%s\" is missing%s%s; add it", key, map->key ? " in " : "",
                         map->key ? map->key : "");
}

/* ---- Scalars ---------------------------------------------------------------------------- */

int lg__yaml_int(const struct lg__yaml *n, int64_t least, int64_t most, int64_t *value,
                 lg_error *err)
{
    int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e) return e;
    char *end;
    errno = 0;
    *value = strtoll(n->text, &end, 10);
    if (end != n->text && !*end && !errno && *value >= least && *value <= most) return 0;
    return lg__yaml_fail(n, err, "%.80s is \"%.80s\"; it must be a whole number in %lld..%lld",
                         name_of(n), n->text, (long long)least, (long long)most);
}

int lg__yaml_real(const struct lg__yaml *n, double least, double most, double *value, lg_error *err)
{
    int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e) return e;
    char *end;
    *value = strtod(n->text, &end);
    if (end != n->text && !*end && isfinite(*value) && *value >= least && *value <= most) return 0;
    return lg__yaml_fail(n, err, "%.80s is \"%.80s\"; it must be a number in %g..%g", name_of(n),
                         n->text, least, most);
}

int lg__yaml_choice(const struct lg__yaml *n, const char *const *words, int *value, lg_error *err)
{
    int count = count_words(words), e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e) return e;
    for (*value = 0; *value < count; ++*value)
        if (strcmp(words[*value], n->text) == 0) return 0;
    char list[256];
    enumerate(list, sizeof list, words, count);
    return lg__yaml_fail(n, err, "%.80s is \"%.80s\"; it must be one of: %s", name_of(n), n->text,
                         list);
}
