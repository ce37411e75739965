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
    printf(",\"sparsity\":%d,\"source\":\"%s\",\"tokens\":%.0f,"
           "\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,\"high\":%.6f,\"token_accuracy\":%.6f,"
           "\"id_accuracy\":",
           c->sparsity, ids_of(c), c->tokens, s->samples, lg_cli_share(s->exact, s->samples),
           c->low, c->high, lg_cli_share(s->right, s->tokens));
    if (s->ids)
        printf("%.6f", lg_cli_share(s->ids_right, s->ids));
    else
        printf("null"); /* none was predicted */
    printf(",\"first_error_min\":%d,\"first_error_median\":%d,\"first_error_tenths\":[",
           s->first_least, s->first_median);
    for (int i = 0; i < 10; i++) printf("%s%d", i ? "," : "", s->first_in[i]);
    printf("]");
    if (c->taught.samples)
        printf(",\"taught_exact\":%.6f,\"taught_token_accuracy\":%.6f",
               lg_cli_share(c->taught.exact, c->taught.samples),
               lg_cli_share(c->taught.right, c->taught.tokens));
    if (c->lines) printf(",\"lines\":%d,\"held_out\":%s", c->lines, c->held_out ? "true" : "false");
    printf(",\"seconds\":%.3f,\"kept\":%s", c->seconds, c->kept ? "true" : "false");
    lg_cli_json_folder(t->folder);
    puts("}");
}

static void print_csv(const struct lg_cli_cells *t, const lg_run_cell *c)
{
    const lg_score *s = &c->score;
    if (!t->printed)
        puts(
            "step,setting,length,unit,sparsity,source,tokens,samples,exact,low,high,token_accuracy,"
            "id_accuracy,first_error_min,first_error_median,taught_exact,"
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
    printf("%8s", lg_cli_plain(c->unit));
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
    char text[32], taught[32] = "", lines[40] = "";
    if (!t->printed) {
        t->sparsity |= c->sparsity > 0;
        t->setting |= c->setting[0] != 0;
        print_heading(t, c);
    }
    if (t->setting) printf("%-16s  ", lg_cli_plain(c->setting));
    printf("%8d", c->length);
    if (t->sparsity) printf("  %8d", c->sparsity);
    if (g->samples)
        snprintf(taught, sizeof taught, "%6.1f%%  %6.2f%%",
                 100 * lg_cli_share(g->exact, g->samples), 100 * lg_cli_share(g->right, g->tokens));
    if (c->lines)
        snprintf(lines, sizeof lines, " of %d %slines", c->lines, c->held_out ? "held-out " : "");
    printf("  %7.0f  %-9s  %6.1f%%  %5.1f - %5.1f  %6.2f%%  %11s  %16s  %7d%s%s\n", c->tokens,
           ids_of(c), 100 * lg_cli_share(s->exact, s->samples), 100 * c->low, 100 * c->high,
           100 * lg_cli_share(s->right, s->tokens), first_error(c, text), taught, s->samples, lines,
           c->kept ? "  (kept)" : "");
}

void lg_cli_cells_keep(void *cells, const lg_run_cell *cell)
{
    struct lg_cli_cells *t = cells;
    lg_run_cell *more = lg_cli_grow(t->cells, t->count, &t->room, sizeof *more);
    if (!more) return; /* the row was printed; a figure lacks it */
    t->cells = more;
    snprintf(t->unit, sizeof t->unit, "%s", lg_cli_plain(cell->unit));
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

void lg_cli_cells_predicted(struct lg_cli_cells *t)
{
    int predicted = 0, n = 0;
    for (int i = 0; i < t->count; i++) predicted |= t->cells[i].predicted;
    for (int i = 0; i < t->count; i++)
        if (t->cells[i].predicted == predicted) t->cells[n++] = t->cells[i];
    t->count = n;
}

void lg_cli_cells_clear(struct lg_cli_cells *t)
{
    free(t->cells);
    t->cells = NULL;
    t->count = t->room = 0;
}

/* ---- Figures ------------------------------------------------------------------------------ */

enum { MOST_CURVES = 32, NAME = 320 };

/* What the names of the curves need: whether it differs between the cells. */
struct differ {
    int ids, sparsity;
};

static void name_curve(const struct differ *d, const lg_run_cell *c, char name[NAME])
{
    char sparsity[40] = "", ids[40] = "";
    if (d->sparsity) snprintf(sparsity, sizeof sparsity, "sparsity %d", c->sparsity);
    if (d->ids) snprintf(ids, sizeof ids, "%s IDs", ids_of(c));
    const char *part[] = {c->setting, sparsity, ids};
    size_t used = 0;
    *name = 0;
    for (int i = 0; i < 3; i++)
        if (*part[i])
            used += (size_t)snprintf(name + used, NAME - used, "%s%s", used ? ", " : "", part[i]);
    if (!used) snprintf(name, NAME, "%s IDs", ids_of(c));
}

/* One curve for each setting, sparsity and source of IDs; returns the cells of those past the most. */
static int gather(const struct lg_cli_cells *t, lg_series *s)
{
    struct differ d = {0};
    char name[NAME];
    int left_out = 0;
    for (int i = 0; i < t->count; i++) {
        d.ids |= t->cells[i].predicted != t->cells[0].predicted;
        d.sparsity |= t->cells[i].sparsity != t->cells[0].sparsity;
    }
    for (int i = 0; i < t->count; i++) {
        const lg_run_cell *c = &t->cells[i];
        name_curve(&d, c, name);
        int known = s->count < MOST_CURVES;
        for (int k = 0; k < s->count && !known; k++) known = strcmp(s->curves[k].name, name) == 0;
        left_out += !known;
        if (known)
            lg_series_add(s, name, c->length, lg_cli_share(c->score.exact, c->score.samples),
                          c->low, c->high);
    }
    return left_out;
}

int lg_cli_cells_plot(const struct lg_cli_cells *t, const char *command, const char *file,
                      int letters)
{
    lg_series s = {0};
    char x_label[64];
    letters = t->form == LG_CLI_TABLE && (letters || isatty(STDOUT_FILENO));
    if (!t->count || (!file && !letters)) return LG_EXIT_DONE;
    int left_out = gather(t, &s);
    if (left_out)
        fprintf(stderr, "lengthen %s: the figure has %d lines at most; %d cells are not in it\n",
                command, MOST_CURVES, left_out);
    lg_figure f = {.title = t->title,
                   .x_label = lg_length_label(t->unit, x_label, sizeof x_label),
                   .y_label = "exact answers, %",
                   .answers = 1,
                   .trained_low = t->cells[0].trained_least,
                   .trained_high = t->cells[0].trained_length};
    return lg_cli_series(&s, &f, command, file, letters);
}
