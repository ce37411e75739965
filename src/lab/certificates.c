/* certificates.c: the certificates of an experiment's runs: kept in each run's folder when it is done,
 * said of it in run.json, and shown as certificates.csv, one row a run, and certificates.md, one row
 * a variant. Both files are made of run.json alone. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/contexts.h"
#include "lab/study.h"

enum { QUICK = 50000 }; /* inputs that take no time worth mentioning */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for certificates; end other programs");
}

/* ---- Of one run ---------------------------------------------------------------------------- */

int lg__certificate_possible(const struct lg__run *r, lg_error *err)
{
    struct lg__contexts set;
    int e = lg__contexts_open(&set, r, err);
    if (!e) e = lg__contexts_check(&set, 0, err);
    if (!e && set.expected <= QUICK) e = lg__contexts_fill(&set, err);
    lg__contexts_clear(&set);
    return e;
}

void lg__certificate_warn(const struct lg__run *r, char *remark, size_t size)
{
    struct lg__contexts set;
    lg_error err = {0};
    size_t n = strlen(remark);
    int e = lg__contexts_open(&set, r, &err);
    if (!e && set.expected <= QUICK && lg__contexts_fill(&set, &err) == LG_ERROR_ARGUMENT)
        snprintf(remark + n, size - n, "%sno training can make it exact: %s", n ? "; " : "",
                 err.text);
    lg__contexts_clear(&set);
}

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int lg__certificate_read(const char *folder, json_t **certificate, lg_error *err)
{
    char path[4096];
    json_error_t j;
    int e = lg__run_path(path, sizeof path, folder, LG__RUN_CERTIFICATE, err);
    if (e) return e;
    if ((*certificate = json_load_file(path, JSON_REJECT_DUPLICATES, &j))) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s:%d: %s; delete it and reproduce once more", path,
                    j.line, j.text);
}

int lg__certificate_is_there(const char *folder, int64_t step, int confirm)
{
    json_t *c = NULL;
    lg_error ignored;
    char id[LG__RUN_ID];
    if (lg__certificate_read(folder, &c, &ignored)) return 0;
    lg__run_id(folder, id);
    const char *of = json_string_value(json_object_get(c, "run"));
    int same = of && strcmp(of, id) == 0 && number(c, "step") == (double)step;
    const json_t *tried = json_object_get(c, "confirmed");
    if (same && tried) same = number(tried, "random") == confirm;
    json_decref(c);
    return same;
}

static void take_seconds(void *context, const lg_store_run *r) { *(double *)context = r->seconds; }

static int find_seconds(const char *folder, const char *file, double *seconds, lg_error *err)
{
    char id[LG__RUN_ID];
    lg_store *store = lg_store_open(file, 0, err);
    if (!store) return err->code;
    lg__run_id(folder, id);
    int e = lg_store_find(store, id, take_seconds, seconds, err);
    lg_store_close(store);
    return e;
}

int lg__certificate_make(const char *folder, const char *store, int threads, int confirm,
                         lg_error *err)
{
    lg_certify_options o = {.folder = folder, .threads = threads, .confirm = confirm};
    lg_certificate *c = lg__alloc(sizeof *c);
    double seconds = 0;
    char path[4096], id[LG__RUN_ID], *text = NULL, *whole = NULL;
    int e = c ? lg_certify(&o, c, err) : no_memory(err);
    if (!e && c->warning[0]) e = lg__fail(err, LG_ERROR_SYSTEM, "%s", c->warning);
    if (!e) e = find_seconds(folder, store, &seconds, err);
    if (!e) e = lg__run_path(path, sizeof path, folder, LG__RUN_CERTIFICATE, err);
    if (!e && !(text = lg_certificate_json(c))) e = no_memory(err);
    lg__run_id(folder, id);
    if (!e && asprintf(&whole, "{\"run\":\"%s\",\"seconds\":%.3f,%s\n", id, seconds, text + 1) < 0)
        e = no_memory(err);
    if (!e) e = lg__run_write_file(path, whole, err);
    free(text);
    free(whole);
    free(c);
    return e;
}

/* ---- Of an experiment ------------------------------------------------------------------------ */

static int tried(const json_t *certificate)
{
    const json_t *t = json_object_get(certificate, "confirmed");
    return t ? (int)(number(t, "random") + number(t, "worst") + 1) : 0;
}

static int tried_wrong(const json_t *certificate)
{
    const json_t *t = json_object_get(certificate, "confirmed");
    return t ? (int)number(t, "wrong") : 0;
}

/* Proved, and not shown wrong by an input. */
static int is_certified(const json_t *certificate)
{
    return json_is_true(json_object_get(certificate, "certified")) && !tried_wrong(certificate);
}

