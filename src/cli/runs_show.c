/* runs_show.c: `lengthen runs show`: one run with all that the store knows of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/runs.h"
#include "cli/show.h"
#include "cli/table.h"

enum { SPARKS = 56 };

/* ---- Steps as they are ------------------------------------------------------------------ */

static int print_step(void *context, const lg_run_step *s)
{
    int64_t *rows = context;
    if (!(*rows)++)
        printf("    step        loss  accuracy     ID loss  ID accuracy          lr   tokens   "
               "GFLOP  length  sparsity\n");
    printf("%8lld  %10.6f  %7.2f%%  %10.6f  %10.2f%%  %10.3e  %7lld  %6.2f  %6d  %8d\n",
           (long long)s->step, s->loss, 100 * s->accuracy, s->id_loss, 100 * s->id_accuracy, s->lr,
           (long long)s->tokens, s->gflop, s->length, s->sparsity);
    return 1;
}

static int csv_step(void *context, const lg_run_step *s)
{
    int64_t *rows = context;
    if (!(*rows)++)
        printf("step,loss,accuracy,id_loss,id_accuracy,lr,tokens,gflop,length,sparsity\n");
    printf("%lld,%.9g,%.9g,%.9g,%.9g,%.9g,%lld,%.9g,%d,%d\n", (long long)s->step, s->loss,
           s->accuracy, s->id_loss, s->id_accuracy, s->lr, (long long)s->tokens, s->gflop,
           s->length, s->sparsity);
    return 1;
}

static int json_step(void *context, const lg_run_step *s)
{
    ++*(int64_t *)context;
    printf("{\"step\":%lld", (long long)s->step);
    lg_cli_json_number("loss", s->loss);
    lg_cli_json_number("id_loss", s->id_loss);
    lg_cli_json_number("accuracy", s->accuracy);
    lg_cli_json_number("id_accuracy", s->id_accuracy);
    lg_cli_json_number("lr", s->lr);
    lg_cli_json_number("gflop", s->gflop);
    printf(",\"tokens\":%lld,\"length\":%d,\"sparsity\":%d}\n", (long long)s->tokens, s->length,
           s->sparsity);
    return 1;
}

static int show_steps(struct lg_cli_asked *a, const lg_store_run *r)
{
    int64_t rows = 0;
    int e = lg_store_steps(a->store, r->number,
                           a->json  ? json_step
                           : a->csv ? csv_step
                                    : print_step,
                           &rows, &a->err);
    if (!e && !rows && !a->json && !a->csv) printf("No step is in the store yet.\n");
    return e;
}

/* ---- The curve of the loss -------------------------------------------------------------- */

struct curve {
    int64_t last_step; /* of the run */
    int columns;
    double sum[SPARKS];
    int64_t count[SPARKS], steps;
    lg_run_step first, last;
};

static int add_to_curve(void *context, const lg_run_step *s)
{
    struct curve *c = context;
    int64_t i = (s->step - 1) * c->columns / c->last_step;
    if (!c->steps++) c->first = *s;
    c->last = *s;
    if (i < 0 || i >= c->columns || !isfinite(s->loss)) return 1;
    c->sum[i] += s->loss;
    c->count[i]++;
    return 1;
}

static int read_curve(struct lg_cli_asked *a, const lg_store_run *r, struct curve *c)
{
    *c = (struct curve){.last_step = r->step > 0 ? r->step : 1};
    c->columns = c->last_step < SPARKS ? (int)c->last_step : SPARKS;
    return lg_store_steps(a->store, r->number, add_to_curve, c, &a->err);
}

/* One letter a column, as high as its mean loss; a blank where no step is. */
static void print_sparks(const struct curve *c)
{
    static const char *const utf8[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *sparks = lg_cli_utf8() ? utf8 : ascii;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < c->columns; i++) {
        if (!c->count[i]) continue;
        least = fmin(least, c->sum[i] / (double)c->count[i]);
        most = fmax(most, c->sum[i] / (double)c->count[i]);
    }
    for (int i = 0; i < c->columns; i++) {
        double share = most > least && c->count[i]
                           ? (c->sum[i] / (double)c->count[i] - least) / (most - least)
                           : 0;
        fputs(c->count[i] ? sparks[(int)(7.999 * share)] : " ", stdout);
    }
}

