/* couple.c: `lengthen couple`: position IDs for data that has none. Options in, lg_couple, words out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/certify_own.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "lengthen_lab.h"

const char lg_cmd_couple_help[] =
    "Usage: lengthen couple DATA.jsonl|exec:COMMAND|TASK [OPTIONS]\n"
    "\n"
    "Finds from examples alone which earlier tokens each token of an answer depends on, turns\n"
    "that into position IDs under which those tokens are neighbours, trains with them, and shows\n"
    "on lines that nothing was chosen by whether it holds. Says no where nothing is found.\n"
    "\n"
    "DATA.jsonl has one example a line (`lengthen tasks jsonl`), without \"ids\": tokens, loss (1\n"
    "for each token of the answer), and best a length. Some thousand lines of several lengths.\n"
    "\n"
    "  --forget             data or a task that has labels: they are not looked at\n"
    "  --set task.KEY=VALUE a setting of the task; as often as needed\n"
    "  --lines N            of a task: how many examples (2000)\n"
    "  --length N           of a task: the longest of them (12)\n"
    "  --steps N            of training in all, at most: what is tried, and for how long, depends\n"
    "                       on these and the seed, not on the clock (6000)\n"
    "  --minutes M          a last cap; it says so if it cuts something short (10)\n"
    "  --seed S             other weights (1)\n"
    "  --out DIR            where all goes (runs/couple/NAME)\n"
    "  --store FILE         the store of the winner's run (LENGTHEN_STORE, or lengthen.db)\n"
    "  --threads N          of training (all cores)\n"
    "  --json               one object\n"
    "\n"
    "DIR then has coupling.yaml (the rule: readable, can be edited; docs/COUPLE.md), config.yaml\n"
    "to train with it again, coupling.svg, and the winner's run in best/, which answers any other\n"
    "file of that form at any length:\n"
    "\n"
    "  lengthen eval DIR/best --task jsonl:longer.jsonl --lengths 600 --source predicted\n"
    "  lengthen generate DIR/best --prompt \"1 2 + 9 9 =\"\n"
    "\n"
    "The exit code is 3 if no coupling is claimed.\n"
    "\n"
    "Examples:\n"
    "  lengthen couple my-data.jsonl --out coupled\n"
    "  lengthen couple addition --forget\n";

struct request {
    lg_couple_options o;
    const char **settings;
    const char *store;
    int64_t seed;
    int json;
    double shown;
    int last, candidate; /* what was told last */
};

/* ---- While it runs -------------------------------------------------------------------------------- */

static void show_line(struct request *q, const lg_couple_progress *p)
{
    if (lg_cli_now() - q->shown < 0.2) return;
    q->shown = lg_cli_now();
    fputs("\r\033[K", stderr);
    if (p->event == LG_COUPLE_SEARCHES)
        fprintf(stderr, "looking for dependencies: %.0f%%", 100 * p->share);
    else if (p->step && p->candidate >= 0)
        fprintf(stderr, "candidate %d: step %lld, %.1f%% of the tokens right", p->candidate + 1,
                (long long)p->step->step, 100 * p->step->accuracy);
    else if (p->step)
        fprintf(stderr, "the winner: step %lld of %lld, %.1f%% of the tokens right",
                (long long)p->step->step, (long long)p->step->steps, 100 * p->step->accuracy);
    fprintf(stderr, ", at most %.0f s left", p->left);
}

/* Where nobody looks, a line when something begins. */
static void watch(void *context, const lg_couple_progress *p)
{
    struct request *q = context;
    if (isatty(STDERR_FILENO)) {
        show_line(q, p);
        return;
    }
    if ((int)p->event == q->last && p->candidate == q->candidate) return;
    q->last = (int)p->event;
    q->candidate = p->candidate;
    if (p->event == LG_COUPLE_SEARCHES)
        fprintf(stderr, "looking for dependencies, at most %.0f s left\n", p->left);
    else if (p->event == LG_COUPLE_TRAINS)
        fprintf(stderr, "candidate %d: training, at most %.0f s left\n", p->candidate + 1, p->left);
    else if (p->event == LG_COUPLE_FINISHES)
        fprintf(stderr, "the winner: training, at most %.0f s left\n", p->left);
}

/* ---- What it found --------------------------------------------------------------------------------- */

/* Two examples with their IDs, as `sample` shows them. */
static void show_examples(const lg_couple_result *r)
{
    char name[LG_COUPLE_PATH + 32], rule[LG_COUPLE_PATH + 32];
    lg_error err;
    lg_sampler s;
    lg_sampler_init(&s);
    snprintf(name, sizeof name, "jsonl:%s/fit.jsonl", r->folder);
    snprintf(rule, sizeof rule, "%s/coupling.yaml", r->folder);
    s.task = lg_task_new(name, NULL, 0, &err);
    if (!s.task) return;
    lg_task *task = s.task;
    int e = lg_task_couple(task, rule, &err);
    s.scheme.ids = "coupled";
    s.draw.length_lo = s.draw.length_hi = (r->shortest + r->fit_longest + 1) / 2;
    if (!e) e = lg_sampler_ready(&s, &err);
    for (int i = 0; i < 2 && !e; i++) {
        e = lg_sampler_next(&s, &err);
        if (e) break;
        putchar('\n');
        lg_cli_show(&s, lg_cli_look_stdout());
    }
    lg_sampler_clear(&s);
    lg_task_free(task);
}

