/* probe.c: `lengthen probe`: how many earlier tokens the predictions of a run need, and whether those
 * that need few keep their loss past the training length of another run. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
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
    "  --text FILES     other texts than the held-out documents (commas between them)\n"
    "  --task TASK      of other runs: another task with the same words, jsonl:FILE\n"
    "  --length N       of documents and examples (the longest of training; of own data all)\n"
    "  --documents N    or examples, at most, drawn (eval.samples of the config); the lines of a\n"
    "                   file once each\n"
    "  --predictions N  at most, spread evenly over the documents (all)\n"
    "  --method M       influence: loo, the rise of the loss without the token; or gradient,\n"
    "                   the norm of its gradient, quicker where a document has few predictions\n"
    "  --epsilon X      nats that the loss may rise by (0.1)\n"
    "  --least X        a prediction depends on its context if the loss rises by so many nats\n"
    "                   without it, more than epsilon (0.5)\n"
    "  --keep-last N    tokens that are never left out, beside the first (4)\n"
    "  --drop-first     the first may be left out too\n"
    "  --most-k N       k* is looked for up to here (32); more is \"over N\"\n"
    "  --out DIR        predictions.csv, kstar.svg, excess.svg, position.svg, passage.html\n"
    "  --store FILE     where the rows go (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N      threads (all cores)\n"
    "  --json           one object a line: each row of the table, then the summary\n"
    "\n"
    "Examples:\n"
    "  lengthen probe runs/parity --documents 50\n"
    "  lengthen probe runs/long --against runs/short --documents 100 --out results/probe\n";

struct request {
    lg_run_probe_options o;
    struct lg_cli_probe_out out;
    int json;
    char name[2][256]; /* of the run, of the one that it is held against */
    double start, shown;
};

/* ---- Options ------------------------------------------------------------------------------ */

static int read_count(const char *option, const char *text, int most, int *to)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > most)
        return lg_cli_wrong("probe", "--%s is \"%s\"; take a number from 1 to %d", option, text,
                            most);
    *to = (int)value;
    return -1;
}

static int read_nats(const char *option, const char *text, double *to)
{
    char *end;
    *to = strtod(text, &end);
    if (end != text && !*end && *to > 0 && *to <= 100) return -1;
    return lg_cli_wrong("probe", "--%s is \"%s\"; take nats above 0, up to 100", option, text);
}

/* -1: go on; else an exit code. */
static int read_option(struct request *q, int c)
{
    lg_run_probe_options *o = &q->o;
    switch (c) {
    case 'a': o->against = optarg; return -1;
    case 'x': o->texts = optarg; return -1;
    case 'k': o->task = optarg; return -1;
    case 'l': return read_count("length", optarg, 1 << 20, &o->length);
    case 'd': return read_count("documents", optarg, 1 << 30, &o->documents);
    case 'n': return read_count("predictions", optarg, 1 << 30, &o->predictions);
    case 'L': return read_count("keep-last", optarg, 1 << 20, &o->keep_last);
    case 'K': return read_count("most-k", optarg, 1 << 16, &o->most_k);
    case 't': return read_count("threads", optarg, 1024, &o->threads);
    case 'e': return read_nats("epsilon", optarg, &o->epsilon);
    case 'E': return read_nats("least", optarg, &o->least);
    case 'f': o->keep_first = 0; return -1;
    case 'S': o->store = optarg; return -1;
    case 'o': q->out.folder = optarg; return -1;
    case 'j': q->json = 1; return -1;
    case 'm':
        if (strcmp(optarg, "loo") != 0 && strcmp(optarg, "gradient") != 0)
            return lg_cli_wrong("probe", "--method is \"%s\"; take loo or gradient", optarg);
        o->method = strcmp(optarg, "loo") == 0 ? LG_PROBE_LOO : LG_PROBE_GRADIENT;
        return -1;
    default: return LG_EXIT_USE;
    }
}

static int read_options(struct request *q, int argc, char **argv)
{
    static const struct option known[] = {{"against", required_argument, NULL, 'a'},
                                          {"text", required_argument, NULL, 'x'},
                                          {"task", required_argument, NULL, 'k'},
                                          {"length", required_argument, NULL, 'l'},
                                          {"documents", required_argument, NULL, 'd'},
                                          {"predictions", required_argument, NULL, 'n'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"epsilon", required_argument, NULL, 'e'},
                                          {"least", required_argument, NULL, 'E'},
                                          {"keep-last", required_argument, NULL, 'L'},
                                          {"drop-first", no_argument, NULL, 'f'},
                                          {"most-k", required_argument, NULL, 'K'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"store", required_argument, NULL, 'S'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"json", no_argument, NULL, 'j'},
                                          {0}};
    int code = -1;
    opterr = 0;
    optind = 1;
    for (int c; code < 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == '?')
            return lg_cli_wrong("probe", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        code = read_option(q, c);
    }
    if (code >= 0) return code;
    if (optind == argc) return lg_cli_wrong("probe", "which run? Give its folder");
    if (optind + 1 < argc)
        return lg_cli_wrong("probe", "one run at a time; \"%s\" is too much", argv[optind + 1]);
    q->o.folder = argv[optind];
    return -1;
}

