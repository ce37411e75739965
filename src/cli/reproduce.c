/* reproduce.c: `lengthen reproduce`: the experiments of a folder, each to its rows, figures and
 * checks. Ctrl-C once saves a checkpoint of each run and stops; twice stops at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "cli/table.h"

const char lg_cmd_reproduce_help[] =
    "Usage: lengthen reproduce NAME|all [OPTIONS]\n"
    "       lengthen reproduce --list [OPTIONS]\n"
    "\n"
    "An experiment is a sweep's file with a key `experiment` (docs/CONFIG.md, \"Experiments\").\n"
    "Trains and evaluates its runs whose rows are not in results/NAME/measurements.csv yet, and\n"
    "puts the rows of each there as soon as it is done; run.json says what made them. Then draws\n"
    "its figures from the rows and checks what must hold: exit code 3 if something does not.\n"
    "Stopped at whatever instant, the same command goes on.\n"
    "\n"
    "An experiment may lie in a folder of the experiments: language/models. Those need more than\n"
    "this program (texts), so `all` leaves them out: reproduce them by name.\n"
    "\n"
    "  --list             every experiment: its runs, its state, its cost; trains nothing\n"
    "  --scale NAME       smoke, desk (the file as it is; the default), paper, or another of the\n"
    "                     file's own; all but desk write into OUT/NAME, not into the results\n"
    "  --only RUN         one of its runs: 'method=PoSE,seed=1'\n"
    "  --minutes M        begin nothing after so many; what runs then saves a checkpoint\n"
    "  --experiments DIR  the folder of the files (experiments)\n"
    "  --results DIR      the folder of the results (results)\n"
    "  --out DIR          the folder of the runs (runs/reproduce/SCALE)\n"
    "  --store FILE       the store (LENGTHEN_STORE, else lengthen.db in OUT)\n"
    "  --jobs N           runs at once, each in a process of its own (1)\n"
    "  --threads N        threads of each run (the cores, shared out among the jobs)\n"
    "                     Under mpirun or srun rank 0 deals the runs out to the other ranks.\n"
    "  --json             one object a figure, a check and an experiment\n"
    "\n"
    "Examples:\n"
    "  lengthen reproduce --list\n"
    "  lengthen reproduce sweep --scale smoke\n"
    "  lengthen reproduce all --minutes 50\n";

struct request {
    lg_reproduce_options o;
    const char *what; /* NAME, "all", or NULL: the list */
    char out[1024], store[1200];
    double until; /* the instant by the clock, or 0 */
    int list, json, interrupted;
    struct lg_cli_progress progress;
    /* The experiments. */
    char **names;
    int count, lost;
    struct lg_cli_table table;
    double budget, hours, left;
};

/* ---- The list ------------------------------------------------------------------------------ */

static void json_minutes(const char *key, double minutes)
{
    printf("\"%s\":", key);
    if (minutes < 0)
        printf("null");
    else
        printf("%.2f", minutes);
}

static void list_json(const lg_experiment *x)
{
    printf("{\"experiment\":");
    lg_cli_json(stdout, x->name);
    lg_cli_json_word("question", x->question);
    lg_cli_json_word("expected", x->expected);
    lg_cli_json_word("words", x->words);
    lg_cli_json_word("results", x->folder);
    printf(",\"runs\":%d,\"done\":%d,", x->runs, x->done);
    json_minutes("budget_minutes", x->budget);
    printf(",\"hours\":%.5f,", x->hours);
    json_minutes("minutes_left", x->minutes_left);
    puts("}");
}

static void add_minutes(struct lg_cli_table *t, double minutes)
{
    if (minutes < 0)
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.0f min", minutes);
}

static void list_row(struct lg_cli_table *t, const lg_experiment *x)
{
    lg_cli_table_add(t, "%s", x->name);
    lg_cli_table_add(t, "%d", x->runs);
    lg_cli_table_add(t, "%d", x->done);
    add_minutes(t, x->budget);
    lg_cli_table_add(t, "%.2f h", x->hours);
    add_minutes(t, x->minutes_left);
    lg_cli_table_add(t, "%s", x->question);
}

static void list_one(void *context, const lg_experiment *x)
{
    struct request *q = context;
    q->count++;
    q->budget += fmax(0, x->budget);
    q->hours += x->hours;
    q->left += fmax(0, x->minutes_left);
    if (q->json)
        list_json(x);
    else
        list_row(&q->table, x);
}

