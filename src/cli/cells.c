/* cells.c: the cells of evaluations for the eye and for machines. */
#include "cli/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"

static const char *ids_of(const lg_run_cell *c) { return c->predicted ? "predicted" : "given"; }

/* ---- Rows -------------------------------------------------------------------------------- */

static void print_json(const struct lg_cli_cells *t, const lg_run_cell *c)
{
    const lg_score *s = &c->score;
    printf("{\"step\":%lld,\"setting\":", (long long)c->step);
    lg_cli_json(stdout, c->setting);
    printf(",\"length\":%d,\"unit\":", c->length);
    lg_cli_json(stdout, c->unit);
    printf(",\"sparsity\":%d,\"ids\":\"%s\",\"tokens\":%.0f,"
           "\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,\"high\":%.6f,\"token_accuracy\":%.6f,"
           "\"id_accuracy\":",
           c->sparsity, ids_of(c), c->tokens, s->samples, lg_cli_share(s->exact, s->samples),
           c->low, c->high, lg_cli_share(s->right, s->tokens));
    if (s->ids)
        printf("%.6f", lg_cli_share(s->ids_right, s->ids));
    else
        printf("null"); /* none was predicted */
    printf(",\"first_error_least\":%d,\"first_error_median\":%d,\"first_error_tenths\":[",
           s->first_least, s->first_median);
    for (int i = 0; i < 10; i++) printf("%s%d", i ? "," : "", s->first_in[i]);
    printf("]");
    if (c->taught.samples)
        printf(",\"taught_exact\":%.6f,\"taught_token_accuracy\":%.6f",
               lg_cli_share(c->taught.exact, c->taught.samples),
               lg_cli_share(c->taught.right, c->taught.tokens));
    printf(",\"seconds\":%.3f,\"kept\":%s", c->seconds, c->kept ? "true" : "false");
    lg_cli_json_folder(t->folder);
    puts("}");
}

static void print_csv(const struct lg_cli_cells *t, const lg_run_cell *c)
{
    const lg_score *s = &c->score;
    if (!t->printed)
        puts("step,setting,length,unit,sparsity,ids,tokens,samples,exact,low,high,token_accuracy,"
             "id_accuracy,first_error_least,first_error_median,taught_exact,"
             "taught_token_accuracy,seconds");
    printf("%lld,", (long long)c->step);
    lg_cli_csv(c->setting);
    printf(",%d,", c->length);
    lg_cli_csv(c->unit);
    printf(",%d,%s,%.0f,%d,%.6f,%.6f,%.6f,%.6f,", c->sparsity, ids_of(c), c->tokens, s->samples,
           lg_cli_share(s->exact, s->samples), c->low, c->high, lg_cli_share(s->right, s->tokens));
    if (s->ids) printf("%.6f", lg_cli_share(s->ids_right, s->ids));
    printf(",%d,%d,", s->first_least, s->first_median);
    if (c->taught.samples)
        printf("%.6f,%.6f", lg_cli_share(c->taught.exact, c->taught.samples),
               lg_cli_share(c->taught.right, c->taught.tokens));
    else
        putchar(',');
    printf(",%.3f\n", c->seconds);
}

static void print_heading(const struct lg_cli_cells *t, const lg_run_cell *c)
{
    int left = 28 + (t->setting ? 18 : 0) + (t->sparsity ? 10 : 0);
    printf("%*sgenerated%*steacher-forced\n", left, "", 39, "");
    if (t->setting) printf("%-16s  ", "setting");
    printf("%8s", c->unit);
    if (t->sparsity) printf("  %8s", "sparsity");
    printf("  %7s  %-9s  %7s  %-13s  %7s  %11s  %7s  %7s  %7s\n", "tokens", "IDs", "exact",
           "95% interval", "tokens", "first error", "exact", "tokens", "samples");
}

/* "token 12 of 40": the median of the answers that went wrong. */
static const char *first_error(const lg_run_cell *c, char text[32])
{
    if (c->score.first_median)
        snprintf(text, 32, "token %d", c->score.first_median);
    else
        snprintf(text, 32, "none");
    return text;
}

static void print_row(struct lg_cli_cells *t, const lg_run_cell *c)
{
    const lg_score *s = &c->score, *g = &c->taught;
    char text[32], taught[32] = "";
    if (!t->printed) {
        t->sparsity |= c->sparsity > 0;
        t->setting |= c->setting[0] != 0;
        print_heading(t, c);
    }
    if (t->setting) printf("%-16s  ", c->setting);
    printf("%8d", c->length);
    if (t->sparsity) printf("  %8d", c->sparsity);
    if (g->samples)
        snprintf(taught, sizeof taught, "%6.1f%%  %6.2f%%",
                 100 * lg_cli_share(g->exact, g->samples), 100 * lg_cli_share(g->right, g->tokens));
    printf("  %7.0f  %-9s  %6.1f%%  %5.1f - %5.1f  %6.2f%%  %11s  %16s  %7d%s\n", c->tokens,
           ids_of(c), 100 * lg_cli_share(s->exact, s->samples), 100 * c->low, 100 * c->high,
           100 * lg_cli_share(s->right, s->tokens), first_error(c, text), taught, s->samples,
           c->kept ? "  (kept)" : "");
}

