/* try_report.c: what `lengthen try` prints at the end: table, figure, sparsity, advice, config. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/try.h"

enum { WRAP = 80 };
static const double NECESSARY = 0.8; /* share of the predictions */

static double exact(const struct lg_try_cell *c)
{
    return c->samples ? (double)c->exact / c->samples : 0;
}

void lg_try_interval(struct lg_try_cell *c)
{
    double n = c->samples, p = exact(c), z = 1.959963984540054;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    c->low = fmax(0, middle - half);
    c->high = fmin(1, middle + half);
}

/* 99% exact; one error is allowed where there are few samples. */
int lg_try_learned(const struct lg_try_scheme *s)
{
    const struct lg_try_cell *c = &s->cell[0];
    int enough = (int)(0.99 * c->samples);
    return s->tested && c->exact >= (enough > 1 ? enough : 1);
}

/* The column that decides: five times the training length, or the nearest that there is. */
static int deciding(const struct lg_try *t)
{
    int best = t->columns - 1;
    for (int c = 1; c < t->columns; c++)
        if (fabs(log(t->column[c].mean / (5 * t->most))) <
            fabs(log(t->column[best].mean / (5 * t->most))))
            best = c;
    return best;
}

const struct lg_try_scheme *lg_try_best(const struct lg_try *t)
{
    const struct lg_try_scheme *best = NULL;
    double most = -1;
    int at = deciding(t);
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        if (!lg_try_learned(s)) continue;
        double score = s->tested > at ? exact(&s->cell[at]) : 0;
        if (s->tested == t->columns) score += 0.01 * exact(&s->cell[t->columns - 1]);
        if (score < most) continue; /* on a tie the later one: it sees less */
        best = s;
        most = score;
    }
    return best;
}

/* "20", or "23-26" where several lengths were tested together. */
static void name_column(const struct lg_try *t, int c, char *text, size_t size)
{
    const struct lg_try_column *x = &t->column[c];
    int lo = x->length[0], hi = x->length[x->count - 1];
    int n = snprintf(text, size, "%d", lo);
    if (lo < hi) snprintf(text + n, size - (size_t)n, "-%d", hi);
}

static double times(const struct lg_try *t, int c) { return t->column[c].mean / t->most; }

/* "200 bits (10x)", "length 60 (5x)". */
static void name_length(const struct lg_try *t, int c, char *text, size_t size)
{
    char name[48];
    name_column(t, c, name, sizeof name);
    if (t->own)
        snprintf(text, size, "length %s (%.2gx)", name, times(t, c));
    else
        snprintf(text, size, "%s %s (%.2gx)", name, t->unit, times(t, c));
}

static int by_heart(const struct lg_try *t, const struct lg_try_scheme *s)
{
    return t->own && s->settled && s->tested && !lg_try_learned(s);
}

/* ---- Table and figure ----------------------------------------------------------------------- */

static const char *verdict(const struct lg_try *t, const struct lg_try_scheme *s)
{
    if (s->refused[0]) return "left out";
    if (!s->tested) return "no time";
    if (lg_try_learned(s)) return "yes";
    return by_heart(t, s) ? "by heart" : "no";
}

static void add_heading(const struct lg_try *t, struct lg_cli_table *table)
{
    char name[48];
    lg_cli_table_add(table, "scheme");
    lg_cli_table_add(table, "learned?");
    for (int c = 0; c < t->columns; c++) {
        name_column(t, c, name, sizeof name);
        if (c)
            lg_cli_table_add(table, "%s (%.2gx)", name, times(t, c));
        else
            lg_cli_table_add(table, "%s", name);
    }
}

/* What the words of the table mean, where they are in it. */
static void print_notes(const struct lg_try *t)
{
    int failed = 0, heart = 0;
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        heart |= by_heart(t, s);
        failed |= s->tested && !lg_try_learned(s) && !by_heart(t, s);
        if (strcmp(s->ids, "plain") != 0 && s->tested)
            printf("  %s: IDs %s\n", s->name,
                   strcmp(s->ids, "given") == 0 ? "given by the task's rule"
                                                : "predicted by the model itself");
        if (s->refused[0]) printf("  %s was left out: %s\n", s->name, s->refused);
    }
    if (heart) puts("  by heart: right on the lines it was trained on, but not on those held out");
    if (failed)
        puts(
            "  no: not learned in the time (under 99% at the training length), so that its longer\n"
            "  cells say nothing of its positions");
}

