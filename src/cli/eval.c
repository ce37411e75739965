/* eval.c: `lengthen eval`: what a run can do, length by length. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/eval_text.h"

const char lg_cmd_eval_help[] =
    "Usage: lengthen eval RUN [OPTIONS]\n"
    "\n"
    "Generates the answers of fresh examples, token by token, for each length (and sparsity)\n"
    "and counts those that are exact: every answer token right, the stop token in its place.\n"
    "Where a run predicts IDs, there is a row with the IDs of the task's rule (given) and one\n"
    "with the model's own (predicted). The interval is Wilson's, 95%. First error: the median\n"
    "place of the first wrong token in the answers that have one. Beside it the same\n"
    "teacher-forced: each token predicted from the right ones before it. An answer of one token\n"
    "with a given ID is the same either way, and is made once.\n"
    "\n"
    "A run of the task text has a loss instead, in nats a token, by position on held-out\n"
    "documents: truncated, with all tokens of the document before it, and sliding, with the last\n"
    "of training's length alone; the excess is what the model loses by seeing more. The\n"
    "documents are those with a token more than the length; intervals are of the mean over\n"
    "documents, 95%.\n"
    "\n"
    "Each cell goes into the store at once; the same command later takes from there what it\n"
    "has (\"kept\") and makes the rest.\n"
    "\n"
    "  --lengths A,B,..      lengths (those of the config)\n"
    "  --sparsities A,B,..   sparsities (those of the config)\n"
    "  --vary KEY=A,B,..     the grid for each of these values of a setting of the task\n"
    "  --task TASK           another task with the same words: jsonl:FILE of test examples\n"
    "  --text PATHS          a run of texts: these, all documents (those held out)\n"
    "  --context N           a run of texts: tokens of a sliding prediction (training's)\n"
    "  --samples N           examples a cell, or documents a length (as in the config)\n"
    "  --ids given|predicted only these\n"
    "  --again               make cells, or losses, again that the store has\n"
    "  --store FILE          the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N           threads (all cores); the result does not depend on it\n"
    "  --plot FILE.svg|png   draw exact answers by length; - draws in letters\n"
    "  --json, --csv         one object, or one row, a cell\n"
    "\n"
    "Examples:\n"
    "  lengthen eval runs/parity --lengths 20,100,1000 --samples 100\n"
    "  lengthen eval runs/parity --plot parity.svg\n"
    "  lengthen eval runs/wiki --lengths 64,256 --plot wiki.svg\n";

enum { MOST = 256 };

struct request {
    lg_eval_options o;
    int lengths[MOST], sparsities[MOST];
    char *vary[MOST]; /* "key=value", to be freed */
    const char *plot;
    const char *text; /* of a run of texts */
    int context;
    struct lg_cli_cells cells;
};

/* "20,50,100" into to; their number, or -1. */
static int read_list(const char *text, int *to)
{
    int n = 0;
    while (n < MOST) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 1 || value > 1 << 30) return -1;
        to[n++] = (int)value;
        if (!*end) return n;
        if (*end != ',') return -1;
        text = end + 1;
    }
    return -1;
}

static int wrong_list(const char *option, const char *text)
{
    return lg_cli_wrong("eval", "%s is \"%s\"; take up to %d numbers of 1 or more, as in 20,50,100",
                        option, text, MOST);
}

/* "names=50,100" into "names=50" and "names=100". */
static int read_vary(struct request *q, const char *text)
{
    if (strncmp(text, "task.", 5) == 0) text += 5; /* as in a config */
    const char *equals = strchr(text, '=');
    int key = equals ? (int)(equals - text) : 0;
    if (key < 1 || !equals[1])
        return lg_cli_wrong("eval",
                            "--vary is \"%s\"; take a setting of the task and its values, "
                            "as in names=50,100",
                            text);
    for (const char *at = equals + 1;; at++) {
        int n = (int)strcspn(at, ",");
        if (q->o.setting_count == MOST)
            return lg_cli_wrong("eval", "--vary has over %d values; take fewer", MOST);
        if (asprintf(&q->vary[q->o.setting_count++], "%.*s=%.*s", key, text, n, at) < 0) {
            q->o.setting_count--;
            return LG_EXIT_FAILED;
        }
        at += n;
        if (!*at) return -1;
    }
}

/* -1: go on; else an exit code. */
static int read_option(struct request *q, int c)
{
    int one[MOST];
    switch (c) {
    case 'l':
        q->o.lengths = q->lengths;
        q->o.length_count = read_list(optarg, q->lengths);
        return q->o.length_count < 0 ? wrong_list("--lengths", optarg) : -1;
    case 's':
        q->o.sparsities = q->sparsities;
        q->o.sparsity_count = read_list(optarg, q->sparsities);
        return q->o.sparsity_count < 0 ? wrong_list("--sparsities", optarg) : -1;
    case 'n':
        if (read_list(optarg, one) != 1)
            return lg_cli_wrong("eval", "--samples is \"%s\"; take a number of 1 or more", optarg);
        q->o.samples = one[0];
        return -1;
    case 't':
        if (read_list(optarg, one) != 1 || one[0] > 1024)
            return lg_cli_wrong("eval", "--threads is \"%s\"; take a number from 1 to 1024",
                                optarg);
        q->o.threads = one[0];
        return -1;
    case 'i':
        if (strcmp(optarg, "given") != 0 && strcmp(optarg, "predicted") != 0)
            return lg_cli_wrong("eval", "--ids is \"%s\"; take given or predicted", optarg);
        q->o.predicted = strcmp(optarg, "predicted") == 0;
        return -1;
    case 'v': return read_vary(q, optarg);
    case 'k': q->o.task = optarg; return -1;
    case 'x': q->text = optarg; return -1;
    case 'C':
        if (read_list(optarg, one) != 1)
            return lg_cli_wrong("eval", "--context is \"%s\"; take a number of 1 or more", optarg);
        q->context = one[0];
        return -1;
    case 'a': q->o.again = 1; return -1;
    case 'S': q->o.store = optarg; return -1;
    case 'p': q->plot = optarg; return -1;
    case 'j':
    case 'c':
        if (q->cells.form != LG_CLI_TABLE)
            return lg_cli_wrong("eval", "--json and --csv, each once, exclude each other");
        q->cells.form = c == 'j' ? LG_CLI_JSON : LG_CLI_CSV;
        return -1;
    default: return LG_EXIT_USE;
    }
}