static void put_row(FILE *f, const struct lg__study *s, int run, const json_t *c)
{
    const json_t *fails = json_object_get(c, "counterexample");
    const char *input = json_string_value(json_object_get(fails, "input"));
    lg__results_put_text(f, s->o->name);
    fputc(',', f);
    lg__results_put_text(f, s->runs[run].method);
    fputc(',', f);
    lg__results_put_text(f, s->runs[run].train);
    fprintf(f, ",%lld,%s,%.0f,%.0f,", (long long)s->runs[run].seed, is_certified(c) ? "yes" : "no",
            number(c, "contexts"), number(c, "wrong"));
    if (is_certified(c)) fprintf(f, "%.4f", number(c, "min_margin"));
    fprintf(f, ",%.0f,%.1f,%d,%d,", number(c, "step"), number(c, "seconds"), tried(c),
            tried_wrong(c));
    lg__results_put_text(f, input ? input : "");
    fputc('\n', f);
}

static void put_rows(FILE *f, const struct lg__study *s)
{
    fputs("experiment,method,train,seed,certified,contexts,wrong,min_margin,steps,seconds,tried,"
          "tried_wrong,counterexample\n",
          f);
    for (int i = 0; i < s->plan.count; i++) {
        const json_t *c = lg__journal_certificate(s, i);
        if (c && s->runs[i].done) put_row(f, s, i, c);
    }
}

struct variant {
    int seeds, certified, count; /* count: of steps and seconds, those that are certified */
    double contexts, margin;
    double *steps, *seconds;
    int tried, wrong;
};

static void add_run(struct variant *v, const json_t *c)
{
    v->seeds++;
    v->contexts = number(c, "contexts");
    v->tried += tried(c);
    v->wrong += tried_wrong(c);
    if (!is_certified(c)) return;
    v->certified++;
    v->margin = fmin(v->margin, number(c, "min_margin"));
    v->steps[v->count] = number(c, "step");
    v->seconds[v->count++] = number(c, "seconds");
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void put_variant(FILE *f, const struct lg__study *s, int run, struct variant *v)
{
    fputs("| ", f);
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, "seed") != 0)
            fprintf(f, "%s | ", lg__sweep_value_of(&s->plan, run, a)->name);
    fprintf(f, "%d of %d | %.0f | ", v->certified, v->seeds, v->contexts);
    if (v->count)
        fprintf(f, "%.2f | %.0f | %.0f | ", v->margin, median(v->steps, v->count),
                median(v->seconds, v->count));
    else
        fputs("| | | ", f);
    fprintf(f, "%d | %d |\n", v->tried, v->wrong);
}

static int put_variants(FILE *f, const struct lg__study *s)
{
    int axes = 0;
    fputs("| ", f);
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, "seed") != 0) {
            fprintf(f, "%s | ", s->plan.axes[a].at->key);
            axes++;
        }
    fputs("seeds certified | contexts | smallest margin | steps (median) | seconds (median) | long "
          "inputs tried | of them wrong |\n|",
          f);
    for (int i = 0; i < axes; i++) fputs("---|", f);
    fputs("--:|--:|--:|--:|--:|--:|--:|\n", f);
    double *room = lg__alloc(2 * (size_t)s->plan.count * sizeof *room);
    if (!room) return LG_ERROR_MEMORY;
    for (int g = 0; g < s->plan.groups; g++) {
        struct variant v = {.margin = INFINITY, .steps = room, .seconds = room + s->plan.count};
        int first = -1;
        for (int i = 0; i < s->plan.count; i++) {
            const json_t *c = lg__journal_certificate(s, i);
            if (s->plan.runs[i].group != g || !c || !s->runs[i].done) continue;
            add_run(&v, c);
            if (first < 0) first = i;
        }
        if (first >= 0) put_variant(f, s, first, &v);
    }
    free(room);
    return 0;
}

static int write_text(const struct lg__study *s, const char *name, const char *text, lg_error *err)
{
    char path[4096];
    int e = lg__run_path(path, sizeof path, s->place, name, err);
    return e ? e : lg__run_write_file(path, text, err);
}

int lg__certificates_write(const struct lg__study *s, lg_error *err)
{
    char *rows = NULL, *table = NULL;
    size_t size;
    FILE *f = open_memstream(&rows, &size), *g = open_memstream(&table, &size);
    int e = f && g ? 0 : no_memory(err);
    if (!e) put_rows(f, s);
    if (!e && put_variants(g, s)) e = no_memory(err);
    if (f && fclose(f) && !e) e = no_memory(err);
    if (g && fclose(g) && !e) e = no_memory(err);
    if (!e) e = write_text(s, "certificates.csv", rows, err);
    if (!e) e = write_text(s, "certificates.md", table, err);
    free(rows);
    free(table);
    return e;
}

void lg__certificates_count(const struct lg__study *s, lg__where where, int *certified, int *all)
{
    *certified = *all = 0;
    for (int i = 0; i < s->plan.count; i++) {
        const json_t *c = lg__journal_certificate(s, i);
        struct lg__cell cell = {.run = i};
        if (!c || !s->runs[i].done || !lg__where_fits(s, where, &cell)) continue;
        ++*all;
        *certified += is_certified(c);
    }
}
