/* sweep_file.c: a sweep's file to its runs. The config, from its own file or from the sweep's, and
 * what varies all become sets ("key=value"), each with the place where it is said. The files are
 * read once: who edits them while the sweep runs does not change its later runs. */
#include "study/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/config.h"
#include "study/experiment.h"

enum { MOST_RUNS = 10000, MOST_NAME = 200, KEY = 256, PATH = 4096 };

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a sweep; end other programs");
}

static struct lg__sweep_set *set_at(const struct lg__sweep_plan *p, int i)
{
    return (struct lg__sweep_set *)p->sets.data + i;
}

/* Whether a "key=value" is of this key. */
static int is_of(const char *set, const char *key)
{
    size_t n = strcspn(key, "=");
    return strcspn(set, "=") == n && strncmp(set, key, n) == 0;
}

/* The first of the sets from..to-1 with the key of `set`, or NULL. */
static const struct lg__sweep_set *find_set(const struct lg__sweep_plan *p, int from, int to,
                                            const char *set)
{
    for (int i = from; i < to; i++)
        if (is_of(set_at(p, i)->text, set)) return set_at(p, i);
    return NULL;
}

/* ---- Keys and values --------------------------------------------------------------------- */

/* A value as text: what --set takes. */
static int put_value(lg_buffer *to, const struct lg__yaml *n, lg_error *err)
{
    int e = 0;
    if (n->kind == LG__YAML_MAP)
        return lg__yaml_fail(n, err,
                             "a map cannot be a value here; write a word, a number or a "
                             "list");
    if (n->kind == LG__YAML_SCALAR) {
        lg_buffer_put(to, n->text);
        return 0;
    }
    lg_buffer_put(to, "[");
    for (const struct lg__yaml *v = n->first; v && !e; v = v->next) {
        e = put_value(to, v, err);
        if (v->next) lg_buffer_put(to, ", ");
    }
    lg_buffer_put(to, "]");
    return e;
}

/* The text of the buffer, unless e says that it is not to be. */
static int finish(lg_buffer *b, int e, char **text, lg_error *err)
{
    *text = e ? NULL : lg_buffer_take(b, NULL);
    lg_buffer_clear(b);
    return e || *text ? e : no_memory(err);
}

/* Behind the value where `text` begins with it, or NULL. */
static const char *past(const struct lg__yaml *n, const char *text)
{
    const char *begin = n->kind == LG__YAML_LIST ? "[" : n->text;
    if (n->kind == LG__YAML_MAP || strncmp(text, begin, strlen(begin)) != 0) return NULL;
    text += strlen(begin);
    if (n->kind == LG__YAML_SCALAR) return text;
    for (const struct lg__yaml *v = n->first; v && text; v = v->next) {
        text = past(v, text);
        if (text && v->next) text = strncmp(text, ", ", 2) == 0 ? text + 2 : NULL;
    }
    return text && *text == ']' ? text + 1 : NULL;
}

int lg__sweep_is(const struct lg__yaml *n, const char *text)
{
    const char *end = past(n, text);
    return end && !*end;
}

int lg__sweep_text(const struct lg__yaml *n, char **text, lg_error *err)
{
    lg_buffer b = {0};
    return finish(&b, put_value(&b, n, err), text, err);
}

/* The list of a setting of the task, as --set takes it: commas between the words. */
static int put_words(lg_buffer *to, const struct lg__yaml *list, lg_error *err)
{
    for (const struct lg__yaml *n = list->first; n; n = n->next) {
        int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
        if (e) return e;
        if (strchr(n->text, ','))
            return lg__yaml_fail(
                n, err, "\"%.80s\" has a comma, which parts names; write ? in its place", n->text);
        lg_buffer_print(to, "%s%s", n->text, n->next ? "," : "");
    }
    return 0;
}