/* ---- While it runs ------------------------------------------------------------------------ */

static void told_passage(void *context, const lg_probe_passage *p)
{
    lg_cli_probe_out_passage(&((struct request *)context)->out, p);
}

static void told_row(void *context, const lg_probe_row *r)
{
    lg_cli_probe_out_row(&((struct request *)context)->out, r);
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

static void print_table(const struct request *q, const lg_probe_summary *s)
{
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
    lg_cli_probe_table(s->bin, LG_PROBE_BINS, s->most_k, s->context > 0);
    if (!s->context) return;
    lg_cli_probe_verdict(s, verdict, sizeof verdict);
    printf("\n%s\n", verdict);
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
    char verdict[600];
    for (int i = 0; i < LG_PROBE_BINS; i++) {
        if (lg_cli_probe_is_past(&s->bin[i], s->most_k)) continue;
        putchar('{');
        lg_cli_probe_json(&s->bin[i]);
        lg_cli_json_folder(folder);
        puts("}");
    }
    printf("{\"summary\":true,\"step\":%lld", (long long)s->step);
    json_count("against_step", s->against_step, s->context > 0);
    printf(",\"length\":%d,\"length_least\":%d", s->length, s->length_least);
    json_count("context", s->context, s->context > 0);
    printf(",\"documents\":%d,\"predictions\":%d,\"dependent\":%d,\"loss\":%.6g,\"most_k\":%d",
           s->documents, s->predictions, s->dependent, s->loss, s->most_k);
    for (int i = 0; i < 5; i++) json_count(quantile[i], s->k_quantile[i], s->dependent > 0);
    lg_cli_json_mean("small", &s->small);
    lg_cli_json_mean("large", &s->large);
    lg_cli_json_mean("difference", &s->difference);
    if (s->context) {
        lg_cli_probe_verdict(s, verdict, sizeof verdict);
        printf(",\"verdict\":");
        lg_cli_json(stdout, verdict);
    }
    lg_cli_json_folder(folder);
    puts("}");
}

/* ---- The command -------------------------------------------------------------------------- */

static int run(struct request *q)
{
    lg_error err = {0}, warning = {0};
    lg_probe_summary s;
    int code = lg_cli_probe_out_open(&q->out);
    if (code) return code;
    q->start = q->shown = lg_cli_now();
    q->o.store = lg_cli_store(q->o.store);
    q->o.passage = told_passage;
    q->o.row = told_row;
    q->o.progress = progress;
    q->o.of = q;
    q->o.stop = &lg_cli_interrupted;
    lg_cli_catch_interrupts(1);
    code = lg_run_probe(&q->o, &s, &warning, &err);
    lg_cli_catch_interrupts(0);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (warning.text[0]) fprintf(stderr, "lengthen probe: %s\n", warning.text);
    if (code) {
        fprintf(stderr, "lengthen probe: %s\n", err.text);
        return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
    }
    if (s.stopped)
        fprintf(stderr, "Stopped after %d texts; what follows is of these and kept nowhere.\n",
                s.documents);
    if (s.length > s.trained_length && s.trained_length)
        fprintf(
            stderr,
            "lengthen probe: %s was trained up to length %d (%s); what it needs at length %d is "
            "no measure\n",
            q->o.folder, s.trained_length, s.unit, s.length);
    if (q->json)
        print_json(&s, q->o.folder);
    else
        print_table(q, &s);
    return s.stopped ? LG_EXIT_FAILED : lg_cli_probe_out_finish(&q->out, &s);
}

int lg_cmd_probe(int argc, char **argv)
{
    struct request q = {.o = lg_run_probe_options_default()};
    int code = read_options(&q, argc, argv);
    if (code < 0) {
        lg_cli_last_part(q.o.folder, q.name[0]);
        lg_cli_last_part(q.o.against ? q.o.against : "", q.name[1]);
        q.out.title = q.name[0];
        q.out.against = q.o.against ? q.name[1] : NULL;
        code = run(&q);
    }
    lg_cli_probe_out_clear(&q.out);
    return code;
}
