/* probe.c: `lengthen probe`: how many earlier tokens the predictions of a run need, and whether those
 * that need few keep their loss past the training length of another run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/probe.h"
#include "cli/show.h"
#include "cli/table.h"

const char lg_cmd_probe_help[] =
    "Usage: lengthen probe RUN [OPTIONS]\n"
    "\n"
    "How many earlier tokens each prediction of a run needs. A token that is left out is in the\n"
    "input of no layer, so that no later token can have seen it; the others keep their IDs. k*\n"
    "is the least number of the most influential tokens with which, beside the last few and the\n"
    "first, the loss is that of the whole context up to epsilon. See docs/PROBE.md.\n"
    "\n"
    "With --against, k* is measured on RUN, which was trained on long texts, and held against\n"
    "the excess loss of a run that was trained on shorter ones: on the same token, its loss\n"
    "given all tokens before, less its loss given as many as it was trained on. Only\n"
    "predictions past those are looked at.\n"
    "\n"
    "  --against RUN    a run of texts with the same tokenizer, trained on shorter ones\n"
    "  --text PATHS     other texts than the held-out documents (commas between them)\n"
    "  --field KEY      of JSON lines among them (as in the run's config)\n"
    "  --task TASK      of other runs: another task with the same words, jsonl:FILE\n"
    "  --length N       of documents and examples (the longest of training; of own data all)\n"
    "  --documents N    or examples, at most, drawn (eval.samples of the config); the lines of a\n"
    "                   file once each\n"
    "  --predictions N  at most, spread evenly over the documents (all)\n"
    "  --method M       influence: loo, the rise of the loss without the token; or gradient,\n"
    "                   the norm of its gradient, quicker where a document has few predictions\n"
    "  --epsilon X      nats that the loss may rise by (0.1)\n"
    "  --min-rise X     a prediction depends on its context if the loss rises by so many nats\n"
    "                   without it, more than epsilon (0.5)\n"
    "  --keep-last N    tokens that are never left out, beside the first (4)\n"
    "  --drop-first     the first may be left out too\n"
    "  --max-k N        k* is looked for up to here (32); more is \"over N\"\n"
    "  --fallback       if the newest weights of a run are damaged, use older ones\n"
    "  --out DIR        predictions.csv, kstar.svg, excess.svg, position.svg, passage.html; a\n"
    "                   probe that was stopped goes on from there\n"
    "  --allow-exec     execute the command of a run's task exec:COMMAND though you have not\n"
    "                   trained the run here: only if you trust whoever made it\n"
    "  --store FILE     where the rows go (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N      threads (all cores)\n"
    "  --json           one object per line: each row of the table, then the summary\n"
    "\n"
    "Examples:\n"
    "  lengthen probe runs/parity --documents 50\n"
    "  lengthen probe runs/long --against runs/short --documents 100 --out results/probe\n";

struct request {
    lg_run_probe_options o;
    const char *out;       /* a folder, or NULL */
    lg_probe_files *files; /* in it, or NULL */
    int json;
    double start, shown;
};

/* ---- Options ------------------------------------------------------------------------------ */