/* "key=value", to be freed. */
static int make_set(const char *key, const struct lg__yaml *n, char **text, lg_error *err)
{
    lg_buffer b = {0};
    lg_buffer_print(&b, "%s=", key);
    int words = n->kind == LG__YAML_LIST && strncmp(key, "task.", 5) == 0;
    return finish(&b, (words ? put_words : put_value)(&b, n, err), text, err);
}

/* Adds key=value; a key that one of the sets from `from` on has already is refused. */
static int add_set(struct lg__sweep_plan *p, const char *key, const struct lg__yaml *n, int from,
                   lg_error *err)
{
    struct lg__sweep_set s = {.at = n};
    size_t size = ((size_t)p->set_count + 1) * sizeof s;
    if (p->set_count - from >= LG__CONFIG_MOST)
        return lg__yaml_fail(n, err, "these are over %d keys; take out what is no setting",
                             LG__CONFIG_MOST);
    const struct lg__sweep_set *before = find_set(p, from, p->set_count, key);
    if (before)
        return lg__yaml_fail(n, err, "%s is said already in line %d; keep one of them", key,
                             before->at->line);
    int e = size > p->sets.size
                ? lg__block_grow(&p->sets, 2 * size, p->set_count > 0, "a sweep", err)
                : 0;
    if (!e) e = make_set(key, n, &s.text, err);
    if (!e) *set_at(p, p->set_count++) = s;
    return e;
}

int lg__sweep_check_key(const struct lg__yaml *n, const char *key, lg_error *err)
{
    if (lg__config_find(key) || (strncmp(key, "task.", 5) == 0 && key[5])) return 0;
    const char *near = lg_config_nearest(key);
    if (near)
        return lg__yaml_fail(n, err, "there is no key \"%.80s\"; did you mean \"%s\"?", key, near);
    return lg__yaml_fail(n, err, "there is no key \"%.80s\"; docs/CONFIG.md lists all keys", key);
}

/* Whether it may be read as a map: one without entries is empty text in YAML. */
static int is_map(const struct lg__yaml *n)
{
    return n->kind == LG__YAML_MAP || (n->kind == LG__YAML_SCALAR && !*n->text);
}

/* Adds the keys of a map, whose own name is `path`, as in a config. */
static int add_map(struct lg__sweep_plan *p, const char *path, const struct lg__yaml *map, int from,
                   lg_error *err)
{
    char key[KEY];
    int e = is_map(map) ? 0 : lg__yaml_is(map, LG__YAML_MAP, err);
    for (const struct lg__yaml *n = map->first; n && !e; n = n->next) {
        snprintf(key, sizeof key, "%s%s%s", path, *path ? "." : "", n->key);
        if (lg__config_section(key))
            e = add_map(p, key, n, from, err);
        else if (!(e = lg__sweep_check_key(n, key, err)))
            e = add_set(p, key, n, from, err);
    }
    return e;
}

/* ---- What varies ------------------------------------------------------------------------- */

/* Its name is what comes after the = of its set. */
static int add_listed(struct lg__sweep_plan *p, struct lg__sweep_axis *a, const struct lg__yaml *n,
                      lg_error *err)
{
    struct lg__sweep_value *v = &a->values[a->count];
    *v = (struct lg__sweep_value){.first = p->set_count, .count = 1};
    int e = add_set(p, a->at->key, n, p->set_count, err);
    if (e) return e;
    v->name = strdup(strchr(set_at(p, v->first)->text, '=') + 1);
    if (!v->name) return no_memory(err);
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->values[i].name, v->name) == 0) {
            free(v->name);
            return lg__yaml_fail(n, err, "%s has the value %.80s twice; take one of them out",
                                 a->at->key, a->values[i].name);
        }
    a->count++;
    return 0;
}

static int add_bundle(struct lg__sweep_plan *p, struct lg__sweep_axis *a, const struct lg__yaml *n,
                      lg_error *err)
{
    struct lg__sweep_value *v = &a->values[a->count];
    *v = (struct lg__sweep_value){.first = p->set_count};
    int e = add_map(p, "", n, p->set_count, err);
    if (e) return e;
    v->count = p->set_count - v->first;
    v->name = strdup(n->key);
    if (!v->name) return no_memory(err);
    a->count++;
    return 0;
}

