/* page_run.c: a run as an object for the pages: what the store has of it, and the certificate in its folder. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "pages/page.h"
#include "runs/run.h"

struct reading {
    lg_store *s;
    lg_buffer *b;
    char *folder;
    lg_error *err;
    int e;
};

static void put_value(lg_buffer *b, const lg_value *v)
{
    static const char *const units[] = {"share", "nats", "tokens"};
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "kind", v->kind->name);
    lg__put_text(b, "label", v->kind->label);
    lg__put_text(b, "unit", units[v->kind->unit]);
    lg__put_int(b, "samples", v->samples);
    lg__put_real(b, "value", v->value);
    lg__put_real(b, "low", v->low);
    lg__put_real(b, "high", v->high);
    lg__put_close(b, '}');
}

static void put_cell(void *context, const lg_cell *c)
{
    const struct {
        const char *key;
        int64_t value;
    } where[] = {{"step", c->step},          {"length", c->length}, {"sparsity", c->sparsity},
                 {"first", c->first},        {"last", c->last},     {"context", c->context},
                 {"predicted", c->predicted}};
    lg_buffer *b = context;
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "form", lg_cell_form(c));
    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        lg__put_int(b, where[i].key, where[i].value);
    lg__put_text(b, "setting", c->setting);
    lg__put_real(b, "tokens", c->tokens);
    lg__put_open(b, "values", '[');
    for (int i = 0; i < c->values; i++) put_value(b, &c->value[i]);
    lg__put_close(b, ']');
    lg__put_close(b, '}');
}

/* [["key", "value"], ..]; of a config that is damaged there are none. */
static void put_config(lg_buffer *b, const char *config)
{
    lg_config_values v = {0};
    int bad = lg_config_values_read(&v, config, NULL);
    lg__put_open(b, "config", '[');
    for (int i = 0; !bad && i < v.count; i++) {
        lg__put_open(b, NULL, '[');
        lg__put_text(b, NULL, v.at[i].key);
        lg__put_text(b, NULL, v.at[i].value);
        lg__put_close(b, ']');
    }
    lg__put_close(b, ']');
    lg_config_values_clear(&v);
}

/* certificate.json of the folder, if it is this run's at this step; a file that somebody else put there is parsed and
 * written anew. */
static void put_certificate(lg_buffer *b, const lg_store_run *r)
{
    char path[PATH_MAX], *text = NULL, *clean = NULL;
    json_t *c = NULL;
    if (!lg__file_path(path, sizeof path, r->folder, LG__RUN_CERTIFICATE, NULL) &&
        !lg__file_read(path, &text, NULL) && text && lg__json_values(text, strlen(text)) < 10000)
        c = json_loads(text, 0, NULL);
    const char *of = json_string_value(json_object_get(c, "run"));
    if (of && strcmp(of, r->id) == 0 && json_integer_value(json_object_get(c, "step")) == r->step)
        clean = json_dumps(c, JSON_COMPACT | JSON_ENSURE_ASCII);
    lg__put_json(b, "certificate", clean);
    free(clean);
    json_decref(c);
    free(text);
}