static void print_candidates(const lg_couple_result *r)
{
    struct lg_cli_table table = {.columns = 6, .left = 3};
    const char *const head[] = {"",      "candidate", "window",
                                "steps", "seconds",   "longer lines right"};
    for (int i = 0; i < 6; i++) lg_cli_table_add(&table, "%s", head[i]);
    for (int i = 0; i < r->candidates; i++) {
        const lg_couple_candidate *k = &r->candidate[i];
        lg_cli_table_add(&table, "%d%s", i + 1, i == r->best ? " *" : "");
        lg_cli_table_add(&table, "%s", k->name);
        lg_cli_table_add(&table, "%s", k->window);
        lg_cli_table_add(&table, "%lld", (long long)k->steps);
        lg_cli_table_add(&table, "%.0f", k->seconds);
        if (k->refused[0])
            lg_cli_table_add(&table, "refused");
        else
            lg_cli_table_add(&table, "%d of %d", k->exact, k->lines);
    }
    lg_cli_table_print(&table, 0, 2, 0);
    lg_cli_table_clear(&table);
}

static void print_report(const lg_couple_result *r)
{
    printf(
        "\nOf %d lines that nothing was chosen by, %d are right, generated with predicted IDs:\n ",
        r->report_lines, r->report_exact);
    for (int i = 0; i < r->cells; i++)
        printf(" %d: %d/%d", r->cell[i].length, r->cell[i].exact, r->cell[i].lines);
    putchar('\n');
}

static void print_words(const lg_couple_result *r)
{
    printf(
        "%d lines, %s %d to %d: %d to fit (up to %d), %d longer ones to choose by, %d to report.\n",
        r->lines, r->unit, r->shortest, r->longest, r->fit, r->fit_longest, r->chosen_by,
        r->reported);
    if (r->reads[0]) {
        puts("\nFound (a, b, .. are the prompt's parts, n a part's length, all counted from 0):");
        for (const char *at = r->reads; *at;) {
            size_t n = strcspn(at, "\n");
            printf("  %.*s\n", (int)n, at);
            at += n + (at[n] == '\n');
        }
    }
    if (r->disagree) {
        printf("\n%d line%s contradict%s what the others say, and %s not trained on:\n",
               r->disagree, r->disagree == 1 ? "" : "s", r->disagree == 1 ? "s" : "",
               r->disagree == 1 ? "was" : "were");
        for (int i = 0; i < r->shown; i++) printf("  %s\n", r->disagreeing[i]);
    }
    if (r->copies > 1)
        printf("\nWords that are only compared were exchanged: each line was trained on in %d "
               "versions.\n",
               r->copies);
    if (r->best >= 0 && r->config) show_examples(r);
    if (r->candidates) {
        putchar('\n');
        print_candidates(r);
    }
    if (r->report_lines) print_report(r);
    putchar('\n');
    if (r->cut)
        puts("The time (--minutes) ended before the steps did: with more of it the outcome may be "
             "another.");
    if (!r->claimed) {
        printf("No coupling is claimed: %s.\n", r->why);
        return;
    }
    printf("Coupled: window %s, IDs of generated tokens by %s.\n", r->candidate[r->best].window,
           r->candidate[r->best].source);
    if (r->certificate[0]) puts(r->certificate);
    printf("%s/coupling.yaml   the rule\n%s/coupling.svg    a picture\n%s/config.yaml     to train "
           "again\n%s/best            the run: lengthen eval %s/best --task jsonl:FILE\n",
           r->folder, r->folder, r->folder, r->folder, r->folder);
}

static void json_flag(const char *key, int value)
{
    printf(",\"%s\":%s", key, value ? "true" : "false");
}