/* A key takes a list, a name of the user's own a map of bundles. */
static int check_axis(const struct lg__yaml *n, lg_error *err)
{
    int known = lg__config_find(n->key) || strncmp(n->key, "task.", 5) == 0, e = 0;
    if (lg__config_section(n->key))
        return lg__yaml_fail(n, err,
                             "\"%s\" is a map of keys; vary one of them, with its whole name, as "
                             "in train.lr: [1e-3, 4e-3]",
                             n->key);
    if (n->kind != LG__YAML_MAP) e = lg__sweep_check_key(n, n->key, err);
    if (!e && known) e = lg__yaml_is(n, LG__YAML_LIST, err);
    if (!e && !known) e = lg__yaml_is(n, LG__YAML_MAP, err);
    if (!e && !n->count)
        e = lg__yaml_fail(n, err, "%s has no values; give it at least one, or take it out", n->key);
    return e;
}

/* No key may come from two of them. */
static int check_apart(const struct lg__sweep_plan *p, int from, lg_error *err)
{
    for (int i = from; i < p->set_count; i++) {
        const struct lg__sweep_set *s = set_at(p, i);
        const struct lg__sweep_set *before = find_set(p, p->config_count, from, s->text);
        if (before)
            return lg__yaml_fail(s->at, err,
                                 "%.*s is varied already in line %d; vary it in one place",
                                 (int)strcspn(s->text, "="), s->text, before->at->line);
    }
    return 0;
}

/* Whether the list has the name; no list has every one. */
static int is_kept(const struct lg__yaml *list, const char *name)
{
    const struct lg__yaml *n = list ? list->first : NULL;
    while (n && strcmp(n->text, name) != 0) n = n->next;
    return !list || n;
}

/* The scale's list is in the place of the axis's own, or says which bundles are kept. */
static int add_axis(struct lg__sweep_plan *p, const struct lg__yaml *n, lg_error *err)
{
    int e = check_axis(n, err), from = p->set_count;
    if (e) return e;
    const struct lg__yaml *scaled = lg__sweep_scaled(p->scale, n->key);
    const struct lg__yaml *list = n->kind == LG__YAML_LIST && scaled ? scaled : n;
    if (list->count > MOST_RUNS)
        return lg__yaml_fail(list, err,
                             "%s has %d values, and a sweep has at most %d runs; make "
                             "several sweeps of it",
                             n->key, list->count, MOST_RUNS);
    struct lg__sweep_axis *a = &p->axes[p->axis_count++];
    a->at = n;
    a->values = lg__alloc((size_t)list->count * sizeof *a->values);
    if (!a->values) return no_memory(err);
    for (const struct lg__yaml *v = list->first; v && !e; v = v->next)
        if (n->kind == LG__YAML_LIST)
            e = add_listed(p, a, v, err);
        else if (is_kept(scaled, v->key))
            e = add_bundle(p, a, v, err);
    return e ? e : check_apart(p, from, err);
}

/* ---- The file ---------------------------------------------------------------------------- */

/* A file that is not YAML, or not there, is wrong use. */
static int read_yaml(const char *path, struct lg__yaml **root, lg_error *err)
{
    lg_error why = {0};
    if ((*root = lg__yaml_read(path, &why))) return 0;
    return lg__fail(err, why.code == LG_ERROR_MEMORY ? why.code : LG_ERROR_ARGUMENT, "%s",
                    why.text);
}

