/* try.c: `lengthen try`: will a task extrapolate, with which positions, and how sparse are its
 * dependencies? Options in, lg_try, and its result as a table, a figure and words, as JSON or as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "lengthen_lab.h"

const char lg_cmd_try_help[] =
    "Usage: lengthen try DATA.jsonl|TASK [OPTIONS]\n"
    "\n"
    "Answers in a few minutes: will this task extrapolate to longer inputs, which positions make\n"
    "it so, and how sparse are its dependencies? Trains small models with different positions on\n"
    "short examples, each for its share of the time, and tests them at the training length, 2, 5\n"
    "and 10 times that. Prints one table, a figure, how many earlier tokens a prediction needs,\n"
    "and what to use, as a config.\n"
    "\n"
    "DATA.jsonl has one example a line (`lengthen tasks jsonl`). It is split by length: the\n"
    "shorter half is trained on, but for some lines that are held out for the test; all longer\n"
    "lines are tested, lengths that are near each other together. Lines with words that training\n"
    "hardly shows are counted apart. With \"ids\" in the lines, position coupling is tried too;\n"
    "without, one is looked for, as `lengthen couple` does, and if it is found its model and "
    "config\n"
    "stay on disk (runs/couple/NAME, or DIR/coupled).\n"
    "\n"
    "  --minutes M          time for all (5); kept whatever the length: examples too long for it\n"
    "                       are refused, and a scheme that made fewer than 50 steps (its warm-up)\n"
    "                       is named, not compared\n"
    "  --set task.KEY=VALUE a setting of the task; as often as needed\n"
    "  --length N           longest of training (20, or what fits; of a file: its shorter half)\n"
    "  --schemes LIST       some of rope, pose, alibi, nope, t5, fire, randomized, window,\n"
    "                       coupled-rope and coupled-window, or all (rope,pose,alibi with the two\n"
    "                       coupled ones; without labels with window)\n"
    "  --seeds N            so many seeds of each scheme, up to 10: medians, and all in --json "
    "(1)\n"
    "  --seed S             other weights and examples; the first, with --seeds (1)\n"
    "  --out DIR            keep the runs there, with their store unless LENGTHEN_STORE names it;\n"
    "                       the same command goes on with them (a temporary folder)\n"
    "  --plot FILE          the figure as .svg, .png or .pdf too\n"
    "  --size WxH           of the figure, in pixels\n"
    "  --json               one object a cell, then one with the advice\n"
    "  --csv                one row a cell\n"
    "\n"
    "Examples:\n"
    "  lengthen try parity-scratchpad --minutes 1 --length 10\n"
    "  lengthen try addition --set task.carry=hard --plot addition.svg\n"
    "  lengthen try my-data.jsonl --minutes 10 --out tries/my-data\n"
    "  lengthen try my-data.jsonl --schemes rope,nope,fire --seeds 3\n";

enum { WRAP = 80, LONGEST_SET = 290 };

struct request {
    lg_try_options o;
    const char **settings;
    const char *plot;
    int json, csv;
    double shown; /* when a line was shown */
};

/* ---- While it runs -------------------------------------------------------------------------- */

/* "[2/10] plain RoPE, seed 2: " */
static void show_name(const lg_try_progress *p)
{
    fprintf(stderr, "[%d/%d] %s", p->index + 1, p->result->schemes * p->result->seeds,
            p->scheme->name);
    if (p->result->seeds > 1) fprintf(stderr, ", seed %lld", (long long)p->scheme->seed);
    fputs(": ", stderr);
}

static void show_step(struct request *q, const lg_try_progress *p)
{
    if (lg_cli_now() - q->shown < 0.2) return;
    q->shown = lg_cli_now();
    fputs("\r\033[K", stderr);
    show_name(p);
    fprintf(stderr, "step %lld, length %d of %d, %.1f%% of the tokens right, %.0f s left of %.0f",
            (long long)p->step->step, p->step->length, p->result->most, 100 * p->step->accuracy,
            p->seconds, p->all_left);
}

/* Where nobody looks, a line when a turn begins and when it ends. */
static void show_turn(const lg_try_progress *p)
{
    const lg_try_scheme *s = p->scheme;
    if (p->event != LG_TRY_TRAINS && p->event != LG_TRY_TESTED) return;
    show_name(p);
    if (p->event == LG_TRY_TRAINS) {
        fprintf(stderr, "training for at most %.0f s\n", p->seconds);
        return;
    }
    fprintf(stderr, "%lld steps in %.0f s", (long long)s->steps, s->seconds);
    if (s->tested) fprintf(stderr, ", %.1f%% exact at the training length", 100 * s->cell[0].share);
    fputs(s->verdict == LG_TRY_FEW ? ", too few to be tested\n" : "\n", stderr);
}

