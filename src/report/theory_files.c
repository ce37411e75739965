/* theory_files.c: the folder of a fit, sweep or check of the idealised class: rows or findings, a figure,
 * and a record of what made them; and the figure of a bridge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/files.h"
#include "lengthen_report.h"

enum { MOST = 32 }; /* lengths in the figure of a check */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
}

/* What was there is replaced when all is on the disk, not before. */
static int save(const lg_theory_files *w, lg_buffer *b, const char *name, lg_error *err)
{
    char path[1024];
    int e = lg__file_path(path, sizeof path, w->folder, name, err);
    if (!e) return lg_buffer_save(b, path, err);
    lg_buffer_clear(b);
    return e;
}

int lg_theory_files_open(const char *folder, lg_error *err)
{
    char figure[1024];
    int e = lg__folder_out(folder, err);
    return e ? e : lg__file_path(figure, sizeof figure, folder, "errors.svg", err);
}

/* Said below every figure and in every record: what is ours, and which A and g were used. */
static void say_words(const lg_theory_options *o, char words[600])
{
    const lg_theory_class *c = &o->c;
    char offsets[80] = "";
    if (c->offsets)
        snprintf(offsets, sizeof offsets, ", scores of distances below %d%s", c->offsets,
                 c->window ? " and 0 beyond" : "");
    snprintf(
        words, 600,
        "Reconstructed: the ensemble, the class and its coupling (docs/THEORY.md). A: scores of "
        "%s%s%s; g: %s%s. |h - Y| is half the sum over the labels; points are geometric means "
        "over the seeds, bands 95%% intervals.",
        c->words ? "words, added up" : "tuples of words", offsets,
        c->patterns ? ", weights of patterns" : "", c->sign ? "a product of signs" : "a table",
        c->unordered ? " without order" : "");
}

static const lg_theory_cell *cell_of(const lg_theory_files *w, const char *variant, int length)
{
    for (int i = 0; i < w->cell_count; i++)
        if (w->cells[i].length == length && strcmp(w->cells[i].variant, variant) == 0)
            return &w->cells[i];
    return NULL;
}

static void csv_real(lg_buffer *to, double value)
{
    if (isfinite(value))
        lg_buffer_print(to, ",%.9g", value);
    else
        lg_buffer_put(to, ",");
}

static int write_rows(const lg_theory_files *w, lg_error *err)
{
    lg_buffer b = {0};
    lg_buffer_put(
        &b,
        "variant,k,local,coupled,patterns,coverage,seed,length,train_length,samples,error,wrong,"
        "error_shown,error_not_shown,not_shown,steps,trained\n");
    for (int i = 0; i < w->count; i++) {
        const lg_theory_row *r = &w->rows[i];
        lg_buffer_print(&b, "\"%s\",%d,%d,%d,%d,%g,%lld,%d,%d,%d", r->variant, r->k, r->local,
                        r->coupled, r->patterns, r->coverage, (long long)r->seed, r->length,
                        r->train_length, r->samples);
        csv_real(&b, r->error);
        csv_real(&b, r->wrong);
        csv_real(&b, r->error_seen);
        csv_real(&b, r->error_missing);
        lg_buffer_print(&b, ",%d,%d", r->missing, r->steps);
        csv_real(&b, r->trained);
        lg_buffer_put(&b, "\n");
    }
    return save(w, &b, "rows.csv", err);
}

/* One curve: a variant, or of it the patterns that training shows (1) or does not (2). */
static int add_curve(const lg_theory_files *w, const char *variant, int kind, lg_curve *c,
                     lg_error *err)
{
    static const char *const suffix[] = {"", ": patterns shown in training", ": not shown"};
    int room = w->o->length_count;
    double *x = calloc(4 * (size_t)room, sizeof *x), *y = x + room, *low = y + room,
           *high = low + room;
    char *name = NULL;
    if (!x || asprintf(&name, "%s%s", variant, suffix[kind]) < 0) {
        free(x);
        return no_memory(err);
    }
    *c = (lg_curve){.name = name, .x = x, .y = y, .low = low, .high = high};
    for (int i = 0; i < room; i++) {
        const lg_theory_cell *cell = cell_of(w, variant, w->o->lengths[i]);
        double error = !cell ? NAN : kind == 0 ? cell->error : kind == 1 ? cell->seen : cell->lost;
        if (isnan(error)) continue;
        x[c->n] = w->o->lengths[i];
        y[c->n] = error;
        low[c->n] = kind == 0 ? cell->low : kind == 1 ? cell->seen_low : cell->lost_low;
        high[c->n] = kind == 0 ? cell->high : kind == 1 ? cell->seen_high : cell->lost_high;
        if (high[c->n] > 1) high[c->n] = 1;
        c->n++;
    }
    return 0;
}