static int read_options(struct request *q, int argc, char **argv)
{
    static const struct option known[] = {{"lengths", required_argument, NULL, 'l'},
                                          {"sparsities", required_argument, NULL, 's'},
                                          {"samples", required_argument, NULL, 'n'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"ids", required_argument, NULL, 'i'},
                                          {"vary", required_argument, NULL, 'v'},
                                          {"task", required_argument, NULL, 'k'},
                                          {"text", required_argument, NULL, 'x'},
                                          {"context", required_argument, NULL, 'C'},
                                          {"again", no_argument, NULL, 'a'},
                                          {"store", required_argument, NULL, 'S'},
                                          {"plot", required_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"csv", no_argument, NULL, 'c'},
                                          {0}};
    int code = -1;
    opterr = 0;
    optind = 1;
    for (int c; code < 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == '?')
            return lg_cli_wrong("eval", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        code = read_option(q, c);
    }
    if (code >= 0) return code;
    if (optind == argc) return lg_cli_wrong("eval", "which run? Give its folder");
    if (optind + 1 < argc)
        return lg_cli_wrong("eval", "one run at a time; \"%s\" is too much", argv[optind + 1]);
    if (q->plot && strcmp(q->plot, "-") == 0 && q->cells.form != LG_CLI_TABLE)
        return lg_cli_wrong("eval", "--plot - draws below a table; with --json or --csv, name a "
                                    "file");
    q->o.folder = argv[optind];
    return -1;
}

static void show_progress(void *context, const lg_run_cell *c)
{
    struct request *q = context;
    int terminal = isatty(STDERR_FILENO);
    if (terminal) fputs("\r\033[K", stderr);
    lg_cli_cells_add(&q->cells, c);
    if (terminal && c->index + 1 < c->count)
        fprintf(stderr, "cell %d of %d ..", c->index + 2, c->count);
}

static int evaluate(struct request *q)
{
    lg_error err = {0}, warning = {0};
    const char *file = q->plot && strcmp(q->plot, "-") != 0 ? q->plot : NULL;
    int code = file ? lg_figure_check(file, &err) : 0;
    q->o.store = lg_cli_store(q->o.store);
    q->o.settings = (const char *const *)q->vary;
    q->o.table = show_progress;
    q->o.context = q;
    q->cells.folder = q->o.folder;
    snprintf(q->cells.title, sizeof q->cells.title, "%s", q->o.folder);
    if (!code) code = lg_run_eval(&q->o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (code) {
        fprintf(stderr, "lengthen eval: %s\n", err.text);
        return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
    }
    return lg_cli_cells_plot(&q->cells, "eval", file, q->plot && !file);
}

/* A run of texts has no answers, and a run of another task no texts. */
static int evaluate_text(struct request *q, int is_text)
{
    const char *none = q->o.sparsities       ? "--sparsities"
                       : q->o.setting_count  ? "--vary"
                       : q->o.task           ? "--task"
                       : q->o.predicted >= 0 ? "--ids"
                                             : NULL;
    if (!is_text)
        return lg_cli_wrong("eval", "--%s is for runs of the task text, and %s is none",
                            q->text ? "text" : "context", q->o.folder);
    if (none)
        return lg_cli_wrong("eval", "%s is a run of texts, for which there is no %s", q->o.folder,
                            none);
    struct lg_cli_text_eval t = {.form = q->cells.form, .plot = q->plot};
    t.o = (lg_text_eval_options){.folder = q->o.folder,
                                 .store = lg_cli_store(q->o.store),
                                 .again = q->o.again,
                                 .texts = q->text,
                                 .lengths = q->o.lengths,
                                 .length_count = q->o.length_count,
                                 .context = q->context,
                                 .documents = q->o.samples,
                                 .threads = q->o.threads};
    return lg_cli_eval_text(&t);
}

int lg_cmd_eval(int argc, char **argv)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) return LG_EXIT_FAILED;
    q->o.predicted = -1;
    int code = read_options(q, argc, argv);
    int is_text = code < 0 && lg_run_is_text(q->o.folder);
    if (code < 0) code = is_text || q->text || q->context ? evaluate_text(q, is_text) : evaluate(q);
    for (int i = 0; i < q->o.setting_count; i++) free(q->vary[i]);
    lg_cli_cells_clear(&q->cells);
    free(q);
    return code;
}