static void watch(void *context, const lg_try_progress *p)
{
    int terminal = isatty(STDERR_FILENO);
    if (p->event == LG_TRY_PLANNED)
        lg_cli_catch_interrupts(1); /* before, there is nothing to save or to remove */
    else if (!terminal)
        show_turn(p);
    else if (p->event == LG_TRY_STEP)
        show_step(context, p);
    else if (p->event == LG_TRY_TRAINED)
        fputs("\r\033[K", stderr);
}

/* ---- Table and figure ----------------------------------------------------------------------- */

static const char *verdict(const lg_try_scheme *s)
{
    static const char *const names[] = {
        [LG_TRY_LEFT_OUT] = "left out", [LG_TRY_FEW] = "too few steps",
        [LG_TRY_NO_TIME] = "no time",   [LG_TRY_LEARNED] = "yes",
        [LG_TRY_BY_HEART] = "by heart", [LG_TRY_NOT_LEARNED] = "no"};
    return names[s->verdict];
}

/* The cells of one with too few steps say nothing. */
static int cells_of(const lg_try_scheme *s) { return s->verdict == LG_TRY_FEW ? 0 : s->tested; }

static void add_heading(const lg_try_result *r, struct lg_cli_table *table)
{
    lg_cli_table_add(table, "scheme");
    lg_cli_table_add(table, "learned?");
    for (int c = 0; c < r->columns; c++) {
        const lg_try_column *x = &r->column[c];
        char high[16] = "", times[32] = "";
        if (x->low < x->high) snprintf(high, sizeof high, "-%d", x->high);
        if (c) snprintf(times, sizeof times, " (%.2gx)", x->times);
        lg_cli_table_add(table, "%d%s%s", x->low, high, times);
    }
}

/* What the words of the table mean, where they are in it. */
static void print_notes(const lg_try_result *r)
{
    int verdicts = 0, late = 0;
    for (int i = 0; i < r->schemes * r->seeds; i++) {
        const lg_try_scheme *s = &r->scheme[i];
        verdicts |= 1 << s->verdict;
        late |= s->late && s->verdict != LG_TRY_FEW;
        if (i >= r->schemes) continue;
        if (s->ids != LG_TRY_PLAIN && s->tested)
            printf("  %s: IDs %s\n", s->name,
                   s->ids == LG_TRY_GIVEN ? "given by the task's rule"
                                          : "predicted by the model itself");
        if (s->refused[0]) printf("  %s was left out: %s\n", s->name, s->refused);
    }
    if (verdicts & 1 << LG_TRY_FEW)
        printf("  too few steps: fewer than the %d of the warm-up, so that nothing can be said of "
               "it\n",
               LG_TRY_STEPS);
    if (late) puts("  no time: too few answers came in its share of the time");
    if (verdicts & 1 << LG_TRY_BY_HEART)
        puts("  by heart: right on the lines it was trained on, but not on those held out");
    if (verdicts & 1 << LG_TRY_NOT_LEARNED)
        puts(
            "  no: not learned in the time (under 99% at the training length), so that its longer\n"
            "  cells say nothing of its positions");
}

static void print_table(const lg_try_result *r)
{
    struct lg_cli_table table = {.columns = 2 + r->columns, .left = 3};
    add_heading(r, &table);
    for (int i = 0; i < r->schemes; i++) {
        lg_try_scheme s;
        int learned = lg_try_summary(r, i, &s);
        lg_cli_table_add(&table, "%s", s.name);
        if (r->seeds > 1 && s.verdict >= LG_TRY_LEARNED)
            lg_cli_table_add(&table, "%d of %d", learned, r->seeds);
        else
            lg_cli_table_add(&table, "%s", verdict(&s));
        for (int c = 0; c < r->columns; c++) {
            const lg_try_cell *x = &s.cell[c];
            if (c < cells_of(&s))
                lg_cli_table_add(&table, "%.3g %.0f-%.0f", 100 * x->share, 100 * x->low,
                                 100 * x->high);
            else
                lg_cli_table_add(&table, s.late && c >= s.tested ? "no time" : "-");
        }
    }
    printf("\nExact answers in %%%s, by %s%s:\n\n",
           r->seeds > 1 ? ", median and range of the seeds" : " and the 95% interval",
           r->own ? "" : "length in ", r->unit);
    lg_cli_table_print(&table, 2, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&table);
    print_notes(r);
}