static void print_table(const struct lg_try *t)
{
    struct lg_cli_table table = {.columns = 2 + t->columns, .left = 3};
    add_heading(t, &table);
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        lg_cli_table_add(&table, "%s", s->name);
        lg_cli_table_add(&table, "%s", verdict(t, s));
        for (int c = 0; c < t->columns; c++) {
            const struct lg_try_cell *x = &s->cell[c];
            if (c < s->tested)
                lg_cli_table_add(&table, "%.3g %.0f-%.0f", 100 * exact(x), 100 * x->low,
                                 100 * x->high);
            else
                lg_cli_table_add(&table, "-");
        }
    }
    printf("\nExact answers in %% and the 95%% interval, by %s%s:\n\n", t->own ? "" : "length in ",
           t->unit);
    lg_cli_table_print(&table, 2, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&table);
    print_notes(t);
}

struct drawing {
    double x[LG_TRY_SCHEMES][LG_TRY_COLUMNS], y[LG_TRY_SCHEMES][LG_TRY_COLUMNS];
    double low[LG_TRY_SCHEMES][LG_TRY_COLUMNS], high[LG_TRY_SCHEMES][LG_TRY_COLUMNS];
    char name[LG_TRY_SCHEMES][64];
    lg_curve curve[LG_TRY_SCHEMES];
};

static void gather(const struct lg_try *t, struct drawing *d, lg_figure *f)
{
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        int k = f->count;
        if (s->tested < 2) continue; /* not asked for longer ones */
        for (int c = 0; c < s->tested; c++) {
            d->x[k][c] = c ? round(t->column[c].mean) : t->most;
            d->y[k][c] = exact(&s->cell[c]);
            d->low[k][c] = s->cell[c].low;
            d->high[k][c] = s->cell[c].high;
        }
        snprintf(d->name[k], sizeof d->name[k], "%s%s", s->name,
                 lg_try_learned(s) ? "" : " (not learned)");
        d->curve[k] = (lg_curve){d->name[k], s->tested, d->x[k], d->y[k], d->low[k], d->high[k]};
        f->count++;
    }
    f->curves = d->curve;
}