static void print_json(const lg_couple_result *r)
{
    printf("{\"claimed\":%s", r->claimed ? "true" : "false");
    json_flag("found", r->found);
    lg_cli_json_word("reads", r->reads);
    lg_cli_json_word("why", r->claimed ? NULL : r->why);
    lg_cli_json_word("folder", r->folder);
    lg_cli_json_word("window", r->best < 0 ? NULL : r->candidate[r->best].window);
    lg_cli_json_word("source", r->best < 0 ? NULL : r->candidate[r->best].source);
    lg_cli_json_number("table_accuracy", r->accuracy);
    printf(",\"lines\":%d,\"fit\":%d,\"choose\":%d,\"report\":%d,\"shortest\":%d,\"longest\":%d,"
           "\"fit_longest\":%d,\"disagree\":%d,\"disagreeing\":[",
           r->lines, r->fit, r->chosen_by, r->reported, r->shortest, r->longest, r->fit_longest,
           r->disagree);
    for (int i = 0; i < r->shown; i++) {
        if (i) putchar(',');
        lg_cli_json(stdout, r->disagreeing[i]);
    }
    printf("],\"candidates\":[");
    for (int i = 0; i < r->candidates; i++) {
        const lg_couple_candidate *k = &r->candidate[i];
        printf("%s{\"winner\":%s", i ? "," : "", i == r->best ? "true" : "false");
        lg_cli_json_word("name", k->name);
        lg_cli_json_word("window", k->window);
        lg_cli_json_word("source", k->source);
        lg_cli_json_word("refused", k->refused[0] ? k->refused : NULL);
        printf(",\"layers\":%d", k->layers);
        lg_cli_json_number("decay", k->decay);
        printf(",\"steps\":%lld", (long long)k->steps);
        lg_cli_json_number("seconds", k->seconds);
        printf(",\"lines\":%d,\"exact\":%d}", k->lines, k->exact);
    }
    printf("],\"report_lines\":%d,\"report_exact\":%d,\"cells\":[", r->report_lines,
           r->report_exact);
    for (int i = 0; i < r->cells; i++)
        printf("%s{\"length\":%d,\"lines\":%d,\"exact\":%d}", i ? "," : "", r->cell[i].length,
               r->cell[i].lines, r->cell[i].exact);
    printf("],\"steps\":%lld", (long long)r->steps);
    printf(",\"copies\":%d", r->copies);
    lg_cli_json_word("certificate", r->certificate[0] ? r->certificate : NULL);
    json_flag("cut", r->cut);
    lg_cli_json_number("seconds", r->seconds);
    puts("}");
}

/* ---- The command -------------------------------------------------------------------------------------- */

static int read_setting(void *to, const char *text)
{
    struct request *q = to;
    return lg_cli_task_setting("couple", text, &q->settings[q->o.setting_count++]);
}

void lg_cli_couple_folder(const char *data, char *folder, size_t size)
{
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data;
    char best[400];
    int n = (int)strcspn(name, ".: ");
    snprintf(folder, size, "runs/couple/%.*s", n, name);
    for (int again = 2; again < 10000; again++) {
        snprintf(best, sizeof best, "%.380s/best", folder);
        if (access(best, F_OK) != 0) return;
        snprintf(folder, size, "runs/couple/%.*s-%d", n, name, again);
    }
}

int lg_cmd_couple(int argc, char **argv)
{
    struct request q = {.o = lg_couple_options_default(), .seed = 1, .last = -1, .candidate = -2};
    char folder[300];
    lg_error err = {0};
    lg_couple_result *r = calloc(1, sizeof *r);
    const struct lg_cli_option rows[] = {
        {"forget", .flag = &q.o.forget},
        {"set", .read = read_setting, .to = &q},
        {"lines", .whole = &q.o.lines, .least = 1, .most = 10000000},
        {"length", .whole = &q.o.length, .least = 2, .most = 1 << 20},
        {"steps", .large = &q.o.steps, .least = 500, .most = 1000000000},
        {"minutes", .real = &q.o.minutes, .least = LG_CLI_ABOVE_0, .most = 1e6},
        {"seed", .large = &q.seed, .least = 0},
        {"out", .text = &q.o.folder},
        {"store", .text = &q.store},
        {"threads", .whole = &q.o.threads, .least = 1, .most = 1024},
        {"json", .flag = &q.json},
        {0},
    };
    q.settings = calloc((size_t)argc, sizeof *q.settings);
    if (!q.settings || !r) {
        fputs("lengthen couple: no memory\n", stderr);
        free(q.settings);
        free(r);
        return LG_EXIT_FAILED;
    }
    int code = lg_cli_options("couple", rows, &argc, &argv);
    if (!code)
        code = lg_cli_argument("couple", "data", "a file of examples, exec:COMMAND or a task", argc,
                               argv, &q.o.data);
    if (!code) {
        lg_cli_couple_folder(q.o.data, folder, sizeof folder);
        if (!q.o.folder) q.o.folder = folder;
        q.o.settings = q.settings;
        q.o.seed = (uint64_t)q.seed;
        q.o.store = lg_cli_store(q.store);
        q.o.watch = watch;
        q.o.certify = lg_cli_certify_winner;
        q.o.context = &q;
        lg_cli_catch_interrupts(1);
        q.o.stop = &lg_cli_interrupted;
        int e = lg_couple(&q.o, r, &err);
        if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
        if (e == LG_ERROR_STOPPED)
            code = lg_cli_stopped();
        else if (e)
            code = lg_cli_error("couple", e, &err);
        else {
            if (q.json)
                print_json(r);
            else
                print_words(r);
            code = r->claimed ? LG_EXIT_DONE : LG_EXIT_NO;
        }
        lg_couple_clear(r);
    }
    free(q.settings);
    free(r);
    return code;
}