static int draw(const struct request *q, const lg_try_result *r)
{
    lg_series series = {0};
    char title[200], label[80], name[100];
    snprintf(title, sizeof title, "%.150s, trained up to %d", r->task, r->most);
    snprintf(label, sizeof label, "%s%s%s", r->own ? "" : "length (", r->unit, r->own ? "" : ")");
    lg_figure f = {.title = title,
                   .x_label = label,
                   .y_label = "exact answers, %",
                   .trained_low = r->least,
                   .trained_high = r->most};
    for (int i = 0; i < r->schemes; i++) {
        lg_try_scheme s;
        lg_try_summary(r, i, &s);
        if (cells_of(&s) < 2) continue; /* not asked for longer ones */
        snprintf(name, sizeof name, "%s%s", s.name,
                 s.verdict == LG_TRY_LEARNED ? "" : " (not learned)");
        for (int c = 0; c < s.tested; c++)
            lg_series_add(&series, name, round(r->column[c].mean), s.cell[c].share, s.cell[c].low,
                          s.cell[c].high);
    }
    if (!series.count) return LG_EXIT_DONE;
    return lg_cli_series(&series, &f, "try", q->plot, !q->json && !q->csv);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static void print_cell(const struct request *q, const lg_try_result *r, const lg_try_scheme *s,
                       int c)
{
    const lg_try_cell *x = &s->cell[c];
    const lg_try_column *l = &r->column[c];
    printf(q->csv ? "%s,%s,%d,%d,%.1f,%d,%.6f,%.6f,%.6f,%s,%lld,%.1f,%s,%lld\n"
                  : "{\"scheme\":\"%s\",\"source\":\"%s\",\"length_min\":%d,\"length\":%d,"
                    "\"tokens\":%.1f,\"samples\":%d,\"exact\":%.6f,\"low\":%.6f,"
                    "\"high\":%.6f,\"learned\":%s,\"steps\":%lld,\"seconds\":%.1f,"
                    "\"verdict\":\"%s\",\"seed\":%lld}\n",
           s->name, lg_try_ids_name(s->ids), l->low, l->high, x->tokens, x->samples, x->share,
           x->low, x->high, s->verdict == LG_TRY_LEARNED ? "true" : "false", (long long)s->steps,
           s->seconds, verdict(s), (long long)s->seed);
}

/* One that has no cell: a row without scores. */
static void print_untested(const struct request *q, const lg_try_scheme *s)
{
    printf(q->csv ? "%s,%s,,,,0,,,,false,%lld,%.1f,%s,%lld\n"
                  : "{\"scheme\":\"%s\",\"source\":\"%s\",\"samples\":0,\"learned\":false,"
                    "\"steps\":%lld,\"seconds\":%.1f,\"verdict\":\"%s\",\"seed\":%lld}\n",
           s->name, lg_try_ids_name(s->ids), (long long)s->steps, s->seconds, verdict(s),
           (long long)s->seed);
}

static void print_cells(const struct request *q, const lg_try_result *r)
{
    if (q->csv)
        puts("scheme,source,length_min,length,tokens,samples,exact,low,high,learned,steps,seconds,"
             "verdict,seed");
    for (int i = 0; i < r->schemes * r->seeds; i++) {
        const lg_try_scheme *s = &r->scheme[i];
        for (int c = 0; c < cells_of(s); c++) print_cell(q, r, s, c);
        if (!cells_of(s) && !s->refused[0]) print_untested(q, s);
        if (!q->json || !s->refused[0]) continue;
        printf("{\"scheme\":\"%s\",\"left_out\":", s->name);
        lg_cli_json(stdout, s->refused);
        puts("}");
    }
}

static void print_probe(const char *name, const lg_probe_result *r)
{
    printf(",\"%s\":{\"predictions\":%d,\"dependent\":%d,\"tokens_median\":%d,\"k_median\":%d,"
           "\"k_90\":%d,\"matter_median\":%d,\"matter_90\":%d,\"necessary\":%.6f,\"stands\":%.6f,"
           "\"loss\":%.6f}",
           name, r->predictions, r->dependent, r->tokens_median, r->k_median, r->k_90,
           r->matter_median, r->matter_90, r->necessary, r->stands, r->loss);
}

static void print_last(const lg_try_result *r)
{
    fputs("{\"advice\":", stdout);
    lg_cli_json(stdout, r->advice);
    lg_cli_json_word("best", r->best < 0 ? NULL : r->scheme[r->best].name);
    printf(",\"trained\":[%d,%d],\"interrupted\":%s,\"certifiable\":%s,", r->least, r->most,
           r->interrupted ? "true" : "false", r->certifiable ? "true" : "false");
    if (r->own) {
        printf("\"lines\":{\"trained\":%d,\"held_out\":%d,\"longer\":%d,\"rare_words\":%d",
               r->trained, r->held, r->longer, r->rare);
        if (r->unusual.samples) printf(",\"rare_words_exact\":%.6f", r->unusual.share);
        fputs("},", stdout);
    }
    fputs("\"sparsity\":{\"text\":", stdout);
    lg_cli_json(stdout, r->sparsity);
    if (r->probed == 2) print_probe("half", &r->probe[0]);
    if (r->probed) print_probe("whole", &r->probe[r->probed - 1]);
    printf(",\"conclusive\":%s},\"config\":", r->conclusive ? "true" : "false");
    lg_cli_json(stdout, r->config);
    puts("}");
}

static void print_split(const lg_try_result *r)
{
    const lg_try_column *last = &r->column[r->columns - 1];
    if (!r->own)
        printf("%s: trained on %d to %d %s (up to %d tokens), tested up to %d (%d tokens).\n",
               r->task, r->least, r->most, r->unit, r->tokens, last->low, r->tokens_tested);
    else
        printf("%s: trained on %d lines of length %d to %d; tested on %d held-out lines of these "
               "lengths\nand on %d lines of length %d to %d.\n",
               r->task, r->trained, r->least, r->most, r->held, r->longer, r->most + 1, last->high);
    if (r->rare && !r->rare_tested)
        printf("%d of the tested lines have words that training hardly shows; they are not in the "
               "table.\n",
               r->rare);
}

/* Folds text between words. */
static void print_folded(const char *text)
{
    putchar('\n');
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

static int print(const struct request *q, const lg_try_result *r)
{
    if (q->json || q->csv) {
        print_cells(q, r);
    } else {
        print_split(r);
        print_table(r);
    }
    int code = draw(q, r);
    if (q->json) print_last(r);
    if (q->json || q->csv) return code;
    print_folded(r->sparsity);
    print_folded(r->advice);
    if (r->config) printf("\nAs a config for lengthen train:\n\n%s", r->config);
    if (q->o.folder)
        printf("\nThe runs are in %s (lengthen runs --store %s).\n", r->folder, r->store);
    return code;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int read_setting(void *to, const char *text)
{
    struct request *q = to;
    if (strlen(text) > LONGEST_SET)
        return lg_cli_wrong("try", "--set %.40s..: it is too long", text);
    return lg_cli_task_setting("try", text, &q->settings[q->o.setting_count++]);
}

static int read_options(int argc, char **argv, struct request *q)
{
    lg_try_options *o = &q->o;
    lg_error err = {0};
    const struct lg_cli_option rows[] = {
        {"minutes", .real = &o->minutes, .least = 0.01, .most = 100000, .take = "0.01 or more"},
        {"set", .read = read_setting, .to = q},
        {"length", .whole = &o->length, .least = 1, .most = 1 << 20},
        {"seed", .large = &o->seed},
        {"seeds", .whole = &o->seeds, .least = 1, .most = LG_TRY_SEEDS},
        {"schemes", .text = &o->schemes},
        {"out", .text = &o->folder},
        {"plot", .text = &q->plot},
        LG_CLI_SIZE,
        {"json", .flag = &q->json},
        {"csv", .flag = &q->csv},
        {0},
    };
    int code = lg_cli_options("try", rows, &argc, &argv);
    if (!code)
        code = lg_cli_argument("try", "task",
                               "Give a name of `lengthen tasks`, or a file with examples of your "
                               "own (`lengthen tasks jsonl`)",
                               argc, argv, &o->task);
    if (code) return code;
    if (q->json && q->csv) return lg_cli_wrong("try", "take --json or --csv, not both");
    if (q->plot && lg_figure_check(q->plot, &err)) return lg_cli_wrong("try", "%s", err.text);
    return 0;
}

int lg_cmd_try(int argc, char **argv)
{
    struct request q = {.o = lg_try_options_default()};
    lg_try_result r = {0};
    lg_error err = {0};
    if (!(q.settings = calloc((size_t)argc + 1, sizeof *q.settings))) {
        fputs("lengthen try: no memory\n", stderr);
        return LG_EXIT_FAILED;
    }
    int code = read_options(argc, argv, &q);
    if (!code) {
        q.o.settings = q.settings;
        q.o.watch = watch;
        q.o.context = &q;
        q.o.stop = &lg_cli_interrupted;
        char coupled[300];
        lg_cli_couple_folder(q.o.task, coupled, sizeof coupled);
        if (!q.o.folder) q.o.coupled = coupled;
        if (q.o.folder && getenv("LENGTHEN_STORE") && *getenv("LENGTHEN_STORE"))
            q.o.store = getenv("LENGTHEN_STORE");
        int e = lg_try(&q.o, &r, &err);
        code = e == LG_ERROR_ARGUMENT ? lg_cli_wrong("try", "%s", err.text)
               : e                    ? lg_cli_error("try", e, &err)
                                      : print(&q, &r);
        lg_cli_catch_interrupts(0);
        if (!code && r.interrupted) code = lg_cli_stopped();
    }
    lg_try_result_clear(&r);
    free(q.settings);
    return code;
}