/* The config's own file; its name is relative to the sweep's. */
static int read_base(struct lg__sweep_plan *p, const struct lg__yaml *n, lg_error *err)
{
    char path[PATH];
    const char *slash = strrchr(n->file, '/');
    int e = lg__yaml_is(n, LG__YAML_SCALAR, err);
    if (e) return e;
    int folder = slash && *n->text != '/' ? (int)(slash - n->file) + 1 : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, n->file, n->text);
    if (access(path, R_OK) != 0)
        return lg__yaml_fail(n, err,
                             "base is %s, which cannot be read (%s); give a config, its path "
                             "relative to this file",
                             path, strerror(errno));
    e = read_yaml(path, &p->base, err);
    if (!e) e = lg__yaml_is(p->base, LG__YAML_MAP, err);
    return e ? e : add_map(p, "", p->base, 0, err);
}

static int read_config(struct lg__sweep_plan *p, lg_error *err)
{
    const struct lg__yaml *base = lg__yaml_get(p->file, "base");
    const struct lg__yaml *config = lg__yaml_get(p->file, "config");
    if (!base == !config)
        return lg__yaml_fail(base ? base : p->file, err,
                             "%s of base (a config's file) and config (its keys); write one of "
                             "them",
                             base ? "there are both" : "there is none");
    int e = base ? read_base(p, base, err) : add_map(p, "", config, 0, err);
    const struct lg__yaml *set = p->scale ? lg__yaml_get(p->scale, "set") : NULL;
    p->scale_from = p->set_count;
    if (!e && set) e = add_map(p, "", set, p->set_count, err);
    p->config_count = p->set_count;
    return e;
}

static int read_vary(struct lg__sweep_plan *p, lg_error *err)
{
    const struct lg__yaml *vary;
    int e = lg__yaml_need(p->file, "vary", LG__YAML_MAP, &vary, err);
    if (!e && !vary->count)
        e = lg__yaml_fail(vary, err, "nothing varies; write seed: [1, 2, 3] below it, say");
    if (e) return e;
    if (vary->count > LG__CONFIG_MOST)
        return lg__yaml_fail(vary, err, "over %d keys vary; make several sweeps of it",
                             LG__CONFIG_MOST);
    p->axes = lg__alloc((size_t)vary->count * sizeof *p->axes);
    if (!p->axes) return no_memory(err);
    for (const struct lg__yaml *n = vary->first; n && !e; n = n->next) e = add_axis(p, n, err);
    return e;
}

/* What varies would win over what the scale sets. */
static int check_scale_apart(const struct lg__sweep_plan *p, lg_error *err)
{
    for (int i = p->scale_from; i < p->config_count; i++) {
        const struct lg__sweep_set *s = set_at(p, i);
        const struct lg__sweep_set *varied = find_set(p, p->config_count, p->set_count, s->text);
        if (varied)
            return lg__yaml_fail(s->at, err,
                                 "%.*s is varied in line %d; say it in this scale's vary, or there",
                                 (int)strcspn(s->text, "="), s->text, varied->at->line);
    }
    return 0;
}

static int check_options(const struct lg__sweep_plan *p, lg_error *err)
{
    for (int i = 0; i < p->o->set_count; i++) {
        const char *set = p->o->sets[i];
        const struct lg__sweep_set *s = find_set(p, p->config_count, p->set_count, set);
        if (s)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "--set %.100s: the sweep varies this key in %s:%d; take it out of one "
                            "of them",
                            set, s->at->file, s->at->line);
    }
    return 0;
}

/* ---- The runs ---------------------------------------------------------------------------- */

/* Which value of an axis a run has: the last axis is the fastest. */
static int choice(const struct lg__sweep_plan *p, int run, int axis)
{
    for (int a = p->axis_count - 1; a > axis; a--) run /= p->axes[a].count;
    return run % p->axes[axis].count;
}

const struct lg__sweep_value *lg__sweep_value_of(const struct lg__sweep_plan *p, int run, int axis)
{
    return &p->axes[axis].values[choice(p, p->runs[run].place, axis)];
}

static int is_seed(const struct lg__sweep_axis *a) { return strcmp(a->at->key, "seed") == 0; }