static int write_figure(const lg_theory_files *w, lg_error *err)
{
    char path[1024], title[200], words[600];
    say_words(w->o, words);
    lg_curve *curves = calloc(3 * (size_t)w->cell_count + 1, sizeof *curves);
    int count = 0, code = curves ? 0 : no_memory(err);
    for (int i = 0; i < w->cell_count && !code; i++) {
        const char *variant = w->cells[i].variant;
        int known = 0, missing = w->cells[i].missing > 0;
        for (int j = 0; j < i && !known; j++) known = strcmp(w->cells[j].variant, variant) == 0;
        if (known) continue;
        code = add_curve(w, variant, missing ? 1 : 0, &curves[count++], err);
        if (missing && !code) code = add_curve(w, variant, 2, &curves[count++], err);
    }
    snprintf(title, sizeof title, "%s", w->title ? w->title : w->o->ensemble);
    lg_figure f = {.title = title,
                   .x_label = "length of the text (tokens)",
                   .y_label = "error, mean |h − Y|",
                   .curves = curves,
                   .count = count,
                   .trained_low = w->o->train[0],
                   .trained_high = w->o->train[1],
                   .caption = words,
                   .log_y = 1};
    if (!code) code = lg__file_path(path, sizeof path, w->folder, "errors.svg", err);
    if (!code) code = lg_figure_write(&f, path, err);
    for (int i = 0; i < count; i++) {
        free((char *)(uintptr_t)curves[i].name);
        free((double *)(uintptr_t)curves[i].x);
    }
    free(curves);
    return code;
}

static void put_json(lg_buffer *to, const char *text)
{
    lg_buffer_json(to, text, text ? strlen(text) : 0);
}