static int list(struct request *q)
{
    static const char *const heading[] = {"experiment", "runs", "done",    "budget",
                                          "spent",      "left", "question"};
    lg_error err = {0};
    q->table = (struct lg_cli_table){.columns = 7, .left = 1 | 1 << 6};
    for (int i = 0; i < 7; i++) lg_cli_table_add(&q->table, "%s", heading[i]);
    q->o.nested = 1;
    int code = lg_experiments(&q->o, list_one, q, &err);
    if (code) return lg_cli_error("reproduce", code, &err);
    if (q->json) return LG_EXIT_DONE;
    if (!q->count) {
        printf("No file in %s has the key experiment.\n", q->o.experiments);
        return LG_EXIT_DONE;
    }
    lg_cli_table_cut(&q->table, 6, lg_cli_look_stdout().width);
    lg_cli_table_print(&q->table, 0, 0, 0);
    printf("\n%d experiment%s: budgets %.0f min (%.1f h), spent %.2f h, about %.0f min left\n",
           q->count, q->count == 1 ? "" : "s", q->budget, q->budget / 60, q->hours, q->left);
    return q->table.lost ? LG_EXIT_FAILED : LG_EXIT_DONE;
}

/* ---- One experiment ------------------------------------------------------------------------ */

static int watch(void *context, const lg_sweep_run *r)
{
    struct request *q = context;
    return lg_cli_progress_watch(&q->progress, r);
}

static void begin_object(const struct request *q)
{
    printf("{\"experiment\":");
    lg_cli_json(stdout, q->o.name);
}

static void tell_figure(void *context, const char *file, const char *missing)
{
    const struct request *q = context;
    if (q->json) {
        begin_object(q);
        lg_cli_json_word("figure", file);
        lg_cli_json_word("missing", missing);
        printf("}\n");
    } else if (missing) {
        printf("  not drawn      %s: %s\n", file, missing);
    } else {
        printf("  figure         %s\n", file);
    }
}

static void tell_check(void *context, const lg_check *c)
{
    const struct request *q = context;
    static const char *const words[] = {"no cells", "DOES NOT HOLD", "holds"};
    static const char *const values[] = {"null", "false", "true"};
    if (!q->json) {
        printf("  %-14s %s: %s\n", words[c->holds + 1], c->text, c->numbers);
        return;
    }
    begin_object(q);
    lg_cli_json_word("check", c->text);
    lg_cli_json_word("numbers", c->numbers);
    printf(",\"value\":%.9g,\"holds\":%s}\n", c->value, values[c->holds + 1]);
}

static void tell_note(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "lengthen reproduce: %s\n", sentence);
}

static void show_result(const struct request *q, const lg_reproduce_result *r)
{
    if (q->json) {
        begin_object(q);
        lg_cli_json_word("scale", q->o.scale);
        printf(",\"runs\":%d,\"done\":%d,\"failed\":%d,\"left\":%d,\"held\":%d,\"broken\":%d,"
               "\"empty\":%d}\n",
               r->runs, r->done, r->failed, r->left, r->held, r->broken, r->empty);
    } else {
        printf("  %d of %d runs done\n", r->done, r->runs);
    }
}

/* No check at all could look at anything: then nothing is known to hold. */
static int is_silent(const lg_reproduce_result *r)
{
    return r->done == r->runs && r->empty && !r->held && !r->broken;
}

static int reproduce(struct request *q, const char *name)
{
    lg_error err = {0};
    lg_reproduce_result r;
    q->o.name = name;
    q->progress.folder = q->o.folder;
    q->progress.store = q->o.store;
    q->progress.until = q->until;
    if (!q->json) printf("%s, scale %s\n", name, q->o.scale);
    fflush(stdout); /* before processes are made */
    int code = lg_reproduce(&q->o, &r, &err);
    q->interrupted = lg_cli_progress_end(&q->progress, "reproduce", r.left);
    lg_cli_progress_clear(&q->progress);
    if (code) return lg_cli_error("reproduce", code, &err);
    show_result(q, &r);
    if (is_silent(&r))
        fprintf(stderr,
                "lengthen reproduce: no check of %s has cells at the scale %s; let one of them "
                "look at what is there\n",
                name, q->o.scale);
    if (r.failed || r.left) return r.failed ? LG_EXIT_FAILED : lg_cli_stopped();
    return r.broken || is_silent(&r) ? LG_EXIT_NO : LG_EXIT_DONE;
}

/* ---- All of them --------------------------------------------------------------------------- */