/* "scheme=plain,seed=1", of the place of a run; to be freed. */
static char *name_of(const struct lg__sweep_plan *p, int run, int with_seed)
{
    lg_buffer b = {0};
    for (int a = 0, n = 0; a < p->axis_count; a++)
        if (with_seed || !is_seed(&p->axes[a]))
            lg_buffer_print(&b, "%s%s=%s", n++ ? "," : "", p->axes[a].at->key,
                            p->axes[a].values[choice(p, run, a)].name);
    return lg_buffer_take(&b, NULL);
}

/* The folder's name has only letters that are the same everywhere. */
static char *folder_of(const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return NULL;
    for (char *c = path + strlen(folder) + 1; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
            !strchr("._=,-", *c))
            *c = '_';
    return path;
}

static int name_run(struct lg__sweep_plan *p, int i, lg_error *err)
{
    struct lg__sweep_item *r = &p->runs[i];
    r->place = i;
    for (int a = 0; a < p->axis_count; a++)
        if (!is_seed(&p->axes[a])) r->group = r->group * p->axes[a].count + choice(p, i, a);
    if (r->group >= p->groups) p->groups = r->group + 1;
    r->name = name_of(p, i, 1);
    r->variant = name_of(p, i, 0);
    r->folder = r->name ? folder_of(p->o->folder, r->name) : NULL;
    if (!r->variant || !r->folder) return no_memory(err);
    if (strlen(r->name) > MOST_NAME)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the run %.100s.. has a name of over %d letters; make it shorter with a "
                        "map of named bundles (docs/CONFIG.md, \"Sweeps\")",
                        r->name, MOST_NAME);
    return 0;
}

static int by_folder(const void *a, const void *b)
{
    const struct lg__sweep_item *x = *(struct lg__sweep_item *const *)a;
    const struct lg__sweep_item *y = *(struct lg__sweep_item *const *)b;
    return strcmp(x->folder, y->folder);
}

static int check_folders(const struct lg__sweep_plan *p, lg_error *err)
{
    int e = 0;
    const struct lg__sweep_item **sorted = lg__alloc((size_t)p->count * sizeof *sorted);
    if (!sorted) return no_memory(err);
    for (int i = 0; i < p->count; i++) sorted[i] = &p->runs[i];
    qsort(sorted, (size_t)p->count, sizeof *sorted, by_folder);
    for (int i = 1; i < p->count && !e; i++)
        if (strcmp(sorted[i - 1]->folder, sorted[i]->folder) == 0)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "the runs %.100s and %.100s would have the same folder; give them names "
                         "that differ in letters, digits or . _ = , -",
                         sorted[i - 1]->name, sorted[i]->name);
    free(sorted);
    return e;
}

static void clear_item(struct lg__sweep_item *r)
{
    free(r->name);
    free(r->variant);
    free(r->folder);
}

static void leave_out(struct lg__sweep_plan *p)
{
    int kept = 0;
    for (int i = 0; i < p->count; i++)
        if (p->o->wanted(p->o->wanted_context, p->runs[i].name))
            p->runs[kept++] = p->runs[i];
        else
            clear_item(&p->runs[i]);
    p->count = kept;
}

static int make_runs(struct lg__sweep_plan *p, lg_error *err)
{
    int64_t count = 1;
    int e = 0;
    for (int a = 0; a < p->axis_count && count <= MOST_RUNS; a++) count *= p->axes[a].count;
    if (count > MOST_RUNS)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: these are over %d runs; make several sweeps of it", p->o->file,
                        MOST_RUNS);
    p->runs = lg__alloc((size_t)count * sizeof *p->runs);
    if (!p->runs) return no_memory(err);
    p->count = (int)count;
    for (int i = 0; i < p->count && !e; i++) e = name_run(p, i, err);
    if (!e) e = check_folders(p, err);
    if (!e && p->o->wanted) leave_out(p);
    p->variants = e ? NULL : lg__alloc((size_t)p->groups * sizeof *p->variants);
    return e || p->variants ? e : no_memory(err);
}

