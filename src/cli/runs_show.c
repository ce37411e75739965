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

static int record_step(void *context, const lg_run_step *s)
{
    lg_cli_record_print(context, lg_cli_put_step, s);
    return 1;
}

static int show_steps(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct lg_cli_record record = {.form = a->json ? LG_CLI_JSON : LG_CLI_CSV};
    int64_t rows = 0;
    if (a->json || a->csv)
        return lg_store_steps(a->store, r->number, record_step, &record, &a->err);
    int e = lg_store_steps(a->store, r->number, print_step, &rows, &a->err);
    if (!e && !rows) printf("No step is in the store yet.\n");
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
static int print_cells(struct lg_cli_asked *a, const lg_store_run *r)
{
    const struct lg_cli_measures leading = {0};
    struct lg_cli_cells t = {0};
    int e = lg_cli_cells_read(a, r->number, -1, &t);
    if (!e && t.count) {
        char title[300];
        snprintf(title, sizeof title, "%.200s, step %lld", lg_cli_plain(lg_cli_run_name(r)),
                 (long long)t.rows[0].cell.step);
        printf("\nEvaluated at step %lld\n\n", (long long)t.rows[0].cell.step);
        for (int i = 0; i < t.count; i++) t.rows[i].cell.kept = 0; /* they all were */
        lg_cli_cells_print(&t);
        lg_cli_cells_explain(&t);
        lg_cli_cells_draw(&t, &leading, title, "runs", NULL, isatty(STDOUT_FILENO));
    } else if (!e) {
        printf("\nNot evaluated yet: lengthen eval %s\n", lg_cli_plain(r->folder));
    }
    lg_cli_cells_clear(&t);
    return e;
}

/* ---- Evaluations on the way ------------------------------------------------------------- */

/* Of positions, those of the greatest length, in the texts that were held out. */
static void keep_longest(struct lg_cli_cells *t)
{
    int longest = 0, n = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].cell.length > longest) longest = t->rows[i].cell.length;
    for (int i = 0; i < t->count; i++) {
        const lg_cell *c = &t->rows[i].cell;
        if (!c->first || (c->length == longest && !*c->setting)) t->rows[n++] = t->rows[i];
    }
    t->count = n;
}

/* A row for each step, a column for each place: its length, or its last position, and what else differs. */
static void fill_way(struct lg_cli_table *table, const struct lg_cli_cells *t, const lg_kind *kind,
                     const lg_cell **place)
{
    int n = lg_cli_cells_places(t, place);
    table->columns = n + 1;
    lg_cli_table_add(table, "step");
    for (int k = 0; k < n; k++) {
        const lg_cell *c = place[k];
        char sparsity[24] = "";
        if (c->sparsity) snprintf(sparsity, sizeof sparsity, ", %d", c->sparsity);
        lg_cli_table_add(table, "%d%s%s%s", c->last ? c->last : c->length, sparsity,
                         *c->setting ? " " : "", c->setting);
    }
    for (int i = 0; i < t->count; i++) {
        int64_t step = t->rows[i].cell.step;
        char text[32];
        if (i && step == t->rows[i - 1].cell.step) continue;
        lg_cli_table_add(table, "%lld", (long long)step);
        for (int k = 0; k < n; k++) {
            const lg_value *v = lg_cli_cells_find(t, NULL, step, place[k], kind, NULL);
            lg_cli_table_add(table, "%s", lg_cli_value_text(kind, v ? v->value : NAN, text));
        }
    }
}

/* The leading kind by step. */
static int print_way(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct lg_cli_cells t = {0};
    struct lg_cli_table table = {0};
    int e = lg_cli_cells_read(a, r->number, -2, &t);
    lg_cli_cells_compare(&t, 0);
    keep_longest(&t);
    const lg_cell *first = t.count ? &t.rows[0].cell : NULL;
    if (!e && first && first->step != t.rows[t.count - 1].cell.step) {
        const lg_kind *kind = lg_kind_leading(lg_cell_form(first));
        const lg_cell **place = calloc((size_t)t.count, sizeof(const lg_cell *));
        if (place) fill_way(&table, &t, kind, place);
        if (!place || table.lost) e = lg_cli_no_memory(&a->err);
        free(place);
        printf("\nOn the way: %s by step, %s%s%s\n", kind->label,
               first->last ? "up to position" : "at length", first->sparsity ? " and sparsity" : "",
               first->predicted ? ", with predicted IDs" : "");
        if (!e) lg_cli_table_print(&table, 2, 1, lg_cli_look_stdout().width);
    }
    lg_cli_table_clear(&table);
    lg_cli_cells_clear(&t);
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
        const lg_cell *c = &p.rows[i].cell;
        for (next = i; next < p.count && same_probe(c, &p.rows[next].cell);) next++;
        printf("\nHow many earlier tokens predictions need, at step %lld: %s, length %d\n\n",
               (long long)c->step, lg_cli_plain(c->setting), c->length);
        lg_cli_probe_table(p.rows + i, next - i);
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

/* What the first line has. */
struct shown {
    const lg_store_run *r;
    const struct curve *curve;
    lg_config_values keys;
};

static void put_run(struct lg_cli_record *to, const void *row)
{
    const struct shown *s = row;
    const struct curve *c = s->curve;
    lg_cli_run_put(to, s->r);
    lg_cli_put_real(to, "loss_first", "%.9g", c->steps ? c->first.loss : NAN);
    lg_cli_put_real(to, "loss_last", "%.9g", c->steps ? c->last.loss : NAN);
    lg_cli_put_real(to, "accuracy_last", "%.9g", c->steps ? c->last.accuracy : NAN);
    lg_cli_put_open(to, "config", '{');
    for (int i = 0; i < s->keys.count; i++) {
        lg_cli_put_key(to, s->keys.at[i].key);
        json_value(&s->keys.at[i]);
    }
    lg_cli_put_close(to, '}');
}

/* One line for the run, one for each of its cells. */
static int show_json(struct lg_cli_asked *a, const lg_store_run *r, const struct curve *curve)
{
    struct lg_cli_cells cells = {.record.form = LG_CLI_JSON};
    struct shown s = {r, curve, {0}};
    int e = lg_cli_run_config(r, &s.keys, &a->err);
    if (!e) lg_cli_record_print(&cells.record, put_run, &s);
    if (!e) e = lg_store_cells(a->store, r->number, -2, NULL, lg_cli_cells_add, &cells, &a->err);
    lg_config_values_clear(&s.keys);
    lg_cli_cells_clear(&cells);
    return e;
}

/* ---- The whole -------------------------------------------------------------------------- */

static int show_run(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct curve curve;
    int e = read_curve(a, r, &curve);
    if (!e && a->json) return show_json(a, r, &curve);
    if (!e) {
        print_words(r);
        e = print_config(a, r);
        print_curve(&curve);
    }
    if (!e) e = print_cells(a, r);
    if (!e) e = print_way(a, r);
    if (!e) e = print_probes(a, r);
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