void lg_cli_cells_keep(void *cells, const lg_run_cell *cell)
{
    struct lg_cli_cells *t = cells;
    if (t->count == t->room) {
        int room = t->room ? 2 * t->room : 64;
        lg_run_cell *more = realloc(t->cells, (size_t)room * sizeof *more);
        if (!more) return; /* the row was printed; a figure lacks it */
        t->cells = more;
        t->room = room;
    }
    snprintf(t->unit, sizeof t->unit, "%s", cell->unit);
    t->cells[t->count] = *cell;
    t->cells[t->count++].unit = t->unit;
}

void lg_cli_cells_add(void *cells, const lg_run_cell *cell)
{
    struct lg_cli_cells *t = cells;
    if (t->form == LG_CLI_JSON)
        print_json(t, cell);
    else if (t->form == LG_CLI_CSV)
        print_csv(t, cell);
    else
        print_row(t, cell);
    t->printed++;
    fflush(stdout);
    lg_cli_cells_keep(t, cell);
}

void lg_cli_cells_clear(struct lg_cli_cells *t)
{
    free(t->cells);
    t->cells = NULL;
    t->count = t->room = 0;
}

/* ---- Figures ------------------------------------------------------------------------------ */

enum { MOST_CURVES = 32 };

struct drawing {
    lg_curve curve[MOST_CURVES];
    char name[MOST_CURVES][160];
    double *numbers;                                       /* x, y, low, high of all cells */
    int curves, several_ids, several_sparsities, left_out; /* cells of curves past the most */
};

static int same_curve(const lg_run_cell *a, const lg_run_cell *b)
{
    return a->sparsity == b->sparsity && a->predicted == b->predicted &&
           strcmp(a->setting, b->setting) == 0;
}

static void name_curve(struct drawing *d, const lg_run_cell *c, char *name, size_t size)
{
    char sparsity[40] = "", ids[40] = "";
    if (d->several_sparsities) snprintf(sparsity, sizeof sparsity, "sparsity %d", c->sparsity);
    if (d->several_ids) snprintf(ids, sizeof ids, "IDs %s", ids_of(c));
    const char *part[] = {c->setting, sparsity, ids};
    size_t used = 0;
    *name = 0;
    for (int i = 0; i < 3; i++)
        if (*part[i] && used < size)
            used += (size_t)snprintf(name + used, size - used, "%s%s", used ? ", " : "", part[i]);
    if (!used) snprintf(name, size, "IDs %s", ids_of(c));
}

/* Gathers the cells into curves, in the order of their first cells. */
static int gather(const struct lg_cli_cells *t, struct drawing *d)
{
    size_t n = (size_t)t->count;
    char *taken = calloc(n, 1);
    d->numbers = calloc(4 * n, sizeof *d->numbers);
    for (int i = 0; i < t->count; i++) {
        d->several_ids |= t->cells[i].predicted != t->cells[0].predicted;
        d->several_sparsities |= t->cells[i].sparsity != t->cells[0].sparsity;
    }
    size_t at = 0;
    for (size_t i = 0; i < n && taken && d->numbers && d->curves < MOST_CURVES; i++) {
        if (taken[i]) continue;
        double *x = d->numbers + at, *y = x + n, *low = y + n, *high = low + n;
        int k = 0;
        for (size_t j = i; j < n; j++) {
            const lg_run_cell *c = &t->cells[j];
            if (!same_curve(c, &t->cells[i])) continue;
            taken[j] = 1;
            x[k] = c->length;
            y[k] = lg_cli_share(c->score.exact, c->score.samples);
            low[k] = c->low;
            high[k++] = c->high;
        }
        char *name = d->name[d->curves];
        name_curve(d, &t->cells[i], name, sizeof d->name[0]);
        d->curve[d->curves++] = (lg_curve){name, k, x, y, low, high};
        at += (size_t)k;
    }
    int failed = !taken || !d->numbers;
    for (size_t i = 0; i < n && !failed; i++) d->left_out += !taken[i];
    free(taken);
    return failed;
}

int lg_cli_cells_plot(const struct lg_cli_cells *t, const char *command, const char *file,
                      int letters)
{
    struct drawing d = {0};
    lg_error err = {0};
    char x_label[64];
    int code = LG_EXIT_DONE, shown = t->form == LG_CLI_TABLE && (letters || isatty(STDOUT_FILENO));
    if (!t->count || (!file && !shown)) return code;
    if (gather(t, &d)) {
        fprintf(stderr, "lengthen %s: no memory for the figure\n", command);
        free(d.numbers);
        return LG_EXIT_FAILED;
    }
    if (d.left_out)
        fprintf(stderr, "lengthen %s: the figure has %d lines at most; %d cells are not in it\n",
                command, MOST_CURVES, d.left_out);
    snprintf(x_label, sizeof x_label, "length (%s)", t->unit);
    lg_figure f = {.title = t->title,
                   .x_label = x_label,
                   .y_label = "exact answers, %",
                   .curves = d.curve,
                   .count = d.curves,
                   .trained_low = t->cells[0].trained_least,
                   .trained_high = t->cells[0].trained_length};
    if (shown) lg_cli_figure(&f);
    if (file && lg_figure_write(&f, file, &err)) {
        fprintf(stderr, "lengthen %s: %s\n", command, err.text);
        code = LG_EXIT_FAILED;
    } else if (file) {
        fprintf(stderr, "The figure is in %s\n", file);
    }
    free(d.numbers);
    return code;
}