static void keep_name(void *context, const lg_experiment *x)
{
    struct request *q = context;
    char **names = realloc(q->names, ((size_t)q->count + 1) * sizeof *names);
    if (names) q->names = names;
    char *name = names ? strdup(x->name) : NULL;
    if (name)
        q->names[q->count++] = name;
    else
        q->lost = 1;
}

/* Every file is read before the first run is begun. What failed is worse than a "no". */
static int reproduce_all(struct request *q)
{
    lg_error err = {0};
    int code = lg_experiments(&q->o, keep_name, q, &err), worst = LG_EXIT_DONE;
    if (code) return lg_cli_error("reproduce", code, &err);
    if (!q->count || q->lost) {
        fprintf(stderr, "lengthen reproduce: %s %s\n",
                q->lost ? "no memory for the experiments in"
                        : "no file has the key experiment in the folder",
                q->o.experiments);
        return LG_EXIT_FAILED;
    }
    for (int i = 0; i < q->count && !q->interrupted; i++) {
        code = reproduce(q, q->names[i]);
        if (code && worst != LG_EXIT_FAILED && worst != LG_EXIT_USE) worst = code;
    }
    return q->interrupted && !worst ? lg_cli_stopped() : worst;
}

/* ---- The command --------------------------------------------------------------------------- */

static int check_options(const struct request *q, int argc, char **argv)
{
    if (argc > 1)
        return lg_cli_wrong("reproduce", "one experiment at a time, or all; \"%s\" is too much",
                            argv[1]);
    if (!q->list && !q->what)
        return lg_cli_wrong("reproduce", "which experiment? Give a name, all, or --list");
    if (q->what && (*q->what == '/' || *q->what == '.' || strstr(q->what, ".yaml")))
        return lg_cli_wrong("reproduce",
                            "\"%s\" is a file; give the experiment's name, the file's without "
                            "%s/ and .yaml",
                            q->what, q->o.experiments);
    if (!*q->o.scale || strchr(q->o.scale, '/'))
        return lg_cli_wrong("reproduce", "--scale is \"%s\"; take smoke, desk or paper",
                            q->o.scale);
    if (q->o.only && (!q->what || strcmp(q->what, "all") == 0))
        return lg_cli_wrong("reproduce", "--only needs the name of the run's experiment");
    return 0;
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_reproduce_options *o = &q->o;
    double minutes = 0;
    const struct lg_cli_option rows[] = {
        {"list", .flag = &q->list},
        {"scale", .text = &o->scale},
        {"only", .text = &o->only},
        {"minutes", .real = &minutes, .least = LG_CLI_ABOVE_0, .most = 1e6,
         .take = "a number above 0"},
        {"experiments", .text = &o->experiments},
        {"results", .text = &o->results},
        {"out", .text = &o->folder},
        {"store", .text = &o->store},
        {"jobs", .whole = &o->jobs, .least = 1, .most = 1024},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("reproduce", rows, &argc, &argv);
    if (code) return code;
    q->what = argc ? argv[0] : NULL;
    if ((code = check_options(q, argc, argv))) return code;
    if (minutes > 0) q->until = lg_cli_now() + 60 * minutes;
    snprintf(q->out, sizeof q->out, "runs/reproduce/%s", q->o.scale);
    if (!q->o.folder) q->o.folder = q->out;
    lg_cli_store_in(q->o.folder, q->store, sizeof q->store);
    if (!q->o.store) q->o.store = q->store;
    return 0;
}

int lg_cmd_reproduce(int argc, char **argv)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) return LG_EXIT_FAILED;
    q->o = (lg_reproduce_options){.watch = watch,
                                  .check = tell_check,
                                  .figure = tell_figure,
                                  .note = tell_note,
                                  .context = q,
                                  .experiments = lg_cli_experiments(),
                                  .results = "results",
                                  .scale = "desk"};
    lg_comm *comm = NULL;
    int code = read_options(q, argc, argv), serves = 0;
    if (!code && !q->list) code = lg_cli_ranks_begin("reproduce", &comm, &serves);
    q->o.comm = comm;
    int all = q->what && strcmp(q->what, "all") == 0;
    if (!code && !all) q->o.name = q->what;
    if (!code && !serves) code = q->list ? list(q) : all ? reproduce_all(q) : reproduce(q, q->what);
    lg_cli_ranks_end(comm);
    for (int i = 0; i < q->count && q->names; i++) free(q->names[i]);
    free(q->names);
    lg_cli_table_clear(&q->table);
    lg_cli_progress_clear(&q->progress);
    free(q);
    return code;
}
