/* page_result.c: a folder of results for a report: its page, the checks and figures of its rows, and what made them. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "pages/page.h"
#include "report/gnuplot.h"

struct result {
    lg_buffer figures, checks;
};

/* ---- Figures, as report/ draws them ------------------------------------------------------------ */

static void put_numbers(lg_buffer *b, const char *key, const double *v, int n)
{
    lg__put_open(b, key, '[');
    for (int i = 0; i < n; i++) lg__put_real(b, NULL, v[i]);
    lg__put_close(b, ']');
}

static void put_curves(lg_buffer *b, const lg_figure *f)
{
    lg__put_open(b, "curves", '[');
    for (int i = 0; i < f->count; i++) {
        const lg_curve *c = &f->curves[i];
        lg__put_open(b, NULL, '{');
        lg__put_text(b, "name", c->name ? c->name : "");
        put_numbers(b, "x", c->x, c->n);
        put_numbers(b, "y", c->y, c->n);
        if (c->low && c->high) {
            put_numbers(b, "low", c->low, c->n);
            put_numbers(b, "high", c->high, c->n);
        }
        lg__put_json(b, "unlearned", lg__unlearned(f, i) ? "true" : "false");
        lg__put_close(b, '}');
    }
    lg__put_close(b, ']');
}

static void put_figure(void *context, const lg_figure *f, const lg_heatmap *m)
{
    struct result *r = context;
    lg_buffer *b = &r->figures;
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "kind", f ? "lines" : "map");
    lg__put_text(b, "title", f ? f->title : m->title);
    lg__put_text(b, "x_label", f ? f->x_label : m->x_label);
    lg__put_text(b, "y_label", f ? f->y_label : m->y_label);
    lg__put_text(b, "caption", f ? f->caption : m->caption);
    if (f) {
        double trained[2] = {f->trained_low, f->trained_high};
        put_curves(b, f);
        if (f->trained_low != 0 || f->trained_high != 0) put_numbers(b, "trained", trained, 2);
        lg__put_json(b, "log_y", f->log_y ? "true" : "false");
        lg__put_real(b, "y_low", f->y_low);
        lg__put_real(b, "y_high", f->y_high);
    } else {
        put_numbers(b, "x", m->x, m->n);
        put_numbers(b, "y", m->y, m->n);
        put_numbers(b, "value", m->value, m->n);
        put_numbers(b, "trained_x", m->trained_x, 2);
        put_numbers(b, "trained_y", m->trained_y, 2);
    }
    lg__put_close(b, '}');
}

static void put_check(void *context, const lg_check *c)
{
    lg_buffer *b = &((struct result *)context)->checks;
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "text", c->text);
    lg__put_text(b, "numbers", c->numbers);
    lg__put_int(b, "holds", c->holds);
    lg__put_close(b, '}');
}

/* ---- Files ------------------------------------------------------------------------------------- */

static char *read_in(const char *folder, const char *name)
{
    char path[PATH_MAX], *text = NULL;
    if (lg__file_path(path, sizeof path, folder, name, NULL)) return NULL;
    return lg__file_read(path, &text, NULL) ? NULL : text;
}

/* The SVG files that a page shows, "![..](NAME.svg)", by name. */
static void put_images(lg_buffer *b, const char *folder, const char *page)
{
    lg__put_open(b, "images", '{');
    for (const char *at = page; at && (at = strstr(at, "![")); at++) {
        const char *open = strstr(at, "]("), *end = open ? strchr(open, ')') : NULL;
        char name[256];
        if (!end || end - open < 7 || (size_t)(end - open) >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - open - 2), open + 2);
        if (strstr(name, "..") || strcmp(name + strlen(name) - 4, ".svg") != 0) continue;
        char *svg = read_in(folder, name);
        if (svg) lg__put_text(b, name, svg);
        free(svg);
    }
    lg__put_close(b, '}');
}