static int draw(const struct lg_try *t)
{
    struct drawing d;
    char title[200], label[80];
    lg_error err = {0};
    snprintf(title, sizeof title, "%.150s, trained up to %d", t->what, t->most);
    snprintf(label, sizeof label, "%s%s%s", t->own ? "" : "length (", t->unit, t->own ? "" : ")");
    lg_figure f = {.title = title, .x_label = label, .y_label = "exact answers, %"};
    f.trained_low = t->least;
    f.trained_high = t->most;
    gather(t, &d, &f);
    if (!f.count) return LG_EXIT_DONE;
    if (!t->json && !t->csv) lg_cli_figure(&f);
    if (!t->plot) return LG_EXIT_DONE;
    if (lg_figure_write(&f, t->plot, &err)) {
        fprintf(stderr, "lengthen try: %s\n", err.text);
        return LG_EXIT_FAILED;
    }
    fprintf(stderr, "The figure is in %s\n", t->plot);
    return LG_EXIT_DONE;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Folds text between words. */
static void print_folded(const char *text)
{
    for (int column = 0; *text;) {
        int n = (int)strcspn(text, " ");
        if (column && column + 1 + n > WRAP) {
            putchar('\n');
            column = 0;
        }
        column += printf("%s%.*s", column ? " " : "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Half as many again, and not by one alone, which may be chance. */
static int grows(const struct lg_try *t)
{
    int more = t->probe[1].k_median - t->probe[0].k_median;
    return t->probed == 2 && more >= 2 && 2 * more >= t->probe[0].k_median;
}

static void write_sparsity(FILE *f, const struct lg_try *t)
{
    const struct lg_try_scheme *best = lg_try_best(t);
    const lg_probe_result *r = t->probed ? &t->probe[t->probed - 1] : NULL;
    if (!r) {
        fprintf(f, "How sparse the dependencies are cannot be told: %s.",
                best ? "there was no time to look" : "no model learned the task");
        return;
    }
    if (!r->dependent) {
        fprintf(f,
                "In the model with %s none of %d predictions depends on an earlier token beside "
                "the current one.",
                best->name, r->predictions);
        return;
    }
    fprintf(f,
            "For a prediction %d of %d earlier tokens beside the current one suffice (median of "
            "%d; 9 in 10 need at most %d), as the model with %s sees it",
            r->k_median, r->tokens_median, r->dependent, r->k_90, best->name);
    if (r->necessary < NECESSARY)
        fprintf(f,
                "; but in %.0f%% of them others can stand in for these: many tokens decide "
                "together, so the dependencies are not sparse.",
                100 * (1 - r->necessary));
    else if (t->probed < 2)
        fputs(", and these are necessary.", f);
    else if (grows(t))
        fprintf(f,
                "; the number grows with the length: at half of it %d of %d suffice. Such "
                "dependencies are not sparse.",
                t->probe[0].k_median, t->probe[0].tokens_median);
    else
        fprintf(f,
                ", and these are necessary; the number does not grow with the length (%d of %d at "
                "half of it): the dependencies are sparse.",
                t->probe[0].k_median, t->probe[0].tokens_median);
}

/* The scheme that knows its lines by heart and answers most others, or NULL. */
static const struct lg_try_scheme *best_by_heart(const struct lg_try *t)
{
    const struct lg_try_scheme *best = NULL;
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        if (by_heart(t, s) && (!best || exact(&s->cell[0]) >= exact(&best->cell[0]))) best = s;
    }
    return best;
}

/* Nothing learned: why, and what to do. */
static void write_failure(FILE *f, const struct lg_try *t)
{
    const struct lg_try_scheme *top = NULL;
    int refused = 0;
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        if (s->tested && (!top || exact(&s->cell[0]) > exact(&top->cell[0]))) top = s;
        refused += s->refused[0] != 0;
    }
    if (!top)
        fputs(refused == t->schemes ? "Every scheme was left out, for the reasons above. "
                                    : "Nothing was tested: give it more time (--minutes). ",
              f);
    else if (!best_by_heart(t))
        fprintf(f,
                "Nothing learned the task at its training length in %.3g minutes (the best, %s, "
                "has %.3g%% exact): give more time (--minutes %.3g), or shorter examples (--length "
                "%d). ",
                t->minutes, top->name, 100 * exact(&top->cell[0]), 4 * t->minutes,
                t->most / 2 > t->least ? t->most / 2 : t->least);
    if (top && t->own && t->everything)
        fputs("Every token but the first counts as answer; mark with \"loss\" those that can be "
              "known. ",
              f);
}

/* What plain RoPE does at the column, beside the best. */
static void write_contrast(FILE *f, const struct lg_try *t, const struct lg_try_scheme *best,
                           int column)
{
    const struct lg_try_scheme *plain = &t->scheme[0];
    if (best == plain || plain->refused[0] || !plain->tested) return;
    if (!lg_try_learned(plain))
        fprintf(f, "; %s did not learn the task in the time", plain->name);
    else if (plain->tested > column && exact(&plain->cell[column]) < exact(&best->cell[column]))
        fprintf(f, ", where %s has %.3g%%", plain->name, 100 * exact(&plain->cell[column]));
}

/* Whether some of the longest answers are right. */
static int carries(const struct lg_try_scheme *s)
{
    return s && s->tested > 1 && exact(&s->cell[s->tested - 1]) >= 0.1;
}

/* One that has not quite learned, but goes further at the column already. */
static void write_hope(FILE *f, const struct lg_try *t, const struct lg_try_scheme *best,
                       int column)
{
    const struct lg_try_scheme *top = best;
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        if (lg_try_learned(s) || by_heart(t, s) || s->tested <= column) continue;
        if (exact(&s->cell[column]) > exact(&top->cell[column])) top = s;
    }
    if (top != best)
        fprintf(f,
                "%s, not quite learned in the time (%.3g%%), has %.3g%% there: give it more "
                "(--minutes %.3g). ",
                top->name, 100 * exact(&top->cell[0]), 100 * exact(&top->cell[column]),
                4 * t->minutes);
}

static void write_success(FILE *f, const struct lg_try *t, const struct lg_try_scheme *best)
{
    int last = best->tested - 1;
    char length[96];
    double far = exact(&best->cell[last]);
    name_length(t, last, length, sizeof length);
    if (last == 0) {
        fprintf(f, "%s learned the task; longer examples were not tested yet. ", best->name);
        return;
    }
    if (carries(best))
        fprintf(f, "Use %s%s: %.3g%% exact at %s", best->name,
                strcmp(best->ids, "predicted") == 0 ? ", the IDs predicted by the model itself"
                : strcmp(best->ids, "given") == 0   ? ", the IDs given by your rule"
                                                    : "",
                100 * far, length);
    else
        fprintf(f,
                "None of the positions that learned the task carries it so far: the best, %s, has "
                "%.3g%% exact at %s",
                best->name, 100 * far, length);
    write_contrast(f, t, best, last);
    fputs(". ", f);
    write_hope(f, t, best, last);
    if (far < 0.9)
        fprintf(f, "To go further, train on longer examples (--length %d). ", 2 * t->most);
}

static void write_advice(FILE *f, const struct lg_try *t)
{
    const struct lg_try_scheme *best = lg_try_best(t);
    if (t->interrupted) fputs("Stopped before the end; so far: ", f);
    if (best)
        write_success(f, t, best);
    else
        write_failure(f, t);
    const struct lg_try_scheme *heart = best_by_heart(t);
    if (heart)
        fprintf(f,
                "%s knows the %d lines that it was trained on by heart, but answers only %.3g%% of "
                "the %d held-out ones: add more lines. ",
                heart->name, t->trained, 100 * exact(&heart->cell[0]), heart->cell[0].samples);
    if (t->own && !t->levels)
        fputs("Your data has no ids; position coupling, which often goes furthest, needs them: see "
              "`lengthen tasks jsonl`. ",
              f);
    if (best)
        fprintf(f,
                "The test lengths were used to choose this; a fresh seed should confirm it (--seed "
                "%llu).",
                (unsigned long long)t->seed + 1);
}

/* ---- The config ------------------------------------------------------------------------------ */

/* The keys of a section that are among the sets. */
static void write_section(FILE *f, const struct lg_try_scheme *s, const char *section)
{
    size_t n = strlen(section);
    fprintf(f, "%s:\n", section);
    for (int i = 0; i < s->set_count; i++) {
        const char *text = s->sets[i], *value = strchr(text, '=') + 1;
        if (strncmp(text, section, n) != 0 || text[n] != '.') continue;
        const char *key = text + n + 1;
        int size = (int)(value - 1 - key);
        static const char *const own[] = {"steps=", "schedule=", "keep=", "curriculum_steps="};
        int skip = 0;
        for (int k = 0; k < 4; k++) skip |= strncmp(key, own[k], strlen(own[k])) == 0;
        if (!skip) fprintf(f, "  %.*s: %s\n", size, key, value);
    }
}

/* Ready to be trained: the steps that it took here, and half as many for the rate to fall. */
static void write_config(FILE *f, const struct lg_try *t, const struct lg_try_scheme *s)
{
    fprintf(f, "task:\n  name: %s%s\n", t->own ? "jsonl:" : "", t->what);
    for (int i = 0; i < t->setting_count; i++) {
        const char *text = t->settings[i], *value = strchr(text, '=');
        fprintf(f, "  %.*s: %s\n", (int)(value - text), text, value + 1);
    }
    write_section(f, s, "positions");
    write_section(f, s, "model");
    write_section(f, s, "train");
    if (t->curriculum) fprintf(f, "  curriculum_steps: %d\n", t->curriculum);
    fprintf(f, "  steps: %lld\n", (long long)(s->steps + s->steps / 2 + 99) / 100 * 100);
    if (t->own) return; /* the file has the lengths that it has */
    fputs("eval:\n  lengths: [", f);
    for (int c = 0; c < t->columns; c++) fprintf(f, "%s%d", c ? ", " : "", t->column[c].length[0]);
    fputs("]\n", f);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static void print_cells(const struct lg_try *t)
{
    if (t->csv)
        puts("scheme,ids,length_least,length,tokens,samples,exact,low,high,learned,steps,seconds");
    for (int i = 0; i < t->schemes; i++) {
        const struct lg_try_scheme *s = &t->scheme[i];
        for (int c = 0; c < s->tested; c++) {
            const struct lg_try_cell *x = &s->cell[c];
            const struct lg_try_column *l = &t->column[c];
            printf(t->csv ? "%s,%s,%d,%d,%.1f,%d,%.6f,%.6f,%.6f,%s,%lld,%.1f\n"
                          : "{\"scheme\":\"%s\",\"ids\":\"%s\",\"length_least\":%d,\"length\":%d,"
                            "\"tokens\":%.1f,\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,"
                            "\"high\":%.6f,\"learned\":%s,\"steps\":%lld,\"seconds\":%.1f}\n",
                   s->name, s->ids, l->length[0], l->length[l->count - 1], x->tokens, x->samples,
                   exact(x), x->low, x->high, lg_try_learned(s) ? "true" : "false",
                   (long long)s->steps, s->seconds);
        }
        if (!t->json || !s->refused[0]) continue;
        printf("{\"scheme\":\"%s\",\"left_out\":", s->name);
        lg_cli_json(stdout, s->refused);
        puts("}");
    }
}

static void print_probe(const char *name, const lg_probe_result *r)
{
    printf("\"%s\":{\"predictions\":%d,\"dependent\":%d,\"tokens_median\":%d,\"k_median\":%d,"
           "\"k_90\":%d,\"matter_median\":%d,\"matter_90\":%d,\"necessary\":%.6f,\"loss\":%.6f}",
           name, r->predictions, r->dependent, r->tokens_median, r->k_median, r->k_90,
           r->matter_median, r->matter_90, r->necessary, r->loss);
}

static void print_last(const struct lg_try *t, const char *advice, const char *sparsity,
                       const char *config)
{
    const struct lg_try_scheme *best = lg_try_best(t);
    fputs("{\"advice\":", stdout);
    lg_cli_json(stdout, advice);
    fputs(",\"best\":", stdout);
    lg_cli_json(stdout, best ? best->name : NULL);
    printf(",\"trained\":[%d,%d],\"interrupted\":%s,", t->least, t->most,
           t->interrupted ? "true" : "false");
    if (t->own)
        printf("\"lines\":{\"trained\":%d,\"held_out\":%d,\"longer\":%d},", t->trained, t->held,
               t->longer);
    fputs("\"sparsity\":{\"text\":", stdout);
    lg_cli_json(stdout, sparsity);
    if (t->probed == 2) putchar(','), print_probe("half", &t->probe[0]);
    if (t->probed) putchar(','), print_probe("whole", &t->probe[t->probed - 1]);
    fputs("},\"config\":", stdout);
    lg_cli_json(stdout, carries(best) ? config : NULL);
    puts("}");
}

static void print_split(const struct lg_try *t)
{
    const struct lg_try_column *last = &t->column[t->columns - 1];
    if (t->own)
        printf("%s: trained on %d lines of length %d to %d; tested on %d held-out lines of these "
               "lengths\nand on %d lines of length %d to %d.\n",
               t->what, t->trained, t->least, t->most, t->held, t->longer, t->most + 1,
               last->length[last->count - 1]);
    else
        printf("%s: trained on %d to %d %s (up to %d tokens), tested up to %d (%d tokens).\n",
               t->what, t->least, t->most, t->unit, t->tokens, last->length[0], t->tokens_tested);
}

static void print_all(const struct lg_try *t, const char *advice, const char *sparsity,
                      const char *config)
{
    putchar('\n');
    print_folded(sparsity);
    putchar('\n');
    print_folded(advice);
    if (carries(lg_try_best(t))) printf("\nAs a config for lengthen train:\n\n%s", config);
    if (t->out) printf("\nThe runs are in %s (lengthen runs --store %s).\n", t->folder, t->store);
}

int lg_try_report(const struct lg_try *t)
{
    char *text[3] = {0};
    size_t size;
    const struct lg_try_scheme *best = lg_try_best(t);
    int code = LG_EXIT_DONE;
    for (int i = 0; i < 3; i++) {
        FILE *f = open_memstream(&text[i], &size);
        if (!f) return LG_EXIT_FAILED;
        if (i == 0) write_advice(f, t);
        if (i == 1) write_sparsity(f, t);
        if (i == 2 && best) write_config(f, t, best);
        fclose(f);
        while (size && text[i][size - 1] == ' ') text[i][--size] = 0; /* between sentences */
    }
    if (t->json || t->csv) {
        print_cells(t);
    } else {
        print_split(t);
        print_table(t);
    }
    code = draw(t);
    if (t->json) print_last(t, text[0], text[1], text[2]);
    if (!t->json && !t->csv) print_all(t, text[0], text[1], text[2]);
    for (int i = 0; i < 3; i++) free(text[i]);
    return code;
}
