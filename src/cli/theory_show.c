/* theory_show.c: what `lengthen theory` prints and writes of its rows. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/theory.h"

/* Said below every figure and in every record: what is ours, and which A and g were used. */
static void say_words(const struct lg_cli_theory *q, char words[600])
{
    const lg_theory_class *c = &q->o.c;
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

struct summary {
    lg_theory_cell *cells;
    lg_theory_slope *slopes;
    int cell_count, slope_count;
};

static int summarise(const struct lg_cli_theory *q, struct summary *s)
{
    s->cells = calloc((size_t)q->count + 1, sizeof *s->cells);
    s->slopes = calloc((size_t)q->count + 1, sizeof *s->slopes);
    if (!s->cells || !s->slopes) return -1;
    s->cell_count = lg_theory_cells(q->rows, q->count, s->cells);
    s->slope_count = lg_theory_slopes(q->rows, q->count, s->slopes);
    return 0;
}

static void end_summary(struct summary *s)
{
    free(s->cells);
    free(s->slopes);
}

/* ---- Shown ---------------------------------------------------------------------------------- */

static const lg_theory_cell *cell_of(const struct summary *s, const char *variant, int length)
{
    for (int i = 0; i < s->cell_count; i++)
        if (s->cells[i].length == length && strcmp(s->cells[i].variant, variant) == 0)
            return &s->cells[i];
    return NULL;
}

void lg_cli_theory_add(struct lg_cli_table *t, double x)
{
    if (isnan(x))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.2e", x);
}

static void add_line(struct lg_cli_table *t, const struct lg_cli_theory *q, const struct summary *s,
                     const char *variant, int kind)
{
    static const char *const suffix[] = {"", ": shown", ": not shown"};
    lg_cli_table_add(t, "%s%s", variant, suffix[kind]);
    for (int i = 0; i < q->o.length_count; i++) {
        const lg_theory_cell *c = cell_of(s, variant, q->lengths[i]);
        double error = !c ? NAN : kind == 0 ? c->error : kind == 1 ? c->seen : c->lost;
        lg_cli_theory_add(t, error);
    }
    for (int i = 0; i < s->slope_count && !kind; i++)
        if (strcmp(s->slopes[i].variant, variant) == 0) {
            lg_cli_table_add(t, "%.2f", s->slopes[i].slope);
            if (isnan(s->slopes[i].low))
                lg_cli_table_add(t, "-");
            else
                lg_cli_table_add(t, "%.2f..%.2f", s->slopes[i].low, s->slopes[i].high);
            return;
        }
    lg_cli_table_add(t, "-");
    lg_cli_table_add(t, "-");
}

/* One variant: a line a length. */
static void show_lengths(const struct summary *s)
{
    struct lg_cli_table t = {.columns = 6};
    static const char *const heading[] = {"length", "error", "95% from", "to", "wrong", "seeds"};
    for (int i = 0; i < 6; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < s->cell_count; i++) {
        const lg_theory_cell *c = &s->cells[i];
        lg_cli_table_add(&t, "%d", c->length);
        lg_cli_table_add(&t, "%.2e", c->error);
        lg_cli_theory_add(&t, c->low);
        lg_cli_theory_add(&t, c->high);
        lg_cli_table_add(&t, "%.1f%%", 100 * c->wrong);
        lg_cli_table_add(&t, "%d", c->seeds);
    }
    lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    if (!s->slope_count) return;
    printf("\nSlope of log error over log length: %.2f", s->slopes[0].slope);
    if (!isnan(s->slopes[0].low))
        printf(" (95%%: %.2f to %.2f)", s->slopes[0].low, s->slopes[0].high);
    puts(".");
}

/* Several: a line a variant, a column a length. */
static void show_variants(const struct lg_cli_theory *q, const struct summary *s)
{
    struct lg_cli_table t = {.columns = q->o.length_count + 3, .left = 1};
    lg_cli_table_add(&t, "error at length");
    for (int i = 0; i < q->o.length_count; i++) lg_cli_table_add(&t, "%d", q->lengths[i]);
    lg_cli_table_add(&t, "slope");
    lg_cli_table_add(&t, "95%%");
    for (int i = 0; i < s->cell_count; i++) {
        const char *variant = s->cells[i].variant;
        int known = 0, missing = 0;
        for (int j = 0; j < i && !known; j++) known = strcmp(s->cells[j].variant, variant) == 0;
        for (int j = i; j < s->cell_count; j++)
            missing |= s->cells[j].missing && strcmp(s->cells[j].variant, variant) == 0;
        for (int kind = 0; kind < (missing ? 3 : 1) && !known; kind++)
            add_line(&t, q, s, variant, kind);
    }
    lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
}

static void show_table(const struct lg_cli_theory *q, const struct summary *s)
{
    int one = 1;
    for (int i = 0; i < s->cell_count; i++)
        one &= strcmp(s->cells[i].variant, s->cells[0].variant) == 0 && !s->cells[i].missing;
    if (one)
        show_lengths(s);
    else
        show_variants(q, s);
    printf("\nGeometric means over %d seed%s, trained on lengths %d..%d until the error was %g.\n",
           q->o.seeds, q->o.seeds == 1 ? "" : "s", q->o.train[0], q->o.train[1], q->o.until);
    for (int i = 0; i < q->count; i++)
        if (q->rows[i].trained > q->o.until &&
            (!i || q->rows[i].seed != q->rows[i - 1].seed ||
             strcmp(q->rows[i].variant, q->rows[i - 1].variant) != 0))
            printf("Not reached in %d steps: %s, seed %lld has %.2g.\n", q->rows[i].steps,
                   q->rows[i].variant, (long long)q->rows[i].seed, q->rows[i].trained);
}

void lg_cli_theory_real(FILE *f, const char *key, double value)
{
    if (isfinite(value))
        fprintf(f, ",\"%s\":%.9g", key, value);
    else
        fprintf(f, ",\"%s\":null", key);
}

static void show_json(const struct summary *s)
{
    for (int i = 0; i < s->cell_count; i++) {
        const lg_theory_cell *c = &s->cells[i];
        printf("{\"variant\":");
        lg_cli_json(stdout, c->variant);
        printf(",\"length\":%d,\"seeds\":%d", c->length, c->seeds);
        lg_cli_theory_real(stdout, "error", c->error);
        lg_cli_theory_real(stdout, "low", c->low);
        lg_cli_theory_real(stdout, "high", c->high);
        lg_cli_theory_real(stdout, "wrong", c->wrong);
        lg_cli_theory_real(stdout, "error_shown", c->seen);
        lg_cli_theory_real(stdout, "error_not_shown", c->lost);
        printf("}\n");
    }
    for (int i = 0; i < s->slope_count; i++) {
        printf("{\"variant\":");
        lg_cli_json(stdout, s->slopes[i].variant);
        lg_cli_theory_real(stdout, "slope", s->slopes[i].slope);
        lg_cli_theory_real(stdout, "low", s->slopes[i].low);
        lg_cli_theory_real(stdout, "high", s->slopes[i].high);
        lg_cli_theory_real(stdout, "most_trained", s->slopes[i].trained);
        lg_cli_theory_real(stdout, "most_last", s->slopes[i].last);
        printf("}\n");
    }
}

void lg_cli_theory_show(const struct lg_cli_theory *q)
{
    struct summary s = {0};
    if (summarise(q, &s) == 0) {
        if (q->json)
            show_json(&s);
        else
            show_table(q, &s);
    }
    end_summary(&s);
}

/* ---- Written -------------------------------------------------------------------------------- */

static int failed(const char *what)
{
    fprintf(stderr, "lengthen theory: %s could not be written: %s\n", what, strerror(errno));
    return LG_EXIT_FAILED;
}

static void path_of(const struct lg_cli_theory *q, const char *name, char path[1024])
{
    snprintf(path, 1024, "%s/%s", q->out, name);
}

int lg_cli_theory_folder(const struct lg_cli_theory *q)
{
    char figure[1024];
    lg_error err = {0};
    int code = lg_cli_make_folder("theory", q->out);
    if (code) return code;
    path_of(q, "errors.svg", figure);
    if (!lg_figure_check(figure, &err)) return 0;
    fprintf(stderr, "lengthen theory: %s\n", err.text);
    return LG_EXIT_FAILED;
}

static void csv_real(FILE *f, double value)
{
    if (isfinite(value))
        fprintf(f, ",%.9g", value);
    else
        fputs(",", f);
}

static int write_rows(const struct lg_cli_theory *q)
{
    char path[1024];
    path_of(q, "rows.csv", path);
    FILE *f = fopen(path, "w");
    if (!f) return failed(path);
    fputs("variant,k,local,coupled,patterns,coverage,seed,length,train_length,samples,error,wrong,"
          "error_shown,error_not_shown,not_shown,steps,trained\n",
          f);
    for (int i = 0; i < q->count; i++) {
        const lg_theory_row *r = &q->rows[i];
        fprintf(f, "\"%s\",%d,%d,%d,%d,%g,%lld,%d,%d,%d", r->variant, r->k, r->local, r->coupled,
                r->patterns, r->coverage, (long long)r->seed, r->length, r->train_length,
                r->samples);
        csv_real(f, r->error);
        csv_real(f, r->wrong);
        csv_real(f, r->error_seen);
        csv_real(f, r->error_missing);
        fprintf(f, ",%d,%d", r->missing, r->steps);
        csv_real(f, r->trained);
        fputs("\n", f);
    }
    return fclose(f) ? failed(path) : 0;
}

/* One curve: a variant, or of it the patterns that training shows (1) or does not (2). */
static int add_curve(const struct lg_cli_theory *q, const struct summary *s, const char *variant,
                     int kind, lg_curve *c)
{
    static const char *const suffix[] = {"", ": patterns shown in training", ": not shown"};
    int room = q->o.length_count;
    double *x = calloc(4 * (size_t)room, sizeof *x), *y = x + room, *low = y + room,
           *high = low + room;
    char *name = NULL;
    if (!x || asprintf(&name, "%s%s", variant, suffix[kind]) < 0) {
        free(x);
        return -1;
    }
    *c = (lg_curve){.name = name, .x = x, .y = y, .low = low, .high = high};
    for (int i = 0; i < room; i++) {
        const lg_theory_cell *cell = cell_of(s, variant, q->lengths[i]);
        double error = !cell ? NAN : kind == 0 ? cell->error : kind == 1 ? cell->seen : cell->lost;
        if (isnan(error)) continue;
        x[c->n] = q->lengths[i];
        y[c->n] = error;
        low[c->n] = kind == 0 ? cell->low : kind == 1 ? cell->seen_low : cell->lost_low;
        high[c->n] = kind == 0 ? cell->high : kind == 1 ? cell->seen_high : cell->lost_high;
        if (high[c->n] > 1) high[c->n] = 1;
        c->n++;
    }
    return 0;
}

static int write_figure(const struct lg_cli_theory *q, const struct summary *s)
{
    char path[1024], title[200], words[600];
    lg_error err = {0};
    say_words(q, words);
    lg_curve *curves = calloc(3 * (size_t)s->cell_count + 1, sizeof *curves);
    int count = 0, code = curves ? 0 : -1;
    for (int i = 0; i < s->cell_count && !code; i++) {
        const char *variant = s->cells[i].variant;
        int known = 0, missing = s->cells[i].missing > 0;
        for (int j = 0; j < i && !known; j++) known = strcmp(s->cells[j].variant, variant) == 0;
        if (known) continue;
        code = add_curve(q, s, variant, missing ? 1 : 0, &curves[count++]);
        if (missing && !code) code = add_curve(q, s, variant, 2, &curves[count++]);
    }
    snprintf(title, sizeof title, "%s", q->title ? q->title : q->o.ensemble);
    lg_figure f = {.title = title,
                   .x_label = "length of the text (tokens)",
                   .y_label = "error, mean |h − Y|",
                   .curves = curves,
                   .count = count,
                   .trained_low = q->o.train[0],
                   .trained_high = q->o.train[1],
                   .caption = words,
                   .log_y = 1};
    path_of(q, "errors.svg", path);
    if (!code) code = lg_figure_write(&f, path, &err);
    for (int i = 0; i < count; i++) {
        free((char *)(uintptr_t)curves[i].name);
        free((double *)(uintptr_t)curves[i].x);
    }
    free(curves);
    if (code) fprintf(stderr, "lengthen theory: %s\n", *err.text ? err.text : "no memory");
    return code ? LG_EXIT_FAILED : 0;
}

static int write_record(const struct lg_cli_theory *q)
{
    char path[1024], cpu[200], date[40] = "", words[600];
    time_t now = time(NULL);
    struct tm tm;
    path_of(q, "run.json", path);
    FILE *f = fopen(path, "w");
    if (!f) return failed(path);
    lg_cpu(cpu);
    say_words(q, words);
    if (gmtime_r(&now, &tm)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    fputs("{\n  \"command\": ", f);
    lg_cli_json(f, q->command);
    fputs(",\n  \"ensemble\": ", f);
    lg_cli_json(f, q->o.ensemble);
    fputs(",\n  \"seeds\": [", f);
    for (int i = 0; i < q->o.seeds; i++)
        fprintf(f, "%s%lld", i ? ", " : "", (long long)q->o.seed + i);
    fprintf(f, "],\n  \"commit\": \"%s\",\n  \"compiler\": ", lg_commit());
    lg_cli_json(f, lg_compiler());
    fputs(",\n  \"cpu\": ", f);
    lg_cli_json(f, cpu);
    fprintf(f, ",\n  \"isa\": \"%s\",\n  \"date\": \"%s\",\n  \"seconds\": %.0f,\n  \"words\": ",
            lg_isa(), date, lg_cli_now() - q->start);
    lg_cli_json(f, words);
    fputs("\n}\n", f);
    return fclose(f) ? failed(path) : 0;
}

/* ---- Findings ------------------------------------------------------------------------------- */

static int write_findings(const struct lg_cli_theory *q)
{
    char path[1024];
    path_of(q, "findings.csv", path);
    FILE *f = fopen(path, "w");
    if (!f) return failed(path);
    fputs("assumption,length,holds,value,text\n", f);
    for (int i = 0; i < q->finding_count; i++) {
        const lg_theory_finding *n = &q->findings[i];
        fprintf(f, "%s,%d,%d,%.9g,\"%s\"\n", n->assumption, n->length, n->holds, n->value, n->text);
    }
    return fclose(f) ? failed(path) : 0;
}

/* Each assumption as a share that is 1 where it holds. */
static double share_of(const lg_theory_finding *f)
{
    if (strcmp(f->assumption, "coverage") == 0) return f->value;
    if (strcmp(f->assumption, "realizability") == 0) return 1 - f->value;
    return f->holds;
}

static int draw_findings(const struct lg_cli_theory *q)
{
    static const char *const names[] = {"coverage", "locality", "realizability"};
    static const char *const titles[] = {"coverage: share of texts whose pattern training shows",
                                         "locality: 100 where S fits into L_local",
                                         "realizability: 1 - error of the best member found"};
    double x[3][LG_CLI_THEORY_MOST], y[3][LG_CLI_THEORY_MOST];
    lg_curve curves[3];
    char path[1024];
    lg_error err = {0};
    for (int a = 0; a < 3; a++) {
        curves[a] = (lg_curve){.name = titles[a], .x = x[a], .y = y[a]};
        for (int i = 0; i < q->finding_count && curves[a].n < LG_CLI_THEORY_MOST; i++) {
            if (strcmp(q->findings[i].assumption, names[a]) != 0) continue;
            x[a][curves[a].n] = q->findings[i].length;
            y[a][curves[a].n++] = share_of(&q->findings[i]);
        }
    }
    lg_figure f = {.title = q->title ? q->title : q->o.ensemble,
                   .x_label = "length of the text (tokens)",
                   .y_label = "share, %",
                   .curves = curves,
                   .count = 3,
                   .trained_low = q->o.train[0],
                   .trained_high = q->o.train[1],
                   .caption = "Reconstructed: the ensemble, the class and its assumptions "
                              "(docs/THEORY.md)."};
    path_of(q, "check.svg", path);
    if (lg_figure_write(&f, path, &err) == 0) return 0;
    fprintf(stderr, "lengthen theory: %s\n", err.text);
    return LG_EXIT_FAILED;
}

int lg_cli_theory_write_check(const struct lg_cli_theory *q)
{
    int code = write_findings(q);
    if (!code) code = draw_findings(q);
    return code ? code : write_record(q);
}

int lg_cli_theory_write(const struct lg_cli_theory *q)
{
    struct summary s = {0};
    int code = summarise(q, &s) ? LG_EXIT_FAILED : write_rows(q);
    if (!code) code = write_figure(q, &s);
    if (!code) code = write_record(q);
    end_summary(&s);
    return code;
}