static void put_run(void *context, const lg_store_run *r)
{
    struct reading *t = context;
    lg_buffer *b = t->b;
    const char *slash = strrchr(r->folder, '/');
    const struct {
        const char *key, *value;
    } texts[] = {{"id", r->id},
                 {"name", slash && slash[1] ? slash + 1 : r->folder},
                 {"folder", r->folder},
                 {"state", r->state},
                 {"error", r->error},
                 {"task", r->task},
                 {"positions", r->positions},
                 {"unit", r->unit},
                 {"commit", r->commit},
                 {"machine", r->machine},
                 {"kernels", r->kernels}};
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {{"number", r->number},         {"seed", r->seed},        {"step", r->step},
                   {"steps", r->steps},           {"least", r->least},      {"length", r->length},
                   {"parameters", r->parameters}, {"sparsity", r->sparsity}};
    if (t->folder) snprintf(t->folder, PATH_MAX, "%s", r->folder);
    lg__put_open(b, NULL, '{');
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        lg__put_text(b, texts[i].key, texts[i].value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        lg__put_int(b, numbers[i].key, numbers[i].value);
    lg__put_real(b, "seconds", r->seconds);
    put_config(b, r->config);
    put_certificate(b, r);
    lg__put_key(b, "curves");
    t->e = lg__page_curves(t->s, r->number, LG__PAGE_POINTS, b, t->err);
    lg__put_open(b, "cells", '[');
    if (!t->e) t->e = lg_store_cells(t->s, r->number, -1, "answers", put_cell, b, t->err);
    if (!t->e) t->e = lg_store_cells(t->s, r->number, -1, "losses", put_cell, b, t->err);
    if (!t->e) t->e = lg_store_cells(t->s, r->number, -1, "probe", put_cell, b, t->err);
    lg__put_close(b, ']');
}

int lg__page_run(lg_store *s, const char *run, lg_buffer *b, char *folder, lg_error *err)
{
    struct reading t = {.s = s, .b = b, .folder = folder, .err = err};
    int e = lg_store_find(s, run, put_run, &t, err);
    return e ? e : t.e;
}

/* What could not be made of a run is said, and the page goes on without it. */
static void note_missing(lg_page *p, const char *run, const char *what, const lg_error *err)
{
    lg_buffer b = {0};
    lg_buffer_print(&b, "%s: %s: %s", run, what, err->text);
    if (b.data) lg_page_note(p, b.data);
    lg_buffer_clear(&b);
}

static void add_generations(lg_page *p, const char *run, const char *folder,
                            const lg_page_run_options *o)
{
    lg_error err = {0}, warning = {0};
    lg_generate_options g = {.folder = folder,
                             .access = o->access,
                             .seed = -1,
                             .predicted = -1,
                             .count = o->generations};
    lg_buffer list = {0};
    int e = 0;
    if (!o->generations && !o->prompt) return;
    if (o->generations) e = lg__page_generate(&list, &g, &warning, &err);
    if (!e && o->prompt) {
        g.prompt = o->prompt;
        g.count = 1;
        e = lg__page_generate(&list, &g, &warning, &err);
    }
    if (e) note_missing(p, run, "no generation", &err);
    lg__put_list(&p->runs, "generations", &list);
    lg_buffer_clear(&list);
}

static void add_passage(lg_page *p, const char *run, const char *folder,
                        const lg_page_run_options *o)
{
    lg_error why = {0};
    lg_buffer passage = {0};
    if (!o->passage) return;
    if (lg__page_passage(&passage, folder, &o->access, &why))
        note_missing(p, run, "no passage", &why);
    else
        lg__put_json(&p->runs, "passage", passage.data);
    lg_buffer_clear(&passage);
}

static int draw_passage(lg_page *p, const lg_generate_options *o, lg_error *warning, lg_error *err)
{
    (void)warning;
    return lg__page_passage(&p->methods, o->folder, &o->access, err);
}

static int draw_generation(lg_page *p, const lg_generate_options *o, lg_error *warning,
                           lg_error *err)
{
    return lg__page_generate(&p->methods, o, warning, err);
}

/* What is drawn of a run, by the form of what is measured of its task: beside the run, and alone. */
static const struct drawing {
    const char *form;
    void (*add)(lg_page *p, const char *run, const char *folder, const lg_page_run_options *o);
    int (*draw)(lg_page *p, const lg_generate_options *o, lg_error *warning, lg_error *err);
} drawings[] = {{"answers", add_generations, draw_generation},
                {"losses", add_passage, draw_passage}};

static const struct drawing *drawing_of(const char *folder)
{
    const char *form = lg_run_form(folder);
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++)
        if (strcmp(drawings[i].form, form) == 0) return &drawings[i];
    return &drawings[0];
}

int lg_page_add_answers(lg_page *p, const lg_generate_options *o, lg_error *warning, lg_error *err)
{
    return drawing_of(o->folder)->draw(p, o, warning, err);
}

int lg_page_add_run(lg_page *p, lg_store *s, const char *run, const lg_page_run_options *o,
                    lg_error *err)
{
    char folder[PATH_MAX] = "";
    size_t before = p->runs.size;
    int e = lg__page_run(s, run, &p->runs, folder, err);
    if (e) {
        p->runs.size = before;
        if (p->runs.data) p->runs.data[before] = 0;
        return e;
    }
    if (o) drawing_of(folder)->add(p, run, folder, o);
    lg__put_close(&p->runs, '}');
    return 0;
}
