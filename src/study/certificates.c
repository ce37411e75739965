/* certificates.c: the certificates of an experiment's runs, which run.json has, shown as certificates.csv, one row a run, and certificates.md, one row
 * a variant. Both files are made of run.json alone. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/stats.h"
#include "certify/contexts.h"
#include "study/study.h"
#include "base/files.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for certificates; end other programs");
}

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

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

static void put_row(lg_buffer *to, const struct lg__study *s, int run, const json_t *c)
{
    const json_t *fails = json_object_get(c, "counterexample");
    const char *input = json_string_value(json_object_get(fails, "input"));
    lg__results_put_run(to, s, run);
    lg_buffer_print(to, ",%s,%.0f,%.0f,", is_certified(c) ? "yes" : "no", number(c, "contexts"),
                    number(c, "wrong"));
    if (is_certified(c)) lg_buffer_print(to, "%.4f", number(c, "min_margin"));
    lg_buffer_print(to, ",%.0f,%.1f,%d,%d,", number(c, "step"), number(c, "seconds"), tried(c),
                    tried_wrong(c));
    lg__csv_put(to, input ? input : "");
    lg_buffer_put(to, "\n");
}

static void put_rows(lg_buffer *to, const struct lg__study *s)
{
    lg_buffer_put(
        to, "experiment,method,train,seed,certified,contexts,wrong,min_margin,steps,seconds,tried,"
            "tried_wrong,counterexample\n");
    for (int i = 0; i < s->plan.count; i++) {
        const json_t *c = lg__journal_certificate(s, i);
        if (c && s->done[i]) put_row(to, s, i, c);
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

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, lg__by_number);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void put_variant(lg_buffer *to, const struct lg__study *s, int run, struct variant *v)
{
    lg_buffer_put(to, "| ");
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, "seed") != 0)
            lg_buffer_print(to, "%s | ", lg__sweep_value_of(&s->plan, run, a)->name);
    lg_buffer_print(to, "%d of %d | %.0f | ", v->certified, v->seeds, v->contexts);
    if (v->count)
        lg_buffer_print(to, "%.2f | %.0f | %.0f | ", v->margin, median(v->steps, v->count),
                        median(v->seconds, v->count));
    else
        lg_buffer_put(to, "| | | ");
    lg_buffer_print(to, "%d | %d |\n", v->tried, v->wrong);
}

static int put_variants(lg_buffer *to, const struct lg__study *s)
{
    int axes = 0;
    lg_buffer_put(to, "| ");
    for (int a = 0; a < s->plan.axis_count; a++)
        if (strcmp(s->plan.axes[a].at->key, "seed") != 0) {
            lg_buffer_print(to, "%s | ", s->plan.axes[a].at->key);
            axes++;
        }
    lg_buffer_put(
        to,
        "seeds certified | contexts | smallest margin | steps (median) | seconds (median) | long "
        "inputs tried | of them wrong |\n|");
    for (int i = 0; i < axes; i++) lg_buffer_put(to, "---|");
    lg_buffer_put(to, "--:|--:|--:|--:|--:|--:|--:|\n");
    double *room = lg__alloc(2 * (size_t)s->plan.count * sizeof *room);
    if (!room) return LG_ERROR_MEMORY;
    for (int g = 0; g < s->plan.groups; g++) {
        struct variant v = {.margin = INFINITY, .steps = room, .seconds = room + s->plan.count};
        int first = -1;
        for (int i = 0; i < s->plan.count; i++) {
            const json_t *c = lg__journal_certificate(s, i);
            if (s->plan.runs[i].group != g || !c || !s->done[i]) continue;
            add_run(&v, c);
            if (first < 0) first = i;
        }
        if (first >= 0) put_variant(to, s, first, &v);
    }
    free(room);
    return 0;
}

static int write_text(const struct lg__study *s, const char *name, const char *text, lg_error *err)
{
    char path[4096];
    int e = lg__file_path(path, sizeof path, s->place, name, err);
    return e ? e : lg__file_write(path, text, err);
}

int lg__certificates_write(const struct lg__study *s, lg_error *err)
{
    lg_buffer b = {0};
    put_rows(&b, s);
    char *rows = lg_buffer_take(&b, NULL);
    int lost = put_variants(&b, s);
    char *table = lg_buffer_take(&b, NULL);
    int e = rows && table && !lost ? 0 : no_memory(err);
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
        lg_cell nowhere = {0}; /* of runs, not of cells */
        struct lg__joined cell = {
            .run = i, .j = {.kind = lg_kind_leading(s->plan.variants[0].form), .at = &nowhere}};
        if (!c || !s->done[i] || !lg__where_fits(s, where, &cell)) continue;
        ++*all;
        *certified += is_certified(c);
    }
}