static void print_curve(const struct curve *c)
{
    if (!c->steps) {
        printf("\nNo step is in the store yet.\n");
        return;
    }
    printf("\nLoss, step %lld to %lld\n  %.4f  ", (long long)c->first.step, (long long)c->last.step,
           c->first.loss);
    print_sparks(c);
    printf("  %.4f\n  right in training: %.1f%% at first, %.1f%% at last", c->last.loss,
           100 * c->first.accuracy, 100 * c->last.accuracy);
    if (c->last.id_loss > 0)
        printf("; IDs: loss %.4f, right %.1f%%", c->last.id_loss, 100 * c->last.id_accuracy);
    printf("\n");
}

/* ---- Its words -------------------------------------------------------------------------- */

static void print_time(const char *name, double when)
{
    char ago[40], date[40] = "";
    time_t t = (time_t)when;
    struct tm tm;
    if (localtime_r(&t, &tm)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
    printf("  %-11s %s (%s)\n", name, date, lg_cli_ago(when, ago, sizeof ago));
}

static void print_words(const lg_store_run *r)
{
    printf("Run %lld, %s\n", (long long)r->number, lg_cli_plain(lg_cli_run_name(r)));
    printf("  folder      %s\n", lg_cli_plain(r->folder));
    printf("  ID          %s\n", lg_cli_plain(r->id));
    printf("  state       %s, step %lld of %lld\n", lg_cli_plain(r->state), (long long)r->step,
           (long long)r->steps);
    if (*r->error) printf("  error       %s\n", lg_cli_plain(r->error));
    printf("  task        %s, trained up to length %d (%s)", lg_cli_plain(r->task), r->length,
           lg_cli_plain(r->unit));
    if (r->sparsity) printf(", sparsity %d", r->sparsity);
    printf("\n  positions   %s\n", lg_cli_plain(r->positions));
    printf("  seed        %lld\n", (long long)r->seed);
    printf("  parameters  %lld\n", (long long)r->parameters);
    printf("  machine     %s\n", lg_cli_plain(r->machine));
    printf("  kernels     %s%s\n", *r->kernels ? lg_cli_plain(r->kernels) : "unknown",
           strchr(r->kernels, '+') && strncmp(r->kernels, "unknown", 7) != 0
               ? " (resumed with others)"
               : "");
    print_time("created", r->created);
    print_time("updated", r->updated);
}

static int print_config(struct lg_cli_asked *a, const lg_store_run *r)
{
    lg_config_values keys = {0}, usual = {0};
    int e = lg_cli_run_config(r, &keys, &a->err);
    if (!e) e = lg_config_values_default(&usual, r->task, &a->err);
    if (!e) printf("\nConfig: what is not the default, and what auto became\n");
    for (int i = 0; i < keys.count && !e; i++) {
        const char *value = lg_config_values_get(&usual, keys.at[i].key);
        char text[32];
        if (!value || !lg_config_same_value(keys.at[i].value, value))
            printf("  %s: %s\n", lg_cli_plain(keys.at[i].key),
                   lg_cli_plain(lg_cli_short_value(keys.at[i].value, text)));
    }
    lg_config_values_clear(&keys);
    lg_config_values_clear(&usual);
    return e;
}

/* ---- What it can do --------------------------------------------------------------------- */

/* The table of its last evaluation, and the figure of it. */
static void print_cells(const lg_store_run *r, const struct lg_cli_cells *cells)
{
    const struct lg_cli_measures leading = {0};
    int64_t step = cells->cells[cells->count - 1].step;
    struct lg_cli_curves curves = {0};
    char title[300];
    printf("\nEvaluated at step %lld\n\n", (long long)step);
    lg_cli_cells_print(cells, step);
    for (int i = 0; i < cells->count; i++)
        if (cells->cells[i].step == step)
            lg_cli_curves_add_cell(&curves, "", &cells->cells[i], &leading);
    snprintf(title, sizeof title, "%.200s, step %lld", lg_cli_plain(lg_cli_run_name(r)),
             (long long)step);
    lg_cli_curves_draw(&curves, title, "", "runs", NULL, isatty(STDOUT_FILENO));
}

/* ---- Evaluations on the way ------------------------------------------------------------- */

/* What heads a column: the length, or of the greatest length the last position; and what else differs. */
static void add_column(struct lg_cli_table *t, const lg_cell *c)
{
    char sparsity[24] = "";
    if (c->sparsity) snprintf(sparsity, sizeof sparsity, ", %d", c->sparsity);
    lg_cli_table_add(t, "%d%s%s%s", c->last ? c->last : c->length, sparsity, *c->setting ? " " : "",
                     c->setting);
}

/* Drops what is not comparable: positions of other lengths than the greatest, with another context than that of
 * training, and in other texts. */
static void keep_comparable(struct lg_cli_cells *cells)
{
    int longest = 0, n = 0;
    for (int i = 0; i < cells->count; i++)
        if (cells->cells[i].length > longest) longest = cells->cells[i].length;
    for (int i = 0; i < cells->count; i++) {
        const lg_cell *c = &cells->cells[i];
        if (!c->first || (c->length == longest && c->context == c->trained_length && !*c->setting))
            cells->cells[n++] = *c;
    }
    cells->count = n;
}

/* The cells that head a column: one of each place. */
static int find_columns(const struct lg_cli_cells *cells, const lg_cell **column)
{
    int n = 0;
    for (int i = 0, k; i < cells->count; i++) {
        for (k = 0; k < n && lg_cli_place_order(column[k], &cells->cells[i]) != 0; k++) {
        }
        if (k == n) column[n++] = &cells->cells[i];
    }
    return n;
}

static void fill_way(struct lg_cli_table *t, const struct lg_cli_cells *cells, const lg_kind *kind,
                     const lg_cell *const *column, int n)
{
    const lg_cell *at = cells->cells;
    char text[32];
    t->columns = n + 1;
    lg_cli_table_add(t, "step");
    for (int k = 0; k < n; k++) add_column(t, column[k]);
    for (int i = 0, next; i < cells->count; i = next) {
        lg_cli_table_add(t, "%lld", (long long)at[i].step);
        for (next = i; next < cells->count && at[next].step == at[i].step;) next++;
        for (int k = 0; k < n; k++) {
            int j = i;
            while (j < next && lg_cli_place_order(column[k], &at[j]) != 0) j++;
            const lg_value *v = j < next ? lg_cell_get(&at[j], kind->name) : NULL;
            lg_cli_table_add(t, "%s", lg_cli_value_text(kind, v ? v->value : NAN, text));
        }
    }
}

/* The leading kind by step, one column per place. Sorts cells out: nobody needs them after this. */
static int print_way(struct lg_cli_asked *a, struct lg_cli_cells *cells)
{
    lg_cli_cells_predicted(cells);
    keep_comparable(cells);
    const lg_cell *first = cells->cells;
    if (!cells->count || first->step == cells->cells[cells->count - 1].step) return 0;
    struct lg_cli_table t = {0};
    const lg_kind *kind = lg_kind_leading(lg_cell_form(first));
    const lg_cell **column = calloc((size_t)cells->count, sizeof(const lg_cell *));
    if (!column) return lg_cli_no_memory(&a->err);
    fill_way(&t, cells, kind, column, find_columns(cells, column));
    printf("\nOn the way: %s by step, %s%s%s\n", kind->label,
           first->last ? "up to position" : "at length", first->sparsity ? " and sparsity" : "",
           first->predicted ? ", with predicted IDs" : "");
    int e = t.lost ? lg_cli_no_memory(&a->err) : 0;
    if (!e) lg_cli_table_print(&t, 2, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    free(column);
    return e;
}

/* ---- Probes ----------------------------------------------------------------------------- */

static int same_probe(const lg_cell *a, const lg_cell *b)
{
    return a->step == b->step && a->length == b->length && a->context == b->context &&
           strcmp(a->setting, b->setting) == 0;
}

static int print_probes(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct lg_cli_cells p = {0};
    int e = lg_store_cells(a->store, r->number, -2, "probe", lg_cli_cells_keep, &p, &a->err);
    if (!e && p.lost) e = lg_cli_no_memory(&a->err);
    for (int i = 0, next; i < p.count && !e; i = next) {
        const lg_cell *c = &p.cells[i];
        for (next = i; next < p.count && same_probe(c, &p.cells[next]);) next++;
        printf("\nHow many earlier tokens predictions need, at step %lld: %s, length %d\n\n",
               (long long)c->step, lg_cli_plain(c->setting), c->length);
        lg_cli_probe_table(c, next - i);
    }
    lg_cli_cells_clear(&p);
    return e;
}

/* ---- JSON ------------------------------------------------------------------------------- */

/* Whether the n letters are a number of JSON: -12, 0.5, 1e-08; not 007, .5 or 1. */
static int is_number(const char *word, size_t n)
{
    const char *at = word + (*word == '-');
    size_t whole = strspn(at, "0123456789");
    if (!whole || (whole > 1 && *at == '0')) return 0;
    at += whole;
    if (*at == '.') {
        size_t part = strspn(at + 1, "0123456789");
        if (!part) return 0;
        at += 1 + part;
    }
    if (*at == 'e') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        size_t power = strspn(at, "0123456789");
        if (!power) return 0;
        at += power;
    }
    return at == word + n;
}

static void json_word(const char *word, size_t n)
{
    if (is_number(word, n))
        printf("%.*s", (int)n, word);
    else
        lg_cli_json_text(stdout, word, n);
}

/* A value of a config: a word, a number, a text or a list. */
static void json_value(const lg_config_value *value)
{
    const char *v = value->value;
    if (!value->list) {
        json_word(v, strlen(v));
        return;
    }
    for (size_t n; *v; v += n) {
        n = strcspn(v, "[], ");
        if (n)
            json_word(v, n);
        else
            putchar(v[n++]);
    }
}

/* One line for the run, one for each of its cells. */
static int show_json(struct lg_cli_asked *a, const lg_store_run *r, const struct curve *curve)
{
    struct lg_cli_cells cells = {.form = LG_CLI_JSON};
    lg_config_values keys = {0};
    int e = lg_cli_run_config(r, &keys, &a->err);
    if (e) return e;
    lg_cli_run_json(r);
    lg_cli_json_number("loss_first", curve->steps ? curve->first.loss : NAN);
    lg_cli_json_number("loss_last", curve->steps ? curve->last.loss : NAN);
    lg_cli_json_number("accuracy_last", curve->steps ? curve->last.accuracy : NAN);
    printf(",\"config\":{");
    for (int i = 0; i < keys.count; i++) {
        printf("%s", i ? "," : "");
        lg_cli_json(stdout, keys.at[i].key);
        putchar(':');
        json_value(&keys.at[i]);
    }
    printf("}}\n");
    lg_config_values_clear(&keys);
    e = lg_store_cells(a->store, r->number, -2, NULL, lg_cli_cells_add, &cells, &a->err);
    lg_cli_cells_clear(&cells);
    return e;
}

/* ---- The whole -------------------------------------------------------------------------- */

static int show_run(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct lg_cli_cells cells = {0};
    struct curve curve;
    int e = read_curve(a, r, &curve);
    if (!e && a->json) return show_json(a, r, &curve);
    if (!e) e = lg_cli_cells_read(a, r->number, -2, &cells);
    if (!e) {
        print_words(r);
        e = print_config(a, r);
        print_curve(&curve);
    }
    if (!e && cells.count)
        print_cells(r, &cells);
    else if (!e)
        printf("\nNot evaluated yet: lengthen eval %s\n", lg_cli_plain(r->folder));
    if (!e) e = print_way(a, &cells);
    if (!e) e = print_probes(a, r);
    lg_cli_cells_clear(&cells);
    return e;
}

int lg_cli_runs_show(struct lg_cli_asked *a)
{
    int count;
    struct lg_cli_run *run = lg_cli_runs_find(a, &count);
    if (!run) return -1;
    int e = a->steps ? show_steps(a, &run->r) : show_run(a, &run->r);
    lg_cli_runs_free(run, count);
    return e ? -1 : LG_EXIT_DONE;
}