static int read_options(struct request *q, int argc, char **argv)
{
    lg_run_probe_options *o = &q->o;
    const char *nats = "nats above 0, up to 100";
    int method = o->method == LG_PROBE_GRADIENT, drop_first = 0;
    const struct lg_cli_option rows[] = {
        {"against", .text = &o->against},
        {"text", .text = &o->texts},
        {"field", .text = &o->field},
        {"task", .text = &o->task},
        {"length", .whole = &o->length, .least = 1, .most = 1 << 20},
        {"documents", .whole = &o->documents, .least = 1, .most = 1 << 30},
        {"predictions", .whole = &o->predictions, .least = 1, .most = 1 << 30},
        {"method", .word = &method, .names = "loo or gradient"},
        {"epsilon", .real = &o->epsilon, .least = LG_CLI_ABOVE_0, .most = 100, .take = nats},
        {"min-rise", .real = &o->least, .least = LG_CLI_ABOVE_0, .most = 100, .take = nats},
        {"keep-last", .whole = &o->keep_last, .least = 1, .most = 1 << 20},
        {"drop-first", .flag = &drop_first},
        {"max-k", .whole = &o->most_k, .least = 1, .most = 1 << 16},
        {"fallback", .flag = &o->access.fallback},
        {"out", .text = &q->out},
        {"allow-exec", .flag = &o->access.allow_exec},
        {"store", .text = &o->store},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("probe", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("probe", "run", "Give its folder", argc, argv, &o->folder);
    o->method = method ? LG_PROBE_GRADIENT : LG_PROBE_LOO;
    if (drop_first) o->keep_first = 0;
    if (!code && o->field && !o->texts)
        code = lg_cli_wrong("probe", "--field is of the texts that --text names; name them");
    return code;
}

/* ---- While it runs ------------------------------------------------------------------------ */

static void told_passage(void *context, const lg_probe_passage *p)
{
    lg_probe_files_passage(((struct request *)context)->files, p);
}

static void told_row(void *context, const lg_probe_row *r)
{
    lg_probe_files_row(((struct request *)context)->files, r);
}

/* A line that is replaced; where nobody looks, one a minute. */
static void progress(void *context, double done)
{
    struct request *q = context;
    double now = lg_cli_now(), took = now - q->start;
    int terminal = isatty(STDERR_FILENO);
    if (now - q->shown < (terminal ? 0.3 : 60) || done <= 0) return;
    q->shown = now;
    double left = took / done - took;
    fprintf(stderr, "%s%.1f%% done, %.0f:%02.0f minutes left%s", terminal ? "\r\033[K" : "",
            100 * done, floor(left / 60), floor(fmod(left, 60)), terminal ? "" : "\n");
}

/* ---- What is printed ---------------------------------------------------------------------- */

/* "Of these, k* is 1, 1, 2, 4, over 8 at ..". */
static void print_quantiles(const lg_probe_summary *s)
{
    if (!s->dependent) return;
    for (int i = 0; i < 5; i++) {
        int k = s->k_quantile[i], over = k > s->most_k;
        printf("%s%s%d", i ? ", " : "Of these, k* is ", over ? "over " : "", over ? s->most_k : k);
    }
    printf(" at 10, 25, 50, 75 and 90%%.\n");
}

/* The bins that have predictions, as cells. */
static int list_bins(const lg_probe_summary *s, struct lg_cli_row rows[LG_PROBE_BINS])
{
    int n = 0;
    for (int i = 0; i < LG_PROBE_BINS; i++) {
        const lg_probe_bin *b = &s->bin[i];
        if (!b->predictions) continue;
        lg_cell *c = &rows[n++].cell;
        *c = (lg_cell){.step = s->step,
                       .length = s->length,
                       .unit = s->unit,
                       .first = b->low,
                       .last = b->high,
                       .context = s->context,
                       .there = s->documents,
                       .values = 2};
        c->value[0] = (lg_value){lg_kind_find("kstar_loss"), b->predictions, b->loss.value,
                                 b->loss.low, b->loss.high};
        c->value[1] = (lg_value){lg_kind_find("kstar_excess"), b->predictions, b->excess.value,
                                 b->excess.low, b->excess.high};
    }
    return n;
}

static void print_table(const struct request *q, const lg_probe_summary *s)
{
    struct lg_cli_row rows[LG_PROBE_BINS];
    char verdict[600];
    printf("%d predictions of %d %s, length ", s->predictions, s->documents,
           s->documents == 1 ? "text" : "texts");
    if (s->length_least < s->length) printf("%d to ", s->length_least);
    printf("%d", s->length);
    if (s->context) printf(", past the first %d tokens", s->context);
    printf(
        ".\n%d (%.1f%%) depend on their context: without it the loss rises by %g nats or more.\n",
        s->dependent, 100 * lg_cli_share(s->dependent, s->predictions), q->o.least);
    print_quantiles(s);
    printf("\n");
    lg_cli_probe_table(rows, list_bins(s, rows));
    lg_probe_verdict(s, verdict, sizeof verdict);
    if (*verdict) printf("\n%s\n", verdict);
}

static void json_count(const char *name, int64_t value, int there)
{
    if (there)
        printf(",\"%s\":%lld", name, (long long)value);
    else
        printf(",\"%s\":null", name);
}

static void print_json(const lg_probe_summary *s, const char *folder)
{
    static const char *const quantile[] = {"k_10", "k_25", "k_50", "k_75", "k_90"};
    struct lg_cli_cells rows = {.record = {.form = LG_CLI_JSON, .folder = folder}};
    struct lg_cli_row bins[LG_PROBE_BINS];
    char verdict[600];
    for (int i = 0, n = list_bins(s, bins); i < n; i++) lg_cli_cells_add(&rows, &bins[i].cell);
    lg_cli_cells_clear(&rows);
    printf("{\"summary\":true,\"step\":%lld", (long long)s->step);
    json_count("against_step", s->against_step, s->context > 0);
    printf(",\"length\":%d,\"length_min\":%d", s->length, s->length_least);
    json_count("context", s->context, s->context > 0);
    printf(",\"documents\":%d,\"predictions\":%d,\"dependent\":%d,\"loss\":%.6g,\"max_k\":%d",
           s->documents, s->predictions, s->dependent, s->loss, s->most_k);
    for (int i = 0; i < 5; i++) json_count(quantile[i], s->k_quantile[i], s->dependent > 0);
    lg_cli_json_mean("small", &s->small);
    lg_cli_json_mean("large", &s->large);
    lg_cli_json_mean("difference", &s->difference);
    printf(",\"conclusive\":%s", lg_probe_concludes(s) ? "true" : "false");
    lg_probe_verdict(s, verdict, sizeof verdict);
    if (*verdict) {
        lg_cli_json_word("verdict", verdict);
    }
    lg_cli_json_folder(folder);
    puts("}");
}

/* ---- The command -------------------------------------------------------------------------- */

static int open_files(struct request *q)
{
    char name[2][256];
    lg_error err = {0};
    if (!q->out) return 0;
    lg_cli_last_part(q->o.folder, name[0]);
    lg_cli_last_part(q->o.against ? q->o.against : "", name[1]);
    q->files = lg_probe_files_new(q->out, name[0], q->o.against ? name[1] : NULL, &err);
    if (q->files) {
        q->o.begun = lg_probe_files_begun(q->files);
        q->o.passage = told_passage;
        q->o.row = told_row;
        return 0;
    }
    if (err.code == LG_ERROR_ARGUMENT) return lg_cli_wrong("probe", "%s", err.text);
    return lg_cli_error("probe", err.code, &err);
}

static int finish_files(struct request *q, const lg_probe_summary *s)
{
    char verdict[600];
    lg_error err = {0}, warning = {0};
    if (!q->files) return LG_EXIT_DONE;
    lg_probe_verdict(s, verdict, sizeof verdict);
    int code = lg_probe_files_finish(q->files, s, verdict, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen probe: %s\n", warning.text);
    if (code) return lg_cli_error("probe", code, &err);
    fprintf(stderr, "Predictions, figures and a passage are in %s\n", q->out);
    return LG_EXIT_DONE;
}

static void print(const struct request *q, const lg_probe_summary *s)
{
    if (s->stopped)
        fprintf(stderr, "Stopped after %d texts; what follows is of these. %s\n", s->documents,
                q->files ? "The same command goes on." : "It is kept nowhere (--out keeps it).");
    if (s->length > s->trained_length && s->trained_length)
        fprintf(
            stderr,
            "lengthen probe: %s was trained up to length %d (%s); what it needs at length %d is "
            "no measure\n",
            q->o.folder, s->trained_length, s->unit, s->length);
    if (q->json)
        print_json(s, q->o.folder);
    else
        print_table(q, s);
}

static int run(struct request *q)
{
    lg_error err = {0}, warning = {0};
    lg_probe_summary s;
    int code = open_files(q);
    if (code) return code;
    q->start = q->shown = lg_cli_now();
    q->o.store = lg_cli_store(q->o.store);
    q->o.progress = progress;
    q->o.context = q;
    q->o.stop = &lg_cli_interrupted;
    lg_cli_catch_interrupts(1);
    code = lg_run_probe(&q->o, &s, &warning, &err);
    lg_cli_catch_interrupts(0);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (warning.text[0]) fprintf(stderr, "lengthen probe: %s\n", warning.text);
    if (code) return lg_cli_error("probe", code, &err);
    print(q, &s);
    return s.stopped ? lg_cli_stopped() : finish_files(q, &s);
}

int lg_cmd_probe(int argc, char **argv)
{
    struct request q = {.o = lg_run_probe_options_default()};
    int code = read_options(&q, argc, argv);
    if (!code) code = run(&q);
    lg_probe_files_free(q.files);
    return code;
}