static int write_record(const lg_theory_files *w, lg_error *err)
{
    lg_buffer b = {0};
    char cpu[200], date[40] = "", words[600];
    time_t now = time(NULL);
    struct tm tm;
    lg_cpu(cpu);
    say_words(w->o, words);
    if (gmtime_r(&now, &tm)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    lg_buffer_put(&b, "{\n  \"command\": ");
    put_json(&b, w->command);
    lg_buffer_put(&b, ",\n  \"ensemble\": ");
    put_json(&b, w->o->ensemble);
    lg_buffer_put(&b, ",\n  \"seeds\": [");
    for (int i = 0; i < w->o->seeds; i++)
        lg_buffer_print(&b, "%s%lld", i ? ", " : "", (long long)w->o->seed + i);
    lg_buffer_print(&b, "],\n  \"commit\": \"%s\",\n  \"compiler\": ", lg_commit());
    put_json(&b, lg_compiler());
    lg_buffer_put(&b, ",\n  \"cpu\": ");
    put_json(&b, cpu);
    lg_buffer_print(
        &b,
        ",\n  \"isa\": \"%s\",\n  \"date\": \"%s\",\n  \"seconds\": %.0f,\n  \"words\": ", w->isa,
        date, w->seconds);
    put_json(&b, words);
    lg_buffer_put(&b, "\n}\n");
    return save(w, &b, "run.json", err);
}

/* ---- Findings ------------------------------------------------------------------------------- */

static int write_findings(const lg_theory_files *w, lg_error *err)
{
    lg_buffer b = {0};
    lg_buffer_put(&b, "assumption,length,holds,value,text\n");
    for (int i = 0; i < w->finding_count; i++) {
        const lg_theory_finding *n = &w->findings[i];
        lg_buffer_print(&b, "%s,%d,%d,%.9g,\"%s\"\n", n->assumption, n->length, n->holds, n->value,
                        n->text);
    }
    return save(w, &b, "findings.csv", err);
}

/* Each assumption as a share that is 1 where it holds. */
static double share_of(const lg_theory_finding *f)
{
    if (strcmp(f->assumption, "coverage") == 0) return f->value;
    if (strcmp(f->assumption, "realizability") == 0) return 1 - f->value;
    return f->holds;
}

static int draw_findings(const lg_theory_files *w, lg_error *err)
{
    static const char *const names[] = {"coverage", "locality", "realizability"};
    static const char *const titles[] = {"coverage: share of texts whose pattern training shows",
                                         "locality: 100 where S fits into L_local",
                                         "realizability: 1 - error of the best member found"};
    double x[3][MOST], y[3][MOST];
    lg_curve curves[3];
    char path[1024];
    for (int a = 0; a < 3; a++) {
        curves[a] = (lg_curve){.name = titles[a], .x = x[a], .y = y[a]};
        for (int i = 0; i < w->finding_count && curves[a].n < MOST; i++) {
            if (strcmp(w->findings[i].assumption, names[a]) != 0) continue;
            x[a][curves[a].n] = w->findings[i].length;
            y[a][curves[a].n++] = share_of(&w->findings[i]);
        }
    }
    lg_figure f = {.title = w->title ? w->title : w->o->ensemble,
                   .x_label = "length of the text (tokens)",
                   .y_label = "share, %",
                   .curves = curves,
                   .count = 3,
                   .trained_low = w->o->train[0],
                   .trained_high = w->o->train[1],
                   .caption = "Reconstructed: the ensemble, the class and its assumptions "
                              "(docs/THEORY.md)."};
    int e = lg__file_path(path, sizeof path, w->folder, "check.svg", err);
    return e ? e : lg_figure_write(&f, path, err);
}

/* A figure of before would be of other rows. */
static int draw(const lg_theory_files *w, lg_error *warning, lg_error *err)
{
    char path[1024];
    lg_error why;
    int e = lg__file_path(path, sizeof path, w->folder, w->rows ? "errors.svg" : "check.svg", err);
    if (e) return e;
    if (!lg_figure_check(path, &why)) return w->rows ? write_figure(w, err) : draw_findings(w, err);
    remove(path);
    lg__fail(warning, LG_ERROR_SYSTEM, "there is no figure: %s", why.text);
    return 0;
}

int lg_theory_files_write(const lg_theory_files *w, lg_error *warning, lg_error *err)
{
    int e = w->rows ? write_rows(w, err) : write_findings(w, err);
    if (!e) e = draw(w, warning, err);
    return e ? e : write_record(w, err);
}

/* ---- The bridge ------------------------------------------------------------------------------ */

static const char bridge_words[] =
    "Reconstructed: ensembles, class and coupling (docs/THEORY.md). Class: mean |h - Y|, geometric "
    "mean over seeds, 95% interval. Transformer: share of wrong answers of all seeds together, "
    "95% Wilson interval of answers, not of seeds; none wrong of n is drawn at 1/2n.";

/* The points of one model as a curve; v has room for all of x, then of y, low and high. No wrong one of
 * n is drawn at 1 / 2n, since the axis has no 0. */
static void fill_curve(const lg_theory_bridge *b, const char *name, double *v, lg_curve *c)
{
    *c = (lg_curve){.name = name, .x = v, .y = v + b->count};
    c->low = c->y + b->count;
    c->high = c->low + b->count;
    for (int i = 0; i < b->count; i++) {
        const lg_theory_point *p = &b->points[i];
        if (strcmp(p->name, name) != 0) continue;
        double least = p->samples ? 0.5 / (double)p->samples : 0;
        const double of[4] = {p->k, fmax(p->error, least), p->low < least ? least : p->low,
                              p->high};
        for (int j = 0; j < 4; j++) v[j * b->count + c->n] = of[j];
        c->n++;
    }
}

int lg_theory_bridge_draw(const lg_theory_bridge *b, const char *title, const char *file,
                          lg_error *err)
{
    char own[160];
    size_t points = (size_t)b->count;
    lg_curve *curves = calloc(points + 1, sizeof *curves);
    double *values = calloc(4 * points * points + 1, sizeof *values);
    int count = 0, e = curves && values ? 0 : no_memory(err);
    for (int i = 0; i < b->count && !e; i++) {
        const char *name = b->points[i].name;
        int known = 0;
        for (int j = 0; j < count && !known; j++) known = strcmp(curves[j].name, name) == 0;
        if (!known) fill_curve(b, name, values + 4 * points * (size_t)count, &curves[count]);
        count += !known;
    }
    snprintf(own, sizeof own, "The idealised class and a transformer at %d tokens", b->length);
    lg_figure f = {.title = title ? title : own,
                   .x_label = "k, planted words",
                   .y_label = "error",
                   .curves = curves,
                   .count = count,
                   .log_y = 1,
                   .caption = bridge_words};
    if (!e) e = lg_figure_write(&f, file, err);
    free(curves);
    free(values);
    return e;
}