/* certificates.csv, row by row. */
static void put_certificates(lg_buffer *b, const char *folder)
{
    struct lg__csv c = {0};
    char path[PATH_MAX];
    lg__put_open(b, "certificates", '[');
    if (!lg__file_path(path, sizeof path, folder, "certificates.csv", NULL) &&
        !lg__csv_open(&c, path, 1, NULL))
        while (lg__csv_next(&c, NULL) > 0) {
            lg__put_open(b, NULL, '[');
            for (int i = 0; i < c.count; i++) lg__put_text(b, NULL, c.field[i]);
            lg__put_close(b, ']');
        }
    lg__put_close(b, ']');
    lg__csv_close(&c);
}

/* What run.json says of each run. */
static void put_made(lg_buffer *b, const json_t *journal)
{
    static const char *const keys[] = {"name", "command", "commit", "kernels", "steps", "hours"};
    const json_t *runs = json_object_get(journal, "runs"), *run;
    size_t i;
    lg__put_open(b, "made", '[');
    json_array_foreach(runs, i, run)
    {
        lg__put_open(b, NULL, '{');
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const json_t *v = json_object_get(run, keys[k]);
            if (json_is_number(v))
                lg__put_real(b, keys[k], json_number_value(v));
            else
                lg__put_text(b, keys[k], json_string_value(v));
        }
        lg__put_close(b, '}');
    }
    lg__put_close(b, ']');
}

static const char *said(const json_t *journal, const char *key)
{
    const char *text = json_string_value(json_object_get(journal, key));
    return text ? text : "";
}

/* ---- A result ---------------------------------------------------------------------------------- */

static int is_experiment(const lg_reproduce_options *o)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s.yaml", o->experiments, o->name);
    return n > 0 && n < PATH_MAX && access(path, R_OK) == 0;
}

int lg_page_add_result(lg_page *p, const lg_reproduce_options *o, lg_error *err)
{
    struct result r = {0};
    lg_buffer *b = &p->results;
    lg_error why = {0};
    lg_reproduce_options own = *o;
    char folder[PATH_MAX], command[300] = "";
    struct stat st;
    int e = lg__file_path(folder, sizeof folder, o->results, o->name, err);
    if (!e && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "there are no results %.200s; `lengthen reproduce %.100s` makes those of an "
                     "experiment, --results names another folder",
                     folder, o->name);
    if (e) return e;
    own.drawn = put_figure;
    own.check = put_check;
    own.figure = NULL;
    own.context = &r;
    char *page = read_in(folder, "README.md"), *text = read_in(folder, "run.json");
    json_t *journal = text ? json_loads(text, 0, NULL) : NULL;
    if (journal && is_experiment(o)) {
        if (lg_experiment_show(&own, &why)) {
            lg_buffer note = {0};
            lg_buffer_print(&note, "%s: no figures: %s", o->name, why.text);
            if (note.data) lg_page_note(p, note.data);
            lg_buffer_clear(&note);
        }
        snprintf(command, sizeof command, "lengthen reproduce %.200s", o->name);
    }
    lg__put_open(b, NULL, '{');
    lg__put_text(b, "name", o->name);
    lg__put_text(b, "question", said(journal, "question"));
    lg__put_text(b, "expected", said(journal, "expected"));
    lg__put_text(b, "words", said(journal, "words"));
    lg__put_text(b, "command", command);
    lg__put_text(b, "readme", page ? page : "");
    put_images(b, folder, page);
    put_certificates(b, folder);
    put_made(b, journal);
    lg__put_list(b, "figures", &r.figures);
    lg__put_list(b, "checks", &r.checks);
    lg__put_close(b, '}');
    lg_buffer_clear(&r.figures);
    lg_buffer_clear(&r.checks);
    json_decref(journal);
    free(text);
    free(page);
    return 0;
}

int lg_page_add_results(lg_page *p, const lg_reproduce_options *o, lg_error *err)
{
    struct dirent **entry;
    int e = 0, n = scandir(o->results, &entry, NULL, alphasort);
    if (n < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the folder %.200s of results cannot be read; name it with --results",
                        o->results);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        lg_reproduce_options one = *o;
        one.name = entry[i]->d_name;
        int has = snprintf(path, sizeof path, "%s/%s/README.md", o->results, one.name) < PATH_MAX &&
                  one.name[0] != '.' && access(path, R_OK) == 0;
        if (has && !e) e = lg_page_add_result(p, &one, err);
        free(entry[i]);
    }
    free(entry);
    return e;
}