int lg__sweep_read(struct lg__sweep_plan *p, const lg_sweep_options *o, lg_error *err)
{
    static const char *const known[] = {"base", "config", "vary", "experiment", "scales", NULL};
    p->o = o;
    if (!o->folder || !o->store)
        return lg__fail(err, LG_ERROR_ARGUMENT, "a sweep needs a folder and a store; name both");
    int e = read_yaml(o->file, &p->file, err);
    if (e) return e;
    int run = lg__yaml_get(p->file, "task") && !lg__yaml_get(p->file, "vary");
    e = run ? lg__fail(err, LG_ERROR_ARGUMENT,
                       "%s is the config of one run, nothing varies in it; train it with `lengthen "
                       "train`, or name it as `base` in a file with `vary`",
                       o->file)
            : lg__yaml_keys(p->file, known, err);
    if (!e) e = lg__sweep_check_scales(p, err);
    if (!e) e = lg__sweep_find_scale(p, &p->scale, err);
    if (!e) e = read_config(p, err);
    if (!e) e = read_vary(p, err);
    if (!e) e = check_scale_apart(p, err);
    if (!e) e = check_options(p, err);
    if (!e) e = lg__experiment_check(p, err);
    return e ? e : make_runs(p, err);
}

void lg__sweep_clear(struct lg__sweep_plan *p)
{
    for (int i = 0; i < p->set_count; i++) free(set_at(p, i)->text);
    for (int a = 0; a < p->axis_count; a++) {
        for (int i = 0; i < p->axes[a].count; i++) free(p->axes[a].values[i].name);
        free(p->axes[a].values);
    }
    for (int i = 0; i < p->count; i++) clear_item(&p->runs[i]);
    for (int i = 0; i < p->groups && p->variants; i++) free(p->variants[i].cells);
    free(p->variants);
    free(p->axes);
    free(p->runs);
    lg__block_free(&p->sets);
    lg__yaml_free(p->file);
    lg__yaml_free(p->base);
    *p = (struct lg__sweep_plan){0};
}

/* The n-th of a run's sets, from 0; NULL: it has fewer. *from is where the file says it, NULL: it is a --set. */
static const char *nth_set(const struct lg__sweep_plan *p, int run, int n,
                           const struct lg__sweep_set **from)
{
    *from = NULL;
    if (n < p->config_count) return (*from = set_at(p, n))->text;
    n -= p->config_count;
    if (n < p->o->set_count) return p->o->sets[n];
    n -= p->o->set_count;
    for (int a = 0; a < p->axis_count; a++) {
        const struct lg__sweep_value *v = lg__sweep_value_of(p, run, a);
        if (n < v->count) return (*from = set_at(p, v->first + n))->text;
        n -= v->count;
    }
    return NULL;
}

int lg__sweep_sets(const struct lg__sweep_plan *p, int run, const char **to)
{
    const struct lg__sweep_set *from;
    const char *text;
    int n = 0;
    if (!to) return p->set_count + p->o->set_count;
    while ((text = nth_set(p, run, n, &from))) to[n++] = text;
    return n;
}

/* A set of the file is no --set: its place is said instead. What no call blames on one of the sets is so by its
 * key; the last set of a key is the one that counts. */
void lg__sweep_blame(const struct lg__sweep_plan *p, int run, lg_error *err)
{
    const struct lg__sweep_set *from = NULL, *of_key = NULL;
    const char *text;
    if (err->set) nth_set(p, run, err->set - 1, &of_key);
    for (int n = 0; !err->set && !*err->file && *err->key && (text = nth_set(p, run, n, &from));
         n++)
        if (is_of(text, err->key)) of_key = from;
    if (of_key) lg__error_place(err, of_key->at->file, of_key->at->line);
    lg__error_before(err, "run %.100s: ", p->runs[run].name);
}
